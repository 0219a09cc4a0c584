//! Keys: the fields of a state that its bucket does not determine, packed into words; and the effects of moves on many
//! keys.
//!
//! A word of a key has up to 16 fields, in two **lanes** of up to eight, so that a register of bytes can unpack a word
//! with one shift per byte and pack it again with two multiplications.
//!
//! Invariant: all implementations of an operation (with AVX-512, with AVX2, with NEON, and without) give the same keys
//! in the same order.

#[cfg(target_arch = "aarch64")]
use crate::kernel::key_shifts::KeyShifts;
use crate::kernel::{Kernel, by_words};

/// Maximum number of values of a field whose table fits in one register.
const TABLE: usize = 64;

/// Number of keys that show which fields an operation usually changes.
const SAMPLE: usize = 256;

/// Maximum number of tables of an operation that are kept in registers; AVX2 has no other way.
#[cfg(target_arch = "x86_64")]
const TABLES: usize = 8;

#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyField {
    pub word: usize,
    pub shift: u32,
    pub bits: u32,
    /// Its byte when the key is unpacked.
    pub byte: usize,
}

impl KeyField {
    #[inline(always)]
    pub fn value(self, key: &[u64]) -> u64 {
        self.of_word(key[self.word])
    }

    #[inline(always)]
    pub fn of_word(self, word: u64) -> u64 {
        word >> self.shift & ((1 << self.bits) - 1)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct KeyLayout {
    pub fields: Vec<KeyField>,
    pub words: usize,
    /// The kernel for all operations; the processor must have its instructions.
    pub kernel: Kernel,
    #[cfg(target_arch = "x86_64")]
    spread: Option<Spread>,
    #[cfg(target_arch = "aarch64")]
    spread: Option<KeyShifts>,
}

/// A map of keys: field q of the result is the entry of `tables[table[q]]` for field `source[q]` of the argument.
#[derive(Clone, Debug)]
pub(crate) struct KeyOperation {
    pub source: Vec<u16>,
    pub table: Vec<u16>,
    pub tables: Vec<[u8; 128]>,
    /// For each byte of a register of unpacked keys, the byte from which it comes.
    shuffle: [u8; 64],
    /// The bytes of such a register to which each table applies.
    masks: Vec<u64>,
}

impl KeyOperation {
    /// An operation on no fields.
    fn new(shuffle: [u8; 64]) -> KeyOperation {
        let (source, table, tables, masks) = Default::default();
        KeyOperation { source, table, tables, shuffle, masks }
    }

    /// Returns this operation followed by another. Cost: a fifth of a microsecond for each of its tables.
    pub fn then(&self, next: &KeyOperation) -> KeyOperation {
        let shuffle = next.shuffle.map(|from| self.shuffle[usize::from(from)]);
        let mut both = KeyOperation::new(shuffle);
        let mut pairs = Vec::new();
        for (&source, &table) in next.source.iter().zip(&next.table) {
            let pair = [self.table[usize::from(source)], table].map(usize::from);
            let index = pairs.iter().position(|&known| known == pair).unwrap_or_else(|| {
                pairs.push(pair);
                let (first, second) = (&self.tables[pair[0]], &next.tables[pair[1]]);
                both.tables.push(first.map(|value| second[usize::from(value)]));
                // The bytes to which the first table applies, where the second operation takes them.
                let moved = next.shuffle.iter().rev();
                let moved = moved.fold(0, |mask, from| mask << 1 | self.masks[pair[0]] >> from & 1);
                both.masks.push(moved & next.masks[pair[1]]);
                pairs.len() - 1
            });
            both.source.push(self.source[usize::from(source)]);
            both.table.push(index as u16);
        }
        both
    }
}

const DIGEST: u32 = 0x9E37_79B9;

/// A 64-bit number that two sums rarely have in common.
pub(crate) fn digest(sum: u32) -> u64 {
    u64::from(sum) * u64::from(sum ^ DIGEST)
}

impl KeyLayout {
    /// Maximum number of words of a key.
    pub const MAX_WORDS: usize = 128;

    /// Returns the layout for fields with these numbers of values. Keys of more than four words, which are not unpacked
    /// in registers, may have additional words at the end that are always 0.
    pub fn new(values: &[usize], kernel: Kernel) -> KeyLayout {
        assert!(kernel.is_supported(), "the processor has no {kernel:?}");
        let mut layout = KeyLayout::with(values, kernel, 16);
        if layout.words > 4 {
            // These keys need no lanes.
            layout = KeyLayout::with(values, kernel, 64);
        }
        let mut supported = [1, 2, 3, 4, 8, 16, 32, 64, KeyLayout::MAX_WORDS].into_iter();
        // Keys that are too long are refused by the caller.
        layout.words = supported.find(|&words| words >= layout.words).unwrap_or(layout.words);
        layout
    }

    /// With at most this many fields per word.
    fn with(values: &[usize], kernel: Kernel, most: usize) -> KeyLayout {
        let mut fields: Vec<KeyField> = Vec::new();
        let (mut word, mut shift, mut in_word) = (0, 0, 0);
        for &values in values {
            let bits = usize::BITS - (values.max(2) - 1).leading_zeros();
            if shift + bits > 64 || in_word == most {
                (word, shift, in_word) = (word + 1, 0, 0);
            }
            fields.push(KeyField { word, shift, bits, byte: 16 * word + in_word });
            (shift, in_word) = (shift + bits, in_word + 1);
        }
        KeyLayout {
            words: word + 1,
            kernel,
            #[cfg(target_arch = "x86_64")]
            spread: if most == 16 { Spread::of(&fields, values) } else { None },
            #[cfg(target_arch = "aarch64")]
            spread: (most == 16 && values.iter().all(|&values| values <= TABLE))
                .then(|| KeyShifts::of(word + 1, fields.iter().map(|f| (f.byte, f.shift, f.bits))))
                .flatten(),
            fields,
        }
    }

    pub fn pack(&self, values: &[u8]) -> Vec<u64> {
        let mut key = vec![0; self.words];
        for (field, &value) in self.fields.iter().zip(values) {
            key[field.word] |= u64::from(value) << field.shift;
        }
        key
    }

    #[inline]
    pub fn value(&self, key: &[u64], field: usize) -> usize {
        self.fields[field].value(key) as usize
    }

    /// Returns the operation that sets field q to the entry of `tables[q]` for field `source[q]`.
    pub fn operation(&self, source: &[u16], tables: &[Vec<u8>]) -> KeyOperation {
        let mut operation = KeyOperation { source: source.to_vec(), ..KeyOperation::new([0; 64]) };
        let key_bytes = 16 * self.words;
        for (q, (&from, values)) in source.iter().zip(tables).enumerate() {
            let mut table = [0; 128];
            table[..values.len()].copy_from_slice(values);
            // A field may share the table of another one that has fewer values.
            let alike = |known: &[u8; 128]| known[..values.len()] == table[..values.len()];
            let index = operation.tables.iter().position(alike).unwrap_or_else(|| {
                operation.tables.push(table);
                operation.masks.push(0);
                operation.tables.len() - 1
            });
            operation.table.push(index as u16);
            let (to, from) = (self.fields[q].byte, self.fields[usize::from(from)].byte);
            for key in 0..64 / key_bytes {
                operation.shuffle[key * key_bytes + to] = (key * key_bytes + from) as u8;
                operation.masks[index] |= 1 << (key * key_bytes + to);
            }
        }
        operation
    }

    /// Appends the results of an operation on keys, in their order.
    pub fn apply(&self, operation: &KeyOperation, keys: &[u64], out: &mut Vec<u64>) {
        #[cfg(target_arch = "x86_64")]
        if let Some(spread) = &self.spread {
            // SAFETY: the processor has the instructions of the kernel.
            unsafe {
                match (self.kernel, self.words) {
                    (Kernel::Avx512, words) => return spread.apply(operation, keys, words, out),
                    (Kernel::Avx2, _) if operation.tables.len() > TABLES => {}
                    (Kernel::Avx2, words) => {
                        return by_words!(
                            words, W => spread.apply_avx2::<W>(operation, keys, out), 1 2 3 4
                        );
                    }
                    (Kernel::Neon | Kernel::Scalar, _) => {}
                }
            }
        }
        #[cfg(target_arch = "aarch64")]
        if let Some(spread) = &self.spread
            && self.kernel == Kernel::Neon
        {
            let (shuffle, tables) = (&operation.shuffle, operation.tables.iter());
            let tables: Vec<_> = tables.zip(operation.masks.iter().copied()).collect();
            return by_words!(self.words, W => spread.apply::<W>(shuffle, &tables, keys, out), 1 2 3 4);
        }
        self.apply_scalar(operation, keys, out);
    }

    /// Returns how many keys an operation leaves as they are.
    pub fn fixed<const W: usize>(&self, operation: &KeyOperation, keys: &[[u64; W]]) -> u64 {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if self.spread.is_some() && self.kernel != Kernel::Scalar {
            let mut images = Vec::new();
            self.apply(operation, keys.as_flattened(), &mut images);
            let both = keys.iter().zip(images.as_chunks::<W>().0);
            return both.filter(|(key, image)| key == image).count() as u64;
        }
        let changes = |key: &[u64], q: usize| {
            let from = self.value(key, usize::from(operation.source[q]));
            let value = operation.tables[usize::from(operation.table[q])][from];
            usize::from(value) != self.value(key, q)
        };
        // Most images differ in one of the fields in which most of a few hundred images differ.
        let mut fields: Vec<usize> = (0..self.fields.len()).collect();
        if keys.len() > 4 * SAMPLE {
            let sample = || keys.iter().step_by(keys.len() / SAMPLE);
            let changed = |&q: &usize| sample().filter(|key| changes(*key, q)).count();
            fields.sort_by_cached_key(|q| std::cmp::Reverse(changed(q)));
        }
        keys.iter().filter(|key| fields.iter().all(|&q| !changes(*key, q))).count() as u64
    }

    /// Returns the sum over all keys of the [`digest`] of the sum of their fields: `base` plus, for each field, the
    /// entry of its table.
    pub fn checksum(&self, keys: &[u64], base: u32, adds: &[[u32; 128]]) -> u64 {
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
        let mut done = 0;
        let mut sum = 0u64;
        #[cfg(target_arch = "x86_64")]
        if self.kernel == Kernel::Avx512 && self.spread.is_some() {
            done = keys.len() / (16 * self.words) * 16 * self.words;
            // SAFETY: the processor has the instructions; there are 16 keys, or 32, ..
            sum = unsafe { self.checksum_avx512(&keys[..done], base, adds) };
        }
        for key in keys[done..].chunks_exact(self.words) {
            let entry = |(field, adds): (&KeyField, &[u32; 128])| {
                adds[field.value(key) as usize % adds.len()]
            };
            let all = self.fields.iter().zip(adds).map(entry).fold(base, u32::wrapping_add);
            sum = sum.wrapping_add(digest(all));
        }
        sum
    }

    /// # Safety
    /// The processor has AVX-512 F; the number of keys is a multiple of 16.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    unsafe fn checksum_avx512(&self, keys: &[u64], base: u32, adds: &[[u32; 128]]) -> u64 {
        use std::arch::x86_64::*;
        let every: [i64; 8] = std::array::from_fn(|i| (i * self.words) as i64);
        let low: [u32; 16] = std::array::from_fn(|i| 2 * i as u32);
        let (every, low) = (load(&every), load(&low));
        let salt = _mm512_set1_epi32(DIGEST as i32);
        let mut sums = _mm512_setzero_si512();
        for keys in keys.chunks_exact(16 * self.words) {
            let mut all = _mm512_set1_epi32(base as i32);
            let (mut word, mut first, mut last) = (usize::MAX, low, low);
            for (field, adds) in self.fields.iter().zip(adds) {
                if field.word != word {
                    word = field.word;
                    let (here, there) = keys.split_at(8 * self.words);
                    let eight = |half: &[u64]| load(half.first_chunk::<8>().expect("8 keys"));
                    (first, last) = if self.words == 1 {
                        (eight(here), eight(there))
                    } else {
                        // SAFETY: eight keys are read from each half, which has at least eight.
                        unsafe {
                            (
                                _mm512_i64gather_epi64::<8>(every, here[word..].as_ptr().cast()),
                                _mm512_i64gather_epi64::<8>(every, there[word..].as_ptr().cast()),
                            )
                        }
                    };
                }
                let shift = _mm_cvtsi64_si128(i64::from(field.shift));
                let (first, last) = (_mm512_srl_epi64(first, shift), _mm512_srl_epi64(last, shift));
                let index = _mm512_permutex2var_epi32(first, low, last);
                let index = _mm512_and_si512(index, _mm512_set1_epi32((1 << field.bits) - 1));
                let quarter = |i: usize| {
                    load(adds[16 * i..].first_chunk::<16>().expect("eight times sixteen"))
                };
                let mut entry = _mm512_permutex2var_epi32(quarter(0), index, quarter(1));
                if field.bits > 5 {
                    let high = _mm512_permutex2var_epi32(quarter(2), index, quarter(3));
                    let is_high = _mm512_test_epi32_mask(index, _mm512_set1_epi32(32));
                    entry = _mm512_mask_mov_epi32(entry, is_high, high);
                }
                all = _mm512_add_epi32(all, entry);
            }
            let other = _mm512_xor_si512(all, salt);
            let even = _mm512_mul_epu32(all, other);
            let odd = _mm512_mul_epu32(_mm512_srli_epi64(all, 32), _mm512_srli_epi64(other, 32));
            sums = _mm512_add_epi64(sums, _mm512_add_epi64(even, odd));
        }
        _mm512_reduce_add_epi64(sums) as u64
    }

    fn apply_scalar(&self, operation: &KeyOperation, keys: &[u64], out: &mut Vec<u64>) {
        out.reserve(keys.len());
        for key in keys.chunks_exact(self.words) {
            let start = out.len();
            out.resize(start + self.words, 0);
            let fields = self.fields.iter().zip(&operation.source).zip(&operation.table);
            for ((field, &from), &table) in fields {
                let value =
                    operation.tables[usize::from(table)][self.value(key, usize::from(from))];
                out[start + field.word] |= u64::from(value) << field.shift;
            }
        }
    }
}

/// Maximum number of words of keys that are converted word by word.
pub(super) const WORDS: usize = 16;

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

/// How a register unpacks and packs keys: each word as two lanes of eight bytes.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Debug)]
struct Spread {
    /// Number of keys per register.
    keys: usize,
    /// For each lane, the index of its word in the loaded keys.
    lane_word: [u64; 8],
    /// For each byte, the bit of its word at which it begins, and the mask of its bits.
    begin: [u8; 64],
    mask: [u8; 64],
    /// Shifts to the left of the odd bytes, words and halves of a lane.
    odd_byte: [i8; 64],
    odd_word: [i16; 32],
    odd_half: [u64; 8],
    /// The shift to the left of each lane in its word.
    lane: [u64; 8],
    /// For each word and each half of its fields: from which two bytes each pair is taken, and the factor that places
    /// it at the beginning of the second one.
    pair: [[[u8; 16]; 2]; 4],
    rise: [[[u16; 8]; 2]; 4],
    /// The sixteenths of a table that have entries.
    sixteenths: usize,
}

#[cfg(target_arch = "x86_64")]
impl Spread {
    /// Returns `None` if keys have too many words, or fields too many values, for a register.
    fn of(fields: &[KeyField], values: &[usize]) -> Option<Spread> {
        let words = fields.last()?.word + 1;
        if words > 4 || values.iter().any(|&values| values > TABLE) {
            return None;
        }
        let keys = 4 / words;
        let mut spread = Spread {
            keys,
            lane_word: [0; 8],
            begin: [0; 64],
            mask: [0; 64],
            odd_byte: [1; 64],
            odd_word: [1; 32],
            odd_half: [0; 8],
            lane: [0; 8],
            pair: [[[0x80; 16]; 2]; 4],
            rise: [[[0; 8]; 2]; 4],
            sixteenths: values.iter().max()?.div_ceil(16),
        };
        for field in fields {
            let (half, i) = (field.byte / 8 % 2, field.byte % 8);
            let first = (field.shift / 8) as u8;
            // There is no byte after the last one.
            let second = if first < 7 { first + 1 } else { 0x80 };
            spread.pair[field.word][half][2 * i..][..2].copy_from_slice(&[first, second]);
            spread.rise[field.word][half][i] = 1 << (8 - field.shift % 8);
        }
        for lane in 0..2 * words * keys {
            spread.lane_word[lane] = (lane / 2) as u64;
            let first = 8 * (lane % (2 * words));
            // The bits before each field of the lane, counted from the first one.
            let mut before = [0u32; 9];
            for i in 0..8 {
                let field = fields.iter().find(|field| field.byte == first + i);
                before[i + 1] = before[i] + field.map_or(0, |field| field.bits);
                if let Some(field) = field {
                    spread.begin[8 * lane + i] = field.shift as u8;
                    spread.mask[8 * lane + i] = ((1u32 << field.bits) - 1) as u8;
                    if i == 0 {
                        spread.lane[lane] = u64::from(field.shift);
                    }
                }
            }
            for pair in 0..4 {
                let bits = before[2 * pair + 1] - before[2 * pair];
                spread.odd_byte[8 * lane + 2 * pair + 1] = 1 << bits;
            }
            for four in 0..2 {
                let bits = before[4 * four + 2] - before[4 * four];
                spread.odd_word[4 * lane + 2 * four + 1] = 1 << bits;
            }
            spread.odd_half[lane] = u64::from(before[4]);
        }
        Some(spread)
    }

