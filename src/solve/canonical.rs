//! Which sequences of moves count as different solutions of a puzzle.
//!
//! Moves that are powers of each other form an **axis**; two axes commute if all their moves do. Sequences that differ
//! only in the order of moves that commute are one solution, and so are those that differ only in how a run of moves of
//! one axis is written, `R R` and `R' R'`. Of each such class one sequence is counted, the first in the order of axes
//! and moves. In it, a run of one axis is as short as it can be, and no two moves that could stand next to each other
//! have the effect of one move or of none.
//!
//! Source: A. V. Anisimov and D. E. Knuth, Inhomogeneous sorting, International Journal of Computer and Information
//! Sciences 8 (1979); walked as sleep sets, P. Godefroid, 1990.
//!
//! Invariant: every part of a counted sequence would be counted, too.

use std::collections::{HashMap, VecDeque};

use crate::puzzle::{Puzzle, Transformation};

/// Maximum length of a run of moves of one axis.
const LONGEST_RUN: usize = 255;

/// The sequences that are counted.
pub(crate) struct CanonicalWords {
    /// For each move, its axis; axes are numbered in the order of their first moves.
    axis: Vec<usize>,
    /// Which axes commute.
    commutes: Vec<Vec<bool>>,
    /// For each move, those that may not follow it: both together are one move or none.
    merges: Vec<Vec<bool>>,
    /// For each run of moves of an axis and the move that comes next, the longer run; 0 is the empty run.
    runs: HashMap<(u32, u16), u32>,
}

impl CanonicalWords {
    /// Cost: as many products of moves as there are pairs of them.
    pub fn new(puzzle: &Puzzle) -> CanonicalWords {
        let (sets, count) = (puzzle.sets(), puzzle.moves().len());
        let moves: Vec<&Transformation> =
            puzzle.moves().iter().map(|one| &one.transformation).collect();
        let free = puzzle.allows_all_moves();
        let both = |a: usize, b: usize| puzzle.seen(&moves[a].then(moves[b], sets));
        let seen: Vec<Transformation> = moves.iter().map(|one| puzzle.seen(one)).collect();
        let named: HashMap<&Transformation, usize> = seen.iter().zip(0..).collect();
        let mut axis: Vec<usize> = (0..count).collect();
        for one in (0..count).filter(|_| free) {
            let mut power = seen[one].clone();
            for _ in 0..LONGEST_RUN {
                if let Some(&of) = named.get(&power) {
                    let (a, b) = (axis[one].min(axis[of]), axis[one].max(axis[of]));
                    axis.iter_mut().filter(|axis| **axis == b).for_each(|axis| *axis = a);
                }
                power = puzzle.seen(&power.then(moves[one], sets));
                if power == seen[one] {
                    break;
                }
            }
        }
        let mut commutes = vec![vec![free; count]; count];
        let mut merges = vec![vec![false; count]; count];
        for a in 0..count {
            for b in 0..count {
                let product = both(a, b);
                let is_none = !puzzle.does_something(&product);
                merges[a][b] = is_none || free && named.contains_key(&product);
                if free && product != both(b, a) {
                    commutes[axis[a]][axis[b]] = false;
                    commutes[axis[b]][axis[a]] = false;
                }
            }
        }
        let mut words = CanonicalWords { axis, commutes, merges, runs: HashMap::new() };
        if free {
            words.add_runs(puzzle);
        } else {
            // Every move is an axis of its own, and any number of it may follow each other.
            words.runs.extend((0..count).flat_map(|one| {
                let run = one as u32 + 1;
                [((0, one as u16), run), ((run, one as u16), run)]
            }));
        }
        words
    }

    /// For each effect of the moves of an axis, adds the shortest run, the first among equals.
    fn add_runs(&mut self, puzzle: &Puzzle) {
        let sets = puzzle.sets();
        let none = Transformation::identity(sets);
        let mut last = 0;
        for axis in 0..self.axis.len() {
            let own = (0..self.axis.len()).filter(|&one| self.axis[one] == axis);
            let own: Vec<usize> = own.collect();
            let mut known = HashMap::from([(puzzle.seen(&none), 0)]);
            let mut open = VecDeque::from([(0u32, none.clone(), 0)]);
            while let Some((run, effect, length)) = open.pop_front() {
                for &one in own.iter().filter(|_| length < LONGEST_RUN) {
                    let longer = effect.then(&puzzle.moves()[one].transformation, sets);
                    if !puzzle.does_something(&longer) {
                        continue;
                    }
                    known.entry(puzzle.seen(&longer)).or_insert_with(|| {
                        last += 1;
                        self.runs.insert((run, one as u16), last);
                        open.push_back((last, longer, length + 1));
                        last
                    });
                }
            }
        }
    }

    /// Returns whether a sequence is counted.
    pub fn counts(&self, word: &[u16]) -> bool {
        let count = self.axis.len();
        // What would have come earlier, and what would merge with an earlier move.
        let (mut early, mut merged) = (vec![false; count], vec![false; count]);
        let (mut run, mut last) = (0, None);
        for &one in word {
            let at = usize::from(one);
            let axis = self.axis[at];
            if last != Some(axis) {
                run = 0;
            }
            if early[axis] || merged[at] {
                return false;
            }
            match self.runs.get(&(run, one)) {
                Some(&longer) => run = longer,
                None => return false,
            }
            let commutes = &self.commutes[axis];
            for other in 0..count {
                early[other] = commutes[other] && (early[other] || other < axis);
                let own = self.axis[other];
                merged[other] =
                    own != axis && merged[other] && commutes[own] || self.merges[at][other];
            }
            last = Some(axis);
        }
        true
    }

    /// Returns the pairs of moves that are in no sequence.
    pub fn forbidden(&self) -> Vec<Vec<u16>> {
        let count = self.axis.len() as u16;
        let all = (0..count).flat_map(|a| (0..count).map(move |b| vec![a, b]));
        all.filter(|pair| !self.counts(pair)).collect()
    }
}
