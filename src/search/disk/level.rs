//! The levels of a session: the same loop for a process alone and for the ranks of a job.
//!
//! Invariant: all ranks hold the same list of finished levels and take the same decisions, because every
//! decision follows from sums and maxima over all ranks. The files of all ranks are synced before rank 0
//! writes the manifest, and superseded files go only after that. A process alone leaves its commits to its
//! writer, which makes them while the search goes on, in the same order.

use std::collections::{BTreeMap, HashSet};
use std::thread::Builder;
use std::time::{Duration, Instant};

use rayon::ThreadPool;

use crate::Error;
use crate::kernel::{Tally, collect};
use crate::progress::Progress;
use crate::search::communicator::{Communicator, Reduce};
use crate::search::disk::chunk;
use crate::search::disk::context::Context;
use crate::search::disk::error::DiskError;
use crate::search::disk::exchange::{Exchange, RoutedPlanes};
use crate::search::disk::half_step::{HalfStep, Superstep, leaving, near};
use crate::search::disk::halo::{Planes, SharedPlanes};
use crate::search::disk::reader::{self, Fetch};
use crate::search::disk::transports::{FileExchange, Outbox};
use crate::search::disk::writer::{Committer, Halt, NEVER, Stopped, no_thread};
use crate::search::expander::Frontier;
use crate::search::outcome::{FoundLevels, PlaneStore};
use crate::search::space::State;
use crate::store::{ChunkRecord, LevelFiles, Manifest};

/// What a rank does in a session.
pub(crate) struct Session<'a> {
    pub context: &'a Context<'a>,
    pub communicator: &'a dyn Communicator,
    pub pool: &'a ThreadPool,
    pub progress: &'a dyn Progress,
    /// What is sent to other ranks; `None` for a process alone.
    pub outbox: Option<Outbox>,
    /// The chunks of this rank.
    pub mine: Vec<usize>,
}

