//! Segments on their way from chunk to chunk: through files, where the planes of one machine exceed its memory, or
//! between ranks, where they wait in memory and travel between two supersteps.
//!
//! Invariant: a segment is received once, as it was sent, or an error is: the hash of what leaves the memory stays
//! behind or travels with it. Files are scratch. Names and headers carry the run's number, so a run that is resumed
//! removes its own and makes them again from the level files; they are never synced. What was read gives its disk
//! back, so what is read and what is written together take little more than one of them. A segment for a chunk of this
//! rank never leaves it; one for another rank travels once, in the order in which it was sent. In a superstep the
//! messages for other ranks are at most 1 bit per line and plane of the chunks computed meanwhile; those that have
//! arrived are at most 1 bit per line and plane of this rank's chunks for the step in progress, and as much for the next.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;

use twox_hash::XxHash3_64;

use crate::Error;
use crate::search::Communicator;
use crate::search::disk::{Directories, DiskError};
use crate::store::{Append, ReadAt, RunFile};

/// First bytes of a scratch file.
const MAGIC: [u8; 8] = *b"TWCROSS\n";

/// Bytes of a segment whose disk is given back as soon as it was read: less is not worth a call to the system.
const LARGE: u64 = 1 << 16;

/// Bytes of the header of a message: depth, from chunk, to chunk, plane, length, 4 bytes each.
const HEADER: usize = 20;

/// The segments that wait, and how they travel.
pub(crate) struct Exchange<'a> {
    /// By depth of the step and receiving chunk.
    waiting: HashMap<(u32, usize), Vec<WaitingSegment>>,
    route: Route<'a>,
}

/// From chunk, plane, bits.
type WaitingSegment = (usize, usize, SegmentBits);

enum SegmentBits {
    Here(Vec<u8>),
    InFile { offset: u64, len: usize, hash: u64 },
}

enum Route<'a> {
    Files(ScratchFiles<'a>),
    Ranks(Outbox),
}

impl<'a> Exchange<'a> {
    /// Through files of a run whose level files and scratch may come to `limit` bytes.
    pub fn of_files(directories: &'a Directories, run: u64, limit: Option<u64>) -> Exchange<'a> {
        let (open, files) = (None, HashMap::new());
        let files = ScratchFiles { directories, run, limit, open, files };
        Exchange { waiting: HashMap::new(), route: Route::Files(files) }
    }

    /// Between ranks; `owners` are the ranks of the chunks.
    pub fn of_ranks(communicator: &dyn Communicator, owners: Vec<usize>) -> Exchange<'a> {
        let out = vec![Vec::new(); communicator.size()];
        let outbox = Outbox { rank: communicator.rank(), owners, out, sent: BTreeMap::new() };
        Exchange { waiting: HashMap::new(), route: Route::Ranks(outbox) }
    }

    /// Whether segments for a chunk leave the memory, so that fewer bytes are worth the time of coding.
    pub fn leaves(&self, to: usize) -> bool {
        match &self.route {
            Route::Files(_) => true,
            Route::Ranks(outbox) => outbox.owners[to] != outbox.rank,
        }
    }

    /// Sends segments of a chunk for the step to a depth: (to, plane, segment).
    pub fn send(
        &mut self,
        depth: u32,
        from: usize,
        segments: Vec<(usize, usize, Vec<u8>)>,
    ) -> Result<(), Error> {
        for (to, plane, segment) in segments {
            let leaves = self.leaves(to);
            let bits = match &mut self.route {
                Route::Files(files) => files.append((depth, from), &segment)?,
                Route::Ranks(outbox) if leaves => {
                    outbox.push([depth, from as u32, to as u32, plane as u32], &segment);
                    continue;
                }
                Route::Ranks(_) => SegmentBits::Here(segment),
            };
            self.waiting.entry((depth, to)).or_default().push((from, plane, bits));
        }
        Ok(())
    }

    /// Returns the segments sent to a chunk for the step to a depth: (from, plane, segment). May be
    /// called again only after it was sent to again.
    pub fn receive(
        &mut self,
        depth: u32,
        to: usize,
    ) -> Result<Vec<(usize, usize, Vec<u8>)>, Error> {
        let mut received = Vec::new();
        let mut open = None;
        for (from, plane, bits) in self.waiting.remove(&(depth, to)).unwrap_or_default() {
            let bytes = match (bits, &mut self.route) {
                (SegmentBits::Here(bytes), _) => bytes,
                (bits, Route::Files(files)) => files.read((depth, from), &bits, &mut open)?,
                (SegmentBits::InFile { .. }, Route::Ranks(_)) => continue,
            };
            received.push((from, plane, bytes));
        }
        drop(open);
        if let Route::Files(files) = &mut self.route {
            for (from, ..) in &received {
                files.remove_if((depth, *from), |file| file.waiting == 0)?;
            }
        }
        Ok(received)
    }

