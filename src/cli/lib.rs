//! The command line: nothing but parsing, progress and printing. The list of commands and the manual pages are here.
//!
//! A command is a struct of options with `run`. It asks `puzzle` for the state space, `options` for what is shared,
//! calls the library, and gives what it found as a `Reply` to `output`, which writes text, CSV or JSON. `progress`
//! shows how far work is and listens for Ctrl-C; `failure` makes one line and an exit code of any error; `ranks` runs a
//! command as one of several processes; `platform` has what systems do differently.
//!
//! Invariant: results go to stdout, everything else to stderr; exit codes are 0 (done), 1 (a check or the work failed),
//! 2 (the command line is wrong), 130 (interrupted).

mod bfs;
mod failure;
mod info;
mod make;
mod options;
mod output;
mod pdb;
mod plan;
mod platform;
mod progress;
mod puzzle;
mod ranks;
mod runs;
mod scramble;
mod solve;
mod states;

use std::{ffi::OsString, io::Write, path::PathBuf};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use clap_mangen::{
    Man,
    roff::{Roff, bold, roman},
};
use tilewave::{
    Kernel,
    internals::{FEATURES, Hint},
};
use tracing::level_filters::LevelFilter;

pub use crate::{failure::Allocator, ranks::Mpi};

// What commands share.
pub(crate) use crate::{
    bfs::Ahead,
    failure::{Context, Failure, Result, complain, refuse},
    options::{
        DiskOptions, GoalOption, Keep, MadeDirectories, MaxDepth, ResourceOptions, Running,
        Threads, bandwidth, choice, count, directories, drawn_seed, first_given, made,
        refuse_in_lists, seed, time, whole,
    },
    output::{
        AnyReply, Destination, Figures, FormatOption, OutputFile, OutputFormat, OutputOptions,
        Reply, ResultReport, counts_csv, csv_line, facts, print, read_input, refuse_same, subject,
        tiles, with_more,
    },
    progress::{SearchProgress, StatusLine, aside, eta},
    puzzle::{Counted, Measured, PuzzleAndStates, PuzzleOptions, uncommented},
};

/// Exhaustive search, pattern databases and optimal solving for sliding-tile and permutation puzzles.
#[derive(Parser)]
#[command(name = "tilewave", version, long_version = long_version(), max_term_width = 100, after_help = environment())]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Print only results and errors, without progress or log messages.
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = GENERAL)]
    quiet: bool,

    /// Print more detail (-vv for debugging).
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = GENERAL)]
    verbose: u8,

    /// Do not show a progress bar, and do not log progress.
    #[arg(long, global = true, hide_short_help = true, help_heading = GENERAL)]
    no_progress: bool,
}

/// Where options of every command stand in the help.
const GENERAL: &str = "General";

#[derive(Subcommand)]
enum Command {
    Bfs(bfs::Args),
    Resume(runs::ResumeArgs),
    Info(info::InfoArgs),
    Check(runs::CheckArgs),
    Levels(states::LevelsArgs),
    State(states::StateArgs),
    Table(make::TableArgs),
    Plan(plan::Args),
    Puzzles(states::PuzzlesArgs),
    Puzzle(states::PuzzleArgs),
    #[command(subcommand)]
    Pdb(pdb::PdbCommand),
    Solve(solve::Args),
    Scramble(scramble::ScrambleArgs),
    Encode(make::EncodeArgs),
    #[command(subcommand)]
    Cache(runs::CacheCommand),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Runs the program with arguments, of which the first is its name, and returns its exit code. With `mpi` it
/// takes part in the jobs of an MPI launcher.
pub fn run(arguments: impl IntoIterator<Item = OsString>, mpi: Option<Mpi>) -> u8 {
    platform::prepare();
    ranks::has_mpi(mpi);
    Hint::say(|hint| failure::words(hint, command()));
    let parsed = command().try_get_matches_from(arguments);
    match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli.run(),
        Err(error) => failure::of_parser(&error, command()),
    }
    .map_or_else(Failure::report, |()| 0)
}

/// The commands as the help groups them.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Search", &["bfs", "plan", "resume", "levels", "state"]),
    ("Solve", &["solve", "scramble", "encode", "table", "pdb"]),
    ("Files", &["info", "check", "cache"]),
    ("Puzzles", &["puzzle", "puzzles"]),
    ("Setup", &["completions", "man", "help"]),
];

