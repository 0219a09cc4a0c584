//! What one command says agrees with what another one says, or with plain code.

use tilewave::puzzle::{Board, Coordinates, Goal};

use super::{found, stdout};
use crate::program::{room, run, tilewave};

/// The boards with these colours at each distance from one, by plain code.
fn coloured(goal: &[u8], columns: usize, most_tiles: usize) -> Vec<usize> {
    let mut seen = std::collections::HashSet::from([goal.to_vec()]);
    let (mut level, mut counts) = (vec![goal.to_vec()], Vec::new());
    while !level.is_empty() {
        counts.push(level.len());
        let mut next = Vec::new();
        for board in &level {
            let blank = board.iter().position(|&colour| colour == 0).unwrap();
            for step in [1, -1, columns as isize, -(columns as isize)] {
                let (mut after, mut at) = (board.clone(), blank);
                for _ in 0..most_tiles {
                    let Some(to) = at.checked_add_signed(step).filter(|&to| to < after.len())
                    else {
                        break;
                    };
                    if step.abs() == 1 && to / columns != at / columns {
                        break;
                    }
                    after.swap(at, to);
                    at = to;
                    if seen.insert(after.clone()) {
                        next.push(after.clone());
                    }
                }
            }
        }
        level = next;
    }
    counts
}

#[test]
fn tiles_of_boards_can_look_alike() {
    for (options, goal, most_tiles) in [
        ("--goal last", [1, 1, 1, 2, 2, 2, 3, 3, 0], 1),
        ("--goal first --metric mtm", [0, 1, 1, 1, 2, 2, 2, 3, 3], 2),
        ("--goal blank=4 -j 1", [1, 1, 1, 2, 0, 2, 2, 3, 3], 1),
    ] {
        let found = found(&format!("bfs 3x3 --same 1-3,4-6,7-8 --list 9 {options}"));
        let counts = coloured(&goal, 3, most_tiles);
        assert_eq!(found["counts"], serde_json::json!(counts), "{options:?}");
        assert_eq!((&found["total"], &found["states"]), (&5040.into(), &"5040".into()));
        let last = found["last"].as_array().unwrap();
        assert_eq!(last.len() as u64, found["antipodes"].as_u64().unwrap());
        let mut colours: Vec<_> = goal.iter().map(ToString::to_string).collect();
        colours.sort_unstable();
        for state in last {
            let state = state.as_str().unwrap();
            let mut tiles: Vec<&str> = state.split([' ', '/']).collect();
            tiles.sort_unstable();
            assert!(state.split('/').count() == 3 && tiles == colours, "{state}");
        }
    }
}

/// Tables of a few tiles solve what is too large for a table of all: the lengths are those of the board.
#[test]
fn tiles_that_slide_on_the_graph_of_a_board_take_as_many_moves() {
    let rows = found("bfs graph:0-1,1-2,3-4,4-5,0-3,1-4,2-5");
    assert_eq!(rows["counts"], found("bfs 2x3 --goal first")["counts"]);
    let dir = room();
    let lines = |r: usize| (0..3).map(move |c| format!("{}-{}", 4 * r + c, 4 * r + c + 1));
    let columns = (0..8).map(|v| format!("{v}-{}", v + 4));
    let edges: Vec<String> = (0..3).flat_map(lines).chain(columns).collect();
    let board = format!("graph:{}", edges.join(","));
    let set = dir.path().join("set").to_str().unwrap().to_string();
    stdout(&["pdb", "set", "build", &board, "--memory", "10MB", "-o", &set]);
    let states = stdout(&["scramble", &board, "--count", "3", "--seed", "5"]);
    for state in states.lines() {
        let tiles: Vec<&str> = state.strip_prefix("tiles ").unwrap().split(' ').collect();
        let rows: Vec<String> = tiles.chunks(4).map(|row| row.join(" ")).collect();
        let on_graph = found(&format!("solve {board} \"{state}\" --pdb {set}/set.json"));
        let on_board = found(&format!("solve --goal first \"{}\" --no-cache", rows.join("/")));
        assert_eq!(on_graph[0]["length"], on_board[0]["length"], "{state}");
        assert_eq!(found(&format!("state {board} \"{state}\""))[0]["solvable"], true);
    }
}

