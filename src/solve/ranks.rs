//! One search of all ranks of a job.
//!
//! The ranks walk through the same iterations, and meet up to a thousand times a second. At a meeting each tells what it has
//! done and what it needs, and all come to the same decision who gets which subtrees next: nobody serves the others.
//!
//! Invariant: an iteration ends for all ranks at the same meeting, with the same results. So all take the same way through
//! the search.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::search::Communicator;
use crate::solve::control::{Dealer, Observers, Recorder, Signs, SubtreeSplit, WalkResult, lock};

/// Seconds between two meetings, at least and at most.
const MEET_EVERY: (f64, f64) = (0.001, 0.02);

/// What one rank knows of the iteration at hand.
pub(crate) struct Share {
    rank: usize,
    ranks: usize,
    hand: Mutex<Hand>,
    changed: Condvar,
    /// Nodes of the iteration, here and on the other ranks.
    nodes: AtomicU64,
    elsewhere: AtomicU64,
    signs: Signs,
}

/// What has been dealt to a rank, and what has come of it.
#[derive(Default)]
struct Hand {
    /// Subtrees to be dealt to all, once this rank has come so far, and when that was.
    left: Option<(Vec<usize>, Instant)>,
    /// Places among them of those that this rank got, and no thread has taken yet.
    own: VecDeque<usize>,
    /// How many of the former have been dealt, to whomever; known after the first meeting.
    dealt: Option<usize>,
    /// Threads that wait for a subtree.
    idle: usize,
    /// What this rank has done, and how much of it the others know.
    done: Vec<(usize, WalkResult)>,
    told: usize,
    /// What the others have done, and how much of it the recorder knows.
    others: Vec<(usize, WalkResult)>,
    recorded: usize,
    /// How the iteration is cut.
    pieces: SubtreeSplit,
    /// The threads of this rank have nothing to do.
    ended: bool,
    /// What has come of the iteration that has ended on all ranks.
    result: Option<(Vec<(usize, WalkResult)>, bool)>,
}

/// What a rank tells the others.
#[derive(Serialize, Deserialize)]
struct SubtreeReport {
    /// Subtrees that it knows to be left at the beginning of the iteration, once it has come so far.
    left: Option<usize>,
    /// Those that it has not begun.
    queued: usize,
    idle: usize,
    /// Seconds since the iteration began, and subtrees a second.
    elapsed: f64,
    pace: f64,
    nodes: u64,
    /// Subtrees that are done since the last meeting, by their places.
    done: Vec<(usize, WalkResult)>,
    ended: bool,
    /// The search is over.
    over: bool,
    stopped: bool,
}

impl SubtreeReport {
    /// Returns how many subtrees the rank gets of those left, when the next meeting is in `wait` seconds: enough for two
    /// such times, and at the end so few that the others get as many.
    fn gets(&self, left: usize, ranks: usize, wait: f64) -> usize {
        if self.left.is_none() || self.ended || self.over {
            return 0;
        }
        let soon = (self.pace * 2.0 * wait) as usize;
        let fair = left.div_ceil(2 * ranks);
        let soon = soon.min(fair.max((self.pace * MEET_EVERY.0) as usize));
        let wanted = soon.max(self.idle.min(left.div_ceil(ranks)));
        wanted.saturating_sub(self.queued).min(left)
    }
}

/// Returns the seconds to the next meeting: few while an iteration is young, or about to end.
fn next_meeting(reports: &[SubtreeReport], left: usize) -> f64 {
    let elapsed = reports.iter().map(|r| r.elapsed).fold(0.0, f64::max);
    let pace: f64 = reports.iter().map(|report| report.pace).sum();
    let queued: usize = reports.iter().map(|report| report.queued).sum();
    let coming = (left + queued) as f64 / pace.max(1.0);
    let (least, most) = MEET_EVERY;
    // What the last ones wait for each other is little beside the iteration.
    let least = (elapsed / 500.0).clamp(least, most);
    (elapsed / 8.0).min(coming / 4.0).clamp(least, most)
}

impl Hand {
    /// Returns the place of the first subtree that nobody has got.
    fn rest(&self) -> Option<usize> {
        let (left, _) = self.left.as_ref()?;
        let dealt = self.dealt.unwrap_or(Share::first(left.len()));
        (dealt < left.len()).then_some(dealt)
    }

    /// Tells the recorder what others have done; not before this rank has begun the iteration that it belongs to.
    fn record(&mut self, recorder: &dyn Recorder) {
        let Some((left, _)) = &self.left else {
            return;
        };
        for (place, pass) in &self.others[self.recorded..] {
            if let Some(walked) = pass.walked(left[*place]) {
                recorder.subtree(self.pieces, walked);
            }
        }
        self.recorded = self.others.len();
    }
}

fn wait<'h>(changed: &Condvar, hand: MutexGuard<'h, Hand>) -> MutexGuard<'h, Hand> {
    changed.wait(hand).unwrap_or_else(PoisonError::into_inner)
}

