//! What can go wrong with a run on disk.

use std::io;

use crate::Error;
use crate::search::Communicator;
use crate::store::{MemoryError, Place, Storage, StorageError};
use crate::units::bytes;

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
    /// A level file is damaged or does not belong here.
    #[error("{place} (depth {depth}): {reason}; {advice}")]
    Level {
        /// The file.
        place: Place,
        /// Depth of its states.
        depth: u32,
        /// What is wrong.
        reason: String,
        /// What can be done.
        advice: &'static str,
    },
    /// A scratch file reads back other bytes than were written.
    #[error(
        "{place}: it reads back other bytes than were written; the levels are whole: look at the disk, or keep the planes elsewhere with --planes memory, and give the same command again"
    )]
    Scratch {
        /// The file.
        place: Place,
        /// Depth of the step that needs it.
        depth: u32,
    },
    /// The directory holds another search.
    #[error(
        "{directory} holds a search with {name} {found}, not {asked}: choose another --dir, or ask for the same"
    )]
    Other {
        /// The directory.
        directory: String,
        /// What differs.
        name: &'static str,
        /// What the directory holds.
        found: String,
        /// What was asked for.
        asked: String,
    },
    /// A rank of the job was started for another search.
    #[error(
        "rank {rank} was started with {name} {found}, rank 0 with {asked}: start all ranks with the same program and command"
    )]
    Ranks {
        /// The rank.
        rank: usize,
        /// What differs.
        name: String,
        /// What that rank was started with.
        found: String,
        /// What rank 0 was started with.
        asked: String,
    },
    /// Another rank of the job has failed.
    #[error("rank {rank}: {reason}")]
    Elsewhere {
        /// The rank.
        rank: usize,
        /// What it says.
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
    /// There is no run in the directory.
    #[error("{directory} holds no search: start one with tilewave bfs BOARD --dir {directory}")]
    Empty {
        /// The directory.
        directory: String,
    },
    /// The run needs more disk than it may take.
    #[error(
        "the search needs about {} of disk at its peak, {} may be used: {advice}",
        bytes(*needed), bytes(*limit)
    )]
    Disk {
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed or free.
        limit: u64,
        /// What can be done.
        advice: &'static str,
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
    /// So many digits leave nothing inside a block.
    #[error(
        "chunks of {puzzle} share at most {most} digits, not {digits}: give a smaller --shared-digits, or leave it out"
    )]
    Digits {
        /// The puzzle.
        puzzle: String,
        /// Digits asked for.
        digits: usize,
        /// Most digits that lines can share.
        most: usize,
    },
    /// There is no memory for what reads a file.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The codec has failed.
    #[error("a frame cannot be compressed: {reason}; free memory and give the same command again")]
    Codec {
        /// What the codec said.
        reason: &'static str,
    },
}

/// What became of the work.
fn kept(lost: bool) -> &'static str {
    if lost { "what was done since the last commit is lost" } else { "nothing is lost" }
}

/// What to do about an error of the system.
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

    /// The error of a search that could not commit what it had done.
    pub(crate) fn without_commit(mut self) -> DiskError {
        if let DiskError::Io { lost, .. } | DiskError::Limit { lost, .. } = &mut self {
            *lost = true;
        }
        self
    }
}

// How a session ends early.
//
// Invariant: what one rank meets alone is told to the others by the end of the job; what all know ends all
// of them alike.

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
