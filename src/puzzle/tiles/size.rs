//! Board sizes, rows by columns.

use std::fmt;
use std::str::FromStr;

use crate::puzzle::shown::shown;

/// The size of a board: rows by columns, both at least 2, at most [`Size::MAX_CELLS`] cells.
///
/// ```
/// use tilewave::puzzle::tiles::Size;
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
    /// The most cells a board can have.
    pub const MAX_CELLS: usize = 10_000;

    /// Returns the size, rows by columns.
    ///
    /// # Errors
    /// [`SizeError::TooSmall`] and [`SizeError::TooLarge`].
    pub fn new(rows: usize, cols: usize) -> Result<Size, SizeError> {
        if rows < 2 || cols < 2 {
            return Err(SizeError::TooSmall { rows, cols });
        }
        match (
            u16::try_from(rows),
            u16::try_from(cols),
            rows.checked_mul(cols),
        ) {
            (Ok(r), Ok(c), Some(cells)) if cells <= Size::MAX_CELLS => {
                Ok(Size { rows: r, cols: c })
            }
            _ => Err(SizeError::TooLarge {
                rows,
                cols,
                max: Size::MAX_CELLS,
            }),
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

    /// Returns the number of reachable states, N!/2, or `None` where it exceeds 64 bits (N > 20).
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
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Size, SizeError> {
        let syntax = || SizeError::Syntax(shown(text, 80));
        let (rows, cols) = text.split_once(['x', 'X']).ok_or_else(syntax)?;
        let side = |t: &str| {
            let digits = !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
            if digits {
                t.parse::<usize>().map_err(|_| syntax())
            } else {
                Err(syntax())
            }
        };
        Size::new(side(rows)?, side(cols)?)
    }
}

/// A size that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SizeError {
    /// The text is not of the form RxC.
    #[error("'{0}' is not a board size: write ROWSxCOLUMNS, for example 3x4")]
    Syntax(String),
    /// A side is shorter than 2.
    #[error(
        "board {rows}x{cols} is too small: both sides must be at least 2, tiles in one row never change their order"
    )]
    TooSmall {
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        cols: usize,
    },
    /// More cells than a board can have.
    #[error("board {rows}x{cols} is too large: a board has at most {max} cells")]
    TooLarge {
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        cols: usize,
        /// The most cells a board can have.
        max: usize,
    },
}
