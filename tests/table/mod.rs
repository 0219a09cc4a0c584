//! Distance tables against a plain search, in files, and from other languages.

mod answers;
mod files;
mod interop;
mod many;
mod partial;
mod puzzles;

use std::collections::HashMap;

use tilewave::puzzle::{Board, Direction, Goal, Moves};
use tilewave::search::Search;
use tilewave::table::{DistanceTable, TableEncoding};

fn goal(size: &str, name: &str) -> Board {
    let goal: Goal = name.parse().unwrap();
    goal.board(size.parse().unwrap()).unwrap()
}

fn table(goal: &Board, encoding: TableEncoding) -> DistanceTable {
    DistanceTable::build(&Search::new(goal.clone()), encoding).unwrap()
}

/// Distances of all boards by sliding tiles.
fn distances(goal: &Board) -> HashMap<Board, usize> {
    let mut known = HashMap::from([(goal.clone(), 0)]);
    let mut level = vec![goal.clone()];
    for depth in 1.. {
        let mut next = Vec::new();
        for board in &level {
            for direction in Direction::ALL {
                if let Ok(moved) = Moves(vec![direction]).apply(board)
                    && !known.contains_key(&moved)
                {
                    known.insert(moved.clone(), depth);
                    next.push(moved);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    known
}
