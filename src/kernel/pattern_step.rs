//! The level step of a pattern database's stretch, once for all instruction sets.
//!
//! Invariant: both parities of a slice are computed together: twelve registers gather what all moves with
//! the same pair of bits bring, then these bits are mapped once; most moves are plain copies, one
//! instruction per register.

// Indexing by constant ranges is what keeps arrays of registers in registers.
#![allow(clippy::needless_range_loop)]

use crate::kernel::gather::{GroupSources, Ready, Sink, fetch, gather};
use crate::kernel::isa::Isa;
use crate::perm::layout::{Layout, Register};

/// Where the sources of a slice's shifts lie.
pub(crate) struct Slice {
    /// Parity of the digits that number the slice.
    pub parity: usize,
    /// The slices of all shifts' sources, shift after shift.
    pub sources: Vec<usize>,
    /// The same as offsets of words from the first of a slot.
    pub words: Vec<usize>,
    /// For each shift the variant of its tables.
    pub variants: Vec<usize>,
    /// For each shift the set of its source slices, as a bit mask.
    pub needs: Vec<u64>,
}

/// A move whose source slice has changed.
#[derive(Clone, Copy)]
struct LiveSlice {
    /// The source set's first register in slice 0.
    source: *const Register,
    shift: u8,
    /// The pair of bits.
    bits: (u8, u8),
}

/// The live moves into a set.
struct Lives {
    list: [LiveSlice; MAX_MOVES],
    len: usize,
}

impl Lives {
    fn empty() -> Lives {
        let none = LiveSlice { source: std::ptr::null(), shift: 0, bits: (0, 0) };
        Lives { list: [none; MAX_MOVES], len: 0 }
    }
}

/// What is the same for all sets of a stretch.
struct SetStep<'a, I: Isa> {
    ready: &'a Ready<I>,
    moves: &'a SetMoves,
    slice: &'a Slice,
    /// Offset of the sources' slices, as in [`Slice::sources`].
    blocks: &'a [usize],
    own: usize,
}

impl<I: Isa> SetStep<'_, I> {
    /// Lists the moves into a set whose source slices have changed, and fetches the registers of those that
    /// lie in other slices: they are far away, and a set's work is about as long as they take to come.
    ///
    /// # Safety
    /// As [`step`]; the set exists.
    #[inline(always)]
    unsafe fn find<const G: usize>(&self, stretch: &Stretch<'_>, set: usize, lives: &mut Lives) {
        // SAFETY: the function's contract, and `SetMoves::new` has checked sources and shifts.
        unsafe {
            lives.len = 0;
            let index = stretch.first + set;
            let full = *stretch.flags.get_unchecked(set) & Stretch::FULL != 0;
            if full || *stretch.live.get_unchecked(index) >> stretch.slice & 1 == 0 {
                return;
            }
            let mut len = 0;
            for m in self.moves.of(index) {
                let changed = stretch.changed.get_unchecked(m.source as usize);
                let needs = self.slice.needs.get_unchecked(usize::from(m.shift));
                *lives.list.get_unchecked_mut(len & (MAX_MOVES - 1)) = LiveSlice {
                    source: stretch.source.as_ptr().add(m.source as usize * 2 * G),
                    shift: m.shift,
                    bits: (m.from, m.to),
                };
                len += usize::from(changed & needs != 0);
            }
            lives.len = len;
            for live in lives.list.get_unchecked(..len) {
                let op = self.ready.ops.get_unchecked(usize::from(live.shift));
                if op.far {
                    fetch::<I, 1, 2, G>(op, &self.sources::<G>(live));
                }
            }
        }
    }

    /// Where the registers of a move's sources lie.
    ///
    /// # Safety
    /// As [`step`]; the move is one of the class's.
    #[inline(always)]
    unsafe fn sources<const G: usize>(&self, live: &LiveSlice) -> GroupSources<2> {
        let shift = usize::from(live.shift);
        // SAFETY: the function's contract: shifts are checked, and sources have two halves in each slice.
        unsafe {
            let op = self.ready.ops.get_unchecked(shift);
            let odd = usize::from(op.odd);
            GroupSources {
                arrays: [live.source.add(odd * G), live.source.add((odd ^ 1) * G)],
                blocks: self.blocks.as_ptr().add(op.first_block),
                own: self.own,
                within: 0,
                halo: (std::ptr::null(), 0),
                row: *self.slice.variants.get_unchecked(shift),
                parity: self.slice.parity,
            }
        }
    }
}

/// Joins what moves with the same pair of bits bring, bits as they are.
pub(crate) struct Raw<I: Isa, const G: usize>(pub [[I::Reg; G]; 2]);

impl<I: Isa, const G: usize> Sink<I> for Raw<I, G> {
    #[inline(always)]
    unsafe fn put(&mut self, p: usize, r: usize, value: I::Reg) {
        // SAFETY: the caller's promise that the processor has the instructions.
        self.0[p][r] = unsafe { I::or(self.0[p][r], value) };
    }

    #[inline(always)]
    unsafe fn done(&mut self) {}
}

