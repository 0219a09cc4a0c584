//! From the engine's order of arrangements to the entry order of the files.
//!
//! Invariant: both steps read and write within the caches. First every set's k! values are brought into
//! the lexicographic order of the tiles' positions, by one fixed table. In that order, the arrangements
//! that agree in the positions of the first tiles are contiguous: a **run** of t! values for the last t
//! tiles. A **block** of the file (all placements that agree in the cells of the first k - t tiles) then
//! is a union of runs, one of each set around these cells, and where a run's values go within a block
//! depends only on which of the free cells the last tiles occupy: again one fixed table.

use rayon::prelude::*;

use crate::bits::transpose;
use crate::kernel::Word;
use crate::pdb::byte_build::{self, SearchedVisits};
use crate::pdb::error::Meter;
use crate::pdb::regions::SetGraph;
use crate::pdb::slots::{Slots, unit};
use crate::pdb::{Kind, Pattern, PdbError};
use crate::perm::layout::{Layout, REGISTER_BYTES, Register};
use crate::perm::{lehmer, placement};
use crate::progress::{Phase, Progress};

/// Bytes that 16-bit tables reach: buffers of this size need no bounds checks.
const REACH: usize = 1 << 16;

/// Most bytes of a block of the file: a quarter of a megabyte, so that it stays in the private caches.
const BLOCK: usize = 1 << 18;

/// For each arrangement in lexicographic order of positions its byte in a set's registers.
pub(crate) struct ArrangementOrder {
    layout: Layout,
    pub source: Vec<u16>,
}

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
        ArrangementOrder { layout, source }
    }

    /// Writes the values of slot `slot` of a class to `target`: levels plus one become levels.
    fn run(
        &self,
        values: &[Register],
        slots: usize,
        slot: usize,
        buffer: &mut Buffer,
        target: &mut [u8],
    ) {
        let unit = self.layout.slice_registers();
        let bytes = unit * REGISTER_BYTES;
        for slice in 0..self.layout.blocks() {
            let from = &values[(slice * slots + slot) * unit..][..unit];
            buffer[slice * bytes..][..bytes].copy_from_slice(from.as_flattened());
        }
        for (target, &source) in target.iter_mut().zip(&self.source) {
            *target = buffer[usize::from(source)].wrapping_sub(1);
        }
    }
}

type Buffer = [u8; REACH];

/// A block of the file.
type BlockBuffer = [u8; BLOCK];

fn buffer<const N: usize>() -> Box<[u8; N]> {
    vec![0; N].try_into().expect("a buffer has its length")
}

/// Writes the entries of a region-aware table: `starts` has the number of regions before each set.
pub(crate) fn by_region(
    found: &SearchedVisits,
    starts: &[u32],
    entries: &mut [u8],
    observer: &dyn Progress,
) -> Result<(), PdbError> {
    let gather = ArrangementOrder::new(found.layout);
    let arrangements = gather.source.len();
    let (low, high) = split(found, Kind::Regions);
    // One chunk of entries per set.
    let mut rest = entries;
    let mut jobs = Vec::with_capacity(starts.len());
    for (set, pair) in found.graph.subsets.iter().zip(starts.windows(2)) {
        let (head, tail) = rest.split_at_mut((pair[1] - pair[0]) as usize * arrangements);
        jobs.push((set, head));
        rest = tail;
    }
    let meter = Meter::new(observer, Phase::Order, 0, starts.len() as u64 - 1);
    jobs.into_par_iter().try_for_each_init(buffer::<REACH>, |buffer, (set, target)| {
        let (class, number) = found.graph.find(set);
        let first = found.graph.classes[class].slots[number] as usize;
        let slots = byte_build::slots(&found.graph, Kind::Regions, class);
        let values = if class == 0 { low } else { high };
        for (region, target) in target.chunks_mut(arrangements).enumerate() {
            gather.run(values, slots, first + region, buffer, target);
        }
        meter.add(1)
    })
}

/// The values of both classes.
fn split(found: &SearchedVisits, kind: Kind) -> (&[Register], &[Register]) {
    let size = |class| byte_build::class_registers(&found.graph, found.layout, kind, class);
    let (low, rest) = found.values.units().split_at(size(0));
    (low, &rest[..size(1)])
}

