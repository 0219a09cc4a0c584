//! Distance tables: the exact depth of every state of a board, in a file.
//!
//! Invariant: an entry is the fewest moves from its state to the goal, or that number modulo 3: of two
//! neighbours one is exactly one move closer, so the remainder tells which, and walking to the goal counts
//! the moves. A state that was not reached has an entry of its own.
//!
//! [`build`] searches a board and keeps the depths, [`Fill`] takes them level by level from any search,
//! [`Table::save`] and [`Table::open`] keep a table in a file (`docs/format.md`), [`Table::depth`] and
//! [`Table::solve`] answer.
//!
//! Source: the mod-3 representation is D. Kunkle's and G. Cooperman's (Twenty-six moves suffice for Rubik's
//! cube, ISSAC 2007), and older.

mod build;
mod distances;
mod error;
mod fill;
mod header;
mod position;
mod shape;

pub use build::{build, needed};
pub use distances::Table;
pub use error::TableError;
pub use fill::Fill;

use crate::names::names;

/// How depths are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Two bits per state: the depth modulo 3, or 3 for a state that was not reached.
    Mod3,
    /// One byte per state: the depth, or 255 for a state that was not reached.
    Byte,
}

names! { Encoding:
    "mod3" = Mod3, "Two bits per state: the depth modulo 3";
    "byte" = Byte, "One byte per state: the depth";
}
