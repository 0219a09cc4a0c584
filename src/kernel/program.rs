//! A level step made ready for a kernel, and its safe entry point.

use std::sync::Arc;

use rayon::prelude::*;

use crate::kernel::bit_step::{self, Slice, SlotMoves, SlotStretch};
use crate::kernel::byte_step::{Rule, Work, step};
use crate::kernel::gather::Ready;
use crate::kernel::isa::Tally;
use crate::kernel::scalar::Scalar;
use crate::kernel::{Kernel, KernelError};
use crate::perm::layout::{GROUP, Layout, Register};
use crate::perm::move_table::{Gathers, MoveTable};
use crate::puzzle::Window;

/// All edges of a puzzle that share a window permutation and a pair of groups: gather by the
/// window, then move bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// The window permutation of the moves.
    pub window: Window,
    /// Source bit and target bit of each move.
    pub bits: Vec<(u8, u8)>,
}

/// One block to compute.
pub struct ByteBlock<'a> {
    /// The current level: registers of all groups that a level may hold, all that the sources index.
    pub cur: &'a [Register],
    /// The previous level's registers of this block; they become the next level's.
    pub next: &'a mut [Register],
    /// What is left out.
    pub rule: Rule,
    /// The block of the states seen so far, for [`Rule::Unseen`]; empty for others.
    pub seen: &'a mut [Register],
    /// For each transfer the index in `cur` of the block's first register in the transfer's group.
    pub own: &'a [usize],
    /// Number of the block's first register in the whole array, for the checksum.
    pub register: u64,
    /// Parity of the block's lines plus that of the sum of the block digits.
    pub parity: usize,
    /// For each transfer in turn the index in `cur` of the first register of each source block.
    pub source_blocks: &'a [usize],
    /// For each transfer the variant of its tables.
    pub variants: &'a [usize],
    /// For each transfer whether any of its sources holds a state.
    pub live: &'a [bool],
    /// Registers that come from other chunks, for each transfer of the halo in turn a block in the target's
    /// order.
    pub halo: &'a [Register],
    /// First registers in `cur` of blocks to fetch from memory meanwhile, for the block to be computed after
    /// this one, which is fetched too unless this is empty.
    pub ahead: &'a [usize],
    /// By how many registers that block lies behind this one in the array of `next`.
    pub ahead_by: isize,
}

/// The step into one group for one kernel: gather tables in its own format.
pub struct StepProgram {
    layout: Layout,
    gathers: Vec<Arc<MoveTable>>,
    /// Number of transfers whose bits are handed over with the block.
    halo: usize,
    run: Box<dyn Run>,
}

impl StepProgram {
    /// Returns the program that carries out the transfers.
    ///
    /// # Errors
    /// [`KernelError::Unsupported`] when this processor cannot run the kernel.
    pub fn new(
        kernel: Kernel,
        layout: Layout,
        transfers: &[Transfer],
    ) -> Result<StepProgram, KernelError> {
        StepProgram::with_halo(kernel, layout, transfers, &[])
    }

    /// Returns the program that carries out the transfers and, for each of `halo`, moves the bits of a
    /// block that is handed over with the target block ([`ByteBlock::halo`]).
    ///
    /// # Errors
    /// [`KernelError::Unsupported`] when this processor cannot run the kernel.
    ///
    /// # Panics
    /// When lines have fewer than six elements or a window reaches beyond them.
    pub fn with_halo(
        kernel: Kernel,
        layout: Layout,
        transfers: &[Transfer],
        halo: &[Vec<(u8, u8)>],
    ) -> Result<StepProgram, KernelError> {
        StepProgram::shared(kernel, &Gathers::new(layout), transfers, halo)
    }

    /// Does the same with tables that other programs may have already.
    ///
    /// # Errors
    /// [`KernelError::Unsupported`] when this processor cannot run the kernel.
    ///
    /// # Panics
    /// As [`StepProgram::with_halo`].
    pub fn shared(
        kernel: Kernel,
        tables: &Gathers,
        transfers: &[Transfer],
        halo: &[Vec<(u8, u8)>],
    ) -> Result<StepProgram, KernelError> {
        let layout = tables.layout();
        assert_eq!(layout.group(), GROUP, "blocks consist of whole groups");
        let own = transfers.iter().map(|t| tables.get(&t.window));
        let others = (0..halo.len()).map(|i| Arc::new(MoveTable::halo(layout, i)));
        let gathers: Vec<Arc<MoveTable>> = own.chain(others).collect();
        let own = transfers.iter().map(|t| t.bits.as_slice());
        let bits: Vec<&[(u8, u8)]> = own.chain(halo.iter().map(Vec::as_slice)).collect();
        let run = ready(kernel, layout, &gathers, &bits)?;
        Ok(StepProgram { layout, gathers, halo: halo.len(), run })
    }

