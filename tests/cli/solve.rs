//! `tilewave solve` as a user meets it.

use super::{json, refused, stdout, tilewave};

fn cache() -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap().to_string();
    (dir, path)
}

#[test]
fn a_board_gets_a_shortest_solution_and_databases_are_kept() {
    let (dir, path) = cache();
    let solve = ["solve", "8 6 7/2 5 4/3 0 1", "--cache-dir", &path, "--format", "jsonl"];
    let first = json(&solve);
    assert_eq!(first["board"], "8 6 7/2 5 4/3 0 1");
    assert_eq!((&first["solvable"], &first["optimal"]), (&true.into(), &true.into()));
    assert_eq!(first["length"], 31);
    assert!(first["nodes"].as_u64().unwrap() > 0 && first["seconds"].is_f64());
    let kept = || std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(kept(), 2);
    // The second run finds them, also when one of them is damaged.
    let file = std::fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&file, "no database").unwrap();
    assert_eq!(json(&solve)["moves"], first["moves"]);
    assert_eq!(kept(), 2);
    assert!(std::fs::metadata(&file).unwrap().len() > 1000, "it was built again");
}

#[test]
fn boards_come_from_standard_input_and_are_summed_up() {
    let boards = "# two boards\n1 2 3/4 5 6/7 0 8\n\n1 2 3 4 0 6 7 5 8\n";
    let output =
        tilewave(&["solve", "--no-cache", "--quiet"]).write_stdin(boards).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("1 2 3/4 5 6/7 0 8  1 move  L  "), "{text}");
    assert!(lines[1].starts_with("1 2 3/4 0 6/7 5 8  2 moves  UL  "), "{text}");
    assert_eq!(lines[3].split(',').next(), Some("2 of 2 boards solved"));
    // A board that cannot be solved takes no nodes and no part in their mean.
    let mean = |boards: &str| {
        let output = tilewave(&["solve", "--no-cache", "--quiet"]).write_stdin(boards).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        let words = text.split(" nodes on average").next().unwrap().to_string();
        words.rsplit(' ').next().unwrap().to_string()
    };
    let unsolvable = format!("{boards}1 2 3/4 5 6/8 7 0\n");
    assert_eq!(mean(&unsolvable), mean(boards));
    let output = tilewave(&["solve", "--no-cache", "--moves", "blank", "--format", "csv"])
        .write_stdin(boards)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("board,solvable,length,moves,nodes,seconds,optimal\n"), "{text}");
    assert!(text.contains("\n1 2 3/4 0 6/7 5 8,true,2,DR,"), "{text}");
}

#[test]
fn fast_solutions_need_no_database() {
    let value = json(&["solve", "--fast", "8 6 7/2 5 4/3 0 1", "--format", "jsonl", "--long"]);
    assert_eq!((&value["solvable"], &value["optimal"]), (&true.into(), &false.into()));
    let moves = value["moves"].as_str().unwrap();
    assert_eq!(moves.len() as u64, value["length"].as_u64().unwrap());
    let letters = moves.as_bytes().chunk_by(|a, b| a == b).count() as u64;
    assert_eq!(value["length_mtm"], letters);
    let scrambled = stdout(&["scramble", "12x20", "--seed", "7"]);
    let text = stdout(&["solve", "--fast", scrambled.trim()]);
    assert!(text.contains(" in mtm)  "), "{text}");
}

