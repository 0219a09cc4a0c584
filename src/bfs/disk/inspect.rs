//! A run at rest, or seen from outside: what it is, how far it has come, whether its files are whole.
//!
//! Invariant: nothing here writes to the directories or waits for a lock.

use super::DiskError;
use super::chunk::any_beyond;
use super::directories::Directories;
use super::fetch::{Fetch, frame_lines};
use crate::Error;
use crate::bfs::chunks::Chunks;
use crate::bfs::classes::Classes;
use crate::bfs::{Search, SearchError, StateSpace};
use crate::perm::checksum;
use crate::perm::kernel::Tally;
use crate::perm::layout::{Layout, Register};
use crate::puzzle::tiles::Board;
use crate::store::{Decoder, Manifest};

/// How far a run has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// What the manifest says.
    pub manifest: Manifest,
    /// Whether a search is running in the directory.
    pub running: bool,
    /// States of the whole board.
    pub all_states: u64,
    /// Depth in progress, `None` when the run is complete.
    pub depth: Option<usize>,
    /// Chunks of that depth that are done.
    pub chunks_done: usize,
}

impl Status {
    /// Returns the states of the finished levels.
    pub fn states(&self) -> u64 {
        self.manifest.levels.iter().map(|level| level.states).sum()
    }

    /// Returns the states per second of computing so far.
    pub fn states_per_second(&self) -> f64 {
        self.states() as f64 / self.manifest.seconds.max(1e-9)
    }
}

/// What a check of all files has found right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Files read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their states.
    pub states: u64,
}

/// The manifest of directories that must hold a run.
fn manifest(directories: &Directories) -> Result<Manifest, DiskError> {
    directories.manifest()?.ok_or_else(|| DiskError::Empty {
        directory: directories.first().name(),
    })
}

/// Returns the search that the directories hold, to be continued with [`super::run`], and whether it
/// keeps all levels.
///
/// # Errors
/// [`DiskError`] when there is none or its manifest is damaged.
pub fn search(directories: &Directories) -> Result<(Search, bool), Error> {
    let manifest = manifest(directories)?;
    let size = manifest.board.parse()?;
    let goal = Board::parse(&manifest.goal, Some(size))?;
    let mut search = Search::new(goal);
    search.start = Board::parse(&manifest.start, Some(size))?;
    Ok((search, manifest.keep_all))
}

/// Returns how far the run in the directories has come, without disturbing it. Cost: the manifest.
///
/// # Errors
/// [`DiskError`] when there is none or its manifest is damaged.
pub fn status(directories: &Directories) -> Result<Status, Error> {
    let manifest = manifest(directories)?;
    let size: crate::puzzle::tiles::Size = manifest.board.parse()?;
    let depth = manifest.levels.len();
    let done = manifest
        .files_of(depth as u32)
        .map_or(0, |files| files.chunks.len());
    Ok(Status {
        running: directories.is_locked(),
        all_states: size.states().unwrap_or(u64::MAX),
        depth: (!manifest.complete).then_some(depth),
        chunks_done: done,
        manifest,
    })
}

