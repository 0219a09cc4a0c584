//! The bits that cross between chunks, kept in memory.
//!
//! Invariant: where moves have a way back and words move as a whole, one word per plane and register serves both what
//! the step in progress still has to read and what it writes for the following one, because the windows of one step are the inverse of
//! those of the step before. In **source order** word y holds the bit of line y, and the step for line x reads the
//! word of the line it comes from and writes its own bit there; afterwards that word stands where the
//! next step looks for it: at its target. In **target order** line x finds its bit at x and leaves its
//! own there, which is source order for the step after. So the words change order with every level and
//! are never copied. Elsewhere there are two arrays in source order: one is read, one written.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::Error;
use crate::kernel::Kernel;
use crate::search::classes::Chunks;
use crate::search::disk::halo_sources::{BlockSources, Granularity};
use crate::search::problem::Crossings;
use crate::store::Words;

/// Takes bits from the chunks of one level to those of the next.
///
/// For every chunk of a level in turn: [`Planes::begin`]; for each of its blocks and each plane
/// [`Planes::incoming`], then [`Planes::outgoing`]; [`Planes::end`]. When all chunks are done,
/// [`Planes::next_level`].
pub(crate) trait Planes: Send + Sync {
    /// Gets ready for the blocks of a chunk.
    fn begin(&mut self, depth: u32, chunk: usize) -> Result<(), Error>;

    /// Writes the bits that reach a block through a plane, and returns whether there are any.
    fn incoming(
        &self,
        plane: usize,
        block: usize,
        scratch: &mut BlockSources,
        words: &mut [u64],
    ) -> bool;

    /// Takes the bits that a block sends through a plane at the following level; `None` for none.
    fn outgoing(
        &self,
        plane: usize,
        block: usize,
        scratch: &mut BlockSources,
        words: Option<&[u64]>,
    );

    /// Returns the blocks of a chunk that has begun, counted from its first, that bits reach, some twice, when they are at
    /// most `most`. What blocks have given before is forgotten then, so that only those that have something to give must be asked. `None` when
    /// there are more, or nobody knows.
    fn reached(&mut self, most: usize) -> Option<Vec<usize>>;

    /// Sends what the blocks of a chunk have given.
    fn end(&mut self, depth: u32, chunk: usize) -> Result<(), Error>;

    /// Gets ready for what a chunk of an earlier session sends.
    fn open(&mut self, chunk: usize);

    /// Takes the bits that a block sends in a step from `side`, that in progress or the next.
    fn restore(
        &self,
        side: usize,
        plane: usize,
        block: usize,
        scratch: &mut BlockSources,
        words: Option<&[u64]>,
    );

    /// Sends what the blocks of a chunk opened have given, for the step from a side to a depth.
    fn close(&mut self, depth: u32, chunk: usize, side: usize) -> Result<(), Error>;

    /// Turns to the following level; `side` is that of its step.
    fn next_level(&mut self, depth: u32, side: usize) -> Result<(), Error>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SegmentOrder {
    Source,
    Target,
}

/// Words of all planes of all chunks.
struct PlaneWords {
    words: Words,
    /// For each plane and block of words whether any is set; what is not is not worth reading. Only for
    /// planes that go in blocks: others are always read.
    live: Vec<AtomicBool>,
}

/// All planes of all chunks, in memory.
pub(crate) struct SharedPlanes<'a> {
    chunks: Chunks,
    crossings: &'a Crossings,
    /// Side of the step in progress.
    side: usize,
    order: SegmentOrder,
    /// What is read, and what is written unless that is the same.
    bits: [PlaneWords; 2],
    kernel: Kernel,
}

