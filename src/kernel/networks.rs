//! Networks of swaps that permute the bits of rows: they take the orientations of all pieces to those after a move at
//! once.
//!
//! Any permutation of 2^k bits is a sequence of 2k - 1 stages (Benes 1964). In a stage, two bits at a fixed distance change
//! places if a mask says so; distances fall from half of the bits to one, and rise again:
//!
//! ```text
//! bit 0 ──╳── … ──╳── … ──╳── bit 0      distance 2^(k-1), …, 2, 1, 2, …, 2^(k-1)
//! bit h ──╳── …       … ──╳── bit h      (stages that swap nothing are left out)
//! ```
//!
//! Invariant: all instruction sets compute the same rows.

use crate::kernel::{Kernel, by_words, dispatch, prefetch};

/// Number of rows ahead whose bits are prefetched.
const AHEAD: usize = 6;

/// A permutation of the bits of rows of 1, 2, 4, .., 64 words.
#[derive(Clone, Debug)]
pub(crate) struct BitNetwork {
    words: usize,
    /// For each stage, the distance of the bits that change places, and in a mask the lower one of each pair that does.
    stages: Vec<(usize, Box<[u64]>)>,
}

impl BitNetwork {
    /// The greatest number of words of a row.
    pub const MOST_WORDS: usize = 64;

    /// Returns the network after which each bit is the one that was at its source. Cost: 100 ns for each bit.
    ///
    /// # Panics
    /// If the sources are no permutation of as many bits as a row has.
    pub fn new(sources: &[usize]) -> BitNetwork {
        let (bits, words) = (sources.len(), sources.len() / 64);
        assert!(words.is_power_of_two() && words <= BitNetwork::MOST_WORDS && bits % 64 == 0);
        let stages = bits.trailing_zeros() as usize;
        let mut masks = [(); 2].map(|()| vec![vec![0; words]; stages]);
        route(0, sources, &mut masks.each_mut().map(|masks| &mut masks[..]));
        let distance = |stage: usize| bits >> (stage + 1);
        let [before, after] = masks;
        let before = before.into_iter().enumerate();
        let after = after.into_iter().enumerate().rev();
        let all = before.chain(after).map(|(stage, mask)| (distance(stage), mask.into()));
        let swaps = |(_, mask): &(usize, Box<[u64]>)| mask.iter().any(|word| *word != 0);
        BitNetwork { words, stages: all.filter(swaps).collect() }
    }

    /// Adds permuted rows to rows: for each pair, to the first row in `to` the second one in `from`. Rows that have all
    /// bits of `full` are left as they are. Cost: ten to twenty operations for each stage on a row of 32 words.
    pub fn add(
        &self,
        kernel: Kernel,
        pairs: &[(u32, u32)],
        from: &[u64],
        (to, full): (&mut [u64], &[u64]),
    ) {
        by_words!(self.words, W => {
            let (from, to) = (from.as_chunks().0, to.as_chunks_mut().0);
            let full = full.first_chunk().expect("a row");
            add_rows::<W>(kernel, self, pairs, from, to, full);
        }, 1 2 4 8 16 32 64);
    }
}

