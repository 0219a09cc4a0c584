//! What is shown and logged of the search of one board, and when it ends.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tilewave::progress::Phase;
use tilewave::report::{counted, duration};
use tilewave::solve::{Cut, Entry, Pieces, Recorder, SolveError, Stage, Walked};

use super::super::interrupt;
use super::super::thresholds::Thresholds;
use super::log::Log;
use super::progress::Progress;

/// An iteration that has taken so long is worth a line of its own.
const LONG: Duration = Duration::from_secs(5);
/// How often subtrees are logged.
const LOG_EVERY: Duration = Duration::from_millis(250);

/// When to give up.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Nodes of a board.
    pub nodes: Option<u64>,
    /// Time for a board.
    pub time: Option<Duration>,
}

/// Shows the search of a board, logs it, and ends it at its limits.
pub struct Watch<'a> {
    progress: &'a Progress,
    limits: Limits,
    /// Place of the board.
    board: usize,
    begun: Instant,
    /// Seconds spent on the board before.
    spent: f64,
    nodes: AtomicU64,
    thresholds: Thresholds,
    journal: Option<&'a Log>,
    subtrees: Mutex<Subtrees>,
    failed: AtomicBool,
    failure: Mutex<Option<SolveError>>,
}

/// Subtrees that are done and not logged.
struct Subtrees {
    done: Cut,
    /// When the iteration was begun, and when to log next.
    begun: Instant,
    next: Instant,
}

impl<'a> Watch<'a> {
    /// Returns the watch over the board at a place, on which some seconds were spent before, in iterations that were
    /// followed by some stages.
    pub fn new(
        (progress, limits, journal): (&'a Progress, Limits, Option<&'a Log>),
        board: usize,
        spent: f64,
        stages: &[Stage],
    ) -> Watch<'a> {
        let begun = Instant::now();
        Watch {
            progress,
            limits,
            board,
            begun,
            spent,
            nodes: AtomicU64::new(0),
            thresholds: Thresholds::after(stages),
            journal,
            subtrees: Mutex::new(Subtrees {
                done: Cut::default(),
                begun,
                next: begun + LOG_EVERY,
            }),
            failed: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64() + self.spent
    }

    /// Adds a line to the log. What goes wrong ends the search.
    pub fn log(&self, entry: &Entry) {
        let Some(Err(error)) = self.journal.map(|log| log.append(entry)) else {
            return;
        };
        let mut failure = self.failure.lock().unwrap_or_else(|e| e.into_inner());
        failure.get_or_insert(error);
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Logs the subtrees that are done.
    fn flush(&self, subtrees: &mut Subtrees) {
        let walked = std::mem::take(&mut subtrees.done.walked);
        if !walked.is_empty() {
            self.log(&Entry::Subtrees {
                board: self.board,
                of: subtrees.done.pieces,
                walked,
                seconds: self.seconds(),
            });
        }
        subtrees.next = Instant::now() + LOG_EVERY;
    }

    /// Logs what is left and returns what went wrong with the log.
    pub fn finish(self) -> Result<(), SolveError> {
        let subtrees = self.subtrees.lock();
        self.flush(&mut subtrees.unwrap_or_else(|e| e.into_inner()));
        let failure = self.failure.into_inner();
        match failure.unwrap_or_else(|e| e.into_inner()) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

impl Recorder for Watch<'_> {
    fn iteration(&self, next: Stage) {
        let mut subtrees = self.subtrees.lock().unwrap_or_else(|e| e.into_inner());
        // The next iteration begins where this one came closest, so all of it is known.
        self.flush(&mut subtrees);
        let took = subtrees.begun.elapsed();
        subtrees.begun = Instant::now();
        drop(subtrees);
        self.log(&Entry::iteration(self.board, next, self.seconds()));
        self.thresholds.close(next.nodes);
        if took >= LONG && self.progress.shown {
            let speed = next.last as f64 / took.as_secs_f64();
            let expected = Thresholds::next(&self.thresholds.nodes());
            let expected = expected.map_or(String::new(), |(nodes, growth)| {
                let time = duration(nodes / speed);
                let nodes = counted(nodes as u64, "node");
                format!(
                    ", excluding {} should take {growth:.1} times as many, {nodes} in {time}",
                    next.threshold
                )
            });
            let (nodes, time) = (counted(next.last, "node"), duration(took.as_secs_f64()));
            self.progress.show(|| {
                tracing::info!(
                    "{}no solution of fewer than {} moves: {nodes} in {time}{expected}",
                    self.progress.board(self.board),
                    next.threshold,
                );
            });
        }
    }

    fn subtree(&self, of: Pieces, walked: Walked) {
        if self.journal.is_none() {
            return;
        }
        let mut subtrees = self.subtrees.lock().unwrap_or_else(|e| e.into_inner());
        subtrees.done.pieces = of;
        subtrees.done.walked.push(walked);
        if Instant::now() >= subtrees.next {
            self.flush(&mut subtrees);
        }
    }
}

impl tilewave::Progress for Watch<'_> {
    fn progress(&self, phase: Phase, nodes: u64, _: u64) {
        self.nodes.fetch_max(nodes, Ordering::Relaxed);
        if let Phase::Search(threshold) = phase {
            self.thresholds.note(threshold, nodes);
        }
        self.progress.nodes(nodes, &self.thresholds);
    }

    fn interrupted(&self) -> bool {
        let Limits { nodes, time } = self.limits;
        interrupt::asked()
            || self.failed.load(Ordering::Relaxed)
            || nodes.is_some_and(|most| self.nodes.load(Ordering::Relaxed) >= most)
            || time.is_some_and(|time| self.seconds() >= time.as_secs_f64())
    }
}
