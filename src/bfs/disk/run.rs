//! A session of a run: writes level 0 where nothing is there, then computes level after level.
//!
//! Invariant: what is known of the files comes from the manifest that the session began with and from what
//! it has computed itself.

use std::time::{Duration, Instant};

use super::chunk::{self, Stop};
use super::fetch::Fetch;
use super::fit::Fit;
use super::journal::{self, Encoded, Journal};
use super::level::LevelStep;
use super::times::Times;
use super::{Disk, DiskError};
use crate::Error;
use crate::bfs::classes::Classes;
use crate::bfs::crossing::Crossings;
use crate::bfs::expand::{Frontier, states_of};
use crate::bfs::search::Found;
use crate::bfs::{Level, Observer, Search, SearchError, State};
use crate::perm::kernel::{Kernel, Program, Tally};
use crate::perm::layout::LANES;
use crate::store::{Encoder, LevelFiles, Manifest};

/// A session of a run.
pub(super) struct Run<'a> {
    pub(super) search: &'a Search,
    pub(super) disk: &'a Disk,
    pub(super) fit: Fit,
    pub(super) kernel: Kernel,
    pub(super) classes: &'a Classes,
    pub(super) crossings: &'a Crossings,
    pub(super) start: State,
    pub(super) label: String,
    pub(super) threads: usize,
    pub(super) times: Times,
    pub(super) codecs: chunk::Codecs,
    pub(super) observer: &'a dyn Observer,
}

