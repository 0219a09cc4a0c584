//! Rows of 60 lanes in AVX-512 registers.
//!
//! Invariant: equal to the plain functions of [`RansIsa`], bit for bit. The contents of the last four lanes are never
//! written.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use crate::{
    kernel::Avx512,
    perm::{LANES, Register},
    store::codec::rans_table::{
        Backward, Forward, HELD, RansIsa, RansStates, RowSource, RowTarget, Streams, SymbolTable,
    },
};

/// All bits of the lanes that contain lines.
const IN_LANES: Register = {
    let mut all = [0; 64];
    let mut lane = 0;
    while lane < LANES {
        all[lane] = 255;
        lane += 1;
    }
    all
};

/// The states of 60 lanes, low and high bytes.
#[derive(Clone, Copy)]
struct RansLanesAvx512 {
    low: __m512i,
    high: __m512i,
}

#[inline(always)]
fn load(bytes: &Register) -> __m512i {
    // SAFETY: both are 64 bytes for which every value is valid.
    unsafe { std::mem::transmute(*bytes) }
}

#[inline(always)]
fn store(value: __m512i, to: &mut Register) {
    // SAFETY: as above.
    *to = unsafe { std::mem::transmute::<__m512i, Register>(value) };
}

impl RansLanesAvx512 {
    #[inline(always)]
    fn load(states: &RansStates) -> RansLanesAvx512 {
        RansLanesAvx512 { low: load(&states.low), high: load(&states.high) }
    }

    #[inline(always)]
    fn store(self, states: &mut RansStates) {
        store(self.low, &mut states.low);
        store(self.high, &mut states.high);
    }
}

/// Looks up bytes in a table of 256.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn look_up(table: &[u8; 256], at: __m512i) -> __m512i {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| load(&table.as_chunks().0[i]));
    let low = _mm512_permutex2var_epi8(a, at, b);
    let high = _mm512_permutex2var_epi8(c, at, d);
    _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), low, high)
}

/// The even bytes of one register and the odd bytes of another.
///
/// Pairs of bytes are treated as words in place, with shifts and selections: unpack and pack instructions would all
/// wait for the single shuffle port, which the lookups already need.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn even_odd(even: __m512i, odd: __m512i) -> __m512i {
    _mm512_ternarylogic_epi32::<0xca>(_mm512_set1_epi16(255), even, odd)
}

/// Moves a byte of each word to its upper half.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn up(bytes: __m512i) -> __m512i {
    _mm512_slli_epi16::<8>(bytes)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn down(bytes: __m512i) -> __m512i {
    _mm512_srli_epi16::<8>(bytes)
}

/// The even bytes as words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn even(bytes: __m512i) -> __m512i {
    _mm512_and_si512(bytes, _mm512_set1_epi16(255))
}

/// Writes the bytes of some lanes before the existing ones.
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

