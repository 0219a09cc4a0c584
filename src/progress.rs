//! How long work tells what it is doing, and is told to stop.
//!
//! Invariant: one trait for all of the library; it knows nothing of the work.

/// What a work is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Tables are made that the work needs.
    Setup,
    /// What an earlier session had in memory is read again from its files; units are chunks.
    Resume,
    /// The states of a depth are searched. Units: parts of the level for a search of a board, entries of all
    /// depths for a database, nodes of all depths (and no total, 0) for the solution of a board.
    Search(usize),
    /// Entries are brought into the order of the file.
    Order,
    /// The file is written or read; units are bytes.
    File,
    /// Files are checked; units are bytes or entries.
    Check,
}

/// A finished level of a search or of a database.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LevelDone {
    /// Depth, 0 for the start; the value of entries.
    pub depth: usize,
    /// Number of states at this depth; of entries with this value.
    pub states: u64,
    /// Wall time spent on the level.
    pub seconds: f64,
}

/// Receives the events of a work. All methods have empty defaults; they are called from the thread that
/// runs the work, except [`Progress::progress`] and [`Progress::interrupted`], which any worker may call.
pub trait Progress: Sync {
    /// A search starts: how many states it will reach if it runs to the end.
    fn started(&self, _states: u64) {}

    /// A search goes on with levels that an earlier session has found: up to which depth, and their
    /// states. They are not reported again.
    fn continued(&self, _depth: usize, _states: u64) {}

    /// Work has come to `done` of `total` units of a phase.
    fn progress(&self, _phase: Phase, _done: u64, _total: u64) {}

    /// A level is finished. Empty levels are not reported.
    fn level(&self, _level: &LevelDone) {}

    /// A damaged level was found and is computed again, with all that come after it.
    fn rebuilding(&self, _depth: usize, _reason: &str) {}

    /// Returns whether to stop; asked many times a second.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Looks away, and never stops anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {}

/// Looks away, and stops when the function returns true.
#[derive(Clone, Copy, Debug)]
pub struct StopWhen<F>(pub F);

impl<F: Fn() -> bool + Sync> Progress for StopWhen<F> {
    fn interrupted(&self) -> bool {
        self.0()
    }
}
