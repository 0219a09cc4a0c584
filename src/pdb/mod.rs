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
//! For a solver of its own: the entry of a placement is [`crate::perm::placement::rank`] of the tiles'
//! cells, [`Pdb::bytes`] the table. A move changes the cell of one tile, so one pattern's entry; ranks
//! take about 2 ns and can be updated by one addition per cell passed, the read of a random entry of a
//! table larger than the caches 50 to 100 ns. A fast solver therefore ranks all children first, asks for
//! their bytes (prefetch) and only then looks at them, and keeps tables on huge pages ([`Pdb::load`]).

mod build;
mod entries;
mod error;
mod evaluator;
mod export;
mod grid;
mod header;
mod network;
mod observer;
mod order;
mod pack;
mod partition;
mod pattern;
mod plain;
mod sweep;
mod table;
mod verify;

pub use build::{Build, BuildPlan, build, plan};
pub use entries::Entries;
pub use error::PdbError;
pub use evaluator::Evaluator;
pub use export::{Layout, export};
pub use observer::{PdbLevel, PdbObserver, Phase, Unobserved};
pub use pack::{Summary, compress, decompress, encode, inspect};
pub use partition::{check_disjoint, check_partition, partition};
pub use pattern::Pattern;
pub use table::Pdb;
pub use verify::{SpotCheck, rebuild, spot_check};

use std::fmt;

/// What an entry is a value of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One value per placement of the tiles: the minimum over the cells of the blank (Korf and Felner).
    /// Admissible, not consistent: a move may change it by more than one.
    Minimum,
    /// One value per placement and connected region of the blank: at least as large, and consistent
    /// (Clausecker and Reinefeld).
    Regions,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 2] = [Kind::Minimum, Kind::Regions];

    /// Returns the name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Minimum => "additive-min",
            Kind::Regions => "region-aware",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// One byte per entry.
    Byte,
    /// Four bits per entry: (value - Manhattan distance) / 2.
    Packed,
}

impl Encoding {
    /// All encodings.
    pub const ALL: [Encoding; 2] = [Encoding::Byte, Encoding::Packed];

    /// Returns the name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Byte => "byte",
            Encoding::Packed => "packed",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
