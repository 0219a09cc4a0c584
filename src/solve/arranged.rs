//! The bits of a region-aware database in another order than the file's, for long searches: all slots of the first
//! arrangement of the tiles, then all of the second, and so on.
//!
//! In the file the arrangements of a slot lie together. A move changes the slot always and the arrangement only when
//! its tile passes others, so a walk comes to far fewer lines and pages here.
//!
//! Invariant: bit `arrangement * stride + slot` is the file's bit `slot * arrangements + arrangement`.

use crate::progress::Progress;
use crate::store::{Image, in_parallel};

/// Bits on a side of the squares that are turned: a cache line.
const SIDE: usize = 512;

/// A copy of the bits of a database.
#[derive(Debug)]
pub(super) struct Arranged {
    image: Image,
    /// Bits from one arrangement to the next.
    stride: u64,
}

impl Arranged {
    /// Returns a copy of the bits of so many slots and arrangements, made by all threads; none when the memory is not
    /// free, somebody interrupts, or the arrangements of a slot are no whole bytes (three tiles and fewer, which
    /// fit caches in any order). Cost: the database's size in memory, 1 ns a byte and core.
    pub fn new(
        bits: &[u8],
        slots: u64,
        arrangements: u64,
        progress: &dyn Progress,
    ) -> Option<Arranged> {
        if !arrangements.is_multiple_of(8) {
            return None;
        }
        let stride = slots.next_multiple_of(SIDE as u64);
        let (row, width) = ((stride / 8) as usize, (arrangements / 8) as usize);
        let mut image = Image::in_free_memory(stride / 8 * arrangements).ok()?;
        let strips = image.bytes_mut().chunks_mut(SIDE * row);
        let turn = |strip, to: &mut [u8]| {
            let first = strip * (SIDE / 8);
            for (square, rows) in bits.chunks(width * SIDE).enumerate() {
                if square % SIDE == 0 && progress.interrupted() {
                    return Err(());
                }
                turn_square(rows, width, first, &mut to[square * (SIDE / 8)..], row);
            }
            Ok(())
        };
        in_parallel(strips, turn).ok()?;
        Some(Arranged { image, stride })
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        self.image.bytes()
    }

    /// Returns the bits from one arrangement to the next.
    pub fn stride(&self) -> u64 {
        self.stride
    }
}

/// Turns the bits of at most 512 slots of `width` bytes and of at most 512 arrangements, from byte `first` on: line i of
/// the result is at byte `i * row`.
fn turn_square(slots: &[u8], width: usize, first: usize, to: &mut [u8], row: usize) {
    for byte in first..width.min(first + SIDE / 8) {
        let mut column = [0; SIDE];
        for (bits, slot) in column.iter_mut().zip(slots.chunks_exact(width)) {
            *bits = slot[byte];
        }
        let mut lines = [[0; SIDE / 8]; 8];
        for (group, eight) in column.as_chunks::<8>().0.iter().enumerate() {
            let turned = turn_eight(u64::from_le_bytes(*eight)).to_le_bytes();
            for (line, bits) in lines.iter_mut().zip(turned) {
                line[group] = bits;
            }
        }
        let rows = to[(byte - first) * 8 * row..].chunks_mut(row);
        for (line, row) in lines.iter().zip(rows) {
            row[..SIDE / 8].copy_from_slice(line);
        }
    }
}

/// Turns eight bytes of eight bits (Warren, Hacker's Delight, 7-3).
fn turn_eight(mut x: u64) -> u64 {
    for (shift, mask) in [
        (7, 0x00aa_00aa_00aa_00aa),
        (14, 0x0000_cccc_0000_cccc),
        (28, 0x0000_0000_f0f0_f0f0),
    ] {
        let swapped = (x ^ x >> shift) & mask;
        x ^= swapped ^ swapped << shift;
    }
    x
}

#[cfg(test)]
#[path = "../../tests/unit/arranged.rs"]
mod tests;
