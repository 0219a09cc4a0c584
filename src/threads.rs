//! Threads, and work that they take piece by piece.

use std::{
    io,
    iter::Enumerate,
    process,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;
use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};

use crate::system::SystemError;

/// Returns a pool of worker threads, one per core by default.
pub fn pool(threads: Option<usize>) -> Result<ThreadPool, SystemError> {
    let threads = threads.unwrap_or(0);
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| SystemError::Threads { threads, reason: e.to_string() })
}

// The threads of a process, for libraries that are called by other programs.

/// The threads, and the process that they belong to.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The number of threads of the next pool of this process, 0 for one per core.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Returns the threads of this process, by default one per core, which are started once. A forked process gets its own
/// threads: those of the parent do not exist in it, and anything that waited for them (rayon's global pool is created
/// only once) would wait forever.
pub fn process_pool() -> io::Result<Arc<ThreadPool>> {
    let mut pool = POOL.lock();
    let own = process::id();
    if let Some((_, pool)) = pool.as_ref().filter(|(owner, _)| *owner == own) {
        return Ok(pool.clone());
    }
    let new = ThreadPoolBuilder::new().num_threads(THREADS.load(Ordering::Relaxed)).build();
    let new = Arc::new(new.map_err(io::Error::other)?);
    // The parent's threads cannot be joined here.
    std::mem::forget(pool.replace((own, new.clone())));
    Ok(new)
}

/// Sets the number of threads of this process, 0 for one per core. Operations in progress keep the previous threads
/// until they are done.
pub fn set_process_threads(threads: usize) {
    let mut pool = POOL.lock();
    THREADS.store(threads, Ordering::Relaxed);
    match pool.take() {
        // The parent's threads cannot be joined here.
        Some((owner, parents)) if owner != process::id() => std::mem::forget(parents),
        own => drop(own),
    }
}

// Loops over numbers, with the threads of the current pool. Every parallel iterator of rayon takes 10 kB of code; these
// are compiled once.

/// Calls a function with each number below a bound, in any order.
pub(crate) fn each_number(count: usize, each: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(each);
}

/// Returns the results of a function for each number below a bound.
pub(crate) fn map_numbers<T: Send>(count: usize, each: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    each_number(count, &|number| *results[number].lock() = Some(each(number)));
    results.into_iter().map(|of| of.into_inner().expect("there is one for each number")).collect()
}

/// Calls a function with the parts of a slice, all of which but the last have this many elements, and their numbers.
pub(crate) fn each_part<T: Send>(
    slice: &mut [T],
    size: usize,
    each: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    let parts: Vec<Mutex<&mut [T]>> = slice.chunks_mut(size.max(1)).map(Mutex::new).collect();
    each_number(parts.len(), &|number| each(number, &mut parts[number].lock()));
}

/// Pieces of work that threads take in order, until none are left or one has failed.
pub(crate) struct Tasks<I: Iterator, E> {
    left: Mutex<Enumerate<I>>,
    error: Mutex<Option<(usize, E)>>,
}

impl<I: Iterator, E> Tasks<I, E> {
    /// Returns the pieces.
    pub fn new(work: impl IntoIterator<IntoIter = I>) -> Tasks<I, E> {
        Tasks { left: Mutex::new(work.into_iter().enumerate()), error: Mutex::new(None) }
    }

    fn next(&self) -> Option<(usize, I::Item)> {
        self.left.lock().next().filter(|_| self.error.lock().is_none())
    }

    /// Processes one piece after another. Called by every thread.
    pub fn run(&self, mut work: impl FnMut(usize, I::Item) -> Result<(), E>) {
        while let Some((number, piece)) = self.next() {
            if let Err(error) = work(number, piece) {
                let mut first = self.error.lock();
                if first.as_ref().is_none_or(|(other, _)| number < *other) {
                    *first = Some((number, error));
                }
            }
        }
    }

    /// Returns the error of the first piece that has one; the pieces after it may not have been processed.
    pub fn end(self) -> Result<(), E> {
        self.error.into_inner().map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// Processes all pieces with as many threads as the current pool has, or, outside of pools, the machine; with fewer if
/// the system cannot start more. Returns the result of [`Tasks::end`].
pub(crate) fn in_parallel<T: Send, E: Send>(
    work: impl ExactSizeIterator<Item = T> + Send,
    each: impl Fn(usize, T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let threads = match rayon::current_thread_index() {
        Some(_) => rayon::current_num_threads(),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let threads = threads.min(work.len());
    let tasks = Tasks::new(work);
    on_threads(threads, &|| tasks.run(&each));
    tasks.end()
}

fn on_threads(threads: usize, work: &(dyn Fn() + Sync)) {
    std::thread::scope(|scope| {
        for _ in 1..threads {
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{each_part, in_parallel, map_numbers};

    #[test]
    fn numbers_and_parts_are_in_order() {
        let parts = map_numbers(100, &|number| number);
        assert!(parts.iter().enumerate().all(|(i, &part)| i == part));
        let mut places = vec![0; 1001];
        each_part(&mut places, 10, &|number, part| {
            (0..).zip(part).for_each(|(i, place)| *place = 10 * number + i);
        });
        assert!(places.iter().enumerate().all(|(i, &place)| i == place));
    }

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
