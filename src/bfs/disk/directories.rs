//! The directories of a run: which chunk lies where, and the locks.

use std::io;
use std::sync::Arc;

use super::DiskError;
use crate::store::{Manifest, Storage};

/// The directories of a run. The manifest lies in the first; chunk c in directory c modulo their number.
#[derive(Clone)]
pub struct Directories {
    storages: Arc<[Box<dyn Storage>]>,
}

impl Directories {
    /// Returns the directories of a run, in the order in which chunks are dealt out.
    ///
    /// # Panics
    /// When there is none.
    pub fn new(storages: Vec<Box<dyn Storage>>) -> Directories {
        assert!(!storages.is_empty(), "a run has a directory");
        Directories {
            storages: storages.into(),
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
        &*self.storages[chunk % self.storages.len()]
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &dyn Storage> {
        self.storages.iter().map(|storage| &**storage)
    }

    /// Locks all directories.
    pub(super) fn lock(&self) -> Result<Vec<Box<dyn Send + Sync>>, DiskError> {
        let lock = |storage: &dyn Storage| {
            let lock = storage.lock();
            let lock = lock.map_err(|e| DiskError::io(storage, "lock", e))?;
            lock.ok_or_else(|| DiskError::Locked {
                directory: storage.name(),
            })
        };
        self.all().map(lock).collect()
    }

    /// Returns whether a search is running in these directories.
    pub fn is_locked(&self) -> bool {
        self.all().any(Storage::is_locked)
    }

    /// Reads the manifest, if there is one.
    ///
    /// # Errors
    /// [`DiskError`] when it cannot be read or is damaged.
    pub fn manifest(&self) -> Result<Option<Manifest>, DiskError> {
        Manifest::read(self.first()).map_err(|e| DiskError::io(self.first(), "manifest", e))
    }

    /// Removes the files that the manifest does not name: those of an interrupted session.
    pub(super) fn sweep(&self, manifest: Option<&Manifest>) -> Result<(), DiskError> {
        for (i, storage) in self.all().enumerate() {
            let wrong = |name: &str, e: io::Error| DiskError::io(storage, name, e);
            for name in storage.list().map_err(|e| wrong("", e))? {
                let needed = manifest.is_some_and(|manifest| {
                    manifest.files.iter().any(|files| {
                        files.chunks.iter().any(|chunk| {
                            chunk.chunk as usize % self.count() == i
                                && chunk.states > 0
                                && Manifest::file_name(files.depth, chunk.chunk) == name
                        })
                    })
                });
                let ours = Manifest::is_file_name(&name) || super::cross::is_scratch(&name);
                if ours && !needed {
                    storage.remove(&name).map_err(|e| wrong(&name, e))?;
                }
            }
        }
        Ok(())
    }
}
