//! A search made ready for the engines that stream: built once, shared by all that follows.
//!
//! Invariant: start, layout and groups belong to the same state space.
//!
//! A level is an array of registers: the lines of each of its class's groups, one group after the other.

use super::chunks::Chunks;
use super::crossing::Crossings;
use super::error::SearchError;
use super::groups::{Groups, Seat};
use super::relay::is_long;
use super::search::Search;
use super::state::{State, StateSpace};
use super::subject::Subject;
use crate::Error;
use crate::perm::checksum;
use crate::perm::kernel::Tally;
use crate::perm::layout::{LANES, Layout};

/// What there is to search, in the terms of the kernels.
pub(super) struct Problem {
    pub space: StateSpace,
    pub start: State,
    pub layout: Layout,
    pub groups: Groups,
}

impl Problem {
    /// Returns the problem of a subject.
    ///
    /// # Errors
    /// [`SearchError::TooSmall`] and [`SearchError::TooLarge`] for boards that the layout or the groups do
    /// not fit, [`crate::puzzle::tiles::BoardError`] when the start cannot reach the goal.
    pub fn new(subject: &Subject) -> Result<Problem, Error> {
        let space = StateSpace::of(subject.clone())?;
        let puzzle = subject.to_string();
        let layout = Layout::new(space.line_len()).ok_or(SearchError::TooSmall { puzzle })?;
        let start = space.start()?;
        Ok(Problem {
            groups: Groups::new(space.puzzle(), start.cell),
            start,
            space,
            layout,
        })
    }

    /// Returns the problem of a search.
    ///
    /// # Errors
    /// As [`Problem::new`].
    pub fn of(search: &Search) -> Result<Problem, Error> {
        Problem::new(&search.subject)
    }

    /// Returns the problem of a search through chunks: those whose moves cross the front of a line one element at a
    /// time.
    ///
    /// # Errors
    /// As [`Problem::new`], and [`SearchError::InMemory`] for others.
    pub fn chunked(subject: &Subject) -> Result<Problem, Error> {
        let problem = Problem::new(subject)?;
        let windows = problem.space.puzzle().windows();
        if windows.iter().any(|window| is_long(problem.layout, window)) {
            let puzzle = subject.to_string();
            return Err(SearchError::InMemory { puzzle }.into());
        }
        Ok(problem)
    }

    /// Returns the moves within and between chunks.
    pub fn crossings(&self, chunks: Chunks) -> Crossings {
        Crossings::new(&self.groups, chunks)
    }

    /// Returns the number of planes that cross between chunks, without their tables.
    pub fn planes(&self, chunks: Chunks) -> usize {
        Crossings::count(&self.groups, chunks)
    }

    /// Returns where a state lies.
    pub fn seat(&self, state: State) -> Seat {
        let parity = self.space.parity(state).0;
        let seat = self.groups.seat(parity, state.cell);
        seat.expect("states that are reached have a group")
    }

    /// Returns the class of the states at a depth.
    pub fn class(&self, depth: usize) -> usize {
        let first = self.seat(self.start).class;
        (0..depth % 2).fold(first, |class, _| self.groups.next(class))
    }

    /// Returns the side of the step from the states at a depth: the class, or where there is one only whether the depth
    /// is odd.
    pub fn side(&self, depth: usize) -> usize {
        match self.groups.classes() {
            1 => depth % 2,
            _ => self.class(depth),
        }
    }

    /// Returns the number of registers of a level of a class.
    pub fn registers(&self, class: usize) -> u64 {
        self.groups.class(class).len() as u64 * self.layout.registers()
    }

    /// Returns the register, within its level, and the lane of a state.
    pub fn place(&self, state: State) -> (u64, usize) {
        let rank = self.space.parity(state).1;
        let group = self.seat(state).group as u64;
        let register = group * self.layout.registers() + rank / LANES as u64;
        (register, (rank % LANES as u64) as usize)
    }

    /// Returns the number of the first line of a group.
    pub fn first_line(&self, class: usize, group: usize) -> u64 {
        let parity = self.groups.class(class)[group].parity as u64;
        parity * self.layout.registers() * LANES as u64
    }

    /// Returns the count and the checksum of level 0.
    pub fn first(&self) -> Tally {
        let (register, lane) = self.place(self.start);
        let bit = usize::from(self.seat(self.start).bit);
        Tally {
            states: 1,
            checksum: checksum::state(register, lane, bit),
        }
    }
}
