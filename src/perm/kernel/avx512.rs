//! The AVX-512 kernel: one instruction per lane permutation (VBMI), one per bit map (GFNI), a vector
//! population count.

use std::arch::x86_64::*;

use super::program::{Step, Tally};
use super::step::{Isa, Ready, Work, split_by_target, step};
use crate::perm::checksum::LANE_KEYS;
use crate::perm::gather::{CrossRow, Gather, LaneRow};
use crate::perm::layout::{GROUP, LANES, Layout, PAD_LANE, Register};

/// AVX-512 F, BW, DQ, VBMI, VPOPCNTDQ and GFNI (Intel from Ice Lake, AMD from Zen 4).
pub(super) struct Avx512;

impl Avx512 {
    pub fn ready(layout: Layout, transfers: &[&[(u8, u8)]], gathers: &[Gather]) -> Ready<Avx512> {
        Ready::new(layout, transfers, gathers)
    }
}

impl Step for Ready<Avx512> {
    unsafe fn step(&self, work: Work) -> Tally {
        #[target_feature(
            enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vpopcntdq,gfni,bmi2,popcnt"
        )]
        unsafe fn with_features(ready: &Ready<Avx512>, work: &Work<'_>) -> Tally {
            // SAFETY: the caller's promise.
            unsafe { step(ready, work) }
        }
        // SAFETY: `Program::new` has checked the processor, `Program::step` the block.
        unsafe { with_features(self, &work) }
    }
}

/// Three lane selections, each from two registers; lanes that come from another pair select a padding
/// lane, which is zero.
#[repr(align(64))]
pub(super) struct Pairs([[u8; 64]; GROUP / 2]);

#[repr(align(64))]
pub(super) struct Lanes(LaneRow);

#[derive(Clone, Copy)]
pub(super) struct Sums {
    states: __m512i,
    checksum: __m512i,
}

impl Isa for Avx512 {
    type Reg = __m512i;
    type LaneRow = Lanes;
    type CrossRow = Pairs;
    /// An 8 x 8 bit matrix.
    type BitMap = u64;
    type Sums = Sums;

    fn lane_row(row: &LaneRow) -> Lanes {
        Lanes(*row)
    }

    fn cross_row(row: &CrossRow) -> Pairs {
        let mut pairs = [[PAD_LANE; 64]; GROUP / 2];
        for (lane, &byte) in row[..LANES].iter().enumerate() {
            pairs[usize::from(byte) / 128][lane] = (byte % 128) as u8;
        }
        Pairs(pairs)
    }

    /// GF2P8AFFINEQB: byte 7 - i of the matrix selects the source bits of target bit i.
    fn bit_maps(bits: &[(u8, u8)]) -> Vec<u64> {
        let matrix = |map: &Vec<(u8, u8)>| {
            map.iter()
                .fold(0, |matrix, &(from, to)| matrix | 1 << (8 * (7 - to) + from))
        };
        split_by_target(bits).iter().map(matrix).collect()
    }

    #[inline(always)]
    fn prefetch(at: *const Register) {
        // SAFETY: a prefetch reads nothing and never faults; every x86-64 processor has it.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
    }

    #[inline(always)]
    unsafe fn zero() -> __m512i {
        // SAFETY: AVX-512 F, the caller's promise.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    unsafe fn load(from: *const Register) -> __m512i {
        // SAFETY: the caller passes a valid register.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(to: *mut Register, value: __m512i) {
        // SAFETY: the caller passes a valid register.
        unsafe { _mm512_storeu_si512(to.cast(), value) }
    }

    #[inline(always)]
    unsafe fn and_not(a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: AVX-512 F, the caller's promise.
        unsafe { _mm512_andnot_si512(b, a) }
    }

    #[inline(always)]
    unsafe fn or(a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: AVX-512 F, the caller's promise.
        unsafe { _mm512_or_si512(a, b) }
    }

    #[inline(always)]
    unsafe fn permute(row: &Lanes, from: __m512i) -> __m512i {
        // SAFETY: AVX-512 VBMI, the caller's promise; the row is 64 bytes.
        unsafe { _mm512_permutexvar_epi8(_mm512_load_si512(row.0.as_ptr().cast()), from) }
    }

    #[inline(always)]
    unsafe fn select(row: &Pairs, from: &[__m512i; GROUP]) -> __m512i {
        // SAFETY: AVX-512 VBMI, the caller's promise; the rows are 64 bytes each.
        unsafe {
            let row = |i: usize| row.0[i].as_ptr().cast();
            let a = _mm512_permutex2var_epi8(from[0], _mm512_load_si512(row(0)), from[1]);
            let b = _mm512_permutex2var_epi8(from[2], _mm512_load_si512(row(1)), from[3]);
            let c = _mm512_permutex2var_epi8(from[4], _mm512_load_si512(row(2)), from[5]);
            _mm512_ternarylogic_epi64::<0xfe>(a, b, c)
        }
    }

    #[inline(always)]
    unsafe fn join(into: __m512i, map: &u64, from: __m512i) -> __m512i {
        // SAFETY: GFNI with AVX-512, the caller's promise.
        unsafe {
            let map = _mm512_set1_epi64(*map as i64);
            _mm512_or_si512(into, _mm512_gf2p8affine_epi64_epi8::<0>(from, map))
        }
    }

    #[inline(always)]
    unsafe fn sums() -> Sums {
        // SAFETY: AVX-512 F, the caller's promise.
        unsafe {
            Sums {
                states: _mm512_setzero_si512(),
                checksum: _mm512_setzero_si512(),
            }
        }
    }

    #[inline(always)]
    unsafe fn add(sums: Sums, register_key: u64, value: __m512i) -> Sums {
        // SAFETY: AVX-512 F and VPOPCNTDQ, the caller's promise; LANE_KEYS is 64 bytes.
        unsafe {
            let lanes = _mm512_loadu_si512(LANE_KEYS.as_ptr().cast());
            let key = _mm512_xor_si512(_mm512_set1_epi64(register_key as i64), lanes);
            let low = _mm512_mul_epu32(value, key);
            let high =
                _mm512_mul_epu32(_mm512_srli_epi64::<32>(value), _mm512_srli_epi64::<32>(key));
            Sums {
                states: _mm512_add_epi64(sums.states, _mm512_popcnt_epi64(value)),
                checksum: _mm512_add_epi64(_mm512_add_epi64(sums.checksum, low), high),
            }
        }
    }

    #[inline(always)]
    unsafe fn total(sums: Sums) -> Tally {
        // SAFETY: AVX-512 F, the caller's promise.
        unsafe {
            Tally {
                states: _mm512_reduce_add_epi64(sums.states) as u64,
                checksum: _mm512_reduce_add_epi64(sums.checksum) as u64,
            }
        }
    }
}
