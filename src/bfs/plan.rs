//! What a search needs.

use super::engine::Engine;
use super::error::SearchError;
use super::problem::Problem;
use super::search::Search;
use super::state::StateSpace;
use super::subject::Subject;
use super::{reference, sweep};
use crate::Error;
use crate::perm::layout::Layout;

/// What a search needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What is searched.
    pub subject: Subject,
    /// States to reach: N!/2 for a board of N cells.
    pub states: u64,
    /// Engine that will run.
    pub engine: Engine,
    /// Bytes of its state arrays.
    pub array_bytes: u64,
}

/// Returns what a search needs; `engine` is `None` for the fastest that can run it.
///
/// # Errors
/// [`SearchError::TooLarge`] above [`Search::MAX_CELLS`] cells, [`SearchError::TooSmall`] when the sweep
/// engine is asked for lines of fewer than six elements.
pub fn plan(subject: &Subject, engine: Option<Engine>) -> Result<Plan, Error> {
    if let Some(size) = subject.size()
        && size.cells() > Search::MAX_CELLS
    {
        return Err(SearchError::TooLarge { size }.into());
    }
    let space = StateSpace::of(subject.clone())?;
    let sweeps = space.line_len() >= Layout::MIN_LEN;
    let engine = match engine {
        Some(Engine::Sweep | Engine::Disk) if !sweeps => {
            let puzzle = subject.to_string();
            return Err(SearchError::TooSmall { puzzle }.into());
        }
        Some(engine) => engine,
        None if sweeps => Engine::Sweep,
        None => Engine::Reference,
    };
    // Not those of a pool: asking for them would start one.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let array_bytes = match engine {
        Engine::Sweep | Engine::Disk => sweep::array_bytes(&Problem::new(subject)?, threads),
        Engine::Reference => reference::array_bytes(&space),
    };
    Ok(Plan {
        subject: subject.clone(),
        states: space.states(),
        engine,
        array_bytes,
    })
}
