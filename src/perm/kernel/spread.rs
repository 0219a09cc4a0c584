//! Spreading over arrangements: one level of a search whose states are (set, arrangement, bit).
//!
//! Invariant: `seen` only grows. A lane of a target gains the bits that moves bring from the sources'
//! `seen` bytes; because a source slice is skipped when it has not changed since the target last read it,
//! every bit is brought exactly when its level comes.

use super::mark::Mark;
use super::step::Isa;
use super::{Kernel, KernelError, scalar::Scalar};
use crate::perm::arrangement::{Arrangements, Pull, Shift, Spots};
use crate::perm::gather::ByParity;
use crate::perm::layout::{GROUP, Register};

/// A move into a set of positions: one thing comes from another set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The source set.
    pub source: u32,
    /// Number of the shift of positions, see [`Arrangements::shift`].
    pub shift: u8,
    /// Source bit.
    pub from: u8,
    /// Target bit.
    pub to: u8,
}

/// The moves into all sets of one class from the sets of the other.
#[derive(Clone, Debug)]
pub struct Moves {
    layout: Arrangements,
    sources: usize,
    ends: Vec<u32>,
    moves: Vec<Move>,
}

/// Most moves into a set: eight things with at most four free neighbours each.
const MAX_MOVES: usize = 32;

impl Moves {
    /// Returns the moves into sets 0, 1, .. given as one list per set, from `sources` source sets.
    ///
    /// # Panics
    /// When a source, a shift or a bit does not exist, or a set has more than 32 moves.
    pub fn new(
        layout: Arrangements,
        sources: usize,
        lists: impl IntoIterator<Item = impl AsRef<[Move]>>,
    ) -> Moves {
        let (mut ends, mut moves) = (Vec::new(), Vec::<Move>::new());
        for list in lists {
            let begin = moves.len();
            moves.extend_from_slice(list.as_ref());
            let list = &mut moves[begin..];
            assert!(list.len() <= MAX_MOVES, "a set has few moves");
            let fits = |m: &Move| {
                (m.source as usize) < sources
                    && usize::from(m.shift) < layout.shifts()
                    && m.from < 8
                    && m.to < 8
            };
            assert!(list.iter().all(fits), "moves fit the layout");
            // Moves that share their bits stand together, plain copies first.
            let copies = |m: &Move| usize::from(m.shift).is_multiple_of(layout.len() + 1);
            list.sort_by_key(|m| (m.to, m.from, !copies(m), m.source));
            ends.push(u32::try_from(moves.len()).expect("moves of all sets fit 32 bits"));
        }
        Moves {
            layout,
            sources,
            ends,
            moves,
        }
    }

    /// Returns the number of target sets.
    pub fn targets(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of source sets.
    pub fn sources(&self) -> usize {
        self.sources
    }

    /// Returns the moves into a set.
    pub fn of(&self, set: usize) -> &[Move] {
        let begin = if set == 0 { 0 } else { self.ends[set - 1] };
        &self.moves[begin as usize..self.ends[set] as usize]
    }

    /// Returns the bytes of the table.
    pub fn bytes(&self) -> u64 {
        (size_of_val(&*self.moves) + size_of_val(&*self.ends)) as u64
    }
}

/// Where first visits are written.
pub enum Marks<'a> {
    /// A byte per lane: the level at which any bit is first set. As many registers as `seen`.
    First(&'a mut [Register]),
    /// A byte per lane and bit: for each set of the stretch its bits in turn, a slice of registers each.
    PerBit {
        /// The registers.
        values: &'a mut [Register],
        /// First bit slot of each set of the class, and one more for the end.
        slots: &'a [u32],
    },
}

/// Flag of a slice of a set: it gained bits at this level.
pub const CHANGED: u8 = 1;
/// Flag of a slice of a set: all lanes have all bits, nothing can be gained.
pub const FULL: u8 = 2;

/// Consecutive sets of one slice, to be computed for one level.
pub struct Stretch<'a> {
    /// The slice.
    pub slice: usize,
    /// The first set.
    pub first: usize,
    /// `seen` registers of the whole source class: slice by slice, set by set.
    pub source: &'a [Register],
    /// For each source set the slices that changed at the level before, as a bit mask.
    pub changed: &'a [u64],
    /// For each set of the class the slices that may gain bits, as a bit mask.
    pub live: &'a [u64],
    /// For each set of the class all its bits.
    pub bits: &'a [u8],
    /// `seen` registers of the stretch.
    pub seen: &'a mut [Register],
    /// Flags of the stretch's sets.
    pub flags: &'a mut [u8],
    /// First visits of the stretch.
    pub marks: Marks<'a>,
    /// What to write for a first visit.
    pub level: u8,
}

