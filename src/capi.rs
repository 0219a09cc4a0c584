//! The C interface: open a pattern database or a distance table, look values up, close it. Header:
//! `tools/c/tilewave.h`.
//!
//! Invariant: a `TilewavePdb` pointer comes from [`tilewave_pdb_open`] and is valid until
//! [`tilewave_pdb_close`]. No function writes to it, so threads may share it. No function panics: input is
//! checked first.

#![allow(unsafe_code)]

mod table;

use std::ffi::{CStr, c_char, c_int};
use std::path::Path;

use crate::pdb::{Pattern, Pdb};
use crate::puzzle::tiles::Board;

/// An open pattern database.
pub struct TilewavePdb {
    pdb: Pdb,
}

/// The board or the cells are not of this database or table.
pub const TILEWAVE_INVALID: c_int = -1;

/// No board that can reach the goal has this placement.
pub const TILEWAVE_UNREACHABLE: c_int = -2;

/// Maps a database file and returns it, or NULL. On failure a message of at most `capacity - 1` bytes is
/// written to `message`, which may be NULL.
///
/// # Safety
/// `path` is a NUL-terminated string; `message` is NULL or has room for `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_open(
    path: *const c_char,
    message: *mut c_char,
    capacity: usize,
) -> *mut TilewavePdb {
    // SAFETY: the caller promises what `open` asks for.
    let pdb = unsafe { open(path, message, capacity, Pdb::open) };
    pdb.map_or(std::ptr::null_mut(), |pdb| {
        Box::into_raw(Box::new(TilewavePdb { pdb }))
    })
}

/// Opens a file with a Rust function; on failure writes a message.
///
/// # Safety
/// `path` is NULL or a NUL-terminated string; `message` is NULL or has room for `capacity` bytes.
unsafe fn open<T, E: std::fmt::Display>(
    path: *const c_char,
    message: *mut c_char,
    capacity: usize,
    with: impl FnOnce(&Path) -> Result<T, E>,
) -> Option<T> {
    let opened = if path.is_null() {
        Err("the path is NULL".to_string())
    } else {
        // SAFETY: not NULL, and the caller promises a NUL-terminated string.
        let bytes = unsafe { CStr::from_ptr(path) };
        match path_of(bytes) {
            Some(path) => with(path).map_err(|error| error.to_string()),
            None => Err("the path is not UTF-8".to_string()),
        }
    };
    match opened {
        Ok(opened) => Some(opened),
        Err(text) => {
            // SAFETY: the caller promises room for `capacity` bytes, or NULL.
            unsafe { write_text(&text, message, capacity) };
            None
        }
    }
}

/// Writes as much of a text as has room, and a NUL.
///
/// # Safety
/// `target` is NULL or has room for `capacity` bytes.
unsafe fn write_text(text: &str, target: *mut c_char, capacity: usize) {
    if !target.is_null() && capacity > 0 {
        let text = &text.as_bytes()[..text.len().min(capacity - 1)];
        // SAFETY: the caller promises room for `capacity` bytes; one more than the text is used.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), target.cast(), text.len());
            *target.add(text.len()) = 0;
        }
    }
}

#[cfg(unix)]
fn path_of(bytes: &CStr) -> Option<&Path> {
    use std::os::unix::ffi::OsStrExt;
    Some(Path::new(std::ffi::OsStr::from_bytes(bytes.to_bytes())))
}

#[cfg(not(unix))]
fn path_of(bytes: &CStr) -> Option<&Path> {
    bytes.to_str().ok().map(Path::new)
}

/// Returns the value of a board: `count` tiles in row-major order, 0 for the blank. Negative:
/// `TILEWAVE_INVALID`, `TILEWAVE_UNREACHABLE`.
///
/// # Safety
/// `pdb` is open; `tiles` points at `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_value(
    pdb: *const TilewavePdb,
    tiles: *const u16,
    count: usize,
) -> c_int {
    // SAFETY: the caller promises an open database or NULL.
    let Some(TilewavePdb { pdb }) = (unsafe { pdb.as_ref() }) else {
        return TILEWAVE_INVALID;
    };
    if tiles.is_null() || count != pdb.pattern().size().cells() {
        return TILEWAVE_INVALID;
    }
    // SAFETY: not NULL, and the caller promises `count` numbers.
    let tiles = unsafe { std::slice::from_raw_parts(tiles, count) };
    let value = Board::new(pdb.pattern().size(), tiles).map(|board| pdb.value(&board));
    match value {
        Ok(Ok(value)) => number(value),
        _ => TILEWAVE_INVALID,
    }
}

