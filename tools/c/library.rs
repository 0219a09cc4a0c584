//! The C library: open a pattern database, distance table or pruning table, look up values, close it. The header is
//! `tools/c/tilewave.h`, generated from this file and handles.rs; for building and linking, see `tools/c/README.md`.
//!
//! Its functions have C names, so they are here and not in the Rust library; that way, two versions of the Rust library
//! can be linked into one program.
//!
//! Invariant: a `TilewavePdb` pointer comes from `tilewave_pdb_open` and is valid until `tilewave_pdb_close`; the same
//! holds for tables. No function writes to them, so threads may share them. No function panics: input is checked first.

#![allow(unsafe_code)]
// The comments of the functions are those of the C header, which has its own words for what a caller promises.
#![allow(clippy::missing_safety_doc)]

mod handles;
mod pruning;

use std::{
    cell::RefCell,
    ffi::{CStr, CString, c_char, c_int, c_uint},
    path::Path,
};

use rayon::prelude::*;

use tilewave::{
    Error, FileProblem, Mapped, SystemError,
    internals::{process_pool, set_process_threads},
    puzzle::{Board, PuzzleErrorKind, Size},
};

/// The number of boards up to which one thread looks them up alone.
const ALONE: usize = 256;

/// Version of this header: major.
pub const TILEWAVE_VERSION_MAJOR: c_int = 0;

/// Version of this header: minor.
pub const TILEWAVE_VERSION_MINOR: c_int = 1;

/// Version of this header: patch.
pub const TILEWAVE_VERSION_PATCH: c_int = 0;

/// Version of this header as one number: major * 10000 + minor * 100 + patch.
pub const TILEWAVE_VERSION_NUMBER: c_int = 100;

const _: () = {
    let [major, minor, patch] = [
        i32::from_str_radix(env!("CARGO_PKG_VERSION_MAJOR"), 10),
        i32::from_str_radix(env!("CARGO_PKG_VERSION_MINOR"), 10),
        i32::from_str_radix(env!("CARGO_PKG_VERSION_PATCH"), 10),
    ];
    assert!(matches!(major, Ok(TILEWAVE_VERSION_MAJOR)));
    assert!(matches!(minor, Ok(TILEWAVE_VERSION_MINOR)));
    assert!(matches!(patch, Ok(TILEWAVE_VERSION_PATCH)));
    let number = TILEWAVE_VERSION_MAJOR * 10000 + TILEWAVE_VERSION_MINOR * 100;
    assert!(number + TILEWAVE_VERSION_PATCH == TILEWAVE_VERSION_NUMBER);
};

/// Status returned by functions that can fail. tilewave_last_message() returns the details.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TilewaveStatus {
    /// Success.
    Ok = 0,
    /// A wrong argument: a NULL pointer, an unknown flag, a path that is not UTF-8.
    Misuse = 1,
    /// The system refused to open or read the file.
    Io = 2,
    /// The file is of a different kind.
    NotSuchAFile = 3,
    /// The file has a version that this library cannot read.
    Version = 4,
    /// The file is damaged.
    Damaged = 5,
    /// There is not enough memory, or threads cannot be created.
    Memory = 6,
    /// The file is intact, but this interface does not support it: a table of a puzzle that is not a board.
    Unsupported = 7,
}

/// Negative answers, returned instead of values and depths.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TilewaveAnswer {
    /// The board, placement or state does not belong to this database or table.
    Invalid = -1,
    /// The goal cannot be reached, or the board is missing in a table of the first depths.
    Unreachable = -2,
    /// The file could not be read, or is damaged: tilewave_last_message() returns the details.
    Failed = -3,
}

/// Flag for the open functions, 0: read the whole file into memory and check it.
pub const TILEWAVE_OPEN_READ: c_uint = 0;

/// Flag for the open functions: map the file and check it. Processes that map a file share its memory. The file must
/// not be truncated while it is open.
pub const TILEWAVE_OPEN_MAP: c_uint = 1;

/// Flag for tilewave_table_open(): read and check only the parts of the file that are needed.
pub const TILEWAVE_OPEN_LAZY: c_uint = 2;

/// Returns the version of the library, for example "0.1.0" (static storage).
#[unsafe(no_mangle)]
pub extern "C" fn tilewave_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns the version of the library as one number, for comparison with TILEWAVE_VERSION_NUMBER.
#[unsafe(no_mangle)]
pub extern "C" fn tilewave_version_number() -> c_int {
    TILEWAVE_VERSION_NUMBER
}

