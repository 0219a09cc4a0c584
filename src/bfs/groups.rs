//! Groups of cells, and the transfers from group to group.
//!
//! Invariant: bit k of a byte of a group stands for the k-th of its cells, in increasing order. A level lies
//! in one group, the next in the group that its step leads to.
//!
//! A group is a parity of lines and at most 8 cells: what one byte of a line tells. Sliding tiles have even
//! lines only and a bipartite graph of cells, so there are two groups, the colours, and one step from each.

use crate::perm::kernel::Transfer;
use crate::puzzle::Puzzle;

/// The moves from one group to another.
pub(super) struct Step {
    from: usize,
    to: usize,
    transfers: Vec<Transfer>,
}

/// The groups of a puzzle and the steps between them.
pub(super) struct Groups {
    cells: Vec<Vec<usize>>,
    steps: Vec<Step>,
}

impl Groups {
    /// Most cells of a group: the bits of a byte.
    const MAX_CELLS: usize = 8;

    /// Returns the groups, or `None` when the puzzle is not bipartite or a colour exceeds a byte.
    pub fn new(puzzle: &Puzzle) -> Option<Groups> {
        let colour = puzzle.bipartition()?;
        let of = |c: bool| {
            (0..puzzle.cells())
                .filter(|&cell| colour[cell] == c)
                .collect()
        };
        let mut groups = Groups {
            cells: vec![of(false), of(true)],
            steps: Vec::new(),
        };
        if groups
            .cells
            .iter()
            .any(|cells| cells.len() > Groups::MAX_CELLS)
        {
            return None;
        }
        for edge in puzzle.edges() {
            let (from, source) = groups.place(edge.from);
            let (to, target) = groups.place(edge.to);
            let known = groups
                .steps
                .iter_mut()
                .position(|s| (s.from, s.to) == (from, to));
            let at = known.unwrap_or_else(|| {
                let transfers = Vec::new();
                groups.steps.push(Step {
                    from,
                    to,
                    transfers,
                });
                groups.steps.len() - 1
            });
            let transfers = &mut groups.steps[at].transfers;
            let window = &puzzle.windows()[edge.window];
            match transfers.iter_mut().find(|t| t.window == *window) {
                Some(transfer) => transfer.bits.push((source, target)),
                None => transfers.push(Transfer {
                    window: window.clone(),
                    bits: vec![(source, target)],
                }),
            }
        }
        Some(groups)
    }

    /// Returns the cells of a group.
    pub fn cells(&self, group: usize) -> &[usize] {
        &self.cells[group]
    }

    /// Returns the group and the bit of a cell.
    pub fn place(&self, cell: usize) -> (usize, u8) {
        let find = |(group, cells): (usize, &Vec<usize>)| {
            let bit = cells.iter().position(|&c| c == cell)?;
            Some((group, bit as u8))
        };
        let place = self.cells.iter().enumerate().find_map(find);
        place.expect("every cell has a group")
    }

    /// Returns the step from a group: where it leads.
    fn step(&self, from: usize) -> &Step {
        let step = self.steps.iter().find(|step| step.from == from);
        step.expect("every cell has moves")
    }

    /// Returns the group of the level after one of a group.
    pub fn next(&self, from: usize) -> usize {
        self.step(from).to
    }

    /// Returns the edges that leave a group, by window permutation.
    pub fn transfers(&self, from: usize) -> &[Transfer] {
        &self.step(from).transfers
    }
}
