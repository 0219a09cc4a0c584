//! Where the sections of a database or a distance table lie.
//!
//! Invariant: sections do not overlap and follow each other in the order index, sums, frames, entries; the entries
//! begin at a multiple of 4096, so that a map of them can be used as it is.

use super::fields::HEADER_BYTES;

/// Bytes of entries that share a sum.
pub const BLOCK_BYTES: usize = 1 << 20;

/// Where a section lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Bytes of the file before it.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
}

impl Section {
    /// Returns the end in the file.
    pub fn end(self) -> u64 {
        self.offset + self.bytes
    }

    /// Returns the section's bytes of a file.
    pub fn of(self, file: &[u8]) -> &[u8] {
        &file[self.offset as usize..self.end() as usize]
    }

    /// Returns the section's bytes of a file, to be written.
    pub fn of_mut(self, file: &mut [u8]) -> &mut [u8] {
        &mut file[self.offset as usize..self.end() as usize]
    }
}

/// Where all sections lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// A table that finds entries; may be empty.
    pub index: Section,
    /// The sums of the blocks of entries: 64 bits each.
    pub sums: Section,
    /// The ends of compressed frames, 64 bits each; empty unless compressed.
    pub frames: Section,
    /// The entries, as they are in the file.
    pub data: Section,
    /// Bytes of the entries before compression.
    pub raw: u64,
}

impl Layout {
    /// Returns the layout of an index and of entries of so many bytes, compressed to fewer or not.
    pub fn new(index: u64, raw: u64, compressed: Option<u64>) -> Layout {
        let section = |offset, bytes| Section { offset, bytes };
        let blocks = 8 * raw.div_ceil(BLOCK_BYTES as u64);
        let index = section(HEADER_BYTES as u64, index);
        let sums = section(index.end().next_multiple_of(64), blocks);
        let frames = compressed.map_or(0, |_| blocks);
        let frames = section(sums.end().next_multiple_of(64), frames);
        let data = frames.end().next_multiple_of(HEADER_BYTES as u64);
        Layout {
            index,
            sums,
            frames,
            data: section(data, compressed.unwrap_or(raw)),
            raw,
        }
    }

    /// Returns the number of blocks of entries.
    pub fn blocks(&self) -> u64 {
        self.sums.bytes / 8
    }

    /// Returns the sections in the order of the file.
    pub fn sections(&self) -> [Section; 4] {
        [self.index, self.sums, self.frames, self.data]
    }
}
