//! The disk engine: the same levels as in memory, whatever is cut, killed or broken.

mod corpus;
mod cuts;
mod damage;
mod directories;
mod equality;
mod format;
mod groups;
mod lists;
mod nodes;
mod repair;
mod sessions;
mod shares;
#[path = "../support/simulated.rs"]
mod simulated;
mod team;
mod threads;

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use tilewave::internals::Storage;
use tilewave::progress::{NoProgress, Phase, Progress};
use tilewave::puzzle::{Goal, Size, StateSpace, families};
use tilewave::search::disk::{self, Directories, Disk};
use tilewave::search::{Outcome, Search};

use simulated::{Faults, Simulated};

/// The complete search of a board, or of a puzzle of a family, on one thread.
fn search(name: &str) -> Search {
    let mut search = match name.parse::<Size>() {
        Ok(size) => Search::new(Goal::Last.board(size).unwrap()),
        Err(_) => Search::of(StateSpace::of_puzzle(families::parse(name).unwrap())),
    };
    search.resources.threads = Some(1);
    search
}

/// A search on a simulated directory that commits after every chunk.
fn on(directory: &Simulated, digits: usize) -> Disk {
    let storage: Box<dyn Storage> = Box::new(directory.clone());
    let mut disk = Disk::new(Directories::new(vec![storage]));
    disk.shared_digits = Some(digits);
    disk.commit_every = std::time::Duration::ZERO;
    disk.patience = std::time::Duration::ZERO;
    disk
}

/// What the search finds in memory.
fn truth(search: &Search) -> Outcome {
    search.run().unwrap()
}

fn assert_same(found: &Outcome, truth: &Outcome, what: &str) {
    assert_eq!(found.counts, truth.counts, "{what}");
    assert_eq!(found.checksums, truth.checksums, "{what}");
    assert_eq!(found.complete, truth.complete, "{what}");
}

/// Stops a search after a number of asks, those not counted by which a session comes to where the last one was.
struct StopAfter {
    asks: AtomicI64,
    resumes: AtomicBool,
}

impl StopAfter {
    fn asks(asks: i64) -> StopAfter {
        StopAfter { asks: asks.into(), resumes: false.into() }
    }
}

impl Progress for StopAfter {
    fn progress(&self, phase: Phase, done: u64, total: u64) {
        let resumes = phase == Phase::Resume && done < total;
        self.resumes.store(resumes, Ordering::Relaxed);
    }

    fn interrupted(&self) -> bool {
        !self.resumes.load(Ordering::Relaxed) && self.asks.fetch_sub(1, Ordering::Relaxed) <= 0
    }
}

/// Runs a search until it has done about `chunks` chunks of this session.
fn run_some(search: &Search, disk: &Disk, chunks: i64) {
    let error = disk.run_with(search, &StopAfter::asks(chunks)).unwrap_err();
    assert!(error.to_string().contains("Nothing is lost"), "{error}");
}
