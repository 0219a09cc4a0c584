//! Single bytes of a gather: which byte of which source register a byte of a target register is.
//!
//! Invariant: this reads the same tables as the kernels, one byte at a time; it is for what does not
//! go through them (bits that cross between chunks) and for tests.

use super::gather::{Gather, Shape, Source};
use super::layout::{GROUP, LANES, Layout};

/// A byte of a target block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Variant of the block.
    pub variant: usize,
    /// Register within the block.
    pub register: usize,
    /// Lane of the register, below 60.
    pub lane: usize,
    /// Parity of the sum of the last five digits: for even lines also that of the prefix digit sum.
    pub parity: usize,
}

impl Gather {
    /// Returns whether every register comes from one whole register.
    pub fn keeps_lanes(&self) -> bool {
        matches!(
            self.shape,
            Shape::Own | Shape::Block | Shape::Halo(_) | Shape::Runs(_) | Shape::Copies(_)
        )
    }

    /// Returns the register and the lane that a byte is taken from. Cost: a few table look-ups.
    ///
    /// # Panics
    /// When the target does not fit the layout.
    pub fn byte_source(&self, layout: Layout, at: Target) -> (Source, usize) {
        let r = at.register % GROUP;
        let index = at.variant * layout.block_registers() + at.register;
        let row = index / GROUP;
        let own = Source {
            block: 0,
            register: at.register as u16,
        };
        match &self.shape {
            Shape::Own | Shape::Block | Shape::Halo(_) => (own, at.lane),
            Shape::Lanes(rows) => (own, usize::from(rows[at.parity][at.lane])),
            Shape::Runs(runs) => (runs[row].plus(r), at.lane),
            Shape::Copies(sixes) => (sixes[row][r], at.lane),
            Shape::Shared(tables) | Shape::Strided(tables) => {
                let group = &tables.groups[row];
                let byte = tables.rows[usize::from(group.rows[r])][at.parity][at.lane];
                let (i, lane) = (usize::from(byte / 64), usize::from(byte % 64));
                match &self.shape {
                    Shape::Shared(_) => (group.sources[i], lane),
                    _ => (group.sources[r].plus(i), lane),
                }
            }
            Shape::Scattered(tables) => {
                let lane = |row: u16| tables.rows[usize::from(row)][at.parity][at.lane];
                let pieces = tables.of(index).iter();
                pieces
                    .map(|&(source, row)| (source, usize::from(lane(row))))
                    .find(|&(_, lane)| lane < LANES)
                    .expect("every lane has a source")
            }
        }
    }
}
