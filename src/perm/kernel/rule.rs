//! What becomes of the states that a step reaches.

/// What becomes of the states that a step reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Those of the previous level, in whose place the next one comes, are left out: every move leads to the
    /// previous level or the next.
    Reverse,
    /// The same where only these groups of the block, a bit each, can get any state: the others become empty.
    Few(u64),
    /// Those of the previous level and of the current one are left out, moves may stay at a depth. The
    /// index in `cur` of the first register of the block itself.
    Stay(usize),
    /// Those ever seen are left out, and added to these: moves need not have a way back.
    Unseen,
    /// They all take the place of what was there. Nothing is counted.
    Replace,
    /// They all join what was there. Nothing is counted.
    Join,
}
