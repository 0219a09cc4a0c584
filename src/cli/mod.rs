//! The command line: one file per command, nothing but parsing, progress and printing.
//!
//! Invariant: results go to stdout, everything else to stderr; exit codes are 0 (done), 1 (a check or
//! the work failed), 2 (the command line is wrong), 130 (interrupted).

mod antipodes;
mod bfs;
mod completions;
mod disk;
mod export;
mod failure;
mod found;
mod interrupt;
mod launcher;
mod man;
mod options;
mod output;
mod pdb;
mod plan;
mod progress;
mod puzzle;
mod puzzles;
#[cfg(feature = "mpi")]
mod ranks;
#[cfg(not(feature = "mpi"))]
#[path = "no_ranks.rs"]
mod ranks;
mod repair;
mod resume;
mod scramble;
mod solve;
mod space;
mod state;
mod status;
mod table;
mod thresholds;
mod values;
mod verify;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use tracing::level_filters::LevelFilter;

pub use failure::out_of_memory;

/// Complete breadth-first searches of sliding-tile boards and permutation puzzles: depth distributions, God's numbers,
/// antipodes.
#[derive(Parser)]
#[command(name = "tilewave", version, max_term_width = 100, after_help = man::environment())]
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
    Resume(resume::Args),
    Status(status::Args),
    Repair(repair::Args),
    Antipodes(antipodes::Args),
    State(state::Args),
    Table(table::Args),
    Verify(verify::Args),
    Plan(plan::Args),
    Puzzles(puzzles::Args),
    Pdb(pdb::Args),
    Solve(solve::Args),
    Scramble(scramble::Args),
    Export(export::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Runs the program.
pub fn main() -> ExitCode {
    interrupt::outlive_limits();
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
        .with_writer(|| progress::Log)
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
