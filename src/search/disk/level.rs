//! The levels of a session: the same loop for a single process and for the ranks of a job.
//!
//! Invariant: all ranks have the same list of finished levels and make the same decisions, because every decision
//! follows from sums and maxima over all ranks. The files of all ranks are synced before rank 0 writes the manifest,
//! and superseded files are removed only after that. A single process leaves its commits to its writer, which makes
//! them in the same order while the search continues.

use std::{
    collections::{BTreeMap, HashSet},
    time::{Duration, Instant},
};

use rayon::ThreadPool;

use crate::{
    Error,
    frontier::FoundLevels,
    kernel::{Kernel, Tally},
    perm::LANES,
    progress::{Meter, Phase, Progress},
    puzzle::State,
    search::{
        Communicator, Frontier, PlaneStore, Reduce, Search, SearchError, SearchProblem,
        disk::{
            ChunkHalo, Committer, Disk, DiskRun, Exchange, Halo, Level, RunFiles, SENT, WholeHalo,
            Writer, agreed, half_step, reader::total, restore,
        },
        states_of,
    },
    stop::Stop,
    store::{ChunkRecord, LevelFiles, Manifest, Storage, StorageError},
    threads::pool,
};

/// The data that a search needs before it examines its directories.
pub(crate) struct DiskJob<'a> {
    pub search: &'a Search,
    pub disk: &'a Disk,
    pub communicator: &'a dyn Communicator,
    pub progress: &'a dyn Progress,
    pub problem: SearchProblem,
    pub kernel: Kernel,
    pub pool: ThreadPool,
}

impl<'a> DiskJob<'a> {
    pub fn new(
        search: &'a Search,
        disk: &'a Disk,
        communicator: &'a dyn Communicator,
        progress: &'a dyn Progress,
    ) -> Result<DiskJob<'a>, Error> {
        let problem = SearchProblem::chunked(&search.space)?;
        let kernel = search.resources.choose_kernel()?;
        let pool = pool(search.resources.threads)?;
        Ok(DiskJob { search, disk, communicator, progress, problem, kernel, pool })
    }
}

/// The work of a rank once the run is known.
pub(crate) struct Session<'a> {
    pub job: &'a DiskJob<'a>,
    pub run: &'a DiskRun<'a>,
    pub owners: Vec<usize>,
}

/// Number of bytes sent from a rank for the step to each depth.
type Sent = BTreeMap<u32, u64>;

impl<'a> Session<'a> {
    /// Computes what is missing. Returns the manifest of all ranks; on rank 0, the states of the last level, as many as
    /// requested; and the number of bytes sent from this rank for the step to each depth.
    pub fn run(&self, mut manifest: Manifest) -> Result<(Manifest, Vec<State>, Sent), Stop> {
        self.job.progress.continued(manifest.levels.len() - 1, manifest.states());
        let mut sent = Sent::new();
        let is_last = self.job.search.max_depth.is_some_and(|most| manifest.levels.len() > most);
        if !is_last && !manifest.complete {
            (manifest, sent) = self.compute(manifest)?;
        }
        let last = self.last(&self.own(&manifest)).map_err(Stop::Alone)?;
        Ok((manifest, last, sent))
    }

    fn is_mine(&self, chunk: usize) -> bool {
        self.owners[chunk] == self.job.communicator.rank()
    }

    fn compute(&self, base: Manifest) -> Result<(Manifest, Sent), Stop> {
        let ranks = self.job.communicator.size();
        let committer = Committer::start(self.job.disk, self.own(&base), ranks)?;
        let result = self.levels(&committer, &base);
        // Whatever stopped the session, its finished work is committed.
        let closed = if self.run.alone { committer.close() } else { committer.stop() };
        match (result, closed) {
            (Ok((committed, sent)), Ok(own)) => Ok((committed.unwrap_or(own), sent)),
            (Err(Stop::Alone(Error::Search(SearchError::Unwritten))), Err(error)) => {
                Err(error.into())
            }
            // The first error is the cause; the writer may have failed for the same one.
            (Err(Stop::Alone(Error::Search(error))), Err(_)) => Err(error.without_commit().into()),
            // Even after an interruption: if the last commit has failed, something is lost.
            (Ok(_) | Err(Stop::Together(_)), Err(error)) => Err(error.into()),
            (Err(stop), _) => Err(stop),
        }
    }

