//! Boards, their sizes, goals and metrics, and moves of tiles; and the notation of all of these.
//!
//! Everything that takes a board takes it as a [`Board`], and solvers return [`Moves`].

use std::{fmt, iter, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    puzzle::{
        PuzzleError,
        error::{bail, wrong},
    },
    units::{counted, digits, names, shown},
};

/// An arrangement of all tiles and the blank, in row-major order, with 0 for the blank and every number exactly once.
///
/// The display form is the notation that [`Board::parse`] reads: rows separated by `/`, tiles by spaces.
///
/// ```
/// use tilewave::puzzle::Board;
/// let board = Board::parse("1 2 3/4 5 6/7 8 0", None)?;
/// assert_eq!(board.blank(), 8);
/// assert_eq!(board, Board::parse("1,2,3,4,5,6,7,8,x", None)?);
/// assert_eq!(board.to_string(), "1 2 3/4 5 6/7 8 0");
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Board {
    size: Size,
    tiles: Box<[u16]>,
}

impl Board {
    /// Returns the board with the given row-major entries (0 is the blank), a permutation of `0..size.cells()`.
    pub fn new(size: Size, tiles: &[u16]) -> Result<Board, PuzzleError> {
        if tiles.len() != size.cells() {
            return Err(PuzzleError::cells(size, tiles.len()));
        }
        let mut seen = vec![false; size.cells()];
        let mut twice = None;
        for &tile in tiles {
            match seen.get_mut(usize::from(tile)) {
                None => {
                    let last = size.tiles();
                    bail!(Unknown: "tile {tile} is not on a {size} board: its tiles are 1 to \
                        {last}");
                }
                Some(true) => twice = twice.or(Some(tile)),
                Some(s) => *s = true,
            }
        }
        if let (Some(twice), Some(missing)) = (twice, seen.iter().position(|s| !s)) {
            let name = |tile: usize| match tile {
                0 => "the blank".into(),
                tile => format!("tile {tile}"),
            };
            let (twice, missing) = (name(twice.into()), name(missing));
            bail!(Twice: "{twice} occurs twice and {missing} is missing: every tile must occur \
                exactly once");
        }
        Ok(Board { size, tiles: tiles.into() })
    }

    /// Returns the board with tiles 1, 2, .. in row-major order and the blank in the given row-major cell.
    ///
    /// # Errors
    /// A [`PuzzleError`] if the cell is not on the board.
    pub fn ordered(size: Size, blank: usize) -> Result<Board, PuzzleError> {
        if blank >= size.cells() {
            let last = size.tiles();
            bail!(Range: "goal blank={blank} is not on a {size} board: its cells are numbered 0 to \
                {last}");
        }
        let mut tiles: Vec<u16> = (1..size.cells() as u16).collect();
        tiles.insert(blank, 0);
        Ok(Board { size, tiles: tiles.into() })
    }

    /// Returns the board written in `text`: rows separated by `/` or newlines, tiles by spaces or commas, blank `0`,
    /// `x` or `_`. A flat list has the shape given by `size`, or else must be square.
    pub fn parse(text: &str, size: Option<Size>) -> Result<Board, PuzzleError> {
        let mut rows: Vec<Vec<u16>> = Vec::new();
        // Some editors begin a file with a byte order mark.
        let text = text.trim_start_matches('\u{feff}');
        for row in text.split(['/', '\n']) {
            let words = row.split([' ', ',', '\t', '\r']).filter(|w| !w.is_empty());
            let row = words.map(tile).collect::<Result<Vec<u16>, PuzzleError>>()?;
            if !row.is_empty() {
                rows.push(row);
            }
        }
        let cells: usize = rows.iter().map(Vec::len).sum();
        let Some(first) = rows.first().map(Vec::len) else {
            bail!(Missing: "the board is empty: write rows separated by '/', for example '1 2 3/4 \
                5 6/7 8 0'");
        };
        if let Some(i) = rows.iter().position(|row| row.len() != first) {
            let (row, found) = (i + 1, rows[i].len());
            bail!(Shape: "row {row} of the board has {found} tiles, but row 1 has {first}: all \
                rows must have the same length");
        }
        let size = match (rows.len(), size) {
            (1, Some(size)) => size,
            (1, None) => {
                let side = cells.isqrt();
                if side * side != cells {
                    bail!(Shape: "a flat list of {cells} tiles does not make a square board: \
                        separate the rows with '/', or specify the size of the board");
                }
                Size::new(side, side)?
            }
            (_, expected) => {
                let found = Size::new(rows.len(), first)?;
                if let Some(expected) = expected.filter(|&expected| expected != found) {
                    return Err(PuzzleError::shape(found, expected));
                }
                found
            }
        };
        Board::new(size, &rows.concat())
    }

