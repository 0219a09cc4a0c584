//! Pattern databases for C.

use std::ffi::{c_char, c_int};

use crate::{
    Error,
    capi::{
        TILEWAVE_INVALID, TILEWAVE_UNREACHABLE, close, evaluate, evaluate_all, open, read,
        write_all, write_text,
    },
    pdb::{Encoding, Kind, Pdb},
    puzzle::{Board, MoveStyle, Moves, PuzzleError},
    table::DistanceTable,
};

/// Kind of a database: one value per placement, the least over the cells of the blank. Admissible, not
/// consistent.
pub const TILEWAVE_KIND_ADDITIVE_MIN: c_int = 0;

/// Kind of a database: one value per placement and region of the blank. Consistent.
pub const TILEWAVE_KIND_REGION_AWARE: c_int = 1;

/// Kind of a database: one value per placement of the tiles and the blank, tile 0 of the pattern, every move counted. Not
/// additive.
pub const TILEWAVE_KIND_ALL_MOVES: c_int = 2;

/// Encoding of a database: one byte per entry, 255 for none.
pub const TILEWAVE_ENCODING_BYTE: c_int = 0;

/// Encoding of a database: one bit per entry, the first in the lowest bit of a byte: (value div 2) mod 2.
pub const TILEWAVE_ENCODING_BIT: c_int = 2;

/// An open pattern database.
pub struct TilewavePdb {
    pdb: Pdb,
}

/// The database behind a pointer.
///
/// # Safety
/// `pdb` is open or NULL.
unsafe fn of<'a>(pdb: *const TilewavePdb) -> Option<&'a Pdb> {
    // SAFETY: the caller promises an open database or NULL.
    unsafe { pdb.as_ref() }.map(|open| &open.pdb)
}

/// A number of an open database, 0 for NULL.
///
/// # Safety
/// `pdb` is open or NULL.
unsafe fn get<T: Default>(pdb: *const TilewavePdb, get: impl Fn(&Pdb) -> T) -> T {
    // SAFETY: the caller promises an open database or NULL.
    unsafe { of(pdb) }.map(get).unwrap_or_default()
}

fn number(value: Option<u8>) -> c_int {
    value.map_or(TILEWAVE_UNREACHABLE, c_int::from)
}

fn value_of(pdb: &Pdb, board: &Board) -> c_int {
    pdb.value(board).map_or(TILEWAVE_INVALID, number)
}

/// Opens a database file and returns it, or NULL. On failure a message of at most `capacity - 1` bytes is
/// written to `message`, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_open(
    path: *const c_char,
    message: *mut c_char,
    capacity: usize,
) -> *mut TilewavePdb {
    let pdb = |path: &std::path::Path| Pdb::load(path).map(|pdb| TilewavePdb { pdb });
    // SAFETY: the caller promises what `open` asks for.
    unsafe { open(path, message, capacity, pdb) }
}

/// Closes a database, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_close(pdb: *mut TilewavePdb) {
    // SAFETY: it came from `tilewave_pdb_open`, or is NULL, and the caller does not use it any more.
    unsafe { close(pdb) }
}

/// Returns the value of a board: `count` tiles in row-major order, 0 for the blank. Negative:
/// TILEWAVE_INVALID, TILEWAVE_UNREACHABLE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_value(
    pdb: *const TilewavePdb,
    tiles: *const u16,
    count: usize,
) -> c_int {
    // SAFETY: the caller promises an open database and `count` numbers, or NULL.
    let (Some(pdb), Some(tiles)) = (unsafe { (of(pdb), read(tiles, count)) }) else {
        return TILEWAVE_INVALID;
    };
    evaluate(pdb.pattern().size(), tiles, |board| value_of(pdb, board))
}

