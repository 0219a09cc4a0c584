//! Orders of values: from the order in which a build finds them to that of the file, and from there to those of other
//! solvers.
//!
//! `build` and `on_disk` bring values into [entry order](super::EntryOrder) with an [`ArrangementOrder`] and then
//! [`lines`], [`by_placements`] or [`bits_by_slots`]. [`export`] writes a finished database as a raw table in an
//! [`ExportLayout`].

use std::{io::Write, path::Path};

use crate::{
    hint::{BYTES, Hint},
    kernel::{Word, transpose},
    pdb::{
        Encoding, Kind, Pattern, Pdb, PdbError, SlotGraph, UNREACHED, regions::arrangement_rank,
        slots::unit,
    },
    perm::{Layout, REGISTER_BYTES, Register, Subsets, bits, lehmer, placement, set_of},
    progress::{Meter, Phase, Progress},
    store::{self, Output},
    system::SystemError,
    threads::{each_part, in_parallel},
    units::names,
};

// Converts the engine's order of arrangements into the entry order of the files.
//
// Invariant: all steps read and write within the caches. First, every slot's k! values are brought into the
// lexicographic order of the tiles' positions, with one fixed table; with one bit per entry, 64 slots are transposed
// at once. A region-aware file stores them slot by slot. In a file by placements, the arrangements that agree in the
// positions of the first tiles are contiguous: a **run** of t! values for the last t tiles. A **block** of the file
// (all placements that agree in the cells of the first k - t tiles) is then a union of runs, one from each set that
// contains these cells. Where a run's values go within a block depends only on which of the free cells the last tiles
// occupy: again one fixed table.

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

    /// Writes the values of slot `slot` of a class in order, and converts levels plus one into levels.
    pub fn line(&self, class: &[Register], slot: usize, buffer: &mut [u8; REACH], to: &mut [u8]) {
        let from = class[slot * self.registers..][..self.registers].as_flattened();
        buffer[..from.len()].copy_from_slice(from);
        for (to, &source) in to.iter_mut().zip(&self.source) {
            *to = buffer[usize::from(source)].wrapping_sub(1);
        }
    }

    /// Writes the entries of at most 64 slots, one bit each, from the given words. Squares of 64 by 64 bits are
    /// transposed, so that a word holds one arrangement's bits for all slots; the words are ordered, and the squares
    /// are transposed back. About 10 ps of a core per bit.
    pub fn bits(&self, slots: &[&[Word]], entries: &mut [u8]) {
        // 64 words per register, of which 60 are lanes; and the lanes in order.
        let mut lanes = vec![0; self.registers * REGISTER_BYTES];
        let mut ordered = vec![0; self.len().next_multiple_of(64)];
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

fn buffer<const N: usize>() -> Box<[u8; N]> {
    vec![0; N].try_into().expect("a buffer has its length")
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
) -> Result<(), SystemError> {
    in_parallel(lines.chunks_mut(order.len() * SLOTS), |part, lines| {
        let buffer = &mut buffer::<REACH>();
        for (line, &(class, slot)) in lines.chunks_mut(order.len()).zip(&slots[part * SLOTS..]) {
            order.line(classes[class], slot, buffer, line);
            meter.add(line.len() as u64)?;
        }
        Ok(())
    })
}

/// Writes the bits of some slots, whose words are given by `words`, one after the other.
pub(crate) fn bits_by_slots<'a>(
    order: &ArrangementOrder,
    slots: &[(usize, usize)],
    words: impl Fn((usize, usize)) -> &'a [Word] + Sync,
    entries: &mut [u8],
    meter: &Meter<'_>,
) -> Result<(), SystemError> {
    in_parallel(entries.chunks_mut(SLOTS * order.len() / 8), |part, entries| {
        let slots = slots[part * SLOTS..].iter().take(SLOTS);
        let rows: Vec<&[Word]> = slots.map(|&slot| words(slot)).collect();
        order.bits(&rows, entries);
        meter.add(rows.len() as u64)
    })
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
        let subset = |set: u64| {
            let mut subset = [left as u8; 4];
            subset.iter_mut().zip(bits(set)).for_each(|(to, cell)| *to = cell as u8);
            subset
        };
        let sets = Subsets::new(left, tiles).expect("patterns are small");
        let mut subsets: Vec<[u8; 4]> = sets.iter().map(subset).collect();
        subsets.sort_unstable();
        let mut places = Vec::with_capacity(block(tiles));
        for subset in &subsets {
            for rank in 0..run as u64 {
                let mut order = [0; 4];
                lehmer::unrank(rank, &mut order[..tiles]);
                let cells = order.map(|position| subset[usize::from(position)]);
                places.push(placement::rank(left, &cells[..tiles]) as u32);
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
) -> Result<(), SystemError> {
    let (n, k) = (subsets.n, subsets.k);
    let tail = Tail::new(n, k);
    let head = k - tail.tiles;
    // The number of runs of a set.
    let heads = lehmer::count(k) as usize / tail.run;
    // Blocks that share all cells of the head but the last share sources, so they form one job.
    let per_job = n - head + 1;
    in_parallel(entries.chunks_mut(tail.block * per_job), |job, entries| {
        let mut buffer = buffer::<BLOCK>();
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
                let rank = subsets.rank(set) * heads + arrangement_rank(set, cells) as usize;
                let run = &lines[rank * tail.run..][..tail.run];
                for (&place, &value) in places.iter().zip(run) {
                    buffer[place as usize % BLOCK] = value;
                }
            }
            entries.copy_from_slice(&buffer[..tail.block]);
        }
        meter.add(written)
    })
}

