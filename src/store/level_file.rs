//! Level files: the states of one chunk at one depth.
//!
//! Invariant: a file is written from front to back once and never changed. Header, every frame, index
//! and trailer have checksums, so damage is found before its bytes are used; the index is checked
//! against the file's length before memory is taken for it. `docs/format.md` draws the bytes.

use std::ops::Range;

use twox_hash::XxHash3_64;

use crate::store::codec::{Codec, Decoder};
use crate::store::{Append, Bytes, ReadAt, RunFile, StorageError};

/// First bytes of a level file.
const MAGIC: [u8; 8] = *b"TWLEVEL\n";

/// Last bytes but eight of a level file.
const END: [u8; 8] = *b"TWLEVEND";

/// Version that this program writes and reads.
pub const VERSION: u16 = 1;

const HEADER: usize = 128;

const ENTRY: usize = 24;

const TRAILER: usize = 64;

/// Bytes of the label: the goal in notation, enough for 20 cells.
pub const LABEL: usize = 56;

/// What a level file is part of.
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
    /// First line of the chunk.
    pub first_line: u64,
    /// Lines of the chunk.
    pub lines: u64,
    /// What the lines are of: the goal in notation, at most `LABEL` bytes.
    pub label: String,
    /// How its frames are coded.
    pub codec: Codec,
}

/// What a level file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelSum {
    pub states: u64,
    /// Checksum of the states.
    pub checksum: u64,
}

/// What is wrong with a level file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LevelError {
    /// Too short, or other first or last bytes: not a level file or not all of it.
    #[error("it is not a whole level file")]
    NotALevel,
    /// A version of the format that this program does not know.
    #[error("it has format version {0}, this program reads version {VERSION}")]
    Version(u16),
    /// The codec is unknown.
    #[error("its frames have codec {0}, this program reads codecs 1 and 2")]
    Codec(u8),
    /// The header's checksum is wrong.
    #[error("its header is damaged")]
    Header,
    /// The trailer or the index is damaged.
    #[error("its index is damaged")]
    Index,
    /// A frame's checksum is wrong, or its bytes do not decode.
    #[error("frame {frame} (lines from {line}) is damaged")]
    Frame {
        frame: u32,
        /// First line of the frame.
        line: u64,
    },
}

impl LevelHeader {
    pub fn frames(&self) -> u64 {
        self.lines.div_ceil(u64::from(self.frame_lines.max(1)))
    }

    /// Returns the file before a manifest names it.
    pub fn uncommitted(&self) -> RunFile {
        RunFile::Uncommitted { run: self.run, depth: self.depth, chunk: self.chunk }
    }

