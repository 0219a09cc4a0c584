//! Breadth-first search of puzzles whose levels are lists: several orbits, orientations, equal pieces, large boards.
//!
//! `bfs` and Rust programs call [`FrontierSearch::run`]. `fields` turns the states of a puzzle into rows of small numbers and
//! its moves into maps of them; `symmetry` finds the symmetries among such maps; `choice` chooses which pieces say in
//! which bucket a state is, `coordinate` numbers the buckets, and `bucket_space` has what does not change; `level` computes a level from the one before, bucket by
//! bucket, whose lists `lists` keeps as they are or coded; `bit_levels` does it where buckets are full, by the numbers of `bucket_ranks`; `search` goes from level to level, `forecast` tells before what it takes. What is left of a state in
//! its bucket is a key: `kernel` moves keys (`keys`), finds those that are new (`key_set`) and writes them short
//! (`key_digits`).
//!
//! Invariant: counts and checksums do not depend on the coordinate, the symmetries, the kernel or the threads.

mod bit_levels;
mod bucket_ranks;
mod bucket_space;
mod choice;
mod coordinate;
mod fields;
mod forecast;
mod level;
mod levels;
mod lists;
mod outcome;
mod search;
mod symmetry;

pub use crate::frontier::{
    forecast::{DepthForecast, FrontierForecast},
    outcome::{FrontierError, FrontierLevel, FrontierOutcome},
    search::FrontierSearch,
};

pub(crate) use crate::frontier::{
    bucket_space::BucketSpace,
    fields::{FieldKind, FieldMap, Relabelling, StateFields},
    level::{LevelEnd, LevelTotal, LevelUse, ListSink},
    levels::{FoundLists, LevelStore, MemoryLevels},
    lists::{BucketLists, ListChunk},
    symmetry::SymmetryGroup,
};
