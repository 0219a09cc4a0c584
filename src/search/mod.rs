//! Breadth-first search of numbered states: boards of up to 16 cells, and puzzles with one set of different pieces.
//!
//! [`Search::run`] runs a [`Search`] (`options`) and returns an [`Outcome`]; the program, tables, Python and Rust
//! programs call it. It chooses an engine: the sweep (`memory`) or the plain one (`reference`). `disk` runs the sweep
//! with levels in files, alone or as a rank of a job (`ranks`). The sweep turns the state space into a
//! `problem`: a layout, and `classes` of groups with the moves between them. Each level goes block by block through
//! `expander` to the kernel; `long_windows` carries out moves that are too long for tables. `outcome` collects the
//! totals of levels and rejects impossible counts. `forecast` predicts memory and time.
//!
//! Invariant: every engine returns the same counts and the same checksums for the same search. The checksum of a level
//! depends only on its set of states.

pub(crate) mod classes;
pub mod disk;
pub(crate) mod error;
pub(crate) mod expander;
pub(crate) mod forecast;
pub(crate) mod long_windows;
pub(crate) mod memory;
pub(crate) mod options;
pub(crate) mod outcome;
pub(crate) mod problem;
pub(crate) mod ranks;
pub(crate) mod reference;
pub(crate) mod run;

pub use crate::search::{
    disk::plan::{Network, network},
    error::SearchError,
    forecast::{Calibration, DiskForecast, Forecast, Machines, calibrate},
    options::{Engine, Search},
    outcome::{DiskUse, Outcome},
    ranks::{Communicator, OneProcess, Ranks, Reduce, Share},
    run::{SearchPlan, plan},
};

pub(crate) use crate::search::{
    classes::{BYTE, Chunks, Group, Groups, IncomingMoves, IncomingStep, Seat},
    expander::{BlockLoop, BlockTarget, Expansion, Frontier, MANY, PredecessorBlocks, states_of},
    long_windows::{ChainPlan, LongWindowArrays, LongWindows, is_long, plans},
    outcome::{EachLevel, FoundLevels, PlaneStore},
    problem::{Crossings, Plane, SearchProblem, crosses},
};
