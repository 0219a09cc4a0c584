//! Reading the level files of a run: ahead of the workers of the sweep, and list by list for list searches.
//!
//! The sweep starts readers with a [`Fetch`] and takes frames from their [`Batches`]. A list search (`lists`) reads
//! levels through [`ListFiles`]. `at_rest` uses both for runs at rest.

use std::{
    io::ErrorKind,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread::{Builder, Scope},
    time::Instant,
};

use crossbeam::channel::{Receiver, Sender, bounded};
use twox_hash::XxHash3_64;

use crate::{
    Error,
    frontier::{
        BITMAP_HEAD, BitmapBlock, Bitmaps, BlockTotal, BucketLists, BucketSpace, LevelTotal,
        ListChunk, total_of,
    },
    hint::RESUME_CHECK,
    kernel::{Kernel, Tally, population},
    perm::{Register, layout},
    search::{
        Chunks, SearchError, SearchProblem,
        disk::{Directories, label, no_thread},
    },
    store::{
        ChunkRecord, Codec, Decoder, FrameEntry, Frames, LevelHeader, LevelReader, ListCounts,
        ListCut, Manifest, ReadAt, RunFile, StorageError,
    },
    system::SystemError,
    threads::map_numbers,
};

// The readers: they read level files ahead of the workers.
//
// Invariant: a reader sends the chunks of a level in the order in which they are computed, each as a separate channel,
// whose batches cover all frames of the chunk once. It is ahead by at most one chunk and the batches that its channel
// can hold.

/// Approximate compressed size of a batch.
const BATCH_BYTES: u64 = 1 << 20;

const BATCH_FRAMES: usize = 16;

/// The directories of a run, and what its files have in common.
pub(crate) struct RunDirectories<'a> {
    directories: &'a Directories,
    /// The number of the run, as in the headers of its files.
    run: u64,
    /// The description of the lines that the header of each file must contain.
    label: String,
    /// Whether the run keeps all levels, so that a damaged one can be recomputed.
    keep_all: bool,
}

impl<'a> RunDirectories<'a> {
    pub fn new(directories: &'a Directories, manifest: &Manifest) -> RunDirectories<'a> {
        let (run, label) = (manifest.run, label(&manifest.identity));
        RunDirectories { directories, run, label, keep_all: manifest.keep_all }
    }

    /// Opens the file of a record in the manifest; its header must match, whatever the codec.
    fn open(
        &self,
        record: &ChunkRecord,
        expected: &LevelHeader,
    ) -> Result<LevelReader, SearchError> {
        let (depth, chunk) = (expected.depth, record.chunk as usize);
        let storage = self.directories.of_chunk(chunk);
        let [name, uncommitted] = RunFile::level_names(self.run, depth, record.chunk);
        // A commit may give a file its final name at any time, but never revokes it.
        let found = storage.find(&uncommitted);
        let opened = found.and_then(|file| file.map_or_else(|| storage.open(&name), Ok));
        let reader = opened.and_then(LevelReader::open).map_err(|e| match e.kind() {
            ErrorKind::InvalidData => self.damaged(depth, chunk, &e.reason.to_string()),
            ErrorKind::NotFound => SearchError::apart(
                storage,
                format!("{name} is missing: is the disk of this directory mounted?"),
            ),
            _ => e.into(),
        })?;
        let header = &reader.header;
        if *header != (LevelHeader { codec: header.codec, ..expected.clone() }) {
            let own = header.run == self.run;
            let whose = if own { "another depth or chunk" } else { "another search" };
            return Err(SearchError::apart(
                storage,
                format!("{name} belongs to {whose}: replace it with the right file"),
            ));
        }
        let len = reader.file.len();
        if reader.sum != record.tally() || (record.bytes > 0 && len != record.bytes) {
            return Err(self.damaged(depth, chunk, "this is not the file that the manifest lists"));
        }
        Ok(reader)
    }

    pub fn damaged(&self, depth: u32, chunk: usize, reason: &str) -> SearchError {
        let storage = self.directories.of_chunk(chunk);
        let place = storage.place(&Manifest::file_name(depth, chunk as u32));
        let advice = if self.keep_all {
            format!("{RESUME_CHECK} recomputes the file from the previous levels")
        } else {
            "the file cannot be recomputed, because the previous levels were not kept: start again \
             in another directory"
                .into()
        };
        let reason = format!("{place} (depth {depth}): {reason}; {advice}");
        SearchError::Damaged { depth, scratch: false, reason }
    }
}

/// The level files of a run, as shared by everything that reads and writes them.
pub(crate) struct RunFiles<'a> {
    pub of: RunDirectories<'a>,
    pub problem: &'a SearchProblem,
    pub chunks: Chunks,
    pub kernel: Kernel,
    /// Number of threads that share the batches.
    pub threads: usize,
    pub times: Times,
}

