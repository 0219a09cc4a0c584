//! The levels of a session: the same loop for a process alone and for the ranks of a job.
//!
//! Invariant: all ranks hold the same list of finished levels and take the same decisions, because every
//! decision follows from sums and maxima over all ranks. The files of all ranks are synced before rank 0
//! writes the manifest, and superseded files go only after that. A process alone leaves its commits to its
//! writer, which makes them while the search goes on, in the same order.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use rayon::ThreadPool;

use crate::Error;
use crate::kernel::Tally;
use crate::perm::LANES;
use crate::progress::Progress;
use crate::puzzle::State;
use crate::search::disk::{
    ChunkHalo, Committer, DiskError, DiskRun, Exchange, FrameContent, Halo, Halt, Level, NEVER,
    Restored, SENT, Stopped, WholeHalo, Writer, half_step,
};
use crate::search::{Chunks, Communicator, FoundLevels, Frontier, PlaneStore, Reduce, states_of};
use crate::store::{ChunkRecord, LevelFiles, Manifest};

/// What a rank does in a session.
pub(crate) struct Session<'a> {
    pub run: &'a DiskRun<'a>,
    pub communicator: &'a dyn Communicator,
    pub pool: &'a ThreadPool,
    pub progress: &'a dyn Progress,
    /// The rank of each chunk.
    pub owners: Vec<usize>,
}

/// What a session has come to.
pub(crate) struct Reached {
    /// The manifest of all ranks.
    pub manifest: Manifest,
    /// On rank 0 the states of the last level, as many as asked for.
    pub last: Vec<State>,
    /// Bytes that left this rank for the step to each depth.
    pub sent: BTreeMap<u32, u64>,
}

impl<'a> Session<'a> {
    /// Computes what is missing.
    pub fn run(&self, mut manifest: Manifest) -> Result<Reached, Stopped> {
        let states = manifest.levels.iter().map(|level| level.states).sum();
        self.progress.continued(manifest.levels.len() - 1, states);
        let mut sent = BTreeMap::new();
        if !self.run.is_last(manifest.levels.len()) && !manifest.complete {
            manifest = self.compute(manifest, &mut sent)?;
        }
        let last = self.last(&self.own(&manifest)).map_err(Stopped::Alone)?;
        Ok(Reached { manifest, last, sent })
    }

    /// Whether there are no other ranks.
    fn is_alone(&self) -> bool {
        self.communicator.size() == 1
    }

    fn is_mine(&self, chunk: usize) -> bool {
        self.owners[chunk] == self.communicator.rank()
    }

    fn compute(&self, base: Manifest, sent: &mut BTreeMap<u32, u64>) -> Result<Manifest, Stopped> {
        let disk = self.run.disk;
        let (every, limit) = if self.is_alone() {
            (disk.commit_every, disk.limit)
        } else {
            (NEVER, disk.limit.map(|l| l / self.communicator.size() as u64))
        };
        let committer = Committer::start(disk.directories.clone(), self.own(&base), every, limit);
        let committer = committer.map_err(|e| Stopped::Alone(e.into()))?;
        let result = self.levels(&committer, &base, sent);
        // Whatever stopped the session, what it has finished is committed.
        let closed = if self.is_alone() { committer.close() } else { committer.stop() };
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
        if self.is_alone() {
            return own;
        }
        for files in &mut own.files {
            files.chunks.retain(|record| self.is_mine(record.chunk as usize));
        }
        if self.communicator.rank() > 0 {
            own.bytes_written = 0;
        }
        own.peak_bytes = own.disk_bytes();
        own
    }

