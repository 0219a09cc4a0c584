//! `tilewave pdb info`: what a database file says of itself.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};
use tilewave::Error;
use tilewave::Kernel;
use tilewave::pdb::{
    self, Build, ExportLayout, Kind, Pattern, Pdb, PdbError, Probe, Summary, check_disjoint,
    inspect,
};
use tilewave::puzzle::Board;
use tilewave::report::{bytes, histogram, thousands};

use crate::cli::failure::{Exit, refuse};
use crate::cli::options::{Memory, OutputFormat, OutputOptions, Threads, choice, count, kernel};
use crate::cli::output::{OutputFile, counts_csv, print_beside};
use crate::cli::progress::SearchProgress;

/// Show the header, the histogram and the mean of a database.
#[derive(clap::Args)]
pub struct InfoArgs {
    /// Database file, compressed or not.
    file: PathBuf,

    #[command(flatten)]
    output: OutputOptions,
}

impl InfoArgs {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let destination = self.output.reserve()?;
        let summary = inspect(&self.file)?;
        let pattern = &summary.pattern;
        let reached = summary.histogram.iter().sum::<u64>();
        let order = match summary.kind {
            Kind::Minimum | Kind::AllMoves => "lexicographic placements",
            Kind::Regions => "sets, regions, arrangements",
        };
        let mut figures = figures(&summary);
        figures["compressed"] = json!(summary.compressed);
        figures["order"] = json!(order);
        let metric = match summary.kind {
            Kind::AllMoves => "moves of all tiles",
            Kind::Minimum | Kind::Regions => "moves of pattern tiles",
        };
        figures["metric"] = json!(metric);
        figures["reached"] = json!(reached);
        let words = || {
            format!(
                "{}\nboard     {}\ngoal      {}\ntiles     {}\nkind      {}\nencoding  {}{}\norder     \
                 {order}\nmetric    {metric}\nentries   {}\nreached   {}\nmaximum   {}\nmean      \
                 {:.6}\nbytes     {}\nchecksum  {:016x}\n",
                histogram(&summary.histogram, reached).trim_end(),
                pattern.size(),
                pattern.goal(),
                tiles(pattern.tiles()),
                summary.kind,
                summary.encoding,
                if summary.compressed { ", compressed" } else { "" },
                thousands(summary.entries),
                thousands(reached),
                summary.maximum(),
                summary.mean(),
                bytes(summary.file_bytes()),
                summary.checksum,
            )
        };
        destination.write(&written(self.output.format, &summary, figures, words))
    }
}

/// A database in words, as its figures, or as its histogram.
pub fn written(
    format: OutputFormat,
    summary: &Summary,
    figures: Value,
    words: impl FnOnce() -> String,
) -> String {
    match format {
        OutputFormat::Csv => counts_csv("value,entries", &summary.histogram),
        format => format.result(figures, "", words),
    }
}

/// What is to be said of every database.
pub fn figures(summary: &Summary) -> Value {
    json!({
        "board": summary.pattern.size().to_string(),
        "goal": summary.pattern.goal().to_string(),
        "tiles": summary.pattern.tiles(),
        "kind": summary.kind.name(),
        "encoding": summary.encoding.name(),
        "entries": summary.entries,
        "max": summary.maximum(),
        "mean": summary.mean(),
        "histogram": summary.histogram,
        "bytes": summary.file_bytes(),
        "checksum": format!("{:016x}", summary.checksum),
    })
}

/// Tiles as they are shown: `1,2,3`.
pub fn tiles(tiles: &[u16]) -> String {
    let words: Vec<String> = tiles.iter().map(u16::to_string).collect();
    words.join(",")
}

// `tilewave pdb probe`: the values of boards, and their sums.

