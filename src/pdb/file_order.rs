//! Converts the engine's order of arrangements into the entry order of the files.
//!
//! Invariant: all steps read and write within the caches. First, every slot's k! values are brought into the
//! lexicographic order of the tiles' positions, with one fixed table; with one bit per entry, 64 slots are transposed
//! at once. A region-aware file stores them slot by slot. In a file by placements, the arrangements that agree in the
//! positions of the first tiles are contiguous: a **run** of t! values for the last t tiles. A **block** of the file
//! (all placements that agree in the cells of the first k - t tiles) is then a union of runs, one from each set that
//! contains these cells. Where a run's values go within a block depends only on which of the free cells the last tiles
//! occupy: again one fixed table.

use rayon::prelude::*;

use crate::{
    bits::{bits, set_of, transpose},
    kernel::Word,
    pdb::{Meter, PdbError, SlotGraph, slots::unit},
    perm::{Layout, REGISTER_BYTES, Register, Subsets, lehmer, placement},
};

/// Number of slots whose bits are transposed at once.
pub(crate) const SLOTS: usize = 64;

/// Number of slots whose values are assembled at once, in the order of the file.
pub(crate) const WINDOW: usize = 16 * SLOTS;

/// Number of bytes that 16-bit tables can address: buffers of this size need no bounds checks.
const REACH: usize = 1 << 16;

/// Maximum size of a block of the file: a quarter of a megabyte, so that it stays in the private caches.
const BLOCK: usize = 1 << 18;

/// Where the engine stores the arrangements of a slot, listed in lexicographic order of the tiles' positions.
pub(crate) struct ArrangementOrder {
    /// For each arrangement, its byte in the slot's registers.
    source: Vec<u16>,
    registers: usize,
}

/// The buffers in which a thread orders the bits of slots: lanes, and the lanes in order.
pub(crate) type BitBuffers = [Vec<u64>; 2];

impl ArrangementOrder {
    pub fn new(layout: Layout) -> ArrangementOrder {
        let k = layout.len();
        let mut source = Vec::with_capacity(lehmer::count(k) as usize);
        for rank in 0..lehmer::count(k) {
            let (mut positions, mut line) = ([0; Layout::MAX_SLICED], [0; Layout::MAX_SLICED]);
            lehmer::unrank(rank, &mut positions[..k]);
            for (tile, &position) in positions[..k].iter().enumerate() {
                line[usize::from(position)] = tile as u8;
            }
            let place = layout.place(&line[..k]);
            let register = place.block * layout.slice_registers() + layout.in_slice(place);
            source.push((register * REGISTER_BYTES + place.lane) as u16);
        }
        ArrangementOrder { source, registers: unit(layout) }
    }

    /// The number of arrangements of a slot.
    pub fn len(&self) -> usize {
        self.source.len()
    }

    /// A buffer for [`ArrangementOrder::line`].
    pub fn buffer() -> Box<[u8; REACH]> {
        vec![0; REACH].try_into().expect("a buffer has its length")
    }

    /// Writes the values of slot `slot` of a class in order, and converts levels plus one into levels.
    pub fn line(&self, class: &[Register], slot: usize, buffer: &mut [u8; REACH], to: &mut [u8]) {
        let from = class[slot * self.registers..][..self.registers].as_flattened();
        buffer[..from.len()].copy_from_slice(from);
        for (to, &source) in to.iter_mut().zip(&self.source) {
            *to = buffer[usize::from(source)].wrapping_sub(1);
        }
    }

    pub fn bit_buffers(&self) -> BitBuffers {
        // 64 words per register, of which 60 are lanes.
        [vec![0; self.registers * REGISTER_BYTES], vec![0; self.len().next_multiple_of(64)]]
    }

    /// Writes the entries of at most 64 slots, one bit each, from the given words. Squares of 64 by 64 bits are
    /// transposed, so that a word holds one arrangement's bits for all slots; the words are ordered, and the squares
    /// are transposed back. About 10 ps of a core per bit.
    pub fn bits(&self, slots: &[&[Word]], buffers: &mut BitBuffers, entries: &mut [u8]) {
        let [lanes, ordered] = buffers;
        for (register, square) in lanes.as_chunks_mut::<64>().0.iter_mut().enumerate() {
            for (row, words) in square.iter_mut().zip(slots) {
                *row = u64::from_le_bytes(words[register]);
            }
            square[slots.len()..].fill(0);
            transpose(square);
        }
        for (to, &source) in ordered.iter_mut().zip(&self.source) {
            *to = lanes[usize::from(source)];
        }
        for (i, square) in ordered.as_chunks_mut::<64>().0.iter_mut().enumerate() {
            transpose(square);
            for (row, entries) in square.iter().zip(entries.chunks_exact_mut(self.len() / 8)) {
                let bytes = &mut entries[8 * i..];
                let len = bytes.len().min(8);
                bytes[..len].copy_from_slice(&row.to_le_bytes()[..len]);
            }
        }
    }
}

/// The class and number of every region slot, in the order of the file.
pub(crate) fn slots_in_order(graph: &SlotGraph) -> Vec<(usize, usize)> {
    let mut slots = Vec::new();
    for set in 0..graph.subsets.count() {
        for (class, starts) in graph.starts.iter().enumerate() {
            slots.extend((starts[set]..starts[set + 1]).map(|slot| (class, slot as usize)));
        }
    }
    slots
}

