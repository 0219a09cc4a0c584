//! What the walks of one iteration share: on all threads, and in all processes.
//!
//! Invariant: who walks through a subtree is decided once; what has come of it is known to all when the iteration ends.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::{
    progress::{Phase, Progress},
    puzzle::Board,
    search::Share,
};

/// What a walk through a subtree found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WalkResult {
    pub walked: Walked,
    /// The way to the goal, from the root of the tree: moves by their numbers.
    pub solution: Option<Vec<u16>>,
    /// Whether the walk ended early without a solution.
    pub stopped: bool,
}

impl WalkResult {
    /// Whether there is nothing more to find in the subtree.
    pub fn is_done(&self) -> bool {
        self.solution.is_none() && !self.stopped
    }
}

impl From<Walked> for WalkResult {
    fn from(walked: Walked) -> WalkResult {
        WalkResult { walked, solution: None, stopped: false }
    }
}

/// What comes of a subtree: how the iteration is cut, and what a walk through it found. Subtrees are dealt in the order in
/// which one thread would walk through them.
pub type SubtreeResult = (SubtreeSplit, WalkResult);

/// Who is told how far a search is, and who is told what need not be done again.
pub type Observers<'c> = (&'c dyn Progress, &'c dyn Recorder);

/// What the walks of one iteration share.
pub struct Control<'c> {
    observers: Observers<'c>,
    pub share: &'c Share<SubtreeResult>,
    /// Moves that the iteration allows.
    pub limit: usize,
    /// Nodes generated before, and those that every process generates.
    before: AtomicU64,
}

impl<'c> Control<'c> {
    /// Returns the control of an iteration with a limit, before which some nodes were generated.
    pub fn new(
        observers: Observers<'c>,
        share: &'c Share<SubtreeResult>,
        limit: usize,
        before: u64,
    ) -> Control<'c> {
        Control { observers, share, limit, before: before.into() }
    }

    /// Takes what has come of a subtree, which was dealt at a place.
    pub fn done(&self, place: usize, result: SubtreeResult) {
        note(self.observers.1, &result);
        if result.1.solution.is_some() {
            self.share.last(place);
        }
        self.share.done(place, result);
    }

    /// Counts nodes that every process generates.
    pub fn everywhere(&self, nodes: u64) {
        self.before.fetch_add(nodes, Ordering::Relaxed);
        self.ask(0, 0);
    }

    /// Counts nodes; returns whether the walk through the subtree at a place should stop.
    pub fn ask(&self, nodes: u64, place: usize) -> bool {
        let nodes = self.before.load(Ordering::Relaxed) + self.share.count(nodes);
        let progress = self.observers.0;
        progress.progress(Phase::Search(self.limit), nodes, 0);
        if progress.interrupted() {
            self.share.stop();
        }
        self.share.is_stopped() || !self.share.is_needed(place)
    }
}

/// Tells a recorder of a subtree, if there is nothing more to find in it.
pub(crate) fn note(recorder: &dyn Recorder, (pieces, result): &SubtreeResult) {
    if result.is_done() {
        recorder.subtree(*pieces, result.walked);
    }
}

// How far a search has come: what is enough to go on from there.
//
// Invariant: a search that goes on finds the same solution and counts the same nodes as one that was never cut off.

/// Where an iteration starts: its threshold, and what was spent before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
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

/// A search that goes on with an iteration: one that has proven hard for one thread, or that a log tells of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Pending<S = Board> {
    /// The board, or other state.
    pub state: S,
    /// The iteration.
    pub stage: Stage,
    /// What has been done of it.
    pub(crate) done: Cut,
    /// What was done of the iteration before, which tells where to look first.
    pub(crate) before: Cut,
    /// Time spent on the board so far, in seconds.
    pub seconds: f64,
}

impl<S> Pending<S> {
    /// Returns a search that begins with a threshold.
    pub(crate) fn new(state: S, threshold: usize) -> Pending<S> {
        let stage = Stage { threshold, ..Stage::default() };
        Pending { state, stage, done: Cut::default(), before: Cut::default(), seconds: 0.0 }
    }

    /// Returns the nodes generated so far.
    pub fn nodes(&self) -> u64 {
        self.stage.nodes + self.done.walked.iter().map(|walked| walked.nodes).sum::<u64>()
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
impl Recorder for () {}
