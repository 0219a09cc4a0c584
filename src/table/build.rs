//! From a search to a table.

use super::fill::Fill;
use super::{DistanceTable, Encoding, TableError};
use crate::Error;
use crate::bfs::{self, Search, SearchError, Subject};
use crate::perm::layout::Layout;
use crate::progress::Progress;
use crate::puzzle::tiles::{Board, Metric};

/// Returns the bytes of memory that the table of a board and the search that fills it take.
///
/// # Errors
/// As [`crate::bfs::plan`].
pub fn needed(subject: &Subject, encoding: Encoding) -> Result<u64, Error> {
    let arrays = bfs::plan(subject, None)?.array_bytes;
    let size = board(subject)?.size();
    let shape = super::shape::Shape { size, encoding };
    Ok(arrays + shape.bytes())
}

/// The goal of a board with one tile a move: what a table can be made of.
fn board(subject: &Subject) -> Result<&Board, TableError> {
    let boards = subject.boards();
    let goal = boards.filter(|_| subject.metric() == Some(Metric::Stm));
    let other = || TableError::Puzzle {
        puzzle: subject.to_string(),
    };
    Ok(goal.ok_or_else(other)?.0)
}

/// Returns the table of a search's goal: the search's threads, kernel and memory count, its start, engine
/// and largest depth do not.
///
/// Cost: the complete search and [`needed`] bytes of memory; every level is passed over once more.
///
/// # Errors
/// What [`crate::bfs::run`] returns, and [`TableError`].
pub fn build(
    search: &Search,
    encoding: Encoding,
    observer: &dyn Progress,
) -> Result<DistanceTable, Error> {
    let goal = board(&search.subject)?;
    let size = goal.size();
    let subject = Subject::board(goal.clone());
    let needed = needed(&subject, encoding)?;
    if let Some(budget) = search.memory.filter(|&budget| budget < needed) {
        return Err(TableError::Budget {
            size,
            needed,
            budget,
        }
        .into());
    }
    let mut fill = Fill::new(goal.clone(), encoding)?;
    if Layout::new(size.tiles()).is_none() {
        fill.plainly()?;
        return fill.finish();
    }
    let search = Search {
        subject,
        max_depth: None,
        engine: None,
        keep_last: 0,
        ..search.clone()
    };
    let outcome = bfs::run_each(&search, observer, &mut |depth, first, registers, cells| {
        Ok(fill.level(depth, first, registers, cells)?)
    });
    let outcome = outcome.map_err(|error| match error {
        // A part of a table is nothing, so there is no way to end early with one.
        Error::Search(SearchError::Interrupted { .. }) => TableError::Interrupted.into(),
        error => error,
    })?;
    if fill.histogram() != outcome.counts {
        return Err(TableError::Unfilled {
            engine: outcome.engine.name(),
            filled: fill.histogram().iter().sum(),
            found: outcome.total(),
        }
        .into());
    }
    fill.finish()
}
