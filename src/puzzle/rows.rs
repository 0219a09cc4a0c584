//! Many boards or arrangements at once: the rows of one array, row-major tiles or elements, one after another.
//!
//! Invariant: a row that is no arrangement is an error that names the first such row, whatever the number of
//! threads.

use rayon::prelude::*;

use super::tiles::{Board, BoardError, Size};
use super::{DefinitionError, Permutation};
use crate::Error;

/// Rows of one piece of work. So many or fewer stay on the calling thread: to wake others takes as long.
const PIECE: usize = 2048;

/// The most elements of a row that [`place`] takes.
pub(crate) const MAX_WIDTH: usize = 63;

/// An error and the row, counted from the beginning of a piece, that has it.
pub(crate) type RowFault = (usize, Error);

/// Returns `per_row` results for each row of `width` numbers; `work` gets pieces of the rows and the places of their
/// results. Larger inputs are shared by all threads of the current pool.
pub(crate) fn each_row<T: Sync, R: Clone + Default + Send>(
    rows: &[T],
    width: usize,
    per_row: usize,
    work: impl Fn(&[T], &mut [R]) -> Result<(), RowFault> + Sync,
) -> Result<Vec<R>, Error> {
    let count = rows.len() / width;
    let mut results = vec![R::default(); count * per_row];
    let first = if count <= PIECE {
        work(rows, &mut results).err()
    } else {
        let pieces = rows.par_chunks(PIECE * width);
        let pieces = pieces.zip(results.par_chunks_mut(PIECE * per_row));
        let faults = pieces.enumerate().filter_map(|(piece, (rows, results))| {
            let (row, error) = work(rows, results).err()?;
            Some((piece * PIECE + row, error))
        });
        faults.min_by_key(|(row, _)| *row)
    };
    match first {
        None => Ok(results),
        Some((row, reason)) => Err(Error::Row {
            row,
            reason: Box::new(reason),
        }),
    }
}

/// Checks that an array holds whole boards.
pub(crate) fn whole_boards(size: Size, tiles: &[u16]) -> Result<(), Error> {
    match tiles.len() % size.cells() {
        0 => Ok(()),
        found => Err(Error::Row {
            row: tiles.len() / size.cells(),
            reason: Box::new(BoardError::WrongCells { size, found }.into()),
        }),
    }
}

/// Writes where each number stands, and returns whether every one of `0..row.len()` stands exactly once. At most
/// [`MAX_WIDTH`] numbers.
#[inline(always)]
pub(crate) fn place(row: &[u16], place: &mut [u8; MAX_WIDTH + 1]) -> bool {
    let (mut seen, mut beyond) = (0u64, 0);
    for (i, &number) in row.iter().enumerate() {
        let low = usize::from(number) & MAX_WIDTH;
        beyond |= usize::from(number) ^ low;
        seen |= 1 << low;
        place[low] = i as u8;
    }
    // As many numbers as bits: none is twice.
    beyond == 0 && seen == (1 << row.len()) - 1
}

/// Returns what is wrong with a row of tiles that is no board.
pub(crate) fn no_board(size: Size, row: &[u16]) -> Error {
    match Board::new(size, row) {
        Err(error) => error.into(),
        Ok(_) => unreachable!("a board was refused"),
    }
}

/// Returns what is wrong with a row of elements that is no arrangement.
pub(crate) fn no_arrangement(row: &[u16]) -> Error {
    let elements: Vec<usize> = row.iter().map(|&element| element.into()).collect();
    match Permutation::new(&elements) {
        Err(error) => DefinitionError::from(error).into(),
        Ok(_) => unreachable!("an arrangement was refused"),
    }
}

/// Returns the boards after each of the four moves of many boards, in the order of
/// [`super::tiles::Direction::ALL`], and which of these moves there are; where there is none, the board stays as it
/// is. Cost: some 20 ns per board of 4x4, on all threads of the current pool.
///
/// ```
/// use tilewave::puzzle::{neighbours, tiles::Size};
/// let (after, can) = neighbours(Size::new(2, 2)?, &[1, 2, 3, 0])?;
/// assert_eq!(can, [false, true, false, true]); // down and right
/// assert_eq!(after[4..8], [1, 0, 3, 2]);
/// assert_eq!(after[..4], [1, 2, 3, 0]);
/// # Ok::<(), tilewave::Error>(())
/// ```
///
/// # Errors
/// [`Error::Row`] names the first row that is no board.
pub fn neighbours(size: Size, boards: &[u16]) -> Result<(Vec<u16>, Vec<bool>), Error> {
    use super::tiles::Direction;

    whole_boards(size, boards)?;
    let cells = size.cells();
    let to: Vec<[Option<usize>; 4]> = (0..cells)
        .map(|blank| Direction::ALL.map(|direction| direction.tile_cell(size, blank)))
        .collect();
    let blank_of = |row: &[u16]| {
        let mut at = [0; MAX_WIDTH + 1];
        let good = match cells <= MAX_WIDTH {
            true => place(row, &mut at),
            false => Board::new(size, row).is_ok(),
        };
        let blank = row.iter().position(|&tile| tile == 0);
        blank.filter(|_| good).ok_or_else(|| no_board(size, row))
    };
    let after = each_row(boards, cells, 4 * cells, |boards, after| {
        let rows = boards.chunks_exact(cells);
        for (i, (row, after)) in rows.zip(after.chunks_exact_mut(4 * cells)).enumerate() {
            let blank = blank_of(row).map_err(|error| (i, error))?;
            for (after, cell) in after.chunks_exact_mut(cells).zip(to[blank]) {
                after.copy_from_slice(row);
                if let Some(cell) = cell {
                    after.swap(blank, cell);
                }
            }
        }
        Ok(())
    })?;
    let can = boards.chunks_exact(cells).flat_map(|row| {
        let blank = row.iter().position(|&tile| tile == 0).unwrap_or_default();
        to[blank].map(|cell| cell.is_some())
    });
    Ok((after, can.collect()))
}
