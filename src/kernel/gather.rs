//! Fetches the registers of a target group from their sources, as the tables specify; written once for all instruction
//! sets.
//!
//! Invariant: results depend only on the gather tables. A target consists of `P` halves (parities of lines) of `G`
//! registers; the [`Sink`] determines what is done with the fetched registers. Everything is inlined into one function
//! per kernel, and arrays of registers are indexed by constant ranges, so that accumulators stay in registers. There
//! are no closures: a closure is a separate function without the caller's instruction set, so intrinsics inside it
//! would become calls.

use std::{any::Any, sync::Arc};

use crate::{
    kernel::isa::Isa,
    perm::{
        Crossing, CrossingGroup, GROUP, Layout, MoveShape, MoveTable, Register, SourceRegister,
    },
};

/// Gather tables in the format of one instruction set.
pub(crate) struct Ready<I: Isa> {
    pub ops: Vec<Op<I>>,
    /// See [`Layout::group_parities`].
    pub parities: Vec<u8>,
}

/// The tables of one window, and its bits.
pub(crate) struct Op<I: Isa> {
    pub shape: MoveShape<I::LaneRow, I::CrossRow>,
    pub maps: Vec<I::BitMap>,
    /// Index of its first source block among those of all operations.
    pub first_block: usize,
    /// Whether sources have the opposite parity.
    pub odd: bool,
}

impl<I: Isa> Ready<I> {
    /// Translates gather tables to the kernel's format.
    ///
    /// # Panics
    /// If a table points outside a block or beyond its source blocks.
    pub fn new(layout: Layout, gathers: &[Arc<MoveTable>], bits: &[&[(u8, u8)]]) -> Ready<I> {
        let mut first_block = 0;
        let ops = gathers.iter().zip(bits).map(|(gather, bits)| {
            assert!(fits(layout, gather), "gather tables fit the layout");
            let op = Op {
                shape: gather.shape.translate(I::lane_row, I::cross_row),
                maps: I::bit_maps(bits),
                first_block,
                odd: gather.odd,
            };
            first_block += gather.source_blocks.count();
            op
        });
        Ready { ops: ops.collect(), parities: layout.group_parities() }
    }

    /// Returns tables whose format is known only at run time; panics if they are for a different instruction set.
    #[inline(always)]
    pub fn of(tables: &dyn Any) -> &Ready<I> {
        tables.downcast_ref().expect("tables of the kernel")
    }
}

/// Whether no table points outside a block or beyond its source blocks.
fn fits(layout: Layout, gather: &MoveTable) -> bool {
    let (registers, blocks) = (layout.block_registers(), gather.source_blocks.count());
    let all = gather.source_blocks.variants() * registers;
    let tables_fit = match &gather.shape {
        MoveShape::Own | MoveShape::Lanes(_) | MoveShape::Halo(_) => return true,
        MoveShape::Block => blocks == 1,
        MoveShape::Runs(runs) => runs.len() * GROUP == all,
        MoveShape::Copies(sixes) => sixes.len() * GROUP == all,
        MoveShape::Shared(tables) | MoveShape::Strided(tables) => {
            let row = |&row: &u8| usize::from(row) < tables.rows.len();
            let mut bytes = tables.rows.iter().flatten().flatten();
            tables.groups.len() * GROUP == all
                && tables.groups.iter().all(|group| group.rows.iter().all(row))
                && bytes.all(|&byte| usize::from(byte) < GROUP * 64)
        }
        MoveShape::Scattered(tables) => {
            let (ends, pieces) = (&tables.ends, &tables.pieces);
            ends.len() == all
                && ends.is_sorted()
                && ends.last().is_none_or(|&end| end as usize == pieces.len())
                && pieces.iter().all(|(_, row)| usize::from(*row) < tables.rows.len())
        }
    };
    let fits =
        |s: SourceRegister| usize::from(s.block) < blocks && usize::from(s.register) < registers;
    tables_fit && (0..all).all(|index| gather.sources(layout, index).into_iter().all(fits))
}

