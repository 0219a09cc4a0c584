//! The cells of a small board: neighbours and regions as bit masks, the order of entries, the graph of slots, and the
//! rules of a pattern with the plain builder.
//!
//! Builds ask a [`SlotGraph`] for slots and their moves; an [`EntryOrder`] gives the entry of a placement, for builds
//! and look-ups alike. [`PatternMoves`] are the moves of one state of a pattern, for the plain builder and for checks.

use std::time::Instant;

use crate::{
    kernel::{SlotMove, SlotMoves},
    pdb::{Kind, Pattern, PdbError},
    perm::{Layout, Subsets, bits, lehmer, placement, set_of},
    progress::{LevelDone, Meter, Phase, Progress},
    puzzle::Size,
    threads::{each_part, map_numbers},
};

// The cells of a small board as bit masks: neighbours, and the regions of the free cells.
//
// Invariant: bit c of a mask represents the row-major cell c. The regions of a set of occupied cells are the connected
// components of the other cells, in the order of their lowest cells.

/// The adjacency of a board of at most 36 cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub cells: usize,
    cols: usize,
    all: u64,
    not_left: u64,
    not_right: u64,
    even: u64,
}

impl Grid {
    pub fn new(size: Size) -> Grid {
        let (cells, cols) = (size.cells(), size.cols());
        let column = |c: usize| {
            let cells = (0..cells).filter(|cell| cell % cols == c);
            cells.fold(0u64, |mask, cell| mask | 1 << cell)
        };
        let all = (1u64 << cells) - 1;
        let even = (0..cells).filter(|c| (c / cols + c % cols) % 2 == 0);
        Grid {
            cells,
            cols,
            all,
            not_left: all & !column(0),
            not_right: all & !column(cols - 1),
            even: even.fold(0, |mask, cell| mask | 1 << cell),
        }
    }

    pub fn free(&self, occupied: u64) -> u64 {
        self.all & !occupied
    }

    /// The free cells of a colour, which is that of a set with one such cell.
    pub fn free_of(&self, occupied: u64, colour: usize) -> u64 {
        let of_colour = if colour == 1 { self.even } else { !self.even };
        self.free(occupied) & of_colour
    }

    /// The colour of a set: the parity of the number of its cells on even squares. Every move of a single tile changes
    /// it.
    pub fn colour(&self, set: u64) -> usize {
        (set & self.even).count_ones() as usize % 2
    }

    /// The cells adjacent to any cell of a set.
    #[inline]
    pub fn around(&self, set: u64) -> u64 {
        let sideways = (set & self.not_right) << 1 | (set & self.not_left) >> 1;
        (sideways | set << self.cols | set >> self.cols) & self.all
    }

    /// The region that contains a free cell.
    #[inline]
    pub fn region(&self, free: u64, cell: usize) -> u64 {
        let mut region = 1u64 << cell;
        loop {
            let grown = (region | self.around(region)) & free;
            if grown == region {
                return region;
            }
            region = grown;
        }
    }

    /// The lowest cells of all regions of a set of occupied cells.
    pub fn lows(&self, occupied: u64) -> u64 {
        let mut left = self.free(occupied);
        let mut lows = 0;
        while left != 0 {
            let low = left & left.wrapping_neg();
            lows |= low;
            left &= !self.region(left, low.trailing_zeros() as usize);
        }
        lows
    }

    /// The number of the region that contains a free cell.
    pub fn region_number(&self, occupied: u64, cell: usize) -> usize {
        let lows = self.lows(occupied);
        number(lows, self.region(self.free(occupied), cell))
    }
}

/// The number of a region, given the lowest cells of all regions.
#[inline]
fn number(lows: u64, region: u64) -> usize {
    let low = region & region.wrapping_neg();
    (lows & low.wrapping_sub(1)).count_ones() as usize
}