    fn bytes(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &MAGIC);
        put(8, &VERSION.to_le_bytes());
        put(10, &[self.codec.number()]);
        put(12, &self.frame_lines.to_le_bytes());
        put(16, &self.run.to_le_bytes());
        put(24, &self.depth.to_le_bytes());
        put(28, &self.chunk.to_le_bytes());
        put(32, &self.chunks.to_le_bytes());
        put(40, &self.first_line.to_le_bytes());
        put(48, &self.lines.to_le_bytes());
        put(56, &self.label.as_bytes()[..self.label.len().min(LABEL)]);
        let hash = XxHash3_64::oneshot(&bytes[..HEADER - 8]);
        bytes[HEADER - 8..].copy_from_slice(&hash.to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Result<LevelHeader, LevelError> {
        if bytes.len() != HEADER || bytes[..8] != MAGIC {
            return Err(LevelError::NotALevel);
        }
        let version = u16::from_le_bytes([bytes[8], bytes[9]]);
        if version != VERSION {
            return Err(LevelError::Version(version));
        }
        if u64_at(bytes, HEADER - 8) != XxHash3_64::oneshot(&bytes[..HEADER - 8]) {
            return Err(LevelError::Header);
        }
        let codec = Codec::numbered(bytes[10]).ok_or(LevelError::Codec(bytes[10]))?;
        let label = &bytes[56..56 + LABEL];
        let end = label.iter().position(|&b| b == 0).unwrap_or(LABEL);
        let header = LevelHeader {
            frame_lines: u32_at(bytes, 12),
            run: u64_at(bytes, 16),
            depth: u32_at(bytes, 24),
            chunk: u32_at(bytes, 28),
            chunks: u32_at(bytes, 32),
            first_line: u64_at(bytes, 40),
            lines: u64_at(bytes, 48),
            label: String::from_utf8_lossy(&label[..end]).into_owned(),
            codec,
        };
        if header.frame_lines == 0 || header.frames() > u64::from(u32::MAX) {
            return Err(LevelError::Header);
        }
        Ok(header)
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// A frame in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameEntry {
    /// Number of the frame within the chunk.
    pub frame: u32,
    /// Length in bytes.
    pub len: u32,
    /// Offset of its first byte.
    pub offset: u64,
    /// xxh3 of its bytes.
    pub hash: u64,
}

/// Writes a level file.
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

    /// Appends a frame; `hash` is the xxh3 of its bytes. Frames come in increasing order.
    pub fn frame(&mut self, frame: u32, bytes: &[u8], hash: u64) -> Result<(), StorageError> {
        debug_assert!(self.index.last().is_none_or(|last| last.frame < frame));
        self.file.append(bytes)?;
        self.index.push(FrameEntry { frame, len: bytes.len() as u32, offset: self.offset, hash });
        self.offset += bytes.len() as u64;
        Ok(())
    }

    /// Returns the bytes of the frames written.
    pub fn bytes(&self) -> u64 {
        self.offset - HEADER as u64
    }

    /// Makes what is written so far durable.
    pub fn sync(&mut self) -> Result<(), StorageError> {
        self.file.sync()
    }

    /// Writes index and trailer and returns the length of the file and the file, which is not yet synced.
    /// `before` is the number of states of all levels before this one, 0 when it is not known.
    pub fn finish(
        mut self,
        sum: LevelSum,
        before: u64,
    ) -> Result<(u64, Box<dyn Append>), StorageError> {
        let mut index = Vec::with_capacity(self.index.len() * ENTRY + TRAILER);
        for entry in &self.index {
            index.extend(entry.frame.to_le_bytes());
            index.extend(entry.len.to_le_bytes());
            index.extend(entry.offset.to_le_bytes());
            index.extend(entry.hash.to_le_bytes());
        }
        let hash = XxHash3_64::oneshot(&index);
        let trailer =
            [self.offset, self.index.len() as u64, sum.states, sum.checksum, hash, before];
        let start = index.len();
        index.extend(trailer.iter().flat_map(|value| value.to_le_bytes()));
        index.extend(END);
        let hash = XxHash3_64::oneshot(&index[start..]);
        index.extend(hash.to_le_bytes());
        self.file.append(&index)?;
        let len = self.offset + index.len() as u64;
        Ok((len, self.file))
    }
}

/// Reads a level file.
pub struct LevelReader {
    file: Box<dyn ReadAt>,
    header: LevelHeader,
    sum: LevelSum,
    before: u64,
    index: Vec<FrameEntry>,
}

impl LevelReader {
    /// Reads and checks the header alone.
    ///
    /// # Errors
    /// Those of [`LevelReader::open`].
    pub fn header_of(file: &dyn ReadAt) -> Result<LevelHeader, StorageError> {
        let wrong = |error: LevelError| file.place().invalid(error);
        if file.len() < (HEADER + TRAILER) as u64 {
            return Err(wrong(LevelError::NotALevel));
        }
        LevelHeader::parse(file.read(0, HEADER)?.as_ref()).map_err(wrong)
    }

