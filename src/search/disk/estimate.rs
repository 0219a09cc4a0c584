//! What a search on disk will take, from the widths of its levels.
//!
//! Invariant: pure arithmetic; the widths are given. Where none are published, an upper estimate is made
//! from the most states that so many moves lead to, and from the number of all.

use std::collections::HashSet;

use crate::Error;
use crate::puzzle::{Puzzle, StateSpace};
use crate::search::disk::MemoryPlan;
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

/// The states per depth that an estimate counts with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Widths {
    /// States at each depth, as far as the search goes; none where nothing is known.
    pub counts: Vec<u64>,
    /// Whether these are what somebody has counted, not the most that there may be.
    pub exact: bool,
}

impl Widths {
    /// Returns the sum of all depths, `None` where nothing is known.
    pub fn states(&self) -> Option<u64> {
        (!self.counts.is_empty()).then(|| self.counts.iter().sum())
    }
}

/// Returns the states per depth of a search: the published ones as far as it goes; where there are none, the most
/// that so many moves lead to; nothing when these are more than there are states.
///
/// # Errors
/// As [`StateSpace::start`].
///
/// ```
/// use tilewave::search::disk;
/// use tilewave::puzzle::{Goal, Metric, StateSpace};
///
/// let board = Goal::Last.board("4x4".parse()?)?;
/// let space = StateSpace::of_board(board).in_metric(Metric::Mtm);
/// let widths = disk::widths(&space, &[], Some(4))?;
/// assert_eq!(widths.counts, [1, 6, 18, 54, 162]);
/// assert!(!widths.exact);
/// assert!(disk::widths(&space, &[], None)?.counts.is_empty());
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn widths(
    space: &StateSpace,
    published: &[u64],
    max_depth: Option<usize>,
) -> Result<Widths, Error> {
    let levels = max_depth.map_or(usize::MAX, |depth| depth.saturating_add(1));
    if !published.is_empty() {
        let counts = published[..published.len().min(levels)].to_vec();
        return Ok(Widths { counts, exact: true });
    }
    let mut widths = Widths::default();
    // Ways of a single move never end, and no search needs so many levels.
    if levels > MOST_LEVELS {
        return Ok(widths);
    }
    let start = space.start()?;
    let growth = Growth::new(space.moves(), start.cell);
    let mut left = space.numbered_states();
    for most in growth.take(levels) {
        match left.checked_sub(most) {
            Some(rest) => left = rest,
            None => return Ok(Widths::default()),
        }
        widths.counts.push(most);
    }
    Ok(widths)
}

/// Most levels that growth is counted for.
const MOST_LEVELS: usize = 1000;

/// Which share of the time of a whole search its first levels take, at most, where not all is known.
pub(crate) fn share(first: &Widths, published: &[u64], plan: MemoryPlan) -> f64 {
    if first.counts.is_empty() {
        return 1.0;
    }
    let all = match published {
        // As if all levels were of the greatest width: there are no fewer.
        [] => 1.0 / plan.extent.widest,
        published => passes(published, plan),
    };
    (passes(&first.counts, plan) / all).min(1.0)
}

