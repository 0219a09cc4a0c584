//! `tilewave man`: manual pages.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::CommandFactory;

use super::output::print;

/// Print the manual page, or write the pages of all commands.
#[derive(clap::Args)]
pub struct Args {
    /// Write tilewave.1 and a page per command to this directory.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<ExitCode> {
        let command = super::Cli::command();
        match &self.dir {
            Some(dir) => clap_mangen::generate_to(command, dir)
                .with_context(|| format!("cannot write manual pages to '{}'", dir.display()))?,
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(command).render(&mut page)?;
                print(&String::from_utf8(page)?)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
