//! The manifest of a run: what has been computed and which files hold it.
//!
//! Invariant: the manifest names only files that were durable before it was written, and it is replaced
//! at once or not at all. So whatever it says is there is there, after a crash at any instant.
//!
//! The file is text: a first line with the format's name, its version and the xxh3 of the rest in
//! hexadecimal, then one JSON object.

use std::io;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::storage::Storage;

/// Name of the manifest in its directory.
const NAME: &str = "manifest";
/// Name under which the next one is written.
const NEW: &str = "manifest.new";
/// First word of the file.
const FORMAT: &str = "tilewave-run";
/// Version that this program writes and reads.
const VERSION: u32 = 1;
/// No manifest is longer: 84 levels of thousands of chunks take a few megabytes.
const LONGEST: u64 = 256 << 20;

/// A chunk of a level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChunkRecord {
    /// Number of the chunk.
    pub chunk: u32,
    /// States; a chunk without any has no file.
    pub states: u64,
    /// Checksum of the states.
    #[serde(with = "hex")]
    pub checksum: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

/// The files of a level.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelFiles {
    /// Depth of the level.
    pub depth: u32,
    /// The chunks computed, in the order in which they were.
    pub chunks: Vec<ChunkRecord>,
}

/// A finished level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelRecord {
    /// States at this depth.
    pub states: u64,
    /// Checksum of the states.
    #[serde(with = "hex")]
    pub checksum: u64,
    /// Seconds spent on it, over all sessions.
    pub seconds: f64,
    /// Bytes of its files.
    pub bytes: u64,
}

/// What a run directory holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Random number of the run, also in each of its files.
    #[serde(with = "hex")]
    pub run: u64,
    /// Board size, as in `3x5`.
    pub board: String,
    /// Goal in notation.
    pub goal: String,
    /// Start in notation.
    pub start: String,
    /// Digits that all lines of a chunk share, K.
    pub shared_digits: u32,
    /// Number of chunks.
    pub chunks: u32,
    /// Lines of a frame.
    pub frame_lines: u32,
    /// Number of directories; chunk c lies in directory c modulo this number.
    pub directories: u32,
    /// Whether the files of all levels are kept.
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
}

/// What is wrong with a manifest.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// Not a manifest at all.
    #[error("it is not the manifest of a run")]
    NotAManifest,
    /// A version that this program does not know.
    #[error("it has format version {0}, this program reads version {VERSION}")]
    Version(u32),
    /// The checksum is wrong.
    #[error("it is damaged: its checksum is wrong")]
    Damaged,
    /// The content is not what the program writes.
    #[error("it does not make sense: {0}")]
    Content(String),
}

mod hex {
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
    /// Returns the name of the file of a chunk at a depth.
    pub fn file_name(depth: u32, chunk: u32) -> String {
        format!("level-{depth:03}.chunk-{chunk:05}")
    }

    /// Returns whether a name is one that [`Manifest::file_name`] gives.
    pub fn is_file_name(name: &str) -> bool {
        let number = |text: &str| text.parse::<u32>().ok();
        let parts = name
            .strip_prefix("level-")
            .and_then(|rest| rest.split_once(".chunk-"));
        parts
            .and_then(|(depth, chunk)| Some(Manifest::file_name(number(depth)?, number(chunk)?)))
            .is_some_and(|again| again == name)
    }

    /// Returns the files of a level, if they are there.
    pub fn files_of(&self, depth: u32) -> Option<&LevelFiles> {
        self.files.iter().find(|files| files.depth == depth)
    }

    /// Returns the bytes of all files that are there.
    pub fn disk_bytes(&self) -> u64 {
        let chunks = self.files.iter().flat_map(|files| &files.chunks);
        chunks.map(|chunk| chunk.bytes).sum()
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        let json =
            serde_json::to_string_pretty(self).expect("numbers and strings have a JSON form");
        format!(
            "{FORMAT} {VERSION} {:016x}\n{json}\n",
            xxh3_64(json.as_bytes())
        )
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// [`ManifestError`] when it is not what [`Manifest::text`] returns.
    pub fn parse(bytes: &[u8]) -> Result<Manifest, ManifestError> {
        let text = std::str::from_utf8(bytes).map_err(|_| ManifestError::NotAManifest)?;
        let (first, json) = text.split_once('\n').ok_or(ManifestError::NotAManifest)?;
        let words: Vec<&str> = first.split(' ').collect();
        let &[FORMAT, version, hash] = &words[..] else {
            return Err(ManifestError::NotAManifest);
        };
        let version = version.parse().map_err(|_| ManifestError::NotAManifest)?;
        if version != VERSION {
            return Err(ManifestError::Version(version));
        }
        let json = json.strip_suffix('\n').ok_or(ManifestError::Damaged)?;
        if hash != format!("{:016x}", xxh3_64(json.as_bytes())) {
            return Err(ManifestError::Damaged);
        }
        let manifest: Manifest =
            serde_json::from_str(json).map_err(|e| ManifestError::Content(e.to_string()))?;
        manifest.check().map_err(ManifestError::Content)?;
        Ok(manifest)
    }

    /// What every reader relies on.
    fn check(&self) -> Result<(), String> {
        if self.directories == 0 || self.chunks == 0 || self.frame_lines == 0 {
            return Err("a run has chunks, frames and directories".into());
        }
        for files in &self.files {
            let mut seen = std::collections::HashSet::new();
            for chunk in &files.chunks {
                if chunk.chunk >= self.chunks || !seen.insert(chunk.chunk) {
                    return Err(format!(
                        "depth {} has chunk {} twice or has no such chunk",
                        files.depth, chunk.chunk
                    ));
                }
            }
        }
        let depths: Vec<u32> = self.files.iter().map(|files| files.depth).collect();
        if !depths.is_sorted_by(|a, b| a < b)
            || depths
                .last()
                .is_some_and(|&d| d as usize > self.levels.len())
        {
            return Err("its levels are not in order".into());
        }
        Ok(())
    }

    /// Reads the manifest of a directory; `None` when it has none.
    ///
    /// # Errors
    /// What the system says, or a [`ManifestError`] inside an [`io::ErrorKind::InvalidData`].
    pub fn read(storage: &dyn Storage) -> io::Result<Option<Manifest>> {
        let file = match storage.open(NAME) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let wrong = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        if file.len() > LONGEST {
            return Err(wrong(ManifestError::NotAManifest));
        }
        let bytes = file.read(0, file.len() as usize)?;
        Manifest::parse(bytes.as_ref()).map(Some).map_err(wrong)
    }

    /// Replaces the manifest of a directory, durably.
    ///
    /// # Errors
    /// What the system says; the old manifest is then still there.
    pub fn write(&self, storage: &dyn Storage) -> io::Result<()> {
        let mut file = storage.create(NEW)?;
        file.append(self.text().as_bytes())?;
        file.sync()?;
        drop(file);
        storage.rename(NEW, NAME)?;
        storage.sync_names()
    }
}
