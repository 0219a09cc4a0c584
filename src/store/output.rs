//! Outputs: files that appear complete or not at all, devices, and stdout.
//!
//! Invariant: the bytes of a file go to a temporary file in the same directory, which is renamed when all of them are
//! on the disk. If it is dropped earlier, it is removed; the temporary files of a killed process are removed by the
//! next output to this directory. Only a regular file is ever replaced: links are followed, and anything that is not a
//! regular file (a device, a pipe) is written to directly.

use std::{
    fs::{OpenOptions, TryLockError},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use tempfile::NamedTempFile;

use crate::{
    store::{
        Array, Image, Mapped,
        platform::{self, has_name, write_at},
    },
    system::SystemError,
    threads::in_parallel,
};

/// Number of bytes per write.
const CHUNK: usize = 8 << 20;

/// Names of temporary files: these two parts, with twelve random letters and digits between them.
const NAME: (&str, &str) = (".tilewave-", ".part");

const RANDOM: usize = 12;

/// Maximum number of links that may lead to a file.
const MAX_LINKS: usize = 40;

/// The object that a name refers to.
enum NameTarget {
    Stdout,
    /// A device or a pipe: written to, never replaced.
    Device(PathBuf),
    /// A regular file, or the path for a new one; not a link.
    File(PathBuf),
}

impl NameTarget {
    fn of(path: &Path, replace: bool) -> Result<NameTarget, SystemError> {
        if path == Path::new("-") {
            return Ok(NameTarget::Stdout);
        }
        let mut target = path.to_path_buf();
        let mut open = false;
        for _ in 0..MAX_LINKS {
            let name = target.to_str().unwrap_or_default();
            if ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(&name) {
                return Ok(NameTarget::Stdout);
            }
            // A file that is already open may have links that lead nowhere.
            open = target.starts_with("/dev/fd") || target.starts_with("/proc");
            match std::fs::read_link(&target) {
                Ok(to) if !open => target = directory(&target).join(to),
                _ => break,
            }
        }
        let (path, directory) = (path.to_path_buf(), directory(&target).to_path_buf());
        if let Some(name) = platform::reserved_name(&path) {
            let reason =
                format!("'{name}' is a device in Windows, not a file; choose another name");
            return Err(failed(&path)(io::Error::other(reason)));
        }
        let last = path.as_os_str().as_encoded_bytes().last();
        let is_directory = last.is_some_and(|&byte| std::path::is_separator(byte.into()));
        match std::fs::metadata(&target) {
            Ok(meta) if meta.is_dir() => Err(SystemError::Directory(path)),
            Ok(meta) if open || !meta.is_file() => Ok(NameTarget::Device(target)),
            Ok(_) if !replace => Err(SystemError::Exists(path)),
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(&path)(error)),
            _ if is_directory => Err(SystemError::Directory(path)),
            // Windows says that such a path is not found.
            _ if directory.ancestors().any(Path::is_file) => {
                Err(failed(&path)(ErrorKind::NotADirectory.into()))
            }
            _ if !directory.is_dir() => Err(SystemError::NoDirectory { path, directory }),
            _ => Ok(NameTarget::File(target)),
        }
    }
}

/// The destination of the bytes.
enum OutputPlace {
    /// Stdout or a device.
    Stream(Box<dyn Write + Send>),
    File {
        temporary: NamedTempFile,
        target: PathBuf,
        replace: bool,
    },
}

/// An output being written.
pub struct Output {
    /// The name that was specified.
    path: PathBuf,
    place: OutputPlace,
}

impl Output {
    /// Checks that an output can be written, so that a long computation does not end without being able to write its
    /// result. Nothing is left behind. `replace` permits the file to exist.
    pub fn check(path: &Path, replace: bool) -> Result<(), SystemError> {
        match NameTarget::of(path, replace)? {
            NameTarget::File(to) => temporary(directory(&to)).map(drop).map_err(failed(path)),
            NameTarget::Stdout | NameTarget::Device(_) => Ok(()),
        }
    }

    /// Starts an output in an existing directory: `-` is stdout. `replace` permits the file to exist.
    pub fn create(path: &Path, replace: bool) -> Result<Output, SystemError> {
        let place = match NameTarget::of(path, replace)? {
            NameTarget::Stdout => OutputPlace::Stream(Box::new(io::stdout())),
            NameTarget::Device(target) => {
                let device = OpenOptions::new().write(true).open(target);
                OutputPlace::Stream(Box::new(device.map_err(failed(path))?))
            }
            NameTarget::File(target) => {
                remove_abandoned(directory(&target));
                let temporary = temporary(directory(&target)).map_err(failed(path))?;
                OutputPlace::File { temporary, target, replace }
            }
        };
        Ok(Output { path: path.to_path_buf(), place })
    }

    /// Returns whether a name stands for stdout; in that case, nothing else should be printed there.
    pub fn is_stdout(path: &Path) -> bool {
        matches!(NameTarget::of(path, true), Ok(NameTarget::Stdout))
    }

