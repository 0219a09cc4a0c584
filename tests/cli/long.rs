//! `tilewave solve --log`: interrupted, killed and continued.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

#[cfg(unix)]
use crate::program::{PATIENCE, end, signal, start};
use crate::program::{room, run_with, tilewave};

/// A board that is one move away.
const EASY: &str = "1 0 2 3/4 5 6 7/8 9 10 11/12 13 14 15";
/// That board, two of 8 and 6 million nodes with the databases of five tiles, and between them one without a solution.
const BOARDS: &str = "1 0 2 3/4 5 6 7/8 9 10 11/12 13 14 15\n\
                      14 7 8 2/13 11 10 4/9 12 5 0/3 6 1 15\n\
                      0 2 1 3/4 5 6 7/8 9 10 11/12 13 14 15\n\
                      13 11 4 12/1 8 9 15/6 5 14 2/7 3 10 0\n";

/// States of a cube: two moves away, two of 3 and 49 million nodes with the tables of five pieces, and between them one
/// with a corner turned alone.
const STATES: &str = "R L\nR U F2 L D' B R' U2 F L2 D B\n\
                      corners 1 2 3 4 5 6 7 8/0 0 0 0 0 0 0 1; edges 1 2 3 4 5 6 7 8 9 10 11 12/0 0 0 0 0 0 0 0 0 0 0 0\n\
                      R U F2 L D' B R' U2 F L2 D B' R\n";

/// A place for logs, and databases that are built once.
struct Place {
    dir: tempfile::TempDir,
    words: Vec<String>,
    threads: &'static str,
    lines: &'static str,
}

impl Place {
    /// For boards.
    fn new() -> Place {
        let (dir, lines) = (room(), BOARDS);
        let mut place = Place { dir, words: Vec::new(), threads: "1", lines };
        let cache = place.path("cache");
        place.words = ["--goal", "first", "--partition", "5-5-5", "--cache-dir", &cache]
            .map(String::from)
            .into();
        place
    }

    /// For states of a cube.
    fn of_cube() -> Place {
        let mut place = Place { threads: "2", lines: STATES, ..Place::new() };
        place.words = vec!["3x3x3".into()];
        for pieces in ["corners:1-5", "edges:1-5"] {
            let table = place.path(pieces);
            super::stdout(&["table", "3x3x3", "--pieces", pieces, "-o", &table]);
            place.words.extend(["--pdb".into(), table]);
        }
        place
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_string()
    }

    fn args(&self, log: &str) -> Vec<String> {
        let mut args = vec!["solve".to_string()];
        args.extend(self.words.iter().cloned());
        args.extend(["-j", self.threads, "--format", "jsonl"].map(String::from));
        if !log.is_empty() {
            args.extend(["--log".into(), self.path(log)]);
        }
        args
    }

    /// Solves boards; returns the exit code, the answers without their times, and stderr.
    fn run(&self, log: &str, boards: &str) -> (Option<i32>, Vec<Value>, String) {
        let done = run_with(&mut tilewave(self.args(log)), boards);
        let answers = done.out.lines().map(|line| {
            let mut value: Value = serde_json::from_str(line).unwrap();
            value["seconds"] = 0.into();
            value
        });
        (done.code, answers.collect(), done.err)
    }

    /// Starts solving and ends it with a signal as soon as the log has a line that contains some words.
    #[cfg(unix)]
    fn cut(&self, log: &str, name: &str, words: &str) -> Option<i32> {
        let mut child = start(tilewave(self.args(log)).stdin(Stdio::piped()));
        child.stdin.take().unwrap().write_all(self.lines.as_bytes()).unwrap();
        let path = self.path(log);
        for _ in 0..3000 {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if text.contains(words) || child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(child.try_wait().unwrap(), None, "it is still at work");
        signal(&child, name);
        end(child, PATIENCE).code
    }
}

fn lines(path: impl AsRef<Path>) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(String::from).collect()
}

#[cfg(unix)]
#[test]
fn what_was_interrupted_or_killed_goes_on_and_comes_to_the_same() {
    for place in [Place::new(), Place::of_cube()] {
        goes_on(&place);
    }
}

