//! Pruning tables: the distance of every state of a projection of a puzzle, which is a lower bound for states of the
//! puzzle.
//!
//! A projection ([`OrbitPuzzle::keeping`](crate::puzzle::orbits::OrbitPuzzle::keeping) and similar methods) has few
//! enough states for a table of all of them. [`PruningTable::build`] writes the depth of every state at the position
//! given by its number: by `blocks` if pieces have orientations, by `rows` if several sets of positions have digits,
//! otherwise from a list search with `lists`. `puzzle::ranking` and, up to symmetry, `numbers` define the numbers;
//! `row_rank` computes those of states of the full puzzle, also through its symmetries. `header` is the beginning of a
//! file.
//!
//! Invariant: an entry is the minimum number of moves from its state to the solved state, or that number modulo 3.

pub(crate) mod blocks;
pub(crate) mod header;
pub(crate) mod lists;
pub(crate) mod numbers;
pub(crate) mod row_rank;
pub(crate) mod rows;
pub(crate) mod table;

pub use crate::pruning::{header::EntrySize, table::PruningTable};
