//! The tree of moves below a board, and what a walk knows about each board.
//!
//! `optimal` makes a [`Tree`] of a goal and its databases, and a [`RootedTree`] for a board, with a [`Heuristic`]
//! (`heuristics`) that looks up the children of a node.

use std::ops::Range;

use crate::{
    pdb::Pattern,
    puzzle::{Board, Direction},
    solve::{
        cells_of,
        database::Database,
        distance,
        pruner::MovePruner,
        symmetry::{Lens, MAX_CELLS},
        walk::{MoveTree, Slack, Walk},
    },
};

// The tree. Nothing here changes during a search, so threads share it.

/// Maximum number of patterns in a set.
pub(crate) const MAX_PATTERNS: usize = 8;

/// Maximum number of views of a node: symmetries of a board times partitions.
pub(crate) const MAX_VIEWS: usize = 16;

/// Maximum number of views of a walk over bits: 16 bits of one word, a field, hold the spare moves of a sum. A sum has
/// the field of its first view.
pub(crate) const MAX_BIT_VIEWS: usize = 8;

/// The data that all searches for one goal share.
pub(crate) struct Tree {
    pub(crate) goal: Board,
    pub(crate) views: Vec<Lens>,
    pub(crate) pruner: MovePruner,
    /// Maximum size of copies of databases in long searches, in bytes; `None` for half of the free memory.
    pub(crate) memory: Option<u64>,
    /// For each blank cell and direction, the cell of the tile that moves.
    cells: Vec<[u8; 4]>,
}

impl Tree {
    /// The views are those of the databases' patterns, at least one.
    pub fn new(goal: Board, views: Vec<Lens>, pruner: MovePruner) -> Tree {
        let cell = |blank, d: Direction| d.tile_cell(goal.size(), blank).unwrap_or(blank) as u8;
        let cells =
            (0..goal.size().cells()).map(|blank| Direction::ALL.map(|d| cell(blank, d))).collect();
        Tree { goal, views, pruner, memory: None, cells }
    }

    /// Whether every entry is a byte at the rank of its cells, and every lens is a sum by itself.
    pub fn is_plain(&self) -> bool {
        self.databases().all(Database::is_plain) && self.sums().count() == self.views.len()
    }

    /// Whether all databases have one bit per entry, and their views fit in the words of a walk over bits.
    pub fn is_bits(&self) -> bool {
        self.databases().all(|database| database.bits().is_some())
            && self.views.len() <= MAX_BIT_VIEWS
    }

    /// The lenses of each sum, as ranges of indices.
    pub fn sums(&self) -> impl Iterator<Item = Range<usize>> {
        let views = &self.views;
        let first = (0..views.len()).filter(|&v| !views[v].joined);
        let end = move |v: usize| (v + 1..views.len()).find(|&next| !views[next].joined);
        first.map(move |v| v..end(v).unwrap_or(views.len()))
    }

    /// Whether every tile is in a pattern of every sum.
    pub fn is_covered(&self) -> bool {
        let tiles = |lens: &Lens| -> usize { lens.view.tiles.iter().map(Vec::len).sum() };
        let all = self.goal.tiles().len() - 1;
        self.sums().all(|sum| self.views[sum].iter().map(tiles).sum::<usize>() >= all)
    }

    /// The databases, repeated for every view.
    pub fn databases(&self) -> impl Iterator<Item = &Database> {
        self.views.iter().flat_map(|lens| &lens.databases)
    }

    /// Returns the minimum number of moves, at least a given lower bound, that can bring a board to the goal: it has
    /// the parity of the blank's distance from its goal, and is zero only for the goal itself.
    ///
    /// If some tiles are in no pattern, no sum takes this into account by itself.
    pub fn at_least(&self, board: &Board, bound: usize) -> usize {
        let bound = bound.max(usize::from(*board != self.goal));
        bound + (bound + distance(self.goal.size(), board.blank(), self.goal.blank())) % 2
    }

