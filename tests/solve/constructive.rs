//! The constructive solver: every solution is made move by move, on every shape and goal.

use tilewave::puzzle::{Board, Goal, PuzzleErrorKind, Size, StateSpace};
use tilewave::search::Search;
use tilewave::solve::{Constructive, Scrambler};

use super::{board, goal, korf};

/// Solves boards and returns the mean number of moves.
fn solve(goal: &Board, boards: impl Iterator<Item = Board>) -> f64 {
    let solver = Constructive::new(goal.clone());
    let (mut moves, mut count) = (0, 0);
    for board in boards {
        let solution = solver.solve(&board).expect("scrambles are solvable");
        assert_eq!(&solution.apply(&board).unwrap(), goal, "{board}");
        let back = solution.0.windows(2).find(|w| w[0] == w[1].opposite());
        assert_eq!(back, None, "{board}: no move is taken back");
        moves += solution.len();
        count += 1;
    }
    moves as f64 / f64::from(count)
}

#[test]
fn every_shape_and_blank_goal_is_solved() {
    for rows in 2..=7 {
        for cols in 2..=7 {
            let size = Size::new(rows, cols).unwrap();
            for blank in 0..size.cells() {
                let goal = Board::ordered(size, blank).unwrap();
                let boards = Scrambler::new(goal.clone(), blank as u64).take(20);
                solve(&goal, boards);
            }
        }
    }
}

#[test]
fn any_arrangement_can_be_the_goal() {
    for (size, seed) in [("5x5", 1), ("4x9", 2), ("9x4", 3), ("2x11", 4), ("11x2", 5), ("3x8", 6)] {
        let ordered = Goal::Last.board(size.parse().unwrap()).unwrap();
        for goal in Scrambler::new(ordered, seed).take(30) {
            solve(&goal, Scrambler::new(goal.clone(), seed + 1).take(10));
        }
    }
}

#[test]
fn large_boards_take_about_as_many_moves_as_measured() {
    // Moves per N^1.5, with a tenth to spare over what was measured.
    for (size, count, most) in [("10x10", 200, 2.2), ("20x20", 20, 2.4), ("100x100", 1, 2.6)] {
        let size: Size = size.parse().unwrap();
        let goal = Goal::Last.board(size).unwrap();
        let mean = solve(&goal, Scrambler::new(goal.clone(), 7).take(count));
        let share = mean / (size.cells() as f64).powf(1.5);
        assert!(share < most, "{size}: {mean} moves, {share} per N^1.5");
    }
    let thin = Size::new(2, 5000).unwrap();
    let goal = Goal::First.board(thin).unwrap();
    // A random board of this shape would take a hundred million moves; here every tile is two cells off.
    let mut tiles = goal.tiles().to_vec();
    tiles[1..].rotate_left(2);
    let start = Board::new(thin, &tiles).unwrap();
    solve(&goal, [start].into_iter());
}

#[test]
fn boards_of_up_to_nine_cells_are_solved_optimally() {
    for (text, blank) in
        [("2x2", 0), ("2x3", 5), ("3x2", 2), ("2x4", 3), ("4x2", 0), ("3x3", 4), ("3x3", 8)]
    {
        let goal = Board::ordered(text.parse().unwrap(), blank).unwrap();
        let space = StateSpace::of_board(goal.clone());
        let solver = Constructive::new(goal.clone());
        let mut counts: Vec<u64> = Vec::new();
        for id in 0..space.size().unwrap().states().unwrap() {
            let board = space.board(space.from_id(id).unwrap()).unwrap();
            let length = solver.solve(&board).unwrap().len();
            counts.resize(counts.len().max(length + 1), 0);
            counts[length] += 1;
        }
        let search = Search::new(goal);
        assert_eq!(counts, search.run().unwrap().counts, "{text}");
    }
}

#[test]
fn korf_s_instances_take_at_most_a_quarter_more_than_the_optimum() {
    let solver = Constructive::new(goal("first", Size::new(4, 4).unwrap()));
    let mut ratio = 0.0;
    let all = korf();
    for (board, optimum) in &all {
        let length = solver.solve(board).unwrap().len();
        assert!(length >= *optimum && length % 2 == optimum % 2, "{board}: {length}");
        ratio += length as f64 / *optimum as f64 / all.len() as f64;
    }
    assert!(ratio < 1.2, "{ratio}");
}

#[test]
fn other_sizes_and_unsolvable_boards_are_refused() {
    let solver = Constructive::new(goal("last", Size::new(4, 4).unwrap()));
    let small = solver.solve(&board("1 2 3/4 5 6/7 8 0"));
    assert_eq!(small.unwrap_err().kind(), PuzzleErrorKind::Shape);
    let loyd = solver.solve(&board("1 2 3 4/5 6 7 8/9 10 11 12/13 15 14 0"));
    assert_eq!(loyd.unwrap_err().kind(), PuzzleErrorKind::Unreachable);
}
