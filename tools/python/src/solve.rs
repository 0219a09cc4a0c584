//! Solvers.

use std::sync::{Arc, Mutex};

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::prelude::*;
use tilewave::pdb::{Build, Pdb};
use tilewave::puzzle::MoveStyle;
use tilewave::solve::{Answer, Attempt, SolveError, default_patterns};
use tilewave::{Board, Constructive, Error, Optimal, Progress, Resources, Size};

use super::arrays::{self, Form, Rows, parse_board};
use super::errors::{exception, invalid};
use super::pdb::PatternDatabase;
use super::puzzle::{goal_board, read_boards};
use super::work::{Watch, long};

/// A shortest solution.
///
/// `len` is the number of moves, `str` their letters.
///
/// Examples
/// --------
/// >>> solution = tilewave.solve([[1, 2, 3], [4, 5, 6], [0, 7, 8]])
/// >>> len(solution), str(solution), solution.nodes
/// (2, 'LL', 4)
#[pyclass(frozen, module = "tilewave")]
pub struct Solution {
    /// Where tiles go, a letter each: "RDDL".
    #[pyo3(get)]
    moves: String,
    /// Nodes that the search generated.
    #[pyo3(get)]
    nodes: u64,
    /// Wall time in seconds.
    #[pyo3(get)]
    seconds: f64,
}

impl Solution {
    /// The solution in an answer. Only what raises an exception stops a search: without moves there is nothing to return.
    fn of(answer: Answer) -> PyResult<Solution> {
        let moves = answer.moves.ok_or_else(|| {
            let least = answer.at_least;
            PyRuntimeError::new_err(format!(
                "the search was stopped: it takes at least {least} moves"
            ))
        })?;
        Ok(Solution {
            moves: moves.long(MoveStyle::Tile),
            nodes: answer.nodes,
            seconds: answer.seconds,
        })
    }
}

#[pymethods]
impl Solution {
    fn __len__(&self) -> usize {
        self.moves.len()
    }

    fn __str__(&self) -> &str {
        &self.moves
    }

    fn __repr__(&self) -> String {
        format!("Solution(\"{}\", {} moves, {} nodes)", self.moves, self.moves.len(), self.nodes)
    }
}

/// The optimal solver of one goal, with its pattern databases: IDA*.
///
/// Parameters
/// ----------
/// size : str
///     "4x4"; both sides at most 6.
/// goal : str or board, default "last"
/// databases : list of PatternDatabase, optional
///     Without common tiles, of any kind and encoding, for this goal or one that a rotation or reflection takes its
///     blank to. Without it, a set is built: a fraction of a second on 4x4 (12 MB), seconds on 5x5 (510 MB).
///
/// Raises
/// ------
/// ValueError
///     Says which database cannot be used and why.
///
/// Examples
/// --------
/// >>> solver = tilewave.Solver("3x3")
/// >>> solution = solver.solve("8 6 7/2 5 4/3 0 1")
/// >>> len(solution)
/// 31
#[pyclass(frozen, module = "tilewave")]
pub struct Solver {
    goal: Board,
    optimal: Optimal,
}

impl Solver {
    fn of(
        py: Python<'_>,
        goal: Board,
        databases: Option<Vec<Bound<'_, PatternDatabase>>>,
    ) -> PyResult<Solver> {
        let given = databases
            .map(|all| all.iter().map(|one| one.get().get()).collect::<PyResult<Vec<_>>>());
        let given = given.transpose()?;
        let optimal = long(py, None, |watch| {
            let pdbs = match given {
                Some(pdbs) => pdbs,
                None => default_databases(&goal, watch)?,
            };
            Ok(Optimal::new(&goal, pdbs)?)
        })?;
        Ok(Solver { goal, optimal })
    }

    fn solve_rows(&self, py: Python<'_>, rows: &Rows) -> PyResult<Vec<Solution>> {
        let size = self.goal.size();
        let boards = read(rows, size)?;
        let at = |row, error: SolveError| in_row(rows, row, error.into());
        let answers = long(py, None, |watch| solve_all(&self.optimal, &boards, watch, at))?;
        answers.into_iter().map(Solution::of).collect()
    }
}

