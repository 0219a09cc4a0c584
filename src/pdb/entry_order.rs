//! Which entry of a table belongs to a placement: the entry order of the files.
//!
//! Invariant: tiles are taken in increasing number and cells are row-major. In a table with the minimum
//! over the blank, the entry of a placement is its lexicographic rank; so it is where every move counts, the blank being the
//! first tile. In a region-aware table, the
//! sets of occupied cells come in order of increasing bit masks, for each set its regions by their
//! lowest cells, for each region the k! arrangements in lexicographic order of the tiles' positions
//! within the set.

use super::grid::{Grid, bits, number};
use super::{Kind, Pattern};
use crate::perm::lehmer;
use crate::perm::placement::{self, Subsets};

/// The entry order of a pattern's table.
#[derive(Clone, Debug)]
pub struct EntryOrder {
    grid: Grid,
    k: usize,
    kind: Kind,
    subsets: Subsets,
}

impl EntryOrder {
    /// Returns the entry order of a pattern.
    pub fn new(pattern: &Pattern, kind: Kind) -> EntryOrder {
        let grid = Grid::new(pattern.size());
        let k = pattern.tiles().len();
        EntryOrder {
            grid,
            k,
            kind,
            subsets: Subsets::new(grid.cells(), k).expect("patterns are small"),
        }
    }

    /// Returns the number of sets of occupied cells, N over k.
    pub fn sets(&self) -> usize {
        self.subsets.count()
    }

    /// Returns for each set the number of regions of all sets before it, and their total at the end.
    /// Cost: a flood fill per set, about 100 ns.
    pub fn region_starts(&self) -> Vec<u32> {
        let mut starts = Vec::with_capacity(self.sets() + 1);
        let mut total = 0;
        for set in self.subsets.iter() {
            starts.push(total);
            total += self.grid.lows(set).count_ones();
        }
        starts.push(total);
        starts
    }

    /// Returns the entry of a placement. `starts` is asked for the number of regions before a set, in
    /// region-aware tables only; `blank` matters in these only.
    ///
    /// Cost: about 2 ns for the minimum kind and 8 tiles; a flood fill more for the region-aware kind.
    #[inline]
    pub fn entry(&self, cells: &[u8], blank: u8, starts: impl FnOnce(usize) -> u32) -> u64 {
        match self.kind {
            Kind::Minimum | Kind::AllMoves => placement::rank(self.grid.cells(), cells),
            Kind::Regions => {
                let set = cells.iter().fold(0u64, |set, &c| set | 1 << c);
                self.slot_of(set, blank, starts) * lehmer::count(self.k)
                    + arrangement_rank(set, cells)
            }
        }
    }

    /// Returns the number of k! entries of a region-aware table that come before those of a set and the region of
    /// a cell.
    #[inline]
    pub(super) fn slot_of(&self, set: u64, blank: u8, starts: impl FnOnce(usize) -> u32) -> u64 {
        let region = self.grid.region_number(set, usize::from(blank));
        u64::from(starts(self.subsets.rank(set))) + region as u64
    }

    /// Returns all sets of occupied cells, in order.
    pub(crate) fn all_sets(&self) -> impl Iterator<Item = u64> {
        self.subsets.iter()
    }

    /// Returns the regions of a set's free cells: a bit mask of cells each, by their lowest cells.
    pub(crate) fn regions_of(&self, set: u64) -> impl Iterator<Item = u64> {
        let free = self.grid.free(set);
        bits(self.grid.lows(set)).map(move |low| self.grid.region(free, low))
    }

    /// Returns the number of regions of the free cells around a placement, and the number of the one
    /// that a cell lies in.
    pub fn region(&self, cells: &[u8], blank: u8) -> (usize, usize) {
        let set = cells.iter().fold(0u64, |set, &c| set | 1 << c);
        let lows = self.grid.lows(set);
        let region = self.grid.region(self.grid.free(set), usize::from(blank));
        (lows.count_ones() as usize, number(lows, region))
    }

    pub(super) fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns the set of occupied cells with a given rank.
    pub(super) fn set(&self, rank: usize) -> u64 {
        self.subsets.unrank(rank)
    }

    /// Returns the set of occupied cells and the region that a slot of k! entries of a region-aware
    /// table is for; `start(set)` tells the number of regions before a set.
    pub(super) fn slot(&self, slot: u64, start: impl Fn(usize) -> u32) -> (u64, usize) {
        let (mut low, mut high) = (0, self.sets());
        while high - low > 1 {
            let middle = low.midpoint(high);
            if u64::from(start(middle)) <= slot {
                low = middle;
            } else {
                high = middle;
            }
        }
        (self.set(low), slot as usize - start(low) as usize)
    }

    /// Calls `visit(entry, cells, region)` for all entries in order; the region is 0 in tables of the
    /// minimum kind. Cost: about 50 ns an entry.
    pub fn for_each(&self, mut visit: impl FnMut(u64, &[u8], usize)) {
        let mut cells = [0; Pattern::MAX_TILES];
        let cells = &mut cells[..self.k];
        let mut entry = 0;
        match self.kind {
            Kind::Minimum | Kind::AllMoves => {
                let n = self.grid.cells();
                while placement::count(n, self.k).is_some_and(|count| entry < count) {
                    placement::unrank(n, entry, cells);
                    visit(entry, cells, 0);
                    entry += 1;
                }
            }
            Kind::Regions => {
                for set in self.subsets.iter() {
                    let occupied: Vec<u8> = bits(set).map(|c| c as u8).collect();
                    for region in 0..self.grid.lows(set).count_ones() as usize {
                        for rank in 0..lehmer::count(self.k) {
                            lehmer::unrank(rank, cells);
                            for cell in cells.iter_mut() {
                                *cell = occupied[usize::from(*cell)];
                            }
                            visit(entry, cells, region);
                            entry += 1;
                        }
                    }
                }
            }
        }
    }
}

/// The lexicographic rank of the tiles' positions within the occupied cells.
pub(super) fn arrangement_rank(set: u64, cells: &[u8]) -> u64 {
    let mut left = set;
    let mut rank = 0;
    for (radix, &cell) in (1..=cells.len() as u64).rev().zip(cells) {
        let bit = 1u64 << cell;
        rank = rank * radix + u64::from((left & (bit - 1)).count_ones());
        left &= !bit;
    }
    rank
}
