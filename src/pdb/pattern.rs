//! Patterns, the tiles that a database covers, and the errors in patterns, builds and database files.
//!
//! Whoever builds or uses a database begins with a [`Pattern`]; whatever is wrong with it, with a build or with a file
//! is a [`PdbError`].

use crate::{
    hint::{AGAIN, Hint},
    perm::placement,
    puzzle::{Board, PuzzleError, Size},
    system::SystemError,
    units::digits,
};

// Errors in patterns, builds and database files. Each message is one line and says what to do.

/// A pattern, a build or a database file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PdbError {
    /// The board or goal is invalid.
    #[error(transparent)]
    Puzzle(#[from] PuzzleError),
    /// Memory, threads, processor instructions or a file are not available.
    #[error(transparent)]
    System(SystemError),
    /// The tiles do not form a pattern of the board, or the patterns do not form a partition of it.
    #[error("{0}")]
    Pattern(String),
    /// The operation does not support databases with this pattern, kind, encoding or goal.
    #[error("{0}")]
    Unsuitable(String),
    /// The table and its build exceed the memory limit.
    #[error("{0}")]
    Memory(String),
    /// The observer asked to stop. The levels found so far stay in the directory of the build, if it has one.
    #[error("interrupted: {}", kept(.0.as_deref()))]
    Interrupted(Option<String>),
    /// The file contains a wrong entry or a wrong description of its entries.
    #[error("{0}")]
    Wrong(String),
    /// A directory or file cannot be used for the operation.
    #[error("{0}")]
    Place(String),
}

fn kept(directory: Option<&str>) -> String {
    match directory {
        None => "nothing was written".into(),
        Some(name) => {
            format!("the completed levels are in '{name}'; {AGAIN} to continue")
        }
    }
}

impl From<SystemError> for PdbError {
    fn from(error: SystemError) -> PdbError {
        match error {
            SystemError::Interrupted => PdbError::Interrupted(None),
            error => PdbError::System(error),
        }
    }
}

impl PdbError {
    pub(crate) fn unsuitable(words: impl Into<String>) -> PdbError {
        PdbError::Unsuitable(words.into())
    }

    /// One of several databases counts every move.
    pub(crate) fn not_additive() -> PdbError {
        PdbError::unsuitable(
            "values of an all-moves database, which counts every move, cannot be added to others: \
             use that database alone, or make it a partition of its own in a set file",
        )
    }

    /// The encoding cannot hold values of the kind.
    pub(crate) fn encoding() -> PdbError {
        PdbError::unsuitable(
            "only region-aware values can be stored with one bit per entry: choose another kind or \
             encoding",
        )
    }

    /// A value that does not fit in a byte.
    pub(crate) fn value(most: usize) -> PdbError {
        PdbError::unsuitable(format!(
            "a value exceeds {most}, the maximum that a database can store: choose fewer tiles"
        ))
    }
}

/// The tiles whose moves a database counts, relative to a goal.
///
/// Invariant: tiles are distinct, in increasing order, on the board, and at most [`Pattern::MAX_TILES`] in number.
///
/// ```
/// use tilewave::pdb::Pattern;
/// use tilewave::puzzle::{Goal, Size};
/// let goal = Goal::First.board(Size::new(4, 4)?)?;
/// let pattern = Pattern::new(goal, &[1, 4, 5])?;
/// assert_eq!(pattern.home(), [1, 4, 5]); // Korf's goal: tile t at cell t
/// assert_eq!(pattern.placements(), 16 * 15 * 14);
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    goal: Board,
    tiles: Vec<u16>,
    home: Vec<u8>,
}

impl Pattern {
    /// The maximum number of tiles of a pattern.
    pub const MAX_TILES: usize = 8;
    /// The maximum length of each side of the board.
    pub const MAX_SIDE: usize = 6;

    /// Returns the pattern with the given tiles, in any order.
    ///
    /// # Errors
    /// [`PdbError`] if the board is too large, if a tile is repeated, unknown or the blank, or if there are no tiles or
    /// too many.
    pub fn new(goal: Board, tiles: &[u16]) -> Result<Pattern, PdbError> {
        if tiles.contains(&0) {
            return Err(PdbError::Pattern(format!(
                "the blank (0) cannot be a tile of an additive pattern, because its moves cost \
                 nothing: leave out 0 (with {}, values depend on the position of the blank)",
                Hint::Value("kind", "region-aware")
            )));
        }
        Pattern::of(goal, tiles)
    }

    /// Returns the pattern with the blank as its first tile, 0, for databases of kind [`crate::pdb::Kind::AllMoves`].
    ///
    /// # Errors
    /// [`PdbError::Pattern`] if there are already [`Pattern::MAX_TILES`] tiles.
    pub fn with_blank(&self) -> Result<Pattern, PdbError> {
        let blank = [0].into_iter().filter(|_| !self.has_blank());
        let tiles: Vec<u16> = blank.chain(self.tiles.iter().copied()).collect();
        Pattern::of(self.goal.clone(), &tiles)
    }

