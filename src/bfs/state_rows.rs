//! States as rows of an array: the tiles of a board, row-major and 0 for the blank, or the elements of another
//! puzzle, each the number of the position that it belongs to.
//!
//! Invariant: a row has the state that [`StateSpace::parse`] finds for it as text.

use super::state::{State, StateSpace};
use super::subject::Subject;
use crate::Error;
use crate::perm::lehmer;
use crate::puzzle::rows::{self, MAX_WIDTH, RowFault};
use crate::puzzle::tiles::{Board, Path};
use crate::puzzle::{DefinitionError, Permutation};

/// Translates rows to states and back.
///
/// ```
/// use tilewave::bfs::{StateRows, StateSpace};
/// use tilewave::{Goal, Size};
/// let space = StateSpace::new(Goal::Last.board(Size::new(3, 3)?)?)?;
/// let rows = StateRows::new(&space);
/// let boards = [1, 2, 3, 4, 5, 6, 7, 8, 0, 8, 6, 7, 2, 5, 4, 3, 0, 1];
/// let ids = rows.ids(&boards)?;
/// assert_eq!(ids[0], 8);
/// assert_eq!(rows.rows(&ids)?, boards);
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StateRows {
    space: StateSpace,
    /// The places of the distinguished element by cell, and the cell of each.
    path: Vec<u8>,
    cell: Vec<u8>,
    /// For each cell the other places in the order of the line.
    orders: Vec<Vec<u8>>,
    /// The distinguished element, the element of each number of a line, and the number of each element.
    distinguished: u8,
    element: Vec<u8>,
    number: [u8; MAX_WIDTH + 1],
}

impl StateRows {
    /// Returns the rows of a state space. Cost: some microseconds.
    pub fn new(space: &StateSpace) -> StateRows {
        let narrow = |of: &[usize]| of.iter().map(|&x| x as u8).collect::<Vec<u8>>();
        let (path, orders, distinguished, element): (_, _, _, Vec<u8>) = match space.subject() {
            Subject::Board { goal, .. } => {
                let along = Path::new(goal.size());
                let path: Vec<u8> = (0..goal.size().cells())
                    .map(|i| along.cell(i) as u8)
                    .collect();
                let others = |&cell: &u8| path.iter().copied().filter(|&c| c != cell).collect();
                let orders = path.iter().map(others).collect();
                let tiles = path.iter().map(|&c| goal.tiles()[usize::from(c)] as u8);
                let element = tiles.filter(|&tile| tile != 0).collect();
                (path, orders, 0, element)
            }
            Subject::Puzzle(states) => {
                let (reading, start, home) = (states.reading(), states.start(), states.home());
                let cells = 0..reading.path().len();
                let orders = cells.map(|cell| narrow(reading.order(cell))).collect();
                let at_home = reading.order(home).iter();
                let element = at_home.map(|&position| start.images()[position]).collect();
                let distinguished = start.images()[reading.path()[home]];
                (narrow(reading.path()), orders, distinguished, element)
            }
        };
        let mut cell = vec![0; path.len()];
        for (i, &place) in path.iter().enumerate() {
            cell[usize::from(place)] = i as u8;
        }
        let mut number = [0; MAX_WIDTH + 1];
        for (i, &e) in element.iter().enumerate() {
            number[usize::from(e)] = i as u8;
        }
        StateRows {
            space: space.clone(),
            path,
            cell,
            orders,
            distinguished,
            element,
            number,
        }
    }

    /// Returns the number of elements of a row.
    pub fn width(&self) -> usize {
        self.path.len()
    }

    /// Returns the line of a row and its cell.
    #[inline]
    pub(crate) fn line(&self, row: &[u16]) -> Result<([u8; lehmer::MAX_LEN], usize), Error> {
        let mut place = [0; MAX_WIDTH + 1];
        if row.len() != self.width() || !rows::place(row, &mut place) {
            return Err(self.wrong(row));
        }
        let cell = self.cell[usize::from(place[usize::from(self.distinguished)])];
        let mut line = [0; lehmer::MAX_LEN];
        let order = &self.orders[usize::from(cell)];
        for (to, &position) in line.iter_mut().zip(order) {
            *to = self.number[usize::from(row[usize::from(position)]) & MAX_WIDTH];
        }
        Ok((line, cell.into()))
    }

    /// Returns the state of a row, none when its line has no number: no moves lead there.
    #[inline]
    pub(crate) fn state(&self, row: &[u16]) -> Result<Option<State>, Error> {
        let (line, cell) = self.line(row)?;
        let state = self.space.number(&line[..self.width() - 1], cell);
        Ok((state.line < self.space.lines()).then_some(state))
    }

    /// What is wrong with a row that is no board or arrangement.
    fn wrong(&self, row: &[u16]) -> Error {
        match self.space.subject().size() {
            Some(size) => rows::no_board(size, row),
            None if row.len() != self.width() => DefinitionError::StateLength {
                puzzle: self.space.subject().name(),
                found: row.len(),
                expected: self.width(),
            }
            .into(),
            None => rows::no_arrangement(row),
        }
    }

