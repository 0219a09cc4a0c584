//! Arrangements of k things on the k occupied positions of a set, in registers of 60 lanes, and the
//! tables of the moves between the arrangements of two sets.
//!
//! Invariant: a **line** says for each position, in order, which thing stands there. All k! lines occur,
//! so the parity of the line is one more prefix digit. A **slice** holds the 720 arrangements of the last
//! six positions that share all digits before them: twelve registers, six per parity, register r of six
//! for digit r of the sixth position from the end. The lane numbers the last five positions as in
//! [`super::layout`]. Five things have one slice of two registers.
//!
//! Moving one thing from a position to another rotates the line between the two: a digit-local
//! permutation, so for most moves slice and register of the source depend on few digits, and lanes are
//! permuted by a handful of fixed rows. The tables are found by carrying the move out.

use std::collections::HashMap;

use super::gather::{ByParity, CrossRow, LaneRow};
use super::layout::{GROUP, LANES, PAD_LANE, TAIL, lane, lane_digits};
use super::lehmer;

/// Fewest things that have a register layout.
pub const MIN_LEN: usize = TAIL;
/// Most things: their slices are numbered by the bits of a word.
pub const MAX_LEN: usize = 8;

/// Where a line is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Slice, from the digits before the last six positions.
    pub slice: u8,
    /// Parity of the line.
    pub parity: u8,
    /// Register among those of its parity.
    pub register: u8,
    /// Lane of the register.
    pub lane: u8,
}

/// The register layout of the arrangements of k things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrangements {
    k: usize,
}

impl Arrangements {
    /// Returns the layout of k things, or `None` below [`MIN_LEN`] and above [`MAX_LEN`].
    pub fn new(k: usize) -> Option<Arrangements> {
        (MIN_LEN..=MAX_LEN)
            .contains(&k)
            .then_some(Arrangements { k })
    }

    /// Returns k.
    pub fn len(self) -> usize {
        self.k
    }

    /// Returns false: no layout is for nothing.
    pub fn is_empty(self) -> bool {
        false
    }

    /// Returns the registers of one parity in a slice: 6, or 1 for five things.
    pub fn group(self) -> usize {
        if self.k == TAIL { 1 } else { GROUP }
    }

    /// Returns the registers of a slice: 12, or 2 for five things.
    pub fn slice_registers(self) -> usize {
        2 * self.group()
    }

    /// Returns the number of slices, k!/720, or 1 for five things.
    pub fn slices(self) -> usize {
        (lehmer::count(self.k) as usize / 720).max(1)
    }

    /// Returns the number of digits that number the slices.
    fn outer(self) -> usize {
        (self.k - TAIL).saturating_sub(1)
    }

    /// Returns where a line, a permutation of `0..k`, is stored.
    pub fn place(self, line: &[u8]) -> Place {
        let mut digits = [0; MAX_LEN];
        lehmer::digits(line, &mut digits[..self.k]);
        let slice = (0..self.outer()).fold(0, |slice, x| slice * (self.k - x) as u8 + digits[x]);
        Place {
            slice,
            parity: digits[..self.k].iter().sum::<u8>() % 2,
            register: if self.k == TAIL {
                0
            } else {
                digits[self.outer()]
            },
            lane: lane(&digits[self.k - TAIL..self.k]),
        }
    }

    /// Returns the line that is stored in a place, the inverse of [`Arrangements::place`].
    pub fn line(self, place: Place) -> [u8; MAX_LEN] {
        let mut digits = [0; MAX_LEN];
        let mut rest = usize::from(place.slice);
        for x in (0..self.outer()).rev() {
            digits[x] = (rest % (self.k - x)) as u8;
            rest /= self.k - x;
        }
        if self.k > TAIL {
            digits[self.outer()] = place.register;
        }
        let prefix = digits.iter().sum::<u8>() + place.parity;
        lane_digits(
            usize::from(place.lane),
            usize::from(prefix % 2),
            &mut digits[self.k - TAIL..self.k],
        );
        let mut line = [0; MAX_LEN];
        lehmer::from_digits(&digits[..self.k], &mut line[..self.k]);
        line
    }

    /// Returns the parity of the digits that number a slice.
    pub fn slice_parity(self, slice: usize) -> u8 {
        let mut rest = slice;
        let mut sum = 0;
        for x in (0..self.outer()).rev() {
            sum += rest % (self.k - x);
            rest /= self.k - x;
        }
        (sum % 2) as u8
    }

    /// Returns the number of shifts, k * k: see [`Arrangements::shift`].
    pub fn shifts(self) -> usize {
        self.k * self.k
    }

    /// Returns the number of the shift that takes the thing at position `from` of the source line to
    /// position `to` of the target line, all others keeping their order.
    pub fn shift(self, from: usize, to: usize) -> usize {
        to * self.k + from
    }

