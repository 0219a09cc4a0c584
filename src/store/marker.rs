//! The marker of a run's directory: whose it is, and which of how many.
//!
//! Invariant: the markers of all directories are durable before the first manifest is written, so a
//! directory without one holds nothing of a run, or one of a version that wrote none.
//!
//! The file is text: a first line with the format's name, its version and the xxh3 of the rest in
//! hexadecimal, then one JSON object.

use std::io;

use serde::{Deserialize, Serialize};

use super::manifest::{Manifest, hex, put, read_sealed, seal, unseal, version};
use super::names::RunFile;
use super::storage::Storage;

/// Name of the marker in its directory.
pub const MARKER: &str = "tilewave-run";
/// First word of the file.
const FORMAT: &str = "tilewave-marker";
/// Name of the marker of a database's build.
pub const DATABASE: &str = "tilewave-database";
/// First word of that file.
const DATABASE_FORMAT: &str = "tilewave-database";
/// No marker is longer.
const LONGEST: u64 = 1 << 26;

/// What a directory says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marker {
    /// Random number of the run.
    #[serde(with = "hex")]
    pub run: u64,
    /// Place of the directory among those of the run, from 1.
    pub place: u32,
    /// Number of directories.
    pub directories: u32,
    /// Their shares of the chunks, as in the manifest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<u32>,
    /// Board size, or the name of another puzzle.
    pub board: String,
    /// Goal in notation.
    pub goal: String,
    /// Start in notation.
    pub start: String,
    /// What counts as a move of a board, unless it is one tile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// A puzzle that is no board, as [`crate::puzzle::States::to_text`] writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub puzzle: Option<String>,
    /// Digits that all lines of a chunk share, K.
    pub shared_digits: u32,
    /// Whether the files of all levels are kept.
    pub keep_all: bool,
}

impl Marker {
    /// Returns the marker of the directory at a place, from 1, of a manifest's run.
    pub fn new(manifest: &Manifest, place: u32) -> Marker {
        Marker {
            run: manifest.run,
            place,
            directories: manifest.directories,
            shares: manifest.shares.clone(),
            board: manifest.board.clone(),
            goal: manifest.goal.clone(),
            start: manifest.start.clone(),
            metric: manifest.metric.clone(),
            puzzle: manifest.puzzle.clone(),
            shared_digits: manifest.shared_digits,
            keep_all: manifest.keep_all,
        }
    }

    /// Reads the marker of a directory; `None` when it has none.
    ///
    /// # Errors
    /// What the system says, or a [`super::ManifestError`] inside an [`io::ErrorKind::InvalidData`].
    pub fn read(storage: &dyn Storage) -> io::Result<Option<Marker>> {
        read_sealed(storage, MARKER, LONGEST, |bytes| unseal(FORMAT, bytes))
    }

    /// Writes the marker of a directory, durably.
    pub fn write(&self, storage: &dyn Storage) -> io::Result<()> {
        let new = RunFile::NewMarker { run: self.run };
        let text = seal(
            FORMAT,
            version(&self.metric, &self.puzzle, &self.shares),
            self,
        );
        put(storage, new, MARKER, &text, || {})
    }
}

/// What the directory of a database's build says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseMarker {
    /// Random number of the build, also in each of its files.
    #[serde(with = "hex")]
    pub run: u64,
    /// Board size.
    pub board: String,
    /// Goal in notation.
    pub goal: String,
    /// The tiles.
    pub tiles: Vec<u16>,
}

impl DatabaseMarker {
    /// Reads the marker of a directory; `None` when it has none.
    ///
    /// # Errors
    /// As [`Marker::read`].
    pub fn read(storage: &dyn Storage) -> io::Result<Option<DatabaseMarker>> {
        let parse = |bytes: &[u8]| unseal(DATABASE_FORMAT, bytes);
        read_sealed(storage, DATABASE, LONGEST, parse)
    }

    /// Writes the marker of a directory, durably.
    pub fn write(&self, storage: &dyn Storage) -> io::Result<()> {
        let new = RunFile::NewMarker { run: self.run };
        let text = seal(DATABASE_FORMAT, 1, self);
        put(storage, new, DATABASE, &text, || {})
    }

    /// Removes the marker of a directory, durably.
    pub fn remove(storage: &dyn Storage) -> io::Result<()> {
        storage.remove(DATABASE)?;
        storage.sync_names()
    }
}