/// First step of a table of the minimum kind: brings every set's values into the order of positions,
/// from `found.values` into `found.seen`.
pub(crate) fn by_position(
    found: &mut SearchedVisits,
    observer: &dyn Progress,
) -> Result<(), PdbError> {
    let gather = ArrangementOrder::new(found.layout);
    let arrangements = gather.source.len();
    let size =
        |class| byte_build::class_registers(&found.graph, found.layout, Kind::Minimum, class);
    let sizes = [size(0), size(1)];
    let values = found.values.units();
    let total: usize = found.graph.classes.iter().map(|c| c.sets.len()).sum();
    let meter = Meter::new(observer, Phase::Order, 0, 2 * total as u64);
    for (class, seen) in found.seen.iter_mut().enumerate() {
        let sets = found.graph.classes[class].sets.len();
        let values = &values[class * sizes[0]..][..sizes[class]];
        let lines = &mut seen.units_mut().as_flattened_mut()[..sets * arrangements];
        lines.par_chunks_mut(arrangements).enumerate().try_for_each_init(
            buffer::<REACH>,
            |buffer, (set, target)| {
                gather.run(values, sets, set, buffer, target);
                meter.add(1)
            },
        )?;
    }
    Ok(())
}

/// The last tiles of a placement, whose values a run holds.
struct Tail<P> {
    /// Tiles, t.
    tiles: usize,
    /// Values of a run, t!.
    run: usize,
    /// Values of a block: placements of t tiles on the cells that the first tiles leave free.
    block: usize,
    /// For each t-subset of these cells, in lexicographic order, where the values of its run go.
    places: Vec<P>,
}

/// A place within a block: 16 bits where they suffice, so that the table stays near.
trait BlockIndex: Copy + Send + Sync + TryFrom<u64> {
    fn index(self) -> usize;
}

impl BlockIndex for u16 {
    fn index(self) -> usize {
        usize::from(self)
    }
}

impl BlockIndex for u32 {
    fn index(self) -> usize {
        self as usize % BLOCK
    }
}

/// Values of a block of `tiles` tiles on the cells that the others leave.
fn block_size(cells: usize, k: usize, tiles: usize) -> usize {
    let size = placement::count(cells - (k - tiles), tiles);
    size.and_then(|size| usize::try_from(size).ok()).unwrap_or(usize::MAX)
}

/// The longest tail whose blocks fit a buffer, of at most four tiles.
fn tail_tiles(cells: usize, k: usize) -> usize {
    let fits = |&t: &usize| block_size(cells, k, t) <= BLOCK;
    (1..=4.min(k - 1)).rfind(fits).unwrap_or(1)
}

impl<P: BlockIndex> Tail<P> {
    fn new(cells: usize, k: usize, tiles: usize) -> Tail<P> {
        let left = cells - (k - tiles);
        let run = lehmer::count(tiles) as usize;
        let mut places = Vec::with_capacity(block_size(cells, k, tiles));
        let mut subset: Vec<u8> = (0..tiles as u8).collect();
        loop {
            for rank in 0..run as u64 {
                let mut order = [0; 4];
                lehmer::unrank(rank, &mut order[..tiles]);
                let cells = order.map(|position| *subset.get(usize::from(position)).unwrap_or(&0));
                let place = P::try_from(placement::rank(left, &cells[..tiles]));
                places.extend(place.ok());
            }
            if !advance(&mut subset, left) {
                break;
            }
        }
        Tail { tiles, run, block: block_size(cells, k, tiles), places }
    }
}

/// The next subset in lexicographic order.
fn advance(subset: &mut [u8], n: usize) -> bool {
    let t = subset.len();
    let Some(i) = (0..t).rfind(|&i| usize::from(subset[i]) < n - t + i) else {
        return false;
    };
    subset[i] += 1;
    for j in i + 1..t {
        subset[j] = subset[j - 1] + 1;
    }
    true
}

