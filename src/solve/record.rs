//! How far a search has come: what is enough to go on from there.
//!
//! Invariant: a search that goes on finds the same solution and counts the same nodes as one that was never cut off.

use serde::{Deserialize, Serialize};

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
        Walked {
            subtree,
            nodes,
            excess,
            left,
        }
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
pub struct Pieces {
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
    pub pieces: Pieces,
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
    fn subtree(&self, _pieces: Pieces, _walked: Walked) {}
}

/// Keeps no record.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {}