impl<'a> RunFiles<'a> {
    pub fn new(
        directories: &'a Directories,
        problem: &'a SearchProblem,
        chunks: Chunks,
        manifest: &Manifest,
        kernel: Kernel,
    ) -> RunFiles<'a> {
        let of = RunDirectories::new(directories, manifest);
        RunFiles { of, problem, chunks, kernel, threads: 1, times: Times::default() }
    }

    pub fn parts(&self, depth: usize) -> FileFrames {
        FileFrames {
            groups: self.problem.groups.classes[self.problem.class(depth)].len(),
            seen: self.problem.groups.directed,
            frames: self.chunks.frames(),
        }
    }

    /// The reader of a level for which a manifest has these records.
    pub fn level(&'a self, depth: u32, mut records: Vec<ChunkRecord>) -> Fetch<'a> {
        records.sort_unstable_by_key(|record| record.chunk);
        let parts = self.parts(depth as usize);
        Fetch { files: self, parts, seen: false, depth, records, states: AtomicU64::new(0) }
    }

    /// The reader of the states that the step from a level excludes, given the records of the previous level: that
    /// level, or the states seen when a level of its class was last computed.
    pub fn left_out(&'a self, current: &Fetch, previous: Vec<ChunkRecord>) -> Fetch<'a> {
        let groups = &self.problem.groups;
        let (depth, records) = if groups.directed && groups.classes.len() == 1 {
            (current.depth, current.records.clone())
        } else {
            (current.depth.saturating_sub(1), previous)
        };
        Fetch {
            // The class's parts, even if there is no such level yet.
            parts: self.parts(current.depth as usize + 1),
            seen: groups.directed,
            ..self.level(depth, records)
        }
    }

    pub fn header(&self, depth: u32, chunk: usize, codec: Codec) -> LevelHeader {
        let parts = self.parts(depth as usize);
        let lines = self.chunks.lines() * (parts.groups * parts.halves()) as u64;
        LevelHeader {
            run: self.of.run,
            depth,
            chunk: chunk as u32,
            chunks: self.chunks.count as u32,
            frame_lines: self.chunks.frame_lines(),
            first_line: chunk as u64 * lines,
            lines,
            label: self.of.label.clone(),
            codec,
        }
    }
}

// How the groups of a level are arranged in the frames of a chunk's file.
//
// Invariant: a file contains the groups of its depth's class one after another, each divided into its own frames. If
// moves have no inverses, every frame of the level is followed by the frame of the states seen so far, which the step
// to the next level of the class excludes.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileFrames {
    pub groups: usize,
    /// Whether the states seen so far are stored between the frames of the level.
    pub seen: bool,
    frames: usize,
}

impl FileFrames {
    /// The frames of a level in a file; they are numbered group by group.
    pub fn frames(self) -> usize {
        self.groups * self.frames
    }

    /// The group of a frame of a level, and its number within the group.
    pub fn place(self, frame: usize) -> (usize, usize) {
        (frame / self.frames, frame % self.frames)
    }

    /// The number of frames of the file that belong to a frame of the level: its own, and that of the states seen.
    pub fn halves(self) -> usize {
        1 + usize::from(self.seen)
    }

    /// The number within the file of a frame of the level, or of the states seen there.
    pub fn in_file(self, frame: usize, seen: bool) -> usize {
        frame * self.halves() + usize::from(seen)
    }
}