    /// Appends the results of an operation on keys of `W` words, one word at a time.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[target_feature(enable = "avx2")]
    unsafe fn apply_avx2<const W: usize>(
        &self,
        operation: &KeyOperation,
        keys: &[u64],
        out: &mut Vec<u64>,
    ) {
        use std::arch::x86_64::*;
        // Indices of 16 or more get their highest bit set, so that a shuffle gives 0.
        let beyond = _mm_set1_epi8(0x70);
        let at = |from: __m128i, part: usize| {
            _mm_add_epi8(_mm_xor_si128(from, _mm_set1_epi8(16 * part as i8)), beyond)
        };
        let word_bytes = |of: &[u8; 64], word: usize| part::<u8, 16>(&of[16 * word..]);
        let (low, zero) = (_mm_set1_epi64x(0xffff_ffff), _mm_setzero_si128());
        let mut sources = [[zero; W]; W];
        for (o, sources) in sources.iter_mut().enumerate() {
            for (w, source) in sources.iter_mut().enumerate() {
                *source = at(word_bytes(&operation.shuffle, o), w);
            }
        }
        let mut tables = [[zero; 4]; TABLES];
        let mut masks = [[zero; W]; TABLES];
        let count = operation.tables.len();
        for (i, (table, mask)) in operation.tables.iter().zip(&operation.masks).enumerate() {
            tables[i] = std::array::from_fn(|part_of| part::<u8, 16>(&table[16 * part_of..]));
            masks[i] = std::array::from_fn(|o| bytes_of(*mask >> (16 * o)));
        }
        let lookup = |table: &[__m128i; 4], x: &[__m128i; 4]| {
            let entries = |i: usize| _mm_shuffle_epi8(table[i], x[i]);
            let both = _mm_or_si128(entries(0), entries(1));
            match self.sixteenths {
                0..=2 => both,
                _ => _mm_or_si128(both, _mm_or_si128(entries(2), entries(3))),
            }
        };
        let start = out.len();
        out.resize(start + keys.len(), 0);
        let made = out[start..].as_chunks_mut::<W>().0;
        for (key, to) in keys.as_chunks::<W>().0.iter().zip(made) {
            let mut spread = [zero; W];
            for (w, spread) in spread.iter_mut().enumerate() {
                let word = _mm_cvtsi64_si128(key[w] as i64);
                let half = |half: usize| {
                    let pairs = _mm_shuffle_epi8(word, part::<u8, 16>(&self.pair[w][half]));
                    _mm_srli_epi16::<8>(_mm_mullo_epi16(pairs, part::<u16, 8>(&self.rise[w][half])))
                };
                let bytes = _mm_packus_epi16(half(0), half(1));
                *spread = _mm_and_si128(bytes, word_bytes(&self.mask, w));
            }
            for (o, to) in to.iter_mut().enumerate() {
                let mut x = _mm_shuffle_epi8(spread[0], sources[o][0]);
                for w in 1..W {
                    x = _mm_or_si128(x, _mm_shuffle_epi8(spread[w], sources[o][w]));
                }
                let x = std::array::from_fn(|i| at(x, i));
                let mut y = lookup(&tables[0], &x);
                for i in 1..count {
                    y = _mm_blendv_epi8(y, lookup(&tables[i], &x), masks[i][o]);
                }
                y = _mm_and_si128(y, word_bytes(&self.mask, o));
                let y = _mm_maddubs_epi16(y, part::<i8, 16>(&self.odd_byte[16 * o..]));
                let y = _mm_madd_epi16(y, part::<i16, 8>(&self.odd_word[8 * o..]));
                let odd_half = part::<u64, 2>(&self.odd_half[2 * o..]);
                let high = _mm_sllv_epi64(_mm_srli_epi64::<32>(y), odd_half);
                let y = _mm_or_si128(_mm_and_si128(y, low), high);
                let y = _mm_sllv_epi64(y, part::<u64, 2>(&self.lane[2 * o..]));
                *to = (_mm_cvtsi128_si64(y) | _mm_extract_epi64::<1>(y)) as u64;
            }
        }
    }

