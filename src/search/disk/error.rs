//! What can go wrong with a run on disk, and how a session ends early.
//!
//! Invariant: what one rank meets alone is told to the others by the end of the job; what all know ends all
//! of them alike.

use std::io;

use crate::Error;
use crate::search::Communicator;
use crate::store::{MemoryError, Place, Storage, StorageError};

/// A run on disk that cannot start, go on or be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiskError {
    /// The system refused, or the file's content is wrong.
    #[error("{place}: {}{}", reason, advice(.reason, *lost))]
    Io {
        /// The file.
        place: Place,
        /// What the system, or the file's reader, said.
        reason: io::Error,
        /// Whether what was done since the last commit is lost.
        lost: bool,
    },
    /// A file is damaged or does not belong here.
    #[error("{reason}")]
    Damaged {
        /// Depth of its states, or of the step that needs it.
        depth: u32,
        /// Whether it is scratch: the levels are whole.
        scratch: bool,
        /// The file, what is wrong with it, and what can be done.
        reason: String,
    },
    /// The directories do not hold one whole run.
    #[error("{directory}: {reason}")]
    Apart {
        /// The directory.
        directory: String,
        /// What is wrong, and what can be done.
        reason: String,
    },
    /// The directories hold no run or another one, or there is no room for what was asked for.
    #[error("{0}")]
    Refused(String),
    /// A rank of the job was started for another search.
    #[error("{0}: start all ranks with the same program and command")]
    Ranks(String),
    /// Another rank of the job has failed.
    #[error("rank {rank}: {reason}")]
    Elsewhere {
        /// The rank.
        rank: usize,
        /// What it says.
        reason: String,
    },
    /// The files have come to the limit.
    #[error(
        "the files have come to the limit of {limit} bytes at depth {depth}; {}: give the same command again with a larger --disk-limit",
        kept(*lost)
    )]
    Limit {
        /// Depth in progress.
        depth: u32,
        /// Bytes allowed.
        limit: u64,
        /// Whether what was done since the last commit is lost.
        lost: bool,
    },
    /// The observer asked to stop; everything is committed.
    #[error(
        "interrupted at depth {depth} after {states} states; nothing is lost: the same command, or tilewave resume --dir {directory}, goes on"
    )]
    Interrupted {
        /// The directory.
        directory: String,
        /// Depth in progress.
        depth: usize,
        /// States of the finished levels.
        states: u64,
    },
    /// So many shared digits leave nothing inside a block.
    #[error("{0}: give a smaller --shared-digits, or leave it out")]
    Digits(String),
    /// There is no memory for what reads a file.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// What became of the work.
fn kept(lost: bool) -> &'static str {
    if lost { "what was done since the last commit is lost" } else { "nothing is lost" }
}

fn advice(reason: &io::Error, lost: bool) -> String {
    match reason.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("; {}: make room and give the same command again", kept(lost))
        }
        io::ErrorKind::InvalidData => {
            "; tilewave repair rebuilds it where it can, a new search needs another --dir".into()
        }
        _ if lost => format!("; {}, the commits before stand", kept(lost)),
        _ => String::new(),
    }
}

impl From<StorageError> for DiskError {
    fn from(StorageError { place, reason }: StorageError) -> DiskError {
        DiskError::Io { place, reason, lost: false }
    }
}

impl DiskError {
    /// What is wrong with a directory as a part of a run.
    pub(crate) fn apart(storage: &dyn Storage, reason: impl Into<String>) -> DiskError {
        DiskError::Apart { directory: storage.name(), reason: reason.into() }
    }

    /// The search in a directory differs in something from what was asked for.
    pub(crate) fn other(storage: &dyn Storage, name: &str, found: &str, asked: &str) -> DiskError {
        DiskError::Refused(format!(
            "{} holds a search with {name} {found}, not {asked}: choose another --dir, or ask for the same",
            storage.name()
        ))
    }

    /// The error of a frame that the codec refuses.
    pub(crate) fn uncoded(reason: &str) -> DiskError {
        DiskError::Refused(format!(
            "a frame cannot be compressed: {reason}; free memory and give the same command again"
        ))
    }

    pub(crate) fn empty(storage: &dyn Storage) -> DiskError {
        let directory = storage.name();
        DiskError::Refused(format!(
            "{directory} holds no search: start one with tilewave bfs BOARD --dir {directory}"
        ))
    }

    /// The error of a search that could not commit what it had done.
    pub(crate) fn without_commit(mut self) -> DiskError {
        if let DiskError::Io { lost, .. } | DiskError::Limit { lost, .. } = &mut self {
            *lost = true;
        }
        self
    }
}

/// Why a rank has stopped.
#[derive(Debug)]
pub enum Stopped {
    /// All ranks have stopped, each with its own error or the one that names the rank at fault.
    Together(Error),
    /// Only this rank has: the others wait for it until the job is ended.
    Alone(Error),
}

impl Stopped {
    /// Returns what is wrong.
    pub fn into_error(self) -> Error {
        match self {
            Stopped::Together(error) | Stopped::Alone(error) => error,
        }
    }
}

/// Why the levels ended early.
pub(crate) enum Halt {
    /// Something is wrong on this rank.
    Error(Error),
    /// The writer of this rank has failed and says why itself.
    Writer,
    /// All ranks have stopped for this reason.
    Together(Error),
}

impl<E: Into<Error>> From<E> for Halt {
    fn from(error: E) -> Halt {
        Halt::Error(error.into())
    }
}

/// Returns what this rank has, once every rank has something; else every rank stops.
pub(crate) fn agreed<T>(
    communicator: &dyn Communicator,
    result: Result<T, impl Into<Error>>,
) -> Result<T, Stopped> {
    let result = result.map_err(Into::into);
    let failure = result.as_ref().err().map(ToString::to_string);
    match (communicator.agree(failure), result) {
        (None, Ok(value)) => Ok(value),
        (_, Err(error)) => Err(Stopped::Together(error)),
        (Some((rank, reason)), Ok(_)) => {
            Err(Stopped::Together(DiskError::Elsewhere { rank, reason }.into()))
        }
    }
}
