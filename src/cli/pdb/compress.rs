//! `tilewave pdb compress` and `decompress`: compressed for shipping, and back.

use std::path::{Path, PathBuf};

use anyhow::Result;
use tilewave::pdb::PdbError;
use tilewave::report::bytes;

use crate::cli::options::Threads;
use crate::cli::output::{OutputFile, print_beside};
use crate::cli::progress::Progress;

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

/// What copies a file to another and returns the bytes written.
type Copy = fn(&Path, &Path, bool, Option<usize>, &dyn tilewave::Progress) -> Result<u64, PdbError>;

impl Args {
    /// Runs the command.
    pub fn run(&self, copy: Copy) -> Result<()> {
        let (from, to) = (&self.file, &self.output);
        OutputFile::reserve(to, self.force)?;
        let progress = Progress::new();
        let threads = self.threads.get();
        let written = copy(from, to, self.force, threads, &progress);
        drop(progress);
        let written = bytes(written?);
        let read = bytes(std::fs::metadata(from)?.len());
        print_beside(
            to,
            &format!("wrote {}: {written} from {read}\n", to.display()),
        )?;
        Ok(())
    }
}