    /// Returns the size.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns the entries in row-major order, 0 for the blank.
    pub fn tiles(&self) -> &[u16] {
        &self.tiles
    }

    /// Returns the row-major cell of the blank.
    pub fn blank(&self) -> usize {
        self.tiles.iter().position(|&t| t == 0).unwrap_or_default()
    }

    /// Returns the board after one move, or `None` if no tile can move in this direction. Cost: one copy.
    ///
    /// ```
    /// use tilewave::puzzle::{Board, Direction};
    /// let board = Board::parse("1 2 3/4 5 6/7 8 0", None)?;
    /// assert_eq!(board.slide(Direction::Right).unwrap().to_string(), "1 2 3/4 5 6/7 0 8");
    /// assert_eq!(board.slide(Direction::Left), None);
    /// assert_eq!(board.neighbours().count(), 2);
    /// # Ok::<(), tilewave::Error>(())
    /// ```
    pub fn slide(&self, direction: Direction) -> Option<Board> {
        let blank = self.blank();
        let cell = direction.tile_cell(self.size, blank)?;
        let mut board = self.clone();
        board.tiles.swap(blank, cell);
        Some(board)
    }

    /// Returns the moves that are possible on a board, at most four, and the boards after them.
    pub fn neighbours(&self) -> impl Iterator<Item = (Direction, Board)> {
        let next = |direction| Some((direction, self.slide(direction)?));
        Direction::ALL.into_iter().filter_map(next)
    }
}

fn tile(word: &str) -> Result<u16, PuzzleError> {
    if matches!(word, "x" | "X" | "_") {
        return Ok(0);
    }
    let wrong = || {
        wrong!(Syntax: "'{}' in the board is not a tile: write tile numbers, and 0, x \
        or _ for the blank", shown(word, 32))
    };
    digits(word).ok_or_else(wrong)
}

impl From<Board> for String {
    fn from(board: Board) -> String {
        board.to_string()
    }
}

impl TryFrom<String> for Board {
    type Error = PuzzleError;

    fn try_from(text: String) -> Result<Board, PuzzleError> {
        Board::parse(&text, None)
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (cell, tile) in self.tiles.iter().enumerate() {
            f.write_str(match cell % self.size.cols() {
                _ if cell == 0 => "",
                0 => "/",
                _ => " ",
            })?;
            write!(f, "{tile}")?;
        }
        Ok(())
    }
}

/// The size of a board: rows by columns, both at least 2, with at most [`Size::MAX_CELLS`] cells.
///
/// ```
/// use tilewave::puzzle::Size;
/// let size: Size = "3x4".parse()?;
/// assert_eq!((size.rows(), size.cols(), size.cells(), size.tiles()), (3, 4, 12, 11));
/// assert_eq!(size.states(), Some(239_500_800));
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    rows: u16,
    cols: u16,
}

impl Size {
    /// The maximum number of cells of a board.
    pub const MAX_CELLS: usize = crate::puzzle::error::MAX_CELLS;

    /// Returns the size with the given numbers of rows and columns.
    pub fn new(rows: usize, cols: usize) -> Result<Size, PuzzleError> {
        if rows < 2 || cols < 2 {
            bail!(Range: "board {rows}x{cols} is too small: both sides must be at least 2, because \
                tiles in one row never change their order");
        }
        match rows.checked_mul(cols) {
            Some(cells) if cells <= Size::MAX_CELLS => {
                Ok(Size { rows: rows as u16, cols: cols as u16 })
            }
            _ => {
                Err(wrong!(Range: "board {rows}x{cols} is too large: a board has at most {} cells",
                Size::MAX_CELLS))
            }
        }
    }

    /// Returns the number of rows.
    pub fn rows(self) -> usize {
        usize::from(self.rows)
    }

    /// Returns the number of columns.
    pub fn cols(self) -> usize {
        usize::from(self.cols)
    }

    /// Returns the number of cells, N.
    pub fn cells(self) -> usize {
        self.rows() * self.cols()
    }

    /// Returns the number of tiles, N - 1.
    pub fn tiles(self) -> usize {
        self.cells() - 1
    }

