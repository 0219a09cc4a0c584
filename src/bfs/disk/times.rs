//! Where the time goes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Nanoseconds of all threads together.
#[derive(Debug, Default)]
pub(super) struct Times {
    pub decode: Clock,
    pub kernel: Clock,
    pub encode: Clock,
    pub wait: Clock,
}

/// A sum of times that many threads add to.
#[derive(Debug, Default)]
pub(super) struct Clock(AtomicU64);

impl Clock {
    /// Adds the time since an instant.
    pub fn add(&self, since: Instant) {
        let nanoseconds = since.elapsed().as_nanos() as u64;
        self.0.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Returns the seconds so far.
    pub fn seconds(&self) -> f64 {
        self.0.load(Ordering::Relaxed) as f64 / 1e9
    }
}
