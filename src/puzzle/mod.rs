//! Puzzles: sets of pieces and moves, and numbered states as cells, edges and window moves.
//!
//! A [`Puzzle`] has sets of pieces, and moves. It is made from a board, a family (`families`), a file (`formats`) or a
//! name (`named`); its parts and variants are puzzles, too. `frontier` searches it, and `ranking` numbers its
//! arrangements. If it has one set of different pieces that never turn (`positions`), `coordinates` determine how its
//! positions are read as a line, and `space` makes a [`MoveGraph`] from this: edges from cell to cell, each with the
//! [`Window`] that it permutes. Together with a start this is a [`StateSpace`], which searches and tables of numbered
//! states take. Text that cannot be read, and changes that are not possible, give the [`PuzzleError`] for the first
//! thing that is wrong.
//!
//! Invariant: a [`MoveGraph`] that is not directed is closed under inversion. For every edge there is a reverse edge with
//! the inverse window, so its state graph is undirected, and the neighbours of level d lie in levels d-1, d and d+1. In
//! a directed puzzle, they may lie in any level up to d+1.
//!
//! A state is a pair (line, cell): the **cell** is the place of the distinguished element (the blank of a sliding-tile
//! board), and the **line** is the sequence of all other elements in a fixed reading order. A move takes cell p to cell
//! p' and permutes the line inside a **window**; both depend only on (move, p). A search needs to know nothing else
//! about a puzzle.

pub(crate) mod automorphisms;
pub(crate) mod board;
pub(crate) mod coordinates;
mod cube;
mod derived;
pub(crate) mod error;
pub mod families;
pub mod formats;
pub(crate) mod group;
mod mechanisms;
mod metrics;
pub mod named;
pub(crate) mod net;
pub mod notation;
pub(crate) mod permutation;
pub(crate) mod positions;
pub(crate) mod ranking;
pub(crate) mod reachable;
pub(crate) mod rows;
pub(crate) mod sets;
mod solids;
pub(crate) mod space;
mod spec;
pub(crate) mod split;
pub(crate) mod states;
pub(crate) mod symmetry;
pub(crate) mod variant;

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

pub(crate) use crate::puzzle::rows::{CellMove, CellMoves, Position};
pub use crate::puzzle::{
    board::{Board, Direction, Goal, Metric, MoveStyle, Moves, Size},
    coordinates::{Coordinates, PositionOrder, SnakePath},
    error::{ErrorPlace, PuzzleError, PuzzleErrorKind},
    group::group_order,
    permutation::{Permutation, is_even},
    positions::NamedPermutation,
    reachable::Unreachable,
    rows::{NamedMove, neighbours},
    sets::{
        Arrangement, GluedPiece, Move, PieceAt, PieceSet, Placed, Puzzle, SetAction,
        Transformation, Turns,
    },
    space::{State, StateSpace},
    spec::{MoveMetric, PuzzleSpec, Searched},
    variant::Variant,
};

/// A permutation of the consecutive positions `first ..= last` of a line.
///
/// It is stored in pull form: after the move, position `first + i` holds the element that was at position `first +
/// source[i]`. The identity is the empty window (`first = last = 0`, no positions).
///
/// ```
/// use tilewave::puzzle::Window;
/// let rotate = Window::rotate_right(1, 3); // last element of positions 1..=3 first
/// let mut line = vec![10, 11, 12, 13, 14];
/// rotate.apply(&mut line);
/// assert_eq!(line, [10, 13, 11, 12, 14]);
/// assert!(rotate.is_even());
/// assert_eq!(rotate.inverse(), Window::rotate_left(1, 3));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Window {
    first: usize,
    source: Permutation,
}

impl Window {
    /// Returns the window permutation that moves the element at `first + source[i]` to `first + i`, without the
    /// positions at both ends that it leaves in place.
    ///
    /// # Panics
    /// If `source` is not a permutation of `0..source.len()`: moves are built by code, not from input.
    pub fn new(first: usize, source: &[u8]) -> Window {
        let fixed = |&i: &usize| usize::from(source[i]) == i;
        let head = (0..source.len()).take_while(fixed).count();
        let tail = (head..source.len()).rev().take_while(fixed).count();
        let moved = source.len() - head - tail;
        let first = if moved == 0 { 0 } else { first + head };
        let from = |i| usize::from(source[head + i]).wrapping_sub(head);
        Window { first, source: Permutation::from_fn(moved, from) }
    }

    /// Returns the window that moves nothing.
    pub fn identity() -> Window {
        Window::new(0, &[])
    }

    /// Returns the rotation of positions `first ..= last` that brings the last element to the front.
    pub fn rotate_right(first: usize, last: usize) -> Window {
        let len = u8::try_from(last - first + 1).expect("windows have at most 255 positions");
        let source: Vec<u8> = (0..len).map(|i| (i + len - 1) % len).collect();
        Window::new(first, &source)
    }

    /// Returns the rotation of positions `first ..= last` that brings the first element to the end.
    pub fn rotate_left(first: usize, last: usize) -> Window {
        Window::rotate_right(first, last).inverse()
    }

    /// Returns the first position that the window moves (0 for the identity).
    pub fn first(&self) -> usize {
        self.first
    }

    /// Returns the last position that the window moves (0 for the identity).
    pub fn last(&self) -> usize {
        (self.first + self.source.len()).saturating_sub(1)
    }

