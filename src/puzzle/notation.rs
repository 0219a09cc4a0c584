//! Permutations as people write them: in cycles, or as the line of their images.
//!
//! Invariant: what is printed is read again as the same permutation.

use rayon::prelude::*;

use crate::Error;
use crate::puzzle::permutation::PermutationError;
use crate::puzzle::{Board, BoardError, DefinitionError, Permutation, Size};
use crate::units::shown;

/// What is not a permutation in either notation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotationError {
    /// Something else stands where a point or a bracket should.
    #[error("'{found}' stands where {expected} should")]
    Syntax {
        /// Byte of the text.
        at: usize,
        /// What stands there.
        found: String,
        /// What should.
        expected: &'static str,
    },
    /// A number that no point has.
    #[error("{found} is not a point: points are {base} to {}", .base + Permutation::MAX_LEN - 1)]
    Point {
        /// Byte of the text.
        at: usize,
        /// The number.
        found: String,
        /// The first point.
        base: usize,
    },
    /// Not a permutation.
    #[error(transparent)]
    Permutation(#[from] PermutationError),
}

impl NotationError {
    /// Returns the byte of the text at which it is wrong, 0 where it is the whole.
    pub fn at(&self) -> usize {
        match self {
            NotationError::Syntax { at, .. } | NotationError::Point { at, .. } => *at,
            NotationError::Permutation(_) => 0,
        }
    }
}

/// Words, brackets and commas of a text, each with its byte.
fn tokens(text: &str) -> Vec<(usize, &str)> {
    let mut tokens = Vec::new();
    let mut word = None;
    for (at, c) in text.char_indices() {
        let single = matches!(c, '(' | ')' | ',');
        if single || c.is_whitespace() {
            if let Some(begin) = word.take() {
                tokens.push((begin, &text[begin..at]));
            }
            if single {
                tokens.push((at, &text[at..at + 1]));
            }
        } else {
            word.get_or_insert(at);
        }
    }
    tokens.extend(word.map(|begin| (begin, &text[begin..])));
    tokens
}

/// Returns the point, counted from 0, that a word counts from `base`.
fn point(at: usize, word: &str, base: usize) -> Result<usize, NotationError> {
    if !word.bytes().all(|b| b.is_ascii_digit()) {
        return Err(syntax(at, word, "a point"));
    }
    let number = word.parse().ok().and_then(|n: usize| n.checked_sub(base));
    let number = number.filter(|&n| n < Permutation::MAX_LEN);
    number.ok_or_else(|| NotationError::Point { at, found: shown(word, 32), base })
}

fn syntax(at: usize, found: &str, expected: &'static str) -> NotationError {
    NotationError::Syntax { at, found: shown(found, 32), expected }
}

/// Returns the cycles written in a text, points counted from 1 there and from 0 here: `(1,10,7)(2,11)`, `()`.
///
/// ```
/// use tilewave::puzzle::notation;
/// assert_eq!(notation::parse_cycles("(1,10,7) (2,11)")?, [vec![0, 9, 6], vec![1, 10]]);
/// assert_eq!(notation::parse_cycles("(1,2").unwrap_err().to_string(), "'the end' stands where ',' or ')' should");
/// # Ok::<(), notation::NotationError>(())
/// ```
///
/// # Errors
/// [`NotationError`] at the first thing that does not belong there.
pub fn parse_cycles(text: &str) -> Result<Vec<Vec<usize>>, NotationError> {
    let mut cycles = Vec::new();
    let mut tokens = tokens(text).into_iter();
    let end = (text.len(), "the end");
    while let Some((at, word)) = tokens.next().or(cycles.is_empty().then_some(end)) {
        if word != "(" {
            return Err(syntax(at, word, "'('"));
        }
        let mut cycle = Vec::new();
        loop {
            let (at, word) = tokens.next().unwrap_or(end);
            if word == ")" && cycle.is_empty() {
                break;
            }
            cycle.push(point(at, word, 1)?);
            match tokens.next().unwrap_or(end) {
                (_, ")") => break,
                (_, ",") => {}
                (at, word) => return Err(syntax(at, word, "',' or ')'")),
            }
        }
        cycles.push(cycle);
    }
    Ok(cycles)
}

/// Returns the permutation of some points that a text gives in cycles, points counted from 1.
///
/// # Errors
/// [`NotationError`] when it is none.
pub fn parse_cycle_notation(text: &str, points: usize) -> Result<Permutation, NotationError> {
    Ok(Permutation::from_cycles(points, &parse_cycles(text)?)?)
}

/// Returns the permutation whose images a text lists, by spaces or commas, counted from `base`.
///
/// ```
/// use tilewave::puzzle::notation;
/// let images = notation::parse_one_line("2 3 1", 1)?;
/// assert_eq!(images, notation::parse_one_line("1,2,0", 0)?);
/// assert_eq!(notation::one_line(&images, 0), "1 2 0");
/// # Ok::<(), notation::NotationError>(())
/// ```
///
/// # Errors
/// [`NotationError`] when it is none.
pub fn parse_one_line(text: &str, base: usize) -> Result<Permutation, NotationError> {
    let words = tokens(text).into_iter().filter(|&(_, word)| word != ",");
    let images: Vec<usize> =
        words.map(|(at, word)| point(at, word, base)).collect::<Result<_, _>>()?;
    Ok(Permutation::new(&images)?)
}

/// Returns the images of a permutation, counted from `base`, separated by spaces.
pub fn one_line(permutation: &Permutation, base: usize) -> String {
    let images = permutation.images().iter();
    let images = images.map(|&image| (usize::from(image) + base).to_string());
    images.collect::<Vec<_>>().join(" ")
}

// Many boards or arrangements at once: the rows of one array, row-major tiles or elements, one after another.
//
// Invariant: a row that is no arrangement is an error that names the first such row, whatever the number of
// threads.

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
        Some((row, reason)) => Err(Error::Row { row, reason: Box::new(reason) }),
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
/// [`crate::puzzle::Direction::ALL`], and which of these moves there are; where there is none, the board stays as it
/// is. Cost: some 20 ns per board of 4x4, on all threads of the current pool.
///
/// ```
/// use tilewave::puzzle::{Size, neighbours};
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
    use crate::puzzle::Direction;

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
