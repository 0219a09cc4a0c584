//! The tree of moves that a search walks through, and what it knows of each board.
//!
//! Invariant: nothing here changes during a search, so threads share it.

use std::ops::Range;

use crate::puzzle::{Board, Direction};
use crate::solve::database::{CELLS, CellSets, Database};
use crate::solve::heuristic::{Lens, NO_PATTERN};
use crate::solve::pruner::MovePruner;

/// Most patterns of a set.
pub(crate) const MAX_PATTERNS: usize = 8;

/// Most views of a node: symmetries of a board times partitions.
pub(crate) const MAX_VIEWS: usize = 16;

/// Nodes of an iteration, some 20 ms, from which on the next ones are split between threads.
const SPLIT_FROM: u64 = 1 << 18;

/// What all searches for one goal share.
pub(crate) struct Tree {
    pub(crate) goal: Board,
    pub(crate) views: Vec<Lens>,
    pub(crate) pruner: MovePruner,
    /// Whether long searches may copy databases.
    pub(crate) copies: bool,
    /// An iteration of at least so many nodes is followed by iterations that are split between threads.
    pub(crate) split_from: u64,
    /// For each blank cell and direction the cell of the tile that moves.
    cells: Vec<[u8; 4]>,
}

impl Tree {
    /// Returns the solver; the views are those of the databases' patterns, at least one.
    pub fn new(goal: Board, views: Vec<Lens>, pruner: MovePruner) -> Tree {
        let cell = |blank, d: Direction| d.tile_cell(goal.size(), blank).unwrap_or(blank) as u8;
        let cells =
            (0..goal.size().cells()).map(|blank| Direction::ALL.map(|d| cell(blank, d))).collect();
        Tree { goal, views, pruner, copies: true, split_from: SPLIT_FROM, cells }
    }

    /// Whether every entry is a byte at the rank of its cells, so that walks keep ranks up to date, and every lens a sum by
    /// itself.
    pub fn is_plain(&self) -> bool {
        self.databases().all(Database::is_plain) && self.sums().count() == self.views.len()
    }

    /// Returns the lenses of each sum, by their places.
    pub fn sums(&self) -> impl Iterator<Item = Range<usize>> {
        let views = &self.views;
        let first = (0..views.len()).filter(|&v| !views[v].joined);
        let end = move |v: usize| (v + 1..views.len()).find(|&next| !views[next].joined);
        first.map(move |v| v..end(v).unwrap_or(views.len()))
    }

    /// Returns whether every tile is in a pattern of every sum.
    pub fn is_covered(&self) -> bool {
        let tiles = |lens: &Lens| -> usize {
            let patterns = 0..lens.databases.len();
            patterns.map(|p| lens.view.tiles(p).len()).sum()
        };
        let all = self.goal.tiles().len() - 1;
        self.sums().all(|sum| self.views[sum].iter().map(tiles).sum::<usize>() >= all)
    }

    /// Returns the databases, as often as they are seen.
    pub fn databases(&self) -> impl Iterator<Item = &Database> {
        self.views.iter().flat_map(|lens| &lens.databases)
    }

    /// Returns the least number of moves, from a lower bound on, that can bring a board to the goal: as odd as the blank's way
    /// home, and none only from the goal itself.
    ///
    /// Where tiles are in no pattern, no sum knows of this by itself.
    pub fn at_least(&self, board: &Board, bound: usize) -> usize {
        let bound = bound.max(usize::from(*board != self.goal));
        bound + (bound + self.blank_distance(board)) % 2
    }

    /// Returns the number of cells between a board's blank and that of the goal.
    fn blank_distance(&self, board: &Board) -> usize {
        let cols = self.goal.size().cols();
        let (from, to) = (board.blank(), self.goal.blank());
        (from / cols).abs_diff(to / cols) + (from % cols).abs_diff(to % cols)
    }

    #[inline(always)]
    pub(crate) fn cell(&self, blank: usize, direction: Direction) -> u8 {
        self.cells[blank][direction as usize]
    }

    /// Returns the number of symmetric look-ups per node.
    pub fn views(&self) -> usize {
        self.views.len()
    }

    /// Returns whether a board is the goal.
    pub(crate) fn is_goal(&self, board: &[u8]) -> bool {
        let mut pairs = self.goal.tiles().iter().zip(board);
        pairs.all(|(&goal, &tile)| goal == u16::from(tile))
    }
}

