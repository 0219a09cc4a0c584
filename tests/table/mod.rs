//! Distance tables against a plain search, in files, and from other languages.

mod answers;
mod files;
mod interop;
mod many;
mod partial;
mod puzzles;

use std::collections::HashMap;
use std::hash::Hash;

use tilewave::puzzle::{Board, Direction, Moves};
use tilewave::search::Search;
use tilewave::table::{DistanceTable, TableEncoding};

use crate::pdb::goal;

fn table(goal: &Board, encoding: TableEncoding) -> DistanceTable {
    DistanceTable::build(&Search::new(goal.clone()), encoding).unwrap()
}

/// The encodings that hold this depth.
fn encodings(deepest: usize) -> impl Iterator<Item = TableEncoding> {
    TableEncoding::ALL.into_iter().filter(move |encoding| deepest <= encoding.max_depth())
}

/// The distance of each state from a start.
pub fn reached<S: Clone + Eq + Hash>(
    start: S,
    neighbours: impl Fn(&S) -> Vec<S>,
) -> HashMap<S, usize> {
    let mut known = HashMap::from([(start.clone(), 0)]);
    let mut level = vec![start];
    for depth in 1.. {
        let mut next = Vec::new();
        for moved in level.iter().flat_map(&neighbours) {
            if !known.contains_key(&moved) {
                known.insert(moved.clone(), depth);
                next.push(moved);
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    known
}

/// Distances of all boards by sliding tiles.
pub fn distances(goal: &Board) -> HashMap<Board, usize> {
    reached(goal.clone(), |board| {
        let slides = Direction::ALL.into_iter().map(|direction| Moves(vec![direction]));
        slides.filter_map(|slide| slide.apply(board).ok()).collect()
    })
}
