//! Solving: optimally, constructively, by export to other solvers, and certified by a SAT solver.
//!
//! The program and Rust programs call [`Optimal`]: a goal with its databases (`database`), seen through symmetries
//! (`symmetry`), is a tree (`boards`), with a heuristic (`heuristics`) and with `pruner` for its moves. `ida` carries out
//! iterations over any tree, splits them into subtrees, collects their results from all threads and ranks and passes
//! them to the `log`; `walk` goes through one subtree. [`Constructive`] solves boards at once. `puzzles` solves puzzles
//! with several sets of pieces optimally with pruning tables, and `phases` solves them quickly. `models` and `cnf` pass
//! the question to other solvers. Errors, and why a board cannot be solved, are here.
//!
//! Invariant: moves and nodes do not depend on the threads, the ranks or an interruption.

pub(crate) mod boards;
pub(crate) mod canonical;
pub(crate) mod chain;
pub(crate) mod cnf;
pub(crate) mod constructive;
pub(crate) mod database;
pub(crate) mod heuristics;
pub(crate) mod ida;
pub(crate) mod log;
pub(crate) mod meeting;
pub mod models;
pub(crate) mod optimal;
pub(crate) mod phases;
pub(crate) mod pruner;
pub(crate) mod puzzles;
mod source;
pub(crate) mod subset;
pub(crate) mod symmetry;
pub(crate) mod two_sided;
pub(crate) mod walk;

use std::fmt;

use crate::{
    Error,
    hint::CHECK,
    puzzle::{Board, Moves, PuzzleError, Size},
    random::SplitMix64,
    system::SystemError,
    units::counted,
};

pub use crate::solve::{
    constructive::Constructive,
    ida::{AllSolutions, Answer, Attempt, Pending, SolutionRange, Stage, StateSolver},
    log::{Logged, SolveLog},
    meeting::MeetingLists,
    optimal::{Optimal, default_patterns, sweeps},
    phases::PhaseSolver,
    pruner::MovePruner,
    puzzles::PuzzleSolver,
    source::{DatabaseSource, GivenDatabase, SolverTables},
    subset::StateSubset,
    symmetry::SymmetricView,
};

#[cfg(feature = "certify")]
pub use crate::solve::cnf::certificate::{Certificate, certify, certify_with};

// Errors in solving, exporting and certifying.

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
        "the moves {moves} do not solve the board: a database is damaged; find it with {CHECK}"
    )]
    WrongSolution {
        /// The moves found.
        moves: Moves,
    },
    /// A complete search found no solution for a board that can reach the goal: a database or the solver is faulty.
    #[error(
        "the search ended without a solution, although the board can reach the goal: a database is \
         damaged; find it with {CHECK}"
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

impl SolveError {
    /// What went wrong with databases while a board was solved.
    pub(crate) fn of(error: Error) -> SolveError {
        match error {
            Error::Solve(error) => error,
            Error::Pdb(error) => error.into(),
            Error::System(error) => error.into(),
            error => SolveError::Database { reason: error.to_string() },
        }
    }
}

// Why a board cannot be solved, and what could be solved instead.
//
// Invariant: every move exchanges the blank with a tile and moves the blank one step, so the parity of the number of
// required exchanges and the parity of the blank's distance either both change or both stay the same.

/// The number of steps between two cells.
pub(crate) fn distance(size: Size, a: usize, b: usize) -> usize {
    let cols = size.cols();
    (a / cols).abs_diff(b / cols) + (a % cols).abs_diff(b % cols)
}

/// The cell of the blank, then those of the tiles.
pub(crate) fn cells_of(board: &Board) -> Vec<u16> {
    let mut cells = vec![0; board.tiles().len()];
    for (cell, &tile) in board.tiles().iter().enumerate() {
        cells[usize::from(tile)] = cell as u16;
    }
    cells
}

/// The reason why a board cannot reach a goal, and the closest solvable alternatives. The display form explains both.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Unsolvable {
    /// Number of exchanges of two elements (tiles or blank) that turn the board into the goal.
    pub exchanges: usize,
    /// The blank's distance from its goal, which has the opposite parity.
    pub blank_steps: usize,
    /// Two tiles whose exchange makes the board solvable and, if possible, brings at least one of them home.
    pub swap: (u16, u16),
    /// The board with the two tiles exchanged: it can reach the goal.
    pub board: Board,
    /// The goal with the two tiles exchanged: the board can reach it.
    pub goal: Board,
}

/// Returns the reason why a board cannot reach a goal, or `None` if it can. Cost: linear.
///
/// ```
/// use tilewave::puzzle::{Board, Goal};
/// use tilewave::solve::explain;
///
/// let board = Board::parse("1 2 3 4/5 6 7 8/9 10 11 12/13 15 14 0", None)?;
/// let goal = Goal::Last.board(board.size())?;
/// let why = explain(&board, &goal)?.expect("Loyd's puzzle has no solution");
/// assert_eq!((why.swap, why.exchanges, why.blank_steps), ((14, 15), 1, 0));
/// assert_eq!((why.board, why.goal), (goal.clone(), board));
/// assert_eq!(explain(&goal, &goal)?, None);
/// # Ok::<(), tilewave::Error>(())
/// ```
///
/// # Errors
/// A [`PuzzleError`] if the board and the goal have different sizes.
pub fn explain(board: &Board, goal: &Board) -> Result<Option<Unsolvable>, PuzzleError> {
    let size = goal.size();
    if board.size() != size {
        return Err(PuzzleError::shape(board.size(), size));
    }
    let home = cells_of(goal);
    let at: Vec<u16> = board.tiles().iter().map(|&t| home[usize::from(t)]).collect();
    let mut seen = vec![false; at.len()];
    let mut exchanges = 0;
    for first in 0..at.len() {
        let mut cell = first;
        while !std::mem::replace(&mut seen[cell], true) {
            cell = usize::from(at[cell]);
            exchanges += usize::from(cell != first);
        }
    }
    let blank_steps = distance(size, board.blank(), goal.blank());
    if exchanges % 2 == blank_steps % 2 {
        return Ok(None);
    }
    let swap = nearest_swap(board, goal, &at);
    Ok(Some(Unsolvable {
        exchanges,
        blank_steps,
        swap,
        board: exchanged(board, swap),
        goal: exchanged(goal, swap),
    }))
}

