//! What commands have found, in each format, and where it goes: stdout, or a file that is either there complete or not
//! there at all.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};
use tilewave::{
    Search, internals,
    puzzle::{Metric, StateSpace, orbits::OrbitPuzzle},
    report::{self, Chart, ChartFormat, html::LAST_DRAWN, one_key_per_line},
    search::{Engine, Outcome, disk::Searched},
};

use crate::cli::{Failure, Result, count, refuse};

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OutputFormat {
    /// Human-readable text
    Text,
    /// Comma-separated values
    Csv,
    /// One JSON document
    Json,
    /// JSON Lines: one object per line, each written as soon as it is ready
    Jsonl,
}

/// What a command has found: its fields are the keys of JSON, some of them the columns of CSV.
pub trait Figures: Serialize + Sized {
    const COLUMNS: &'static str;

    /// The columns, where not all answers have the same.
    fn columns(&self) -> &'static str {
        Self::COLUMNS
    }

    fn words(&self) -> String;

    /// The lines of CSV: one, unless there are several states or depths.
    fn csv(&self) -> String {
        let figures = figures(self);
        let fields = self.columns().split(',').map(|name| field(&figures[name]));
        fields.collect::<Vec<_>>().join(",") + "\n"
    }
}

/// Lines of CSV for counts by depth or value.
pub fn counts_csv(counts: &[u64]) -> String {
    counts.iter().enumerate().map(|(at, count)| format!("{at},{count}\n")).collect()
}

/// Lines of a label and what is to be said; where that is nothing there is no line.
pub fn facts<'a>(width: usize, facts: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let said = facts.into_iter().filter(|(_, words)| !words.is_empty());
    said.map(|(label, words)| format!("{:<width$}{words}\n", label)).collect()
}

/// What is searched, as answers name it.
#[derive(Serialize)]
pub struct Subject {
    board: Option<String>,
    puzzle: String,
    metric: Option<&'static str>,
}

impl Subject {
    /// What stands under `board` is the size of one; CSV has one column for all names.
    pub fn new(space: &StateSpace, format: OutputFormat) -> Subject {
        let (size, puzzle) = (space.size().map(|size| size.to_string()), space.name());
        Subject {
            board: size.or_else(|| (format == OutputFormat::Csv).then(|| puzzle.clone())),
            puzzle,
            metric: space.metric().map(Metric::name),
        }
    }

    /// What a run searches.
    pub fn searched(searched: &Searched, format: OutputFormat) -> Subject {
        match searched {
            Searched::Numbered(space) => Subject::new(space, format),
            Searched::Listed(puzzle) => Subject::listed(puzzle, format),
        }
    }

    /// A puzzle of several sets of pieces.
    pub fn listed(puzzle: &OrbitPuzzle, format: OutputFormat) -> Subject {
        let puzzle = puzzle.to_string();
        let board = (format == OutputFormat::Csv).then(|| puzzle.clone());
        Subject { board, puzzle, metric: None }
    }
}

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

pub fn print(text: &str) -> Result<()> {
    OutputFile::reserve(Path::new("-"), false)?.write(text.as_bytes())
}

/// `--format`, `--output` and `--force`.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    /// Output format.
    #[arg(long, default_value = "text")]
    pub format: OutputFormat,

    /// Write the result to FILE, or to stdout if FILE is - [default: -].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Replace existing files.
    #[arg(short, long)]
    pub force: bool,
}

impl OutputOptions {
    pub fn reserve(&self) -> Result<Destination> {
        // Stdout shows every part at once.
        let file = self.output.as_ref().filter(|path| *path != Path::new("-"));
        let file = file.map(|path| OutputFile::reserve(path, self.force)).transpose()?;
        Ok(Destination { file, ..Destination::stdout(self.format) })
    }
}

pub struct Destination {
    pub format: OutputFormat,
    file: Option<OutputFile>,
    held: String,
    /// What comes before the next of several answers in one JSON document, which has begun.
    next: Option<&'static str>,
}

impl Destination {
    pub fn stdout(format: OutputFormat) -> Destination {
        Destination { format, file: None, held: String::new(), next: None }
    }

    /// Stdout beside a file that has been written, unless that has gone there itself.
    pub fn beside(file: &Path, format: OutputFormat) -> Option<Destination> {
        (!internals::Output::is_stdout(file)).then(|| Destination::stdout(format))
    }

    /// Adds a part of the result: shown at once on stdout, held back for a file.
    pub fn add(&mut self, text: &str) -> Result<()> {
        if self.file.is_none() {
            return print(text);
        }
        self.held.push_str(text);
        Ok(())
    }

    /// Adds what comes before several answers.
    pub fn heading(&mut self, columns: &str) -> Result<()> {
        match self.format {
            OutputFormat::Csv => self.add(&format!("{columns}\n")),
            OutputFormat::Json if self.next.is_none() => {
                self.next = Some("\n");
                self.add("[")
            }
            _ => self.add(""),
        }
    }

    /// Adds one of several answers, the first with its heading; between those for people stands an empty line.
    pub fn answer(&mut self, first: bool, answer: &impl Figures) -> Result<()> {
        match first {
            true => self.heading(answer.columns())?,
            false if self.format == OutputFormat::Text => self.add("\n")?,
            false => {}
        }
        self.line(answer)
    }

