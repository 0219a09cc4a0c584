//! The one error type of the library: every narrower error converts into it.

use crate::frontier::FrontierError;
use crate::pdb::PdbError;
use crate::puzzle::PuzzleError;
use crate::report::ReportError;
use crate::search::SearchError;
use crate::search::disk::DiskError;
use crate::solve::SolveError;
use crate::store::{MemoryError, OutputError, StorageError};
use crate::table::TableError;

/// Anything the library can refuse or fail at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A board, a puzzle, a state or a puzzle file that cannot be used.
    #[error(transparent)]
    Puzzle(#[from] PuzzleError),
    /// A search that cannot run or did not finish.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A search by lists that cannot run or did not finish.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
    /// A search on disk that cannot start, go on or be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A report that cannot be made.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// Memory that could not be had.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// An output that cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A pattern, a build or a database file that cannot be used.
    #[error(transparent)]
    Pdb(#[from] PdbError),
    /// A distance table that cannot be made or used.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A model that is too large, or a certificate that cannot be given.
    #[error(transparent)]
    Solve(SolveError),
    /// A row of an array of boards or states that is wrong, counted from 0.
    #[error("row {row}: {reason}")]
    Row {
        /// The row.
        row: usize,
        /// What is wrong with it.
        reason: Box<Error>,
    },
}

/// What kind of failure an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Class {
    /// What was asked for is wrong, whatever the machine and the files are like.
    Usage,
    /// The observer asked to stop.
    Interrupted,
    /// There is nothing to be found: the board cannot reach the goal.
    NoSolution,
    /// The machine, a file or the work has failed.
    Failed,
}

impl Error {
    /// Returns what kind of failure it is.
    ///
    /// ```
    /// use tilewave::{Class, Error, Size};
    /// let error: Error = Size::new(0, 3).unwrap_err().into();
    /// assert_eq!(error.class(), Class::Usage);
    /// ```
    pub fn class(&self) -> Class {
        match self {
            Error::Search(SearchError::Interrupted { .. })
            | Error::Frontier(FrontierError::Interrupted)
            | Error::Disk(DiskError::Interrupted { .. })
            | Error::Pdb(PdbError::Interrupted(_))
            | Error::Table(TableError::Interrupted)
            | Error::Output(OutputError::Interrupted) => Class::Interrupted,
            Error::Puzzle(PuzzleError::Unsolvable { .. }) => Class::NoSolution,
            Error::Puzzle(_)
            | Error::Frontier(
                FrontierError::State { .. }
                | FrontierError::Requires { .. }
                | FrontierError::Kernel(_),
            )
            | Error::Search(
                SearchError::TooLarge { .. }
                | SearchError::TooSmall { .. }
                | SearchError::InMemory { .. }
                | SearchError::Kernel(_),
            )
            | Error::Disk(DiskError::Digits(_))
            | Error::Pdb(
                PdbError::Puzzle(_)
                | PdbError::Kernel(_)
                | PdbError::Pattern(_)
                | PdbError::Unsuitable(_),
            )
            | Error::Table(TableError::Directed { .. } | TableError::NoBoard { .. })
            | Error::Solve(SolveError::OtherLog { .. }) => Class::Usage,
            Error::Row { reason, .. } => reason.class(),
            _ => Class::Failed,
        }
    }
}

impl From<StorageError> for Error {
    fn from(error: StorageError) -> Error {
        Error::Disk(error.into())
    }
}

impl From<SolveError> for Error {
    /// A board that is wrong is wrong for the same reason everywhere.
    fn from(error: SolveError) -> Error {
        match error {
            SolveError::Puzzle(error) => Error::Puzzle(error),
            error => Error::Solve(error),
        }
    }
}
