//! Where states are kept: memory arrays.

mod memory;

pub use memory::{Array, MemoryError, budget, peak_memory};
