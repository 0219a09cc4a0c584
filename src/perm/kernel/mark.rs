//! What the arrangement kernel needs of an instruction set beyond [`Isa`]: telling lanes that are
//! reached for the first time.

use super::scalar::Scalar;
use super::step::Isa;
use crate::perm::layout::{LANES, Register};

/// Marks of first visits.
///
/// All functions are unsafe because they may only run on a processor that has the instructions.
pub(super) trait Mark: Isa {
    unsafe fn splat(byte: u8) -> Self::Reg;
    unsafe fn and(a: Self::Reg, b: Self::Reg) -> Self::Reg;
    /// Whether two registers are equal.
    unsafe fn same(a: Self::Reg, b: Self::Reg) -> bool;
    /// Whether all lanes but the padding are equal.
    unsafe fn same_lanes(a: Self::Reg, b: Self::Reg) -> bool;
    /// Writes `level` to the lanes of `values` where `old AND bits` is zero and `new AND bits` is not;
    /// returns their number.
    unsafe fn mark(
        values: *mut Register,
        old: Self::Reg,
        new: Self::Reg,
        bits: Self::Reg,
        level: Self::Reg,
    ) -> u64;
}

impl Mark for Scalar {
    #[inline(always)]
    unsafe fn splat(byte: u8) -> Register {
        [byte; 64]
    }

    #[inline(always)]
    unsafe fn and(a: Register, b: Register) -> Register {
        std::array::from_fn(|i| a[i] & b[i])
    }

    #[inline(always)]
    unsafe fn same(a: Register, b: Register) -> bool {
        a == b
    }

    #[inline(always)]
    unsafe fn same_lanes(a: Register, b: Register) -> bool {
        a[..LANES] == b[..LANES]
    }

    #[inline(always)]
    unsafe fn mark(
        values: *mut Register,
        old: Register,
        new: Register,
        bits: Register,
        level: Register,
    ) -> u64 {
        // SAFETY: the caller passes a valid register.
        let values = unsafe { &mut *values };
        let mut count = 0;
        for i in 0..LANES {
            let first = old[i] & bits[i] == 0 && new[i] & bits[i] != 0;
            values[i] = if first { level[i] } else { values[i] };
            count += u64::from(first);
        }
        count
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::avx2::{Avx2, Halves};
    use super::super::avx512::Avx512;
    use super::{LANES, Mark, Register};

    const LANE_MASK: u64 = (1 << LANES) - 1;

    impl Mark for Avx512 {
        #[inline(always)]
        unsafe fn splat(byte: u8) -> __m512i {
            // SAFETY: AVX-512 BW, the caller's promise.
            unsafe { _mm512_set1_epi8(byte as i8) }
        }

        #[inline(always)]
        unsafe fn and(a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: AVX-512 F, the caller's promise.
            unsafe { _mm512_and_si512(a, b) }
        }

        #[inline(always)]
        unsafe fn same(a: __m512i, b: __m512i) -> bool {
            // SAFETY: AVX-512 F, the caller's promise.
            unsafe { _mm512_cmpneq_epi64_mask(a, b) == 0 }
        }

        #[inline(always)]
        unsafe fn same_lanes(a: __m512i, b: __m512i) -> bool {
            // SAFETY: AVX-512 BW, the caller's promise.
            unsafe { _mm512_cmpneq_epi8_mask(a, b) & LANE_MASK == 0 }
        }

        #[inline(always)]
        unsafe fn mark(
            values: *mut Register,
            old: __m512i,
            new: __m512i,
            bits: __m512i,
            level: __m512i,
        ) -> u64 {
            // SAFETY: AVX-512 BW, the caller's promise; the caller passes a valid register.
            unsafe {
                let unseen = _mm512_testn_epi8_mask(old, bits);
                let first = _mm512_mask_test_epi8_mask(unseen, new, bits);
                if first != 0 {
                    let before = _mm512_loadu_si512(values.cast());
                    let after = _mm512_mask_mov_epi8(before, first, level);
                    _mm512_storeu_si512(values.cast(), after);
                }
                u64::from(first.count_ones())
            }
        }
    }

    impl Mark for Avx2 {
        #[inline(always)]
        unsafe fn splat(byte: u8) -> Halves {
            // SAFETY: AVX2, the caller's promise.
            unsafe { Halves(_mm256_set1_epi8(byte as i8), _mm256_set1_epi8(byte as i8)) }
        }

        #[inline(always)]
        unsafe fn and(a: Halves, b: Halves) -> Halves {
            // SAFETY: AVX2, the caller's promise.
            unsafe { Halves(_mm256_and_si256(a.0, b.0), _mm256_and_si256(a.1, b.1)) }
        }

        #[inline(always)]
        unsafe fn same(a: Halves, b: Halves) -> bool {
            // SAFETY: AVX2, the caller's promise.
            unsafe {
                let x = _mm256_xor_si256(a.0, b.0);
                let y = _mm256_xor_si256(a.1, b.1);
                let z = _mm256_or_si256(x, y);
                _mm256_testz_si256(z, z) == 1
            }
        }

        #[inline(always)]
        unsafe fn same_lanes(a: Halves, b: Halves) -> bool {
            // SAFETY: AVX2, the caller's promise.
            unsafe {
                let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(a.0, b.0)) as u32;
                let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(a.1, b.1)) as u32;
                let equal = u64::from(low) | u64::from(high) << 32;
                equal & LANE_MASK == LANE_MASK
            }
        }

        #[inline(always)]
        unsafe fn mark(
            values: *mut Register,
            old: Halves,
            new: Halves,
            bits: Halves,
            level: Halves,
        ) -> u64 {
            // SAFETY: AVX2, the caller's promise; the caller passes a valid register.
            unsafe {
                let values: *mut __m256i = values.cast();
                let low = half(values, old.0, new.0, bits.0, level.0);
                low + half(values.add(1), old.1, new.1, bits.1, level.1)
            }
        }
    }

    /// # Safety
    /// AVX2, and `values` is 32 writable bytes.
    #[inline(always)]
    unsafe fn half(
        values: *mut __m256i,
        old: __m256i,
        new: __m256i,
        bits: __m256i,
        level: __m256i,
    ) -> u64 {
        // SAFETY: the caller's promise.
        unsafe {
            let zero = _mm256_setzero_si256();
            let unseen = _mm256_cmpeq_epi8(_mm256_and_si256(old, bits), zero);
            let not_new = _mm256_cmpeq_epi8(_mm256_and_si256(new, bits), zero);
            let first = _mm256_andnot_si256(not_new, unseen);
            let lanes = _mm256_movemask_epi8(first) as u32;
            if lanes != 0 {
                let before = _mm256_loadu_si256(values);
                _mm256_storeu_si256(values, _mm256_blendv_epi8(before, level, first));
            }
            u64::from(lanes.count_ones())
        }
    }
}
