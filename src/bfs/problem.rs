//! A search made ready for the engines that stream: built once, shared by all that follows.
//!
//! Invariant: goal, start, layout and groups belong to the same board.

use super::chunks::Chunks;
use super::crossing::Crossings;
use super::groups::Groups;
use super::search::{Search, SearchError};
use super::state::{State, StateSpace};
use crate::Error;
use crate::perm::checksum;
use crate::perm::kernel::{Kernel, Program, Tally};
use crate::perm::layout::{LANES, Layout};
use crate::puzzle::tiles::Board;

/// What there is to search, in the terms of the kernels.
pub(super) struct Problem {
    pub space: StateSpace,
    pub start: State,
    pub layout: Layout,
    pub groups: Groups,
}

impl Problem {
    /// Returns the problem of a goal and a start.
    ///
    /// # Errors
    /// [`SearchError::TooSmall`] and [`SearchError::TooLarge`] for boards that the layout or the groups do
    /// not fit, [`crate::puzzle::tiles::BoardError`] when the start cannot reach the goal.
    pub fn new(goal: &Board, start: &Board) -> Result<Problem, Error> {
        let size = goal.size();
        let layout = Layout::new(size.tiles()).ok_or(SearchError::TooSmall { size })?;
        let space = StateSpace::new(goal.clone())?;
        let groups = Groups::new(&space.puzzle()).ok_or(SearchError::TooLarge { size })?;
        Ok(Problem {
            start: space.state(start)?,
            space,
            layout,
            groups,
        })
    }

    /// Returns the problem of a search.
    ///
    /// # Errors
    /// As [`Problem::new`].
    pub fn of(search: &Search) -> Result<Problem, Error> {
        Problem::new(&search.goal, &search.start)
    }

    /// Returns the moves within and between chunks.
    pub fn crossings(&self, chunks: Chunks) -> Crossings {
        Crossings::new(&self.groups, chunks)
    }

    /// Returns the number of planes that cross between chunks, without their tables.
    pub fn planes(&self, chunks: Chunks) -> usize {
        Crossings::count(&self.groups, chunks)
    }

    /// Returns the program of the step from a group, all in one array.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn program(&self, kernel: Kernel, from: usize) -> Result<Program, SearchError> {
        Ok(Program::new(
            kernel,
            self.layout,
            self.groups.transfers(from),
        )?)
    }

    /// Returns the group of the states at a depth.
    pub fn group(&self, depth: usize) -> usize {
        let first = self.groups.place(self.start.cell).0;
        (0..depth % 2).fold(first, |group, _| self.groups.next(group))
    }

    /// Returns the count and the checksum of level 0, and the bit of its state.
    pub fn first(&self) -> (Tally, u8) {
        let bit = self.groups.place(self.start.cell).1;
        let (register, lane) = (
            self.start.line / LANES as u64,
            self.start.line % LANES as u64,
        );
        let tally = Tally {
            states: 1,
            checksum: checksum::state(register, lane as usize, usize::from(bit)),
        };
        (tally, bit)
    }
}
