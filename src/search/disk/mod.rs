//! The search on disk: levels in files, one chunk in memory at a time, by one process or many.
//!
//! Invariant: a session only continues from what the manifest names. A new search is level 0 in files
//! and a manifest; from there every session does the same: fill the planes from the files, compute the
//! chunks that are missing, level by level.
//!
//! The way of a search: `session` finds the run by a `survey` of its directories, agrees with the other ranks (`setup`) and
//! puts what is fixed into a `run`; `level` goes from level to level; `chunk` computes the chunks of a level, with the moves
//! that `half_step` made ready, while a `reader` brings their files and the `writer` takes the new ones and commits.
//! What crosses between chunks is the `halo`: all of it in memory, or `segments` on their way by an `exchange`, in either
//! case from where `halo_sources` says. `repair`, `verify`: runs at rest. `memory_plan`, `estimate`: before one begins.

pub(crate) mod chunk;
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
pub(crate) mod segments;
pub(crate) mod session;
pub(crate) mod setup;
pub(crate) mod survey;
pub(crate) mod verify;
pub(crate) mod writer;

pub use crate::search::disk::directories::{Directories, Disk};
pub use crate::search::disk::error::{DiskError, Stopped};
pub use crate::search::disk::estimate::{Estimate, Widths, estimate, widths};
pub use crate::search::disk::memory_plan::{DiskBudget, MemoryPlan};
pub use crate::search::disk::repair::{Repaired, repair};
pub use crate::search::disk::session::{run, run_distributed};
pub use crate::search::disk::verify::{Status, Verified, search, status, verify};
pub use crate::search::outcome::{DiskUse, PlaneStore};

pub(crate) use crate::search::disk::chunk::{Level, Restored};
pub(crate) use crate::search::disk::directories::label;
pub(crate) use crate::search::disk::error::{Halt, agreed};
pub(crate) use crate::search::disk::estimate::share;
pub(crate) use crate::search::disk::exchange::Exchange;
pub(crate) use crate::search::disk::half_step::{GroupStep, half_step, leaving, near};
pub(crate) use crate::search::disk::halo::{Halo, PlaneWords, WholeHalo};
pub(crate) use crate::search::disk::halo_sources::{
    ALL_LANES, BlockSources, Granularity, PlaneSources, Portions,
};
pub(crate) use crate::search::disk::level::{Reached, Session};
pub(crate) use crate::search::disk::memory_plan::{Network, SENT, network, suits};
pub(crate) use crate::search::disk::reader::{
    Batch, Batches, Fetch, FrameContent, RunFiles, Times, chunks_of, frame_lines,
};
pub(crate) use crate::search::disk::repair::Recomputed;
pub(crate) use crate::search::disk::run::{DiskRun, RankProgress, Worker, Workers};
pub(crate) use crate::search::disk::segments::ChunkHalo;
pub(crate) use crate::search::disk::setup::{check, new_manifest, run_number};
pub(crate) use crate::search::disk::survey::{Seen, Survey};
pub(crate) use crate::search::disk::writer::{Committer, EncodedFrames, NEVER, Writer, no_thread};
