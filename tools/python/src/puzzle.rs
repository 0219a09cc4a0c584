//! Puzzles, their states as numbers, and their moves.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString, PyTuple};
use tilewave::puzzle::Puzzle;
use tilewave::puzzle::{
    Metric, MoveStyle, Permutation, PuzzleSpec, Searched, StateSpace, Variant, named,
};
use tilewave::solve::Scrambler;
use tilewave::{Board, Direction, Error, Goal, Moves, Progress, Size, random};

use super::arrays::{self, Cells, Form, Rows, as_array, boards, parse_board, per_row, shaped};
use super::errors::{exception, invalid, of_one, of_type};
use super::listed::{Listed, ListedParts, Turning};
use super::numbers;
use super::work::{FIRST, for_rows, in_pieces, long};

/// What is searched.
#[derive(Clone)]
pub enum Subject {
    /// A board, or a puzzle with one set of at most 16 different pieces: its states are numbered.
    Numbered(StateSpace),
    /// Any other puzzle.
    Listed(Arc<Listed>),
}

impl Subject {
    pub fn name(&self) -> String {
        match self {
            Subject::Numbered(space) => space.name(),
            Subject::Listed(listed) => listed.puzzle.name().to_string(),
        }
    }

    pub fn metric(&self) -> Option<String> {
        match self {
            Subject::Numbered(space) => space.metric().map(|metric| metric.name().to_string()),
            Subject::Listed(listed) => listed.metric.clone(),
        }
    }

    /// Returns the space of numbered states; `what` names what is to be made for it.
    pub fn numbered(&self, what: &str) -> PyResult<&StateSpace> {
        match self {
            Subject::Numbered(space) => Ok(space),
            Subject::Listed(listed) => Err(invalid(format!(
                "{what} needs numbered states, which {} does not have: only boards of at most 16 \
                 cells and puzzles with one set of at most 16 distinct pieces have them",
                listed.puzzle
            ))),
        }
    }

    /// Returns the puzzle in the form that list searches take.
    pub fn listed(&self) -> PyResult<Arc<Listed>> {
        match self {
            Subject::Listed(listed) => Ok(listed.clone()),
            Subject::Numbered(space) => {
                let metric = space.metric().map(|metric| metric.name().to_string());
                let puzzle = Puzzle::of_space(space).map_err(|e| exception(Error::from(e)))?;
                Ok(Arc::new(Listed::new(puzzle, metric)))
            }
        }
    }

    fn goal_row(&self) -> Vec<u16> {
        match self {
            Subject::Numbered(space) => space.goal_row(),
            Subject::Listed(listed) => listed.goal_row(),
        }
    }
}

/// Returns an integer of any length from its digits.
pub fn integer<'py>(py: Python<'py>, digits: &str) -> PyResult<Bound<'py, PyAny>> {
    py.get_type::<PyInt>().call1((digits,))
}

/// A sliding-tile board with its goal, a cube, or another permutation puzzle: its states and its moves.
///
/// A board is a sequence of integers in row-major order, with 0 for the blank: an array of shape (.., cells) or (..,
/// rows, columns) of any integer dtype, nested lists, or a string such as "1 2 3/4 5 6/7 8 0". A state of any other
/// puzzle has one number per position. If the puzzle has one set of at most 16 different pieces, the number is the
/// piece at the position, and piece p belongs at position p. Otherwise, the number is piece * orientations +
/// orientation, set after set, with pieces numbered within their set. Leading axes are kept, so a single state gives a
/// single result.
///
/// Two puzzles are equal if their states, moves and goals are equal. Puzzles can be hashed, copied and pickled.
///
/// Parameters
/// ----------
/// puzzle : str, os.PathLike or Puzzle
///     The size of a board ("3x4"), a named puzzle ("3x3x3", "megaminx"; the command ``tilewave puzzles`` lists them),
///     a member of a family ("topspin:12,4"), a graph on which tiles slide ("graph:0-1,1-2,2-0"), or a file that
///     defines a puzzle (.gap, .tws, .def, .kpuzzle.json), or that ``tilewave puzzle -o`` wrote (.puzzle).
/// goal : str or board, optional
///     For boards: "last" (the default: blank in the last cell), "first", "blank=4", or a board.
/// metric : {"stm", "mtm", "htm", "qtm", "slice", "axial"}, optional
///     For boards: a move is one tile ("stm", the default), or any number of tiles in a line ("mtm"). For named puzzles
///     and files: any turn of a face is one move ("htm", the default), or a half turn counts as two ("qtm").
///     For cubes: any turn of any one layer ("slice"), or any turns of layers of one axis together ("axial").
/// directed : bool, default False
///     For files: do not add the inverses of the moves.
/// pieces : str or list of str, optional
///     Use only these sets of pieces: "corners", or ["corners", "edges:1-4"].
/// ignore_orientation : str or list of str, optional
///     Ignore the orientation of these pieces.
/// same : str or list of str, optional
///     Make the pieces in each string look alike.
/// moves : str or list of str, optional
///     Use only these moves, or sequences of moves, each of which becomes one move: "R U", or ["R U R' U'", "F2"].
/// goals : str or list of str, optional
///     The solved states, each given as moves or as the piece at each position; "?" stands for any piece or any
///     orientation.
/// subgroup : str or list of str, optional
///     A state is solved if these moves alone can solve it: "U D R2 L2 F2 B2".
///
/// Raises
/// ------
/// ValueError
///     If there is no such puzzle, or if an option does not apply to this kind of puzzle.
///
/// Examples
/// --------
/// >>> import tilewave
/// >>> phase = tilewave.Puzzle("3x3x3", subgroup="U D R2 L2 F2 B2")
/// >>> tilewave.bfs(phase, max_depth=3).counts.tolist()
/// [1, 4, 50, 592]
/// >>> board = tilewave.Puzzle("3x4")
/// >>> board.num_states, board.shape, board.moves
/// (239500800, (3, 4), ['U', 'D', 'L', 'R'])
/// >>> board.goal
/// array([ 1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11,  0], dtype=uint8)
/// >>> tilewave.Puzzle("pancake:4").moves
/// ['F2', 'F3', 'F4']
/// >>> tilewave.Puzzle("3x3x3").num_states
/// 43252003274489856000
/// >>> tilewave.Puzzle("3x3x3", pieces="corners").sets
/// {'corners': (8, 3)}
#[pyclass(frozen, name = "Puzzle", module = "tilewave")]
pub struct PyPuzzle {
    pub subject: Subject,
}

