//! The extension module behind the Python package `tilewave`.
//!
//! Invariant: this crate computes nothing itself. Arrays are copied in, checked by the library, and returned; the
//! interpreter is released while the library works; every error becomes an exception.

mod arrays;
mod errors;
mod listed;
mod numbers;
mod pdb;
mod pruning;
mod puzzle;
mod search;
mod solve;
mod table;
mod work;

/// Complete breadth-first searches of sliding-tile boards and permutation puzzles, and pattern databases.
#[pyo3::pymodule]
mod _tilewave {
    #[pymodule_export]
    use super::pdb::PatternDatabase;
    #[pymodule_export]
    use super::pruning::{PruningTable, PuzzleSolver};
    #[pymodule_export]
    use super::puzzle::{PyPuzzle, apply_moves, neighbors, scramble};
    #[pymodule_export]
    use super::search::{SearchResult, bfs, growth};
    #[pymodule_export]
    use super::solve::{Solution, Solver, solve};
    #[pymodule_export]
    use super::table::DistanceTable;

    #[pymodule_init]
    fn speaks(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        tilewave::internals::Hint::say(super::errors::words);
        Ok(())
    }

    /// Runs the program with the given arguments, the first of which is its name, and returns its exit code.
    #[pyo3::pyfunction]
    fn _main(py: pyo3::Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
        py.detach(|| tilewave_cli::run(arguments, None))
    }

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
