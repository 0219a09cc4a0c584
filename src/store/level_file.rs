//! The files of a run: their names, the distribution of chunks to directories, and the level files themselves.
//!
//! Searches on disk and builds of databases name every file by a [`RunFile`] and find its directory by [`Shares`]. A
//! level file has the states of one chunk at one depth: a [`LevelWriter`] writes it frame by frame, and a
//! [`LevelReader`] reads its header and index before any frame.
//!
//! Invariant: a file is written once from beginning to end and never changed, and it is a run's file only if its name
//! says so.

use std::{collections::BTreeMap, ops::Range};

use twox_hash::XxHash3_64;

use crate::{
    kernel::Tally,
    store::{
        Append, Bytes, ReadAt, StorageError,
        codec::{Codec, Decoder},
    },
};

// The names of a run's files, and the distribution of its chunks to its directories.
//
// Invariant: a file is regarded as a run's file only if its name is exactly one that `RunFile::name` produces. Every
// file that may be removed without being read has the run's number in its name.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunFile {
    /// The states of a chunk at a depth, once a manifest names it.
    Level { depth: u32, chunk: u32 },
    /// The same before a manifest names it.
    Uncommitted { run: u64, depth: u32, chunk: u32 },
    /// The bits that a chunk sends to others for the step to a depth.
    Scratch { run: u64, depth: u32, chunk: u32 },
    /// A manifest that is being written.
    NewManifest { run: u64 },
    /// A marker that is being written.
    NewMarker { run: u64 },
}

impl RunFile {
    /// The two names of the file of a chunk: once it is named by a manifest, and before that.
    pub(crate) fn level_names(run: u64, depth: u32, chunk: u32) -> [String; 2] {
        [RunFile::Level { depth, chunk }, RunFile::Uncommitted { run, depth, chunk }]
            .map(RunFile::name)
    }

    pub fn name(self) -> String {
        match self {
            RunFile::Level { depth, chunk } => format!("level-{depth:03}.chunk-{chunk:05}"),
            RunFile::Uncommitted { run, depth, chunk } => {
                format!("level-{depth:03}.chunk-{chunk:05}.{run:016x}.new")
            }
            RunFile::Scratch { run, depth, chunk } => {
                format!("cross-{depth:03}.chunk-{chunk:05}.{run:016x}")
            }
            RunFile::NewManifest { run } => format!("manifest.{run:016x}.new"),
            RunFile::NewMarker { run } => format!("tilewave-run.{run:016x}.new"),
        }
    }

    /// Returns the file with a name, if it belongs to a run.
    pub fn parse(name: &str) -> Option<RunFile> {
        let number = |text: &str| text.parse().ok();
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let words: Vec<&str> = name.split(['-', '.']).collect();
        let file = match words[..] {
            ["level", depth, "chunk", chunk] => {
                RunFile::Level { depth: number(depth)?, chunk: number(chunk)? }
            }
            ["level", depth, "chunk", chunk, run, "new"] => RunFile::Uncommitted {
                run: hex(run)?,
                depth: number(depth)?,
                chunk: number(chunk)?,
            },
            ["cross", depth, "chunk", chunk, run] => {
                RunFile::Scratch { run: hex(run)?, depth: number(depth)?, chunk: number(chunk)? }
            }
            ["manifest", run, "new"] => RunFile::NewManifest { run: hex(run)? },
            ["tilewave", "run", run, "new"] => RunFile::NewMarker { run: hex(run)? },
            _ => return None,
        };
        (file.name() == name).then_some(file)
    }

    /// Returns the run whose number is in the name.
    pub fn run(self) -> Option<u64> {
        match self {
            RunFile::Level { .. } => None,
            RunFile::Uncommitted { run, .. }
            | RunFile::Scratch { run, .. }
            | RunFile::NewManifest { run }
            | RunFile::NewMarker { run } => Some(run),
        }
    }
}

// The distribution of a run's chunks to its directories.
//
// Invariant: with equal shares, chunk c is in directory c modulo their number; with other shares, every range of chunks
// is distributed as nearly in proportion as whole chunks permit.

