//! What a search on disk will take, from the widths of its levels.
//!
//! Invariant: pure arithmetic; the widths are given. Where none are published, an upper estimate is made
//! from the number of states.

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

/// Returns the bytes of a level of `states` states on a board.
pub fn level_bytes(size: Size, states: u64) -> u64 {
    let Some(all) = size.states() else {
        return u64::MAX;
    };
    // A class has half of the cells, and a bit for each on every line.
    let bits = all as f64 / 2.0;
    let p = (states as f64 / bits).clamp(0.0, 0.5);
    let entropy = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
    ((entropy(p) + entropy(1.0 - p)) * bits / 8.0 * CODED) as u64
}

/// Returns what a search with these level widths takes of the disk; `widths` are states per depth, empty
/// when they are not known. `chunks` is the number of chunks, `keep_all` whether all levels are kept.
pub fn estimate(size: Size, widths: &[u64], chunks: usize, keep_all: bool) -> Estimate {
    let all = size.states().unwrap_or(u64::MAX);
    let level: Vec<u64> = widths
        .iter()
        .map(|&states| level_bytes(size, states))
        .collect();
    let written: u64 = match level.is_empty() {
        true => (all as f64 * WIDEST) as u64,
        false => level.iter().sum(),
    };
    let written = match level.is_empty() {
        // As if all levels were of the greatest width.
        true => (level_bytes(size, written) as f64 / WIDEST) as u64,
        false => written,
    };
    let widest = level_bytes(size, (all as f64 * WIDEST) as u64);
    // The current level is whole; the previous one becomes the next chunk by chunk, and what a commit
    // has not yet made durable is there twice.
    let extra = |bytes: u64| bytes / chunks.max(1) as u64;
    let two = level
        .windows(2)
        .map(|two| two[0] + two[1] + extra(two[0].max(two[1])));
    let peak = match (keep_all, level.len()) {
        (true, _) => written,
        (false, 0) => 2 * widest + extra(widest),
        (false, _) => two.max().unwrap_or(level[0]),
    };
    Estimate {
        peak_bytes: peak,
        bytes_written: written,
        bytes_read: written.saturating_mul(2),
        level_bytes: level,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_grow_with_the_levels() {
        let size = Size::new(3, 4).unwrap();
        let widths = [1, 1000, 20_000_000, 21_841_159, 10_000];
        let found = estimate(size, &widths, 11, false);
        assert!(
            found.level_bytes.is_sorted_by(|a, b| a < b)
                || found.level_bytes[4] < found.level_bytes[3]
        );
        // Two levels of 21 MB of registers each, at half their size.
        assert!(
            (15_000_000..25_000_000).contains(&found.peak_bytes),
            "{found:?}"
        );
        assert!(found.bytes_written < found.peak_bytes * 2);
        assert!(estimate(size, &widths, 11, true).peak_bytes == found.bytes_written);
        let unknown = estimate(size, &[], 11, false);
        assert!(unknown.peak_bytes >= found.peak_bytes * 9 / 10);
        assert!(unknown.bytes_written > unknown.peak_bytes);
    }
}
