//! The level step of a pattern database's stretch, once for all instruction sets.
//!
//! Invariant: both parities of a slice are computed together: twelve registers gather what all moves with
//! the same pair of bits bring, then these bits are mapped once; most moves are plain copies, one
//! instruction per register.

// Indexing by constant ranges is what keeps arrays of registers in registers.
#![allow(clippy::needless_range_loop)]

use super::gather::{Ready, Sink, Sources, fetch, gather};
use super::isa::Isa;
use super::moves::{FirstVisits, MAX_MOVES, Moves, Stretch};
use crate::perm::layout::Register;

/// Where the sources of a slice's shifts lie.
pub(super) struct Slice {
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
struct Live {
    /// The source set's first register in slice 0.
    source: *const Register,
    shift: u8,
    /// The pair of bits.
    bits: (u8, u8),
}

/// The live moves into a set.
struct Lives {
    list: [Live; MAX_MOVES],
    len: usize,
}

impl Lives {
    fn empty() -> Lives {
        let none = Live {
            source: std::ptr::null(),
            shift: 0,
            bits: (0, 0),
        };
        Lives {
            list: [none; MAX_MOVES],
            len: 0,
        }
    }
}

/// What is the same for all sets of a stretch.
struct Step<'a, I: Isa> {
    ready: &'a Ready<I>,
    moves: &'a Moves,
    slice: &'a Slice,
    /// Offset of the sources' slices, as in [`Slice::sources`].
    blocks: &'a [usize],
    own: usize,
}

impl<I: Isa> Step<'_, I> {
    /// Lists the moves into a set whose source slices have changed, and fetches the registers of those that
    /// lie in other slices: they are far away, and a set's work is about as long as they take to come.
    ///
    /// # Safety
    /// As [`step`]; the set exists.
    #[inline(always)]
    unsafe fn find<const G: usize>(&self, stretch: &Stretch<'_>, set: usize, lives: &mut Lives) {
        // SAFETY: the function's contract, and `Moves::new` has checked sources and shifts.
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
                *lives.list.get_unchecked_mut(len & (MAX_MOVES - 1)) = Live {
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
    unsafe fn sources<const G: usize>(&self, live: &Live) -> Sources<2> {
        let shift = usize::from(live.shift);
        // SAFETY: the function's contract: shifts are checked, and sources have two halves in each slice.
        unsafe {
            let op = self.ready.ops.get_unchecked(shift);
            let odd = usize::from(op.odd);
            Sources {
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
pub(super) struct Raw<I: Isa, const G: usize>(pub [[I::Reg; G]; 2]);

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
pub(super) unsafe fn step<I: Isa, const G: usize>(
    ready: &Ready<I>,
    slice: &Slice,
    moves: &Moves,
    mut stretch: Stretch<'_>,
) -> u64 {
    // Registers from one slice of the sources to the next.
    let stride = moves.sources * 2 * G;
    let mut blocks = [0; MAX_SOURCES];
    for (block, source) in blocks.iter_mut().zip(&slice.sources) {
        *block = source * stride;
    }
    let step = Step {
        ready,
        moves,
        slice,
        blocks: &blocks,
        own: stretch.slice * stride,
    };
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
            let target = Target {
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
struct Target {
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
    step: &Step<'_, I>,
    lives: &[Live],
    target: &Target,
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