/// Writes the values of many boards, looked up with all cores, and returns how many there are: `count`
/// tiles of boards one after the other, which is a multiple of rows times columns. Returns 0 and writes
/// nothing when it is none, or `capacity` is too small. Values are those of tilewave_pdb_value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_values(
    pdb: *const TilewavePdb,
    tiles: *const u16,
    count: usize,
    values: *mut c_int,
    capacity: usize,
) -> usize {
    // SAFETY: the caller promises an open database or NULL.
    let Some(pdb) = (unsafe { of(pdb) }) else {
        return 0;
    };
    let (size, value) = (pdb.pattern().size(), |board: &Board| value_of(pdb, board));
    // SAFETY: the caller promises what `evaluate_all` asks for.
    unsafe { evaluate_all(size, (tiles, count), (values, capacity), value) }
}

/// Returns the value of a placement: the row-major cells of the pattern's tiles in increasing order of
/// their numbers, `count` of them, and the cell of the blank (which matters in region-aware databases only, but
/// must be free). Where every move counts, tile 0 of the pattern is the blank, and both say the same cell.
/// Negative: TILEWAVE_INVALID, TILEWAVE_UNREACHABLE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_lookup(
    pdb: *const TilewavePdb,
    cells: *const u8,
    count: usize,
    blank: u8,
) -> c_int {
    // SAFETY: the caller promises an open database and `count` cells, or NULL.
    let (Some(pdb), Some(cells)) = (unsafe { (of(pdb), read(cells, count)) }) else {
        return TILEWAVE_INVALID;
    };
    let board = pdb.pattern().size().cells();
    let on_board = |&cell: &u8| usize::from(cell) < board;
    if count != pdb.pattern().tiles().len() || !cells.iter().all(on_board) || !on_board(&blank) {
        return TILEWAVE_INVALID;
    }
    let taken = crate::bits::set_of(cells);
    let placed = match pdb.kind() {
        Kind::AllMoves => cells.first() == Some(&blank),
        Kind::Minimum | Kind::Regions => taken >> blank & 1 == 0,
    };
    if !placed || taken.count_ones() as usize != count {
        return TILEWAVE_INVALID;
    }
    number(pdb.lookup(cells, blank))
}

/// Returns the number of rows of the board, 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_rows(pdb: *const TilewavePdb) -> usize {
    // SAFETY: the caller promises an open database or NULL.
    unsafe { get(pdb, |pdb| pdb.pattern().size().rows()) }
}

/// Returns the number of columns of the board, 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_columns(pdb: *const TilewavePdb) -> usize {
    // SAFETY: the caller promises an open database or NULL.
    unsafe { get(pdb, |pdb| pdb.pattern().size().cols()) }
}

/// Returns the number of cells of the board and writes as much of the goal as `capacity` allows to
/// `tiles`, which may be NULL: row-major, 0 for the blank.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_goal(
    pdb: *const TilewavePdb,
    tiles: *mut u16,
    capacity: usize,
) -> usize {
    // SAFETY: the caller promises an open database or NULL, and room for `capacity` numbers or NULL.
    unsafe { get(pdb, |pdb| write_all(pdb.pattern().goal().tiles(), tiles, capacity)) }
}

/// Returns the number of tiles of the pattern and writes as many of their numbers as `capacity` allows,
/// in increasing order, to `tiles`, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_tiles(
    pdb: *const TilewavePdb,
    tiles: *mut u16,
    capacity: usize,
) -> usize {
    // SAFETY: the caller promises an open database or NULL, and room for `capacity` numbers or NULL.
    unsafe { get(pdb, |pdb| write_all(pdb.pattern().tiles(), tiles, capacity)) }
}

/// Returns TILEWAVE_KIND_ADDITIVE_MIN, TILEWAVE_KIND_REGION_AWARE or TILEWAVE_KIND_ALL_MOVES.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_kind(pdb: *const TilewavePdb) -> c_int {
    let kind = |pdb: &Pdb| match pdb.kind() {
        Kind::Minimum => TILEWAVE_KIND_ADDITIVE_MIN,
        Kind::Regions => TILEWAVE_KIND_REGION_AWARE,
        Kind::AllMoves => TILEWAVE_KIND_ALL_MOVES,
    };
    // SAFETY: the caller promises an open database or NULL.
    unsafe { get(pdb, kind) }
}

