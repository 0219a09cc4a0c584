//! Why a search ends early: the errors of searches, in memory or on disk, and who knows of them.
//!
//! Invariant: the other ranks of a job learn of a problem that only one rank notices when the job ends; a problem known
//! to all ends all of them in the same way.

use std::io;

use crate::{
    Error,
    hint::{AGAIN, COUNT_AHEAD, DIR, ENGINE, Hint, MAX_DEPTH, MEMORY, REPAIR},
    kernel::keys::KeyLayout,
    outcome::Engine,
    puzzle::Size,
    store::{Place, Storage, StorageError},
    system::SystemError,
    units::{bytes, counted, grouped, thousands},
};

/// The reason why a rank has stopped.
#[derive(Debug)]
pub enum Stop {
    /// All ranks have stopped, each with its own error or with the one that names the failed rank.
    Together(Error),
    /// Only this rank has stopped; the others wait for it until the job is ended.
    Alone(Error),
}

impl Stop {
    /// Returns the error.
    pub fn into_error(self) -> Error {
        match self {
            Stop::Together(error) | Stop::Alone(error) => error,
        }
    }
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Stop {
        Stop::Alone(error.into())
    }
}

// Each message is one line and says what to do.

/// A search that cannot run, continue or be read, or that was stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The board has more cells than this.
    #[error(
        "board {0} has {cells} cells, but a complete search handles at most {most}: choose a \
         smaller board, or limit the depth with {MAX_DEPTH}",
        cells = .0.cells(), most = .1
    )]
    TooLarge(Size, usize),
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
    /// The engine keeps its levels in files and needs a directory.
    #[error(
        "the engine {0} keeps its levels in files, but this search has no directory: specify {DIR}, or \
         leave out {ENGINE}"
    )]
    NoFiles(Engine),
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
         result earlier, limit the depth with {MAX_DEPTH}; to be able to resume, keep the search on disk with {DIR}",
        counted(*states, "state")
    )]
    Interrupted {
        /// The depth being computed.
        depth: usize,
        /// Number of states in the finished levels.
        states: u64,
    },
    // Of lists.
    /// The lists of a level do not fit in the memory limit.
    #[error(
        "{puzzle}: the states at depth {depth} do not fit in {} of memory: search only to this \
         depth, whose states are then counted but not stored ({at}), or one depth further with \
         {COUNT_AHEAD}; or allow more memory ({MEMORY}), or keep the states on disk ({DIR})",
        bytes(*budget), at = Hint::Value("max_depth", &depth.to_string())
    )]
    Level {
        /// The puzzle.
        puzzle: String,
        /// The depth.
        depth: usize,
        /// The memory limit.
        budget: u64,
    },
    /// Lists have more keys or bytes than their places can count.
    #[error(
        "{puzzle}: at depth {depth}, more states come together than the 4,294,967,295 that one \
         list can hold: search only to this depth, whose states are then counted but not stored \
         ({})",
        Hint::Value("max_depth", &depth.to_string())
    )]
    LongList {
        /// The puzzle.
        puzzle: String,
        /// The depth.
        depth: usize,
    },
    /// A complete search would not end: there are too many states.
    #[error(
        "{puzzle} has {} states, too many for a complete search{}: limit the depth with {MAX_DEPTH}, or list the states at \
         one depth with {levels}",
        grouped(states),
        fits.map_or(String::new(), |(depth, budget)| {
            format!(" in {} of memory, in which depth {depth} is the last that fits", bytes(budget))
        }),
        levels = Hint::Command("levels --depth")
    )]
    ManyStates {
        /// The puzzle.
        puzzle: String,
        /// The number of its states, in digits.
        states: String,
        /// The last depth that fits in memory, and the memory limit, if that is the reason.
        fits: Option<(usize, u64)>,
    },
    /// A state does not fit in the longest supported key.
    #[error(
        "{puzzle}: a state takes {words} 64-bit words, but at most {} are supported: choose a \
         smaller puzzle",
        KeyLayout::MAX_WORDS
    )]
    WideState {
        /// The puzzle.
        puzzle: String,
        /// The number of words needed.
        words: usize,
    },
    /// A move depends on one of several equal pieces, or on a different piece from the other moves.
    #[error(
        "{puzzle}: move '{name}' depends on a piece that is not unique, or on a different piece \
         from the other moves; such moves are not supported"
    )]
    Condition {
        /// The puzzle.
        puzzle: String,
        /// The move.
        name: String,
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
    /// The writer of the files has failed, and says why when it is closed.
    #[error("the files could not be written")]
    Unwritten,
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
    /// Bitmaps were asked for, and the states are no product.
    #[error(
        "{0}: a search by bitmap needs pieces whose places and orientations do not depend on each other: leave out {engine}", engine = Hint::Value("engine", "bitmap")
    )]
    Bitmaps(String),
    /// Bitmaps were asked for, and no files could hold them.
    #[error("{0} has too many states for a search by bitmap: leave out {engine}", engine = Hint::Value("engine", "bitmap"))]
    BitmapStates(String),
    /// The engine finds solutions and searches no levels.
    #[error("{0}: {engine} solves some states, and searches nothing: leave it out", engine = Hint::Value("engine", "solver"))]
    NoLevels(String),
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
