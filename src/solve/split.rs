//! One iteration in pieces: the tree is split below the root, and threads of all processes take subtrees, those first in
//! which the iteration before came closest to the goal.
//!
//! Where a walk comes close with a few moves less, a solution is likely with a few more: mostly it is in one of the first
//! subtrees, so that what the last iteration costs is little beside those before it.
//!
//! Source: C. Powley and R. E. Korf, Single-agent parallel window search, IEEE PAMI 13 (1991), which orders nodes so.
//!
//! Invariant: the order depends on the iteration before alone, and every subtree before the first one with a solution is
//! walked through completely. So the solution and the number of nodes are those of a single thread, whatever the number of
//! threads and processes.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::bit_tables::BitTables;
use super::bit_walk::BitWalk;
use super::control::{Control, Pass};
use super::node::{Node, Subtree};
use super::record::{Cut, Pieces};
use super::tree::Tree;
use super::walk::Walk;
use crate::puzzle::tiles::Direction;

/// Nodes of an iteration for each subtree that the next one is split into at least; fewest and most subtrees to ask for: so
/// many that the largest do not keep one thread busy at the end, and that the first ones are little beside all.
const NODES: u64 = 64;
const SUBTREES: [u64; 2] = [4, 1 << 14];

/// Returns how many subtrees an iteration is worth after one with so many nodes, 0 for none.
pub(super) fn worth(nodes: u64) -> usize {
    let [least, most] = SUBTREES;
    match nodes / NODES {
        few if few < least => 0,
        many => many.min(most) as usize,
    }
}

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

    /// Walks through the subtree at a place for solutions of `limit` moves.
    pub fn walk(&self, (node, path): &Subtree<V>, limit: i32, place: usize) -> Pass {
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
    fn cut(&self, root: &Node<V>, depth: usize, limit: usize) -> (Vec<Subtree<V>>, Pass) {
        self.resume(root, &[], 0).spread(depth, limit as i32)
    }

    fn resume(&self, node: &Node<V>, path: &[Direction], place: usize) -> Walk<'w, V, PLAIN> {
        Walk::resume(self.tree, node, path, self.control, place)
    }

    /// Returns the numbers of subtrees in the order in which to walk through them: by the moves that the iteration before had
    /// left where it came closest to the goal in the same or the surrounding subtree; those last where it never was.
    fn order(&self, root: &Node<V>, subtrees: &[Subtree<V>], before: &Cut) -> Vec<usize> {
        let mut order: Vec<usize> = (0..subtrees.len()).collect();
        let Pieces {
            threshold, depth, ..
        } = before.pieces;
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

/// Walks through the tree below a node for solutions of `limit` moves, there being none of fewer, with all threads of the
/// current pool or with this one alone; subtrees that were walked through before are not again. Takes at least how many
/// subtrees are wanted, what is done of this iteration, and the one before; returns what is done of this one in the end.
pub(super) fn pass<const V: usize, const PLAIN: bool>(
    way: &Way<'_, V, PLAIN>,
    root: &Node<V>,
    limit: usize,
    (wanted, threads): (usize, usize),
    (done, before): (Cut, &Cut),
) -> (Pass, Cut) {
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
    let pieces = Pieces {
        threshold: limit,
        depth: depth as u32,
        subtrees: subtrees.len() as u32,
    };
    // What was cut another way says nothing.
    let known = done.walked.into_iter();
    let known = known.filter(|walked| done.pieces == pieces && walked.subtree < pieces.subtrees);
    let mut passes: BTreeMap<usize, Pass> = known
        .map(|walked| (walked.subtree as usize, walked.into()))
        .collect();
    let order = way.order(root, &subtrees, before);
    let left = order.iter().copied().filter(|i| !passes.contains_key(i));
    let left: Vec<usize> = left.collect();
    let (control, dealer) = (way.control, way.control.dealer);
    dealer.begin(pieces, &left);
    control.everywhere(whole.nodes);
    let work = || {
        while let Some(place) = dealer.next() {
            let subtree = left[place];
            let pass = way.walk(&subtrees[subtree], limit as i32, place);
            control.done(pieces, (place, subtree), pass);
        }
    };
    match threads {
        1 => work(),
        _ => (0..threads).into_par_iter().for_each(|_| work()),
    }
    let (walked, stopped) = dealer.end();
    passes.extend(walked.into_iter().map(|(place, pass)| (left[place], pass)));
    let mut cut = Cut {
        pieces,
        walked: Vec::with_capacity(passes.len()),
    };
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
