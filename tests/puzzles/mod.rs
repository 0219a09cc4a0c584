//! Permutation puzzles: families, files and their general form, against plain searches and published truth.

mod blocks;
mod corpus;
mod cubers;
mod docs;
mod files;
mod goals;
mod groups;
mod growth;
mod named;
mod notation;
mod others;
mod rows;
mod sets;
mod solids;
mod states;
mod stickers;
mod symmetries;

use tilewave::puzzle::{Permutation, Puzzle, formats::read};

/// The text of a sample.
fn sample(name: &str) -> String {
    let path = crate::program::root().join("tests/data/puzzles");
    std::fs::read_to_string(path.join(name)).unwrap()
}

/// The puzzle of a sample.
fn puzzle(name: &str) -> Puzzle {
    read(name, &sample(name), None).unwrap()
}

/// An arrangement of a puzzle of permutations after a move.
pub fn after(puzzle: &Puzzle, arrangement: &Permutation, index: usize) -> Permutation {
    puzzle.permutations()[index].inverse().then(arrangement)
}

fn names(puzzle: &Puzzle) -> Vec<&str> {
    puzzle.moves().iter().map(|one| one.name.as_str()).collect()
}
