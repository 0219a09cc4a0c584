//! Sets of keys: a hash table that finds the new ones among those that moves produce in a bucket.
//!
//! Its lines are compared as a whole.

use crate::kernel::{Kernel, dispatch};

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

/// Eight keys, word by word, in a cache line for each word: a word of all keys is compared at once.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line<const W: usize>([[u64; LINE]; W]);

/// The keys that moves produce in a bucket, and those among which they may be: the **known** ones.
///
/// Use: [`KeySet::begin`], then [`KeySet::add`] in any order, then [`KeySet::each_new`].
#[derive(Debug, Default)]
pub(crate) struct KeySet<const W: usize> {
    lines: Vec<Line<W>>,
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
    /// For each part, generated and known: blocks, and the place of the next key, a multiple of `BLOCK` if all are
    /// full.
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
            self.lines.resize(self.used.next_power_of_two(), Line([[0; LINE]; W]));
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
            [KeySet::insert_all::<true>], [KeySet::insert_all::<false>], [KeySet::insert_all::<false>],
            [KeySet::insert_all::<false>]
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
                for words in &self.lines[*at].0 {
                    crate::kernel::prefetch::<1, _>(words);
                }
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
            let (Line(line), count) = (&mut self.lines[at], &mut self.counts[at]);
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
        for kernel in Kernel::ALL {
            check::<1>(kernel);
            check::<2>(kernel);
            check::<4>(kernel);
        }
    }
}
