//! The search on disk from beginning to end, by one process or by the ranks of a job.
//!
//! Invariant: no rank begins before all have found the same search, cut it the same way and dealt out the
//! chunks; from then on [`crate::search::disk::level`] keeps them in step.

use rayon::ThreadPool;

use crate::Error;
use crate::kernel::Kernel;
use crate::progress::Progress;
use crate::search::communicator::{Communicator, OneProcess, Reduce};
use crate::search::disk::chunk::Codecs;
use crate::search::disk::context::Context;
use crate::search::disk::directories::{Disk, label};
use crate::search::disk::error::DiskError;
use crate::search::disk::half_step::RankProgress;
use crate::search::disk::level::Session;
use crate::search::disk::reader::Times;
use crate::search::disk::repair::Recomputed;
use crate::search::disk::setup::{self, check, new_manifest, run_number};
use crate::search::disk::transports::Outbox;
use crate::search::disk::verify::verify;
use crate::search::disk::writer::{Stopped, agreed};
use crate::search::error::Engine;
use crate::search::options::Search;
use crate::search::outcome::{DiskUse, Outcome};
use crate::search::problem::SearchProblem;

/// Runs a search on disk, or continues the one that the directories hold, and returns what it found.
///
/// Cost: memory as [`crate::search::disk::MemoryPlan`] says; disk for two levels, or all; each level is read twice and written once.
///
/// # Errors
/// [`DiskError`] when a directory is in use, holds another search or a damaged file, or the disk is full;
/// [`crate::search::SearchError`] when the search does not fit the memory or the observer interrupts. In every case the
/// same call continues at the last commit.
pub fn run(search: &Search, disk: &Disk, progress: &dyn Progress) -> Result<Outcome, Error> {
    let made = Prepared::new(search)?;
    // First a look: a search that is refused leaves no trace, one that is complete needs no lock.
    let found = disk.directories.recognise()?.manifest;
    let mut recomputed = Recomputed::default();
    let complete = found.is_some_and(|manifest| manifest.complete);
    let _locks = match complete && !disk.check {
        true => Vec::new(),
        false => disk.directories.lock(disk.patience)?,
    };
    while disk.check && disk.directories.recognise()?.manifest.is_some() {
        match verify(&disk.directories, progress) {
            Ok(_) => break,
            Err(error) => recomputed.after(disk, error, progress)?,
        }
    }
    loop {
        match session(search, disk, &made, &OneProcess, 0, progress) {
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
    let unchecked = match disk.check {
        false => Ok(()),
        true => Err(DiskError::Apart {
            directory: disk.directories.first().name(),
            reason: "several ranks check nothing before they go on: leave out --check, and check with tilewave verify --dir"
                .into(),
        }),
    };
    agreed(communicator, unchecked)?;
    let made = agreed(communicator, Prepared::new(search))?;
    let (leader, _locks) = setup::lock(communicator, &disk.directories, disk.patience)?;
    session(search, disk, &made, communicator, leader, progress)
}

/// What a search needs before it looks at its directories.
struct Prepared {
    problem: SearchProblem,
    kernel: Kernel,
    pool: ThreadPool,
}

impl Prepared {
    fn new(search: &Search) -> Result<Prepared, Error> {
        Ok(Prepared {
            problem: SearchProblem::chunked(&search.subject)?,
            kernel: search.choose_kernel()?,
            pool: search.pool()?,
        })
    }
}

/// Continues the run in the directories, or starts one. `leader` is the rank that has locked those of this
/// rank.
fn session(
    search: &Search,
    disk: &Disk,
    made: &Prepared,
    communicator: &dyn Communicator,
    leader: usize,
    progress: &dyn Progress,
) -> Result<Outcome, Stopped> {
    let Prepared { problem, kernel, pool } = made;
    let (rank, ranks) = (communicator.rank(), communicator.size());
    let (found, begun) = if ranks == 1 {
        let here = disk.directories.recognise();
        let here = here.map_err(|e| Stopped::Together(e.into()))?;
        (here.manifest, here.begun)
    } else {
        let found = setup::find(communicator, &disk.directories, leader)?;
        let begun = disk.directories.recognise_part(found.as_ref());
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
    let claimed = match leader == rank {
        true => disk.directories.claim(&manifest),
        false => Ok(()),
    };
    agreed(communicator, claimed)?;

    let crossings = problem.crossings(plan.chunks);
    let threads = pool.current_num_threads();
    let codec = disk.codec(*kernel);
    let codecs = Codecs::new(codec, disk.zstd_level, *kernel, threads);
    let codecs = agreed(communicator, codecs)?;
    let context = Context {
        search,
        disk,
        problem,
        crossings: &crossings,
        plan,
        kernel: *kernel,
        label: label(&manifest.identity),
        threads,
        times: Times::default(),
        codec,
        codecs,
        progress: RankProgress::new(progress, ranks == 1),
    };
    if manifest.levels.is_empty() {
        let written = match rank {
            0 => context.write_start(manifest),
            _ => Ok(manifest),
        };
        manifest = setup::share(communicator, Some(&agreed(communicator, written)?))?;
    }
    let owners = setup::agree(communicator, &disk.directories, &manifest)?;
    progress.started(problem.space.states());
    let session = Session {
        context: &context,
        communicator,
        pool,
        progress,
        mine: (0..plan.chunks()).filter(|&c| owners[c] == rank).collect(),
        outbox: (ranks > 1).then(|| Outbox::new(communicator, owners)),
    };
    let (manifest, last) = session.run(manifest)?;

    let times = &context.times;
    let times = [&times.decode, &times.kernel, &times.encode, &times.wait];
    let mut sums: Vec<u64> = times.iter().map(|t| (t.seconds() * 1e6) as u64).collect();
    sums.push(context.threads as u64);
    sums.push(plan.bytes);
    let depths = manifest.levels.len() + 1;
    let sent = session.outbox.map_or(Vec::new(), |outbox| outbox.sent(depths));
    let first_sent = sums.len();
    sums.extend(sent);
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
        network_bytes: sums[first_sent..].to_vec(),
    };
    Ok(Outcome {
        subject: search.subject.clone(),
        states: problem.space.states(),
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
