//! The search on disk: levels in files, one chunk in memory at a time.
//!
//! Invariant: a session only continues from what the manifest names. A new search is level 0 in files
//! and a manifest; from there every session does the same: fill the planes from the files, compute the
//! chunks that are missing, level by level.

mod calibrate;
mod chunk;
mod cross;
mod directories;
mod error;
mod estimate;
mod fetch;
mod fit;
mod inspect;
mod journal;
mod level;
mod mail;
mod muster;
mod owners;
mod pace;
mod rebuild;
mod run;
mod session;
mod times;
mod together;
mod writer;

pub use calibrate::calibrate;
pub use directories::Directories;
pub use error::DiskError;
pub use estimate::{Estimate, estimate};
pub use fit::{Fit, PlaneStore, Room};
pub use inspect::{Status, Verified, search, status, verify};
pub use together::run_together;

use std::time::Duration;

use self::fetch::frame_lines;
use self::run::{Halt, Run};
use self::times::Times;
use super::classes::Classes;
use super::crossing::Crossings;
use super::search::{choose_kernel, pool};
use super::{Engine, Observer, Outcome, Search, SearchError, State, StateSpace};
use crate::Error;
use crate::perm::kernel::Kernel;
use crate::store::{DEFAULT_LEVEL, Manifest};

/// How a search uses its disk.
#[derive(Clone)]
pub struct Disk {
    /// Where the files lie.
    pub directories: Directories,
    /// Number of digits that all lines of a chunk share, K; `None` for the fewest that fit the memory. A
    /// run that is continued keeps its own.
    pub shared_digits: Option<usize>,
    /// Where the planes lie; `None` for memory if they fit.
    pub planes: Option<PlaneStore>,
    /// zstd level of new files.
    pub zstd_level: i32,
    /// Least time between two commits; zero for one after every chunk.
    pub commit_every: Duration,
    /// Whether the files of all levels are kept, not only of the last two.
    pub keep_all: bool,
    /// Most bytes of level files, `None` for what is free.
    pub limit: Option<u64>,
    /// Whether a search that is continued first reads and checks all its files.
    pub check: bool,
}

impl Disk {
    /// Returns the defaults: as few chunks as fit the memory, a commit every 10 seconds, the last two
    /// levels kept.
    pub fn new(directories: Directories) -> Disk {
        Disk {
            directories,
            shared_digits: None,
            planes: None,
            zstd_level: DEFAULT_LEVEL,
            commit_every: Duration::from_secs(10),
            keep_all: false,
            limit: None,
            check: false,
        }
    }
}

/// What a search on disk has used.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskUse {
    /// Number of chunks.
    pub chunks: usize,
    /// Where the planes lay.
    pub planes: PlaneStore,
    /// Bytes of level files written, over all sessions.
    pub bytes_written: u64,
    /// Most bytes of level files at any time.
    pub peak_bytes: u64,
    /// Bytes of each level's files.
    pub level_bytes: Vec<u64>,
    /// Thread-seconds of this session spent decoding.
    pub decode_seconds: f64,
    /// Thread-seconds of this session spent in the kernel, planes included.
    pub kernel_seconds: f64,
    /// Thread-seconds of this session spent encoding.
    pub encode_seconds: f64,
    /// Thread-seconds of this session that workers waited for a reader or the writer.
    pub wait_seconds: f64,
    /// Processes of this session.
    pub ranks: usize,
    /// Bytes that ranks sent to each other in this session for the step to each depth.
    pub network_bytes: Vec<u64>,
}

/// Runs a search on disk, or continues the one that the directories hold, and returns what it found.
///
/// Cost: memory as [`Fit`] says; disk for two levels, or all; each level is read twice and written once.
///
/// # Errors
/// [`DiskError`] when a directory is in use, holds another search or a damaged file, or the disk is full;
/// [`SearchError`] when the search does not fit the memory or the observer interrupts. In every case the
/// same call continues at the last commit.
pub fn run(search: &Search, disk: &Disk, observer: &dyn Observer) -> Result<Outcome, Error> {
    let space = StateSpace::new(search.goal.clone())?;
    let start = space.state(&search.start)?;
    let kernel = choose_kernel(search.kernel)?;
    let _locks = disk.directories.lock()?;
    if disk.check && disk.directories.manifest()?.is_some() {
        // What is found damaged is computed again below.
        let checked = verify(&disk.directories, &mut |_, _| !observer.interrupted());
        repair(disk, checked.map(drop), observer)?;
    }
    loop {
        let found = session(search, disk, &space, start, kernel, observer);
        match repair(disk, found, observer)? {
            Some(outcome) => return Ok(outcome),
            None => continue,
        }
    }
}

