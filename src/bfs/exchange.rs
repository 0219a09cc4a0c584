//! The bits that cross between chunks, sent from chunk to chunk.
//!
//! Invariant: both sides derive the order of the bits from the windows, so no index of a bit travels: a
//! segment holds, for the target blocks that get any state from the sending chunk, in increasing order, how
//! many were left out before and, for the words of the block in order, those of their bits whose source lies
//! in the sending chunk. So a segment takes what it has to say, in thin levels next to nothing, and at most 1
//! bit per line and a byte per block.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bitvec::field::BitField;
use bitvec::order::Lsb0;
use bitvec::slice::BitSlice;
use bitvec::vec::BitVec;
use bitvec::view::BitView;
use rayon::prelude::*;

use super::chunks::Chunks;
use super::crossing::Crossings;
use super::plane_sources::{BlockSources, PlaneSources};
use super::planes::Planes;
use crate::Error;
use crate::perm::kernel::{Kernel, gather_bits, scatter_bits};
use crate::store::Words;

/// Takes segments from chunk to chunk: files, or messages between machines.
pub trait Exchange: Send + Sync {
    /// Sends the segment of a plane from one chunk to another, for the step to a depth.
    ///
    /// # Errors
    /// What the medium says.
    fn send(
        &mut self,
        depth: u32,
        from: usize,
        to: usize,
        plane: usize,
        segment: &[u8],
    ) -> Result<(), Error>;

    /// Returns the segments sent to a chunk for the step to a depth: (from, plane, segment). May be
    /// called again only after it was sent to again.
    ///
    /// # Errors
    /// What the medium says.
    fn receive(&mut self, depth: u32, to: usize) -> Result<Vec<(usize, usize, Vec<u8>)>, Error>;

    /// Forgets what was sent for the step to a depth.
    ///
    /// # Errors
    /// What the medium says.
    fn forget(&mut self, depth: u32) -> Result<(), Error>;
}

/// The words of all planes for the blocks of one chunk.
struct ChunkWords {
    words: Words,
    /// For each plane and block whether any word is set; the words of the others are zero.
    live: Vec<AtomicBool>,
    /// Words of a block.
    size: usize,
}

impl ChunkWords {
    fn new(chunks: Chunks, planes: usize) -> Result<ChunkWords, Error> {
        let live = || AtomicBool::new(false);
        Ok(ChunkWords {
            words: Words::zeroed(planes * chunks.registers())?,
            live: (0..planes * chunks.blocks).map(|_| live()).collect(),
            size: chunks.layout.block_registers(),
        })
    }

    /// The words of a block; `at` counts the blocks of all planes.
    fn block(&self, at: usize) -> &[AtomicU64] {
        &self.words.get()[at * self.size..][..self.size]
    }

    fn is_live(&self, at: usize) -> bool {
        self.live[at].load(Ordering::Relaxed)
    }

    /// Makes a block live, or not.
    fn set(&self, at: usize, words: Option<&[u64]>) {
        let places = self.block(at);
        if let Some(words) = words {
            for (place, &word) in places.iter().zip(words) {
                place.store(word, Ordering::Relaxed);
            }
        } else if self.is_live(at) {
            places.iter().for_each(|p| p.store(0, Ordering::Relaxed));
        }
        self.live[at].store(words.is_some(), Ordering::Relaxed);
    }

    fn clear(&self) {
        let places = (0..self.live.len()).into_par_iter();
        places.for_each(|at| self.set(at, None));
    }
}

/// Planes of one chunk at a time, filled from and emptied into an [`Exchange`].
pub(super) struct RoutedPlanes<'a> {
    chunks: Chunks,
    crossings: &'a Crossings,
    exchange: Box<dyn Exchange + 'a>,
    /// Side of the step in progress.
    side: usize,
    chunk: usize,
    /// The chunk's words, in target order.
    incoming: ChunkWords,
    /// The chunk's words, in source order.
    outgoing: ChunkWords,
    kernel: Kernel,
}