    /// Returns the target's slices that a shift fills from a slice of the same number only.
    pub fn keeps_slices(self, shift: usize) -> bool {
        let (to, from) = (shift / self.k, shift % self.k);
        to == from || to.min(from) >= self.outer()
    }

    /// Returns whether the shift changes the parity of the line.
    pub fn flips(self, shift: usize) -> bool {
        (shift / self.k + shift % self.k) % 2 == 1
    }

    /// Returns the source line of a target line under a shift.
    pub fn pull(self, shift: usize, line: &[u8]) -> [u8; MAX_LEN] {
        let (to, from) = (shift / self.k, shift % self.k);
        let mut source = [0; MAX_LEN];
        let others = (0..self.k).filter(|&x| x != to);
        let places = (0..self.k).filter(|&x| x != from);
        for (place, other) in places.zip(others) {
            source[place] = line[other];
        }
        source[from] = line[to];
        source
    }
}

/// A source register: its slice and its number among those of its parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// Slice.
    pub slice: u8,
    /// Register among those of its parity.
    pub register: u8,
}

/// Sources for the six registers of a group, or six sources that they share.
pub type Spots = [Spot; GROUP];

/// How the registers of a group (one slice, one parity) come from source registers; the parity of the
/// sources is the target's, or the other one for a shift that flips. Tables are indexed by slice.
#[derive(Clone, Debug)]
pub enum Pull {
    /// Every register from itself.
    Own,
    /// Every register from itself, lanes permuted.
    Lanes(Box<ByParity<LaneRow>>),
    /// Each register from one other, lanes unchanged.
    Copies(Vec<Spots>),
    /// All registers from the same six sources.
    Shared {
        /// The six sources.
        sources: Vec<Spots>,
        /// The row of each register.
        classes: Vec<[u8; GROUP]>,
        /// The rows.
        rows: Vec<ByParity<CrossRow>>,
    },
    /// Each register from the six registers of one slice.
    Strided {
        /// The slice for each register.
        slices: Vec<[u8; GROUP]>,
        /// The row of each register.
        classes: Vec<[u8; GROUP]>,
        /// The rows.
        rows: Vec<ByParity<CrossRow>>,
    },
}

/// The tables of one shift.
#[derive(Clone, Debug)]
pub struct Shift {
    /// How registers are filled.
    pub pull: Pull,
    /// Whether sources have the other parity.
    pub flips: bool,
    /// For each target slice the set of source slices, as a bit mask.
    pub needs: Vec<u64>,
}

/// Sources of the lanes of one register for both parities of its prefix.
type Origins = ByParity<[(Spot, u8); LANES]>;

impl Shift {
    /// Returns the tables of shift number `shift`. Rows are indexed by the parity of the target line
    /// plus that of its prefix digits.
    ///
    /// Cost: one rank per lane, register and parity, a few milliseconds for eight things.
    pub fn new(layout: Arrangements, shift: usize) -> Shift {
        let (to, from) = (shift / layout.k, shift % layout.k);
        let slices = layout.slices();
        let own = |slice: usize| 1u64 << slice;
        let flips = layout.flips(shift);
        if to == from {
            return Shift {
                pull: Pull::Own,
                flips,
                needs: (0..slices).map(own).collect(),
            };
        }
        let group = |slice: usize| -> Vec<Origins> {
            let registers = 0..layout.group();
            registers
                .map(|register| origins(layout, shift, slice, register))
                .collect()
        };
        let origins: Vec<Vec<Origins>> = if layout.keeps_slices(shift) {
            // All slices look like the first.
            let first = group(0);
            (0..slices).map(|slice| renamed(&first, slice)).collect()
        } else {
            (0..slices).map(group).collect()
        };
        let spots = |slice: usize| origins[slice].iter().flatten().flatten().map(|o| o.0);
        let needs = (0..slices).map(|slice| spots(slice).fold(0, |set, s| set | 1 << s.slice));
        let needs = needs.collect();
        let pull = if to.min(from) >= layout.k - TAIL {
            let row = |parity: usize| {
                let mut row = [PAD_LANE; 64];
                for (lane, origin) in row.iter_mut().zip(&origins[0][0][parity]) {
                    *lane = origin.1;
                }
                row
            };
            Pull::Lanes(Box::new([row(0), row(1)]))
        } else if to.max(from) < layout.k - TAIL {
            let copies = |slice: &Vec<Origins>| std::array::from_fn(|r| slice[r][0][0].0);
            Pull::Copies(origins.iter().map(copies).collect())
        } else {
            crossing(&origins)
        };
        Shift { pull, flips, needs }
    }
}

