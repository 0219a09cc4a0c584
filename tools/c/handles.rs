//! Pattern databases for C.

use std::{
    ffi::{c_char, c_int, c_uint},
    path::Path,
};

use tilewave::{
    DistanceTable, Error,
    internals::set_of,
    pdb::{Encoding, Kind, Pdb},
    puzzle::{Board, MoveStyle},
};

use crate::{
    TILEWAVE_OPEN_LAZY, TILEWAVE_OPEN_MAP, TILEWAVE_OPEN_READ, TilewaveAnswer, TilewaveStatus,
    close, evaluate_all, evaluate_one, fail, map, open, read, write_all, write_text,
};

/// Kind of a database.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TilewaveKind {
    /// One value per placement, the minimum over all cells of the blank. Admissible, not consistent.
    #[default]
    AdditiveMin = 0,
    /// One value per placement and region of the blank. Consistent.
    RegionAware = 1,
    /// One value per placement of the tiles and the blank, which is tile 0 of the pattern; every move counts. Not
    /// additive.
    AllMoves = 2,
}

/// Encoding of a database.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TilewaveEncoding {
    /// One byte per entry, 255 for no value.
    #[default]
    Byte = 0,
    /// One bit per entry, (value div 2) mod 2; the first entry is in the lowest bit of a byte.
    Bit = 2,
}

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

/// A number from an open database, 0 for NULL.
///
/// # Safety
/// `pdb` is open or NULL.
unsafe fn get<T: Default>(pdb: *const TilewavePdb, get: impl Fn(&Pdb) -> T) -> T {
    // SAFETY: the caller promises an open database or NULL.
    unsafe { of(pdb) }.map(get).unwrap_or_default()
}

fn value_of(pdb: &Pdb, board: &Board) -> Result<Option<usize>, Error> {
    Ok(pdb.value(board)?.map(usize::from))
}

/// Opens a database file.
///
/// @param path The file.
/// @param flags TILEWAVE_OPEN_READ or TILEWAVE_OPEN_MAP.
/// @param out Receives the database, NULL on failure. Close it with tilewave_pdb_close().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_open(
    path: *const c_char,
    flags: c_uint,
    out: *mut *mut TilewavePdb,
) -> TilewaveStatus {
    if !matches!(flags, TILEWAVE_OPEN_READ | TILEWAVE_OPEN_MAP) {
        return fail(
            TilewaveStatus::Misuse,
            "the flags for a database must be TILEWAVE_OPEN_READ or TILEWAVE_OPEN_MAP",
        );
    }
    let pdb = |path: &Path| -> Result<TilewavePdb, Error> {
        let pdb = match flags {
            TILEWAVE_OPEN_MAP => Pdb::map(path, map(path)?)?,
            _ => Pdb::load(path)?,
        };
        Ok(TilewavePdb { pdb })
    };
    // SAFETY: the caller promises what `open` asks for.
    unsafe { open(path, out, pdb) }
}

/// Closes a database, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_close(pdb: *mut TilewavePdb) {
    // SAFETY: it came from `tilewave_pdb_open`, or is NULL, and the caller does not use it any more.
    unsafe { close(pdb) }
}

/// Returns the value of a board, or a negative TilewaveAnswer.
///
/// @param tiles The tiles in row-major order, 0 for the blank.
/// @param count Number of tiles: rows times columns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_value(
    pdb: *const TilewavePdb,
    tiles: *const u16,
    count: usize,
) -> c_int {
    // SAFETY: the caller promises an open database or NULL.
    let Some(pdb) = (unsafe { of(pdb) }) else {
        return TilewaveAnswer::Invalid as c_int;
    };
    let size = pdb.pattern().size();
    // SAFETY: the caller promises `count` numbers, or NULL.
    unsafe { evaluate_one(size, (tiles, count), |board| value_of(pdb, board)) }
}

/// Looks up the values of many boards, using all threads.
///
/// @param tiles The tiles of the boards, one board after the other.
/// @param boards Number of boards.
/// @param values Receives the value of each board, as tilewave_pdb_value() returns it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_values(
    pdb: *const TilewavePdb,
    tiles: *const u16,
    boards: usize,
    values: *mut i16,
) -> TilewaveStatus {
    // SAFETY: the caller promises an open database or NULL.
    let Some(pdb) = (unsafe { of(pdb) }) else {
        return fail(TilewaveStatus::Misuse, "the database is NULL");
    };
    let (size, value) = (pdb.pattern().size(), |board: &Board| value_of(pdb, board));
    // SAFETY: the caller promises what `evaluate_all` asks for.
    unsafe { evaluate_all(size, (tiles, boards), values, value) }
}