/// Source slices of all shifts of eight things: at most six each.
const MAX_SOURCES: usize = 8 * 8 * 6;

/// Computes a stretch and returns the number of first visits.
///
/// # Safety
/// The processor supports the instruction set; the operations are the layout's shifts, whose tables
/// `Ready::new` has checked, `slice` is the stretch's, and the stretch fits layout and moves as
/// `PatternStep::run` checks; `G` is the layout's group.
#[inline(always)]
pub(crate) unsafe fn step<I: Isa, const G: usize>(
    ready: &Ready<I>,
    slice: &Slice,
    moves: &SetMoves,
    mut stretch: Stretch<'_>,
) -> u64 {
    // Registers from one slice of the sources to the next.
    let stride = moves.sources * 2 * G;
    let mut blocks = [0; MAX_SOURCES];
    for (block, source) in blocks.iter_mut().zip(&slice.sources) {
        *block = source * stride;
    }
    let step = SetStep { ready, moves, slice, blocks: &blocks, own: stretch.slice * stride };
    let (mut lives, mut ahead) = (&mut Lives::empty(), &mut Lives::empty());
    let mut count = 0;
    let sets = stretch.flags.len();
    for set in 0..=sets {
        // SAFETY: the function's contract; `set` is below the stretch's sets.
        unsafe {
            std::mem::swap(&mut lives, &mut ahead);
            ahead.len = 0;
            if set < sets {
                step.find::<G>(&stretch, set, ahead);
            }
            let Some(set) = set.checked_sub(1) else {
                continue;
            };
            let flag = stretch.flags.get_unchecked_mut(set);
            if lives.len == 0 {
                *flag &= Stretch::FULL;
                continue;
            }
            let index = stretch.first + set;
            let target = TargetSlice {
                seen: stretch.seen.as_mut_ptr().add(set * 2 * G),
                bits: *stretch.bits.get_unchecked(index),
                level: stretch.level,
            };
            let list = lives.list.get_unchecked(..lives.len);
            let slot = |slots: &[u32]| {
                let slot = slots.get_unchecked(index) - slots.get_unchecked(stretch.first);
                slot as usize * 2 * G
            };
            let (new, flags) = match &mut stretch.first_visits {
                FirstVisits::Any(values) => {
                    let first = Any(values.as_mut_ptr().add(set * 2 * G));
                    visit::<I, _, G>(&step, list, &target, first)
                }
                FirstVisits::PerBit { values, slots } => {
                    let first = PerBit(values.as_mut_ptr().add(slot(slots)));
                    visit::<I, _, G>(&step, list, &target, first)
                }
            };
            *flag = flags;
            count += new;
        }
    }
    count
}

/// One set and slice to compute.
struct TargetSlice {
    seen: *mut Register,
    bits: u8,
    level: u8,
}

/// Where the first visits of a set go.
trait Visits<I: Isa> {
    /// Writes those of one register, number `r` of `registers`; returns how many there are.
    ///
    /// # Safety
    /// As [`step`]; `bits` are the target's.
    unsafe fn write(
        &self,
        bits: u8,
        level: u8,
        registers: usize,
        r: usize,
        old: I::Reg,
        new: I::Reg,
    ) -> u64;
}

/// [`FirstVisits::Any`] of a set.
struct Any(*mut Register);

impl<I: Isa> Visits<I> for Any {
    #[inline(always)]
    unsafe fn write(&self, _: u8, level: u8, _: usize, r: usize, old: I::Reg, new: I::Reg) -> u64 {
        // SAFETY: the function's contract.
        unsafe { I::first_visits(self.0.add(r), old, new, I::splat(u8::MAX), I::splat(level)) }
    }
}

/// [`FirstVisits::PerBit`] of a set.
struct PerBit(*mut Register);

impl<I: Isa> Visits<I> for PerBit {
    #[inline(always)]
    unsafe fn write(
        &self,
        bits: u8,
        level: u8,
        registers: usize,
        r: usize,
        old: I::Reg,
        new: I::Reg,
    ) -> u64 {
        let mut count = 0;
        for bit in 0..bits.count_ones() as usize {
            // SAFETY: the function's contract: a slot of registers per bit.
            count += unsafe {
                let values = self.0.add(bit * registers + r);
                I::first_visits(values, old, new, I::splat(1 << bit), I::splat(level))
            };
        }
        count
    }
}