/// 900,000 nodes with the databases of five tiles: four times what one thread takes alone.
#[test]
fn hard_boards_take_all_threads_and_the_answer_does_not_depend_on_them() {
    let dir = room();
    let cache = dir.path().display();
    let solve = |threads| {
        let board = "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3";
        let with = format!("--goal first --partition 5-5-5 --cache-dir {cache} -j {threads}");
        let mut answer = found(&format!("solve \"{board}\" {with}"))[0].take();
        answer["seconds"] = 0.into();
        answer
    };
    let one = solve(1);
    assert_eq!(one["length"], 57);
    assert!(one["nodes"].as_u64().unwrap() > 1 << 19, "{one}");
    for threads in [2, 3, 8] {
        assert_eq!(solve(threads), one);
    }
}

/// Hard boards are continued with larger databases, which are kept: nodes are the same whether they were there or not.
#[test]
fn hard_boards_build_larger_databases_once() {
    let cache = room();
    let kept = || {
        let names = std::fs::read_dir(cache.path()).unwrap();
        names.filter(|name| name.as_ref().unwrap().path().to_str().unwrap().contains("bit")).count()
    };
    let solve = |more: &[&str]| {
        let board = "15 10 8 12/11 14 9 13/2 6 5 1/3 7 4 0";
        let mut command = tilewave(["solve", board, "--goal", "first", "--format", "jsonl"]);
        let done = run(command.arg("--cache-dir").arg(cache.path()).args(more));
        let mut answer: serde_json::Value = serde_json::from_str(&done.out).unwrap();
        answer["seconds"] = 0.into();
        (done.code, answer)
    };
    for limit in [["--max-nodes", "3000000"], ["--timeout", "0.3s"]] {
        assert_eq!((solve(&limit).0, kept()), (Some(1), 0), "{limit:?}");
    }
    // As much as the small ones need.
    let little = ["--memory", "100MB", "--max-nodes", "8000000"];
    assert_eq!((solve(&little).0, kept()), (Some(1), 0));
    let (code, first) = solve(&[]);
    assert_eq!((code, kept(), &first["length"]), (Some(0), 2, &80.into()));
    assert!(first["nodes"].as_u64().unwrap() < 20_000_000, "{first}");
    assert_eq!(solve(&["-j", "1"]), (Some(0), first));
}

#[test]
fn limits_are_kept_however_small() {
    let cache = room();
    let solve = |board: &str, args: &[&str]| {
        let mut command = tilewave(["solve", board, "--format", "jsonl", "--cache-dir"]);
        let done = run(command.arg(cache.path()).args(args));
        let answer: serde_json::Value = serde_json::from_str(&done.out).unwrap();
        (done.code, answer["nodes"].as_u64().unwrap())
    };
    for limit in [["--max-nodes", "1"], ["--max-nodes", "10"], ["--timeout", "0"]] {
        let far = "15 14 8 12/10 11 9 13/2 6 5 1/3 7 4 0";
        let with = ["--partition", "5-5-5", "--goal", "first", limit[0], limit[1]];
        let (code, nodes) = solve(far, &with);
        assert!(code == Some(1) && nodes < 64, "{limit:?}: {nodes}");
    }
    // Solved within the limit or not at all.
    let board = "5 1 2 3/9 6 7 4/13 10 11 8/14 15 0 12";
    let (_, nodes) = solve(board, &[]);
    for (limit, code) in [(nodes, 0), (nodes - 1, 1)] {
        assert_eq!(solve(board, &["--max-nodes", &limit.to_string()]).0, Some(code));
    }
}

#[test]
fn scramble_prints_as_many_solvable_boards_as_asked() {
    let scramble =
        |seed| stdout(&["scramble", "3x5", "-n", "5000", "--goal", "first", "--seed", seed]);
    let text = scramble("9");
    assert_eq!(text.lines().count(), 5000);
    let frame = Coordinates::new(Goal::First.board("3x5".parse().unwrap()).unwrap());
    let board = |line| Board::parse(line, None).unwrap();
    assert!(text.lines().all(|line| frame.solvable(&board(line)).unwrap()));
    assert_eq!(scramble("9"), text, "the seed determines the boards");
    assert_ne!(scramble("10"), text);
}
