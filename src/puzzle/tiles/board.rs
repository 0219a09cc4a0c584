//! Boards and their notation.

use std::fmt;

use super::{BoardError, Direction, Size};
use crate::puzzle::shown::shown;

/// An arrangement of all tiles and the blank: row-major, blank 0, every number exactly once.
///
/// Its display form is the notation that [`Board::parse`] reads: rows by `/`, tiles by spaces.
///
/// ```
/// use tilewave::puzzle::tiles::Board;
/// let board = Board::parse("1 2 3/4 5 6/7 8 0", None)?;
/// assert_eq!(board.blank(), 8);
/// assert_eq!(board, Board::parse("1,2,3,4,5,6,7,8,x", None)?);
/// assert_eq!(board.to_string(), "1 2 3/4 5 6/7 8 0");
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Board {
    size: Size,
    tiles: Box<[u16]>,
}

impl Board {
    /// Returns the board with the given row-major entries (0 is the blank).
    ///
    /// # Errors
    /// [`BoardError`] when the entries are not a permutation of `0..size.cells()`.
    pub fn new(size: Size, tiles: &[u16]) -> Result<Board, BoardError> {
        if tiles.len() != size.cells() {
            return Err(BoardError::WrongCells {
                size,
                found: tiles.len(),
            });
        }
        let mut seen = vec![false; size.cells()];
        let mut twice = None;
        for &tile in tiles {
            match seen.get_mut(usize::from(tile)) {
                None => {
                    return Err(BoardError::UnknownTile {
                        tile: usize::from(tile),
                        size,
                    });
                }
                Some(true) => twice = twice.or(Some(tile)),
                Some(s) => *s = true,
            }
        }
        if let (Some(twice), Some(missing)) = (twice, seen.iter().position(|s| !s)) {
            return Err(BoardError::Repeated {
                twice,
                missing: missing as u16,
            });
        }
        Ok(Board {
            size,
            tiles: tiles.into(),
        })
    }

    /// Returns the board with tiles 1, 2, .. in row-major order and the blank at the given row-major
    /// cell.
    ///
    /// # Errors
    /// [`BoardError::GoalCell`] when the cell is not on the board.
    pub fn ordered(size: Size, blank: usize) -> Result<Board, BoardError> {
        if blank >= size.cells() {
            return Err(BoardError::GoalCell { cell: blank, size });
        }
        let mut tiles: Vec<u16> = (1..size.cells() as u16).collect();
        tiles.insert(blank, 0);
        Ok(Board {
            size,
            tiles: tiles.into(),
        })
    }

    /// Returns the board written in `text`: rows by `/` or newline, tiles by space or comma, blank `0`,
    /// `x` or `_`. A flat list takes its shape from `size`, or is square.
    ///
    /// # Errors
    /// [`BoardError`] names what is wrong: a word, a row's length, a repeated or missing tile.
    pub fn parse(text: &str, size: Option<Size>) -> Result<Board, BoardError> {
        let mut rows: Vec<Vec<u16>> = Vec::new();
        // Some editors begin a file with a byte order mark.
        let text = text.trim_start_matches('\u{feff}');
        for row in text.split(['/', '\n']) {
            let words = row.split([' ', ',', '\t', '\r']).filter(|w| !w.is_empty());
            let row = words.map(tile).collect::<Result<Vec<u16>, BoardError>>()?;
            if !row.is_empty() {
                rows.push(row);
            }
        }
        let cells: usize = rows.iter().map(Vec::len).sum();
        let Some(first) = rows.first().map(Vec::len) else {
            return Err(BoardError::Empty);
        };
        if let Some(i) = rows.iter().position(|row| row.len() != first) {
            return Err(BoardError::Ragged {
                row: i + 1,
                found: rows[i].len(),
                expected: first,
            });
        }
        let size = match (rows.len(), size) {
            (1, Some(size)) => size,
            (1, None) => {
                let side = cells.isqrt();
                if side * side != cells {
                    return Err(BoardError::FlatNeedsSize { cells });
                }
                Size::new(side, side)?
            }
            (_, expected) => {
                let found = Size::new(rows.len(), first)?;
                match expected {
                    Some(expected) if expected != found => {
                        return Err(BoardError::WrongShape { found, expected });
                    }
                    _ => found,
                }
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

    /// Returns the board after one move, or `None` when no tile can move in this direction. Cost: a copy.
    ///
    /// ```
    /// use tilewave::puzzle::tiles::{Board, Direction};
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

    /// Returns the moves that a board allows, at most four, and the boards after them.
    pub fn neighbours(&self) -> impl Iterator<Item = (Direction, Board)> {
        let next = |direction| Some((direction, self.slide(direction)?));
        Direction::ALL.into_iter().filter_map(next)
    }
}

fn tile(word: &str) -> Result<u16, BoardError> {
    if matches!(word, "x" | "X" | "_") {
        return Ok(0);
    }
    let digits = word.bytes().all(|b| b.is_ascii_digit());
    let number = word.parse::<u16>().ok().filter(|_| digits);
    number.ok_or_else(|| BoardError::Word {
        word: shown(word, 32),
    })
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (r, row) in self.tiles.chunks(self.size.cols()).enumerate() {
            if r > 0 {
                f.write_str("/")?;
            }
            for (c, tile) in row.iter().enumerate() {
                if c > 0 {
                    f.write_str(" ")?;
                }
                write!(f, "{tile}")?;
            }
        }
        Ok(())
    }
}