/// Consecutive frames of a chunk, numbered as in [`FileFrames`].
pub(crate) struct Batch<'a> {
    pub fetch: &'a Fetch<'a>,
    pub chunk: usize,
    /// The first frame, whether or not it is in the file.
    pub first: usize,
    pub end: usize,
    /// The frames that are in the file; `None` if the chunk has no file.
    frames: Option<Frames>,
}

impl Batch<'_> {
    /// The frames of the batch, each with its entry if it is in the file.
    pub fn frames(&self) -> impl Iterator<Item = (usize, Option<usize>)> {
        let entries = self.frames.as_ref().map_or(&[][..], |frames| &frames.entries);
        let mut at = 0;
        (self.first..self.end).map(move |frame| {
            let number = self.fetch.parts.in_file(frame, self.fetch.seen) as u32;
            at += entries[at..].iter().take_while(|entry| entry.frame < number).count();
            let found = entries.get(at).is_some_and(|entry| entry.frame == number);
            (frame, found.then_some(at))
        })
    }

    /// Decodes an entry, and counts its states for [`Fetch::counted`]; see [`Decoder::decode`].
    pub fn decode<'d>(
        &self,
        entry: usize,
        decoder: &'d mut Decoder,
        registers: &mut [Register],
        is_empty: bool,
    ) -> Result<Option<&'d [u32]>, SearchError> {
        let begun = Instant::now();
        let frames = self.frames.as_ref().expect("entries are of frames");
        let decoded = frames.decode(entry, decoder, registers, is_empty);
        let live = decoded.map_err(|reason| self.fetch.damaged(self.chunk, &reason))?;
        let kernel = self.fetch.files.kernel;
        let states = match live.filter(|live| live.len() < registers.len() / 4) {
            Some(live) => {
                live.iter().map(|&i| population(kernel, &registers[i as usize..][..1])).sum()
            }
            None => population(kernel, registers),
        };
        self.fetch.states.fetch_add(states, Ordering::Relaxed);
        self.fetch.files.times.decode.add(begun);
        Ok(live)
    }
}

pub(crate) struct FrameRead<'a> {
    pub group: usize,
    /// Whether it contains the states seen.
    pub seen: bool,
    /// The index of its first register within the group.
    pub register: usize,
    /// The frame alone, as in the file.
    pub frames: &'a Frames,
}

pub(crate) type Batches<'a> = Receiver<Result<Batch<'a>, SearchError>>;

pub(crate) struct Fetch<'a> {
    pub files: &'a RunFiles<'a>,
    pub parts: FileFrames,
    /// Whether the frames of the states seen are read rather than those of the level.
    seen: bool,
    pub depth: u32,
    /// The records of the level's chunks in the manifest, in order.
    pub records: Vec<ChunkRecord>,
    /// Number of states decoded since the last call of [`Fetch::counted`].
    states: AtomicU64,
}

