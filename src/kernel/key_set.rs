//! Sets of keys: a hash table that finds the new ones, and strings of digits in which a sorted list of them is small.
//!
//! A list search inserts every key that moves produce in a bucket into a [`KeySet`]. A coded list stores the keys as
//! the strings of [`KeyDigits`].

use crate::kernel::{
    Kernel, dispatch,
    keys::{KeyField, KeyLayout},
};

// The set of the keys of one bucket: a hash table whose lines are compared as a whole.
//
// A line contains eight keys, word by word, and a count. A key is looked up in the line determined by its hash, or in
// the next one if that line is full. There is no branch on whether the key is found, which would be unpredictable.
//
// Invariant: every key that has been inserted since the last `KeySet::clear` is in the set exactly once.

/// Number of keys per line.
const LINE: usize = 8;
/// Number of keys whose lines are prefetched.
const AHEAD: usize = 32;

/// A set of keys of `W` words.
#[derive(Debug)]
pub(crate) struct KeySet<const W: usize> {
    lines: Vec<[[u64; LINE]; W]>,
    counts: Vec<u8>,
    /// Number of lines in use.
    used: usize,
}

impl<const W: usize> KeySet<W> {
    /// Returns an empty set without capacity.
    pub fn new() -> KeySet<W> {
        KeySet { lines: Vec::new(), counts: Vec::new(), used: 0 }
    }

    /// Empties the set and makes room for this many keys. Cost: one byte for every four keys.
    pub fn clear(&mut self, keys: usize) {
        self.used = (keys / 4).max(4);
        if self.lines.len() < self.used {
            self.lines.resize(self.used.next_power_of_two(), [[0; LINE]; W]);
        }
        self.counts.clear();
        self.counts.resize(self.used, 0);
    }

    /// Adds keys, and appends the new ones to `new`, in their order. [`KeySet::clear`] must have made room for them.
    ///
    /// Cost: one line per key, which is prefetched.
    pub fn insert(&mut self, keys: &[[u64; W]], kernel: Kernel, new: &mut Vec<[u64; W]>) {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,bmi2,popcnt")]
            unsafe fn avx512<const W: usize>(
                set: &mut KeySet<W>,
                keys: &[[u64; W]],
                new: &mut Vec<[u64; W]>,
            ) {
                set.insert_all::<true>(keys, new);
            }
            #[target_feature(enable = "avx2,bmi2,popcnt")]
            unsafe fn avx2<const W: usize>(
                set: &mut KeySet<W>,
                keys: &[[u64; W]],
                new: &mut Vec<[u64; W]>,
            ) {
                set.insert_all::<false>(keys, new);
            }
            if kernel == Kernel::Avx512 && kernel.is_supported() {
                // SAFETY: the processor has the instructions, as has just been checked.
                return unsafe { avx512(self, keys, new) };
            }
            if kernel == Kernel::Avx2 && kernel.is_supported() {
                // SAFETY: the processor has the instructions, as has just been checked.
                return unsafe { avx2(self, keys, new) };
            }
        }
        let _ = kernel;
        self.insert_all::<false>(keys, new);
    }

    #[inline(always)]
    fn insert_all<const AVX512: bool>(&mut self, keys: &[[u64; W]], new: &mut Vec<[u64; W]>) {
        new.reserve(keys.len() + 1);
        let mut room = new.len();
        let out = new.as_mut_ptr();
        let mut at = [0usize; AHEAD];
        for keys in keys.chunks(AHEAD) {
            for (at, key) in at.iter_mut().zip(keys) {
                *at = ((u128::from(hash(key)) * self.used as u128) >> 64) as usize;
                crate::kernel::prefetch::<1, _>(&raw const self.lines[*at]);
            }
            for (&at, key) in at.iter().zip(keys) {
                let is_new = self.put::<AVX512>(at, key);
                // SAFETY: there is room for as many keys as there are and one more.
                unsafe { *out.add(room) = *key };
                room += usize::from(is_new);
            }
        }
        // SAFETY: the keys before this one have been written.
        unsafe { new.set_len(room) };
    }

    /// Puts a key into a line or a later one; returns whether it is new.
    #[inline(always)]
    fn put<const AVX512: bool>(&mut self, mut at: usize, key: &[u64; W]) -> bool {
        loop {
            let (line, count) = (&mut self.lines[at], &mut self.counts[at]);
            let mut same = (1u32 << *count) - 1;
            for (word, words) in key.iter().zip(line.iter()) {
                same &= equal::<AVX512>(words, *word);
            }
            if usize::from(*count) < LINE {
                for (&word, words) in key.iter().zip(line.iter_mut()) {
                    words[usize::from(*count) % LINE] = word;
                }
                *count += u8::from(same == 0);
                return same == 0;
            }
            if same != 0 {
                return false;
            }
            at = if at + 1 == self.used { 0 } else { at + 1 };
        }
    }
}

