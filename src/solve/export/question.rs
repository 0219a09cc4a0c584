//! The question itself: a board, a goal, and how many moves are allowed.
//!
//! Invariant: the goal can be reached from the board, and no model of the question is beyond what solvers
//! take.

use crate::puzzle::tiles::{Board, Frame, Size};
use crate::solve::SolveError;

/// The question whether a board can reach a goal in at most a number of moves.
///
/// ```
/// use tilewave::puzzle::tiles::{Board, Goal};
/// use tilewave::solve::export::Question;
///
/// let board = Board::parse("1 2 3/4 5 6/0 7 8", None)?;
/// let goal = Goal::Last.board(board.size())?;
/// let question = Question::new(board, goal, 3)?;
/// assert_eq!(question.steps(), 2); // all solutions have an even number of moves
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Question {
    board: Board,
    goal: Board,
    moves: usize,
}

impl Question {
    /// The most variables of a model.
    pub const MAX_VARIABLES: usize = 50_000_000;

    /// Returns the question whether `board` can reach `goal` in at most `moves` moves.
    ///
    /// # Errors
    /// [`SolveError::Board`] when the board cannot reach the goal at all, [`SolveError::ModelTooLarge`]
    /// when a model would have more than [`Question::MAX_VARIABLES`] variables.
    pub fn new(board: Board, goal: Board, moves: usize) -> Result<Question, SolveError> {
        let size = goal.size();
        let per_step = size.cells() * size.cells() + 5;
        let steps = moves.checked_add(1);
        let variables = steps.and_then(|steps| steps.checked_mul(per_step));
        if variables.is_none_or(|v| v > Question::MAX_VARIABLES) {
            return Err(SolveError::ModelTooLarge {
                size,
                moves,
                max: Question::MAX_VARIABLES,
            });
        }
        Frame::new(goal.clone()).encode_solvable(&board)?;
        Ok(Question { board, goal, moves })
    }

    /// Returns the board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Returns the goal.
    pub fn goal(&self) -> &Board {
        &self.goal
    }

    /// Returns the most moves allowed.
    pub fn moves(&self) -> usize {
        self.moves
    }

    /// Returns the size of the board.
    pub fn size(&self) -> Size {
        self.goal.size()
    }

    /// Returns the number of steps of a model: the moves allowed, less one where all solutions have the
    /// other parity (none when no move is allowed anyway). Every move changes the colour of the blank's cell as on a chessboard, so the two
    /// blank cells settle the parity.
    pub fn steps(&self) -> usize {
        let parity = self.distance(self.board.blank(), self.goal.blank()) % 2;
        match self.moves % 2 == parity {
            true => self.moves,
            false => self.moves.saturating_sub(1),
        }
    }

    /// What a model asks, for its comments: the most moves, board and goal, a line each.
    pub(super) fn title(&self) -> String {
        let (steps, asked) = (self.steps(), self.moves);
        let mut title = format!("Solvable in at most {steps} moves?");
        if steps < asked {
            title += &format!(" ({asked} were allowed; all solutions have the other parity)");
        }
        title + &format!("\nBoard {}\nGoal  {}", self.board, self.goal)
    }

    /// The steps between two cells, an admissible bound for whatever goes from one to the other.
    pub(super) fn distance(&self, a: usize, b: usize) -> usize {
        let cols = self.size().cols();
        (a / cols).abs_diff(b / cols) + (a % cols).abs_diff(b % cols)
    }

    /// Whether the element with the given start and goal cells can be on a cell after `time` of `steps`
    /// steps.
    pub(super) fn is_possible(&self, start: usize, home: usize, cell: usize, time: usize) -> bool {
        self.distance(start, cell) <= time && self.distance(cell, home) <= self.steps() - time
    }

    /// Start and goal cell of every element, by number (0 is the blank).
    pub(super) fn ways(&self) -> Vec<(usize, usize)> {
        let mut ways = vec![(0, 0); self.size().cells()];
        for (cell, &tile) in self.board.tiles().iter().enumerate() {
            ways[usize::from(tile)].0 = cell;
        }
        for (cell, &tile) in self.goal.tiles().iter().enumerate() {
            ways[usize::from(tile)].1 = cell;
        }
        ways
    }
}
