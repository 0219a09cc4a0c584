//! From errors to one line on stderr and an exit code.

use std::error::Error as _;
use std::fmt::{Debug, Display};
use std::io;
use std::process::ExitCode;

use clap::error::{ContextKind, ErrorKind};
use tilewave::Error;
use tilewave::internals::OutputError;
use tilewave::pdb::PdbError;
use tilewave::puzzle::{BoardError, DefinitionError};
use tilewave::search::SearchError;
use tilewave::search::disk::DiskError;
use tilewave::solve::SolveError;
use tilewave::table::TableError;

use crate::cli::last_words::write_unlocked;
use crate::cli::progress::{self, INTERRUPTED};

/// A command line that is wrong in a way that the parser cannot see.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// Refuses a command line, in the words of a format.
macro_rules! refuse {
    ($($words:tt)*) => {
        return Err($crate::cli::failure::Usage(format!($($words)*)).into())
    };
}

/// A failure that has been reported: the exit code is left.
#[derive(Debug, thiserror::Error)]
#[error("exit code {0}")]
pub struct Exit(pub u8);

impl Exit {
    /// Fails a command whose results are printed, unless they are good.
    pub fn unless(good: bool) -> Result<(), Exit> {
        if good { Ok(()) } else { Err(Exit(1)) }
    }
}

/// Reports what the argument parser of `program` says: help and version on stdout, anything else in one line.
pub fn of_parser(error: &clap::Error, program: clap::Command) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let printed = error.print().and_then(|()| io::Write::flush(&mut io::stdout()));
            match printed {
                Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                    complain(&format!("cannot write to stdout: {e}"));
                    ExitCode::FAILURE
                }
                // A closed pipe ends the output, not the program's success.
                _ => ExitCode::SUCCESS,
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(2)
        }
        _ => {
            complain(&format!("{}; see {} --help", in_words(error), asked(program)));
            ExitCode::from(2)
        }
    }
}

/// What is wrong with the command line, in this program's words, with the name that is closest.
fn in_words(error: &clap::Error) -> String {
    let get = |kind| error.get(kind).map(ToString::to_string);
    let argument = get(ContextKind::InvalidArg).unwrap_or_default();
    // Options by name; what stands alone needs none.
    let option = argument.split(' ').next().filter(|w| w.starts_with('-'));
    let of_option = option.map_or(String::new(), |option| format!("{option}: "));
    let value = get(ContextKind::InvalidValue).unwrap_or_default();
    let mut text = match (error.kind(), error.source()) {
        (ErrorKind::ValueValidation, Some(reason)) => format!("{of_option}{reason}"),
        (ErrorKind::InvalidValue, _) if value.is_empty() => format!("{argument} needs a value"),
        (ErrorKind::InvalidValue, _) => {
            let names = get(ContextKind::ValidValue).unwrap_or_default();
            format!("{of_option}'{value}' is none of {names}")
        }
        (ErrorKind::UnknownArgument, _) if argument.starts_with('-') => {
            format!("unknown option '{argument}'")
        }
        (ErrorKind::UnknownArgument, _) => format!("'{argument}' is one argument too many"),
        (ErrorKind::InvalidSubcommand, _) => {
            format!("unknown command '{}'", get(ContextKind::InvalidSubcommand).unwrap_or_default())
        }
        _ => {
            let text = error.to_string();
            let paragraph = text.split("\n\n").next().unwrap_or_default();
            let words: Vec<&str> = paragraph.split_whitespace().collect();
            words.join(" ").trim_start_matches("error: ").to_string()
        }
    };
    let meant =
        [ContextKind::SuggestedArg, ContextKind::SuggestedValue, ContextKind::SuggestedSubcommand];
    if let Some(meant) = meant.into_iter().find_map(get) {
        text += &format!(", did you mean {meant}?");
    }
    text
}

/// The command that the command line names, for example `tilewave pdb build`.
fn asked(mut command: clap::Command) -> String {
    let mut name = String::from("tilewave");
    for word in std::env::args_os().skip(1) {
        if let Some(found) = command.find_subcommand(&word) {
            name += &format!(" {}", found.get_name());
            command = found.clone();
        }
    }
    name
}

/// Reports what a command failed at.
pub fn of_command(error: anyhow::Error) -> ExitCode {
    if let Some(Exit(code)) = error.downcast_ref() {
        return ExitCode::from(*code);
    }
    let said = format!("{error:#}");
    let error = match library(error) {
        Ok(error) => error,
        Err(other) => {
            let broken = |e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe;
            if other.downcast_ref().is_some_and(broken) {
                return ExitCode::SUCCESS;
            }
            complain(&said);
            return ExitCode::from(if other.is::<Usage>() { 2 } else { 1 });
        }
    };
    if let Error::Output(OutputError::Io { reason, .. })
    | Error::Pdb(PdbError::Output(OutputError::Io { reason, .. }))
    | Error::Table(TableError::Output(OutputError::Io { reason, .. })) = &error
        && reason.kind() == io::ErrorKind::BrokenPipe
    {
        return ExitCode::SUCCESS;
    }
    complain(&said);
    ExitCode::from(match error {
        Error::Search(SearchError::Interrupted { .. })
        | Error::Disk(DiskError::Interrupted { .. })
        | Error::Pdb(PdbError::Interrupted | PdbError::Stopped(_))
        | Error::Table(TableError::Interrupted) => INTERRUPTED,
        Error::Board(BoardError::Unsolvable { .. }) => 1,
        Error::Board(_)
        | Error::Search(
            SearchError::TooLarge { .. }
            | SearchError::TooSmall { .. }
            | SearchError::InMemory { .. }
            | SearchError::Kernel(_),
        )
        | Error::Disk(DiskError::Digits { .. })
        | Error::Table(TableError::Directed { .. } | TableError::NoBoard { .. })
        | Error::Puzzle(_)
        | Error::Family(_)
        | Error::File(_)
        | Error::Solve(SolveError::OtherLog { .. }) => 2,
        Error::Pdb(error) if error.is_usage() => 2,
        _ => 1,
    })
}

/// The library's error that made a command fail, if it was one: `?` takes the narrow ones as they are.
fn library(error: anyhow::Error) -> Result<Error, anyhow::Error> {
    fn narrow<E>(error: anyhow::Error) -> Result<Error, anyhow::Error>
    where
        E: Display + Debug + Send + Sync + 'static,
        Error: From<E>,
    {
        error.downcast::<E>().map(Error::from)
    }
    narrow::<Error>(error)
        .or_else(narrow::<BoardError>)
        .or_else(narrow::<SearchError>)
        .or_else(narrow::<DefinitionError>)
        .or_else(narrow::<OutputError>)
        .or_else(narrow::<PdbError>)
        .or_else(narrow::<TableError>)
        .or_else(narrow::<SolveError>)
        .or_else(narrow::<DiskError>)
}

/// The one place that writes to stderr without the log. What a user typed comes back to be read, never as a command to
/// the terminal: control characters and those that turn the direction of text are escaped.
pub fn complain(text: &str) {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => line.push(' '),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {
                line.extend(c.escape_unicode())
            }
            c if c.is_control() => line.extend(c.escape_unicode()),
            c => line.push(c),
        }
    }
    // In one write: a launcher joins what several ranks say.
    line = format!("error: {line}\n");
    progress::aside(|| write_unlocked(line.as_bytes()));
}

pub(crate) use refuse;
