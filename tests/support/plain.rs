//! Breadth-first search by plain code: the truth that searches and tables are held against.

use std::collections::hash_map::Entry;
use std::hash::Hash;

/// With a hash function that keeps up with small states.
pub use foldhash::{HashMap, HashSet};
use tilewave::puzzle::{Arrangement, Board, Direction, Moves, Puzzle};

/// The distance of each state from the nearest of the first ones, and the sizes of the levels, the last of which is zero if
/// these are all. A level is computed if `more` says so of its depth and of the number of states known before.
pub fn search<S: Clone + Eq + Hash, N: IntoIterator<Item = S>>(
    first: impl IntoIterator<Item = S>,
    more: impl Fn(usize, usize) -> bool,
    around: impl Fn(&S) -> N,
) -> (HashMap<S, usize>, Vec<u64>) {
    let mut level: Vec<S> = first.into_iter().collect();
    let mut known: HashMap<S, usize> = level.iter().map(|state| (state.clone(), 0)).collect();
    let mut sizes = vec![level.len() as u64];
    while !level.is_empty() && more(sizes.len(), known.len()) {
        let mut next = Vec::new();
        for state in level.iter().flat_map(&around) {
            if let Entry::Vacant(new) = known.entry(state) {
                next.push(new.key().clone());
                new.insert(sizes.len());
            }
        }
        sizes.push(next.len() as u64);
        level = next;
    }
    (known, sizes)
}

/// The distances of all states from one of them.
pub fn reached<S: Clone + Eq + Hash, N: IntoIterator<Item = S>>(
    start: S,
    around: impl Fn(&S) -> N,
) -> HashMap<S, usize> {
    search([start], |_, _| true, around).0
}

/// Distances of all boards by sliding tiles.
pub fn of_boards(goal: &Board) -> HashMap<Board, usize> {
    reached(goal.clone(), |board| {
        let slides = Direction::ALL.into_iter().map(|direction| Moves(vec![direction]));
        slides.filter_map(|slide| slide.apply(board).ok()).collect::<Vec<_>>()
    })
}

/// The distances of states of a puzzle from some, up to this depth, and the sizes of the levels, as [`search`] has them.
pub fn of_puzzle(
    puzzle: &Puzzle,
    from: Vec<Arrangement>,
    depth: usize,
) -> (HashMap<Arrangement, usize>, Vec<u64>) {
    let moves = 0..puzzle.moves().len();
    let around = |state: &Arrangement| {
        moves.clone().filter_map(|one| puzzle.moved(state, one)).collect::<Vec<_>>()
    };
    search(from, |at, _| at <= depth, around)
}

/// The sizes of the first levels around the goals.
pub fn levels(puzzle: &Puzzle, depth: usize) -> Vec<u64> {
    of_puzzle(puzzle, puzzle.goals().to_vec(), depth).1
}
