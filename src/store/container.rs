//! The container of databases and distance tables: a header, small sections, and entries.
//!
//! Invariant: a header of 4096 bytes begins with magic number, version and its length, and ends with the XXH3-64 of the
//! preceding bytes; an index, the checksums of the entries' blocks, the ends of compressed frames, and the entries
//! follow in the positions given by [`SectionLayout`]; all bytes in between are zero (`docs/format.md`). Every byte of
//! a file has a checksum or is zero: [`Container::open`] checks everything before the entries, and each block when it
//! is first read; [`Container::load`] checks everything.

use std::{
    fs::File,
    hash::Hasher,
    io::{Read, Write},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use twox_hash::XxHash3_64;

use crate::{
    kernel::prefetch,
    progress::{Meter, Phase, Progress},
    puzzle::{Board, Size},
    store::{Image, Output, output::failed, platform::read_exact_at},
    system::{FileKind, FileProblem, SystemError, opened},
    threads::in_parallel,
};

const SUM: usize = HEADER_BYTES - 8;

/// The first bytes of the kinds of files with such a header, and their names.
pub const DATABASE: ([u8; 8], &str) = (*b"TWPDB\r\n\x1a", "pattern database");
pub const DISTANCES: ([u8; 8], &str) = (*b"TWTAB\r\n\x1a", "distance table");
pub const PRUNING: ([u8; 8], &str) = (*b"TWPRU\r\n\x1a", "pruning table");
pub const COSETS: ([u8; 8], &str) = (*b"TWCOS\r\n\x1a", "coset table");

/// The header of a kind of file.
pub trait FileHeader: Clone + Sync {
    const MAGIC: [u8; 8];
    /// The newest version of the format; older ones can also be read.
    const VERSION: u32;
    const KIND: FileKind;

    /// Returns the oldest version that can express everything in the header.
    fn version(&self) -> u32 {
        Self::VERSION
    }

    /// Reads the fields; values that follow from others are checked by writing them again.
    fn decode(fields: &Fields) -> Result<Self, &'static str>;

    /// Content of a file of this version that is no longer supported, and the versions that wrote it.
    fn retired(_: &Fields) -> Option<&'static str> {
        None
    }

    fn encode(&self, fields: &mut Fields);

    /// Returns the header of the file without compression.
    fn unpacked(&self) -> Self {
        self.clone()
    }

    fn layout(&self) -> SectionLayout;

    /// The number of entries or states with each value or depth, and the checksum of the entries.
    fn contents(&self) -> (&[u64], u64);

    /// The checksums of the index, if there is one, and of the section of checksums: a checksum of the entries.
    fn sums(&mut self) -> (Option<&mut u64>, &mut u64);
}

fn encode<H: FileHeader>(header: &H) -> Box<Fields> {
    let mut fields = Box::new(Fields([0; HEADER_BYTES]));
    header.encode(&mut fields);
    fields.put(0, &H::MAGIC);
    fields.put(8, &header.version().to_le_bytes());
    fields.put(12, &(HEADER_BYTES as u32).to_le_bytes());
    let sum = XxHash3_64::oneshot(&fields.0[..SUM]);
    fields.put(SUM, &sum.to_le_bytes());
    fields
}

