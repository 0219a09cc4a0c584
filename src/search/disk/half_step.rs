//! The step from one depth to the next: into each group the moves within a chunk, and the planes that bring and take
//! what crosses.

use crate::Error;
use crate::kernel::{Kernel, Rule};
use crate::perm::{Gathers, Reach};
use crate::search::disk::Halo;
use crate::search::{
    Chunks, Crossings, Expansion, Frontier, IncomingStep, Plane, PredecessorBlocks, SearchProblem,
    crosses,
};

/// The step into one group.
pub(crate) struct GroupStep {
    pub step: IncomingStep,
    /// Where each transfer leads.
    pub reach: Vec<Reach>,
    /// Planes that bring states, in the order of the step's last transfers.
    pub incoming: Vec<usize>,
    /// Planes of the next step that take states away, with the bit that each takes.
    pub outgoing: Vec<(usize, u8)>,
}

/// Returns the step from the states at a depth into each group.
pub(crate) fn half_step(
    problem: &SearchProblem,
    crossings: &Crossings,
    chunks: Chunks,
    kernel: Kernel,
    depth: usize,
) -> Result<Vec<GroupStep>, Error> {
    let tables = Gathers::new(chunks.layout);
    let (class, side) = (problem.class(depth + 1), problem.side(depth));
    let into = |group: usize| {
        let planes = crossings.sides[side].iter().enumerate();
        let planes: Vec<(usize, &Plane)> =
            planes.filter(|(_, plane)| plane.to.0 == group).collect();
        let halo: Vec<Vec<(u8, u8)>> =
            planes.iter().map(|(_, plane)| vec![(0, plane.to.1)]).collect();
        let groups = &problem.groups;
        let moves = groups.incoming[class][group].iter();
        let inner = moves.filter(|a| !crosses(&a.transfer, chunks));
        let step = IncomingStep::of(kernel, &tables, inner, &halo)?;
        let parity = groups.classes[class][group].parity;
        let step = IncomingStep { parity, group, rule: groups.rule(), ..step };
        let mut reach = Vec::new();
        if step.rule == Rule::Reverse {
            reach.extend(step.program.gathers().iter().map(|g| Reach::of(chunks.layout, g)));
        }
        let incoming = planes.iter().map(|(at, _)| *at).collect();
        Ok(GroupStep { reach, step, incoming, outgoing: leaving(crossings, 1 - side, group) })
    };
    (0..problem.groups.classes[class].len()).map(into).collect()
}

/// Returns the planes of a side that take states of a group, with the bit that each takes.
pub(crate) fn leaving(crossings: &Crossings, side: usize, group: usize) -> Vec<(usize, u8)> {
    let planes = crossings.sides[side].iter().enumerate();
    let leaving = planes.filter(|(_, plane)| plane.from.0 == group);
    leaving.map(|(at, plane)| (at, plane.from.1)).collect()
}

// Which frames of a chunk a step can reach.
//
// Invariant: a frame that is left out gets no state and gives none, so nobody need look at it. In thin levels these are nearly
// all: a level of a few million states on a large board must not cost a pass over its lines.

/// A level is thin where at most one in so many blocks holds states.
const THIN: usize = 16;

