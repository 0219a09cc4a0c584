//! Conversion between boards and (line, cell) pairs.
//!
//! Invariant: the goal's own line is 0, 1, 2, .. (even), so the boards that can reach the goal are
//! exactly those with an even line.

use crate::puzzle::{Board, Metric, Puzzle, PuzzleError, Size, Window, is_even};

/// The frame of reference that a goal defines: tiles are renumbered in the order in which the goal has them along the
/// snake path, so that every goal of every board is the identity line.
///
/// ```
/// use tilewave::puzzle::{Board, Coordinates};
/// let frame = Coordinates::new(Board::parse("1 2 3/4 5 6/7 8 0", None)?);
/// let (line, cell) = frame.encode(&Board::parse("1 2 3/4 5 6/7 0 8", None)?)?;
/// assert_eq!((line, cell), (vec![0, 1, 2, 3, 4, 5, 6, 7], 7)); // the blank moved along the path
/// assert_eq!(frame.decode(&[0, 1, 2, 3, 4, 5, 6, 7], 8).to_string(), "1 2 3/4 5 6/7 8 0");
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Coordinates {
    path: SnakePath,
    goal: Board,
    /// The tile with each number: the goal's tiles along the path.
    tile: Vec<u16>,
    /// The number of each tile (entry 0, the blank, is unused).
    number: Vec<u16>,
}

impl Coordinates {
    /// Returns the frame of a goal.
    pub fn new(goal: Board) -> Coordinates {
        let path = SnakePath::new(goal.size());
        let tile = along(&path, &goal);
        let mut number = vec![0; goal.size().cells()];
        for (i, &t) in tile.iter().enumerate() {
            number[usize::from(t)] = i as u16;
        }
        Coordinates { path, goal, tile, number }
    }

    /// Returns the goal.
    pub fn goal(&self) -> &Board {
        &self.goal
    }

    /// Returns the snake path.
    pub fn path(&self) -> &SnakePath {
        &self.path
    }

    /// Returns the line of a board (the goal-relative numbers of its tiles along the path) and its cell
    /// (the path index of the blank), whether or not the board can reach the goal.
    ///
    /// # Errors
    /// [`PuzzleError::WrongShape`] if the board and the goal have different sizes.
    pub fn encode(&self, board: &Board) -> Result<(Vec<u16>, usize), PuzzleError> {
        if board.size() != self.goal.size() {
            return Err(PuzzleError::shape(board.size(), self.goal.size()));
        }
        let line = along(&self.path, board).iter().map(|&t| self.number[usize::from(t)]).collect();
        Ok((line, self.path.index(board.blank())))
    }

    /// Returns whether the board can reach the goal, that is, whether its line is even.
    ///
    /// # Errors
    /// [`PuzzleError::WrongShape`] if the board and the goal have different sizes.
    pub fn solvable(&self, board: &Board) -> Result<bool, PuzzleError> {
        Ok(is_even(&self.encode(board)?.0))
    }

    /// Like [`Coordinates::encode`], but only for boards that can reach the goal.
    ///
    /// # Errors
    /// [`PuzzleError::Unsolvable`] if the board cannot reach the goal, [`PuzzleError::WrongShape`] if the board and the
    /// goal have different sizes.
    pub fn encode_solvable(&self, board: &Board) -> Result<(Vec<u16>, usize), PuzzleError> {
        let (line, cell) = self.encode(board)?;
        if is_even(&line) {
            return Ok((line, cell));
        }
        Err(PuzzleError::Unsolvable {
            board: board.to_string(),
            goal: self.goal.to_string(),
            swap: self.suggested_swap(&line),
        })
    }

    /// The two tiles whose exchange makes an odd board solvable: if possible, two neighbours on the path that are in
    /// the wrong order.
    fn suggested_swap(&self, line: &[u16]) -> (u16, u16) {
        let i = line.windows(2).position(|w| w[0] > w[1]).unwrap_or(0);
        let (a, b) = (self.tile[usize::from(line[i])], self.tile[usize::from(line[i + 1])]);
        (a.min(b), a.max(b))
    }