/// The tables of all shifts for one kernel.
pub struct Spread {
    layout: Arrangements,
    needs: Vec<Vec<u64>>,
    run: Box<dyn Run>,
}

trait Run: Send + Sync {
    /// # Safety
    /// The stretch satisfies what [`Spread::run`] checks, and the processor supports the kernel.
    unsafe fn run(&self, moves: &Moves, stretch: Stretch<'_>) -> u64;
}

impl Spread {
    /// Returns the tables for arrangements of k things.
    ///
    /// Cost: 50 ms for eight things, less for fewer.
    ///
    /// # Errors
    /// [`KernelError::Unsupported`] when this processor cannot run the kernel.
    pub fn new(kernel: Kernel, layout: Arrangements) -> Result<Spread, KernelError> {
        if !kernel.is_supported() {
            return Err(KernelError::Unsupported(kernel));
        }
        let shifts: Vec<Shift> = (0..layout.shifts())
            .map(|shift| Shift::new(layout, shift))
            .collect();
        let run: Box<dyn Run> = match kernel {
            Kernel::Scalar => Box::new(Ready::<Scalar>::new(layout, &shifts)),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => Box::new(Ready::<super::avx2::Avx2>::new(layout, &shifts)),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => Box::new(Ready::<super::avx512::Avx512>::new(layout, &shifts)),
            #[cfg(not(target_arch = "x86_64"))]
            _ => return Err(KernelError::Unsupported(kernel)),
        };
        Ok(Spread {
            layout,
            needs: shifts.into_iter().map(|shift| shift.needs).collect(),
            run,
        })
    }

    /// Returns the slices of a target that a move may bring bits to, given the changed slices of its
    /// source. May return too many, never too few.
    #[inline]
    pub fn reaches(&self, shift: u8, changed: u64) -> u64 {
        let reached = if self.layout.keeps_slices(usize::from(shift)) {
            changed
        } else {
            u64::MAX
        };
        if changed == 0 { 0 } else { reached }
    }

