//! `tilewave table`: the depth of every state of a puzzle, in a file.

use std::{
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
    Counted, Destination, Figures, OutputFile, OutputFormat, ResourceOptions, Result,
    SearchProgress, Subject, choice, counts_csv, facts, frontier, progress, puzzle, refuse,
};

/// Build a distance table for a puzzle, or for some of its pieces.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave table 3x4 -o 3x4.table\n  tilewave state --table 3x4.table '1 2 3 4/5 6 7 8/9 0 10 11'\n  \
                  tilewave table topspin:10,4 -o ts.table\n  tilewave solve --table ts.table '2 1 3 4 5 6 7 8 9 10'\n  \
                  tilewave table 3x3x3 --pieces edges:1-6 -o edges.table"
)]
pub struct Args {
    /// Board (3x4), member of a family (topspin:10,4), cube or other named puzzle (3x3x3), or puzzle file.
    #[arg(value_parser = puzzle)]
    puzzle: String,

    /// Table file to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    #[command(flatten)]
    counted: Counted,

    /// How depths are stored [default: nibble for puzzles with several sets of pieces, otherwise mod3].
    #[arg(long, value_parser = choice(EntrySize::NAMES))]
    encoding: Option<EntrySize>,

    /// Keep one entry per class of symmetric states: a smaller table, but slower lookups.
    ///
    /// This works only for puzzles with several sets of pieces. It divides the number of entries by nearly the number
    /// of symmetries.
    #[arg(long)]
    up_to_symmetry: bool,

    /// Build the table directly in its file, for tables larger than memory.
    ///
    /// This works only for puzzles with several sets of pieces, and needs a fast disk. The file appears only once it is
    /// complete.
    #[arg(long)]
    on_disk: bool,

    /// Replace an existing file.
    #[arg(short, long)]
    force: bool,

    /// Report format.
    #[arg(long, default_value = "text")]
    format: OutputFormat,

    #[command(flatten)]
    resources: ResourceOptions,
}

/// What a table holds.
#[derive(Serialize)]
pub struct TableFacts {
    #[serde(flatten)]
    subject: Subject,
    goal: String,
    encoding: &'static str,
    /// Entries, where some stand for no state.
    entries: u64,
    /// Where entries stand for symmetric states.
    #[serde(skip_serializing_if = "Option::is_none")]
    symmetries: Option<usize>,
    states: u64,
    complete: bool,
    diameter: Option<usize>,
    histogram: Vec<u64>,
    bytes: u64,
    checksum: String,
    #[serde(skip)]
    puzzle: String,
}

/// What was built.
#[derive(Serialize)]
struct BuiltTable {
    file: String,
    #[serde(flatten)]
    of: TableFacts,
    seconds: f64,
    peak_memory_bytes: Option<u64>,
}

/// A table of numbered states, or of a puzzle of several sets of pieces.
pub enum Table {
    Numbered(DistanceTable),
    Pruning(PruningTable),
}

impl Args {
    pub fn run(&self) -> Result<()> {
        let (begun, file) = (Instant::now(), &self.output);
        let table = self.make(&self.puzzle, file)?;
        let Some(destination) = Destination::beside(file, self.format) else {
            return Ok(());
        };
        destination.write(&BuiltTable {
            file: file.display().to_string(),
            of: TableFacts::new(&table),
            seconds: begun.elapsed().as_secs_f64(),
            peak_memory_bytes: internals::peak_memory(),
        })
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
            if self.on_disk {
                let (kind, to) = ((size, self.up_to_symmetry), (file, self.force));
                let table = PruningTable::build_on_disk(&puzzle, kind, to, resources, &progress)?;
                return Ok(Table::Pruning(table));
            }
            let table = match self.up_to_symmetry {
                true => PruningTable::build_up_to_symmetry(&puzzle, size, resources, &progress),
                false => PruningTable::build_with(&puzzle, size, resources, &progress),
            }?;
            table.save(file, self.force, &stop)?;
            return Ok(Table::Pruning(table));
        }
        for (given, name) in [(self.up_to_symmetry, "up-to-symmetry"), (self.on_disk, "on-disk")] {
            if given {
                refuse!("--{name} is for puzzles with several sets of pieces: leave it out");
            }
        }
        let encoding = match self.encoding {
            None | Some(EntrySize::Mod3) => TableEncoding::Mod3,
            Some(EntrySize::Byte) => TableEncoding::Byte,
            Some(EntrySize::Nibble) => {
                refuse!(
                    "--encoding nibble is for puzzles with several sets of pieces: use mod3 or byte"
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

impl TableFacts {
    pub fn new(of: &Table) -> TableFacts {
        let (subject, puzzle, goal, encoding, histogram) = match of {
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
                let goal = frontier::goal_text(puzzle);
                (subject, puzzle.to_string(), goal, table.entry_size().name(), table.histogram())
            }
        };
        let states = histogram.iter().sum();
        let (complete, entries, bytes, checksum) = match of {
            Table::Numbered(table) => {
                let all = table.space().states();
                (all == Some(states), all.unwrap_or(states), table.file_bytes(), table.checksum())
            }
            Table::Pruning(table) => (true, table.entries(), table.file_bytes(), table.checksum()),
        };
        TableFacts {
            subject,
            goal,
            encoding,
            entries,
            symmetries: match of {
                Table::Pruning(table) => Some(table.symmetries()).filter(|&order| order > 1),
                Table::Numbered(_) => None,
            },
            states,
            complete,
            diameter: complete.then_some(histogram.len() - 1),
            histogram: histogram.to_vec(),
            bytes,
            checksum: format!("{checksum:016x}"),
            puzzle,
        }
    }
}

impl TableFacts {
    fn deepest(&self) -> String {
        let word = if self.complete { "God's number" } else { "depth" };
        format!("{word} {}", self.histogram.len() - 1)
    }

    /// The goal, unless it is the long line of a puzzle of many pieces.
    fn short_goal(&self) -> String {
        if self.goal.len() > 60 { String::new() } else { self.goal.clone() }
    }
}

impl Figures for TableFacts {
    const COLUMNS: &'static str = "depth,states";

    fn csv(&self) -> String {
        counts_csv(&self.histogram)
    }

    fn words(&self) -> String {
        let rows = [
            ("puzzle", self.puzzle.clone()),
            ("goal", self.short_goal()),
            ("encoding", self.encoding.into()),
            (
                "entries",
                match self.symmetries {
                    Some(order) => format!(
                        "{}, one per class of symmetric states ({order} symmetries)",
                        thousands(self.entries)
                    ),
                    None => thousands(self.entries),
                },
            ),
            ("states", format!("{}, {}", thousands(self.states), self.deepest())),
            ("bytes", bytes(self.bytes)),
            ("checksum", self.checksum.clone()),
        ];
        histogram(&self.histogram, self.states) + &facts(10, rows)
    }
}

impl Figures for BuiltTable {
    const COLUMNS: &'static str = TableFacts::COLUMNS;

    fn csv(&self) -> String {
        self.of.csv()
    }

    fn words(&self) -> String {
        let TableFacts { encoding, puzzle, .. } = &self.of;
        let goal = self.of.short_goal();
        let goal = if goal.is_empty() { goal } else { format!("goal {goal}, ") };
        format!(
            "{}wrote {}: {puzzle}, {goal}{} states, {}, {encoding}, {} in {}\n",
            histogram(&self.of.histogram, self.of.states),
            self.file,
            thousands(self.of.states),
            self.of.deepest(),
            bytes(self.of.bytes),
            duration(self.seconds),
        )
    }
}
