//! `tilewave table`: the depth of every state of a puzzle, in a file.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use serde_json::json;
use tilewave::internals;
use tilewave::puzzle::Metric;
use tilewave::report::{bytes, duration, histogram, thousands};
use tilewave::search::Search;
use tilewave::table::{DistanceTable, TableEncoding, build};

use crate::cli::failure::Exit;
use crate::cli::options::{FORMATS, Memory, OutputFormat, Threads, choice, kernel};
use crate::cli::output::{OutputFile, counts_csv, print, print_beside};
use crate::cli::progress::{self, SearchProgress};
use crate::cli::puzzle::{Counted, puzzle};

/// Write the distance table of a puzzle, the depth of every state, or check one.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave table 3x4 -o 3x4.table\n  tilewave state --table 3x4.table '1 2 3 4/5 6 7 8/9 0 10 11'\n  \
                  tilewave solve --table 3x4.table '11 10 9 8/7 6 5 4/3 2 1 0'\n  tilewave table topspin:10,4 -o ts.table\n  tilewave solve --table ts.table '2 1 3 4 5 6 7 8 9 10'\n  \
                  tilewave table --check 3x4.table"
)]
pub struct Args {
    /// Size of a board (3x4), family of puzzles (topspin:10,4) or file that defines one (dino.gap).
    #[arg(required_unless_present = "check", value_parser = puzzle)]
    puzzle: Option<String>,

    /// File to write.
    #[arg(short, long, value_name = "FILE", required_unless_present = "check")]
    output: Option<PathBuf>,

    /// Check the checksums of a table instead, and say what it holds.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["puzzle", "output", "goal", "metric", "directed", "quarter", "encoding", "force", "memory"])]
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
    threads: Threads,

    #[command(flatten)]
    memory: Memory,

    /// How to write what the table holds.
    #[arg(long, value_parser = choice(FORMATS), default_value = "text")]
    format: OutputFormat,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let begun = Instant::now();
        let (table, file) = match (&self.check, &self.puzzle, &self.output) {
            (Some(file), _, _) => {
                let table = DistanceTable::open(file)?;
                table.check()?;
                (table, file)
            }
            (None, Some(puzzle), Some(file)) => (self.make(puzzle, file)?, file),
            // The parser lets nothing else pass.
            (None, ..) => return Err(Exit(2).into()),
        };
        let report = self.report(&table, file, begun.elapsed().as_secs_f64());
        match self.check {
            Some(_) => print(&report),
            None => print_beside(file, &report),
        }
    }

    /// Searches a puzzle and writes its table.
    fn make(&self, puzzle: &str, file: &Path) -> Result<DistanceTable> {
        let space = self.counted.space(puzzle)?;
        // Refuse before any work what could not be kept.
        OutputFile::reserve(file, self.force)?;
        let mut search = Search::of(space);
        search.threads = self.threads.get();
        search.kernel = kernel()?;
        search.memory = Some(self.memory.budget());
        let progress = SearchProgress::new();
        let table = build(&search, self.encoding, &progress)?;
        let saved = table.save(file, self.force, |_| !progress::asked());
        saved?;
        Ok(table)
    }

    fn report(&self, table: &DistanceTable, file: &Path, seconds: f64) -> String {
        let counts = table.histogram();
        let (states, deepest) = (counts.iter().sum::<u64>(), counts.len() - 1);
        let space = table.space();
        let complete = space.states() == Some(states);
        let figures = json!({
            "file": file.display().to_string(),
            "board": space.size().map(|size| size.to_string()),
            "puzzle": space.name(),
            "metric": space.metric().map(Metric::name),
            "goal": space.goal_text(),
            "encoding": table.encoding().name(),
            "states": states,
            "complete": complete,
            "diameter": complete.then_some(deepest),
            "histogram": counts,
            "bytes": table.file_bytes(),
            "checksum": format!("{:016x}", table.checksum()),
            "seconds": seconds,
            "peak_memory_bytes": internals::peak_memory(),
        });
        let words = || {
            format!(
                "{}\n{} {}: {space}, goal {}, {} states, {} {deepest}, {}, {} in {}\n",
                histogram(counts, states).trim_end(),
                match self.check {
                    Some(_) => "sound",
                    None => "wrote",
                },
                file.display(),
                space.goal_text(),
                thousands(states),
                if complete { "diameter" } else { "depth" },
                table.encoding(),
                bytes(table.file_bytes()),
                duration(seconds),
            )
        };
        match self.format {
            OutputFormat::Csv => counts_csv("depth,states", counts),
            format => format.result(figures, "", words),
        }
    }
}