/// The form in which lanes are stored: the bytes of a register, or one bit each.
pub(crate) trait Stored<I: Isa> {
    /// Loads the lanes into a register: a byte of ones for each bit that is set.
    ///
    /// # Safety
    /// The processor has the instructions, and the pointer is valid.
    unsafe fn bring(from: *const Self) -> I::Reg;
}

impl<I: Isa> Stored<I> for Register {
    #[inline(always)]
    unsafe fn bring(from: *const Register) -> I::Reg {
        // SAFETY: the function's contract.
        unsafe { I::load(from) }
    }
}

/// One bit for each lane of a register, the first lane lowest, little-endian.
pub type Word = [u8; 8];

impl<I: Isa> Stored<I> for Word {
    #[inline(always)]
    unsafe fn bring(from: *const Word) -> I::Reg {
        // SAFETY: the function's contract.
        unsafe { I::spread(u64::from_le_bytes(*from)) }
    }
}

/// The sources of one target group.
pub(crate) struct GroupSources<const P: usize, T = Register> {
    /// For each half of the target, the array from which it comes.
    pub arrays: [*const T; P],
    /// Offset in the array for each of the operation's source blocks.
    pub blocks: *const usize,
    /// Offset in the array of the target itself.
    pub own: usize,
    /// Index of the target's register within its block.
    pub within: usize,
    /// The target's registers in the first of the blocks that are passed in, and the number of registers per block.
    pub halo: (*const T, usize),
    /// Row of the tables: `variant * groups + group`.
    pub row: usize,
    /// Parity of the last five digits of the lines of the first half and register.
    pub parity: usize,
}

impl<const P: usize, T> GroupSources<P, T> {
    /// The address of a source register.
    ///
    /// # Safety
    /// The source is one of the operation's.
    #[inline(always)]
    pub unsafe fn at(&self, half: usize, source: SourceRegister) -> *const T {
        // SAFETY: the caller's promise.
        unsafe {
            let block = *self.blocks.add(usize::from(source.block));
            self.arrays[half].wrapping_add(block + usize::from(source.register))
        }
    }
}

/// Determines what is done with the fetched registers, on a processor that has the instructions.
pub(crate) trait Sink<I: Isa> {
    /// Takes the register for half p and place r of the target.
    unsafe fn put(&mut self, p: usize, r: usize, value: I::Reg);

    /// All registers have been put.
    unsafe fn done(&mut self);
}

/// Evaluates an expression in `p` and `r` for every register of the target, halves first or registers first.
macro_rules! put {
    ($sink:ident, $p:ident, $r:ident => $value:expr) => {{
        for $p in 0..P {
            for $r in 0..G {
                let value = $value;
                $sink.put($p, $r, value);
            }
        }
        $sink.done();
    }};
}

