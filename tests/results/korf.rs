//! The answers to Korf's 24-puzzles in docs/results: every solution is replayed, every length is the published one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use tilewave::puzzle::{Board, Goal, MoveStyle, Moves};

use super::{error, results, root, tool};

#[derive(Deserialize)]
struct Answer {
    instance: usize,
    board: String,
    length: usize,
    moves: String,
    nodes: u64,
    seconds: f64,
    #[serde(default)]
    backwards: bool,
}

#[test]
fn solutions_of_korfs_24_puzzles_are_as_long_as_published() {
    let published =
        include_str!("../data/korf24.txt").lines().filter(|line| !line.starts_with('#'));
    let published: BTreeMap<usize, Vec<&str>> = published
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            (words[0].parse().unwrap(), words[1..].to_vec())
        })
        .collect();
    assert_eq!(published.len(), 50);
    let text = fs::read_to_string(results().join("korf24.jsonl")).unwrap();
    let answers: Vec<Answer> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(answers.is_sorted_by(|a, b| a.instance < b.instance));
    // What the pages say of the file.
    let took = answers.iter().map(|answer| answer.seconds).sum::<f64>() / 3600.0;
    let page = |name: &str| {
        let text = fs::read_to_string(results().join(name)).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(answers.len(), published.len());
    // The one that was searched backwards.
    let last = answers.iter().find(|answer| answer.backwards).unwrap();
    let (minutes, nodes) = (last.seconds / 60.0, last.nodes as f64 / 1e9);
    for (name, says) in [
        ("README.md", "contains shortest solutions of all fifty boards".to_owned()),
        ("README.md", format!("Number {}, for which", last.instance)),
        ("README.md", format!("{nodes:.0} billion nodes and {minutes:.0} minutes")),
        ("../performance.md", format!("took {took:.1} hours")),
        ("../performance.md", format!("number {} took {minutes:.0} minutes", last.instance)),
    ] {
        assert!(page(name).contains(&says), "{name}: {says}");
    }
    let goal = Goal::First.board("5x5".parse().unwrap()).unwrap();
    for answer in answers {
        let words = &published[&answer.instance];
        assert_eq!(answer.board.replace('/', " "), words[..25].join(" "));
        let moves = Moves::parse(&answer.moves, MoveStyle::Tile).unwrap();
        assert_eq!(moves.apply(&Board::parse(&answer.board, None).unwrap()).unwrap(), goal);
        assert_eq!((moves.len(), words[25]), (answer.length, answer.length.to_string().as_str()));
        assert!(answer.nodes > 0 && answer.seconds > 0.0);
    }
}