/// Show the values of a board in one or several databases, and their sum.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave pdb probe 7.pdb --board '15 2 1 12/8 5 6 11/4 9 10 7/3 14 13 0'\n  \
                  tilewave pdb probe 7.pdb 8.pdb --board - < boards.txt"
)]
pub struct ProbeArgs {
    /// Database files.
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// The board: rows by '/', tiles by spaces, blank 0; or '-' for one board per line of the input.
    #[arg(long)]
    board: String,

    #[command(flatten)]
    output: OutputOptions,
}

impl ProbeArgs {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let mut destination = self.output.reserve()?;
        let tables = self.files.iter().map(|file| Probe::open(file));
        let tables = tables.collect::<Result<Vec<Probe>, _>>()?;
        let patterns: Vec<Pattern> = tables.iter().map(|t| t.pattern().clone()).collect();
        if patterns.iter().any(|p| p.goal() != patterns[0].goal()) {
            refuse!("the databases have different goals: values of one goal can be shown together");
        }
        let additive = check_disjoint(&patterns);
        let input = match self.board.as_str() {
            "-" => {
                let mut text = String::new();
                std::io::stdin().read_to_string(&mut text)?;
                text
            }
            board => board.replace('\n', "/"),
        };
        let (format, columns) = (self.output.format, "board,values,sum");
        destination.add(&format.heading(columns))?;
        for line in input.lines().filter(|line| !line.trim().is_empty()) {
            let board = Board::parse(line, Some(patterns[0].size()))?;
            let values = tables.iter().map(|table| table.value(&board));
            let values = values.collect::<Result<Vec<Option<u8>>, _>>()?;
            let total: Option<u32> = values.iter().map(|v| v.map(u32::from)).sum();
            let sum = total.filter(|_| additive.is_ok());
            let shown = |v: Option<u32>| v.map_or("-".to_string(), |v| v.to_string());
            let words: Vec<String> = values.iter().map(|v| shown(v.map(u32::from))).collect();
            let words = words.join(" ");
            let figures = match format {
                OutputFormat::Csv => {
                    json!({"board": board.to_string(), "values": words, "sum": shown(sum)})
                }
                _ => json!({"board": board.to_string(), "values": values, "sum": sum}),
            };
            let text = || {
                let sum = match (sum, &additive) {
                    (Some(sum), _) => format!("sum {sum}"),
                    (None, Ok(())) => "no sum: not every value is known".into(),
                    (None, Err(PdbError::NotAdditive)) => "no sum: one counts every move".into(),
                    (None, Err(_)) => "no sum: the databases share tiles".into(),
                };
                format!("{board}  {words}  {sum}\n")
            };
            destination.add(&format.line(figures, columns, text))?;
        }
        destination.finish()
    }
}

// `tilewave pdb verify`: checksums, spot checks, or the whole table again.

/// Check a database: all checksums, then random entries against A* searches (or everything, --rebuild).
#[derive(clap::Args)]
#[command(after_help = "Exit code 1 when the database is damaged or wrong.")]
pub struct VerifyPdbArgs {
    /// Database file.
    file: PathBuf,

    /// Build the whole table again and compare every entry.
    #[arg(long)]
    rebuild: bool,

    /// With --rebuild: use the plain builder, which shares nothing with the fast one.
    #[arg(long, requires = "rebuild")]
    plain: bool,

    /// Entries to compare with searches.
    #[arg(long, default_value_t = 20, value_parser = count::<u64>(), allow_negative_numbers = true)]
    samples: u64,

    /// Seed of the random entries.
    #[arg(long, default_value_t = 1, value_parser = count::<u64>(), allow_negative_numbers = true)]
    seed: u64,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    memory: Memory,

    #[command(flatten)]
    output: OutputOptions,
}

