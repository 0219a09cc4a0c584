//! Pruning tables and solvers for cubes and other puzzles.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use numpy::PyArray1;
use pyo3::prelude::*;
use rayon::prelude::*;
use tilewave::pdb::SetFile;
use tilewave::pruning::CosetTable;
use tilewave::puzzle::{Arrangement, Puzzle};
use tilewave::solve::{
    AllSolutions, Answer, DatabaseSource, MeetingLists, SolutionRange, SolveError, SolverTables,
    StateSubset,
};
use tilewave::table::TableEncoding;
use tilewave::{Error, Progress, Resources};

use super::arrays::{Rows, per_row};
use super::errors::{exception, invalid, named, of_one, of_type};
use super::listed::Listed;
use super::numbers;
use super::puzzle::{Counted, Subject, subject, words};
use super::search::SearchResult;
use super::solve::{Limits, Solution, all_answers, answers, in_row, listed, unpacked};
use super::work::{FIRST, Watch, for_rows, long};

/// The depth of every state of a cube or another puzzle, or of some of its pieces: lower bounds for the whole puzzle.
///
/// Created by `build` and `open`. Can be used by several threads.
///
/// Examples
/// --------
/// >>> table = tilewave.PruningTable.build("2x2x2", pieces="corners:1-4")
/// >>> int(table.histogram.sum()), table.encoding
/// (68040, 'nibble')
#[pyclass(frozen, module = "tilewave")]
pub struct PruningTable {
    table: Arc<tilewave::pruning::PruningTable>,
    listed: Listed,
}

impl PruningTable {
    fn of(table: tilewave::pruning::PruningTable) -> PruningTable {
        let listed = Listed::new(table.puzzle().clone(), None);
        PruningTable { table: Arc::new(table), listed }
    }
}

#[pymethods]
impl PruningTable {
    /// Searches a puzzle, or some of its pieces, and stores the depth of every state.
    ///
    /// Cost: half a byte of memory per state, plus three eighths of a byte for the search; about 30 ns of one core per
    /// state for puzzles whose pieces have orientations.
    ///
    /// Parameters
    /// ----------
    /// puzzle : str, os.PathLike or Puzzle
    ///     A puzzle with several sets of pieces, in any form that `bfs` accepts.
    /// metric, directed, pieces
    ///     See `bfs`.
    /// encoding : {"nibble", "mod3", "byte"}
    ///     "nibble": four bits per entry, for depths up to 14. "mod3": two bits per entry, for depths up to 254; a depth
    ///     is found by walking to the solved state. "byte": depths up to 254.
    /// up_to_symmetry : bool, default False
    ///     Keep one entry per class of symmetric states. The table is smaller, but lookups take twice as long.
    /// threads : int, optional
    /// memory : int or str, optional
    ///     Memory limit in bytes, or a size with a unit: "8GiB". The default is half of the free memory.
    /// progress : callable, optional
    ///     Called as progress(depth, states, seconds) after each level. An exception that it raises stops the build and
    ///     is raised again here.
    ///
    /// Returns
    /// -------
    /// PruningTable
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If there is no such puzzle, or if it has too many states; use `pieces` to reduce their number.
    /// MemoryError
    ///     If the table and the search need more than `memory`.
    ///
    /// Examples
    /// --------
    /// >>> tilewave.PruningTable.build("3x3x3", pieces="edges:1-4").histogram.tolist()
    /// [1, 15, 158, 1394, 9809, 46381, 97254, 34966, 102]
    #[staticmethod]
    #[pyo3(signature = (puzzle, *, metric=None, directed=false, pieces=None, encoding="nibble", up_to_symmetry=false, threads=None, memory=None,
                        progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn build(
        py: Python<'_>,
        puzzle: &Bound<'_, PyAny>,
        metric: Option<&str>,
        directed: bool,
        pieces: Option<&Bound<'_, PyAny>>,
        encoding: &str,
        up_to_symmetry: bool,
        #[pyo3(from_py_with = numbers::threads)] threads: Option<usize>,
        #[pyo3(from_py_with = numbers::memory)] memory: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PruningTable> {
        let subject = subject(puzzle, Counted { metric, directed, pieces, ..Counted::default() })?;
        let listed = subject.listed()?;
        let size = named(TableEncoding::NAMES, "encoding", encoding)?;
        let resources = Resources::new().threads(threads).memory_or_half(memory);
        let kind = (size, up_to_symmetry);
        let table = long(py, progress, |watch| {
            tilewave::pruning::PruningTable::build_with(&listed.puzzle, kind, resources, watch)
        });
        // A board has no pieces to leave out.
        let of_board = matches!(&subject, Subject::Numbered(space) if space.size().is_some());
        table.map(PruningTable::of).map_err(|error| match error.value(py).to_string() {
            said if of_board && said.contains("pieces=") => PyErr::from_type(
                error.get_type(py),
                said.replace("keep fewer pieces (pieces=)", "use DistanceTable.build for boards"),
            ),
            _ => error,
        })
    }

