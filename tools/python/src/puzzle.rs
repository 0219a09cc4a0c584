//! Puzzles, their states as numbers, and their moves.

use std::path::{Path, PathBuf};

use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use tilewave::puzzle::formats::{self, Counting, Format};
use tilewave::puzzle::{
    Definition, Generator, Metric, MoveStyle, Permutation, StateSpace, families,
};
use tilewave::solve::Scrambler;
use tilewave::{Board, Direction, Error, Goal, Moves, Size, random};

use super::arrays::{self, Cells, Form, Rows, as_array, boards, parse_board, per_row, shaped};
use super::errors::{exception, invalid, of_one};
use super::numbers;
use super::work::{FIRST, for_rows, in_pieces, long};

/// Most bytes of a file that defines a puzzle.
const MAX_FILE: u64 = 16 << 20;

/// A sliding-tile board with its goal, or another permutation puzzle: its states as numbers, its moves.
///
/// Boards are integers in row-major order, 0 for the blank: arrays of shape (.., cells) or (.., rows, columns) of any
/// integer dtype, nested lists, or texts such as "1 2 3/4 5 6/7 8 0". Arrangements of other puzzles have the number
/// of an element at each position; element e belongs at position e, both from 0. The axes before those of a board
/// are kept, so one board gives one result.
///
/// Parameters
/// ----------
/// puzzle : str, os.PathLike or Puzzle
///     Size of a board ("3x4"), member of a family ("topspin:12,4"), or a file that defines a puzzle (.gap, .tws,
///     .def, .kpuzzle.json).
/// goal : str or board, optional
///     Of boards: "last" (the default: blank in the last cell), "first", "blank=4", or a board.
/// metric : {"stm", "mtm"}, optional
///     Of boards: one tile is one move (the default), or any number of tiles in a line.
/// directed : bool, default False
///     Of files: add no inverses to the moves.
/// quarter : bool, default False
///     Of files: powers of a move are no moves.
///
/// Raises
/// ------
/// ValueError
///     When there is no such puzzle, or an option is not for this kind.
///
/// Examples
/// --------
/// >>> import tilewave
/// >>> board = tilewave.Puzzle("3x4")
/// >>> board.states, board.shape, board.moves
/// (239500800, (3, 4), ['U', 'D', 'L', 'R'])
/// >>> board.goal
/// array([ 1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11,  0], dtype=uint8)
/// >>> tilewave.Puzzle("pancake:4").moves
/// ['F2', 'F3', 'F4']
#[pyclass(frozen, module = "tilewave")]
pub struct Puzzle {
    pub space: StateSpace,
}

impl Puzzle {
    pub fn new(space: StateSpace) -> Puzzle {
        Puzzle { space }
    }

    pub fn form(&self) -> Form {
        form_of(&self.space)
    }

    pub fn read(&self, states: &Bound<'_, PyAny>) -> PyResult<Rows> {
        arrays::rows(states, self.form(), &|text| self.space.row_of_text(text))
    }

    fn goal_row(&self) -> Vec<u16> {
        self.space.goal_row()
    }
}

/// Returns what the rows of a puzzle are.
pub fn form_of(space: &StateSpace) -> Form {
    space.size().map_or_else(|| Form { width: space.width(), size: None }, Form::board)
}

/// Returns the goal that an argument gives for a size: a name, a text, or a board.
pub fn goal_board(goal: Option<&Bound<'_, PyAny>>, size: Size) -> PyResult<Board> {
    let Some(goal) = goal else {
        return Goal::Last.board(size).map_err(exception);
    };
    if let Ok(text) = goal.cast::<PyString>() {
        let goal = text.to_string().parse::<Goal>().and_then(|goal| goal.board(size));
        return goal.map_err(exception);
    }
    let rows = arrays::rows(goal, Form::board(size), &|text| {
        Ok(parse_board(text, Some(size))?.tiles().to_vec())
    })?;
    if !rows.is_one() {
        return Err(invalid("a goal is one board, not an array of some"));
    }
    Board::new(size, &rows.numbers).map_err(exception)
}

