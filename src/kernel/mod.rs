//! The kernels: one contract, several instruction sets.
//!
//! `search` runs a [`StepProgram`] block by block, and `pdb` a [`SlotStep`] stretch by stretch, which check their
//! arguments; the halo of a search on disk uses `words`, and `frontier` uses the keys. Each entry point selects the
//! code for a given [`Kernel`] with `dispatch`.
//!
//! Invariant: all kernels return the same bytes, counts and checksums for the same block. The computation of a kernel
//! is written once, based on the register operations of an instruction set (`isa`): `gather` fetches registers from
//! their sources; from these, `steps` compute the next level of a search or of a pattern database. For list searches,
//! `keys` moves the keys of a bucket, `key_set` finds the new ones, `key_digits` makes them strings that are compact
//! when sorted, and `key_ranks` numbers them.

#![allow(unsafe_code)]

pub(crate) mod gather;
pub(crate) mod isa;
pub(crate) mod key_digits;
pub(crate) mod key_ranks;
pub(crate) mod key_set;
#[cfg(target_arch = "aarch64")]
pub(crate) mod key_shifts;
pub(crate) mod keys;
pub(crate) mod networks;
pub(crate) mod points;
pub(crate) mod steps;
pub(crate) mod words;

use std::{any::Any, fmt, str::FromStr, sync::Arc};

use crate::{
    kernel::{
        isa::Isa,
        steps::{Slice, slot_step, step},
    },
    perm::{GROUP, Gathers, Layout, MoveTable},
    puzzle::Window,
    system::SystemError,
    threads::map_numbers,
};

pub use crate::kernel::{
    gather::{Word, prefetch},
    isa::Tally,
    steps::{ByteBlock, Rule, SlotMove, SlotMoves, SlotStretch},
    words::{
        BitGather, BitPiece, BitRow, collect, enter_first, gather_bits, join_planes, population,
        scatter_bits, split_planes, spread,
    },
};

#[cfg(target_arch = "aarch64")]
pub(crate) use crate::kernel::isa::Neon;
#[cfg(target_arch = "x86_64")]
pub(crate) use crate::kernel::isa::{Avx2, Avx512};
pub(crate) use crate::kernel::{gather::Ready, isa::Scalar, words::transpose};

/// Calls a function that is generic over an instruction set (`function<I>`), or a function of an instruction set
/// (`I::function`), with the instruction set of a kernel, where everything is compiled for these instructions; uses
/// plain Rust if this processor lacks them.
macro_rules! dispatch {
    ($kernel:expr, I::$run:ident($($arg:ident: $of:ty),*) $(-> $value:ty)?) => {
        dispatch!(
            $kernel, ($($arg: $of),*) $(-> $value)?,
            [crate::kernel::Avx512::$run], [crate::kernel::Avx2::$run], [crate::kernel::Neon::$run],
            [crate::kernel::Scalar::$run]
        )
    };
    ($kernel:expr, $run:ident<I $(, $of:literal)?>($($arg:ident: $type:ty),*) $(-> $value:ty)?) => {
        dispatch!(
            $kernel, ($($arg: $type),*) $(-> $value)?, [$run::<crate::kernel::Avx512 $(, $of)?>],
            [$run::<crate::kernel::Avx2 $(, $of)?>], [$run::<crate::kernel::Neon $(, $of)?>],
            [$run::<crate::kernel::Scalar $(, $of)?>]
        )
    };
    ($kernel:expr, $(<const $W:ident: usize>)? ($($arg:ident: $of:ty),*) $(-> $value:ty)?,
     [$($avx512:tt)*], [$($avx2:tt)*], [$($neon:tt)*], [$($scalar:tt)*]) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(
                enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,avx512vpopcntdq,gfni,bmi2,popcnt"
            )]
            unsafe fn avx512$(<const $W: usize>)?($($arg: $of),*) $(-> $value)? {
                // SAFETY: the caller's promise that the processor has the instructions.
                unsafe { $($avx512)*($($arg),*) }
            }
            #[target_feature(enable = "avx2,bmi2,popcnt")]
            unsafe fn avx2$(<const $W: usize>)?($($arg: $of),*) $(-> $value)? {
                // SAFETY: the caller's promise that the processor has the instructions.
                unsafe { $($avx2)*($($arg),*) }
            }
            if $kernel == Kernel::Avx512 && $kernel.is_supported() {
                // SAFETY: the processor has the instructions, as has just been checked.
                return unsafe { avx512($($arg),*) };
            }
            if $kernel == Kernel::Avx2 && $kernel.is_supported() {
                // SAFETY: the processor has the instructions, as has just been checked.
                return unsafe { avx2($($arg),*) };
            }
        }
        #[cfg(target_arch = "aarch64")]
        {
            #[target_feature(enable = "neon")]
            unsafe fn neon$(<const $W: usize>)?($($arg: $of),*) $(-> $value)? {
                // SAFETY: the caller's promise that the processor has the instructions.
                unsafe { $($neon)*($($arg),*) }
            }
            if $kernel == Kernel::Neon && $kernel.is_supported() {
                // SAFETY: the processor has the instructions, as has just been checked.
                return unsafe { neon($($arg),*) };
            }
        }
        let _ = $kernel;
        // SAFETY: every processor has these.
        unsafe { $($scalar)*($($arg),*) }
    }};
}