impl PyPuzzle {
    pub fn form(&self) -> Form {
        match &self.subject {
            Subject::Numbered(space) => form_of(space),
            Subject::Listed(listed) => listed.form(),
        }
    }

    pub fn read(&self, states: &Bound<'_, PyAny>) -> PyResult<Rows> {
        match &self.subject {
            Subject::Numbered(space) => {
                arrays::rows(states, self.form(), &|text| space.row_of_text(text))
            }
            Subject::Listed(listed) => listed.read(states),
        }
    }
}

/// Describes the rows of a numbered puzzle.
pub fn form_of(space: &StateSpace) -> Form {
    let (width, largest) = (space.width(), space.width().saturating_sub(1));
    space.size().map_or_else(|| Form { width, size: None, largest }, Form::board)
}

/// Returns the goal that an argument specifies for a size: a name, a text, or a board.
pub fn goal_board(goal: Option<&Bound<'_, PyAny>>, size: Size) -> PyResult<Board> {
    let Some(goal) = goal else {
        return Goal::Last.board(size).map_err(exception);
    };
    if let Ok(text) = goal.cast::<PyString>() {
        let goal = text.to_string().parse::<Goal>().and_then(|goal| goal.board(size));
        return goal.map_err(exception);
    }
    if goal.extract::<i64>().is_ok() {
        return Err(invalid(format!(
            "goal={goal} is not a goal: choose \"last\", \"first\", \"blank={goal}\" or a board"
        )));
    }
    let rows = arrays::rows(goal, Form::board(size), &|text| {
        Ok(parse_board(text, Some(size))?.tiles().to_vec())
    })?;
    if !rows.is_one() {
        return Err(invalid("goal must be a single board, not an array of boards"));
    }
    Board::new(size, &rows.numbers).map_err(exception)
}

/// The arguments that describe a puzzle, apart from its name.
#[derive(Default)]
pub struct Counted<'a, 'py> {
    pub goal: Option<&'a Bound<'py, PyAny>>,
    pub metric: Option<&'a str>,
    pub directed: bool,
    pub pieces: Option<&'a Bound<'py, PyAny>>,
    pub changed: Changed<'a, 'py>,
}

/// The arguments that change a puzzle with several sets of pieces.
#[derive(Default)]
pub struct Changed<'a, 'py> {
    moves: Option<&'a Bound<'py, PyAny>>,
    ignore_orientation: Option<&'a Bound<'py, PyAny>>,
    same: Option<&'a Bound<'py, PyAny>>,
    goals: Option<&'a Bound<'py, PyAny>>,
    subgroup: Option<&'a Bound<'py, PyAny>>,
}

impl Counted<'_, '_> {
    /// Checks that no arguments are given beside a puzzle that was made with its own.
    fn none_beside_a_puzzle(&self) -> PyResult<()> {
        let Changed { moves, ignore_orientation, same, goals, subgroup } = self.changed;
        let all = [
            ("goal", self.goal.is_some()),
            ("metric", self.metric.is_some()),
            ("directed", self.directed),
            ("pieces", self.pieces.is_some()),
            ("ignore_orientation", ignore_orientation.is_some()),
            ("same", same.is_some()),
            ("moves", moves.is_some()),
            ("goals", goals.is_some()),
            ("subgroup", subgroup.is_some()),
        ];
        match all.into_iter().find(|(_, given)| *given) {
            Some((name, _)) => {
                Err(invalid(format!("{name}= must be specified when the Puzzle is created")))
            }
            None => Ok(()),
        }
    }

    /// What was asked for.
    fn spec(&self, word: &str) -> PyResult<PuzzleSpec> {
        let goal = self.goal.map(|goal| match (goal.cast::<PyString>(), word.parse()) {
            (Ok(text), _) => text.to_string().parse().map_err(exception),
            (_, Ok(size)) => Ok(Goal::Board(goal_board(Some(goal), size)?.to_string())),
            // It is refused with the puzzle's name.
            _ => Ok(Goal::Last),
        });
        let commas = |text: &str| text.split(',').map(|name| name.trim().to_string()).collect();
        let one = |text: &str| vec![text.to_string()];
        let Changed { moves, ignore_orientation, same, goals, subgroup } = self.changed;
        Ok(PuzzleSpec {
            word: word.into(),
            goal: goal.transpose()?,
            metric: self.metric.map(|text| text.parse().map_err(exception)).transpose()?,
            directed: self.directed,
            variant: Variant {
                pieces: words(("pieces", self.pieces), commas)?,
                ignore_orientation: words(("ignore_orientation", ignore_orientation), commas)?,
                same: words(("same", same), commas)?,
                moves: words(("moves", moves), Variant::split)?,
                goals: words(("goals", goals), one)?,
                subgroup: words(("subgroup", subgroup), Variant::split)?,
            },
        })
    }
}

