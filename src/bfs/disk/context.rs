//! What all workers of a session see.
//!
//! Invariant: nothing here changes during a session but times and codecs, which are shared by threads.

use std::time::Duration;

use super::codecs::Codecs;
use super::committer::Committer;
use super::error::DiskError;
use super::fetch::Fetch;
use super::memory_plan::MemoryPlan;
use super::message::Encoded;
use super::options::Disk;
use super::superstep::RankProgress;
use super::times::Times;
use crate::Error;
use crate::bfs::arriving::Arriving;
use crate::bfs::crossing::{Crossings, crosses};
use crate::bfs::expand::states_of;
use crate::bfs::problem::Problem;
use crate::bfs::search::Search;
use crate::bfs::state::State;
use crate::perm::gathers::Gathers;
use crate::perm::kernel::{Kernel, Transfer};
use crate::perm::layout::LANES;
use crate::store::{ChunkRecord, Manifest};

/// A session of a run, as its workers see it.
pub(super) struct Context<'a> {
    pub search: &'a Search,
    pub disk: &'a Disk,
    pub problem: &'a Problem,
    pub crossings: &'a Crossings,
    pub plan: MemoryPlan,
    pub kernel: Kernel,
    /// What the header of each file says of the lines: the goal.
    pub label: String,
    pub threads: usize,
    pub times: Times,
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
        let start = self.problem.start;
        let (tally, bit) = (self.problem.first(), self.problem.seat(start).bit);
        let (chunk, line) = (start.line / chunks.lines(), start.line % chunks.lines());
        let register = (line / LANES as u64) as usize;
        let frame = register / chunks.frame_registers();
        let first = frame * chunks.frame_registers();
        let count = chunks.frame_registers().min(chunks.registers() - first);
        let mut registers = vec![[0; 64]; count];
        registers[register - first][(line % LANES as u64) as usize] |= 1 << bit;
        let mut encoded = Encoded::new(0, chunks.frames());
        self.codecs.with(|_, encoder, _| {
            let bytes = encoder.encode(&registers);
            encoded.push(frame, bytes.map_err(|reason| DiskError::Codec { reason })?);
            Ok::<_, DiskError>(())
        })?;
        let header = self.fetch(&manifest, 0).header(chunk as usize);
        let (directories, limit) = (self.disk.directories.clone(), self.disk.limit);
        let committer = Committer::start(directories, manifest, Duration::ZERO, limit)?;
        let written = (|| {
            committer.begin(header)?;
            committer.frames(encoded)?;
            committer.end(tally)?;
            let bytes = committer
                .finished(0)?
                .iter()
                .map(|record| record.bytes)
                .sum();
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
        Fetch {
            directories: &self.disk.directories,
            chunks: self.plan.chunks,
            run,
            label: &self.label,
            depth,
            records,
            keep_all: self.disk.keep_all,
            threads: self.threads,
        }
    }

    /// The step from a class: moves within chunks, and what the planes bring.
    pub fn program(&self, from: usize) -> Result<Arriving, Error> {
        let planes = self.crossings.planes.iter();
        let halo: Vec<Vec<(u8, u8)>> = planes.map(|p| vec![(0, p.bits[1 - from])]).collect();
        let (chunks, groups) = (self.plan.chunks, &self.problem.groups);
        let to = (groups.next(from), 0);
        let inner = |t: &Transfer| !crosses(t, chunks);
        Ok(Arriving::new(
            self.kernel,
            &Gathers::new(chunks.layout),
            groups,
            to,
            &halo,
            inner,
        )?)
    }

    /// The states of the last level in the chunks that a manifest has, at most as many as asked for.
    pub fn last(&self, manifest: &Manifest) -> Result<Vec<State>, Error> {
        let mut states = Vec::new();
        let limit = self.search.keep_last;
        let Some(depth) = manifest.levels.len().checked_sub(1).filter(|_| limit > 0) else {
            return Ok(states);
        };
        let fetch = self.fetch(manifest, depth as u32);
        let cells = &self.problem.groups.class(self.problem.class(depth))[0].cells;
        for chunk in 0..self.plan.chunks.count {
            fetch.each_frame(chunk, &mut |_, first, registers| {
                states_of(registers, (first * LANES) as u64, cells, limit, &mut states);
                Ok(states.len() < limit)
            })?;
        }
        Ok(states)
    }
}
