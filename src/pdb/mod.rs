//! Additive pattern databases: tables of lower bounds that other solvers reuse.
//!
//! Invariant: the value of an entry is the fewest moves of the pattern's tiles that bring them home, all
//! other tiles and the blank moving free of charge. So values of patterns without common tiles add up to
//! a lower bound on the moves of all tiles.
//!
//! A [`Pattern`] names the tiles, [`build`] makes a [`Pdb`] of it, [`Pdb::save`] and [`Pdb::open`] keep it
//! in a file (`docs/format.md`), [`Evaluator`] adds values up along a path of moves.
//!
//! Sources: R. E. Korf and A. Felner, Disjoint pattern database heuristics, Artificial Intelligence 134
//! (2002); A. Felner, R. E. Korf and S. Hanan, Additive pattern database heuristics, JAIR 22 (2004);
//! R. Clausecker and A. Reinefeld, Zero-aware pattern databases with 1-bit compression for sliding tile
//! puzzles, SoCS 2019 (the blank's region).
//!
//! For a solver of its own: the entry of a placement is [`crate::placement::rank`] of the tiles'
//! cells, [`Pdb::bytes`] the table. A move changes the cell of one tile, so one pattern's entry; ranks
//! take about 2 ns and can be updated by one addition per cell passed, the read of a random entry of a
//! table larger than the caches 50 to 100 ns. A fast solver therefore ranks all children first, asks for
//! their bytes (prefetch) and only then looks at them, and keeps tables on huge pages ([`Pdb::open`]).

mod build;
mod compress;
mod database;
mod descent;
mod encode;
mod entry_order;
mod error;
mod evaluator;
mod export;
mod frames;
mod grid;
mod header;
mod kind;
mod levels;
mod many;
mod meter;
mod on_disk;
mod partition;
mod pass;
mod pattern;
mod plain;
mod reorder;
mod set_file;
mod set_graph;
mod slots;
mod space;
mod space_table;
mod sweep;
mod threads;
mod turn;
mod verify;

pub use build::{Build, BuildPlan, build, plan, plan_on_disk};
pub use compress::{compress, decompress, inspect};
pub use database::{Pdb, Probe};
pub(crate) use descent::after;
pub use encode::encode;
pub use entry_order::EntryOrder;
pub use error::PdbError;
pub use evaluator::Evaluator;
pub use export::{Layout, export};
pub use header::Summary;
pub use kind::{Encoding, Kind};
pub use on_disk::OnDisk;
pub use partition::{check_disjoint, check_partition, partition, tilings};
pub use pattern::Pattern;
pub use set_file::SetFile;
pub use space::{Depths, Space};
pub use verify::{SpotCheck, rebuild, spot_check};
