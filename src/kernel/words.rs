//! Movement of bits between words, and between words and bytes: gathers of single bits, transpositions, planes, fields.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

#[cfg(target_arch = "x86_64")]
use crate::kernel::keys::{load, store};
use crate::{
    kernel::{Kernel, Word, dispatch, isa::Isa, keys::KeyField},
    perm::Register,
};

/// The lanes of a word that come from another word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitRow {
    /// For each lane, the lane of the source.
    pub from: [u8; 64],
    /// The lanes that come from there.
    pub lanes: u64,
}

/// One of the words from which a word takes lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitPiece {
    /// Number of the source block.
    pub block: u16,
    pub word: u16,
    pub row: u16,
}

/// Words assembled from pieces of other words: word i consists of the pieces from `starts[i]` to `starts[i + 1]`.
#[derive(Clone, Copy)]
pub struct BitGather<'a> {
    /// The lanes that pieces take.
    pub rows: &'a [BitRow],
    /// One more element than there are words.
    pub starts: &'a [u32],
    pub pieces: &'a [BitPiece],
}

impl BitGather<'_> {
    /// Gathers words from source words, which `load` reads. All kernels return the same result.
    ///
    /// # Panics
    /// If the number of starts is not greater than that of words, or if a piece refers to a row that does not exist.
    pub fn run(&self, kernel: Kernel, load: impl Fn(BitPiece) -> u64, words: &mut [u64]) {
        #[inline(always)]
        unsafe fn take<I: Isa>(
            gather: &BitGather,
            load: impl Fn(BitPiece) -> u64,
            words: &mut [u64],
        ) {
            for (word, range) in words.iter_mut().zip(gather.starts.windows(2)) {
                *word = 0;
                for &piece in &gather.pieces[range[0] as usize..range[1] as usize] {
                    let source = load(piece);
                    if source != 0 {
                        let row = &gather.rows[usize::from(piece.row)];
                        // SAFETY: the processor has the instructions.
                        *word |= unsafe { I::take_bits(&row.from, row.lanes, source) };
                    }
                }
            }
        }
        assert!(self.starts.len() > words.len());
        let gather = self;
        dispatch!(kernel, take<I>(gather: &BitGather, load: impl Fn(BitPiece) -> u64, words: &mut [u64]))
    }
}

/// Gathers the bits of each word at the positions where its mask has ones into the lowest bits, in order.
pub fn gather_bits(kernel: Kernel, words: &mut [u64], masks: &[u64]) {
    #[inline(always)]
    unsafe fn run<I: Isa>(words: &mut [u64], masks: &[u64]) {
        for (word, &mask) in words.iter_mut().zip(masks) {
            // SAFETY: the processor has the instructions.
            *word = unsafe { I::gather_bits(*word, mask) };
        }
    }
    dispatch!(kernel, run<I>(words: &mut [u64], masks: &[u64]))
}

/// Scatters the lowest bits of each word, in order, to the positions where its mask has ones.
pub fn scatter_bits(kernel: Kernel, words: &mut [u64], masks: &[u64]) {
    #[inline(always)]
    unsafe fn run<I: Isa>(words: &mut [u64], masks: &[u64]) {
        for (word, &mask) in words.iter_mut().zip(masks) {
            // SAFETY: the processor has the instructions.
            *word = unsafe { I::scatter_bits(*word, mask) };
        }
    }
    dispatch!(kernel, run<I>(words: &mut [u64], masks: &[u64]))
}