/// How the moves of a puzzle are counted.
#[derive(Clone, Copy, Default)]
pub struct Counted<'a, 'py> {
    pub goal: Option<&'a Bound<'py, PyAny>>,
    pub metric: Option<&'a str>,
    pub directed: bool,
    pub quarter: bool,
}

/// Returns what an argument names: a puzzle, a size, a member of a family, or a file.
pub fn space(puzzle: &Bound<'_, PyAny>, counted: Counted<'_, '_>) -> PyResult<StateSpace> {
    let Counted { goal, metric, directed, quarter } = counted;
    if let Ok(puzzle) = puzzle.cast::<Puzzle>() {
        if goal.is_some() || metric.is_some() || directed || quarter {
            return Err(invalid(
                "goal, metric, directed and quarter are said when the Puzzle is made",
            ));
        }
        return Ok(puzzle.get().space.clone());
    }
    let path: PathBuf = puzzle.extract()?;
    let word = path.to_string_lossy();
    let is_file = Format::of(&word).is_some() || path.is_file();
    let metric = metric.map(|text| text.parse::<Metric>().map_err(exception));
    let metric = metric.transpose()?;
    if !is_file && (directed || quarter) {
        return Err(invalid("directed and quarter are for puzzles in files"));
    }
    if word.starts_with(|c: char| c.is_ascii_digit()) && !is_file {
        let size: Size = word.parse().map_err(exception)?;
        let space = StateSpace::of_board(goal_board(goal, size)?);
        return Ok(space.in_metric(metric.unwrap_or_default()));
    }
    if goal.is_some() || metric.is_some() {
        return Err(invalid(format!("goal and metric are for boards, {word} is none")));
    }
    let definition = match is_file {
        true => file(&path, Counting { directed, quarter })?,
        false if word.contains(':') || families::ALL.iter().any(|family| family.name == word) => {
            families::parse(&word).map_err(exception)?
        }
        false => {
            let families: Vec<&str> = families::ALL.iter().map(|family| family.name).collect();
            return Err(invalid(format!(
                "'{word}' is not a board size (rows x columns, for example 3x4), no family of puzzles ({}) and no \
                 file of one (.gap, .tws, .def or .kpuzzle.json)",
                families.join(", ")
            )));
        }
    };
    Ok(StateSpace::of_puzzle(definition))
}

fn file(path: &Path, counting: Counting) -> PyResult<Definition> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    let name = path.display().to_string();
    if bytes.len() as u64 > MAX_FILE {
        return Err(invalid(format!("{name}: no puzzle has so long a definition")));
    }
    let text = String::from_utf8_lossy(&bytes);
    formats::read(&name, &text, counting).map_err(exception)
}

/// Returns the puzzle of generators: rows of an array, each the position that every position takes its element from.
pub fn of_generators(
    generators: &Bound<'_, PyAny>,
    names: Option<Vec<String>>,
    inverses: bool,
    name: &str,
) -> PyResult<Definition> {
    let array = as_array(generators)?;
    let [count, width] = *array.shape() else {
        let shape = array.shape();
        return Err(invalid(format!(
            "generators are rows of one array, not an array of shape {shape:?}"
        )));
    };
    let numbers = arrays::numbers(&array, &|index, value| {
        invalid(format!(
            "row {}: {value} is no position: they are 0 to {}",
            index / width.max(1),
            width.max(1) - 1
        ))
    })?;
    let names = names.unwrap_or_else(|| (0..count).map(|i| format!("g{i}")).collect());
    if names.len() != count {
        return Err(invalid(format!("there are {} names for {count} generators", names.len())));
    }
    let rows = numbers.chunks_exact(width.max(1)).zip(names).enumerate();
    let generators = rows.map(|(row, (sources, name))| {
        let sources: Vec<usize> = sources.iter().map(|&source| source.into()).collect();
        match Permutation::new(&sources) {
            Ok(pulled) => Ok(Generator { name, permutation: pulled.inverse() }),
            Err(error) => Err(exception(Error::Row { row, reason: Box::new(error.into()) })),
        }
    });
    let definition = Definition::new(name, width, generators.collect::<PyResult<Vec<_>>>()?);
    let definition = definition.and_then(|of| if inverses { of.inverse_closed() } else { Ok(of) });
    definition.map_err(exception)
}

