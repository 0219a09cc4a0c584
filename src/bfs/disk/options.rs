//! What a search on disk may use, and how.

use std::time::Duration;

use super::directories::Directories;
use crate::bfs::outcome::PlaneStore;
use crate::perm::kernel::Kernel;
use crate::store::{Codec, DEFAULT_LEVEL};

/// How a search uses its disk.
#[derive(Clone)]
pub struct Disk {
    /// Where the files lie.
    pub directories: Directories,
    /// Number of digits that all lines of a chunk share, K; `None` for the fewest that fit the memory. A
    /// run that is continued keeps its own.
    pub shared_digits: Option<usize>,
    /// Where the planes lie; `None` for memory if they fit.
    pub planes: Option<PlaneStore>,
    /// How new files are coded; `None` for the fastest of this processor. A run may have files of both kinds.
    pub codec: Option<Codec>,
    /// zstd level of new files.
    pub zstd_level: i32,
    /// Least time between two commits; zero for one after every chunk.
    pub commit_every: Duration,
    /// Whether the files of all levels are kept, not only of the last two.
    pub keep_all: bool,
    /// Most bytes of level files and scratch, `None` for what is free.
    pub limit: Option<u64>,
    /// Whether a search may start that by the estimate needs more disk than there is.
    pub ignore_space: bool,
    /// Whether a search that is continued first reads and checks all its files, and computes damaged levels
    /// again where the levels before are kept.
    pub check: bool,
    /// Time to wait for another search in the directories to end.
    pub patience: Duration,
}

impl Disk {
    /// Returns the defaults: as few chunks as fit the memory, a commit every 10 seconds, the last two
    /// levels kept.
    pub fn new(directories: Directories) -> Disk {
        Disk {
            directories,
            shared_digits: None,
            planes: None,
            codec: None,
            zstd_level: DEFAULT_LEVEL,
            commit_every: Duration::from_secs(10),
            keep_all: false,
            limit: None,
            ignore_space: false,
            check: false,
            patience: Duration::from_secs(10),
        }
    }

    /// Returns how new files are coded when a kernel computes them.
    pub(super) fn codec(&self, kernel: Kernel) -> Codec {
        self.codec.unwrap_or(Codec::best(kernel))
    }
}