/// The cells of a placement, if it is a placement of the pattern.
///
/// # Safety
/// `cells` is NULL or points to `count` cells.
unsafe fn placement<'a>(
    pdb: &Pdb,
    (cells, count): (*const u8, usize),
    blank: u8,
) -> Option<&'a [u8]> {
    // SAFETY: the caller promises `count` cells, or NULL.
    let cells = unsafe { read(cells, count) }?;
    let board = pdb.pattern().size().cells();
    let on_board = |&cell: &u8| usize::from(cell) < board;
    if count != pdb.pattern().tiles().len() || !cells.iter().all(on_board) || !on_board(&blank) {
        return None;
    }
    let taken = set_of(cells);
    let placed = match pdb.kind() {
        Kind::AllMoves => cells.first() == Some(&blank),
        Kind::Minimum | Kind::Regions => taken >> blank & 1 == 0,
    };
    (placed && taken.count_ones() as usize == count).then_some(cells)
}

/// Returns the value of a placement, or a negative TilewaveAnswer.
///
/// @param cells The row-major cells of the pattern's tiles, in increasing order of the tiles.
/// @param count Number of tiles of the pattern.
/// @param blank The cell of the blank, which must be free. It affects the values of region-aware databases only. If
/// every move counts, the blank is tile 0 of the pattern, and both must give the same cell.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_lookup(
    pdb: *const TilewavePdb,
    cells: *const u8,
    count: usize,
    blank: u8,
) -> c_int {
    // SAFETY: the caller promises an open database and `count` cells, or NULL.
    let found =
        unsafe { of(pdb).and_then(|pdb| Some((pdb, placement(pdb, (cells, count), blank)?))) };
    match found {
        None => TilewaveAnswer::Invalid as c_int,
        Some((pdb, cells)) => {
            let value = pdb.lookup(cells, blank);
            value.map_or(TilewaveAnswer::Unreachable as c_int, c_int::from)
        }
    }
}

/// Returns the entry of a placement in tilewave_pdb_data(), or UINT64_MAX if it is not a valid placement. The arguments
/// are those of tilewave_pdb_lookup().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_entry(
    pdb: *const TilewavePdb,
    cells: *const u8,
    count: usize,
    blank: u8,
) -> u64 {
    // SAFETY: the caller promises an open database and `count` cells, or NULL.
    let found =
        unsafe { of(pdb).and_then(|pdb| Some((pdb, placement(pdb, (cells, count), blank)?))) };
    found.map_or(u64::MAX, |(pdb, cells)| pdb.entry(cells, blank))
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

/// Returns the number of cells of the board, and writes as much of the goal as `capacity` allows to `tiles`, which may
/// be NULL: row-major, 0 for the blank.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_goal(
    pdb: *const TilewavePdb,
    tiles: *mut u16,
    capacity: usize,
) -> usize {
    // SAFETY: the caller promises an open database or NULL, and room for `capacity` numbers or NULL.
    unsafe { get(pdb, |pdb| write_all(pdb.pattern().goal().tiles(), tiles, capacity)) }
}

/// Returns the number of tiles of the pattern, and writes as many of their numbers as `capacity` allows, in increasing
/// order, to `tiles`, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_tiles(
    pdb: *const TilewavePdb,
    tiles: *mut u16,
    capacity: usize,
) -> usize {
    // SAFETY: the caller promises an open database or NULL, and room for `capacity` numbers or NULL.
    unsafe { get(pdb, |pdb| write_all(pdb.pattern().tiles(), tiles, capacity)) }
}

/// Returns the kind of a database.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_kind(pdb: *const TilewavePdb) -> TilewaveKind {
    let kind = |pdb: &Pdb| match pdb.kind() {
        Kind::Minimum => TilewaveKind::AdditiveMin,
        Kind::Regions => TilewaveKind::RegionAware,
        Kind::AllMoves => TilewaveKind::AllMoves,
    };
    // SAFETY: the caller promises an open database or NULL.
    unsafe { get(pdb, kind) }
}

