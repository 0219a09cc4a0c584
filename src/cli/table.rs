//! `tilewave table`: the depth of every state of a puzzle, in a file.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
    time::Instant,
};

use serde::Serialize;
use tilewave::{
    DistanceTable, Search, internals,
    progress::StopWhen,
    pruning::{EntrySize, PruningTable},
    report::{bytes, duration, histogram, thousands},
    table::TableEncoding,
};

use crate::cli::{
    Counted, Destination, Failure, Figures, OutputFile, OutputFormat, ResourceOptions, Result,
    SearchProgress, Subject, choice, counts_csv, progress, puzzle, refuse,
};

/// Build the exact distance of every state of a puzzle, or of a projection of one, or check such a table.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave table 3x4 -o 3x4.table\n  tilewave state --table 3x4.table '1 2 3 4/5 6 7 8/9 0 10 11'\n  \
                  tilewave table topspin:10,4 -o ts.table\n  tilewave solve --table ts.table '2 1 3 4 5 6 7 8 9 10'\n  \
                  tilewave table 3x3x3 --pieces edges:1-6 -o edges.table\n  tilewave table --check 3x4.table"
)]
pub struct Args {
    /// Board (3x4), family (topspin:10,4), cube or other puzzle (3x3x3), or file that defines one.
    #[arg(required_unless_present = "check", value_parser = puzzle)]
    puzzle: Option<String>,

    /// File to write.
    #[arg(short, long, value_name = "FILE", required_unless_present = "check")]
    output: Option<PathBuf>,

    /// Verify the checksums of a table instead, and show its contents.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["puzzle", "output", "goal", "metric", "directed", "encoding", "force", "memory", "pieces", "ignore_orientation", "same"])]
    check: Option<PathBuf>,

    /// With --check, compare every entry with those of its neighbours: a proof of all depths.
    #[arg(long, requires = "check")]
    neighbours: bool,

    #[command(flatten)]
    counted: Counted,

    /// How depths are stored [default: nibble for puzzles of several sets, else mod3].
    #[arg(long, value_parser = choice(EntrySize::NAMES))]
    encoding: Option<EntrySize>,

    /// Replace an existing file.
    #[arg(short, long)]
    force: bool,

    #[command(flatten)]
    resources: ResourceOptions,

    /// How to write what the table holds.
    #[arg(long, default_value = "text")]
    format: OutputFormat,
}

/// What a table holds.
#[derive(Serialize)]
struct TableFacts {
    file: String,
    #[serde(flatten)]
    subject: Subject,
    goal: String,
    encoding: &'static str,
    /// Entries, where some stand for no state.
    entries: u64,
    states: u64,
    complete: bool,
    diameter: Option<usize>,
    histogram: Vec<u64>,
    bytes: u64,
    checksum: String,
    seconds: f64,
    peak_memory_bytes: Option<u64>,
    #[serde(skip)]
    puzzle: String,
    #[serde(skip)]
    verb: &'static str,
}

/// A table of numbered states, or of a puzzle of several sets of pieces.
enum Table {
    Numbered(DistanceTable),
    Pruning(PruningTable),
}

impl Args {
    pub fn run(&self) -> Result<()> {
        let begun = Instant::now();
        let (table, file, verb, destination) = match (&self.check, &self.puzzle, &self.output) {
            (Some(file), _, _) => {
                let table = self.checked(file)?;
                (table, file, "sound", Some(Destination::stdout(self.format)))
            }
            (None, Some(puzzle), Some(file)) => {
                let table = self.make(puzzle, file)?;
                (table, file, "wrote", Destination::beside(file, self.format))
            }
            // The parser lets nothing else pass.
            (None, ..) => return Err(Failure::exit(2)),
        };
        let facts = table.facts(file, verb, begun);
        destination.map_or(Ok(()), |destination| destination.write(&facts))
    }