impl Session<'_> {
    /// Computes what is missing; returns the manifest of all ranks, and on rank 0 the states of the last
    /// level, as many as asked for.
    pub fn run(&self, mut manifest: Manifest) -> Result<(Manifest, Vec<State>), Stopped> {
        let states = manifest.levels.iter().map(|level| level.states).sum();
        self.progress.continued(manifest.levels.len() - 1, states);
        if !self.context.is_last(manifest.levels.len()) && !manifest.complete {
            manifest = self.compute(manifest)?;
        }
        let last = self.last(&self.own(&manifest)).map_err(Stopped::Alone)?;
        Ok((manifest, last))
    }

    fn compute(&self, base: Manifest) -> Result<Manifest, Stopped> {
        let disk = self.context.disk;
        let (every, limit) = match self.outbox {
            None => (disk.commit_every, disk.limit),
            Some(_) => (NEVER, disk.limit.map(|l| l / self.communicator.size() as u64)),
        };
        let committer = Committer::start(disk.directories.clone(), self.own(&base), every, limit);
        let committer = committer.map_err(|e| Stopped::Alone(e.into()))?;
        let result = self.levels(&committer, &base);
        let closed = match self.outbox {
            // Whatever stopped the session, what it has finished is committed.
            None => committer.close(),
            Some(_) => committer.stop(),
        };
        let alone = |error: DiskError| Stopped::Alone(error.into());
        match result {
            Ok(committed) => closed.map(|own| committed.unwrap_or(own)).map_err(alone),
            // Nobody is told that nothing is lost when the last commit has failed.
            Err(Halt::Together(error)) => {
                Err(closed.map_or_else(alone, |_| Stopped::Together(error)))
            }
            // The first error is the cause; the writer may have failed for the same one.
            Err(Halt::Error(Error::Disk(error))) if closed.is_err() => {
                Err(alone(error.without_commit()))
            }
            Err(Halt::Error(error)) => Err(Stopped::Alone(error)),
            Err(Halt::Writer) => {
                let error = closed.expect_err("a writer that has failed says why");
                Err(Stopped::Alone(error.into()))
            }
        }
    }

    /// The manifest with nothing but this rank's chunks and what it adds to the sums of all.
    fn own(&self, manifest: &Manifest) -> Manifest {
        let mut own = manifest.clone();
        if self.outbox.is_none() {
            return own;
        }
        for files in &mut own.files {
            let mine = |record: &ChunkRecord| self.mine.binary_search(&(record.chunk as usize));
            files.chunks.retain(|record| mine(record).is_ok());
        }
        if self.communicator.rank() > 0 {
            own.bytes_written = 0;
        }
        own.peak_bytes = own.disk_bytes();
        own
    }

    /// Computes levels until there are no more, the last depth asked for, or a rank is interrupted. Returns
    /// the manifest that was committed, `None` for a process alone.
    fn levels(&self, committer: &Committer, base: &Manifest) -> Result<Option<Manifest>, Halt> {
        let context = self.context;
        let chunks = context.plan.chunks;
        let first = base.levels.len();
        // Those of even and of odd depths.
        let sides = [context.side(0)?, context.side(1)?];
        let problem = context.problem;
        let most = problem.groups.most();
        let mut cur = Frontier::empty(chunks.layout, most * chunks.blocks)?;
        let planes = context.crossings.most();
        let mut superstep = match self.outbox {
            None => Superstep::whole(chunks),
            Some(_) => Superstep::bounded(chunks, planes),
        };
        let own = self.own(base);
        let mut planes = self.planes(&own, superstep.chunks)?;
        let space = &context.problem.space;
        let counts = base.levels.iter().map(|level| level.states);
        let mut found = FoundLevels::after(space.subject().to_string(), space.states(), counts);
        let records = |depth: usize| {
            let files = own.files_of(depth as u32);
            files.map_or(Vec::new(), |files| files.chunks.clone())
        };
        let previous = first.checked_sub(2).map_or(Vec::new(), records);
        let mut levels = [previous, records(first - 1), records(first)];
        let mut committed = Instant::now();
        for depth in first.. {
            if context.is_last(depth) {
                break;
            }
            let begun = Instant::now();
            let [previous, current, done] = levels;
            let order = self.missing(depth, &done);
            let current = context.fetch_records(base.run, depth as u32 - 1, current);
            let left_out = context.left_out(&current, previous);
            let level = LevelStep {
                context,
                depth,
                side: &sides[(depth - 1) % 2],
                back: &sides[depth % 2],
                committer,
                current: &current,
                left_out: &left_out,
            };
            let most = self.communicator.max(order.len() as u64) as usize;
            let mut at = 0;
            while at < most {
                let started = Instant::now();
                let end = at + superstep.chunks;
                let now = &order[at.min(order.len())..end.min(order.len())];
                let mut whole = true;
                if !now.is_empty() {
                    let frames = left_out.parts.frames();
                    context.progress.superstep(at * frames, order.len() * frames);
                    let step = || level.chunks(now, &mut cur, &mut *planes);
                    whole = self.pool.install(step)?;
                }
                at = end;
                self.deliver()?;
                let stop = !whole || context.progress.stops_superstep();
                let mut news = [
                    started.elapsed().as_millis() as u64,
                    u64::from(stop),
                    u64::from(self.is_due(committed) && at < most),
                ];
                self.communicator.all_reduce(Reduce::Max, &mut news);
                superstep.adapt(Duration::from_millis(news[0]));
                if news[1] + news[2] > 0 {
                    self.commit(committer, base)?;
                    committed = Instant::now();
                }
                if news[1] > 0 {
                    return Err(self.interrupted(depth, found.states));
                }
            }
            let records = committer.finished(depth as u32)?;
            let mut sums = sums(&records);
            self.communicator.all_reduce(Reduce::Sum, &mut sums);
            let [states, checksum, _] = sums;
            // Before the level can be committed: what does not add up must not be called finished.
            let tally = Tally { states, checksum };
            let more =
                found.push(tally, begun, self.progress).map_err(|e| Halt::Together(e.into()))?;
            committer.level(sums)?;
            if !more {
                break;
            }
            if self.communicator.max(u64::from(self.is_due(committed))) > 0 {
                self.commit(committer, base)?;
                committed = Instant::now();
            }
            planes.next_level(depth as u32, problem.side(depth))?;
            levels = [current.records, records, Vec::new()];
        }
        self.commit(committer, base)
    }

    /// What ends all ranks when one of them was told to stop.
    pub(crate) fn interrupted(&self, depth: usize, states: u64) -> Halt {
        let directory = self.context.disk.directories.first().name();
        let error = DiskError::Interrupted { directory, depth, states };
        Halt::Together(error.into())
    }

    /// The chunks of a level that this rank has still to compute, in order.
    fn missing(&self, depth: usize, done: &[ChunkRecord]) -> Vec<usize> {
        let done: HashSet<usize> = done.iter().map(|record| record.chunk as usize).collect();
        let mine = self.mine.iter().copied();
        let mut order: Vec<usize> = mine.filter(|chunk| !done.contains(chunk)).collect();
        if depth.is_multiple_of(2) {
            // There and back again: the chunks written last are still in the system's cache.
            order.reverse();
        }
        order
    }

    /// Brings what was sent to its ranks.
    pub(crate) fn deliver(&self) -> Result<(), Halt> {
        if let Some(outbox) = &self.outbox {
            outbox.deliver(self.communicator)?;
        }
        Ok(())
    }

    /// Whether all ranks should commit; rank 0 has the clock.
    fn is_due(&self, committed: Instant) -> bool {
        let every = self.context.disk.commit_every;
        self.outbox.is_some() && self.communicator.rank() == 0 && committed.elapsed() >= every
    }

    /// Makes everything that all ranks have finished the state to continue from. The writer of a process
    /// alone does so itself.
    fn commit(&self, committer: &Committer, base: &Manifest) -> Result<Option<Manifest>, Halt> {
        if self.outbox.is_none() {
            return Ok(None);
        }
        let own = committer.sync()?;
        let first = self.context.disk.directories.first();
        let mut parts = Vec::new();
        for part in self.communicator.all_gather(own.text().into_bytes()) {
            let part = Manifest::parse(&part);
            parts.push(part.map_err(|e| first.error("manifest", std::io::Error::other(e)))?);
        }
        let manifest = merge(parts, base);
        // Before the others remove anything: rank 0 does not come on without its manifest.
        if self.communicator.rank() == 0 {
            manifest.write(first)?;
        }
        self.communicator.barrier();
        committer.supersede()?;
        Ok(Some(manifest))
    }

    /// The states of the last level on rank 0, at most as many as asked for.
    fn last(&self, own: &Manifest) -> Result<Vec<State>, Error> {
        let mine = self.pool.install(|| self.context.last(own))?;
        let bytes = mine.iter().flat_map(|state| {
            let cell = (state.cell as u64).to_le_bytes();
            state.line.to_le_bytes().into_iter().chain(cell)
        });
        let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let mut states = Vec::new();
        for part in self.communicator.gather(bytes.collect()) {
            let numbers = part.as_chunks().0.as_chunks().0.iter();
            states.extend(
                numbers
                    .map(|[line, cell]| State { line: number(line), cell: number(cell) as usize }),
            );
        }
        states.sort_unstable_by_key(|state| (self.context.problem.seat(*state).group, *state));
        states.truncate(self.context.search.keep_last);
        Ok(states)
    }
}

