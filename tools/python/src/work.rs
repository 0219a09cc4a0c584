//! Work while the interpreter is free: threads, progress, and Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::ThreadPool;
use tilewave::progress::{Level, Progress};
use tilewave::{Error, store};

use super::errors::{exception, of_panic};

/// Rows that the calling thread works on alone: the library shares no fewer between threads.
const ALONE: usize = 2048;
/// Time between two looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Returns the threads of this process.
pub fn pool() -> PyResult<Arc<ThreadPool>> {
    let pool = store::process_pool();
    pool.map_err(|e| PyRuntimeError::new_err(format!("cannot start threads: {e}")))
}

/// Returns what a short work on some rows returns.
pub fn quick<T: Send>(
    py: Python<'_>,
    rows: usize,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<Result<T, Error>> {
    let work = || catch_unwind(AssertUnwindSafe(work));
    let done = match rows <= ALONE {
        true => py.detach(work),
        false => {
            let pool = pool()?;
            py.detach(|| pool.install(work))
        }
    };
    done.map_err(of_panic)
}

/// Watches a long work for the interpreter.
pub struct Watch {
    callback: Option<Py<PyAny>>,
    stopped: AtomicBool,
    raised: Mutex<Option<PyErr>>,
}

impl Watch {
    /// Stops the work, to raise an exception.
    fn stop(&self, error: PyErr) {
        lock(&self.raised).get_or_insert(error);
        self.stopped.store(true, Ordering::Relaxed);
    }
}

impl Progress for Watch {
    fn level(&self, level: &Level) {
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

/// Returns what a long work returns, which runs on the threads of this process while this one looks for Ctrl-C. The callback
/// is called with depth, states and seconds of each level; what it raises ends the work.
pub fn long<T: Send>(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let watch = Watch {
        callback,
        stopped: AtomicBool::new(false),
        raised: Mutex::new(None),
    };
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
                waited
                    .unwrap_or_else(|poisoned| poisoned.into_inner())
                    .0
                    .take()
            };
            if let Some(done) = py.detach(wait) {
                return Ok(done);
            }
            if let Err(error) = py.check_signals() {
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
