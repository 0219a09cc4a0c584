//! Searches and their results.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};
use tilewave::frontier::FrontierSearch;
use tilewave::internals::{Io, Storage, lists_instead};
use tilewave::puzzle::StateSpace;
use tilewave::report::{Chart, Report, described, identity, one_key_per_line};
use tilewave::search::disk::{Directories, Disk};
use tilewave::search::{Engine, Outcome, Search};
use tilewave::{Board, Directory, Resources, SystemError};

use super::errors::{exception, invalid, of_type};
use super::listed::Listed;
use super::puzzle::{Counted, Made, Subject, form_of, integer, of_generators, states_of, subject};
use super::work::long;
use super::{arrays, numbers};

/// The engine of list searches.
const LISTS: &str = "frontier";
/// The number of states of the last depth that are kept by default.
const KEPT: usize = 1000;

/// The result of a search, whichever engine it used: plain values, which can be pickled.
#[derive(Clone, FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
struct Found {
    puzzle: String,
    title: String,
    metric: Option<String>,
    goal: String,
    start: String,
    counts: Vec<u64>,
    reduced: Option<Vec<u64>>,
    checksums: Vec<u64>,
    level_seconds: Vec<f64>,
    complete: bool,
    states: Option<String>,
    mean_depth: f64,
    seconds: f64,
    engine: String,
    threads: usize,
    symmetries: usize,
    all_symmetries: Option<String>,
    published: Option<String>,
    last: Vec<u16>,
    width: usize,
    words: String,
    json: String,
}

impl Found {
    /// The result of a search; a list search was one of the puzzle `listed`.
    fn of(outcome: &Outcome, listed: Option<&Listed>) -> PyResult<Found> {
        let report = Report::new(outcome);
        let keys = identity(&outcome.searched);
        let text = |key: &str| keys[key].as_str().unwrap_or_default().to_string();
        let (last, width) = match (listed, outcome.space()) {
            (Some(listed), _) => {
                let rows = outcome.last.listed().iter().flat_map(|state| listed.row(state));
                (rows.collect(), listed.form().width)
            }
            (None, Some(space)) => {
                let states = outcome.last.numbered().iter();
                states_of(space, &states.map(|&state| space.id(state)).collect::<Vec<u64>>())?
            }
            (None, None) => return Err(invalid("a list search has a puzzle")),
        };
        let agrees = report.published.as_ref().filter(|_| report.difference.is_none());
        let metric = keys["metric"].as_str().map(String::from);
        Ok(Found {
            puzzle: text("puzzle"),
            title: match listed {
                Some(_) => described(&outcome.searched),
                None => outcome.searched.to_string(),
            },
            metric: listed.and_then(|listed| listed.metric.clone()).or(metric),
            goal: text("goal"),
            start: text("start"),
            counts: outcome.counts.clone(),
            reduced: outcome.reduced().map(<[u64]>::to_vec),
            checksums: outcome.checksums.clone(),
            level_seconds: outcome.level_seconds.clone(),
            complete: outcome.complete,
            states: outcome.states.as_ref().map(ToString::to_string),
            mean_depth: outcome.mean_depth(),
            seconds: outcome.seconds,
            engine: outcome.engine.name().into(),
            threads: outcome.threads,
            symmetries: outcome.symmetries(),
            all_symmetries: outcome
                .lists
                .as_ref()
                .and_then(|lists| Some(lists.all_symmetries.as_ref()?.to_string())),
            published: agrees.map(|published| published.citation()),
            last,
            width,
            words: report.text(),
            json: one_key_per_line(&report.json()),
        })
    }
}

/// The result of a search: one count and one checksum per depth, and information on how they were computed.
///
/// `print` shows the same table and summary as the command line; a notebook shows the chart. Results can be pickled.
///
/// Examples
/// --------
/// >>> result = tilewave.bfs("3x3")
/// >>> result
/// SearchResult("3x3", num_found=181440, diameter=31, antipodes=2)
/// >>> result.counts[:6]
/// array([ 1,  2,  4,  8, 16, 20], dtype=uint64)
/// >>> result.last_layer
/// array([[6, 4, 7, 8, 5, 0, 3, 2, 1],
///        [8, 6, 7, 2, 5, 4, 3, 0, 1]], dtype=uint8)
#[pyclass(frozen, module = "tilewave")]
pub struct SearchResult {
    found: Found,
    /// Arrays that are created once: counts, checksums, seconds, states up to symmetry.
    arrays: [PyOnceLock<Py<PyAny>>; 4],
}

