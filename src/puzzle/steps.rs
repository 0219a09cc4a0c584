//! Moves by name, and states that are ready for moves: a line, a cell, and the moves from each cell.
//!
//! Invariant: the moves of a cell are in the order of [`NamedMove`], so the first among equally short solutions is
//! found.

use std::sync::Arc;

use crate::{
    perm::{MAX_LEN, lehmer},
    puzzle::{Direction, Puzzle, SnakePath, State, StateSpace, Window},
};

/// A move in the notation of its puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamedMove {
    /// A move of one or more tiles of a board in one direction.
    Tiles(Direction, usize),
    /// A generator, by its index in the definition.
    Generator(usize),
}

/// A move from a cell.
#[derive(Clone, Debug)]
pub(crate) struct CellMove {
    pub name: NamedMove,
    to: usize,
    window: Window,
}

/// The moves from each cell.
#[derive(Clone, Debug)]
pub(crate) struct CellMoves(Arc<[Vec<CellMove>]>);

impl CellMoves {
    /// Returns the moves of a puzzle.
    pub fn new(space: &StateSpace) -> CellMoves {
        let mut moves = vec![Vec::new(); space.moves().cells()];
        let mut add = |puzzle: &Puzzle, step: &dyn Fn(usize, usize) -> NamedMove| {
            for edge in puzzle.edges() {
                moves[edge.from].push(CellMove {
                    name: step(edge.from, edge.to),
                    to: edge.to,
                    window: puzzle.windows()[edge.window].clone(),
                });
            }
        };
        if let Some(size) = space.size() {
            let path = SnakePath::new(size);
            add(space.moves(), &|from, to| slide(&path, from, to));
        }
        if let (Some(definition), Some(order)) = (space.definition(), space.order()) {
            for (i, generator) in definition.generators().iter().enumerate() {
                let alone = std::slice::from_ref(&generator.permutation);
                add(&order.puzzle(alone, true), &|_, _| NamedMove::Generator(i));
            }
        }
        for moves in &mut moves {
            moves.sort_by_key(|one| one.name);
        }
        CellMoves(moves.into())
    }

    /// Returns the moves from a cell.
    pub fn from(&self, cell: usize) -> &[CellMove] {
        &self.0[cell]
    }
}

/// The tiles that move when the blank moves from one path index to another in its row or column.
fn slide(path: &SnakePath, from: usize, to: usize) -> NamedMove {
    let cols = path.size().cols();
    let [from, to] = [from, to].map(|index| (path.cell(index) / cols, path.cell(index) % cols));
    match (from, to) {
        ((r, a), (s, b)) if r == s && a < b => NamedMove::Tiles(Direction::Left, b - a),
        ((r, a), (s, b)) if r == s => NamedMove::Tiles(Direction::Right, a - b),
        ((a, _), (b, _)) if a < b => NamedMove::Tiles(Direction::Up, b - a),
        ((a, _), (b, _)) => NamedMove::Tiles(Direction::Down, a - b),
    }
}

/// A state that is ready for moves.
#[derive(Clone, Debug)]
pub(crate) struct Position {
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
        Position { line: own, len, cell }
    }

    /// Returns the state. Cost: one ranking.
    pub fn state(&self) -> State {
        let (parity, rank) = lehmer::rank_in_parity(&self.line[..self.len]);
        State { line: parity as u64 * lehmer::even_count(self.len) + rank, cell: self.cell }
    }

    /// Returns the position after a move from its cell.
    pub fn after(&self, step: &CellMove) -> Position {
        let mut next = self.clone();
        next.cell = step.to;
        if !step.window.is_identity() {
            for place in step.window.first()..=step.window.last() {
                next.line[place] = self.line[step.window.source(place)];
            }
        }
        next
    }

    /// Returns whether this is the goal state, whose line is in order and whose cell is `cell`.
    pub fn is_goal(&self, cell: usize) -> bool {
        let numbered = self.line[..self.len].iter().enumerate();
        self.cell == cell && numbered.into_iter().all(|(i, &x)| i == usize::from(x))
    }
}
