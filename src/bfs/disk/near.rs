//! Which frames of a chunk a step can reach.
//!
//! Invariant: a frame that is left out gets no state and gives none, so nobody need look at it. In thin levels these are nearly
//! all: a level of a few million states on a large board must not cost a pass over its lines.

use super::side::Side;
use crate::bfs::chunks::Chunks;
use crate::bfs::expand::{Expansion, Frontier, Sources};
use crate::bfs::planes::Planes;

/// A level is thin where at most one in so many blocks holds states.
const THIN: usize = 16;

/// Returns for each frame of a chunk whether any state can come to it; `None` when too many do to count them. `cur` is the current
/// level of the chunk, `back` the step of the other side, whose sources are this step's targets.
pub(super) fn near(
    chunks: Chunks,
    chunk: usize,
    cur: &Frontier,
    back: &Side,
    planes: &mut dyn Planes,
) -> Option<Vec<bool>> {
    let most = chunks.blocks / THIN;
    let held = || (0..cur.occupied.len()).filter(|&block| cur.occupied[block]);
    if held().nth(most).is_some() {
        return None;
    }
    let mut near = vec![false; chunks.frames()];
    for block in planes.reached(most)? {
        near[block / chunks.frame_blocks] = true;
    }
    // Groups lead into each other, each by windows of its own: only one is followed.
    let [into] = &back.into[..] else {
        let none = !near.contains(&true) && held().next().is_none();
        return none.then_some(near);
    };
    let first = chunk * chunks.blocks;
    let expansion = Expansion {
        layout: chunks.layout,
        step: &into.step,
        cur,
        first,
        blocks: chunks.blocks,
        reach: &[],
    };
    let mut sources = Sources::new(&into.step.program);
    for block in held() {
        expansion.find(&mut sources, first + block);
        for register in sources.inner() {
            let block = register / chunks.layout.block_registers();
            near[block / chunks.frame_blocks] = true;
        }
    }
    Some(near)
}

#[cfg(test)]
#[path = "../../../tests/unit/near.rs"]
mod tests;
