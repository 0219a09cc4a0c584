//! The packed encoding, and compression for shipping.
//!
//! Invariant: unpacking restores the very file that was packed. The packed encoding holds half the
//! difference between a value and the Manhattan distance of its tiles, in four bits: every move of a
//! pattern tile changes both by one, so the difference is even. 15 stands for an entry that no board
//! reaches.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::header::{BLOCK_BYTES, HEADER_BYTES, Header, raw_bytes};
use super::pattern::distance;
use super::plain::UNREACHED;
use super::table::{self, Image, Pdb, write_file};
use super::{Encoding, Kind, Pattern, PdbError, PdbObserver, Phase};
use crate::perm::{lehmer, placement};
use crate::store::Mapped;

/// Level of compression: 9 shrinks the 4x4 table of {1..7} to a third of its bytes at 20 MB/s.
const LEVEL: i32 = 9;

/// Returns the same table in another encoding.
///
/// Cost: about 3 ns an entry per core, and the new table's memory.
///
/// # Errors
/// [`PdbError::NotPackable`] when a value exceeds its Manhattan distance by more than 28.
pub fn encode(pdb: &Pdb, encoding: Encoding) -> Result<Pdb, PdbError> {
    let old = pdb.header();
    let mut header = old.clone();
    header.encoding = encoding;
    header.stored_bytes = raw_bytes(header.entries, encoding);
    let mut image = Image::zeroed(header.data().end())?;
    if let Image::Memory { array, .. } = &mut image {
        let bytes = array.units_mut().as_flattened_mut();
        let starts = old.starts();
        header
            .starts()
            .of_mut(bytes)
            .copy_from_slice(starts.of(pdb.image()));
        let data = header.data().of_mut(bytes);
        let distances = Distances::new(pdb);
        // An even number of entries per piece keeps pairs of nibbles together.
        let piece = distances.piece();
        let source = pdb.bytes();
        match (old.encoding, encoding) {
            (Encoding::Byte, Encoding::Packed) => data
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
            (Encoding::Packed, Encoding::Byte) => data
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
            _ => data.copy_from_slice(source),
        }
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
            Kind::Minimum => 0..0,
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

    /// Entries of a piece of work: even, and for region-aware tables whole regions.
    fn piece(&self) -> usize {
        match self.pdb.kind() {
            Kind::Minimum => 1 << 20,
            Kind::Regions => 2 * self.arrangements.len() * ((1 << 15) >> self.k).max(1),
        }
    }

    /// Calls `visit(j, distance)` for `len` entries from `first` on.
    fn walk(&self, first: u64, len: usize, visit: impl FnMut(usize, u32)) {
        match self.pdb.kind() {
            Kind::Minimum => self.walk_placements(first, len, visit),
            Kind::Regions => self.walk_regions(first, len, visit),
        }
    }

    fn walk_placements(&self, first: u64, len: usize, mut visit: impl FnMut(usize, u32)) {
        let mut cells = [0u8; Pattern::MAX_TILES];
        let cells = &mut cells[..self.k];
        placement::unrank(self.cells, first, cells);
        let last = self.k - 1;
        let mut j = 0;
        // All tiles but the last stay while the last one visits the free cells above it.
        while j < len {
            let head = cells[..last].iter().zip(&self.away);
            let base: u32 = head.map(|(&c, away)| u32::from(away[usize::from(c)])).sum();
            let used = cells[..last].iter().fold(0u64, |set, &c| set | 1 << c);
            for cell in (usize::from(cells[last])..self.cells).filter(|c| used >> c & 1 == 0) {
                if j == len {
                    return;
                }
                visit(j, base + u32::from(self.away[last][cell]));
                j += 1;
            }
            self.advance(cells);
        }
    }

    /// Moves the tiles before the last to their next placement, and the last to its first free cell.
    fn advance(&self, cells: &mut [u8]) {
        for i in (0..self.k - 1).rev() {
            let used = cells[..i].iter().fold(0u64, |set, &c| set | 1 << c);
            let above = (usize::from(cells[i]) + 1..self.cells).find(|c| used >> c & 1 == 0);
            let Some(cell) = above else { continue };
            let mut used = used | 1 << cell;
            cells[i] = cell as u8;
            for later in &mut cells[i + 1..] {
                *later = (!used).trailing_zeros() as u8;
                used |= 1 << *later;
            }
            return;
        }
    }

    fn walk_regions(&self, first: u64, len: usize, mut visit: impl FnMut(usize, u32)) {
        let arrangements = self.arrangements.len();
        for i in 0..len / arrangements {
            let slot = first / arrangements as u64 + i as u64;
            let (set, _) = self.pdb.order().slot(slot, |set| self.pdb.start(set));
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

/// Writes a compressed copy of a database file: independent zstd frames of 1 MiB each.
///
/// # Errors
/// [`PdbError`] when the file is damaged or compressed already, or writing fails.
pub fn compress(
    from: &Path,
    to: &Path,
    replace: bool,
    threads: Option<usize>,
    observer: &dyn PdbObserver,
) -> Result<(), PdbError> {
    let pdb = Pdb::open(from)?;
    pdb.check()?;
    super::build::pool(threads)?.install(|| {
        let failed = |error| PdbError::io("cannot compress", from)(error);
        let total = pdb.bytes().len() as u64;
        let done = std::sync::atomic::AtomicU64::new(0);
        let frames: Vec<Vec<u8>> = pdb
            .bytes()
            .par_chunks(BLOCK_BYTES as usize)
            .map(|block| {
                if observer.interrupted() {
                    return Err(PdbError::Interrupted);
                }
                let frame = zstd::bulk::compress(block, LEVEL).map_err(failed)?;
                let bytes = block.len() as u64;
                let before = done.fetch_add(bytes, std::sync::atomic::Ordering::Relaxed);
                observer.progress(Phase::File, before + bytes, total);
                Ok(frame)
            })
            .collect::<Result<_, PdbError>>()?;
        let mut header = pdb.header().clone();
        header.compressed = true;
        header.stored_bytes = frames.iter().map(|frame| frame.len() as u64).sum();
        let mut file = vec![0; header.data().end() as usize];
        let old = pdb.header();
        header
            .starts()
            .of_mut(&mut file)
            .copy_from_slice(old.starts().of(pdb.image()));
        header
            .checks()
            .of_mut(&mut file)
            .copy_from_slice(old.checks().of(pdb.image()));
        let mut end = 0;
        let ends = header.frames().of_mut(&mut file);
        for (slot, frame) in ends.as_chunks_mut().0.iter_mut().zip(&frames) {
            end += frame.len() as u64;
            *slot = end.to_le_bytes();
        }
        header
            .data()
            .of_mut(&mut file)
            .copy_from_slice(&frames.concat());
        file[..HEADER_BYTES].copy_from_slice(&*header.encode());
        write_file(to, replace, &file, observer)
    })
}

/// Writes the database file that was compressed.
///
/// # Errors
/// [`PdbError`] when the file is damaged or not compressed, or writing fails.
pub fn decompress(
    from: &Path,
    to: &Path,
    replace: bool,
    threads: Option<usize>,
    observer: &dyn PdbObserver,
) -> Result<(), PdbError> {
    let pdb = decompressed(from, threads)?;
    write_file(to, replace, pdb.image(), observer)
}

/// Returns a compressed database, decompressed in memory and checked.
fn decompressed(path: &Path, threads: Option<usize>) -> Result<Pdb, PdbError> {
    let mapped = Mapped::open(path).map_err(PdbError::io("cannot open", path))?;
    let packed = table::read_header(path, mapped.bytes())?;
    if !packed.compressed {
        return Err(PdbError::NotCompressed(path.to_path_buf()));
    }
    table::check_sections(path, &packed, mapped.bytes())?;
    let mut header = packed.clone();
    header.compressed = false;
    header.stored_bytes = header.raw_bytes();
    let mut image = Image::zeroed(header.data().end())?;
    let Image::Memory { array, .. } = &mut image else {
        return Err(PdbError::NotCompressed(path.to_path_buf()));
    };
    let bytes = array.units_mut().as_flattened_mut();
    header
        .starts()
        .of_mut(bytes)
        .copy_from_slice(packed.starts().of(mapped.bytes()));
    let sums = packed.checks().of(mapped.bytes());
    header.checks().of_mut(bytes).copy_from_slice(sums);
    let ends = packed.frames().of(mapped.bytes()).as_chunks::<8>().0;
    let frames = packed.data().of(mapped.bytes());
    let damaged = |block: usize| PdbError::Damaged {
        path: path.to_path_buf(),
        block: block as u64,
        blocks: packed.blocks(),
    };
    super::build::pool(threads)?.install(|| {
        header
            .data()
            .of_mut(bytes)
            .par_chunks_mut(BLOCK_BYTES as usize)
            .zip(sums.par_chunks(8))
            .enumerate()
            .try_for_each(|(i, (block, sum))| {
                let begin = i.checked_sub(1).map_or(0, |i| u64::from_le_bytes(ends[i]));
                let end = u64::from_le_bytes(ends[i]);
                let frame = frames.get(begin as usize..end as usize).ok_or(damaged(i))?;
                let length = zstd::bulk::decompress_to_buffer(frame, &mut *block);
                let good = length.is_ok_and(|length| length == block.len())
                    && xxh3_64(block).to_le_bytes() == *sum;
                if good { Ok(()) } else { Err(damaged(i)) }
            })
    })?;
    bytes[..HEADER_BYTES].copy_from_slice(&*header.encode());
    Ok(Pdb::new(PathBuf::from(path), image, header))
}

/// Returns what the header of a file says, compressed or not: the pattern's table without its entries.
///
/// # Errors
/// [`PdbError`] as for [`Pdb::open`].
pub fn inspect(path: &Path) -> Result<Summary, PdbError> {
    let mapped = Mapped::open(path).map_err(PdbError::io("cannot open", path))?;
    let header = table::read_header(path, mapped.bytes())?;
    Ok(Summary::new(&header, mapped.bytes().len() as u64))
}

/// What a database file says of itself.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The pattern.
    pub pattern: Pattern,
    /// The kind of the values.
    pub kind: Kind,
    /// The encoding of the values.
    pub encoding: Encoding,
    /// Whether the entries are compressed.
    pub compressed: bool,
    /// The number of entries.
    pub entries: u64,
    /// The number of entries of each value.
    pub histogram: Vec<u64>,
    /// The bytes of the file.
    pub file_bytes: u64,
    /// The checksum of the entries.
    pub checksum: u64,
}

impl Summary {
    fn new(header: &Header, file_bytes: u64) -> Summary {
        Summary {
            pattern: header.pattern.clone(),
            kind: header.kind,
            encoding: header.encoding,
            compressed: header.compressed,
            entries: header.entries,
            histogram: header.histogram.clone(),
            file_bytes,
            checksum: header.checksum,
        }
    }

    /// Returns the largest value.
    pub fn maximum(&self) -> u8 {
        (self.histogram.len() - 1) as u8
    }

    /// Returns the mean value of the entries.
    pub fn mean(&self) -> f64 {
        table::mean(&self.histogram)
    }
}

impl Pdb {
    /// Returns what the database says of itself.
    pub fn summary(&self) -> Summary {
        Summary::new(self.header(), self.file_bytes())
    }
}
