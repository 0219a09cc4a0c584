//! The manifest of a run: what has been computed and which files hold it.
//!
//! Invariant: the manifest names only files that were durable before it was written, and it is replaced
//! at once or not at all. So whatever it says is there is there, after a crash at any instant.
//!
//! The file is text: a first line with the format's name, its version and the xxh3 of the rest in
//! hexadecimal, then one JSON object.

use std::{collections::HashSet, io};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use twox_hash::XxHash3_64;

use crate::{
    kernel::Tally,
    store::{RunFile, Shares, Storage, StorageError},
};

pub const MANIFEST: &str = "manifest";

/// Name of the one before.
pub const PREVIOUS: &str = "manifest.previous";

/// First word of the file.
const FORMAT: &str = "tilewave-run";

/// Latest version that this program writes and reads: boards moved one tile at a time are written as version 1, other
/// puzzles as version 2, unequal shares as version 3, lists as version 4.
const VERSION: u32 = 4;

/// No manifest is longer: 84 levels of thousands of chunks take a few megabytes, three of a million half of this.
const LONGEST: u64 = 1 << 30;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChunkRecord {
    pub chunk: u32,
    /// States; a chunk without any has no file, unless states seen before are kept there.
    pub states: u64,
    #[serde(with = "hex")]
    pub checksum: u64,
    pub bytes: u64,
    /// What else is counted of lists. States without bytes are those that were counted and not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lists: Option<ListCounts>,
}

/// What is counted of the states of lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListCounts {
    /// States up to symmetry.
    pub reduced: u64,
    /// Keys that moves made.
    pub generated: u64,
    /// Keys that were new.
    pub kept: u64,
}

/// How the states of a run are dealt out to lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListCut {
    /// The fields of the coordinate, and whether it has their orientations.
    pub fields: Vec<usize>,
    pub oriented: bool,
    /// Whether symmetries are used, how many keep the coordinate, and what it comes to.
    pub symmetric: bool,
    pub symmetries: usize,
    pub classes: usize,
    pub buckets_per_class: usize,
    pub words: usize,
}

impl ChunkRecord {
    pub fn tally(&self) -> Tally {
        Tally { states: self.states, checksum: self.checksum }
    }

    /// Returns whether there is a file: also one without states may hold those seen before.
    pub fn has_file(&self) -> bool {
        self.bytes > 0 || self.states > 0 && self.lists.is_none()
    }

    /// Returns whether its states were counted and not stored.
    pub fn is_counted(&self) -> bool {
        self.states > 0 && !self.has_file()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelFiles {
    pub depth: u32,
    /// The chunks computed, in the order in which they were.
    pub chunks: Vec<ChunkRecord>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelRecord {
    /// States at this depth.
    pub states: u64,
    #[serde(with = "hex")]
    pub checksum: u64,
    /// Seconds spent on it, over all sessions.
    pub seconds: f64,
    pub bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lists: Option<ListCounts>,
}

impl LevelRecord {
    pub fn tally(&self) -> Tally {
        Tally { states: self.states, checksum: self.checksum }
    }
}

/// What a run searches, as its manifest and its markers say it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Board size, as in `3x5`, or the name of another puzzle.
    pub board: String,
    /// Goal in notation.
    pub goal: String,
    /// Start in notation.
    pub start: String,
    /// What counts as a move of a board, unless it is one tile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// A puzzle that is no board, as [`crate::puzzle::StateSpace::puzzle_text`] writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub puzzle: Option<String>,
}

/// What a run directory holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Random number of the run, also in each of its files.
    #[serde(with = "hex")]
    pub run: u64,
    /// What is searched. Fields that are nobody's are refused all the same (a test says so).
    #[serde(flatten)]
    pub identity: Identity,
    /// Digits that all lines of a chunk share, K.
    pub shared_digits: u32,
    pub chunks: u32,
    pub frame_lines: u32,
    pub directories: u32,
    /// Their shares of the chunks, as `Shares` deals them out; empty when chunk c lies in directory c modulo their
    /// number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<u32>,
    pub keep_all: bool,
    /// Whether the search has come to its end.
    pub complete: bool,
    /// Seconds of computing, over all sessions.
    pub seconds: f64,
    /// Bytes of level files written, over all sessions.
    pub bytes_written: u64,
    /// Most bytes of level files at any time.
    pub peak_bytes: u64,
    /// The finished levels; the index is the depth.
    pub levels: Vec<LevelRecord>,
    /// Levels whose files are there: the last two, or all; then the one in progress.
    pub files: Vec<LevelFiles>,
    /// Seconds spent on the level in progress.
    pub level_seconds: f64,
    /// The levels behind those: they were counted and not stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<LevelRecord>,
    /// How states are dealt out to lists, where they have no numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lists: Option<ListCut>,
}

/// What is wrong with a manifest.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    #[error("it is not a file that tilewave writes under this name")]
    NotAManifest,
    #[error("it has format version {0}, but this program reads versions up to {VERSION}")]
    Version(u32),
    #[error("it is damaged: its checksum is wrong")]
    Damaged,
    #[error("its contents are inconsistent: {0}")]
    Content(String),
}

