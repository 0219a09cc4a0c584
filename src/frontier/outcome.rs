//! The result of a list search, or the reason why it ended early.

use crate::{
    frontier::{bucket_space::BucketSpace, level::LevelTotal},
    kernel::Kernel,
    puzzle::orbits::Arrangement,
    system::SystemError,
    units::bytes,
};

/// The level that a search has found at one depth.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrontierLevel {
    /// Number of states.
    pub states: u64,
    /// Number of states up to symmetry; `None` if the search did not use all symmetries.
    pub reduced: Option<u64>,
    /// Checksum: equal sets of states have equal checksums, whatever symmetries, kernel, threads and memory the search
    /// used.
    pub checksum: u64,
    /// Number of keys that moves produced, including duplicates.
    pub generated: u64,
    /// Number of new keys: slightly more than the number of states up to symmetry.
    pub kept: u64,
    /// Size of the level's lists in memory or on disk, in bytes; 0 if its states were only counted.
    pub bytes: u64,
    /// Wall-clock time in seconds.
    pub seconds: f64,
}

/// The result of a list search.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrontierOutcome {
    /// The levels from depth 0 on.
    pub levels: Vec<FrontierLevel>,
    /// Whether the search ran until no new state was found.
    pub complete: bool,
    /// States of the last level, at most the number requested, in the order of their arrangements.
    pub last: Vec<Arrangement>,
    /// Number of symmetries of the puzzle that were used, 1 for none.
    pub symmetries: usize,
    /// Peak memory of the lists, in bytes.
    pub peak_bytes: u64,
    /// Peak size of the files of a search on disk, in bytes.
    pub disk_peak_bytes: Option<u64>,
    /// Kernel that ran.
    pub kernel: Kernel,
    /// Number of worker threads.
    pub threads: usize,
    /// Wall-clock time of the complete search in seconds.
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
    /// Returns the number of states at each depth.
    pub fn counts(&self) -> Vec<u64> {
        self.levels.iter().map(|level| level.states).collect()
    }
}

/// The reason why a list search ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrontierError {
    /// The lists of a level do not fit in the memory limit.
    #[error(
        "{puzzle}: the states at depth {depth} do not fit in {} of memory: stop at that depth, \
         whose states are then only counted (--max-depth {depth}), count one more depth \
         (--count-ahead), allow more memory (--memory), or keep the states on disk (--dir)",
        bytes(*budget)
    )]
    Memory {
        /// The puzzle.
        puzzle: String,
        /// The depth.
        depth: usize,
        /// The memory limit.
        budget: u64,
    },
    /// A state does not fit in the longest supported key.
    #[error(
        "{puzzle}: a state takes {words} 64-bit words, but at most {} are supported: choose a \
         smaller puzzle",
        BucketSpace::MAX_WORDS
    )]
    State {
        /// The puzzle.
        puzzle: String,
        /// The number of words needed.
        words: usize,
    },
    /// A move depends on one of several equal pieces, or on a different piece from the other moves.
    #[error(
        "{puzzle}: move '{name}' depends on a piece that is not unique, or on a different piece \
         from other moves, which is not supported"
    )]
    Requires {
        /// The puzzle.
        puzzle: String,
        /// The move.
        name: String,
    },
    /// Memory, threads, processor instructions or a file are not available.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The observer asked to stop.
    #[error(
        "interrupted: a search in memory cannot be resumed; to end one early with a result, use \
         --max-depth; to be able to resume it, use --dir"
    )]
    Interrupted,
}