    /// Returns the number of reachable states, N!/2, or `None` if it exceeds 64 bits (N > 20).
    pub fn states(self) -> Option<u64> {
        (3..=self.cells() as u64).try_fold(1u64, u64::checked_mul)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.rows, self.cols)
    }
}

impl FromStr for Size {
    type Err = PuzzleError;

    fn from_str(text: &str) -> Result<Size, PuzzleError> {
        let syntax = || {
            let text = shown(text, 80);
            wrong!(Syntax: "'{text}' is not a board size: write ROWSxCOLUMNS, for example 3x4")
        };
        // The 15-puzzle is 4x4.
        if let Some(tiles) = text.strip_suffix("-puzzle").and_then(digits::<usize>) {
            let cells = tiles.saturating_add(1);
            let side =
                Some(cells.isqrt()).filter(|side| side * side == cells).ok_or_else(syntax)?;
            return Size::new(side, side);
        }
        let (rows, cols) = text.split_once(['x', 'X']).ok_or_else(syntax)?;
        let side = |text: &str| digits(text).ok_or_else(syntax);
        Size::new(side(rows)?, side(cols)?)
    }
}

/// A goal that is independent of the size; [`Goal::board`] turns it into a board.
///
/// ```
/// use tilewave::puzzle::{Goal, Size};
/// let size = Size::new(3, 3)?;
/// assert_eq!(Goal::Last.board(size)?.to_string(), "1 2 3/4 5 6/7 8 0");
/// assert_eq!("first".parse::<Goal>()?.board(size)?.to_string(), "0 1 2/3 4 5/6 7 8");
/// assert_eq!("blank=4".parse::<Goal>()?.board(size)?.to_string(), "1 2 3/4 0 5/6 7 8");
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Goal {
    /// Tiles 1..n in order, blank in the last cell (as in speed-solving).
    #[default]
    Last,
    /// Blank in the first cell, then tiles 1..n in order (Korf's instances).
    First,
    /// Tiles in order, blank in the given row-major cell.
    Blank(usize),
    /// Any arrangement, in board notation.
    Board(String),
}

impl Goal {
    /// Returns the goal board of a given size.
    ///
    /// # Errors
    /// A [`PuzzleError`] if the blank's cell is not on the board, or if [`Board::parse`] does not read the goal.
    pub fn board(&self, size: Size) -> Result<Board, PuzzleError> {
        match self {
            Goal::Last => Board::ordered(size, size.cells() - 1),
            Goal::First => Board::ordered(size, 0),
            Goal::Blank(cell) => Board::ordered(size, *cell),
            Goal::Board(text) => Board::parse(text, Some(size)),
        }
    }
}

impl FromStr for Goal {
    type Err = PuzzleError;

    fn from_str(text: &str) -> Result<Goal, PuzzleError> {
        let syntax = || {
            wrong!(Syntax: "'{}' is not a goal: write last, first, blank=CELL or a \
            board such as '1 2 3/4 5 6/7 8 0'", shown(text, 80))
        };
        match text.trim() {
            "last" => Ok(Goal::Last),
            "first" => Ok(Goal::First),
            t if t.starts_with("blank=") => {
                let cell = t["blank=".len()..].parse().map_err(|_| syntax())?;
                Ok(Goal::Blank(cell))
            }
            t if t.contains([' ', '/', ',', '\n']) => Ok(Goal::Board(t.to_string())),
            _ => Err(syntax()),
        }
    }
}

/// The rule that determines what counts as one move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Metric {
    /// Single-tile metric: one tile slides into the blank.
    #[default]
    Stm,
    /// Multi-tile metric: any number of tiles slide together in a line.
    Mtm,
}

impl Metric {
    /// Returns the maximum number of tiles that move in one move.
    pub fn most_tiles(self) -> usize {
        match self {
            Metric::Stm => 1,
            Metric::Mtm => usize::MAX,
        }
    }
}

names! { Metric:
    "stm" = Stm, "Single-tile metric: sliding one tile into the blank counts as one move";
    "mtm" = Mtm, "Multi-tile metric: sliding any number of tiles together in a line counts as one \
                  move";
}

impl FromStr for Metric {
    type Err = PuzzleError;

    fn from_str(text: &str) -> Result<Metric, PuzzleError> {
        let found = Metric::ALL.into_iter().find(|m| m.name() == text);
        let wrong = || {
            wrong!(Unknown: "'{text}' is not a metric: choose stm (a move slides one \
            tile) or mtm (any number of tiles in a line) for boards, htm (any turn is a move) or \
            qtm (a half turn is two) for twisty puzzles, slice (a turn of any one layer) or axial \
            (turns of layers of one axis together) for cubes")
        };
        found.ok_or_else(wrong)
    }
}

