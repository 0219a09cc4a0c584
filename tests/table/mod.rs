//! Distance tables against a plain search, in files, and from other languages.

mod answers;
mod files;
mod interop;
mod many;
mod partial;
mod puzzles;

use tilewave::puzzle::Board;
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