    /// Appends the results of an operation on keys.
    ///
    /// # Safety
    /// The processor has AVX-512 F, BW and VBMI.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    unsafe fn apply(
        &self,
        operation: &KeyOperation,
        keys: &[u64],
        words: usize,
        out: &mut Vec<u64>,
    ) {
        use std::arch::x86_64::*;
        let step = self.keys * words;
        let (lane_word, begin) = (load(&self.lane_word), load(&self.begin));
        let (mask, shuffle) = (load(&self.mask), load(&operation.shuffle));
        let (odd_half, lane) = (load(&self.odd_half), load(&self.lane));
        let (odd_byte, odd_word) = (load(&self.odd_byte), load(&self.odd_word));
        let low = _mm512_set1_epi64(0xffff_ffff);
        let table = |of: &[u8; 128]| load(of.first_chunk::<64>().expect("64 of 128"));
        let mut tables = [(0u64, _mm512_setzero_si512()); TABLES];
        let count = operation.tables.len();
        let in_registers = count <= tables.len();
        for (to, (of, &mask)) in
            tables.iter_mut().zip(operation.tables.iter().zip(&operation.masks))
        {
            *to = (mask, table(of));
        }
        out.reserve(keys.len() + 8);
        let mut room = out.len();
        for part in keys.chunks(step) {
            // SAFETY: as many words are read as there are.
            let x = unsafe {
                _mm512_maskz_loadu_epi64((1 << part.len()) as u8 - 1, part.as_ptr().cast())
            };
            let x = _mm512_permutexvar_epi64(lane_word, x);
            let x = _mm512_and_si512(_mm512_multishift_epi64_epi8(begin, x), mask);
            let x = _mm512_permutexvar_epi8(shuffle, x);
            let mut y = _mm512_setzero_si512();
            if in_registers {
                for &(mask, table) in &tables[..count] {
                    y = _mm512_mask_permutexvar_epi8(y, mask, x, table);
                }
            } else {
                for (of, &mask) in operation.tables.iter().zip(&operation.masks) {
                    y = _mm512_mask_permutexvar_epi8(y, mask, x, table(of));
                }
            }
            let y = _mm512_maddubs_epi16(y, odd_byte);
            let y = _mm512_madd_epi16(y, odd_word);
            let high = _mm512_sllv_epi64(_mm512_srli_epi64(y, 32), odd_half);
            let y = _mm512_or_si512(_mm512_and_si512(y, low), high);
            let y = _mm512_sllv_epi64(y, lane);
            let y = _mm512_or_si512(y, _mm512_permutex_epi64(y, 0b10_11_00_01));
            let y = _mm512_maskz_compress_epi64(0x55, y);
            // SAFETY: there is room for eight words more than there are keys; four are written.
            unsafe { _mm512_mask_storeu_epi64(out.as_mut_ptr().add(room).cast(), 0xf, y) };
            room += part.len();
        }
        // SAFETY: the words before this one have been written.
        unsafe { out.set_len(room) };
    }
}

