//! Breadth-first search of numbered states: boards of up to 16 cells, and puzzles with one set of different pieces.
//!
//! [`Search::run`] runs a [`Search`] and returns an [`Outcome`] or a [`SearchError`]; the program, tables, Python and
//! Rust programs call it. It chooses an engine: the sweep or the plain one (both in `memory`). `disk` runs the sweep
//! with levels in files, alone or as a rank of a job (`ranks`). The sweep turns the state space into a `problem`: a
//! layout, and classes of groups with the moves between them. Each level goes block by block through `blocks` to the
//! kernel; `long_windows` carries out moves that are too long for tables. `outcome` collects the totals of levels and
//! rejects impossible counts. `forecast` predicts memory and time.
//!
//! Invariant: every engine returns the same counts and the same checksums for the same search. The checksum of a level
//! depends only on its set of states.

pub(crate) mod blocks;
pub mod disk;
pub(crate) mod forecast;
pub(crate) mod long_windows;
pub(crate) mod memory;
pub(crate) mod outcome;
pub(crate) mod problem;
pub(crate) mod ranks;

use std::io;

use crate::{
    hint::{AGAIN, DIR, ENGINE, Hint, MAX_DEPTH, MEMORY, REPAIR},
    puzzle::{Board, Size, StateSpace},
    resources::{Resources, resource_setters, setters},
    store::{Place, Storage, StorageError},
    system::SystemError,
    units::{bytes, counted, thousands},
};

pub use crate::outcome::{DiskUse, Engine, LastStates, ListLevels, Outcome, PlaneStore};
pub use crate::search::{
    disk::plan::{Network, network},
    forecast::{Calibration, DiskForecast, Forecast, Machines, calibrate},
    memory::{SearchPlan, plan},
    ranks::{Communicator, OneProcess, Ranks, Reduce, Share},
};

pub(crate) use crate::search::{
    blocks::{
        BYTE, BlockLoop, BlockTarget, Chunks, Expansion, Frontier, Group, Groups, IncomingMoves,
        IncomingStep, MANY, PredecessorBlocks, Seat, states_of,
    },
    long_windows::{ChainPlan, LongWindowArrays, LongWindows, is_long, plans},
    outcome::{EachLevel, FoundLevels},
    problem::{
        ALL_LANES, BlockSources, Crossings, Granularity, Plane, PlaneSources, Portions,
        SearchProblem, crosses,
    },
};

// The options of a search.

/// A search: over all states that are reachable from `start` (by default the goal itself).
///
/// ```
/// use tilewave::{Goal, Search, Size};
/// let search = Search::new(Goal::Last.board(Size::new(3, 3)?)?);
/// let outcome = search.max_depth(2).threads(2).run()?;
/// assert_eq!((outcome.counts, outcome.complete), (vec![1, 2, 4], false));
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Search {
    /// The state space that is searched.
    pub space: StateSpace,
    /// Last depth to compute, `None` for all depths.
    pub max_depth: Option<usize>,
    /// Engine, `None` for the fastest one that can run the board.
    pub engine: Option<Engine>,
    /// Maximum number of states of the last depth to return.
    pub keep_last: usize,
    /// Resources of the search: `memory` limits its arrays, `kernel` applies to the sweep engine.
    pub resources: Resources,
}

setters! { Search: space: StateSpace, keep_last: usize,; max_depth: usize, engine: Engine, }
resource_setters! { Search }

impl Search {
    /// The maximum number of cells for a complete search: the arrays of a larger board exceed the memory of any
    /// machine.
    pub const MAX_CELLS: usize = 16;

    /// Returns the complete search from a goal, with default options.
    pub fn new(goal: Board) -> Search {
        Search::of(StateSpace::of_board(goal))
    }

    /// Returns the complete search of a state space, with default options.
    pub fn of(space: StateSpace) -> Search {
        Search { space, max_depth: None, engine: None, keep_last: 0, resources: Resources::new() }
    }
}

