//! The exchange of one machine whose planes exceed its memory: files.
//!
//! Invariant: these files are scratch. Names and headers carry the run's number, so a run that is resumed
//! removes its own and makes them again from the level files; they are never synced. What is read back is
//! what was written, or an error: the hash of every segment stays in memory. A segment is read once and gives its disk
//! back, so what is read and what is written together take little more than one of them.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::Ordering;

use twox_hash::XxHash3_64;

use super::directories::Directories;
use super::error::DiskError;
use crate::Error;
use crate::bfs::exchange::Exchange;
use crate::store::{Append, RunFile};

/// First bytes of a scratch file.
const MAGIC: [u8; 8] = *b"TWCROSS\n";
/// Bytes of a segment whose disk is given back as soon as it was read: less is not worth a call to the system.
const LARGE: u64 = 1 << 16;

/// One file per depth and sending chunk, with the segments for all others.
pub(super) struct FileExchange<'a> {
    directories: &'a Directories,
    run: u64,
    limit: Option<u64>,
    /// For each depth and receiving chunk where its segments lie.
    sent: HashMap<(u32, usize), Vec<Segment>>,
    /// The file being written.
    open: Option<((u32, usize), Box<dyn Append>)>,
    /// The files by depth and sending chunk.
    files: HashMap<(u32, usize), ScratchFile>,
}

struct ScratchFile {
    len: u64,
    /// Bytes that are still on the disk.
    held: u64,
    /// Segments that wait to be received.
    waiting: usize,
}

struct Segment {
    from: usize,
    plane: usize,
    offset: u64,
    len: usize,
    hash: u64,
}

impl<'a> FileExchange<'a> {
    /// Returns an exchange of a run whose level files and scratch may come to `limit` bytes.
    pub fn new(directories: &'a Directories, run: u64, limit: Option<u64>) -> FileExchange<'a> {
        FileExchange {
            directories,
            run,
            limit,
            sent: HashMap::new(),
            open: None,
            files: HashMap::new(),
        }
    }

    fn name(&self, (depth, from): (u32, usize)) -> String {
        let (run, chunk) = (self.run, from as u32);
        RunFile::Scratch { run, depth, chunk }.name()
    }

    fn error(&self, file: (u32, usize), error: io::Error) -> Error {
        let storage = self.directories.of_chunk(file.1);
        DiskError::io(storage, &self.name(file), error).into()
    }

    /// Counts bytes as used, and refuses more than may be.
    fn count(&self, depth: u32, bytes: u64) -> Result<(), Error> {
        let used = self.directories.used();
        used.scratch.fetch_add(bytes, Ordering::Relaxed);
        match self.limit.filter(|&limit| used.bytes() > limit) {
            Some(limit) => {
                let lost = false;
                Err(DiskError::Limit { depth, limit, lost }.into())
            }
            None => Ok(()),
        }
    }

    fn remove(&mut self, file: (u32, usize)) -> Result<(), Error> {
        let Some(ScratchFile { held, .. }) = self.files.remove(&file) else {
            return Ok(());
        };
        let removed = self.directories.of_chunk(file.1).remove(&self.name(file));
        removed.map_err(|e| self.error(file, e))?;
        let used = self.directories.used();
        used.scratch.fetch_sub(held, Ordering::Relaxed);
        Ok(())
    }
}

impl Exchange for FileExchange<'_> {
    fn leaves(&self, _: usize) -> bool {
        true
    }

    fn send(
        &mut self,
        depth: u32,
        from: usize,
        to: usize,
        plane: usize,
        segment: Vec<u8>,
    ) -> Result<(), Error> {
        let key = (depth, from);
        if self.open.as_ref().is_none_or(|(open, _)| *open != key) {
            let created = self.directories.of_chunk(from).create(&self.name(key));
            let mut file = created.map_err(|e| self.error(key, e))?;
            let mut header = MAGIC.to_vec();
            header.extend(self.run.to_le_bytes());
            let len = header.len() as u64;
            let new = ScratchFile {
                len,
                held: len,
                waiting: 0,
            };
            self.files.insert(key, new);
            self.count(depth, len)?;
            file.append(&header).map_err(|e| self.error(key, e))?;
            self.open = Some((key, file));
        }
        self.count(depth, segment.len() as u64)?;
        let (Some((_, open)), Some(file)) = (&mut self.open, self.files.get_mut(&key)) else {
            return Ok(());
        };
        let offset = file.len;
        file.len += segment.len() as u64;
        file.held += segment.len() as u64;
        file.waiting += 1;
        let appended = open.append(&segment);
        appended.map_err(|e| self.error(key, e))?;
        self.sent.entry((depth, to)).or_default().push(Segment {
            from,
            plane,
            offset,
            len: segment.len(),
            hash: XxHash3_64::oneshot(&segment),
        });
        Ok(())
    }

    fn receive(&mut self, depth: u32, to: usize) -> Result<Vec<(usize, usize, Vec<u8>)>, Error> {
        let mut received = Vec::new();
        let mut open = None;
        for segment in self.sent.remove(&(depth, to)).unwrap_or_default() {
            let key = (depth, segment.from);
            let wrong = |e| self.error(key, e);
            let storage = self.directories.of_chunk(segment.from);
            let file = match open.take() {
                Some((from, file)) if from == segment.from => file,
                _ => storage.open(&self.name(key)).map_err(wrong)?,
            };
            let bytes = file.read(segment.offset, segment.len).map_err(wrong)?;
            if XxHash3_64::oneshot(bytes.as_ref()) != segment.hash {
                return Err(DiskError::Scratch {
                    directory: storage.name(),
                    file: self.name(key),
                    depth,
                }
                .into());
            }
            received.push((segment.from, segment.plane, bytes.as_ref().to_vec()));
            open = Some((segment.from, file));
            let Some(file) = self.files.get_mut(&key) else {
                continue;
            };
            file.waiting -= 1;
            let len = segment.len as u64;
            // The last one takes the file with it.
            if file.waiting > 0 && len >= LARGE {
                let (run, chunk) = (self.run, key.1 as u32);
                let name = RunFile::Scratch { run, depth, chunk }.name();
                // An economy: where the system does not do it, the bytes are held until the file goes.
                if storage.release(&name, segment.offset, len) {
                    file.held -= len;
                    let used = self.directories.used();
                    used.scratch.fetch_sub(len, Ordering::Relaxed);
                }
            }
        }
        let done: Vec<(u32, usize)> = received.iter().map(|r| (depth, r.0)).collect();
        for file in done {
            if self.files.get(&file).is_some_and(|f| f.waiting == 0) {
                self.remove(file)?;
            }
        }
        Ok(received)
    }

    fn forget(&mut self, depth: u32) -> Result<(), Error> {
        self.sent.retain(|(d, _), _| *d != depth);
        let old: Vec<(u32, usize)> = self
            .files
            .keys()
            .copied()
            .filter(|f| f.0 == depth)
            .collect();
        old.into_iter().try_for_each(|file| self.remove(file))
    }
}

impl Drop for FileExchange<'_> {
    fn drop(&mut self) {
        self.open = None;
        let files: Vec<(u32, usize)> = self.files.keys().copied().collect();
        for file in files {
            // What cannot be removed now is found by its name when the search goes on.
            let _ = self.remove(file);
        }
        self.directories.used().scratch.store(0, Ordering::Relaxed);
    }
}
