//! `tilewave pdb info`, `probe`, `verify`, `compress` and `export`: databases that are there.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use serde::Serialize;
use tilewave::{
    Board, Pattern, Pdb, Resources,
    pdb::{self, Build, ExportLayout, Kind, PdbError, Summary, check_disjoint, inspect},
    report::{bytes, thousands, value_histogram},
};

use crate::cli::{
    Destination, Failure, Figures, OutputFile, OutputFormat, OutputOptions, ResourceOptions,
    Result, SearchProgress, Threads, choice, count, counts_csv, facts, refuse,
};

/// What is to be said of every database.
#[derive(Serialize)]
pub struct DatabaseFacts<'a> {
    pub board: String,
    goal: String,
    pub tiles: &'a [u16],
    pub kind: &'static str,
    encoding: &'static str,
    pub entries: u64,
    pub max: u8,
    pub mean: f64,
    pub histogram: &'a [u64],
    pub bytes: u64,
    checksum: String,
}

impl DatabaseFacts<'_> {
    pub fn new(of: &Summary) -> DatabaseFacts<'_> {
        DatabaseFacts {
            board: of.pattern.size().to_string(),
            goal: of.pattern.goal().to_string(),
            tiles: of.pattern.tiles(),
            kind: of.kind.name(),
            encoding: of.encoding.name(),
            entries: of.entries,
            max: of.maximum(),
            mean: of.mean(),
            histogram: &of.histogram,
            bytes: of.file_bytes(),
            checksum: format!("{:016x}", of.checksum),
        }
    }
}

/// Tiles as they are shown: `1,2,3`.
pub fn tiles(tiles: &[u16]) -> String {
    let words: Vec<String> = tiles.iter().map(u16::to_string).collect();
    words.join(",")
}

/// Show the header, the histogram and the mean of a database.
#[derive(clap::Args)]
pub struct InfoArgs {
    /// Database file, compressed or not.
    file: PathBuf,

    #[command(flatten)]
    output: OutputOptions,
}

/// What a database file says of itself.
#[derive(Serialize)]
struct InfoFacts<'a> {
    #[serde(flatten)]
    of: DatabaseFacts<'a>,
    compressed: bool,
    order: &'static str,
    metric: &'static str,
    reached: u64,
}

impl InfoArgs {
    pub fn run(&self) -> Result<()> {
        let destination = self.output.reserve()?;
        let summary = inspect(&self.file)?;
        let (order, metric) = match summary.kind {
            Kind::Minimum => ("lexicographic placements", "moves of pattern tiles"),
            Kind::AllMoves => ("lexicographic placements", "moves of all tiles"),
            Kind::Regions => ("sets, regions, arrangements", "moves of pattern tiles"),
        };
        destination.write(&InfoFacts {
            of: DatabaseFacts::new(&summary),
            compressed: summary.compressed,
            order,
            metric,
            reached: summary.histogram.iter().sum(),
        })
    }
}

impl Figures for InfoFacts<'_> {
    const COLUMNS: &'static str = "value,entries";

    fn csv(&self) -> String {
        counts_csv(self.of.histogram)
    }

    fn words(&self) -> String {
        let of = &self.of;
        let compressed = if self.compressed { ", compressed" } else { "" };
        let rows = [
            ("board", of.board.clone()),
            ("goal", of.goal.clone()),
            ("tiles", tiles(of.tiles)),
            ("kind", of.kind.into()),
            ("encoding", format!("{}{compressed}", of.encoding)),
            ("order", self.order.into()),
            ("metric", self.metric.into()),
            ("entries", thousands(of.entries)),
            ("reached", thousands(self.reached)),
            ("maximum", of.max.to_string()),
            ("mean", format!("{:.6}", of.mean)),
            ("bytes", bytes(of.bytes)),
            ("checksum", of.checksum.clone()),
        ];
        value_histogram(of.histogram, self.reached) + &facts(10, rows)
    }
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

    /// The board, in quotes: tiles separated by spaces, rows by '/', the blank as 0; - reads one board per line from stdin.
    #[arg(long)]
    board: String,

    #[command(flatten)]
    output: OutputOptions,
}

