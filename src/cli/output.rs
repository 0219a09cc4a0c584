//! Where results go: stdout, or a file that is either there complete or not there at all.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};
use tilewave::report::one_key_per_line;
use tilewave::store;

use super::options::{Format, Output};

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
        store::Output::check(path, force)?;
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
        written()?;
        if !store::Output::is_stdout(&self.path) {
            tracing::info!("wrote {}", self.path.display());
        }
        Ok(())
    }
}

impl Format {
    /// Returns a result: figures by name as JSON, some of them (`columns`, by commas) as CSV, or words.
    pub fn result(self, figures: Value, columns: &str, words: impl FnOnce() -> String) -> String {
        match self {
            Format::Json => one_key_per_line(&with_version(figures)),
            _ => self.heading(columns) + &self.line(figures, columns, words),
        }
    }

    /// Returns one of several results, which follow a heading.
    pub fn line(self, figures: Value, columns: &str, words: impl FnOnce() -> String) -> String {
        match self {
            Format::Json => format!("{}\n", with_version(figures)),
            Format::Csv => {
                let fields = columns.split(',').map(|column| field(&figures[column]));
                fields.collect::<Vec<_>>().join(",") + "\n"
            }
            Format::Text => words(),
        }
    }

    /// Returns what comes before several results.
    pub fn heading(self, columns: &str) -> String {
        match self {
            Format::Csv => format!("{columns}\n"),
            Format::Json | Format::Text => String::new(),
        }
    }
}

fn with_version(mut figures: Value) -> Value {
    figures["version"] = json!(env!("CARGO_PKG_VERSION"));
    figures
}

/// A figure in a line of CSV; of several, how many there are.
fn field(figure: &Value) -> String {
    match figure {
        Value::Null => String::new(),
        Value::Array(several) => several.len().to_string(),
        Value::String(text) if text.contains([',', '"', '\n']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns counts by depth or value as CSV.
pub fn counts_csv(columns: &str, counts: &[u64]) -> String {
    let rows = counts.iter().enumerate();
    let rows = rows.map(|(at, count)| format!("{at},{count}\n"));
    format!("{columns}\n{}", rows.collect::<String>())
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
    /// Returns stdout.
    pub fn stdout() -> Destination {
        Destination {
            file: None,
            held: String::new(),
        }
    }

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
