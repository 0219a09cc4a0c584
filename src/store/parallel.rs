//! Work on the parts of a file by several threads.

use std::sync::Mutex;

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
    let lock = || {
        state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    };
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
            if std::thread::Builder::new()
                .spawn_scoped(scope, worker)
                .is_err()
            {
                break;
            }
        }
        worker();
    });
    let (_, error) = state.into_inner().unwrap_or_else(|e| e.into_inner());
    error.map_or(Ok(()), |(_, error)| Err(error))
}

#[cfg(test)]
#[path = "../../tests/unit/parallel.rs"]
mod tests;
