//! `tilewave table`: the depth of every state of a puzzle, in a file.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use serde::Serialize;
use tilewave::{
    DistanceTable, Search, internals,
    progress::StopWhen,
    report::{bytes, duration, histogram, thousands},
    table::TableEncoding,
};

use crate::cli::{
    Counted, Destination, Failure, Figures, OutputFile, OutputFormat, ResourceOptions, Result,
    SearchProgress, Subject, choice, counts_csv, progress, puzzle,
};

/// Build a distance table, the exact distance of every state, or check one.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave table 3x4 -o 3x4.table\n  tilewave state --table 3x4.table '1 2 3 4/5 6 7 8/9 0 10 11'\n  \
                  tilewave solve --table 3x4.table '11 10 9 8/7 6 5 4/3 2 1 0'\n  tilewave table topspin:10,4 -o ts.table\n  tilewave solve --table ts.table '2 1 3 4 5 6 7 8 9 10'\n  \
                  tilewave table --check 3x4.table"
)]
pub struct Args {
    /// Size of a board (3x4), family of puzzles (topspin:10,4) or file of a puzzle with one set of pieces (dino.gap); cubes have
    /// no tables.
    #[arg(required_unless_present = "check", value_parser = puzzle)]
    puzzle: Option<String>,

    /// File to write.
    #[arg(short, long, value_name = "FILE", required_unless_present = "check")]
    output: Option<PathBuf>,

    /// Verify the checksums of a table instead, and show its contents.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["puzzle", "output", "goal", "metric", "directed", "encoding", "force", "memory"])]
    check: Option<PathBuf>,

    #[command(flatten)]
    counted: Counted,

    /// How depths are stored.
    #[arg(long, value_parser = choice(TableEncoding::NAMES), default_value = "mod3")]
    encoding: TableEncoding,

    /// Replace an existing file.
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    resources: ResourceOptions,

    /// How to write what the table holds.
    #[arg(long, default_value = "text")]
    format: OutputFormat,
}

/// What a table holds.
#[derive(Serialize)]
struct TableFacts<'a> {
    file: String,
    #[serde(flatten)]
    subject: Subject,
    goal: String,
    encoding: &'static str,
    states: u64,
    complete: bool,
    diameter: Option<usize>,
    histogram: &'a [u64],
    bytes: u64,
    checksum: String,
    seconds: f64,
    peak_memory_bytes: Option<u64>,
    #[serde(skip)]
    table: &'a DistanceTable,
    #[serde(skip)]
    verb: &'static str,
}

impl Args {
    pub fn run(&self) -> Result<()> {
        let begun = Instant::now();
        let (table, file, verb, destination) = match (&self.check, &self.puzzle, &self.output) {
            (Some(file), _, _) => {
                let table = DistanceTable::open(file)?;
                table.check()?;
                (table, file, "sound", Some(Destination::stdout(self.format)))
            }
            (None, Some(puzzle), Some(file)) => {
                let table = self.make(puzzle, file)?;
                (table, file, "wrote", Destination::beside(file, self.format))
            }
            // The parser lets nothing else pass.
            (None, ..) => return Err(Failure::exit(2)),
        };
        let (histogram, space) = (table.histogram(), table.space());
        let states = histogram.iter().sum();
        let complete = space.states() == Some(states);
        let facts = TableFacts {
            file: file.display().to_string(),
            // One table is no line among others.
            subject: Subject::new(space, OutputFormat::Json),
            goal: space.goal_text(),
            encoding: table.encoding().name(),
            states,
            complete,
            diameter: complete.then_some(histogram.len() - 1),
            histogram,
            bytes: table.file_bytes(),
            checksum: format!("{:016x}", table.checksum()),
            seconds: begun.elapsed().as_secs_f64(),
            peak_memory_bytes: internals::peak_memory(),
            table: &table,
            verb,
        };
        destination.map_or(Ok(()), |destination| destination.write(&facts))
    }

    /// Searches a puzzle and writes its table.
    fn make(&self, puzzle: &str, file: &Path) -> Result<DistanceTable> {
        let space = self.counted.space(puzzle)?;
        // Refuse before any work what could not be kept.
        OutputFile::reserve(file, self.force)?;
        let search = Search::of(space).resources(self.resources.get()?);
        let progress = SearchProgress::new();
        let table = DistanceTable::build_with(&search, self.encoding, &progress)?;
        table.save_with(file, self.force, &StopWhen(progress::asked))?;
        Ok(table)
    }
}

impl Figures for TableFacts<'_> {
    const COLUMNS: &'static str = "depth,states";

    fn csv(&self) -> String {
        counts_csv(self.histogram)
    }

    fn words(&self) -> String {
        let TableFacts { verb, file, goal, encoding, .. } = self;
        format!(
            "{}{verb} {file}: {}, goal {goal}, {} states, {} {}, {encoding}, {} in {}\n",
            histogram(self.histogram, self.states),
            self.table.space(),
            thousands(self.states),
            if self.complete { "diameter" } else { "depth" },
            self.histogram.len() - 1,
            bytes(self.bytes),
            duration(self.seconds),
        )
    }
}
