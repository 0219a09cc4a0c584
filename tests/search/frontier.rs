//! The search by lists against the sweep, on puzzles that both take.

use tilewave::Goal;
use tilewave::frontier::FrontierSearch;
use tilewave::puzzle::orbits::OrbitPuzzle;
use tilewave::puzzle::{Metric, StateSpace, families};
use tilewave::search::Search;

fn spaces() -> Vec<StateSpace> {
    let board = |size: &str, goal: &str| {
        let goal: Goal = goal.parse().unwrap();
        StateSpace::of_board(goal.board(size.parse().unwrap()).unwrap())
    };
    let moved = board("3x3", "last").starting_at("8 6 7/2 5 4/3 0 1").unwrap();
    let mut spaces = vec![
        board("2x4", "last"),
        board("3x3", "blank=4"),
        board("3x3", "blank=1").in_metric(Metric::Mtm),
        moved,
    ];
    // One has an inverse that is no move: lx goes one way.
    for family in ["topspin:8,4", "pancake:7", "lx:8", "stars:7"] {
        spaces.push(StateSpace::of_puzzle(families::parse(family).unwrap()));
    }
    spaces
}

#[test]
fn lists_find_what_the_sweep_finds() {
    for space in spaces() {
        let expected = Search::of(space.clone()).run().unwrap();
        let mut by_lists = FrontierSearch::new(OrbitPuzzle::of_space(&space).unwrap());
        let found = by_lists.run().unwrap();
        assert_eq!(found.counts(), expected.counts, "{space}");
        assert!(found.complete);
        by_lists.symmetry = false;
        by_lists.resources.threads = Some(1);
        by_lists.max_depth = Some(9);
        let shorter = by_lists.run().unwrap();
        let levels = |of: &tilewave::frontier::FrontierOutcome| -> Vec<(u64, u64)> {
            of.levels.iter().take(10).map(|level| (level.states, level.checksum)).collect()
        };
        assert_eq!(levels(&shorter), levels(&found), "{space}");
    }
}

#[test]
fn little_memory_changes_the_bytes_and_not_the_result() {
    let goal: Goal = "first".parse().unwrap();
    let board = StateSpace::of_board(goal.board("4x4".parse().unwrap()).unwrap());
    let mut search = FrontierSearch::new(OrbitPuzzle::of_space(&board).unwrap());
    search.max_depth = Some(20);
    let roomy = search.run().unwrap();
    search.resources.memory = Some(4 << 20);
    let tight = search.run().unwrap();
    for (a, b) in roomy.levels.iter().zip(&tight.levels) {
        assert_eq!((a.states, a.checksum, a.reduced), (b.states, b.checksum, b.reduced));
    }
    let [roomy, tight] = [&roomy, &tight].map(|found| found.levels[19]);
    assert!(roomy.bytes > 8 * roomy.kept && tight.bytes < 3 * tight.kept, "{roomy:?} {tight:?}");
    search.resources.memory = Some(1 << 20);
    let error = search.run().unwrap_err().to_string();
    assert!(error.contains("do not fit in 1.00 MiB of memory"), "{error}");
}
