//! Which groups of registers of a block a window can bring states to, when it is known which groups of its sources hold any.
//!
//! Invariant: a group that is left out gets nothing; one that is named need not get anything. So where few groups hold
//! states, only few have to be computed. A set of groups is a word of bits.

use super::gather::{Gather, Shape, Source};
use super::layout::{GROUP, Layout};

/// All groups of a block.
pub const ALL: u64 = u64::MAX;
/// Most words of a table: windows that several elements cross have thousands of source blocks.
const MOST: usize = 1 << 19;

/// Where a window leads from each group of registers.
pub enum Reach {
    /// To the same group of the same block.
    Own,
    /// To the same group, from the only source block.
    Block,
    /// From a block that is handed over, to the same group. The number says which.
    Halo(usize),
    /// For each variant, source block and group of it those that it leads to.
    Table {
        /// Number of source blocks.
        blocks: usize,
        /// Indexed by `(variant * blocks + block) * groups + group`.
        targets: Vec<u64>,
        /// Groups of a block.
        groups: usize,
    },
    /// Nobody knows: anywhere.
    Anywhere,
}

impl Reach {
    /// Returns what the tables of a window say. Cost: a pass over them.
    pub fn of(layout: Layout, gather: &Gather) -> Reach {
        match gather.shape {
            Shape::Own | Shape::Lanes(_) => return Reach::Own,
            Shape::Block => return Reach::Block,
            Shape::Halo(index) => return Reach::Halo(index),
            _ => {}
        }
        let groups = layout.block_registers() / GROUP;
        let blocks = gather.source_blocks.count();
        let variants = gather.source_blocks.variants();
        if groups > 64 || variants * blocks * groups > MOST {
            return Reach::Anywhere;
        }
        let mut targets = vec![0; variants * blocks * groups];
        for variant in 0..variants {
            for group in 0..groups {
                let row = variant * groups + group;
                let mut lead = |source: Source| {
                    let block = variant * blocks + usize::from(source.block);
                    let from = usize::from(source.register) / GROUP;
                    targets[block * groups + from] |= 1 << group;
                };
                let mut run = |source: Source| (0..GROUP).for_each(|i| lead(source.plus(i)));
                match &gather.shape {
                    Shape::Runs(runs) => run(runs[row]),
                    Shape::Strided(tables) => tables.groups[row].sources.into_iter().for_each(run),
                    Shape::Copies(sixes) => sixes[row].into_iter().for_each(lead),
                    Shape::Shared(tables) => tables.groups[row].sources.into_iter().for_each(lead),
                    Shape::Scattered(tables) => {
                        let registers = row * GROUP..(row + 1) * GROUP;
                        let pieces = registers.flat_map(|register| tables.of(register));
                        pieces.for_each(|&(source, _)| lead(source));
                    }
                    Shape::Own | Shape::Lanes(_) | Shape::Block | Shape::Halo(_) => {}
                }
            }
        }
        Reach::Table {
            blocks,
            targets,
            groups,
        }
    }

    /// Returns the groups that some groups of a source block lead to, for a variant.
    pub fn targets(&self, variant: usize, block: usize, mut held: u64) -> u64 {
        let Reach::Table {
            blocks,
            targets,
            groups,
        } = self
        else {
            return held;
        };
        let first = (variant * blocks + block) * groups;
        let targets = &targets[first..first + groups];
        let mut all = 0;
        while held != 0 {
            let group = held.trailing_zeros() as usize;
            held &= held - 1;
            all |= targets.get(group).copied().unwrap_or(0);
        }
        all
    }
}

#[cfg(test)]
#[path = "../../tests/unit/reach.rs"]
mod tests;
