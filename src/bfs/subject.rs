//! What is searched: a puzzle, what counts as a move, and the state at depth 0.

use std::fmt;

use crate::puzzle::tiles::{Board, Metric, Size};

/// What is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A sliding-tile board.
    Board {
        /// The goal, which numbers the tiles.
        goal: Board,
        /// The board at depth 0.
        start: Board,
        /// What counts as one move.
        metric: Metric,
    },
}

impl Subject {
    /// Returns the search of a board from its goal, one tile a move.
    pub fn board(goal: Board) -> Subject {
        Subject::Board {
            start: goal.clone(),
            goal,
            metric: Metric::Stm,
        }
    }

    /// Returns the same search from another board.
    pub fn from_board(mut self, board: Board) -> Subject {
        match &mut self {
            Subject::Board { start, .. } => *start = board,
        }
        self
    }

    /// Returns the same search in another metric.
    pub fn in_metric(mut self, other: Metric) -> Subject {
        match &mut self {
            Subject::Board { metric, .. } => *metric = other,
        }
        self
    }

    /// Returns the goal and the start of a board, or `None` for other puzzles.
    pub fn boards(&self) -> Option<(&Board, &Board)> {
        match self {
            Subject::Board { goal, start, .. } => Some((goal, start)),
        }
    }

    /// Returns the size of a board, or `None` for other puzzles.
    pub fn size(&self) -> Option<Size> {
        self.boards().map(|(goal, _)| goal.size())
    }

    /// Returns the metric of a board, or `None` for other puzzles, whose generators are the moves.
    pub fn metric(&self) -> Option<Metric> {
        match self {
            Subject::Board { metric, .. } => Some(*metric),
        }
    }

    /// Returns the name of the puzzle: the size of a board.
    pub fn name(&self) -> String {
        match self {
            Subject::Board { goal, .. } => goal.size().to_string(),
        }
    }

    /// Returns the goal in the puzzle's own words.
    pub fn goal(&self) -> String {
        match self {
            Subject::Board { goal, .. } => goal.to_string(),
        }
    }

    /// Returns the state at depth 0 in the puzzle's own words.
    pub fn start(&self) -> String {
        match self {
            Subject::Board { start, .. } => start.to_string(),
        }
    }
}

impl fmt::Display for Subject {
    /// Writes the name, and the metric unless it is the usual one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        match self.metric().filter(|&m| m != Metric::Stm) {
            Some(metric) => write!(f, " {metric}"),
            None => Ok(()),
        }
    }
}
