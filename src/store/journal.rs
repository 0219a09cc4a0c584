//! Journals: files of lines that are only ever appended to, so that work continues where it was interrupted.
//!
//! Invariant: a line that was written completely is permanent, and every line carries a checksum of itself and of all
//! lines before it: lines that are damaged, removed, added or moved are detected. The remains of the last line of a
//! killed process are removed by the next process that appends to the file; nothing else is ever changed.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use twox_hash::XxHash3_64;

use crate::{
    store::output::{directory, failed, sync_names},
    system::{FileKind, FileProblem, SystemError, directories},
};

/// Lines are on the disk after this time at the latest, if others follow; a process that is killed loses no lines.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// The text before and after the checksum of a line.
const SUM: (&str, &str) = (",\"sum\":\"", "\"}");

/// Number of digits of a checksum.
const DIGITS: usize = 16;

/// A journal, locked for this process.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Size of the valid lines in bytes.
    end: u64,
    /// Checksum of the last line, which the next one continues.
    sum: u64,
    /// Whether the name of the file is known to be on the disk.
    named: bool,
    synced: Instant,
}

impl Journal {
    /// Opens a journal, which is created if it does not exist, and returns its lines: JSON objects without their
    /// checksums. A file whose first line does not begin with `opening` is not such a journal.
    ///
    /// # Errors
    /// [`SystemError::Read`], also if another process has opened it, and [`SystemError::Wrong`] for a file of a
    /// different kind or a damaged line.
    pub fn open(
        path: &Path,
        kind: FileKind,
        opening: &str,
    ) -> Result<(Journal, Vec<String>), SystemError> {
        let io = |action| SystemError::io(action, path);
        let options = || OpenOptions::new().read(true).write(true).clone();
        let opened = match options().open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                options().create_new(true).open(path)
            }
            opened => opened,
        };
        let mut file = opened.map_err(directories(path)).map_err(io("cannot open"))?;
        if !file.metadata().is_ok_and(|meta| meta.is_file()) {
            return Err(kind.wrong(path, FileProblem::Other));
        }
        // If there are no locks, this cannot be determined.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            let reason = io::Error::other("another process is writing to this file");
            return Err(io("cannot open")(reason));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io("cannot read"))?;
        let (lines, end, sum) = unsealed(&bytes, path, kind, opening)?;
        let path = path.to_path_buf();
        Ok((Journal { path, file, end, sum, named: false, synced: Instant::now() }, lines))
    }

    /// Returns the current lines, even while another process appends to them; errors are those of [`Journal::open`].
    pub fn read(path: &Path, kind: FileKind, opening: &str) -> Result<Vec<String>, SystemError> {
        let bytes = std::fs::read(path).map_err(directories(path));
        let bytes = bytes.map_err(SystemError::io("cannot read", path))?;
        Ok(unsealed(&bytes, path, kind, opening)?.0)
    }

    /// Appends a line, a JSON object with at least one member. It survives the end of this process at once, and a crash
    /// of the machine after a second.
    pub fn append(&mut self, object: &str) -> Result<(), SystemError> {
        let mut sum = self.sum;
        let line = seal(object, &mut sum);
        let mut add = || {
            if self.file.metadata()?.len() != self.end {
                self.file.set_len(self.end)?;
            }
            self.file.seek(SeekFrom::Start(self.end))?;
            self.file.write_all(line.as_bytes())
        };
        add().map_err(failed(&self.path))?;
        (self.end, self.sum) = (self.end + line.len() as u64, sum);
        if !self.named || self.synced.elapsed() >= SYNC_EVERY {
            self.sync()?;
        }
        Ok(())
    }

    pub fn sync(&mut self) -> Result<(), SystemError> {
        let name = || if self.named { Ok(()) } else { sync_names(directory(&self.path)) };
        self.file.sync_data().and_then(|()| name()).map_err(failed(&self.path))?;
        (self.named, self.synced) = (true, Instant::now());
        Ok(())
    }
}

/// The lines of a journal, their end, and the checksum of the last line.
fn unsealed(
    bytes: &[u8],
    path: &Path,
    kind: FileKind,
    opening: &str,
) -> Result<(Vec<String>, u64, u64), SystemError> {
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let begins = bytes.len().min(opening.len());
    if bytes[..begins] != opening.as_bytes()[..begins] {
        return Err(kind.wrong(path, FileProblem::Other));
    }
    let (mut lines, mut sum) = (Vec::new(), 0);
    for line in bytes[..whole].split_inclusive(|&byte| byte == b'\n') {
        let line_number = lines.len() as u64 + 1;
        let unsealed = unseal(&line[..line.len() - 1], &mut sum);
        let damaged = || kind.wrong(path, FileProblem::Line { line: line_number });
        lines.push(unsealed.ok_or_else(damaged)?);
    }
    Ok((lines, whole as u64, sum))
}