/// The direction in which a tile moves into the blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Direction {
    /// To the row above: the blank is above the tile.
    Up,
    /// To the row below.
    Down,
    /// To the column on the left.
    Left,
    /// To the column on the right.
    Right,
}

impl Direction {
    /// All directions.
    pub const ALL: [Direction; 4] =
        [Direction::Up, Direction::Down, Direction::Left, Direction::Right];

    /// Returns the opposite direction, which is the direction of the move that undoes this one, and the one in which
    /// the blank moves.
    pub fn opposite(self) -> Direction {
        match self {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
            Direction::Left => Direction::Right,
            Direction::Right => Direction::Left,
        }
    }

    /// Returns the letter: U, D, L or R.
    pub fn letter(self) -> char {
        match self {
            Direction::Up => 'U',
            Direction::Down => 'D',
            Direction::Left => 'L',
            Direction::Right => 'R',
        }
    }

    /// Returns the row-major cell of the tile that moves in this direction when the blank is at `blank`,
    /// or `None` at the border.
    ///
    /// ```
    /// use tilewave::puzzle::{Direction, Size};
    /// let size = Size::new(3, 3)?;
    /// assert_eq!(Direction::Right.tile_cell(size, 8), Some(7));
    /// assert_eq!(Direction::Left.tile_cell(size, 8), None);
    /// # Ok::<(), tilewave::Error>(())
    /// ```
    pub fn tile_cell(self, size: Size, blank: usize) -> Option<usize> {
        let (row, col) = (blank / size.cols(), blank % size.cols());
        match self {
            Direction::Up => (row + 1 < size.rows()).then(|| blank + size.cols()),
            Direction::Down => (row > 0).then(|| blank - size.cols()),
            Direction::Left => (col + 1 < size.cols()).then(|| blank + 1),
            Direction::Right => (col > 0).then(|| blank - 1),
        }
    }
}

impl PuzzleError {
    /// The error for a board with the wrong number of cells.
    pub(crate) fn cells(size: Size, found: usize) -> PuzzleError {
        let (found, expected) = (counted(found as u64, "cell"), size.cells());
        wrong!(Shape: "the board has {found}, but {size} needs {expected}")
    }

    /// The error for a board with the wrong shape.
    pub(crate) fn shape(found: Size, expected: Size) -> PuzzleError {
        wrong!(Shape: "the board is {found} instead of {expected}: write rows of the right length")
    }
}

// Invariant: inside the library, a direction is that in which the *tile* moves. Only parsing and formatting are aware
// that some people write the direction of the blank.

/// The meaning of the letters of a written move sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MoveStyle {
    /// Letters give the direction in which the tile moves.
    #[default]
    Tile,
    /// Letters give the direction in which the blank moves.
    Blank,
}

names! { MoveStyle:
    "tile" = Tile, "The direction in which the tile moves";
    "blank" = Blank, "The direction in which the blank moves";
}

impl MoveStyle {
    /// The written direction of a tile's move, and the direction of the tile in a written move.
    fn of(self, direction: Direction) -> Direction {
        match self {
            MoveStyle::Tile => direction,
            MoveStyle::Blank => direction.opposite(),
        }
    }
}

impl FromStr for MoveStyle {
    type Err = PuzzleError;

    fn from_str(text: &str) -> Result<MoveStyle, PuzzleError> {
        let found = MoveStyle::ALL.into_iter().find(|style| style.name() == text);
        let wrong = || {
            wrong!(Unknown: "'{}' is not a move notation: choose tile (the direction in \
            which the tile moves) or blank", shown(text, 32))
        };
        found.ok_or_else(wrong)
    }
}

/// A sequence of moves.
///
/// ```
/// use tilewave::puzzle::{Board, Metric, Moves, MoveStyle};
/// let moves = Moves::parse("R D2 L", MoveStyle::Tile)?;
/// assert_eq!((moves.len(), moves.count(Metric::Mtm)), (4, 3));
/// assert_eq!((moves.short(MoveStyle::Tile), moves.long(MoveStyle::Blank)), ("RD2L".into(), "LUUR".into()));
/// let start = Board::parse("1 2 3/4 5 6/7 8 0", None)?;
/// assert_eq!(moves.apply(&start)?.to_string(), "1 3 0/4 2 6/7 5 8");
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moves(pub Vec<Direction>);

