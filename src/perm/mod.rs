//! Ranks of permutations, the register layout based on them, and the effect of a window on arrays in that order.
//!
//! `lehmer` and `placement` compute ranks; `layout` determines which byte of an array represents which line. Searches
//! and builds of databases make a [`move_table::MoveTable`] for each window, which determines, within a block, from
//! which register each register comes, and which registers states can reach; `layout` adds the blocks in which the
//! sources are. `kernel` uses the tables.
//!
//! Invariant: everywhere, the number of a **line** is its lexicographic rank among even permutations. The register
//! layout is a renaming of these ranks (60 consecutive ranks form one register), so no table ever translates between
//! the two.

pub mod layout;
pub mod lehmer;
pub mod move_table;
pub mod placement;

pub use crate::perm::{move_table::TargetByte, placement::set_of};

pub(crate) use crate::perm::{
    layout::{GROUP, LANE_KEYS, LANES, Layout, REGISTER_BYTES, Register, SourceBlocks},
    lehmer::{Below, MAX_LEN},
    move_table::{
        ALL, CrossRow, Crossing, CrossingGroup, Gathers, LaneRow, MoveShape, MoveTable, Reach,
        SourceRegister,
    },
    placement::{Subsets, bits},
};
