//! The most states that a depth may have, where nobody has counted them.
//!
//! Invariant: an upper bound. Of the shortest ways to a state take the first in the order of the moves. Any two moves
//! that follow each other in it are the first of the shortest ways to where they lead; else the way had a shorter
//! one, or one that comes first. So a depth has at most as many states as there are ways of that length in which any
//! two moves are such a pair: no two that cancel, that one move does as well, or that trade places in vain.

use std::collections::HashSet;

use crate::puzzle::Puzzle;

/// The ways of each length from a cell, one depth after the other. It has no end where the ways have none.
pub(super) struct Growth {
    /// The moves that may follow each move.
    after: Vec<Vec<usize>>,
    /// The ways that end with each move.
    ways: Vec<u64>,
    depth: usize,
}

impl Growth {
    /// Returns the growth from a cell.
    pub fn new(puzzle: &Puzzle, cell: usize) -> Growth {
        let edges = puzzle.edges();
        let from = |cell| (0..edges.len()).filter(move |&edge| edges[edge].from == cell);
        let moved = |line: &[usize], edge: usize| {
            let mut line = line.to_vec();
            puzzle.windows()[edges[edge].window].apply(&mut line);
            (line, edges[edge].to)
        };
        let start: Vec<usize> = (0..puzzle.line_len()).collect();
        let mut growth = Growth {
            after: vec![Vec::new(); edges.len()],
            ways: vec![0; edges.len()],
            depth: 0,
        };
        for first in 0..puzzle.cells() {
            let mut seen = HashSet::from([(start.clone(), first)]);
            let new = |&edge: &usize| seen.insert(moved(&start, edge));
            let once: Vec<usize> = from(first).filter(new).collect();
            for &edge in &once {
                growth.ways[edge] = u64::from(first == cell);
                let (line, to) = moved(&start, edge);
                let new = |&edge: &usize| seen.insert(moved(&line, edge));
                growth.after[edge] = from(to).filter(new).collect();
            }
        }
        growth
    }
}

impl Iterator for Growth {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.depth += 1;
        if self.depth == 1 {
            return Some(1);
        }
        let sum = |ways: &[u64]| {
            ways.iter()
                .fold(0, |sum: u64, &more| sum.saturating_add(more))
        };
        let states = sum(&self.ways);
        let mut longer = vec![0u64; self.ways.len()];
        for (&ways, after) in self.ways.iter().zip(&self.after) {
            for &edge in after {
                longer[edge] = longer[edge].saturating_add(ways);
            }
        }
        self.ways = longer;
        (states > 0).then_some(states)
    }
}
