//! What commands have found, in each format, and where it goes: stdout, or a file that is either there complete or not
//! there at all.

use std::{
    collections::HashSet,
    io::Read,
    path::{Path, PathBuf},
    slice,
};

use serde_json::{Value, json};
use tilewave::{
    internals::{self, opened},
    puzzle::Searched,
    report::{self, Chart, ChartFormat, csv_field, html::LAST_DRAWN, one_key_per_line, thousands},
    search::{Communicator, Outcome},
};

use crate::{Context, Failure, Result, count, first_given, refuse};

// Lines of a label and what is to be said.
pub use tilewave::internals::labelled as facts;

/// How results are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum OutputFormat {
    /// Human-readable text
    #[default]
    Text,
    /// Comma-separated values
    Csv,
    /// One JSON document
    Json,
    /// JSON Lines: one object per line, each written as soon as it is ready
    Jsonl,
    /// The columns of CSV as a table for Markdown
    Markdown,
    /// The columns of CSV as a tabular for LaTeX
    Latex,
}

impl OutputFormat {
    /// Whether there are columns, as in CSV.
    fn has_columns(self) -> bool {
        matches!(self, OutputFormat::Csv | OutputFormat::Markdown | OutputFormat::Latex)
    }
}

/// The lines of CSV with their heading as a table for a document. Of several lines, columns are left out that are empty or
/// have one word in all of them, and checksums; numbers are aligned to the right, and seconds are rounded to thousandths.
fn document_table(lines: &str, format: OutputFormat) -> Result<String> {
    let mut reader = csv::ReaderBuilder::new();
    let mut reader = reader.has_headers(false).flexible(true).from_reader(lines.as_bytes());
    let records: Result<Vec<Vec<String>>, csv::Error> = reader.deserialize().collect();
    let records = records.map_err(|error| Failure::failed(error.to_string()))?;
    let Some((heading, rows)) = records.split_first() else { return Ok(String::new()) };
    let fields = |at: usize| rows.iter().filter_map(move |row| row.get(at));
    let is_number = |field: &String| {
        let digits = field.trim_start_matches("> ").replace(',', "");
        digits.is_empty() || digits.parse::<f64>().is_ok()
    };
    let tells = |&at: &usize| {
        let first = fields(at).next();
        let number = first.is_some_and(|first| !first.is_empty() && is_number(first));
        let other = fields(at).any(|field| Some(field) != first);
        at == 0 || (rows.len() < 2 || number || other) && heading[at] != "checksum"
    };
    let shown: Vec<usize> = (0..heading.len()).filter(tells).collect();
    let right: Vec<bool> = shown.iter().map(|&at| fields(at).all(is_number)).collect();
    let line = |row: &Vec<String>, before: &str, between: &str, behind: &str| {
        let fields = shown.iter().filter_map(|&at| Some((&heading[at], row.get(at)?)));
        let fields = fields.map(|(name, field)| {
            let grouped = match (field.parse(), field.parse::<f64>()) {
                (Ok(number), _) if field.len() > 3 => thousands(number),
                (_, Ok(seconds)) if name == "seconds" => format!("{seconds:.3}"),
                _ => field.clone(),
            };
            match format {
                OutputFormat::Latex => for_latex(&grouped),
                _ => grouped.replace('|', "\\|"),
            }
        });
        format!("{before}{}{behind}\n", fields.collect::<Vec<_>>().join(between))
    };
    let names = heading.iter().map(|name| name.replace('_', " ")).collect();
    Ok(match format {
        OutputFormat::Latex => {
            let line = |row| line(row, "", " & ", " \\\\");
            let columns: String =
                right.iter().map(|&right| if right { 'r' } else { 'l' }).collect();
            // Levels end where facts begin.
            let begins =
                |at: usize| at > 0 && is_number(&rows[at - 1][0]) && !is_number(&rows[at][0]);
            let rule = |at| if begins(at) { "\\hline\n" } else { "" };
            let lines = rows.iter().enumerate().map(|(at, row)| rule(at).to_string() + &line(row));
            let (heading, rows) = (line(&names), lines.collect::<String>());
            format!(
                "\\begin{{tabular}}{{{columns}}}\n\\hline\n{heading}\\hline\n{rows}\\hline\n\\end{{tabular}}\n"
            )
        }
        _ => {
            let line = |row| line(row, "| ", " | ", " |");
            let rules = right.iter().map(|&right| if right { "---:|" } else { "---|" });
            let rules: String = rules.collect();
            let (heading, rows) = (line(&names), rows.iter().map(line).collect::<String>());
            format!("{heading}|{rules}\n{rows}")
        }
    })
}