/// Second step: writes the entries in lexicographic order of cells, from the values by position that
/// `by_position` left in `seen`.
pub(crate) fn by_cells(
    pattern: &Pattern,
    graph: &SetGraph,
    seen: [&[u8]; 2],
    entries: &mut [u8],
    observer: &dyn Progress,
) -> Result<(), PdbError> {
    let (n, k) = (graph.grid.cells(), pattern.tiles().len());
    let tiles = tail_tiles(n, k);
    if block_size(n, k, tiles) <= REACH {
        let tail = Tail::<u16>::new(n, k, tiles);
        by_blocks(&tail, graph, k, seen, entries, observer)
    } else {
        let tail = Tail::<u32>::new(n, k, tiles);
        by_blocks(&tail, graph, k, seen, entries, observer)
    }
}

fn by_blocks<P: BlockIndex>(
    tail: &Tail<P>,
    graph: &SetGraph,
    k: usize,
    seen: [&[u8]; 2],
    entries: &mut [u8],
    observer: &dyn Progress,
) -> Result<(), PdbError> {
    let n = graph.grid.cells();
    let head = k - tail.tiles;
    let blocks = entries.len() / tail.block;
    // Blocks that share all cells but the last of the head share sources: one job.
    let per_job = n - head + 1;
    let half = (blocks / per_job) as u64;
    let meter = Meter::new(observer, Phase::Order, half, 2 * half);
    entries.par_chunks_mut(tail.block * per_job).enumerate().try_for_each_init(
        buffer::<BLOCK>,
        |buffer, (job, target)| {
            for (i, target) in target.chunks_mut(tail.block).enumerate() {
                let mut cells = [0; Layout::MAX_SLICED];
                placement::unrank(n, (job * per_job + i) as u64, &mut cells[..head]);
                PlacementBlock { graph, seen, tail, k, cells: &cells[..head] }.collect(buffer);
                target.copy_from_slice(&buffer[..tail.block]);
            }
            meter.add(1)
        },
    )
}

/// All placements that agree in the cells of the first tiles.
struct PlacementBlock<'a, P> {
    graph: &'a SetGraph,
    seen: [&'a [u8]; 2],
    tail: &'a Tail<P>,
    k: usize,
    cells: &'a [u8],
}

impl<P: BlockIndex> PlacementBlock<'_, P> {
    /// Collects the block's values in `buffer`.
    fn collect(&self, buffer: &mut BlockBuffer) {
        let occupied = self.cells.iter().fold(0u64, |set, &c| set | 1 << c);
        let free: Vec<u64> =
            crate::pdb::regions::bits(self.graph.grid.free(occupied)).map(|c| 1 << c).collect();
        let mut runs = self.tail.places.chunks_exact(self.tail.run);
        match self.tail.tiles {
            4 => self.subsets::<4>(occupied, &free, &mut runs, buffer),
            3 => self.subsets::<3>(occupied, &free, &mut runs, buffer),
            2 => self.subsets::<2>(occupied, &free, &mut runs, buffer),
            _ => self.subsets::<1>(occupied, &free, &mut runs, buffer),
        }
    }

    /// Visits the sets that add T of the free cells to `set`, in lexicographic order.
    #[inline]
    fn subsets<const T: usize>(
        &self,
        set: u64,
        free: &[u64],
        runs: &mut std::slice::ChunksExact<'_, P>,
        buffer: &mut BlockBuffer,
    ) {
        let mut at = [0; T];
        for (i, at) in at.iter_mut().enumerate() {
            *at = i;
        }
        loop {
            let set = at.iter().fold(set, |set, &i| set | free[i]);
            let run = self.run(set);
            if let Some(places) = runs.next() {
                for (&place, &value) in places.iter().zip(run) {
                    buffer[place.index()] = value;
                }
            }
            let Some(i) = (0..T).rfind(|&i| at[i] < free.len() - T + i) else {
                return;
            };
            at[i] += 1;
            for j in i + 1..T {
                at[j] = at[j - 1] + 1;
            }
        }
    }

    /// The values of a set for the first tiles' cells: a run.
    #[inline]
    fn run(&self, set: u64) -> &[u8] {
        let (class, number) = self.graph.find(set);
        let mut left = set;
        let mut rank = number;
        for (i, &cell) in self.cells.iter().enumerate() {
            let bit = 1u64 << cell;
            rank = rank * (self.k - i) + (left & (bit - 1)).count_ones() as usize;
            left &= !bit;
        }
        &self.seen[class][rank * self.tail.run..][..self.tail.run]
    }
}

