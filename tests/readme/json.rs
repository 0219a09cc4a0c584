//! docs/json.md has every key that the program prints.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{root, words};
use crate::program::{run_with, tilewave};

/// Commands whose output has all keys there are, one after the other in one directory.
const COMMANDS: [&str; 38] = [
    "bfs 3x3 --list 1",
    "bfs 2x4 --dir run --keep-levels all",
    "bfs 2x2x2",
    "bfs 3x3 --tiles 1-5",
    "plan 2x4",
    "plan lrx:8",
    "plan 2x2x2",
    "antipodes 2x2x2",
    "state 2x2x2 \"1 2 3 4 5 6 7/1 0 0 0 0 0 0\"",
    "plan 4x4 --ranks 2",
    "info run",
    "check run",
    "repair run",
    "verify 2x3",
    "levels 3x3 --depth 31",
    "state lrx:5 --id 3",
    "state \"8 6 7/2 5 4/3 0 1\"",
    "table 2x3 -o 2x3.table",
    "table lrx:5 -o lrx.table",
    "solve --table lrx.table \"2 1 3 4 5\"",
    "puzzles",
    "solve \"8 6 7/2 5 4/3 0 1\"",
    "solve \"1 2 3/4 5 6/8 7 0\"",
    "solve --max-nodes 10 \"8 6 7/2 5 4/3 0 1\"",
    "solve --fast --compare \"8 6 7/2 5 4/3 0 1\"",
    "solve --certify \"1 2 3/4 5 6/0 7 8\"",
    "pdb build 3x3 --pattern 1,2,3 -o a.pdb",
    "info a.pdb 2x3.table",
    "check a.pdb",
    "pdb probe --pdb a.pdb \"8 6 7/2 5 4/3 0 1\"",
    "pdb plan 3x3 --pattern 1,2,3",
    "pdb plan 4x4 --pattern 1-7 --encoding bit",
    "pdb set rate a.pdb --samples 10 --boards -",
    "pdb set build 2x3 -o set",
    "info set",
    "solve --log log \"8 6 7/2 5 4/3 0 1\"",
    "info log",
    "cache",
];

/// The keys of a value, those of values in it included.
fn keys(value: &Value, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                all.insert(key.clone());
                keys(value, all);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, all)),
        _ => {}
    }
}

/// The value that a command prints.
fn value(line: &str, dir: &Path) -> Value {
    // What it prints is no figures; the commands after it read what it makes.
    let makes_a_set = line.starts_with("pdb set build");
    if line == "repair run" {
        fs::remove_file(dir.join("run/manifest")).unwrap();
    }
    let mut command = tilewave(words(line));
    command.args(if makes_a_set { &[][..] } else { &["--format", "json"][..] });
    command.current_dir(dir).env("XDG_CACHE_HOME", dir);
    let done = run_with(&mut command, "8 6 7/2 5 4/3 0 1\n");
    if makes_a_set {
        assert!(done.ok(), "{line}: {}", done.err);
        return Value::Null;
    }
    serde_json::from_str(&done.out).unwrap_or_else(|e| panic!("{line}: {e} in {done:?}"))
}

#[test]
fn every_key_is_in_the_page() {
    let page = fs::read_to_string(root().join("docs/json.md")).unwrap();
    let known: BTreeSet<&str> = page.split('`').skip(1).step_by(2).collect();
    let dir = tempfile::tempdir().unwrap();
    let mut seen = BTreeSet::new();
    for line in COMMANDS {
        let mut of_command = BTreeSet::new();
        keys(&value(line, dir.path()), &mut of_command);
        let missing = of_command.iter().filter(|key| !known.contains(key.as_str()));
        let missing: Vec<&String> = missing.collect();
        assert!(missing.is_empty(), "docs/json.md does not have {missing:?} of tilewave {line}");
        seen.extend(of_command);
    }
    assert!(seen.len() > 130, "only {} keys are seen", seen.len());
}
