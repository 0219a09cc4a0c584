//! Databases compressed for shipping, and what files say of themselves.
//!
//! Invariant: decompressing restores the very file that was compressed, sums included: a frame is right when
//! the block in it has its sum. Nothing that a file claims takes memory before it is checked.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::PdbError;
use super::header::Summary;
use crate::progress::{Phase, Progress};
use crate::store::{
    self, BLOCK_BYTES, Container, FileError, HEADER_BYTES, Header as _, Layout, Output,
};

/// Level of compression: 9 shrinks the 4x4 table of {1..7} to a third of its bytes at 20 MB/s.
const LEVEL: i32 = 9;
/// Blocks that are in memory at a time while a file is decompressed.
const BATCH: usize = 64;

/// Writes a compressed copy of a database file, independent zstd frames of 1 MiB each, and returns its bytes.
///
/// Cost: 50 ns a byte and core, and the compressed file in memory.
///
/// # Errors
/// [`PdbError`] when the file is damaged or compressed already, or writing fails.
pub fn compress(
    from: &Path,
    to: &Path,
    replace: bool,
    threads: Option<usize>,
    observer: &dyn Progress,
) -> Result<u64, PdbError> {
    let file = Container::<Summary>::open(from)?;
    if file.header().compressed {
        return Err(PdbError::Compressed(from.to_path_buf()));
    }
    super::build::pool(threads)?.install(|| {
        let total = file.layout().raw;
        let done = AtomicU64::new(0);
        let frames: Vec<Vec<u8>> = (0..file.layout().blocks() as usize)
            .into_par_iter()
            .map(|block| {
                if observer.interrupted() {
                    return Err(PdbError::Interrupted);
                }
                let block = file.block(block)?;
                let frame = zstd::bulk::compress(&block, LEVEL);
                let frame = frame.map_err(FileError::io("cannot compress", from))?;
                let bytes = block.len() as u64;
                let before = done.fetch_add(bytes, Ordering::Relaxed);
                observer.progress(Phase::File, before + bytes, total);
                Ok(frame)
            })
            .collect::<Result<_, PdbError>>()?;
        let mut header = file.header().clone();
        header.compressed = true;
        header.stored_bytes = frames.iter().map(|frame| frame.len() as u64).sum();
        let layout = header.layout();
        let mut front = front(&file, &header, &layout);
        let mut end = 0;
        let ends = layout.frames.of_mut(&mut front).as_chunks_mut().0;
        for (slot, frame) in ends.iter_mut().zip(&frames) {
            end += frame.len() as u64;
            *slot = end.to_le_bytes();
        }
        let mut output = Output::create(to, replace)?;
        let written = output.write_all(&front);
        let mut frames = frames.iter();
        let written = written.and_then(|()| frames.try_for_each(|frame| output.write_all(frame)));
        written.map_err(store::failed(to))?;
        output.finish()?;
        Ok(layout.data.end())
    })
}

/// What comes before the entries of a file with another header than the one it is copied from.
fn front(file: &Container<Summary>, header: &Summary, layout: &Layout) -> Vec<u8> {
    let mut front = vec![0; layout.data.offset as usize];
    front[..HEADER_BYTES].copy_from_slice(&store::encode(header).0);
    let sums = file.layout().sums.of(file.front());
    layout
        .index
        .of_mut(&mut front)
        .copy_from_slice(file.index());
    layout.sums.of_mut(&mut front).copy_from_slice(sums);
    front
}

/// Writes the database file that was compressed, and returns its bytes. Cost: 64 MiB of memory.
///
/// # Errors
/// [`PdbError`] when the file is damaged or not compressed, or writing fails.
pub fn decompress(
    from: &Path,
    to: &Path,
    replace: bool,
    threads: Option<usize>,
    observer: &dyn Progress,
) -> Result<u64, PdbError> {
    let file = Container::<Summary>::open(from)?;
    if !file.header().compressed {
        return Err(PdbError::NotCompressed(from.to_path_buf()));
    }
    let mut header = file.header().clone();
    header.compressed = false;
    header.stored_bytes = header.raw_bytes();
    let layout = header.layout();
    let frames = Frames {
        file: &file,
        ends: file.layout().frames.of(file.front()).as_chunks().0,
    };
    super::build::pool(threads)?.install(|| {
        let mut output = Output::create(to, replace)?;
        let begin = output.write_all(&front(&file, &header, &layout));
        begin.map_err(store::failed(to))?;
        let blocks = layout.blocks() as usize;
        for first in (0..blocks).step_by(BATCH) {
            if observer.interrupted() {
                return Err(PdbError::Interrupted);
            }
            let batch = first..blocks.min(first + BATCH);
            let batch: Vec<Vec<u8>> = batch
                .into_par_iter()
                .map(|block| frames.block(block))
                .collect::<Result<_, FileError>>()?;
            let mut parts = batch.iter();
            let written = parts.try_for_each(|block| output.write_all(block));
            written.map_err(store::failed(to))?;
            observer.progress(Phase::File, (first + batch.len()) as u64, blocks as u64);
        }
        output.finish()?;
        Ok(layout.data.end())
    })
}

/// The frames of a compressed file.
struct Frames<'a> {
    file: &'a Container<Summary>,
    ends: &'a [[u8; 8]],
}

impl Frames<'_> {
    /// Reads a frame and returns the block in it, checked.
    fn block(&self, block: usize) -> Result<Vec<u8>, FileError> {
        let damaged = || self.file.damaged(block);
        let end = |frame: usize| u64::from_le_bytes(self.ends[frame]);
        let begin = block.checked_sub(1).map_or(0, end);
        let last = block + 1 == self.ends.len();
        let stored = self.file.layout().data.bytes;
        let raw = (self.file.layout().raw - (block * BLOCK_BYTES) as u64).min(BLOCK_BYTES as u64);
        // The last frame ends with the file; none is much longer than what is in it.
        let frame = end(block)
            .checked_sub(begin)
            .filter(|&bytes| bytes <= 2 * raw + 4096);
        let inside = if last {
            end(block) == stored
        } else {
            end(block) <= stored
        };
        let frame = frame.filter(|_| inside).ok_or_else(damaged)?;
        let mut bytes = vec![0; frame as usize];
        self.file.read(begin, &mut bytes)?;
        let raw = zstd::bulk::decompress(&bytes, raw as usize).map_err(|_| damaged())?;
        self.file.verify(block, &raw)?;
        Ok(raw)
    }
}

/// Returns what the header of a file says, compressed or not: the pattern's table without its entries.
///
/// # Errors
/// [`PdbError`] as for [`super::Pdb::open`].
pub fn inspect(path: &Path) -> Result<Summary, PdbError> {
    let file = Container::<Summary>::open(path)?;
    Ok(file.header().clone())
}