    /// Reads a table file into memory and checks all of it. Takes about 0.3 ns per byte on two cores.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///
    /// Returns
    /// -------
    /// PruningTable
    ///
    /// Raises
    /// ------
    /// OSError
    ///     FileNotFoundError and others, if the file cannot be read.
    /// ValueError
    ///     If the file is not a pruning table, or is damaged.
    ///
    /// Examples
    /// --------
    /// >>> import os, tempfile
    /// >>> path = os.path.join(tempfile.mkdtemp(), "cross.table")
    /// >>> tilewave.PruningTable.build("3x3x3", pieces="edges:1-4").save(path)
    /// >>> tilewave.PruningTable.open(path)
    /// PruningTable("3x3x3 edges:1-4", encoding="nibble")
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<PruningTable> {
        let table =
            long(py, None, |watch| Ok(tilewave::pruning::PruningTable::load_with(&path, watch)?))?;
        Ok(PruningTable::of(table))
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
    /// >>> path = os.path.join(tempfile.mkdtemp(), "corners.table")
    /// >>> tilewave.PruningTable.build("2x2x2", pieces="corners:1-4").save(path)
    /// >>> os.path.exists(path)
    /// True
    #[pyo3(signature = (path, *, replace=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, replace: bool) -> PyResult<()> {
        long(py, None, |watch| Ok(self.table.save_with(&path, replace, watch)?))
    }

    /// Returns the minimum number of moves to the solved state for many states. Takes about 0.3 us of one core per
    /// state.
    ///
    /// Parameters
    /// ----------
    /// states : array-like of int, shape (.., positions); str, or list of str
    ///     For each position, set after set, piece * orientations + orientation, as in `bfs`. A text is a sequence of
    ///     moves from the solved state, or the piece at each position, in the form that ``tilewave state`` prints.
    /// puzzle : str, os.PathLike or Puzzle, optional
    ///     The puzzle to which the states belong, if the table covers only some of its pieces. By default, the puzzle
    ///     of the table itself, in which the pieces that the table leaves out look alike.
    ///
    /// Returns
    /// -------
    /// int16 array of shape (..), or an int
    ///     -1 for states that the table shows to be unreachable.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a row is not a state of the puzzle (the message names the first such row), or if the table covers no
    ///     pieces of the puzzle.
    ///
    /// Examples
    /// --------
    /// >>> cube = tilewave.Puzzle("2x2x2")
    /// >>> table = tilewave.PruningTable.build(cube)
    /// >>> table.depths(cube.apply_moves(cube.goal, "R U F")[-1])
    /// 3
    /// >>> table.depths(["R U F", "R R'"])
    /// array([3, 0], dtype=int16)
    #[pyo3(signature = (states, *, puzzle=None))]
    fn depths<'py>(
        &self,
        py: Python<'py>,
        states: &Bound<'py, PyAny>,
        puzzle: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = puzzle.map(|puzzle| {
            let counted = Counted::default();
            subject(puzzle, counted)?.listed()
        });
        let given = given.transpose()?;
        let listed = given.as_deref().unwrap_or(&self.listed);
        // States of the whole puzzle are the likely mistake.
        let rows = listed.read(states).map_err(|error| {
            let said = error.value(py).to_string();
            match given.is_none() && said.contains("the shape must be") {
                true => invalid(said + "; for states of the whole puzzle, specify puzzle="),
                false => error,
            }
        })?;
        let Some(number) = self.table.numbers_of(&listed.puzzle) else {
            let (theirs, own) = (&listed.puzzle, self.table.puzzle());
            return Err(invalid(format!(
                "the table for {own} is not for a projection of {theirs}"
            )));
        };
        let columns = listed.columns();
        let one = |row: &[u16]| -> Result<i16, Error> {
            let number = number(&|set, position| listed.placed(set, row[columns[set][position]]));
            Ok(self.table.depth_at(number)?.map_or(-1, |depth| depth as i16))
        };
        let work = |part: &[u16]| {
            part.par_chunks_exact(columns.iter().map(Vec::len).sum()).map(one).collect()
        };
        let width = listed.form().width;
        let found = for_rows(py, (&rows.numbers[..], width), FIRST, work)?;
        per_row(py, found.map_err(if rows.is_one() { of_one } else { exception })?, &rows)
    }

    /// The name of the puzzle.
    #[getter]
    fn puzzle(&self) -> String {
        self.table.puzzle().to_string()
    }

    /// "nibble", "mod3" or "byte".
    #[getter]
    fn encoding(&self) -> &'static str {
        self.table.encoding().name()
    }

    /// The number of states at each depth, (depths,) uint64.
    #[getter]
    fn histogram<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_slice(py, self.table.histogram())
    }

    /// The size of the file in bytes.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.table.file_bytes()
    }

    fn __repr__(&self) -> String {
        format!("PruningTable(\"{}\", encoding=\"{}\")", self.puzzle(), self.encoding())
    }
}