/// The values of a board; a value or a sum that is not known is null in JSON and a dash elsewhere.
#[derive(Serialize)]
struct ProbeFacts {
    board: String,
    values: Vec<Option<u8>>,
    sum: Option<u32>,
    /// Why there is no sum.
    #[serde(skip)]
    unknown: &'static str,
}

impl ProbeArgs {
    pub fn run(&self) -> Result<()> {
        let mut destination = self.output.reserve()?;
        let tables = self.files.iter().map(Pdb::open);
        let tables = tables.collect::<Result<Vec<Pdb>, _>>()?;
        let patterns: Vec<Pattern> = tables.iter().map(|t| t.pattern().clone()).collect();
        if patterns.iter().any(|p| p.goal() != patterns[0].goal()) {
            refuse!("the databases have different goals: values of one goal can be shown together");
        }
        let additive = check_disjoint(&patterns).is_ok();
        let unknown = if additive {
            "not every value is known"
        } else if patterns.iter().any(Pattern::has_blank) {
            "one counts every move"
        } else {
            "the databases share tiles"
        };
        let input = match self.board.as_str() {
            "-" => {
                let mut text = String::new();
                std::io::stdin().read_to_string(&mut text)?;
                text
            }
            board => board.replace('\n', "/"),
        };
        destination.heading(ProbeFacts::COLUMNS)?;
        for line in input.lines().filter(|line| !line.trim().is_empty()) {
            let board = Board::parse(line, Some(patterns[0].size()))?;
            let values = tables.iter().map(|table| table.value(&board));
            let values = values.collect::<Result<Vec<Option<u8>>, _>>()?;
            let sum: Option<u32> = values.iter().map(|v| v.map(u32::from)).sum();
            let sum = sum.filter(|_| additive);
            destination.line(&ProbeFacts { board: board.to_string(), values, sum, unknown })?;
        }
        destination.finish()
    }
}

impl ProbeFacts {
    /// The values with spaces between them.
    fn shown(&self) -> String {
        let shown = self.values.iter().map(|value| value.map_or("-".into(), |v| v.to_string()));
        shown.collect::<Vec<_>>().join(" ")
    }
}

impl Figures for ProbeFacts {
    const COLUMNS: &'static str = "board,values,sum";

    fn csv(&self) -> String {
        let sum = self.sum.map_or("-".into(), |sum| sum.to_string());
        format!("{},{},{sum}\n", self.board, self.shown())
    }

    fn words(&self) -> String {
        let unknown = format!("no sum: {}", self.unknown);
        let sum = self.sum.map_or(unknown, |sum| format!("sum {sum}"));
        format!("{}  {}  {sum}\n", self.board, self.shown())
    }
}

// `tilewave pdb verify`: checksums, spot checks, or the whole table again.

/// Check a database: its checksums and some random entries, or with --rebuild every entry.
#[derive(clap::Args)]
#[command(after_help = "Exit code 1 when the database is damaged or wrong.")]
pub struct VerifyPdbArgs {
    /// Database file.
    file: PathBuf,

    /// Build the whole table again and compare every entry.
    #[arg(long)]
    rebuild: bool,

    /// With --rebuild: use the plain builder, which was written independently of the fast one.
    #[arg(long, requires = "rebuild")]
    plain: bool,

    /// How many random entries to compare with A* searches.
    #[arg(long, default_value_t = 20, value_parser = count::<u64>(), allow_negative_numbers = true)]
    samples: u64,

    /// Seed of the random entries.
    #[arg(long, default_value_t = 1, value_parser = count::<u64>(), allow_negative_numbers = true)]
    seed: u64,

    #[command(flatten)]
    resources: ResourceOptions,

