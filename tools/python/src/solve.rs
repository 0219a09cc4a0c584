//! Solvers.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rayon::prelude::*;
use tilewave::pdb::{Build, Pdb, SetFile};
use tilewave::progress::Phase;
use tilewave::puzzle::MoveStyle;
use tilewave::solve::{
    AllSolutions, Answer, Attempt, DatabaseSource, GivenDatabase, SolutionRange, SolveError,
    StateSolver,
};
use tilewave::{Board, Constructive, Error, Optimal, Progress, Resources, Size};

use super::arrays::{self, Form, Rows, parse_board};
use super::errors::{exception, invalid, of_type};
use super::numbers;
use super::pdb::{PatternDatabase, mapped};
use super::puzzle::{goal_board, read_boards};
use super::work::{Watch, long, long_watched};

/// Time between two calls of a solver's progress callback.
const TOLD_EVERY: Duration = Duration::from_millis(200);

/// Maximum number of cells of the boards for which the constructive solver knows shortest solutions.
const SMALL: usize = 9;

/// A solution of a board or of a state of another puzzle.
///
/// `len` is the number of moves, and `str` gives the moves as text. A solution is truthy (``if solution:``) if it was
/// found, which is always the case unless the search had limits. Solutions can be compared and pickled.
///
/// Examples
/// --------
/// >>> solution = tilewave.solve([[1, 2, 3], [4, 5, 6], [0, 7, 8]])
/// >>> len(solution), str(solution), solution.nodes, solution.optimal
/// (2, 'LL', 4, True)
/// >>> bool(tilewave.solve([[1, 2, 3], [4, 5, 6], [7, 8, 0]]))
/// True
#[pyclass(frozen, eq, module = "tilewave")]
#[derive(Clone, PartialEq)]
pub struct Solution {
    moves: Option<String>,
    /// The number of moves.
    length: usize,
    /// No solution is shorter than this; 0 if the solution need not be shortest.
    #[pyo3(get)]
    at_least: usize,
    /// Whether no solution is shorter.
    #[pyo3(get)]
    optimal: bool,
    /// The number of nodes that the search generated.
    #[pyo3(get)]
    nodes: u64,
    /// Wall-clock time in seconds.
    #[pyo3(get)]
    seconds: f64,
}

impl Solution {
    fn of(answer: Answer) -> Solution {
        let Answer { moves, at_least, nodes, seconds } = answer;
        let (optimal, length) = (moves.is_some(), moves.as_ref().map_or(0, |moves| moves.len()));
        let moves = moves.map(|moves| moves.long(MoveStyle::Tile));
        Solution { optimal, moves, length, at_least, nodes, seconds }
    }

    /// The solution of a puzzle that is not a board.
    pub fn of_names(answer: Answer<Vec<String>>) -> Solution {
        let Answer { moves, at_least, nodes, seconds } = answer;
        let (optimal, length) = (moves.is_some(), moves.as_ref().map_or(0, Vec::len));
        let moves = moves.map(|moves| moves.join(" "));
        Solution { optimal, moves, length, at_least, nodes, seconds }
    }

    fn found(&self) -> PyResult<&str> {
        self.moves.as_deref().ok_or_else(|| {
            PyValueError::new_err(format!(
                "no solution was found within the limits: every solution has at least {} moves",
                self.at_least
            ))
        })
    }
}

#[pymethods]
impl Solution {
    /// The direction in which each tile moves, one letter each: "RDDL"; for other puzzles, names of moves: "R U' F2".
    /// Raises ValueError if no solution was found within the limits.
    #[getter]
    fn moves(&self) -> PyResult<&str> {
        self.found()
    }

    fn __bool__(&self) -> bool {
        self.moves.is_some()
    }

    fn __len__(&self) -> PyResult<usize> {
        self.found().map(|_| self.length)
    }

    fn __str__(&self) -> PyResult<&str> {
        self.found()
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (&self.moves, self.nodes).hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Solution>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let Solution { moves, length, at_least, optimal, nodes, seconds } = slf.get().clone();
        let maker = py.get_type::<Solution>().getattr("_of_parts")?;
        (maker, ((moves, length, at_least, optimal, nodes, seconds),)).into_pyobject(py)
    }

