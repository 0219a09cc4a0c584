//! Bitmaps: a bit for each state of a product, set once a search has reached it.
//!
//! The states that are reached within d moves are those that a move, or none, leads to from those reached within d - 1. So
//! the next bitmap of a block is made of the last bitmaps of the blocks from which moves come, and of nothing else: rows are
//! fetched, their bits permuted ([`BitNetwork`]), and added until a row is full. A search needs two bitmaps, that is two bits
//! for each state up to symmetry, however wide its levels are; `search::disk` keeps them in files.
//!
//! Invariant: all entries of a state have the same bit. The bits of a block that are new are its states at a depth.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use twox_hash::XxHash3_64;
use zstd::zstd_safe::{DCtx, compress_bound};

use crate::{
    frontier::{levels::LevelTotal, lists::available, product::ProductSpace},
    kernel::{
        Kernel, Tally,
        networks::{BitNetwork, ones},
    },
    puzzle::Arrangement,
    store::{ListCounts, compressor},
};

/// Number of rows to which all moves lead before the next rows: they and a network stay in the first-level cache.
const ROWS: usize = 128;
/// Number of words in front of a coded block, and their size in bytes.
const HEAD: usize = 5;
pub(crate) const BITMAP_HEAD: usize = 8 * HEAD;
/// Compression level of zstd: bitmaps are either nearly empty or full, or have no order that it would find.
const LEVEL: i32 = 1;

/// The bits of a block.
#[derive(Debug)]
pub(crate) struct BitmapBlock {
    words: Vec<u64>,
    /// Bit by bit, the rows that are not empty.
    some: Vec<u64>,
}

/// The totals of a block: of its states at a depth, and the number of those up to that depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockTotal {
    pub level: LevelTotal,
    pub reached: u64,
}

/// What computes bitmaps.
pub(crate) struct Bitmaps<'a> {
    pub space: &'a ProductSpace,
    kernel: Kernel,
    full: Vec<u64>,
    /// By the number of a source's network.
    networks: Vec<OnceLock<BitNetwork>>,
}

impl BitmapBlock {
    fn new(words: Vec<u64>, each: usize) -> BitmapBlock {
        let mut some = vec![0; (words.len() / each).div_ceil(64)];
        let rows = words.chunks_exact(each).enumerate();
        for (row, _) in rows.filter(|(_, bits)| bits.iter().any(|word| *word != 0)) {
            some[row / 64] |= 1 << (row % 64);
        }
        BitmapBlock { words, some }
    }

    fn has(&self, row: u32) -> bool {
        self.some[row as usize / 64] >> (row % 64) & 1 == 1
    }
}

