//! The work of the writing thread: frames to files, files to commits.
//!
//! Invariant: a manifest is written only after all files that it names are synced, through the handle that
//! wrote them; a file gets the name of a level file only after a manifest that names it is durable, and is
//! removed only after one that no longer names it is. Until then its name carries the run's number.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, bounded};
use twox_hash::XxHash3_64;

use crate::Error;
use crate::kernel::Tally;
use crate::search::communicator::Communicator;
use crate::search::disk::directories::Directories;
use crate::search::disk::error::DiskError;
use crate::search::error::SearchError;
use crate::store::{
    Append, ChunkRecord, LevelFiles, LevelHeader, LevelRecord, LevelSum, LevelWriter, Manifest,
    RunFile, StorageError,
};

/// Most files that wait for their sync with an open handle.
const OPEN: usize = 128;

/// The file of a chunk being written.
pub(crate) struct Open {
    header: LevelHeader,
    /// Created with the first frame: a chunk without states has no file.
    writer: Option<LevelWriter>,
    /// Next frame to be written; later ones wait.
    next: u32,
    waiting: BTreeMap<u32, EncodedFrames>,
    /// Bytes written, and of these since the last sync.
    bytes: u64,
}

pub(crate) struct Writer {
    pub(crate) directories: Directories,
    pub(crate) manifest: Manifest,
    pub(crate) every: Duration,
    pub(crate) limit: Option<u64>,
    pub(crate) committed: Instant,
    /// Whether a commit has begun and not come to its end, or a file could not be made durable: what the disk then has of
    /// it nobody knows, a second sync that succeeds says nothing of the bytes that the first one lost.
    pub(crate) uncertain: bool,
    /// When the time in the manifest was last brought up to date.
    pub(crate) counted: Instant,
    pub(crate) open: Option<Open>,
    /// Files written since the last commit, by depth and chunk, with the handles through which they are
    /// still to be synced.
    pub(crate) pending: BTreeMap<(u32, u32), Option<Box<dyn Append>>>,
    /// Files that the next manifest is the first to name.
    pub(crate) named: Vec<(u32, u32)>,
    /// Files that the manifest no longer names: depth, chunk, bytes.
    pub(crate) superseded: Vec<(u32, u32, u64)>,
}

impl Open {
    fn new(header: LevelHeader) -> Open {
        Open { header, writer: None, next: 0, waiting: BTreeMap::new(), bytes: 0 }
    }
}

impl Writer {
    pub(crate) fn run(&mut self, receiver: &Receiver<WriterMessage>) -> Result<(), DiskError> {
        for message in receiver {
            match message {
                WriterMessage::Begin(header) => self.open = Some(Open::new(header)),
                WriterMessage::Frames(encoded) => self.frames(encoded)?,
                WriterMessage::End(tally) => self.end(tally)?,
                WriterMessage::Level(sums, done) => {
                    self.level(sums)?;
                    let _ = done.send(());
                    self.commit_if_due()?;
                }
                WriterMessage::Finished(depth, done) => {
                    let files = self.manifest.files_of(depth);
                    let _ = done.send(files.map_or(Vec::new(), |files| files.chunks.clone()));
                }
                WriterMessage::Sync(done) => {
                    self.sync()?;
                    let _ = done.send(self.manifest.clone());
                }
                WriterMessage::Supersede => self.supersede()?,
                WriterMessage::Commit(done) => {
                    self.commit()?;
                    // Nobody waits only when the search has failed elsewhere.
                    let _ = done.send(());
                }
            }
        }
        Ok(())
    }

    fn frames(&mut self, encoded: EncodedFrames) -> Result<(), DiskError> {
        let Some(mut open) = self.open.take() else {
            return Ok(());
        };
        let written = self.in_order(&mut open, encoded);
        self.open = Some(open);
        written
    }

    /// Appends the frames whose turn it is.
    fn in_order(&mut self, open: &mut Open, encoded: EncodedFrames) -> Result<(), DiskError> {
        open.waiting.insert(encoded.first, encoded);
        while let Some(encoded) = open.waiting.remove(&open.next) {
            open.next = encoded.end;
            let mut rest = &encoded.bytes[..];
            for &(frame, len, hash) in &encoded.frames {
                let (bytes, others) = rest.split_at(len);
                self.append(open, frame, bytes, hash)?;
                rest = others;
            }
        }
        Ok(())
    }

