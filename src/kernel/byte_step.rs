//! The level step of a block in a search, written once for all instruction sets.

// Indexing by constant ranges is what keeps arrays of registers in registers.
#![allow(clippy::needless_range_loop)]

use crate::{
    kernel::{
        gather::{GroupSources, Op, Ready, Sink, fetch, fetch_all, gather},
        isa::{Isa, Tally},
    },
    perm::{GROUP, MoveShape, Register, layout},
};

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
/// The processor supports the instruction set, and the block fits the gather tables as [`StepProgram::step`] checks.
///
/// [`StepProgram::step`]: crate::kernel::StepProgram::step
#[inline(always)]
pub(crate) unsafe fn step<I: Isa, const REVERSE: bool>(
    ready: &Ready<I>,
    work: ByteBlock<'_>,
) -> Tally {
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
                fetch_all::<2, GROUP>(cur.wrapping_add(block + first));
            }
            if !work.ahead.is_empty() {
                let after = work.ahead_by + first as isize;
                fetch_all::<2, GROUP>(next_level.wrapping_offset(after));
                if !REVERSE && work.rule == Rule::Unseen {
                    fetch_all::<2, GROUP>(seen_level.wrapping_offset(after));
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
                    let row = from.row + AHEAD;
                    fetch::<I, 2, 1, GROUP>(op, &GroupSources { row, ..from });
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