/// Brings the bits of all live moves into a set's slice: returns first visits and flags.
///
/// # Safety
/// As [`step`].
#[inline(always)]
unsafe fn visit<I: Isa, V: Visits<I>, const G: usize>(
    step: &SetStep<'_, I>,
    lives: &[LiveSlice],
    target: &TargetSlice,
    first: V,
) -> (u64, u8) {
    // SAFETY: the function's contract: sources, slices and registers exist.
    unsafe {
        let mut new = [[I::splat(0); G]; 2];
        let mut at = 0;
        while at < lives.len() {
            let bits = lives.get_unchecked(at).bits;
            let mut raw = Raw::<I, G>([[I::splat(0); G]; 2]);
            while at < lives.len() && lives.get_unchecked(at).bits == bits {
                let live = lives.get_unchecked(at);
                let op = step.ready.ops.get_unchecked(usize::from(live.shift));
                gather::<I, _, _, 2, G>(op, &step.sources::<G>(live), &mut raw);
                at += 1;
            }
            let pair = usize::from(bits.0) * 8 + usize::from(bits.1);
            let map = step.ready.pairs.get_unchecked(pair);
            for p in 0..2 {
                for r in 0..G {
                    new[p][r] = I::join(new[p][r], map, raw.0[p][r]);
                }
            }
        }
        let mut count = 0;
        let mut flags = 0;
        let mut common = I::splat(target.bits);
        for p in 0..2 {
            for r in 0..G {
                let seen = target.seen.add(p * G + r);
                let old = I::load(seen);
                let sum = I::or(old, new[p][r]);
                common = I::and(common, sum);
                if I::same(old, sum) {
                    continue;
                }
                flags = Stretch::CHANGED;
                I::store(seen, sum);
                count += first.write(target.bits, target.level, 2 * G, p * G + r, old, sum);
            }
        }
        if I::same_lanes(common, I::splat(target.bits)) {
            flags |= Stretch::FULL;
        }
        (count, flags)
    }
}

// One level of a pattern database: the sets of positions, the moves between them and what is computed.
//
// Invariant: a state is (set of positions, arrangement of the things on it, bit). Bytes `seen` only gain
// bits.

/// A move into a set of positions: one thing comes from another set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetMove {
    /// The source set.
    pub source: u32,
    /// Number of the shift of positions, see [`SetMoves::shift`].
    pub shift: u8,
    /// Source bit.
    pub from: u8,
    /// Target bit.
    pub to: u8,
}

/// The moves into all sets of one class from the sets of the other.
#[derive(Clone, Debug)]
pub struct SetMoves {
    pub(crate) layout: Layout,
    pub(crate) sources: usize,
    ends: Vec<u32>,
    moves: Vec<SetMove>,
}

/// Most moves into a set: eight things with at most four free neighbours each.
pub(crate) const MAX_MOVES: usize = 32;

impl SetMoves {
    /// Returns the number of the shift that takes the thing at position `from` of a source line to
    /// position `to` of the target line, all others keeping their order.
    pub fn shift(layout: Layout, from: usize, to: usize) -> usize {
        to * layout.len() + from
    }

    /// Returns the moves into sets 0, 1, .. given as one list per set, from `sources` source sets.
    ///
    /// # Panics
    /// When a source, a shift or a bit does not exist, or a set has more than 32 moves.
    pub fn new(
        layout: Layout,
        sources: usize,
        lists: impl IntoIterator<Item = impl AsRef<[SetMove]>>,
    ) -> SetMoves {
        let (mut ends, mut moves) = (Vec::new(), Vec::<SetMove>::new());
        for list in lists {
            let begin = moves.len();
            moves.extend_from_slice(list.as_ref());
            let list = &mut moves[begin..];
            assert!(list.len() <= MAX_MOVES, "a set has few moves");
            let fits = |m: &SetMove| {
                (m.source as usize) < sources
                    && usize::from(m.shift) < layout.len() * layout.len()
                    && m.from < 8
                    && m.to < 8
            };
            assert!(list.iter().all(fits), "moves fit the layout");
            // Moves that share their bits stand together, plain copies first.
            let copies = |m: &SetMove| usize::from(m.shift).is_multiple_of(layout.len() + 1);
            list.sort_by_key(|m| (m.to, m.from, !copies(m), m.shift, m.source));
            ends.push(u32::try_from(moves.len()).expect("moves of all sets fit 32 bits"));
        }
        SetMoves { layout, sources, ends, moves }
    }

    /// Returns the number of target sets.
    pub fn targets(&self) -> usize {
        self.ends.len()
    }

    /// Returns the moves into a set.
    #[inline(always)]
    pub fn of(&self, set: usize) -> &[SetMove] {
        let begin = set.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.moves[begin as usize..self.ends[set] as usize]
    }
}

/// Where first visits are written.
pub enum FirstVisits<'a> {
    /// A byte per lane: the level at which any bit is first set. As many registers as `seen`.
    Any(&'a mut [Register]),
    /// A byte per lane and bit: for each set of the stretch its bits in turn, a slice of registers each.
    PerBit {
        /// The registers.
        values: &'a mut [Register],
        /// First bit slot of each set of the class, and one more for the end.
        slots: &'a [u32],
    },
}

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
    /// Flags of the stretch's sets, see [`Stretch::CHANGED`] and [`Stretch::FULL`].
    pub flags: &'a mut [u8],
    /// First visits of the stretch.
    pub first_visits: FirstVisits<'a>,
    /// What to write for a first visit.
    pub level: u8,
}

impl Stretch<'_> {
    /// Flag of a slice of a set: it gained bits at this level.
    pub const CHANGED: u8 = 1;
    /// Flag of a slice of a set: all lanes have all bits, nothing can be gained.
    pub const FULL: u8 = 2;
}