    #[staticmethod]
    fn _of_parts(parts: (Option<String>, usize, usize, bool, u64, f64)) -> Solution {
        let (moves, length, at_least, optimal, nodes, seconds) = parts;
        Solution { moves, length, at_least, optimal, nodes, seconds }
    }

    fn __repr__(&self) -> String {
        match &self.moves {
            Some(moves) => {
                format!("Solution(\"{moves}\", {} moves, {} nodes)", self.length, self.nodes)
            }
            None => format!(
                "Solution(not found, at least {} moves, {} nodes)",
                self.at_least, self.nodes
            ),
        }
    }
}

/// The limits of a call of a solver, and its progress callback.
#[derive(Default)]
pub struct Limits {
    pub threads: Option<usize>,
    pub max_nodes: Option<u64>,
    pub timeout: Option<Duration>,
    pub progress: Option<Py<PyAny>>,
}

/// The progress of a call of a solver.
#[derive(Default)]
struct Told {
    solved: AtomicUsize,
    threshold: AtomicUsize,
    nodes: AtomicU64,
}

/// Watches the search of one board.
struct Guard<'a> {
    watch: &'a Watch,
    told: &'a Told,
    deadline: Option<Instant>,
    max_nodes: Option<u64>,
    nodes: AtomicU64,
}

impl Progress for Guard<'_> {
    fn progress(&self, phase: Phase, done: u64, _: u64) {
        if let Phase::Search(threshold) = phase {
            self.nodes.store(done, Ordering::Relaxed);
            self.told.threshold.store(threshold, Ordering::Relaxed);
            self.told.nodes.store(done, Ordering::Relaxed);
        }
    }

    fn interrupted(&self) -> bool {
        let nodes = self.nodes.load(Ordering::Relaxed);
        self.watch.interrupted()
            || self.max_nodes.is_some_and(|most| nodes > most)
            || self.deadline.is_some_and(|deadline| Instant::now() > deadline)
    }
}

/// The optimal solver for one goal, with its pattern databases. The algorithm is IDA*.
///
/// Parameters
/// ----------
/// size : str
///     The size of the board, "4x4"; each side at most 6.
/// goal : str or board, default "last"
///     The goal: "last", "first", "blank=4" or a board.
/// databases : path, or list of PatternDatabase and paths, optional
///     Either a set file (``tilewave pdb set build``), whose databases are mapped as by `PatternDatabase.open` with
///     ``mmap=True``, or databases and database files without common tiles, of any kind and encoding. Their goal must
///     be this goal, or one whose blank cell is a rotation or reflection of this goal's blank cell. If omitted, a set
///     is built: a fraction of a second for 4x4 (12 MB), seconds for 5x5 (510 MB).
/// threads : int, optional
///     Number of worker threads; one per core by default.
/// memory : int or str, optional
///     Memory limit for the databases that are built here, in bytes or with a unit: "8GiB". The default is half of the
///     free memory.
///
/// Raises
/// ------
/// ValueError
///     If a database cannot be used; the message says which one and why.
///
/// Examples
/// --------
/// >>> solver = tilewave.Solver("3x3", threads=1)
/// >>> solution = solver.solve("8 6 7/2 5 4/3 0 1")
/// >>> len(solution)
/// 31
#[pyclass(frozen, module = "tilewave")]
pub struct Solver {
    goal: Board,
    optimal: Optimal,
    threads: Option<usize>,
}

/// Returns the databases that were passed, and whether they are those of a set file.
fn given(of: &Bound<'_, PyAny>) -> PyResult<(DatabaseSource, bool)> {
    if let Ok(path) = of.extract::<PathBuf>() {
        let is_set = SetFile::is(&path);
        return Ok((DatabaseSource::Given(vec![GivenDatabase::File(path)]), is_set));
    }
    let wrong =
        |of: &Bound<'_, PyAny>| of_type("databases", "a path or a list of databases and paths", of);
    let one = |item: Bound<'_, PyAny>| match item.cast::<PatternDatabase>() {
        Ok(database) => Ok(GivenDatabase::Open(database.get().get()?)),
        Err(_) => Ok(GivenDatabase::File(item.extract::<PathBuf>().map_err(|_| wrong(&item))?)),
    };
    let all = of.try_iter().map_err(|_| wrong(of))?.map(|item| one(item?));
    Ok((DatabaseSource::Given(all.collect::<PyResult<_>>()?), false))
}

