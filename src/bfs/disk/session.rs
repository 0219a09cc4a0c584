//! The levels of a session: the same loop for a process alone and for the ranks of a job.
//!
//! Invariant: all ranks hold the same list of finished levels and take the same decisions, because every
//! decision follows from sums and maxima over all ranks. The files of all ranks are synced before rank 0
//! writes the manifest, and superseded files go only after that. A process alone leaves its commits to its
//! writer, which makes them while the search goes on, in the same order.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use rayon::ThreadPool;

use super::committer::Committer;
use super::context::Context;
use super::error::DiskError;
use super::halt::{Halt, Stopped};
use super::level::LevelStep;
use super::message::NEVER;
use super::outbox::Outbox;
use super::superstep::Superstep;
use crate::Error;
use crate::bfs::communicator::{Communicator, Reduce};
use crate::bfs::expand::Frontier;
use crate::bfs::found::Found;
use crate::bfs::state::State;
use crate::perm::kernel::Tally;
use crate::progress::Progress;
use crate::store::{ChunkRecord, LevelFiles, Manifest};

/// What a rank does in a session.
pub(super) struct Session<'a> {
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
            Some(_) => (
                NEVER,
                disk.limit.map(|l| l / self.communicator.size() as u64),
            ),
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
        let mut found = Found::after(space.subject().to_string(), space.states(), counts);
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
                    context
                        .progress
                        .superstep(at * frames, order.len() * frames);
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
            let more = found
                .push(tally, begun, self.progress)
                .map_err(|e| Halt::Together(e.into()))?;
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
    pub(super) fn interrupted(&self, depth: usize, states: u64) -> Halt {
        let directory = self.context.disk.directories.first().name();
        let error = DiskError::Interrupted {
            directory,
            depth,
            states,
        };
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
    pub(super) fn deliver(&self) -> Result<(), Halt> {
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
        let wrong = |e| DiskError::io(first, "manifest", e);
        let mut parts = Vec::new();
        for part in self.communicator.all_gather(own.text().into_bytes()) {
            let part = Manifest::parse(&part).map_err(|e| wrong(std::io::Error::other(e)));
            parts.push(part?);
        }
        let manifest = merge(parts, base);
        // Before the others remove anything: rank 0 does not come on without its manifest.
        if self.communicator.rank() == 0 {
            manifest.write(first).map_err(wrong)?;
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
            states.extend(numbers.map(|[line, cell]| State {
                line: number(line),
                cell: number(cell) as usize,
            }));
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
            files
                .entry(level.depth)
                .or_default()
                .extend(level.chunks.iter().cloned());
        }
        written += part.bytes_written;
        peak += part.peak_bytes;
    }
    let files = files.into_iter().filter(|(_, chunks)| !chunks.is_empty());
    let files = files
        .map(|(depth, chunks)| LevelFiles { depth, chunks })
        .collect();
    Manifest {
        files,
        bytes_written: written,
        peak_bytes: base.peak_bytes.max(peak),
        ..parts[0].clone()
    }
}

/// States, checksum and bytes of chunks.
fn sums(records: &[ChunkRecord]) -> [u64; 3] {
    records
        .iter()
        .fold([0; 3], |[states, checksum, bytes], record| {
            [
                states.wrapping_add(record.states),
                checksum.wrapping_add(record.checksum),
                bytes + record.bytes,
            ]
        })
}