impl SearchResult {
    fn new(found: Found) -> SearchResult {
        SearchResult { found, arrays: [const { PyOnceLock::new() }; 4] }
    }

    /// The result for states of a puzzle with several sets of pieces.
    pub fn of_listed(outcome: &Outcome, listed: &Listed) -> PyResult<SearchResult> {
        Ok(SearchResult::new(Found::of(outcome, Some(listed))?))
    }

    fn fixed<T: numpy::Element>(
        &self,
        py: Python<'_>,
        which: usize,
        of: &[T],
    ) -> PyResult<Py<PyAny>> {
        let made = || arrays::fixed(py, of).map(Bound::unbind);
        self.arrays[which].get_or_try_init(py, made).map(|array| array.clone_ref(py))
    }
}

#[pymethods]
impl SearchResult {
    /// The name of the puzzle; for a board, its size.
    #[getter]
    fn puzzle(&self) -> &str {
        &self.found.puzzle
    }

    /// "stm" or "mtm" for a board; "htm", "qtm", "slice", "axial" or "directed" for other puzzles that are searched with lists; else None.
    #[getter]
    fn metric(&self) -> Option<&str> {
        self.found.metric.as_deref()
    }

    /// The goal in the puzzle's own notation.
    #[getter]
    fn goal(&self) -> &str {
        &self.found.goal
    }

    /// The state at depth 0 in the puzzle's own notation.
    #[getter]
    fn start(&self) -> &str {
        &self.found.start
    }

    /// The number of states at each depth, (depths,) uint64: a read-only array.
    #[getter]
    fn counts(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.fixed(py, 0, &self.found.counts)
    }

    /// The number of states at each depth up to symmetry, (depths,) uint64, if the search used all symmetries of the
    /// puzzle; None otherwise.
    #[getter]
    fn counts_up_to_symmetry(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.found.reduced.as_ref().map(|reduced| self.fixed(py, 3, reduced)).transpose()
    }

    /// A checksum of the set of states at each depth, (depths,) uint64. Equal sets have equal checksums, except that the
    /// engine "frontier" has checksums of its own.
    #[getter]
    fn checksums(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.fixed(py, 1, &self.found.checksums)
    }

    /// Wall-clock time for each depth in seconds, (depths,) float64.
    #[getter]
    fn level_seconds(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.fixed(py, 2, &self.found.level_seconds)
    }

    /// The largest depth (God's number); None if the search stopped early.
    #[getter]
    fn diameter(&self) -> Option<usize> {
        self.found.complete.then(|| self.found.counts.len() - 1)
    }

    /// The number of states at the largest depth; None if the search stopped early.
    #[getter]
    fn antipodes(&self) -> Option<u64> {
        self.found.counts.last().copied().filter(|_| self.found.complete)
    }

