//! Sets of keys: a hash table that finds the new ones, and strings of digits in which a sorted list of them is small.
//!
//! A list search inserts every key that moves produce in a bucket into a [`KeySet`]. A coded list stores the keys as
//! the strings of [`KeyDigits`].

use crate::kernel::{
    Kernel, by_words, dispatch,
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
/// Number of bytes of keys above which they are distributed over parts, whose lines stay in the second-level cache.
const PART: usize = 256 << 10;
/// Maximum number of parts: more are slower to write to.
const PARTS: usize = 256;

/// A set of keys of `W` words.
#[derive(Debug, Default)]
pub(crate) struct KeySet<const W: usize> {
    lines: Vec<[[u64; LINE]; W]>,
    counts: Vec<u8>,
    /// Number of lines in use.
    used: usize,
    /// Number of bits of a hash that determine the part.
    skip: u32,
    /// The keys, part by part.
    parts: Vec<[u64; W]>,
}

impl<const W: usize> KeySet<W> {
    /// Returns one of several slices for a key, which depends on other bits of its hash than its part and its line.
    pub fn slice(key: &[u64; W], slices: usize) -> usize {
        ((hash(key) as u32 as usize).wrapping_mul(0x9E37_79B9) >> 16) % slices
    }

    /// Appends to `new` the generated keys that are not among the known ones, each once, in any order.
    ///
    /// Cost: some 10 ns per key.
    pub fn difference(
        &mut self,
        known: &[[u64; W]],
        generated: &[[u64; W]],
        kernel: Kernel,
        new: &mut Vec<[u64; W]>,
    ) {
        let all = known.len() + generated.len();
        let parts = (all * W * 8 / PART).next_power_of_two().min(PARTS);
        self.skip = parts.ilog2();
        if parts == 1 {
            return self.difference_of_part(known, generated, kernel, new);
        }
        let part = |key: &[u64; W]| (hash(key) >> (u64::BITS - parts.ilog2())) as usize;
        // Where the keys of each part begin: the known ones, then the generated ones.
        let mut places = vec![[0usize; 2]; parts];
        for (which, keys) in [known, generated].into_iter().enumerate() {
            keys.iter().for_each(|key| places[part(key)][which] += 1);
        }
        let mut end = 0;
        let mut begins = Vec::with_capacity(parts);
        for place in places.as_flattened_mut() {
            begins.push(end);
            end += std::mem::replace(place, end);
        }
        begins.push(end);
        let mut distributed = std::mem::take(&mut self.parts);
        distributed.resize(distributed.len().max(all), [0; W]);
        for (which, keys) in [known, generated].into_iter().enumerate() {
            for key in keys {
                let place = &mut places[part(key)][which];
                distributed[*place] = *key;
                *place += 1;
            }
        }
        for bounds in begins.windows(3).step_by(2) {
            let [known, generated] = [0, 1].map(|i| &distributed[bounds[i]..bounds[i + 1]]);
            self.difference_of_part(known, generated, kernel, new);
        }
        self.parts = distributed;
    }

    fn difference_of_part(
        &mut self,
        known: &[[u64; W]],
        generated: &[[u64; W]],
        kernel: Kernel,
        new: &mut Vec<[u64; W]>,
    ) {
        self.clear(known.len() + generated.len());
        let before = new.len();
        self.insert(known, kernel, new);
        new.truncate(before);
        self.insert(generated, kernel, new);
    }

    /// Empties the set and makes room for this many keys. Cost: one byte for every four keys.
    fn clear(&mut self, keys: usize) {
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
    fn insert(&mut self, keys: &[[u64; W]], kernel: Kernel, new: &mut Vec<[u64; W]>) {
        let set = self;
        dispatch!(
            kernel,
            <const W: usize>(set: &mut KeySet<W>, keys: &[[u64; W]], new: &mut Vec<[u64; W]>),
            [KeySet::insert_all::<true>], [KeySet::insert_all::<false>], [KeySet::insert_all::<false>]
        )
    }

    /// # Safety
    /// `AVX512` needs AVX-512 F.
    #[inline(always)]
    unsafe fn insert_all<const AVX512: bool>(
        &mut self,
        keys: &[[u64; W]],
        new: &mut Vec<[u64; W]>,
    ) {
        new.reserve(keys.len() + 1);
        let mut room = new.len();
        let out = new.as_mut_ptr();
        let mut at = [0usize; AHEAD];
        for keys in keys.chunks(AHEAD) {
            for (at, key) in at.iter_mut().zip(keys) {
                let hash = hash(key) << self.skip;
                *at = ((u128::from(hash) * self.used as u128) >> 64) as usize;
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
    string: KeyField,
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

/// Maximum number of words of keys that have digits or numbers.
pub(super) const WORDS: usize = 16;
/// Number of keys whose fields are converted at once, a register of bytes per field.
const BATCH: usize = 64;
/// Minimum number of keys for which a batch takes less time than one key after the other.
const LEAST_BATCH: usize = 24;

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

#[derive(Clone, Debug)]
pub(crate) struct KeyDigits {
    /// The runs, most significant first.
    runs: Vec<DigitRun>,
    words: usize,
    kernel: Kernel,
}

impl KeyDigits {
    /// Returns the digits of keys with a rule for each field, where the last field is the most significant; `free` is
    /// the number of free positions of each orbit. Returns `None` if keys have more than 16 words, or strings need more
    /// words than keys, which is possible because digits are in a different order from fields, and no digit extends over
    /// two words.
    pub fn new(
        layout: &KeyLayout,
        rules: &[DigitRule],
        free: &[usize; SLOTS],
    ) -> Option<KeyDigits> {
        if layout.words > WORDS {
            return None;
        }
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
                key: layout.fields[field],
                string: KeyField { word, shift, bits, byte: 0 },
                modulus: modulus as u64,
                inverse: (1u64 << 16).div_ceil(modulus as u64),
            });
            shift += bits;
        }
        runs.iter_mut().for_each(|run| run.digits.reverse());
        runs.reverse();
        Some(KeyDigits { runs, words: layout.words, kernel: layout.kernel })
    }

    /// Appends the strings of keys, in their order. Cost: about 6 instructions per field.
    pub fn encode(&self, keys: &[u64], free: &FreePositions, out: &mut Vec<u64>) {
        let digits = self;
        dispatch!(
            digits.kernel,
            (digits: &KeyDigits, keys: &[u64], free: &FreePositions, out: &mut Vec<u64>),
            [convert::<TO_STRINGS>], [convert::<TO_STRINGS>], [convert::<TO_STRINGS>]
        )
    }

    /// Appends the keys of strings, in their order; invalid strings give arbitrary keys. Cost: about 14 instructions
    /// per field if the processor has BMI2.
    pub fn decode(&self, strings: &[u64], free: &FreePositions, out: &mut Vec<u64>) {
        let digits = self;
        dispatch!(
            digits.kernel,
            (digits: &KeyDigits, strings: &[u64], free: &FreePositions, out: &mut Vec<u64>),
            [convert::<TO_KEYS_FAST>], [convert::<TO_KEYS_FAST>], [convert::<TO_KEYS>]
        )
    }
}

/// Keys to strings, strings to keys with BMI2, and strings to keys without it.
const TO_STRINGS: u8 = 0;
const TO_KEYS_FAST: u8 = 1;
const TO_KEYS: u8 = 2;

/// Returns where a digit is in the argument of a conversion and in its result.
#[inline(always)]
fn ends<const TO: u8>(digit: &Digit) -> [KeyField; 2] {
    if TO == TO_STRINGS { [digit.key, digit.string] } else { [digit.string, digit.key] }
}

/// Returns the index of a position among the remaining ones, or the position with an index, and removes it from them.
///
/// # Safety
/// The processor has the instructions of the conversion.
#[inline(always)]
unsafe fn take<const TO: u8>(left: &mut u64, place: u64) -> u64 {
    if TO == TO_STRINGS {
        let bit = 1 << (place % 64);
        let below = (*left & (bit - 1)).count_ones();
        *left &= !bit;
        return u64::from(below);
    }
    // SAFETY: the caller's promise.
    let bit = unsafe {
        if TO == TO_KEYS_FAST { nth::<true>(*left, place) } else { nth::<false>(*left, place) }
    };
    *left ^= bit;
    u64::from(bit.trailing_zeros())
}

/// # Safety
/// The processor has the instructions of the conversion.
#[inline(always)]
unsafe fn convert<const TO: u8>(
    digits: &KeyDigits,
    from: &[u64],
    free: &FreePositions,
    out: &mut Vec<u64>,
) {
    let (start, each) = (out.len(), digits.words);
    out.resize(start + from.len(), 0);
    let rest = from.len() % (BATCH * each);
    let few = if rest < LEAST_BATCH * each { rest } else { 0 };
    let (from, few) = from.split_at(from.len() - few);
    let (to, to_few) = out[start..].split_at_mut(from.len());
    for (from, to) in few.chunks_exact(each).zip(to_few.chunks_exact_mut(each)) {
        // SAFETY: the caller's promise.
        unsafe { convert_one::<TO>(digits, from, free, to) };
    }
    if from.is_empty() {
        return;
    }
    let [mut words, mut results] = [[[0; BATCH]; WORDS]; 2];
    for (from, to) in from.chunks(BATCH * each).zip(to.chunks_mut(BATCH * each)) {
        word_by_word(from, &mut words[..each]);
        results[..each].fill([0; BATCH]);
        convert_batch::<TO>(digits, &words, free, &mut results);
        key_by_key(&results[..each], to);
    }
}

/// Some keys word by word.
pub(super) type KeyWords<const N: usize> = [[u64; N]; WORDS];

/// Writes up to `N` keys word by word, into one row for each word.
#[inline(always)]
pub(super) fn word_by_word<const N: usize>(keys: &[u64], words: &mut [[u64; N]]) {
    by_words!(words.len(), W => {
        let keys = keys.as_chunks::<W>().0;
        // With all of them, the loop becomes a few shuffles, if keys are short.
        if W <= 4
            && let Ok(keys) = <&[[u64; W]; N]>::try_from(keys)
        {
            for word in 0..W {
                (0..N).for_each(|i| words[word][i] = keys[i][word]);
            }
        } else {
            for (i, key) in keys.iter().enumerate() {
                (0..W).for_each(|word| words[word][i] = key[word]);
            }
        }
    }, 1 2 3 4 8 16);
}

/// Writes up to `N` keys from rows, one for each word.
#[inline(always)]
pub(super) fn key_by_key<const N: usize>(words: &[[u64; N]], keys: &mut [u64]) {
    by_words!(words.len(), W => {
        let keys = keys.as_chunks_mut::<W>().0;
        if W <= 4
            && let Ok(keys) = <&mut [[u64; W]; N]>::try_from(&mut *keys)
        {
            for word in 0..W {
                (0..N).for_each(|i| keys[i][word] = words[word][i]);
            }
        } else {
            for (i, key) in keys.iter_mut().enumerate() {
                (0..W).for_each(|word| key[word] = words[word][i]);
            }
        }
    }, 1 2 3 4 8 16);
}

/// Converts a batch field by field, without taking positions from a set: the index of a position is the position minus
/// the number of those taken before that are lower. The loops over the batch become single instructions.
#[inline(always)]
fn convert_batch<const TO: u8>(
    digits: &KeyDigits,
    words: &KeyWords<BATCH>,
    free: &FreePositions,
    results: &mut KeyWords<BATCH>,
) {
    let mut places = [[0u8; BATCH]; MOST_POSITIONS];
    let mut turns = [[0u8; BATCH]; MOST_POSITIONS];
    for run in &digits.runs {
        let free = run.slot.map_or(0, |slot| free[slot]);
        let taken = !free & u64::MAX.checked_shr(free.leading_zeros()).unwrap_or(0);
        for some in run.digits.chunks(MOST_POSITIONS) {
            for ((digit, places), turns) in some.iter().zip(&mut places).zip(&mut turns) {
                let [from, _] = ends::<TO>(digit);
                for (place, word) in places.iter_mut().zip(&words[from.word]) {
                    *place = from.of_word(*word) as u8;
                }
                if run.turned {
                    for (place, turn) in places.iter_mut().zip(turns) {
                        let (at, turned) = digit.parts(u64::from(*place));
                        (*place, *turn) = (at as u8, turned as u8);
                    }
                }
            }
            for (j, digit) in some.iter().enumerate() {
                let mut result = places[j];
                let own = if run.slot.is_some() { j } else { 0 };
                if TO == TO_STRINGS {
                    let mut subtract = |lower: &[u8; BATCH]| {
                        for i in 0..BATCH {
                            result[i] = result[i].wrapping_sub(u8::from(lower[i] < places[j][i]));
                        }
                    };
                    places[..own].iter().for_each(&mut subtract);
                    each_bit(taken, |position| subtract(&[position; BATCH]));
                } else {
                    for before in places[..own].iter().rev() {
                        for i in 0..BATCH {
                            result[i] = result[i].wrapping_add(u8::from(result[i] >= before[i]));
                        }
                    }
                    let (index, mut lower) = (result, 0);
                    each_bit(taken, |position| {
                        for i in 0..BATCH {
                            result[i] += u8::from(index[i] >= position - lower);
                        }
                        lower += 1;
                    });
                }
                if run.turned {
                    for (place, turn) in result.iter_mut().zip(&turns[j]) {
                        *place = place.wrapping_mul(digit.modulus as u8).wrapping_add(*turn);
                    }
                }
                let [_, to] = ends::<TO>(digit);
                for (word, &value) in results[to.word].iter_mut().zip(&result) {
                    *word |= u64::from(value) << to.shift;
                }
            }
        }
    }
}

/// Calls a function with the index of each bit that is set, in ascending order.
#[inline(always)]
fn each_bit(mut bits: u64, mut each: impl FnMut(u8)) {
    while bits != 0 {
        each(bits.trailing_zeros() as u8);
        bits &= bits - 1;
    }
}

/// # Safety
/// The same conditions as for [`convert`].
#[inline(always)]
unsafe fn convert_one<const TO: u8>(
    digits: &KeyDigits,
    from: &[u64],
    free: &FreePositions,
    to: &mut [u64],
) {
    for run in &digits.runs {
        let mut left = run.slot.map_or(0, |slot| free[slot]);
        for digit in &run.digits {
            let [source, target] = ends::<TO>(digit);
            let value = source.value(from);
            // SAFETY: the caller's promise.
            let value = unsafe {
                match (run.slot, run.turned) {
                    (None, _) => value,
                    (Some(_), false) => take::<TO>(&mut left, value),
                    (Some(_), true) => {
                        let (place, turn) = digit.parts(value);
                        take::<TO>(&mut left, place) * digit.modulus + turn
                    }
                }
            };
            to[target.word] |= value << target.shift;
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
    use crate::random::SplitMix64;

    fn check<const W: usize>(kernel: Kernel) {
        let mut set = KeySet::<W>::default();
        let mut random = SplitMix64::new(1);
        // Enough keys for several parts in the last round.
        let most = 3 * PART / (8 * W);
        for round in (1..100usize).map(|round| round * 7).chain([most]) {
            let mut keys = |count: usize| -> Vec<[u64; W]> {
                let mut next = || random.below(round as u64 / 7);
                (0..count).map(|_| std::array::from_fn(|_| next())).collect()
            };
            let (known, generated) = (keys(round / 3), keys(round));
            let mut new = vec![[7; W]];
            set.difference(&known, &generated, kernel, &mut new);
            let known = HashSet::<_>::from_iter(known);
            let expected: HashSet<_> =
                generated.into_iter().filter(|key| !known.contains(key)).collect();
            let found = HashSet::from_iter(new[1..].iter().copied());
            assert_eq!((new[0], new.len() - 1), ([7; W], found.len()), "{kernel:?} {W} {round}");
            assert!(found == expected, "{kernel:?} {W} {round}");
        }
    }

    #[test]
    fn a_difference_has_every_new_key_once() {
        for kernel in [Kernel::Scalar, Kernel::Avx2, Kernel::Avx512] {
            check::<1>(kernel);
            check::<2>(kernel);
            check::<4>(kernel);
        }
    }

    #[test]
    fn strings_that_need_more_words_than_keys_are_told() {
        let values = [128; 18];
        let layout = KeyLayout::new(&values, Kernel::Scalar);
        let fits = |rules: &[DigitRule]| KeyDigits::new(&layout, rules, &[18; SLOTS]).is_some();
        assert!(fits(&[DigitRule::Value(128); 18]));
        assert!(!fits(&[DigitRule::Value(1 << 40); 18]));
    }

    /// Nine pieces with three orientations, a value between them, and pieces of a larger orbit.
    #[test]
    fn keys_come_back_and_take_few_bits() {
        let values = [27, 27, 5, 27, 27, 40, 40, 40, 40, 40, 40, 40, 40];
        let layout = KeyLayout::new(&values, Kernel::Scalar);
        let rules = values.map(|values| match values {
            27 => DigitRule::Position { slot: 0, modulus: 3 },
            40 => DigitRule::Position { slot: 1, modulus: 1 },
            _ => DigitRule::Value(values),
        });
        let digits = KeyDigits::new(&layout, &rules, &[7, 40, 0, 0, 0, 0, 0, 0]).unwrap();
        let mut free = [0; SLOTS];
        (free[0], free[1]) = (0b1_1101_0111, (1 << 40) - 1);
        let mut random = SplitMix64::new(7);
        let mut next = |below: usize| random.below(below as u64) as usize;
        let mut keys = Vec::new();
        for _ in 0..3 * BATCH + 40 {
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
        // A single key does not fill a batch, and is converted in another way.
        let mut strings = Vec::new();
        for key in keys.chunks(layout.words) {
            digits.encode(key, &free, &mut strings);
        }
        for kernel in [Kernel::Avx512, Kernel::Avx2, Kernel::Scalar] {
            let digits = KeyDigits { kernel, ..digits.clone() };
            // The last keys are part of a batch, or too few for one.
            for count in [keys.len(), keys.len() - 33 * layout.words] {
                let (mut same, mut back) = (Vec::new(), Vec::new());
                digits.encode(&keys[..count], &free, &mut same);
                digits.decode(&strings[..count], &free, &mut back);
                assert!(same == strings[..count] && back == keys[..count], "{kernel:?}");
            }
        }
        let bits = 5 + 5 + 4 + 4 + 3 + 8 * 6;
        let most = strings.chunks_exact(layout.words).map(|string| string[0]).max().unwrap();
        assert!(u64::BITS - most.leading_zeros() + 64 <= bits + 6, "{most:x}");
    }
}
