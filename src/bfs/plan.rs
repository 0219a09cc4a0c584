//! What a search needs.

use super::search::{Engine, Search, SearchError};
use super::{reference, sweep};
use crate::puzzle::tiles::Size;

/// What a search of a board needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Size of the board.
    pub size: Size,
    /// States to reach, N!/2.
    pub states: u64,
    /// Engine that will run.
    pub engine: Engine,
    /// Bytes of its state arrays.
    pub array_bytes: u64,
}

/// Returns what the search of a board needs; `engine` is `None` for the fastest that can run it.
///
/// # Errors
/// [`SearchError::TooLarge`] above [`Search::MAX_CELLS`] cells, [`SearchError::TooSmall`] when the sweep
/// engine is asked for fewer than six tiles.
pub fn plan(size: Size, engine: Option<Engine>) -> Result<Plan, SearchError> {
    let Some(states) = size.states().filter(|_| size.cells() <= Search::MAX_CELLS) else {
        return Err(SearchError::TooLarge { size });
    };
    let sweeps = size.tiles() >= sweep::MIN_TILES;
    let engine = match engine {
        Some(Engine::Sweep | Engine::Disk) if !sweeps => {
            return Err(SearchError::TooSmall { size });
        }
        Some(engine) => engine,
        None if sweeps => Engine::Sweep,
        None => Engine::Reference,
    };
    let array_bytes = match engine {
        Engine::Sweep | Engine::Disk => sweep::array_bytes(size.tiles()),
        Engine::Reference => reference::array_bytes(states),
    };
    Ok(Plan {
        size,
        states,
        engine,
        array_bytes,
    })
}
