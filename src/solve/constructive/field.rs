//! The board while it is being solved: who stands where, in constant time both ways.
//!
//! Invariant: `at` and `place` are inverse permutations; elements are named by their goal cells, so the
//! solved board is the identity.

use super::view::{Region, View};
use crate::puzzle::tiles::{Board, Direction, Size};
use crate::solve::solvability::Parity;

/// A board under way.
pub(super) struct Field {
    size: Size,
    /// Goal cell of what stands on each cell.
    at: Vec<u16>,
    /// Cell of the element with each goal cell.
    place: Vec<u16>,
    blank: usize,
    blank_home: usize,
    moves: Vec<Direction>,
}

impl Field {
    /// Returns the field of a board, given the goal cell of each tile.
    pub fn new(size: Size, home: &[u16], board: &Board) -> Field {
        let at: Vec<u16> = board
            .tiles()
            .iter()
            .map(|&t| home[usize::from(t)])
            .collect();
        let mut place = vec![0; at.len()];
        for (cell, &home) in at.iter().enumerate() {
            place[usize::from(home)] = cell as u16;
        }
        Field {
            size,
            blank: usize::from(place[usize::from(home[0])]),
            blank_home: usize::from(home[0]),
            moves: Vec::new(),
            at,
            place,
        }
    }

    /// Returns whether the goal can be reached. Cost: linear.
    pub fn is_solvable(&self) -> bool {
        Parity::of(self.size, &self.at, self.blank_home).is_solvable()
    }

    /// Returns the size of the board.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns the blank's cell.
    pub fn blank(&self) -> usize {
        self.blank
    }

    /// Returns the blank's goal cell.
    pub fn blank_home(&self) -> usize {
        self.blank_home
    }

    /// Returns the cell of the tile whose goal cell is `home`.
    pub fn place(&self, home: usize) -> usize {
        usize::from(self.place[home])
    }

    /// Returns the goal cell of what stands on a cell.
    pub fn home(&self, cell: usize) -> usize {
        usize::from(self.at[cell])
    }

    /// Moves the blank to the cell next to it in the opposite of `direction`, where the tile that moves
    /// stands. A move that takes the last one back deletes both.
    pub fn step(&mut self, to: usize, direction: Direction) {
        let tile = self.at[to];
        self.at[self.blank] = tile;
        self.place[usize::from(tile)] = self.blank as u16;
        self.at[to] = self.blank_home as u16;
        self.place[self.blank_home] = to as u16;
        self.blank = to;
        if self.moves.last() == Some(&direction.opposite()) {
            self.moves.pop();
        } else {
            self.moves.push(direction);
        }
    }

    /// Returns the outer line of the region that is to be placed next, as the first line of a view: on
    /// the longer side, without the blank's goal cell, and with the least way to go for its tiles.
    pub fn cheapest_line(&self, region: &Region) -> View {
        let lines = View::all(region, self.size).into_iter().filter(|view| {
            let (depth, width) = (view.depth, view.width);
            depth >= width && view.spot(self.blank_home).i > 0
        });
        let way = |view: &View| -> i32 {
            let tile = |j| {
                let spot = view.spot(self.place(view.cell(0, j)));
                free_way((spot.j - j).abs(), spot.i)
            };
            (0..view.width).map(tile).sum()
        };
        lines
            .min_by_key(way)
            .expect("the blank's goal cell is on one outer line of the longer side at most")
    }

    /// Returns the moves made.
    pub fn into_moves(self) -> Vec<Direction> {
        self.moves
    }
}

/// Returns the moves that take a tile `a` cells along a line and `b` across lines when the blank stands
/// in front of it on the better side and nothing is in the way.
///
/// A step that goes on straight costs 5 moves (the blank goes round the tile), one that turns costs 3.
pub(super) fn free_way(a: i32, b: i32) -> i32 {
    starting(a, b).min(starting(b, a))
}

/// The same when the first step is one of the `a`; too large to be chosen when there is none.
pub(super) fn starting(a: i32, b: i32) -> i32 {
    if a == 0 {
        return if b == 0 { 0 } else { i32::MAX / 2 };
    }
    if a > b {
        6 * b + 1 + 5 * (a - b - 1)
    } else {
        6 * a - 2 + 5 * (b - a)
    }
}
