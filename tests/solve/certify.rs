//! Optima against a SAT solver, and the SAT solver against published optima.

use tilewave::progress::StopWhen;
use tilewave::puzzle::{Board, Goal, Size, StateSpace};
use tilewave::search::Search;
use tilewave::solve::{Constructive, Scrambler, SolveError, certify, certify_with};

use super::{board, goal};

/// Certifies that the least number of moves is `length`, and that no other number passes.
fn optimum(board: &Board, goal: &Board, length: usize) {
    let certificate = certify(board, goal, length).unwrap();
    assert_eq!(certificate.solution.len(), length, "{board}");
    assert_eq!(&certificate.solution.apply(board).unwrap(), goal, "{board}");
    for more in [length + 1, length + 2] {
        match certify(board, goal, more) {
            Err(SolveError::Beaten { claimed, moves }) => {
                assert_eq!(claimed, more);
                // Shorter than what was claimed, and no shorter than can be.
                let shorter = length..more;
                assert!(shorter.contains(&moves.len()), "{board}: {moves}");
                assert_eq!(&moves.apply(board).unwrap(), goal);
            }
            other => panic!("{board}: {more} moves are not optimal, but {other:?}"),
        }
    }
    for less in [1, 2].into_iter().filter_map(|less| length.checked_sub(less)) {
        let answer = certify(board, goal, less);
        assert!(matches!(answer, Err(SolveError::TooShort { .. })), "{board}: {less}");
    }
}

#[test]
fn optimal_lengths_of_small_boards_are_certified() {
    // The constructive solver finishes boards of this size by complete tables.
    for (size, blank, count) in
        [("2x2", 3, 6), ("2x3", 5, 20), ("3x2", 1, 10), ("2x4", 0, 10), ("3x3", 4, 6)]
    {
        let goal = Board::ordered(size.parse().unwrap(), blank).unwrap();
        let solver = Constructive::new(goal.clone());
        optimum(&goal, &goal, 0);
        for board in Scrambler::new(goal.clone(), 11).take(count) {
            optimum(&board, &goal, solver.solve(&board).unwrap().len());
        }
    }
}

#[test]
fn diameters_are_certified_at_an_antipode() {
    for (size, diameter) in [("2x3", 21), ("2x4", 36), ("3x3", 31)] {
        let goal = Goal::Last.board(size.parse().unwrap()).unwrap();
        let mut search = Search::new(goal.clone());
        search.keep_last = 1;
        let outcome = search.run().unwrap();
        assert_eq!(outcome.diameter(), Some(diameter));
        let space = StateSpace::of_board(goal.clone());
        let antipode = space.board(outcome.last.numbered()[0]).unwrap();
        optimum(&antipode, &goal, diameter);
    }
}

#[test]
fn published_boards_of_the_15_puzzle_are_certified() {
    let last = goal("last", Size::new(4, 4).unwrap());
    for (text, length) in [
        ("5 1 2 3/9 6 7 4/13 10 11 8/14 15 0 12", 11),
        ("5 1 7 3/9 2 11 4/13 6 15 8/0 10 14 12", 15),
        ("1 2 3 4/5 6 7 8/9 10 11 12/13 14 0 15", 1),
    ] {
        optimum(&board(text), &last, length);
    }
}

#[test]
#[ignore = "takes half a minute: cargo test --release --test suite -- --ignored takes_38_moves"]
fn a_board_of_the_15_puzzle_that_takes_38_moves_is_certified() {
    let last = goal("last", Size::new(4, 4).unwrap());
    let board = board("5 2 4 8/10 0 3 14/13 6 11 12/1 15 9 7");
    let certificate = certify(&board, &last, 38).unwrap();
    assert_eq!(certificate.solution.len(), 38);
    assert_eq!(certificate.solution.apply(&board).unwrap(), last);
}

#[test]
fn no_time_means_no_answer() {
    let first = goal("first", Size::new(4, 4).unwrap());
    let board = board("14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3");
    let answer = certify_with(&board, &first, 57, &StopWhen(|| true));
    assert!(matches!(answer, Err(SolveError::Undecided { moves: 57, .. })), "{answer:?}");
}

#[test]
fn unsolvable_and_oversized_questions_are_refused() {
    let last = goal("last", Size::new(4, 4).unwrap());
    let loyd = board("1 2 3 4/5 6 7 8/9 10 11 12/13 15 14 0");
    assert!(matches!(certify(&loyd, &last, 10), Err(SolveError::Puzzle(_))));
    let answer = certify(&last, &last, usize::MAX);
    assert!(matches!(answer, Err(SolveError::ModelTooLarge { .. })), "{answer:?}");
}