// The entry order of the files: which entry of a table belongs to a placement.
//
// Invariant: tiles are taken in increasing order, and cells are row-major. In a table with the minimum over the blank,
// the entry of a placement is its lexicographic rank; the same holds if every move counts, where the blank is the first
// tile. In a region-aware table, the sets of occupied cells are in the order of increasing bit masks; for each set, its
// regions are in the order of their lowest cells; and for each region, the k! arrangements are in lexicographic order
// of the tiles' positions within the set.

/// The entry order of a pattern's table.
#[derive(Clone, Debug)]
pub struct EntryOrder {
    pub(crate) grid: Grid,
    kind: Kind,
    subsets: Subsets,
}

impl EntryOrder {
    /// Returns the entry order of a pattern.
    pub fn new(pattern: &Pattern, kind: Kind) -> EntryOrder {
        let grid = Grid::new(pattern.size());
        let subsets = Subsets::new(grid.cells, pattern.tiles().len()).expect("patterns are small");
        EntryOrder { grid, kind, subsets }
    }

    /// Returns the number of sets of occupied cells, N choose k.
    pub fn sets(&self) -> usize {
        self.subsets.count()
    }

    /// Returns, for each set, the number of regions of all preceding sets, followed by the total. Cost: one flood fill
    /// per set, about 100 ns.
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

    /// Returns the entry of a placement. `starts` returns the number of regions that precede a set; it and `blank` are
    /// used for region-aware tables only.
    ///
    /// Cost: about 2 ns for the minimum kind and 8 tiles; one flood fill more for the region-aware kind.
    #[inline]
    pub fn entry(&self, cells: &[u8], blank: u8, starts: impl FnOnce(usize) -> u32) -> u64 {
        match self.kind {
            Kind::Minimum | Kind::AllMoves => placement::rank(self.grid.cells, cells),
            Kind::Regions => {
                let set = set_of(cells);
                self.slot_of(set, blank, starts) * lehmer::count(self.subsets.k)
                    + arrangement_rank(set, cells)
            }
        }
    }

    /// Returns the number of groups of k! entries of a region-aware table that precede those of a set and the region of
    /// a cell.
    #[inline]
    pub(crate) fn slot_of(&self, set: u64, blank: u8, starts: impl FnOnce(usize) -> u32) -> u64 {
        let region = self.grid.region_number(set, usize::from(blank));
        u64::from(starts(self.subsets.rank(set))) + region as u64
    }

    /// Returns all sets of occupied cells, in order.
    pub(crate) fn all_sets(&self) -> impl Iterator<Item = u64> {
        self.subsets.iter()
    }

    /// Returns the regions of a set's free cells as bit masks, in the order of their lowest cells.
    pub(crate) fn regions_of(&self, set: u64) -> impl Iterator<Item = u64> {
        let free = self.grid.free(set);
        bits(self.grid.lows(set)).map(move |low| self.grid.region(free, low))
    }

    /// Returns the number of regions of the free cells around a placement, and the number of the region that contains a
    /// cell.
    pub fn region(&self, cells: &[u8], blank: u8) -> (usize, usize) {
        let set = set_of(cells);
        let regions = self.grid.lows(set).count_ones() as usize;
        (regions, self.grid.region_number(set, usize::from(blank)))
    }
}

/// The lexicographic rank of the positions of tiles, or of the first of them, within the occupied cells.
#[inline]
pub(crate) fn arrangement_rank(set: u64, cells: &[u8]) -> u64 {
    let (mut left, mut rank) = (set, 0);
    for (radix, &cell) in (1..=u64::from(set.count_ones())).rev().zip(cells) {
        let bit = 1u64 << cell;
        rank = rank * radix + u64::from((left & (bit - 1)).count_ones());
        left &= !bit;
    }
    rank
}

// The slots of a pattern's board and the moves between them.
//
// Invariant: a slot is a set of occupied cells and a place of the blank: a region if only the moves of the tiles count,
// a cell if all moves count. Every move that counts leads from one class of slots to the other, because it changes the
// colour of the set or of the blank's cell. Within a class, slots are numbered by increasing sets, then by the lowest
// cells of the places.