// Table layouts of other solvers: raw tables without a header.
//
// Invariant: an exported value is the database's value; only its place differs. Entries that no board reaches, and
// places that correspond to no placement, hold 255. The table is made piece by piece, each by all threads, and each
// while the previous one is written.
//
// The work consists in reading the database out of order: blocks that fit in the caches are reordered one after the
// other.

/// The table layout of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportLayout {
    /// clausecker's 24puzzle: sets in the order of their masks, then regions (region-aware databases), then
    /// arrangements with the first tile least significant.
    Puzzle24,
    /// A plain lexicographic table of the tiles' cells, first tile most significant, as in hog2.
    Lexicographic,
    /// Indexed by the tiles' cells as base-N digits, first tile least significant.
    Positions,
}

names! { ExportLayout:
    "24puzzle" = Puzzle24, "As in clausecker's 24puzzle (5x5, --goal first), with the regions of a \
                            region-aware database";
    "hog2-lex" = Lexicographic, "Indexed by the lexicographic rank of the tiles' cells; one byte \
                                 per value";
    "positions" = Positions,
        "Indexed by the cells of the tiles as base-N digits on a board of N cells, first tile \
         least significant; one byte per entry, 255 where there is no value";
}

/// Maximum size in bytes of a table of positions, most of which is empty.
const MAX_POSITIONS: u64 = 1 << 40;

/// Size of a piece in bytes, unless its units are larger.
const PIECE: usize = 64 << 20;

/// Maximum size in bytes of a plane of positions that is made in memory.
const MAX_PLANE: usize = 2 << 30;

/// Size of a parallel task in bytes, with the same exception.
const TASK: usize = 1 << 18;

/// Writes a database in another program's layout and returns the number of bytes.
///
/// Cost: about the time of the database's build, on all threads of the current pool; memory for two pieces of the table
/// of 64 MiB each, or N^(k-1) bytes for positions if that is more; for 24puzzle's layout of the minimum kind, another
/// copy of the table.
///
/// # Errors
/// [`PdbError::Unsuitable`] if the layout cannot hold the database, [`PdbError::System`] and [`PdbError::Interrupted`].
pub fn export(
    pdb: &Pdb,
    layout: ExportLayout,
    path: impl AsRef<Path>,
    replace: bool,
    observer: &dyn Progress,
) -> Result<u64, PdbError> {
    pdb.loaded()?;
    let path = path.as_ref();
    let total = bytes(pdb, layout)?;
    let mut output = Output::create(path, replace)?;
    let meter = Meter::new(observer, Phase::File, 0, total);
    let mut write = |bytes: &[u8]| {
        output.write_all(bytes).map_err(store::failed(path))?;
        meter.add(bytes.len() as u64)
    };
    match layout {
        ExportLayout::Lexicographic => pdb.bytes().chunks(PIECE).try_for_each(write)?,
        ExportLayout::Puzzle24 => {
            let table = BySets::new(pdb);
            let all = total as usize / table.slot();
            let slots = (PIECE / table.slot()).clamp(1, all);
            let pieces = all.div_ceil(slots);
            let length = |piece| slots.min(all - piece * slots);
            pipe(
                pieces,
                slots * table.slot(),
                |piece, bytes: &mut [u8]| table.fill(piece * slots, bytes),
                |piece, bytes| write(&bytes[..length(piece) * table.slot()]),
            )?;
        }
        ExportLayout::Positions => {
            let table = ByPositions::new(pdb);
            let (size, fast) = table.piece();
            let fill = |piece: usize, bytes: &mut [u8]| match fast {
                true => table.fill_plane(piece as u8, bytes),
                false => table.fill_slowly(piece * size, bytes),
            };
            pipe(total as usize / size, size, fill, |_, bytes| write(bytes))?;
        }
    }
    output.finish()?;
    Ok(total)
}

