//! The search on disk from beginning to end, by one process or by the ranks of a job.
//!
//! Invariant: no rank begins before all have found the same search, cut it the same way and dealt out the
//! chunks; from then on [`crate::search::disk::level`] keeps them in step.

use std::time::Duration;

use rayon::ThreadPool;

use crate::Error;
use crate::kernel::Kernel;
use crate::progress::Progress;
use crate::search::disk::{
    Committer, Disk, DiskError, DiskRun, EncodedFrames, FrameContent, RankProgress, Reached,
    Recomputed, RunFiles, Session, Stopped, Survey, Times, Workers, agreed, check, new_manifest,
    run_number, setup, verify,
};
use crate::search::{
    Communicator, Crossings, DiskUse, Engine, OneProcess, Outcome, Reduce, Search, SearchError,
    SearchProblem,
};
use crate::store::Manifest;
use crate::threads::pool;

/// Runs a search on disk, or continues the one that the directories hold, and returns what it found.
///
/// Cost: memory as [`crate::search::disk::MemoryPlan`] says; disk for two levels, or all; each level is read twice and written once.
///
/// # Errors
/// [`DiskError`] when a directory is in use, holds another search or a damaged file, or the disk is full;
/// [`crate::search::SearchError`] when the search does not fit the memory or the observer interrupts. In every case the
/// same call continues at the last commit.
pub fn run(search: &Search, disk: &Disk, progress: &dyn Progress) -> Result<Outcome, Error> {
    let made = Prepared::new(search, disk)?;
    // First a look: a search that is refused leaves no trace, one that is complete needs no lock.
    let found = Survey::of(&disk.directories)?.run()?.manifest;
    let mut recomputed = Recomputed::default();
    let complete = found.is_some_and(|manifest| manifest.complete);
    let _locks =
        if complete && !disk.check { Vec::new() } else { disk.directories.lock(disk.patience)? };
    while disk.check && Survey::of(&disk.directories)?.run()?.manifest.is_some() {
        match verify(&disk.directories, progress) {
            Ok(_) => break,
            Err(error) => recomputed.after(disk, error, progress)?,
        }
    }
    loop {
        match session(&made, &OneProcess, 0, progress) {
            Ok(outcome) => return Ok(outcome),
            Err(stopped) => recomputed.after(disk, stopped.into_error(), progress)?,
        }
    }
}

/// Runs a search on disk together with the other ranks of a job, or continues the one that the directories
/// hold, and returns what it found; every rank returns the same but for the states of the last depth, which
/// rank 0 has.
///
/// The run that is left is that of [`run`]: either goes on where the other stopped. With several ranks
/// `disk.planes` does not matter. The progress of every rank is asked whether to stop; one that says so stops
/// all.
///
/// Cost: for each rank one chunk and its planes as in [`run`], and the segments of its own chunks for two
/// steps, 1 bit per line and crossing window each; each level sends at most 1 bit per line and crossing
/// window.
///
/// # Errors
/// [`Stopped::Together`] for what [`run`] refuses, ranks that were started for different searches, and
/// interruptions; [`Stopped::Alone`] for what goes wrong on this rank later: the caller must then end the
/// job.
pub fn run_distributed(
    search: &Search,
    disk: &Disk,
    communicator: &dyn Communicator,
    progress: &dyn Progress,
) -> Result<Outcome, Stopped> {
    setup::compare(search, disk, communicator)?;
    let why = "several ranks check nothing before they go on: leave out --check, and check with tilewave verify --dir";
    let first = disk.directories.first();
    let unchecked = if disk.check { Err(DiskError::apart(first, why)) } else { Ok(()) };
    agreed(communicator, unchecked)?;
    let made = agreed(communicator, Prepared::new(search, disk))?;
    let (leader, _locks) = setup::lock(communicator, &disk.directories, disk.patience)?;
    session(&made, communicator, leader, progress)
}

/// What a search needs before it looks at its directories.
struct Prepared<'a> {
    search: &'a Search,
    disk: &'a Disk,
    problem: SearchProblem,
    kernel: Kernel,
    pool: ThreadPool,
}

impl<'a> Prepared<'a> {
    fn new(search: &'a Search, disk: &'a Disk) -> Result<Prepared<'a>, Error> {
        Ok(Prepared {
            search,
            disk,
            problem: SearchProblem::chunked(&search.space)?,
            kernel: search.choose_kernel()?,
            pool: pool(search.threads).map_err(SearchError::from)?,
        })
    }
}