/// Reads the header of a file with the given length.
fn decode<H: FileHeader>(path: &Path, begin: &[u8], found: u64) -> Result<H, SystemError> {
    let wrong = |problem| H::KIND.wrong(path, problem);
    let length = |expected| wrong(FileProblem::Length { found, expected });
    if begin.get(..8) != Some(&H::MAGIC) {
        let kinds = [DATABASE, DISTANCES, PRUNING, COSETS];
        let another = kinds.into_iter().find(|(m, _)| begin.starts_with(m));
        return Err(wrong(another.map_or(FileProblem::Other, |(_, is)| FileProblem::Another(is))));
    }
    let bytes = begin.first_chunk().ok_or_else(|| length(HEADER_BYTES as u64))?;
    let fields = Fields(*bytes);
    let (version, supported) = (fields.u64(8) as u32, H::VERSION);
    if !(1..=supported).contains(&version) {
        return Err(wrong(FileProblem::Version { found: version, supported }));
    }
    if XxHash3_64::oneshot(&bytes[..SUM]) != fields.u64(SUM) {
        return Err(wrong(FileProblem::Header("wrong checksum of the header")));
    }
    if let Some(what) = H::retired(&fields) {
        return Err(wrong(FileProblem::Retired(what)));
    }
    let header = H::decode(&fields).map_err(|what| wrong(FileProblem::Header(what)))?;
    if encode(&header).0 != *bytes {
        return Err(wrong(FileProblem::Header("contradictory fields in the header")));
    }
    let expected = header.layout().data.end();
    if expected == found { Ok(header) } else { Err(length(expected)) }
}

/// Where the bytes are.
#[derive(Debug)]
enum Body {
    /// All of them in memory, or mapped.
    Whole(Image),
    /// Everything before the entries, and the requested blocks of entries.
    Parts { file: File, front: Image, blocks: Vec<OnceLock<Vec<u8>>> },
}

/// A file of one kind, in memory or read block by block.
#[derive(Debug)]
pub struct Container<H> {
    pub path: PathBuf,
    pub header: H,
    /// The positions of the sections.
    pub layout: SectionLayout,
    body: Body,
}

/// What messages call a file that has no name.
pub const IN_MEMORY: &str = "a file in memory";

/// Number of bytes that are hashed at a time, and distance at which memory is prefetched.
const PIECE: usize = 1 << 10;

const AHEAD: usize = 4 << 10;

/// The XXH3-64 of a block. Cost: two thirds of that of hashing it in one call, which waits for memory at every page.
fn sum_of(block: &[u8]) -> u64 {
    let mut sum = XxHash3_64::new();
    for (i, piece) in block.chunks(PIECE).enumerate() {
        let ahead = block.as_ptr().wrapping_add(i * PIECE + AHEAD);
        (0..PIECE).step_by(64).for_each(|line| prefetch::<1, _>(ahead.wrapping_add(line)));
        sum.write(piece);
    }
    sum.finish()
}

impl<H: FileHeader> Container<H> {
    /// Opens a file whose entries are read when they are requested. Cost: reading and checking everything before the
    /// entries; later, for each block of entries, reading and hashing 1 MiB, and the memory for it.
    pub fn open(path: &Path) -> Result<Container<H>, SystemError> {
        let (file, metadata) = opened(path).map_err(SystemError::io("cannot open", path))?;
        let len = metadata.len();
        let mut front = vec![0; len.min(HEADER_BYTES as u64) as usize];
        let failed = SystemError::io("cannot read", path);
        read_exact_at(&file, &mut front, 0).map_err(&failed)?;
        let header: H = decode(path, &front, len)?;
        let layout = header.layout();
        // No longer than the file.
        let mut front = Image::zeroed(layout.data.offset)?;
        read_exact_at(&file, front.bytes_mut(), 0).map_err(&failed)?;
        let blocks = (0..layout.blocks()).map(|_| OnceLock::new()).collect();
        Container::new(path, header, Body::Parts { file, front, blocks })
    }

    /// Reads all of an opened file into memory, decompressed, on huge pages if the system has them, and checks it. Cost:
    /// memory for the whole file, one read, and 0.1 ns of one core per byte for the checksums.
    pub fn load(self, observer: &dyn Progress) -> Result<Container<H>, SystemError> {
        let header = self.header.unpacked();
        let layout = header.layout();
        let meter = Meter::new(observer, Phase::File, 0, layout.raw);
        let mut image = Image::in_free_memory(layout.data.end())?;
        let (front, entries) = image.bytes_mut().split_at_mut(layout.data.offset as usize);
        self.write_front(&header, front);
        in_parallel(entries.chunks_mut(BLOCK_BYTES), |block, to| {
            self.read_block(block, to)?;
            meter.add(to.len() as u64)
        })?;
        Ok(Container { path: self.path, header, layout, body: Body::Whole(image) })
    }

