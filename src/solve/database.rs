//! A database as walks read it: the entry, its byte, and its value.
//!
//! Invariant: values are those of [`Pdb::lookup`], whatever the kind and the encoding. The data that a lookup needs is
//! kept up to date move by move: the set of cells, the rank of the tiles on them, and the previous value.

use std::sync::{Arc, OnceLock};

use crate::{
    kernel::{prefetch, transpose},
    pdb::{Encoding, Kind, Pdb, after},
    progress::Progress,
    store::Image,
    threads::in_parallel,
};

/// A database, and its sets of cells.
#[derive(Clone)]
pub(crate) struct Database {
    pub pdb: Arc<Pdb>,
    // As in the header, which is farther away in memory.
    kind: Kind,
    encoding: Encoding,
    sets: Option<Arc<CellSets>>,
    /// The same bits in a different order, for long searches.
    arranged: Arc<OnceLock<Option<Arranged>>>,
    /// Number of arrangements of the tiles on a set of cells.
    arrangements: u64,
    /// Number of tiles of the pattern, and of cells of the board.
    tiles: u32,
    cells: u64,
}

impl Database {
    /// Returns databases that are ready to be read; those with the same number of tiles share their sets.
    pub fn all(pdbs: Vec<Arc<Pdb>>) -> Vec<Database> {
        let mut all: Vec<Database> = Vec::new();
        for pdb in pdbs {
            // A database in several partitions is read, and reordered, once.
            if let Some(same) = all.iter().find(|other| Arc::ptr_eq(&other.pdb, &pdb)) {
                all.push(same.clone());
                continue;
            }
            let tiles = pdb.pattern().tiles().len() as u32;
            let mut regions = all.iter().filter(|other| other.kind == Kind::Regions);
            let known = regions.find(|other| other.tiles == tiles);
            let sets = match (pdb.kind(), known) {
                (Kind::Minimum | Kind::AllMoves, _) => None,
                (Kind::Regions, Some(other)) => other.sets.clone(),
                (Kind::Regions, None) => CellSets::new(&pdb).map(Arc::new),
            };
            all.push(Database {
                kind: pdb.kind(),
                encoding: pdb.encoding(),
                sets,
                arranged: Arc::default(),
                arrangements: (1..=u64::from(tiles)).product(),
                tiles,
                cells: pdb.pattern().size().cells() as u64,
                pdb,
            });
        }
        all
    }

    /// Whether an entry is a byte whose index is the rank of its cells.
    pub fn is_plain(&self) -> bool {
        (self.kind, self.encoding) == (Kind::Minimum, Encoding::Byte)
    }

    /// The sets of a database with one bit per entry; `None` for others, and on boards of more than 32 cells.
    pub fn bits(&self) -> Option<&CellSets> {
        self.sets.as_deref().filter(|_| self.encoding == Encoding::Bit)
    }

    /// The layout of the bits: the bytes, and the distances between adjacent slots and between adjacent arrangements.
    pub fn layout(&self) -> (&[u8], [u64; 2]) {
        match self.arranged.get() {
            Some(Some(arranged)) => (arranged.image.bytes(), [1, arranged.stride]),
            _ => (self.pdb.bytes(), [self.arrangements, 1]),
        }
    }

    /// Reorders the bits for a long search, in free memory. If there is not enough free memory, or if this is
    /// interrupted, they stay in the order of the file for good.
    pub fn arrange(&self, progress: &dyn Progress) {
        let Some(sets) = self.bits() else { return };
        let (bytes, slots) = (self.pdb.bytes(), sets.slots);
        let arranged = || Arranged::new(bytes, slots, self.arrangements, progress);
        self.arranged.get_or_init(arranged);
    }

    /// Whether every move changes the entry, because the pattern includes the blank.
    #[inline(always)]
    pub fn has_blank(&self) -> bool {
        self.kind == Kind::AllMoves
    }

    /// Returns the rank of cells, given as one byte each, the first one lowest.
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

    /// Returns the rank of the tiles on their cells, which a view keeps up to date, from their entry.
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

    /// Returns the index of the byte that contains an entry.
    #[inline(always)]
    pub fn byte(&self, entry: u64) -> u64 {
        match self.encoding {
            Encoding::Byte => entry,
            Encoding::Bit => entry / 8,
        }
    }

    /// Returns the value of an entry from its byte, given the value before the move of one of its tiles.
    #[inline(always)]
    pub fn value(&self, byte: u8, entry: u64, before: u8) -> u8 {
        match self.encoding {
            Encoding::Byte => byte,
            Encoding::Bit => after(before, byte >> (entry % 8) & 1),
        }
    }
}

// The sets of cells of a region-aware database, laid out so that a walk needs only two reads.
//
// Invariant: slots are those of [`Pdb::entry`]. The tables depend only on the board and the number of tiles, so
// databases share them.