impl Moves {
    /// The maximum number of moves in a sequence that is read.
    pub const MAX_LEN: usize = crate::puzzle::error::MAX_SEQUENCE;

    /// Returns the number of moves.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of moves in a metric. In the multi-tile metric, consecutive moves in the same direction
    /// count as one.
    pub fn count(&self, metric: Metric) -> usize {
        match metric {
            Metric::Stm => self.len(),
            Metric::Mtm => self.0.chunk_by(|a, b| a == b).count(),
        }
    }

    /// Returns whether the sequence has no moves.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the moves written in `text`: letters U D L R in either case, each with an optional
    /// repetition count, spaces and commas ignored.
    ///
    /// # Errors
    /// The [`PuzzleError`] gives the first character that is not a move.
    pub fn parse(text: &str, style: MoveStyle) -> Result<Moves, PuzzleError> {
        let mut moves: Vec<Direction> = Vec::new();
        let wrong = |at: usize| {
            let found: String = text.chars().skip(at).take(16).collect();
            wrong!(Syntax: "'{}' at character {} is not a move: write U, D, L or R, each with an \
                optional count, for example R3", shown(&found, 16), at + 1)
        };
        let mut chars = text.chars().enumerate().peekable();
        while let Some((at, c)) = chars.next() {
            if c.is_whitespace() || c == ',' {
                continue;
            }
            let upper = c.to_ascii_uppercase();
            let written = Direction::ALL.into_iter().find(|d| d.letter() == upper);
            let direction = style.of(written.ok_or_else(|| wrong(at))?);
            let digits = iter::from_fn(|| chars.next_if(|(_, c)| c.is_ascii_digit()));
            let count = match digits.map(|(_, digit)| digit).collect::<String>().as_str() {
                "" => 1,
                digits => digits.parse().unwrap_or(usize::MAX),
            };
            if count > Moves::MAX_LEN - moves.len() {
                bail!(Range: "the sequence has more than {} moves: split it into shorter sequences",
                    Moves::MAX_LEN);
            }
            moves.extend(iter::repeat_n(direction, count));
        }
        Ok(Moves(moves))
    }

    /// Returns the moves as letters with repetition counts: `RD2L`.
    pub fn short(&self, style: MoveStyle) -> String {
        let mut text = String::new();
        for run in self.0.chunk_by(|a, b| a == b) {
            text.push(style.of(run[0]).letter());
            if run.len() > 1 {
                text.push_str(&run.len().to_string());
            }
        }
        text
    }

    /// Returns the moves as letters, one letter per move: `RDDL`.
    pub fn long(&self, style: MoveStyle) -> String {
        self.0.iter().map(|&direction| style.of(direction).letter()).collect()
    }

    /// Returns the moves of a blank along ways from cell to cell, `0-2` and `2-5`, if these are rows and columns.
    pub(super) fn of_ways(size: Size, ways: &[String]) -> Option<Moves> {
        let along = |way: &String| {
            let (from, to) = way.split_once('-')?;
            let (from, to) = (from.parse::<usize>().ok()?, to.parse::<usize>().ok()?);
            Direction::ALL.into_iter().find_map(|direction| {
                let mut cells =
                    iter::successors(Some(from), |&cell| direction.tile_cell(size, cell));
                Some(vec![direction; cells.position(|cell| cell == to).filter(|&far| far > 0)?])
            })
        };
        ways.iter().map(along).collect::<Option<Vec<_>>>().map(|all| Moves(all.concat()))
    }

    /// Returns the board after the moves.
    ///
    /// # Errors
    /// The [`PuzzleError`] gives the first move that the border blocks.
    pub fn apply(&self, board: &Board) -> Result<Board, PuzzleError> {
        let size = board.size();
        let mut tiles = board.tiles().to_vec();
        let mut blank = board.blank();
        for (i, &direction) in self.0.iter().enumerate() {
            let cell = direction.tile_cell(size, blank);
            let (number, letter) = (i + 1, direction.letter());
            let wrong = || {
                wrong!(Impossible: "move {number} ({letter}) is blocked by the border \
                of the board")
            };
            let cell = cell.ok_or_else(wrong)?;
            tiles.swap(blank, cell);
            blank = cell;
        }
        Board::new(size, &tiles)
    }
}

impl fmt::Display for Moves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short(MoveStyle::Tile))
    }
}
