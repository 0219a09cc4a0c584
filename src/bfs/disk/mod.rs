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
mod mail;
mod muster;
mod owners;
mod pace;
mod rebuild;
mod session;
mod times;
mod together;

pub use calibrate::calibrate;
pub use directories::Directories;
pub use error::DiskError;
pub use estimate::{Estimate, estimate};
pub use fit::{Fit, PlaneStore, Room};
pub use inspect::{Status, Verified, search, status, verify};
pub use together::run_together;

use std::time::{Duration, Instant};

use crossbeam::channel::bounded;

use self::chunk::Stop;
use self::fetch::{Fetch, frame_lines};
use self::journal::{Encoded, Journal};
use self::times::Times;
use super::classes::Classes;
use super::crossing::Crossings;
use super::expand::{Frontier, states_of};
use super::planes::Planes;
use super::search::{Found, choose_kernel, pool};
use super::{Engine, Level, Observer, Outcome, Search, SearchError, State, StateSpace};
use crate::Error;
use crate::perm::kernel::{Kernel, Program, Tally};
use crate::perm::layout::LANES;
use crate::store::{DEFAULT_LEVEL, Encoder, LevelFiles, Manifest};

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

/// A session of a run.
struct Run<'a> {
    search: &'a Search,
    disk: &'a Disk,
    fit: Fit,
    kernel: Kernel,
    classes: &'a Classes,
    crossings: &'a Crossings,
    start: State,
    label: String,
    threads: usize,
    times: Times,
    codecs: chunk::Codecs,
    observer: &'a dyn Observer,
}

