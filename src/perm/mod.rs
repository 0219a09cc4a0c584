//! Ranking of permutations, the register layout built on it, and the kernels that move registers.
//!
//! Invariant: a **line** number is the lexicographic rank among even permutations, everywhere. The
//! register layout is a renaming of these ranks (60 consecutive ranks are one register), so no table
//! ever translates between the two.

mod byte_source;
pub mod checksum;
pub mod gather;
pub mod gathers;
pub mod kernel;
pub mod layout;
pub mod lehmer;
pub mod placement;
pub mod reach;
mod source_blocks;

pub use byte_source::Target;
pub use source_blocks::SourceBlocks;