/// Returns the encoding of a database.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_encoding(pdb: *const TilewavePdb) -> TilewaveEncoding {
    let encoding = |pdb: &Pdb| match pdb.encoding() {
        Encoding::Byte => TilewaveEncoding::Byte,
        Encoding::Bit => TilewaveEncoding::Bit,
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

/// Returns the entries in the format of the file (docs/format.md), valid until the database is closed, and writes their
/// length in bytes to `bytes`, which may be NULL.
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

/// The table behind a pointer.
///
/// # Safety
/// `table` is open or NULL.
unsafe fn table_of<'a>(table: *const TilewaveTable) -> Option<&'a TilewaveTable> {
    // SAFETY: the caller promises an open table or NULL.
    unsafe { table.as_ref() }
}

fn depth_of(table: &TilewaveTable, board: &Board) -> Result<Option<usize>, Error> {
    table.table.depth(board)
}

/// Opens the table file of a board.
///
/// @param path The file.
/// @param flags TILEWAVE_OPEN_READ, TILEWAVE_OPEN_MAP, or TILEWAVE_OPEN_LAZY for a few lookups in a large table.
/// @param out Receives the table, NULL on failure. Close it with tilewave_table_close().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_open(
    path: *const c_char,
    flags: c_uint,
    out: *mut *mut TilewaveTable,
) -> TilewaveStatus {
    if !matches!(flags, TILEWAVE_OPEN_READ | TILEWAVE_OPEN_MAP | TILEWAVE_OPEN_LAZY) {
        return fail(
            TilewaveStatus::Misuse,
            "the flags for a table must be TILEWAVE_OPEN_READ, TILEWAVE_OPEN_MAP or \
             TILEWAVE_OPEN_LAZY",
        );
    }
    let table = |path: &Path| -> Result<TilewaveTable, Error> {
        let table = match flags {
            TILEWAVE_OPEN_LAZY => DistanceTable::open(path)?,
            TILEWAVE_OPEN_MAP => DistanceTable::map(path, map(path)?)?,
            _ => DistanceTable::load(path)?,
        };
        let goal = table.goal()?.clone();
        Ok(TilewaveTable { table, goal })
    };
    // SAFETY: the caller promises what `open` asks for.
    unsafe { open(path, out, table) }
}

/// Closes a table, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_close(table: *mut TilewaveTable) {
    // SAFETY: it came from `tilewave_table_open`, or is NULL, and the caller does not use it any more.
    unsafe { close(table) }
}

/// Returns the depth of a board, or a negative TilewaveAnswer.
///
/// @param tiles The tiles in row-major order, 0 for the blank.
/// @param count Number of tiles: rows times columns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_depth(
    table: *const TilewaveTable,
    tiles: *const u16,
    count: usize,
) -> c_int {
    // SAFETY: the caller promises an open table or NULL.
    let Some(table) = (unsafe { table_of(table) }) else {
        return TilewaveAnswer::Invalid as c_int;
    };
    // SAFETY: the caller promises `count` numbers, or NULL.
    unsafe { evaluate_one(table.goal.size(), (tiles, count), |board| depth_of(table, board)) }
}

/// Looks up the depths of many boards, using all threads.
///
/// @param tiles The tiles of the boards, one board after the other.
/// @param boards Number of boards.
/// @param depths Receives the depth of each board, as tilewave_table_depth() returns it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_depths(
    table: *const TilewaveTable,
    tiles: *const u16,
    boards: usize,
    depths: *mut i16,
) -> TilewaveStatus {
    // SAFETY: the caller promises an open table or NULL.
    let Some(table) = (unsafe { table_of(table) }) else {
        return fail(TilewaveStatus::Misuse, "the table is NULL");
    };
    let depth = |board: &Board| depth_of(table, board);
    // SAFETY: the caller promises what `evaluate_all` asks for.
    unsafe { evaluate_all(table.goal.size(), (tiles, boards), depths, depth) }
}

/// Returns the number of moves of a shortest solution of a board in the table's metric, or a negative TilewaveAnswer.
///
/// @param tiles The tiles in row-major order, 0 for the blank.
/// @param count Number of tiles: rows times columns.
/// @param moves Receives the moves, at most capacity - 1 of them and a NUL: one letter U, D, L or R for every tile, the
/// direction in which it moves. May be NULL. If the answer is negative, nothing is written.
/// @param capacity Size of `moves` in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_table_solve(
    table: *const TilewaveTable,
    tiles: *const u16,
    count: usize,
    moves: *mut c_char,
    capacity: usize,
) -> c_int {
    // SAFETY: the caller promises an open table or NULL.
    let Some(table) = (unsafe { table_of(table) }) else {
        return TilewaveAnswer::Invalid as c_int;
    };
    let length = |board: &Board| -> Result<Option<usize>, Error> {
        let Some(solution) = table.table.solve(board)? else { return Ok(None) };
        // SAFETY: the caller promises room for `capacity` bytes, or NULL.
        unsafe { write_text(&solution.long(MoveStyle::Tile), moves, capacity) };
        Ok(Some(table.table.count(&solution)))
    };
    // SAFETY: the caller promises `count` numbers, or NULL.
    unsafe { evaluate_one(table.goal.size(), (tiles, count), length) }
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

/// Returns the number of cells of the board, and writes as much of the goal as `capacity` allows to `tiles`, which may
/// be NULL: row-major, 0 for the blank.
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