/// A text in which LaTeX finds no commands.
fn for_latex(text: &str) -> String {
    let escaped = |letter: char| match letter {
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{letter}"),
        '\\' => "\\textbackslash{}".into(),
        '~' => "\\textasciitilde{}".into(),
        '^' => "\\textasciicircum{}".into(),
        '<' | '>' => format!("${letter}$"),
        _ => letter.into(),
    };
    text.chars().map(escaped).collect()
}

/// What a command has found, in each form; only the form that is asked for is made.
pub trait Figures {
    /// The keys of JSON, some of them the columns of CSV.
    fn figures(&self) -> Value;

    fn words(&self) -> String;

    /// The lines of CSV, where there are several states or depths.
    fn csv(&self) -> Option<String> {
        None
    }
}

/// What a command has found, where every form is made in no time.
pub struct Reply {
    pub figures: Value,
    pub words: String,
    pub csv: Option<String>,
}

/// What is found where not all answers are alike, with its columns of CSV.
pub type AnyReply = (&'static str, Reply);

impl Figures for Reply {
    fn figures(&self) -> Value {
        self.figures.clone()
    }

    fn words(&self) -> String {
        self.words.clone()
    }

    fn csv(&self) -> Option<String> {
        self.csv.clone()
    }
}

/// Figures, and more of them behind.
pub fn with_more(mut figures: Value, more: Value) -> Value {
    if let (Some(all), Value::Object(more)) = (figures.as_object_mut(), more) {
        all.extend(more);
    }
    figures
}

/// Lines of CSV for counts by depth or value.
pub fn counts_csv(counts: &[u64]) -> String {
    counts.iter().enumerate().map(|(at, count)| format!("{at},{count}\n")).collect()
}

/// Tiles as they are shown: `1,2,3`.
pub fn tiles(tiles: &[u16]) -> String {
    tiles.iter().map(u16::to_string).collect::<Vec<_>>().join(",")
}

/// What is searched, as answers name it. What stands under `board` is the size of one; CSV has one column for all
/// names.
pub fn subject(searched: &Searched, format: OutputFormat) -> Value {
    let mut keys = report::identity(searched);
    if format.has_columns() {
        keys["board"] = report::described(searched).into();
    }
    keys
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

/// Refuses a file that two options name.
pub fn refuse_same<const N: usize>(files: [(&str, &Option<PathBuf>); N]) -> Result<()> {
    let absolute = |path: &Option<PathBuf>| std::path::absolute(path.as_ref()?).ok();
    let files = files.into_iter().filter_map(|(option, path)| Some((option, absolute(path)?)));
    let files: Vec<(&str, PathBuf)> = files.collect();
    for (i, (second, path)) in files.iter().enumerate() {
        if let Some((first, _)) = files[..i].iter().find(|(_, other)| other == path) {
            refuse!("{first} and {second} specify the same file: choose two different files");
        }
    }
    Ok(())
}

/// What is in a file, or in standard input for `-`.
pub fn read_input(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    let read = match path == Path::new("-") {
        true => std::io::stdin().lock().read_to_end(&mut bytes),
        false => opened(path).and_then(|(mut file, _)| file.read_to_end(&mut bytes)),
    };
    let text = read.and_then(|_| String::from_utf8(bytes).map_err(std::io::Error::other));
    text.context(format!("cannot read '{}'", path.display()))
}

pub fn print(text: &str) -> Result<()> {
    OutputFile::reserve(Path::new("-"), false)?.write(text.as_bytes())
}

/// `--format`.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub struct FormatOption {
    /// Output format: text, csv, json, jsonl, markdown or latex.
    ///
    /// CSV, Markdown and LaTeX have the same columns; a table for a document leaves out those that say nothing. JSON is one
    /// document, and JSON Lines are one object per line, each written as soon as it is ready.
    #[arg(long, default_value = "text", hide_possible_values = true)]
    pub format: OutputFormat,
}

impl FormatOption {
    pub fn stdout(&self) -> Destination {
        Destination::stdout(self.format)
    }
}

/// `--format`, `--output` and `--force`.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    #[command(flatten)]
    of: FormatOption,

    /// Write the result to FILE, or to stdout if FILE is - [default: -].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Replace existing files.
    #[arg(short, long)]
    pub force: bool,
}

