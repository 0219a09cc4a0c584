//! The header of a database file.
//!
//! Invariant: 4096 bytes, little-endian, fixed offsets (`docs/format.md`); the last eight are the XXH3-64
//! of the others. Everything that a reader needs is in it: board, goal, tiles, kind, encoding, counts,
//! where the sections lie and their checksums.

use xxhash_rust::xxh3::xxh3_64;

use super::{Encoding, Kind, Pattern};
use crate::perm::lehmer;
use crate::perm::placement::binomial;
use crate::puzzle::tiles::{Board, Size};

/// First bytes of every file.
pub(super) const MAGIC: [u8; 8] = *b"TWPDB\r\n\x1a";
/// Version of the format.
pub(super) const VERSION: u32 = 1;
/// Bytes of the header.
pub(super) const HEADER_BYTES: usize = 4096;
/// Bytes of data that share a checksum, and of a compressed frame before compression.
pub(super) const BLOCK_BYTES: u64 = 1 << 20;

/// Values of a histogram: one byte's.
const VALUES: usize = 256;
const GOAL_CELLS: usize = Pattern::MAX_SIDE * Pattern::MAX_SIDE;

/// What a header says.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub pattern: Pattern,
    pub kind: Kind,
    pub encoding: Encoding,
    /// Whether the data are zstd frames.
    pub compressed: bool,
    pub entries: u64,
    /// Entries per value.
    pub histogram: Vec<u64>,
    /// XXH3-64 of the section of block checksums, which is a checksum of the data.
    pub checksum: u64,
    /// XXH3-64 of the section of region starts.
    pub starts_checksum: u64,
    /// Bytes of the data section as it is in the file.
    pub stored_bytes: u64,
}

/// Where a section lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub offset: u64,
    pub bytes: u64,
}

impl Section {
    pub fn end(self) -> u64 {
        self.offset + self.bytes
    }

    /// The section's bytes of a file image.
    pub fn of(self, image: &[u8]) -> &[u8] {
        &image[self.offset as usize..self.end() as usize]
    }

    pub fn of_mut(self, image: &mut [u8]) -> &mut [u8] {
        &mut image[self.offset as usize..self.end() as usize]
    }
}

impl Header {
    /// The bytes of the data before compression.
    pub fn raw_bytes(&self) -> u64 {
        raw_bytes(self.entries, self.encoding)
    }

    /// The number of regions before each set: 32 bits per set, and the total; empty in tables of the
    /// minimum kind.
    pub fn starts(&self) -> Section {
        let sets = binomial(self.pattern.size().cells(), self.pattern.tiles().len());
        let bytes = match self.kind {
            Kind::Minimum => 0,
            Kind::Regions => 4 * (sets + 1),
        };
        Section {
            offset: HEADER_BYTES as u64,
            bytes,
        }
    }

    /// The checksums of the data's blocks: 64 bits each.
    pub fn checks(&self) -> Section {
        Section {
            offset: self.starts().end().next_multiple_of(64),
            bytes: 8 * self.blocks(),
        }
    }

    /// The ends of the compressed frames, relative to the data section: 64 bits each.
    pub fn frames(&self) -> Section {
        let bytes = if self.compressed {
            8 * self.blocks()
        } else {
            0
        };
        Section {
            offset: self.checks().end().next_multiple_of(64),
            bytes,
        }
    }

    /// The entries.
    pub fn data(&self) -> Section {
        Section {
            offset: self.frames().end().next_multiple_of(HEADER_BYTES as u64),
            bytes: self.stored_bytes,
        }
    }

    /// The number of blocks of the data.
    pub fn blocks(&self) -> u64 {
        self.raw_bytes().div_ceil(BLOCK_BYTES)
    }

