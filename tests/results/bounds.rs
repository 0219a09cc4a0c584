//! The most states that a depth may have, where estimates count with that: no level that anybody has counted has more.

use std::fs;

use tilewave::puzzle::{Goal, Metric, StateSpace};
use tilewave::puzzle::{Turns, formats};
use tilewave::report::published_for;
use tilewave::search::Search;
use tilewave::search::disk::widths;

use super::{all, root};

/// Holds the bounds of a state space against its levels, to every depth; returns how many depths are bounded.
fn hold(name: &str, space: &StateSpace, counts: &[u64]) -> usize {
    for depth in 0..counts.len() {
        let most = widths(space, &[], Some(depth)).unwrap();
        if most.counts.is_empty() {
            // What may be all states tells nothing; before that the first moves are told apart.
            assert!(depth > 2 || space.states().unwrap() < 100, "{name}");
            return depth;
        }
        assert!(!most.exact, "{name}");
        assert!(most.states() <= space.states(), "{name} to {depth}");
        let ended = most.counts.len() <= depth;
        assert!(!ended || depth >= counts.len(), "{name} to {depth}");
        for (at, (count, most)) in counts.iter().zip(&most.counts).enumerate() {
            assert!(count <= most, "{name} at {at}: {count} of {most}");
            // Two moves are all that is compared.
            assert!(at > 2 || count == most, "{name} at {at}: {count} of {most}");
        }
    }
    counts.len()
}

#[test]
fn no_level_of_a_search_has_more_states_than_its_bound() {
    let (mut searches, mut levels) = (0, 0);
    for found in all() {
        levels += hold(&found.name, &found.space(), &found.counts);
        searches += 1;
    }
    assert!(searches > 140 && levels > 1500, "{levels} of {searches}");
    for (size, least) in [("4x4", 30), ("2x8", 40)] {
        let board = Goal::Last.board(size.parse().unwrap()).unwrap();
        let space = StateSpace::of_board(board).in_metric(Metric::Stm);
        let counts = published_for(&space).unwrap().counts();
        let bounded = hold(size, &space, counts);
        assert!(bounded > least, "{size} to {bounded}");
    }
}

/// Files define puzzles with several cells, with moves that do nothing together, with and without ways back.
#[test]
fn no_level_of_a_puzzle_from_a_file_has_more_states_than_its_bound() {
    let mut held = 0;
    for file in fs::read_dir(root().join("tests/data/puzzles")).unwrap() {
        let path = file.unwrap().path();
        let (name, text) = (path.display().to_string(), fs::read_to_string(&path).unwrap());
        for directed in [false, true] {
            let counting = directed.then_some(Turns::Directed);
            let puzzle = formats::read(&name, &text, counting);
            let Some(puzzle) = puzzle.ok().filter(|puzzle| !puzzle.labels().is_empty()) else {
                continue;
            };
            let space = StateSpace::of_puzzle(puzzle);
            if space.states().unwrap() > 4_000_000 {
                continue;
            }
            let outcome = Search::of(space.clone()).run().unwrap();
            hold(&name, &space, &outcome.counts);
            held += 1;
        }
    }
    assert!(held > 6, "{held}");
}

/// Of several tiles a move there are two directions, and only the other one is worth a move.
#[test]
fn bounds_are_not_far_from_the_levels() {
    let board = Goal::Last.board("4x4".parse().unwrap()).unwrap();
    let space = StateSpace::of_board(board).in_metric(Metric::Mtm);
    let most = widths(&space, &[], Some(8)).unwrap().counts;
    assert_eq!(most[8], 6 * 3u64.pow(7));
    let lrx = all().into_iter().find(|found| found.name == "lrx-13").unwrap();
    let most = widths(&lrx.space(), &[], Some(10)).unwrap().counts;
    assert!(most[10] < 2 * lrx.counts[10], "{most:?}");
}
