//! Iterative-deepening A* over additive pattern databases.
//!
//! Source: R. E. Korf, Depth-first iterative-deepening, AIJ 27 (1985); R. E. Korf and A. Felner, Disjoint
//! pattern database heuristics, AIJ 134 (2002); reflections: J. Culberson and J. Schaeffer 1998.
//!
//! Invariant: a node's indices and sums are exact for its board; every change on the way down is undone
//! on the way up.

use super::fsm::MoveMachine;
use super::heuristic::{MAX_CELLS, NO_PATTERN, PatternSet, View, views};
use crate::puzzle::tiles::{Board, Direction, Moves};
use crate::store::prefetch;

/// Most patterns of a set.
const MAX_PATTERNS: usize = 8;
/// Most symmetries of a board.
const MAX_VIEWS: usize = 8;

/// What ended a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A shortest solution.
    Solved(Moves),
    /// The limit of nodes or the observer's word came first; the solution is at least this long.
    Stopped {
        /// All shorter solutions are excluded.
        at_least: usize,
    },
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Search {
    /// What ended it.
    pub end: End,
    /// Nodes generated.
    pub nodes: u64,
}

/// A solver for boards with one goal, ready to be shared by threads.
pub(super) struct Ida<'a> {
    goal: Board,
    set: PatternSet<'a>,
    views: Vec<View>,
    machine: MoveMachine,
    /// Goal cell of each tile.
    name: Vec<u8>,
    /// For each blank cell and direction the cell of the tile that moves.
    cells: Vec<[u8; 4]>,
}

