//! The command line where words alone do not say whether it is right: numbers that agree with others, signals,
//! terminals, options. What it prints is in `tests/cmd`.

mod agree;
mod claims;
mod long;
mod options;
mod plans;
mod report;
mod signals;
mod systems;
mod terminal;

use crate::{
    program::{run, tilewave},
    readme::words,
};

/// Runs the program; returns stdout. It must succeed.
pub fn stdout(args: &[&str]) -> String {
    let done = run(&mut tilewave(args));
    assert!(done.ok(), "{args:?}: {:?} {}", done.code, done.first_words());
    done.out
}

/// Runs the program and parses its stdout as JSON.
pub fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&stdout(args)).expect("stdout is one JSON value")
}

/// The commands that a help lists, but for `help`.
pub fn commands(help: &str) -> Vec<&str> {
    const HEADS: [&str; 6] = ["Commands:", "Search:", "Solve:", "Files:", "Puzzles:", "Setup:"];
    let mut is_list = false;
    let names = help.lines().filter_map(|line| {
        is_list = HEADS.contains(&line) || is_list && line.starts_with(' ');
        line.strip_prefix("  ").filter(|_| is_list)?.split(' ').next()
    });
    names.filter(|name| !["", "help"].contains(name)).collect()
}

/// The JSON that the program prints for a command line.
pub fn found(line: &str) -> serde_json::Value {
    json(&[&words(line)[..], &["--format", "json"]].concat())
}