impl<'a> RoutedPlanes<'a> {
    /// Returns planes over an exchange, for a step from a side. Cost: 16 bytes per plane and register of
    /// one chunk, touched when used.
    pub fn new(
        chunks: Chunks,
        crossings: &'a Crossings,
        side: usize,
        kernel: Kernel,
        exchange: Box<dyn Exchange + 'a>,
    ) -> Result<RoutedPlanes<'a>, Error> {
        let planes = crossings.most();
        Ok(RoutedPlanes {
            chunks,
            crossings,
            exchange,
            side,
            chunk: 0,
            incoming: ChunkWords::new(chunks, planes)?,
            outgoing: ChunkWords::new(chunks, planes)?,
            kernel,
        })
    }

    /// The number of a block of the chunk in its words.
    fn place(&self, plane: usize, block: usize) -> usize {
        plane * self.chunks.blocks + block - self.chunk * self.chunks.blocks
    }

    /// The blocks of a chunk.
    fn blocks_of(&self, chunk: usize) -> Range<usize> {
        let blocks = self.chunks.blocks;
        chunk * blocks..(chunk + 1) * blocks
    }

    /// Returns the segments of what a plane's outgoing words give to other chunks, for a step from a side:
    /// (chunk, segment).
    fn segments(&self, number: usize, side: usize) -> Vec<(usize, Vec<u8>)> {
        let plane = &self.crossings.from(side)[number];
        let targets_of = |located: &mut BlockSources, block: usize| {
            plane.targets.locate(block, located);
            located.blocks.clone()
        };
        let first = self.chunk * self.chunks.blocks;
        let live = (first..first + self.chunks.blocks)
            .into_par_iter()
            .filter(|&block| self.outgoing.is_live(self.place(number, block)));
        let targets = live.map_init(BlockSources::default, targets_of);
        let mut targets: Vec<usize> = targets.flatten_iter().collect();
        targets.par_sort_unstable();
        targets.dedup();
        let chunk_of = |block: &usize| self.chunks.of_block(*block);
        let parts: Vec<&[usize]> = targets
            .chunk_by(|a, b| chunk_of(a) == chunk_of(b))
            .collect();
        let segment = |blocks: &[usize]| {
            let to = chunk_of(&blocks[0]);
            Some((to, self.segment(number, &plane.sources, to, blocks)?))
        };
        parts.into_par_iter().filter_map(segment).collect()
    }

    /// Writes what the chunk gives to blocks of another one.
    fn segment(
        &self,
        plane: usize,
        sources: &PlaneSources,
        to: usize,
        blocks: &[usize],
    ) -> Option<Vec<u8>> {
        let registers = self.chunks.registers();
        let outgoing = &self.outgoing.words.get()[plane * registers..][..registers];
        let (own, first) = (self.blocks_of(self.chunk), self.chunk * registers);
        let load = |word: usize| match word.checked_sub(first).filter(|&word| word < registers) {
            Some(word) => outgoing[word].load(Ordering::Relaxed),
            None => 0,
        };
        let mut segment = Segment::default();
        let mut located = BlockSources::default();
        let mut words = vec![0; self.outgoing.size];
        let mut next = to * self.chunks.blocks;
        for &block in blocks {
            sources.locate(block, &mut located);
            sources.take(self.kernel, &located, load, &mut words);
            if words.iter().all(|&word| word == 0) {
                continue;
            }
            segment.push_number(block - next);
            sources.lanes(&located, &own, |register, lanes| {
                let bits = gather_bits(self.kernel, words[register], lanes);
                segment.push(bits, lanes.count_ones() as usize);
            });
            next = block + 1;
        }
        (!segment.bits.is_empty()).then(|| segment.bits.into_vec())
    }

    /// Puts a segment into the incoming words of a plane.
    fn fill(&self, plane: usize, from: usize, segment: &[u8]) {
        let sources = &self.crossings.from(self.side)[plane].sources;
        let sender = self.blocks_of(from);
        let mut reader = Reader::new(segment);
        let mut located = BlockSources::default();
        let first = self.chunk * self.chunks.blocks;
        let mut block = first;
        while let Some(skipped) = reader.number() {
            block += skipped;
            if block >= first + self.chunks.blocks {
                // Nobody has written this: what is received has been compared with its hash.
                return;
            }
            let place = self.place(plane, block);
            self.incoming.live[place].store(true, Ordering::Relaxed);
            sources.locate(block, &mut located);
            let words = self.incoming.block(place);
            sources.lanes(&located, &sender, |register, lanes| {
                let bits = reader.take(lanes.count_ones() as usize);
                let bits = scatter_bits(self.kernel, bits, lanes);
                // Other chunks give other lanes of the same words.
                words[register].fetch_or(bits, Ordering::Relaxed);
            });
            block += 1;
        }
    }
}