/// Returns the size that an argument says, or that its shape tells: flat boards are square if they can be.
pub fn size_of(boards: &Bound<'_, PyAny>, size: Option<&str>) -> PyResult<Size> {
    if let Some(size) = size {
        return size.parse().map_err(exception);
    }
    let text = match boards.cast::<PyString>() {
        Ok(text) => Some(text.to_string()),
        Err(_) if boards.is_instance_of::<numpy::PyUntypedArray>() => None,
        Err(_) => boards
            .get_item(0)
            .ok()
            .and_then(|first| Some(first.cast::<PyString>().ok()?.to_string())),
    };
    if let Some(text) = text {
        return Ok(parse_board(&text, None).map_err(exception)?.size());
    }
    let array = as_array(boards)?;
    arrays::integers(&array)?;
    let shape = array.shape();
    let last = shape.last().copied().unwrap_or(0);
    let side = last.isqrt();
    let grid = (shape.len() >= 2).then(|| (shape[shape.len() - 2], last));
    let grid = grid.filter(|(rows, cols)| *rows >= 2 && *cols >= 2);
    // A grid of four columns and four flat boards of 2x2 have the same shape, not the same tiles.
    let below = |end: usize| -> PyResult<bool> {
        match array.is_empty() {
            true => Ok(true),
            false => array.call_method0("max")?.lt(end),
        }
    };
    let flat = side >= 2 && side * side == last && (grid.is_none() || below(last)?);
    match (flat, grid) {
        (true, _) => Size::new(side, side).map_err(exception),
        (false, Some((rows, cols))) => Size::new(rows, cols).map_err(exception),
        (false, None) => Err(invalid(format!(
            "boards of {last} cells are not square: give size=, or an array of shape (.., rows, columns)"
        ))),
    }
}

/// Reads boards of a size that is said or follows from their shape.
pub fn read_boards(boards: &Bound<'_, PyAny>, size: Option<&str>) -> PyResult<(Rows, Size)> {
    let size = size_of(boards, size)?;
    let parse = |text: &str| Ok(parse_board(text, Some(size))?.tiles().to_vec());
    Ok((arrays::rows(boards, Form::board(size), &parse)?, size))
}

#[pymethods]
impl Puzzle {
    #[new]
    #[pyo3(signature = (puzzle, *, goal=None, metric=None, directed=false, quarter=false))]
    fn from_words(
        puzzle: &Bound<'_, PyAny>,
        goal: Option<&Bound<'_, PyAny>>,
        metric: Option<&str>,
        directed: bool,
        quarter: bool,
    ) -> PyResult<Puzzle> {
        Ok(Puzzle::new(space(puzzle, Counted { goal, metric, directed, quarter })?))
    }

    /// Returns the puzzle of some permutations.
    ///
    /// Parameters
    /// ----------
    /// generators : (moves, positions) array of int
    ///     After move p, position i has what stood at position p[i]: ``state[p]``. Exactly these are the moves.
    /// names : list of str, optional
    ///     What the moves are called; g0, g1, .. otherwise.
    /// inverses : bool, default False
    ///     Add the inverse of every move that is not there.
    /// name : str, default "generators"
    ///     What the puzzle is called.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Names the first row that is no permutation; at most 16 positions.
    ///
    /// Examples
    /// --------
    /// >>> ring = tilewave.Puzzle.from_generators([[1, 2, 3, 0], [1, 0, 2, 3]], names=["L", "X"], inverses=True)
    /// >>> ring.moves, ring.states
    /// (['L', 'X', "L'"], 24)
    #[staticmethod]
    #[pyo3(signature = (generators, *, names=None, inverses=false, name="generators"))]
    fn from_generators(
        generators: &Bound<'_, PyAny>,
        names: Option<Vec<String>>,
        inverses: bool,
        name: &str,
    ) -> PyResult<Puzzle> {
        Ok(Puzzle::new(StateSpace::of_puzzle(of_generators(generators, names, inverses, name)?)))
    }

