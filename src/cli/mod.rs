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
mod interrupt;
mod launcher;
mod man;
mod options;
mod output;
mod pdb;
mod plan;
mod progress;
#[cfg(feature = "mpi")]
mod ranks;
#[cfg(not(feature = "mpi"))]
#[path = "no_ranks.rs"]
mod ranks;
mod resume;
mod scramble;
mod solve;
mod state;
mod status;
mod table;
mod verify;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tracing::level_filters::LevelFilter;

/// Complete breadth-first searches of sliding-tile boards: depth distributions, God's numbers, antipodes.
#[derive(Parser)]
#[command(name = "tilewave", version, max_term_width = 100)]
#[command(
    after_help = "Environment:\n  TILEWAVE_KERNEL  scalar, avx2 or avx512: force a kernel \
                        (default: the fastest of this processor)"
)]
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
    Antipodes(antipodes::Args),
    State(state::Args),
    Table(table::Args),
    Verify(verify::Args),
    Plan(plan::Args),
    Pdb(pdb::Args),
    Solve(solve::Args),
    Scramble(scramble::Args),
    Export(export::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// What every command needs to know of the command line as a whole.
#[derive(Clone, Copy)]
struct Talk {
    /// Whether to show progress.
    progress: bool,
}

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::of_parser(&error),
    };
    let level = match (cli.quiet, cli.verbose) {
        (true, _) => LevelFilter::ERROR,
        (false, 0) => LevelFilter::INFO,
        (false, 1) => LevelFilter::DEBUG,
        (false, _) => LevelFilter::TRACE,
    };
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_max_level(level)
        .without_time()
        .with_target(false)
        .init();
    let talk = Talk {
        progress: !cli.quiet && !cli.no_progress,
    };
    let result = match cli.command {
        Command::Bfs(args) => args.run(talk),
        Command::Resume(args) => args.run(talk),
        Command::Status(args) => args.run(),
        Command::Antipodes(args) => args.run(talk),
        Command::State(args) => args.run(),
        Command::Table(args) => args.run(talk),
        Command::Verify(args) => args.run(talk),
        Command::Plan(args) => args.run(),
        Command::Pdb(args) => args.run(talk),
        Command::Solve(args) => args.run(talk),
        Command::Scramble(args) => args.run(),
        Command::Export(args) => args.run(),
        Command::Completions(args) => args.run(),
        Command::Man(args) => args.run(),
    };
    match result {
        Ok(code) => code,
        Err(error) => failure::of_command(&error),
    }
}
