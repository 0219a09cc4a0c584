//! What `src/bfs/disk/near.rs` keeps to itself.

use super::*;
use crate::bfs::Search;
use crate::bfs::plane_sources::BlockSources;
use crate::bfs::problem::Problem;
use crate::bfs::state::State;
use crate::perm::kernel::Kernel;
use crate::puzzle::tiles::Goal;
use crate::random::SplitMix64;

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
    let problem = Problem::chunked(&Search::new(goal).subject).unwrap();
    let chunks = Chunks::new(problem.layout, 1).unwrap();
    let crossings = problem.crossings(chunks);
    let side = |depth| Side::new(&problem, &crossings, chunks, Kernel::Scalar, depth).unwrap();
    // The step from depth 0 is followed by the sources of that from depth 1.
    let (back, parity) = (side(1), problem.class(0));
    let (space, puzzle) = (&problem.space, problem.space.puzzle());
    let frame_of = |state: State| {
        let (register, lane) = problem.place(state);
        let registers = chunks.registers() as u64;
        let within = (register % registers) as usize;
        (
            register / registers,
            within / chunks.frame_registers(),
            within,
            lane,
        )
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
