//! Keys as strings of digits, in which neighbours in a sorted list have much in common: a coded list stores them.
//!
//! The digit of a piece determines which of the positions left by the preceding pieces is its own, and its orientation.
//! Each digit takes as many bits as its values need; the string of digits is a number of several words, the most
//! significant one first. When keys are sorted by these numbers, each differs from the previous one in few bytes, and
//! the differences are repetitive.
//!
//! Invariant: two keys have the same string only if they are the same key, with the same free positions.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use crate::kernel::keys::{load, store};
use crate::{
    kernel::{
        Kernel, dispatch,
        keys::{KeyField, KeyLayout, KeyWords, WORDS, key_by_key, word_by_word},
        words::{FieldGroup, nth},
    },
    perm::bits,
};

/// Maximum number of sets whose positions are counted among the remaining ones.
pub(crate) const SLOTS: usize = 8;
/// Maximum number of positions of such a set.
pub(crate) const MOST_POSITIONS: usize = 64;

/// The positions of each set that are free before the first digit, one bit each.
pub(crate) type FreePositions = [u64; SLOTS];

/// The meaning of a field's digit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DigitRule {
    /// The value itself, one of this many.
    Value(usize),
    /// The index among the remaining positions of a set, and the orientation.
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
    modulus: u8,
    /// 2^16 / modulus, rounded up: divides a value below 128 with one multiplication.
    inverse: u32,
}

impl Digit {
    /// Returns the place and the orientation.
    #[inline(always)]
    fn parts(&self, value: u8) -> (u8, u8) {
        let place = ((u32::from(value) * self.inverse) >> 16) as u8;
        (place, value.wrapping_sub(place.wrapping_mul(self.modulus)))
    }
}

/// Number of keys whose fields are converted at once, a register of bytes per field.
const BATCH: usize = 64;
/// Minimum number of keys for which a batch takes less time than one key after the other: without and with groups.
const LEAST_BATCH: [usize; 2] = [24, 16];

/// Consecutive digits of the same kind, at most [`MOST_POSITIONS`].
#[derive(Clone, Debug)]
struct DigitRun {
    /// The set whose positions they count, if any.
    slot: Option<usize>,
    /// Whether some have orientations.
    turned: bool,
    /// The digits, most significant first.
    digits: Vec<Digit>,
    /// All of them, for processors with AVX-512.
    groups: Vec<DigitGroup>,
}

