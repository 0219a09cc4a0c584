//! Distance tables: the exact depth of every state of a board or another puzzle, in a file.
//!
//! Invariant: an entry is the minimum number of moves from its state to the goal, or that number modulo 3. In the
//! latter case, a neighbour that is one move closer can be recognized by its remainder, and walking to the goal counts
//! the moves. States that were not reached have a special entry.
//!
//! [`DistanceTable::build`] searches a puzzle and stores the depths, [`Fill`] takes them level by level from any
//! search, [`DistanceTable::save`] and [`DistanceTable::open`] write and read a table file (`docs/format.md`), and
//! [`DistanceTable::depth`] and [`DistanceTable::solve`] look up depths and solutions.
//!
//! Source: the mod-3 representation is due to D. Kunkle and G. Cooperman (Twenty-six moves suffice for Rubik's cube,
//! ISSAC 2007) and earlier authors.

pub(crate) mod build;
pub(crate) mod distances;
pub(crate) mod header;

pub use crate::table::{
    build::{Fill, needed},
    distances::DistanceTable,
    header::{TableEncoding, TableError},
};

pub use crate::store::TableFile;
