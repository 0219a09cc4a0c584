//! Distance tables for C.

use std::ffi::{c_char, c_int};

use super::{
    TILEWAVE_INVALID, TILEWAVE_UNREACHABLE, close, evaluate, evaluate_all, open, read, write_all,
    write_text,
};
use crate::Error;
use crate::puzzle::tiles::{Board, BoardError, MoveStyle, Moves};
use crate::table::DistanceTable;

/// An open distance table.
pub struct TilewaveTable {
    table: DistanceTable,
    goal: Board,
}

/// What is behind a pointer.
///
/// # Safety
/// `table` is open or NULL.
unsafe fn of<'a>(table: *const TilewaveTable) -> Option<&'a TilewaveTable> {
    // SAFETY: the caller promises an open table or NULL.
    unsafe { table.as_ref() }
}

fn number(depth: Result<Option<usize>, Error>) -> c_int {
    match depth {
        Ok(Some(depth)) => depth as c_int,
        Ok(None) | Err(Error::Board(BoardError::Unsolvable { .. })) => TILEWAVE_UNREACHABLE,
        Err(_) => TILEWAVE_INVALID,
    }
}

/// Opens the table file of a board and returns it, or NULL. On failure a message of at most `capacity - 1` bytes is
/// written to `message`, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_open(
    path: *const c_char,
    message: *mut c_char,
    capacity: usize,
) -> *mut TilewaveTable {
    let table = |path: &std::path::Path| {
        let table = DistanceTable::open(path)?;
        let goal = table.goal()?.clone();
        Ok::<_, Error>(TilewaveTable { table, goal })
    };
    // SAFETY: the caller promises what `open` asks for.
    unsafe { open(path, message, capacity, table) }
}

/// Closes a table, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_close(table: *mut TilewaveTable) {
    // SAFETY: it came from `tilewave_table_open`, or is NULL, and the caller does not use it any more.
    unsafe { close(table) }
}

/// Returns the depth of a board: `count` tiles in row-major order, 0 for the blank. Negative:
/// TILEWAVE_INVALID, also for a damaged table, and TILEWAVE_UNREACHABLE, also for a board of a depth that a table of
/// some depths only does not have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_depth(
    table: *const TilewaveTable,
    tiles: *const u16,
    count: usize,
) -> c_int {
    // SAFETY: the caller promises an open table and `count` numbers, or NULL.
    let (Some(table), Some(tiles)) = (unsafe { (of(table), read(tiles, count)) }) else {
        return TILEWAVE_INVALID;
    };
    evaluate(table.goal.size(), tiles, |board| {
        number(table.table.depth(board))
    })
}

/// Writes the depths of many boards, looked up with all cores, and returns how many there are: `count`
/// tiles of boards one after the other, which is a multiple of rows times columns. Returns 0 and writes
/// nothing when it is none, or `capacity` is too small. Depths are those of tilewave_table_depth.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_depths(
    table: *const TilewaveTable,
    tiles: *const u16,
    count: usize,
    depths: *mut c_int,
    capacity: usize,
) -> usize {
    // SAFETY: the caller promises an open table or NULL.
    let Some(table) = (unsafe { of(table) }) else {
        return 0;
    };
    let (size, depth) = (table.goal.size(), |board: &Board| {
        number(table.table.depth(board))
    });
    // SAFETY: the caller promises what `evaluate_all` asks for.
    unsafe { evaluate_all(size, (tiles, count), (depths, capacity), depth) }
}

/// Returns the number of moves of a shortest solution of a board in the table's metric, and writes its moves
/// to `moves`: the letters U, D, L, R say where the tile goes, one for every tile; at most `capacity - 1` of
/// them and a NUL. `moves` may be NULL. Negative as for tilewave_table_depth, with nothing written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_solve(
    table: *const TilewaveTable,
    tiles: *const u16,
    count: usize,
    moves: *mut c_char,
    capacity: usize,
) -> c_int {
    // SAFETY: the caller promises an open table and `count` numbers, or NULL.
    let (Some(table), Some(tiles)) = (unsafe { (of(table), read(tiles, count)) }) else {
        return TILEWAVE_INVALID;
    };
    evaluate(table.goal.size(), tiles, |board| {
        let solution = table.table.solve(board);
        if let Ok(Some(solution)) = &solution {
            // SAFETY: the caller promises room for `capacity` bytes, or NULL.
            unsafe { write_text(&solution.long(MoveStyle::Tile), moves, capacity) };
        }
        let count = |moves: &Moves| table.table.count(moves);
        number(solution.map(|moves| moves.as_ref().map(count)))
    })
}

/// Returns the number of rows of the board, 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_rows(table: *const TilewaveTable) -> usize {
    // SAFETY: the caller promises an open table or NULL.
    unsafe { of(table) }.map_or(0, |table| table.goal.size().rows())
}

/// Returns the number of columns of the board, 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_columns(table: *const TilewaveTable) -> usize {
    // SAFETY: the caller promises an open table or NULL.
    unsafe { of(table) }.map_or(0, |table| table.goal.size().cols())
}

/// Returns the number of cells of the board and writes as much of the goal as `capacity` allows to
/// `tiles`, which may be NULL: row-major, 0 for the blank.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_goal(
    table: *const TilewaveTable,
    tiles: *mut u16,
    capacity: usize,
) -> usize {
    // SAFETY: the caller promises an open table or NULL, and room for `capacity` numbers or NULL.
    unsafe { of(table).map_or(0, |table| write_all(table.goal.tiles(), tiles, capacity)) }
}

/// Returns the largest depth in the table, 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_maximum(table: *const TilewaveTable) -> c_int {
    // SAFETY: the caller promises an open table or NULL.
    unsafe { of(table) }.map_or(0, |table| table.table.histogram().len() as c_int - 1)
}
