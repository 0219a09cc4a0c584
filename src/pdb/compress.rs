//! Databases compressed for shipping, and what files say of themselves.
//!
//! Invariant: decompressing restores the very file that was compressed, sums included.

use std::io::Write;
use std::path::Path;

use rayon::prelude::*;

use super::PdbError;
use super::frames::{front, load};
use super::header::Summary;
use super::meter::Meter;
use crate::progress::{Phase, Progress};
use crate::store::{self, Container, FileError, Header as _, Output};

/// Level of compression: 9 shrinks the 4x4 table of {1..7} to a third of its bytes at 20 MB/s.
const LEVEL: i32 = 9;

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
    super::threads::pool(threads)?.install(|| {
        let meter = Meter::new(observer, Phase::File, 0, file.layout().raw);
        let frames: Vec<Vec<u8>> = (0..file.layout().blocks() as usize)
            .into_par_iter()
            .map(|block| {
                let block = file.block(block)?;
                let frame = zstd::bulk::compress(&block, LEVEL);
                let frame = frame.map_err(FileError::io("cannot compress", from))?;
                meter.add(block.len() as u64)?;
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

/// Writes the database file that was compressed, and returns its bytes. Cost: the database in memory.
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
    super::threads::pool(threads)?.install(|| {
        let file = load(file, observer)?;
        let total = file.header().file_bytes();
        file.save(to, replace, |done| {
            observer.progress(Phase::File, done, total);
            !observer.interrupted()
        })?;
        Ok(total)
    })
}

/// Returns what the header of a file says, compressed or not: the pattern's table without its entries.
///
/// # Errors
/// [`PdbError`] as for [`super::Pdb::open`].
pub fn inspect(path: &Path) -> Result<Summary, PdbError> {
    let file = Container::<Summary>::open(path)?;
    Ok(file.header().clone())
}
