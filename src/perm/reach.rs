//! Which groups of registers of a block can receive states through a window, when it is known which groups of its
//! sources contain any.
//!
//! Invariant: a group that is not returned receives nothing; one that is returned may receive nothing either. So if few
//! groups contain states, only a few have to be computed. A set of groups is a word of bits.

use crate::perm::{GROUP, Layout, MoveShape, MoveTable};

/// All groups of a block.
pub const ALL: u64 = u64::MAX;

/// Maximum number of words of a table: windows that several elements cross have thousands of source blocks.
const MOST: usize = 1 << 19;

/// Where a window leads from each group of registers.
pub enum Reach {
    /// To the same group of the same block.
    Own,
    /// To the same group, from the only source block.
    Block,
    /// From a block that is passed in, to the same group. The number is its index.
    Halo(usize),
    /// For each variant, source block and group of it, the groups to which it leads.
    Table {
        /// Number of source blocks.
        blocks: usize,
        /// Indexed by `(variant * blocks + block) * groups + group`.
        targets: Vec<u64>,
        /// Number of groups per block.
        groups: usize,
    },
    /// Unknown: anywhere.
    Anywhere,
}

impl Reach {
    /// Returns where the tables of a window lead. Cost: one pass over them.
    pub fn of(layout: Layout, gather: &MoveTable) -> Reach {
        match gather.shape {
            MoveShape::Own | MoveShape::Lanes(_) => return Reach::Own,
            MoveShape::Block => return Reach::Block,
            MoveShape::Halo(index) => return Reach::Halo(index),
            _ => {}
        }
        let groups = layout.block_registers() / GROUP;
        let blocks = gather.source_blocks.count();
        let variants = gather.source_blocks.variants();
        if groups > 64 || variants * blocks * groups > MOST {
            return Reach::Anywhere;
        }
        let mut targets = vec![0; variants * blocks * groups];
        for index in 0..variants * layout.block_registers() {
            let (variant, group) = (index / GROUP / groups, index / GROUP % groups);
            for source in gather.sources(layout, index) {
                let block = variant * blocks + usize::from(source.block);
                let from = usize::from(source.register) / GROUP;
                targets[block * groups + from] |= 1 << group;
            }
        }
        Reach::Table { blocks, targets, groups }
    }

    /// Returns the groups that some groups of a source block lead to, for a variant.
    pub fn targets(&self, variant: usize, block: usize, mut held: u64) -> u64 {
        let Reach::Table { blocks, targets, groups } = self else {
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
mod tests {
    use super::*;
    use crate::{
        perm::{lehmer, move_table::MoveTable},
        puzzle::Window,
        random::SplitMix64,
    };

    /// Random lines are moved by a window: the group at which each arrives is returned, and few others are.
    #[test]
    fn every_group_that_a_window_brings_anything_to_is_named() {
        let layout = Layout::new(9).unwrap();
        let rotation = |first: usize, len: usize| {
            let mut source: Vec<u8> = (0..len as u8).collect();
            source.rotate_left(1);
            Window::new(first, &source)
        };
        let mut random = SplitMix64::new(5);
        let windows = [(0, 3), (1, 3), (2, 3), (1, 5), (3, 5), (4, 5), (2, 7), (6, 3)];
        for (first, len) in windows {
            let window = rotation(first, len);
            let gather = MoveTable::new(layout, &window);
            let reach = Reach::of(layout, &gather);
            let (mut tried, mut named) = (0, 0);
            for _ in 0..2000 {
                let mut line = [0; 9];
                lehmer::unrank_even(random.below(lehmer::even_count(9)), &mut line);
                let (from, to) = (line, std::array::from_fn(|p| line[window.source(p)]));
                let to: [u8; 9] = to;
                let (to, from) = (layout.place(&to), layout.place(&from));
                let (group, held) = (to.register / GROUP, 1 << (from.register / GROUP));
                let mut digits = [0; 9];
                layout.block_digits(to.block, &mut digits);
                let mut sources = vec![0; gather.source_blocks.count()];
                let variant = gather.source_blocks.find(to.block, &digits, &mut sources);
                let targets = match reach {
                    Reach::Own => {
                        assert_eq!(to.block, from.block);
                        held
                    }
                    Reach::Anywhere | Reach::Halo(_) => panic!("{first} {len}"),
                    Reach::Block | Reach::Table { .. } => {
                        let block = sources.iter().position(|&source| source == from.block);
                        reach.targets(variant, block.unwrap(), held)
                    }
                };
                assert!(targets >> group & 1 == 1, "{first} {len}: {line:?}");
                tried += 1;
                named += targets.count_ones();
            }
            assert!(named < tried * 20, "{first} {len}: {named} of {tried} times 56");
        }
    }
}
