//! `scramble` and `export` as a user meets them.

use assert_cmd::Command;
use tilewave::puzzle::{Coordinates, Goal};

use super::board;

/// Runs the program; returns exit code, stdout and stderr.
pub fn tilewave(args: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("tilewave").expect("the program is built");
    let output = command.args(args).output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    let code = output.status.code().expect("the program is not killed");
    (code, text(output.stdout), text(output.stderr))
}

#[test]
fn scramble_prints_as_many_solvable_boards_as_asked() {
    let args = ["scramble", "3x5", "--count", "5000", "--seed", "9", "--goal", "first"];
    let (code, text, _) = tilewave(&args);
    assert_eq!((code, text.lines().count()), (0, 5000));
    let frame = Coordinates::new(Goal::First.board("3x5".parse().unwrap()).unwrap());
    assert!(text.lines().all(|line| frame.solvable(&board(line)).unwrap()));
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
    let args = ["encode", "1 2 3/0 4 6/7 5 8", "--cnf", &cnf, "--lp", &lp];
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
fn export_speaks_of_the_moves_it_means_writes_to_stdout_and_reads_answers() {
    let board = "1 2 3/4 5 6/7 0 8";
    let directory = tempfile::tempdir().unwrap();
    let args = ["encode", board, "--max-moves", "10", "--cnf", "-"];
    let output = Command::cargo_bin("tilewave")
        .unwrap()
        .args(args)
        .current_dir(&directory)
        .output()
        .unwrap();
    let formula = String::from_utf8(output.stdout).unwrap();
    assert!(formula.starts_with("c Solvable in at most 9 moves? (10 were allowed"), "{formula}");
    assert!(!directory.path().join("-").exists());
    let (code, program, _) = tilewave(&["encode", board, "--max-moves", "1", "--mps", "-"]);
    assert!(code == 0 && program.ends_with("ENDATA\n"), "{program}");
    let model = directory.path().join("model");
    std::fs::write(&model, "l_0 1\n").unwrap();
    let model = model.to_str().unwrap();
    let (code, text, _) = tilewave(&["encode", board, "--decode", model]);
    assert_eq!((code, text), (0, format!("{board}  1 move  L\n")));
    let (_, text, _) = tilewave(&["encode", board, "--decode", model, "--moves", "blank"]);
    assert!(text.ends_with("  R\n"), "{text}");
    std::fs::write(model, "s UNSATISFIABLE\n").unwrap();
    assert_eq!(tilewave(&["encode", board, "--decode", model]).0, 1);
}

#[test]
fn export_refuses_what_it_cannot_ask() {
    assert_eq!(tilewave(&["encode", "1 2 3/0 4 6/7 5 8"]).0, 2, "no file is named");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.cnf");
    let path = path.to_str().unwrap();
    let (code, _, error) = tilewave(&["encode", "1 2 3/4 5 6/8 7 0", "--cnf", path]);
    assert!(code == 1 && error.contains("no moves lead to the goal"), "{error}");
    let most = usize::MAX.to_string();
    let huge = ["encode", "1 2 3/4 5 6/7 8 0", "--cnf", path, "--max-moves", &most];
    let (code, _, error) = tilewave(&huge);
    assert!(code == 1 && error.contains("allow fewer moves"), "{error}");
    assert!(!directory.path().join("a.cnf").exists());
}

/// Runs `solve` with boards on its input.
fn solve(args: &[&str], input: &str) -> (i32, String, String) {
    let mut command = Command::cargo_bin("tilewave").expect("the program is built");
    let output = command.arg("solve").args(args).write_stdin(input).output();
    let output = output.expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().expect("the program is not killed");
    (code, text(&output.stdout), text(&output.stderr))
}

#[test]
fn wrong_lines_are_named_and_the_rest_is_solved() {
    let input =
        "\u{feff}1 2 3/4 5 6/7 0 8\n1 2 z\u{1b}[2J\n\n1 2/0 3 # another size\n1 2 3/4 5 6/0 7 8\n";
    let (code, text, errors) = solve(&["--no-cache"], input);
    assert_eq!(code, 1, "{errors}");
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(" nodes  ")).collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[1].starts_with("1 2 3/4 5 6/0 7 8  2 moves  L2"), "{text}");
    assert!(text.contains("2 of 4 boards solved"), "{text}");
    let errors: Vec<&str> = errors.lines().filter(|line| line.starts_with("error")).collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[0].contains("line 2: ") && errors[0].contains("z\\u{1b}[2J"), "{errors:?}");
    assert!(errors[1].contains("line 4: the board is 2x2, but the goal is 3x3"), "{errors:?}");
    // Nothing that is a board: a usage error with the first reason.
    let (code, _, errors) = solve(&["--no-cache"], "hello\n");
    assert!(code == 2 && errors.contains("line 1: "), "{errors}");
    assert_eq!(solve(&["--no-cache"], "\n").0, 2);
}