impl Run<'_> {
    fn run(&self, manifest: Manifest) -> Result<(Found, Manifest), Error> {
        let manifest = if manifest.levels.is_empty() {
            self.write_start(manifest)?
        } else {
            manifest
        };
        let mut found = Found {
            counts: manifest.levels.iter().map(|level| level.states).collect(),
            ..Found::default()
        };
        let states = found.counts.iter().sum();
        self.observer.continued(found.counts.len() - 1, states);
        found.complete = manifest.complete;
        let manifest = if self.is_last(manifest.levels.len()) || manifest.complete {
            manifest
        } else {
            let journal = Journal::start(
                self.disk.directories.clone(),
                manifest.clone(),
                self.disk.commit_every,
                self.disk.limit,
            );
            let result = self.levels(&manifest, &journal, &mut found);
            // Whatever stopped the session, what it has finished is committed.
            let manifest = journal.close();
            match result {
                Ok(()) => manifest?,
                Err(Halt::Writer) => {
                    manifest?;
                    unreachable!("a writer that has failed says why");
                }
                Err(Halt::Error(error)) => {
                    // The first error is the cause; the writer may have failed for the same one.
                    drop(manifest);
                    return Err(error);
                }
            }
        };
        found.last = self.last(&manifest)?;
        Ok((found, manifest))
    }

    /// Whether a depth is beyond the last one asked for.
    fn is_last(&self, depth: usize) -> bool {
        self.search.max_depth.is_some_and(|max| depth > max)
    }

    /// Writes level 0.
    fn write_start(&self, mut manifest: Manifest) -> Result<Manifest, Error> {
        // A session that was cut in the middle of this may have left its file.
        manifest.files.clear();
        let chunks = self.fit.chunks;
        let bit = self.classes.place(self.start.cell).1;
        let chunk = (self.start.line / chunks.lines()) as usize;
        let line = self.start.line % chunks.lines();
        let register = (line / LANES as u64) as usize;
        let frame = register / chunks.frame_registers();
        let first = frame * chunks.frame_registers();
        let count = chunks.frame_registers().min(chunks.registers() - first);
        let mut registers = vec![[0; 64]; count];
        registers[register - first][(line % LANES as u64) as usize] |= 1 << bit;
        let mut encoder = Encoder::new(self.disk.zstd_level);
        let bytes = encoder.encode(&registers);
        let mut encoded = Encoded::new(0, chunks.frames());
        encoded.push(frame, bytes.map_err(|reason| DiskError::Codec { reason })?);
        let global = self.start.line / LANES as u64;
        let lane = (self.start.line % LANES as u64) as usize;
        let tally = Tally {
            states: 1,
            checksum: crate::perm::checksum::state(global, lane, usize::from(bit)),
        };
        let header = self.fetch(&manifest, 0).header(chunk);
        let journal = Journal::start(
            self.disk.directories.clone(),
            manifest,
            Duration::ZERO,
            self.disk.limit,
        );
        let written = (|| {
            journal.begin(header)?;
            journal.frames(encoded)?;
            journal.end(tally)?;
            journal.level()
        })();
        let manifest = journal.close()?;
        written.expect("a writer that has failed says why");
        Ok(manifest)
    }

    /// The reader of a level, as far as the manifest knows it.
    fn fetch(&self, manifest: &Manifest, depth: u32) -> Fetch<'_> {
        let files = manifest
            .files_of(depth)
            .map(|files: &LevelFiles| files.chunks.clone());
        self.fetch_records(manifest.run, depth, files.unwrap_or_default())
    }

    fn fetch_records(
        &self,
        run: u64,
        depth: u32,
        records: Vec<crate::store::ChunkRecord>,
    ) -> Fetch<'_> {
        Fetch {
            directories: &self.disk.directories,
            chunks: self.fit.chunks,
            run,
            label: &self.label,
            depth,
            records,
            keep_all: self.disk.keep_all,
            threads: self.threads,
        }
    }

    /// Computes levels until there are no more, the last depth asked for, or the observer interrupts.
    fn levels(
        &self,
        manifest: &Manifest,
        journal: &Journal,
        found: &mut Found,
    ) -> Result<(), Halt> {
        let chunks = self.fit.chunks;
        let programs = [0, 1].map(|from| self.program(from));
        let [even, odd] = programs;
        let programs = [even?, odd?];
        let mut cur = Frontier::empty(chunks.layout, chunks.blocks)?;
        let depth = manifest.levels.len();
        let mut from = self.class_of(depth - 1);
        let mut planes = self.rebuild(manifest, from)?;
        // What is known of the files: the level before the current one, the current, the one in progress.
        let records = |depth: u32| {
            manifest
                .files_of(depth)
                .map_or(Vec::new(), |f| f.chunks.clone())
        };
        let mut levels = [
            (depth as u32).checked_sub(2).map_or(Vec::new(), records),
            records(depth as u32 - 1),
            records(depth as u32),
        ];
        for depth in depth.. {
            if self.is_last(depth) {
                break;
            }
            let begun = Instant::now();
            let [previous, current, done] = &mut levels;
            let sum = |records: &[crate::store::ChunkRecord]| {
                records.iter().fold(Tally::default(), |sum, r| {
                    sum.plus(Tally {
                        states: r.states,
                        checksum: r.checksum,
                    })
                })
            };
            let mut tally = sum(done);
            let mut order: Vec<usize> = (0..chunks.count)
                .filter(|&c| done.iter().all(|r| r.chunk as usize != c))
                .collect();
            if depth % 2 == 0 {
                // There and back again: the chunks written last are still in the system's cache.
                order.reverse();
            }
            let run = manifest.run;
            let current_files = self.fetch_records(run, depth as u32 - 1, std::mem::take(current));
            let previous_depth = (depth as u32).saturating_sub(2);
            let previous_files = self.fetch_records(run, previous_depth, std::mem::take(previous));
            let level = LevelStep {
                run: self,
                depth,
                from,
                program: &programs[from],
                journal,
                current: &current_files,
                previous: &previous_files,
                states: found.counts.iter().sum(),
            };
            let computed = level.chunks(&order, &mut cur, &mut *planes, &mut |chunk, t| {
                tally = tally.plus(t);
                // Bytes are the writer's business: readers compare them with the manifest at rest.
                done.push(crate::store::ChunkRecord {
                    chunk: chunk as u32,
                    states: t.states,
                    checksum: t.checksum,
                    bytes: 0,
                });
            });
            computed?;
            journal.level()?;
            if tally.states == 0 {
                found.complete = true;
                break;
            }
            let level = Level {
                depth,
                states: tally.states,
                checksum: tally.checksum,
                seconds: begun.elapsed().as_secs_f64(),
            };
            found.push(level, self.observer);
            from = 1 - from;
            planes.next_level(depth as u32, from)?;
            levels = [current_files.records, std::mem::take(done), Vec::new()];
        }
        Ok(())
    }

    fn program(&self, from: usize) -> Result<Program, Error> {
        let planes = &self.crossings.planes;
        let carried: Vec<Vec<(u8, u8)>> =
            planes.iter().map(|p| vec![(0, p.bits[1 - from])]).collect();
        let inner = &self.crossings.inner[from];
        let program = Program::with_carried(self.kernel, self.fit.chunks.layout, inner, &carried);
        Ok(program.map_err(SearchError::from)?)
    }

    /// The class of the states at a depth.
    fn class_of(&self, depth: usize) -> usize {
        (self.classes.place(self.start.cell).0 + depth) % 2
    }

    /// The states of the last level, at most as many as asked for.
    fn last(&self, manifest: &Manifest) -> Result<Vec<State>, Error> {
        let mut states = Vec::new();
        let limit = self.search.keep_last;
        let Some(depth) = manifest.levels.len().checked_sub(1).filter(|_| limit > 0) else {
            return Ok(states);
        };
        let fetch = self.fetch(manifest, depth as u32);
        let chunks = self.fit.chunks;
        let mut decoder = crate::store::Decoder::default();
        for chunk in 0..chunks.count {
            let Some(reader) = fetch.open(chunk)? else {
                continue;
            };
            for entry in 0..reader.index().len() {
                if states.len() >= limit {
                    return Ok(states);
                }
                let name = Manifest::file_name(depth as u32, chunk as u32);
                let storage = self.disk.directories.of_chunk(chunk);
                let frames = reader.read(entry..entry + 1);
                let frames = frames.map_err(|e| DiskError::io(storage, &name, e))?;
                let frame = frames.entries()[0].frame as usize;
                let first = frame * chunks.frame_registers();
                let count = chunks.frame_registers().min(chunks.registers() - first);
                let mut registers = vec![[0; 64]; count];
                let damaged = |reason: String| fetch.damaged(chunk, &reason);
                let bytes = frames.bytes(0).map_err(|e| damaged(e.to_string()))?;
                decoder
                    .decode(bytes, &mut registers)
                    .map_err(|reason| damaged(format!("{}: {reason}", frames.damaged(0))))?;
                let line = ((chunk * chunks.registers() + first) * LANES) as u64;
                let cells = self.classes.cells(self.class_of(depth));
                states_of(&registers, line, cells, limit, &mut states);
            }
        }
        Ok(states)
    }
}