/// The optimal solver for a cube or another puzzle with several sets of pieces, with its pruning tables. The algorithm
/// is IDA*.
///
/// Parameters
/// ----------
/// puzzle : str, os.PathLike or Puzzle
/// metric, directed, pieces
///     See `bfs`.
/// tables : path, or list of PruningTable and paths, optional
///     A set file (``tilewave pdb set build``), the file of a coset table, or tables for parts of the puzzle. If omitted,
///     the solver chooses. States near the solved one need no tables. For others, tables are built when the first one
///     is solved: in milliseconds for 2x2x2, and in seconds for 3x3x3, which gets a coset table of 21 MiB, and one of 454
///     MiB, after a minute, for hard states. They are kept as long as the solver is.
/// threads : int, optional
///     Number of worker threads; one per core by default.
/// memory : int or str, optional
///     Memory for the tables that are built here, in bytes or with a unit: "2GB". They are chosen to use it.
///
/// Raises
/// ------
/// ValueError
///     If a table cannot be used; the message says which one and why.
///
/// Examples
/// --------
/// >>> solver = tilewave.PuzzleSolver("2x2x2")
/// >>> solution = solver.solve("R U R' F2 R")
/// >>> str(solution), len(solution)
/// ("R' F2 R U' R'", 5)
#[pyclass(frozen, module = "tilewave")]
pub struct PuzzleSolver {
    listed: Arc<Listed>,
    /// The tables that are built for the first state that is not solved without, with the memory for them.
    chosen: Option<SolverTables>,
    solver: OnceLock<tilewave::solve::PuzzleSolver>,
    /// What solves states near the solved one, until there is another one.
    lists: Mutex<Option<MeetingLists>>,
    resources: Resources,
}

/// Where a table comes from.
enum OneTable {
    Open(Arc<tilewave::pruning::PruningTable>),
    File(PathBuf),
}

fn tables(of: &Bound<'_, PyAny>) -> PyResult<Vec<OneTable>> {
    let wrong =
        |of: &Bound<'_, PyAny>| of_type("tables", "a path or a list of tables and paths", of);
    if let Ok(path) = of.extract::<PathBuf>() {
        let files = match SetFile::is(&path) {
            true => SetFile::read(&path).map_err(exception)?.partitions.concat(),
            false => vec![path],
        };
        return Ok(files.into_iter().map(OneTable::File).collect());
    }
    let one = |item: Bound<'_, PyAny>| match item.cast::<PruningTable>() {
        Ok(table) => Ok(OneTable::Open(table.get().table.clone())),
        Err(_) => Ok(OneTable::File(item.extract::<PathBuf>().map_err(|_| wrong(&item))?)),
    };
    of.try_iter().map_err(|_| wrong(of))?.map(|item| one(item?)).collect()
}