/// The largest share of a directory.
const LARGEST: u32 = 32;

/// Amounts of free space that differ by less than one part in this many are regarded as equal.
const ALIKE: u64 = 5;

/// The assignment of chunks to directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    /// The directories of consecutive chunks; the sequence is repeated.
    order: Vec<usize>,
    shares: Vec<u32>,
}

impl Shares {
    /// Returns the shares given by this list for a number of directories; an empty list, or one of a different length,
    /// stands for equal shares.
    pub fn new(shares: &[u32], directories: usize) -> Shares {
        let is_valid = Shares::are_valid(shares, directories);
        let shares = if is_valid { shares.to_vec() } else { vec![1; directories] };
        let all: i64 = shares.iter().map(|share| i64::from(*share)).sum();
        // In every turn, each directory is credited with its share, and the one with the largest credit gets the chunk.
        let mut owed = vec![0i64; shares.len()];
        let order = (0..all).map(|_| {
            for (owed, share) in owed.iter_mut().zip(&shares) {
                *owed += i64::from(*share);
            }
            let most = (0..owed.len()).rev().max_by_key(|&place| owed[place]);
            let place = most.unwrap_or(0);
            owed[place] -= all;
            place
        });
        Shares { order: order.collect(), shares }
    }

    pub fn are_valid(shares: &[u32], directories: usize) -> bool {
        let most = shares.iter().max();
        shares.len() == directories && most.is_some_and(|most| (1..=LARGEST).contains(most))
    }

    /// Returns the shares that correspond to the free space in directories, each given with a number that is the same
    /// for directories on one disk; an empty list if the free space is unknown or nearly equal.
    pub fn by_room(rooms: &[(Option<u64>, Option<u64>)]) -> Vec<u32> {
        let on = |device: Option<u64>| {
            rooms.iter().filter(move |(_, d)| device.is_some() && *d == device)
        };
        let room = |&(free, device): &(Option<u64>, Option<u64>)| {
            Some(free? / (on(device).count().max(1) as u64))
        };
        let rooms: Vec<u64> = rooms.iter().map(room).collect::<Option<_>>().unwrap_or_default();
        let most = rooms.iter().copied().max().unwrap_or(0);
        let least = rooms.iter().copied().min().unwrap_or(0);
        if most - least <= most / ALIKE {
            return Vec::new();
        }
        let share = |room: u64| (u128::from(room) * u128::from(LARGEST) / u128::from(most)) as u32;
        rooms.into_iter().map(share).collect()
    }

    pub fn place(&self, chunk: usize) -> usize {
        self.order[chunk % self.order.len()]
    }

    pub fn share(&self, place: usize) -> (u32, u32) {
        (self.shares[place], self.shares.iter().sum())
    }
}

// Level files: the states of one chunk at one depth.
//
// Invariant: a file is written once from beginning to end and never changed. Header, frames, index and trailer have
// checksums, so damage is found before the bytes are used; the index is checked against the file's length before
// memory is allocated for it. `docs/format.md` shows the layout.

/// First bytes of a level file.
const MAGIC: [u8; 8] = *b"TWLEVEL\n";

/// The last bytes of a level file, except for the final eight.
const END: [u8; 8] = *b"TWLEVEND";

/// The version that this program writes and reads.
pub const VERSION: u16 = 1;

const HEADER: usize = 128;

const ENTRY: usize = 24;

const TRAILER: usize = 64;

/// Size of the label in bytes: the goal in board notation, enough for 20 cells.
pub const LABEL: usize = 56;

/// The header of a level file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelHeader {
    pub run: u64,
    /// Depth of the states.
    pub depth: u32,
    /// The chunk, and the number of chunks of the run.
    pub chunk: u32,
    pub chunks: u32,
    /// Lines per frame (the last frame may have fewer).
    pub frame_lines: u32,
    pub first_line: u64,
    pub lines: u64,
    /// The puzzle to which the lines belong: the goal in board notation, at most `LABEL` bytes.
    pub label: String,
    pub codec: Codec,
}

