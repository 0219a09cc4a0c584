//! The bits that cross between chunks, sent from chunk to chunk.
//!
//! Invariant: both sides derive the order of the bits from the windows, so no index of a bit travels: a
//! segment holds, for the target blocks that get any state from the sending chunk, in increasing order, how
//! many were left out before and, for the words of the block in order, those of their bits whose source lies
//! in the sending chunk, in whole bytes. So a segment takes what it has to say, in thin levels next to nothing, and at
//! most 8 bytes a word and a byte per block, which coding makes smaller.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;

use super::chunks::Chunks;
use super::crossing::Crossings;
use super::plane_sources::{ALL_LANES, BlockSources, PlaneSources, Portions};
use super::planes::Planes;
use super::segment::{Packer, Reader, Segment, Unpacker};
use crate::Error;
use crate::perm::kernel::{Kernel, gather_bits, scatter_bits};
use crate::store::{MemoryError, Words};

/// Takes segments from chunk to chunk: files, or messages between machines.
pub trait Exchange: Send + Sync {
    /// Whether segments for a chunk leave the memory, so that fewer bytes are worth the time of coding.
    fn leaves(&self, to: usize) -> bool;

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
        segment: Vec<u8>,
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
    fn segments(&self, number: usize, side: usize) -> Result<Vec<(usize, Vec<u8>)>, Error> {
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
        let segment = |packer: &mut Result<Packer, MemoryError>, blocks: &[usize]| {
            let packer = packer.as_mut().map_err(|error| error.clone())?;
            let to = chunk_of(&blocks[0]);
            let segment = self.segment(number, &plane.sources, to, blocks);
            let coded = self.exchange.leaves(to);
            let packed = |segment: &Segment| Ok((to, packer.pack(segment, coded)?));
            segment.as_ref().map(packed).transpose()
        };
        let parts = parts.into_par_iter();
        let segments = parts.map_init(|| Packer::new(self.kernel), segment);
        segments.filter_map(Result::transpose).collect()
    }

    /// Writes what the chunk gives to blocks of another one.
    fn segment(
        &self,
        plane: usize,
        sources: &PlaneSources,
        to: usize,
        blocks: &[usize],
    ) -> Option<Segment> {
        let registers = self.chunks.registers();
        let outgoing = &self.outgoing.words.get()[plane * registers..][..registers];
        let (own, first) = (self.blocks_of(self.chunk), self.chunk * registers);
        let load = |word: usize| match word.checked_sub(first).filter(|&word| word < registers) {
            Some(word) => outgoing[word].load(Ordering::Relaxed),
            None => 0,
        };
        let mut segment = Segment::default();
        let mut portions = Portions::new(sources, own);
        let mut words = vec![0; self.outgoing.size];
        let mut next = to * self.chunks.blocks;
        for &block in blocks {
            let portion = portions.of(block);
            let words = &mut words[..portion.words.len()];
            portions.take(self.kernel, &portion, load, words);
            if words.iter().all(|&word| word == 0) {
                continue;
            }
            segment.push_number(block - next);
            gather_bits(self.kernel, words, &portion.lanes);
            segment.push(words, &portion.lanes);
            next = block + 1;
        }
        (!segment.is_empty()).then_some(segment)
    }

    /// Puts a segment into the incoming words of a plane.
    fn fill(&self, plane: usize, from: usize, segment: &[u8]) {
        let sources = &self.crossings.from(self.side)[plane].sources;
        let mut portions = Portions::new(sources, self.blocks_of(from));
        let mut reader = Reader::new(segment);
        let mut words = vec![0; self.incoming.size];
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
            let portion = portions.of(block);
            let words = &mut words[..portion.words.len()];
            reader.take(&portion.lanes, words);
            scatter_bits(self.kernel, words, &portion.lanes);
            let places = self.incoming.block(place);
            let given = portion.words.iter().zip(words).zip(&portion.lanes);
            for ((&at, &mut bits), &lanes) in given {
                let place = &places[usize::from(at)];
                if lanes == ALL_LANES {
                    place.store(bits, Ordering::Relaxed);
                } else {
                    // Other chunks give other lanes of the same words.
                    place.fetch_or(bits, Ordering::Relaxed);
                }
            }
            block += 1;
        }
    }
}

impl Planes for RoutedPlanes<'_> {
    fn begin(&mut self, depth: u32, chunk: usize) -> Result<(), Error> {
        self.chunk = chunk;
        let segments = self.exchange.receive(depth, chunk)?;
        self.incoming.clear();
        let fill = |unpacker: &mut Result<Unpacker, MemoryError>, (from, plane, packed)| {
            let unpacker = unpacker.as_mut().map_err(|error| error.clone())?;
            let packed: Vec<u8> = packed;
            // What arrives has been compared with its hash, and is what was packed.
            let bytes = unpacker.unpack(&packed).ok_or(MemoryError::Codec)?;
            self.fill(plane, from, &bytes);
            Ok(())
        };
        let segments = segments.into_par_iter();
        segments.try_for_each_init(|| Unpacker::new(self.kernel), fill)
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

    fn reached(&mut self, most: usize) -> Option<Vec<usize>> {
        let places = 0..self.incoming.live.len();
        let live = places.filter(|&place| self.incoming.is_live(place));
        let live: Vec<usize> = live.take(most + 1).collect();
        if live.len() > most {
            return None;
        }
        self.outgoing.clear();
        Some(
            live.iter()
                .map(|place| place % self.chunks.blocks)
                .collect(),
        )
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
            for (to, segment) in self.segments(plane, side)? {
                self.exchange.send(depth, chunk, to, plane, segment)?;
            }
        }
        Ok(())
    }
}
