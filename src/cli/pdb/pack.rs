//! `tilewave pdb pack` and `unpack`: compressed for shipping, and back.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use tilewave::Error;
use tilewave::pdb::{self, inspect};
use tilewave::report::bytes;

use super::progress::Progress;
use crate::cli::Talk;
use crate::cli::output::{OutputFile, print};

/// Files and threads.
#[derive(clap::Args)]
struct Files {
    /// Database file to read.
    file: PathBuf,

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

/// Compress a database for shipping (zstd).
#[derive(clap::Args)]
pub struct Pack {
    #[command(flatten)]
    files: Files,
}

/// Restore the database that was packed, byte for byte.
#[derive(clap::Args)]
pub struct Unpack {
    #[command(flatten)]
    files: Files,
}

impl Pack {
    /// Runs the command.
    pub fn run(&self, talk: Talk) -> Result<ExitCode> {
        let Files {
            file,
            output,
            force,
            threads,
        } = &self.files;
        OutputFile::reserve(output, *force)?;
        let progress = Progress::new(talk);
        pdb::compress(file, output, *force, threads.map(usize::from), &progress)
            .map_err(Error::from)?;
        drop(progress);
        said(file, output)
    }
}

impl Unpack {
    /// Runs the command.
    pub fn run(&self, talk: Talk) -> Result<ExitCode> {
        let Files {
            file,
            output,
            force,
            threads,
        } = &self.files;
        OutputFile::reserve(output, *force)?;
        let progress = Progress::new(talk);
        pdb::decompress(file, output, *force, threads.map(usize::from), &progress)
            .map_err(Error::from)?;
        drop(progress);
        said(file, output)
    }
}

fn said(from: &Path, to: &Path) -> Result<ExitCode> {
    let size = |path: &Path| {
        inspect(path)
            .map(|s| bytes(s.file_bytes))
            .map_err(Error::from)
    };
    print(&format!(
        "wrote {}: {} from {}\n",
        to.display(),
        size(to)?,
        size(from)?
    ))?;
    Ok(ExitCode::SUCCESS)
}
