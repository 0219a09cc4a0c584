//! One examination of the contents of a run's directories, which determines what run it is and by which the directories
//! are claimed.
//!
//! Invariant: only [`Survey::claim`] changes anything. It removes only files whose name contains the run's number, and
//! level files whose header contains it and whose level is finished without them; it is called with the locks held and
//! after everything that the manifest names has been seen. It does not touch a complete run without leftover files.

use std::{collections::HashSet, io::ErrorKind};

use crate::{
    hint::REPAIR,
    search::{SearchError, disk::Directories},
    store::{
        LevelReader, MANIFEST, MARKER, Manifest, Marker, PREVIOUS, RunFile, Storage, StorageError,
    },
};

/// The result of a successful check of all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// Number of files read.
    pub files: u64,
    /// Size of these files, in bytes.
    pub bytes: u64,
    /// Number of states in these files.
    pub states: u64,
}

/// The contents of the directories.
pub(crate) struct Survey<'a> {
    pub directories: &'a Directories,
    pub seen: Vec<Seen<'a>>,
    manifest: Result<Option<Manifest>, StorageError>,
}

/// What a claim does to a directory.
pub(crate) enum Change {
    /// From, to.
    Rename(String, String),
    Remove(String),
    Mark(Box<Marker>),
}

/// One of the directories.
pub(crate) struct Seen<'a> {
    pub storage: &'a dyn Storage,
    directories: &'a Directories,
    /// Its position, from 1.
    place: usize,
    marker: Result<Option<Marker>, StorageError>,
    names: Vec<String>,
    pub files: Vec<RunFile>,
}

impl Seen<'_> {
    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|n| n == name)
    }

    fn apart(&self, reason: String) -> SearchError {
        SearchError::apart(self.storage, reason)
    }

    fn position(&self) -> String {
        format!("directory {} of {}", self.place, self.directories.count())
    }

    /// The marker, unless it is damaged.
    fn marker(&self) -> Result<Option<&Marker>, SearchError> {
        match &self.marker {
            Ok(marker) => Ok(marker.as_ref()),
            Err(e) if e.kind() == ErrorKind::InvalidData => Err(self.apart(format!(
                "the marker {MARKER} is damaged ({}): remove that file, which the search does not \
                 need if all level files are present",
                e.reason
            ))),
            Err(e) => Err(e.again().into()),
        }
    }

    /// The marker, if there is one that can be read.
    pub fn any_marker(&self) -> Option<&Marker> {
        self.marker.as_ref().ok()?.as_ref()
    }

    /// Whether a marker belongs to this directory, according to its position and the number of directories.
    pub fn is_place_of(&self, marker: &Marker) -> bool {
        let own = (self.place, self.directories.count());
        (marker.place as usize, marker.directories as usize) == own
    }

    /// Rejects a directory whose position differs from that in its marker.
    fn placed(&self, marker: &Marker) -> Result<(), SearchError> {
        if self.is_place_of(marker) {
            return Ok(());
        }
        Err(self.apart(format!(
            "{}, but is given as {}: specify all directories in the order given when the search \
             was started",
            belonging(marker),
            self.position()
        )))
    }

    /// Rejects a directory that belongs to a different run, or to a different position in this one.
    fn belongs(&self, manifest: &Manifest) -> Result<(), SearchError> {
        let Some(marker) = self.marker()? else {
            return Ok(());
        };
        if marker.run != manifest.run {
            return Err(self.apart(format!(
                "this directory belongs to another search (of {} with goal {}): specify only the \
                 directories of one search",
                marker.identity.board, marker.identity.goal
            )));
        }
        self.placed(marker)
    }

    /// The level files that have been committed.
    pub fn levels(&self) -> impl Iterator<Item = (u32, u32)> {
        self.files.iter().filter_map(|file| match *file {
            RunFile::Level { depth, chunk } => Some((depth, chunk)),
            _ => None,
        })
    }

    /// Whether a chunk's files are in this directory.
    pub fn has_chunk(&self, chunk: u32) -> bool {
        self.directories.place(chunk as usize) == self.place - 1
    }

    /// The files that a manifest names in this directory.
    fn named(&self, manifest: &Manifest) -> impl Iterator<Item = (u32, u32)> {
        manifest.named().filter(|&(_, chunk)| self.has_chunk(chunk))
    }

    /// Those of these files that are missing.
    fn gone(&self, manifest: &Manifest) -> Vec<(u32, u32)> {
        let there: HashSet<&str> = self.names.iter().map(|n| &**n).collect();
        let missing = |&(depth, chunk): &(u32, u32)| {
            let names = RunFile::level_names(manifest.run, depth, chunk);
            names.iter().all(|name| !there.contains(&**name))
        };
        self.named(manifest).filter(missing).collect()
    }

    /// The run in the header of a level file, if the header is complete.
    fn owner(&self, (depth, chunk): (u32, u32)) -> Result<Option<u64>, SearchError> {
        let opened = self.storage.open(&RunFile::Level { depth, chunk }.name());
        match opened.and_then(|file| LevelReader::header_of(&*file)) {
            Ok(header) if (header.depth, header.chunk) == (depth, chunk) => Ok(Some(header.run)),
            Ok(_) => Ok(None),
            Err(e) if e.kind() == ErrorKind::InvalidData => Ok(None),
            Err(e) => Err(e.into()),
        }
    }
}

