//! What the program, the tests and the benchmarks of this repository use besides the library; no part of it.

pub use crate::kernel::{ByteBlock, Kernel, Rule, StepProgram, Tally, Transfer, collect, spread};
pub use crate::pdb::on_disk::{DATABASE, DatabaseMarker};
pub use crate::perm::{TargetByte, layout, lehmer, move_table, placement};
pub use crate::solve::control::{Cut, Recorder, SubtreeSplit, Walked};
pub use crate::solve::log::{LogLine, replay};
pub use crate::store::{
    Append, Array, Bytes, Codec, DEFAULT_LEVEL, Decoder, Directory, Encoder, Io, LevelHeader,
    LevelReader, LevelRecord, Lock, MANIFEST, MARKER, Manifest, MemoryDirectory, Output, PREVIOUS,
    Place, ReadAt, RunFile, Storage, StorageError, budget, peak_memory, remove_unused,
};
pub use crate::system::{FileProblem, SystemError};
pub use crate::threads::{pool, process_pool};
