//! The disk engine: the same levels as in memory, whatever is cut, killed or broken.

mod equality;
mod team;
