//! How long ranks compute before they meet, and what they show meanwhile.
//!
//! Invariant: all ranks have supersteps of the same size, because it follows from the longest time of any
//! rank.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::bfs::chunks::Chunks;
use crate::progress::{Phase, Progress};

/// Most bytes that leave a rank in a superstep, if a chunk has not more.
pub(super) const SENT: u64 = 256 << 20;
/// A superstep that takes longer is followed by a smaller one: only between two can a search of several ranks
/// be stopped and committed.
const LONG: Duration = Duration::from_secs(20);
/// One that takes less is followed by a larger one.
const SHORT: Duration = Duration::from_secs(5);

/// How many chunks each rank computes in a superstep.
#[derive(Clone, Copy)]
pub(super) struct Superstep {
    pub chunks: usize,
    least: usize,
    most: usize,
}

impl Superstep {
    /// Returns whole levels: a process alone meets nobody.
    pub fn whole(chunks: Chunks) -> Superstep {
        let chunks = chunks.count;
        let (least, most) = (chunks, chunks);
        Superstep {
            chunks,
            least,
            most,
        }
    }

    /// Returns the size to begin with: as many chunks as a superstep may send bits of.
    pub fn bounded(chunks: Chunks, planes: usize) -> Superstep {
        let chunk = (planes * chunks.registers() * 8) as u64;
        let most = (SENT / chunk.max(1)).clamp(1, chunks.count as u64) as usize;
        Superstep {
            chunks: most,
            least: 1,
            most,
        }
    }

    /// Learns from the time of a superstep, which all ranks know alike.
    pub fn adapt(&mut self, time: Duration) {
        if time > LONG {
            self.chunks = (self.chunks / 2).max(self.least);
        } else if time < SHORT {
            self.chunks = (self.chunks * 2).min(self.most);
        }
    }
}

/// Shows the share of this rank's chunks, not of one superstep's. A process alone may be stopped after every
/// chunk, ranks only together.
pub(super) struct RankProgress<'a> {
    inner: &'a dyn Progress,
    alone: bool,
    before: AtomicU64,
    total: AtomicU64,
}

impl<'a> RankProgress<'a> {
    pub fn new(inner: &'a dyn Progress, alone: bool) -> RankProgress<'a> {
        let (before, total) = (AtomicU64::new(0), AtomicU64::new(0));
        RankProgress {
            inner,
            alone,
            before,
            total,
        }
    }

    /// Begins a superstep, with frames done before it and of the whole level.
    pub fn superstep(&self, before: usize, total: usize) {
        self.before.store(before as u64, Ordering::Relaxed);
        self.total.store(total as u64, Ordering::Relaxed);
    }

    /// What the frames of a superstep are shown to have come to.
    pub fn frames(&self, depth: usize, done: u64) {
        let before = self.before.load(Ordering::Relaxed);
        let total = self.total.load(Ordering::Relaxed);
        let phase = Phase::Search(depth);
        self.inner.progress(phase, before + done, total);
    }

    /// What of the chunks of earlier sessions is in memory again.
    pub fn resumed(&self, done: usize, total: usize) {
        let (done, total) = (done as u64, total as u64);
        self.inner.progress(Phase::Resume, done, total);
    }

    /// Whether to stop after a chunk.
    pub fn stops_chunks(&self) -> bool {
        self.alone && self.inner.interrupted()
    }

    /// Whether to stop after a superstep.
    pub fn stops_superstep(&self) -> bool {
        !self.alone && self.inner.interrupted()
    }
}
