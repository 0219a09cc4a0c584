//! The same values from Python.

use std::path::{Path, PathBuf};
use std::process::Command;

use tilewave::pdb::{Kind, Pdb, encode};
use tilewave::puzzle::Board;
use tilewave::random::SplitMix64;

use super::{Random, database, goal};
use crate::program::run_with;

pub fn tools(path: &str) -> PathBuf {
    crate::program::root().join("tools").join(path)
}

/// Databases of all kinds and encodings in files, with random boards and their values.
pub fn cases(dir: &Path) -> Vec<(PathBuf, Vec<Board>, Vec<Option<u8>>)> {
    let mut random = Random(SplitMix64::new(24));
    let mut cases = Vec::new();
    for (size, tiles) in [("3x3", &[1u16, 2, 3, 6, 7, 8][..]), ("3x4", &[2, 5, 6, 10])] {
        for kind in Kind::ALL {
            for &encoding in kind.encodings() {
                let goal = goal(size, "last");
                let table = encode(&database(&goal, tiles, kind), encoding).unwrap();
                let path = dir.join(format!("{size}_{kind}_{encoding}.pdb"));
                table.save(&path, false).unwrap();
                let table = Pdb::load(&path).unwrap();
                let boards: Vec<Board> = (0..200).map(|_| random.board(goal.size())).collect();
                let values = boards.iter().map(|b| table.value(b).unwrap()).collect();
                cases.push((path, boards, values));
            }
        }
    }
    cases
}

/// Runs a program with boards on its input; returns its lines.
pub fn run(command: &mut Command, boards: &[impl std::fmt::Display]) -> Vec<String> {
    let input: String = boards.iter().map(|board| format!("{board}\n")).collect();
    let done = run_with(command, &input);
    assert!(done.ok(), "{command:?}: {}", done.err);
    done.out.lines().map(str::to_string).collect()
}

/// Says so, loudly, when a tool is missing: the test then proves nothing.
#[allow(clippy::print_stderr)]
pub fn skipped(why: &str) {
    eprintln!("\n*** SKIPPED: {why} ***\n");
    assert!(
        std::env::var_os("TILEWAVE_REQUIRE_ALL").is_none(),
        "TILEWAVE_REQUIRE_ALL is set: {why}"
    );
}

/// Whether Python has what the readers need; says so if not.
fn has_numpy() -> bool {
    let numpy = Command::new("python3").args(["-c", "import numpy"]).output();
    let found = numpy.is_ok_and(|output| output.status.success());
    if !found {
        skipped("python3 with numpy is not installed (pip install numpy)");
    }
    found
}

#[test]
fn the_python_reader_agrees() {
    if !has_numpy() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for (path, boards, values) in cases(dir.path()) {
        let mut command = Command::new("python3");
        let lines = run(command.arg(tools("python/tilewave_pdb.py")).arg(&path), &boards);
        let expected = values.iter().map(|v| v.map_or("None".to_string(), |v| v.to_string()));
        assert_eq!(lines, expected.collect::<Vec<_>>(), "{}", path.display());
    }
}

/// A board of another size, or none at all, is refused by a reader: it was given a value.
pub fn refuses_other_boards(reader: &str, file: impl Fn(&Path) -> PathBuf) {
    if !has_numpy() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path());
    for wrong in ["1 2 3 0", "1 2 3/4 5 6/7 8 0/9 10 11", "1 1 3/4 5 6/7 8 0", "0 0 0/0 0 0/0 0 0"]
    {
        let done = run_with(Command::new("python3").arg(tools(reader)).arg(&path), wrong);
        let refused = !done.ok() && done.err.contains("board with every tile once");
        assert!(refused, "{wrong}: {}", done.err);
    }
}

#[test]
fn the_python_reader_refuses_other_boards() {
    refuses_other_boards("python/tilewave_pdb.py", |dir| cases(dir).swap_remove(0).0);
}
