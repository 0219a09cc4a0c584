//! The AVX2 kernel: lane permutations from 16-byte shuffles.

use std::arch::x86_64::*;

use crate::{
    kernel::isa::{Isa, Tally, instructions, split_by_shift},
    perm::{CrossRow, GROUP, LANE_KEYS, LANES, LaneRow, Register},
};

/// AVX2 (x86-64 processors from 2013 on).
pub(crate) struct Avx2;

/// Two halves of 32 bytes, one after the other: shuffles read pieces of them from memory.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Halves(__m256i, __m256i);

/// The index that a 16-byte shuffle turns into zero.
const NONE: u8 = 0x80;

/// One 16-byte piece of a source register, and the bytes of a target half that come from it.
#[repr(C, align(32))]
struct Piece {
    /// First, so that it has the alignment that loads need.
    bytes: [u8; 32],
    /// Offset of the piece in the concatenated source registers.
    offset: usize,
}

/// For each half of the target, the pieces of which it consists; only nonempty ones.
pub(crate) struct LanePieces([Vec<Piece>; 2]);

impl LanePieces {
    /// `source(lane)` is the byte of the concatenated source registers that goes to `lane`.
    fn new(source: impl Fn(usize) -> usize) -> LanePieces {
        LanePieces([0, 1].map(|half| {
            let mut pieces: Vec<Piece> = Vec::new();
            for i in (0..32).filter(|i| half * 32 + i < LANES) {
                let byte = source(half * 32 + i);
                let offset = byte / 16 * 16;
                let known = pieces.iter().position(|p| p.offset == offset);
                let index = known.unwrap_or_else(|| {
                    let bytes = [NONE; 32];
                    pieces.push(Piece { bytes, offset });
                    pieces.len() - 1
                });
                pieces[index].bytes[i] = (byte % 16) as u8;
            }
            pieces
        }))
    }
}

instructions! {
    fn gather(row: &LanePieces, from: *const u8) -> Halves {
        Halves(gather_half(&row.0[0], from), gather_half(&row.0[1], from))
    }
    fn gather_half(pieces: &[Piece], from: *const u8) -> __m256i {{
        let mut value = _mm256_setzero_si256();
        for piece in pieces {
            let source = _mm_loadu_si128(from.add(piece.offset).cast());
            let shuffle = _mm256_load_si256(piece.bytes.as_ptr().cast());
            let bytes = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(source), shuffle);
            value = _mm256_or_si256(value, bytes);
        }
        value
    }}
    fn spread_half(bits: u32) -> __m256i {{
        // Each byte receives the byte of its eight lanes, and keeps its own bit.
        let byte = _mm256_setr_epi64x(
            0,
            0x0101_0101_0101_0101,
            0x0202_0202_0202_0202,
            0x0303_0303_0303_0303,
        );
        let own = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
        let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(bits as i32), byte);
        _mm256_cmpeq_epi8(_mm256_and_si256(bytes, own), own)
    }}
    fn zero_lanes(half: __m256i) -> u32 {
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(half, _mm256_setzero_si256())) as u32
    }
}

#[derive(Clone, Copy)]
pub(crate) struct SumsAvx2 {
    states: u64,
    checksum: __m256i,
}

impl Isa for Avx2 {
    type Reg = Halves;
    type LaneRow = LanePieces;
    type CrossRow = LanePieces;
    /// Left shift, right shift, target bits.
    type BitMap = (u32, u32, u8);
    type Sums = SumsAvx2;

    fn lane_row(row: &LaneRow) -> LanePieces {
        LanePieces::new(|lane| usize::from(row[lane]))
    }

    fn cross_row(row: &CrossRow) -> LanePieces {
        LanePieces::new(|lane| usize::from(row[lane]))
    }

    fn bit_maps(bits: &[(u8, u8)]) -> Vec<(u32, u32, u8)> {
        split_by_shift(bits)
    }

    instructions! {
        fn splat(byte: u8) -> Halves {
            Halves(_mm256_set1_epi8(byte as i8), _mm256_set1_epi8(byte as i8))
        }
        fn load(from: *const Register) -> Halves {{
            let from: *const __m256i = from.cast();
            Halves(_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1)))
        }}
        fn store(to: *mut Register, value: Halves) {{
            let to: *mut __m256i = to.cast();
            _mm256_storeu_si256(to, value.0);
            _mm256_storeu_si256(to.add(1), value.1);
        }}
        fn spread(bits: u64) -> Halves {
            Halves(spread_half(bits as u32), spread_half((bits >> 32) as u32))
        }
        fn and(a: Halves, b: Halves) -> Halves {
            Halves(_mm256_and_si256(a.0, b.0), _mm256_and_si256(a.1, b.1))
        }
        fn and_not(a: Halves, b: Halves) -> Halves {
            Halves(_mm256_andnot_si256(b.0, a.0), _mm256_andnot_si256(b.1, a.1))
        }
        fn or(a: Halves, b: Halves) -> Halves {
            Halves(_mm256_or_si256(a.0, b.0), _mm256_or_si256(a.1, b.1))
        }
        fn permute(row: &LanePieces, from: Halves) -> Halves { gather(row, (&raw const from).cast()) }
        fn select(row: &LanePieces, from: &[Halves; GROUP]) -> Halves { gather(row, from.as_ptr().cast()) }
        // 16-bit shifts carry bits between bytes, but never into a target bit: the source bit of every bit of the mask
        // is in the same byte.
        fn join(into: Halves, map: &(u32, u32, u8), from: Halves) -> Halves {{
            let left = _mm_cvtsi32_si128(map.0 as i32);
            let right = _mm_cvtsi32_si128(map.1 as i32);
            let mask = _mm256_set1_epi8(map.2 as i8);
            let first = _mm256_srl_epi16(_mm256_sll_epi16(from.0, left), right);
            let second = _mm256_srl_epi16(_mm256_sll_epi16(from.1, left), right);
            Halves(
                _mm256_or_si256(into.0, _mm256_and_si256(first, mask)),
                _mm256_or_si256(into.1, _mm256_and_si256(second, mask)),
            )
        }}
        fn sums() -> SumsAvx2 { SumsAvx2 { states: 0, checksum: _mm256_setzero_si256() } }
        fn add(sums: SumsAvx2, register_key: u64, value: Halves) -> SumsAvx2 {{
            let mut sums = sums;
            let keys: *const __m256i = LANE_KEYS.as_ptr().cast();
            let register_key = _mm256_set1_epi64x(register_key as i64);
            for (half, keys) in [(value.0, keys), (value.1, keys.add(1))] {
                let key = _mm256_xor_si256(register_key, _mm256_loadu_si256(keys));
                let low = _mm256_mul_epu32(half, key);
                let high = _mm256_mul_epu32(_mm256_srli_epi64::<32>(half), _mm256_srli_epi64::<32>(key));
                sums.checksum = _mm256_add_epi64(sums.checksum, _mm256_add_epi64(low, high));
                let words: [u64; 4] = std::mem::transmute(half);
                for word in words {
                    sums.states += u64::from(word.count_ones());
                }
            }
            sums
        }}
        fn total(sums: SumsAvx2) -> Tally {{
            let words: [u64; 4] = std::mem::transmute(sums.checksum);
            let checksum = words.iter().fold(0u64, |sum, &word| sum.wrapping_add(word));
            Tally { states: sums.states, checksum }
        }}
        fn lanes(a: Halves) -> u64 {
            !(u64::from(zero_lanes(a.0)) | u64::from(zero_lanes(a.1)) << 32)
        }
    }
}
