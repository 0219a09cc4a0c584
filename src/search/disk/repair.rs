//! A manifest for level files that have lost theirs.
//!
//! Invariant: level files are only read. What the new manifest says of a level is proven by its files and by
//! the states that later files count before themselves, or by the previous manifest; anything less is refused.

use std::collections::{BTreeMap, HashSet};
use std::io::ErrorKind;
use std::time::Duration;

use crate::Error;
use crate::kernel::Tally;
use crate::progress::Progress;
use crate::puzzle::{Board, StateSpace};
use crate::search::SearchProblem;
use crate::search::disk::{Directories, Disk, DiskError, Seen, Survey, chunks_of, label};
use crate::store::{
    ChunkRecord, LevelFiles, LevelHeader, LevelReader, LevelRecord, MANIFEST, Manifest, Marker,
    PREVIOUS, RunFile,
};

/// What a repair has found and made.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// The new manifest.
    pub manifest: Manifest,
    /// What is searched.
    pub space: StateSpace,
    /// Whole level files.
    pub files: usize,
    /// Level files that cannot be read, with what is wrong.
    pub damaged: Vec<String>,
    /// Whether the previous manifest was there to begin with.
    pub previous: bool,
    /// Name that the damaged manifest has now.
    pub kept: Option<String>,
}

/// The level files of a run.
#[derive(Default)]
struct RunLevels {
    header: Option<LevelHeader>,
    levels: BTreeMap<u32, BTreeMap<u32, ChunkRecord>>,
    /// For each depth what a file says of all levels before.
    before: BTreeMap<u32, u64>,
    files: usize,
    damaged: Vec<String>,
}

/// Rebuilds the manifest of a run from its level files and, where it is there, the previous manifest. Only a
/// manifest that is missing or damaged is replaced; a damaged one is kept under another name.
///
/// Cost: header, index and trailer of each level file. The frames are read by [`crate::search::disk::verify`].
///
/// # Errors
/// [`DiskError::Apart`] when the manifest is whole, or says what is missing to rebuild it.
pub fn repair(directories: &Directories, patience: Duration) -> Result<Repaired, Error> {
    let first = directories.first();
    let apart = |reason: String| Err(DiskError::apart(first, reason).into());
    let damaged = match Survey::of(directories)?.manifest() {
        Ok(Some(manifest)) => {
            let far = if manifest.complete {
                "the search is complete".to_string()
            } else {
                format!("depth {} in progress", manifest.levels.len())
            };
            return apart(format!(
                "its manifest is whole ({far}): there is nothing to rebuild. Damaged level files are computed again by tilewave resume --check where all levels are kept"
            ));
        }
        Ok(None) => false,
        Err(error) if error.kind() == ErrorKind::InvalidData => true,
        Err(error) => return Err(error.into()),
    };
    let _locks = directories.lock(patience)?;
    let survey = Survey::of(directories)?;
    // Which chunk lies where: any of these says so.
    let marked = || Some(survey.seen.iter().find_map(Seen::any_marker)?.shares.clone());
    let previous = Manifest::read_previous(first);
    let shares = previous.as_ref().map(|manifest| manifest.shares.clone());
    directories.deal(&shares.or_else(marked).unwrap_or_default());
    let found = RunLevels::of(&survey)?;
    let Some(header) = &found.header else {
        return Err(DiskError::Empty { directory: first.name() }.into());
    };
    let previous = previous.filter(|manifest| manifest.run == header.run);
    let had_previous = previous.is_some();
    let marker = marker(&survey, header)?;
    let base = match previous {
        Some(manifest) => manifest,
        None => bare(directories, header, marker)?,
    };
    // Whether goal and start make sense is found out before a manifest says so.
    let space = base.identity.space(&first.name())?;
    SearchProblem::chunked(&space)?;
    let manifest = rebuild(directories, &found, base, &space)?;
    let mut kept = None;
    if damaged {
        let names = first.list()?;
        let free = |name: &String| !names.contains(name);
        let name = (1..).map(|n| format!("{MANIFEST}.damaged-{n}")).find(free);
        let name = name.unwrap_or_default();
        first.rename(MANIFEST, &name)?;
        kept = Some(name);
    }
    manifest.write_first(first)?;
    Ok(Repaired {
        manifest,
        space,
        files: found.files,
        damaged: found.damaged,
        previous: had_previous,
        kept,
    })
}

