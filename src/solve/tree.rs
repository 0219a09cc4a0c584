//! The tree of moves that a search walks through, and what it knows of each board.
//!
//! Invariant: nothing here changes during a search, so threads share it.

use std::ops::Range;

use super::database::Database;
use super::lens::Lens;
use super::pruner::MovePruner;
use crate::puzzle::tiles::{Board, Direction};

/// Most patterns of a set.
pub(super) const MAX_PATTERNS: usize = 8;
/// Most views of a node: symmetries of a board times partitions.
pub(super) const MAX_VIEWS: usize = 16;

/// Nodes of an iteration, some 20 ms, from which on the next ones are split between threads.
const SPLIT_FROM: u64 = 1 << 18;

/// What all searches for one goal share.
pub(super) struct Tree {
    pub(super) goal: Board,
    pub(super) views: Vec<Lens>,
    pub(super) pruner: MovePruner,
    /// Whether long searches may copy databases.
    pub(super) copies: bool,
    /// An iteration of at least so many nodes is followed by iterations that are split between threads.
    pub(super) split_from: u64,
    /// For each blank cell and direction the cell of the tile that moves.
    cells: Vec<[u8; 4]>,
}

impl Tree {
    /// Returns the solver; the views are those of the databases' patterns, at least one.
    pub fn new(goal: Board, views: Vec<Lens>, pruner: MovePruner) -> Tree {
        let cell = |blank, d: Direction| d.tile_cell(goal.size(), blank).unwrap_or(blank) as u8;
        let cells = (0..goal.size().cells())
            .map(|blank| Direction::ALL.map(|d| cell(blank, d)))
            .collect();
        Tree {
            goal,
            views,
            pruner,
            copies: true,
            split_from: SPLIT_FROM,
            cells,
        }
    }

    /// Whether every entry is a byte at the rank of its cells, so that walks keep ranks up to date, and every lens a sum by
    /// itself.
    pub fn is_plain(&self) -> bool {
        self.databases().all(Database::is_plain) && self.sums().count() == self.views.len()
    }

    /// Returns the lenses of each sum, by their places.
    pub fn sums(&self) -> impl Iterator<Item = Range<usize>> {
        let views = &self.views;
        let first = (0..views.len()).filter(|&v| !views[v].joined);
        let end = move |v: usize| (v + 1..views.len()).find(|&next| !views[next].joined);
        first.map(move |v| v..end(v).unwrap_or(views.len()))
    }

    /// Returns whether every tile is in a pattern of every sum.
    pub fn is_covered(&self) -> bool {
        let tiles = |lens: &Lens| -> usize {
            let patterns = 0..lens.databases.len();
            patterns.map(|p| lens.view.tiles(p).len()).sum()
        };
        let all = self.goal.tiles().len() - 1;
        self.sums()
            .all(|sum| self.views[sum].iter().map(tiles).sum::<usize>() >= all)
    }

    /// Returns the databases, as often as they are seen.
    pub fn databases(&self) -> impl Iterator<Item = &Database> {
        self.views.iter().flat_map(|lens| &lens.databases)
    }

    /// Returns the least number of moves, from a lower bound on, that can bring a board to the goal: as odd as the blank's way
    /// home, and none only from the goal itself.
    ///
    /// Where tiles are in no pattern, no sum knows of this by itself.
    pub fn at_least(&self, board: &Board, bound: usize) -> usize {
        let bound = bound.max(usize::from(*board != self.goal));
        bound + (bound + self.blank_distance(board)) % 2
    }

    /// Returns the number of cells between a board's blank and that of the goal.
    fn blank_distance(&self, board: &Board) -> usize {
        let cols = self.goal.size().cols();
        let (from, to) = (board.blank(), self.goal.blank());
        (from / cols).abs_diff(to / cols) + (from % cols).abs_diff(to % cols)
    }

    #[inline(always)]
    pub(super) fn cell(&self, blank: usize, direction: Direction) -> u8 {
        self.cells[blank][direction as usize]
    }

    /// Returns the number of symmetric look-ups per node.
    pub fn views(&self) -> usize {
        self.views.len()
    }

    /// Returns whether a board is the goal.
    pub(super) fn is_goal(&self, board: &[u8]) -> bool {
        let mut pairs = self.goal.tiles().iter().zip(board);
        pairs.all(|(&goal, &tile)| goal == u16::from(tile))
    }
}
