//! The engines against a search that shares no code with them: boards as arrays in a hash map.

use std::collections::HashSet;

use tilewave::Kernel;
use tilewave::progress::StopWhen;
use tilewave::puzzle::{Board, Metric, Size, StateSpace};
use tilewave::search::{self, Engine, Search};

/// The levels of a board by sliding tiles on row-major arrays.
fn slide(start: &Board) -> Vec<Vec<Board>> {
    let (rows, cols) = (start.size().rows(), start.size().cols());
    spread(start, |board| {
        let blank = board.blank();
        let (r, c) = (blank / cols, blank % cols);
        let mut neighbours = Vec::new();
        if r > 0 {
            neighbours.push(blank - cols);
        }
        if r + 1 < rows {
            neighbours.push(blank + cols);
        }
        if c > 0 {
            neighbours.push(blank - 1);
        }
        if c + 1 < cols {
            neighbours.push(blank + 1);
        }
        let slid = |cell| {
            let mut tiles = board.tiles().to_vec();
            tiles.swap(blank, cell);
            Board::new(board.size(), &tiles).unwrap()
        };
        neighbours.into_iter().map(slid).collect()
    })
}

/// The levels of a board by its neighbours.
fn spread(start: &Board, neighbours: impl Fn(&Board) -> Vec<Board>) -> Vec<Vec<Board>> {
    let mut seen = HashSet::from([start.clone()]);
    let mut levels = vec![vec![start.clone()]];
    loop {
        let boards = levels.last().unwrap().iter().flat_map(&neighbours);
        let next: Vec<Board> = boards.filter(|board| seen.insert(board.clone())).collect();
        if next.is_empty() {
            return levels;
        }
        levels.push(next);
    }
}

fn counts(levels: &[Vec<Board>]) -> Vec<u64> {
    levels.iter().map(|level| level.len() as u64).collect()
}

fn run(search: &Search, engine: Engine, kernel: Option<Kernel>) -> search::Outcome {
    let search = search.clone().engine(engine).kernel(kernel);
    search.run().unwrap()
}

fn kernels() -> impl Iterator<Item = Kernel> {
    Kernel::ALL.into_iter().filter(|k| k.is_supported())
}

#[test]
fn both_engines_equal_sliding_for_every_goal_blank() {
    for (rows, cols) in [(2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3)] {
        let size = Size::new(rows, cols).unwrap();
        for blank in 0..size.cells() {
            let goal = Board::ordered(size, blank).unwrap();
            let levels = slide(&goal);
            let search = Search::new(goal);
            let reference = run(&search, Engine::Reference, None);
            assert_eq!(reference.counts, counts(&levels), "{size} blank {blank}");
            if size.tiles() < 6 {
                continue;
            }
            for kernel in kernels() {
                let sweep = run(&search, Engine::Sweep, Some(kernel));
                assert_eq!(sweep.counts, reference.counts, "{size} blank {blank} {kernel}");
                assert_eq!(sweep.checksums, reference.checksums, "{size} blank {blank} {kernel}");
            }
        }
    }
}

#[test]
fn sweep_equals_reference_for_every_goal_blank_of_2x5_and_5x2() {
    for (rows, cols) in [(2, 5), (5, 2)] {
        let size = Size::new(rows, cols).unwrap();
        for blank in 0..size.cells() {
            let search = Search::new(Board::ordered(size, blank).unwrap());
            let reference = run(&search, Engine::Reference, None);
            for kernel in kernels() {
                let sweep = run(&search, Engine::Sweep, Some(kernel));
                assert_eq!(sweep.counts, reference.counts, "{size} blank {blank} {kernel}");
                assert_eq!(sweep.checksums, reference.checksums, "{size} blank {blank} {kernel}");
            }
        }
    }
}

