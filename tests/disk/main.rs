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
use tilewave::puzzle::{Goal, Metric, Size, StateSpace, families};
use tilewave::search::disk::{self, Directories, Disk, DiskSearch};
use tilewave::search::{Outcome, Search};

use simulated::{Faults, Simulated};

/// The complete search of a board, also in the multi-tile metric, or of a puzzle of a family, on one thread.
fn search(name: &str) -> Search {
    let (size, metric) = match name.strip_suffix(" mtm") {
        Some(size) => (size, Metric::Mtm),
        None => (name, Metric::Stm),
    };
    let space = match size.parse::<Size>() {
        Ok(size) => StateSpace::of_board(Goal::Last.board(size).unwrap()).in_metric(metric),
        Err(_) => StateSpace::of_puzzle(families::parse(name).unwrap()),
    };
    Search::of(space).threads(1)
}

/// A search on a simulated directory that commits after every chunk.
fn on(directory: &Simulated, digits: usize) -> Disk {
    let storage: Box<dyn Storage> = Box::new(directory.clone());
    Disk::new(Directories::new(vec![storage]))
        .shared_digits(digits)
        .commit_every(std::time::Duration::ZERO)
        .patience(std::time::Duration::ZERO)
}

/// The level files that a directory has.
fn level_files(directory: &Simulated) -> Vec<String> {
    let names = directory.list().unwrap().into_iter();
    names.filter(|name| name.starts_with("level-")).collect()
}

/// What the search finds in memory.
fn truth(search: &Search) -> Outcome {
    search.run().unwrap()
}

fn assert_same(found: &Outcome, truth: &Outcome, what: &str) {
    assert_eq!(found.counts, truth.counts, "{what}");
    assert_eq!(found.checksums, truth.checksums, "{what}");
    assert_eq!(found.reduced(), truth.reduced(), "{what}");
    assert_eq!(found.complete, truth.complete, "{what}");
    assert_eq!(found.last, truth.last, "{what}");
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
fn run_some(search: &impl DiskSearch, disk: &Disk, chunks: i64) {
    let error = disk.run_with(search, &StopAfter::asks(chunks)).unwrap_err();
    assert!(error.to_string().contains("Nothing is lost"), "{error}");
}

/// Runs a search in sessions, each on the disk of its number and stopped after so many asks, until it ends. Returns how
/// often it was stopped.
fn in_sessions(
    search: &impl DiskSearch,
    disk: impl Fn(usize) -> Disk,
    asks: impl Fn(i64) -> i64,
) -> (Outcome, usize) {
    let mut sessions = 0;
    loop {
        let disk = disk(sessions);
        match disk.run_with(search, &StopAfter::asks(asks(sessions as i64))) {
            Ok(found) => return (found, sessions),
            Err(error) => assert!(error.to_string().contains("Nothing is lost"), "{error}"),
        }
        disk::verify(&disk.directories).unwrap();
        sessions += 1;
    }
}
