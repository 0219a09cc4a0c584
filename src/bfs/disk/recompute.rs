//! What a search does about damage: levels are computed again only on request, planes whenever needed.
//!
//! Invariant: the same level is computed again at most once, and the same planes filled again at most once.
//! Before the manifest forgets a level, its files get the names of uncommitted ones, so at every instant they
//! are either named or known to be superseded.

use std::collections::HashSet;

use super::error::DiskError;
use super::options::Disk;
use crate::Error;
use crate::progress::Progress;
use crate::store::{LevelFiles, MANIFEST, Manifest, RunFile};

/// The depths that were damaged before.
#[derive(Default)]
pub(super) struct Recomputed {
    levels: HashSet<u32>,
    planes: HashSet<u32>,
}

impl Recomputed {
    /// Puts the run back to where it can go on after an error, or passes the error on.
    pub fn after(
        &mut self,
        disk: &Disk,
        error: Error,
        observer: &dyn Progress,
    ) -> Result<(), Error> {
        let reason = error.to_string();
        match error {
            // The next session fills the planes from the level files.
            Error::Disk(DiskError::Scratch { depth, .. }) if self.planes.insert(depth) => {
                observer.rebuilding(depth as usize, &reason);
                Ok(())
            }
            Error::Disk(DiskError::Level { depth, .. })
                if disk.check && self.levels.insert(depth) =>
            {
                let Some(manifest) = disk.directories.manifest()?.filter(|m| m.keep_all) else {
                    return Err(error);
                };
                observer.rebuilding(depth as usize, &reason);
                Ok(forget(disk, manifest, depth)?)
            }
            error => Err(error),
        }
    }
}

/// Takes a run that keeps all levels back to the levels before a depth.
fn forget(disk: &Disk, mut manifest: Manifest, depth: u32) -> Result<(), DiskError> {
    let run = manifest.run;
    let kept = |files: &LevelFiles| files.depth < depth;
    let (kept, lost): (Vec<_>, Vec<_>) = manifest.files.drain(..).partition(kept);
    let lost: Vec<(u32, u32)> = lost
        .iter()
        .flat_map(|files| {
            let there = files.chunks.iter().filter(|record| record.has_file());
            there.map(|record| (files.depth, record.chunk))
        })
        .collect();
    let directories = &disk.directories;
    // Nothing is moved before all that is there has turned out to be files.
    for look in [true, false] {
        for &(depth, chunk) in &lost {
            let storage = directories.of_chunk(chunk as usize);
            let level = RunFile::Level { depth, chunk }.name();
            let uncommitted = RunFile::Uncommitted { run, depth, chunk }.name();
            let done = match look {
                true => storage.open(&level).map(drop),
                false => storage.rename(&level, &uncommitted),
            };
            match done {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(DiskError::io(storage, &level, e));
                }
                _ => {}
            }
        }
    }
    for storage in directories.all() {
        let synced = storage.sync_names();
        synced.map_err(|e| DiskError::io(storage, "", e))?;
    }
    manifest.levels.truncate(depth as usize);
    manifest.files = kept;
    manifest.complete = false;
    let first = directories.first();
    let written = manifest.write(first);
    // The next claim removes what is no longer named.
    written.map_err(|e| DiskError::io(first, MANIFEST, e))
}
