//! The level step of slots, one bit a line, once for all instruction sets.
//!
//! Invariant: a slot is a set of positions and one bit of what [`crate::kernel::pattern_step`] calls its byte; all its lines lie
//! together, slice by slice, a word per register. What a move brings without touching the lanes are words that are
//! joined as they are; only the others become bytes, are shuffled, and become bits again.

// Indexing by constant ranges is what keeps arrays of registers in registers.
#![allow(clippy::needless_range_loop)]

use crate::kernel::gather::{GroupSources, Op, Ready, Word, gather, prefetch};
use crate::kernel::isa::{Isa, LANE_MASK};
use crate::kernel::pattern_step::{MAX_MOVES, Raw, SetMoves, Slice};
use crate::perm::move_table::MoveShape;

/// Consecutive slots, to be computed for one level.
pub struct SlotStretch<'a> {
    /// The first slot.
    pub first: usize,
    /// What all slots of the other class have been reached in.
    pub source: &'a [Word],
    /// For each source slot the slices that changed at the level before, as a bit mask.
    pub changed: &'a [u64],
    /// What the slots of the stretch have been reached in.
    pub seen: &'a mut [Word],
    /// For each slot of the stretch the slices that can gain nothing: all their lines were reached.
    pub full: &'a mut [u64],
    /// For each slot of the stretch the slices that gained something: written.
    pub gained: &'a mut [u64],
    /// Where first visits are marked, as many words as `seen`; or none.
    pub marks: &'a mut [Word],
}

/// A move from a slot that has changed.
#[derive(Clone, Copy)]
struct LiveSlot {
    source: *const Word,
    changed: u64,
    shift: usize,
}

/// Joins the words of a move that leaves lanes as they are; returns whether it is one.
///
/// # Safety
/// As [`gather`].
#[inline(always)]
unsafe fn copy<I: Isa, const G: usize>(
    op: &Op<I>,
    from: &GroupSources<2, Word>,
    words: &mut [[u64; G]; 2],
) -> bool {
    // SAFETY: the function's contract.
    unsafe {
        for p in 0..2 {
            let first = match &op.shape {
                MoveShape::Own => from.arrays[p].add(from.own),
                MoveShape::Block => from.arrays[p].add(*from.blocks),
                MoveShape::Runs(runs) => from.at(p, *runs.get_unchecked(from.row)),
                _ => return false,
            };
            for r in 0..G {
                words[p][r] |= u64::from_le_bytes(*first.add(r));
            }
        }
    }
    true
}

/// Computes a stretch and returns the number of first visits.
///
/// # Safety
/// The processor supports the instruction set; the operations are the layout's shifts, whose tables
/// `Ready::new` has checked, `slices` are all the layout's, and the stretch fits layout and moves as
/// `PatternStep::run_slots` checks; `G` is the layout's group.
#[inline(always)]
pub(crate) unsafe fn step<I: Isa, const G: usize>(
    ready: &Ready<I>,
    slices: &[Slice],
    moves: &SetMoves,
    stretch: SlotStretch<'_>,
) -> u64 {
    let unit = slices.len() * 2 * G;
    let all = u64::MAX >> (64 - slices.len());
    let none = LiveSlot { source: std::ptr::null(), changed: 0, shift: 0 };
    let mut count = 0;
    for slot in 0..stretch.full.len() {
        // SAFETY: the function's contract; `slot` is below the stretch's slots.
        unsafe {
            let full = *stretch.full.get_unchecked(slot);
            let gained = stretch.gained.get_unchecked_mut(slot);
            *gained = 0;
            if full == all {
                continue;
            }
            let (mut lives, mut len) = ([none; MAX_MOVES], 0);
            for m in moves.of(stretch.first + slot) {
                let source = m.source as usize;
                let live = LiveSlot {
                    source: stretch.source.as_ptr().add(source * unit),
                    changed: *stretch.changed.get_unchecked(source),
                    shift: usize::from(m.shift),
                };
                *lives.get_unchecked_mut(len & (MAX_MOVES - 1)) = live;
                len += usize::from(live.changed != 0);
            }
            let lives = lives.get_unchecked(..len);
            for live in lives {
                prefetch::<1, _>(live.source);
            }
            let mut full_now = full;
            for (number, slice) in slices.iter().enumerate() {
                if full >> number & 1 == 1 {
                    continue;
                }
                let at = slot * unit + number * 2 * G;
                let mut words = [[0; G]; 2];
                let mut raw = Raw::<I, G>([[I::splat(0); G]; 2]);
                let (mut any, mut shuffled) = (false, false);
                for live in lives {
                    if live.changed & slice.needs.get_unchecked(live.shift) == 0 {
                        continue;
                    }
                    any = true;
                    let op = ready.ops.get_unchecked(live.shift);
                    let odd = usize::from(op.odd);
                    let from = GroupSources {
                        arrays: [live.source.add(odd * G), live.source.add((odd ^ 1) * G)],
                        blocks: slice.words.as_ptr().add(op.first_block),
                        own: number * 2 * G,
                        within: 0,
                        halo: (std::ptr::null(), 0),
                        row: *slice.variants.get_unchecked(live.shift),
                        parity: slice.parity,
                    };
                    if !copy::<I, G>(op, &from, &mut words) {
                        gather::<I, _, _, 2, G>(op, &from, &mut raw);
                        shuffled = true;
                    }
                }
                if !any {
                    continue;
                }
                let (mut new, mut common) = (0, LANE_MASK);
                for p in 0..2 {
                    for r in 0..G {
                        if shuffled {
                            let ones = I::splat(u8::MAX);
                            words[p][r] |= I::first_lanes(I::splat(0), raw.0[p][r], ones);
                        }
                        let seen = &mut *stretch.seen.as_mut_ptr().add(at + p * G + r);
                        let before = u64::from_le_bytes(*seen);
                        let sum = before | words[p][r];
                        *seen = sum.to_le_bytes();
                        words[p][r] = sum ^ before;
                        new |= sum ^ before;
                        common &= sum;
                    }
                }
                full_now |= u64::from(common == LANE_MASK) << number;
                if new == 0 {
                    continue;
                }
                *gained |= 1 << number;
                for p in 0..2 {
                    for r in 0..G {
                        count += u64::from(words[p][r].count_ones());
                    }
                }
                if !stretch.marks.is_empty() {
                    for p in 0..2 {
                        for r in 0..G {
                            let mark = &mut *stretch.marks.as_mut_ptr().add(at + p * G + r);
                            *mark = (u64::from_le_bytes(*mark) | words[p][r]).to_le_bytes();
                        }
                    }
                }
            }
            *stretch.full.get_unchecked_mut(slot) = full_now;
        }
    }
    count
}