    #[inline(always)]
    pub(crate) fn cell(&self, blank: usize, direction: Direction) -> u8 {
        self.cells[blank][direction as usize]
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

/// What is known about a board: for each pattern of each view.
pub(crate) struct KnownBoard(pub Vec<[KnownPattern; MAX_PATTERNS]>);

impl KnownBoard {
    /// Looks up a board from scratch.
    pub fn new(tree: &Tree, board: &Board) -> KnownBoard {
        let at = cells_of(board);
        let mut all = vec![[KnownPattern::default(); MAX_PATTERNS]; tree.views.len()];
        for (known, lens) in all.iter_mut().zip(&tree.views) {
            let blank = lens.view.image[board.blank()];
            for (p, database) in lens.databases.iter().enumerate() {
                let (pdb, mut cells) = (&database.pdb, [0; Pattern::MAX_TILES]);
                let at = |tile| at[usize::from(tile)].into();
                let cells = lens.view.cells(p, at, &mut cells);
                known[p] = KnownPattern {
                    rank: database.rank(pdb.entry(cells, blank)),
                    set: if database.has_blank() {
                        cells.iter().rev().fold(0, |all, &cell| all << 8 | u64::from(cell))
                    } else {
                        crate::perm::set_of(cells)
                    },
                    value: pdb.lookup(cells, blank).unwrap_or(u8::MAX),
                };
            }
        }
        KnownBoard(all)
    }

    /// The sum of a view.
    pub fn sum(&self, view: usize) -> i32 {
        self.0[view].iter().map(|pattern| i32::from(pattern.value)).sum()
    }

    /// The lower bound on the remaining moves: the maximum of the tree's sums.
    pub fn estimate(&self, tree: &Tree) -> i32 {
        tree.sums().map(|views| views.map(|v| self.sum(v)).sum()).max().unwrap_or(0)
    }

    /// The sums of all views.
    pub fn sums<const V: usize>(&self) -> [i32; V] {
        std::array::from_fn(|v| if v < self.0.len() { self.sum(v) } else { 0 })
    }
}

// The nodes. Nothing is computed on the way up: what a child replaces is swapped with what it brings, back and forth.
//
// Invariant: what is known about a node is exact for its board. Solutions, nodes, excess and moves left depend only on
// the values of the heuristic, not on how it stores them.

/// Size of an array that holds any board, a power of two: an index modulo this size needs no bounds check.
pub(crate) const PLACES: usize = MAX_CELLS.next_power_of_two();

/// A move that leads to a child.
#[derive(Clone, Copy)]
pub(crate) struct ChildMove {
    /// The cell from which the tile comes.
    pub cell: u8,
    pub tile: u8,
    pub direction: Direction,
}

/// The children of a node: its board, the cell of its blank, and the moves.
pub(crate) struct Children<'n> {
    pub board: &'n [u8; PLACES],
    pub blank: usize,
    /// The moves, of which the first `count` are used.
    pub moves: [ChildMove; 4],
    pub count: usize,
}

/// Lower bounds on the remaining moves, kept up to date move by move.
pub(crate) trait Heuristic: Sync {
    /// What is known about the current node of a walk.
    type Node: Clone + Send + Sync;
    /// What children bring. While the walk is below a child, this holds what its node had instead.
    type Brought;
    /// The value if nothing is brought.
    const NOTHING: Self::Brought;

    fn tree(&self) -> &Tree;

    /// What is known about a board that is not cut off, from which at most `room` moves may be made.
    fn node(&self, known: &KnownBoard, room: i32) -> Self::Node;

    /// Begins the lookups for the children of a node. Returns a mask of those that are not cut off yet.
    fn look_up(
        &self,
        node: &Self::Node,
        children: &Children<'_>,
        brought: &mut Self::Brought,
        slack: &mut Slack,
    ) -> u32;

    /// Swaps what child `i` brings with what the node has; returns false instead if the child is cut off.
    fn enter(
        &self,
        node: &mut Self::Node,
        brought: &mut Self::Brought,
        i: usize,
        tile: u8,
        slack: &mut Slack,
    ) -> bool;

    /// Swaps them back.
    fn leave(&self, node: &mut Self::Node, brought: &mut Self::Brought, i: usize, tile: u8);
}

/// A board, and what is known about it.
#[derive(Clone)]
pub(crate) struct WalkPosition<N> {
    /// The tile of each cell.
    board: [u8; PLACES],
    blank: u8,
    /// The state of the pruner.
    state: u32,
    node: N,
}

/// The tree below a board, with a heuristic.
pub(crate) struct RootedTree<'p, H> {
    heuristic: H,
    pruner: &'p MovePruner,
    board: Board,
    known: KnownBoard,
}

