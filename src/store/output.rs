//! Output files that appear complete or not at all.
//!
//! Invariant: bytes go to a temporary file beside the target, which takes the target's name when all are
//! written; dropped before, it is removed.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use tempfile::NamedTempFile;

/// Bytes of one write.
const CHUNK: usize = 8 << 20;

/// A file being written.
#[derive(Debug)]
pub struct Output {
    temporary: NamedTempFile,
    target: PathBuf,
    replace: bool,
}

impl Output {
    /// Starts a file; `replace` allows the target to exist.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] when the target exists and may not be replaced, and what the
    /// system says of creating a file beside it.
    pub fn create(target: &Path, replace: bool) -> io::Result<Output> {
        if !replace && target.symlink_metadata().is_ok() {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists));
        }
        let directory = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".tilewave-").suffix(".part");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any new file: the system takes the user's mask off.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        Ok(Output {
            temporary: builder.tempfile_in(directory)?,
            target: target.to_path_buf(),
            replace,
        })
    }

    /// Returns the file, to be written to.
    pub fn file(&mut self) -> &mut File {
        self.temporary.as_file_mut()
    }

    /// Writes bytes from the beginning of the file, by all threads of the current pool. Stops early,
    /// with [`io::ErrorKind::Interrupted`], when `progress(bytes done)` returns false.
    ///
    /// # Errors
    /// What the system says of writing.
    pub fn write(&mut self, bytes: &[u8], progress: impl Fn(u64) -> bool + Sync) -> io::Result<()> {
        let file = self.temporary.as_file();
        let stopped = AtomicBool::new(false);
        let done = std::sync::atomic::AtomicU64::new(0);
        file.set_len(bytes.len() as u64)?;
        bytes
            .par_chunks(CHUNK)
            .enumerate()
            .try_for_each(|(i, chunk)| {
                if stopped.load(Ordering::Relaxed) {
                    return Err(io::Error::from(io::ErrorKind::Interrupted));
                }
                write_at(file, chunk, (i * CHUNK) as u64)?;
                let bytes = chunk.len() as u64;
                if !progress(done.fetch_add(bytes, Ordering::Relaxed) + bytes) {
                    stopped.store(true, Ordering::Relaxed);
                    return Err(io::Error::from(io::ErrorKind::Interrupted));
                }
                Ok(())
            })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] when somebody has created the target meanwhile and it may not be
    /// replaced, and what the system says of renaming.
    pub fn finish(self) -> io::Result<()> {
        let persisted = if self.replace {
            self.temporary.persist(&self.target)
        } else {
            self.temporary.persist_noclobber(&self.target)
        };
        persisted.map(drop).map_err(|e| e.error)
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
mod tests {
    use super::*;

    #[test]
    fn an_output_appears_when_finished_and_not_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let mut output = Output::create(&path, false).unwrap();
        output.write(&[7; 100], |_| true).unwrap();
        assert!(!path.exists());
        output.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), [7; 100]);

        let again = Output::create(&path, false).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        let mut output = Output::create(&path, true).unwrap();
        output.write(&[8; 10], |_| false).unwrap_err();
        drop(output);
        assert_eq!(std::fs::read(&path).unwrap(), [7; 100]);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