    /// Brings the bits of one level into a stretch and returns the number of first visits.
    ///
    /// # Panics
    /// When the lengths of the stretch do not fit the layout and the moves.
    pub fn run(&self, moves: &Moves, stretch: Stretch<'_>) -> u64 {
        let unit = self.layout.slice_registers();
        let (targets, sources) = (moves.targets(), moves.sources());
        let sets = stretch.flags.len();
        let last = stretch.first + sets;
        assert_eq!(moves.layout, self.layout);
        assert!(stretch.slice < self.layout.slices() && last <= targets);
        assert_eq!(stretch.source.len(), sources * unit * self.layout.slices());
        assert_eq!(stretch.changed.len(), sources);
        assert_eq!((stretch.live.len(), stretch.bits.len()), (targets, targets));
        assert_eq!(stretch.seen.len(), sets * unit);
        match &stretch.marks {
            Marks::First(values) => assert_eq!(values.len(), sets * unit),
            Marks::PerBit { values, slots } => {
                assert_eq!(slots.len(), targets + 1);
                let own = &slots[stretch.first..=last];
                let enough = own
                    .windows(2)
                    .zip(&stretch.bits[stretch.first..])
                    .all(|(s, bits)| s[0] <= s[1] && s[1] - s[0] == bits.count_ones());
                let count = (own[sets] - own[0]) as usize;
                assert!(enough && values.len() == count * unit, "a slot per bit");
            }
        }
        // SAFETY: lengths were checked above, sources and shifts by `Moves::new`, support by `new`; the
        // tables are built for this layout and name existing slices and registers only.
        unsafe { self.run.run(moves, stretch) }
    }
}

/// A shift in the format of one instruction set.
struct Op<I: Isa> {
    pull: ReadyPull<I>,
    flips: usize,
    needs: Vec<u64>,
}

enum ReadyPull<I: Isa> {
    Own,
    Lanes(ByParity<I::LaneRow>),
    Copies(Vec<Spots>),
    Shared(Vec<(Spots, [u8; GROUP])>, Vec<ByParity<I::CrossRow>>),
    Strided(Vec<([u8; GROUP], [u8; GROUP])>, Vec<ByParity<I::CrossRow>>),
}

struct Ready<I: Isa> {
    layout: Arrangements,
    ops: Vec<Op<I>>,
    /// The map of each pair of bits, `8 * from + to`.
    maps: Vec<I::BitMap>,
}

impl<I: Mark> Ready<I> {
    fn new(layout: Arrangements, shifts: &[Shift]) -> Ready<I> {
        let op = |shift: &Shift| Op {
            pull: match &shift.pull {
                Pull::Own => ReadyPull::Own,
                Pull::Lanes(rows) => {
                    ReadyPull::Lanes([I::lane_row(&rows[0]), I::lane_row(&rows[1])])
                }
                Pull::Copies(spots) => ReadyPull::Copies(spots.clone()),
                Pull::Shared {
                    sources,
                    classes,
                    rows,
                } => ReadyPull::Shared(
                    sources
                        .iter()
                        .copied()
                        .zip(classes.iter().copied())
                        .collect(),
                    rows.iter()
                        .map(|r| [I::cross_row(&r[0]), I::cross_row(&r[1])])
                        .collect(),
                ),
                Pull::Strided {
                    slices,
                    classes,
                    rows,
                } => ReadyPull::Strided(
                    slices
                        .iter()
                        .copied()
                        .zip(classes.iter().copied())
                        .collect(),
                    rows.iter()
                        .map(|r| [I::cross_row(&r[0]), I::cross_row(&r[1])])
                        .collect(),
                ),
            },
            flips: usize::from(shift.flips),
            needs: shift.needs.clone(),
        };
        let map = |i: u8| I::bit_maps(&[(i / 8, i % 8)]).pop();
        Ready {
            layout,
            ops: shifts.iter().map(op).collect(),
            maps: (0..64).filter_map(map).collect(),
        }
    }
}

macro_rules! instruction_set {
    ($isa:ty, $(#[$features:meta])?) => {
        impl Run for Ready<$isa> {
            unsafe fn run(&self, moves: &Moves, stretch: Stretch<'_>) -> u64 {
                $(#[$features])?
                unsafe fn with_features(
                    ready: &Ready<$isa>,
                    moves: &Moves,
                    stretch: Stretch<'_>,
                ) -> u64 {
                    // SAFETY: the caller's promise.
                    unsafe {
                        match ready.layout.group() {
                            1 => spread::<$isa, 1>(ready, moves, stretch),
                            _ => spread::<$isa, GROUP>(ready, moves, stretch),
                        }
                    }
                }
                // SAFETY: `Spread::new` has checked the processor, `Spread::run` the stretch.
                unsafe { with_features(self, moves, stretch) }
            }
        }
    };
}

instruction_set!(Scalar,);
#[cfg(target_arch = "x86_64")]
instruction_set!(super::avx2::Avx2, #[target_feature(enable = "avx2,bmi2,popcnt")]);
#[cfg(target_arch = "x86_64")]
instruction_set!(
    super::avx512::Avx512,
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vpopcntdq,gfni,bmi2,popcnt"
    )]
);

/// Computes a stretch.
///
/// # Safety
/// As [`Run::run`]; `G` is the layout's group.
#[inline(always)]
unsafe fn spread<I: Mark, const G: usize>(
    ready: &Ready<I>,
    moves: &Moves,
    mut stretch: Stretch<'_>,
) -> u64 {
    let slice = stretch.slice;
    let wanted = 1u64 << slice;
    let slice_parity = usize::from(ready.layout.slice_parity(slice));
    let stride = moves.sources * 2 * G;
    let mut count = 0;
    for set in 0..stretch.flags.len() {
        // SAFETY: the function's contract; `set` is below the stretch's sets.
        unsafe {
            let index = stretch.first + set;
            if *stretch.live.get_unchecked(index) & wanted == 0 {
                *stretch.flags.get_unchecked_mut(set) &= FULL;
                continue;
            }
            let begin = if index == 0 {
                0
            } else {
                *moves.ends.get_unchecked(index - 1)
            };
            let end = *moves.ends.get_unchecked(index);
            let list = moves.moves.get_unchecked(begin as usize..end as usize);
            let mut live = [Move {
                source: 0,
                shift: 0,
                from: 0,
                to: 0,
            }; MAX_MOVES];
            let mut used = 0;
            for m in list {
                let op = ready.ops.get_unchecked(usize::from(m.shift));
                let changed = stretch.changed.get_unchecked(m.source as usize);
                if changed & op.needs.get_unchecked(slice) != 0 {
                    live[used % MAX_MOVES] = *m;
                    used += 1;
                }
            }
            if used == 0 {
                *stretch.flags.get_unchecked_mut(set) &= FULL;
                continue;
            }
            let target = Target::<I> {
                live: live.get_unchecked(..used),
                source: stretch.source.as_ptr(),
                stride,
                slice,
                slice_parity,
                seen: stretch.seen.as_mut_ptr().add(set * 2 * G),
                bits: *stretch.bits.get_unchecked(index),
                level: I::splat(stretch.level),
            };
            let (values, per_bit) = match &mut stretch.marks {
                Marks::First(values) => (values.as_mut_ptr().add(set * 2 * G), false),
                Marks::PerBit { values, slots } => {
                    let slot = slots.get_unchecked(index) - slots.get_unchecked(stretch.first);
                    (values.as_mut_ptr().add(slot as usize * 2 * G), true)
                }
            };
            let mut flags = FULL | CHANGED;
            let mut changed = false;
            for parity in 0..2 {
                let values = values.add(parity * G);
                let (new, is_changed, is_full) = if per_bit {
                    group::<I, G, true>(ready, &target, parity, values)
                } else {
                    group::<I, G, false>(ready, &target, parity, values)
                };
                count += new;
                changed |= is_changed;
                if !is_full {
                    flags &= !FULL;
                }
            }
            if !changed {
                flags &= !CHANGED;
            }
            *stretch.flags.get_unchecked_mut(set) = flags;
        }
    }
    count
}

/// One set and slice to compute.
struct Target<'a, I: Isa> {
    live: &'a [Move],
    source: *const Register,
    /// Registers from one slice of the sources to the next.
    stride: usize,
    slice: usize,
    slice_parity: usize,
    seen: *mut Register,
    bits: u8,
    level: I::Reg,
}

/// Computes the registers of one parity: returns first visits, whether any bit was gained and whether
/// all lanes have all bits.
///
/// # Safety
/// As [`spread`].
#[inline(always)]
unsafe fn group<I: Mark, const G: usize, const PER_BIT: bool>(
    ready: &Ready<I>,
    target: &Target<'_, I>,
    parity: usize,
    values: *mut Register,
) -> (u64, bool, bool) {
    // SAFETY: the function's contract: sources, slices and registers exist.
    unsafe {
        let seen = target.seen.add(parity * G);
        let mut old = [I::zero(); G];
        for r in 0..G {
            old[r] = I::load(seen.add(r));
        }
        let mut new = old;
        let row_parity = parity ^ target.slice_parity;
        let mut moves = target.live.iter().peekable();
        while let Some(&&first) = moves.peek() {
            let mut raw = [I::zero(); G];
            while let Some(m) = moves.next_if(|m| (m.from, m.to) == (first.from, first.to)) {
                let op = ready.ops.get_unchecked(usize::from(m.shift));
                let base = target
                    .source
                    .add(m.source as usize * 2 * G + (parity ^ op.flips) * G);
                let own = base.add(target.slice * target.stride);
                let at = |slice: u8| base.add(usize::from(slice) * target.stride);
                match &op.pull {
                    ReadyPull::Own => {
                        for r in 0..G {
                            raw[r] = I::or(raw[r], I::load(own.add(r)));
                        }
                    }
                    ReadyPull::Lanes(rows) => {
                        for r in 0..G {
                            let row = rows.get_unchecked(row_parity ^ (r & 1));
                            raw[r] = I::or(raw[r], I::permute(row, I::load(own.add(r))));
                        }
                    }
                    ReadyPull::Copies(spots) => {
                        let spots = spots.get_unchecked(target.slice);
                        for r in 0..G {
                            let spot = spots[r];
                            let from = at(spot.slice).add(usize::from(spot.register));
                            raw[r] = I::or(raw[r], I::load(from));
                        }
                    }
                    ReadyPull::Shared(groups, rows) => {
                        let (spots, classes) = groups.get_unchecked(target.slice);
                        let mut six = [I::zero(); GROUP];
                        for s in 0..GROUP {
                            let spot = spots[s];
                            six[s] = I::load(at(spot.slice).add(usize::from(spot.register)));
                        }
                        for r in 0..G {
                            let rows = rows.get_unchecked(usize::from(classes[r]));
                            let row = rows.get_unchecked(row_parity ^ (r & 1));
                            raw[r] = I::or(raw[r], I::select(row, &six));
                        }
                    }
                    ReadyPull::Strided(groups, rows) => {
                        let (slices, classes) = groups.get_unchecked(target.slice);
                        for r in 0..G {
                            let from = at(slices[r]);
                            let mut six = [I::zero(); GROUP];
                            for s in 0..GROUP {
                                six[s] = I::load(from.add(s));
                            }
                            let rows = rows.get_unchecked(usize::from(classes[r]));
                            let row = rows.get_unchecked(row_parity ^ (r & 1));
                            raw[r] = I::or(raw[r], I::select(row, &six));
                        }
                    }
                }
            }
            let map = ready
                .maps
                .get_unchecked(usize::from(first.from) * 8 + usize::from(first.to));
            for r in 0..G {
                new[r] = I::join(new[r], map, raw[r]);
            }
        }
        let mut count = 0;
        let mut changed = false;
        let mut common = I::splat(target.bits);
        for r in 0..G {
            if !I::same(old[r], new[r]) {
                changed = true;
                I::store(seen.add(r), new[r]);
                if PER_BIT {
                    for bit in 0..target.bits.count_ones() as usize {
                        let values = values.add(bit * 2 * G + r);
                        let mask = I::splat(1 << bit);
                        count += I::mark(values, old[r], new[r], mask, target.level);
                    }
                } else {
                    let any = I::splat(u8::MAX);
                    count += I::mark(values.add(r), old[r], new[r], any, target.level);
                }
            }
            common = I::and(common, new[r]);
        }
        let full = I::same_lanes(common, I::splat(target.bits));
        (count, changed, full)
    }
}
