//! The threads of a process, for those whom programs of others call.

use std::io;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

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
