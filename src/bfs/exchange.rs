//! The bits that cross between chunks, sent from chunk to chunk.
//!
//! Invariant: both sides derive the order of the words in a segment from the windows, so no index
//! travels: a segment holds, for the target words in increasing order and each one's source words in
//! increasing order, those that lie in the sending chunk. A segment is at most 1 bit per line and 1 bit
//! per block of words: empty blocks are left out.

use super::chunks::Chunks;
use super::crossing::{Crossings, Located, Piece, Way};
use super::planes::Planes;
use crate::Error;
use crate::perm::layout::LANES;
use crate::store::Words;
use std::sync::atomic::Ordering;

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

/// Planes of one chunk at a time, filled from and emptied into an [`Exchange`].
pub(super) struct RoutedPlanes<'a> {
    chunks: Chunks,
    crossings: &'a Crossings,
    exchange: Box<dyn Exchange + 'a>,
    from: usize,
    chunk: usize,
    /// For each plane the chunk's words, in target order.
    incoming: Words,
    /// For each plane the chunk's words, in source order.
    outgoing: Words,
}

impl<'a> RoutedPlanes<'a> {
    /// Returns planes over an exchange, for a step from a class. Cost: 16 bytes per plane and register of
    /// one chunk.
    pub fn new(
        chunks: Chunks,
        crossings: &'a Crossings,
        from: usize,
        exchange: Box<dyn Exchange + 'a>,
    ) -> Result<RoutedPlanes<'a>, Error> {
        let words = crossings.planes.len() * chunks.registers();
        Ok(RoutedPlanes {
            chunks,
            crossings,
            exchange,
            from,
            chunk: 0,
            incoming: Words::zeroed(words)?,
            outgoing: Words::zeroed(words)?,
        })
    }

    /// Where the words of a block lie in `incoming` and `outgoing`.
    fn place(&self, plane: usize, block: usize) -> std::ops::Range<usize> {
        let size = self.chunks.layout.block_registers();
        let start =
            plane * self.chunks.registers() + (block - self.chunk * self.chunks.blocks) * size;
        start..start + size
    }

    /// The first word of the chunk, counted over the whole array.
    fn base(&self, chunk: usize) -> usize {
        chunk * self.chunks.registers()
    }
}

/// One piece of a segment: what a word of the sending chunk gives to a word of another.
struct Item {
    /// Target word, counted over the whole array.
    target: usize,
    /// Source word.
    source: usize,
    /// (source lane, target lane) pairs in order of the target lane; empty for the whole word.
    lanes: Vec<(u8, u8)>,
}

impl RoutedPlanes<'_> {
    /// Writes the segments of the chunk's outgoing words, for a step from class `from`.
    fn segments(&self, plane: usize, from: usize) -> Vec<BitWriter> {
        // The way back tells for each source where it goes.
        let back = &self.crossings.planes[plane].origins[1 - from];
        let mut segments: Vec<BitWriter> = (0..self.chunks.count)
            .map(|_| BitWriter::default())
            .collect();
        let first = self.chunk * self.chunks.blocks;
        let blocks = first..first + self.chunks.blocks;
        let base = self.base(self.chunk);
        let outgoing = &self.outgoing.get()[plane * self.chunks.registers()..];
        let size = self.chunks.layout.block_registers();
        let mut located = Located::default();
        if back.way == Way::Blocks {
            let mut pairs: Vec<(usize, usize)> = blocks
                .map(|source| {
                    back.locate(source, &mut located);
                    (located.blocks[0], source)
                })
                .collect();
            pairs.sort_unstable();
            for (target, source) in pairs {
                let words = &outgoing[source * size - base..][..size];
                let segment = &mut segments[self.chunks.of_block(target)];
                let any = words.iter().any(|word| word.load(Ordering::Relaxed) != 0);
                segment.any |= any;
                segment.push(u64::from(any), 1);
                for word in words.iter().filter(|_| any) {
                    segment.push(word.load(Ordering::Relaxed), LANES);
                }
            }
            return segments;
        }
        let (mut items, mut pieces) = (Vec::new(), Vec::new());
        for block in blocks {
            back.locate(block, &mut located);
            for register in 0..size {
                back.pieces(&located, register, &mut pieces);
                for Piece { word, mut lanes } in pieces.drain(..) {
                    lanes.iter_mut().for_each(|(a, b)| std::mem::swap(a, b));
                    lanes.sort_unstable_by_key(|pair| pair.1);
                    items.push(Item {
                        target: word,
                        source: block * size + register,
                        lanes,
                    });
                }
            }
        }
        items.sort_unstable_by_key(|item| (item.target, item.source));
        for item in items {
            let segment = &mut segments[item.target / self.chunks.registers()];
            let word = outgoing[item.source - base].load(Ordering::Relaxed);
            segment.any |= word != 0;
            if item.lanes.is_empty() {
                segment.push(word, LANES);
            } else {
                for &(lane, _) in &item.lanes {
                    segment.push(word >> lane & 1, 1);
                }
            }
        }
        segments
    }

    /// Fills the incoming words of a plane from the segments that reached the chunk.
    fn fill(&mut self, plane: usize, segments: &[(usize, usize, Vec<u8>)]) {
        let origins = &self.crossings.planes[plane].origins[self.from];
        let registers = self.chunks.registers();
        let words = &self.incoming.get()[plane * registers..][..registers];
        let mut readers: Vec<Option<BitReader>> = vec![None; self.chunks.count];
        for (from, _, bytes) in segments.iter().filter(|(_, p, _)| *p == plane) {
            readers[*from] = Some(BitReader::new(bytes));
        }
        let size = self.chunks.layout.block_registers();
        let mut located = Located::default();
        let mut pieces = Vec::new();
        for block in 0..self.chunks.blocks {
            origins.locate(self.chunk * self.chunks.blocks + block, &mut located);
            let words = &words[block * size..][..size];
            if origins.way == Way::Blocks {
                let reader = &mut readers[self.chunks.of_block(located.blocks[0])];
                let any = reader.as_mut().is_some_and(|reader| reader.take(1) == 1);
                for word in words {
                    let bits = if any {
                        reader.as_mut().map_or(0, |r| r.take(LANES))
                    } else {
                        0
                    };
                    word.store(bits, Ordering::Relaxed);
                }
                continue;
            }
            for (register, word) in words.iter().enumerate() {
                origins.pieces(&located, register, &mut pieces);
                let mut bits = 0;
                for piece in &mut pieces {
                    let Some(reader) = &mut readers[piece.word / registers] else {
                        continue;
                    };
                    if piece.lanes.is_empty() {
                        bits |= reader.take(LANES);
                    }
                    piece.lanes.sort_unstable_by_key(|pair| pair.1);
                    for &(_, lane) in &piece.lanes {
                        bits |= reader.take(1) << lane;
                    }
                }
                word.store(bits, Ordering::Relaxed);
            }
        }
    }
}