/// The solver with tables that were given.
fn from_given(
    puzzle: &Puzzle,
    given: Vec<OneTable>,
    watch: &Watch,
) -> Result<tilewave::solve::PuzzleSolver, Error> {
    // A coset table is used alone.
    if let [OneTable::File(path)] = &given[..]
        && CosetTable::is(path)
    {
        let table = CosetTable::load_with(path, watch)?;
        if table.puzzle().to_json() != puzzle.to_json() {
            let reason = format!(
                "'{}' is a coset table for {}, not for {puzzle} with these moves",
                path.display(),
                table.puzzle()
            );
            return Err(SolveError::Database { reason }.into());
        }
        return Ok(tilewave::solve::PuzzleSolver::two_sided(table)?);
    }
    let table = |table| match table {
        OneTable::Open(table) => Ok(table),
        OneTable::File(path) => {
            Ok(Arc::new(tilewave::pruning::PruningTable::load_with(path, watch)?))
        }
    };
    let tables = given.into_iter().map(table).collect::<Result<Vec<_>, Error>>()?;
    Ok(tilewave::solve::PuzzleSolver::new(puzzle.clone(), tables)?)
}

/// The solver with tables that are built now; those for hard states when the first one comes.
fn from_chosen(
    puzzle: &Puzzle,
    chosen: &SolverTables,
    resources: Resources,
    watch: &Watch,
) -> Result<tilewave::solve::PuzzleSolver, Error> {
    let cosets = move |puzzle: &Puzzle, bytes, watch: &dyn Progress| {
        let table = CosetTable::build_with(puzzle, bytes, resources, watch)?;
        Ok::<_, Error>(tilewave::solve::PuzzleSolver::two_sided(table)?)
    };
    match *chosen {
        SolverTables::Cosets { bytes, hard } => {
            let first = cosets(puzzle, bytes, watch)?;
            let Some(hard) = hard else { return Ok(first) };
            let puzzle = puzzle.clone();
            let larger = move |watch: &dyn Progress| {
                DatabaseSource::if_memory_allows(cosets(&puzzle, hard, watch))
            };
            Ok(first.with_reserve(larger))
        }
        SolverTables::Projections(ref all) => {
            let build = |projection| {
                tilewave::pruning::PruningTable::build_narrow(projection, resources, watch)
            };
            let tables = all.iter().map(build).collect::<Result<Vec<_>, Error>>()?;
            Ok(tilewave::solve::PuzzleSolver::new(puzzle.clone(), tables)?)
        }
    }
}

impl PuzzleSolver {
    pub fn of(
        py: Python<'_>,
        listed: Arc<Listed>,
        given: Option<&Bound<'_, PyAny>>,
        threads: Option<usize>,
        memory: Option<u64>,
    ) -> PyResult<PuzzleSolver> {
        let resources = Resources::new().threads(threads).memory_or_half(memory);
        let puzzle = &listed.puzzle;
        let made = |given: Vec<OneTable>| long(py, None, |watch| from_given(puzzle, given, watch));
        let given = given.map(tables).transpose()?.map(made).transpose()?;
        let bytes = resources.memory.unwrap_or(u64::MAX);
        let of = || SolverTables::of(puzzle, memory, bytes).map_err(exception);
        let chosen = if given.is_some() { None } else { Some(of()?) };
        let meets = chosen.as_ref().is_some_and(|chosen| !chosen.are_quick(puzzle));
        let lists = Mutex::new(meets.then(|| MeetingLists::new(puzzle, bytes)));
        let solver = given.map_or_else(OnceLock::new, OnceLock::from);
        Ok(PuzzleSolver { listed, chosen, solver, lists, resources })
    }

