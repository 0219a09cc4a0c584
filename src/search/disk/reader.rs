//! The readers: level files, read ahead of the workers.
//!
//! Invariant: a reader sends the chunks of a level in the order in which they are computed, each as a
//! channel of its own, whose batches cover all frames of the chunk once. It runs ahead by at most one
//! chunk and the batches that its channel may hold.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::time::Instant;

use crossbeam::channel::{Receiver, Sender, bounded};

use crate::kernel::Kernel;
use crate::perm::layout::Register;
use crate::search::classes::Chunks;
use crate::search::disk::directories::Directories;
use crate::search::disk::error::DiskError;
use crate::search::disk::half_step::{Half, Parts};
use crate::store::{
    ChunkRecord, Codec, Decoder, Frames, LevelHeader, LevelReader, LevelSum, Manifest, RunFile,
    StorageError,
};

/// Compressed bytes of a batch, about.
const BATCH_BYTES: u64 = 1 << 20;

/// Most frames of a batch.
const BATCH_FRAMES: usize = 16;

/// Neighbouring frames of a chunk, counted as [`Parts`] does.
pub(crate) struct Batch {
    /// First frame, whether it is in the file or not.
    pub first: usize,
    /// One past the last frame.
    pub end: usize,
    /// Those that the file has; `None` when the chunk has no file.
    pub frames: Option<Frames>,
    /// Number of the chunk.
    pub chunk: usize,
}

/// One frame of a file.
pub(crate) struct FrameRead<'a> {
    pub group: usize,
    pub half: Half,
    /// Its first register among those of the group.
    pub register: usize,
    /// It alone, as in the file.
    pub frames: &'a Frames,
}

/// A chunk's batches, in order.
pub(crate) type Batches = Receiver<Result<Batch, DiskError>>;

/// Takes chunks from a reader, one ahead.
///
/// Not crossbeam's channel: that keeps what waits in it when nobody listens any more, and with it the channel of a
/// chunk whose batches the reader would wait to send for ever.
pub(crate) fn channel() -> (SyncSender<Batches>, mpsc::Receiver<Batches>) {
    mpsc::sync_channel(1)
}

/// Reads the chunks of one level.
pub(crate) struct Fetch<'a> {
    pub directories: &'a Directories,
    pub chunks: Chunks,
    pub parts: Parts,
    /// Which frames are used.
    pub half: Half,
    /// The run, as in the headers of its files.
    pub run: u64,
    /// What the header of each file must say of the lines.
    pub label: &'a str,
    pub depth: u32,
    /// What the manifest says of the level's chunks, in their order.
    pub records: Vec<ChunkRecord>,
    /// Whether the run keeps all levels, so that a damaged one can be computed again.
    pub keep_all: bool,
    /// Threads that share the batches.
    pub threads: usize,
    pub kernel: Kernel,
}