/// The databases with which hard boards are continued, built here; none where they do not fit in the memory.
fn larger(
    goal: &Board,
    resources: Resources,
    watch: &dyn Progress,
) -> Result<Option<Vec<Vec<Arc<Pdb>>>>, Error> {
    let Some(source) = DatabaseSource::of_hard_boards(goal) else { return Ok(None) };
    let open = |path: &Path| Ok(Pdb::load(path)?);
    let build = |builds: Vec<Build>| {
        let builds = builds.into_iter().map(|build| build.resources(resources));
        builds.map(|build| Ok(build.run_with(watch)?)).collect()
    };
    DatabaseSource::if_memory_allows(source.get(goal, open, build))
}

impl Solver {
    fn of(
        py: Python<'_>,
        goal: Board,
        databases: Option<&Bound<'_, PyAny>>,
        resources: Resources,
    ) -> PyResult<Solver> {
        let (source, is_set) = match databases {
            Some(databases) => given(databases)?,
            None => (DatabaseSource::Partition(None), false),
        };
        let optimal = long(py, None, |watch| {
            let open = |path: &Path| if is_set { mapped(path) } else { Ok(Pdb::load(path)?) };
            let build = |builds: Vec<Build>| {
                let builds = builds.into_iter().map(|build| build.resources(resources));
                builds.map(|build| Ok(build.run_with(watch)?)).collect()
            };
            let partitions = source.get(&goal, open, build)?;
            Ok(Optimal::with_partitions(&goal, partitions)?)
        })?;
        // As in the program.
        let reserved = goal.clone();
        let optimal = match databases {
            Some(_) => optimal,
            None => optimal.with_reserve(move |watch| larger(&reserved, resources, watch)),
        };
        Ok(Solver { goal, optimal, threads: resources.threads })
    }

    /// Returns all solutions of boards within a range, and the rows of the boards.
    fn every(
        &self,
        py: Python<'_>,
        boards: &Bound<'_, PyAny>,
        range: SolutionRange,
    ) -> PyResult<(Vec<AllSolutions>, Rows)> {
        let size = self.goal.size();
        let parse = |text: &str| Ok(parse_board(text, Some(size))?.tiles().to_vec());
        let rows = arrays::rows(boards, Form::board(size), &parse)?;
        let boards = read(&rows, size)?;
        let all = all_answers(py, &self.optimal, &boards, &rows, (range, self.threads))?;
        Ok((all, rows))
    }

    fn solve_rows(&self, py: Python<'_>, rows: &Rows, limits: Limits) -> PyResult<Vec<Solution>> {
        let boards = read(rows, self.goal.size())?;
        let limits = Limits { threads: limits.threads.or(self.threads), ..limits };
        let found = answers(py, &self.optimal, &boards, rows, limits)?;
        Ok(found.into_iter().map(Solution::of).collect())
    }
}

/// Returns the solutions of boards or other states, within the limits.
pub fn answers<T: StateSolver>(
    py: Python<'_>,
    solver: &T,
    states: &[T::State],
    rows: &Rows,
    limits: Limits,
) -> PyResult<Vec<Answer<T::Moves>>> {
    let at = |row, error: SolveError| in_row(rows, row, error.into());
    let (told, last) = (Told::default(), Mutex::new(Instant::now()));
    let deadline = limits.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let look = |py: Python<'_>| -> PyResult<()> {
        let Some(progress) = &limits.progress else { return Ok(()) };
        let mut last = last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if last.elapsed() >= TOLD_EVERY {
            *last = Instant::now();
            let of = |count: &AtomicUsize| count.load(Ordering::Relaxed);
            let nodes = told.nodes.load(Ordering::Relaxed);
            progress.call1(py, (of(&told.solved), of(&told.threshold), nodes))?;
        }
        Ok(())
    };
    let answers = long_watched(py, None, look, |watch| {
        let nodes = AtomicU64::new(0);
        let guard = Guard { watch, told: &told, deadline, max_nodes: limits.max_nodes, nodes };
        let all = || solve_all(solver, states, &guard, at);
        match limits.threads {
            Some(_) => Resources::new().threads(limits.threads).install(all)?,
            None => all(),
        }
    })?;
    if let Some(progress) = &limits.progress {
        let threshold = told.threshold.load(Ordering::Relaxed);
        progress.call1(py, (states.len(), threshold, told.nodes.load(Ordering::Relaxed)))?;
    }
    Ok(answers)
}