/// An error in a level file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LevelError {
    /// Too short, or with wrong first or last bytes: not a level file, or incomplete.
    #[error("this is not a complete level file")]
    NotALevel,
    #[error("the file has format version {0}, but this program reads version {VERSION}")]
    Version(u16),
    #[error("the frames have codec {0}, but this program reads codecs 1 and 2")]
    Codec(u8),
    #[error("the header is damaged")]
    Header,
    #[error("the index is damaged")]
    Index,
    /// A frame's checksum is wrong, or its bytes do not decode.
    #[error("frame {frame} (from line {line}) is damaged")]
    Frame { frame: u32, line: u64 },
}

// All three parts are little-endian words, some of which are two numbers of 32 bits.

fn words<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let words = bytes.as_chunks().0;
    std::array::from_fn(|i| u64::from_le_bytes(words[i]))
}

fn bytes(words: &[u64]) -> impl Iterator<Item = u8> {
    words.iter().flat_map(|word| word.to_le_bytes())
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// Appends a checksum to bytes.
pub(crate) fn summed(mut bytes: Vec<u8>) -> Vec<u8> {
    let hash = XxHash3_64::oneshot(&bytes);
    bytes.extend(hash.to_le_bytes());
    bytes
}

/// The bytes before the last eight, if those are their checksum.
pub(crate) fn sound(bytes: &[u8]) -> Option<&[u8]> {
    let (bytes, hash) = bytes.split_last_chunk()?;
    (XxHash3_64::oneshot(bytes).to_le_bytes() == *hash).then_some(bytes)
}

impl LevelHeader {
    pub fn frames(&self) -> u64 {
        self.lines.div_ceil(u64::from(self.frame_lines.max(1)))
    }

    pub fn uncommitted(&self) -> RunFile {
        RunFile::Uncommitted { run: self.run, depth: self.depth, chunk: self.chunk }
    }

    fn bytes(&self) -> Vec<u8> {
        let kind = u32::from(VERSION) | u32::from(self.codec.number()) << 16;
        let numbers = [
            u64::from_le_bytes(MAGIC),
            pair(kind, self.frame_lines),
            self.run,
            pair(self.depth, self.chunk),
            pair(self.chunks, 0),
            self.first_line,
            self.lines,
        ];
        let label = self.label.bytes().take(LABEL);
        let mut all: Vec<u8> = bytes(&numbers).chain(label).collect();
        all.resize(HEADER - 8, 0);
        summed(all)
    }

    fn parse(bytes: &[u8]) -> Result<LevelHeader, LevelError> {
        if bytes.len() != HEADER || bytes[..8] != MAGIC {
            return Err(LevelError::NotALevel);
        }
        let [_, kind, run, place, chunks, first_line, lines] = words(bytes);
        if kind as u16 != VERSION {
            return Err(LevelError::Version(kind as u16));
        }
        if sound(bytes).is_none() {
            return Err(LevelError::Header);
        }
        let codec = (kind >> 16) as u8;
        let codec = Codec::numbered(codec).ok_or(LevelError::Codec(codec))?;
        let label = &bytes[56..56 + LABEL];
        let end = label.iter().position(|&b| b == 0).unwrap_or(LABEL);
        let (depth, chunk) = halves(place);
        let header = LevelHeader {
            run,
            depth,
            chunk,
            chunks: halves(chunks).0,
            frame_lines: halves(kind).1,
            first_line,
            lines,
            label: String::from_utf8_lossy(&label[..end]).into_owned(),
            codec,
        };
        if header.frame_lines == 0 || header.frames() > u64::from(u32::MAX) {
            return Err(LevelError::Header);
        }
        Ok(header)
    }
}

/// A frame in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameEntry {
    /// Number of the frame within the chunk.
    pub frame: u32,
    pub len: u32,
    pub offset: u64,
    /// xxh3 of its bytes.
    pub hash: u64,
}

pub struct LevelWriter {
    file: Box<dyn Append>,
    offset: u64,
    index: Vec<FrameEntry>,
}

