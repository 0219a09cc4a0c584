//! The same depths and solutions from C and from Python.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tilewave::puzzle::tiles::{Board, MoveStyle};
use tilewave::solve::Scrambler;
use tilewave::table::{Encoding, Table};

use crate::{goal, table};

fn tools(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tools")
        .join(path)
}

/// Tables in files, boards, and what is to be said of them; the last board cannot be solved.
fn cases(dir: &Path) -> Vec<(PathBuf, Vec<Board>, Vec<Option<String>>)> {
    let mut cases = Vec::new();
    for (size, name) in [("2x3", "last"), ("4x2", "blank=3"), ("3x3", "first")] {
        for encoding in Encoding::ALL {
            let goal = goal(size, name);
            let path = dir.join(format!("{size}_{encoding}.table"));
            table(&goal, encoding).save(&path, false, |_| true).unwrap();
            let table = Table::open(&path).unwrap();
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
    text.lines()
        .map(|line| line.trim_end().to_string())
        .collect()
}

/// Says so, loudly, when a tool is missing: the test then proves nothing.
#[allow(clippy::print_stderr)]
fn skipped(why: &str) {
    eprintln!("\n*** SKIPPED: {why} ***\n");
    assert!(
        std::env::var_os("TILEWAVE_REQUIRE_INTEROP").is_none(),
        "TILEWAVE_REQUIRE_INTEROP is set: {why}"
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
        let lines = run(
            command.arg(tools("python/tilewave_table.py")).arg(&path),
            &boards,
        );
        let said = said.iter().map(|said| match said {
            Some(said) => said.trim_end().to_string(),
            None => "None None".to_string(),
        });
        assert_eq!(lines, said.collect::<Vec<_>>(), "{}", path.display());
    }
}

/// Where cargo has put the shared library for these tests.
fn library() -> Option<PathBuf> {
    let deps = std::env::current_exe().unwrap().parent()?.to_path_buf();
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let name = format!("{prefix}tilewave{suffix}");
    let above = deps.parent()?.to_path_buf();
    [deps, above]
        .into_iter()
        .find(|dir| dir.join(&name).exists())
}

#[test]
fn the_c_example_agrees() {
    if Command::new("cc").arg("--version").output().is_err() {
        skipped("there is no C compiler (cc)");
        return;
    }
    let library = library().expect("cargo has built the shared library");
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("table");
    let compiled = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"])
        .arg(tools("c/table.c"))
        .arg("-I")
        .arg(tools("c"))
        .arg("-L")
        .arg(&library)
        .args(["-ltilewave", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{error}");
    let command = || {
        let mut command = Command::new(&program);
        command
            .env("LD_LIBRARY_PATH", &library)
            .env("DYLD_LIBRARY_PATH", &library);
        command
    };
    for (path, boards, said) in cases(dir.path()) {
        let lines = run(command().arg(&path), &boards);
        let said = said.iter().map(|said| match said {
            Some(said) => {
                let length = said.split(' ').next().unwrap();
                format!("{length} {said}").trim_end().to_string()
            }
            None => "-2 -2".to_string(),
        });
        assert_eq!(lines, said.collect::<Vec<_>>(), "{}", path.display());
        let other = run(command().arg(&path), &[goal("2x2", "last")]);
        assert_eq!(other, ["-1 -1"]);
    }
    let missing = command().arg("none.table").output().unwrap();
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot open 'none.table'"));
}
