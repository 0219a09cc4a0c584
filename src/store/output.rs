//! Outputs: files that appear complete or not at all, devices, and stdout.
//!
//! Invariant: the bytes of a file go to a temporary file beside it, which takes its name when all are on the
//! disk; dropped before, it is removed, and what a killed process left is removed by the next output to that
//! directory. Only a regular file is ever replaced: links are followed, and what is no regular file (a
//! device, a pipe) is written to as it is.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tempfile::NamedTempFile;

/// Bytes of one write.
const CHUNK: usize = 8 << 20;
/// Names of temporary files: these, with twelve random letters and digits between.
const NAME: (&str, &str) = (".tilewave-", ".part");
const RANDOM: usize = 12;
/// Most links that lead to a file.
const MAX_LINKS: usize = 40;

/// An output that cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// A file is in the way.
    #[error("'{}' exists: choose another name or give --force to replace it", .0.display())]
    Exists(PathBuf),
    /// The name is a directory's.
    #[error("cannot write '{}': it is a directory, name a file", .0.display())]
    Directory(PathBuf),
    /// The caller asked to stop.
    #[error("interrupted: nothing was written")]
    Interrupted,
    /// The system refused something.
    #[error("cannot write {}: {reason}{}", shown(.path), advice(.reason))]
    Io {
        /// The output, `-` for stdout.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
}

fn shown(path: &Path) -> String {
    match path.to_str() {
        Some("-") => "to stdout".into(),
        _ => format!("'{}'", path.display()),
    }
}

/// Returns what to do about an error of writing, to be put behind the error; nothing where nobody knows.
pub fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => "; free some space, or name a file on another disk",
        io::ErrorKind::QuotaExceeded => "; free some of your quota, or name a file on another disk",
        io::ErrorKind::FileTooLarge => {
            "; the limit is the file system's or that of 'ulimit -f', raise it or name a file elsewhere"
        }
        io::ErrorKind::ReadOnlyFilesystem => "; name a file on a disk that can be written",
        io::ErrorKind::PermissionDenied => "; name a file in a directory that you can write to",
        io::ErrorKind::NotFound => "; somebody removed its directory",
        io::ErrorKind::NotADirectory => "; a part of its path is a file",
        io::ErrorKind::InvalidFilename => "; choose a shorter name",
        _ => "",
    }
}

/// What a name stands for.
enum Target {
    Stdout,
    /// A device, a pipe: written to, never replaced.
    Device(PathBuf),
    /// A file, or a place for one; no link.
    File(PathBuf),
}

impl Target {
    fn of(path: &Path, replace: bool) -> Result<Target, OutputError> {
        if path == Path::new("-") {
            return Ok(Target::Stdout);
        }
        let mut target = path.to_path_buf();
        let mut open = false;
        for _ in 0..MAX_LINKS {
            let name = target.to_str().unwrap_or_default();
            if ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(&name) {
                return Ok(Target::Stdout);
            }
            // What is open already has links that lead nowhere.
            open = target.starts_with("/dev/fd") || target.starts_with("/proc");
            match std::fs::read_link(&target) {
                Ok(to) if !open => target = directory(&target).join(to),
                _ => break,
            }
        }
        let place = |target| match path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            true => Err(OutputError::Directory(path.to_path_buf())),
            false => Ok(Target::File(target)),
        };
        match std::fs::metadata(&target) {
            Ok(meta) if meta.is_dir() => Err(OutputError::Directory(path.to_path_buf())),
            Ok(meta) if open || !meta.is_file() => Ok(Target::Device(target)),
            Ok(_) if !replace => Err(OutputError::Exists(path.to_path_buf())),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(path)(error)),
            _ => place(target),
        }
    }
}

/// Where the bytes go.
#[derive(Debug)]
enum Place {
    Stdout,
    Device(File),
    File {
        temporary: NamedTempFile,
        target: PathBuf,
        replace: bool,
    },
}

