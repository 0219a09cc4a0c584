//! Where states are kept: memory arrays.

mod mapped;
mod memory;
mod output;
mod prefetch;

pub use mapped::Mapped;
pub use memory::{Array, MemoryError, budget, peak_memory};
pub use output::Output;
pub use prefetch::prefetch;
