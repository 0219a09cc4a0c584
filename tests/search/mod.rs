//! The search against published truth, against a plain hash-map search, and its parts against
//! direct computation.

mod boards;
mod frontier;
mod gather;
mod kernels;
mod oracle;
mod puzzles;
mod random_puzzles;
mod ranking;
mod truth;