#[test]
fn answers_come_as_boards_arrive() {
    use std::io::{BufRead, BufReader, Write};
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("tilewave"))
        .args(["solve", "--no-cache", "--no-progress"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut lines = BufReader::new(output).lines();
    for (board, moves) in [("1 2 3/4 5 6/7 0 8", "  1 move "), ("1 2 3/4 5 6/0 7 8", "  2 moves")] {
        // The input stays open: the answer must not wait for its end.
        writeln!(input, "{board}").unwrap();
        let line = lines.next().unwrap().unwrap();
        assert!(line.contains(moves), "{line}");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn limits_are_kept_however_small() {
    let board = "5 1 2 3/9 6 7 4/13 10 11 8/14 15 0 12";
    let cache = tempfile::tempdir().unwrap();
    let cache = cache.path().to_str().unwrap();
    for limit in [["--max-nodes", "1"], ["--max-nodes", "10"], ["--timeout", "0"]] {
        let args =
            ["--cache-dir", cache, "--partition", "5-5-5", "--goal", "first", limit[0], limit[1]];
        let far = "15 14 8 12/10 11 9 13/2 6 5 1/3 7 4 0";
        let (code, text, errors) = solve(&args, far);
        assert!(code == 1 && text.contains("gave up after"), "{limit:?}: {text} {errors}");
        let nodes: u64 = text
            .split("gave up after ")
            .nth(1)
            .unwrap()
            .split(' ')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        assert!(nodes < 64, "{limit:?}: {text}");
    }
    // Solved within the limit or not at all.
    let full = solve(&["--cache-dir", cache, "--format", "jsonl"], board).1;
    let nodes: u64 =
        full.split("\"nodes\":").nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
    for (limit, code) in [(nodes, 0), (nodes - 1, 1)] {
        let limit = limit.to_string();
        assert_eq!(solve(&["--cache-dir", cache, "--max-nodes", &limit], board).0, code);
    }
}

#[test]
fn an_interrupted_command_says_how_far_it_came() {
    use std::io::{BufRead, BufReader, Read};
    let cache = tempfile::tempdir().unwrap();
    let easy = "1 2 3 4/5 6 7 8/9 10 11 12/13 14 0 15\n".repeat(300);
    let hard = "0 15 14 13/12 11 10 9/8 7 6 5/4 3 2 1\n".repeat(100);
    let input = cache.path().join("boards");
    std::fs::write(&input, easy + &hard).unwrap();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("tilewave"))
        .args([
            "solve",
            "--partition",
            "5-5-5",
            "--no-cache",
            "--goal",
            "blank=15",
            "--no-progress",
        ])
        .stdin(std::fs::File::open(&input).unwrap())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // The boards are read while the first are solved: on a busy machine not all of them have been.
    let says = |text: &str| {
        let all = text.contains(" of 400 boards");
        text.contains("interrupted: ") && (all || text.contains(" or more boards"))
    };
    assert!(says(&errors), "{errors}");
    assert!(rest.iter().any(|line| says(line)), "{rest:?}");
    // The board that was searched is told of, those that nobody looked at are not.
    let ended = rest.iter().filter(|line| line.contains("gave up"));
    assert!(ended.count() <= 1, "{rest:?}");
}

/// One board has come and is solved, and nobody knows yet whether others will.
#[test]
fn an_interruption_between_boards_is_told_of() {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::process::{Command, Stdio};
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("tilewave"))
        .args(["solve", "--partition", "5-5-5", "--no-cache", "--goal", "blank=15"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut boards = child.stdin.take().unwrap();
    boards.write_all(b"1 2 3 4/5 6 7 8/9 10 11 12/13 14 0 15\n").unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert!(line.contains("1 move "), "{line}");
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("interrupted: 1 of 1 or more boards solved"), "{rest}");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(boards);
}

#[test]
fn boards_that_an_interruption_leaves_get_no_line() {
    use std::process::{Command, Stdio};
    let cache = tempfile::tempdir().unwrap();
    let easy = "1 2 3 4/5 6 7 8/9 10 11 12/13 14 0 15\n".repeat(5);
    let hard = "0 15 14 13/12 11 10 9/8 7 6 5/4 3 2 1\n".repeat(100);
    let input = cache.path().join("boards");
    std::fs::write(&input, easy + &hard).unwrap();
    for format in ["csv", "json"] {
        let out = cache.path().join(format);
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("tilewave"))
            .args(["solve", "--partition", "5-5-5", "--goal", "blank=15"])
            .args(["--format", format, "--cache-dir"])
            .arg(cache.path())
            .stdin(std::fs::File::open(&input).unwrap())
            .stdout(std::fs::File::create(&out).unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let solved = || {
            let text = std::fs::read_to_string(&out).unwrap();
            text.lines().filter(|line| line.contains("14 0 15")).count()
        };
        let begun = std::time::Instant::now();
        while solved() < 5 && begun.elapsed().as_secs() < 60 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let text = std::fs::read_to_string(&out).unwrap();
        assert_eq!(solved(), 5, "{text}");
        // The board that was searched when the signal came is told of, the others are not.
        let hard = text.lines().filter(|line| line.contains("0 15 14 13"));
        assert!(hard.count() <= 1, "{text}");
    }
}

#[test]
fn what_cannot_work_is_said_with_its_cause() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_string();
    let (database, both) = (path("a.pdb"), path("s"));
    let board = "1 2 3/4 5 6/7 0 8";
    // One file for the page and the result: nothing is left behind.
    let (code, _, error) = tilewave(&["solve", "--html", &both, "-o", &both, board]);
    assert!(code == 2 && error.contains("choose two different files"), "{error}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    // A database of another size; and the board after --pdb FILE is a board.
    let build = ["pdb", "build", "4x4", "--pattern", "1,2,3", "-o", &database];
    assert_eq!(tilewave(&build).0, 0);
    let (code, _, error) = tilewave(&["solve", "--pdb", &database, board]);
    assert!(
        code == 1 && error.contains("a.pdb' is a database for 4x4, but the board is 3x3"),
        "{error}"
    );
    // Boards beyond all databases.
    let large = (1..49).map(|tile| tile.to_string()).collect::<Vec<_>>().join(" ") + " 0";
    let moved = large.replace("48 0", "0 48");
    let (code, _, error) = tilewave(&["solve", "7x7", &moved]);
    assert!(code == 2 && error.contains("--fast"), "{error}");
}
