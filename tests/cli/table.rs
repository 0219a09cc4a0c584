//! `tilewave table`, and the commands that read tables.

use super::{json, refused, stdout, tilewave};

#[test]
fn a_table_answers_depths_and_solutions() {
    let dir = tempfile::tempdir().unwrap();
    for encoding in ["mod3", "byte"] {
        let file = dir.path().join(encoding);
        let file = file.to_str().unwrap();
        let made = json(&["table", "3x3", "-o", file, "--encoding", encoding, "--format", "json"]);
        assert_eq!((&made["board"], &made["encoding"]), (&"3x3".into(), &encoding.into()));
        assert_eq!((&made["states"], &made["diameter"]), (&181_440.into(), &31.into()));
        assert_eq!(made["complete"], true);
        assert_eq!(made["bytes"], std::fs::metadata(file).unwrap().len());
        let state = json(&["state", "8 6 7/2 5 4/3 0 1", "--table", file, "--format", "jsonl"]);
        assert_eq!(state["depth"], 31);
        // The size is the table's.
        let flat = stdout(&["state", "--id", "0", "--table", file]);
        assert!(flat.contains("\ndepth     "), "{flat}");
        let solved = json(&["solve", "8 6 7/2 5 4/3 0 1", "--table", file, "--format", "jsonl"]);
        assert_eq!((&solved["length"], &solved["optimal"]), (&31.into(), &true.into()));
        let checked = stdout(&["check", file]);
        assert!(
            checked.starts_with("PASS  ") && checked.ends_with(": the checksums are correct\n"),
            "{checked}"
        );
        let full = stdout(&["check", "--full", file]);
        assert!(
            full.ends_with(
                ": the checksums are correct, and a newly built table has the same entries\n"
            ),
            "{full}"
        );
        let info = stdout(&["info", file]);
        assert!(info.contains("states    181,440, God's number 31\n"), "{info}");
    }
}

#[test]
fn a_depth_is_one_in_the_metric_of_the_table() {
    let dir = tempfile::tempdir().unwrap();
    let file = |metric: &str| dir.path().join(metric).to_str().unwrap().to_string();
    let board = "0 1 2/3 4 5";
    let mut depths = Vec::new();
    for (metric, other) in [("stm", "mtm"), ("mtm", "stm")] {
        let file = file(metric);
        stdout(&["table", "2x3", "--metric", metric, "-o", &file]);
        let state = ["state", board, "--table", &file];
        let words = "leave out --metric";
        refused(&[&state[..], &["--metric", other]].concat(), 2, words);
        let same = [&state[..], &["--metric", metric]].concat();
        let text = stdout(&same);
        assert!(text.contains(&format!("\nmetric    {metric}\n")), "{text}");
        depths.push(json(&[&same[..], &["--format", "jsonl"]].concat())["depth"].as_u64());
    }
    assert!(depths[0] > depths[1], "{depths:?}");
}

#[test]
fn a_table_compares_fast_solutions_and_proofs_confirm_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("2x4.table");
    let file = file.to_str().unwrap();
    stdout(&["table", "2x4", "-o", file, "--goal", "first"]);
    let boards = stdout(&["scramble", "2x4", "--goal", "first", "--count", "3", "--seed", "2"]);
    let ratio = tilewave(&["solve", "--fast", "--compare", "--table", file])
        .write_stdin(boards.clone())
        .output()
        .unwrap();
    let text = String::from_utf8(ratio.stdout).unwrap();
    assert_eq!(text.matches(" times the optimum of ").count(), 3, "{text}");
    let proved = tilewave(&["solve", "--certify", "--table", file, "--quiet"])
        .write_stdin(boards)
        .output()
        .unwrap();
    let text = String::from_utf8(proved.stdout).unwrap();
    assert!(proved.status.success() && text.contains(", 3 certified\n"), "{text}");
}

#[test]
fn tables_are_refused_where_they_do_not_fit() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("2x3.table");
    let file = file.to_str().unwrap();
    stdout(&["table", "2x3", "-o", file]);
    refused(&["table", "2x3", "-o", file], 1, "--force");
    stdout(&["table", "2x3", "-o", file, "--force", "--encoding", "byte"]);
    refused(&["state", "1 2 3/4 5 6/7 8 0", "--table", file], 2, "3x3");
    let first = ["--goal", "first", "0 1 2/3 4 5"];
    let with = |command| [&[command, "--table", file], &first[..]].concat();
    refused(&with("state"), 2, "the table is for the goal '1 2 3/4 5 0'");
    refused(&with("solve"), 2, "the table is for the goal '1 2 3/4 5 0'");
    refused(&["solve", "--fast", "--table", file, "1 2 3/4 5 0"], 2, "add --compare");
    refused(&["check", "Cargo.toml"], 1, "not a database, table, set, log or search");
    refused(&["table", "2x3"], 2, "--output");
    refused(&["table", "4x4", "-o", "never"], 1, "the limit is");
    // What the system says, once.
    refused(
        &["check", "no such file"],
        1,
        "cannot open 'no such file': No such file or directory (os error 2); check the path\n",
    );
    refused(&["table", "5x5", "-o", "never"], 2, "at most 16");
    let mut bytes = std::fs::read(file).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(file, bytes).unwrap();
    let output = tilewave(&["check", file]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.starts_with("FAIL  ") && text.contains("damaged in block 1"), "{text}");
    assert!(String::from_utf8(output.stderr).unwrap().contains("1 of 1 check failed"));
}

/// The file of tests/table/partial.rs, which ends at depth 10; the farthest board of 2x3 takes 21 moves.
#[test]
fn boards_beyond_a_partial_table_are_given_up() {
    let file =
        concat!(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."), "/tests/data/table_partial.table");
    let (near, far) = ("1 2 3/4 0 5", "4 5 0/1 2 3");
    let solved = json(&["solve", near, "--table", file, "--format", "jsonl"]);
    assert_eq!(solved["length"], 1);
    let output = tilewave(&["solve", far, "--table", file]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    let line = format!("{far}  gave up after 0 nodes: needs at least 11 moves");
    assert!(text.starts_with(&line), "{text}");
    let state = |board| json(&["state", board, "--table", file, "--format", "jsonl"]);
    assert_eq!(state(near)["depth"], 1);
    let state = state(far);
    assert_eq!((&state["depth"], &state["solvable"]), (&serde_json::Value::Null, &true.into()));
}
