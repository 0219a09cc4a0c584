//! The single error type of the library: every more specific error converts into it.

use crate::{
    pdb::PdbError,
    puzzle::{ErrorPlace, PuzzleError, PuzzleErrorKind},
    solve::SolveError,
    stop::SearchError,
    store::StorageError,
    system::SystemError,
    table::TableError,
};

/// Any error from the library.
///
/// ```
/// let error: tilewave::Error = tilewave::Board::parse("1 1/2 0", None).unwrap_err().into();
/// // What `main` prints of an error that it returns is the message.
/// assert_eq!(format!("{error:?}"), error.to_string());
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A board, puzzle, state or puzzle file that cannot be used.
    #[error(transparent)]
    Puzzle(#[from] PuzzleError),
    /// A search that cannot run or did not finish.
    #[error(transparent)]
    Search(SearchError),
    /// A report that cannot be made.
    #[error("{0}")]
    Report(String),
    /// A failure of the machine: memory, threads, instructions, files.
    #[error(transparent)]
    System(#[from] SystemError),
    /// A pattern, a build or a database file that cannot be used.
    #[error(transparent)]
    Pdb(PdbError),
    /// A distance table that cannot be built or used.
    #[error(transparent)]
    Table(TableError),
    /// A model that is too large, or a certificate that cannot be produced.
    #[error(transparent)]
    Solve(SolveError),
    /// A wrong row in an array of boards or states.
    #[error("row {row}: {reason}")]
    Row {
        /// The row, counted from 0.
        row: usize,
        /// The error in the row.
        reason: Box<Error>,
    },
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// The class of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Class {
    /// The request is wrong, regardless of the machine and the files.
    Usage,
    /// The observer asked to stop.
    Interrupted,
    /// There is no solution: the board cannot reach the goal.
    NoSolution,
    /// The machine, a file or the operation has failed.
    Failed,
}

impl Error {
    /// Returns the class of the error.
    ///
    /// ```
    /// use tilewave::{Class, Error, Size};
    /// let error: Error = Size::new(0, 3).unwrap_err().into();
    /// assert_eq!(error.class(), Class::Usage);
    /// ```
    pub fn class(&self) -> Class {
        match self {
            Error::Search(SearchError::Interrupted { .. } | SearchError::Paused { .. })
            | Error::Pdb(PdbError::Interrupted(_))
            | Error::System(SystemError::Interrupted) => Class::Interrupted,
            Error::Puzzle(error) => match (error.kind(), error.place()) {
                (_, Some(ErrorPlace::Goal)) => Class::Usage,
                // What the file of a puzzle contains, not what was asked for.
                (_, Some(ErrorPlace::Line(_))) => Class::Failed,
                (PuzzleErrorKind::Unreachable, _) => Class::NoSolution,
                _ => Class::Usage,
            },
            Error::System(SystemError::UnknownKernel(_) | SystemError::UnsupportedKernel(_))
            | Error::Search(
                SearchError::TooLarge { .. }
                | SearchError::TooSmall { .. }
                | SearchError::InMemory { .. }
                | SearchError::Lists(_)
                | SearchError::Digits(_)
                | SearchError::WideState { .. }
                | SearchError::Condition { .. },
            )
            | Error::Pdb(PdbError::Puzzle(_) | PdbError::Pattern(_) | PdbError::Unsuitable(_))
            | Error::Table(TableError::Unsuitable(_))
            | Error::Solve(SolveError::OtherLog { .. }) => Class::Usage,
            Error::Row { reason, .. } => reason.class(),
            _ => Class::Failed,
        }
    }
}

/// System errors are converted in the same way everywhere, as are errors in a board.
macro_rules! convert {
    ($($error:ident => $variant:ident or $($common:ident)+,)+) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Error {
                match error {
                    $($error::$common(error) => Error::$common(error),)+
                    error => Error::$variant(error),
                }
            }
        }
    )+};
}

convert! {
    SearchError => Search or System,
    PdbError => Pdb or System,
    TableError => Table or System,
    SolveError => Solve or System Puzzle,
}

impl From<StorageError> for Error {
    fn from(error: StorageError) -> Error {
        Error::Search(error.into())
    }
}
