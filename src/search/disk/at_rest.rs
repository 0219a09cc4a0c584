//! A run at rest: what it is, how far it has progressed, whether its files are intact, and how it is repaired.
//!
//! `info` and `check` ask for the [`status`] of a run, or [`verify`] its files, also while another process continues
//! it; [`repair`] rebuilds a manifest, and [`Recomputed`] lets `run` recompute damaged levels.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    io::ErrorKind,
    sync::atomic::AtomicU64,
    time::Duration,
};

use crate::{
    Error,
    frontier::{Bitmaps, FrontierSearch, LevelTotal},
    hint::RESUME_CHECK,
    kernel::{Kernel, Tally},
    outcome::is_complete,
    progress::{Meter, NoProgress, Phase, Progress},
    puzzle::{Board, Searched, StateSpace},
    search::{
        Chunks, SearchError, SearchProblem,
        disk::{
            Directories, Disk, RunFiles, Seen, Survey, Verified, label,
            reader::{ListFiles, OTHER_STATES, RunDirectories, counts_of, total},
            survey::belonging,
        },
    },
    store::{
        ChunkRecord, LevelFiles, LevelHeader, LevelReader, LevelRecord, ListCut, MANIFEST, MARKER,
        Manifest, Marker, PREVIOUS, RunFile,
    },
    threads::in_parallel,
    units::counted,
};

// A run at rest, or observed from outside.
//
// Invariant: nothing here writes to the directories or waits for a lock.

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
        found_in(&self.manifest)
    }

    /// Returns the states per second of computing time so far.
    pub fn states_per_second(&self) -> f64 {
        self.states() as f64 / self.manifest.seconds.max(1e-9)
    }
}

/// The number of reachable states, if it is known and fits in 64 bits.
fn all_states(searched: &Searched) -> Option<u64> {
    searched.states()?.try_into().ok()
}

/// The states of the finished levels, also of those that were counted but not stored.
fn found_in(manifest: &Manifest) -> u64 {
    manifest.counted.iter().fold(manifest.states(), |sum, level| sum.saturating_add(level.states))
}

/// Returns the puzzle of the search in the directories, whether the search keeps all levels, and whether it uses
/// symmetries. [`crate::search::disk::Disk::run`] continues it.
///
/// # Errors
/// [`SearchError`] if there is none or its manifest is damaged.
pub fn search(directories: &Directories) -> Result<(Searched, bool, bool), Error> {
    let manifest = Survey::of(directories)?.some_run()?;
    let searched = manifest.identity.searched(directories.first())?;
    let symmetric = manifest.lists.as_ref().is_some_and(|cut| cut.symmetric);
    Ok((searched, manifest.keep_all, symmetric))
}

