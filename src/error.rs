//! The one error type of the library: every narrower error converts into it.

use crate::bfs::SearchError;
use crate::puzzle::tiles::BoardError;
use crate::report::ReportError;
use crate::store::MemoryError;

/// Anything the library can refuse or fail at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A size, a board or a goal that is not one.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// A search that cannot run or did not finish.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A report that cannot be made.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// Memory that could not be had.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}