// Errors of searches, in memory or on disk. Each message is one line and says what to do.

/// A search that cannot run, continue or be read, or that was stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The board has too many cells.
    #[error(
        "board {0} has {cells} cells, but a complete search handles at most {most}: choose a \
         smaller board, or limit the depth with {MAX_DEPTH}",
        cells = .0.cells(), most = Search::MAX_CELLS
    )]
    TooLarge(Size),
    /// The board is too small for the sweep engine.
    #[error(
        "{0} is too small for the sweep engine, which needs at least 7 positions: use {engine}",
        engine = Hint::Value("engine", "reference")
    )]
    TooSmall(String),
    /// The arrays exceed the memory limit.
    #[error(
        "{puzzle} needs {} of memory with the {engine} engine, but the limit is {}: {}, or raise \
         the limit with {MEMORY} if the machine has more",
        bytes(*needed), bytes(*budget), way_out(*engine)
    )]
    Memory {
        /// The puzzle.
        puzzle: String,
        /// The requested engine.
        engine: Engine,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        budget: u64,
    },
    /// Memory, threads, processor instructions or a file are not available.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The disk engine keeps its levels in files and needs a directory.
    #[error(
        "the disk engine keeps its levels in files, but this search has no directory: specify \
         {DIR}, or use {}",
        Hint::Value("engine", "sweep")
    )]
    NoFiles,
    /// The levels of this puzzle cannot be divided into chunks.
    #[error("{0} can be searched only in memory: leave out {DIR}")]
    InMemory(String),
    /// The levels contain more states than are reachable, or the complete search found fewer.
    #[error(
        "the levels up to depth {depth} contain {} states, but {puzzle} has {}: either the \
         hardware or this program has made an error, so the result is withheld; run the search \
         again, and then once more with another {} or {ENGINE}",
        thousands(*found), thousands(*all), Hint::Setting("kernel")
    )]
    Sum {
        /// The puzzle.
        puzzle: String,
        /// The last depth counted.
        depth: usize,
        /// Number of states counted.
        found: u64,
        /// Number of reachable states.
        all: u64,
    },
    /// The observer asked to stop.
    #[error(
        "interrupted at depth {depth} ({} so far): a search in memory cannot be resumed; to get a \
         result earlier, limit the depth with {MAX_DEPTH}",
        counted(*states, "state")
    )]
    Interrupted {
        /// The depth being computed.
        depth: usize,
        /// Number of states in the finished levels.
        states: u64,
    },
    // On disk.
    /// A system error, or wrong content in a file.
    #[error("{place}: {}{}", reason, advice(.reason, *lost))]
    Io {
        /// The file.
        place: Place,
        /// The error from the system or from the reader of the file.
        reason: io::Error,
        /// Whether the work since the last commit is lost.
        lost: bool,
    },
    /// A file is damaged or does not belong here.
    #[error("{reason}")]
    Damaged {
        /// The depth of its states, or of the step that needs it.
        depth: u32,
        /// Whether it is a scratch file; the level files are then intact.
        scratch: bool,
        /// The file, the error in it, and advice.
        reason: String,
    },
    /// The directories do not contain one complete run.
    #[error("{directory}: {reason}")]
    Apart {
        /// The directory.
        directory: String,
        /// The reason, and advice.
        reason: String,
    },
    /// The directories contain no run or a different one, or there is no room for what was requested.
    #[error("{0}")]
    Refused(String),
    /// A rank of the job was started for a different search.
    #[error("{0}: start all ranks with the same program and command")]
    Ranks(String),
    /// Another rank of the job has failed.
    #[error("rank {rank}: {reason}")]
    Elsewhere {
        /// The rank.
        rank: usize,
        /// The reason that the rank reported.
        reason: String,
    },
    /// The files have reached the disk limit.
    #[error(
        "the files have reached the limit of {} at depth {depth}; {}: {AGAIN} with a \
         larger {}",
        bytes(*limit), kept(*lost), Hint::Setting("disk_limit")
    )]
    Limit {
        /// The depth in progress.
        depth: u32,
        /// The limit in bytes.
        limit: u64,
        /// Whether the work since the last commit is lost.
        lost: bool,
    },
    /// The observer asked to stop; everything has been committed.
    #[error(
        "interrupted at depth {depth} ({} so far). Nothing is lost: continue with `tilewave resume \
         {resume}`",
        counted(*states, "state")
    )]
    Paused {
        /// The options that continue the search: its directories and its maximum depth.
        resume: String,
        /// The depth in progress.
        depth: usize,
        /// Number of states in the finished levels.
        states: u64,
    },
    /// The engine of list searches was asked for states with numbers.
    #[error(
        "{0}: {engine} works only with bfs, plan and levels: leave it out",
        engine = Hint::Value("engine", "frontier")
    )]
    Lists(String),
    /// The requested number of shared digits is larger than the layout allows.
    #[error("{0}; choose a smaller value, or leave out {digits}", digits = Hint::Setting("shared_digits"))]
    Digits(String),
}