// What a walk over databases of one bit an entry reads at its nodes, side by side.
//
// Invariant: it is what the views and databases of the tree say.

/// Most views of such a walk: 16 bits of one word, a field, tell how much their sum leaves. A sum has the field of its first
/// view.
pub(crate) const MAX_BIT_VIEWS: usize = 8;

/// A database as a view reads it.
#[derive(Clone, Copy)]
pub(crate) struct BitTable<'t> {
    pub bytes: &'t [u8],
    pub sets: &'t CellSets,
    /// Bits from a slot to the next, and from an arrangement to the next.
    pub strides: [u64; 2],
}

/// How the blank moves in a direction.
#[derive(Clone, Copy)]
pub(crate) struct BlankStep<const V: usize> {
    /// Where the tile comes from.
    pub cell: u8,
    /// How each view numbers that cell.
    pub image: [u8; V],
    /// By how much the tile's set of cells changes.
    pub set: [u64; V],
    /// 1 where the tile passes others forward, else -1.
    pub forward: [i64; V],
}

/// The tables of a walk through V views, or as many as there are.
pub(crate) struct BitTables<'t, const V: usize> {
    pub tree: &'t Tree,
    /// The databases of each view, as many as patterns can be: the last ones again.
    pub databases: [[BitTable<'t>; MAX_PATTERNS]; V],
    /// The pattern of each tile, [`NO_PATTERN`] for none.
    pub pattern: [[u8; V]; CELLS],
    /// For each tile a move that its sums do not see: 1 in the field of every sum that it is in no pattern of.
    pub unseen: [u128; CELLS],
    /// The fields of views that are no sum's first, and by how many bits that one's is lower.
    pub joined: Vec<(u128, u32)>,
    /// The moves of each blank cell by their directions.
    pub moves: Vec<[BlankStep<V>; 4]>,
    /// For each move what the tile passes: a cell, and in which views; filled up with the blank's own cell.
    passed: Vec<(u8, u8)>,
    most: usize,
    /// By how much a child that is cut off exceeds the limit at least.
    pub least: i32,
    /// By how much the tile's arrangement changes, for these views, the tile and the one that it passes.
    weights: Vec<[i32; V]>,
}

impl<'t, const V: usize> BitTables<'t, V> {
    /// Returns the tables of a tree; none when a database is no region-aware one of one bit an entry, or there are more
    /// views than fit. Cost: some 10 us.
    pub fn new(tree: &'t Tree) -> Option<BitTables<'t, V>> {
        let views = &tree.views[..];
        let bits = |lens: &'t Lens, p: usize| {
            let database = lens.databases.get(p).or(lens.databases.last())?;
            let (bytes, strides) = database.layout();
            let sets = database.bits()?;
            Some(BitTable { bytes, sets, strides })
        };
        if V > MAX_BIT_VIEWS || views.len() > V || !tree.databases().all(|d| d.bits().is_some()) {
            return None;
        }
        let mut databases = [[bits(&views[0], 0)?; MAX_PATTERNS]; V];
        let mut pattern = [[NO_PATTERN; V]; CELLS];
        for (v, lens) in views.iter().enumerate() {
            for (p, to) in databases[v].iter_mut().enumerate() {
                *to = bits(lens, p)?;
            }
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
                let mut to = BlankStep { cell, image: [0; V], set: [0; V], forward: [1; V] };
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
                    weight[v] = lens.view.passing(tile, other) as i32;
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
        Some(BitTables {
            tree,
            // Where every move changes the value of some pattern, all sums are as odd as the moves left.
            least: if unseen == [0; CELLS] { 2 } else { 1 },
            unseen,
            joined,
            databases,
            pattern,
            moves,
            passed: passed.concat(),
            most,
            weights,
        })
    }

    /// By how much the arrangements of a tile's patterns change, up to the sign, when it moves into the blank.
    #[inline(always)]
    pub fn change(
        &self,
        board: &[u8; CELLS],
        blank: usize,
        direction: usize,
        tile: u8,
    ) -> [i32; V] {
        let mut change = [0; V];
        let begin = (4 * blank + direction) * self.most;
        for &(cell, group) in &self.passed[begin..begin + self.most] {
            let other = usize::from(board[usize::from(cell) % CELLS]);
            let at = (usize::from(group) * CELLS + usize::from(tile)) * CELLS + other;
            for (change, weight) in change.iter_mut().zip(&self.weights[at]) {
                *change += weight;
            }
        }
        change
    }
}
