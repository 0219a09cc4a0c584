//! Iterative-deepening A* over additive pattern databases.
//!
//! Source: R. E. Korf, Depth-first iterative-deepening, AIJ 27 (1985); R. E. Korf and A. Felner, Disjoint
//! pattern database heuristics, AIJ 134 (2002); reflections: J. Culberson and J. Schaeffer 1998.
//!
//! Invariant: all solutions shorter than the limit of an iteration are excluded by the iterations before
//! it, whoever carried them out. So a search can pause between two iterations, and go on with more threads.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::pdb::Pdb;
use crate::progress::{NoProgress, Progress};
use crate::puzzle::{Board, Direction, Moves};
use crate::search::Share;
use crate::solve::bit_walk::BitWalk;
use crate::solve::control::{
    Control, Cut, NoRecorder, Observers, Stage, SubtreeResult, SubtreeSplit, WalkResult,
};
use crate::solve::tree::{BitTables, MAX_VIEWS, Tree};
use crate::solve::walk::{Subtree, Walk, WalkNode};
use crate::store;

/// Bytes of databases for each node of an iteration from which on they are arranged for the next one, which has some
/// seven times the nodes: arranging a byte takes about as long as a walk saves at a tenth of a node.
const ARRANGE_FROM: u64 = 64;

/// Where a search goes on: a stage, what has been done of its iteration, and of the one before.
#[derive(Default)]
pub(crate) struct Resumption {
    pub stage: Stage,
    pub cut: Cut,
    pub before: Cut,
}

/// What ended a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
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
    /// With `split`, iterations that are worth it are split between the threads of the current pool, and the ranks that
    /// share; without, the search pauses before the first of them. Solution and nodes are the same for any
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
        from: Option<Resumption>,
        split: Option<&Share<SubtreeResult>>,
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
    pub(crate) fn arrange(&self, progress: &dyn Progress) {
        if self.copies && self.bytes() <= store::budget() {
            self.databases().for_each(|database| database.arrange(progress));
        }
    }

    /// Returns the lower bound on the moves of a board that a search begins with.
    pub fn estimate(&self, board: &Board) -> usize {
        let alone = Share::alone();
        let control = Control::new((&NoProgress, &NoRecorder), &alone, 0, 0);
        let root = Walk::<MAX_VIEWS, false>::new(self, board, &control).root();
        self.at_least(board, root.estimate(self) as usize)
    }

    fn iterate<const V: usize, const PLAIN: bool>(
        &self,
        board: &Board,
        from: Option<Resumption>,
        split: Option<&Share<SubtreeResult>>,
        observers: Observers<'_>,
    ) -> (End, Stage) {
        let alone = Share::alone();
        let control = Control::new(observers, &alone, 0, 0);
        let root = Walk::<V, PLAIN>::new(self, board, &control).root();
        let threshold = || Stage {
            threshold: self.at_least(board, root.estimate(self) as usize),
            ..Stage::default()
        };
        let Resumption { mut stage, mut cut, mut before } =
            from.unwrap_or_else(|| Resumption { stage: threshold(), ..Resumption::default() });
        if self.is_goal(&root.board) {
            return (End::Solved(Moves::default()), stage);
        }
        let mut bits = BitTables::new(self).filter(|_| !PLAIN);
        loop {
            let large = stage.last >= self.split_from;
            let share = match (large, split) {
                (true, None) => return (End::Paused(before), stage),
                (true, Some(share)) => share,
                (false, _) => &Share::alone(),
            };
            let known: u64 = cut.walked.iter().map(|walked| walked.nodes).sum();
            let nodes = stage.nodes + known;
            let control = Control::new(observers, share, stage.threshold, nodes);
            if large && !PLAIN && stage.last >= self.bytes() / ARRANGE_FROM {
                self.arrange(observers.0);
                bits = BitTables::new(self);
            }
            let way = WalkKind::<V, PLAIN>::new(self, bits.as_ref(), &control);
            let (pass, done) = pass(&way, &root, stage.last, std::mem::take(&mut cut), &before);
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

// One iteration in pieces: the tree is split below the root, and threads of all processes take subtrees, those first in
// which the iteration before came closest to the goal.
//
// Where a walk comes close with a few moves less, a solution is likely with a few more: mostly it is in one of the first
// subtrees, so that what the last iteration costs is little beside those before it.
//
// Source: C. Powley and R. E. Korf, Single-agent parallel window search, IEEE PAMI 13 (1991), which orders nodes so.
//
// Invariant: the order depends on the iteration before alone, and every subtree before the first one with a solution is
// walked through completely. So the solution and the number of nodes are those of a single thread, whatever the number of
// threads and processes.

/// Nodes of an iteration for each subtree that the next one is split into at least; fewest and most subtrees to ask for: so
/// many that the largest do not keep one thread busy at the end, and that the first ones are little beside all.
const NODES: u64 = 64;

const SUBTREES: [u64; 2] = [4, 1 << 14];

/// Returns how many subtrees an iteration is worth after one with so many nodes, 0 for none.
pub(crate) fn worth(nodes: u64) -> usize {
    let [least, most] = SUBTREES;
    match nodes / NODES {
        few if few < least => 0,
        many => many.min(most) as usize,
    }
}

/// How a tree is walked through.
pub(crate) struct WalkKind<'w, const V: usize, const PLAIN: bool> {
    tree: &'w Tree,
    control: &'w Control<'w>,
    /// Where all databases have one bit an entry.
    bits: Option<&'w BitTables<'w, V>>,
}

impl<'w, const V: usize, const PLAIN: bool> WalkKind<'w, V, PLAIN> {
    /// Returns the fastest way through a tree.
    pub fn new(
        tree: &'w Tree,
        bits: Option<&'w BitTables<'w, V>>,
        control: &'w Control<'w>,
    ) -> WalkKind<'w, V, PLAIN> {
        WalkKind { tree, control, bits }
    }

    /// Walks through the subtree at a place for solutions of `limit` moves.
    pub fn walk(&self, (node, path): &Subtree<V>, limit: i32, place: usize) -> WalkResult {
        let room = limit - path.len() as i32;
        let Some(bits) = self.bits else {
            return self.resume(node, path, place).pass(room);
        };
        let mut pass = BitWalk::new(bits, node, room, self.control, place).pass();
        let solution = pass.solution.take();
        pass.solution = solution.map(|moves| [&path[..], &moves].concat());
        pass
    }

    /// Returns the subtrees at a depth, in the order of their moves, and what is above them.
    fn cut(&self, root: &WalkNode<V>, depth: usize, limit: usize) -> (Vec<Subtree<V>>, WalkResult) {
        self.resume(root, &[], 0).spread(depth, limit as i32)
    }

    fn resume(&self, node: &WalkNode<V>, path: &[Direction], place: usize) -> Walk<'w, V, PLAIN> {
        Walk::resume(self.tree, node, path, self.control, place)
    }

    /// Returns the numbers of subtrees in the order in which to walk through them: by the moves that the iteration before had
    /// left where it came closest to the goal in the same or the surrounding subtree; those last where it never was.
    fn order(&self, root: &WalkNode<V>, subtrees: &[Subtree<V>], before: &Cut) -> Vec<usize> {
        let mut order: Vec<usize> = (0..subtrees.len()).collect();
        let SubtreeSplit { threshold, depth, .. } = before.pieces;
        let (Some((_, path)), true) = (subtrees.first(), before.is_whole()) else {
            return order;
        };
        let common = path.len().min(depth as usize);
        let (theirs, _) = self.cut(root, depth as usize, threshold);
        let mut least: BTreeMap<&[Direction], u32> = BTreeMap::new();
        for walked in &before.walked {
            if let Some((_, path)) = theirs.get(walked.subtree as usize) {
                let least = least.entry(&path[..common]).or_insert(walked.left);
                *least = walked.left.min(*least);
            }
        }
        let left = |&i: &usize| least.get(&subtrees[i].1[..common]).copied();
        order.sort_by_cached_key(|i| left(i).unwrap_or(u32::MAX));
        order
    }
}

