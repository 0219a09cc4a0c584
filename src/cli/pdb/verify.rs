//! `tilewave pdb verify`: checksums, spot checks, or the whole table again.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::json;
use tilewave::Error;
use tilewave::pdb::{self, Build, Pdb, PdbError};
use tilewave::perm::kernel::Kernel;

use crate::cli::failure::Exit;
use crate::cli::options::{Memory, Output, Threads, kernel};
use crate::cli::progress::Progress;
use crate::cli::values::count;

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
    output: Output,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let destination = self.output.reserve()?;
        let kernel = kernel()?;
        // What can be said of a damaged file as well.
        let summary = pdb::inspect(&self.file).ok();
        let progress = Progress::new();
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

    fn check(&self, kernel: Option<Kernel>, progress: &Progress) -> Result<String, Error> {
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
            let builder = if self.plain {
                " by the plain builder"
            } else {
                ""
            };
            return Ok(format!(
                "checksums, and all entries, their order and their histogram rebuilt{builder}"
            ));
        }
        let check = pdb::spot_check(&table, self.samples, self.seed, progress)?;
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
