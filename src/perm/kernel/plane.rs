//! Planes: one bit of every byte of a block, as a word per register.
//!
//! Invariant: bit l of a word stands for lane l; bits 60..63 are zero, like the padding lanes.

use super::choice::Kernel;
use crate::perm::layout::Register;

/// Writes the given bit of every byte: word r holds those of register r. Returns whether any is set.
///
/// # Panics
/// When the lengths differ.
pub fn collect(kernel: Kernel, registers: &[Register], bit: u8, words: &mut [u64]) -> bool {
    assert_eq!(registers.len(), words.len());
    #[cfg(target_arch = "x86_64")]
    if kernel == Kernel::Avx512 && kernel.is_supported() {
        // SAFETY: the processor has the instructions, checked just now.
        return unsafe { avx512::collect(registers, bit, words) };
    }
    let _ = kernel;
    let mut any = 0;
    for (register, word) in registers.iter().zip(words) {
        *word = 0;
        for (i, eight) in register.as_chunks::<8>().0.iter().enumerate() {
            let ones = u64::from_le_bytes(*eight) >> bit & 0x0101_0101_0101_0101;
            // Gathers the lowest bits of eight bytes in the highest byte, the first one lowest.
            *word |= (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
        }
        any |= *word;
    }
    any != 0
}

/// Writes a byte per bit: lane l of register r is 1 when bit l of word r is set, else 0.
///
/// # Panics
/// When the lengths differ.
pub fn spread(kernel: Kernel, words: &[u64], registers: &mut [Register]) {
    assert_eq!(registers.len(), words.len());
    #[cfg(target_arch = "x86_64")]
    if kernel == Kernel::Avx512 && kernel.is_supported() {
        // SAFETY: the processor has the instructions, checked just now.
        return unsafe { avx512::spread(words, registers) };
    }
    let _ = kernel;
    for (register, &word) in registers.iter_mut().zip(words) {
        for (i, eight) in register.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let byte = word >> (8 * i) & 0xff;
            // Eight copies of the byte; byte k keeps its bit k, which is then brought to 1.
            let bits = byte.wrapping_mul(0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
            let ones = ((bits + 0x7f7f_7f7f_7f7f_7f7f) | bits) >> 7 & 0x0101_0101_0101_0101;
            *eight = ones.to_le_bytes();
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::Register;
    use std::arch::x86_64::*;

    /// # Safety
    /// The processor has AVX-512 F and BW; the lengths are equal.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub unsafe fn collect(registers: &[Register], bit: u8, words: &mut [u64]) -> bool {
        let bit = _mm512_set1_epi8((1u8 << bit) as i8);
        let mut any = 0;
        for (register, word) in registers.iter().zip(words) {
            // SAFETY: a register is 64 bytes.
            let bytes = unsafe { _mm512_loadu_si512(register.as_ptr().cast()) };
            *word = _mm512_test_epi8_mask(bytes, bit);
            any |= *word;
        }
        any != 0
    }

    /// # Safety
    /// The processor has AVX-512 F and BW; the lengths are equal.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub unsafe fn spread(words: &[u64], registers: &mut [Register]) {
        let one = _mm512_set1_epi8(1);
        for (register, &word) in registers.iter_mut().zip(words) {
            let bytes = _mm512_maskz_mov_epi8(word, one);
            // SAFETY: a register is 64 bytes.
            unsafe { _mm512_storeu_si512(register.as_mut_ptr().cast(), bytes) }
        }
    }
}
