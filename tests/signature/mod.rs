//! The signature: the numbers of a list of commands, of everything that the program searches, builds, solves and draws.
//! `tests/data/signature.txt` has them, so that whoever changes behaviour changes it knowingly.
//!
//! A line of the file is a job: commands that share a directory, `DIR`, and run one after the other. Their output is
//! JSON or, of `scramble`, text. The next line has its numbers. A new job needs only its own line and an update.

use std::{collections::BTreeMap, fmt::Write as _, path::PathBuf};

use rayon::prelude::*;
use serde_json::Value;
use twox_hash::XxHash3_64;

use crate::program::{room, run, tilewave};

/// The keys of JSON whose values are numbers of the signature: no times, sizes of memory, names or versions.
const KEYS: [&str; 17] = [
    "states",
    "total",
    "entries",
    "diameter",
    "max",
    "bytes",
    "symmetries",
    "depth",
    "length",
    "at_least",
    "nodes",
    "counts",
    "reduced",
    "histogram",
    "checksums",
    "checksum",
    "last",
];

fn file() -> PathBuf {
    crate::program::root().join("tests/data/signature.txt")
}

/// Collects the values of a key anywhere in some JSON.
fn values<'v>(of: &'v Value, key: &str, found: &mut Vec<&'v Value>) {
    match of {
        Value::Object(fields) => {
            for (name, value) in fields {
                if name == key && !value.is_null() {
                    found.push(value);
                } else {
                    values(value, key, found);
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|value| values(value, key, found)),
        _ => {}
    }
}

fn hash(text: &str) -> String {
    format!("{:016x}", XxHash3_64::oneshot(text.as_bytes()))
}

/// The numbers of some JSON: those of one value as they are, lists as their hash.
fn numbers(json: &Value) -> String {
    let mut text = String::new();
    for key in KEYS {
        let mut found = Vec::new();
        values(json, key, &mut found);
        // How many bytes lists take depends on the machine.
        found.retain(|value| key != "bytes" || !value.is_array());
        let one = |value: &&Value| match value {
            Value::String(text) => text.clone(),
            Value::Array(_) => hash(&value.to_string()),
            value => value.to_string(),
        };
        if !found.is_empty() {
            let all: Vec<String> = found.iter().map(one).collect();
            write!(text, "  {key} {}", all.join(",")).unwrap();
        }
    }
    text.trim_start().to_string()
}

/// Runs the commands of a job; returns its numbers.
fn of_job(job: &str) -> String {
    let dir = room();
    let path = dir.path().to_str().unwrap();
    let mut all = Vec::new();
    for command in job.split(" && ") {
        let mut args: Vec<String> = crate::readme::words(command)
            .into_iter()
            .map(|word| word.replace("DIR", path))
            .collect();
        let draws = args[0] == "scramble";
        if !draws {
            args.extend(["--format", "json"].map(String::from));
        }
        let mut program = tilewave(&args);
        let done = run(program.env("XDG_CACHE_HOME", path).current_dir(crate::program::root()));
        if draws {
            assert!(done.ok(), "{command}: {}", done.err);
            all.push(format!("drawn {}", hash(&done.out)));
            continue;
        }
        let json = serde_json::from_str(&done.out);
        let json: Value = json.unwrap_or_else(|_| panic!("{command}: {done:?}"));
        all.push(numbers(&json));
    }
    all.join("  &&  ")
}

#[test]
fn numbers_are_those_of_the_signature() {
    let text = std::fs::read_to_string(file()).unwrap();
    let is_job = |line: &&str| !line.trim().is_empty() && !line.starts_with(['#', ' ']);
    let jobs: Vec<&str> = text.lines().filter(is_job).collect();
    assert!(jobs.len() > 100);
    let found: BTreeMap<&str, String> = jobs.par_iter().map(|job| (*job, of_job(job))).collect();
    if std::env::var_os("TILEWAVE_UPDATE").is_some() {
        let lines = text.lines().filter(|line| !line.starts_with(' ')).map(|line| {
            let numbers =
                found.get(line).map_or(String::new(), |numbers| format!("    {numbers}\n"));
            format!("{line}\n{numbers}")
        });
        std::fs::write(file(), lines.collect::<String>()).unwrap();
        return;
    }
    let mut wrong = String::new();
    for (job, below) in text.lines().zip(text.lines().skip(1).chain([""])) {
        let Some(new) = found.get(job) else { continue };
        let old = below.strip_prefix("    ").unwrap_or("none");
        if old != new {
            writeln!(wrong, "{job}\n    was {old}\n    is  {new}").unwrap();
        }
    }
    assert!(
        wrong.is_empty(),
        "{wrong}If this was intended, run TILEWAVE_UPDATE=1 cargo test --release --test suite signature"
    );
}
