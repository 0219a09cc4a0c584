//! The work of the writing thread: it writes frames to files and commits files.
//!
//! Invariant: a manifest is written only after all files that it names have been synced, through the handle that wrote
//! them; a file gets the name of a level file only after a manifest that names it is durable, and is removed only after
//! a manifest that no longer names it is durable. Until then, its name contains the run's number.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{Builder, JoinHandle},
    time::{Duration, Instant},
};

use crossbeam::channel::{Sender, bounded};

use crate::{
    hint::MAX_DEPTH,
    kernel::Tally,
    search::{
        SearchError,
        disk::{Directories, Disk},
    },
    store::{
        Append, ChunkRecord, EncodedFrames, FramesInOrder, LevelFiles, LevelHeader, LevelRecord,
        LevelWriter, ListCounts, Manifest, RunFile,
    },
    system::SystemError,
};

/// Maximum number of files that wait for their sync with an open handle.
const OPEN: usize = 128;

/// The file of a chunk being written.
struct Open {
    header: LevelHeader,
    /// Created with the first frame: a chunk without states has no file.
    writer: Option<LevelWriter>,
    frames: FramesInOrder,
}

/// The file of a chunk: depth and chunk.
type ChunkFile = (u32, u32);

pub(crate) struct Writer {
    directories: Directories,
    pub(crate) manifest: Manifest,
    every: Duration,
    limit: Option<u64>,
    committed: Instant,
    /// Whether a commit has begun and not finished, or a file could not be made durable. In this case, the contents of
    /// the disk are unknown: a second sync that succeeds says nothing about the bytes that the first one lost.
    uncertain: bool,
    /// When the time in the manifest was last updated.
    counted: Instant,
    open: Option<Open>,
    /// Files written since the last commit, by depth and chunk, with the handles through which they still have to be
    /// synced.
    pending: BTreeMap<ChunkFile, Option<Box<dyn Append>>>,
    /// Files that the next manifest names for the first time.
    named: Vec<ChunkFile>,
    /// Files that the manifest no longer names, with their sizes.
    superseded: Vec<(ChunkFile, u64)>,
    /// Where the records of chunks are in the manifest, for the depth whose files are being released.
    places: (u32, HashMap<u32, usize>),
}

impl Writer {
    /// Begins the file of a chunk.
    pub(crate) fn begin(&mut self, header: LevelHeader) -> Result<(), SearchError> {
        self.open = Some(Open { header, writer: None, frames: FramesInOrder::default() });
        Ok(())
    }

    /// Takes encoded frames of the chunk, in any order, and appends those that are next.
    pub(crate) fn frames(&mut self, encoded: EncodedFrames) -> Result<(), SearchError> {
        let Writer { directories, manifest, limit, open, .. } = self;
        let Open { header, writer, frames } =
            open.as_mut().expect("a file begins before its frames");
        let storage = directories.of_chunk(header.chunk as usize);
        frames.put(encoded, |frame, bytes, hash| {
            if u32::try_from(bytes.len()).is_err() {
                let why = format!("a frame would exceed 4 GiB: limit the depth ({MAX_DEPTH})");
                let reason = std::io::Error::new(std::io::ErrorKind::FileTooLarge, why);
                return Err(storage.error(&header.uncommitted().name(), reason).into());
            }
            let writer = match writer {
                Some(writer) => writer,
                None => {
                    let file = storage.create(&header.uncommitted().name())?;
                    writer.insert(LevelWriter::new(file, header)?)
                }
            };
            let synced = writer.bytes() / WRITE_BACK;
            writer.frame(frame, bytes, hash)?;
            if writer.bytes() / WRITE_BACK > synced {
                writer.sync()?;
            }
            directories.used.levels.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            let all = directories.used.bytes();
            manifest.peak_bytes = manifest.peak_bytes.max(all);
            match limit.filter(|&limit| all > limit) {
                Some(limit) => Err(SearchError::Limit { depth: header.depth, limit, lost: false }),
                None => Ok(()),
            }
        })
    }

