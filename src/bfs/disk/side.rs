//! The step from one side: into each group the moves within a chunk, and the planes that bring and take what crosses.

use std::sync::Arc;

use crate::Error;
use crate::bfs::arriving::Arriving;
use crate::bfs::chunks::Chunks;
use crate::bfs::crossing::{Crossings, Plane, crosses};
use crate::bfs::problem::Problem;
use crate::perm::gather::Gather;
use crate::perm::gathers::Gathers;
use crate::perm::kernel::{Kernel, Rule, Transfer};
use crate::perm::reach::Reach;

/// The step into one group.
pub(super) struct Into {
    pub step: Arriving,
    /// Where each transfer leads.
    pub reach: Vec<Reach>,
    /// Planes that bring states, in the order of the step's last transfers.
    pub incoming: Vec<usize>,
    /// Planes of the next step that take states away, with the bit that each takes.
    pub outgoing: Vec<(usize, u8)>,
}

/// The step from one side.
pub(super) struct Side {
    pub into: Vec<Into>,
}

impl Side {
    /// Returns the step from the states at a depth.
    pub fn new(
        problem: &Problem,
        crossings: &Crossings,
        chunks: Chunks,
        kernel: Kernel,
        depth: usize,
    ) -> Result<Side, Error> {
        let tables = Gathers::new(chunks.layout);
        let inner = |t: &Transfer| !crosses(t, chunks);
        let (class, side) = (problem.class(depth + 1), problem.side(depth));
        let into = |group: usize| {
            let arriving = crossings.from(side).iter().enumerate();
            let arriving: Vec<(usize, &Plane)> =
                arriving.filter(|(_, plane)| plane.to.0 == group).collect();
            let halo: Vec<Vec<(u8, u8)>> = arriving
                .iter()
                .map(|(_, plane)| vec![(0, plane.to.1)])
                .collect();
            let groups = &problem.groups;
            let step = Arriving::new(kernel, &tables, groups, (class, group), &halo, inner)?;
            let gathers = step.program.gathers().iter();
            let reach = |gather: &Arc<Gather>| Reach::of(chunks.layout, gather);
            Ok(Into {
                reach: match step.rule {
                    Rule::Reverse => gathers.map(reach).collect(),
                    _ => Vec::new(),
                },
                step,
                incoming: arriving.iter().map(|(at, _)| *at).collect(),
                outgoing: leaving(crossings, 1 - side, group),
            })
        };
        let groups = 0..problem.groups.class(class).len();
        Ok(Side {
            into: groups.map(into).collect::<Result<_, Error>>()?,
        })
    }
}

/// Returns the planes of a side that take states of a group, with the bit that each takes.
pub(super) fn leaving(crossings: &Crossings, side: usize, group: usize) -> Vec<(usize, u8)> {
    let planes = crossings.from(side).iter().enumerate();
    let leaving = planes.filter(|(_, plane)| plane.from.0 == group);
    leaving.map(|(at, plane)| (at, plane.from.1)).collect()
}