/// The size of a layout's table in bytes.
fn bytes(pdb: &Pdb, layout: ExportLayout) -> Result<u64, PdbError> {
    let refuse = |why: &str| {
        let layout = layout.name();
        Err(PdbError::unsuitable(format!("layout {layout} cannot hold this database: {why}")))
    };
    let additive = Hint::Value("kind", "additive-min");
    if pdb.encoding() == Encoding::Bit {
        return refuse(&format!(
            "with one bit per entry, no values are stored; build a database with {BYTES}"
        ));
    }
    if pdb.kind() == Kind::AllMoves {
        return refuse(&format!(
            "all-moves values are not additive; build a database with {additive}"
        ));
    }
    let pattern = pdb.pattern();
    let (size, tiles) = (pattern.size(), pattern.tiles());
    if layout == ExportLayout::Puzzle24 {
        let homes = pattern.home().iter().zip(tiles);
        if (size.rows(), size.cols()) != (5, 5) {
            return refuse("the layout is for 5x5 boards only");
        }
        if !homes.clone().all(|(&home, &tile)| u16::from(home) == tile) {
            return refuse(&format!(
                "the layout requires that tile t belongs on cell t; build a database with {}",
                Hint::Command("pdb build --goal first")
            ));
        }
    } else if pdb.kind() == Kind::Regions {
        return refuse(&format!(
            "the layout has only one value per placement; build a database with {additive}"
        ));
    }
    if layout != ExportLayout::Positions {
        return Ok(pdb.entries());
    }
    let (cells, k) = (size.cells(), tiles.len());
    let bytes = (cells as u64).checked_pow(k as u32);
    match bytes.filter(|&bytes| bytes <= MAX_POSITIONS) {
        Some(bytes) => Ok(bytes),
        None => refuse(&format!(
            "the file would have {cells}^{k} bytes, but at most 2^{} are supported",
            MAX_POSITIONS.ilog2()
        )),
    }
}

/// Fills the pieces one after another, each while the previous one is used.
fn pipe(
    pieces: usize,
    size: usize,
    fill: impl Fn(usize, &mut [u8]) + Sync,
    mut done: impl FnMut(usize, &[u8]) -> Result<(), SystemError> + Send,
) -> Result<(), SystemError> {
    let mut next = vec![UNREACHED; size];
    let mut full = if pieces > 1 { next.clone() } else { Vec::new() };
    for piece in 0..=pieces {
        let use_full = || match piece {
            0 => Ok(()),
            _ => done(piece - 1, &full),
        };
        let fill_next = || {
            if piece < pieces {
                fill(piece, &mut next);
            }
        };
        rayon::join(use_full, fill_next).0?;
        std::mem::swap(&mut next, &mut full);
    }
    Ok(())
}

/// A database in the order of 24puzzle: by sets of cells.
struct BySets<'a> {
    pdb: &'a Pdb,
    /// The table of the minimum kind: for each cell of the first tile, the values of the other tiles by sets.
    others: Vec<u8>,
    /// For each set and each of its cells, taken as that of the first tile: where the values of the other tiles begin.
    runs: Vec<usize>,
    /// For each arrangement, its position among those of a set in this project's order.
    source: Vec<u16>,
}

