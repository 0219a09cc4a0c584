//! `scramble` and `export` as a user meets them.

use assert_cmd::Command;
use tilewave::puzzle::tiles::{Frame, Goal};

use super::board;

/// Runs the program; returns exit code, stdout and stderr.
fn tilewave(args: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("tilewave").expect("the program is built");
    let output = command.args(args).output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    let code = output.status.code().expect("the program is not killed");
    (code, text(output.stdout), text(output.stderr))
}

#[test]
fn scramble_prints_as_many_solvable_boards_as_asked() {
    let args = [
        "scramble", "3x5", "--count", "5000", "--seed", "9", "--goal", "first",
    ];
    let (code, text, _) = tilewave(&args);
    assert_eq!((code, text.lines().count()), (0, 5000));
    let frame = Frame::new(Goal::First.board("3x5".parse().unwrap()).unwrap());
    assert!(
        text.lines()
            .all(|line| frame.solvable(&board(line)).unwrap())
    );
    assert_eq!(tilewave(&args).1, text, "the seed determines the boards");
    let other = tilewave(&["scramble", "3x5", "--count", "5000", "--seed", "10"]);
    assert_ne!(other.1, text);
}

#[test]
fn scramble_without_a_seed_logs_the_one_it_took() {
    let (_, text, log) = tilewave(&["scramble", "4x4"]);
    let seed = log.trim().rsplit(' ').next().unwrap();
    let (_, again, _) = tilewave(&["scramble", "4x4", "--seed", seed]);
    assert_eq!(again, text);
    assert_eq!(tilewave(&["scramble", "1x4"]).0, 2);
}

#[test]
fn export_writes_both_models_and_replaces_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_string();
    let (cnf, lp) = (path("a.cnf"), path("a.lp"));
    let args = ["export", "1 2 3/0 4 6/7 5 8", "--cnf", &cnf, "--lp", &lp];
    let (code, text, _) = tilewave(&args);
    assert_eq!((code, text.as_str()), (0, ""));
    // The constructive solver is optimal on 3x3: three moves.
    let formula = std::fs::read_to_string(&cnf).unwrap();
    assert!(formula.starts_with("c Solvable in at most 3 moves?\n"));
    assert!(formula.contains("\np cnf 339 "));
    let program = std::fs::read_to_string(&lp).unwrap();
    assert!(program.contains(" moves: + z_0_0 + z_0_1 + z_0_2\n") && program.ends_with("End\n"));
    let (code, _, error) = tilewave(&args);
    assert!(code == 1 && error.contains("--force"), "{error}");
    assert_eq!(tilewave(&[&args[..], &["--force"]].concat()).0, 0);
}

#[test]
fn export_refuses_what_it_cannot_ask() {
    assert_eq!(
        tilewave(&["export", "1 2 3/0 4 6/7 5 8"]).0,
        2,
        "no file is named"
    );
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.cnf");
    let path = path.to_str().unwrap();
    let (code, _, error) = tilewave(&["export", "1 2 3/4 5 6/8 7 0", "--cnf", path]);
    assert!(code == 1 && error.contains("cannot reach"), "{error}");
    let most = usize::MAX.to_string();
    let huge = [
        "export",
        "1 2 3/4 5 6/7 8 0",
        "--cnf",
        path,
        "--max-moves",
        &most,
    ];
    let (code, _, error) = tilewave(&huge);
    assert!(code == 1 && error.contains("allow fewer moves"), "{error}");
    assert!(!directory.path().join("a.cnf").exists());
}
