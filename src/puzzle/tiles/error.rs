//! What can be wrong with a size, a board or a goal: one line each, with what to do.

use super::size::{Size, SizeError};

/// A size, board or goal that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoardError {
    /// A size that is none.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// A word of the board is neither a tile number nor a blank.
    #[error("'{word}' in the board is not a tile: write tile numbers, and 0, x or _ for the blank")]
    Word {
        /// The offending word.
        word: String,
    },
    /// Nothing was given.
    #[error("the board is empty: write its rows separated by '/', for example '1 2 3/4 5 6/7 8 0'")]
    Empty,
    /// Rows of different lengths.
    #[error(
        "row {row} of the board has {found} tiles where row 1 has {expected}: all rows must be equally long"
    )]
    Ragged {
        /// Row number from 1.
        row: usize,
        /// Tiles in that row.
        found: usize,
        /// Tiles in the first row.
        expected: usize,
    },
    /// A flat list whose size cannot be guessed.
    #[error("a flat list of {cells} tiles is not square: separate the rows by '/' or give --size")]
    FlatNeedsSize {
        /// Number of entries given.
        cells: usize,
    },
    /// The board has another size than required.
    #[error("the board has {found} cells, {size} needs {}", size.cells())]
    WrongCells {
        /// Size required.
        size: Size,
        /// Number of entries given.
        found: usize,
    },
    /// The board has the right number of cells in another shape.
    #[error("the board is {found}, expected {expected}: write its rows in that shape")]
    WrongShape {
        /// Size of the board given.
        found: Size,
        /// Size required.
        expected: Size,
    },
    /// A tile number that the board does not have.
    #[error("tile {tile} is not on a {size} board: its tiles are 1 to {}", size.tiles())]
    UnknownTile {
        /// The number given.
        tile: usize,
        /// Size of the board.
        size: Size,
    },
    /// A tile or the blank occurs twice, so that another one is missing.
    #[error("{} occurs twice and {} is missing: every tile stands exactly once on the board", tile_name(*.twice), tile_name(*.missing))]
    Repeated {
        /// The tile that occurs twice, 0 for the blank.
        twice: u16,
        /// The smallest tile that is missing, 0 for the blank.
        missing: u16,
    },
    /// Not a goal.
    #[error(
        "'{0}' is not a goal: write last, first, blank=CELL or a board such as '1 2 3/4 5 6/7 8 0'"
    )]
    GoalSyntax(String),
    /// The blank's goal cell is not on the board.
    #[error("goal blank={cell} is not on a {size} board: its cells are 0 to {}", size.cells() - 1)]
    GoalCell {
        /// Cell asked for.
        cell: usize,
        /// Size of the board.
        size: Size,
    },
    /// Neither tile nor blank.
    #[error("'{0}' is not a way to write moves: choose tile (where the tile goes) or blank")]
    MoveStyle(String),
    /// Not a metric.
    #[error(
        "'{0}' is not a metric: choose stm (one tile is one move) or mtm (any number of tiles in a line)"
    )]
    Metric(String),
    /// A character that is no move.
    #[error(
        "'{text}' at character {at} is not a move: write U, D, L, R, each with an optional count such as R3"
    )]
    MoveSyntax {
        /// Character number from 1.
        at: usize,
        /// What stands there.
        text: String,
    },
    /// More moves than are read.
    #[error("more than {max} moves: split the sequence")]
    TooManyMoves {
        /// The most moves that are read.
        max: usize,
    },
    /// A move of a tile that is not there.
    #[error("move {number} ({letter}) is blocked by the border of the board")]
    BlockedMove {
        /// Move number from 1.
        number: usize,
        /// Direction of the tile.
        letter: char,
    },
    /// Start and goal have different parity.
    #[error("'{board}' cannot reach the goal '{goal}': its parity is odd, half of all arrangements are out of reach; swap any two tiles (for example {} and {}) or choose another --goal", swap.0, swap.1)]
    Unsolvable {
        /// The board.
        board: String,
        /// The goal.
        goal: String,
        /// Two tiles whose exchange makes the board solvable.
        swap: (u16, u16),
    },
}

fn tile_name(tile: u16) -> String {
    if tile == 0 {
        "the blank".into()
    } else {
        format!("tile {tile}")
    }
}