impl Fetch<'_> {
    /// Ends the batches of a chunk: if all of its frames have been decoded, compares the number of states that arrived
    /// in memory with that in the manifest, whatever way they came.
    pub fn counted(&self, chunk: usize, whole: bool) -> Result<(), SearchError> {
        let states = self.states.swap(0, Ordering::Relaxed);
        // The number of states seen so far is not in the manifest.
        if !whole || self.seen || states == self.record(chunk).map_or(0, |record| record.states) {
            return Ok(());
        }
        Err(self.damaged(chunk, OTHER_STATES))
    }

    fn record(&self, chunk: usize) -> Option<&ChunkRecord> {
        let known = (self.records).binary_search_by_key(&(chunk as u32), |record| record.chunk);
        known.ok().map(|at| &self.records[at])
    }

    /// Opens the file of a chunk; `None` if the chunk has no states.
    fn open(&self, chunk: usize) -> Result<Option<LevelReader>, SearchError> {
        let Some(record) = self.record(chunk).filter(|record| record.has_file()) else {
            return Ok(None);
        };
        let expected = self.files.header(self.depth, chunk, Codec::Zstd);
        self.files.of.open(record, &expected).map(Some)
    }

    pub fn damaged(&self, chunk: usize, reason: &str) -> SearchError {
        self.files.of.damaged(self.depth, chunk, reason)
    }

    /// Decodes the frames of a chunk one by one: calls `each` until it returns false or there are no more frames.
    #[allow(clippy::type_complexity)] // one call back, named nowhere else
    pub fn each_frame(
        &self,
        chunk: usize,
        each: &mut dyn FnMut(FrameRead, &[Register]) -> Result<bool, SearchError>,
    ) -> Result<(), SearchError> {
        let Some(reader) = self.open(chunk)? else {
            return Ok(());
        };
        let chunks = self.files.chunks;
        let mut decoder = Decoder::new(self.files.kernel)?;
        let mut registers: Vec<Register> = vec![[0; 64]; chunks.frame_registers()];
        for entry in 0..reader.index.len() {
            let frames = reader.read(entry..entry + 1)?;
            let in_file = frames.entries[0].frame as usize;
            let number = in_file / self.parts.halves();
            let (group, within) = self.parts.place(number);
            let first = within * chunks.frame_registers();
            let count = chunks.frame_registers().min(chunks.registers() - first);
            let registers = &mut registers[..count];
            let decoded = frames.decode(0, &mut decoder, registers, false);
            decoded.map_err(|reason| self.damaged(chunk, &reason))?;
            let seen = in_file != self.parts.in_file(number, false);
            let register = chunk * chunks.registers() + first;
            if !each(FrameRead { group, seen, register, frames: &frames }, registers)? {
                break;
            }
        }
        Ok(())
    }

    /// Recounts the states of a chunk; `read` is given the number of bytes read since its last call.
    pub fn check(
        &self,
        chunk: usize,
        read: &dyn Fn(u64) -> Result<(), SystemError>,
    ) -> Result<Tally, SearchError> {
        let mut tally = Tally::default();
        let RunFiles { chunks, problem, .. } = self.files;
        let groups = &problem.groups.classes[problem.class(self.depth as usize)];
        self.each_frame(chunk, &mut |frame, registers| {
            // Bits for cells after the last one of the group.
            let beyond = (0xff_u32 << groups[frame.group].cells.len()) as u8;
            if registers.as_flattened().iter().any(|byte| byte & beyond != 0) {
                let place = frame.frames.damaged(0);
                let reason = format!("{place}: the frame contains states on nonexistent cells");
                return Err(self.damaged(chunk, &reason));
            }
            let first = frame.group as u64 * chunks.layout.registers() + frame.register as u64;
            let counted = if frame.seen { &[] } else { registers };
            for (register, bytes) in (first..).zip(counted) {
                let key = layout::mix(register);
                for (j, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
                    let word = u64::from_le_bytes(*word);
                    tally.states += u64::from(word.count_ones());
                    tally.checksum = tally.checksum.wrapping_add(layout::word(key, j, word));
                }
            }
            read(u64::from(frame.frames.entries[0].len))?;
            Ok(true)
        })?;
        Ok(tally)
    }

    /// Starts a thread that sends the chunks, one ahead, each with room for `ahead` batches, until all are sent or no
    /// receiver is left.
    ///
    /// This does not use crossbeam's channel, which keeps waiting messages after the receiver is gone, and with them
    /// the channel of a chunk whose batches the reader would wait to send forever.
    pub fn start<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        order: &'s [usize],
        ahead: usize,
    ) -> Result<mpsc::Receiver<Batches<'s>>, SearchError> {
        let (sender, chunks) = mpsc::sync_channel(1);
        let read = move || {
            for &chunk in order {
                // Room for more batches than a chunk has would be initialized for nothing.
                let (batches, receiver) = bounded(ahead.clamp(1, self.parts.frames()));
                if sender.send(receiver).is_err() || !self.chunk(chunk, &batches) {
                    return;
                }
            }
        };
        Builder::new().spawn_scoped(scope, read).map_err(no_thread)?;
        Ok(chunks)
    }

    /// Sends the batches of a chunk; returns whether a receiver is left.
    fn chunk<'s>(&'s self, chunk: usize, batches: &Sender<Result<Batch<'s>, SearchError>>) -> bool {
        let (frames, halves) = (self.parts.frames(), self.parts.halves());
        // Where there are no states, a batch costs only its transmission.
        let widest = (frames / (4 * self.files.threads)).max(1);
        let most = widest.min(BATCH_FRAMES);
        let reader = match self.open(chunk) {
            Ok(reader) => reader,
            Err(error) => return batches.send(Err(error)).is_ok(),
        };
        let (mut first, mut entry) = (0, 0);
        while first < frames {
            let held = |reader: &LevelReader| reader.index.get(entry).map(|e| e.frame as usize);
            let held = reader.as_ref().and_then(held);
            let next = held.map_or(frames, |frame| frame / halves);
            let mut end = (first + most).max(next.min(first + widest)).min(frames);
            let read = reader.as_ref().map(|reader| {
                let index = &reader.index;
                let (start, mut bytes) = (entry, 0);
                while entry < index.len() && (index[entry].frame as usize) < end * halves {
                    bytes += u64::from(index[entry].len);
                    entry += 1;
                    if bytes >= BATCH_BYTES {
                        end = index[entry - 1].frame as usize / halves + 1;
                    }
                }
                reader.read(start..entry)
            });
            let batch = read.transpose();
            let failed = batch.is_err();
            let batch = batch.map(|frames| Batch { fetch: self, chunk, first, end, frames });
            if batches.send(batch.map_err(SearchError::from)).is_err() || failed {
                return false;
            }
            first = end;
        }
        true
    }
}

