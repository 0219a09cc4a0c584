//! How a search on disk fits the memory: how many chunks, and where the planes lie.

use super::{Disk, DiskError};
use crate::Error;
use crate::bfs::chunks::Chunks;
use crate::bfs::classes::Classes;
use crate::bfs::crossing::Crossings;
use crate::bfs::{Engine, Search, SearchError, StateSpace};
use crate::perm::layout::{LANES, Layout};
use crate::store::Manifest;

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

/// The memory of a search on disk.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    pub(in crate::bfs) chunks: Chunks,
    /// Where the planes lie.
    pub planes: PlaneStore,
    /// Bytes of its arrays.
    pub bytes: u64,
    /// Bytes of the planes of a level in files, 0 when they lie in memory.
    pub(super) plane_files: u64,
    /// Batches of the next chunk that may be read ahead, about a megabyte each.
    pub(super) read_ahead: usize,
}

/// Most memory for reading ahead.
const READ_AHEAD: u64 = 2 << 30;
/// Memory that the workers and the writer take beside the arrays, as far as it exceeds a small budget:
/// frames being decoded, encoded and waiting to be written.
const BATCH: u64 = 1 << 20;

impl Fit {
    /// Returns the number of chunks.
    pub fn chunks(&self) -> usize {
        self.chunks.count
    }

    /// Returns the bytes of the planes of a dense level in files: a bit per line and crossing window; 0 when
    /// they lie in memory.
    pub fn plane_file_bytes(&self) -> u64 {
        self.plane_files
    }

    /// Returns the same with planes that take no disk: they are sent to other machines.
    pub fn with_planes_sent(self) -> Fit {
        Fit {
            plane_files: 0,
            ..self
        }
    }

    /// Returns the number of blocks of all chunks.
    pub fn blocks(&self) -> usize {
        self.chunks.layout.blocks()
    }

    /// Returns the number of digits that all lines of a chunk share, K.
    pub fn shared_digits(&self) -> usize {
        self.chunks.digits
    }

    /// Returns the fewest chunks that fit the memory, or those of a run that is there already.
    ///
    /// # Errors
    /// [`SearchError::Memory`] when even the most chunks do not fit.
    pub fn choose(search: &Search, disk: &Disk, manifest: Option<&Manifest>) -> Result<Fit, Error> {
        let size = search.goal.size();
        let layout = Layout::new(size.tiles()).ok_or(SearchError::TooSmall { size })?;
        let puzzle = StateSpace::new(search.goal.clone())?
            .frame()
            .path()
            .puzzle();
        let classes = Classes::new(&puzzle).ok_or(SearchError::TooLarge { size })?;
        let asked = manifest
            .map(|m| m.shared_digits as usize)
            .or(disk.shared_digits);
        let mut least = u64::MAX;
        let digits = asked.map_or(0..=layout.prefix(), |k| k..=k);
        for chunks in digits.filter_map(|k| Chunks::new(layout, k)) {
            let planes = Crossings::count(&puzzle, &classes, chunks) as u64;
            for store in [PlaneStore::Memory, PlaneStore::Files] {
                if disk.planes.is_some_and(|asked| asked != store) {
                    continue;
                }
                let chunk = chunks.registers() as u64;
                let bytes = chunk * 64
                    + match store {
                        PlaneStore::Memory => planes * layout.registers() * 8,
                        // Incoming and outgoing words, and the segments on their way.
                        PlaneStore::Files => planes * chunk * 32,
                    };
                least = least.min(bytes);
                let budget = search.memory.unwrap_or(u64::MAX);
                if bytes <= budget {
                    let ahead = ((budget - bytes) / 2).min(READ_AHEAD) / BATCH;
                    return Ok(Fit {
                        chunks,
                        planes: store,
                        bytes,
                        plane_files: match store {
                            PlaneStore::Memory => 0,
                            PlaneStore::Files => planes * layout.registers() * LANES as u64 / 8,
                        },
                        read_ahead: ahead.max(4) as usize,
                    });
                }
            }
        }
        let (engine, needed, budget) = (Engine::Disk, least, search.memory.unwrap_or(0));
        Err(SearchError::Memory {
            size,
            engine,
            needed,
            budget,
        }
        .into())
    }
}

/// The disk that a search may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes that its files may come to by the limit asked for.
    limit: u64,
    /// Bytes that are free, and those that its files take already.
    free: u64,
}

impl Room {
    /// Returns the room in the directories of a search.
    ///
    /// # Errors
    /// [`DiskError`] when a run is there whose manifest cannot be read.
    pub fn of(disk: &Disk) -> Result<Room, DiskError> {
        let taken = disk.directories.manifest()?.map_or(0, |m| m.disk_bytes());
        // Directories on one disk share what is free; adding it up would count it twice.
        let free = disk
            .directories
            .all()
            .filter_map(|storage| storage.free())
            .max();
        Ok(Room {
            limit: disk.limit.unwrap_or(u64::MAX),
            free: free.map_or(u64::MAX, |free| free.saturating_add(taken)),
        })
    }

    /// Refuses what does not fit.
    ///
    /// # Errors
    /// [`DiskError::Disk`] with the numbers.
    pub fn check(self, needed: u64) -> Result<(), DiskError> {
        let (limit, advice) = if self.limit <= self.free {
            (self.limit, "raise --disk-limit if the disk has more")
        } else {
            (
                self.free,
                "choose a --dir with more room, or spread the chunks with several",
            )
        };
        if needed <= limit {
            return Ok(());
        }
        Err(DiskError::Disk {
            needed,
            limit,
            advice,
        })
    }
}
