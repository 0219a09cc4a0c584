//! Errors in patterns, builds and database files. Each message is one line and says what to do.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{
    progress::{Phase, Progress},
    puzzle::{PuzzleError, Size},
    system::SystemError,
    units::{bytes, thousands},
};

/// A pattern, a build or a database file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PdbError {
    /// The board or goal is invalid.
    #[error(transparent)]
    Puzzle(#[from] PuzzleError),
    /// Memory, threads, processor instructions or a file are not available.
    #[error(transparent)]
    System(SystemError),
    /// The tiles do not form a pattern of the board, or the patterns do not form a partition of it.
    #[error("{0}")]
    Pattern(String),
    /// The operation does not support databases with this pattern, kind, encoding or goal.
    #[error("{0}")]
    Unsuitable(String),
    /// The table and its build exceed the memory limit.
    #[error(
        "a database for {tiles} tiles on {size} has {} entries and needs {} of memory to build, \
         but the limit is {}: choose fewer tiles, {}raise the limit with --memory if the machine \
         has more",
        thousands(*entries), bytes(*needed), bytes(*budget), less.map(less_memory).unwrap_or("or ".into())
    )]
    Budget {
        /// Number of tiles of the pattern.
        tiles: usize,
        /// Size of the board.
        size: Size,
        /// Number of entries of the table.
        entries: u64,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        budget: u64,
        /// Bytes needed with the levels on disk, if that is less.
        less: Option<u64>,
    },
    /// The observer asked to stop. The levels found so far stay in the directory of the build, if it has one.
    #[error("interrupted: {}", kept(.0.as_deref()))]
    Interrupted(Option<String>),
    /// The file contains a wrong entry or a wrong description of its entries.
    #[error("{0}")]
    Wrong(String),
    /// A directory or file cannot be used for the operation.
    #[error("{0}")]
    Place(String),
}

fn less_memory(needed: u64) -> String {
    format!("use --dir, which needs only {} of memory, or ", bytes(needed))
}

fn kept(directory: Option<&str>) -> String {
    match directory {
        None => "nothing was written".into(),
        Some(name) => {
            format!("the completed levels are in '{name}'; run the same command again to continue")
        }
    }
}

impl From<SystemError> for PdbError {
    fn from(error: SystemError) -> PdbError {
        match error {
            SystemError::Interrupted => PdbError::Interrupted(None),
            error => PdbError::System(error),
        }
    }
}

impl PdbError {
    /// One of several databases counts every move.
    pub(crate) fn not_additive() -> PdbError {
        PdbError::Unsuitable(
            "values of an all-moves database, which counts every move, cannot be added to others: \
             use that database alone, or make it a partition of its own in a set file"
                .into(),
        )
    }

    /// The encoding cannot hold values of the kind.
    pub(crate) fn encoding() -> PdbError {
        PdbError::Unsuitable(
            "only region-aware values can be stored with one bit per entry: choose another kind or \
             encoding"
                .into(),
        )
    }

    /// A value that does not fit in a byte.
    pub(crate) fn value(most: usize) -> PdbError {
        let words = format!(
            "a value exceeds {most}, the maximum that a database can store: choose fewer tiles"
        );
        PdbError::Unsuitable(words)
    }

    /// A pattern that is too short for its space to be searched.
    pub(crate) fn short_space() -> PdbError {
        let words = "only patterns of at least five tiles can be searched: specify more tiles";
        PdbError::Unsuitable(words.into())
    }
}

// The progress of work on a database.

/// Units of work, counted by all threads.
pub(crate) struct Meter<'a> {
    observer: &'a dyn Progress,
    phase: Phase,
    done: AtomicU64,
    total: u64,
}

impl Meter<'_> {
    /// Returns the meter of a number of units, some of which are already done.
    pub fn new(observer: &dyn Progress, phase: Phase, done: u64, total: u64) -> Meter<'_> {
        Meter { observer, phase, done: AtomicU64::new(done), total }
    }

    /// Counts units that are done.
    ///
    /// # Errors
    /// [`PdbError::Interrupted`] if the observer asks to stop.
    pub fn add(&self, units: u64) -> Result<(), PdbError> {
        let done = self.done.fetch_add(units, Ordering::Relaxed) + units;
        self.observer.progress(self.phase, done, self.total);
        match self.observer.interrupted() {
            true => Err(PdbError::Interrupted(None)),
            false => Ok(()),
        }
    }
}
