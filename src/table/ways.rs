//! States as the table sees them: a line and a cell, and the moves from each cell.
//!
//! Invariant: the moves of a cell are in the order of [`Step`]; of equally short solutions the first is found.

use std::sync::Arc;

use crate::bfs::{State, StateSpace, Subject};
use crate::perm::lehmer::{self, MAX_LEN};
use crate::puzzle::tiles::{Direction, Path};
use crate::puzzle::{Puzzle, Window};

/// A move by what it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// So many tiles of a board go in a direction.
    Tiles(Direction, usize),
    /// A generator, by its place in the definition.
    Generator(usize),
}

/// A move from a cell.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub step: Step,
    to: usize,
    window: Window,
}

/// The moves from each cell.
#[derive(Clone, Debug)]
pub(super) struct Ways(Arc<[Vec<Way>]>);

impl Ways {
    /// Returns the moves of a puzzle.
    pub fn new(space: &StateSpace) -> Ways {
        let mut ways = vec![Vec::new(); space.puzzle().cells()];
        let mut add = |puzzle: &Puzzle, step: &dyn Fn(usize, usize) -> Step| {
            for edge in puzzle.edges() {
                ways[edge.from].push(Way {
                    step: step(edge.from, edge.to),
                    to: edge.to,
                    window: puzzle.windows()[edge.window].clone(),
                });
            }
        };
        match space.subject() {
            Subject::Board { goal, .. } => {
                let path = Path::new(goal.size());
                add(space.puzzle(), &|from, to| slide(&path, from, to));
            }
            Subject::Puzzle(states) => {
                for (i, generator) in states.definition().generators().iter().enumerate() {
                    let alone = std::slice::from_ref(&generator.permutation);
                    add(&states.reading().puzzle(alone, true), &|_, _| {
                        Step::Generator(i)
                    });
                }
            }
        }
        for ways in &mut ways {
            ways.sort_by_key(|way| way.step);
        }
        Ways(ways.into())
    }

    /// Returns the moves from a cell.
    pub fn from(&self, cell: usize) -> &[Way] {
        &self.0[cell]
    }
}

/// The tiles that go where the blank goes from one path index to another in its row or column.
fn slide(path: &Path, from: usize, to: usize) -> Step {
    let cols = path.size().cols();
    let [from, to] = [from, to].map(|index| (path.cell(index) / cols, path.cell(index) % cols));
    match (from, to) {
        ((r, a), (s, b)) if r == s && a < b => Step::Tiles(Direction::Left, b - a),
        ((r, a), (s, b)) if r == s => Step::Tiles(Direction::Right, a - b),
        ((a, _), (b, _)) if a < b => Step::Tiles(Direction::Up, b - a),
        ((a, _), (b, _)) => Step::Tiles(Direction::Down, a - b),
    }
}

/// A state, ready to be moved.
#[derive(Clone, Debug)]
pub(super) struct Position {
    line: [u8; MAX_LEN],
    len: usize,
    /// The cell of the distinguished element.
    pub cell: usize,
}

impl Position {
    /// Returns the position of a line and a cell.
    pub fn new(line: &[u8], cell: usize) -> Position {
        let mut own = [0; MAX_LEN];
        own[..line.len()].copy_from_slice(line);
        let len = line.len();
        Position {
            line: own,
            len,
            cell,
        }
    }

    /// Returns the state. Cost: one rank.
    pub fn state(&self) -> State {
        let (parity, rank) = lehmer::rank_in_parity(&self.line[..self.len]);
        State {
            line: parity as u64 * lehmer::even_count(self.len) + rank,
            cell: self.cell,
        }
    }

    /// Returns the position after a move from its cell.
    pub fn after(&self, way: &Way) -> Position {
        let mut next = self.clone();
        next.cell = way.to;
        if !way.window.is_identity() {
            for place in way.window.first()..=way.window.last() {
                next.line[place] = self.line[way.window.source(place)];
            }
        }
        next
    }

    /// Returns whether this is the goal, whose line is in order.
    pub fn is_goal(&self, cell: usize) -> bool {
        let numbered = self.line[..self.len].iter().enumerate();
        self.cell == cell && numbered.into_iter().all(|(i, &x)| i == usize::from(x))
    }
}
