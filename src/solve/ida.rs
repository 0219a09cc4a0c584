//! Iterative-deepening A* over additive pattern databases.
//!
//! Source: R. E. Korf, Depth-first iterative-deepening, AIJ 27 (1985); R. E. Korf and A. Felner, Disjoint
//! pattern database heuristics, AIJ 134 (2002); reflections: J. Culberson and J. Schaeffer 1998.
//!
//! Invariant: all solutions shorter than the threshold of an iteration are excluded by the iterations before
//! it, whoever carried them out. So a search can pause between two iterations, and go on with more threads.

use std::{collections::BTreeMap, ops::ControlFlow};

use rayon::prelude::*;

use crate::{
    pdb::Pdb,
    progress::Progress,
    puzzle::{Board, Direction, Moves},
    search::Share,
    solve::{
        SolveError,
        bits::BitTables,
        control::{
            Control, Cut, Observers, Pending, Stage, SubtreeResult, SubtreeSplit, WalkResult,
            Walked,
        },
        sums::Sums,
        tree::{KnownBoard, MAX_BIT_VIEWS, MAX_VIEWS, Tree},
        walk::{Heuristic, Subtree, Walk},
    },
    store,
};

/// Bytes of databases for each node of an iteration from which on they are arranged for the next one, which has some
/// seven times the nodes: arranging a byte takes about as long as a walk saves at a tenth of a node.
const ARRANGE_FROM: u64 = 64;

/// What comes of an iteration, or of several: a shortest solution, none because an observer said stop, or that the search
/// goes on.
pub(crate) type Ended = Result<ControlFlow<Option<Moves>>, SolveError>;

impl Tree {
    /// Returns the search of a board that can reach the goal (parity is the caller's business).
    ///
    /// # Panics
    /// When the board has another size than the goal.
    pub fn begin(&self, board: &Board) -> Pending {
        assert_eq!(board.size(), self.goal.size());
        let stage = Stage { threshold: self.estimate(board), ..Stage::default() };
        let (done, before) = (Cut::default(), Cut::default());
        Pending { board: board.clone(), stage, done, before, seconds: 0.0 }
    }

    /// Searches on the current thread while iterations are not worth more than one; a search that goes on is for
    /// [`Tree::solve_hard`]. Solution and nodes are the same for any number of threads and processes.
    pub fn solve_easy(&self, search: &mut Pending, progress: &dyn Progress) -> Ended {
        let mut ended = ControlFlow::Continue(());
        let rooted = self.rooted(&search.board);
        while ended.is_continue() && search.stage.last < self.split_from {
            ended = self.iterate(search, &*rooted, &Share::alone(), (progress, &()), 1)?;
        }
        Ok(ended)
    }

    /// Searches with the threads of the current pool, and of the ranks that share.
    ///
    /// The first observer is told the nodes so far, and asked whether to stop, every few thousand nodes; the second is told
    /// what need not be done again.
    pub fn solve_hard(
        &self,
        search: &mut Pending,
        share: &Share<SubtreeResult>,
        observers: Observers<'_>,
    ) -> Result<Option<Moves>, SolveError> {
        let mut rooted = self.rooted(&search.board);
        loop {
            if self.memory != Some(0) && search.stage.last >= self.bytes() / ARRANGE_FROM {
                self.arrange(observers.0);
                rooted = self.rooted(&search.board);
            }
            let threads = rayon::current_num_threads();
            let ended = self.iterate(search, &*rooted, share, observers, threads)?;
            if let ControlFlow::Break(moves) = ended {
                return Ok(moves);
            }
            observers.1.iteration(search.stage);
        }
    }