    /// Writes what is before the entries of this file with another header: how the entries are stored may differ.
    pub fn write_front(&self, header: &H, to: &mut [u8]) {
        let layout = header.layout();
        to[..HEADER_BYTES].copy_from_slice(&encode(header).0);
        layout.index.of_mut(to).copy_from_slice(self.index());
        layout.sums.of_mut(to).copy_from_slice(self.layout.sums.of(self.front()));
    }

    /// Whether the entries are compressed.
    pub fn is_packed(&self) -> bool {
        self.layout.frames.bytes > 0
    }

    /// Checks that a mapped file has not been modified since it was mapped.
    pub fn unchanged(&self) -> Result<(), SystemError> {
        match &self.body {
            Body::Whole(Image::Mapped(mapped)) if !mapped.is_unchanged() => {
                Err(SystemError::Changed { path: self.path.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Returns a file in memory or a mapped file. Entries are not checked: see [`Container::check`].
    pub fn of_image(path: &Path, image: Image) -> Result<Container<H>, SystemError> {
        let bytes = image.bytes();
        let header = decode(path, bytes, bytes.len() as u64)?;
        Container::new(path, header, Body::Whole(image))
    }

    /// Finishes a file in memory whose index and entries have been written: adds checksums and header.
    pub fn finish(mut image: Image, mut header: H) -> Container<H> {
        let layout = header.layout();
        let bytes = image.bytes_mut();
        let (front, entries) = bytes.split_at_mut(layout.data.offset as usize);
        let blocks = entries.chunks(BLOCK_BYTES);
        let sums = layout.sums.of_mut(front).as_chunks_mut::<8>().0;
        // This cannot fail: computing checksums has no errors.
        let _ = in_parallel(sums.iter_mut().zip(blocks), |_, (sum, block)| {
            *sum = sum_of(block).to_le_bytes();
            Ok::<(), ()>(())
        });
        let (index, entries) = header.sums();
        if let Some(index) = index {
            *index = XxHash3_64::oneshot(layout.index.of(bytes));
        }
        *entries = XxHash3_64::oneshot(layout.sums.of(bytes));
        bytes[..HEADER_BYTES].copy_from_slice(&encode(&header).0);
        Container { path: IN_MEMORY.into(), header, layout, body: Body::Whole(image) }
    }

    /// Gives the file in which this table was filled its name, and maps it anew, for reading.
    pub fn named(self, output: Output) -> Result<Container<H>, SystemError> {
        let Body::Whole(image) = self.body else { unreachable!("it was filled") };
        let path = output.path().to_path_buf();
        let image = Image::Mapped(output.finish_image(image)?);
        let file = Container::of_image(&path, image)?;
        // Others may have given its name to a file of theirs.
        match encode::<H>(&file.header).0 == encode(&self.header).0 {
            true => Ok(file),
            false => Err(SystemError::Changed { path }),
        }
    }

    /// Checks everything before the entries.
    fn new(path: &Path, mut header: H, body: Body) -> Result<Container<H>, SystemError> {
        let layout = header.layout();
        let (index, entries) = header.sums();
        let (index, entries) = (index.map(|sum| *sum), *entries);
        let file = Container { path: path.to_path_buf(), header, layout, body };
        let front = file.front();
        let gap = |pair: &[Section]| front[pair[0].end() as usize..pair[1].offset as usize].iter();
        let wrong = if XxHash3_64::oneshot(layout.sums.of(front)) != entries {
            "wrong checksum of the block checksums"
        } else if index.is_some_and(|sum| sum != XxHash3_64::oneshot(file.index())) {
            "wrong checksum of the index"
        } else if layout.sections().windows(2).flat_map(gap).any(|&b| b != 0) {
            "the padding is not zero"
        } else {
            return Ok(file);
        };
        Err(H::KIND.wrong(path, FileProblem::Header(wrong)))
    }

    /// Returns everything before the entries.
    pub fn front(&self) -> &[u8] {
        match &self.body {
            Body::Whole(image) => &image.bytes()[..self.layout.data.offset as usize],
            Body::Parts { front, .. } => front.bytes(),
        }
    }

    pub fn index(&self) -> &[u8] {
        self.layout.index.of(self.front())
    }

    /// Whether the whole file is in memory or mapped.
    pub fn is_whole(&self) -> bool {
        matches!(self.body, Body::Whole(_))
    }

    /// Returns the entries; empty for a file that is read block by block.
    pub fn data(&self) -> &[u8] {
        match &self.body {
            Body::Whole(image) => &image.bytes()[self.layout.data.offset as usize..],
            Body::Parts { .. } => &[],
        }
    }

    /// Returns a byte of the entries, or `None` after their end. In a file that is read block by block, the block is
    /// read and checked when it is first requested.
    pub fn byte(&self, at: u64) -> Result<Option<u8>, SystemError> {
        let Body::Parts { blocks, .. } = &self.body else {
            return Ok(self.data().get(at as usize).copied());
        };
        let (block, at) = (at as usize / BLOCK_BYTES, at as usize % BLOCK_BYTES);
        let Some(slot) = blocks.get(block) else { return Ok(None) };
        let bytes = match slot.get() {
            Some(bytes) => bytes,
            None => {
                let bytes = self.block(block)?;
                slot.get_or_init(|| bytes)
            }
        };
        Ok(bytes.get(at).copied())
    }

    /// Returns a checked copy of a block of entries.
    pub fn block(&self, block: usize) -> Result<Vec<u8>, SystemError> {
        let begin = (block * BLOCK_BYTES) as u64;
        let mut bytes = vec![0; (self.layout.raw - begin).min(BLOCK_BYTES as u64) as usize];
        self.read_block(block, &mut bytes)?;
        Ok(bytes)
    }

    fn read_block(&self, block: usize, to: &mut [u8]) -> Result<(), SystemError> {
        match self.is_packed() {
            true => self.unpack(block, to)?,
            false => self.read((block * BLOCK_BYTES) as u64, to)?,
        }
        self.verify(block, to)
    }

    /// Reads a block from its compressed frame, whose claimed size is checked before memory is allocated.
    fn unpack(&self, block: usize, to: &mut [u8]) -> Result<(), SystemError> {
        let damaged = || self.damaged(block);
        let ends = self.layout.frames.of(self.front()).as_chunks().0;
        let end = |frame: usize| u64::from_le_bytes(ends[frame]);
        let begin = block.checked_sub(1).map_or(0, end);
        let stored = self.layout.data.bytes;
        // The last frame ends with the file; no frame is much longer than its contents.
        let inside = end(block) == stored || block + 1 < ends.len() && end(block) < stored;
        let frame = end(block).checked_sub(begin);
        let frame = frame.filter(|&bytes| inside && bytes <= 2 * to.len() as u64 + 4096);
        let mut bytes = vec![0; frame.ok_or_else(damaged)? as usize];
        self.read(begin, &mut bytes)?;
        match zstd::bulk::decompress_to_buffer(&bytes, to) {
            Ok(len) if len == to.len() => Ok(()),
            _ => Err(damaged()),
        }
    }

    /// Reads bytes of the data section as they are stored.
    fn read(&self, begin: u64, to: &mut [u8]) -> Result<(), SystemError> {
        let read = match &self.body {
            Body::Whole(_) => {
                let mut from = self.data().get(begin as usize..).unwrap_or_default();
                from.read_exact(to)
            }
            Body::Parts { file, .. } => read_exact_at(file, to, self.layout.data.offset + begin),
        };
        read.map_err(SystemError::io("cannot read", &self.path))
    }

    /// Checks the bytes of a block of entries.
    fn verify(&self, block: usize, bytes: &[u8]) -> Result<(), SystemError> {
        let sums = self.layout.sums.of(self.front()).as_chunks::<8>().0;
        let is_right = sums.get(block) == Some(&sum_of(bytes).to_le_bytes());
        if is_right { Ok(()) } else { Err(self.damaged(block)) }
    }

    /// Returns the error for a definition of a puzzle that contradicts the header.
    pub fn contradictory(&self) -> SystemError {
        H::KIND.wrong(&self.path, FileProblem::Header("invalid puzzle definition"))
    }

    fn damaged(&self, block: usize) -> SystemError {
        let (block, blocks) = (block as u64, self.layout.blocks());
        H::KIND.wrong(&self.path, FileProblem::Damaged { block, blocks })
    }

    /// Verifies the checksums of all entries, which must not be compressed. Cost: one pass over them.
    pub fn check(&self) -> Result<(), SystemError> {
        match &self.body {
            Body::Whole(_) => in_parallel(self.data().chunks(BLOCK_BYTES), |block, bytes| {
                self.verify(block, bytes)
            }),
            Body::Parts { blocks, .. } => {
                in_parallel(0..blocks.len(), |block, _| self.block(block).map(drop))
            }
        }
    }

    /// Writes the file.
    pub fn save(
        &self,
        path: &Path,
        replace: bool,
        observer: &dyn Progress,
    ) -> Result<(), SystemError> {
        let mut output = Output::create(path, replace)?;
        let total = self.layout.data.end();
        match &self.body {
            Body::Whole(image) => output.write(image.bytes(), |done| {
                observer.progress(Phase::File, done, total);
                !observer.interrupted()
            })?,
            Body::Parts { front, blocks, .. } => {
                let meter = Meter::new(observer, Phase::File, self.layout.data.offset, total);
                output.write_all(front.bytes()).map_err(failed(path))?;
                for block in 0..blocks.len() {
                    let bytes = self.block(block)?;
                    output.write_all(&bytes).map_err(failed(path))?;
                    meter.add(bytes.len() as u64)?;
                }
            }
        }
        output.finish()
    }
}

// The positions of the sections of a database or a distance table.
//
// Invariant: sections do not overlap and follow each other in the order index, checksums, frames, entries; the entries
// begin at a multiple of 4096, so that a mapping of them can be used directly.

/// The maximum depth or value in an entry of one byte; 255 stands for unreached.
pub(crate) const MAX_DEPTH: usize = 254;

/// Number of bytes of entries that share a checksum.
pub const BLOCK_BYTES: usize = 1 << 20;

/// The position of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    pub offset: u64,
    pub bytes: u64,
}

impl Section {
    pub fn end(self) -> u64 {
        self.offset + self.bytes
    }

    pub fn of(self, file: &[u8]) -> &[u8] {
        &file[self.offset as usize..self.end() as usize]
    }

    pub fn of_mut(self, file: &mut [u8]) -> &mut [u8] {
        &mut file[self.offset as usize..self.end() as usize]
    }
}

/// The positions of all sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionLayout {
    /// A table for finding entries; may be empty.
    pub index: Section,
    /// The checksums of the blocks of entries: 64 bits each.
    pub sums: Section,
    /// The ends of compressed frames, 64 bits each; empty unless compressed.
    pub frames: Section,
    /// The entries, as stored in the file.
    pub data: Section,
    /// Size of the entries in bytes before compression.
    pub raw: u64,
}

impl SectionLayout {
    /// Returns the layout for these sizes in bytes of the index and of the entries, before and after compression.
    pub fn new(index: u64, raw: u64, compressed: Option<u64>) -> SectionLayout {
        let section = |offset, bytes| Section { offset, bytes };
        let blocks = 8 * raw.div_ceil(BLOCK_BYTES as u64);
        let index = section(HEADER_BYTES as u64, index);
        let sums = section(index.end().next_multiple_of(64), blocks);
        let frames = compressed.map_or(0, |_| blocks);
        let frames = section(sums.end().next_multiple_of(64), frames);
        let data = frames.end().next_multiple_of(HEADER_BYTES as u64);
        SectionLayout { index, sums, frames, data: section(data, compressed.unwrap_or(raw)), raw }
    }

    pub fn blocks(&self) -> u64 {
        self.sums.bytes / 8
    }

    pub fn sections(&self) -> [Section; 4] {
        [self.index, self.sums, self.frames, self.data]
    }
}

// The fields of a header, at fixed offsets.
//
// Invariant: numbers are little-endian.

/// Size of a header in bytes.
const HEADER_BYTES: usize = 4096;

/// Offset of the histogram, in every kind of file.
const HISTOGRAM: usize = 256;

#[derive(Clone, Debug)]
pub struct Fields(pub [u8; HEADER_BYTES]);

impl Fields {
    pub fn byte(&self, offset: usize) -> u8 {
        self.0[offset]
    }

    pub fn u16(&self, offset: usize) -> u16 {
        u16::from_le_bytes([self.0[offset], self.0[offset + 1]])
    }

    pub fn u64(&self, offset: usize) -> u64 {
        let word = self.0[offset..].first_chunk().copied();
        u64::from_le_bytes(word.unwrap_or_default())
    }

    /// Reads a board whose size is at offset 16 and whose tiles are at another one.
    pub fn board(&self, tiles: usize, most_cells: usize) -> Result<Board, &'static str> {
        let [rows, cols] = [16, 17].map(|at| self.byte(at).into());
        let size = Size::new(rows, cols).ok().filter(|size| size.cells() <= most_cells);
        let size = size.ok_or("invalid board size")?;
        let tiles: Vec<u16> = (0..size.cells()).map(|i| self.u16(tiles + 2 * i)).collect();
        Board::new(size, &tiles).map_err(|_| "invalid goal")
    }

    /// Reads the numbers of states at each depth, the last of which is in the byte at an offset, and returns them with
    /// their sum.
    pub fn histogram(&self, last: usize) -> Result<(Vec<u64>, u64), &'static str> {
        let depths = usize::from(self.byte(last)) + 1;
        if depths > MAX_DEPTH + 1 {
            return Err("invalid length of the histogram");
        }
        let counts: Vec<u64> = (0..depths).map(|i| self.u64(HISTOGRAM + 8 * i)).collect();
        let sum = counts.iter().try_fold(0u64, |sum, &n| sum.checked_add(n));
        Ok((counts, sum.ok_or("wrong histogram")?))
    }

    /// Writes the numbers of states at each depth, and the last depth as a byte at an offset; returns their sum.
    pub fn put_histogram(&mut self, last: usize, counts: &[u64]) -> u64 {
        self.put(last, &[counts.len().saturating_sub(1) as u8]);
        self.put_words(HISTOGRAM, counts);
        counts.iter().sum()
    }

    /// Writes the fields of both kinds of tables: the positions of their sections and the checksum of their entries.
    pub fn put_table(&mut self, SectionLayout { sums, data, .. }: SectionLayout, checksum: u64) {
        let sections = [sums.offset, sums.bytes, data.offset, data.bytes];
        self.put_words(48, &sections);
        self.put_words(80, &[BLOCK_BYTES as u64, checksum]);
    }

    pub fn put(&mut self, offset: usize, bytes: &[u8]) {
        self.0[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    pub fn put_words(&mut self, offset: usize, words: &[u64]) {
        let bytes: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
        self.put(offset, bytes.as_flattened());
    }

    pub fn put_halves(&mut self, offset: usize, words: &[u16]) {
        let bytes: Vec<[u8; 2]> = words.iter().map(|word| word.to_le_bytes()).collect();
        self.put(offset, bytes.as_flattened());
    }
}