    /// Opens a file: reads and checks header, trailer and index. Cost: 24 bytes per frame.
    ///
    /// # Errors
    /// What the system says, or a [`LevelError`] inside an [`std::io::ErrorKind::InvalidData`].
    pub fn open(file: Box<dyn ReadAt>) -> Result<LevelReader, StorageError> {
        let wrong = |error: LevelError| file.place().invalid(error);
        let len = file.len();
        let header = LevelReader::header_of(&*file)?;
        let trailer = file.read(len - TRAILER as u64, TRAILER)?;
        let trailer = trailer.as_ref();
        if trailer[48..56] != END {
            return Err(wrong(LevelError::NotALevel));
        }
        if u64_at(trailer, 56) != XxHash3_64::oneshot(&trailer[..56]) {
            return Err(wrong(LevelError::Index));
        }
        let (start, entries) = (u64_at(trailer, 0), u64_at(trailer, 8));
        let bytes = entries.checked_mul(ENTRY as u64);
        let end = bytes.and_then(|bytes| start.checked_add(bytes));
        if start < HEADER as u64 || end != Some(len - TRAILER as u64) || entries > header.frames() {
            return Err(wrong(LevelError::Index));
        }
        let bytes = file.read(start, (entries * ENTRY as u64) as usize)?;
        let bytes = bytes.as_ref();
        if u64_at(trailer, 32) != XxHash3_64::oneshot(bytes) {
            return Err(wrong(LevelError::Index));
        }
        let mut index: Vec<FrameEntry> = Vec::with_capacity(entries as usize);
        let mut offset = HEADER as u64;
        for entry in bytes.chunks_exact(ENTRY) {
            let entry = FrameEntry {
                frame: u32_at(entry, 0),
                len: u32_at(entry, 4),
                offset: u64_at(entry, 8),
                hash: u64_at(entry, 16),
            };
            let rises = index.last().is_none_or(|last| last.frame < entry.frame);
            if !rises || u64::from(entry.frame) >= header.frames() || entry.offset != offset {
                return Err(wrong(LevelError::Index));
            }
            offset += u64::from(entry.len);
            index.push(entry);
        }
        if offset != start {
            return Err(wrong(LevelError::Index));
        }
        let sum = LevelSum { states: u64_at(trailer, 16), checksum: u64_at(trailer, 24) };
        Ok(LevelReader { file, header, sum, before: u64_at(trailer, 40), index })
    }

    pub fn header(&self) -> &LevelHeader {
        &self.header
    }

    /// Returns the number of states and their checksum, as the file states them.
    pub fn sum(&self) -> LevelSum {
        self.sum
    }

    /// Returns the states of all levels before the file's, 0 when the file does not say.
    pub fn before(&self) -> u64 {
        self.before
    }

    /// Returns the frames that hold states, in order; they lie one after the other in the file.
    pub fn index(&self) -> &[FrameEntry] {
        &self.index
    }

    /// Returns the length of the file in bytes.
    pub fn len(&self) -> u64 {
        self.file.len()
    }

    /// Returns whether no frame holds a state.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Returns the bytes of neighbouring frames, `entries` of the index.
    pub fn read(&self, entries: Range<usize>) -> Result<Frames, StorageError> {
        let entries = self.index[entries].to_vec();
        let (first, len) = match (entries.first(), entries.last()) {
            (Some(first), Some(last)) => {
                let end = last.offset + u64::from(last.len);
                (first.offset, (end - first.offset) as usize)
            }
            _ => (0, 0),
        };
        let bytes = self.file.read(first, len)?;
        Ok(Frames {
            first_line: self.header.first_line,
            frame_lines: self.header.frame_lines,
            codec: self.header.codec,
            entries,
            bytes,
        })
    }
}

/// Neighbouring frames of a file.
#[derive(Debug)]
pub struct Frames {
    first_line: u64,
    frame_lines: u32,
    codec: Codec,
    entries: Vec<FrameEntry>,
    bytes: Bytes,
}

impl Frames {
    pub fn entries(&self) -> &[FrameEntry] {
        &self.entries
    }

    /// Returns the bytes of the i-th frame.
    pub fn bytes(&self, i: usize) -> Result<&[u8], LevelError> {
        let entry = &self.entries[i];
        let start = (entry.offset - self.entries[0].offset) as usize;
        let bytes = &self.bytes.as_ref()[start..start + entry.len as usize];
        if XxHash3_64::oneshot(bytes) != entry.hash {
            return Err(self.damaged(i));
        }
        Ok(bytes)
    }

    /// Decodes the i-th frame, as [`Decoder::decode`].
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

    /// Returns the error that names the i-th frame.
    pub fn damaged(&self, i: usize) -> LevelError {
        let frame = self.entries[i].frame;
        LevelError::Frame {
            frame,
            line: self.first_line + u64::from(frame) * u64::from(self.frame_lines),
        }
    }
}
