//! The sets of cells that a region-aware database is about, so laid out that a walk finds its way with two reads.
//!
//! Invariant: entries are those of [`Pdb::entry`]. The tables depend on the board and the number of tiles only, so
//! databases share them.

use crate::pdb::Pdb;

/// Where the entries of a set are, and which region each of its free cells is in.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(16))]
struct Record {
    /// Regions of the sets before it.
    start: u32,
    /// Bits 0, 1 and 2 of the number of each cell's region.
    region: [u32; 3],
}

/// Cells whose regions a record holds.
const CELLS: usize = u32::BITS as usize;

/// All sets of some number of cells.
#[derive(Debug)]
pub(super) struct Sets {
    /// Cells of the low half of a mask.
    half: u32,
    /// What the cells of either half add to a set's rank.
    low: Vec<u32>,
    high: Vec<u32>,
    /// A record for each set, by rank.
    records: Vec<Record>,
    /// Arrangements of the tiles on a set.
    arrangements: u64,
}

impl Sets {
    /// Returns the sets of a region-aware database; none on boards of more than 32 cells. Cost: some 100 ns
    /// for each.
    pub fn new(pdb: &Pdb) -> Option<Sets> {
        let order = pdb.entry_order();
        let (cells, k) = (pdb.pattern().size().cells(), pdb.pattern().tiles().len());
        if cells > CELLS {
            return None;
        }
        let half = cells.div_ceil(2);
        let mut sets = Sets {
            half: half as u32,
            low: vec![0; 1 << half],
            high: vec![0; 1 << (cells - half)],
            records: Vec::with_capacity(order.sets()),
            arrangements: (1..=k as u64).product(),
        };
        let mut start = 0;
        for set in order.all_sets() {
            let rank = sets.records.len() as u32;
            let (low, high) = sets.halves(set);
            // Of a high half, the set with the lowest cells that go with it comes first: these add nothing.
            let first = (1usize << low.count_ones()) - 1;
            if low == first {
                sets.high[high] = rank;
            }
            sets.low[low] = rank - sets.high[high];
            let mut record = Record {
                start,
                region: [0; 3],
            };
            for (number, region) in (0u32..).zip(order.regions_of(set)) {
                for (bit, plane) in record.region.iter_mut().enumerate() {
                    *plane |= region as u32 * (number >> bit & 1);
                }
                start += 1;
            }
            sets.records.push(record);
        }
        Some(sets)
    }

    fn halves(&self, set: u64) -> (usize, usize) {
        let low = (1u64 << self.half) - 1;
        ((set & low) as usize, (set >> self.half) as usize)
    }

    /// Returns the entry of an arrangement of the tiles on a set, the blank being on a free cell.
    #[inline(always)]
    pub fn entry(&self, set: u64, arrangement: u64, blank: u8) -> u64 {
        let (low, high) = self.halves(set);
        let record = &self.records[(self.low[low] + self.high[high]) as usize];
        let bit = |plane: u32| plane >> (blank & 31) & 1;
        let [a, b, c] = record.region.map(bit);
        let slot = record.start + a + 2 * b + 4 * c;
        u64::from(slot) * self.arrangements + arrangement
    }
}
