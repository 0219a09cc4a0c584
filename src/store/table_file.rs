//! A table and its file: what databases, distance tables and pruning tables have in common.
//!
//! Invariant: memory holds exactly the bytes of the file, header first; a file's entries are checked before anything
//! depends on them.

use std::{fmt, path::Path};

use crate::{
    Error,
    kernel::prefetch,
    progress::{NoProgress, Progress},
    puzzle::rows::{self, RowFault},
    store::{Container, FileHeader, IN_MEMORY, Image, Mapped},
    system::SystemError,
};

/// A kind of table: the header of its files, and what its lookups need besides.
pub trait TableKind: Sized + Sync {
    /// The header.
    type Header: FileHeader;

    /// Returns what follows from the header and the index, or an error if they contradict each other.
    fn of(file: &Container<Self::Header>) -> Result<Self, SystemError>;

    /// Returns the number of bits of an entry.
    fn bits(header: &Self::Header) -> u32;
}

/// Returns the index of the byte that contains an entry of 1, 2, 4 or 8 bits, and the entry's shift within the byte.
#[inline]
pub(crate) fn place(bits: u32, number: u64) -> (usize, u32) {
    // The number of a state that has no entry may be any.
    let bit = number.wrapping_mul(bits.into());
    ((bit / 8) as usize, (bit % 8) as u32)
}

/// Number of rows whose entries are prefetched before the first is read: enough to keep a core's line-fill buffers
/// busy.
const GROUP: usize = 32;

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
        TableFile::new(Container::open(path.as_ref())?.load(observer)?)
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
        let file = if file.is_packed() { file.load(&NoProgress)? } else { file };
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

    /// The entry with a number, given how to find the byte that contains it; `None` if all its bits are set.
    #[inline]
    fn entry_in(&self, number: u64, byte: impl FnOnce(usize) -> Option<u8>) -> Option<u8> {
        let bits = K::bits(&self.file.header);
        let ((at, shift), none) = (place(bits, number), u8::MAX >> (8 - bits));
        byte(at).map(|byte| byte >> shift & none).filter(|&entry| entry != none)
    }

    /// Returns the entry with a number, `None` if it is empty or beyond the last one. A file that is not loaded is read
    /// there.
    pub(crate) fn read(&self, number: u64) -> Result<Option<u8>, SystemError> {
        let byte = self.file.byte(place(K::bits(&self.file.header), number).0 as u64)?;
        Ok(self.entry_in(number, |_| byte))
    }

    /// Returns the entry with a number in a loaded table, `None` if it is empty.
    ///
    /// # Panics
    /// If the table has no such entry.
    #[inline]
    pub(crate) fn value_of(&self, number: u64) -> Option<u8> {
        self.entry_in(number, |at| Some(self.file.data()[at]))
    }

    /// Returns the address of an entry, for prefetching; meaningless if the table is not loaded.
    #[inline]
    pub(crate) fn address(&self, number: u64) -> *const u8 {
        self.file.data().as_ptr().wrapping_add(place(K::bits(&self.file.header), number).0)
    }

    /// Looks up many rows of numbers, given with their width, piece by piece on all threads of the current pool. `find`
    /// returns what a row is looked up with, and the number of its entry, if it has one; when the entries of a group of
    /// rows have been prefetched, `look_up` writes their results.
    pub(crate) fn each_row<T, R: Clone + Default + Send>(
        &self,
        (rows, width): (&[u16], usize),
        find: impl Fn(&[u16]) -> Result<(T, Option<u64>), Error> + Sync,
        look_up: impl Fn(&[u16], &[T], &mut [R]) -> Result<(), RowFault> + Sync,
    ) -> Result<Vec<R>, Error> {
        rows::each_row(rows, width, 1, |rows, results| {
            let mut found = Vec::with_capacity(GROUP);
            let groups = rows.chunks(GROUP * width).zip(results.chunks_mut(GROUP));
            for (g, (rows, results)) in groups.enumerate() {
                let fault = |(i, error)| -> RowFault { (g * GROUP + i, error) };
                found.clear();
                for (i, row) in rows.chunks_exact(width).enumerate() {
                    let (with, number) = find(row).map_err(|error| fault((i, error)))?;
                    number.inspect(|&number| prefetch::<1, _>(self.address(number)));
                    found.push(with);
                }
                look_up(rows, &found, results).map_err(fault)?;
            }
            Ok(())
        })
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
