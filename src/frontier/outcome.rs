//! What a search by lists has found, or why it ended early.

use crate::{
    frontier::{bucket_space::BucketSpace, level::LevelTotal},
    kernel::Kernel,
    puzzle::orbits::Arrangement,
    system::SystemError,
    units::bytes,
};

/// What a search has found at one depth.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrontierLevel {
    /// Number of states.
    pub states: u64,
    /// Number of states up to symmetry; `None` where the search did not use all symmetries.
    pub reduced: Option<u64>,
    /// A number that is the same for equal sets of states, whatever the symmetries, kernel, threads and memory of
    /// the search.
    pub checksum: u64,
    /// Keys that moves made, duplicates included.
    pub generated: u64,
    /// Keys that were new: a few more than states up to symmetry.
    pub kept: u64,
    /// Bytes that its lists take in memory, or on disk; none where its states were counted only.
    pub bytes: u64,
    /// Wall time in seconds.
    pub seconds: f64,
}

/// What a search has found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrontierOutcome {
    /// The levels from depth 0 on.
    pub levels: Vec<FrontierLevel>,
    /// Whether the search ran until no new state was found.
    pub complete: bool,
    /// States of the last level: all, or so many as were asked for, in the order of their arrangements.
    pub last: Vec<Arrangement>,
    /// How many symmetries of the puzzle were used, 1 for none.
    pub symmetries: usize,
    /// Most bytes of memory that lists have taken at any time.
    pub peak_bytes: u64,
    /// Most bytes of files at any time, for a search on disk.
    pub disk_peak_bytes: Option<u64>,
    /// Kernel that ran.
    pub kernel: Kernel,
    /// Worker threads.
    pub threads: usize,
    /// Wall time of the whole search in seconds.
    pub seconds: f64,
}

impl FrontierLevel {
    pub(crate) fn new(total: LevelTotal, reduced: bool, bytes: u64, seconds: f64) -> FrontierLevel {
        FrontierLevel {
            states: total.tally.states,
            reduced: reduced.then_some(total.lists.reduced),
            checksum: total.tally.checksum,
            generated: total.lists.generated,
            kept: total.lists.kept,
            bytes,
            seconds,
        }
    }
}

impl FrontierOutcome {
    /// Returns the number of states of each depth.
    pub fn counts(&self) -> Vec<u64> {
        self.levels.iter().map(|level| level.states).collect()
    }
}

/// Why a search by lists ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrontierError {
    /// The lists of a level do not fit.
    #[error(
        "{puzzle}: the states at depth {depth} do not fit in {} of memory: stop at depth {depth}, whose states are \
         counted only (--max-depth {depth}), count one more (--count-ahead), allow more memory (--memory), or search on disk \
         (--dir)",
        bytes(*budget)
    )]
    Memory {
        /// The puzzle.
        puzzle: String,
        /// The depth.
        depth: usize,
        /// The limit.
        budget: u64,
    },
    /// A state does not fit the longest key.
    #[error(
        "{puzzle}: a state takes {words} words of 64 bits, at most {} are supported",
        BucketSpace::MAX_WORDS
    )]
    State {
        /// The puzzle.
        puzzle: String,
        /// Words needed.
        words: usize,
    },
    /// A move that depends on one of several equal pieces, or on another piece than the others do.
    #[error(
        "{puzzle}: move '{name}' depends on a piece that looks like another one: this is not supported"
    )]
    Requires {
        /// The puzzle.
        puzzle: String,
        /// The move.
        name: String,
    },
    /// What the machine refuses.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The observer asked to stop.
    #[error(
        "interrupted: a search in memory starts over, --max-depth ends one early with a result, --dir keeps one on disk"
    )]
    Interrupted,
}
