//! The kernels: one contract, several instruction sets.
//!
//! `search` runs a [`StepProgram`] block by block, and `pdb` a [`SlotStep`] stretch by stretch (`program` checks their
//! arguments); the halo of a search on disk uses `words`, and `frontier` uses the keys. Each entry point selects the
//! code for a given [`Kernel`] with `dispatch`.
//!
//! Invariant: all kernels return the same bytes, counts and checksums for the same block. The computation of a kernel
//! is written once, based on the register operations of an instruction set (`isa`): `gather` fetches registers from
//! their sources; from these, `byte_step` computes the next level of a search, and `bit_step` that of a pattern
//! database, with one bit per line. For list searches, `keys` moves the keys of a bucket, `key_set` finds the new ones,
//! `key_digits` encodes them compactly, and `key_ranks` numbers them.

#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
pub(crate) mod bit_step;
pub(crate) mod byte_step;
pub(crate) mod gather;
pub(crate) mod isa;
pub(crate) mod key_digits;
pub(crate) mod key_ranks;
pub(crate) mod key_set;
pub(crate) mod keys;
pub(crate) mod program;
pub(crate) mod scalar;
pub(crate) mod words;

use std::{fmt, str::FromStr};

use crate::system::SystemError;

pub use crate::kernel::{
    bit_step::{SlotMove, SlotMoves, SlotStretch},
    byte_step::{ByteBlock, Rule},
    gather::{Word, prefetch},
    isa::Tally,
    program::{SlotStep, StepProgram, Transfer},
    words::{
        BitGather, BitPiece, BitRow, collect, enter_first, gather_bits, join_planes, scatter_bits,
        split_planes, spread,
    },
};

/// Calls a function that is generic over an instruction set (`function<I>`), or a function of an instruction set
/// (`I::function`), with the instruction set of a kernel, where everything is compiled for these instructions; uses
/// plain Rust if this processor lacks them.
macro_rules! dispatch {
    ($kernel:expr, I::$run:ident($($arg:ident: $of:ty),*) $(-> $value:ty)?) => {{
        #[cfg(target_arch = "x86_64")]
        use crate::kernel::{avx2::Avx2, avx512::Avx512};
        use crate::kernel::scalar::Scalar;
        dispatch!($kernel, ($($arg: $of),*) $(-> $value)?, [Avx512::$run], [Avx2::$run], [Scalar::$run])
    }};
    ($kernel:expr, $run:ident<I $(, $of:literal)?>($($arg:ident: $type:ty),*) $(-> $value:ty)?) => {{
        #[cfg(target_arch = "x86_64")]
        use crate::kernel::{avx2::Avx2, avx512::Avx512};
        use crate::kernel::scalar::Scalar;
        dispatch!(
            $kernel, ($($arg: $type),*) $(-> $value)?,
            [$run::<Avx512 $(, $of)?>], [$run::<Avx2 $(, $of)?>], [$run::<Scalar $(, $of)?>]
        )
    }};
    ($kernel:expr, ($($arg:ident: $of:ty),*) $(-> $value:ty)?,
     [$($avx512:tt)*], [$($avx2:tt)*], [$($scalar:tt)*]) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(
                enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,avx512vpopcntdq,gfni,bmi2,popcnt"
            )]
            unsafe fn avx512($($arg: $of),*) $(-> $value)? {
                // SAFETY: the caller's promise that the processor has the instructions.
                unsafe { $($avx512)*($($arg),*) }
            }
            #[target_feature(enable = "avx2,bmi2,popcnt")]
            unsafe fn avx2($($arg: $of),*) $(-> $value)? {
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
        let _ = $kernel;
        // SAFETY: every processor has these.
        unsafe { $($scalar)*($($arg),*) }
    }};
}

pub(crate) use dispatch;

pub(crate) use crate::kernel::{avx512::Avx512, gather::Ready, scalar::Scalar};

// The choice of the instruction set.

/// An instruction set for which the sweep engine has a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Portable Rust, for any processor.
    Scalar,
    /// x86-64 with AVX2.
    Avx2,
    /// x86-64 with AVX-512 BW, VBMI, VBMI2, VPOPCNTDQ and GFNI.
    Avx512,
}

impl Kernel {
    /// All kernels, slowest first.
    pub const ALL: [Kernel; 3] = [Kernel::Scalar, Kernel::Avx2, Kernel::Avx512];

    /// Returns whether this processor can run the kernel.
    pub fn is_supported(self) -> bool {
        match self {
            Kernel::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("avx512vbmi2")
                    && is_x86_feature_detected!("avx512vpopcntdq")
                    && is_x86_feature_detected!("gfni")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Kernel::Avx2 | Kernel::Avx512 => false,
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
