//! Move pruning by a finite-state machine: sequences of moves that only reach what an earlier sequence
//! reaches are never searched.
//!
//! Source: L. A. Taylor and R. E. Korf, Pruning duplicate nodes in depth-first search, AAAI 1993.
//!
//! Invariant: a pruned sequence leads from its starting cell to the same board as a sequence that is
//! shorter, or as long and earlier in the order of [`Direction::ALL`], and that is not pruned. This order
//! survives replacing a part of a sequence, so every board keeps at least one shortest sequence.

use std::collections::{HashMap, VecDeque};

use crate::puzzle::tiles::{Direction, Size};

/// A pruner of the blank's walks on a board of one size.
///
/// ```
/// use tilewave::puzzle::tiles::{Direction, Size};
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
    /// Next state for each state and direction, [`NONE`] where the move is blocked or pruned.
    next: Vec<[u32; 4]>,
}

const NONE: u32 = u32::MAX;

/// A node of the prefix trees, one tree per starting cell.
struct Node {
    cell: usize,
    child: [u32; 4],
    /// The state of the longest proper suffix that is a prefix in some tree.
    suffix: u32,
}

impl MovePruner {
    /// Returns the pruner that knows all duplicates among sequences of at most `depth` moves.
    ///
    /// Cost: all such sequences are walked once from every cell: about 16 * 2.2^depth board copies on
    /// 4x4, 30 ms for depth 12.
    pub fn new(size: Size, depth: usize) -> MovePruner {
        let cells = size.cells();
        let mut nodes: Vec<Node> = (0..cells)
            .map(|cell| Node {
                cell,
                child: [NONE; 4],
                suffix: NONE,
            })
            .collect();
        let mut pruned: Vec<[bool; 4]> = vec![[false; 4]; cells];
        for start in 0..cells {
            for sequence in duplicates(size, start, depth) {
                insert(&mut nodes, &mut pruned, size, start, &sequence);
            }
        }
        MovePruner {
            next: link(size, &mut nodes, &mut pruned),
        }
    }

    /// Returns the state before the first move, the blank being at a row-major cell.
    pub fn start(&self, blank: usize) -> u32 {
        blank as u32
    }

    /// Returns the state after a move, or `None` when the move is blocked or pruned.
    pub fn next(&self, state: u32, direction: Direction) -> Option<u32> {
        Some(self.next[state as usize][direction as usize]).filter(|&next| next != NONE)
    }

    /// Returns the moves that a state allows, and the states after them.
    pub fn moves(&self, state: u32) -> impl Iterator<Item = (Direction, u32)> + use<> {
        let next = self.next[state as usize];
        Direction::ALL
            .into_iter()
            .zip(next)
            .filter(|(_, next)| *next != NONE)
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.next.len()
    }
}

/// The duplicate sequences from one cell, none of which begins with another.
fn duplicates(size: Size, start: usize, depth: usize) -> Vec<Vec<Direction>> {
    // Which tile is where does not matter as long as they differ: cell numbers are tiles.
    let board: Vec<u16> = (0..size.cells() as u16).collect();
    let mut seen = HashMap::from([(board.clone(), ())]);
    let mut queue = VecDeque::from([(board, start, Vec::new())]);
    let mut found = Vec::new();
    while let Some((board, blank, path)) = queue.pop_front() {
        if path.len() == depth {
            continue;
        }
        for direction in Direction::ALL {
            let Some(cell) = direction.tile_cell(size, blank) else {
                continue;
            };
            let mut board = board.clone();
            board.swap(blank, cell);
            let mut path = path.clone();
            path.push(direction);
            if seen.insert(board.clone(), ()).is_some() {
                found.push(path);
            } else {
                queue.push_back((board, cell, path));
            }
        }
    }
    found
}

fn insert(
    nodes: &mut Vec<Node>,
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
            let cell = direction
                .tile_cell(size, nodes[at].cell)
                .unwrap_or(nodes[at].cell);
            let new = nodes.len() as u32;
            nodes[at].child[direction as usize] = new;
            nodes.push(Node {
                cell,
                child: [NONE; 4],
                suffix: NONE,
            });
            pruned.push([false; 4]);
            new as usize
        } else {
            child as usize
        };
    }
    pruned[at][last as usize] = true;
}

/// Joins the trees to one automaton (Aho and Corasick 1975): a state stands for the longest suffix of the
/// moves so far that is the beginning of a duplicate.
fn link(size: Size, nodes: &mut [Node], pruned: &mut [[bool; 4]]) -> Vec<[u32; 4]> {
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
            // Where the suffix goes, this state goes unless its own tree goes deeper.
            let shorter = if suffix == NONE {
                cell as u32
            } else {
                next[suffix as usize][d]
            };
            if suffix != NONE && shorter == NONE {
                pruned[at][d] = true;
            }
            let child = nodes[at].child[d];
            if child != NONE {
                nodes[child as usize].suffix = if shorter == NONE {
                    cell as u32
                } else {
                    shorter
                };
                queue.push_back(child as usize);
            }
            if !pruned[at][d] {
                next[at][d] = if child != NONE { child } else { shorter };
            }
        }
    }
    next
}
