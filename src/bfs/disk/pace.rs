//! How long ranks compute before they meet, and what they show meanwhile.
//!
//! Invariant: all ranks have the same pace, because it follows from the longest time of any rank.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::Run;
use super::muster::ROUND;
use crate::bfs::Observer;

/// A round that takes longer is followed by a smaller one: only between rounds can a search be stopped
/// and committed.
const LONG: Duration = Duration::from_secs(20);
/// One that takes less is followed by a larger one.
const SHORT: Duration = Duration::from_secs(5);

/// How many chunks each rank computes between two meetings.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub chunks: usize,
    most: usize,
}

impl Pace {
    /// Returns the pace to begin with: as many chunks as a round may send bits of.
    pub fn new(run: &Run) -> Pace {
        let chunk = (run.crossings.planes.len() * run.fit.chunks.registers() * 8) as u64;
        let most = (ROUND / chunk.max(1)).clamp(1, run.fit.chunks() as u64) as usize;
        Pace { chunks: most, most }
    }

    /// Learns from the time of a round, which all ranks know alike.
    pub fn adapt(&mut self, round: Duration) {
        if round > LONG {
            self.chunks = (self.chunks / 2).max(1);
        } else if round < SHORT {
            self.chunks = (self.chunks * 2).min(self.most);
        }
    }
}

/// Shows the share of this rank's chunks, not of one round's; whether to stop is asked between rounds.
pub(super) struct Shown<'a> {
    observer: &'a dyn Observer,
    before: AtomicU64,
    total: AtomicU64,
}

impl<'a> Shown<'a> {
    pub fn new(observer: &'a dyn Observer) -> Shown<'a> {
        let (before, total) = (AtomicU64::new(0), AtomicU64::new(0));
        Shown {
            observer,
            before,
            total,
        }
    }

    /// Begins a round, with frames done before it and of the whole level.
    pub fn round(&self, before: usize, total: usize) {
        self.before.store(before as u64, Ordering::Relaxed);
        self.total.store(total as u64, Ordering::Relaxed);
    }
}

impl Observer for Shown<'_> {
    fn progress(&self, depth: usize, done: u64, _: u64) {
        let before = self.before.load(Ordering::Relaxed);
        let total = self.total.load(Ordering::Relaxed);
        self.observer.progress(depth, before + done, total);
    }
}
