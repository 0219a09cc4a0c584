//! `tilewave pdb`: additive pattern databases.
//!
//! `build` makes databases and plans them, `set` makes and rates partitions of several, `inspect` has the commands for
//! databases that are there. `tilewave solve` takes from `set` how nodes grow from threshold to threshold.

pub(super) mod build;
pub(super) mod inspect;
pub(super) mod set;

use clap::Subcommand;
use tilewave::pdb;

use crate::cli::Result;

/// Build and use pattern databases.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: PdbCommand,
}

#[derive(Subcommand)]
enum PdbCommand {
    Build(build::BuildArgs),
    Plan(build::PlanArgs),
    Probe(inspect::ProbeArgs),
    Set(set::Args),
    Export(inspect::Export),
    /// Compress a database with zstd.
    Compress(inspect::CopyArgs),
    /// Restore a compressed database, byte for byte.
    Decompress(inspect::CopyArgs),
}

impl Args {
    pub fn run(&self) -> Result<()> {
        match &self.command {
            PdbCommand::Build(args) => args.run(),
            PdbCommand::Plan(args) => args.run(),
            PdbCommand::Probe(args) => args.run(),
            PdbCommand::Set(args) => args.run(),
            PdbCommand::Export(args) => args.run(),
            PdbCommand::Compress(args) => {
                args.run(|from, to, force, progress| pdb::compress_with(from, to, force, progress))
            }
            PdbCommand::Decompress(args) => args
                .run(|from, to, force, progress| pdb::decompress_with(from, to, force, progress)),
        }
    }
}