impl<'a> SharedPlanes<'a> {
    /// Returns empty planes for a step from a side, in source order. Cost: 8 bytes per plane and
    /// register, twice where they do not stay in place, touched when used.
    pub fn new(
        chunks: Chunks,
        crossings: &'a Crossings,
        side: usize,
        kernel: Kernel,
    ) -> Result<SharedPlanes<'a>, Error> {
        let layout = chunks.layout;
        let bits = |planes: usize| {
            Ok::<PlaneWords, Error>(PlaneWords {
                words: Words::zeroed(planes * layout.registers() as usize)?,
                live: (0..planes * layout.blocks()).map(|_| AtomicBool::new(false)).collect(),
            })
        };
        let planes = crossings.most();
        let written = if crossings.in_place { 0 } else { planes };
        Ok(SharedPlanes {
            chunks,
            crossings,
            side,
            order: SegmentOrder::Source,
            bits: [bits(planes)?, bits(written)?],
            kernel,
        })
    }

    fn written(&self) -> &PlaneWords {
        &self.bits[usize::from(!self.crossings.in_place)]
    }

    /// The words of a plane.
    fn plane<'b>(&self, bits: &'b PlaneWords, plane: usize) -> &'b [AtomicU64] {
        let len = self.chunks.layout.registers() as usize;
        &bits.words.get()[plane * len..][..len]
    }

    /// Writes a block of words at its own place, for a step from a side.
    fn put(
        &self,
        bits: &PlaneWords,
        side: usize,
        plane: usize,
        place: usize,
        words: Option<&[u64]>,
    ) {
        let size = self.chunks.layout.block_registers();
        let places = &self.plane(bits, plane)[place * size..][..size];
        let blocks = self.whole_blocks(side, plane);
        if let Some(words) = words {
            for (place, &word) in places.iter().zip(words) {
                place.store(word, Ordering::Relaxed);
            }
        } else if !blocks {
            for place in places {
                place.store(0, Ordering::Relaxed);
            }
        }
        self.live(bits, plane, place).store(words.is_some(), Ordering::Relaxed);
    }

    fn live<'b>(&self, bits: &'b PlaneWords, plane: usize, place: usize) -> &'b AtomicBool {
        &bits.live[plane * self.chunks.layout.blocks() + place]
    }

    /// Whether a plane goes in whole blocks, in either direction.
    fn whole_blocks(&self, side: usize, plane: usize) -> bool {
        let plane = &self.crossings.from(side)[plane];
        [&plane.sources, &plane.targets].iter().all(|s| s.granularity == Granularity::Blocks)
    }
}

impl Planes for SharedPlanes<'_> {
    fn begin(&mut self, _: u32, _: usize) -> Result<(), Error> {
        Ok(())
    }

    fn incoming(
        &self,
        plane: usize,
        block: usize,
        scratch: &mut BlockSources,
        words: &mut [u64],
    ) -> bool {
        let bits = &self.bits[0];
        let all = self.plane(bits, plane);
        let whole = self.whole_blocks(self.side, plane);
        let sources = &self.crossings.from(self.side)[plane].sources;
        let load = |word: usize| all[word].load(Ordering::Relaxed);
        let at_own_place = self.order == SegmentOrder::Target;
        if !at_own_place {
            sources.locate(block, scratch);
        }
        if at_own_place || whole {
            let place = if at_own_place { block } else { scratch.blocks[0] };
            if whole && !self.live(bits, plane, place).load(Ordering::Relaxed) {
                return false;
            }
            let first = place * words.len();
            for (i, word) in words.iter_mut().enumerate() {
                *word = load(first + i);
            }
        } else {
            sources.take(self.kernel, scratch, load, words);
        }
        words.iter().any(|&word| word != 0)
    }

    fn outgoing(
        &self,
        plane: usize,
        block: usize,
        scratch: &mut BlockSources,
        words: Option<&[u64]>,
    ) {
        let bits = self.written();
        if self.order == SegmentOrder::Target || !self.crossings.in_place {
            return self.put(bits, 1 - self.side, plane, block, words);
        }
        let all = self.plane(bits, plane);
        let sources = &self.crossings.from(self.side)[plane].sources;
        sources.locate(block, scratch);
        if self.whole_blocks(self.side, plane) {
            return self.put(bits, self.side, plane, scratch.blocks[0], words);
        }
        for (register, place) in sources.words(scratch).into_iter().flatten().enumerate() {
            all[place].store(words.map_or(0, |words| words[register]), Ordering::Relaxed);
        }
    }

    fn reached(&mut self, _: usize) -> Option<Vec<usize>> {
        None
    }

    fn end(&mut self, _: u32, _: usize) -> Result<(), Error> {
        Ok(())
    }

    fn open(&mut self, _: usize) {}

    fn restore(
        &self,
        side: usize,
        plane: usize,
        block: usize,
        scratch: &mut BlockSources,
        words: Option<&[u64]>,
    ) {
        // In source order, as planes begin, what the current level sends lies at its own place.
        if side == self.side {
            self.put(&self.bits[0], side, plane, block, words);
        } else {
            self.outgoing(plane, block, scratch, words);
        }
    }

    fn close(&mut self, _: u32, _: usize, _: usize) -> Result<(), Error> {
        Ok(())
    }

    fn next_level(&mut self, _: u32, side: usize) -> Result<(), Error> {
        self.side = side;
        if !self.crossings.in_place {
            self.bits.swap(0, 1);
            return Ok(());
        }
        self.order = match self.order {
            SegmentOrder::Source => SegmentOrder::Target,
            SegmentOrder::Target => SegmentOrder::Source,
        };
        Ok(())
    }
}