pub(crate) use dispatch;

/// Calls a function that is generic in the number of words of a key, for all such numbers or for the given ones.
macro_rules! by_words {
    ($words:expr, $W:ident => $call:expr) => {
        by_words!($words, $W => $call, 1 2 3 4 8 16 32 64 128)
    };
    ($words:expr, $W:ident => $call:expr, $($number:literal)*) => {
        match $words {
            $($number => {
                const $W: usize = $number;
                $call
            })*
            _ => unreachable!("keys that are longer were refused"),
        }
    };
}

pub(crate) use by_words;

// The choice of the instruction set.

/// An instruction set for which the sweep engine has a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Portable Rust, for any processor.
    Scalar,
    /// ARM of 64 bits, with NEON.
    Neon,
    /// x86-64 with AVX2.
    Avx2,
    /// x86-64 with AVX-512 BW, VBMI, VBMI2, VPOPCNTDQ and GFNI.
    Avx512,
}

impl Kernel {
    /// All kernels, slowest first.
    pub const ALL: [Kernel; 4] = [Kernel::Scalar, Kernel::Neon, Kernel::Avx2, Kernel::Avx512];

    /// Returns whether this processor can run the kernel.
    pub fn is_supported(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        macro_rules! has {
            ($($feature:tt)*) => { $(is_x86_feature_detected!($feature))&&* };
        }
        match self {
            Kernel::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => has!("avx2" "bmi2" "popcnt"),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => {
                has!("avx512f" "avx512bw" "avx512dq" "avx512vbmi" "avx512vbmi2")
                    && has!("avx512vpopcntdq" "gfni" "bmi2" "popcnt")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Kernel::Avx2 | Kernel::Avx512 => false,
            Kernel::Neon => cfg!(target_arch = "aarch64"),
        }
    }

    /// Returns the fastest kernel of this processor.
    pub fn best() -> Kernel {
        let supported = Kernel::ALL.into_iter().rev().find(|k| k.is_supported());
        supported.unwrap_or(Kernel::Scalar)
    }

    /// Returns the name used in `TILEWAVE_KERNEL` and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Scalar => "scalar",
            Kernel::Neon => "neon",
            Kernel::Avx2 => "avx2",
            Kernel::Avx512 => "avx512",
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kernel {
    type Err = SystemError;

    fn from_str(text: &str) -> Result<Kernel, SystemError> {
        let found = Kernel::ALL.into_iter().find(|k| k.name() == text);
        found.ok_or_else(|| SystemError::UnknownKernel(text.to_string()))
    }
}

// A level step prepared for a kernel, and its safe entry point.

/// All edges of a puzzle with the same window permutation and the same pair of groups: gather by the window, then move
/// bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// The window permutation of the moves.
    pub window: Window,
    /// Source bit and target bit of each move.
    pub bits: Vec<(u8, u8)>,
}

/// The step into one group for one kernel: gather tables in the kernel's format.
pub struct StepProgram {
    layout: Layout,
    gathers: Vec<Arc<MoveTable>>,
    /// Number of transfers whose bits are passed in with the block.
    halo: usize,
    tables: ReadyTables,
}

impl StepProgram {
    /// Returns the program that carries out the transfers.
    pub fn new(
        kernel: Kernel,
        layout: Layout,
        transfers: &[Transfer],
    ) -> Result<StepProgram, SystemError> {
        StepProgram::shared(kernel, &Gathers::new(layout), transfers, &[])
    }

