//! Databases as heuristics of a walk: [`Sums`] of any databases, and [`BitTables`] of databases with one bit per entry,
//! for the hardest boards.
//!
//! `optimal` chooses one for a search; `boards` calls it for the children of every node. Solutions, nodes, excess and
//! moves left do not depend on the choice.

use crate::{
    kernel::prefetch,
    puzzle::Direction,
    solve::{
        boards::{Children, Heuristic, KnownBoard, MAX_BIT_VIEWS, MAX_PATTERNS, PLACES, Tree},
        database::{CELLS, CellSets},
        symmetry::{Lens, NO_PATTERN},
        walk::Slack,
    },
};

// Sums of databases as heuristics of a walk.
//
// Values are looked up when a walk arrives at a child: for children at which it never arrives, only the addresses are
// computed.
//
// Invariant: values are those of `crate::pdb::Pdb::lookup`. The data that a lookup needs is kept up to date move by
// move.

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
    /// See [`KnownPattern::set`](crate::solve::boards::KnownPattern); unused for plain databases.
    sets: [[u64; P]; V],
    /// The positions of the children's values; for plain databases, the ranks.
    entries: [[u64; V]; S],
    sums: [[i32; V]; S],
}

const VALUE: u32 = 56;

impl<'t, const V: usize, const PLAIN: bool> Sums<'t, V, PLAIN> {
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

    /// What child `i` brings for the pattern of a view: the rank, the set, and the entry of the value.
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

// Databases with one bit per entry as the heuristic of a walk, for the hardest boards.
//
// A move changes the value of its tile's pattern by one, up or down. A sum leaves a node a certain number of spare
// moves, and a child the same number or two fewer. One word holds the spare moves of all sums, and one subtraction
// determines whether a child is cut off.
//
// All sums are looked up at once: to look up one without spare moves first, and the others for the children that it
// does not cut off, reads fewer bits but waits for memory twice.
//
// Invariant: solutions, nodes, excess and moves left are the same as with `Sums`.

/// The sign bit of each view's spare moves.
const SIGNS: u128 = 0x8000_8000_8000_8000_8000_8000_8000_8000;

/// The layout of a pattern's word: the set of cells is lowest, then comes the rank of the arrangement, then the value.
const RANK: u32 = 32;

/// What is known about a node, or brought by children: the words of the patterns, and the spare moves of the sums.
#[derive(Clone)]
pub(crate) struct BitWords<const V: usize, const P: usize, const S: usize> {
    words: [[u64; P]; V],
    /// The spare moves of each sum, 16 bits each.
    spare: [u128; S],
}

impl<const V: usize> Heuristic for BitTables<'_, V> {
    type Node = BitWords<V, MAX_PATTERNS, 1>;
    type Brought = BitWords<V, 4, 4>;
    const NOTHING: BitWords<V, 4, 4> = BitWords { words: [[0; 4]; V], spare: [0; 4] };

    #[inline(always)]
    fn tree(&self) -> &Tree {
        self.tree
    }

    fn node(&self, known: &KnownBoard, room: i32) -> Self::Node {
        let mut words = [[0; MAX_PATTERNS]; V];
        for (words, known) in words.iter_mut().zip(&known.0) {
            *words = known.map(|p| p.set | p.rank << RANK | u64::from(p.value) << VALUE);
        }
        // Fields that do not belong to a sum cut nothing off.
        let mut fields = [1 << 14; MAX_BIT_VIEWS];
        for sum in self.tree.sums() {
            let field = sum.start;
            fields[field] = (room - sum.map(|v| known.sum(v)).sum::<i32>()).max(0) as u128;
        }
        let put = |all, (field, spare)| all | spare << (16 * field);
        BitWords { words, spare: [fields.into_iter().enumerate().fold(0, put)] }
    }

