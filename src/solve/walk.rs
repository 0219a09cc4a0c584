//! The depth-first walk of an iteration: from a node down to the limit.
//!
//! Invariant: a node's indices and sums are exact for its board; every change on the way down is undone
//! on the way up.

use std::ops::Range;

use crate::kernel::prefetch;
use crate::pdb::Pattern;
use crate::puzzle::{Board, Direction};
use crate::solve::control::{Control, WalkResult};
use crate::solve::database::Database;
use crate::solve::heuristic::{MAX_CELLS, NO_PATTERN};
use crate::solve::tree::{MAX_PATTERNS, Tree};

/// How often a walk asks whether to stop: at its first nodes, then whenever they have doubled, at last after
/// so many.
pub(crate) const ASK_EVERY: u64 = 1 << 14;

/// A depth-first walk. In PLAIN ones an entry is a byte at the rank of the cells; else databases may be of any kind
/// and encoding.
pub(crate) struct Walk<'w, const V: usize, const PLAIN: bool> {
    tree: &'w Tree,
    control: &'w Control<'w>,
    /// Where the subtree was dealt.
    place: usize,
    /// The databases of each view, and their bytes.
    databases: [&'w [Database]; V],
    values: [[&'w [u8]; MAX_PATTERNS]; V],
    node: WalkNode<V>,
    path: Vec<Direction>,
    nodes: u64,
    asked_at: u64,
    ask_at: u64,
    stopped: bool,
    excess: i32,
    left: i32,
}

/// A move to a child, its look-ups under way.
#[derive(Clone, Copy)]
struct Child<const V: usize> {
    state: u32,
    cell: u8,
    direction: Direction,
    pattern: [u8; V],
    index: [u64; V],
    /// Where the values are; of plain databases that is the index.
    entry: [u64; V],
}

impl<const V: usize> Child<V> {
    /// Room for the children of a node, written in place: arrays of this size are copied by calls, which the profiles of
    /// searches with several views show.
    const NONE: [Child<V>; 4] = [Child {
        state: 0,
        cell: 0,
        direction: Direction::Up,
        pattern: [0; V],
        index: [0; V],
        entry: [0; V],
    }; 4];
}

impl<'w, const V: usize, const PLAIN: bool> Walk<'w, V, PLAIN> {
    /// Returns the walk from a board.
    pub fn new(tree: &'w Tree, board: &Board, control: &'w Control<'w>) -> Walk<'w, V, PLAIN> {
        let mut root = WalkNode {
            board: [0; MAX_CELLS],
            blank: board.blank() as u8,
            state: tree.pruner.start(board.blank()),
            lookups: [Lookups::default(); V],
        };
        let mut at = [0; MAX_CELLS];
        for (cell, &tile) in board.tiles().iter().enumerate() {
            root.board[cell] = tile as u8;
            at[usize::from(tile)] = cell;
        }
        for (lookup, lens) in root.lookups.iter_mut().zip(&tree.views) {
            let blank = lens.view.image[board.blank()];
            for (p, database) in lens.databases.iter().enumerate() {
                let (pdb, mut cells) = (&database.pdb, [0; Pattern::MAX_TILES]);
                let cells = lens.view.cells(p, |tile| at[usize::from(tile)], &mut cells);
                lookup.index[p] = database.rank(pdb.entry(cells, blank));
                lookup.set[p] = match database.has_blank() {
                    true => cells.iter().rev().fold(0, |all, &cell| all << 8 | u64::from(cell)),
                    false => crate::bits::set_of(cells),
                };
                lookup.value[p] = pdb.lookup(cells, blank).unwrap_or(u8::MAX);
                lookup.sum += i32::from(lookup.value[p]);
            }
        }
        Walk::resume(tree, &root, &[], control, 0)
    }

    /// Returns the walk from a node, to which a path has led.
    pub fn resume(
        tree: &'w Tree,
        node: &WalkNode<V>,
        path: &[Direction],
        control: &'w Control<'w>,
        place: usize,
    ) -> Walk<'w, V, PLAIN> {
        let mut databases: [&[Database]; V] = [&[]; V];
        let mut values: [[&[u8]; MAX_PATTERNS]; V] = [[&[]; MAX_PATTERNS]; V];
        let views = databases.iter_mut().zip(&mut values).zip(&tree.views);
        for ((databases, values), lens) in views {
            *databases = &lens.databases;
            for (values, database) in values.iter_mut().zip(&lens.databases) {
                *values = database.pdb.bytes();
            }
        }
        Walk {
            tree,
            control,
            place,
            databases,
            values,
            node: *node,
            path: path.to_vec(),
            nodes: 0,
            asked_at: 0,
            ask_at: 1,
            stopped: false,
            excess: i32::MAX,
            left: i32::MAX,
        }
    }

    /// Returns the node that the walk starts from.
    pub fn root(self) -> WalkNode<V> {
        self.node
    }

    #[inline(always)]
    fn views(&self) -> usize {
        // One or two are what they say; of more there may be fewer.
        if V > 2 { self.tree.views.len().min(V) } else { V }
    }

    /// Walks through the subtree, looking for a solution of at most `room` more moves.
    pub fn pass(&mut self, room: i32) -> WalkResult {
        let (blank, state) = (usize::from(self.node.blank), self.node.state);
        self.left = room;
        let solved = self.descend(blank, state, room);
        self.control.ask(self.nodes - self.asked_at, self.place);
        WalkResult {
            solution: solved.then(|| std::mem::take(&mut self.path)),
            nodes: self.nodes,
            excess: self.excess,
            left: self.left,
            stopped: self.stopped && !solved,
        }
    }

    /// Collects the nodes `depth` moves below that a solution of at most `room` moves can lead through,
    /// in the order of a walk; none of the nodes above is the goal if there is no such solution of at most
    /// `depth` moves.
    pub fn spread(&mut self, depth: usize, room: i32) -> (Vec<Subtree<V>>, WalkResult) {
        let mut found = Vec::new();
        let (blank, state) = (usize::from(self.node.blank), self.node.state);
        self.collect(blank, state, depth, room, &mut found);
        let pass = WalkResult {
            solution: None,
            nodes: self.nodes,
            excess: self.excess,
            left: room - depth as i32,
            stopped: false,
        };
        (found, pass)
    }

    fn collect(
        &mut self,
        blank: usize,
        state: u32,
        depth: usize,
        room: i32,
        found: &mut Vec<Subtree<V>>,
    ) {
        if depth == 0 {
            let mut node = self.node;
            (node.blank, node.state) = (blank as u8, state);
            found.push((node, self.path.clone()));
            return;
        }
        let mut children = Child::NONE;
        let count = self.children(blank, state, &mut children);
        self.nodes += count as u64;
        for child in &children[..count] {
            let Some((value, _)) = self.judge(child, room) else {
                continue;
            };
            self.step(blank, child);
            let before = self.enter(blank, child, &value);
            self.collect(usize::from(child.cell), child.state, depth - 1, room - 1, found);
            self.leave(blank, child, before);
            self.step_back(blank, child);
        }
    }

    /// Searches the subtree of the current node for a solution of at most `room` moves; on success the
    /// path leads to it.
    fn descend(&mut self, blank: usize, state: u32, room: i32) -> bool {
        let mut children = Child::NONE;
        let count = self.children(blank, state, &mut children);
        self.nodes += count as u64;
        if self.nodes >= self.ask_at {
            self.stopped |= self.control.ask(self.nodes - self.asked_at, self.place);
            self.asked_at = self.nodes;
            self.ask_at = self.nodes + self.nodes.min(ASK_EVERY);
        }
        if self.stopped {
            return false;
        }
        for child in &children[..count] {
            let Some((value, best)) = self.judge(child, room) else {
                continue;
            };
            self.step(blank, child);
            if best == 0 && self.tree.is_goal(&self.node.board) {
                return true;
            }
            let before = self.enter(blank, child, &value);
            self.left = self.left.min(room - 1);
            if room > 1 {
                if self.descend(usize::from(child.cell), child.state, room - 1) {
                    return true;
                }
            } else {
                // What is left to move is in no pattern: it takes moves that no sum tells.
                self.excess = self.excess.min(1);
            }
            self.leave(blank, child, before);
            self.step_back(blank, child);
        }
        false
    }

    /// Writes the children of a node, and returns how many there are. Their look-ups are started, all before the first is used: they miss the
    /// caches.
    #[inline(always)]
    fn children(&self, blank: usize, state: u32, children: &mut [Child<V>; 4]) -> usize {
        let mut count = 0;
        for (direction, state) in self.tree.pruner.moves(state) {
            let cell = self.tree.cell(blank, direction);
            let tile = self.node.board[usize::from(cell)];
            let child = &mut children[count];
            count += 1;
            (child.state, child.cell, child.direction) = (state, cell, direction);
            for v in 0..self.views() {
                let view = &self.tree.views[v].view;
                if !PLAIN && self.databases[v][0].has_blank() {
                    let database = &self.databases[v][0];
                    let moved = self.moved(v, tile, cell.into(), blank);
                    (child.pattern[v], child.index[v]) = (0, database.rank_of(moved));
                    child.entry[v] = child.index[v];
                    let entry = child.entry[v] as usize;
                    prefetch::<1, _>(self.values[v][0].as_ptr().wrapping_add(entry));
                    continue;
                }
                let p = view.pattern[usize::from(tile)];
                child.pattern[v] = p;
                if p == NO_PATTERN {
                    continue;
                }
                let p = usize::from(p) % MAX_PATTERNS;
                let lookup = &self.node.lookups[v];
                let change = view.step(&self.node.board, blank, direction, tile);
                child.index[v] = lookup.index[p].wrapping_add_signed(change);
                let byte = if PLAIN {
                    child.index[v]
                } else {
                    let database = &self.databases[v][p];
                    let [from, to] = [cell.into(), blank].map(|cell: usize| view.image[cell]);
                    let set = lookup.set[p] ^ 1 << from ^ 1 << to;
                    child.entry[v] = database.entry(set, child.index[v], from);
                    database.byte(child.entry[v])
                };
                prefetch::<1, _>(self.values[v][p].as_ptr().wrapping_add(byte as usize));
            }
        }
        count
    }

    /// Looks a child up: its values and the lower bound on the moves left, none when it is cut off.
    #[inline(always)]
    fn judge(&mut self, child: &Child<V>, room: i32) -> Option<([u8; V], i32)> {
        let (mut best, mut sum) = (0, 0);
        let mut value = [0; V];
        for v in 0..self.views() {
            let lookup = &self.node.lookups[v];
            // Only those of one view each are plain.
            sum = match !PLAIN && self.tree.views[v].joined {
                true => sum + lookup.sum,
                false => lookup.sum,
            };
            if child.pattern[v] != NO_PATTERN {
                let p = usize::from(child.pattern[v]) % MAX_PATTERNS;
                value[v] = if PLAIN {
                    self.values[v][p][child.index[v] as usize]
                } else {
                    let (database, entry) = (&self.databases[v][p], child.entry[v]);
                    let byte = self.values[v][p][database.byte(entry) as usize];
                    database.value(byte, entry, lookup.value[p])
                };
                sum += i32::from(value[v]) - i32::from(lookup.value[p]);
            }
            if !PLAIN && self.tree.views.get(v + 1).is_some_and(|lens| lens.joined) {
                continue;
            }
            if sum >= room {
                self.excess = self.excess.min(sum + 1 - room);
                return None;
            }
            best = best.max(sum);
        }
        Some((value, best))
    }

    /// Moves a tile, or back.
    #[inline(always)]
    fn step(&mut self, blank: usize, child: &Child<V>) {
        self.node.board.swap(usize::from(child.cell), blank);
        self.path.push(child.direction);
    }

    #[inline(always)]
    fn step_back(&mut self, blank: usize, child: &Child<V>) {
        self.path.pop();
        self.node.board.swap(usize::from(child.cell), blank);
    }

    /// The cells of the tiles of a pattern with the blank, a byte each, when a tile has moved from `cell` to `to` and the
    /// blank the other way.
    #[inline(always)]
    fn moved(&self, v: usize, tile: u8, cell: usize, to: usize) -> u64 {
        let view = &self.tree.views[v].view;
        // The blank is the first tile.
        let change = u64::from(view.image[cell] ^ view.image[to]);
        let its = match view.pattern[usize::from(tile)] {
            NO_PATTERN => 0,
            _ => change << (8 * view.place[usize::from(tile)]),
        };
        self.node.lookups[v].set[0] ^ change ^ its
    }

    /// Moves a tile in the set of cells of its pattern, from `cell` to `to`.
    #[inline(always)]
    fn shift(&mut self, v: usize, p: usize, tile: u8, cell: usize, to: usize) {
        if !PLAIN {
            if self.databases[v][p].has_blank() {
                self.node.lookups[v].set[p] = self.moved(v, tile, cell, to);
                return;
            }
            let view = &self.tree.views[v].view;
            let lookup = &mut self.node.lookups[v];
            lookup.set[p] ^= 1 << view.image[cell] ^ 1 << view.image[to];
        }
    }

    /// Makes a child's look-ups the current ones, its tile having moved; returns those that they replace.
    #[inline(always)]
    fn enter(&mut self, blank: usize, child: &Child<V>, value: &[u8; V]) -> [(u64, u8); V] {
        let mut before = [(0, 0); V];
        for v in 0..self.views() {
            if child.pattern[v] != NO_PATTERN {
                let p = usize::from(child.pattern[v]) % MAX_PATTERNS;
                let lookup = &mut self.node.lookups[v];
                before[v] = (lookup.index[p], lookup.value[p]);
                lookup.sum += i32::from(value[v]) - i32::from(lookup.value[p]);
                (lookup.index[p], lookup.value[p]) = (child.index[v], value[v]);
                self.shift(v, p, self.node.board[blank], child.cell.into(), blank);
            }
        }
        before
    }

    #[inline(always)]
    fn leave(&mut self, blank: usize, child: &Child<V>, before: [(u64, u8); V]) {
        for v in 0..self.views() {
            if child.pattern[v] != NO_PATTERN {
                let p = usize::from(child.pattern[v]) % MAX_PATTERNS;
                let lookup = &mut self.node.lookups[v];
                lookup.sum += i32::from(before[v].1) - i32::from(lookup.value[p]);
                (lookup.index[p], lookup.value[p]) = before[v];
                self.shift(v, p, self.node.board[blank], blank, child.cell.into());
            }
        }
    }
}

// A node of the tree of moves: a board, and what is known of it.
//
// Invariant: what a node knows is exact for its board; the walk that changes it keeps it so.

/// The look-ups of a node through one view.
#[derive(Clone, Copy, Default)]
pub(crate) struct Lookups {
    /// Rank of each pattern's tiles, see [`crate::solve::database::Database::entry`].
    pub index: [u64; MAX_PATTERNS],
    /// Value of each pattern.
    pub value: [u8; MAX_PATTERNS],
    /// Their sum.
    pub sum: i32,
    /// Set of cells of each pattern, or where it has the blank a byte for each tile's cell; and distance of its tiles, for
    /// databases that are not plain.
    pub set: [u64; MAX_PATTERNS],
}

/// A node: a board, and what is known of it. V views are looked through (of a board with more: all).
#[derive(Clone, Copy)]
pub(crate) struct WalkNode<const V: usize> {
    /// The tile of each cell.
    pub board: [u8; MAX_CELLS],
    pub blank: u8,
    pub state: u32,
    pub lookups: [Lookups; V],
}

impl<const V: usize> WalkNode<V> {
    /// Returns the lower bound on the moves left: the largest of the tree's sums.
    pub fn estimate(&self, tree: &Tree) -> i32 {
        tree.sums().map(|lenses| self.sum(lenses)).max().unwrap_or(0)
    }

    /// Returns the sum of some lenses.
    pub fn sum(&self, lenses: Range<usize>) -> i32 {
        self.lookups[lenses].iter().map(|lookup| lookup.sum).sum()
    }
}

/// A subtree that is left to walk: its node and the way there.
pub(crate) type Subtree<const V: usize> = (WalkNode<V>, Vec<Direction>);