    /// Ends the file of the chunk after all its frames, with the additional counts for lists.
    pub(crate) fn end(
        &mut self,
        tally: Tally,
        lists: Option<ListCounts>,
    ) -> Result<(), SearchError> {
        let open = self.open.take().expect("a file begins before it ends");
        // A gap would be committed with the right totals.
        assert!(open.frames.are_all(open.header.frames()), "frames are missing");
        let (depth, chunk) = (open.header.depth, open.header.chunk);
        let Tally { states, checksum } = tally;
        let mut record = ChunkRecord { chunk, states, checksum, bytes: 0, lists };
        if let Some(writer) = open.writer {
            let frames = writer.bytes();
            let known = self.manifest.levels.len() == depth as usize;
            let before = if known { self.manifest.states() } else { 0 };
            let finished = writer.finish(tally, before);
            if finished.is_err() {
                self.begin(open.header)?;
            }
            let (len, file) = finished?;
            record.bytes = len;
            self.directories.used.levels.fetch_add(len - frames, Ordering::Relaxed);
            self.manifest.bytes_written += len;
            self.pending.insert((depth, chunk), Some(file));
            self.sync_some()?;
        }
        // The record first: should the release fail, what is committed names the new file or the old one.
        self.record(depth, record);
        self.release(depth, chunk)?;
        self.count_time();
        self.commit_if_due()
    }

    /// Releases what a chunk of a level was the last to need.
    pub(crate) fn release(&mut self, depth: u32, chunk: u32) -> Result<(), SearchError> {
        let Writer { manifest, places, .. } = self;
        let Some(before) = depth.checked_sub(2).filter(|_| !manifest.keep_all) else {
            return Ok(());
        };
        // The chunk's level d - 2 has been subtracted and is no longer needed.
        let Some(files) = manifest.files.iter_mut().find(|f| f.depth == before) else {
            return Ok(());
        };
        let chunks = &mut files.chunks;
        if places.0 != before {
            let numbers = chunks.iter().enumerate().map(|(at, record)| (record.chunk, at));
            *places = (before, numbers.collect());
        }
        let Some(at) = places.1.remove(&chunk) else {
            return Ok(());
        };
        let old = chunks.swap_remove(at);
        if let Some(moved) = chunks.get(at) {
            places.1.insert(moved.chunk, at);
        }
        self.let_go(before, &old)
    }

    /// Records a chunk. One that was only counted needs the previous levels, in order to be stored later.
    pub(crate) fn count(&mut self, depth: u32, record: ChunkRecord) -> Result<(), SearchError> {
        self.record(depth, record);
        self.count_time();
        self.commit_if_due()
    }

    fn record(&mut self, depth: u32, record: ChunkRecord) {
        let files = &mut self.manifest.files;
        match files.last_mut().filter(|files| files.depth == depth) {
            Some(files) => files.chunks.push(record),
            None => files.push(LevelFiles { depth, chunks: vec![record] }),
        }
    }

    /// Releases the file of a chunk, which the next manifest does not name.
    fn let_go(&mut self, depth: u32, old: &ChunkRecord) -> Result<(), SearchError> {
        let file = (depth, old.chunk);
        if !old.has_file() {
            return Ok(());
        }
        if self.pending.remove(&file).is_none() {
            self.superseded.push((file, old.bytes));
            return Ok(());
        }
        // A file that has not been named by any manifest can be removed at once, without syncing.
        self.remove(file, old.bytes, 1)
    }

    /// Removes the file of a chunk, under its last name or under any of its names.
    fn remove(&self, file: ChunkFile, bytes: u64, names: usize) -> Result<(), SearchError> {
        let (depth, chunk) = file;
        let storage = self.directories.of_chunk(chunk as usize);
        let known = RunFile::level_names(self.manifest.run, depth, chunk);
        known.iter().rev().take(names).try_for_each(|name| storage.remove(name))?;
        self.directories.used.levels.fetch_sub(bytes, Ordering::Relaxed);
        Ok(())
    }

    fn count_time(&mut self) {
        let seconds = self.counted.elapsed().as_secs_f64();
        self.counted = Instant::now();
        self.manifest.seconds += seconds;
        self.manifest.level_seconds += seconds;
    }

