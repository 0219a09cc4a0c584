//! Distance tables.

use std::path::PathBuf;
use std::sync::{Arc, RwLock};

use numpy::PyArray1;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tilewave::puzzle::{Metric, MoveStyle, PuzzleError};
use tilewave::search::Search;
use tilewave::table::TableEncoding;
use tilewave::{Board, Error, Progress, Resources};

use super::arrays::{self, Rows, per_row};
use super::errors::{closed, exception, invalid, named, not_pickled, of_one};
use super::numbers;
use super::puzzle::{Counted, form_of, subject};
use super::work::{FIRST, for_rows, long, map, reopened};

/// The depth of every state of a board or another puzzle: distances to the goal, and shortest paths.
///
/// Created by `build` and `open`. A table can be closed, is a context manager, and can be used by several threads. It
/// can be pickled if it was opened from a file; another process then opens this file.
///
/// Examples
/// --------
/// >>> table = tilewave.DistanceTable.build("3x3")
/// >>> table.depths([[8, 6, 7, 2, 5, 4, 3, 0, 1], [1, 2, 3, 4, 5, 6, 7, 0, 8]])
/// array([31,  1], dtype=int16)
/// >>> table.solve([1, 2, 3, 4, 5, 6, 0, 7, 8])
/// 'LL'
#[pyclass(frozen, module = "tilewave")]
pub struct DistanceTable {
    table: RwLock<Option<Arc<tilewave::DistanceTable>>>,
    /// Whether a lookup may wait for a file.
    lazy: bool,
    /// The file that the table was opened from, and how it was opened.
    file: Option<(PathBuf, &'static str)>,
}

impl DistanceTable {
    fn of(table: tilewave::DistanceTable) -> DistanceTable {
        DistanceTable { table: RwLock::new(Some(Arc::new(table))), lazy: false, file: None }
    }

    fn get(&self) -> PyResult<Arc<tilewave::DistanceTable>> {
        let table = self.table.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        table.clone().ok_or_else(|| closed("table"))
    }

    fn read(table: &tilewave::DistanceTable, states: &Bound<'_, PyAny>) -> PyResult<Rows> {
        let space = table.space();
        arrays::rows(states, form_of(space), &|text| space.row_of_text(text))
    }
}

/// A path to the goal: letters for a board, names of the generators for another puzzle.
#[derive(IntoPyObject)]
enum Way {
    Letters(String),
    Names(Vec<String>),
}

/// The path of one row.
fn way(table: &tilewave::DistanceTable, row: &[u16]) -> Result<Way, Error> {
    if let Some(size) = table.space().size() {
        let board = Board::new(size, row)?;
        return match table.solve(&board)? {
            Some(moves) => Ok(Way::Letters(moves.long(MoveStyle::Tile))),
            None => Err(table.unreached(table.space().state(&board)?)),
        };
    }
    let id = table.space().ids(row).map_err(|error| match error {
        Error::Row { reason, .. } => *reason,
        error => error,
    })?;
    let state = id.first().and_then(|&id| table.space().from_id(id));
    let puzzle = || table.space().name();
    let state = state.ok_or_else(|| PuzzleError::unreachable(puzzle()))?;
    match table.names(state)? {
        Some(names) => Ok(Way::Names(names.into_iter().map(String::from).collect())),
        None => Err(table.unreached(state)),
    }
}

#[pymethods]
impl DistanceTable {
    /// Searches a puzzle and stores the depth of every state.
    ///
    /// Cost: that of the search, plus one byte of memory per state (half of that with `"nibble"`, a quarter with
    /// `"mod3"`). 3x4 takes 0.24 GB and a second.
    ///
    /// Parameters
    /// ----------
    /// puzzle : str, os.PathLike or Puzzle
    ///     See `bfs`; every move needs an inverse.
    /// goal, metric, directed
    ///     See `bfs`.
    /// encoding : {"byte", "nibble", "mod3"}
    ///     "byte": one byte per state; a depth is one lookup. "nibble": four bits per state, for depths up to 14.
    ///     "mod3": two bits per state; a depth is found by walking to the goal, which takes a few microseconds.
    /// threads : int, optional
    /// memory : int or str, optional
    ///     Memory limit in bytes, or a size with a unit: "8GiB". The default is half of the free memory.
    /// progress : callable, optional
    ///     Called as progress(depth, states, seconds) after each level. An exception that it raises stops the build and
    ///     is raised again here.
    ///
    /// Returns
    /// -------
    /// DistanceTable
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If there is no such puzzle, or if some of its moves cannot be reversed.
    /// MemoryError
    ///     If the table and the search need more than `memory`.
    ///
    /// Examples
    /// --------
    /// >>> table = tilewave.DistanceTable.build("pancake:6")
    /// >>> table.solve([2, 1, 0, 3, 4, 5])
    /// ['F3']
    #[staticmethod]
    #[pyo3(signature = (puzzle, *, goal=None, metric=None, directed=false, encoding="byte", threads=None, memory=None, progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn build(
        py: Python<'_>,
        puzzle: &Bound<'_, PyAny>,
        goal: Option<&Bound<'_, PyAny>>,
        metric: Option<&str>,
        directed: bool,
        encoding: &str,
        #[pyo3(from_py_with = numbers::threads)] threads: Option<usize>,
        #[pyo3(from_py_with = numbers::memory)] memory: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<DistanceTable> {
        let subject = subject(puzzle, Counted { goal, metric, directed, ..Counted::default() })?;
        let search = Search::of(subject.numbered("a distance table")?.clone());
        let encoding = named(TableEncoding::NAMES, "encoding", encoding)?;
        let search = search.resources(Resources::new().threads(threads).memory_or_half(memory));
        let table = long(py, progress, |watch| {
            tilewave::DistanceTable::build_with(&search, encoding, watch)
        })?;
        Ok(DistanceTable::of(table))
    }

