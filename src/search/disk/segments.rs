//! The bits that cross between chunks, sent from chunk to chunk.
//!
//! Invariant: both sides derive the order of the bits from the windows, so no index of a bit travels: a
//! segment holds, for the target blocks that get any state from the sending chunk, in increasing order, how
//! many were left out before and, for the words of the block in order, those of their bits whose source lies
//! in the sending chunk, in whole bytes. So a segment takes what it has to say, in thin levels next to nothing, and at
//! most 8 bytes a word and a byte per block, which coding makes smaller.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use crate::Error;
use crate::kernel::{Kernel, gather_bits, scatter_bits};
use crate::perm::{LANES, Register};
use crate::search::disk::{
    ALL_LANES, BlockSources, Exchange, Halo, PlaneSources, PlaneWords, Portions,
};
use crate::search::{Chunks, Communicator, Crossings};
use crate::store::{Codec, DEFAULT_LEVEL, Decoder, Encoder, MemoryError};

/// Makes all words of a chunk zero.
fn clear(words: &PlaneWords) {
    let live = (0..words.live.len()).into_par_iter().filter(|&block| words.is_live(block));
    live.for_each(|block| words.set(block, None, true));
}

/// The halo of a process that has the planes of one chunk at a time, filled from and emptied into an [`Exchange`].
pub(crate) struct ChunkHalo<'a> {
    chunks: Chunks,
    crossings: &'a Crossings,
    exchange: Exchange<'a>,
    /// Side of the step in progress.
    side: usize,
    /// The chunk's words, in target order.
    incoming: PlaneWords,
    /// The chunk's words, in source order.
    outgoing: PlaneWords,
    kernel: Kernel,
}

