//! The command line: one file per command, nothing but parsing, progress and printing.
//!
//! Invariant: results go to stdout, everything else to stderr; exit codes are 0 (done), 1 (a check or
//! the work failed), 2 (the command line is wrong), 130 (interrupted).

pub(crate) mod bfs;
pub(crate) mod disk;
pub(crate) mod export;
pub(crate) mod failure;
pub(crate) mod last_words;
pub(crate) mod manual;
pub(crate) mod options;
pub(crate) mod output;
pub(crate) mod pdb;
pub(crate) mod plan;
pub(crate) mod progress;
pub(crate) mod puzzle;
pub(crate) mod ranks;
pub(crate) mod runs;
pub(crate) mod solve;
pub(crate) mod states;
pub(crate) mod table;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use tracing::level_filters::LevelFilter;

pub use crate::cli::last_words::Allocator;

/// Complete breadth-first searches of sliding-tile boards and permutation puzzles: depth distributions, God's numbers,
/// antipodes.
#[derive(Parser)]
#[command(name = "tilewave", version, max_term_width = 100, after_help = manual::environment())]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Say less: no progress, no log, errors only.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,

    /// Say more (twice: everything).
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,

    /// Show no progress bar and log no levels.
    #[arg(long, global = true)]
    no_progress: bool,
}

#[derive(Subcommand)]
enum Command {
    Bfs(bfs::Args),
    Resume(runs::ResumeArgs),
    Status(runs::StatusArgs),
    Repair(runs::RepairArgs),
    Antipodes(states::AntipodesArgs),
    State(states::StateArgs),
    Table(table::Args),
    Verify(runs::VerifyArgs),
    Plan(plan::Args),
    Puzzles(states::PuzzlesArgs),
    Pdb(pdb::Args),
    Solve(solve::Args),
    Scramble(states::ScrambleArgs),
    Export(export::Args),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

/// Runs the program.
pub fn main() -> ExitCode {
    progress::outlive_limits();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::of_parser(&error, Cli::command()),
    };
    let level = match (cli.quiet, cli.verbose) {
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
    if cli.quiet || cli.no_progress {
        progress::hide();
    }
    let result = match cli.command {
        Command::Bfs(args) => args.run(),
        Command::Resume(args) => args.run(),
        Command::Status(args) => args.run(),
        Command::Repair(args) => args.run(),
        Command::Antipodes(args) => args.run(),
        Command::State(args) => args.run(),
        Command::Table(args) => args.run(),
        Command::Verify(args) => args.run(),
        Command::Plan(args) => args.run(),
        Command::Puzzles(args) => args.run(),
        Command::Pdb(args) => args.run(),
        Command::Solve(args) => args.run(),
        Command::Scramble(args) => args.run(),
        Command::Export(args) => args.run(),
        Command::Completions(args) => args.run(Cli::command()),
        Command::Man(args) => args.run(Cli::command()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::of_command(error),
    }
}