impl RunLevels {
    /// Reads what all level files say of themselves.
    fn of(survey: &Survey) -> Result<RunLevels, DiskError> {
        let mut found = RunLevels::default();
        for seen in &survey.seen {
            let mut names: Vec<String> = seen.files.iter().map(|file| file.name()).collect();
            names.sort();
            for name in names {
                let Some(RunFile::Level { depth, chunk }) = RunFile::parse(&name) else {
                    continue;
                };
                match seen.storage.open(&name).and_then(LevelReader::open) {
                    Ok(reader) => found.add(seen, (depth, chunk), &reader)?,
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
        reader: &LevelReader,
    ) -> Result<(), DiskError> {
        let name = Manifest::file_name(depth, chunk);
        let header = reader.header();
        let apart = |reason: &str| Err(DiskError::apart(seen.storage, format!("{name} {reason}")));
        let first = self.header.get_or_insert_with(|| header.clone());
        let key = |h: &LevelHeader| (h.run, h.chunks, h.frame_lines, h.label.clone());
        if key(first) != key(header) {
            return apart("is of another run than other level files here: move those of one away");
        }
        if (header.depth, header.chunk) != (depth, chunk) || chunk >= header.chunks {
            return apart("is not what its name says: give it its own name");
        }
        if !seen.has_chunk(chunk) {
            return apart(
                "lies in the wrong directory: give all directories, in the order in which the search was started",
            );
        }
        let (sum, before) = (reader.sum(), reader.before());
        if before > 0 && *self.before.entry(depth).or_insert(before) != before {
            return apart("counts other states before it than another file of its depth");
        }
        self.files += 1;
        self.levels.entry(depth).or_default().insert(
            chunk,
            ChunkRecord { chunk, states: sum.states, checksum: sum.checksum, bytes: reader.len() },
        );
        Ok(())
    }

    /// What the files of a depth hold together.
    fn level(&self, depth: usize) -> LevelRecord {
        let records = self.levels.get(&(depth as u32));
        let mut level = LevelRecord { states: 0, checksum: 0, seconds: 0.0, bytes: 0 };
        for record in records.into_iter().flat_map(BTreeMap::values) {
            let sum = Tally { states: level.states, checksum: level.checksum }
                .plus(Tally { states: record.states, checksum: record.checksum });
            (level.states, level.checksum) = (sum.states, sum.checksum);
            level.bytes += record.bytes;
        }
        level
    }

    fn has(&self, depth: u32, chunk: u32) -> bool {
        self.levels.get(&depth).is_some_and(|level| level.contains_key(&chunk))
    }
}

/// The marker of the first directory that has one; all must be of the files' run.
fn marker(survey: &Survey, header: &LevelHeader) -> Result<Option<Marker>, DiskError> {
    let mut first = None;
    for seen in &survey.seen {
        // A damaged marker says nothing, and the files say enough.
        let Some(marker) = seen.any_marker() else {
            continue;
        };
        if marker.run != header.run || !seen.is_place_of(marker) {
            return Err(DiskError::apart(
                seen.storage,
                format!(
                    "it is directory {} of {} of a search of {}: give all directories of one search, in the order in which it was started",
                    marker.place, marker.directories, marker.identity.board
                ),
            ));
        }
        first.get_or_insert(marker.clone());
    }
    Ok(first)
}

/// A manifest without levels, from a header and a marker.
fn bare(
    directories: &Directories,
    header: &LevelHeader,
    marker: Option<Marker>,
) -> Result<Manifest, Error> {
    let first = directories.first();
    let Some(marker) = marker else {
        let goal = Board::parse(&header.label, None);
        let what = goal.map_or_else(|_| header.label.clone(), |goal| goal.size().to_string());
        return Err(DiskError::apart(first, format!(
            "neither {PREVIOUS} nor a marker is there: where the search of {what} started cannot be known"
        ))
        .into());
    };
    let space = marker.identity.space(&first.name())?;
    if label(&marker.identity) != header.label {
        let reason = format!("its level files are of another search than its marker's, of {space}");
        return Err(DiskError::apart(first, reason).into());
    }
    let layout = SearchProblem::chunked(&space)?.layout;
    let chunks = chunks_of(layout, header.chunks, header.frame_lines).ok_or_else(|| {
        DiskError::apart(first, format!("{} chunks do not fit {space}", header.chunks))
    })?;
    Ok(Manifest {
        run: header.run,
        identity: marker.identity,
        shared_digits: chunks.digits as u32,
        chunks: header.chunks,
        frame_lines: header.frame_lines,
        directories: directories.count() as u32,
        shares: marker.shares,
        keep_all: marker.keep_all,
        ..Manifest::default()
    })
}

/// Brings an older manifest, or one without levels, up to what the files hold.
fn rebuild(
    directories: &Directories,
    found: &RunLevels,
    base: Manifest,
    space: &StateSpace,
) -> Result<Manifest, Error> {
    let first = directories.first();
    let all = space.states().unwrap_or(u64::MAX);
    let mut manifest = base.clone();
    let mut sum: u64 = manifest.levels.iter().map(|level| level.states).sum();
    // A level is finished when the next one's files count it, or when there are no states left.
    loop {
        let depth = manifest.levels.len();
        let level = found.level(depth);
        let counted = found.before.get(&(depth as u32 + 1)).copied();
        let with = sum.saturating_add(level.states);
        if level.states == 0 || counted != Some(with) && with != all {
            break;
        }
        sum = with;
        manifest.levels.push(level);
    }
    manifest.complete = sum == all;
    let depth = manifest.levels.len();
    let deepest = found.levels.keys().next_back().copied().unwrap_or(0) as usize;
    let whole = |d: usize| {
        let (files, stated) = (found.level(d), &manifest.levels[d]);
        (files.states, files.checksum) == (stated.states, stated.checksum)
    };
    let lowest = if manifest.keep_all { 0 } else { depth.saturating_sub(1) };
    let broken = (lowest..depth).find(|&d| !whole(d));
    let missing = if depth == 0 {
        Some(
            "no level is whole, or the counts of the levels before were only in the manifest"
                .into(),
        )
    } else if !manifest.keep_all && deepest > depth + 1 {
        Some(format!("the counts of depths {depth} to {} were only in the manifest", deepest - 2))
    } else if let Some(d) = broken {
        let (files, stated) = (found.level(d).states, manifest.levels[d].states);
        Some(format!("the files of depth {d} hold {files} of its {stated} states"))
    } else if deepest > depth {
        let files = found.level(depth).states;
        Some(format!(
            "there are files of depth {deepest}, but those of depth {depth} hold only {files} states"
        ))
    } else {
        lost(found, &base, &manifest)
    };
    if let Some(missing) = missing {
        let damaged = match found.damaged.first() {
            Some(name) => format!("; {} files are damaged: {name}", found.damaged.len()),
            None => String::new(),
        };
        return Err(DiskError::apart(first, format!(
            "the manifest cannot be rebuilt from the {} level files: {missing}{damaged}. Nothing was changed",
            found.files
        ))
        .into());
    }
    manifest.files = files(found, &base, &manifest);
    manifest.level_seconds = 0.0;
    let bytes = manifest.disk_bytes();
    manifest.bytes_written = manifest.bytes_written.max(bytes);
    manifest.peak_bytes = manifest.peak_bytes.max(bytes);
    Ok(manifest)
}

/// What is missing of the level before the last finished one, whose files go chunk by chunk.
fn lost(found: &RunLevels, base: &Manifest, manifest: &Manifest) -> Option<String> {
    let depth = manifest.levels.len() as u32;
    let before = depth.checked_sub(2).filter(|_| !manifest.keep_all && !manifest.complete)?;
    if found.level(before as usize).states == manifest.levels[before as usize].states {
        return None;
    }
    let states = |depth: u32, chunk: u32| {
        let chunks = &base.files_of(depth)?.chunks;
        chunks.iter().find(|r| r.chunk == chunk).map(|r| r.states)
    };
    let gone = (0..manifest.chunks).find(|&chunk| {
        let there = found.has(before, chunk) || found.has(depth, chunk);
        !there && states(before, chunk) != Some(0) && states(depth, chunk) != Some(0)
    });
    gone.map(|chunk| format!("of chunk {chunk} neither depth {before} nor depth {depth} is there"))
}

/// The files that the new manifest names.
fn files(found: &RunLevels, base: &Manifest, manifest: &Manifest) -> Vec<LevelFiles> {
    let depth = manifest.levels.len() as u32;
    let mut levels = found.levels.clone();
    // Chunks that were computed and have no states have no file.
    for record in base.files_of(depth).into_iter().flat_map(|files| &files.chunks) {
        if !record.has_file() {
            levels.entry(depth).or_default().entry(record.chunk).or_insert(record.clone());
        }
    }
    if !manifest.keep_all {
        levels.retain(|&d, _| d + 2 >= depth);
        let done: Vec<u32> =
            levels.get(&depth).into_iter().flat_map(|l| l.keys().copied()).collect();
        if let Some(before) = depth.checked_sub(2).and_then(|d| levels.get_mut(&d)) {
            before.retain(|chunk, _| !done.contains(chunk));
        }
    }
    let files = levels
        .into_iter()
        .map(|(depth, chunks)| LevelFiles { depth, chunks: chunks.into_values().collect() });
    files.filter(|files| !files.chunks.is_empty()).collect()
}

// What a search does about damage: levels are computed again only on request, planes whenever needed.
//
// Invariant: the same level is computed again at most once, and the same planes filled again at most once.
// Before the manifest forgets a level, its files get the names of uncommitted ones, so at every instant they
// are either named or known to be superseded.

/// The depths that were damaged before.
#[derive(Default)]
pub(crate) struct Recomputed {
    levels: HashSet<u32>,
    planes: HashSet<u32>,
}

impl Recomputed {
    /// Puts the run back to where it can go on after an error, or passes the error on.
    pub fn after(
        &mut self,
        disk: &Disk,
        error: Error,
        observer: &dyn Progress,
    ) -> Result<(), Error> {
        let reason = error.to_string();
        match error {
            // The next session fills the planes from the level files.
            Error::Disk(DiskError::Scratch { depth, .. }) if self.planes.insert(depth) => {
                observer.rebuilding(depth as usize, &reason);
                Ok(())
            }
            Error::Disk(DiskError::Level { depth, .. })
                if disk.check && self.levels.insert(depth) =>
            {
                let Some(manifest) = disk.directories.manifest()?.filter(|m| m.keep_all) else {
                    return Err(error);
                };
                observer.rebuilding(depth as usize, &reason);
                Ok(forget(disk, manifest, depth)?)
            }
            error => Err(error),
        }
    }
}

/// Takes a run that keeps all levels back to the levels before a depth.
fn forget(disk: &Disk, mut manifest: Manifest, depth: u32) -> Result<(), DiskError> {
    let run = manifest.run;
    let kept = |files: &LevelFiles| files.depth < depth;
    let (kept, lost): (Vec<_>, Vec<_>) = manifest.files.drain(..).partition(kept);
    let lost: Vec<(u32, u32)> = lost
        .iter()
        .flat_map(|files| {
            let there = files.chunks.iter().filter(|record| record.has_file());
            there.map(|record| (files.depth, record.chunk))
        })
        .collect();
    let directories = &disk.directories;
    // Nothing is moved before all that is there has turned out to be files.
    for look in [true, false] {
        for &(depth, chunk) in &lost {
            let storage = directories.of_chunk(chunk as usize);
            let level = RunFile::Level { depth, chunk }.name();
            let uncommitted = RunFile::Uncommitted { run, depth, chunk }.name();
            let done = if look {
                storage.open(&level).map(drop)
            } else {
                storage.rename(&level, &uncommitted)
            };
            match done {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(e.into());
                }
                _ => {}
            }
        }
    }
    for storage in directories.all() {
        storage.sync_names()?;
    }
    manifest.levels.truncate(depth as usize);
    manifest.files = kept;
    manifest.complete = false;
    let first = directories.first();
    // The next claim removes what is no longer named.
    Ok(manifest.write(first)?)
}