    /// Returns the board with the given line and cell: the inverse of [`Coordinates::encode`].
    ///
    /// # Panics
    /// If the line is not a permutation of `0..tiles`, or the cell is not on the board.
    pub fn decode(&self, line: &[u16], cell: usize) -> Board {
        let size = self.goal.size();
        let mut tiles = vec![0; size.cells()];
        let indices = (0..size.cells()).filter(|&i| i != cell);
        for (&number, index) in line.iter().zip(indices) {
            tiles[self.path.cell(index)] = self.tile[usize::from(number)];
        }
        Board::new(size, &tiles).expect("a line is a permutation of the tiles")
    }
}

/// The tiles of a board in path order, without the blank.
fn along(path: &SnakePath, board: &Board) -> Vec<u16> {
    let tiles = (0..board.size().cells()).map(|i| board.tiles()[path.cell(i)]);
    tiles.filter(|&t| t != 0).collect()
}

// The snake path through a board, and the moves of the blank as window moves along it.
//
// Invariant: cells with consecutive path indices are neighbours on the board, and neighbouring cells have path indices
// of different parity.

/// The snake path of a board: a numbering of its cells in which row 0 is read left to right, row 1
/// right to left, and so on.
///
/// The rows of the path run along the SHORT side of the board (they are its columns if the board is wider than high),
/// because a vertical move then jumps over few tiles: at most 2 * short - 2.
///
/// ```
/// use tilewave::puzzle::{SnakePath, Size};
/// let path = SnakePath::new(Size::new(3, 3)?);
/// let order: Vec<usize> = (0..9).map(|i| path.cell(i)).collect();
/// assert_eq!(order, [0, 1, 2, 5, 4, 3, 6, 7, 8]);
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SnakePath {
    size: Size,
    cell: Vec<usize>,
    index: Vec<usize>,
}

impl SnakePath {
    /// Returns the snake path of a board.
    pub fn new(size: Size) -> SnakePath {
        let (rows, cols) = (size.rows(), size.cols());
        let transposed = cols > rows;
        let (long, short) = if transposed { (cols, rows) } else { (rows, cols) };
        let mut cell = Vec::with_capacity(size.cells());
        for r in 0..long {
            for k in 0..short {
                let c = if r % 2 == 0 { k } else { short - 1 - k };
                cell.push(if transposed { c * cols + r } else { r * cols + c });
            }
        }
        let mut index = vec![0; cell.len()];
        for (i, &c) in cell.iter().enumerate() {
            index[c] = i;
        }
        SnakePath { size, cell, index }
    }

    /// Returns the size of the board.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns the row-major cell at a path index.
    pub fn cell(&self, index: usize) -> usize {
        self.cell[index]
    }

    /// Returns the path index of a row-major cell.
    pub fn index(&self, cell: usize) -> usize {
        self.index[cell]
    }

    /// Returns the board's moves in general form, with cells numbered along the path.
    ///
    /// When the blank moves from path index i to j > i, one tile moves from j to i. Tiles i..j-1 of the line (which
    /// does not include the blank) therefore rotate right by one; for j = i + 1, nothing changes. A move of several
    /// tiles is equivalent to moving one tile at a time.
    ///
    /// Source: the parity theorem of S. Muralidharan, The fifteen puzzle: a new approach, Mathematics Magazine 90
    /// (2017), expressed as window rotations of odd length.
    pub fn puzzle(&self, metric: Metric) -> Puzzle {
        let (rows, cols) = (self.size.rows(), self.size.cols());
        let mut moves = Vec::new();
        for cell in 0..rows * cols {
            let (right, below) = (cols - 1 - cell % cols, rows - 1 - cell / cols);
            for (distance, step) in [(right, 1), (below, cols)] {
                let most = distance.min(metric.most_tiles());
                let mut window = Window::identity();
                for to in (1..=most).map(|k| cell + k * step) {
                    window = window.then(&self.single(to - step, to));
                    moves.push((self.index(cell), self.index(to), window.clone()));
                }
            }
        }
        moves.sort();
        Puzzle::new(self.size.cells(), moves)
    }

    /// The window of the blank's move between two neighbouring row-major cells.
    fn single(&self, from: usize, to: usize) -> Window {
        match (self.index(from), self.index(to)) {
            (i, j) if i < j => Window::rotate_right(i, j - 1),
            (i, j) => Window::rotate_left(j, i - 1),
        }
    }
}
