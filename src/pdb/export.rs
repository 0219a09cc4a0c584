//! Table layouts of other solvers: raw tables without a header.
//!
//! Invariant: an exported value is the database's value; only its place differs. Entries that no board reaches, and
//! places that correspond to no placement, hold 255. The table is made piece by piece, each by all threads, and each
//! while the previous one is written.
//!
//! The work consists in reading the database out of order: blocks that fit in the caches are reordered one after the
//! other.

use std::{io::Write, path::Path};

use rayon::prelude::*;

use crate::{
    bits::{bits, set_of},
    pdb::{Encoding, Kind, Meter, Pattern, Pdb, PdbError, UNREACHED, regions::arrangement_rank},
    perm::{
        lehmer,
        placement::{self, Subsets, binomial},
    },
    progress::{NoProgress, Phase, Progress},
    store::{self, Output},
    units::names,
};

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
        "Indexed by the tiles' cells as base-N digits, first tile least significant; one byte per \
         entry, 255 where there is no value";
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
/// [`PdbError::Unsuitable`] if the layout cannot hold the database, and [`PdbError::System`].
pub fn export(
    pdb: &Pdb,
    layout: ExportLayout,
    path: impl AsRef<Path>,
    replace: bool,
) -> Result<u64, PdbError> {
    export_with(pdb, layout, path, replace, &NoProgress)
}

/// Like [`export`], with an observer that sees the progress and may stop the work.
///
/// # Errors
/// Same errors as [`export`], plus [`PdbError::Interrupted`].
pub fn export_with(
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
        Err(PdbError::Unsuitable(format!("layout {layout} cannot hold this database: {why}")))
    };
    if pdb.encoding() == Encoding::Bit {
        return refuse(
            "it has one bit per entry and stores no values; build one with --encoding byte",
        );
    }
    if pdb.kind() == Kind::AllMoves {
        return refuse("its values are not additive; build a database with --kind additive-min");
    }
    let pattern = pdb.pattern();
    let (size, tiles) = (pattern.size(), pattern.tiles());
    if layout == ExportLayout::Puzzle24 {
        let homes = pattern.home().iter().zip(tiles);
        if (size.rows(), size.cols()) != (5, 5) {
            return refuse("the layout is for 5x5 boards only");
        }
        if !homes.clone().all(|(&home, &tile)| u16::from(home) == tile) {
            return refuse(
                "the layout requires that tile t belongs on cell t; build a database with tilewave \
                 pdb build --goal first",
            );
        }
    } else if pdb.kind() == Kind::Regions {
        return refuse(
            "the layout has only one value per placement; build a database with --kind \
             additive-min",
        );
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
    mut done: impl FnMut(usize, &[u8]) -> Result<(), PdbError> + Send,
) -> Result<(), PdbError> {
    let (mut next, mut full) = (vec![UNREACHED; size], Vec::new());
    if pieces > 1 {
        full = next.clone();
    }
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

/// The weights w of a rank of k tiles on n cells; 0 after the last tile.
fn weights(n: usize, k: usize) -> [u64; Pattern::MAX_TILES] {
    let weight = |i| (i + 1..k).map(|j| (n - j) as u64).product();
    std::array::from_fn(|i| if i < k { weight(i) } else { 0 })
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
            let blocks = table.others.par_chunks_mut(block).zip(pdb.bytes().par_chunks(block));
            blocks.for_each(|(to, from)| {
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
        let tasks = slots[..count * slot].par_chunks_mut(task * slot).enumerate();
        tasks.for_each_init(
            || vec![0; slot],
            |values, (t, slots)| {
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
            },
        );
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
    let rank = |cells: &mut dyn Iterator<Item = usize>| -> usize {
        cells.enumerate().map(|(i, cell)| binomial(cell, i + 1) as usize).sum()
    };
    let (others, run) = (binomial(n - 1, k - 1) as usize, lehmer::count(k - 1) as usize);
    let mut runs = Vec::with_capacity(k * binomial(n, k) as usize);
    let sets = Subsets::new(n, k);
    for set in sets.iter().flat_map(Subsets::iter) {
        for first in bits(set) {
            let mut rest = bits(set & !(1 << first)).map(|c| c - usize::from(c > first));
            runs.push((first * others + rank(&mut rest)) * run);
        }
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
    weights: [u64; Pattern::MAX_TILES],
}

impl<'a> ByPositions<'a> {
    fn new(pdb: &'a Pdb) -> ByPositions<'a> {
        let (n, k) = (pdb.pattern().size().cells(), pdb.pattern().tiles().len());
        ByPositions { pdb, n, k, weights: weights(n, k) }
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

    /// Fills the plane for a cell of the last tile.
    fn fill_plane(&self, last: u8, plane: &mut [u8]) {
        let tasks = plane.par_chunks_mut(TASK);
        tasks.for_each(|bytes| bytes.fill(UNREACHED));
        let (n, k) = (self.n, self.k);
        // A cache line of the database contains the values for a few cells of the last two tiles: a task takes all
        // cells of the last tile but one in turn, with the others fixed, while the lines are still in the caches.
        let mut tasks: Vec<Vec<&mut [u8]>> = (0..n).map(|_| Vec::with_capacity(n)).collect();
        for bytes in plane.chunks_exact_mut(n.pow(k as u32 - 2)) {
            for (task, bytes) in tasks.iter_mut().zip(bytes.chunks_exact_mut(n.pow(k as u32 - 3))) {
                task.push(bytes);
            }
        }
        tasks.into_par_iter().enumerate().for_each(|(third, mut slices)| {
            let mut cells = [0; Pattern::MAX_TILES];
            (cells[k - 1], cells[k - 3]) = (last, third as u8);
            for rest in 0..n.pow(k as u32 - 5) {
                let mut digits = rest;
                for cell in &mut cells[2..k - 3] {
                    *cell = (digits % n) as u8;
                    digits /= n;
                }
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
        let tasks = piece.par_chunks_mut(TASK).enumerate();
        tasks.for_each(|(task, bytes)| {
            for (i, to) in bytes.iter_mut().enumerate() {
                let mut cells = [0; Pattern::MAX_TILES];
                let mut digits = first + task * TASK + i;
                for cell in &mut cells[..self.k] {
                    *cell = (digits % self.n) as u8;
                    digits /= self.n;
                }
                let cells = &cells[..self.k];
                let set = set_of(cells);
                *to = match set.count_ones() as usize == self.k {
                    true => self.pdb.bytes()[placement::rank(self.n, cells) as usize],
                    false => UNREACHED,
                };
            }
        });
    }
}
