//! Pruning tables for C.

use std::{
    ffi::{CStr, c_char, c_int},
    path::Path,
};

use tilewave::{
    Error,
    pruning::{CosetTable, PruningTable},
    puzzle::{Arrangement, Puzzle},
    solve::{PuzzleSolver, SolveError},
};

use super::{TilewaveAnswer, TilewaveStatus, close, fail, failed, open};

/// An open pruning table or coset table.
pub enum TilewavePruning {
    Depths(PruningTable),
    /// The bounds of a coset table, through all its views, and the largest one.
    Bounds(PuzzleSolver, u8),
}

impl TilewavePruning {
    fn puzzle(&self) -> &Puzzle {
        match self {
            TilewavePruning::Depths(table) => table.puzzle(),
            TilewavePruning::Bounds(solver, _) => solver.puzzle(),
        }
    }

    fn depth(&self, state: &Arrangement) -> Result<Option<usize>, Error> {
        match self {
            TilewavePruning::Depths(table) => Ok(table.depth(state)?),
            TilewavePruning::Bounds(solver, _) => match solver.bound(state) {
                Err(SolveError::Puzzle(_)) => Ok(None),
                bound => Ok(Some(bound?)),
            },
        }
    }
}

/// Opens a pruning table file, for a cube or another puzzle or for some of its pieces, or the file of a coset table.
///
/// @param path The file. All of it is read and checked.
/// @param out Receives the table, NULL on failure. Close it with tilewave_pruning_close().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pruning_open(
    path: *const c_char,
    out: *mut *mut TilewavePruning,
) -> TilewaveStatus {
    let table = |path: &Path| -> Result<TilewavePruning, Error> {
        if !CosetTable::is(path) {
            return Ok(TilewavePruning::Depths(PruningTable::load(path)?));
        }
        let table = CosetTable::load(path)?;
        let largest = table.base() + 3;
        Ok(TilewavePruning::Bounds(PuzzleSolver::two_sided(table)?, largest))
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

/// Returns the depth of a state of the table's puzzle, or a negative TilewaveAnswer; for a coset table, a lower bound for
/// the length of its solutions. If the argument is not a valid state, tilewave_last_message() says why.
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
    let (Some(table), false) = (table, state.is_null()) else {
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

/// Returns the largest depth in the table, for a coset table the largest that it tells from others; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewave_pruning_maximum(table: *const TilewavePruning) -> c_int {
    // SAFETY: the caller promises an open table or NULL.
    let table = unsafe { table.as_ref() };
    table.map_or(0, |table| match table {
        TilewavePruning::Depths(table) => table.histogram().len() as c_int - 1,
        TilewavePruning::Bounds(_, largest) => c_int::from(*largest),
    })
}
