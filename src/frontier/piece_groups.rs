//! Groups of exchanges of different pieces, which divide their arrangements into cosets.
//!
//! There are too many arrangements of twelve different pieces for a table. But each of them is a **representative**, the
//! least arrangement that a group of exchanges makes of it, followed by one of these exchanges. A move takes
//! representatives to representatives, whatever the exchange was:
//!
//! ```text
//! arrangement   3 1 4 2 5 6       group: pieces 1 2 and 3 4 are exchanged within each pair, or the pairs
//! least image   1 3 2 4 5 6       representative; the exchange that leads back: 1 3 2 4 -> 3 1 4 2
//! ```
//!
//! A symmetry does so as well if it takes the exchanges of the group to exchanges of the group. That is why the groups here
//! are made of partitions that all symmetries preserve: a group preserves the cells of a partition one by one, and the
//! cells of a finer one together.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::puzzle::is_even;

/// Maximum number of partitions that are tried.
const MOST_PARTITIONS: usize = 120;
/// Maximum number of exchanges of a group, the odd ones included.
const MOST_EXCHANGES: usize = 1 << 13;

/// For each kind, the least kind of its cell.
type Partition = Vec<u8>;

/// A group of exchanges of kinds.
#[derive(Clone, Debug)]
pub(super) struct PieceGroup {
    /// The images of all kinds under each exchange; the first one exchanges nothing.
    pub exchanges: Vec<Box<[u8]>>,
    /// The exchange that undoes each.
    inverse: Vec<u32>,
    /// For each kind, its images in increasing order, each with a bit for each exchange that has it.
    images: Vec<Vec<(u8, Box<[u64]>)>>,
}

impl PieceGroup {
    /// Returns groups of exchanges of `kinds` among `all` kinds that these permutations of all kinds keep, one group for
    /// each number of exchanges, only even exchanges if wanted. Cost: some milliseconds.
    pub fn kept_by(
        permutations: &[Vec<u8>],
        kinds: &[u8],
        (all, even): (usize, bool),
    ) -> Vec<PieceGroup> {
        let partitions = partitions(permutations, kinds, all);
        let (mut counts, mut groups) = (HashSet::new(), Vec::new());
        for coarse in &partitions {
            let cell = |kind: u8| coarse[usize::from(kind)];
            let finer = |of: &&Partition| {
                kinds.iter().all(|&kind| cell(of[usize::from(kind)]) == cell(kind))
            };
            for fine in partitions.iter().filter(finer) {
                let Some(count) =
                    count((coarse, fine), kinds).filter(|&count| counts.insert(count))
                else {
                    continue;
                };
                let (mut found, mut images) = (Vec::with_capacity(count), (0..all as u8).collect());
                extend((coarse, fine), kinds, 0, &mut images, &mut found);
                debug_assert_eq!(found.len(), count);
                if even {
                    found.retain(|images| is_even(images));
                }
                groups.push(PieceGroup::of(found));
            }
        }
        groups
    }

    /// The group of exchanges in increasing order.
    fn of(exchanges: Vec<Box<[u8]>>) -> PieceGroup {
        let kinds = exchanges[0].len();
        let inverse = |images: &[u8]| {
            let mut inverse: Box<[u8]> = images.into();
            images.iter().enumerate().for_each(|(kind, &to)| inverse[to as usize] = kind as u8);
            let found = exchanges.binary_search(&inverse);
            found.expect("a group has inverses") as u32
        };
        let inverse = exchanges.iter().map(|images| inverse(images)).collect();
        let images = |kind: usize| {
            let all: BTreeSet<u8> = exchanges.iter().map(|images| images[kind]).collect();
            let mask = |image: u8| {
                let mut mask = vec![0; exchanges.len().div_ceil(64)];
                let having = exchanges.iter().enumerate().filter(|(_, of)| of[kind] == image);
                having.for_each(|(index, _)| mask[index / 64] |= 1 << (index % 64));
                (image, mask.into())
            };
            all.into_iter().map(mask).collect()
        };
        PieceGroup { inverse, images: (0..kinds).map(images).collect(), exchanges }
    }

