//! Pattern spaces in which every move counts, against naive searches.

use std::collections::HashSet;

use tilewave::Kernel;
use tilewave::pdb::{Pattern, PdbError, Space};
use tilewave::puzzle::Board;

use super::goal;

/// States per depth, by sets of (cells, blank).
fn naive(goal: &Board, tiles: &[u16], start: Option<u8>) -> Vec<u64> {
    let (n, cols) = (goal.size().cells() as u8, goal.size().cols() as u8);
    let pattern = Pattern::new(goal.clone(), tiles).unwrap();
    let home = pattern.home().to_vec();
    let blanks = (0..n).filter(|b| !home.contains(b) && start.is_none_or(|only| only == *b));
    let mut level: Vec<(Vec<u8>, u8)> = blanks.map(|blank| (home.clone(), blank)).collect();
    let mut seen: HashSet<(Vec<u8>, u8)> = level.iter().cloned().collect();
    let mut counts = Vec::new();
    while !level.is_empty() {
        counts.push(level.len() as u64);
        let mut next = Vec::new();
        for (cells, blank) in level {
            let (row, col) = (blank / cols, blank % cols);
            let near = [
                (row > 0).then(|| blank - cols),
                (blank + cols < n).then(|| blank + cols),
                (col > 0).then(|| blank - 1),
                (col + 1 < cols).then(|| blank + 1),
            ];
            for from in near.into_iter().flatten() {
                let moved = cells.iter().map(|&c| if c == from { blank } else { c });
                let state = (moved.collect::<Vec<u8>>(), from);
                if seen.insert(state.clone()) {
                    next.push(state);
                }
            }
        }
        level = next;
    }
    counts
}

#[test]
fn depths_of_small_spaces_are_those_of_a_naive_search() {
    let cases: [(&str, &str, &[u16]); 6] = [
        ("2x3", "last", &[1, 2, 3, 4, 5]),
        ("2x4", "first", &[1, 2, 4, 6, 7]),
        ("3x3", "last", &[3, 6, 7, 8, 5]),
        ("3x3", "blank=4", &[1, 2, 3, 4, 6, 8]),
        ("3x4", "last", &[1, 2, 3, 4, 8]),
        ("2x7", "last", &[1, 2, 6, 7, 13]),
    ];
    for (size, text, tiles) in cases {
        let goal = goal(size, text);
        // Sides of up to six cells have patterns.
        let Ok(pattern) = Pattern::new(goal.clone(), tiles) else {
            assert_eq!(size, "2x7");
            continue;
        };
        for blank in [None, Some(goal.blank() as u8)] {
            let truth = naive(&goal, tiles, blank);
            for kernel in Kernel::ALL.into_iter().filter(|k| k.is_supported()) {
                let space = Space::new(pattern.clone()).blank(blank).kernel(kernel).threads(2);
                let found = space.run().unwrap();
                assert_eq!(found.counts, truth, "{size} {tiles:?} {blank:?} {kernel}");
                assert!(found.complete);
                let all = truth.iter().sum::<u64>();
                assert!(all == found.states || goal.size().tiles() < tiles.len() + 2);
            }
        }
    }
}

#[test]
fn searches_end_where_they_are_told_and_refuse_what_they_cannot() {
    let goal = goal("4x4", "last");
    let space = Space::new(Pattern::new(goal.clone(), &[1, 2, 3, 4, 5]).unwrap());
    let few = space.clone().max_depth(3);
    let whole = space.run().unwrap();
    let few = few.run().unwrap();
    assert!(!few.complete && few.counts == whole.counts[..4]);
    assert_eq!(whole.counts.iter().sum::<u64>(), space.states());
    let tight = space.clone().memory(1 << 20);
    assert!(matches!(tight.run(), Err(PdbError::Budget { .. })));
    for cell in [0, 16] {
        let wrong = space.clone().blank(cell);
        let error = wrong.run().unwrap_err();
        assert!(matches!(error, PdbError::Unsuitable(_)), "{error}");
        assert!(error.to_string().contains(&format!("cannot be on cell {cell}")), "{error}");
    }
    let short = Space::new(Pattern::new(goal, &[1, 2, 3, 4]).unwrap());
    assert!(matches!(short.run(), Err(PdbError::Unsuitable(_))));
}

/// The fringe of the 15-puzzle (Culberson and Schaeffer, Searching with pattern databases, 1996), every move counted.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation: run with --release")]
fn the_fringe_of_the_15_puzzle_is_searched_completely() {
    let pattern = Pattern::new(goal("4x4", "last"), &[4, 8, 12, 13, 14, 15, 3]).unwrap();
    let found = Space::new(pattern).run().unwrap();
    assert!(found.complete);
    assert_eq!(found.counts.iter().sum::<u64>(), 518_918_400);
    assert_eq!(found.counts[0], 9);
}