/// The strings of an argument: a list, or one text, which may contain several.
pub fn words(
    (name, given): (&str, Option<&Bound<'_, PyAny>>),
    split: impl Fn(&str) -> Vec<String>,
) -> PyResult<Vec<String>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    if let Ok(text) = given.extract::<String>() {
        return Ok(split(&text));
    }
    let list = given.extract::<Vec<String>>();
    let list = list.map_err(|_| of_type(name, "a string or a list of strings", given))?;
    match list.is_empty() {
        true => Err(invalid(format!("{name}= is an empty list: leave it out"))),
        false => Ok(list),
    }
}

/// Returns the puzzle that an argument specifies: a puzzle, a size, a named puzzle, a member of a family, or a file.
pub fn subject(puzzle: &Bound<'_, PyAny>, counted: Counted<'_, '_>) -> PyResult<Subject> {
    if let Ok(puzzle) = puzzle.cast::<PyPuzzle>() {
        counted.none_beside_a_puzzle()?;
        return Ok(puzzle.get().subject.clone());
    }
    let path: PathBuf = (puzzle.extract())
        .map_err(|_| of_type("puzzle", "a name such as '4x4', a path or a Puzzle", puzzle))?;
    let word = path.to_string_lossy();
    Ok(match counted.spec(&word)?.puzzle().map_err(exception)? {
        Searched::Numbered(space) => Subject::Numbered(space),
        Searched::Listed(puzzle) => {
            let usual = match (named::parse(&word), word.parse::<Size>()) {
                (Some(_), _) => Some("htm"),
                (None, Ok(_)) => Some(Metric::default().name()),
                _ => None,
            };
            let metric = counted.metric.or(usual).map(String::from);
            Subject::Listed(Arc::new(Listed::new(puzzle, metric)))
        }
    })
}

/// A definition in a serializable form: name, labels, and generators with their images.
type DefinitionParts = (String, Vec<usize>, Vec<(String, Vec<u8>)>);

/// How to make a puzzle from generators, besides the generators themselves.
#[derive(Default)]
pub struct Made<'a, 'py> {
    pub names: Option<Vec<String>>,
    pub inverses: bool,
    pub name: &'a str,
    pub twists: Option<&'a Bound<'py, PyAny>>,
    pub orientations: Option<&'a Bound<'py, PyAny>>,
    pub solved: Option<&'a Bound<'py, PyAny>>,
}

/// Returns the puzzle with these generators: rows of an array, which give for every position the position that its
/// element comes from.
pub fn of_generators(generators: &Bound<'_, PyAny>, made: &Made<'_, '_>) -> PyResult<Subject> {
    let array = as_array(generators)?;
    let [count, width] = *array.shape() else {
        let shape = array.shape();
        return Err(invalid(format!(
            "generators must be the rows of a two-dimensional array, not of one of shape {shape:?}"
        )));
    };
    let numbers = arrays::numbers(&array, &|index, value| {
        invalid(format!(
            "row {}: {value} is not a position: positions are 0 to {}",
            index / width.max(1),
            width.max(1) - 1
        ))
    })?;
    let names = made.names.clone().unwrap_or_else(|| (0..count).map(|i| format!("g{i}")).collect());
    if names.len() != count {
        return Err(invalid(format!("there are {} names for {count} generators", names.len())));
    }
    let rows = numbers.chunks_exact(width.max(1));
    let sources: Vec<Vec<usize>> =
        rows.map(|row| row.iter().map(|&source| source.into()).collect()).collect();
    let permutation = |(row, source): (usize, &Vec<usize>)| {
        // Counted from 0, as they are given.
        let wrong_at = |at: &usize| source[*at] >= width || source[..*at].contains(&source[*at]);
        if let Some(at) = (0..width).find(wrong_at) {
            let what = if source[at] < width { "occurs twice" } else { "is too large" };
            return Err(invalid(format!(
                "row {row}: not a permutation of 0 to {}: {} {what}",
                width - 1,
                source[at]
            )));
        }
        let wrong = |error: tilewave::puzzle::PuzzleError| {
            exception(Error::Row { row, reason: Box::new(error.into()) })
        };
        Permutation::new(source).map_err(wrong)
    };
    let permutations = sources.iter().enumerate().map(permutation).collect::<PyResult<Vec<_>>>()?;
    let turning = Turning::read(sources, width, made.twists, made.orientations, made.solved)?;
    if width > Puzzle::MAX_POSITIONS || !turning.is_plain() {
        let listed = turning.puzzle(made.name, &names, made.inverses)?;
        return Ok(Subject::Listed(Arc::new(listed)));
    }
    let pulled = permutations.iter().zip(names);
    let moves = pulled.map(|(pulled, name)| (name, pulled.inverse()));
    let puzzle = Puzzle::of_permutations(made.name, width, moves.collect());
    let puzzle = puzzle.and_then(|of| if made.inverses { of.inverse_closed() } else { Ok(of) });
    Ok(Subject::Numbered(StateSpace::of_puzzle(puzzle.map_err(exception)?)))
}

