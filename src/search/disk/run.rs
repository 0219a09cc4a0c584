//! The search on disk from beginning to end, by one process or by the ranks of a job.
//!
//! Invariant: no rank writes or removes a level file before every rank has found the same search, divided it in the
//! same way and distributed the chunks, and one rank of this job has locked every directory; from then on,
//! [`crate::search::disk::level`] keeps them in step.

use crate::{
    Error,
    hint::{AGAIN, CHECK, Hint},
    progress::{NoProgress, Progress},
    puzzle::Searched,
    search::{
        Communicator, Crossings, DiskUse, Engine, LastStates, OneProcess, Outcome, Reduce, Search,
        SearchError,
        disk::{
            Clock, Committer, Directories, Disk, DiskBudget, DiskJob, DiskRun, MemoryPlan,
            Recomputed, RunFiles, Session, Survey, Times, Workers, agreed, estimate, level::shared,
            verify_with,
        },
    },
    stop::Stop,
    store::{EncodedFrames, Identity, Lock, Manifest},
};

/// A search that can be kept on disk: a [`Search`] or a [`FrontierSearch`](crate::frontier::FrontierSearch).
pub trait DiskSearch {
    /// See [`Disk::run_with`].
    fn run_alone(&self, disk: &Disk, progress: &dyn Progress) -> Result<Outcome, Error>;

    /// See [`Disk::run_distributed_with`].
    fn run_together(
        &self,
        disk: &Disk,
        communicator: &dyn Communicator,
        progress: &dyn Progress,
    ) -> Result<Outcome, Stop>;
}

impl DiskSearch for Search {
    fn run_alone(&self, disk: &Disk, progress: &dyn Progress) -> Result<Outcome, Error> {
        let job = DiskJob::new(self, disk, &OneProcess, progress)?;
        let has_room = |found: Option<&Manifest>| {
            let plan = job.plan(found).map_err(Stop::into_error)?;
            let needed = |widths| estimate(widths, plan, disk.keep_all).peak_bytes;
            match disk.expected.iter().map(needed).min() {
                Some(needed) if !disk.ignore_space => Ok(DiskBudget::of(disk)?.check(needed)?),
                _ => Ok(()),
            }
        };
        disk.alone(progress, has_room, |locked| {
            job.run(locked.then_some(0)).map_err(Stop::into_error)
        })
    }

    fn run_together(
        &self,
        disk: &Disk,
        communicator: &dyn Communicator,
        progress: &dyn Progress,
    ) -> Result<Outcome, Stop> {
        let digits = disk.shared_digits.map_or("all".into(), |n| n.to_string());
        let options = [("shared-digits", digits), ("last states", self.keep_last.to_string())];
        compare(disk, communicator, &Identity::of(&self.space), self.max_depth, options)?;
        let job = agreed(communicator, DiskJob::new(self, disk, communicator, progress))?;
        let (leader, _locks) = lock(disk, communicator)?;
        job.run(Some(leader))
    }
}

impl Disk {
    /// Runs a search on disk, or continues the one in the directories, and returns its result.
    ///
    /// Cost: for numbered states, memory as given by [`crate::search::disk::MemoryPlan`]; disk space for two levels, or
    /// for all; each level is read twice and written once. A list search costs what it costs in memory with coded
    /// lists, and disk space for the lists of two levels, or of all; the lists of a level being read are in memory if
    /// they all fit into half of it, otherwise they are read from their files as they are needed.
    ///
    /// # Errors
    /// [`SearchError`] if a directory is in use, contains a different search or a damaged file, if the disk is full, or
    /// if the search does not fit in memory. In every case, the same call continues from the last commit.
    pub fn run(&self, search: &impl DiskSearch) -> Result<Outcome, Error> {
        self.run_with(search, &NoProgress)
    }

    /// Runs a search like [`Disk::run`], with an observer that sees the progress and may stop the work, which gives
    /// [`SearchError::Paused`].
    pub fn run_with(
        &self,
        search: &impl DiskSearch,
        progress: &dyn Progress,
    ) -> Result<Outcome, Error> {
        search.run_alone(self, progress)
    }