/// Bit i is set if word i of a line is equal to `word`.
#[inline(always)]
fn equal<const AVX512: bool>(words: &[u64; LINE], word: u64) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if AVX512 {
        use std::arch::x86_64::{_mm512_cmpeq_epi64_mask, _mm512_loadu_si512, _mm512_set1_epi64};
        // SAFETY: `AVX512` says that the processor has the instructions; eight words are read.
        return unsafe {
            let words = _mm512_loadu_si512(words.as_ptr().cast());
            u32::from(_mm512_cmpeq_epi64_mask(words, _mm512_set1_epi64(word as i64)))
        };
    }
    words.iter().rev().fold(0, |mask, &other| mask << 1 | u32::from(other == word))
}

/// Spreads the bits of a key over the high bits.
#[inline(always)]
fn hash<const W: usize>(key: &[u64; W]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    key.iter().fold(0, |hash: u64, &word| (hash.rotate_left(29) ^ word).wrapping_mul(ODD))
}

// Keys as strings of digits, where neighbours in a sorted list have much in common.
//
// The digit of a piece determines which of the positions left by the preceding pieces is its own, and its orientation.
// Each digit takes as many bits as its values need; the string of digits is a number of several words, the most
// significant one first. When keys are sorted by these numbers, each differs from the previous one in few bytes, and
// the differences are repetitive.
//
// Invariant: two keys have the same string only if they are the same key, with the same free positions.

/// Maximum number of orbits whose positions are counted among the remaining ones.
pub(crate) const SLOTS: usize = 8;
/// Maximum number of positions of such an orbit.
pub(crate) const MOST_POSITIONS: usize = 64;

/// The positions of each orbit that are free before the first digit, one bit each.
pub(crate) type FreePositions = [u64; SLOTS];

/// The meaning of a field's digit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DigitRule {
    /// The value itself, one of this many.
    Value(usize),
    /// The index among the remaining positions of an orbit, and the orientation.
    Position { slot: usize, modulus: usize },
}

impl DigitRule {
    fn slot(&self) -> Option<usize> {
        match *self {
            DigitRule::Value(_) => None,
            DigitRule::Position { slot, .. } => Some(slot),
        }
    }
}

/// The position of a field in the key, and of its digit in the string.
#[derive(Clone, Copy, Debug)]
struct Digit {
    key: KeyField,
    word: usize,
    shift: u32,
    mask: u64,
    modulus: u64,
    /// 2^16 / modulus, rounded up: divides a value below 128 with one multiplication.
    inverse: u64,
}

impl Digit {
    /// Returns the place and the orientation.
    #[inline(always)]
    fn parts(&self, value: u64) -> (u64, u64) {
        let place = (value * self.inverse) >> 16;
        (place, value - place * self.modulus)
    }
}

/// Number of keys that are encoded at once: their waiting times are independent.
const TOGETHER: usize = 4;

