//! What is searched: a puzzle, what counts as a move, and the state at depth 0.

use std::fmt;
use std::sync::Arc;

use crate::puzzle::tiles::{Board, Metric, Size};
use crate::puzzle::{Definition, States};

/// What is searched.
#[derive(Clone, Debug)]
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
    /// A permutation puzzle and its start; every generator is one move.
    Puzzle(Arc<States>),
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

    /// Returns the search of a puzzle from its solved state. Cost: a tenth of a second at most, to choose the
    /// order in which positions are read.
    pub fn puzzle(definition: Definition) -> Subject {
        Subject::Puzzle(Arc::new(States::new(definition)))
    }

    /// Returns the same search of a board from another one; other puzzles stay as they are.
    pub fn from_board(mut self, board: Board) -> Subject {
        if let Subject::Board { start, .. } = &mut self {
            *start = board;
        }
        self
    }

    /// Returns the same search from the goal, the solved state of a puzzle that is no board.
    pub fn from_goal(self) -> Subject {
        match self {
            Subject::Board { goal, metric, .. } => Subject::board(goal).in_metric(metric),
            Subject::Puzzle(states) => {
                let solved = states.definition().solved();
                let states = Arc::unwrap_or_clone(states).from_start(solved);
                Subject::Puzzle(Arc::new(states))
            }
        }
    }

    /// Returns the same search of a board in another metric; other puzzles, whose generators are the moves, stay
    /// as they are.
    pub fn in_metric(mut self, other: Metric) -> Subject {
        if let Subject::Board { metric, .. } = &mut self {
            *metric = other;
        }
        self
    }

    /// Returns the same search from a state in the puzzle's own words: a board, or what [`Definition::show`]
    /// prints.
    ///
    /// # Errors
    /// [`crate::puzzle::tiles::BoardError`] and [`crate::puzzle::DefinitionError`].
    pub fn starting_at(self, text: &str) -> Result<Subject, crate::Error> {
        match self {
            Subject::Board { ref goal, .. } => {
                let board = Board::parse(text, Some(goal.size()))?;
                Ok(self.from_board(board))
            }
            Subject::Puzzle(states) => {
                let start = states.definition().arrangement(text)?;
                let states = Arc::unwrap_or_clone(states).from_start(start);
                Ok(Subject::Puzzle(Arc::new(states)))
            }
        }
    }

    /// Returns the goal and the start of a board, or `None` for other puzzles.
    pub fn boards(&self) -> Option<(&Board, &Board)> {
        match self {
            Subject::Board { goal, start, .. } => Some((goal, start)),
            Subject::Puzzle(_) => None,
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
            Subject::Puzzle(_) => None,
        }
    }

    /// Returns the definition of a puzzle that is no board.
    pub fn definition(&self) -> Option<&Definition> {
        match self {
            Subject::Board { .. } => None,
            Subject::Puzzle(states) => Some(states.definition()),
        }
    }

    /// Returns whether distances are the same in both directions.
    pub fn is_directed(&self) -> bool {
        self.definition().is_some_and(Definition::is_directed)
    }

    /// Returns the number of states that can be reached, N!/2 for a board of N cells, the order of the group of
    /// another puzzle; `None` for boards of more than 20 cells, where it exceeds 64 bits.
    pub fn states(&self) -> Option<u64> {
        match self {
            Subject::Board { goal, .. } => goal.size().states(),
            // 16! fits.
            Subject::Puzzle(states) => states.definition().group_order().try_into().ok(),
        }
    }

    /// Returns the name of the puzzle: the size of a board.
    pub fn name(&self) -> String {
        match self {
            Subject::Board { goal, .. } => goal.size().to_string(),
            Subject::Puzzle(states) => states.definition().name().to_string(),
        }
    }

    /// Returns the goal in the puzzle's own words.
    pub fn goal(&self) -> String {
        match self {
            Subject::Board { goal, .. } => goal.to_string(),
            Subject::Puzzle(states) => {
                let definition = states.definition();
                definition.show(&definition.solved())
            }
        }
    }

    /// Returns the state at depth 0 in the puzzle's own words.
    pub fn start(&self) -> String {
        match self {
            Subject::Board { start, .. } => start.to_string(),
            Subject::Puzzle(states) => states.definition().show(states.start()),
        }
    }
}

impl PartialEq for Subject {
    fn eq(&self, other: &Subject) -> bool {
        match (self, other) {
            (
                Subject::Board {
                    goal,
                    start,
                    metric,
                },
                Subject::Board {
                    goal: other_goal,
                    start: other_start,
                    metric: other_metric,
                },
            ) => (goal, start, metric) == (other_goal, other_start, other_metric),
            (Subject::Puzzle(states), Subject::Puzzle(other)) => {
                states.definition() == other.definition() && states.start() == other.start()
            }
            _ => false,
        }
    }
}

impl Eq for Subject {}

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
