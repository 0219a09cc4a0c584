//! The planes of a session, filled from the level files.
//!
//! Invariant: after this, the planes hold the bits of the current level for the chunks that are still to
//! be computed, and the bits of the next level from those that are done: what they would hold had the
//! session never been interrupted.

use std::thread::Builder;

use super::chunk;
use super::committer::no_thread;
use super::context::Context;
use super::fetch::{self, Fetch};
use super::file_exchange::FileExchange;
use super::halt::Halt;
use super::session::Session;
use super::side::leaving;
use crate::bfs::exchange::{Exchange, RoutedPlanes};
use crate::bfs::outcome::PlaneStore;
use crate::bfs::planes::{Planes, SharedPlanes};
use crate::perm::kernel::collect;
use crate::store::Manifest;

/// Batches that may wait.
const AHEAD: usize = 32;

impl<'a> Session<'a> {
    /// Returns the planes for the step to the first level that is not finished, from this rank's files;
    /// `most` chunks between two deliveries.
    pub(super) fn planes(&self, own: &Manifest, most: usize) -> Result<Box<dyn Planes + 'a>, Halt> {
        let context: &'a Context<'a> = self.context;
        let (chunks, crossings) = (context.plan.chunks, context.crossings);
        let depth = own.levels.len();
        let side = context.problem.side(depth - 1);
        let routed = |exchange: Box<dyn Exchange + 'a>| {
            RoutedPlanes::new(chunks, crossings, side, context.kernel, exchange)
        };
        let mut planes: Box<dyn Planes + 'a> = match (&self.outbox, context.plan.planes) {
            (Some(outbox), _) => Box::new(routed(Box::new(outbox.clone()))?),
            (None, PlaneStore::Files) => {
                let disk = context.disk;
                let exchange = FileExchange::new(&disk.directories, own.run, disk.limit);
                Box::new(routed(Box::new(exchange))?)
            }
            (None, PlaneStore::Memory) => {
                Box::new(SharedPlanes::new(chunks, crossings, side, context.kernel)?)
            }
        };
        let levels = [depth - 1, depth].map(|depth| context.fetch(own, depth as u32));
        let total = levels.iter().map(|files| files.records.len()).sum();
        let mut resumed = Resumed { done: 0, total };
        for files in &levels {
            let side = context.problem.side(files.depth as usize);
            let order: Vec<usize> = files.records.iter().map(|r| r.chunk as usize).collect();
            let all = self.communicator.max(order.len() as u64) as usize;
            for at in (0..all).step_by(most) {
                let now = &order[at.min(order.len())..(at + most).min(order.len())];
                let fill = || context.fill(files, now, side, &mut *planes, &mut resumed);
                let whole = self.pool.install(fill)?;
                self.deliver()?;
                // The ranks meet after each superstep: only here can they stop together.
                let stop = !whole || context.progress.stops_superstep();
                if self.communicator.max(u64::from(stop)) > 0 {
                    let states = own.levels.iter().map(|level| level.states).sum();
                    return Err(self.interrupted(depth, states));
                }
            }
        }
        Ok(planes)
    }
}

/// Chunks that are in the planes again.
struct Resumed {
    done: usize,
    total: usize,
}

impl Context<'_> {
    /// Puts what chunks of a level send, in a step from a side, into the planes; returns false when told to stop before
    /// the last.
    fn fill(
        &self,
        files: &Fetch,
        order: &[usize],
        side: usize,
        planes: &mut dyn Planes,
        resumed: &mut Resumed,
    ) -> Result<bool, Halt> {
        if self.crossings.from(side).is_empty() {
            return Ok(true);
        }
        let groups = 0..files.parts.groups;
        let leaving: Vec<_> = groups
            .map(|group| leaving(self.crossings, side, group))
            .collect();
        std::thread::scope(|scope| {
            let (sender, receiver) = fetch::channel();
            let read = move || files.run(order, AHEAD, &sender);
            Builder::new()
                .spawn_scoped(scope, read)
                .map_err(no_thread)?;
            for &chunk in order {
                if self.progress.stops_chunks() {
                    return Ok(false);
                }
                let batches = receiver.recv().expect("a reader sends every chunk");
                planes.open(chunk);
                let filled = &*planes;
                chunk::blocks(
                    files,
                    &batches,
                    &self.codecs,
                    &self.times,
                    |(group, block), registers, located, words| {
                        for &(plane, bit) in &leaving[group] {
                            let any = collect(self.kernel, registers, bit, words);
                            let words = any.then_some(&*words);
                            filled.restore(side, plane, block, located, words);
                        }
                    },
                )?;
                planes.close(files.depth + 1, chunk, side)?;
                resumed.done += 1;
                self.progress.resumed(resumed.done, resumed.total);
            }
            Ok(true)
        })
    }
}
