//! Rows of 60 lanes in registers of AVX-512.
//!
//! Invariant: equal to [`super::scalar`] bit for bit. What the four lanes beyond them hold is never written.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::bytes::{Backward, Forward};
use super::rows::{HELD, Read, Source, States, Target, Written};
use super::table::Table;
use crate::perm::layout::Register;

/// The states of 60 lanes, low and high bytes.
#[derive(Clone, Copy)]
struct Lanes {
    low: __m512i,
    high: __m512i,
}

#[inline(always)]
fn load(bytes: &Register) -> __m512i {
    // SAFETY: both are 64 bytes of which every value is one of the type.
    unsafe { std::mem::transmute(*bytes) }
}

#[inline(always)]
fn store(value: __m512i, to: &mut Register) {
    // SAFETY: as above.
    *to = unsafe { std::mem::transmute::<__m512i, Register>(value) };
}

impl Lanes {
    #[inline(always)]
    fn load(states: &States) -> Lanes {
        Lanes {
            low: load(&states.low),
            high: load(&states.high),
        }
    }

    #[inline(always)]
    fn store(self, states: &mut States) {
        store(self.low, &mut states.low);
        store(self.high, &mut states.high);
    }
}

/// Looks bytes up in a table of 256.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn look_up(table: &[u8; 256], at: __m512i) -> __m512i {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| load(&table.as_chunks().0[i]));
    let low = _mm512_permutex2var_epi8(a, at, b);
    let high = _mm512_permutex2var_epi8(c, at, d);
    _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), low, high)
}

/// Writes the bytes of some lanes in front of what is there.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2,popcnt")]
fn push(to: &mut Backward, lanes: u64, bytes: __m512i) {
    let count = lanes.count_ones();
    let front = to.front(count as usize);
    let packed = _mm512_maskz_compress_epi8(lanes, bytes);
    // SAFETY: the mask selects as many bytes as the slice has.
    unsafe {
        _mm512_mask_storeu_epi8(front.as_mut_ptr().cast(), _bzhi_u64(!0, count), packed);
    }
}

