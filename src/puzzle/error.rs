//! Errors in boards, puzzles, their states and the files that define them. Each message is one line and says what to
//! do.

use crate::hint::{Hint, PIECES};
use crate::units::{counted, joined, shown};

// Limits: the types that have them as public constants document them.
pub(crate) const MAX_CELLS: usize = 10_000;
pub(crate) const MAX_SEQUENCE: usize = 10_000_000;
pub(crate) const MAX_POINTS: usize = 255;
pub(crate) const MAX_POSITIONS: usize = 16;
pub(crate) const MAX_MOVES: usize = 1024;
/// Solved states of a puzzle with several sets of pieces.
pub(crate) const MAX_GOALS: usize = 1 << 20;
pub(crate) const MAX_LOCATIONS: usize = 128;
/// Repetitions of a part of a sequence of moves.
pub(crate) const MAX_REPETITIONS: u32 = 10_000;

/// An error in a board, a puzzle, a state or a puzzle file. The fields are named after what the message says of them.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PuzzleError {
    // What is asked for.
    /// The word names no puzzle.
    #[error(
        "'{0}' is not a puzzle: specify a board (3x4), a puzzle listed by `{puzzles}`, or a file (.gap, .tws, \
         .def, .kpuzzle.json or .puzzle)",
        puzzles = Hint::Command("puzzles")
    )]
    NoPuzzle(String),
    /// The word begins as boards and cubes do.
    #[error("'{0}' is neither a board size (3x4) nor a cube (3x3x3, at most 20x20x20)")]
    NoBoardOrCube(String),
    /// The puzzle does not have what is asked for.
    #[error("{0}")]
    Option(String),
    /// A file that `tilewave puzzle` writes has other contents.
    #[error(
        "{0} is not a file that {puzzle} writes, or is damaged: write it again",
        puzzle = Hint::Command("puzzle")
    )]
    PuzzleFile(String),
    /// A file is too long to define a puzzle.
    #[error("{0} is too large: a puzzle file may have at most 16 MiB")]
    LargeFile(String),
    // Boards.
    /// The text does not have the form RxC.
    #[error("'{0}' is not a board size: write ROWSxCOLUMNS, for example 3x4")]
    SizeSyntax(String),
    /// A side of the size (rows, columns) is shorter than 2.
    #[error(
        "board {0}x{1} is too small: both sides must be at least 2, because tiles in one row never \
         change their order"
    )]
    TooSmall(usize, usize),
    /// The size (rows, columns) has more cells than a board can have.
    #[error("board {0}x{1} is too large: a board has at most {max} cells", max = MAX_CELLS)]
    TooLarge(usize, usize),
    /// A word of the board is neither a tile number nor a blank.
    #[error("'{0}' in the board is not a tile: write tile numbers, and 0, x or _ for the blank")]
    Word(String),
    /// The text is empty.
    #[error("the board is empty: write rows separated by '/', for example '1 2 3/4 5 6/7 8 0'")]
    Empty,
    /// The rows have different lengths.
    #[error(
        "row {row} of the board has {found} tiles, but row 1 has {expected}: all rows must have \
         the same length"
    )]
    Ragged { row: usize, found: usize, expected: usize },
    /// A flat list whose shape is ambiguous.
    #[error(
        "a flat list of {0} tiles does not make a square board: separate the rows with '/', or \
         specify the size of the board"
    )]
    FlatNeedsSize(usize),
    /// The board has the wrong size.
    #[error("the board has {}, but {size} needs {expected}", counted(*found as u64, "cell"))]
    WrongCells { size: String, expected: usize, found: usize },
    /// The board has the right number of cells but the wrong shape.
    #[error("the board is {found} instead of {expected}: write rows of the right length")]
    WrongShape { found: String, expected: String },
    /// A tile number that the board does not have.
    #[error("tile {tile} is not on a {size} board: its tiles are 1 to {tiles}")]
    UnknownTile { tile: usize, size: String, tiles: usize },
    /// A tile or the blank (0) occurs twice, so another one is missing.
    #[error("{} occurs twice and {} is missing: every tile must occur exactly once", tile_name(*.twice), tile_name(*.missing))]
    Repeated { twice: u16, missing: u16 },
    /// The text is not a goal.
    #[error(
        "'{0}' is not a goal: write last, first, blank=CELL or a board such as '1 2 3/4 5 6/7 8 0'"
    )]
    GoalSyntax(String),
    /// The blank's goal cell is not on the board.
    #[error("goal blank={cell} is not on a {size} board: its cells are numbered 0 to {last}")]
    GoalCell { cell: usize, size: String, last: usize },
    /// The edges of a graph are none that a puzzle can be on: why.
    #[error(
        "{0}: write the edges of a connected graph, its vertices numbered from 0, for example \
         graph:0-1,1-2,2-3,3-0"
    )]
    Graph(String),
    /// The text is not the name of a move notation, `tile` or `blank`.
    #[error(
        "'{0}' is not a move notation: choose tile (the direction in which the tile moves) or \
             blank"
    )]
    MoveStyle(String),
    /// The text is not the name of a metric.
    #[error(
        "'{0}' is not a metric: choose stm (a move slides one tile) or mtm (any number of tiles in a \
         line) for boards, htm (any turn is a move) or qtm (a half turn is two) for twisty puzzles"
    )]
    Metric(String),
    /// A character of a move sequence, counted from 1, is not a move: the text found there follows.
    #[error(
        "'{1}' at character {0} is not a move: write U, D, L or R, each with an optional \
         count, for example R3"
    )]
    MoveSyntax(usize, String),
    /// The sequence has more moves than can be read.
    #[error("the sequence has more than {max} moves: split it into shorter sequences", max = MAX_SEQUENCE)]
    TooManyMoves,
    /// A move, counted from 1, of a tile in this direction is blocked by the border of the board.
    #[error("move {0} ({1}) is blocked by the border of the board")]
    BlockedMove(usize, char),
    /// A board of this size and with this number of cells has too many states for them to be numbered.
    #[error(
        "board {0} has {1} cells, but only boards of at most 20 cells have numbered states: \
         choose a smaller board"
    )]
    NoNumbers(String, usize),
    /// Start and goal have different parities; exchanging two tiles makes the board solvable.
    #[error(
        "'{board}' is not solvable: the board's parity is odd, so no moves lead to the goal \
         '{goal}'; exchange two tiles (for example {} and {}) or choose another goal", swap.0, swap.1)]
    Unsolvable { board: String, goal: String, swap: (u16, u16) },
    // Permutations and how they are written.
    /// A point, counted from 0, is the image of two points or occurs twice in cycles. Its text counts from `base`.
    #[error("not a permutation: point {} occurs twice", .point + .base)]
    PointTwice { point: usize, base: usize },
    /// A point, counted from 0, is outside the set of points. Its text counts from `base`.
    #[error("not a permutation of {points} points: it contains point {}", .point + .base)]
    PointOutside { point: usize, points: usize, base: usize },
    /// There are more points than a permutation can have.
    #[error("{0} points are too many: a permutation has at most {max}", max = MAX_POINTS)]
    ManyPoints(usize),
    /// Other text was expected; in a permutation, it was expected at a byte offset.
    #[error("expected {expected}, found {found}")]
    Syntax { at: usize, found: String, expected: String },
    /// No point has the number at a byte offset.
    #[error("{found} is not a point: points are {base} to {}", .base + MAX_POINTS - 1)]
    NoPoint { at: usize, found: String, base: usize },
    // Sequences of moves.
    /// No move has this name.
    #[error("'{name}' is not a move{of}")]
    UnknownMove { name: String, of: String },
    /// A bracket is unmatched, or another character is out of place.
    #[error("{0} in a sequence of moves")]
    MoveOutOfPlace(String),
    /// A list of sequences has an empty one.
    #[error(
        "a sequence of moves is empty: write moves before and after each comma, for example R,U"
    )]
    NoSequence,
    /// The number of repetitions is too large.
    #[error("'{0}' has too many repetitions: at most {max} are allowed", max = MAX_REPETITIONS)]
    RepeatedOften(String),
    /// A move depends on the position of a piece, so a sequence of moves cannot be used.
    #[error(
        "whether move '{0}' is possible depends on where a piece is: write the piece at each \
         position instead of moves"
    )]
    SequenceRequires(String),
    // Arrangements of several sets of pieces.
    /// The text has too many or too few sets of pieces.
    #[error(
        "found {} of pieces, but the puzzle has {expected}: write all sets, separated by ';'",
        counted(*found as u64, "set")
    )]
    Sets { found: usize, expected: usize },
    /// The name of the set was expected, but other text was found.
    #[error("expected the pieces of set '{expected}', found '{found}'")]
    SetName { found: String, expected: String },
    /// A word is not the number of a piece.
    #[error("'{word}' is not the number of a piece in set '{set}'")]
    NoNumber { word: String, set: String },
    /// A set has too many or too few pieces.
    #[error("set '{set}' has {expected} positions, but {found} are given")]
    SetPositions { set: String, found: usize, expected: usize },
    /// A piece of a set does not exist, or occurs too often.
    #[error("piece {1} occurs too often in set '{0}', or does not belong to this set")]
    PieceCount(String, u8),
    // Puzzles of one orbit and their states.
    /// There are too few or too many positions.
    #[error("the puzzle has {0} positions, but a puzzle must have 2 to {max}", max = MAX_POSITIONS)]
    Positions(usize),
    /// No generator moves anything.
    #[error("no generator moves anything: a puzzle needs at least one that moves a piece")]
    NoGenerators,
    /// There are too many generators.
    #[error("the puzzle has more than {max} moves, including inverses and powers", max = MAX_MOVES)]
    ManyMoves,
    /// A generator has an empty name, or its name contains characters that separate names.
    #[error(
        "'{0}' cannot be the name of a move: a name must not be empty or contain spaces, brackets, \
         commas or colons"
    )]
    MoveName(String),
    /// Two generators have the same name.
    #[error("two moves are called '{0}': every move must have its own name")]
    NameTwice(String),
    /// A generator has the wrong number of positions.
    #[error("move '{name}' permutes {found} positions, but the puzzle has {expected}")]
    MoveLength { name: String, found: usize, expected: usize },
    /// A state has the wrong length.
    #[error("the state has {found} elements, but {puzzle} has {expected}")]
    StateLength { puzzle: String, found: usize, expected: usize },
    /// A word of a state is not an element.
    #[error(
        "'{word}' in the state is not an element: the elements of {puzzle} are {}",
        list(.labels)
    )]
    Element { word: String, puzzle: String, labels: Vec<usize> },
    /// An element occurs twice in a state.
    #[error("element {twice} occurs twice in the state and element {missing} is missing")]
    ElementTwice { twice: usize, missing: usize },
    /// The moves do not lead to the state.
    #[error("no moves of {puzzle} lead to this state")]
    Unreachable { puzzle: String },
    /// The moves do not lead to the arrangement.
    #[error("no moves of {puzzle} lead to this state: {why}")]
    Unreached { puzzle: String, why: String },
    /// A goal, counted from 1, is wrong.
    #[error("goal {number}: {error}")]
    Goal { number: usize, error: Box<PuzzleError> },
    /// There are more goals than can be listed one by one.
    #[error("{0}: there are more than {max} goal states, and these do not form a single state of a \
             projection of the puzzle: choose options that leave fewer goals", max = MAX_GOALS)]
    ManyGoals(String),
    /// It is unknown which goals the moves of the puzzle reach.
    #[error(
        "{0} can have only one goal, because it is not known which other goals the moves reach"
    )]
    UnknownGoals(String),
    /// No state has this number.
    #[error("no state of {puzzle} has the id {id}: all ids are below {ids}")]
    NoState { puzzle: String, id: u64, ids: u64 },
    // Puzzles of several orbits.
    /// There are no orbits.
    #[error("a puzzle needs at least one set of pieces")]
    NoOrbits,
    /// An orbit has more locations (positions times orientations) than a byte can number.
    #[error(
        "set '{0}' has {1} combinations of position and orientation, but at most {max} are \
         supported",
        max = MAX_LOCATIONS
    )]
    Locations(String, usize),
    /// A modulus does not divide the number of orientations, or an orientation is out of range.
    #[error(
        "set '{orbit}': orientation {turn} of a piece is out of range: the piece has only {}",
        counted(u64::from(*modulus), "orientation")
    )]
    Turn { orbit: String, turn: u8, modulus: u8 },
    /// A move does not permute the positions of an orbit.
    #[error("move '{name}' is not a permutation of the {positions} positions of set '{orbit}'")]
    NoPermutation { name: String, orbit: String, positions: usize },
    /// A move needs, or a state must not have, a piece or a position that does not exist.
    #[error(
        "set {orbit} has no position {position} or no kind of piece {kind}, all counted from 0"
    )]
    Place { orbit: u8, position: u8, kind: u8 },
    /// A twist is out of range.
    #[error(
        "move '{name}' turns a piece of set '{orbit}' by {twist}, but the piece has only {}",
        counted(u64::from(*orientations), "orientation")
    )]
    Twist { name: String, orbit: String, twist: u8, orientations: u8 },
    /// No move has an effect.
    #[error("no move changes anything: a puzzle needs at least one move that does")]
    NoMoves,
    /// The puzzle has no set with this name.
    #[error("no set is called '{name}': the sets are {orbits}")]
    NoOrbit { name: String, orbits: String },
    /// The set does not have these pieces.
    #[error(
        "'{text}' does not specify pieces of set '{set}': its pieces are 1 to {pieces}; write, for \
         example, 1-4 or 1+3+5-7"
    )]
    NoPieces { text: String, set: String, pieces: usize },
    /// A set cannot be left out, because which moves are allowed depends on it.
    #[error("set '{0}' cannot be left out, because some moves depend on it")]
    Needed(String),
    /// There are more arrangements than 62 bits can number.
    #[error("{0} has too many arrangements for a complete table: keep fewer pieces ({PIECES})")]
    ManyStates(String),
    // Families.
    /// There is no family with this name.
    #[error("'{name}' is not a family of puzzles: the families are {families}")]
    UnknownFamily { name: String, families: String },
    /// The number of parameters is wrong, or one is not a number.
    #[error(
        "'{text}' is not a {family} puzzle: write {family}:{parameters}, for example {example}"
    )]
    FamilySyntax {
        text: String,
        family: &'static str,
        parameters: &'static str,
        example: &'static str,
    },
    /// No puzzle of the family has this N.
    #[error("{0} puzzles have 2 to {max} positions, not {1}", max = MAX_POSITIONS)]
    FamilyPositions(&'static str, usize),
    /// No puzzle of the family with this N has this K.
    #[error("{0}:{1},{2}: the second number must be from 2 to {1}")]
    FamilyPart(&'static str, usize, usize),
    // Files.
    /// The format cannot be determined from the name of the file.
    #[error(
        "the format is not known: the name of a puzzle file must end in .gap, .tws, .def or \
         .kpuzzle.json"
    )]
    FileFormat,
    /// A required part is missing.
    #[error("{0} is missing")]
    MissingPart(String),
    /// A part comes after what must follow it.
    #[error("'{0}' must come before {1}")]
    OutOfOrder(&'static str, String),
    /// The file is the result of a search, not a puzzle.
    #[error(
        "the file contains the result of a search, not the definition of a puzzle: specify the \
         puzzle itself"
    )]
    SearchResult,
    /// A part that may occur only once is repeated.
    #[error("{0} occurs twice")]
    ThereTwice(String),
    /// A name is used before its definition.
    #[error("'{0}' is used before it is defined")]
    Undefined(String),
    /// Two lists of permutations might both be that of the moves.
    #[error("'{0}' and '{1}' are different lists of permutations: call the list of moves Gen")]
    SeveralLists(String, String),
    /// The puzzle has several sets of pieces, but only one is supported here.
    #[error("'{0}' is a second set of pieces: puzzles with several sets are not supported here")]
    SecondSet(String),
    /// The puzzle has pieces that can be turned in place, which are not supported here.
    #[error("pieces with {0} orientations are not supported here: {why}", why = orientations(*.0))]
    Orientations(usize),
    /// A piece is turned by as much as its set has orientations, or by more.
    #[error("a piece is turned by {0}, but the pieces of its set have only {all}",
        all = if *.1 == 1 { "one orientation".into() } else { format!("{} orientations", .1) })]
    Turned(String, usize),
    /// The orientation matters for some, but not all, of several equal pieces.
    #[error(
        "only some of the identical pieces with the number {0} have the orientation '?' (any \
         orientation): give all or none of them a '?'"
    )]
    SeenAndUnseen(usize),
    /// The puzzle has equal pieces, which are not supported here.
    #[error("identical pieces ({0}) are not supported: every piece must have its own number")]
    AlikePieces(String),
    /// A statement of the format changes the puzzle in a way that this program does not support.
    #[error(
        "'{word}' is known, but not supported: it changes which states or moves there are; what \
             is read begins with {read}"
    )]
    Statement { word: String, read: &'static str },
    /// A part of the format that this program does not support.
    #[error("'{0}' is not supported")]
    Unsupported(String),
    /// A list has the wrong length.
    #[error("found {found} numbers, but {expected} are needed")]
    Numbers { found: usize, expected: usize },
    /// There are more pieces than can be read.
    #[error("the set has {0} pieces, but a set must have 1 to 255")]
    Pieces(String),
    /// The group acts faithfully only on too many points.
    #[error(
        "the moves permute {moved} points in {orbits}, but a puzzle can have at most {most} \
         positions, and {}",
        if *sure {
            format!("no {most} of the points distinguish all states")
        } else {
            format!("no {most} points that distinguish all states were found")
        }
    )]
    TooManyPoints { moved: usize, orbits: String, most: usize, sure: bool },
    /// The generator with this name is wrong.
    #[error("{0}: {1}")]
    Generator(String, Box<PuzzleError>),
    /// The text is not JSON.
    #[error("{0}")]
    Json(String),
    /// A puzzle file cannot be used, because of a line, counted from 1, or as a whole (0).
    #[error("{}: {reason}", place(.file, *.line))]
    File { file: String, line: usize, reason: Box<PuzzleError> },
}