/// The two tiles to exchange: as many as possible home afterwards, then closest to each other, then smallest.
fn nearest_swap(board: &Board, goal: &Board, at: &[u16]) -> (u16, u16) {
    let size = board.size();
    let (tiles, goals) = (board.tiles(), goal.tiles());
    let swap = |a: usize, b: usize| (tiles[a].min(tiles[b]), tiles[a].max(tiles[b]));
    // Exchanging a tile with the one on its goal brings it home.
    let homeward = (0..tiles.len()).filter_map(|cell| {
        let target = usize::from(at[cell]);
        let both = goals[cell] == tiles[target];
        let is_swap = tiles[cell] != 0 && tiles[target] != 0 && cell != target;
        is_swap.then(|| (!both, distance(size, cell, target), swap(cell, target)))
    });
    // Otherwise, one tile and the blank are exchanged: this tile and its nearest neighbour.
    let stray = || {
        let mut cells = (0..tiles.len()).filter(|&cell| tiles[cell] != 0);
        let cell = cells.find(|&cell| usize::from(at[cell]) != cell)?;
        let others = (0..tiles.len()).filter(|&other| other != cell && tiles[other] != 0);
        let other = others.min_by_key(|&other| (distance(size, cell, other), tiles[other]))?;
        Some(swap(cell, other))
    };
    let best = homeward.min().map(|(_, _, swap)| swap);
    best.or_else(stray).unwrap_or((1, 2))
}

/// The board with two tiles exchanged.
fn exchanged(board: &Board, (a, b): (u16, u16)) -> Board {
    let (cells, mut tiles) = (cells_of(board), board.tiles().to_vec());
    let [a, b] = [a, b].map(|tile| usize::from(cells[usize::from(tile)]));
    tiles.swap(a, b);
    Board::new(board.size(), &tiles).expect("an exchange keeps every tile")
}

impl fmt::Display for Unsolvable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parity = |n: usize| if n.is_multiple_of(2) { "even" } else { "odd" };
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        let (a, b) = self.swap;
        let (exchanges, steps) = (self.exchanges, self.blank_steps);
        let [many, more] = [exchanges, steps].map(plural);
        let [its_parity, other] = [exchanges, steps].map(parity);
        let board = &self.board;
        // Of a board that one exchange solves, the other goal is the board itself.
        let goal =
            if (exchanges, steps) == (1, 0) { String::new() } else { format!(" ({})", self.goal) };
        write!(
            f,
            "the board's parity is odd, so no moves lead to the goal: {exchanges} exchange{many} of \
             two cells (an {its_parity} number) would turn the board into the goal, but the blank \
             is {steps} step{more} (an {other} number) from its goal cell. Every move changes the \
             parity of both numbers, so they can never both be 0. Exchange tiles {a} and {b} \
             ({board}), or choose another goal{goal}"
        )
    }
}

// Random boards.
//
// Invariant: the boards depend only on goal and seed, never on the machine or the version of a library; all boards that
// can reach the goal are equally likely.

/// An endless sequence of random boards that can all reach a goal.
///
/// The source of randomness is SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators,
/// OOPSLA 2014), initialized with the seed. Each board is a Fisher-Yates shuffle of the goal's cells from the last to
/// the second, with indices drawn by rejection; if the result cannot reach the goal, the first two tiles in reading
/// order are exchanged.
///
/// ```
/// use tilewave::puzzle::{Goal, Size};
/// use tilewave::solve::Scrambler;
///
/// let goal = Goal::Last.board(Size::new(3, 3)?)?;
/// let board = Scrambler::new(goal.clone(), 1).next().expect("there is always another");
/// assert_eq!(board.to_string(), "3 5 4/1 7 0/2 8 6");
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scrambler {
    goal: Board,
    random: SplitMix64,
}

impl Scrambler {
    /// Returns the sequence of boards for a goal and a seed.
    pub fn new(goal: Board, seed: u64) -> Scrambler {
        Scrambler { goal, random: SplitMix64::new(seed) }
    }
}

/// The Fisher-Yates shuffle.
fn shuffle(random: &mut SplitMix64, tiles: &mut [u16]) {
    for last in (1..tiles.len()).rev() {
        tiles.swap(last, random.below(last as u64 + 1) as usize);
    }
}

impl Iterator for Scrambler {
    type Item = Board;

    fn next(&mut self) -> Option<Board> {
        let mut tiles = self.goal.tiles().to_vec();
        shuffle(&mut self.random, &mut tiles);
        let board = Board::new(self.goal.size(), &tiles).ok()?;
        if explain(&board, &self.goal).ok()?.is_none() {
            return Some(board);
        }
        // Exchanging two fixed places pairs every unsolvable board with one solvable board.
        let mut first = board.tiles().iter().copied().filter(|&tile| tile != 0);
        Some(exchanged(&board, (first.next()?, first.next()?)))
    }
}