    /// Returns whether the window moves nothing.
    pub fn is_identity(&self) -> bool {
        self.source.is_empty()
    }

    /// Returns the position whose element `position` receives. Positions outside the window keep their elements.
    pub fn source(&self, position: usize) -> usize {
        match position.checked_sub(self.first) {
            Some(i) if i < self.source.len() => self.first + self.source.image(i),
            _ => position,
        }
    }

    /// Returns the window that undoes this one.
    pub fn inverse(&self) -> Window {
        Window { first: self.first, source: self.source.inverse() }
    }

    /// Returns the window that applies this one and then another.
    ///
    /// ```
    /// use tilewave::puzzle::Window;
    /// let twice = Window::rotate_right(0, 2).then(&Window::rotate_right(0, 2));
    /// assert_eq!(twice, Window::rotate_left(0, 2));
    /// ```
    pub fn then(&self, next: &Window) -> Window {
        if self.is_identity() || next.is_identity() {
            return if self.is_identity() { next } else { self }.clone();
        }
        let (first, last) = (self.first.min(next.first), self.last().max(next.last()));
        let source = |x| (self.source(next.source(x)) - first) as u8;
        Window::new(first, &(first..=last).map(source).collect::<Vec<u8>>())
    }

    /// Returns whether the permutation is even. A rotation of odd length is even.
    pub fn is_even(&self) -> bool {
        is_even(self.source.images())
    }

    /// Applies the window to a line in place. Cost: linear in the length of the window.
    pub fn apply<T: Copy>(&self, line: &mut [T]) {
        let part = &mut line[self.first..self.first + self.source.len()];
        let old = part.to_vec();
        for (new, &s) in part.iter_mut().zip(self.source.images()) {
            *new = old[usize::from(s)];
        }
    }
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Window({}..={} <- {:?})", self.first, self.last(), self.source.images())
    }
}

/// One move: the distinguished element moves from cell `from` to cell `to`, and the line is permuted by the window with
/// index `window` in [`MoveGraph::windows`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The cell before the move.
    pub from: usize,
    /// The cell after the move.
    pub to: usize,
    /// Index of the window permutation, 0 for the identity.
    pub window: usize,
}

/// The moves of a puzzle whose states have numbers: its number of cells, and the edges that join them.
///
/// ```
/// use tilewave::puzzle::{Metric, Size, SnakePath};
/// let puzzle = SnakePath::new(Size::new(3, 3)?).puzzle(Metric::Stm);
/// assert_eq!(puzzle.cells(), 9);
/// assert_eq!(puzzle.edges().len(), 2 * 12); // 12 adjacent pairs of cells
/// assert_eq!(puzzle.windows().len(), 1 + 2 * 4); // identity, 4 windows in both directions
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MoveGraph {
    cells: usize,
    windows: Vec<Window>,
    edges: Vec<Edge>,
    directed: bool,
}

impl MoveGraph {
    /// Returns the puzzle with the given moves `(from, to, window)` and all their inverses; equal windows are shared.
    pub fn new(cells: usize, moves: impl IntoIterator<Item = (usize, usize, Window)>) -> MoveGraph {
        let moves = moves
            .into_iter()
            .flat_map(|(from, to, window)| [(to, from, window.inverse()), (from, to, window)]);
        MoveGraph { directed: false, ..MoveGraph::directed(cells, moves) }
    }

    /// Returns the puzzle with exactly the given moves `(from, to, window)`; equal windows are shared. Its distances
    /// depend on the direction.
    ///
    /// ```
    /// use tilewave::puzzle::{MoveGraph, Window};
    /// let ring = (0..3).map(|cell| (cell, (cell + 1) % 3, Window::identity()));
    /// let ring = MoveGraph::directed(3, ring);
    /// assert!(ring.is_directed());
    /// assert_eq!(ring.edges().len(), 3);
    /// ```
    pub fn directed(
        cells: usize,
        moves: impl IntoIterator<Item = (usize, usize, Window)>,
    ) -> MoveGraph {
        let (mut windows, mut edges) = (vec![Window::identity()], Vec::new());
        let mut known = HashMap::from([(Window::identity(), 0)]);
        let mut joined = HashSet::new();
        for (from, to, window) in moves {
            assert!(from < cells && to < cells, "edges join cells of the puzzle");
            let window = *known.entry(window).or_insert_with_key(|window| {
                windows.push(window.clone());
                windows.len() - 1
            });
            if joined.insert((from, to, window)) {
                edges.push(Edge { from, to, window });
            }
        }
        MoveGraph { cells, windows, edges, directed: true }
    }

    /// Returns the number of cells N.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// Returns the length of a line, N - 1.
    pub fn line_len(&self) -> usize {
        self.cells - 1
    }

    /// Returns the distinct window permutations; index 0 is the identity.
    pub fn windows(&self) -> &[Window] {
        &self.windows
    }

    /// Returns all edges; each direction is a separate edge.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns whether some moves may lack an inverse.
    pub fn is_directed(&self) -> bool {
        self.directed
    }

    /// Returns whether every window is an even permutation, so that the parity of lines never changes.
    pub fn keeps_parity(&self) -> bool {
        self.windows.iter().all(Window::is_even)
    }
}
