//! The two classes of cells that levels alternate between, and the transfers from one to the other.
//!
//! Invariant: bit k of a byte of class i stands for the k-th cell of colour i, in increasing order.

use crate::perm::kernel::Transfer;
use crate::puzzle::Puzzle;

/// The cells of a bipartite puzzle by colour.
pub(super) struct Classes {
    cells: [Vec<usize>; 2],
}

impl Classes {
    /// Returns the classes, or `None` when the puzzle is not bipartite or a class exceeds a byte.
    pub fn new(puzzle: &Puzzle) -> Option<Classes> {
        let colour = puzzle.bipartition()?;
        let of = |c: bool| {
            (0..puzzle.cells())
                .filter(|&cell| colour[cell] == c)
                .collect()
        };
        let cells: [Vec<usize>; 2] = [of(false), of(true)];
        cells
            .iter()
            .all(|class| class.len() <= 8)
            .then_some(Classes { cells })
    }

    /// Returns the cells of a class.
    pub fn cells(&self, class: usize) -> &[usize] {
        &self.cells[class]
    }

    /// Returns the class and the bit of a cell.
    pub fn place(&self, cell: usize) -> (usize, u8) {
        let find = |class: usize| {
            let bit = self.cells[class].iter().position(|&c| c == cell)?;
            Some((class, bit as u8))
        };
        find(0).or_else(|| find(1)).expect("every cell has a class")
    }

    /// Returns the edges that leave a class, grouped by window permutation.
    pub fn transfers(&self, puzzle: &Puzzle, from: usize) -> Vec<Transfer> {
        let mut transfers: Vec<Transfer> = Vec::new();
        for edge in puzzle.edges() {
            let (class, source) = self.place(edge.from);
            if class != from {
                continue;
            }
            let bits = (source, self.place(edge.to).1);
            let window = &puzzle.windows()[edge.window];
            match transfers.iter_mut().find(|t| t.window == *window) {
                Some(transfer) => transfer.bits.push(bits),
                None => transfers.push(Transfer {
                    window: window.clone(),
                    bits: vec![bits],
                }),
            }
        }
        transfers
    }
}