impl<'a> BySets<'a> {
    fn new(pdb: &'a Pdb) -> BySets<'a> {
        let (n, k) = (pdb.pattern().size().cells(), pdb.pattern().tiles().len());
        let arrangement = |mut rank: u64| {
            // The first tile is the least significant.
            let mut left = (1u64 << k) - 1;
            let mut at = [0u8; Pattern::MAX_TILES];
            for (i, at) in at[..k].iter_mut().enumerate() {
                let radix = (k - i) as u64;
                *at = bits(left).nth((rank % radix) as usize).unwrap_or_default() as u8;
                rank /= radix;
                left &= !(1 << *at);
            }
            arrangement_rank((1 << k) - 1, &at[..k]) as u16
        };
        let mut table = BySets {
            pdb,
            others: Vec::new(),
            runs: Vec::new(),
            source: (0..lehmer::count(k)).map(arrangement).collect(),
        };
        if pdb.kind() == Kind::Minimum {
            let runs: Vec<Vec<usize>> = (1..=k).map(|t| runs(n - (k - t), t)).collect();
            table.others = vec![0; pdb.bytes().len()];
            let block = pdb.bytes().len() / n;
            each_part(&mut table.others, block, &|i, to| {
                let from = &pdb.bytes()[i * block..][..to.len()];
                by_sets(from, to, &mut vec![0; 2 * block], n - 1, &runs[..k - 1])
            });
            table.runs = runs.into_iter().next_back().unwrap_or_default();
        }
        table
    }

    /// The number of bytes per region of a set.
    fn slot(&self) -> usize {
        self.source.len()
    }

    /// Fills consecutive slots, beginning with `first`, as many as there is space for.
    fn fill(&self, first: usize, slots: &mut [u8]) {
        let slot = self.slot();
        let task = (TASK / slot).max(1);
        let count = (self.pdb.entries() as usize / slot - first).min(slots.len() / slot);
        each_part(&mut slots[..count * slot], task * slot, &|t, slots| {
            let values = &mut vec![0; slot];
            for (i, to) in slots.chunks_exact_mut(slot).enumerate() {
                let number = first + t * task + i;
                match self.pdb.kind() {
                    Kind::Regions => {
                        values.copy_from_slice(&self.pdb.bytes()[number * slot..][..slot]);
                    }
                    Kind::Minimum | Kind::AllMoves => {
                        let k = self.pdb.pattern().tiles().len();
                        let runs = &self.runs[number * k..][..k];
                        merge(&self.others, runs, values);
                    }
                }
                for (to, &source) in to.iter_mut().zip(&self.source) {
                    *to = values[usize::from(source)];
                }
            }
        });
    }
}

/// Converts a table of tiles on n cells from the order of cells into that of sets, with the arrangements of each set
/// ordered by the tiles' positions. It proceeds tile by tile, last tile first, so that most of the work happens in the
/// caches. `runs` are those of all tables with fewer tiles and of this one.
fn by_sets(from: &[u8], to: &mut [u8], scratch: &mut [u8], n: usize, runs: &[Vec<usize>]) {
    let Some((own, shorter)) = runs.split_last().filter(|(_, shorter)| !shorter.is_empty()) else {
        return to.copy_from_slice(from);
    };
    let (others, scratch) = scratch.split_at_mut(from.len());
    let block = from.len() / n;
    let blocks = others.chunks_exact_mut(block).zip(from.chunks_exact(block));
    blocks.for_each(|(to, from)| by_sets(from, to, scratch, n - 1, shorter));
    merge(others, own, to);
}

/// For each set of k of n cells and each of its cells, taken as that of the first tile: where the values of the other
/// tiles begin, which are given for each cell of the first tile by sets of the other n - 1 cells.
fn runs(n: usize, k: usize) -> Vec<usize> {
    let subsets = |n, k| Subsets::new(n, k).expect("patterns are small");
    let (sets, others) = (subsets(n, k), subsets(n - 1, k - 1));
    let run = lehmer::count(k - 1) as usize;
    let mut runs = Vec::with_capacity(k * sets.count());
    for set in sets.iter() {
        runs.extend(bits(set).map(|first| {
            let rest = set & ((1 << first) - 1) | set >> (first + 1) << first;
            (first * others.count() + others.rank(rest)) * run
        }));
    }
    runs
}

/// Merges runs of values, all of the same length.
fn merge(from: &[u8], runs: &[usize], to: &mut [u8]) {
    fn copy<const N: usize>(from: &[u8], runs: &[usize], to: &mut [u8]) {
        for (to, &run) in to.as_chunks_mut::<N>().0.iter_mut().zip(runs) {
            to.copy_from_slice(&from[run..run + N]);
        }
    }
    match to.len() / runs.len().max(1) {
        1 => copy::<1>(from, runs, to),
        2 => copy::<2>(from, runs, to),
        6 => copy::<6>(from, runs, to),
        24 => copy::<24>(from, runs, to),
        120 => copy::<120>(from, runs, to),
        720 => copy::<720>(from, runs, to),
        _ => copy::<5040>(from, runs, to),
    }
}

/// A database as a base-n table, plane by plane, with one plane for each cell of the last tile.
struct ByPositions<'a> {
    pdb: &'a Pdb,
    n: usize,
    k: usize,
    /// The weight of each tile in the rank of a placement; 0 after the last tile.
    weights: [u64; Pattern::MAX_TILES],
}

