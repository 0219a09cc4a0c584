//! Where states are kept: memory arrays, level files, the directory of a run.
//!
//! What returns an [`std::io::Result`] and says no more of it fails with what the system says.

pub(crate) mod codec;
pub(crate) mod container;
pub(crate) mod error;
pub(crate) mod journal;
pub(crate) mod level_file;
pub(crate) mod manifest;
pub(crate) mod memory;
pub(crate) mod output;
pub(crate) mod shares;
pub(crate) mod storage;

use std::sync::{Arc, Mutex, PoisonError};
use std::{io, process};

use rayon::{ThreadPool, ThreadPoolBuilder};

pub use crate::store::codec::{Codec, DEFAULT_LEVEL, Decoder, Encoder};
pub use crate::store::container::{
    BLOCK_BYTES, Container, Fields, FileHeader, HEADER_BYTES, Section, SectionLayout, encode,
};
pub use crate::store::error::{FileError, FileKind, FileProblem, Place, StorageError};
pub use crate::store::journal::Journal;
pub use crate::store::level_file::{
    FrameEntry, Frames, LABEL, LevelError, LevelHeader, LevelReader, LevelSum, LevelWriter,
};
pub use crate::store::manifest::{
    ChunkRecord, DATABASE, DatabaseMarker, Identity, LevelFiles, LevelRecord, MANIFEST, MARKER,
    Manifest, ManifestError, Marker, PREVIOUS, RunFile,
};
pub use crate::store::memory::{Array, Image, Mapped, MemoryError, Words, budget, peak_memory};
pub use crate::store::output::{Output, OutputError, advice};
pub use crate::store::shares::Shares;
pub use crate::store::storage::{
    Append, Bytes, Directory, Io, Lock, MemoryDirectory, ReadAt, Storage, lock_within,
    remove_unused,
};

pub(crate) use crate::store::output::failed;

// The threads of a process, for those whom programs of others call.

/// The threads, and the process that they belong to.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Returns the threads of this process, one per core, which are started once. A process that was forked gets threads of its
/// own: those of the parent are not there, and whoever waited for them (rayon's global pool is made but once) would wait for
/// ever.
///
/// # Errors
/// When the system starts no threads.
pub fn process_pool() -> io::Result<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let own = process::id();
    if let Some((_, pool)) = pool.as_ref().filter(|(owner, _)| *owner == own) {
        return Ok(pool.clone());
    }
    let new = ThreadPoolBuilder::new().build();
    let new = Arc::new(new.map_err(io::Error::other)?);
    // The parent's threads cannot be joined here.
    std::mem::forget(pool.replace((own, new.clone())));
    Ok(new)
}

// Work on the parts of a file by several threads.

/// Calls `work` for all parts, in order of their beginning, on as many threads as the current pool has,
/// or the machine outside of pools; on fewer where the system starts no more. Returns the error of the first
/// part that has one; the parts after it may not be worked on.
pub(crate) fn in_parallel<T: Send, E: Send>(
    parts: impl ExactSizeIterator<Item = T> + Send,
    work: impl Fn(usize, T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let threads = match rayon::current_thread_index() {
        Some(_) => rayon::current_num_threads(),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let threads = threads.min(parts.len());
    let state = Mutex::new((parts.enumerate(), None::<(usize, E)>));
    let lock = || state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let next = || {
        let (parts, error) = &mut *lock();
        parts.next().filter(|_| error.is_none())
    };
    let worker = || {
        while let Some((number, part)) = next() {
            if let Err(error) = work(number, part) {
                let first = &mut lock().1;
                if first.as_ref().is_none_or(|(other, _)| number < *other) {
                    *first = Some((number, error));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            if std::thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                break;
            }
        }
        worker();
    });
    let (_, error) = state.into_inner().unwrap_or_else(|e| e.into_inner());
    error.map_or(Ok(()), |(_, error)| Err(error))
}

#[cfg(test)]
mod tests {
    //! What `src/store/parallel.rs` keeps to itself.

    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::in_parallel;

    #[test]
    fn every_part_is_worked_on_and_the_first_error_returned() {
        let mut parts = vec![0; 1000];
        in_parallel(parts.iter_mut(), |i, part| {
            *part = i;
            Ok::<_, ()>(())
        })
        .unwrap();
        assert!(parts.iter().enumerate().all(|(i, &part)| i == part));
        let done = AtomicUsize::new(0);
        let first = in_parallel(parts.iter(), |i, _| {
            done.fetch_add(1, Ordering::Relaxed);
            if i % 10 == 7 { Err(i) } else { Ok(()) }
        });
        assert_eq!(first, Err(7));
        assert!(done.into_inner() < 1000);
    }
}
