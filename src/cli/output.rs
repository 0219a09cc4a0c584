//! Where results go: stdout, or a file that is either there complete or not there at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use tempfile::NamedTempFile;

/// A file to be written: refused at once when it exists or its directory cannot be written, so that no
/// long search ends with nowhere to put its result.
pub struct OutputFile {
    path: PathBuf,
    temporary: Option<NamedTempFile>,
}

impl OutputFile {
    /// Reserves a file. `force` allows replacing an existing one.
    pub fn reserve(path: &Path, force: bool) -> Result<OutputFile> {
        let shown = path.display();
        match std::fs::metadata(path) {
            Ok(meta) if meta.is_dir() => {
                return Err(anyhow!(
                    "cannot write '{shown}': it is a directory, name a file"
                ));
            }
            // A device or a pipe is written to as it is.
            Ok(meta) if !meta.is_file() => {
                return Ok(OutputFile {
                    path: path.to_path_buf(),
                    temporary: None,
                });
            }
            Ok(_) if !force => {
                return Err(anyhow!(
                    "'{shown}' exists: choose another name or give --force to replace it"
                ));
            }
            _ => {}
        }
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let temporary = tempfile::Builder::new()
            .prefix(".tilewave-")
            .tempfile_in(directory)
            .with_context(|| format!("cannot write '{shown}'"))?;
        Ok(OutputFile {
            path: path.to_path_buf(),
            temporary: Some(temporary),
        })
    }

    /// Writes the file and puts it in its place.
    pub fn write(self, bytes: &[u8]) -> Result<()> {
        let failed = || format!("cannot write '{}'", self.path.display());
        let Some(mut temporary) = self.temporary else {
            return std::fs::write(&self.path, bytes).with_context(failed);
        };
        temporary
            .write_all(bytes)
            .and_then(|()| temporary.as_file().sync_all())
            .with_context(failed)?;
        readable(temporary.as_file()).with_context(failed)?;
        temporary
            .persist(&self.path)
            .map_err(|e| e.error)
            .with_context(failed)?;
        Ok(())
    }
}

/// Temporary files are private; results get the permissions that any new file of the user would have.
#[cfg(unix)]
fn readable(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable(_file: &std::fs::File) -> std::io::Result<()> {
    Ok(())
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
        Ok(Destination(self.output.as_ref().map(reserve).transpose()?))
    }
}

/// The place of the result: a file, or stdout.
pub struct Destination(Option<OutputFile>);

impl Destination {
    /// Writes the result.
    pub fn write(self, text: &str) -> Result<()> {
        match self.0 {
            Some(file) => file.write(text.as_bytes()),
            None => print(text),
        }
    }
}

/// Writes text to stdout.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}