/// Returns the progress of the run in the directories without disturbing it; errors are those of [`search`]. Cost:
/// reading the manifest.
pub fn status(directories: &Directories) -> Result<Status, Error> {
    let survey = Survey::of(directories)?;
    let scratch_bytes = survey.manifest()?.map_or(0, |manifest| survey.scratch(manifest.run));
    let manifest = survey.some_run()?;
    let searched = manifest.identity.searched(directories.first())?;
    let (depth, all_states) = (manifest.depth(), all_states(&searched));
    let complete = is_complete(manifest.complete, found_in(&manifest), all_states);
    Ok(Status {
        running: directories.is_locked(),
        all_states,
        searched,
        depth: (!complete).then_some(depth),
        chunks_done: manifest.files_of(depth as u32).map_or(0, |files| files.chunks.len()),
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
                std::thread::sleep(Duration::from_millis(20));
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
    let named = now.records(depth).iter().any(|record| record.chunk == chunk);
    Ok(named || now.run != earlier.run)
}

/// Reads every frame of every file of a run, even while a search is running, recounts its states, and compares the
/// counts and checksums of frames, chunks and levels.
///
/// Cost: one pass over the files, on all cores.
///
/// # Errors
/// [`SearchError`] for the first error found.
pub fn verify(directories: &Directories) -> Result<Verified, Error> {
    verify_with(directories, &NoProgress)
}

/// Checks a run like [`verify`], with an observer that sees the progress and may stop the work, which gives
/// [`SystemError::Interrupted`](crate::SystemError::Interrupted).
pub fn verify_with(directories: &Directories, progress: &dyn Progress) -> Result<Verified, Error> {
    let manifest = at_rest(directories)?;
    let first = directories.first();
    let meter = Meter::new(progress, Phase::Check, 0, manifest.disk_bytes());
    let read = |bytes: u64| meter.add(bytes);
    let mut verified = match manifest.identity.searched(first)? {
        Searched::Numbered(space) => {
            counts_add_up(&manifest, &space)?;
            let problem = SearchProblem::chunked(&space)?;
            let chunks = Chunks::of(problem.layout, manifest.chunks, manifest.frame_lines);
            let chunks = chunks.ok_or_else(|| {
                let (found, any) =
                    (manifest.chunks.to_string(), "a number that is possible for this puzzle");
                SearchError::other(first, "chunks", &found, any)
            })?;
            let run = RunFiles::new(directories, &problem, chunks, &manifest, Kernel::best());
            verify_levels(directories, &manifest, &|files| {
                let level = run.level(files.depth, files.chunks.clone());
                let read = &read;
                Box::new(move |record| Ok(level.check(record.chunk as usize, read)?))
            })?
        }
        Searched::Listed(puzzle) => {
            let unknown = "the manifest does not say how the lists are distributed";
            let cut = manifest.lists.as_ref().ok_or_else(|| SearchError::apart(first, unknown))?;
            let (search, files) =
                (FrontierSearch::new(puzzle), ListFiles::new(directories, &manifest));
            let (files, read) = (&files, &read);
            if cut.bitmaps.is_some() {
                let space = search.product(cut.symmetric)?;
                let bitmaps = &Bitmaps::new(space, Kernel::best());
                let reached: Vec<AtomicU64> =
                    (0..=manifest.levels.len()).map(|_| AtomicU64::new(0)).collect();
                let counted = &reached;
                let verified = verify_levels(directories, &manifest, &|level| {
                    let (depth, counted) = (level.depth, &counted[level.depth as usize]);
                    Box::new(move |record| {
                        files.check_bitmaps(bitmaps, (depth, record), counted, read)
                    })
                })?;
                // A search that is running may have removed some of the files meanwhile.
                if !directories.is_locked() {
                    add_up(directories, &manifest, reached)?;
                }
                verified
            } else {
                let space = &search.space_of(Some(cut))?;
                verify_levels(directories, &manifest, &|level| {
                    let depth = level.depth;
                    Box::new(move |record| files.check(space, depth, record, read))
                })?
            }
        }
    };
    verified.bytes = meter.done();
    Ok(verified)
}

/// Compares the states that bitmaps have with those of all levels up to theirs.
fn add_up(
    directories: &Directories,
    manifest: &Manifest,
    reached: Vec<AtomicU64>,
) -> Result<(), SearchError> {
    let mut all = 0;
    for (depth, (level, found)) in manifest.levels.iter().zip(reached).enumerate() {
        all += level.states;
        let (found, is_last) = (found.into_inner(), depth + 1 == manifest.levels.len());
        if (manifest.keep_all || is_last) && found != all {
            let reason = format!(
                "the files of depth {depth} have {found} states up to this depth, and the manifest \
                 {all}: the files of the search are damaged; start again in another directory"
            );
            return Err(SearchError::apart(directories.first(), reason));
        }
    }
    Ok(())
}

/// Recounts the states in the file of a chunk.
type ChunkCheck<'a> = Box<dyn Fn(&ChunkRecord) -> Result<Tally, Error> + Sync + 'a>;

/// Recounts the chunks of each level with the check for its files, and compares the results with the manifest.
fn verify_levels<'a>(
    directories: &Directories,
    manifest: &Manifest,
    check_of: &dyn Fn(&LevelFiles) -> ChunkCheck<'a>,
) -> Result<Verified, Error> {
    let run = RunDirectories::new(directories, manifest);
    let mut verified = Verified::default();
    for files in &manifest.files {
        let (depth, chunks, check) = (files.depth, &files.chunks, check_of(files));
        let mut found: Vec<Option<Tally>> = vec![None; chunks.len()];
        in_parallel(chunks.iter().zip(&mut found), |_, (record, found)| {
            *found = match check(record) {
                // A search that is running meanwhile has replaced it.
                Err(Error::Search(SearchError::Apart { .. }))
                    if !names(directories, manifest, depth, record.chunk)? =>
                {
                    None
                }
                Ok(tally) if tally != record.tally() => {
                    return Err(run.damaged(depth, record.chunk as usize, OTHER_STATES).into());
                }
                tally => Some(tally?),
            };
            Ok::<(), Error>(())
        })?;
        let sum = found.iter().flatten().copied().fold(Tally::default(), Tally::plus);
        let read =
            chunks.iter().zip(&found).filter(|(chunk, found)| found.is_some() && chunk.has_file());
        verified.files += read.count() as u64;
        verified.states += sum.states;
        // Chunks of the level before the last two are removed as the search proceeds.
        let kept = manifest.keep_all || depth as usize + 1 == manifest.levels.len();
        let stated = manifest.levels.get(depth as usize).filter(|stated| stated.tally() != sum);
        if let Some(stated) = stated.filter(|_| kept && !found.contains(&None)) {
            let reason = format!(
                "the files of depth {depth} do not match the manifest ({} states instead of {}, or \
                 a different checksum): the files of the search are damaged; start again in \
                 another directory",
                sum.states, stated.states
            );
            return Err(SearchError::apart(directories.first(), reason).into());
        }
    }
    Ok(verified)
}

// Rebuilds the manifest of level files that have lost theirs, and recomputes damaged levels.
//
// Invariant: level files are only read. What the new manifest says about a level is proven by its files and by the
// number of preceding states in later files, or by the previous manifest; otherwise, the repair fails.

/// The result of a repair.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Repaired {
    /// The new manifest.
    pub manifest: Manifest,
    /// The puzzle that the run searches.
    pub searched: Searched,
    /// Number of intact level files.
    pub files: usize,
    /// Level files that cannot be read, each with the reason.
    pub damaged: Vec<String>,
    /// Whether the previous manifest was available as a starting point.
    pub previous: bool,
    /// New name of the damaged manifest, `None` if there was none.
    pub kept: Option<String>,
}