    fn append(
        &mut self,
        open: &mut Open,
        frame: u32,
        bytes: &[u8],
        hash: u64,
    ) -> Result<(), DiskError> {
        let (depth, chunk) = (open.header.depth, open.header.chunk);
        let mut write = || {
            let writer = match &mut open.writer {
                Some(writer) => writer,
                none => {
                    let storage = self.directories.of_chunk(chunk as usize);
                    let file = storage.create(&open.header.uncommitted().name())?;
                    none.insert(LevelWriter::new(file, &open.header)?)
                }
            };
            writer.frame(frame, bytes, hash)?;
            open.bytes += bytes.len() as u64;
            if open.bytes >= WRITE_BACK {
                open.bytes = 0;
                writer.sync()?;
            }
            Ok(())
        };
        write().map_err(|e: StorageError| DiskError::from(e))?;
        let used = self.directories.used();
        used.levels.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let all = used.bytes();
        self.manifest.peak_bytes = self.manifest.peak_bytes.max(all);
        if let Some(limit) = self.limit.filter(|&limit| all > limit) {
            return Err(DiskError::Limit { depth, limit, lost: false });
        }
        Ok(())
    }

    fn end(&mut self, tally: Tally) -> Result<(), DiskError> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let (depth, chunk) = (open.header.depth, open.header.chunk);
        let mut record =
            ChunkRecord { chunk, states: tally.states, checksum: tally.checksum, bytes: 0 };
        if let Some(writer) = open.writer {
            let (states, checksum) = (tally.states, tally.checksum);
            let frames = writer.bytes();
            let levels = &self.manifest.levels;
            let known = levels.len() == depth as usize;
            let before = levels.iter().filter(|_| known).map(|l| l.states).sum();
            let finished = writer.finish(LevelSum { states, checksum }, before);
            if finished.is_err() {
                self.open = Some(Open::new(open.header));
            }
            let (len, file) = finished?;
            record.bytes = len;
            let used = self.directories.used();
            used.levels.fetch_add(len - frames, Ordering::Relaxed);
            self.manifest.bytes_written += len;
            self.pending.insert((depth, chunk), Some(file));
            self.sync_some()?;
        }
        let manifest = &mut self.manifest;
        match manifest.files.last_mut().filter(|files| files.depth == depth) {
            Some(files) => files.chunks.push(record),
            None => manifest.files.push(LevelFiles { depth, chunks: vec![record] }),
        }
        if !manifest.keep_all
            && let Some(before) = depth.checked_sub(2)
        {
            // The chunk's level d - 2 is subtracted: nobody needs it any more.
            let files = manifest.files.iter_mut().find(|f| f.depth == before);
            let old = files.and_then(|files| {
                let at = files.chunks.iter().position(|old| old.chunk == chunk)?;
                Some(files.chunks.swap_remove(at))
            });
            if let Some(old) = old {
                self.let_go(before, &old)?;
            }
        }
        self.count_time();
        self.commit_if_due()
    }

    /// Lets the file of a chunk go that the next manifest does not name.
    fn let_go(&mut self, depth: u32, old: &ChunkRecord) -> Result<(), DiskError> {
        if !old.has_file() {
            return Ok(());
        }
        let (run, chunk) = (self.manifest.run, old.chunk);
        let file = (depth, chunk, old.bytes);
        match self.pending.remove(&(depth, chunk)) {
            // A file that no manifest has named yet can go at once, unsynced.
            Some(_) => self.remove(file, &[RunFile::Uncommitted { run, depth, chunk }])?,
            None => self.superseded.push(file),
        }
        Ok(())
    }

    /// Removes the file of a chunk, which has one of the names.
    fn remove(
        &mut self,
        (_, chunk, bytes): (u32, u32, u64),
        names: &[RunFile],
    ) -> Result<(), DiskError> {
        let storage = self.directories.of_chunk(chunk as usize);
        let mut removed = names.iter().map(|file| storage.remove(&file.name()));
        removed.try_for_each(|removed| removed)?;
        let used = self.directories.used();
        used.levels.fetch_sub(bytes, Ordering::Relaxed);
        Ok(())
    }

    fn count_time(&mut self) {
        let seconds = self.counted.elapsed().as_secs_f64();
        self.counted = Instant::now();
        self.manifest.seconds += seconds;
        self.manifest.level_seconds += seconds;
    }

    fn level(&mut self, [states, checksum, bytes]: [u64; 3]) -> Result<(), DiskError> {
        self.count_time();
        let manifest = &mut self.manifest;
        let depth = manifest.levels.len() as u32;
        let seconds = std::mem::take(&mut manifest.level_seconds);
        let mut empty = Vec::new();
        if states == 0 {
            // The level after the deepest one.
            manifest.complete = true;
            let last = manifest.files.extract_if(.., |files| files.depth == depth);
            empty = last.flat_map(|files| files.chunks).collect();
        } else {
            manifest.levels.push(LevelRecord { states, checksum, seconds, bytes });
        }
        manifest.files.retain(|files| !files.chunks.is_empty());
        empty.iter().try_for_each(|old| self.let_go(depth, old))
    }

    fn commit_if_due(&mut self) -> Result<(), DiskError> {
        if self.committed.elapsed() >= self.every {
            self.commit()?;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), DiskError> {
        self.uncertain = true;
        self.sync()?;
        let first = self.directories.first();
        self.manifest.write(first)?;
        self.supersede()
    }

    /// Makes files durable until few enough are open.
    fn sync_some(&mut self) -> Result<(), DiskError> {
        while self.pending.values().flatten().count() > OPEN {
            let oldest = self.pending.iter_mut().find(|(_, file)| file.is_some());
            let Some((_, file)) = oldest else {
                break;
            };
            let synced = file.take().map_or(Ok(()), |mut file| file.sync());
            self.uncertain |= synced.is_err();
            synced?;
        }
        Ok(())
    }

    /// Makes the files written since the last commit durable.
    fn sync(&mut self) -> Result<(), DiskError> {
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

    /// Gives the files that the manifest just written names their names, and removes those that it no
    /// longer names.
    fn supersede(&mut self) -> Result<(), DiskError> {
        let run = self.manifest.run;
        for (depth, chunk) in std::mem::take(&mut self.named) {
            let storage = self.directories.of_chunk(chunk as usize);
            let uncommitted = RunFile::Uncommitted { run, depth, chunk }.name();
            storage.rename(&uncommitted, &Manifest::file_name(depth, chunk))?;
        }
        for old in std::mem::take(&mut self.superseded) {
            let (depth, chunk, _) = old;
            // That of a committed one was read with this run's header.
            let names =
                [RunFile::Uncommitted { run, depth, chunk }, RunFile::Level { depth, chunk }];
            self.remove(old, &names)?;
        }
        self.committed = Instant::now();
        self.uncertain = false;
        Ok(())
    }

    /// Removes the half-written file, to give its space back, and commits the chunks that are whole,
    /// unless it was a commit or a sync that failed: a file whose sync has failed once must not be named.
    /// A committer of several commits nothing itself. Returns whether everything that was whole is committed; the last
    /// commit stands in any case.
    pub(crate) fn give_up(&mut self) -> bool {
        if let Some(Open { header, .. }) = self.open.take() {
            let storage = self.directories.of_chunk(header.chunk as usize);
            // The next session removes it otherwise.
            let _ = storage.remove(&header.uncommitted().name());
        }
        !self.uncertain && self.every < NEVER && self.commit().is_ok()
    }
}

// The writer: appends frames behind the workers and commits.
//
// Invariant: a manifest is written only after all files that it names are synced, and a file is
// removed only after a manifest that no longer names it is durable. So at every instant the last
// manifest and its files are whole.

/// Encoded frames that may wait to be written, in messages of at most 16 frames.
const WAITING: usize = 64;

/// The writing thread of a run.
pub(crate) struct Committer {
    sender: Option<Sender<WriterMessage>>,
    thread: Option<std::thread::JoinHandle<Manifest>>,
    failed: Arc<Mutex<Option<DiskError>>>,
}

/// No thread could be started for a reader or the writer.
pub(crate) fn no_thread(reason: std::io::Error) -> SearchError {
    SearchError::Threads { threads: 1, reason: reason.to_string() }
}

/// The writing thread has failed; [`Committer::close`] says why.
#[derive(Debug)]
pub(crate) struct Failed;

impl Committer {
    /// Starts the thread, which commits whenever `every` has passed at the end of a chunk, and fails when
    /// level files come to more than `limit` bytes.
    pub fn start(
        directories: Directories,
        manifest: Manifest,
        every: Duration,
        limit: Option<u64>,
    ) -> Result<Committer, SearchError> {
        let (sender, receiver) = bounded(WAITING);
        let failed = Arc::new(Mutex::new(None));
        let levels = &directories.used().levels;
        levels.store(manifest.disk_bytes(), Ordering::Relaxed);
        let mut writer = Writer {
            directories,
            manifest,
            every,
            limit,
            committed: Instant::now(),
            uncertain: false,
            counted: Instant::now(),
            open: None,
            pending: BTreeMap::new(),
            named: Vec::new(),
            superseded: Vec::new(),
        };
        let failure = Arc::clone(&failed);
        let thread = Builder::new().spawn(move || {
            if let Err(error) = writer.run(&receiver) {
                let said = || failure.lock().unwrap_or_else(|e| e.into_inner());
                *said() = Some(error);
                if !writer.give_up() {
                    let error = said().take();
                    *said() = error.map(DiskError::without_commit);
                }
                // Whoever waits for an answer gets it by its message being dropped.
                for message in &receiver {
                    drop(message);
                }
            }
            writer.manifest
        });
        Ok(Committer { sender: Some(sender), thread: Some(thread.map_err(no_thread)?), failed })
    }

    fn send(&self, message: WriterMessage) -> Result<(), Failed> {
        if self.failed.lock().unwrap_or_else(|e| e.into_inner()).is_some() {
            return Err(Failed);
        }
        let sender = self.sender.as_ref().ok_or(Failed)?;
        sender.send(message).map_err(|_| Failed)
    }

    /// Begins the file of a chunk.
    pub fn begin(&self, header: LevelHeader) -> Result<(), Failed> {
        self.send(WriterMessage::Begin(header))
    }

    /// Hands over encoded frames of the chunk, in any order.
    pub fn frames(&self, encoded: EncodedFrames) -> Result<(), Failed> {
        self.send(WriterMessage::Frames(encoded))
    }

    /// Ends the file of the chunk, after all its frames.
    pub fn end(&self, tally: Tally) -> Result<(), Failed> {
        self.send(WriterMessage::End(tally))
    }

    /// Ends the level, after all its chunks: its states, checksum and bytes on all ranks.
    pub fn level(&self, sums: [u64; 3]) -> Result<(), Failed> {
        let (done, wait) = bounded(1);
        self.send(WriterMessage::Level(sums, done))?;
        wait.recv().map_err(|_| Failed)
    }

    /// Returns the chunks of a level that are written and can be read.
    pub fn finished(&self, depth: u32) -> Result<Vec<ChunkRecord>, Failed> {
        let (done, wait) = bounded(1);
        self.send(WriterMessage::Finished(depth, done))?;
        wait.recv().map_err(|_| Failed)
    }

    /// Makes all finished files durable and returns what the writer knows of them, without writing a
    /// manifest: that is for the one who calls. [`Committer::supersede`] must follow.
    pub fn sync(&self) -> Result<Manifest, Failed> {
        let (done, wait) = bounded(1);
        self.send(WriterMessage::Sync(done))?;
        wait.recv().map_err(|_| Failed)
    }

    /// Names and removes files as the manifest written since [`Committer::sync`] says.
    pub fn supersede(&self) -> Result<(), Failed> {
        self.send(WriterMessage::Supersede)
    }

    /// Stops the thread without a commit and returns what the writer knows.
    pub fn stop(mut self) -> Result<Manifest, DiskError> {
        self.join()
    }

    /// Commits everything, stops the thread and returns the manifest.
    pub fn close(mut self) -> Result<Manifest, DiskError> {
        let (done, wait) = bounded(1);
        if self.send(WriterMessage::Commit(done)).is_ok() {
            // Fails only with the thread, which has then said why.
            let _ = wait.recv();
        }
        self.join()
    }

    fn join(&mut self) -> Result<Manifest, DiskError> {
        self.sender = None;
        let thread = self.thread.take().expect("a committer is closed once");
        let manifest = thread.join();
        let failed = self.failed.lock().unwrap_or_else(|e| e.into_inner()).take();
        match (failed, manifest) {
            (Some(error), _) => Err(error),
            (None, Ok(manifest)) => Ok(manifest),
            (None, Err(panic)) => std::panic::resume_unwind(panic),
        }
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

// What the workers and the loop over the levels tell the writing thread.
//
// Invariant: the messages of a chunk come as one begin, its frames in any order, one end.

/// Bytes written between two syncs, so that a commit finds little left to do.
pub(crate) const WRITE_BACK: u64 = 256 << 20;

/// Time between two commits of a committer that leaves them to its caller, see [`Committer::sync`].
pub(crate) const NEVER: Duration = Duration::MAX;

/// Encoded frames of neighbouring frame numbers; those without states are left out.
pub(crate) struct EncodedFrames {
    /// First frame, whether it holds states or not.
    pub first: u32,
    /// One past the last frame.
    pub end: u32,
    /// Frame, length, hash.
    pub frames: Vec<(u32, usize, u64)>,
    /// The bytes of the frames, one after the other.
    pub bytes: Vec<u8>,
}

impl EncodedFrames {
    /// Returns no frames of a range.
    pub fn new(first: usize, end: usize) -> EncodedFrames {
        EncodedFrames {
            first: first as u32,
            end: end as u32,
            frames: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Adds a frame.
    pub fn push(&mut self, frame: usize, bytes: &[u8]) {
        self.frames.push((frame as u32, bytes.len(), XxHash3_64::oneshot(bytes)));
        self.bytes.extend(bytes);
    }
}

pub(crate) enum WriterMessage {
    Begin(LevelHeader),
    Frames(EncodedFrames),
    End(Tally),
    Level([u64; 3], Sender<()>),
    Commit(Sender<()>),
    Finished(u32, Sender<Vec<ChunkRecord>>),
    Sync(Sender<Manifest>),
    Supersede,
}

// How a session ends early.
//
// Invariant: what one rank meets alone is told to the others by the end of the job; what all know ends all
// of them alike.

/// Why a rank has stopped.
#[derive(Debug)]
pub enum Stopped {
    /// All ranks have stopped, each with its own error or the one that names the rank at fault.
    Together(Error),
    /// Only this rank has: the others wait for it until the job is ended.
    Alone(Error),
}

impl Stopped {
    /// Returns what is wrong.
    pub fn into_error(self) -> Error {
        match self {
            Stopped::Together(error) | Stopped::Alone(error) => error,
        }
    }
}

/// Why the levels ended early.
pub(crate) enum Halt {
    /// Something is wrong on this rank.
    Error(Error),
    /// The writer of this rank has failed and says why itself.
    Writer,
    /// All ranks have stopped for this reason.
    Together(Error),
}

impl<E: Into<Error>> From<E> for Halt {
    fn from(error: E) -> Halt {
        Halt::Error(error.into())
    }
}

impl From<Failed> for Halt {
    fn from(_: Failed) -> Halt {
        Halt::Writer
    }
}

/// Returns what this rank has, once every rank has something; else every rank stops.
pub(crate) fn agreed<T>(
    communicator: &dyn Communicator,
    result: Result<T, impl Into<Error>>,
) -> Result<T, Stopped> {
    let result = result.map_err(Into::into);
    let failure = result.as_ref().err().map(ToString::to_string);
    match (communicator.agree(failure), result) {
        (None, Ok(value)) => Ok(value),
        (_, Err(error)) => Err(Stopped::Together(error)),
        (Some((rank, reason)), Ok(_)) => {
            Err(Stopped::Together(DiskError::Elsewhere { rank, reason }.into()))
        }
    }
}
