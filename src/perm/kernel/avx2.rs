//! The AVX2 kernel: lane permutations from 16-byte shuffles.

use std::arch::x86_64::*;

use super::program::{Step, Tally};
use super::step::{Isa, Ready, Work, split_by_shift, step};
use crate::perm::checksum::LANE_KEYS;
use crate::perm::gather::{CrossRow, Gather, LaneRow};
use crate::perm::layout::{GROUP, LANES, Layout, Register};

/// AVX2 (x86-64 processors from 2013 on).
pub(super) struct Avx2;

impl Avx2 {
    pub fn ready(layout: Layout, transfers: &[&[(u8, u8)]], gathers: &[Gather]) -> Ready<Avx2> {
        Ready::new(layout, transfers, gathers)
    }
}

impl Step for Ready<Avx2> {
    unsafe fn step(&self, work: Work) -> Tally {
        #[target_feature(enable = "avx2,bmi2,popcnt")]
        unsafe fn with_features(ready: &Ready<Avx2>, work: &Work<'_>) -> Tally {
            // SAFETY: the caller's promise.
            unsafe { step(ready, work) }
        }
        // SAFETY: `Program::new` has checked the processor, `Program::step` the block.
        unsafe { with_features(self, &work) }
    }
}

/// Two halves of 32 bytes.
#[derive(Clone, Copy)]
pub(super) struct Halves(pub(super) __m256i, pub(super) __m256i);

/// The index that a 16-byte shuffle turns into zero.
const NONE: u8 = 0x80;

/// One 16-byte piece of a source register and the bytes of a target half that come from it.
#[repr(align(32))]
struct Piece {
    bytes: [u8; 32],
    /// Offset of the piece in the concatenated source registers.
    offset: usize,
}

/// For each half of the target the pieces that it is made of; only those that matter.
pub(super) struct Pieces([Vec<Piece>; 2]);

impl Pieces {
    /// `source(lane)` is the byte of the concatenated source registers that goes to `lane`.
    fn new(source: impl Fn(usize) -> usize) -> Pieces {
        Pieces([0, 1].map(|half| {
            let mut pieces: Vec<Piece> = Vec::new();
            for i in (0..32).filter(|i| half * 32 + i < LANES) {
                let byte = source(half * 32 + i);
                let offset = byte / 16 * 16;
                let index = pieces
                    .iter()
                    .position(|p| p.offset == offset)
                    .unwrap_or_else(|| {
                        pieces.push(Piece {
                            bytes: [NONE; 32],
                            offset,
                        });
                        pieces.len() - 1
                    });
                pieces[index].bytes[i] = (byte % 16) as u8;
            }
            pieces
        }))
    }

    /// # Safety
    /// AVX2, and `from` points at the concatenated source registers.
    #[inline(always)]
    unsafe fn gather(&self, from: *const u8) -> Halves {
        // SAFETY: the caller's promise.
        unsafe { Halves(half(&self.0[0], from), half(&self.0[1], from)) }
    }
}

/// # Safety
/// AVX2, and `from` points at the concatenated source registers of the pieces.
#[inline(always)]
unsafe fn half(pieces: &[Piece], from: *const u8) -> __m256i {
    // SAFETY: the caller's promise; offsets come from `Pieces::new` and lie within the sources.
    unsafe {
        let mut value = _mm256_setzero_si256();
        for piece in pieces {
            let source = _mm_loadu_si128(from.add(piece.offset).cast());
            let shuffle = _mm256_load_si256(piece.bytes.as_ptr().cast());
            let bytes = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(source), shuffle);
            value = _mm256_or_si256(value, bytes);
        }
        value
    }
}

#[derive(Clone, Copy)]
pub(super) struct Sums {
    states: u64,
    checksum: __m256i,
}

impl Isa for Avx2 {
    type Reg = Halves;
    type LaneRow = Pieces;
    type CrossRow = Pieces;
    /// Left shift, right shift, target bits.
    type BitMap = (i64, i64, u8);
    type Sums = Sums;

    fn lane_row(row: &LaneRow) -> Pieces {
        Pieces::new(|lane| usize::from(row[lane]))
    }

    fn cross_row(row: &CrossRow) -> Pieces {
        Pieces::new(|lane| usize::from(row[lane]))
    }

    fn bit_maps(bits: &[(u8, u8)]) -> Vec<(i64, i64, u8)> {
        let split = split_by_shift(bits).into_iter();
        split
            .map(|(s, mask)| (i64::from(s.max(0)), i64::from((-s).max(0)), mask))
            .collect()
    }

