//! Goals: which arrangement a search or a database is about.

use std::str::FromStr;

use super::{Board, BoardError, Size};
use crate::puzzle::shown::shown;

/// A goal as the user names it; it becomes a board once the size is known.
///
/// ```
/// use tilewave::puzzle::tiles::{Goal, Size};
/// let size = Size::new(3, 3)?;
/// assert_eq!(Goal::Last.board(size)?.to_string(), "1 2 3/4 5 6/7 8 0");
/// assert_eq!("first".parse::<Goal>()?.board(size)?.to_string(), "0 1 2/3 4 5/6 7 8");
/// assert_eq!("blank=4".parse::<Goal>()?.board(size)?.to_string(), "1 2 3/4 0 5/6 7 8");
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Goal {
    /// Tiles 1..n in order, blank in the last cell (speed-solvers).
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
    /// [`BoardError::GoalCell`] when the blank's cell is not on the board, and what [`Board::parse`]
    /// says of a written goal.
    pub fn board(&self, size: Size) -> Result<Board, BoardError> {
        match self {
            Goal::Last => Board::ordered(size, size.cells() - 1),
            Goal::First => Board::ordered(size, 0),
            Goal::Blank(cell) => Board::ordered(size, *cell),
            Goal::Board(text) => Board::parse(text, Some(size)),
        }
    }
}

impl FromStr for Goal {
    type Err = BoardError;

    fn from_str(text: &str) -> Result<Goal, BoardError> {
        let syntax = || BoardError::GoalSyntax(shown(text, 80));
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
