//! Storage of states: memory arrays, level files, the directories of a run, databases and tables.
//!
//! Searches on disk and builds of databases write levels as frames: `codec` encodes them, `level_file` puts them into a
//! file, and `manifest` records which files make up a run, all of it through the [`Storage`] of a directory. Databases
//! and distance tables are a `container` each, read completely, mapped, or block by block. Results of commands go
//! through `output`, logs through `journal`; `platform` has what systems do differently. `memory` has the arrays, and
//! reports how much memory is free. The error that names a place in a directory is here.
//!
//! If a function that returns an [`std::io::Result`] does not document its errors, they are those of the system.

pub(crate) mod codec;
pub(crate) mod container;
pub(crate) mod journal;
pub(crate) mod level_file;
pub(crate) mod manifest;
pub(crate) mod memory;
pub(crate) mod output;
pub(crate) mod platform;
pub(crate) mod storage;
pub(crate) mod table_file;

use std::{error::Error, fmt, io};

pub use crate::store::{
    codec::{Codec, DEFAULT_LEVEL, Decoder, Encoder},
    container::{BLOCK_BYTES, Container, Fields, FileHeader, IN_MEMORY, SectionLayout},
    journal::Journal,
    level_file::{
        EncodedFrames, FrameEntry, Frames, FramesInOrder, LABEL, LevelHeader, LevelReader,
        LevelWriter, RunFile, Shares,
    },
    manifest::{
        ChunkRecord, Identity, LevelFiles, LevelRecord, ListCounts, ListCut, MANIFEST, MARKER,
        Manifest, Marker, PREVIOUS,
    },
    memory::{Array, Image, Mapped, Words, budget, peak_memory, shared_bytes, shared_words},
    output::Output,
    storage::{
        Append, Bytes, Directory, Io, Lock, MemoryDirectory, ReadAt, Storage, create_directory,
        lock_within, remove_unused,
    },
    table_file::{TableFile, TableKind},
};

pub(crate) use crate::store::{
    codec::{SUMLESS, compressor, push_number, take_number, take_u32},
    container::MAX_DEPTH,
    level_file::{sound, summed},
    manifest::{hex, read_marker, seal, write_marker},
    output::failed,
    table_file::place,
};

// Errors in reading and writing the files of a directory.

/// A file of a directory, as named in messages; the directory itself if the file name is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub directory: String,
    pub file: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file.is_empty() {
            true => f.write_str(&self.directory),
            false => write!(f, "{}/{}", self.directory, self.file),
        }
    }
}

impl Place {
    pub fn error(&self, reason: io::Error) -> StorageError {
        StorageError { place: self.clone(), reason }
    }

    /// Returns the error for a file whose content is wrong.
    pub fn invalid(&self, reason: impl Into<Box<dyn Error + Send + Sync>>) -> StorageError {
        self.error(io::Error::new(io::ErrorKind::InvalidData, reason))
    }
}

/// An error with a file of a directory, from the system or from the reader of the file.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct StorageError {
    pub place: Place,
    /// The error.
    pub reason: io::Error,
}

impl StorageError {
    /// Returns a copy of the error: the system's own error cannot be cloned.
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
