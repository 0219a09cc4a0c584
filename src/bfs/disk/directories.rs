//! The directories of a run: which chunk lies where, the locks, and how much of the disks is used.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use super::error::DiskError;
use crate::store::{Lock, MANIFEST, Manifest, Shares, Storage, lock_within};

/// The directories of a run. The manifest lies in the first; the chunks are dealt out by its shares.
#[derive(Clone)]
pub struct Directories {
    storages: Arc<[Box<dyn Storage>]>,
    shares: Arc<RwLock<Shares>>,
    used: Arc<Used>,
}

/// Bytes of this session's files.
#[derive(Default)]
pub(super) struct Used {
    pub levels: AtomicU64,
    pub scratch: AtomicU64,
}

impl Used {
    /// Returns all bytes.
    pub fn bytes(&self) -> u64 {
        self.levels.load(Ordering::Relaxed) + self.scratch.load(Ordering::Relaxed)
    }
}

impl Directories {
    /// Returns the directories of a run, in the order in which chunks are dealt out.
    ///
    /// # Panics
    /// When there is none.
    pub fn new(storages: Vec<Box<dyn Storage>>) -> Directories {
        assert!(!storages.is_empty(), "a run has a directory");
        let shares = Shares::new(&[], storages.len());
        Directories {
            storages: storages.into(),
            shares: Arc::new(shares.into()),
            used: Arc::default(),
        }
    }

    /// Returns the number of directories.
    pub(super) fn count(&self) -> usize {
        self.storages.len()
    }

    /// The directory of the manifest.
    pub(super) fn first(&self) -> &dyn Storage {
        &*self.storages[0]
    }

    pub(super) fn of_chunk(&self, chunk: usize) -> &dyn Storage {
        &*self.storages[self.place(chunk)]
    }

    /// Returns the place of the directory of a chunk, from 0.
    pub(super) fn place(&self, chunk: usize) -> usize {
        let shares = self.shares.read();
        shares.unwrap_or_else(PoisonError::into_inner).place(chunk)
    }

    /// How chunks are dealt out.
    pub(super) fn shares(&self) -> Shares {
        let shares = self.shares.read();
        shares.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Deals chunks out by the shares of a run, equally when these are not those of as many directories.
    pub(super) fn deal(&self, shares: &[u32]) {
        let mut dealt = self.shares.write().unwrap_or_else(PoisonError::into_inner);
        *dealt = Shares::new(shares, self.count());
    }

    /// Returns the shares that a new run takes, by the room on the disks.
    pub(super) fn shares_by_room(&self) -> Vec<u32> {
        let rooms: Vec<_> = self.all().map(|s| (s.free(), s.device())).collect();
        Shares::by_room(&rooms)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &dyn Storage> {
        self.storages.iter().map(|storage| &**storage)
    }

    pub(super) fn used(&self) -> &Used {
        &self.used
    }

    /// Locks all directories, each after waiting at most `patience`.
    pub(super) fn lock(&self, patience: Duration) -> Result<Vec<Lock>, DiskError> {
        let lock = |storage: &dyn Storage| {
            let lock = lock_within(storage, patience);
            lock.map_err(|e| DiskError::io(storage, "lock", e))?
                .ok_or_else(|| DiskError::Locked {
                    directory: storage.name(),
                })
        };
        self.all().map(lock).collect()
    }

    /// Returns whether a search is running in these directories.
    pub fn is_locked(&self) -> bool {
        self.all().any(Storage::is_locked)
    }

    /// Reads the manifest, if there is one, and deals chunks out as it says.
    ///
    /// # Errors
    /// [`DiskError`] when it cannot be read or is damaged.
    pub fn manifest(&self) -> Result<Option<Manifest>, DiskError> {
        let manifest = Manifest::read(self.first());
        let manifest = manifest.map_err(|e| DiskError::io(self.first(), MANIFEST, e))?;
        self.deal(manifest.as_ref().map_or(&[], |manifest| &manifest.shares));
        Ok(manifest)
    }
}
