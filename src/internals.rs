//! What the program, the tests and the benchmarks of this repository use besides the library; no part of it.

pub use crate::{
    kernel::{ByteBlock, Kernel, Rule, StepProgram, Tally, Transfer, collect, spread},
    pdb::on_disk::{DATABASE, DatabaseMarker},
    perm::{TargetByte, layout, lehmer, move_table, placement},
    solve::{
        control::{Cut, Recorder, SubtreeSplit, Walked},
        log::{LogLine, replay},
    },
    store::{
        Append, Array, Bytes, Codec, DEFAULT_LEVEL, Decoder, Directory, Encoder, Io, LevelHeader,
        LevelReader, LevelRecord, Lock, MANIFEST, MARKER, Manifest, MemoryDirectory, Output,
        PREVIOUS, Place, ReadAt, RunFile, Storage, StorageError, budget, peak_memory,
        remove_unused,
    },
    system::{FileProblem, SystemError},
    threads::{pool, process_pool},
    units::{parse_bytes, parts},
};
