//! Waiting for the lock of a directory.

use std::io;
use std::time::{Duration, Instant};

use super::storage::{Lock, Storage};

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
