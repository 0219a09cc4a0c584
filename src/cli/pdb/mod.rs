//! `tilewave pdb`: additive pattern databases.

mod build;
mod compress;
mod export;
mod info;
mod probe;
mod verify;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use tilewave::pdb;

use super::Talk;

/// Build and use additive pattern databases.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Build(build::Args),
    Info(info::Args),
    Verify(verify::Args),
    Probe(probe::Args),
    Export(export::Args),
    /// Compress a database for shipping (zstd).
    #[command(alias = "pack")]
    Compress(compress::Args),
    /// Restore the database that was compressed, byte for byte.
    #[command(alias = "unpack")]
    Decompress(compress::Args),
}

impl Args {
    /// Runs the command.
    pub fn run(&self, talk: Talk) -> Result<ExitCode> {
        match &self.command {
            Command::Build(args) => args.run(talk),
            Command::Info(args) => args.run(),
            Command::Verify(args) => args.run(talk),
            Command::Probe(args) => args.run(),
            Command::Export(args) => args.run(talk),
            Command::Compress(args) => args.run(pdb::compress, talk),
            Command::Decompress(args) => args.run(pdb::decompress, talk),
        }
    }
}
