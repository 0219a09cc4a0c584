//! The step from one side: into each group the moves within a chunk, and the planes that bring and take what crosses.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::Error;
use crate::kernel::{Kernel, Rule, Transfer};
use crate::perm::move_table::{Gathers, MoveTable};
use crate::perm::reach::Reach;
use crate::progress::{Phase, Progress};
use crate::search::classes::{Arriving, Chunks};
use crate::search::disk::halo::Planes;
use crate::search::expander::{Expansion, Frontier, PredecessorBlocks};
use crate::search::problem::{Crossings, Plane, SearchProblem, crosses};

/// The step into one group.
pub(crate) struct GroupStep {
    pub step: Arriving,
    /// Where each transfer leads.
    pub reach: Vec<Reach>,
    /// Planes that bring states, in the order of the step's last transfers.
    pub incoming: Vec<usize>,
    /// Planes of the next step that take states away, with the bit that each takes.
    pub outgoing: Vec<(usize, u8)>,
}

/// The step from one side.
pub(crate) struct HalfStep {
    pub into: Vec<GroupStep>,
}

impl HalfStep {
    /// Returns the step from the states at a depth.
    pub fn new(
        problem: &SearchProblem,
        crossings: &Crossings,
        chunks: Chunks,
        kernel: Kernel,
        depth: usize,
    ) -> Result<HalfStep, Error> {
        let tables = Gathers::new(chunks.layout);
        let inner = |t: &Transfer| !crosses(t, chunks);
        let (class, side) = (problem.class(depth + 1), problem.side(depth));
        let into = |group: usize| {
            let arriving = crossings.from(side).iter().enumerate();
            let arriving: Vec<(usize, &Plane)> =
                arriving.filter(|(_, plane)| plane.to.0 == group).collect();
            let halo: Vec<Vec<(u8, u8)>> =
                arriving.iter().map(|(_, plane)| vec![(0, plane.to.1)]).collect();
            let groups = &problem.groups;
            let step = Arriving::new(kernel, &tables, groups, (class, group), &halo, inner)?;
            let gathers = step.program.gathers().iter();
            let reach = |gather: &Arc<MoveTable>| Reach::of(chunks.layout, gather);
            Ok(GroupStep {
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
        Ok(HalfStep { into: groups.map(into).collect::<Result<_, Error>>()? })
    }
}

/// Returns the planes of a side that take states of a group, with the bit that each takes.
pub(crate) fn leaving(crossings: &Crossings, side: usize, group: usize) -> Vec<(usize, u8)> {
    let planes = crossings.from(side).iter().enumerate();
    let leaving = planes.filter(|(_, plane)| plane.from.0 == group);
    leaving.map(|(at, plane)| (at, plane.from.1)).collect()
}

// How the groups of a level lie in the frames of a chunk's file.
//
// Invariant: a file holds the groups of its depth's class one after the other, each cut into frames of its own. Where
// moves have no way back, every frame of the level is followed by the frame of the states seen so far, of which the
// step to the next level of the class leaves none out.

/// Which frames of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// Those of the level.
    Level,
    /// Those of the states seen so far.
    Seen,
}

/// The groups of a depth in the file of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub groups: usize,
    /// Whether the states seen so far lie between the frames of the level.
    pub seen: bool,
    /// Frames of one group.
    frames: usize,
}

impl Parts {
    /// Returns the parts of the files of a class.
    pub fn new(problem: &SearchProblem, chunks: Chunks, class: usize) -> Parts {
        Parts {
            groups: problem.groups.class(class).len(),
            seen: problem.groups.directed,
            frames: chunks.frames(),
        }
    }

    /// Returns the number of frames of a level in a file; they are numbered group by group.
    pub fn frames(self) -> usize {
        self.groups * self.frames
    }

    /// Returns the group of a frame of a level, and its number within the group.
    pub fn place(self, frame: usize) -> (usize, usize) {
        (frame / self.frames, frame % self.frames)
    }

    /// Returns how many frames of the file belong to a frame of the level: its own, and that of the states seen.
    pub fn halves(self) -> usize {
        1 + usize::from(self.seen)
    }

    /// Returns the number in the file of a frame of the level, or of the states seen there.
    pub fn in_file(self, frame: usize, half: Half) -> usize {
        frame * self.halves() + usize::from(half == Half::Seen)
    }

    /// Returns how often the lines of a chunk lie in its file.
    pub fn copies(self) -> u64 {
        (self.groups * self.halves()) as u64
    }
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
    back: &HalfStep,
    planes: &mut dyn Planes,
) -> Option<Vec<bool>> {
    let most = chunks.blocks / THIN;
    let held = || (0..cur.occupied.len()).filter(|&block| cur.occupied[block]);
    if held().nth(most).is_some() {
        return None;
    }
    let mut near = vec![false; chunks.frames()];
    for block in planes.reached(most)? {
        near[block / chunks.frame_blocks] = true;
    }
    // Groups lead into each other, each by windows of its own: only one is followed.
    let [into] = &back.into[..] else {
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
        for register in sources.inner() {
            let block = register / chunks.layout.block_registers();
            near[block / chunks.frame_blocks] = true;
        }
    }
    Some(near)
}

// How long ranks compute before they meet, and what they show meanwhile.
//
// Invariant: all ranks have supersteps of the same size, because it follows from the longest time of any
// rank.

/// Most bytes that leave a rank in a superstep, if a chunk has not more.
pub(crate) const SENT: u64 = 256 << 20;

/// A superstep that takes longer is followed by a smaller one: only between two can a search of several ranks
/// be stopped and committed.
const LONG: Duration = Duration::from_secs(20);

/// One that takes less is followed by a larger one.
const SHORT: Duration = Duration::from_secs(5);

/// How many chunks each rank computes in a superstep.
#[derive(Clone, Copy)]
pub(crate) struct Superstep {
    pub chunks: usize,
    least: usize,
    most: usize,
}

impl Superstep {
    /// Returns whole levels: a process alone meets nobody.
    pub fn whole(chunks: Chunks) -> Superstep {
        let chunks = chunks.count;
        let (least, most) = (chunks, chunks);
        Superstep { chunks, least, most }
    }

