//! The bits that cross between chunks: either all of them in memory, or those of one chunk, with the others on their
//! way.
//!
//! Invariant: if all bits are in memory, every move has an inverse, and words move as a whole, then one word per plane
//! per register serves both for what the step in progress still has to read and for what it writes for the next step,
//! because the windows of one step are the inverses of those of the previous step. In **source order**, word y contains
//! the bit of line y; the step for line x reads the word of the line that it comes from and writes its own bit there.
//! That word is then where the next step looks for it: at its target. In **target order**, line x finds its bit at x
//! and leaves its own there, which is source order for the following step. So the words change order with every level
//! and are never copied. In all other cases, there are two arrays in source order: one is read, the other is written.

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use rayon::prelude::*;

use crate::{
    Error,
    hint::AGAIN,
    kernel::{gather_bits, scatter_bits},
    perm::Layout,
    search::{
        ALL_LANES, BlockSources, Communicator, Crossings, Granularity, PlaneSources, Portions,
        SearchError,
        disk::{
            Exchange, Segment,
            exchange::{Packer, Unpacker, push_words, take_words},
        },
    },
    store::{Words, push_number, take_number},
    system::SystemError,
    threads::each_number,
};

/// Carries bits from the chunks of one level to those of the next.
///
/// For every chunk of a level in turn: [`Halo::begin`]; for each of its blocks and each plane, [`Halo::incoming`], then
/// [`Halo::outgoing`]; [`Halo::end`]. When all chunks are done: [`Halo::next_level`]. For chunks of earlier sessions,
/// only [`Halo::outgoing`] and [`Halo::end`] are called.
pub(crate) trait Halo: Send + Sync {
    /// Prepares for the blocks of a chunk in the step to a depth.
    fn begin(&mut self, _depth: u32, _chunk: usize) -> Result<(), Error> {
        Ok(())
    }

    /// Writes the bits that reach a block through a plane, and returns whether there are any.
    fn incoming(
        &self,
        plane: usize,
        block: usize,
        scratch: &mut BlockSources,
        words: &mut [u64],
    ) -> bool;

    /// Takes the bits that a block sends through a plane in a step from a side, either the step in progress or the next
    /// one; `None` for none.
    fn outgoing(&self, side: usize, plane: usize, block: usize, words: Option<&[u64]>);

    /// Returns the blocks of a chunk that has begun, numbered from its first, that bits reach, possibly with
    /// repetitions, if there are at most `most`. In this case, the bits that blocks have sent before are discarded, so
    /// that only those with bits to send need to be processed. `None` if there are more, or if this is unknown.
    fn reached(&mut self, _most: usize) -> Option<Vec<usize>> {
        None
    }

    /// Sends the bits of the blocks of a chunk for the step from a side to a depth.
    fn end(&mut self, _depth: u32, _chunk: usize, _side: usize) -> Result<(), Error> {
        Ok(())
    }

    /// Proceeds to the next level; `side` is the side of its step.
    fn next_level(&mut self, depth: u32, side: usize) -> Result<(), Error>;

    /// Delivers the bits for other ranks; a collective call.
    fn deliver(&mut self, _: &dyn Communicator) -> Result<(), Error> {
        Ok(())
    }

    /// Returns the number of bytes sent from this rank for the step to each depth.
    fn sent(&self) -> BTreeMap<u32, u64> {
        BTreeMap::new()
    }
}

/// Words of planes, one per register, in blocks that are numbered plane by plane.
struct PlaneWords {
    words: Words,
    /// For each block, whether any word is nonzero.
    live: Vec<AtomicBool>,
    size: usize,
}

impl PlaneWords {
    fn new(layout: Layout, blocks: usize) -> Result<PlaneWords, Error> {
        let size = layout.block_registers();
        let live = (0..blocks).map(|_| AtomicBool::new(false)).collect();
        Ok(PlaneWords { words: Words::zeroed(blocks * size)?, live, size })
    }

    fn of(&self, blocks: Range<usize>) -> &[AtomicU64] {
        &self.words.get()[blocks.start * self.size..blocks.end * self.size]
    }

    fn is_live(&self, block: usize) -> bool {
        self.live[block].load(Ordering::Relaxed)
    }

    /// Writes a block, or records that it has no bits; `clears` then clears its words, if they are read anyway.
    fn set(&self, block: usize, words: Option<&[u64]>, clears: bool) {
        let places = self.of(block..block + 1);
        if let Some(words) = words {
            for (place, &word) in places.iter().zip(words) {
                place.store(word, Ordering::Relaxed);
            }
        } else if clears {
            places.iter().for_each(|place| place.store(0, Ordering::Relaxed));
        }
        self.live[block].store(words.is_some(), Ordering::Relaxed);
    }

