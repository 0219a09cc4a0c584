//! The same depths and solutions from Python.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tilewave::puzzle::{Board, MoveStyle};
use tilewave::solve::Scrambler;
use tilewave::table::{DistanceTable, TableEncoding};

use super::{goal, table};

fn tools(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tools").join(path)
}

/// Tables in files, boards, and what is to be said of them; the last board cannot be solved.
fn cases(dir: &Path) -> Vec<(PathBuf, Vec<Board>, Vec<Option<String>>)> {
    let mut cases = Vec::new();
    for (size, name) in [("2x3", "last"), ("4x2", "blank=3"), ("3x3", "first")] {
        for encoding in TableEncoding::ALL {
            let goal = goal(size, name);
            let path = dir.join(format!("{size}_{encoding}.table"));
            table(&goal, encoding).save(&path, false).unwrap();
            let table = DistanceTable::open(&path).unwrap();
            let mut boards: Vec<Board> = Scrambler::new(goal.clone(), 3).take(40).collect();
            boards.push(goal.clone());
            let mut odd = goal.tiles().to_vec();
            let two: Vec<usize> = (0..odd.len()).filter(|&i| odd[i] != 0).take(2).collect();
            odd.swap(two[0], two[1]);
            boards.push(Board::new(goal.size(), &odd).unwrap());
            let said = boards.iter().map(|board| {
                let moves = table.solve(board).ok()??;
                Some(format!("{} {}", moves.len(), moves.long(MoveStyle::Tile)))
            });
            let said = said.collect();
            cases.push((path, boards, said));
        }
    }
    cases
}

/// Runs a program with boards on its input; returns its lines.
fn run(command: &mut Command, boards: &[Board]) -> Vec<String> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let input: String = boards.iter().map(|board| format!("{board}\n")).collect();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {error}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.trim_end().to_string()).collect()
}

/// Says so, loudly, when a tool is missing: the test then proves nothing.
#[allow(clippy::print_stderr)]
fn skipped(why: &str) {
    eprintln!("\n*** SKIPPED: {why} ***\n");
    assert!(
        std::env::var_os("TILEWAVE_REQUIRE_ALL").is_none(),
        "TILEWAVE_REQUIRE_ALL is set: {why}"
    );
}

#[test]
fn the_python_reader_agrees() {
    if Command::new("python3").arg("--version").output().is_err() {
        skipped("python3 is not installed");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for (path, boards, said) in cases(dir.path()) {
        let mut command = Command::new("python3");
        let lines = run(command.arg(tools("python/tilewave_table.py")).arg(&path), &boards);
        let said = said.iter().map(|said| match said {
            Some(said) => said.trim_end().to_string(),
            None => "None None".to_string(),
        });
        assert_eq!(lines, said.collect::<Vec<_>>(), "{}", path.display());
    }
}

/// A board of another size, or none at all, is refused: it was given a value.
#[test]
fn the_python_reader_refuses_other_boards() {
    let python = Command::new("python3").args(["-c", "import numpy"]).output();
    if !python.is_ok_and(|output| output.status.success()) {
        skipped("python3 with numpy is not installed (pip install numpy)");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (path, ..) = cases(dir.path()).swap_remove(0);
    for wrong in ["1 2 3 0", "1 2 3/4 5 6/7 8 0/9 10 11", "1 1 3/4 5 6/7 8 0", "0 0 0/0 0 0/0 0 0"]
    {
        let mut child = Command::new("python3")
            .arg(tools("python/tilewave_table.py"))
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(wrong.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && error.contains("board with every tile once"),
            "{wrong}: {error}"
        );
    }
}