impl OutputOptions {
    pub fn format(&self) -> OutputFormat {
        self.of.format
    }

    pub fn reserve(&self) -> Result<Destination> {
        // Stdout shows every part at once.
        let file = self.output.as_ref().filter(|path| *path != Path::new("-"));
        let file = file.map(|path| OutputFile::reserve(path, self.force)).transpose()?;
        Ok(Destination { file, ..self.of.stdout() })
    }
}

#[derive(Default)]
pub struct Destination {
    pub format: OutputFormat,
    file: Option<OutputFile>,
    held: String,
    silent: bool,
    /// The columns of CSV, by their names among the figures.
    columns: &'static str,
    /// What comes before the next of several answers in one JSON document, which has begun.
    next: Option<&'static str>,
    /// The lines of the table of a document, which is written when all have come.
    lines: String,
}

impl Destination {
    pub fn stdout(format: OutputFormat) -> Destination {
        Destination { format, ..Destination::default() }
    }

    /// Stdout beside a file that is written, unless that goes there itself: then nothing is said.
    pub fn beside(file: &Path, format: OutputFormat) -> Destination {
        let silent = internals::Output::is_stdout(file);
        Destination { silent, ..Destination::stdout(format) }
    }

    /// The output of a command, or nothing where another rank writes.
    pub fn of_rank(ranks: &dyn Communicator, output: &OutputOptions) -> Result<Destination> {
        match ranks.rank() {
            0 => output.reserve(),
            _ => Ok(Destination { silent: true, ..output.of.stdout() }),
        }
    }

    /// Adds a part of the result: shown at once on stdout, held back for a file.
    pub fn add(&mut self, text: &str) -> Result<()> {
        match self.file {
            _ if self.silent => {}
            None => print(text)?,
            Some(_) => self.held.push_str(text),
        }
        Ok(())
    }

    /// Adds what comes before several answers.
    pub fn heading(&mut self, columns: &'static str) -> Result<()> {
        self.columns = columns;
        match self.format {
            format if format.has_columns() => {
                if !self.lines.is_empty() {
                    self.end_table()?;
                    self.add("\n")?;
                }
                self.add_lines(&format!("{columns}\n"))
            }
            OutputFormat::Json if self.next.is_none() => {
                self.next = Some("\n");
                self.add("[")
            }
            _ => self.add(""),
        }
    }

    /// Adds lines of CSV, or holds them back for the table of a document.
    fn add_lines(&mut self, lines: &str) -> Result<()> {
        if self.format == OutputFormat::Csv {
            return self.add(lines);
        }
        self.lines += lines;
        Ok(())
    }

    /// Writes the table of a document.
    fn end_table(&mut self) -> Result<()> {
        let table = document_table(&std::mem::take(&mut self.lines), self.format)?;
        self.add(&table)
    }

    /// Adds one of several answers, with a heading where columns are new; between those for people stands an empty
    /// line.
    pub fn answer(&mut self, (columns, answer): &AnyReply) -> Result<()> {
        if self.format == OutputFormat::Text && !self.columns.is_empty() {
            self.add("\n")?;
        }
        if self.columns != *columns {
            self.heading(columns)?;
        }
        self.line(answer)
    }

    pub fn line(&mut self, answer: &impl Figures) -> Result<()> {
        let text = match self.format {
            OutputFormat::Json => {
                let gap = self.next.replace(",\n").unwrap_or_default();
                format!("{gap}{}", versioned(answer))
            }
            OutputFormat::Jsonl => format!("{}\n", versioned(answer)),
            OutputFormat::Text => answer.words(),
            OutputFormat::Csv | OutputFormat::Markdown | OutputFormat::Latex => {
                let lines = answer.csv();
                let lines = lines.unwrap_or_else(|| csv_line(self.columns, &answer.figures()));
                return self.add_lines(&lines);
            }
        };
        self.add(&text)
    }