/// Fetches the registers of one target. Every arm of the match ends with `done`, so that no value in a register has to
/// survive the end of the match.
///
/// # Safety
/// The processor supports the instruction set; all sources that the operation's tables specify for the row exist in
/// `from`, and have been checked by [`Ready::new`]; `G` is the layout's group.
#[inline(always)]
pub(crate) unsafe fn gather<I: Isa, T: Stored<I>, S: Sink<I>, const P: usize, const G: usize>(
    op: &Op<I>,
    from: &GroupSources<P, T>,
    sink: &mut S,
) {
    // SAFETY: the function's contract.
    unsafe {
        match &op.shape {
            MoveShape::Own => put!(sink, p, r => T::bring(from.arrays[p].add(from.own + r))),
            MoveShape::Lanes(rows) => put!(sink, p, r => {
                let row = rows.get_unchecked(from.parity ^ p ^ (r & 1));
                I::permute(row, T::bring(from.arrays[p].add(from.own + r)))
            }),
            MoveShape::Block => {
                let first = *from.blocks + from.within;
                put!(sink, p, r => T::bring(from.arrays[p].add(first + r)));
            }
            MoveShape::Halo(index) => {
                let first = from.halo.0.add(index * from.halo.1);
                put!(sink, p, r => T::bring(first.add(r)));
            }
            MoveShape::Runs(runs) => {
                let first = *runs.get_unchecked(from.row);
                put!(sink, p, r => T::bring(from.at(p, first).add(r)));
            }
            MoveShape::Copies(sixes) => {
                let six = sixes.get_unchecked(from.row);
                put!(sink, p, r => T::bring(from.at(p, six[r])));
            }
            MoveShape::Shared(tables) => {
                let group = tables.groups.get_unchecked(from.row);
                for p in 0..P {
                    let mut six = [I::splat(0); GROUP];
                    for s in 0..GROUP {
                        six[s] = T::bring(from.at(p, group.sources[s]));
                    }
                    for r in 0..G {
                        let row = row(tables, group, r, from.parity ^ p);
                        sink.put(p, r, I::select(row, &six));
                    }
                }
                sink.done();
            }
            MoveShape::Strided(tables) => {
                let group = tables.groups.get_unchecked(from.row);
                for r in 0..G {
                    for p in 0..P {
                        let first = from.at(p, group.sources[r]);
                        let mut six = [I::splat(0); GROUP];
                        for s in 0..GROUP {
                            six[s] = T::bring(first.add(s));
                        }
                        let row = row(tables, group, r, from.parity ^ p);
                        sink.put(p, r, I::select(row, &six));
                    }
                }
                sink.done();
            }
            MoveShape::Scattered(tables) => {
                // A loop over pieces cannot be unrolled; if it wrote to the sink, the index would be a variable, and
                // all accumulators, including those of the other arms, would be in memory.
                let mut values = [[I::splat(0); G]; P];
                for (p, values) in values.iter_mut().enumerate() {
                    for (r, value) in values.iter_mut().enumerate() {
                        // Combined in a register: in `values`, each piece would wait until the previous one has been
                        // stored and loaded again.
                        let mut joined = I::splat(0);
                        for &(source, row) in tables.of(from.row * GROUP + r) {
                            let rows = tables.rows.get_unchecked(usize::from(row));
                            let row = rows.get_unchecked(from.parity ^ p ^ (r & 1));
                            let part = I::permute(row, T::bring(from.at(p, source)));
                            joined = I::or(joined, part);
                        }
                        *value = joined;
                    }
                }
                put!(sink, p, r => values[p][r]);
            }
        }
    }
}

/// The row of register r; `parity` is the parity of the group's first register.
///
/// # Safety
/// The group exists in the tables, which [`fits`] has checked.
#[inline(always)]
unsafe fn row<'a, C>(
    tables: &'a Crossing<C>,
    group: &CrossingGroup,
    r: usize,
    parity: usize,
) -> &'a C {
    // SAFETY: the function's contract.
    unsafe {
        let rows = tables.rows.get_unchecked(usize::from(group.rows[r]));
        rows.get_unchecked(parity ^ (r & 1))
    }
}

/// Starts to prefetch the registers of a group into the second-level cache.
#[inline(always)]
pub(crate) fn fetch_group(first: *const Register) {
    for r in 0..GROUP {
        prefetch::<2, _>(first.wrapping_add(r));
    }
}

// Prefetching of memory before it is needed.

/// Starts to prefetch the cache line of an address into the cache of the given `LEVEL`, 1 or 2; has no effect on
/// processors without a hint for this. Any address is valid. Cost: one instruction.
#[inline(always)]
pub fn prefetch<const LEVEL: u8, T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and never faults, whatever the address; every x86-64
        // processor has it.
        unsafe {
            match LEVEL {
                1 => _mm_prefetch::<_MM_HINT_T0>(at.cast()),
                _ => _mm_prefetch::<_MM_HINT_T1>(at.cast()),
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
