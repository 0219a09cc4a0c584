//! The sets of occupied cells and the tile moves between them, looked up once per build.
//!
//! Invariant: the sets of one colour form a class; every tile move leads from one class to the other.
//! Within a class sets are numbered by increasing bit masks.

use rayon::prelude::*;

use super::Pattern;
use super::grid::{Grid, bits, number};
use crate::perm::kernel::{Move, Moves};
use crate::perm::layout::Layout;
use crate::perm::placement::Subsets;

/// One class of sets.
pub(super) struct Class {
    /// The sets, as masks of cells.
    pub sets: Vec<u64>,
    /// For each set all its region bits.
    pub bits: Vec<u8>,
    /// For each set the number of regions of the sets before it, and their total at the end.
    pub slots: Vec<u32>,
    /// The moves into the sets.
    pub moves: Moves,
}

/// All sets and moves of a pattern's board.
pub(super) struct SetGraph {
    pub grid: Grid,
    pub subsets: Subsets,
    pub classes: [Class; 2],
    /// For each set, by rank among all: its number within its class.
    number: Vec<u32>,
}

impl SetGraph {
    /// Looks up all sets and moves. Cost: about 100 ns per move, and 12 bytes of memory.
    pub fn new(pattern: &Pattern, layout: Layout) -> SetGraph {
        let grid = Grid::new(pattern.size());
        let subsets = Subsets::new(grid.cells(), layout.len()).expect("patterns are small");
        let all: Vec<u64> = subsets.iter().collect();
        let lows: Vec<u64> = all.par_iter().map(|&set| grid.lows(set)).collect();
        let mut sets = [Vec::new(), Vec::new()];
        let number = all.iter().map(|&set| {
            let class = &mut sets[grid.colour(set)];
            class.push(set);
            class.len() as u32 - 1
        });
        let number: Vec<u32> = number.collect();
        let counts = [sets[0].len(), sets[1].len()];
        let finder = Finder {
            grid: &grid,
            layout,
            subsets: &subsets,
            lows: &lows,
            number: &number,
        };
        let mut class = 0;
        let classes = sets.map(|sets| {
            class += 1;
            let lists: Vec<Vec<Move>> = sets
                .par_iter()
                .with_min_len(64)
                .map(|&set| finder.moves(set))
                .collect();
            let regions = sets.iter().map(|&set| lows[subsets.rank(set)].count_ones());
            let regions: Vec<u32> = regions.collect();
            let mut slots = vec![0];
            slots.extend(regions.iter().scan(0, |total, &r| {
                *total += r;
                Some(*total)
            }));
            Class {
                bits: regions.iter().map(|&r| u8::MAX >> (8 - r)).collect(),
                slots,
                moves: Moves::new(layout, counts[2 - class], lists),
                sets,
            }
        });
        SetGraph {
            grid,
            subsets,
            classes,
            number,
        }
    }

    /// The class of a set and its number there.
    #[inline]
    pub fn find(&self, set: u64) -> (usize, usize) {
        (
            self.grid.colour(set),
            self.number[self.subsets.rank(set)] as usize,
        )
    }

    /// The memory of the tables of a pattern with this many sets, in bytes.
    pub fn bytes(sets: u64, tiles: usize) -> u64 {
        // Masks, lows, numbers, slots, flags, and a move of 8 bytes for at most 2.5 free neighbours of
        // each tile, once in a list of its own (with a header) and once in the table.
        sets * (44 + 24 + tiles as u64 * 40)
    }
}

struct Finder<'a> {
    grid: &'a Grid,
    layout: Layout,
    subsets: &'a Subsets,
    lows: &'a [u64],
    number: &'a [u32],
}

impl Finder<'_> {
    /// The moves into a set: a tile on cell x came from the free neighbour y, where the blank is now.
    fn moves(&self, set: u64) -> Vec<Move> {
        let free = self.grid.free(set);
        let lows = self.lows[self.subsets.rank(set)];
        let below = |set: u64, cell: usize| (set & ((1 << cell) - 1)).count_ones() as usize;
        let mut moves = Vec::with_capacity(20);
        // Free neighbours share a region: flood each region once.
        let mut left = free;
        while left != 0 {
            let region = self.grid.region(free, left.trailing_zeros() as usize);
            left &= !region;
            let to = number(lows, region) as u8;
            for x in bits(self.grid.around(region) & set) {
                for y in bits(self.grid.around(1 << x) & region) {
                    let source = set ^ 1 << x ^ 1 << y;
                    let rank = self.subsets.rank(source);
                    let came = self.grid.region(self.grid.free(source), x);
                    let shift = Moves::shift(self.layout, below(source, y), below(set, x));
                    moves.push(Move {
                        source: self.number[rank],
                        shift: shift as u8,
                        from: number(self.lows[rank], came) as u8,
                        to,
                    });
                }
            }
        }
        moves
    }
}