/// Continues the run in the directories, or starts one. `leader` is the rank that has locked those of this
/// rank.
fn session(
    made: &Prepared<'_>,
    communicator: &dyn Communicator,
    leader: usize,
    progress: &dyn Progress,
) -> Result<Outcome, Stopped> {
    let Prepared { search, disk, problem, kernel, pool } = made;
    let (rank, ranks) = (communicator.rank(), communicator.size());
    let survey = agreed(communicator, Survey::of(&disk.directories))?;
    let (found, begun) = if ranks == 1 {
        let here = survey.run().map_err(|e| Stopped::Together(e.into()))?;
        (here.manifest, here.begun)
    } else {
        let found = setup::find(communicator, &survey, leader)?;
        let begun = survey.part(found.as_ref());
        (found, agreed(communicator, begun)?)
    };
    let plan = setup::agree_on_plan(problem, search, disk, communicator, found.as_ref())?;
    let mut manifest = match found {
        Some(manifest) => {
            agreed(communicator, check(search, disk, plan, &manifest))?;
            manifest
        }
        None => {
            let run = begun.map_or_else(|| run_number(&disk.directories), Ok);
            let run = agreed(communicator, run)?;
            setup::share(communicator, Some(&new_manifest(search, disk, plan, run)))?
        }
    };
    disk.directories.deal(&manifest.shares);
    let claimed = if leader == rank { survey.claim(&manifest) } else { Ok(()) };
    agreed(communicator, claimed)?;

    let threads = pool.current_num_threads();
    let workers = Workers::new(plan.codec, disk.zstd_level, *kernel, threads);
    let run = DiskRun {
        search,
        disk,
        files: RunFiles {
            threads,
            ..RunFiles::new(&disk.directories, problem, plan.chunks, &manifest, *kernel)
        },
        plan,
        crossings: Crossings::new(&problem.groups, plan.chunks),
        workers: agreed(communicator, workers)?,
        progress: RankProgress::new(progress, ranks == 1),
    };
    if manifest.levels.is_empty() {
        let written = if rank == 0 { write_start(&run, manifest) } else { Ok(manifest) };
        manifest = setup::share(communicator, Some(&agreed(communicator, written)?))?;
    }
    let owners = setup::agree(communicator, &disk.directories, &manifest)?;
    progress.started(problem.space.numbered_states());
    let session = Session { run: &run, communicator, pool, progress, owners };
    let Reached { manifest, last, sent } = session.run(manifest)?;

    let Times { decode, kernel: computing, encode, wait } = &run.files.times;
    let times = [decode, computing, encode, wait].map(|time| (time.seconds() * 1e6) as u64);
    let mut sums = [&times[..], &[threads as u64, plan.bytes]].concat();
    if ranks > 1 {
        let depths = 0..=manifest.levels.len() as u32;
        sums.extend(depths.map(|depth| sent.get(&depth).copied().unwrap_or(0)));
    }
    communicator.all_reduce(Reduce::Sum, &mut sums);
    let seconds = |i: usize| sums[i] as f64 / 1e6;
    let levels = &manifest.levels;
    let used = DiskUse {
        chunks: plan.chunks(),
        planes: plan.planes,
        bytes_written: manifest.bytes_written,
        peak_bytes: manifest.peak_bytes,
        level_bytes: levels.iter().map(|level| level.bytes).collect(),
        decode_seconds: seconds(0),
        kernel_seconds: seconds(1),
        encode_seconds: seconds(2),
        wait_seconds: seconds(3),
        ranks,
        network_bytes: sums[6..].to_vec(),
    };
    Ok(Outcome {
        space: search.space.clone(),
        states: problem.space.numbered_states(),
        engine: Engine::Disk,
        kernel: Some(*kernel),
        threads: sums[4] as usize,
        counts: levels.iter().map(|level| level.states).collect(),
        checksums: levels.iter().map(|level| level.checksum).collect(),
        level_seconds: levels.iter().map(|level| level.seconds).collect(),
        complete: manifest.complete,
        seconds: manifest.seconds,
        array_bytes: sums[5],
        last,
        disk: Some(used),
    })
}

/// Writes level 0 of a new run.
fn write_start(run: &DiskRun, mut manifest: Manifest) -> Result<Manifest, Error> {
    // A session that was cut in the middle of this may have left its file.
    manifest.files.clear();
    let (chunks, problem) = (run.plan.chunks, run.files.problem);
    let seat = problem.seat(problem.start);
    let (place, lane) = problem.place(problem.start);
    let register = place as usize % chunks.layout.registers() as usize;
    let (chunk, within) = (register / chunks.registers(), register % chunks.registers());
    let frame = within / chunks.frame_registers();
    let first = frame * chunks.frame_registers();
    let count = chunks.frame_registers().min(chunks.registers() - first);
    let mut registers = vec![[0; 64]; count];
    registers[within - first][lane] |= 1 << seat.bit;
    let parts = run.files.parts(0);
    let mut encoded = EncodedFrames::new(0, parts.frames() * parts.halves());
    run.workers.with(|worker| {
        let bytes = worker.encoder.encode(&registers);
        let bytes = bytes.map_err(|reason| DiskError::Codec { reason })?;
        let frame = seat.group * chunks.frames() + frame;
        for kind in [FrameContent::Level, FrameContent::Seen].into_iter().take(parts.halves()) {
            encoded.push(parts.in_file(frame, kind), bytes);
        }
        Ok::<_, DiskError>(())
    })?;
    let (header, tally) = (run.files.header(0, chunk, run.plan.codec), problem.first());
    let (directories, limit) = (run.disk.directories.clone(), run.disk.limit);
    let committer = Committer::start(directories, manifest, Duration::ZERO, limit)?;
    // A writer that fails says why when it is closed.
    let _ = committer.tell(move |writer| {
        writer.begin(header)?;
        writer.frames(encoded)?;
        writer.end(tally)?;
        let bytes = writer.manifest.records(0).iter().map(|record| record.bytes).sum();
        writer.level([tally.states, tally.checksum, bytes])?;
        writer.commit_if_due()
    });
    Ok(committer.close()?)
}
