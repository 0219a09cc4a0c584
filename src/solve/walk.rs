//! The depth-first walk of an iteration through any tree of moves, from a node down to the threshold.
//!
//! `boards` and `puzzles` say what a node is and look up its children: each is a [`MoveTree`]. `ida` takes one [`Walk`]
//! through each [`Subtree`] of an iteration.

/// A tree of moves below a state.
pub(crate) trait MoveTree: Sync + Sized {
    /// A node, and what is known about it.
    type Node: Clone + Send + Sync;
    /// The children of a node on the way down.
    type Level;
    /// Whether a node enters its last child first.
    const LAST_FIRST: bool;
    /// Whether the subtrees with most nodes in the previous iteration come first, rather than the closest ones.
    const DENSEST_FIRST: bool = false;

    /// Returns a lower bound on the moves of the root, where a search may begin with fewer.
    fn bound(&self) -> usize {
        0
    }

    /// Returns the minimum number of moves, at least a given lower bound, that can lead from the state to the goal.
    fn at_least(&self, bound: usize) -> usize;

    /// Returns whether a split into this number of subtrees may go one move deeper without taking too much memory.
    fn can_split(&self, subtrees: usize) -> bool;

    /// Returns the root, from which at most this number of moves may be made.
    fn root(&self, limit: usize) -> Self::Node;

    /// Returns a level of any walk.
    fn level(&self) -> Self::Level;

    /// Generates the children of the node at a depth; returns their number.
    fn expand(walk: &mut Walk<'_, Self>, depth: usize) -> u64;

    /// Descends from a depth to the next child that is not cut off; returns false if there is none.
    fn enter(walk: &mut Walk<'_, Self>, depth: usize) -> bool;

    /// Returns from a child to the node at a depth.
    fn leave(_walk: &mut Walk<'_, Self>, _depth: usize) {}

    /// Returns the number of the move that was entered.
    fn step(level: &Self::Level) -> u16;

    /// Returns whether the node at the depth of the last level is the goal.
    fn is_goal(walk: &Walk<'_, Self>) -> bool;

    /// Returns the node at the depth of the last level.
    fn node(walk: &Walk<'_, Self>) -> Self::Node {
        walk.at.clone()
    }

    /// Returns the moves of the solution that a path stands for.
    fn solution(&self, path: Vec<u16>) -> Vec<u16> {
        path
    }

    /// Leaves out subtrees that have a solution only if an earlier one has.
    fn distinct(&self, _subtrees: &mut Vec<Subtree<Self::Node>>) {}

    /// Searches subtrees in each of which this number of moves is left, several of them at a time, in a way of its own;
    /// returns false if there is none.
    fn sweep(&self, _room: usize, _work: &mut dyn Subtrees<Self::Node>) -> bool {
        false
    }
}

/// Subtrees to be searched, in order.
pub(crate) trait Subtrees<N> {
    /// Returns the next one, if any is left: its place in the order, and where it begins.
    fn next(&mut self) -> Option<(usize, &N)>;

    /// Counts nodes; returns whether to stop the subtrees from a place on.
    fn ask(&mut self, nodes: u64, place: usize) -> bool;

    /// Takes the end of a subtree, and the number of its nodes.
    fn done(&mut self, place: usize, nodes: u64, end: SubtreeEnd);
}

/// How the search of a subtree ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubtreeEnd {
    /// It has no solution.
    Searched,
    /// It has one.
    Solved,
    /// It was left.
    Stopped,
}

/// The number of moves that may be made from a node, and by how much the closest child that was cut off exceeds it.
#[derive(Clone, Copy)]
pub(crate) struct Slack {
    pub room: i32,
    pub excess: i32,
}

/// A subtree: where it begins, and the path to it.
pub(crate) struct Subtree<N> {
    pub start: N,
    pub path: Vec<u16>,
}

/// A walk through a subtree.
pub(crate) struct Walk<'w, T: MoveTree> {
    pub tree: &'w T,
    /// The node that the walk is at, unless the levels hold it.
    pub at: T::Node,
    pub levels: &'w mut [T::Level],
    pub nodes: u64,
    pub slack: Slack,
}

impl<'w, T: MoveTree> Walk<'w, T> {
    /// A walk down this number of levels; the stack may have been used by another walk.
    pub fn new(
        tree: &'w T,
        start: T::Node,
        room: usize,
        levels: usize,
        stack: &'w mut Vec<T::Level>,
    ) -> Walk<'w, T> {
        stack.resize_with(stack.len().max(levels), || tree.level());
        let slack = Slack { room: room as i32, excess: i32::MAX };
        Walk { tree, at: start, levels: &mut stack[..levels], nodes: 0, slack }
    }

    /// Visits all nodes at the depth of the last level that are not cut off, until one of the two functions ends it:
    /// one is given the number of nodes generated, the other is called at each such node. Returns the depth that was
    /// reached.
    #[inline(always)]
    pub fn descend(
        &mut self,
        mut ends: impl FnMut(u64) -> bool,
        mut arrived: impl FnMut(&mut Self) -> bool,
    ) -> usize {
        let (mut depth, mut deepest) = (0, 0);
        loop {
            self.nodes += T::expand(self, depth);
            if ends(self.nodes) {
                return deepest;
            }
            loop {
                if T::enter(self, depth) {
                    self.slack.room -= 1;
                    depth += 1;
                    deepest = deepest.max(depth);
                    if depth < self.levels.len() {
                        break;
                    }
                    if arrived(self) {
                        return deepest;
                    }
                } else if depth == 0 {
                    return deepest;
                }
                depth -= 1;
                self.slack.room += 1;
                T::leave(self, depth);
            }
        }
    }

    /// The moves down to a node at the depth of the last level.
    pub fn path(&self) -> Vec<u16> {
        self.levels.iter().map(T::step).collect()
    }
}
