//! The search on disk: levels in files, one chunk in memory at a time, by one process or many.
//!
//! Invariant: a session only continues from what the manifest names. A new search is level 0 in files
//! and a manifest; from there every session does the same: fill the planes from the files, compute the
//! chunks that are missing, level by level.
//!
//! `cli::bfs`, `resume` and Rust programs call [`Disk::run`] or, as one of several ranks, [`Disk::run_distributed_with`].
//! The way of a search: `run` finds the run by a `survey` of its directories, agrees with the other ranks and hands what is
//! fixed to `level`, which goes from level to level; `chunk` computes the chunks of a level, while a `reader` brings their files
//! and the `writer` takes the new ones and commits. What crosses between chunks is the `halo`: all of it in memory, or on its
//! way by an `exchange`, in either case from where `halo_sources` says. `repair`, `verify`: runs at rest. `plan`: before one begins.

pub(crate) mod chunk;
pub(crate) mod directories;
pub(crate) mod error;
pub(crate) mod exchange;
pub(crate) mod halo;
pub(crate) mod halo_sources;
pub(crate) mod level;
pub(crate) mod list_files;
pub(crate) mod lists;
pub(crate) mod plan;
pub(crate) mod reader;
pub(crate) mod repair;
pub(crate) mod run;
pub(crate) mod survey;
pub(crate) mod verify;
pub(crate) mod writer;

pub use crate::search::{
    disk::{
        directories::{Directories, Disk, Searched},
        error::Stopped,
        plan::{DiskBudget, Estimate, MemoryPlan, estimate},
        repair::{Repaired, repair},
        survey::Verified,
        verify::{Status, search, status, verify, verify_with},
    },
    outcome::{DiskUse, PlaneStore, Widths, widths},
};

pub(crate) use crate::search::disk::{
    chunk::{DiskRun, Level, Workers, half_step, restore},
    directories::label,
    error::{Halt, agreed},
    exchange::{Exchange, Segment},
    halo::{ChunkHalo, Halo, WholeHalo},
    halo_sources::{ALL_LANES, BlockSources, Granularity, PlaneSources, Portions},
    level::{DiskJob, Session},
    plan::{Network, SENT, check_room, network, share, suits},
    reader::{Batch, Batches, Clock, Fetch, RunFiles, RunLevel, Times},
    repair::Recomputed,
    survey::{Seen, Survey},
    writer::{Committer, EncodedFrames, Writer, WriterJob, no_thread},
};