/// Returns TILEWAVE_ENCODING_BYTE or TILEWAVE_ENCODING_BIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_encoding(pdb: *const TilewavePdb) -> c_int {
    let encoding = |pdb: &Pdb| match pdb.encoding() {
        Encoding::Byte => TILEWAVE_ENCODING_BYTE,
        Encoding::Bit => TILEWAVE_ENCODING_BIT,
    };
    // SAFETY: the caller promises an open database or NULL.
    unsafe { get(pdb, encoding) }
}

/// Returns the number of entries, 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_entries(pdb: *const TilewavePdb) -> u64 {
    // SAFETY: the caller promises an open database or NULL.
    unsafe { get(pdb, Pdb::entries) }
}

/// Returns the largest value, 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_maximum(pdb: *const TilewavePdb) -> c_int {
    // SAFETY: the caller promises an open database or NULL.
    unsafe { get(pdb, |pdb| c_int::from(pdb.maximum())) }
}

/// Returns the entries as they are in the file (docs/format.md), valid until the database is closed, and
/// writes their length in bytes to `bytes`, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_data(
    pdb: *const TilewavePdb,
    bytes: *mut usize,
) -> *const u8 {
    // SAFETY: the caller promises an open database or NULL.
    let data = unsafe { of(pdb) }.map(Pdb::bytes);
    // SAFETY: the caller promises room for one number, or NULL.
    unsafe { write_all(&[data.map_or(0, <[u8]>::len)], bytes, 1) };
    data.map_or(std::ptr::null(), <[u8]>::as_ptr)
}

// Distance tables for C.

/// An open distance table.
pub struct TilewaveTable {
    table: DistanceTable,
    goal: Board,
}

/// What is behind a pointer.
///
/// # Safety
/// `table` is open or NULL.
unsafe fn table_of<'a>(table: *const TilewaveTable) -> Option<&'a TilewaveTable> {
    // SAFETY: the caller promises an open table or NULL.
    unsafe { table.as_ref() }
}

fn table_number(depth: Result<Option<usize>, Error>) -> c_int {
    match depth {
        Ok(Some(depth)) => depth as c_int,
        Ok(None) | Err(Error::Puzzle(PuzzleError::Unsolvable { .. })) => TILEWAVE_UNREACHABLE,
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
    let (Some(table), Some(tiles)) = (unsafe { (table_of(table), read(tiles, count)) }) else {
        return TILEWAVE_INVALID;
    };
    evaluate(table.goal.size(), tiles, |board| table_number(table.table.depth(board)))
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
    let Some(table) = (unsafe { table_of(table) }) else {
        return 0;
    };
    let (size, depth) = (table.goal.size(), |board: &Board| table_number(table.table.depth(board)));
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
    let (Some(table), Some(tiles)) = (unsafe { (table_of(table), read(tiles, count)) }) else {
        return TILEWAVE_INVALID;
    };
    evaluate(table.goal.size(), tiles, |board| {
        let solution = table.table.solve(board);
        if let Ok(Some(solution)) = &solution {
            // SAFETY: the caller promises room for `capacity` bytes, or NULL.
            unsafe { write_text(&solution.long(MoveStyle::Tile), moves, capacity) };
        }
        let count = |moves: &Moves| table.table.count(moves);
        table_number(solution.map(|moves| moves.as_ref().map(count)))
    })
}

/// Returns the number of rows of the board, 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_rows(table: *const TilewaveTable) -> usize {
    // SAFETY: the caller promises an open table or NULL.
    unsafe { table_of(table) }.map_or(0, |table| table.goal.size().rows())
}

/// Returns the number of columns of the board, 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_columns(table: *const TilewaveTable) -> usize {
    // SAFETY: the caller promises an open table or NULL.
    unsafe { table_of(table) }.map_or(0, |table| table.goal.size().cols())
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
    unsafe { table_of(table).map_or(0, |table| write_all(table.goal.tiles(), tiles, capacity)) }
}

/// Returns the largest depth in the table, 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_maximum(table: *const TilewaveTable) -> c_int {
    // SAFETY: the caller promises an open table or NULL.
    unsafe { table_of(table) }.map_or(0, |table| table.table.histogram().len() as c_int - 1)
}