#[cfg(unix)]
fn goes_on(place: &Place) {
    let (code, whole, _) = place.run("", place.lines);
    assert_eq!((code, whole.len()), (Some(1), 4));
    for (name, signal, words) in [
        ("int", "INT", "\"line\":\"iteration\",\"board\":3"),
        ("kill", "KILL", "\"line\":\"iteration\",\"board\":1"),
        ("subtrees", "KILL", "\"line\":\"subtrees\""),
    ] {
        let code = place.cut(name, signal, words);
        assert_eq!(code, (signal == "INT").then_some(130), "{name}");
        let path = place.path(name);
        let mut before = lines(&path);
        // A kill may have hit in the middle of a line.
        let torn = !before.last().unwrap().contains("\"sum\"");
        assert!(!torn || signal == "KILL", "{name}");
        if torn {
            before.pop();
        }
        if signal == "KILL" && !torn {
            // As if the machine had gone down in the middle of the line.
            let mut text = std::fs::read(&path).unwrap();
            text.extend(b"{\"line\":\"solved\",\"board\":3,\"til");
            std::fs::write(&path, text).unwrap();
        }
        let (code, again, error) = place.run(name, place.lines);
        assert_eq!(code, Some(1));
        assert_eq!(again, whole, "{name}: {error}");
        assert!(error.contains("continuing "), "{error}");
        let after = lines(&path);
        assert_eq!(after[..before.len()], before, "lines are only added");
        // Now all is known: nothing is searched, and the answers are the same.
        let (_, known, _) = place.run(name, place.lines);
        assert_eq!(known, whole);
        assert_eq!(lines(&path), after);
    }
}

#[test]
fn subtrees_behind_the_solution_do_not_count_as_nodes_of_this_session() {
    let place = Place::new();
    let hard = BOARDS.lines().nth(1).unwrap();
    let boards = format!("{hard}\n{EASY}\n");
    assert_eq!(place.run("log", &boards).0, Some(0));
    let path = place.path("log");
    let found: Vec<Value> =
        lines(&path).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is = |line: &Value, kind: &str| line["line"] == kind && line["board"] == 0;
    let subtrees = found.iter().rposition(|line| is(line, "subtrees")).unwrap();
    let solved = found.iter().rposition(|line| is(line, "solved")).unwrap();
    // Another thread has walked the last subtree when the process is killed, and it was a large one.
    let mut text = String::new();
    let mut sum = 0;
    for (i, line) in lines(&path).iter().enumerate().filter(|&(i, _)| i != solved) {
        let (mut line, _) = line.split_once(",\"sum\"").unwrap();
        let mut changed = found[subtrees].clone();
        let last = changed["of"]["subtrees"].as_u64().unwrap() - 1;
        changed["walked"] = serde_json::json!([[last, 1_000_000_000_000_u64, 2, 20]]);
        changed.as_object_mut().unwrap().remove("sum");
        let changed = changed.to_string();
        if i == subtrees {
            line = changed.trim_end_matches('}');
        }
        sum = xxhash_rust::xxh3::xxh3_64_with_seed(line.as_bytes(), sum);
        text += &format!("{line},\"sum\":\"{sum:016x}\"}}\n");
    }
    std::fs::write(&path, text).unwrap();
    let mut args = place.args("log");
    let format = args.iter().position(|word| word == "jsonl").unwrap();
    args[format] = "text".into();
    let done = run_with(&mut tilewave(args), &boards);
    let said = done.out + &done.err;
    assert_eq!(done.code, Some(0), "{said}");
    assert!(said.contains("continuing ") && said.contains("59 moves"), "{said}");
    assert!(said.contains("nodes/s") && !said.contains(" T nodes/s"), "{said}");
}

/// A log of another version is refused and left as it is, although its sum is right.
#[test]
fn a_log_of_another_version_is_refused() {
    let place = Place::new();
    assert_eq!(place.run("log", EASY).0, Some(0));
    let path = place.path("log");
    let text = std::fs::read_to_string(&path).unwrap();
    let (first, _) = text.lines().next().unwrap().split_once(",\"sum\"").unwrap();
    let first = first.replacen("\"tilewave_log\":3", "\"tilewave_log\":2", 1);
    let sum = xxhash_rust::xxh3::xxh3_64(first.as_bytes());
    let old = format!("{first},\"sum\":\"{sum:016x}\"}}\n");
    std::fs::write(&path, &old).unwrap();
    let (code, answers, error) = place.run("log", EASY);
    assert_eq!((code, answers.len()), (Some(1), 0));
    let words = "with format version 2, but this program reads version 3";
    assert!(error.contains(words), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), old);
}