    fn copy(&self, block: usize, to: &mut [u64]) {
        for (word, place) in to.iter_mut().zip(self.of(block..block + 1)) {
            *word = place.load(Ordering::Relaxed);
        }
    }

    fn clear(&self) {
        let live: Vec<usize> = (0..self.live.len()).filter(|&block| self.is_live(block)).collect();
        each_number(live.len(), &|i| self.set(live[i], None, true));
    }
}

/// The halo of a process that keeps all planes of all chunks in memory.
pub(crate) struct WholeHalo<'a> {
    crossings: &'a Crossings,
    blocks: usize,
    /// The side of the step in progress.
    side: usize,
    at_targets: bool,
    /// The words to be read, and the words to be written, unless they are the same. For planes that move in blocks, the
    /// contents of empty blocks are meaningless and not read; other planes are always read.
    bits: [PlaneWords; 2],
}

impl<'a> WholeHalo<'a> {
    /// Returns empty planes for a step from a side, in source order. Cost: 8 bytes per plane per register, or twice
    /// that if the planes are not updated in place; memory is touched when it is used.
    pub fn new(crossings: &'a Crossings, side: usize) -> Result<WholeHalo<'a>, Error> {
        let layout = crossings.chunks.layout;
        let (planes, blocks) = (crossings.most(), layout.blocks());
        let written = if crossings.in_place { 0 } else { planes };
        let [read, written] = [planes, written].map(|n| PlaneWords::new(layout, n * blocks));
        let bits = [read?, written?];
        Ok(WholeHalo { crossings, blocks, side, at_targets: false, bits })
    }

    /// Whether a plane moves in whole blocks, in both directions.
    fn whole_blocks(&self, side: usize, plane: usize) -> bool {
        let plane = &self.crossings.sides[side][plane];
        [&plane.sources, &plane.targets].iter().all(|s| s.granularity == Granularity::Blocks)
    }
}

impl Halo for WholeHalo<'_> {
    fn incoming(
        &self,
        plane: usize,
        block: usize,
        scratch: &mut BlockSources,
        words: &mut [u64],
    ) -> bool {
        let (bits, first) = (&self.bits[0], plane * self.blocks);
        let whole = self.whole_blocks(self.side, plane);
        let sources = &self.crossings.sides[self.side][plane].sources;
        if !self.at_targets {
            sources.locate(block, scratch);
        }
        if self.at_targets || whole {
            let place = first + if self.at_targets { block } else { scratch.blocks[0] };
            if whole && !bits.is_live(place) {
                return false;
            }
            bits.copy(place, words);
        } else {
            let all = bits.of(first..first + self.blocks);
            let load = |word: usize| all[word].load(Ordering::Relaxed);
            sources.take(scratch, load, words);
        }
        words.iter().any(|&word| word != 0)
    }

    fn outgoing(&self, side: usize, plane: usize, block: usize, words: Option<&[u64]>) {
        let first = plane * self.blocks;
        let put = |at: usize, side: usize, block: usize| {
            self.bits[at].set(first + block, words, !self.whole_blocks(side, plane));
        };
        if side == self.side {
            // In source order, with which planes begin, the bits that the current level sends are in their own place.
            return put(0, side, block);
        }
        let in_place = self.crossings.in_place;
        if self.at_targets || !in_place {
            return put(usize::from(!in_place), side, block);
        }
        let sources = &self.crossings.sides[self.side][plane].sources;
        let mut located = BlockSources::default();
        sources.locate(block, &mut located);
        if self.whole_blocks(self.side, plane) {
            return put(0, self.side, located.blocks[0]);
        }
        let all = self.bits[0].of(first..first + self.blocks);
        for (register, place) in sources.words(&located).enumerate() {
            all[place].store(words.map_or(0, |words| words[register]), Ordering::Relaxed);
        }
    }

    fn next_level(&mut self, _: u32, side: usize) -> Result<(), Error> {
        self.side = side;
        if !self.crossings.in_place {
            self.bits.swap(0, 1);
            return Ok(());
        }
        self.at_targets = !self.at_targets;
        Ok(())
    }
}

/// The halo of a process that has the planes of one chunk at a time, which are filled from and emptied into an
/// [`Exchange`].
pub(crate) struct ChunkHalo<'a> {
    crossings: &'a Crossings,
    exchange: Exchange<'a>,
    /// The side of the step in progress.
    side: usize,
    /// The chunk's words, in target order.
    incoming: PlaneWords,
    /// The chunk's words, in source order.
    outgoing: PlaneWords,
}

