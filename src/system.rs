//! Failures of the machine, and errors in the program's own files.
//!
//! Invariant: an error in a file says which file it is, what it should be, and how to get a good one.

use std::{
    fs::{File, Metadata},
    io,
    path::{Path, PathBuf},
};

use crate::hint::{Hint, THREADS};

/// Memory, threads or instructions are not available, or a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SystemError {
    /// The system refused memory.
    #[error(
        "cannot allocate {bytes} bytes of memory: {reason}; close other programs, or choose a \
         smaller puzzle"
    )]
    Memory {
        /// Number of bytes requested.
        bytes: u64,
        /// The reason reported by the system.
        reason: String,
    },
    /// There is no memory for the tables of a codec.
    #[error(
        "not enough memory to compress or decompress data: close other programs, or use fewer \
         threads ({THREADS})"
    )]
    CodecMemory,
    /// The worker threads could not be started.
    #[error("cannot start {}worker threads: {reason}; use fewer threads ({THREADS})", number(*threads))]
    Threads {
        /// Number of threads requested, 0 for one per core.
        threads: usize,
        /// The reason reported by the system.
        reason: String,
    },
    /// There is no kernel with this name.
    #[error("'{0}' is not a kernel: choose scalar, neon, avx2 or avx512")]
    UnknownKernel(String),
    /// The processor lacks the instructions of a kernel.
    #[error(
        "this processor cannot run the {0} kernel: choose another kernel, or leave the choice to \
         tilewave"
    )]
    UnsupportedKernel(&'static str),
    /// A file cannot be read.
    #[error("{action} '{}': {reason}{}", path.display(), read_advice(.action, .reason))]
    Read {
        /// The action that failed: `cannot open`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason reported by the system.
        reason: io::Error,
    },
    /// The file is not what it should be.
    #[error("{}", .problem.of(path, kind))]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The expected kind of file.
        kind: FileKind,
        /// The error.
        problem: FileProblem,
    },
    /// A mapped file was modified after it was checked.
    #[error(
        "'{}' was changed while it was in use: try again, and do not change the file meanwhile",
        path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The output file already exists.
    #[error(
        "'{}' already exists: choose another name, or replace it with {}",
        .0.display(), Hint::Setting("force")
    )]
    Exists(PathBuf),
    /// The output is a directory.
    #[error("cannot write '{}': it is a directory; specify a file", .0.display())]
    Directory(PathBuf),
    /// The directory of the output does not exist.
    #[error("cannot write '{}': there is no directory '{}'; create it first", path.display(), directory.display())]
    NoDirectory {
        /// The output.
        path: PathBuf,
        /// The directory.
        directory: PathBuf,
    },
    /// The observer asked to stop.
    #[error("interrupted: nothing was written")]
    Interrupted,
    /// An output could not be written.
    #[error("cannot write {}: {reason}{}", shown(.path), advice(.reason))]
    Write {
        /// The output, `-` for stdout.
        path: PathBuf,
        /// The reason reported by the system.
        reason: io::Error,
    },
}

impl SystemError {
    /// Returns the error in a file that was read.
    pub fn problem(&self) -> Option<&FileProblem> {
        match self {
            SystemError::Wrong { problem, .. } => Some(problem),
            _ => None,
        }
    }

    /// Returns whether the error is a damaged file.
    pub fn is_damage(&self) -> bool {
        use FileProblem::{Damaged, Header, Length, Line};
        matches!(self.problem(), Some(Length { .. } | Header(_) | Damaged { .. } | Line { .. }))
    }

    /// Returns a function that says of an error which file or directory cannot be opened.
    pub fn unopened(path: &Path) -> impl Fn(io::Error) -> SystemError {
        SystemError::io("cannot open", path)
    }

    /// Returns a function that adds the action and the file to an error.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl Fn(io::Error) -> SystemError {
        let path = path.to_path_buf();
        move |reason| SystemError::Read { action, path: path.clone(), reason }
    }
}

/// Opens a file that is not a directory, for reading.
pub fn opened(path: &Path) -> io::Result<(File, Metadata)> {
    let file = File::open(path).map_err(directories(path))?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok((file, metadata))
}

/// Returns a function that says of a directory in place of a file what it is: Windows says only that access to it is
/// denied.
pub fn directories(path: &Path) -> impl Fn(io::Error) -> io::Error {
    move |error| match error.kind() {
        io::ErrorKind::PermissionDenied if path.is_dir() => io::ErrorKind::IsADirectory.into(),
        _ => error,
    }
}

/// A requested number of threads, in front of what it counts.
fn number(threads: usize) -> String {
    if threads == 0 { String::new() } else { format!("{threads} ") }
}

fn shown(path: &Path) -> String {
    match path.to_str() {
        Some("-") => "to stdout".into(),
        _ => format!("'{}'", path.display()),
    }
}

/// Returns advice about a file or directory that cannot be opened.
fn read_advice(action: &str, error: &io::Error) -> &'static str {
    match error.kind() {
        _ if action != "cannot open" => "",
        io::ErrorKind::NotFound => "; check the path",
        io::ErrorKind::NotADirectory => "; specify a directory",
        io::ErrorKind::PermissionDenied => "; change its permissions, or choose another file",
        _ => "",
    }
}

