//! The progress of solving: boards done, and the nodes of the one that takes long.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use tilewave::report::{counted, thousands};

use crate::cli::{StatusLine, eta, pdb::set::Thresholds};

/// Shows how many boards are done, the nodes of the one that takes long, and the time that is left.
pub struct SolveProgress {
    line: StatusLine,
    boards: AtomicU64,
    done: AtomicU64,
    /// Boards among those done that an earlier session has solved.
    known: AtomicU64,
    begun: Instant,
    /// Whether anything is shown: not where another rank does.
    pub shown: bool,
    /// What is solved: a board, or a state.
    pub noun: &'static str,
}

impl SolveProgress {
    pub fn new(noun: &'static str, boards: usize, shown: bool) -> SolveProgress {
        SolveProgress {
            line: StatusLine::new(),
            boards: AtomicU64::new(boards as u64),
            done: AtomicU64::new(0),
            known: AtomicU64::new(0),
            begun: Instant::now(),
            shown,
            noun,
        }
    }

    /// A search has come to a number of nodes. Called by any thread, thousands of times a second.
    pub fn nodes(&self, nodes: u64, thresholds: &Thresholds) {
        if !self.shown {
            return;
        }
        self.line.say(|| {
            let all = [&self.done, &self.known, &self.boards];
            let [done, known, boards] = all.map(|n| n.load(Ordering::Relaxed));
            let mut text = String::new();
            if boards > 1 {
                let (done, noun) = (thousands(done), self.noun);
                text += &format!("{done} of {} {noun}s  ", thousands(boards));
            }
            if done > known {
                let each = self.begun.elapsed().as_secs_f64() / (done - known) as f64;
                text += &format!("{}  ", eta(each * boards.saturating_sub(done) as f64));
            }
            text += &counted(nodes, "node");
            if boards > 1 {
                text += &format!(" for the current {}", self.noun);
            }
            if let Some(((threshold, nodes), done)) = thresholds.nodes().split_last() {
                text += &format!(", searching for solutions of {threshold} moves");
                if let Some((expected, _)) = Thresholds::next(done) {
                    let share = (100.0 * *nodes as f64 / expected).min(99.0);
                    text +=
                        &format!(" ({share:.0} % of about {})", counted(expected as u64, "node"));
                }
            }
            (done as f64 / boards.max(1) as f64, text)
        });
    }

    /// So many boards are known by now, done or not.
    pub fn expect(&self, boards: usize) {
        self.boards.store(boards as u64, Ordering::Relaxed);
    }

    /// A board is solved or refused. Called by any thread.
    pub fn done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// A board was solved by an earlier session; it is done in a moment.
    pub fn known(&self) {
        self.known.fetch_add(1, Ordering::Relaxed);
    }

    /// How the words about a board begin, given its place.
    pub fn one(&self, at: usize) -> String {
        match self.boards.load(Ordering::Relaxed) {
            0 | 1 => String::new(),
            boards => format!("{} {} of {}: ", self.noun, at + 1, thousands(boards)),
        }
    }
}
