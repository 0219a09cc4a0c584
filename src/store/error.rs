//! Errors in reading and writing the files of a directory.

use std::{fmt, io};

/// A file of a directory, as named in messages; the directory itself if the file name is empty.
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

    /// Returns the error for a file whose content is wrong.
    pub fn invalid(
        &self,
        reason: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> StorageError {
        self.error(io::Error::new(io::ErrorKind::InvalidData, reason))
    }
}

/// An error with a file of a directory, from the system or from the reader of the file.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct StorageError {
    pub place: Place,
    /// The error.
    pub reason: io::Error,
}

impl StorageError {
    /// Returns a copy of the error: the system's own error cannot be cloned.
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
