//! Converts errors of the library into exceptions.

use std::io::ErrorKind;

use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyIsADirectoryError, PyKeyboardInterrupt,
    PyMemoryError, PyOSError, PyPermissionError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use tilewave::internals::Hint;
use tilewave::pdb::PdbError;
use tilewave::search::SearchError;
use tilewave::solve::SolveError;
use tilewave::table::TableError;
use tilewave::{Class, Error, SystemError};

/// What Python calls what an error advises.
pub fn words(hint: &Hint) -> String {
    match hint {
        Hint::Setting("force") => "replace=True".into(),
        Hint::Setting("generators") => "moves=".into(),
        Hint::Setting("count_ahead") => "count_ahead=1".into(),
        Hint::Setting(name) => format!("{name}="),
        Hint::Value(name, value) if value.parse::<u64>().is_ok() => format!("{name}={value}"),
        Hint::Value(name, "DIR") => format!("{name}="),
        Hint::Value(name, value) => format!("{name}=\"{value}\""),
        Hint::Build("database", _) => "PatternDatabase.build".into(),
        Hint::Build("distance table", _) => "DistanceTable.build".into(),
        Hint::Build("pruning table", _) => "PruningTable.build".into(),
        // The page of the command says how.
        Hint::Command("levels --depth") => "python -m tilewave levels".into(),
        Hint::Build(_, words) | Hint::Command(words) => format!("python -m tilewave {words}"),
        Hint::InFile => String::new(),
        // No directory can be given here.
        Hint::InDirectory(_) => "or ".into(),
        Hint::Again => "make the same call again".into(),
    }
}

/// Returns the error for an invalid argument.
pub fn invalid(text: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(text.to_string())
}

/// Returns the error for an argument of the wrong type.
pub fn of_type(name: &str, expected: &str, of: &Bound<'_, PyAny>) -> PyErr {
    let found = of.get_type().name().map_or("something else".into(), |name| name.to_string());
    PyTypeError::new_err(format!("{name} must be {expected}, not {found}"))
}

/// Returns the error for using an object that was closed.
pub fn closed(what: &str) -> PyErr {
    invalid(format!("the {what} is closed"))
}

/// Returns the error for pickling an object that has no file to reopen.
pub fn not_pickled(what: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "a {what} in memory cannot be pickled: save it, and open the file in the other process"
    ))
}

fn system(kind: ErrorKind, text: String) -> PyErr {
    match kind {
        ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
        ErrorKind::AlreadyExists => PyFileExistsError::new_err(text),
        ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
        ErrorKind::IsADirectory => PyIsADirectoryError::new_err(text),
        _ => PyOSError::new_err(text),
    }
}

fn of_system(error: &SystemError) -> PyErr {
    let text = error.to_string();
    match error {
        SystemError::Memory { .. } | SystemError::CodecMemory => PyMemoryError::new_err(text),
        SystemError::Threads { .. } => PyRuntimeError::new_err(text),
        SystemError::Read { reason, .. } | SystemError::Write { reason, .. } => {
            system(reason.kind(), text)
        }
        SystemError::Changed { .. } => PyOSError::new_err(text),
        SystemError::Exists(_) => PyFileExistsError::new_err(text),
        SystemError::Directory(_) => PyIsADirectoryError::new_err(text),
        SystemError::Interrupted => PyKeyboardInterrupt::new_err(()),
        // A file that is none is an argument that is none.
        _ => PyValueError::new_err(text),
    }
}

fn of_search(error: &SearchError) -> PyErr {
    let text = error.to_string();
    match error {
        SearchError::Memory { .. } | SearchError::Level { .. } => PyMemoryError::new_err(text),
        SearchError::Interrupted { .. } | SearchError::Paused { .. } => {
            PyKeyboardInterrupt::new_err(())
        }
        SearchError::Sum { .. } => PyRuntimeError::new_err(text),
        SearchError::Io { reason, .. } => system(reason.kind(), text),
        SearchError::Damaged { .. }
        | SearchError::Apart { .. }
        | SearchError::Refused(_)
        | SearchError::Ranks(_)
        | SearchError::Elsewhere { .. }
        | SearchError::Limit { .. }
        | SearchError::Digits(_) => PyOSError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

fn of_pdb(error: &PdbError) -> PyErr {
    match error {
        PdbError::System(error) => of_system(error),
        PdbError::Memory(_) => PyMemoryError::new_err(error.to_string()),
        PdbError::Interrupted(_) => PyKeyboardInterrupt::new_err(()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Returns the exception for an error of the library.
pub fn exception(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let said = error.to_string();
    if let Error::Row { reason, .. } = error {
        return Python::attach(|py| PyErr::from_type(exception(*reason).get_type(py), said));
    }
    match &error {
        Error::System(error) => of_system(error),
        Error::Search(error) => of_search(error),
        Error::Pdb(error) | Error::Solve(SolveError::Pdb(error)) => of_pdb(error),
        Error::Table(TableError::Memory(_)) => PyMemoryError::new_err(said),
        error if error.class() == Class::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Table(TableError::Incomplete(_))
        | Error::Solve(
            SolveError::WrongSolution { .. } | SolveError::NoSolution | SolveError::Beaten { .. },
        ) => PyRuntimeError::new_err(said),
        _ => PyValueError::new_err(said),
    }
}

/// Returns the exception for an error about a single row, whose number need not be given.
pub fn of_one(error: Error) -> PyErr {
    match error {
        Error::Row { reason, .. } => exception(*reason),
        error => exception(error),
    }
}

/// Returns the exception for a panic, which is a bug in the library.
pub fn of_panic(panic: Box<dyn std::any::Any + Send>) -> PyErr {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
    PyRuntimeError::new_err(format!("internal error in tilewave; please report it: {said}"))
}

/// Returns the value with the given name, from a list of values and their names.
pub fn named<T: Copy>(all: &[(&[&str], T, &str)], what: &str, name: &str) -> Result<T, PyErr> {
    let found = all.iter().find(|(names, ..)| names.contains(&name));
    found.map(|(_, value, _)| *value).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(names, ..)| names[0]).collect();
        invalid(format!("'{name}' is not a valid {what}: choose {}", names.join(" or ")))
    })
}
