//! Breadth-first search with lists as levels, for puzzles with several sets, orientations or equal pieces, and for
//! large boards.
//!
//! `bfs` and Rust programs call [`FrontierSearch::run`]. `fields` turns the states of a puzzle into rows of small
//! numbers and its moves into maps of them; `symmetry` finds the symmetries among such maps. `bucket_space` chooses the
//! pieces that determine the bucket of a state and holds everything that does not change, `coordinate` numbers the
//! buckets. `level` computes a level from the previous one, bucket by bucket, with lists that `lists` stores uncoded or
//! coded; `bit_levels` does it if buckets are full. Where buckets lose symmetries or have long keys, `canonical` keeps the
//! least of the images of each state instead. `search` goes from level to level with the `levels` found so far,
//! and `forecast` predicts time and memory. The rest of a state within its bucket is a key: `kernel` moves keys
//! (`keys`), finds the new ones (`key_set`) and makes them strings for coded lists (`key_digits`).
//!
//! Invariant: counts and checksums do not depend on the coordinate, the symmetries, the kernel or the threads.

mod bit_levels;
mod bitmaps;
mod bucket_space;
mod canonical;
mod coordinate;
mod fields;
mod forecast;
mod level;
mod levels;
mod lists;
mod piece_groups;
mod product;
mod search;
mod symmetry;

pub use crate::frontier::{
    forecast::{DepthForecast, FrontierForecast},
    search::FrontierSearch,
};

pub(crate) use crate::frontier::{
    bitmaps::{BITMAP_HEAD, BitmapBlock, Bitmaps, BlockTotal, total_of},
    bucket_space::{BucketSpace, MoveParity},
    fields::{FieldBlock, FieldKind, FieldMap, StateFields, Unlined},
    levels::{
        FoundLevels, FoundLists, LevelStore, LevelTotal, LevelUse, ListSink, MemoryLevels,
        take_parts,
    },
    lists::{BucketLists, ListChunk},
    product::ProductSpace,
    symmetry::{PuzzleRows, SymmetryGroup},
};