/// Returns the size that an argument specifies, or that its shape implies: flat boards are taken to be square if
/// possible.
pub fn size_of(boards: &Bound<'_, PyAny>, size: Option<Size>) -> PyResult<Size> {
    if let Some(size) = size {
        return Ok(size);
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
    if array.shape().is_empty() {
        return Err(of_type("boards", "a string, a list or an array", boards));
    }
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
            "boards of {last} cells are not square: specify size=, or pass an array of shape (.., \
             rows, columns)"
        ))),
    }
}

/// Reads boards whose size is given or follows from their shape.
pub fn read_boards(boards: &Bound<'_, PyAny>, size: Option<Size>) -> PyResult<(Rows, Size)> {
    let size = size_of(boards, size)?;
    let parse = |text: &str| Ok(parse_board(text, Some(size))?.tiles().to_vec());
    Ok((arrays::rows(boards, Form::board(size), &parse)?, size))
}

#[pymethods]
impl PyPuzzle {
    #[new]
    #[pyo3(signature = (puzzle, *, goal=None, metric=None, directed=false, pieces=None, ignore_orientation=None, same=None,
                        moves=None, goals=None, subgroup=None))]
    #[allow(clippy::too_many_arguments)]
    fn from_words(
        puzzle: &Bound<'_, PyAny>,
        goal: Option<&Bound<'_, PyAny>>,
        metric: Option<&str>,
        directed: bool,
        pieces: Option<&Bound<'_, PyAny>>,
        ignore_orientation: Option<&Bound<'_, PyAny>>,
        same: Option<&Bound<'_, PyAny>>,
        moves: Option<&Bound<'_, PyAny>>,
        goals: Option<&Bound<'_, PyAny>>,
        subgroup: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyPuzzle> {
        let changed = Changed { moves, ignore_orientation, same, goals, subgroup };
        let counted = Counted { goal, metric, directed, pieces, changed };
        Ok(PyPuzzle { subject: subject(puzzle, counted)? })
    }

    /// Returns the puzzle with the given permutations as moves; its pieces may have orientations and may look alike.
    ///
    /// Parameters
    /// ----------
    /// generators : (moves, positions) array of int
    ///     After move p, position i holds the piece that was at position p[i]: ``state[p]``. These are the only moves.
    /// twists : (moves, positions) array of int, optional
    ///     By how much move m turns the piece that arrives at position i.
    /// orientations : int or (positions,) array of int, optional
    ///     The number of orientations of a piece, 1 by default. Positions whose pieces can change places must have the
    ///     same number of orientations.
    /// solved : (positions,) array of int, optional
    ///     The piece at each position of the solved state; pieces with equal numbers look alike, like stickers of one
    ///     colour. By default, all pieces differ.
    /// names : list of str, optional
    ///     The names of the moves; g0, g1, .. by default.
    /// inverses : bool, default False
    ///     Add the inverse of every move where it is missing.
    /// name : str, default "generators"
    ///     The name of the puzzle.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a row is not a permutation; the message names the first such row.
    ///
    /// Examples
    /// --------
    /// >>> ring = tilewave.Puzzle.from_generators([[1, 2, 3, 0], [1, 0, 2, 3]], names=["L", "X"], inverses=True)
    /// >>> ring.moves, ring.num_states
    /// (['L', 'X', "L'"], 24)
    ///
    /// Three coins in a row, where a move turns over two neighbouring coins:
    ///
    /// >>> coins = tilewave.Puzzle.from_generators([[0, 1, 2]] * 2, twists=[[1, 1, 0], [0, 1, 1]], orientations=2)
    /// >>> tilewave.bfs(coins).counts
    /// array([1, 2, 1], dtype=uint64)
    ///
    /// A ring of three red and three blue beads; a move rotates the ring or swaps two beads:
    ///
    /// >>> beads = tilewave.Puzzle.from_generators(
    /// ...     [[1, 2, 3, 4, 5, 0], [1, 0, 2, 3, 4, 5]], solved=[0, 0, 0, 1, 1, 1], inverses=True
    /// ... )
    /// >>> beads.num_states, tilewave.bfs(beads).diameter
    /// (20, 7)
    #[staticmethod]
    #[pyo3(signature = (generators, *, twists=None, orientations=None, solved=None, names=None, inverses=false, name="generators"))]
    #[allow(clippy::too_many_arguments)]
    fn from_generators(
        generators: &Bound<'_, PyAny>,
        twists: Option<&Bound<'_, PyAny>>,
        orientations: Option<&Bound<'_, PyAny>>,
        solved: Option<&Bound<'_, PyAny>>,
        names: Option<Vec<String>>,
        inverses: bool,
        name: &str,
    ) -> PyResult<PyPuzzle> {
        let made = Made { names, inverses, name, twists, orientations, solved };
        Ok(PyPuzzle { subject: of_generators(generators, &made)? })
    }

    /// The name of the puzzle; for a board, its size.
    #[getter]
    fn name(&self) -> String {
        self.subject.name()
    }

    /// Rows and columns of a board; None for other puzzles.
    #[getter]
    fn shape(&self) -> Option<(usize, usize)> {
        match &self.subject {
            Subject::Numbered(space) => space.size().map(|size| (size.rows(), size.cols())),
            Subject::Listed(_) => None,
        }
    }

    /// The length of a state: the cells of a board or the positions of another puzzle.
    #[getter]
    fn num_positions(&self) -> usize {
        self.form().width
    }

    /// Positions and orientations of each set of pieces, by name, in the order of a state's numbers; "tiles" for
    /// boards.
    #[getter]
    fn sets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let sets = PyDict::new(py);
        match &self.subject {
            Subject::Numbered(space) => {
                let name = if space.size().is_some() { "tiles" } else { "pieces" };
                sets.set_item(name, (space.width(), 1))?;
            }
            Subject::Listed(listed) => {
                for set in listed.puzzle.sets() {
                    sets.set_item(&set.name, (set.positions(), set.orientations))?;
                }
            }
        }
        Ok(sets)
    }

    /// "stm" or "mtm" for a board, "htm", "qtm", "slice" or "axial" as specified for puzzles with turns, None if every generator is a move.
    #[getter]
    fn metric(&self) -> Option<String> {
        self.subject.metric()
    }

    /// The state to be reached, (positions,) uint8; int16 if there are more than 256 positions.
    #[getter]
    fn goal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let width = self.form().width;
        boards(py, self.subject.goal_row(), &[width], width)
    }

    /// The number of reachable states: N!/2 for a board of N cells. None if it is not known.
    #[getter]
    fn num_states<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let numbered = match &self.subject {
            Subject::Numbered(space) => space.states(),
            Subject::Listed(_) => None,
        };
        if let Some(states) = numbered {
            return integer(py, &states.to_string()).map(Some);
        }
        let Ok(listed) = self.subject.listed() else { return Ok(None) };
        let states = py.detach(|| listed.puzzle.states().map(|states| states.to_string()));
        states.map(|digits| integer(py, &digits)).transpose()
    }

    /// Names of the moves, in the order of `neighbors`. For boards: the direction in which the tile moves, U, D, L or
    /// R.
    #[getter]
    fn moves(&self) -> Vec<String> {
        let space = match &self.subject {
            Subject::Numbered(space) => space,
            Subject::Listed(listed) => {
                return listed.puzzle.moves().iter().map(|one| one.name.clone()).collect();
            }
        };
        match space.puzzle() {
            Some(puzzle) => puzzle.moves().iter().map(|one| one.name.clone()).collect(),
            None => Direction::ALL.map(|direction| direction.letter().to_string()).to_vec(),
        }
    }

    /// Returns all states and the moves between them, as the arrays of a sparse matrix.
    ///
    /// States are ordered by depth, the goal first. A move that leaves a state unchanged adds no entry, and two moves
    /// with the same result add only one. Cost: a few microseconds per state, and memory for the numbers of all states.
    ///
    /// Parameters
    /// ----------
    /// max_states : int, default 1000000
    ///
    /// Returns
    /// -------
    /// Adjacency
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If there are more than `max_states` states.
    ///
    /// Examples
    /// --------
    /// >>> graph = tilewave.Puzzle("2x2").adjacency()
    /// >>> graph.states.shape, graph.depths
    /// ((12, 4), array([0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6], dtype=int32))
    /// >>> graph.indices[graph.indptr[0] : graph.indptr[1]]
    /// array([1, 2], dtype=int32)
    #[pyo3(signature = (*, max_states=1_000_000))]
    fn adjacency<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = numbers::max_states)] max_states: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let listed = self.subject.listed()?;
        let width = listed.form().width;
        let most = max_states.min(i32::MAX as usize);
        let found = long(py, None, |watch| Ok(listed.graph(most, || watch.interrupted())))?;
        let Some(graph) = found else {
            return Err(invalid(format!(
                "{} has more than {most} states: increase max_states=, or choose a smaller puzzle",
                listed.puzzle
            )));
        };
        let states = boards(py, graph.rows, &[graph.depths.len(), width], width)?;
        let depths = shaped(py, graph.depths.clone(), &[graph.depths.len()])?;
        let indices = shaped(py, graph.next.clone(), &[graph.next.len()])?;
        let indptr = shaped(py, graph.ends.clone(), &[graph.ends.len()])?;
        let made = py.import("tilewave._graph")?.getattr("Adjacency")?;
        made.call1((states, depths, indices, indptr))
    }

    /// Returns the numbers of states; different states have different numbers.
    ///
    /// A number is line * cells + cell (docs/format.md): the numbers for boards of N cells are 0 to N!/2 - 1, and those
    /// for other puzzles may have gaps. Takes about 30 ns of one core per state.
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
    ///     If a row is not a state, or is a board that cannot reach the goal; the message names the first such row. For
    ///     other puzzles, there is no check whether moves lead to the state. Also raised for boards of more than 20
    ///     cells and for puzzles whose states are not numbered.
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
        let reader = self.subject.numbered("rank")?;
        let rows = self.read(states)?;
        let numbers = (&rows.numbers[..], reader.width());
        let ids = for_rows(py, numbers, FIRST, |states| reader.ids(states))?;
        per_row(py, ids.map_err(if rows.is_one() { of_one } else { exception })?, &rows)
    }

    /// Returns the states with the given numbers: the inverse of `rank`.
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
    ///     If a number does not belong to any state; the message names the first such number.
    ///
    /// Examples
    /// --------
    /// >>> tilewave.Puzzle("3x3").unrank(171709)
    /// array([8, 6, 7, 2, 5, 4, 3, 0, 1], dtype=uint8)
    fn unrank<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let reader = self.subject.numbered("unrank")?;
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

    /// Returns the state after each move, and whether the move is possible.
    ///
    /// For boards, each move is that of one tile, in the directions U, D, L and R in this order; where no tile can
    /// move, the board is unchanged. For other puzzles, every generator is a move, in the order of `moves`.
    ///
    /// Parameters
    /// ----------
    /// states : array-like of int, shape (.., cells) or (.., rows, columns)
    ///
    /// Returns
    /// -------
    /// next_states : uint8 array of shape (.., moves, cells)
    /// legal : bool array of shape (.., moves)
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a row is not a state; the message names the first such row.
    ///
    /// Examples
    /// --------
    /// >>> after, legal = tilewave.Puzzle("2x2").neighbors([1, 2, 3, 0])
    /// >>> legal
    /// array([False,  True, False,  True])
    /// >>> after[1]
    /// array([1, 0, 3, 2], dtype=uint8)
    fn neighbors<'py>(
        &self,
        py: Python<'py>,
        states: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let rows = self.read(states)?;
        let width = self.form().width;
        let space = match &self.subject {
            Subject::Numbered(space) => space,
            Subject::Listed(listed) => {
                let moves = listed.puzzle.moves().len();
                let work = |states: &[u16]| {
                    let all = states.chunks_exact(width).flat_map(|state| {
                        let after = listed.after(state).into_iter();
                        after
                            .map(|after| (after.is_some(), after.unwrap_or_else(|| state.to_vec())))
                    });
                    let (legal, after): (Vec<bool>, Vec<Vec<u16>>) = all.unzip();
                    Ok((after.concat(), legal))
                };
                return neighbors_of(py, &rows, (width, moves), work);
            }
        };
        if let Some(size) = space.size() {
            return board_neighbors(py, &rows, size);
        }
        let moves = space.puzzle().map_or(0, |of| of.moves().len());
        let work = |states: &[u16]| {
            let after = space.after_generators(states)?;
            let legal = vec![true; after.len() / width];
            Ok((after, legal))
        };
        neighbors_of(py, &rows, (width, moves), work)
    }

    /// Returns a state and the states that follow it, one after each move of a sequence.
    ///
    /// Parameters
    /// ----------
    /// state : array-like of int, or str
    /// moves : str or list of str
    ///     Boards: the direction in which each tile moves, "RDDL", or with counts, "RD2L". Other puzzles: names of
    ///     moves, "R U R' U'".
    ///
    /// Returns
    /// -------
    /// uint8 array of shape (moves + 1, positions)
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the state or a move is invalid.
    ///
    /// Examples
    /// --------
    /// >>> cube = tilewave.Puzzle("3x3x3")
    /// >>> way = cube.apply_moves(cube.goal, "R U R' U' " * 6)
    /// >>> way.shape, bool((way[-1] == cube.goal).all())
    /// ((25, 20), True)
    fn apply_moves<'py>(
        &self,
        py: Python<'py>,
        state: &Bound<'py, PyAny>,
        moves: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rows = self.read(state)?;
        if !rows.is_one() {
            return Err(invalid("pass one state, not an array of states"));
        }
        let names = match moves.extract::<String>() {
            Ok(text) => text.split_whitespace().map(String::from).collect(),
            Err(_) => moves.extract::<Vec<String>>()?,
        };
        let width = self.form().width;
        let space = match &self.subject {
            Subject::Numbered(space) => Some(space),
            Subject::Listed(_) => None,
        };
        if let Some(size) = space.and_then(|space| space.size()) {
            return walk_of_board(py, size, &rows, &names.join(" "));
        }
        let all = self.moves();
        let (mut way, mut at) = (rows.numbers.clone(), rows.numbers);
        for name in &names {
            let number = all.iter().position(|other| other == name);
            let number = number.ok_or_else(|| {
                let (of, all) = (self.name(), all.join(" "));
                invalid(format!("'{name}' is not a move of {of}: its moves are {all}"))
            })?;
            let after = match &self.subject {
                Subject::Numbered(space) => {
                    let all = space.after_generators(&at).map_err(of_one)?;
                    Some(all[number * width..(number + 1) * width].to_vec())
                }
                Subject::Listed(listed) => listed.after(&at).swap_remove(number),
            };
            let blocked = || invalid(format!("move '{name}' is not possible at that point"));
            at = after.ok_or_else(blocked)?;
            way.extend(&at);
        }
        boards(py, way, &[names.len() + 1, width], width)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<PyPuzzle>() else { return false };
        match (&self.subject, &other.get().subject) {
            (Subject::Numbered(own), Subject::Numbered(other)) => own == other,
            (Subject::Listed(own), Subject::Listed(other)) => own == other,
            _ => false,
        }
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.subject.goal_row(), self.metric(), self.moves().len()).hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(slf: &Bound<'py, PyPuzzle>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let class = py.get_type::<PyPuzzle>();
        let (maker, parts) = match &slf.get().subject {
            Subject::Listed(listed) => ("_of_parts", listed.parts().into_pyobject(py)?.into_any()),
            Subject::Numbered(space) => match space.puzzle() {
                Some(of) => {
                    let names = of.moves().iter().map(|one| one.name.clone());
                    let images = of.permutations().into_iter().map(|of| of.images().to_vec());
                    let generators: Vec<_> = names.zip(images).collect();
                    let parts = (of.name(), of.labels().to_vec(), generators);
                    ("_of_definition", parts.into_pyobject(py)?.into_any())
                }
                None => {
                    let metric = space.metric().map(Metric::name);
                    let parts = (space.name(), space.goal_text(), metric);
                    ("_of_board", parts.into_pyobject(py)?.into_any())
                }
            },
        };
        (class.getattr(maker)?, (parts,)).into_pyobject(py)
    }

    #[staticmethod]
    fn _of_parts(parts: ListedParts) -> PyResult<PyPuzzle> {
        Ok(PyPuzzle { subject: Subject::Listed(Arc::new(Listed::of_parts(parts)?)) })
    }

    #[staticmethod]
    fn _of_definition(parts: DefinitionParts) -> PyResult<PyPuzzle> {
        let (name, labels, generators) = parts;
        let one = |(name, images): (String, Vec<u8>)| {
            let images: Vec<usize> = images.into_iter().map(usize::from).collect();
            Ok((name, Permutation::new(&images)?))
        };
        let generators: Result<Vec<_>, Error> = generators.into_iter().map(one).collect();
        let moves = generators.map_err(exception)?;
        let puzzle = Puzzle::of_permutations(name, labels.len(), moves);
        let puzzle = puzzle.and_then(|of| of.labelled(&labels)).map_err(exception)?;
        Ok(PyPuzzle { subject: Subject::Numbered(StateSpace::of_puzzle(puzzle)) })
    }

    #[staticmethod]
    fn _of_board(parts: (String, String, String)) -> PyResult<PyPuzzle> {
        let (size, goal, metric) = parts;
        let size: Size = size.parse().map_err(exception)?;
        let goal = parse_board(&goal, Some(size)).map_err(exception)?;
        let metric = metric.parse().map_err(exception)?;
        Ok(PyPuzzle { subject: Subject::Numbered(StateSpace::of_board(goal).in_metric(metric)) })
    }

    fn __repr__(&self) -> String {
        let metric = self.metric().filter(|metric| !matches!(&metric[..], "stm" | "htm"));
        let metric = metric.map_or(String::new(), |metric| format!(", metric=\"{metric}\""));
        match &self.subject {
            Subject::Numbered(space) if space.size().is_some() => {
                format!("Puzzle(\"{}\", goal=\"{}\"{metric})", space.name(), space.goal_text())
            }
            subject => format!("Puzzle(\"{}\"{metric})", subject.name()),
        }
    }
}