    /// Ends the level after all its chunks, with its totals and the size of its files over all ranks, and whether it is
    /// stored. Returns its record.
    pub(crate) fn level(
        &mut self,
        tally: Tally,
        lists: Option<ListCounts>,
        bytes: u64,
        stored: bool,
    ) -> Result<LevelRecord, SearchError> {
        self.count_time();
        let manifest = &mut self.manifest;
        let depth = manifest.depth() as u32;
        let seconds = std::mem::take(&mut manifest.level_seconds);
        let level = LevelRecord::new(tally, lists, bytes, seconds);
        let mut empty = Vec::new();
        if level.states == 0 {
            // The level after the last one.
            manifest.complete = true;
            let last = manifest.files.extract_if(.., |files| files.depth == depth);
            empty = last.flat_map(|files| files.chunks).collect();
        } else if stored {
            manifest.levels.push(level.clone());
        } else {
            manifest.counted.push(level.clone());
            manifest.files.retain(|files| files.depth != depth);
        }
        manifest.files.retain(|files| !files.chunks.is_empty());
        empty.iter().try_for_each(|old| self.let_go(depth, old))?;
        Ok(level)
    }

    pub(crate) fn commit_if_due(&mut self) -> Result<(), SearchError> {
        if self.committed.elapsed() >= self.every { self.commit() } else { Ok(()) }
    }

    pub(crate) fn commit(&mut self) -> Result<(), SearchError> {
        self.uncertain = true;
        self.sync()?;
        self.manifest.write(self.directories.first())?;
        self.supersede()
    }

    /// Makes files durable until few enough are open.
    fn sync_some(&mut self) -> Result<(), SearchError> {
        let open = self.pending.values().flatten().count();
        let oldest = self.pending.values_mut().filter_map(Option::take);
        for mut file in oldest.take(open.saturating_sub(OPEN)) {
            let synced = file.sync();
            self.uncertain |= synced.is_err();
            synced?;
        }
        Ok(())
    }

    /// Makes the files written since the last commit durable, without writing a manifest: [`Writer::supersede`] must
    /// follow when a manifest has been written.
    pub(crate) fn sync(&mut self) -> Result<(), SearchError> {
        let mut touched = BTreeSet::new();
        for ((depth, chunk), file) in std::mem::take(&mut self.pending) {
            file.map_or(Ok(()), |mut file| file.sync())?;
            self.named.push((depth, chunk));
            touched.insert(self.directories.place(chunk as usize));
        }
        for (i, storage) in self.directories.all().enumerate() {
            if touched.contains(&i) {
                storage.sync_names()?;
            }
        }
        Ok(())
    }

    /// Gives the files that the new manifest names their final names, and removes those that it no longer names.
    pub(crate) fn supersede(&mut self) -> Result<(), SearchError> {
        for (depth, chunk) in std::mem::take(&mut self.named) {
            let [level, uncommitted] = RunFile::level_names(self.manifest.run, depth, chunk);
            self.directories.of_chunk(chunk as usize).rename(&uncommitted, &level)?;
        }
        for (file, bytes) in std::mem::take(&mut self.superseded) {
            // That of a committed one was read with this run's header.
            self.remove(file, bytes, 2)?;
        }
        self.committed = Instant::now();
        self.uncertain = false;
        Ok(())
    }

    /// Removes the incomplete file, to free its space, and commits the complete chunks, unless a commit or a sync has
    /// failed: a file whose sync has failed once must not be named in a manifest. The committer of one of several ranks
    /// does not commit anything itself. Returns whether all complete chunks are committed; the last commit remains
    /// valid in any case.
    fn give_up(&mut self) -> bool {
        if let Some(Open { header, .. }) = self.open.take() {
            let storage = self.directories.of_chunk(header.chunk as usize);
            // Otherwise, the next session removes it.
            let _ = storage.remove(&header.uncommitted().name());
        }
        !self.uncertain && self.every < NEVER && self.commit().is_ok()
    }
}

