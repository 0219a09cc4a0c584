//! Layouts of other solvers: raw tables without a header.
//!
//! Invariant: an exported value is the database's value; only its place differs. Entries that no board
//! reaches, and places that no placement has, hold 255.

use std::io::Write;
use std::path::Path;

use rayon::prelude::*;

use super::entries::Entries;
use super::grid::bits;
use super::plain::UNREACHED;
use super::{Kind, Pattern, Pdb, PdbError, PdbObserver, Phase};
use crate::perm::{lehmer, placement};
use crate::store::Output;

/// A layout of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// clausecker's 24puzzle: sets by increasing masks, then regions (region-aware databases), then
    /// arrangements with the first tile least significant.
    Puzzle24,
    /// A plain lexicographic table: the tiles' cells, first tile most significant, as in hog2.
    Lexicographic,
    /// A base-N table: index = sum of cell of tile i * N^i.
    Positions,
}

impl Layout {
    /// All layouts.
    pub const ALL: [Layout; 3] = [Layout::Puzzle24, Layout::Lexicographic, Layout::Positions];

    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Puzzle24 => "24puzzle",
            Layout::Lexicographic => "hog2-lex",
            Layout::Positions => "positions",
        }
    }
}

/// Most bytes of a table of positions: it is mostly empty.
const MAX_POSITIONS: u64 = 1 << 40;
/// Bytes that are computed before they are written.
const PIECE: u64 = 64 << 20;

/// Writes a database in another program's layout and returns the number of bytes.
///
/// # Errors
/// [`PdbError::Layout`] when the layout cannot hold the database, [`PdbError::Exists`], [`PdbError::Io`]
/// and [`PdbError::Interrupted`].
pub fn export(
    pdb: &Pdb,
    layout: Layout,
    path: &Path,
    replace: bool,
    threads: Option<usize>,
    observer: &dyn PdbObserver,
) -> Result<u64, PdbError> {
    let table = Table::new(pdb, layout)?;
    let total = table.bytes()?;
    super::build::pool(threads)?.install(|| {
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => PdbError::Exists(path.to_path_buf()),
            _ => PdbError::io("cannot write", path)(error),
        };
        let mut output = Output::create(path, replace).map_err(failed)?;
        let mut piece = vec![UNREACHED; PIECE.min(total) as usize];
        let mut first = 0;
        while first < total {
            if observer.interrupted() {
                return Err(PdbError::Interrupted);
            }
            let bytes = &mut piece[..PIECE.min(total - first) as usize];
            const TASK: usize = 1 << 16;
            bytes
                .par_chunks_mut(TASK)
                .enumerate()
                .for_each(|(i, task)| {
                    let begin = first + (i * TASK) as u64;
                    for (index, value) in (begin..).zip(task) {
                        *value = table.value(index).unwrap_or(UNREACHED);
                    }
                });
            output.file().write_all(bytes).map_err(failed)?;
            first += bytes.len() as u64;
            observer.progress(Phase::File, first, total);
        }
        output.finish().map_err(failed)?;
        Ok(total)
    })
}

/// A database seen through a layout.
struct Table<'a> {
    pdb: &'a Pdb,
    layout: Layout,
    order: Entries,
    cells: usize,
    k: usize,
}

impl<'a> Table<'a> {
    fn new(pdb: &'a Pdb, layout: Layout) -> Result<Table<'a>, PdbError> {
        let refuse = |why: &str| {
            Err(PdbError::Layout {
                layout: layout.name(),
                why: why.to_string(),
            })
        };
        let pattern = pdb.pattern();
        let (size, tiles) = (pattern.size(), pattern.tiles());
        match layout {
            Layout::Puzzle24 => {
                if (size.rows(), size.cols()) != (5, 5) {
                    return refuse("it is for 5x5 boards");
                }
                let homes = pattern.home().iter().zip(tiles);
                let first = homes.clone().all(|(&home, &tile)| u16::from(home) == tile);
                if !first || pattern.goal().blank() != 0 {
                    return refuse("it needs --goal first (tile t at home on cell t)");
                }
            }
            Layout::Lexicographic | Layout::Positions => {
                if pdb.kind() == Kind::Regions {
                    return refuse("it has one value per placement: build --kind additive-min");
                }
            }
        }
        Ok(Table {
            pdb,
            layout,
            order: Entries::new(pattern, pdb.kind()),
            cells: size.cells(),
            k: tiles.len(),
        })
    }

    fn bytes(&self) -> Result<u64, PdbError> {
        match self.layout {
            Layout::Puzzle24 | Layout::Lexicographic => Ok(self.pdb.entries()),
            Layout::Positions => {
                let bytes = (self.cells as u64).checked_pow(self.k as u32);
                let fits = bytes.filter(|&bytes| bytes <= MAX_POSITIONS);
                fits.ok_or_else(|| PdbError::Layout {
                    layout: self.layout.name(),
                    why: format!("{}^{} bytes are too many", self.cells, self.k),
                })
            }
        }
    }

    /// The value at an index of the layout.
    fn value(&self, index: u64) -> Option<u8> {
        let mut cells = [0; Pattern::MAX_TILES];
        let cells = &mut cells[..self.k];
        match self.layout {
            Layout::Lexicographic => {
                placement::unrank(self.cells, index, cells);
                self.pdb.at(index, cells)
            }
            Layout::Positions => {
                let (mut rest, mut used) = (index, 0u64);
                for cell in cells.iter_mut() {
                    *cell = (rest % self.cells as u64) as u8;
                    rest /= self.cells as u64;
                    used |= 1 << *cell;
                }
                let distinct = used.count_ones() as usize == self.k;
                distinct.then(|| self.pdb.lookup(cells, 0)).flatten()
            }
            Layout::Puzzle24 => {
                let arrangements = lehmer::count(self.k);
                let (slot, mut rest) = (index / arrangements, index % arrangements);
                let (set, region) = self.slot(slot);
                let mut left = set;
                for (i, cell) in cells.iter_mut().enumerate() {
                    let radix = (self.k - i) as u64;
                    let digit = (rest % radix) as usize;
                    rest /= radix;
                    *cell = bits(left).nth(digit).unwrap_or_default() as u8;
                    left &= !(1u64 << *cell);
                }
                let blank = self.order.region_cell(set, region);
                self.pdb.lookup(cells, blank)
            }
        }
    }

    /// The set of occupied cells and the region of a slot of k! values.
    fn slot(&self, slot: u64) -> (u64, usize) {
        match self.pdb.kind() {
            Kind::Minimum => (self.order.set(slot as usize), 0),
            Kind::Regions => self.order.slot(slot, |set| self.pdb.start(set)),
        }
    }
}