    /// What solves states with tables, which are built now if they have not been.
    fn solver(&self, py: Python<'_>) -> PyResult<&tilewave::solve::PuzzleSolver> {
        if let (None, Some(chosen)) = (self.solver.get(), &self.chosen) {
            let (puzzle, resources) = (&self.listed.puzzle, self.resources);
            // Two threads of a program may both build; no lock is held while one does.
            let made = long(py, None, |watch| from_chosen(puzzle, chosen, resources, watch))?;
            return Ok(self.solver.get_or_init(|| made));
        }
        Ok(self.solver.get().expect("tables were given"))
    }

    /// Solutions of states that are all near the solved one, if no tables have been built yet.
    fn met(
        &self,
        py: Python<'_>,
        states: &[Arrangement],
        rows: &Rows,
    ) -> PyResult<Option<Vec<Answer<Vec<String>>>>> {
        let lock = || self.lists.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let Some(mut lists) = lock().take().filter(|_| self.solver.get().is_none()) else {
            return Ok(None);
        };
        let found = long(py, None, |watch| {
            let one = |(row, state)| {
                lists
                    .solve(state, watch)
                    .map_err(|error| in_row(rows, row, error.into()))
                    .transpose()
            };
            self.resources.install(|| {
                states.iter().enumerate().map_while(one).collect::<Result<Vec<_>, _>>()
            })?
        });
        // States further away need tables, which solve all states then.
        let is_far = matches!(&found, Ok(found) if found.len() < states.len());
        if !is_far {
            *lock() = Some(lists);
        }
        Ok(Some(found?).filter(|_| !is_far))
    }

    /// Reads the states of an argument: texts, or rows of numbers.
    fn read(&self, states: &Bound<'_, PyAny>) -> PyResult<(Vec<Arrangement>, Rows)> {
        let rows = self.listed.read(states)?;
        if rows.shape.len() > 1 {
            return Err(invalid("pass one state or a one-dimensional sequence of states"));
        }
        let width = self.listed.form().width;
        let all = rows.numbers.chunks_exact(width).map(|row| self.listed.state(row));
        Ok((all.collect::<Result<_, String>>().map_err(invalid)?, rows))
    }

    /// Returns all solutions of states within a range, and the rows of the states.
    fn every(
        &self,
        py: Python<'_>,
        states: &Bound<'_, PyAny>,
        range: SolutionRange,
    ) -> PyResult<(Vec<AllSolutions<Vec<String>>>, Rows)> {
        let (states, rows) = self.read(states)?;
        let all =
            all_answers(py, self.solver(py)?, &states, &rows, (range, self.resources.threads))?;
        Ok((all, rows))
    }

    pub fn solutions<'py>(
        &self,
        py: Python<'py>,
        states: &Bound<'py, PyAny>,
        limits: Limits,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (states, rows) = self.read(states)?;
        let is_free =
            (limits.max_nodes, limits.timeout) == (None, None) && limits.progress.is_none();
        let met = if is_free { self.met(py, &states, &rows)? } else { None };
        let found = match met {
            Some(found) => found,
            None => {
                let limits =
                    Limits { threads: limits.threads.or(self.resources.threads), ..limits };
                answers(py, self.solver(py)?, &states, &rows, limits)?
            }
        };
        unpacked(py, found.into_iter().map(Solution::of_names).collect(), &rows)
    }
}

