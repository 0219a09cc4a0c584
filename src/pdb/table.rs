//! A database: a table of values and what they are values of, in memory or mapped from a file.
//!
//! Invariant: memory holds the very bytes of the file, header first, so that saving is writing and
//! opening is mapping.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::entries::Entries;
use super::header::{BLOCK_BYTES, HEADER_BYTES, Header, MAGIC, Section, VERSION};
use super::plain::UNREACHED;
use super::{Encoding, Kind, Pattern, PdbError, PdbObserver, Phase};
use crate::puzzle::tiles::Board;
use crate::store::{Array, Mapped, Output};

/// The bytes of a file.
#[derive(Debug)]
pub(super) enum Image {
    /// In memory, on huge pages where the system has them.
    Memory {
        /// At least as many bytes.
        array: Array,
        /// Bytes of the file.
        len: usize,
    },
    /// Mapped from the file.
    Mapped(Mapped),
}

impl Image {
    pub fn zeroed(len: u64) -> Result<Image, PdbError> {
        let array = Array::zeroed(len.div_ceil(64))?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        Ok(Image::Memory { array, len })
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Image::Memory { array, len } => &array.units().as_flattened()[..*len],
            Image::Mapped(mapped) => mapped.bytes(),
        }
    }
}

/// An additive pattern database.
///
/// ```
/// use tilewave::pdb::{Build, Pattern, Unobserved, build};
/// use tilewave::puzzle::tiles::{Board, Goal, Size};
/// let goal = Goal::Last.board(Size::new(3, 3)?)?;
/// let pdb = build(&Build::new(Pattern::new(goal, &[1, 2, 3, 4])?), &Unobserved)?;
/// assert_eq!(pdb.entries(), 9 * 8 * 7 * 6);
/// let board = Board::parse("8 6 7/2 5 4/3 0 1", None)?;
/// let value = pdb.value(&board)?.unwrap();
/// assert!(u32::from(value) >= pdb.pattern().manhattan(&pdb.pattern().cells(&board)?));
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Debug)]
pub struct Pdb {
    path: PathBuf,
    image: Image,
    header: Header,
    order: Entries,
    starts: Section,
    data: Section,
}

impl Pdb {
    /// Maps a database file. Cost: constant; entries are read from the disk when they are first used.
    ///
    /// The header is validated, and the length of the file; [`Pdb::check`] validates the entries.
    ///
    /// # Errors
    /// [`PdbError`] when the file cannot be read, is no database, is of another version, truncated,
    /// damaged in its header, or compressed for shipping.
    pub fn open(path: &Path) -> Result<Pdb, PdbError> {
        let mapped = Mapped::open(path).map_err(PdbError::io("cannot open", path))?;
        let header = read_header(path, mapped.bytes())?;
        if header.compressed {
            return Err(PdbError::Compressed(path.to_path_buf()));
        }
        mapped.read_at_random();
        Ok(Pdb::new(path.to_path_buf(), Image::Mapped(mapped), header))
    }

    /// Reads a database file into memory, on huge pages where the system has them: look-ups at random
    /// places are up to twice as fast as in a mapped file. Cost: the file's size in memory.
    ///
    /// # Errors
    /// As [`Pdb::open`], and [`PdbError::Memory`].
    pub fn load(path: &Path) -> Result<Pdb, PdbError> {
        let mapped = Mapped::open(path).map_err(PdbError::io("cannot open", path))?;
        let header = read_header(path, mapped.bytes())?;
        if header.compressed {
            return Err(PdbError::Compressed(path.to_path_buf()));
        }
        let len = mapped.bytes().len();
        let mut array = Array::zeroed((len as u64).div_ceil(64))?;
        let target = &mut array.units_mut().as_flattened_mut()[..len];
        target
            .par_chunks_mut(BLOCK_BYTES as usize)
            .zip(mapped.bytes().par_chunks(BLOCK_BYTES as usize))
            .for_each(|(to, from)| to.copy_from_slice(from));
        let image = Image::Memory { array, len };
        Ok(Pdb::new(path.to_path_buf(), image, header))
    }

    pub(super) fn new(path: PathBuf, image: Image, header: Header) -> Pdb {
        Pdb {
            path,
            order: Entries::new(&header.pattern, header.kind),
            starts: header.starts(),
            data: header.data(),
            image,
            header,
        }
    }

