//! Searches and what they find.

use std::path::{Path, PathBuf};

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyString;
use tilewave::internals::{Io, Storage};
use tilewave::puzzle::{Metric, StateSpace};
use tilewave::report::{Chart, Report, one_key_per_line};
use tilewave::search::disk::{Directories, Disk};
use tilewave::search::{Engine, Outcome, Search};
use tilewave::{Board, Directory, Resources};

use super::errors::{exception, invalid};
use super::puzzle::{Counted, form_of, of_generators, space, states_of};
use super::work::long;
use super::{arrays, numbers};

/// What a search found: one count and one checksum per depth, and how it was computed.
///
/// `print` shows the table and the summary of the command line, a notebook the chart.
///
/// Examples
/// --------
/// >>> result = tilewave.bfs("3x3")
/// >>> result
/// SearchResult("3x3", states=181440, diameter=31, antipodes=2)
/// >>> result.counts[:6]
/// array([ 1,  2,  4,  8, 16, 20], dtype=uint64)
/// >>> result.last
/// array([[6, 4, 7, 8, 5, 0, 3, 2, 1],
///        [8, 6, 7, 2, 5, 4, 3, 0, 1]], dtype=uint8)
#[pyclass(frozen, module = "tilewave")]
pub struct SearchResult {
    outcome: Outcome,
}

#[pymethods]
impl SearchResult {
    /// What the puzzle is called: the size of a board.
    #[getter]
    fn puzzle(&self) -> String {
        self.outcome.space.name()
    }

