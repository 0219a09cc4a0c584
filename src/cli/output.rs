//! Where results go: stdout, or a file that is either there complete or not there at all.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use serde_json::{Value, json};
use tilewave::internals;
use tilewave::report::html::LAST_DRAWN;
use tilewave::report::{self, Chart, ChartFormat, one_key_per_line};
use tilewave::search::{Engine, Outcome, Search};

use crate::cli::failure::{Usage, refuse};
use crate::cli::options::{OutputFormat, OutputOptions, count};

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
        internals::Output::check(path, force)?;
        Ok(OutputFile { path: path.to_path_buf(), force })
    }

    /// Writes the file and puts it in its place.
    pub fn write(self, bytes: &[u8]) -> Result<()> {
        let written = || {
            let mut output = internals::Output::create(&self.path, self.force)?;
            output.write(bytes, |_| true)?;
            output.finish()
        };
        written()?;
        if !internals::Output::is_stdout(&self.path) {
            tracing::info!("wrote {}", self.path.display());
        }
        Ok(())
    }
}

impl OutputFormat {
    /// Returns a result: figures by name as JSON, some of them (`columns`, by commas) as CSV, or words.
    pub fn result(self, figures: Value, columns: &str, words: impl FnOnce() -> String) -> String {
        match self {
            OutputFormat::Json => one_key_per_line(&with_version(figures)),
            _ => self.heading(columns) + &self.line(figures, columns, words),
        }
    }

    /// Returns one of several results, which follow a heading.
    pub fn line(self, figures: Value, columns: &str, words: impl FnOnce() -> String) -> String {
        match self {
            OutputFormat::Json => format!("{}\n", with_version(figures)),
            OutputFormat::Csv => {
                let fields = columns.split(',').map(|column| field(&figures[column]));
                fields.collect::<Vec<_>>().join(",") + "\n"
            }
            OutputFormat::Text => words(),
        }
    }

    /// Returns what comes before several results.
    pub fn heading(self, columns: &str) -> String {
        match self {
            OutputFormat::Csv => format!("{columns}\n"),
            OutputFormat::Json | OutputFormat::Text => String::new(),
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

impl OutputOptions {
    /// Reserves the place of the result.
    pub fn reserve(&self) -> Result<Destination> {
        let reserve = |path: &PathBuf| OutputFile::reserve(path, self.force);
        // Stdout shows every part at once.
        let file = self.output.as_ref().filter(|path| *path != Path::new("-"));
        let file = file.map(reserve).transpose()?;
        Ok(Destination { file, held: String::new() })
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
        Destination { file: None, held: String::new() }
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
    if internals::Output::is_stdout(output) {
        return Ok(());
    }
    print(text)
}

// The result of a search: where it is written, and in which forms.

/// How the result of a search is written.
#[derive(clap::Args)]
pub struct ResultReport {
    /// Draw the distribution, a linear and a logarithmic panel, to a .svg or .png file.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Write the report as a web page, antipodes included: one file, for any browser, without a network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// With --format json: list up to N states of the last depth, as `last`.
    #[arg(long, value_name = "N", value_parser = count::<usize>(), allow_negative_numbers = true)]
    last: Option<usize>,

    #[command(flatten)]
    output: OutputOptions,
}

impl ResultReport {
    /// Returns how many states of the last depth the search has to keep.
    pub fn keep_last(&self) -> usize {
        let drawn = self.html.as_ref().map_or(0, |_| LAST_DRAWN);
        self.last.unwrap_or(0).max(drawn)
    }

    /// Returns where the result itself goes.
    pub fn output(&self) -> &OutputOptions {
        &self.output
    }

    /// Reserves the files to be written.
    pub fn files(&self) -> Result<Files> {
        let files =
            [("--plot", &self.plot), ("--html", &self.html), ("--output", &self.output.output)];
        if self.last.is_some() && self.output.format != OutputFormat::Json {
            refuse!("--last lists states in the JSON result: add --format json");
        }
        for (i, (second, path)) in files.iter().enumerate() {
            let same = files[..i].iter().find(|(_, p)| p.is_some() && p == path);
            if let Some((first, _)) = same {
                refuse!("{first} and {second} name the same file: choose two");
            }
        }
        let plot = self.plot.as_ref().map(|path| {
            let format = ChartFormat::of(path).map_err(|e| Usage(e.to_string()))?;
            anyhow::Ok((format, OutputFile::reserve(path, self.output.force)?))
        });
        let html = self.html.as_ref();
        let html = html.map(|path| OutputFile::reserve(path, self.output.force));
        Ok(Files {
            plot: plot.transpose()?,
            html: html.transpose()?,
            report: self.output.reserve()?,
        })
    }

    /// Writes what was found.
    pub fn finish(&self, files: Files, outcome: &Outcome) -> Result<()> {
        let report = report::Report::new(outcome);
        if let Some((format, file)) = files.plot {
            file.write(&Chart::of(outcome).bytes(format)?)?;
        }
        if let Some(file) = files.html {
            file.write(report.html()?.as_bytes())?;
        }
        files.report.write(&match self.output.format {
            OutputFormat::Text => report.text(),
            OutputFormat::Csv => report.csv(),
            OutputFormat::Json => {
                let mut figures = report.json();
                if let Some(most) = self.last {
                    let space = &outcome.space;
                    let last = outcome.last.iter().take(most);
                    figures["last"] = json!(last.map(|&s| space.text(s)).collect::<Vec<_>>());
                }
                one_key_per_line(&figures)
            }
        })?;
        // A search that contradicts what is known is a failed check, however it was asked for.
        if let Some(difference) = report.difference {
            let published = report.published.map(|truth| truth.name().to_string());
            let truth = published.or(report.own.map(|own| own.to_string()));
            return Err(anyhow!(
                "{} disagrees with {}: {difference}; search again with --engine reference to see which \
                  is right",
                outcome.space,
                truth.unwrap_or_default()
            ));
        }
        Ok(())
    }
}

/// The files to be written at the end.
pub struct Files {
    plot: Option<(ChartFormat, OutputFile)>,
    html: Option<OutputFile>,
    report: Destination,
}

/// Refuses an engine that keeps nothing on disk.
pub fn sweeps(search: &Search) -> Result<(), Usage> {
    if search.engine == Some(Engine::Reference) {
        refuse!("--dir needs the sweep engine: leave out --engine reference");
    }
    Ok(())
}