/// Returns the meaning of a status in a few words (static storage).
#[unsafe(no_mangle)]
pub extern "C" fn tilewave_status_text(status: c_int) -> *const c_char {
    let text = match status {
        0 => c"success",
        1 => c"invalid argument",
        2 => c"cannot open or read the file",
        3 => c"not a file of this kind",
        4 => c"unsupported version of the file format",
        5 => c"the file is damaged",
        6 => c"not enough memory or threads",
        7 => c"the file is not supported by this interface",
        _ => c"unknown status",
    };
    text.as_ptr()
}

/// Returns the message of the last failure on this thread, or "" if there was none. It is valid until the next failure
/// on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn tilewave_last_message() -> *const c_char {
    MESSAGE.with_borrow(|message| message.as_ptr())
}

/// Limits the number of threads that read files and look up many boards: 1 to 1024, or 0 for one per core, the default.
/// Applies to all threads of the process; lookups already running are not affected.
#[unsafe(no_mangle)]
pub extern "C" fn tilewave_set_threads(threads: c_uint) -> TilewaveStatus {
    if threads > 1024 {
        return fail(
            TilewaveStatus::Misuse,
            "the number of threads must be 1 to 1024, or 0 for one per core",
        );
    }
    set_process_threads(threads as usize);
    TilewaveStatus::Ok
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Stores the message of a failure.
fn fail(status: TilewaveStatus, text: impl Into<String>) -> TilewaveStatus {
    let message = CString::new(text.into().replace('\0', " ")).unwrap_or_default();
    MESSAGE.set(message);
    status
}

/// Stores the message of an error.
fn failed(error: impl Into<Error>) -> TilewaveStatus {
    use TilewaveStatus::{Damaged, Io, Memory, NotSuchAFile, Unsupported, Version};
    let error = error.into();
    let status = match &error {
        Error::System(SystemError::Wrong { problem, .. }) => match problem {
            FileProblem::Other | FileProblem::Another(_) | FileProblem::Retired(_) => NotSuchAFile,
            FileProblem::Version { .. } => Version,
            _ => Damaged,
        },
        Error::System(
            SystemError::Memory { .. } | SystemError::CodecMemory | SystemError::Threads { .. },
        ) => Memory,
        Error::System(_) => Io,
        _ => Unsupported,
    };
    fail(status, error.to_string())
}

/// Opens a file with a Rust function.
///
/// # Safety
/// `path` is NULL or a NUL-terminated string; `out` is NULL or can be written to.
unsafe fn open<T: Send>(
    path: *const c_char,
    out: *mut *mut T,
    with: impl FnOnce(&Path) -> Result<T, Error> + Send,
) -> TilewaveStatus {
    if out.is_null() {
        return fail(TilewaveStatus::Misuse, "the pointer for the result is NULL");
    }
    // SAFETY: not NULL, and the caller promises that it can be written to.
    unsafe { *out = std::ptr::null_mut() };
    if path.is_null() {
        return fail(TilewaveStatus::Misuse, "the path is NULL");
    }
    // SAFETY: not NULL, and the caller promises a NUL-terminated string.
    let Some(path) = path_of(unsafe { CStr::from_ptr(path) }) else {
        return fail(TilewaveStatus::Misuse, "the path is not valid UTF-8");
    };
    let pool = match process_pool() {
        Ok(pool) => pool,
        Err(error) => {
            return fail(TilewaveStatus::Memory, format!("cannot start threads: {error}"));
        }
    };
    match pool.install(|| with(path)) {
        Ok(opened) => {
            // SAFETY: as above.
            unsafe { *out = Box::into_raw(Box::new(opened)) };
            TilewaveStatus::Ok
        }
        Err(error) => failed(error),
    }
}

/// Maps a file.
fn map(path: &Path) -> Result<Mapped, Error> {
    // SAFETY: the caller of the library promises that nobody shortens the file while it is open.
    let mapped = unsafe { Mapped::open(path) };
    let action = "cannot open";
    mapped.map_err(|reason| SystemError::Read { action, path: path.into(), reason }.into())
}

/// Closes a handle that `open` returned.
///
/// # Safety
/// `opened` is NULL or was returned by `open`, and is not used afterwards.
unsafe fn close<T>(opened: *mut T) {
    if !opened.is_null() {
        // SAFETY: it came from `Box::into_raw` in `open` and is given back once.
        drop(unsafe { Box::from_raw(opened) });
    }
}

/// Writes as much of a text as fits, and a NUL.
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

/// Writes as many values as fit and returns the total number of values.
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

/// The numbers passed by a caller.
///
/// # Safety
/// `numbers` is NULL or points to `count` numbers.
unsafe fn read<'a, T>(numbers: *const T, count: usize) -> Option<&'a [T]> {
    // SAFETY: not NULL, and the caller promises `count` numbers.
    (!numbers.is_null()).then(|| unsafe { std::slice::from_raw_parts(numbers, count) })
}

/// Converts a value to a number; an invalid board, or one that cannot reach the goal, is also given a number.
fn number(value: Result<Option<usize>, Error>) -> Result<c_int, Error> {
    match value {
        Ok(Some(value)) => Ok(value as c_int),
        Ok(None) => Ok(TilewaveAnswer::Unreachable as c_int),
        Err(Error::Puzzle(error)) if error.kind() == PuzzleErrorKind::Unreachable => {
            Ok(TilewaveAnswer::Unreachable as c_int)
        }
        Err(Error::Puzzle(_)) => Ok(TilewaveAnswer::Invalid as c_int),
        Err(error) => Err(error),
    }
}

/// Evaluates a board of the given size.
fn evaluate(
    size: Size,
    tiles: &[u16],
    value: impl Fn(&Board) -> Result<Option<usize>, Error>,
) -> Result<c_int, Error> {
    match Board::new(size, tiles) {
        Ok(board) => number(value(&board)),
        Err(_) => Ok(TilewaveAnswer::Invalid as c_int),
    }
}

/// Evaluates one board.
///
/// # Safety
/// `tiles` is NULL or points to `count` numbers.
unsafe fn evaluate_one(
    size: Size,
    (tiles, count): (*const u16, usize),
    value: impl Fn(&Board) -> Result<Option<usize>, Error>,
) -> c_int {
    // SAFETY: the caller promises `count` numbers, or NULL.
    let Some(tiles) = (unsafe { read(tiles, count) }) else {
        return TilewaveAnswer::Invalid as c_int;
    };
    let evaluated = Board::new(size, tiles).map(|board| number(value(&board)));
    evaluated
        .unwrap_or_else(|error| {
            failed(error);
            Ok(TilewaveAnswer::Invalid as c_int)
        })
        .unwrap_or_else(|error| {
            failed(error);
            TilewaveAnswer::Failed as c_int
        })
}

/// Evaluates many boards with all threads.
///
/// # Safety
/// `tiles` is NULL or points to the cells of `boards` boards; `values` is NULL or has room for `boards` numbers.
unsafe fn evaluate_all(
    size: Size,
    (tiles, boards): (*const u16, usize),
    values: *mut i16,
    value: impl Fn(&Board) -> Result<Option<usize>, Error> + Sync,
) -> TilewaveStatus {
    if boards == 0 {
        return TilewaveStatus::Ok;
    }
    let cells = size.cells();
    let Some(count) = boards.checked_mul(cells) else {
        return fail(TilewaveStatus::Misuse, "there are too many boards");
    };
    // SAFETY: the caller promises so many numbers, or NULL.
    let Some(tiles) = (unsafe { read(tiles, count) }) else {
        return fail(TilewaveStatus::Misuse, "the pointer to the boards is NULL");
    };
    if values.is_null() {
        return fail(TilewaveStatus::Misuse, "the pointer for the values is NULL");
    }
    let one = |tiles: &[u16]| evaluate(size, tiles, &value).map(|value| value as i16);
    let few = boards <= ALONE;
    let all: Result<Vec<i16>, Error> = match process_pool().ok().filter(|_| !few) {
        Some(pool) => {
            let boards = tiles.par_chunks_exact(cells).with_min_len(ALONE);
            pool.install(|| boards.map(one).collect())
        }
        None => tiles.chunks_exact(cells).map(one).collect(),
    };
    match all {
        Ok(all) => {
            // SAFETY: the caller promises room for `boards` numbers.
            unsafe { write_all(&all, values, boards) };
            TilewaveStatus::Ok
        }
        Err(error) => failed(error),
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
