//! The bits of a region-aware database in another order than the file's, for long searches: all slots of the first
//! arrangement of the tiles, then all of the second, and so on.
//!
//! In the file the arrangements of a slot lie together. A move changes the slot always and the arrangement only when
//! its tile passes others, so a walk comes to far fewer lines and pages here.
//!
//! Invariant: bit `arrangement * stride + slot` is the file's bit `slot * arrangements + arrangement`.

use crate::progress::Progress;
use crate::store::{Image, in_parallel};
use crate::transpose::transpose;

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
    /// fit caches in any order). Cost: the database's size in memory, and 1.5 ns a byte of one core.
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
        let turn_strip = |strip, to: &mut [u8]| {
            let first = strip * (SIDE / 8);
            for (square, rows) in bits.chunks(width * SIDE).enumerate() {
                if square % SIDE == 0 && progress.interrupted() {
                    return Err(());
                }
                turn_square(rows, width, first, &mut to[square * (SIDE / 8)..], row);
            }
            Ok(())
        };
        in_parallel(strips, turn_strip).ok()?;
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
    let mut rows = to.chunks_mut(row);
    for byte in (first..width.min(first + SIDE / 8)).step_by(8) {
        let end = width.min(byte + 8);
        let mut lines = [[[0; 8]; SIDE / 64]; 64];
        for (group, slots) in slots.chunks(64 * width).enumerate() {
            let mut square = [0; 64];
            for (bits, slot) in square.iter_mut().zip(slots.chunks_exact(width)) {
                let mut eight = [0; 8];
                eight[..end - byte].copy_from_slice(&slot[byte..end]);
                *bits = u64::from_le_bytes(eight);
            }
            transpose(&mut square);
            for (line, bits) in lines.iter_mut().zip(square) {
                line[group] = bits.to_le_bytes();
            }
        }
        for (line, row) in lines[..8 * (end - byte)].iter().zip(&mut rows) {
            row[..SIDE / 8].copy_from_slice(line.as_flattened());
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/arranged.rs"]
mod tests;
