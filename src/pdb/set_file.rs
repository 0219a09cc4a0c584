//! Set files: which databases make up which partitions.
//!
//! Invariant: names of databases are those of the file's directory, so a set can be moved as a whole.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::PdbError;
use crate::store::{FileError, FileKind, Output, Problem};

/// Version of the files.
const VERSION: u32 = 1;
/// What a set file is called in messages.
const KIND: FileKind = FileKind {
    noun: "set of pattern databases",
    make: "make it with tilewave pdb set build",
};

/// Partitions of databases: a board's estimate is the largest of the partitions' sums.
///
/// ```
/// use std::path::{Path, PathBuf};
/// use tilewave::pdb::SetFile;
/// let set = SetFile::parse(
///     br#"{"tilewave_set": 1, "partitions": [["a.pdb", "b.pdb"], ["a.pdb", "c.pdb"]]}"#,
///     Path::new("databases/set.json"),
/// )?;
/// assert_eq!(set.partitions[1][1], PathBuf::from("databases/c.pdb"));
/// # Ok::<(), tilewave::pdb::PdbError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetFile {
    /// The database files of each partition.
    pub partitions: Vec<Vec<PathBuf>>,
}

/// What is in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    tilewave_set: u32,
    partitions: Vec<Vec<PathBuf>>,
}

impl SetFile {
    /// Returns whether a path is that of a set file, by its name.
    pub fn is(path: &Path) -> bool {
        path.extension()
            .is_some_and(|extension| extension == "json")
    }

    /// Reads a set file.
    ///
    /// # Errors
    /// [`PdbError::File`] when it cannot be read, is of another version or says something else.
    pub fn read(path: &Path) -> Result<SetFile, PdbError> {
        let bytes = std::fs::read(path).map_err(FileError::io("cannot read", path))?;
        SetFile::parse(&bytes, path)
    }

    /// Returns what the bytes of a set file say, whose place is given.
    ///
    /// # Errors
    /// As [`SetFile::read`].
    pub fn parse(bytes: &[u8], path: &Path) -> Result<SetFile, PdbError> {
        let wrong = |problem| FileError::Wrong {
            path: path.to_path_buf(),
            kind: KIND,
            problem,
        };
        let text: Text = serde_json::from_slice(bytes).map_err(|_| wrong(Problem::Other))?;
        if text.tilewave_set != VERSION {
            let (found, supported) = (text.tilewave_set, VERSION);
            return Err(wrong(Problem::Version { found, supported }).into());
        }
        if text.partitions.iter().any(Vec::is_empty) || text.partitions.is_empty() {
            return Err(wrong(Problem::Header("a partition has no database")).into());
        }
        let beside = |name: PathBuf| path.parent().unwrap_or(Path::new("")).join(name);
        let partitions = text.partitions.into_iter();
        Ok(SetFile {
            partitions: partitions
                .map(|files| files.into_iter().map(beside).collect())
                .collect(),
        })
    }

    /// Writes the file; databases beside it are named without their directory.
    ///
    /// # Errors
    /// [`PdbError::Output`].
    pub fn write(&self, path: &Path, replace: bool) -> Result<(), PdbError> {
        let directory = path.parent().unwrap_or(Path::new(""));
        let name = |file: &PathBuf| file.strip_prefix(directory).unwrap_or(file).to_path_buf();
        let partitions = self.partitions.iter();
        let text = Text {
            tilewave_set: VERSION,
            partitions: partitions
                .map(|files| files.iter().map(name).collect())
                .collect(),
        };
        let mut bytes = serde_json::to_vec_pretty(&text).map_err(|error| {
            PdbError::Output(crate::store::failed(path)(io::Error::other(error)))
        })?;
        bytes.push(b'\n');
        let mut output = Output::create(path, replace)?;
        output.write(&bytes, |_| true)?;
        Ok(output.finish()?)
    }
}
