//! The bits that cross between chunks, sent from chunk to chunk.
//!
//! Invariant: both sides derive the order of the words in a segment from the windows, so no index
//! travels: a segment holds, for the target words in increasing order and each one's source words in
//! increasing order, those that lie in the sending chunk. A segment is at most 1 bit per line and 1 bit
//! per block of words: empty blocks are left out.

use std::sync::atomic::{AtomicU64, Ordering};

use bitvec::field::BitField;
use bitvec::order::Lsb0;
use bitvec::slice::BitSlice;
use bitvec::vec::BitVec;
use bitvec::view::BitView;
use rayon::prelude::*;

use super::chunks::Chunks;
use super::crossing::{Crossings, Located, Origins, Piece, Way};
use super::planes::Planes;
use crate::Error;
use crate::perm::layout::LANES;
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
    /// Returns planes over an exchange, for a step from a group. Cost: 16 bytes per plane and register of
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

/// One piece of a segment: what a word of one chunk gives to a word of another.
struct Item {
    /// Word of the target, counted over the whole array.
    target: usize,
    /// Word of the source.
    source: usize,
    /// (source lane, target lane) pairs in order of the target lane; empty for the whole word.
    lanes: Vec<(u8, u8)>,
}

impl RoutedPlanes<'_> {
    /// The chunk's blocks.
    fn blocks(&self) -> std::ops::Range<usize> {
        let first = self.chunk * self.chunks.blocks;
        first..first + self.chunks.blocks
    }

    /// The words that a plane keeps of the chunk.
    fn own<'w>(&self, words: &'w Words, plane: usize) -> &'w [AtomicU64] {
        let registers = self.chunks.registers();
        &words.get()[plane * registers..][..registers]
    }

    /// For a plane that goes in blocks: (target block, source block) of the chunk's blocks, which are the
    /// targets of `origins`, in the order of the chunks that they lead to or come from, then of the targets.
    fn pairs(&self, origins: &Origins, sends: bool) -> Vec<(usize, (usize, usize))> {
        let pair = |located: &mut Located, own: usize| {
            origins.locate(own, located);
            let other = located.blocks[0];
            let pair = if sends { (other, own) } else { (own, other) };
            (self.chunks.of_block(other), pair)
        };
        let blocks = self.blocks().into_par_iter();
        let mut pairs: Vec<_> = blocks.map_init(Located::default, pair).collect();
        pairs.par_sort_unstable();
        pairs
    }

    /// The same for other planes: the pieces of the chunk's words.
    fn items(&self, origins: &Origins, sends: bool) -> Vec<(usize, Item)> {
        let size = self.chunks.layout.block_registers();
        let of_block = |(located, pieces): &mut (Located, Vec<Piece>), block: usize| {
            origins.locate(block, located);
            let mut items = Vec::new();
            for register in 0..size {
                origins.pieces(located, register, pieces);
                for Piece { word, mut lanes } in pieces.drain(..) {
                    let own = block * size + register;
                    let (target, source) = if sends { (word, own) } else { (own, word) };
                    if sends {
                        lanes.iter_mut().for_each(|(a, b)| std::mem::swap(a, b));
                    }
                    lanes.sort_unstable_by_key(|pair| pair.1);
                    let item = Item {
                        target,
                        source,
                        lanes,
                    };
                    items.push((word / self.chunks.registers(), item));
                }
            }
            items
        };
        let blocks = self.blocks().into_par_iter();
        let items = blocks.map_init(Default::default, of_block).flatten_iter();
        let mut items: Vec<_> = items.collect();
        items.par_sort_unstable_by_key(|(chunk, item)| (*chunk, item.target, item.source));
        items
    }

    /// Calls `each` for every chunk with what of a sorted list is its.
    fn by_chunk<T: Sync, R: Send>(
        &self,
        list: &[(usize, T)],
        each: impl Fn(usize, &[(usize, T)]) -> R + Sync,
    ) -> Vec<R> {
        let part = |chunk: usize| {
            let start = list.partition_point(|(c, _)| *c < chunk);
            let len = list[start..].partition_point(|(c, _)| *c == chunk);
            each(chunk, &list[start..start + len])
        };
        (0..self.chunks.count).into_par_iter().map(part).collect()
    }

    /// Writes the segments of the chunk's outgoing words, for a step from group `from`; `None` for those
    /// without states.
    fn segments(&self, plane: usize, from: usize) -> Vec<Option<Vec<u8>>> {
        // The way back tells for each source where it goes.
        let back = &self.crossings.planes[plane].origins[1 - from];
        let outgoing = self.own(&self.outgoing, plane);
        let size = self.chunks.layout.block_registers();
        let base = self.base(self.chunk);
        if back.way == Way::Blocks {
            return self.by_chunk(&self.pairs(back, true), |_, pairs| {
                let mut segment = Segment::default();
                for &(_, (_, source)) in pairs {
                    let words = &outgoing[source * size - base..][..size];
                    let any = words.iter().any(|word| word.load(Ordering::Relaxed) != 0);
                    segment.push(u64::from(any), 1);
                    for word in words.iter().filter(|_| any) {
                        segment.push(word.load(Ordering::Relaxed), LANES);
                    }
                }
                segment.finish()
            });
        }
        self.by_chunk(&self.items(back, true), |_, items| {
            let mut segment = Segment::default();
            for (_, item) in items {
                let word = outgoing[item.source - base].load(Ordering::Relaxed);
                if item.lanes.is_empty() {
                    segment.push(word, LANES);
                }
                for &(lane, _) in &item.lanes {
                    segment.push(word >> lane & 1, 1);
                }
            }
            segment.finish()
        })
    }

    /// Fills the incoming words of a plane from the segments that reached the chunk.
    fn fill(&self, plane: usize, segments: &[(usize, usize, Vec<u8>)]) {
        let origins = &self.crossings.planes[plane].origins[self.from];
        let words = self.own(&self.incoming, plane);
        words
            .par_iter()
            .for_each(|word| word.store(0, Ordering::Relaxed));
        let size = self.chunks.layout.block_registers();
        let base = self.base(self.chunk);
        let reader = |from: usize| {
            let here = segments.iter().find(|(f, p, _)| (*f, *p) == (from, plane));
            here.map(|(_, _, bytes)| Reader::new(bytes))
        };
        if origins.way == Way::Blocks {
            self.by_chunk(&self.pairs(origins, false), |from, pairs| {
                let Some(mut reader) = reader(from) else {
                    return;
                };
                for &(_, (target, _)) in pairs {
                    if reader.take(1) == 1 {
                        for word in &words[target * size - base..][..size] {
                            word.store(reader.take(LANES), Ordering::Relaxed);
                        }
                    }
                }
            });
            return;
        }
        self.by_chunk(&self.items(origins, false), |from, items| {
            let Some(mut reader) = reader(from) else {
                return;
            };
            for (_, item) in items {
                let mut bits = if item.lanes.is_empty() {
                    reader.take(LANES)
                } else {
                    0
                };
                for &(_, lane) in &item.lanes {
                    bits |= reader.take(1) << lane;
                }
                words[item.target - base].fetch_or(bits, Ordering::Relaxed);
            }
        });
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
        self.close(depth + 1, chunk, 1 - self.from)
    }

    fn next_level(&mut self, depth: u32, from: usize) -> Result<(), Error> {
        self.from = from;
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
        scratch: &mut Located,
        words: Option<&[u64]>,
    ) {
        self.outgoing(plane, block, scratch, words);
    }

    fn close(&mut self, depth: u32, chunk: usize, from: usize) -> Result<(), Error> {
        for plane in 0..self.crossings.planes.len() {
            for (to, segment) in self.segments(plane, from).into_iter().enumerate() {
                if let Some(segment) = segment {
                    self.exchange.send(depth, chunk, to, plane, &segment)?;
                }
            }
        }
        Ok(())
    }
}
/// The bits of a segment being written, lowest first.
#[derive(Default)]
struct Segment {
    bits: BitVec<u8, Lsb0>,
    /// Whether any state is in it.
    any: bool,
}

impl Segment {
    fn push(&mut self, value: u64, bits: usize) {
        let at = self.bits.len();
        self.bits.resize(at + bits, false);
        self.bits[at..].store_le(value);
        self.any |= value != 0;
    }

    fn finish(self) -> Option<Vec<u8>> {
        self.any.then(|| self.bits.into_vec())
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_back() {
        let values = [
            (1, 1),
            (u64::MAX >> 4, 60),
            (0, 1),
            (5, 3),
            (u64::MAX, 64),
            (9, 60),
        ];
        let mut segment = Segment::default();
        values
            .iter()
            .for_each(|&(value, bits)| segment.push(value, bits));
        let bytes = segment.finish().unwrap();
        assert_eq!(bytes.len(), 189usize.div_ceil(8));
        let mut reader = Reader::new(&bytes);
        for (value, bits) in values {
            assert_eq!(reader.take(bits), value);
        }
        assert_eq!(reader.take(60), 0);
        let mut empty = Segment::default();
        empty.push(0, 60);
        assert_eq!(empty.finish(), None);
    }
}
