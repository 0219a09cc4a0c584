//! Observation of long operations: their progress, and a way to stop them.
//!
//! Invariant: the whole library uses a single trait, which is independent of the operation.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::system::SystemError;

/// The phase that an operation is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The tables that the operation needs are built.
    Setup,
    /// The data that an earlier session had in memory is read back from files; units are chunks.
    Resume,
    /// The states at a depth are searched. Units: parts of the level in a search; entries of all depths for a database;
    /// nodes of all depths for the solution of a board (without a total, 0).
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
    /// Depth, 0 for the start; for a database, the value of the entries.
    pub depth: usize,
    /// Number of states at this depth; for a database, the number of entries with this value.
    pub states: u64,
    /// Wall-clock time spent on the level, in seconds.
    pub seconds: f64,
}

/// An observer that receives the events of an operation. All methods have empty defaults. They are called from the
/// thread that runs the operation, except [`Progress::progress`] and [`Progress::interrupted`], which any worker may
/// call.
pub trait Progress: Sync {
    /// Called when a search starts, with the number of states that it will reach if it runs to the end.
    fn started(&self, _states: u64) {}

    /// Called when a list search starts, with the number of states of the puzzle, if that is known.
    fn at_most(&self, _states: u64) {}

    /// Called when a search continues after the levels of an earlier session, with their last depth and their number of
    /// states. These levels are not reported again.
    fn continued(&self, _depth: usize, _states: u64) {}

    /// Called when `done` of `total` units of a phase are done.
    fn progress(&self, _phase: Phase, _done: u64, _total: u64) {}

    /// Called when a level is finished. Empty levels are not reported.
    fn level(&self, _level: &LevelDone) {}

    /// Called when a damaged level is found and is recomputed, together with all levels after it.
    fn rebuilding(&self, _depth: usize, _reason: &str) {}

    /// Returns whether the operation should stop; called many times per second.
    fn interrupted(&self) -> bool {
        false
    }
}

/// An observer that ignores all events and never stops the operation.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {}

/// An observer that ignores all events and stops the operation when its function returns true.
#[derive(Clone, Copy, Debug)]
pub struct StopWhen<F>(pub F);

impl<F: Fn() -> bool + Sync> Progress for StopWhen<F> {
    fn interrupted(&self) -> bool {
        self.0()
    }
}

/// Asks an observer whether to go on.
///
/// # Errors
/// [`SystemError::Interrupted`] if not.
pub(crate) fn go_on(observer: &dyn Progress) -> Result<(), SystemError> {
    if observer.interrupted() { Err(SystemError::Interrupted) } else { Ok(()) }
}

/// Units of work of one phase, counted by all threads for an observer.
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

    /// Counts units that are done, and asks whether to go on ([`go_on`]).
    pub fn add(&self, units: u64) -> Result<(), SystemError> {
        self.count(units);
        self.go_on()
    }

    /// Counts units that are done, where what is finished is kept even after an interruption.
    pub fn count(&self, units: u64) {
        let done = self.done.fetch_add(units, Ordering::Relaxed) + units;
        self.observer.progress(self.phase, done, self.total);
    }

    /// Returns the number of units that are done.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    pub fn go_on(&self) -> Result<(), SystemError> {
        go_on(self.observer)
    }
}
