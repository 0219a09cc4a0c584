//! The worker threads of a build or a search.

use super::PdbError;

/// Returns a pool of worker threads, one per core unless told.
pub(super) fn pool(threads: Option<usize>) -> Result<rayon::ThreadPool, PdbError> {
    let threads = threads.unwrap_or(0);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| PdbError::Threads {
            threads,
            reason: e.to_string(),
        })
}
