//! Puzzles other than boards, and boards in the multi-tile metric, on the command line.

use super::{json, refused, stdout, tilewave};

/// A sample file.
fn file(name: &str) -> String {
    format!("{}/tests/data/puzzles/{name}", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn families_are_listed() {
    let text = stdout(&["puzzles"]);
    assert!(
        text.contains("topspin:N,K       rotate a ring of N pieces, or reverse the K in the gate"),
        "{text}"
    );
    assert!(text.contains("topspin:12,4: 479,001,600 states, "), "{text}");
    let csv = stdout(&["puzzles", "--format", "csv"]);
    assert_eq!(csv.lines().count(), 9, "{csv}");
    let value = json(&["puzzles", "--format", "json"]);
    let families = value["families"].as_array().unwrap();
    let mut compared = 0;
    for family in families {
        let example = family["example"].as_str().unwrap();
        // The others take seconds.
        if example.ends_with(":9") || example.ends_with(":10") {
            let planned = json(&["plan", "--format", "json", example]);
            assert_eq!(planned["states"], family["example_states"].to_string(), "{example}");
            assert_eq!(planned["memory_bytes"], family["memory_bytes"], "{example}");
            compared += 1;
        }
    }
    assert_eq!(compared, 2);
    assert_eq!(families.len(), 8);
}

#[test]
fn searches_are_held_against_what_is_published() {
    let text = stdout(&["bfs", "topspin:8,4"]);
    assert!(text.contains("\npuzzle        topspin:8,4, goal 1 2 3 4 5 6 7 8\n"), "{text}");
    assert!(text.contains("\nstates        40,320\n"), "{text}");
    assert!(text.contains("all 23 levels agree with cayleypy/cayleypy@7355621"), "{text}");
    // Every state of a Cayley graph sees the same levels.
    let value = json(&["bfs", "lx:6", "--start", "6 5 4 1 2 3", "--format", "json"]);
    assert_eq!(value["agrees_with"], "cayleypy/cayleypy@7355621");
    assert_eq!((&value["states"], &value["diameter"]), (&"720".into(), &18.into()));
    assert_eq!(
        (&value["board"], &value["metric"]),
        (&serde_json::Value::Null, &serde_json::Value::Null)
    );
    // A file with the moves of a family is known by them.
    let value = json(&["bfs", &file("five.gap"), "--format", "json"]);
    assert_eq!(
        (&value["puzzle"], &value["agrees_with"]),
        (&"five".into(), &"cayleypy/cayleypy@7355621".into())
    );
    let unknown = stdout(&["bfs", &file("wheels.gap")]);
    assert!(unknown.contains("published     none known"), "{unknown}");
    let mtm = stdout(&["bfs", "2x4", "--metric", "mtm"]);
    assert!(mtm.contains("levels agree with "), "{mtm}");
}

#[test]
fn puzzles_are_verified() {
    let text = stdout(&["verify", "coxeter:7", &file("wheels.gap"), "lrx:8"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0]
            .starts_with("coxeter:7  last depth 21  5,040 states  22 levels agree with cayleypy"),
        "{text}"
    );
    assert!(lines[1].starts_with("wheels  ") && lines[1].contains("PASS"), "{text}");
    assert!(lines[2].ends_with("  PASS"), "{text}");
    // Nothing is published for it: the plain engine is asked.
    let value = json(&["verify", "topspin:7,3", "--format", "jsonl"]);
    assert_eq!(value["compared_with"], "the reference engine");
    assert_eq!(value["pass"], true);
    assert_eq!(
        (&value["board"], &value["puzzle"]),
        (&serde_json::Value::Null, &"topspin:7,3".into())
    );
    let text = stdout(&["verify", "2x4", "3x3", "--metric", "mtm"]);
    assert!(text.contains("3x3 mtm  last depth "), "{text}");
    assert_eq!(text.matches("PASS").count(), 2, "{text}");
}

#[test]
fn puzzles_are_planned() {
    let text = stdout(&["plan", "pancake:9"]);
    assert!(text.contains("puzzle   pancake:9\nstates   362,880\nlevels   11\n"), "{text}");
    assert!(text.contains("(calibrated on pancake:9)"), "{text}");
    // More than can be searched to find out, and more memory than there is.
    let value = json(&["plan", "reversals:16", "-M", "1GiB", "--format", "json"]);
    assert_eq!(value["states"], "20922789888000");
    assert_eq!(value["fits"], false);
    assert!(value["seconds"].as_f64().unwrap() > 60.0);
    let value = json(&["plan", &file("dino.gap"), "--format", "json"]);
    assert_eq!((&value["puzzle"], &value["states"]), (&"dino".into(), &"239500800".into()));
    let text = stdout(&["plan", "3x3", "--metric", "mtm"]);
    assert!(text.starts_with("board    3x3 mtm, goal 1 2 3/4 5 6/7 8 0\n"), "{text}");
    let plan = ["plan", "lrx:9", "--dir", ".", "--format", "json"];
    let value = json(&plan);
    assert_eq!((&value["engine"], &value["chunks"]), (&"disk".into(), &1.into()));
    let plan = ["plan", "3x3", "--metric", "mtm", "--ranks", "2", "--format", "json"];
    assert_eq!(json(&plan)["ranks"], 2);
    refused(&["plan", "pancake:9", "--dir", "."], 2, "only in memory");
    // The levels of topspin:10,4 are not cut into chunks; those of 8 and of 14 elements are.
    let plan = ["plan", "topspin:14,4", "--dir", ".", "--format", "json"];
    assert_eq!(json(&plan)["calibrated_on"], "topspin:8,4");
}

#[test]
fn tables_of_puzzles_answer_in_their_words() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.table");
    let path = path.to_str().unwrap();
    let made = json(&["table", "pancake:7", "-o", path, "--format", "json"]);
    assert_eq!(
        (&made["puzzle"], &made["states"], &made["diameter"]),
        (&"pancake:7".into(), &5040.into(), &8.into())
    );
    assert_eq!((&made["complete"], &made["board"]), (&true.into(), &serde_json::Value::Null));
    let info = stdout(&["info", path]);
    assert!(info.contains("puzzle    pancake:7\n") && info.contains("states    5,040, "), "{info}");
    // The first four, then all of them.
    let shuffled = "7 6 5 1 2 3 4";
    let state = json(&["state", "--table", path, shuffled, "--format", "jsonl"]);
    assert_eq!((&state["depth"], &state["solvable"]), (&2.into(), &true.into()));
    assert_eq!((&state["state"], &state["puzzle"]), (&shuffled.into(), &"pancake:7".into()));
    let id = state["state_id"].to_string();
    let same = stdout(&["state", "pancake:7", "--id", &id]);
    assert!(same.contains(&format!("state     {shuffled}\n")), "{same}");
    let solved = json(&["solve", "--table", path, shuffled, "--format", "jsonl"]);
    assert_eq!((&solved["moves"], &solved["length"]), (&"F7 F4".into(), &2.into()));
    let text = stdout(&["solve", "--table", path, shuffled]);
    assert!(text.starts_with("7 6 5 1 2 3 4  2 moves  F7 F4  "), "{text}");
    let csv = stdout(&["solve", "--table", path, shuffled, "1 2 3 4 5 6 7", "--format", "csv"]);
    assert!(csv.contains("\n7 6 5 1 2 3 4,true,2,F7 F4,"), "{csv}");
    let lines = tilewave(&["solve", "--table", path, "--quiet"])
        .write_stdin("2 1 3 4 5 6 7 # one flip\n\n1 2 3\n")
        .output()
        .unwrap();
    let text = String::from_utf8(lines.stdout).unwrap();
    assert!(text.starts_with("2 1 3 4 5 6 7  1 move  F2  "), "{text}");
    let error = String::from_utf8(lines.stderr).unwrap();
    assert_eq!(lines.status.code(), Some(1));
    assert!(error.starts_with("error: line 3: the state has 3 elements"), "{error}");
    let with = ["solve", "--table", path];
    refused(&[&with[..], &["1 2 3"]].concat(), 2, "pancake:7 has 7");
    for option in ["--fast", "--certify"] {
        let words = format!("{option} is only for boards");
        refused(&[&with[..], &[shuffled, option]].concat(), 2, &words);
    }
    let goal = [&with[..], &[shuffled, "--goal", "first"]].concat();
    refused(&goal, 2, "--goal is only for boards");
    refused(&["state", "lrx:7", shuffled, "--table", path], 2, "leave out lrx:7");
    refused(&["solve", "lrx:7", shuffled, "--table", path], 2, "leave out lrx:7");
    stdout(&["solve", "pancake:7", shuffled, "--table", path]);
}

#[test]
fn a_puzzle_is_known_by_its_moves() {
    // A file with a note, for it is reduced to fewer points, and the same file by another name.
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
    let text = "a:=(1,2)(11,12); b:=(1,2,3,4,5,6,7,8)(11,12,13,14,15,16,17,18); Gen:=[a,b];";
    let [twice, renamed, other] = ["twice.gap", "renamed.gap", "other.gap"].map(path);
    std::fs::write(&twice, text).unwrap();
    std::fs::write(&renamed, text).unwrap();
    std::fs::write(&other, text.replace("(1,2)(11,12)", "(1,3)(11,13)")).unwrap();
    let table = path("twice.table");
    stdout(&["table", &twice, "-o", &table]);
    let state = ["2 1 3 4 5 6 7 8", "--table", &table, "--quiet"];
    for file in [&twice, &renamed] {
        let text = stdout(&[&["state", file], &state[..]].concat());
        assert!(text.contains("\ndepth     1"), "{text}");
    }
    refused(&[&["state", &other], &state[..]].concat(), 2, "leave out ");
    // A search on disk goes on under the other name, and comes to the same.
    let run = path("run");
    let on_disk = ["--dir", &run, "--shared-digits", "0", "--format", "json"];
    let bfs = |file: &str, more: &[&str]| json(&[&["bfs", file], &on_disk[..], more].concat());
    let begun = bfs(&twice, &["--max-depth", "5"]);
    let ended = bfs(&renamed, &[]);
    assert_eq!((&begun["puzzle"], &ended["puzzle"]), (&"twice".into(), &"renamed".into()));
    let whole = json(&["bfs", &twice, "--format", "json"]);
    assert_eq!(ended["counts"], whole["counts"]);
    assert_eq!(ended["checksums"], whole["checksums"]);
    let wrong = [&["bfs", other.as_str(), "--quiet"], &on_disk[..]].concat();
    refused(&wrong, 1, "contains another search (");
    stdout(&["check", &run]);
    stdout(&["resume", &run]);
}

#[test]
fn tables_in_the_multi_tile_metric_count_its_moves() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.table");
    let path = path.to_str().unwrap();
    let made = json(&["table", "2x4", "--metric", "mtm", "-o", path, "--format", "json"]);
    assert_eq!((&made["metric"], &made["board"]), (&"mtm".into(), &"2x4".into()));
    let board = "0 1 2 3/5 6 7 4";
    let state = json(&["state", "--table", path, board, "--format", "jsonl"]);
    assert_eq!((&state["depth"], &state["metric"]), (&2.into(), &"mtm".into()));
    let solved = json(&["solve", "--table", path, board, "--format", "jsonl"]);
    assert_eq!(
        (&solved["moves"], &solved["length"], &solved["metric"]),
        (&"L3U".into(), &2.into(), &"mtm".into())
    );
    let with = |option| ["solve", "--table", path, board, option];
    refused(&with("--certify"), 2, "--certify is only for single-tile moves");
}