    /// Returns the program that carries out the transfers, with tables that may be shared with other programs, and that
    /// moves, for each transfer in `halo`, the bits of a block that is passed in with the target block
    /// ([`ByteBlock::halo`]).
    ///
    /// # Panics
    /// If lines have fewer than six elements or a window reaches beyond them.
    pub fn shared(
        kernel: Kernel,
        tables: &Gathers,
        transfers: &[Transfer],
        halo: &[Vec<(u8, u8)>],
    ) -> Result<StepProgram, SystemError> {
        let layout = tables.layout;
        assert_eq!(layout.group(), GROUP, "blocks consist of whole groups");
        let own = transfers.iter().map(|t| tables.get(&t.window));
        let others = (0..halo.len()).map(|i| Arc::new(MoveTable::halo(layout, i)));
        let gathers: Vec<Arc<MoveTable>> = own.chain(others).collect();
        let own = transfers.iter().map(|t| t.bits.as_slice());
        let bits: Vec<&[(u8, u8)]> = own.chain(halo.iter().map(Vec::as_slice)).collect();
        let tables = ReadyTables::new(kernel, layout, &gathers, &bits)?;
        Ok(StepProgram { layout, gathers, halo: halo.len(), tables })
    }

    /// Returns the gather tables, one per transfer.
    pub fn gathers(&self) -> &[Arc<MoveTable>] {
        &self.gathers
    }

    /// Computes a block of the next level in place and returns its tally: `next = (union over transfers of
    /// bits(gather(cur))) minus next`, or a variant of this for other rules.
    ///
    /// # Panics
    /// If a length or an index of the block does not fit the layout and the gather tables.
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
        let (kernel, tables) = (self.tables.kernel, &*self.tables.ready);
        // Every source block lies within `cur` and `next` has a block's length; sources within a block and support
        // were checked when the tables were made.
        if block.rule == Rule::Reverse {
            dispatch!(kernel, step<I, true>(tables: &dyn Any, block: ByteBlock<'_>) -> Tally)
        } else {
            dispatch!(kernel, step<I, false>(tables: &dyn Any, block: ByteBlock<'_>) -> Tally)
        }
    }
}

/// Gather tables in the format of a kernel's instruction set: a [`Ready`].
struct ReadyTables {
    kernel: Kernel,
    ready: Box<dyn Any + Send + Sync>,
}

impl ReadyTables {
    /// Returns the tables for windows, each with its list of bits.
    fn new(
        kernel: Kernel,
        layout: Layout,
        gathers: &[Arc<MoveTable>],
        bits: &[&[(u8, u8)]],
    ) -> Result<ReadyTables, SystemError> {
        type Tables<'a> = (Layout, &'a [Arc<MoveTable>], &'a [&'a [(u8, u8)]]);
        unsafe fn translate<I: Isa>((layout, gathers, bits): Tables) -> Box<dyn Any + Send + Sync> {
            Box::new(Ready::<I>::new(layout, gathers, bits))
        }
        fn ready(kernel: Kernel, of: Tables) -> Box<dyn Any + Send + Sync> {
            dispatch!(kernel, translate<I>(of: Tables) -> Box<dyn Any + Send + Sync>)
        }
        match kernel.is_supported() {
            true => Ok(ReadyTables { kernel, ready: ready(kernel, (layout, gathers, bits)) }),
            false => Err(SystemError::UnsupportedKernel(kernel.name())),
        }
    }
}

// The step of slots prepared for a kernel, and its safe entry point.

/// The tables of all shifts of positions for one kernel.
pub struct SlotStep {
    layout: Layout,
    slices: Vec<Slice>,
    tables: ReadyTables,
}

impl SlotStep {
    /// Returns the tables for the lines of a layout with slices.
    ///
    /// Cost: 50 ms for eight elements, less for fewer.
    /// # Panics
    /// If the layout does not consist of slices; see [`Layout::sliced`].
    pub fn new(kernel: Kernel, layout: Layout) -> Result<SlotStep, SystemError> {
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
        let gathers: Vec<Arc<MoveTable>> = map_numbers(k * k, &gather);
        let slices = (0..layout.blocks()).map(|slice| Slice::new(layout, &gathers, slice));
        let tables = ReadyTables::new(kernel, layout, &gathers, &vec![&[][..]; k * k])?;
        Ok(SlotStep { layout, slices: slices.collect(), tables })
    }

    /// Adds a level to a stretch of slots and returns the number of first visits.
    ///
    /// # Panics
    /// If the lengths of the stretch do not fit the layout and the moves.
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
        // Lengths were checked above, sources and shifts by `SlotMoves::new`, support and tables when they were
        // made; the layout is in slices.
        let (kernel, tables, slices) = (self.tables.kernel, &*self.tables.ready, &self.slices[..]);
        match self.layout.group() {
            1 => dispatch!(
                kernel,
                slot_step<I, 1>(tables: &dyn Any, slices: &[Slice], moves: &SlotMoves, stretch: SlotStretch<'_>) -> u64
            ),
            _ => dispatch!(
                kernel,
                slot_step<I, 6>(tables: &dyn Any, slices: &[Slice], moves: &SlotMoves, stretch: SlotStretch<'_>) -> u64
            ),
        }
    }
}