    #[inline(always)]
    fn look_up(
        &self,
        node: &Self::Node,
        children: &Children<'_>,
        brought: &mut Self::Brought,
        slack: &mut Slack,
    ) -> u32 {
        let moves = &self.moves[children.blank];
        let count = children.count.min(4);
        let (mut ranks, mut entries) = ([[0; V]; 4], [[0; V]; 4]);
        // The data for each child is prefetched before the first child is examined.
        for i in 0..count {
            let child = &children.moves[i];
            let to = &moves[child.direction as usize];
            let change = self.change(children, child.direction, child.tile);
            for v in 0..V {
                let Some(p) = self.pattern(v, child.tile) else { continue };
                let turn = (i64::from(change[v]) * to.forward[v]) << RANK;
                let word = node.words[v][p].wrapping_add(to.set[v]);
                let word = word.wrapping_add_signed(turn);
                brought.words[v][i] = word;
                ranks[i][v] = self.databases[v][p].sets.rank(word as u32);
            }
        }
        for i in 0..count {
            let child = &children.moves[i];
            let to = &moves[child.direction as usize];
            for v in 0..V {
                let Some(p) = self.pattern(v, child.tile) else { continue };
                let bits = &self.databases[v][p];
                let slot = bits.sets.slot(ranks[i][v], to.image[v]);
                let arrangement = brought.words[v][i] << (64 - VALUE) >> (64 - VALUE + RANK);
                let entry = slot * bits.strides[0] + arrangement * bits.strides[1];
                entries[i][v] = entry;
                prefetch::<1, _>(bits.bytes.as_ptr().wrapping_add((entry / 8) as usize));
            }
        }
        let (mut stay, mut cut) = (0, 0);
        for i in 0..count {
            let tile = children.moves[i].tile;
            let mut less = 0;
            for v in 0..V {
                let Some(p) = self.pattern(v, tile) else { continue };
                let bits = &self.databases[v][p];
                let (entry, word) = (entries[i][v], brought.words[v][i]);
                let bit = u64::from(bits.bytes[(entry / 8) as usize] >> (entry % 8) & 1);
                // See crate::pdb::after.
                let fewer = (((word >> VALUE) + 1) >> 1 & 1) ^ bit;
                let change = 1u64.wrapping_sub(2 * fewer);
                brought.words[v][i] = word.wrapping_add(change << VALUE);
                less |= u128::from(2 - 2 * fewer) << (16 * v);
            }
            for &(field, down) in &self.joined {
                less = less & !field | (less & field) >> down;
            }
            if self.least == 1 {
                less |= self.unseen[usize::from(tile) % CELLS];
            }
            // A borrowed sign stays within its 16 bits.
            let spare = ((node.spare[0] | SIGNS) - less) ^ SIGNS;
            brought.spare[i] = spare;
            let stays = u32::from(spare & SIGNS == 0);
            stay |= stays << i;
            cut |= (1 - stays) << i;
        }
        if cut != 0 && slack.excess > self.least {
            for i in (0..4).filter(|i| cut >> i & 1 == 1) {
                let spare = brought.spare[i];
                let first = (spare & SIGNS).trailing_zeros() / 16 * 16;
                let by = -i32::from((spare >> first) as i16);
                slack.excess = slack.excess.min(by);
            }
        }
        stay
    }

    #[inline(always)]
    fn enter(
        &self,
        node: &mut Self::Node,
        brought: &mut Self::Brought,
        i: usize,
        tile: u8,
        _: &mut Slack,
    ) -> bool {
        self.leave(node, brought, i, tile);
        true
    }

    #[inline(always)]
    fn leave(&self, node: &mut Self::Node, brought: &mut Self::Brought, i: usize, tile: u8) {
        std::mem::swap(&mut node.spare[0], &mut brought.spare[i]);
        for v in 0..V {
            if let Some(p) = self.pattern(v, tile) {
                std::mem::swap(&mut node.words[v][p], &mut brought.words[v][i]);
            }
        }
    }
}

// The data that a walk over databases with one bit per entry reads at its nodes, side by side.
//
// Invariant: it corresponds to the views and databases of the tree.

/// A database in the form in which a view reads it.
#[derive(Clone, Copy)]
struct BitTable<'t> {
    bytes: &'t [u8],
    sets: &'t CellSets,
    /// The number of bits from one slot to the next, and from one arrangement to the next.
    strides: [u64; 2],
}

/// The effect of a move of the blank in one direction.
#[derive(Clone, Copy)]
struct BlankStep<const V: usize> {
    /// The number, in each view, of the cell that the tile comes from.
    image: [u8; V],
    /// The change of the tile's set of cells.
    set: [u64; V],
    /// 1 if the tile passes others in the forward direction, else -1.
    forward: [i64; V],
}

