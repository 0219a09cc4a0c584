//! Access to the files of a run: one interface for real directories, directories in memory, and injected faults.
//!
//! Invariant: everything that a run reads and writes goes through [`Storage`], so the disk engine survives the same
//! faults as the directory of the tests that injects them. Names are single path components; the directory and the file
//! are added to an error where it occurs.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use memmap2::Mmap;
use parking_lot::Mutex;

use crate::{
    store::{
        Place, StorageError,
        output::{directory, sync_names},
        platform::{self, has_name, open_file, read_at},
    },
    units::names,
};

/// How files are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Io {
    /// Positioned reads into buffers. A disk failure gives an error.
    #[default]
    Read,
    /// Memory mapping: no copying, but a disk failure kills the process.
    Map,
}

names! { Io:
    "read" = Read, "Positioned reads into buffers";
    "mmap" = Map, "Memory mapping";
}

/// Bytes of a file: a buffer, or a part of a mapping.
#[derive(Debug)]
pub enum Bytes {
    /// Read into a buffer.
    Owned(Vec<u8>),
    /// Part of a mapping.
    Mapped(Arc<Mmap>, std::ops::Range<usize>),
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            Bytes::Mapped(map, range) => &map[range.clone()],
        }
    }
}

impl Bytes {
    /// Returns the bytes as a buffer, which nothing that happens to the file can change; those of a map are copied.
    pub(crate) fn into_vec(self) -> Vec<u8> {
        match self {
            Bytes::Owned(bytes) => bytes,
            Bytes::Mapped(..) => self.as_ref().to_vec(),
        }
    }
}

/// Held while a directory is locked.
pub type Lock = Box<dyn Send + Sync>;

/// A directory, or an equivalent of one.
pub trait Storage: Send + Sync {
    /// Creates a file for appending; an existing file with this name is emptied.
    fn create(&self, name: &str) -> Result<Box<dyn Append>, StorageError>;

    /// Opens a file for reading; the error is [`io::ErrorKind::NotFound`] if it does not exist.
    fn open(&self, name: &str) -> Result<Box<dyn ReadAt>, StorageError>;

    /// Opens a file for reading; `None` if it does not exist.
    fn find(&self, name: &str) -> Result<Option<Box<dyn ReadAt>>, StorageError> {
        match self.open(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Renames a file, atomically replacing any file with the new name.
    fn rename(&self, from: &str, to: &str) -> Result<(), StorageError>;

    /// Gives a file a second name, which must not be in use; not every file system supports this.
    fn link(&self, from: &str, to: &str) -> Result<(), StorageError>;

    /// Removes a file; a missing file is not an error.
    fn remove(&self, name: &str) -> Result<(), StorageError>;

    /// Frees the disk space of bytes of a file that will not be read again. They then read as zeros, or remain
    /// unchanged if the system does not free them for any reason. Returns whether the space was freed.
    fn release(&self, _name: &str, _offset: u64, _len: u64) -> bool {
        false
    }

    /// Returns the names of all files.
    fn list(&self) -> Result<Vec<String>, StorageError>;

    /// Makes creations, renamings and removals durable.
    fn sync_names(&self) -> Result<(), StorageError>;

    /// Locks the directory against other processes until the lock is dropped; `None` if another process holds the lock.
    fn lock(&self) -> Result<Option<Lock>, StorageError>;

    /// Returns whether another process holds the lock.
    fn is_locked(&self) -> bool {
        false
    }

    /// Returns the number of bytes that can still be written, if known.
    fn free(&self) -> Option<u64> {
        None
    }

    /// Returns a number that is the same for directories on one disk, if known.
    fn device(&self) -> Option<u64> {
        None
    }

    /// Returns the name of the directory in messages.
    fn name(&self) -> String;

    /// Returns the error for a file of this directory, or for the directory if `file` is empty.
    fn error(&self, file: &str, reason: io::Error) -> StorageError {
        self.place(file).error(reason)
    }

    /// Returns the name of a file of this directory in messages.
    fn place(&self, file: &str) -> Place {
        Place { directory: self.name(), file: file.into() }
    }
}

/// A file being written.
pub trait Append: Send + Sync {
    /// Appends all of the bytes, or returns an error.
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError>;

    /// Makes everything appended so far durable.
    fn sync(&mut self) -> Result<(), StorageError>;
}

/// A file being read.
pub trait ReadAt: Send + Sync {
    fn len(&self) -> u64;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns bytes from an offset; waits until they have been read. The error is [`io::ErrorKind::UnexpectedEof`] if
    /// the file is shorter.
    fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError>;

    fn place(&self) -> &Place;
}

/// Bytes in memory, outside of any directory.
impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        Vec::len(self) as u64
    }

    fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError> {
        within(offset, len, ReadAt::len(self)).map_err(|e| self.place().error(e))?;
        let start = offset as usize;
        Ok(Bytes::Owned(self[start..start + len].to_vec()))
    }

    fn place(&self) -> &Place {
        static NOWHERE: Place = Place { directory: String::new(), file: String::new() };
        &NOWHERE
    }
}

/// Name of the file that is locked.
pub(crate) const LOCK: &str = "lock";

/// A real directory.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    io: Io,
    /// Whether a missing directory is created together with its first file.
    make: bool,
}

impl Directory {
    /// Returns a directory that, if it is missing, is created when something is written to it.
    pub fn create(path: impl AsRef<Path>, io: Io) -> io::Result<Directory> {
        match Directory::open(&path, io) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Ok(Directory { path: path.as_ref().to_path_buf(), io, make: true })
            }
            opened => opened,
        }
    }

    /// Returns an existing directory.
    pub fn open(path: impl AsRef<Path>, io: Io) -> io::Result<Directory> {
        let path = path.as_ref().to_path_buf();
        // Whether it can be read is determined at the beginning; a signal does not reveal this.
        match std::fs::read_dir(&path) {
            Err(error) if error.kind() != ErrorKind::Interrupted => Err(error),
            _ => Ok(Directory { path, io, make: false }),
        }
    }

    fn said<T>(&self, name: &str, result: io::Result<T>) -> Result<T, StorageError> {
        result.map_err(|reason| self.error(name, reason))
    }

    /// Opens a file for writing; first creates the directory if it is missing and may be created.
    fn open_new<T>(&self, open: impl Fn() -> io::Result<T>) -> io::Result<T> {
        match open() {
            Err(error) if self.make && error.kind() == ErrorKind::NotFound => {
                create_directory(&self.path)?;
                open()
            }
            opened => opened,
        }
    }
}

impl Storage for Directory {
    fn create(&self, name: &str) -> Result<Box<dyn Append>, StorageError> {
        let file = self.open_new(|| File::create(self.path.join(name)));
        Ok(Box::new(Appended { file: self.said(name, file)?, place: self.place(name) }))
    }

    fn open(&self, name: &str) -> Result<Box<dyn ReadAt>, StorageError> {
        let opened = open_file(OpenOptions::new().read(true), &self.path.join(name));
        let (file, len) = self.said(name, opened)?;
        let map = (self.io == Io::Map && len > 0).then(|| mapped(&file)).transpose();
        let map = self.said(name, map)?;
        Ok(Box::new(OpenFile { file, map, len, place: self.place(name) }))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), StorageError> {
        self.said(to, std::fs::rename(self.path.join(from), self.path.join(to)))
    }

    fn link(&self, from: &str, to: &str) -> Result<(), StorageError> {
        self.said(to, std::fs::hard_link(self.path.join(from), self.path.join(to)))
    }

