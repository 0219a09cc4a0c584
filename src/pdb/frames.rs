//! The frames of compressed databases.
//!
//! Invariant: a frame is right when the block in it has its sum. Nothing that a file claims takes memory before it
//! is checked.

use super::PdbError;
use super::header::Summary;
use super::meter::Meter;
use crate::progress::{Phase, Progress};
use crate::store::{
    self, BLOCK_BYTES, Container, FileError, HEADER_BYTES, Header as _, Image, Layout, in_parallel,
};

/// Returns the file that was compressed, in memory, all of it checked.
pub(super) fn load(
    file: Container<Summary>,
    observer: &dyn Progress,
) -> Result<Container<Summary>, PdbError> {
    let mut header = file.header().clone();
    header.compressed = false;
    header.stored_bytes = header.raw_bytes();
    let layout = header.layout();
    let mut image = Image::in_free_memory(layout.data.end())?;
    let (begin, entries) = image.bytes_mut().split_at_mut(layout.data.offset as usize);
    begin.copy_from_slice(&front(&file, &header, &layout));
    let ends = file.layout().frames.of(file.front()).as_chunks().0;
    let meter = Meter::new(observer, Phase::File, 0, layout.raw);
    in_parallel(entries.chunks_mut(BLOCK_BYTES), |block, to| {
        decode(&file, ends, block, to)?;
        meter.add(to.len() as u64)
    })?;
    Ok(file.replaced(header, image)?)
}

/// Reads the frame of a block, of which the ends of all frames are given, and checks the block.
fn decode(
    file: &Container<Summary>,
    ends: &[[u8; 8]],
    block: usize,
    to: &mut [u8],
) -> Result<(), FileError> {
    let damaged = || file.damaged(block);
    let end = |frame: usize| u64::from_le_bytes(ends[frame]);
    let begin = block.checked_sub(1).map_or(0, end);
    let stored = file.layout().data.bytes;
    // The last frame ends with the file; none is much longer than what is in it.
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

/// What comes before the entries of a file with another header than the one it is copied from.
pub(super) fn front(file: &Container<Summary>, header: &Summary, layout: &Layout) -> Vec<u8> {
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
