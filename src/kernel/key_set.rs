//! The set of the keys of one bucket: a hash table whose lines are compared as a whole.
//!
//! A line contains eight keys, word by word, and a count. A key is looked up in the line determined by its hash, or in
//! the next one if that line is full. There is no branch on whether the key is found, which would be unpredictable.
//!
//! Invariant: every key that has been inserted since the last [`KeySet::clear`] is in the set exactly once.

use crate::kernel::Kernel;

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

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
}
