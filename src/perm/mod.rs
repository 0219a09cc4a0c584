//! Ranking of permutations, the register layout built on it, and the kernels that move registers.
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