    /// Adds one of several answers.
    pub fn line(&mut self, answer: &impl Figures) -> Result<()> {
        let text = match self.format {
            OutputFormat::Json => {
                let gap = self.next.replace(",\n").unwrap_or_default();
                format!("{gap}{}", figures(answer))
            }
            OutputFormat::Jsonl => format!("{}\n", figures(answer)),
            OutputFormat::Csv => answer.csv(),
            OutputFormat::Text => answer.words(),
        };
        self.add(&text)
    }

    /// Ends several answers, and writes the file, if there is one, from its parts.
    pub fn finish(mut self) -> Result<()> {
        if self.next.is_some() {
            self.add("\n]\n")?;
        }
        match self.file {
            Some(file) => file.write(self.held.as_bytes()),
            None => Ok(()),
        }
    }

    /// Writes the one answer of a command.
    pub fn write(mut self, answer: &impl Figures) -> Result<()> {
        if self.format == OutputFormat::Json {
            self.add(&one_key_per_line(&figures(answer)))?;
        } else {
            self.heading(answer.columns())?;
            self.line(answer)?;
        }
        self.finish()
    }
}

/// The figures of an answer by name, with the version of this program.
fn figures(answer: &impl Figures) -> Value {
    // Nothing but numbers, texts and lists of them under names.
    let mut figures = serde_json::to_value(answer).unwrap_or_default();
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

// The result of a search: where it is written, and in which forms.

/// How the result of a search is written.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub struct ResultReport {
    /// Write a plot of the depth distribution to a .svg or .png file.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Write the report as a self-contained web page.
    ///
    /// The page includes the antipodes and opens in any browser, even offline.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// With JSON output: include up to N states of the last depth (key `last`).
    #[arg(long, value_name = "N", value_parser = count::<usize>(), allow_negative_numbers = true)]
    list: Option<usize>,

    #[command(flatten)]
    pub output: OutputOptions,
}

pub struct Files {
    plot: Option<(ChartFormat, OutputFile)>,
    html: Option<OutputFile>,
    report: Destination,
}

impl ResultReport {
    /// How many states of the last depth the search has to keep.
    pub fn keep_last(&self) -> usize {
        let drawn = self.html.as_ref().map_or(0, |_| LAST_DRAWN);
        self.list.unwrap_or(0).max(drawn)
    }

    /// Writes the result of a search whose states have no numbers.
    pub fn finish_figures(&self, files: Files, chart: Chart, figures: &impl Figures) -> Result<()> {
        draw(files.plot, || chart)?;
        files.report.write(figures)
    }

    /// The first option that is for boards and puzzles with numbers for their states.
    pub fn for_numbers(&self) -> Option<&'static str> {
        self.html.is_some().then_some("--html")
    }

    pub fn files(&self) -> Result<Files> {
        let OutputOptions { format, output, force } = &self.output;
        let files = [("--plot", &self.plot), ("--html", &self.html), ("--output", output)];
        if self.list.is_some() && !matches!(format, OutputFormat::Json | OutputFormat::Jsonl) {
            refuse!("--list works only with JSON output: add --format json");
        }
        for (i, (second, path)) in files.iter().enumerate() {
            let same = files[..i].iter().find(|(_, p)| p.is_some() && p == path);
            if let Some((first, _)) = same {
                refuse!("{first} and {second} specify the same file: choose two different files");
            }
        }
        let plot = self.plot.as_ref().map(|path| {
            let format = ChartFormat::of(path).map_err(Failure::usage)?;
            Ok::<_, Failure>((format, OutputFile::reserve(path, *force)?))
        });
        let html = self.html.as_ref().map(|path| OutputFile::reserve(path, *force));
        let (plot, html) = (plot.transpose()?, html.transpose()?);
        Ok(Files { plot, html, report: self.output.reserve()? })
    }

    pub fn finish(&self, files: Files, outcome: &Outcome) -> Result<()> {
        let report = report::Report::new(outcome);
        let Files { plot, html, report: mut destination } = files;
        draw(plot, || Chart::of(outcome))?;
        if let Some(file) = html {
            file.write(report.html()?.as_bytes())?;
        }
        destination.add(&match self.output.format {
            OutputFormat::Text => report.text(),
            OutputFormat::Csv => report.csv(),
            OutputFormat::Json | OutputFormat::Jsonl => {
                let mut figures = report.json();
                if let Some(most) = self.list {
                    let space = &outcome.space;
                    let last = outcome.last.iter().take(most);
                    figures["last"] = json!(last.map(|&s| space.text(s)).collect::<Vec<_>>());
                }
                match self.output.format {
                    OutputFormat::Json => one_key_per_line(&figures),
                    _ => format!("{figures}\n"),
                }
            }
        })?;
        destination.finish()?;
        // A search that contradicts what is known is a failed check, however it was asked for.
        let Some(difference) = report.difference else {
            return Ok(());
        };
        Err(Failure::failed(format!(
            "{} disagrees with {}: {difference}; search again with --engine reference to see which is right",
            outcome.space,
            report.truth()
        )))
    }
}

fn draw(plot: Option<(ChartFormat, OutputFile)>, chart: impl FnOnce() -> Chart) -> Result<()> {
    plot.map_or(Ok(()), |(format, file)| file.write(&chart().bytes(format)?))
}

/// Refuses an engine that keeps nothing on disk.
pub fn sweeps(search: &Search) -> Result<()> {
    if search.engine == Some(Engine::Reference) {
        refuse!("--dir does not work with the reference engine: leave out --engine reference");
    }
    Ok(())
}
