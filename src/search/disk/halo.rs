//! The bits that cross between chunks, kept in memory.
//!
//! Invariant: where moves have a way back and words move as a whole, one word per plane and register serves both what
//! the step in progress still has to read and what it writes for the following one, because the windows of one step are the inverse of
//! those of the step before. In **source order** word y holds the bit of line y, and the step for line x reads the
//! word of the line it comes from and writes its own bit there; afterwards that word stands where the
//! next step looks for it: at its target. In **target order** line x finds its bit at x and leaves its
//! own there, which is source order for the step after. So the words change order with every level and
//! are never copied. Elsewhere there are two arrays in source order: one is read, one written.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::Error;
use crate::kernel::Kernel;
use crate::perm::Layout;
use crate::search::disk::{BlockSources, Granularity};
use crate::search::{Communicator, Crossings};
use crate::store::Words;

/// Takes bits from the chunks of one level to those of the next.
///
/// For every chunk of a level in turn: [`Halo::begin`]; for each of its blocks and each plane [`Halo::incoming`], then
/// [`Halo::outgoing`]; [`Halo::end`]. When all chunks are done, [`Halo::next_level`]. What chunks of earlier sessions
/// send comes by [`Halo::outgoing`] and [`Halo::end`] alone.
pub(crate) trait Halo: Send + Sync {
    /// Gets ready for the blocks of a chunk in the step to a depth.
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

    /// Takes the bits that a block sends through a plane in a step from a side, that in progress or the next; `None`
    /// for none.
    fn outgoing(&self, side: usize, plane: usize, block: usize, words: Option<&[u64]>);

    /// Returns the blocks of a chunk that has begun, counted from its first, that bits reach, some twice, when they are at
    /// most `most`. What blocks have given before is forgotten then, so that only those that have something to give must be asked. `None` when
    /// there are more, or nobody knows.
    fn reached(&mut self, _most: usize) -> Option<Vec<usize>> {
        None
    }

    /// Sends what the blocks of a chunk have given for the step from a side to a depth.
    fn end(&mut self, _depth: u32, _chunk: usize, _side: usize) -> Result<(), Error> {
        Ok(())
    }

    /// Turns to the following level; `side` is that of its step.
    fn next_level(&mut self, depth: u32, side: usize) -> Result<(), Error>;

    /// Brings what was sent to other ranks there; a collective call.
    fn deliver(&mut self, _: &dyn Communicator) -> Result<(), Error> {
        Ok(())
    }

    /// Returns the bytes that left this rank for the step to each depth.
    fn sent(&self) -> BTreeMap<u32, u64> {
        BTreeMap::new()
    }
}

/// Words of planes, one per register, in blocks that are counted plane by plane.
pub(crate) struct PlaneWords {
    words: Words,
    /// For each block whether any word is set.
    pub live: Vec<AtomicBool>,
    /// Words of a block.
    size: usize,
}

impl PlaneWords {
    pub fn new(layout: Layout, blocks: usize) -> Result<PlaneWords, Error> {
        let size = layout.block_registers();
        let live = (0..blocks).map(|_| AtomicBool::new(false)).collect();
        Ok(PlaneWords { words: Words::zeroed(blocks * size)?, live, size })
    }

    /// The words of some blocks.
    pub fn of(&self, blocks: Range<usize>) -> &[AtomicU64] {
        &self.words.get()[blocks.start * self.size..blocks.end * self.size]
    }

    pub fn is_live(&self, block: usize) -> bool {
        self.live[block].load(Ordering::Relaxed)
    }

    /// Writes a block, or that it has no bits: `clears` its words then, where anybody reads them all the same.
    pub fn set(&self, block: usize, words: Option<&[u64]>, clears: bool) {
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
}

/// The halo of a process that keeps all planes of all chunks in memory.
pub(crate) struct WholeHalo<'a> {
    crossings: &'a Crossings,
    /// Blocks of a plane.
    blocks: usize,
    /// Side of the step in progress.
    side: usize,
    /// Whether the words are in target order.
    at_targets: bool,
    /// What is read, and what is written unless that is the same. What is not live of planes that go in blocks is not
    /// worth reading; others are always read.
    bits: [PlaneWords; 2],
    kernel: Kernel,
}

impl<'a> WholeHalo<'a> {
    /// Returns empty planes for a step from a side, in source order. Cost: 8 bytes per plane and
    /// register, twice where they do not stay in place, touched when used.
    pub fn new(
        layout: Layout,
        crossings: &'a Crossings,
        side: usize,
        kernel: Kernel,
    ) -> Result<WholeHalo<'a>, Error> {
        let (planes, blocks) = (crossings.most(), layout.blocks());
        let written = if crossings.in_place { 0 } else { planes };
        let [read, written] = [planes, written].map(|n| PlaneWords::new(layout, n * blocks));
        let bits = [read?, written?];
        Ok(WholeHalo { crossings, blocks, side, at_targets: false, bits, kernel })
    }

    /// Whether a plane goes in whole blocks, in either direction.
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
            for (word, place) in words.iter_mut().zip(bits.of(place..place + 1)) {
                *word = place.load(Ordering::Relaxed);
            }
        } else {
            let all = bits.of(first..first + self.blocks);
            let load = |word: usize| all[word].load(Ordering::Relaxed);
            sources.take(self.kernel, scratch, load, words);
        }
        words.iter().any(|&word| word != 0)
    }

    fn outgoing(&self, side: usize, plane: usize, block: usize, words: Option<&[u64]>) {
        let first = plane * self.blocks;
        let put = |at: usize, side: usize, block: usize| {
            self.bits[at].set(first + block, words, !self.whole_blocks(side, plane));
        };
        if side == self.side {
            // In source order, as planes begin, what the current level sends lies at its own place.
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