impl Planes for RoutedPlanes<'_> {
    fn begin(&mut self, depth: u32, chunk: usize) -> Result<(), Error> {
        self.chunk = chunk;
        let segments = self.exchange.receive(depth, chunk)?;
        self.incoming.clear();
        let fill = |(from, plane, bytes): &(usize, usize, Vec<u8>)| self.fill(*plane, *from, bytes);
        segments.par_iter().for_each(fill);
        Ok(())
    }

    fn incoming(
        &self,
        plane: usize,
        block: usize,
        _: &mut BlockSources,
        words: &mut [u64],
    ) -> bool {
        let place = self.place(plane, block);
        let live = self.incoming.is_live(place);
        if live {
            for (word, place) in words.iter_mut().zip(self.incoming.block(place)) {
                *word = place.load(Ordering::Relaxed);
            }
        }
        live
    }

    fn outgoing(&self, plane: usize, block: usize, _: &mut BlockSources, words: Option<&[u64]>) {
        self.outgoing.set(self.place(plane, block), words);
    }

    fn pass(&mut self) -> bool {
        let empty = !self.incoming.live.iter().any(|l| l.load(Ordering::Relaxed));
        if empty {
            self.outgoing.clear();
        }
        empty
    }

    fn end(&mut self, depth: u32, chunk: usize) -> Result<(), Error> {
        self.close(depth + 1, chunk, 1 - self.side)
    }

    fn next_level(&mut self, depth: u32, side: usize) -> Result<(), Error> {
        self.side = side;
        self.exchange.forget(depth)
    }

    fn open(&mut self, chunk: usize) {
        self.chunk = chunk;
    }

    fn restore(
        &self,
        _: usize,
        plane: usize,
        block: usize,
        scratch: &mut BlockSources,
        words: Option<&[u64]>,
    ) {
        self.outgoing(plane, block, scratch, words);
    }

    fn close(&mut self, depth: u32, chunk: usize, side: usize) -> Result<(), Error> {
        for plane in 0..self.crossings.from(side).len() {
            for (to, segment) in self.segments(plane, side) {
                self.exchange.send(depth, chunk, to, plane, &segment)?;
            }
        }
        Ok(())
    }
}

/// The bits of a segment being written, lowest first.
#[derive(Default)]
struct Segment {
    bits: BitVec<u8, Lsb0>,
}

impl Segment {
    fn push(&mut self, value: u64, bits: usize) {
        if bits > 0 {
            let at = self.bits.len();
            self.bits.resize(at + bits, false);
            self.bits[at..].store_le(value);
        }
    }

    /// Seven bits at a time, the lowest first, each with a bit that says whether more follow.
    fn push_number(&mut self, mut number: usize) {
        while number >= 128 {
            self.push((number as u64 % 128) | 128, 8);
            number /= 128;
        }
        self.push(number as u64, 8);
    }
}

/// The bits of a segment that has arrived.
struct Reader<'a>(&'a BitSlice<u8, Lsb0>);

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes.view_bits())
    }

    /// The next bits, at most 64; zeros beyond the end.
    fn take(&mut self, bits: usize) -> u64 {
        let (taken, rest) = self.0.split_at(bits.min(self.0.len()));
        self.0 = rest;
        if taken.is_empty() { 0 } else { taken.load_le() }
    }

    /// The next number; `None` when there is none: what is left fills the last byte.
    fn number(&mut self) -> Option<usize> {
        let mut number = 0;
        for shift in (0..usize::BITS).step_by(7) {
            if self.0.len() < 8 {
                return None;
            }
            let part = self.take(8) as usize;
            number |= (part % 128) << shift;
            if part < 128 {
                break;
            }
        }
        Some(number)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/exchange.rs"]
mod tests;