/// Runs `tools/results korf` in a directory, with databases for a cell of the blank and a script that stands for
/// tilewave and ends as if it was interrupted.
fn run_korf(dir: &Path, run: &str, blank: usize, script: &str, more: &[&str]) {
    let solver = dir.join("solver");
    fs::write(&solver, format!("#!/bin/sh\n{script}\nexit 130\n")).unwrap();
    #[cfg(unix)]
    fs::set_permissions(&solver, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let databases = dir.join(run).join(format!("set-{blank}"));
    fs::create_dir_all(&databases).unwrap();
    fs::write(databases.join("set.json"), "").unwrap();
    fs::create_dir_all(dir.join("results")).unwrap();
    let ended = Command::new(root().join("tools/results"))
        .args(["korf", "--dir", dir.join(run).to_str().unwrap()])
        .args(more)
        .env("TILEWAVE", &solver)
        .env("TILEWAVE_RESULTS", dir.join("results"))
        .output()
        .unwrap();
    assert!(!ended.status.success(), "{ended:?}");
}

/// The solver tells of the board at which it was stopped, too; its line is no answer.
#[test]
fn a_board_that_was_not_solved_is_not_kept() {
    let dir = tempfile::tempdir().unwrap();
    let text = include_str!("../data/korf24.txt");
    let line = |number: &str, moves: &str| {
        let words = text.lines().find(|line| line.starts_with(&format!("{number} "))).unwrap();
        let cells: Vec<&str> = words.split(' ').skip(1).take(25).collect();
        let board: Vec<String> = cells.chunks(5).map(|row| row.join(" ")).collect();
        let board = board.join("/");
        format!(r#"{{"board":"{board}","length":{moves},"moves":{moves},"nodes":7,"seconds":1.5}}"#)
    };
    let (solved, stopped) = (line("25", "81"), line("1", "null"));
    let script = format!("cat > /dev/null\necho '{solved}'\necho '{stopped}'");
    run_korf(dir.path(), "run", 0, &script, &[]);
    let kept = fs::read_to_string(dir.path().join("results/korf24.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 1, "{kept}");
    assert!(kept.contains("\"instance\": 25"), "{kept}");
}

#[test]
fn a_file_in_place_of_the_directory_gets_one_line() {
    let file = root().join("Cargo.toml");
    let Some(ended) = tool(&results(), &["korf", "--dir", file.to_str().unwrap()]) else { return };
    let err = error(&ended);
    assert_eq!((ended.status.code(), err.lines().count()), (Some(1), 1), "{err}");
    assert!(err.starts_with("error: ") && err.contains("Cargo.toml"), "{err}");
}

/// What is in the file is given to no solver, whatever became of the logs.
#[test]
fn a_board_that_was_solved_is_not_solved_again() {
    let dir = tempfile::tempdir().unwrap();
    let asked = dir.path().join("asked");
    let script = format!(
        "echo \"$3\" >> {}\n\
         echo '{{\"board\":\"'\"$3\"'\",\"length\":81,\"moves\":\"R\",\"nodes\":7,\"seconds\":1.5}}'",
        asked.display()
    );
    // Each run has a directory without logs.
    for run in ["one", "two"] {
        run_korf(dir.path(), run, 0, &script, &[]);
    }
    let boards = fs::read_to_string(asked).unwrap();
    let boards: Vec<&str> = boards.lines().collect();
    assert!(boards.len() == 2 && boards[0] != boards[1], "{boards:?}");
}

/// A search from the goal to the board has another board and another goal; what is kept of it solves the board.
#[test]
fn a_board_that_was_solved_backwards_is_kept_the_right_way_round() {
    let dir = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(results().join("korf24.jsonl")).unwrap();
    // It begins with the easiest.
    let published =
        include_str!("../data/korf24.txt").lines().filter(|line| !line.starts_with('#'));
    let nodes = |line: &&str| line.split(' ').next_back().unwrap().parse::<u64>().unwrap();
    let easiest = published.min_by_key(nodes).unwrap().split(' ').next().unwrap();
    let begins = format!("{{\"instance\": {easiest},");
    let known: Answer =
        serde_json::from_str(text.lines().find(|line| line.starts_with(&begins)).unwrap()).unwrap();
    let there = Moves::parse(&known.moves, MoveStyle::Tile).unwrap();
    let back = Moves(there.0.iter().rev().map(|direction| direction.opposite()).collect());
    let board = Board::parse(&known.board, None).unwrap();
    let script = format!(
        "printf '%s\\n' \"$3\" \"$5\" \"$9\" > {}/asked\n\
         echo '{{\"board\":\"'\"$3\"'\",\"length\":{},\"moves\":\"{back}\",\"nodes\":7,\"seconds\":1.5}}'",
        dir.path().display(),
        known.length
    );
    run_korf(dir.path(), "run", board.blank(), &script, &["--backwards"]);
    let asked = fs::read_to_string(dir.path().join("asked")).unwrap();
    let asked: Vec<&str> = asked.lines().collect();
    let goal = asked[1].parse::<Goal>().unwrap().board("5x5".parse().unwrap()).unwrap();
    let begin = Board::parse(asked[0], None).unwrap();
    assert_eq!(back.apply(&begin).unwrap(), goal);
    assert!(asked[2].ends_with(&format!("/{easiest}-backwards.log")), "{asked:?}");
    let kept = fs::read_to_string(dir.path().join("results/korf24.jsonl")).unwrap();
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_eq!((&kept["instance"], &kept["backwards"]), (&known.instance.into(), &true.into()));
    assert_eq!((&kept["board"], &kept["moves"]), (&known.board.into(), &known.moves.into()));
}