    /// Returns the gather tables, one per transfer.
    pub fn gathers(&self) -> &[Arc<MoveTable>] {
        &self.gathers
    }

    /// Computes a block of the next level in place and returns its tally:
    /// `next = (union over transfers of bits(gather(cur))) minus next`, or what else the rule says.
    ///
    /// # Panics
    /// When a length or an index of the block does not fit the layout and the gather tables.
    pub fn step(&self, block: ByteBlock<'_>) -> Tally {
        let registers = self.layout.block_registers();
        let of = |g: &Arc<MoveTable>| (g.source_blocks.count(), g.source_blocks.variants());
        assert_eq!(block.next.len(), registers);
        assert_eq!(block.variants.len(), self.gathers.len());
        assert_eq!(block.live.len(), self.gathers.len());
        let fits =
            |&first: &usize| first <= block.cur.len() && registers <= block.cur.len() - first;
        assert_eq!(block.own.len(), self.gathers.len());
        assert!(block.own.iter().all(fits));
        match block.rule {
            Rule::Stay(own) => assert!(fits(&own)),
            Rule::Unseen => assert_eq!(block.seen.len(), registers),
            Rule::Few(_) => assert!(registers <= 64 * GROUP),
            Rule::Reverse | Rule::Replace | Rule::Join => {}
        }
        let source_blocks: usize = self.gathers.iter().map(|g| of(g).0).sum();
        assert_eq!(block.source_blocks.len(), source_blocks);
        assert!(block.source_blocks.iter().all(fits));
        let mut variants = self.gathers.iter().zip(block.variants);
        assert!(variants.all(|(g, &variant)| variant < of(g).1));
        assert!(block.parity < 2);
        assert_eq!(block.halo.len(), self.halo * registers);
        let work = Work {
            cur: block.cur.as_ptr(),
            next: block.next.as_mut_ptr(),
            rule: block.rule,
            seen: block.seen.as_mut_ptr(),
            own: block.own,
            register: block.register,
            parity: block.parity,
            source_blocks: block.source_blocks,
            variants: block.variants,
            live: block.live,
            halo: block.halo.as_ptr(),
            ahead: block.ahead,
            ahead_by: block.ahead_by,
        };
        // SAFETY: every source block lies within `cur` and `next` has a block's length (asserted above);
        // sources within a block and support were checked by `ready`.
        unsafe { self.run.step(&work) }
    }
}

// One function per instruction set and step: here the generic code gets its instructions.

