//! The processes that share a search, each called a rank, and tasks that are shared by the threads of all ranks.
//!
//! Invariant: every method of a [`Communicator`] is collective unless stated otherwise: all ranks call the same methods
//! in the same order, each from the thread that runs its search, and no call returns before all ranks have done their
//! part. So every fact that determines which method is called next must be the same on all ranks.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};
use rayon::ThreadPool;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// How the values of all ranks are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduce {
    /// The sum modulo 2^64.
    Sum,
    /// The largest value.
    Max,
}

/// The processes of a job: a single process, those of MPI (`tools/mpi`), or the threads of a test.
pub trait Communicator {
    /// Returns the number of this rank, from 0.
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn size(&self) -> usize;

    /// Sends `parts[i]` to rank i and returns what each rank has sent to this one, by rank.
    fn all_to_all(&self, parts: Vec<Vec<u8>>) -> Vec<Vec<u8>>;

    /// Replaces each value by the combination of the values of all ranks at the same index.
    fn all_reduce(&self, by: Reduce, values: &mut [u64]);

    /// Waits for all ranks.
    fn barrier(&self) {
        self.all_reduce(Reduce::Max, &mut [0]);
    }

    /// Returns the maximum of a value over all ranks.
    fn max(&self, value: u64) -> u64 {
        let mut values = [value];
        self.all_reduce(Reduce::Max, &mut values);
        values[0]
    }

    /// Returns the bytes of every rank, by rank.
    fn all_gather(&self, bytes: Vec<u8>) -> Vec<Vec<u8>> {
        self.all_to_all(vec![bytes; self.size()])
    }

    /// Returns on rank 0 the bytes of every rank, by rank; on other ranks, all parts are empty.
    fn gather(&self, bytes: Vec<u8>) -> Vec<Vec<u8>> {
        let mut parts = vec![Vec::new(); self.size()];
        parts[0] = bytes;
        self.all_to_all(parts)
    }

    /// Returns the bytes of rank 0.
    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8> {
        let given = if self.rank() == 0 { bytes } else { Vec::new() };
        std::mem::take(&mut self.all_gather(given)[0])
    }

    /// Returns the name of the machine, or an empty string if it is unknown.
    fn host(&self) -> String {
        String::new()
    }

    /// Ends all ranks of the job at once. Not collective: any rank may call it at any time.
    fn abort(&self, code: u8) -> ! {
        std::process::exit(code.into())
    }

    /// Returns the lowest rank that reports a failure, with its reason.
    fn agree(&self, failure: Option<String>) -> Option<(usize, String)> {
        let reasons = self.all_gather(failure.unwrap_or_default().into_bytes());
        let first = reasons.iter().position(|reason| !reason.is_empty())?;
        let reason = String::from_utf8_lossy(&reasons[first]).into_owned();
        Some((first, reason))
    }
}

/// A job that consists of one process.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneProcess;

impl Communicator for OneProcess {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn all_to_all(&self, parts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        parts
    }

    fn all_reduce(&self, _: Reduce, _: &mut [u64]) {}
}

// Shared tasks.
//
// The ranks exchange information up to a thousand times per second. In each exchange, every rank reports what it has
// done and what it needs, and all ranks make the same decision about who gets which tasks next: no rank serves the
// others. A single process assigns all tasks to itself and exchanges nothing.
//
// Invariant: tasks are identified by their indices in an order that all ranks know. A round of tasks ends for all ranks
// with the same exchange and the same results, so all ranks make the same decisions afterwards.

/// Minimum and maximum number of seconds between two exchanges.
const MEET_EVERY: (f64, f64) = (0.001, 0.02);

/// The ranks of a job, including this one, and the threads of this rank.
#[derive(Clone, Copy)]
pub struct Ranks<'a> {
    /// The connection to all ranks.
    pub communicator: &'a dyn Communicator,
    /// The threads of this rank.
    pub pool: &'a ThreadPool,
}

/// The tasks of a round, as seen by one rank; the result of a task is a `T`.
pub struct Share<T> {
    rank: usize,
    ranks: usize,
    hand: Mutex<Hand<T>>,
    changed: Condvar,
    /// The count of this round, on this rank and the others.
    counted: AtomicU64,
    elsewhere: AtomicU64,
    last: AtomicUsize,
    stopped: AtomicBool,
}

/// The tasks assigned to a rank, and their results.
struct Hand<T> {
    /// The number of tasks of the round, and when it began, once this rank has begun it.
    begun: Option<(usize, Instant)>,
    /// Indices of the tasks that were assigned to this rank and have not been taken by a thread.
    own: VecDeque<usize>,
    /// The number of tasks assigned to any rank; known after the first exchange.
    dealt: Option<usize>,
    idle: usize,
    /// The results of this rank, and how many of them the others know.
    done: Vec<(usize, T)>,
    told: usize,
    /// The results of the others, and how many of them have been processed on this rank.
    others: Vec<(usize, T)>,
    heard: usize,
    /// Whether the threads of this rank have nothing left to do.
    ended: bool,
    /// The result of the round, once it has ended on all ranks.
    result: Option<(Vec<(usize, T)>, bool)>,
}

