//! Advice in errors: what to give, to leave out or to run. Every interface calls these things by names of its own.
//!
//! A message names a hint as it names a number. What is said is decided when the message is written, by the interface
//! that is in use: [`Hint::say`].

use std::{
    fmt::{Display, Formatter, Result},
    sync::RwLock,
};

/// What an error advises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint<'a> {
    /// A setting.
    Setting(&'static str),
    /// A setting and its value; one in capitals stands for any.
    Value(&'static str, &'a str),
    /// A command of the program.
    Command(&'a str),
    /// What builds a kind of file, which is named, and the command of the program that does.
    Build(&'static str, &'static str),
    /// To do once more what was done.
    Again,
    /// To fill a table in its file, in front of more advice; nothing where that is not possible.
    InFile,
    /// To keep the levels of a build in a directory, which takes this much memory, in front of more advice; only the
    /// last word of it where that is not possible.
    InDirectory(&'a str),
}

/// What the interface in use says.
static WORDS: RwLock<fn(&Hint) -> String> = RwLock::new(plain);

impl Hint<'_> {
    /// Sets the words of the interface in use. Until then, settings are called by their names.
    pub fn say(words: fn(&Hint) -> String) {
        *WORDS.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = words;
    }
}

fn plain(hint: &Hint) -> String {
    match hint {
        Hint::Setting(name) => name.to_string(),
        Hint::Value(name, value) => format!("{name} {value}"),
        Hint::Command(words) | Hint::Build(_, words) => format!("tilewave {words}"),
        Hint::Again => "try again".into(),
        Hint::InFile => "fill the table in its file, ".into(),
        Hint::InDirectory(needed) => format!("use {DIR}, which needs only {needed} of memory, or "),
    }
}

impl Display for Hint<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let words = *WORDS.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        f.write_str(&words(self))
    }
}

// Those of more than one message, as messages name them.

pub(crate) const AGAIN: Hint = Hint::Again;
pub(crate) const BUILD_DATABASE: Hint = Hint::Build("database", "pdb build");
pub(crate) const BUILD_PRUNING: Hint = Hint::Build("pruning table", "table");
pub(crate) const BUILD_SET: Hint = Hint::Build("set", "pdb set build");
pub(crate) const BUILD_TABLE: Hint = Hint::Build("distance table", "table");
pub(crate) const BYTES: Hint = Hint::Value("encoding", "byte");
pub(crate) const CHECK: Hint = Hint::Command("check");
pub(crate) const COUNT_AHEAD: Hint = Hint::Setting("count_ahead");
pub(crate) const DIR: Hint = Hint::Setting("dir");
pub(crate) const DIRECTED: Hint = Hint::Setting("directed");
pub(crate) const ENCODING: Hint = Hint::Setting("encoding");
pub(crate) const ENGINE: Hint = Hint::Setting("engine");
pub(crate) const GENERATORS: Hint = Hint::Setting("generators");
pub(crate) const GOAL: Hint = Hint::Setting("goal");
pub(crate) const IGNORE_SPACE: Hint = Hint::Setting("ignore_space");
pub(crate) const MAX_DEPTH: Hint = Hint::Setting("max_depth");
pub(crate) const MEMORY: Hint = Hint::Setting("memory");
pub(crate) const METRIC: Hint = Hint::Setting("metric");
pub(crate) const PIECES: Hint = Hint::Setting("pieces");
pub(crate) const REPAIR: Hint = Hint::Command("check --repair");
pub(crate) const RESUME_CHECK: Hint = Hint::Command("resume --check");
pub(crate) const THREADS: Hint = Hint::Setting("threads");
