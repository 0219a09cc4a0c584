//! Iterative-deepening A* over additive pattern databases.
//!
//! Source: R. E. Korf, Depth-first iterative-deepening, AIJ 27 (1985); R. E. Korf and A. Felner, Disjoint
//! pattern database heuristics, AIJ 134 (2002); reflections: J. Culberson and J. Schaeffer 1998.
//!
//! Invariant: all solutions shorter than the limit of an iteration are excluded by the iterations before
//! it, whoever carried them out. So a search can pause between two iterations, and go on with more threads.

use super::fsm::MoveMachine;
use super::heuristic::{MAX_CELLS, PatternSet, View, views};
use super::split;
use super::walk::{Control, MAX_PATTERNS, MAX_VIEWS, Walk};
use crate::puzzle::tiles::{Board, Direction, Moves};

/// An iteration of at least so many nodes (some 20 ms) is followed by iterations that are split between
/// threads.
const SPLIT_FROM: u64 = 1 << 18;

/// Where an iteration starts: its limit, and what was spent before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stage {
    /// All shorter solutions are excluded.
    pub limit: usize,
    /// Nodes generated so far.
    pub nodes: u64,
    /// Nodes of the iteration before.
    last: u64,
}

/// What ended a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A shortest solution.
    Solved(Moves),
    /// The observer's word came first.
    Stopped,
    /// The next iteration is worth more than one thread.
    Paused,
}

/// A solver for boards with one goal, ready to be shared by threads.
pub(super) struct Ida<'a> {
    pub(super) goal: Board,
    pub(super) set: PatternSet<'a>,
    pub(super) views: Vec<View>,
    pub(super) machine: MoveMachine,
    /// Goal cell of each tile.
    pub(super) name: Vec<u8>,
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
    pub(super) fn cell(&self, blank: usize, direction: Direction) -> u8 {
        self.cells[blank][direction as usize]
    }

    /// Returns the number of symmetric look-ups per node.
    pub fn views(&self) -> usize {
        self.views.len()
    }

    /// Searches for a shortest solution of a board that can reach the goal (parity is the caller's
    /// business), from the beginning or from a stage; returns what ended the search, and the stage then.
    ///
    /// With `split`, iterations that are worth it are split between the threads of the current pool;
    /// without, the search pauses before the first of them. Solution and nodes are the same for any
    /// number of threads.
    ///
    /// `stop` is asked every few thousand nodes with the number of nodes so far.
    ///
    /// # Panics
    /// When the board has another size than the goal.
    pub fn solve(
        &self,
        board: &Board,
        from: Option<Stage>,
        split: bool,
        stop: &(dyn Fn(u64) -> bool + Sync),
    ) -> (End, Stage) {
        assert_eq!(board.size(), self.goal.size());
        match self.views.len() {
            1 => self.iterate::<1>(board, from, split, stop),
            2 => self.iterate::<2>(board, from, split, stop),
            _ => self.iterate::<MAX_VIEWS>(board, from, split, stop),
        }
    }

    fn iterate<const V: usize>(
        &self,
        board: &Board,
        from: Option<Stage>,
        split: bool,
        stop: &(dyn Fn(u64) -> bool + Sync),
    ) -> (End, Stage) {
        let mut control = Control::new(stop, from.map_or(0, |stage| stage.nodes));
        let root = Walk::<V>::new(self, board, &control).root();
        let mut stage = from.unwrap_or(Stage {
            limit: root.estimate() as usize,
            nodes: 0,
            last: 0,
        });
        if self.is_goal(&root.board) {
            return (End::Solved(Moves::default()), stage);
        }
        loop {
            let large = stage.last >= SPLIT_FROM;
            if large && !split {
                return (End::Paused, stage);
            }
            let limit = stage.limit as i32;
            let pass = if large {
                split::pass(self, &root, limit, &control)
            } else {
                let mut walk = Walk::resume(self, &root, &[], &control, 0);
                walk.pass(limit)
            };
            stage.nodes += pass.nodes;
            stage.last = pass.nodes;
            if let Some(path) = pass.solution {
                return (End::Solved(Moves(path)), stage);
            }
            if pass.stopped || pass.excess == i32::MAX {
                return (End::Stopped, stage);
            }
            stage.limit += pass.excess as usize;
            control = Control::new(stop, stage.nodes);
        }
    }

    /// Returns whether all tiles (named by their goal cells) are home.
    pub(super) fn is_goal(&self, board: &[u8; MAX_CELLS]) -> bool {
        let cells = self.goal.size().cells();
        let mut named = board[..cells].iter().enumerate();
        named.all(|(cell, &name)| usize::from(name) == cell)
    }
}
