//! Where states are kept: memory arrays, level files, the directory of a run.

mod codec;
mod level_file;
mod manifest;
mod mapped;
mod memory;
mod output;
mod prefetch;
mod simulated;
mod storage;

pub use codec::{DEFAULT_LEVEL, Decoder, Encoder};
pub use level_file::{
    Entry, Frames, LABEL, LevelError, LevelHeader, LevelReader, LevelSum, LevelWriter,
};
pub use manifest::{ChunkRecord, LevelFiles, LevelRecord, Manifest, ManifestError};
pub use mapped::Mapped;
pub use memory::{Array, MemoryError, Words, budget, peak_memory};
pub use output::Output;
pub use prefetch::prefetch;
pub use simulated::{Faults, Simulated};
pub use storage::{Append, Bytes, Directory, Io, ReadAt, Storage};