impl VerifyPdbArgs {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let destination = self.output.reserve()?;
        let kernel = kernel()?;
        // What can be said of a damaged file as well.
        let summary = pdb::inspect(&self.file).ok();
        let progress = SearchProgress::new();
        let result = self.check(kernel, &progress);
        drop(progress);
        let (pass, what) = match result {
            Ok(what) => (true, what),
            Err(Error::Pdb(error @ (PdbError::Wrong { .. } | PdbError::WrongPart { .. }))) => {
                (false, error.to_string())
            }
            Err(Error::Pdb(PdbError::File(error))) if error.is_damage() => {
                (false, error.to_string())
            }
            Err(error) => return Err(error.into()),
        };
        let file = self.file.display().to_string();
        let figures = json!({
            "file": file,
            "pass": pass,
            "checked": what,
            "entries": summary.as_ref().map(|s| s.entries),
            "checksum": summary.as_ref().map(|s| format!("{:016x}", s.checksum)),
        });
        let verdict = if pass { "PASS" } else { "FAIL" };
        let words = || format!("{verdict}  {file}: {what}\n");
        destination.write(&self.output.format.result(figures, "file,pass", words))?;
        Ok(Exit::unless(pass)?)
    }

    fn check(&self, kernel: Option<Kernel>, progress: &SearchProgress) -> Result<String, Error> {
        let table = Pdb::open(&self.file)?;
        if self.rebuild {
            let how = Build {
                threads: self.threads.get(),
                memory: Some(self.memory.budget()),
                plain: self.plain,
                kernel,
                ..Build::new(table.pattern().clone())
            };
            pdb::rebuild(&table, &how, progress)?;
            let builder = if self.plain { " by the plain builder" } else { "" };
            return Ok(format!(
                "checksums, and all entries, their order and their histogram rebuilt{builder}"
            ));
        }
        let check = pdb::spot_check(&table, self.samples, self.seed, progress)?;
        let given_up = match check.undecided {
            0 => String::new(),
            n => format!(" ({n} searches given up)"),
        };
        Ok(format!("checksums, and {} entries by search{given_up}", check.confirmed))
    }
}

// `tilewave pdb compress`, `decompress` and `export`: a database in another form.

/// Files and threads.
#[derive(clap::Args)]
pub struct CopyArgs {
    /// Database file to read.
    file: PathBuf,

    /// File to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Replace an existing file.
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    threads: Threads,
}

/// Write a database as a raw table in another solver's layout.
#[derive(clap::Args)]
#[command(after_help = "The layouts are described in docs/format.md.")]
pub struct Export {
    #[command(flatten)]
    files: CopyArgs,

    /// Layout of the table.
    #[arg(long, value_parser = choice(ExportLayout::NAMES))]
    layout: ExportLayout,
}

/// What writes a database in another form and returns the bytes written.
type Copy = fn(&Path, &Path, bool, Option<usize>, &dyn tilewave::Progress) -> Result<u64, PdbError>;

impl CopyArgs {
    /// Compresses or decompresses.
    pub fn run(&self, copy: Copy) -> Result<()> {
        self.write(|from, to, force, threads, progress| {
            let written = copy(from, to, force, threads, progress)?;
            let read = bytes(std::fs::metadata(from)?.len());
            Ok(format!("{} from {read}", bytes(written)))
        })
    }

    /// Writes the file and says what was written.
    fn write(
        &self,
        write: impl FnOnce(&Path, &Path, bool, Option<usize>, &SearchProgress) -> Result<String>,
    ) -> Result<()> {
        let (from, to) = (&self.file, &self.output);
        OutputFile::reserve(to, self.force)?;
        let progress = SearchProgress::new();
        let what = write(from, to, self.force, self.threads.get(), &progress)?;
        drop(progress);
        print_beside(to, &format!("wrote {}: {what}\n", to.display()))
    }
}

impl Export {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let layout = self.layout;
        self.files.write(|from, to, force, threads, progress| {
            let pdb = Pdb::open(from)?;
            let written = pdb::export(&pdb, layout, to, force, threads, progress)?;
            Ok(format!("{layout} layout, {}", bytes(written)))
        })
    }
}
