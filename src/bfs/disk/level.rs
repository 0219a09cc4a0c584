//! One level of a session, chunk by chunk, with the readers running ahead.
//!
//! Invariant: the readers send the chunks in the order in which they are computed.

use std::thread::Builder;
use std::time::Instant;

use super::chunk;
use super::committer::{Committer, no_thread};
use super::context::Context;
use super::fetch::{self, Fetch};
use super::halt::Halt;
use super::near::near;
use super::side::Side;
use crate::bfs::expand::Frontier;
use crate::bfs::planes::Planes;
use crate::perm::kernel::Tally;

/// One level of a session.
pub(super) struct LevelStep<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) depth: usize,
    pub(super) side: &'a Side,
    /// The step of the other side.
    pub(super) back: &'a Side,
    pub(super) committer: &'a Committer,
    pub(super) current: &'a Fetch<'a>,
    /// What is left out: the previous level, or the states seen; its files have the parts of those that are written.
    pub(super) left_out: &'a Fetch<'a>,
}

/// Batches of the previous level that may wait: they are used at once.
const PREVIOUS_AHEAD: usize = 32;

impl LevelStep<'_> {
    /// Computes chunks in order; returns false when told to stop before the last.
    pub(super) fn chunks(
        &self,
        order: &[usize],
        cur: &mut Frontier,
        planes: &mut dyn Planes,
    ) -> Result<bool, Halt> {
        let (run, parts) = (self.context, self.left_out.parts);
        std::thread::scope(|scope| {
            let (currents, current) = fetch::channel();
            let (previouses, previous) = fetch::channel();
            let read = move || self.current.run(order, run.plan.read_ahead, &currents);
            Builder::new()
                .spawn_scoped(scope, read)
                .map_err(no_thread)?;
            let read = move || self.left_out.run(order, PREVIOUS_AHEAD, &previouses);
            Builder::new()
                .spawn_scoped(scope, read)
                .map_err(no_thread)?;
            let frames = parts.frames() as u64;
            for (i, &chunk) in order.iter().enumerate() {
                if run.progress.stops_chunks() {
                    return Ok(false);
                }
                let begun = Instant::now();
                let batches = current.recv().expect("a reader sends every chunk");
                run.times.wait.add(begun);
                chunk::load(self.current, &batches, cur, &run.codecs, &run.times)?;
                planes.begin(self.depth as u32, chunk)?;
                let batches = previous.recv().expect("a reader sends every chunk");
                let written = run.fetch_records(self.current.run, self.depth as u32, Vec::new());
                self.committer
                    .begin(written.header(chunk, self.context.codec))?;
                let near = match parts.seen {
                    true => None,
                    false => near(run.plan.chunks, chunk, cur, self.back, planes),
                };
                if near.as_ref().is_some_and(|near| !near.contains(&true)) {
                    // Nothing comes from anywhere: what there was at level d - 2 is subtracted from nothing.
                    batches.iter().try_for_each(|batch| batch.map(drop))?;
                    self.committer.end(Tally::default())?;
                    planes.end(self.depth as u32, chunk)?;
                    run.progress.frames(self.depth, frames * (i as u64 + 1));
                    continue;
                }
                let step = chunk::Step {
                    chunks: run.plan.chunks,
                    planes: &*planes,
                    side: self.side,
                    kernel: run.kernel,
                    cur,
                    chunk,
                    parts,
                    near: near.as_deref(),
                    codecs: &run.codecs,
                    committer: self.committer,
                    times: &run.times,
                    progress: &run.progress,
                    depth: self.depth,
                    done: frames * i as u64,
                };
                let tally = step.run(self.left_out, &batches)?;
                self.committer.end(tally)?;
                planes.end(self.depth as u32, chunk)?;
            }
            Ok(true)
        })
    }
}
