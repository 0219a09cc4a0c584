//! The session of one rank: its own chunks level by level, and what all ranks do when they meet.
//!
//! Invariant: all ranks hold the same list of finished levels and take the same decisions, because every
//! decision follows from sums and maxima over all ranks. Level files, manifest and the order of a commit
//! are those of one machine: the files of all ranks are synced before rank 0 writes the manifest, and
//! superseded files go only after that.

use std::time::{Duration, Instant};

use rayon::ThreadPool;

use super::journal::{Journal, NEVER};
use super::level::LevelStep;
use super::mail::Mail;
use super::pace::{Pace, Shown};
use super::{DiskError, Halt, Run};
use crate::Error;
use crate::bfs::exchange::RoutedPlanes;
use crate::bfs::expand::Frontier;
use crate::bfs::planes::Planes;
use crate::bfs::search::Found;
use crate::bfs::team::{Stopped, Team};
use crate::bfs::{Level, Observer, State};
use crate::perm::kernel::Tally;
use crate::store::{ChunkRecord, LevelFiles, LevelRecord, Manifest};

/// What a rank does in a search of several.
pub(super) struct Session<'a> {
    pub run: &'a Run<'a>,
    pub team: &'a dyn Team,
    pub pool: &'a ThreadPool,
    pub observer: &'a dyn Observer,
    pub shown: &'a Shown<'a>,
    pub mail: Mail,
    /// The chunks of this rank.
    pub mine: Vec<usize>,
    pub begun: Instant,
    /// The manifest that the session found.
    pub base: Manifest,
}

/// Why the levels ended early.
enum End {
    Halt(Halt),
    Together(Error),
}

impl<E: Into<Halt>> From<E> for End {
    fn from(halt: E) -> End {
        End::Halt(halt.into())
    }
}

