//! What the program, the tests and the benchmarks of this repository use besides the library; no part of it.

pub use crate::{
    bits::set_of,
    kernel::{ByteBlock, Kernel, Rule, StepProgram, Tally, Transfer, collect, spread},
    pdb::on_disk::{DATABASE, DatabaseMarker},
    perm::{TargetByte, layout, lehmer, move_table, placement},
    search::run::lists_instead,
    solve::{
        control::{Cut, Recorder, SubtreeSplit, Walked},
        log::{LogLine, OPENING as LOG_OPENING, read as read_log, replay},
    },
    store::{
        Append, Array, Bytes, Codec, DEFAULT_LEVEL, Decoder, Directory, Encoder, Io, LevelHeader,
        LevelReader, LevelRecord, Lock, MANIFEST, MARKER, Manifest, MemoryDirectory, Output,
        PREVIOUS, Place, ReadAt, RunFile, Storage, StorageError, budget, peak_memory,
        remove_unused,
    },
    system::{FileProblem, SystemError},
    threads::{pool, process_pool, set_process_threads},
    units::{parse_bytes, parts},
};

use crate::store::container;

/// How the files of each kind begin.
pub const DATABASE_MAGIC: [u8; 8] = container::DATABASE.0;
/// See [`DATABASE_MAGIC`].
pub const TABLE_MAGIC: [u8; 8] = container::DISTANCES.0;
/// See [`DATABASE_MAGIC`].
pub const PRUNING_MAGIC: [u8; 8] = container::PRUNING.0;
/// See [`DATABASE_MAGIC`]: the files in the directory of a search or build.
pub const RUN_MAGICS: [&[u8]; 3] = [b"TWLEVEL\n", b"TWCROSS\n", b"tilewave-"];

/// What this library can be compiled with, and whether it was.
pub const FEATURES: [(&str, bool); 3] = [
    ("certify", cfg!(feature = "certify")),
    ("plot", cfg!(feature = "plot")),
    ("mpi", cfg!(feature = "mpi")),
];
