//! One level of a session, chunk by chunk, with the readers running ahead.
//!
//! Invariant: the readers send the chunks in the order in which they are computed.

use std::time::Instant;

use crossbeam::channel::bounded;

use super::DiskError;
use super::chunk;
use super::fetch::Fetch;
use super::journal::Journal;
use super::run::{Halt, Run};
use crate::bfs::expand::Frontier;
use crate::bfs::planes::Planes;
use crate::perm::kernel::{Program, Tally};

/// One level of a session.
pub(super) struct LevelStep<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) depth: usize,
    pub(super) from: usize,
    pub(super) program: &'a Program,
    pub(super) journal: &'a Journal,
    pub(super) current: &'a Fetch<'a>,
    pub(super) previous: &'a Fetch<'a>,
    /// States of the levels before.
    pub(super) states: u64,
}

/// Batches of the previous level that may wait: they are used at once.
const PREVIOUS_AHEAD: usize = 32;

impl LevelStep<'_> {
    /// Computes chunks in order and reports each.
    pub(super) fn chunks(
        &self,
        order: &[usize],
        cur: &mut Frontier,
        planes: &mut dyn Planes,
        report: &mut dyn FnMut(usize, Tally),
    ) -> Result<(), Halt> {
        let run = self.run;
        std::thread::scope(|scope| {
            let (currents, current) = bounded(1);
            let (previouses, previous) = bounded(1);
            scope.spawn(move || self.current.run(order, run.fit.read_ahead, &currents));
            scope.spawn(move || self.previous.run(order, PREVIOUS_AHEAD, &previouses));
            let frames = run.fit.chunks.frames() as u64;
            let total = frames * order.len() as u64;
            for (i, &chunk) in order.iter().enumerate() {
                if run.observer.interrupted() {
                    return Err(DiskError::Interrupted {
                        directory: run.disk.directories.first().name(),
                        depth: self.depth,
                        states: self.states,
                    }
                    .into());
                }
                let begun = Instant::now();
                let batches = current.recv().expect("a reader sends every chunk");
                run.times.wait.add(begun);
                chunk::load(self.current, &batches, cur, &run.codecs, &run.times)?;
                planes.begin(self.depth as u32, chunk)?;
                let batches = previous.recv().expect("a reader sends every chunk");
                self.journal.begin(
                    run.fetch_records(self.current.run, self.depth as u32, Vec::new())
                        .header(chunk),
                )?;
                let step = chunk::Step {
                    chunks: run.fit.chunks,
                    crossings: run.crossings,
                    planes: &*planes,
                    program: self.program,
                    kernel: run.kernel,
                    cur,
                    chunk,
                    from: self.from,
                    codecs: &run.codecs,
                    journal: self.journal,
                    times: &run.times,
                    observer: run.observer,
                    depth: self.depth,
                    progress: (frames * i as u64, total),
                };
                let tally = step.run(self.previous, &batches)?;
                self.journal.end(tally)?;
                planes.end(self.depth as u32, chunk)?;
                report(chunk, tally);
            }
            Ok(())
        })
    }
}
