//! Segments on their way from chunk to chunk: through files, if the planes of one machine exceed its memory, or between
//! ranks, where they wait in memory and are sent between two supersteps.
//!
//! Invariant: a segment is received once and as it was sent, or the result is an error: the hash of data that leaves
//! the memory stays behind or travels with it. Files are scratch. Their names and headers contain the run's number, so
//! a resumed run removes its own files and recreates them from the level files; they are never synced. Disk space is
//! freed as soon as data has been read, so reading and writing together take little more space than one of them. A
//! segment for a chunk of this rank never leaves it; a segment for another rank is sent once, in the order in which it
//! was produced. In a superstep, the messages for other ranks are at most 1 bit per line per plane of the chunks
//! computed in it; the messages that have arrived are at most 1 bit per line per plane of this rank's chunks for the
//! step in progress, and the same amount for the next.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    sync::atomic::Ordering,
};

use twox_hash::XxHash3_64;

use crate::{
    Error,
    hint::{AGAIN, Hint},
    kernel::Kernel,
    perm::{LANES, Register},
    search::{Communicator, SearchError, disk::Directories},
    store::{
        Append, Codec, DEFAULT_LEVEL, Decoder, Encoder, ReadAt, RunFile, sound, summed, take_u32,
    },
    system::SystemError,
};

const MAGIC: [u8; 8] = *b"TWCROSS\n";

/// Size from which a segment's disk space is freed as soon as it has been read: for less, a system call is not
/// worthwhile.
const LARGE: u64 = 1 << 16;

/// Size of the header of a message: depth, from chunk, to chunk, plane, length, 4 bytes each.
const HEADER: usize = 20;

/// The other chunk, the plane, and the bytes that are sent.
pub(crate) type Segment = (usize, usize, Vec<u8>);

/// The segments that wait, and how they are sent.
pub(crate) struct Exchange<'a> {
    /// By the depth of the step and the receiving chunk.
    waiting: HashMap<(u32, usize), Vec<WaitingSegment>>,
    /// Where segments for chunks of this rank wait, unless they wait in memory.
    files: Option<ScratchFiles<'a>>,
    rank: usize,
    /// Rank of each chunk.
    owners: Vec<usize>,
    /// For each rank, the data to be sent to it.
    out: Vec<Vec<u8>>,
    /// Number of bytes sent to other ranks for the step to each depth.
    pub sent: BTreeMap<u32, u64>,
}

/// The sending chunk, the plane, and the bits.
type WaitingSegment = (usize, usize, SegmentBits);

enum SegmentBits {
    Here(Vec<u8>),
    InFile(FilePart),
}

/// Offset, length and hash of a segment in a scratch file.
type FilePart = (u64, usize, u64);