/// Returns how many passes over all lines levels of these widths cost: a block is computed as a whole when a
/// state can come to it, which about three can from each.
fn passes(widths: &[u64], plan: MemoryPlan) -> f64 {
    let blocks = plan.chunks.layout.blocks() as f64;
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

/// Returns what a search with these level widths takes of the disk.
pub fn estimate(widths: &Widths, plan: MemoryPlan, keep_all: bool) -> Estimate {
    if widths.exact || widths.counts.is_empty() {
        return estimate_of(&widths.counts, plan, keep_all, u64::MAX);
    }
    // Codes are longest for half of a class: what may be more may be that.
    let half = plan.extent.states / plan.extent.classes / 2;
    let first = estimate_of(&widths.counts, plan, keep_all, half);
    let whole = estimate_of(&[], plan, keep_all, half);
    Estimate {
        peak_bytes: first.peak_bytes.min(whole.peak_bytes),
        bytes_written: first.bytes_written.min(whole.bytes_written),
        bytes_read: first.bytes_read.min(whole.bytes_read),
        level_bytes: first.level_bytes,
    }
}

/// Returns what level widths take, empty where they are not known; what they and their sums exceed a number by does
/// not count.
fn estimate_of(widths: &[u64], plan: MemoryPlan, keep_all: bool, most: u64) -> Estimate {
    let extent = plan.extent;
    let chunks = plan.chunks() as u64;
    let frames = (plan.chunks.frames() * plan.groups) as u64 * chunks;
    // Of a thin level every state has a frame, and every few a file, to itself.
    let level_of = |states: u64| {
        level_bytes(plan, states) + FRAME * states.min(frames) + FILE * states.min(chunks)
    };
    let widest = (extent.states as f64 * extent.widest) as u64;
    // The states seen so far lie beside each level, where they are needed; half of all take most.
    let beside = |seen: u64| u64::from(extent.seen) * level_bytes(plan, seen);
    let most_beside = beside(extent.states / extent.classes / 2);
    let mut seen = seen(widths, extent.classes);
    let widths: Vec<u64> = widths.iter().map(|&width| width.min(most)).collect();
    seen.iter_mut().for_each(|sum| *sum = most.min(*sum));
    let level: Vec<u64> =
        widths.iter().zip(&seen).map(|(&w, &s)| level_of(w) + beside(s)).collect();
    let written: u64 = match level.is_empty() {
        // As if all levels were of the greatest width.
        true => ((level_of(widest) + most_beside) as f64 / extent.widest) as u64,
        false => level.iter().sum(),
    };
    // The current level is whole; the previous one becomes the next chunk by chunk, and what a commit
    // has not yet made durable is there twice.
    let extra = |bytes: u64| bytes * chunks.min(UNCOMMITTED as u64) / chunks;
    // Planes are coded as levels are; those of thin levels say where each state lies.
    let planes = plan.plane_files;
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
        let levels = if keep_all { written } else { from + to + extra(from.max(to)) };
        // Planes that are read give their disk back to those that are written; of one chunk both are there.
        let [read, written] = [two[0].0, two[1].0].map(there);
        levels + read.max(written) + (read + written) / chunks
    });
    let peak = steps.max().unwrap_or(0);
    let sent = if level.is_empty() {
        (planes as f64 / extent.widest) as u64
    } else {
        widths.iter().map(|&width| there(width)).sum()
    };
    Estimate {
        peak_bytes: peak,
        bytes_written: written + sent,
        bytes_read: written.saturating_mul(2) + sent,
        level_bytes: level,
    }
}

// The most states that a depth may have, where nobody has counted them.
//
// Invariant: an upper bound. Of the shortest ways to a state take the first in the order of the moves. Any two moves
// that follow each other in it are the first of the shortest ways to where they lead; else the way had a shorter
// one, or one that comes first. So a depth has at most as many states as there are ways of that length in which any
// two moves are such a pair: no two that cancel, that one move does as well, or that trade places in vain.

/// The ways of each length from a cell, one depth after the other. It has no end where the ways have none.
pub(crate) struct Growth {
    /// The moves that may follow each move.
    after: Vec<Vec<usize>>,
    /// The ways that end with each move.
    ways: Vec<u64>,
    depth: usize,
}

impl Growth {
    /// Returns the growth from a cell.
    pub fn new(puzzle: &Puzzle, cell: usize) -> Growth {
        let edges = puzzle.edges();
        let from = |cell| (0..edges.len()).filter(move |&edge| edges[edge].from == cell);
        let moved = |line: &[usize], edge: usize| {
            let mut line = line.to_vec();
            puzzle.windows()[edges[edge].window].apply(&mut line);
            (line, edges[edge].to)
        };
        let start: Vec<usize> = (0..puzzle.line_len()).collect();
        let mut growth =
            Growth { after: vec![Vec::new(); edges.len()], ways: vec![0; edges.len()], depth: 0 };
        for first in 0..puzzle.cells() {
            let mut seen = HashSet::from([(start.clone(), first)]);
            let new = |&edge: &usize| seen.insert(moved(&start, edge));
            let once: Vec<usize> = from(first).filter(new).collect();
            for &edge in &once {
                growth.ways[edge] = u64::from(first == cell);
                let (line, to) = moved(&start, edge);
                let new = |&edge: &usize| seen.insert(moved(&line, edge));
                growth.after[edge] = from(to).filter(new).collect();
            }
        }
        growth
    }
}

impl Iterator for Growth {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.depth += 1;
        if self.depth == 1 {
            return Some(1);
        }
        let sum = |ways: &[u64]| ways.iter().fold(0, |sum: u64, &more| sum.saturating_add(more));
        let states = sum(&self.ways);
        let mut longer = vec![0u64; self.ways.len()];
        for (&ways, after) in self.ways.iter().zip(&self.after) {
            for &edge in after {
                longer[edge] = longer[edge].saturating_add(ways);
            }
        }
        self.ways = longer;
        (states > 0).then_some(states)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puzzle::{Goal, Size, families};
    use crate::search::Search;
    use crate::search::disk::{Directories, Disk, PlaneStore};
    use crate::store::MemoryDirectory;

