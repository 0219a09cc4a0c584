//! The depth-first walk over databases of one bit an entry: [`crate::solve::walk::Walk`] for the databases of the hardest boards.
//!
//! A move changes the value of its tile's pattern by one, up or down. So a sum leaves a node so many moves to spare, and a
//! child as many or two fewer: one word holds what all sums leave, and one subtraction tells whether a child is cut off.
//! Nothing is undone on the way up: what a child replaces is exchanged with what it brings, back and forth.
//!
//! Invariant: solutions, nodes, excess and moves left are those of [`crate::solve::walk::Walk`].

use crate::kernel::prefetch;
use crate::puzzle::Direction;
use crate::solve::control::{Control, WalkResult};
use crate::solve::database::CELLS;
use crate::solve::heuristic::{MAX_CELLS, NO_PATTERN};
use crate::solve::tree::{BitTables, MAX_BIT_VIEWS, MAX_PATTERNS};
use crate::solve::walk::{ASK_EVERY, WalkNode};

/// The sign of what each view leaves.
const SIGNS: u128 = 0x8000_8000_8000_8000_8000_8000_8000_8000;

/// Where the parts of a pattern's word are: its set of cells lowest, then the rank of the arrangement, then the value.
const RANK: u32 = 32;

const VALUE: u32 = 56;

/// The children of a node that are not cut off.
#[derive(Clone, Copy)]
struct StackLevel<const V: usize> {
    /// What each child brings: the words of its patterns, and what the sums leave. While the walk is below a child, what
    /// its node had instead.
    words: [[u64; 4]; V],
    spare: [u128; 4],
    state: [u32; 4],
    cell: [u8; 4],
    /// The children to come, two bits each in bytes, the first lowest; the one that the walk is below is highest.
    list: u32,
    left: u32,
    blank: u8,
}

impl<const V: usize> StackLevel<V> {
    const NONE: StackLevel<V> = StackLevel {
        words: [[0; 4]; V],
        spare: [0; 4],
        state: [0; 4],
        cell: [0; 4],
        list: 0,
        left: 0,
        blank: 0,
    };
}

/// A walk through a subtree.
pub(crate) struct BitWalk<'w, const V: usize> {
    tables: &'w BitTables<'w, V>,
    control: &'w Control<'w>,
    place: usize,
    board: [u8; CELLS],
    blank: u8,
    state: u32,
    words: [[u64; MAX_PATTERNS]; V],
    /// Moves to spare in each sum, 16 bits each.
    spare: u128,
    levels: Vec<StackLevel<V>>,
    nodes: u64,
    excess: i32,
}

