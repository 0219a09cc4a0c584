//! The log of a long solve (`--log`): all boards are known before the first is solved, and what is done is done once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result};
use tilewave::puzzle::tiles::Board;
use tilewave::report::thousands;
use tilewave::solve::{Entry, Logged, Optimal, SolveError, SolveLog, replay};

/// A log, before and after the databases are there that it is about.
pub struct Log {
    path: PathBuf,
    boards: Vec<Board>,
    /// What it said when it was opened, by a board's place.
    found: BTreeMap<usize, Logged>,
    place: Place,
}

/// Where its lines go.
enum Place {
    /// Nowhere, or another rank has it.
    Closed,
    File(Mutex<SolveLog>),
}

impl Log {
    /// Returns the log of some boards, which is not opened yet.
    pub fn new(path: &Path, boards: Vec<Board>) -> Log {
        Log {
            path: path.to_path_buf(),
            boards,
            found: BTreeMap::new(),
            place: Place::Closed,
        }
    }

    /// Opens it, and says what is in it.
    pub fn open(&mut self, solver: &Optimal) -> Result<()> {
        let (log, found) = SolveLog::open(&self.path, &self.boards, solver)?;
        (self.place, self.found) = (Place::File(Mutex::new(log)), found);
        self.say();
        Ok(())
    }

    /// Returns lines that say what it said when it was opened.
    pub fn entries(&self) -> Vec<Entry> {
        let found = self.found.iter();
        let lines = found.flat_map(|(&at, logged)| logged.entries(at, &self.boards[at]));
        lines.collect()
    }

    /// Knows what such lines say; the first of several ranks has the file.
    pub fn follow(&mut self, known: Vec<Entry>, goal: &Board) -> Result<()> {
        let found = replay(known, &self.boards, goal);
        self.found = found.context("the ranks disagree on the log")?;
        Ok(())
    }

    fn say(&self) {
        let solved = |logged: &&Logged| matches!(logged, Logged::Solved(_));
        let solved = self.found.values().filter(solved).count();
        if !self.found.is_empty() {
            tracing::info!(
                "going on with {}: {} of {} boards are solved, {} begun",
                self.path.display(),
                thousands(solved as u64),
                thousands(self.boards.len() as u64),
                thousands((self.found.len() - solved) as u64),
            );
        }
    }

    /// Returns what an earlier session has made of a board.
    pub fn found(&self, board: usize) -> Option<&Logged> {
        self.found.get(&board)
    }

    /// Adds a line.
    pub fn append(&self, entry: &Entry) -> Result<(), SolveError> {
        self.with(|log| log.append(entry))
    }

    /// Makes all lines durable.
    pub fn sync(&self) -> Result<(), SolveError> {
        self.with(SolveLog::sync)
    }

    fn with(
        &self,
        act: impl FnOnce(&mut SolveLog) -> Result<(), SolveError>,
    ) -> Result<(), SolveError> {
        let Place::File(log) = &self.place else {
            return Ok(());
        };
        act(&mut log.lock().unwrap_or_else(|e| e.into_inner()))
    }
}