/// The sources of slice 0 as those of another slice.
fn renamed(origins: &[Origins], slice: usize) -> Vec<Origins> {
    let mut renamed = origins.to_vec();
    for (spot, _) in renamed.iter_mut().flatten().flatten() {
        spot.slice = slice as u8;
    }
    renamed
}

/// Carries out a shift on all lines of a register; the parity counts the prefix digits in.
fn origins(layout: Arrangements, shift: usize, slice: usize, register: usize) -> Origins {
    let prefix = usize::from(layout.slice_parity(slice)) + register;
    [0, 1].map(|parity| {
        std::array::from_fn(|lane| {
            let line = layout.line(Place {
                slice: slice as u8,
                parity: ((parity + prefix) % 2) as u8,
                register: register as u8,
                lane: lane as u8,
            });
            let source = layout.pull(shift, &line[..layout.k]);
            let place = layout.place(&source[..layout.k]);
            let spot = Spot {
                slice: place.slice,
                register: place.register,
            };
            (spot, place.lane)
        })
    })
}

/// The tables of a shift that brings a thing from the prefix into the lanes or back.
fn crossing(origins: &[Vec<Origins>]) -> Pull {
    let shared: Option<Vec<Spots>> = origins.iter().map(|group| six(group)).collect();
    if let Some(sources) = shared {
        let (classes, rows) = cross_rows(origins, |slice, _| sources[slice]);
        return Pull::Shared {
            sources,
            classes,
            rows,
        };
    }
    // What is not shared comes, register by register, from a single slice: `cross_rows` checks it.
    let first = |register: &Origins| register[0][0].0.slice;
    let slices: Vec<[u8; GROUP]> = origins
        .iter()
        .map(|group| std::array::from_fn(|r| first(&group[r])))
        .collect();
    let (classes, rows) = cross_rows(origins, |slice, r| {
        std::array::from_fn(|i| Spot {
            slice: slices[slice][r],
            register: i as u8,
        })
    });
    Pull::Strided {
        slices,
        classes,
        rows,
    }
}

/// The at most six sources of a group, filled up by repeating the first.
fn six(group: &[Origins]) -> Option<Spots> {
    let mut spots: Vec<Spot> = group.iter().flatten().flatten().map(|o| o.0).collect();
    spots.sort_unstable();
    spots.dedup();
    let fill = |i: usize| spots.get(i).or(spots.first()).copied();
    (spots.len() <= GROUP)
        .then(|| std::array::from_fn(fill).map(|spot| spot.expect("a group has sources")))
}

type Classes = (Vec<[u8; GROUP]>, Vec<ByParity<CrossRow>>);

/// The distinct rows and which of them each register uses.
fn cross_rows(origins: &[Vec<Origins>], sources: impl Fn(usize, usize) -> Spots) -> Classes {
    let mut rows = Vec::new();
    let mut known = HashMap::new();
    let classes = origins.iter().enumerate().map(|(slice, group)| {
        std::array::from_fn(|r| {
            let six = sources(slice, r);
            let row: ByParity<CrossRow> = std::array::from_fn(|parity| {
                std::array::from_fn(|l| {
                    let (spot, lane) = group[r][parity][l];
                    let i = six.iter().position(|s| *s == spot);
                    (i.expect("a rotation has six sources") * 64) as u16 + u16::from(lane)
                })
            });
            let class = *known.entry(row).or_insert_with(|| {
                rows.push(row);
                rows.len() - 1
            });
            u8::try_from(class).expect("one thing crosses: few orders")
        })
    });
    (classes.collect(), rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_a_bijection() {
        for k in MIN_LEN..=MAX_LEN {
            let layout = Arrangements::new(k).unwrap();
            let mut seen = std::collections::HashSet::new();
            for rank in 0..lehmer::count(k) {
                let mut line = [0; MAX_LEN];
                lehmer::unrank(rank, &mut line[..k]);
                let place = layout.place(&line[..k]);
                assert!(usize::from(place.slice) < layout.slices());
                assert!(usize::from(place.register) < layout.group());
                assert!(usize::from(place.lane) < LANES);
                assert_eq!(layout.line(place), line);
                assert!(seen.insert(place));
            }
        }
    }

    #[test]
    fn shifts_are_inverse_to_each_other() {
        let layout = Arrangements::new(7).unwrap();
        let line = [3, 1, 4, 0, 5, 2, 6, 0];
        for (from, to) in (0..7).flat_map(|a| (0..7).map(move |b| (a, b))) {
            let there = layout.pull(layout.shift(from, to), &line[..7]);
            assert_eq!(there[from], line[to]);
            assert_eq!(layout.pull(layout.shift(to, from), &there[..7]), line);
        }
    }
}
