//! What a search found.

use super::engine::Engine;
use super::state::State;
use super::subject::Subject;
use crate::perm::kernel::Kernel;

/// The result of a search: one count and one checksum per depth, and how it was computed.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was searched.
    pub subject: Subject,
    /// States that there are to reach.
    pub states: u64,
    /// Engine that ran.
    pub engine: Engine,
    /// Kernel that ran (sweep engine only).
    pub kernel: Option<Kernel>,
    /// Worker threads.
    pub threads: usize,
    /// States per depth.
    pub counts: Vec<u64>,
    /// Checksum per depth; equal for equal sets of states, whatever engine computed them.
    pub checksums: Vec<u64>,
    /// Wall time per depth, in seconds.
    pub level_seconds: Vec<f64>,
    /// Whether the search ran until no new state was found.
    pub complete: bool,
    /// Wall time of the whole search, in seconds, allocation included.
    pub seconds: f64,
    /// Bytes of the state arrays.
    pub array_bytes: u64,
    /// States of the last depth, in increasing order, at most as many as [`super::Search::keep_last`].
    pub last: Vec<State>,
    /// What a search on disk has used of it.
    pub disk: Option<DiskUse>,
}

impl Outcome {
    /// Returns the number of states found.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the largest depth (God's number when start and goal are equal), or `None` when the
    /// search stopped early.
    pub fn diameter(&self) -> Option<usize> {
        self.complete.then(|| self.counts.len() - 1)
    }

    /// Returns the number of states at the largest depth, or `None` when the search stopped early.
    pub fn antipodes(&self) -> Option<u64> {
        self.counts.last().copied().filter(|_| self.complete)
    }

    /// Returns the mean depth of the states found.
    pub fn mean_depth(&self) -> f64 {
        let sum: u128 = self
            .counts
            .iter()
            .enumerate()
            .map(|(d, &c)| d as u128 * u128::from(c))
            .sum();
        sum as f64 / self.total() as f64
    }
}

/// Where the bits that cross between chunks lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaneStore {
    /// In memory, those of all chunks: 8 bytes per plane and register.
    Memory,
    /// In files, those of one chunk at a time in memory.
    Files,
}

impl PlaneStore {
    /// Returns the name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            PlaneStore::Memory => "memory",
            PlaneStore::Files => "files",
        }
    }
}

/// What a search on disk has used.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskUse {
    /// Number of chunks.
    pub chunks: usize,
    /// Where the planes lay.
    pub planes: PlaneStore,
    /// Bytes of level files written, over all sessions.
    pub bytes_written: u64,
    /// Most bytes of level files at any time.
    pub peak_bytes: u64,
    /// Bytes of each level's files.
    pub level_bytes: Vec<u64>,
    /// Thread-seconds of this session spent decoding.
    pub decode_seconds: f64,
    /// Thread-seconds of this session spent in the kernel, planes included.
    pub kernel_seconds: f64,
    /// Thread-seconds of this session spent encoding.
    pub encode_seconds: f64,
    /// Thread-seconds of this session that workers waited for a reader or the writer.
    pub wait_seconds: f64,
    /// Processes of this session.
    pub ranks: usize,
    /// Bytes that ranks sent to each other in this session for the step to each depth.
    pub network_bytes: Vec<u64>,
}