/// Up to eight consecutive digits of a run that are in one word of keys and in one of strings, without gaps; all but
/// the most significant one have at most 6 bits.
#[derive(Clone, Debug)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
struct DigitGroup {
    /// Which digits of the run.
    range: Range<usize>,
    /// Where they are in keys, and in strings.
    sides: [FieldGroup; 2],
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
    /// the number of free positions of each set. Returns `None` if keys have more than 16 words, or strings need more
    /// words than keys, which is possible because digits are in a different order from fields, and no digit extends
    /// over two words.
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
            let full = |run: &DigitRun| run.slot != slot || run.digits.len() == MOST_POSITIONS;
            if runs.last().is_none_or(full) {
                runs.push(DigitRun { slot, turned: false, digits: vec![], groups: vec![] });
            }
            let run = runs.last_mut().expect("there is one now");
            run.turned |= modulus > 1;
            run.digits.push(Digit {
                key: layout.fields[field],
                string: KeyField { word, shift, bits, byte: 0 },
                modulus: modulus as u8,
                inverse: (1u32 << 16).div_ceil(modulus as u32),
            });
            shift += bits;
        }
        for run in &mut runs {
            run.digits.reverse();
            let follows = |before: KeyField, field: KeyField| {
                before.word == field.word
                    && before.shift == field.shift + field.bits
                    && field.bits <= 6
            };
            let mut first = 0;
            while first < run.digits.len() {
                let pairs = run.digits[first..].windows(2);
                let more = pairs.take(7).take_while(|pair| {
                    follows(pair[0].key, pair[1].key) && follows(pair[0].string, pair[1].string)
                });
                let range = first..first + 1 + more.count();
                let of = |field: fn(&Digit) -> KeyField| {
                    FieldGroup::new(
                        &run.digits[range.clone()].iter().map(field).collect::<Vec<_>>(),
                    )
                };
                let sides = [of(|digit| digit.key), of(|digit| digit.string)];
                first = range.end;
                run.groups.push(DigitGroup { range, sides });
            }
        }
        runs.reverse();
        Some(KeyDigits { runs, words: layout.words, kernel: layout.kernel })
    }

    /// Appends the strings of keys, in their order. Cost: a comparison and an addition for each pair of digits of an
    /// set, for 64 keys at once.
    pub fn encode(&self, keys: &[u64], free: &FreePositions, out: &mut Vec<u64>) {
        let digits = self;
        dispatch!(
            digits.kernel,
            (digits: &KeyDigits, keys: &[u64], free: &FreePositions, out: &mut Vec<u64>),
            [convert::<TO_STRINGS, true>], [convert::<TO_STRINGS, false>],
            [convert::<TO_STRINGS, false>], [convert::<TO_STRINGS, false>]
        )
    }

    /// Appends the keys of strings, in their order; invalid strings give arbitrary keys. Cost: as for
    /// [`KeyDigits::encode`].
    pub fn decode(&self, strings: &[u64], free: &FreePositions, out: &mut Vec<u64>) {
        let digits = self;
        dispatch!(
            digits.kernel,
            (digits: &KeyDigits, strings: &[u64], free: &FreePositions, out: &mut Vec<u64>),
            [convert::<TO_KEYS_FAST, true>], [convert::<TO_KEYS_FAST, false>],
            [convert::<TO_KEYS, false>], [convert::<TO_KEYS, false>]
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

/// A batch of keys or strings, before and after conversion, and the values and orientations of the digits of a run.
#[repr(align(64))]
struct DigitBatch {
    words: KeyWords<BATCH>,
    results: KeyWords<BATCH>,
    values: [[u8; BATCH]; MOST_POSITIONS],
    turns: [[u8; BATCH]; MOST_POSITIONS],
}

/// Converts keys or strings; groups of digits at once if the processor has AVX-512.
///
/// # Safety
/// The processor has the instructions of the conversion.
#[inline(always)]
unsafe fn convert<const TO: u8, const GROUPS: bool>(
    digits: &KeyDigits,
    from: &[u64],
    free: &FreePositions,
    out: &mut Vec<u64>,
) {
    let (start, each) = (out.len(), digits.words);
    out.resize(start + from.len(), 0);
    let rest = from.len() % (BATCH * each);
    let few = if rest < LEAST_BATCH[usize::from(GROUPS)] * each { rest } else { 0 };
    let (from, few) = from.split_at(from.len() - few);
    let (to, to_few) = out[start..].split_at_mut(from.len());
    for (from, to) in few.chunks_exact(each).zip(to_few.chunks_exact_mut(each)) {
        // SAFETY: the caller's promise.
        unsafe { convert_one::<TO>(digits, from, free, to) };
    }
    if from.is_empty() {
        return;
    }
    let [words, results] = [[[0; BATCH]; WORDS]; 2];
    let [values, turns] = [[[0; BATCH]; MOST_POSITIONS]; 2];
    let mut batch = DigitBatch { words, results, values, turns };
    for (from, to) in from.chunks(BATCH * each).zip(to.chunks_mut(BATCH * each)) {
        word_by_word(from, &mut batch.words[..each]);
        batch.results[..each].fill([0; BATCH]);
        for run in &digits.runs {
            // SAFETY: the caller's promise.
            unsafe { run.convert::<TO, GROUPS>(run.slot.map_or(0, |slot| free[slot]), &mut batch) };
        }
        key_by_key(&batch.results[..each], to);
    }
}

impl DigitRun {
    /// Converts a batch digit by digit. The loops over the batch become single instructions.
    ///
    /// # Safety
    /// The processor has the instructions of the conversion.
    #[inline(always)]
    unsafe fn convert<const TO: u8, const GROUPS: bool>(&self, free: u64, batch: &mut DigitBatch) {
        let DigitBatch { words, results, values, turns } = batch;
        let values = &mut values[..self.digits.len()];
        // SAFETY: the caller's promise.
        unsafe { self.split::<TO, GROUPS>(words, values) };
        if self.turned {
            for ((digit, values), turns) in self.digits.iter().zip(&mut *values).zip(&mut *turns) {
                for (value, turn) in values.iter_mut().zip(turns) {
                    (*value, *turn) = digit.parts(*value);
                }
            }
        }
        if self.slot.is_some() {
            let taken = !free & u64::MAX.checked_shr(free.leading_zeros()).unwrap_or(0);
            if TO == TO_STRINGS {
                // SAFETY: the caller's promise.
                unsafe {
                    skip::<TO, GROUPS>(taken, values);
                    each_after::<TO, GROUPS>(values);
                }
            } else {
                // SAFETY: the caller's promise.
                unsafe {
                    each_after::<TO, GROUPS>(values);
                    skip::<TO, GROUPS>(taken, values);
                }
            }
        }
        if self.turned {
            for ((digit, values), turns) in self.digits.iter().zip(&mut *values).zip(&*turns) {
                for (value, turn) in values.iter_mut().zip(turns) {
                    *value = value.wrapping_mul(digit.modulus).wrapping_add(*turn);
                }
            }
        }
        // SAFETY: the caller's promise.
        unsafe { self.join::<TO, GROUPS>(values, results) };
    }

    /// Writes the values of all digits.
    ///
    /// # Safety
    /// The processor has the instructions of the conversion.
    #[inline(always)]
    unsafe fn split<const TO: u8, const GROUPS: bool>(
        &self,
        words: &KeyWords<BATCH>,
        values: &mut [[u8; BATCH]],
    ) {
        #[cfg(target_arch = "x86_64")]
        if GROUPS {
            for group in &self.groups {
                let side = &group.sides[usize::from(TO != TO_STRINGS)];
                // SAFETY: the caller's promise.
                unsafe { side.split(&words[side.word], &mut values[group.range.clone()]) };
            }
            return;
        }
        for (digit, values) in self.digits.iter().zip(values) {
            let [from, _] = ends::<TO>(digit);
            for (value, word) in values.iter_mut().zip(&words[from.word]) {
                *value = from.of_word(*word) as u8;
            }
        }
    }

    /// Adds the values of all digits to the results.
    ///
    /// # Safety
    /// The processor has the instructions of the conversion.
    #[inline(always)]
    unsafe fn join<const TO: u8, const GROUPS: bool>(
        &self,
        values: &[[u8; BATCH]],
        results: &mut KeyWords<BATCH>,
    ) {
        #[cfg(target_arch = "x86_64")]
        if GROUPS {
            for group in &self.groups {
                let side = &group.sides[usize::from(TO == TO_STRINGS)];
                // SAFETY: the caller's promise.
                unsafe { side.join(&values[group.range.clone()], &mut results[side.word]) };
            }
            return;
        }
        for (digit, values) in self.digits.iter().zip(values) {
            let [_, to] = ends::<TO>(digit);
            for (word, &value) in results[to.word].iter_mut().zip(values) {
                *word |= u64::from(value) << to.shift;
            }
        }
    }
}

/// Replaces each value by the value minus the number of lower ones before it, or the reverse. The values become indices
/// among the positions that the values before leave, without taking positions from a set.
///
/// # Safety
/// The processor has the instructions of the conversion.
#[inline(always)]
unsafe fn each_after<const TO: u8, const GROUPS: bool>(values: &mut [[u8; BATCH]]) {
    /// Of several values at once, because each addition has to wait for the one before.
    const SOME: usize = 4;
    let mut left = values.len();
    while let Some((all, some)) = values[..left].split_last_chunk_mut::<SOME>() {
        let mut results = *some;
        for j in 1..SOME {
            for before in some[..j].iter().rev() {
                // SAFETY: the caller's promise.
                unsafe { after::<TO, GROUPS>(&mut results[j], &some[j], before) };
            }
        }
        for before in all.iter().rev() {
            for j in 0..SOME {
                // SAFETY: the caller's promise.
                unsafe { after::<TO, GROUPS>(&mut results[j], &some[j], before) };
            }
        }
        *some = results;
        left -= SOME;
    }
    for j in (1..left).rev() {
        let mut result = values[j];
        for before in values[..j].iter().rev() {
            // SAFETY: the caller's promise.
            unsafe { after::<TO, GROUPS>(&mut result, &values[j], before) };
        }
        values[j] = result;
    }
}

/// Subtracts 1 from results whose value is greater than the one before, or adds 1 to results that are not less.
///
/// # Safety
/// The processor has the instructions of the conversion.
#[inline(always)]
unsafe fn after<const TO: u8, const GROUPS: bool>(
    result: &mut [u8; BATCH],
    value: &[u8; BATCH],
    before: &[u8; BATCH],
) {
    #[cfg(target_arch = "x86_64")]
    if GROUPS {
        // The compiler would make a register of each mask.
        // SAFETY: the caller's promise.
        unsafe {
            let (old, before, one) = (load(result), load(before), _mm512_set1_epi8(1));
            let new = if TO == TO_STRINGS {
                _mm512_mask_sub_epi8(old, _mm512_cmplt_epu8_mask(before, load(value)), old, one)
            } else {
                _mm512_mask_add_epi8(old, _mm512_cmple_epu8_mask(before, old), old, one)
            };
            store(result, new);
        }
        return;
    }
    for i in 0..BATCH {
        result[i] = if TO == TO_STRINGS {
            result[i].wrapping_sub(u8::from(before[i] < value[i]))
        } else {
            result[i].wrapping_add(u8::from(before[i] <= result[i]))
        };
    }
}

/// Replaces positions by their indices among those that are not taken, or the reverse.
///
/// # Safety
/// The processor has the instructions of the conversion.
#[inline(always)]
unsafe fn skip<const TO: u8, const GROUPS: bool>(taken: u64, values: &mut [[u8; BATCH]]) {
    if taken == 0 {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if GROUPS {
        // SAFETY: the caller's promise.
        return unsafe { look_up::<TO>(!taken, values) };
    }
    for values in values {
        let before = *values;
        for (lower, position) in (0..).zip(bits(taken)) {
            for i in 0..BATCH {
                if TO == TO_STRINGS {
                    values[i] = values[i].wrapping_sub(u8::from(before[i] > position as u8));
                } else {
                    values[i] =
                        values[i].wrapping_add(u8::from(before[i] >= position as u8 - lower));
                }
            }
        }
    }
}

/// Replaces positions by their indices among the free ones, or the reverse.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2")]
fn look_up<const TO: u8>(free: u64, values: &mut [[u8; BATCH]]) {
    let numbers = load(&std::array::from_fn::<u8, 64, _>(|i| i as u8));
    let table = if TO == TO_STRINGS {
        _mm512_maskz_expand_epi8(free, numbers)
    } else {
        _mm512_maskz_compress_epi8(free, numbers)
    };
    for values in values {
        store(values, _mm512_permutexvar_epi8(load(values), table));
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
                        let (place, turn) = digit.parts(value as u8);
                        let place = take::<TO>(&mut left, u64::from(place));
                        place * u64::from(digit.modulus) + u64::from(turn)
                    }
                }
            };
            to[target.word] |= value << target.shift;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn strings_that_need_more_words_than_keys_are_told() {
        let values = [128; 18];
        let layout = KeyLayout::new(&values, Kernel::Scalar);
        let fits = |rules: &[DigitRule]| KeyDigits::new(&layout, rules, &[18; SLOTS]).is_some();
        assert!(fits(&[DigitRule::Value(128); 18]));
        assert!(!fits(&[DigitRule::Value(1 << 40); 18]));
    }

    /// Eight pieces with three orientations, a value between them, and pieces of a larger set.
    #[test]
    fn keys_come_back_and_take_few_bits() {
        let values = [27, 27, 5, 27, 27, 40, 40, 40, 40, 40, 40, 40, 40];
        let rules = values.map(|values| match values {
            27 => DigitRule::Position { slot: 0, modulus: 3 },
            40 => DigitRule::Position { slot: 1, modulus: 1 },
            _ => DigitRule::Value(values),
        });
        of_rules(&rules, &[0b1_1101_0111, (1 << 40) - 1], 5 + 5 + 4 + 4 + 3 + 8 * 6 + 6);
    }

    /// Where the last piece has one position, its digit has no bits.
    #[test]
    fn digits_of_all_pieces_come_back() {
        for pieces in [1, 2, 3, 5, 8, 9, 18, 24] {
            for modulus in [1, 2, 3] {
                let rules = vec![DigitRule::Position { slot: 0, modulus }; pieces];
                let least = (1 << pieces) - 1;
                for free in [least, least << 3, least + (1 << pieces) - (1 << (pieces / 2))] {
                    of_rules(&rules, &[free], 64 * KeyLayout::MAX_WORDS as u32);
                }
            }
        }
    }

    /// Keys come back, in whatever way they are converted, from strings that are smaller than a number of this many
    /// bits.
    fn of_rules(rules: &[DigitRule], of_slots: &[u64], most: u32) {
        let mut free = [0; SLOTS];
        free[..of_slots.len()].copy_from_slice(of_slots);
        let values: Vec<usize> = (rules.iter())
            .map(|rule| match *rule {
                DigitRule::Position { slot, modulus } => {
                    modulus * (64 - free[slot].leading_zeros() as usize)
                }
                DigitRule::Value(values) => values,
            })
            .collect();
        let layout = KeyLayout::new(&values, Kernel::Scalar);
        let counts = free.map(|free| free.count_ones() as usize);
        let digits = KeyDigits::new(&layout, rules, &counts).unwrap();
        let mut random = SplitMix64::new(7);
        let mut next = |below: usize| random.below(below as u64) as usize;
        let mut keys = Vec::new();
        for _ in 0..3 * BATCH + 40 {
            let mut places = free.map(|free| Vec::from_iter(bits(free)));
            let row = Vec::from_iter(rules.iter().map(|rule| match *rule {
                DigitRule::Position { slot, modulus } => {
                    let place = next(places[slot].len());
                    (modulus * places[slot].swap_remove(place) + next(modulus)) as u8
                }
                DigitRule::Value(values) => next(values) as u8,
            }));
            keys.extend(layout.pack(&row));
        }
        // A single key does not fill a batch, and is converted in another way.
        let mut strings = Vec::new();
        for key in keys.chunks(layout.words) {
            digits.encode(key, &free, &mut strings);
        }
        for kernel in Kernel::ALL {
            let digits = KeyDigits { kernel, ..digits.clone() };
            // The last keys are part of a batch, or too few for one.
            for count in [keys.len(), keys.len() - 33 * layout.words] {
                let (mut same, mut back) = (Vec::new(), Vec::new());
                digits.encode(&keys[..count], &free, &mut same);
                digits.decode(&strings[..count], &free, &mut back);
                assert!(same == strings[..count], "{kernel:?}, {} pieces: strings", rules.len());
                assert!(back == keys[..count], "{kernel:?}, {} pieces: keys", rules.len());
            }
        }
        let first = strings.chunks_exact(layout.words).map(|string| string[0]).max().unwrap();
        let rest = 64 * (layout.words as u32 - 1);
        assert!(u64::BITS - first.leading_zeros() + rest <= most, "{first:x}");
    }
}