/// Maximum number of jobs that may wait, each with at most 16 frames.
const WAITING: usize = 64;

/// A job for the writing thread.
type WriterJob = Box<dyn FnOnce(&mut Writer) -> Result<(), SearchError> + Send>;

/// The writing thread of a run.
///
/// Invariant: the jobs of a chunk are one [`Writer::begin`], its frames in any order, and one [`Writer::end`].
pub(crate) struct Committer {
    sender: Option<Sender<WriterJob>>,
    thread: Option<JoinHandle<Result<Manifest, SearchError>>>,
    failed: Arc<AtomicBool>,
}

/// The error if no thread could be started for a reader or the writer.
pub(crate) fn no_thread(reason: std::io::Error) -> SearchError {
    SystemError::Threads { threads: 1, reason: reason.to_string() }.into()
}

impl Committer {
    /// Starts the thread, which fails if level files exceed the share of one of `ranks` ranks. The thread of a single
    /// process commits at the end of a chunk when it is time.
    pub fn start(disk: &Disk, manifest: Manifest, ranks: usize) -> Result<Committer, SearchError> {
        let directories = disk.directories.clone();
        let (sender, receiver) = bounded::<WriterJob>(WAITING);
        directories.used.levels.store(manifest.disk_bytes(), Ordering::Relaxed);
        let mut writer = Writer {
            directories,
            manifest,
            every: if ranks == 1 { disk.commit_every } else { NEVER },
            limit: disk.limit.map(|limit| limit / ranks as u64),
            committed: Instant::now(),
            uncertain: false,
            counted: Instant::now(),
            open: None,
            pending: BTreeMap::new(),
            named: Vec::new(),
            superseded: Vec::new(),
            places: (u32::MAX, HashMap::new()),
        };
        let failed = Arc::new(AtomicBool::new(false));
        let failure = Arc::clone(&failed);
        let thread = Builder::new().spawn(move || {
            let Err(error) = receiver.iter().try_for_each(|job| job(&mut writer)) else {
                return Ok(writer.manifest);
            };
            failure.store(true, Ordering::Relaxed);
            let committed = writer.give_up();
            // If a job is dropped, whatever waits for its result is notified.
            receiver.iter().for_each(drop);
            Err(if committed { error } else { error.without_commit() })
        });
        Ok(Committer { sender: Some(sender), thread: Some(thread.map_err(no_thread)?), failed })
    }

    /// Lets the thread do something after all previous jobs.
    pub fn tell(
        &self,
        job: impl FnOnce(&mut Writer) -> Result<(), SearchError> + Send + 'static,
    ) -> Result<(), SearchError> {
        if self.failed.load(Ordering::Relaxed) {
            return Err(SearchError::Unwritten);
        }
        let sender = self.sender.as_ref().ok_or(SearchError::Unwritten)?;
        sender.send(Box::new(job)).map_err(|_| SearchError::Unwritten)
    }

    /// Does the same and waits for the result.
    pub fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Writer) -> Result<T, SearchError> + Send + 'static,
    ) -> Result<T, SearchError> {
        let (answer, wait) = bounded(1);
        self.tell(move |writer| {
            let found = job(writer)?;
            // There is no receiver only if the search has failed elsewhere.
            let _ = answer.send(found);
            Ok(())
        })?;
        wait.recv().map_err(|_| SearchError::Unwritten)
    }

    /// Stops the thread without a commit and returns the writer's manifest.
    pub fn stop(mut self) -> Result<Manifest, SearchError> {
        self.sender = None;
        let thread = self.thread.take().expect("a committer is closed once");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Commits everything, stops the thread and returns the manifest.
    pub fn close(self) -> Result<Manifest, SearchError> {
        // Fails only with the thread, which has then reported the reason.
        let _ = self.ask(Writer::commit);
        self.stop()
    }
}

impl Drop for Committer {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Number of bytes written between two syncs, so that a commit finds little left to do.
const WRITE_BACK: u64 = 256 << 20;

/// Time between two commits of a committer that leaves them to its caller; see [`Writer::sync`].
const NEVER: Duration = Duration::MAX;
