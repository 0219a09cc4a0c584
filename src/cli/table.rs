//! `tilewave table`: the depth of every state of a board, in a file.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use serde_json::json;
use tilewave::Error;
use tilewave::bfs::Search;
use tilewave::puzzle::tiles::Size;
use tilewave::report::{bytes, duration, histogram, one_key_per_line, thousands};
use tilewave::store;
use tilewave::table::{Encoding, Table, build};

use super::options::{FORMATS, Format, GoalOption, Memory, Threads, kernel};
use super::output::{OutputFile, print, print_beside};
use super::progress::Progress;
use super::values::{Choice, choice};
use super::{Talk, interrupt};

/// Write the distance table of a board, the depth of every state, or check one.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave table 3x4 -o 3x4.table\n  tilewave state --table 3x4.table '1 2 3 4/5 6 7 8/9 0 10 11'\n  \
                  tilewave solve --table 3x4.table '11 10 9 8/7 6 5 4/3 2 1 0'\n  tilewave table --check 3x4.table"
)]
pub struct Args {
    /// Size of the board, rows x columns, for example 3x4.
    #[arg(required_unless_present = "check")]
    board: Option<Size>,

    /// File to write.
    #[arg(short, long, value_name = "FILE", required_unless_present = "check")]
    output: Option<PathBuf>,

    /// Check the checksums of a table instead, and say what it holds.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["board", "output", "goal", "encoding", "force", "memory"])]
    check: Option<PathBuf>,

    #[command(flatten)]
    goal: GoalOption,

    /// How depths are stored.
    #[arg(long, value_parser = choice(ENCODINGS), default_value = "mod3")]
    encoding: Encoding,

    /// Replace an existing file.
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    memory: Memory,

    /// How to write what the table holds.
    #[arg(long, value_parser = choice(FORMATS), default_value = "text")]
    format: Format,
}

/// The encodings, as options.
const ENCODINGS: &[Choice<Encoding>] = &[
    (
        "mod3",
        Encoding::Mod3,
        "Two bits per state: the depth modulo 3",
    ),
    ("byte", Encoding::Byte, "One byte per state: the depth"),
];

impl Args {
    /// Runs the command.
    pub fn run(&self, talk: Talk) -> Result<ExitCode> {
        let begun = Instant::now();
        let (table, file) = match (&self.check, &self.board, &self.output) {
            (Some(file), _, _) => {
                let table = Table::open(file)?;
                table.check().map_err(Error::from)?;
                (table, file)
            }
            (None, Some(board), Some(file)) => (self.make(*board, file, talk)?, file),
            // The parser lets nothing else pass.
            (None, ..) => return Ok(ExitCode::from(2)),
        };
        let report = self.report(&table, file, begun.elapsed().as_secs_f64())?;
        match self.check {
            Some(_) => print(&report)?,
            None => print_beside(file, &report)?,
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Searches a board and writes its table.
    fn make(&self, board: Size, file: &Path, talk: Talk) -> Result<Table> {
        let goal = self.goal.board(board)?;
        // Refuse before any work what could not be kept.
        OutputFile::reserve(file, self.force)?;
        let mut search = Search::new(goal);
        search.threads = self.threads.get();
        search.kernel = kernel()?;
        search.memory = Some(self.memory.budget());
        let progress = Progress::new(talk);
        let table = build(&search, self.encoding, &progress)?;
        let saved = table.save(file, self.force, |_| !interrupt::asked());
        saved.map_err(Error::from)?;
        Ok(table)
    }

    fn report(&self, table: &Table, file: &Path, seconds: f64) -> Result<String> {
        let counts = table.histogram();
        let (states, deepest) = (counts.iter().sum::<u64>(), counts.len() - 1);
        let size = table.goal().size();
        let complete = size.states() == Some(states);
        Ok(match self.format {
            Format::Json => one_key_per_line(&json!({
                "file": file.display().to_string(),
                "board": size.to_string(),
                "goal": table.goal().to_string(),
                "encoding": table.encoding().name(),
                "states": states,
                "complete": complete,
                "diameter": complete.then_some(deepest),
                "histogram": counts,
                "bytes": table.file_bytes(),
                "checksum": format!("{:016x}", table.checksum()),
                "seconds": seconds,
                "peak_memory_bytes": store::peak_memory(),
                "version": env!("CARGO_PKG_VERSION"),
            }))?,
            Format::Csv => {
                let rows = counts.iter().enumerate();
                let rows = rows.map(|(depth, states)| format!("{depth},{states}\n"));
                std::iter::once("depth,states\n".to_string())
                    .chain(rows)
                    .collect()
            }
            Format::Text => format!(
                "{}\n{} {}: {size}, goal {}, {} states, {} {deepest}, {}, {} in {}\n",
                histogram(counts, states).trim_end(),
                match self.check {
                    Some(_) => "sound",
                    None => "wrote",
                },
                file.display(),
                table.goal(),
                thousands(states),
                if complete { "diameter" } else { "depth" },
                table.encoding(),
                bytes(table.file_bytes()),
                duration(seconds),
            ),
        })
    }
}