/// All slots of a pattern's board.
pub(crate) struct SlotGraph {
    pub grid: Grid,
    pub subsets: Subsets,
    pub layout: Layout,
    /// For each set, the lowest cells of its regions; `None` if the blank's cell counts.
    lows: Option<Vec<u64>>,
    /// For each class, the number of slots of all sets that precede each set, followed by the total.
    pub starts: [Vec<u32>; 2],
}

impl SlotGraph {
    /// Builds the lists of all slots: of regions, or of cells if every move counts. Cost: about 100 ns per set.
    pub fn new(pattern: &Pattern, layout: Layout, kind: Kind) -> SlotGraph {
        let grid = Grid::new(pattern.size());
        let subsets = Subsets::new(grid.cells, layout.len()).expect("patterns are small");
        let all: Vec<u64> = subsets.iter().collect();
        let lows: Option<Vec<u64>> = (kind != Kind::AllMoves).then(|| {
            let mut lows = all.clone();
            each_part(&mut lows, 1 << 12, &|_, part| {
                part.iter_mut().for_each(|set| *set = grid.lows(*set));
            });
            lows
        });
        let mut graph = SlotGraph { grid, subsets, layout, lows, starts: Default::default() };
        graph.starts = [0, 1].map(|class| {
            let mut slots = 0;
            let mut starts = vec![0];
            starts.extend(all.iter().enumerate().map(|(rank, &set)| {
                slots += graph.places(rank, set, class).count_ones();
                slots
            }));
            starts
        });
        graph
    }

    /// The places of the blank in the slots of a class with a set, each as its lowest cell.
    fn places(&self, rank: usize, set: u64, class: usize) -> u64 {
        match &self.lows {
            Some(lows) if self.grid.colour(set) == class => lows[rank],
            Some(_) => 0,
            None => self.grid.free_of(set, class),
        }
    }

    /// The size in bytes of the tables for these numbers of sets and slots, without the words; `tiles` tiles have up to
    /// 2.5 moves each.
    pub fn bytes(sets: u64, slots: u64, tiles: usize) -> u64 {
        // Two numbers and a mask per set. A move of 8 bytes twice, once of these in its own list with a header; for
        // each slot, two masks and the end of its moves.
        32 * sets + slots * (24 + 20 + 40 * tiles as u64)
    }

    pub fn slots(&self, class: usize) -> usize {
        self.starts[class].last().map_or(0, |&slots| slots as usize)
    }

    /// The class of the slot with a set and a free cell, and its number there.
    pub fn find(&self, set: u64, cell: usize) -> (usize, usize) {
        let rank = self.subsets.rank(set);
        let (class, before) = match &self.lows {
            Some(lows) => {
                let region = self.grid.region(self.grid.free(set), cell);
                (self.grid.colour(set), number(lows[rank], region))
            }
            None => {
                let class = self.grid.colour(1 << cell);
                let below = self.grid.free_of(set, class) & ((1 << cell) - 1);
                (class, below.count_ones() as usize)
            }
        };
        (class, self.starts[class][rank] as usize + before)
    }

    /// The moves into all slots of a class. Cost: about 100 ns per move.
    pub fn moves(&self, class: usize) -> SlotMoves {
        const SETS: usize = 64;
        let count = self.subsets.count();
        let lists = map_numbers(count.div_ceil(SETS), &|part| -> Vec<Vec<SlotMove>> {
            let ranks = part * SETS..count.min((part + 1) * SETS);
            let moves = ranks.flat_map(|rank| {
                let set = self.subsets.unrank(rank);
                let free = self.grid.free(set);
                bits(self.places(rank, set, class)).map(move |low| match self.lows {
                    Some(_) => self.moves_of(set, self.grid.region(free, low)),
                    None => self.moves_of(set, 1 << low),
                })
            });
            moves.collect()
        });
        let lists: Vec<Vec<SlotMove>> = lists.into_iter().flatten().collect();
        SlotMoves::new(self.layout, self.slots(1 - class), lists)
    }

