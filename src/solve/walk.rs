//! The depth-first walk of an iteration: from a node down to the threshold, with any heuristic.
//!
//! Nothing is computed on the way up: what a child replaces is swapped with what it brings, back and forth.
//!
//! Invariant: what is known about a node is exact for its board. Solutions, nodes, excess and moves left depend only on
//! the values of the heuristic, not on how it stores them.

use crate::{
    puzzle::{Board, Direction},
    solve::{
        control::{Control, WalkResult, Walked},
        symmetry::MAX_CELLS,
        tree::{KnownBoard, Tree},
    },
};

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

    /// Returns what is known about a board that is not cut off, from which at most `room` moves may be made.
    fn node(&self, known: &KnownBoard, room: i32) -> Self::Node;

    /// Begins the lookups for the children of a node. Returns a mask of those that are not cut off yet.
    fn look_up(
        &self,
        node: &Self::Node,
        children: &Children<'_>,
        brought: &mut Self::Brought,
        slack: &mut Slack,
    ) -> u32;

    /// Swaps what child `i`, whose tile moves, brings with what the node has; returns false instead if the child is cut
    /// off.
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
    pub path: Vec<u16>,
}

impl<H: Heuristic> Subtree<H> {
    /// Returns the whole tree from a board about which something is known, for at most this number of moves.
    pub fn whole(heuristic: &H, board: &Board, known: &KnownBoard, limit: usize) -> Subtree<H> {
        let mut tiles = [0; PLACES];
        for (to, &tile) in tiles.iter_mut().zip(board.tiles()) {
            *to = tile as u8;
        }
        let blank = board.blank();
        let state = heuristic.tree().pruner.start(blank);
        let node = heuristic.node(known, limit as i32);
        let start = WalkPosition { board: tiles, blank: blank as u8, state, node };
        Subtree { start, path: Vec::new() }
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

    /// Walks through a subtree that was handed out with an index, looking for a solution with as many moves as the
    /// iteration allows: there are none with fewer.
    pub fn pass(
        heuristic: &'w H,
        from: &Subtree<H>,
        control: &Control<'_>,
        place: usize,
        stack: &'w mut Vec<StackLevel<H::Brought>>,
    ) -> WalkResult {
        let room = control.limit - from.path.len();
        let mut walk = Walk::new(heuristic, from, room, room.max(1), stack);
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

    /// Collects the nodes that are `depth` moves below the root of a tree and through which a solution of at most
    /// `limit` moves can lead, in the order of a walk; returns them, and the nodes above them.
    pub fn spread(
        heuristic: &'w H,
        whole: &Subtree<H>,
        depth: usize,
        limit: usize,
    ) -> (Vec<Subtree<H>>, Walked) {
        let (mut stack, mut found) = (Vec::new(), Vec::new());
        let mut walk = Walk::new(heuristic, whole, limit, depth, &mut stack);
        if depth > 0 {
            let arrived = |walk: &mut Walk<'_, H>| {
                found.push(Subtree { start: walk.at.clone(), path: walk.path() });
                false
            };
            walk.descend(|_| false, arrived);
        }
        (found, walk.walked(limit - depth))
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