/// Returns the number of ones. Cost: some two instructions per 32 bytes, by adding sixteen words bit by bit before any
/// is counted.
///
/// Source: H. S. Warren, Hacker's Delight, 5-1 (Harley and Seal).
pub fn population(kernel: Kernel, registers: &[Register]) -> u64 {
    type Words = [u64; 8];
    /// The sum of three numbers of one bit in each place: twos and ones.
    #[inline(always)]
    fn add(a: Words, b: Words, c: Words) -> (Words, Words) {
        let twos = std::array::from_fn(|i| (a[i] & b[i]) | ((a[i] ^ b[i]) & c[i]));
        (twos, std::array::from_fn(|i| a[i] ^ b[i] ^ c[i]))
    }
    #[inline(always)]
    fn ones(words: Words) -> u64 {
        words.iter().map(|word| u64::from(word.count_ones())).sum()
    }
    #[inline(always)]
    unsafe fn run<I: Isa>(registers: &[Register]) -> u64 {
        let load = |register: &Register| -> Words {
            let words = register.as_chunks().0;
            std::array::from_fn(|i| u64::from_le_bytes(words[i]))
        };
        let (eights, rest) = registers.as_chunks::<8>();
        let (mut one, mut two, mut four, mut eight) = ([0; 8], [0; 8], [0; 8], 0);
        for registers in eights {
            let [a, b, c, d, e, f, g, h] = registers.each_ref().map(load);
            let (two_a, sum) = add(one, a, b);
            let (two_b, sum) = add(sum, c, d);
            let (two_c, sum) = add(sum, e, f);
            let (two_d, sum) = add(sum, g, h);
            one = sum;
            let (four_a, sum) = add(two, two_a, two_b);
            let (four_b, sum) = add(sum, two_c, two_d);
            two = sum;
            let (all, sum) = add(four, four_a, four_b);
            four = sum;
            eight += ones(all);
        }
        let rest: u64 = rest.iter().map(|register| ones(load(register))).sum();
        8 * eight + 4 * ones(four) + 2 * ones(two) + ones(one) + rest
    }
    dispatch!(kernel, run<I>(registers: &[Register]) -> u64)
}

/// Transposes a square bit matrix: bit j of word i becomes bit i of word j.
///
/// Source: H. S. Warren, Hacker's Delight, 7-3.
pub(crate) fn transpose(square: &mut [u64; 64]) {
    let (mut side, mut mask) = (32, u64::from(u32::MAX));
    while side > 0 {
        for pair in square.chunks_mut(2 * side) {
            let (upper, lower) = pair.split_at_mut(side);
            for (upper, lower) in upper.iter_mut().zip(lower) {
                let swapped = (*upper >> side ^ *lower) & mask;
                *upper ^= swapped << side;
                *lower ^= swapped;
            }
        }
        side /= 2;
        mask ^= mask << side;
    }
}

// Planes: one bit of every byte of a block, as a word per register.
//
// Invariant: bit l of a word represents lane l; bits 60..63 are zero, like the padding lanes. All functions panic if
// the lengths of their arguments do not match.

/// Writes the given bit of every byte: word r contains those of register r. Returns whether any is set.
pub fn collect(kernel: Kernel, registers: &[Register], bit: u8, words: &mut [u64]) -> bool {
    #[inline(always)]
    unsafe fn run<I: Isa>(registers: &[Register], bit: u8, words: &mut [u64]) -> bool {
        let mut any = 0;
        for (register, word) in registers.iter().zip(words) {
            // SAFETY: the processor has the instructions; a register is 64 bytes.
            *word = unsafe { I::lanes(I::and(I::load(register), I::splat(1 << bit))) };
            any |= *word;
        }
        any != 0
    }
    assert_eq!(registers.len(), words.len());
    dispatch!(kernel, run<I>(registers: &[Register], bit: u8, words: &mut [u64]) -> bool)
}

/// Expands each bit to a byte: lane l of register r is 1 if bit l of word r is set, else 0.
pub fn spread(kernel: Kernel, words: &[u64], registers: &mut [Register]) {
    #[inline(always)]
    unsafe fn run<I: Isa>(words: &[u64], registers: &mut [Register]) {
        for (register, &word) in registers.iter_mut().zip(words) {
            // SAFETY: the processor has the instructions; a register is 64 bytes.
            unsafe { I::store(register, I::and(I::spread(word), I::splat(1))) }
        }
    }
    assert_eq!(registers.len(), words.len());
    dispatch!(kernel, run<I>(words: &[u64], registers: &mut [Register]))
}