/// The positions of the entries of a set, and the region of each of its free cells.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(16))]
struct Record {
    /// Bits 0 and 1 of the region number of each cell, side by side.
    two: u64,
    /// The number of regions of all preceding sets.
    start: u32,
    /// Bit 2 of the region number of each cell.
    four: u32,
}

/// Number of cells whose regions a record can hold.
pub(crate) const CELLS: usize = u32::BITS as usize;

/// All sets with a given number of cells.
#[derive(Debug)]
pub(crate) struct CellSets {
    /// Number of cells in the low half of a mask.
    half: u32,
    /// The contribution of the cells in each half to a set's rank.
    low: Vec<u32>,
    high: Vec<u32>,
    /// A record for each set, by rank.
    records: Vec<Record>,
    /// The number of regions of all sets.
    slots: u64,
}

impl CellSets {
    /// Returns the sets of a region-aware database; `None` on boards of more than 32 cells. Cost: about 100 ns per set.
    pub fn new(pdb: &Pdb) -> Option<CellSets> {
        let (order, cells) = (pdb.entry_order(), pdb.pattern().size().cells());
        if cells > CELLS {
            return None;
        }
        let half = cells.div_ceil(2);
        let mut sets = CellSets {
            half: half as u32,
            low: vec![0; 1 << half],
            high: vec![0; 1 << (cells - half)],
            records: Vec::with_capacity(order.sets()),
            slots: 0,
        };
        let mut start = 0;
        for set in order.all_sets() {
            let rank = sets.records.len() as u32;
            let (low, high) = sets.halves(set as u32);
            // For a high half, the set with the lowest cells that go with it comes first: these contribute nothing.
            let first = (1usize << low.count_ones()) - 1;
            if low == first {
                sets.high[high] = rank;
            }
            sets.low[low] = rank - sets.high[high];
            let mut record = Record { start, ..Record::default() };
            for (number, region) in (0u64..).zip(order.regions_of(set)) {
                record.two |= spread(region) * (number & 3);
                record.four |= region as u32 * (number as u32 >> 2);
                start += 1;
            }
            sets.records.push(record);
        }
        sets.slots = start.into();
        Some(sets)
    }

    #[inline(always)]
    fn halves(&self, set: u32) -> (usize, usize) {
        let low = (1u32 << self.half) - 1;
        ((set & low) as usize, (set >> self.half) as usize)
    }

    /// Returns the rank of a set and prefetches its record.
    #[inline(always)]
    pub fn rank(&self, set: u32) -> u32 {
        let (low, high) = self.halves(set);
        let rank = self.low[low] + self.high[high];
        prefetch::<1, _>(self.records.as_ptr().wrapping_add(rank as usize));
        rank
    }

    /// Returns the slot of the set with a rank and of the region that contains a free cell, where the blank is.
    #[inline(always)]
    pub fn slot(&self, rank: u32, blank: u8) -> u64 {
        let record = &self.records[rank as usize];
        let two = (record.two >> (2 * (blank & 31))) as u32 & 3;
        let four = record.four >> (blank & 31) & 1;
        u64::from(record.start + two + 4 * four)
    }
}

/// Puts a zero after each of the lowest 32 bits.
fn spread(bits: u64) -> u64 {
    // The masks are 0x0000_ffff_0000_ffff, 0x00ff_00ff_00ff_00ff and so on.
    let step = |bits: u64, by: u32| (bits | bits << by) & (u64::MAX / ((1 << by) + 1));
    [16, 8, 4, 2, 1].into_iter().fold(bits, step)
}

// The bits of a region-aware database in an order that differs from the file's, for long searches: all slots of the
// first arrangement of the tiles, then all of the second, and so on.
//
// In the file, the arrangements of a slot are contiguous. A move always changes the slot, but the arrangement only if
// its tile passes others, so a walk visits far fewer lines and pages here.
//
// Invariant: bit `arrangement * stride + slot` is the file's bit `slot * arrangements + arrangement`.

/// Side length, in bits, of the squares that are transposed: a cache line.
const SIDE: usize = 512;

/// A reordered copy of the bits of a database.
#[derive(Debug)]
pub(crate) struct Arranged {
    image: Image,
    /// Number of bits from one arrangement to the next.
    stride: u64,
}

