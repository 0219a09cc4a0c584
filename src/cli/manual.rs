//! `tilewave man`: manual pages.

use std::{io::Write, path::PathBuf};

use clap::{Command, ValueHint};
use clap_complete::Shell;
use clap_mangen::{
    Man,
    roff::{Roff, bold, roman},
};

use tilewave::{Kernel, internals::FEATURES};

use crate::cli::{Context, Result, print, ranks};

/// What the environment decides.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("TILEWAVE_KERNEL", "same as --kernel: scalar, avx2 or avx512 [default: the fastest]"),
    (
        "XDG_CACHE_HOME",
        "tilewave solve keeps databases in $XDG_CACHE_HOME/tilewave [default: ~/.cache]",
    ),
    ("NO_COLOR", "if set, nothing is coloured"),
    ("TERM", "if dumb, nothing is coloured and no progress bar is shown"),
];

/// What `--version` prints: the version, what this program was compiled with, and the kernels that this processor runs.
pub fn long_version() -> String {
    let kernels = Kernel::ALL.into_iter().filter(|kernel| kernel.is_supported());
    let kernels: Vec<&str> = kernels.map(Kernel::name).collect();
    let features = FEATURES.into_iter().chain([("mpi", ranks::mpi().is_some())]);
    let features = features.filter(|(_, is_there)| *is_there);
    let features: Vec<&str> = features.map(|(name, _)| name).collect();
    format!(
        "{}\ntarget    {}-{}\nkernels   {}\nfeatures  {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
        kernels.join(" "),
        features.join(" "),
    )
}

/// The environment's part of the help.
pub fn environment() -> String {
    let line = |(name, meaning): &(&str, &str)| format!("\n  {name:<15}  {meaning}");
    "Environment:".to_string() + &ENVIRONMENT.iter().map(line).collect::<String>()
}

/// The end of every page: sections of names, or numbers, and what they mean.
const SECTIONS: [(&str, &[(&str, &str)]); 3] = [
    (
        "EXIT STATUS",
        &[
            ("0", "Success. A closed output pipe is not an error."),
            ("1", "The operation or a check failed. The output or standard error says why."),
            ("2", "The command line is invalid."),
            ("130", "Interrupted. Continue a search on disk with tilewave resume."),
        ],
    ),
    ("ENVIRONMENT", ENVIRONMENT),
    (
        "FILES",
        &[
            ("$XDG_CACHE_HOME/tilewave", "Databases and tables that tilewave solve has built."),
            (
                "DIR/manifest",
                "The description of a search on disk. The other files in DIR belong to this search.",
            ),
            (
                "*.pdb, *.table",
                "Pattern databases and distance tables; docs/format.md describes them.",
            ),
        ],
    ),
];

/// Generate manual pages.
#[derive(clap::Args)]
pub struct ManArgs {
    /// Write tilewave.1 and one page per command to this directory.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    dir: Option<PathBuf>,
}

impl ManArgs {
    pub fn run(&self, program: Command) -> Result<()> {
        // Built: commands then know their full names.
        let mut command = program.after_help("");
        command.build();
        match &self.dir {
            Some(dir) => write_all(&command, "tilewave", dir)
                .context(format!("cannot write manual pages to '{}'", dir.display())),
            None => print(&String::from_utf8(page(&command, "tilewave")?)?),
        }
    }
}

/// Writes the page of a command and those of its own commands.
fn write_all(command: &Command, name: &str, dir: &std::path::Path) -> std::io::Result<()> {
    std::fs::File::create(dir.join(format!("{name}.1")))?.write_all(&page(command, name)?)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        write_all(sub, &format!("{name}-{}", sub.get_name()), dir)?;
    }
    Ok(())
}

fn page(command: &Command, name: &str) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let title = command.clone().display_name(name.to_string());
    Man::new(title).title(name).render(&mut page)?;
    let mut roff = Roff::new();
    for (heading, entries) in SECTIONS {
        roff.control("SH", [heading]);
        for (term, meaning) in entries {
            roff.control("TP", []);
            roff.text([bold(*term)]).text([roman(*meaning)]);
        }
    }
    roff.control("SH", ["SEE ALSO"]);
    let others = match name {
        "tilewave" => "The manual pages of the commands above.",
        _ => "tilewave(1) and the manual pages of the other commands.",
    };
    roff.text([roman(others)]);
    roff.to_writer(&mut page)?;
    Ok(page)
}

// `tilewave completions`: shell completions.

/// Generate shell completions.
#[derive(clap::Args)]
#[command(
    after_help = "Example: tilewave completions bash > ~/.local/share/bash-completion/completions/tilewave"
)]
pub struct CompletionsArgs {
    /// Shell for which to generate completions.
    #[arg(value_parser = clap::value_parser!(Shell))]
    shell: Shell,
}

impl CompletionsArgs {
    /// `program` is the whole command line.
    pub fn run(&self, program: clap::Command) -> Result<()> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut without_files(program), "tilewave", &mut text);
        print(&String::from_utf8(text)?)
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