    /// What the puzzle is called: the size of a board.
    #[getter]
    fn name(&self) -> String {
        self.space.name()
    }

    /// Rows and columns of a board, None for other puzzles.
    #[getter]
    fn shape(&self) -> Option<(usize, usize)> {
        self.space.size().map(|size| (size.rows(), size.cols()))
    }

    /// Numbers of a state: cells of a board, positions of another puzzle.
    #[getter]
    fn cells(&self) -> usize {
        self.form().width
    }

    /// "stm" or "mtm" of a board, None for other puzzles, whose generators are the moves.
    #[getter]
    fn metric(&self) -> Option<&'static str> {
        self.space.metric().map(Metric::name)
    }

    /// The state to be reached, (cells,) uint8; int16 above 256 cells.
    #[getter]
    fn goal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let width = self.form().width;
        boards(py, self.goal_row(), &[width], width)
    }

    /// The number of states that can be reached: N!/2 for a board of N cells; None above 20 cells.
    #[getter]
    fn states(&self) -> Option<u64> {
        self.space.states()
    }

    /// Names of the moves, in the order of `neighbours`: of boards where a tile goes, U, D, L and R.
    #[getter]
    fn moves(&self) -> Vec<String> {
        match self.space.definition() {
            Some(definition) => definition.generators().iter().map(|g| g.name.clone()).collect(),
            None => Direction::ALL.map(|direction| direction.letter().to_string()).to_vec(),
        }
    }

    /// Returns the numbers of states, different for different states.
    ///
    /// A number is line * cells + cell (docs/format.md): those of boards of N cells are 0 to N!/2 - 1, those of other
    /// puzzles may leave gaps. Some 30 ns per state and core.
    ///
    /// Parameters
    /// ----------
    /// states : array-like of int, shape (.., cells) or (.., rows, columns)
    ///
    /// Returns
    /// -------
    /// uint64 array of shape (..), or an int
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Names the first row that is no state, or a board that cannot reach the goal; of other puzzles it is not
    ///     looked at whether moves lead to a state. More than 20 cells.
    ///
    /// Examples
    /// --------
    /// >>> board = tilewave.Puzzle("3x3")
    /// >>> board.rank(["1 2 3/4 5 6/7 8 0", "8 6 7/2 5 4/3 0 1"])
    /// array([     8, 171709], dtype=uint64)
    fn rank<'py>(
        &self,
        py: Python<'py>,
        states: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rows = self.read(states)?;
        let reader = &self.space;
        let numbers = (&rows.numbers[..], reader.width());
        let ids = for_rows(py, numbers, FIRST, |states| reader.ids(states))?;
        per_row(py, ids.map_err(if rows.is_one() { of_one } else { exception })?, &rows)
    }

    /// Returns the states of numbers, the inverse of `rank`.
    ///
    /// Parameters
    /// ----------
    /// ids : array-like of int, any shape
    ///
    /// Returns
    /// -------
    /// uint8 array of shape (.., cells)
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Names the first number that no state has.
    ///
    /// Examples
    /// --------
    /// >>> tilewave.Puzzle("3x3").unrank(171709)
    /// array([8, 6, 7, 2, 5, 4, 3, 0, 1], dtype=uint8)
    fn unrank<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let reader = &self.space;
        let array = as_array(ids)?;
        let mut shape = array.shape().to_vec();
        let is_one = shape.is_empty();
        let ids = identifiers(&array)?;
        let width = reader.width();
        let mut states = Cells::new(width, ids.len() * width);
        let rows = |ids: &[u64]| reader.rows(ids);
        let done = in_pieces(py, (&ids[..], 1), FIRST, rows, |found| states.extend(found))?;
        done.map_err(if is_one { of_one } else { exception })?;
        shape.push(width);
        states.shaped(py, &shape)
    }

    /// Returns the states after each move, and which moves there are.
    ///
    /// Boards are moved one tile at a time, in the order U, D, L, R of where the tile goes; a board stays as it is
    /// where no tile can go. Of other puzzles, every generator is a move, in the order of `moves`.
    ///
    /// Parameters
    /// ----------
    /// states : array-like of int, shape (.., cells) or (.., rows, columns)
    ///
    /// Returns
    /// -------
    /// after : uint8 array of shape (.., moves, cells)
    /// can : bool array of shape (.., moves)
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Names the first row that is no state.
    ///
    /// Examples
    /// --------
    /// >>> after, can = tilewave.Puzzle("2x2").neighbours([1, 2, 3, 0])
    /// >>> can
    /// array([False,  True, False,  True])
    /// >>> after[1]
    /// array([1, 0, 3, 2], dtype=uint8)
    fn neighbours<'py>(
        &self,
        py: Python<'py>,
        states: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let rows = self.read(states)?;
        if let Some(size) = self.space.size() {
            return board_neighbours(py, &rows, size);
        }
        let reader = &self.space;
        let generators = self.space.definition().map(|of| of.generators());
        let moves = generators.map_or(0, <[Generator]>::len);
        let (width, count) = (reader.width(), rows.count() * moves);
        let mut after = Cells::new(width, count * width);
        let work = |states: &[u16]| reader.after_generators(states);
        let join = |found| after.extend(found);
        let done = in_pieces(py, (&rows.numbers[..], width), FIRST, work, join)?;
        done.map_err(if rows.is_one() { of_one } else { exception })?;
        let shape = [&rows.shape[..], &[moves]].concat();
        let can = shaped(py, vec![true; count], &shape)?;
        Ok((after.shaped(py, &[&shape[..], &[width]].concat())?, can))
    }

    fn __repr__(&self) -> String {
        let metric = self.space.metric().filter(|&m| m != Metric::Stm);
        let metric = metric.map_or(String::new(), |metric| format!(", metric=\"{metric}\""));
        match self.space.size() {
            Some(size) => {
                format!("Puzzle(\"{size}\", goal=\"{}\"{metric})", self.space.goal_text())
            }
            None => format!("Puzzle(\"{}\")", self.space.name()),
        }
    }
}