fn tile_name(tile: u16) -> String {
    if tile == 0 { "the blank".into() } else { format!("tile {tile}") }
}

/// `1 to 12`, or all of the numbers if some are missing in between.
fn list(labels: &[usize]) -> String {
    let mut sorted = labels.to_vec();
    sorted.sort_unstable();
    if sorted.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
        return format!("{} to {}", sorted[0], sorted[sorted.len() - 1]);
    }
    joined(sorted, " ")
}

/// The numbers of orientations that are supported where this number is not.
fn orientations(found: usize) -> &'static str {
    match found {
        2..=127 => "the pieces must have only one orientation",
        _ => "the number of orientations must be 1 to 127",
    }
}

fn place(file: &str, line: usize) -> String {
    match line {
        0 => shown(file, 4096),
        line => format!("{}:{line}", shown(file, 4096)),
    }
}

/// What is found where a text ends.
pub(super) const END: &str = "the end";
/// What is found, or expected, where a line ends.
pub(super) const LINE_END: &str = "the end of the line";

impl PuzzleError {
    /// Returns the error with points counted from another number than 1.
    pub(super) fn counted_from(self, base: usize) -> PuzzleError {
        match self {
            PuzzleError::PointTwice { point, .. } => PuzzleError::PointTwice { point, base },
            PuzzleError::PointOutside { point, points, .. } => {
                PuzzleError::PointOutside { point, points, base }
            }
            other => other,
        }
    }

    /// The error for text that is found at a byte offset.
    pub(super) fn syntax(at: usize, found: &str, expected: &str) -> PuzzleError {
        let found = match found {
            END | LINE_END => found.into(),
            _ => format!("'{}'", shown(found, 32)),
        };
        PuzzleError::Syntax { at, found, expected: expected.into() }
    }

    /// Returns the byte offset of an error in a permutation's text, or 0 if the error concerns the whole text.
    pub fn byte(&self) -> usize {
        match self {
            PuzzleError::Syntax { at, .. } | PuzzleError::NoPoint { at, .. } => *at,
            _ => 0,
        }
    }
}
