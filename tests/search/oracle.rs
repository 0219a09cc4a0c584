//! The engines against a search that shares no code with them: boards as arrays in a hash map.

use std::collections::HashSet;

use tilewave::Kernel;
use tilewave::progress::StopWhen;
use tilewave::puzzle::{Board, Metric, Size, StateSpace};
use tilewave::search::{Engine, Search};

/// The levels of a board by sliding tiles on row-major arrays.
fn slide(start: &Board) -> Vec<Vec<Board>> {
    let (rows, cols) = (start.size().rows(), start.size().cols());
    spread(start, |board| {
        let blank = board.blank();
        let (r, c) = (blank / cols, blank % cols);
        let neighbours = [
            (r > 0).then(|| blank - cols),
            (r + 1 < rows).then(|| blank + cols),
            (c > 0).then(|| blank - 1),
            (c + 1 < cols).then(|| blank + 1),
        ];
        let slid = |cell| {
            let mut tiles = board.tiles().to_vec();
            tiles.swap(blank, cell);
            Board::new(board.size(), &tiles).unwrap()
        };
        neighbours.into_iter().flatten().map(slid).collect()
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

/// Both engines, with every kernel, find the same levels, which are given if they are known.
fn engines_agree(search: &Search, counts: Option<Vec<u64>>) {
    let what = search.space.to_string() + &search.space.goal_text();
    let reference = search.clone().engine(Engine::Reference).run().unwrap();
    assert_eq!(reference.counts, counts.unwrap_or(reference.counts.clone()), "{what}");
    let sweeps = search.space.size().unwrap().tiles() >= 6;
    for kernel in Kernel::ALL.into_iter().filter(|kernel| sweeps && kernel.is_supported()) {
        let sweep = search.clone().engine(Engine::Sweep).kernel(kernel).run().unwrap();
        assert_eq!(sweep.counts, reference.counts, "{what} {kernel}");
        assert_eq!(sweep.checksums, reference.checksums, "{what} {kernel}");
    }
}

/// The complete searches of boards of these sizes, with the blank of the goal in each cell.
fn goals(sizes: &[(usize, usize)]) -> impl Iterator<Item = Board> {
    let sizes = sizes.iter().map(|&(rows, cols)| Size::new(rows, cols).unwrap());
    sizes.flat_map(|size| (0..size.cells()).map(move |blank| Board::ordered(size, blank).unwrap()))
}

#[test]
fn both_engines_equal_sliding_for_every_goal_blank() {
    for goal in goals(&[(2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3)]) {
        let levels = slide(&goal);
        engines_agree(&Search::new(goal), Some(counts(&levels)));
    }
}

#[test]
fn sweep_equals_reference_for_every_goal_blank_of_2x5_and_5x2() {
    goals(&[(2, 5), (5, 2)]).for_each(|goal| engines_agree(&Search::new(goal), None));
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
            let search = Search::new(goal.clone())
                .space(StateSpace::of_board(goal.clone()).from_board(start.clone()))
                .engine(engine)
                .max_depth(depth)
                .keep_last(usize::MAX);
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
    for goal in goals(&[(2, 2), (2, 3), (2, 4), (3, 3)]) {
        let levels = spread(&goal, |board| {
            let mut all = Vec::new();
            for (direction, first) in board.neighbours() {
                let slid = std::iter::successors(Some(first), |board| board.slide(direction));
                all.extend(slid);
            }
            all
        });
        let search = Search::of(StateSpace::of_board(goal).in_metric(Metric::Mtm));
        engines_agree(&search, Some(counts(&levels)));
    }
}

#[test]
fn checksums_do_not_depend_on_the_number_of_threads() {
    let search = Search::new(Board::ordered(Size::new(2, 5).unwrap(), 9).unwrap());
    let mut outcomes = [1, 2, 3, 5].map(|n| search.clone().threads(n).run().unwrap());
    let first = std::mem::take(&mut outcomes[0].checksums);
    assert_eq!(first.len(), 56);
    assert!(first.iter().all(|&sum| sum != 0));
    assert!(outcomes[1..].iter().all(|outcome| outcome.checksums == first));
}

#[test]
fn last_states_are_limited_and_complete_searches_return_antipodes() {
    let search = Search::new(Board::ordered(Size::new(3, 3).unwrap(), 4).unwrap());
    for engine in [Engine::Reference, Engine::Sweep] {
        let search = search.clone().engine(engine);
        let all = search.clone().keep_last(usize::MAX).run().unwrap();
        assert_eq!((all.last.len(), all.antipodes()), (148, Some(148)));
        let five = search.keep_last(5).run().unwrap();
        assert_eq!(five.last.numbered(), &all.last.numbered()[..5]);
    }
}

#[test]
fn a_search_stops_when_it_is_told_to() {
    let search = Search::new(Board::ordered(Size::new(3, 3).unwrap(), 8).unwrap());
    for engine in [Engine::Reference, Engine::Sweep] {
        let stopped = search.clone().engine(engine).run_with(&StopWhen(|| true));
        let error = stopped.unwrap_err().to_string();
        assert!(error.starts_with("interrupted at depth"), "{error}");
    }
}