/// How the total time of all threads is spent.
#[derive(Debug, Default)]
pub(crate) struct Times {
    pub decode: Clock,
    pub kernel: Clock,
    pub encode: Clock,
    pub wait: Clock,
}

/// A sum of times in nanoseconds, to which many threads add.
#[derive(Debug, Default)]
pub(crate) struct Clock(AtomicU64);

impl Clock {
    pub fn add(&self, since: Instant) {
        self.0.fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }

    pub fn micros(&self) -> u64 {
        self.0.load(Ordering::Relaxed) / 1000
    }
}

// The files of a list search: a chunk of the run consists of some consecutive classes of buckets, with a frame for
// each chunk of lists.
//
// Invariant: data is compared with a hash before it is used: at once if it stays in memory, otherwise list by list.

/// Maximum number of chunks of a run: all files of two levels are open at the same time.
const CHUNKS: usize = 256;

/// How the classes of a puzzle are grouped into chunks of lists, and these into chunks of the run.
#[derive(Clone, Copy, Default)]
pub(crate) struct Chunking {
    all: usize,
    /// Number of classes in a chunk of lists.
    pub classes: usize,
    /// Number of chunks of lists in a chunk of the run.
    pub each: usize,
}

impl Chunking {
    pub fn of(cut: &ListCut) -> Chunking {
        let classes = match cut.bitmaps {
            Some(_) => 1,
            None => BucketSpace::classes_of_chunk(cut.classes, cut.buckets_per_class),
        };
        let chunks = cut.classes.div_ceil(classes);
        Chunking { all: cut.classes, classes, each: chunks.div_ceil(CHUNKS) }
    }

    pub fn parts(self) -> usize {
        self.all.div_ceil((self.classes * self.each).max(1))
    }
}

pub(crate) struct ListFiles<'a> {
    pub of: RunDirectories<'a>,
    pub cut: Chunking,
    chunks: u32,
}

