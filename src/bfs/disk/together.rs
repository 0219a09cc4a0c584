//! The search of several ranks: each computes its own chunks, all meet at the end of every round.
//!
//! Invariant: no rank begins before all have found the same search, cut it the same way and dealt out the
//! chunks; from then on [`super::session`] keeps them in step.

use std::time::Instant;

use super::mail::Mail;
use super::pace::Shown;
use super::session::Session;
use super::times::Times;
use super::{Disk, DiskError, DiskUse, Run, chunk, muster, owners};
use crate::Error;
use crate::bfs::classes::Classes;
use crate::bfs::crossing::Crossings;
use crate::bfs::search::{choose_kernel, pool};
use crate::bfs::team::{Stopped, Team, together};
use crate::bfs::{Engine, Observer, Outcome, Search, SearchError, StateSpace};

/// Runs a search on disk together with the other ranks of a team, or continues the one that the
/// directories hold, and returns what it found; every rank returns the same but for the states of the last
/// depth, which rank 0 has.
///
/// The run that is left is that of [`super::run`]: either goes on where the other stopped. `disk.planes`
/// does not matter. The observer of every rank is asked whether to stop; one that says so stops all.
///
/// Cost: for each rank one chunk and its planes as in [`super::run`], and the segments of its own chunks
/// for two steps, 1 bit per line and crossing window each; each level sends at most 1 bit per line and
/// crossing window.
///
/// # Errors
/// [`Stopped::Together`] for what [`super::run`] refuses, and interruptions; [`Stopped::Alone`] for what
/// goes wrong on this rank later: the caller must then end the job.
pub fn run_together(
    search: &Search,
    disk: &Disk,
    team: &dyn Team,
    observer: &dyn Observer,
) -> Result<Outcome, Stopped> {
    let size = search.goal.size();
    let prepared = (|| {
        let space = StateSpace::new(search.goal.clone())?;
        let start = space.state(&search.start)?;
        let kernel = choose_kernel(search.kernel)?;
        Ok::<_, Error>((space, start, kernel, pool(search.threads)?))
    })();
    let (space, start, kernel, pool) = together(team, prepared)?;
    let mustered = muster::muster(search, disk, team)?;
    let fit = mustered.fit;
    let puzzle = space.frame().path().puzzle();
    let classes = Classes::new(&puzzle).ok_or(SearchError::TooLarge { size });
    let classes = together(team, classes)?;
    let crossings = Crossings::new(&puzzle, &classes, fit.chunks);
    let shown = Shown::new(observer);
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
        observer: &shown,
    };
    let mut manifest = mustered.manifest;
    if manifest.levels.is_empty() {
        let written = match team.rank() {
            0 => run.write_start(manifest.clone()),
            _ => Ok(manifest),
        };
        manifest = muster::share(team, &together(team, written)?)?;
    }
    let seen = owners::seen(&disk.directories, &manifest)
        .map_err(|e| DiskError::io(disk.directories.first(), "", e));
    let seen = team.all(together(team, seen)?);
    let owners = owners::owners(&seen).map_err(|chunk| DiskError::Apart {
        directory: disk.directories.first().name(),
        reason: format!(
            "no rank sees all files of chunk {chunk}: give every rank the directories that it had, or copy the files of all into one"
        ),
    });
    let owners = together(team, owners)?;
    observer.started(size.states().unwrap_or(u64::MAX));
    let session = Session {
        run: &run,
        team,
        pool: &pool,
        observer,
        shown: &shown,
        mail: Mail::new(team, owners.clone()),
        mine: (0..fit.chunks())
            .filter(|&c| owners[c] == team.rank())
            .collect(),
        begun: Instant::now(),
        base: manifest.clone(),
    };
    let (found, manifest) = session.run(manifest)?;
    let times = [
        &run.times.decode,
        &run.times.kernel,
        &run.times.encode,
        &run.times.wait,
    ];
    let mut sums: Vec<u64> = times.iter().map(|t| (t.seconds() * 1e6) as u64).collect();
    sums.push(run.threads as u64);
    sums.push(fit.bytes);
    team.sum(&mut sums);
    let mut network_bytes = session.mail.sent(manifest.levels.len() + 1);
    team.sum(&mut network_bytes);
    let seconds = |i: usize| sums[i] as f64 / 1e6;
    let outcome = Outcome {
        goal: search.goal.clone(),
        start: search.start.clone(),
        engine: Engine::Disk,
        kernel: Some(kernel),
        threads: sums[4] as usize,
        counts: manifest.levels.iter().map(|level| level.states).collect(),
        checksums: manifest.levels.iter().map(|level| level.checksum).collect(),
        level_seconds: manifest.levels.iter().map(|level| level.seconds).collect(),
        complete: found.complete,
        seconds: manifest.seconds,
        array_bytes: sums[5],
        last: found.last,
        disk: Some(DiskUse {
            chunks: fit.chunks(),
            planes: fit.planes,
            bytes_written: manifest.bytes_written,
            peak_bytes: manifest.peak_bytes,
            level_bytes: manifest.levels.iter().map(|level| level.bytes).collect(),
            decode_seconds: seconds(0),
            kernel_seconds: seconds(1),
            encode_seconds: seconds(2),
            wait_seconds: seconds(3),
            ranks: team.size(),
            network_bytes,
        }),
    };
    drop(mustered.locks);
    Ok(outcome)
}