    /// Runs a search on disk together with the other ranks of a job, or continues the one in the directories, and
    /// returns its result; every rank returns the same outcome, except that only rank 0 of a search of numbered states
    /// returns the states at the last depth. The ranks of a list search must use the same directories, on a shared file
    /// system.
    ///
    /// The run on disk is the same as with [`Disk::run`]: either method continues where the other stopped, with any
    /// number of ranks. With several ranks, [`Disk::planes`](#structfield.planes) has no effect. If the observer of any
    /// rank asks to stop, all ranks stop.
    ///
    /// Cost: for each rank, one chunk and its planes as in [`Disk::run`], and the segments of its own chunks for two
    /// steps, each 1 bit per line per crossing window; for each level, at most 1 bit per line per crossing window is
    /// sent. In a list search, each rank takes as much memory as [`Disk::run`], and reads the lists of all ranks.
    ///
    /// # Errors
    /// [`Stop::Together`] for a search that [`Disk::run`] rejects, for ranks that were started for different
    /// searches, and if the search is interrupted; [`Stop::Alone`] for a later error on this rank alone, which list
    /// searches do not have: the caller must then end the job.
    pub fn run_distributed_with(
        &self,
        search: &impl DiskSearch,
        communicator: &dyn Communicator,
        progress: &dyn Progress,
    ) -> Result<Outcome, Stop> {
        search.run_together(self, communicator, progress)
    }

    /// Examines the directories, checks the files there if requested, and runs the search with which `session`
    /// continues, which is told whether the directories are locked; repeats this if a damaged level can be recomputed.
    pub(crate) fn alone<T>(
        &self,
        progress: &dyn Progress,
        has_room: impl FnOnce(Option<&Manifest>) -> Result<(), Error>,
        session: impl Fn(bool) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // First an examination: a search that is rejected leaves no trace, and a complete one to which nothing need be
        // done needs no lock.
        let survey = Survey::of(&self.directories)?;
        let (found, _) = survey.run()?;
        let mut recomputed = Recomputed::default();
        let complete = found.filter(|manifest| manifest.complete);
        if complete.is_none() {
            has_room(survey.manifest()?)?;
        }
        let locked = match &complete {
            Some(manifest) => self.check || !survey.changes(manifest)?.is_empty(),
            None => true,
        };
        let _locks = if locked { self.directories.lock(self.patience)? } else { Vec::new() };
        while self.check && Survey::of(&self.directories)?.run()?.0.is_some() {
            match verify_with(&self.directories, progress) {
                Ok(_) => break,
                Err(error) => recomputed.after(self, error, progress)?,
            }
        }
        loop {
            match session(locked) {
                Ok(outcome) => return Ok(outcome),
                Err(error) => recomputed.after(self, error, progress)?,
            }
        }
    }
}