    #[inline(always)]
    fn prefetch(at: *const Register) {
        // SAFETY: a prefetch reads nothing and never faults; every x86-64 processor has it.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
    }

    #[inline(always)]
    unsafe fn zero() -> Halves {
        // SAFETY: AVX2, the caller's promise.
        unsafe { Halves(_mm256_setzero_si256(), _mm256_setzero_si256()) }
    }

    #[inline(always)]
    unsafe fn load(from: *const Register) -> Halves {
        // SAFETY: the caller passes a valid register.
        unsafe {
            let from: *const __m256i = from.cast();
            Halves(_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1)))
        }
    }

    #[inline(always)]
    unsafe fn store(to: *mut Register, value: Halves) {
        // SAFETY: the caller passes a valid register.
        unsafe {
            let to: *mut __m256i = to.cast();
            _mm256_storeu_si256(to, value.0);
            _mm256_storeu_si256(to.add(1), value.1);
        }
    }

    #[inline(always)]
    unsafe fn and_not(a: Halves, b: Halves) -> Halves {
        // SAFETY: AVX2, the caller's promise.
        unsafe { Halves(_mm256_andnot_si256(b.0, a.0), _mm256_andnot_si256(b.1, a.1)) }
    }

    #[inline(always)]
    unsafe fn or(a: Halves, b: Halves) -> Halves {
        // SAFETY: AVX2, the caller's promise.
        unsafe { Halves(_mm256_or_si256(a.0, b.0), _mm256_or_si256(a.1, b.1)) }
    }

    #[inline(always)]
    unsafe fn permute(row: &Pieces, from: Halves) -> Halves {
        // SAFETY: AVX2, the caller's promise; a lane row has offsets below 64.
        unsafe { row.gather((&raw const from).cast()) }
    }

    #[inline(always)]
    unsafe fn select(row: &Pieces, from: &[Halves; GROUP]) -> Halves {
        // SAFETY: AVX2, the caller's promise; `check` has found the offsets below six registers.
        unsafe { row.gather(from.as_ptr().cast()) }
    }

    #[inline(always)]
    unsafe fn join(into: Halves, map: &(i64, i64, u8), from: Halves) -> Halves {
        // SAFETY: AVX2, the caller's promise. 16-bit shifts carry bits between bytes, but never to a
        // target bit: the source bit of every bit of the mask lies in the same byte.
        unsafe {
            let left = _mm_cvtsi64_si128(map.0);
            let right = _mm_cvtsi64_si128(map.1);
            let mask = _mm256_set1_epi8(map.2 as i8);
            let first = _mm256_srl_epi16(_mm256_sll_epi16(from.0, left), right);
            let second = _mm256_srl_epi16(_mm256_sll_epi16(from.1, left), right);
            Halves(
                _mm256_or_si256(into.0, _mm256_and_si256(first, mask)),
                _mm256_or_si256(into.1, _mm256_and_si256(second, mask)),
            )
        }
    }

    #[inline(always)]
    unsafe fn sums() -> Sums {
        // SAFETY: AVX2, the caller's promise.
        unsafe {
            Sums {
                states: 0,
                checksum: _mm256_setzero_si256(),
            }
        }
    }

    #[inline(always)]
    unsafe fn add(mut sums: Sums, register_key: u64, value: Halves) -> Sums {
        // SAFETY: AVX2, the caller's promise; LANE_KEYS is twice 32 bytes.
        unsafe {
            let keys: *const __m256i = LANE_KEYS.as_ptr().cast();
            let register_key = _mm256_set1_epi64x(register_key as i64);
            for (half, keys) in [(value.0, keys), (value.1, keys.add(1))] {
                let key = _mm256_xor_si256(register_key, _mm256_loadu_si256(keys));
                let low = _mm256_mul_epu32(half, key);
                let high =
                    _mm256_mul_epu32(_mm256_srli_epi64::<32>(half), _mm256_srli_epi64::<32>(key));
                sums.checksum = _mm256_add_epi64(sums.checksum, _mm256_add_epi64(low, high));
                let words: [u64; 4] = std::mem::transmute(half);
                for word in words {
                    sums.states += u64::from(word.count_ones());
                }
            }
        }
        sums
    }

    #[inline(always)]
    unsafe fn total(sums: Sums) -> Tally {
        // SAFETY: both are 32 plain bytes.
        let words: [u64; 4] = unsafe { std::mem::transmute(sums.checksum) };
        Tally {
            states: sums.states,
            checksum: words.iter().fold(0, |a, &w| a.wrapping_add(w)),
        }
    }
}