    /// Writes a complete output; for a file, with all threads of the current pool. Stops early if `progress(bytes
    /// done)` returns false.
    pub fn write(
        &mut self,
        bytes: &[u8],
        progress: impl Fn(u64) -> bool + Sync,
    ) -> Result<(), SystemError> {
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
            OutputPlace::File { temporary, .. } if bytes.len() > CHUNK => {
                let file = temporary.as_file();
                file.set_len(bytes.len() as u64).and_then(|()| {
                    in_parallel(bytes.chunks(CHUNK), |i, chunk| {
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
        if stopped.into_inner() { Err(SystemError::Interrupted) } else { Ok(()) }
    }

    /// Returns the bytes of a file of the given length, to be written in place.
    pub fn image(&mut self, len: u64) -> Result<Image, SystemError> {
        let OutputPlace::File { temporary, .. } = &self.place else {
            let reason = io::Error::other("a table that is filled on disk needs a file as output");
            return Err(failed(&self.path)(reason));
        };
        // SAFETY: the file is new and locked, and only this process writes to it until it has its name.
        #[allow(unsafe_code)]
        let array = unsafe { Array::of_file(temporary.as_file(), len) };
        let array = array.map_err(failed(&self.path))?;
        Ok(Image::Memory { array, len: len as usize })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name whose bytes were written in place, once they are on the disk, and maps it for reading.
    /// Nobody can write to it through this process any more, and Windows gives no name to a file that is mapped.
    pub fn finish_image(self, image: Image) -> Result<Mapped, SystemError> {
        image.flush().map_err(failed(&self.path))?;
        drop(image);
        let path = self.path.clone();
        self.finish()?;
        // SAFETY: this program replaces files and never writes to them; that others do not is what a caller asks for who
        // has a table filled in its file.
        #[allow(unsafe_code)]
        let mapped = unsafe { Mapped::open(&path) };
        mapped.map_err(SystemError::unopened(&path))
    }

    /// Gives the file its name once its bytes are on the disk; the name exists when this returns.
    pub fn finish(mut self) -> Result<(), SystemError> {
        let path = &self.path;
        let flushed = match &mut self.place {
            OutputPlace::Stream(stream) => stream.flush(),
            // The handle that wrote reports what could not be written.
            OutputPlace::File { temporary, .. } => platform::sync_file(temporary.as_file()),
        };
        flushed.map_err(failed(path))?;
        let OutputPlace::File { temporary, target, replace } = self.place else {
            return Ok(());
        };
        let persisted = if replace {
            platform::persist(temporary, &target)
        } else {
            temporary.persist_noclobber(&target).map(drop).map_err(|failed| failed.error)
        };
        match persisted {
            Ok(()) => sync_names(directory(&target)).map_err(failed(path)),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                Err(SystemError::Exists(path.clone()))
            }
            Err(e) => Err(failed(path)(e)),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.place {
            OutputPlace::Stream(stream) => stream.write(bytes),
            OutputPlace::File { temporary, .. } => temporary.as_file_mut().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.place {
            OutputPlace::Stream(stream) => stream.flush(),
            OutputPlace::File { .. } => Ok(()),
        }
    }
}

/// Returns a function that adds the output to an error.
pub(crate) fn failed(path: &Path) -> impl Fn(io::Error) -> SystemError {
    move |error| {
        // tempfile appends the name of its file, which would only confuse users.
        let text = error.to_string();
        let reason = match text.split_once(" at path ") {
            Some((reason, _)) => io::Error::new(error.kind(), reason.to_string()),
            None => error,
        };
        SystemError::Write { path: path.to_path_buf(), reason }
    }
}

/// The directory of a file.
pub(crate) fn directory(path: &Path) -> &Path {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// A new file with the default permissions of the user's new files, locked as long as it is open.
fn temporary(directory: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(NAME.0).rand_bytes(RANDOM).suffix(NAME.1);
    platform::permit(&mut builder);
    loop {
        let file = builder.tempfile_in(directory)?;
        // Another process may regard it as abandoned before it is locked: then try another name. If there are no locks,
        // nothing is regarded as abandoned.
        let locked = file.as_file().try_lock();
        if !matches!(locked, Err(TryLockError::WouldBlock)) && has_name(file.as_file())? {
            return Ok(file);
        }
    }
}

/// Removes the temporary files of processes that no longer exist: those that are not locked.
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
        // Locked until it is removed: another process that makes a file of this name sees that this one is lost.
        if let Ok(file) = OpenOptions::new().write(true).open(entry.path())
            && file.try_lock().is_ok()
        {
            // Files that cannot be removed stay, as they would without this attempt.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Makes the names in the directory of a result durable if the system can: the result is complete whether or not its
/// name would survive a power failure.
pub(crate) fn sync_names(directory: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match platform::sync_directory(directory) {
        // Network and FUSE file systems may not support this call; a directory may be writable but not readable.
        Err(e) if matches!(e.kind(), InvalidInput | Unsupported | PermissionDenied) => Ok(()),
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, replace: bool, bytes: &[u8]) -> Result<(), SystemError> {
        let mut output = Output::create(path, replace)?;
        output.write(bytes, |_| true)?;
        output.finish()
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn an_output_appears_when_finished_and_not_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let mut output = Output::create(&path, false).unwrap();
        output.write(&[7; 100], |_| true).unwrap();
        assert!(!path.exists());
        output.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), [7; 100]);

        for again in [Output::check(&path, false), Output::create(&path, false).map(drop)] {
            assert!(matches!(again, Err(SystemError::Exists(_))));
        }
        for len in [10, 3 * CHUNK + 5] {
            let mut output = Output::create(&path, true).unwrap();
            let stopped = output.write(&vec![8; len], |_| false);
            assert!(matches!(stopped, Err(SystemError::Interrupted)));
        }
        assert_eq!(std::fs::read(&path).unwrap(), [7; 100]);
        let long: Vec<u8> = (0..3 * CHUNK + 5).map(|i| (i % 251) as u8).collect();
        put(&path, true, &long).unwrap();
        assert!(std::fs::read(&path).unwrap() == long);
        // Created by another program while it was written.
        let other = dir.path().join("y");
        let late = Output::create(&other, false).unwrap();
        std::fs::write(&other, "theirs").unwrap();
        assert!(matches!(late.finish(), Err(SystemError::Exists(_))));
        assert_eq!(std::fs::read(&other).unwrap(), b"theirs");
        assert_eq!(names(dir.path()), ["x", "y"]);
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_links_are_never_replaced() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let kind = |path: &Path| path.symlink_metadata().unwrap().file_type();
        for device in ["/dev/null", "/dev/full"] {
            let link = dir.path().join(&device[5..]);
            symlink(device, &link).unwrap();
            for path in [Path::new(device), &link] {
                let result = put(path, true, b"abc");
                assert_eq!(result.is_ok(), device == "/dev/null", "{device}");
                assert!(kind(Path::new(device)).is_char_device());
            }
            assert!(kind(&link).is_symlink());
        }
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        symlink("file", &link).unwrap();
        put(&link, false, b"new").unwrap();
        assert!(matches!(put(&link, false, b""), Err(SystemError::Exists(_))));
        put(&link, true, b"newer").unwrap();
        assert!(kind(&link).is_symlink() && kind(&file).is_file());
        assert_eq!(std::fs::read(&file).unwrap(), b"newer");
        let around = dir.path().join("around");
        symlink("around", &around).unwrap();
        assert!(put(&around, true, b"").is_err());
        assert_eq!(names(dir.path()), ["around", "file", "full", "link", "null"]);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_others_write_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let kept = ["user.part", ".tilewave-short.part", ".tilewave-notes.txt"];
        for name in kept {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        std::fs::write(dir.path().join(".tilewave-a1B2c3D4e5F6.part"), "").unwrap();
        let mut other = Output::create(&dir.path().join("other"), false).unwrap();
        put(&dir.path().join("x"), false, b"").unwrap();
        assert_eq!(names(dir.path()).len(), kept.len() + 2);
        other.write(b"abc", |_| true).unwrap();
        other.finish().unwrap();
        let mut expected = kept.map(String::from).to_vec();
        expected.extend(["other".into(), "x".into()]);
        expected.sort_unstable();
        assert_eq!(names(dir.path()), expected);
    }

    #[test]
    fn missing_directories_are_named_and_not_made() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/c");
        let missing = dir.path().join("a/b");
        for result in [Output::check(&path, false), put(&path, false, b"abc")] {
            let text = result.unwrap_err().to_string();
            assert!(
                text.ends_with(&format!("no directory '{}'; create it first", missing.display()))
            );
        }
        assert!(names(dir.path()).is_empty());
        std::fs::create_dir_all(&missing).unwrap();
        put(&path, false, b"abc").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"abc");
        for (wrong, says) in [
            ("a/b", "it is a directory"),
            ("a/b/d/", "it is a directory"),
            ("a/b/c/d", "a part of the path is a file"),
            ("a/b/c/d/e", "a part of the path is a file"),
        ] {
            let path = dir.path().join(wrong);
            for result in [Output::check(&path, true), put(&path, true, b"")] {
                let text = result.unwrap_err().to_string();
                assert!(text.contains(says), "{wrong}: {text}");
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn stdout_has_many_names() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("-");
        std::os::unix::fs::symlink("/dev/stdout", &link).unwrap();
        for name in ["-", "/dev/stdout", "/dev/fd/1", link.to_str().unwrap()] {
            assert!(Output::is_stdout(Path::new(name)), "{name}");
        }
        assert!(!Output::is_stdout(Path::new("./-")));
        assert!(!Output::is_stdout(Path::new("/dev/null")));
    }

    #[test]
    fn the_advice_fits_the_error() {
        for (code, says) in [
            (28, "free some space"),
            (30, "can be written to"),
            (13, "you can write to"),
            (20, "a part of the path is a file"),
            (27, "ulimit"),
            (16, "close the programs that use the file"),
        ] {
            let text = failed(Path::new("x"))(io::Error::from_raw_os_error(code)).to_string();
            let one = text.contains(says) && text.matches(';').count() == 1;
            assert!(!cfg!(target_os = "linux") || one, "{code}: {text}");
        }
    }
}
