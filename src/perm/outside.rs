//! The part of a window in front of a block: which blocks its sources lie in.
//!
//! Invariant: it depends on the block digits from the window's first position on and on nothing else,
//! so where these are few the answers are tabulated once; otherwise they are worked out per block.

use super::layout::Layout;
use super::lehmer::{self, MAX_LEN};
use crate::puzzle::Window;

/// Most table entries: 1 MiB of deltas per window.
const MAX_TABLE: usize = 1 << 18;

/// Which source blocks a window needs for a block.
#[derive(Clone, Debug)]
pub struct Outside {
    layout: Layout,
    pull: Window,
    /// First and one-past-last block digit that the window changes; equal when it lies inside the block.
    digits: (usize, usize),
    /// Positions before c whose elements the source has inside the block.
    down: Vec<usize>,
    /// Positions before c whose elements the target has inside the block.
    up: Vec<usize>,
    slots: usize,
    downs: usize,
    table: Option<Table>,
}

#[derive(Clone, Debug)]
struct Table {
    /// Source block minus target block, `slots` per key.
    delta: Vec<i32>,
    /// Down key per key.
    down: Vec<u16>,
}

impl Outside {
    /// Returns the part of the window in front of the blocks; `pull` names for each position of the
    /// source line the position of the target line whose element stands there.
    pub(super) fn new(layout: Layout, pull: &Window) -> Outside {
        let c = layout.block_prefix();
        let inside = layout.len() - c;
        let first = pull.first().min(c);
        let end = if pull.is_identity() {
            first
        } else {
            c.min(pull.last() + 1).max(first)
        };
        let down = (first..end).filter(|&x| (c..layout.len()).any(|y| pull.source(y) == x));
        let down: Vec<usize> = down.collect();
        let up: Vec<usize> = (first..end).filter(|&x| pull.source(x) >= c).collect();
        let k = down.len();
        let slots = (inside - k + 1..=inside).product();
        let downs = (inside + 1..=inside + k).product();
        let (pull, digits) = (pull.clone(), (first, end));
        let mut outside = Outside {
            layout,
            pull,
            digits,
            down,
            up,
            slots,
            downs,
            table: None,
        };
        outside.table = outside.tabulate();
        outside
    }

    /// Returns the part of a window that needs no source block.
    pub(super) fn nothing(layout: Layout) -> Outside {
        let identity = Outside::new(layout, &Window::identity());
        Outside {
            slots: 0,
            table: None,
            ..identity
        }
    }

    /// Returns the number of source blocks of a block.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Returns the number of down keys.
    pub fn downs(&self) -> usize {
        self.downs
    }

    /// The positions whose elements come down into the block, in increasing order.
    pub(super) fn down_positions(&self) -> &[usize] {
        &self.down
    }

    /// Writes the digits of the elements that come down, for a down key: each one's rank among those
    /// after it and the block's own.
    pub(super) fn down_digits(&self, down: usize, digits: &mut [u8]) {
        let inside = self.layout.len() - self.layout.block_prefix();
        let mut rest = down;
        for i in (0..self.down.len()).rev() {
            let radix = inside + self.down.len() - i;
            digits[i] = (rest % radix) as u8;
            rest /= radix;
        }
    }

    /// The slot for a block whose own elements are `line` (in order of position, any numbers).
    pub(super) fn slot(&self, line: &[u8]) -> usize {
        let c = self.layout.block_prefix();
        let mut left = line.to_vec();
        left.sort_unstable();
        self.up.iter().fold(0, |slot, &x| {
            let element = line[self.pull.source(x) - c];
            let rank = left.partition_point(|&y| y < element);
            let radix = left.len();
            left.remove(rank);
            slot * radix + rank
        })
    }

    /// Writes the source block of each slot for the block with the given index and digits, and returns
    /// its down key. Cost: a table look-up per slot, or O(window) per slot for long windows.
    pub fn sources(&self, block: usize, digits: &[u8], sources: &mut [usize]) -> usize {
        let key = self.key(digits);
        match &self.table {
            Some(table) => {
                let deltas = &table.delta[key * self.slots..][..self.slots];
                for (source, &delta) in sources.iter_mut().zip(deltas) {
                    *source = block.wrapping_add_signed(delta as isize);
                }
                usize::from(table.down[key])
            }
            None => self.solve(&digits[self.digits.0..self.digits.1], |slot, delta| {
                sources[slot] = block.wrapping_add_signed(delta);
            }),
        }
    }

    fn key(&self, digits: &[u8]) -> usize {
        (self.digits.0..self.digits.1).fold(0, |key, x| {
            key * self.layout.radix(x) + usize::from(digits[x])
        })
    }

    fn tabulate(&self) -> Option<Table> {
        let (first, end) = self.digits;
        let keys = (first..end)
            .try_fold(1usize, |keys, x| keys.checked_mul(self.layout.radix(x)))
            .filter(|keys| keys.saturating_mul(self.slots) <= MAX_TABLE)?;
        let mut table = Table {
            delta: vec![0; keys * self.slots],
            down: Vec::with_capacity(keys),
        };
        let mut digits = [0; MAX_LEN];
        for (key, deltas) in table.delta.chunks_mut(self.slots).enumerate() {
            let mut rest = key;
            for x in (first..end).rev() {
                digits[x - first] = (rest % self.layout.radix(x)) as u8;
                rest /= self.layout.radix(x);
            }
            let down = self.solve(&digits[..end - first], |slot, delta| {
                deltas[slot] = i32::try_from(delta).expect("blocks of tabulated windows are near");
            });
            table
                .down
                .push(u16::try_from(down).expect("down keys of tabulated windows are few"));
        }
        Some(table)
    }

    /// Carries out the window in front of the block with the given changed digits: reports the block
    /// delta of every slot and returns the down key.
    fn solve(&self, digits: &[u8], mut report: impl FnMut(usize, isize)) -> usize {
        let (first, end) = self.digits;
        let universe = self.layout.len() - first;
        let mut line = [0; MAX_LEN];
        let front = digits.len();
        // The block's own elements in increasing order follow those in front of it.
        lehmer::from_partial_digits(digits, universe, &mut line);
        let (outer, own) = line[..universe].split_at(front);

        let mut down = 0;
        for (i, &x) in self.down.iter().enumerate() {
            let element = outer[x - first];
            let smaller = |y: &&u8| **y < element;
            let own_below = own.iter().filter(smaller).count();
            let later = self.down[i + 1..]
                .iter()
                .filter(|&&y| outer[y - first] < element)
                .count();
            let radix = self.layout.len() - self.layout.block_prefix() + self.down.len() - i;
            down = down * radix + own_below + later;
        }
        let mut source = [0; MAX_LEN];
        for slot in 0..self.slots {
            let mut rising = own.to_vec();
            let mut rest = slot;
            let mut radix = self.slots;
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
            report(slot, delta);
        }
        down
    }
}