/// Returns the numbers of an array of state numbers.
fn identifiers(array: &Bound<'_, numpy::PyUntypedArray>) -> PyResult<Vec<u64>> {
    use numpy::{PyArrayDyn, PyArrayMethods};
    let kind: String = array.dtype().getattr("kind")?.extract()?;
    let wrong = || invalid("state numbers are integers from 0");
    if !matches!(kind.as_str(), "i" | "u") {
        return Err(wrong());
    }
    if kind == "i" {
        let typed = array.call_method1("astype", ("int64",))?;
        let typed = typed.cast::<PyArrayDyn<i64>>()?.readonly();
        let typed = typed.as_array();
        let ids = typed.iter().enumerate().map(|(row, &id)| {
            u64::try_from(id).map_err(|_| {
                invalid(format!("row {row}: no state has the id {id}: ids are not negative"))
            })
        });
        return ids.collect();
    }
    let typed = array.call_method1("astype", ("uint64",))?;
    let typed = typed.cast::<PyArrayDyn<u64>>()?.readonly();
    Ok(typed.as_array().iter().copied().collect())
}

fn board_neighbours<'py>(
    py: Python<'py>,
    rows: &Rows,
    size: Size,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (width, count) = (size.cells(), 4 * rows.count());
    let (mut after, mut can) = (Cells::new(width, count * width), Vec::with_capacity(count));
    let work = |boards: &[u16]| tilewave::puzzle::neighbours(size, boards);
    let join = |(boards, possible): (_, Vec<bool>)| {
        after.extend(boards);
        can.extend(possible);
    };
    let done = in_pieces(py, (&rows.numbers[..], width), FIRST, work, join)?;
    done.map_err(if rows.is_one() { of_one } else { exception })?;
    let shape = [&rows.shape[..], &[4]].concat();
    let can = shaped(py, can, &shape)?;
    Ok((after.shaped(py, &[&shape[..], &[width]].concat())?, can))
}