/// Reads a byte for each of some lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2,popcnt")]
fn pull(from: &mut Forward, lanes: u64, into: __m512i) -> __m512i {
    let rest = from.rest();
    let there = _bzhi_u64(!0, rest.len().min(64) as u32);
    // No branch at the end: a function called there would require saving all registers at every row.
    // SAFETY: the mask selects no bytes after the end of the slice.
    let next = unsafe { _mm512_maskz_loadu_epi8(there, rest.as_ptr().cast()) };
    from.at += lanes.count_ones() as usize;
    _mm512_mask_expand_epi8(into, lanes, next)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn encode_row(
    row: &Register,
    table: &SymbolTable,
    state: RansLanesAvx512,
    stream: &mut Backward,
    escaped: &mut Backward,
) -> RansLanesAvx512 {
    let symbol = load(row);
    let index = look_up(&table.index, symbol);
    let look_up = |table| _mm512_permutexvar_epi8(index, load(table));
    let (share, start) = (look_up(&table.share), look_up(&table.start));
    let inverse = table.inverse.each_ref().map(look_up);
    let escapes = _mm512_mask_testn_epi8_mask(HELD, index, index);
    push(escaped, escapes, symbol);
    let full = _mm512_mask_cmpge_epu8_mask(HELD, state.high, share);
    push(stream, full, state.low);
    let low = _mm512_mask_mov_epi8(state.low, full, state.high);
    let high = _mm512_maskz_mov_epi8(!full, state.high);
    // Quotient and remainder: the estimate is at most one too low.
    let divide = |state, inverse, share| {
        let quotient = _mm512_mulhi_epu16(state, inverse);
        let remainder = _mm512_sub_epi16(state, _mm512_mullo_epi16(quotient, share));
        let beyond = _mm512_sub_epi16(remainder, share);
        let more = _mm512_add_epi16(quotient, _mm512_set1_epi16(1));
        (
            _mm512_sub_epi16(more, _mm512_srli_epi16::<15>(beyond)),
            _mm512_min_epu16(remainder, beyond),
        )
    };
    let (quotient_a, remainder_a) =
        divide(even_odd(low, up(high)), even_odd(inverse[0], up(inverse[1])), even(share));
    let (quotient_b, remainder_b) =
        divide(even_odd(down(low), high), even_odd(down(inverse[0]), inverse[1]), down(share));
    // All four are bytes.
    RansLanesAvx512 {
        high: _mm512_or_si512(quotient_a, up(quotient_b)),
        low: _mm512_add_epi8(_mm512_or_si512(remainder_a, up(remainder_b)), start),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn decode_row(
    row: &mut Register,
    table: &SymbolTable,
    state: RansLanesAvx512,
    stream: &mut Forward,
    escaped: &mut Forward,
) -> RansLanesAvx512 {
    let index = look_up(&table.index, state.low);
    let look_up = |table| _mm512_permutexvar_epi8(index, load(table));
    let (symbol, share) = (look_up(&table.symbol), look_up(&table.share));
    let within = _mm512_sub_epi8(state.low, look_up(&table.start));
    // Share times high byte, plus the offset of the slot within the share.
    let next = |high, share, within| _mm512_add_epi16(_mm512_mullo_epi16(high, share), within);
    let a = next(even(state.high), even(share), even(within));
    let b = next(down(state.high), down(share), down(within));
    let (low, high) = (even_odd(a, up(b)), even_odd(down(a), b));
    let less = _mm512_mask_testn_epi8_mask(HELD, high, high);
    let escapes = _mm512_mask_testn_epi8_mask(HELD, index, index);
    let symbol = pull(escaped, escapes, symbol);
    store(_mm512_and_si512(symbol, load(&IN_LANES)), row);
    RansLanesAvx512 { high: _mm512_mask_mov_epi8(high, less, low), low: pull(stream, less, low) }
}

impl RansIsa for Avx512 {
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
    unsafe fn encode(source: &impl RowSource, to: &mut Streams<Backward>) {
        let [mut even, mut odd] = to.states.each_ref().map(RansLanesAvx512::load);
        // Held here, not behind references, and without a closure that takes both states: that would be called, and
        // everything would be in memory.
        let [mut stream, mut escaped] = [&mut *to.stream, &mut *to.escaped].map(std::mem::take);
        let rows = source.rows();
        for i in (0..rows.next_multiple_of(2)).rev().step_by(2) {
            if i < rows {
                let (row, table) = source.row(i);
                odd = encode_row(row, table, odd, &mut stream, &mut escaped);
            }
            let (row, table) = source.row(i - 1);
            even = encode_row(row, table, even, &mut stream, &mut escaped);
        }
        (*to.stream, *to.escaped) = (stream, escaped);
        even.store(&mut to.states[0]);
        odd.store(&mut to.states[1]);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
    unsafe fn decode(target: &mut impl RowTarget, from: &mut Streams<Forward>) {
        let [mut even, mut odd] = from.states.each_ref().map(RansLanesAvx512::load);
        let (mut stream, mut escaped) = (*from.stream, *from.escaped);
        let rows = target.rows();
        // As in encode.
        for i in (0..rows).step_by(2) {
            let (row, table) = target.row(i);
            even = decode_row(row, table, even, &mut stream, &mut escaped);
            if i + 1 < rows {
                let (row, table) = target.row(i + 1);
                odd = decode_row(row, table, odd, &mut stream, &mut escaped);
            }
        }
        (*from.stream, *from.escaped) = (stream, escaped);
        even.store(&mut from.states[0]);
        odd.store(&mut from.states[1]);
    }

    #[target_feature(enable = "avx512f,avx512bw,popcnt")]
    unsafe fn count_held(registers: &[Register], held: &mut [u8]) {
        for (register, held) in registers.iter().zip(held) {
            let bytes = load(register);
            *held = _mm512_test_epi8_mask(bytes, bytes).count_ones() as u8;
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
    unsafe fn gather_held(register: &Register, to: &mut Register) {
        let bytes = load(register);
        let held = _mm512_test_epi8_mask(bytes, bytes);
        store(_mm512_maskz_compress_epi8(held, bytes), to);
    }

    #[target_feature(enable = "avx512f,avx512bw,popcnt")]
    unsafe fn list(bytes: &[u8], zeros: bool, to: &mut Vec<u32>) {
        to.resize(bytes.len() + 64, 0);
        let mut next = 0;
        for (bytes, first) in bytes.chunks(64).zip((0..).step_by(64)) {
            let there = u64::MAX >> (64 - bytes.len());
            // SAFETY: the mask selects the bytes of the slice.
            let bytes = unsafe { _mm512_maskz_loadu_epi8(there, bytes.as_ptr().cast()) };
            let mask = match zeros {
                true => _mm512_mask_testn_epi8_mask(there, bytes, bytes),
                false => _mm512_test_epi8_mask(bytes, bytes),
            };
            for part in 0..4 {
                let mask = (mask >> (16 * part)) as u16;
                let numbers =
                    _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                let numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(first + 16 * part));
                let some = _mm512_maskz_compress_epi32(mask, numbers);
                let room: &mut [u32; 16] =
                    to[next..].first_chunk_mut().expect("64 beyond the last");
                // SAFETY: the buffer has that many bytes.
                unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), some) };
                next += mask.count_ones() as usize;
            }
        }
        to.truncate(next);
    }
}
