//! What to search, and the choice of an engine.

use std::fmt;

use std::time::Instant;

use super::{Level, Observer, Outcome, State, StateSpace, reference, sweep};
use crate::Error;
use crate::perm::kernel::{Kernel, KernelError};
use crate::puzzle::tiles::{Board, Size};

/// The engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Streaming passes over byte arrays in memory; needs at least 6 tiles.
    Sweep,
    /// The same passes, with the levels in files and one chunk at a time in memory; needs at least 6
    /// tiles.
    Disk,
    /// Unranks, expands and ranks every frontier state; plain, slow, any board.
    Reference,
}

impl Engine {
    /// Returns the name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Sweep => "sweep",
            Engine::Disk => "disk",
            Engine::Reference => "reference",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A search to run: from `start` (the goal itself by default) over everything that it reaches.
#[derive(Clone, Debug)]
pub struct Search {
    /// The goal, which numbers the tiles.
    pub goal: Board,
    /// The board at depth 0.
    pub start: Board,
    /// Last depth to compute, `None` for all.
    pub max_depth: Option<usize>,
    /// Engine, `None` for the fastest that can run the board.
    pub engine: Option<Engine>,
    /// Kernel of the sweep engine, `None` for the fastest of this processor.
    pub kernel: Option<Kernel>,
    /// Worker threads, `None` for one per core.
    pub threads: Option<usize>,
    /// Most bytes the arrays may take, `None` for no limit.
    pub memory: Option<u64>,
    /// Most states of the last depth to return.
    pub keep_last: usize,
}

impl Search {
    /// The most cells a complete search is offered for: the arrays of a larger board exceed any machine.
    pub const MAX_CELLS: usize = 16;

    /// Returns the complete search from a goal, with everything else at its default.
    pub fn new(goal: Board) -> Search {
        Search {
            start: goal.clone(),
            goal,
            max_depth: None,
            engine: None,
            kernel: None,
            threads: None,
            memory: None,
            keep_last: 0,
        }
    }
}

/// A search that cannot run or was stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The board has too many cells.
    #[error("board {size} has {} cells: a complete search handles at most {}, choose a smaller board", size.cells(), Search::MAX_CELLS)]
    TooLarge {
        /// Size of the board.
        size: Size,
    },
    /// The sweep engine cannot run boards this small.
    #[error(
        "board {size} is too small for the sweep engine (6 tiles at least): use --engine reference"
    )]
    TooSmall {
        /// Size of the board.
        size: Size,
    },
    /// The arrays exceed the memory budget.
    #[error(
        "board {size} needs {needed} bytes of memory with the {engine} engine, the budget is {budget} bytes"
    )]
    Memory {
        /// Size of the board.
        size: Size,
        /// Engine asked for.
        engine: Engine,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        budget: u64,
    },
    /// The worker threads could not be started.
    #[error("cannot start {threads} worker threads: {reason}")]
    Threads {
        /// Threads asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },
    /// The kernel asked for does not run here.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The observer asked to stop.
    #[error("interrupted at depth {depth} after {states} states")]
    Interrupted {
        /// Depth being computed.
        depth: usize,
        /// States counted in the finished levels.
        states: u64,
    },
}

/// What an engine returns.
#[derive(Default)]
pub(super) struct Found {
    pub counts: Vec<u64>,
    pub checksums: Vec<u64>,
    pub level_seconds: Vec<f64>,
    pub complete: bool,
    pub last: Vec<State>,
}

impl Found {
    /// Appends a level and reports it.
    pub fn push(&mut self, level: Level, observer: &dyn Observer) {
        self.counts.push(level.states);
        self.checksums.push(level.checksum);
        self.level_seconds.push(level.seconds);
        observer.level(&level);
    }
}

/// Runs a search on its own thread pool and returns what it found.
///
/// Cost: the sweep engine takes n!/120 * 128 bytes for n tiles and passes over them once per level;
/// the reference engine takes N!/8 bytes for N cells and random accesses to them.
///
/// # Errors
/// [`SearchError`] when the board does not fit the engine, the budget or the processor, or the observer
/// interrupts; [`crate::puzzle::tiles::BoardError`] when the start cannot reach the goal.
pub fn run(search: &Search, observer: &dyn Observer) -> Result<Outcome, Error> {
    let begun = Instant::now();
    let size = search.goal.size();
    let plan = super::plan(size, search.engine)?;
    let space = StateSpace::new(search.goal.clone())?;
    let start = space.state(&search.start)?;
    if let Some(budget) = search.memory.filter(|&b| b < plan.array_bytes) {
        let (engine, needed) = (plan.engine, plan.array_bytes);
        return Err(SearchError::Memory {
            size,
            engine,
            needed,
            budget,
        }
        .into());
    }
    let kernel = match plan.engine {
        Engine::Reference => None,
        Engine::Sweep | Engine::Disk => Some(choose_kernel(search.kernel)?),
    };
    let pool = pool(search.threads)?;
    observer.started(plan.states);
    let found = pool.install(|| match kernel {
        None => reference::run(search, &space, start, observer).map_err(Error::from),
        Some(kernel) => sweep::run(search, &space, start, kernel, observer),
    })?;
    Ok(Outcome {
        goal: search.goal.clone(),
        start: search.start.clone(),
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

/// Returns the kernel asked for, or the fastest of this processor.
pub(super) fn choose_kernel(asked: Option<Kernel>) -> Result<Kernel, SearchError> {
    match asked {
        None => Ok(Kernel::best()),
        Some(kernel) if kernel.is_supported() => Ok(kernel),
        Some(kernel) => Err(KernelError::Unsupported(kernel).into()),
    }
}

/// Returns a pool of worker threads, one per core unless told.
pub(super) fn pool(threads: Option<usize>) -> Result<rayon::ThreadPool, SearchError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|e| SearchError::Threads {
            threads: threads.unwrap_or(0),
            reason: e.to_string(),
        })
}
