//! Each command in each format.

use super::{json, refused, stdout, tilewave};

#[test]
fn bfs_prints_table_and_summary() {
    let text = stdout(&["bfs", "3x3"]);
    assert!(text.contains("   24  24,047     77.2349 %"), "{text}");
    assert!(
        text.contains("states        181,440\n") && text.contains("God's number  31\n"),
        "{text}"
    );
    assert!(text.contains("antipodes     2\n") && text.contains("OEIS A089473"), "{text}");
    let levels = text.lines().take_while(|line| !line.is_empty()).count();
    assert_eq!(levels, 1 + 32);
}

#[test]
fn bfs_json_keeps_its_contract() {
    let value = json(&["bfs", "2x4", "--goal", "first", "--format", "json", "-j", "1"]);
    assert_eq!(value["board"], "2x4");
    assert_eq!(value["metric"], "stm");
    assert_eq!(value["goal"], "0 1 2 3/4 5 6 7");
    assert_eq!(value["start"], "0 1 2 3/4 5 6 7");
    assert_eq!(value["engine"], "sweep");
    assert!(["scalar", "neon", "avx2", "avx512"].contains(&value["kernel"].as_str().unwrap()));
    assert_eq!(value["threads"], 1);
    assert_eq!(value["total"], 20160);
    assert_eq!(value["diameter"], 36);
    assert_eq!(value["antipodes"], 1);
    let counts = value["counts"].as_array().unwrap();
    assert_eq!((counts.len(), counts[36].as_u64()), (37, Some(1)));
    let checksums = value["checksums"].as_array().unwrap();
    assert!(checksums.iter().all(|sum| sum.as_str().unwrap().len() == 16));
    assert_eq!(checksums.len(), 37);
    assert!(value["seconds"].as_f64().unwrap() > 0.0);
    assert!(value["states_per_second"].as_f64().unwrap() > 0.0);
    assert_eq!(value["disk_bytes"], 0);
    assert!(value["peak_memory_bytes"].is_u64() || value["peak_memory_bytes"].is_null());
    assert!(value["agrees_with"].as_str().unwrap().contains("OEIS A090035"));
    assert_eq!(value["version"], env!("CARGO_PKG_VERSION"));
    assert!(value["machine"]["cores"].as_u64().unwrap() > 0);
}

#[test]
fn engines_and_kernels_give_the_same_checksums() {
    let bfs = ["bfs", "2x4", "--format", "json"];
    let reference = json(&[&bfs[..], &["--engine", "reference"]].concat());
    assert!(reference["kernel"].is_null());
    let output = tilewave(&bfs).env("TILEWAVE_KERNEL", "scalar").output().unwrap();
    let scalar: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(scalar["kernel"], "scalar");
    assert_eq!(scalar["checksums"], reference["checksums"]);
    assert_eq!(json(&bfs)["checksums"], reference["checksums"]);
}

#[test]
fn bfs_csv_has_a_row_per_depth() {
    let text = stdout(&["bfs", "2x3", "--format", "csv"]);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["depth", "states", "cumulative", "checksum", "puzzle"]);
    assert_eq!(rows.len(), 1 + 22);
    assert_eq!(rows[22][..3], ["21", "1", "360"]);
    assert!(rows[1..].iter().all(|row| u64::from_str_radix(row[3], 16).unwrap() != 0));
}

#[test]
fn bfs_takes_any_start_and_a_depth_limit() {
    let value = json(&[
        "bfs",
        "3x3",
        "--start",
        "1 2 3 4 0 5 6 7 8",
        "--goal",
        "blank=4",
        "--format",
        "json",
    ]);
    assert_eq!(value["diameter"], 30);
    let value = json(&["bfs", "3x3", "--max-depth", "4", "--format", "json"]);
    assert_eq!(value["counts"], serde_json::json!([1, 2, 4, 8, 16]));
    assert!(value["diameter"].is_null() && value["antipodes"].is_null());
}

