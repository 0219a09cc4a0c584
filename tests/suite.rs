//! All tests that take seconds, in one program: linking is what takes time. `cargo test --test suite solve::` runs
//! those of one directory.

mod cli;
// The commands of its pages are those of bash.
#[cfg(unix)]
mod cmd;
mod layering;
mod pdb;
#[path = "support/plain.rs"]
mod plain;
#[path = "support/program.rs"]
mod program;
mod pruning;
mod puzzles;
#[path = "support/random_puzzle.rs"]
mod random_puzzle;
mod readme;
mod results;
mod search;
mod signature;
mod solve;
mod table;