/// Runs a search on all threads of a pool while this thread meets the other ranks.
pub(crate) fn together<T: Send>(
    team: &dyn Communicator,
    pool: &rayon::ThreadPool,
    (progress, recorder): Observers<'_>,
    search: impl FnOnce(&Share) -> T + Send,
) -> T {
    let share = &Share::new(team);
    let result = &Mutex::new(None);
    pool.in_place_scope(|scope| {
        scope.spawn(move |_| {
            let found = catch_unwind(AssertUnwindSafe(|| search(share)));
            if found.is_err() {
                share.stop();
            }
            *lock(result) = Some(found);
        });
        let mut wait = MEET_EVERY.0;
        loop {
            std::thread::sleep(Duration::from_secs_f64(wait));
            if progress.interrupted() {
                share.stop();
            }
            let report = share.report(lock(result).is_some());
            let report = serde_json::to_vec(&report).expect("a report is numbers and letters");
            let reports = team.all_gather(report);
            let reports = reports.iter().map(|report| serde_json::from_slice(report));
            let reports: Result<Vec<SubtreeReport>, _> = reports.collect();
            let reports = reports.expect("all ranks run the same program");
            if reports.iter().all(|report| report.over) {
                return;
            }
            wait = share.take(reports, recorder);
        }
    });
    match lock(result).take().expect("the search is over") {
        Ok(found) => found,
        Err(panic) => resume_unwind(panic),
    }
}

impl Share {
    fn new(team: &dyn Communicator) -> Share {
        Share {
            rank: team.rank(),
            ranks: team.size(),
            hand: Mutex::default(),
            changed: Condvar::new(),
            nodes: AtomicU64::new(0),
            elsewhere: AtomicU64::new(0),
            signs: Signs::default(),
        }
    }

    /// Subtrees that are dealt before the first meeting, one to each rank in turn.
    fn first(left: usize) -> usize {
        left / 4
    }

    fn report(&self, over: bool) -> SubtreeReport {
        let mut hand = lock(&self.hand);
        let elapsed = hand.left.as_ref().map(|(_, begun)| begun.elapsed());
        let elapsed = elapsed.unwrap_or_default().as_secs_f64();
        let told = hand.told;
        hand.told = hand.done.len();
        SubtreeReport {
            left: hand.left.as_ref().map(|(left, _)| left.len()),
            queued: hand.own.len(),
            idle: hand.idle,
            elapsed,
            pace: hand.done.len() as f64 / elapsed.max(1e-6),
            nodes: self.nodes.load(Ordering::Relaxed),
            done: hand.done[told..].to_vec(),
            ended: hand.ended,
            over,
            stopped: self.stopped(),
        }
    }

    /// Takes in what all ranks report; returns the seconds to the next meeting.
    fn take(&self, mut reports: Vec<SubtreeReport>, recorder: &dyn Recorder) -> f64 {
        let mut hand = lock(&self.hand);
        let mut elsewhere = 0;
        for (_, report) in reports.iter_mut().enumerate().filter(|(rank, _)| *rank != self.rank) {
            elsewhere += report.nodes;
            if report.stopped {
                self.stop();
            }
            for (place, pass) in report.done.drain(..) {
                if pass.solution.is_some() {
                    self.signs.solved.fetch_min(place, Ordering::Relaxed);
                }
                hand.others.push((place, pass));
            }
        }
        self.elsewhere.store(elsewhere, Ordering::Relaxed);
        let mut wait = MEET_EVERY.0;
        if let Some(left) = reports.iter().find_map(|report| report.left) {
            let mut next = hand.dealt.unwrap_or(Share::first(left));
            wait = next_meeting(&reports, left - next);
            for (rank, report) in reports.iter().enumerate() {
                let more = next..next + report.gets(left - next, self.ranks, wait);
                next = more.end;
                if rank == self.rank {
                    hand.own.extend(more);
                }
            }
            hand.dealt = Some(next);
        }
        hand.record(recorder);
        if reports.iter().all(|report| report.ended || report.over) {
            let ended = std::mem::take(&mut *hand);
            let passes = [ended.done, ended.others].concat();
            hand.result = Some((passes, reports.iter().any(|report| report.stopped)));
            self.nodes.store(0, Ordering::Relaxed);
            self.elsewhere.store(0, Ordering::Relaxed);
            self.signs.solved.store(usize::MAX, Ordering::Relaxed);
        }
        self.changed.notify_all();
        wait
    }
}

impl Dealer for Share {
    fn begin(&self, pieces: SubtreeSplit, left: &[usize]) {
        let mut hand = lock(&self.hand);
        let first = (self.rank..Share::first(left.len())).step_by(self.ranks);
        (hand.own, hand.pieces) = (first.collect(), pieces);
        hand.left = Some((left.to_vec(), Instant::now()));
    }

    fn next(&self) -> Option<usize> {
        let mut hand = lock(&self.hand);
        while !self.stopped() {
            if let Some(next) = hand.own.pop_front() {
                return (next < self.solved()).then_some(next);
            }
            if hand.rest().is_none_or(|next| next >= self.solved()) {
                break;
            }
            hand.idle += 1;
            hand = wait(&self.changed, hand);
            hand.idle -= 1;
        }
        None
    }

    fn done(&self, place: usize, pass: WalkResult) {
        if pass.solution.is_some() {
            self.signs.solved.fetch_min(place, Ordering::Relaxed);
        }
        lock(&self.hand).done.push((place, pass));
    }

    fn end(&self) -> (Vec<(usize, WalkResult)>, bool) {
        let mut hand = lock(&self.hand);
        hand.ended = true;
        loop {
            match hand.result.take() {
                Some(result) => return result,
                None => hand = wait(&self.changed, hand),
            }
        }
    }

    fn count(&self, nodes: u64) -> u64 {
        let here = self.nodes.fetch_add(nodes, Ordering::Relaxed) + nodes;
        here + self.elsewhere.load(Ordering::Relaxed)
    }

    fn signs(&self) -> &Signs {
        &self.signs
    }
}
