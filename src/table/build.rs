//! From a search to a table.

use std::sync::{Mutex, MutexGuard};

use super::fill::Fill;
use super::{Encoding, Table, TableError};
use crate::Error;
use crate::bfs::{self, Level, Observer, Search};
use crate::perm::layout::{Layout, Register};
use crate::puzzle::tiles::Size;

/// Returns the bytes of memory that the table of a board and the search that fills it take.
///
/// # Errors
/// As [`crate::bfs::plan`].
pub fn needed(size: Size, encoding: Encoding) -> Result<u64, Error> {
    let arrays = bfs::plan(size, None)?.array_bytes;
    let shape = super::shape::Shape { size, encoding };
    Ok(arrays + shape.bytes())
}

/// Returns the table of a search's goal: the search's threads, kernel and memory count, its start, engine
/// and largest depth do not.
///
/// Cost: the complete search and [`needed`] bytes of memory; every level is passed over once more.
///
/// # Errors
/// What [`crate::bfs::run`] returns, and [`TableError`].
pub fn build(search: &Search, encoding: Encoding, observer: &dyn Observer) -> Result<Table, Error> {
    let goal = &search.goal;
    let size = goal.size();
    let needed = needed(size, encoding)?;
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
    let filler = Filler {
        observer,
        state: Mutex::new((fill, None)),
    };
    let search = Search {
        start: goal.clone(),
        max_depth: None,
        engine: None,
        keep_last: 0,
        ..search.clone()
    };
    let outcome = bfs::run(&search, &filler)?;
    let (fill, error) = filler
        .state
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(error) = error {
        return Err(error.into());
    }
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

/// Fills a table with the levels of a search, and passes events on.
struct Filler<'a> {
    observer: &'a dyn Observer,
    state: Mutex<(Fill, Option<TableError>)>,
}

impl Filler<'_> {
    fn state(&self) -> MutexGuard<'_, (Fill, Option<TableError>)> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Observer for Filler<'_> {
    fn started(&self, states: u64) {
        self.observer.started(states);
    }

    fn progress(&self, depth: usize, done: u64, total: u64) {
        self.observer.progress(depth, done, total);
    }

    fn level(&self, level: &Level) {
        self.observer.level(level);
    }

    fn registers(&self, depth: usize, first_line: u64, registers: &[Register], cells: &[usize]) {
        let (fill, error) = &mut *self.state();
        if error.is_none() {
            *error = fill.level(depth, first_line, registers, cells).err();
        }
    }

    fn interrupted(&self) -> bool {
        self.observer.interrupted()
    }
}
