//! Pattern databases.

use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use numpy::{PyArray1, ndarray::ArrayView1};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tilewave::pdb::{Build, Encoding, Kind, Pattern, Pdb};
use tilewave::{Error, Resources, Size};

use super::arrays::{self, Form, Rows, parse_board, per_row};
use super::errors::{closed, exception, invalid, named, not_pickled, of_one};
use super::numbers;
use super::puzzle::goal_board;
use super::work::{FIRST, for_rows, long, map, reopened};

/// An additive pattern database: lower bounds on the number of moves of a few tiles.
///
/// Created by `build` and `open`. Call a database to look up boards: ``db(boards)`` returns lower bounds on the number
/// of moves of the pattern's tiles. Values of databases without common tiles add up to a lower bound on the number of
/// moves that solve a board. A lookup takes about 20 ns of one core per board; from 2048 boards on, all cores are used.
/// A database can be closed, is a context manager, and may be used by several threads. It can be pickled if it was
/// opened from a file; another process then opens this file.
///
/// Parameters
/// ----------
/// boards : array-like of int, shape (.., cells) or (.., rows, columns); or str
///
/// Returns
/// -------
/// int16 array of shape (..), or an int
///     -1 where the pattern shows that the board cannot reach the goal.
///
/// Raises
/// ------
/// ValueError
///     If a row is not a board of the database's size (the message names the first such row), or if the database is
///     closed.
///
/// Examples
/// --------
/// >>> db = tilewave.PatternDatabase.build("3x3", [1, 2, 3, 4])
/// >>> db
/// PatternDatabase("3x3", tiles=[1, 2, 3, 4], kind="additive-min", encoding="byte")
/// >>> db.num_entries, db.maximum
/// (3024, 15)
/// >>> db("8 6 7/2 5 4/3 0 1")
/// 14
/// >>> db([[1, 2, 3, 4, 5, 6, 7, 8, 0], [8, 6, 7, 2, 5, 4, 3, 0, 1]])
/// array([ 0, 14], dtype=int16)
#[pyclass(frozen, module = "tilewave")]
pub struct PatternDatabase {
    pdb: RwLock<Option<Arc<Pdb>>>,
    /// The file that the database was opened from, and whether it is mapped.
    file: Option<(PathBuf, bool)>,
}

/// Maps a database file and checks all of it.
pub fn mapped(path: &Path) -> Result<Pdb, Error> {
    Ok(Pdb::map(path, map(path)?)?)
}

/// The owner of an array of values: a database that lives as long as the array.
#[pyclass(frozen, module = "tilewave")]
struct Values {
    pdb: Arc<Pdb>,
}

impl Values {
    /// Returns the values as an array that shares their memory.
    #[allow(unsafe_code)]
    fn array<'py>(py: Python<'py>, pdb: Arc<Pdb>) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let values = Bound::new(py, Values { pdb })?;
        let view = ArrayView1::from(values.get().pdb.bytes());
        // SAFETY: the array keeps `values`, which keeps the database, whose bytes neither move nor change as long as
        // it lives. Nobody writes through the array: it is made read-only before anyone has it, and numpy refuses to
        // make it writable again, because what it lies in offers no buffer that can be written.
        let array = unsafe { PyArray1::borrow_from_array(&view, values.clone().into_any()) };
        array.getattr("flags")?.setattr("writeable", false)?;
        Ok(array)
    }
}

impl PatternDatabase {
    pub fn of(pdb: Pdb) -> PatternDatabase {
        PatternDatabase { pdb: RwLock::new(Some(Arc::new(pdb))), file: None }
    }

    /// Returns the database; an error if it is closed.
    pub fn get(&self) -> PyResult<Arc<Pdb>> {
        let pdb = self.pdb.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        pdb.clone().ok_or_else(|| closed("database"))
    }

    fn look_up<'py, R>(
        &self,
        py: Python<'py>,
        boards: &Bound<'py, PyAny>,
        results: impl Fn(&Pdb, &[u16]) -> Result<Vec<R>, Error> + Send + Sync,
    ) -> PyResult<Bound<'py, PyAny>>
    where
        R: numpy::Element + Copy + Send + IntoPyObject<'py>,
    {
        let pdb = self.get()?;
        let size = pdb.pattern().size();
        let parse = |text: &str| Ok(parse_board(text, Some(size))?.tiles().to_vec());
        let rows: Rows = arrays::rows(boards, Form::board(size), &parse)?;
        let numbers = (&rows.numbers[..], size.cells());
        let found = for_rows(py, numbers, FIRST, |boards| results(&pdb, boards))?;
        per_row(py, found.map_err(if rows.is_one() { of_one } else { exception })?, &rows)
    }
}