/// Returns the values of an array of state numbers.
fn identifiers(array: &Bound<'_, numpy::PyUntypedArray>) -> PyResult<Vec<u64>> {
    use numpy::{PyArrayDyn, PyArrayMethods};
    let kind: String = array.dtype().getattr("kind")?.extract()?;
    let wrong = || invalid("state ids must be integers that are not negative");
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

/// Returns the states after each move of many states of the given width, and which of the moves are possible.
fn neighbors_of<'py>(
    py: Python<'py>,
    rows: &Rows,
    (width, moves): (usize, usize),
    work: impl Fn(&[u16]) -> Result<(Vec<u16>, Vec<bool>), Error> + Sync,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let count = moves * rows.count();
    let (mut after, mut legal) = (Cells::new(width, count * width), Vec::with_capacity(count));
    let join = |(states, possible): (_, Vec<bool>)| {
        after.extend(states);
        legal.extend(possible);
    };
    let done = in_pieces(py, (&rows.numbers[..], width), FIRST, work, join)?;
    done.map_err(if rows.is_one() { of_one } else { exception })?;
    let shape = [&rows.shape[..], &[moves]].concat();
    let legal = shaped(py, legal, &shape)?;
    Ok((after.shaped(py, &[&shape[..], &[width]].concat())?, legal))
}

