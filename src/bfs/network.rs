//! What a search on many machines sends over the network.
//!
//! Invariant: the figures are upper bounds of what [`super::disk::run_distributed`] counts: blocks that are
//! empty are left out on the way.

use super::chunks::Chunks;
use super::problem::Problem;
use super::search::SearchError;
use super::subject::Subject;
use crate::Error;
use crate::perm::lehmer;
use crate::puzzle::tiles::{Goal, Size};

/// What ranks send to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// Digits that all lines of a chunk share, K: the fewest that give every rank four chunks.
    pub shared_digits: usize,
    /// Number of chunks.
    pub chunks: usize,
    /// Windows that cross between chunks.
    pub windows: usize,
    /// Most bytes of a level over the network, of all ranks together: 1 bit per line and crossing window,
    /// but for the share that stays with its rank.
    pub level_bytes: u64,
    /// Bytes of segments that a rank holds: its own chunks' for two steps.
    pub rank_bytes: u64,
}

/// Chunks that every rank has at least, where the board allows: with fewer, those that have one more than
/// the others make them wait.
pub(super) const CHUNKS_PER_RANK: usize = 4;

/// Returns what the search of a board sends with a number of ranks.
///
/// Cost: none to speak of, no arrays are made.
///
/// # Errors
/// [`SearchError::TooLarge`] and [`SearchError::TooSmall`] for boards that cannot be searched on disk.
///
/// ```
/// use tilewave::bfs::network;
///
/// let network = network("4x4".parse()?, 16)?;
/// assert_eq!((network.shared_digits, network.windows), (2, 2));
/// assert_eq!(network.level_bytes, 153_243_090_000);
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn network(size: Size, ranks: usize) -> Result<Network, Error> {
    let problem = Problem::new(&Subject::board(Goal::Last.board(size)?))?;
    let layout = problem.layout;
    let ranks = ranks.max(1);
    let cuts: Vec<Chunks> = (0..layout.prefix())
        .filter_map(|digits| Chunks::new(layout, digits))
        .collect();
    let enough = |cut: &&Chunks| cut.count >= ranks * CHUNKS_PER_RANK;
    let cut = cuts.iter().find(enough).or(cuts.last());
    let cut = *cut.ok_or_else(|| SearchError::TooSmall {
        puzzle: size.to_string(),
    })?;
    let windows = problem.planes(cut);
    let bits = u128::from(lehmer::even_count(size.tiles())) * windows as u128;
    let bytes = |bits: u128| (bits / 8) as u64;
    let most = cut.count.div_ceil(ranks);
    let own = bits * most as u128 / cut.count as u128;
    Ok(Network {
        shared_digits: cut.digits,
        chunks: cut.count,
        windows,
        level_bytes: bytes(bits - bits / ranks as u128),
        rank_bytes: bytes(2 * own),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_a_bit_per_line_and_window() {
        let of = |size: &str, ranks| network(size.parse().unwrap(), ranks).unwrap();
        let lines = lehmer::even_count(11);
        // One process sends nothing and needs no chunks.
        let one = of("2x6", 1);
        assert_eq!((one.shared_digits, one.level_bytes), (1, 0));
        // Two ranks: 11 chunks of one crossing window; half of the bits stay.
        let two = of("2x6", 2);
        assert_eq!((two.shared_digits, two.chunks, two.windows), (1, 11, 1));
        assert_eq!(two.level_bytes, lines / 8 / 2);
        // Four ranks need 16 chunks. The second digit adds a window on 3x4, none on 2x6.
        assert_eq!(of("2x6", 4).windows, 1);
        let four = of("3x4", 4);
        assert_eq!((four.shared_digits, four.windows), (2, 2));
        assert_eq!(four.level_bytes, lines * 2 / 8 * 3 / 4);
        assert!(network("2x3".parse().unwrap(), 2).is_err());
    }

    #[test]
    fn the_figures_of_the_page_are_right() {
        for (size, ranks, digits, chunks, windows, level, rank) in [
            ("2x7", 4, 2, 156, 1, 292e6, 0.2e9),
            ("3x5", 4, 2, 182, 2, 8.2e9, 5.5e9),
            ("2x8", 16, 2, 210, 1, 76.6e9, 10.9e9),
            ("4x4", 16, 2, 210, 2, 153e9, 21.8e9),
        ] {
            let found = network(size.parse().unwrap(), ranks).unwrap();
            let cut = (found.shared_digits, found.chunks, found.windows);
            assert_eq!(cut, (digits, chunks, windows), "{size}");
            assert!(
                (found.level_bytes as f64 / level - 1.0).abs() < 0.01,
                "{size}: {found:?}"
            );
            assert!(
                (found.rank_bytes as f64 / rank - 1.0).abs() < 0.05,
                "{size}: {found:?}"
            );
        }
    }
}
