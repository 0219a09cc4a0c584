//! Ranking of permutations, the register layout built on it, and the kernels that move registers.
//!
//! Invariant: a **line** number is the lexicographic rank among even permutations, everywhere. The
//! register layout is a renaming of these ranks (60 consecutive ranks are one register), so no table
//! ever translates between the two.

pub mod arrangement;
pub mod checksum;
pub mod gather;
pub mod kernel;
pub mod layout;
pub mod lehmer;
mod origin;
mod outside;
pub mod placement;

pub use origin::Target;
pub use outside::Outside;
