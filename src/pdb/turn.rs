//! From the engine's order of arrangements to the entry order of a file with one bit an entry.
//!
//! Invariant: 64 slots (sets and regions, in the order of the file) are turned at once: squares of 64 by 64
//! bits are transposed, so that a word holds one arrangement's bits of all 64 slots; words are brought into the
//! order of the file as bytes are in `reorder`; and transposed back. Some 10 ps of a core per bit.

use rayon::prelude::*;

use super::PdbError;
use super::meter::Meter;
use super::reorder::Gather;
use super::set_graph::SetGraph;
use super::slots::{Slots, unit};
use crate::perm::kernel::Word;
use crate::perm::layout::{Layout, REGISTER_BYTES};
use crate::progress::{Phase, Progress};
use crate::transpose::transpose;

/// Slots that are turned at once.
pub(super) const SLOTS: usize = 64;

/// Brings slots into the order of the file.
pub(super) struct Turn {
    gather: Gather,
    registers: usize,
}

/// What a thread turns slots in.
pub(super) struct Buffers {
    lanes: Vec<u64>,
    ordered: Vec<u64>,
}

impl Turn {
    pub fn new(layout: Layout) -> Turn {
        Turn {
            gather: Gather::new(layout),
            registers: unit(layout),
        }
    }

    /// Bytes of a slot in the file.
    pub fn slot_bytes(&self) -> usize {
        self.gather.source.len() / 8
    }

    pub fn buffers(&self) -> Buffers {
        let ordered = self.gather.source.len().next_multiple_of(64);
        Buffers {
            // 64 words per register, of which 60 are lanes.
            lanes: vec![0; self.registers * REGISTER_BYTES],
            ordered: vec![0; ordered],
        }
    }

    /// Writes the entries of at most 64 slots, whose words are given.
    pub fn run(&self, slots: &[&[Word]], buffers: &mut Buffers, entries: &mut [u8]) {
        let Buffers { lanes, ordered } = buffers;
        for (register, square) in lanes.as_chunks_mut::<64>().0.iter_mut().enumerate() {
            for (row, words) in square.iter_mut().zip(slots) {
                *row = u64::from_le_bytes(words[register]);
            }
            square[slots.len()..].fill(0);
            transpose(square);
        }
        for (to, &source) in ordered.iter_mut().zip(&self.gather.source) {
            *to = lanes[usize::from(source)];
        }
        let slot_bytes = self.slot_bytes();
        for (i, square) in ordered.as_chunks_mut::<64>().0.iter_mut().enumerate() {
            transpose(square);
            for (row, entries) in square.iter().zip(entries.chunks_exact_mut(slot_bytes)) {
                let bytes = &mut entries[8 * i..];
                let len = bytes.len().min(8);
                bytes[..len].copy_from_slice(&row.to_le_bytes()[..len]);
            }
        }
    }
}

/// The class and number of every slot, in the order of the file.
pub(super) fn order(graph: &SetGraph) -> Vec<(u8, u32)> {
    let mut slots = Vec::new();
    for set in graph.subsets.iter() {
        let (class, number) = graph.find(set);
        let of = &graph.classes[class].slots;
        slots.extend((of[number]..of[number + 1]).map(|slot| (class as u8, slot)));
    }
    slots
}

/// Writes the bits of a region-aware table, slot by slot in the order of the file.
pub(super) fn by_region(
    graph: &SetGraph,
    layout: Layout,
    values: &[Slots; 2],
    entries: &mut [u8],
    observer: &dyn Progress,
) -> Result<(), PdbError> {
    let turn = Turn::new(layout);
    let slots = order(graph);
    let meter = Meter::new(observer, Phase::Order, 0, slots.len() as u64);
    entries
        .par_chunks_mut(SLOTS * turn.slot_bytes())
        .zip(slots.par_chunks(SLOTS))
        .try_for_each_init(
            || turn.buffers(),
            |buffers, (entries, slots)| {
                let words =
                    |&(class, slot): &(u8, u32)| values[usize::from(class)].of(slot as usize);
                let rows: Vec<&[Word]> = slots.iter().map(words).collect();
                turn.run(&rows, buffers, entries);
                meter.add(slots.len() as u64)
            },
        )
}
