//! What can be wrong with a table or its file: one line each, with what to do.

use std::path::{Path, PathBuf};

use crate::puzzle::tiles::Size;
use crate::store::MemoryError;

/// A table that cannot be made or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// Memory that could not be had.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A name that is no encoding.
    #[error("'{0}' is not an encoding of distance tables: choose mod3 or byte")]
    UnknownEncoding(String),
    /// The table and the search exceed the memory budget.
    #[error(
        "the distance table of {size} and the search that fills it need {needed} bytes of memory, the budget is {budget} bytes: raise it with --memory if the machine has more, or choose a smaller board"
    )]
    Budget {
        /// Size of the board.
        size: Size,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        budget: u64,
    },
    /// A depth that the encoding cannot hold.
    #[error("a state at depth {depth} does not fit a table: depths are at most {max}")]
    TooDeep {
        /// The depth.
        depth: usize,
        /// The largest that fits.
        max: usize,
    },
    /// The search reported other states than it counted: its engine does not fill tables.
    #[error(
        "the {engine} engine filled {filled} of {found} states of the table: choose another engine"
    )]
    Unfilled {
        /// The engine.
        engine: &'static str,
        /// States in the table.
        filled: u64,
        /// States found.
        found: u64,
    },
    /// The system refused something with a file.
    #[error("{action} '{}': {source}", path.display())]
    Io {
        /// What was tried: `cannot open`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The caller asked to stop.
    #[error("interrupted: nothing was written")]
    Interrupted,
    /// A file is in the way.
    #[error("'{}' exists: choose another name or give --force to replace it", .0.display())]
    Exists(PathBuf),
    /// The file is something else.
    #[error("'{}' is no distance table: make one with tilewave table", .0.display())]
    NotATable(PathBuf),
    /// The file is of another version of the format.
    #[error(
        "'{}' is a distance table of version {found}, this program reads version {known}: make it again with tilewave table",
        path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version known here.
        known: u32,
    },
    /// The header is damaged.
    #[error("the header of '{}' is damaged, {reason}: make the table again with tilewave table", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: &'static str,
    },
    /// The file is shorter or longer than its header says.
    #[error(
        "'{}' has {found} bytes and should have {expected}: make the table again with tilewave table",
        path.display()
    )]
    Length {
        /// The file.
        path: PathBuf,
        /// Its length.
        found: u64,
        /// The length by its header.
        expected: u64,
    },
    /// Entries are damaged.
    #[error(
        "'{}' is damaged in block {block} of {blocks}: make the table again with tilewave table",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The first damaged block.
        block: u64,
        /// Number of blocks.
        blocks: u64,
    },
    /// No way leads from a state to the goal.
    #[error(
        "'{}' is damaged: no neighbour of state {state} is closer to the goal; make the table again with tilewave table",
        path.display()
    )]
    DeadEnd {
        /// The file.
        path: PathBuf,
        /// The state id.
        state: u64,
    },
}

impl TableError {
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| TableError::Io {
            action,
            path,
            source,
        }
    }
}
