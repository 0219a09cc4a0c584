//! `tilewave pdb export`: tables in the layouts of other solvers.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::ValueEnum;
use tilewave::Error;
use tilewave::pdb::{self, Layout, Pdb};
use tilewave::report::bytes;

use super::progress::Progress;
use crate::cli::Talk;
use crate::cli::output::{OutputFile, print};

/// Write a database as a raw table in another solver's layout.
#[derive(clap::Args)]
#[command(after_help = "The layouts are described in docs/format.md.")]
pub struct Args {
    /// Database file.
    file: PathBuf,

    /// Layout of the table.
    #[arg(long, value_enum)]
    layout: LayoutName,

    /// File to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Replace an existing file.
    #[arg(long)]
    force: bool,

    /// Worker threads [default: one per core].
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// The layouts, as options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LayoutName {
    /// clausecker's 24puzzle (5x5, --goal first), with the regions of a region-aware database.
    #[value(name = "24puzzle")]
    Puzzle24,
    /// Lexicographic rank of the tiles' cells, one byte each.
    #[value(name = "hog2-lex")]
    Hog2Lex,
    /// Base-N number of the tiles' cells, first tile least significant, one byte each, 255 for none.
    Positions,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, talk: Talk) -> Result<ExitCode> {
        OutputFile::reserve(&self.output, self.force)?;
        let table = Pdb::open(&self.file).map_err(Error::from)?;
        let layout = match self.layout {
            LayoutName::Puzzle24 => Layout::Puzzle24,
            LayoutName::Hog2Lex => Layout::Lexicographic,
            LayoutName::Positions => Layout::Positions,
        };
        let progress = Progress::new(talk);
        let threads = self.threads.map(usize::from);
        let written = pdb::export(&table, layout, &self.output, self.force, threads, &progress)
            .map_err(Error::from)?;
        drop(progress);
        print(&format!(
            "wrote {}: {} layout, {}\n",
            self.output.display(),
            layout.name(),
            bytes(written)
        ))?;
        Ok(ExitCode::SUCCESS)
    }
}
