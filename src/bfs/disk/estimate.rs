//! What a search on disk will take, from the widths of its levels.
//!
//! Invariant: pure arithmetic; the widths are given. Where none are published, an upper estimate is made
//! from the number of states.

use super::fit::Fit;
use crate::puzzle::tiles::Size;

/// Compressed bytes over the entropy of independent bits, measured: states cluster on lines, which makes
/// frames smaller than independent bits would be, and the codec is not perfect, which makes them larger.
/// 3x5 comes to 0.77 to 0.83 at its wide levels (`docs/performance.md`).
const CODED: f64 = 0.83;
/// Most levels of a board that nobody has searched hold at most this share of the states each (3x4: 9 %,
/// 3x5: 7 %, 4x4: 5 %).
const WIDEST: f64 = 0.09;

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

/// Returns the bytes of the frames of a level of `states` states on a board, as one long row of bits.
fn level_bytes(size: Size, states: u64) -> u64 {
    let Some(all) = size.states() else {
        return u64::MAX;
    };
    // A class has half of the cells, and a bit for each on every line.
    let bits = all as f64 / 2.0;
    let p = (states as f64 / bits).clamp(0.0, 0.5);
    let entropy = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
    ((entropy(p) + entropy(1.0 - p)) * bits / 8.0 * CODED) as u64
}

/// Returns the states per depth that an estimate may count with: the published ones as far as the search goes;
/// where there are none, what at most three new states of every state make of the first depths; nothing when
/// the search goes farther than that says anything.
pub fn widths(size: Size, published: &[u64], max_depth: Option<usize>) -> Vec<u64> {
    let levels = max_depth.map_or(usize::MAX, |depth| depth.saturating_add(1));
    if !published.is_empty() {
        return published[..published.len().min(levels)].to_vec();
    }
    let widest = size
        .states()
        .map_or(u64::MAX, |all| (all as f64 * WIDEST) as u64);
    let growth = std::iter::successors(Some(4u64), |width| width.checked_mul(3));
    let thin = std::iter::once(1).chain(growth.take_while(|&width| width < widest));
    let thin: Vec<u64> = thin.take(levels).collect();
    match thin.len() == levels {
        true => thin,
        false => Vec::new(),
    }
}

/// What the numbers of blocks add to planes in files.
const NUMBERS: f64 = 1.02;
/// Chunks that a commit may find written but not yet durable, at 10 seconds between commits (3x5: 3.7).
const UNCOMMITTED: usize = 4;

/// Returns what a search with these level widths takes of the disk; `widths` are states per depth, empty
/// when they are not known.
pub fn estimate(size: Size, widths: &[u64], fit: Fit, keep_all: bool) -> Estimate {
    let all = size.states().unwrap_or(u64::MAX);
    let (chunks, frames) = (fit.chunks() as u64, fit.frames());
    // Of a thin level every state has a frame, and every few a file, to itself.
    let level_of = |states: u64| {
        level_bytes(size, states) + FRAME * states.min(frames) + FILE * states.min(chunks)
    };
    let level: Vec<u64> = widths.iter().map(|&w| level_of(w)).collect();
    let widest = (all as f64 * WIDEST) as u64;
    let written: u64 = match level.is_empty() {
        // As if all levels were of the greatest width.
        true => (level_of(widest) as f64 / WIDEST) as u64,
        false => level.iter().sum(),
    };
    // The current level is whole; the previous one becomes the next chunk by chunk, and what a commit
    // has not yet made durable is there twice. Beside them lie the planes that are read and those that are
    // written: blocks that get no state are left out, those that get any lie there whole with their number.
    let extra = |bytes: u64| bytes * chunks.min(UNCOMMITTED as u64) / chunks;
    let planes = fit.plane_file_bytes();
    let blocks = fit.blocks() as f64;
    let there = |states: u64| {
        let blocks = planes as f64 * NUMBERS * (1.0 - (-(states as f64) / blocks).exp());
        let files = FILE * states.min(chunks) * u64::from(planes > 0);
        blocks as u64 + files
    };
    let widths = match widths {
        [] => &[widest, widest][..],
        [only] => &[0, *only],
        widths => widths,
    };
    let steps = widths.windows(2).map(|two| {
        let [from, to] = [two[0], two[1]].map(level_of);
        let levels = match keep_all {
            true => written,
            false => from + to + extra(from.max(to)),
        };
        levels + there(two[0]) + there(two[1])
    });
    let peak = steps.max().unwrap_or(0);
    let sent = match level.is_empty() {
        true => (planes as f64 / WIDEST) as u64,
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
mod tests {
    use super::*;

    use crate::bfs::Search;
    use crate::bfs::disk::{Directories, Disk, PlaneStore};
    use crate::puzzle::tiles::Goal;
    use crate::store::Simulated;

    #[test]
    fn estimates_grow_with_the_levels() {
        let size = Size::new(3, 4).unwrap();
        let search = Search::new(Goal::Last.board(size).unwrap());
        let mut disk = Disk::new(Directories::new(vec![Box::new(Simulated::default())]));
        disk.shared_digits = Some(1);
        let fit = Fit::choose(&search, &disk, None).unwrap();
        let widths = [1, 1000, 20_000_000, 21_841_159, 10_000];
        let found = estimate(size, &widths, fit, false);
        assert!(found.level_bytes[..4].is_sorted());
        // Two levels of 21 MB of registers each, at half their size.
        assert!(
            (15_000_000..25_000_000).contains(&found.peak_bytes),
            "{found:?}"
        );
        assert!(found.bytes_written < found.peak_bytes);
        assert_eq!(found.bytes_read, 2 * found.bytes_written);
        assert_eq!(
            estimate(size, &widths, fit, true).peak_bytes,
            found.bytes_written
        );
        let unknown = estimate(size, &[], fit, false);
        assert!(unknown.peak_bytes >= found.peak_bytes * 9 / 10);
        assert!(unknown.bytes_written > unknown.peak_bytes);
        disk.planes = Some(PlaneStore::Files);
        let files = Fit::choose(&search, &disk, None).unwrap();
        // The first depths of a board that nobody has searched take next to nothing.
        let large = Size::new(4, 4).unwrap();
        let thin = super::widths(large, &[], Some(20));
        assert_eq!((thin[..3].to_vec(), thin.len()), (vec![1, 4, 12], 21));
        let thin = estimate(large, &thin[..15], fit, false).peak_bytes;
        assert!(thin < 100_000_000, "{thin}");
        // In files of their own, 12,000 states take 12,000 blocks of the file system.
        disk.shared_digits = Some(5);
        let four = Search::new(Goal::Last.board(large).unwrap());
        let many = Fit::choose(&four, &disk, None).unwrap();
        assert_eq!(many.chunks(), 360_360);
        let many = estimate(large, &super::widths(large, &[], Some(9)), many, false);
        assert!(
            many.peak_bytes > (4 * 3u64.pow(8) + 4 * 3u64.pow(7)) * FILE,
            "{many:?}"
        );
        assert!(super::widths(large, &[], Some(60)).is_empty());
        assert_eq!(super::widths(size, &widths, Some(1)), [1, 1000]);
        // 332,640 registers of 60 lines, a bit for each, there twice, in 11 files.
        let more = estimate(size, &widths, files, false).peak_bytes - found.peak_bytes;
        let dense = 2 * 332_640 * 60 / 8;
        assert!((dense..dense + dense / 20).contains(&(more - 2 * 11 * FILE)));
    }
}