fn board_neighbors<'py>(
    py: Python<'py>,
    rows: &Rows,
    size: Size,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let work = |boards: &[u16]| tilewave::puzzle::neighbours(size, boards);
    neighbors_of(py, rows, (size.cells(), 4), work)
}

/// For each of the directions U, D, L and R, returns the board after a tile moves in that direction, and whether the
/// move is possible.
///
/// Takes about 20 ns per 4x4 board, using all cores. For other puzzles, see `Puzzle.neighbors`.
///
/// Parameters
/// ----------
/// boards : array-like of int, shape (.., cells) or (.., rows, columns)
/// size : str, optional
///     The size of flat boards that are not square, e.g. "3x4".
///
/// Returns
/// -------
/// next_states : uint8 array of shape (.., 4, cells)
///     Where no tile can move, the board is unchanged.
/// legal : bool array of shape (.., 4)
///
/// Raises
/// ------
/// ValueError
///     If a row is not a board; the message names the first such row.
///
/// Examples
/// --------
/// >>> after, legal = tilewave.neighbors([[1, 2, 3, 4, 5, 6, 7, 8, 0], [1, 2, 3, 4, 0, 5, 6, 7, 8]])
/// >>> after.shape, legal.sum(axis=1)
/// ((2, 4, 9), array([2, 4]))
#[pyfunction]
#[pyo3(signature = (boards, *, size=None))]
pub fn neighbors<'py>(
    py: Python<'py>,
    boards: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = numbers::size_or_none)] size: Option<Size>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (rows, size) = read_boards(boards, size)?;
    board_neighbors(py, &rows, size)
}