/// Stops all ranks, with the same message on each, if one of them was started for a different search, or to check the
/// files.
pub(crate) fn compare<const N: usize>(
    disk: &Disk,
    communicator: &dyn Communicator,
    identity: &Identity,
    max_depth: Option<usize>,
    others: [(&'static str, String); N],
) -> Result<(), Stop> {
    let version = [("version", env!("CARGO_PKG_VERSION").to_string())];
    let options = [
        ("max-depth", max_depth.map_or("all".into(), |n| n.to_string())),
        ("levels kept", kept(disk.keep_all).into()),
        ("directories", disk.directories.count().to_string()),
    ];
    let facts = version.into_iter().chain(identity.facts()).chain(options).chain(others);
    let text: String = facts.map(|(name, value)| format!("{name}\t{value}\n")).collect();
    let all = communicator.all_gather(text.into_bytes());
    let all: Vec<_> = all.iter().map(|text| String::from_utf8_lossy(text)).collect();
    for (rank, text) in all.iter().enumerate() {
        // The version comes first: with a different version, nothing else need be understood.
        if let Some((found, asked)) = text.lines().zip(all[0].lines()).find(|(a, b)| a != b) {
            let (name, found) = found.split_once('\t').unwrap_or((found, ""));
            let (_, asked) = asked.split_once('\t').unwrap_or((asked, ""));
            let differs = format!(
                "rank {rank} was started with different settings from rank 0 ({name}: {found}, not \
                 {asked})"
            );
            return Err(Stop::Together(SearchError::Ranks(differs).into()));
        }
    }
    let check = Hint::Setting("check");
    let why =
        format!("{check} does not work with several ranks: leave it out, and run {CHECK} first");
    let first = disk.directories.first();
    agreed(communicator, if disk.check { Err(SearchError::apart(first, why)) } else { Ok(()) })
}

pub(crate) fn kept(all: bool) -> &'static str {
    if all { "all" } else { "last" }
}

/// Returns the run that a survey has found, if it is the one that is `asked` for, or else a new one, whose number may
/// exist already.
pub(crate) fn open(
    Disk { directories, .. }: &Disk,
    (found, begun): (Option<Manifest>, Option<u64>),
    asked: Manifest,
) -> Result<Manifest, SearchError> {
    let count = directories.count() as u32;
    let Some(found) = found else {
        let run = begun.map_or_else(|| run_number(directories), Ok)?;
        return Ok(Manifest {
            run,
            directories: count,
            shares: directories.shares_by_room(),
            ..asked
        });
    };
    // A puzzle is identified by its moves: its file may have a different name now.
    let renamed = found.identity.is_renamed(&asked.identity);
    let facts = found.identity.facts().into_iter().zip(asked.identity.facts());
    let same = facts
        .map(|((name, found), (_, asked))| (name, found, asked))
        .filter(|(name, ..)| !renamed || !["board", "hash of the moves"].contains(name));
    let number = |name, found: u32, asked: u32| (name, found.to_string(), asked.to_string());
    let options = [
        number("directories", found.directories, count),
        ("levels kept", kept(found.keep_all).into(), kept(asked.keep_all).into()),
        number("chunks", found.chunks, asked.chunks),
        number("lines per frame", found.frame_lines, asked.frame_lines),
    ];
    match same.chain(options).find(|(_, found, asked)| found != asked) {
        None => Ok(found),
        Some((name, found, asked)) => {
            Err(SearchError::other(directories.first(), name, &found, &asked))
        }
    }
}

/// Claims the directories for a run if they are locked; a run that nobody has locked was complete when it was first
/// examined, and must still be.
pub(crate) fn claim(survey: &Survey, manifest: &Manifest, locked: bool) -> Result<(), SearchError> {
    let why = format!("another process has just changed this search: {AGAIN}");
    match locked {
        true => survey.claim(manifest),
        false if manifest.complete => Ok(()),
        false => Err(SearchError::apart(survey.directories.first(), why)),
    }
}

fn run_number(directories: &Directories) -> Result<u64, SearchError> {
    crate::random::seed().map_err(|e| directories.first().error("manifest", e).into())
}

/// Locks each directory by the lowest rank that works in it, and returns this rank for the current directories.
///
/// Ranks find out which of them share a directory by creating an empty file there for a moment.
pub(crate) fn lock(
    disk: &Disk,
    communicator: &dyn Communicator,
) -> Result<(usize, Vec<Lock>), Stop> {
    let directories = &disk.directories;
    let token = agreed(communicator, run_number(directories))?;
    let token = communicator.broadcast(token.to_le_bytes().to_vec());
    let job: String = token.iter().map(|byte| format!("{byte:02x}")).collect();
    let prefix = format!("cross-job-{job}.");
    let first = directories.first();
    let name = format!("{prefix}{:06}", communicator.rank());
    agreed(communicator, first.create(&name))?;
    let names = agreed(communicator, first.list())?;
    let ranks = names.iter().filter_map(|name| name.strip_prefix(&prefix));
    let lowest = ranks.filter_map(|rank| rank.parse().ok()).min();
    let leader = lowest.unwrap_or(communicator.rank());
    let leads = leader == communicator.rank();
    let locks = if leads { directories.lock(disk.patience) } else { Ok(Vec::new()) };
    // The directory is no longer being listed by any rank.
    let mut removed = first.remove(&name);
    let locks = agreed(communicator, locks)?;
    if leads {
        // Those of jobs that were killed. A job that begins at this moment may lose its own; it then finds the
        // directory in use, as it is.
        let others = names.iter().filter(|name| is_job(name) && !name.starts_with(&prefix));
        let empty = |name: &&String| first.open(name).is_ok_and(|file| file.is_empty());
        removed = others
            .filter(empty)
            .fold(removed, |removed, name| removed.and_then(|()| first.remove(name)));
    }
    agreed(communicator, removed)?;
    Ok((leader, locks))
}

/// Whether a file has the name of those by which the ranks of a job find each other.
fn is_job(name: &str) -> bool {
    let parts = name.strip_prefix("cross-job-").and_then(|rest| rest.split_once('.'));
    let digits = |text: &str, len: usize, radix: u32| {
        text.len() == len && text.chars().all(|c| c.is_digit(radix))
    };
    parts.is_some_and(|(job, rank)| digits(job, 16, 16) && digits(rank, 6, 10))
}

impl DiskJob<'_> {
    /// Returns the manifest of rank 0's directory on all ranks, if there is one.
    fn find(&self, survey: &Survey, leader: usize) -> Result<Option<Manifest>, Stop> {
        let communicator = self.communicator;
        let leads = leader == communicator.rank();
        let own = if leads { survey.manifest() } else { Ok(None) };
        let own = agreed(communicator, own)?;
        let there = communicator.broadcast(vec![u8::from(own.is_some())]) == [1];
        let apart = |reason: &str| Err(SearchError::apart(survey.directories.first(), reason));
        // A directory on another machine: its contents must belong to rank 0's search.
        let fits = match own {
            _ if leader == 0 || !leads => Ok(()),
            Some(_) => apart(
                "this directory contains the manifest of a search, but rank 0 uses a different \
                 directory: start the ranks so that rank 0 uses this directory, or move the \
                 manifest to rank 0's directory",
            ),
            None if !there && survey.seen.iter().any(|s| s.levels().next().is_some()) => apart(
                "this directory contains level files, but rank 0's directory has no manifest: \
                 start the ranks so that rank 0 uses the directory with the manifest, or choose \
                 another directory",
            ),
            None => Ok(()),
        };
        agreed(communicator, fits)?;
        there.then(|| shared(communicator, own)).transpose()
    }

    /// Returns how the search is divided: as rank 0 decides, if every rank has enough memory.
    fn plan(&self, manifest: Option<&Manifest>) -> Result<MemoryPlan, Stop> {
        let DiskJob { search, disk, ref problem, communicator, .. } = *self;
        let asked = manifest.map(|m| m.shared_digits as usize).or(disk.shared_digits);
        let ranks = communicator.size();
        if ranks == 1 {
            return MemoryPlan::of(problem, search, disk, asked).map_err(Stop::Together);
        }
        let choose = |asked| MemoryPlan::of_ranks(problem, search, disk, ranks, asked);
        let chosen = agreed(communicator, choose(asked))?;
        let digits = communicator.broadcast(vec![chosen.chunks.digits as u8]);
        agreed(communicator, choose(digits.first().map(|&digits| usize::from(digits))))
    }

    /// Continues the run in the directories, or starts one. `leader` is the rank that has locked the directories of
    /// this rank, `None` if nobody has because the run is complete.
    fn run(&self, leader: Option<usize>) -> Result<Outcome, Stop> {
        let DiskJob { search, disk, ref problem, kernel, communicator, .. } = *self;
        let (rank, ranks) = (communicator.rank(), communicator.size());
        let survey = agreed(communicator, Survey::of(&disk.directories))?;
        let (found, begun) = if ranks == 1 {
            agreed(communicator, survey.run())?
        } else {
            let found = self.find(&survey, leader.expect("several ranks lock"))?;
            let begun = survey.part(found.as_ref());
            (found, agreed(communicator, begun)?)
        };
        let plan = self.plan(found.as_ref())?;
        let asked = Manifest {
            identity: Identity::of(&search.space),
            shared_digits: plan.chunks.digits as u32,
            chunks: plan.chunks() as u32,
            frame_lines: plan.chunks.frame_lines(),
            keep_all: disk.keep_all,
            ..Manifest::default()
        };
        let is_new = found.is_none();
        let mut manifest = agreed(communicator, open(disk, (found, begun), asked))?;
        if is_new {
            manifest = shared(communicator, Some(&manifest))?;
        }
        disk.directories.deal(&manifest.shares);
        let claimed = match leader {
            Some(leader) if leader != rank => Ok(()),
            leader => claim(&survey, &manifest, leader.is_some()),
        };
        agreed(communicator, claimed)?;

        let threads = self.pool.current_num_threads();
        let workers = Workers::new(plan.codec, disk.zstd_level, kernel, threads);
        let run = DiskRun {
            files: RunFiles {
                threads,
                ..RunFiles::new(&disk.directories, problem, plan.chunks, &manifest, kernel)
            },
            plan,
            crossings: Crossings::new(&problem.groups, plan.chunks, kernel),
            workers: agreed(communicator, workers)?,
            progress: self.progress,
            alone: ranks == 1,
        };
        if manifest.levels.is_empty() {
            let written = if rank == 0 { self.write_start(&run, manifest) } else { Ok(manifest) };
            manifest = shared(communicator, Some(&agreed(communicator, written)?))?;
        }
        let owners = self.owners(&manifest)?;
        self.progress.started(problem.space.numbered_states());
        let session = Session { job: self, run: &run, owners };
        let (manifest, last, sent) = session.run(manifest)?;

        let Times { decode, kernel: computing, encode, wait } = &run.files.times;
        let times = [decode, computing, encode, wait].map(Clock::micros);
        let mut sums = [&times[..], &[threads as u64, plan.bytes]].concat();
        if ranks > 1 {
            let depths = 0..=manifest.levels.len() as u32;
            sums.extend(depths.map(|depth| sent.get(&depth).copied().unwrap_or(0)));
        }
        communicator.all_reduce(Reduce::Sum, &mut sums);
        let seconds = |i: usize| sums[i] as f64 / 1e6;
        let used = DiskUse {
            planes: Some(plan.planes),
            decode_seconds: seconds(0),
            kernel_seconds: seconds(1),
            encode_seconds: seconds(2),
            wait_seconds: seconds(3),
            network_bytes: sums[6..].to_vec(),
            ..DiskUse::of(&manifest, ranks)
        };
        let searched = Searched::Numbered(search.space.clone());
        let states = Some(problem.space.numbered_states().into());
        let with = (Engine::Disk, Some(kernel));
        Ok(Outcome {
            threads: sums[4] as usize,
            seconds: manifest.seconds,
            array_bytes: sums[5],
            last: LastStates::Numbered(last),
            disk: Some(used),
            ..Outcome::of((searched, states), with, &manifest.levels, manifest.complete)
        })
    }

    /// Writes level 0 of a new run.
    fn write_start(&self, run: &DiskRun, mut manifest: Manifest) -> Result<Manifest, Error> {
        // A session that was interrupted in the middle of this may have left its file.
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
            let bytes = worker.encoder.encode(&registers).map_err(SearchError::uncoded)?;
            let frame = seat.group * chunks.frames() + frame;
            for seen in [false, true].into_iter().take(parts.halves()) {
                encoded.push(parts.in_file(frame, seen), bytes);
            }
            Ok::<_, SearchError>(())
        })?;
        let (header, tally) = (run.files.header(0, chunk, run.plan.codec), problem.first());
        let committer = Committer::start(self.disk, manifest, 1)?;
        // A writer that fails reports the reason when it is closed.
        let _ = committer.tell(move |writer| {
            writer.begin(header)?;
            writer.frames(encoded)?;
            writer.end(tally, None)?;
            let bytes = writer.manifest.records(0).iter().map(|record| record.bytes).sum();
            writer.level(tally, None, bytes, true).map(drop)
        });
        Ok(committer.close()?)
    }

    /// Returns the rank of each chunk, in agreement with all ranks.
    fn owners(&self, manifest: &Manifest) -> Result<Vec<usize>, Stop> {
        let directories = &self.disk.directories;
        let survey = agreed(self.communicator, Survey::of(directories))?;
        directories.deal(&manifest.shares);
        let owners = owners(&self.communicator.all_gather(survey.chunks(manifest)));
        let owners = owners.map_err(|chunk| SearchError::apart(directories.first(), format!(
            "no rank sees all files of chunk {chunk}: give every rank the directories that it had \
             before, or copy the files from all directories into one"
        )));
        agreed(self.communicator, owners)
    }
}

