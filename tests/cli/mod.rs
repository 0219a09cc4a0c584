//! The command line as a user meets it.

mod claims;
mod commands;
mod files;
mod inspect;
mod long;
mod manners;
mod options;
mod plans;
mod puzzles;
mod refusals;
mod report;
mod solve;
mod table;

use assert_cmd::Command;

/// The program, with a predictable environment.
fn tilewave(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("tilewave").expect("the program is built");
    command.args(args).env_remove("TILEWAVE_KERNEL");
    command
}

/// Runs the program; returns stdout. It must succeed.
fn stdout(args: &[&str]) -> String {
    let output = tilewave(args).output().expect("the program runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {error}");
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

/// Runs the program and parses its stdout as JSON.
fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&stdout(args)).expect("stdout is one JSON value")
}

/// Runs the program, which must fail with the exit code and one line on stderr that contains `words`.
fn refused(args: &[&str], code: i32, words: &str) {
    let output = tilewave(args).output().expect("the program runs");
    let error = String::from_utf8(output.stderr).expect("errors are UTF-8");
    assert_eq!(output.status.code(), Some(code), "{args:?}: {error}");
    assert_eq!(error.lines().count(), 1, "{args:?}: {error}");
    assert!(error.starts_with("error: ") && error.contains(words), "{args:?}: {error}");
    assert!(!error.contains("panicked"), "{error}");
    assert!(output.stdout.is_empty(), "{args:?}: stdout stays clean");
}
