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
    pub origins: [Origins; 2],
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
                origins: [&transfer.window, &back]
                    .map(|w| Origins::new(chunks, Gather::new(chunks.layout, w))),
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

/// How the words of a target block lie among those of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// As a whole in one source block.
    Blocks,
    /// Word by word.
    Words,
    /// Bit by bit.
    Bits,
}

/// Where the bits of a plane come from.
pub(super) struct Origins {
    chunks: Chunks,
    gather: Gather,
    pub way: Way,
    /// For [`Way::Words`]: for each variant and register the block and the register of the source.
    words: Vec<(u16, u16)>,
    /// For each group of a block the parity of its inner digit sum.
    parities: Vec<u8>,
}

/// The sources of one target block.
#[derive(Default)]
pub(super) struct Located {
    /// Source block of each number.
    pub blocks: Vec<usize>,
    variant: usize,
    parity: usize,
}

impl Origins {
    fn new(chunks: Chunks, gather: Gather) -> Origins {
        let layout = chunks.layout;
        let registers = layout.block_registers();
        let way = match gather.shape {
            Shape::Block => Way::Blocks,
            _ if gather.keeps_lanes() => Way::Words,
            _ => Way::Bits,
        };
        let mut words = Vec::new();
        if way == Way::Words {
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
        Origins {
            chunks,
            gather,
            way,
            words,
            parities: layout.group_parities(),
        }
    }

    /// Works out the source blocks of a target block.
    pub fn locate(&self, block: usize, located: &mut Located) {
        let layout = self.chunks.layout;
        let mut digits = [0; MAX_LEN];
        layout.block_digits(block, &mut digits);
        let digits = &digits[..layout.block_prefix()];
        located.parity = digits.iter().map(|&d| usize::from(d)).sum::<usize>() % 2;
        located.blocks.resize(self.gather.source_blocks.count(), 0);
        located.variant = self
            .gather
            .source_blocks
            .find(block, digits, &mut located.blocks);
    }

    /// Returns the word that a word of a target block comes from, counted over the whole array. For
    /// planes that go word by word or in blocks.
    pub fn word(&self, located: &Located, register: usize) -> usize {
        let size = self.chunks.layout.block_registers();
        match self.way {
            Way::Blocks => located.blocks[0] * size + register,
            _ => {
                let (block, source) = self.words[located.variant * size + register];
                located.blocks[usize::from(block)] * size + usize::from(source)
            }
        }
    }

    /// Returns the word and the bit that a bit of a target block comes from, counted over the whole
    /// array.
    pub fn bit(&self, located: &Located, register: usize, lane: usize) -> (usize, usize) {
        let size = self.chunks.layout.block_registers();
        let inner = usize::from(self.parities[register / GROUP]) ^ (register % GROUP % 2);
        let at = Target {
            variant: located.variant,
            register,
            lane,
            parity: located.parity ^ inner,
        };
        let (source, lane) = self.gather.byte_source(self.chunks.layout, at);
        let block = located.blocks[usize::from(source.block)];
        (block * size + usize::from(source.register), lane)
    }

    /// Writes the distinct words that a word of a target block comes from, in increasing order, each
    /// with the (source lane, target lane) pairs that it gives; whole words give no pairs.
    pub fn pieces(&self, located: &Located, register: usize, pieces: &mut Vec<Piece>) {
        pieces.clear();
        if self.way != Way::Bits {
            pieces.push(Piece {
                word: self.word(located, register),
                lanes: Vec::new(),
            });
            return;
        }
        for lane in 0..LANES {
            let (word, from) = self.bit(located, register, lane);
            let pair = (from as u8, lane as u8);
            match pieces.iter_mut().find(|piece| piece.word == word) {
                Some(piece) => piece.lanes.push(pair),
                None => pieces.push(Piece {
                    word,
                    lanes: vec![pair],
                }),
            }
        }
        pieces.sort_by_key(|piece| piece.word);
    }
}

/// What one source word gives to a target word.
pub(super) struct Piece {
    pub word: usize,
    pub lanes: Vec<(u8, u8)>,
}