/// Consecutive digits of the same kind.
#[derive(Clone, Debug)]
struct DigitRun {
    /// The orbit whose positions they count, if any.
    slot: Option<usize>,
    /// Whether some have orientations.
    turned: bool,
    /// The digits, most significant first.
    digits: Vec<Digit>,
}

/// The digits of keys.
#[derive(Clone, Debug)]
pub(crate) struct KeyDigits {
    /// The runs, most significant first.
    runs: Vec<DigitRun>,
    words: usize,
}

impl KeyDigits {
    /// Returns the digits of keys with a rule for each field, where the last field is the most significant; `free` is
    /// the number of free positions of each orbit. Returns `None` if strings need more words than keys, which is
    /// possible because digits are in a different order from fields, and no digit extends over two words.
    pub fn new(
        layout: &KeyLayout,
        rules: &[DigitRule],
        free: &[usize; SLOTS],
    ) -> Option<KeyDigits> {
        let mut left = *free;
        for slot in rules.iter().filter_map(DigitRule::slot) {
            left[slot] -= 1;
        }
        let mut runs: Vec<DigitRun> = Vec::new();
        let (mut word, mut shift) = (layout.words - 1, 0);
        // Digits of the same kind form one run; the values are the least significant ones.
        let mut order: Vec<(usize, &DigitRule)> = rules.iter().enumerate().collect();
        order.sort_by_key(|(_, rule)| rule.slot());
        for (field, rule) in order {
            let (values, modulus) = match *rule {
                DigitRule::Value(values) => (values, 1),
                DigitRule::Position { slot, modulus } => {
                    left[slot] += 1;
                    (left[slot] * modulus, modulus)
                }
            };
            let slot = rule.slot();
            let bits = usize::BITS - (values.max(1) - 1).leading_zeros();
            if shift + bits > 64 {
                (word, shift) = (word.checked_sub(1)?, 0);
            }
            if runs.last().is_none_or(|run| run.slot != slot) {
                runs.push(DigitRun { slot, turned: false, digits: Vec::new() });
            }
            let run = runs.last_mut().expect("there is one now");
            run.turned |= modulus > 1;
            run.digits.push(Digit {
                key: layout.field(field),
                word,
                shift,
                mask: (1 << bits) - 1,
                modulus: modulus as u64,
                inverse: (1u64 << 16).div_ceil(modulus as u64),
            });
            shift += bits;
        }
        runs.iter_mut().for_each(|run| run.digits.reverse());
        runs.reverse();
        Some(KeyDigits { runs, words: layout.words })
    }

    /// Appends the strings of keys, in their order. Cost: about 6 instructions per field.
    pub fn encode(&self, keys: &[u64], free: &FreePositions, kernel: Kernel, out: &mut Vec<u64>) {
        let digits = self;
        dispatch!(
            kernel,
            (digits: &KeyDigits, keys: &[u64], free: &FreePositions, out: &mut Vec<u64>),
            [convert::<ToStrings>], [convert::<ToStrings>], [convert::<ToStrings>]
        )
    }

    /// Appends the keys of strings, in their order; invalid strings give arbitrary keys. Cost: about 14 instructions
    /// per field if the processor has BMI2.
    pub fn decode(
        &self,
        strings: &[u64],
        free: &FreePositions,
        kernel: Kernel,
        out: &mut Vec<u64>,
    ) {
        let digits = self;
        dispatch!(
            kernel,
            (digits: &KeyDigits, strings: &[u64], free: &FreePositions, out: &mut Vec<u64>),
            [convert::<ToKeys<true>>], [convert::<ToKeys<true>>], [convert::<ToKeys<false>>]
        )
    }
}