/// The parser of the program, whose help lists its commands in groups.
fn command() -> clap::Command {
    let mut plain = Cli::command();
    plain.build();
    let mut groups = String::new();
    for (group, names) in GROUPS {
        groups += &format!("\n\x1b[1m\x1b[4m{group}:\x1b[0m\n");
        for name in names {
            let about = plain.find_subcommand(name).and_then(|command| command.get_about());
            let about = about.map(ToString::to_string).unwrap_or_default();
            groups += &format!("  \x1b[1m{name:<13}\x1b[0m{about}\n");
        }
    }
    Cli::command().help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\n\x1b[1m\x1b[4mOptions:\x1b[0m\n{{options}}{{after-help}}"
    ))
}

impl Cli {
    fn run(self) -> Result<()> {
        let level = match (self.quiet, self.verbose) {
            (true, _) => LevelFilter::ERROR,
            (false, 0) => LevelFilter::INFO,
            (false, 1) => LevelFilter::DEBUG,
            (false, _) => LevelFilter::TRACE,
        };
        tracing_subscriber::fmt()
            .with_writer(|| progress::LogWriter)
            .with_ansi(progress::is_coloured())
            .with_max_level(level)
            .without_time()
            .with_target(false)
            .init();
        if self.quiet || self.no_progress {
            progress::hide();
        }
        match self.command {
            Command::Bfs(args) => args.run(),
            Command::Resume(args) => args.run(),
            Command::Info(args) => args.run(),
            Command::Check(args) => args.run(),
            Command::Levels(args) => args.run(),
            Command::State(args) => args.run(),
            Command::Table(args) => args.run(),
            Command::Plan(args) => args.run(),
            Command::Puzzles(args) => args.run(),
            Command::Puzzle(args) => args.run(),
            Command::Pdb(args) => args.run(),
            Command::Solve(args) => args.run(),
            Command::Scramble(args) => args.run(),
            Command::Encode(args) => args.run(),
            Command::Cache(command) => command.run(),
            Command::Completions(args) => args.run(command()),
            Command::Man(args) => args.run(command()),
        }
    }
}

// `tilewave man` and `completions`, and what the help says about the environment.

const ENVIRONMENT: &[(&str, &str)] = &[
    (
        failure::KERNEL,
        "kernel of the inner loops: scalar, neon, avx2 or avx512 [default: the fastest]",
    ),
    (
        "XDG_CACHE_HOME",
        "solve keeps databases in $XDG_CACHE_HOME/tilewave [default: the system's folder for caches]",
    ),
    ("NO_COLOR", "if set, the log is not coloured"),
    ("TERM", "if dumb, the log is not coloured, and no progress bar is shown"),
];

/// What `--version` prints: the version, what this program was compiled with, and the kernels that this processor runs.
fn long_version() -> String {
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
                "Pattern databases, distance tables and pruning tables; docs/format.md describes \
                 their formats.",
            ),
        ],
    ),
];

/// Generate manual pages.
#[derive(clap::Args)]
pub struct ManArgs {
    /// Write tilewave.1 and one page per command to DIR [default: print only tilewave.1].
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    dir: Option<PathBuf>,
}

impl ManArgs {
    pub(crate) fn run(&self, program: clap::Command) -> Result<()> {
        // Pages have a section of their own for the environment. Built: commands then know their full names.
        let mut command = program.after_help(None::<&str>);
        command.build();
        match &self.dir {
            Some(dir) => write_all(&command, "tilewave", dir)
                .context(format!("cannot write manual pages to '{}'", dir.display())),
            None => print(&String::from_utf8_lossy(&page(&command, "tilewave")?)),
        }
    }
}

/// Writes the page of a command and those of its own commands.
fn write_all(command: &clap::Command, name: &str, dir: &std::path::Path) -> std::io::Result<()> {
    std::fs::File::create(dir.join(format!("{name}.1")))?.write_all(&page(command, name)?)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        write_all(sub, &format!("{name}-{}", sub.get_name()), dir)?;
    }
    Ok(())
}

fn page(command: &clap::Command, name: &str) -> std::io::Result<Vec<u8>> {
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
        print(&String::from_utf8_lossy(&text))
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
