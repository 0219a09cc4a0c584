//! Planes: one bit of every byte of a block, as a word per register.
//!
//! Invariant: bit l of a word stands for lane l; bits 60..63 are zero, like the padding lanes.

use super::choice::Kernel;
use super::gather::Word;
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

/// Writes eight words to each register: lane l of word j is bit j of byte l. The last register may get fewer.
///
/// # Panics
/// When the lengths do not fit.
pub fn join_planes(kernel: Kernel, words: &[Word], registers: &mut [Register]) {
    assert_eq!(words.len().div_ceil(8), registers.len());
    #[cfg(target_arch = "x86_64")]
    if kernel == Kernel::Avx512 && kernel.is_supported() {
        // SAFETY: the processor has the instructions, checked just now.
        return unsafe { avx512::join_planes(words, registers) };
    }
    let _ = kernel;
    for (words, register) in words.chunks(8).zip(registers) {
        for (i, eight) in register.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let mut square = [0; 8];
            for (row, word) in square.iter_mut().zip(words) {
                *row = word[i];
            }
            *eight = turn(square);
        }
    }
}

/// Joins to each word the bits that [`join_planes`] wrote.
///
/// # Panics
/// When the lengths do not fit.
pub fn split_planes(kernel: Kernel, registers: &[Register], words: &mut [Word]) {
    assert_eq!(words.len().div_ceil(8), registers.len());
    #[cfg(target_arch = "x86_64")]
    if kernel == Kernel::Avx512 && kernel.is_supported() {
        // SAFETY: the processor has the instructions, checked just now.
        return unsafe { avx512::split_planes(registers, words) };
    }
    let _ = kernel;
    for (words, register) in words.chunks_mut(8).zip(registers) {
        for (i, eight) in register.as_chunks::<8>().0.iter().enumerate() {
            for (row, word) in turn(*eight).iter().zip(words.iter_mut()) {
                word[i] |= row;
            }
        }
    }
}

/// Exchanges rows and columns of a square of bits.
fn turn(square: [u8; 8]) -> [u8; 8] {
    let mut x = u64::from_le_bytes(square);
    for (shift, mask) in [
        (7, 0x00aa_00aa_00aa_00aa),
        (14, 0x0000_cccc_0000_cccc),
        (28, 0x0000_0000_f0f0_f0f0),
    ] {
        let swapped = (x ^ x >> shift) & mask;
        x ^= swapped ^ swapped << shift;
    }
    x.to_le_bytes()
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{Register, Word};
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

    /// # Safety
    /// The processor has AVX-512 F and BW; there is a register for every eight words.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub unsafe fn join_planes(words: &[Word], registers: &mut [Register]) {
        for (words, register) in words.chunks(8).zip(registers) {
            let mut bytes = _mm512_setzero_si512();
            for (j, word) in words.iter().enumerate() {
                let bit = _mm512_set1_epi8((1u8 << j) as i8);
                bytes = _mm512_mask_add_epi8(bytes, u64::from_le_bytes(*word), bytes, bit);
            }
            // SAFETY: a register is 64 bytes.
            unsafe { _mm512_storeu_si512(register.as_mut_ptr().cast(), bytes) }
        }
    }

    /// # Safety
    /// The processor has AVX-512 F and BW; there is a register for every eight words.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub unsafe fn split_planes(registers: &[Register], words: &mut [Word]) {
        for (words, register) in words.chunks_mut(8).zip(registers) {
            // SAFETY: a register is 64 bytes.
            let bytes = unsafe { _mm512_loadu_si512(register.as_ptr().cast()) };
            for (j, word) in words.iter_mut().enumerate() {
                let bit = _mm512_set1_epi8((1u8 << j) as i8);
                let lanes = _mm512_test_epi8_mask(bytes, bit);
                *word = (u64::from_le_bytes(*word) | lanes).to_le_bytes();
            }
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/plane.rs"]
mod tests;