impl LevelWriter {
    /// Starts a file with its header.
    pub fn new(
        mut file: Box<dyn Append>,
        header: &LevelHeader,
    ) -> Result<LevelWriter, StorageError> {
        file.append(&header.bytes())?;
        Ok(LevelWriter { file, offset: HEADER as u64, index: Vec::new() })
    }

    /// Appends a frame of less than 4 GiB; `hash` is the xxh3 of its bytes. Frames come in increasing order.
    pub fn frame(&mut self, frame: u32, bytes: &[u8], hash: u64) -> Result<(), StorageError> {
        debug_assert!(self.index.last().is_none_or(|last| last.frame < frame));
        self.file.append(bytes)?;
        let len = u32::try_from(bytes.len()).expect("a frame below 4 GiB");
        self.index.push(FrameEntry { frame, len, offset: self.offset, hash });
        self.offset += bytes.len() as u64;
        Ok(())
    }

    /// Returns the size of the frames written.
    pub fn bytes(&self) -> u64 {
        self.offset - HEADER as u64
    }

    pub fn sync(&mut self) -> Result<(), StorageError> {
        self.file.sync()
    }

    /// Writes the index and the trailer, and returns the length of the file and the file itself, which has not been
    /// synced yet. `before` is the number of states of all previous levels, 0 if it is unknown.
    pub fn finish(
        mut self,
        sum: Tally,
        before: u64,
    ) -> Result<(u64, Box<dyn Append>), StorageError> {
        let entries = self.index.iter();
        let entries = entries.flat_map(|e| [pair(e.frame, e.len), e.offset, e.hash]);
        let mut index: Vec<u8> = bytes(&entries.collect::<Vec<u64>>()).collect();
        let (entries, hash) = (self.index.len() as u64, XxHash3_64::oneshot(&index));
        let trailer = [self.offset, entries, sum.states, sum.checksum, hash, before];
        index.extend(summed(bytes(&trailer).chain(END).collect()));
        self.file.append(&index)?;
        Ok((self.offset + index.len() as u64, self.file))
    }
}

/// Encoded frames with consecutive numbers; those without states are left out.
pub struct EncodedFrames {
    /// The first frame, whether or not it contains states.
    first: u32,
    /// One past the last frame.
    end: u32,
    /// Frame, length, hash.
    frames: Vec<(u32, usize, u64)>,
    bytes: Vec<u8>,
}

impl EncodedFrames {
    /// Returns an empty range of frames.
    pub fn new(first: usize, end: usize) -> EncodedFrames {
        let (first, end) = (first as u32, end as u32);
        EncodedFrames { first, end, frames: Vec::new(), bytes: Vec::new() }
    }

    pub fn push(&mut self, frame: usize, bytes: &[u8]) {
        self.frames.push((frame as u32, bytes.len(), XxHash3_64::oneshot(bytes)));
        self.bytes.extend(bytes);
    }
}

/// Frames that arrive in any order, on their way to a file.
#[derive(Default)]
pub struct FramesInOrder {
    /// The next frame to be written; later ones wait.
    next: u32,
    waiting: BTreeMap<u32, EncodedFrames>,
}

impl FramesInOrder {
    /// Takes frames, and writes those that are next: their numbers, bytes and hashes.
    pub fn put<E>(
        &mut self,
        encoded: EncodedFrames,
        mut write: impl FnMut(u32, &[u8], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        self.waiting.insert(encoded.first, encoded);
        while let Some(encoded) = self.waiting.remove(&self.next) {
            self.next = encoded.end;
            let mut rest = &encoded.bytes[..];
            for &(frame, len, hash) in &encoded.frames {
                let (bytes, others) = rest.split_at(len);
                rest = others;
                write(frame, bytes, hash)?;
            }
        }
        Ok(())
    }

    /// Returns whether these were all frames of a file that has this many, or none.
    pub fn are_all(&self, frames: u64) -> bool {
        self.waiting.is_empty() && [0, frames].contains(&u64::from(self.next))
    }
}

pub struct LevelReader {
    pub file: Box<dyn ReadAt>,
    pub header: LevelHeader,
    pub sum: Tally,
    /// The number of states of all levels before the file's, 0 if the file does not contain it.
    pub before: u64,
    /// The frames that contain states, in order; they are contiguous in the file.
    pub index: Vec<FrameEntry>,
}

impl LevelReader {
    /// Reads and checks the header alone; the errors are those of [`LevelReader::open`].
    pub fn header_of(file: &dyn ReadAt) -> Result<LevelHeader, StorageError> {
        let wrong = |error: LevelError| file.place().invalid(error);
        if file.len() < (HEADER + TRAILER) as u64 {
            return Err(wrong(LevelError::NotALevel));
        }
        LevelHeader::parse(file.read(0, HEADER)?.as_ref()).map_err(wrong)
    }

