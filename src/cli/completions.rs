//! `tilewave completions`: shell completions.

use anyhow::Result;
use clap::ValueHint;
use clap_complete::Shell;

use super::output::print;

/// Print the completions of a shell.
#[derive(clap::Args)]
#[command(
    after_help = "Example: tilewave completions bash > ~/.local/share/bash-completion/completions/tilewave"
)]
pub struct Args {
    /// The shell.
    #[arg(value_parser = clap::value_parser!(Shell))]
    shell: Shell,
}

impl Args {
    /// Runs the command; `program` is the whole command line.
    pub fn run(&self, program: clap::Command) -> Result<()> {
        let mut text = Vec::new();
        clap_complete::generate(
            self.shell,
            &mut without_files(program),
            "tilewave",
            &mut text,
        );
        print(&String::from_utf8(text)?)?;
        Ok(())
    }
}

/// The command with a word of its own wherever a value is not a file: shells offer files for all others.
fn without_files(command: clap::Command) -> clap::Command {
    let own = |arg: clap::Arg| match arg.get_value_hint() {
        ValueHint::Unknown if arg.get_action().takes_values() => arg.value_hint(ValueHint::Other),
        _ => arg,
    };
    command.mut_args(own).mut_subcommands(without_files)
}
