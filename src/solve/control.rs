//! What the walks of one iteration share: on all threads, and in all processes.
//!
//! Invariant: who walks through a subtree is decided once; what has come of it is known to all when the iteration ends.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};

use super::record::{Pieces, Recorder, Walked};
use crate::progress::{Phase, Progress};
use crate::puzzle::tiles::Direction;

/// What a walk found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pass {
    /// The way to the goal.
    pub solution: Option<Vec<Direction>>,
    /// Nodes generated.
    pub nodes: u64,
    /// By how much the closest node that was cut off exceeds the limit.
    pub excess: i32,
    /// Fewest moves that were left at a node.
    pub left: i32,
    /// Whether the walk ended early without a solution.
    pub stopped: bool,
}

impl Pass {
    /// Returns the subtree's line of a record, if there is nothing more to find in it.
    pub fn walked(&self, subtree: usize) -> Option<Walked> {
        (self.solution.is_none() && !self.stopped).then_some(Walked {
            subtree: subtree as u32,
            nodes: self.nodes,
            excess: self.excess,
            left: self.left as u32,
        })
    }
}

impl From<Walked> for Pass {
    fn from(walked: Walked) -> Pass {
        Pass {
            solution: None,
            nodes: walked.nodes,
            excess: walked.excess,
            left: walked.left as i32,
            stopped: false,
        }
    }
}

/// Deals the subtrees of an iteration that are left, in the order in which one thread would walk through them, and knows what
/// has come of them. They go by their places in this order.
pub(super) trait Dealer: Sync {
    /// The iteration begins: how it is cut, and which subtrees are to be walked through, in order. Called
    /// by the thread that runs the search, as is [`Dealer::end`].
    fn begin(&self, pieces: Pieces, left: &[usize]);

    /// Returns the place of the next subtree for a thread, none when there is no more; may wait for it.
    fn next(&self) -> Option<usize>;

    /// A thread has been through the subtree at a place.
    fn done(&self, place: usize, pass: Pass);

    /// The threads of this process are done: returns what has come of all subtrees, and whether the search was told to
    /// stop. Waits for other processes.
    fn end(&self) -> (Vec<(usize, Pass)>, bool);

    /// Counts nodes; returns those of the iteration so far.
    fn count(&self, nodes: u64) -> u64;

    /// Returns what walks ask whether to go on.
    fn signs(&self) -> &Signs;

    /// Returns the place of the first subtree that is known to hold a solution.
    fn solved(&self) -> usize {
        self.signs().solved.load(Ordering::Relaxed)
    }

    /// Tells the search to stop.
    fn stop(&self) {
        self.signs().stopped.store(true, Ordering::Relaxed);
    }

    /// Returns whether the search was told to stop.
    fn stopped(&self) -> bool {
        self.signs().stopped.load(Ordering::Relaxed)
    }
}

/// What walks ask whether to go on.
pub(super) struct Signs {
    /// The place of the first subtree that is known to hold a solution; the greatest number when there is none.
    pub solved: AtomicUsize,
    pub stopped: AtomicBool,
}

impl Default for Signs {
    fn default() -> Signs {
        Signs {
            solved: AtomicUsize::new(usize::MAX),
            stopped: AtomicBool::new(false),
        }
    }
}

/// Deals to the threads of this process alone, for one iteration.
#[derive(Default)]
pub(super) struct Alone {
    left: OnceLock<usize>,
    next: AtomicUsize,
    nodes: AtomicU64,
    signs: Signs,
    done: Mutex<Vec<(usize, Pass)>>,
}

impl Dealer for Alone {
    fn begin(&self, _: Pieces, left: &[usize]) {
        self.left.get_or_init(|| left.len());
    }

    fn next(&self) -> Option<usize> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        let end = self.solved().min(*self.left.get()?);
        (!self.stopped() && next < end).then_some(next)
    }

    fn done(&self, place: usize, pass: Pass) {
        if pass.solution.is_some() {
            self.signs.solved.fetch_min(place, Ordering::Relaxed);
        }
        lock(&self.done).push((place, pass));
    }

    fn end(&self) -> (Vec<(usize, Pass)>, bool) {
        (std::mem::take(&mut *lock(&self.done)), self.stopped())
    }

    fn count(&self, nodes: u64) -> u64 {
        self.nodes.fetch_add(nodes, Ordering::Relaxed) + nodes
    }

    fn signs(&self) -> &Signs {
        &self.signs
    }
}

/// Locks; what a thread that panicked has left is whole: nothing is changed in two steps.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who is told how far a search is, and who is told what need not be done again.
pub(super) type Observers<'c> = (&'c dyn Progress, &'c dyn Recorder);

/// What the walks of one iteration share.
pub(super) struct Control<'c> {
    observers: Observers<'c>,
    pub dealer: &'c dyn Dealer,
    /// Moves that the iteration allows.
    limit: usize,
    /// Nodes generated before, and those that every process generates.
    before: AtomicU64,
}

impl<'c> Control<'c> {
    /// Returns the control of an iteration with a limit, before which some nodes were generated.
    pub fn new(
        observers: Observers<'c>,
        dealer: &'c dyn Dealer,
        (limit, before): (usize, u64),
    ) -> Control<'c> {
        Control {
            observers,
            dealer,
            limit,
            before: before.into(),
        }
    }

    /// Takes what has come of a subtree, which was dealt at a place.
    pub fn done(&self, pieces: Pieces, (place, subtree): (usize, usize), pass: Pass) {
        if let Some(walked) = pass.walked(subtree) {
            self.observers.1.subtree(pieces, walked);
        }
        self.dealer.done(place, pass);
    }

    /// Counts nodes that every process generates.
    pub fn everywhere(&self, nodes: u64) {
        self.before.fetch_add(nodes, Ordering::Relaxed);
        self.ask(0, 0);
    }

    /// Counts nodes; returns whether the walk through the subtree at a place should stop.
    pub fn ask(&self, nodes: u64, place: usize) -> bool {
        let nodes = self.before.load(Ordering::Relaxed) + self.dealer.count(nodes);
        let progress = self.observers.0;
        progress.progress(Phase::Search(self.limit), nodes, 0);
        if progress.interrupted() {
            self.dealer.stop();
        }
        self.dealer.stopped() || self.dealer.solved() < place
    }
}