impl<'a> Exchange<'a> {
    /// Returns an exchange between ranks; `owners` gives the rank of each chunk.
    pub fn new(communicator: &dyn Communicator, owners: Vec<usize>) -> Exchange<'a> {
        let (rank, out) = (communicator.rank(), vec![Vec::new(); communicator.size()]);
        let (waiting, sent) = (HashMap::new(), BTreeMap::new());
        Exchange { waiting, files: None, rank, owners, out, sent }
    }

    /// Lets segments wait in files of a run, whose level files and scratch files may take `limit` bytes.
    pub fn in_files(self, of: &'a Directories, run: u64, limit: Option<u64>) -> Exchange<'a> {
        let files = HashMap::new();
        let files = ScratchFiles { directories: of, run, limit, open: None, files };
        Exchange { files: Some(files), ..self }
    }

    /// Whether segments for a chunk leave the memory, so that coding is worthwhile.
    pub fn leaves(&self, to: usize) -> bool {
        self.files.is_some() || self.owners[to] != self.rank
    }

    /// Sends the segments of a chunk for the step to a depth.
    pub fn send(&mut self, depth: u32, from: usize, segments: Vec<Segment>) -> Result<(), Error> {
        for (to, plane, segment) in segments {
            if self.owners[to] != self.rank {
                let out = &mut self.out[self.owners[to]];
                for number in [depth as usize, from, to, plane, segment.len()] {
                    out.extend((number as u32).to_le_bytes());
                }
                out.extend(&segment);
                *self.sent.entry(depth).or_default() += (HEADER + segment.len()) as u64;
                continue;
            }
            let bits = match &mut self.files {
                Some(files) => SegmentBits::InFile(files.append((depth, from), &segment)?),
                None => SegmentBits::Here(segment),
            };
            self.waiting.entry((depth, to)).or_default().push((from, plane, bits));
        }
        Ok(())
    }

    /// Returns the segments sent to a chunk for the step to a depth. May be called again only after more was sent to
    /// it.
    pub fn receive(&mut self, depth: u32, to: usize) -> Result<Vec<Segment>, Error> {
        let mut received = Vec::new();
        let mut open = None;
        for (from, plane, bits) in self.waiting.remove(&(depth, to)).unwrap_or_default() {
            let bytes = match (bits, &mut self.files) {
                (SegmentBits::Here(bytes), _) => bytes,
                (SegmentBits::InFile(part), Some(files)) => {
                    files.read((depth, from), part, &mut open)?
                }
                (SegmentBits::InFile(_), None) => continue,
            };
            received.push((from, plane, bytes));
        }
        drop(open);
        if let Some(files) = &mut self.files {
            for (from, ..) in &received {
                files.remove_if((depth, *from), |file| file.waiting == 0)?;
            }
        }
        Ok(received)
    }

    /// Discards the segments for the step to a depth.
    pub fn forget(&mut self, depth: u32) -> Result<(), Error> {
        self.waiting.retain(|(d, _), _| *d != depth);
        self.files.as_mut().map_or(Ok(()), |files| files.remove_all(|file| file.0 == depth))
    }

    /// Sends all messages to their ranks; a collective call.
    pub fn deliver(&mut self, communicator: &dyn Communicator) -> Result<(), Error> {
        let out = self.out.iter_mut().map(|part| summed(std::mem::take(part))).collect();
        for (rank, bytes) in communicator.all_to_all(out).iter().enumerate() {
            let opened = sound(bytes).and_then(|mut rest| {
                while !rest.is_empty() {
                    self.open(&mut rest)?;
                }
                Some(())
            });
            opened.ok_or_else(|| SearchError::Elsewhere {
                rank,
                reason: "the data received from this rank is damaged: check the network and the \
                         memory of the machines"
                    .into(),
            })?;
        }
        Ok(())
    }

    /// Takes one message from the beginning of `rest`.
    fn open(&mut self, rest: &mut &[u8]) -> Option<()> {
        let depth = take_u32(rest)?;
        let mut number = || take_u32(rest).map(|number| number as usize);
        let (from, to, plane, len) = (number()?, number()?, number()?, number()?);
        let segment = rest.split_off(..len)?;
        if self.owners.get(to) != Some(&self.rank) || from >= self.owners.len() {
            return None;
        }
        let bits = SegmentBits::Here(segment.to_vec());
        self.waiting.entry((depth, to)).or_default().push((from, plane, bits));
        Some(())
    }
}

/// A scratch file: depth of the step, and sending chunk.
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
    /// Number of bytes that are still on the disk.
    held: u64,
    waiting: usize,
}

impl ScratchFiles<'_> {
    fn name(&self, (depth, from): ScratchKey) -> String {
        RunFile::Scratch { run: self.run, depth, chunk: from as u32 }.name()
    }

    /// Counts bytes as used; fails if they exceed the limit.
    fn count(&self, depth: u32, bytes: u64) -> Result<(), SearchError> {
        let used = &self.directories.used;
        used.scratch.fetch_add(bytes, Ordering::Relaxed);
        match self.limit.filter(|&limit| used.bytes() > limit) {
            Some(limit) => Err(SearchError::Limit { depth, limit, lost: false }),
            None => Ok(()),
        }
    }

    fn append(&mut self, key: ScratchKey, segment: &[u8]) -> Result<FilePart, Error> {
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
        Ok((offset, len, XxHash3_64::oneshot(segment)))
    }

    /// Reads a segment of a file, which may still be open from the previous call.
    fn read(
        &mut self,
        key: ScratchKey,
        (offset, len, hash): FilePart,
        open: &mut Option<(ScratchKey, Box<dyn ReadAt>)>,
    ) -> Result<Vec<u8>, Error> {
        let (storage, name) = (self.directories.of_chunk(key.1), self.name(key));
        let (_, from) = match open.take().filter(|(known, _)| *known == key) {
            Some(known) => open.insert(known),
            None => open.insert((key, storage.open(&name)?)),
        };
        // A copy: the bytes of a map become zeros when their space is freed.
        let bytes = from.read(offset, len)?.into_vec();
        if XxHash3_64::oneshot(&bytes) != hash {
            let reason = format!(
                "{}: the bytes read back differ from those written. The levels are intact: check \
                 the disk, or keep the planes in memory ({}), then {AGAIN}",
                storage.place(&name),
                Hint::Value("planes", "memory")
            );
            return Err(SearchError::Damaged { depth: key.0, scratch: true, reason }.into());
        }
        if let Some(file) = self.files.get_mut(&key) {
            file.waiting -= 1;
            let len = len as u64;
            // The last segment removes the file with it. This only saves space: if the system does not do it, the bytes
            // are held until the file is removed.
            if file.waiting > 0 && len >= LARGE && storage.release(&name, offset, len) {
                file.held -= len;
                self.directories.used.scratch.fetch_sub(len, Ordering::Relaxed);
            }
        }
        Ok(bytes)
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
        // Files that cannot be removed now are recognized by their names when the search continues.
        while self.remove_all(|_| true).is_err() {}
        self.directories.used.scratch.store(0, Ordering::Relaxed);
    }
}

