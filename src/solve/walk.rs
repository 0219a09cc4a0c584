//! The depth-first walk of an iteration: from a node down to the limit.
//!
//! Invariant: a node's indices and sums are exact for its board; every change on the way down is undone
//! on the way up.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::heuristic::{MAX_CELLS, NO_PATTERN};
use super::ida::Ida;
use crate::puzzle::tiles::{Board, Direction};
use crate::store::prefetch;

/// Most patterns of a set.
pub(super) const MAX_PATTERNS: usize = 8;
/// Most symmetries of a board.
pub(super) const MAX_VIEWS: usize = 8;
/// How often a walk asks whether to stop.
const ASK_EVERY: u64 = 1 << 14;

/// What the walks of one iteration share.
pub(super) struct Control<'c> {
    stop: &'c (dyn Fn(u64) -> bool + Sync),
    nodes: AtomicU64,
    stopped: AtomicBool,
    /// The first subtree, in the order of a walk through all, that is known to hold a solution.
    solved: AtomicUsize,
}

impl<'c> Control<'c> {
    /// Returns the control of an iteration before which some nodes were generated.
    pub fn new(stop: &'c (dyn Fn(u64) -> bool + Sync), nodes: u64) -> Control<'c> {
        Control {
            stop,
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
        if (self.stop)(nodes) {
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
struct Sight {
    /// Index of each pattern.
    index: [u32; MAX_PATTERNS],
    /// Value of each pattern.
    value: [u8; MAX_PATTERNS],
    /// Their sum.
    sum: i32,
}

/// A node: a board, and what is known of it. V views are looked through (of a board with more: all).
#[derive(Clone, Copy)]
pub(super) struct Node<const V: usize> {
    /// The tile of each cell, named by its goal cell.
    pub board: [u8; MAX_CELLS],
    blank: u8,
    state: u32,
    sights: [Sight; V],
}

impl<const V: usize> Node<V> {
    /// Returns the lower bound on the moves left.
    pub fn estimate(&self) -> i32 {
        self.sights.iter().map(|sight| sight.sum).max().unwrap_or(0)
    }
}

/// A subtree that is left to walk: its node and the way there.
pub(super) type Subtree<const V: usize> = (Node<V>, Vec<Direction>);

/// A depth-first walk.
pub(super) struct Walk<'w, const V: usize> {
    ida: &'w Ida<'w>,
    control: &'w Control<'w>,
    /// Place of the subtree in the order of a walk through all.
    subtree: usize,
    values: [&'w [u8]; MAX_PATTERNS],
    node: Node<V>,
    path: Vec<Direction>,
    nodes: u64,
    asked_at: u64,
    stopped: bool,
    excess: i32,
}

/// A move to a child, its look-ups under way.
#[derive(Clone, Copy)]
struct Child<const V: usize> {
    state: u32,
    cell: u8,
    direction: Direction,
    pattern: [u8; V],
    index: [u32; V],
}

impl<'w, const V: usize> Walk<'w, V> {
    /// Returns the walk from a board.
    pub fn new(ida: &'w Ida<'w>, board: &Board, control: &'w Control<'w>) -> Walk<'w, V> {
        let name = |&tile: &u16| ida.name[usize::from(tile)];
        let names: Vec<u8> = board.tiles().iter().map(name).collect();
        let mut cells = [0; MAX_CELLS];
        cells[..names.len()].copy_from_slice(&names);
        let root = Node {
            board: cells,
            blank: board.blank() as u8,
            state: ida.machine.start(board.blank()),
            sights: [Sight::default(); V],
        };
        let mut walk = Walk::resume(ida, &root, &[], control, 0);
        for (sight, view) in walk.node.sights.iter_mut().zip(&ida.views) {
            for p in 0..ida.set.patterns.len() {
                sight.index[p] = view.index(&ida.set, p, &names);
                sight.value[p] = walk.values[p][sight.index[p] as usize];
                sight.sum += i32::from(sight.value[p]);
            }
        }
        walk
    }

    /// Returns the walk from a node, to which a path has led.
    pub fn resume(
        ida: &'w Ida<'w>,
        node: &Node<V>,
        path: &[Direction],
        control: &'w Control<'w>,
        subtree: usize,
    ) -> Walk<'w, V> {
        let mut values: [&[u8]; MAX_PATTERNS] = [&[]; MAX_PATTERNS];
        for (values, pattern) in values.iter_mut().zip(&ida.set.patterns) {
            *values = pattern.values;
        }
        Walk {
            ida,
            control,
            subtree,
            values,
            node: *node,
            path: path.to_vec(),
            nodes: 0,
            asked_at: 0,
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
            self.ida.views.len()
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
            let Some((value, _)) = self.judge(child, room) else {
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
        if self.nodes >= self.asked_at + ASK_EVERY {
            self.stopped |= self.control.ask(self.nodes - self.asked_at, self.subtree);
            self.asked_at = self.nodes;
        }
        if self.stopped {
            return false;
        }
        for child in &children[..count] {
            let Some((value, best)) = self.judge(child, room) else {
                continue;
            };
            self.step(blank, child);
            if best == 0 && self.ida.is_goal(&self.node.board) {
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
        for (direction, state) in self.ida.machine.moves(state) {
            let cell = self.ida.cell(blank, direction);
            let tile = self.node.board[usize::from(cell)];
            let child = &mut children[count];
            count += 1;
            (child.state, child.cell, child.direction) = (state, cell, direction);
            for v in 0..self.views() {
                let view = &self.ida.views[v];
                let p = view.pattern[usize::from(tile)];
                child.pattern[v] = p;
                if p != NO_PATTERN {
                    let change = view.change(&self.node.board, blank, direction, tile);
                    let p = usize::from(p) % MAX_PATTERNS;
                    child.index[v] = self.node.sights[v].index[p].wrapping_add_signed(change);
                    prefetch(self.values[p], child.index[v] as usize);
                }
            }
        }
        (children, count)
    }

    /// Looks a child up: its values and the lower bound on the moves left, none when it is cut off.
    #[inline(always)]
    fn judge(&mut self, child: &Child<V>, room: i32) -> Option<([u8; V], i32)> {
        let mut best = 0;
        let mut value = [0; V];
        for v in 0..self.views() {
            let sight = &self.node.sights[v];
            let mut sum = sight.sum;
            if child.pattern[v] != NO_PATTERN {
                let p = usize::from(child.pattern[v]) % MAX_PATTERNS;
                value[v] = self.values[p][child.index[v] as usize];
                sum += i32::from(value[v]) - i32::from(sight.value[p]);
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
        self.node.board.swap(cell, blank);
        self.path.push(child.direction);
    }

    #[inline(always)]
    fn step_back(&mut self, blank: usize, child: &Child<V>) {
        self.path.pop();
        self.node.board.swap(usize::from(child.cell), blank);
    }

    /// Makes a child's look-ups the current ones; returns those that they replace.
    #[inline(always)]
    fn enter(&mut self, child: &Child<V>, value: &[u8; V]) -> [(u32, u8); V] {
        let mut before = [(0, 0); V];
        for v in 0..self.views() {
            if child.pattern[v] != NO_PATTERN {
                let p = usize::from(child.pattern[v]) % MAX_PATTERNS;
                let sight = &mut self.node.sights[v];
                before[v] = (sight.index[p], sight.value[p]);
                sight.sum += i32::from(value[v]) - i32::from(sight.value[p]);
                (sight.index[p], sight.value[p]) = (child.index[v], value[v]);
            }
        }
        before
    }

    #[inline(always)]
    fn leave(&mut self, child: &Child<V>, before: [(u32, u8); V]) {
        for v in 0..self.views() {
            if child.pattern[v] != NO_PATTERN {
                let p = usize::from(child.pattern[v]) % MAX_PATTERNS;
                let sight = &mut self.node.sights[v];
                sight.sum += i32::from(before[v].1) - i32::from(sight.value[p]);
                (sight.index[p], sight.value[p]) = before[v];
            }
        }
    }
}