impl<'p, H: Heuristic> RootedTree<'p, H> {
    pub fn new(heuristic: H, pruner: &'p MovePruner, board: &Board) -> RootedTree<'p, H> {
        let known = KnownBoard::new(heuristic.tree(), board);
        RootedTree { heuristic, pruner, board: board.clone(), known }
    }
}

/// A node on the way down, and its children.
pub(crate) struct StackLevel<B> {
    brought: B,
    /// The state of the pruner at each child, times four, plus the direction that leads there.
    states: [u32; 4],
    cell: [u8; 4],
    /// The remaining children, as a mask, and the child that the walk is below.
    left: u32,
    below: u8,
    blank: u8,
}

impl<H: Heuristic> MoveTree for RootedTree<'_, H> {
    type Node = WalkPosition<H::Node>;
    type Level = StackLevel<H::Brought>;
    const LAST_FIRST: bool = false;

    fn bound(&self) -> usize {
        self.known.estimate(self.heuristic.tree()) as usize
    }

    fn at_least(&self, bound: usize) -> usize {
        self.heuristic.tree().at_least(&self.board, bound)
    }

    fn can_split(&self, _subtrees: usize) -> bool {
        true
    }

    fn root(&self, limit: usize) -> Self::Node {
        let mut board = [0; PLACES];
        for (to, &tile) in board.iter_mut().zip(self.board.tiles()) {
            *to = tile as u8;
        }
        let blank = self.board.blank();
        let state = self.pruner.start(blank);
        let node = self.heuristic.node(&self.known, limit as i32);
        WalkPosition { board, blank: blank as u8, state, node }
    }

    fn level(&self) -> Self::Level {
        let (states, cell) = ([0; 4], [0; 4]);
        StackLevel { brought: H::NOTHING, states, cell, left: 0, below: 0, blank: 0 }
    }

    #[inline(always)]
    fn expand(walk: &mut Walk<'_, Self>, depth: usize) -> u64 {
        let (heuristic, level, at) = (&walk.tree.heuristic, &mut walk.levels[depth], &walk.at);
        let (tree, pruner, blank) = (heuristic.tree(), walk.tree.pruner, usize::from(at.blank));
        let none = ChildMove { cell: 0, tile: 0, direction: Direction::Up };
        let mut children = Children { board: &at.board, blank, moves: [none; 4], count: 0 };
        for (direction, state) in pruner.moves(at.state) {
            let i = children.count % 4;
            children.count += 1;
            pruner.prefetch(state);
            let cell = tree.cell(blank, direction);
            let tile = at.board[usize::from(cell) % PLACES];
            children.moves[i] = ChildMove { cell, tile, direction };
            (level.states[i], level.cell[i]) = (state << 2 | direction as u32, cell);
        }
        level.left = heuristic.look_up(&at.node, &children, &mut level.brought, &mut walk.slack);
        level.blank = at.blank;
        children.count as u64
    }

    #[inline(always)]
    fn enter(walk: &mut Walk<'_, Self>, depth: usize) -> bool {
        let (level, at) = (&mut walk.levels[depth], &mut walk.at);
        while level.left != 0 {
            let i = level.left.trailing_zeros() as usize % 4;
            level.left &= level.left - 1;
            let cell = level.cell[i];
            let tile = at.board[usize::from(cell) % PLACES];
            let (node, brought) = (&mut at.node, &mut level.brought);
            if walk.tree.heuristic.enter(node, brought, i, tile, &mut walk.slack) {
                level.below = i as u8;
                at.board.swap(usize::from(cell) % PLACES, usize::from(at.blank) % PLACES);
                (at.blank, at.state) = (cell, level.states[i] >> 2);
                return true;
            }
        }
        false
    }

    #[inline(always)]
    fn leave(walk: &mut Walk<'_, Self>, depth: usize) {
        let (level, at) = (&mut walk.levels[depth], &mut walk.at);
        let i = usize::from(level.below) % 4;
        let tile = at.board[usize::from(level.blank) % PLACES];
        at.board.swap(usize::from(at.blank) % PLACES, usize::from(level.blank) % PLACES);
        at.blank = level.blank;
        walk.tree.heuristic.leave(&mut at.node, &mut level.brought, i, tile);
    }

    fn step(level: &Self::Level) -> u16 {
        (level.states[usize::from(level.below) % 4] % 4) as u16
    }

    #[inline(always)]
    fn is_goal(walk: &Walk<'_, Self>) -> bool {
        let mut pairs = walk.tree.heuristic.tree().goal.tiles().iter().zip(&walk.at.board);
        pairs.all(|(&goal, &tile)| goal == u16::from(tile))
    }
}