/// Walks through the tree below a node for solutions of as many moves as the iteration allows, there being none of fewer;
/// `last` are the nodes of the iteration before, which say how many subtrees are wanted at least, and whether all threads
/// of the current pool work or this one alone. Subtrees that were walked through before are not again: `done` is what is
/// done of this iteration, `before` of the one before. Returns what is done of this one in the end.
pub(crate) fn pass<const V: usize, const PLAIN: bool>(
    way: &WalkKind<'_, V, PLAIN>,
    root: &WalkNode<V>,
    last: u64,
    done: Cut,
    before: &Cut,
) -> (WalkResult, Cut) {
    let (limit, wanted) = (way.control.limit, worth(last));
    let large = last >= way.tree.split_from;
    let (mut subtrees, mut above, mut depth) = (Vec::new(), None, 0);
    // The goal is not among the nodes above the subtrees: it is `limit` moves away.
    while depth + 1 < limit && subtrees.len() < wanted {
        depth += 1;
        let (found, pass) = way.cut(root, depth, limit);
        let none = found.is_empty();
        (subtrees, above) = (found, Some(pass));
        if none {
            break;
        }
    }
    let Some(mut whole) = above else {
        let pass = way.walk(&(*root, Vec::new()), limit as i32, 0);
        return (pass, Cut::default());
    };
    let pieces =
        SubtreeSplit { threshold: limit, depth: depth as u32, subtrees: subtrees.len() as u32 };
    // What was cut another way says nothing.
    let known = done.walked.into_iter();
    let known = known.filter(|walked| done.pieces == pieces && walked.subtree < pieces.subtrees);
    let mut passes: BTreeMap<usize, WalkResult> =
        known.map(|walked| (walked.subtree as usize, walked.into())).collect();
    let order = way.order(root, &subtrees, before);
    let left = order.iter().copied().filter(|i| !passes.contains_key(i));
    let left: Vec<usize> = left.collect();
    let (control, share) = (way.control, way.control.share);
    share.begin(left.len());
    control.everywhere(whole.nodes);
    let work = || {
        while let Some(place) = share.next() {
            let subtree = left[place];
            let pass = way.walk(&subtrees[subtree], limit as i32, place);
            control.done(place, (pieces, subtree, pass));
        }
    };
    match large {
        true => (0..rayon::current_num_threads()).into_par_iter().for_each(|_| work()),
        false => work(),
    }
    let (walked, stopped) = share.end();
    passes.extend(walked.into_iter().map(|(_, (_, subtree, pass))| (subtree, pass)));
    let mut cut = Cut { pieces, walked: Vec::with_capacity(passes.len()) };
    for i in order {
        let Some(pass) = passes.remove(&i) else {
            continue;
        };
        whole.nodes += pass.nodes;
        whole.excess = whole.excess.min(pass.excess);
        whole.left = whole.left.min(pass.left);
        cut.walked.extend(pass.walked(i));
        whole.solution = whole.solution.or(pass.solution);
        // What was found beyond the solution, one thread would not have looked at.
        if whole.solution.is_some() && !stopped {
            break;
        }
    }
    whole.stopped = stopped && whole.solution.is_none();
    (whole, cut)
}