    /// Reads a table, all of it.
    fn checked(&self, file: &Path) -> Result<Table> {
        let mut begin = [0; 8];
        let read = File::open(file).and_then(|mut file| file.read_exact(&mut begin));
        if read.is_err() || begin != PruningTable::MAGIC {
            let table = DistanceTable::open(file)?;
            table.check()?;
            if self.neighbours {
                refuse!(
                    "{}: --neighbours is for tables of puzzles of several sets of pieces",
                    file.display()
                );
            }
            return Ok(Table::Numbered(table));
        }
        if !self.neighbours {
            let table = PruningTable::open(file)?;
            table.check()?;
            return Ok(Table::Pruning(table));
        }
        let progress = SearchProgress::new();
        let table = PruningTable::load_with(file, &StopWhen(progress::asked))?;
        table.verify(&progress)?;
        Ok(Table::Pruning(table))
    }

    /// Searches a puzzle and writes its table.
    fn make(&self, puzzle: &str, file: &Path) -> Result<Table> {
        let orbits = self.counted.orbits(puzzle)?;
        let space = if orbits.is_none() { Some(self.counted.space(puzzle)?) } else { None };
        // Refuse before any work what could not be kept.
        OutputFile::reserve(file, self.force)?;
        let (resources, progress) = (self.resources.get()?, SearchProgress::new());
        let stop = StopWhen(progress::asked);
        if let Some(puzzle) = orbits {
            let size = self.encoding.unwrap_or(EntrySize::Nibble);
            let table = PruningTable::build_with(&puzzle, size, resources, &progress)?;
            table.save(file, self.force, &stop)?;
            return Ok(Table::Pruning(table));
        }
        let encoding = match self.encoding {
            None | Some(EntrySize::Mod3) => TableEncoding::Mod3,
            Some(EntrySize::Byte) => TableEncoding::Byte,
            Some(EntrySize::Nibble) => {
                refuse!(
                    "--encoding nibble is for puzzles of several sets of pieces: take mod3 or byte"
                )
            }
        };
        let space = space.expect("a puzzle has numbered states or several sets of pieces");
        let search = Search::of(space).resources(resources);
        let table = DistanceTable::build_with(&search, encoding, &progress)?;
        table.save_with(file, self.force, &stop)?;
        Ok(Table::Numbered(table))
    }
}

impl Table {
    fn facts(&self, file: &Path, verb: &'static str, begun: Instant) -> TableFacts {
        let (subject, puzzle, goal, encoding, histogram) = match self {
            Table::Numbered(table) => {
                let space = table.space();
                // One table is no line among others.
                let subject = Subject::new(space, OutputFormat::Json);
                (
                    subject,
                    space.to_string(),
                    space.goal_text(),
                    table.encoding().name(),
                    table.histogram(),
                )
            }
            Table::Pruning(table) => {
                let puzzle = table.puzzle();
                let subject = Subject::listed(puzzle, OutputFormat::Json);
                let goal = puzzle.text(&puzzle.solved());
                (subject, puzzle.to_string(), goal, table.entry_size().name(), table.histogram())
            }
        };
        let states = histogram.iter().sum();
        let (complete, entries, bytes, checksum) = match self {
            Table::Numbered(table) => {
                let all = table.space().states();
                (all == Some(states), all.unwrap_or(states), table.file_bytes(), table.checksum())
            }
            Table::Pruning(table) => (true, table.entries(), table.file_bytes(), table.checksum()),
        };
        TableFacts {
            file: file.display().to_string(),
            subject,
            goal,
            encoding,
            entries,
            states,
            complete,
            diameter: complete.then_some(histogram.len() - 1),
            histogram: histogram.to_vec(),
            bytes,
            checksum: format!("{checksum:016x}"),
            seconds: begun.elapsed().as_secs_f64(),
            peak_memory_bytes: internals::peak_memory(),
            puzzle,
            verb,
        }
    }
}

impl Figures for TableFacts {
    const COLUMNS: &'static str = "depth,states";

    fn csv(&self) -> String {
        counts_csv(&self.histogram)
    }

    fn words(&self) -> String {
        let TableFacts { verb, file, goal, encoding, puzzle, .. } = self;
        // The solved state of many pieces is a long line.
        let goal = if goal.len() > 60 { String::new() } else { format!("goal {goal}, ") };
        format!(
            "{}{verb} {file}: {puzzle}, {goal}{} states, {} {}, {encoding}, {} in {}\n",
            histogram(&self.histogram, self.states),
            thousands(self.states),
            if self.complete { "diameter" } else { "depth" },
            self.histogram.len() - 1,
            bytes(self.bytes),
            duration(self.seconds),
        )
    }
}