/// Returns the boards after each of the moves U, D, L and R of a tile, and which of these moves there are.
///
/// Some 20 ns per board of 4x4, on all cores. For other puzzles see `Puzzle.neighbours`.
///
/// Parameters
/// ----------
/// boards : array-like of int, shape (.., cells) or (.., rows, columns)
/// size : str, optional
///     Size of flat boards that are not square, "3x4".
///
/// Returns
/// -------
/// after : uint8 array of shape (.., 4, cells)
///     Where no tile can go, the board as it was.
/// can : bool array of shape (.., 4)
///
/// Raises
/// ------
/// ValueError
///     Names the first row that is no board.
///
/// Examples
/// --------
/// >>> after, can = tilewave.neighbours([[1, 2, 3, 4, 5, 6, 7, 8, 0], [1, 2, 3, 4, 0, 5, 6, 7, 8]])
/// >>> after.shape, can.sum(axis=1)
/// ((2, 4, 9), array([2, 4]))
#[pyfunction]
#[pyo3(signature = (boards, *, size=None))]
pub fn neighbours<'py>(
    py: Python<'py>,
    boards: &Bound<'py, PyAny>,
    size: Option<&str>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (rows, size) = read_boards(boards, size)?;
    board_neighbours(py, &rows, size)
}

/// Returns the numbers of boards, or of states of another puzzle: `Puzzle.rank`.
///
/// Parameters
/// ----------
/// states : array-like of int
/// puzzle : str or Puzzle, optional
///     What they are states of; without it, boards with the goal "last" whose size their shape tells.
///
/// Returns
/// -------
/// uint64 array, or an int
///
/// Raises
/// ------
/// ValueError
///     Names the first row that is no state, or that cannot reach the goal.
///
/// Examples
/// --------
/// >>> tilewave.rank([[1, 2, 3], [4, 5, 6], [7, 0, 8]])
/// 7
#[pyfunction]
#[pyo3(signature = (states, puzzle=None))]
pub fn rank<'py>(
    py: Python<'py>,
    states: &Bound<'py, PyAny>,
    puzzle: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let space = match puzzle {
        Some(puzzle) => space(puzzle, Counted::default())?,
        None => StateSpace::of_board(goal_board(None, size_of(states, None)?)?),
    };
    Puzzle::new(space).rank(py, states)
}

/// Returns the states of numbers: `Puzzle.unrank`.
///
/// Parameters
/// ----------
/// ids : array-like of int, any shape
/// puzzle : str or Puzzle
///
/// Returns
/// -------
/// uint8 array of shape (.., cells)
///
/// Raises
/// ------
/// ValueError
///     Names the first number that no state has.
///
/// Examples
/// --------
/// >>> tilewave.unrank([8, 7], "3x3")
/// array([[1, 2, 3, 4, 5, 6, 7, 8, 0],
///        [1, 2, 3, 4, 5, 6, 7, 0, 8]], dtype=uint8)
#[pyfunction]
pub fn unrank<'py>(
    py: Python<'py>,
    ids: &Bound<'py, PyAny>,
    puzzle: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    Puzzle::new(space(puzzle, Counted::default())?).unrank(py, ids)
}

