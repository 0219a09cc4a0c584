//! The table of a pattern space: the depth of every state, as a database in which every move counts.
//!
//! Invariant: the search starts from the goal's own state, pattern and blank at home, so a depth is a lower bound on the
//! moves of any board with that pattern.
//!
//! Source: J. Culberson and J. Schaeffer, Pattern databases, Computational Intelligence 14 (1998): the fringe.

use std::sync::Mutex;

use rayon::prelude::*;

use crate::kernel::Word;
use crate::pdb::all_moves::{BlankSets, Depths, Space, TakeStates};
use crate::pdb::build::Build;
use crate::pdb::error::{Meter, pool};
use crate::pdb::file_order::ArrangementOrder;
use crate::pdb::header::Summary;
use crate::pdb::oracle::UNREACHED;
use crate::pdb::regions::{Grid, bits};
use crate::pdb::slots::{stretch_slots, unit};
use crate::pdb::{Encoding, Kind, Pattern, Pdb, PdbError};
use crate::perm::layout::{Layout, Register};
use crate::perm::{lehmer, placement};
use crate::progress::{Phase, Progress};
use crate::store::{Array, FileHeader as _, Image};

/// Most depths of a table: a byte each, and one for what is not reached.
const MAX_DEPTH: usize = 254;

/// Builds the table of a pattern with the blank by a plain search over single states, which shares nothing with the fast one
/// and takes fewer than five tiles, too; all entries are [`UNREACHED`] before. Returns the histogram.
pub(crate) fn plain(
    pattern: &Pattern,
    entries: &mut [u8],
    observer: &dyn Progress,
) -> Result<Vec<u64>, PdbError> {
    let grid = Grid::new(pattern.size());
    let (n, k) = (grid.cells(), pattern.tiles().len());
    let first = placement::rank(n, pattern.home());
    entries[first as usize] = 0;
    let (mut level, mut histogram) = (vec![first], Vec::new());
    let mut cells = [0u8; Pattern::MAX_TILES];
    while !level.is_empty() {
        let depth = histogram.len();
        if depth > MAX_DEPTH {
            return Err(PdbError::ValueTooLarge { max: MAX_DEPTH });
        }
        observer.progress(Phase::Search(depth), histogram.iter().sum(), entries.len() as u64);
        if observer.interrupted() {
            return Err(PdbError::Interrupted);
        }
        let mut next = Vec::new();
        for &entry in &level {
            placement::unrank(n, entry, &mut cells[..k]);
            let blank = cells[0];
            for near in bits(grid.around(1 << blank)) {
                let near = near as u8;
                let moved = cells.map(|cell| match cell {
                    cell if cell == blank => near,
                    cell if cell == near => blank,
                    cell => cell,
                });
                let rank = placement::rank(n, &moved[..k]);
                if entries[rank as usize] == UNREACHED {
                    entries[rank as usize] = depth as u8 + 1;
                    next.push(rank);
                }
            }
        }
        histogram.push(level.len() as u64);
        level = next;
    }
    Ok(histogram)
}

impl Space {
    /// Returns the space that a build of kind [`Kind::AllMoves`] is about; its pattern may have the blank or not.
    pub(crate) fn of_build(build: &Build) -> Result<Space, PdbError> {
        Ok(Space {
            kernel: build.kernel,
            threads: build.threads,
            memory: build.memory,
            ..Space::new(build.pattern.without_blank()?)
        })
    }

    /// Returns the bytes of memory that [`Space::build`] takes. Cost: a look at each set of cells.
    ///
    /// # Errors
    /// [`PdbError::ShortSpace`], [`PdbError::PatternLength`].
    pub fn build_bytes(&self) -> Result<u64, PdbError> {
        let entries = self.pattern.with_blank()?.placements();
        Ok(self.goal_search().memory_bytes()? + entries / 60 * 64 + entries)
    }

