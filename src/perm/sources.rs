//! The part of a window before a block: the blocks in which its sources are.
//!
//! Some elements before the block may **enter** it, and the same number of its own elements **leave** it. Each choice
//! of elements that leave corresponds to a source block; how the entering elements compare with the block's own is the
//! **variant** of the tables that apply inside it.
//!
//! Invariant: all this depends only on the block digits from the window's first position on. If there are few
//! combinations of them, the results are tabulated once; otherwise they are computed for each block.

use crate::{
    bits::set_of,
    perm::{Layout, MAX_LEN, lehmer},
    puzzle::Window,
};

/// Maximum number of table entries: 8 MiB of deltas per window.
const MAX_TABLE: usize = 1 << 21;

/// The source blocks that a window needs for a block, and the variant of its tables.
#[derive(Clone, Debug)]
pub struct SourceBlocks {
    layout: Layout,
    pull: Window,
    /// First and one-past-last block digit that the window changes; equal if the window is inside the block.
    digits: (usize, usize),
    /// Positions before c whose elements are inside the block in the source.
    entering: Vec<usize>,
    /// Positions before c whose elements are inside the block in the target.
    leaving: Vec<usize>,
    count: usize,
    variants: usize,
    table: Option<BlockTable>,
}

#[derive(Clone, Debug)]
struct BlockTable {
    /// Source block minus target block, `count` per key.
    delta: Vec<i32>,
    /// Variant per key.
    variant: Vec<u16>,
}

impl SourceBlocks {
    /// Returns the part of the window before the blocks; `pull` gives, for each position of the source line, the
    /// position of the target line that has the same element.
    pub(crate) fn new(layout: Layout, pull: &Window) -> SourceBlocks {
        let c = layout.block_prefix();
        let inside = layout.len() - c;
        let first = pull.first().min(c);
        let end = if pull.is_identity() { first } else { c.min(pull.last() + 1).max(first) };
        let enters = |&x: &usize| (c..layout.len()).any(|y| pull.source(y) == x);
        let entering: Vec<usize> = (first..end).filter(enters).collect();
        let leaving = (first..end).filter(|&x| pull.source(x) >= c).collect();
        let k = entering.len();
        let count = (inside - k + 1..=inside).product();
        let variants = (inside + 1..=inside + k).product();
        let (pull, digits) = (pull.clone(), (first, end));
        let mut found =
            SourceBlocks { layout, pull, digits, entering, leaving, count, variants, table: None };
        found.table = found.tabulate();
        found
    }

