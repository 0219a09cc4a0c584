//! The header of a table file.
//!
//! Invariant: 4096 bytes, little-endian, fixed offsets (`docs/format.md`); the last eight are the XXH3-64 of
//! the others. Everything that a reader needs is in it, and every field that follows from others is
//! checked against them.

use xxhash_rust::xxh3::xxh3_64;

use super::Encoding;
use super::shape::Shape;
use crate::bfs::Search;
use crate::puzzle::tiles::{Board, Size};

/// First bytes of every file.
pub(super) const MAGIC: [u8; 8] = *b"TWTAB\r\n\x1a";
/// Version of the format.
pub(super) const VERSION: u32 = 1;
/// Bytes of the header.
pub(super) const HEADER_BYTES: usize = 4096;
/// Bytes of entries that share a checksum.
pub(super) const BLOCK_BYTES: usize = 1 << 20;

/// Offset of the goal and of the histogram.
const GOAL: usize = 104;
const HISTOGRAM: usize = 256;
/// Depths of a histogram.
const DEPTHS: usize = 255;

/// What a header says.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub goal: Board,
    pub encoding: Encoding,
    /// States per depth.
    pub histogram: Vec<u64>,
    /// XXH3-64 of the block checksums, which is a checksum of the entries.
    pub checksum: u64,
}

impl Header {
    pub fn shape(&self) -> Shape {
        Shape {
            size: self.goal.size(),
            encoding: self.encoding,
        }
    }

    /// The number of blocks of entries.
    pub fn blocks(&self) -> u64 {
        self.shape().bytes().div_ceil(BLOCK_BYTES as u64)
    }

    /// Where the entries begin: after the header and the block checksums, 64 bits each.
    pub fn entries_at(&self) -> u64 {
        (HEADER_BYTES as u64 + 8 * self.blocks()).next_multiple_of(HEADER_BYTES as u64)
    }

    /// The bytes of the file.
    pub fn file_bytes(&self) -> u64 {
        self.entries_at() + self.shape().bytes()
    }

    /// Returns the header's bytes.
    pub fn encode(&self) -> Box<[u8; HEADER_BYTES]> {
        let mut bytes = Box::new([0; HEADER_BYTES]);
        let shape = self.shape();
        let mut put = |offset: usize, value: &[u8]| {
            bytes[offset..offset + value.len()].copy_from_slice(value);
        };
        put(0, &MAGIC);
        put(8, &VERSION.to_le_bytes());
        put(12, &(HEADER_BYTES as u32).to_le_bytes());
        let encoding = match self.encoding {
            Encoding::Mod3 => 0,
            Encoding::Byte => 1,
        };
        put(
            16,
            &[
                shape.size.rows() as u8,
                shape.size.cols() as u8,
                encoding,
                0, // metric: one tile by one cell
                self.histogram.len().saturating_sub(1) as u8,
            ],
        );
        put(24, &(shape.stride() as u64).to_le_bytes());
        put(32, &shape.lines().to_le_bytes());
        put(40, &self.histogram.iter().sum::<u64>().to_le_bytes());
        put(48, &(HEADER_BYTES as u64).to_le_bytes());
        put(56, &(8 * self.blocks()).to_le_bytes());
        put(64, &self.entries_at().to_le_bytes());
        put(72, &shape.bytes().to_le_bytes());
        put(80, &(BLOCK_BYTES as u64).to_le_bytes());
        put(88, &self.checksum.to_le_bytes());
        for (i, tile) in self.goal.tiles().iter().enumerate() {
            put(GOAL + 2 * i, &tile.to_le_bytes());
        }
        for (i, count) in self.histogram.iter().enumerate() {
            put(HISTOGRAM + 8 * i, &count.to_le_bytes());
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
        if size.cells() > Search::MAX_CELLS {
            return Err("no board size");
        }
        let goal: Vec<u16> = (0..size.cells()).map(|i| u16_at(GOAL + 2 * i)).collect();
        let goal = Board::new(size, &goal).map_err(|_| "no goal")?;
        let encoding = match bytes[18] {
            0 => Encoding::Mod3,
            1 => Encoding::Byte,
            _ => return Err("unknown encoding"),
        };
        let depths = usize::from(bytes[20]) + 1;
        if depths > DEPTHS {
            return Err("a depth of 255");
        }
        let counts = (0..depths).map(|i| u64_at(HISTOGRAM + 8 * i));
        let header = Header {
            goal,
            encoding,
            histogram: counts.collect(),
            checksum: u64_at(88),
        };
        let states = header.shape().lines() * size.cells() as u64;
        let reached = header
            .histogram
            .iter()
            .try_fold(0u64, |sum, &n| sum.checked_add(n));
        if reached.is_none_or(|reached| reached > states) {
            return Err("a wrong histogram");
        }
        if *header.encode() != *bytes {
            return Err("fields that contradict each other");
        }
        Ok(header)
    }
}
