//! What can be wrong with a pattern, a build or a database file: one line each, with what to do.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::kernel::KernelError;
use crate::progress::{Phase, Progress};
use crate::puzzle::{BoardError, Size};
use crate::store::{FileError, MemoryError, OutputError, advice};
use crate::threads::ThreadsError;
use crate::units::{bytes, thousands};

/// A pattern, a build or a database file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PdbError {
    /// A board or goal that is not one.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// Memory that could not be had.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The kernel asked for does not run here.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The board has a side longer than six.
    #[error("board {size} is too large for pattern databases: both sides may be at most 6")]
    BoardTooLarge {
        /// Size of the board.
        size: Size,
    },
    /// No tile or too many.
    #[error("a pattern has 1 to {max} tiles on a {size} board, this one has {found}")]
    PatternLength {
        /// Tiles given.
        found: usize,
        /// Most tiles.
        max: usize,
        /// Size of the board.
        size: Size,
    },
    /// A word of a pattern is not a tile number.
    #[error(
        "'{0}' is not a pattern: write tile numbers separated by commas, for example 1,2,3,4 or 1-4"
    )]
    PatternSyntax(String),
    /// The blank was given as a tile.
    #[error(
        "the blank (0) cannot be a tile of an additive pattern: its moves cost nothing; leave it out, or choose --kind region-aware for values that depend on it"
    )]
    BlankInPattern,
    /// A tile number that the board does not have.
    #[error("tile {tile} of the pattern is not on a {size} board: its tiles are 1 to {}", size.tiles())]
    UnknownTile {
        /// The tile.
        tile: u16,
        /// Size of the board.
        size: Size,
    },
    /// A tile given twice.
    #[error("tile {0} occurs twice in the pattern: name every tile once")]
    RepeatedTile(u16),
    /// Two patterns of a partition share a tile.
    #[error(
        "tile {tile} is in more than one pattern: values of overlapping patterns must not be added"
    )]
    Overlap {
        /// The tile.
        tile: u16,
    },
    /// The patterns of a partition leave tiles out.
    #[error("tile {tile} is in no pattern of the partition: every tile belongs to exactly one")]
    Uncovered {
        /// The smallest tile left out.
        tile: u16,
    },
    /// No partition of this name for this board.
    #[error("'{name}' is not a partition of {size}: {known}")]
    UnknownPartition {
        /// The name given.
        name: String,
        /// Size of the board.
        size: Size,
        /// What there is.
        known: &'static str,
    },
    /// The presets are defined for goals with the blank in a corner.
    #[error(
        "partition '{name}' is defined for goals with the blank in a corner, not for '{goal}': give the patterns with --pattern"
    )]
    PartitionGoal {
        /// Name of the partition.
        name: String,
        /// The goal.
        goal: String,
    },
    /// The table and the work on it exceed the memory budget.
    #[error(
        "the database of {tiles} tiles on {size} has {} entries and needs {} of memory to build, the budget is {}: choose fewer tiles, {}raise it with --memory if the machine has more",
        thousands(*entries), bytes(*needed), bytes(*budget), less.map(less_memory).unwrap_or("or ".into())
    )]
    Budget {
        /// Tiles of the pattern.
        tiles: usize,
        /// Size of the board.
        size: Size,
        /// Entries of the table.
        entries: u64,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        budget: u64,
        /// Bytes needed with the levels on disk, where that is less.
        less: Option<u64>,
    },
    /// The worker threads could not be started.
    #[error(transparent)]
    Threads(#[from] ThreadsError),
    /// The observer asked to stop.
    #[error("interrupted: nothing was written")]
    Interrupted,
    /// A value does not fit a byte.
    #[error("a value exceeds {max}, the largest that a byte can hold")]
    ValueTooLarge {
        /// The largest value.
        max: usize,
    },
    /// One bit an entry does not hold values of the minimum kind.
    #[error(
        "one bit an entry holds region-aware values only, and all-moves is a byte an entry: choose another kind or encoding"
    )]
    BitKind,
    /// What a file says of its entries is not so.
    #[error("the {part} in '{}' is not that of its entries: build the database again", path.display())]
    WrongPart {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong.
        part: &'static str,
    },
    /// Databases for different goals.
    #[error("the databases are for different goals: values of one goal can be added")]
    OtherGoal,
    /// Values that do not add up.
    #[error(
        "a database that counts every move adds up with no other: look it up alone, or give each one alone in a partition of \
         a set file"
    )]
    NotAdditive,
    /// A table of one bit an entry has no values that could be stored otherwise.
    #[error(
        "a database of one bit an entry holds no values to convert: build it with --encoding byte"
    )]
    NoValues,
    /// A pattern that is too short for its space to be searched.
    #[error("the space of a pattern is searched for five tiles or more: name more tiles")]
    ShortSpace,
    /// A blank that is on a tile, or beyond the board.
    #[error(
        "the blank cannot be on cell {cell}: choose a cell of the board that is no tile's of the pattern at home"
    )]
    BlankOnTile {
        /// The cell.
        cell: u8,
    },
    /// What is built in memory only.
    #[error(
        "a directory serves databases of one bit an entry and five tiles or more: give --encoding bit, or leave --dir out"
    )]
    DiskKind,
    /// A directory or a file in it refuses something.
    #[error(
        "cannot use '{place}': {reason}{}; the levels so far stay, give the same command to go on",
        advice(reason)
    )]
    Storage {
        /// The directory or the file.
        place: String,
        /// What the system said.
        reason: std::io::Error,
    },
    /// Another build runs in the directory.
    #[error("'{0}' is in use by another build: wait for its end, or name another directory")]
    DirectoryInUse(String),
    /// The directory holds something else.
    #[error("'{directory}' holds {what}: name another directory, or remove its files")]
    OtherDirectory {
        /// The directory.
        directory: String,
        /// What it holds.
        what: String,
    },
    /// The file of a level is damaged.
    #[error(
        "'{place}' is damaged: {reason}; remove it and all levels after it, and they are computed again"
    )]
    DamagedLevel {
        /// The file.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The file of a level is missing.
    #[error(
        "'{place}' is missing: bring it back, or remove all levels after it, and they are computed again"
    )]
    MissingLevel {
        /// The file.
        place: String,
    },
    /// The disk is too small by the estimate.
    #[error(
        "the levels take about {}, of which '{directory}' has {}: free some space, name another directory, or start all the same with --ignore-space",
        bytes(*needed), bytes(*free)
    )]
    Space {
        /// The directory.
        directory: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// The observer asked to stop a build in a directory.
    #[error("interrupted: the levels so far are in '{0}', give the same command to go on")]
    Stopped(String),
    /// A file that cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// An output that cannot be written.
    #[error(transparent)]
    Output(OutputError),
    /// The file is compressed.
    #[error("'{0}' is compressed already")]
    Compressed(PathBuf),
    /// The file is not compressed.
    #[error("'{0}' is not compressed: there is nothing to decompress")]
    NotCompressed(PathBuf),
    /// An entry differs from an independent search.
    #[error(
        "entry {entry} of '{path}' is {found}, a search finds {expected}: the database is wrong, build it again"
    )]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The entry.
        entry: u64,
        /// Its value, 255 for none.
        found: u8,
        /// The value that a search finds.
        expected: u8,
    },
    /// The board asked about has another size.
    #[error("the board is {found}, the database is for {expected}")]
    WrongSize {
        /// Size of the board.
        found: Size,
        /// Size of the database's board.
        expected: Size,
    },
    /// The layout asked for cannot hold this database.
    #[error("layout {layout} cannot hold this database: {why}")]
    Layout {
        /// The layout.
        layout: &'static str,
        /// Why not.
        why: String,
    },
}