/// Combines eight words into each register: lane l of word j becomes bit j of byte l. The last register may have fewer
/// words.
pub fn join_planes(kernel: Kernel, words: &[Word], registers: &mut [Register]) {
    #[inline(always)]
    unsafe fn run<I: Isa>(words: &[Word], registers: &mut [Register]) {
        for (words, register) in words.chunks(8).zip(registers) {
            // SAFETY: the processor has the instructions; a register is 64 bytes.
            unsafe {
                let mut bytes = I::splat(0);
                for (j, word) in words.iter().enumerate() {
                    let lanes = I::spread(u64::from_le_bytes(*word));
                    bytes = I::or(bytes, I::and(lanes, I::splat(1 << j)));
                }
                I::store(register, bytes);
            }
        }
    }
    assert_eq!(words.len().div_ceil(8), registers.len());
    dispatch!(kernel, run<I>(words: &[Word], registers: &mut [Register]))
}

/// ORs into each word the bits that [`join_planes`] combined.
pub fn split_planes(kernel: Kernel, registers: &[Register], words: &mut [Word]) {
    #[inline(always)]
    unsafe fn run<I: Isa>(registers: &[Register], words: &mut [Word]) {
        for (words, register) in words.chunks_mut(8).zip(registers) {
            for (j, word) in words.iter_mut().enumerate() {
                // SAFETY: the processor has the instructions; a register is 64 bytes.
                let lanes = unsafe { I::lanes(I::and(I::load(register), I::splat(1 << j))) };
                *word = (u64::from_le_bytes(*word) | lanes).to_le_bytes();
            }
        }
    }
    assert_eq!(words.len().div_ceil(8), registers.len());
    dispatch!(kernel, run<I>(registers: &[Register], words: &mut [Word]))
}

/// Writes a level to the lanes of registers that are zero and whose bit is set in the words; returns their number.
pub fn enter_first(kernel: Kernel, words: &[Word], level: u8, registers: &mut [Register]) -> u64 {
    #[inline(always)]
    unsafe fn run<I: Isa>(words: &[Word], level: u8, registers: &mut [Register]) -> u64 {
        let mut count = 0;
        for (word, register) in words.iter().zip(registers) {
            let word = u64::from_le_bytes(*word);
            if word != 0 {
                // SAFETY: the processor has the instructions; a register is 64 bytes.
                unsafe {
                    let before = I::load(register);
                    let first = word & !I::lanes(before);
                    let levels = I::and(I::spread(first), I::splat(level));
                    I::store(register, I::or(before, levels));
                    count += u64::from(first.count_ones());
                }
            }
        }
        count
    }
    assert_eq!(words.len(), registers.len());
    dispatch!(kernel, run<I>(words: &[Word], level: u8, registers: &mut [Register]) -> u64)
}

// Fields of words, as bytes.

/// Up to eight adjacent fields of a word, as bytes: the least significant field is byte 0. All but the most significant
/// one have at most 6 bits, and that one has at most 8.
#[derive(Clone, Debug, Default)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(super) struct FieldGroup {
    pub word: usize,
    shift: u32,
    /// Byte b of element i is the first bit of the field that is byte b XOR i.
    begin: [u64; 8],
    /// The bits of field b, in all bytes of element b.
    masks: [u64; 8],
    /// The factors of bytes and of pairs of bytes that close the gaps between them, and the shift of the upper half.
    factors: [u64; 2],
    upper: u32,
}

impl FieldGroup {
    /// Returns the group of these fields, the most significant one first.
    pub fn new(fields: &[KeyField]) -> FieldGroup {
        let last = fields.last().expect("a group has fields");
        let mut group = FieldGroup { word: last.word, shift: last.shift, ..FieldGroup::default() };
        let begin = |byte: usize| {
            let field = fields.len().checked_sub(byte + 1).map_or(&fields[0], |i| &fields[i]);
            u64::from(field.shift)
        };
        for (mask, field) in group.masks.iter_mut().zip(fields.iter().rev()) {
            *mask = ((1 << field.bits.min(8)) - 1) * 0x0101_0101_0101_0101;
        }
        for (i, to) in group.begin.iter_mut().enumerate() {
            *to = (0..8).fold(0, |bits, byte| bits | begin(byte ^ i) << (8 * byte));
        }
        for (bytes, factors) in [1, 2].into_iter().zip(&mut group.factors) {
            for first in (0..8).step_by(2 * bytes) {
                let distance = begin(first + bytes) - begin(first);
                *factors |= 1 << (8 * first) | 1 << (8 * (first + bytes) as u64 + distance);
            }
        }
        group.upper = (begin(4) - begin(0)) as u32;
        group
    }
}

