//! The same depths and solutions from Python.

use std::path::{Path, PathBuf};
use std::process::Command;

use tilewave::puzzle::{Board, MoveStyle};
use tilewave::solve::Scrambler;
use tilewave::table::DistanceTable;

use super::{encodings, goal, table};
use crate::pdb::interop::{refuses_other_boards, run, skipped, tools};

/// Tables in files, boards, and what is to be said of them; the last board cannot be solved.
fn cases(dir: &Path) -> Vec<(PathBuf, Vec<Board>, Vec<Option<String>>)> {
    let mut cases = Vec::new();
    for (size, name, deepest) in
        [("2x3", "last", 21), ("4x2", "blank=3", 36), ("3x3", "first", 31), ("2x2", "last", 6)]
    {
        for encoding in encodings(deepest) {
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
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
        let said = said.iter().map(|said| said.as_deref().map_or("None None", str::trim_end));
        assert_eq!(lines, said.collect::<Vec<_>>(), "{}", path.display());
    }
}

#[test]
fn the_python_reader_refuses_other_boards() {
    refuses_other_boards("python/tilewave_table.py", |dir| cases(dir).swap_remove(0).0);
}
