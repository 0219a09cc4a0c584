//! Work that the threads of a pool take one piece at a time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Pieces of work, until there are no more or somebody wants to stop.
pub(super) struct Tasks<'a, T> {
    left: Mutex<std::vec::IntoIter<T>>,
    interrupted: &'a (dyn Fn() -> bool + Sync),
    stopped: AtomicBool,
}

impl<'a, T> Tasks<'a, T> {
    /// Returns the pieces, to be taken in order.
    pub fn new(work: Vec<T>, interrupted: &'a (dyn Fn() -> bool + Sync)) -> Tasks<'a, T> {
        Tasks {
            left: Mutex::new(work.into_iter()),
            interrupted,
            stopped: AtomicBool::new(false),
        }
    }

    /// Takes the next piece.
    pub fn next(&self) -> Option<T> {
        let task = self.left.lock().unwrap_or_else(|e| e.into_inner()).next()?;
        if self.stopped() || (self.interrupted)() {
            self.stopped.store(true, Ordering::Relaxed);
            return None;
        }
        Some(task)
    }

    /// Returns whether pieces were left because somebody wanted to stop.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}
