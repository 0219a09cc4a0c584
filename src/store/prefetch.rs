//! Asking for memory before it is needed.

#![allow(unsafe_code)]

/// Begins to bring the byte at an index into the cache; does nothing beyond the end of the slice or on
/// processors without a hint for it. Cost: one instruction.
#[inline(always)]
pub fn prefetch(bytes: &[u8], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = bytes.as_ptr().wrapping_add(index);
        // SAFETY: a prefetch reads nothing and never faults, whatever the address; every x86-64
        // processor has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, index);
}
