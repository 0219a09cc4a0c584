//! `tilewave completions`: shell completions.

use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use super::output::print;

/// Print the completions of a shell.
#[derive(clap::Args)]
#[command(
    after_help = "Example: tilewave completions bash > ~/.local/share/bash-completion/completions/tilewave"
)]
pub struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<ExitCode> {
        let mut text = Vec::new();
        clap_complete::generate(
            self.shell,
            &mut super::Cli::command(),
            "tilewave",
            &mut text,
        );
        print(&String::from_utf8(text)?)?;
        Ok(ExitCode::SUCCESS)
    }
}