impl<'a> ListFiles<'a> {
    pub fn new(directories: &'a Directories, manifest: &Manifest) -> ListFiles<'a> {
        let cut = manifest.lists.as_ref().map(Chunking::of).unwrap_or_default();
        let of = RunDirectories::new(directories, manifest);
        ListFiles { of, cut, chunks: manifest.chunks }
    }

    pub fn header(&self, depth: u32, chunk: u32) -> LevelHeader {
        let each = self.cut.classes * self.cut.each;
        let first = chunk as usize * each;
        LevelHeader {
            run: self.of.run,
            depth,
            chunk,
            chunks: self.chunks,
            frame_lines: self.cut.classes as u32,
            first_line: first as u64,
            lines: each.min(self.cut.all - first) as u64,
            label: self.of.label.clone(),
            codec: Codec::Zstd,
        }
    }

    /// Opens the file of a chunk.
    pub fn open(&self, depth: u32, record: &ChunkRecord) -> Result<LevelReader, SearchError> {
        self.of.open(record, &self.header(depth, record.chunk))
    }

    /// Returns the error for lists that cannot be read: the file with the number of its chunk.
    pub fn unread(&self, error: SearchError) -> SearchError {
        let SearchError::Io { place, reason, .. } = &error else { return error };
        match (reason.kind(), RunFile::parse(&place.file)) {
            (
                ErrorKind::InvalidData,
                Some(RunFile::Level { depth, chunk } | RunFile::Uncommitted { depth, chunk, .. }),
            ) => self.of.damaged(depth, chunk as usize, &reason.to_string()),
            _ => error,
        }
    }

    /// The lists of a chunk of the run, each with the number of its chunk. They use memory as long as some is left: for
    /// uncoded keys, otherwise for coded lists, otherwise none.
    fn lists(
        &self,
        space: &BucketSpace,
        depth: u32,
        record: &ChunkRecord,
        room: &AtomicU64,
    ) -> Result<Vec<(usize, ListChunk)>, SearchError> {
        let reader = self.open(depth, record)?;
        let file: Arc<dyn ReadAt> = reader.file.into();
        let read = |entry: &FrameEntry| {
            let at = record.chunk as usize * self.cut.each + entry.frame as usize;
            let relaxed = Ordering::Relaxed;
            let takes = |bytes: u64| {
                room.fetch_update(relaxed, relaxed, |left| left.checked_sub(bytes)).is_ok()
            };
            let read =
                |in_memory| Ok(ListChunk::of_frame(&file, entry, space.buckets(at), in_memory)?.0);
            let in_file = read(false)?;
            let lists = if takes(space.plain_bytes(at, &in_file)) {
                space.plain(at, &read(true)?)?
            } else if takes(u64::from(entry.len)) {
                read(true)?
            } else {
                in_file
            };
            Ok((at, lists))
        };
        let lists = reader.index.iter().map(read).collect::<Result<Vec<_>, _>>();
        let lists = lists.map_err(|error: StorageError| self.unread(error.into()))?;
        let kept: u64 =
            lists.iter().map(|(at, lists)| lists.count(0, space.buckets(*at)) as u64).sum();
        if record.lists.is_some_and(|counts| counts.kept != kept) {
            return Err(self.of.damaged(depth, record.chunk as usize, OTHER_STATES));
        }
        Ok(lists)
    }

    /// The lists of a level, in files if they do not all fit into memory even coded: slices of buckets need it more.
    pub fn load(
        &self,
        space: &BucketSpace,
        depth: u32,
        records: &[ChunkRecord],
        room: u64,
    ) -> Result<BucketLists, SearchError> {
        let mut chunks = vec![ListChunk::default(); space.chunks()];
        let here: Vec<&ChunkRecord> = records.iter().filter(|record| record.has_file()).collect();
        let coded: u64 = here.iter().map(|record| record.bytes).sum();
        let room = AtomicU64::new(if coded > room { 0 } else { room });
        let read = |i: usize| self.lists(space, depth, here[i], &room);
        for lists in map_numbers(here.len(), &read) {
            let lists = lists?;
            for (at, lists) in lists {
                chunks[at] = lists;
            }
        }
        Ok(BucketLists { chunks })
    }

    /// Recounts the states in the file of a chunk; `read` is given the number of bytes read since its last call.
    pub fn check(
        &self,
        space: &BucketSpace,
        depth: u32,
        record: &ChunkRecord,
        read: &dyn Fn(u64) -> Result<(), SystemError>,
    ) -> Result<Tally, Error> {
        if !record.has_file() {
            return Ok(record.tally());
        }
        let mut sum = LevelTotal::default();
        for (at, lists) in self.lists(space, depth, record, &AtomicU64::new(0))? {
            read(0)?;
            sum = sum.plus(space.recount(at, &lists).map_err(|error| self.unread(error.into()))?);
        }
        // The lists do not contain the number of keys that moves have generated.
        let own = ListCounts { generated: 0, ..sum.lists };
        let stated = record.lists.map(|lists| ListCounts { generated: 0, ..lists });
        if stated != Some(own) {
            return Err(self.of.damaged(depth, record.chunk as usize, OTHER_STATES).into());
        }
        read(record.bytes)?;
        Ok(sum.tally)
    }
}

// The files of a search by bitmap: a frame has a block.

impl ListFiles<'_> {
    /// Reads the block of a class from the file of its chunk; `None` if it has no states.
    pub fn bitmap(
        &self,
        bitmaps: &Bitmaps,
        reader: &LevelReader,
        (depth, class): (u32, usize),
    ) -> Result<Option<(BitmapBlock, BlockTotal)>, SearchError> {
        let (chunk, frame) = (class / self.cut.each, (class % self.cut.each) as u32);
        let Ok(at) = reader.index.binary_search_by_key(&frame, |entry| entry.frame) else {
            return Ok(None);
        };
        let entry = &reader.index[at];
        let bytes = reader.file.read(entry.offset, entry.len as usize)?;
        let is_sound = XxHash3_64::oneshot(bytes.as_ref()) == entry.hash;
        let block = bitmaps.decode(bytes.as_ref()).filter(|_| is_sound);
        let damaged = || self.of.damaged(depth, chunk, &format!("frame {frame} is damaged"));
        Ok(Some(block.ok_or_else(damaged)?))
    }

