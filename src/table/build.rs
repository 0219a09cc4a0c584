//! From a search to a table.

use super::fill::{Fill, described};
use super::header::Header;
use super::{DistanceTable, Encoding, TableError};
use crate::Error;
use crate::bfs::{self, Search, SearchError, StateSpace, Subject};
use crate::perm::layout::Layout;
use crate::progress::Progress;

/// Returns the bytes of memory that the table of a subject and the search that fills it take.
///
/// # Errors
/// As [`crate::bfs::plan`], and [`TableError::Directed`].
pub fn needed(subject: &Subject, encoding: Encoding) -> Result<u64, Error> {
    let (puzzle, _) = described(subject)?;
    let header = Header {
        puzzle,
        encoding,
        histogram: Vec::new(),
        checksum: 0,
    };
    Ok(bfs::plan(subject, None)?.array_bytes + header.shape().bytes())
}

/// Returns the table of a search's goal, the solved state of a puzzle other than a board: the search's threads,
/// kernel and memory count, its start, engine and largest depth do not.
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
    let subject = search.subject.clone().from_goal();
    let needed = needed(&subject, encoding)?;
    if let Some(budget) = search.memory.filter(|&budget| budget < needed) {
        return Err(TableError::Budget {
            puzzle: subject.to_string(),
            needed,
            budget,
        }
        .into());
    }
    let mut fill = Fill::of(&subject, encoding)?;
    let space = StateSpace::of(subject.clone())?;
    if Layout::new(space.line_len()).is_none() {
        fill.plainly(&space)?;
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