    fn remove(&self, name: &str) -> Result<(), StorageError> {
        match std::fs::remove_file(self.path.join(name)) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(self.error(name, e)),
            _ => Ok(()),
        }
    }

    fn release(&self, name: &str, offset: u64, len: u64) -> bool {
        let file = open_file(OpenOptions::new().write(true), &self.path.join(name));
        file.is_ok_and(|(file, _)| platform::punch(&file, offset, len))
    }

    fn list(&self) -> Result<Vec<String>, StorageError> {
        let names = || {
            // A name that is not text is not one of ours.
            std::fs::read_dir(&self.path)?
                .filter_map(|entry| entry.map(|e| e.file_name().into_string().ok()).transpose())
                .collect::<io::Result<_>>()
        };
        loop {
            return match names() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if self.make && error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
                names => self.said("", names),
            };
        }
    }

    fn sync_names(&self) -> Result<(), StorageError> {
        let synced = platform::sync_directory(&self.path);
        self.said("", synced.map_err(|error| match error.kind() {
            ErrorKind::InvalidInput | ErrorKind::Unsupported => io::Error::new(
                ErrorKind::Unsupported,
                "this file system cannot make names durable (directories cannot be synced), so a \
                 power cut could lose the search: choose another directory",
            ),
            _ => error,
        }))
    }

    fn lock(&self) -> Result<Option<Lock>, StorageError> {
        let path = self.path.join(LOCK);
        let error = loop {
            let opened =
                self.open_new(|| open_file(OpenOptions::new().create(true).append(true), &path));
            let (file, _) = self.said(LOCK, opened)?;
            match file.try_lock() {
                // Its owner may have removed it since it was opened.
                Ok(()) if self.said(LOCK, has_name(&file))? => return Ok(Some(Box::new(file))),
                Ok(()) => {}
                Err(std::fs::TryLockError::WouldBlock) => return Ok(None),
                Err(std::fs::TryLockError::Error(error)) => break error,
            }
        };
        let none = platform::is_no_locks(&error) || error.kind() == ErrorKind::Unsupported;
        let why = "this file system does not support the locks (flock) that keep two searches from \
                   using the same directory: choose another directory";
        let reason = if none { io::Error::new(ErrorKind::Unsupported, why) } else { error };
        Err(self.error(LOCK, reason))
    }

    fn is_locked(&self) -> bool {
        // A shared lock for an instant: it can fail against a running search, but not disturb it.
        open_file(OpenOptions::new().read(true), &self.path.join(LOCK)).is_ok_and(|(file, _)| {
            matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock))
        })
    }

    fn free(&self) -> Option<u64> {
        platform::free_space(&self.path)
    }

    fn device(&self) -> Option<u64> {
        platform::disk_of(&self.path)
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }
}

/// Creates a directory with those above it that are missing, and makes their names durable: a synced file in a
/// directory whose name is lost is lost with it.
pub fn create_directory(path: &Path) -> io::Result<()> {
    if let Some(name) = platform::reserved_name(path) {
        return Err(io::Error::other(format!(
            "'{name}' is a device in Windows; choose another name"
        )));
    }
    let missing = path.ancestors().take_while(|path| !path.as_os_str().is_empty());
    let missing: Vec<&Path> = missing.take_while(|path| !path.exists()).collect();
    std::fs::create_dir_all(path)?;
    missing.iter().try_for_each(|path| sync_names(directory(path)))
}

struct Appended {
    file: File,
    place: Place,
}

impl Append for Appended {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        io::Write::write_all(&mut self.file, bytes).map_err(|e| self.place.error(e))
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        platform::sync_file(&self.file).map_err(|e| self.place.error(e))
    }
}

/// A file being read: by positioned reads, or mapped.
struct OpenFile {
    file: File,
    map: Option<Arc<Mmap>>,
    len: u64,
    place: Place,
}

#[allow(unsafe_code)]
fn mapped(file: &File) -> io::Result<Arc<Mmap>> {
    // SAFETY: the bytes are only read. Files of a run are removed, never truncated or rewritten, while one process
    // holds the run's lock; scratch files still grow, but beyond what has been mapped, and bytes whose space is freed
    // have been copied before.
    unsafe { Mmap::map(file) }.map(Arc::new)
}

impl OpenFile {
    fn bytes(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        within(offset, len, self.len)?;
        let Some(map) = &self.map else {
            return read_at(&self.file, offset, len).map(Bytes::Owned);
        };
        let start = offset as usize;
        #[cfg(target_os = "linux")]
        if len > 0 {
            // Reads the pages here and now, on the thread that reads ahead; a disk error becomes an error. Linux before
            // 5.14 does not support this advice: there the pages are read on page faults.
            let populated = map.advise_range(memmap2::Advice::PopulateRead, start, len);
            populated.or_else(|error| match error.kind() {
                ErrorKind::InvalidInput => Ok(()),
                _ => Err(error),
            })?;
        }
        Ok(Bytes::Mapped(Arc::clone(map), start..start + len))
    }
}

impl ReadAt for OpenFile {
    fn len(&self) -> u64 {
        self.len
    }

    fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError> {
        self.bytes(offset, len).map_err(|e| self.place.error(e))
    }

    fn place(&self) -> &Place {
        &self.place
    }
}

/// Rejects a range that extends beyond the end, before memory is allocated for it.
fn within(offset: u64, len: usize, file: u64) -> io::Result<()> {
    match offset.checked_add(len as u64) {
        Some(end) if end <= file => Ok(()),
        _ => Err(io::Error::from(ErrorKind::UnexpectedEof)),
    }
}

// A directory in memory.

/// The bytes of a file, which may have several names.
type MemoryBytes = Arc<Mutex<Vec<u8>>>;

/// A directory in memory, which is private and never fails. Clones refer to the same directory.
#[derive(Clone, Debug, Default)]
pub struct MemoryDirectory {
    files: Arc<Mutex<BTreeMap<String, MemoryBytes>>>,
}

impl MemoryDirectory {
    fn file(&self, name: &str) -> Result<MemoryBytes, StorageError> {
        let file = self.files.lock().get(name).cloned();
        file.ok_or_else(|| self.error(name, io::Error::from(ErrorKind::NotFound)))
    }
}

impl Append for MemoryBytes {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.lock().extend(bytes);
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        Ok(())
    }
}

impl Storage for MemoryDirectory {
    fn create(&self, name: &str) -> Result<Box<dyn Append>, StorageError> {
        let file = MemoryBytes::default();
        self.files.lock().insert(name.into(), file.clone());
        Ok(Box::new(file))
    }

    fn open(&self, name: &str) -> Result<Box<dyn ReadAt>, StorageError> {
        let file = self.file(name)?;
        Ok(Box::new(file.lock().clone()))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), StorageError> {
        self.link(from, to)?;
        self.remove(from)
    }

    fn link(&self, from: &str, to: &str) -> Result<(), StorageError> {
        let file = self.file(from)?;
        self.files.lock().insert(to.into(), file);
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), StorageError> {
        self.files.lock().remove(name);
        Ok(())
    }

    fn list(&self) -> Result<Vec<String>, StorageError> {
        Ok(self.files.lock().keys().cloned().collect())
    }

    fn sync_names(&self) -> Result<(), StorageError> {
        Ok(())
    }

    fn lock(&self) -> Result<Option<Lock>, StorageError> {
        Ok(Some(Box::new(())))
    }

    fn name(&self) -> String {
        "memory".into()
    }
}

// Waiting for the lock of a directory, and removing what remains of it.

/// Time between two attempts to lock, and time after which waiting is reported.
const AGAIN: Duration = Duration::from_millis(50);

const SILENT: Duration = Duration::from_millis(500);

/// Locks a directory. A process that has just been killed holds its lock until the system has freed its memory, so this
/// waits for it, at most for `patience`; `None` if the lock is still held after that.
pub fn lock_within(
    storage: &dyn Storage,
    patience: Duration,
) -> Result<Option<Lock>, StorageError> {
    let begun = Instant::now();
    let mut said = false;
    loop {
        if let Some(lock) = storage.lock()? {
            return Ok(Some(lock));
        }
        if begun.elapsed() >= patience {
            return Ok(None);
        }
        if !said && begun.elapsed() >= SILENT {
            said = true;
            tracing::warn!(
                "{}: waiting up to {} s for another process that is using this directory",
                storage.name(),
                patience.as_secs()
            );
        }
        std::thread::sleep(AGAIN);
    }
}

/// Removes a directory that contains nothing but a lock file that is not locked; leaves any other directory as it is.
pub fn remove_unused(path: &Path) {
    // A file with that name may belong to somebody else: lock files are empty.
    let lock_alone = |directory: &Directory| {
        directory.list().is_ok_and(|names| names == [LOCK])
            && directory.open(LOCK).is_ok_and(|file| file.is_empty())
    };
    if let Ok(directory) = Directory::open(path, Io::Read)
        && lock_alone(&directory)
        && let Ok(Some(_held)) = directory.lock()
    {
        // Whoever came meanwhile has files there by now, or fails to write the first one.
        let _ = directory.remove(LOCK);
    }
    // Refused by the system, as it should be, for a directory that contains anything.
    let _ = std::fs::remove_dir(path);
}