/// Conversion from keys to strings or back.
trait Conversion {
    /// Returns a field of the input.
    fn read(digit: &Digit, from: &[u64]) -> u64;
    /// Returns the index of a position among the remaining ones, or the position with an index, and removes it from
    /// them.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn take(left: &mut u64, place: u64) -> u64;
    /// Returns the position of the field in the result.
    fn target(digit: &Digit) -> (usize, u32);
}

struct ToStrings;

impl Conversion for ToStrings {
    #[inline(always)]
    fn read(digit: &Digit, from: &[u64]) -> u64 {
        digit.key.value(from)
    }

    #[inline(always)]
    unsafe fn take(left: &mut u64, position: u64) -> u64 {
        let bit = 1 << (position % 64);
        let below = (*left & (bit - 1)).count_ones();
        *left &= !bit;
        u64::from(below)
    }

    #[inline(always)]
    fn target(digit: &Digit) -> (usize, u32) {
        (digit.word, digit.shift)
    }
}

/// `FAST` needs BMI2.
struct ToKeys<const FAST: bool>;

impl<const FAST: bool> Conversion for ToKeys<FAST> {
    #[inline(always)]
    fn read(digit: &Digit, from: &[u64]) -> u64 {
        from[digit.word] >> digit.shift & digit.mask
    }

    #[inline(always)]
    unsafe fn take(left: &mut u64, index: u64) -> u64 {
        // SAFETY: the caller's promise.
        let bit = unsafe { nth::<FAST>(*left, index) };
        *left ^= bit;
        u64::from(bit.trailing_zeros())
    }

    #[inline(always)]
    fn target(digit: &Digit) -> (usize, u32) {
        (digit.key.word, digit.key.shift)
    }
}

/// # Safety
/// The processor has the instructions of the conversion.
#[inline(always)]
unsafe fn convert<D: Conversion>(
    digits: &KeyDigits,
    from: &[u64],
    free: &FreePositions,
    out: &mut Vec<u64>,
) {
    let start = out.len();
    out.resize(start + from.len(), 0);
    let to = &mut out[start..];
    // SAFETY: the caller's promise.
    unsafe {
        match digits.words {
            1 => convert_all::<D, 1>(digits, from, free, to),
            2 => convert_all::<D, 2>(digits, from, free, to),
            3 => convert_all::<D, 3>(digits, from, free, to),
            4 => convert_all::<D, 4>(digits, from, free, to),
            8 => convert_all::<D, 8>(digits, from, free, to),
            16 => convert_all::<D, 16>(digits, from, free, to),
            words => unreachable!("keys of {words} words have no digits"),
        }
    }
}

/// # Safety
/// The same conditions as for [`convert`].
#[inline(always)]
unsafe fn convert_all<D: Conversion, const W: usize>(
    digits: &KeyDigits,
    from: &[u64],
    free: &FreePositions,
    to: &mut [u64],
) {
    let (from, to) = (from.as_chunks::<W>().0, to.as_chunks_mut::<W>().0);
    let (many, few) = from.as_chunks::<TOGETHER>();
    let (many_to, few_to) = to.as_chunks_mut::<TOGETHER>();
    // SAFETY: the caller's promise.
    unsafe {
        for (from, to) in many.iter().zip(many_to) {
            convert_some::<D, W, TOGETHER>(digits, from, free, to);
        }
        for (from, to) in few.as_chunks::<1>().0.iter().zip(few_to.as_chunks_mut::<1>().0) {
            convert_some::<D, W, 1>(digits, from, free, to);
        }
    }
}

