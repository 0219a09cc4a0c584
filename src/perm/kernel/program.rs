//! A level step made ready for a kernel, and its safe entry point.

use super::step::{Isa, Op, Ready, Work};
use super::{Kernel, KernelError, scalar};
use crate::perm::gather::{Gather, Shape};
use crate::perm::layout::{GROUP, Layout, Register};
use crate::puzzle::Window;

/// All edges of a puzzle that share a window permutation and a pair of cell classes: gather by the
/// window, then move bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// The window permutation of the moves.
    pub window: Window,
    /// Source bit and target bit of each move.
    pub bits: Vec<(u8, u8)>,
}

/// What a block contributes to its level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// States of the level in the block.
    pub states: u64,
    /// Their checksum.
    pub checksum: u64,
}

impl Tally {
    /// Returns the tally of two disjoint sets of states.
    pub fn plus(self, other: Tally) -> Tally {
        Tally {
            states: self.states + other.states,
            checksum: self.checksum.wrapping_add(other.checksum),
        }
    }
}

/// One block to compute.
pub struct Block<'a> {
    /// The current level: registers of the other class, all that the sources index.
    pub cur: &'a [Register],
    /// The previous level's registers of this block; they become the next level's.
    pub next: &'a mut [Register],
    /// Index of the block's first register in `cur`.
    pub own: usize,
    /// Number of the block's first register in the whole array, for the checksum.
    pub register: u64,
    /// Parity of the sum of the block digits.
    pub parity: usize,
    /// For each transfer in turn the index in `cur` of the first register of each slot's block.
    pub sources: &'a [usize],
    /// For each transfer its down key.
    pub downs: &'a [usize],
    /// For each transfer whether any of its sources holds a state.
    pub live: &'a [bool],
    /// Registers that cross from other chunks, for each carried transfer in turn a block in the target's
    /// order.
    pub carried: &'a [Register],
    /// First registers in `cur` of blocks to fetch from memory meanwhile, for the block after this one
    /// in `next`'s array, which is fetched too unless this is empty.
    pub ahead: &'a [usize],
}

/// The step from one class to the other for one kernel: gather tables in its own format.
pub struct Program {
    layout: Layout,
    gathers: Vec<Gather>,
    /// Number of transfers whose bits are handed over with the block.
    carried: usize,
    step: Box<dyn Step>,
}

pub(super) trait Step: Send + Sync {
    /// # Safety
    /// The block must satisfy what [`Program::step`] checks, and the processor must support the kernel.
    unsafe fn step(&self, work: Work) -> Tally;
}

impl Program {
    /// Returns the program that carries out the transfers.
    ///
    /// # Errors
    /// [`KernelError::Unsupported`] when this processor cannot run the kernel.
    pub fn new(
        kernel: Kernel,
        layout: Layout,
        transfers: &[Transfer],
    ) -> Result<Program, KernelError> {
        Program::with_carried(kernel, layout, transfers, &[])
    }

    /// Returns the program that carries out the transfers and, for each of `carried`, moves the bits of
    /// a block that is handed over with the target block ([`Block::carried`]).
    ///
    /// # Errors
    /// [`KernelError::Unsupported`] when this processor cannot run the kernel.
    pub fn with_carried(
        kernel: Kernel,
        layout: Layout,
        transfers: &[Transfer],
        carried: &[Vec<(u8, u8)>],
    ) -> Result<Program, KernelError> {
        if !kernel.is_supported() {
            return Err(KernelError::Unsupported(kernel));
        }
        let own = transfers.iter().map(|t| Gather::new(layout, &t.window));
        let others = (0..carried.len()).map(|i| Gather::carried(layout, i));
        let gathers: Vec<Gather> = own.chain(others).collect();
        let own = transfers.iter().map(|t| t.bits.as_slice());
        let bits: Vec<&[(u8, u8)]> = own.chain(carried.iter().map(Vec::as_slice)).collect();
        let (transfers, carried) = (&bits[..], carried.len());
        let step: Box<dyn Step> = match kernel {
            Kernel::Scalar => Box::new(scalar::Scalar::ready(layout, transfers, &gathers)),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => Box::new(super::avx2::Avx2::ready(layout, transfers, &gathers)),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => Box::new(super::avx512::Avx512::ready(layout, transfers, &gathers)),
            #[cfg(not(target_arch = "x86_64"))]
            _ => return Err(KernelError::Unsupported(kernel)),
        };
        Ok(Program {
            layout,
            gathers,
            carried,
            step,
        })
    }