    /// Returns the part before the blocks of a window that needs no source block.
    pub(crate) fn none(layout: Layout) -> SourceBlocks {
        let identity = SourceBlocks::new(layout, &Window::identity());
        SourceBlocks { count: 0, table: None, ..identity }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn variants(&self) -> usize {
        self.variants
    }

    /// Returns whether the only source of every block is the block itself.
    pub fn stays(&self) -> bool {
        self.digits.0 == self.digits.1
    }

    /// The positions whose elements enter the block, in increasing order.
    pub(crate) fn entering(&self) -> &[usize] {
        &self.entering
    }

    /// Writes the digits of the entering elements for a variant: the rank of each among those after it and the block's
    /// own.
    pub(crate) fn entering_digits(&self, variant: usize, digits: &mut [u8]) {
        let inside = self.layout.len() - self.layout.block_prefix();
        let mut rest = variant;
        for i in (0..self.entering.len()).rev() {
            let radix = inside + self.entering.len() - i;
            digits[i] = (rest % radix) as u8;
            rest /= radix;
        }
    }

    /// The number of the source block for a block whose own elements are `line` (in the order of their positions, with
    /// arbitrary numbers).
    pub(crate) fn number(&self, line: &[u8]) -> usize {
        let c = self.layout.block_prefix();
        let mut left = set_of(line);
        self.leaving.iter().fold(0, |number, &x| {
            let element = line[self.pull.source(x) - c];
            let rank = (left & lehmer::first(usize::from(element))).count_ones();
            let radix = left.count_ones() as usize;
            left &= !(1 << element);
            number * radix + rank as usize
        })
    }

    /// Writes the source blocks of the block with the given index and digits, and returns its variant. Cost: a table
    /// lookup per source block, or O(window) per source block for long windows.
    pub fn find(&self, block: usize, digits: &[u8], sources: &mut [usize]) -> usize {
        let key = self.key(digits);
        match &self.table {
            Some(table) => {
                let deltas = &table.delta[key * self.count..][..self.count];
                for (source, &delta) in sources.iter_mut().zip(deltas) {
                    *source = block.wrapping_add_signed(delta as isize);
                }
                usize::from(table.variant[key])
            }
            None => self.solve(&digits[self.digits.0..self.digits.1], |number, delta| {
                sources[number] = block.wrapping_add_signed(delta);
            }),
        }
    }

    fn key(&self, digits: &[u8]) -> usize {
        (self.digits.0..self.digits.1)
            .fold(0, |key, x| key * self.layout.radix(x) + usize::from(digits[x]))
    }

    fn tabulate(&self) -> Option<BlockTable> {
        let (first, end) = self.digits;
        let keys = (first..end)
            .try_fold(1usize, |keys, x| keys.checked_mul(self.layout.radix(x)))
            .filter(|keys| keys.saturating_mul(self.count) <= MAX_TABLE)?;
        let mut table =
            BlockTable { delta: vec![0; keys * self.count], variant: Vec::with_capacity(keys) };
        let mut digits = [0; MAX_LEN];
        for (key, deltas) in table.delta.chunks_mut(self.count).enumerate() {
            let mut rest = key;
            for x in (first..end).rev() {
                digits[x - first] = (rest % self.layout.radix(x)) as u8;
                rest /= self.layout.radix(x);
            }
            let variant = self.solve(&digits[..end - first], |number, delta| {
                deltas[number] =
                    i32::try_from(delta).expect("blocks of tabulated windows are near");
            });
            table
                .variant
                .push(u16::try_from(variant).expect("tabulated windows have few variants"));
        }
        Some(table)
    }

    /// Applies the window before the block with the given changed digits: reports the distance of every source in
    /// blocks, and returns the variant.
    fn solve(&self, digits: &[u8], mut report: impl FnMut(usize, isize)) -> usize {
        let (first, end) = self.digits;
        let universe = self.layout.len() - first;
        let mut line = [0; MAX_LEN];
        let front = digits.len();
        // The block's own elements in increasing order follow those before it.
        lehmer::from_partial_digits(digits, universe, &mut line);
        let (outer, own) = line[..universe].split_at(front);

        let mut variant = 0;
        for (i, &x) in self.entering.iter().enumerate() {
            let element = outer[x - first];
            let smaller = |y: &&u8| **y < element;
            let own_below = own.iter().filter(smaller).count();
            let later =
                self.entering[i + 1..].iter().filter(|&&y| outer[y - first] < element).count();
            let radix = self.layout.len() - self.layout.block_prefix() + self.entering.len() - i;
            variant = variant * radix + own_below + later;
        }
        let mut source = [0; MAX_LEN];
        for number in 0..self.count {
            let mut rising = own.to_vec();
            let mut rest = number;
            let mut radix = self.count;
            for (x, element) in (first..end).zip(&mut source) {
                let from = self.pull.source(x);
                *element = if from < end {
                    outer[from - first]
                } else {
                    radix /= rising.len();
                    let rank = rest / radix;
                    rest %= radix;
                    rising.remove(rank)
                };
            }
            let mut new = [0; MAX_LEN];
            lehmer::digits_within(&source[..front], lehmer::first(universe), &mut new);
            let delta = (first..end)
                .map(|x| {
                    let change =
                        isize::from(new[x - first] as i8) - isize::from(digits[x - first] as i8);
                    change * self.layout.block_stride(x) as isize
                })
                .sum();
            report(number, delta);
        }
        variant
    }
}
