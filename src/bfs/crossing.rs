//! Crossing windows: moves that lead from one chunk to another.
//!
//! Invariant: such a move takes one cell to one cell, so it needs one bit of each source byte: a
//! **plane**, one word per register. The moves from one class to the other and those back are inverse to
//! each other, so one list of planes serves both directions: plane i carries cell a to cell b one way
//! and b to a the other.

use super::chunks::Chunks;
use super::classes::Classes;
use crate::perm::Target;
use crate::perm::gather::{Gather, Shape};
use crate::perm::kernel::Transfer;
use crate::perm::layout::{GROUP, LANES};
use crate::perm::lehmer::MAX_LEN;
use crate::puzzle::Puzzle;

/// One crossing window and one pair of cells.
pub(super) struct Plane {
    /// Bit of the cell in each class.
    pub bits: [u8; 2],
    /// For the step from each class: where the bits of a target block come from.
    pub origins: [Origins; 2],
}

/// The transfers of the step from a class, and the planes that cross.
pub(super) struct Crossings {
    /// For each class the transfers that stay within chunks.
    pub inner: [Vec<Transfer>; 2],
    pub planes: Vec<Plane>,
}

impl Crossings {
    /// Returns the number of planes, without their tables.
    pub fn count(puzzle: &Puzzle, classes: &Classes, chunks: Chunks) -> usize {
        let transfers = classes.transfers(puzzle, 0);
        let crossing = transfers.iter().filter(|t| crosses(t, chunks));
        crossing.map(|t| t.bits.len()).sum()
    }

    /// Sorts the moves of a puzzle into those within chunks and those between.
    pub fn new(puzzle: &Puzzle, classes: &Classes, chunks: Chunks) -> Crossings {
        let crosses = |t: &Transfer| crosses(t, chunks);
        let all = [0, 1].map(|from| classes.transfers(puzzle, from));
        let crossing = all[0].iter().filter(|t| crosses(t));
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
            inner: all.map(|transfers| transfers.into_iter().filter(|t| !crosses(t)).collect()),
        }
    }
}

/// Whether moves lead from one chunk to another.
fn crosses(transfer: &Transfer, chunks: Chunks) -> bool {
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
    /// For [`Way::Words`]: for each down key and register the slot and the register of the source.
    words: Vec<(u16, u16)>,
    /// For each group of a block the parity of its inner digit sum.
    parities: Vec<u8>,
}

/// The sources of one target block.
#[derive(Default)]
pub(super) struct Located {
    /// Source block of each slot.
    pub blocks: Vec<usize>,
    down: usize,
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
            for (down, register) in
                (0..gather.outside.downs()).flat_map(|d| (0..registers).map(move |r| (d, r)))
            {
                let at = Target {
                    down,
                    register,
                    lane: 0,
                    parity: 0,
                };
                let (source, _) = gather.origin(layout, at);
                words.push((source.slot, source.register));
            }
        }
        let parities = (0..registers / GROUP).map(|group| {
            let mut digits = [0; MAX_LEN];
            layout.inner_digits(group * GROUP, &mut digits);
            digits.iter().sum::<u8>() % 2
        });
        Origins {
            chunks,
            gather,
            way,
            words,
            parities: parities.collect(),
        }
    }

    /// Works out the source blocks of a target block.
    pub fn locate(&self, block: usize, located: &mut Located) {
        let layout = self.chunks.layout;
        let mut digits = [0; MAX_LEN];
        layout.block_digits(block, &mut digits);
        let digits = &digits[..layout.block_prefix()];
        located.parity = digits.iter().map(|&d| usize::from(d)).sum::<usize>() % 2;
        located.blocks.resize(self.gather.outside.slots(), 0);
        located.down = self
            .gather
            .outside
            .sources(block, digits, &mut located.blocks);
    }

    /// Returns the word that a word of a target block comes from, counted over the whole array. For
    /// planes that go word by word or in blocks.
    pub fn word(&self, located: &Located, register: usize) -> usize {
        let size = self.chunks.layout.block_registers();
        match self.way {
            Way::Blocks => located.blocks[0] * size + register,
            _ => {
                let (slot, source) = self.words[located.down * size + register];
                located.blocks[usize::from(slot)] * size + usize::from(source)
            }
        }
    }

    /// Returns the word and the bit that a bit of a target block comes from, counted over the whole
    /// array.
    pub fn bit(&self, located: &Located, register: usize, lane: usize) -> (usize, usize) {
        let size = self.chunks.layout.block_registers();
        let inner = usize::from(self.parities[register / GROUP]) ^ (register % GROUP % 2);
        let at = Target {
            down: located.down,
            register,
            lane,
            parity: located.parity ^ inner,
        };
        let (source, lane) = self.gather.origin(self.chunks.layout, at);
        let block = located.blocks[usize::from(source.slot)];
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
