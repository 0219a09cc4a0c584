//! The reading of a puzzle, chosen so that moves are cheap.
//!
//! Invariant: the same moves give the same reading, on every machine and in every version that costs windows alike.
//!
//! A move permutes the line by a window that depends on the cell and on the reading. Windows in the last five places
//! of the line stay inside a register, those in the last eight or in front of them move whole registers; for others it
//! counts how many elements cross between the two (docs/puzzles.md).
//!
//! A generator that is one cycle of all positions can be made to leave the line in place: the line is then read from the
//! distinguished element on, round the cycle. The two rotations of LRX move the cell alone, and the swap, which by any
//! path is one short window, becomes one for each cell: LRX of 13 elements takes 38 s of processor time instead of 80 s.
//!
//! Readings by the twelve rotations of the dino cube were measured: 16 windows instead of 57, but the four that move
//! the distinguished edge permute the whole line. 5.9 to 8.0 s of processor time, where one path takes 4.0 s.

use std::collections::HashSet;

use super::permutation::Permutation;
use super::reading::Reading;
use crate::random::SplitMix64;

/// Cells that a byte holds.
const BYTE_CELLS: usize = 8;
/// Windows that the search for a reading may look at: a tenth of a second.
const MOST_WINDOWS: usize = 1_000_000;
/// Paths that are improved: the best natural ones, and as many shuffled ones.
const IMPROVED: usize = 3;
const SEED: u64 = 0x7469_6c65;

/// Returns a cheap reading of a puzzle. Cost: a tenth of a second at most.
///
/// ```
/// use tilewave::puzzle::{Permutation, choose_reading};
/// // Reversals of the first positions: read from the far end, they lie at the end of the line.
/// let flips: Vec<Permutation> = (2..=12)
///     .map(|k| Permutation::from_fn(12, |p| if p < k { k - 1 - p } else { p }))
///     .collect();
/// assert_eq!(choose_reading(12, &flips).path(), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
/// ```
pub fn choose_reading(positions: usize, generators: &[Permutation]) -> Reading {
    let mut search = Search {
        generators,
        left: MOST_WINDOWS / (positions * generators.len()),
    };
    let path = search.best(&natural_paths(positions, generators));
    let path = Reading::new(&path, &[]);
    // A window is carried out for every pair of bytes that it joins.
    let cells = positions.div_ceil(positions.div_ceil(BYTE_CELLS));
    let cost = |reading: &Reading| reading.cost_between(generators, cells);
    let turned = generators.iter().filter_map(turned);
    let readings = std::iter::once(path).chain(turned);
    let best = readings.min_by_key(cost);
    best.expect("there is a path")
}

/// The reading that begins at the distinguished element and goes on round a cycle of all positions, `None` when the
/// generator is none. The generator then moves the cell alone.
fn turned(generator: &Permutation) -> Option<Reading> {
    let positions = generator.len();
    let mut path = vec![0];
    let mut powers = vec![Permutation::identity(positions)];
    for i in 1..positions {
        path.push(generator.image(path[i - 1]));
        let power = |p| generator.image(powers[i - 1].image(p));
        powers.push(Permutation::from_fn(positions, power));
    }
    Permutation::new(&path).ok()?;
    Some(Reading::new(&path, &powers))
}

/// The search for a path.
struct Search<'a> {
    generators: &'a [Permutation],
    /// Readings that may still be looked at.
    left: usize,
}

impl Search<'_> {
    fn cost(&mut self, path: &[usize]) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        Some(Reading::new(path, &[]).cost(self.generators))
    }

    /// The cheapest path found; of equal ones the most natural.
    fn best(&mut self, natural: &[Vec<usize>]) -> Vec<usize> {
        let mut paths: Vec<(usize, Vec<usize>)> = vec![(usize::MAX, natural[0].clone())];
        paths.extend(
            natural
                .iter()
                .map_while(|path| Some((self.cost(path)?, path.clone()))),
        );
        paths.sort_by_key(|(cost, _)| *cost);
        paths.truncate(IMPROVED);
        let positions = natural[0].len();
        let mut dice = SplitMix64::new(SEED);
        for _ in 0..IMPROVED {
            let mut path: Vec<usize> = (0..positions).collect();
            for i in (1..positions).rev() {
                path.swap(i, dice.below(i as u64 + 1) as usize);
            }
            paths.extend(self.cost(&path).map(|cost| (cost, path)));
        }
        for (cost, path) in &mut paths {
            self.improve(cost, path);
        }
        let best = paths.into_iter().min_by_key(|(cost, _)| *cost);
        best.expect("there are natural paths").1
    }

    /// Exchanges pairs of positions as long as that helps.
    fn improve(&mut self, least: &mut usize, path: &mut [usize]) {
        let positions = path.len();
        let pairs = (0..positions).flat_map(|i| (i + 1..positions).map(move |j| (i, j)));
        let pairs: Vec<(usize, usize)> = pairs.collect();
        let mut unchanged = 0;
        for &(i, j) in pairs.iter().cycle() {
            path.swap(i, j);
            match self.cost(path) {
                Some(cost) if cost < *least => (*least, unchanged) = (cost, 0),
                found => {
                    path.swap(i, j);
                    unchanged += 1;
                    if found.is_none() || unchanged == pairs.len() {
                        return;
                    }
                }
            }
        }
    }
}

/// Paths that puzzles suggest: as numbered, rotated, and along the moves from each position; each also backwards.
fn natural_paths(positions: usize, generators: &[Permutation]) -> Vec<Vec<usize>> {
    let rotated = |first: usize| (0..positions).map(|i| (i + first) % positions).collect();
    let mut paths: Vec<Vec<usize>> = (0..positions).map(rotated).collect();
    for first in 0..positions {
        let mut path = vec![first];
        let mut next = 0;
        while path.len() < positions {
            let reached: Vec<usize> = match path.get(next) {
                Some(&from) => generators.iter().map(|g| g.image(from)).collect(),
                // Positions that no move joins to these come after them.
                None => (0..positions)
                    .filter(|p| !path.contains(p))
                    .take(1)
                    .collect(),
            };
            next += usize::from(next < path.len());
            for position in reached {
                if !path.contains(&position) {
                    path.push(position);
                }
            }
        }
        paths.push(path);
    }
    let with_reverse = |path: Vec<usize>| [path.iter().rev().copied().collect(), path];
    let mut seen = HashSet::new();
    let all = paths.into_iter().flat_map(with_reverse);
    all.filter(|path: &Vec<usize>| seen.insert(path.clone()))
        .collect()
}