/// Builds the databases that suit a goal.
fn default_databases(goal: &Board, watch: &Watch) -> Result<Vec<Arc<Pdb>>, Error> {
    let patterns = default_patterns(goal)?.into_iter();
    let one = |pattern| {
        let resources = Resources::new().memory_or_half(None);
        Ok(Arc::new(Build::new(pattern).resources(resources).run_with(watch)?))
    };
    patterns.map(one).collect()
}

/// Returns the boards of rows, all of them checked.
fn read(rows: &Rows, size: Size) -> PyResult<Vec<Board>> {
    if rows.shape.len() > 1 {
        return Err(invalid("one board is needed, or one axis of boards"));
    }
    let board = |(row, tiles): (usize, &[u16])| {
        Board::new(size, tiles).map_err(|error| in_row(rows, row, error.into()))
    };
    let boards = rows.numbers.chunks_exact(size.cells()).enumerate().map(board);
    boards.collect::<Result<_, Error>>().map_err(exception)
}

/// An error of a row, unless there is only one.
fn in_row(rows: &Rows, row: usize, reason: Error) -> Error {
    match rows.is_one() {
        true => reason,
        false => Error::Row { row, reason: Box::new(reason) },
    }
}

/// Solves boards: each on one thread, the hard ones with all threads afterwards.
fn solve_all(
    optimal: &Optimal,
    boards: &[Board],
    watch: &Watch,
    at: impl Fn(usize, SolveError) -> Error + Copy + Sync,
) -> Result<Vec<Answer>, Error> {
    let at = |row| move |error| at(row, error);
    let attempts: Vec<Result<Attempt, Error>> = boards
        .par_iter()
        .enumerate()
        .map(|(row, board)| optimal.attempt_with(board, watch).map_err(at(row)))
        .collect();
    let attempts: Vec<Attempt> = attempts.into_iter().collect::<Result<_, _>>()?;
    let finish = |(row, attempt)| match attempt {
        Attempt::Answered(answer) => Ok(answer),
        Attempt::Hard(pending) => optimal.finish_with(pending, watch).map_err(at(row)),
    };
    attempts.into_iter().enumerate().map(finish).collect()
}

/// One board gives one result, an axis of boards a list.
fn unpacked<'py, T>(py: Python<'py>, results: Vec<T>, rows: &Rows) -> PyResult<Bound<'py, PyAny>>
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
    #[pyo3(signature = (size, *, goal=None, databases=None))]
    fn new(
        py: Python<'_>,
        size: &str,
        goal: Option<&Bound<'_, PyAny>>,
        databases: Option<Vec<Bound<'_, PatternDatabase>>>,
    ) -> PyResult<Solver> {
        let size: Size = size.parse().map_err(exception)?;
        Solver::of(py, goal_board(goal, size)?, databases)
    }

    /// Returns shortest solutions: milliseconds each on 4x4, seconds to hours on 5x5. Ctrl-C stops.
    ///
    /// Parameters
    /// ----------
    /// boards : array-like of int, shape (cells,), (rows, columns) or (n, ..); or str
    ///
    /// Returns
    /// -------
    /// Solution, or list of Solution
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Names the first row that is no board, or that cannot reach the goal.
    ///
    /// Examples
    /// --------
    /// >>> [len(solution) for solution in tilewave.Solver("3x3").solve(tilewave.scramble("3x3", 3, seed=1))]
    /// [19, 22, 25]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        boards: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let size = self.goal.size();
        let parse = |text: &str| Ok(parse_board(text, Some(size))?.tiles().to_vec());
        let rows = arrays::rows(boards, Form::board(size), &parse)?;
        unpacked(py, self.solve_rows(py, &rows)?, &rows)
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