/// Returns random boards that can reach the goal, all equally likely.
///
/// About a microsecond per board of 4x4. A seed gives the same boards on every machine, those of the command
/// ``tilewave scramble``.
///
/// Parameters
/// ----------
/// size : str
///     "4x4".
/// count : int, optional
///     How many; one board alone without it.
/// seed : int, optional
///     Below 2^64; another one each time without it.
/// goal : str or board, default "last"
///
/// Returns
/// -------
/// uint8 array of shape (count, cells) or (cells,); int16 above 256 cells
///
/// Raises
/// ------
/// ValueError
///     When there is no such board, or a number is negative or too large.
/// MemoryError
///     When there is no room for so many boards.
///
/// Examples
/// --------
/// >>> tilewave.scramble("3x3", seed=1)
/// array([3, 5, 4, 1, 7, 0, 2, 8, 6], dtype=uint8)
/// >>> tilewave.scramble("4x4", 1000).shape
/// (1000, 16)
#[pyfunction]
#[pyo3(signature = (size, count=None, *, seed=None, goal=None))]
pub fn scramble<'py>(
    py: Python<'py>,
    size: &str,
    #[pyo3(from_py_with = numbers::count)] count: Option<usize>,
    #[pyo3(from_py_with = numbers::seed)] seed: Option<u64>,
    goal: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let size: Size = size.parse().map_err(exception)?;
    let goal = goal_board(goal, size)?;
    let seed = match seed {
        Some(seed) => seed,
        None => random::seed()?,
    };
    let width = size.cells();
    // Refused at once rather than when the machine is full.
    let mut numbers = Vec::new();
    let room = numbers.try_reserve_exact(count.unwrap_or(1).saturating_mul(width));
    room.map_err(|_| PyMemoryError::new_err("so many boards fit no memory"))?;
    let numbers = long(py, None, |watch| {
        use tilewave::Progress;
        for (i, board) in Scrambler::new(goal, seed).take(count.unwrap_or(1)).enumerate() {
            // Asked now and then: the caller is told of it by its own signal.
            if i % 4096 == 0 && watch.interrupted() {
                break;
            }
            numbers.extend_from_slice(board.tiles());
        }
        Ok(numbers)
    })?;
    let shape: Vec<usize> = count.into_iter().chain([width]).collect();
    boards(py, numbers, &shape, width)
}

/// Returns a board and the boards after each of some moves.
///
/// Parameters
/// ----------
/// board : array-like of int, or str
/// moves : str
///     Where tiles go: "RDDL", or with counts, "RD2L".
/// size : str, optional
///     Size of a flat board that is not square.
///
/// Returns
/// -------
/// uint8 array of shape (moves + 1, cells)
///
/// Raises
/// ------
/// ValueError
///     For what is no board or no move, and for a move that the border stops.
///
/// Examples
/// --------
/// >>> tilewave.play("1 2/0 3", "L")
/// array([[1, 2, 0, 3],
///        [1, 2, 3, 0]], dtype=uint8)
#[pyfunction]
#[pyo3(signature = (board, moves, *, size=None))]
pub fn play<'py>(
    py: Python<'py>,
    board: &Bound<'py, PyAny>,
    moves: &str,
    size: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let (rows, size) = read_boards(board, size)?;
    if !rows.is_one() {
        return Err(invalid("one board is needed, not an array of some"));
    }
    let mut board = Board::new(size, &rows.numbers).map_err(exception)?;
    let moves = Moves::parse(moves, MoveStyle::Tile).map_err(exception)?;
    // Refused with the number of the first move that is blocked.
    moves.apply(&board).map_err(exception)?;
    let mut numbers = board.tiles().to_vec();
    for &direction in &moves.0 {
        board = board.slide(direction).unwrap_or(board);
        numbers.extend_from_slice(board.tiles());
    }
    let width = size.cells();
    boards(py, numbers, &[moves.len() + 1, width], width)
}

/// The states of a state space, kept by objects that hand out more than one array of them.
pub fn states_of(space: &StateSpace, ids: &[u64]) -> PyResult<(Vec<u16>, usize)> {
    Ok((space.rows(ids).map_err(exception)?, space.width()))
}
