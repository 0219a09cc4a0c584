//! The tree of moves that a search walks through, and what it knows about each board.
//!
//! Invariant: nothing here changes during a search, so threads share it.

use std::ops::Range;

use crate::{
    pdb::Pattern,
    puzzle::{Board, Direction},
    solve::{database::Database, pruner::MovePruner, symmetry::Lens},
};

/// Maximum number of patterns in a set.
pub(crate) const MAX_PATTERNS: usize = 8;

/// Maximum number of views of a node: symmetries of a board times partitions.
pub(crate) const MAX_VIEWS: usize = 16;

/// Maximum number of views of a walk over bits: 16 bits of one word, a field, hold the spare moves of a sum. A sum has
/// the field of its first view.
pub(crate) const MAX_BIT_VIEWS: usize = 8;

/// Number of nodes of an iteration, about 20 ms, from which the following ones are split between threads.
const SPLIT_FROM: u64 = 1 << 18;

/// The data that all searches for one goal share.
pub(crate) struct Tree {
    pub(crate) goal: Board,
    pub(crate) views: Vec<Lens>,
    pub(crate) pruner: MovePruner,
    /// Maximum size of copies of databases in long searches, in bytes; `None` for half of the free memory.
    pub(crate) memory: Option<u64>,
    /// An iteration with at least this number of nodes is followed by iterations that are split between threads.
    pub(crate) split_from: u64,
    /// For each blank cell and direction, the cell of the tile that moves.
    cells: Vec<[u8; 4]>,
}

impl Tree {
    /// Returns the solver; the views are those of the databases' patterns, at least one.
    pub fn new(goal: Board, views: Vec<Lens>, pruner: MovePruner) -> Tree {
        let cell = |blank, d: Direction| d.tile_cell(goal.size(), blank).unwrap_or(blank) as u8;
        let cells =
            (0..goal.size().cells()).map(|blank| Direction::ALL.map(|d| cell(blank, d))).collect();
        Tree { goal, views, pruner, memory: None, split_from: SPLIT_FROM, cells }
    }

    /// Whether every entry is a byte at the rank of its cells, so that walks keep ranks up to date, and every lens is a
    /// sum by itself.
    pub fn is_plain(&self) -> bool {
        self.databases().all(Database::is_plain) && self.sums().count() == self.views.len()
    }

    /// Whether all databases have one bit per entry, and their views fit in the words of a walk over bits.
    pub fn is_bits(&self) -> bool {
        self.databases().all(|database| database.bits().is_some())
            && self.views.len() <= MAX_BIT_VIEWS
    }

    /// Returns the lenses of each sum, as ranges of indices.
    pub fn sums(&self) -> impl Iterator<Item = Range<usize>> {
        let views = &self.views;
        let first = (0..views.len()).filter(|&v| !views[v].joined);
        let end = move |v: usize| (v + 1..views.len()).find(|&next| !views[next].joined);
        first.map(move |v| v..end(v).unwrap_or(views.len()))
    }

    /// Returns whether every tile is in a pattern of every sum.
    pub fn is_covered(&self) -> bool {
        let tiles = |lens: &Lens| -> usize { lens.view.tiles.iter().map(Vec::len).sum() };
        let all = self.goal.tiles().len() - 1;
        self.sums().all(|sum| self.views[sum].iter().map(tiles).sum::<usize>() >= all)
    }

    /// Returns the databases, repeated for every view.
    pub fn databases(&self) -> impl Iterator<Item = &Database> {
        self.views.iter().flat_map(|lens| &lens.databases)
    }

    /// Returns the minimum number of moves, at least a given lower bound, that can bring a board to the goal: it has
    /// the parity of the blank's distance from its goal, and is zero only for the goal itself.
    ///
    /// If some tiles are in no pattern, no sum takes this into account by itself.
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
    pub(crate) fn cell(&self, blank: usize, direction: Direction) -> u8 {
        self.cells[blank][direction as usize]
    }

    /// Returns the number of symmetric lookups per node.
    pub fn views(&self) -> usize {
        self.views.len()
    }

    /// Returns whether a board is the goal.
    pub(crate) fn is_goal(&self, board: &[u8]) -> bool {
        let mut pairs = self.goal.tiles().iter().zip(board);
        pairs.all(|(&goal, &tile)| goal == u16::from(tile))
    }
}

/// What is known about a pattern on a board.
#[derive(Clone, Copy, Default)]
pub(crate) struct KnownPattern {
    /// Rank of its tiles, see [`Database::entry`].
    pub rank: u64,
    /// The set of its cells, or, if it includes the blank, one byte for each tile's cell.
    pub set: u64,
    pub value: u8,
}

impl KnownPattern {
    pub const NONE: KnownPattern = KnownPattern { rank: 0, set: 0, value: 0 };
}

/// What is known about a board: for each pattern of each view.
pub(crate) struct KnownBoard(pub Vec<[KnownPattern; MAX_PATTERNS]>);

impl KnownBoard {
    /// Looks up a board from scratch.
    pub fn new(tree: &Tree, board: &Board) -> KnownBoard {
        let mut at = vec![0; board.tiles().len()];
        for (cell, &tile) in board.tiles().iter().enumerate() {
            at[usize::from(tile)] = cell;
        }
        let mut all = vec![[KnownPattern::NONE; MAX_PATTERNS]; tree.views.len()];
        for (known, lens) in all.iter_mut().zip(&tree.views) {
            let blank = lens.view.image[board.blank()];
            for (p, database) in lens.databases.iter().enumerate() {
                let (pdb, mut cells) = (&database.pdb, [0; Pattern::MAX_TILES]);
                let cells = lens.view.cells(p, |tile| at[usize::from(tile)], &mut cells);
                known[p] = KnownPattern {
                    rank: database.rank(pdb.entry(cells, blank)),
                    set: if database.has_blank() {
                        cells.iter().rev().fold(0, |all, &cell| all << 8 | u64::from(cell))
                    } else {
                        crate::bits::set_of(cells)
                    },
                    value: pdb.lookup(cells, blank).unwrap_or(u8::MAX),
                };
            }
        }
        KnownBoard(all)
    }

    /// Returns the sum of a view.
    pub fn sum(&self, view: usize) -> i32 {
        self.0[view].iter().map(|pattern| i32::from(pattern.value)).sum()
    }

    /// Returns the lower bound on the remaining moves: the maximum of the tree's sums.
    pub fn estimate(&self, tree: &Tree) -> i32 {
        tree.sums().map(|views| views.map(|v| self.sum(v)).sum()).max().unwrap_or(0)
    }

    /// Returns the sums of all views.
    pub fn sums<const V: usize>(&self) -> [i32; V] {
        std::array::from_fn(|v| if v < self.0.len() { self.sum(v) } else { 0 })
    }
}