/// # Safety
/// The same conditions as for [`convert`].
#[inline(always)]
unsafe fn convert_some<D: Conversion, const W: usize, const N: usize>(
    digits: &KeyDigits,
    from: &[[u64; W]; N],
    free: &FreePositions,
    to: &mut [[u64; W]; N],
) {
    for run in &digits.runs {
        let mut left = [run.slot.map_or(0, |slot| free[slot]); N];
        for digit in &run.digits {
            let (word, shift) = D::target(digit);
            for i in 0..N {
                let value = D::read(digit, &from[i]);
                // SAFETY: the caller's promise.
                let value = unsafe {
                    match (run.slot, run.turned) {
                        (None, _) => value,
                        (Some(_), false) => D::take(&mut left[i], value),
                        (Some(_), true) => {
                            let (place, turn) = digit.parts(value);
                            D::take(&mut left[i], place) * digit.modulus + turn
                        }
                    }
                };
                to[i][word] |= value << shift;
            }
        }
    }
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
    use std::collections::HashSet;

    use super::*;

    fn check<const W: usize>(kernel: Kernel) {
        let mut set = KeySet::<W>::new();
        let mut state = 1u64;
        for round in 1..200usize {
            let mut next = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
                state >> 40
            };
            let keys: Vec<[u64; W]> =
                (0..round * 7).map(|_| std::array::from_fn(|_| next() % (round as u64))).collect();
            set.clear(keys.len());
            let mut new = Vec::new();
            set.insert(&keys, kernel, &mut new);
            let mut known = HashSet::new();
            let expected: Vec<[u64; W]> =
                keys.iter().filter(|key| known.insert(**key)).copied().collect();
            assert_eq!(new, expected, "{kernel:?} {W} {round}");
        }
    }

    #[test]
    fn a_set_has_every_key_once() {
        for kernel in [Kernel::Scalar, Kernel::Avx2, Kernel::Avx512] {
            check::<1>(kernel);
            check::<2>(kernel);
            check::<4>(kernel);
        }
    }

    #[test]
    fn strings_that_need_more_words_than_keys_are_told() {
        let values = [128; 18];
        let layout = KeyLayout::new(&values);
        let fits = |rules: &[DigitRule]| KeyDigits::new(&layout, rules, &[18; SLOTS]).is_some();
        assert!(fits(&[DigitRule::Value(128); 18]));
        assert!(!fits(&[DigitRule::Value(1 << 40); 18]));
    }

    /// Nine pieces with three orientations, a value between them, and pieces of a larger orbit.
    #[test]
    fn keys_come_back_and_take_few_bits() {
        let values = [27, 27, 5, 27, 27, 40, 40, 40, 40, 40, 40, 40, 40];
        let layout = KeyLayout::new(&values);
        let rules = values.map(|values| match values {
            27 => DigitRule::Position { slot: 0, modulus: 3 },
            40 => DigitRule::Position { slot: 1, modulus: 1 },
            _ => DigitRule::Value(values),
        });
        let digits = KeyDigits::new(&layout, &rules, &[7, 40, 0, 0, 0, 0, 0, 0]).unwrap();
        let mut free = [0; SLOTS];
        (free[0], free[1]) = (0b1_1101_0111, (1 << 40) - 1);
        let mut state = 7u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        let mut keys = Vec::new();
        for _ in 0..100 {
            let mut places =
                [(0..9).filter(|p| free[0] >> p & 1 == 1).collect(), Vec::from_iter(0..40)];
            let row: Vec<u8> = (values.iter())
                .map(|&values| match values {
                    27 => 3 * places[0].swap_remove(next(places[0].len())) + next(3),
                    40 => places[1].swap_remove(next(places[1].len())),
                    _ => next(values),
                } as u8)
                .collect();
            keys.extend(layout.pack(&row));
        }
        let mut strings = Vec::new();
        digits.encode(&keys, &free, Kernel::best(), &mut strings);
        for kernel in [Kernel::best(), Kernel::Scalar] {
            let mut back = Vec::new();
            digits.decode(&strings, &free, kernel, &mut back);
            assert_eq!(back, keys);
        }
        let bits = 5 + 5 + 4 + 4 + 3 + 8 * 6;
        let most = strings.chunks_exact(layout.words).map(|string| string[0]).max().unwrap();
        assert!(u64::BITS - most.leading_zeros() + 64 <= bits + 6, "{most:x}");
    }
}