impl<'a> Bitmaps<'a> {
    pub fn new(space: &'a ProductSpace, kernel: Kernel) -> Bitmaps<'a> {
        Bitmaps {
            space,
            kernel,
            full: space.full(),
            networks: (0..space.networks()).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Returns the size of a block in bytes.
    pub fn block_bytes(&self) -> usize {
        self.space.row_count() * self.space.words() * 8
    }

    /// Returns the block of a class with some entries, given by class, row and bit; coded, with its totals. `None` if none of
    /// them is in the class.
    pub fn first(
        &self,
        class: usize,
        entries: &[(usize, usize, usize)],
    ) -> Option<(Vec<u8>, BlockTotal)> {
        let mut own = entries.iter().filter(|entry| entry.0 == class).peekable();
        own.peek()?;
        let each = self.space.words();
        let mut words = vec![0; self.space.row_count() * each];
        own.for_each(|&(_, row, bit)| words[row * each + bit / 64] |= 1 << (bit % 64));
        let total = self.total(class, &words, None);
        Some((encode(&words, &total), total))
    }

    /// Returns the next bitmap of a class's block, coded, and its totals; `None` if nothing is reached. `block` returns the
    /// last bitmap of a block.
    pub fn next<E>(
        &self,
        class: usize,
        block: impl Fn(usize) -> Result<Option<Arc<BitmapBlock>>, E>,
    ) -> Result<Option<(Vec<u8>, BlockTotal)>, E> {
        let space = self.space;
        let own = block(class)?;
        let mut sources = Vec::new();
        for source in space.sources(class) {
            if let Some(from) = block(source.class as usize)? {
                sources.push((source, from));
            }
        }
        if own.is_none() && sources.is_empty() {
            return Ok(None);
        }
        let (rows, each) = (space.row_count(), space.words());
        let mut words = match &own {
            Some(own) => own.words.clone(),
            None => vec![0; rows * each],
        };
        let mut pairs = Vec::with_capacity(ROWS);
        for (first, to) in (0..).step_by(ROWS).zip(words.chunks_mut(ROWS * each)) {
            for (source, from) in &sources {
                let pair = |row: usize| (row as u32, space.source_row(source, first + row));
                pairs.clear();
                pairs.extend((0..to.len() / each).map(pair).filter(|&(_, row)| from.has(row)));
                if !pairs.is_empty() {
                    let network = &self.networks[space.network_of(source)];
                    let network = network.get_or_init(|| space.network(class, source));
                    network.add(self.kernel, &pairs, &from.words, (&mut *to, &self.full));
                }
            }
        }
        let total = self.total(class, &words, own.as_deref());
        Ok((total.reached > 0).then(|| (encode(&words, &total), total)))
    }

    /// Counts the states of a block that were not reached before.
    fn total(&self, class: usize, words: &[u64], before: Option<&BitmapBlock>) -> BlockTotal {
        let (each, of) = (self.space.words(), &self.space.classes[class]);
        let new: Vec<u64> = match before {
            Some(before) => words.iter().zip(&before.words).map(|(all, old)| all & !old).collect(),
            None => words.to_vec(),
        };
        let rows = new.len() / each;
        let (all, kept) = (ones(self.kernel, words), ones(self.kernel, &new));
        let (mut checksum, mut bytes) = (0u64, vec![[0; 8]; each]);
        for (row, bits) in new.chunks_exact(each).enumerate() {
            if bits.iter().any(|word| *word != 0) {
                bytes.iter_mut().zip(bits).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
                let seed = (class * rows + row) as u64;
                let hash = XxHash3_64::oneshot_with_seed(seed, bytes.as_flattened());
                checksum = checksum.wrapping_add(hash);
            }
        }
        // Burnside's lemma: as many classes as states that a symmetry keeping the head leaves as they are, on average. The
        // first one is the identity.
        let mut fixed = kept;
        for &symmetry in of.keeping.iter().skip(1).filter(|_| kept > 0) {
            let (rows, mask) = self.space.fixed(class, symmetry);
            for row in rows {
                let bits = new[row * each..].iter().zip(&mask).map(|(bits, mask)| bits & mask);
                fixed += bits.map(|word| u64::from(word.count_ones())).sum::<u64>();
            }
        }
        let tally = Tally { states: kept * of.members, checksum };
        let reduced = fixed / of.keeping.len() as u64;
        let lists = ListCounts { reduced, generated: 0, kept };
        BlockTotal { level: LevelTotal { tally, lists }, reached: all * of.members }
    }

    /// Returns a coded block and its totals; `None` if these bytes are none.
    pub fn decode(&self, bytes: &[u8]) -> Option<(BitmapBlock, BlockTotal)> {
        let (total, coded) = total_of(bytes)?;
        let mut plain = Vec::with_capacity(self.block_bytes());
        available(DCtx::try_create).decompress(&mut plain, coded).ok()?;
        if plain.len() != self.block_bytes() {
            return None;
        }
        let words = plain.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        Some((BitmapBlock::new(words, self.space.words()), total))
    }

    /// Counts the states of a block that are reached.
    pub fn reached(&self, class: usize, block: &BitmapBlock) -> u64 {
        ones(self.kernel, &block.words) * self.space.classes[class].members
    }

    /// Adds states of a block that were not reached before to a set, until it has so many.
    pub fn list(
        &self,
        class: usize,
        (block, before): (&BitmapBlock, Option<&BitmapBlock>),
        listed: &mut BTreeSet<Arrangement>,
        most: usize,
    ) {
        let each = self.space.words();
        for (at, word) in block.words.iter().enumerate() {
            let mut new = word & !before.map_or(0, |before| before.words[at]);
            while new != 0 && listed.len() < most {
                let bit = at % each * 64 + new.trailing_zeros() as usize;
                new &= new - 1;
                listed.extend(self.space.states_of((class, at / each, bit)));
            }
        }
    }
}

/// The code of a block: its totals, then its bits.
fn encode(words: &[u64], total: &BlockTotal) -> Vec<u8> {
    let LevelTotal { tally, lists } = total.level;
    let head = [tally.states, tally.checksum, lists.reduced, lists.kept, total.reached];
    let plain: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
    let mut coded = Vec::with_capacity(compress_bound(8 * plain.len()));
    let done = available(|| compressor(LEVEL, &[])).compress2(&mut coded, plain.as_flattened());
    done.expect("room for what is coded");
    [head.map(u64::to_le_bytes).as_flattened(), &coded].concat()
}

/// The totals of a coded block, and its code.
pub(crate) fn total_of(bytes: &[u8]) -> Option<(BlockTotal, &[u8])> {
    let (head, coded) = bytes.split_at_checked(BITMAP_HEAD)?;
    let mut words = head.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
    let [states, checksum, reduced, kept, reached] = [(); HEAD].map(|()| words.next().unwrap_or(0));
    let lists = ListCounts { reduced, generated: 0, kept };
    let level = LevelTotal { tally: Tally { states, checksum }, lists };
    Some((BlockTotal { level, reached }, coded))
}
