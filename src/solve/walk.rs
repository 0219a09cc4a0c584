//! The depth-first walk of an iteration: from a node down to the limit.
//!
//! Invariant: a node's indices and sums are exact for its board; every change on the way down is undone
//! on the way up.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::tree::{MAX_PATTERNS, MAX_VIEWS, Tree};
use super::view::{MAX_CELLS, NO_PATTERN, View};
use crate::pdb::{Encoding, Pattern, Pdb};
use crate::perm::kernel::prefetch;
use crate::progress::{Phase, Progress};
use crate::puzzle::tiles::{Board, Direction};

/// How often a walk asks whether to stop: at its first nodes, then whenever they have doubled, at last after
/// so many.
const ASK_EVERY: u64 = 1 << 14;

/// What the walks of one iteration share.
pub(super) struct Control<'c> {
    progress: &'c dyn Progress,
    /// Moves that the iteration allows.
    limit: usize,
    nodes: AtomicU64,
    stopped: AtomicBool,
    /// The first subtree, in the order of a walk through all, that is known to hold a solution.
    solved: AtomicUsize,
}

impl<'c> Control<'c> {
    /// Returns the control of an iteration with a limit, before which some nodes were generated.
    pub fn new(progress: &'c dyn Progress, (limit, nodes): (usize, u64)) -> Control<'c> {
        Control {
            progress,
            limit,
            nodes: AtomicU64::new(nodes),
            stopped: AtomicBool::new(false),
            solved: AtomicUsize::new(usize::MAX),
        }
    }

    /// Returns the first subtree that is known to hold a solution.
    pub fn solved(&self) -> usize {
        self.solved.load(Ordering::Relaxed)
    }

    /// Notes a subtree with a solution.
    pub fn solve(&self, subtree: usize) {
        self.solved.fetch_min(subtree, Ordering::Relaxed);
    }

    /// Returns whether the search was told to stop.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Counts nodes; returns whether the walk through a subtree should stop.
    fn ask(&self, nodes: u64, subtree: usize) -> bool {
        let nodes = self.nodes.fetch_add(nodes, Ordering::Relaxed) + nodes;
        self.progress.progress(Phase::Search(self.limit), nodes, 0);
        if self.progress.interrupted() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        self.stopped() || self.solved() < subtree
    }
}

/// What a walk found.
pub(super) struct Pass {
    /// The way to the goal.
    pub solution: Option<Vec<Direction>>,
    /// Nodes generated.
    pub nodes: u64,
    /// By how much the closest node that was cut off exceeds the limit.
    pub excess: i32,
    /// Whether the walk ended early without a solution.
    pub stopped: bool,
}

/// The look-ups of a node through one view.
#[derive(Clone, Copy, Default)]
struct Lookups {
    /// Entry of each pattern.
    index: [u64; MAX_PATTERNS],
    /// Value of each pattern.
    value: [u8; MAX_PATTERNS],
    /// Their sum.
    sum: i32,
}

/// A node: a board, and what is known of it. V views are looked through (of a board with more: all).
#[derive(Clone, Copy)]
pub(super) struct Node<const V: usize> {
    /// The tile of each cell.
    pub board: [u8; MAX_CELLS],
    /// The cell of each tile, kept for databases whose entries are found from scratch.
    at: [u8; MAX_CELLS],
    blank: u8,
    state: u32,
    lookups: [Lookups; V],
}

impl<const V: usize> Node<V> {
    /// Returns the lower bound on the moves left.
    pub fn estimate(&self) -> i32 {
        self.lookups
            .iter()
            .map(|lookup| lookup.sum)
            .max()
            .unwrap_or(0)
    }
}

/// A subtree that is left to walk: its node and the way there.
pub(super) type Subtree<const V: usize> = (Node<V>, Vec<Direction>);

/// A depth-first walk. In PLAIN ones an entry is a byte at the rank of the cells, updated move by move; else
/// entries are found from scratch, whatever the kind and the encoding.
pub(super) struct Walk<'w, const V: usize, const PLAIN: bool> {
    tree: &'w Tree,
    control: &'w Control<'w>,
    /// Place of the subtree in the order of a walk through all.
    subtree: usize,
    values: [&'w [u8]; MAX_PATTERNS],
    node: Node<V>,
    path: Vec<Direction>,
    nodes: u64,
    asked_at: u64,
    ask_at: u64,
    stopped: bool,
    excess: i32,
}

/// An entry of a database of any kind and encoding.
struct Entry {
    index: u64,
    cells: [u8; Pattern::MAX_TILES],
}

impl Entry {
    fn find(view: &View, pdb: &Pdb, p: usize, at: impl Fn(u8) -> usize, blank: usize) -> Entry {
        let mut cells = [0; Pattern::MAX_TILES];
        let index = pdb.entry(view.cells(p, at, &mut cells), view.image[blank]);
        Entry { index, cells }
    }

    /// The byte that holds the value.
    fn byte(&self, pdb: &Pdb) -> u64 {
        match pdb.encoding() {
            Encoding::Byte => self.index,
            Encoding::Nibble => self.index / 2,
        }
    }