#[pymethods]
impl PuzzleSolver {
    #[new]
    #[pyo3(signature = (puzzle, *, metric=None, directed=false, pieces=None, tables=None, threads=None, memory=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        puzzle: &Bound<'_, PyAny>,
        metric: Option<&str>,
        directed: bool,
        pieces: Option<&Bound<'_, PyAny>>,
        tables: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = numbers::threads)] threads: Option<usize>,
        #[pyo3(from_py_with = numbers::memory)] memory: Option<u64>,
    ) -> PyResult<PuzzleSolver> {
        let listed = subject(puzzle, Counted { metric, directed, pieces, ..Counted::default() })?
            .listed()?;
        PuzzleSolver::of(py, listed, tables, threads, memory)
    }

    /// Returns shortest solutions. Ctrl-C stops the search.
    ///
    /// Parameters
    /// ----------
    /// states : str, list of str, or array-like of int, shape (positions,) or (n, positions)
    ///     A text is a sequence of moves from the solved state, or the piece at each position, in the form that
    ///     ``tilewave state`` prints.
    /// max_nodes : int, optional
    ///     Maximum number of nodes per state. If no solution is found within this limit, the returned `Solution` is
    ///     falsy and has a lower bound, `at_least`.
    /// timeout : float, optional
    ///     Maximum number of seconds for all states together, beside the time for tables that are built first.
    /// progress : callable, optional
    ///     Called as progress(solved, threshold, nodes); see `Solver.solve`.
    ///
    /// Returns
    /// -------
    /// Solution, or list of Solution
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If an entry is not a valid state, or is not reachable; the message names the first such entry and the
    ///     reason.
    ///
    /// Examples
    /// --------
    /// >>> solver = tilewave.PuzzleSolver("pyraminx")
    /// >>> [len(solution) for solution in solver.solve(["U L R", "U U'", "L' B R' U"])]
    /// [3, 0, 4]
    #[pyo3(signature = (states, *, max_nodes=None, timeout=None, progress=None))]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        states: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = numbers::max_nodes)] max_nodes: Option<u64>,
        #[pyo3(from_py_with = numbers::timeout)] timeout: Option<Duration>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.solutions(py, states, Limits { threads: None, max_nodes, timeout, progress })
    }

    /// Returns lower bounds for the lengths of solutions: those of the tables, which are built first if necessary.
    ///
    /// Parameters
    /// ----------
    /// states
    ///     See `PuzzleSolver.solve`.
    ///
    /// Returns
    /// -------
    /// int, or ndarray of shape (n,), int16
    ///     -1 for a state that cannot be reached.
    ///
    /// Examples
    /// --------
    /// >>> tilewave.PuzzleSolver("2x2x2").bounds(["R U R' F2 R", ""]).tolist()
    /// [5, 0]
    fn bounds<'py>(
        &self,
        py: Python<'py>,
        states: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (states, rows) = self.read(states)?;
        let solver = self.solver(py)?;
        let one = |state: &Arrangement| match solver.bound(state) {
            Err(SolveError::Puzzle(_)) => Ok(-1),
            bound => Ok(bound? as i16),
        };
        let work = |part: &[Arrangement]| part.par_iter().map(one).collect();
        let found: Vec<i16> = for_rows(py, (&states[..], 1), FIRST, work)?.map_err(exception)?;
        per_row(py, found, &rows)
    }

    /// Returns how many of some states need how many moves, for example those from which a step of a method begins.
    /// Ctrl-C stops the search.
    ///
    /// Parameters
    /// ----------
    /// states : str or list of str
    ///     Sequences of moves, states, or masks, in which ``?`` stands for any piece or any orientation, and a set that is
    ///     left out may have any arrangement. All states that match are meant, at most 1,048,576.
    /// of : Puzzle, optional
    ///     The puzzle in whose pieces the states are written, if that of the solver has goals of its own: they may fix
    ///     only what the goals fix as well.
    ///
    /// Returns
    /// -------
    /// SearchResult
    ///     Its `counts` are the numbers of states by moves.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If there are no or too many such states.
    ///
    /// Examples
    /// --------
    /// >>> result = tilewave.PuzzleSolver("2x2x2").distribution("corners 1 2 3 4 ? ? ?")
    /// >>> result.diameter, int(result.counts.sum())
    /// (11, 54)
    #[pyo3(signature = (states, *, of=None))]
    fn distribution(
        &self,
        py: Python<'_>,
        states: &Bound<'_, PyAny>,
        of: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<SearchResult> {
        let texts = words(("states", Some(states)), |text| vec![text.into()])?;
        let of = of.map(|of| subject(of, Counted::default())?.listed()).transpose()?;
        let (puzzle, solver) = (&self.listed.puzzle, self.solver(py)?);
        let whole = of.as_ref().map_or(puzzle, |of| &of.puzzle);
        let outcome = long(py, None, |watch| {
            let subset = StateSubset::of(puzzle, whole, &texts)?;
            self.resources.install(|| subset.depths(solver, watch))?
        })?;
        SearchResult::of_listed(&outcome, &self.listed)
    }

    /// Returns all shortest solutions, or also those that are up to `slack` moves longer. Ctrl-C stops the search.
    ///
    /// Parameters
    /// ----------
    /// states
    ///     See `PuzzleSolver.solve`.
    /// slack : int, default 0
    ///     The number of moves by which solutions may be longer than the shortest ones. Solutions that are longer come to
    ///     no state twice. Sequences that differ only in the order of moves that commute (``U D`` and
    ///     ``D U``) count as one.
    /// limit : int, optional
    ///     Maximum number of solutions of each state.
    ///
    /// Returns
    /// -------
    /// list of Solution, or list of such lists
    ///     The solutions by length, then in the order of their moves. All have the nodes and seconds of the whole search.
    ///
    /// Examples
    /// --------
    /// >>> solver = tilewave.PuzzleSolver("2x2x2")
    /// >>> [str(solution) for solution in solver.solve_all("R2 U2 R2")]
    /// ['U2 R2 U2', 'R2 U2 R2']
    #[pyo3(signature = (states, *, slack=0, limit=None))]
    fn solve_all<'py>(
        &self,
        py: Python<'py>,
        states: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = numbers::slack)] slack: usize,
        #[pyo3(from_py_with = numbers::limit)] limit: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let range = SolutionRange { slack, most: limit, kept: true };
        let (all, rows) = self.every(py, states, range)?;
        let lists: Vec<Vec<Solution>> =
            all.into_iter().map(|all| listed(all, Solution::of_names)).collect();
        unpacked(py, lists, &rows)
    }

    /// Returns the number of solutions of each length, beginning with the shortest ones, up to `slack` moves longer; see
    /// `PuzzleSolver.solve_all`. Ctrl-C stops the search.
    ///
    /// Parameters
    /// ----------
    /// states
    ///     See `PuzzleSolver.solve`.
    /// slack : int, default 0
    ///
    /// Returns
    /// -------
    /// list of int, or list of such lists
    ///
    /// Examples
    /// --------
    /// >>> tilewave.PuzzleSolver("2x2x2").count_solutions("R2 U2 R2", slack=2)
    /// [2, 0, 6]
    #[pyo3(signature = (states, *, slack=0))]
    fn count_solutions<'py>(
        &self,
        py: Python<'py>,
        states: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = numbers::slack)] slack: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let range = SolutionRange { slack, most: None, kept: false };
        let (all, rows) = self.every(py, states, range)?;
        let counts: Vec<Vec<u64>> = all.into_iter().map(|all| all.counts).collect();
        unpacked(py, counts, &rows)
    }

    /// The name of the puzzle.
    #[getter]
    fn puzzle(&self) -> String {
        self.listed.puzzle.to_string()
    }

    fn __repr__(&self) -> String {
        format!("PuzzleSolver(\"{}\")", self.puzzle())
    }
}

/// The puzzle solver that `solve` used last.
static LAST: Mutex<Option<Arc<PuzzleSolver>>> = Mutex::new(None);

/// Returns solutions of states of a puzzle; the solver is kept for the next call.
pub fn solve<'py>(
    py: Python<'py>,
    puzzle: &Bound<'py, PyAny>,
    states: &Bound<'py, PyAny>,
    tables: Option<&Bound<'py, PyAny>>,
    limits: Limits,
) -> PyResult<Bound<'py, PyAny>> {
    let counted = Counted::default();
    let listed = subject(puzzle, counted)?.listed()?;
    let lock = || LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let kept = lock().clone().filter(|last| *last.listed == *listed && tables.is_none());
    let solver = match kept {
        Some(solver) => solver,
        None => {
            let solver = Arc::new(PuzzleSolver::of(py, listed, tables, limits.threads, None)?);
            if tables.is_none() {
                *lock() = Some(solver.clone());
            }
            solver
        }
    };
    solver.solutions(py, states, limits)
}