/// Returns shortest solutions of boards: milliseconds each on 4x4.
///
/// The databases of the last goal stay in memory for the next call (12 MB for 4x4, 510 MB for 5x5); a `Solver` keeps
/// its own as long as it lives.
///
/// Parameters
/// ----------
/// boards : array-like of int, shape (cells,), (rows, columns) or (n, ..); or str, or list of str
/// goal : str or board, default "last"
/// size : str, optional
///     Size of flat boards that are not square.
/// databases : list of PatternDatabase, optional
///     A set is built without them.
///
/// Returns
/// -------
/// Solution, or list of Solution
///
/// Raises
/// ------
/// ValueError
///     Names the first row that is no board, or that cannot reach the goal.
/// KeyboardInterrupt
///     On Ctrl-C.
///
/// Examples
/// --------
/// >>> tilewave.solve("5 1 7 3/9 2 11 4/13 6 15 8/0 10 14 12").moves
/// 'DDDLUUULDDDLUUU'
/// >>> [len(s) for s in tilewave.solve([[1, 2, 3, 4, 5, 6, 0, 7, 8], [8, 6, 7, 2, 5, 4, 3, 0, 1]])]
/// [2, 31]
#[pyfunction]
#[pyo3(signature = (boards, *, goal=None, size=None, databases=None))]
pub fn solve<'py>(
    py: Python<'py>,
    boards: &Bound<'py, PyAny>,
    goal: Option<&Bound<'py, PyAny>>,
    size: Option<&str>,
    databases: Option<Vec<Bound<'py, PatternDatabase>>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (rows, size) = read_boards(boards, size)?;
    let goal = goal_board(goal, size)?;
    // A board that is none need not wait for databases.
    read(&rows, size)?;
    let lock = || LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let kept = lock().clone().filter(|last| last.goal == goal && databases.is_none());
    let solver = match kept {
        Some(solver) => solver,
        None => {
            let own = databases.is_some();
            let solver = Arc::new(Solver::of(py, goal, databases)?);
            if !own {
                *lock() = Some(solver.clone());
            }
            solver
        }
    };
    unpacked(py, solver.solve_rows(py, &rows)?, &rows)
}

/// Returns solutions of boards at once, thousands a second, not the shortest: some 1.16 times as long on 4x4.
///
/// Boards of any size up to 10,000 cells; shortest ones up to nine cells. On all cores.
///
/// Parameters
/// ----------
/// boards : array-like of int, shape (cells,), (rows, columns) or (n, ..); or str, or list of str
/// goal : str or board, default "last"
/// size : str, optional
///     Size of flat boards that are not square.
///
/// Returns
/// -------
/// str, or list of str
///     Where tiles go, a letter each: "RDDL".
///
/// Raises
/// ------
/// ValueError
///     Names the first row that is no board, or that cannot reach the goal.
///
/// Examples
/// --------
/// >>> len(tilewave.fast("8 6 7/2 5 4/3 0 1"))
/// 31
/// >>> boards = tilewave.scramble("10x10", 3, seed=1)
/// >>> [len(moves) > 1000 for moves in tilewave.fast(boards)]
/// [True, True, True]
#[pyfunction]
#[pyo3(signature = (boards, *, goal=None, size=None))]
pub fn fast<'py>(
    py: Python<'py>,
    boards: &Bound<'py, PyAny>,
    goal: Option<&Bound<'py, PyAny>>,
    size: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let (rows, size) = read_boards(boards, size)?;
    let solver = Constructive::new(goal_board(goal, size)?);
    let boards = read(&rows, size)?;
    let one = |watch: &Watch, (row, board): (usize, &Board)| match watch.interrupted() {
        // What is raised for it takes the place of all results.
        true => Ok(String::new()),
        false => match solver.solve(board) {
            Ok(moves) => Ok(moves.long(MoveStyle::Tile)),
            Err(error) => Err(in_row(&rows, row, error.into())),
        },
    };
    let solutions = long(py, None, |watch| {
        let pairs = boards.par_iter().enumerate();
        let all: Vec<_> = pairs.map(|pair| one(watch, pair)).collect();
        all.into_iter().collect::<Result<Vec<String>, Error>>()
    })?;
    unpacked(py, solutions, &rows)
}
