//! Distance tables: the exact depth of every state of a board or another puzzle, in a file.
//!
//! Invariant: an entry is the fewest moves from its state to the goal, or that number modulo 3: of two
//! neighbours one is exactly one move closer, so the remainder tells which, and walking to the goal counts
//! the moves. A state that was not reached has an entry of its own.
//!
//! [`DistanceTable::build`] searches a puzzle and keeps the depths, [`Fill`] takes them level by level from any search,
//! [`DistanceTable::save`] and [`DistanceTable::open`] keep a table in a file (`docs/format.md`), [`DistanceTable::depth`] and
//! [`DistanceTable::solve`] answer.
//!
//! Source: the mod-3 representation is D. Kunkle's and G. Cooperman's (Twenty-six moves suffice for Rubik's
//! cube, ISSAC 2007), and older.

pub(crate) mod build;
pub(crate) mod distances;
pub(crate) mod error;
pub(crate) mod header;

pub use crate::table::{
    build::{Fill, needed},
    distances::DistanceTable,
    error::TableError,
    header::TableEncoding,
};
