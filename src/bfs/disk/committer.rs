//! The writer: appends frames behind the workers and commits.
//!
//! Invariant: a manifest is written only after all files that it names are synced, and a file is
//! removed only after a manifest that no longer names it is durable. So at every instant the last
//! manifest and its files are whole.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam::channel::{Sender, bounded};

use super::directories::Directories;
use super::error::DiskError;
use super::message::{Encoded, Message};
use super::writer::Writer;
use crate::bfs::error::SearchError;
use crate::perm::kernel::Tally;
use crate::store::{ChunkRecord, LevelHeader, Manifest};

/// Encoded frames that may wait to be written, in messages of at most 16 frames.
const WAITING: usize = 64;
/// The writing thread of a run.
pub(super) struct Committer {
    sender: Option<Sender<Message>>,
    thread: Option<std::thread::JoinHandle<Manifest>>,
    failed: Arc<Mutex<Option<DiskError>>>,
}

/// No thread could be started for a reader or the writer.
pub(super) fn no_thread(reason: std::io::Error) -> SearchError {
    SearchError::Threads {
        threads: 1,
        reason: reason.to_string(),
    }
}

/// The writing thread has failed; [`Committer::close`] says why.
#[derive(Debug)]
pub(super) struct Failed;

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
        Ok(Committer {
            sender: Some(sender),
            thread: Some(thread.map_err(no_thread)?),
            failed,
        })
    }

    fn send(&self, message: Message) -> Result<(), Failed> {
        if self
            .failed
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .is_some()
        {
            return Err(Failed);
        }
        let sender = self.sender.as_ref().ok_or(Failed)?;
        sender.send(message).map_err(|_| Failed)
    }

    /// Begins the file of a chunk.
    pub fn begin(&self, header: LevelHeader) -> Result<(), Failed> {
        self.send(Message::Begin(header))
    }

    /// Hands over encoded frames of the chunk, in any order.
    pub fn frames(&self, encoded: Encoded) -> Result<(), Failed> {
        self.send(Message::Frames(encoded))
    }

    /// Ends the file of the chunk, after all its frames.
    pub fn end(&self, tally: Tally) -> Result<(), Failed> {
        self.send(Message::End(tally))
    }

    /// Ends the level, after all its chunks: its states, checksum and bytes on all ranks.
    pub fn level(&self, sums: [u64; 3]) -> Result<(), Failed> {
        let (done, wait) = bounded(1);
        self.send(Message::Level(sums, done))?;
        wait.recv().map_err(|_| Failed)
    }

    /// Returns the chunks of a level that are written and can be read.
    pub fn finished(&self, depth: u32) -> Result<Vec<ChunkRecord>, Failed> {
        let (done, wait) = bounded(1);
        self.send(Message::Finished(depth, done))?;
        wait.recv().map_err(|_| Failed)
    }

    /// Makes all finished files durable and returns what the writer knows of them, without writing a
    /// manifest: that is for the one who calls. [`Committer::supersede`] must follow.
    pub fn sync(&self) -> Result<Manifest, Failed> {
        let (done, wait) = bounded(1);
        self.send(Message::Sync(done))?;
        wait.recv().map_err(|_| Failed)
    }

    /// Names and removes files as the manifest written since [`Committer::sync`] says.
    pub fn supersede(&self) -> Result<(), Failed> {
        self.send(Message::Supersede)
    }

    /// Stops the thread without a commit and returns what the writer knows.
    pub fn stop(mut self) -> Result<Manifest, DiskError> {
        self.join()
    }

    /// Commits everything, stops the thread and returns the manifest.
    pub fn close(mut self) -> Result<Manifest, DiskError> {
        let (done, wait) = bounded(1);
        if self.send(Message::Commit(done)).is_ok() {
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
