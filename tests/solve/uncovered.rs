//! Databases that leave tiles out, from the command line: lengths against complete searches. (Thousands of random sets:
//! `src/solve/optimal.rs`.)

use serde_json::Value;
use tilewave::puzzle::Board;
use tilewave::random::SplitMix64;
use tilewave::search::Search;
use tilewave::solve::Scrambler;
use tilewave::table::{DistanceTable, TableEncoding};

use super::{board, goal};
use crate::cli::stdout;

/// Builds a database and returns its path.
fn pdb(dir: &tempfile::TempDir, name: &str, args: &[&str]) -> String {
    let path = dir.path().join(name).to_str().unwrap().to_string();
    stdout(&[&["pdb", "build", "-o", &path], args].concat());
    path
}

/// Solves boards with databases, each on one thread, on two, on eight; returns lengths and moves.
fn solve(boards: &[Board], args: &[&str]) -> Vec<(usize, String)> {
    let boards: Vec<String> = boards.iter().map(Board::to_string).collect();
    let boards: Vec<&str> = boards.iter().map(String::as_str).collect();
    let [one, two, eight] = ["1", "2", "8"].map(|threads| {
        let more = ["--format", "jsonl", "--moves", "blank", "-j", threads];
        let text = stdout(&[&["solve"], args, &more, &boards[..]].concat());
        let lines = text.lines().map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["optimal"], true, "{line}");
            let length = line["length"].as_u64().unwrap();
            (length as usize, line["moves"].as_str().unwrap().to_string())
        });
        lines.collect::<Vec<_>>()
    });
    assert!(one == two && one == eight, "{one:?} {two:?} {eight:?}");
    one
}

#[test]
fn one_database_alone_solves_boards_near_the_goal() {
    let dir = tempfile::tempdir().unwrap();
    // For the transposed board.
    let how = ["3x2", "--goal", "4 5/2 3/1 0", "--pattern", "1,2,4,5"];
    let turned = pdb(&dir, "turned.pdb", &[&how[..], &["--encoding", "bit"]].concat());
    let far = solve(&[board("0 2 5/1 4 3")], &["--goal", "3 2 0/1 4 5", "--pdb", &turned]);
    assert_eq!(far[0].0, 10);
    let first = ["2x3", "--goal", "first", "--pattern", "2,3,5", "--encoding", "bit"];
    let first = pdb(&dir, "first.pdb", &first);
    let near = solve(&[board("1 2 0/3 4 5")], &["--goal", "first", "--pdb", &first]);
    assert_eq!(near, [(2, "L2".to_string())]);
    let five = ["4x4", "--pattern", "1,2,3,4,5"];
    let five = pdb(&dir, "5.pdb", &five);
    let boards = ["1 2 3 4/5 6 7 8/9 10 15 11/13 14 12 0", "1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 0"];
    let lengths: Vec<usize> = solve(&boards.map(board), &["--pdb", &five])
        .into_iter()
        .map(|(length, _)| length)
        .collect();
    assert_eq!(lengths, [4, 0]);
}

#[test]
fn random_databases_that_leave_tiles_out_give_shortest_solutions() {
    let mut random = SplitMix64::new(24);
    let mut below = |bound: usize| random.below(bound as u64) as usize;
    for (size, name) in [("2x3", "first"), ("2x4", "last"), ("3x3", "blank=1"), ("3x3", "last")] {
        let goal = goal(name, size.parse().unwrap());
        let truth = DistanceTable::build(&Search::new(goal.clone()), TableEncoding::Byte).unwrap();
        let boards: Vec<Board> = Scrambler::new(goal.clone(), 3).take(6).collect();
        for _ in 0..4 {
            let dir = tempfile::tempdir().unwrap();
            let mut args = vec!["--goal".to_string(), name.to_string()];
            let mut tiles: Vec<usize> = (1..goal.size().cells()).collect();
            tiles.remove(below(tiles.len()));
            let patterns = 1 + below(2);
            for i in 0..patterns {
                let count = 1 + below(tiles.len() / 2 + 1);
                let some: Vec<String> =
                    (0..count).map(|_| tiles.remove(below(tiles.len())).to_string()).collect();
                let how: [&[&str]; 3] = [
                    &["--kind", "additive-min"],
                    &["--kind", "region-aware"],
                    &["--encoding", "bit"],
                ];
                let how = how[below(3)];
                let build = [size, "--goal", name, "--pattern", &some.join(",")];
                args.push("--pdb".to_string());
                args.push(pdb(&dir, &format!("{i}.pdb"), &[&build[..], how].concat()));
            }
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            for (board, (length, moves)) in boards.iter().zip(solve(&boards, &args)) {
                let depth = truth.depth(board).unwrap();
                assert_eq!(Some(length), depth, "{board} {args:?} {moves}");
            }
        }
    }
}
