//! Why a file of one of our kinds cannot be read.
//!
//! Invariant: an error names the file, what it should be, and how to get a good one.

use std::io;
use std::path::{Path, PathBuf};

use super::MemoryError;

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
    /// The file is something else.
    #[error("'{}' is no {}: {}", path.display(), kind.noun, kind.make)]
    Other {
        /// The file.
        path: PathBuf,
        /// What it should be.
        kind: FileKind,
    },
    /// The file is of another version of the format.
    #[error(
        "'{}' is a {} of version {found}, this program reads version {supported}: {} or use a matching tilewave",
        path.display(), kind.noun, kind.make
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that can be read.
        supported: u32,
        /// What it is.
        kind: FileKind,
    },
    /// The file is shorter or longer than its header says.
    #[error(
        "'{}' has {found} bytes and should have {expected}, it is truncated or damaged: copy it again, or {}",
        path.display(), kind.make
    )]
    Length {
        /// The file.
        path: PathBuf,
        /// Its length.
        found: u64,
        /// The length by its header.
        expected: u64,
        /// What it is.
        kind: FileKind,
    },
    /// The header or a small section is damaged.
    #[error("the header of '{}' is damaged, {what}: copy it again, or {}", path.display(), kind.make)]
    Header {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
        /// What it is.
        kind: FileKind,
    },
    /// Entries are damaged.
    #[error(
        "'{}' is damaged in block {block} of {blocks}: copy it again, or {}",
        path.display(), kind.make
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The first damaged block found.
        block: u64,
        /// Number of blocks.
        blocks: u64,
        /// What it is.
        kind: FileKind,
    },
    /// A mapped file is no longer what was checked.
    #[error("'{}' was changed while it was in use: leave it alone and run this again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

impl FileError {
    /// Returns whether the file is there and damaged.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            FileError::Length { .. } | FileError::Header { .. } | FileError::Damaged { .. }
        )
    }

    /// Returns a function that names the action and the file of an error.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl Fn(io::Error) -> FileError {
        let path = path.to_path_buf();
        move |reason| FileError::Io {
            action,
            path: path.clone(),
            reason,
        }
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
