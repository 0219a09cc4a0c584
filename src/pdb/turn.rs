//! From the engine's order of arrangements to the entry order of a file with one bit an entry.
//!
//! Invariant: 64 slots (sets and regions, in the order of the file) are turned at once: squares of 64 by 64
//! bits are transposed, so that a word holds one arrangement's bits of all 64 slots; words are brought into the
//! order of the file as bytes are in `reorder`; and transposed back. Some 10 ps of a core per bit.

use rayon::prelude::*;

use super::Kind;
use super::PdbError;
use super::meter::Meter;
use super::reorder::Gather;
use super::sweep::{self, Found};
use crate::perm::layout::{LANES, REGISTER_BYTES};
use crate::progress::{Phase, Progress};

/// Slots that are turned at once.
const SLOTS: usize = 64;

/// Transposes a square of bits: bit j of word i becomes bit i of word j.
///
/// Source: H. S. Warren, Hacker's Delight, 7-3.
pub(super) fn transpose(square: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = u64::from(u32::MAX);
    while width > 0 {
        for block in (0..64).step_by(2 * width) {
            for i in block..block + width {
                let swapped = (square[i] >> width ^ square[i + width]) & mask;
                square[i] ^= swapped << width;
                square[i + width] ^= swapped;
            }
        }
        width /= 2;
        mask ^= mask << width;
    }
}

/// Writes the bits of a region-aware table, slot by slot in the order of the file.
pub(super) fn by_region(
    found: &Found,
    entries: &mut [u8],
    observer: &dyn Progress,
) -> Result<(), PdbError> {
    let layout = found.layout;
    let unit = layout.slice_registers();
    let registers = unit * layout.blocks();
    // Where the word of each arrangement is: 64 words per register, of which 60 are lanes.
    let gather = Gather::new(layout);
    let arrangements = gather.source.len();
    let slot_bytes = arrangements / 8;
    let (words, _) = found.values.units().as_flattened().as_chunks::<8>();
    let counts = [0, 1].map(|class| sweep::slots(&found.graph, Kind::Regions, class));
    let firsts = [0, counts[0] * registers];
    let mut slots = Vec::with_capacity(counts[0] + counts[1]);
    for set in found.graph.subsets.iter() {
        let (class, number) = found.graph.find(set);
        let of = &found.graph.classes[class].slots;
        slots.extend((of[number]..of[number + 1]).map(|slot| (class, slot as usize)));
    }
    let meter = Meter::new(observer, Phase::Order, 0, slots.len() as u64);
    let jobs = entries
        .par_chunks_mut(SLOTS * slot_bytes)
        .zip(slots.par_chunks(SLOTS));
    let buffers = || {
        let ordered = arrangements.next_multiple_of(64);
        (vec![0u64; registers * REGISTER_BYTES], vec![0u64; ordered])
    };
    jobs.try_for_each_init(buffers, |(lanes, ordered), (entries, slots)| {
        let squares = lanes.as_chunks_mut::<64>().0;
        for (register, square) in squares.iter_mut().enumerate() {
            let (slice, within) = (register / unit, register % unit);
            for (row, &(class, slot)) in square.iter_mut().zip(slots) {
                let at = firsts[class] + (slice * counts[class] + slot) * unit + within;
                *row = u64::from_le_bytes(words[at]);
            }
            square[slots.len()..].fill(0);
            transpose(square);
        }
        debug_assert!(
            squares
                .iter()
                .all(|square| square[LANES..] == [0; 64 - LANES])
        );
        for (to, &source) in ordered.iter_mut().zip(&gather.source) {
            *to = lanes[usize::from(source)];
        }
        for (i, square) in ordered.as_chunks_mut::<64>().0.iter_mut().enumerate() {
            transpose(square);
            for (row, entries) in square.iter().zip(entries.chunks_exact_mut(slot_bytes)) {
                let bytes = &mut entries[8 * i..];
                let len = bytes.len().min(8);
                bytes[..len].copy_from_slice(&row.to_le_bytes()[..len]);
            }
        }
        meter.add(slots.len() as u64)
    })
}

#[cfg(test)]
#[path = "../../tests/unit/turn.rs"]
mod tests;