    /// Checks that an array holds whole rows.
    pub(crate) fn whole(&self, numbers: &[u16]) -> Result<(), Error> {
        let width = self.width();
        match numbers.len() % width {
            0 => Ok(()),
            rest => Err(Error::Row {
                row: numbers.len() / width,
                reason: Box::new(self.wrong(&numbers[numbers.len() - rest..])),
            }),
        }
    }

    /// Returns the state ids of many rows. Cost: some 30 ns per row and core, on all threads of the current pool.
    ///
    /// # Errors
    /// [`Error::Row`] names the first row that is no board or arrangement, or that no moves lead to: of other
    /// puzzles than boards, only what the parity tells is looked at.
    pub fn ids(&self, numbers: &[u16]) -> Result<Vec<u64>, Error> {
        self.whole(numbers)?;
        let width = self.width();
        rows::each_row(numbers, width, 1, |numbers, ids| {
            for (i, (row, id)) in numbers.chunks_exact(width).zip(ids).enumerate() {
                let state = self.state(row).map_err(|error| (i, error))?;
                let state = state.ok_or_else(|| (i, self.unreachable(row)));
                *id = self.space.id(state?);
            }
            Ok(())
        })
    }

    fn unreachable(&self, row: &[u16]) -> Error {
        let puzzle = || self.space.subject().name();
        let refused = match self.space.subject().size() {
            Some(size) => {
                let board = Board::new(size, row).map_err(Error::from);
                board.and_then(|board| self.space.state(&board)).err()
            }
            None => None,
        };
        refused.unwrap_or_else(|| DefinitionError::Unreachable { puzzle: puzzle() }.into())
    }

    /// Returns the rows of many state ids, the inverse of [`StateRows::ids`]. Cost: some 100 ns per row and core, on
    /// all threads of the current pool.
    ///
    /// # Errors
    /// [`Error::Row`] names the first id that no state has.
    pub fn rows(&self, ids: &[u64]) -> Result<Vec<u16>, Error> {
        let width = self.width();
        rows::each_row(ids, 1, width, |ids, numbers| {
            for (i, (&id, row)) in ids.iter().zip(numbers.chunks_exact_mut(width)).enumerate() {
                self.write(id, row).map_err(|error| (i, error))?;
            }
            Ok(())
        })
    }

    fn write(&self, id: u64, row: &mut [u16]) -> Result<(), Error> {
        let ids = self.space.lines() * self.width() as u64;
        let state = self.space.from_id(id);
        let state = state.ok_or_else(|| DefinitionError::NoState {
            puzzle: self.space.subject().name(),
            id,
            ids,
        })?;
        let line = self.space.line(state);
        row[usize::from(self.path[state.cell])] = self.distinguished.into();
        for (&position, number) in self.orders[state.cell].iter().zip(line) {
            row[usize::from(position)] = self.element[usize::from(number)].into();
        }
        Ok(())
    }

    /// Returns the row of the state at depth 0 of a search from the goal: the goal itself.
    pub fn goal(&self) -> Vec<u16> {
        match self.space.subject() {
            Subject::Board { goal, .. } => goal.tiles().to_vec(),
            Subject::Puzzle(_) => (0..self.width() as u16).collect(),
        }
    }

    /// Returns the arrangements after each generator of a puzzle other than a board, in the order of the
    /// definition, of many arrangements. Cost: some nanoseconds per generator and row.
    ///
    /// # Errors
    /// [`Error::Row`] names the first row that is no arrangement. Boards have [`crate::puzzle::neighbours`].
    pub fn after_generators(&self, numbers: &[u16]) -> Result<Vec<u16>, Error> {
        self.whole(numbers)?;
        let definition = self.space.subject().definition();
        let generators = definition.map_or(&[][..], |of| of.generators());
        let sources: Vec<Permutation> = generators
            .iter()
            .map(|generator| generator.permutation.inverse())
            .collect();
        let width = self.width();
        let per_row = width * sources.len();
        let write = |row: &[u16], after: &mut [u16]| -> Result<(), Error> {
            if !rows::place(row, &mut [0; MAX_WIDTH + 1]) {
                return Err(self.wrong(row));
            }
            for (after, source) in after.chunks_exact_mut(width).zip(&sources) {
                for (to, &from) in after.iter_mut().zip(source.images()) {
                    *to = row[usize::from(from)];
                }
            }
            Ok(())
        };
        rows::each_row(numbers, width, per_row, |numbers, after| {
            let pairs = numbers.chunks_exact(width);
            let pairs = pairs.zip(after.chunks_exact_mut(per_row.max(1)));
            for (i, (row, after)) in pairs.enumerate() {
                write(row, after).map_err(|error| -> RowFault { (i, error) })?;
            }
            Ok(())
        })
    }
}
