//! What is fixed while a session computes levels, as all its threads see it.
//!
//! Invariant: nothing here changes but times and workers, which threads share, and what is shown.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::kernel::Kernel;
use crate::perm::Register;
use crate::progress::{Phase, Progress};
use crate::search::disk::{BlockSources, Disk, MemoryPlan, RunFiles};
use crate::search::{BlockLoop, Crossings, Search};
use crate::store::{Codec, Decoder, Encoder, MemoryError};

/// A session of a run.
pub(crate) struct DiskRun<'a> {
    pub search: &'a Search,
    pub disk: &'a Disk,
    pub files: RunFiles<'a>,
    pub plan: MemoryPlan,
    pub crossings: Crossings,
    pub workers: Workers,
    pub progress: RankProgress<'a>,
}

impl DiskRun<'_> {
    /// Whether a depth is beyond the last one asked for.
    pub fn is_last(&self, depth: usize) -> bool {
        self.search.max_depth.is_some_and(|max| depth > max)
    }
}

/// What one worker has to itself: its codecs, and memory that a chunk leaves to the next.
pub(crate) struct Worker {
    pub decoder: Decoder,
    pub encoder: Encoder,
    /// The blocks of each group.
    pub loops: Vec<BlockLoop>,
    pub located: BlockSources,
    /// One block per plane into a group, spread to bytes.
    pub halo: Vec<Register>,
    pub words: Vec<u64>,
    pub frame: Vec<Register>,
    /// For each block of the frame which groups of its registers are left from the frame before.
    pub stale: Vec<u64>,
    pub occupied: Vec<bool>,
    /// The states seen, where they are kept.
    pub seen: Vec<Register>,
}

/// A worker for every thread, made before the first begins: tables of codecs take megabytes.
///
/// Invariant: a thread has at most one at a time, and what one holds from before is never read.
pub(crate) struct Workers(Mutex<Vec<Worker>>);

impl Workers {
    /// Returns the workers of a number of threads, which encode with `codec`; `level` is zstd's.
    pub fn new(
        codec: Codec,
        level: i32,
        kernel: Kernel,
        threads: usize,
    ) -> Result<Workers, MemoryError> {
        let worker = |_| {
            Ok(Worker {
                decoder: Decoder::new(kernel)?,
                encoder: Encoder::new(codec, level, kernel)?,
                loops: Vec::new(),
                located: BlockSources::default(),
                halo: Vec::new(),
                words: Vec::new(),
                frame: Vec::new(),
                stale: Vec::new(),
                occupied: Vec::new(),
                seen: Vec::new(),
            })
        };
        let workers: Result<Vec<_>, MemoryError> = (0..threads).map(worker).collect();
        Ok(Workers(Mutex::new(workers?)))
    }

    /// Lends one to a thread.
    pub fn with<T>(&self, work: impl FnOnce(&mut Worker) -> T) -> T {
        let idle = || self.0.lock();
        let worker = idle().pop();
        let mut worker = worker.expect("there is a worker for every thread");
        let result = work(&mut worker);
        idle().push(worker);
        result
    }
}

/// Shows the share of this rank's chunks, not of one superstep's. A process alone may be stopped after every
/// chunk, ranks only together.
pub(crate) struct RankProgress<'a> {
    inner: &'a dyn Progress,
    alone: bool,
    before: AtomicU64,
    total: AtomicU64,
}

impl<'a> RankProgress<'a> {
    pub fn new(inner: &'a dyn Progress, alone: bool) -> RankProgress<'a> {
        let (before, total) = (AtomicU64::new(0), AtomicU64::new(0));
        RankProgress { inner, alone, before, total }
    }

    /// Begins a superstep, with frames done before it and of the whole level.
    pub fn superstep(&self, before: usize, total: usize) {
        self.before.store(before as u64, Ordering::Relaxed);
        self.total.store(total as u64, Ordering::Relaxed);
    }

    /// Shows what the frames of a superstep have come to.
    pub fn frames(&self, depth: usize, done: u64) {
        let before = self.before.load(Ordering::Relaxed);
        let total = self.total.load(Ordering::Relaxed);
        self.inner.progress(Phase::Search(depth), before + done, total);
    }

    /// Shows how many chunks of earlier sessions have given their bits again.
    pub fn resumed(&self, done: usize, total: usize) {
        self.inner.progress(Phase::Resume, done as u64, total as u64);
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