impl<'a> Ida<'a> {
    /// Returns the solver, or `None` when the set has no symmetric image with the goal's blank, too many
    /// patterns or too many cells.
    pub fn new(goal: &Board, set: PatternSet<'a>, machine: MoveMachine) -> Option<Ida<'a>> {
        if set.patterns.len() > MAX_PATTERNS || goal.size().cells() > MAX_CELLS {
            return None;
        }
        let views = views(goal, &set);
        if views.is_empty() || views.len() > MAX_VIEWS {
            return None;
        }
        let mut name = vec![0; goal.size().cells()];
        for (cell, &tile) in goal.tiles().iter().enumerate() {
            name[usize::from(tile)] = cell as u8;
        }
        let cell = |blank, d: Direction| d.tile_cell(goal.size(), blank).unwrap_or(blank) as u8;
        let cells = (0..name.len())
            .map(|blank| Direction::ALL.map(|d| cell(blank, d)))
            .collect();
        Some(Ida {
            goal: goal.clone(),
            set,
            views,
            machine,
            name,
            cells,
        })
    }

    #[inline(always)]
    fn cell(&self, blank: usize, direction: Direction) -> u8 {
        self.cells[blank][direction as usize]
    }

    /// Returns the number of symmetric look-ups per node.
    pub fn views(&self) -> usize {
        self.views.len()
    }

    /// Returns a shortest solution of a board that can reach the goal (parity is the caller's business).
    ///
    /// `stop` is asked every few thousand nodes with the number of nodes so far.
    ///
    /// # Panics
    /// When the board has another size than the goal.
    pub fn solve(&self, board: &Board, stop: &dyn Fn(u64) -> bool) -> Search {
        assert_eq!(board.size(), self.goal.size());
        match self.views.len() {
            1 => Walk::<1>::new(self, board, stop).solve(),
            2 => Walk::<2>::new(self, board, stop).solve(),
            _ => Walk::<MAX_VIEWS>::new(self, board, stop).solve(),
        }
    }
}

/// How often `stop` is asked.
const ASK_EVERY: u64 = 1 << 14;

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

/// A depth-first walk through V views (of a board with more: through all of them).
struct Walk<'w, const V: usize> {
    ida: &'w Ida<'w>,
    stop: &'w dyn Fn(u64) -> bool,
    values: [&'w [u8]; MAX_PATTERNS],
    board: [u8; MAX_CELLS],
    sights: [Sight; V],
    path: Vec<Direction>,
    nodes: u64,
    ask_at: u64,
    stopped: bool,
    /// By how much the closest node that was cut off exceeds the limit.
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
    fn new(ida: &'w Ida<'w>, board: &Board, stop: &'w dyn Fn(u64) -> bool) -> Walk<'w, V> {
        let names: Vec<u8> = board
            .tiles()
            .iter()
            .map(|&tile| ida.name[usize::from(tile)])
            .collect();
        let mut values: [&[u8]; MAX_PATTERNS] = [&[]; MAX_PATTERNS];
        for (values, pattern) in values.iter_mut().zip(&ida.set.patterns) {
            *values = pattern.values;
        }
        let mut sights = [Sight::default(); V];
        for (sight, view) in sights.iter_mut().zip(&ida.views) {
            for p in 0..ida.set.patterns.len() {
                sight.index[p] = view.index(&ida.set, p, &names);
                sight.value[p] = values[p][sight.index[p] as usize];
                sight.sum += i32::from(sight.value[p]);
            }
        }
        let mut cells = [0; MAX_CELLS];
        cells[..names.len()].copy_from_slice(&names);
        Walk {
            ida,
            stop,
            values,
            board: cells,
            sights,
            path: Vec::new(),
            nodes: 0,
            ask_at: ASK_EVERY,
            stopped: false,
            excess: i32::MAX,
        }
    }

    #[inline(always)]
    fn views(&self) -> usize {
        if V == MAX_VIEWS {
            self.ida.views.len()
        } else {
            V
        }
    }

    fn solve(mut self) -> Search {
        let cells = self.ida.goal.size().cells();
        let blank_name = self.ida.goal.blank() as u8;
        let blank = self.board[..cells]
            .iter()
            .position(|&n| n == blank_name)
            .unwrap_or(0);
        let state = self.ida.machine.start(blank);
        let mut limit = self.sights.iter().map(|sight| sight.sum).max().unwrap_or(0);
        if self.solved() {
            return Search {
                end: End::Solved(Moves::default()),
                nodes: 0,
            };
        }
        loop {
            self.excess = i32::MAX;
            if self.descend(blank, state, limit) {
                return Search {
                    end: End::Solved(Moves(self.path)),
                    nodes: self.nodes,
                };
            }
            if self.stopped || self.excess == i32::MAX {
                return Search {
                    end: End::Stopped {
                        at_least: limit as usize,
                    },
                    nodes: self.nodes,
                };
            }
            limit += self.excess;
        }
    }

    fn solved(&self) -> bool {
        let cells = self.ida.goal.size().cells();
        self.board[..cells]
            .iter()
            .enumerate()
            .all(|(cell, &name)| usize::from(name) == cell)
    }

    /// Searches the subtree of the current node for a solution of at most `room` moves; on success the
    /// path leads to it.
    fn descend(&mut self, blank: usize, state: u32, room: i32) -> bool {
        let blank_name = self.board[blank];
        let mut children: [Child<V>; 4] = [Child {
            state: 0,
            cell: 0,
            direction: Direction::Up,
            pattern: [NO_PATTERN; V],
            index: [0; V],
        }; 4];
        let mut count = 0;
        // First start the look-ups of all children, then use them: they miss the caches.
        for (direction, state) in self.ida.machine.moves(state) {
            let cell = self.ida.cell(blank, direction);
            let tile = self.board[usize::from(cell)];
            let child = &mut children[count];
            count += 1;
            (child.state, child.cell, child.direction) = (state, cell, direction);
            for v in 0..self.views() {
                let view = &self.ida.views[v];
                let p = view.pattern[usize::from(tile)];
                child.pattern[v] = p;
                if p != NO_PATTERN {
                    let change = view.change(&self.board, blank, direction, tile);
                    let p = usize::from(p) % MAX_PATTERNS;
                    child.index[v] = self.sights[v].index[p].wrapping_add_signed(change);
                    prefetch(self.values[p], child.index[v] as usize);
                }
            }
        }
        self.nodes += count as u64;
        if self.nodes >= self.ask_at {
            self.ask_at = self.nodes + ASK_EVERY;
            self.stopped |= (self.stop)(self.nodes);
        }
        if self.stopped {
            return false;
        }
        'children: for child in &children[..count] {
            let mut best = 0;
            let mut value = [0; V];
            for v in 0..self.views() {
                let sight = &self.sights[v];
                let mut sum = sight.sum;
                if child.pattern[v] != NO_PATTERN {
                    let p = usize::from(child.pattern[v]) % MAX_PATTERNS;
                    value[v] = self.values[p][child.index[v] as usize];
                    sum += i32::from(value[v]) - i32::from(sight.value[p]);
                }
                if sum >= room {
                    self.excess = self.excess.min(sum + 1 - room);
                    continue 'children;
                }
                best = best.max(sum);
            }
            let cell = usize::from(child.cell);
            let tile = self.board[cell];
            self.board[blank] = tile;
            self.board[cell] = blank_name;
            self.path.push(child.direction);
            if best == 0 && self.solved() {
                return true;
            }
            let before = self.enter(child, &value);
            if room > 1 && self.descend(cell, child.state, room - 1) {
                return true;
            }
            self.leave(child, before);
            self.path.pop();
            self.board[cell] = tile;
            self.board[blank] = blank_name;
        }
        false
    }

    /// Makes a child's look-ups the current ones; returns those that they replace.
    #[inline(always)]
    fn enter(&mut self, child: &Child<V>, value: &[u8; V]) -> [(u32, u8); V] {
        let mut before = [(0, 0); V];
        for v in 0..self.views() {
            if child.pattern[v] != NO_PATTERN {
                let p = usize::from(child.pattern[v]) % MAX_PATTERNS;
                let sight = &mut self.sights[v];
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
                let sight = &mut self.sights[v];
                sight.sum += i32::from(before[v].1) - i32::from(sight.value[p]);
                (sight.index[p], sight.value[p]) = before[v];
            }
        }
    }
}
