//! What the walks of one iteration share: on all threads, and in all processes.
//!
//! Invariant: who walks through a subtree is decided once; what has come of it is known to all when the iteration ends.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};

use crate::progress::{Phase, Progress};
use crate::puzzle::Direction;

/// What a walk found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WalkResult {
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

impl WalkResult {
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

impl From<Walked> for WalkResult {
    fn from(walked: Walked) -> WalkResult {
        WalkResult {
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
pub(crate) trait Dealer: Sync {
    /// The iteration begins: how it is cut, and which subtrees are to be walked through, in order. Called
    /// by the thread that runs the search, as is [`Dealer::end`].
    fn begin(&self, pieces: SubtreeSplit, left: &[usize]);

    /// Returns the place of the next subtree for a thread, none when there is no more; may wait for it.
    fn next(&self) -> Option<usize>;

    /// A thread has been through the subtree at a place.
    fn done(&self, place: usize, pass: WalkResult);

    /// The threads of this process are done: returns what has come of all subtrees, and whether the search was told to
    /// stop. Waits for other processes.
    fn end(&self) -> (Vec<(usize, WalkResult)>, bool);

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
pub(crate) struct Signs {
    /// The place of the first subtree that is known to hold a solution; the greatest number when there is none.
    pub solved: AtomicUsize,
    pub stopped: AtomicBool,
}

impl Default for Signs {
    fn default() -> Signs {
        Signs { solved: AtomicUsize::new(usize::MAX), stopped: AtomicBool::new(false) }
    }
}

/// Deals to the threads of this process alone, for one iteration.
#[derive(Default)]
pub(crate) struct Alone {
    left: OnceLock<usize>,
    next: AtomicUsize,
    nodes: AtomicU64,
    signs: Signs,
    done: Mutex<Vec<(usize, WalkResult)>>,
}

impl Dealer for Alone {
    fn begin(&self, _: SubtreeSplit, left: &[usize]) {
        self.left.get_or_init(|| left.len());
    }

    fn next(&self) -> Option<usize> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        let end = self.solved().min(*self.left.get()?);
        (!self.stopped() && next < end).then_some(next)
    }

    fn done(&self, place: usize, pass: WalkResult) {
        if pass.solution.is_some() {
            self.signs.solved.fetch_min(place, Ordering::Relaxed);
        }
        lock(&self.done).push((place, pass));
    }

    fn end(&self) -> (Vec<(usize, WalkResult)>, bool) {
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
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who is told how far a search is, and who is told what need not be done again.
pub(crate) type Observers<'c> = (&'c dyn Progress, &'c dyn Recorder);

/// What the walks of one iteration share.
pub(crate) struct Control<'c> {
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
        Control { observers, dealer, limit, before: before.into() }
    }

    /// Takes what has come of a subtree, which was dealt at a place.
    pub fn done(&self, pieces: SubtreeSplit, (place, subtree): (usize, usize), pass: WalkResult) {
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

// How far a search has come: what is enough to go on from there.
//
// Invariant: a search that goes on finds the same solution and counts the same nodes as one that was never cut off.

/// Where an iteration starts: its threshold, and what was spent before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// Moves that the iteration allows: all shorter solutions are excluded.
    pub threshold: usize,
    /// Nodes generated so far.
    pub nodes: u64,
    /// Nodes of the iteration before.
    pub last: u64,
}

/// A subtree of an iteration that has been walked through and holds no solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u64, i32, u32)", into = "(u32, u64, i32, u32)")]
pub struct Walked {
    /// Its place among the subtrees.
    pub subtree: u32,
    /// Nodes generated.
    pub nodes: u64,
    /// By how much the closest node that was cut off exceeds the threshold.
    pub excess: i32,
    /// Fewest moves that were left at a node of it.
    pub left: u32,
}

impl From<(u32, u64, i32, u32)> for Walked {
    fn from((subtree, nodes, excess, left): (u32, u64, i32, u32)) -> Walked {
        Walked { subtree, nodes, excess, left }
    }
}

impl From<Walked> for (u32, u64, i32, u32) {
    fn from(walked: Walked) -> (u32, u64, i32, u32) {
        (walked.subtree, walked.nodes, walked.excess, walked.left)
    }
}

/// How an iteration is cut into subtrees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubtreeSplit {
    /// Moves that the iteration allows.
    pub threshold: usize,
    /// Moves from the board to each subtree.
    pub depth: u32,
    /// How many subtrees there are; they are numbered in the order of their moves.
    pub subtrees: u32,
}

/// The subtrees that an iteration is cut into, and those that are done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// How it is cut.
    pub pieces: SubtreeSplit,
    /// The subtrees that are done.
    pub walked: Vec<Walked>,
}

impl Cut {
    /// Returns whether there are subtrees and all are done.
    pub fn is_whole(&self) -> bool {
        !self.walked.is_empty() && self.walked.len() == self.pieces.subtrees as usize
    }
}

/// Is told of each step of a search on all threads that need not be taken again.
pub trait Recorder: Sync {
    /// An iteration is over without a solution; the next one starts at a stage. Called by the thread that runs the
    /// search.
    fn iteration(&self, _next: Stage) {}

    /// A subtree of an iteration holds no solution. Called by any worker.
    fn subtree(&self, _pieces: SubtreeSplit, _walked: Walked) {}
}

/// Keeps no record.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {}