/// An output being written.
#[derive(Debug)]
pub struct Output {
    /// The name that was given.
    path: PathBuf,
    place: Place,
}

impl Output {
    /// Checks that an output can be written, so that no long work ends with nowhere to put its result.
    /// Nothing is left behind. `replace` allows a file to exist.
    ///
    /// # Errors
    /// As [`Output::create`].
    pub fn check(path: &Path, replace: bool) -> Result<(), OutputError> {
        let Target::File(target) = Target::of(path, replace)? else {
            return Ok(());
        };
        // Missing directories are made when there is something to put there.
        let mut parents = directory(&target).ancestors();
        let existing = parents.find(|parent| parent.as_os_str().is_empty() || parent.exists());
        let existing = existing.filter(|parent| !parent.as_os_str().is_empty());
        match temporary(existing.unwrap_or(Path::new("."))) {
            Ok(_) => Ok(()),
            Err(error) => Err(failed(path)(error)),
        }
    }

    /// Starts an output: `-` is stdout; missing directories are made. `replace` allows a file to exist.
    ///
    /// # Errors
    /// [`OutputError::Exists`] when the file exists and may not be replaced, [`OutputError::Directory`], and
    /// what the system says of creating a file beside it.
    pub fn create(path: &Path, replace: bool) -> Result<Output, OutputError> {
        let start = |target| {
            Ok(match target {
                Target::Stdout => Place::Stdout,
                Target::Device(path) => Place::Device(OpenOptions::new().write(true).open(path)?),
                Target::File(target) => {
                    let directory = directory(&target);
                    std::fs::create_dir_all(directory)?;
                    remove_abandoned(directory);
                    let temporary = temporary(directory)?;
                    Place::File {
                        temporary,
                        target,
                        replace,
                    }
                }
            })
        };
        Ok(Output {
            path: path.to_path_buf(),
            place: start(Target::of(path, replace)?).map_err(failed(path))?,
        })
    }

    /// Returns whether a name stands for stdout, where nothing else should be printed then.
    pub fn is_stdout(path: &Path) -> bool {
        matches!(Target::of(path, true), Ok(Target::Stdout))
    }

    /// Writes a whole output, of a file by all threads of the current pool. Stops early when
    /// `progress(bytes done)` returns false.
    ///
    /// # Errors
    /// [`OutputError::Interrupted`], and what the system says of writing.
    pub fn write(
        &mut self,
        bytes: &[u8],
        progress: impl Fn(u64) -> bool + Sync,
    ) -> Result<(), OutputError> {
        let stopped = AtomicBool::new(false);
        let done = AtomicU64::new(0);
        let tell = |chunk: &[u8]| {
            let bytes = chunk.len() as u64;
            if !progress(done.fetch_add(bytes, Ordering::Relaxed) + bytes) {
                stopped.store(true, Ordering::Relaxed);
            }
        };
        let written = match &mut self.place {
            // One chunk needs no threads.
            Place::File { temporary, .. } if bytes.len() > CHUNK => {
                let file = temporary.as_file();
                file.set_len(bytes.len() as u64).and_then(|()| {
                    super::in_parallel(bytes.chunks(CHUNK), |i, chunk| {
                        if !stopped.load(Ordering::Relaxed) {
                            write_at(file, chunk, (i * CHUNK) as u64)?;
                            tell(chunk);
                        }
                        Ok(())
                    })
                })
            }
            _ => bytes.chunks(CHUNK).try_for_each(|chunk| {
                if !stopped.load(Ordering::Relaxed) {
                    io::Write::write_all(self, chunk)?;
                    tell(chunk);
                }
                Ok(())
            }),
        };
        written.map_err(failed(&self.path))?;
        match stopped.into_inner() {
            true => Err(OutputError::Interrupted),
            false => Ok(()),
        }
    }

