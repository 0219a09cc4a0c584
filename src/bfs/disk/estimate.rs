//! What a search on disk will take, from the widths of its levels.
//!
//! Invariant: pure arithmetic; the widths are given. Where none are published, an upper estimate is made
//! from the number of states.

use super::memory_plan::MemoryPlan;
use crate::store::Codec;

/// Coded bytes over the entropy of independent bits, at most, measured (`docs/performance.md`): states cluster on lines, which
/// makes frames smaller than independent bits would be, and codes are not perfect, which makes them larger. Levels of 2x7 in the single-tile
/// metric come to 0.79 to 0.81 with zstd, 0.67 to 0.75 with rANS.
fn coded_share(plan: MemoryPlan) -> f64 {
    match (plan.codec, plan.extent.classes) {
        (Codec::Zstd, 2) => 0.83,
        (Codec::Rans, 2) => 0.76,
        // Cells of both colours depend less on each other.
        (Codec::Zstd, _) => 0.92,
        (Codec::Rans, _) => 0.84,
    }
}

/// The disk that a search takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Bytes of each level's files, where the widths are known.
    pub level_bytes: Vec<u64>,
    /// Most bytes of level files at any time.
    pub peak_bytes: u64,
    /// Bytes written in all.
    pub bytes_written: u64,
    /// Bytes read in all: every level once as the current one and once as the previous one.
    pub bytes_read: u64,
}

/// Bytes that a file takes at least: a block of the file system.
const FILE: u64 = 4096;
/// Bytes of a frame with a single state and its entry in the index, about.
const FRAME: u64 = 80;

/// Returns the bytes that the states of a class take, as one long row of bits of which `bits` are coded.
fn coded(plan: MemoryPlan, states: u64, bits: f64) -> u64 {
    let extent = plan.extent;
    // A class has a bit for each of its states.
    let all = extent.states as f64 / extent.classes as f64;
    let p = (states as f64 / all).clamp(0.0, 1.0);
    let entropy = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
    ((entropy(p) + entropy(1.0 - p)) * bits / 8.0 * coded_share(plan)) as u64
}

/// Returns the bytes of the frames of some states of a class.
fn level_bytes(plan: MemoryPlan, states: u64) -> u64 {
    let extent = plan.extent;
    coded(plan, states, extent.states as f64 / extent.classes as f64)
}

/// Returns the states per depth that an estimate may count with: the published ones as far as the search goes;
/// where there are none, what the new moves of every state make of the first depths; nothing when
/// the search goes farther than that says anything.
pub fn widths(plan: MemoryPlan, published: &[u64], max_depth: Option<usize>) -> Vec<u64> {
    let extent = plan.extent;
    let levels = max_depth.map_or(usize::MAX, |depth| depth.saturating_add(1));
    if !published.is_empty() {
        return published[..published.len().min(levels)].to_vec();
    }
    let widest = (extent.states as f64 * extent.widest) as u64;
    // One move is that back, where there is one.
    let back = u64::from(!extent.seen);
    let more = extent.moves.saturating_sub(back).max(1);
    let growth = std::iter::successors(Some(extent.moves), |width| width.checked_mul(more));
    let thin = std::iter::once(1).chain(growth.take_while(|&width| width < widest));
    let thin: Vec<u64> = thin.take(levels.min(MOST_LEVELS)).collect();
    match thin.len() == levels {
        true => thin,
        false => Vec::new(),
    }
}

/// Most levels that growth is counted for: that of a single move never ends.
const MOST_LEVELS: usize = 1000;

/// Returns how many passes over all lines levels of these widths cost: a block is computed as a whole when a
/// state can come to it, which about three can from each.
pub fn passes(widths: &[u64], plan: MemoryPlan) -> f64 {
    let blocks = plan.blocks() as f64;
    let touched = |&width: &u64| 1.0 - (-3.0 * width as f64 / blocks).exp();
    widths.iter().map(touched).sum()
}

/// What the levels of a class have held up to each depth.
fn seen(widths: &[u64], classes: u64) -> Vec<u64> {
    let mut sums = widths.to_vec();
    for depth in classes as usize..sums.len() {
        sums[depth] = sums[depth].saturating_add(sums[depth - classes as usize]);
    }
    sums
}

/// Bytes of a state that crosses alone: the number of its block, and where it lies in it.
const CROSSING: u64 = 6;
/// Chunks that a commit may find written but not yet durable, at 10 seconds between commits (3x5: 3.7).
const UNCOMMITTED: usize = 4;

/// Returns what a search with these level widths takes of the disk; `widths` are states per depth, empty
/// when they are not known.
pub fn estimate(widths: &[u64], plan: MemoryPlan, keep_all: bool) -> Estimate {
    let extent = plan.extent;
    let (chunks, frames) = (plan.chunks() as u64, plan.frames());
    // Of a thin level every state has a frame, and every few a file, to itself.
    let level_of = |states: u64| {
        level_bytes(plan, states) + FRAME * states.min(frames) + FILE * states.min(chunks)
    };
    let widest = (extent.states as f64 * extent.widest) as u64;
    // The states seen so far lie beside each level, where they are needed; half of all take most.
    let beside = |seen: u64| u64::from(extent.seen) * level_bytes(plan, seen);
    let most_beside = beside(extent.states / extent.classes / 2);
    let seen = seen(widths, extent.classes);
    let level: Vec<u64> = widths
        .iter()
        .zip(&seen)
        .map(|(&w, &s)| level_of(w) + beside(s))
        .collect();
    let written: u64 = match level.is_empty() {
        // As if all levels were of the greatest width.
        true => ((level_of(widest) + most_beside) as f64 / extent.widest) as u64,
        false => level.iter().sum(),
    };
    // The current level is whole; the previous one becomes the next chunk by chunk, and what a commit
    // has not yet made durable is there twice.
    let extra = |bytes: u64| bytes * chunks.min(UNCOMMITTED as u64) / chunks;
    // Planes are coded as levels are; those of thin levels say where each state lies.
    let planes = plan.plane_file_bytes();
    let there = |states: u64| match planes {
        0 => 0,
        planes => {
            let alone = CROSSING * states.min(frames * 64) + FILE * states.min(chunks);
            coded(plan, states, planes as f64 * 8.0) + alone
        }
    };
    let widest = (widest, level_of(widest) + most_beside);
    let mut levels: Vec<(u64, u64)> = widths.iter().copied().zip(level.iter().copied()).collect();
    match levels.len() {
        0 => levels = vec![widest; 2],
        1 => levels.insert(0, (0, 0)),
        _ => {}
    }
    let steps = levels.windows(2).map(|two| {
        let [from, to] = [two[0].1, two[1].1];
        let levels = match keep_all {
            true => written,
            false => from + to + extra(from.max(to)),
        };
        // Planes that are read give their disk back to those that are written; of one chunk both are there.
        let [read, written] = [two[0].0, two[1].0].map(there);
        levels + read.max(written) + (read + written) / chunks
    });
    let peak = steps.max().unwrap_or(0);
    let sent = match level.is_empty() {
        true => (planes as f64 / extent.widest) as u64,
        false => widths.iter().map(|&width| there(width)).sum(),
    };
    Estimate {
        peak_bytes: peak,
        bytes_written: written + sent,
        bytes_read: written.saturating_mul(2) + sent,
        level_bytes: level,
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/estimate.rs"]
mod tests;