/// Returns all solutions of boards or other states within a range.
pub fn all_answers<T: StateSolver>(
    py: Python<'_>,
    solver: &T,
    states: &[T::State],
    rows: &Rows,
    (range, threads): (SolutionRange, Option<usize>),
) -> PyResult<Vec<AllSolutions<T::Moves>>>
where
    T::Moves: Send,
{
    if range.most == Some(0) {
        return Err(invalid("limit must be at least 1"));
    }
    long(py, None, |watch| {
        let one = |(row, state): (usize, &T::State)| {
            let all = solver.solve_all_with(state, &range, watch);
            all.map_err(|error| in_row(rows, row, error.into()))
        };
        let all = || states.iter().enumerate().map(one).collect();
        match threads {
            Some(_) => Resources::new().threads(threads).install(all)?,
            None => all(),
        }
    })
}

/// Returns solutions of one state, each with what a `Solution` has: `of` makes one of an answer.
pub fn listed<M: Clone>(all: AllSolutions<M>, of: impl Fn(Answer<M>) -> Solution) -> Vec<Solution> {
    let shortest = all.shortest;
    let least = shortest.at_least;
    let lengths =
        (least..).zip(all.counts).flat_map(|(length, count)| (0..count).map(move |_| length));
    let moves = all.moves.into_iter().flatten().zip(lengths);
    let solution = |(moves, length): (M, usize)| {
        let answer = Answer { moves: Some(moves), ..shortest.clone() };
        Solution { optimal: length == least, ..of(answer) }
    };
    moves.map(solution).collect()
}

/// Returns the boards of the rows, all of them checked.
fn read(rows: &Rows, size: Size) -> PyResult<Vec<Board>> {
    if rows.shape.len() > 1 {
        return Err(invalid("pass one board or a one-dimensional sequence of boards"));
    }
    let board = |(row, tiles): (usize, &[u16])| {
        Board::new(size, tiles).map_err(|error| in_row(rows, row, error.into()))
    };
    let boards = rows.numbers.chunks_exact(size.cells()).enumerate().map(board);
    boards.collect::<Result<_, Error>>().map_err(exception)
}

/// An error with its row number, unless there is only one row.
pub fn in_row(rows: &Rows, row: usize, reason: Error) -> Error {
    match rows.is_one() {
        true => reason,
        false => Error::Row { row, reason: Box::new(reason) },
    }
}

/// The result of the one-thread attempt for each state.
type Attempts<T> = Vec<Attempt<<T as StateSolver>::State, <T as StateSolver>::Moves>>;

/// Solves boards or other states: first each on one thread, then the hard ones with all threads.
fn solve_all<T: StateSolver>(
    solver: &T,
    states: &[T::State],
    guard: &Guard<'_>,
    at: impl Fn(usize, SolveError) -> Error + Copy + Sync,
) -> Result<Vec<Answer<T::Moves>>, Error> {
    let at = |row| move |error| at(row, error);
    // Nodes count for each state.
    let own = || Guard { nodes: AtomicU64::new(0), ..*guard };
    let attempt = |(row, state): (usize, &T::State)| {
        let attempt = solver.attempt_with(state, &own()).map_err(at(row))?;
        let answered = matches!(attempt, Attempt::Answered(_));
        guard.told.solved.fetch_add(answered.into(), Ordering::Relaxed);
        Ok(attempt)
    };
    let attempts: Vec<Result<_, Error>> = states.par_iter().enumerate().map(attempt).collect();
    let attempts: Attempts<T> = attempts.into_iter().collect::<Result<_, _>>()?;
    let finish = |(row, attempt)| match attempt {
        Attempt::Answered(answer) => Ok(answer),
        Attempt::Hard(pending) => {
            let answer = solver.finish_with(pending, &own()).map_err(at(row))?;
            guard.told.solved.fetch_add(1, Ordering::Relaxed);
            Ok(answer)
        }
    };
    attempts.into_iter().enumerate().map(finish).collect()
}

