//! How the making of a database tells what it is doing, and is told to stop.

/// A finished level of a build.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PdbLevel {
    /// The value: moves of pattern tiles.
    pub value: usize,
    /// Entries that have this value.
    pub entries: u64,
    /// Wall time spent on the level.
    pub seconds: f64,
}

/// What a long work on a database is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Tables of sets and moves are made.
    Setup,
    /// The levels are searched; progress counts entries.
    Search,
    /// Entries are brought into the order of the file.
    Order,
    /// The file is written or read; progress counts bytes.
    File,
    /// Entries are checked.
    Check,
}

/// Receives the events of a build. All methods have empty defaults; [`PdbObserver::progress`] and
/// [`PdbObserver::interrupted`] may be called from any worker.
pub trait PdbObserver: Sync {
    /// Work has come to `done` of `total` units of a phase.
    fn progress(&self, _phase: Phase, _done: u64, _total: u64) {}

    /// A level is finished. Empty levels are not reported.
    fn level(&self, _level: &PdbLevel) {}

    /// Returns whether to stop; asked many times a second.
    fn interrupted(&self) -> bool {
        false
    }
}

/// The observer that looks away.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl PdbObserver for Unobserved {}
