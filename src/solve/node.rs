//! A node of the tree of moves: a board, and what is known of it.
//!
//! Invariant: what a node knows is exact for its board; the walk that changes it keeps it so.

use std::ops::Range;

use super::tree::{MAX_PATTERNS, Tree};
use super::view::MAX_CELLS;
use crate::puzzle::tiles::Direction;

/// The look-ups of a node through one view.
#[derive(Clone, Copy, Default)]
pub(super) struct Lookups {
    /// Rank of each pattern's tiles, see [`super::database::Database::entry`].
    pub index: [u64; MAX_PATTERNS],
    /// Value of each pattern.
    pub value: [u8; MAX_PATTERNS],
    /// Their sum.
    pub sum: i32,
    /// Set of cells of each pattern, or where it has the blank a byte for each tile's cell; and distance of its tiles, for
    /// databases that are not plain.
    pub set: [u64; MAX_PATTERNS],
    pub distance: [u8; MAX_PATTERNS],
}

/// A node: a board, and what is known of it. V views are looked through (of a board with more: all).
#[derive(Clone, Copy)]
pub(super) struct Node<const V: usize> {
    /// The tile of each cell.
    pub board: [u8; MAX_CELLS],
    pub blank: u8,
    pub state: u32,
    pub lookups: [Lookups; V],
}

impl<const V: usize> Node<V> {
    /// Returns the lower bound on the moves left: the largest of the tree's sums.
    pub fn estimate(&self, tree: &Tree) -> i32 {
        tree.sums()
            .map(|lenses| self.sum(lenses))
            .max()
            .unwrap_or(0)
    }

    /// Returns the sum of some lenses.
    pub fn sum(&self, lenses: Range<usize>) -> i32 {
        self.lookups[lenses].iter().map(|lookup| lookup.sum).sum()
    }
}

/// A subtree that is left to walk: its node and the way there.
pub(super) type Subtree<const V: usize> = (Node<V>, Vec<Direction>);