#[test]
fn pages_list_the_last_states() {
    let dir = tempfile::tempdir().unwrap();
    let page = |puzzle: &[&str]| {
        let path = dir.path().join("page.html");
        let to = ["--force", "--html", path.to_str().unwrap()];
        stdout(&[&["bfs"], puzzle, &to].concat());
        std::fs::read_to_string(path).unwrap()
    };
    let pancakes = page(&["pancake:4"]);
    assert!(pancakes.contains("one generator per move"));
    assert!(pancakes.contains("3 antipodes at depth 4"), "{pancakes}");
    assert!(pancakes.contains("no state is farther away"));
    assert!(pancakes.contains("<code>2 4 1 3</code>"), "{pancakes}");
    assert!(!pancakes.contains("class=\"mini\"") && !pancakes.contains("class=\"ends\""));
    assert!(page(&["lrx:7", "--max-depth", "9"]).contains("more are not listed"));
    let mtm = page(&["2x3", "--metric", "mtm"]);
    assert!(mtm.contains("any number of tiles per move") && mtm.contains("class=\"mini\""));
    let svg = dir.path().join("lrx.svg");
    stdout(&["bfs", "lrx:6", "--plot", svg.to_str().unwrap()]);
    assert!(std::fs::read_to_string(svg).unwrap().contains("lrx:6"));
    let csv = stdout(&["antipodes", "lrx:6", "--format", "csv"]);
    assert!(csv.starts_with("state,state_id,line,cell,puzzle\n"), "{csv}");
    let antipodes = json(&["antipodes", "pancake:4", "--format", "json"]);
    assert_eq!((&antipodes["count"], &antipodes["depth"]), (&3.into(), &4.into()));
}