    /// Recounts the states in the bitmaps of a chunk, and adds those up to their depth to `reached`; `read` is given the number of bytes read since its last call.
    pub fn check_bitmaps(
        &self,
        bitmaps: &Bitmaps,
        (depth, record): (u32, &ChunkRecord),
        reached: &AtomicU64,
        read: &dyn Fn(u64) -> Result<(), SystemError>,
    ) -> Result<Tally, Error> {
        if !record.has_file() {
            return Ok(record.tally());
        }
        let reader = self.open(depth, record)?;
        let mut sum = LevelTotal::default();
        for entry in &reader.index {
            read(0)?;
            let class = record.chunk as usize * self.cut.each + entry.frame as usize;
            let block = self.bitmap(bitmaps, &reader, (depth, class))?;
            let (block, total) = block.expect("a frame of the index");
            if bitmaps.reached(class, &block) != total.reached {
                return Err(self.of.damaged(depth, record.chunk as usize, OTHER_STATES).into());
            }
            reached.fetch_add(total.reached, Ordering::Relaxed);
            sum = sum.plus(total.level);
        }
        if record.lists != Some(sum.lists) {
            return Err(self.of.damaged(depth, record.chunk as usize, OTHER_STATES).into());
        }
        read(record.bytes)?;
        Ok(sum.tally)
    }
}

/// What is wrong with a file if a recount finds other states.
pub(crate) const OTHER_STATES: &str = "the states in this file do not match the manifest";

pub(crate) fn total<'a>(records: impl Iterator<Item = &'a ChunkRecord>) -> LevelTotal {
    let total = |record: &ChunkRecord| LevelTotal {
        tally: record.tally(),
        lists: record.lists.unwrap_or_default(),
    };
    records.map(total).fold(LevelTotal::default(), LevelTotal::plus)
}

/// The additional counts in a file of lists; the number of keys generated by moves is that of chunks with states.
pub(crate) fn counts_of(reader: LevelReader, cut: &ListCut) -> Result<ListCounts, StorageError> {
    let of = Chunking::of(cut);
    let (first, buckets) = (reader.header.first_line as usize, cut.buckets_per_class);
    let file: Arc<dyn ReadAt> = reader.file.into();
    let mut sum = ListCounts::default();
    if cut.bitmaps.is_some() {
        for entry in &reader.index {
            let head = file.read(entry.offset, BITMAP_HEAD.min(entry.len as usize))?;
            if let Some((total, _)) = total_of(head.as_ref()) {
                let lists = total.level.lists;
                (sum.kept, sum.reduced) = (sum.kept + lists.kept, sum.reduced + lists.reduced);
            }
        }
        return Ok(sum);
    }
    for entry in &reader.index {
        let class = first + entry.frame as usize * of.classes;
        let buckets = of.classes.min(cut.classes.saturating_sub(class)) * buckets;
        let (lists, [generated, reduced]) = ListChunk::of_frame(&file, entry, buckets, false)?;
        sum.kept += lists.count(0, buckets) as u64;
        sum.generated += generated;
        sum.reduced += reduced;
    }
    Ok(sum)
}
