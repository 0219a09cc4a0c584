//! Move pruning with a finite-state machine: sequences of moves that only reach what an earlier sequence reaches are
//! never searched.
//!
//! Source: L. A. Taylor and R. E. Korf, Pruning duplicate nodes in depth-first search, AAAI 1993.
//!
//! Invariant: a pruned sequence leads from its starting cell to the same board as an unpruned sequence that is shorter,
//! or of equal length and earlier in the order of [`Direction::ALL`]. This order is preserved when part of a sequence
//! is replaced, so every board keeps at least one shortest sequence.

use std::{
    collections::{
        VecDeque,
        hash_map::{Entry, HashMap},
    },
    hash::{BuildHasherDefault, Hasher},
};

use rayon::prelude::*;

use crate::{
    kernel::prefetch,
    puzzle::{Direction, Size},
    random::SplitMix64,
};

/// A pruner for the blank's walks on boards of one size.
///
/// ```
/// use tilewave::puzzle::{Direction, Size};
/// use tilewave::solve::MovePruner;
/// let pruner = MovePruner::new(Size::new(4, 4)?, 12);
/// let start = pruner.start(5);
/// assert_eq!(pruner.moves(start).count(), 4);
/// let (_, after) = pruner.moves(start).find(|(d, _)| *d == Direction::Up).unwrap();
/// assert!(pruner.moves(after).all(|(d, _)| d != Direction::Down)); // not straight back
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MovePruner {
    /// For each state, the moves that it allows, as next state times four plus direction; [`NONE`] after the last.
    next: Vec<[u32; 4]>,
}

const NONE: u32 = u32::MAX;

/// A node of the prefix trees; there is one tree per starting cell.
struct PrefixNode {
    cell: usize,
    child: [u32; 4],
    /// The state of the longest proper suffix that is a prefix in some tree.
    suffix: u32,
}

impl MovePruner {
    /// Returns the pruner that contains all duplicates among sequences of at most `depth` moves.
    ///
    /// Cost: all such sequences are walked once from every cell, about 16 * 2.2^depth boards on 4x4: 8 ms on two cores
    /// for depth 12.
    pub fn new(size: Size, depth: usize) -> MovePruner {
        let cells = size.cells();
        let mut nodes: Vec<PrefixNode> =
            (0..cells).map(|cell| PrefixNode { cell, child: [NONE; 4], suffix: NONE }).collect();
        let mut pruned: Vec<[bool; 4]> = vec![[false; 4]; cells];
        let all: Vec<_> =
            (0..cells).into_par_iter().map(|start| duplicates(size, start, depth)).collect();
        for (start, sequences) in all.iter().enumerate() {
            for sequence in sequences {
                insert(&mut nodes, &mut pruned, size, start, sequence);
            }
        }
        let mut next = link(size, &mut nodes, &mut pruned);
        for next in &mut next {
            let mut moves = [NONE; 4];
            let allowed = (0..).zip(*next).filter(|(_, next)| *next != NONE);
            for (to, (direction, next)) in moves.iter_mut().zip(allowed) {
                *to = next << 2 | direction;
            }
            *next = moves;
        }
        MovePruner { next }
    }

    /// Returns the state before the first move, with the blank on a row-major cell.
    pub fn start(&self, blank: usize) -> u32 {
        blank as u32
    }

    /// Returns the state after a move, or `None` if the move is blocked or pruned.
    pub fn next(&self, state: u32, direction: Direction) -> Option<u32> {
        let mut moves = self.moves(state);
        moves.find_map(|(d, next)| (d == direction).then_some(next))
    }

    /// Returns the moves that a state allows, in the order of [`Direction::ALL`], and the states after them.
    #[inline]
    pub fn moves(&self, state: u32) -> impl Iterator<Item = (Direction, u32)> + use<> {
        let moves = self.next[state as usize].into_iter();
        let moves = moves.take_while(|&next| next != NONE);
        moves.map(|next| (Direction::ALL[(next & 3) as usize], next >> 2))
    }

    /// Prefetches the moves that a state allows.
    #[inline]
    pub(crate) fn prefetch(&self, state: u32) {
        prefetch::<1, _>(self.next.as_ptr().wrapping_add(state as usize));
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.next.len()
    }
}

/// A board, and the first sequence of moves that reaches it.
#[derive(Clone, Copy)]
struct ReachedBoard {
    key: u64,
    /// The previous board; none for the first one.
    before: u32,
    blank: u16,
    /// The move from the previous board.
    direction: Direction,
}