/// Rebuilds the manifest of a run from its level files and, if it exists, the previous manifest. Only a missing or
/// damaged manifest is replaced; a damaged one is kept under a different name.
///
/// Cost: reading the header, index and trailer of each level file. The frames are read by
/// [`crate::search::disk::verify`].
///
/// # Errors
/// [`SearchError::Apart`] if the manifest is intact, or if something needed to rebuild it is missing.
pub fn repair(directories: &Directories, patience: Duration) -> Result<Repaired, Error> {
    let first = directories.first();
    let damaged = match Survey::of(directories)?.manifest() {
        Ok(Some(manifest)) => {
            let far = if manifest.complete {
                "the search is complete".to_string()
            } else {
                format!("depth {} in progress", manifest.levels.len())
            };
            let whole = format!(
                "the manifest is intact ({far}): there is nothing to rebuild. If all levels were \
                 kept, {RESUME_CHECK} recomputes damaged level files"
            );
            return Err(SearchError::apart(first, whole).into());
        }
        Ok(None) => false,
        Err(error) if error.kind() == ErrorKind::InvalidData => true,
        Err(error) => return Err(error.into()),
    };
    let _locks = directories.lock(patience)?;
    let survey = Survey::of(directories)?;
    let previous = Manifest::read_previous(first);
    // Any marker determines which chunk is where.
    let marker = survey.seen.iter().find_map(Seen::any_marker);
    let known = previous.as_ref().map(|manifest| (manifest.shares.clone(), manifest.lists.clone()));
    let marked = || marker.map(|marker| (marker.shares.clone(), marker.lists.clone()));
    let (shares, cut) = known.or_else(marked).unwrap_or_default();
    directories.deal(&shares);
    let found = RunLevels::of(&survey, cut)?;
    let Some(header) = &found.header else {
        return Err(SearchError::empty(first).into());
    };
    let previous = previous.filter(|manifest| manifest.run == header.run);
    let had_previous = previous.is_some();
    markers_belong(&survey, header)?;
    let base = previous.map_or_else(|| bare(directories, header, marker), Ok)?;
    // Whether goal and start are valid is determined before they are written to a manifest.
    let searched = base.identity.searched(first)?;
    if let Searched::Numbered(space) = &searched {
        SearchProblem::chunked(space)?;
    }
    let manifest = found.rebuild(base, all_states(&searched).unwrap_or(u64::MAX));
    let manifest = manifest.map_err(|missing| {
        let damaged = match found.damaged.first() {
            Some(name) => format!("; {} damaged: {name}", counted(found.damaged.len() as u64, "file")),
            None => String::new(),
        };
        SearchError::apart(first, format!(
            "the manifest cannot be rebuilt from the {} level files: {missing}{damaged}. Nothing was changed",
            found.files
        ))
    })?;
    let mut kept = None;
    if damaged {
        let names = first.list()?;
        let free = |name: &String| !names.contains(name);
        let name = (1..).map(|n| format!("{MANIFEST}.damaged-{n}")).find(free);
        first.rename(MANIFEST, name.as_deref().unwrap_or_default())?;
        kept = name;
    }
    manifest.put(first, false)?;
    let RunLevels { files, damaged, .. } = found;
    Ok(Repaired { manifest, searched, files, damaged, previous: had_previous, kept })
}