    /// States at the last depth, (k, positions) uint8: the antipodes if the search is complete; at most `keep_last` of
    /// them. Empty if a list search only counted the last depth.
    #[getter]
    fn last_layer<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Found { last, width, .. } = &self.found;
        arrays::boards(py, last.clone(), &[last.len() / width, *width], *width)
    }

    /// Whether the search found all states.
    #[getter]
    fn complete(&self) -> bool {
        self.found.complete
    }

    /// The number of states found.
    #[getter]
    fn num_found(&self) -> u64 {
        self.found.counts.iter().sum()
    }

    /// The number of reachable states; None if it is not known.
    #[getter]
    fn num_states<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.found.states.as_ref().map(|digits| integer(py, digits)).transpose()
    }

    /// The mean depth of the states found.
    #[getter]
    fn mean_depth(&self) -> f64 {
        self.found.mean_depth
    }

    /// Wall-clock time of the search in seconds.
    #[getter]
    fn seconds(&self) -> f64 {
        self.found.seconds
    }

    /// The engine that ran: "sweep", "reference" or "disk" for numbered states, "frontier" for lists, "solver" for
    /// `PuzzleSolver.distribution`.
    #[getter]
    fn engine(&self) -> &str {
        &self.found.engine
    }

    /// The number of worker threads.
    #[getter]
    fn threads(&self) -> usize {
        self.found.threads
    }

    /// The number of symmetries of the puzzle that the search used; 1 if none.
    #[getter]
    fn symmetries(&self) -> usize {
        self.found.symmetries
    }

    /// The number of all symmetries of the puzzle; None if it is not known or the search did not use lists.
    #[getter]
    fn all_symmetries<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.found.all_symmetries.as_ref().map(|digits| integer(py, digits)).transpose()
    }

    /// The publications whose counts agree with every level; None if there are none or if a level differs.
    #[getter]
    fn published(&self) -> Option<&str> {
        self.found.published.as_deref()
    }

    /// Returns the levels as a dict of arrays of equal length, which pandas, polars and pyarrow accept directly.
    ///
    /// The keys are depth, states, cumulative, seconds, checksum, and, if the search used all symmetries,
    /// states_up_to_symmetry.
    ///
    /// Examples
    /// --------
    /// >>> levels = tilewave.bfs("2x2").levels()
    /// >>> levels["depth"], levels["cumulative"]
    /// (array([0, 1, 2, 3, 4, 5, 6], dtype=uint64), array([ 1,  3,  5,  7,  9, 11, 12], dtype=uint64))
    fn levels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = &self.found.counts;
        let sums = counts.iter().scan(0, |sum, states| {
            *sum += states;
            Some(*sum)
        });
        let (depths, sums): (Vec<u64>, Vec<u64>) = (0..counts.len() as u64).zip(sums).unzip();
        let levels = PyDict::new(py);
        levels.set_item("depth", arrays::shaped(py, depths, &[counts.len()])?)?;
        levels.set_item("states", self.counts(py)?)?;
        if let Some(reduced) = self.counts_up_to_symmetry(py)? {
            levels.set_item("states_up_to_symmetry", reduced)?;
        }
        levels.set_item("cumulative", arrays::shaped(py, sums, &[counts.len()])?)?;
        levels.set_item("seconds", self.level_seconds(py)?)?;
        levels.set_item("checksum", self.checksums(py)?)?;
        Ok(levels)
    }

    /// Returns everything that the command line writes as JSON: a dict of lists, numbers and strings.
    ///
    /// Checksums are strings of 16 hexadecimal digits.
    ///
    /// Examples
    /// --------
    /// >>> found = tilewave.bfs("3x3").to_dict()
    /// >>> found["diameter"], found["agrees_with"]
    /// (31, 'OEIS A089473; ...')
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (&self.found.json,))
    }

    /// Returns the chart as SVG: a linear and a logarithmic panel. Needs no other packages.
    ///
    /// Examples
    /// --------
    /// >>> tilewave.bfs("3x3").svg()[:4]
    /// '<svg'
    fn svg(&self) -> String {
        let Found { title, counts, complete, .. } = &self.found;
        Chart::new(title.clone(), counts, *complete).svg()
    }

    /// Draws the distribution with matplotlib and returns the axes.
    ///
    /// Parameters
    /// ----------
    /// ax : matplotlib.axes.Axes, optional
    ///     Where to draw; new axes if omitted.
    /// log : bool, default False
    ///     Use a logarithmic axis for the number of states.
    /// **options
    ///     Passed to ``Axes.bar``.
    ///
    /// Raises
    /// ------
    /// ImportError
    ///     If matplotlib is not installed; `svg` does not need it.
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

    fn __reduce__<'py>(slf: &Bound<'py, SearchResult>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let maker = py.get_type::<SearchResult>().getattr("_of_parts")?;
        (maker, (slf.get().found.clone(),)).into_pyobject(py)
    }

    #[staticmethod]
    fn _of_parts(parts: Found) -> SearchResult {
        SearchResult::new(parts)
    }

    fn __str__(&self) -> String {
        self.found.words.clone()
    }

    fn __repr__(&self) -> String {
        self.to_string()
    }
}

impl std::fmt::Display for SearchResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SearchResult(\"{}\", num_found={}", self.found.title, self.num_found())?;
        match (self.diameter(), self.antipodes()) {
            (Some(diameter), Some(antipodes)) => {
                write!(f, ", diameter={diameter}, antipodes={antipodes})")
            }
            _ => write!(f, ", stopped after depth {})", self.found.counts.len().saturating_sub(1)),
        }
    }
}

/// The options for running a search.
struct Running {
    max_depth: Option<usize>,
    count_ahead: usize,
    symmetry: bool,
    engine: Option<String>,
    resources: Resources,
    keep_last: Option<usize>,
    disk: Option<Disk>,
}

