//! Storage of states: memory arrays, level files, the directories of a run, databases and tables.
//!
//! Searches on disk and builds of databases write levels as frames: `codec` encodes them, `level_file` puts them into a
//! file, and `manifest` records which files make up a run, all of it through the [`Storage`] of a directory. Databases
//! and distance tables are a `container` each, read completely, mapped, or block by block. Results of commands go
//! through `output`, logs through `journal`. `memory` has the arrays, and reports how much memory is free.
//!
//! If a function that returns an [`std::io::Result`] does not document its errors, they are those of the system.

pub(crate) mod codec;
pub(crate) mod container;
pub(crate) mod error;
pub(crate) mod journal;
pub(crate) mod level_file;
pub(crate) mod manifest;
pub(crate) mod memory;
pub(crate) mod output;
pub(crate) mod run_files;
pub(crate) mod storage;

pub use crate::store::{
    codec::{Codec, DEFAULT_LEVEL, Decoder, Encoder},
    container::{BLOCK_BYTES, Container, Fields, FileHeader, HEADER_BYTES, SectionLayout, encode},
    error::{Place, StorageError},
    journal::Journal,
    level_file::{FrameEntry, Frames, LABEL, LevelHeader, LevelReader, LevelWriter},
    manifest::{
        ChunkRecord, Identity, LevelFiles, LevelRecord, ListCounts, ListCut, MANIFEST, MARKER,
        Manifest, Marker, PREVIOUS,
    },
    memory::{Array, Image, Mapped, Words, budget, peak_memory, shared_bytes},
    output::Output,
    run_files::{RunFile, Shares},
    storage::{
        Append, Bytes, Directory, Io, Lock, MemoryDirectory, ReadAt, Storage, lock_within,
        remove_unused,
    },
};

pub(crate) use crate::store::{
    codec::{push_number, take_number},
    manifest::{hex, read_marker, seal, write_marker},
    output::failed,
};

pub(crate) use crate::store::container::MAX_DEPTH;
