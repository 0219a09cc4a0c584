//! One function per instruction set and step: here the generic code gets its instructions.

use std::sync::Arc;

use super::choice::{Kernel, KernelError};
use super::gather::Ready;
use super::isa::Tally;
use super::moves::{Moves, Stretch};
use super::rule::Rule;
use super::scalar::Scalar;
use super::slot_step::SlotStretch;
use super::step::{Work, step};
use super::{pattern_step, pattern_step::Slice, slot_step};
use crate::perm::gather::Gather;
use crate::perm::layout::{GROUP, Layout};

/// Tables in the format of some instruction set, and the steps over them.
pub(super) trait Run: Send + Sync {
    /// # Safety
    /// As [`step`].
    unsafe fn step(&self, work: &Work<'_>) -> Tally;

    /// # Safety
    /// As [`pattern_step::step`].
    unsafe fn pattern_step(&self, slice: &Slice, moves: &Moves, stretch: Stretch<'_>) -> u64;

    /// # Safety
    /// As [`slot_step::step`].
    unsafe fn slot_step(&self, slices: &[Slice], moves: &Moves, stretch: SlotStretch<'_>) -> u64;
}

/// Returns the tables ready for a kernel; `bits` has a list for each window.
pub(super) fn ready(
    kernel: Kernel,
    layout: Layout,
    gathers: &[Arc<Gather>],
    bits: &[&[(u8, u8)]],
) -> Result<Box<dyn Run>, KernelError> {
    if !kernel.is_supported() {
        return Err(KernelError::Unsupported(kernel));
    }
    Ok(match kernel {
        Kernel::Scalar => Box::new(Ready::<Scalar>::new(layout, gathers, bits)),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2 => Box::new(Ready::<super::avx2::Avx2>::new(layout, gathers, bits)),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512 => Box::new(Ready::<super::avx512::Avx512>::new(layout, gathers, bits)),
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

            unsafe fn pattern_step(
                &self,
                slice: &Slice,
                moves: &Moves,
                stretch: Stretch<'_>,
            ) -> u64 {
                $(#[$features])?
                unsafe fn with_features<const G: usize>(
                    ready: &Ready<$isa>,
                    slice: &Slice,
                    moves: &Moves,
                    stretch: Stretch<'_>,
                ) -> u64 {
                    // SAFETY: the caller's promise.
                    unsafe { pattern_step::step::<$isa, G>(ready, slice, moves, stretch) }
                }
                // SAFETY: `ready` has checked the processor; the rest is the caller's promise.
                unsafe {
                    match self.layout.group() {
                        1 => with_features::<1>(self, slice, moves, stretch),
                        _ => with_features::<GROUP>(self, slice, moves, stretch),
                    }
                }
            }

            unsafe fn slot_step(
                &self,
                slices: &[Slice],
                moves: &Moves,
                stretch: SlotStretch<'_>,
            ) -> u64 {
                $(#[$features])?
                unsafe fn with_features<const G: usize>(
                    ready: &Ready<$isa>,
                    slices: &[Slice],
                    moves: &Moves,
                    stretch: SlotStretch<'_>,
                ) -> u64 {
                    // SAFETY: the caller's promise.
                    unsafe { slot_step::step::<$isa, G>(ready, slices, moves, stretch) }
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
instruction_set!(super::avx2::Avx2, #[target_feature(enable = "avx2,bmi2,popcnt")]);
#[cfg(target_arch = "x86_64")]
instruction_set!(
    super::avx512::Avx512,
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vpopcntdq,gfni,bmi2,popcnt"
    )]
);