    fn own(&self, manifest: &Manifest) -> Manifest {
        own(manifest, self.job.communicator, |chunk| self.is_mine(chunk))
    }

    /// Computes levels until there are no more, the last requested depth is reached, or a rank is interrupted. Returns
    /// the manifest that was committed, or `None` for a single process.
    fn levels(
        &self,
        committer: &Committer,
        base: &Manifest,
    ) -> Result<(Option<Manifest>, Sent), Stop> {
        let (run, problem) = (self.run, self.run.files.problem);
        let (chunks, communicator) = (run.plan.chunks, self.job.communicator);
        let step = |depth| half_step(problem, &run.crossings, depth);
        // Those from even and from odd depths.
        let steps = [step(0)?, step(1)?];
        let mut cur = Frontier::empty(chunks.layout, problem.groups.most() * chunks.blocks)?;
        // A single process does not exchange anything: its supersteps are complete levels. Those of others are limited
        // by the bits that a rank may send.
        let sent = (run.crossings.most() * chunks.registers() * 8).max(1) as u64;
        let bounded = (SENT / sent).clamp(1, chunks.count as u64) as usize;
        let largest = if run.alone { chunks.count } else { bounded };
        let mut superstep = largest;
        let own = self.own(base);
        let mut halo = self.halo(&own, largest)?;
        let all = Some(problem.space.numbered_states());
        let mut found = FoundLevels::after(&problem.space, all, (base.levels.clone(), false));
        let records = |depth: usize| own.records(depth as u32);
        let mut records =
            [2, 1, 0].map(|before| found.depth().checked_sub(before).map_or(Vec::new(), records));
        let mut committed = Instant::now();
        found.drive(self.job.search.max_depth, run.progress, |found| {
            let depth = found.depth();
            let [previous, current, done] = std::mem::take(&mut records);
            let order = self.missing(depth, &done);
            let current = run.files.level(depth as u32 - 1, current);
            let left_out = run.files.left_out(&current, previous);
            let (step, back) = (&steps[(depth - 1) % 2][..], &steps[depth % 2][..]);
            let most = communicator.max(order.len() as u64) as usize;
            let frames = (order.len() * left_out.parts.frames()) as u64;
            let meter = Meter::new(run.progress, Phase::Search(depth), 0, frames);
            let level =
                Level { run, depth, step, back, committer, current, left_out, order, meter };
            let mut at = 0;
            while at < most {
                let started = Instant::now();
                let end = at + superstep;
                let own = level.order.len();
                let now = at.min(own)..end.min(own);
                let whole = now.is_empty()
                    || self.job.pool.install(|| level.chunks(now, &mut cur, &mut *halo))?;
                at = end;
                halo.deliver(communicator)?;
                let stop = !whole || run.stops_superstep();
                let due = at < most && self.is_due(committed);
                let mut news =
                    [started.elapsed().as_millis() as u64, u64::from(stop), u64::from(due)];
                communicator.all_reduce(Reduce::Max, &mut news);
                // All ranks know the maximum of their times.
                match Duration::from_millis(news[0]) {
                    _ if run.alone => {}
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
            let finished =
                committer.ask(move |writer| Ok(writer.manifest.records(depth as u32)))?;
            let Tally { states, checksum } = total(finished.iter()).tally;
            let mut sums = [states, checksum, finished.iter().map(|record| record.bytes).sum()];
            communicator.all_reduce(Reduce::Sum, &mut sums);
            let [states, checksum, bytes] = sums;
            // Before the level can be committed: a level with inconsistent counts must not be recorded as finished.
            found.check(states).map_err(|e| Stop::Together(e.into()))?;
            let tally = Tally { states, checksum };
            let ended = committer.ask(move |writer| writer.level(tally, None, bytes, true))?;
            committer.tell(Writer::commit_if_due)?;
            if states > 0 {
                if communicator.max(u64::from(self.is_due(committed))) > 0 {
                    self.commit(committer, base)?;
                    committed = Instant::now();
                }
                halo.next_level(depth as u32, problem.side(depth))?;
                records = [level.current.records, finished, Vec::new()];
            }
            Ok::<_, Stop>(ended)
        })?;
        Ok((self.commit(committer, base)?, halo.sent()))
    }

    /// The reason why all ranks end after one of them was interrupted.
    fn interrupted(&self, depth: usize, states: u64) -> Stop {
        let resume = self.job.disk.directories.resume(self.job.search.max_depth, 0);
        Stop::Together(SearchError::Paused { resume, depth, states }.into())
    }

    /// The chunks of a level that this rank still has to compute, in order.
    fn missing(&self, depth: usize, done: &[ChunkRecord]) -> Vec<usize> {
        let done: HashSet<usize> = done.iter().map(|record| record.chunk as usize).collect();
        let missing = |&chunk: &usize| self.is_mine(chunk) && !done.contains(&chunk);
        let mut order: Vec<usize> = (0..self.owners.len()).filter(missing).collect();
        if depth.is_multiple_of(2) {
            // In alternating order: the chunks written last are still in the system's cache.
            order.reverse();
        }
        order
    }

    /// Whether all ranks should commit; rank 0 has the clock.
    fn is_due(&self, committed: Instant) -> bool {
        let every = self.job.disk.commit_every;
        !self.run.alone && self.job.communicator.rank() == 0 && committed.elapsed() >= every
    }

    /// Commits everything that all ranks have finished, as the state to continue from. The writer of a single process
    /// does this itself.
    fn commit(&self, committer: &Committer, base: &Manifest) -> Result<Option<Manifest>, Stop> {
        if self.run.alone {
            return Ok(None);
        }
        let own = committer.ask(|writer| {
            writer.sync()?;
            Ok(writer.manifest.clone())
        })?;
        let (first, communicator) = (self.job.disk.directories.first(), self.job.communicator);
        let parts = communicator.gather(own.text().into_bytes());
        // Before the others remove anything: rank 0 does not continue without its manifest.
        let merged = (communicator.rank() == 0).then(|| {
            let merged = merge(&parts, base, first)?;
            merged.write(first).map(|()| merged)
        });
        let manifest = shared(communicator, merged.transpose()?.as_ref());
        let manifest = manifest.map_err(|stop| Stop::Together(stop.into_error()))?;
        committer.tell(Writer::supersede)?;
        Ok(Some(manifest))
    }

    /// Returns the halo for the step to the first unfinished level, from this rank's files; `most` is the maximum
    /// number of chunks between two deliveries. It contains the bits of the current level for the chunks that are still
    /// to be computed, and the bits of the next level from those that are done: what it would contain if the session
    /// had never been interrupted.
    fn halo(&self, own: &Manifest, most: usize) -> Result<Box<dyn Halo + 'a>, Stop> {
        let run: &'a DiskRun<'a> = self.run;
        let depth = own.levels.len();
        let side = run.files.problem.side(depth - 1);
        let mut halo: Box<dyn Halo + 'a> = if run.alone && run.plan.planes == PlaneStore::Memory {
            Box::new(WholeHalo::new(&run.crossings, side)?)
        } else {
            let mut exchange = Exchange::new(self.job.communicator, self.owners.clone());
            if run.alone {
                let disk = self.job.disk;
                exchange = exchange.in_files(&disk.directories, own.run, disk.limit);
            }
            Box::new(ChunkHalo::new(&run.crossings, side, exchange)?)
        };
        let levels = [depth - 1, depth]
            .map(|depth| run.files.level(depth as u32, own.records(depth as u32)));
        let total: usize = levels.iter().map(|level| level.records.len()).sum();
        let meter = Meter::new(run.progress, Phase::Resume, 0, total as u64);
        for level in &levels {
            let order: Vec<usize> = level.records.iter().map(|r| r.chunk as usize).collect();
            let all = self.job.communicator.max(order.len() as u64) as usize;
            for at in (0..all).step_by(most) {
                let now = &order[at.min(order.len())..(at + most).min(order.len())];
                let whole =
                    self.job.pool.install(|| restore(run, level, now, &mut *halo, &meter))?;
                halo.deliver(self.job.communicator)?;
                // The ranks synchronize after each superstep: only here can they stop together.
                let stop = !whole || run.stops_superstep();
                if self.job.communicator.max(u64::from(stop)) > 0 {
                    return Err(self.interrupted(depth, own.states()));
                }
            }
        }
        Ok(halo)
    }