/// Returns random states of a puzzle; every reachable state is equally likely.
///
/// Takes a few microseconds per state. With a seed, the states are the same on every machine, and the same as those of
/// the command ``tilewave scramble``.
///
/// Parameters
/// ----------
/// puzzle : str, os.PathLike or Puzzle
///     A board ("4x4") or another puzzle ("3x3x3"), in any form that `Puzzle` accepts.
/// count : int, optional
///     The number of states; if omitted, a single state of shape (positions,) is returned.
/// rng : int or numpy.random.Generator, optional
///     A seed below 2^64, or a generator from which a seed is drawn. By default, the states differ from call to call.
/// goal : str or board, default "last"
///     For boards: the goal that all returned boards can reach.
///
/// Returns
/// -------
/// uint8 array of shape (count, positions) or (positions,); int16 if there are more than 256 positions
///
/// Raises
/// ------
/// ValueError
///     If there is no such puzzle, if some of its moves are not always possible, or if `count` or the seed is negative
///     or too large.
/// MemoryError
///     If the states do not fit in memory.
///
/// Examples
/// --------
/// >>> tilewave.scramble("3x3", rng=1)
/// array([3, 5, 4, 1, 7, 0, 2, 8, 6], dtype=uint8)
/// >>> tilewave.scramble("4x4", 1000).shape
/// (1000, 16)
/// >>> tilewave.scramble("3x3x3", 1000).shape
/// (1000, 20)
#[pyfunction]
#[pyo3(signature = (puzzle, count=None, *, rng=None, goal=None))]
pub fn scramble<'py>(
    py: Python<'py>,
    puzzle: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = numbers::count)] count: Option<usize>,
    #[pyo3(from_py_with = numbers::rng)] rng: Option<u64>,
    goal: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let puzzle = PyPuzzle { subject: subject(puzzle, Counted { goal, ..Counted::default() })? };
    let seed = match rng {
        Some(seed) => seed,
        None => random::seed()?,
    };
    let width = puzzle.form().width;
    // Refused at once rather than when the machine is full.
    let mut numbers = Vec::new();
    let room = numbers.try_reserve_exact(count.unwrap_or(1).saturating_mul(width));
    room.map_err(|_| PyMemoryError::new_err("this many states do not fit in memory"))?;
    let numbers = long(py, None, |watch| {
        for (i, state) in scrambles(&puzzle.subject, seed)?.take(count.unwrap_or(1)).enumerate() {
            // Asked now and then: the caller is told of it by its own signal.
            if i % 4096 == 0 && watch.interrupted() {
                break;
            }
            numbers.extend(state);
        }
        Ok(numbers)
    })?;
    let shape: Vec<usize> = count.into_iter().chain([width]).collect();
    boards(py, numbers, &shape, width)
}