impl<'a> ChunkHalo<'a> {
    /// Returns planes over an exchange, for a step from a side. Cost: 16 bytes per plane and register of
    /// one chunk, touched when used.
    pub fn new(
        chunks: Chunks,
        crossings: &'a Crossings,
        side: usize,
        kernel: Kernel,
        exchange: Exchange<'a>,
    ) -> Result<ChunkHalo<'a>, Error> {
        let words = || PlaneWords::new(chunks.layout, crossings.most() * chunks.blocks);
        let (incoming, outgoing) = (words()?, words()?);
        Ok(ChunkHalo { chunks, crossings, exchange, side, incoming, outgoing, kernel })
    }

    /// The number of a block of a chunk in its words.
    fn place(&self, plane: usize, block: usize) -> usize {
        plane * self.chunks.blocks + block % self.chunks.blocks
    }

    fn blocks_of(&self, chunk: usize) -> Range<usize> {
        let blocks = self.chunks.blocks;
        chunk * blocks..(chunk + 1) * blocks
    }

    /// Returns the segments of what a chunk gives to others through a plane, in a step from a side: (to, plane, segment).
    fn segments(
        &self,
        chunk: usize,
        number: usize,
        side: usize,
    ) -> Result<Vec<(usize, usize, Vec<u8>)>, Error> {
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
        let chunk_of = |block: &usize| self.chunks.of_block(*block);
        let parts: Vec<&[usize]> = targets.chunk_by(|a, b| chunk_of(a) == chunk_of(b)).collect();
        let segment = |packer: &mut Result<Packer, MemoryError>, blocks: &[usize]| {
            let packer = packer.as_mut().map_err(|error| error.clone())?;
            let to = chunk_of(&blocks[0]);
            let segment = self.segment(chunk, number, &plane.sources, blocks);
            let coded = self.exchange.leaves(to);
            let packed = |segment: &Segment| Ok((to, number, packer.pack(segment, coded)?));
            segment.as_ref().map(packed).transpose()
        };
        let parts = parts.into_par_iter();
        let segments = parts.map_init(|| Packer::new(self.kernel), segment);
        segments.filter_map(Result::transpose).collect()
    }

    /// Writes what a chunk gives through a plane, which has these sources, to blocks of another one.
    fn segment(
        &self,
        chunk: usize,
        plane: usize,
        sources: &PlaneSources,
        blocks: &[usize],
    ) -> Option<Segment> {
        let outgoing = self.outgoing.of(self.blocks_of(plane));
        let (own, first) = (self.blocks_of(chunk), chunk * outgoing.len());
        let load = |word: usize| match word.checked_sub(first).and_then(|at| outgoing.get(at)) {
            Some(word) => word.load(Ordering::Relaxed),
            None => 0,
        };
        let mut segment = Segment::default();
        let mut portions = Portions::new(sources, own);
        let mut words = vec![0; self.chunks.layout.block_registers()];
        let mut next = self.blocks_of(self.chunks.of_block(blocks[0])).start;
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

    /// Puts a segment into the incoming words of a plane of a chunk.
    fn fill(&self, chunk: usize, plane: usize, from: usize, segment: &[u8]) {
        let sources = &self.crossings.sides[self.side][plane].sources;
        let mut portions = Portions::new(sources, self.blocks_of(from));
        let mut reader = SegmentReader::new(segment);
        let mut words = vec![0; self.chunks.layout.block_registers()];
        let blocks = self.blocks_of(chunk);
        let mut block = blocks.start;
        while let Some(skipped) = reader.number() {
            block += skipped;
            if block >= blocks.end {
                // Nobody has written this: what is received has been compared with its hash.
                return;
            }
            let place = self.place(plane, block);
            self.incoming.live[place].store(true, Ordering::Relaxed);
            let portion = portions.of(block);
            let words = &mut words[..portion.words.len()];
            reader.take(&portion.lanes, words);
            scatter_bits(self.kernel, words, &portion.lanes);
            let places = self.incoming.of(place..place + 1);
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

impl Halo for ChunkHalo<'_> {
    fn begin(&mut self, depth: u32, chunk: usize) -> Result<(), Error> {
        let segments = self.exchange.receive(depth, chunk)?;
        clear(&self.incoming);
        let fill = |unpacker: &mut Result<Unpacker, MemoryError>, (from, plane, packed)| {
            let unpacker = unpacker.as_mut().map_err(|error| error.clone())?;
            let packed: Vec<u8> = packed;
            // What arrives has been compared with its hash, and is what was packed.
            let bytes = unpacker.unpack(&packed).ok_or(MemoryError::Codec)?;
            self.fill(chunk, plane, from, &bytes);
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
            for (word, place) in words.iter_mut().zip(self.incoming.of(place..place + 1)) {
                *word = place.load(Ordering::Relaxed);
            }
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
        clear(&self.outgoing);
        Some(live.iter().map(|place| place % self.chunks.blocks).collect())
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
        self.exchange.sent()
    }
}

// A segment: the bits that one chunk gives to another one through one plane.
//
// Invariant: it takes what it has to say. On its way it is coded as frames of a level are, since bits of levels
// cluster as their states do; what it was coded with stands in front.

/// Registers of bytes that are coded together, as in a level.
const FRAME: usize = 3024;

/// Segments below this many bytes travel as they are.
const SHORT: usize = 256;

/// The numbers and bits of a segment, in whole bytes.
#[derive(Default)]
pub(crate) struct Segment {
    bytes: Vec<u8>,
}

impl Segment {
    /// Appends the lowest bits of words, as many as there are lanes, in whole bytes.
    pub fn push(&mut self, words: &[u64], lanes: &[u64]) {
        self.bytes.reserve(8 * words.len());
        for (word, lanes) in words.iter().zip(lanes) {
            let len = self.bytes.len() + bytes(*lanes);
            self.bytes.extend(word.to_le_bytes());
            self.bytes.truncate(len);
        }
    }

    /// Appends seven bits at a time, the lowest first, each with a bit that says whether more follow.
    pub fn push_number(&mut self, mut number: usize) {
        while number >= 128 {
            self.bytes.push(number as u8 | 128);
            number /= 128;
        }
        self.bytes.push(number as u8);
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

fn bytes(lanes: u64) -> usize {
    lanes.count_ones().div_ceil(8) as usize
}

/// Reads a segment.
pub(crate) struct SegmentReader<'a>(&'a [u8]);

impl<'a> SegmentReader<'a> {
    pub fn new(bytes: &'a [u8]) -> SegmentReader<'a> {
        SegmentReader(bytes)
    }

    /// Writes the next words, each of as many bits as there are lanes and what follows them; zeros beyond the end.
    pub fn take(&mut self, lanes: &[u64], words: &mut [u64]) {
        for (word, &lanes) in words.iter_mut().zip(lanes) {
            let mut next = [0; 8];
            if let Some(eight) = self.0.first_chunk() {
                next = *eight;
            } else {
                next[..self.0.len()].copy_from_slice(self.0);
            }
            *word = u64::from_le_bytes(next);
            self.0 = self.0.get(bytes(lanes)..).unwrap_or_default();
        }
    }

    /// The next number; `None` when there is none.
    pub fn number(&mut self) -> Option<usize> {
        let mut number = 0;
        for shift in (0..usize::BITS).step_by(7) {
            let (&part, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= usize::from(part % 128) << shift;
            if part < 128 {
                break;
            }
        }
        Some(number)
    }
}

/// Codes segments.
pub(crate) struct Packer {
    codec: Codec,
    encoder: Encoder,
    frame: Vec<Register>,
}

impl Packer {
    pub fn new(kernel: Kernel) -> Result<Packer, MemoryError> {
        let codec = Codec::best(kernel);
        Ok(Packer {
            codec,
            encoder: Encoder::new(codec, DEFAULT_LEVEL, kernel)?,
            frame: Vec::new(),
        })
    }

    /// Returns the bytes that travel: number of the codec or 0, number of the bytes, and for every frame its length
    /// and its bytes. What is short, or not to be coded, is as it is behind the 0.
    pub fn pack(&mut self, segment: &Segment, coded: bool) -> Result<Vec<u8>, Error> {
        let bytes = &segment.bytes;
        if !coded || bytes.len() < SHORT {
            return Ok([&[0], &bytes[..]].concat());
        }
        let mut packed = vec![self.codec.number()];
        packed.extend((bytes.len() as u64).to_le_bytes());
        for bytes in bytes.chunks(FRAME * LANES) {
            self.frame.clear();
            self.frame.extend(bytes.chunks(LANES).map(|bytes| {
                let mut register = [0; 64];
                register[..bytes.len()].copy_from_slice(bytes);
                register
            }));
            let coded = self.encoder.encode(&self.frame);
            let coded = coded.map_err(|_| MemoryError::Codec)?;
            packed.extend((coded.len() as u32).to_le_bytes());
            packed.extend(coded);
        }
        Ok(packed)
    }
}

/// Decodes segments.
pub(crate) struct Unpacker {
    decoder: Decoder,
    frame: Vec<Register>,
}

impl Unpacker {
    pub fn new(kernel: Kernel) -> Result<Unpacker, MemoryError> {
        Ok(Unpacker { decoder: Decoder::new(kernel)?, frame: Vec::new() })
    }

    /// Returns the bytes of a segment; `None` when they were not packed like this, which their hash rules out.
    pub fn unpack<'p>(&mut self, packed: &'p [u8]) -> Option<Cow<'p, [u8]>> {
        let (&codec, rest) = packed.split_first()?;
        if codec == 0 {
            return Some(rest.into());
        }
        let codec = Codec::numbered(codec)?;
        let (len, mut rest) = rest.split_first_chunk()?;
        let len = u64::from_le_bytes(*len) as usize;
        let mut bytes = Vec::new();
        while bytes.len() < len {
            let (coded, others) = rest.split_first_chunk()?;
            let (coded, others) = others.split_at_checked(u32::from_le_bytes(*coded) as usize)?;
            rest = others;
            let here = (len - bytes.len()).min(FRAME * LANES);
            self.frame.resize(here.div_ceil(LANES), [0; 64]);
            let decoded = self.decoder.decode(codec, coded, &mut self.frame, false);
            decoded.ok()?;
            for (register, left) in self.frame.iter().zip((0..=here).rev().step_by(LANES)) {
                bytes.extend(&register[..left.min(LANES)]);
            }
        }
        rest.is_empty().then_some(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn bits_and_numbers_come_back() {
        // Words, and the lanes that say how many bits each has.
        let parts: [&[(u64, u64)]; 4] = [
            &[(1, 1 << 40), (u64::MAX >> 4, u64::MAX >> 4), (0, 2)],
            &[],
            &[(5, 0b1011), (u64::MAX, u64::MAX)],
            &[(9, u64::MAX << 4)],
        ];
        let mut segment = Segment::default();
        for (i, part) in parts.iter().enumerate() {
            let (words, lanes): (Vec<u64>, Vec<u64>) = part.iter().copied().unzip();
            segment.push_number(i * i * 100);
            segment.push(&words, &lanes);
        }
        // Numbers of one and of two bytes.
        assert_eq!(segment.bytes.len(), 27 + 2 + 2 * 2);
        let mut reader = SegmentReader::new(&segment.bytes);
        for (i, part) in parts.iter().enumerate() {
            let (words, lanes): (Vec<u64>, Vec<u64>) = part.iter().copied().unzip();
            let mut taken = vec![7; words.len()];
            assert_eq!(reader.number(), Some(i * i * 100));
            reader.take(&lanes, &mut taken);
            // Above the bits of a word is what follows it.
            for ((taken, word), lanes) in taken.iter().zip(words).zip(lanes) {
                let bits = u64::MAX >> (64 - lanes.count_ones());
                assert_eq!(taken & bits, word);
            }
        }
        assert_eq!(reader.number(), None);
        let mut beyond = [7];
        reader.take(&[u64::MAX], &mut beyond);
        assert_eq!(beyond, [0]);
    }

    #[test]
    fn segments_of_any_length_come_back_smaller() {
        let mut random = SplitMix64::new(5);
        let full = FRAME * LANES;
        for len in [0, 1, SHORT - 1, SHORT, 600, 601, full - 1, full, full + 1, 3 * full + 77] {
            let mut segment = Segment::default();
            for _ in 0..len {
                // One bit in ten.
                let bits = (0..8).filter(|_| random.below(10) == 0);
                segment.bytes.push(bits.map(|bit| 1 << bit).sum());
            }
            for kernel in [Kernel::Scalar, Kernel::best()] {
                let mut packer = Packer::new(kernel).unwrap();
                let mut unpacker = Unpacker::new(kernel).unwrap();
                let plain = packer.pack(&segment, false).unwrap();
                assert_eq!(*unpacker.unpack(&plain).unwrap(), segment.bytes);
                assert_eq!(plain.len(), len + 1);
                let packed = packer.pack(&segment, true).unwrap();
                assert_eq!(*unpacker.unpack(&packed).unwrap(), segment.bytes);
                assert!(len < 10_000 || packed.len() * 2 < len, "{len} {}", packed.len());
                let short = packed.len() - usize::from(len >= SHORT);
                assert_eq!(unpacker.unpack(&packed[..short]).is_some(), len < SHORT);
            }
        }
    }
}
