//! What the program says when it cannot go on: errors as one line on stderr and an exit code, and its last words when
//! no memory is left.
//!
//! Every command returns a [`Result`]; [`Failure::report`] ends the process with it. The [`Allocator`] speaks itself:
//! the library asks for none of this; a program does, for its process.

#![allow(unsafe_code)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    error::Error as _,
    fmt::{self, Display},
    io::{self, IsTerminal, Write},
};

use clap::error::{ContextKind, ErrorKind};
use tilewave::{
    Class, Error, Size, SystemError,
    internals::{Hint, StorageError},
    pdb::PdbError,
    puzzle::{Puzzle, PuzzleError, families, named},
    search::SearchError,
    solve::SolveError,
    table::TableError,
};

use crate::{
    platform::{is_first, write_unlocked},
    progress::{self, INTERRUPTED},
};

// From errors to one line on stderr and an exit code.

pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why a command ends.
#[derive(Debug)]
pub struct Failure {
    pub code: u8,
    /// What is to be said of it, if that has not been done yet.
    pub said: Option<String>,
}

impl Failure {
    /// What has been reported: the exit code is left.
    pub fn exit(code: u8) -> Failure {
        Failure { code, said: None }
    }

    pub fn interrupted() -> Failure {
        Failure::exit(INTERRUPTED)
    }

    /// A command line that is wrong in a way that the parser cannot see.
    pub fn usage(said: impl Display) -> Failure {
        Failure { code: 2, said: Some(said.to_string()) }
    }

    pub fn failed(said: impl Display) -> Failure {
        Failure { code: 1, said: Some(said.to_string()) }
    }

    /// Says what failed of several things, of which the others go on; anything else ends the command.
    pub fn endure(self) -> Result<()> {
        match self {
            Failure { code: 1, said: Some(said) } => complain(&said),
            other => return Err(other),
        }
        Ok(())
    }

    /// Fails a command whose results are printed, unless they are good.
    pub fn unless(good: bool) -> Result<()> {
        if good { Ok(()) } else { Err(Failure::exit(1)) }
    }

    /// Says why, if that has not been done yet, and returns the exit code.
    pub fn report(self) -> u8 {
        if let Some(said) = &self.said {
            complain(said);
        }
        self.code
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.said.as_deref().unwrap_or_default())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        if let Error::System(SystemError::Write { reason, .. }) = &error
            && reason.kind() == io::ErrorKind::BrokenPipe
        {
            return Failure::exit(0);
        }
        match error.class() {
            Class::Usage => Failure::usage(error),
            Class::Interrupted => Failure { code: INTERRUPTED, said: Some(error.to_string()) },
            _ => Failure::failed(error),
        }
    }
}

/// Errors of the library's parts.
macro_rules! convert {
    ($($error:ty),+) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Error::from(error).into()
            }
        }
    )+};
}

convert!(PdbError, PuzzleError, SearchError, SolveError, StorageError, SystemError, TableError);

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            // A closed pipe ends the output, not the program's success.
            io::ErrorKind::BrokenPipe => Failure::exit(0),
            _ => Failure::failed(error),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        Failure::failed(error)
    }
}

/// What is being done or looked at, in front of what is wrong.
pub trait Context<T> {
    fn context(self, what: impl Display) -> Result<T>;
}

impl<T, E: Into<Failure>> Context<T> for Result<T, E> {
    fn context(self, what: impl Display) -> Result<T> {
        self.map_err(|error| {
            let Failure { code, said } = error.into();
            Failure { code, said: said.map(|said| format!("{what}: {said}")) }
        })
    }
}

/// Refuses a command line, in the words of a format.
macro_rules! refuse {
    ($($words:tt)*) => {
        return Err($crate::failure::Failure::usage(format!($($words)*)))
    };
}

/// What the program calls what an error advises.
pub fn words(hint: &Hint, program: clap::Command) -> String {
    let option = |setting: &str| option(setting, &program);
    match hint {
        Hint::Setting("threads") => "-j".into(),
        Hint::Setting("kernel") => KERNEL.into(),
        Hint::Setting(name) => option(name),
        Hint::Value("count_ahead", number) => format!("{}={number}", option("count_ahead")),
        Hint::Value(name, value) => format!("{} {value}", option(name)),
        Hint::Command(words) | Hint::Build(_, words) => format!("tilewave {words}"),
        Hint::InDirectory(needed) => {
            format!("use {}, which needs only {needed} of memory, or ", option("dir"))
        }
        Hint::InFile => format!("fill the table in its file ({}), ", option("on_disk")),
        Hint::Again => "run the same command again".into(),
    }
}

