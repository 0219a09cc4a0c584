//! Numeric arguments.
//!
//! Invariant: a number outside the argument's range is a ValueError that names the argument; a value that is not a
//! number is a TypeError, as in any Python function.

use std::fmt::Display;
use std::time::Duration;

use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use tilewave::{Size, frontier::FrontierSearch};

use super::errors::{exception, invalid, of_type};

/// Returns the numeric value of an argument, or the error from `beyond` if the type cannot hold it.
fn number<'py, T: FromPyObjectOwned<'py>>(
    name: &str,
    of: &Bound<'py, PyAny>,
    beyond: impl FnOnce() -> PyErr,
) -> PyResult<T> {
    of.extract::<T>().map_err(|error| {
        let error: PyErr = error.into();
        match error.is_instance_of::<PyOverflowError>(of.py()) {
            true => beyond(),
            false => of_type(name, "a whole number", of),
        }
    })
}

fn between(name: &str, most: impl Display) -> PyErr {
    invalid(format!("{name} must be a number from 0 to {most}"))
}

/// For each argument name, the function that reads it (`from_py_with`).
macro_rules! arguments {
    ($($name:ident: $type:ty),*) => {$(
        pub fn $name(of: &Bound<'_, PyAny>) -> PyResult<$type> {
            number(stringify!($name), of, || between(stringify!($name), <$type>::MAX))
        }
    )*};
}

/// The same for arguments that may be None.
macro_rules! optional_arguments {
    ($($name:ident: $type:ty),*) => {$(
        pub fn $name(of: &Bound<'_, PyAny>) -> PyResult<Option<$type>> {
            let name = stringify!($name);
            let number = || number(name, of, || between(name, <$type>::MAX));
            (!of.is_none()).then(number).transpose()
        }
    )*};
}

arguments!(max_states: usize, slack: usize);
optional_arguments!(count: usize, keep_last: usize, limit: u64, max_depth: usize, max_nodes: u64);

/// Reads the argument `memory`: a number of bytes, or a size with a unit.
pub fn memory(of: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    if let Ok(text) = of.cast::<PyString>() {
        let bytes = tilewave::internals::parse_bytes(&text.to_string());
        return bytes.map(Some).map_err(|wrong| invalid(format!("memory: {wrong}")));
    }
    let number = || number("memory", of, || between("memory", u64::MAX));
    (!of.is_none()).then(number).transpose()
}

/// Reads the argument `rng`: a seed, or a NumPy generator from which a seed is drawn.
pub fn rng(of: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    if of.hasattr("integers")? {
        return of.call_method1("integers", (1u64 << 63,))?.extract();
    }
    let number = || number("rng", of, || between("rng", u64::MAX));
    (!of.is_none()).then(number).transpose()
}

/// Reads the argument `size`.
pub fn size(of: &Bound<'_, PyAny>) -> PyResult<Size> {
    let text = of.cast::<PyString>().map_err(|_| of_type("size", "a text such as '4x4'", of))?;
    text.to_string().parse().map_err(exception)
}

/// Reads the argument `size`, which may be None.
pub fn size_or_none(of: &Bound<'_, PyAny>) -> PyResult<Option<Size>> {
    (!of.is_none()).then(|| size(of)).transpose()
}

/// Reads the argument `timeout`, in seconds.
pub fn timeout(of: &Bound<'_, PyAny>) -> PyResult<Option<Duration>> {
    if of.is_none() {
        return Ok(None);
    }
    let wrong = |_| invalid("timeout must be a finite number of seconds from 0");
    let seconds = of.extract().map_err(|_| of_type("timeout", "a number of seconds", of))?;
    Duration::try_from_secs_f64(seconds).map(Some).map_err(wrong)
}

/// Maximum number of threads.
const MAX_THREADS: usize = 1024;

/// Reads the argument `threads`.
pub fn threads(of: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    let wrong = || invalid(format!("threads must be a number from 1 to {MAX_THREADS}"));
    if of.is_none() {
        return Ok(None);
    }
    match number("threads", of, wrong)? {
        threads @ 1..=MAX_THREADS => Ok(Some(threads)),
        _ => Err(wrong()),
    }
}

/// Reads the argument `count_ahead`.
pub fn count_ahead(of: &Bound<'_, PyAny>) -> PyResult<usize> {
    let most = FrontierSearch::MOST_AHEAD;
    let depths = number("count_ahead", of, || between("count_ahead", most))?;
    if depths > most { Err(between("count_ahead", most)) } else { Ok(depths) }
}

/// Reads the argument `tiles`; which tiles exist depends on the board and is checked later.
pub fn tiles(of: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    let tile = |tile: Bound<'_, PyAny>| {
        number("a tile", &tile, || {
            invalid("tiles contains a number that is not a tile of any board")
        })
    };
    let all: Vec<Bound<'_, PyAny>> =
        of.extract().map_err(|_| of_type("tiles", "a list of whole numbers", of))?;
    all.into_iter().map(tile).collect()
}
