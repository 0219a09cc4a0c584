//! Errors in solving, exporting and certifying.

use crate::{
    puzzle::{Moves, PuzzleError},
    system::SystemError,
    units::counted,
};

/// An error in solving, exporting or certifying a board.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// The board or goal is invalid, or the board cannot reach the goal.
    #[error(transparent)]
    Puzzle(#[from] PuzzleError),
    /// The databases do not suit the goal or each other.
    #[error("cannot solve with these databases: {reason}")]
    Database {
        /// The reason.
        reason: String,
    },
    /// A database cannot be read or built.
    #[error(transparent)]
    Pdb(#[from] crate::pdb::PdbError),
    /// The solution does not lead to the goal: a database or the solver is faulty.
    #[error(
        "the moves {moves} do not solve the board: a database is damaged; find it with tilewave check"
    )]
    WrongSolution {
        /// The moves found.
        moves: Moves,
    },
    /// A complete search found no solution for a board that can reach the goal: a database or the solver is faulty.
    #[error(
        "the search ended without a solution, although the board can reach the goal: a database is \
         damaged; find it with tilewave check"
    )]
    NoSolution,
    /// The log belongs to a different solve.
    #[error(
        "'{}' is the log of a solve command {what}: use the arguments of that command, \
         or choose another file for a new log", path.display()
    )]
    OtherLog {
        /// The log.
        path: std::path::PathBuf,
        /// The part that differs.
        what: &'static str,
    },
    /// Memory, threads or a file are not available.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The model has more variables than solvers support.
    #[error(
        "a model for a {size} board and up to {moves} moves has more than {max} variables: allow \
         fewer moves, or choose a smaller board"
    )]
    ModelTooLarge {
        /// Size of the board.
        size: crate::puzzle::Size,
        /// Maximum number of moves.
        moves: usize,
        /// The maximum number of variables of a model.
        max: usize,
    },
    /// The output of another solver contains no solution of the board.
    #[error("the solver's answer is not a solution: {reason}")]
    NoModel {
        /// The reason.
        reason: String,
    },
    /// A shorter solution refutes the claimed optimum.
    #[error(
        "a solution with {} is not optimal: the board can be solved with {} ({moves})",
        counted(*claimed as u64, "move"), counted(moves.len() as u64, "move")
    )]
    Beaten {
        /// The length claimed.
        claimed: usize,
        /// The shorter solution.
        moves: Moves,
    },
    /// The board cannot be solved in the claimed length.
    #[error("no sequence of at most {claimed} moves solves the board")]
    TooShort {
        /// The length claimed.
        claimed: usize,
    },
    /// The SAT solver was stopped.
    #[error(
        "after {seconds:.1} seconds, the SAT solver had not decided whether {moves} moves are enough: \
         allow more time, or certify a smaller board"
    )]
    Undecided {
        /// The number of moves in question.
        moves: usize,
        /// Time taken.
        seconds: f64,
    },
    /// The SAT solver's answer is not a solution.
    #[error("the SAT solver's model for {moves} moves is not a solution of the board")]
    WrongModel {
        /// The number of moves in question.
        moves: usize,
    },
}
