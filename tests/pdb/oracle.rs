//! Every value against a naive search over (cells of the tiles, cell of the blank).

use std::collections::VecDeque;

use rayon::prelude::*;
use tilewave::pdb::{Kind, Pattern};
use tilewave::puzzle::Board;

use super::{database, goal};

/// Distances to the goal of all (tiles' cells, blank's cell), pattern moves costing 1 and others 0, by a
/// 0-1 breadth-first search. Indexed by the cells as a base-N number, the blank most significant.
fn distances(goal: &Board, tiles: &[u16]) -> Vec<u8> {
    let (n, cols) = (goal.size().cells(), goal.size().cols());
    let k = tiles.len();
    let power: Vec<usize> = (0..=k as u32 + 1).map(|i| n.pow(i)).collect();
    let cell_of = |tile: u16| goal.tiles().iter().position(|&t| t == tile).unwrap();
    let homes = tiles.iter().map(|&t| cell_of(t)).chain([goal.blank()]);
    let start: usize = homes.zip(&power).map(|(cell, p)| cell * p).sum();
    let near =
        |a: usize, b: usize| a.abs_diff(b) == cols || a.abs_diff(b) == 1 && a / cols == b / cols;
    let mut distance = vec![u8::MAX; power[k + 1]];
    let mut queue = VecDeque::from([(0u8, start)]);
    distance[start] = 0;
    while let Some((d, state)) = queue.pop_front() {
        if d > distance[state] {
            continue;
        }
        let cell = |i: usize| state / power[i] % n;
        let blank = cell(k);
        for other in (0..n).filter(|&other| near(other, blank)) {
            let tile = (0..k).find(|&i| cell(i) == other);
            let mut next = state - blank * power[k] + other * power[k];
            if let Some(tile) = tile {
                next = next - other * power[tile] + blank * power[tile];
            }
            let cost = d + u8::from(tile.is_some());
            if cost < distance[next] {
                distance[next] = cost;
                if tile.is_some() {
                    queue.push_back((cost, next));
                } else {
                    queue.push_front((cost, next));
                }
            }
        }
    }
    distance
}

/// Compares both kinds of database of a pattern with the oracle; returns the number of values compared.
fn compare(goal: &Board, tiles: &[u16]) -> usize {
    let n = goal.size().cells();
    let distance = distances(goal, tiles);
    let minimum = database(goal, tiles, Kind::Minimum);
    let regions = database(goal, tiles, Kind::Regions);
    let mut compared = 0;
    let mut cells = vec![0u8; tiles.len()];
    for index in 0..n.pow(tiles.len() as u32) {
        let mut rest = index;
        for cell in &mut cells {
            *cell = (rest % n) as u8;
            rest /= n;
        }
        let distinct = (1..cells.len()).all(|i| !cells[..i].contains(&cells[i]));
        if !distinct {
            continue;
        }
        let mut least = None;
        for blank in (0..n as u8).filter(|blank| !cells.contains(blank)) {
            let truth = distance[usize::from(blank) * n.pow(tiles.len() as u32) + index];
            let truth = Some(truth).filter(|&d| d != u8::MAX);
            assert_eq!(regions.lookup(&cells, blank), truth, "{tiles:?} {cells:?} {blank}");
            let lower = minimum.lookup(&cells, blank);
            assert!(truth.is_none_or(|truth| lower.is_some_and(|lower| lower <= truth)));
            least = match (least, truth) {
                (Some(a), Some(b)) => Some(u8::min(a, b)),
                (a, b) => a.or(b),
            };
            compared += 1;
        }
        assert_eq!(minimum.lookup(&cells, 0), least, "{tiles:?} {cells:?}");
    }
    compared
}

fn patterns(tiles: u16, k: usize) -> Vec<Vec<u16>> {
    let sets = (0u32..1 << tiles).filter(|set| set.count_ones() as usize == k);
    sets.map(|set| (1..=tiles).filter(|t| set >> (t - 1) & 1 == 1).collect()).collect()
}

#[test]
fn all_patterns_of_up_to_four_tiles_on_3x3() {
    for text in ["last", "first"] {
        let goal = goal("3x3", text);
        let all = (1..=4).flat_map(|k| patterns(8, k));
        assert!(all.map(|tiles| compare(&goal, &tiles)).sum::<usize>() > 1_000_000);
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation: run with --release")]
fn all_patterns_of_up_to_four_tiles_on_3x4() {
    let goal = goal("3x4", "last");
    let all: Vec<Vec<u16>> = (1..=4).flat_map(|k| patterns(11, k)).collect();
    assert_eq!(all.len(), 561);
    all.par_iter().for_each(|tiles| {
        compare(&goal, tiles);
    });
}

/// Five tiles and more take the fast builder.
#[test]
fn patterns_of_five_to_eight_tiles() {
    compare(&goal("3x3", "last"), &[1, 2, 3, 4, 5]);
    compare(&goal("3x3", "8 0 6/5 4 7/2 3 1"), &[2, 3, 5, 6, 8]);
    compare(&goal("2x4", "first"), &[1, 2, 3, 4, 6, 7]);
    compare(&goal("2x3", "last"), &[1, 2, 3, 4, 5]);
    compare(&goal("2x4", "blank=3"), &[1, 2, 3, 4, 5, 6, 7]);
    compare(&goal("4x2", "last"), &[1, 2, 4, 5, 7]);
}

#[test]
fn eight_tiles_on_3x3_are_the_whole_puzzle() {
    let goal = goal("3x3", "last");
    let pdb = database(&goal, &[1, 2, 3, 4, 5, 6, 7, 8], Kind::Minimum);
    assert_eq!(pdb.histogram().iter().sum::<u64>(), 181_440);
    assert_eq!(pdb.maximum(), 31);
    assert_eq!(pdb.entries(), 362_880);
    assert_eq!(Pattern::MAX_TILES, 8);
}