/// The manifest of all ranks: rank 0's, with the files of the others.
fn merge(parts: Vec<Manifest>, base: &Manifest) -> Manifest {
    let mut files = BTreeMap::<u32, Vec<ChunkRecord>>::new();
    let (mut written, mut peak) = (0, 0);
    for part in &parts {
        for level in &part.files {
            files.entry(level.depth).or_default().extend(level.chunks.iter().cloned());
        }
        written += part.bytes_written;
        peak += part.peak_bytes;
    }
    let files = files.into_iter().filter(|(_, chunks)| !chunks.is_empty());
    let files = files.map(|(depth, chunks)| LevelFiles { depth, chunks }).collect();
    Manifest {
        files,
        bytes_written: written,
        peak_bytes: base.peak_bytes.max(peak),
        ..parts[0].clone()
    }
}

/// States, checksum and bytes of chunks.
fn sums(records: &[ChunkRecord]) -> [u64; 3] {
    records.iter().fold([0; 3], |[states, checksum, bytes], record| {
        [
            states.wrapping_add(record.states),
            checksum.wrapping_add(record.checksum),
            bytes + record.bytes,
        ]
    })
}

// One level of a session, chunk by chunk, with the readers running ahead.
//
// Invariant: the readers send the chunks in the order in which they are computed.

/// One level of a session.
pub(crate) struct LevelStep<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) depth: usize,
    pub(crate) side: &'a HalfStep,
    /// The step of the other side.
    pub(crate) back: &'a HalfStep,
    pub(crate) committer: &'a Committer,
    pub(crate) current: &'a Fetch<'a>,
    /// What is left out: the previous level, or the states seen; its files have the parts of those that are written.
    pub(crate) left_out: &'a Fetch<'a>,
}

/// Batches of the previous level that may wait: they are used at once.
const PREVIOUS_AHEAD: usize = 32;

impl LevelStep<'_> {
    /// Computes chunks in order; returns false when told to stop before the last.
    pub(crate) fn chunks(
        &self,
        order: &[usize],
        cur: &mut Frontier,
        planes: &mut dyn Planes,
    ) -> Result<bool, Halt> {
        let (run, parts) = (self.context, self.left_out.parts);
        std::thread::scope(|scope| {
            let (currents, current) = reader::channel();
            let (previouses, previous) = reader::channel();
            let read = move || self.current.run(order, run.plan.read_ahead, &currents);
            Builder::new().spawn_scoped(scope, read).map_err(no_thread)?;
            let read = move || self.left_out.run(order, PREVIOUS_AHEAD, &previouses);
            Builder::new().spawn_scoped(scope, read).map_err(no_thread)?;
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
                self.committer.begin(written.header(chunk, self.context.codec))?;
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
                let step = chunk::ChunkStep {
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

// The planes of a session, filled from the level files.
//
// Invariant: after this, the planes hold the bits of the current level for the chunks that are still to
// be computed, and the bits of the next level from those that are done: what they would hold had the
// session never been interrupted.

/// Batches that may wait.
const AHEAD: usize = 32;

impl<'a> Session<'a> {
    /// Returns the planes for the step to the first level that is not finished, from this rank's files;
    /// `most` chunks between two deliveries.
    pub(crate) fn planes(&self, own: &Manifest, most: usize) -> Result<Box<dyn Planes + 'a>, Halt> {
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
        let leaving: Vec<_> = groups.map(|group| leaving(self.crossings, side, group)).collect();
        std::thread::scope(|scope| {
            let (sender, receiver) = reader::channel();
            let read = move || files.run(order, AHEAD, &sender);
            Builder::new().spawn_scoped(scope, read).map_err(no_thread)?;
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
