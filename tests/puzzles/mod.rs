//! Permutation puzzles: families, files and their general form, against plain searches and published truth.

mod corpus;
mod docs;
mod files;
mod goals;
mod groups;
mod growth;
mod named;
mod notation;
mod orbits;
mod others;
mod rows;
mod states;
mod stickers;

use tilewave::puzzle::Definition;
use tilewave::puzzle::formats::read;

/// The text of a sample.
fn sample(name: &str) -> String {
    let path = crate::program::root().join("tests/data/puzzles");
    std::fs::read_to_string(path.join(name)).unwrap()
}

/// The puzzle of a sample.
fn puzzle(name: &str) -> Definition {
    read(name, &sample(name), None).unwrap()
}
