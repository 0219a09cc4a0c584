//! Where results go: stdout, or a file that is either there complete or not there at all.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use tempfile::NamedTempFile;

/// A file to be written: refused at once when it exists or its directory cannot be written, so that no
/// long search ends with nowhere to put its result.
pub struct OutputFile {
    path: PathBuf,
    force: bool,
    /// A device or a pipe: written to as it is, never replaced.
    special: bool,
}

impl OutputFile {
    /// Reserves a file. `force` allows replacing an existing one.
    ///
    /// Nothing stays in the directory meanwhile: a search that is killed leaves nothing behind.
    pub fn reserve(path: &Path, force: bool) -> Result<OutputFile> {
        let shown = path.display();
        let mut special = false;
        match std::fs::metadata(path) {
            Ok(meta) if meta.is_dir() => {
                return Err(anyhow!(
                    "cannot write '{shown}': it is a directory, name a file"
                ));
            }
            Ok(meta) if !meta.is_file() => special = true,
            Ok(_) if !force => return Err(exists(path)),
            _ => {}
        }
        if !special {
            drop(temporary(path).map_err(|e| failed(path, &e))?);
        }
        Ok(OutputFile {
            path: path.to_path_buf(),
            force,
            special,
        })
    }

    /// Writes the file and puts it in its place.
    pub fn write(self, bytes: &[u8]) -> Result<()> {
        let path = &self.path;
        if self.special {
            return std::fs::write(path, bytes).map_err(|e| failed(path, &e));
        }
        let mut file = temporary(path).map_err(|e| failed(path, &e))?;
        file.write_all(bytes)
            .and_then(|()| file.as_file().sync_all())
            .map_err(|e| failed(path, &e))?;
        let placed = if self.force {
            file.persist(path)
        } else {
            file.persist_noclobber(path)
        };
        match placed {
            Ok(_) => Ok(()),
            // Somebody else has made it during the search.
            Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => Err(exists(path)),
            Err(e) => Err(failed(path, &e.error)),
        }
    }
}

/// A new file beside `path`, with the permissions of any new file of the user.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tilewave-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The system takes the user's mask off.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(directory)
}

fn exists(path: &Path) -> anyhow::Error {
    let shown = path.display();
    anyhow!("'{shown}' exists: choose another name or give --force to replace it")
}

fn failed(path: &Path, error: &io::Error) -> anyhow::Error {
    let shown = path.display();
    // tempfile appends the name of its file, which would only puzzle.
    let text = error.to_string();
    let reason = text.split(" at path ").next().unwrap_or_default();
    anyhow!("cannot write '{shown}': {reason}; name a file in a directory that you can write to")
}

/// The `-o` and `--force` options.
#[derive(clap::Args)]
pub struct Output {
    /// Write the result to a file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Replace existing files.
    #[arg(long)]
    pub force: bool,
}

impl Output {
    /// Reserves the place of the result.
    pub fn reserve(&self) -> Result<Destination> {
        let reserve = |path: &PathBuf| OutputFile::reserve(path, self.force);
        let file = self.output.as_ref().map(reserve).transpose()?;
        Ok(Destination {
            file,
            held: String::new(),
        })
    }
}

/// The place of the result: a file, or stdout.
pub struct Destination {
    file: Option<OutputFile>,
    held: String,
}

impl Destination {
    /// Adds a part of the result: shown at once on stdout, held back for a file.
    pub fn add(&mut self, text: &str) -> Result<()> {
        if self.file.is_none() {
            return print(text);
        }
        self.held.push_str(text);
        Ok(())
    }

    /// Writes the file, if there is one, from its parts.
    pub fn finish(self) -> Result<()> {
        match self.file {
            Some(file) => file.write(self.held.as_bytes()),
            None => Ok(()),
        }
    }

    /// Writes the whole result.
    pub fn write(mut self, text: &str) -> Result<()> {
        self.add(text)?;
        self.finish()
    }
}

/// Writes text to stdout.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}
