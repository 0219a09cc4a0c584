//! Iterative-deepening A* over additive pattern databases.
//!
//! Source: R. E. Korf, Depth-first iterative-deepening, AIJ 27 (1985); R. E. Korf and A. Felner, Disjoint
//! pattern database heuristics, AIJ 134 (2002); reflections: J. Culberson and J. Schaeffer 1998.
//!
//! Invariant: all solutions shorter than the limit of an iteration are excluded by the iterations before
//! it, whoever carried them out. So a search can pause between two iterations, and go on with more threads.

use super::bit_tables::BitTables;
use super::control::{Alone, Control, Dealer, Observers};
use super::record::{Cut, NoRecorder, Stage};
use super::split::{self, Way};
use super::tree::{MAX_VIEWS, Tree};
use super::walk::Walk;
use crate::pdb::Pdb;
use crate::progress::{NoProgress, Progress};
use crate::puzzle::tiles::{Board, Moves};
use crate::store;

/// Bytes of databases for each node of an iteration from which on they are arranged for the next one, which has some
/// seven times the nodes: arranging a byte takes about as long as a walk saves at a tenth of a node.
const ARRANGE_FROM: u64 = 64;

/// Where a search goes on: a stage, what has been done of its iteration, and of the one before.
#[derive(Default)]
pub(super) struct Start {
    pub stage: Stage,
    pub cut: Cut,
    pub before: Cut,
}

/// Who shares the iterations that are worth more than one thread.
#[derive(Clone, Copy)]
pub(super) enum Split<'d> {
    /// The threads of the current pool.
    Threads,
    /// These of several processes.
    Processes(&'d dyn Dealer),
}

/// What ended a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A shortest solution.
    Solved(Moves),
    /// The observer's word came first.
    Stopped,
    /// The next iteration is worth more than one thread; what has been done of the one before.
    Paused(Cut),
    /// The tree ended without a solution, and nobody stopped the search.
    Exhausted,
}

impl Tree {
    /// Searches for a shortest solution of a board that can reach the goal (parity is the caller's
    /// business), from the beginning or from a stage; returns what ended the search, and the stage then.
    ///
    /// With `split`, iterations that are worth it are split between the threads of the current pool, or of many;
    /// without, the search pauses before the first of them. Solution and nodes are the same for any
    /// number of threads and processes.
    ///
    /// The first observer is told the nodes so far, and asked whether to stop, every few thousand nodes; the second is told
    /// what need not be done again.
    ///
    /// # Panics
    /// When the board has another size than the goal.
    pub fn solve(
        &self,
        board: &Board,
        from: Option<Start>,
        split: Option<Split<'_>>,
        observers: Observers<'_>,
    ) -> (End, Stage) {
        assert_eq!(board.size(), self.goal.size());
        match (self.views.len(), self.is_plain()) {
            (1, true) => self.iterate::<1, true>(board, from, split, observers),
            (2, true) => self.iterate::<2, true>(board, from, split, observers),
            (3..=4, true) => self.iterate::<4, true>(board, from, split, observers),
            (_, true) => self.iterate::<MAX_VIEWS, true>(board, from, split, observers),
            (1, false) => self.iterate::<1, false>(board, from, split, observers),
            (2, false) => self.iterate::<2, false>(board, from, split, observers),
            (3..=4, false) => self.iterate::<4, false>(board, from, split, observers),
            (5..=8, false) => self.iterate::<8, false>(board, from, split, observers),
            (_, false) => self.iterate::<MAX_VIEWS, false>(board, from, split, observers),
        }
    }

    /// Returns the bytes of all databases.
    fn bytes(&self) -> u64 {
        let mut pdbs: Vec<&Pdb> = self.databases().map(|database| &*database.pdb).collect();
        pdbs.sort_by_key(|&pdb| std::ptr::from_ref(pdb));
        pdbs.dedup_by_key(|&mut pdb| std::ptr::from_ref(pdb));
        pdbs.iter().map(|pdb| pdb.file_bytes()).sum()
    }

    /// Arranges databases of one bit an entry for long searches where the memory has room for all.
    pub(super) fn arrange(&self, progress: &dyn Progress) {
        if self.copies && self.bytes() <= store::budget() {
            self.databases()
                .for_each(|database| database.arrange(progress));
        }
    }

    /// Returns the lower bound on the moves of a board that a search begins with.
    pub fn estimate(&self, board: &Board) -> usize {
        let alone = Alone::default();
        let control = Control::new((&NoProgress, &NoRecorder), &alone, (0, 0));
        let root = Walk::<MAX_VIEWS, false>::new(self, board, &control).root();
        self.at_least(board, root.estimate(self) as usize)
    }

    fn iterate<const V: usize, const PLAIN: bool>(
        &self,
        board: &Board,
        from: Option<Start>,
        split: Option<Split<'_>>,
        observers: Observers<'_>,
    ) -> (End, Stage) {
        let alone = Alone::default();
        let control = Control::new(observers, &alone, (0, 0));
        let root = Walk::<V, PLAIN>::new(self, board, &control).root();
        let threshold = || Stage {
            threshold: self.at_least(board, root.estimate(self) as usize),
            ..Stage::default()
        };
        let Start {
            mut stage,
            mut cut,
            mut before,
        } = from.unwrap_or_else(|| Start {
            stage: threshold(),
            ..Start::default()
        });
        if self.is_goal(&root.board) {
            return (End::Solved(Moves::default()), stage);
        }
        let mut bits = BitTables::new(self).filter(|_| !PLAIN);
        loop {
            let large = stage.last >= self.split_from;
            let dealer = match (large, split) {
                (true, None) => return (End::Paused(before), stage),
                (true, Some(Split::Processes(dealer))) => dealer,
                _ => &Alone::default(),
            };
            let known: u64 = cut.walked.iter().map(|walked| walked.nodes).sum();
            let nodes = stage.nodes + known;
            let control = Control::new(observers, dealer, (stage.threshold, nodes));
            if large && !PLAIN && stage.last >= self.bytes() / ARRANGE_FROM {
                self.arrange(observers.0);
                bits = BitTables::new(self);
            }
            let way = Way::<V, PLAIN>::new(self, bits.as_ref(), &control);
            let threads = if large {
                rayon::current_num_threads()
            } else {
                1
            };
            let how = (split::worth(stage.last), threads);
            let known = (std::mem::take(&mut cut), &before);
            let (pass, done) = split::pass(&way, &root, stage.threshold, how, known);
            before = done;
            stage.nodes += pass.nodes;
            stage.last = pass.nodes;
            if let Some(path) = pass.solution {
                return (End::Solved(Moves(path)), stage);
            }
            if pass.stopped {
                return (End::Stopped, stage);
            }
            if pass.excess == i32::MAX {
                return (End::Exhausted, stage);
            }
            stage.threshold = self.at_least(board, stage.threshold + pass.excess as usize);
            if large {
                observers.1.iteration(stage);
            }
        }
    }
}