/// Returns a single result for a single board, and a list for an axis of boards.
pub fn unpacked<'py, T>(
    py: Python<'py>,
    results: Vec<T>,
    rows: &Rows,
) -> PyResult<Bound<'py, PyAny>>
where
    T: IntoPyObject<'py>,
    Vec<T>: IntoPyObject<'py>,
{
    match rows.is_one() {
        true => results.into_iter().next().into_bound_py_any(py),
        false => results.into_bound_py_any(py),
    }
}

#[pymethods]
impl Solver {
    #[new]
    #[pyo3(signature = (size, *, goal=None, databases=None, threads=None, memory=None))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = numbers::size)] size: Size,
        goal: Option<&Bound<'_, PyAny>>,
        databases: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = numbers::threads)] threads: Option<usize>,
        #[pyo3(from_py_with = numbers::memory)] memory: Option<u64>,
    ) -> PyResult<Solver> {
        let resources = Resources::new().threads(threads).memory_or_half(memory);
        Solver::of(py, goal_board(goal, size)?, databases, resources)
    }

    /// Returns shortest solutions: milliseconds each for 4x4, seconds to hours for 5x5. Ctrl-C stops the search.
    ///
    /// Parameters
    /// ----------
    /// boards : array-like of int, shape (cells,), (rows, columns) or (n, ..); or str
    /// max_nodes : int, optional
    ///     Maximum number of nodes per board. If no solution is found within this limit, the returned `Solution` is
    ///     falsy and has a lower bound, `at_least`.
    /// timeout : float, optional
    ///     Maximum number of seconds for all boards together.
    /// progress : callable, optional
    ///     Called as progress(solved, threshold, nodes) a few times per second and at the end, with the number of
    ///     boards finished and, for the current board, the number of moves that the iteration allows and the number of
    ///     nodes so far. An exception that it raises stops the search and is raised again here.
    ///
    /// Returns
    /// -------
    /// Solution, or list of Solution
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a row is not a board, or cannot reach the goal; the message names the first such row.
    ///
    /// Examples
    /// --------
    /// >>> solver = tilewave.Solver("3x3")
    /// >>> [len(solution) for solution in solver.solve(tilewave.scramble("3x3", 3, rng=1))]
    /// [19, 22, 25]
    /// >>> hard = tilewave.Solver("4x4").solve("14 15 8 12/10 11 9 13/2 6 5 1/3 7 4 0", max_nodes=10_000)
    /// >>> bool(hard), hard.at_least > 40
    /// (False, True)
    #[pyo3(signature = (boards, *, max_nodes=None, timeout=None, progress=None))]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        boards: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = numbers::max_nodes)] max_nodes: Option<u64>,
        #[pyo3(from_py_with = numbers::timeout)] timeout: Option<Duration>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let size = self.goal.size();
        let parse = |text: &str| Ok(parse_board(text, Some(size))?.tiles().to_vec());
        let rows = arrays::rows(boards, Form::board(size), &parse)?;
        let limits = Limits { threads: None, max_nodes, timeout, progress };
        unpacked(py, self.solve_rows(py, &rows, limits)?, &rows)
    }

    /// Returns all shortest solutions, or also those that are up to `slack` moves longer. Ctrl-C stops the search.
    ///
    /// Parameters
    /// ----------
    /// boards
    ///     See `Solver.solve`.
    /// slack : int, default 0
    ///     The number of moves by which solutions may be longer than the shortest ones. Solutions that are longer come to
    ///     no board twice.
    /// limit : int, optional
    ///     Maximum number of solutions of each board.
    ///
    /// Returns
    /// -------
    /// list of Solution, or list of such lists
    ///     The solutions by length, then in the order of their moves. All have the nodes and seconds of the whole search.
    ///
    /// Examples
    /// --------
    /// >>> solver = tilewave.Solver("2x3")
    /// >>> [str(solution) for solution in solver.solve_all("4 5 0/1 2 3", limit=1)]
    /// ['URDRULLDRURDLLURDRULL']
    #[pyo3(signature = (boards, *, slack=0, limit=None))]
    fn solve_all<'py>(
        &self,
        py: Python<'py>,
        boards: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = numbers::slack)] slack: usize,
        #[pyo3(from_py_with = numbers::limit)] limit: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let range = SolutionRange { slack, most: limit, kept: true };
        let (all, rows) = self.every(py, boards, range)?;
        let lists: Vec<Vec<Solution>> =
            all.into_iter().map(|all| listed(all, Solution::of)).collect();
        unpacked(py, lists, &rows)
    }

    /// Returns the number of solutions of each length, beginning with the shortest ones, up to `slack` moves longer; see
    /// `Solver.solve_all`. Ctrl-C stops the search.
    ///
    /// Parameters
    /// ----------
    /// boards
    ///     See `Solver.solve`.
    /// slack : int, default 0
    ///
    /// Returns
    /// -------
    /// list of int, or list of such lists
    ///
    /// Examples
    /// --------
    /// >>> tilewave.Solver("3x3").count_solutions("8 6 7/2 5 4/3 0 1", slack=2)
    /// [40, 0, 207]
    #[pyo3(signature = (boards, *, slack=0))]
    fn count_solutions<'py>(
        &self,
        py: Python<'py>,
        boards: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = numbers::slack)] slack: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let range = SolutionRange { slack, most: None, kept: false };
        let (all, rows) = self.every(py, boards, range)?;
        let counts: Vec<Vec<u64>> = all.into_iter().map(|all| all.counts).collect();
        unpacked(py, counts, &rows)
    }

    /// The goal, (cells,) uint8.
    #[getter]
    fn goal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let width = self.goal.tiles().len();
        arrays::boards(py, self.goal.tiles().to_vec(), &[width], width)
    }

    fn __repr__(&self) -> String {
        format!("Solver(\"{}\", goal=\"{}\")", self.goal.size(), self.goal)
    }
}