#[pymethods]
impl PatternDatabase {
    /// Builds a database in memory. For five or more tiles, this takes about 4 ns of one core per entry, and twice the
    /// memory of the table.
    ///
    /// Parameters
    /// ----------
    /// size : str
    ///     The size of the board, "4x4"; each side at most 6.
    /// tiles : sequence of int
    ///     The tiles of the pattern, at most 8.
    /// goal : str or board, default "last"
    /// kind : {"additive-min", "region-aware", "all-moves"}
    ///     "additive-min": one value per placement of the tiles. "region-aware": one value per placement and region of
    ///     the blank; these values are larger, and they are consistent. "all-moves": one value per placement and cell
    ///     of the blank; every move counts, so these values cannot be added to others.
    /// encoding : {"byte", "bit"}
    ///     "byte": one byte per entry. "bit": one bit per entry, for region-aware values only; the value of a board is
    ///     then found by walking to the goal.
    /// threads : int, optional
    /// memory : int or str, optional
    ///     Memory limit in bytes, or a size with a unit: "8GiB". The default is half of the free memory.
    /// progress : callable, optional
    ///     Called as progress(value, entries, seconds) after each value. An exception that it raises stops the build
    ///     and is raised again here.
    ///
    /// Returns
    /// -------
    /// PatternDatabase
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the pattern is invalid.
    /// MemoryError
    ///     If the build needs more than `memory`.
    ///
    /// Examples
    /// --------
    /// >>> db = tilewave.PatternDatabase.build("4x4", [1, 2, 3], kind="region-aware")
    /// >>> db.maximum
    /// 16
    #[staticmethod]
    #[pyo3(signature = (size, tiles, *, goal=None, kind="additive-min", encoding="byte", threads=None, memory=None, progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn build(
        py: Python<'_>,
        #[pyo3(from_py_with = numbers::size)] size: Size,
        #[pyo3(from_py_with = numbers::tiles)] tiles: Vec<i64>,
        goal: Option<&Bound<'_, PyAny>>,
        kind: &str,
        encoding: &str,
        #[pyo3(from_py_with = numbers::threads)] threads: Option<usize>,
        #[pyo3(from_py_with = numbers::memory)] memory: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PatternDatabase> {
        let goal = goal_board(goal, size)?;
        let number = |&tile: &i64| {
            u16::try_from(tile).map_err(|_| {
                invalid(format!(
                    "tile {tile} of the pattern is not on a {size} board: its tiles are 1 to {}",
                    size.tiles()
                ))
            })
        };
        let tiles: Vec<u16> = tiles.iter().map(number).collect::<PyResult<_>>()?;
        let pattern = Pattern::new(goal, &tiles).map_err(exception)?;
        let build_it = Build::new(pattern)
            .kind(named(Kind::NAMES, "kind", kind)?)
            .encoding(named(Encoding::NAMES, "encoding", encoding)?)
            .resources(Resources::new().threads(threads).memory_or_half(memory));
        let pdb = long(py, progress, |watch| Ok(build_it.run_with(watch)?))?;
        Ok(PatternDatabase::of(pdb))
    }

    /// Reads a database file into memory, or maps it, and checks all of it.
    ///
    /// Cost: memory for the whole file, and about 0.3 ns per byte on two cores if the file is in the system's cache.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    /// mmap : bool, default False
    ///     Map the file instead of reading it: processes that open it share its memory. The file must not be truncated
    ///     while it is open: as with `numpy.memmap`, the system ends a process that reads beyond the new end.
    ///
    /// Returns
    /// -------
    /// PatternDatabase
    ///
    /// Raises
    /// ------
    /// OSError
    ///     FileNotFoundError and others, if the file cannot be read.
    /// ValueError
    ///     If the file is not a database, or is damaged.
    ///
    /// Examples
    /// --------
    /// >>> import os, tempfile
    /// >>> path = os.path.join(tempfile.mkdtemp(), "5.pdb")
    /// >>> tilewave.PatternDatabase.build("3x3", [1, 2, 3, 4, 5]).save(path)
    /// >>> with tilewave.PatternDatabase.open(path) as db:
    /// ...     db.tiles
    /// [1, 2, 3, 4, 5]
    #[staticmethod]
    #[pyo3(signature = (path, *, mmap=false))]
    fn open(py: Python<'_>, path: PathBuf, mmap: bool) -> PyResult<PatternDatabase> {
        let pdb = long(py, None, |watch| match mmap {
            true => mapped(&path),
            false => Ok(Pdb::load_with(&path, watch)?),
        })?;
        let file = Some((std::path::absolute(&path).unwrap_or(path), mmap));
        Ok(PatternDatabase { file, ..PatternDatabase::of(pdb) })
    }

    fn __reduce__<'py>(slf: &Bound<'py, PatternDatabase>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        slf.get().get()?;
        let Some((path, mmap)) = &slf.get().file else {
            return Err(not_pickled("database"));
        };
        reopened(py, py.get_type::<PatternDatabase>().into_any(), path, ("mmap", *mmap))
    }

    /// Writes the database to a file. The file appears only once it is complete.
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
    /// >>> path = os.path.join(tempfile.mkdtemp(), "2.pdb")
    /// >>> tilewave.PatternDatabase.build("3x3", [1, 2]).save(path)
    /// >>> os.path.getsize(path)
    /// 8264
    #[pyo3(signature = (path, *, replace=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, replace: bool) -> PyResult<()> {
        let pdb = self.get()?;
        long(py, None, |watch| Ok(pdb.save_with(&path, replace, watch)?))
    }

    /// Closes the database; its memory is freed when no array from `values` remains.
    ///
    /// Examples
    /// --------
    /// >>> db = tilewave.PatternDatabase.build("3x3", [1, 2])
    /// >>> db.close()
    /// >>> db.tiles
    /// Traceback (most recent call last):
    ///     ...
    /// ValueError: the database is closed
    fn close(&self) {
        let mut pdb = self.pdb.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        *pdb = None;
    }

    /// Whether the database has been closed.
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

    fn __call__<'py>(
        &self,
        py: Python<'py>,
        boards: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.look_up(py, boards, Pdb::values)
    }

    /// Returns the entry index of each board, so that ``db.values[db.entries(boards)]`` are the values.
    ///
    /// Parameters
    /// ----------
    /// boards : array-like of int, shape (.., cells) or (.., rows, columns); or str
    ///
    /// Returns
    /// -------
    /// uint64 array of shape (..), or an int
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     As when the database is called.
    ///
    /// Examples
    /// --------
    /// >>> db = tilewave.PatternDatabase.build("3x3", [1, 2, 3])
    /// >>> boards = tilewave.scramble("3x3", 100)
    /// >>> bool((db.values[db.entries(boards)] == db(boards)).all())
    /// True
    fn entries<'py>(
        &self,
        py: Python<'py>,
        boards: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.look_up(py, boards, Pdb::entries_of)
    }

    /// All values, (entries,) uint8: a read-only view of the database, not a copy. 255 where there is no value.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the encoding is not "byte", or if the database is closed.
    ///
    /// Examples
    /// --------
    /// >>> db = tilewave.PatternDatabase.build("3x3", [1, 2])
    /// >>> db.values.shape, int(db.values.max())
    /// ((72,), 7)
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let pdb = self.get()?;
        match pdb.encoding() {
            Encoding::Byte => Values::array(py, pdb),
            Encoding::Bit => Err(invalid(
                "a database with one bit per entry stores no values, only which neighbours are \
                 nearer to the goal: look up boards, or build one with encoding=\"byte\"",
            )),
        }
    }

    /// The number of entries.
    #[getter]
    fn num_entries(&self) -> PyResult<u64> {
        Ok(self.get()?.entries())
    }

    /// The pattern's tiles, in increasing order.
    #[getter]
    fn tiles(&self) -> PyResult<Vec<u16>> {
        Ok(self.get()?.pattern().tiles().to_vec())
    }

    /// Rows and columns of the board.
    #[getter]
    fn shape(&self) -> PyResult<(usize, usize)> {
        let size = self.get()?.pattern().size();
        Ok((size.rows(), size.cols()))
    }

    /// The goal, (cells,) uint8.
    #[getter]
    fn goal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pdb = self.get()?;
        let goal = pdb.pattern().goal().tiles().to_vec();
        let width = goal.len();
        arrays::boards(py, goal, &[width], width)
    }

    /// "additive-min", "region-aware" or "all-moves".
    #[getter]
    fn kind(&self) -> PyResult<&'static str> {
        Ok(self.get()?.kind().name())
    }

    /// "byte" or "bit".
    #[getter]
    fn encoding(&self) -> PyResult<&'static str> {
        Ok(self.get()?.encoding().name())
    }

    /// The number of entries with each value, (maximum + 1,) uint64.
    #[getter]
    fn histogram<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        Ok(PyArray1::from_slice(py, self.get()?.histogram()))
    }

    /// The largest value.
    #[getter]
    fn maximum(&self) -> PyResult<u8> {
        Ok(self.get()?.maximum())
    }

    /// The mean of all values.
    #[getter]
    fn mean(&self) -> PyResult<f64> {
        Ok(self.get()?.mean())
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
            Err(_) => "PatternDatabase(closed)".into(),
            Ok(pdb) => format!(
                "PatternDatabase(\"{}\", tiles={:?}, kind=\"{}\", encoding=\"{}\")",
                pdb.pattern().size(),
                pdb.pattern().tiles(),
                pdb.kind(),
                pdb.encoding()
            ),
        }
    }
}
