//! What a search on many machines sends over the network.
//!
//! Invariant: the figures are upper bounds of what [`super::disk::run_distributed`] counts: blocks that are
//! empty are left out on the way.

use super::chunks::Chunks;
use super::error::SearchError;
use super::problem::Problem;
use super::subject::Subject;
use crate::Error;
use crate::perm::lehmer;

/// What ranks send to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// Digits that all lines of a chunk share, K: the fewest that give every rank four chunks.
    pub shared_digits: usize,
    /// Number of chunks.
    pub chunks: usize,
    /// Windows that cross between chunks, for each pair of cells.
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

/// Returns what a search sends with a number of ranks.
///
/// Cost: none to speak of, no arrays are made.
///
/// # Errors
/// [`SearchError::TooLarge`], [`SearchError::TooSmall`] and [`SearchError::InMemory`] for what cannot be searched on disk.
///
/// ```
/// use tilewave::bfs::{Subject, network};
/// use tilewave::puzzle::tiles::Goal;
///
/// let subject = Subject::board(Goal::Last.board("4x4".parse()?)?);
/// let network = network(&subject, 16)?;
/// assert_eq!((network.shared_digits, network.windows), (2, 2));
/// assert_eq!(network.level_bytes, 153_243_090_000);
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn network(subject: &Subject, ranks: usize) -> Result<Network, Error> {
    let problem = Problem::chunked(subject)?;
    let layout = problem.layout;
    let ranks = ranks.max(1);
    let cuts: Vec<Chunks> = (0..layout.prefix())
        .filter_map(|digits| Chunks::new(layout, digits))
        .collect();
    let enough = |cut: &&Chunks| cut.count >= ranks * CHUNKS_PER_RANK;
    let cut = cuts.iter().find(enough).or(cuts.last());
    let cut = *cut.ok_or_else(|| SearchError::TooSmall {
        puzzle: subject.to_string(),
    })?;
    let windows = problem.planes(cut);
    let bits = u128::from(lehmer::even_count(layout.len())) * windows as u128;
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
#[path = "../../tests/unit/network.rs"]
mod tests;
