//! The nibble encoding: four bits an entry; and that of one bit.
//!
//! Invariant: a nibble holds half the difference between a value and the Manhattan distance of its tiles:
//! every move of a pattern tile changes both by one, so the difference is even. 15 stands for an entry that
//! no board reaches.

use rayon::prelude::*;

use crate::bits::bits;
use crate::pdb::header::raw_bytes;
use crate::pdb::oracle::UNREACHED;
use crate::pdb::pattern::distance;
use crate::pdb::{Encoding, Kind, Pattern, Pdb, PdbError};
use crate::perm::{lehmer, placement};
use crate::store::{FileHeader as _, Image};

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
    let distances = ManhattanDistances::new(pdb);
    // An even number of entries per piece keeps pairs of nibbles together.
    let piece = distances.piece();
    let source = pdb.bytes();
    match (old.encoding, encoding) {
        (Encoding::Byte, Encoding::Nibble) => {
            data.par_chunks_mut(piece / 2).zip(source.par_chunks(piece)).enumerate().try_for_each(
                |(i, (to, from))| {
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
                        Some((entry, excess)) => {
                            Err(PdbError::NotPackable { entry: entry as u64, excess })
                        }
                    }
                },
            )?
        }
        (Encoding::Nibble, Encoding::Byte) => {
            data.par_chunks_mut(piece).zip(source.par_chunks(piece / 2)).enumerate().for_each(
                |(i, (to, from))| {
                    let len = to.len();
                    distances.walk((i * piece) as u64, len, |j, md| {
                        let nibble = from[j / 2] >> (4 * (j % 2)) & 15;
                        to[j] = if nibble == 15 { UNREACHED } else { md as u8 + 2 * nibble };
                    });
                },
            )
        }
        (Encoding::Byte, Encoding::Bit) => {
            // A value that no board reaches is 255: bit 0, as those of all its neighbours.
            let bit = |value: u8| if value == UNREACHED { 0 } else { bit_of(value) };
            let pack =
                |values: &[u8]| (0..).zip(values).fold(0, |byte, (i, &v)| byte | bit(v) << i);
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
struct ManhattanDistances<'a> {
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

impl ManhattanDistances<'_> {
    fn new(pdb: &Pdb) -> ManhattanDistances<'_> {
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
        ManhattanDistances {
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
                for (to, cell) in away.iter_mut().zip(bits(set)) {
                    *to = all[cell];
                }
            }
            for (rank, positions) in self.arrangements.iter().enumerate() {
                let tiles = positions[..self.k].iter().zip(&away);
                let md = tiles.map(|(&p, away)| u32::from(away[usize::from(p)])).sum();
                visit(i * arrangements + rank, md);
            }
        }
    }
}

// Values from one bit an entry: told by a neighbour's value, or counted on a walk home.
//
// Invariant: every move of a pattern tile changes a region-aware value by one and the colour of the set of
// cells. So the value's lowest bit is the colour against the goal's, and the second bit, the one in the table,
// makes it the value modulo 4: it tells which of two neighbours is nearer to the goal. An entry that no board
// reaches has 0, as all that can be reached from it; a walk from there finds no way after at most one step:
// below 0 would be 3.

/// Returns the bit that stands for a value.
pub(crate) fn bit_of(value: u8) -> u8 {
    value >> 1 & 1
}

impl Pdb {
    /// The value modulo 4 of an entry with a given bit.
    #[inline]
    fn remainder(&self, set: u64, bit: u8) -> u8 {
        let grid = self.entry_order().grid();
        let colour = grid.colour(set) ^ grid.colour(self.home());
        2 * bit + colour as u8
    }

    /// The set of the goal cells.
    fn home(&self) -> u64 {
        set(self.pattern().home())
    }

    /// Counts the moves on a walk to the goal in a table of one bit an entry, whose bits `bit` reads; `None` when
    /// there is no way.
    pub(crate) fn descend<E>(
        &self,
        cells: &[u8],
        blank: u8,
        mut bit: impl FnMut(u64) -> Result<u8, E>,
    ) -> Result<Option<u8>, E> {
        let (k, grid) = (cells.len(), self.entry_order().grid());
        let mut at = [0; Pattern::MAX_TILES];
        let at = &mut at[..k];
        at.copy_from_slice(cells);
        let mut blank = usize::from(blank);
        let home = self.pattern().home();
        let goal_region = grid.region(grid.free(self.home()), self.pattern().goal().blank());
        let mut rest = self.remainder(set(at), bit(self.entry(at, blank as u8))?);
        // Damage that no checksum shows must not make a walk endless.
        'walk: for value in 0..UNREACHED {
            if at == home && goal_region >> blank & 1 == 1 {
                return Ok(Some(value));
            }
            rest = (rest + 3) % 4;
            let region = grid.region(grid.free(set(at)), blank);
            for x in 0..k {
                let from = at[x];
                for to in bits(grid.around(1 << from) & region) {
                    at[x] = to as u8;
                    let bit = bit(self.entry(at, from))?;
                    if self.remainder(set(at), bit) == rest {
                        blank = usize::from(from);
                        continue 'walk;
                    }
                }
                at[x] = from;
            }
            return Ok(None);
        }
        Ok(None)
    }

    /// Returns the value of a placement that one move of a pattern tile leads to from another one, whose value is
    /// given: one read from memory whatever the encoding, where [`Pdb::lookup`] walks to the goal for one bit an
    /// entry. Cells as for [`Pdb::entry`].
    ///
    /// ```
    /// use tilewave::pdb::{Build, Encoding, Kind, Pattern, build};
    /// use tilewave::{Goal, NoProgress, Size};
    /// let goal = Goal::Last.board(Size::new(3, 3)?)?;
    /// let pattern = Pattern::new(goal, &[5, 6, 8])?; // at home on cells 4, 5 and 7
    /// let how = Build { kind: Kind::Regions, encoding: Encoding::Bit, ..Build::new(pattern) };
    /// let pdb = build(&how, &NoProgress)?;
    /// assert_eq!(pdb.lookup(&[4, 8, 7], 5), Some(1)); // tile 6 has gone down
    /// assert_eq!(pdb.lookup_after(&[4, 8, 7], 5, Some(0)), Some(1));
    /// # Ok::<(), tilewave::Error>(())
    /// ```
    #[inline]
    pub fn lookup_after(&self, cells: &[u8], blank: u8, before: Option<u8>) -> Option<u8> {
        match self.encoding() {
            Encoding::Bit => {
                let entry = self.entry(cells, blank);
                let byte = self.bytes().get(self.place(entry)).copied()?;
                Some(after(before?, byte >> (entry % 8) & 1))
            }
            Encoding::Byte | Encoding::Nibble => self.lookup(cells, blank),
        }
    }
}

/// Returns the value of an entry with a given bit, a neighbour's value being known.
#[inline]
pub(crate) fn after(before: u8, bit: u8) -> u8 {
    let up = before.wrapping_add(1);
    up.wrapping_sub(2 * (bit_of(up) ^ bit))
}

/// The set of some cells.
fn set(cells: &[u8]) -> u64 {
    cells.iter().fold(0, |set, &cell| set | 1 << cell)
}