#[test]
fn levels_hold_the_right_boards_and_not_only_the_right_number() {
    let goal = Board::parse("0 3 1 2/7 6 5 4", None).unwrap();
    let start = Board::parse("3 0 1 2/7 6 5 4", None).unwrap();
    let levels = slide(&start);
    let space = StateSpace::of_board(goal.clone());
    for (depth, level) in levels.iter().enumerate() {
        let mut boards: Vec<String> = level.iter().map(Board::to_string).collect();
        boards.sort();
        for engine in [Engine::Reference, Engine::Sweep] {
            let mut search = Search::new(goal.clone());
            search.space = StateSpace::of_board(goal.clone()).from_board(start.clone());
            search.engine = Some(engine);
            search.max_depth = Some(depth);
            search.keep_last = usize::MAX;
            let outcome = search.run().unwrap();
            assert_eq!(outcome.complete, depth + 1 == levels.len());
            assert!(outcome.last.numbered().is_sorted());
            let last = outcome
                .last
                .numbered()
                .iter()
                .map(|&state| space.board(state).unwrap().to_string());
            let mut last: Vec<String> = last.collect();
            last.sort();
            assert_eq!(last, boards, "{engine} engine, depth {depth}");
        }
    }
}

/// Every row and column by sliding any number of tiles, by hand: the single moves in one direction in turn.
#[test]
fn several_tiles_at_a_time_are_single_moves_in_a_row() {
    for (rows, cols) in [(2, 2), (2, 3), (2, 4), (3, 3)] {
        let size = Size::new(rows, cols).unwrap();
        for blank in 0..size.cells() {
            let goal = Board::ordered(size, blank).unwrap();
            let levels = spread(&goal, |board| {
                let mut all = Vec::new();
                for (direction, first) in board.neighbours() {
                    let mut next = Some(first);
                    while let Some(board) = next {
                        next = board.slide(direction);
                        all.push(board);
                    }
                }
                all
            });
            let search = Search::of(StateSpace::of_board(goal).in_metric(Metric::Mtm));
            let reference = run(&search, Engine::Reference, None);
            assert_eq!(reference.counts, counts(&levels), "{size} blank {blank}");
            for kernel in kernels().filter(|_| size.tiles() >= 6) {
                let sweep = run(&search, Engine::Sweep, Some(kernel));
                assert_eq!(sweep.counts, reference.counts, "{size} blank {blank}");
                assert_eq!(sweep.checksums, reference.checksums, "{size} {kernel}");
            }
        }
    }
}

#[test]
fn checksums_do_not_depend_on_the_number_of_threads() {
    let mut search = Search::new(Board::ordered(Size::new(2, 5).unwrap(), 9).unwrap());
    let mut outcomes = [1, 2, 3, 5].map(|threads| {
        search.resources.threads = Some(threads);
        search.run().unwrap()
    });
    let first = std::mem::take(&mut outcomes[0].checksums);
    assert_eq!(first.len(), 56);
    assert!(first.iter().all(|&sum| sum != 0));
    assert!(outcomes[1..].iter().all(|outcome| outcome.checksums == first));
}

#[test]
fn last_states_are_limited_and_complete_searches_return_antipodes() {
    let mut search = Search::new(Board::ordered(Size::new(3, 3).unwrap(), 4).unwrap());
    for engine in [Engine::Reference, Engine::Sweep] {
        search.engine = Some(engine);
        search.keep_last = usize::MAX;
        let all = search.run().unwrap();
        assert_eq!((all.last.len(), all.antipodes()), (148, Some(148)));
        search.keep_last = 5;
        let five = search.run().unwrap();
        assert_eq!(five.last.numbered(), &all.last.numbered()[..5]);
    }
}

#[test]
fn a_search_stops_when_it_is_told_to() {
    let mut search = Search::new(Board::ordered(Size::new(3, 3).unwrap(), 8).unwrap());
    for engine in [Engine::Reference, Engine::Sweep] {
        search.engine = Some(engine);
        let error = search.run_with(&StopWhen(|| true)).unwrap_err().to_string();
        assert!(error.starts_with("interrupted at depth"), "{error}");
    }
}