#[test]
fn unsolvable_and_abandoned_boards_are_failures() {
    let (dir, path) = cache();
    let output = tilewave(&["solve", "--cache-dir", &path, "1 2 3/4 5 6/8 7 0"]).output().unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing was built");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("not solvable") && text.contains("7 and 8"), "{text}");
    let output = tilewave(&["solve", "--no-cache", "--max-nodes", "1", "--partition", "5-5-5"])
        .args(["--goal", "first", "15 10 8 12/11 14 9 13/2 6 5 1/3 7 4 0", "--format", "jsonl"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(value["length"].is_null() && value["optimal"] == false);
    assert!(value["at_least"].as_u64().unwrap() >= 40);
}

#[test]
fn solutions_can_be_played() {
    let (dir, path) = cache();
    let page = dir.path().join("play.html");
    let page = page.to_str().unwrap();
    stdout(&["solve", "1 2 3/4 0 6/7 5 8", "--cache-dir", &path, "--html", page]);
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains("<title>3x3 board, solved in 2 moves</title>"));
    // Nothing solved: the page says why.
    let none = dir.path().join("none.html");
    let hopeless = ["solve", "2 1 3/4 5 6/7 8 0", "--html", none.to_str().unwrap()];
    assert_eq!(tilewave(&hopeless).output().unwrap().status.code(), Some(1));
    let text = std::fs::read_to_string(&none).unwrap();
    assert!(text.contains("<title>1 board without a solution</title>"));
    assert!(text.contains("parity is odd"));
    refused(&["solve", "1 2 3/4 0 6/7 5 8", "--html", page], 1, "--force");
}

#[test]
fn wrong_input_is_refused() {
    refused(&["solve", "1 2 3/4 5 6/7 8 8"], 2, "tile 8 occurs twice");
    refused(&["solve", "1 2 3/4 5 6/7 8 0", "1 2/3 0"], 2, "2x2");
    refused(&["solve", "--fast", "--partition", "7-8", "1 2/3 0"], 2, "--fast needs no databases");
    refused(&["solve", "--partition", "7-8", "1 2 3/4 5 6/7 8 0"], 2, "only for 4x4 and 5x5");
    refused(
        &["solve", "--pdb", "/nonexistent.pdb", "--", "1 2 3/4 5 6/7 8 0"],
        1,
        "/nonexistent.pdb",
    );
    refused(&["solve", "--moves", "up", "1 2/3 0"], 2, "'up' is not one of tile, blank");
    refused(&["solve", "--timeout", "soon", "1 2/3 0"], 2, "'soon' is not a time");
    let output = tilewave(&["solve", "--no-cache"])
        .write_stdin("1 2 3/4 5 6/7 8 0\n1 2 z\n")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    // A busy machine says beside it how long its databases took.
    let error = String::from_utf8(output.stderr).unwrap();
    let wrong = |line: &str| line.starts_with("error: line 2: 'z'");
    assert!(error.lines().any(wrong), "{error}");
    let output = tilewave(&["solve"]).write_stdin("").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn optima_are_certified_on_request() {
    let (_dir, path) = cache();
    let solve = |boards: &[&str], more: &[&str]| {
        let mut args = vec!["solve", "--certify", "--cache-dir", path.as_str()];
        args.extend(more);
        args.push("--");
        args.extend(boards);
        tilewave(&args).output().unwrap()
    };
    let output = solve(&["1 2 3/0 4 6/7 5 8", "4 1 2/0 5 3"], &["--goal", "last"]);
    assert_eq!(output.status.code(), Some(2), "boards of two sizes");
    let boards = ["1 2 3/0 4 6/7 5 8", "3 5 0/4 8 6/7 2 1"];
    let output = solve(&boards, &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let certified = |line: &str| line.contains("  certified (") && line.ends_with(" conflicts)");
    assert!(text.lines().take(2).all(certified), "{text}");
    assert!(text.contains(", 2 certified\n"), "{text}");
    let output = solve(&boards[..1], &["--format", "jsonl"]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&value["length"], &value["certified"]), (&3.into(), &true.into()));
    // No time for a proof: solved, but not what was asked for.
    let hard = ["8 6 7/2 5 4/3 0 1"];
    let output = solve(&hard, &["--timeout", "0.01", "--format", "csv"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("board,solvable,length,moves,nodes,seconds,optimal,certified\n"));
    assert!(text.contains(",true,31,") && text.ends_with(",true,false\n"), "{text}");
    let five = stdout(&["scramble", "5x5", "--seed", "1"]);
    refused(&["solve", "--certify", five.trim()], 2, "at most 16 cells");
    refused(&["solve", "--certify", "--fast", "1 2/3 0"], 2, "--fast");
}

#[test]
fn fast_solutions_are_compared_with_the_optimum_on_request() {
    let (_dir, path) = cache();
    let fast = ["solve", "--fast", "--compare", "--cache-dir", &path];
    let boards = stdout(&["scramble", "4x4", "--count", "5", "--seed", "3"]);
    let run = |more: &[&str]| {
        let mut command = tilewave(&[&fast[..], more].concat());
        let output = command.write_stdin(boards.clone()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let shortest = tilewave(&["solve", "--cache-dir", &path, "--format", "csv"])
        .write_stdin(boards.clone())
        .output()
        .unwrap();
    let shortest = String::from_utf8(shortest.stdout).unwrap();
    let lengths: Vec<usize> = shortest
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(2).unwrap().parse().unwrap())
        .collect();
    assert_eq!(lengths.len(), 5);
    let lines = run(&["--format", "jsonl"]);
    let mut above = 0;
    for (line, optimum) in lines.lines().zip(&lengths) {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["optimum"], *optimum);
        let length = value["length"].as_u64().unwrap() as usize;
        assert_eq!(value["optimal"], false);
        let ratio = length as f64 / *optimum as f64;
        assert!((value["ratio"].as_f64().unwrap() - ratio).abs() < 1e-9);
        above += usize::from(length > *optimum);
    }
    assert!(above > 0, "a constructive solution is longer now and then");
    let text = run(&[]);
    assert!(text.contains(&format!(" times the optimum of {}\n", lengths[0])), "{text}");
    assert!(text.contains(" moves on average, 1."), "{text}");
    refused(&["solve", "--compare", "1 2/3 0"], 2, "--fast");
}

#[test]
fn an_unsolvable_board_is_told_the_nearest_that_is_not() {
    let loyd = "1 2 3 4/5 6 7 8/9 10 11 12/13 15 14 0";
    let output = tilewave(&["solve", "--format", "jsonl", loyd]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["solvable"], false);
    assert_eq!(value["nearest"], "1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 0");
    let reason = value["reason"].as_str().unwrap();
    assert!(reason.contains("parity is odd"), "{reason}");
    assert!(reason.contains("Exchange tiles 14 and 15"), "{reason}");
}

#[test]
fn hard_boards_take_all_threads_and_the_answer_does_not_depend_on_them() {
    let (_dir, path) = cache();
    // 900,000 nodes with the databases of five tiles: four times what one thread takes alone.
    let solve = |threads: &str| {
        let mut value = json(&[
            "solve",
            "--goal",
            "first",
            "--partition",
            "5-5-5",
            "--format",
            "jsonl",
            "--cache-dir",
            &path,
            "--threads",
            threads,
            "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3",
        ]);
        value["seconds"] = 0.into();
        value
    };
    let one = solve("1");
    assert_eq!(one["length"], 57);
    assert!(one["nodes"].as_u64().unwrap() > 1 << 19, "{one}");
    for threads in ["2", "3", "8"] {
        assert_eq!(solve(threads), one);
    }
}

#[test]
fn long_searches_log_a_line_a_second_unless_told_not_to() {
    let (_dir, path) = cache();
    let solve = |timeout, more: &[&str]| {
        let mut args = vec!["solve", "--goal", "first", "--partition", "5-5-5"];
        args.extend(["--cache-dir", path.as_str(), "--timeout", timeout, "--threads", "1"]);
        args.push("15 10 8 12/11 14 9 13/2 6 5 1/3 7 4 0");
        args.extend(more);
        let output = tilewave(&args).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "given up");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("  gave up after "), "{text}");
        String::from_utf8(output.stderr).unwrap()
    };
    solve("0.1", &["--quiet"]);
    let log = solve("2.5", &[]);
    let lines = log.matches(" nodes, searching for solutions of ").count();
    assert!((1..=3).contains(&lines), "{log}");
    assert_eq!(solve("1.5", &["--no-progress"]), "");
    assert_eq!(solve("1.5", &["--quiet"]), "");
}

/// The first solution of puzzles other than boards, in phases.
#[test]
fn puzzles_are_solved_in_phases() {
    let (_dir, path) = cache();
    let solve = |more: &[&str]| {
        let all = [&["solve", "2x2x2", "R U2 F' R U F2 R'", "--fast", "--cache-dir", &path], more];
        all.concat().into_iter().map(String::from).collect::<Vec<_>>()
    };
    let found = |more: &[&str]| {
        let words = solve(&[more, &["--format", "json"]].concat());
        json(&words.iter().map(String::as_str).collect::<Vec<_>>())[0].clone()
    };
    for via in [
        &["--via", "corners:1-3"][..],
        &["--via", "<U,F2,R2>"],
        &["--via", "corners:1", "--via", "corners:1-4"],
    ] {
        let answer = found(via);
        assert_eq!((&answer["solvable"], &answer["optimal"]), (&true.into(), &false.into()));
        let moves = answer["moves"].as_str().unwrap();
        assert_eq!(moves.split(' ').count() as u64, answer["length"].as_u64().unwrap());
        let both = format!("R U2 F' R U F2 R' {moves}");
        assert_eq!(
            json(&["state", "2x2x2", &both, "--format", "json"])[0]["solved"],
            true,
            "{both}"
        );
    }
    let words = solve(&["--via", "corners:1-3"]);
    let text = stdout(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(text.contains("at most "), "{text}");
    refused(&["solve", "2x2x2", "R", "--fast"], 2, "--via corners:1-4");
    refused(&["solve", "2x2x2", "R", "--via", "corners"], 2, "--fast");
    refused(&["solve", "2x2x2", "R", "--fast", "--via", "edges"], 2, "no set is called 'edges'");
    refused(&["solve", "2x2x2", "R", "--fast", "--via", "<Q>"], 2, "'Q' is not a move");
    refused(&["solve", "1 2 3/4 5 6/7 0 8", "--fast", "--via", "corners"], 2, "--via");
}
