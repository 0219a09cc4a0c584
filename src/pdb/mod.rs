//! Additive pattern databases: tables of lower bounds that other solvers can reuse.
//!
//! Invariant: the value of an entry is the minimum number of moves of the pattern's tiles that bring them home, where
//! moves of all other tiles and the blank are free. The values of patterns without common tiles therefore add up to a
//! lower bound on the number of moves of all tiles.
//!
//! A [`Pattern`] specifies the tiles, [`Build::run`] builds a [`Pdb`] for it, [`Pdb::save`] and [`Pdb::load`] write and
//! read a file (`docs/format.md`), and [`Evaluator`] adds up values along a sequence of moves.
//!
//! How a build proceeds: `build` plans it, `regions` numbers the slots and their moves, `slots` searches level by level
//! and passes first visits to a sink (the one in `on_disk` writes files), `file_order` brings values into the order of
//! the file, and `database` stores them after the `header`. `solve` looks up values. `oracle` and `verify` check them.
//!
//! Sources: R. E. Korf and A. Felner, Disjoint pattern database heuristics, Artificial Intelligence 134
//! (2002); A. Felner, R. E. Korf and S. Hanan, Additive pattern database heuristics, JAIR 22 (2004);
//! R. Clausecker and A. Reinefeld, Zero-aware pattern databases with 1-bit compression for sliding tile
//! puzzles, SoCS 2019 (the blank's region).
//!
//! For a custom solver: the entry of a placement is [`crate::placement::rank`] of the tiles' cells, and [`Pdb::bytes`]
//! is the table. A move changes the cell of one tile, and hence the entry of one pattern. Ranks take about 2 ns and can
//! be updated with one addition per cell passed; reading a random entry of a table larger than the caches takes 50 to
//! 100 ns. A fast solver therefore ranks all children first, prefetches their bytes, and only then reads them. It keeps
//! tables on huge pages ([`Pdb::load`]).

pub(crate) mod all_moves;
pub(crate) mod build;
pub(crate) mod compress;
pub(crate) mod database;
pub(crate) mod encoding;
pub(crate) mod error;
pub(crate) mod evaluator;
pub(crate) mod export;
pub(crate) mod file_order;
pub(crate) mod header;
pub(crate) mod on_disk;
pub(crate) mod oracle;
pub(crate) mod partition;
pub(crate) mod pattern;
pub(crate) mod regions;
pub(crate) mod slots;
pub(crate) mod verify;

pub use crate::pdb::{
    all_moves::{Depths, Space},
    build::{Build, BuildPlan, plan, plan_on_disk},
    compress::{compress, compress_with, decompress, decompress_with, inspect},
    database::Pdb,
    encoding::encode,
    error::PdbError,
    evaluator::Evaluator,
    export::{ExportLayout, export, export_with},
    header::{Encoding, Kind, Summary},
    on_disk::DiskBuild,
    partition::{SetFile, check_disjoint, check_partition, partition, tilings},
    pattern::Pattern,
    regions::EntryOrder,
    verify::{SpotCheck, rebuild, rebuild_with, spot_check, spot_check_with},
};

pub(crate) use crate::pdb::encoding::after;

pub(crate) use crate::pdb::{
    build::TableBuild,
    error::Meter,
    file_order::{ArrangementOrder, SLOTS, WINDOW},
    oracle::{PatternMoves, PatternState, UNREACHED},
    regions::{Grid, SlotGraph},
};