/// The tables of a walk through at most V views.
pub(crate) struct BitTables<'t, const V: usize> {
    tree: &'t Tree,
    /// The databases of each view; the last one is repeated to fill the array.
    databases: [[BitTable<'t>; MAX_PATTERNS]; V],
    /// The pattern of each tile; [`NO_PATTERN`] for none.
    pattern: [[u8; V]; CELLS],
    /// For each tile, 1 in the field of every sum that has it in no pattern, and does not count its moves.
    unseen: [u128; CELLS],
    /// The fields of views that are not the first of their sum, and by how many bits the field of the first is lower.
    joined: Vec<(u128, u32)>,
    /// The moves for each blank cell, by direction.
    moves: Vec<[BlankStep<V>; 4]>,
    /// For each move, the cells that the tile passes, and the views in which they matter; padded with the blank's cell.
    passed: Vec<(u8, u8)>,
    most: usize,
    /// The minimum amount by which a child that is cut off exceeds the limit.
    least: i32,
    /// The change of the tile's arrangement, for these views, the tile and the tile that it passes.
    weights: Vec<[i32; V]>,
}

impl<'t, const V: usize> BitTables<'t, V> {
    /// The tables of a tree of databases with one bit per entry, with no more views than fit. Cost: about 10 us.
    pub fn new(tree: &'t Tree) -> BitTables<'t, V> {
        let views = &tree.views[..];
        let bits = |lens: &'t Lens, p: usize| {
            let database = &lens.databases[p.min(lens.databases.len() - 1)];
            let (bytes, strides) = database.layout();
            let sets = database.bits().expect("all databases are of bits");
            BitTable { bytes, sets, strides }
        };
        let mut databases = [[bits(&views[0], 0); MAX_PATTERNS]; V];
        let mut pattern = [[NO_PATTERN; V]; CELLS];
        for (v, lens) in views.iter().enumerate() {
            databases[v] = std::array::from_fn(|p| bits(lens, p));
            for (to, &from) in pattern.iter_mut().zip(&lens.view.pattern) {
                to[v] = from;
            }
        }
        let cells = tree.goal.size().cells();
        let mut moves = Vec::with_capacity(cells);
        // The views in which a tile passes a cell, as a mask.
        let (mut masks, mut passed) = (Vec::new(), Vec::new());
        for blank in 0..cells {
            moves.push(Direction::ALL.map(|direction| {
                let cell = tree.cell(blank, direction);
                let mut to = BlankStep { image: [0; V], set: [0; V], forward: [1; V] };
                let mut passes: Vec<(u8, u8)> = Vec::new();
                for (v, lens) in views.iter().enumerate() {
                    let image = &lens.view.image;
                    to.image[v] = image[usize::from(cell)];
                    to.set[v] = (1u64 << image[blank]).wrapping_sub(1 << to.image[v]);
                    let (between, forward) = lens.view.passed(blank, direction);
                    to.forward[v] = if forward { 1 } else { -1 };
                    for &cell in between {
                        match passes.iter_mut().find(|(known, _)| *known == cell) {
                            Some((_, mask)) => *mask |= 1 << v,
                            None => passes.push((cell, 1 << v)),
                        }
                    }
                }
                for (_, mask) in &mut passes {
                    let known = masks.iter().position(|known| known == mask);
                    let place = known.unwrap_or_else(|| {
                        masks.push(*mask);
                        masks.len() - 1
                    });
                    *mask = place as u8;
                }
                passed.push(passes);
                to
            }));
        }
        let most = passed.iter().map(Vec::len).max().unwrap_or(0);
        for (i, passes) in passed.iter_mut().enumerate() {
            passes.resize(most, ((i / 4) as u8, 0));
        }
        let mut weights = vec![[0; V]; masks.len().max(1) * CELLS * CELLS];
        for (i, weight) in weights.iter_mut().enumerate() {
            let (group, tile, other) = (i / CELLS / CELLS, i / CELLS % CELLS, i % CELLS);
            for (v, lens) in views.iter().enumerate() {
                let seen = masks.get(group).is_some_and(|mask: &u8| mask >> v & 1 == 1);
                if seen && tile < cells && other < cells {
                    weight[v] = lens.view.over[tile][other] as i32;
                }
            }
        }
        let (mut unseen, mut joined) = ([0; CELLS], Vec::new());
        for sum in tree.sums() {
            let field = 16 * sum.start;
            let others = (sum.start + 1..sum.end).map(|v| 16 * v);
            joined.extend(others.map(|place| (0xffff << place, (place - field) as u32)));
            for (unseen, pattern) in unseen.iter_mut().zip(&pattern).take(cells).skip(1) {
                if pattern[sum.clone()].iter().all(|&p| p == NO_PATTERN) {
                    *unseen |= 1 << field;
                }
            }
        }
        BitTables {
            tree,
            // If every move changes the value of some pattern, all sums have the parity of the remaining moves.
            least: if unseen == [0; CELLS] { 2 } else { 1 },
            unseen,
            joined,
            databases,
            pattern,
            moves,
            passed: passed.concat(),
            most,
            weights,
        }
    }

    #[inline(always)]
    fn pattern(&self, v: usize, tile: u8) -> Option<usize> {
        let p = self.pattern[usize::from(tile) % CELLS][v];
        (p != NO_PATTERN).then_some(usize::from(p) % MAX_PATTERNS)
    }

    /// The change of the arrangements of a tile's patterns, up to the sign, when the tile moves into the blank.
    #[inline(always)]
    fn change(&self, children: &Children<'_>, direction: Direction, tile: u8) -> [i32; V] {
        let mut change = [0; V];
        let begin = (4 * children.blank + direction as usize) * self.most;
        for &(cell, group) in &self.passed[begin..begin + self.most] {
            let other = usize::from(children.board[usize::from(cell) % PLACES]) % CELLS;
            let at = (usize::from(group) * CELLS + usize::from(tile) % CELLS) * CELLS + other;
            for (change, weight) in change.iter_mut().zip(&self.weights[at]) {
                *change += weight;
            }
        }
        change
    }
}