    #[test]
    fn a_puzzle_that_nobody_has_searched_may_have_half_of_a_class_in_a_level() {
        for (name, classes) in [("coxeter:12", 2), ("stars:12", 2), ("lrx:11", 1)] {
            let search = Search::of(StateSpace::of_puzzle(families::parse(name).unwrap()));
            let disk = Disk::new(Directories::new(vec![Box::new(MemoryDirectory::default())]));
            let plan = MemoryPlan::choose(&search, &disk, None).unwrap();
            assert_eq!(plan.extent.classes, classes, "{name}");
            let found = estimate(&Widths::default(), plan, false);
            // Two levels of a bit for each state of a class, of which codes take 0.83 at least where there are two classes.
            let most = 2 * plan.extent.states / classes / 8;
            assert!(found.peak_bytes > most / 4 * 3, "{name}: {found:?}");
            assert!(found.peak_bytes < most * 2, "{name}: {found:?}");
            assert!(found.bytes_written > found.peak_bytes / 2, "{name}: {found:?}");
        }
    }

    #[test]
    fn estimates_grow_with_the_levels() {
        let size = Size::new(3, 4).unwrap();
        let search = Search::new(Goal::Last.board(size).unwrap());
        let mut disk = Disk::new(Directories::new(vec![Box::new(MemoryDirectory::default())]));
        disk.shared_digits = Some(1);
        let plan = MemoryPlan::choose(&search, &disk, None).unwrap();
        let counts = vec![1, 1000, 20_000_000, 21_841_159, 10_000];
        let widths = Widths { counts: counts.clone(), exact: true };
        let found = estimate(&widths, plan, false);
        assert!(found.level_bytes[..4].is_sorted());
        // Two levels of 21 MB of registers each, at half their size.
        assert!((15_000_000..25_000_000).contains(&found.peak_bytes), "{found:?}");
        assert!(found.bytes_written < found.peak_bytes);
        assert_eq!(found.bytes_read, 2 * found.bytes_written);
        assert_eq!(estimate(&widths, plan, true).peak_bytes, found.bytes_written);
        let unknown = estimate(&Widths::default(), plan, false);
        assert!(unknown.peak_bytes >= found.peak_bytes * 9 / 10);
        assert!(unknown.bytes_written > unknown.peak_bytes);
        disk.planes = Some(PlaneStore::Files);
        let files = MemoryPlan::choose(&search, &disk, None).unwrap();
        // The first depths of a board that nobody has searched take next to nothing.
        let large = Size::new(4, 4).unwrap();
        let four = Search::new(Goal::Last.board(large).unwrap());
        disk.planes = Some(PlaneStore::Memory);
        let wide = MemoryPlan::choose(&four, &disk, None).unwrap();
        disk.planes = Some(PlaneStore::Files);
        let thin = |depth| super::widths(&four.space, &[], Some(depth)).unwrap();
        assert_eq!(thin(20).counts[..4], [1, 2, 4, 10]);
        assert_eq!(thin(20).counts.len(), 21);
        let most = estimate(&thin(10), wide, false).peak_bytes;
        assert!(most < 100_000_000, "{most}");
        // In files of their own, 12,000 states take 12,000 blocks of the file system.
        disk.shared_digits = Some(5);
        let many = MemoryPlan::choose(&four, &disk, None).unwrap();
        assert_eq!(many.chunks(), 360_360);
        let twelve = thin(12).counts;
        assert!(twelve[12] + twelve[11] > 12_000, "{twelve:?}");
        let many = estimate(&thin(12), many, false);
        assert!(many.peak_bytes > (twelve[12] + twelve[11]) * FILE, "{many:?}");
        assert_eq!(thin(60), Widths::default());
        // So is their time, of a search whose levels nobody knows.
        assert!(share(&thin(10), &[], wide) < 0.1);
        assert_eq!(share(&thin(60), &[], wide), 1.0);
        assert_eq!(share(&widths, &counts, plan), 1.0);
        let known = super::widths(&search.space, &counts, Some(1)).unwrap();
        assert!(known.exact && known.counts == [1, 1000]);
        // Planes of 332,640 registers of 60 lines: a bit for each, coded as the levels are, there once and those of a chunk.
        let more = estimate(&widths, files, false).peak_bytes - found.peak_bytes;
        let dense = 332_640 * 60 / 8;
        let share = found.level_bytes[3] as f64 / (239_500_800.0 / 2.0 / 8.0);
        let coded = (f64::from(dense) * share * 12.0 / 11.0) as u64;
        assert!((coded..coded + 1_000_000).contains(&more), "{coded} {more}");
    }
}