    /// Gives the file its name, when its bytes are on the disk; the name is there when this returns.
    ///
    /// # Errors
    /// [`OutputError::Exists`] when somebody has made the file meanwhile and it may not be replaced, and
    /// what the system says of the last writes and of renaming.
    pub fn finish(mut self) -> Result<(), OutputError> {
        let path = &self.path;
        let flushed = match &mut self.place {
            Place::Stdout => io::stdout().flush(),
            Place::Device(device) => device.flush(),
            // The handle that wrote learns of what could not be written.
            Place::File { temporary, .. } => temporary.as_file().sync_all(),
        };
        flushed.map_err(failed(path))?;
        let Place::File {
            temporary,
            target,
            replace,
        } = self.place
        else {
            return Ok(());
        };
        let persisted = match replace {
            true => temporary.persist(&target),
            false => temporary.persist_noclobber(&target),
        };
        match persisted {
            Ok(_) => sync_names(directory(&target)).map_err(failed(path)),
            Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(OutputError::Exists(path.clone()))
            }
            Err(e) => Err(failed(path)(e.error)),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.place {
            Place::Stdout => io::stdout().write(bytes),
            Place::Device(device) => device.write(bytes),
            Place::File { temporary, .. } => temporary.as_file_mut().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &self.place {
            Place::Stdout => io::stdout().flush(),
            _ => Ok(()),
        }
    }
}

/// Returns a function that names the output of an error.
pub(crate) fn failed(path: &Path) -> impl Fn(io::Error) -> OutputError {
    move |error| {
        // tempfile appends the name of its file, which would only puzzle.
        let text = error.to_string();
        let reason = match text.split_once(" at path ") {
            Some((reason, _)) => io::Error::new(error.kind(), reason.to_string()),
            None => error,
        };
        OutputError::Io {
            path: path.to_path_buf(),
            reason,
        }
    }
}

/// The directory of a file.
pub(super) fn directory(path: &Path) -> &Path {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// A new file with the permissions of any new file of the user, locked as long as it is open.
fn temporary(directory: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(NAME.0).rand_bytes(RANDOM).suffix(NAME.1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The system takes the user's mask off.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    loop {
        let file = builder.tempfile_in(directory)?;
        // Another process may take it for abandoned before it is locked: then try another. Where there are
        // no locks, nobody takes anything for abandoned.
        let locked = file.as_file().try_lock();
        if !matches!(locked, Err(TryLockError::WouldBlock)) && has_name(file.as_file())? {
            return Ok(file);
        }
    }
}

fn has_name(file: &File) -> io::Result<bool> {
    #[cfg(unix)]
    return Ok(std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) > 0);
    #[cfg(not(unix))]
    return file.metadata().map(|_| true);
}

/// Removes the temporary files of processes that are no more: those that nobody has locked.
fn remove_abandoned(directory: &Path) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let random = name.to_str().and_then(|name| {
            let random = name.strip_prefix(NAME.0)?.strip_suffix(NAME.1)?;
            Some(random.len() == RANDOM && random.bytes().all(|b| b.is_ascii_alphanumeric()))
        });
        if random != Some(true) || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let file = OpenOptions::new().write(true).open(entry.path());
        if file.is_ok_and(|file| file.try_lock().is_ok()) {
            // What cannot be removed stays, as it would without trying.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Makes the names in a directory durable, where the system knows how to: elsewhere renames are durable by
/// journal.
pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(directory).and_then(|directory| directory.sync_all())?;
    #[cfg(not(unix))]
    let _ = directory;
    Ok(())
}

/// The same for a result, which is there whether its name would outlive a power cut or not.
pub(super) fn sync_names(directory: &Path) -> io::Result<()> {
    match sync_directory(directory) {
        // Network and FUSE file systems may have no such call; a directory may be written but not read.
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::InvalidInput
                    | io::ErrorKind::Unsupported
                    | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        bytes = &bytes[written..];
        offset += written as u64;
    }
    Ok(())
}

#[cfg(test)]
#[path = "../../tests/unit/output.rs"]
mod tests;