    /// The moves into a set with the blank anywhere in a place: a tile on cell x came from a neighbouring cell y, where
    /// the blank is now; before the move, x was the free cell.
    fn moves_of(&self, set: u64, place: u64) -> Vec<SlotMove> {
        let below = |set: u64, cell: usize| (set & ((1 << cell) - 1)).count_ones() as usize;
        let mut moves = Vec::with_capacity(8);
        let mut came = |from: u64, blank: usize, shift: usize| {
            let source = self.find(from, blank).1 as u32;
            moves.push(SlotMove { source, shift: shift as u8 });
        };
        for x in bits(self.grid.around(place) & set) {
            for y in bits(self.grid.around(1 << x) & place) {
                let source = set ^ 1 << x ^ 1 << y;
                let shift = SlotMoves::shift(self.layout, below(source, y), below(set, x));
                came(source, x, shift);
            }
        }
        if self.lows.is_none() {
            // The other tiles look alike.
            bits(self.grid.around(place) & !set).for_each(|near| came(set, near, 0));
        }
        moves
    }
}

// The rules of a pattern, and the plain builder, which searches breadth first, one state at a time. It works for any
// pattern, is slow, and is the oracle of the tests.
//
// Invariant: the value of a state is the length of its shortest path to the goal, where only moves that count have
// length. The builder shares nothing with the fast one.

/// The value of an entry that no board reaches.
pub(crate) const UNREACHED: u8 = u8::MAX;

/// A state: the tiles' cells, and the lowest cell of the blank's region, or, if every move counts, the blank's own
/// cell.
pub(crate) type PatternState = ([u8; Pattern::MAX_TILES], u8);

/// The rules for what counts as a move.
pub(crate) struct PatternMoves<'a> {
    pub pattern: &'a Pattern,
    pub kind: Kind,
    pub grid: Grid,
}

impl<'a> PatternMoves<'a> {
    pub fn new(pattern: &'a Pattern, kind: Kind) -> PatternMoves<'a> {
        PatternMoves { pattern, kind, grid: Grid::new(pattern.size()) }
    }

    /// The tiles' cells of a state.
    pub fn cells<'b>(&self, state: &'b PatternState) -> &'b [u8] {
        &state.0[..self.pattern.tiles().len()]
    }

    /// The state with a placement and the blank's cell.
    pub fn state(&self, cells: &[u8], blank: u8) -> PatternState {
        let mut padded = [0; Pattern::MAX_TILES];
        padded[..cells.len()].copy_from_slice(cells);
        if self.kind == Kind::AllMoves {
            return (padded, blank);
        }
        let region = self.grid.region(self.grid.free(set_of(cells)), usize::from(blank));
        (padded, region.trailing_zeros() as u8)
    }

    pub fn goal(&self) -> PatternState {
        self.state(self.pattern.home(), self.pattern.goal().blank() as u8)
    }

    /// Calls `visit` for each state that is one move away.
    pub fn each(&self, state: &PatternState, mut visit: impl FnMut(PatternState)) {
        let (mut cells, blank) = (state.0, state.1);
        let cells = &mut cells[..self.pattern.tiles().len()];
        if self.kind == Kind::AllMoves {
            // The blank changes places with an adjacent tile; it is itself the first of the cells.
            for near in bits(self.grid.around(1 << blank)) {
                let near = near as u8;
                let moved: Vec<u8> = cells
                    .iter()
                    .map(|&cell| match cell {
                        cell if cell == blank => near,
                        cell if cell == near => blank,
                        cell => cell,
                    })
                    .collect();
                visit(self.state(&moved, near));
            }
            return;
        }
        let region = self.grid.region(self.grid.free(set_of(cells)), usize::from(blank));
        for x in 0..cells.len() {
            let from = cells[x];
            for to in bits(self.grid.around(1 << from) & region) {
                cells[x] = to as u8;
                visit(self.state(cells, from));
            }
            cells[x] = from;
        }
    }
}

