//! Long computations that release the interpreter: threads, progress, and Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rayon::ThreadPool;
use tilewave::progress::{LevelDone, Progress};
use tilewave::{Error, Mapped, SystemError, internals};

use super::errors::{exception, of_panic};

/// The number of rows up to which the calling thread works alone: the library does not share fewer between threads.
const ALONE: usize = 2048;
/// Time between two checks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);
/// Time that a piece of a lookup should take: not more than Ctrl-C may wait, but long compared to the overhead of a
/// piece.
const PIECE: Duration = Duration::from_millis(50);
/// Rows of the first piece when a row takes at most a few microseconds.
pub const FIRST: usize = 4 * ALONE;

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Returns the thread pool of this process.
pub fn pool() -> PyResult<Arc<ThreadPool>> {
    let pool = internals::process_pool();
    pool.map_err(|e| PyRuntimeError::new_err(format!("cannot start threads: {e}")))
}

/// Works on many rows of `width` numbers, one piece at a time, until Ctrl-C is pressed. The first piece has `first`
/// rows, later ones as many as take [`PIECE`]. `join` is called with the result of `work` for each piece, in order.
///
/// Errors: an error of `work` that concerns a row gives its number among all rows.
pub fn in_pieces<T: Sync, R: Send>(
    py: Python<'_>,
    (numbers, width): (&[T], usize),
    first: usize,
    work: impl Fn(&[T]) -> Result<R, Error> + Sync,
    mut join: impl FnMut(R),
) -> PyResult<Result<(), Error>> {
    let rows = numbers.len() / width;
    let pool = match rows > ALONE {
        true => Some(pool()?),
        false => None,
    };
    let (mut done, mut piece) = (0, first);
    loop {
        let end = rows.min(done + piece);
        let part = &numbers[done * width..end * width];
        let begun = Instant::now();
        let work = || catch_unwind(AssertUnwindSafe(|| work(part)));
        // Few rows stay on this thread whoever calls.
        let found = py.detach(|| match &pool {
            Some(pool) if end - done > ALONE => pool.install(work),
            _ => work(),
        });
        match found.map_err(of_panic)? {
            Ok(found) => join(found),
            Err(Error::Row { row, reason }) => {
                let row = done + row;
                return Ok(Err(Error::Row { row, reason }));
            }
            Err(error) => return Ok(Err(error)),
        }
        done = end;
        if done == rows {
            return Ok(Ok(()));
        }
        py.check_signals()?;
        let speed = PIECE.div_duration_f64(begun.elapsed()).min(8.0);
        piece = ((piece as f64 * speed) as usize).max(1);
    }
}

/// Returns one result for each row: see [`in_pieces`].
pub fn for_rows<T: Sync, R: Send>(
    py: Python<'_>,
    rows: (&[T], usize),
    first: usize,
    work: impl Fn(&[T]) -> Result<Vec<R>, Error> + Sync,
) -> PyResult<Result<Vec<R>, Error>> {
    let count = rows.0.len() / rows.1;
    let mut all = Vec::new();
    let done = in_pieces(py, rows, first, work, |mut found| match all.is_empty() {
        true => {
            all = found;
            all.reserve_exact(count - all.len());
        }
        false => all.append(&mut found),
    })?;
    Ok(done.map(|()| all))
}

/// Watches a long computation on behalf of the interpreter.
pub struct Watch {
    callback: Option<Py<PyAny>>,
    stopped: AtomicBool,
    raised: Mutex<Option<PyErr>>,
}

impl Watch {
    /// Stops the computation in order to raise an exception.
    fn stop(&self, error: PyErr) {
        lock(&self.raised).get_or_insert(error);
        self.stopped.store(true, Ordering::Relaxed);
    }
}

impl Progress for Watch {
    fn level(&self, level: &LevelDone) {
        let Some(callback) = self.callback.as_ref().filter(|_| !self.interrupted()) else {
            return;
        };
        Python::attach(|py| {
            let arguments = (level.depth, level.states, level.seconds);
            if let Err(error) = callback.call1(py, arguments) {
                self.stop(error);
            }
        });
    }

    fn interrupted(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

/// Returns the result of a long computation, which runs on the threads of this process while the current thread watches
/// for Ctrl-C. The callback is called with depth, states and seconds of each level; an exception that it raises ends
/// the computation.
pub fn long<T: Send>(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Error> + Send,
) -> PyResult<T> {
    long_watched(py, callback, |_| Ok(()), work)
}

/// Runs a long computation as [`long`] does. `look` is called from time to time on this thread; an exception that it
/// raises ends the computation.
pub fn long_watched<T: Send>(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    look: impl Fn(Python<'_>) -> PyResult<()>,
    work: impl FnOnce(&Watch) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let watch = Watch { callback, stopped: AtomicBool::new(false), raised: Mutex::new(None) };
    let (pool, result, ready) = (pool()?, Mutex::new(None), Condvar::new());
    let done = std::thread::scope(|scope| -> PyResult<_> {
        let worker = || {
            let done = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(&watch))));
            *lock(&result) = Some(done);
            ready.notify_one();
        };
        let started = std::thread::Builder::new().spawn_scoped(scope, worker);
        started.map_err(|e| PyRuntimeError::new_err(format!("cannot start a thread: {e}")))?;
        loop {
            let wait = || {
                let waited = ready.wait_timeout_while(lock(&result), LOOK, |done| done.is_none());
                waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0.take()
            };
            if let Some(done) = py.detach(wait) {
                return Ok(done);
            }
            if let Err(error) = py.check_signals().and_then(|()| look(py)) {
                watch.stop(error);
            }
        }
    })?;
    match (lock(&watch.raised).take(), done) {
        (Some(error), _) => Err(error),
        (None, Ok(done)) => done.map_err(exception),
        (None, Err(panic)) => Err(of_panic(panic)),
    }
}

/// Returns how to pickle an object that was opened from a file: another process reopens the file.
pub fn reopened<'py>(
    py: Python<'py>,
    class: Bound<'py, PyAny>,
    path: &Path,
    (option, value): (&str, bool),
) -> PyResult<Bound<'py, PyTuple>> {
    let options = PyDict::new(py);
    options.set_item(option, value)?;
    let open = py.import("functools")?.getattr("partial")?;
    let open = open.call((class.getattr("open")?, path), Some(&options))?;
    (open, PyTuple::empty(py)).into_pyobject(py)
}

/// Maps a file.
#[allow(unsafe_code)]
pub fn map(path: &Path) -> Result<Mapped, Error> {
    // SAFETY: nobody shortens the file meanwhile: the manual asks for that.
    let mapped = unsafe { Mapped::open(path) };
    mapped.map_err(|reason| {
        Error::System(SystemError::Read { action: "cannot open", path: path.into(), reason })
    })
}
