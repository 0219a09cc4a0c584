//! The nibble encoding: four bits an entry; and that of one bit.
//!
//! Invariant: a nibble holds half the difference between a value and the Manhattan distance of its tiles:
//! every move of a pattern tile changes both by one, so the difference is even. 15 stands for an entry that
//! no board reaches.

use rayon::prelude::*;

use super::database::Pdb;
use super::descent::bit_of;
use super::header::raw_bytes;
use super::pattern::distance;
use super::plain::UNREACHED;
use super::{Encoding, Kind, Pattern, PdbError};
use crate::perm::{lehmer, placement};
use crate::store::{Header as _, Image};

/// Returns the same table in another encoding.
///
/// Cost: about 3 ns an entry per core, and the new table's memory.
///
/// # Errors
/// [`PdbError::NotPackable`] when a value exceeds its Manhattan distance by more than 28, [`PdbError::BitKind`],
/// and [`PdbError::NoValues`] for a table of one bit an entry.
pub fn encode(pdb: &Pdb, encoding: Encoding) -> Result<Pdb, PdbError> {
    let old = pdb.summary();
    if !old.kind.encodings().contains(&encoding) {
        return Err(PdbError::BitKind);
    }
    let mut header = old.clone();
    header.encoding = encoding;
    header.stored_bytes = raw_bytes(header.entries, encoding);
    let layout = header.layout();
    let mut image = Image::zeroed(layout.data.end())?;
    let index = layout.index.of_mut(image.bytes_mut());
    index.copy_from_slice(pdb.file().index());
    let data = layout.data.of_mut(image.bytes_mut());
    let distances = Distances::new(pdb);
    // An even number of entries per piece keeps pairs of nibbles together.
    let piece = distances.piece();
    let source = pdb.bytes();
    match (old.encoding, encoding) {
        (Encoding::Byte, Encoding::Nibble) => data
            .par_chunks_mut(piece / 2)
            .zip(source.par_chunks(piece))
            .enumerate()
            .try_for_each(|(i, (to, from))| {
                let mut fail = None;
                distances.walk((i * piece) as u64, from.len(), |j, md| {
                    let nibble = match from[j] {
                        UNREACHED => 15,
                        value => {
                            let excess = i32::from(value) - md as i32;
                            if !(0..=28).contains(&excess) || excess % 2 == 1 {
                                fail.get_or_insert((i * piece + j, excess));
                            }
                            (excess / 2) as u8
                        }
                    };
                    to[j / 2] |= (nibble & 15) << (4 * (j % 2));
                });
                match fail {
                    None => Ok(()),
                    Some((entry, excess)) => Err(PdbError::NotPackable {
                        entry: entry as u64,
                        excess,
                    }),
                }
            })?,
        (Encoding::Nibble, Encoding::Byte) => data
            .par_chunks_mut(piece)
            .zip(source.par_chunks(piece / 2))
            .enumerate()
            .for_each(|(i, (to, from))| {
                let len = to.len();
                distances.walk((i * piece) as u64, len, |j, md| {
                    let nibble = from[j / 2] >> (4 * (j % 2)) & 15;
                    to[j] = if nibble == 15 {
                        UNREACHED
                    } else {
                        md as u8 + 2 * nibble
                    };
                });
            }),
        (Encoding::Byte, Encoding::Bit) => {
            // A value that no board reaches is 255: bit 0, as those of all its neighbours.
            let bit = |value: u8| if value == UNREACHED { 0 } else { bit_of(value) };
            let pack = |values: &[u8]| {
                (0..)
                    .zip(values)
                    .fold(0, |byte, (i, &v)| byte | bit(v) << i)
            };
            let bytes = data.par_iter_mut().zip(source.par_chunks(8));
            bytes.for_each(|(to, values)| *to = pack(values));
        }
        (Encoding::Nibble, Encoding::Bit) => {
            return encode(&encode(pdb, Encoding::Byte)?, encoding);
        }
        (Encoding::Bit, Encoding::Byte | Encoding::Nibble) => return Err(PdbError::NoValues),
        (Encoding::Byte, Encoding::Byte)
        | (Encoding::Nibble, Encoding::Nibble)
        | (Encoding::Bit, Encoding::Bit) => data.copy_from_slice(source),
    }
    Ok(Pdb::finish(image, header))
}