#[test]
fn states_that_nothing_leads_to_are_told() {
    let odd = ["state", "topspin:7,4", "2 1 3 4 5 6 7"];
    let state = stdout(&odd);
    assert!(state.contains("parity    odd\nsolvable  no: "), "{state}");
    let csv = stdout(&[&odd[..], &["--format", "csv"]].concat());
    assert!(
        csv.starts_with("state,puzzle,goal,solvable,parity,line,cell,state_id,depth\n"),
        "{csv}"
    );
    assert!(csv.contains("\n2 1 3 4 5 6 7,\"topspin:7,4\","), "{csv}");
    refused(&["state", "lrx:5", "--id", "120"], 2, "lines 0 to 23 and cells");
}

/// One line, and nothing written.
#[test]
fn bad_input_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let written = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let sets = "Name two\nSet A 3 1\nSet B 3 1\nSolved\nA\n1 2 3\nB\n1 2 3\nEnd\n\
                Move T\nA\n2 3 1\nB\n2 3 1\nEnd\n";
    let oriented = "Name o\nSet A 3 2\nSolved\nA\n1 2 3\nEnd\nMove T\nA\n2 3 1\n1 0 1\nEnd\n";
    let equal = "Name e\nSet A 3 1\nSolved\nA\n1 1 3\nEnd\nMove T\nA\n2 3 1\nEnd\n";
    let files = [
        ("sets.tws", sets, "this is a list search of"),
        ("oriented.tws", oriented, "this is a list search of"),
        ("equal.tws", equal, "this is a list search of"),
        ("twice.gap", "A:=(1,2,\n2);\nGen:=[A];\n", "twice.gap:1: A: not a permutation"),
        (
            "large.gap",
            "A:=(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17);\nB:=(1,2);\nGen:=[A,B];\n",
            "this is a list search of large",
        ),
        ("none.gap", "A:=(1,2);\nGen:=[];\n", "none.gap:"),
        ("still.gap", "A:=();\nGen:=[A];\n", "no generator moves anything"),
        ("words.txt", "A:=(1,2);\nGen:=[A];\n", "words.txt"),
    ];
    let out = dir.path().join("out");
    let out = out.to_str().unwrap();
    for (name, text, words) in files {
        let path = written(name, text);
        // These have states without numbers, which are searched by lists.
        if ["sets.tws", "oriented.tws", "equal.tws", "large.gap"].contains(&name) {
            refused(&["bfs", &path, "--engine", "sweep"], 2, words);
            continue;
        }
        // What a puzzle file contains is not the command's fault.
        let code = if name == "words.txt" { 2 } else { 1 };
        for command in ["bfs", "verify", "antipodes", "plan", "table"] {
            refused(&[command, &path, "-o", out], code, words);
        }
    }
    let words = [
        (&["bfs", "pancake"][..], "write pancake:N, for example pancake:12"),
        (&["bfs", "pancake:"], "write pancake:N"),
        (&["bfs", "topspin:12"], "write topspin:N,K"),
        (&["bfs", "lrx:17"], "puzzles have 2 to 16"),
        (&["bfs", "pankake:12"], "not a family of puzzles"),
        (&["bfs", "lrx:8", "--metric", "mtm"], "--metric mtm is only for boards"),
        (&["bfs", "lrx:8", "--goal", "first"], "--goal is only for boards"),
        (&["verify", "lrx:8", "--metric", "stm"], "--metric stm is only for boards"),
        (&["plan", "lrx:8", "--metric", "mtm"], "--metric mtm is only for boards"),
        (&["bfs", "lrx:8", "--directed"], "for puzzle files"),
        (&["bfs", "lrx:5", "--start", "1 2 3 4"], "lrx:5 has 5"),
        (&["bfs", "lrx:5", "--start", "1 2 3 4 4"], "4 occurs twice"),
        (&["bfs", "lrx:5", "--start", "1 2 3 4 x"], "'x' in the state"),
        (&["table", "lx:7"], "cannot be reversed"),
        (&["table", "lrx:7", "--metric", "mtm"], "--metric mtm is only for boards"),
    ];
    for (args, words) in words {
        refused(&[args, &["-o", out]].concat(), 2, words);
    }
    let left = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(left, files.len(), "nothing but the files read is there");
}