#[test]
fn a_run_without_a_terminal_is_quiet_unless_it_is_long() {
    let output = tilewave(&["bfs", "3x3"]).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = tilewave(&["bfs", "2x3", "-v"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("depth 21: 1 state\n"));
    let output = tilewave(&["verify", "2x2", "2x3", "-v"]).output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(
        log.lines().all(|line| line.starts_with("DEBUG depth ")),
        "no colours, no complaints: {log}"
    );
}

#[test]
fn antipodes_are_boards_with_their_ranks() {
    let text = stdout(&["antipodes", "3x3"]);
    assert!(text.contains("2 boards at depth 31"), "{text}");
    let value = json(&["antipodes", "3x3", "--format", "json"]);
    assert_eq!(value["depth"], 31);
    assert_eq!(value["count"], 2);
    assert_eq!(value["boards"], serde_json::json!(["6 4 7/8 5 0/3 2 1", "8 6 7/2 5 4/3 0 1"]));
    for (i, board) in value["boards"].as_array().unwrap().iter().enumerate() {
        let state = json(&["state", board.as_str().unwrap(), "--format", "jsonl"]);
        assert_eq!(state["state_id"], value["state_ids"][i]);
        assert_eq!(state["line"], value["lines"][i]);
        assert_eq!(state["cell"], value["cells"][i]);
    }
    let text = stdout(&["antipodes", "3x3", "--goal", "blank=4", "--list", "3"]);
    assert!(text.contains("148 boards") && text.contains("145 more; raise --list"), "{text}");
    let csv = stdout(&["antipodes", "2x2", "--format", "csv"]);
    assert_eq!(csv.lines().collect::<Vec<_>>().len(), 2);
    assert!(csv.starts_with("board,state_id,line,cell,puzzle\n"));
}

#[test]
fn state_ranks_and_unranks() {
    let value = json(&["state", "1 2 3/4 0 5", "--format", "jsonl"]);
    assert_eq!(value["size"], "2x3");
    assert_eq!(value["solvable"], true);
    assert_eq!(value["parity"], "even");
    assert_eq!(
        (&value["line"], &value["cell"], &value["state_id"]),
        (&1.into(), &2.into(), &8.into())
    );
    assert!(value["depth"].is_null());
    for args in [["--id", "8", "2x3"], ["2x3", "--id", "8"]] {
        assert!(stdout(&[&["state"], &args[..]].concat()).contains("board     1 2 3/4 0 5\n"));
    }
    let text = stdout(&["state", "2x3", "--line", "1", "--cell", "2"]);
    assert!(text.contains("state id  8\n"), "{text}");
    let text = stdout(&["state", "2x3", "1 2 3 4 0 5"]);
    assert!(text.contains("state id  8\n"), "{text}");
}

#[test]
fn an_unsolvable_state_is_an_answer() {
    let value = json(&["state", "1 2 3 4/5 6 7 8/9 10 11 12/13 15 14 0", "--format", "jsonl"]);
    assert_eq!(value["solvable"], false);
    assert_eq!(value["parity"], "odd");
    assert!(value["line"].is_null() && value["state_id"].is_null());
    let text = stdout(&["state", "1 2 3/4 5 6/8 7 0"]);
    assert!(text.contains("solvable  no: ") && text.contains("7 and 8"), "{text}");
    // One reason in the same words, here, from solve and from a search.
    let reason = "the board's parity is odd, so no moves lead to the goal";
    assert!(text.contains(reason), "{text}");
    let solved = tilewave(&["solve", "--no-cache", "1 2 3/4 5 6/8 7 0"]).output().unwrap();
    assert!(String::from_utf8(solved.stdout).unwrap().contains(reason));
    refused(&["bfs", "3x3", "--start", "1 2 3/4 5 6/8 7 0"], 1, reason);
}

#[test]
fn states_of_puzzles_of_one_set_are_written_as_moves_too() {
    let state = |puzzle: &str, text: &str| {
        let value = json(&["state", puzzle, text, "--format", "jsonl"]);
        value["state"].as_str().unwrap().to_string()
    };
    assert_eq!(state("lrx:5", "L"), "2 3 4 5 1");
    assert_eq!(state("lrx:5", "L X"), "3 2 4 5 1");
    assert_eq!(state("lrx:5", "L X L'"), "1 3 2 4 5");
    assert_eq!(state("lrx:5", "(L X)4 L2'"), state("lrx:5", "L X L X L X L X L' L'"));
    let wheels = "tests/data/puzzles/wheels.tws";
    assert_eq!(state(wheels, "A"), "2 3 4 1 5 6");
    refused(&["state", wheels, "A C"], 2, "'C' is not a move of wheels: the moves are A B");
}

#[test]
fn verify_passes_true_boards() {
    let text = stdout(&["verify", "2x4", "3x3"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0].starts_with("2x4  last depth 36  20,160 states") && lines[0].ends_with("PASS")
    );
    assert!(
        lines[1].starts_with("3x3  last depth 31  181,440 states") && lines[1].ends_with("PASS")
    );
    let value = json(&["verify", "2x4", "--format", "jsonl"]);
    assert_eq!((&value["pass"], &value["first_wrong_depth"]), (&true.into(), &().into()));
    assert_eq!((&value["diameter"], &value["total"]), (&36.into(), &20160.into()));
    let text = stdout(&["verify", "2x3", "2x4", "--format", "jsonl"]);
    let objects = text.lines().map(serde_json::from_str);
    let objects: Vec<serde_json::Value> = objects.collect::<Result<_, _>>().unwrap();
    assert_eq!(objects.len(), 2, "one object per line");
    assert_eq!((&objects[0]["board"], &objects[1]["board"]), (&"2x3".into(), &"2x4".into()));
    // Nothing is published for this goal: the reference engine is the truth.
    let text = stdout(&["verify", "2x5", "--goal", "blank=2"]);
    assert!(text.contains("the reference engine") && text.ends_with("PASS\n"), "{text}");
}

#[test]
fn plan_names_the_needs() {
    let text = stdout(&["plan", "2x7", "--memory", "8GB"]);
    assert!(text.contains("43,589,145,600") && text.contains("6.19 GiB"), "{text}");
    let value = json(&["plan", "3x3", "--format", "json", "--engine", "reference"]);
    assert_eq!(value["states"], 181440);
    assert_eq!(value["engine"], "reference");
    assert_eq!(value["memory_bytes"], 181440 / 4);
    assert_eq!(value["levels"], 32);
    assert!(value["seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn completions_and_manual_know_all_commands() {
    let manual = stdout(&["man"]);
    let help = stdout(&["--help"]);
    for command in
        ["bfs", "antipodes", "levels", "state", "verify", "info", "check", "cache", "plan", "man"]
    {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
        assert!(manual.contains(&format!("tilewave\\-{command}(1)")), "{command}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(stdout(&["completions", shell]).contains("antipodes"), "{shell}");
    }
    let dir = tempfile::tempdir().unwrap();
    stdout(&["man", "--dir", dir.path().to_str().unwrap()]);
    assert!(dir.path().join("tilewave-bfs.1").exists());
}
