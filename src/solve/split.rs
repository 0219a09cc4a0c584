//! One iteration on all threads, of all processes: the tree is split below the root, and threads take subtrees in the
//! order in which one thread would walk through them.
//!
//! Invariant: every subtree before the first one with a solution is walked through completely. So the
//! solution and the number of nodes are those of a single thread, whatever the number of threads and processes.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::bit_tables::BitTables;
use super::bit_walk::BitWalk;
use super::control::{Control, Pass};
use super::node::{Node, Subtree};
use super::record::Cut;
use super::tree::Tree;
use super::walk::Walk;
use crate::puzzle::tiles::Direction;

/// Subtrees to split a tree into: so many that the largest do not keep one thread busy at the end.
const SUBTREES: usize = 4096;

/// How a tree is walked through.
pub(super) struct Way<'w, const V: usize, const PLAIN: bool> {
    tree: &'w Tree,
    control: &'w Control<'w>,
    /// Where all databases have one bit an entry.
    bits: Option<&'w BitTables<'w, V>>,
}

impl<'w, const V: usize, const PLAIN: bool> Way<'w, V, PLAIN> {
    /// Returns the fastest way through a tree.
    pub fn new(
        tree: &'w Tree,
        bits: Option<&'w BitTables<'w, V>>,
        control: &'w Control<'w>,
    ) -> Way<'w, V, PLAIN> {
        Way {
            tree,
            control,
            bits,
        }
    }

    /// Walks through a subtree for solutions of `limit` moves.
    pub fn walk(&self, (node, path): &Subtree<V>, limit: i32, subtree: usize) -> Pass {
        let room = limit - path.len() as i32;
        let Some(bits) = self.bits else {
            return self.resume(node, path, subtree).pass(room);
        };
        let mut pass = BitWalk::new(bits, node, room, self.control, subtree).pass();
        let solution = pass.solution.take();
        pass.solution = solution.map(|moves| [&path[..], &moves].concat());
        pass
    }

    fn resume(&self, node: &Node<V>, path: &[Direction], subtree: usize) -> Walk<'w, V, PLAIN> {
        Walk::resume(self.tree, node, path, self.control, subtree)
    }
}

/// Walks through the tree below a node for solutions of `limit` moves, there being none of fewer; subtrees that were
/// walked through before are not again.
pub(super) fn pass<const V: usize, const PLAIN: bool>(
    way: &Way<'_, V, PLAIN>,
    root: &Node<V>,
    limit: i32,
    before: Cut,
) -> Pass {
    let control = way.control;
    let (mut subtrees, mut above, mut depth) = (Vec::new(), None, 1);
    // The goal is not among the nodes above the subtrees: it is `limit` moves away.
    while depth < limit as usize && subtrees.len() < SUBTREES {
        let (found, pass) = way.resume(root, &[], 0).spread(depth, limit);
        let none = found.is_empty();
        (subtrees, above, depth) = (found, Some(pass), depth + 1);
        if none {
            break;
        }
    }
    let Some(mut whole) = above else {
        return way.walk(&(*root, Vec::new()), limit, 0);
    };
    let count = subtrees.len() as u32;
    // What was cut another way says nothing.
    let known = if before.subtrees == count {
        before.walked
    } else {
        Vec::new()
    };
    let known = known.into_iter().filter(|walked| walked.subtree < count);
    let known: BTreeMap<usize, Pass> = known
        .map(|walked| (walked.subtree as usize, walked.into()))
        .collect();
    let left = (0..subtrees.len()).filter(|i| !known.contains_key(i));
    let dealer = control.dealer;
    dealer.begin(limit as usize, count, left.collect());
    let work = |_| {
        while let Some(i) = dealer.next() {
            control.done(count, i, way.walk(&subtrees[i], limit, i));
        }
    };
    (0..rayon::current_num_threads())
        .into_par_iter()
        .for_each(work);
    let (mut passes, stopped) = dealer.end();
    passes.extend(known);
    let solved = passes.iter().filter(|(_, pass)| pass.solution.is_some());
    let solved = solved.map(|&(i, _)| i).min().unwrap_or(usize::MAX);
    for (i, pass) in passes {
        // What was found beyond the solution, one thread would not have looked at.
        if i > solved && !stopped {
            continue;
        }
        whole.nodes += pass.nodes;
        whole.excess = whole.excess.min(pass.excess);
        if i == solved {
            whole.solution = pass.solution;
        }
    }
    whole.stopped = stopped && whole.solution.is_none();
    whole
}
