//! What can go wrong while solving, exporting or certifying.

use crate::{
    puzzle::{Moves, PuzzleError},
    system::SystemError,
};

/// A board that was not solved, exported or certified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// A board or a goal that is not one, or a board that cannot reach the goal.
    #[error(transparent)]
    Puzzle(#[from] PuzzleError),
    /// Databases that do not suit the goal or each other.
    #[error(
        "these databases cannot be used together here: {reason}; build a set with tilewave pdb build"
    )]
    Database {
        /// What is wrong.
        reason: String,
    },
    /// A database that cannot be read or built.
    #[error(transparent)]
    Pdb(#[from] crate::pdb::PdbError),
    /// A solution that does not end at the goal: a fault of a database or of the solver.
    #[error(
        "the moves {moves} do not solve the board: a database is damaged, check it with tilewave check"
    )]
    WrongSolution {
        /// The moves found.
        moves: Moves,
    },
    /// A search that nobody stopped, without a solution of a board that can reach the goal: a fault of a database or of the
    /// solver.
    #[error(
        "the search ended without a solution, though the board can reach the goal: a database is damaged, check it with \
         tilewave check"
    )]
    NoSolution,
    /// The log of another solve.
    #[error(
        "'{}' is the log of a solve {what}: give what it was begun with, or name another file for a new log", path.display()
    )]
    OtherLog {
        /// The log.
        path: std::path::PathBuf,
        /// What is different.
        what: &'static str,
    },
    /// What the machine refuses.
    #[error(transparent)]
    System(#[from] SystemError),
    /// A model of more variables than solvers take.
    #[error(
        "a model of {size} over {moves} moves has more than {max} variables: allow fewer moves or take a smaller board"
    )]
    ModelTooLarge {
        /// Size of the board.
        size: crate::puzzle::Size,
        /// Moves allowed.
        moves: usize,
        /// The most variables of a model.
        max: usize,
    },
    /// The answer of another solver that holds no solution of the board.
    #[error("the solver's answer is not a solution: {reason}")]
    NoModel {
        /// What is wrong with it.
        reason: String,
    },
    /// A claimed optimum that a shorter solution refutes.
    #[error("{claimed} moves are not optimal: {} moves solve the board: {moves}", moves.len())]
    Beaten {
        /// The length claimed.
        claimed: usize,
        /// The shorter solution.
        moves: Moves,
    },
    /// A claimed length in which the board cannot be solved.
    #[error("no sequence of at most {claimed} moves solves the board")]
    TooShort {
        /// The length claimed.
        claimed: usize,
    },
    /// The SAT solver was stopped.
    #[error(
        "the SAT solver had not decided {moves} moves after {seconds:.1} seconds: allow more time or certify a smaller board"
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
