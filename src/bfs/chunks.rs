//! Chunks: the array of lines cut by the first K digits.
//!
//! Invariant: a chunk is a range of consecutive lines, all those that share K digits; it consists of
//! whole blocks and is cut into frames of whole blocks, of which only the last may be shorter.

use crate::perm::layout::{LANES, Layout};

/// How the lines are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunks {
    pub layout: Layout,
    /// Digits that all lines of a chunk share, K.
    pub digits: usize,
    /// Number of chunks.
    pub count: usize,
    /// Blocks of a chunk.
    pub blocks: usize,
    /// Blocks of a frame.
    pub frame_blocks: usize,
}

impl Chunks {
    /// Most chunks of a search: each is a file of every level and 150 bytes of the manifest, which is written
    /// with every commit.
    pub const MOST: usize = 1 << 20;

    /// Returns the chunks of a layout for K digits, or `None` when K leaves no digit inside a block or makes
    /// more than [`Chunks::MOST`].
    ///
    /// A frame holds the blocks that differ in one digit, 9!/2 lines for long lines: 181,440 bytes, a
    /// size at which the codec is efficient and which fits the second-level cache.
    pub fn new(layout: Layout, digits: usize) -> Option<Chunks> {
        let layout = layout.with_shared_digits(digits)?;
        let count: usize = (0..digits).map(|x| layout.radix(x)).product();
        if count > Chunks::MOST {
            return None;
        }
        let blocks = layout.blocks() / count;
        let last = layout
            .block_prefix()
            .checked_sub(1)
            .filter(|&x| x >= digits);
        Some(Chunks {
            layout,
            digits,
            count,
            blocks,
            frame_blocks: last.map_or(1, |x| layout.radix(x)),
        })
    }

    /// Returns the number of registers of a chunk.
    pub fn registers(&self) -> usize {
        self.blocks * self.layout.block_registers()
    }

    /// Returns the number of registers of a frame.
    pub fn frame_registers(&self) -> usize {
        self.frame_blocks * self.layout.block_registers()
    }

    /// Returns the number of frames of a chunk.
    pub fn frames(&self) -> usize {
        self.blocks.div_ceil(self.frame_blocks)
    }

    /// Returns the number of lines of a chunk.
    pub fn lines(&self) -> u64 {
        (self.registers() * LANES) as u64
    }

    /// Returns the chunk of a block.
    pub fn of_block(&self, block: usize) -> usize {
        block / self.blocks
    }
}

#[cfg(test)]
#[path = "../../tests/unit/chunks.rs"]
mod tests;