    /// The states of the last level on rank 0, at most the number requested.
    fn last(&self, own: &Manifest) -> Result<Vec<State>, Error> {
        let run = self.run;
        let keep_last = self.job.search.keep_last;
        let mine = self.job.pool.install(|| last(&run.files, own, keep_last))?;
        let mine: Vec<_> = mine.iter().map(|state| (state.line, state.cell)).collect();
        let bytes = serde_json::to_vec(&mine).expect("numbers have a JSON form");
        let parts = self.job.communicator.gather(bytes);
        // Only the first rank receives any.
        let read = |part: &Vec<u8>| serde_json::from_slice::<Vec<_>>(part).unwrap_or_default();
        let states = parts.iter().flat_map(read);
        let mut states: Vec<State> = states.map(|(line, cell)| State { line, cell }).collect();
        let problem = run.files.problem;
        states.sort_unstable_by_key(|state| (problem.seat(*state).group, *state));
        states.truncate(keep_last);
        Ok(states)
    }
}

/// The states of the last level in the chunks of a manifest, at most the number requested.
fn last(files: &RunFiles, manifest: &Manifest, limit: usize) -> Result<Vec<State>, Error> {
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
            if !frame.seen {
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

/// The manifest with only this rank's chunks and its contribution to the global sums.
pub(crate) fn own(
    manifest: &Manifest,
    communicator: &dyn Communicator,
    is_mine: impl Fn(usize) -> bool,
) -> Manifest {
    let mut own = manifest.clone();
    for files in &mut own.files {
        files.chunks.retain(|record| is_mine(record.chunk as usize));
    }
    if communicator.rank() > 0 {
        own.bytes_written = 0;
    }
    if communicator.size() > 1 {
        own.peak_bytes = own.disk_bytes();
    }
    own
}

/// The manifest of all ranks, given as a text for each: that of rank 0, with the files of the others.
pub(crate) fn merge(
    texts: &[impl AsRef<[u8]>],
    base: &Manifest,
    first: &dyn Storage,
) -> Result<Manifest, StorageError> {
    let parts = texts.iter().map(|text| Manifest::parse(text.as_ref()));
    let parts: Result<Vec<Manifest>, _> = parts.collect();
    let parts = parts.map_err(|error| first.error("manifest", std::io::Error::other(error)))?;
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
    let peak_bytes = base.peak_bytes.max(peak);
    Ok(Manifest { files, bytes_written: written, peak_bytes, ..parts[0].clone() })
}

/// Returns rank 0's manifest on all ranks.
pub(crate) fn shared(
    communicator: &dyn Communicator,
    manifest: Option<&Manifest>,
) -> Result<Manifest, Stop> {
    let text = manifest.map_or(Vec::new(), |manifest| manifest.text().into_bytes());
    let read = Manifest::parse(&communicator.broadcast(text));
    let wrong = |reason| SearchError::Elsewhere {
        rank: communicator.rank(),
        reason: format!("this rank cannot read the manifest that rank 0 sends: {reason}"),
    };
    agreed(communicator, read.map_err(wrong))
}

// How long ranks compute between exchanges, and what they report meanwhile.
//
// Invariant: all ranks have supersteps of the same size, because the size follows from the maximum time of all ranks.

/// A superstep that takes longer than this is followed by a smaller one: only between supersteps can a search with
/// several ranks be stopped and committed.
const LONG: Duration = Duration::from_secs(20);

/// A superstep that takes less than this is followed by a larger one.
const SHORT: Duration = Duration::from_secs(5);