    #[command(flatten)]
    output: OutputOptions,
}

/// What was found right or wrong in a database.
#[derive(Serialize)]
struct CheckFacts {
    file: String,
    pass: bool,
    checked: String,
    entries: Option<u64>,
    checksum: Option<String>,
}

impl Figures for CheckFacts {
    const COLUMNS: &'static str = "file,pass";

    fn words(&self) -> String {
        let verdict = if self.pass { "PASS" } else { "FAIL" };
        format!("{verdict}  {}: {}\n", self.file, self.checked)
    }
}

impl VerifyPdbArgs {
    pub fn run(&self) -> Result<()> {
        let destination = self.output.reserve()?;
        let resources = self.resources.get()?;
        // What can be said of a damaged file as well.
        let summary = pdb::inspect(&self.file).ok();
        let progress = SearchProgress::new();
        let result = self.check(&progress, resources);
        drop(progress);
        let (pass, checked) = match result? {
            Ok(checked) => (true, checked),
            Err(PdbError::Wrong(what)) => (false, what),
            Err(PdbError::System(error)) if error.is_damage() => (false, error.to_string()),
            Err(error) => return Err(error.into()),
        };
        destination.write(&CheckFacts {
            file: self.file.display().to_string(),
            pass,
            checked,
            entries: summary.as_ref().map(|s| s.entries),
            checksum: summary.as_ref().map(|s| format!("{:016x}", s.checksum)),
        })?;
        Failure::unless(pass)
    }

    /// What was checked, or what is wrong with the database.
    fn check(
        &self,
        progress: &SearchProgress,
        resources: Resources,
    ) -> Result<Result<String, PdbError>> {
        let table = match Pdb::load(&self.file) {
            Ok(table) => table,
            Err(error) => return Ok(Err(error)),
        };
        if self.rebuild {
            let how = Build::new(table.pattern().clone()).plain(self.plain).resources(resources);
            let builder = if self.plain { " by the plain builder" } else { "" };
            let words = format!(
                "checksums, and all entries, their order and their histogram rebuilt{builder}"
            );
            return Ok(pdb::rebuild_with(&table, &how, progress).map(|()| words));
        }
        Ok(pdb::spot_check_with(&table, self.samples, self.seed, progress).map(|check| {
            let given_up = match check.undecided {
                0 => String::new(),
                n => format!(" ({n} searches given up)"),
            };
            format!("checksums, and {} entries by search{given_up}", check.confirmed)
        }))
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
    #[arg(short, long)]
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
type Copy = fn(&Path, &Path, bool, &dyn tilewave::Progress) -> Result<u64, PdbError>;

impl CopyArgs {
    pub fn run(&self, copy: Copy) -> Result<()> {
        self.write(|progress| {
            let written = copy(&self.file, &self.output, self.force, progress)?;
            let read = bytes(std::fs::metadata(&self.file)?.len());
            Ok(format!("{} from {read}", bytes(written)))
        })
    }

    /// Writes the file and says what was written.
    fn write(&self, write: impl FnOnce(&SearchProgress) -> Result<String> + Send) -> Result<()> {
        OutputFile::reserve(&self.output, self.force)?;
        let progress = SearchProgress::new();
        let resources = tilewave::Resources::new().threads(self.threads.get());
        let what = resources.install(|| write(&progress))??;
        drop(progress);
        let beside = Destination::beside(&self.output, OutputFormat::Text);
        let words = format!("wrote {}: {what}\n", self.output.display());
        beside.map_or(Ok(()), |mut destination| destination.add(&words))
    }
}

impl Export {
    pub fn run(&self) -> Result<()> {
        let CopyArgs { file, output, force, .. } = &self.files;
        self.files.write(|progress| {
            let pdb = Pdb::load(file)?;
            let written = pdb::export_with(&pdb, self.layout, output, *force, progress)?;
            Ok(format!("{} layout, {}", self.layout, bytes(written)))
        })
    }
}
