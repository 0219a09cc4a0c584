//! The search on disk: levels in files, one chunk in memory at a time, by one process or many.
//!
//! Invariant: a session only continues from what the manifest names. A new search is level 0 in files
//! and a manifest; from there every session does the same: fill the planes from the files, compute the
//! chunks that are missing, level by level.

pub(crate) mod chunk;
pub(crate) mod context;
pub(crate) mod directories;
pub(crate) mod error;
pub(crate) mod estimate;
pub(crate) mod exchange;
pub(crate) mod half_step;
pub(crate) mod halo;
pub(crate) mod halo_sources;
pub(crate) mod level;
pub(crate) mod memory_plan;
pub(crate) mod reader;
pub(crate) mod repair;
pub(crate) mod run;
pub(crate) mod setup;
pub(crate) mod survey;
pub(crate) mod transports;
pub(crate) mod verify;
pub(crate) mod writer;

pub use crate::search::disk::directories::{Directories, Disk};
pub use crate::search::disk::error::DiskError;
pub use crate::search::disk::estimate::{Estimate, Widths, calibrate, estimate, share, widths};
pub use crate::search::disk::memory_plan::{DiskBudget, MemoryPlan, suits};
pub use crate::search::disk::repair::{Repaired, repair};
pub use crate::search::disk::run::{run, run_distributed};
pub use crate::search::disk::verify::{Status, Verified, search, status, verify};
pub use crate::search::disk::writer::Stopped;
pub use crate::search::outcome::{DiskUse, PlaneStore};
