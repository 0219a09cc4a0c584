//! Bits that move between words: what gathers do to bytes, done to one bit of each.

use super::Kernel;

/// Where the lanes of a word come from in another word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitRow {
    /// For each lane the lane of the source.
    pub from: [u8; 64],
    /// The lanes that come from there.
    pub lanes: u64,
}

/// One of the words that a word takes lanes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitPiece {
    /// Number of the source block.
    pub block: u16,
    /// Its word.
    pub word: u16,
    /// Number of the row.
    pub row: u16,
}

/// Gathers words: word i is made of the pieces from `starts[i]` to `starts[i + 1]`, whose source words `load` brings.
/// All kernels return the same.
///
/// # Panics
/// When there are fewer starts than words and one, or rows than pieces name.
pub fn take_bits(
    kernel: Kernel,
    rows: &[BitRow],
    starts: &[u32],
    pieces: &[BitPiece],
    load: impl Fn(BitPiece) -> u64,
    words: &mut [u64],
) {
    assert!(starts.len() > words.len());
    #[cfg(target_arch = "x86_64")]
    if kernel == Kernel::Avx512 && kernel.is_supported() {
        // SAFETY: the processor has the instructions, checked just now.
        return unsafe { x86::take_bits(rows, starts, pieces, load, words) };
    }
    let _ = kernel;
    for (word, range) in words.iter_mut().zip(starts.windows(2)) {
        *word = 0;
        for &piece in &pieces[range[0] as usize..range[1] as usize] {
            let source = load(piece);
            if source != 0 {
                let row = &rows[usize::from(piece.row)];
                let lanes = (0..64).filter(|lane| row.lanes >> lane & 1 == 1);
                *word |= lanes.fold(0, |bits, lane| {
                    bits | (source >> row.from[lane] & 1) << lane
                });
            }
        }
    }
}

/// Brings the bits of each word together where its mask has ones, the lowest first.
pub fn gather_bits(kernel: Kernel, words: &mut [u64], masks: &[u64]) {
    #[cfg(target_arch = "x86_64")]
    if kernel != Kernel::Scalar && kernel.is_supported() {
        // SAFETY: the processor has the instructions, checked just now.
        return unsafe { x86::gather_bits(words, masks) };
    }
    let _ = kernel;
    for (word, mask) in words.iter_mut().zip(masks) {
        let lanes = (0..64).filter(|lane| mask >> lane & 1 == 1).enumerate();
        *word = lanes.fold(0, |bits, (i, lane)| bits | (*word >> lane & 1) << i);
    }
}

/// Puts the lowest bits of each word, in order, where its mask has ones.
pub fn scatter_bits(kernel: Kernel, words: &mut [u64], masks: &[u64]) {
    #[cfg(target_arch = "x86_64")]
    if kernel != Kernel::Scalar && kernel.is_supported() {
        // SAFETY: the processor has the instructions, checked just now.
        return unsafe { x86::scatter_bits(words, masks) };
    }
    let _ = kernel;
    for (word, mask) in words.iter_mut().zip(masks) {
        let lanes = (0..64).filter(|lane| mask >> lane & 1 == 1).enumerate();
        *word = lanes.fold(0, |bits, (i, lane)| bits | (*word >> i & 1) << lane);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::perm::kernel::bits::{BitPiece, BitRow};
    use std::arch::x86_64::*;

    /// # Safety
    /// The processor has AVX-512 F, BW and VBMI.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub unsafe fn take_bits(
        rows: &[BitRow],
        starts: &[u32],
        pieces: &[BitPiece],
        load: impl Fn(BitPiece) -> u64,
        words: &mut [u64],
    ) {
        for (word, range) in words.iter_mut().zip(starts.windows(2)) {
            *word = 0;
            for &piece in &pieces[range[0] as usize..range[1] as usize] {
                let source = load(piece);
                if source != 0 {
                    let row = &rows[usize::from(piece.row)];
                    // SAFETY: a row names 64 lanes.
                    let from = unsafe { _mm512_loadu_si512(row.from.as_ptr().cast()) };
                    let bytes = _mm512_movm_epi8(source);
                    let bytes = _mm512_maskz_permutexvar_epi8(row.lanes, from, bytes);
                    *word |= _mm512_movepi8_mask(bytes);
                }
            }
        }
    }

    /// # Safety
    /// The processor has BMI2.
    #[target_feature(enable = "bmi2")]
    pub unsafe fn gather_bits(words: &mut [u64], masks: &[u64]) {
        for (word, &mask) in words.iter_mut().zip(masks) {
            *word = _pext_u64(*word, mask);
        }
    }

    /// # Safety
    /// The processor has BMI2.
    #[target_feature(enable = "bmi2")]
    pub unsafe fn scatter_bits(words: &mut [u64], masks: &[u64]) {
        for (word, &mask) in words.iter_mut().zip(masks) {
            *word = _pdep_u64(*word, mask);
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/bits.rs"]
mod tests;
