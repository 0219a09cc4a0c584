//! The sets of cells that a region-aware database is about, so laid out that a walk finds its way with two reads.
//!
//! Invariant: slots are those of [`Pdb::entry`]. The tables depend on the board and the number of tiles only, so
//! databases share them.

use crate::pdb::Pdb;
use crate::perm::kernel::prefetch;

/// Where the entries of a set are, and which region each of its free cells is in.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(16))]
struct Record {
    /// Bits 0 and 1 of the number of each cell's region, side by side.
    two: u64,
    /// Regions of the sets before it.
    start: u32,
    /// Bit 2 of the number of each cell's region.
    four: u32,
}

/// Cells whose regions a record holds.
pub(super) const CELLS: usize = u32::BITS as usize;

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
    /// Regions of all sets.
    slots: u64,
}

impl Sets {
    /// Returns the sets of a region-aware database; none on boards of more than 32 cells. Cost: some 100 ns
    /// for each.
    pub fn new(pdb: &Pdb) -> Option<Sets> {
        let order = pdb.entry_order();
        let cells = pdb.pattern().size().cells();
        if cells > CELLS {
            return None;
        }
        let half = cells.div_ceil(2);
        let mut sets = Sets {
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
            // Of a high half, the set with the lowest cells that go with it comes first: these add nothing.
            let first = (1usize << low.count_ones()) - 1;
            if low == first {
                sets.high[high] = rank;
            }
            sets.low[low] = rank - sets.high[high];
            let mut record = Record {
                start,
                ..Record::default()
            };
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

    /// Returns the number of slots, one for each set and region.
    pub fn slots(&self) -> u64 {
        self.slots
    }

    #[inline(always)]
    fn halves(&self, set: u32) -> (usize, usize) {
        let low = (1u32 << self.half) - 1;
        ((set & low) as usize, (set >> self.half) as usize)
    }

    /// Returns the rank of a set, its record asked for.
    #[inline(always)]
    pub fn rank(&self, set: u32) -> u32 {
        let (low, high) = self.halves(set);
        let rank = self.low[low] + self.high[high];
        prefetch::<1, _>(self.records.as_ptr().wrapping_add(rank as usize));
        rank
    }

    /// Returns the slot of the set with a rank, the blank being on a free cell.
    #[inline(always)]
    pub fn slot(&self, rank: u32, blank: u8) -> u64 {
        let record = &self.records[rank as usize];
        let two = (record.two >> (2 * (blank & 31))) as u32 & 3;
        let four = record.four >> (blank & 31) & 1;
        u64::from(record.start + two + 4 * four)
    }
}

/// Puts a zero behind each of the lowest 32 bits.
fn spread(bits: u64) -> u64 {
    let steps: [(u32, u64); 5] = [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ];
    let step = |bits: u64, (shift, mask): (u32, u64)| (bits | bits << shift) & mask;
    steps.into_iter().fold(bits, step)
}
