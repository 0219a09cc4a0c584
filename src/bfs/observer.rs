//! How a search tells what it is doing, and is told to stop.

use crate::perm::layout::Register;

/// A finished level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Depth, 0 for the start.
    pub depth: usize,
    /// Number of states at this depth.
    pub states: u64,
    /// Checksum of the set of states (see `docs/design.md`).
    pub checksum: u64,
    /// Wall time spent on the level.
    pub seconds: f64,
}

/// Receives the events of a search. All methods have empty defaults; they are called from the thread
/// that runs the search, except [`Observer::progress`] and [`Observer::interrupted`], which any worker
/// may call.
pub trait Observer: Sync {
    /// The search starts: how many states it will reach if it runs to the end.
    fn started(&self, _states: u64) {}

    /// The search goes on with levels that an earlier session has found: up to which depth, and their
    /// states. They are not reported again.
    fn continued(&self, _depth: usize, _states: u64) {}

    /// Work on a level has come to `done` of `total` units.
    fn progress(&self, _depth: usize, _done: u64, _total: u64) {}

    /// A level is finished. Empty levels are not reported.
    fn level(&self, _level: &Level) {}

    /// The states of a level, or of a part of it, one call at a time: registers in the layout of
    /// [`crate::perm::layout`] from a line on, a bit of a byte for each of `cells` (path indices). Only the
    /// sweep engine shows them.
    fn registers(
        &self,
        _depth: usize,
        _first_line: u64,
        _registers: &[Register],
        _cells: &[usize],
    ) {
    }

    /// A damaged level was found and is computed again, with all that come after it.
    fn rebuilding(&self, _depth: usize, _reason: &str) {}

    /// Returns whether the search should stop; asked many times a second.
    fn interrupted(&self) -> bool {
        false
    }
}

/// The observer that looks away.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
