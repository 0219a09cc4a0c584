//! Sets of keys: a hash table that finds the new ones, and strings of digits in which a sorted list of them is small.
//!
//! A list search inserts every key that moves produce in a bucket into a [`KeySet`]. A coded list stores the keys as
//! the strings of [`KeyDigits`].

use crate::kernel::{
    Kernel, dispatch,
    keys::{KeyField, KeyLayout, KeyWords, WORDS, key_by_key, word_by_word},
    words::nth,
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
const PARTS: usize = 1024;
/// Number of keys of a part that are stored together.
const BLOCK: usize = 512;

/// The keys that moves produce in a bucket, and those among which they may be: the **known** ones.
///
/// Use: [`KeySet::begin`], then [`KeySet::add`] in any order, then [`KeySet::each_new`].
#[derive(Debug, Default)]
pub(crate) struct KeySet<const W: usize> {
    lines: Vec<[[u64; LINE]; W]>,
    counts: Vec<u8>,
    /// Number of lines in use.
    used: usize,
    /// Number of bits of a hash that determine the part.
    skip: u32,
    /// The slice whose keys are taken, of so many.
    slice: (usize, usize),
    /// The generated and the known keys if there is one part.
    whole: [Vec<u64>; 2],
    /// The keys of all parts, in blocks.
    blocks: Vec<[[u64; W]; BLOCK]>,
    taken: usize,
    /// For each part, generated and known: blocks, and the place of the next key, a multiple of `BLOCK` if all are full.
    chains: Vec<[Vec<u32>; 2]>,
    places: Vec<[usize; 2]>,
    /// The new keys of a part.
    new: Vec<[u64; W]>,
    /// Number of generated keys, including duplicates.
    pub generated: u64,
}

impl<const W: usize> KeySet<W> {
    /// Empties the set, for one of several slices of this many keys, or for few keys if their number is not known.
    pub fn begin(&mut self, keys: usize, slice: (usize, usize)) {
        let parts = KeySet::<W>::parts(keys / slice.1);
        (self.slice, self.skip, self.taken, self.generated) = (slice, parts.ilog2(), 0, 0);
        self.whole.iter_mut().for_each(Vec::clear);
        if parts > 1 {
            self.chains.resize_with(parts.max(self.chains.len()), Default::default);
            self.chains.as_flattened_mut().iter_mut().for_each(Vec::clear);
            self.places = vec![[0; 2]; parts];
            let blocks = keys / slice.1 / BLOCK + 2 * parts;
            self.blocks.reserve_exact(blocks.saturating_sub(self.blocks.len()));
        }
    }

    fn parts(keys: usize) -> usize {
        (keys * W * 8 / PART).next_power_of_two().min(PARTS)
    }

    /// Returns where keys may be appended, instead of being added, if there is one part and one slice.
    pub fn whole(&mut self, is_known: bool) -> &mut Vec<u64> {
        debug_assert!(self.skip == 0 && self.slice.1 == 1);
        &mut self.whole[usize::from(is_known)]
    }

    /// Adds those of the keys that are in the slice. Cost: some 3 ns per key.
    pub fn add(&mut self, keys: &[[u64; W]], is_known: bool) {
        let (side, (slice, slices)) = (usize::from(is_known), self.slice);
        if self.skip == 0 {
            let is_here = |key: &&[u64; W]| slices == 1 || slice_of(hash(key), slices) == slice;
            return self.whole[side].extend(keys.iter().filter(is_here).flatten());
        }
        for key in keys {
            let hash = hash(key);
            if slices > 1 && slice_of(hash, slices) != slice {
                continue;
            }
            let part = (hash >> (u64::BITS - self.skip)) as usize;
            let place = &mut self.places[part][side];
            if place.is_multiple_of(BLOCK) {
                if self.taken == self.blocks.len() {
                    self.blocks.push([[0; W]; BLOCK]);
                }
                self.chains[part][side].push(self.taken as u32);
                *place = self.taken * BLOCK;
                self.taken += 1;
            }
            self.blocks.as_flattened_mut()[*place] = *key;
            *place += 1;
        }
    }

    /// Calls a function with the generated keys that are not among the known ones, each once, in any order, some at a
    /// time, until it fails. Cost: some 10 ns per key.
    pub fn each_new<E>(
        &mut self,
        kernel: Kernel,
        mut each: impl FnMut(&[[u64; W]]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut new = std::mem::take(&mut self.new);
        let whole = std::mem::take(&mut self.whole);
        let [generated, known] = whole.each_ref().map(|keys| keys.as_chunks::<W>().0);
        let keys = generated.len() + known.len();
        if KeySet::<W>::parts(keys) > 1 {
            self.begin(keys, (0, 1));
            self.add(generated, false);
            self.add(known, true);
        }
        let ended = if self.skip == 0 {
            self.generated = generated.len() as u64;
            self.difference([known, generated].map(|keys| [keys].into_iter()), kernel, &mut new);
            each(&new)
        } else {
            let (stored, chains) =
                (std::mem::take(&mut self.blocks), std::mem::take(&mut self.chains));
            let (blocks, places) = (&stored, self.places.clone());
            let ended = chains.iter().zip(places).try_for_each(|(chains, places)| {
                let keys = |side: usize| {
                    let (chain, end) = (&chains[side], places[side].wrapping_sub(1) % BLOCK + 1);
                    chain.iter().enumerate().map(move |(i, &block)| {
                        let end = if i + 1 == chain.len() { end } else { BLOCK };
                        &blocks[block as usize][..end]
                    })
                };
                self.generated += keys(0).map(<[_]>::len).sum::<usize>() as u64;
                self.difference([keys(1), keys(0)], kernel, &mut new);
                each(&new)
            });
            (self.blocks, self.chains) = (stored, chains);
            ended
        };
        (self.new, self.whole) = (new, whole);
        ended
    }

    /// Replaces `new` with the generated keys that are not among the known ones.
    fn difference<'a>(
        &mut self,
        [known, generated]: [impl Iterator<Item = &'a [[u64; W]]> + Clone; 2],
        kernel: Kernel,
        new: &mut Vec<[u64; W]>,
    ) {
        let both = known.clone().chain(generated.clone());
        self.clear(both.map(<[_]>::len).sum());
        known.for_each(|keys| self.insert(keys, kernel, new));
        new.clear();
        generated.for_each(|keys| self.insert(keys, kernel, new));
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

/// Returns one of several slices for a hash.
#[inline(always)]
fn slice_of(hash: u64, slices: usize) -> usize {
    ((hash as u32 as usize).wrapping_mul(0x9E37_79B9) >> 16) % slices
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::random::SplitMix64;

    fn check<const W: usize>(kernel: Kernel) {
        let mut set = KeySet::<W>::default();
        let mut random = SplitMix64::new(1);
        // Enough keys for several parts in the last round, of slices too.
        let most = 9 * PART / (8 * W);
        let rounds = (1..100usize).map(|round| round * 7).chain([most]);
        // With no slices, the number of keys is not known before.
        for (round, slices) in rounds.flat_map(|round| [0, 1, 3].map(|slices| (round, slices))) {
            let mut keys = |count: usize| -> Vec<[u64; W]> {
                let mut next = || random.below(round as u64 / 7);
                (0..count).map(|_| std::array::from_fn(|_| next())).collect()
            };
            let (known, generated) = (keys(round / 3), keys(round));
            let (mut new, mut all) = (Vec::new(), 0);
            for slice in 0..slices.max(1) {
                let keys = slices.min(1) * (known.len() + generated.len());
                set.begin(keys, (slice, slices.max(1)));
                for (keys, is_known) in [(&generated, false), (&known, true)] {
                    keys.chunks(100).for_each(|keys| set.add(keys, is_known));
                }
                let mut take = |keys: &[_]| {
                    new.extend_from_slice(keys);
                    Ok::<_, ()>(())
                };
                set.each_new(kernel, &mut take).unwrap();
                all += set.generated;
            }
            assert_eq!(all, generated.len() as u64);
            let expected = &HashSet::<[_; W]>::from_iter(generated) - &HashSet::from_iter(known);
            assert_eq!(new.len(), expected.len(), "{kernel:?} {W} {round} {slices}");
            assert!(HashSet::from_iter(new) == expected, "{kernel:?} {W} {round} {slices}");
        }
        // The last round has several parts; the first of them ends it.
        let mut calls = 0..;
        assert_eq!(set.each_new(kernel, |_| Err(calls.next())), Err(Some(0)));
        assert_eq!(calls.next(), Some(1));
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
