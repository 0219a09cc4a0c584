//! Signals, kills, closed streams, and answers that come while the input is open.
//!
//! Windows tells of Ctrl-C whoever shares a console with the program, the test too: no test sends it there.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};
#[cfg(unix)]
use std::time::{Duration, Instant};

use super::{json, stdout};
#[cfg(unix)]
use crate::program::{Done, signal};
use crate::program::{PATIENCE, end, room, run, start, tilewave};

fn entries(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Starts a search that takes seconds and waits until it has finished a few levels.
fn begun(args: &[&str]) -> (Child, BufReader<ChildStderr>) {
    let search = ["bfs", "3x4", "--engine", "reference", "-v"];
    let mut child = start(&mut tilewave(search.iter().chain(args)));
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("depth 9:") {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "the search ended early");
    }
    (child, log)
}

fn rest(mut of: impl Read) -> String {
    let mut text = String::new();
    of.read_to_string(&mut text).unwrap();
    text
}

#[cfg(unix)]
fn wait_until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whoever looks at the log may stop: the search goes on and its result is whole.
#[test]
fn a_closed_stderr_loses_no_result() {
    let dir = room();
    let run = dir.path().join("run");
    let counts = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split(',').take(2).collect()).collect()
    };
    let whole = counts(&stdout(&["bfs", "2x5", "--format", "csv"]));
    for args in [&["bfs", "2x5"][..], &["bfs", "2x5", "--dir", run.to_str().unwrap()]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = tilewave(args);
        command.args(["--format", "csv", "-v"]).stderr(writer);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(counts(&String::from_utf8(output.stdout).unwrap()), whole);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_search_says_so_and_exits_130() {
    let (child, log) = begun(&[]);
    signal(&child, "INT");
    let log = rest(log);
    let Done { code, out, .. } = end(child, PATIENCE);
    assert_eq!((code, out.as_str()), (Some(130), ""));
    let errors: Vec<&str> = log.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "{log}");
    assert!(errors[0].contains("interrupted at depth ") && log.trim_end().ends_with(errors[0]));
}

#[test]
fn a_killed_search_leaves_nothing_behind() {
    let dir = room();
    let (text, plot) = (dir.path().join("3x4.txt"), dir.path().join("3x4.svg"));
    let args = ["-o", text.to_str().unwrap(), "--plot", plot.to_str().unwrap()];
    let (mut child, _log) = begun(&args);
    assert_eq!(entries(dir.path()), [""; 0]);
    child.kill().unwrap();
    assert_eq!(end(child, PATIENCE).signal, cfg!(unix).then_some(9));
    assert_eq!(entries(dir.path()), [""; 0]);
}

