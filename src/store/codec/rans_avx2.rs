//! Rows of 60 lanes in registers of AVX2, eight lanes at a time.
//!
//! Invariant: equal to [`crate::store::codec::rans_scalar`] bit for bit. What the four lanes beyond them hold is never written.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use crate::perm::layout::{LANES, Register};
use crate::store::codec::rans_table::{
    Backward, Forward, RansStates, RansStreams, Read, RowSource, RowTarget, SymbolTable,
};

pub(super) use crate::store::codec::rans_scalar::{gather_held, list};

/// Lanes of a vector.
const WIDE: usize = 8;

/// The states of 60 lanes, and of four that are never used.
#[repr(align(32))]
struct RansLanesAvx2([u32; 64]);

impl RansLanesAvx2 {
    fn load(states: &RansStates) -> RansLanesAvx2 {
        let state = |lane| u16::from_le_bytes([states.low[lane], states.high[lane]]);
        RansLanesAvx2(std::array::from_fn(|lane| state(lane).into()))
    }

    fn store(&self, states: &mut RansStates) {
        for (lane, &state) in self.0.iter().enumerate() {
            [states.low[lane], states.high[lane]] = (state as u16).to_le_bytes();
        }
    }
}

/// For each set of lanes a lane's place among those in the set, a byte each.
const EXPAND: [u64; 256] = {
    let mut all = [0; 256];
    let mut set = 0;
    while set < 256 {
        let (mut lane, mut place) = (0, 0);
        while lane < WIDE {
            all[set] |= place << (8 * lane);
            place += (set >> lane & 1) as u64;
            lane += 1;
        }
        set += 1;
    }
    all
};

/// For each set of lanes these in order, a byte each, the last one highest.
const COMPRESS: [u64; 256] = {
    let mut all = [0; 256];
    let mut set = 0;
    while set < 256 {
        let (mut lane, mut place) = (WIDE, WIDE);
        while lane > 0 {
            lane -= 1;
            if set >> lane & 1 == 1 {
                place -= 1;
                all[set] |= (lane as u64) << (8 * place);
            }
        }
        set += 1;
    }
    all
};

/// The lanes of a vector that hold lines.
const fn held(vector: usize) -> u32 {
    match vector < LANES / WIDE {
        true => 255,
        false => (1 << (LANES % WIDE)) - 1,
    }
}

/// Eight bytes as lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes_of(bytes: u64) -> __m256i {
    _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(bytes as i64))
}

/// The lowest byte of each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn bytes_of(lanes: __m256i) -> u64 {
    let words = _mm256_packus_epi32(lanes, lanes);
    let bytes = _mm256_packus_epi16(words, words);
    let halves = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 0, 4, 0, 4, 0, 4));
    _mm_cvtsi128_si64(_mm256_castsi256_si128(halves)) as u64
}

#[inline]
#[target_feature(enable = "avx2")]
fn set_of(lanes: __m256i) -> u32 {
    _mm256_movemask_ps(_mm256_castsi256_ps(lanes)) as u32
}

#[inline]
#[target_feature(enable = "avx2")]
fn look_up(table: &SymbolTable, at: __m256i) -> __m256i {
    // SAFETY: the lanes are bytes, and the table has 256 entries.
    unsafe { _mm256_i32gather_epi32::<4>(table.wide.as_ptr().cast(), at) }
}