/// Tables in the format of some instruction set, and the steps over them.
pub(crate) trait Run: Send + Sync {
    /// # Safety
    /// As [`step`].
    unsafe fn step(&self, work: &Work<'_>) -> Tally;

    /// # Safety
    /// As [`bit_step::step`].
    unsafe fn slot_step(
        &self,
        slices: &[Slice],
        moves: &SlotMoves,
        stretch: SlotStretch<'_>,
    ) -> u64;
}

/// Returns the tables ready for a kernel; `bits` has a list for each window.
pub(crate) fn ready(
    kernel: Kernel,
    layout: Layout,
    gathers: &[Arc<MoveTable>],
    bits: &[&[(u8, u8)]],
) -> Result<Box<dyn Run>, KernelError> {
    if !kernel.is_supported() {
        return Err(KernelError::Unsupported(kernel));
    }
    Ok(match kernel {
        Kernel::Scalar => Box::new(Ready::<Scalar>::new(layout, gathers, bits)),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2 => Box::new(Ready::<crate::kernel::avx2::Avx2>::new(layout, gathers, bits)),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512 => {
            Box::new(Ready::<crate::kernel::avx512::Avx512>::new(layout, gathers, bits))
        }
        #[cfg(not(target_arch = "x86_64"))]
        _ => return Err(KernelError::Unsupported(kernel)),
    })
}

macro_rules! instruction_set {
    ($isa:ty $(, #[$features:meta])?) => {
        impl Run for Ready<$isa> {
            unsafe fn step(&self, work: &Work<'_>) -> Tally {
                $(#[$features])?
                unsafe fn with_features<const REVERSE: bool>(
                    ready: &Ready<$isa>,
                    work: &Work<'_>,
                ) -> Tally {
                    // SAFETY: the caller's promise.
                    unsafe { step::<$isa, REVERSE>(ready, work) }
                }
                // SAFETY: `ready` has checked the processor; the rest is the caller's promise.
                unsafe {
                    match work.rule {
                        Rule::Reverse => with_features::<true>(self, work),
                        _ => with_features::<false>(self, work),
                    }
                }
            }

            unsafe fn slot_step(
                &self,
                slices: &[Slice],
                moves: &SlotMoves,
                stretch: SlotStretch<'_>,
            ) -> u64 {
                $(#[$features])?
                unsafe fn with_features<const G: usize>(
                    ready: &Ready<$isa>,
                    slices: &[Slice],
                    moves: &SlotMoves,
                    stretch: SlotStretch<'_>,
                ) -> u64 {
                    // SAFETY: the caller's promise.
                    unsafe { bit_step::step::<$isa, G>(ready, slices, moves, stretch) }
                }
                // SAFETY: `ready` has checked the processor; the rest is the caller's promise.
                unsafe {
                    match self.layout.group() {
                        1 => with_features::<1>(self, slices, moves, stretch),
                        _ => with_features::<GROUP>(self, slices, moves, stretch),
                    }
                }
            }
        }
    };
}

instruction_set!(Scalar);

#[cfg(target_arch = "x86_64")]
instruction_set!(crate::kernel::avx2::Avx2, #[target_feature(enable = "avx2,bmi2,popcnt")]);

#[cfg(target_arch = "x86_64")]
instruction_set!(
    crate::kernel::avx512::Avx512,
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vpopcntdq,gfni,bmi2,popcnt"
    )]
);

// The step of slots made ready for a kernel, and its safe entry point.

/// The tables of all shifts of positions for one kernel.
pub struct SlotStep {
    layout: Layout,
    slices: Vec<Slice>,
    run: Box<dyn Run>,
}

impl SlotStep {
    /// Returns the tables for the lines of a layout in slices.
    ///
    /// Cost: 50 ms for eight things, less for fewer.
    ///
    /// # Errors
    /// [`KernelError::Unsupported`] when this processor cannot run the kernel.
    ///
    /// # Panics
    /// When the layout is not in slices, see [`Layout::sliced`].
    pub fn new(kernel: Kernel, layout: Layout) -> Result<SlotStep, KernelError> {
        let k = layout.len();
        assert_eq!(Layout::sliced(k), Some(layout), "patterns lie in slices");
        let gather = |shift: usize| {
            let (to, from) = (shift / k, shift % k);
            let window = match from < to {
                true => Window::rotate_left(from, to),
                false => Window::rotate_right(to, from),
            };
            Arc::new(MoveTable::new(layout, &window))
        };
        let gathers: Vec<Arc<MoveTable>> = (0..k * k).into_par_iter().map(gather).collect();
        let slices = (0..layout.blocks()).map(|slice| Slice::new(layout, &gathers, slice));
        let run = ready(kernel, layout, &gathers, &vec![&[][..]; k * k])?;
        Ok(SlotStep { layout, slices: slices.collect(), run })
    }

    /// Adds a level to a stretch of slots and returns the number of first visits.
    ///
    /// # Panics
    /// When the lengths of the stretch do not fit the layout and the moves.
    pub fn run(&self, moves: &SlotMoves, stretch: SlotStretch<'_>) -> u64 {
        let unit = self.layout.slice_registers() * self.slices.len();
        let slots = stretch.full.len();
        assert_eq!(moves.layout, self.layout);
        assert!(stretch.first + slots <= moves.targets());
        assert_eq!(stretch.source.len(), moves.sources * unit);
        assert_eq!(stretch.changed.len(), moves.sources);
        assert_eq!(stretch.seen.len(), slots * unit);
        assert_eq!(stretch.gained.len(), slots);
        assert!(stretch.new.is_empty() || stretch.new.len() == slots * unit);
        // SAFETY: lengths were checked above, sources and shifts by `SlotMoves::new`, support and tables by
        // `ready`; the layout is in slices.
        unsafe { self.run.slot_step(&self.slices, moves, stretch) }
    }
}
