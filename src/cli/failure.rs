//! From errors to one line on stderr and an exit code.

use std::process::ExitCode;

use clap::error::ErrorKind;
use tilewave::Error;
use tilewave::bfs::SearchError;
use tilewave::bfs::disk::DiskError;
use tilewave::pdb::PdbError;
use tilewave::puzzle::tiles::BoardError;
use tilewave::report::{bytes, thousands};
use tilewave::table::TableError;

use super::interrupt::INTERRUPTED;

/// A command line that is wrong in a way that the parser cannot see.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// Reports what the argument parser says: help and version on stdout, anything else in one line.
pub fn of_parser(error: &clap::Error) -> ExitCode {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        // A closed pipe ends the output, not the program's success.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return ExitCode::from(2);
    }
    let text = error.to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    complain(&format!(
        "{}; see tilewave --help",
        words.join(" ").trim_start_matches("error: ")
    ));
    ExitCode::from(2)
}

/// Reports what a command failed at.
pub fn of_command(error: &anyhow::Error) -> ExitCode {
    if error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    {
        return ExitCode::SUCCESS;
    }
    let library = error.downcast_ref::<Error>();
    let text = match library {
        Some(Error::Search(SearchError::Memory {
            size,
            engine,
            needed,
            budget,
        })) => format!(
            "board {size} needs {} of memory with the {engine} engine, the budget is {}: raise it with \
             --memory if the machine has more, or choose a smaller board",
            bytes(*needed),
            bytes(*budget)
        ),
        Some(Error::Search(SearchError::Interrupted { depth, states })) => format!(
            "interrupted at depth {depth} after {} states: a search in memory starts over, --max-depth \
             ends it early with a result",
            thousands(*states)
        ),
        Some(Error::Disk(DiskError::Disk {
            needed,
            limit,
            advice,
        })) => format!(
            "the search needs about {} of disk at its peak, {} may be used: {advice}",
            bytes(*needed),
            bytes(*limit)
        ),
        Some(Error::Pdb(PdbError::Budget {
            tiles,
            size,
            entries,
            needed,
            budget,
        })) => format!(
            "the database of {tiles} tiles on {size} has {} entries and needs {} of memory to build, the \
             budget is {}: choose fewer tiles, or raise it with --memory if the machine has more",
            thousands(*entries),
            bytes(*needed),
            bytes(*budget)
        ),
        Some(Error::Table(TableError::Budget {
            size,
            needed,
            budget,
        })) => format!(
            "the distance table of {size} and the search that fills it need {} of memory, the budget is {}: \
             raise it with --memory if the machine has more, or choose a smaller board",
            bytes(*needed),
            bytes(*budget)
        ),
        _ => format!("{error:#}"),
    };
    complain(&text);
    match library {
        Some(
            Error::Search(SearchError::Interrupted { .. })
            | Error::Disk(DiskError::Interrupted { .. })
            | Error::Pdb(PdbError::Interrupted)
            | Error::Table(TableError::Interrupted),
        ) => ExitCode::from(INTERRUPTED),
        Some(Error::Board(BoardError::Unsolvable { .. })) => ExitCode::FAILURE,
        Some(Error::Board(_)) => ExitCode::from(2),
        Some(Error::Search(
            SearchError::TooLarge { .. } | SearchError::TooSmall { .. } | SearchError::Kernel(_),
        )) => ExitCode::from(2),
        Some(Error::Pdb(error)) if error.is_usage() => ExitCode::from(2),
        _ if error.is::<Usage>() => ExitCode::from(2),
        _ => ExitCode::FAILURE,
    }
}

/// The one place that writes to stderr without the log.
#[allow(clippy::print_stderr)]
pub fn complain(text: &str) {
    eprintln!("error: {}", text.replace('\n', " "));
}