fn less_memory(needed: u64) -> String {
    format!("give --dir to make {} enough, or ", bytes(needed))
}

impl From<OutputError> for PdbError {
    fn from(error: OutputError) -> PdbError {
        match error {
            OutputError::Interrupted => PdbError::Interrupted,
            error => PdbError::Output(error),
        }
    }
}

impl PdbError {
    /// Returns whether the request itself is wrong, whatever the machine and the files are like.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            PdbError::Board(_)
                | PdbError::Kernel(_)
                | PdbError::BoardTooLarge { .. }
                | PdbError::PatternLength { .. }
                | PdbError::PatternSyntax(_)
                | PdbError::BlankInPattern
                | PdbError::UnknownTile { .. }
                | PdbError::RepeatedTile(_)
                | PdbError::Overlap { .. }
                | PdbError::Uncovered { .. }
                | PdbError::UnknownPartition { .. }
                | PdbError::PartitionGoal { .. }
                | PdbError::WrongSize { .. }
                | PdbError::Layout { .. }
                | PdbError::BitKind
                | PdbError::NotAdditive
                | PdbError::OtherGoal
                | PdbError::ShortSpace
                | PdbError::DiskKind
                | PdbError::BlankOnTile { .. }
        )
    }
}

// How far work on a database is.

/// Units of work, counted by all threads.
pub(crate) struct Meter<'a> {
    observer: &'a dyn Progress,
    phase: Phase,
    done: AtomicU64,
    total: u64,
}

impl Meter<'_> {
    /// Returns the meter of some units, of which the first are done.
    pub fn new(observer: &dyn Progress, phase: Phase, done: u64, total: u64) -> Meter<'_> {
        Meter { observer, phase, done: AtomicU64::new(done), total }
    }

    /// Counts units that are done.
    ///
    /// # Errors
    /// [`PdbError::Interrupted`] when the observer says to stop.
    pub fn add(&self, units: u64) -> Result<(), PdbError> {
        let done = self.done.fetch_add(units, Ordering::Relaxed) + units;
        self.observer.progress(self.phase, done, self.total);
        match self.observer.interrupted() {
            true => Err(PdbError::Interrupted),
            false => Ok(()),
        }
    }
}