// The assignment of chunks to ranks.
//
// Invariant: the rank of a chunk sees all files of that chunk, and writes its next one in the same place. If all ranks
// share one directory, this is no restriction; with separate directories, it keeps every chunk on its machine, whatever
// the number of ranks.

/// Returns the rank of each chunk, with the same number for every rank if it sees them, or else the first chunk that no
/// rank sees.
fn owners(seen: &[Vec<u8>]) -> Result<Vec<usize>, usize> {
    let chunks = seen[0].len();
    let seeing = |chunk: usize| (0..seen.len()).filter(move |&r| seen[r].get(chunk) == Some(&1));
    // Ranks with the fewest choices choose first.
    let mut order: Vec<usize> = (0..chunks).collect();
    order.sort_by_key(|&chunk| seeing(chunk).count());
    let mut load = vec![0; seen.len()];
    let mut owners = vec![0; chunks];
    for chunk in order {
        let owner = seeing(chunk).min_by_key(|&rank| load[rank]).ok_or(chunk)?;
        owners[chunk] = owner;
        load[owner] += 1;
    }
    Ok(owners)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_dealt_out() {
        assert_eq!(owners(&vec![vec![1; 7]; 3]).unwrap(), [0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(owners(&vec![vec![1; 2]; 4]).unwrap(), [0, 1]);
    }

    #[test]
    fn chunks_stay_where_their_files_are() {
        // Ranks 0 and 1 are on one machine, 2 is on another; chunk 4 is empty, so any rank can have it.
        let seen = [vec![1, 1, 0, 1, 1], vec![1, 1, 0, 1, 1], vec![0, 0, 1, 0, 1]];
        let owners = owners(&seen).unwrap();
        assert_eq!(owners[2], 2);
        assert!(owners.iter().enumerate().all(|(chunk, &rank)| seen[rank][chunk] == 1));
        assert_eq!(owners[4], 1, "the first of those with the fewest");
        assert_eq!(super::owners(&[vec![1, 0], vec![1, 0]]), Err(1));
    }
}