    /// Finishes a table in memory whose data section is filled: block checksums and header.
    pub(super) fn finish(mut image: Image, mut header: Header) -> Pdb {
        if let Image::Memory { array, len } = &mut image {
            let bytes = &mut array.units_mut().as_flattened_mut()[..*len];
            let sums = block_sums(header.data().of(bytes));
            header.checks().of_mut(bytes).copy_from_slice(&sums);
            header.checksum = xxh3_64(&sums);
            header.starts_checksum = xxh3_64(header.starts().of(bytes));
            bytes[..HEADER_BYTES].copy_from_slice(&*header.encode());
        }
        Pdb::new(PathBuf::new(), image, header)
    }

    /// Returns the pattern.
    pub fn pattern(&self) -> &Pattern {
        &self.header.pattern
    }

    /// Returns the kind of the values.
    pub fn kind(&self) -> Kind {
        self.header.kind
    }

    /// Returns the encoding of the values.
    pub fn encoding(&self) -> Encoding {
        self.header.encoding
    }

    /// Returns the number of entries.
    pub fn entries(&self) -> u64 {
        self.header.entries
    }

    /// Returns the number of entries of each value. Entries that no board reaches are not counted.
    pub fn histogram(&self) -> &[u64] {
        &self.header.histogram
    }

    /// Returns the largest value.
    pub fn maximum(&self) -> u8 {
        (self.header.histogram.len() - 1) as u8
    }

    /// Returns the mean value of the entries.
    pub fn mean(&self) -> f64 {
        mean(&self.header.histogram)
    }

    /// Returns the checksum of the entries.
    pub fn checksum(&self) -> u64 {
        self.header.checksum
    }

    /// Returns the bytes of the file.
    pub fn file_bytes(&self) -> u64 {
        self.image.bytes().len() as u64
    }