/// An option by its name, with the command that has it where the one at hand has not.
fn option(setting: &str, program: &clap::Command) -> String {
    let option = setting.replace('_', "-");
    let has = |command: &clap::Command| {
        command.get_arguments().any(|arg| arg.get_long() == Some(option.as_str()))
    };
    let (name, command) = asked(program.clone());
    let long = format!("--{option}");
    let owner: &[&str] = match name.as_str() {
        _ if has(&command) => &[],
        _ if SHAPES.contains(&long.as_str()) => &["puzzle"],
        "tilewave pdb export" => &["pdb", "build"],
        _ => &["bfs"],
    };
    match owner.iter().try_fold(program, |command, word| command.find_subcommand(word)) {
        Some(command) if has(command) => format!("tilewave {} {long}", owner.join(" ")),
        _ => long,
    }
}

/// The variable of the environment that names the kernel.
pub const KERNEL: &str = "TILEWAVE_KERNEL";

/// Options that shape a puzzle, of a few commands: a file that `tilewave puzzle` writes has them for all others.
pub const SHAPES: [&str; 7] = [
    "--directed",
    "--pieces",
    "--ignore-orientation",
    "--same",
    "--generators",
    "--goals",
    "--subgroup",
];

/// What the argument parser of `program` says: help and version on stdout, anything else in one line.
pub fn of_parser(error: &clap::Error, program: clap::Command) -> Result<()> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let printed = error.print().and_then(|()| io::Write::flush(&mut io::stdout()));
            printed.context("cannot write to stdout")
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            Err(Failure::exit(2))
        }
        _ => {
            let (command, _) = asked(program);
            refuse!("{}; see {command} --help", in_words(error, &command))
        }
    }
}

/// What to do instead of giving an option that other commands have, or that this one had.
fn instead(option: &str, command: &str) -> Option<String> {
    let advice = match option {
        "--engine" | "--shared-digits" if command == "tilewave resume" => {
            "it was chosen when the search was started; leave it out"
        }
        "--metric" if command == "tilewave scramble" => {
            "the metric does not change which states there are; leave it out"
        }
        "--kernel" => return Some(format!("set the environment variable {KERNEL}")),
        "-o" | "--output" | "-f" | "--force" => {
            "to write what it prints to a file, redirect it (> FILE)"
        }
        _ if SHAPES.contains(&option) && command.starts_with("tilewave pdb") => {
            return Some(format!(
                "pattern databases are for boards: build a table with tilewave table PUZZLE {option} .. -o FILE"
            ));
        }
        _ if SHAPES.contains(&option) => {
            return Some(format!(
                "write the puzzle to a file with tilewave puzzle {option} .. -o NAME.puzzle, and \
                 give that file"
            ));
        }
        _ => return None,
    };
    Some(advice.into())
}

/// What is wrong with the command line, in this program's words, with the name that is closest.
fn in_words(error: &clap::Error, command: &str) -> String {
    let get = |kind| error.get(kind).map(ToString::to_string);
    let argument = get(ContextKind::InvalidArg).unwrap_or_default();
    // Options by name; what stands alone needs none.
    let option = argument.split([' ', '[']).next().filter(|w| w.starts_with('-'));
    let of_option = option.map_or(String::new(), |option| format!("{option}: "));
    let value = get(ContextKind::InvalidValue).unwrap_or_default();
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(advice) = instead(&argument, command)
    {
        return format!("{argument} is no option of this command: {advice}");
    }
    // Where puzzles may follow each other, what is no puzzle is unexpected.
    let (kind, argument) = match error.kind() {
        ErrorKind::ValueValidation
            if argument.starts_with("[PUZZLE]") && value.parse::<u64>().is_ok() =>
        {
            (ErrorKind::UnknownArgument, value.clone())
        }
        kind => (kind, argument),
    };
    let mut text = match (kind, error.source()) {
        (ErrorKind::ValueValidation, Some(reason)) => format!("{of_option}{reason}"),
        (ErrorKind::InvalidValue, _) if value.is_empty() => format!("{argument} needs a value"),
        (ErrorKind::InvalidValue, _) => {
            let names = get(ContextKind::ValidValue).unwrap_or_default();
            format!("{of_option}'{value}' is not one of {names}")
        }
        (ErrorKind::UnknownArgument, _) if argument.starts_with('-') => {
            format!("unknown option '{argument}'")
        }
        (ErrorKind::UnknownArgument, _)
            if before(&argument).last().is_some_and(|option| option == "--count-ahead") =>
        {
            format!("unexpected argument '{argument}': write --count-ahead={argument}")
        }
        (ErrorKind::UnknownArgument, _) if tiles_before(&argument).is_some() => {
            let tiles = tiles_before(&argument).unwrap_or_default();
            format!("'{tiles}' is not a board size; to specify tiles, use --pattern {tiles}")
        }
        (ErrorKind::UnknownArgument, _) if is_puzzle(&argument) => {
            format!("unexpected argument '{argument}': specify only one puzzle")
        }
        (ErrorKind::UnknownArgument, _) if argument.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("unexpected argument '{argument}': quote boards and states that contain spaces")
        }
        (ErrorKind::UnknownArgument, _) => format!("unexpected argument '{argument}'"),
        (ErrorKind::ArgumentConflict, _) => {
            let other = get(ContextKind::PriorArg).unwrap_or_default();
            let name = |of: &str| of.split(' ').next().unwrap_or_default().to_string();
            match (name(&argument), name(&other)) {
                (one, other) if one == other => format!("{one} is given twice: give it only once"),
                (one, other) => {
                    format!("{one} cannot be used together with {other}: leave one of them out")
                }
            }
        }
        (ErrorKind::InvalidSubcommand, _) => {
            format!("unknown command '{}'", get(ContextKind::InvalidSubcommand).unwrap_or_default())
        }
        _ => {
            let text = error.to_string();
            let paragraph = text.split("\n\n").next().unwrap_or_default();
            let words: Vec<&str> = paragraph.split_whitespace().collect();
            let mut text = words.join(" ").trim_start_matches("error: ").to_string();
            let mut given = given();
            if error.kind() == ErrorKind::MissingRequiredArgument
                && text.contains("--pdb")
                && let Some(file) = given.find(|word| word.ends_with(".pdb"))
            {
                text += &format!(" (did you mean --pdb {file}?)");
            }
            text
        }
    };
    let meant =
        [ContextKind::SuggestedArg, ContextKind::SuggestedValue, ContextKind::SuggestedSubcommand];
    // Other options that merely share letters are no help.
    let like = |meant: &String| !meant.starts_with("--") || is_like(&argument, meant);
    if let Some(meant) = meant.into_iter().find_map(get).filter(like) {
        text += &format!(" (did you mean {meant}?)");
    }
    text
}