    /// Makes kinds the representative of their coset; returns the number of the exchange that takes it back to them.
    /// Cost: some operations for each kind and 64 exchanges.
    pub fn make_least(&self, kinds: &mut [u8]) -> usize {
        // The exchanges whose images of the kinds so far are least.
        let mut left = vec![u64::MAX; self.exchanges.len().div_ceil(64)];
        for kind in kinds.iter() {
            let images = &self.images[usize::from(*kind)];
            let common = |mask: &[u64]| left.iter().zip(mask).any(|(left, own)| left & own != 0);
            let least = images.iter().find(|(_, mask)| common(mask));
            let (_, mask) = least.expect("an exchange is left");
            left.iter_mut().zip(mask).for_each(|(left, own)| *left &= own);
        }
        let word = left.iter().position(|word| *word != 0).expect("an exchange is left");
        let least = 64 * word + left[word].trailing_zeros() as usize;
        for kind in kinds {
            *kind = self.exchanges[least][usize::from(*kind)];
        }
        self.inverse[least] as usize
    }
}

/// Returns the number of exchanges that preserve the cells of a partition one by one, and those of a finer one together;
/// `None` if there are too many or only one.
fn count((coarse, fine): (&Partition, &Partition), kinds: &[u8]) -> Option<usize> {
    let cell = |of: &Partition, kind: u8| of[usize::from(kind)];
    let (mut sizes, mut alike) = (HashMap::new(), HashMap::new());
    let mut count = 1usize;
    for &kind in kinds {
        // The pieces of a cell in any order: as many choices as it has pieces so far.
        let size = sizes.entry(cell(fine, kind)).or_insert(0);
        *size += 1;
        count = count.checked_mul(*size)?;
    }
    for (&first, &size) in &sizes {
        // Cells of the same size in any order.
        let cells = alike.entry((cell(coarse, first), size)).or_insert(0);
        *cells += 1;
        count = count.checked_mul(*cells)?;
    }
    (2..=MOST_EXCHANGES).contains(&count).then_some(count)
}

/// Adds all exchanges that preserve the cells of a partition, and a finer one together, with these images of the first
/// kinds.
fn extend(
    of @ (coarse, fine): (&Partition, &Partition),
    kinds: &[u8],
    done: usize,
    images: &mut Vec<u8>,
    found: &mut Vec<Box<[u8]>>,
) {
    if done == kinds.len() {
        found.push(images.as_slice().into());
        return;
    }
    let cell = |of: &Partition, kind: u8| of[usize::from(kind)];
    let own = kinds[done];
    for &to in kinds {
        let mut before = kinds[..done].iter().map(|&kind| (kind, images[usize::from(kind)]));
        let fits = cell(coarse, own) == cell(coarse, to)
            && before.all(|(kind, image)| {
                let together = cell(fine, kind) == cell(fine, own);
                image != to && together == (cell(fine, image) == cell(fine, to))
            });
        if fits {
            images[usize::from(own)] = to;
            extend(of, kinds, done + 1, images, found);
        }
    }
}

/// Returns partitions of kinds that permutations preserve: the finest ones in which two kinds are together, pairs of
/// neighbours, fours and eights, and what they have in common; at most so many.
fn partitions(permutations: &[Vec<u8>], kinds: &[u8], all: usize) -> Vec<Partition> {
    let single: Partition = (0..all as u8).collect();
    let neighbours = |size: usize| {
        let cells = kinds.chunks(size);
        closed(
            &single,
            cells.flat_map(|cell| cell.iter().map(|&kind| (cell[0], kind))),
            permutations,
        )
    };
    let mut seeds: Vec<Partition> = [2, 4, 8].map(neighbours).into();
    for (i, &a) in kinds.iter().enumerate() {
        seeds.extend(
            kinds[..i].iter().map(|&b| closed(&single, [(a, b)].into_iter(), permutations)),
        );
    }
    let mut found = vec![single];
    let mut at = 0;
    while at < found.len() {
        for seed in &seeds {
            let pairs = seed.iter().enumerate().map(|(kind, &cell)| (kind as u8, cell));
            let joined = closed(&found[at], pairs, permutations);
            if found.len() < MOST_PARTITIONS && !found.contains(&joined) {
                found.push(joined);
            }
        }
        at += 1;
    }
    found
}

/// Joins pairs of cells of a partition, and then what permutations make of each pair, until nothing changes.
fn closed(
    partition: &Partition,
    pairs: impl Iterator<Item = (u8, u8)>,
    permutations: &[Vec<u8>],
) -> Partition {
    let mut joined = partition.clone();
    let mut left: Vec<(u8, u8)> = pairs.collect();
    while let Some((a, b)) = left.pop() {
        let (a, b) = (usize::from(a), usize::from(b));
        let (low, high) = (joined[a].min(joined[b]), joined[a].max(joined[b]));
        if low != high {
            joined.iter_mut().filter(|cell| **cell == high).for_each(|cell| *cell = low);
            left.extend(permutations.iter().map(|one| (one[a], one[b])));
        }
    }
    joined
}