    /// Returns the entries as they are stored: one byte each, or two per byte in the packed encoding
    /// (even entries in the low half).
    pub fn bytes(&self) -> &[u8] {
        self.data.of(self.image.bytes())
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    pub(super) fn image(&self) -> &[u8] {
        self.image.bytes()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the entry order.
    pub fn order(&self) -> &Entries {
        &self.order
    }

    /// Returns the number of regions of all sets before a set (region-aware tables).
    #[inline]
    pub(super) fn start(&self, set: usize) -> u32 {
        let bytes = self.starts.of(self.image.bytes());
        let word = bytes.get(4 * set..).and_then(|b| b.first_chunk().copied());
        u32::from_le_bytes(word.unwrap_or_default())
    }

    /// Returns the entry of a placement: the tiles' cells in the order of [`Pattern::tiles`], and the
    /// blank's cell, which matters in region-aware tables only.
    ///
    /// The cells are distinct and on the board; otherwise the entry is meaningless.
    #[inline]
    pub fn entry(&self, cells: &[u8], blank: u8) -> u64 {
        self.order.entry(cells, blank, |set| self.start(set))
    }

    /// Returns the value of a placement, `None` when no board of the goal's parity has it. Cells as for
    /// [`Pdb::entry`].
    ///
    /// Cost: the entry's number (about 2 ns for eight tiles) and one read from memory.
    ///
    #[inline]
    pub fn lookup(&self, cells: &[u8], blank: u8) -> Option<u8> {
        self.at(self.entry(cells, blank), cells)
    }

    /// Returns the value of an entry, given its cells (the packed encoding needs them).
    #[inline]
    pub(super) fn at(&self, entry: u64, cells: &[u8]) -> Option<u8> {
        let bytes = self.bytes();
        match self.header.encoding {
            Encoding::Byte => bytes
                .get(entry as usize)
                .copied()
                .filter(|&value| value != UNREACHED),
            Encoding::Packed => {
                let nibble = bytes.get((entry / 2) as usize)? >> (4 * (entry % 2)) & 15;
                (nibble != 15).then(|| self.header.pattern.manhattan(cells) as u8 + 2 * nibble)
            }
        }
    }

    /// Returns the value of a board: a lower bound on the moves of the pattern's tiles; `None` when the
    /// board cannot reach the goal.
    ///
    /// # Errors
    /// [`PdbError::WrongSize`].
    pub fn value(&self, board: &Board) -> Result<Option<u8>, PdbError> {
        let cells = self.pattern().cells(board)?;
        Ok(self.lookup(&cells, board.blank() as u8))
    }

    /// Checks all checksums. Cost: one pass over the file.
    ///
    /// # Errors
    /// [`PdbError::Damaged`] names the first damaged block, [`PdbError::Header`] damaged tables.
    pub fn check(&self) -> Result<(), PdbError> {
        check_sections(&self.path, &self.header, self.image.bytes())?;
        let sums = block_sums(self.bytes());
        let stored = self.header.checks().of(self.image.bytes());
        let differs = |i: &usize| sums[8 * i..8 * i + 8] != stored[8 * i..8 * i + 8];
        match (0..sums.len() / 8).find(differs) {
            None => Ok(()),
            Some(block) => Err(PdbError::Damaged {
                path: self.path.clone(),
                block: block as u64,
                blocks: self.header.blocks(),
            }),
        }
    }

    /// Writes the database to a file, which appears when it is complete.
    ///
    /// # Errors
    /// [`PdbError::Exists`] when the file exists and may not be replaced, [`PdbError::Io`], and
    /// [`PdbError::Interrupted`].
    pub fn save(
        &self,
        path: &Path,
        replace: bool,
        observer: &dyn PdbObserver,
    ) -> Result<(), PdbError> {
        write_file(path, replace, self.image.bytes(), observer)
    }
}

/// Writes bytes to a file, which appears when it is complete.
pub(super) fn write_file(
    path: &Path,
    replace: bool,
    bytes: &[u8],
    observer: &dyn PdbObserver,
) -> Result<(), PdbError> {
    let total = bytes.len() as u64;
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => PdbError::Exists(path.to_path_buf()),
        std::io::ErrorKind::Interrupted => PdbError::Interrupted,
        _ => PdbError::io("cannot write", path)(error),
    };
    let mut output = Output::create(path, replace).map_err(failed)?;
    output
        .write(bytes, |done| {
            observer.progress(Phase::File, done, total);
            !observer.interrupted()
        })
        .map_err(failed)?;
    output.finish().map_err(failed)
}

/// The mean value of a histogram.
pub(super) fn mean(histogram: &[u64]) -> f64 {
    let (mut sum, mut count) = (0u128, 0u128);
    for (value, &entries) in histogram.iter().enumerate() {
        sum += value as u128 * u128::from(entries);
        count += u128::from(entries);
    }
    sum as f64 / count.max(1) as f64
}

/// The checksums of the blocks of some bytes, 8 bytes each.
pub(super) fn block_sums(data: &[u8]) -> Vec<u8> {
    data.par_chunks(BLOCK_BYTES as usize)
        .flat_map_iter(|block| xxh3_64(block).to_le_bytes())
        .collect()
}

/// Reads and validates the header and the length of a file.
pub(super) fn read_header(path: &Path, bytes: &[u8]) -> Result<Header, PdbError> {
    let not_one = || PdbError::NotADatabase(path.to_path_buf());
    if bytes.get(..8) != Some(&MAGIC) {
        return Err(not_one());
    }
    let version = bytes.get(8..12).and_then(|b| b.first_chunk().copied());
    let found = u32::from_le_bytes(version.ok_or_else(not_one)?);
    if found != VERSION {
        return Err(PdbError::Version {
            path: path.to_path_buf(),
            found,
            supported: VERSION,
        });
    }
    let length = |expected: u64| PdbError::Length {
        path: path.to_path_buf(),
        found: bytes.len() as u64,
        expected,
    };
    let header = bytes
        .first_chunk()
        .ok_or_else(|| length(HEADER_BYTES as u64))?;
    let header = Header::decode(header).map_err(|what| PdbError::Header {
        path: path.to_path_buf(),
        what,
    })?;
    let expected = header.data().end();
    if bytes.len() as u64 != expected {
        return Err(length(expected));
    }
    Ok(header)
}

/// Checks the checksums of the small sections.
pub(super) fn check_sections(path: &Path, header: &Header, image: &[u8]) -> Result<(), PdbError> {
    let damaged = |what| PdbError::Header {
        path: path.to_path_buf(),
        what,
    };
    if xxh3_64(header.checks().of(image)) != header.checksum {
        return Err(damaged("its block checksums"));
    }
    if xxh3_64(header.starts().of(image)) != header.starts_checksum {
        return Err(damaged("its region table"));
    }
    Ok(())
}