impl Run<'_> {
    pub(super) fn run(&self, manifest: Manifest) -> Result<(Found, Manifest), Error> {
        let manifest = if manifest.levels.is_empty() {
            self.write_start(manifest)?
        } else {
            manifest
        };
        let mut found = Found {
            counts: manifest.levels.iter().map(|level| level.states).collect(),
            ..Found::default()
        };
        let states = found.counts.iter().sum();
        self.observer.continued(found.counts.len() - 1, states);
        found.complete = manifest.complete;
        let manifest = if self.is_last(manifest.levels.len()) || manifest.complete {
            manifest
        } else {
            let journal = Journal::start(
                self.disk.directories.clone(),
                manifest.clone(),
                self.disk.commit_every,
                self.disk.limit,
            );
            let result = self.levels(&manifest, &journal, &mut found);
            // Whatever stopped the session, what it has finished is committed.
            let manifest = journal.close();
            match result {
                Ok(()) => manifest?,
                Err(Halt::Writer) => {
                    manifest?;
                    unreachable!("a writer that has failed says why");
                }
                Err(Halt::Error(error)) => {
                    // The first error is the cause; the writer may have failed for the same one.
                    drop(manifest);
                    return Err(error);
                }
            }
        };
        found.last = self.last(&manifest)?;
        Ok((found, manifest))
    }

    /// Whether a depth is beyond the last one asked for.
    pub(super) fn is_last(&self, depth: usize) -> bool {
        self.search.max_depth.is_some_and(|max| depth > max)
    }

    /// Writes level 0.
    pub(super) fn write_start(&self, mut manifest: Manifest) -> Result<Manifest, Error> {
        // A session that was cut in the middle of this may have left its file.
        manifest.files.clear();
        let chunks = self.fit.chunks;
        let bit = self.classes.place(self.start.cell).1;
        let chunk = (self.start.line / chunks.lines()) as usize;
        let line = self.start.line % chunks.lines();
        let register = (line / LANES as u64) as usize;
        let frame = register / chunks.frame_registers();
        let first = frame * chunks.frame_registers();
        let count = chunks.frame_registers().min(chunks.registers() - first);
        let mut registers = vec![[0; 64]; count];
        registers[register - first][(line % LANES as u64) as usize] |= 1 << bit;
        let mut encoder = Encoder::new(self.disk.zstd_level);
        let bytes = encoder.encode(&registers);
        let mut encoded = Encoded::new(0, chunks.frames());
        encoded.push(frame, bytes.map_err(|reason| DiskError::Codec { reason })?);
        let global = self.start.line / LANES as u64;
        let lane = (self.start.line % LANES as u64) as usize;
        let tally = Tally {
            states: 1,
            checksum: crate::perm::checksum::state(global, lane, usize::from(bit)),
        };
        let header = self.fetch(&manifest, 0).header(chunk);
        let journal = Journal::start(
            self.disk.directories.clone(),
            manifest,
            Duration::ZERO,
            self.disk.limit,
        );
        let written = (|| {
            journal.begin(header)?;
            journal.frames(encoded)?;
            journal.end(tally)?;
            journal.level()
        })();
        let manifest = journal.close()?;
        written.expect("a writer that has failed says why");
        Ok(manifest)
    }

    /// The reader of a level, as far as the manifest knows it.
    pub(super) fn fetch(&self, manifest: &Manifest, depth: u32) -> Fetch<'_> {
        let files = manifest
            .files_of(depth)
            .map(|files: &LevelFiles| files.chunks.clone());
        self.fetch_records(manifest.run, depth, files.unwrap_or_default())
    }

    pub(super) fn fetch_records(
        &self,
        run: u64,
        depth: u32,
        records: Vec<crate::store::ChunkRecord>,
    ) -> Fetch<'_> {
        Fetch {
            directories: &self.disk.directories,
            chunks: self.fit.chunks,
            run,
            label: &self.label,
            depth,
            records,
            keep_all: self.disk.keep_all,
            threads: self.threads,
        }
    }

    /// Computes levels until there are no more, the last depth asked for, or the observer interrupts.
    pub(super) fn levels(
        &self,
        manifest: &Manifest,
        journal: &Journal,
        found: &mut Found,
    ) -> Result<(), Halt> {
        let chunks = self.fit.chunks;
        let programs = [0, 1].map(|from| self.program(from));
        let [even, odd] = programs;
        let programs = [even?, odd?];
        let mut cur = Frontier::empty(chunks.layout, chunks.blocks)?;
        let depth = manifest.levels.len();
        let mut from = self.class_of(depth - 1);
        let mut planes = self.rebuild(manifest, from)?;
        // What is known of the files: the level before the current one, the current, the one in progress.
        let records = |depth: u32| {
            manifest
                .files_of(depth)
                .map_or(Vec::new(), |f| f.chunks.clone())
        };
        let mut levels = [
            (depth as u32).checked_sub(2).map_or(Vec::new(), records),
            records(depth as u32 - 1),
            records(depth as u32),
        ];
        for depth in depth.. {
            if self.is_last(depth) {
                break;
            }
            let begun = Instant::now();
            let [previous, current, done] = &mut levels;
            let sum = |records: &[crate::store::ChunkRecord]| {
                records.iter().fold(Tally::default(), |sum, r| {
                    sum.plus(Tally {
                        states: r.states,
                        checksum: r.checksum,
                    })
                })
            };
            let mut tally = sum(done);
            let mut order: Vec<usize> = (0..chunks.count)
                .filter(|&c| done.iter().all(|r| r.chunk as usize != c))
                .collect();
            if depth % 2 == 0 {
                // There and back again: the chunks written last are still in the system's cache.
                order.reverse();
            }
            let run = manifest.run;
            let current_files = self.fetch_records(run, depth as u32 - 1, std::mem::take(current));
            let previous_depth = (depth as u32).saturating_sub(2);
            let previous_files = self.fetch_records(run, previous_depth, std::mem::take(previous));
            let level = LevelStep {
                run: self,
                depth,
                from,
                program: &programs[from],
                journal,
                current: &current_files,
                previous: &previous_files,
                states: found.counts.iter().sum(),
            };
            let computed = level.chunks(&order, &mut cur, &mut *planes, &mut |chunk, t| {
                tally = tally.plus(t);
                // Bytes are the writer's business: readers compare them with the manifest at rest.
                done.push(crate::store::ChunkRecord {
                    chunk: chunk as u32,
                    states: t.states,
                    checksum: t.checksum,
                    bytes: 0,
                });
            });
            computed?;
            journal.level()?;
            if tally.states == 0 {
                found.complete = true;
                break;
            }
            let level = Level {
                depth,
                states: tally.states,
                checksum: tally.checksum,
                seconds: begun.elapsed().as_secs_f64(),
            };
            found.push(level, self.observer);
            from = 1 - from;
            planes.next_level(depth as u32, from)?;
            levels = [current_files.records, std::mem::take(done), Vec::new()];
        }
        Ok(())
    }

    pub(super) fn program(&self, from: usize) -> Result<Program, Error> {
        let planes = &self.crossings.planes;
        let carried: Vec<Vec<(u8, u8)>> =
            planes.iter().map(|p| vec![(0, p.bits[1 - from])]).collect();
        let inner = &self.crossings.inner[from];
        let program = Program::with_carried(self.kernel, self.fit.chunks.layout, inner, &carried);
        Ok(program.map_err(SearchError::from)?)
    }

    /// The class of the states at a depth.
    pub(super) fn class_of(&self, depth: usize) -> usize {
        (self.classes.place(self.start.cell).0 + depth) % 2
    }

    /// The states of the last level, at most as many as asked for.
    pub(super) fn last(&self, manifest: &Manifest) -> Result<Vec<State>, Error> {
        let mut states = Vec::new();
        let limit = self.search.keep_last;
        let Some(depth) = manifest.levels.len().checked_sub(1).filter(|_| limit > 0) else {
            return Ok(states);
        };
        let fetch = self.fetch(manifest, depth as u32);
        let chunks = self.fit.chunks;
        let mut decoder = crate::store::Decoder::default();
        for chunk in 0..chunks.count {
            let Some(reader) = fetch.open(chunk)? else {
                continue;
            };
            for entry in 0..reader.index().len() {
                if states.len() >= limit {
                    return Ok(states);
                }
                let name = Manifest::file_name(depth as u32, chunk as u32);
                let storage = self.disk.directories.of_chunk(chunk);
                let frames = reader.read(entry..entry + 1);
                let frames = frames.map_err(|e| DiskError::io(storage, &name, e))?;
                let frame = frames.entries()[0].frame as usize;
                let first = frame * chunks.frame_registers();
                let count = chunks.frame_registers().min(chunks.registers() - first);
                let mut registers = vec![[0; 64]; count];
                let damaged = |reason: String| fetch.damaged(chunk, &reason);
                let bytes = frames.bytes(0).map_err(|e| damaged(e.to_string()))?;
                decoder
                    .decode(bytes, &mut registers)
                    .map_err(|reason| damaged(format!("{}: {reason}", frames.damaged(0))))?;
                let line = ((chunk * chunks.registers() + first) * LANES) as u64;
                let cells = self.classes.cells(self.class_of(depth));
                states_of(&registers, line, cells, limit, &mut states);
            }
        }
        Ok(states)
    }
}

/// Why the levels ended early.
pub(super) enum Halt {
    Error(Error),
    Writer,
}

impl<E: Into<Error>> From<E> for Halt {
    fn from(error: E) -> Halt {
        Halt::Error(error.into())
    }
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Halt {
        match stop {
            Stop::Error(error) => Halt::Error(error.into()),
            Stop::Writer => Halt::Writer,
        }
    }
}

impl From<journal::Failed> for Halt {
    fn from(_: journal::Failed) -> Halt {
        Halt::Writer
    }
}
