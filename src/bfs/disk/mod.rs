//! The search on disk: levels in files, one chunk in memory at a time, by one process or many.
//!
//! Invariant: a session only continues from what the manifest names. A new search is level 0 in files
//! and a manifest; from there every session does the same: fill the planes from the files, compute the
//! chunks that are missing, level by level.

mod calibrate;
mod chunk;
mod codecs;
mod committer;
mod context;
mod directories;
mod error;
mod estimate;
mod fetch;
mod file_exchange;
mod growth;
mod halt;
mod identity;
mod inspect;
mod level;
mod memory_plan;
mod message;
mod near;
mod options;
mod outbox;
mod owners;
mod parts;
mod rebuild;
mod recognise;
mod recompute;
mod repair;
mod run;
mod session;
mod setup;
mod side;
mod superstep;
mod times;
mod writer;

pub use super::outcome::{DiskUse, PlaneStore};
pub use calibrate::calibrate;
pub use directories::Directories;
pub use error::DiskError;
pub use estimate::{Estimate, Widths, estimate, share, widths};
pub use halt::Stopped;
pub use inspect::{Status, Verified, search, status, verify};
pub use memory_plan::{DiskBudget, MemoryPlan, suits};
pub use options::Disk;
pub use repair::{Repaired, repair};
pub use run::{run, run_distributed};