/// Writes the lowest bytes of some lanes in front of what is there.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn push(to: &mut Backward, set: u32, lanes: __m256i) {
    let order = lanes_of(COMPRESS[set as usize]);
    let byte = _mm256_and_si256(lanes, _mm256_set1_epi32(255));
    to.push_last(bytes_of(_mm256_permutevar8x32_epi32(byte, order)), set.count_ones() as usize);
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn encode_row(
    row: &Register,
    table: &SymbolTable,
    states: &mut RansLanesAvx2,
    stream: &mut Backward,
    escaped: &mut Backward,
) {
    let (eights, _) = row.as_chunks::<WIDE>();
    let (vectors, _) = states.0.as_chunks_mut::<WIDE>();
    let symbols = eights.iter().map(|eight| u64::from_le_bytes(*eight));
    for (vector, (symbols, states)) in symbols.zip(vectors).enumerate().rev() {
        // SAFETY: a vector of eight numbers.
        let state = unsafe { _mm256_loadu_si256(states.as_ptr().cast()) };
        let symbol = lanes_of(symbols);
        let entry = look_up(table, symbol);
        let byte = _mm256_set1_epi32(255);
        let share = _mm256_and_si256(entry, byte);
        let start = _mm256_and_si256(_mm256_srli_epi32::<8>(entry), byte);
        let inverse = _mm256_srli_epi32::<16>(entry);
        // Of the symbols only the escape starts at 0.
        let rare = set_of(_mm256_cmpeq_epi32(start, _mm256_setzero_si256())) & held(vector);
        if rare != 0 {
            push(escaped, rare, symbol);
        }
        let high = _mm256_srli_epi32::<8>(state);
        let fits = _mm256_cmpgt_epi32(share, high);
        push(stream, !set_of(fits) & held(vector), state);
        let state = _mm256_blendv_epi8(high, state, fits);
        // Quotient and remainder: the estimate is at most one too low.
        let quotient = _mm256_mulhi_epu16(state, inverse);
        let remainder = _mm256_sub_epi32(state, _mm256_mullo_epi16(quotient, share));
        let less = _mm256_cmpgt_epi32(share, remainder);
        let beyond = _mm256_andnot_si256(less, share);
        let more = _mm256_add_epi32(less, _mm256_set1_epi32(1));
        let quotient = _mm256_add_epi32(quotient, more);
        let within = _mm256_add_epi32(_mm256_sub_epi32(remainder, beyond), start);
        let next = _mm256_or_si256(_mm256_slli_epi32::<8>(quotient), within);
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(states.as_mut_ptr().cast(), next) };
    }
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn decode_row(
    row: &mut Register,
    table: &SymbolTable,
    states: &mut RansLanesAvx2,
    stream: &mut Forward,
    escaped: &mut Forward,
) {
    let (eights, _) = row.as_chunks_mut::<WIDE>();
    let (vectors, _) = states.0.as_chunks_mut::<WIDE>();
    for (vector, (eight, states)) in eights.iter_mut().zip(vectors).enumerate() {
        // SAFETY: a vector of eight numbers.
        let state = unsafe { _mm256_loadu_si256(states.as_ptr().cast()) };
        let byte = _mm256_set1_epi32(255);
        let entry = look_up(table, _mm256_and_si256(state, byte));
        let share = _mm256_and_si256(_mm256_srli_epi32::<8>(entry), byte);
        let within = _mm256_and_si256(_mm256_srli_epi32::<16>(entry), byte);
        let high = _mm256_srli_epi32::<8>(state);
        let state = _mm256_add_epi32(_mm256_mullo_epi16(high, share), within);
        let less = _mm256_cmpgt_epi32(_mm256_set1_epi32(256), state);
        let set = set_of(less) & held(vector);
        let order = lanes_of(EXPAND[set as usize]);
        let pulled = _mm256_permutevar8x32_epi32(lanes_of(stream.next_8()), order);
        let more = _mm256_or_si256(_mm256_slli_epi32::<8>(state), pulled);
        stream.at += set.count_ones() as usize;
        let state = _mm256_blendv_epi8(state, more, less);
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(states.as_mut_ptr().cast(), state) };
        *eight = bytes_of(_mm256_and_si256(entry, byte)).to_le_bytes();
        // The escape's entry has the highest bit.
        let mut rare = set_of(entry) & held(vector);
        while rare != 0 {
            eight[rare.trailing_zeros() as usize] = escaped.peek();
            escaped.at += 1;
            rare &= rare - 1;
        }
    }
    row[LANES..].fill(0);
}

/// # Safety
/// The processor has the instructions.
#[target_feature(enable = "avx2,popcnt")]
pub(crate) unsafe fn encode(source: &impl RowSource, to: &mut RansStreams) {
    let mut states = to.states.each_ref().map(RansLanesAvx2::load);
    let [mut stream, mut escaped] = [&mut *to.stream, &mut *to.escaped].map(std::mem::take);
    for i in (0..source.rows()).rev() {
        let (row, table) = source.row(i);
        encode_row(row, table, &mut states[i % 2], &mut stream, &mut escaped);
    }
    (*to.stream, *to.escaped) = (stream, escaped);
    for (states, to) in states.iter().zip(to.states.iter_mut()) {
        states.store(to);
    }
}

/// # Safety
/// The processor has the instructions.
#[target_feature(enable = "avx2,popcnt")]
pub(crate) unsafe fn decode(target: &mut impl RowTarget, from: &mut Read) {
    let mut states = from.states.each_ref().map(RansLanesAvx2::load);
    let (mut stream, mut escaped) = (*from.stream, *from.escaped);
    for i in 0..target.rows() {
        let (row, table) = target.row(i);
        decode_row(row, table, &mut states[i % 2], &mut stream, &mut escaped);
    }
    (*from.stream, *from.escaped) = (stream, escaped);
    for (states, to) in states.iter().zip(from.states.iter_mut()) {
        states.store(to);
    }
}

/// # Safety
/// The processor has the instructions.
#[target_feature(enable = "avx2,popcnt")]
pub(crate) unsafe fn count_held(registers: &[Register], held: &mut [u8]) {
    for (register, held) in registers.iter().zip(held) {
        let (halves, _) = register.as_chunks::<32>();
        let zeros = halves.iter().map(|half| {
            // SAFETY: 32 bytes.
            let bytes = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
            let zero = _mm256_cmpeq_epi8(bytes, _mm256_setzero_si256());
            (_mm256_movemask_epi8(zero) as u32).count_ones() as u8
        });
        *held = 64 - zeros.sum::<u8>();
    }
}