pub(crate) mod hex {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{value:016x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}

impl Manifest {
    pub fn file_name(depth: u32, chunk: u32) -> String {
        RunFile::Level { depth, chunk }.name()
    }

    /// Returns whether a name is one that [`Manifest::file_name`] gives.
    pub fn is_file_name(name: &str) -> bool {
        matches!(RunFile::parse(name), Some(RunFile::Level { .. }))
    }

    /// Returns the files of a level, if they are there.
    pub fn files_of(&self, depth: u32) -> Option<&LevelFiles> {
        self.files.iter().find(|files| files.depth == depth)
    }

    /// Returns the depth in progress.
    pub fn depth(&self) -> usize {
        self.levels.len() + self.counted.len()
    }

    /// Returns the states of the finished levels.
    pub(crate) fn states(&self) -> u64 {
        self.levels.iter().fold(0, |sum, level| sum.saturating_add(level.states))
    }

    /// What there is of each chunk of a level whose files are there.
    pub(crate) fn records(&self, depth: u32) -> Vec<ChunkRecord> {
        self.files_of(depth).map_or(Vec::new(), |files| files.chunks.clone())
    }

    /// Forgets what was counted and not stored.
    pub(crate) fn forget_counted(&mut self) {
        let stored = self.levels.len() as u32;
        self.counted.clear();
        self.files.retain(|files| files.depth <= stored);
        for files in self.files.iter_mut().filter(|files| files.depth == stored) {
            files.chunks.retain(|record| !record.is_counted());
        }
        self.files.retain(|files| !files.chunks.is_empty());
    }

    /// The depth and the chunk of every file that is there.
    pub(crate) fn named(&self) -> impl Iterator<Item = (u32, u32)> {
        self.files.iter().flat_map(|files| {
            let there = files.chunks.iter().filter(|record| record.has_file());
            there.map(|record| (files.depth, record.chunk))
        })
    }

    /// Returns the bytes of all files that are there.
    pub fn disk_bytes(&self) -> u64 {
        let chunks = self.files.iter().flat_map(|files| &files.chunks);
        chunks.map(|chunk| chunk.bytes).sum()
    }

    pub fn text(&self) -> String {
        seal(FORMAT, version(&self.identity, &self.shares, self.lists.as_ref()), self)
    }

    pub fn parse(bytes: &[u8]) -> Result<Manifest, ManifestError> {
        let manifest: Manifest = unseal(FORMAT, bytes)?;
        manifest.check().map_err(ManifestError::Content)?;
        Ok(manifest)
    }

    /// What every reader relies on.
    fn check(&self) -> Result<(), String> {
        if self.directories == 0 || self.chunks == 0 || self.frame_lines == 0 {
            return Err("a run needs chunks, frames and directories".into());
        }
        if !self.shares.is_empty() && !Shares::are_valid(&self.shares, self.directories as usize) {
            return Err("its shares do not match its directories".into());
        }
        for files in &self.files {
            let mut seen = HashSet::new();
            for chunk in &files.chunks {
                if chunk.chunk >= self.chunks || !seen.insert(chunk.chunk) {
                    return Err(format!(
                        "depth {} has chunk {} twice, or there is no such chunk",
                        files.depth, chunk.chunk
                    ));
                }
            }
        }
        let depths: Vec<u32> = self.files.iter().map(|files| files.depth).collect();
        if !depths.is_sorted_by(|a, b| a < b)
            || depths.last().is_some_and(|&d| d as usize > self.depth())
        {
            return Err("its levels are not in order".into());
        }
        Ok(())
    }