impl Running {
    fn run(
        self,
        py: Python<'_>,
        subject: Subject,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<SearchResult> {
        let space = match &subject {
            Subject::Listed(listed) => return self.by_lists(py, listed, progress),
            Subject::Numbered(space) => space,
        };
        if self.engine.as_deref() == Some(LISTS) {
            return self.by_lists(py, &*subject.listed()?, progress);
        }
        let engine = match self.engine.as_deref() {
            None => None,
            Some("sweep") => Some(Engine::Sweep),
            Some("reference") => Some(Engine::Reference),
            Some(other) => {
                return Err(invalid(format!(
                    "'{other}' is not an engine: choose sweep, reference or frontier"
                )));
            }
        };
        let search = Search::of(space.clone()).max_depth(self.max_depth).resources(self.resources);
        let search = search.engine(engine);
        let directories = self.disk.as_ref().map(|disk| &disk.directories);
        let lists = lists_instead(&search, engine.is_some(), directories.is_some(), directories);
        if lists.map_err(exception)?.is_some() {
            return self.by_lists(py, &*subject.listed()?, progress);
        }
        if self.count_ahead > 0 || !self.symmetry {
            return Err(invalid(format!(
                "count_ahead= and symmetry= are for list searches, but the states of {space} are \
                 numbered"
            )));
        }
        let search = search.keep_last(self.keep_last.unwrap_or(KEPT));
        if self.disk.is_some() && search.engine == Some(Engine::Reference) {
            return Err(invalid("dir= does not work with the reference engine"));
        }
        let outcome = long(py, progress, |watch| match &self.disk {
            Some(disk) => disk.run_with(&search, watch),
            None => search.run_with(watch),
        })?;
        Ok(SearchResult::new(Found::of(&outcome, None)?))
    }

    fn by_lists(
        self,
        py: Python<'_>,
        listed: &Listed,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<SearchResult> {
        let puzzle = &listed.puzzle;
        if let Some(engine) = self.engine.filter(|engine| engine != LISTS) {
            return Err(invalid(format!(
                "engine=\"{engine}\" is for numbered states, but {puzzle} needs a list search: leave it out"
            )));
        }
        if self.count_ahead > 0 && self.max_depth.is_none() {
            return Err(invalid("count_ahead= needs max_depth="));
        }
        let search = FrontierSearch::new(puzzle.clone())
            .max_depth(self.max_depth)
            .count_ahead(self.count_ahead)
            .symmetry(self.symmetry)
            // The last depth of a search that is not complete is counted, unless its states are wanted.
            .keep_last(self.keep_last.unwrap_or(if self.max_depth.is_none() { KEPT } else { 0 }))
            .resources(self.resources);
        let outcome = long(py, progress, |watch| match &self.disk {
            Some(disk) => disk.run_with(&search, watch),
            None => search.run_with(watch),
        })?;
        SearchResult::of_listed(&outcome, listed)
    }
}

/// Returns the disk search in one directory or several.
fn on_disk(dir: &Bound<'_, PyAny>, keep_levels: &str) -> PyResult<Disk> {
    let one = dir.extract::<PathBuf>().map(|path| vec![path]);
    let paths = one.or_else(|_| dir.extract::<Vec<PathBuf>>());
    let paths = paths.map_err(|_| of_type("dir", "a path or a list of paths", dir))?;
    if paths.is_empty() {
        return Err(invalid("dir= is an empty list: specify a directory"));
    }
    let open = |path: &PathBuf| -> PyResult<Box<dyn Storage>> {
        let directory = Directory::create(Path::new(path), Io::Read);
        Ok(Box::new(directory.map_err(|error| exception(SystemError::unopened(path)(error)))?))
    };
    let storages: PyResult<Vec<_>> = paths.iter().map(open).collect();
    let mut disk = Disk::new(Directories::new(storages?));
    disk.keep_all = match keep_levels {
        "last" => false,
        "all" => true,
        other => {
            return Err(invalid(format!(
                "'{other}' is not a valid keep_levels: choose last or all"
            )));
        }
    };
    Ok(disk)
}

/// Returns a puzzle with a different state at depth 0.
fn starting_at(subject: Subject, start: Option<&Bound<'_, PyAny>>) -> PyResult<Subject> {
    let Some(start) = start else {
        return Ok(subject);
    };
    let space = subject.numbered("start=")?.clone();
    let text = match start.cast::<PyString>() {
        Ok(text) => text.to_string(),
        Err(_) => {
            let rows = arrays::rows(start, form_of(&space), &|text| space.row_of_text(text))?;
            if !rows.is_one() {
                return Err(invalid("start= must be one state, not an array of states"));
            }
            words(&space, &rows.numbers)?
        }
    };
    Ok(Subject::Numbered(space.starting_at(&text).map_err(exception)?))
}

/// Returns a state in the puzzle's own notation.
fn words(space: &StateSpace, numbers: &[u16]) -> PyResult<String> {
    if let Some(size) = space.size() {
        return Ok(Board::new(size, numbers).map_err(exception)?.to_string());
    }
    let labels = space.puzzle().map_or(&[][..], |of| of.labels());
    let label = |&number: &u16| match labels.get(usize::from(number)) {
        Some(label) => Ok(label.to_string()),
        None => Err(invalid(format!(
            "{number} is not an element: elements are 0 to {}",
            labels.len() - 1
        ))),
    };
    Ok(numbers.iter().map(label).collect::<PyResult<Vec<_>>>()?.join(" "))
}

/// Searches a puzzle completely, or to a given depth, and counts the states at each depth.
///
/// The states of boards with at most 16 cells, and of puzzles with one set of at most 16 different pieces, are numbered
/// and take 1.2 bits of memory each: 3x4 takes 0.04 GB and about 0.2 s on two cores, and 2x7 takes 6.7 GB and half a
/// minute. All other puzzles are searched with lists of states: cubes and minxes, puzzles with pieces that have
/// orientations or look alike, and, with a `max_depth`, larger boards. Other Python threads can run during the search;
/// Ctrl-C stops it.
///
/// Parameters
/// ----------
/// puzzle : str, os.PathLike or Puzzle
///     The size of a board ("3x4"), a named puzzle ("3x3x3"), a member of a family ("topspin:12,4"), a graph
///     ("graph:0-1,1-2,2-0"), or a file (.gap, .tws, .def, .kpuzzle.json).
/// goal : str or board, optional
///     For boards: "last" (the default), "first", "blank=4", or a board.
/// metric : {"stm", "mtm", "htm", "qtm", "slice", "axial"}, optional
///     See `Puzzle`.
/// directed : bool, default False
///     For files: do not add the inverses of the moves.
/// pieces : str or list of str, optional
///     Use only these sets of pieces: "corners".
/// start : str or state, optional
///     The state at depth 0; by default, the goal. For numbered states only.
/// max_depth : int, optional
///     The last depth to compute.
/// count_ahead : int, default 0
///     For list searches: the number of depths before the last one whose states are not stored either, at most 3. This
///     takes longer, but as many more depths fit in memory.
/// symmetry : bool, default True
///     For list searches: store one state of each class of symmetric states. The counts are the same with False.
/// engine : {"sweep", "reference", "frontier"}, optional
///     By default, the fastest engine that can search the puzzle. "frontier" is the list search, which can search any
///     puzzle to a given depth.
/// threads : int, optional
///     Number of worker threads; one per core by default.
/// memory : int or str, optional
///     Memory limit in bytes, or a size with a unit: "8GiB", "500MB". The default is half of the free memory.
/// keep_last : int, optional
///     Maximum number of states of the last depth in `SearchResult.last_layer`. The default is 1000, or 0 for list
///     searches to a `max_depth`, whose last states are then counted but not stored.
/// dir : path or list of paths, optional
///     Search on disk, in this directory or these directories; a search that is already there is continued.
/// keep_levels : {"last", "all"}, default "last"
///     Which levels stay on disk.
/// progress : callable, optional
///     Called as progress(depth, states, seconds) after each level. An exception that it raises stops the search and is
///     raised again here.
///
/// Returns
/// -------
/// SearchResult
///
/// Raises
/// ------
/// ValueError
///     If there is no such puzzle, or if the start cannot reach the goal.
/// MemoryError
///     If the search needs more than `memory`.
/// OSError
///     If the directory cannot be used.
/// KeyboardInterrupt
///     On Ctrl-C. A search on disk can be continued by the next call.
///
/// Examples
/// --------
/// >>> result = tilewave.bfs("3x3", metric="mtm")
/// >>> result.diameter, int(result.counts.sum())
/// (24, 181440)
/// >>> tilewave.bfs("topspin:8,4", max_depth=3).counts
/// array([ 1,  3,  6, 12], dtype=uint64)
/// >>> cube = tilewave.bfs("3x3x3", max_depth=5)
/// >>> cube.counts, cube.counts_up_to_symmetry
/// (array([     1,     18,    243,   3240,  43239, 574908], dtype=uint64), array([    1,     2,     9,    75,   934, 12077], dtype=uint64))
#[pyfunction]
#[pyo3(signature = (puzzle, *, goal=None, metric=None, directed=false, pieces=None, start=None, max_depth=None, count_ahead=0, symmetry=true, engine=None, threads=None, memory=None, keep_last=None, dir=None, keep_levels="last", progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn bfs(
    py: Python<'_>,
    puzzle: &Bound<'_, PyAny>,
    goal: Option<&Bound<'_, PyAny>>,
    metric: Option<&str>,
    directed: bool,
    pieces: Option<&Bound<'_, PyAny>>,
    start: Option<&Bound<'_, PyAny>>,
    #[pyo3(from_py_with = numbers::max_depth)] max_depth: Option<usize>,
    #[pyo3(from_py_with = numbers::count_ahead)] count_ahead: usize,
    symmetry: bool,
    engine: Option<String>,
    #[pyo3(from_py_with = numbers::threads)] threads: Option<usize>,
    #[pyo3(from_py_with = numbers::memory)] memory: Option<u64>,
    #[pyo3(from_py_with = numbers::keep_last)] keep_last: Option<usize>,
    dir: Option<&Bound<'_, PyAny>>,
    keep_levels: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<SearchResult> {
    let subject =
        subject(puzzle, Counted { goal, metric, directed, pieces, ..Counted::default() })?;
    let subject = starting_at(subject, start)?;
    let disk = dir.map(|dir| on_disk(dir, keep_levels)).transpose()?;
    if disk.is_none() && keep_levels != "last" {
        return Err(invalid("keep_levels= is for searches on disk: pass dir=, or leave it out"));
    }
    let resources = Resources::new().threads(threads).memory_or_half(memory);
    Running { max_depth, count_ahead, symmetry, engine, resources, keep_last, disk }
        .run(py, subject, progress)
}

/// Searches the complete Cayley graph of the given permutations, to find its growth function.
///
/// Parameters
/// ----------
/// generators : (moves, positions) array of int
///     The permutations, which are the only moves. Either convention works: the counts are the same for ``state[p]``
///     and for its inverse. At most 1024 moves.
/// twists, orientations, solved
///     For pieces that have orientations or look alike; see `Puzzle.from_generators`.
/// names : list of str, optional
///     The names of the moves.
/// inverses : bool, default False
///     Add the inverse of every move where it is missing.
/// name : str, default "generators"
///     The name of the puzzle.
/// max_depth, threads, memory, keep_last, progress
///     See `bfs`.
///
/// Returns
/// -------
/// SearchResult
///     If all pieces differ, its `num_states` is the order of the group.
///
/// Raises
/// ------
/// ValueError
///     If a row is not a permutation; the message names the first such row.
/// MemoryError
///     If the search needs more than `memory`.
///
/// Examples
/// --------
/// >>> result = tilewave.growth([[1, 2, 0], [1, 0, 2]])
/// >>> result.counts, result.diameter
/// (array([1, 2, 3], dtype=uint64), 2)
#[pyfunction]
#[pyo3(signature = (generators, *, twists=None, orientations=None, solved=None, names=None, inverses=false, name="generators", max_depth=None, threads=None, memory=None, keep_last=None, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn growth(
    py: Python<'_>,
    generators: &Bound<'_, PyAny>,
    twists: Option<&Bound<'_, PyAny>>,
    orientations: Option<&Bound<'_, PyAny>>,
    solved: Option<&Bound<'_, PyAny>>,
    names: Option<Vec<String>>,
    inverses: bool,
    name: &str,
    #[pyo3(from_py_with = numbers::max_depth)] max_depth: Option<usize>,
    #[pyo3(from_py_with = numbers::threads)] threads: Option<usize>,
    #[pyo3(from_py_with = numbers::memory)] memory: Option<u64>,
    #[pyo3(from_py_with = numbers::keep_last)] keep_last: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<SearchResult> {
    let made = Made { names, inverses, name, twists, orientations, solved };
    let resources = Resources::new().threads(threads).memory_or_half(memory);
    let (count_ahead, symmetry, engine, disk) = (0, true, None, None);
    Running { max_depth, count_ahead, symmetry, engine, resources, keep_last, disk }.run(
        py,
        of_generators(generators, &made)?,
        progress,
    )
}