/// Returns random states, as rows.
fn scrambles(
    subject: &Subject,
    seed: u64,
) -> Result<Box<dyn Iterator<Item = Vec<u16>> + '_>, Error> {
    let space = match subject {
        Subject::Numbered(space) => space,
        Subject::Listed(listed) => {
            let states = listed.puzzle.scrambles(seed).ok_or_else(|| {
                Error::Report(format!(
                    "the reachable states of {} are not known, because some of its moves are not \
                     always possible or it has too many pieces",
                    listed.puzzle
                ))
            })?;
            return Ok(Box::new(states.map(|state| listed.row(&state))));
        }
    };
    if let Some(size) = space.size() {
        let goal = Board::new(size, &space.goal_row())?;
        return Ok(Box::new(Scrambler::new(goal, seed).map(|board| board.tiles().to_vec())));
    }
    let states = space.puzzle().map(|puzzle| puzzle.random_permutations(seed));
    let row = |state: Permutation| state.images().iter().map(|&piece| u16::from(piece)).collect();
    Ok(Box::new(states.into_iter().flatten().map(row)))
}

/// Returns a board and the boards that follow it, one after each move of a sequence.
///
/// Parameters
/// ----------
/// board : array-like of int, or str
/// moves : str
///     The direction in which each tile moves: "RDDL", or with counts, "RD2L".
/// size : str, optional
///     The size of a flat board that is not square.
///
/// Returns
/// -------
/// uint8 array of shape (moves + 1, cells)
///
/// Raises
/// ------
/// ValueError
///     If the board or a move is invalid, or if the border blocks a move.
///
/// Examples
/// --------
/// >>> tilewave.apply_moves("1 2/0 3", "L")
/// array([[1, 2, 0, 3],
///        [1, 2, 3, 0]], dtype=uint8)
#[pyfunction]
#[pyo3(signature = (board, moves, *, size=None))]
pub fn apply_moves<'py>(
    py: Python<'py>,
    board: &Bound<'py, PyAny>,
    moves: &str,
    #[pyo3(from_py_with = numbers::size_or_none)] size: Option<Size>,
) -> PyResult<Bound<'py, PyAny>> {
    let (rows, size) = read_boards(board, size)?;
    if !rows.is_one() {
        return Err(invalid("pass one board, not an array of boards"));
    }
    walk_of_board(py, size, &rows, moves)
}

/// Returns a board and the boards that follow it, one after each move of a sequence.
fn walk_of_board<'py>(
    py: Python<'py>,
    size: Size,
    rows: &Rows,
    moves: &str,
) -> PyResult<Bound<'py, PyAny>> {
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

/// The states of a state space, for objects that return more than one array of them.
pub fn states_of(space: &StateSpace, ids: &[u64]) -> PyResult<(Vec<u16>, usize)> {
    Ok((space.rows(ids).map_err(exception)?, space.width()))
}
