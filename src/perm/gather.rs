//! From a window permutation to gather tables: where each byte of a block comes from.
//!
//! Invariant: tables are found by carrying out the window on every arrangement of the elements inside
//! a block, not by formula, so they are right for any even window permutation; the shape they turn out
//! to have ([`Shape`]) only decides which loop of the kernel runs them.
//!
//! **Key fact.** Permuting the positions a..=e of a line changes only the Lehmer digits a..=e: digits
//! before a see the same set to their right, digits after e the same suffix. So the work splits at the
//! block boundary c. Let the window bring k elements across it, "down" into the block and "up" out of
//! it. What happens inside the block depends only on the order of the down elements among the block's
//! own (the *down key*), and what happens outside depends only on which of the block's elements go up
//! (the *slot*). A source register is therefore a pair (slot, register within a block); which block a
//! slot stands for is worked out once per block by [`Outside`].

use std::collections::HashMap;

use super::layout::{GROUP, LANES, Layout, PAD_LANE, TAIL, lane, lane_digits};
use super::lehmer::MAX_LEN;
use super::outside::Outside;
use crate::puzzle::Window;

/// A source register: the slot of its block and its index within the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// Slot, an index into the source blocks of [`Outside`].
    pub slot: u16,
    /// Register within the block.
    pub register: u16,
}

/// For each lane the lane that it is taken from, [`PAD_LANE`] for none.
pub type LaneRow = [u8; 64];

/// For each lane the byte that it is taken from in six concatenated registers (64 * register + lane).
pub type CrossRow = [u16; LANES];

/// A row for each parity of the target's prefix digit sum.
pub type ByParity<T> = [T; 2];

/// Six sources of a group, in the order that [`CrossRow`] counts.
pub type Six = [Source; GROUP];

/// How the registers of a block come from source registers.
///
/// Tables of groups are indexed by `down key * groups + group`.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Every register from itself: the identity.
    Own,
    /// Every register from itself, lanes permuted.
    Lanes(Box<ByParity<LaneRow>>),
    /// Every register from the same place in the block of slot 0.
    Block,
    /// Every register from the same place in a block that is handed over with the target block: what
    /// crosses from other chunks. The number says which.
    Carried(usize),
    /// The six registers of a group from six consecutive ones, lanes unchanged.
    Runs(Vec<Source>),
    /// The six registers of a group from any six, lanes unchanged.
    Copies(Vec<Six>),
    /// All registers of a group from the same six sources.
    Shared {
        /// The sources of each group.
        sources: Vec<Six>,
        /// The row of each register of a group.
        classes: Vec<[u8; GROUP]>,
        /// The rows.
        rows: Vec<ByParity<CrossRow>>,
    },
    /// Each register of a group from the six registers of some group.
    Strided {
        /// For each register of a group the first source of six consecutive ones.
        sources: Vec<Six>,
        /// The row of each register of a group.
        classes: Vec<[u8; GROUP]>,
        /// The rows.
        rows: Vec<ByParity<CrossRow>>,
    },
    /// Anything else: a list of pieces per register, indexed by `down key * registers + register`.
    Scattered {
        /// End of each register's list in `pieces`.
        ends: Vec<u32>,
        /// Source and row of each piece.
        pieces: Vec<(Source, u16)>,
        /// The rows.
        rows: Vec<ByParity<LaneRow>>,
    },
}

/// The gather tables of one window permutation.
#[derive(Clone, Debug)]
pub struct Gather {
    /// Which blocks the slots stand for.
    pub outside: Outside,
    /// What happens inside a block.
    pub shape: Shape,
}

impl Gather {
    /// Returns the tables of a transfer that takes its bits from the `index`-th block handed over with
    /// the target block.
    pub fn carried(layout: Layout, index: usize) -> Gather {
        Gather {
            outside: Outside::nothing(layout),
            shape: Shape::Carried(index),
        }
    }