/// Returns for each frame of a chunk whether any state can come to it; `None` when too many do to count them. `cur` is the current
/// level of the chunk, `back` the step of the other side, whose sources are this step's targets.
pub(crate) fn near(
    chunks: Chunks,
    chunk: usize,
    cur: &Frontier,
    back: &[GroupStep],
    halo: &mut dyn Halo,
) -> Option<Vec<bool>> {
    let most = chunks.blocks / THIN;
    let held = || (0..cur.occupied.len()).filter(|&block| cur.occupied[block]);
    if held().nth(most).is_some() {
        return None;
    }
    let mut near = vec![false; chunks.frames()];
    for block in halo.reached(most)? {
        near[block / chunks.frame_blocks] = true;
    }
    // Groups lead into each other, each by windows of its own: only one is followed.
    let [into] = back else {
        let none = !near.contains(&true) && held().next().is_none();
        return none.then_some(near);
    };
    let first = chunk * chunks.blocks;
    let expansion = Expansion {
        layout: chunks.layout,
        step: &into.step,
        cur,
        first,
        blocks: chunks.blocks,
        reach: &[],
    };
    let mut sources = PredecessorBlocks::new(&into.step.program);
    for block in held() {
        expansion.find(&mut sources, first + block);
        for register in &sources.registers {
            let block = register / chunks.layout.block_registers();
            near[block / chunks.frame_blocks] = true;
        }
    }
    Some(near)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::puzzle::{Goal, State};
    use crate::random::SplitMix64;
    use crate::search::disk::BlockSources;
    use crate::search::{Search, SearchProblem};

    /// A halo that brings bits to some blocks, or does not know.
    struct Bringing(Option<Vec<usize>>);

    impl Halo for Bringing {
        fn incoming(&self, _: usize, _: usize, _: &mut BlockSources, _: &mut [u64]) -> bool {
            false
        }

        fn outgoing(&self, _: usize, _: usize, _: usize, _: Option<&[u64]>) {}

        fn reached(&mut self, _: usize) -> Option<Vec<usize>> {
            self.0.clone()
        }

        fn next_level(&mut self, _: u32, _: usize) -> Result<(), crate::Error> {
            Ok(())
        }
    }

    /// The neighbours of a state within its chunk lie in frames that are near, and few others are.
    #[test]
    fn frames_that_states_lead_to_are_near() {
        let goal = Goal::Last.board("2x7".parse().unwrap()).unwrap();
        let problem = SearchProblem::chunked(&Search::new(goal).space).unwrap();
        let chunks = Chunks::new(problem.layout, 1).unwrap();
        let crossings = Crossings::new(&problem.groups, chunks);
        let side = |depth| half_step(&problem, &crossings, chunks, Kernel::Scalar, depth).unwrap();
        // The step from depth 0 is followed by the sources of that from depth 1.
        let (back, parity) = (side(1), problem.class(0));
        let (space, puzzle) = (&problem.space, problem.space.moves());
        let frame_of = |state: State| {
            let (register, lane) = problem.place(state);
            let registers = chunks.registers() as u64;
            let within = (register % registers) as usize;
            (register / registers, within / chunks.frame_registers(), within, lane)
        };
        let mut random = SplitMix64::new(3);
        let (mut tried, mut named) = (0, 0);
        while tried < 40 {
            let line = random.below(space.lines());
            let cell = random.below(14) as usize;
            let state = State { line, cell };
            let seat = problem.seat(state);
            if seat.class != parity {
                continue;
            }
            tried += 1;
            let (chunk, own, within, lane) = frame_of(state);
            let mut cur = Frontier::empty(chunks.layout, chunks.blocks).unwrap();
            cur.insert(chunks.layout, within as u64, lane, seat.bit);
            let look = |planes: &mut Bringing| near(chunks, chunk as usize, &cur, &back, planes);
            let frames = look(&mut Bringing(Some(vec![]))).unwrap();
            assert!(frames[own], "moves along the path stay");
            named += frames.iter().filter(|near| **near).count();
            for edge in puzzle.edges().iter().filter(|edge| edge.from == cell) {
                let (line, window) = (space.line(state), &puzzle.windows()[edge.window]);
                let line: Vec<u8> = (0..line.len()).map(|p| line[window.source(p)]).collect();
                let (other, frame, ..) = frame_of(space.number(&line, edge.to));
                assert!(other != chunk || frames[frame], "{state:?} {edge:?}");
            }
            let last = chunks.blocks - 1;
            let frames = look(&mut Bringing(Some(vec![last]))).unwrap();
            assert!(frames[chunks.frames() - 1], "what comes from other chunks");
            assert_eq!(look(&mut Bringing(None)), None);
        }
        assert!(
            named < tried * chunks.frames() * 2 / 3,
            "{named} of {tried} times {}",
            chunks.frames()
        );
        // Nothing is counted where much is held.
        let mut cur = Frontier::empty(chunks.layout, chunks.blocks).unwrap();
        cur.occupied.fill(true);
        let planes = &mut Bringing(Some(vec![]));
        assert_eq!(near(chunks, 0, &cur, &back, planes), None);
    }
}