    /// Carries out an iteration, or what is left of it.
    fn iterate(
        &self,
        search: &mut Pending,
        rooted: &dyn Rooted,
        share: &Share<SubtreeResult>,
        observers: Observers<'_>,
        threads: usize,
    ) -> Ended {
        if search.board == self.goal {
            return Ok(ControlFlow::Break(Some(Moves::default())));
        }
        let control = Control::new(observers, share, search.stage.threshold, search.nodes());
        let pass = rooted.pass(search, &control, threads);
        let Walked { nodes, excess, .. } = pass.walked;
        let stage = &mut search.stage;
        (stage.nodes, stage.last) = (stage.nodes + nodes, nodes);
        if pass.solution.is_some() || pass.stopped {
            return Ok(ControlFlow::Break(pass.solution.map(Moves)));
        }
        if excess == i32::MAX {
            return Err(SolveError::NoSolution);
        }
        stage.threshold = self.at_least(&search.board, stage.threshold + excess as usize);
        Ok(ControlFlow::Continue(()))
    }

    /// Returns the tree below a board, with the fastest heuristic that the databases allow.
    fn rooted(&self, board: &Board) -> Box<dyn Rooted + '_> {
        fn of<'t>(heuristic: impl Heuristic + 't, board: &Board) -> Box<dyn Rooted + 't> {
            let known = KnownBoard::new(heuristic.tree(), board);
            Box::new(RootedTree { heuristic, board: board.clone(), known })
        }
        let (plain, bits) = (self.is_plain(), self.is_bits());
        match self.views.len() {
            1 if plain => of(Sums::<1, true>::new(self), board),
            2 if plain => of(Sums::<2, true>::new(self), board),
            3..=4 if plain => of(Sums::<4, true>::new(self), board),
            _ if plain => of(Sums::<MAX_VIEWS, true>::new(self), board),
            1 if bits => of(BitTables::<1>::new(self), board),
            2 if bits => of(BitTables::<2>::new(self), board),
            3..=4 if bits => of(BitTables::<4>::new(self), board),
            5..=MAX_BIT_VIEWS if bits => of(BitTables::<MAX_BIT_VIEWS>::new(self), board),
            1 => of(Sums::<1, false>::new(self), board),
            2 => of(Sums::<2, false>::new(self), board),
            3..=4 => of(Sums::<4, false>::new(self), board),
            5..=8 => of(Sums::<8, false>::new(self), board),
            _ => of(Sums::<MAX_VIEWS, false>::new(self), board),
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
        if self.bytes() <= self.memory.unwrap_or_else(store::budget) {
            self.databases().for_each(|database| database.arrange(progress));
        }
    }

    /// Returns the lower bound on the moves of a board that a search begins with.
    pub fn estimate(&self, board: &Board) -> usize {
        self.at_least(board, KnownBoard::new(self, board).estimate(self) as usize)
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
fn worth(nodes: u64) -> usize {
    let [least, most] = SUBTREES;
    match nodes / NODES {
        few if few < least => 0,
        many => many.min(most) as usize,
    }
}

/// The tree below a board, whatever its heuristic.
trait Rooted {
    /// Walks through the tree for solutions of as many moves as the iteration allows, there being none of fewer, with so many
    /// threads of the current pool. Subtrees that are done already are not walked through again; those that are done in the
    /// end are what the search has before its next iteration.
    fn pass(&self, search: &mut Pending, control: &Control<'_>, threads: usize) -> WalkResult;
}

struct RootedTree<H> {
    heuristic: H,
    board: Board,
    known: KnownBoard,
}

impl<H: Heuristic> RootedTree<H> {
    /// Returns the whole tree, for so many moves.
    fn whole(&self, limit: usize) -> Subtree<H> {
        Subtree::whole(&self.heuristic, &self.board, &self.known, limit)
    }

    /// Returns the numbers of subtrees in the order in which to walk through them: by the moves that the iteration before had
    /// left where it came closest to the goal in the same or the surrounding subtree; those last where it never was.
    fn order(&self, subtrees: &[Subtree<H>], before: &Cut) -> Vec<usize> {
        let mut order: Vec<usize> = (0..subtrees.len()).collect();
        let SubtreeSplit { threshold, depth, .. } = before.pieces;
        let (Some(first), true) = (subtrees.first(), before.is_whole()) else {
            return order;
        };
        let common = first.path.len().min(depth as usize);
        let (depth, whole) = (depth as usize, self.whole(threshold));
        let (theirs, _) = Walk::spread(&self.heuristic, &whole, depth, threshold);
        let mut least: BTreeMap<&[Direction], u32> = BTreeMap::new();
        for walked in &before.walked {
            if let Some(theirs) = theirs.get(walked.subtree as usize) {
                let least = least.entry(&theirs.path[..common]).or_insert(walked.left);
                *least = walked.left.min(*least);
            }
        }
        let left = |&i: &usize| least.get(&subtrees[i].path[..common]).copied();
        order.sort_by_cached_key(|i| left(i).unwrap_or(u32::MAX));
        order
    }
}

impl<H: Heuristic> Rooted for RootedTree<H> {
    fn pass(&self, search: &mut Pending, control: &Control<'_>, threads: usize) -> WalkResult {
        let (limit, wanted) = (control.limit, worth(search.stage.last));
        let (heuristic, whole) = (&self.heuristic, self.whole(limit));
        let (done, before) = (std::mem::take(&mut search.done), std::mem::take(&mut search.before));
        let (mut subtrees, mut above, mut depth) = (Vec::new(), None, 0);
        // The goal is not among the nodes above the subtrees: it is `limit` moves away.
        while depth + 1 < limit && subtrees.len() < wanted {
            depth += 1;
            let (found, walked) = Walk::spread(heuristic, &whole, depth, limit);
            let none = found.is_empty();
            (subtrees, above) = (found, Some(walked));
            if none {
                break;
            }
        }
        let Some(above) = above else {
            return Walk::pass(heuristic, &whole, control, 0, &mut Vec::new());
        };
        let (depth, count) = (depth as u32, subtrees.len() as u32);
        let pieces = SubtreeSplit { threshold: limit, depth, subtrees: count };
        // What was cut another way says nothing.
        let known = done.walked.into_iter();
        let known = known.filter(|walked| done.pieces == pieces && walked.subtree < count);
        let mut passes: BTreeMap<usize, WalkResult> =
            known.map(|walked| (walked.subtree as usize, walked.into())).collect();
        let order = self.order(&subtrees, &before);
        let left = order.iter().copied().filter(|i| !passes.contains_key(i));
        let left: Vec<usize> = left.collect();
        let share = control.share;
        share.begin(left.len());
        control.everywhere(above.nodes);
        let work = || {
            let mut stack = Vec::new();
            while let Some(place) = share.next() {
                let subtree = &subtrees[left[place]];
                let mut pass = Walk::pass(heuristic, subtree, control, place, &mut stack);
                pass.walked.subtree = left[place] as u32;
                control.done(place, (pieces, pass));
            }
        };
        if threads > 1 {
            (0..threads).into_par_iter().for_each(|_| work());
        } else {
            work();
        }
        let (results, stopped) = share.end();
        let results = results.into_iter().map(|(_, (_, pass))| pass);
        passes.extend(results.map(|pass| (pass.walked.subtree as usize, pass)));
        let mut whole = WalkResult::from(above);
        let mut walked = Vec::with_capacity(passes.len());
        for i in order {
            let Some(pass) = passes.remove(&i) else {
                continue;
            };
            whole.walked.nodes += pass.walked.nodes;
            whole.walked.excess = whole.walked.excess.min(pass.walked.excess);
            whole.walked.left = whole.walked.left.min(pass.walked.left);
            walked.extend(pass.is_done().then_some(pass.walked));
            whole.solution = whole.solution.or(pass.solution);
            // What was found beyond the solution, one thread would not have looked at.
            if whole.solution.is_some() && !stopped {
                break;
            }
        }
        search.before = Cut { pieces, walked };
        whole.stopped = stopped && whole.solution.is_none();
        whole
    }
}