/// Advice about a search that does not fit in memory.
fn way_out(engine: Engine) -> String {
    match engine {
        Engine::Sweep => format!(
            "search on disk with {}, limit the depth with {MAX_DEPTH}",
            Hint::Value("dir", "DIR")
        ),
        _ => format!("choose a smaller board, limit the depth with {MAX_DEPTH}"),
    }
}

/// What happened to the completed work.
fn kept(lost: bool) -> &'static str {
    if lost { "the work since the last commit is lost" } else { "nothing is lost" }
}

fn advice(reason: &io::Error, lost: bool) -> String {
    match reason.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("; {}: free some space, and {AGAIN}", kept(lost))
        }
        io::ErrorKind::InvalidData => {
            format!(
                "; {REPAIR} rebuilds this file if possible; to start a new search instead, choose \
                 another directory"
            )
        }
        _ if lost => format!("; {}, but earlier commits are kept", kept(lost)),
        _ => String::new(),
    }
}

impl From<StorageError> for SearchError {
    fn from(StorageError { place, reason }: StorageError) -> SearchError {
        SearchError::Io { place, reason, lost: false }
    }
}

impl SearchError {
    /// The error for a directory that does not fit the run.
    pub(crate) fn apart(storage: &dyn Storage, reason: impl Into<String>) -> SearchError {
        SearchError::Apart { directory: storage.name(), reason: reason.into() }
    }

    /// The error for a directory whose search differs from the requested one.
    pub(crate) fn other(
        storage: &dyn Storage,
        name: &str,
        found: &str,
        asked: &str,
    ) -> SearchError {
        let advice = match name {
            "directories" => "specify all directories of the search, in their order",
            _ => "choose another directory, or use the options of that search",
        };
        SearchError::Refused(format!(
            "{} contains another search ({name}: {found}, not {asked}): {advice}",
            storage.name()
        ))
    }

    /// The error for a frame that the codec rejects.
    pub(crate) fn uncoded(reason: &str) -> SearchError {
        SearchError::Refused(format!(
            "a frame of a level file cannot be compressed: {reason}; free some memory, and {AGAIN}"
        ))
    }

    pub(crate) fn empty(storage: &dyn Storage) -> SearchError {
        let directory = storage.name();
        SearchError::Refused(format!(
            "{directory} contains no search: start one with {}",
            Hint::Command(&format!("bfs PUZZLE --dir {directory}"))
        ))
    }

    /// The error when a search could not commit its work.
    pub(crate) fn without_commit(mut self) -> SearchError {
        if let SearchError::Io { lost, .. } | SearchError::Limit { lost, .. } = &mut self {
            *lost = true;
        }
        self
    }
}