/// Why the levels ended early.
enum Halt {
    Error(Error),
    Writer,
}

impl<E: Into<Error>> From<E> for Halt {
    fn from(error: E) -> Halt {
        Halt::Error(error.into())
    }
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Halt {
        match stop {
            Stop::Error(error) => Halt::Error(error.into()),
            Stop::Writer => Halt::Writer,
        }
    }
}

impl From<journal::Failed> for Halt {
    fn from(_: journal::Failed) -> Halt {
        Halt::Writer
    }
}

/// One level of a session.
struct LevelStep<'a> {
    run: &'a Run<'a>,
    depth: usize,
    from: usize,
    program: &'a Program,
    journal: &'a Journal,
    current: &'a Fetch<'a>,
    previous: &'a Fetch<'a>,
    /// States of the levels before.
    states: u64,
}

/// Batches of the previous level that may wait: they are used at once.
const PREVIOUS_AHEAD: usize = 32;

impl LevelStep<'_> {
    /// Computes chunks in order and reports each.
    fn chunks(
        &self,
        order: &[usize],
        cur: &mut Frontier,
        planes: &mut dyn Planes,
        report: &mut dyn FnMut(usize, Tally),
    ) -> Result<(), Halt> {
        let run = self.run;
        std::thread::scope(|scope| {
            let (currents, current) = bounded(1);
            let (previouses, previous) = bounded(1);
            scope.spawn(move || self.current.run(order, run.fit.read_ahead, &currents));
            scope.spawn(move || self.previous.run(order, PREVIOUS_AHEAD, &previouses));
            let frames = run.fit.chunks.frames() as u64;
            let total = frames * order.len() as u64;
            for (i, &chunk) in order.iter().enumerate() {
                if run.observer.interrupted() {
                    return Err(DiskError::Interrupted {
                        directory: run.disk.directories.first().name(),
                        depth: self.depth,
                        states: self.states,
                    }
                    .into());
                }
                let begun = Instant::now();
                let batches = current.recv().expect("a reader sends every chunk");
                run.times.wait.add(begun);
                chunk::load(self.current, &batches, cur, &run.codecs, &run.times)?;
                planes.begin(self.depth as u32, chunk)?;
                let batches = previous.recv().expect("a reader sends every chunk");
                self.journal.begin(
                    run.fetch_records(self.current.run, self.depth as u32, Vec::new())
                        .header(chunk),
                )?;
                let step = chunk::Step {
                    chunks: run.fit.chunks,
                    crossings: run.crossings,
                    planes: &*planes,
                    program: self.program,
                    kernel: run.kernel,
                    cur,
                    chunk,
                    from: self.from,
                    codecs: &run.codecs,
                    journal: self.journal,
                    times: &run.times,
                    observer: run.observer,
                    depth: self.depth,
                    progress: (frames * i as u64, total),
                };
                let tally = step.run(self.previous, &batches)?;
                self.journal.end(tally)?;
                planes.end(self.depth as u32, chunk)?;
                report(chunk, tally);
            }
            Ok(())
        })
    }
}
