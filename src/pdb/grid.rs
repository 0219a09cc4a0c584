//! The cells of a small board as bit masks: neighbours, and the regions of the free cells.
//!
//! Invariant: bit c of a mask is the row-major cell c. The regions of a set of occupied cells are the
//! connected components of the others, numbered by their lowest cells.

use crate::puzzle::tiles::Size;

/// The adjacency of a board of at most 36 cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    cells: usize,
    cols: usize,
    all: u64,
    not_left: u64,
    not_right: u64,
    even: u64,
}

impl Grid {
    pub fn new(size: Size) -> Grid {
        let (cells, cols) = (size.cells(), size.cols());
        let column = |c: usize| {
            let cells = (0..cells).filter(|cell| cell % cols == c);
            cells.fold(0u64, |mask, cell| mask | 1 << cell)
        };
        let all = (1u64 << cells) - 1;
        let even = (0..cells).filter(|c| (c / cols + c % cols) % 2 == 0);
        Grid {
            cells,
            cols,
            all,
            not_left: all & !column(0),
            not_right: all & !column(cols - 1),
            even: even.fold(0, |mask, cell| mask | 1 << cell),
        }
    }

    pub fn cells(&self) -> usize {
        self.cells
    }

    /// The cells that are not occupied.
    pub fn free(&self, occupied: u64) -> u64 {
        self.all & !occupied
    }

    /// The free cells of a colour: that of a set of one of them.
    pub fn free_of(&self, occupied: u64, colour: usize) -> u64 {
        let of_colour = if colour == 1 { self.even } else { !self.even };
        self.free(occupied) & of_colour
    }

    /// The colour of a set: the parity of the number of its cells on the even squares. Every move of
    /// one tile changes it.
    pub fn colour(&self, set: u64) -> usize {
        (set & self.even).count_ones() as usize % 2
    }

    /// The cells next to any cell of a set.
    #[inline]
    pub fn around(&self, set: u64) -> u64 {
        let sideways = (set & self.not_right) << 1 | (set & self.not_left) >> 1;
        (sideways | set << self.cols | set >> self.cols) & self.all
    }

    /// The region of a free cell.
    #[inline]
    pub fn region(&self, free: u64, cell: usize) -> u64 {
        let mut region = 1u64 << cell;
        loop {
            let grown = (region | self.around(region)) & free;
            if grown == region {
                return region;
            }
            region = grown;
        }
    }

    /// The lowest cells of all regions of a set of occupied cells.
    pub fn lows(&self, occupied: u64) -> u64 {
        let mut left = self.free(occupied);
        let mut lows = 0;
        while left != 0 {
            let low = left & left.wrapping_neg();
            lows |= low;
            left &= !self.region(left, low.trailing_zeros() as usize);
        }
        lows
    }

    /// The number of the region of a free cell.
    pub fn region_number(&self, occupied: u64, cell: usize) -> usize {
        let lows = self.lows(occupied);
        number(lows, self.region(self.free(occupied), cell))
    }
}

/// The number of a region among those with the given lowest cells.
#[inline]
pub(super) fn number(lows: u64, region: u64) -> usize {
    let low = region & region.wrapping_neg();
    (lows & low.wrapping_sub(1)).count_ones() as usize
}

/// The set bits of a mask, lowest first.
pub(super) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as usize;
        let some = mask != 0;
        mask &= mask.wrapping_sub(1);
        some.then_some(bit)
    })
}

#[cfg(test)]
#[path = "../../tests/unit/grid.rs"]
mod tests;