    /// Searches from the goal's own state, whatever [`Space::blank`] is; returns the depths and the database of them, of kind
    /// [`Kind::AllMoves`] and a byte an entry. Cost: the search, and about 10 ns an entry on one core.
    ///
    /// # Errors
    /// As [`Space::run`], and [`PdbError::PatternLength`] for eight tiles: the blank is one more.
    pub fn build(&self, observer: &dyn Progress) -> Result<(Depths, Pdb), PdbError> {
        let pattern = self.pattern.with_blank()?;
        let layout = self.layout()?;
        self.fits(self.build_bytes()?)?;
        let kernel = self.checked_kernel()?;
        let space = self.goal_search();
        pool(self.threads)?.install(|| {
            let sets = BlankSets::new(&self.pattern, layout);
            let unit = unit(layout);
            let array = |class: usize| Array::zeroed((sets.slots(class) * unit) as u64);
            let mut values = [array(0)?, array(1)?];
            space.mark_goal(&sets, layout, &mut values);
            let parts = [0, 1].map(|class: usize| stretch_slots(layout, sets.slots(class)) * unit);
            let [low, high] = &mut values;
            let parts = [(low, parts[0]), (high, parts[1])].map(|(values, registers)| {
                let parts = values.units_mut().chunks_mut(registers).map(Mutex::new);
                parts.collect::<Vec<_>>()
            });
            let take: &TakeStates<'_> = &|class, depth, number, states, words| {
                if states > 0 {
                    let mut part = parts[class][number].lock().unwrap_or_else(|e| e.into_inner());
                    write(&mut part, words, depth);
                }
                Ok(())
            };
            let found = space.search(&sets, kernel, Some(take), observer)?;
            drop(parts);
            if found.counts.len() > MAX_DEPTH + 1 {
                return Err(PdbError::ValueTooLarge { max: MAX_DEPTH });
            }
            let header = header(pattern, found.counts.clone());
            let data = header.layout().data;
            let mut image = Image::zeroed(data.end())?;
            let order = PlacementOrder::new(&self.pattern, layout);
            order.write(&sets, &values, data.of_mut(image.bytes_mut()), observer)?;
            Ok((found, Pdb::finish(image, header)))
        })
    }

    /// Returns the database of any pattern of up to seven tiles, by a plain search.
    pub(crate) fn build_plain(&self, observer: &dyn Progress) -> Result<Pdb, PdbError> {
        let mut header = header(self.pattern.with_blank()?, vec![0]);
        let data = header.layout().data;
        let mut image = Image::zeroed(data.end())?;
        let entries = data.of_mut(image.bytes_mut());
        entries.fill(UNREACHED);
        header.histogram = plain(&header.pattern, entries, observer)?;
        Ok(Pdb::finish(image, header))
    }

    /// Writes the goal's own depth, plus one.
    fn mark_goal(&self, sets: &BlankSets, layout: Layout, values: &mut [Array; 2]) {
        let home = self.pattern.home();
        let set = home.iter().fold(0u64, |set, &cell| set | 1 << cell);
        let (class, slot) = sets.find(set, self.pattern.goal().blank());
        let mut tiles: Vec<u8> = (0..home.len() as u8).collect();
        tiles.sort_by_key(|&t| home[usize::from(t)]);
        let place = layout.place(&tiles);
        let register = place.block * layout.slice_registers() + layout.in_slice(place);
        values[class].units_mut()[slot * unit(layout) + register][place.lane] = 1;
    }

    /// The search from the goal alone, to its end.
    fn goal_search(&self) -> Space {
        Space { blank: Some(self.pattern.goal().blank() as u8), max_depth: None, ..self.clone() }
    }
}

/// Writes a depth, plus one, where words have bits. Depths that do not fit are seen when the search is over.
fn write(values: &mut [Register], words: &[Word], depth: usize) {
    for (values, &word) in values.iter_mut().zip(words) {
        for lane in bits(u64::from_le_bytes(word)) {
            values[lane] = (depth + 1) as u8;
        }
    }
}