impl Fetch<'_> {
    /// Opens the file of a chunk; `None` when the chunk has no states.
    pub fn open(&self, chunk: usize) -> Result<Option<LevelReader>, DiskError> {
        let known = (self.records).binary_search_by_key(&(chunk as u32), |record| record.chunk);
        let record = known.ok().map(|at| &self.records[at]);
        let Some(record) = record.filter(|record| record.has_file()) else {
            return Ok(None);
        };
        let storage = self.directories.of_chunk(chunk);
        let (run, depth) = (self.run, self.depth);
        let name = Manifest::file_name(depth, chunk as u32);
        let uncommitted = RunFile::Uncommitted { run, depth, chunk: chunk as u32 };
        // A commit gives a file its name at any time, but never takes it back.
        let opened = match storage.open(&uncommitted.name()) {
            Err(error) if error.kind() == ErrorKind::NotFound => storage.open(&name),
            opened => opened,
        };
        let wrong = |e: StorageError| match e.kind() {
            ErrorKind::InvalidData => self.damaged(chunk, &e.reason.to_string()),
            ErrorKind::NotFound => DiskError::apart(
                storage,
                format!("{name} is not there: is the disk of this directory mounted?"),
            ),
            _ => e.into(),
        };
        let reader = opened.and_then(LevelReader::open).map_err(wrong)?;
        let header = reader.header();
        if *header != self.header(chunk, header.codec) {
            let whose = match header.run == run {
                true => "this run, of another depth or chunk",
                false => "another run",
            };
            return Err(DiskError::apart(
                storage,
                format!("{name} belongs to {whose}: put the right one in its place"),
            ));
        }
        let stated = LevelSum { states: record.states, checksum: record.checksum };
        if reader.sum() != stated || (record.bytes > 0 && reader.len() != record.bytes) {
            return Err(self.damaged(chunk, "it is not the file that the manifest names"));
        }
        Ok(Some(reader))
    }

    /// The header of the file of a chunk whose frames a codec has written.
    pub fn header(&self, chunk: usize, codec: Codec) -> LevelHeader {
        let lines = self.chunks.lines() * self.parts.copies();
        LevelHeader {
            run: self.run,
            depth: self.depth,
            chunk: chunk as u32,
            chunks: self.chunks.count as u32,
            frame_lines: frame_lines(self.chunks),
            first_line: chunk as u64 * lines,
            lines,
            label: self.label.to_string(),
            codec,
        }
    }

    /// The error that names a file.
    pub fn damaged(&self, chunk: usize, reason: &str) -> DiskError {
        DiskError::Level {
            directory: self.directories.of_chunk(chunk).name(),
            file: Manifest::file_name(self.depth, chunk as u32),
            depth: self.depth,
            reason: reason.to_string(),
            advice: match self.keep_all {
                true => "tilewave resume --check --dir computes it again from the levels before",
                false => {
                    "it cannot be computed again, the levels before are not kept: start again in another --dir"
                }
            },
        }
    }

    /// Decodes the frames of a chunk one by one: calls `each` until it returns false or there are no more. Returns
    /// whether it came to the end.
    #[allow(clippy::type_complexity)] // one call back, named nowhere else
    pub fn each_frame(
        &self,
        chunk: usize,
        each: &mut dyn FnMut(FrameRead, &[Register]) -> Result<bool, DiskError>,
    ) -> Result<bool, DiskError> {
        let Some(reader) = self.open(chunk)? else {
            return Ok(true);
        };
        let chunks = self.chunks;
        let mut decoder = Decoder::new(self.kernel)?;
        let mut registers: Vec<Register> = vec![[0; 64]; chunks.frame_registers()];
        for entry in 0..reader.index().len() {
            let frames = reader.read(entry..entry + 1)?;
            let in_file = frames.entries()[0].frame as usize;
            let number = in_file / self.parts.halves();
            let (group, within) = self.parts.place(number);
            let first = within * chunks.frame_registers();
            let count = chunks.frame_registers().min(chunks.registers() - first);
            let registers = &mut registers[..count];
            let decoded = frames.decode(0, &mut decoder, registers, false);
            decoded.map_err(|reason| self.damaged(chunk, &reason))?;
            let half = match in_file == self.parts.in_file(number, Half::Level) {
                true => Half::Level,
                false => Half::Seen,
            };
            let frame = FrameRead {
                group,
                half,
                register: chunk * chunks.registers() + first,
                frames: &frames,
            };
            if !each(frame, registers)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sends the chunks, each with room for `ahead` batches, until all are sent or nobody listens.
    pub fn run(&self, order: &[usize], ahead: usize, sender: &SyncSender<Batches>) {
        for &chunk in order {
            // Room for more batches than a chunk has would be cleared for nothing.
            let (batches, receiver) = bounded(ahead.clamp(1, self.parts.frames()));
            if sender.send(receiver).is_err() || !self.chunk(chunk, &batches) {
                return;
            }
        }
    }

    /// Sends the batches of a chunk; returns whether anybody still listens.
    fn chunk(&self, chunk: usize, batches: &Sender<Result<Batch, DiskError>>) -> bool {
        let (frames, halves) = (self.parts.frames(), self.parts.halves());
        // Where there are no states a batch costs nothing but its way.
        let widest = (frames / (4 * self.threads)).max(1);
        let most = widest.min(BATCH_FRAMES);
        let reader = match self.open(chunk) {
            Ok(reader) => reader,
            Err(error) => return batches.send(Err(error)).is_ok(),
        };
        let (mut first, mut entry) = (0, 0);
        while first < frames {
            let held = |reader: &LevelReader| reader.index().get(entry).map(|e| e.frame as usize);
            let held = reader.as_ref().and_then(held);
            let next = held.map_or(frames, |frame| frame / halves);
            let mut end = (first + most).max(next.min(first + widest)).min(frames);
            let batch = match &reader {
                None => Ok(None),
                Some(reader) => {
                    let index = reader.index();
                    let (start, mut bytes) = (entry, 0);
                    while entry < index.len() && (index[entry].frame as usize) < end * halves {
                        bytes += u64::from(index[entry].len);
                        entry += 1;
                        if bytes >= BATCH_BYTES {
                            end = index[entry - 1].frame as usize / halves + 1;
                        }
                    }
                    reader.read(start..entry).map(Some)
                }
            };
            let batch = batch.map(|frames| Batch { first, end, frames, chunk });
            let failed = batch.is_err();
            if batches.send(batch.map_err(DiskError::from)).is_err() || failed {
                return false;
            }
            first = end;
        }
        true
    }
}

/// Lines of a frame.
pub(crate) fn frame_lines(chunks: Chunks) -> u32 {
    (chunks.frame_registers() * crate::perm::layout::LANES) as u32
}

// Where the time goes.

/// Nanoseconds of all threads together.
#[derive(Debug, Default)]
pub(crate) struct Times {
    pub decode: Clock,
    pub kernel: Clock,
    pub encode: Clock,
    pub wait: Clock,
}

/// A sum of times that many threads add to.
#[derive(Debug, Default)]
pub(crate) struct Clock(AtomicU64);

impl Clock {
    /// Adds the time since an instant.
    pub fn add(&self, since: Instant) {
        let nanoseconds = since.elapsed().as_nanos() as u64;
        self.0.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Returns the seconds so far.
    pub fn seconds(&self) -> f64 {
        self.0.load(Ordering::Relaxed) as f64 / 1e9
    }
}