    /// "stm" or "mtm" of a board, None for other puzzles.
    #[getter]
    fn metric(&self) -> Option<&'static str> {
        self.outcome.space.metric().map(Metric::name)
    }

    /// The goal in the puzzle's own words.
    #[getter]
    fn goal(&self) -> String {
        self.outcome.space.goal_text()
    }

    /// The state at depth 0 in the puzzle's own words.
    #[getter]
    fn start(&self) -> String {
        self.outcome.space.start_text()
    }

    /// States at each depth, (depths,) uint64.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_slice(py, &self.outcome.counts)
    }

    /// A checksum of the set of states of each depth, (depths,) uint64: equal sets have equal ones, whatever engine
    /// found them.
    #[getter]
    fn checksums<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_slice(py, &self.outcome.checksums)
    }

    /// Wall time of each depth in seconds, (depths,) float64.
    #[getter]
    fn level_seconds<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.outcome.level_seconds)
    }

    /// The largest depth (God's number), None when the search stopped early.
    #[getter]
    fn diameter(&self) -> Option<usize> {
        self.outcome.diameter()
    }

    /// The number of states at the largest depth, None when the search stopped early.
    #[getter]
    fn antipodes(&self) -> Option<u64> {
        self.outcome.antipodes()
    }

    /// States of the last depth, (k, cells) uint8: the antipodes of a complete search, at most `keep_last` of them.
    /// Of other puzzles than boards the number of the element at each position.
    #[getter]
    fn last<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let space = &self.outcome.space;
        let ids: Vec<u64> = self.outcome.last.iter().map(|&state| space.id(state)).collect();
        let (numbers, width) = states_of(&self.outcome.space, &ids)?;
        arrays::boards(py, numbers, &[ids.len(), width], width)
    }

    /// Whether the search ran until no new state was found.
    #[getter]
    fn complete(&self) -> bool {
        self.outcome.complete
    }

    /// The number of states found.
    #[getter]
    fn total(&self) -> u64 {
        self.outcome.total()
    }

    /// The number of states that there are to reach.
    #[getter]
    fn states(&self) -> u64 {
        self.outcome.states
    }

    /// The mean depth of the states found.
    #[getter]
    fn mean_depth(&self) -> f64 {
        self.outcome.mean_depth()
    }

    /// Wall time of the search in seconds.
    #[getter]
    fn seconds(&self) -> f64 {
        self.outcome.seconds
    }

    /// The engine that ran: "sweep", "reference" or "disk".
    #[getter]
    fn engine(&self) -> &'static str {
        self.outcome.engine.name()
    }

    /// Worker threads.
    #[getter]
    fn threads(&self) -> usize {
        self.outcome.threads
    }

    /// Returns everything that the command line writes as JSON: a dict of lists, numbers and texts.
    ///
    /// Checksums are texts of 16 hexadecimal digits; "agrees_with" names the publications that every level agrees
    /// with.
    ///
    /// Examples
    /// --------
    /// >>> found = tilewave.bfs("3x3").to_dict()
    /// >>> found["diameter"], found["agrees_with"]
    /// (31, 'OEIS A089473; ...')
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = one_key_per_line(&Report::new(&self.outcome).json());
        py.import("json")?.call_method1("loads", (text,))
    }

    /// Returns the chart as SVG: a linear and a logarithmic panel. Needs no other package.
    ///
    /// Examples
    /// --------
    /// >>> tilewave.bfs("3x3").svg()[:4]
    /// '<svg'
    fn svg(&self) -> String {
        Chart::of(&self.outcome).svg()
    }

    /// Draws the distribution with matplotlib and returns the axes.
    ///
    /// Parameters
    /// ----------
    /// ax : matplotlib.axes.Axes, optional
    ///     Where to draw; new axes without it.
    /// log : bool, default False
    ///     A logarithmic axis of states.
    /// **options
    ///     Passed to ``Axes.bar``.
    ///
    /// Raises
    /// ------
    /// ImportError
    ///     When matplotlib is not there; `svg` needs none.
    ///
    /// Examples
    /// --------
    /// >>> axes = tilewave.bfs("3x3").plot(log=True)
    /// >>> axes.get_xlabel()
    /// 'depth'
    #[pyo3(signature = (ax=None, *, log=false, **options))]
    fn plot<'py>(
        slf: &Bound<'py, SearchResult>,
        ax: Option<Bound<'py, PyAny>>,
        log: bool,
        options: Option<&Bound<'py, pyo3::types::PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let draw = slf.py().import("tilewave._plot")?.getattr("distribution")?;
        draw.call((slf, ax, log), options)
    }

    fn _repr_html_(&self) -> String {
        let escaped = format!("{self}").replace('&', "&amp;").replace('<', "&lt;");
        format!(
            "<figure style=\"margin:0\">{}<figcaption><code>{escaped}</code></figcaption></figure>",
            self.svg()
        )
    }

    fn __str__(&self) -> String {
        Report::new(&self.outcome).text()
    }

    fn __repr__(&self) -> String {
        self.to_string()
    }
}

impl std::fmt::Display for SearchResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = &self.outcome;
        write!(f, "SearchResult(\"{}\", states={}", of.space, of.total())?;
        match (of.diameter(), of.antipodes()) {
            (Some(diameter), Some(antipodes)) => {
                write!(f, ", diameter={diameter}, antipodes={antipodes})")
            }
            _ => write!(f, ", stopped after depth {})", of.counts.len().saturating_sub(1)),
        }
    }
}

/// How a search runs.
struct Running {
    max_depth: Option<usize>,
    engine: Option<String>,
    threads: Option<usize>,
    memory: Option<u64>,
    keep_last: usize,
    disk: Option<Disk>,
}