    /// Returns the header's bytes.
    pub fn encode(&self) -> Box<[u8; HEADER_BYTES]> {
        let mut bytes = Box::new([0; HEADER_BYTES]);
        let size = self.pattern.size();
        let tiles = self.pattern.tiles();
        let mut put = |offset: usize, value: &[u8]| {
            bytes[offset..offset + value.len()].copy_from_slice(value);
        };
        put(0, &MAGIC);
        put(8, &VERSION.to_le_bytes());
        put(12, &(HEADER_BYTES as u32).to_le_bytes());
        let order = match self.kind {
            Kind::Minimum => 0,
            Kind::Regions => 1,
        };
        let encoding = match self.encoding {
            Encoding::Byte => 0,
            Encoding::Packed => 1,
        };
        put(
            16,
            &[
                size.rows() as u8,
                size.cols() as u8,
                tiles.len() as u8,
                order, // kind
                encoding,
                u8::from(self.compressed),
                0, // metric: moves of one pattern tile by one cell
                order,
                self.histogram.len().saturating_sub(1) as u8,
            ],
        );
        put(32, &self.entries.to_le_bytes());
        put(40, &self.pattern.placements().to_le_bytes());
        put(48, &self.histogram.iter().sum::<u64>().to_le_bytes());
        let sections = [self.starts(), self.checks(), self.frames(), self.data()];
        for (i, section) in sections.iter().enumerate() {
            put(56 + 16 * i, &section.offset.to_le_bytes());
            put(64 + 16 * i, &section.bytes.to_le_bytes());
        }
        put(120, &self.raw_bytes().to_le_bytes());
        put(128, &BLOCK_BYTES.to_le_bytes());
        put(136, &self.starts_checksum.to_le_bytes());
        put(144, &self.checksum.to_le_bytes());
        for (i, tile) in self.pattern.goal().tiles().iter().enumerate() {
            put(152 + 2 * i, &tile.to_le_bytes());
        }
        for (i, tile) in tiles.iter().enumerate() {
            put(224 + 2 * i, &tile.to_le_bytes());
        }
        put(240, self.pattern.home());
        for (i, count) in self.histogram.iter().enumerate() {
            put(256 + 8 * i, &count.to_le_bytes());
        }
        let sum = xxh3_64(&bytes[..HEADER_BYTES - 8]);
        bytes[HEADER_BYTES - 8..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads a header whose magic and version have been checked.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Header, &'static str> {
        let u64_at = |offset: usize| {
            let word = bytes[offset..].first_chunk().copied();
            u64::from_le_bytes(word.unwrap_or_default())
        };
        let u16_at = |offset: usize| u16::from_le_bytes([bytes[offset], bytes[offset + 1]]);
        if xxh3_64(&bytes[..HEADER_BYTES - 8]) != u64_at(HEADER_BYTES - 8) {
            return Err("its checksum differs");
        }
        let size = Size::new(bytes[16].into(), bytes[17].into()).map_err(|_| "no board size")?;
        if size.cells() > GOAL_CELLS {
            return Err("no board size");
        }
        let goal: Vec<u16> = (0..size.cells()).map(|i| u16_at(152 + 2 * i)).collect();
        let goal = Board::new(size, &goal).map_err(|_| "no goal")?;
        let k = usize::from(bytes[18]);
        if k > Pattern::MAX_TILES {
            return Err("too many tiles");
        }
        let tiles: Vec<u16> = (0..k).map(|i| u16_at(224 + 2 * i)).collect();
        let pattern = Pattern::new(goal, &tiles).map_err(|_| "no pattern")?;
        let kind = match (bytes[19], bytes[23]) {
            (0, 0) => Kind::Minimum,
            (1, 1) => Kind::Regions,
            _ => return Err("unknown kind or entry order"),
        };
        let encoding = match bytes[20] {
            0 => Encoding::Byte,
            1 => Encoding::Packed,
            _ => return Err("unknown encoding"),
        };
        if bytes[21] > 1 || bytes[22] != 0 {
            return Err("unknown compression or metric");
        }
        let values = usize::from(bytes[24]) + 1;
        if values >= VALUES {
            return Err("a maximum of 255");
        }
        let header = Header {
            kind,
            encoding,
            compressed: bytes[21] == 1,
            entries: u64_at(32),
            histogram: (0..values).map(|i| u64_at(256 + 8 * i)).collect(),
            checksum: u64_at(144),
            starts_checksum: u64_at(136),
            stored_bytes: u64_at(112),
            pattern,
        };
        header.check(bytes)?;
        Ok(header)
    }

    /// Checks that the counts fit each other and that all derived fields are as they would be written.
    fn check(&self, bytes: &[u8; HEADER_BYTES]) -> Result<(), &'static str> {
        let arrangements = lehmer::count(self.pattern.tiles().len());
        let good = match self.kind {
            Kind::Minimum => self.entries == self.pattern.placements(),
            Kind::Regions => {
                self.entries.is_multiple_of(arrangements)
                    && self.entries >= self.pattern.placements()
                    && self.entries <= 8 * self.pattern.placements()
            }
        };
        if !good {
            return Err("a wrong number of entries");
        }
        let reached = self
            .histogram
            .iter()
            .try_fold(0u64, |sum, &n| sum.checked_add(n));
        if reached.is_none_or(|reached| reached > self.entries) {
            return Err("a wrong histogram");
        }
        let limit = self.raw_bytes();
        if !self.compressed && self.stored_bytes != limit || self.stored_bytes > 2 * limit + 4096 {
            return Err("a wrong length of the data");
        }
        if *self.encode() != *bytes {
            return Err("fields that contradict each other");
        }
        Ok(())
    }
}

/// Returns the bytes of a number of entries.
pub(super) fn raw_bytes(entries: u64, encoding: Encoding) -> u64 {
    match encoding {
        Encoding::Byte => entries,
        Encoding::Packed => entries.div_ceil(2),
    }
}