    /// Ends several answers, and writes the file, if there is one, from its parts.
    pub fn finish(mut self) -> Result<()> {
        if self.next.is_some() {
            self.add("\n]\n")?;
        }
        self.end_table()?;
        match self.file {
            Some(file) => file.write(self.held.as_bytes()),
            None => Ok(()),
        }
    }

    /// Writes the one answer of a command.
    pub fn write(mut self, columns: &'static str, answer: &impl Figures) -> Result<()> {
        if self.format == OutputFormat::Json {
            self.add(&one_key_per_line(&versioned(answer)))?;
        } else {
            self.heading(columns)?;
            self.line(answer)?;
        }
        self.finish()
    }
}

/// The figures of an answer, with the version of this program.
fn versioned(answer: &impl Figures) -> Value {
    with_more(answer.figures(), json!({"version": env!("CARGO_PKG_VERSION")}))
}

/// The line of CSV that has some of the figures.
pub fn csv_line(columns: &str, figures: &Value) -> String {
    let fields = columns.split(',').map(|name| field(&figures[name]));
    fields.collect::<Vec<_>>().join(",") + "\n"
}

/// A figure in a line of CSV; of several, how many there are.
fn field(figure: &Value) -> String {
    match figure {
        Value::Null => String::new(),
        Value::Array(several) => several.len().to_string(),
        Value::String(text) => csv_field(text),
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
    pub plot: Option<(ChartFormat, OutputFile)>,
    html: Option<OutputFile>,
    pub report: Destination,
}

impl ResultReport {
    /// The option that draws, if there is one.
    pub fn drawn(&self) -> Option<&'static str> {
        first_given(&[(self.plot.is_some(), "--plot"), (self.html.is_some(), "--html")])
    }

    /// How many states of the last depth the search has to keep.
    pub fn keep_last(&self) -> usize {
        let drawn = self.html.as_ref().map_or(0, |_| LAST_DRAWN);
        self.list.unwrap_or(0).max(drawn)
    }

    pub fn files(&self) -> Result<Files> {
        let OutputOptions { of, output, force } = &self.output;
        refuse_same([("--plot", &self.plot), ("--html", &self.html), ("--output", output)])?;
        if self.list.is_some() && !matches!(of.format, OutputFormat::Json | OutputFormat::Jsonl) {
            refuse!("--list works only with JSON output: add --format json");
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
        if self.keep_last() > 0 && outcome.last.is_empty() {
            tracing::warn!(
                "the states of the last depth were counted but not stored: none can be listed"
            );
        }
        draw(plot, || Chart::of(outcome))?;
        if let Some(file) = html {
            file.write(report.html()?.as_bytes())?;
        }
        match self.output.format() {
            OutputFormat::Text => destination.add(&report.text())?,
            OutputFormat::Json => destination.add(&one_key_per_line(&self.figures(&report)))?,
            OutputFormat::Jsonl => destination.add(&format!("{}\n", self.figures(&report)))?,
            OutputFormat::Csv => destination.add_lines(&report.csv())?,
            OutputFormat::Markdown | OutputFormat::Latex => {
                let facts = as_csv(&compared(slice::from_ref(outcome)));
                destination.add_lines(&(report.csv() + &facts))?;
            }
        }
        destination.finish()?;
        agreed(&report)
    }

    /// The report as JSON, with the states that were asked for.
    fn figures(&self, report: &report::Report) -> Value {
        let mut figures = report.json();
        if let Some(most) = self.list {
            figures["last"] = report.outcome.last_texts(most).into();
        }
        figures
    }

    /// Writes the results of several searches: for programs one after the other, for people side by side. What was
    /// found before one fails is written.
    pub fn finish_several(&self, outcomes: impl Iterator<Item = Result<Outcome>>) -> Result<()> {
        let mut destination = self.files()?.report;
        let for_programs = !matches!(
            destination.format,
            OutputFormat::Text | OutputFormat::Markdown | OutputFormat::Latex
        );
        let (mut found, mut ended) = (Vec::new(), Ok(()));
        for outcome in outcomes {
            let outcome = match outcome {
                Ok(outcome) => outcome,
                Err(failure) => {
                    ended = Err(failure);
                    break;
                }
            };
            let report = report::Report::new(&outcome);
            if for_programs {
                if found.is_empty() {
                    destination.heading(internals::LEVEL_COLUMNS)?;
                }
                let lines = report.csv().split_once('\n').map(|(_, lines)| lines.into());
                let figures = self.figures(&report);
                destination.line(&Reply { figures, words: String::new(), csv: lines })?;
            }
            ended = ended.and(agreed(&report));
            found.push(outcome);
        }
        if !for_programs {
            let mut rows = side_by_side(&found);
            match destination.format {
                OutputFormat::Text => {
                    rows.push(row("published", &found, |one| report::Report::new(one).agreement()));
                    destination.add(&in_columns(&rows))?;
                }
                _ => destination.add_lines(&as_csv(&rows))?,
            }
        }
        destination.finish()?;
        ended
    }
}

/// A label, and what is said of each search.
fn row(label: &str, outcomes: &[Outcome], of: impl Fn(&Outcome) -> String) -> Vec<String> {
    std::iter::once(label.to_string()).chain(outcomes.iter().map(of)).collect()
}

/// The levels of several searches in columns, and below them what people compare.
fn side_by_side(outcomes: &[Outcome]) -> Vec<Vec<String>> {
    let deepest = outcomes.iter().map(deepest).max().unwrap_or_default();
    // Goals are told only where names are not enough.
    let names: HashSet<_> = outcomes.iter().map(|one| one.searched.to_string()).collect();
    let mut rows = vec![row("depth", outcomes, |one| match names.len() == outcomes.len() {
        true => one.searched.to_string(),
        false => report::described(&one.searched),
    })];
    rows.extend((0..=deepest).map(|depth| {
        let of = |one: &Outcome| one.counts.get(depth).map(|&count| thousands(count));
        row(&depth.to_string(), outcomes, |one| of(one).unwrap_or_default())
    }));
    rows.extend(compared(outcomes));
    rows
}

/// What people compare of searches, and what a table of one of them ends with.
fn compared(outcomes: &[Outcome]) -> Vec<Vec<String>> {
    let mut rows = vec![
        row("states", outcomes, |one| thousands(one.total())),
        row("God's number", outcomes, |one| match one.diameter() {
            Some(number) => number.to_string(),
            None => format!("> {}", deepest(one)),
        }),
    ];
    if outcomes.iter().any(|one| one.complete) {
        let of = |one: &Outcome| one.antipodes().map_or(String::new(), thousands);
        rows.push(row("antipodes", outcomes, of));
    }
    rows.push(row("mean depth", outcomes, |one| format!("{:.4}", one.mean_depth())));
    rows
}

/// The last depth that was counted.
fn deepest(outcome: &Outcome) -> usize {
    outcome.counts.len().saturating_sub(1)
}

fn as_csv(rows: &[Vec<String>]) -> String {
    let line = |row: &Vec<String>| {
        let fields: Vec<_> = row.iter().map(|one| csv_field(one)).collect();
        fields.join(",") + "\n"
    };
    rows.iter().map(line).collect()
}

/// Rows of text in columns, aligned to the right but for the first.
fn in_columns(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let first = format!("{:<1$}", row[0], widths[0]);
        let others = row.iter().zip(&widths).skip(1).map(|(one, width)| format!("  {one:>width$}"));
        let line = first + &others.collect::<String>();
        format!("{}\n", line.trim_end())
    };
    rows.iter().map(line).collect()
}

/// A search that contradicts what is known is a failed check, however it was asked for.
fn agreed(report: &report::Report) -> Result<()> {
    let Some(difference) = report.difference else {
        return Ok(());
    };
    let outcome = report.outcome;
    let again = match outcome.lists {
        Some(_) => "--no-symmetry",
        None => "--engine reference",
    };
    Err(Failure::failed(format!(
        "{} disagrees with {}: {difference}; search again with {again} to see which is right",
        outcome.searched,
        report.truth()
    )))
}

pub fn draw(plot: Option<(ChartFormat, OutputFile)>, chart: impl FnOnce() -> Chart) -> Result<()> {
    plot.map_or(Ok(()), |(format, file)| file.write(&chart().bytes(format)?))
}
