//! Errors in tables and their files. Each message is one line and says what to do.

use std::path::PathBuf;

use crate::{system::SystemError, units::bytes};

/// An error in building or using a table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// Memory, threads, processor instructions or a file are not available.
    #[error(transparent)]
    System(SystemError),
    /// The puzzle has moves without inverses, so distances depend on the direction.
    #[error(
        "some moves of {puzzle} cannot be reversed, but a distance table needs the inverse of \
         every move: choose a puzzle whose moves can all be reversed"
    )]
    Directed {
        /// The puzzle.
        puzzle: String,
    },
    /// Boards were requested, but the table is for another puzzle.
    #[error("the table is for {puzzle}, which is not a board")]
    NoBoard {
        /// The puzzle of the table.
        puzzle: String,
    },
    /// The depth of a state is beyond the depths of the table.
    #[error("the table has no depth for '{state}': it contains only smaller depths")]
    Beyond {
        /// The state.
        state: String,
    },
    /// The table and the search exceed the memory limit.
    #[error(
        "the distance table for {puzzle} and the search that fills it need {} of memory, but the \
         limit is {}: raise the limit with --memory if the machine has more, or choose a smaller \
         puzzle",
        bytes(*needed), bytes(*budget)
    )]
    Budget {
        /// The puzzle.
        puzzle: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        budget: u64,
    },
    /// The pruning table exceeds the memory limit.
    #[error(
        "a table for {puzzle} takes {} of memory, but the limit is {}: keep fewer pieces \
         (--pieces), use smaller entries (--encoding), fill the table in its file (--on-disk), or \
         allow more memory (--memory)",
        bytes(*needed), bytes(*budget)
    )]
    Projection {
        /// The puzzle.
        puzzle: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        budget: u64,
    },
    /// Depths modulo 3 are not possible for a puzzle in which some moves have no inverse.
    #[error(
        "some moves of {puzzle} cannot be reversed, so depths modulo 3 are not enough: choose \
         another --encoding"
    )]
    Modulo {
        /// The puzzle.
        puzzle: String,
    },
    /// The puzzle has no symmetries under which states could be identified.
    #[error("no symmetries make a table for {puzzle} smaller: build it without --up-to-symmetry")]
    NoSymmetry {
        /// The puzzle.
        puzzle: String,
    },
    /// An entry contradicts those of its neighbours.
    #[error(
        "the table for {puzzle} is wrong{}: {what}; rebuild it with tilewave table",
        number.map_or(String::new(), |number| format!(" at entry {number}"))
    )]
    Wrong {
        /// The puzzle.
        puzzle: String,
        /// The entry, `None` if the table is wrong as a whole.
        number: Option<u64>,
        /// The reason.
        what: &'static str,
    },
    /// A depth exceeds the maximum of the encoding.
    #[error(
        "depth {depth} does not fit in an entry of the table, which holds depths of at most {max}: \
         use --encoding byte"
    )]
    TooDeep {
        /// The depth.
        depth: usize,
        /// The maximum depth that fits.
        max: usize,
    },
    /// The states that the search passed to the table differ from those that it counted: its engine does not fill
    /// tables.
    #[error(
        "the {engine} engine filled in only {filled} of {found} states of the table: choose \
         another engine"
    )]
    Unfilled {
        /// The engine.
        engine: &'static str,
        /// Number of states in the table.
        filled: u64,
        /// Number of states that the search counted.
        found: u64,
    },
    /// The caller asked to stop.
    #[error("interrupted: nothing was written")]
    Interrupted,
    /// No path in the table leads from a state to the goal.
    #[error(
        "'{}' is damaged: no neighbour of state {state} is closer to the goal; rebuild the table \
         with tilewave table",
        path.display()
    )]
    DeadEnd {
        /// The file.
        path: PathBuf,
        /// The state id.
        state: u64,
    },
}

impl From<SystemError> for TableError {
    fn from(error: SystemError) -> TableError {
        match error {
            SystemError::Interrupted => TableError::Interrupted,
            error => TableError::System(error),
        }
    }
}
