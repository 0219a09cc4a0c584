//! Breadth-first search of puzzles whose levels are lists: several orbits, orientations, equal pieces, large boards.

mod choice;
mod coordinate;
mod fields;
mod level;
mod search;
mod symmetry;

pub use crate::frontier::search::{FrontierError, FrontierLevel, FrontierOutcome, FrontierSearch};