    /// Returns the gather tables, one per transfer.
    pub fn gathers(&self) -> &[Gather] {
        &self.gathers
    }

    /// Computes a block of the next level in place and returns its tally:
    /// `next = (union over transfers of bits(gather(cur))) minus next`.
    ///
    /// # Panics
    /// When a length or an index of the block does not fit the layout and the gather tables.
    pub fn step(&self, block: Block<'_>) -> Tally {
        let registers = self.layout.block_registers();
        assert_eq!(block.next.len(), registers);
        assert_eq!(block.downs.len(), self.gathers.len());
        assert_eq!(block.live.len(), self.gathers.len());
        let fits =
            |&first: &usize| first <= block.cur.len() && registers <= block.cur.len() - first;
        assert!(fits(&block.own));
        let slots: usize = self.gathers.iter().map(|g| g.outside.slots()).sum();
        assert_eq!(block.sources.len(), slots);
        assert!(block.sources.iter().all(fits));
        assert!(
            self.gathers
                .iter()
                .zip(block.downs)
                .all(|(g, &down)| down < g.outside.downs())
        );
        assert!(block.parity < 2);
        assert_eq!(block.carried.len(), self.carried * registers);
        let work = Work {
            cur: block.cur.as_ptr(),
            next: block.next.as_mut_ptr(),
            own: block.own,
            register: block.register,
            parity: block.parity,
            sources: block.sources,
            downs: block.downs,
            live: block.live,
            carried: block.carried.as_ptr(),
            ahead: block.ahead,
        };
        // SAFETY: every source block lies within `cur` and `next` has a block's length (asserted above);
        // sources within a block were checked by `Ready::new`; support was checked by `Program::new`.
        unsafe { self.step.step(work) }
    }
}

impl<I: Isa> Ready<I> {
    /// Translates gather tables to the kernel's format.
    pub(super) fn new(layout: Layout, transfers: &[&[(u8, u8)]], gathers: &[Gather]) -> Ready<I> {
        let mut slot = 0;
        let ops = transfers.iter().zip(gathers).map(|(bits, gather)| {
            check(layout, gather);
            let op = Op::new(bits, gather, slot);
            slot += gather.outside.slots();
            op
        });
        let groups = layout.block_registers() / GROUP;
        let parities = (0..groups).map(|group| {
            let mut digits = [0; 8];
            layout.inner_digits(group * GROUP, &mut digits);
            digits.iter().sum::<u8>() % 2
        });
        Ready {
            ops: ops.collect(),
            parities: parities.collect(),
        }
    }
}

/// Asserts that no table points outside a block or beyond its slots.
fn check(layout: Layout, gather: &Gather) {
    let registers = layout.block_registers();
    let groups = gather.outside.downs() * registers / GROUP;
    let fits = |s: &crate::perm::gather::Source, more: usize| {
        usize::from(s.slot) < gather.outside.slots() && usize::from(s.register) + more <= registers
    };
    let good = match &gather.shape {
        Shape::Own | Shape::Lanes(_) | Shape::Carried(_) => true,
        Shape::Block => gather.outside.slots() == 1,
        Shape::Runs(runs) => runs.len() == groups && runs.iter().all(|s| fits(s, GROUP)),
        Shape::Copies(sixes) => sixes.len() == groups && sixes.iter().flatten().all(|s| fits(s, 1)),
        Shape::Shared {
            sources,
            classes,
            rows,
        }
        | Shape::Strided {
            sources,
            classes,
            rows,
        } => {
            let more = if matches!(gather.shape, Shape::Shared { .. }) {
                1
            } else {
                GROUP
            };
            sources.len() == groups
                && classes.len() == groups
                && sources.iter().flatten().all(|s| fits(s, more))
                && classes
                    .iter()
                    .flatten()
                    .all(|&class| usize::from(class) < rows.len())
                && rows
                    .iter()
                    .flatten()
                    .flatten()
                    .all(|&byte| usize::from(byte) < GROUP * 64)
        }
        Shape::Scattered { ends, pieces, rows } => {
            ends.len() == groups * GROUP
                && ends.is_sorted()
                && ends.last().is_none_or(|&end| end as usize == pieces.len())
                && pieces
                    .iter()
                    .all(|(s, row)| fits(s, 1) && usize::from(*row) < rows.len())
        }
    };
    assert!(good, "gather tables fit the layout");
}
