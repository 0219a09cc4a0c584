//! Solving against truth that does not come from the solver.

mod all;
mod certify;
mod chain;
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
mod subset;
#[path = "../disk/threads.rs"]
mod threads;
mod together;
mod two_sided;
mod uncovered;

use tilewave::puzzle::{Arrangement, Board, Goal, Puzzle, Size};
use tilewave::random::SplitMix64;

/// Returns the board of a notation.
fn board(text: &str) -> Board {
    Board::parse(text, None).expect("the test writes boards")
}

/// Returns the goal of a name on the board's size.
fn goal(name: &str, size: Size) -> Board {
    let goal: Goal = name.parse().expect("the test names goals");
    goal.board(size).expect("the goal fits the size")
}

/// The boards of a list and their lengths: a number, the tiles, the length, whatever else.
fn instances(text: &str, size: Size) -> Vec<(Board, usize)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let instances = lines.map(|line| {
        let numbers: Vec<usize> =
            line.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let cells = size.cells();
        let tiles: Vec<u16> = numbers[1..=cells].iter().map(|&t| t as u16).collect();
        (Board::new(size, &tiles).unwrap(), numbers[cells + 1])
    });
    instances.collect()
}

/// Korf's 15-puzzles.
fn korf() -> Vec<(Board, usize)> {
    instances(include_str!("../data/korf50.txt"), Size::new(4, 4).unwrap())
}

/// The board after random moves.
fn walked(board: &Board, moves: usize, random: &mut SplitMix64) -> Board {
    (0..moves).fold(board.clone(), |board, _| {
        let near: Vec<Board> = board.neighbours().map(|(_, next)| next).collect();
        near[random.below(near.len() as u64) as usize].clone()
    })
}

/// The state after random moves.
fn mixed(puzzle: &Puzzle, moves: usize, random: &mut SplitMix64) -> Arrangement {
    let mut state = puzzle.solved();
    for _ in 0..moves {
        let one = random.below(puzzle.moves().len() as u64) as usize;
        state = puzzle.moved(&state, one).unwrap_or(state);
    }
    state
}