impl Session<'_> {
    /// Computes what is missing and returns what is there, with the manifest of all ranks.
    pub fn run(&self, mut manifest: Manifest) -> Result<(Found, Manifest), Stopped> {
        let mut found = Found {
            counts: manifest.levels.iter().map(|level| level.states).collect(),
            ..Found::default()
        };
        let states = found.counts.iter().sum();
        self.observer.continued(found.counts.len() - 1, states);
        let mut local = self.local(&manifest);
        if !self.run.is_last(manifest.levels.len()) && !manifest.complete {
            let directories = self.run.disk.directories.clone();
            let ranks = self.team.size() as u64;
            let limit = self.run.disk.limit.map(|limit| limit / ranks);
            let journal = Journal::start(directories, local.clone(), NEVER, limit);
            let result = self.levels(&local, &journal, &mut manifest, &mut found);
            let stopped = journal.stop();
            match result {
                Ok(()) => local = stopped.map_err(|e| Stopped::Alone(e.into()))?,
                Err(End::Together(error)) => return Err(Stopped::Together(error)),
                Err(End::Halt(Halt::Error(error))) => return Err(Stopped::Alone(error)),
                Err(End::Halt(Halt::Writer)) => {
                    let error = stopped.expect_err("a writer that has failed says why");
                    return Err(Stopped::Alone(error.into()));
                }
            }
            local.levels.clone_from(&manifest.levels);
        }
        found.complete = manifest.complete;
        found.last = self.last(&local).map_err(Stopped::Alone)?;
        Ok((found, manifest))
    }

    /// The manifest with nothing but this rank's chunks, and without what other sessions have written.
    fn local(&self, manifest: &Manifest) -> Manifest {
        let mut local = manifest.clone();
        for files in &mut local.files {
            let own = |record: &ChunkRecord| self.mine.binary_search(&(record.chunk as usize));
            files.chunks.retain(|record| own(record).is_ok());
        }
        local.bytes_written = 0;
        local.peak_bytes = local.disk_bytes();
        local
    }

    /// Computes levels until there are no more, the last depth asked for, or an observer interrupts.
    fn levels(
        &self,
        local: &Manifest,
        journal: &Journal,
        manifest: &mut Manifest,
        found: &mut Found,
    ) -> Result<(), End> {
        let run = self.run;
        let chunks = run.fit.chunks;
        let programs = [run.program(0)?, run.program(1)?];
        let mut cur = Frontier::empty(chunks.layout, chunks.blocks)?;
        let depth = manifest.levels.len();
        let mut from = run.class_of(depth - 1);
        let mail = Box::new(self.mail.clone());
        let mut planes = RoutedPlanes::new(chunks, run.crossings, from, mail)?;
        let mut pace = Pace::new(run);
        self.rebuild(local, &mut planes, from, pace)?;
        let records = |depth: usize| {
            let files = local.files_of(depth as u32);
            files.map_or(Vec::new(), |files| files.chunks.clone())
        };
        let before = depth.checked_sub(2).map_or(Vec::new(), records);
        let mut levels = [before, records(depth - 1), records(depth)];
        let mut committed = Instant::now();
        for depth in depth.. {
            if run.is_last(depth) {
                break;
            }
            let begun = Instant::now();
            let [previous, current, done] = levels;
            let is_done = |chunk: &usize| done.iter().any(|r| r.chunk as usize == *chunk);
            let mut order: Vec<usize> = self.mine.iter().copied().filter(|c| !is_done(c)).collect();
            if depth % 2 == 0 {
                // There and back again: the chunks written last are still in the system's cache.
                order.reverse();
            }
            let mut most = [order.len() as u64];
            self.team.max(&mut most);
            let current = run.fetch_records(manifest.run, depth as u32 - 1, current);
            let previous =
                run.fetch_records(manifest.run, (depth as u32).saturating_sub(2), previous);
            let mut at = 0;
            while at < most[0] as usize {
                let round = Instant::now();
                let end = at + pace.chunks;
                let now = &order[at.min(order.len())..end.min(order.len())];
                if !now.is_empty() {
                    let level = LevelStep {
                        run,
                        depth,
                        from,
                        program: &programs[from],
                        journal,
                        current: &current,
                        previous: &previous,
                        states: found.counts.iter().sum(),
                    };
                    let frames = chunks.frames();
                    self.shown.round(at * frames, order.len() * frames);
                    let computed = self
                        .pool
                        .install(|| level.chunks(now, &mut cur, &mut planes, &mut |_, _| {}));
                    computed?;
                }
                at = end;
                self.mail.deliver(self.team)?;
                let due = self.team.rank() == 0 && committed.elapsed() >= run.disk.commit_every;
                let mut news = [
                    round.elapsed().as_millis() as u64,
                    u64::from(self.observer.interrupted()),
                    u64::from(due),
                ];
                self.team.max(&mut news);
                pace.adapt(Duration::from_millis(news[0]));
                let inside = at < most[0] as usize;
                if news[1] > 0 || (news[2] > 0 && inside) {
                    manifest.level_seconds = self.base_level_seconds(depth) + seconds(begun);
                    self.commit(journal, manifest)?;
                    committed = Instant::now();
                }
                if news[1] > 0 {
                    let error = DiskError::Interrupted {
                        directory: self.first().name(),
                        depth,
                        states: found.counts.iter().sum(),
                    };
                    return Err(End::Together(error.into()));
                }
            }
            let records = journal.finished(depth as u32)?;
            let mut sums = sums(&records);
            self.team.sum(&mut sums);
            let [states, checksum, bytes] = sums;
            let spent = self.base_level_seconds(depth) + seconds(begun);
            manifest.level_seconds = 0.0;
            if states == 0 {
                manifest.complete = true;
                break;
            }
            manifest.levels.push(LevelRecord {
                states,
                checksum,
                seconds: spent,
                bytes,
            });
            let level = Level {
                depth,
                states,
                checksum,
                seconds: spent,
            };
            found.push(level, self.observer);
            let due = self.team.rank() == 0 && committed.elapsed() >= run.disk.commit_every;
            let mut due = [u64::from(due)];
            self.team.max(&mut due);
            if due[0] > 0 {
                self.commit(journal, manifest)?;
                committed = Instant::now();
            }
            from = 1 - from;
            planes.next_level(depth as u32, from)?;
            levels = [current.records, records, Vec::new()];
        }
        self.commit(journal, manifest)
    }

    /// Seconds that other sessions have spent on a level.
    fn base_level_seconds(&self, depth: usize) -> f64 {
        if depth == self.base.levels.len() {
            self.base.level_seconds
        } else {
            0.0
        }
    }

    /// Fills the mail from the level files: what it would hold had the session never been interrupted.
    fn rebuild(
        &self,
        local: &Manifest,
        planes: &mut RoutedPlanes,
        from: usize,
        pace: Pace,
    ) -> Result<(), End> {
        let depth = local.levels.len() as u32;
        for (depth, class) in [(depth - 1, from), (depth, 1 - from)] {
            let fetch = self.run.fetch(local, depth);
            let mut most = [fetch.records.len() as u64];
            self.team.max(&mut most);
            let mut rest = &fetch.records[..];
            for _ in 0..(most[0] as usize).div_ceil(pace.chunks) {
                let (now, later) = rest.split_at(pace.chunks.min(rest.len()));
                rest = later;
                for record in now {
                    let one = vec![record.clone()];
                    let one = self.run.fetch_records(local.run, depth, one);
                    let chunk = record.chunk as usize;
                    planes.open(chunk);
                    let filled = &*planes;
                    self.pool.install(|| {
                        self.run.each_chunk(
                            &one,
                            |_, _| Ok(()),
                            |plane, block, located, words| {
                                filled.outgoing(plane, block, located, Some(words));
                            },
                            class,
                        )
                    })?;
                    planes.send(depth + 1, chunk, class)?;
                }
                self.mail.deliver(self.team)?;
            }
        }
        Ok(())
    }

    /// Makes everything that all ranks have finished the state to continue from.
    fn commit(&self, journal: &Journal, manifest: &mut Manifest) -> Result<(), End> {
        let own = journal.sync()?;
        let part: Part = (own.files, own.bytes_written, own.peak_bytes);
        let part = serde_json::to_vec(&part).expect("numbers have a JSON form");
        let mut written = Ok(());
        manifest.seconds = self.base.seconds + seconds(self.begun);
        let parts = self.team.all(part);
        let parts: Vec<Part> = parts
            .iter()
            .map(|part| serde_json::from_slice(part))
            .collect::<Result<_, _>>()
            .map_err(|e| Halt::Error(DiskError::io(self.first(), "manifest", e.into()).into()))?;
        self.merge(manifest, parts);
        if self.team.rank() == 0 {
            written = manifest
                .write(self.first())
                .map_err(|e| DiskError::io(self.first(), "manifest", e));
        }
        // Before the others remove anything: rank 0 does not come here without its manifest.
        written.map_err(|e| Halt::Error(e.into()))?;
        self.team.barrier();
        journal.settle()?;
        Ok(())
    }

    fn first(&self) -> &dyn crate::store::Storage {
        self.run.disk.directories.first()
    }

    /// Puts the files of all ranks into the manifest.
    fn merge(&self, manifest: &mut Manifest, parts: Vec<Part>) {
        manifest.bytes_written = self.base.bytes_written;
        let mut peak = 0;
        let mut files = std::collections::BTreeMap::<u32, Vec<ChunkRecord>>::new();
        for (part, written, most) in parts {
            for level in part {
                files.entry(level.depth).or_default().extend(level.chunks);
            }
            manifest.bytes_written += written;
            peak += most;
        }
        manifest.peak_bytes = self.base.peak_bytes.max(peak);
        if manifest.complete {
            files.remove(&(manifest.levels.len() as u32));
        }
        manifest.files = files
            .into_iter()
            .filter(|(_, chunks)| !chunks.is_empty())
            .map(|(depth, chunks)| LevelFiles { depth, chunks })
            .collect();
    }

    /// The states of the last level on rank 0, at most as many as asked for.
    fn last(&self, local: &Manifest) -> Result<Vec<State>, Error> {
        let mut states = Vec::new();
        let mine = self.run.last(local)?;
        let bytes = mine.iter().flat_map(|state| {
            let cell = (state.cell as u64).to_le_bytes();
            state.line.to_le_bytes().into_iter().chain(cell)
        });
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
        for part in self.team.gather(bytes.collect()) {
            states.extend(part.chunks_exact(16).map(|state| State {
                line: number(&state[..8]),
                cell: number(&state[8..]) as usize,
            }));
        }
        states.sort_by_key(|state| (state.line, state.cell));
        states.truncate(self.run.search.keep_last);
        Ok(states)
    }
}

/// What a rank tells of its files: those there are, bytes written, most bytes at any time.
type Part = (Vec<LevelFiles>, u64, u64);

fn seconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64()
}

/// States, checksum and bytes of chunks.
fn sums(records: &[ChunkRecord]) -> [u64; 3] {
    let tally = records.iter().fold(Tally::default(), |sum, record| {
        sum.plus(Tally {
            states: record.states,
            checksum: record.checksum,
        })
    });
    let bytes = records.iter().map(|record| record.bytes).sum();
    [tally.states, tally.checksum, bytes]
}