/// The solver that `solve` used last.
static LAST: Mutex<Option<Arc<Solver>>> = Mutex::new(None);

/// Returns shortest solutions of boards, cubes and other puzzles, or, for boards of any size, longer solutions that are
/// found quickly.
///
/// A shortest solution of a 4x4 board takes milliseconds. The databases for the last goal stay in memory for the next
/// call (12 MB for 4x4, 510 MB for 5x5); a `Solver` keeps its databases as long as it exists. With ``optimal=False``,
/// thousands of boards of up to 10,000 cells are solved per second; on 4x4 the solutions are about 1.16 times as long
/// as shortest ones.
///
/// Parameters
/// ----------
/// boards : array-like of int, shape (cells,), (rows, columns) or (n, ..); or str, or list of str
///     If `states` is given, the puzzle, in any form that `PuzzleSolver` accepts.
/// states : str, list of str, or array-like of int, optional
///     States of the puzzle; see `PuzzleSolver.solve`.
/// optimal : bool, default True
///     Find shortest solutions.
/// goal : str or board, default "last"
/// size : str, optional
///     The size of flat boards that are not square.
/// databases, threads
///     See `Solver`. For puzzles other than boards, `databases` are the tables of a `PuzzleSolver`.
/// max_nodes, timeout, progress
///     See `Solver.solve`.
///
/// Returns
/// -------
/// Solution, or list of Solution
///
/// Raises
/// ------
/// ValueError
///     If a row is not a board, or cannot reach the goal; the message names the first such row.
/// KeyboardInterrupt
///     On Ctrl-C.
///
/// Examples
/// --------
/// >>> tilewave.solve("5 1 7 3/9 2 11 4/13 6 15 8/0 10 14 12").moves
/// 'DDDLUUULDDDLUUU'
/// >>> [len(s) for s in tilewave.solve([[1, 2, 3, 4, 5, 6, 0, 7, 8], [8, 6, 7, 2, 5, 4, 3, 0, 1]])]
/// [2, 31]
/// >>> quick = tilewave.solve(tilewave.scramble("10x10", 3, rng=1), optimal=False)
/// >>> all(quick)
/// True
/// >>> str(tilewave.solve("2x2x2", "R U F2"))
/// "F2 U' R'"
#[pyfunction]
#[pyo3(signature = (boards, states=None, *, optimal=true, goal=None, size=None, databases=None, threads=None, max_nodes=None, timeout=None, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn solve<'py>(
    py: Python<'py>,
    boards: &Bound<'py, PyAny>,
    states: Option<&Bound<'py, PyAny>>,
    optimal: bool,
    goal: Option<&Bound<'py, PyAny>>,
    #[pyo3(from_py_with = numbers::size_or_none)] size: Option<Size>,
    databases: Option<&Bound<'py, PyAny>>,
    #[pyo3(from_py_with = numbers::threads)] threads: Option<usize>,
    #[pyo3(from_py_with = numbers::max_nodes)] max_nodes: Option<u64>,
    #[pyo3(from_py_with = numbers::timeout)] timeout: Option<Duration>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let limits = Limits { threads, max_nodes, timeout, progress };
    if let Some(states) = states {
        if !optimal || goal.is_some() || size.is_some() {
            return Err(invalid("optimal=, goal= and size= are only for boards"));
        }
        return super::pruning::solve(py, boards, states, databases, limits);
    }
    let (rows, size) = read_boards(boards, size)?;
    let goal = goal_board(goal, size)?;
    // A board that is none need not wait for databases.
    let read = read(&rows, size)?;
    if !optimal {
        let limited = limits.max_nodes.is_some() || limits.timeout.is_some();
        if limited || databases.is_some() || limits.progress.is_some() {
            return Err(invalid(
                "databases=, max_nodes=, timeout= and progress= require optimal=True",
            ));
        }
        return fast(py, goal, &rows, &read, threads);
    }
    let lock = || LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let kept = lock().clone().filter(|last| last.goal == goal && databases.is_none());
    let solver = match kept {
        Some(solver) => solver,
        None => {
            let resources = Resources::new().memory_or_half(None);
            let solver = Arc::new(Solver::of(py, goal, databases, resources)?);
            if databases.is_none() {
                *lock() = Some(solver.clone());
            }
            solver
        }
    };
    unpacked(py, solver.solve_rows(py, &rows, limits)?, &rows)
}

