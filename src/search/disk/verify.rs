//! A run at rest, or observed from outside: what it is, how far it has progressed, and whether its files are intact.
//!
//! Invariant: nothing here writes to the directories or waits for a lock.

use crate::{
    Error,
    kernel::{Kernel, Tally},
    perm::{Register, layout},
    progress::{NoProgress, Phase, Progress},
    puzzle::StateSpace,
    search::{
        Chunks, Group, SearchError, SearchProblem,
        disk::{
            Directories, Fetch, RunFiles, Searched, Survey, Verified, list_files::verify_lists,
        },
    },
    store::Manifest,
    system::SystemError,
};

/// The progress of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Status {
    /// The manifest of the run.
    pub manifest: Manifest,
    /// The puzzle that the run searches.
    pub searched: Searched,
    /// Whether a search is running in the directories.
    pub running: bool,
    /// Number of reachable states, `None` if it is unknown or exceeds 64 bits.
    pub all_states: Option<u64>,
    /// Depth in progress, `None` if the run is complete.
    pub depth: Option<usize>,
    /// Number of chunks of `depth` that are done.
    pub chunks_done: usize,
    /// Size of scratch files and of files not yet committed, in bytes.
    pub scratch_bytes: u64,
}

impl Status {
    /// Returns the number of states in the finished levels.
    pub fn states(&self) -> u64 {
        self.manifest.states()
    }

    /// Returns the states per second of computing time so far.
    pub fn states_per_second(&self) -> f64 {
        self.states() as f64 / self.manifest.seconds.max(1e-9)
    }
}

/// Returns the puzzle of the search in the directories, whether the search keeps all levels, and whether it uses
/// symmetries. [`crate::search::disk::Disk::run`] or [`crate::search::disk::Disk::run_lists`] continues it.
///
/// # Errors
/// [`SearchError`] if there is none or its manifest is damaged.
pub fn search(directories: &Directories) -> Result<(Searched, bool, bool), Error> {
    let manifest = Survey::of(directories)?.some_run()?;
    let searched = manifest.identity.searched(directories.first())?;
    let symmetric = manifest.lists.as_ref().is_some_and(|cut| cut.symmetric);
    Ok((searched, manifest.keep_all, symmetric))
}

/// Returns the progress of the run in the directories without disturbing it. Cost: reading the manifest.
///
/// # Errors
/// [`SearchError`] if there is none or its manifest is damaged.
pub fn status(directories: &Directories) -> Result<Status, Error> {
    let survey = Survey::of(directories)?;
    let scratch_bytes = survey.manifest()?.map_or(0, |manifest| survey.scratch(manifest.run));
    let manifest = survey.some_run()?;
    let searched = manifest.identity.searched(directories.first())?;
    let depth = manifest.depth();
    let done = manifest.files_of(depth as u32).map_or(0, |files| files.chunks.len());
    Ok(Status {
        running: directories.is_locked(),
        all_states: searched.states(),
        searched,
        depth: (!manifest.complete).then_some(depth),
        chunks_done: done,
        scratch_bytes,
        manifest,
    })
}

/// Number of attempts to see a complete run while a search is modifying it.
const TRIES: usize = 20;

