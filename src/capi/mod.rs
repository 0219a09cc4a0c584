//! The C interface: open a pattern database or a distance table, look values up, close it. Header:
//! `tools/c/tilewave.h`, made from this file and those in `capi/`; how to build and link: `tools/c/README.md`.
//!
//! Invariant: a `TilewavePdb` pointer comes from `tilewave_pdb_open` and is valid until
//! `tilewave_pdb_close`, tables likewise. No function writes to them, so threads may share them. No function
//! panics: input is checked first.

#![allow(unsafe_code)]
// The comments of the functions are those of the C header, which has its own words for what a caller promises.
#![allow(clippy::missing_safety_doc)]

pub(crate) mod handles;

use std::{
    ffi::{CStr, c_char, c_int},
    path::Path,
};

use rayon::prelude::*;

use crate::{
    puzzle::{Board, Size},
    threads::process_pool,
};

/// Boards that a thread looks up alone.
const ALONE: usize = 256;

/// Version of this header: major.
pub const TILEWAVE_VERSION_MAJOR: c_int = 0;

/// Version of this header: minor.
pub const TILEWAVE_VERSION_MINOR: c_int = 1;

/// Version of this header: patch.
pub const TILEWAVE_VERSION_PATCH: c_int = 0;

const _: () = {
    let [major, minor, patch] = [
        i32::from_str_radix(env!("CARGO_PKG_VERSION_MAJOR"), 10),
        i32::from_str_radix(env!("CARGO_PKG_VERSION_MINOR"), 10),
        i32::from_str_radix(env!("CARGO_PKG_VERSION_PATCH"), 10),
    ];
    assert!(matches!(major, Ok(TILEWAVE_VERSION_MAJOR)));
    assert!(matches!(minor, Ok(TILEWAVE_VERSION_MINOR)));
    assert!(matches!(patch, Ok(TILEWAVE_VERSION_PATCH)));
};

/// The board or the cells are not of this database or table, or a file turned out to be damaged.
pub const TILEWAVE_INVALID: c_int = -1;

/// No board that can reach the goal has this placement, or the board cannot reach it.
pub const TILEWAVE_UNREACHABLE: c_int = -2;

/// Returns the version of the library, for example "0.1.0": a text that stays.
#[unsafe(no_mangle)]
pub extern "C" fn tilewave_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
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
) -> *mut T {
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
        Ok(opened) => Box::into_raw(Box::new(opened)),
        Err(text) => {
            // SAFETY: the caller promises room for `capacity` bytes, or NULL.
            unsafe { write_text(&text, message, capacity) };
            std::ptr::null_mut()
        }
    }
}

/// Closes what `open` has opened.
///
/// # Safety
/// `opened` is NULL or came from `open`, and is not used afterwards.
unsafe fn close<T>(opened: *mut T) {
    if !opened.is_null() {
        // SAFETY: it came from `Box::into_raw` in `open` and is given back once.
        drop(unsafe { Box::from_raw(opened) });
    }
}

/// Writes as much of a text as has room, and a NUL.
///
/// # Safety
/// `target` is NULL or has room for `capacity` bytes.
unsafe fn write_text(text: &str, target: *mut c_char, capacity: usize) {
    if capacity > 0 {
        let bytes = &text.as_bytes()[..text.len().min(capacity - 1)];
        let bytes: Vec<c_char> = bytes.iter().chain(&[0]).map(|&b| b as c_char).collect();
        // SAFETY: the caller promises room for `capacity` bytes, or NULL.
        unsafe { write_all(&bytes, target, capacity) };
    }
}

/// Writes as many values as have room; returns how many there are.
///
/// # Safety
/// `target` is NULL or has room for `capacity` values.
unsafe fn write_all<T: Copy>(values: &[T], target: *mut T, capacity: usize) -> usize {
    if !target.is_null() {
        let fitting = values.len().min(capacity);
        // SAFETY: not NULL, and the caller promises room for `capacity` values; the source is a slice of
        // this library, which the caller cannot write to.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), target, fitting) };
    }
    values.len()
}

/// The numbers that a caller passes.
///
/// # Safety
/// `numbers` is NULL or points at `count` of them.
unsafe fn read<'a, T>(numbers: *const T, count: usize) -> Option<&'a [T]> {
    // SAFETY: not NULL, and the caller promises `count` numbers.
    (!numbers.is_null()).then(|| unsafe { std::slice::from_raw_parts(numbers, count) })
}

/// Evaluates a board of a size, `TILEWAVE_INVALID` when the tiles are none.
fn evaluate(size: Size, tiles: &[u16], value: impl Fn(&Board) -> c_int) -> c_int {
    Board::new(size, tiles).map_or(TILEWAVE_INVALID, |board| value(&board))
}

/// Evaluates many boards with all cores.
///
/// # Safety
/// `tiles` is NULL or points at `count` numbers, `values` is NULL or has room for `capacity` of them.
unsafe fn evaluate_all(
    size: Size,
    (tiles, count): (*const u16, usize),
    (values, capacity): (*mut c_int, usize),
    value: impl Fn(&Board) -> c_int + Sync,
) -> usize {
    let cells = size.cells();
    // SAFETY: the caller promises `count` numbers, or NULL.
    let Some(tiles) = (unsafe { read(tiles, count) }) else {
        return 0;
    };
    if values.is_null() || !count.is_multiple_of(cells) || capacity < count / cells {
        return 0;
    }
    let one = |tiles: &[u16]| evaluate(size, tiles, &value);
    let few = tiles.len() <= ALONE * cells;
    let all: Vec<c_int> = match process_pool().ok().filter(|_| !few) {
        Some(pool) => {
            let boards = tiles.par_chunks_exact(cells).with_min_len(ALONE);
            pool.install(|| boards.map(one).collect())
        }
        None => tiles.chunks_exact(cells).map(one).collect(),
    };
    // SAFETY: the caller promises room for `capacity` numbers.
    unsafe { write_all(&all, values, capacity) }
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
