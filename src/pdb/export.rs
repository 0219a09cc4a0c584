//! Layouts of other solvers: raw tables without a header.
//!
//! Invariant: an exported value is the database's value; only its place differs. Entries that no board
//! reaches, and places that no placement has, hold 255.

use std::io::Write;
use std::path::Path;

use rayon::prelude::*;

use crate::bits::{bits, set_of};
use crate::pdb::error::Meter;
use crate::pdb::oracle::UNREACHED;
use crate::pdb::regions::arrangement_rank;
use crate::pdb::{Encoding, Kind, Pattern, Pdb, PdbError};
use crate::perm::lehmer;
use crate::perm::placement::Subsets;
use crate::progress::{Phase, Progress};
use crate::store::{self, Output};
use crate::threads::pool;
use crate::units::names;

/// A layout of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportLayout {
    /// clausecker's 24puzzle: sets by increasing masks, then regions (region-aware databases), then
    /// arrangements with the first tile least significant.
    Puzzle24,
    /// A plain lexicographic table: the tiles' cells, first tile most significant, as in hog2.
    Lexicographic,
    /// A base-N table: index = sum of cell of tile i * N^i.
    Positions,
}

names! { ExportLayout:
    "24puzzle" = Puzzle24, "clausecker's 24puzzle (5x5, --goal first), with the regions of a region-aware database";
    "hog2-lex" = Lexicographic, "Lexicographic rank of the tiles' cells, one byte each";
    "positions" = Positions,
        "Base-N number of the tiles' cells, first tile least significant, one byte each, 255 for none";
}

/// Most bytes of a table of positions: it is mostly empty.
const MAX_POSITIONS: u64 = 1 << 40;

/// Bytes of the table that are made by all threads and written before the next ones.
const PIECE: usize = 16 << 20;

/// Bytes that a thread makes at a time.
const TASK: usize = 1 << 18;

/// Writes a database in another program's layout and returns the number of bytes.
///
/// Cost: some 20 ns of one core per entry.
///
/// # Errors
/// [`PdbError::Unsuitable`] when the layout cannot hold the database, [`PdbError::Output`] and
/// [`PdbError::Interrupted`].
pub fn export(
    pdb: &Pdb,
    layout: ExportLayout,
    path: impl AsRef<Path>,
    replace: bool,
    threads: Option<usize>,
    observer: &dyn Progress,
) -> Result<u64, PdbError> {
    let path = path.as_ref();
    let total = bytes(pdb, layout)?;
    let rows = TableRows::new(pdb, layout);
    let whole_rows = |bytes: usize| (bytes / rows.length).max(1) * rows.length;
    let (piece, task) = (whole_rows(PIECE), whole_rows(TASK));
    pool(threads)?.install(|| {
        let mut output = Output::create(path, replace)?;
        let meter = Meter::new(observer, Phase::File, 0, total);
        let mut table = Vec::new();
        for begin in (0..total).step_by(piece) {
            table.resize(piece.min((total - begin) as usize), 0);
            table.par_chunks_mut(task).enumerate().for_each(|(i, bytes)| {
                let first = begin as usize + i * task;
                for (row, bytes) in bytes.chunks_exact_mut(rows.length).enumerate() {
                    rows.fill(first / rows.length + row, bytes);
                }
            });
            output.write_all(&table).map_err(store::failed(path))?;
            meter.add(table.len() as u64)?;
        }
        output.finish()?;
        Ok(total)
    })
}

/// The bytes of a layout's table.
fn bytes(pdb: &Pdb, layout: ExportLayout) -> Result<u64, PdbError> {
    let refuse = |why: &str| {
        Err(PdbError::Unsuitable(format!("layout {layout} cannot hold this database: {why}")))
    };
    if pdb.encoding() == Encoding::Bit {
        return refuse("one bit an entry holds no values: build it with --encoding byte");
    }
    if pdb.kind() == Kind::AllMoves {
        return refuse("it is of additive values: build --kind additive-min");
    }
    let pattern = pdb.pattern();
    let (size, tiles) = (pattern.size(), pattern.tiles());
    if layout == ExportLayout::Puzzle24 {
        let homes = pattern.home().iter().zip(tiles);
        if (size.rows(), size.cols()) != (5, 5) {
            return refuse("it is for 5x5 boards");
        }
        if !homes.clone().all(|(&home, &tile)| u16::from(home) == tile) {
            return refuse("it needs --goal first (tile t at home on cell t)");
        }
    } else if pdb.kind() == Kind::Regions {
        return refuse("it has one value per placement: build --kind additive-min");
    }
    if layout != ExportLayout::Positions {
        return Ok(pdb.entries());
    }
    let (cells, k) = (size.cells(), tiles.len());
    let bytes = (cells as u64).checked_pow(k as u32);
    match bytes.filter(|&bytes| bytes <= MAX_POSITIONS) {
        Some(bytes) => Ok(bytes),
        None => refuse(&format!("{cells}^{k} bytes are too many")),
    }
}