impl<'w, const V: usize> BitWalk<'w, V> {
    /// Returns the walk from a node that is not cut off, looking for solutions of `room` moves: there are none of fewer.
    pub fn new(
        tables: &'w BitTables<'w, V>,
        node: &WalkNode<V>,
        room: i32,
        control: &'w Control<'w>,
        place: usize,
    ) -> BitWalk<'w, V> {
        let mut walk = BitWalk {
            tables,
            control,
            place,
            board: [0; CELLS],
            blank: node.blank,
            state: node.state,
            words: [[0; MAX_PATTERNS]; V],
            spare: 0,
            levels: vec![StackLevel::NONE; room.max(1) as usize],
            nodes: 0,
            excess: i32::MAX,
        };
        let cells = CELLS.min(MAX_CELLS);
        walk.board[..cells].copy_from_slice(&node.board[..cells]);
        for (v, lookup) in node.lookups.iter().enumerate() {
            for (p, word) in walk.words[v].iter_mut().enumerate() {
                let value = u64::from(lookup.value[p]);
                *word = lookup.set[p] | lookup.index[p] << RANK | value << VALUE;
            }
        }
        // Fields that are no sum's cut nothing off.
        let mut spare = [1 << 14; MAX_BIT_VIEWS];
        for sum in tables.tree.sums() {
            let field = sum.start;
            spare[field] = (room - node.sum(sum)).max(0) as u128;
        }
        for (field, spare) in spare.iter().enumerate() {
            walk.spare |= spare << (16 * field);
        }
        walk
    }

    /// Walks through the subtree; returns what it found, the solution being the way from its root.
    pub fn pass(mut self) -> WalkResult {
        let (mut asked_at, mut ask_at) = (0, 1);
        let (mut depth, mut deepest, mut solved, mut stopped) = (0, 0, false, false);
        'walk: loop {
            self.nodes += self.children(depth);
            if self.nodes >= ask_at {
                stopped = self.control.ask(self.nodes - asked_at, self.place);
                (asked_at, ask_at) = (self.nodes, self.nodes + self.nodes.min(ASK_EVERY));
                if stopped {
                    break;
                }
            }
            loop {
                if self.levels[depth].left > 0 {
                    self.enter(depth);
                    depth += 1;
                    deepest = deepest.max(depth);
                    if depth < self.levels.len() {
                        break;
                    }
                    // There are no moves left.
                    solved = self.tables.tree.is_goal(&self.board);
                    if solved {
                        break 'walk;
                    }
                    // What is left to move is in no pattern: it takes moves that no sum tells.
                    self.excess = self.excess.min(1);
                } else if depth == 0 {
                    break 'walk;
                }
                depth -= 1;
                self.leave(depth);
            }
        }
        self.control.ask(self.nodes - asked_at, self.place);
        WalkResult {
            solution: solved.then(|| self.path(depth)),
            nodes: self.nodes,
            excess: self.excess,
            left: (self.levels.len() - deepest) as i32,
            stopped,
        }
    }

    /// Generates the children of a node and keeps those that are not cut off; returns how many there were.
    #[inline(always)]
    fn children(&mut self, depth: usize) -> u64 {
        let (tables, level) = (self.tables, &mut self.levels[depth]);
        let moves = &tables.moves[usize::from(self.blank)];
        let mut count = 0;
        let (mut tiles, mut directions) = ([0; 4], [0; 4]);
        let (mut ranks, mut entries) = ([[0; V]; 4], [[0; V]; 4]);
        // What is read for one child after the other is asked for before the first is looked at.
        for (direction, state) in tables.tree.pruner.moves(self.state) {
            let i = count % 4;
            count += 1;
            tables.tree.pruner.prefetch(state);
            let to = &moves[direction as usize];
            let tile = self.board[usize::from(to.cell) % CELLS] % CELLS as u8;
            (level.state[i], level.cell[i]) = (state, to.cell);
            (tiles[i], directions[i]) = (tile, direction as usize);
            let blank = usize::from(self.blank);
            let change = tables.change(&self.board, blank, direction as usize, tile);
            for v in 0..V {
                let p = tables.pattern[usize::from(tile)][v];
                if p == NO_PATTERN {
                    continue;
                }
                let p = usize::from(p) % MAX_PATTERNS;
                let turn = (i64::from(change[v]) * to.forward[v]) << RANK;
                let word = self.words[v][p].wrapping_add(to.set[v]);
                let word = word.wrapping_add_signed(turn);
                level.words[v][i] = word;
                ranks[i][v] = tables.databases[v][p].sets.rank(word as u32);
            }
        }
        for i in 0..count.min(4) {
            let (tile, to) = (tiles[i], &moves[directions[i] % 4]);
            for v in 0..V {
                let p = tables.pattern[usize::from(tile) % CELLS][v];
                if p == NO_PATTERN {
                    continue;
                }
                let bits = &tables.databases[v][usize::from(p) % MAX_PATTERNS];
                let slot = bits.sets.slot(ranks[i][v], to.image[v]);
                let arrangement = level.words[v][i] << (64 - VALUE) >> (64 - VALUE + RANK);
                let entry = slot * bits.strides[0] + arrangement * bits.strides[1];
                entries[i][v] = entry;
                prefetch::<1, _>(bits.bytes.as_ptr().wrapping_add((entry / 8) as usize));
            }
        }
        let (mut list, mut left, mut cut) = (0, 0, 0);
        for i in 0..count.min(4) {
            let mut less = 0;
            for v in 0..V {
                let p = tables.pattern[usize::from(tiles[i]) % CELLS][v];
                if p == NO_PATTERN {
                    continue;
                }
                let bits = &tables.databases[v][usize::from(p) % MAX_PATTERNS];
                let (entry, word) = (entries[i][v], level.words[v][i]);
                let bit = u64::from(bits.bytes[(entry / 8) as usize] >> (entry % 8) & 1);
                // See crate::pdb::after.
                let fewer = (((word >> VALUE) + 1) >> 1 & 1) ^ bit;
                let change = 1u64.wrapping_sub(2 * fewer);
                level.words[v][i] = word.wrapping_add(change << VALUE);
                less |= u128::from(2 - 2 * fewer) << (16 * v);
            }
            for &(field, down) in &tables.joined {
                less = less & !field | (less & field) >> down;
            }
            if tables.least == 1 {
                less |= tables.unseen[usize::from(tiles[i]) % CELLS];
            }
            // A sign that is borrowed stays within its 16 bits.
            let spare = ((self.spare | SIGNS) - less) ^ SIGNS;
            level.spare[i] = spare;
            let stays = u32::from(spare & SIGNS == 0);
            list |= (i as u32 * stays) << (8 * left);
            left += stays;
            cut |= (1 - stays) << i;
        }
        (level.list, level.left, level.blank) = (list, left, self.blank);
        if cut != 0 && self.excess > tables.least {
            for i in (0..4).filter(|i| cut >> i & 1 == 1) {
                let spare = level.spare[i];
                let first = (spare & SIGNS).trailing_zeros() / 16 * 16;
                let by = -i32::from((spare >> first) as i16);
                self.excess = self.excess.min(by);
            }
        }
        count as u64
    }

    /// Goes down to the first child that is left.
    #[inline(always)]
    fn enter(&mut self, depth: usize) {
        let level = &mut self.levels[depth];
        let i = level.list % 4;
        (level.list, level.left) = (level.list >> 8 | i << 30, level.left - 1);
        let cell = level.cell[i as usize];
        self.board.swap(usize::from(cell) % CELLS, usize::from(self.blank) % CELLS);
        let tile = self.board[usize::from(self.blank) % CELLS];
        (self.blank, self.state) = (cell, level.state[i as usize]);
        self.exchange(depth, i as usize, tile);
    }

    /// Goes back up from it.
    #[inline(always)]
    fn leave(&mut self, depth: usize) {
        let level = &self.levels[depth];
        let i = (level.list >> 30) as usize;
        let blank = level.blank;
        let tile = self.board[usize::from(blank) % CELLS];
        self.board.swap(usize::from(self.blank) % CELLS, usize::from(blank) % CELLS);
        self.blank = blank;
        self.exchange(depth, i, tile);
    }

    #[inline(always)]
    fn exchange(&mut self, depth: usize, i: usize, tile: u8) {
        let level = &mut self.levels[depth];
        std::mem::swap(&mut self.spare, &mut level.spare[i]);
        for v in 0..V {
            let p = self.tables.pattern[usize::from(tile) % CELLS][v];
            if p != NO_PATTERN {
                let p = usize::from(p) % MAX_PATTERNS;
                std::mem::swap(&mut self.words[v][p], &mut level.words[v][i]);
            }
        }
    }

    /// The moves down to a depth.
    fn path(&self, depth: usize) -> Vec<Direction> {
        let step = |level: &StackLevel<V>| {
            let cell = level.cell[(level.list >> 30) as usize];
            let blank = usize::from(level.blank);
            let leads = |&d: &Direction| self.tables.tree.cell(blank, d) == cell;
            Direction::ALL.into_iter().find(leads)
        };
        self.levels[..depth].iter().filter_map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::pdb::{Build, Encoding, Kind, Pattern, Pdb, build};
    use crate::progress::NoProgress;
    use crate::puzzle::{Board, Goal, Size};
    use crate::search::Share;
    use crate::solve::control::NoRecorder;
    use crate::solve::tree::Tree;
    use crate::solve::walk::Walk;
    use crate::solve::{Optimal, Scrambler};

    fn solver(goal: &Board, partitions: &[&[&[u16]]]) -> Optimal {
        let bits = |tiles: &&[u16]| -> Arc<Pdb> {
            let how = Build {
                kind: Kind::Regions,
                encoding: Encoding::Bit,
                ..Build::new(Pattern::new(goal.clone(), tiles).unwrap())
            };
            Arc::new(build(&how, &NoProgress).unwrap())
        };
        let partition = |patterns: &&[&[u16]]| patterns.iter().map(bits).collect();
        Optimal::with_partitions(goal, partitions.iter().map(partition)).unwrap()
    }

    /// Both walks through all iterations of a board; returns the nodes of the last.
    fn compare<const V: usize>(tree: &Tree, board: &Board) -> u64 {
        let mut limit = tree.estimate(board) as i32;
        loop {
            let alone = Share::alone();
            let observers = (&NoProgress as _, &NoRecorder as _);
            let control = Control::new(observers, &alone, limit as usize, 0);
            let root = Walk::<V, false>::new(tree, board, &control).root();
            let expected = Walk::<V, false>::resume(tree, &root, &[], &control, 0).pass(limit);
            let tables = BitTables::<V>::new(tree).expect("all are bits");
            let found = BitWalk::new(&tables, &root, limit, &control, 0).pass();
            assert_eq!(found.solution, expected.solution, "{board}, {limit}");
            assert_eq!(found.nodes, expected.nodes, "{board}, {limit}");
            assert!(!found.stopped && !expected.stopped);
            if let Some(moves) = found.solution {
                assert_eq!(moves.len(), limit as usize);
                return found.nodes;
            }
            assert_eq!(found.excess, expected.excess, "{board}, {limit}");
            assert_eq!(found.left, expected.left, "{board}, {limit}");
            limit += found.excess;
        }
    }

    fn compare_all<const V: usize>(goal: &Board, partitions: &[&[&[u16]]], boards: usize) {
        let solver = solver(goal, partitions);
        let boards = || Scrambler::new(goal.clone(), 7).take(boards);
        let all = || -> Vec<u64> { boards().map(|b| compare::<V>(&solver.tree, &b)).collect() };
        let before = all();
        solver.tree.arrange(&NoProgress);
        let arranged = |database: &crate::solve::database::Database| database.layout().1[0] == 1;
        // Small ones fit the caches in any order.
        let large = partitions.concat().iter().any(|tiles| tiles.len() > 3);
        assert_eq!(solver.tree.databases().any(arranged), large);
        assert_eq!(all(), before);
        assert!(before.iter().sum::<u64>() > 100, "{before:?}");
        let sharing = self::solver(goal, partitions).without_copies();
        sharing.tree.arrange(&NoProgress);
        assert!(!sharing.tree.databases().any(arranged));
    }

    #[test]
    fn the_walk_over_bits_is_the_walk_over_any_databases() {
        let size = |rows, cols| Size::new(rows, cols).unwrap();
        let corner = Goal::First.board(size(3, 3)).unwrap();
        let rows: &[&[u16]] = &[&[1, 2, 3, 4], &[5, 6, 7, 8]];
        compare_all::<2>(&corner, &[rows], 20);
        compare_all::<4>(&corner, &[rows, &[&[1, 2, 5, 8], &[3, 4, 6, 7]]], 20);
        // Fewer views than the walk has room for.
        compare_all::<4>(&corner, &[rows], 5);
        // Tiles of no pattern: sums are as odd as they like.
        compare_all::<4>(&corner, &[&[&[1, 2, 3, 4]], &[&[4, 5, 6, 7, 8]]], 20);
        // A pattern and its mirror image make one sum, alone and beside others.
        let mirrored: &[&[u16]] = &[&[1, 2, 5], &[4, 8]];
        compare_all::<2>(&corner, &[mirrored], 20);
        compare_all::<4>(&corner, &[mirrored, rows], 20);
        compare_all::<4>(&corner, &[&[&[1, 2]], mirrored], 10);
        // All symmetries: a tile passes other cells in each.
        let centre = Board::parse("1 2 3/4 0 5/6 7 8", None).unwrap();
        compare_all::<8>(&centre, &[&[&[1, 2, 3, 4], &[5, 6, 7, 8]]], 20);
        // Boards that are not square, and the blank's goal in the middle of a side.
        let long = Goal::First.board(size(3, 4)).unwrap();
        let halves: &[&[u16]] = &[&[1, 2, 4, 5, 6], &[3, 7, 8, 9, 10, 11]];
        compare_all::<1>(&long, &[halves], 5);
        let oblong = Board::parse("1 2 0 3 4/5 6 7 8 9", None).unwrap();
        compare_all::<2>(&oblong, &[&[&[1, 2, 3, 4, 5], &[6, 7, 8, 9]]], 5);
    }
}