/// Reads every frame of every file of a run at rest, counts its states again and compares counts and
/// checksums of frames, chunks and levels. `progress(bytes done, bytes in all)` returns false to stop.
///
/// Cost: one pass over the files.
///
/// # Errors
/// [`DiskError`] that names the first thing that is wrong, or says that it was told to stop.
pub fn verify(
    directories: &Directories,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<Verified, Error> {
    let manifest = manifest(directories)?;
    let (search, _) = search(directories)?;
    let size = search.goal.size();
    let layout = Layout::new(size.tiles()).ok_or(SearchError::TooSmall { size })?;
    let digits = manifest.shared_digits as usize;
    let chunks = Chunks::new(layout, digits).filter(|chunks| {
        chunks.count == manifest.chunks as usize && frame_lines(*chunks) == manifest.frame_lines
    });
    let other = |name, found: u32| DiskError::Other {
        directory: directories.first().name(),
        name,
        found: found.to_string(),
        asked: "what this board has".into(),
    };
    let chunks = chunks.ok_or_else(|| other("chunks", manifest.chunks))?;
    if manifest.directories as usize != directories.count() {
        return Err(DiskError::Other {
            directory: directories.first().name(),
            name: "directories",
            found: manifest.directories.to_string(),
            asked: directories.count().to_string(),
        }
        .into());
    }
    let space = StateSpace::new(search.goal.clone())?;
    let start = space.state(&search.start)?;
    let classes =
        Classes::new(&space.frame().path().puzzle()).ok_or(SearchError::TooLarge { size })?;
    let label = search.goal.to_string();
    let all = manifest.disk_bytes();
    let mut verified = Verified::default();
    for files in &manifest.files {
        let fetch = Fetch {
            directories,
            chunks,
            run: manifest.run,
            label: &label,
            depth: files.depth,
            records: files.chunks.clone(),
            keep_all: manifest.keep_all,
            threads: 1,
        };
        let class = (classes.place(start.cell).0 + files.depth as usize) % 2;
        let cells = classes.cells(class).len();
        let mut level = Tally::default();
        for record in &files.chunks {
            let found = check_chunk(&fetch, record.chunk as usize, cells, &mut |bytes| {
                verified.bytes += bytes;
                progress(verified.bytes, all)
            })?;
            let Some(tally) = found else {
                return Err(DiskError::Interrupted {
                    directory: directories.first().name(),
                    depth: files.depth as usize,
                    states: verified.states,
                }
                .into());
            };
            if tally.states != record.states || tally.checksum != record.checksum {
                let reason = "its states are not those that the manifest counts";
                return Err(fetch.damaged(record.chunk as usize, reason).into());
            }
            verified.files += u64::from(record.states > 0);
            verified.states += tally.states;
            level = level.plus(tally);
        }
        // Of the level before the last two, chunks are removed as the search goes on.
        let stated = manifest.levels.get(files.depth as usize);
        let whole = manifest.keep_all || files.depth as usize + 1 == manifest.levels.len();
        if let Some(stated) = stated.filter(|_| whole)
            && (stated.states, stated.checksum) != (level.states, level.checksum)
        {
            return Err(DiskError::Sum {
                directory: directories.first().name(),
                depth: files.depth,
                found: level.states,
                stated: stated.states,
            }
            .into());
        }
    }
    Ok(verified)
}

/// Counts the states of a chunk again; `None` when told to stop.
fn check_chunk(
    fetch: &Fetch,
    chunk: usize,
    cells: usize,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<Tally>, DiskError> {
    let mut tally = Tally::default();
    let Some(reader) = fetch.open(chunk)? else {
        return Ok(Some(tally));
    };
    let chunks = fetch.chunks;
    let mut decoder = Decoder::default();
    let mut registers: Vec<Register> = vec![[0; 64]; chunks.frame_registers()];
    for entry in 0..reader.index().len() {
        let storage = fetch.directories.of_chunk(chunk);
        let name = Manifest::file_name(fetch.depth, chunk as u32);
        let frames = reader.read(entry..entry + 1);
        let frames = frames.map_err(|e| DiskError::io(storage, &name, e))?;
        let damaged = |reason: String| fetch.damaged(chunk, &reason);
        let bytes = frames.bytes(0).map_err(|e| damaged(e.to_string()))?;
        let first = frames.entries()[0].frame as usize * chunks.frame_registers();
        let count = chunks.frame_registers().min(chunks.registers() - first);
        let registers = &mut registers[..count];
        decoder
            .decode(bytes, registers)
            .map_err(|reason| damaged(format!("{}: {reason}", frames.damaged(0))))?;
        if any_beyond(registers, cells) {
            return Err(damaged(format!(
                "{}: it has states on cells that do not exist",
                frames.damaged(0)
            )));
        }
        let base = (chunk * chunks.registers() + first) as u64;
        for (register, bytes) in (base..).zip(&*registers) {
            let key = checksum::mix(register);
            for (j, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
                let word = u64::from_le_bytes(*word);
                tally.states += u64::from(word.count_ones());
                tally.checksum = tally.checksum.wrapping_add(checksum::word(key, j, word));
            }
        }
        if !progress(bytes.len() as u64) {
            return Ok(None);
        }
    }
    Ok(Some(tally))
}
