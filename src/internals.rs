//! Items that the program, the tests and the benchmarks of this repository use in addition to the public API; not part
//! of it.

pub use crate::{
    hint::Hint,
    kernel::{ByteBlock, Kernel, Rule, StepProgram, Tally, Transfer, collect, spread},
    pdb::on_disk::{DATABASE, DatabaseMarker},
    perm::{TargetByte, layout, lehmer, move_table, placement, set_of},
    report::text::{LEVEL_COLUMNS, labelled, last_depth, used_symmetries},
    search::memory::lists_instead,
    solve::{
        chain::ChainSolver,
        ida::{Cut, Recorder, SubtreeSplit, Walked},
        log::{LogLine, OPENING as LOG_OPENING, read as read_log, replay},
        phases::NearestSolver,
    },
    store::{
        Append, Array, Bytes, Codec, DEFAULT_LEVEL, Decoder, Directory, Encoder, Io, LevelHeader,
        LevelReader, LevelRecord, Lock, MANIFEST, MARKER, Manifest, MemoryDirectory, Output,
        PREVIOUS, Place, ReadAt, RunFile, Storage, StorageError, budget, create_directory,
        peak_memory, remove_unused,
    },
    system::{FileProblem, SystemError, opened},
    threads::{pool, process_pool, set_process_threads},
    units::{binary_bytes, parse_bytes, parts},
};

use crate::store::container;

/// The first bytes of the files of each kind.
pub const DATABASE_MAGIC: [u8; 8] = container::DATABASE.0;
/// See [`DATABASE_MAGIC`].
pub const TABLE_MAGIC: [u8; 8] = container::DISTANCES.0;
/// See [`DATABASE_MAGIC`].
pub const PRUNING_MAGIC: [u8; 8] = container::PRUNING.0;
pub const COSETS_MAGIC: [u8; 8] = container::COSETS.0;
/// See [`DATABASE_MAGIC`]; these are the files in the directory of a search or build.
pub const RUN_MAGICS: [&[u8]; 3] = [b"TWLEVEL\n", b"TWCROSS\n", b"tilewave-"];

/// The optional features of this library, and whether it was compiled with them.
pub const FEATURES: [(&str, bool); 2] =
    [("certify", cfg!(feature = "certify")), ("plot", cfg!(feature = "plot"))];