/// Passes a result on, unless it is a damaged level of a run that keeps them all: then takes the manifest
/// back to the levels before, and returns `None`.
fn repair<T>(
    disk: &Disk,
    result: Result<T, Error>,
    observer: &dyn Observer,
) -> Result<Option<T>, Error> {
    let (depth, error) = match result {
        Ok(value) => return Ok(Some(value)),
        Err(Error::Disk(error)) => match &error {
            DiskError::Level { depth, .. } => (*depth, error),
            _ => return Err(error.into()),
        },
        Err(error) => return Err(error),
    };
    match disk.directories.manifest()? {
        Some(mut manifest) if manifest.keep_all => {
            observer.rebuilding(depth as usize, &error.to_string());
            manifest.levels.truncate(depth as usize);
            manifest.files.retain(|files| files.depth < depth);
            manifest.complete = false;
            let first = disk.directories.first();
            let written = manifest.write(first);
            written.map_err(|e| DiskError::io(first, "manifest", e))?;
            Ok(None)
        }
        _ => Err(error.into()),
    }
}

/// Continues the run in the directories, or starts one.
fn session(
    search: &Search,
    disk: &Disk,
    space: &StateSpace,
    start: State,
    kernel: Kernel,
    observer: &dyn Observer,
) -> Result<Outcome, Error> {
    let size = search.goal.size();
    let found = disk.directories.manifest()?;
    let fit = Fit::choose(search, disk, found.as_ref())?;
    let manifest = match found {
        Some(manifest) => {
            check(search, disk, &manifest)?;
            manifest
        }
        None => new_manifest(search, disk, fit),
    };
    let fresh = manifest.levels.is_empty();
    disk.directories.sweep((!fresh).then_some(&manifest))?;

    let puzzle = space.frame().path().puzzle();
    let classes = Classes::new(&puzzle).ok_or(SearchError::TooLarge { size })?;
    let crossings = Crossings::new(&puzzle, &classes, fit.chunks);
    let pool = pool(search.threads)?;
    observer.started(size.states().unwrap_or(u64::MAX));
    let run = Run {
        search,
        disk,
        fit,
        kernel,
        classes: &classes,
        crossings: &crossings,
        start,
        label: search.goal.to_string(),
        threads: pool.current_num_threads(),
        times: Times::default(),
        codecs: chunk::Codecs::new(disk.zstd_level),
        observer,
    };
    let (found, manifest) = pool.install(|| run.run(manifest))?;
    let level_seconds = manifest.levels.iter().map(|level| level.seconds).collect();
    Ok(Outcome {
        goal: search.goal.clone(),
        start: search.start.clone(),
        engine: Engine::Disk,
        kernel: Some(kernel),
        threads: run.threads,
        counts: manifest.levels.iter().map(|level| level.states).collect(),
        checksums: manifest.levels.iter().map(|level| level.checksum).collect(),
        level_seconds,
        complete: found.complete,
        seconds: manifest.seconds,
        array_bytes: fit.bytes,
        last: found.last,
        disk: Some(DiskUse {
            chunks: fit.chunks.count,
            planes: fit.planes,
            bytes_written: manifest.bytes_written,
            peak_bytes: manifest.peak_bytes,
            level_bytes: manifest.levels.iter().map(|level| level.bytes).collect(),
            decode_seconds: run.times.decode.seconds(),
            kernel_seconds: run.times.kernel.seconds(),
            encode_seconds: run.times.encode.seconds(),
            wait_seconds: run.times.wait.seconds(),
            ranks: 1,
            network_bytes: Vec::new(),
        }),
    })
}

/// Refuses a run that is not the one asked for.
fn check(search: &Search, disk: &Disk, manifest: &Manifest) -> Result<(), DiskError> {
    let facts = [
        (
            "board",
            manifest.board.clone(),
            search.goal.size().to_string(),
        ),
        ("goal", manifest.goal.clone(), search.goal.to_string()),
        ("start", manifest.start.clone(), search.start.to_string()),
        (
            "directories",
            manifest.directories.to_string(),
            disk.directories.count().to_string(),
        ),
        (
            "levels kept",
            kept(manifest.keep_all).into(),
            kept(disk.keep_all).into(),
        ),
    ];
    match facts.into_iter().find(|(_, found, asked)| found != asked) {
        None => Ok(()),
        Some((name, found, asked)) => Err(DiskError::Other {
            directory: disk.directories.first().name(),
            name,
            found,
            asked,
        }),
    }
}

fn kept(all: bool) -> &'static str {
    if all { "all" } else { "last" }
}

fn new_manifest(search: &Search, disk: &Disk, fit: Fit) -> Manifest {
    use std::hash::{BuildHasher, RandomState};
    Manifest {
        // The standard library's source of randomness: keys that differ in every process.
        run: RandomState::new().hash_one(std::process::id()),
        board: search.goal.size().to_string(),
        goal: search.goal.to_string(),
        start: search.start.to_string(),
        shared_digits: fit.chunks.digits as u32,
        chunks: fit.chunks.count as u32,
        frame_lines: frame_lines(fit.chunks),
        directories: disk.directories.count() as u32,
        keep_all: disk.keep_all,
        complete: false,
        seconds: 0.0,
        bytes_written: 0,
        peak_bytes: 0,
        levels: Vec::new(),
        files: Vec::new(),
        level_seconds: 0.0,
    }
}
