//! Shortest solutions of states near a solved one, from two lists and without tables: breadth-first from the state and
//! back from the solved states, until the two meet.
//!
//! The list from the solved states is kept for the next state. What the other list would add last is only looked up.
//!
//! Source: I. Pohl, Bi-directional search, Machine Intelligence 6, 1971.
//!
//! Invariant: when a list has all states of a depth, all shorter solutions have been found.

use std::collections::HashMap;

use crate::{
    frontier::StateFields,
    progress::Progress,
    puzzle::{Arrangement, Puzzle, Unreachable, reachable::Reachability},
    solve::{ida::Answer, pruner::RowMoves, puzzles::replayed},
};

/// Maximum number of states of both lists, and of those that are looked up for a level.
const MOST_STATES: usize = 1 << 20;
const MOST_LOOK_UPS: usize = 1 << 21;
/// What a state takes besides its two rows, in bytes: boxes, a depth, places of a hash table.
const STATE_BYTES: usize = 96;

/// The states within some moves, with their depths.
struct NearStates {
    known: HashMap<Box<[u8]>, u8>,
    /// Those of the last depth.
    level: Vec<Box<[u8]>>,
    depth: u8,
}

impl NearStates {
    fn of(rows: impl Iterator<Item = Vec<u8>>) -> NearStates {
        let known: HashMap<Box<[u8]>, u8> = rows.map(|row| (row.into(), 0)).collect();
        NearStates { level: known.keys().cloned().collect(), known, depth: 0 }
    }

    /// Adds the next depth.
    fn grow(&mut self, moves: &RowMoves, count: usize) {
        let mut next = Vec::new();
        self.depth += 1;
        for row in &self.level {
            let mut after = row.clone();
            for one in 0..count {
                if moves.apply(one, row, &mut after) && !self.known.contains_key(&after) {
                    self.known.insert(after.clone(), self.depth);
                    next.push(after.clone());
                }
            }
        }
        self.level = next;
    }

    /// A way from a state of the list to one of depth 0, as numbers of moves.
    fn way(&self, moves: &RowMoves, count: usize, from: &[u8]) -> Vec<usize> {
        let (mut at, mut way): (Box<[u8]>, Vec<usize>) = (from.into(), Vec::new());
        while let Some(&depth) = self.known.get(&at).filter(|depth| **depth > 0) {
            let mut after = at.clone();
            let closer = (0..count).find(|&one| {
                moves.apply(one, &at, &mut after)
                    && self.known.get(&after).is_some_and(|&own| own < depth)
            });
            let Some(one) = closer else { break };
            way.push(one);
            at = after;
        }
        way
    }
}

/// A solver for states a few moves from a solved one: up to ten moves of the 3x3x3, six of the 4x4x4.
pub struct MeetingLists {
    puzzle: Puzzle,
    reachable: Reachability,
    fields: StateFields,
    /// The moves, and their inverses.
    moves: [RowMoves; 2],
    solved: NearStates,
    /// Maximum number of states of both lists.
    most: usize,
}

impl MeetingLists {
    /// Returns the solver for a puzzle, with lists that take at most a number of bytes together. Cost: microseconds, and
    /// memory only as lists grow: at most a million states.
    pub fn new(puzzle: &Puzzle, memory: u64) -> MeetingLists {
        let fields = StateFields::of(puzzle);
        let back = puzzle.clone().reversed();
        let moves = [puzzle, &back].map(|of| RowMoves::new(of, &fields, None));
        let solved = NearStates::of(puzzle.goals().iter().map(|goal| fields.encode(goal)));
        let row = solved.level.first().map_or(0, |row| row.len());
        let most = memory / (2 * row + STATE_BYTES) as u64;
        let most = MOST_STATES.min(usize::try_from(most).unwrap_or(usize::MAX));
        let reachable = Reachability::of(puzzle);
        MeetingLists { puzzle: puzzle.clone(), reachable, fields, moves, solved, most }
    }

    /// Returns whether moves lead from the solved puzzle to a state, as far as the moves tell: see
    /// [`Puzzle::reaches`].
    pub fn reaches(&self, state: &Arrangement) -> Option<Result<(), Unreachable>> {
        self.reachable.reaches(&self.puzzle, state)
    }

    /// Returns a shortest solution of a state, or `None` if the lists become too long, or if the observer asks to stop.
    pub fn solve(
        &mut self,
        state: &Arrangement,
        progress: &dyn Progress,
    ) -> Option<Answer<Vec<String>>> {
        let begun = std::time::Instant::now();
        let count = self.puzzle.moves().len();
        let start = self.fields.encode(state);
        let mut near = NearStates::of([start.clone()].into_iter());
        let (mut nodes, mut met) = (1u64, self.solved.known.get(&start[..]).map(|_| start));
        while met.is_none() {
            if progress.interrupted() || near.level.is_empty() || near.depth == u8::MAX - 1 {
                return None;
            }
            let [own, other] = [&near, &self.solved].map(|list| list.level.len() * count);
            let stored = near.known.len() + self.solved.known.len();
            nodes += own.min(other) as u64;
            if other > 0 && other <= own && stored + other <= self.most {
                self.solved.grow(&self.moves[1], count);
                // States of the other list's last depth may be in it now.
                let found = near.level.iter().find(|row| self.solved.known.contains_key(&row[..]));
                met = found.map(|row| row.to_vec());
            } else if own <= MOST_LOOK_UPS {
                let mut after = self.fields.encode(state);
                let mut neighbours =
                    near.level.iter().flat_map(|row| (0..count).map(move |one| (row, one)));
                let found = neighbours.find(|(row, one)| {
                    self.moves[0].apply(*one, row, &mut after)
                        && self.solved.known.contains_key(&after[..])
                });
                if let Some((row, one)) = found {
                    self.moves[0].apply(one, row, &mut after);
                    near.known.entry(after.clone().into()).or_insert(near.depth + 1);
                    met = Some(after);
                } else if stored + own <= self.most {
                    near.grow(&self.moves[0], count);
                } else {
                    return None;
                }
            } else {
                return None;
            }
        }
        let met = met?;
        let mut way = near.way(&self.moves[1], count, &met);
        way.reverse();
        way.extend(self.solved.way(&self.moves[0], count, &met));
        let at_least = way.len();
        let moves = replayed(&self.puzzle, state, way)?;
        let seconds = begun.elapsed().as_secs_f64();
        Some(Answer { moves: Some(moves), at_least, nodes, seconds })
    }
}