/// The words of the command line; what is no Unicode in them is replaced, as in what the parser says.
fn given() -> impl Iterator<Item = String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned())
}

fn before(word: &str) -> Vec<String> {
    let mut given: Vec<String> = given().collect();
    given.truncate(given.iter().position(|one| one == word).unwrap_or(0));
    given
}

/// Tiles that stand in the place of a size, right before the word that may be it.
fn tiles_before(word: &str) -> Option<String> {
    let given = before(word);
    let [.., before, tiles] = &given[..] else { return None };
    let is_tiles = tiles.bytes().all(|b| b.is_ascii_digit() || b",-".contains(&b));
    (is_tiles && !before.starts_with('-')).then(|| tiles.clone())
}

/// Whether one word can be a slip of the other: both begin alike, or are about as long.
fn is_like(word: &str, meant: &str) -> bool {
    let (word, meant) = (word.trim_start_matches('-'), meant.trim_start_matches('-'));
    word.len().abs_diff(meant.len()) <= 2 || word.get(..3) == meant.get(..3)
}

/// Whether a word names a puzzle without doubt.
fn is_puzzle(word: &str) -> bool {
    let is_graph = || Puzzle::of_graph(word).is_some_and(|graph| graph.is_ok());
    let is_member = || named::parse(word).is_some() || families::parse(word).is_ok();
    word.parse::<Size>().is_ok() || is_member() || is_graph()
}

/// The command that the command line names, with all its names: `tilewave pdb build`.
fn asked(mut command: clap::Command) -> (String, clap::Command) {
    let mut name = String::from("tilewave");
    for word in std::env::args_os().skip(1) {
        if let Some(found) = command.find_subcommand(&word) {
            name += &format!(" {}", found.get_name());
            command = found.clone();
        }
    }
    (name, command)
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

// Last words.
//
// Invariant: nothing here allocates or waits for a lock once it has begun to speak: another thread may hold any lock.

/// The system's allocator; when it has no more memory, the program ends with words and not with a signal.
pub struct Allocator;

impl Allocator {
    fn given(memory: *mut u8, bytes: usize) -> *mut u8 {
        if memory.is_null() {
            out_of_memory(bytes);
        }
        memory
    }
}

// SAFETY: every call goes to the system's allocator as it came, and what that returns is returned; where that is
// null, the process ends instead.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the promises of this function, which are the same.
        Allocator::given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        Allocator::given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        Allocator::given(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn out_of_memory(bytes: usize) -> ! {
    if !is_first() {
        // The thread that says it ends the process long before this; if not even that has memory, this one does.
        std::thread::sleep(std::time::Duration::from_secs(1));
        std::process::exit(1)
    }
    let mut line = [0; 200];
    let mut rest = &mut line[..];
    // A bar that stands there is left where it is. The line has room for all of it.
    let end_of_bar = if io::stderr().is_terminal() { "\n" } else { "" };
    let _ = writeln!(
        rest,
        "{end_of_bar}error: not enough memory (the system refused another {bytes} bytes): close \
         other programs, or use fewer threads (-j) or a lower --memory"
    );
    let len = 200 - rest.len();
    write_unlocked(&line[..len]);
    std::process::exit(1)
}