    /// Returns the tables that compute, for every line, the byte of the line that the window takes to
    /// it: `next[w(line)] = cur[line]`.
    ///
    /// Cost: one rank per lane, register of a block, parity and down key where lanes change (a few
    /// milliseconds), one per register otherwise.
    ///
    /// # Panics
    /// When the window is odd or reaches beyond the line: lines of odd puzzles need another layout.
    pub fn new(layout: Layout, window: &Window) -> Gather {
        assert!(window.is_even(), "windows of even lines are even");
        assert!(window.last() < layout.len(), "windows lie within the line");
        let pull = window.inverse();
        let outside = Outside::new(layout, &pull);
        let shape = if window.is_identity() {
            Shape::Own
        } else if window.last() < layout.block_prefix() {
            Shape::Block
        } else if window.first() >= layout.prefix() {
            Shape::Lanes(Box::new(
                [0, 1].map(|parity| lane_row(layout, &pull, parity)),
            ))
        } else {
            let inside = Inside {
                layout,
                pull: &pull,
                outside: &outside,
            };
            if window.last() < layout.prefix() {
                inside.copies()
            } else {
                inside.crossing()
            }
        };
        Gather { outside, shape }
    }
}

/// The row of a window that lies in the last five positions.
fn lane_row(layout: Layout, pull: &Window, parity: usize) -> LaneRow {
    let q = layout.prefix();
    let mut row = [PAD_LANE; 64];
    for (target, source) in row[..LANES].iter_mut().enumerate() {
        let (mut digits, mut line) = ([0; TAIL], [0; TAIL]);
        lane_digits(target, parity, &mut digits);
        super::lehmer::from_digits(&digits, &mut line);
        let moved: [u8; TAIL] = std::array::from_fn(|x| line[pull.source(q + x) - q]);
        super::lehmer::digits(&moved, &mut digits);
        *source = lane(&digits);
    }
    row
}

/// The part of a window inside a block.
struct Inside<'a> {
    layout: Layout,
    pull: &'a Window,
    outside: &'a Outside,
}

/// Where a lane comes from.
type Origin = (Source, u8);

impl Inside<'_> {
    fn groups(&self) -> usize {
        self.layout.block_registers() / GROUP
    }

    /// All (down key, group) pairs in table order.
    fn all_groups(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let groups = self.groups();
        (0..self.outside.downs()).flat_map(move |down| (0..groups).map(move |g| (down, g)))
    }

    /// Carries out the window on one line of a block: returns where (down key, register, lane) comes
    /// from.
    fn origin(&self, down: usize, register: usize, lane_index: usize, parity: usize) -> Origin {
        let (c, q, n) = (
            self.layout.block_prefix(),
            self.layout.prefix(),
            self.layout.len(),
        );
        let moving = self.outside.down_positions();
        let k = moving.len();
        // The elements concerned: the k that come down, then the block's own; only their order counts.
        let (mut digits, mut line) = ([0; MAX_LEN], [0; MAX_LEN]);
        self.outside.down_digits(down, &mut digits);
        self.layout.inner_digits(register, &mut digits[k..]);
        lane_digits(lane_index, parity, &mut digits[k + q - c..]);
        let len = k + n - c;
        super::lehmer::from_digits(&digits[..len], &mut line[..len]);

        let mut source = [0; MAX_LEN];
        for (x, element) in (c..n).zip(&mut source) {
            let from = self.pull.source(x);
            *element = match moving.iter().position(|&y| y == from) {
                Some(i) => line[i],
                None => line[k + from - c],
            };
        }
        let own = source[..n - c].iter().fold(0, |set, &x| set | 1 << x);
        super::lehmer::digits_within(&source[..n - c], own, &mut digits);
        let inner = self.layout.inner_register(&digits[..q - c]);
        let slot = self.outside.slot(&line[k..len]);
        (
            Source {
                slot: slot as u16,
                register: inner as u16,
            },
            lane(&digits[q - c..]),
        )
    }

    /// The shape of a window that ends before the lanes.
    fn copies(&self) -> Shape {
        let sixes: Vec<Six> = self
            .all_groups()
            .map(|(down, g)| std::array::from_fn(|r| self.origin(down, g * GROUP + r, 0, 0).0))
            .collect();
        if sixes.iter().all(is_run) {
            Shape::Runs(sixes.iter().map(|six| six[0]).collect())
        } else {
            Shape::Copies(sixes)
        }
    }

    /// The shape of a window that moves elements between the prefix and the lanes.
    fn crossing(&self) -> Shape {
        let mut origins = Vec::with_capacity(self.outside.downs() * self.groups());
        for (down, g) in self.all_groups() {
            let group: [ByParity<[Origin; LANES]>; GROUP] = std::array::from_fn(|r| {
                [0, 1].map(|p| std::array::from_fn(|l| self.origin(down, g * GROUP + r, l, p)))
            });
            origins.push(group);
        }
        let shared = origins
            .iter()
            .map(|group| union(group.iter().flatten().flatten()));
        if let Some(sources) = shared.map(six).collect::<Option<Vec<Six>>>() {
            let of = |g: usize, _: usize| sources[g];
            let (classes, rows) = cross_rows(&origins, of);
            return Shape::Shared {
                sources,
                classes,
                rows,
            };
        }
        let strided = origins.iter().map(|group| {
            let mut firsts = [Source {
                slot: 0,
                register: 0,
            }; GROUP];
            for (first, lanes) in firsts.iter_mut().zip(group) {
                *first = group_of(lanes.iter().flatten())?;
            }
            Some(firsts)
        });
        if let Some(sources) = strided.collect::<Option<Vec<Six>>>() {
            let of = |g: usize, r: usize| {
                let first = sources[g][r];
                std::array::from_fn(|i| Source {
                    register: first.register + i as u16,
                    ..first
                })
            };
            let (classes, rows) = cross_rows(&origins, of);
            return Shape::Strided {
                sources,
                classes,
                rows,
            };
        }
        scattered(&origins)
    }
}

