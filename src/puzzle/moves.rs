//! Moves of tiles, and their notation.
//!
//! Invariant: inside the library, a direction is that in which the *tile* moves. Only parsing and formatting are aware
//! that some people write the direction of the blank.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    puzzle::{Board, Direction, Metric, PuzzleError},
    units::{names, shown},
};

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

impl FromStr for MoveStyle {
    type Err = PuzzleError;

    fn from_str(text: &str) -> Result<MoveStyle, PuzzleError> {
        let found = MoveStyle::ALL.into_iter().find(|style| style.name() == text);
        found.ok_or_else(|| PuzzleError::MoveStyle(shown(text, 32)))
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
    pub const MAX_LEN: usize = 10_000_000;

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
    /// [`PuzzleError::MoveSyntax`] gives the first character that is not a move.
    pub fn parse(text: &str, style: MoveStyle) -> Result<Moves, PuzzleError> {
        let mut moves: Vec<Direction> = Vec::new();
        let wrong = |at: usize| PuzzleError::MoveSyntax {
            at: at + 1,
            text: shown(&text.chars().skip(at).take(16).collect::<String>(), 16),
        };
        let mut chars = text.chars().enumerate().peekable();
        while let Some((at, c)) = chars.next() {
            if c.is_whitespace() || c == ',' {
                continue;
            }
            let upper = c.to_ascii_uppercase();
            let direction = Direction::ALL.into_iter().find(|d| d.letter() == upper);
            let direction = direction.ok_or_else(|| wrong(at))?;
            let direction = match style {
                MoveStyle::Tile => direction,
                MoveStyle::Blank => direction.opposite(),
            };
            let mut count: Option<usize> = None;
            while let Some(digit) = chars.peek().and_then(|(_, c)| c.to_digit(10)) {
                chars.next();
                count = Some(count.unwrap_or(0).saturating_mul(10).saturating_add(digit as usize));
            }
            let count = count.unwrap_or(1);
            if count > Moves::MAX_LEN - moves.len() {
                return Err(PuzzleError::TooManyMoves { max: Moves::MAX_LEN });
            }
            moves.extend(std::iter::repeat_n(direction, count));
        }
        Ok(Moves(moves))
    }

    /// Returns the moves as letters with repetition counts: `RD2L`.
    pub fn short(&self, style: MoveStyle) -> String {
        let mut text = String::new();
        for run in self.0.chunk_by(|a, b| a == b) {
            text.push(letter(run[0], style));
            if run.len() > 1 {
                text.push_str(&run.len().to_string());
            }
        }
        text
    }

    /// Returns the moves as letters, one letter per move: `RDDL`.
    pub fn long(&self, style: MoveStyle) -> String {
        self.0.iter().map(|&d| letter(d, style)).collect()
    }

    /// Returns the board after the moves.
    ///
    /// # Errors
    /// [`PuzzleError::BlockedMove`] gives the first move that the border blocks.
    pub fn apply(&self, board: &Board) -> Result<Board, PuzzleError> {
        let size = board.size();
        let mut tiles = board.tiles().to_vec();
        let mut blank = board.blank();
        for (i, &direction) in self.0.iter().enumerate() {
            let cell = direction.tile_cell(size, blank);
            let cell =
                cell.ok_or(PuzzleError::BlockedMove { number: i + 1, letter: direction.letter() })?;
            tiles.swap(blank, cell);
            blank = cell;
        }
        Board::new(size, &tiles)
    }
}

fn letter(direction: Direction, style: MoveStyle) -> char {
    match style {
        MoveStyle::Tile => direction.letter(),
        MoveStyle::Blank => direction.opposite().letter(),
    }
}

impl fmt::Display for Moves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short(MoveStyle::Tile))
    }
}
