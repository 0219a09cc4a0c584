//! States as work on many of them needs them: rows of one array, and states that are ready for moves.
//!
//! Tables and databases look up arrays of boards or arrangements, piece by piece on all threads ([`each_row`]). Searches
//! of some thousand states collect rows in a [`RowSet`]. Whatever walks from state to state, a table's solution above all,
//! takes the [`CellMoves`] of a puzzle and moves a [`Position`].

use std::{hash::BuildHasher, sync::Arc};

use hashbrown::{DefaultHashBuilder, HashTable, hash_table::Entry};
use parking_lot::Mutex;

use crate::{
    Error,
    perm::MAX_LEN,
    puzzle::{
        Board, Direction, MoveGraph, Permutation, Puzzle, PuzzleError, Size, SnakePath, State,
        StateSpace, Window,
        error::wrong,
        is_even,
        positions::state_length,
        space::{MAX_WIDTH, place},
    },
    threads::each_part,
};

// Many boards or arrangements at once: the rows of one array, one after another. A row lists the tiles of a board in
// row-major order, with 0 for the blank, or the elements of another puzzle, each given by the number of the position
// that it belongs to.
//
// Invariant: for rows that are not arrangements, the error gives the first such row, whatever the number of threads.

/// Number of rows in one piece of work. Up to this number, the calling thread works alone, because waking others would
/// take as long.
const PIECE: usize = 2048;

/// An error and the index of its row within a piece.
pub(crate) type RowFault = (usize, Error);

/// Returns `per_row` results for each row of `width` numbers; `work` receives pieces of the rows and the space for
/// their results. Larger inputs are shared by all threads of the current pool.
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
        let first: Mutex<Option<RowFault>> = Mutex::new(None);
        each_part(&mut results, PIECE * per_row, &|piece, results| {
            let begin = piece * PIECE;
            let rows = &rows[begin * width..count.min(begin + PIECE) * width];
            if let Err((row, error)) = work(rows, results) {
                let mut first = first.lock();
                if first.as_ref().is_none_or(|(other, _)| begin + row < *other) {
                    *first = Some((begin + row, error));
                }
            }
        });
        first.into_inner()
    };
    match first {
        None => Ok(results),
        Some((row, reason)) => Err(Error::Row { row, reason: Box::new(reason) }),
    }
}

/// The same for work on one row at a time.
fn each_single_row<T: Sync, R: Clone + Default + Send>(
    rows: &[T],
    width: usize,
    per_row: usize,
    work: impl Fn(&[T], &mut [R]) -> Result<(), Error> + Sync,
) -> Result<Vec<R>, Error> {
    each_row(rows, width, per_row, |rows, results| {
        let results = results.chunks_exact_mut(per_row.max(1));
        for (i, (row, results)) in rows.chunks_exact(width).zip(results).enumerate() {
            work(row, results).map_err(|error| (i, error))?;
        }
        Ok(())
    })
}

/// Checks that an array consists of complete rows; a function returns the error for a row that is not.
fn whole_rows(numbers: &[u16], width: usize, wrong: impl Fn(&[u16]) -> Error) -> Result<(), Error> {
    match numbers.chunks_exact(width).remainder() {
        [] => Ok(()),
        rest => Err(Error::Row { row: numbers.len() / width, reason: Box::new(wrong(rest)) }),
    }
}

/// Checks that an array consists of complete boards.
pub(crate) fn whole_boards(size: Size, tiles: &[u16]) -> Result<(), Error> {
    whole_rows(tiles, size.cells(), |row| no_board(size, row))
}

/// Returns the error for a row of tiles that is not a board.
pub(crate) fn no_board(size: Size, row: &[u16]) -> Error {
    Board::new(size, row).expect_err("a board was refused").into()
}

/// Returns the error for a row of elements that is not an arrangement.
fn no_arrangement(row: &[u16]) -> Error {
    let elements: Vec<usize> = row.iter().map(|&element| element.into()).collect();
    Permutation::new(&elements).expect_err("an arrangement was refused").into()
}

