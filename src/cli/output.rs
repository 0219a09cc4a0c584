//! Where results go: stdout, or a file that is either there complete or not there at all.

use std::path::{Path, PathBuf};

use anyhow::Result;
use tilewave::{Error, store};

use super::options::Output;

/// An output to be written: refused at once when it exists or its directory cannot be written, so that no
/// long search ends with nowhere to put its result.
pub struct OutputFile {
    path: PathBuf,
    force: bool,
}

impl OutputFile {
    /// Reserves an output. `force` allows replacing an existing file.
    ///
    /// Nothing stays in the directory meanwhile: a search that is killed leaves nothing behind.
    pub fn reserve(path: &Path, force: bool) -> Result<OutputFile> {
        store::Output::check(path, force).map_err(Error::from)?;
        Ok(OutputFile {
            path: path.to_path_buf(),
            force,
        })
    }

    /// Writes the file and puts it in its place.
    pub fn write(self, bytes: &[u8]) -> Result<()> {
        let written = || {
            let mut output = store::Output::create(&self.path, self.force)?;
            output.write(bytes, |_| true)?;
            output.finish()
        };
        written().map_err(Error::from)?;
        if !store::Output::is_stdout(&self.path) {
            tracing::info!("wrote {}", self.path.display());
        }
        Ok(())
    }
}

impl Output {
    /// Reserves the place of the result.
    pub fn reserve(&self) -> Result<Destination> {
        let reserve = |path: &PathBuf| OutputFile::reserve(path, self.force);
        // Stdout shows every part at once.
        let file = self.output.as_ref().filter(|path| *path != Path::new("-"));
        let file = file.map(reserve).transpose()?;
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
    OutputFile::reserve(Path::new("-"), false)?.write(text.as_bytes())
}

/// Writes text to stdout, unless an output has gone there itself.
pub fn print_beside(output: &Path, text: &str) -> Result<()> {
    if store::Output::is_stdout(output) {
        return Ok(());
    }
    print(text)
}