/// A register of 64 bytes from memory.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
pub(super) fn load<T: Copy, const N: usize>(from: &[T; N]) -> std::arch::x86_64::__m512i {
    const { assert!(size_of::<[T; N]>() == 64, "a register has 64 bytes") };
    // SAFETY: 64 bytes are read.
    unsafe { std::arch::x86_64::_mm512_loadu_si512(from.as_ptr().cast()) }
}

/// A register of 64 bytes to memory.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
pub(super) fn store<T: Copy, const N: usize>(to: &mut [T; N], x: std::arch::x86_64::__m512i) {
    const { assert!(size_of::<[T; N]>() == 64, "a register has 64 bytes") };
    // SAFETY: 64 bytes are written; T is a number.
    unsafe { std::arch::x86_64::_mm512_storeu_si512(to.as_mut_ptr().cast(), x) }
}

/// A register of 16 bytes from the beginning of a slice.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn part<T: Copy, const N: usize>(from: &[T]) -> std::arch::x86_64::__m128i {
    const { assert!(size_of::<[T; N]>() == 16, "a register has 16 bytes") };
    let from = from.first_chunk::<N>().expect("16 bytes");
    // SAFETY: 16 bytes are read.
    unsafe { std::arch::x86_64::_mm_loadu_si128(std::ptr::from_ref(from).cast()) }
}