    /// Opens a file: reads and checks header, trailer and index. Cost: 24 bytes per frame. An error is that of the
    /// system, or a [`LevelError`] inside an [`std::io::ErrorKind::InvalidData`].
    pub fn open(file: Box<dyn ReadAt>) -> Result<LevelReader, StorageError> {
        let wrong = |error: LevelError| Err(file.place().invalid(error));
        let header = LevelReader::header_of(&*file)?;
        let at = file.len() - TRAILER as u64;
        let trailer = file.read(at, TRAILER)?;
        let trailer = trailer.as_ref();
        let [start, entries, states, checksum, hash, before, end] = words(trailer);
        if end.to_le_bytes() != END {
            return wrong(LevelError::NotALevel);
        }
        let bytes = entries.checked_mul(ENTRY as u64);
        let end = bytes.and_then(|bytes| start.checked_add(bytes));
        let fits = start >= HEADER as u64 && end == Some(at) && entries <= header.frames();
        if sound(trailer).is_none() || !fits {
            return wrong(LevelError::Index);
        }
        let bytes = file.read(start, (entries * ENTRY as u64) as usize)?;
        let bytes = bytes.as_ref();
        if hash != XxHash3_64::oneshot(bytes) {
            return wrong(LevelError::Index);
        }
        let mut index: Vec<FrameEntry> = Vec::with_capacity(entries as usize);
        let mut next = HEADER as u64;
        for [place, offset, hash] in bytes.chunks_exact(ENTRY).map(words) {
            let (frame, len) = halves(place);
            let rises = index.last().is_none_or(|last| last.frame < frame);
            if !rises || u64::from(frame) >= header.frames() || offset != next {
                return wrong(LevelError::Index);
            }
            next += u64::from(len);
            index.push(FrameEntry { frame, len, offset, hash });
        }
        if next != start {
            return wrong(LevelError::Index);
        }
        Ok(LevelReader { file, header, sum: Tally { states, checksum }, before, index })
    }

    /// Returns the bytes of consecutive frames, `entries` of the index.
    pub fn read(&self, entries: Range<usize>) -> Result<Frames, StorageError> {
        let entries = self.index[entries].to_vec();
        let (first, len) = match (entries.first(), entries.last()) {
            (Some(first), Some(last)) => {
                let end = last.offset + u64::from(last.len);
                (first.offset, (end - first.offset) as usize)
            }
            _ => (0, 0),
        };
        let LevelHeader { first_line, frame_lines, codec, .. } = self.header;
        Ok(Frames { first_line, frame_lines, codec, entries, bytes: self.file.read(first, len)? })
    }
}

/// Consecutive frames of a file.
#[derive(Debug)]
pub struct Frames {
    first_line: u64,
    frame_lines: u32,
    codec: Codec,
    pub(crate) entries: Vec<FrameEntry>,
    bytes: Bytes,
}

impl Frames {
    pub fn bytes(&self, i: usize) -> Result<&[u8], LevelError> {
        let entry = &self.entries[i];
        let start = (entry.offset - self.entries[0].offset) as usize;
        let bytes = &self.bytes.as_ref()[start..start + entry.len as usize];
        if XxHash3_64::oneshot(bytes) != entry.hash {
            return Err(self.damaged(i));
        }
        Ok(bytes)
    }

