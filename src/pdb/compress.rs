//! Compression of databases for distribution, and the description in a file's header.
//!
//! Invariant: decompression restores exactly the file that was compressed, checksums included.

use std::{io::Write, path::Path};

use rayon::prelude::*;

use crate::{
    pdb::{Meter, PdbError, Summary},
    progress::{NoProgress, Phase, Progress},
    store::{
        self, BLOCK_BYTES, Container, FileHeader as _, HEADER_BYTES, Image, Output, SectionLayout,
    },
    system::SystemError,
    threads::in_parallel,
};

/// Compression level: 9 reduces the 4x4 table of {1..7} to a third of its size, at 20 MB/s.
const LEVEL: i32 = 9;

/// Writes a compressed copy of a database file, in independent zstd frames of 1 MiB of data each, and returns its size
/// in bytes.
///
/// Cost: 50 ns of one core per byte, using all threads of the current pool; memory for the compressed file.
///
/// # Errors
/// [`PdbError`] if the file is damaged or already compressed, or if writing fails.
pub fn compress(
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
    replace: bool,
) -> Result<u64, PdbError> {
    compress_with(from, to, replace, &NoProgress)
}

/// Like [`compress`], with an observer that sees the progress and may stop the work.
///
/// # Errors
/// Same errors as [`compress`], plus [`PdbError::Interrupted`].
pub fn compress_with(
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
    replace: bool,
    observer: &dyn Progress,
) -> Result<u64, PdbError> {
    let (from, to) = (from.as_ref(), to.as_ref());
    let file = Container::<Summary>::open(from)?;
    if file.header.compressed {
        let words = format!("'{}' is already compressed", from.display());
        return Err(PdbError::Place(words));
    }
    let meter = Meter::new(observer, Phase::File, 0, file.layout.raw);
    let frames: Vec<Vec<u8>> = (0..file.layout.blocks() as usize)
        .into_par_iter()
        .map(|block| {
            let block = file.block(block)?;
            let frame = zstd::bulk::compress(&block, LEVEL);
            let frame = frame.map_err(SystemError::io("cannot compress", from))?;
            meter.add(block.len() as u64)?;
            Ok(frame)
        })
        .collect::<Result<_, PdbError>>()?;
    let mut header = file.header.clone();
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
}

/// Restores the database file that was compressed, and returns its size in bytes. Cost: memory for the database.
///
/// # Errors
/// [`PdbError`] if the file is damaged or not compressed, or if writing fails.
pub fn decompress(
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
    replace: bool,
) -> Result<u64, PdbError> {
    decompress_with(from, to, replace, &NoProgress)
}

/// Like [`decompress`], with an observer that sees the progress and may stop the work.
///
/// # Errors
/// Same errors as [`decompress`], plus [`PdbError::Interrupted`].
pub fn decompress_with(
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
    replace: bool,
    observer: &dyn Progress,
) -> Result<u64, PdbError> {
    let (from, to) = (from.as_ref(), to.as_ref());
    let file = Container::<Summary>::open(from)?;
    if !file.header.compressed {
        return Err(PdbError::Place(format!(
            "'{}' is not compressed: there is nothing to decompress",
            from.display()
        )));
    }
    let file = load(file, observer)?;
    let total = file.header.file_bytes();
    file.save(to, replace, |done| {
        observer.progress(Phase::File, done, total);
        !observer.interrupted()
    })?;
    Ok(total)
}

/// Returns the header of a file, compressed or not: the description of the database without its entries.
///
/// # Errors
/// Same errors as [`crate::pdb::Pdb::open`].
pub fn inspect(path: impl AsRef<Path>) -> Result<Summary, PdbError> {
    let file = Container::<Summary>::open(path.as_ref())?;
    Ok(file.header.clone())
}

// The frames of compressed databases.
//
// Invariant: a frame is right if its block has the right checksum. Sizes claimed by a file are checked before memory is
// allocated.

/// Returns the original of a compressed file, in memory and completely checked.
pub(crate) fn load(
    file: Container<Summary>,
    observer: &dyn Progress,
) -> Result<Container<Summary>, PdbError> {
    let mut header = file.header.clone();
    header.compressed = false;
    header.stored_bytes = header.raw_bytes();
    let layout = header.layout();
    let mut image = Image::in_free_memory(layout.data.end())?;
    let (begin, entries) = image.bytes_mut().split_at_mut(layout.data.offset as usize);
    begin.copy_from_slice(&front(&file, &header, &layout));
    let ends = file.layout.frames.of(file.front()).as_chunks().0;
    let meter = Meter::new(observer, Phase::File, 0, layout.raw);
    in_parallel(entries.chunks_mut(BLOCK_BYTES), |block, to| {
        decode(&file, ends, block, to)?;
        meter.add(to.len() as u64)
    })?;
    Ok(file.replaced(header, image)?)
}

/// Reads the frame of a block, given the ends of all frames, and checks the block.
fn decode(
    file: &Container<Summary>,
    ends: &[[u8; 8]],
    block: usize,
    to: &mut [u8],
) -> Result<(), SystemError> {
    let damaged = || file.damaged(block);
    let end = |frame: usize| u64::from_le_bytes(ends[frame]);
    let begin = block.checked_sub(1).map_or(0, end);
    let stored = file.layout.data.bytes;
    // The last frame ends with the file; no frame is much longer than its contents.
    let inside = match block + 1 == ends.len() {
        true => end(block) == stored,
        false => end(block) <= stored,
    };
    let frame = end(block)
        .checked_sub(begin)
        .filter(|&bytes| inside && bytes <= 2 * to.len() as u64 + 4096);
    let mut bytes = vec![0; frame.ok_or_else(damaged)? as usize];
    file.read(begin, &mut bytes)?;
    match zstd::bulk::decompress_to_buffer(&bytes, to) {
        Ok(len) if len == to.len() => file.verify(block, to),
        _ => Err(damaged()),
    }
}

/// The bytes before the entries of a file whose header differs from that of the file it is copied from.
pub(crate) fn front(
    file: &Container<Summary>,
    header: &Summary,
    layout: &SectionLayout,
) -> Vec<u8> {
    let mut front = vec![0; layout.data.offset as usize];
    front[..HEADER_BYTES].copy_from_slice(&store::encode(header).0);
    let sums = file.layout.sums.of(file.front());
    layout.index.of_mut(&mut front).copy_from_slice(file.index());
    layout.sums.of_mut(&mut front).copy_from_slice(sums);
    front
}
