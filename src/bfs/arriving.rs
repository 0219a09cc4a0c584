//! The step into one group, made ready for a kernel.

use super::error::SearchError;
use super::groups::Groups;
use crate::perm::gathers::Gathers;
use crate::perm::kernel::{Kernel, Program, Rule, Transfer};

/// What moves whole bytes: every bit to itself.
pub(super) const BYTE: [(u8, u8); 8] = [
    (0, 0),
    (1, 1),
    (2, 2),
    (3, 3),
    (4, 4),
    (5, 5),
    (6, 6),
    (7, 7),
];

/// The step into one group.
pub(super) struct Arriving {
    pub program: Program,
    /// For each transfer the place of the group in its class that it comes from.
    pub from: Vec<usize>,
    /// Parity of the lines of the group.
    pub parity: usize,
    /// Place of the group in its class.
    pub group: usize,
    /// What becomes of the states that the step reaches.
    pub rule: Rule,
}

impl Arriving {
    /// Returns the step into a group of a class by the transfers that are kept; `halo` is what is handed over
    /// with the target blocks.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn new(
        kernel: Kernel,
        tables: &Gathers,
        groups: &Groups,
        (class, group): (usize, usize),
        halo: &[Vec<(u8, u8)>],
        keep: impl Fn(&Transfer) -> bool,
    ) -> Result<Arriving, SearchError> {
        let arrivals = groups.arrivals(class)[group].iter();
        let kept = arrivals.filter(|a| keep(&a.transfer));
        let (mut from, transfers): (Vec<usize>, Vec<Transfer>) =
            kept.map(|a| (a.from, a.transfer.clone())).unzip();
        from.resize(from.len() + halo.len(), 0);
        Ok(Arriving {
            program: Program::shared(kernel, tables, &transfers, halo)?,
            from,
            parity: groups.class(class)[group].parity,
            group,
            rule: groups.rule(),
        })
    }
}