/// The duplicate sequences from one cell, none of which begins with another. A sequence that undoes a move is among
/// them only if it does so at once: all others end with such a sequence from another cell.
fn duplicates(size: Size, start: usize, depth: usize) -> Vec<Vec<Direction>> {
    let cells = size.cells();
    // Which tile is where does not matter as long as they differ. A key is a sum of tiles times random numbers of their
    // cells, which a move changes by one product; boards with equal keys are compared.
    let mut random = SplitMix64::new(0);
    let weights: Vec<u64> = (0..cells).map(|_| random.draw()).collect();
    let mut reached =
        vec![ReachedBoard { key: 0, before: NONE, blank: start as u16, direction: Direction::Up }];
    let mut seen: HashMap<u64, u32, BuildHasherDefault<Key>> = HashMap::from_iter([(0, 0)]);
    let mut found = Vec::new();
    let mut level = 0..1;
    let mut boards = replay(size, start, &[]);
    for left in (0..depth).rev() {
        let mut next_boards = Vec::new();
        for (at, board) in level.clone().zip(boards.chunks(cells)) {
            let from: ReachedBoard = reached[at];
            let blank = usize::from(from.blank);
            for direction in Direction::ALL {
                let back = from.before != NONE
                    && from.before != 0
                    && direction == from.direction.opposite();
                let Some(cell) = direction.tile_cell(size, blank).filter(|_| !back) else {
                    continue;
                };
                let change = weights[blank].wrapping_sub(weights[cell]);
                let to = ReachedBoard {
                    key: from.key.wrapping_add(change.wrapping_mul(board[cell].into())),
                    before: at as u32,
                    blank: cell as u16,
                    direction,
                };
                match seen.entry(to.key) {
                    Entry::Vacant(entry) => {
                        entry.insert(reached.len() as u32);
                        reached.push(to);
                        if left > 0 {
                            let end = next_boards.len();
                            next_boards.extend_from_slice(board);
                            next_boards.swap(end + blank, end + cell);
                        }
                    }
                    Entry::Occupied(entry) => {
                        let first = path(&reached, reached[*entry.get() as usize]);
                        let duplicate = path(&reached, to);
                        if replay(size, start, &first) == replay(size, start, &duplicate) {
                            found.push(duplicate);
                        }
                    }
                }
            }
        }
        level = level.end..reached.len();
        boards = next_boards;
    }
    found
}

/// The board that results from moves: tiles by cell, 0 for the blank.
fn replay(size: Size, start: usize, moves: &[Direction]) -> Vec<u16> {
    let mut board: Vec<u16> = (1..=size.cells() as u16).collect();
    let mut blank = start;
    board[blank] = 0;
    for direction in moves {
        let cell = direction.tile_cell(size, blank).unwrap_or(blank);
        board.swap(blank, cell);
        blank = cell;
    }
    board
}

/// The moves to a board.
fn path(reached: &[ReachedBoard], to: ReachedBoard) -> Vec<Direction> {
    let earlier = |board: &ReachedBoard| reached.get(board.before as usize).copied();
    let back = std::iter::successors(Some(to), earlier).filter(|board| board.before != NONE);
    let mut moves: Vec<Direction> = back.map(|board| board.direction).collect();
    moves.reverse();
    moves
}

/// Hashes a key, which is already random, to itself.
#[derive(Default)]
struct Key(u64);

impl Hasher for Key {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        unreachable!("keys are words, not {} bytes", bytes.len());
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

fn insert(
    nodes: &mut Vec<PrefixNode>,
    pruned: &mut Vec<[bool; 4]>,
    size: Size,
    start: usize,
    sequence: &[Direction],
) {
    let Some((&last, front)) = sequence.split_last() else {
        return;
    };
    let mut at = start;
    for &direction in front {
        let child = nodes[at].child[direction as usize];
        at = if child == NONE {
            let cell = direction.tile_cell(size, nodes[at].cell).unwrap_or(nodes[at].cell);
            let new = nodes.len() as u32;
            nodes[at].child[direction as usize] = new;
            nodes.push(PrefixNode { cell, child: [NONE; 4], suffix: NONE });
            pruned.push([false; 4]);
            new as usize
        } else {
            child as usize
        };
    }
    pruned[at][last as usize] = true;
}

/// Combines the trees into one automaton (Aho and Corasick 1975): a state represents the longest suffix of the moves so
/// far that is a prefix of a duplicate.
fn link(size: Size, nodes: &mut [PrefixNode], pruned: &mut [[bool; 4]]) -> Vec<[u32; 4]> {
    let roots = size.cells();
    let mut next = vec![[NONE; 4]; nodes.len()];
    let mut queue: VecDeque<usize> = (0..roots).collect();
    while let Some(at) = queue.pop_front() {
        let suffix = nodes[at].suffix;
        for direction in Direction::ALL {
            let d = direction as usize;
            let Some(cell) = direction.tile_cell(size, nodes[at].cell) else {
                continue;
            };
            // This state has the transitions of its suffix, unless its own tree goes deeper.
            let shorter = if suffix == NONE { cell as u32 } else { next[suffix as usize][d] };
            if suffix != NONE && shorter == NONE {
                pruned[at][d] = true;
            }
            let child = nodes[at].child[d];
            if child != NONE {
                nodes[child as usize].suffix = if shorter == NONE { cell as u32 } else { shorter };
                queue.push_back(child as usize);
            }
            if !pruned[at][d] {
                next[at][d] = if child != NONE { child } else { shorter };
            }
        }
    }
    next
}
