//! The exchange of one machine whose planes exceed its memory: files.
//!
//! Invariant: these files are scratch. Names and headers carry the run's number, so a run that is resumed
//! removes its own and makes them again from the level files; they are never synced. What is read back is
//! what was written, or an error: the hash of every segment stays in memory. A segment is read once and gives its disk
//! back, so what is read and what is written together take little more than one of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};

use twox_hash::XxHash3_64;

use crate::Error;
use crate::search::communicator::Communicator;
use crate::search::disk::directories::Directories;
use crate::search::disk::error::DiskError;
use crate::search::disk::exchange::Exchange;
use crate::store::{Append, RunFile};

/// First bytes of a scratch file.
const MAGIC: [u8; 8] = *b"TWCROSS\n";

/// Bytes of a segment whose disk is given back as soon as it was read: less is not worth a call to the system.
const LARGE: u64 = 1 << 16;

/// One file per depth and sending chunk, with the segments for all others.
pub(crate) struct FileExchange<'a> {
    directories: &'a Directories,
    run: u64,
    limit: Option<u64>,
    /// For each depth and receiving chunk where its segments lie.
    sent: HashMap<(u32, usize), Vec<FileSegment>>,
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

struct FileSegment {
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
        self.directories.of_chunk(file.1).remove(&self.name(file))?;
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
            let mut file = created?;
            let mut header = MAGIC.to_vec();
            header.extend(self.run.to_le_bytes());
            let len = header.len() as u64;
            let new = ScratchFile { len, held: len, waiting: 0 };
            self.files.insert(key, new);
            self.count(depth, len)?;
            file.append(&header)?;
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
        open.append(&segment)?;
        self.sent.entry((depth, to)).or_default().push(FileSegment {
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
            let storage = self.directories.of_chunk(segment.from);
            let file = match open.take() {
                Some((from, file)) if from == segment.from => file,
                _ => storage.open(&self.name(key))?,
            };
            let bytes = file.read(segment.offset, segment.len)?;
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
        let old: Vec<(u32, usize)> = self.files.keys().copied().filter(|f| f.0 == depth).collect();
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

// The exchange between ranks: segments wait in memory and travel between two supersteps.
//
// Invariant: a segment for a chunk of this rank never leaves it; one for another rank travels once, in
// the order in which it was sent. In a superstep the messages for other ranks are at most 1 bit per
// line and plane of the chunks computed meanwhile; those that have arrived are at most 1 bit per line
// and plane of this rank's chunks for the step in progress, and as much for the next.

/// Bytes of the header of a message: depth, from chunk, to chunk, plane, length, 4 bytes each.
const HEADER: usize = 20;

/// A segment on its way: from chunk, plane, bits.
type SegmentMessage = (usize, usize, Vec<u8>);

/// The messages of a rank.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<Mutex<Messages>>);

struct Messages {
    rank: usize,
    /// Rank of each chunk.
    owners: Vec<usize>,
    /// For each rank what it is to get.
    out: Vec<Vec<u8>>,
    /// What has arrived, by depth and receiving chunk.
    held: HashMap<(u32, usize), Vec<SegmentMessage>>,
    /// Bytes sent to other ranks for the step to each depth.
    sent: BTreeMap<u32, u64>,
}

impl Outbox {
    /// Returns an empty outbox; `owners` are the ranks of the chunks.
    pub fn new(communicator: &dyn Communicator, owners: Vec<usize>) -> Outbox {
        Outbox(Arc::new(Mutex::new(Messages {
            rank: communicator.rank(),
            owners,
            out: vec![Vec::new(); communicator.size()],
            held: HashMap::new(),
            sent: BTreeMap::new(),
        })))
    }

    fn messages(&self) -> MutexGuard<'_, Messages> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Brings all messages to their ranks; a collective call.
    pub fn deliver(&self, communicator: &dyn Communicator) -> Result<(), Error> {
        let none = vec![Vec::new(); communicator.size()];
        let mut out = std::mem::replace(&mut self.messages().out, none);
        for part in &mut out {
            let hash = XxHash3_64::oneshot(part);
            part.extend(hash.to_le_bytes());
        }
        let arrived = communicator.all_to_all(out);
        let mut messages = self.messages();
        for (rank, bytes) in arrived.iter().enumerate() {
            let whole = |&(bytes, hash): &(&[u8], &[u8; 8])| {
                hash == &XxHash3_64::oneshot(bytes).to_le_bytes()
            };
            let part = bytes.split_last_chunk().filter(whole);
            let opened = part.and_then(|(mut rest, _)| {
                while !rest.is_empty() {
                    messages.open(&mut rest)?;
                }
                Some(())
            });
            opened.ok_or_else(|| DiskError::Elsewhere {
                rank,
                reason: "what it sends arrives damaged: check the network and the memory of the machines".into(),
            })?;
        }
        Ok(())
    }

    /// Returns the bytes that left this rank for the step to each depth below `depths`.
    pub fn sent(&self, depths: usize) -> Vec<u64> {
        let messages = self.messages();
        let of = |depth: usize| messages.sent.get(&(depth as u32)).copied();
        (0..depths).map(|depth| of(depth).unwrap_or(0)).collect()
    }
}

impl Messages {
    /// Takes one message from the front of `rest`.
    fn open(&mut self, rest: &mut &[u8]) -> Option<()> {
        let (header, others) = rest.split_first_chunk::<HEADER>()?;
        let number = |i: usize| Some(u32::from_le_bytes(*header[4 * i..].first_chunk()?));
        let (depth, plane) = (number(0)?, number(3)? as usize);
        let (from, to) = (number(1)? as usize, number(2)? as usize);
        let (segment, others) = others.split_at_checked(number(4)? as usize)?;
        if self.owners.get(to) != Some(&self.rank) || from >= self.owners.len() {
            return None;
        }
        *rest = others;
        let message = (from, plane, segment.to_vec());
        self.held.entry((depth, to)).or_default().push(message);
        Some(())
    }
}

impl Exchange for Outbox {
    fn leaves(&self, to: usize) -> bool {
        let messages = self.messages();
        messages.owners[to] != messages.rank
    }

    fn send(
        &mut self,
        depth: u32,
        from: usize,
        to: usize,
        plane: usize,
        segment: Vec<u8>,
    ) -> Result<(), Error> {
        let messages = &mut *self.messages();
        let owner = messages.owners[to];
        if owner == messages.rank {
            let held = messages.held.entry((depth, to)).or_default();
            held.push((from, plane, segment));
            return Ok(());
        }
        let out = &mut messages.out[owner];
        let start = out.len();
        let len = segment.len() as u32;
        for number in [depth, from as u32, to as u32, plane as u32, len] {
            out.extend(number.to_le_bytes());
        }
        out.extend(segment);
        *messages.sent.entry(depth).or_default() += (out.len() - start) as u64;
        Ok(())
    }

    fn receive(&mut self, depth: u32, to: usize) -> Result<Vec<SegmentMessage>, Error> {
        Ok(self.messages().held.remove(&(depth, to)).unwrap_or_default())
    }

    fn forget(&mut self, depth: u32) -> Result<(), Error> {
        self.messages().held.retain(|(d, _), _| *d != depth);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    //! What `src/bfs/disk/outbox.rs` keeps to itself.

    use super::*;
    use crate::search::communicator::{OneProcess, Reduce};

    /// Rank 1 of two, when rank 0 owns these chunks.
    struct Other;

    impl Communicator for Other {
        fn rank(&self) -> usize {
            1
        }

        fn size(&self) -> usize {
            2
        }

        fn all_to_all(&self, parts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
            parts
        }

        fn all_reduce(&self, _: Reduce, _: &mut [u64]) {}
    }

    /// What rank 1 sends to rank 0 when it takes chunks 0 and 1 for rank 0's.
    fn message(from: usize, to: usize) -> Vec<u8> {
        let mut outbox = Outbox::new(&Other, vec![0, 0]);
        outbox.send(3, from, to, 0, vec![9]).unwrap();
        std::mem::take(&mut outbox.messages().out[0])
    }

    #[test]
    fn messages_that_make_no_sense_are_refused() {
        let inbox = Outbox::new(&OneProcess, vec![0, 1]);
        let open = |bytes: &[u8]| inbox.messages().open(&mut &*bytes);
        let good = message(1, 0);
        assert_eq!(open(&good), Some(()));
        assert_eq!(inbox.messages().held[&(3, 0)], [(1, 0, vec![9])]);
        assert_eq!(open(&message(1, 1)), None);
        assert_eq!(open(&message(2, 0)), None);
        assert_eq!(open(&good[..good.len() - 1]), None);
        assert_eq!(open(&good[..5]), None);
    }
}
