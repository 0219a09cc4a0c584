//! Breadth-first search of puzzles whose levels are lists: several orbits, orientations, equal pieces, large boards.

mod coordinate;
mod fields;
mod search;
mod symmetry;

pub use crate::frontier::search::{FrontierLevel, FrontierSearch};
