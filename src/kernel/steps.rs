//! The level steps, written once for all instruction sets: of a block in a search, with a byte per line, and of a
//! stretch of slots in a build of a pattern database, with one bit per line.
//!
//! `kernel::StepProgram` and `kernel::SlotStep` check the arguments and call [`step`] and [`slot_step`] with the
//! instruction set of a kernel. Both fetch registers with `gather` into a sink: the first combines moves and excludes
//! what the [`Rule`] says, the second collects first visits.

use std::{any::Any, sync::Arc};

use crate::{
    kernel::{
        gather::{GroupSources, Op, Ready, Sink, Word, fetch_group, gather, prefetch},
        isa::{Isa, LANE_MASK, Tally},
    },
    perm::{GROUP, Layout, MAX_LEN, MoveShape, MoveTable, Register, layout},
};

// The level step of a block in a search, written once for all instruction sets.

/// One block to be computed.
pub struct ByteBlock<'a> {
    /// The current level: the registers of all groups that a level may contain, which the sources index.
    pub cur: &'a [Register],
    /// The previous level's registers of this block; they become the next level's.
    pub next: &'a mut [Register],
    /// Determines which states are excluded.
    pub rule: Rule,
    /// The block of the states seen so far, for [`Rule::Unseen`]; empty for other rules.
    pub seen: &'a mut [Register],
    /// For each transfer, the index in `cur` of the block's first register in the transfer's group.
    pub own: &'a [usize],
    /// Number of the block's first register within the whole array, for the checksum.
    pub register: u64,
    /// Parity of the block's lines plus the parity of the sum of the block digits.
    pub parity: usize,
    /// For each transfer in turn, the index in `cur` of the first register of each source block.
    pub source_blocks: &'a [usize],
    /// For each transfer, the variant of its tables.
    pub variants: &'a [usize],
    /// For each transfer, whether any of its sources contains a state.
    pub live: &'a [bool],
    /// Registers from other chunks: for each transfer of the halo in turn, one block in the target's order.
    pub halo: &'a [Register],
    /// First registers in `cur` of blocks to be prefetched for the next block to be computed. That block is prefetched
    /// as well, unless this is empty.
    pub ahead: &'a [usize],
    /// The distance of that block from this one in the array of `next`, in registers.
    pub ahead_by: isize,
}

/// ORs the bits of the registers of a group into its accumulators, six at a time.
struct Join<'a, I: Isa> {
    op: &'a Op<I>,
    brought: [I::Reg; GROUP],
    next: &'a mut [I::Reg; GROUP],
}

impl<I: Isa> Sink<I> for Join<'_, I> {
    #[inline(always)]
    unsafe fn put(&mut self, _: usize, r: usize, value: I::Reg) {
        self.brought[r] = value;
    }

    #[inline(always)]
    unsafe fn done(&mut self) {
        for map in &self.op.maps {
            for r in 0..GROUP {
                // SAFETY: the caller's promise that the processor has the instructions.
                self.next[r] = unsafe { I::join(self.next[r], map, self.brought[r]) };
            }
        }
    }
}

/// Number of transfers whose list needs no allocation.
const FEW: usize = 64;

/// How many groups ahead the sources of runs are prefetched: they are in several blocks, where the processor cannot
/// predict them.
const AHEAD: usize = 8;

