//! States: as (line, cell) pairs, as single numbers, and in a puzzle's own words.

use super::search::SearchError;
use super::subject::Subject;
use crate::Error;
use crate::perm::lehmer;
use crate::puzzle::Puzzle;
use crate::puzzle::tiles::{Board, Frame, Size};

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
/// assert_eq!(space.board(state).to_string(), "1 2 3/4 5 6/7 0 8");
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StateSpace {
    subject: Subject,
    frame: Frame,
    puzzle: Puzzle,
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
    /// [`SearchError::TooLarge`] when the board has more than 20 cells: state ids no longer fit 64 bits.
    pub fn of(subject: Subject) -> Result<StateSpace, Error> {
        let Subject::Board { goal, metric, .. } = &subject;
        if goal.size().states().is_none() {
            return Err(SearchError::TooLarge { size: goal.size() }.into());
        }
        let frame = Frame::new(goal.clone());
        let puzzle = frame.path().puzzle(*metric);
        Ok(StateSpace {
            frame,
            puzzle,
            subject,
        })
    }

    /// Returns the frame of the goal.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Returns what is searched.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Returns the moves: cells and windows of the line.
    pub fn puzzle(&self) -> &Puzzle {
        &self.puzzle
    }

    /// Returns the size of the board.
    pub fn size(&self) -> Size {
        self.frame.goal().size()
    }

    /// Returns the length of a line.
    pub fn line_len(&self) -> usize {
        self.puzzle.line_len()
    }

    /// Returns the number of states that can be reached.
    pub fn states(&self) -> u64 {
        self.size().states().unwrap_or(u64::MAX)
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
        let Subject::Board { start, .. } = &self.subject;
        self.state(start)
    }

    /// Returns the state of a board.
    ///
    /// # Errors
    /// [`crate::puzzle::tiles::BoardError`] when the board has another size or cannot reach the goal.
    pub fn state(&self, board: &Board) -> Result<State, Error> {
        let (line, cell) = self.frame.encode_solvable(board)?;
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

    /// Returns the board of a state.
    ///
    /// # Panics
    /// When the line or the cell is out of range.
    pub fn board(&self, state: State) -> Board {
        let line: Vec<u16> = self.line(state).into_iter().map(u16::from).collect();
        self.frame.decode(&line, state.cell)
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