/// The manifest of a run whose files are all there. If a search is running, the attempt is repeated: a commit that
/// happens in between is not damage.
fn at_rest(directories: &Directories) -> Result<Manifest, SearchError> {
    let mut tries = 0;
    loop {
        let survey = Survey::of(directories)?;
        match survey.run() {
            Ok(_) => return survey.some_run(),
            // Once more in any case: the search may have ended between two looks.
            Err(_) if tries == 0 || tries < TRIES && directories.is_locked() => {
                tries += 1;
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            Err(error) => return Err(error),
        }
    }
}

/// Rejects counts that no search of the board can have.
fn counts_add_up(manifest: &Manifest, space: &StateSpace) -> Result<(), Error> {
    let all = space.states().unwrap_or(u64::MAX);
    let found = manifest.states();
    if found > all || manifest.complete && found < all {
        let depth = manifest.levels.len().saturating_sub(1);
        return Err(SearchError::Sum { puzzle: space.to_string(), depth, found, all }.into());
    }
    Ok(())
}

/// Whether the current manifest names a file that an earlier one of the same run named.
fn names(
    directories: &Directories,
    earlier: &Manifest,
    depth: u32,
    chunk: u32,
) -> Result<bool, SearchError> {
    let now = Survey::of(directories)?.some_run()?;
    let named = now.files_of(depth);
    let named = named.is_some_and(|files| files.chunks.iter().any(|r| r.chunk == chunk));
    Ok(named || now.run != earlier.run)
}

/// Reads every frame of every file of a run, even while a search is running, recounts its states, and compares the
/// counts and checksums of frames, chunks and levels.
///
/// Cost: one pass over the files.
///
/// # Errors
/// [`SearchError`] for the first error found.
pub fn verify(directories: &Directories) -> Result<Verified, Error> {
    verify_with(directories, &NoProgress)
}

/// Checks a run like [`verify`], with an observer that sees the progress and may stop the work.
///
/// # Errors
/// Same errors as [`verify`], plus [`SystemError::Interrupted`].
pub fn verify_with(directories: &Directories, progress: &dyn Progress) -> Result<Verified, Error> {
    let manifest = at_rest(directories)?;
    let space = match manifest.identity.searched(directories.first())? {
        Searched::Numbered(space) => space,
        Searched::Listed(puzzle) => return verify_lists(directories, &manifest, &puzzle, progress),
    };
    counts_add_up(&manifest, &space)?;
    let problem = SearchProblem::chunked(&space)?;
    let chunks = Chunks::of(problem.layout, manifest.chunks, manifest.frame_lines);
    let chunks = chunks.ok_or_else(|| {
        let found = manifest.chunks.to_string();
        SearchError::other(
            directories.first(),
            "chunks",
            &found,
            "a number that is possible for \
            this puzzle",
        )
    })?;
    let run = RunFiles::new(directories, &problem, chunks, &manifest, Kernel::best());
    let all = manifest.disk_bytes();
    let mut verified = Verified::default();
    for files in &manifest.files {
        let class = problem.class(files.depth as usize);
        let fetch = run.level(files.depth, files.chunks.clone());
        let groups = &problem.groups.classes[class];
        let mut level = Tally::default();
        let mut superseded = false;
        for record in &files.chunks {
            let found = match check_chunk(&fetch, record.chunk as usize, groups, &mut |bytes| {
                verified.bytes += bytes;
                progress.progress(Phase::Check, verified.bytes, all);
                !progress.interrupted()
            }) {
                // A search that is running meanwhile has replaced it.
                Err(SearchError::Apart { .. })
                    if !names(directories, &manifest, files.depth, record.chunk)? =>
                {
                    superseded = true;
                    continue;
                }
                found => found?,
            };
            let Some(tally) = found else {
                return Err(SystemError::Interrupted.into());
            };
            if tally != record.tally() {
                let reason = "its states do not match the manifest";
                return Err(fetch.damaged(record.chunk as usize, reason).into());
            }
            verified.files += u64::from(record.has_file());
            verified.states += tally.states;
            level = level.plus(tally);
        }
        // Chunks of the level before the last two are removed as the search proceeds.
        let stated = manifest.levels.get(files.depth as usize);
        let kept = manifest.keep_all || files.depth as usize + 1 == manifest.levels.len();
        let stated = stated.filter(|stated| stated.tally() != level);
        if let Some(stated) = stated.filter(|_| kept && !superseded) {
            let reason = format!(
                "the files of depth {} do not match the manifest ({} states instead of {}, or a \
                 different checksum): the files of the search are damaged; start again in another \
                 --dir",
                files.depth, level.states, stated.states
            );
            return Err(SearchError::apart(directories.first(), reason).into());
        }
    }
    Ok(verified)
}

/// Recounts the states of a chunk; `None` if interrupted.
fn check_chunk(
    fetch: &Fetch,
    chunk: usize,
    groups: &[Group],
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<Tally>, SearchError> {
    let mut tally = Tally::default();
    let level = fetch.files.chunks.layout.registers();
    let whole = fetch.each_frame(chunk, &mut |frame, registers| {
        if any_beyond(registers, groups[frame.group].cells.len()) {
            let reason =
                format!("{}: it contains states on nonexistent cells", frame.frames.damaged(0));
            return Err(fetch.damaged(chunk, &reason));
        }
        let first = frame.group as u64 * level + frame.register as u64;
        let counted = if frame.seen { &[] } else { registers };
        for (register, bytes) in (first..).zip(counted) {
            let key = layout::mix(register);
            for (j, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
                let word = u64::from_le_bytes(*word);
                tally.states += u64::from(word.count_ones());
                tally.checksum = tally.checksum.wrapping_add(layout::word(key, j, word));
            }
        }
        Ok(progress(u64::from(frame.frames.entries[0].len)))
    })?;
    Ok(whole.then_some(tally))
}

/// Whether a byte has a bit for a cell after the last one of its group.
fn any_beyond(registers: &[Register], cells: usize) -> bool {
    let beyond = 0xffu32.checked_shl(cells as u32).unwrap_or(0) as u8;
    registers.as_flattened().iter().any(|byte| byte & beyond != 0)
}
