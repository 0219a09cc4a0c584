//! The snake path through a board, and the moves of the blank as window moves along it.
//!
//! Invariant: consecutive path indices are neighbours on the board, and cells that are neighbours
//! have path indices of different parity.

use super::{Metric, Size};
use crate::puzzle::{Puzzle, Window};

/// The snake path of a board: a numbering of its cells in which row 0 is read left to right, row 1
/// right to left, and so on.
///
/// The rows of the path are the SHORT side of the board (its columns when the board is wider than
/// high), because a vertical move then jumps over few tiles: at most 2 * short - 2.
///
/// ```
/// use tilewave::puzzle::tiles::{Path, Size};
/// let path = Path::new(Size::new(3, 3)?);
/// let order: Vec<usize> = (0..9).map(|i| path.cell(i)).collect();
/// assert_eq!(order, [0, 1, 2, 5, 4, 3, 6, 7, 8]);
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Path {
    size: Size,
    cell: Vec<usize>,
    index: Vec<usize>,
}

impl Path {
    /// Returns the snake path of a board.
    pub fn new(size: Size) -> Path {
        let (rows, cols) = (size.rows(), size.cols());
        let transposed = cols > rows;
        let (long, short) = if transposed {
            (cols, rows)
        } else {
            (rows, cols)
        };
        let mut cell = Vec::with_capacity(size.cells());
        for r in 0..long {
            for k in 0..short {
                let c = if r % 2 == 0 { k } else { short - 1 - k };
                cell.push(if transposed {
                    c * cols + r
                } else {
                    r * cols + c
                });
            }
        }
        let mut index = vec![0; cell.len()];
        for (i, &c) in cell.iter().enumerate() {
            index[c] = i;
        }
        Path { size, cell, index }
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

    /// Returns the board's moves in the general form, cells numbered along the path.
    ///
    /// The blank going from path index i to j > i moves one tile from j to i. Tiles i..j-1 of the line
    /// (the blank is not read) therefore rotate right by one; for j = i + 1 nothing changes. A move of
    /// several tiles is the moves of one tile in turn.
    ///
    /// Source: the parity theorem of S. Muralidharan, The fifteen puzzle: a new approach, Mathematics
    /// Magazine 90 (2017), in the form of window rotations of odd length.
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

    /// The window of the blank's move between two neighbours, row-major cells.
    fn single(&self, from: usize, to: usize) -> Window {
        match (self.index(from), self.index(to)) {
            (i, j) if i < j => Window::rotate_right(i, j - 1),
            (i, j) => Window::rotate_left(j, i - 1),
        }
    }
}