    /// Computes levels until there are no more, the last depth asked for, or a rank is interrupted. Returns
    /// the manifest that was committed, `None` for a process alone.
    fn levels(
        &self,
        committer: &Committer,
        base: &Manifest,
        sent: &mut BTreeMap<u32, u64>,
    ) -> Result<Option<Manifest>, Halt> {
        let (run, problem) = (self.run, self.run.files.problem);
        let chunks = run.plan.chunks;
        let first = base.levels.len();
        let step = |depth| half_step(problem, &run.crossings, chunks, run.files.kernel, depth);
        // Those from even and from odd depths.
        let steps = [step(0)?, step(1)?];
        let mut cur = Frontier::empty(chunks.layout, problem.groups.most() * chunks.blocks)?;
        // A process alone meets nobody: its supersteps are whole levels.
        let bounded = || most_chunks(chunks, run.crossings.most());
        let largest = if self.is_alone() { chunks.count } else { bounded() };
        let mut superstep = largest;
        let own = self.own(base);
        let mut halo = self.halo(&own, largest)?;
        let counts = base.levels.iter().map(|level| level.states);
        let (puzzle, all) = (problem.space.to_string(), problem.space.numbered_states());
        let mut found = FoundLevels::after(puzzle, all, counts);
        let previous = first.checked_sub(2).map_or(Vec::new(), |depth| own.records(depth as u32));
        let [current, done] = [first - 1, first].map(|depth| own.records(depth as u32));
        let mut records = [previous, current, done];
        let mut committed = Instant::now();
        for depth in (first..).take_while(|&depth| !run.is_last(depth)) {
            let begun = Instant::now();
            let [previous, current, done] = records;
            let order = self.missing(depth, &done);
            let current = run.files.level(depth as u32 - 1, current);
            let left_out = run.files.left_out(&current, previous);
            let frames = left_out.parts.frames();
            let (step, back) = (&steps[(depth - 1) % 2][..], &steps[depth % 2][..]);
            let level = Level { run, depth, step, back, committer, current, left_out };
            let most = self.communicator.max(order.len() as u64) as usize;
            let mut at = 0;
            while at < most {
                let started = Instant::now();
                let end = at + superstep;
                let now = &order[at.min(order.len())..end.min(order.len())];
                let mut whole = true;
                if !now.is_empty() {
                    run.progress.superstep(at * frames, order.len() * frames);
                    whole = self.pool.install(|| level.chunks(now, &mut cur, &mut *halo))?;
                }
                at = end;
                halo.deliver(self.communicator)?;
                let stop = !whole || run.progress.stops_superstep();
                let due = at < most && self.is_due(committed);
                let mut news =
                    [started.elapsed().as_millis() as u64, u64::from(stop), u64::from(due)];
                self.communicator.all_reduce(Reduce::Max, &mut news);
                // All ranks know the longest time of any.
                match Duration::from_millis(news[0]) {
                    _ if self.is_alone() => {}
                    time if time > LONG => superstep = (superstep / 2).max(1),
                    time if time < SHORT => superstep = (superstep * 2).min(largest),
                    _ => {}
                }
                if news[1] + news[2] > 0 {
                    self.commit(committer, base)?;
                    committed = Instant::now();
                }
                if news[1] > 0 {
                    return Err(self.interrupted(depth, found.states));
                }
            }
            let finished = committer.finished(depth as u32)?;
            let mut sums = sums(&finished);
            self.communicator.all_reduce(Reduce::Sum, &mut sums);
            let [states, checksum, _] = sums;
            // Before the level can be committed: what does not add up must not be called finished.
            let more = found.push(Tally { states, checksum }, begun, self.progress);
            let more = more.map_err(|e| Halt::Together(e.into()))?;
            committer.ask(move |writer| writer.level(sums))?;
            committer.tell(Writer::commit_if_due)?;
            if !more {
                break;
            }
            if self.communicator.max(u64::from(self.is_due(committed))) > 0 {
                self.commit(committer, base)?;
                committed = Instant::now();
            }
            halo.next_level(depth as u32, problem.side(depth))?;
            records = [level.current.records, finished, Vec::new()];
        }
        *sent = halo.sent();
        self.commit(committer, base)
    }

    /// What ends all ranks when one of them was told to stop.
    fn interrupted(&self, depth: usize, states: u64) -> Halt {
        let directory = self.run.disk.directories.first().name();
        Halt::Together(DiskError::Interrupted { directory, depth, states }.into())
    }

    /// The chunks of a level that this rank has still to compute, in order.
    fn missing(&self, depth: usize, done: &[ChunkRecord]) -> Vec<usize> {
        let done: HashSet<usize> = done.iter().map(|record| record.chunk as usize).collect();
        let missing = |&chunk: &usize| self.is_mine(chunk) && !done.contains(&chunk);
        let mut order: Vec<usize> = (0..self.owners.len()).filter(missing).collect();
        if depth.is_multiple_of(2) {
            // There and back again: the chunks written last are still in the system's cache.
            order.reverse();
        }
        order
    }

    /// Whether all ranks should commit; rank 0 has the clock.
    fn is_due(&self, committed: Instant) -> bool {
        let every = self.run.disk.commit_every;
        !self.is_alone() && self.communicator.rank() == 0 && committed.elapsed() >= every
    }

    /// Makes everything that all ranks have finished the state to continue from. The writer of a process
    /// alone does so itself.
    fn commit(&self, committer: &Committer, base: &Manifest) -> Result<Option<Manifest>, Halt> {
        if self.is_alone() {
            return Ok(None);
        }
        let own = committer.ask(|writer| {
            writer.sync()?;
            Ok(writer.manifest.clone())
        })?;
        let first = self.run.disk.directories.first();
        let parts = self.communicator.all_gather(own.text().into_bytes());
        let parts = parts.iter().map(|part| {
            let part = Manifest::parse(part);
            part.map_err(|e| first.error("manifest", std::io::Error::other(e)))
        });
        let manifest = merge(parts.collect::<Result<_, _>>()?, base);
        // Before the others remove anything: rank 0 does not come on without its manifest.
        if self.communicator.rank() == 0 {
            manifest.write(first)?;
        }
        self.communicator.barrier();
        committer.tell(Writer::supersede)?;
        Ok(Some(manifest))
    }

