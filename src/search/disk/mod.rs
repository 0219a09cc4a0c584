//! The search on disk: levels in files, with one chunk in memory at a time, by one or many processes.
//!
//! Invariant: a session continues only from what the manifest names. A new search consists of level 0 in files and a
//! manifest; from there on, every session does the same: it fills the planes from the files and computes the missing
//! chunks, level by level.
//!
//! `cli::bfs`, `resume` and Rust programs call [`Disk::run`] or, as one of several ranks,
//! [`Disk::run_distributed_with`]. How a search proceeds: `run` finds the run with a `survey` of its directories,
//! agrees with the other ranks, and passes the fixed data to `level`, which goes from level to level; `chunk` computes
//! the chunks of a level, while a `reader` reads their files and the `writer` writes the new ones and commits them. The
//! bits that cross between chunks are the `halo`: either all of it is in memory, or it is on its way through an
//! `exchange`. `at_rest` checks and repairs runs at rest. `plan` is used before a run begins.

pub(crate) mod at_rest;
pub(crate) mod bitmaps;
pub(crate) mod chunk;
pub(crate) mod directories;
pub(crate) mod exchange;
pub(crate) mod halo;
pub(crate) mod level;
pub(crate) mod lists;
pub(crate) mod plan;
pub(crate) mod reader;
pub(crate) mod run;
pub(crate) mod survey;
pub(crate) mod writer;

pub use crate::search::{
    disk::{
        at_rest::{Repaired, Status, repair, search, status, verify, verify_with},
        directories::{Directories, Disk},
        plan::{DiskBudget, Estimate, MemoryPlan, estimate},
        run::DiskSearch,
        survey::Verified,
    },
    outcome::{Widths, widths},
};

pub(crate) use crate::search::disk::{
    at_rest::Recomputed,
    chunk::{DiskRun, Level, Workers, half_step, restore},
    directories::{agreed, label},
    exchange::{Exchange, Segment},
    halo::{ChunkHalo, Halo, WholeHalo},
    level::{DiskJob, Session},
    plan::{Network, SENT, network, share},
    reader::{Batch, Batches, Clock, Fetch, RunFiles, Times},
    survey::{Seen, Survey},
    writer::{Committer, Writer, no_thread},
};