#[cfg(target_arch = "x86_64")]
impl FieldGroup {
    /// Writes the values of the fields of 64 words, one field after the other.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub fn split(&self, words: &[u64; 64], values: &mut [[u8; 64]]) {
        let words = words.as_chunks::<8>().0;
        let mut x = [_mm512_setzero_si512(); 8];
        for i in 0..8 {
            let begin = _mm512_set1_epi64(self.begin[i] as i64);
            x[i] = _mm512_multishift_epi64_epi8(begin, load(&words[i]));
        }
        exchange(&mut x);
        for i in 0..8 {
            let Some(at) = values.len().checked_sub(i + 1) else { break };
            let mask = _mm512_set1_epi64(self.masks[i] as i64);
            store(&mut values[at], _mm512_and_si512(turn(x[i], i), mask));
        }
    }

    /// Adds the values of the fields, one field after the other, to 64 words.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub fn join(&self, values: &[[u8; 64]], words: &mut [u64; 64]) {
        let mut x = [_mm512_setzero_si512(); 8];
        for i in 0..8 {
            let Some(at) = values.len().checked_sub(i + 1) else { break };
            x[i] = turn(load(&values[at]), i);
        }
        exchange(&mut x);
        let [bytes, pairs] = self.factors.map(|factors| _mm512_set1_epi64(factors as i64));
        let [upper, shift] = [self.upper, self.shift].map(|by| _mm_cvtsi32_si128(by as i32));
        let words = words.as_chunks_mut::<8>().0;
        for i in 0..8 {
            let x = _mm512_madd_epi16(_mm512_maddubs_epi16(turn(x[i], i), bytes), pairs);
            let high = _mm512_sll_epi64(_mm512_srli_epi64(x, 32), upper);
            let x = _mm512_or_si512(_mm512_and_si512(x, _mm512_set1_epi64(0xffff_ffff)), high);
            let sum = _mm512_or_si512(load(&words[i]), _mm512_sll_epi64(x, shift));
            store(&mut words[i], sum);
        }
    }
}

/// Exchanges byte b of register i with byte b of register i XOR b, where b counts modulo 8.
///
/// This transposes the bytes of eight registers by eights if, before and after it, byte b XOR i of register i is in the
/// place of byte b. Its blends take half as long as the shuffles of the usual transposition.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn exchange(x: &mut [__m512i; 8]) {
    for (bit, mask) in [(1, 0xaa), (2, 0xcc), (4, 0xf0)] {
        let mask = mask * 0x0101_0101_0101_0101;
        for low in 0..8 {
            if low & bit == 0 {
                let (a, b) = (x[low], x[low | bit]);
                x[low] = _mm512_mask_blend_epi8(mask, a, b);
                x[low | bit] = _mm512_mask_blend_epi8(mask, b, a);
            }
        }
    }
}

/// Exchanges byte b with byte b XOR `i` of its eight.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn turn(x: __m512i, i: usize) -> __m512i {
    let bytes = 0x0706_0504_0302_0100 ^ (i as i64 * 0x0101_0101_0101_0101);
    let next = bytes ^ 0x0808_0808_0808_0808;
    if i == 0 { x } else { _mm512_shuffle_epi8(x, _mm512_set4_epi64(next, bytes, next, bytes)) }
}