/// Fills `values` (one byte per entry, in entry order) and returns the histogram.
///
/// Cost: about 200 ns of one core per entry per tile; 9 bytes of memory per entry per region.
pub(crate) fn build_plain(
    pattern: &Pattern,
    kind: Kind,
    values: &mut [u8],
    observer: &dyn Progress,
) -> Result<Vec<u64>, PdbError> {
    let moves = PatternMoves::new(pattern, kind);
    let entries = EntryOrder::new(pattern, kind);
    // States are numbered like the entries of a region-aware table, even if they share entries.
    let (states, starts, count) = match kind {
        Kind::AllMoves => (entries.clone(), Vec::new(), values.len()),
        Kind::Minimum | Kind::Regions => {
            let states = EntryOrder::new(pattern, Kind::Regions);
            let starts = states.region_starts();
            let slots = *starts.last().unwrap_or(&0) as usize;
            (states, starts, slots * lehmer::count(pattern.tiles().len()) as usize)
        }
    };
    let number = |order: &EntryOrder, state: &PatternState| {
        order.entry(moves.cells(state), state.1, |set| starts[set]) as usize
    };
    values.fill(UNREACHED);
    let mut seen = vec![false; count];
    let mut level = vec![moves.goal()];
    seen[number(&states, &level[0])] = true;
    let mut histogram = Vec::new();
    while !level.is_empty() {
        let (begun, depth) = (Instant::now(), histogram.len());
        if depth >= usize::from(UNREACHED) {
            return Err(PdbError::value(usize::from(UNREACHED) - 1));
        }
        let (mut next, mut found) = (Vec::new(), 0);
        let before = histogram.iter().sum();
        let meter = Meter::new(observer, Phase::Search(depth), before, values.len() as u64);
        for part in level.chunks(1 << 16) {
            meter.go_on()?;
            let mut new = 0;
            for state in part {
                let entry = number(&entries, state);
                if values[entry] == UNREACHED {
                    values[entry] = depth as u8;
                    new += 1;
                }
                moves.each(state, |state| {
                    if !std::mem::replace(&mut seen[number(&states, &state)], true) {
                        next.push(state);
                    }
                });
            }
            meter.count(new);
            found += new;
        }
        if found > 0 {
            let seconds = begun.elapsed().as_secs_f64();
            observer.level(&LevelDone { depth, states: found, seconds });
        }
        histogram.push(found);
        level = next;
    }
    while histogram.last() == Some(&0) {
        histogram.pop();
    }
    Ok(histogram)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(rows: usize, cols: usize) -> Grid {
        Grid::new(Size::new(rows, cols).unwrap())
    }

    #[test]
    fn regions_are_numbered_by_their_lowest_cells() {
        // . 1 . .      region 0: cell 0; region 1: cells 2, 3, 7, 11, 10, 9, ..
        // 4 . . .
        let grid = grid(3, 4);
        let occupied = 1 << 1 | 1 << 4 | 1 << 6;
        assert_eq!(grid.lows(occupied), 0b101);
        assert_eq!(grid.region(grid.free(occupied), 0), 1);
        assert_eq!(grid.region_number(occupied, 0), 0);
        assert_eq!(grid.region_number(occupied, 5), 1);
    }

    /// A byte can hold the number of a region: eight tiles never divide a board of up to 6x6 into more than eight
    /// regions.
    #[test]
    fn eight_tiles_leave_at_most_eight_regions() {
        let small = [(2, 6), (3, 3), (3, 4), (3, 5), (3, 6), (4, 4), (4, 5)];
        for (rows, cols) in small.into_iter().chain([(4, 6), (5, 5), (5, 6), (6, 6)]) {
            let grid = grid(rows, cols);
            let n = rows * cols;
            for k in 1..=8.min(n - 1) {
                let most = Subsets::new(n, k).unwrap().iter().map(|s| grid.lows(s).count_ones());
                assert!(most.max().unwrap() <= 8, "{rows}x{cols} {k}");
            }
        }
    }
}
