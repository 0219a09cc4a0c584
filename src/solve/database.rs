//! A database as walks read it: which entry, which byte, which value.
//!
//! Invariant: values are those of [`Pdb::lookup`], whatever the kind and the encoding. What a look-up needs is kept
//! up to date move by move: the set of cells, the rank of the tiles on them, the value and the distance before.

use std::sync::{Arc, OnceLock};

use super::arranged::Arranged;
use super::sets::Sets;
use crate::pdb::{Encoding, Kind, Pdb, after};
use crate::progress::Progress;

/// A database, and the sets of cells that it is about.
#[derive(Clone)]
pub(super) struct Database {
    pub pdb: Arc<Pdb>,
    // As the header says, which is farther away.
    kind: Kind,
    encoding: Encoding,
    sets: Option<Arc<Sets>>,
    /// The same bits in another order, for long searches.
    arranged: Arc<OnceLock<Option<Arranged>>>,
    /// Arrangements of the tiles on a set.
    arrangements: u64,
    /// Tiles of the pattern, and cells of the board.
    tiles: u32,
    cells: u64,
}

impl Database {
    /// Returns databases to be read; those of as many tiles share their sets.
    pub fn all(pdbs: Vec<Arc<Pdb>>) -> Vec<Database> {
        let mut all: Vec<Database> = Vec::new();
        for pdb in pdbs {
            // In several partitions it is read, and arranged, once.
            if let Some(same) = all.iter().find(|other| Arc::ptr_eq(&other.pdb, &pdb)) {
                let same = same.clone();
                all.push(same);
                continue;
            }
            let tiles = |pdb: &Pdb| pdb.pattern().tiles().len();
            let known = all.iter().find(|other| {
                (other.pdb.kind(), tiles(&other.pdb)) == (Kind::Regions, tiles(&pdb))
            });
            let sets = match (pdb.kind(), known) {
                (Kind::Minimum | Kind::AllMoves, _) => None,
                (Kind::Regions, Some(other)) => other.sets.clone(),
                (Kind::Regions, None) => Sets::new(&pdb).map(Arc::new),
            };
            let arrangements = (1..=tiles(&pdb) as u64).product();
            all.push(Database {
                kind: pdb.kind(),
                encoding: pdb.encoding(),
                tiles: tiles(&pdb) as u32,
                cells: pdb.pattern().size().cells() as u64,
                pdb,
                sets,
                arranged: Arc::default(),
                arrangements,
            });
        }
        all
    }

    /// Whether an entry is a byte at the rank of its cells.
    pub fn is_plain(&self) -> bool {
        (self.kind, self.encoding) == (Kind::Minimum, Encoding::Byte)
    }

    /// Returns the sets of a database of one bit an entry; none of others, and on boards of more than 32 cells.
    pub fn bits(&self) -> Option<&Sets> {
        let sets = self.sets.as_deref();
        sets.filter(|_| self.encoding == Encoding::Bit)
    }

    /// Returns how bits lie: the bytes, and how far neighbouring slots and neighbouring arrangements are apart.
    pub fn layout(&self) -> (&[u8], [u64; 2]) {
        match self.arranged.get() {
            Some(Some(arranged)) => (arranged.bytes(), [1, arranged.stride()]),
            _ => (self.pdb.bytes(), [self.arrangements, 1]),
        }
    }

    /// Arranges bits for a long search, in memory that is free; leaves them for good as they are in the file when there
    /// is none or somebody interrupts.
    pub fn arrange(&self, progress: &dyn Progress) {
        let Some(sets) = self.bits() else { return };
        self.arranged.get_or_init(|| {
            let (bytes, slots) = (self.pdb.bytes(), sets.slots());
            Arranged::new(bytes, slots, self.arrangements, progress)
        });
    }

    /// Whether every move changes the entry: it is about the blank, too.
    #[inline(always)]
    pub fn has_blank(&self) -> bool {
        self.kind == Kind::AllMoves
    }

    /// Returns the rank of cells, a byte each, the first one lowest.
    #[inline(always)]
    pub fn rank_of(&self, cells: u64) -> u64 {
        let (mut rank, mut used) = (0, 0u64);
        for i in 0..self.tiles {
            let cell = cells >> (8 * i) & 63;
            let below = (used & ((1 << cell) - 1)).count_ones();
            rank = rank * (self.cells - u64::from(i)) + cell - u64::from(below);
            used |= 1 << cell;
        }
        rank
    }

    /// Returns the rank of the tiles on their cells, which a view keeps up to date, given their entry.
    pub fn rank(&self, entry: u64) -> u64 {
        match self.kind {
            Kind::Minimum | Kind::AllMoves => entry,
            Kind::Regions => entry % self.arrangements,
        }
    }

    /// Returns the entry of tiles on a set of cells.
    #[inline(always)]
    pub fn entry(&self, set: u64, rank: u64, blank: u8) -> u64 {
        match (&self.sets, self.kind) {
            (_, Kind::Minimum | Kind::AllMoves) => rank,
            (Some(sets), _) => sets.slot(sets.rank(set as u32), blank) * self.arrangements + rank,
            (None, _) => self.pdb.slot(set, blank) * self.arrangements + rank,
        }
    }

    /// Returns the byte that an entry lies in.
    #[inline(always)]
    pub fn byte(&self, entry: u64) -> u64 {
        match self.encoding {
            Encoding::Byte => entry,
            Encoding::Nibble => entry / 2,
            Encoding::Bit => entry / 8,
        }
    }

    /// Whether values are told by the distance of the tiles.
    #[inline(always)]
    pub fn needs_distance(&self) -> bool {
        self.encoding == Encoding::Nibble
    }

    /// Returns the value of an entry in a byte, given the value before the move of one of its tiles and the distance
    /// of the tiles to their goal cells.
    #[inline(always)]
    pub fn value(&self, byte: u8, entry: u64, before: u8, distance: impl FnOnce() -> u8) -> u8 {
        match self.encoding {
            Encoding::Byte => byte,
            Encoding::Nibble => match byte >> (4 * (entry % 2)) & 15 {
                15 => u8::MAX,
                excess => distance() + 2 * excess,
            },
            Encoding::Bit => after(before, byte >> (entry % 8) & 1),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/database.rs"]
mod tests;