impl<'a> ByPositions<'a> {
    fn new(pdb: &'a Pdb) -> ByPositions<'a> {
        let (n, k) = (pdb.pattern().size().cells(), pdb.pattern().tiles().len());
        let weight = |i| (i + 1..k).map(|j| (n - j) as u64).product();
        let weights = std::array::from_fn(|i| if i < k { weight(i) } else { 0 });
        ByPositions { pdb, n, k, weights }
    }

    /// The size of a piece in bytes, and whether it is a plane of enough tiles that fits in memory.
    fn piece(&self) -> (usize, bool) {
        let plane = self.n.pow(self.k as u32 - 1);
        if plane <= MAX_PLANE {
            return (plane, self.k >= 5);
        }
        let digits = (PIECE as u64).ilog(self.n as u64);
        (self.n.pow(digits), false)
    }

    /// Writes the last digits of an index, which are cells.
    fn write_digits(&self, mut index: usize, cells: &mut [u8]) {
        for cell in cells {
            *cell = (index % self.n) as u8;
            index /= self.n;
        }
    }

    /// Fills the plane for a cell of the last tile.
    fn fill_plane(&self, last: u8, plane: &mut [u8]) {
        each_part(plane, TASK, &|_, bytes| bytes.fill(UNREACHED));
        let (n, k) = (self.n, self.k);
        // A cache line of the database contains the values for a few cells of the last two tiles: a task takes all
        // cells of the last tile but one in turn, with the others fixed, while the lines are still in the caches.
        let mut tasks: Vec<Vec<&mut [u8]>> = (0..n).map(|_| Vec::with_capacity(n)).collect();
        for bytes in plane.chunks_exact_mut(n.pow(k as u32 - 2)) {
            for (task, bytes) in tasks.iter_mut().zip(bytes.chunks_exact_mut(n.pow(k as u32 - 3))) {
                task.push(bytes);
            }
        }
        each_part(&mut tasks, 1, &|third, task| {
            let slices = &mut task[0];
            let mut cells = [0; Pattern::MAX_TILES];
            (cells[k - 1], cells[k - 3]) = (last, third as u8);
            for rest in 0..n.pow(k as u32 - 5) {
                self.write_digits(rest, &mut cells[2..k - 3]);
                for (second, slice) in slices.iter_mut().enumerate() {
                    cells[k - 2] = second as u8;
                    self.fill_square(&cells[2..k], &mut slice[rest * n * n..][..n * n]);
                }
            }
        });
    }

    /// Fills the values for all cells of the first two tiles, given the cells of the others.
    fn fill_square(&self, others: &[u8], square: &mut [u8]) {
        let n = self.n;
        let used = set_of(others);
        if used.count_ones() as usize != others.len() {
            return;
        }
        // By how much a first tile on a cell lowers the ranks of the others.
        let mut below = [0u64; 64];
        let mut rank = 0;
        for (i, &cell) in others.iter().enumerate() {
            let smaller = others[..i].iter().filter(|&&c| c < cell).count() as u64;
            let weight = self.weights[i + 2];
            rank += weight * (u64::from(cell) - smaller);
            below[..usize::from(cell)].iter_mut().for_each(|b| *b += weight);
        }
        let bytes = self.pdb.bytes();
        for (second, row) in square.chunks_exact_mut(n).enumerate() {
            if used >> second & 1 == 1 {
                continue;
            }
            let with_second = rank + self.weights[1] * second as u64;
            for (first, to) in row.iter_mut().enumerate() {
                if (used | 1 << second) >> first & 1 == 0 {
                    let passed = if first < second { self.weights[1] } else { 0 };
                    let whole = with_second + self.weights[0] * first as u64;
                    let less = below[second] + below[first] + passed;
                    *to = bytes[(whole - less) as usize];
                }
            }
        }
    }

    /// Fills a piece that begins at an index, one index at a time.
    fn fill_slowly(&self, first: usize, piece: &mut [u8]) {
        each_part(piece, TASK, &|task, bytes| {
            for (i, to) in bytes.iter_mut().enumerate() {
                let mut cells = [0; Pattern::MAX_TILES];
                let cells = &mut cells[..self.k];
                self.write_digits(first + task * TASK + i, cells);
                let set = set_of(cells);
                *to = match set.count_ones() as usize == self.k {
                    true => self.pdb.bytes()[placement::rank(self.n, cells) as usize],
                    false => UNREACHED,
                };
            }
        });
    }
}