/// Returns the set bit with the given index, in its place; 0 if there are fewer set bits.
///
/// # Safety
/// `FAST` needs BMI2.
#[inline(always)]
pub(super) unsafe fn nth<const FAST: bool>(bits: u64, index: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if FAST {
        // SAFETY: the caller's promise.
        return unsafe { std::arch::x86_64::_pdep_u64(1 << (index % 64), bits) };
    }
    let rest = (0..index).fold(bits, |rest, _| rest & rest.wrapping_sub(1));
    rest & rest.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn every_bit_of_a_square_changes_its_row_with_its_column() {
        let mut random = SplitMix64::new(5);
        let square: [u64; 64] = std::array::from_fn(|_| random.draw());
        let mut turned = square;
        transpose(&mut turned);
        for i in 0..64 {
            for j in 0..64 {
                assert_eq!(square[i] >> j & 1, turned[j] >> i & 1, "{i}, {j}");
            }
        }
    }

    #[test]
    fn bits_go_where_the_mask_is_and_come_back() {
        for kernel in Kernel::ALL.into_iter().filter(|k| k.is_supported()) {
            let masks = [0b1111, 0b1011_0100, 0, 1 << 63];
            let mut words = [0b1010, 0b1101, 0b101, 1];
            scatter_bits(kernel, &mut words, &masks);
            assert_eq!(words, [0b1010, 0b1010_0100, 0, 1 << 63]);
            words[2] = u64::MAX;
            gather_bits(kernel, &mut words, &masks);
            assert_eq!(words, [0b1010, 0b1101, 0, 1]);
        }
    }

    #[test]
    fn all_kernels_take_the_same_bits() {
        // Three source words whose lanes are turned by 1, 2 and 3; each gives every third lane.
        let row = |turn: usize| {
            let mut from = [0; 64];
            for (lane, from) in from.iter_mut().enumerate() {
                *from = ((lane + turn) % 64) as u8;
            }
            let lanes = (0..64).filter(|lane| lane % 3 == turn - 1);
            BitRow { from, lanes: lanes.fold(0, |mask, lane| mask | 1 << lane) }
        };
        let rows: Vec<BitRow> = (1..4).map(row).collect();
        let piece = |row: u16| BitPiece { block: row, word: 2 * row, row };
        let pieces = [piece(0), piece(1), piece(2), piece(1)];
        let sources = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 0, 0, u64::MAX];
        for kernel in Kernel::ALL.into_iter().filter(|k| k.is_supported()) {
            let mut words = [7; 2];
            let load = |piece: BitPiece| sources[usize::from(piece.word)];
            let gather = BitGather { rows: &rows, starts: &[0, 3, 4], pieces: &pieces };
            gather.run(kernel, load, &mut words);
            let of = |piece: BitPiece| {
                let row = &rows[usize::from(piece.row)];
                let turned = load(piece).rotate_right(u32::from(piece.row) + 1);
                turned & row.lanes
            };
            assert_eq!(words[0], of(pieces[0]) | of(pieces[1]) | of(pieces[2]));
            assert_eq!(words[1], of(pieces[3]));
        }
    }

    #[test]
    fn planes_are_bits_of_bytes_and_come_back_from_them() {
        let mut random = SplitMix64::new(7);
        for count in [1, 8, 21] {
            let words: Vec<[u8; 8]> =
                (0..count).map(|_| (random.draw() >> 4).to_le_bytes()).collect();
            for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_supported()) {
                let mut registers = vec![[0xff; 64]; words.len().div_ceil(8)];
                join_planes(kernel, &words, &mut registers);
                for (j, word) in words.iter().enumerate() {
                    for lane in 0..64 {
                        let bit = u64::from_le_bytes(*word) >> lane & 1;
                        let byte = registers[j / 8][lane];
                        assert_eq!(
                            u64::from(byte >> (j % 8) & 1),
                            bit,
                            "{kernel}, word {j}, lane {lane}"
                        );
                    }
                }
                let mut again = vec![[0; 8]; count];
                again[0] = [1; 8];
                split_planes(kernel, &registers, &mut again);
                let first = u64::from_le_bytes(words[0]) | u64::from_le_bytes([1; 8]);
                assert_eq!(again[0], first.to_le_bytes());
                assert_eq!(again[1..], words[1..]);
            }
        }
    }
}