/// Computes a block; `REVERSE` says that the rule is [`Rule::Reverse`], so that choosing it costs nothing.
///
/// # Safety
/// The processor supports the instruction set, for which the tables are a [`Ready`]; the block fits the gather tables
/// as
/// [`StepProgram::step`] checks.
///
/// [`StepProgram::step`]: crate::kernel::StepProgram::step
#[inline(always)]
pub(crate) unsafe fn step<I: Isa, const REVERSE: bool>(
    tables: &dyn Any,
    work: ByteBlock<'_>,
) -> Tally {
    let ready = Ready::<I>::of(tables);
    let (cur, halo) = (work.cur.as_ptr(), work.halo.as_ptr());
    let (next_level, seen_level) = (work.next.as_mut_ptr(), work.seen.as_mut_ptr());
    let groups = ready.parities.len();
    let (mut few, mut many);
    let list: &mut [u32] = if work.live.len() <= FEW {
        few = [0; FEW];
        &mut few
    } else {
        many = vec![0; work.live.len()];
        &mut many
    };
    let mut len = 0;
    for (i, _) in work.live.iter().enumerate().filter(|(_, live)| **live) {
        list[len] = i as u32;
        len += 1;
    }
    let live = &list[..len];
    // SAFETY: see the function's contract; every pointer below is a source or target register of the
    // block that `StepProgram::step` has bounds-checked, plus an offset that `Ready::new` has.
    unsafe {
        let mut sums = I::sums();
        for group in 0..groups {
            let first = group * GROUP;
            if !REVERSE
                && let Rule::Few(few) = work.rule
                && few >> group & 1 == 0
            {
                for r in 0..GROUP {
                    I::store(next_level.add(first + r), I::splat(0));
                }
                continue;
            }
            for &block in work.ahead {
                fetch_group(cur.wrapping_add(block + first));
            }
            if !work.ahead.is_empty() {
                let after = work.ahead_by + first as isize;
                fetch_group(next_level.wrapping_offset(after));
                if !REVERSE && work.rule == Rule::Unseen {
                    fetch_group(seen_level.wrapping_offset(after));
                }
            }
            let mut next = [I::splat(0); GROUP];
            for &i in live {
                let op = ready.ops.get_unchecked(i as usize);
                let from = GroupSources {
                    arrays: [cur],
                    blocks: work.source_blocks.as_ptr().add(op.first_block),
                    own: *work.own.get_unchecked(i as usize) + first,
                    within: first,
                    halo: (halo.wrapping_add(first), groups * GROUP),
                    row: *work.variants.get_unchecked(i as usize) * groups + group,
                    parity: work.parity ^ usize::from(*ready.parities.get_unchecked(group)),
                };
                if let MoveShape::Runs(runs) = &op.shape
                    && from.row + AHEAD < runs.len()
                {
                    fetch_group(from.at(0, *runs.get_unchecked(from.row + AHEAD)));
                }
                let mut sink = Join { op, brought: [I::splat(0); GROUP], next: &mut next };
                gather::<I, _, _, 1, GROUP>(op, &from, &mut sink);
            }
            for r in 0..GROUP {
                let at = next_level.add(first + r);
                let rule = if REVERSE { Rule::Reverse } else { work.rule };
                let value = match rule {
                    Rule::Reverse | Rule::Few(_) => I::and_not(next[r], I::load(at)),
                    Rule::Stay(own) => {
                        let now = I::load(cur.add(own + first + r));
                        I::and_not(next[r], I::or(I::load(at), now))
                    }
                    Rule::Unseen => {
                        let seen = seen_level.add(first + r);
                        let before = I::load(seen);
                        I::store(seen, I::or(before, next[r]));
                        I::and_not(next[r], before)
                    }
                    Rule::Replace => {
                        I::store(at, next[r]);
                        continue;
                    }
                    Rule::Join => {
                        I::store(at, I::or(I::load(at), next[r]));
                        continue;
                    }
                };
                I::store(at, value);
                let key = layout::mix(work.register + (first + r) as u64);
                sums = I::add(sums, key, value);
            }
        }
        I::total(sums)
    }
}

// The treatment of the states that a step reaches.

/// The treatment of the states that a step reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// States of the previous level, which the next level replaces, are excluded: every move leads to the previous
    /// level or the next.
    Reverse,
    /// The same, if only these groups of the block, one bit each, can receive any state: the others become empty.
    Few(u64),
    /// States of the previous and the current level are excluded, because moves may lead to states at the same depth.
    /// The value is the index in `cur` of the first register of the block itself.
    Stay(usize),
    /// All states seen so far are excluded, and new ones are added to them: moves may lack inverses.
    Unseen,
    /// The states replace the previous contents. Nothing is counted.
    Replace,
    /// The states are ORed into the previous contents. Nothing is counted.
    Join,
}

// The level step of a pattern database for a stretch of slots, with one bit per line, written once for all instruction
// sets.
//
// Invariant: a slot is a set of positions and a place of the blank; all its lines are contiguous, slice by slice, with
// one word per register. Slots only gain bits. Words that a move brings without changing the lanes are ORed as they
// are; only the others are expanded to bytes, shuffled, and turned into bits again.

/// A move into a slot: one element comes from a different set of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotMove {
    pub source: u32,
    /// Number of the shift of positions; see [`SlotMoves::shift`].
    pub shift: u8,
}

/// The moves into all slots of one class from the slots of the other.
#[derive(Clone, Debug)]
pub struct SlotMoves {
    pub(crate) layout: Layout,
    pub(crate) sources: usize,
    ends: Vec<u32>,
    moves: Vec<SlotMove>,
}

/// Maximum number of moves into a slot: eight elements with at most four free neighbours each.
const MAX_MOVES: usize = 32;

impl SlotMoves {
    /// Returns the number of the shift that takes the element at position `from` of a source line to position `to` of
    /// the target line, where all others keep their order.
    pub fn shift(layout: Layout, from: usize, to: usize) -> usize {
        to * layout.len() + from
    }