impl<T> Default for Hand<T> {
    fn default() -> Hand<T> {
        Hand {
            begun: None,
            own: VecDeque::new(),
            dealt: None,
            idle: 0,
            done: Vec::new(),
            told: 0,
            others: Vec::new(),
            heard: 0,
            ended: false,
            result: None,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct ShareReport<T> {
    /// The number of tasks of the round, once the rank has begun it.
    tasks: Option<usize>,
    /// The number of tasks assigned to the rank and not begun.
    queued: usize,
    idle: usize,
    /// Seconds since the round began, and tasks per second.
    elapsed: f64,
    pace: f64,
    counted: u64,
    /// The results since the last exchange.
    done: Vec<(usize, T)>,
    last: usize,
    ended: bool,
    /// Whether all rounds are over.
    over: bool,
    stopped: bool,
}

impl<T> ShareReport<T> {
    /// Returns how many of the remaining tasks the rank is assigned when the next exchange is in `wait` seconds: enough
    /// for twice this time, and at the end so few that the others get the same number.
    fn gets(&self, left: usize, ranks: usize, wait: f64) -> usize {
        if self.tasks.is_none() || self.ended || self.over {
            return 0;
        }
        let soon = (self.pace * 2.0 * wait) as usize;
        let fair = left.div_ceil(2 * ranks);
        let soon = soon.min(fair.max((self.pace * MEET_EVERY.0) as usize));
        let wanted = soon.max(self.idle.min(left.div_ceil(ranks)));
        wanted.saturating_sub(self.queued).min(left)
    }
}

/// Returns the number of seconds until the next exchange: few while a round has just begun or is about to end.
fn next_meeting<T>(reports: &[ShareReport<T>], left: usize) -> f64 {
    let elapsed = reports.iter().map(|r| r.elapsed).fold(0.0, f64::max);
    let pace: f64 = reports.iter().map(|report| report.pace).sum();
    let queued: usize = reports.iter().map(|report| report.queued).sum();
    let coming = (left + queued) as f64 / pace.max(1.0);
    let (least, most) = MEET_EVERY;
    // The time that the last tasks wait for each other is small compared to the round.
    let least = (elapsed / 500.0).clamp(least, most);
    (elapsed / 8.0).min(coming / 4.0).clamp(least, most)
}

impl Ranks<'_> {
    /// Runs work on the threads of this rank while all ranks share its rounds of tasks. `told` receives the result of
    /// each task that another rank has completed; if `interrupted` returns true on any rank, all ranks stop. All ranks
    /// call this for the same rounds, from outside their pools.
    ///
    /// # Panics
    /// If the ranks do not run the same program.
    pub fn share<T, R>(
        &self,
        interrupted: &dyn Fn() -> bool,
        told: &dyn Fn(&T),
        work: impl FnOnce(&Share<T>) -> R + Send,
    ) -> R
    where
        T: Clone + Send + Serialize + DeserializeOwned,
        R: Send,
    {
        let (rank, ranks) = (self.communicator.rank(), self.communicator.size());
        let share = &Share { rank, ranks, ..Share::alone() };
        if ranks == 1 {
            return self.pool.install(|| work(share));
        }
        let result = &Mutex::new(None);
        self.pool.in_place_scope(|scope| {
            scope.spawn(move |_| {
                let found = catch_unwind(AssertUnwindSafe(|| work(share)));
                if found.is_err() {
                    share.stop();
                }
                *result.lock() = Some(found);
            });
            let mut wait = MEET_EVERY.0;
            loop {
                std::thread::sleep(Duration::from_secs_f64(wait));
                if interrupted() {
                    share.stop();
                }
                let report = share.report(result.lock().is_some());
                let report = serde_json::to_vec(&report).expect("a report is numbers and letters");
                let reports = self.communicator.all_gather(report);
                let reports = reports.iter().map(|report| serde_json::from_slice(report));
                let reports: Result<Vec<ShareReport<T>>, _> = reports.collect();
                let reports = reports.expect("all ranks run the same program");
                if reports.iter().all(|report| report.over) {
                    return;
                }
                wait = share.take(reports, told);
            }
        });
        match result.lock().take().expect("the work is over") {
            Ok(found) => found,
            Err(panic) => resume_unwind(panic),
        }
    }
}

impl<T> Share<T> {
    /// Returns the share of a single process: the threads of the current pool take its tasks.
    pub fn alone() -> Share<T> {
        Share {
            rank: 0,
            ranks: 1,
            hand: Mutex::default(),
            changed: Condvar::new(),
            counted: AtomicU64::new(0),
            elsewhere: AtomicU64::new(0),
            last: AtomicUsize::new(usize::MAX),
            stopped: AtomicBool::new(false),
        }
    }

    /// The tasks that are assigned before the first exchange, one to each rank in turn.
    fn first(&self, tasks: usize) -> usize {
        if self.ranks == 1 { tasks } else { tasks / 4 }
    }

    /// Begins a round of tasks. The thread that begins a round must also end it.
    pub fn begin(&self, tasks: usize) {
        let mut hand = self.hand.lock();
        hand.own = (self.rank..self.first(tasks)).step_by(self.ranks).collect();
        hand.begun = Some((tasks, Instant::now()));
    }

    /// Returns the index of the next task for a thread, or `None` if no task is left; may wait for a task.
    pub fn next(&self) -> Option<usize> {
        let mut hand = self.hand.lock();
        while !self.is_stopped() {
            if let Some(next) = hand.own.pop_front() {
                return self.is_needed(next).then_some(next);
            }
            // The first task that has not been assigned.
            let (tasks, _) = hand.begun?;
            let rest = hand.dealt.unwrap_or(self.first(tasks));
            if rest >= tasks || !self.is_needed(rest) {
                break;
            }
            hand.idle += 1;
            self.changed.wait(&mut hand);
            hand.idle -= 1;
        }
        None
    }

    /// Records the result of the task with an index.
    pub fn done(&self, place: usize, result: T) {
        self.hand.lock().done.push((place, result));
    }

    /// Ends the round on this rank and waits for the other ranks. Returns the results of all tasks, in no particular
    /// order, and whether any rank was asked to stop; if so, results may be missing.
    pub fn end(&self) -> (Vec<(usize, T)>, bool) {
        let mut hand = self.hand.lock();
        if self.ranks == 1 {
            self.forget();
            return (std::mem::take(&mut hand.done), self.is_stopped());
        }
        hand.ended = true;
        self.changed.wait_while(&mut hand, |hand| hand.result.is_none());
        hand.result.take().expect("it was waited for")
    }

    /// Adds to the count of this round; returns the count over all ranks, as far as this rank knows it.
    pub fn count(&self, more: u64) -> u64 {
        let here = self.counted.fetch_add(more, Ordering::Relaxed) + more;
        here + self.elsewhere.load(Ordering::Relaxed)
    }

    /// Declares that tasks of this round after an index are no longer needed.
    pub fn last(&self, place: usize) {
        self.last.fetch_min(place, Ordering::Relaxed);
    }

    /// Returns whether the task with an index is still needed, as far as this rank knows.
    pub fn is_needed(&self, place: usize) -> bool {
        place <= self.last.load(Ordering::Relaxed)
    }

    /// Ends this round and all later rounds early.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Returns whether any rank was asked to stop, as far as this rank knows.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Prepares for the next round.
    fn forget(&self) {
        self.counted.store(0, Ordering::Relaxed);
        self.elsewhere.store(0, Ordering::Relaxed);
        self.last.store(usize::MAX, Ordering::Relaxed);
    }

    fn report(&self, over: bool) -> ShareReport<T>
    where
        T: Clone,
    {
        let mut hand = self.hand.lock();
        let elapsed = hand.begun.map(|(_, begun)| begun.elapsed());
        let elapsed = elapsed.unwrap_or_default().as_secs_f64();
        let (told, now) = (hand.told, hand.done.len());
        hand.told = now;
        ShareReport {
            tasks: hand.begun.map(|(tasks, _)| tasks),
            queued: hand.own.len(),
            idle: hand.idle,
            elapsed,
            pace: hand.done.len() as f64 / elapsed.max(1e-6),
            counted: self.counted.load(Ordering::Relaxed),
            done: hand.done[told..].to_vec(),
            last: self.last.load(Ordering::Relaxed),
            ended: hand.ended,
            over,
            stopped: self.is_stopped(),
        }
    }

    /// Processes the reports of all ranks; returns the number of seconds until the next exchange.
    fn take(&self, mut reports: Vec<ShareReport<T>>, told: &dyn Fn(&T)) -> f64 {
        let mut hand = self.hand.lock();
        let mut elsewhere = 0;
        for (_, report) in reports.iter_mut().enumerate().filter(|(rank, _)| *rank != self.rank) {
            elsewhere += report.counted;
            if report.stopped {
                self.stop();
            }
            self.last(report.last);
            hand.others.append(&mut report.done);
        }
        self.elsewhere.store(elsewhere, Ordering::Relaxed);
        let mut wait = MEET_EVERY.0;
        if let Some(tasks) = reports.iter().find_map(|report| report.tasks) {
            let mut next = hand.dealt.unwrap_or(self.first(tasks));
            wait = next_meeting(&reports, tasks - next);
            for (rank, report) in reports.iter().enumerate() {
                let more = next..next + report.gets(tasks - next, self.ranks, wait);
                next = more.end;
                if rank == self.rank {
                    hand.own.extend(more);
                }
            }
            hand.dealt = Some(next);
        }
        // Not before this rank has begun the round to which it belongs.
        if hand.begun.is_some() {
            hand.others[hand.heard..].iter().for_each(|(_, result)| told(result));
            hand.heard = hand.others.len();
        }
        if reports.iter().all(|report| report.ended || report.over) {
            let ended = std::mem::take(&mut *hand);
            let mut results = ended.done;
            results.extend(ended.others);
            hand.result = Some((results, reports.iter().any(|report| report.stopped)));
            self.forget();
        }
        self.changed.notify_all();
        wait
    }
}