    /// Returns the halo for the step to the first level that is not finished, from this rank's files; `most` chunks
    /// between two deliveries. It holds the bits of the current level for the chunks that are still to be computed, and
    /// the bits of the next level from those that are done: what it would hold had the session never been interrupted.
    fn halo(&self, own: &Manifest, most: usize) -> Result<Box<dyn Halo + 'a>, Halt> {
        let run: &'a DiskRun<'a> = self.run;
        let (chunks, crossings, kernel) = (run.plan.chunks, &run.crossings, run.files.kernel);
        let depth = own.levels.len();
        let side = run.files.problem.side(depth - 1);
        let exchange = match (self.is_alone(), run.plan.planes) {
            (true, PlaneStore::Memory) => None,
            (true, PlaneStore::Files) => {
                let disk = run.disk;
                Some(Exchange::of_files(&disk.directories, own.run, disk.limit))
            }
            (false, _) => Some(Exchange::of_ranks(self.communicator, self.owners.clone())),
        };
        let mut halo: Box<dyn Halo + 'a> = match exchange {
            None => Box::new(WholeHalo::new(chunks.layout, crossings, side, kernel)?),
            Some(exchange) => Box::new(ChunkHalo::new(chunks, crossings, side, kernel, exchange)?),
        };
        let levels = [depth - 1, depth]
            .map(|depth| run.files.level(depth as u32, own.records(depth as u32)));
        let total = levels.iter().map(|level| level.records.len()).sum();
        let mut restored = Restored { done: 0, total };
        for level in &levels {
            let order: Vec<usize> = level.records.iter().map(|r| r.chunk as usize).collect();
            let all = self.communicator.max(order.len() as u64) as usize;
            for at in (0..all).step_by(most) {
                let now = &order[at.min(order.len())..(at + most).min(order.len())];
                let whole = self.pool.install(|| restored.add(run, level, now, &mut *halo))?;
                halo.deliver(self.communicator)?;
                // The ranks meet after each superstep: only here can they stop together.
                let stop = !whole || run.progress.stops_superstep();
                if self.communicator.max(u64::from(stop)) > 0 {
                    let states = own.levels.iter().map(|level| level.states).sum();
                    return Err(self.interrupted(depth, states));
                }
            }
        }
        Ok(halo)
    }

    /// The states of the last level on rank 0, at most as many as asked for.
    fn last(&self, own: &Manifest) -> Result<Vec<State>, Error> {
        let run = self.run;
        let mine = self.pool.install(|| last(run, own))?;
        let bytes = mine.iter().flat_map(|state| {
            let cell = (state.cell as u64).to_le_bytes();
            state.line.to_le_bytes().into_iter().chain(cell)
        });
        let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let mut states = Vec::new();
        for part in self.communicator.gather(bytes.collect()) {
            let numbers = part.as_chunks().0.as_chunks().0.iter();
            let state = |[line, cell]: &[[u8; 8]; 2]| State {
                line: number(line),
                cell: number(cell) as usize,
            };
            states.extend(numbers.map(state));
        }
        let problem = run.files.problem;
        states.sort_unstable_by_key(|state| (problem.seat(*state).group, *state));
        states.truncate(run.search.keep_last);
        Ok(states)
    }
}

/// The states of the last level in the chunks that a manifest has, at most as many as asked for.
fn last(run: &DiskRun, manifest: &Manifest) -> Result<Vec<State>, Error> {
    let (files, limit) = (&run.files, run.search.keep_last);
    let Some(depth) = manifest.levels.len().checked_sub(1).filter(|_| limit > 0) else {
        return Ok(Vec::new());
    };
    let level = files.level(depth as u32, manifest.records(depth as u32));
    let class = files.problem.class(depth);
    let groups = &files.problem.groups.classes[class];
    // As in memory, group by group.
    let mut of = vec![Vec::new(); groups.len()];
    for chunk in 0..files.chunks.count {
        level.each_frame(chunk, &mut |frame, registers| {
            if frame.kind == FrameContent::Level {
                let lines = files.problem.first_line(class, frame.group);
                let first = lines + (frame.register * LANES) as u64;
                let (cells, states) = (&groups[frame.group].cells, &mut of[frame.group]);
                states_of(registers, first, cells, limit, states);
            }
            Ok(of[0].len() < limit)
        })?;
    }
    Ok(of.into_iter().flatten().take(limit).collect())
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

// How long ranks compute before they meet, and what they show meanwhile.
//
// Invariant: all ranks have supersteps of the same size, because it follows from the longest time of any
// rank.

/// A superstep that takes longer is followed by a smaller one: only between two can a search of several ranks
/// be stopped and committed.
const LONG: Duration = Duration::from_secs(20);

/// One that takes less is followed by a larger one.
const SHORT: Duration = Duration::from_secs(5);

/// How many chunks each rank computes at most in a superstep: as many as one may send bits of.
fn most_chunks(chunks: Chunks, planes: usize) -> usize {
    let chunk = (planes * chunks.registers() * 8) as u64;
    (SENT / chunk.max(1)).clamp(1, chunks.count as u64) as usize
}
