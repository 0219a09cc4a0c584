//! `tilewave pdb`: additive pattern databases.

mod build;
mod copy;
mod info;
mod plan;
mod probe;
mod set;
mod verify;

use anyhow::Result;
use clap::Subcommand;
use tilewave::pdb;

/// Build and use additive pattern databases.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Build(build::Args),
    Plan(plan::Args),
    Info(info::Args),
    Verify(verify::Args),
    Probe(probe::Args),
    Set(set::Args),
    Export(copy::Export),
    /// Compress a database for shipping (zstd).
    #[command(alias = "pack")]
    Compress(copy::Args),
    /// Restore the database that was compressed, byte for byte.
    #[command(alias = "unpack")]
    Decompress(copy::Args),
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        match &self.command {
            Command::Build(args) => args.run(),
            Command::Plan(args) => args.run(),
            Command::Info(args) => args.run(),
            Command::Verify(args) => args.run(),
            Command::Probe(args) => args.run(),
            Command::Set(args) => args.run(),
            Command::Export(args) => args.run(),
            Command::Compress(args) => args.run(pdb::compress),
            Command::Decompress(args) => args.run(pdb::decompress),
        }
    }
}
