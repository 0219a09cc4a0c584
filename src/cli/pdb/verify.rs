//! `tilewave pdb verify`: checksums, spot checks, or the whole table again.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;
use tilewave::Error;
use tilewave::pdb::{self, Build, Pdb, PdbError};
use tilewave::report::one_key_per_line;
use tilewave::store;

use super::progress::Progress;
use crate::cli::Talk;
use crate::cli::options::{Format, kernel, parse_bytes};
use crate::cli::output::Output;

/// Check a database: all checksums, then random entries against A* searches (or everything, --rebuild).
#[derive(clap::Args)]
#[command(after_help = "Exit code 1 when the database is damaged or wrong.")]
pub struct Args {
    /// Database file.
    file: PathBuf,

    /// Build the whole table again and compare every entry.
    #[arg(long)]
    rebuild: bool,

    /// With --rebuild: use the plain builder, which shares nothing with the fast one.
    #[arg(long, requires = "rebuild")]
    plain: bool,

    /// Entries to compare with searches.
    #[arg(long, default_value_t = 20)]
    samples: u64,

    /// Seed of the random entries.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Worker threads [default: one per core].
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Most memory, with a unit: 500MB, 8GiB [default: half of what is free].
    #[arg(short = 'M', long, value_name = "SIZE")]
    memory: Option<String>,

    /// How to write the result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    output: Output,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, talk: Talk) -> Result<ExitCode> {
        let destination = self.output.reserve()?;
        let table = Pdb::open(&self.file).map_err(Error::from)?;
        let progress = Progress::new(talk);
        let result = self.check(&table, &progress);
        drop(progress);
        let (pass, what) = match result {
            Ok(what) => (true, what),
            Err(Error::Pdb(
                error @ (PdbError::Wrong { .. }
                | PdbError::Damaged { .. }
                | PdbError::Header { .. }),
            )) => (false, error.to_string()),
            Err(error) => return Err(error.into()),
        };
        let file = self.file.display().to_string();
        let verdict = if pass { "PASS" } else { "FAIL" };
        destination.write(&match self.format {
            Format::Json => one_key_per_line(&json!({
                "file": file,
                "pass": pass,
                "checked": what,
                "entries": table.entries(),
                "checksum": format!("{:016x}", table.checksum()),
                "version": env!("CARGO_PKG_VERSION"),
            }))?,
            Format::Csv => format!("file,pass\n{file},{pass}\n"),
            Format::Text => format!("{verdict}  {file}: {what}\n"),
        })?;
        Ok(if pass {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    fn check(&self, table: &Pdb, progress: &Progress) -> Result<String, Error> {
        table.check()?;
        if self.rebuild {
            let memory = match &self.memory {
                Some(text) => parse_bytes(text).ok(),
                None => Some(store::budget()),
            };
            let how = Build {
                threads: self.threads.map(usize::from),
                memory,
                plain: self.plain,
                kernel: kernel().ok().flatten(),
                ..Build::new(table.pattern().clone())
            };
            pdb::rebuild(table, &how, progress)?;
            let builder = if self.plain {
                " by the plain builder"
            } else {
                ""
            };
            return Ok(format!("checksums, and all entries rebuilt{builder}"));
        }
        let check = pdb::spot_check(table, self.samples, self.seed, progress)?;
        let given_up = match check.undecided {
            0 => String::new(),
            n => format!(" ({n} searches given up)"),
        };
        Ok(format!(
            "checksums, and {} entries by search{given_up}",
            check.confirmed
        ))
    }
}