/// All bits of the bytes that correspond to the 16 given bits.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn bytes_of(bits: u64) -> std::arch::x86_64::__m128i {
    use std::arch::x86_64::*;
    let both = _mm_set_epi64x((bits >> 8) as i64 & 0xff, bits as i64 & 0xff);
    let own = _mm_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
    let spread = _mm_shuffle_epi8(both, _mm_set_epi64x(0x0808_0808_0808_0808, 0));
    _mm_cmpeq_epi8(_mm_and_si128(spread, own), own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// Of keys of one word, and of more words than a register has, some of which an exchange of fields leaves.
    #[test]
    fn keys_that_an_operation_leaves_are_those_with_equal_images() {
        let mut random = SplitMix64::new(5);
        of_keys::<1>(10, &mut random);
        of_keys::<8>(90, &mut random);
    }

    fn of_keys<const W: usize>(fields: usize, random: &mut SplitMix64) {
        let layout = KeyLayout::new(&vec![24; fields], Kernel::Scalar);
        assert_eq!(layout.words, W);
        let source: Vec<u16> = (0..fields as u16).map(|q| q ^ u16::from(q < 6)).collect();
        let operation = layout.operation(&source, &vec![(0..24).collect(); fields]);
        for count in [10, 5000] {
            let mut key = || {
                let values: Vec<u8> = (0..fields).map(|_| random.below(2) as u8).collect();
                layout.pack(&values)
            };
            let keys: Vec<u64> = (0..count).flat_map(|_| key()).collect();
            let mut images = Vec::new();
            layout.apply(&operation, &keys, &mut images);
            let pairs = keys.as_chunks::<W>().0.iter().zip(images.as_chunks::<W>().0);
            let truth = pairs.filter(|(key, image)| key == image).count() as u64;
            assert!(count < 100 || truth > count / 16 && truth < count / 4, "{truth}");
            for kernel in [Kernel::Scalar, Kernel::best()] {
                let layout = KeyLayout { kernel, ..layout.clone() };
                let found = layout.fixed(&operation, keys.as_chunks::<W>().0);
                assert_eq!(found, truth, "{fields} fields, {count} keys");
            }
        }
    }

    /// Operations that exchange fields, with several tables each, of keys of one word and of several.
    #[test]
    fn composed_operations_do_what_one_after_the_other_does() {
        let mut random = SplitMix64::new(6);
        for fields in [5, 10, 20, 30, 40, 90] {
            let layout = KeyLayout::new(&vec![24; fields], Kernel::Scalar);
            let mut operation = || {
                let tables: Vec<Vec<u8>> =
                    (0..3).map(|_| (0..24).map(|_| random.below(24) as u8).collect()).collect();
                let own: Vec<Vec<u8>> =
                    (0..fields).map(|_| tables[random.below(3) as usize].clone()).collect();
                let source: Vec<u16> =
                    (0..fields).map(|_| random.below(fields as u64) as u16).collect();
                layout.operation(&source, &own)
            };
            let path = [(); 3].map(|()| operation());
            let composed = path[0].then(&path[1]).then(&path[2]);
            let keys: Vec<u64> = (0..100)
                .flat_map(|_| {
                    let values: Vec<u8> = (0..fields).map(|_| random.below(24) as u8).collect();
                    layout.pack(&values)
                })
                .collect();
            for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_supported()) {
                let layout = KeyLayout { kernel, ..layout.clone() };
                let mut truth = keys.clone();
                for operation in &path {
                    let before = std::mem::take(&mut truth);
                    layout.apply(operation, &before, &mut truth);
                }
                let mut found = Vec::new();
                layout.apply(&composed, &keys, &mut found);
                assert!(found == truth, "{fields} fields, {}", kernel.name());
                assert!(found != keys);
            }
        }
    }
}
