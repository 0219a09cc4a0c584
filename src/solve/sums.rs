//! Sums of databases as heuristics of a walk.
//!
//! Values are looked up when a walk arrives at a child: for children at which it never arrives, only the addresses are
//! computed.
//!
//! Invariant: values are those of [`crate::pdb::Pdb::lookup`]. The data that a lookup needs is kept up to date move by
//! move.

use crate::{
    kernel::prefetch,
    solve::{
        symmetry::{Lens, NO_PATTERN},
        tree::{KnownBoard, MAX_PATTERNS, Tree},
        walk::{Children, Heuristic, PLACES, Slack},
    },
};

/// Databases through V views or, if V is more than two, at most V. If PLAIN, an entry is a byte at the rank of the
/// cells, and every view is a sum; otherwise databases may be of any kind and encoding.
pub(crate) struct Sums<'t, const V: usize, const PLAIN: bool> {
    tree: &'t Tree,
    /// The views; if there are fewer than V, the first one is repeated.
    views: [&'t Lens; V],
    /// The pattern whose value changes when a tile moves, in each view.
    pattern: [[u8; V]; PLACES],
    values: [[&'t [u8]; MAX_PATTERNS]; V],
}

/// What is known about a node, or brought by children.
#[derive(Clone)]
pub(crate) struct PatternSums<const V: usize, const P: usize, const S: usize> {
    /// The rank of each pattern's tiles, and from bit [`VALUE`] on its value.
    words: [[u64; P]; V],
    /// The set of cells of each pattern, or, if it includes the blank, one byte for each tile's cell; unused for plain
    /// databases.
    sets: [[u64; P]; V],
    /// The positions of the children's values; for plain databases, the ranks.
    entries: [[u64; V]; S],
    sums: [[i32; V]; S],
}

const VALUE: u32 = 56;

impl<'t, const V: usize, const PLAIN: bool> Sums<'t, V, PLAIN> {
    /// Returns the heuristic of a tree.
    pub fn new(tree: &'t Tree) -> Sums<'t, V, PLAIN> {
        let mut values: [[&[u8]; MAX_PATTERNS]; V] = [[&[]; MAX_PATTERNS]; V];
        let (mut pattern, mut views) = ([[NO_PATTERN; V]; PLACES], [&tree.views[0]; V]);
        for (v, lens) in tree.views.iter().enumerate() {
            views[v] = lens;
            for (values, database) in values[v].iter_mut().zip(&lens.databases) {
                *values = database.pdb.bytes();
            }
            for (to, &from) in pattern.iter_mut().zip(&lens.view.pattern) {
                // Every move changes the value of a pattern with the blank, too.
                to[v] = if lens.databases[0].has_blank() { 0 } else { from };
            }
        }
        Sums { tree, views, pattern, values }
    }

    #[inline(always)]
    fn views(&self) -> usize {
        // One or two views are exact; for more, there may be fewer.
        if V > 2 { self.tree.views.len().min(V) } else { V }
    }

    #[inline(always)]
    fn pattern(&self, v: usize, tile: u8) -> Option<usize> {
        let p = self.pattern[usize::from(tile) % PLACES][v];
        (p != NO_PATTERN).then_some(usize::from(p) % MAX_PATTERNS)
    }

    /// What child `i` brings for the pattern of a view, except for its value: the rank, the set, and the entry of the
    /// value.
    #[inline(always)]
    fn moved(
        &self,
        (v, p): (usize, usize),
        node: &PatternSums<V, MAX_PATTERNS, 1>,
        children: &Children<'_>,
        i: usize,
    ) -> [u64; 3] {
        let Lens { view, databases, .. } = self.views[v];
        let (child, blank) = (&children.moves[i], children.blank);
        let rank = node.words[v][p] << (64 - VALUE) >> (64 - VALUE);
        let step = || view.step(children.board, blank, child.direction, child.tile);
        if PLAIN {
            let rank = rank.wrapping_add_signed(step());
            return [rank, 0, rank];
        }
        let [from, to] = [child.cell.into(), blank].map(|cell: usize| view.image[cell]);
        if databases[p].has_blank() {
            // The blank is the first tile.
            let change = u64::from(from ^ to);
            let its = match view.pattern[usize::from(child.tile)] {
                NO_PATTERN => 0,
                _ => change << (8 * view.place[usize::from(child.tile)]),
            };
            let set = node.sets[v][p] ^ change ^ its;
            let rank = databases[p].rank_of(set);
            return [rank, set, rank];
        }
        let set = node.sets[v][p] ^ 1 << from ^ 1 << to;
        let rank = rank.wrapping_add_signed(step());
        [rank, set, databases[p].entry(set, rank, from)]
    }

    /// The index of the byte that contains an entry.
    #[inline(always)]
    fn byte(&self, v: usize, p: usize, entry: u64) -> usize {
        (if PLAIN { entry } else { self.views[v].databases[p].byte(entry) }) as usize
    }
}

impl<const V: usize, const PLAIN: bool> Heuristic for Sums<'_, V, PLAIN> {
    type Node = PatternSums<V, MAX_PATTERNS, 1>;
    type Brought = PatternSums<V, 4, 4>;
    const NOTHING: PatternSums<V, 4, 4> = PatternSums {
        words: [[0; 4]; V],
        sets: [[0; 4]; V],
        entries: [[0; V]; 4],
        sums: [[0; V]; 4],
    };

    #[inline(always)]
    fn tree(&self) -> &Tree {
        self.tree
    }

    fn node(&self, known: &KnownBoard, _: i32) -> Self::Node {
        let (mut words, mut sets) = ([[0; MAX_PATTERNS]; V], [[0; MAX_PATTERNS]; V]);
        for (v, known) in known.0.iter().enumerate() {
            words[v] = known.map(|pattern| pattern.rank | u64::from(pattern.value) << VALUE);
            sets[v] = known.map(|pattern| pattern.set);
        }
        PatternSums { words, sets, entries: [[0; V]], sums: [known.sums()] }
    }

    #[inline(always)]
    fn look_up(
        &self,
        node: &Self::Node,
        children: &Children<'_>,
        brought: &mut Self::Brought,
        _: &mut Slack,
    ) -> u32 {
        for i in 0..children.count.min(4) {
            for v in 0..self.views() {
                if let Some(p) = self.pattern(v, children.moves[i].tile) {
                    let [rank, set, entry] = self.moved((v, p), node, children, i);
                    brought.words[v][i] = rank;
                    if !PLAIN {
                        (brought.sets[v][i], brought.entries[i][v]) = (set, entry);
                    }
                    let byte = self.byte(v, p, entry);
                    prefetch::<1, _>(self.values[v][p].as_ptr().wrapping_add(byte));
                }
            }
        }
        (1 << children.count) - 1
    }

    #[inline(always)]
    fn enter(
        &self,
        node: &mut Self::Node,
        brought: &mut Self::Brought,
        i: usize,
        tile: u8,
        slack: &mut Slack,
    ) -> bool {
        let (mut values, mut sums, mut sum) = ([0; V], node.sums[0], 0);
        for v in 0..self.views() {
            if let Some(p) = self.pattern(v, tile) {
                let before = (node.words[v][p] >> VALUE) as u8;
                let entry = if PLAIN { brought.words[v][i] } else { brought.entries[i][v] };
                let byte = self.values[v][p][self.byte(v, p, entry)];
                values[v] = byte;
                if !PLAIN {
                    values[v] = self.views[v].databases[p].value(byte, entry, before);
                }
                sums[v] += i32::from(values[v]) - i32::from(before);
            }
            let joined =
                |v: usize| !PLAIN && self.tree.views.get(v).is_some_and(|lens| lens.joined);
            sum = if joined(v) { sum + sums[v] } else { sums[v] };
            if sum >= slack.room && !joined(v + 1) {
                slack.excess = slack.excess.min(sum + 1 - slack.room);
                return false;
            }
        }
        for v in 0..self.views() {
            brought.words[v][i] |= u64::from(values[v]) << VALUE;
        }
        brought.sums[i] = sums;
        self.leave(node, brought, i, tile);
        true
    }

    #[inline(always)]
    fn leave(&self, node: &mut Self::Node, brought: &mut Self::Brought, i: usize, tile: u8) {
        std::mem::swap(&mut node.sums[0], &mut brought.sums[i]);
        for v in 0..self.views() {
            if let Some(p) = self.pattern(v, tile) {
                std::mem::swap(&mut node.words[v][p], &mut brought.words[v][i]);
                if !PLAIN {
                    std::mem::swap(&mut node.sets[v][p], &mut brought.sets[v][i]);
                }
            }
        }
    }
}