impl Arranged {
    /// Returns a copy of the bits of the given numbers of slots and arrangements, made by all threads; `None` if there
    /// is not enough free memory, if the work is interrupted, or if the arrangements of a slot do not fill whole bytes
    /// (three tiles or fewer, which fit in the caches in any order). Cost: memory for another copy of the database, and
    /// 1.5 ns of one core per byte.
    pub fn new(
        bits: &[u8],
        slots: u64,
        arrangements: u64,
        progress: &dyn Progress,
    ) -> Option<Arranged> {
        if !arrangements.is_multiple_of(8) {
            return None;
        }
        let stride = slots.next_multiple_of(SIDE as u64);
        let (row, width) = ((stride / 8) as usize, (arrangements / 8) as usize);
        let mut image = Image::in_free_memory(stride / 8 * arrangements).ok()?;
        let strips = image.bytes_mut().chunks_mut(SIDE * row);
        let turn_strip = |strip, to: &mut [u8]| {
            let first = strip * (SIDE / 8);
            for (square, rows) in bits.chunks(width * SIDE).enumerate() {
                if square % SIDE == 0 && progress.interrupted() {
                    return Err(());
                }
                turn_square(rows, width, first, &mut to[square * (SIDE / 8)..], row);
            }
            Ok(())
        };
        in_parallel(strips, turn_strip).ok()?;
        Some(Arranged { image, stride })
    }
}

/// Transposes the bits of at most 512 slots of `width` bytes and at most 512 arrangements, from byte `first` on: line i
/// of the result is at byte `i * row`.
fn turn_square(slots: &[u8], width: usize, first: usize, to: &mut [u8], row: usize) {
    let mut rows = to.chunks_mut(row);
    for byte in (first..width.min(first + SIDE / 8)).step_by(8) {
        let end = width.min(byte + 8);
        let mut lines = [[[0; 8]; SIDE / 64]; 64];
        for (group, slots) in slots.chunks(64 * width).enumerate() {
            let mut square = [0; 64];
            for (bits, slot) in square.iter_mut().zip(slots.chunks_exact(width)) {
                // A copy of unknown length would call a function for eight bytes.
                let eight = match slot[byte..end].first_chunk() {
                    Some(eight) => *eight,
                    None => std::array::from_fn(|i| slot[byte..end].get(i).copied().unwrap_or(0)),
                };
                *bits = u64::from_le_bytes(eight);
            }
            transpose(&mut square);
            for (line, bits) in lines.iter_mut().zip(square) {
                line[group] = bits.to_le_bytes();
            }
        }
        for (line, row) in lines[..8 * (end - byte)].iter().zip(&mut rows) {
            row[..SIDE / 8].copy_from_slice(line.as_flattened());
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{
        pdb::{Build, Pattern},
        progress::{NoProgress, StopWhen},
        puzzle::Board,
        random::SplitMix64,
    };

    /// A region-aware database.
    pub(crate) fn regions(goal: &Board, tiles: &[u16], encoding: Encoding) -> Arc<Pdb> {
        let pattern = Pattern::new(goal.clone(), tiles).unwrap();
        Arc::new(Build::new(pattern).kind(Kind::Regions).encoding(encoding).run().unwrap())
    }

    #[test]
    fn a_database_of_several_partitions_is_arranged_once() {
        let goal = Board::parse("1 2 3/4 5 6/7 8 0", None).unwrap();
        let [one, other] = [&[1, 2, 3][..], &[4, 5]].map(|of| regions(&goal, of, Encoding::Bit));
        let same = Arc::clone(&one);
        let all = Database::all(vec![one, other, same]);
        assert!(Arc::ptr_eq(&all[0].arranged, &all[2].arranged));
        assert!(!Arc::ptr_eq(&all[0].arranged, &all[1].arranged));
        all[0].arrange(&NoProgress);
        assert!(all[2].arranged.get().is_some() && all[1].arranged.get().is_none());
    }

    #[test]
    fn every_bit_is_where_it_belongs() {
        // More slots and arrangements than a square holds, and numbers that do not fill one.
        for (slots, arrangements) in [(1, 24), (700, 24), (513, 720), (40, 5040), (1500, 1528)] {
            let mut random = SplitMix64::new(slots);
            let bytes = slots * arrangements / 8;
            let bits: Vec<u8> = (0..bytes).map(|_| random.draw() as u8).collect();
            let arranged = Arranged::new(&bits, slots, arrangements, &NoProgress).unwrap();
            let bit = |bytes: &[u8], at: u64| bytes[(at / 8) as usize] >> (at % 8) & 1;
            for slot in 0..slots {
                for arrangement in 0..arrangements {
                    let at = arrangement * arranged.stride + slot;
                    let expected = bit(&bits, slot * arrangements + arrangement);
                    assert_eq!(bit(arranged.image.bytes(), at), expected, "{slot} {arrangement}");
                }
            }
        }
    }

    #[test]
    fn whoever_interrupts_gets_no_copy() {
        assert!(Arranged::new(&[0; 300], 100, 24, &StopWhen(|| true)).is_none());
        assert!(Arranged::new(&[0; 300], 400, 6, &NoProgress).is_none());
    }
}