    /// Reads the manifest of a directory; `None` when it has none.
    ///
    /// # Errors
    /// What the system says, or a [`ManifestError`] inside an [`io::ErrorKind::InvalidData`].
    pub fn read(storage: &dyn Storage) -> Result<Option<Manifest>, StorageError> {
        read_sealed(storage, MANIFEST, LONGEST, Manifest::parse)
    }

    /// Reads the manifest before the last one; `None` when there is none that can be read.
    pub fn read_previous(storage: &dyn Storage) -> Option<Manifest> {
        read_sealed(storage, PREVIOUS, LONGEST, Manifest::parse).ok().flatten()
    }

    /// Replaces the manifest of a directory, durably, and keeps the one before where the file system has
    /// links.
    pub fn write(&self, storage: &dyn Storage) -> Result<(), StorageError> {
        self.put(storage, true)
    }

    /// Writes the manifest of a directory that has none, durably; the previous one stays.
    pub(crate) fn write_first(&self, storage: &dyn Storage) -> Result<(), StorageError> {
        self.put(storage, false)
    }

    fn put(&self, storage: &dyn Storage, replaces: bool) -> Result<(), StorageError> {
        let text = self.text();
        if text.len() as u64 > LONGEST {
            let why = "it would be too long to be read: keep fewer levels, or use fewer chunks";
            let reason = io::Error::new(io::ErrorKind::FileTooLarge, why);
            return Err(storage.error(MANIFEST, reason));
        }
        put(storage, RunFile::NewManifest { run: self.run }, MANIFEST, &text, || {
            // A copy to explain what went wrong, so nothing fails for want of it.
            if replaces && storage.remove(PREVIOUS).is_ok() {
                let _ = storage.link(MANIFEST, PREVIOUS);
            }
        })
    }
}

/// Writes a file of text under a new name and, when it is durable, gives it its own, durably; `before` comes
/// between. Errors name the file, not its first name.
fn put(
    storage: &dyn Storage,
    new: RunFile,
    name: &str,
    text: &str,
    before: impl FnOnce(),
) -> Result<(), StorageError> {
    let new = new.name();
    let written = (|| {
        let mut file = storage.create(&new)?;
        file.append(text.as_bytes())?;
        file.sync()?;
        drop(file);
        before();
        storage.rename(&new, name).inspect_err(|_| {
            // Of a run that is complete nobody would remove it later.
            let _ = storage.remove(&new);
        })?;
        storage.sync_names()
    })();
    written.map_err(|e: StorageError| storage.error(name, e.reason))
}

/// Reads a file of at most `longest` bytes with `parse`; `None` when it is not there. What is wrong with it is inside
/// an [`io::ErrorKind::InvalidData`].
fn read_sealed<T>(
    storage: &dyn Storage,
    name: &str,
    longest: u64,
    parse: impl FnOnce(&[u8]) -> Result<T, ManifestError>,
) -> Result<Option<T>, StorageError> {
    let Some(file) = storage.find(name)? else {
        return Ok(None);
    };
    if file.len() > longest {
        return Err(file.place().invalid("it is too long"));
    }
    let bytes = file.read(0, file.len() as usize)?;
    parse(bytes.as_ref()).map(Some).map_err(|error| storage.place(name).invalid(error))
}

/// Returns the version of what names a metric or a puzzle, has shares, or lists.
fn version(identity: &Identity, shares: &[u32], lists: Option<&ListCut>) -> u32 {
    match (shares, lists) {
        (_, Some(_)) => 4,
        ([], None) => 1 + u32::from(identity.metric.is_some() || identity.puzzle.is_some()),
        (_, None) => 3,
    }
}

/// Returns the text of a file: format, version and checksum in the first line, then JSON.
pub(crate) fn seal(format: &str, version: u32, value: &impl Serialize) -> String {
    let json = serde_json::to_string_pretty(value).expect("numbers and strings have a JSON form");
    let hash = XxHash3_64::oneshot(json.as_bytes());
    format!("{format} {version} {hash:016x}\n{json}\n")
}

/// Returns what a file that [`seal`] wrote holds.
fn unseal<T: DeserializeOwned>(format: &str, bytes: &[u8]) -> Result<T, ManifestError> {
    let text = std::str::from_utf8(bytes).map_err(|_| ManifestError::NotAManifest)?;
    let (first, json) = text.split_once('\n').ok_or(ManifestError::NotAManifest)?;
    let words: Vec<&str> = first.split(' ').collect();
    let &[name, version, hash] = &words[..] else {
        return Err(ManifestError::NotAManifest);
    };
    let version = version.parse().ok().filter(|_| name == format);
    match version.ok_or(ManifestError::NotAManifest)? {
        1..=VERSION => {}
        version => return Err(ManifestError::Version(version)),
    }
    let json = json.strip_suffix('\n').ok_or(ManifestError::Damaged)?;
    if hash != format!("{:016x}", XxHash3_64::oneshot(json.as_bytes())) {
        return Err(ManifestError::Damaged);
    }
    serde_json::from_str(json).map_err(|e| ManifestError::Content(e.to_string()))
}

// The marker of a run's directory: whose it is, and which of how many.
//
// Invariant: the markers of all directories are durable before the first manifest is written, so a
// directory without one holds nothing of a run, or one of a version that wrote none.

pub const MARKER: &str = "tilewave-run";

const MARKER_FORMAT: &str = "tilewave-marker";

/// No marker is longer.
const LONGEST_MARKER: u64 = 1 << 26;

/// What a directory says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marker {
    /// Random number of the run.
    #[serde(with = "hex")]
    pub run: u64,
    /// Place of the directory among those of the run, from 1.
    pub place: u32,
    pub directories: u32,
    /// Their shares of the chunks, as in the manifest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<u32>,
    /// What is searched.
    #[serde(flatten)]
    pub identity: Identity,
    /// Digits that all lines of a chunk share, K.
    pub shared_digits: u32,
    pub keep_all: bool,
    /// As in the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lists: Option<ListCut>,
}