// A segment: the bits that one chunk sends to another through one plane.
//
// Invariant: its size depends on its contents. For sending, it is coded like the frames of a level, since the bits of
// levels cluster as their states do; the codec is stored at the beginning.

/// Number of registers of bytes that are coded together, as in a level.
const FRAME: usize = 3024;

/// Segments below this many bytes are sent uncoded.
const SHORT: usize = 256;

/// The first byte of an uncoded segment, where others have the number of their codec: not 0, so that zeros are nothing
/// that was ever packed.
const UNCODED: u8 = 255;

fn bytes(lanes: u64) -> usize {
    lanes.count_ones().div_ceil(8) as usize
}

/// Appends the lowest bits of words to a segment, as many of each as there are lanes, in whole bytes.
#[inline]
pub(crate) fn push_words(segment: &mut Vec<u8>, words: &[u64], lanes: &[u64]) {
    segment.reserve(8 * words.len());
    for (word, lanes) in words.iter().zip(lanes) {
        let len = segment.len() + bytes(*lanes);
        segment.extend(word.to_le_bytes());
        segment.truncate(len);
    }
}

/// Takes the next words from a segment, each with as many bits as there are lanes, and removes them from it; `None` if
/// it ends before.
#[inline]
pub(crate) fn take_words(segment: &mut &[u8], lanes: &[u64], words: &mut [u64]) -> Option<()> {
    for (word, &lanes) in words.iter_mut().zip(lanes) {
        let mut next = [0; 8];
        if let Some(eight) = segment.first_chunk() {
            next = *eight;
        } else {
            next[..segment.len()].copy_from_slice(segment);
        }
        *word = u64::from_le_bytes(next);
        segment.split_off(..bytes(lanes))?;
    }
    Some(())
}

pub(crate) struct Packer {
    codec: Codec,
    encoder: Encoder,
    frame: Vec<Register>,
}

impl Packer {
    pub fn new(kernel: Kernel) -> Result<Packer, SystemError> {
        let codec = Codec::best(kernel);
        let encoder = Encoder::new(codec, DEFAULT_LEVEL, kernel)?;
        Ok(Packer { codec, encoder, frame: Vec::new() })
    }

    /// Returns the bytes to be sent: the number of the codec, the number of bytes, and, for every frame, its length and
    /// its bytes. Short data, or data that is not to be coded, follows [`UNCODED`] unchanged.
    pub fn pack(&mut self, bytes: &[u8], coded: bool) -> Result<Vec<u8>, Error> {
        if !coded || bytes.len() < SHORT {
            return Ok([&[UNCODED], bytes].concat());
        }
        let mut packed = vec![self.codec.number()];
        packed.extend((bytes.len() as u64).to_le_bytes());
        for bytes in bytes.chunks(FRAME * LANES) {
            self.frame.clear();
            self.frame.extend(bytes.chunks(LANES).map(|bytes| {
                let mut register = [0; 64];
                register[..bytes.len()].copy_from_slice(bytes);
                register
            }));
            let coded = self.encoder.encode(&self.frame);
            let coded = coded.map_err(|_| SystemError::CodecMemory)?;
            packed.extend((coded.len() as u32).to_le_bytes());
            packed.extend(coded);
        }
        Ok(packed)
    }
}

pub(crate) struct Unpacker {
    decoder: Decoder,
    frame: Vec<Register>,
}

impl Unpacker {
    pub fn new(kernel: Kernel) -> Result<Unpacker, SystemError> {
        Ok(Unpacker { decoder: Decoder::new(kernel)?, frame: Vec::new() })
    }

