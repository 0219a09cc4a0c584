//! Distance tables for C.
//!
//! Invariant: as for databases: a `TilewaveTable` pointer comes from [`tilewave_table_open`] and is valid
//! until [`tilewave_table_close`]; nothing writes to it, nothing panics.

use std::ffi::{c_char, c_int};

use super::{TILEWAVE_INVALID, TILEWAVE_UNREACHABLE, open, write_text};
use crate::Error;
use crate::puzzle::tiles::{Board, BoardError, MoveStyle};
use crate::table::Table;

/// An open distance table.
pub struct TilewaveTable {
    table: Table,
}

/// Maps a table file and returns it, or NULL. On failure a message of at most `capacity - 1` bytes is
/// written to `message`, which may be NULL.
///
/// # Safety
/// `path` is a NUL-terminated string; `message` is NULL or has room for `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_open(
    path: *const c_char,
    message: *mut c_char,
    capacity: usize,
) -> *mut TilewaveTable {
    // SAFETY: the caller promises what `open` asks for.
    let table = unsafe { open(path, message, capacity, Table::open) };
    table.map_or(std::ptr::null_mut(), |table| {
        Box::into_raw(Box::new(TilewaveTable { table }))
    })
}

/// Returns the depth of a board: `count` tiles in row-major order, 0 for the blank. Negative:
/// `TILEWAVE_INVALID`, also for a damaged table, and `TILEWAVE_UNREACHABLE`.
///
/// # Safety
/// `table` is open or NULL; `tiles` is NULL or points at `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_depth(
    table: *const TilewaveTable,
    tiles: *const u16,
    count: usize,
) -> c_int {
    // SAFETY: the caller promises what `board_of` asks for.
    let Some((table, board)) = (unsafe { board_of(table, tiles, count) }) else {
        return TILEWAVE_INVALID;
    };
    number(table.depth(&board))
}

/// Returns the length of a shortest solution of a board, and writes its moves to `moves`: the letters U, D,
/// L, R say where the tile goes; at most `capacity - 1` of them and a NUL. `moves` may be NULL. Negative as
/// for `tilewave_table_depth`, with nothing written.
///
/// # Safety
/// `table` is open or NULL; `tiles` is NULL or points at `count` numbers; `moves` is NULL or has room for
/// `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_solve(
    table: *const TilewaveTable,
    tiles: *const u16,
    count: usize,
    moves: *mut c_char,
    capacity: usize,
) -> c_int {
    // SAFETY: the caller promises what `board_of` asks for.
    let Some((table, board)) = (unsafe { board_of(table, tiles, count) }) else {
        return TILEWAVE_INVALID;
    };
    let solution = table.solve(&board);
    if let Ok(Some(solution)) = &solution {
        // SAFETY: the caller promises room for `capacity` bytes, or NULL.
        unsafe { write_text(&solution.long(MoveStyle::Tile), moves, capacity) };
    }
    number(solution.map(|moves| moves.map(|moves| moves.len())))
}

/// Returns the number of cells of the board and writes the goal, row-major with 0 for the blank, to
/// `tiles`, which may be NULL. 0 for NULL.
///
/// # Safety
/// `table` is open or NULL; `tiles` is NULL or has room for 16 numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_goal(
    table: *const TilewaveTable,
    tiles: *mut u16,
) -> usize {
    // SAFETY: the caller promises an open table or NULL.
    let Some(TilewaveTable { table }) = (unsafe { table.as_ref() }) else {
        return 0;
    };
    let goal = table.goal().tiles();
    if !tiles.is_null() {
        // SAFETY: not NULL, and the caller promises room for 16 numbers, the most a table's board has.
        unsafe { std::ptr::copy_nonoverlapping(goal.as_ptr(), tiles, goal.len()) };
    }
    goal.len()
}

/// Closes a table. NULL is allowed.
///
/// # Safety
/// `table` is open or NULL, and not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_close(table: *mut TilewaveTable) {
    if !table.is_null() {
        // SAFETY: it came from `Box::into_raw` in `tilewave_table_open` and is given back once.
        drop(unsafe { Box::from_raw(table) });
    }
}

/// The table and the board that a caller means.
///
/// # Safety
/// `table` is open or NULL; `tiles` is NULL or points at `count` numbers.
unsafe fn board_of<'a>(
    table: *const TilewaveTable,
    tiles: *const u16,
    count: usize,
) -> Option<(&'a Table, Board)> {
    // SAFETY: the caller promises an open table or NULL.
    let TilewaveTable { table } = unsafe { table.as_ref() }?;
    let size = table.goal().size();
    if tiles.is_null() || count != size.cells() {
        return None;
    }
    // SAFETY: not NULL, and the caller promises `count` numbers.
    let tiles = unsafe { std::slice::from_raw_parts(tiles, count) };
    Some((table, Board::new(size, tiles).ok()?))
}

fn number(depth: Result<Option<usize>, Error>) -> c_int {
    match depth {
        Ok(Some(depth)) => depth as c_int,
        Ok(None) | Err(Error::Board(BoardError::Unsolvable { .. })) => TILEWAVE_UNREACHABLE,
        Err(_) => TILEWAVE_INVALID,
    }
}
