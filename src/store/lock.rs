//! Waiting for the lock of a directory, and what is left of it.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::storage::{Directory, Io, LOCK, Lock, Storage};

/// Time between two tries to lock, and after which waiting is worth a word.
const AGAIN: Duration = Duration::from_millis(50);
const SILENT: Duration = Duration::from_millis(500);

/// Locks a directory. A process that has just been killed holds its lock until the system has taken back its
/// memory, so this waits for it, at most `patience`; `None` when it is still held then.
///
/// # Errors
/// As [`Storage::lock`].
pub fn lock_within(storage: &dyn Storage, patience: Duration) -> io::Result<Option<Lock>> {
    let begun = Instant::now();
    let mut said = false;
    loop {
        if let Some(lock) = storage.lock()? {
            return Ok(Some(lock));
        }
        if begun.elapsed() >= patience {
            return Ok(None);
        }
        if !said && begun.elapsed() >= SILENT {
            said = true;
            tracing::warn!(
                "{}: waiting for whoever works there to end, at most {} s",
                storage.name(),
                patience.as_secs()
            );
        }
        std::thread::sleep(AGAIN);
    }
}

/// Removes a directory in which nothing is but the lock of whoever worked there, and that one not held; leaves any other
/// as it is.
pub fn remove_unused(path: &Path) {
    // A file of somebody else may have that name: locks are empty.
    let lock_alone = |directory: &Directory| {
        directory.list().is_ok_and(|names| names == [LOCK])
            && directory.open(LOCK).is_ok_and(|file| file.is_empty())
    };
    if let Ok(directory) = Directory::open(path, Io::Read)
        && lock_alone(&directory)
        && let Ok(Some(_held)) = directory.lock()
    {
        // Whoever came meanwhile has files there by now, or fails to write the first one.
        let _ = directory.remove(LOCK);
    }
    // Refused by the system, as it should be, for a directory that holds anything.
    let _ = std::fs::remove_dir(path);
}
