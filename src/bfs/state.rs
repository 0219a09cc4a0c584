//! States: as (line, cell) pairs, as single numbers, and in a puzzle's own words.

use super::error::SearchError;
use super::subject::Subject;
use crate::Error;
use crate::perm::lehmer;
use crate::puzzle::Puzzle;
use crate::puzzle::tiles::{Board, Frame};

/// A state of a puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    /// Number of the line: its rank among even permutations, 0 for the goal's; odd ones, where there are
    /// such, follow after all even ones.
    pub line: u64,
    /// Path index of the distinguished element, the blank of a board.
    pub cell: usize,
}

/// The state space of a puzzle: translates what people write to states and back.
///
/// ```
/// use tilewave::bfs::StateSpace;
/// use tilewave::puzzle::tiles::Board;
/// let space = StateSpace::new(Board::parse("1 2 3/4 5 6/7 8 0", None)?)?;
/// let state = space.state(&Board::parse("1 2 3/4 5 6/7 0 8", None)?)?;
/// assert_eq!((state.line, state.cell, space.id(state)), (0, 7, 7));
/// assert_eq!(space.text(state), "1 2 3/4 5 6/7 0 8");
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StateSpace {
    subject: Subject,
    /// The frame of a board's goal.
    frame: Option<Frame>,
    puzzle: Puzzle,
    states: u64,
}

impl StateSpace {
    /// Returns the state space of a goal, one tile a move.
    ///
    /// # Errors
    /// As [`StateSpace::of`].
    pub fn new(goal: Board) -> Result<StateSpace, Error> {
        StateSpace::of(Subject::board(goal))
    }

    /// Returns the state space of a subject.
    ///
    /// # Errors
    /// [`SearchError::TooLarge`] when a board has more than 20 cells: state ids no longer fit 64 bits.
    pub fn of(subject: Subject) -> Result<StateSpace, Error> {
        let (frame, puzzle, states) = match &subject {
            Subject::Board { goal, metric, .. } => {
                let size = goal.size();
                let states = size.states().ok_or(SearchError::TooLarge { size })?;
                let frame = Frame::new(goal.clone());
                let puzzle = frame.path().puzzle(*metric);
                (Some(frame), puzzle, states)
            }
            Subject::Puzzle(of) => {
                let order = of.definition().group_order();
                // 16! fits.
                let states = u64::try_from(order).unwrap_or(u64::MAX);
                (None, of.puzzle(), states)
            }
        };
        Ok(StateSpace {
            frame,
            puzzle,
            states,
            subject,
        })
    }

    /// Returns the frame of a board's goal, `None` for other puzzles.
    pub fn frame(&self) -> Option<&Frame> {
        self.frame.as_ref()
    }

    /// Returns what is searched.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Returns the moves: cells and windows of the line.
    pub fn puzzle(&self) -> &Puzzle {
        &self.puzzle
    }

    /// Returns the length of a line.
    pub fn line_len(&self) -> usize {
        self.puzzle.line_len()
    }

    /// Returns the number of states that can be reached: N!/2 for a board of N cells, the order of the group of
    /// another puzzle.
    pub fn states(&self) -> u64 {
        self.states
    }

    /// Returns how many lines are numbered: (N-1)!/2 of one parity, twice as many where moves change it.
    pub fn lines(&self) -> u64 {
        let parities = if self.puzzle.keeps_parity() { 1 } else { 2 };
        parities * lehmer::even_count(self.line_len())
    }

    /// Returns the state at depth 0.
    ///
    /// # Errors
    /// [`crate::puzzle::tiles::BoardError`] when it cannot reach the goal.
    pub fn start(&self) -> Result<State, Error> {
        match &self.subject {
            Subject::Board { start, .. } => self.state(start),
            Subject::Puzzle(states) => {
                let (line, cell) = states.encode(states.start());
                Ok(self.number(&line, cell))
            }
        }
    }

    /// Returns the state that a text gives in the puzzle's own words.
    ///
    /// # Errors
    /// [`crate::puzzle::tiles::BoardError`] and [`crate::puzzle::DefinitionError`]; an arrangement of another
    /// puzzle than a board is not looked at for whether it can be reached.
    pub fn parse(&self, text: &str) -> Result<State, Error> {
        match &self.subject {
            Subject::Board { goal, .. } => self.state(&Board::parse(text, Some(goal.size()))?),
            Subject::Puzzle(states) => {
                let arrangement = states.definition().arrangement(text)?;
                let (line, cell) = states.encode(&arrangement);
                Ok(self.number(&line, cell))
            }
        }
    }

    /// Returns the state of a board.
    ///
    /// # Errors
    /// [`crate::puzzle::tiles::BoardError`] when the board has another size or cannot reach the goal.
    ///
    /// # Panics
    /// When the space is not that of a board.
    pub fn state(&self, board: &Board) -> Result<State, Error> {
        let frame = self.frame().expect("the space is that of a board");
        let (line, cell) = frame.encode_solvable(board)?;
        let line: Vec<u8> = line.iter().map(|&x| x as u8).collect();
        Ok(self.number(&line, cell))
    }

    /// Returns the state of a line and a cell.
    pub fn number(&self, line: &[u8], cell: usize) -> State {
        let (parity, rank) = lehmer::rank_in_parity(line);
        let line = parity as u64 * lehmer::even_count(line.len()) + rank;
        State { line, cell }
    }

    /// Returns the line of a state.
    ///
    /// # Panics
    /// When the line is out of range.
    pub fn line(&self, state: State) -> Vec<u8> {
        let mut line = vec![0; self.line_len()];
        let (parity, rank) = self.parity(state);
        lehmer::unrank_in_parity(parity, rank, &mut line);
        line
    }

    /// Returns the parity of a state's line and its rank among the lines of that parity.
    pub fn parity(&self, state: State) -> (usize, u64) {
        let half = lehmer::even_count(self.line_len());
        ((state.line / half) as usize, state.line % half)
    }

    /// Returns the board of a state, `None` for other puzzles.
    ///
    /// # Panics
    /// When the line or the cell is out of range.
    pub fn board(&self, state: State) -> Option<Board> {
        let frame = self.frame()?;
        let line: Vec<u16> = self.line(state).into_iter().map(u16::from).collect();
        Some(frame.decode(&line, state.cell))
    }

    /// Returns a state in the puzzle's own words, which [`StateSpace::parse`] reads.
    ///
    /// # Panics
    /// When the line or the cell is out of range.
    pub fn text(&self, state: State) -> String {
        match &self.subject {
            Subject::Board { .. } => self.board(state).map_or(String::new(), |b| b.to_string()),
            Subject::Puzzle(states) => {
                let arrangement = states.decode(&self.line(state), state.cell);
                states.definition().show(&arrangement)
            }
        }
    }

    /// Returns the state id, line * N + cell.
    pub fn id(&self, state: State) -> u64 {
        state.line * self.puzzle.cells() as u64 + state.cell as u64
    }

    /// Returns the state of a state id, or `None` when there is none with this number.
    pub fn from_id(&self, id: u64) -> Option<State> {
        let cells = self.puzzle.cells() as u64;
        let state = State {
            line: id / cells,
            cell: (id % cells) as usize,
        };
        (state.line < self.lines()).then_some(state)
    }
}
