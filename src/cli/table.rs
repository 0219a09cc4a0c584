//! `tilewave table`: the depth of every state of a board, in a file.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use clap::ValueEnum;
use serde_json::json;
use tilewave::Error;
use tilewave::bfs::Search;
use tilewave::report::{bytes, duration, histogram, one_key_per_line, thousands};
use tilewave::store;
use tilewave::table::{Encoding, Table, build};

use super::options::{Format, goal, kernel, parse_bytes, size};
use super::output::{OutputFile, print};
use super::progress::Progress;
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
    board: Option<String>,

    /// File to write.
    #[arg(short, long, value_name = "FILE", required_unless_present = "check")]
    output: Option<PathBuf>,

    /// Check the checksums of a table instead, and say what it holds.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["board", "output", "goal", "encoding", "force", "memory"])]
    check: Option<PathBuf>,

    /// Goal: last, first, blank=CELL (row-major from 0) or a board.
    #[arg(long, default_value = "last")]
    goal: String,

    /// How depths are stored.
    #[arg(long, value_enum, default_value_t = EncodingName::Mod3)]
    encoding: EncodingName,

    /// Replace an existing file.
    #[arg(long)]
    force: bool,

    /// Worker threads [default: one per core].
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Most memory for the search and the table, with a unit: 500MB, 8GiB [default: half of what is free].
    #[arg(short = 'M', long, value_name = "SIZE")]
    memory: Option<String>,

    /// How to write what the table holds.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// The encodings, as options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EncodingName {
    /// Two bits per state: the depth modulo 3.
    Mod3,
    /// One byte per state: the depth.
    Byte,
}

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
            (None, Some(board), Some(file)) => (self.make(board, file, talk)?, file),
            // The parser lets nothing else pass.
            (None, ..) => return Ok(ExitCode::from(2)),
        };
        print(&self.report(&table, file, begun.elapsed().as_secs_f64())?)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Searches a board and writes its table.
    fn make(&self, board: &str, file: &Path, talk: Talk) -> Result<Table> {
        let goal = goal(&self.goal, size(board)?)?;
        let memory = match &self.memory {
            Some(text) => parse_bytes(text)?,
            None => store::budget(),
        };
        let encoding = match self.encoding {
            EncodingName::Mod3 => Encoding::Mod3,
            EncodingName::Byte => Encoding::Byte,
        };
        // Refuse before any work what could not be kept.
        OutputFile::reserve(file, self.force)?;
        let mut search = Search::new(goal);
        search.threads = self.threads.map(usize::from);
        search.kernel = kernel()?;
        search.memory = Some(memory);
        let progress = Progress::new(talk);
        let table = build(&search, encoding, &progress)?;
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