/// Rejects markers that do not belong to the files' run.
fn markers_belong(survey: &Survey, header: &LevelHeader) -> Result<(), SearchError> {
    // A damaged marker contains no information, and the files contain enough.
    for (seen, marker) in survey.seen.iter().filter_map(|seen| Some((seen, seen.any_marker()?))) {
        if marker.run != header.run || !seen.is_place_of(marker) {
            let whose = format!(
                "{}: specify all directories of that search, in the order given when the search \
                 was started",
                belonging(marker)
            );
            return Err(SearchError::apart(seen.storage, whose));
        }
    }
    Ok(())
}

/// A manifest without levels, made from a header and a marker.
fn bare(
    directories: &Directories,
    header: &LevelHeader,
    marker: Option<&Marker>,
) -> Result<Manifest, Error> {
    let first = directories.first();
    let apart = |reason| Err(SearchError::apart(first, reason).into());
    let Some(marker) = marker.cloned() else {
        let goal = Board::parse(&header.label, None);
        let what = goal.map_or_else(|_| header.label.clone(), |goal| goal.size().to_string());
        return apart(format!(
            "there is neither {PREVIOUS} nor {MARKER}, so the start state of the search of {what} \
             is not known, and the manifest cannot be rebuilt"
        ));
    };
    let searched = marker.identity.searched(first)?;
    if label(&marker.identity) != header.label {
        return apart(format!(
            "the level files and the marker belong to different searches (the marker is for \
             {searched}): move the files of one search away"
        ));
    }
    if let Searched::Numbered(space) = &searched {
        let layout = SearchProblem::chunked(space)?.layout;
        if Chunks::of(layout, header.chunks, header.frame_lines).is_none() {
            return apart(format!(
                "the level files say that the search has {} chunks, which is impossible for \
                 {space}",
                header.chunks
            ));
        }
    }
    Ok(Manifest {
        run: header.run,
        identity: marker.identity,
        shared_digits: marker.shared_digits,
        lists: marker.lists,
        chunks: header.chunks,
        frame_lines: header.frame_lines,
        directories: directories.count() as u32,
        shares: marker.shares,
        keep_all: marker.keep_all,
        ..Manifest::default()
    })
}

/// The level files of a run.
#[derive(Default)]
struct RunLevels {
    /// How states are distributed, for list searches.
    cut: Option<ListCut>,
    header: Option<LevelHeader>,
    levels: BTreeMap<u32, BTreeMap<u32, ChunkRecord>>,
    /// For each depth, the number of states of all previous levels according to a file.
    before: BTreeMap<u32, u64>,
    files: usize,
    damaged: Vec<String>,
}

impl RunLevels {
    /// Reads the descriptions in all level files.
    fn of(survey: &Survey, cut: Option<ListCut>) -> Result<RunLevels, SearchError> {
        let mut found = RunLevels { cut, ..RunLevels::default() };
        for seen in &survey.seen {
            let levels: BTreeSet<(u32, u32)> = seen.levels().collect();
            for (depth, chunk) in levels {
                let file = seen.storage.open(&Manifest::file_name(depth, chunk));
                match file.and_then(LevelReader::open) {
                    Ok(reader) => found.add(seen, (depth, chunk), reader)?,
                    Err(e) if e.kind() == ErrorKind::InvalidData => {
                        found.damaged.push(e.to_string());
                    }
                    Err(e) => return Err(e.into()),
                }
            }
        }
        Ok(found)
    }