/// Determines the swaps of a network within `sources.len()` bits from `first` on: those of its first and last stages,
/// then those of the two networks in between. Pairs of bits at half the distance lie in different halves in between; the
/// sources of such a pair's bits do as well, so that a loop of pairs determines all of them.
fn route(first: usize, sources: &[usize], [before, after]: &mut [&mut [Vec<u64>]; 2]) {
    let half = sources.len() / 2;
    let Some(((own, before), (end, after))) = before.split_first_mut().zip(after.split_first_mut())
    else {
        return;
    };
    let set = |mask: &mut [u64], bit: usize| mask[(first + bit) / 64] |= 1 << ((first + bit) % 64);
    let mut target = vec![0; sources.len()];
    sources.iter().enumerate().for_each(|(bit, &source)| target[source] = bit);
    // Whether a bit passes the upper half.
    let mut upper: Vec<Option<bool>> = vec![None; sources.len()];
    for bit in 0..sources.len() {
        let mut bit = bit;
        while upper[bit].is_none() {
            (upper[bit], upper[bit ^ half]) = (Some(false), Some(true));
            bit = target[sources[bit ^ half] ^ half];
        }
    }
    let mut inner = [vec![0; half], vec![0; half]];
    for low in 0..half {
        let swapped = upper[low] == Some(true);
        if swapped && half > 0 {
            set(end, low);
        }
        let [lower, higher] = if swapped { [low + half, low] } else { [low, low + half] };
        (inner[0][low], inner[1][low]) = (sources[lower] % half, sources[higher] % half);
        if sources[lower] >= half {
            set(own, sources[lower] - half);
        }
    }
    if half > 1 {
        route(first, &inner[0], &mut [&mut *before, &mut *after]);
        route(first + half, &inner[1], &mut [before, after]);
    }
}

/// [`BitNetwork::add`] for rows of `W` words.
fn add_rows<const W: usize>(
    kernel: Kernel,
    network: &BitNetwork,
    pairs: &[(u32, u32)],
    from: &[[u64; W]],
    to: &mut [[u64; W]],
    full: &[u64; W],
) {
    dispatch!(
        kernel,
        <const W: usize>(
            network: &BitNetwork, pairs: &[(u32, u32)], from: &[[u64; W]], to: &mut [[u64; W]],
            full: &[u64; W]
        ),
        [add_plain::<W>], [add_plain::<W>], [add_plain::<W>], [add_plain::<W>]
    )
}

/// # Safety
/// None: it is compiled for the instructions of its caller.
#[inline(always)]
unsafe fn add_plain<const W: usize>(
    network: &BitNetwork,
    pairs: &[(u32, u32)],
    from: &[[u64; W]],
    to: &mut [[u64; W]],
    full: &[u64; W],
) {
    // Narrow rows pass the stages together: the choice of a stage and a mask serve several, and words of different rows,
    // which do not mix, are in one register.
    match W {
        1..=4 => add_together::<W, 8>(network, pairs, from, to, full),
        _ => add_together::<W, 1>(network, pairs, from, to, full),
    }
}

/// [`add_plain`] for `N` rows at a time. Indices, because the compiler leaves iterators as calls in functions this long.
#[inline(always)]
fn add_together<const W: usize, const N: usize>(
    network: &BitNetwork,
    pairs: &[(u32, u32)],
    from: &[[u64; W]],
    to: &mut [[u64; W]],
    full: &[u64; W],
) {
    let (mut rows, mut bits, mut count) = ([0; N], [[0; N]; W], 0);
    for i in 0..pairs.len() {
        if i + AHEAD < pairs.len() {
            let next = from.as_ptr().wrapping_add(pairs[i + AHEAD].1 as usize).cast::<u64>();
            let mut line = 0;
            while line < W {
                prefetch::<1, _>(next.wrapping_add(line));
                line += 8;
            }
        }
        let (row, source) = (pairs[i].0 as usize, &from[pairs[i].1 as usize]);
        let (own, mut missing) = (&to[row], 0);
        for w in 0..W {
            missing |= full[w] & !own[w];
        }
        if missing != 0 {
            rows[count] = row;
            for w in 0..W {
                bits[w][count] = source[w];
            }
            count += 1;
        }
        if count < N && (count == 0 || i + 1 < pairs.len()) {
            continue;
        }
        for stage in 0..network.stages.len() {
            let (distance, mask) = &network.stages[stage];
            let mask: &[u64; W] = mask.first_chunk().expect("a mask has the words of a row");
            match distance {
                1 => within::<W, N, 1>(&mut bits, mask),
                2 => within::<W, N, 2>(&mut bits, mask),
                4 => within::<W, N, 4>(&mut bits, mask),
                8 => within::<W, N, 8>(&mut bits, mask),
                16 => within::<W, N, 16>(&mut bits, mask),
                32 => within::<W, N, 32>(&mut bits, mask),
                64 => between::<W, N, 1>(&mut bits, mask),
                128 => between::<W, N, 2>(&mut bits, mask),
                256 => between::<W, N, 4>(&mut bits, mask),
                512 => between::<W, N, 8>(&mut bits, mask),
                1024 => between::<W, N, 16>(&mut bits, mask),
                _ => between::<W, N, 32>(&mut bits, mask),
            }
        }
        for at in 0..count {
            let own = &mut to[rows[at]];
            for w in 0..W {
                own[w] |= bits[w][at];
            }
        }
        count = 0;
    }
}