/// For each of many boards, returns the boards after each of the four moves, in the order of
/// [`crate::puzzle::Direction::ALL`], and which of these moves are possible; where a move is impossible, the board is
/// unchanged. Cost: about 20 ns per 4x4 board; uses all threads of the current pool.
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
/// [`Error::Row`] gives the first row that is not a board.
pub fn neighbours(size: Size, boards: &[u16]) -> Result<(Vec<u16>, Vec<bool>), Error> {
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
    let after = each_single_row(boards, cells, 4 * cells, |row, after| {
        let blank = blank_of(row)?;
        for (after, cell) in after.chunks_exact_mut(cells).zip(to[blank]) {
            after.copy_from_slice(row);
            if let Some(cell) = cell {
                after.swap(blank, cell);
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

impl StateSpace {
    /// Returns the line of a row and its cell.
    #[inline]
    pub(crate) fn line_of(&self, row: &[u16]) -> Result<([u8; MAX_LEN], usize), Error> {
        self.line_of_row(row).ok_or_else(|| self.wrong(row))
    }

    /// Returns the state of a row, or `None` if its line has no number, because no moves lead there.
    #[inline]
    pub(crate) fn state_of(&self, row: &[u16]) -> Result<Option<State>, Error> {
        let (line, cell) = self.line_of(row)?;
        let state = self.number(&line[..row.len() - 1], cell);
        let is_kept = || self.kept_parity().is_none_or(|even| is_even(row) == even);
        Ok((state.line < self.lines() && is_kept()).then_some(state))
    }

    /// The error for a row that is not a board or an arrangement.
    fn wrong(&self, row: &[u16]) -> Error {
        match self.size() {
            Some(size) => no_board(size, row),
            None if row.len() != self.width() => {
                state_length(&self.name(), row.len(), self.width()).into()
            }
            None => no_arrangement(row),
        }
    }

    /// Checks that an array consists of complete rows.
    pub(crate) fn whole(&self, numbers: &[u16]) -> Result<(), Error> {
        whole_rows(numbers, self.width(), |row| self.wrong(row))
    }

    /// Returns the state ids of many rows. Cost: about 30 ns of one core per row; uses all threads of the current pool.
    ///
    /// # Errors
    /// [`Error::Row`] gives the first row that is not a board or an arrangement, or that is unreachable; for puzzles
    /// other than boards, only the parity is checked. A [`PuzzleError`] if states have no numbers.
    pub fn ids(&self, numbers: &[u16]) -> Result<Vec<u64>, Error> {
        self.numbered()?;
        self.whole(numbers)?;
        each_single_row(numbers, self.width(), 1, |row, id| {
            id[0] = self.id(self.state_of(row)?.ok_or_else(|| self.unreachable(row))?);
            Ok(())
        })
    }

    fn unreachable(&self, row: &[u16]) -> Error {
        let board = self.size().and_then(|size| Board::new(size, row).ok());
        let refused = board.and_then(|board| self.state(&board).err());
        refused.unwrap_or_else(|| PuzzleError::unreachable(self.name()).into())
    }

    /// Returns the rows of many state ids: the inverse of [`StateSpace::ids`]. Cost: about 100 ns of one core per row;
    /// uses all threads of the current pool.
    ///
    /// # Errors
    /// [`Error::Row`] gives the first id that no state has. A [`PuzzleError`] if states have no numbers.
    pub fn rows(&self, ids: &[u64]) -> Result<Vec<u16>, Error> {
        self.numbered()?;
        let width = self.width();
        let no_state = |id| {
            let ids = self.lines() * width as u64;
            let puzzle = self.name();
            Error::from(wrong!(Range: "no state of {puzzle} has the id {id}: all ids are below \
                {ids}"))
        };
        each_single_row(ids, 1, width, |id, row| {
            self.write_row(self.from_id(id[0]).ok_or_else(|| no_state(id[0]))?, row);
            Ok(())
        })
    }

    /// Returns the row of the goal.
    pub fn goal_row(&self) -> Vec<u16> {
        match self.boards() {
            Some((goal, _)) => goal.tiles().to_vec(),
            None => (0..self.width() as u16).collect(),
        }
    }

    /// For each of many arrangements, returns the arrangement after each generator, in the order of the moves. Not
    /// for boards. Cost: a few nanoseconds per generator per row.
    ///
    /// # Errors
    /// [`Error::Row`] gives the first row that is not an arrangement. For boards, see [`crate::puzzle::neighbours`].
    pub fn after_generators(&self, numbers: &[u16]) -> Result<Vec<u16>, Error> {
        self.whole(numbers)?;
        let generators = self.puzzle().map_or(Vec::new(), Puzzle::permutations);
        let sources: Vec<Permutation> = generators.iter().map(Permutation::inverse).collect();
        let width = self.width();
        each_single_row(numbers, width, width * sources.len(), |row, after| {
            if !place(row, &mut [0; MAX_WIDTH + 1]) {
                return Err(self.wrong(row));
            }
            for (after, source) in after.chunks_exact_mut(width).zip(&sources) {
                for (to, &from) in after.iter_mut().zip(source.images()) {
                    *to = row[usize::from(from)];
                }
            }
            Ok(())
        })
    }
}

// Moves by name, and states that are ready for moves: a line, a cell, and the moves from each cell.
//
// Invariant: the moves of a cell are in the order of `NamedMove`, so the first among equally short solutions is
// found.

/// A move in the notation of its puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamedMove {
    /// A move of one or more tiles of a board in one direction.
    Tiles(Direction, usize),
    /// A generator, by its index in the moves.
    Generator(usize),
}

/// A move from a cell.
#[derive(Clone, Debug)]
pub(crate) struct CellMove {
    pub name: NamedMove,
    to: usize,
    window: Window,
}

/// The moves from each cell.
#[derive(Clone, Debug)]
pub(crate) struct CellMoves(Arc<[Vec<CellMove>]>);

impl CellMoves {
    /// Returns the moves of a puzzle.
    pub fn new(space: &StateSpace) -> CellMoves {
        let mut moves = vec![Vec::new(); space.moves().cells()];
        let mut add = |puzzle: &MoveGraph, step: &dyn Fn(usize, usize) -> NamedMove| {
            for edge in puzzle.edges() {
                moves[edge.from].push(CellMove {
                    name: step(edge.from, edge.to),
                    to: edge.to,
                    window: puzzle.windows()[edge.window].clone(),
                });
            }
        };
        if let Some(size) = space.size() {
            let path = SnakePath::new(size);
            add(space.moves(), &|from, to| slide(&path, from, to));
        }
        if let (Some(puzzle), Some(order)) = (space.puzzle(), space.order()) {
            for (i, permutation) in puzzle.permutations().iter().enumerate() {
                let alone = std::slice::from_ref(permutation);
                add(&order.puzzle(alone, true), &|_, _| NamedMove::Generator(i));
            }
        }
        for moves in &mut moves {
            moves.sort_by_key(|one| one.name);
        }
        CellMoves(moves.into())
    }

    /// Returns the moves from a cell.
    pub fn from(&self, cell: usize) -> &[CellMove] {
        &self.0[cell]
    }
}

/// The tiles that move when the blank moves from one path index to another in its row or column.
fn slide(path: &SnakePath, from: usize, to: usize) -> NamedMove {
    let cols = path.size().cols();
    let [from, to] = [from, to].map(|index| (path.cell(index) / cols, path.cell(index) % cols));
    match (from, to) {
        ((r, a), (s, b)) if r == s && a < b => NamedMove::Tiles(Direction::Left, b - a),
        ((r, a), (s, b)) if r == s => NamedMove::Tiles(Direction::Right, a - b),
        ((a, _), (b, _)) if a < b => NamedMove::Tiles(Direction::Up, b - a),
        ((a, _), (b, _)) => NamedMove::Tiles(Direction::Down, a - b),
    }
}

/// A state that is ready for moves.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    line: [u8; MAX_LEN],
    len: usize,
    /// The cell of the distinguished element.
    pub cell: usize,
}

impl Position {
    /// Returns the position of a line and a cell.
    pub fn new(line: &[u8], cell: usize) -> Position {
        let mut own = [0; MAX_LEN];
        own[..line.len()].copy_from_slice(line);
        let len = line.len();
        Position { line: own, len, cell }
    }

    /// Returns the state. Cost: one ranking.
    pub fn state(&self) -> State {
        State::of(&self.line[..self.len], self.cell)
    }

    /// Returns the position after a move from its cell.
    pub fn after(&self, step: &CellMove) -> Position {
        let mut next = self.clone();
        next.cell = step.to;
        if !step.window.is_identity() {
            for place in step.window.first()..=step.window.last() {
                next.line[place] = self.line[step.window.source(place)];
            }
        }
        next
    }

    /// Returns whether this is the goal state, whose line is in order and whose cell is `cell`.
    pub fn is_goal(&self, cell: usize) -> bool {
        let numbered = self.line[..self.len].iter().enumerate();
        self.cell == cell && numbered.into_iter().all(|(i, &x)| i == usize::from(x))
    }
}

/// Different rows of one length, numbered in the order in which they are found.
pub(crate) struct RowSet {
    width: usize,
    rows: Vec<u8>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl RowSet {
    pub fn new(width: usize) -> RowSet {
        let hasher = DefaultHashBuilder::default();
        RowSet { width, rows: Vec::new(), numbers: HashTable::new(), hasher }
    }

    /// Returns the number of rows, fewer than 2^32.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    pub fn row(&self, number: usize) -> &[u8] {
        &self.rows[number * self.width..][..self.width]
    }

    /// Adds a row, and returns whether it is new.
    pub fn insert(&mut self, row: &[u8]) -> bool {
        let new = self.numbers.len() as u32;
        let of = |&number: &u32| &self.rows[number as usize * self.width..][..self.width];
        let hash = |row: &[u8]| self.hasher.hash_one(row);
        match self.numbers.entry(hash(row), |number| of(number) == row, |number| hash(of(number))) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(new);
                self.rows.extend_from_slice(row);
                true
            }
        }
    }
}
