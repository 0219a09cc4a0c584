//! Patterns for any goal: what to build if no patterns are specified.
//!
//! Invariant: every partition covers all tiles, each once.

use crate::{
    pdb::{Pattern, PdbError, partition},
    puzzle::{Board, SnakePath},
    solve::{symmetry::images, tree::MAX_BIT_VIEWS},
};

/// Returns default patterns for a goal: up to 6 consecutive tiles along the snake path (5 on boards of more than 25
/// cells), so that building a set takes seconds and at most half a gigabyte; on 4x4 and 5x5 with the blank's goal in a
/// corner, 6-6-3 and 6-6-6-6 from the literature.
///
/// # Errors
/// [`PdbError`] if the board is too large for databases.
pub fn default_patterns(goal: &Board) -> Result<Vec<Pattern>, PdbError> {
    let size = goal.size();
    let named = match (size.rows(), size.cols()) {
        (4, 4) => partition("6-6-3", goal).ok(),
        (5, 5) => partition("6-6-6-6", goal).ok(),
        _ => None,
    };
    if let Some(patterns) = named {
        return Ok(patterns);
    }
    let most = if size.cells() > 25 { 5 } else { 6 };
    let path = SnakePath::new(size);
    let along = (0..size.cells()).map(|i| goal.tiles()[path.cell(i)]);
    let tiles: Vec<u16> = along.filter(|&tile| tile != 0).collect();
    let groups = tiles.len().div_ceil(most);
    // Equal shares: 6 + 5 rather than 6 + 6 with one left over.
    patterns(goal, tiles.chunks(tiles.len().div_ceil(groups)))
}

/// Returns partitions into large patterns for any goal, for combined use: patterns of `most` tiles, row by row or
/// column by column, with the smaller rest at the end or at the beginning. No partition is a reflection or rotation of
/// another, and there are only as many as a search can look up quickly.
///
/// ```
/// use tilewave::solve::sweeps;
/// use tilewave::{Goal, Size};
/// let goal = Goal::Last.board(Size::new(2, 3)?)?; // 1 2 3/4 5 0
/// let tiles = |most| -> Result<Vec<Vec<Vec<u16>>>, tilewave::Error> {
///     let all = sweeps(&goal, most)?.into_iter();
///     Ok(all.map(|patterns| patterns.iter().map(|p| p.tiles().to_vec()).collect()).collect())
/// };
/// assert_eq!(tiles(3)?[..2], [[vec![1, 2, 3], vec![4, 5]], [vec![3, 4, 5], vec![1, 2]]]);
/// assert_eq!(tiles(5)?, [[[1, 2, 3, 4, 5]]]);
/// # Ok::<(), tilewave::Error>(())
/// ```
///
/// # Errors
/// [`PdbError`] if the board is too large for databases.
pub fn sweeps(goal: &Board, most: usize) -> Result<Vec<Vec<Pattern>>, PdbError> {
    let (size, tiles) = (goal.size(), goal.tiles());
    let mut symmetries = images(size, size);
    symmetries.retain(|image| usize::from(image[goal.blank()]) == goal.blank());
    let rows: Vec<usize> = (0..size.cells()).collect();
    let columns = rows.iter().map(|i| i % size.rows() * size.cols() + i / size.rows());
    let (mut found, mut known) = (Vec::new(), Vec::new());
    for cells in [rows.clone(), columns.collect()] {
        let mut cells: Vec<usize> = cells.into_iter().filter(|&cell| tiles[cell] != 0).collect();
        for _ in 0..2 {
            let chunks: Vec<&[usize]> = cells.chunks(most).collect();
            let seen = symmetries.iter().map(|image| sets(&chunks, image));
            let seen: Vec<Vec<u64>> = seen.collect();
            if !seen.iter().any(|sets| known.contains(sets)) {
                known.extend(seen);
                let of_cells: Vec<Vec<u16>> = chunks
                    .iter()
                    .map(|cells| cells.iter().map(|&cell| tiles[cell]).collect())
                    .collect();
                found.push(patterns(goal, of_cells.iter().map(Vec::as_slice))?);
            }
            cells.reverse();
        }
    }
    found.truncate((MAX_BIT_VIEWS / symmetries.len().max(1)).max(1));
    Ok(found)
}

fn patterns<'t>(
    goal: &Board,
    tiles: impl Iterator<Item = &'t [u16]>,
) -> Result<Vec<Pattern>, PdbError> {
    tiles.map(|tiles| Pattern::new(goal.clone(), tiles)).collect()
}

/// The images of sets of cells under a symmetry, in order.
fn sets(chunks: &[&[usize]], image: &[u8]) -> Vec<u64> {
    let set = |cells: &&[usize]| cells.iter().fold(0, |set, &cell| set | 1 << image[cell]);
    let mut sets: Vec<u64> = chunks.iter().map(set).collect();
    sets.sort_unstable();
    sets
}