    /// Returns the moves into slots 0, 1, .., given as one list per slot, from `sources` source slots.
    ///
    /// # Panics
    /// If a source or a shift does not exist, or a slot has more than 32 moves.
    pub fn new(
        layout: Layout,
        sources: usize,
        lists: impl IntoIterator<Item = impl AsRef<[SlotMove]>>,
    ) -> SlotMoves {
        let (mut ends, mut moves) = (Vec::new(), Vec::<SlotMove>::new());
        for list in lists {
            let begin = moves.len();
            moves.extend_from_slice(list.as_ref());
            let list = &mut moves[begin..];
            assert!(list.len() <= MAX_MOVES, "a slot has few moves");
            let fits = |m: &SlotMove| {
                (m.source as usize) < sources && usize::from(m.shift) < layout.len() * layout.len()
            };
            assert!(list.iter().all(fits), "moves fit the layout");
            // Plain copies first.
            let copies = |m: &SlotMove| usize::from(m.shift).is_multiple_of(layout.len() + 1);
            list.sort_by_key(|m| (!copies(m), m.shift, m.source));
            ends.push(u32::try_from(moves.len()).expect("moves of all slots fit 32 bits"));
        }
        SlotMoves { layout, sources, ends, moves }
    }

    pub fn targets(&self) -> usize {
        self.ends.len()
    }

    #[inline(always)]
    pub fn of(&self, slot: usize) -> &[SlotMove] {
        let begin = slot.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.moves[begin as usize..self.ends[slot] as usize]
    }
}

/// Consecutive slots to be computed for one level.
pub struct SlotStretch<'a> {
    pub first: usize,
    /// The states that have been reached in all slots of the other class.
    pub source: &'a [Word],
    /// For each source slot, the slices that changed in the previous level, as a bit mask.
    pub changed: &'a [u64],
    /// The states that have been reached in the slots of the stretch.
    pub seen: &'a mut [Word],
    /// For each slot of the stretch, the slices that cannot gain anything, because all their lines have been reached.
    pub full: &'a mut [u64],
    /// For each slot of the stretch, the slices that gained something: output.
    pub gained: &'a mut [u64],
    /// Where first visits are written: as many words as in `seen`, or none. Only the slices that gained something are
    /// written.
    pub new: &'a mut [Word],
}

/// The sources of a slice's shifts.
pub(crate) struct Slice {
    /// Parity of the digits that number the slice.
    parity: usize,
    /// The slices of the sources of all shifts, shift after shift, as word offsets from the first word of a slot.
    words: Vec<usize>,
    /// For each shift, the variant of its tables.
    variants: Vec<usize>,
    /// For each shift, the set of its source slices, as a bit mask.
    needs: Vec<u64>,
}

impl Slice {
    pub fn new(layout: Layout, gathers: &[Arc<MoveTable>], slice: usize) -> Slice {
        let mut digits = [0; MAX_LEN];
        layout.block_digits(slice, &mut digits);
        let parity = layout.block_parity(slice);
        let (words, variants, needs) = (Vec::new(), Vec::new(), Vec::new());
        let mut found = Slice { parity, words, variants, needs };
        for gather in gathers {
            let mut slices = vec![0; gather.source_blocks.count()];
            found.variants.push(gather.source_blocks.find(slice, &digits, &mut slices));
            found.needs.push(slices.iter().fold(0, |set, slice| set | 1 << slice));
            found.words.extend(slices.iter().map(|slice| slice * layout.slice_registers()));
        }
        found
    }
}

/// ORs together what the moves bring.
struct Raw<I: Isa, const G: usize>([[I::Reg; G]; 2]);

impl<I: Isa, const G: usize> Sink<I> for Raw<I, G> {
    #[inline(always)]
    unsafe fn put(&mut self, p: usize, r: usize, value: I::Reg) {
        // SAFETY: the caller's promise that the processor has the instructions.
        self.0[p][r] = unsafe { I::or(self.0[p][r], value) };
    }

    #[inline(always)]
    unsafe fn done(&mut self) {}
}

/// A move from a slot that has changed.
#[derive(Clone, Copy)]
struct LiveSlot {
    source: *const Word,
    changed: u64,
    shift: usize,
}

/// ORs in the words of a move that leaves lanes unchanged; returns whether it is such a move.
///
/// # Safety
/// The same conditions as for [`gather`].
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
/// The processor supports the instruction set, for which the tables are a [`Ready`]: those of the layout's shifts;
/// `slices` contains all slices of the layout; the stretch fits the layout and the moves as `SlotStep::run` checks; `G`
/// is the layout's group.
#[inline(always)]
pub(crate) unsafe fn slot_step<I: Isa, const G: usize>(
    tables: &dyn Any,
    slices: &[Slice],
    moves: &SlotMoves,
    stretch: SlotStretch<'_>,
) -> u64 {
    let ready = Ready::<I>::of(tables);
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
                            words[p][r] |= I::lanes(raw.0[p][r]);
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
                if !stretch.new.is_empty() {
                    for p in 0..2 {
                        for r in 0..G {
                            let new = stretch.new.as_mut_ptr().add(at + p * G + r);
                            *new = words[p][r].to_le_bytes();
                        }
                    }
                }
            }
            *stretch.full.get_unchecked_mut(slot) = full_now;
        }
    }
    count
}
