//! The fields of a header, at fixed offsets.
//!
//! Invariant: numbers are little-endian.

/// Bytes of a header.
pub const HEADER_BYTES: usize = 4096;

/// The bytes of a header.
#[derive(Clone, Debug)]
pub struct Fields(pub [u8; HEADER_BYTES]);

impl Fields {
    /// Returns the byte at an offset.
    pub fn byte(&self, offset: usize) -> u8 {
        self.0[offset]
    }

    /// Returns the 16 bits at an offset.
    pub fn u16(&self, offset: usize) -> u16 {
        u16::from_le_bytes([self.0[offset], self.0[offset + 1]])
    }

    /// Returns the 64 bits at an offset.
    pub fn u64(&self, offset: usize) -> u64 {
        let word = self.0[offset..].first_chunk().copied();
        u64::from_le_bytes(word.unwrap_or_default())
    }

    /// Writes bytes.
    pub fn put(&mut self, offset: usize, bytes: &[u8]) {
        self.0[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    /// Writes 64-bit words.
    pub fn put_words(&mut self, offset: usize, words: &[u64]) {
        for (i, word) in words.iter().enumerate() {
            self.put(offset + 8 * i, &word.to_le_bytes());
        }
    }

    /// Writes 16-bit words.
    pub fn put_halves(&mut self, offset: usize, words: &[u16]) {
        for (i, word) in words.iter().enumerate() {
            self.put(offset + 2 * i, &word.to_le_bytes());
        }
    }
}