/// Manhattan distances of consecutive entries.
struct Distances<'a> {
    pdb: &'a Pdb,
    cells: usize,
    k: usize,
    /// For each tile and cell the distance to the tile's goal cell.
    away: Vec<[u8; CELLS]>,
    /// All arrangements in order (region-aware tables).
    arrangements: Vec<[u8; Pattern::MAX_TILES]>,
}

/// Most cells of a board.
const CELLS: usize = Pattern::MAX_SIDE * Pattern::MAX_SIDE;

impl Distances<'_> {
    fn new(pdb: &Pdb) -> Distances<'_> {
        let size = pdb.pattern().size();
        let k = pdb.pattern().tiles().len();
        let away =
            pdb.pattern().home().iter().map(|&home| {
                std::array::from_fn(|cell| distance(size.cols(), cell as u8, home) as u8)
            });
        let ranks = match pdb.kind() {
            Kind::Minimum | Kind::AllMoves => 0..0,
            Kind::Regions => 0..lehmer::count(k),
        };
        let arrangements = ranks.map(|rank| {
            let mut line = [0; Pattern::MAX_TILES];
            lehmer::unrank(rank, &mut line[..k]);
            line
        });
        Distances {
            pdb,
            cells: size.cells(),
            k,
            away: away.collect(),
            arrangements: arrangements.collect(),
        }
    }

    /// Entries of a piece of work: even, and whole regions, or whole rows of cells of the last tile.
    fn piece(&self) -> usize {
        match self.pdb.kind() {
            Kind::Minimum | Kind::AllMoves => (self.cells + 1 - self.k) << 16,
            Kind::Regions => 2 * self.arrangements.len() * ((1 << 15) >> self.k).max(1),
        }
    }

    /// Calls `visit(j, distance)` for `len` entries from `first` on.
    fn walk(&self, first: u64, len: usize, visit: impl FnMut(usize, u32)) {
        match self.pdb.kind() {
            Kind::Minimum | Kind::AllMoves => self.walk_placements(first, len, visit),
            Kind::Regions => self.walk_regions(first, len, visit),
        }
    }

    fn walk_placements(&self, first: u64, len: usize, mut visit: impl FnMut(usize, u32)) {
        let (n, last) = (self.cells, self.k - 1);
        let mut cells = [0u8; Pattern::MAX_TILES];
        // All tiles but the last stay while the last one visits the cells that they leave free.
        let free = n - last;
        for i in 0..len / free {
            placement::unrank(n, first / free as u64 + i as u64, &mut cells[..last]);
            let head = cells[..last].iter().zip(&self.away);
            let base: u32 = head.map(|(&c, away)| u32::from(away[usize::from(c)])).sum();
            let used = cells[..last].iter().fold(0u64, |set, &c| set | 1 << c);
            let free_cells = (0..n).filter(|c| used >> c & 1 == 0);
            for (j, cell) in free_cells.enumerate() {
                visit(i * free + j, base + u32::from(self.away[last][cell]));
            }
        }
    }

    fn walk_regions(&self, first: u64, len: usize, mut visit: impl FnMut(usize, u32)) {
        let arrangements = self.arrangements.len();
        for i in 0..len / arrangements {
            let slot = first / arrangements as u64 + i as u64;
            let (set, _) = self.pdb.entry_order().slot(slot, |set| self.pdb.start(set));
            let mut away = [[0u8; Pattern::MAX_TILES]; Pattern::MAX_TILES];
            for (away, all) in away.iter_mut().zip(&self.away) {
                for (to, cell) in away.iter_mut().zip(super::grid::bits(set)) {
                    *to = all[cell];
                }
            }
            for (rank, positions) in self.arrangements.iter().enumerate() {
                let tiles = positions[..self.k].iter().zip(&away);
                let md = tiles
                    .map(|(&p, away)| u32::from(away[usize::from(p)]))
                    .sum();
                visit(i * arrangements + rank, md);
            }
        }
    }
}
