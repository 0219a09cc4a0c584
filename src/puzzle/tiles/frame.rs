//! The bridge between boards and (line, cell) pairs.
//!
//! Invariant: the goal's own line is 0, 1, 2, .. (even), so the boards that can reach the goal are
//! exactly those with an even line.

use super::{Board, BoardError, Path, is_even};

/// The frame of reference that a goal defines: tiles are renumbered by the order in which the goal has
/// them along the snake path, so that any goal of any board is the identity line.
///
/// ```
/// use tilewave::puzzle::tiles::{Board, Frame};
/// let frame = Frame::new(Board::parse("1 2 3/4 5 6/7 8 0", None)?);
/// let (line, cell) = frame.encode(&Board::parse("1 2 3/4 5 6/7 0 8", None)?)?;
/// assert_eq!((line, cell), (vec![0, 1, 2, 3, 4, 5, 6, 7], 7)); // the blank moved along the path
/// assert_eq!(frame.decode(&[0, 1, 2, 3, 4, 5, 6, 7], 8).to_string(), "1 2 3/4 5 6/7 8 0");
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Frame {
    path: Path,
    goal: Board,
    /// Tile of each number: the goal's tiles along the path.
    tile: Vec<u16>,
    /// Number of each tile (entry 0, the blank, is unused).
    number: Vec<u16>,
}

impl Frame {
    /// Returns the frame of a goal.
    pub fn new(goal: Board) -> Frame {
        let path = Path::new(goal.size());
        let tile = along(&path, &goal);
        let mut number = vec![0; goal.size().cells()];
        for (i, &t) in tile.iter().enumerate() {
            number[usize::from(t)] = i as u16;
        }
        Frame {
            path,
            goal,
            tile,
            number,
        }
    }

    /// Returns the goal.
    pub fn goal(&self) -> &Board {
        &self.goal
    }

    /// Returns the snake path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the line of a board (the goal-relative numbers of its tiles along the path) and its cell
    /// (the path index of the blank), whether or not the board can reach the goal.
    ///
    /// # Errors
    /// [`BoardError::WrongShape`] when the board has another size than the goal.
    pub fn encode(&self, board: &Board) -> Result<(Vec<u16>, usize), BoardError> {
        if board.size() != self.goal.size() {
            return Err(BoardError::WrongShape {
                found: board.size(),
                expected: self.goal.size(),
            });
        }
        let line = along(&self.path, board)
            .iter()
            .map(|&t| self.number[usize::from(t)])
            .collect();
        Ok((line, self.path.index(board.blank())))
    }

    /// Returns whether the board can reach the goal: its line is even.
    ///
    /// # Errors
    /// [`BoardError::WrongShape`] when the board has another size than the goal.
    pub fn solvable(&self, board: &Board) -> Result<bool, BoardError> {
        Ok(is_even(&self.encode(board)?.0))
    }

    /// Returns like [`Frame::encode`], for boards that can reach the goal.
    ///
    /// # Errors
    /// [`BoardError::Unsolvable`] when the board cannot, [`BoardError::WrongShape`] when it has another
    /// size.
    pub fn encode_solvable(&self, board: &Board) -> Result<(Vec<u16>, usize), BoardError> {
        let (line, cell) = self.encode(board)?;
        if is_even(&line) {
            return Ok((line, cell));
        }
        Err(BoardError::Unsolvable {
            board: board.to_string(),
            goal: self.goal.to_string(),
            swap: self.suggested_swap(&line),
        })
    }

    /// The two tiles whose exchange makes an odd board solvable: where possible two neighbours on the
    /// path that stand in the wrong order.
    fn suggested_swap(&self, line: &[u16]) -> (u16, u16) {
        let i = line.windows(2).position(|w| w[0] > w[1]).unwrap_or(0);
        let (a, b) = (
            self.tile[usize::from(line[i])],
            self.tile[usize::from(line[i + 1])],
        );
        (a.min(b), a.max(b))
    }

    /// Returns the board of a line and a cell, the inverse of [`Frame::encode`].
    ///
    /// # Panics
    /// When the line is not a permutation of `0..tiles` or the cell is not on the board.
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
fn along(path: &Path, board: &Board) -> Vec<u16> {
    let tiles = (0..board.size().cells()).map(|i| board.tiles()[path.cell(i)]);
    tiles.filter(|&t| t != 0).collect()
}
