//! `tilewave pdb export`: tables in the layouts of other solvers.

use std::path::PathBuf;

use anyhow::Result;
use tilewave::pdb::{self, Layout, Pdb};
use tilewave::report::bytes;

use crate::cli::options::Threads;
use crate::cli::output::{OutputFile, print_beside};
use crate::cli::progress::Progress;
use crate::cli::values::choice;

/// Write a database as a raw table in another solver's layout.
#[derive(clap::Args)]
#[command(after_help = "The layouts are described in docs/format.md.")]
pub struct Args {
    /// Database file.
    file: PathBuf,

    /// Layout of the table.
    #[arg(long, value_parser = choice(Layout::NAMES))]
    layout: Layout,

    /// File to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Replace an existing file.
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    threads: Threads,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        OutputFile::reserve(&self.output, self.force)?;
        let table = Pdb::open(&self.file)?;
        let progress = Progress::new();
        let threads = self.threads.get();
        let written = pdb::export(
            &table,
            self.layout,
            &self.output,
            self.force,
            threads,
            &progress,
        )?;
        drop(progress);
        let report = format!(
            "wrote {}: {} layout, {}\n",
            self.output.display(),
            self.layout.name(),
            bytes(written)
        );
        print_beside(&self.output, &report)?;
        Ok(())
    }
}