    fn add(
        &mut self,
        seen: &Seen,
        (depth, chunk): (u32, u32),
        reader: LevelReader,
    ) -> Result<(), SearchError> {
        let name = Manifest::file_name(depth, chunk);
        let header = &reader.header;
        let apart =
            |reason: &str| Err(SearchError::apart(seen.storage, format!("{name} {reason}")));
        let first = self.header.get_or_insert_with(|| header.clone());
        let key = |h: &LevelHeader| (h.run, h.chunks, h.frame_lines, h.label.clone());
        if key(first) != key(header) {
            return apart(
                "belongs to a different search from the other level files here: move the files of \
                 one search away",
            );
        }
        if (header.depth, header.chunk) != (depth, chunk) || chunk >= header.chunks {
            return apart(
                "has a header that does not match the name of the file: restore the original name",
            );
        }
        if !seen.has_chunk(chunk) {
            return apart(
                "is in the wrong directory: specify all directories, in the order given when the \
                 search was started",
            );
        }
        if reader.before > 0 && *self.before.entry(depth).or_insert(reader.before) != reader.before
        {
            return apart(
                "disagrees with another file of the same depth on the number of states at all \
                 smaller depths",
            );
        }
        self.files += 1;
        let (Tally { states, checksum }, bytes) = (reader.sum, reader.file.len());
        let lists = self.cut.as_ref().map(|cut| counts_of(reader, cut)).transpose()?;
        let record = ChunkRecord { chunk, states, checksum, bytes, lists };
        self.levels.entry(depth).or_default().insert(chunk, record);
        Ok(())
    }

    /// The totals of the files at a depth.
    fn level(&self, depth: usize) -> LevelRecord {
        let level = self.levels.get(&(depth as u32));
        let records = || level.into_iter().flat_map(BTreeMap::values);
        let LevelTotal { tally, lists } = total(records());
        let bytes = records().map(|record| record.bytes).sum();
        LevelRecord::new(tally, self.cut.as_ref().map(|_| lists), bytes, 0.0)
    }

    /// Updates an older manifest, or one without levels, to match the files, where `all` is the number of all states;
    /// or reports what is missing.
    fn rebuild(&self, base: Manifest, all: u64) -> Result<Manifest, String> {
        let mut manifest = base.clone();
        let mut sum = manifest.states();
        // A level is finished if the files of the next level count it, or if there are no states left.
        loop {
            let depth = manifest.levels.len();
            let level = self.level(depth);
            let counted = self.before.get(&(depth as u32 + 1)).copied();
            let with = sum.saturating_add(level.states);
            if level.states == 0 || counted != Some(with) && with != all {
                break;
            }
            sum = with;
            manifest.levels.push(level);
        }
        manifest.complete = sum == all;
        let depth = manifest.levels.len();
        let deepest = self.levels.keys().next_back().copied().unwrap_or(0) as usize;
        let states = |d: usize| self.level(d).states;
        let whole = |d: usize| self.level(d).tally() == manifest.levels[d].tally();
        let lowest = if manifest.keep_all { 0 } else { depth.saturating_sub(1) };
        if depth == 0 {
            return Err(
                "no level is complete, or the counts of the previous levels were only in the manifest"
                    .into(),
            );
        }
        if !manifest.keep_all && deepest > depth + 1 {
            return Err(format!(
                "the counts of depths {depth} to {} were only in the manifest",
                deepest - 2
            ));
        }
        if let Some(d) = (lowest..depth).find(|&d| !whole(d)) {
            let (files, stated) = (states(d), manifest.levels[d].states);
            return Err(format!(
                "the files of depth {d} contain only {files} of the {stated} states at this depth"
            ));
        }
        if deepest > depth {
            let files = states(depth);
            return Err(format!(
                "there are files of depth {deepest}, but the files of depth {depth} contain only \
                 {files} states"
            ));
        }
        if let Some((chunk, before)) = self.lost(&base, &manifest) {
            return Err(format!(
                "chunk {chunk} has a file for neither depth {before} nor depth {depth}"
            ));
        }
        manifest.files = self.files(&base, &manifest);
        manifest.level_seconds = 0.0;
        let bytes = manifest.disk_bytes();
        manifest.bytes_written = manifest.bytes_written.max(bytes);
        manifest.peak_bytes = manifest.peak_bytes.max(bytes);
        Ok(manifest)
    }

