//! Puzzles other than boards, and boards in the multi-tile metric, on the command line.

use super::{json, refused, stdout};

/// A sample file.
fn file(name: &str) -> String {
    format!("{}/tests/data/puzzles/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn families_are_listed() {
    let text = stdout(&["puzzles"]);
    assert!(
        text.contains("topspin:N,K       a ring of N that turns, and a gate"),
        "{text}"
    );
    assert!(
        text.contains("topspin:12,4: 479,001,600 states, "),
        "{text}"
    );
    let csv = stdout(&["puzzles", "--format", "csv"]);
    assert_eq!(csv.lines().count(), 9, "{csv}");
    let value = json(&["puzzles", "--format", "json"]);
    let families = value["families"].as_array().unwrap();
    let example = families[0]["example"].as_str().unwrap();
    let planned = json(&["plan", "--format", "json", example]);
    assert_eq!(planned["states"], families[0]["example_states"]);
    assert_eq!(planned["memory_bytes"], families[0]["memory_bytes"]);
    assert_eq!(families.len(), 8);
}

#[test]
fn searches_are_held_against_what_is_published() {
    let text = stdout(&["bfs", "topspin:8,4"]);
    assert!(
        text.contains("\npuzzle      topspin:8,4, goal 1 2 3 4 5 6 7 8\n"),
        "{text}"
    );
    assert!(
        text.contains("\ngroup       order 40,320, all reached\n"),
        "{text}"
    );
    assert!(
        text.contains("all 23 levels equal to cayleypy/cayleypy@7355621"),
        "{text}"
    );
    // Every state of a Cayley graph sees the same levels.
    let value = json(&["bfs", "lx:6", "--start", "6 5 4 1 2 3", "--format", "json"]);
    assert_eq!(value["agrees_with"], "cayleypy/cayleypy@7355621");
    assert_eq!(
        (&value["group_order"], &value["diameter"]),
        (&720.into(), &18.into())
    );
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
    assert!(
        unknown.contains("no published distribution for this puzzle"),
        "{unknown}"
    );
    let mtm = stdout(&["bfs", "2x4", "--metric", "mtm"]);
    assert!(mtm.contains("levels equal to "), "{mtm}");
}

#[test]
fn puzzles_are_verified() {
    let text = stdout(&["verify", "coxeter:7", &file("wheels.gap"), "lrx:8"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("coxeter:7  diameter 21  5,040 states  22 levels equal to cayleypy"),
        "{text}"
    );
    assert!(
        lines[1].starts_with("wheels  ") && lines[1].contains("PASS"),
        "{text}"
    );
    assert!(lines[2].ends_with("  PASS"), "{text}");
    // Nothing is published for it: the plain engine is asked.
    let value = json(&["verify", "topspin:7,3", "--format", "json"]);
    assert_eq!(value["compared_with"], "the reference engine");
    assert_eq!(value["pass"], true);
    assert_eq!(
        (&value["board"], &value["puzzle"]),
        (&serde_json::Value::Null, &"topspin:7,3".into())
    );
    let text = stdout(&["verify", "2x4", "3x3", "--metric", "mtm"]);
    assert!(text.contains("3x3 mtm  diameter "), "{text}");
    assert_eq!(text.matches("PASS").count(), 2, "{text}");
}

#[test]
fn puzzles_are_planned() {
    let text = stdout(&["plan", "pancake:9"]);
    assert!(
        text.contains(
            "puzzle   pancake:9\ngroup    order 362,880\nstates   362,880\nlevels   11\n"
        ),
        "{text}"
    );
    assert!(text.contains("(calibrated on pancake:9)"), "{text}");
    // More than can be searched to find out, and more memory than there is.
    let value = json(&["plan", "reversals:16", "-M", "1GiB", "--format", "json"]);
    assert_eq!(value["group_order"], 20_922_789_888_000u64);
    assert_eq!(value["fits"], false);
    assert!(value["seconds"].as_f64().unwrap() > 60.0);
    let value = json(&["plan", &file("dino.gap"), "--format", "json"]);
    assert_eq!(
        (&value["puzzle"], &value["states"]),
        (&"dino".into(), &239_500_800.into())
    );
    let text = stdout(&["plan", "3x3", "--metric", "mtm"]);
    assert!(text.starts_with("board    3x3 mtm\n"), "{text}");
    refused(&["plan", "lrx:9", "--on-disk"], 2, "leave out --on-disk");
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
        ("sets.tws", sets, "sets.tws:3: "),
        ("oriented.tws", oriented, "oriented.tws:2: "),
        ("equal.tws", equal, "equal pieces"),
        (
            "twice.gap",
            "A:=(1,2,\n2);\nGen:=[A];\n",
            "twice.gap:1: A: not a permutation",
        ),
        (
            "large.gap",
            "A:=(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17);\nB:=(1,2);\nGen:=[A,B];\n",
            "large.gap:",
        ),
        ("none.gap", "A:=(1,2);\nGen:=[];\n", "none.gap:"),
        (
            "still.gap",
            "A:=();\nGen:=[A];\n",
            "no generator moves anything",
        ),
        ("words.txt", "A:=(1,2);\nGen:=[A];\n", "words.txt"),
    ];
    let out = dir.path().join("out");
    let out = out.to_str().unwrap();
    for (name, text, words) in files {
        let path = written(name, text);
        for command in ["bfs", "antipodes", "plan", "verify"] {
            refused(&[command, &path, "-o", out], 2, words);
        }
        refused(&["table", &path, "-o", out], 2, words);
    }
    let words = [
        (
            &["bfs", "pancake"][..],
            "write pancake:N, for example pancake:12",
        ),
        (&["bfs", "pancake:"], "write pancake:N"),
        (&["bfs", "topspin:12"], "write topspin:N,K"),
        (&["bfs", "lrx:17"], "a puzzle has 2 to 16"),
        (&["bfs", "pankake:12"], "not a family of puzzles"),
        (
            &["bfs", "lrx:8", "--metric", "mtm"],
            "--metric is for boards",
        ),
        (&["bfs", "lrx:8", "--goal", "first"], "--goal is for boards"),
        (
            &["verify", "lrx:8", "--metric", "stm"],
            "--metric is for boards",
        ),
        (
            &["plan", "lrx:8", "--metric", "mtm"],
            "--metric is for boards",
        ),
        (&["bfs", "lrx:8", "--directed"], "for puzzles in files"),
        (&["bfs", "lrx:5", "--start", "1 2 3 4"], "lrx:5 has 5"),
        (&["bfs", "lrx:5", "--start", "1 2 3 4 4"], "4 occurs twice"),
        (
            &["bfs", "lrx:5", "--start", "1 2 3 4 x"],
            "'x' in the state",
        ),
        (&["table", "lx:7"], "one way only"),
        (
            &["table", "lrx:7", "--metric", "mtm"],
            "--metric is for boards",
        ),
    ];
    for (args, words) in words {
        refused(&[args, &["-o", out]].concat(), 2, words);
    }
    let left = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(left, files.len(), "nothing but the files read is there");
}
