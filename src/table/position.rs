//! A board as the table sees it: numbered tiles along the snake path, and moves of the blank.

use std::sync::Arc;

use crate::bfs::State;
use crate::perm::lehmer::{self, MAX_LEN};
use crate::puzzle::tiles::{Direction, Path};

/// The moves from each path index: where the tile goes, and the path index it comes from.
#[derive(Clone, Debug)]
pub(super) struct Steps(Arc<[Vec<(Direction, usize)>]>);

impl Steps {
    /// Returns the moves of a board.
    pub fn new(path: &Path) -> Steps {
        let size = path.size();
        let from = |index: usize| {
            Direction::ALL.into_iter().filter_map(move |direction| {
                let cell = direction.tile_cell(size, path.cell(index))?;
                Some((direction, path.index(cell)))
            })
        };
        Steps(
            (0..size.cells())
                .map(|index| from(index).collect())
                .collect(),
        )
    }

    /// Returns the moves with the blank at a path index.
    pub fn from(&self, cell: usize) -> &[(Direction, usize)] {
        &self.0[cell]
    }
}

/// An arrangement that can reach the goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// The tiles in path order, in the goal's numbering, without the blank.
    line: [u8; MAX_LEN],
    len: usize,
    /// Path index of the blank.
    pub cell: usize,
}

impl Position {
    /// Returns the position with an even line.
    pub fn new(line: &[u16], cell: usize) -> Position {
        let mut own = [0; MAX_LEN];
        for (own, &number) in own.iter_mut().zip(line) {
            *own = number as u8;
        }
        Position {
            line: own,
            len: line.len(),
            cell,
        }
    }

    /// Returns the state. Cost: one rank.
    pub fn state(&self) -> State {
        State {
            line: lehmer::rank_even(&self.line[..self.len]),
            cell: self.cell,
        }
    }

    /// Moves the tile at a path index, a neighbour of the blank's, into the blank.
    pub fn step(&mut self, from: usize) {
        // The tile jumps over those between the two; see `Path::puzzle`.
        match from > self.cell {
            true => self.line[self.cell..from].rotate_right(1),
            false => self.line[from..self.cell].rotate_left(1),
        }
        self.cell = from;
    }

    /// Returns whether this is the goal's arrangement, the blank's goal being at a path index.
    pub fn is_goal(&self, cell: usize) -> bool {
        let numbered = self.line[..self.len].iter().enumerate();
        self.cell == cell && numbered.into_iter().all(|(i, &x)| i == usize::from(x))
    }
}
