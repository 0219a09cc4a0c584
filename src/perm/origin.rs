//! Single bytes of a gather: which byte of which source register a byte of a target register is.
//!
//! Invariant: this reads the same tables as the kernels, one byte at a time; it is for what does not
//! go through them (bits that cross between chunks) and for tests.

use super::gather::{Gather, Shape, Source};
use super::layout::{GROUP, LANES, Layout};

/// A byte of a target block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Down key of the block.
    pub down: usize,
    /// Register within the block.
    pub register: usize,
    /// Lane of the register, below 60.
    pub lane: usize,
    /// Parity of the register's prefix digit sum.
    pub parity: usize,
}

impl Gather {
    /// Returns whether every register comes from one whole register.
    pub fn keeps_lanes(&self) -> bool {
        matches!(
            self.shape,
            Shape::Own | Shape::Block | Shape::Carried(_) | Shape::Runs(_) | Shape::Copies(_)
        )
    }

    /// Returns the register and the lane that a byte is taken from. Cost: a few table look-ups.
    ///
    /// # Panics
    /// When the target does not fit the layout.
    pub fn origin(&self, layout: Layout, at: Target) -> (Source, usize) {
        let groups = layout.block_registers() / GROUP;
        let (group, r) = (at.register / GROUP, at.register % GROUP);
        let row = at.down * groups + group;
        let own = Source {
            slot: 0,
            register: at.register as u16,
        };
        let plus = |s: Source, i: usize| Source {
            register: s.register + i as u16,
            ..s
        };
        match &self.shape {
            Shape::Own | Shape::Block | Shape::Carried(_) => (own, at.lane),
            Shape::Lanes(rows) => (own, usize::from(rows[at.parity][at.lane])),
            Shape::Runs(runs) => (plus(runs[row], r), at.lane),
            Shape::Copies(sixes) => (sixes[row][r], at.lane),
            Shape::Shared {
                sources,
                classes,
                rows,
            } => {
                let byte = usize::from(rows[usize::from(classes[row][r])][at.parity][at.lane]);
                (sources[row][byte / 64], byte % 64)
            }
            Shape::Strided {
                sources,
                classes,
                rows,
            } => {
                let byte = usize::from(rows[usize::from(classes[row][r])][at.parity][at.lane]);
                (plus(sources[row][r], byte / 64), byte % 64)
            }
            Shape::Scattered { ends, pieces, rows } => {
                let index = row * GROUP + r;
                let begin = index
                    .checked_sub(1)
                    .map_or(0, |before| ends[before] as usize);
                pieces[begin..ends[index] as usize]
                    .iter()
                    .map(|&(source, row)| {
                        let lane = usize::from(rows[usize::from(row)][at.parity][at.lane]);
                        (source, lane)
                    })
                    .find(|&(_, lane)| lane < LANES)
                    .expect("every lane has a source")
            }
        }
    }
}