#[test]
fn own_results_are_cited_and_told_apart_from_publications() {
    // Published and own.
    let text = stdout(&["bfs", "3x3"]);
    assert!(text.contains(";\n              this project's own result 3x3\n"), "{text}");
    let value = json(&["bfs", "3x3", "--format", "json"]);
    assert_eq!(value["agrees_with_own"], "result 3x3");
    assert!(!value["agrees_with"].as_str().unwrap().contains("own"));
    // Own alone, in any orientation of the board.
    for goal in ["blank=1", "blank=8"] {
        let text = stdout(&["bfs", "2x5", "--goal", goal]);
        assert!(
            text.contains("all 56 levels agree with this project's own result 2x5-blank1"),
            "{text}"
        );
    }
    let value = json(&["bfs", "5x2", "--goal", "blank=2", "--format", "json"]);
    assert_eq!(value["agrees_with"], serde_json::Value::Null);
    assert_eq!(value["agrees_with_own"], "result 2x5-blank1");
    let text = stdout(&["bfs", "topspin:9,5", "--max-depth", "4"]);
    assert!(
        text.contains("the first 5 levels agree with this project's own result topspin-9-5"),
        "{text}"
    );
    // They are no second computation: the plain engine is asked all the same.
    let text = stdout(&["verify", "2x5", "--goal", "blank=2"]);
    let expected = "agree with the reference engine and this project's own result 2x5-blank2  PASS";
    assert!(text.contains(expected), "{text}");
    let value = json(&["verify", "lrx:6", "--format", "jsonl"]);
    assert_eq!(value["compared_with"], "cayleypy/cayleypy@7355621");
    assert_eq!(value["own"], "result lrx-6");
}

#[test]
fn the_last_states_are_listed_as_far_as_asked() {
    let last = |more: &[&str]| json(&[&["bfs", "3x3", "--format", "json"], more].concat());
    let both = last(&["--list", "9"]);
    assert_eq!(both["last"], serde_json::json!(["6 4 7/8 5 0/3 2 1", "8 6 7/2 5 4/3 0 1"]));
    assert_eq!(last(&["--list", "1"])["last"].as_array().unwrap().len(), 1);
    assert!(last(&[]).get("last").is_none());
    refused(&["bfs", "3x3", "--list", "9"], 2, "add --format json");
}

#[test]
fn puzzles_without_numbers_are_searched_by_lists() {
    let json = |arguments: &[&str]| json(&[&["bfs", "--format", "json"], arguments].concat());
    let none = serde_json::Value::Null;
    // A080629 and the pocket cube as published; one corner is held.
    let cube = json(&["2x2x2"]);
    let counts = [1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644];
    assert_eq!(cube["counts"], serde_json::json!(counts));
    assert_eq!((&cube["states"], &cube["diameter"]), (&"3674160".into(), &11.into()));
    assert_eq!((&cube["agrees_with"], &cube["first_wrong_depth"]), (&"OEIS A079761".into(), &none));
    let cube = json(&["3x3x3", "--max-depth", "6"]);
    assert_eq!(cube["counts"][6], 7_618_438);
    assert_eq!((&cube["complete"], &cube["diameter"]), (&false.into(), &serde_json::Value::Null));
    let plain = json(&["3x3x3", "--max-depth", "6", "--no-symmetry", "-j", "1"]);
    assert_eq!((&plain["counts"], &plain["checksums"]), (&cube["counts"], &cube["checksums"]));
    assert_eq!(
        (&plain["lists"]["symmetries"], plain["lists"]["kept"][6].as_u64()),
        (&1.into(), Some(7_618_438))
    );
    // OEIS A080630.
    let corners = json(&["3x3x3", "--pieces", "corners", "--metric", "qtm", "--max-depth", "7"]);
    assert_eq!(
        corners["counts"],
        serde_json::json!([1, 12, 114, 924, 6539, 39528, 199926, 806136])
    );
    let board = json(&["5x5", "--goal", "first", "--max-depth", "10"]);
    let counts = [1, 2, 4, 10, 26, 64, 159, 366, 862, 1904, 4538];
    assert_eq!(board["counts"], serde_json::json!(counts));

    for (option, kept) in [("--count-ahead", 4), ("--count-ahead=2", 3), ("--count-ahead=3", 2)] {
        let ahead = json(&["3x3x3", "--max-depth", "6", option]);
        assert_eq!((&ahead["counts"], &ahead["checksums"]), (&cube["counts"], &cube["checksums"]));
        let bytes = ahead["lists"]["bytes"].as_array().unwrap();
        assert!(bytes[kept] != 0 && bytes[kept + 1] == 0, "{option}: {bytes:?}");
        assert_eq!(ahead["lists"]["reduced"], cube["lists"]["reduced"]);
        // Of two moves that lead to the same states, one is made: moves of opposite faces, turns of the same face.
        let [generated, new] =
            ["generated", "kept"].map(|key| ahead["lists"][key][6].as_f64().unwrap());
        assert!(generated < 1.6 * new, "{option}: {generated} {new}");
    }

    let text = stdout(&["bfs", "3x3x3", "--max-depth", "3"]);
    let row = text.lines().find(|line| line.trim_start().starts_with("3 ")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>()[1..4], ["3,240", "75", "13.333"]);
    assert!(text.contains("of 43,252,003,274,489,856,000"), "{text}");
    assert!(text.contains("published     the first 4 levels agree with OEIS A080601"), "{text}");
    let csv = stdout(&["bfs", "skewb", "--max-depth", "2", "--format", "csv"]);
    assert!(csv.starts_with("depth,states,reduced,cumulative,checksum,puzzle\n0,1,"), "{csv}");

    refused(&["bfs", "3x3x3"], 1, "limit the depth with --max-depth");
    refused(
        &["bfs", "3x3x3", "--max-depth", "4", "--dir", "never", "--planes", "memory"],
        2,
        "--planes works only with numbered states (boards of at most 16 cells",
    );
    refused(
        &["bfs", "3x3x3", "--max-depth", "4", "--pieces", "tips"],
        2,
        "no set is called 'tips'",
    );
    refused(&["bfs", "3x3x3", "--max-depth", "4", "--metric", "mtm"], 2, "use htm or qtm");
    refused(
        &["bfs", "4x4", "--pieces", "corners"],
        2,
        "--pieces does not apply to boards, and 4x4 is a board",
    );
    refused(&["bfs", "3x3x3", "--max-depth", "9", "-M", "1MB"], 1, "do not fit in");
    refused(&["bfs", "5x5"], 1, "limit the depth with --max-depth");
    refused(&["bfs", "3x3x3", "--count-ahead"], 2, "--max-depth");
    refused(
        &["bfs", "3x3x3", "--max-depth", "4", "--count-ahead=4"],
        2,
        "--count-ahead: '4' is not a whole number from 1 to 3",
    );
    refused(
        &["bfs", "3x3x3", "--max-depth", "4", "--count-ahead", "2"],
        2,
        "write --count-ahead=2",
    );
    refused(&["bfs", "3x3", "--max-depth", "9", "--count-ahead"], 2, "works only in list searches");
    refused(&["bfs", "3x3", "--metric", "qtm"], 2, "are only for twisty puzzles");
}