/// Returns advice about a write error, to be appended to the message; empty if there is none.
pub fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => "; free some space, or choose a file on another disk",
        io::ErrorKind::QuotaExceeded => {
            "; free some of your quota, or choose a file on another disk"
        }
        io::ErrorKind::FileTooLarge => {
            "; the file is too large for the file system or exceeds the limit of 'ulimit -f': \
             raise the limit, or choose a file elsewhere"
        }
        io::ErrorKind::ReadOnlyFilesystem => "; choose a file on a disk that can be written to",
        io::ErrorKind::PermissionDenied => "; choose a file in a directory that you can write to",
        io::ErrorKind::ResourceBusy => {
            "; close the programs that use the file, or choose another name"
        }
        io::ErrorKind::NotFound => "; the directory of the file was removed",
        io::ErrorKind::NotADirectory => "; a part of the path is a file, not a directory",
        io::ErrorKind::InvalidFilename if cfg!(windows) => {
            "; choose a name without any of < > : \" | ? *"
        }
        io::ErrorKind::InvalidFilename => "; choose a shorter name",
        _ => "",
    }
}

/// An error in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileProblem {
    /// It is not a file of this library.
    Other,
    /// It is a different kind of file of this library, given here.
    Another(&'static str),
    /// It has a format that is no longer supported and was only written by earlier versions.
    Retired(&'static str),
    /// It has a different version of the format.
    Version {
        /// Its version.
        found: u32,
        /// The supported version.
        supported: u32,
    },
    /// It is shorter or longer than its header specifies.
    Length {
        /// Its length.
        found: u64,
        /// The length according to its header.
        expected: u64,
    },
    /// The header or a small section is damaged, as described here.
    Header(&'static str),
    /// Entries are damaged.
    Damaged {
        /// The first damaged block found.
        block: u64,
        /// Number of blocks.
        blocks: u64,
    },
    /// A line of a journal is damaged.
    Line {
        /// Its number, from 1.
        line: u64,
    },
}

impl FileProblem {
    fn of(&self, path: &Path, FileKind { noun, build: how }: &FileKind) -> String {
        let name = path.display();
        let by = |build: &str| match how {
            Some(hint) => format!("{build} one with {hint}"),
            None => "choose another file".into(),
        };
        let (make, again) = (by("build"), by("build a new"));
        match self {
            FileProblem::Other => format!("'{name}' is not a {noun}: {make}"),
            FileProblem::Another(is) => format!("'{name}' is a {is}, not a {noun}: {make}"),
            FileProblem::Version { found, supported } => format!(
                "'{name}' is a {noun} with format version {found}, but this program reads version \
                 {supported}: {make}, or use a matching version of tilewave"
            ),
            FileProblem::Retired(what) => format!("'{name}' is a {noun} {what}: {make}"),
            FileProblem::Length { found, expected } => format!(
                "the {noun} '{name}' has {found} bytes instead of {expected}, so it is truncated \
                 or damaged: copy it again, or {again}"
            ),
            FileProblem::Header(what) => {
                format!("the {noun} '{name}' is damaged ({what}): copy it again, or {again}")
            }
            FileProblem::Damaged { block, blocks } => format!(
                "the {noun} '{name}' is damaged in block {} of {blocks}: copy it again, or {again}",
                block + 1
            ),
            FileProblem::Line { line: 1 } => {
                format!("line 1 of the {noun} '{name}' is damaged: {make}")
            }
            FileProblem::Line { line } => format!(
                "line {line} of the {noun} '{name}' is damaged: keep only the lines before it \
                 (head -n {}) to continue from there, or {make}",
                line - 1
            ),
        }
    }
}

/// The name of a kind of file, and how to make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileKind {
    /// `distance table`.
    pub noun: &'static str,
    /// What builds one, if anything does.
    pub build: Option<Hint<'static>>,
}

impl FileKind {
    pub(crate) fn wrong(self, path: &Path, problem: FileProblem) -> SystemError {
        SystemError::Wrong { path: path.to_path_buf(), kind: self, problem }
    }
}

/// The processor time of this machine and of this process since a moment, to know how busy other processes are.
pub(crate) struct OtherWork([u64; 3]);

impl OtherWork {
    /// Begins to measure; `None` if the system does not report processor times.
    pub fn begin() -> Option<OtherWork> {
        OtherWork::times().map(OtherWork)
    }

    /// Returns the share of the processor time that others have used since the beginning; `None` if that was too short
    /// a time.
    pub fn share(&self) -> Option<f64> {
        let now = OtherWork::times()?;
        let [all, idle, own] = [0, 1, 2].map(|i| now[i].saturating_sub(self.0[i]));
        let others = all.saturating_sub(idle).saturating_sub(own);
        (all >= OtherWork::LEAST).then(|| others as f64 / all as f64)
    }

    /// Hundredths of a second, of all processors together, below which a share says nothing.
    const LEAST: u64 = 20;

    /// All time and idle time of the processors, and the time of this process, in hundredths of a second.
    fn times() -> Option<[u64; 3]> {
        let numbers = |text: &str| -> Vec<u64> {
            text.split_whitespace().map(|word| word.parse().unwrap_or(0)).collect()
        };
        let all = std::fs::read_to_string("/proc/stat").ok()?;
        // User, nice, system, idle, waiting for disks, interrupts, soft interrupts, other virtual machines.
        let all = numbers(all.lines().next()?.strip_prefix("cpu ")?);
        let own = std::fs::read_to_string("/proc/self/stat").ok()?;
        // Behind the name in brackets, which may contain anything.
        let own = numbers(own.rsplit_once(')')?.1);
        Some([all.iter().take(8).sum(), all.get(3)? + all.get(4)?, own.get(11)? + own.get(12)?])
    }
}
