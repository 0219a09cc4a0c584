//! Crossing windows: moves that lead from one chunk to another.
//!
//! A move takes one cell to one cell, so it needs one bit of each source byte: a **plane**, one word per register.
//!
//! The steps of a search have two **sides** that take turns: the classes where there are two, else even and odd
//! depths. Invariant: where moves have a way back, plane i of one side is that of the other the other way round, also
//! where there is one class: its moves and their inverses are the same set.

use std::sync::Arc;

use super::chunks::Chunks;
use super::groups::Groups;
use crate::perm::Target;
use crate::perm::gather::{Gather, Shape};
use crate::perm::kernel::Transfer;
use crate::perm::layout::{GROUP, LANES};
use crate::perm::lehmer::MAX_LEN;
use crate::puzzle::Window;

/// One crossing window and one pair of cells, as a step takes it.
#[derive(Clone)]
pub(super) struct Plane {
    /// Place of the group in its class and bit of the cell that the moves start from.
    pub from: (usize, u8),
    /// Those that they lead to.
    pub to: (usize, u8),
    /// Where the bits of a target block come from.
    pub sources: Arc<PlaneSources>,
    /// Where the bits of a source block go.
    pub targets: Arc<PlaneSources>,
}

impl Plane {
    /// The plane of the moves back.
    fn back(&self) -> Plane {
        Plane {
            from: self.to,
            to: self.from,
            sources: self.targets.clone(),
            targets: self.sources.clone(),
        }
    }
}

/// The planes that cross, for the steps of either side.
pub(super) struct Crossings {
    sides: [Vec<Plane>; 2],
    /// Whether the moves of one side are those of the other the other way round.
    pub mirrored: bool,
}

impl Crossings {
    /// Returns the number of planes of a step, without their tables: the larger of both sides.
    pub fn count(groups: &Groups, chunks: Chunks) -> usize {
        let count = |class: usize| -> usize {
            let crossing = moves(groups, class).filter(|(_, _, t)| crosses(t, chunks));
            crossing.map(|(_, _, t)| t.bits.len()).sum()
        };
        (0..groups.classes()).map(count).max().unwrap_or(0)
    }

    /// Returns the moves between chunks.
    pub fn new(groups: &Groups, chunks: Chunks) -> Crossings {
        let side = |class: usize| -> Vec<Plane> {
            let parity = |class: usize, group: usize| groups.class(class)[group].parity;
            let crossing = moves(groups, class).filter(|(_, _, t)| crosses(t, chunks));
            let planes = crossing.flat_map(|(from, to, transfer)| {
                let located = |window: &Window, parity| {
                    let gather = Gather::new(chunks.layout, window);
                    Arc::new(PlaneSources::new(chunks, gather, parity))
                };
                let sources = located(&transfer.window, parity(groups.next(class), to));
                let targets = located(&transfer.window.inverse(), parity(class, from));
                transfer.bits.iter().map(move |&(a, b)| Plane {
                    from: (from, a),
                    to: (to, b),
                    sources: sources.clone(),
                    targets: targets.clone(),
                })
            });
            planes.collect()
        };
        let first = side(0);
        let second = match (groups.directed, groups.classes()) {
            (false, _) => first.iter().map(Plane::back).collect(),
            (true, 1) => first.clone(),
            (true, _) => side(1),
        };
        Crossings {
            sides: [first, second],
            mirrored: !groups.directed,
        }
    }

    /// Returns the planes of a step from a side, in the order in which they are numbered.
    pub fn from(&self, side: usize) -> &[Plane] {
        &self.sides[side]
    }

    /// Returns the number of planes of a step, the larger of both sides.
    pub fn most(&self) -> usize {
        self.sides.iter().map(Vec::len).max().unwrap_or(0)
    }
}

/// The moves from a class, with the places of the groups that they start from and lead to.
fn moves(groups: &Groups, class: usize) -> impl Iterator<Item = (usize, usize, &Transfer)> {
    let arrivals = groups.arrivals(groups.next(class)).iter().enumerate();
    arrivals.flat_map(|(to, arrivals)| arrivals.iter().map(move |a| (a.from, to, &a.transfer)))
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
    /// Parity of the target lines.
    parity: usize,
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
    fn new(chunks: Chunks, gather: Gather, parity: usize) -> PlaneSources {
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
            parity,
        }
    }

    /// Works out the source blocks of a target block.
    pub fn locate(&self, block: usize, sources: &mut BlockSources) {
        let layout = self.chunks.layout;
        let mut digits = [0; MAX_LEN];
        layout.block_digits(block, &mut digits);
        let digits = &digits[..layout.block_prefix()];
        let source_blocks = &self.gather.source_blocks;
        let sum = digits.iter().map(|&d| usize::from(d)).sum::<usize>();
        sources.parity = (sum + self.parity) % 2;
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