    /// Forgets what was sent for the step to a depth.
    pub fn forget(&mut self, depth: u32) -> Result<(), Error> {
        self.waiting.retain(|(d, _), _| *d != depth);
        match &mut self.route {
            Route::Files(files) => files.remove_all(|file| file.0 == depth),
            Route::Ranks(_) => Ok(()),
        }
    }

    /// Brings all messages to their ranks; a collective call.
    pub fn deliver(&mut self, communicator: &dyn Communicator) -> Result<(), Error> {
        let Route::Ranks(outbox) = &mut self.route else {
            return Ok(());
        };
        let none = vec![Vec::new(); communicator.size()];
        let mut out = std::mem::replace(&mut outbox.out, none);
        for part in &mut out {
            let hash = XxHash3_64::oneshot(part);
            part.extend(hash.to_le_bytes());
        }
        for (rank, bytes) in communicator.all_to_all(out).iter().enumerate() {
            let whole = |&(bytes, hash): &(&[u8], &[u8; 8])| {
                hash == &XxHash3_64::oneshot(bytes).to_le_bytes()
            };
            let part = bytes.split_last_chunk().filter(whole);
            let opened = part.and_then(|(mut rest, _)| {
                while !rest.is_empty() {
                    self.open(&mut rest)?;
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

    /// Takes one message from the front of `rest`.
    fn open(&mut self, rest: &mut &[u8]) -> Option<()> {
        let Route::Ranks(outbox) = &self.route else {
            return None;
        };
        let (header, others) = rest.split_first_chunk::<HEADER>()?;
        let number = |i: usize| Some(u32::from_le_bytes(*header[4 * i..].first_chunk()?));
        let (depth, plane) = (number(0)?, number(3)? as usize);
        let (from, to) = (number(1)? as usize, number(2)? as usize);
        let (segment, others) = others.split_at_checked(number(4)? as usize)?;
        if outbox.owners.get(to) != Some(&outbox.rank) || from >= outbox.owners.len() {
            return None;
        }
        *rest = others;
        let bits = SegmentBits::Here(segment.to_vec());
        self.waiting.entry((depth, to)).or_default().push((from, plane, bits));
        Some(())
    }

    /// Returns the bytes that left this rank for the step to each depth.
    pub fn sent(&self) -> BTreeMap<u32, u64> {
        match &self.route {
            Route::Files(_) => BTreeMap::new(),
            Route::Ranks(outbox) => outbox.sent.clone(),
        }
    }
}

/// The messages that leave a rank.
struct Outbox {
    rank: usize,
    /// Rank of each chunk.
    owners: Vec<usize>,
    /// For each rank what it is to get.
    out: Vec<Vec<u8>>,
    /// Bytes sent to other ranks for the step to each depth.
    sent: BTreeMap<u32, u64>,
}

impl Outbox {
    fn push(&mut self, [depth, from, to, plane]: [u32; 4], segment: &[u8]) {
        let out = &mut self.out[self.owners[to as usize]];
        for number in [depth, from, to, plane, segment.len() as u32] {
            out.extend(number.to_le_bytes());
        }
        out.extend(segment);
        *self.sent.entry(depth).or_default() += (HEADER + segment.len()) as u64;
    }
}

/// A scratch file: depth of the step, sending chunk.
type ScratchKey = (u32, usize);

/// One file per depth and sending chunk, with the segments for all others.
struct ScratchFiles<'a> {
    directories: &'a Directories,
    run: u64,
    limit: Option<u64>,
    /// The file being written.
    open: Option<(ScratchKey, Box<dyn Append>)>,
    files: HashMap<ScratchKey, ScratchFile>,
}

struct ScratchFile {
    len: u64,
    /// Bytes that are still on the disk.
    held: u64,
    /// Segments that wait to be received.
    waiting: usize,
}

impl ScratchFiles<'_> {
    fn name(&self, (depth, from): ScratchKey) -> String {
        RunFile::Scratch { run: self.run, depth, chunk: from as u32 }.name()
    }

    /// Counts bytes as used, and refuses more than may be.
    fn count(&self, depth: u32, bytes: u64) -> Result<(), DiskError> {
        let used = &self.directories.used;
        used.scratch.fetch_add(bytes, Ordering::Relaxed);
        match self.limit.filter(|&limit| used.bytes() > limit) {
            Some(limit) => Err(DiskError::Limit { depth, limit, lost: false }),
            None => Ok(()),
        }
    }

    fn append(&mut self, key: ScratchKey, segment: &[u8]) -> Result<SegmentBits, Error> {
        if self.open.as_ref().is_none_or(|(open, _)| *open != key) {
            let mut file = self.directories.of_chunk(key.1).create(&self.name(key))?;
            let header = [&MAGIC[..], &self.run.to_le_bytes()].concat();
            let len = header.len() as u64;
            self.files.insert(key, ScratchFile { len, held: len, waiting: 0 });
            self.count(key.0, len)?;
            file.append(&header)?;
            self.open = Some((key, file));
        }
        let len = segment.len();
        self.count(key.0, len as u64)?;
        let file = self.files.get_mut(&key).expect("the open file is known");
        let offset = file.len;
        file.len += len as u64;
        file.held += len as u64;
        file.waiting += 1;
        let (_, open) = self.open.as_mut().expect("a file is open");
        open.append(segment)?;
        Ok(SegmentBits::InFile { offset, len, hash: XxHash3_64::oneshot(segment) })
    }

    /// Reads a segment of a file, which may be open from the one before.
    fn read(
        &mut self,
        key: ScratchKey,
        bits: &SegmentBits,
        open: &mut Option<(ScratchKey, Box<dyn ReadAt>)>,
    ) -> Result<Vec<u8>, Error> {
        let &SegmentBits::InFile { offset, len, hash } = bits else {
            return Ok(Vec::new());
        };
        let (storage, name) = (self.directories.of_chunk(key.1), self.name(key));
        let (_, from) = match open.take().filter(|(known, _)| *known == key) {
            Some(known) => open.insert(known),
            None => open.insert((key, storage.open(&name)?)),
        };
        let bytes = from.read(offset, len)?;
        if XxHash3_64::oneshot(bytes.as_ref()) != hash {
            return Err(DiskError::Scratch { place: storage.place(&name), depth: key.0 }.into());
        }
        if let Some(file) = self.files.get_mut(&key) {
            file.waiting -= 1;
            let len = len as u64;
            // The last one takes the file with it. An economy: where the system does not do it, the bytes are held until
            // the file goes.
            if file.waiting > 0 && len >= LARGE && storage.release(&name, offset, len) {
                file.held -= len;
                self.directories.used.scratch.fetch_sub(len, Ordering::Relaxed);
            }
        }
        Ok(bytes.as_ref().to_vec())
    }

    fn remove_if(
        &mut self,
        key: ScratchKey,
        done: impl Fn(&ScratchFile) -> bool,
    ) -> Result<(), Error> {
        if let Some(file) = self.files.get(&key).filter(|file| done(file)) {
            let held = file.held;
            self.files.remove(&key);
            self.directories.of_chunk(key.1).remove(&self.name(key))?;
            self.directories.used.scratch.fetch_sub(held, Ordering::Relaxed);
        }
        Ok(())
    }

    fn remove_all(&mut self, which: impl Fn(&ScratchKey) -> bool) -> Result<(), Error> {
        let old: Vec<ScratchKey> = self.files.keys().copied().filter(which).collect();
        old.into_iter().try_for_each(|file| self.remove_if(file, |_| true))
    }
}

impl Drop for ScratchFiles<'_> {
    fn drop(&mut self) {
        self.open = None;
        // What cannot be removed now is found by its name when the search goes on.
        while self.remove_all(|_| true).is_err() {}
        self.directories.used.scratch.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{OneProcess, Reduce};

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
        let mut exchange = Exchange::of_ranks(&Other, vec![0, 0]);
        exchange.send(3, from, vec![(to, 0, vec![9])]).unwrap();
        let Route::Ranks(outbox) = &mut exchange.route else { panic!("ranks send messages") };
        std::mem::take(&mut outbox.out[0])
    }

    #[test]
    fn messages_that_make_no_sense_are_refused() {
        let mut inbox = Exchange::of_ranks(&OneProcess, vec![0, 1]);
        let mut open = |bytes: &[u8]| inbox.open(&mut &*bytes);
        let good = message(1, 0);
        assert_eq!(open(&good), Some(()));
        assert_eq!(open(&message(1, 1)), None);
        assert_eq!(open(&message(2, 0)), None);
        assert_eq!(open(&good[..good.len() - 1]), None);
        assert_eq!(open(&good[..5]), None);
        assert_eq!(inbox.receive(3, 0).unwrap(), [(1, 0, vec![9])]);
        assert!(inbox.receive(3, 0).unwrap().is_empty());
    }
}
