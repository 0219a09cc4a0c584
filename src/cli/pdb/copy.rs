//! `tilewave pdb compress`, `decompress` and `export`: a database in another form.

use std::path::{Path, PathBuf};

use anyhow::Result;
use tilewave::pdb::{self, Layout, Pdb, PdbError};
use tilewave::report::bytes;

use crate::cli::options::Threads;
use crate::cli::output::{OutputFile, print_beside};
use crate::cli::progress::Progress;
use crate::cli::values::choice;

/// Files and threads.
#[derive(clap::Args)]
pub struct Args {
    /// Database file to read.
    file: PathBuf,

    /// File to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Replace an existing file.
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    threads: Threads,
}

/// Write a database as a raw table in another solver's layout.
#[derive(clap::Args)]
#[command(after_help = "The layouts are described in docs/format.md.")]
pub struct Export {
    #[command(flatten)]
    files: Args,

    /// Layout of the table.
    #[arg(long, value_parser = choice(Layout::NAMES))]
    layout: Layout,
}

/// What writes a database in another form and returns the bytes written.
type Copy = fn(&Path, &Path, bool, Option<usize>, &dyn tilewave::Progress) -> Result<u64, PdbError>;

impl Args {
    /// Compresses or decompresses.
    pub fn run(&self, copy: Copy) -> Result<()> {
        self.write(|from, to, force, threads, progress| {
            let written = copy(from, to, force, threads, progress)?;
            let read = bytes(std::fs::metadata(from)?.len());
            Ok(format!("{} from {read}", bytes(written)))
        })
    }

    /// Writes the file and says what was written.
    fn write(
        &self,
        write: impl FnOnce(&Path, &Path, bool, Option<usize>, &Progress) -> Result<String>,
    ) -> Result<()> {
        let (from, to) = (&self.file, &self.output);
        OutputFile::reserve(to, self.force)?;
        let progress = Progress::new();
        let what = write(from, to, self.force, self.threads.get(), &progress)?;
        drop(progress);
        print_beside(to, &format!("wrote {}: {what}\n", to.display()))
    }
}

impl Export {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let layout = self.layout;
        self.files.write(|from, to, force, threads, progress| {
            let pdb = Pdb::open(from)?;
            let written = pdb::export(&pdb, layout, to, force, threads, progress)?;
            Ok(format!("{layout} layout, {}", bytes(written)))
        })
    }
}