impl Running {
    fn run(
        self,
        py: Python<'_>,
        space: StateSpace,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<SearchResult> {
        let resources = Resources::new().threads(self.threads).memory_or_half(self.memory);
        let search = Search::of(space).max_depth(self.max_depth).keep_last(self.keep_last);
        let mut search = search.resources(resources);
        search.engine = match self.engine.as_deref() {
            None => None,
            Some("sweep") => Some(Engine::Sweep),
            Some("reference") => Some(Engine::Reference),
            Some(other) => {
                return Err(invalid(format!(
                    "'{other}' is not an engine: choose sweep or reference"
                )));
            }
        };
        if self.disk.is_some() && search.engine == Some(Engine::Reference) {
            return Err(invalid("dir= needs the sweep engine"));
        }
        let outcome = long(py, progress, |watch| match &self.disk {
            Some(disk) => disk.run_with(&search, watch),
            None => search.run_with(watch),
        })?;
        Ok(SearchResult { outcome })
    }
}

/// Returns the searches on disk in one directory or several.
fn on_disk(dir: &Bound<'_, PyAny>, keep_levels: &str) -> PyResult<Disk> {
    let one = dir.extract::<PathBuf>().map(|path| vec![path]);
    let paths = one.or_else(|_| dir.extract::<Vec<PathBuf>>())?;
    if paths.is_empty() {
        return Err(invalid("dir= names no directory"));
    }
    let open = |path: &PathBuf| -> PyResult<Box<dyn Storage>> {
        Ok(Box::new(Directory::create(Path::new(path), Io::Read)?))
    };
    let storages: PyResult<Vec<_>> = paths.iter().map(open).collect();
    let mut disk = Disk::new(Directories::new(storages?));
    disk.keep_all = match keep_levels {
        "last" => false,
        "all" => true,
        other => {
            return Err(invalid(format!(
                "'{other}' is not what levels can be kept: choose last or all"
            )));
        }
    };
    Ok(disk)
}

/// Returns a state space with another state at depth 0.
fn starting_at(space: StateSpace, start: Option<&Bound<'_, PyAny>>) -> PyResult<StateSpace> {
    let Some(start) = start else {
        return Ok(space);
    };
    let text = match start.cast::<PyString>() {
        Ok(text) => text.to_string(),
        Err(_) => {
            let rows = arrays::rows(start, form_of(&space), &|text| space.row_of_text(text))?;
            if !rows.is_one() {
                return Err(invalid("a start is one state, not an array of some"));
            }
            words(&space, &rows.numbers)?
        }
    };
    space.starting_at(&text).map_err(exception)
}

/// Returns a state in the puzzle's own words.
fn words(space: &StateSpace, numbers: &[u16]) -> PyResult<String> {
    if let Some(size) = space.size() {
        return Ok(Board::new(size, numbers).map_err(exception)?.to_string());
    }
    let labels = space.definition().map_or(&[][..], |of| of.labels());
    let label = |&number: &u16| match labels.get(usize::from(number)) {
        Some(label) => Ok(label.to_string()),
        None => Err(invalid(format!("{number} is no element: they are 0 to {}", labels.len() - 1))),
    };
    Ok(numbers.iter().map(label).collect::<PyResult<Vec<_>>>()?.join(" "))
}

/// Searches a board or another puzzle completely: how many states there are at each depth.
///
/// In memory 1.2 bits per state: 3x4 takes 0.04 GB and some 0.2 s on two cores, 2x7 6.7 GB and half a minute. The
/// interpreter is free meanwhile; Ctrl-C stops the search. At most 16 cells.
///
/// Parameters
/// ----------
/// puzzle : str, os.PathLike or Puzzle
///     Size of a board ("3x4"), member of a family ("topspin:12,4"), or a file (.gap, .tws, .def, .kpuzzle.json).
/// goal : str or board, optional
///     Of boards: "last" (the default), "first", "blank=4", or a board.
/// metric : {"stm", "mtm"}, optional
///     Of boards: one tile is one move (the default), or any number of tiles in a line.
/// start : str or state, optional
///     The state at depth 0; the goal without it.
/// max_depth : int, optional
///     The last depth to compute.
/// directed, quarter : bool, default False
///     Of files: add no inverses; powers of a move are no moves.
/// engine : {"sweep", "reference"}, optional
///     The fastest that can run the puzzle without it.
/// threads : int, optional
///     One per core without it.
/// memory : int, optional
///     Most bytes; half of what is free without it.
/// keep_last : int, default 1000
///     Most states of the last depth to return as `SearchResult.last`.
/// dir : path or list of paths, optional
///     Search on disk, in this directory; a search that is there already is continued. Boards only.
/// keep_levels : {"last", "all"}, default "last"
///     Which levels stay on disk.
/// progress : callable, optional
///     Called as progress(depth, states, seconds) after each level. What it raises ends the search and is raised.
///
/// Returns
/// -------
/// SearchResult
///
/// Raises
/// ------
/// ValueError
///     When there is no such puzzle, or the start cannot reach the goal.
/// MemoryError
///     When the search needs more than `memory`.
/// OSError
///     When the directory cannot be used.
/// KeyboardInterrupt
///     On Ctrl-C. A search on disk goes on with the next call.
///
/// Examples
/// --------
/// >>> result = tilewave.bfs("3x3", metric="mtm")
/// >>> result.diameter, int(result.counts.sum())
/// (24, 181440)
/// >>> tilewave.bfs("topspin:8,4", max_depth=3).counts
/// array([ 1,  3,  6, 12], dtype=uint64)
#[pyfunction]
#[pyo3(signature = (puzzle, *, goal=None, metric=None, start=None, max_depth=None, directed=false, quarter=false, engine=None, threads=None, memory=None, keep_last=1000, dir=None, keep_levels="last", progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn bfs(
    py: Python<'_>,
    puzzle: &Bound<'_, PyAny>,
    goal: Option<&Bound<'_, PyAny>>,
    metric: Option<&str>,
    start: Option<&Bound<'_, PyAny>>,
    #[pyo3(from_py_with = numbers::max_depth)] max_depth: Option<usize>,
    directed: bool,
    quarter: bool,
    engine: Option<String>,
    #[pyo3(from_py_with = numbers::threads)] threads: Option<usize>,
    #[pyo3(from_py_with = numbers::memory)] memory: Option<u64>,
    #[pyo3(from_py_with = numbers::keep_last)] keep_last: usize,
    dir: Option<&Bound<'_, PyAny>>,
    keep_levels: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<SearchResult> {
    let space = space(puzzle, Counted { goal, metric, directed, quarter })?;
    let space = starting_at(space, start)?;
    let disk = dir.map(|dir| on_disk(dir, keep_levels)).transpose()?;
    Running { max_depth, engine, threads, memory, keep_last, disk }.run(py, space, progress)
}

/// Searches the Cayley graph of some permutations completely: its growth function.
///
/// Parameters
/// ----------
/// generators : (moves, positions) array of int
///     Exactly these are the moves, in either convention: the counts are the same for ``state[p]`` and for its
///     inverse. At most 16 positions and 1024 moves.
/// names : list of str, optional
///     What the moves are called.
/// inverses : bool, default False
///     Add the inverse of every move that is not there.
/// name : str, default "generators"
///     What the puzzle is called.
/// max_depth, threads, memory, keep_last, progress
///     As of `bfs`.
///
/// Returns
/// -------
/// SearchResult
///     Its `states` is the order of the group.
///
/// Raises
/// ------
/// ValueError
///     Names the first row that is no permutation.
/// MemoryError
///     When the search needs more than `memory`.
///
/// Examples
/// --------
/// >>> result = tilewave.growth([[1, 2, 0], [1, 0, 2]])
/// >>> result.counts, result.diameter
/// (array([1, 2, 3], dtype=uint64), 2)
#[pyfunction]
#[pyo3(signature = (generators, *, names=None, inverses=false, name="generators", max_depth=None, threads=None, memory=None, keep_last=1000, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn growth(
    py: Python<'_>,
    generators: &Bound<'_, PyAny>,
    names: Option<Vec<String>>,
    inverses: bool,
    name: &str,
    #[pyo3(from_py_with = numbers::max_depth)] max_depth: Option<usize>,
    #[pyo3(from_py_with = numbers::threads)] threads: Option<usize>,
    #[pyo3(from_py_with = numbers::memory)] memory: Option<u64>,
    #[pyo3(from_py_with = numbers::keep_last)] keep_last: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<SearchResult> {
    let space = StateSpace::of_puzzle(of_generators(generators, names, inverses, name)?);
    Running { max_depth, engine: None, threads, memory, keep_last, disk: None }
        .run(py, space, progress)
}