    fn value(&self, pdb: &Pdb) -> u8 {
        let k = pdb.pattern().tiles().len();
        pdb.at(self.index, &self.cells[..k]).unwrap_or(u8::MAX)
    }
}

/// A move to a child, its look-ups under way.
#[derive(Clone, Copy)]
struct Child<const V: usize> {
    state: u32,
    cell: u8,
    direction: Direction,
    pattern: [u8; V],
    index: [u64; V],
}

impl<'w, const V: usize, const PLAIN: bool> Walk<'w, V, PLAIN> {
    /// Returns the walk from a board.
    pub fn new(tree: &'w Tree, board: &Board, control: &'w Control<'w>) -> Walk<'w, V, PLAIN> {
        let mut root = Node {
            board: [0; MAX_CELLS],
            at: [0; MAX_CELLS],
            blank: board.blank() as u8,
            state: tree.pruner.start(board.blank()),
            lookups: [Lookups::default(); V],
        };
        for (cell, &tile) in board.tiles().iter().enumerate() {
            root.board[cell] = tile as u8;
            root.at[usize::from(tile)] = cell as u8;
        }
        let mut walk = Walk::resume(tree, &root, &[], control, 0);
        for (lookup, view) in walk.node.lookups.iter_mut().zip(&tree.views) {
            for (p, pdb) in tree.pdbs.iter().enumerate() {
                let at = |tile: u8| usize::from(root.at[usize::from(tile)]);
                let entry = Entry::find(view, pdb, p, at, board.blank());
                (lookup.index[p], lookup.value[p]) = (entry.index, entry.value(pdb));
                lookup.sum += i32::from(lookup.value[p]);
            }
        }
        walk
    }

    /// Returns the walk from a node, to which a path has led.
    pub fn resume(
        tree: &'w Tree,
        node: &Node<V>,
        path: &[Direction],
        control: &'w Control<'w>,
        subtree: usize,
    ) -> Walk<'w, V, PLAIN> {
        let mut values: [&[u8]; MAX_PATTERNS] = [&[]; MAX_PATTERNS];
        for (values, pdb) in values.iter_mut().zip(&tree.pdbs) {
            *values = pdb.bytes();
        }
        Walk {
            tree,
            control,
            subtree,
            values,
            node: *node,
            path: path.to_vec(),
            nodes: 0,
            asked_at: 0,
            ask_at: 1,
            stopped: false,
            excess: i32::MAX,
        }
    }

    /// Returns the node that the walk starts from.
    pub fn root(self) -> Node<V> {
        self.node
    }

    #[inline(always)]
    fn views(&self) -> usize {
        if V == MAX_VIEWS {
            self.tree.views.len()
        } else {
            V
        }
    }

    /// Walks through the subtree, looking for a solution of at most `room` more moves.
    pub fn pass(&mut self, room: i32) -> Pass {
        let (blank, state) = (usize::from(self.node.blank), self.node.state);
        let solved = self.descend(blank, state, room);
        self.control.ask(self.nodes - self.asked_at, self.subtree);
        Pass {
            solution: solved.then(|| std::mem::take(&mut self.path)),
            nodes: self.nodes,
            excess: self.excess,
            stopped: self.stopped && !solved,
        }
    }