    /// What is missing of the level before the last finished one, whose files are removed chunk by chunk: a chunk, and
    /// its depth.
    fn lost(&self, base: &Manifest, manifest: &Manifest) -> Option<(u32, u32)> {
        let depth = manifest.levels.len() as u32;
        let before = depth.checked_sub(2).filter(|_| !manifest.keep_all && !manifest.complete)?;
        if self.level(before as usize).states == manifest.levels[before as usize].states {
            return None;
        }
        let known = [before, depth].map(|depth| base.records(depth));
        let is_there = |&chunk: &u32| {
            let files = [before, depth].map(|depth| self.levels.get(&depth));
            files.into_iter().flatten().any(|level| level.contains_key(&chunk))
                || known.iter().flatten().any(|record| record.chunk == chunk && record.states == 0)
        };
        (0..manifest.chunks).find(|chunk| !is_there(chunk)).map(|chunk| (chunk, before))
    }

    /// The files that the new manifest names.
    fn files(&self, base: &Manifest, manifest: &Manifest) -> Vec<LevelFiles> {
        let depth = manifest.levels.len() as u32;
        let mut levels = self.levels.clone();
        // Chunks that were computed and have no states have no files.
        for record in base.records(depth).into_iter().filter(|record| !record.has_file()) {
            levels.entry(depth).or_default().entry(record.chunk).or_insert(record);
        }
        if !manifest.keep_all {
            levels.retain(|&d, _| d + 2 >= depth);
            let done = levels.get(&depth).cloned().unwrap_or_default();
            if let Some(before) = depth.checked_sub(2).and_then(|d| levels.get_mut(&d)) {
                before.retain(|chunk, _| !done.contains_key(chunk));
            }
        }
        levels.retain(|_, chunks| !chunks.is_empty());
        let files = |(depth, chunks): (u32, BTreeMap<u32, ChunkRecord>)| LevelFiles {
            depth,
            chunks: chunks.into_values().collect(),
        };
        levels.into_iter().map(files).collect()
    }
}

// How a search handles damage: levels are recomputed only on request, planes whenever needed.
//
// Invariant: the same level is recomputed at most once, and the same planes are refilled at most once. Before the
// manifest drops a level, its files are renamed as uncommitted ones, so at every instant they are either named or known
// to be superseded.

/// The depths of scratch files or levels that were damaged before.
#[derive(Default)]
pub(crate) struct Recomputed(HashSet<(bool, u32)>);

impl Recomputed {
    /// Takes the run back to a state from which it can continue after an error, or returns the error.
    pub fn after(
        &mut self,
        disk: &Disk,
        error: Error,
        observer: &dyn Progress,
    ) -> Result<(), Error> {
        let Error::Search(SearchError::Damaged { depth, scratch, ref reason }) = error else {
            return Err(error);
        };
        if !(scratch || disk.check) || !self.0.insert((scratch, depth)) {
            return Err(error);
        }
        if scratch {
            // The next session fills the planes from the level files.
            observer.rebuilding(depth as usize, reason);
            return Ok(());
        }
        let Some(manifest) = disk.directories.manifest()?.filter(|m| m.keep_all) else {
            return Err(error);
        };
        observer.rebuilding(depth as usize, reason);
        Ok(forget(disk, manifest, depth)?)
    }
}

/// Takes a run that keeps all levels back to the levels before a depth.
fn forget(disk: &Disk, mut manifest: Manifest, depth: u32) -> Result<(), SearchError> {
    let lost: Vec<(u32, u32)> = manifest.named().filter(|file| file.0 >= depth).collect();
    let directories = &disk.directories;
    // Nothing is moved before everything there has proved to be a file.
    for look in [true, false] {
        for &(depth, chunk) in &lost {
            let storage = directories.of_chunk(chunk as usize);
            let [level, uncommitted] = RunFile::level_names(manifest.run, depth, chunk);
            let done = if look {
                storage.open(&level).map(drop)
            } else {
                storage.rename(&level, &uncommitted)
            };
            if let Err(error) = done
                && error.kind() != ErrorKind::NotFound
            {
                return Err(error.into());
            }
        }
    }
    for storage in directories.all() {
        storage.sync_names()?;
    }
    manifest.levels.truncate(depth as usize);
    manifest.files.retain(|files| files.depth < depth);
    manifest.complete = false;
    // The next claim removes what is no longer named.
    Ok(manifest.write(directories.first())?)
}
