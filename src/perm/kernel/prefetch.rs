//! Asking for memory before it is needed.

/// Begins to bring the cache line of an address into the cache of the given `LEVEL`, 1 or 2; does
/// nothing on processors without a hint for it. Any address will do. Cost: one instruction.
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
