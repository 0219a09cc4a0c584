//! Movement of bits between words: the same operations as gathers on bytes, on one bit of each byte.

use crate::{
    kernel::{Kernel, Word, dispatch, isa::Isa},
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

// Planes: one bit of every byte of a block, as a word per register.
//
// Invariant: bit l of a word represents lane l; bits 60..63 are zero, like the padding lanes. All functions panic if the
// lengths of their arguments do not match.

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