impl Marker {
    /// Returns the marker of the directory at a place, from 1, of a manifest's run.
    pub(crate) fn new(manifest: &Manifest, place: u32) -> Marker {
        Marker {
            run: manifest.run,
            place,
            directories: manifest.directories,
            shares: manifest.shares.clone(),
            identity: manifest.identity.clone(),
            shared_digits: manifest.shared_digits,
            keep_all: manifest.keep_all,
            lists: manifest.lists.clone(),
        }
    }

    pub(crate) fn read(storage: &dyn Storage) -> Result<Option<Marker>, StorageError> {
        read_marker(storage, MARKER, MARKER_FORMAT)
    }

    pub(crate) fn write(&self, storage: &dyn Storage) -> Result<(), StorageError> {
        let text =
            seal(MARKER_FORMAT, version(&self.identity, &self.shares, self.lists.as_ref()), self);
        write_marker(storage, MARKER, self.run, &text)
    }
}

/// Reads the marker of a directory, of this name and format; `None` when it has none. Errors are those of [`Manifest::read`].
pub(crate) fn read_marker<T: DeserializeOwned>(
    storage: &dyn Storage,
    name: &str,
    format: &str,
) -> Result<Option<T>, StorageError> {
    read_sealed(storage, name, LONGEST_MARKER, |bytes| unseal(format, bytes))
}

/// Writes the marker of a run's directory, durably; `text` is what [`seal`] gives.
pub(crate) fn write_marker(
    storage: &dyn Storage,
    name: &str,
    run: u64,
    text: &str,
) -> Result<(), StorageError> {
    put(storage, RunFile::NewMarker { run }, name, text, || {})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_are_nobodys_are_refused_and_the_order_of_the_others_stays() {
        let identity = Identity { board: "2x3".into(), ..Identity::default() };
        let manifest =
            Manifest { chunks: 1, frame_lines: 1, directories: 1, identity, ..Manifest::default() };
        let text = manifest.text();
        assert_eq!(Manifest::parse(text.as_bytes()).unwrap(), manifest);
        let names = ["run", "board", "goal", "start", "shared_digits"].map(|n| format!("\"{n}\""));
        assert!(names.map(|name| text.find(&name).unwrap()).is_sorted(), "{text}");
        let json = text.split_once('\n').unwrap().1;
        for (from, to) in [("\"chunks\"", "\"pieces\": 1, \"chunks\""), ("\"goal\"", "\"gaol\"")] {
            let value: serde_json::Value = serde_json::from_str(&json.replace(from, to)).unwrap();
            let error = Manifest::parse(seal(FORMAT, 1, &value).as_bytes()).unwrap_err();
            assert!(matches!(error, ManifestError::Content(_)), "{error}");
        }
    }
}
