//! Where the bits of a plane come from.
//!
//! Invariant: this reads the same tables as the kernels do for bytes.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use super::chunks::Chunks;
use crate::perm::Target;
use crate::perm::gather::{Gather, Shape};
use crate::perm::kernel::{BitPiece, BitRow, Kernel, take_bits};
use crate::perm::layout::{GROUP, LANES};
use crate::perm::lehmer::MAX_LEN;

/// All lanes of a word.
pub(super) const ALL_LANES: u64 = (1 << LANES) - 1;

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
    /// For [`Granularity::Bits`]; made when first used.
    pieces: OnceLock<Pieces>,
    /// Parity of the target lines.
    parity: usize,
}

/// What words are made of whose lanes come from several.
struct Pieces {
    rows: Vec<BitRow>,
    /// For each variant, parity and register where its pieces begin; and where the last ends.
    starts: Vec<u32>,
    pieces: Vec<BitPiece>,
}

/// The sources of one target block.
#[derive(Default)]
pub(super) struct BlockSources {
    /// Source block of each number.
    pub blocks: Vec<usize>,
    variant: usize,
    parity: usize,
}

impl PlaneSources {
    pub fn new(chunks: Chunks, gather: Gather, parity: usize) -> PlaneSources {
        let layout = chunks.layout;
        let granularity = match gather.shape {
            Shape::Block => Granularity::Blocks,
            _ if gather.keeps_lanes() => Granularity::Words,
            _ => Granularity::Bits,
        };
        let registers = 0..layout.block_registers();
        let all = (0..gather.source_blocks.variants())
            .flat_map(|v| registers.clone().map(move |r| (v, r)));
        let word = |(variant, register)| {
            let at = Target {
                variant,
                register,
                lane: 0,
                parity: 0,
            };
            let (source, _) = gather.byte_source(layout, at);
            (source.block, source.register)
        };
        let words = match granularity {
            Granularity::Bits => Vec::new(),
            _ => all.map(word).collect(),
        };
        PlaneSources {
            chunks,
            granularity,
            words,
            pieces: OnceLock::new(),
            parity,
            gather,
        }
    }

    /// Returns whether words move as a whole.
    pub fn is_whole(&self) -> bool {
        self.granularity != Granularity::Bits
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
        if !self.is_whole() {
            return None;
        }
        let size = self.chunks.layout.block_registers();
        let words = &self.words[sources.variant * size..][..size];
        let word = move |&(block, word): &(u16, u16)| {
            sources.blocks[usize::from(block)] * size + usize::from(word)
        };
        Some(words.iter().map(word))
    }

    /// Writes the words of a target block; `load` brings source words, counted over the whole array.
    pub fn take(
        &self,
        kernel: Kernel,
        sources: &BlockSources,
        load: impl Fn(usize) -> u64,
        words: &mut [u64],
    ) {
        if let Some(places) = self.words(sources) {
            for (word, place) in words.iter_mut().zip(places) {
                *word = load(place);
            }
            return;
        }
        let size = words.len();
        let Pieces { rows, pieces, .. } = self.pieces();
        let load = |piece: BitPiece| {
            load(sources.blocks[usize::from(piece.block)] * size + usize::from(piece.word))
        };
        take_bits(kernel, rows, self.starts(sources), pieces, load, words);
    }

    /// Calls `each` for every word of a target block with its lanes that come from a range of source blocks.
    pub fn lanes(
        &self,
        sources: &BlockSources,
        from: &Range<usize>,
        mut each: impl FnMut(usize, u64),
    ) {
        let size = self.chunks.layout.block_registers();
        if let Some(places) = self.words(sources) {
            let words = from.start * size..from.end * size;
            for (register, place) in places.enumerate() {
                each(register, ALL_LANES * u64::from(words.contains(&place)));
            }
            return;
        }
        let Pieces { rows, pieces, .. } = self.pieces();
        for (register, range) in self.starts(sources).windows(2).enumerate() {
            let pieces = &pieces[range[0] as usize..range[1] as usize];
            let here = |piece: &&BitPiece| from.contains(&sources.blocks[usize::from(piece.block)]);
            let lanes = pieces.iter().filter(here);
            each(
                register,
                lanes.fold(0, |all, piece| all | rows[usize::from(piece.row)].lanes),
            );
        }
    }

    /// The starts of the pieces of a target block.
    fn starts(&self, sources: &BlockSources) -> &[u32] {
        let size = self.chunks.layout.block_registers();
        let first = (sources.variant * 2 + sources.parity) * size;
        &self.pieces().starts[first..=first + size]
    }

    fn pieces(&self) -> &Pieces {
        self.pieces.get_or_init(|| self.cut())
    }

    /// Finds out what every word is made of.
    fn cut(&self) -> Pieces {
        let layout = self.chunks.layout;
        let parities = layout.group_parities();
        let mut known = HashMap::new();
        let mut made = Pieces {
            rows: Vec::new(),
            starts: vec![0],
            pieces: Vec::new(),
        };
        for (variant, parity) in
            (0..self.gather.source_blocks.variants()).flat_map(|v| [(v, 0), (v, 1)])
        {
            for register in 0..layout.block_registers() {
                let inner = usize::from(parities[register / GROUP]) ^ (register % GROUP % 2);
                let mut words: Vec<((u16, u16), BitRow)> = Vec::new();
                for lane in 0..LANES {
                    let at = Target {
                        variant,
                        register,
                        lane,
                        parity: parity ^ inner,
                    };
                    let (source, bit) = self.gather.byte_source(layout, at);
                    let word = (source.block, source.register);
                    let at = words.iter().position(|(known, _)| *known == word);
                    let at = at.unwrap_or_else(|| {
                        let row = BitRow {
                            from: [0; 64],
                            lanes: 0,
                        };
                        words.push((word, row));
                        words.len() - 1
                    });
                    let row = &mut words[at].1;
                    row.from[lane] = bit as u8;
                    row.lanes |= 1 << lane;
                }
                for ((block, word), row) in words {
                    let number = *known.entry((row.from, row.lanes)).or_insert_with(|| {
                        made.rows.push(row);
                        made.rows.len() as u16 - 1
                    });
                    made.pieces.push(BitPiece {
                        block,
                        word,
                        row: number,
                    });
                }
                made.starts.push(made.pieces.len() as u32);
            }
        }
        made
    }
}
