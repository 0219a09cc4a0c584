//! Pruning tables: the distance of every state of a projection of a puzzle, a lower bound for states of the puzzle.
//!
//! A projection ([`OrbitPuzzle::keeping`](crate::puzzle::orbits::OrbitPuzzle::keeping) and its like) has few enough states for a
//! table of all. [`PruningTable::build`] writes the depth of every state at its number, by `blocks` where pieces turn, by `rows`
//! where several sets of positions have digits, else from a search by `lists`. `puzzle::ranking` and, up to symmetry, `numbers`
//! define the numbers; `row_rank` finds those of states of the whole puzzle, and through its symmetries. `header` is the front
//! of a file.
//!
//! Invariant: an entry is the fewest moves from its state to the solved one, or that number modulo 3.

pub(crate) mod blocks;
pub(crate) mod header;
pub(crate) mod lists;
pub(crate) mod numbers;
pub(crate) mod row_rank;
pub(crate) mod rows;
pub(crate) mod table;

pub use crate::pruning::{header::EntrySize, table::PruningTable};
