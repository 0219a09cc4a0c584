//! What all workers of a session see.
//!
//! Invariant: nothing here changes during a session but times and codecs, which are shared by threads.

use std::time::Duration;

use crate::Error;
use crate::kernel::Kernel;
use crate::perm::layout::LANES;
use crate::puzzle::State;
use crate::search::disk::chunk::Codecs;
use crate::search::disk::directories::Disk;
use crate::search::disk::error::DiskError;
use crate::search::disk::half_step::{Half, HalfStep, Parts, RankProgress};
use crate::search::disk::memory_plan::MemoryPlan;
use crate::search::disk::reader::{Fetch, Times};
use crate::search::disk::writer::{Committer, EncodedFrames};
use crate::search::expander::states_of;
use crate::search::options::Search;
use crate::search::problem::{Crossings, SearchProblem};
use crate::store::{ChunkRecord, Codec, Manifest};

/// A session of a run, as its workers see it.
pub(crate) struct Context<'a> {
    pub search: &'a Search,
    pub disk: &'a Disk,
    pub problem: &'a SearchProblem,
    pub crossings: &'a Crossings,
    pub plan: MemoryPlan,
    pub kernel: Kernel,
    /// What the header of each file says of the lines.
    pub label: String,
    pub threads: usize,
    pub times: Times,
    /// How new files are coded.
    pub codec: Codec,
    pub codecs: Codecs,
    pub progress: RankProgress<'a>,
}

impl Context<'_> {
    /// Whether a depth is beyond the last one asked for.
    pub fn is_last(&self, depth: usize) -> bool {
        self.search.max_depth.is_some_and(|max| depth > max)
    }

    /// Writes level 0 of a new run.
    pub fn write_start(&self, mut manifest: Manifest) -> Result<Manifest, Error> {
        // A session that was cut in the middle of this may have left its file.
        manifest.files.clear();
        let chunks = self.plan.chunks;
        let seat = self.problem.seat(self.problem.start);
        let (place, lane) = self.problem.place(self.problem.start);
        let register = place as usize % chunks.layout.registers() as usize;
        let (chunk, within) = (register / chunks.registers(), register % chunks.registers());
        let frame = within / chunks.frame_registers();
        let first = frame * chunks.frame_registers();
        let count = chunks.frame_registers().min(chunks.registers() - first);
        let mut registers = vec![[0; 64]; count];
        registers[within - first][lane] |= 1 << seat.bit;
        let fetch = self.fetch(&manifest, 0);
        let parts = fetch.parts;
        let mut encoded = EncodedFrames::new(0, parts.frames() * parts.halves());
        self.codecs.with(|_, encoder, _| {
            let bytes = encoder.encode(&registers);
            let bytes = bytes.map_err(|reason| DiskError::Codec { reason })?;
            let frame = seat.group * chunks.frames() + frame;
            for half in [Half::Level, Half::Seen].into_iter().take(parts.halves()) {
                encoded.push(parts.in_file(frame, half), bytes);
            }
            Ok::<_, DiskError>(())
        })?;
        let (header, tally) = (fetch.header(chunk, self.codec), self.problem.first());
        let (directories, limit) = (self.disk.directories.clone(), self.disk.limit);
        let committer = Committer::start(directories, manifest, Duration::ZERO, limit)?;
        let written = (|| {
            committer.begin(header)?;
            committer.frames(encoded)?;
            committer.end(tally)?;
            let bytes = committer.finished(0)?.iter().map(|record| record.bytes).sum();
            committer.level([tally.states, tally.checksum, bytes])
        })();
        let manifest = committer.close()?;
        written.expect("a writer that has failed says why");
        Ok(manifest)
    }

    /// The reader of a level, as far as the manifest knows it.
    pub fn fetch(&self, manifest: &Manifest, depth: u32) -> Fetch<'_> {
        let files = manifest.files_of(depth);
        let records = files.map_or(Vec::new(), |files| files.chunks.clone());
        self.fetch_records(manifest.run, depth, records)
    }

    pub fn fetch_records(&self, run: u64, depth: u32, mut records: Vec<ChunkRecord>) -> Fetch<'_> {
        records.sort_unstable_by_key(|record| record.chunk);
        let class = self.problem.class(depth as usize);
        Fetch {
            directories: &self.disk.directories,
            chunks: self.plan.chunks,
            parts: Parts::new(self.problem, self.plan.chunks, class),
            half: Half::Level,
            run,
            label: &self.label,
            depth,
            records,
            keep_all: self.disk.keep_all,
            threads: self.threads,
            kernel: self.kernel,
        }
    }

    /// What the step from a level leaves out, with the records of the level before: that level, or the states seen
    /// when a level of its class was last computed.
    pub fn left_out<'a>(&'a self, current: &Fetch<'a>, previous: Vec<ChunkRecord>) -> Fetch<'a> {
        let groups = &self.problem.groups;
        let class = groups.next(self.problem.class(current.depth as usize));
        let (depth, records) = match groups.directed && groups.classes() == 1 {
            true => (current.depth, current.records.clone()),
            false => (current.depth.saturating_sub(1), previous),
        };
        Fetch {
            // Of the class also where there is no such level yet.
            parts: Parts::new(self.problem, self.plan.chunks, class),
            half: if groups.directed { Half::Seen } else { Half::Level },
            ..self.fetch_records(current.run, depth, records)
        }
    }

    /// The step from the states at a depth.
    pub fn side(&self, depth: usize) -> Result<HalfStep, Error> {
        let (problem, crossings) = (self.problem, self.crossings);
        HalfStep::new(problem, crossings, self.plan.chunks, self.kernel, depth)
    }

    /// The states of the last level in the chunks that a manifest has, at most as many as asked for.
    pub fn last(&self, manifest: &Manifest) -> Result<Vec<State>, Error> {
        let mut states = Vec::new();
        let limit = self.search.keep_last;
        let Some(depth) = manifest.levels.len().checked_sub(1).filter(|_| limit > 0) else {
            return Ok(states);
        };
        let fetch = self.fetch(manifest, depth as u32);
        let class = self.problem.class(depth);
        let groups = self.problem.groups.class(class);
        // As in memory, group by group.
        let mut of = vec![Vec::new(); groups.len()];
        for chunk in 0..self.plan.chunks.count {
            fetch.each_frame(chunk, &mut |frame, registers| {
                if frame.half == Half::Level {
                    let lines = self.problem.first_line(class, frame.group);
                    let first = lines + (frame.register * LANES) as u64;
                    let (cells, states) = (&groups[frame.group].cells, &mut of[frame.group]);
                    states_of(registers, first, cells, limit, states);
                }
                Ok(of[0].len() < limit)
            })?;
        }
        states.extend(of.into_iter().flatten().take(limit));
        Ok(states)
    }
}
