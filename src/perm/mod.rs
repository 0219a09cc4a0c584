//! Ranks of permutations, the register layout based on them, and the effect of a window on arrays in that order.
//!
//! `lehmer` and `placement` compute ranks; `layout` determines which byte of an array represents which line. Searches
//! and builds of databases make a [`move_table::MoveTable`] for each window, which determines, within a block, from
//! which register each register comes. `sources` adds the blocks in which these are, and `reach` the groups of
//! registers that states can reach. `kernel` uses the tables.
//!
//! Invariant: everywhere, the number of a **line** is its lexicographic rank among even permutations. The register
//! layout is a renaming of these ranks (60 consecutive ranks form one register), so no table ever translates between
//! the two.

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