/// Returns the value of a placement: the row-major cells of the pattern's tiles in increasing order of
/// their numbers, and the cell of the blank (which matters in region-aware databases only, but must be
/// free). Negative: `TILEWAVE_INVALID`, `TILEWAVE_UNREACHABLE`.
///
/// # Safety
/// `pdb` is open; `cells` points at as many cells as the pattern has tiles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_lookup(
    pdb: *const TilewavePdb,
    cells: *const u8,
    blank: u8,
) -> c_int {
    // SAFETY: the caller promises an open database or NULL.
    let Some(TilewavePdb { pdb }) = (unsafe { pdb.as_ref() }) else {
        return TILEWAVE_INVALID;
    };
    if cells.is_null() {
        return TILEWAVE_INVALID;
    }
    let pattern = pdb.pattern();
    // SAFETY: not NULL, and the caller promises a cell per tile.
    let cells = unsafe { std::slice::from_raw_parts(cells, pattern.tiles().len()) };
    let board = pattern.size().cells();
    let on_board = |&cell: &u8| usize::from(cell) < board;
    if !cells.iter().all(on_board) || !on_board(&blank) {
        return TILEWAVE_INVALID;
    }
    let taken = cells
        .iter()
        .fold(1u64 << blank, |set, &cell| set | 1 << cell);
    if taken.count_ones() as usize != cells.len() + 1 {
        return TILEWAVE_INVALID;
    }
    number(pdb.lookup(cells, blank))
}

fn number(value: Option<u8>) -> c_int {
    value.map_or(TILEWAVE_UNREACHABLE, c_int::from)
}

/// Returns the number of tiles of the pattern and writes their numbers, in increasing order, to `tiles`,
/// which may be NULL.
///
/// # Safety
/// `pdb` is open; `tiles` is NULL or has room for 8 numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_tiles(pdb: *const TilewavePdb, tiles: *mut u16) -> usize {
    // SAFETY: the caller promises an open database or NULL.
    let Some(TilewavePdb { pdb }) = (unsafe { pdb.as_ref() }) else {
        return 0;
    };
    let pattern = pdb.pattern().tiles();
    debug_assert!(pattern.len() <= Pattern::MAX_TILES);
    if !tiles.is_null() {
        // SAFETY: not NULL, and the caller promises room for 8 numbers, the most a pattern has.
        unsafe { std::ptr::copy_nonoverlapping(pattern.as_ptr(), tiles, pattern.len()) };
    }
    pattern.len()
}

/// Returns the number of entries, 0 for NULL.
///
/// # Safety
/// `pdb` is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_entries(pdb: *const TilewavePdb) -> u64 {
    // SAFETY: the caller promises an open database or NULL.
    unsafe { pdb.as_ref() }.map_or(0, |this| this.pdb.entries())
}

/// Returns the entries as they are in the file (docs/format.md), valid until the database is closed.
///
/// # Safety
/// `pdb` is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_data(pdb: *const TilewavePdb) -> *const u8 {
    // SAFETY: the caller promises an open database or NULL.
    let this = unsafe { pdb.as_ref() };
    this.map_or(std::ptr::null(), |this| this.pdb.bytes().as_ptr())
}

/// Closes a database. NULL is allowed.
///
/// # Safety
/// `pdb` is open or NULL, and not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pdb_close(pdb: *mut TilewavePdb) {
    if !pdb.is_null() {
        // SAFETY: it came from `Box::into_raw` in `tilewave_pdb_open` and is given back once.
        drop(unsafe { Box::from_raw(pdb) });
    }
}
