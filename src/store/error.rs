//! Why a file of a directory cannot be read or written.

use std::{fmt, io};

/// A file of a directory, as messages name it; the directory itself where the file has no name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub directory: String,
    pub file: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file.is_empty() {
            true => f.write_str(&self.directory),
            false => write!(f, "{}/{}", self.directory, self.file),
        }
    }
}

impl Place {
    pub fn error(&self, reason: io::Error) -> StorageError {
        StorageError { place: self.clone(), reason }
    }

    /// Returns the error of a file whose content is wrong.
    pub fn invalid(
        &self,
        reason: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> StorageError {
        self.error(io::Error::new(io::ErrorKind::InvalidData, reason))
    }
}

/// What the system, or the reader of a file, says of a file of a directory.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct StorageError {
    pub place: Place,
    /// What is wrong.
    pub reason: io::Error,
}

impl StorageError {
    /// Returns the same once more: the system's own error cannot be copied.
    pub(crate) fn again(&self) -> StorageError {
        self.place.error(io::Error::new(self.kind(), self.reason.to_string()))
    }

    pub fn kind(&self) -> io::ErrorKind {
        self.reason.kind()
    }
}

impl From<StorageError> for io::Error {
    fn from(error: StorageError) -> io::Error {
        error.reason
    }
}