    /// Reads a table file.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    /// lazy : bool, default False
    ///     Read and check only the parts that are needed, a MiB around each lookup, and keep them in memory. This is
    ///     useful for a few lookups in a large table. By default, the whole file is read into memory and checked, at
    ///     about 0.3 ns per byte on two cores.
    /// mmap : bool, default False
    ///     Memory-map the file instead of reading it into memory. The whole file is checked. Processes that map the same
    ///     file share its memory. The file must not be truncated while it is open.
    ///
    /// Returns
    /// -------
    /// DistanceTable
    ///
    /// Raises
    /// ------
    /// OSError
    ///     FileNotFoundError and others, if the file cannot be read.
    /// ValueError
    ///     If the file is not a table, or is damaged.
    ///
    /// Examples
    /// --------
    /// >>> import os, tempfile
    /// >>> path = os.path.join(tempfile.mkdtemp(), "2x4.table")
    /// >>> tilewave.DistanceTable.build("2x4", encoding="mod3").save(path)
    /// >>> with tilewave.DistanceTable.open(path) as table:
    /// ...     table.depths("1 2 3 4/0 5 6 7")
    /// 3
    #[staticmethod]
    #[pyo3(signature = (path, *, lazy=false, mmap=false))]
    fn open(py: Python<'_>, path: PathBuf, lazy: bool, mmap: bool) -> PyResult<DistanceTable> {
        let how = match (lazy, mmap) {
            (true, true) => {
                return Err(invalid("lazy= and mmap= cannot be used together: leave out one"));
            }
            (true, _) => "lazy",
            _ => "mmap",
        };
        let table = long(py, None, |watch| {
            Ok(match how {
                "lazy" => tilewave::DistanceTable::open(&path)?,
                _ if mmap => tilewave::DistanceTable::map(&path, map(&path)?)?,
                _ => tilewave::DistanceTable::load_with(&path, watch)?,
            })
        })?;
        let file = Some((std::path::absolute(&path).unwrap_or(path), how));
        Ok(DistanceTable { lazy: lazy || mmap, file, ..DistanceTable::of(table) })
    }