#[test]
fn a_file_that_appears_during_the_search_is_kept() {
    let dir = room();
    let file = dir.path().join("late.txt");
    let (child, log) = begun(&["--max-depth", "22", "-o", file.to_str().unwrap()]);
    fs::write(&file, "precious").unwrap();
    let log = rest(log);
    assert_eq!(end(child, PATIENCE).code, Some(1));
    let words = "already exists: choose another name, or replace it with --force";
    assert!(log.contains(words), "{log}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    assert_eq!(entries(dir.path()), ["late.txt"]);
}

/// As under nohup, a signal that is ignored when the program starts is ignored.
#[cfg(target_os = "linux")]
#[test]
fn who_ignores_a_signal_goes_on() {
    for (how, code) in [("--ignore-signal=HUP", 0), ("--default-signal=HUP", 130)] {
        let mut command = std::process::Command::new("env");
        command.arg(how).arg(tilewave([""; 0]).get_program());
        command.args(["bfs", "3x4", "--engine", "reference", "-v"]);
        // The whole search is not over before the signal comes.
        command.args((code == 0).then_some("--max-depth=24"));
        let mut child = start(&mut command);
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(log.any(|line| line.unwrap().contains("depth 9:")));
        signal(&child, "HUP");
        let log: Vec<String> = log.map(Result::unwrap).collect();
        assert_eq!(end(child, PATIENCE).code, Some(code), "{log:?}");
    }
}

/// Ctrl-C in the middle of a build: exit code 130, no file, no temporary file.
#[cfg(unix)]
#[test]
fn an_interrupted_build_leaves_nothing() {
    let dir = room();
    let build =
        ["pdb", "build", "5x5", "--pattern", "1-7", "--encoding", "bit", "-o", "x.pdb", "-j", "1"];
    let child = start(tilewave(build).arg("--quiet").current_dir(dir.path()));
    std::thread::sleep(Duration::from_millis(1500));
    signal(&child, "INT");
    assert_eq!(end(child, PATIENCE).code, Some(130));
    assert_eq!(entries(dir.path()), [""; 0]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_commits_and_the_same_command_goes_on() {
    let home = room();
    let dir = home.path().join("run");
    let search = ["bfs", "3x4", "--dir", dir.to_str().unwrap()];
    let slowly = ["--shared-digits", "1", "--commit-every", "1h", "-j", "1"];
    // A busy machine may send the signal only when the search is over: it is begun again then.
    let interrupted = |_| {
        let _ = fs::remove_dir_all(&dir);
        let child = start(tilewave(search).args(slowly));
        // The first commit, that of the start, is there.
        wait_until(|| dir.join("manifest").exists());
        signal(&child, "INT");
        let done = end(child, PATIENCE);
        assert!(matches!(done.code, Some(0 | 130)), "{}", done.err);
        (!done.ok()).then_some(done.err)
    };
    let err = (0..8).find_map(interrupted).expect("no search was interrupted in time");
    assert!(err.contains("Nothing is lost") && err.contains("`tilewave resume "), "{err}");
    let whole = json(&[&search[..], &["--format", "json"]].concat());
    assert_eq!(whole["diameter"], 53);
    assert!(whole["agrees_with"].is_string());
}

#[test]
fn answers_come_as_boards_arrive() {
    let args = ["solve", "--no-cache", "--no-progress"];
    let mut child = start(tilewave(args).stdin(Stdio::piped()));
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for (board, moves) in [("1 2 3/4 5 6/7 0 8", "  1 move "), ("1 2 3/4 5 6/0 7 8", "  2 moves")] {
        // The input stays open: the answer must not wait for its end.
        writeln!(input, "{board}").unwrap();
        let line = lines.next().unwrap().unwrap();
        assert!(line.contains(moves), "{line}");
    }
    drop(input);
    assert!(end(child, PATIENCE).ok());
}

#[cfg(unix)]
const EASY: &str = "1 2 3 4/5 6 7 8/9 10 11 12/13 14 0 15\n";
#[cfg(unix)]
const HARD: &str = "0 15 14 13/12 11 10 9/8 7 6 5/4 3 2 1\n";
#[cfg(unix)]
const SOLVE: [&str; 5] = ["solve", "--partition", "5-5-5", "--goal", "blank=15"];

#[cfg(unix)]
#[test]
fn an_interrupted_command_says_how_far_it_came() {
    let home = room();
    let input = home.path().join("boards");
    fs::write(&input, EASY.repeat(300) + &HARD.repeat(100)).unwrap();
    let mut command = tilewave(SOLVE);
    command.args(["--no-cache", "--no-progress"]).stdin(fs::File::open(&input).unwrap());
    let mut child = start(&mut command);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    signal(&child, "INT");
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    let done = end(child, PATIENCE);
    assert_eq!(done.code, Some(130));
    // The boards are read while the first are solved: on a busy machine not all of them have been.
    let says = |text: &str| {
        let all = text.contains(" of 400 boards");
        text.contains("interrupted: ") && (all || text.contains(" or more boards"))
    };
    assert!(says(&done.err), "{}", done.err);
    assert!(rest.iter().any(|line| says(line)), "{rest:?}");
    // The board that was searched is told of, those that nobody looked at are not.
    let ended = rest.iter().filter(|line| line.contains("gave up"));
    assert!(ended.count() <= 1, "{rest:?}");
}

/// One board has come and is solved, and nobody knows yet whether others will.
#[cfg(unix)]
#[test]
fn an_interruption_between_boards_is_told_of() {
    let mut child = start(tilewave(SOLVE).arg("--no-cache").stdin(Stdio::piped()));
    let mut boards = child.stdin.take().unwrap();
    boards.write_all(EASY.as_bytes()).unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert!(line.contains("1 move "), "{line}");
    signal(&child, "INT");
    let rest = rest(output);
    assert!(rest.contains("interrupted: 1 of 1 or more boards solved"), "{rest}");
    assert_eq!(end(child, PATIENCE).code, Some(130));
    drop(boards);
}

#[cfg(unix)]
#[test]
fn boards_that_an_interruption_leaves_get_no_line() {
    let home = room();
    let input = home.path().join("boards");
    fs::write(&input, EASY.repeat(5) + &HARD.repeat(100)).unwrap();
    for format in ["csv", "json"] {
        let out = home.path().join(format);
        let mut command = tilewave(SOLVE);
        command.args(["--format", format, "--cache-dir"]).arg(home.path());
        command.stdin(fs::File::open(&input).unwrap()).stderr(Stdio::null());
        let mut child = command.stdout(fs::File::create(&out).unwrap()).spawn().unwrap();
        let text = || fs::read_to_string(&out).unwrap();
        let solved = || text().lines().filter(|line| line.contains("14 0 15")).count();
        wait_until(|| solved() >= 5);
        signal(&child, "INT");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(solved(), 5, "{}", text());
        // The board that was searched when the signal came is told of, the others are not.
        let hard = text().lines().filter(|line| line.contains("0 15 14 13")).count();
        assert!(hard <= 1, "{}", text());
    }
}

#[test]
fn long_searches_log_a_line_a_second_unless_told_not_to() {
    let home = room();
    let solve = |timeout, more: &[&str]| {
        let mut command = tilewave(["solve", "--goal", "first", "--partition", "5-5-5", "-j", "1"]);
        command.args([
            "--timeout",
            timeout,
            "15 10 8 12/11 14 9 13/2 6 5 1/3 7 4 0",
            "--cache-dir",
        ]);
        let done = run(command.arg(home.path()).args(more));
        assert_eq!(done.code, Some(1), "given up");
        assert!(done.out.contains("  gave up after "), "{}", done.out);
        done.err
    };
    solve("0.1", &["--quiet"]);
    let log = solve("2.5", &[]);
    let lines = log.matches(" nodes, searching for solutions of ").count();
    assert!((1..=3).contains(&lines), "{log}");
    assert_eq!(solve("1.5", &["--no-progress"]), "");
    assert_eq!(solve("1.5", &["--quiet"]), "");
}
