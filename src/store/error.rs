//! Why a file of one of our kinds cannot be read.
//!
//! Invariant: an error names the file, what it should be, and how to get a good one.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use crate::store::MemoryError;

/// A file of a directory, as messages name it; the directory itself where the file has no name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub directory: String,
    pub file: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.directory, self.file)
    }
}

impl Place {
    pub fn error(&self, reason: io::Error) -> StorageError {
        StorageError { place: self.clone(), reason }
    }

    /// Returns the error of a file whose content is wrong.
    pub fn invalid(
        &self,
        reason: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> StorageError {
        self.error(io::Error::new(io::ErrorKind::InvalidData, reason))
    }
}

/// What the system, or the reader of a file, says of a file of a directory.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct StorageError {
    pub place: Place,
    /// What is wrong.
    pub reason: io::Error,
}

impl StorageError {
    /// Returns the same once more: the system's own error cannot be copied.
    pub(crate) fn again(&self) -> StorageError {
        self.place.error(io::Error::new(self.kind(), self.reason.to_string()))
    }

    pub fn kind(&self) -> io::ErrorKind {
        self.reason.kind()
    }
}

impl From<StorageError> for io::Error {
    fn from(error: StorageError) -> io::Error {
        error.reason
    }
}

/// A file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// Memory that could not be had.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The system refused something.
    #[error("{action} '{}': {reason}", path.display())]
    Io {
        /// What was tried: `cannot open`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// The file is not what it should be.
    #[error("{}", .problem.of(path, kind))]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What it should be.
        kind: FileKind,
        /// What is wrong.
        problem: FileProblem,
    },
    /// A mapped file is no longer what was checked.
    #[error("'{}' was changed while it was in use: leave it alone and run this again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileProblem {
    /// It is something else.
    Other,
    /// It holds what is no longer read, which only earlier programs wrote.
    Retired(&'static str),
    /// It is of another version of the format.
    Version {
        /// Its version.
        found: u32,
        /// The version that can be read.
        supported: u32,
    },
    /// It is shorter or longer than its header says.
    Length {
        /// Its length.
        found: u64,
        /// The length by its header.
        expected: u64,
    },
    /// The header or a small section is damaged, and how.
    Header(&'static str),
    /// Entries are damaged.
    Damaged {
        /// The first damaged block found.
        block: u64,
        /// Number of blocks.
        blocks: u64,
    },
    /// A line of a journal is damaged.
    Line {
        /// Its number, from 1.
        line: u64,
    },
}

impl FileProblem {
    fn of(&self, path: &Path, FileKind { noun, make }: &FileKind) -> String {
        let name = path.display();
        match self {
            FileProblem::Other => format!("'{name}' is no {noun}: {make}"),
            FileProblem::Version { found, supported } => format!(
                "'{name}' is a {noun} of version {found}, this program reads version {supported}: {make} or use \
                 a matching tilewave"
            ),
            FileProblem::Retired(what) => format!("'{name}' is a {noun} {what}: {make}"),
            FileProblem::Length { found, expected } => format!(
                "'{name}' has {found} bytes and should have {expected}, it is truncated or damaged: copy it \
                 again, or {make}"
            ),
            FileProblem::Header(what) => {
                format!("the header of '{name}' is damaged, {what}: copy it again, or {make}")
            }
            FileProblem::Damaged { block, blocks } => format!(
                "'{name}' is damaged in block {block} of {blocks}: copy it again, or {make}"
            ),
            FileProblem::Line { line } => format!(
                "line {line} of '{name}' is damaged: take the lines before it (head -n {}) to go on from there, or {make}",
                line - 1
            ),
        }
    }
}

impl FileError {
    /// Returns what is wrong with a file, where it is there.
    pub fn problem(&self) -> Option<&FileProblem> {
        match self {
            FileError::Wrong { problem, .. } => Some(problem),
            _ => None,
        }
    }

    /// Returns whether the file is there and damaged.
    pub fn is_damage(&self) -> bool {
        use FileProblem::{Damaged, Header, Length, Line};
        matches!(self.problem(), Some(Length { .. } | Header(_) | Damaged { .. } | Line { .. }))
    }

    /// Returns a function that names the action and the file of an error.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl Fn(io::Error) -> FileError {
        let path = path.to_path_buf();
        move |reason| FileError::Io { action, path: path.clone(), reason }
    }
}

/// What a kind of file is called, and how to make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileKind {
    /// `distance table`.
    pub noun: &'static str,
    /// `make it with tilewave table`.
    pub make: &'static str,
}

impl FileKind {
    pub(crate) fn wrong(self, path: &Path, problem: FileProblem) -> FileError {
        FileError::Wrong { path: path.to_path_buf(), kind: self, problem }
    }
}