/// Takes a byte for each of some lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
fn pull(from: &mut Forward, lanes: u64, into: __m512i) -> __m512i {
    let next = match from.next_64() {
        Some(next) => load(next),
        None => load(&from.last()),
    };
    from.at += lanes.count_ones() as usize;
    _mm512_mask_expand_epi8(into, lanes, next)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn encode_row(
    row: &Register,
    table: &Table,
    state: &mut Lanes,
    stream: &mut Backward,
    escaped: &mut Backward,
) {
    let symbol = load(row);
    let index = look_up(&table.index, symbol);
    let look_up = |table| _mm512_permutexvar_epi8(index, load(table));
    let (share, start) = (look_up(&table.share), look_up(&table.start));
    let inverse = table.inverse.each_ref().map(look_up);
    push(escaped, _mm512_testn_epi8_mask(index, index) & HELD, symbol);
    let full = _mm512_cmpge_epu8_mask(state.high, share) & HELD;
    push(stream, full, state.low);
    let low = _mm512_mask_mov_epi8(state.low, full, state.high);
    let high = _mm512_maskz_mov_epi8(!full, state.high);
    // Quotient and remainder: the estimate is at most one too low.
    let divide = |state, inverse, share| {
        let quotient = _mm512_mulhi_epu16(state, inverse);
        let remainder = _mm512_sub_epi16(state, _mm512_mullo_epi16(quotient, share));
        let beyond = _mm512_sub_epi16(remainder, share);
        let is_less = _mm512_srai_epi16::<15>(beyond);
        let more = _mm512_andnot_si512(is_less, _mm512_set1_epi16(1));
        (
            _mm512_add_epi16(quotient, more),
            _mm512_min_epu16(remainder, beyond),
        )
    };
    let zero = _mm512_setzero_si512();
    let (quotient_a, remainder_a) = divide(
        _mm512_unpacklo_epi8(low, high),
        _mm512_unpacklo_epi8(inverse[0], inverse[1]),
        _mm512_unpacklo_epi8(share, zero),
    );
    let (quotient_b, remainder_b) = divide(
        _mm512_unpackhi_epi8(low, high),
        _mm512_unpackhi_epi8(inverse[0], inverse[1]),
        _mm512_unpackhi_epi8(share, zero),
    );
    state.high = _mm512_packus_epi16(quotient_a, quotient_b);
    state.low = _mm512_add_epi8(_mm512_packus_epi16(remainder_a, remainder_b), start);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
fn decode_row(
    row: &mut Register,
    table: &Table,
    state: &mut Lanes,
    stream: &mut Forward,
    escaped: &mut Forward,
) {
    let index = look_up(&table.index, state.low);
    let look_up = |table| _mm512_permutexvar_epi8(index, load(table));
    let (symbol, share) = (look_up(&table.symbol), look_up(&table.share));
    let within = _mm512_sub_epi8(state.low, look_up(&table.start));
    let (zero, byte) = (_mm512_setzero_si512(), _mm512_set1_epi16(255));
    // Share times high byte, and what the slot is within the share; these two come as one word.
    let next = |high, both| {
        let product = _mm512_mullo_epi16(high, _mm512_srli_epi16::<8>(both));
        _mm512_add_epi16(product, _mm512_and_si512(both, byte))
    };
    let a = next(
        _mm512_unpacklo_epi8(state.high, zero),
        _mm512_unpacklo_epi8(within, share),
    );
    let b = next(
        _mm512_unpackhi_epi8(state.high, zero),
        _mm512_unpackhi_epi8(within, share),
    );
    let low = _mm512_packus_epi16(_mm512_and_si512(a, byte), _mm512_and_si512(b, byte));
    let high = _mm512_packus_epi16(_mm512_srli_epi16::<8>(a), _mm512_srli_epi16::<8>(b));
    let less = _mm512_testn_epi8_mask(high, high) & HELD;
    state.high = _mm512_mask_mov_epi8(high, less, low);
    state.low = pull(stream, less, low);
    let escapes = _mm512_testn_epi8_mask(index, index) & HELD;
    let symbol = pull(escaped, escapes, symbol);
    store(_mm512_maskz_mov_epi8(HELD, symbol), row);
}

/// # Safety
/// The processor has the instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) unsafe fn encode(source: &impl Source, to: &mut Written) {
    let mut lanes = to.states.each_ref().map(Lanes::load);
    let mut i = source.rows();
    let mut one = |i: usize, lanes: &mut Lanes| {
        let (row, table) = source.row(i);
        encode_row(row, table, lanes, to.stream, to.escaped);
    };
    if i % 2 == 1 {
        i -= 1;
        one(i, &mut lanes[0]);
    }
    while i > 0 {
        i -= 2;
        one(i + 1, &mut lanes[1]);
        one(i, &mut lanes[0]);
    }
    lanes[0].store(&mut to.states[0]);
    lanes[1].store(&mut to.states[1]);
}

/// # Safety
/// The processor has the instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) unsafe fn decode(target: &mut impl Target, from: &mut Read) {
    let mut lanes = from.states.each_ref().map(Lanes::load);
    let rows = target.rows();
    let mut one = |i: usize, lanes: &mut Lanes| {
        let (row, table) = target.row(i);
        decode_row(row, table, lanes, from.stream, from.escaped);
    };
    for i in (0..rows / 2 * 2).step_by(2) {
        one(i, &mut lanes[0]);
        one(i + 1, &mut lanes[1]);
    }
    if rows % 2 == 1 {
        one(rows - 1, &mut lanes[0]);
    }
    lanes[0].store(&mut from.states[0]);
    lanes[1].store(&mut from.states[1]);
}

/// # Safety
/// The processor has the instructions.
#[target_feature(enable = "avx512f,avx512bw,popcnt")]
pub(super) unsafe fn count_held(registers: &[Register], held: &mut [u8]) {
    for (register, held) in registers.iter().zip(held) {
        let bytes = load(register);
        *held = _mm512_test_epi8_mask(bytes, bytes).count_ones() as u8;
    }
}

/// # Safety
/// The processor has the instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
pub(super) unsafe fn gather_held(register: &Register, to: &mut Register) {
    let bytes = load(register);
    let held = _mm512_test_epi8_mask(bytes, bytes);
    store(_mm512_maskz_compress_epi8(held, bytes), to);
}
