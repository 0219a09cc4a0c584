//! The tree of moves that a search walks through, what it knows about each board, and the depth-first walk of an
//! iteration: from a node down to the threshold, with any heuristic.
//!
//! `optimal` makes a [`Tree`] of a goal and its databases, and a [`RootedTree`] for a board, with a [`Heuristic`]
//! (`heuristics`) that looks up the children of a node. There is one [`Walk`] for each [`Subtree`] of an iteration.

use std::ops::Range;

use crate::{
    pdb::Pattern,
    puzzle::{Board, Direction},
    solve::{
        cells_of,
        database::Database,
        distance,
        ida::{Control, MoveTree, WalkResult, Walked},
        pruner::MovePruner,
        symmetry::{Lens, MAX_CELLS},
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
    /// The views are those of the databases' patterns, at least one.
    pub fn new(goal: Board, views: Vec<Lens>, pruner: MovePruner) -> Tree {
        let cell = |blank, d: Direction| d.tile_cell(goal.size(), blank).unwrap_or(blank) as u8;
        let cells =
            (0..goal.size().cells()).map(|blank| Direction::ALL.map(|d| cell(blank, d))).collect();
        Tree { goal, views, pruner, memory: None, split_from: SPLIT_FROM, cells }
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

    fn is_goal(&self, board: &[u8]) -> bool {
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

// The walk. Nothing is computed on the way up: what a child replaces is swapped with what it brings, back and forth.
//
// Invariant: what is known about a node is exact for its board. Solutions, nodes, excess and moves left depend only on
// the values of the heuristic, not on how it stores them.

/// Number of nodes after which a walk asks whether to stop: it asks at its first nodes, then whenever they have
/// doubled, and finally at this interval.
const ASK_EVERY: u64 = 1 << 14;

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

/// The number of moves that may be made from a node, and by how much the closest child that was cut off exceeds it.
#[derive(Clone, Copy)]
pub(crate) struct Slack {
    pub room: i32,
    pub excess: i32,
}

/// Lower bounds on the remaining moves, kept up to date move by move.
pub(crate) trait Heuristic: Sync {
    /// What is known about the current node of a walk.
    type Node: Clone + Send + Sync;
    /// What children bring. While the walk is below a child, this holds what its node had instead.
    type Brought: Clone;
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
struct WalkPosition<N> {
    /// The tile of each cell.
    board: [u8; PLACES],
    blank: u8,
    /// The state of the pruner.
    state: u32,
    node: N,
}

/// A subtree: where it begins, and the path to it.
pub(crate) struct Subtree<H: Heuristic> {
    start: WalkPosition<H::Node>,
    path: Vec<u16>,
}

/// The tree below a board, with a heuristic.
pub(crate) struct RootedTree<H> {
    heuristic: H,
    board: Board,
    known: KnownBoard,
}

impl<H: Heuristic> RootedTree<H> {
    pub fn new(heuristic: H, board: &Board) -> RootedTree<H> {
        let known = KnownBoard::new(heuristic.tree(), board);
        RootedTree { heuristic, board: board.clone(), known }
    }
}

impl<H: Heuristic> MoveTree for RootedTree<H> {
    type Subtree = Subtree<H>;
    type Stack = Vec<StackLevel<H::Brought>>;

    fn is_solved(&self) -> bool {
        self.board == self.heuristic.tree().goal
    }

    fn at_least(&self, bound: usize) -> usize {
        self.heuristic.tree().at_least(&self.board, bound)
    }

    fn whole(&self, limit: usize) -> Subtree<H> {
        let mut board = [0; PLACES];
        for (to, &tile) in board.iter_mut().zip(self.board.tiles()) {
            *to = tile as u8;
        }
        let blank = self.board.blank();
        let state = self.heuristic.tree().pruner.start(blank);
        let node = self.heuristic.node(&self.known, limit as i32);
        let start = WalkPosition { board, blank: blank as u8, state, node };
        Subtree { start, path: Vec::new() }
    }

    fn spread(&self, whole: &Subtree<H>, depth: usize, limit: usize) -> (Vec<Subtree<H>>, Walked) {
        let (mut stack, mut found) = (Vec::new(), Vec::new());
        let mut walk = Walk::new(&self.heuristic, whole, limit, depth, &mut stack);
        if depth > 0 {
            let arrived = |walk: &mut Walk<'_, H>| {
                found.push(Subtree { start: walk.at.clone(), path: walk.path() });
                false
            };
            walk.descend(|_| false, arrived);
        }
        (found, walk.walked(limit - depth))
    }

    fn path<'s>(&self, subtree: &'s Subtree<H>) -> &'s [u16] {
        &subtree.path
    }

    fn walk(
        &self,
        from: &Subtree<H>,
        control: &Control<'_>,
        place: usize,
        stack: &mut Self::Stack,
    ) -> WalkResult {
        let room = control.limit - from.path.len();
        let mut walk = Walk::new(&self.heuristic, from, room, room.max(1), stack);
        let (mut asked_at, mut ask_at, mut stopped) = (0, 1, false);
        let mut solution = None;
        let deepest = walk.descend(
            |nodes| {
                if nodes >= ask_at {
                    stopped = control.ask(nodes - asked_at, place);
                    (asked_at, ask_at) = (nodes, nodes + nodes.min(ASK_EVERY));
                }
                stopped
            },
            |walk| {
                if walk.heuristic.tree().is_goal(&walk.at.board) {
                    solution = Some([&from.path[..], &walk.path()].concat());
                }
                // Otherwise the tiles that still have to move are in no pattern: they need moves that no sum counts.
                walk.slack.excess = walk.slack.excess.min(1);
                solution.is_some()
            },
        );
        control.ask(walk.nodes - asked_at, place);
        let left = walk.levels.len() - deepest;
        WalkResult { solution, stopped, walked: walk.walked(left) }
    }
}

/// A node on the way down, and its children.
#[derive(Clone)]
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

/// A walk through a subtree.
pub(crate) struct Walk<'w, H: Heuristic> {
    heuristic: &'w H,
    at: WalkPosition<H::Node>,
    levels: &'w mut [StackLevel<H::Brought>],
    nodes: u64,
    slack: Slack,
}

impl<'w, H: Heuristic> Walk<'w, H> {
    /// A walk down this number of levels; the stack may have been used by another walk.
    fn new(
        heuristic: &'w H,
        from: &Subtree<H>,
        room: usize,
        levels: usize,
        stack: &'w mut Vec<StackLevel<H::Brought>>,
    ) -> Walk<'w, H> {
        let (states, cell) = ([0; 4], [0; 4]);
        let level = StackLevel { brought: H::NOTHING, states, cell, left: 0, below: 0, blank: 0 };
        if stack.len() < levels {
            stack.resize(levels, level);
        }
        let slack = Slack { room: room as i32, excess: i32::MAX };
        let (at, levels) = (from.start.clone(), &mut stack[..levels]);
        Walk { heuristic, at, levels, nodes: 0, slack }
    }

    fn walked(&self, left: usize) -> Walked {
        let Slack { excess, .. } = self.slack;
        Walked { subtree: 0, nodes: self.nodes, excess, left: left as u32 }
    }

    /// Visits all nodes at the depth of the last level that are not cut off, until one of the two functions ends it:
    /// one is given the number of nodes generated, the other is called at each such node. Returns the depth that was
    /// reached.
    #[inline(always)]
    fn descend(
        &mut self,
        mut ends: impl FnMut(u64) -> bool,
        mut arrived: impl FnMut(&mut Self) -> bool,
    ) -> usize {
        let (mut depth, mut deepest) = (0, 0);
        loop {
            self.nodes += self.children(depth);
            if ends(self.nodes) {
                return deepest;
            }
            loop {
                if self.enter(depth) {
                    depth += 1;
                    deepest = deepest.max(depth);
                    if depth < self.levels.len() {
                        break;
                    }
                    if arrived(self) {
                        return deepest;
                    }
                } else if depth == 0 {
                    return deepest;
                }
                depth -= 1;
                self.leave(depth);
            }
        }
    }

    /// Generates the children of a node; returns their number.
    #[inline(always)]
    fn children(&mut self, depth: usize) -> u64 {
        let (tree, level, at) = (self.heuristic.tree(), &mut self.levels[depth], &self.at);
        let blank = usize::from(at.blank);
        let none = ChildMove { cell: 0, tile: 0, direction: Direction::Up };
        let mut children = Children { board: &at.board, blank, moves: [none; 4], count: 0 };
        for (direction, state) in tree.pruner.moves(at.state) {
            let i = children.count % 4;
            children.count += 1;
            tree.pruner.prefetch(state);
            let cell = tree.cell(blank, direction);
            let tile = at.board[usize::from(cell) % PLACES];
            children.moves[i] = ChildMove { cell, tile, direction };
            (level.states[i], level.cell[i]) = (state << 2 | direction as u32, cell);
        }
        let brought = &mut level.brought;
        level.left = self.heuristic.look_up(&at.node, &children, brought, &mut self.slack);
        level.blank = at.blank;
        children.count as u64
    }

    /// Descends to the first remaining child that is not cut off; returns false if there is none.
    #[inline(always)]
    fn enter(&mut self, depth: usize) -> bool {
        let (level, at) = (&mut self.levels[depth], &mut self.at);
        while level.left != 0 {
            let i = level.left.trailing_zeros() as usize % 4;
            level.left &= level.left - 1;
            let cell = level.cell[i];
            let tile = at.board[usize::from(cell) % PLACES];
            let (node, brought) = (&mut at.node, &mut level.brought);
            if self.heuristic.enter(node, brought, i, tile, &mut self.slack) {
                level.below = i as u8;
                at.board.swap(usize::from(cell) % PLACES, usize::from(at.blank) % PLACES);
                (at.blank, at.state) = (cell, level.states[i] >> 2);
                self.slack.room -= 1;
                return true;
            }
        }
        false
    }

    /// Returns from a child to its node.
    #[inline(always)]
    fn leave(&mut self, depth: usize) {
        let (level, at) = (&mut self.levels[depth], &mut self.at);
        let i = usize::from(level.below) % 4;
        let tile = at.board[usize::from(level.blank) % PLACES];
        at.board.swap(usize::from(at.blank) % PLACES, usize::from(level.blank) % PLACES);
        at.blank = level.blank;
        self.slack.room += 1;
        self.heuristic.leave(&mut at.node, &mut level.brought, i, tile);
    }

    /// The moves down to a node at the depth of the last level.
    fn path(&self) -> Vec<u16> {
        let step = |level: &StackLevel<H::Brought>| {
            (level.states[usize::from(level.below) % 4] % 4) as u16
        };
        self.levels.iter().map(step).collect()
    }
}