    /// Decodes the i-th frame; see [`Decoder::decode`].
    pub fn decode<'d>(
        &self,
        i: usize,
        decoder: &'d mut Decoder,
        registers: &mut [[u8; 64]],
        empty: bool,
    ) -> Result<Option<&'d [u32]>, String> {
        let bytes = self.bytes(i).map_err(|error| error.to_string())?;
        let decoded = decoder.decode(self.codec, bytes, registers, empty);
        decoded.map_err(|reason| format!("{}: {reason}", self.damaged(i)))
    }

    pub fn damaged(&self, i: usize) -> LevelError {
        let frame = self.entries[i].frame;
        let line = self.first_line + u64::from(frame) * u64::from(self.frame_lines);
        LevelError::Frame { frame, line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_others_are_nobodys() {
        let (run, depth, chunk) = (0x0123_4567_89ab_cdef, 12, 34567);
        for file in [
            RunFile::Level { depth, chunk },
            RunFile::Uncommitted { run, depth, chunk },
            RunFile::Scratch { run, depth, chunk },
            RunFile::NewManifest { run },
            RunFile::NewMarker { run },
        ] {
            assert_eq!(RunFile::parse(&file.name()), Some(file), "{}", file.name());
        }
        for other in [
            "cross-validation.csv",
            "cross-012.chunk-00003",
            "level-notes.txt",
            "level-12.chunk-00003",
            "level-012.chunk-3",
            "level-+12.chunk-00003",
            "level-012.chunk-00003.txt",
            "level-012.chunk-00003.0123456789ABCDEF.new",
            "manifest",
            "manifest.new",
            "",
        ] {
            assert_eq!(RunFile::parse(other), None, "{other}");
        }
    }

    #[test]
    fn equal_shares_go_round() {
        for shares in [vec![], vec![1, 1, 1], vec![7, 7, 7], vec![2, 1], vec![0, 0, 0]] {
            let shares = Shares::new(&shares, 3);
            assert!((0..1000).all(|chunk| shares.place(chunk) == chunk % 3));
        }
    }

    /// In any sequence of chunks from the first one on, every directory has its share, to within one chunk.
    #[test]
    fn chunks_are_dealt_out_in_proportion() {
        for list in [vec![32, 9], vec![1, 32, 17, 5], vec![0, 3], vec![32, 0, 31], vec![1]] {
            let shares = Shares::new(&list, list.len());
            let all: u32 = list.iter().sum();
            let mut dealt = vec![0u32; list.len()];
            for chunk in 0..500 {
                dealt[shares.place(chunk)] += 1;
                for (place, (dealt, share)) in dealt.iter().zip(&list).enumerate() {
                    let due = f64::from(*share) * (chunk + 1) as f64 / f64::from(all);
                    assert!((f64::from(*dealt) - due).abs() < 1.5, "{list:?} {chunk}");
                    assert_eq!(shares.share(place), (*share, all));
                }
            }
        }
    }

    #[test]
    fn shares_follow_the_room() {
        let on = |free: u64, device: u64| (Some(free), Some(device));
        let by_room = Shares::by_room;
        assert_eq!(by_room(&[on(2000, 1), on(500, 2)]), [32, 8]);
        // Directories on one disk share its free space.
        assert_eq!(by_room(&[on(1000, 1), on(1000, 1), on(1000, 2)]), [16, 16, 32]);
        assert_eq!(by_room(&[on(1000, 1), on(0, 2)]), [32, 0]);
        let alike = [
            vec![on(1000, 1), on(850, 2)],
            vec![on(1000, 1), on(1000, 1)],
            vec![(Some(5), None), (None, None)],
            vec![on(0, 1), on(0, 2)],
            vec![],
        ];
        assert!(alike.iter().all(|rooms| by_room(rooms).is_empty()));
        // Two directories whose disks are unknown are regarded as being on two disks.
        assert_eq!(by_room(&[(Some(4), None), (Some(1), None)]), [32, 8]);
    }
}