impl Planes for RoutedPlanes<'_> {
    fn begin(&mut self, depth: u32, chunk: usize) -> Result<(), Error> {
        self.chunk = chunk;
        let segments = self.exchange.receive(depth, chunk)?;
        for plane in 0..self.crossings.planes.len() {
            self.fill(plane, &segments);
        }
        Ok(())
    }

    fn incoming(&self, plane: usize, block: usize, _: &mut Located, words: &mut [u64]) -> bool {
        let mut any = 0;
        for (word, place) in words
            .iter_mut()
            .zip(&self.incoming.get()[self.place(plane, block)])
        {
            *word = place.load(Ordering::Relaxed);
            any |= *word;
        }
        any != 0
    }

    fn outgoing(&self, plane: usize, block: usize, _: &mut Located, words: Option<&[u64]>) {
        let places = &self.outgoing.get()[self.place(plane, block)];
        for (i, place) in places.iter().enumerate() {
            place.store(words.map_or(0, |words| words[i]), Ordering::Relaxed);
        }
    }

    fn end(&mut self, depth: u32, chunk: usize) -> Result<(), Error> {
        self.send(depth + 1, chunk, 1 - self.from)
    }

    fn next_level(&mut self, depth: u32, from: usize) -> Result<(), Error> {
        self.from = from;
        self.exchange.forget(depth)
    }
}

impl RoutedPlanes<'_> {
    /// Makes `chunk` the one whose outgoing words are written, without receiving anything.
    pub fn open(&mut self, chunk: usize) {
        self.chunk = chunk;
    }

    /// Sends the outgoing words of a chunk for the step to `depth`, which starts from class `from`.
    pub fn send(&mut self, depth: u32, chunk: usize, from: usize) -> Result<(), Error> {
        for plane in 0..self.crossings.planes.len() {
            for (to, segment) in self.segments(plane, from).into_iter().enumerate() {
                if segment.any {
                    self.exchange
                        .send(depth, chunk, to, plane, &segment.finish())?;
                }
            }
        }
        Ok(())
    }
}

/// Bits, lowest first.
#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    word: u128,
    bits: usize,
    /// Whether any state is in it.
    any: bool,
}

impl BitWriter {
    fn push(&mut self, value: u64, bits: usize) {
        self.word |= u128::from(value) << self.bits;
        self.bits += bits;
        if self.bits >= 64 {
            self.bytes.extend((self.word as u64).to_le_bytes());
            self.word >>= 64;
            self.bits -= 64;
        }
    }

    fn finish(mut self) -> Vec<u8> {
        let rest = self.bits.div_ceil(8);
        self.bytes.extend(&self.word.to_le_bytes()[..rest]);
        self.bytes
    }
}

#[derive(Clone)]
struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BitReader<'a> {
    fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, at: 0 }
    }

    /// The next bits, at most 64; zeros beyond the end.
    fn take(&mut self, bits: usize) -> u64 {
        let byte = self.at / 8;
        let mut sixteen = [0; 16];
        let rest = &self.bytes[byte.min(self.bytes.len())..];
        let len = rest.len().min(16);
        sixteen[..len].copy_from_slice(&rest[..len]);
        let word = u128::from_le_bytes(sixteen) >> (self.at % 8);
        self.at += bits;
        word as u64 & (u64::MAX >> (64 - bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_back() {
        let values = [
            (1, 1),
            (0x0fff_ffff_ffff_ffff, 60),
            (0, 1),
            (5, 3),
            (u64::MAX, 64),
            (9, 60),
        ];
        let mut writer = BitWriter::default();
        for (value, bits) in values {
            writer.push(value, bits);
        }
        let bytes = writer.finish();
        assert_eq!(bytes.len(), 189usize.div_ceil(8));
        let mut reader = BitReader::new(&bytes);
        for (value, bits) in values {
            assert_eq!(reader.take(bits), value);
        }
        assert_eq!(reader.take(60), 0);
    }
}