impl<'a> ChunkHalo<'a> {
    /// Returns planes on top of an exchange, for a step from a side. Cost: 16 bytes per plane per register of one
    /// chunk; memory is touched when it is used.
    pub fn new(
        crossings: &'a Crossings,
        side: usize,
        exchange: Exchange<'a>,
    ) -> Result<ChunkHalo<'a>, Error> {
        let chunks = crossings.chunks;
        let words = || PlaneWords::new(chunks.layout, crossings.most() * chunks.blocks);
        let (incoming, outgoing) = (words()?, words()?);
        Ok(ChunkHalo { crossings, exchange, side, incoming, outgoing })
    }

    /// The number of a block of a chunk in its words.
    fn place(&self, plane: usize, block: usize) -> usize {
        plane * self.crossings.chunks.blocks + block % self.crossings.chunks.blocks
    }

    fn blocks_of(&self, chunk: usize) -> Range<usize> {
        let blocks = self.crossings.chunks.blocks;
        chunk * blocks..(chunk + 1) * blocks
    }

    /// Returns the segments that a chunk sends to others through a plane, in a step from a side: (to, plane, segment).
    fn segments(&self, chunk: usize, number: usize, side: usize) -> Result<Vec<Segment>, Error> {
        let plane = &self.crossings.sides[side][number];
        let targets_of = |located: &mut BlockSources, block: usize| {
            plane.targets.locate(block, located);
            located.blocks.clone()
        };
        let live = (self.blocks_of(chunk).into_par_iter())
            .filter(|&block| self.outgoing.is_live(self.place(number, block)));
        let targets = live.map_init(BlockSources::default, targets_of);
        let mut targets: Vec<usize> = targets.flatten_iter().collect();
        targets.par_sort_unstable();
        targets.dedup();
        let chunk_of = |block: &usize| self.crossings.chunks.of_block(*block);
        let parts: Vec<&[usize]> = targets.chunk_by(|a, b| chunk_of(a) == chunk_of(b)).collect();
        let segment = |packer: &mut Result<Packer, SystemError>, blocks: &[usize]| {
            let packer = packer.as_mut().map_err(|_| SystemError::CodecMemory)?;
            let to = chunk_of(&blocks[0]);
            let segment = self.segment(chunk, number, &plane.sources, blocks);
            let packed = packer.pack(&segment, self.exchange.leaves(to))?;
            Ok((!segment.is_empty()).then_some((to, number, packed)))
        };
        let parts = parts.into_par_iter();
        let segments = parts.map_init(|| Packer::new(self.crossings.kernel), segment);
        segments.filter_map(Result::transpose).collect()
    }

    /// Writes the bits that a chunk sends through a plane, which has these sources, to blocks of another chunk.
    fn segment(
        &self,
        chunk: usize,
        plane: usize,
        sources: &PlaneSources,
        blocks: &[usize],
    ) -> Vec<u8> {
        let outgoing = self.outgoing.of(self.blocks_of(plane));
        let (own, first) = (self.blocks_of(chunk), chunk * outgoing.len());
        let load = |word: usize| match word.checked_sub(first).and_then(|at| outgoing.get(at)) {
            Some(word) => word.load(Ordering::Relaxed),
            None => 0,
        };
        let mut segment = Vec::new();
        let mut portions = Portions::new(sources, own);
        let mut words = vec![0; self.crossings.chunks.layout.block_registers()];
        let mut next = self.blocks_of(self.crossings.chunks.of_block(blocks[0])).start;
        for &block in blocks {
            let portion = portions.of(block);
            let words = &mut words[..portion.words.len()];
            portions.take(&portion, load, words);
            if words.iter().all(|&word| word == 0) {
                continue;
            }
            push_number(&mut segment, block - next);
            gather_bits(self.crossings.kernel, words, &portion.lanes);
            push_words(&mut segment, words, &portion.lanes);
            next = block + 1;
        }
        segment
    }

    /// Puts a segment into the incoming words of a plane of a chunk; `None` if no chunk sends such a segment.
    fn fill(&self, chunk: usize, plane: usize, from: usize, mut segment: &[u8]) -> Option<()> {
        let sources = &self.crossings.sides[self.side][plane].sources;
        let mut portions = Portions::new(sources, self.blocks_of(from));
        let mut words = vec![0; self.crossings.chunks.layout.block_registers()];
        let blocks = self.blocks_of(chunk);
        let mut block = blocks.start;
        while !segment.is_empty() {
            block = block.checked_add(take_number(&mut segment)?)?;
            if block >= blocks.end {
                return None;
            }
            let place = self.place(plane, block);
            self.incoming.live[place].store(true, Ordering::Relaxed);
            let portion = portions.of(block);
            let words = &mut words[..portion.words.len()];
            take_words(&mut segment, &portion.lanes, words)?;
            // Blocks without bits are not sent.
            words.iter().any(|&word| word != 0).then_some(())?;
            scatter_bits(self.crossings.kernel, words, &portion.lanes);
            let places = self.incoming.of(place..place + 1);
            let given = portion.words.iter().zip(words).zip(&portion.lanes);
            for ((&at, &mut bits), &lanes) in given {
                let place = &places[usize::from(at)];
                if lanes == ALL_LANES {
                    place.store(bits, Ordering::Relaxed);
                } else {
                    // Other chunks send other lanes of the same words.
                    place.fetch_or(bits, Ordering::Relaxed);
                }
            }
            block += 1;
        }
        Some(())
    }
}

