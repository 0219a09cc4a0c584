//! Crossing windows: moves that lead from one chunk to another.
//!
//! Invariant: such a move takes one cell to one cell, so it needs one bit of each source byte: a
//! **plane**, one word per register. The moves from one group to the other and those back are inverse to
//! each other, so one list of planes serves both directions: plane i carries cell a to cell b one way
//! and b to a the other.

use super::chunks::Chunks;
use super::groups::Groups;
use crate::perm::Target;
use crate::perm::gather::{Gather, Shape};
use crate::perm::kernel::Transfer;
use crate::perm::layout::{GROUP, LANES};
use crate::perm::lehmer::MAX_LEN;

/// One crossing window and one pair of cells.
pub(super) struct Plane {
    /// Bit of the cell in each group.
    pub bits: [u8; 2],
    /// For the step from each group: where the bits of a target block come from.
    pub sources: [PlaneSources; 2],
}

/// The planes that cross.
pub(super) struct Crossings {
    pub planes: Vec<Plane>,
}

impl Crossings {
    /// Returns the number of planes, without their tables.
    pub fn count(groups: &Groups, chunks: Chunks) -> usize {
        let transfers = transfers(groups, 0);
        let crossing = transfers.filter(|t| crosses(t, chunks));
        crossing.map(|t| t.bits.len()).sum()
    }

    /// Sorts the moves between two groups into those within chunks and those between.
    pub fn new(groups: &Groups, chunks: Chunks) -> Crossings {
        let crossing = transfers(groups, 0).filter(|t| crosses(t, chunks));
        let planes = crossing.flat_map(|transfer| {
            let back = transfer.window.inverse();
            transfer.bits.iter().map(move |&(a, b)| Plane {
                bits: [a, b],
                sources: [&transfer.window, &back]
                    .map(|w| PlaneSources::new(chunks, Gather::new(chunks.layout, w))),
            })
        });
        Crossings {
            planes: planes.collect(),
        }
    }
}

/// The moves from a class of one group.
fn transfers(groups: &Groups, from: usize) -> impl Iterator<Item = &Transfer> {
    let arrivals = groups.arrivals(groups.next(from)).iter().flatten();
    arrivals.map(|arrival| &arrival.transfer)
}

/// Whether moves lead from one chunk to another.
pub(super) fn crosses(transfer: &Transfer, chunks: Chunks) -> bool {
    !transfer.window.is_identity() && transfer.window.first() < chunks.digits
}

/// In what units the words of a target block lie among those of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Granularity {
    /// As a whole in one source block.
    Blocks,
    /// Word by word.
    Words,
    /// Bit by bit.
    Bits,
}

/// Where the bits of a plane come from.
pub(super) struct PlaneSources {
    chunks: Chunks,
    gather: Gather,
    pub granularity: Granularity,
    /// For each variant and register the block and the register of the source; empty for
    /// [`Granularity::Bits`].
    words: Vec<(u16, u16)>,
    /// For each group of a block the parity of its inner digit sum.
    parities: Vec<u8>,
}

/// The sources of one target block.
#[derive(Default)]
pub(super) struct BlockSources {
    /// Source block of each number.
    pub blocks: Vec<usize>,
    variant: usize,
    parity: usize,
}

/// What a target word is made of; words are counted over the whole array.
pub(super) enum Piece {
    /// All of a source word.
    Word(usize),
    /// One bit of a source word, for one lane of the target.
    Bit {
        word: usize,
        bit: usize,
        lane: usize,
    },
}

impl Piece {
    /// The source word.
    pub fn word(&self) -> usize {
        let (Piece::Word(word) | Piece::Bit { word, .. }) = *self;
        word
    }
}

impl PlaneSources {
    fn new(chunks: Chunks, gather: Gather) -> PlaneSources {
        let layout = chunks.layout;
        let registers = layout.block_registers();
        let granularity = match gather.shape {
            Shape::Block => Granularity::Blocks,
            _ if gather.keeps_lanes() => Granularity::Words,
            _ => Granularity::Bits,
        };
        let mut words = Vec::new();
        if granularity != Granularity::Bits {
            for (variant, register) in (0..gather.source_blocks.variants())
                .flat_map(|v| (0..registers).map(move |r| (v, r)))
            {
                let at = Target {
                    variant,
                    register,
                    lane: 0,
                    parity: 0,
                };
                let (source, _) = gather.byte_source(layout, at);
                words.push((source.block, source.register));
            }
        }
        PlaneSources {
            chunks,
            gather,
            granularity,
            words,
            parities: layout.group_parities(),
        }
    }

    /// Works out the source blocks of a target block.
    pub fn locate(&self, block: usize, sources: &mut BlockSources) {
        let layout = self.chunks.layout;
        let mut digits = [0; MAX_LEN];
        layout.block_digits(block, &mut digits);
        let digits = &digits[..layout.block_prefix()];
        let source_blocks = &self.gather.source_blocks;
        sources.parity = digits.iter().map(|&d| usize::from(d)).sum::<usize>() % 2;
        sources.blocks.resize(source_blocks.count(), 0);
        sources.variant = source_blocks.find(block, digits, &mut sources.blocks);
    }

    /// Returns where each word of a target block comes from, counted over the whole array; `None` when its
    /// bits come from several.
    pub fn words(&self, sources: &BlockSources) -> Option<impl Iterator<Item = usize>> {
        let size = self.chunks.layout.block_registers();
        let words = match self.granularity {
            Granularity::Bits => return None,
            _ => &self.words[sources.variant * size..][..size],
        };
        let word = move |&(block, word): &(u16, u16)| {
            sources.blocks[usize::from(block)] * size + usize::from(word)
        };
        Some(words.iter().map(word))
    }

    /// Calls `each(word, bit, lane)` for each lane of a word of a target block, for [`Granularity::Bits`]:
    /// the source word, counted over the whole array, and its bit.
    pub fn bits(
        &self,
        sources: &BlockSources,
        register: usize,
        mut each: impl FnMut(usize, usize, usize),
    ) {
        let size = self.chunks.layout.block_registers();
        let inner = usize::from(self.parities[register / GROUP]) ^ (register % GROUP % 2);
        for lane in 0..LANES {
            let at = Target {
                variant: sources.variant,
                register,
                lane,
                parity: sources.parity ^ inner,
            };
            let (source, bit) = self.gather.byte_source(self.chunks.layout, at);
            let block = sources.blocks[usize::from(source.block)];
            each(block * size + usize::from(source.register), bit, lane);
        }
    }

    /// Calls `each` for what a word of a target block is made of, in the order of its lanes.
    pub fn each(&self, sources: &BlockSources, register: usize, mut each: impl FnMut(Piece)) {
        match self
            .words(sources)
            .and_then(|mut words| words.nth(register))
        {
            Some(word) => each(Piece::Word(word)),
            None => self.bits(sources, register, |word, bit, lane| {
                each(Piece::Bit { word, bit, lane });
            }),
        }
    }
}
