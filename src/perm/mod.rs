//! Ranks of permutations, the register layout built on them, and what a window does to arrays in that order.
//!
//! `lehmer` and `placement` rank; `layout` says which byte of an array holds which line. Searches and builds of databases
//! have a [`move_table::MoveTable`] made for each window: which register each register comes from within a block. `sources`
//! adds which blocks these lie in, `reach` which groups of registers states can come to. `kernel` runs the tables.
//!
//! Invariant: a **line** number is the lexicographic rank among even permutations, everywhere. The
//! register layout is a renaming of these ranks (60 consecutive ranks are one register), so no table
//! ever translates between the two.

pub mod layout;
pub mod lehmer;
pub mod move_table;
pub mod placement;
pub mod reach;
pub(crate) mod sources;

pub use crate::perm::move_table::TargetByte;

pub(crate) use crate::perm::{
    layout::{GROUP, LANE_KEYS, LANES, Layout, PAD_LANE, REGISTER_BYTES, Register},
    lehmer::{Below, MAX_LEN},
    move_table::{
        CrossRow, Crossing, CrossingGroup, Gathers, LaneRow, MoveShape, MoveTable, SourceRegister,
    },
    placement::Subsets,
    reach::{ALL, Reach},
    sources::SourceBlocks,
};
