//! `tilewave pdb probe`, `compress` and `export`: databases that are there.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use serde::Serialize;
use tilewave::{
    Board, Pattern, Pdb,
    pdb::{self, ExportLayout, PdbError, Summary, check_disjoint},
    report::bytes,
};

use crate::cli::{
    Destination, Figures, OutputFile, OutputFormat, OutputOptions, Result, SearchProgress, Threads,
    choice, refuse,
};

/// What is to be said of every database.
#[derive(Serialize)]
pub struct DatabaseFacts<'a> {
    pub board: String,
    pub goal: String,
    pub tiles: &'a [u16],
    pub kind: &'static str,
    pub encoding: &'static str,
    pub entries: u64,
    pub max: u8,
    pub mean: f64,
    pub histogram: &'a [u64],
    pub bytes: u64,
    pub checksum: String,
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

// `tilewave pdb probe`: the values of boards, and their sums.

/// Look up boards in one or more databases, and show the values and their sum.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave pdb probe '15 2 1 12/8 5 6 11/4 9 10 7/3 14 13 0' --pdb 7.pdb\n  \
                  tilewave pdb probe --pdb 7.pdb --pdb 8.pdb < boards.txt"
)]
pub struct ProbeArgs {
    /// Boards, each in quotes [default: one per line of standard input].
    ///
    /// Tiles are separated by spaces, rows by '/'; the blank is 0.
    #[arg(value_name = "BOARD")]
    boards: Vec<String>,

    /// Pattern database to use; repeatable.
    #[arg(long, value_name = "FILE", required = true)]
    pdb: Vec<PathBuf>,

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
        let tables = self.pdb.iter().map(Pdb::open);
        let tables = tables.collect::<Result<Vec<Pdb>, _>>()?;
        let patterns: Vec<Pattern> = tables.iter().map(|t| t.pattern().clone()).collect();
        if patterns.iter().any(|p| p.goal() != patterns[0].goal()) {
            refuse!("the databases have different goals: use databases for one goal at a time");
        }
        let additive = check_disjoint(&patterns).is_ok();
        let unknown = if additive {
            "not every value is known"
        } else if patterns.iter().any(Pattern::has_blank) {
            "one of the databases counts every move"
        } else {
            "the databases share tiles"
        };
        let given = self.boards.iter().filter(|board| *board != "-");
        let mut boards: Vec<String> = given.cloned().collect();
        if boards.is_empty() {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            boards = lines.map(String::from).collect();
        }
        destination.heading(ProbeFacts::COLUMNS)?;
        for text in &boards {
            let board = Board::parse(text, Some(patterns[0].size()))?;
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