#[test]
fn growth_is_verified_as_far_as_it_is_published() {
    let text = stdout(&["verify", "2x2x2", "pyraminx", "3x3"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("2x2x2  last depth 11  3,674,160 states  12 levels agree with OEIS")
    );
    assert!(lines.iter().all(|line| line.ends_with("PASS")) && lines.len() == 3, "{text}");
    let board = stdout(&["verify", "kilominx", "--metric", "qtm"]);
    assert!(board.starts_with("kilominx qtm  to depth 7  269,867,489 states  8 levels"), "{board}");
    // Nothing but the number of states is known of these.
    let corners = stdout(&["verify", "skewb", "--metric", "qtm", "--format", "jsonl"]);
    assert!(corners.contains(r#""compared_with":"#), "{corners}");
    refused(
        &["verify", "20x20x20"],
        2,
        "no published level counts with which a search could be compared",
    );
}

/// A large board to a depth with few states: passes over all states would take longer.
#[test]
fn thin_levels_on_disk_are_lists() {
    let place = tempfile::tempdir().unwrap();
    let run = place.path().join("run");
    let run = run.to_str().unwrap();
    let board = ["bfs", "4x4", "--metric", "mtm", "--format", "json", "--max-depth"];
    let first = json(&[&board[..], &["6", "--dir", run]].concat());
    assert_eq!(first["engine"], "frontier");
    let then = json(&[&board[..], &["8", "--dir", run]].concat());
    let memory = json(&[&board[..], &["8", "--engine", "frontier"]].concat());
    for key in ["counts", "checksums", "reduced"] {
        assert_eq!(then[key], memory[key], "{key}");
    }
}

/// A search by lists in a directory is a run like any other.
#[test]
fn a_search_by_lists_on_disk_goes_on() {
    let place = tempfile::tempdir().unwrap();
    let run = place.path().join("run");
    let run = run.to_str().unwrap();
    let memory = json(&["bfs", "pyraminx", "--max-depth", "7", "--format", "json"]);
    let first = ["bfs", "pyraminx", "--max-depth", "5", "--dir", run, "--format", "json"];
    let first = json(&first);
    assert_eq!(first["counts"].as_array().unwrap()[..], memory["counts"].as_array().unwrap()[..6]);
    assert!(first["disk"]["peak_bytes"].as_u64().unwrap() > 0);

    let status = json(&["info", run, "--format", "jsonl"]);
    assert_eq!((&status["puzzle"], &status["state"]), (&"pyraminx".into(), &"stopped".into()));
    assert_eq!((&status["metric"], &status["depth"]), (&"htm".into(), &6.into()));
    let text = stdout(&["info", run]);
    assert!(text.contains("pyraminx: stopped"), "{text}");
    assert!(stdout(&["check", run]).contains("NOT FINISHED"));

    let then = json(&["resume", run, "--max-depth", "7", "--count-ahead", "--format", "json"]);
    for key in ["counts", "checksums", "reduced"] {
        assert_eq!(then[key], memory[key], "{key}");
    }
    std::fs::remove_file(place.path().join("run/manifest")).unwrap();
    let repaired = stdout(&["repair", run]);
    assert!(repaired.contains("rebuilt  pyraminx: depths 0 to"), "{repaired}");
    let again = json(&["resume", run, "--max-depth", "7", "--format", "json"]);
    assert_eq!(again["checksums"], memory["checksums"]);

    let listed = ["resume", run, "--max-depth", "7", "--list", "3", "--format", "json"];
    // The last level was counted: it is computed again for its states, and then it is there.
    for _ in 0..2 {
        let listed = json(&listed);
        assert_eq!(listed["checksums"], memory["checksums"]);
        assert_eq!(listed["last"].as_array().unwrap().len(), 3);
    }
    refused(&["bfs", "skewb", "--max-depth", "5", "--dir", run], 1, "board: pyraminx, not skewb");
    refused(&["bfs", "2x4", "--dir", run], 1, "board: pyraminx, not 2x4");
}

/// The states farthest away are those that plain code finds: from each of them 11 moves of the program's own tables lead back,
/// and `state` says that they can be reached.
#[test]
fn antipodes_of_puzzles_that_turn_are_listed() {
    let all = json(&["antipodes", "2x2x2", "--list", "9999", "--format", "json"]);
    assert_eq!((&all["depth"], &all["count"]), (&11.into(), &2644.into()));
    let boards = all["boards"].as_array().unwrap();
    assert_eq!(boards.len(), 2644);
    assert_eq!(all["state_ids"], serde_json::Value::Null);
    let first = boards[0].as_str().unwrap();
    let state = json(&["state", "2x2x2", first, "--format", "jsonl"]);
    assert_eq!((&state["state"], &state["solvable"]), (&boards[0], &true.into()));
    let csv = stdout(&["antipodes", "2x2x2", "--list", "2", "--format", "csv"]);
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let near = json(&["levels", "3x3x3", "--depth", "1", "--format", "json"]);
    assert_eq!(near["boards"].as_array().unwrap().len(), 18);
    let turns = ["U", "D2", "F'"]
        .map(|turn| json(&["state", "3x3x3", turn, "--format", "jsonl"])["state"].clone());
    assert!(turns.iter().all(|state| near["boards"].as_array().unwrap().contains(state)));
    let corners = ["antipodes", "3x3x3", "--pieces", "corners", "--list", "1", "--format", "json"];
    assert_eq!(json(&corners)["count"], 64_736);
    refused(&["antipodes", "3x3x3"], 1, "--max-depth");
    refused(&["levels", "3x3x3", "--depth", "3", "--engine", "sweep"], 2, "--engine");
}

#[test]
fn states_of_puzzles_that_turn_are_read_and_judged() {
    let text = stdout(&["state", "3x3x3", "R U R' U'"]);
    assert!(text.contains("solvable  yes") && text.contains("order     6"), "{text}");
    let one = |state: &str| json(&["state", "2x2x2", state, "--format", "jsonl"]);
    assert_eq!(one("1 2 3 4 5 6 7/0 0 0 0 0 0 0")["solved"], true);
    let turned = one("1 2 3 4 5 6 7/1 0 0 0 0 0 0");
    assert_eq!(turned["solvable"], false);
    assert!(
        turned["refused"]
            .as_str()
            .unwrap()
            .contains("the sum of the orientations in set 'corners' is wrong"),
        "{turned}"
    );
    let csv = stdout(&["state", "3x3x3", "R", "--format", "csv"]);
    assert!(csv.starts_with("state,puzzle,solved,solvable,order"), "{csv}");
    for (state, wrong) in [
        ("R Y", "'Y' is not a move"),
        ("1 2 3", "1 set of pieces"),
        (
            "corners 1 1 3 4 5 6 7 8/0 0 0 0 0 0 0 0; edges 1",
            "piece 1 occurs too often in set 'corners'",
        ),
    ] {
        refused(&["state", "3x3x3", state], 2, wrong);
    }
    refused(&["state", "3x3x3", "--id", "4"], 2, "--id");
}

#[test]
fn searches_by_lists_are_planned_and_chosen() {
    let plan = json(&["plan", "3x3x3", "--max-depth", "6", "-M", "1GB", "--format", "json"]);
    let levels = plan["levels"].as_array().unwrap();
    assert_eq!((levels.len(), &levels[6]["states"]), (7, &7_618_438.0.into()));
    assert_eq!(plan["fits_to_depth"], 6);
    let deep = json(&["plan", "5x5", "--goal", "first", "-M", "64MB", "--format", "json"]);
    let (fits, ahead) = (&deep["fits_to_depth"], &deep["fits_to_depth_counting_ahead"]);
    assert!(fits.as_u64().unwrap() > 15 && ahead.as_u64() > fits.as_u64(), "{deep}");
    let text = stdout(&["plan", "2x2x2"]);
    assert!(text.contains("2x2x2") && text.contains("symmetries  6"), "{text}");
    refused(&["plan", "3x3x3", "--ranks", "4"], 2, "--ranks");

    // A board whose states do not fit is searched by lists as far as it was asked for, and one that is asked to be.
    let bounded = ["bfs", "4x4", "--metric", "mtm", "--max-depth", "6", "--format", "json"];
    let bounded = json(&bounded);
    assert_eq!(bounded["engine"], "frontier");
    let lists = json(&["bfs", "3x3", "--engine", "frontier", "--format", "json"]);
    let sweep = json(&["bfs", "3x3", "--format", "json"]);
    assert_eq!(lists["counts"], sweep["counts"]);
    assert_eq!(lists["first_wrong_depth"], serde_json::Value::Null);
    assert!(lists["agrees_with"].as_str().unwrap().contains("A089473"), "{lists}");
    let start =
        ["bfs", "2x3", "--engine", "frontier", "--start", "1 2 3/4 0 5", "--format", "json"];
    let sweep = ["bfs", "2x3", "--start", "1 2 3/4 0 5", "--format", "json"];
    assert_eq!(json(&start)["counts"], json(&sweep)["counts"]);
    refused(&["table", "3x3", "--engine", "frontier", "-o", "never"], 2, "--engine");
}

/// Several solved states, from a file, up to moves, of some of the pieces, in memory and on disk.
#[test]
fn goal_sets_are_searched_planned_and_kept() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_string();
    let goals = path("goals.txt");
    std::fs::write(&goals, "# two states and a mask\nU\n\ncorners 1 2 3 4 5 6 7/0 0 0 0 0 0 0\n")
        .unwrap();
    let two = ["bfs", "2x2x2", "--goals", &goals, "--max-depth", "3", "--format", "json"];
    let found = json(&two);
    // As `tests/puzzles/goals.rs` counts them.
    assert_eq!(found["counts"], serde_json::json!([2, 14, 84, 498]));
    let near = json(&["levels", "2x2x2", "--goals", &goals, "--depth", "0", "--format", "json"]);
    assert_eq!((&near["count"], &near["goal"]), (&2.into(), &"2 states".into()));
    let state = ["state", "2x2x2", "--goals", &goals, "U", "--format", "json"];
    assert_eq!(json(&state)[0]["solved"], true);
    let plan = json(&["plan", "2x2x2", "--goals", &goals, "--max-depth", "3", "--format", "json"]);
    assert_eq!(plan["levels"][3]["states"], 498.0);

    // On disk the goals belong to the run.
    let run = path("run");
    let first = ["bfs", "2x2x2", "--goals", &goals, "--max-depth", "2", "--dir", &run];
    tilewave(&first).assert().success();
    assert!(stdout(&["info", &run]).contains("goal 2 states"));
    refused(&["bfs", "2x2x2", "--max-depth", "3", "--dir", &run], 1, "not");
    let other = ["bfs", "2x2x2", "--subgroup", "U", "--max-depth", "3", "--dir", &run];
    refused(&other, 1, "not");
    let then = json(&["resume", &run, "--max-depth", "3", "--format", "json"]);
    assert_eq!((&then["counts"], &then["checksums"]), (&found["counts"], &found["checksums"]));
    assert!(stdout(&["check", &run]).contains("SOUND"));

    // A table of the distances to the nearest goal.
    let table = path("two.table");
    tilewave(&["table", "2x2x2", "--goals", &goals, "-o", &table]).assert().success();
    tilewave(&["check", &table]).assert().success();

    let phase = json(&[
        "bfs",
        "3x3x3",
        "--subgroup",
        "U D R2 L2 F2 B2",
        "--max-depth",
        "4",
        "--format",
        "json",
    ]);
    assert_eq!(phase["counts"], serde_json::json!([1, 4, 50, 592, 7156]));
    assert_eq!(
        (&phase["states"], &phase["puzzle"]),
        (&"2217093120".into(), &"3x3x3 up to <U,D,R2,L2,F2,B2>".into())
    );
    let slices =
        ["bfs", "3x3x3", "--generators", "R L',U D',F B'", "--metric", "qtm", "--format", "json"];
    let slices = json(&slices);
    assert_eq!(slices["counts"], serde_json::json!([1, 6, 27, 120, 287, 258, 69]));
    assert_eq!(slices["first_wrong_depth"], serde_json::Value::Null);
    assert!(slices["agrees_with"].as_str().unwrap().contains("A080619"), "{slices}");

    std::fs::write(&goals, "R\nQ\n").unwrap();
    refused(&["bfs", "2x2x2", "--goals", &goals], 2, "goals.txt: goal 2: 'Q' is not a move");
    std::fs::write(&goals, "# none\n").unwrap();
    refused(&["bfs", "2x2x2", "--goals", &goals], 2, "goals.txt contains no states");
    refused(&["bfs", "2x2x2", "--goals", &path("absent")], 1, "absent");
    refused(&["bfs", "3x3x3", "--subgroup", "R U, F D"], 2, "more than 1048576 goal states");
    refused(&["bfs", "3x3x3", "--generators", " "], 2, "no moves are given");
    refused(&["bfs", "3x4", "--goals", &goals], 2, "--goals");
    let cosets = json(&["bfs", "pancake:5", "--subgroup", "F2", "--format", "json"]);
    assert_eq!(cosets["counts"], serde_json::json!([1, 3, 9, 23, 20, 4]));
}

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
    let rows = ["bfs", "3x3", "--same", "1-3,4-6,7-8", "--format", "json", "--list", "9"];
    for (options, goal, most_tiles) in [
        (&["--goal", "last"][..], [1, 1, 1, 2, 2, 2, 3, 3, 0], 1),
        (&["--goal", "first", "--metric", "mtm"], [0, 1, 1, 1, 2, 2, 2, 3, 3], 2),
        (&["--goal", "blank=4", "-j", "1"], [1, 1, 1, 2, 0, 2, 2, 3, 3], 1),
    ] {
        let found = json(&[&rows[..], options].concat());
        assert_eq!(
            found["counts"],
            serde_json::json!(coloured(&goal, 3, most_tiles)),
            "{options:?}"
        );
        assert_eq!((&found["total"], &found["states"]), (&5040.into(), &"5040".into()));
        let last = found["last"].as_array().unwrap();
        assert_eq!(last.len() as u64, found["antipodes"].as_u64().unwrap());
        assert!(last.iter().all(|state| state.as_str().unwrap().starts_with("tiles ")));
    }
    let equal = ["--same", "1-3,4-6,7-8"];
    let text = stdout(&[&["antipodes", "3x3"][..], &equal].concat());
    assert!(text.contains("\ntiles 0 3 3 2 2 2 1 1 1\n"), "{text}");
    let planned = stdout(&[&["plan", "3x3"][..], &equal].concat());
    assert!(planned.contains("3x3 with equal 1-3,4-6,7-8"), "{planned}");
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    let found = json(&[&["bfs", "3x3", "--dir", dir, "--format", "json"][..], &equal].concat());
    assert_eq!(found["total"], 5040);
    // Numbers are those of tiles; the blank is not one of them.
    for (tiles, told) in [
        ("0-3", "its pieces are 1 to 8"),
        ("7-9", "its pieces are 1 to 8"),
        ("5-2", "its pieces are 1 to 8"),
        ("tiles", "some moves depend on it"),
        ("corners", "no set is called 'corners'"),
    ] {
        refused(&["bfs", "3x3", "--same", tiles], 2, told);
    }
    refused(&["bfs", "3x3", "--pieces", "1-3"], 2, "--pieces does not apply to boards");
    refused(&["bfs", "3x3x3", "--same", "1-3"], 2, "the sets are corners, edges");
    let to = format!("{dir}/never.table");
    let table = |tiles| ["table", "2x3", "--same", tiles, "--encoding", "byte", "-o", &to];
    refused(&table("1-2,3-5"), 2, "tables of boards with equal tiles are not supported");
    assert!(!std::path::Path::new(&to).exists());
    // Where only one colour has several tiles, the others have locations.
    stdout(&table("1-3"));
    stdout(&["check", "--full", &to]);
}

#[test]
fn tiles_slide_on_any_graph() {
    let rows = "graph:0-1,1-2,3-4,4-5,0-3,1-4,2-5";
    let found = json(&["bfs", rows, "--format", "json", "--list", "9"]);
    let board = json(&["bfs", "2x3", "--goal", "first", "--format", "json"]);
    assert_eq!(found["counts"], board["counts"]);
    assert_eq!((&found["puzzle"], &found["states"]), (&rows.into(), &"360".into()));
    assert_eq!(found["last"], serde_json::json!(["tiles 3 4 5 0 1 2"]));
    let answer = json(&["solve", rows, "3 4 5 0 1 2", "--format", "json"]);
    assert_eq!(answer[0]["length"], 21);
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("table").to_str().unwrap().to_string();
    stdout(&["table", rows, "--encoding", "byte", "-o", &to]);
    stdout(&["check", "--full", &to]);
    // Tables of a few tiles solve what is too large for a table of all: the lengths are those of the board.
    let lines = |r: usize| (0..3).map(move |c| format!("{}-{}", 4 * r + c, 4 * r + c + 1));
    let columns = (0..8).map(|v| format!("{v}-{}", v + 4));
    let edges: Vec<String> = (0..3).flat_map(lines).chain(columns).collect();
    let board = format!("graph:{}", edges.join(","));
    let set = dir.path().join("set").to_str().unwrap().to_string();
    stdout(&["pdb", "set", "build", &board, "--memory", "10MB", "-o", &set]);
    let tables = format!("{set}/set.json");
    let length =
        |words: &[&str]| json(&[words, &["--format", "json"]].concat())[0]["length"].clone();
    let states = stdout(&["scramble", &board, "--count", "3", "--seed", "5"]);
    for state in states.lines() {
        let tiles: Vec<&str> = state.strip_prefix("tiles ").unwrap().split(' ').collect();
        let found = length(&["solve", &board, state, "--pdb", &tables]);
        let rows: Vec<String> = tiles.chunks(4).map(|row| row.join(" ")).collect();
        assert_eq!(found, length(&["solve", "--goal", "first", &rows.join("/")]), "{state}");
        assert!(stdout(&["state", &board, state]).contains("solvable  yes"));
    }
    let odd = "0 2 1 3 4 5 6 7 8 9 10 11";
    assert!(stdout(&["state", &board, odd]).contains("solvable  no"));
    let unsolved = tilewave(&["solve", &board, odd, "--pdb", &tables]).output().unwrap();
    assert_eq!(unsolved.status.code(), Some(1));
    let told = String::from_utf8_lossy(&unsolved.stdout);
    assert!(told.contains("not solvable: the parity of the permutation of tiles"), "{told}");
    // Three tiles and the free vertex.
    let kept = json(&["bfs", &board, "--pieces", "1-3", "--format", "json"]);
    assert_eq!((&kept["total"], &kept["states"]), (&(12 * 11 * 10 * 9).into(), &"11880".into()));
    // All arrangements, or the even ones if every cycle is; fewer on Wilson's graph.
    for (graph, states) in [
        ("0-1,1-2,2-3,3-4,4-5,5-0,0-6,6-3", "840"),
        ("0-1,1-2,2-3,3-4,4-5,5-0,0-6,6-2", "2520"),
        ("0-1,1-2,2-3,3-4,4-5,5-0,0-6,6-1", "5040"),
        ("0-1,2-1,2-0", "6"),
        ("0-1", "2"),
    ] {
        let found = json(&["bfs", &format!("graph:{graph}"), "--format", "json"]);
        assert_eq!((&found["states"], &found["complete"]), (&states.into(), &true.into()));
        assert_eq!(found["total"].to_string(), states, "{graph}");
    }
    // "A cubic graph with cubic diameter" (cubezzz.dyndns.org, 2017): 27 moves, 90 antipodes.
    let edges = "1-2,2-3,3-4,4-5,5-6,6-7,7-8,8-9,9-1,0-3,0-6,0-9,1-5,2-7,4-8";
    let found = json(&["bfs", &format!("graph:{edges}"), "--format", "json"]);
    assert_eq!((&found["diameter"], &found["antipodes"]), (&27.into(), &90.into()));
    for (graph, told) in [
        ("", "'' is not an edge: write the edges of a connected graph"),
        ("0-1,a", "'a' is not an edge"),
        ("0-1,1-1", "edge 1-1 joins a vertex to itself"),
        ("0-1,1-2,1-0", "edge 1-0 occurs twice"),
        ("0-1,2-3", "no edges lead from vertex 0 to vertex 2"),
        ("1-2", "no edges lead from vertex 0 to vertex 1"),
        ("0-1,1-128", "at most 128 are supported"),
        ("0-1,1-99999999999999999999", "'1-99999999999999999999' is not an edge"),
    ] {
        refused(&["bfs", &format!("graph:{graph}")], 2, told);
    }
    refused(&["bfs", rows, "--pieces", "0-2"], 2, "its pieces are 1 to 5");
    refused(&["bfs", rows, "--goal", "first"], 2, "--goal is only for boards");
    refused(&["bfs", rows, "--metric", "htm"], 2, "only for twisty puzzles");
    refused(&["solve", rows, "0-1 1-2"], 2, "write the piece at each position instead of moves");
}