/// Whether six sources are consecutive registers of one block.
fn is_run(six: &Six) -> bool {
    (0..GROUP).all(|i| {
        six[i]
            == Source {
                register: six[0].register + i as u16,
                slot: six[0].slot,
            }
    })
}

/// The distinct sources, in order.
fn union<'a>(origins: impl Iterator<Item = &'a Origin>) -> Vec<Source> {
    let mut sources: Vec<Source> = origins.map(|o| o.0).collect();
    sources.sort_unstable();
    sources.dedup();
    sources
}

/// At most six sources, filled up by repeating the first.
fn six(sources: Vec<Source>) -> Option<Six> {
    let first = *sources.first()?;
    let fill = |i: usize| sources.get(i).copied().unwrap_or(first);
    (sources.len() <= GROUP).then(|| std::array::from_fn(fill))
}

/// The first register of the one group that holds all origins.
fn group_of<'a>(origins: impl Iterator<Item = &'a Origin>) -> Option<Source> {
    let aligned = |s: Source| Source {
        register: s.register - s.register % GROUP as u16,
        ..s
    };
    let mut firsts = origins.map(|o| aligned(o.0));
    let first = firsts.next()?;
    firsts.all(|f| f == first).then_some(first)
}

type Classes = (Vec<[u8; GROUP]>, Vec<ByParity<CrossRow>>);

/// The distinct rows, and which of them each register uses; `sources(group, register)` gives the order
/// of its six sources.
fn cross_rows(
    origins: &[[ByParity<[Origin; LANES]>; GROUP]],
    sources: impl Fn(usize, usize) -> Six,
) -> Classes {
    let mut rows = Vec::new();
    let mut known = HashMap::new();
    let classes = origins.iter().enumerate().map(|(g, group)| {
        std::array::from_fn(|r| {
            let six = sources(g, r);
            let row: ByParity<CrossRow> = std::array::from_fn(|p| {
                std::array::from_fn(|l| {
                    let (source, lane) = group[r][p][l];
                    let i = six
                        .iter()
                        .position(|s| *s == source)
                        .expect("source is one of six");
                    (i * 64) as u16 + u16::from(lane)
                })
            });
            let class = *known.entry(row).or_insert_with(|| {
                rows.push(row);
                rows.len() - 1
            });
            u8::try_from(class).expect("one element crosses: at most 12 orders, 6 places")
        })
    });
    (classes.collect(), rows)
}

/// The general shape: for each register the pieces it is made of.
fn scattered(origins: &[[ByParity<[Origin; LANES]>; GROUP]]) -> Shape {
    let (mut ends, mut pieces, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    let mut known = HashMap::new();
    for lanes in origins.iter().flatten() {
        for source in union(lanes.iter().flatten()) {
            let row: ByParity<LaneRow> = std::array::from_fn(|p| {
                let mut row = [PAD_LANE; 64];
                for (to, &(from, lane)) in row.iter_mut().zip(&lanes[p]) {
                    if from == source {
                        *to = lane;
                    }
                }
                row
            });
            let index = *known.entry(row).or_insert_with(|| {
                rows.push(row);
                rows.len() - 1
            });
            pieces.push((
                source,
                u16::try_from(index).expect("rows of small windows are few"),
            ));
        }
        ends.push(u32::try_from(pieces.len()).expect("pieces of a block are few"));
    }
    Shape::Scattered { ends, pieces, rows }
}