    /// Returns the pattern without the blank.
    ///
    /// # Errors
    /// [`PdbError::Pattern`] if the pattern contains only the blank.
    pub fn without_blank(&self) -> Result<Pattern, PdbError> {
        Pattern::of(self.goal.clone(), &self.tiles[usize::from(self.has_blank())..])
    }

    /// Returns whether the blank is one of the tiles.
    pub fn has_blank(&self) -> bool {
        self.tiles[0] == 0
    }

    /// The pattern with the given tiles, which may include the blank.
    pub(crate) fn of(goal: Board, tiles: &[u16]) -> Result<Pattern, PdbError> {
        let size = goal.size();
        let wrong = |words: String| Err(PdbError::Pattern(words));
        if size.rows().max(size.cols()) > Pattern::MAX_SIDE {
            return wrong(format!(
                "board {size} is too large for pattern databases: each side may be at most {}",
                Pattern::MAX_SIDE
            ));
        }
        let mut sorted = tiles.to_vec();
        sorted.sort_unstable();
        if let Some(&tile) = sorted.iter().find(|&&t| usize::from(t) > size.tiles()) {
            return wrong(format!(
                "tile {tile} of the pattern is not on a {size} board: its tiles are 1 to {}",
                size.tiles()
            ));
        }
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return wrong(format!(
                "tile {} occurs twice in the pattern: list every tile only once",
                pair[0]
            ));
        }
        let blank = usize::from(sorted.contains(&0));
        let max = Pattern::MAX_TILES.min(size.tiles() + blank);
        if sorted.is_empty() || sorted.len() > max {
            return wrong(format!(
                "a pattern on a {size} board has 1 to {max} tiles, but this pattern has {}",
                sorted.len()
            ));
        }
        let home = cells_of(&goal, &sorted);
        Ok(Pattern { goal, tiles: sorted, home })
    }

    /// Returns the pattern written as tile numbers and ranges, separated by commas or spaces: `1-3,7`.
    ///
    /// # Errors
    /// [`PdbError::Pattern`] for text that cannot be parsed, and the errors of [`Pattern::new`].
    pub fn parse(goal: Board, text: &str) -> Result<Pattern, PdbError> {
        let wrong = || {
            let shown: String = text.chars().take(80).collect();
            PdbError::Pattern(format!(
                "'{shown}' is not a pattern: write tile numbers and ranges separated by commas, \
                 for example 1-3,7"
            ))
        };
        let number = |word: &str| digits::<u16>(word).ok_or_else(wrong);
        let mut tiles = Vec::new();
        for word in text.split([',', ' ']).filter(|word| !word.is_empty()) {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(PdbError::Pattern(format!(
                    "'{word}' is not a range of tiles: ranges must be ascending; write \
                     {last}-{first}"
                )));
            }
            // Boards have at most 36 cells: a longer range is rejected because of its first nonexistent tile.
            tiles.extend((first..=last).take(64));
        }
        Pattern::new(goal, &tiles)
    }

    /// Returns the goal board.
    pub fn goal(&self) -> &Board {
        &self.goal
    }

    /// Returns the size of the board.
    pub fn size(&self) -> Size {
        self.goal.size()
    }

    /// Returns the tiles in increasing order.
    pub fn tiles(&self) -> &[u16] {
        &self.tiles
    }

    /// Returns the row-major goal cells of the tiles, in the order of [`Pattern::tiles`].
    pub fn home(&self) -> &[u8] {
        &self.home
    }

    /// Returns the number of placements of the tiles, N!/(N-k)!.
    pub fn placements(&self) -> u64 {
        // At most 36!/28!, far below 64 bits.
        placement::count(self.size().cells(), self.tiles.len()).unwrap_or(u64::MAX)
    }

    /// Returns the cells of the pattern's tiles on a board, in the order of [`Pattern::tiles`].
    ///
    /// # Errors
    /// [`PdbError::Unsuitable`] if the board has a different size.
    pub fn cells(&self, board: &Board) -> Result<Vec<u8>, PdbError> {
        if board.size() != self.size() {
            let (found, expected) = (board.size(), self.size());
            let words = format!("the board is {found}, but the database is for {expected}");
            return Err(PdbError::unsuitable(words));
        }
        Ok(cells_of(board, &self.tiles))
    }

    /// Returns the sum of the distances of the tiles from their goal cells; the blank is not counted.
    pub fn manhattan(&self, cells: &[u8]) -> u32 {
        let cols = self.size().cols() as u8;
        let pairs = cells.iter().zip(&self.home).skip(usize::from(self.has_blank()));
        let distances =
            pairs.map(|(a, b)| (a / cols).abs_diff(b / cols) + (a % cols).abs_diff(b % cols));
        distances.map(u32::from).sum()
    }
}

fn cells_of(board: &Board, tiles: &[u16]) -> Vec<u8> {
    let mut cell = vec![0; board.size().cells()];
    for (c, &tile) in board.tiles().iter().enumerate() {
        cell[usize::from(tile)] = c as u8;
    }
    tiles.iter().map(|&t| cell[usize::from(t)]).collect()
}
