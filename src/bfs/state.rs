//! States: boards as (line, cell) pairs and as single numbers.

use super::search::SearchError;
use crate::Error;
use crate::perm::lehmer;
use crate::puzzle::Puzzle;
use crate::puzzle::tiles::{Board, Frame, Size};

/// A state of a board relative to a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    /// Rank of the line among even permutations, 0 for the goal's.
    pub line: u64,
    /// Path index of the blank.
    pub cell: usize,
}

/// The state space of a goal: translates boards to states and back.
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
    frame: Frame,
}

impl StateSpace {
    /// Returns the state space of a goal.
    ///
    /// # Errors
    /// [`SearchError::TooLarge`] when the board has more than 20 cells: state ids no longer fit 64 bits.
    pub fn new(goal: Board) -> Result<StateSpace, Error> {
        if goal.size().states().is_none() {
            return Err(SearchError::TooLarge { size: goal.size() }.into());
        }
        Ok(StateSpace {
            frame: Frame::new(goal),
        })
    }

    /// Returns the frame of the goal.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Returns the moves of the board: cells and windows of the line.
    pub fn puzzle(&self) -> Puzzle {
        self.frame.path().puzzle()
    }

    /// Returns the size of the board.
    pub fn size(&self) -> Size {
        self.frame.goal().size()
    }

    /// Returns the number of lines, (N-1)!/2.
    pub fn lines(&self) -> u64 {
        lehmer::even_count(self.size().tiles())
    }

    /// Returns the state of a board.
    ///
    /// # Errors
    /// [`crate::puzzle::tiles::BoardError`] when the board has another size or cannot reach the goal.
    pub fn state(&self, board: &Board) -> Result<State, Error> {
        let (line, cell) = self.frame.encode_solvable(board)?;
        let line: Vec<u8> = line.iter().map(|&x| x as u8).collect();
        Ok(State {
            line: lehmer::rank_even(&line),
            cell,
        })
    }

    /// Returns the board of a state.
    ///
    /// # Panics
    /// When the line or the cell is out of range.
    pub fn board(&self, state: State) -> Board {
        let mut line = vec![0; self.size().tiles()];
        lehmer::unrank_even(state.line, &mut line);
        let line: Vec<u16> = line.iter().map(|&x| u16::from(x)).collect();
        self.frame.decode(&line, state.cell)
    }

    /// Returns the state id, line * N + cell.
    pub fn id(&self, state: State) -> u64 {
        state.line * self.size().cells() as u64 + state.cell as u64
    }

    /// Returns the state of a state id, or `None` when there is none with this number.
    pub fn from_id(&self, id: u64) -> Option<State> {
        let cells = self.size().cells() as u64;
        let state = State {
            line: id / cells,
            cell: (id % cells) as usize,
        };
        (state.line < self.lines()).then_some(state)
    }
}