    /// Returns the bytes of a segment, or `None` if they were not packed in this way.
    pub fn unpack<'p>(&mut self, packed: &'p [u8]) -> Option<Cow<'p, [u8]>> {
        let (&codec, rest) = packed.split_first()?;
        if codec == UNCODED {
            return Some(rest.into());
        }
        let codec = Codec::numbered(codec)?;
        let (len, mut rest) = rest.split_first_chunk()?;
        let len = u64::from_le_bytes(*len) as usize;
        let mut bytes = Vec::new();
        while bytes.len() < len {
            let coded = take_u32(&mut rest)? as usize;
            let coded = rest.split_off(..coded)?;
            let here = (len - bytes.len()).min(FRAME * LANES);
            self.frame.resize(here.div_ceil(LANES), [0; 64]);
            let decoded = self.decoder.decode(codec, coded, &mut self.frame, false);
            decoded.ok()?;
            for (register, left) in self.frame.iter().zip((0..=here).rev().step_by(LANES)) {
                bytes.extend(&register[..left.min(LANES)]);
            }
        }
        rest.is_empty().then_some(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        random::SplitMix64,
        search::OneProcess,
        store::{push_number, take_number},
    };

    /// The data that rank 1 sends to rank 0 if it treats chunks 0 and 1 as rank 0's.
    fn message(from: usize, to: usize) -> Vec<u8> {
        let mut exchange = Exchange { rank: 1, ..Exchange::new(&OneProcess, vec![0, 0]) };
        exchange.send(3, from, vec![(to, 0, vec![9])]).unwrap();
        std::mem::take(&mut exchange.out[0])
    }

    #[test]
    fn messages_that_make_no_sense_are_refused() {
        let mut inbox = Exchange::new(&OneProcess, vec![0, 1]);
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

    #[test]
    fn bits_and_numbers_come_back() {
        // Words, and the lanes that determine how many bits each has.
        let parts: [&[(u64, u64)]; 4] = [
            &[(1, 1 << 40), (u64::MAX >> 4, u64::MAX >> 4), (0, 2)],
            &[],
            &[(5, 0b1011), (u64::MAX, u64::MAX)],
            &[(9, u64::MAX << 4)],
        ];
        let mut segment = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            let (words, lanes): (Vec<u64>, Vec<u64>) = part.iter().copied().unzip();
            push_number(&mut segment, i * i * 100);
            push_words(&mut segment, &words, &lanes);
        }
        // Numbers of one and of two bytes.
        assert_eq!(segment.len(), 27 + 2 + 2 * 2);
        let mut rest = &segment[..];
        for (i, part) in parts.iter().enumerate() {
            let (words, lanes): (Vec<u64>, Vec<u64>) = part.iter().copied().unzip();
            let mut taken = vec![7; words.len()];
            assert_eq!(take_number(&mut rest), Some(i * i * 100));
            take_words(&mut rest, &lanes, &mut taken).unwrap();
            // The bits above those of a word belong to what follows it.
            for ((taken, word), lanes) in taken.iter().zip(words).zip(lanes) {
                let bits = u64::MAX >> (64 - lanes.count_ones());
                assert_eq!(taken & bits, word);
            }
        }
        assert_eq!(take_number(&mut rest), None);
        assert_eq!(take_words(&mut rest, &[u64::MAX], &mut [7]), None);
    }

    #[test]
    fn segments_of_any_length_come_back_smaller() {
        let mut random = SplitMix64::new(5);
        let full = FRAME * LANES;
        for len in [0, 1, SHORT - 1, SHORT, 600, 601, full - 1, full, full + 1, 3 * full + 77] {
            let mut segment = Vec::new();
            for _ in 0..len {
                // One bit in ten.
                let bits = (0..8).filter(|_| random.below(10) == 0);
                segment.push(bits.map(|bit| 1u8 << bit).sum());
            }
            for kernel in [Kernel::Scalar, Kernel::best()] {
                let mut packer = Packer::new(kernel).unwrap();
                let mut unpacker = Unpacker::new(kernel).unwrap();
                let plain = packer.pack(&segment, false).unwrap();
                assert_eq!(*unpacker.unpack(&plain).unwrap(), segment);
                assert_eq!(plain.len(), len + 1);
                let packed = packer.pack(&segment, true).unwrap();
                assert_eq!(*unpacker.unpack(&packed).unwrap(), segment);
                assert!(len < 10_000 || packed.len() * 2 < len, "{len} {}", packed.len());
                let short = packed.len() - usize::from(len >= SHORT);
                assert_eq!(unpacker.unpack(&packed[..short]).is_some(), len < SHORT);
                assert_eq!(unpacker.unpack(&vec![0; packed.len()]), None);
            }
        }
    }
}
