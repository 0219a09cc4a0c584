//! Where states are kept: memory arrays, level files, the directory of a run.
//!
//! What returns an [`std::io::Result`] and says no more of it fails with what the system says.

mod allocator;
mod codec;
mod container;
mod cut;
mod fields;
mod file_error;
mod free_memory;
mod image;
mod journal;
mod level_file;
mod lock;
mod manifest;
mod mapped;
mod marker;
mod memory;
mod names;
mod output;
mod parallel;
mod process_pool;
mod sections;
mod shares;
mod simulated;
mod storage;

pub use allocator::Allocator;
pub use codec::{Codec, DEFAULT_LEVEL, Decoder, Encoder};
pub use container::{Container, Header, encode};
pub use cut::EndWhenCut;
pub use fields::{Fields, HEADER_BYTES};
pub use file_error::{FileError, FileKind, Problem};
pub use image::Image;
pub use journal::Journal;
pub use level_file::{
    Entry, Frames, LABEL, LevelError, LevelHeader, LevelReader, LevelSum, LevelWriter,
};
pub use lock::{lock_within, remove_unused};
pub use manifest::{
    ChunkRecord, LevelFiles, LevelRecord, MANIFEST, Manifest, ManifestError, PREVIOUS,
};
pub use mapped::Mapped;
pub use marker::{DATABASE, DatabaseMarker, MARKER, Marker};
pub use memory::{Array, MemoryError, Words, budget, peak_memory};
pub use names::RunFile;
pub(crate) use output::failed;
pub use output::{Output, OutputError, advice};
pub(crate) use parallel::in_parallel;
pub use process_pool::process_pool;
pub use sections::{BLOCK_BYTES, Layout, Section};
pub use shares::Shares;
pub use simulated::{Faults, Simulated};
pub use storage::{Append, Bytes, Directory, Io, Lock, ReadAt, Storage};
