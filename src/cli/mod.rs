//! The command line: one file per command, nothing but parsing, progress and printing.
//!
//! A command is a struct of options with `run`. It asks `puzzle` for the state space, `options` and `disk` for what is
//! shared, calls the library, and gives what it found as [`Figures`] to `output`, which writes text, CSV or JSON. `progress`
//! shows how far work is and listens for Ctrl-C; `failure` makes one line and an exit code of any error; `ranks` runs a
//! command as one of several processes.
//!
//! Invariant: results go to stdout, everything else to stderr; exit codes are 0 (done), 1 (a check or
//! the work failed), 2 (the command line is wrong), 130 (interrupted).

mod bfs;
mod disk;
mod encode;
mod failure;
mod files;
mod frontier;
mod info;
mod last_words;
mod manual;
mod options;
mod output;
mod pdb;
mod plan;
mod progress;
mod puzzle;
mod ranks;
mod runs;
mod scramble;
mod solve;
mod states;
mod table;

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};
use tracing::level_filters::LevelFilter;

pub use crate::cli::{last_words::Allocator, ranks::Mpi};
// What commands share.
pub(crate) use self::{
    disk::{DiskOptions, Keep, MadeDirectories, directories, made},
    failure::{Context, Failure, Result, complain, refuse, unopened},
    frontier::Ahead,
    options::{
        GoalOption, MaxDepth, ResourceOptions, Running, Threads, bandwidth, choice, count,
        drawn_seed, seed, time, whole,
    },
    output::{
        Destination, Figures, OutputFile, OutputFormat, OutputOptions, ResultReport, Subject,
        counts_csv, facts, print, sweeps,
    },
    progress::{SearchProgress, StatusLine, aside, eta, part},
    puzzle::{Counted, PuzzleAndStates, puzzle},
};

/// Exhaustive search, pattern databases and optimal solving for sliding-tile and permutation puzzles.
#[derive(Parser)]
#[command(name = "tilewave", version, long_version = manual::long_version(), max_term_width = 100, after_help = manual::environment())]
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

    /// When to colour the log.
    ///
    /// With auto, the log is coloured if stderr is a terminal, NO_COLOR is not set and TERM is not dumb.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_short_help = true, help_heading = GENERAL)]
    color: progress::Color,
}

/// Where options of every command stand in the help.
const GENERAL: &str = "General";

#[derive(Subcommand)]
enum Command {
    Bfs(bfs::Args),
    Resume(runs::ResumeArgs),
    Info(info::InfoArgs),
    Check(files::CheckArgs),
    Repair(runs::RepairArgs),
    Antipodes(states::AntipodesArgs),
    Levels(states::LevelsArgs),
    State(states::StateArgs),
    Table(table::Args),
    Verify(runs::VerifyArgs),
    Plan(plan::Args),
    Puzzles(states::PuzzlesArgs),
    Pdb(pdb::Args),
    Solve(solve::Args),
    Scramble(scramble::ScrambleArgs),
    Encode(encode::Args),
    Cache(files::CacheArgs),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

/// Runs the program with arguments, of which the first is its name, and returns its exit code. With `mpi` it
/// takes part in the jobs of an MPI launcher.
pub fn run(arguments: impl IntoIterator<Item = OsString>, mpi: Option<Mpi>) -> u8 {
    progress::outlive_limits();
    ranks::has_mpi(mpi);
    match Cli::try_parse_from(arguments) {
        Ok(cli) => cli.run().map_err(|failure| failure.of_command(&Cli::command())),
        Err(error) => failure::of_parser(&error, Cli::command()),
    }
    .map_or_else(Failure::report, |()| 0)
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
            .with_ansi(self.color.is_on())
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
            Command::Repair(args) => args.run(),
            Command::Antipodes(args) => args.run(),
            Command::Levels(args) => args.run(),
            Command::State(args) => args.run(),
            Command::Table(args) => args.run(),
            Command::Verify(args) => args.run(),
            Command::Plan(args) => args.run(),
            Command::Puzzles(args) => args.run(),
            Command::Pdb(args) => args.run(),
            Command::Solve(args) => args.run(),
            Command::Scramble(args) => args.run(),
            Command::Encode(args) => args.run(),
            Command::Cache(args) => args.run(),
            Command::Completions(args) => args.run(Cli::command()),
            Command::Man(args) => args.run(Cli::command()),
        }
    }
}