    /// Returns the size to begin with: as many chunks as a superstep may send bits of.
    pub fn bounded(chunks: Chunks, planes: usize) -> Superstep {
        let chunk = (planes * chunks.registers() * 8) as u64;
        let most = (SENT / chunk.max(1)).clamp(1, chunks.count as u64) as usize;
        Superstep { chunks: most, least: 1, most }
    }

    /// Learns from the time of a superstep, which all ranks know alike.
    pub fn adapt(&mut self, time: Duration) {
        if time > LONG {
            self.chunks = (self.chunks / 2).max(self.least);
        } else if time < SHORT {
            self.chunks = (self.chunks * 2).min(self.most);
        }
    }
}

/// Shows the share of this rank's chunks, not of one superstep's. A process alone may be stopped after every
/// chunk, ranks only together.
pub(crate) struct RankProgress<'a> {
    inner: &'a dyn Progress,
    alone: bool,
    before: AtomicU64,
    total: AtomicU64,
}

impl<'a> RankProgress<'a> {
    pub fn new(inner: &'a dyn Progress, alone: bool) -> RankProgress<'a> {
        let (before, total) = (AtomicU64::new(0), AtomicU64::new(0));
        RankProgress { inner, alone, before, total }
    }

    /// Begins a superstep, with frames done before it and of the whole level.
    pub fn superstep(&self, before: usize, total: usize) {
        self.before.store(before as u64, Ordering::Relaxed);
        self.total.store(total as u64, Ordering::Relaxed);
    }

    /// What the frames of a superstep are shown to have come to.
    pub fn frames(&self, depth: usize, done: u64) {
        let before = self.before.load(Ordering::Relaxed);
        let total = self.total.load(Ordering::Relaxed);
        let phase = Phase::Search(depth);
        self.inner.progress(phase, before + done, total);
    }

    /// What of the chunks of earlier sessions is in memory again.
    pub fn resumed(&self, done: usize, total: usize) {
        let (done, total) = (done as u64, total as u64);
        self.inner.progress(Phase::Resume, done, total);
    }

    /// Whether to stop after a chunk.
    pub fn stops_chunks(&self) -> bool {
        self.alone && self.inner.interrupted()
    }

    /// Whether to stop after a superstep.
    pub fn stops_superstep(&self) -> bool {
        !self.alone && self.inner.interrupted()
    }
}

#[cfg(test)]
mod tests {
    //! What `src/bfs/disk/near.rs` keeps to itself.

    use super::*;
    use crate::kernel::Kernel;
    use crate::puzzle::Goal;
    use crate::puzzle::State;
    use crate::random::SplitMix64;
    use crate::search::Search;
    use crate::search::disk::halo_sources::BlockSources;
    use crate::search::problem::SearchProblem;

    /// Planes that bring bits to some blocks, or do not know.
    struct Bringing(Option<Vec<usize>>);

    impl Planes for Bringing {
        fn begin(&mut self, _: u32, _: usize) -> Result<(), crate::Error> {
            Ok(())
        }

        fn incoming(&self, _: usize, _: usize, _: &mut BlockSources, _: &mut [u64]) -> bool {
            false
        }

        fn outgoing(&self, _: usize, _: usize, _: &mut BlockSources, _: Option<&[u64]>) {}

        fn reached(&mut self, _: usize) -> Option<Vec<usize>> {
            self.0.clone()
        }

        fn end(&mut self, _: u32, _: usize) -> Result<(), crate::Error> {
            Ok(())
        }

        fn open(&mut self, _: usize) {}

        fn restore(&self, _: usize, _: usize, _: usize, _: &mut BlockSources, _: Option<&[u64]>) {}

        fn close(&mut self, _: u32, _: usize, _: usize) -> Result<(), crate::Error> {
            Ok(())
        }

        fn next_level(&mut self, _: u32, _: usize) -> Result<(), crate::Error> {
            Ok(())
        }
    }

    /// The neighbours of a state within its chunk lie in frames that are near, and few others are.
    #[test]
    fn frames_that_states_lead_to_are_near() {
        let goal = Goal::Last.board("2x7".parse().unwrap()).unwrap();
        let problem = SearchProblem::chunked(&Search::new(goal).subject).unwrap();
        let chunks = Chunks::new(problem.layout, 1).unwrap();
        let crossings = problem.crossings(chunks);
        let side =
            |depth| HalfStep::new(&problem, &crossings, chunks, Kernel::Scalar, depth).unwrap();
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
