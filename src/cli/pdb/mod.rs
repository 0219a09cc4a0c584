//! `tilewave pdb`: additive pattern databases.

mod build;
mod export;
mod info;
mod pack;
mod probe;
mod progress;
mod verify;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use super::Talk;

pub use progress::Progress;

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
    Pack(pack::Pack),
    Unpack(pack::Unpack),
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
            Command::Pack(args) => args.run(talk),
            Command::Unpack(args) => args.run(talk),
        }
    }
}

/// Tiles as they are shown: `1,2,3`.
fn tiles(tiles: &[u16]) -> String {
    let words: Vec<String> = tiles.iter().map(u16::to_string).collect();
    words.join(",")
}