    /// Collects the nodes `depth` moves below that a solution of at most `room` moves can lead through,
    /// in the order of a walk; none of the nodes above is the goal if there is no such solution of at most
    /// `depth` moves.
    pub fn spread(&mut self, depth: usize, room: i32) -> (Vec<Subtree<V>>, Pass) {
        let mut found = Vec::new();
        let (blank, state) = (usize::from(self.node.blank), self.node.state);
        self.collect(blank, state, depth, room, &mut found);
        let pass = Pass {
            solution: None,
            nodes: self.nodes,
            excess: self.excess,
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
        let (children, count) = self.children(blank, state);
        self.nodes += count as u64;
        for child in &children[..count] {
            let Some((value, _)) = self.judge(blank, child, room) else {
                continue;
            };
            self.step(blank, child);
            let before = self.enter(child, &value);
            self.collect(
                usize::from(child.cell),
                child.state,
                depth - 1,
                room - 1,
                found,
            );
            self.leave(child, before);
            self.step_back(blank, child);
        }
    }

    /// Searches the subtree of the current node for a solution of at most `room` moves; on success the
    /// path leads to it.
    fn descend(&mut self, blank: usize, state: u32, room: i32) -> bool {
        let (children, count) = self.children(blank, state);
        self.nodes += count as u64;
        if self.nodes >= self.ask_at {
            self.stopped |= self.control.ask(self.nodes - self.asked_at, self.subtree);
            self.asked_at = self.nodes;
            self.ask_at = self.nodes + self.nodes.min(ASK_EVERY);
        }
        if self.stopped {
            return false;
        }
        for child in &children[..count] {
            let Some((value, best)) = self.judge(blank, child, room) else {
                continue;
            };
            self.step(blank, child);
            if best == 0 && self.tree.is_goal(&self.node.board) {
                return true;
            }
            let before = self.enter(child, &value);
            if room > 1 && self.descend(usize::from(child.cell), child.state, room - 1) {
                return true;
            }
            self.leave(child, before);
            self.step_back(blank, child);
        }
        false
    }

    /// The children of a node. Their look-ups are started, all before the first is used: they miss the
    /// caches.
    #[inline(always)]
    fn children(&self, blank: usize, state: u32) -> ([Child<V>; 4], usize) {
        let mut children: [Child<V>; 4] = [Child {
            state: 0,
            cell: 0,
            direction: Direction::Up,
            pattern: [NO_PATTERN; V],
            index: [0; V],
        }; 4];
        let mut count = 0;
        for (direction, state) in self.tree.pruner.moves(state) {
            let cell = self.tree.cell(blank, direction);
            let tile = self.node.board[usize::from(cell)];
            let child = &mut children[count];
            count += 1;
            (child.state, child.cell, child.direction) = (state, cell, direction);
            for v in 0..self.views() {
                let view = &self.tree.views[v];
                let p = view.pattern[usize::from(tile)];
                child.pattern[v] = p;
                if p == NO_PATTERN {
                    continue;
                }
                let p = usize::from(p) % MAX_PATTERNS;
                let byte = if PLAIN {
                    let change = view.step(&self.node.board, blank, direction, tile);
                    child.index[v] = self.node.lookups[v].index[p].wrapping_add_signed(change);
                    child.index[v]
                } else {
                    let entry = self.entry(view, p, tile, blank, cell);
                    child.index[v] = entry.index;
                    entry.byte(&self.tree.pdbs[p])
                };
                prefetch::<1, _>(self.values[p].as_ptr().wrapping_add(byte as usize));
            }
        }
        (children, count)
    }

    /// Looks a child up: its values and the lower bound on the moves left, none when it is cut off.
    #[inline(always)]
    fn judge(&mut self, blank: usize, child: &Child<V>, room: i32) -> Option<([u8; V], i32)> {
        let mut best = 0;
        let mut value = [0; V];
        for v in 0..self.views() {
            let lookup = &self.node.lookups[v];
            let mut sum = lookup.sum;
            if child.pattern[v] != NO_PATTERN {
                let p = usize::from(child.pattern[v]) % MAX_PATTERNS;
                value[v] = if PLAIN {
                    self.values[p][child.index[v] as usize]
                } else {
                    let tile = self.node.board[usize::from(child.cell)];
                    let entry = self.entry(&self.tree.views[v], p, tile, blank, child.cell);
                    entry.value(&self.tree.pdbs[p])
                };
                sum += i32::from(value[v]) - i32::from(lookup.value[p]);
            }
            if sum >= room {
                self.excess = self.excess.min(sum + 1 - room);
                return None;
            }
            best = best.max(sum);
        }
        Some((value, best))
    }

    /// Moves a tile.
    #[inline(always)]
    fn step(&mut self, blank: usize, child: &Child<V>) {
        let cell = usize::from(child.cell);
        self.slide(blank, cell, blank);
        self.path.push(child.direction);
    }

    #[inline(always)]
    fn step_back(&mut self, blank: usize, child: &Child<V>) {
        self.path.pop();
        let cell = usize::from(child.cell);
        self.slide(blank, cell, cell);
    }

    /// Exchanges blank and tile; the tile ends on cell `to`.
    #[inline(always)]
    fn slide(&mut self, blank: usize, cell: usize, to: usize) {
        self.node.board.swap(cell, blank);
        if !PLAIN {
            self.node.at[usize::from(self.node.board[to])] = to as u8;
        }
    }

    /// The entry of a pattern after a tile has moved from `cell` into the blank.
    fn entry(&self, view: &View, p: usize, tile: u8, blank: usize, cell: u8) -> Entry {
        let at = |other: u8| match other == tile {
            true => blank,
            false => usize::from(self.node.at[usize::from(other)]),
        };
        Entry::find(view, &self.tree.pdbs[p], p, at, usize::from(cell))
    }

    /// Makes a child's look-ups the current ones; returns those that they replace.
    #[inline(always)]
    fn enter(&mut self, child: &Child<V>, value: &[u8; V]) -> [(u64, u8); V] {
        let mut before = [(0, 0); V];
        for v in 0..self.views() {
            if child.pattern[v] != NO_PATTERN {
                let p = usize::from(child.pattern[v]) % MAX_PATTERNS;
                let lookup = &mut self.node.lookups[v];
                before[v] = (lookup.index[p], lookup.value[p]);
                lookup.sum += i32::from(value[v]) - i32::from(lookup.value[p]);
                (lookup.index[p], lookup.value[p]) = (child.index[v], value[v]);
            }
        }
        before
    }

    #[inline(always)]
    fn leave(&mut self, child: &Child<V>, before: [(u64, u8); V]) {
        for v in 0..self.views() {
            if child.pattern[v] != NO_PATTERN {
                let p = usize::from(child.pattern[v]) % MAX_PATTERNS;
                let lookup = &mut self.node.lookups[v];
                lookup.sum += i32::from(before[v].1) - i32::from(lookup.value[p]);
                (lookup.index[p], lookup.value[p]) = before[v];
            }
        }
    }
}
