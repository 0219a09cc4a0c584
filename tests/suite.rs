//! All tests that take seconds, in one program: linking is what takes time. `cargo test --test suite solve::` runs
//! those of one directory.

mod cli;
mod layering;
mod pdb;
mod pruning;
mod puzzles;
#[path = "support/random_puzzle.rs"]
mod random_puzzle;
mod readme;
mod results;
mod search;
mod solve;
mod table;