/// Writes the values of some slots, each given by its class and its number there, one after the other.
pub(crate) fn lines(
    order: &ArrangementOrder,
    slots: &[(usize, usize)],
    classes: [&[Register]; 2],
    lines: &mut [u8],
    meter: &Meter<'_>,
) -> Result<(), PdbError> {
    let lines = lines.par_chunks_mut(order.len()).zip(slots);
    lines.try_for_each_init(ArrangementOrder::buffer, |buffer, (line, &(class, slot))| {
        order.line(classes[class], slot, buffer, line);
        meter.add(line.len() as u64)
    })
}

/// Writes the bits of some slots, whose words are given by `words`, one after the other.
pub(crate) fn bits_by_slots<'a>(
    order: &ArrangementOrder,
    slots: &[(usize, usize)],
    words: impl Fn((usize, usize)) -> &'a [Word] + Sync,
    entries: &mut [u8],
    meter: &Meter<'_>,
) -> Result<(), PdbError> {
    let pieces = entries.par_chunks_mut(SLOTS * order.len() / 8).zip(slots.par_chunks(SLOTS));
    pieces.try_for_each_init(
        || order.bit_buffers(),
        |buffers, (entries, slots)| {
            let rows: Vec<&[Word]> = slots.iter().map(|&slot| words(slot)).collect();
            order.bits(&rows, buffers, entries);
            meter.add(slots.len() as u64)
        },
    )
}

/// The last tiles of a placement, whose values a run holds.
struct Tail {
    /// The number of tiles, t.
    tiles: usize,
    /// The number of values of a run, t!.
    run: usize,
    /// The number of values of a block: placements of t tiles on the cells that the first tiles leave free.
    block: usize,
    /// The t-subsets of these cells, in lexicographic order; unused elements hold the number of cells.
    subsets: Vec<[u8; 4]>,
    /// For each of them, where the values of its run go.
    places: Vec<u32>,
}

impl Tail {
    /// The longest tail of at most four of k tiles on n cells whose blocks fit in a buffer.
    fn new(n: usize, k: usize) -> Tail {
        let block = |tiles: usize| {
            let size = placement::count(n - (k - tiles), tiles);
            size.and_then(|size| usize::try_from(size).ok()).unwrap_or(usize::MAX)
        };
        let tiles = (1..=4.min(k - 1)).rfind(|&tiles| block(tiles) <= BLOCK).unwrap_or(1);
        let left = n - (k - tiles);
        let run = lehmer::count(tiles) as usize;
        let (mut subsets, mut places) = (Vec::new(), Vec::with_capacity(block(tiles)));
        let mut subset = [0, 1, 2, 3].map(|i| if i < tiles { i as u8 } else { left as u8 });
        loop {
            subsets.push(subset);
            for rank in 0..run as u64 {
                let mut order = [0; 4];
                lehmer::unrank(rank, &mut order[..tiles]);
                let cells = order.map(|position| subset[usize::from(position)]);
                places.push(placement::rank(left, &cells[..tiles]) as u32);
            }
            // The next one in lexicographic order.
            let may_grow = |&i: &usize| usize::from(subset[i]) < left - tiles + i;
            let Some(i) = (0..tiles).rfind(may_grow) else { break };
            subset[i] += 1;
            for j in i + 1..tiles {
                subset[j] = subset[j - 1] + 1;
            }
        }
        Tail { tiles, run, block: block(tiles), subsets, places }
    }
}

/// Writes the entries of a table by placements, from the values of all sets of cells in order.
pub(crate) fn by_placements(
    subsets: &Subsets,
    lines: &[u8],
    entries: &mut [u8],
    meter: &Meter<'_>,
) -> Result<(), PdbError> {
    let (n, k) = (subsets.n, subsets.k);
    let tail = Tail::new(n, k);
    let head = k - tail.tiles;
    // Blocks that share all cells of the head but the last share sources, so they form one job.
    let per_job = n - head + 1;
    let jobs = entries.par_chunks_mut(tail.block * per_job).enumerate();
    jobs.try_for_each_init(
        || -> Box<[u8; BLOCK]> { vec![0; BLOCK].try_into().expect("a buffer has its length") },
        |buffer, (job, entries)| {
            let written = entries.len() as u64;
            for (i, entries) in entries.chunks_mut(tail.block).enumerate() {
                let mut cells = [0; Layout::MAX_SLICED];
                let cells = &mut cells[..head];
                placement::unrank(n, (job * per_job + i) as u64, cells);
                let occupied = set_of(cells);
                let mut free: Vec<u64> = bits(!occupied).take(n - head).map(|c| 1 << c).collect();
                free.push(0);
                for (subset, places) in tail.subsets.iter().zip(tail.places.chunks(tail.run)) {
                    let set = subset.iter().fold(occupied, |set, &i| set | free[usize::from(i)]);
                    // The run of the first tiles' cells among the arrangements of the set.
                    let (mut left, mut rank) = (set, subsets.rank(set));
                    for (i, &cell) in cells.iter().enumerate() {
                        let bit = 1u64 << cell;
                        rank = rank * (k - i) + (left & (bit - 1)).count_ones() as usize;
                        left &= !bit;
                    }
                    let run = &lines[rank * tail.run..][..tail.run];
                    for (&place, &value) in places.iter().zip(run) {
                        buffer[place as usize % BLOCK] = value;
                    }
                }
                entries.copy_from_slice(&buffer[..tail.block]);
            }
            meter.add(written)
        },
    )
}