/// Returns solutions that need not be shortest.
fn fast<'py>(
    py: Python<'py>,
    goal: Board,
    rows: &Rows,
    boards: &[Board],
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let optimal = goal.size().cells() <= SMALL;
    let solver = Constructive::new(goal);
    let one = |watch: &Watch, (row, board): (usize, &Board)| {
        let begun = Instant::now();
        // What is raised for it takes the place of all results.
        let moves = match watch.interrupted() {
            true => String::new(),
            false => {
                let solved =
                    solver.solve(board).map_err(|error| in_row(rows, row, error.into()))?;
                solved.long(MoveStyle::Tile)
            }
        };
        let (length, seconds) = (moves.len(), begun.elapsed().as_secs_f64());
        let at_least = if optimal { length } else { 0 };
        Ok(Solution { moves: Some(moves), length, at_least, optimal, nodes: 0, seconds })
    };
    let solutions = long(py, None, |watch| {
        let work = || {
            let all: Vec<_> = boards.par_iter().enumerate().map(|pair| one(watch, pair)).collect();
            all.into_iter().collect::<Result<Vec<Solution>, Error>>()
        };
        match threads {
            Some(_) => Resources::new().threads(threads).install(work)?,
            None => work(),
        }
    })?;
    unpacked(py, solutions, rows)
}