/// Swaps bits of the same word.
#[inline(always)]
fn within<const W: usize, const N: usize, const DISTANCE: u32>(
    bits: &mut [[u64; N]; W],
    mask: &[u64; W],
) {
    for w in 0..W {
        for n in 0..N {
            let word = bits[w][n];
            let differ = (word >> DISTANCE ^ word) & mask[w];
            bits[w][n] = word ^ differ ^ differ << DISTANCE;
        }
    }
}

/// Swaps bits of words at a distance.
#[inline(always)]
fn between<const W: usize, const N: usize, const WORDS: usize>(
    bits: &mut [[u64; N]; W],
    mask: &[u64; W],
) {
    for pair in 0..W / (2 * WORDS) {
        for w in 2 * WORDS * pair..2 * WORDS * pair + WORDS {
            for n in 0..N {
                let differ = (bits[w][n] ^ bits[w + WORDS][n]) & mask[w];
                bits[w][n] ^= differ;
                bits[w + WORDS][n] ^= differ;
            }
        }
    }
}

/// Returns the number of bits that are set.
pub(crate) fn ones(kernel: Kernel, words: &[u64]) -> u64 {
    dispatch!(
        kernel, (words: &[u64]) -> u64, [ones_plain], [ones_plain], [ones_plain], [ones_plain]
    )
}

/// # Safety
/// None: it is compiled for the instructions of its caller.
#[inline(always)]
unsafe fn ones_plain(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn rows_are_permuted_and_added_by_every_kernel() {
        let mut random = SplitMix64::new(7);
        for words in [1, 2, 4, 8, 16, 32, 64] {
            let bits = 64 * words;
            let mut sources: Vec<usize> = (0..bits).collect();
            for last in (1..bits).rev() {
                sources.swap(last, random.draw() as usize % (last + 1));
            }
            let shift: Vec<usize> = (0..bits).map(|bit| bit ^ (bits / 2 + 1)).collect();
            for sources in [sources, shift, (0..bits).collect()] {
                let network = BitNetwork::new(&sources);
                // More rows than pass the stages together; every fifth one is full.
                const ROWS: usize = 21;
                let from: Vec<u64> = (0..ROWS * words).map(|_| random.draw()).collect();
                let mut old: Vec<u64> =
                    from.iter().map(|_| random.draw() & random.draw()).collect();
                old.chunks_mut(5 * words).for_each(|rows| rows[..words].fill(u64::MAX));
                let source = |row: u32| 8 * row % ROWS as u32;
                let pairs: Vec<(u32, u32)> =
                    (0..ROWS as u32).map(|row| (row, source(row))).collect();
                let full = vec![u64::MAX; words];
                for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_supported()) {
                    let mut to = old.clone();
                    network.add(kernel, &pairs, &from, (&mut to, &full));
                    for &(row, source) in &pairs {
                        let at = |all: &[u64], row: u32, bit: usize| {
                            all[row as usize * words + bit / 64] >> (bit % 64) & 1 == 1
                        };
                        for (i, &s) in sources.iter().enumerate() {
                            let wanted = at(&old, row, i) | at(&from, source, s);
                            assert_eq!(at(&to, row, i), wanted, "{words} words, bit {i}, {kernel}");
                        }
                    }
                }
            }
        }
    }
}