// From the engine's order of arrangements to the entry order of a file with one bit an entry.
//
// Invariant: 64 slots (sets and regions, in the order of the file) are turned at once: squares of 64 by 64
// bits are transposed, so that a word holds one arrangement's bits of all 64 slots; words are brought into the
// order of the file as bytes are in `reorder`; and transposed back. Some 10 ps of a core per bit.

/// Slots that are turned at once.
pub(crate) const SLOTS: usize = 64;

/// Brings slots into the order of the file.
pub(crate) struct Turn {
    gather: ArrangementOrder,
    registers: usize,
}

/// What a thread turns slots in.
pub(crate) struct Buffers {
    lanes: Vec<u64>,
    ordered: Vec<u64>,
}

impl Turn {
    pub fn new(layout: Layout) -> Turn {
        Turn { gather: ArrangementOrder::new(layout), registers: unit(layout) }
    }

    /// Bytes of a slot in the file.
    pub fn slot_bytes(&self) -> usize {
        self.gather.source.len() / 8
    }

    pub fn buffers(&self) -> Buffers {
        let ordered = self.gather.source.len().next_multiple_of(64);
        Buffers {
            // 64 words per register, of which 60 are lanes.
            lanes: vec![0; self.registers * REGISTER_BYTES],
            ordered: vec![0; ordered],
        }
    }

    /// Writes the entries of at most 64 slots, whose words are given.
    pub fn run(&self, slots: &[&[Word]], buffers: &mut Buffers, entries: &mut [u8]) {
        let Buffers { lanes, ordered } = buffers;
        for (register, square) in lanes.as_chunks_mut::<64>().0.iter_mut().enumerate() {
            for (row, words) in square.iter_mut().zip(slots) {
                *row = u64::from_le_bytes(words[register]);
            }
            square[slots.len()..].fill(0);
            transpose(square);
        }
        for (to, &source) in ordered.iter_mut().zip(&self.gather.source) {
            *to = lanes[usize::from(source)];
        }
        let slot_bytes = self.slot_bytes();
        for (i, square) in ordered.as_chunks_mut::<64>().0.iter_mut().enumerate() {
            transpose(square);
            for (row, entries) in square.iter().zip(entries.chunks_exact_mut(slot_bytes)) {
                let bytes = &mut entries[8 * i..];
                let len = bytes.len().min(8);
                bytes[..len].copy_from_slice(&row.to_le_bytes()[..len]);
            }
        }
    }
}

/// The class and number of every slot, in the order of the file.
pub(crate) fn order(graph: &SetGraph) -> Vec<(u8, u32)> {
    let mut slots = Vec::new();
    for set in graph.subsets.iter() {
        let (class, number) = graph.find(set);
        let of = &graph.classes[class].slots;
        slots.extend((of[number]..of[number + 1]).map(|slot| (class as u8, slot)));
    }
    slots
}

/// Writes the bits of a region-aware table, slot by slot in the order of the file.
pub(crate) fn bits_by_region(
    graph: &SetGraph,
    layout: Layout,
    values: &[Slots; 2],
    entries: &mut [u8],
    observer: &dyn Progress,
) -> Result<(), PdbError> {
    let turn = Turn::new(layout);
    let slots = order(graph);
    let meter = Meter::new(observer, Phase::Order, 0, slots.len() as u64);
    entries
        .par_chunks_mut(SLOTS * turn.slot_bytes())
        .zip(slots.par_chunks(SLOTS))
        .try_for_each_init(
            || turn.buffers(),
            |buffers, (entries, slots)| {
                let words =
                    |&(class, slot): &(u8, u32)| values[usize::from(class)].of(slot as usize);
                let rows: Vec<&[Word]> = slots.iter().map(words).collect();
                turn.run(&rows, buffers, entries);
                meter.add(slots.len() as u64)
            },
        )
}