impl<'a> Survey<'a> {
    /// Examines the directories, and distributes chunks as the manifest specifies, if it can be read.
    pub fn of(directories: &'a Directories) -> Result<Survey<'a>, SearchError> {
        let seen = |(i, storage): (usize, &'a dyn Storage)| {
            let names = storage.list()?;
            let marker = Marker::read(storage);
            let files = names.iter().filter_map(|name| RunFile::parse(name)).collect();
            Ok(Seen { storage, directories, place: i + 1, marker, names, files })
        };
        let seen = directories.all().enumerate().map(seen).collect::<Result<_, SearchError>>()?;
        let manifest = Manifest::read(directories.first());
        if let Ok(manifest) = &manifest {
            directories.deal(manifest.as_ref().map_or(&[], |manifest| &manifest.shares));
        }
        Ok(Survey { directories, seen, manifest })
    }

    /// The manifest of the first directory.
    pub fn manifest(&self) -> Result<Option<&Manifest>, StorageError> {
        self.manifest.as_ref().map(Option::as_ref).map_err(StorageError::again)
    }

    /// The manifest of the run, which must exist.
    pub fn some_run(self) -> Result<Manifest, SearchError> {
        let missing = self.without_manifest();
        self.manifest?.ok_or(missing)
    }

    /// Why there is no manifest in the first directory.
    fn without_manifest(&self) -> SearchError {
        let first = &self.seen[0];
        let name = first.storage.name();
        SearchError::Refused(match first.any_marker() {
            Some(marker) if !first.is_place_of(marker) => format!(
                "{name} is directory {} of {} of a search: specify all directories of the search, \
                 in their order",
                marker.place, marker.directories
            ),
            None if first.files.is_empty() => return SearchError::empty(first.storage),
            _ => {
                let all: Vec<String> = self.directories.all().map(|one| one.name()).collect();
                format!(
                    "the manifest of the search in {name} is missing: rebuild it with {REPAIR} {}",
                    all.join(" ")
                )
            }
        })
    }

    /// The size in bytes of the files whose names contain a run's number.
    pub fn scratch(&self, run: u64) -> u64 {
        let of_run = |file: &&RunFile| file.run() == Some(run);
        let files = self.seen.iter().flat_map(|seen| {
            // A file that has disappeared by now takes no space.
            let files = seen.files.iter().filter(of_run);
            files.filter_map(|file| Some(seen.storage.open(&file.name()).ok()?.len()))
        });
        files.sum()
    }

    /// Returns the run in the directories if everything that its manifest names is there, or else the number of a run
    /// that ended before its first commit; rejects directories that are incomplete, in a different order, or contain
    /// something else, and says what it is.
    pub fn run(&self) -> Result<(Option<Manifest>, Option<u64>), SearchError> {
        for seen in &self.seen {
            seen.marker()?;
        }
        let manifest = self.manifest()?;
        if let Some(other) = self.seen[1..].iter().find(|other| other.has(MANIFEST)) {
            return Err(other.apart(format!(
                "this directory contains the manifest of a search, but {} is given as the first \
                 directory: specify the directories in the order given when the search was started",
                self.directories.first().name()
            )));
        }
        let begun = match manifest {
            Some(manifest) => self.whole(manifest).map(|()| None),
            None => self.startable(),
        };
        Ok((manifest.cloned(), begun?))
    }

    /// The same for one of several ranks: some of the files are enough; `manifest` is that of rank 0.
    pub fn part(&self, manifest: Option<&Manifest>) -> Result<Option<u64>, SearchError> {
        let Some(manifest) = manifest else {
            return self.startable();
        };
        self.directories.deal(&manifest.shares);
        self.seen.iter().try_for_each(|seen| seen.belongs(manifest))?;
        self.not_newer(manifest).map(|()| None)
    }

    /// Returns, for each chunk, 1 if all of its files in a manifest are here, else 0.
    pub fn chunks(&self, manifest: &Manifest) -> Vec<u8> {
        let mut here = vec![1; manifest.chunks as usize];
        for (_, chunk) in self.seen.iter().flat_map(|seen| seen.gone(manifest)) {
            here[chunk as usize] = 0;
        }
        here
    }

    /// Claims the directories for a run, with the locks held: removes leftover files of earlier sessions, gives
    /// committed files their final names, and writes the markers.
    pub fn claim(&self, manifest: &Manifest) -> Result<(), SearchError> {
        for (storage, change) in self.changes(manifest)? {
            match change {
                Change::Rename(from, to) => storage.rename(&from, &to)?,
                Change::Remove(name) => storage.remove(&name)?,
                Change::Mark(marker) => marker.write(storage)?,
            }
        }
        Ok(())
    }

    /// Returns what [`Survey::claim`] has to do.
    pub fn changes(
        &self,
        manifest: &Manifest,
    ) -> Result<Vec<(&'a dyn Storage, Change)>, SearchError> {
        let mut changes = Vec::new();
        for here in &self.seen {
            here.belongs(manifest)?;
            let named: HashSet<_> = here.named(manifest).collect();
            let mut change = |change| changes.push((here.storage, change));
            for &file in &here.files {
                let name = file.name();
                match file {
                    RunFile::Uncommitted { run, depth, chunk } if run == manifest.run => {
                        let level = Manifest::file_name(depth, chunk);
                        if named.contains(&(depth, chunk)) && !here.has(&level) {
                            change(Change::Rename(name, level));
                        } else {
                            change(Change::Remove(name));
                        }
                    }
                    RunFile::Level { depth, chunk } => {
                        // In a finished level, a file that is no longer named is obsolete; so are the files of the
                        // empty level after the last one.
                        let finished = (depth as usize) < manifest.levels.len();
                        let superseded = !named.contains(&(depth, chunk))
                            && (finished && !manifest.keep_all || is_behind(manifest, depth));
                        if superseded && here.owner((depth, chunk))? == Some(manifest.run) {
                            change(Change::Remove(name));
                        }
                    }
                    _ if file.run() == Some(manifest.run) => change(Change::Remove(name)),
                    _ => {}
                }
            }
            let marker = Marker::new(manifest, here.place as u32);
            if here.marker()? != Some(&marker) {
                change(Change::Mark(Box::new(marker)));
            }
        }
        Ok(changes)
    }

    /// Rejects a run from which something is missing.
    fn whole(&self, manifest: &Manifest) -> Result<(), SearchError> {
        let (all, first) = (&self.seen, self.directories.first());
        if manifest.directories as usize != all.len() {
            let (found, asked) = (manifest.directories.to_string(), all.len().to_string());
            return Err(SearchError::other(first, "directories", &found, &asked));
        }
        all.iter().try_for_each(|seen| seen.belongs(manifest))?;
        let marked = all.iter().any(|seen| seen.any_marker().is_some());
        for seen in all {
            let (named, gone) = (seen.named(manifest).count(), seen.gone(manifest));
            if let Some(&(depth, chunk)) = gone.first() {
                self.not_newer(manifest)?;
                return Err(seen.apart(format!(
                    "{} is missing (missing in total: {} of the {named} files that the manifest \
                     lists for {}): is the disk of this directory mounted? Nothing was changed",
                    Manifest::file_name(depth, chunk),
                    gone.len(),
                    seen.position()
                )));
            }
            if marked && seen.any_marker().is_none() && named == 0 {
                return Err(seen.apart(format!(
                    "this should be {} of the search, but none of the files of the search are \
                     here: is the disk of this directory mounted?",
                    seen.position()
                )));
            }
        }
        let previous = Manifest::read_previous(first);
        if all[0].has(PREVIOUS) && previous.is_none_or(|previous| previous.run != manifest.run) {
            return Err(all[0].apart(format!(
                "{PREVIOUS} does not belong to this search, and the next commit would replace it: \
                 move it away"
            )));
        }
        self.not_newer(manifest)
    }

    /// Rejects a manifest that is older than the files.
    fn not_newer(&self, manifest: &Manifest) -> Result<(), SearchError> {
        let older = |what: String| {
            SearchError::apart(
                self.directories.first(),
                format!(
                    "the manifest is older than the files: it ends before depth {}, but {what}. If \
                     an older manifest was restored, move it away and run {REPAIR}, which \
                     rebuilds the newest manifest if possible. Nothing was changed",
                    manifest.levels.len()
                ),
            )
        };
        let previous = Manifest::read_previous(self.directories.first());
        let newer =
            |p: &Manifest| p.run == manifest.run && p.bytes_written > manifest.bytes_written;
        if let Some(previous) = previous.filter(newer) {
            let depth = previous.levels.len();
            return Err(older(format!(
                "{PREVIOUS}, which ends before depth {depth}, records more bytes written"
            )));
        }
        for seen in &self.seen {
            let named: HashSet<_> = seen.named(manifest).collect();
            let late = |file: &(u32, u32)| file.0 as usize >= manifest.levels.len();
            for file in seen.levels().filter(|file| late(file) && !named.contains(file)) {
                let name = Manifest::file_name(file.0, file.1);
                let in_the_way = match seen.owner(file)? {
                    Some(run) if run != manifest.run => "belongs to another search",
                    None => "is not a complete level file",
                    // Versions without markers gave files their final names before they were committed: for those, the
                    // same chunk of the same run replaces them.
                    Some(_) if seen.any_marker().is_none() || is_behind(manifest, file.0) => {
                        continue;
                    }
                    Some(_) => {
                        let place = seen.storage.place(&name);
                        return Err(older(format!("{place} has depth {}", file.0)));
                    }
                };
                return Err(seen.apart(format!(
                    "{name} {in_the_way}, but this search will write a file with this name: move \
                     the existing file away"
                )));
            }
        }
        Ok(())
    }

    /// Rejects directories in which a new search would meet anything of another one. Returns the number of a run that
    /// was begun here and has not committed anything.
    fn startable(&self) -> Result<Option<u64>, SearchError> {
        let all = &self.seen;
        let repair =
            format!("{REPAIR} rebuilds the manifest; a new search needs another directory");
        for seen in all {
            if let Some((depth, chunk)) = seen.levels().next() {
                let name = Manifest::file_name(depth, chunk);
                let mounted = match seen.marker()?.filter(|marker| marker.place > 1) {
                    Some(_) => format!(
                        " (according to {MARKER}, this is not the first directory of its search: \
                         specify all directories, and make sure that the disk of the first one is \
                         mounted)"
                    ),
                    None => String::new(),
                };
                return Err(seen.apart(format!(
                    "this directory contains level files of a search ({name}), but no \
                     manifest{mounted}: {repair}"
                )));
            }
            if seen.has(PREVIOUS) {
                return Err(seen.apart(format!(
                    "{PREVIOUS} is present, but the manifest is missing: {repair}"
                )));
            }
        }
        let first = all[0].marker()?;
        for seen in all {
            let Some(marker) = seen.marker()? else { continue };
            seen.placed(marker)?;
            if first.is_none_or(|first| first.run != marker.run) {
                return Err(seen.apart(format!(
                    "{}, but {} contains no files of that search: is the disk of that directory \
                     mounted?",
                    belonging(marker),
                    all[0].storage.name()
                )));
            }
        }
        // A run that was interrupted while writing its first marker has only that file.
        let half = all[0].files.iter().find_map(|file| match *file {
            RunFile::NewMarker { run } => Some(run),
            _ => None,
        });
        Ok(first.map(|marker| marker.run).or(half))
    }
}

/// What the marker of a directory says.
pub(crate) fn belonging(marker: &Marker) -> String {
    format!(
        "this directory belongs to a search of {} as directory {} of {}",
        marker.identity.board, marker.place, marker.directories
    )
}

/// Whether a level is the empty one after the last level of a complete run. If moves cannot be reversed, it has files,
/// which the last commit no longer names and then removes.
fn is_behind(manifest: &Manifest, depth: u32) -> bool {
    manifest.complete && depth as usize == manifest.levels.len()
}
