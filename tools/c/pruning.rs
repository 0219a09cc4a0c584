//! Pruning tables for C.

use std::{
    ffi::{CStr, c_char, c_int},
    path::Path,
};

use tilewave::{Error, pruning::PruningTable};

use super::{TilewaveAnswer, TilewaveStatus, close, fail, failed, open};

/// An open pruning table.
pub struct TilewavePruning {
    table: PruningTable,
}

/// Opens a pruning table file, for a cube or another puzzle or for some of its pieces.
///
/// @param path The file. All of it is read and checked.
/// @param out Receives the table, NULL on failure. Close it with tilewave_pruning_close().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pruning_open(
    path: *const c_char,
    out: *mut *mut TilewavePruning,
) -> TilewaveStatus {
    let table = |path: &Path| -> Result<TilewavePruning, Error> {
        Ok(TilewavePruning { table: PruningTable::load(path)? })
    };
    // SAFETY: the caller promises what `open` asks for.
    unsafe { open(path, out, table) }
}

/// Closes a table, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pruning_close(table: *mut TilewavePruning) {
    // SAFETY: it came from `tilewave_pruning_open`, or is NULL, and the caller does not use it any more.
    unsafe { close(table) }
}

/// Returns the depth of a state of the table's puzzle, or a negative TilewaveAnswer. If the argument is not a valid
/// state, tilewave_last_message() says why.
///
/// @param state Moves from the solved state, "R U2 (R' F)3", or the piece at each position: "corners 2 1 3 ../0 0 1
/// ..".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pruning_depth(
    table: *const TilewavePruning,
    state: *const c_char,
) -> c_int {
    // SAFETY: the caller promises an open table or NULL.
    let table = unsafe { table.as_ref() };
    let (Some(TilewavePruning { table }), false) = (table, state.is_null()) else {
        fail(TilewaveStatus::Misuse, "the table or the state is NULL");
        return TilewaveAnswer::Invalid as c_int;
    };
    // SAFETY: not NULL, and the caller promises a NUL-terminated string.
    let text = unsafe { CStr::from_ptr(state) }.to_string_lossy();
    match table.puzzle().read(&text).map(|(state, _)| table.depth(&state)) {
        Ok(Ok(Some(depth))) => depth as c_int,
        Ok(Ok(None)) => TilewaveAnswer::Unreachable as c_int,
        Ok(Err(error)) => {
            failed(error);
            TilewaveAnswer::Failed as c_int
        }
        Err(error) => {
            failed(error);
            TilewaveAnswer::Invalid as c_int
        }
    }
}

/// Returns the largest depth in the table, 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pruning_maximum(table: *const TilewavePruning) -> c_int {
    // SAFETY: the caller promises an open table or NULL.
    unsafe { table.as_ref() }.map_or(0, |open| open.table.histogram().len() as c_int - 1)
}
