//! Solving against truth that does not come from the solver.

mod certify;
mod constructive;
mod export;
#[path = "../examples/ida.rs"]
mod ida;
mod limits;
mod mapped;
mod optimal;
mod puzzles;
mod random;
mod scramble;
mod solvability;
#[path = "../disk/threads.rs"]
mod threads;
mod together;
mod uncovered;

use tilewave::puzzle::{Board, Goal, Size};

/// Returns the board of a notation.
fn board(text: &str) -> Board {
    Board::parse(text, None).expect("the test writes boards")
}

/// Returns the goal of a name on the board's size.
fn goal(name: &str, size: Size) -> Board {
    let goal: Goal = name.parse().expect("the test names goals");
    goal.board(size).expect("the goal fits the size")
}
