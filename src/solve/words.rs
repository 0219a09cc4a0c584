//! Move pruning for any puzzle: sequences of moves that only reach what an earlier sequence reaches are never searched.
//!
//! Source: L. A. Taylor and R. E. Korf, Pruning duplicate nodes in depth-first search, AAAI 1993.
//!
//! Invariant: a pruned sequence has the same effect as an unpruned one that is shorter, or of equal length and earlier
//! in the order of the moves; so every state keeps a shortest sequence.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::puzzle::orbits::{OrbitPuzzle, Transformation};

/// Maximum number of sequences that are compared.
const MOST: usize = 200_000;
const NONE: u32 = u32::MAX;

/// A pruner for sequences of moves.
#[derive(Clone, Debug)]
pub(crate) struct WordPruner {
    /// For each state, the moves that it allows, and the states after them.
    next: Vec<Vec<(u16, u32)>>,
}

impl WordPruner {
    /// Returns the pruner that contains all duplicates among sequences up to the greatest length for which there are at
    /// most 200,000; if moves depend on where a piece is, it only prevents a move from being undone at once.
    pub fn new(puzzle: &OrbitPuzzle) -> WordPruner {
        let conditional =
            !puzzle.illegal().is_empty() || puzzle.moves().iter().any(|one| one.requires.is_some());
        let forbidden = if conditional { undone(puzzle) } else { duplicates(puzzle) };
        WordPruner::without(puzzle.moves().len(), &forbidden)
    }

    /// Returns a pruner that allows all moves.
    pub fn none(puzzle: &OrbitPuzzle) -> WordPruner {
        WordPruner::without(puzzle.moves().len(), &[])
    }

    /// The state before the first move.
    pub const START: u32 = 0;

    /// Returns the moves that a state allows, and the states after them.
    #[inline]
    pub fn moves(&self, state: u32) -> &[(u16, u32)] {
        &self.next[state as usize]
    }

    /// The automaton (A. V. Aho and M. J. Corasick, CACM 1975) of sequences that contain no forbidden one.
    fn without(moves: usize, forbidden: &[Vec<u16>]) -> WordPruner {
        let mut children: Vec<Vec<u32>> = vec![vec![NONE; moves]];
        let mut ends = vec![false];
        for word in forbidden {
            let mut at = 0;
            for &one in word {
                let child = children[at][usize::from(one)];
                at = if child == NONE {
                    children.push(vec![NONE; moves]);
                    ends.push(false);
                    let new = children.len() - 1;
                    children[at][usize::from(one)] = new as u32;
                    new
                } else {
                    child as usize
                };
            }
            ends[at] = true;
        }
        // The longest proper suffix of each prefix that is also a prefix.
        let mut suffix = vec![0u32; children.len()];
        let mut queue = VecDeque::from([0usize]);
        while let Some(at) = queue.pop_front() {
            for one in 0..moves {
                let fallback = if at == 0 { 0 } else { children[suffix[at] as usize][one] };
                match children[at][one] {
                    NONE => children[at][one] = fallback,
                    child => {
                        suffix[child as usize] = fallback;
                        ends[child as usize] |= ends[fallback as usize];
                        queue.push_back(child as usize);
                    }
                }
            }
        }
        let allowed = |row: &Vec<u32>| {
            let open = |(_, next): &(u16, u32)| !ends[*next as usize];
            (0..).zip(row.iter().copied()).filter(open).collect()
        };
        WordPruner { next: children.iter().map(allowed).collect() }
    }
}

/// Pairs of moves in which the second undoes the first.
fn undone(puzzle: &OrbitPuzzle) -> Vec<Vec<u16>> {
    let moves = puzzle.moves();
    let undoes = |first: &Transformation, then: &Transformation| {
        !puzzle.does_something(&first.then(then, puzzle.orbits()))
    };
    let all = (0..moves.len()).flat_map(|a| (0..moves.len()).map(move |b| (a, b)));
    all.filter(|&(a, b)| undoes(&moves[a].transformation, &moves[b].transformation))
        .map(|(a, b)| vec![a as u16, b as u16])
        .collect()
}

/// The shortest sequences that have the same effect as earlier ones.
fn duplicates(puzzle: &OrbitPuzzle) -> Vec<Vec<u16>> {
    let orbits = puzzle.orbits();
    let moves: Vec<&Transformation> =
        puzzle.moves().iter().map(|one| &one.transformation).collect();
    let mut known: HashSet<Transformation> =
        HashSet::from([puzzle.seen(&Transformation::identity(orbits))]);
    let mut forbidden: Vec<Vec<u16>> = Vec::new();
    let mut level = vec![(Vec::new(), Transformation::identity(orbits))];
    let mut all = 0;
    loop {
        let kept: HashMap<Vec<u16>, ()> =
            level.iter().map(|(word, _)| (word.clone(), ())).collect();
        let mut next = Vec::new();
        if all + level.len() * moves.len() > MOST {
            return forbidden;
        }
        for (word, done) in &level {
            for (one, transformation) in moves.iter().enumerate() {
                let mut longer = word.clone();
                longer.push(one as u16);
                // A forbidden sequence within it already forbids it.
                if longer.len() > 1 && !kept.contains_key(&longer[1..]) {
                    continue;
                }
                let both = done.then(transformation, orbits);
                match known.insert(puzzle.seen(&both)) {
                    true => next.push((longer, both)),
                    false => forbidden.push(longer),
                }
            }
        }
        all += next.len();
        if next.is_empty() {
            return forbidden;
        }
        level = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puzzle::{named, orbits::Turns};

    #[test]
    fn sequences_are_as_many_as_states_where_all_duplicates_are_known() {
        let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers).unwrap();
        let pruner = WordPruner::new(&cube);
        let mut states = vec![WordPruner::START];
        let mut counts = Vec::new();
        for _ in 0..4 {
            states = states.iter().flat_map(|&s| pruner.moves(s)).map(|&(_, next)| next).collect();
            counts.push(states.len());
        }
        // OEIS A080601: as many sequences as states.
        assert_eq!(counts, [18, 243, 3240, 43239]);
    }
}