    fn __reduce__<'py>(slf: &Bound<'py, DistanceTable>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        slf.get().get()?;
        let Some((path, how)) = &slf.get().file else {
            return Err(not_pickled("table"));
        };
        let option = (*how, slf.get().lazy);
        reopened(py, py.get_type::<DistanceTable>().into_any(), path, option)
    }

    /// Writes the table to a file. The file appears only once it is complete.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    /// replace : bool, default False
    ///     Replace an existing file.
    ///
    /// Raises
    /// ------
    /// FileExistsError
    ///     If the file exists.
    /// OSError
    ///     If the file cannot be written.
    ///
    /// Examples
    /// --------
    /// >>> import os, tempfile
    /// >>> path = os.path.join(tempfile.mkdtemp(), "2x3.table")
    /// >>> tilewave.DistanceTable.build("2x3").save(path)
    /// >>> os.path.getsize(path)
    /// 8552
    #[pyo3(signature = (path, *, replace=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, replace: bool) -> PyResult<()> {
        let table = self.get()?;
        long(py, None, |watch| Ok(table.save_with(&path, replace, watch)?))
    }

    /// Closes the table and frees its memory.
    ///
    /// Examples
    /// --------
    /// >>> table = tilewave.DistanceTable.build("2x3")
    /// >>> table.close()
    /// >>> table.closed
    /// True
    fn close(&self) {
        let mut table = self.table.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        *table = None;
    }

    /// Whether the table has been closed.
    #[getter]
    fn closed(&self) -> bool {
        self.get().is_err()
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.get().get()?;
        Ok(slf)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, pyo3::types::PyTuple>) {
        self.close();
    }

    /// Returns the minimum number of moves to the goal for many states.
    ///
    /// Takes about 40 ns of one core per state, or a few microseconds with the encoding "mod3"; from 2048 states on,
    /// all cores are used.
    ///
    /// Parameters
    /// ----------
    /// states : array-like of int, shape (.., cells) or (.., rows, columns); or str
    ///     For puzzles other than boards, the number of the element at each position, starting from 0.
    ///
    /// Returns
    /// -------
    /// int16 array of shape (..), or an int
    ///     -1 for states that cannot reach the goal, and for states that are missing because the table contains only
    ///     the first depths.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a row is not a state of the table's puzzle (the message names the first such row), or if the table is
    ///     closed.
    ///
    /// Examples
    /// --------
    /// >>> table = tilewave.DistanceTable.build("3x3")
    /// >>> table.depths(["8 6 7/2 5 4/3 0 1", "2 1 3/4 5 6/7 8 0"])
    /// array([31, -1], dtype=int16)
    /// >>> table.depths([[1, 2, 3, 4, 5, 6, 7, 8, 0], [1, 2, 3, 4, 5, 6, 7, 8, 8]])
    /// Traceback (most recent call last):
    ///     ...
    /// ValueError: row 1: tile 8 occurs twice and the blank is missing: every tile must occur exactly once
    fn depths<'py>(
        &self,
        py: Python<'py>,
        states: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let table = self.get()?;
        let rows = DistanceTable::read(&table, states)?;
        let numbers = (&rows.numbers[..], form_of(table.space()).width);
        let first = if self.lazy { 1 } else { FIRST };
        let found = for_rows(py, numbers, first, |states| table.depths(states))?;
        per_row(py, found.map_err(if rows.is_one() { of_one } else { exception })?, &rows)
    }

    /// Returns a shortest path to the goal, for one state or for each of many.
    ///
    /// Parameters
    /// ----------
    /// states : array-like of int, shape (cells,), (rows, columns) or (n, ..); or str
    ///
    /// Returns
    /// -------
    /// str, or list of str
    ///     For boards, one letter (U, D, L or R) for each move: the direction in which the tile moves. For other
    ///     puzzles, lists of the names of moves.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a row is not a state, cannot reach the goal, or is missing because the table contains only the first
    ///     depths (the message names the first such row), or if the table is closed.
    ///
    /// Examples
    /// --------
    /// >>> table = tilewave.DistanceTable.build("topspin:7,4")
    /// >>> table.solve([[1, 2, 3, 4, 5, 6, 0], [0, 1, 2, 3, 4, 5, 6]])
    /// [['R'], []]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        states: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let table = self.get()?;
        let rows = DistanceTable::read(&table, states)?;
        let width = form_of(table.space()).width;
        if !rows.is_one() && rows.shape.len() != 1 {
            return Err(invalid("pass one state or a one-dimensional sequence of states"));
        }
        let ways = long(py, None, |watch| {
            let mut ways = Vec::new();
            for (row, numbers) in rows.numbers.chunks_exact(width).enumerate() {
                if watch.interrupted() {
                    break;
                }
                ways.push(way(&table, numbers).map_err(|error| match rows.is_one() {
                    true => error,
                    false => Error::Row { row, reason: Box::new(error) },
                })?);
            }
            Ok(ways)
        })?;
        match rows.is_one() {
            true => ways.into_iter().next().into_pyobject(py),
            false => ways.into_bound_py_any(py),
        }
    }

    /// The name of the puzzle; for a board, its size.
    #[getter]
    fn puzzle(&self) -> PyResult<String> {
        Ok(self.get()?.space().name())
    }

    /// "stm" or "mtm" for a board, None for other puzzles.
    #[getter]
    fn metric(&self) -> PyResult<Option<&'static str>> {
        Ok(self.get()?.space().metric().map(Metric::name))
    }

    /// The state to be reached, (cells,) uint8.
    #[getter]
    fn goal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let goal = self.get()?.space().goal_row();
        let width = goal.len();
        arrays::boards(py, goal, &[width], width)
    }

    /// "byte", "nibble" or "mod3".
    #[getter]
    fn encoding(&self) -> PyResult<&'static str> {
        Ok(self.get()?.encoding().name())
    }

    /// The number of states at each depth, (depths,) uint64.
    #[getter]
    fn histogram<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        Ok(PyArray1::from_slice(py, self.get()?.histogram()))
    }

    /// A checksum of the entries.
    #[getter]
    fn checksum(&self) -> PyResult<u64> {
        Ok(self.get()?.checksum())
    }

    /// The size of the file in bytes.
    #[getter]
    fn nbytes(&self) -> PyResult<u64> {
        Ok(self.get()?.file_bytes())
    }

    fn __repr__(&self) -> String {
        match self.get() {
            Err(_) => "DistanceTable(closed)".into(),
            Ok(table) => {
                format!("DistanceTable(\"{}\", encoding=\"{}\")", table.space(), table.encoding())
            }
        }
    }
}
