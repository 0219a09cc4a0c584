//! How far work on a database is.

use std::sync::atomic::{AtomicU64, Ordering};

use super::PdbError;
use crate::progress::{Phase, Progress};

/// Units of work, counted by all threads.
pub(super) struct Meter<'a> {
    observer: &'a dyn Progress,
    phase: Phase,
    done: AtomicU64,
    total: u64,
}

impl Meter<'_> {
    /// Returns the meter of some units, of which the first are done.
    pub fn new(observer: &dyn Progress, phase: Phase, done: u64, total: u64) -> Meter<'_> {
        Meter {
            observer,
            phase,
            done: AtomicU64::new(done),
            total,
        }
    }

    /// Counts units that are done.
    ///
    /// # Errors
    /// [`PdbError::Interrupted`] when the observer says to stop.
    pub fn add(&self, units: u64) -> Result<(), PdbError> {
        let done = self.done.fetch_add(units, Ordering::Relaxed) + units;
        self.observer.progress(self.phase, done, self.total);
        match self.observer.interrupted() {
            true => Err(PdbError::Interrupted),
            false => Ok(()),
        }
    }
}
