//! A table and its file: what databases, distance tables and pruning tables have in common.
//!
//! Invariant: memory holds exactly the bytes of the file, header first; a file's entries are checked before anything
//! depends on them.

use std::{fmt, path::Path};

use crate::{
    progress::{NoProgress, Progress},
    store::{Container, FileHeader, IN_MEMORY, Image, Mapped},
    system::SystemError,
};

/// A kind of table: the header of its files, and what its lookups need besides.
pub trait TableKind: Sized {
    /// The header.
    type Header: FileHeader;

    /// Returns what follows from the header and the index, or an error if they contradict each other.
    fn of(file: &Container<Self::Header>) -> Result<Self, SystemError>;

    /// Reads all of an opened file.
    fn load(
        file: Container<Self::Header>,
        observer: &dyn Progress,
    ) -> Result<Container<Self::Header>, SystemError> {
        file.load(observer)
    }

    /// Whether the entries of a file must be read completely to look up any of them.
    fn is_packed(_: &Self::Header) -> bool {
        false
    }
}

/// A table in memory, in a mapped file, or in a file from which only the requested entries are read.
///
/// [`Pdb`](crate::pdb::Pdb), [`DistanceTable`](crate::table::DistanceTable) and
/// [`PruningTable`](crate::pruning::PruningTable) are such tables.
pub struct TableFile<K: TableKind> {
    pub(crate) file: Container<K::Header>,
    pub(crate) of: K,
}

impl<K: TableKind> fmt::Debug for TableFile<K> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("TableFile").field("path", &self.file.path).finish_non_exhaustive()
    }
}

impl<K: TableKind> TableFile<K> {
    /// Opens a file for a few lookups: only the requested entries are read and checked, 1 MiB around each, and kept. A
    /// compressed file is read completely, as by [`TableFile::load`]. Cost: constant.
    ///
    /// # Errors
    /// [`SystemError`] if the file cannot be read, is of another kind, has an unsupported version, is too short or too
    /// long, or is damaged before its entries.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SystemError> {
        TableFile::new(Container::open(path.as_ref())?)
    }

    /// Reads a file into memory, on huge pages if the system has them, and checks all of it: for more than a few
    /// lookups. Cost: memory for the whole file, and about 0.3 ns per byte on two cores if the system has cached the
    /// file, or 1 ns per byte if it is compressed. Same errors as [`TableFile::open`], also if a block is damaged or
    /// there is not enough free memory.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, SystemError> {
        TableFile::load_with(path, &NoProgress)
    }

    /// Reads a file like [`TableFile::load`], with an observer that sees the progress and may stop the work
    /// ([`SystemError::Interrupted`]).
    pub fn load_with(path: impl AsRef<Path>, observer: &dyn Progress) -> Result<Self, SystemError> {
        TableFile::new(K::load(Container::open(path.as_ref())?, observer)?)
    }

    /// Returns the table in a mapped file, after checking all of it. Nothing is copied: the bytes are in the system's
    /// file cache, and the file may be larger than memory. Lookups are slower than in a loaded table, which uses huge
    /// pages, and correct as long as the file is not modified: see [`TableFile::unchanged`]. Same errors as
    /// [`TableFile::load`].
    pub fn map(path: impl AsRef<Path>, mapped: Mapped) -> Result<Self, SystemError> {
        TableFile::checked(Container::of_image(path.as_ref(), Image::Mapped(mapped))?)
    }

    /// Returns the table in the bytes of a file, after checking all of them. Cost: a copy. Same errors as
    /// [`TableFile::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SystemError> {
        TableFile::checked(Container::of_image(Path::new(IN_MEMORY), Image::of(bytes)?)?)
    }

    fn checked(file: Container<K::Header>) -> Result<Self, SystemError> {
        let table = TableFile::new(file)?;
        table.check()?;
        Ok(table)
    }

    fn new(file: Container<K::Header>) -> Result<Self, SystemError> {
        let file = if K::is_packed(&file.header) { K::load(file, &NoProgress)? } else { file };
        Ok(TableFile { of: K::of(&file)?, file })
    }

    /// Finishes a table in memory whose index and entries have been written.
    pub(crate) fn finish(image: Image, header: K::Header) -> Result<Self, SystemError> {
        TableFile::new(Container::finish(image, header))
    }

    /// Returns the number of entries or states with each value or depth. What cannot be reached is not counted.
    pub fn histogram(&self) -> &[u64] {
        self.file.header.contents().0
    }

    /// Returns the checksum of the entries.
    pub fn checksum(&self) -> u64 {
        self.file.header.contents().1
    }

    /// Returns the size of the file in bytes.
    pub fn file_bytes(&self) -> u64 {
        self.file.layout.data.end()
    }

    /// Whether all entries are in memory or mapped.
    pub(crate) fn is_loaded(&self) -> bool {
        self.file.is_whole()
    }

    /// Checks all checksums. Cost: one pass over the file.
    ///
    /// # Errors
    /// [`SystemError`] for the first damaged block.
    pub fn check(&self) -> Result<(), SystemError> {
        self.file.check()
    }

    /// Checks that the file has not been modified since it was mapped. A table in memory cannot change. Cost: asking
    /// the system for the file's length and modification time, 1 us.
    ///
    /// # Errors
    /// [`SystemError::Changed`].
    pub fn unchanged(&self) -> Result<(), SystemError> {
        self.file.unchanged()
    }

    /// Writes the table to a file. The file appears only once it is complete.
    ///
    /// # Errors
    /// [`SystemError::Write`].
    pub fn save(&self, path: impl AsRef<Path>, replace: bool) -> Result<(), SystemError> {
        self.save_with(path, replace, &NoProgress)
    }

    /// Writes the table like [`TableFile::save`], with an observer that sees the progress and may stop the work
    /// ([`SystemError::Interrupted`]).
    pub fn save_with(
        &self,
        path: impl AsRef<Path>,
        replace: bool,
        observer: &dyn Progress,
    ) -> Result<(), SystemError> {
        self.file.save(path.as_ref(), replace, observer)
    }
}