/// A table of a layout, row by row.
struct TableRows<'a> {
    pdb: &'a Pdb,
    layout: ExportLayout,
    /// Entries of a row: the arrangements of a set for 24puzzle, else the cells of one tile.
    length: usize,
    /// 24puzzle's sets of cells.
    sets: Option<Subsets>,
    /// What the cell of each tile counts in a rank, of which each cell below it that an earlier tile has takes one.
    weights: [i64; Pattern::MAX_TILES],
    /// For each arrangement of 24puzzle where each tile is among the cells of the set, and what such cells take.
    arrangements: Vec<([u8; Pattern::MAX_TILES], i64)>,
}

/// The cells before one that lie below it.
fn smaller(cells: &[u8], i: usize) -> i64 {
    cells[..i].iter().filter(|&&other| other < cells[i]).count() as i64
}

impl<'a> TableRows<'a> {
    fn new(pdb: &'a Pdb, layout: ExportLayout) -> TableRows<'a> {
        let (n, k) = (pdb.pattern().size().cells(), pdb.pattern().tiles().len());
        let weight = |tile: usize| (tile + 1..k).map(|t| (n - t) as i64).product::<i64>();
        let weights: [i64; Pattern::MAX_TILES] = std::array::from_fn(weight);
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
            (at, (0..k).map(|i| weights[i] * smaller(&at, i)).sum())
        };
        let (sets, arrangements) = (Subsets::new(n, k), Vec::new());
        let mut rows = TableRows { pdb, layout, length: n, sets, weights, arrangements };
        match layout {
            ExportLayout::Lexicographic => rows.length = n - k + 1,
            ExportLayout::Positions => {}
            ExportLayout::Puzzle24 => {
                rows.length = lehmer::count(k) as usize;
                rows.arrangements = (0..lehmer::count(k)).map(arrangement).collect();
            }
        }
        rows
    }

    fn fill(&self, row: usize, to: &mut [u8]) {
        let (n, k) = (self.pdb.pattern().size().cells(), self.pdb.pattern().tiles().len());
        let own = || &self.pdb.bytes()[row * self.length..][..self.length];
        let weights = &self.weights;
        match (self.layout, &self.sets) {
            (ExportLayout::Lexicographic, _) => to.copy_from_slice(own()),
            (ExportLayout::Positions, _) => {
                let mut others = [0; Pattern::MAX_TILES];
                let others = &mut others[1..k];
                let mut digits = row;
                for cell in others.iter_mut() {
                    *cell = (digits % n) as u8;
                    digits /= n;
                }
                if set_of(others).count_ones() as usize != others.len() {
                    return to.fill(UNREACHED);
                }
                // As if the first tile's cell were below all others.
                let mut rank = 0;
                for (i, &cell) in others.iter().enumerate() {
                    rank += weights[i + 1] * (i64::from(cell) - smaller(others, i) - 1);
                }
                for (first, to) in (0..).zip(to) {
                    match others.iter().position(|&cell| cell == first) {
                        None => *to = self.pdb.bytes()[rank as usize],
                        Some(tile) => {
                            *to = UNREACHED;
                            rank += weights[tile + 1];
                        }
                    }
                    rank += weights[0];
                }
            }
            (ExportLayout::Puzzle24, Some(sets)) if self.pdb.kind() == Kind::Minimum => {
                let set: Vec<i64> = bits(sets.unrank(row)).map(|cell| cell as i64).collect();
                for ((at, less), to) in self.arrangements.iter().zip(to) {
                    let cells = at.iter().zip(weights).take(k);
                    let rank: i64 = cells.map(|(&at, weight)| weight * set[usize::from(at)]).sum();
                    *to = self.pdb.bytes()[(rank - less) as usize];
                }
            }
            // With the regions of the blank the rows are those of the database.
            (ExportLayout::Puzzle24, _) => {
                for ((at, _), to) in self.arrangements.iter().zip(to) {
                    *to = own()[arrangement_rank((1 << k) - 1, &at[..k]) as usize];
                }
            }
        }
    }
}