/// A line: an object with one additional member, the checksum of everything before it and of the previous line.
fn seal(object: &str, sum: &mut u64) -> String {
    let open = object.strip_suffix('}').unwrap_or(object);
    *sum = XxHash3_64::oneshot_with_seed(*sum, open.as_bytes());
    format!("{open}{}{sum:016x}{}\n", SUM.0, SUM.1)
}

/// The object of a line, if its checksum is right.
fn unseal(line: &[u8], sum: &mut u64) -> Option<String> {
    let line = std::str::from_utf8(line).ok()?;
    let (open, digits) = line
        .strip_suffix(SUM.1)?
        .split_at_checked(line.len().checked_sub(SUM.0.len() + DIGITS + SUM.1.len())?)?;
    *sum = XxHash3_64::oneshot_with_seed(*sum, open.as_bytes());
    let right = digits.strip_prefix(SUM.0)? == format!("{sum:016x}");
    right.then(|| format!("{open}}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: FileKind = FileKind { noun: "journal of a test", build: None };

    fn open(path: &Path) -> Result<(Journal, Vec<String>), SystemError> {
        Journal::open(path, KIND, "{\"test\":")
    }

    fn written(path: &Path, numbers: std::ops::Range<u32>) -> Vec<String> {
        let (mut journal, before) = open(path).unwrap();
        for n in numbers {
            journal.append(&format!("{{\"test\":{n}}}")).unwrap();
        }
        before
    }

    #[test]
    fn lines_come_back_and_more_follow() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        assert!(written(&path, 0..3).is_empty());
        assert_eq!(written(&path, 3..5), ["{\"test\":0}", "{\"test\":1}", "{\"test\":2}"]);
        assert_eq!(open(&path).unwrap().1.len(), 5);
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(value["sum"].as_str().unwrap().len(), DIGITS);
        }
    }

    #[test]
    fn half_a_last_line_is_cut_off_by_the_next_and_not_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        written(&path, 0..3);
        let bytes = std::fs::read(&path).unwrap();
        for cut in 0..bytes.len() {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let whole = cut / (bytes.len() / 3);
            assert_eq!(open(&path).unwrap().1.len(), whole, "{cut}");
            assert_eq!(std::fs::read(&path).unwrap(), bytes[..cut]);
            let next = whole as u32..3;
            assert_eq!(written(&path, next).len(), whole);
            assert_eq!(std::fs::read(&path).unwrap(), bytes, "{cut}");
        }
    }

    #[test]
    fn every_change_is_found_and_the_line_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        written(&path, 0..4);
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let damaged = |lines: &[&str]| {
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            let error = open(&path).unwrap_err();
            let Some(FileProblem::Line { line }) = error.problem() else {
                panic!("{error}");
            };
            *line
        };
        assert_eq!(damaged(&[lines[0], lines[2], lines[3]]), 2, "removed");
        assert_eq!(damaged(&[lines[0], lines[2], lines[1]]), 2, "moved");
        assert_eq!(damaged(&[lines[0], lines[0]]), 2, "doubled");
        let other = lines[2].replace("\"test\":2", "\"test\":7");
        assert_eq!(damaged(&[lines[0], lines[1], &other]), 3, "changed");
        assert_eq!(damaged(&[lines[0], "", lines[1]]), 2, "empty");
        assert_eq!(damaged(&[lines[0], "\u{fc}\"}"]), 2, "short");
    }

    #[test]
    fn what_is_somebody_elses_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        for other in ["a table of mine", "{\"tes", "{\"text\":1}\n", "\n"] {
            std::fs::write(&path, other).unwrap();
            match (open(&path), other) {
                (Ok((_, lines)), "{\"tes") => assert!(lines.is_empty(), "half a first line"),
                (opened, _) => {
                    let error = opened.unwrap_err();
                    assert_eq!(error.problem(), Some(&FileProblem::Other), "{other}");
                }
            }
            assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
        }
        assert!(open(dir.path()).is_err());
    }

    #[test]
    fn one_process_writes_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let first = open(&path).unwrap();
        let error = open(&path).unwrap_err().to_string();
        assert!(error.contains("another process"), "{error}");
        drop(first);
        open(&path).unwrap();
    }
}
