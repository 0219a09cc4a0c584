//! The AVX-512 kernel: one instruction per lane permutation (VBMI), one per bit map (GFNI), and a vector population
//! count.

use std::arch::x86_64::*;

use crate::{
    kernel::isa::{Isa, Tally, instructions, split_by_target},
    perm::{CrossRow, GROUP, LANE_KEYS, LANES, LaneRow, PAD_LANE, Register},
};

/// AVX-512 F, BW, DQ, VBMI, VPOPCNTDQ and GFNI (Intel from Ice Lake, AMD from Zen 4).
pub(crate) struct Avx512;

/// Three lane selections, each from two registers; lanes that come from a different pair select a padding lane, which
/// is zero.
#[repr(C, align(64))]
pub(crate) struct Pairs([[u8; 64]; GROUP / 2]);

#[repr(C, align(64))]
pub(crate) struct LanePermutation(LaneRow);

#[derive(Clone, Copy)]
pub(crate) struct SumsAvx512 {
    states: __m512i,
    checksum: __m512i,
}

impl Isa for Avx512 {
    type Reg = __m512i;
    type LaneRow = LanePermutation;
    type CrossRow = Pairs;
    /// An 8 x 8 bit matrix.
    type BitMap = u64;
    type Sums = SumsAvx512;

    fn lane_row(row: &LaneRow) -> LanePermutation {
        LanePermutation(*row)
    }

    fn cross_row(row: &CrossRow) -> Pairs {
        let mut pairs = [[PAD_LANE; 64]; GROUP / 2];
        for (lane, &byte) in row[..LANES].iter().enumerate() {
            pairs[usize::from(byte) / 128][lane] = (byte % 128) as u8;
        }
        Pairs(pairs)
    }

    /// GF2P8AFFINEQB: byte 7 - i of the matrix selects the source bits for target bit i.
    fn bit_maps(bits: &[(u8, u8)]) -> Vec<u64> {
        let matrix = |map: &Vec<(u8, u8)>| {
            map.iter().fold(0, |matrix, &(from, to)| matrix | 1 << (8 * (7 - to) + from))
        };
        split_by_target(bits).iter().map(matrix).collect()
    }

    instructions! {
        fn splat(byte: u8) -> __m512i { _mm512_set1_epi8(byte as i8) }
        fn load(from: *const Register) -> __m512i { _mm512_loadu_si512(from.cast()) }
        fn store(to: *mut Register, value: __m512i) { _mm512_storeu_si512(to.cast(), value) }
        fn spread(bits: u64) -> __m512i { _mm512_movm_epi8(bits) }
        fn and(a: __m512i, b: __m512i) -> __m512i { _mm512_and_si512(a, b) }
        fn and_not(a: __m512i, b: __m512i) -> __m512i { _mm512_andnot_si512(b, a) }
        fn or(a: __m512i, b: __m512i) -> __m512i { _mm512_or_si512(a, b) }
        fn permute(row: &LanePermutation, from: __m512i) -> __m512i {
            _mm512_permutexvar_epi8(_mm512_load_si512(row.0.as_ptr().cast()), from)
        }
        fn select(row: &Pairs, from: &[__m512i; GROUP]) -> __m512i {{
            let row: *const __m512i = row.0.as_ptr().cast();
            let a = _mm512_permutex2var_epi8(from[0], _mm512_load_si512(row), from[1]);
            let b = _mm512_permutex2var_epi8(from[2], _mm512_load_si512(row.add(1)), from[3]);
            let c = _mm512_permutex2var_epi8(from[4], _mm512_load_si512(row.add(2)), from[5]);
            _mm512_ternarylogic_epi64::<0xfe>(a, b, c)
        }}
        fn join(into: __m512i, map: &u64, from: __m512i) -> __m512i {{
            let map = _mm512_set1_epi64(*map as i64);
            _mm512_or_si512(into, _mm512_gf2p8affine_epi64_epi8::<0>(from, map))
        }}
        fn sums() -> SumsAvx512 {
            SumsAvx512 { states: _mm512_setzero_si512(), checksum: _mm512_setzero_si512() }
        }
        fn add(sums: SumsAvx512, register_key: u64, value: __m512i) -> SumsAvx512 {{
            let lanes = _mm512_loadu_si512(LANE_KEYS.as_ptr().cast());
            let key = _mm512_xor_si512(_mm512_set1_epi64(register_key as i64), lanes);
            let low = _mm512_mul_epu32(value, key);
            let high = _mm512_mul_epu32(_mm512_srli_epi64::<32>(value), _mm512_srli_epi64::<32>(key));
            SumsAvx512 {
                states: _mm512_add_epi64(sums.states, _mm512_popcnt_epi64(value)),
                checksum: _mm512_add_epi64(_mm512_add_epi64(sums.checksum, low), high),
            }
        }}
        fn total(sums: SumsAvx512) -> Tally {
            Tally {
                states: _mm512_reduce_add_epi64(sums.states) as u64,
                checksum: _mm512_reduce_add_epi64(sums.checksum) as u64,
            }
        }
        fn lanes(a: __m512i) -> u64 { _mm512_test_epi8_mask(a, a) }
        fn take_bits(row: &[u8; 64], lanes: u64, word: u64) -> u64 {{
            let from = _mm512_loadu_si512(row.as_ptr().cast());
            _mm512_movepi8_mask(_mm512_maskz_permutexvar_epi8(lanes, from, _mm512_movm_epi8(word)))
        }}
        fn gather_bits(word: u64, mask: u64) -> u64 { _pext_u64(word, mask) }
        fn scatter_bits(word: u64, mask: u64) -> u64 { _pdep_u64(word, mask) }
    }
}
