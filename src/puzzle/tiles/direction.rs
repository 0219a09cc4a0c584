//! Directions of moves.
//!
//! Invariant: inside the library a direction is where the *tile* goes.

use serde::{Deserialize, Serialize};

use super::Size;

/// The direction in which a tile moves into the blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Direction {
    /// To the row above: the blank was above the tile.
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
    pub const ALL: [Direction; 4] = [
        Direction::Up,
        Direction::Down,
        Direction::Left,
        Direction::Right,
    ];

    /// Returns the opposite direction: of the move that takes this one back, and of the blank.
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
    /// use tilewave::puzzle::tiles::{Direction, Size};
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
