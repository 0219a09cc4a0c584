//! The search in memory: choosing and running an engine.

use std::time::Instant;

use crate::{
    Error,
    frontier::FrontierSearch,
    perm::Layout,
    progress::{NoProgress, Progress},
    puzzle::{StateSpace, orbits::OrbitPuzzle},
    search::{
        EachLevel, Engine, Outcome, Search, SearchError, SearchProblem,
        disk::{Directories, status},
        memory, reference,
    },
    threads::pool,
};

impl Search {
    /// Runs the search on its own threads and returns its result.
    ///
    /// Cost: the sweep engine takes n!/120 * 128 bytes for n tiles moved one at a time (see [`crate::search::plan()`]
    /// for other puzzles), and makes one pass over them per level; the reference engine takes two bits per state and
    /// accesses them at random.
    ///
    /// # Errors
    /// [`SearchError`] if the board is not suitable for the engine, the memory limit or the processor;
    /// [`crate::puzzle::PuzzleError`] if the start cannot reach the goal.
    pub fn run(&self) -> Result<Outcome, Error> {
        self.run_with(&NoProgress)
    }

    /// Runs the search like [`Search::run`], with an observer that sees the progress and may stop the work.
    ///
    /// # Errors
    /// Same errors as [`Search::run`], plus [`SearchError::Interrupted`].
    pub fn run_with(&self, observer: &dyn Progress) -> Result<Outcome, Error> {
        run_each(self, observer, &mut |_, _, _, _| Ok(()))
    }
}

/// Runs a search and passes on the states of each level; only the sweep engine does this. An error from `each` ends the
/// search.
pub(crate) fn run_each(
    search: &Search,
    observer: &dyn Progress,
    each: &mut EachLevel,
) -> Result<Outcome, Error> {
    let begun = Instant::now();
    let space = &search.space;
    let plan = plan(space, search.engine)?;
    if plan.engine == Engine::Disk {
        return Err(SearchError::NoFiles.into());
    }
    if let Some(budget) = search.resources.exceeded_by(plan.array_bytes) {
        let (engine, needed) = (plan.engine, plan.array_bytes);
        return Err(
            SearchError::Memory { puzzle: space.to_string(), engine, needed, budget }.into()
        );
    }
    let pool = pool(search.resources.threads).map_err(SearchError::from)?;
    let (found, kernel) = if plan.engine == Engine::Reference {
        let start = space.start()?;
        observer.started(plan.states);
        let found = pool.install(|| reference::run(search, space, start, observer))?;
        (found, None)
    } else {
        let problem = SearchProblem::new(&search.space)?;
        let kernel = search.resources.choose_kernel().map_err(SearchError::from)?;
        observer.started(plan.states);
        let found = pool.install(|| memory::run(search, &problem, kernel, observer, each))?;
        (found, Some(kernel))
    };
    Ok(Outcome {
        space: space.clone(),
        states: plan.states,
        engine: plan.engine,
        kernel,
        threads: pool.current_num_threads(),
        counts: found.counts,
        checksums: found.checksums,
        level_seconds: found.level_seconds,
        complete: found.complete,
        seconds: begun.elapsed().as_secs_f64(),
        array_bytes: plan.array_bytes,
        last: found.last,
        disk: None,
    })
}

// The requirements of a search.

/// The memory and the engine that a search needs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchPlan {
    /// The state space that is searched.
    pub space: StateSpace,
    /// Number of reachable states: N!/2 for a board of N cells.
    pub states: u64,
    /// The engine that would run.
    pub engine: Engine,
    /// Size of the engine's state arrays, in bytes.
    pub array_bytes: u64,
}

/// Returns the memory and the engine that a search needs; `engine` is `None` for the fastest one that can run it.
///
/// # Errors
/// [`SearchError::TooLarge`] above [`Search::MAX_CELLS`] cells, [`SearchError::TooSmall`] if the sweep engine is
/// requested for lines with fewer than six elements.
pub fn plan(space: &StateSpace, engine: Option<Engine>) -> Result<SearchPlan, Error> {
    if let Some(size) = space.size().filter(|_| is_large(space)) {
        return Err(SearchError::TooLarge { size }.into());
    }
    let sweeps = space.line_len() >= Layout::MIN_LEN;
    let engine = match engine {
        Some(Engine::Sweep | Engine::Disk) if !sweeps => {
            let puzzle = space.to_string();
            return Err(SearchError::TooSmall { puzzle }.into());
        }
        Some(engine) => engine,
        None if sweeps => Engine::Sweep,
        None => Engine::Reference,
    };
    // Not those of a pool: querying them would start one.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let array_bytes = match engine {
        Engine::Sweep | Engine::Disk => memory::array_bytes(&SearchProblem::new(space)?, threads),
        Engine::Reference => reference::array_bytes(space),
    };
    Ok(SearchPlan { space: space.clone(), states: space.numbered_states(), engine, array_bytes })
}

// Searches of puzzles with numbered states that use lists nevertheless.

/// Passes over more than `MANY` states take longer than lists of fewer than one state in `THIN`.
const MANY: u64 = 10_000_000_000;
const THIN: f64 = 4000.0;

fn is_large(space: &StateSpace) -> bool {
    space.size().is_some_and(|size| size.cells() > Search::MAX_CELLS)
}

/// Returns the puzzle if a search should use lists, else `None`. Lists are used for boards with too many states to
/// number. With a maximum depth, they are also used in memory if the states do not all fit, and on disk if the levels
/// are so thin that passes over all states take longer, or if the run in the directories uses lists. `numbered` avoids
/// lists wherever states are numbered. Cost: that of searching some thousand states.
///
/// # Errors
/// Same errors as [`plan`], plus an error of the puzzle if it cannot be searched with lists.
pub fn lists_instead(
    search: &Search,
    numbered: bool,
    on_disk: bool,
    directories: Option<&Directories>,
) -> Result<Option<OrbitPuzzle>, Error> {
    let space = &search.space;
    let puzzle = || Ok(Some(OrbitPuzzle::of_space(space)?));
    if is_large(space) {
        return puzzle();
    }
    if numbered || search.max_depth.is_none() {
        return Ok(None);
    }
    let plan = plan(space, None)?;
    let begun = directories.and_then(|directories| status(directories).ok());
    let takes = match begun {
        _ if !on_disk => search.resources.exceeded_by(plan.array_bytes).is_some(),
        Some(begun) => begun.manifest.lists.is_some(),
        None => {
            let lists =
                FrontierSearch::new(OrbitPuzzle::of_space(space)?).max_depth(search.max_depth);
            plan.states > MANY && lists.expected_widest() < plan.states as f64 / THIN
        }
    };
    if takes { puzzle() } else { Ok(None) }
}