impl Halo for ChunkHalo<'_> {
    fn begin(&mut self, depth: u32, chunk: usize) -> Result<(), Error> {
        let segments = self.exchange.receive(depth, chunk)?;
        self.incoming.clear();
        let fill = |unpacker: &mut Result<Unpacker, SystemError>, (from, plane, packed)| {
            let unpacker = unpacker.as_mut().map_err(|_| SystemError::CodecMemory)?;
            let packed: Vec<u8> = packed;
            let filled = unpacker.unpack(&packed);
            let filled = filled.and_then(|bytes| self.fill(chunk, plane, from, &bytes));
            filled.ok_or_else(|| {
                let reason = format!(
                    "the bits of depth {} that chunk {chunk} received from chunk {from} are \
                     damaged, although their checksum is right: check the memory of this machine, \
                     then {AGAIN}",
                    depth - 1
                );
                Error::from(SearchError::Damaged { depth, scratch: true, reason })
            })
        };
        let segments = segments.into_par_iter();
        segments.try_for_each_init(|| Unpacker::new(self.crossings.kernel), fill)
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
            self.incoming.copy(place, words);
        }
        live
    }

    fn outgoing(&self, _: usize, plane: usize, block: usize, words: Option<&[u64]>) {
        let place = self.place(plane, block);
        self.outgoing.set(place, words, self.outgoing.is_live(place));
    }

    fn reached(&mut self, most: usize) -> Option<Vec<usize>> {
        let places = 0..self.incoming.live.len();
        let live = places.filter(|&place| self.incoming.is_live(place));
        let live: Vec<usize> = live.take(most + 1).collect();
        if live.len() > most {
            return None;
        }
        self.outgoing.clear();
        Some(live.iter().map(|place| place % self.crossings.chunks.blocks).collect())
    }

    fn end(&mut self, depth: u32, chunk: usize, side: usize) -> Result<(), Error> {
        for plane in 0..self.crossings.sides[side].len() {
            let segments = self.segments(chunk, plane, side)?;
            self.exchange.send(depth, chunk, segments)?;
        }
        Ok(())
    }

    fn next_level(&mut self, depth: u32, side: usize) -> Result<(), Error> {
        self.side = side;
        self.exchange.forget(depth)
    }

    fn deliver(&mut self, communicator: &dyn Communicator) -> Result<(), Error> {
        self.exchange.deliver(communicator)
    }

    fn sent(&self) -> BTreeMap<u32, u64> {
        self.exchange.sent.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernel::Kernel,
        puzzle::Goal,
        random::SplitMix64,
        search::{Chunks, OneProcess, Search, SearchProblem},
    };

    /// Bits that cannot be read are an error, never no bits.
    #[test]
    fn segments_that_no_chunk_sends_are_refused() {
        let goal = Goal::Last.board("2x5".parse().unwrap()).unwrap();
        let problem = SearchProblem::chunked(&Search::new(goal).space).unwrap();
        let chunks = Chunks::new(problem.layout, 1).unwrap();
        let crossings = Crossings::new(&problem.groups, chunks, Kernel::Scalar);
        let exchange = Exchange::new(&OneProcess, vec![0; chunks.count]);
        let halo = ChunkHalo::new(&crossings, 0, exchange).unwrap();
        let mut random = SplitMix64::new(4);
        let mut tried = 0;
        for plane in 0..crossings.sides[0].len() {
            for block in halo.blocks_of(1) {
                let words = 0..chunks.layout.block_registers();
                let words: Vec<u64> = words.map(|_| random.draw() & ALL_LANES).collect();
                halo.outgoing(0, plane, block, Some(&words));
            }
            for (to, plane, packed) in halo.segments(1, plane, 0).unwrap() {
                let bytes =
                    Unpacker::new(Kernel::Scalar).unwrap().unpack(&packed).unwrap().to_vec();
                let fill = |bytes: &[u8]| halo.fill(to, plane, 1, bytes);
                assert_eq!(fill(&bytes), Some(()));
                assert_eq!(fill(&bytes[..bytes.len() - 1]), None);
                assert_eq!(fill(&[&bytes[..], &[0]].concat()), None);
                assert_eq!(fill(&vec![0; bytes.len()]), None);
                tried += 1;
            }
        }
        assert!(tried > 5, "{tried} segments");
    }
}