/// The header of a table, without checksums.
fn header(pattern: Pattern, histogram: Vec<u64>) -> Summary {
    Summary {
        entries: pattern.placements(),
        histogram,
        kind: Kind::AllMoves,
        encoding: Encoding::Byte,
        compressed: false,
        checksum: 0,
        starts_checksum: 0,
        stored_bytes: pattern.placements(),
        pattern,
    }
}

/// From arrangements of the tiles on sets of cells to placements of the blank and the tiles.
struct PlacementOrder {
    /// Where a slot has each arrangement, and the registers of a slot.
    gather: ArrangementOrder,
    unit: usize,
    /// Cells that the blank leaves.
    cells: usize,
    k: usize,
    /// What a cell of each tile counts.
    weights: Vec<u64>,
    /// For each arrangement the tiles' positions in the set, and what the tiles before each one take off.
    positions: Vec<[u8; Pattern::MAX_TILES]>,
    less: Vec<u64>,
}

impl PlacementOrder {
    fn new(pattern: &Pattern, layout: Layout) -> PlacementOrder {
        let (cells, k) = (pattern.size().cells() - 1, pattern.tiles().len());
        let weight = |i: usize| (i + 1..k).map(|j| (cells - j) as u64).product();
        let weights: Vec<u64> = (0..k).map(weight).collect();
        let mut positions = vec![[0; Pattern::MAX_TILES]; lehmer::count(k) as usize];
        let mut less = Vec::with_capacity(positions.len());
        for (rank, line) in (0..).zip(&mut positions) {
            lehmer::unrank(rank, &mut line[..k]);
            let before = |i: usize| line[..i].iter().filter(|&&p| p < line[i]).count() as u64;
            less.push((0..k).map(|i| before(i) * weights[i]).sum());
        }
        PlacementOrder {
            gather: ArrangementOrder::new(layout),
            unit: unit(layout),
            cells,
            k,
            weights,
            positions,
            less,
        }
    }

    /// Writes all entries: those of each cell of the blank, in turn, are a part of the table.
    fn write(
        &self,
        sets: &BlankSets,
        values: &[Array; 2],
        entries: &mut [u8],
        observer: &dyn Progress,
    ) -> Result<(), PdbError> {
        let part = placement::count(self.cells, self.k).unwrap_or(0) as usize;
        let all: Vec<u64> = sets.subsets.iter().collect();
        let free = |set: u64| (self.cells + 1 - set.count_ones() as usize) as u64;
        let total = all.iter().map(|&set| free(set)).sum();
        let meter = Meter::new(observer, Phase::Order, 0, total);
        let parts = entries.par_chunks_mut(part).enumerate();
        parts.try_for_each(|(blank, entries)| {
            let mut depths = vec![0; self.positions.len()];
            for &set in all.iter().filter(|&&set| set >> blank & 1 == 0) {
                let (class, slot) = sets.find(set, blank);
                let from = &values[class].units()[slot * self.unit..][..self.unit];
                let from = from.as_flattened();
                for (depth, &source) in depths.iter_mut().zip(&self.gather.source) {
                    *depth = from[usize::from(source)].wrapping_sub(1);
                }
                self.put(set, blank, &depths, entries);
                meter.add(1)?;
            }
            Ok(())
        })
    }

    /// Writes the depths of a set's arrangements around the blank.
    fn put(&self, set: u64, blank: usize, depths: &[u8], entries: &mut [u8]) {
        // What a tile on the set's p-th cell counts, the blank's cell left out.
        let mut counts = [[0; Pattern::MAX_TILES]; Pattern::MAX_TILES];
        for (p, cell) in bits(set).enumerate() {
            let cell = (cell - usize::from(cell > blank)) as u64;
            for (i, weight) in self.weights.iter().enumerate() {
                counts[i][p] = cell * weight;
            }
        }
        let arrangements = self.positions.iter().zip(&self.less);
        for ((positions, less), &depth) in arrangements.zip(depths) {
            let tiles = counts.iter().zip(&positions[..self.k]);
            let entry: u64 = tiles.map(|(counts, &p)| counts[usize::from(p)]).sum();
            entries[(entry - less) as usize] = depth;
        }
    }
}
