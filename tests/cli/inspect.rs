//! `tilewave info`, `check` and `cache`, and what all commands have in common.

use std::{fs, path::Path};

use serde_json::Value;

use super::{json, refused, stdout, tilewave};

/// A directory with a file of each kind: `run`, `a.pdb`, `set`, `t.table`, `p.table` and `log`.
fn one_of_each() -> (tempfile::TempDir, impl Fn(&str) -> String) {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().to_owned();
    let path = move |name: &str| base.join(name).to_str().unwrap().to_string();
    stdout(&["bfs", "2x4", "--dir", &path("run")]);
    stdout(&["pdb", "build", "3x3", "--pattern", "1-4", "-o", &path("a.pdb")]);
    stdout(&["pdb", "set", "build", "2x3", "-o", &path("set")]);
    stdout(&["table", "2x3", "-o", &path("t.table")]);
    stdout(&["table", "2x2x2", "--pieces", "corners:1-4", "-o", &path("p.table")]);
    let board = "8 6 7/2 5 4/3 0 1";
    stdout(&["solve", board, "1 2 3/4 5 6/7 0 8", "--log", &path("log"), "--no-cache"]);
    (dir, path)
}

#[test]
fn every_kind_of_file_is_known_shown_and_checked() {
    let (_dir, path) = one_of_each();
    let kinds = [
        ("run", "search", "search   2x4, goal 1 2 3 4/5 6 7 0: complete"),
        ("a.pdb", "pattern database", "kind      additive-min"),
        ("set", "set", "partition  "),
        ("t.table", "distance table", "states    360, God's number 21"),
        ("p.table", "pruning table", "encoding  nibble"),
        ("log", "log", "boards    2 of 2 solved, 0 partly searched"),
    ];
    for (name, kind, words) in kinds {
        let file = path(name);
        let info = json(&["info", &file, "--format", "jsonl"]);
        assert_eq!(info["type"], kind, "{info}");
        let text = stdout(&["info", &file]);
        assert!(text.contains(words), "{name}: {text}");
        let checked = json(&["check", &file, "--format", "jsonl"]);
        assert_eq!((&checked["type"], &checked["pass"]), (&kind.into(), &true.into()), "{checked}");
        assert!(stdout(&["check", "--full", &file]).starts_with("PASS  "), "{name}");
    }
    let files: Vec<String> = kinds.iter().map(|(name, ..)| path(name)).collect();
    let all = |command| {
        let files = files.iter().map(String::as_str);
        let args: Vec<&str> = [command, "--format", "json"].into_iter().chain(files).collect();
        json(&args).as_array().unwrap().len()
    };
    assert_eq!((all("info"), all("check")), (6, 6));
    // What is none of ours is named, and the others are looked at all the same.
    let output = tilewave(&["check", "Cargo.toml", &files[1]]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("PASS  "));
    assert!(String::from_utf8(output.stderr).unwrap().contains("'Cargo.toml' is not a database"));
    let mut files = fs::read_dir(path("run")).unwrap().map(|entry| entry.unwrap().path());
    let level = files.find(|path| path.to_string_lossy().contains("level-")).unwrap();
    refused(&["info", level.to_str().unwrap()], 1, "specify the directory that contains this file");
}

/// A file in the place of another kind of file is called by its name.
#[test]
fn files_are_not_taken_for_others() {
    let (_dir, path) = one_of_each();
    let (database, table, pruning) = (path("a.pdb"), path("t.table"), path("p.table"));
    let board = "8 6 7/2 5 4/3 0 1";
    for (args, words) in [
        (["state", board, "--table", &database], "is a pattern database, not a distance table"),
        (["state", board, "--table", &pruning], "is a pruning table, not a distance table"),
        (["solve", board, "--pdb", &table], "is a distance table, not a tilewave pattern database"),
        (
            ["pdb", "probe", "--pdb", &pruning],
            "is a pruning table, not a tilewave pattern database",
        ),
    ] {
        refused(&args, 1, words);
    }
    refused(
        &["solve", "2x2x2", "U", "--pdb", &table],
        1,
        "is a distance table, not a pruning table",
    );
    // A file in the place of a directory, and a directory in the place of a file.
    for args in [
        &["resume", &table][..],
        &["repair", &table],
        &["bfs", "3x3", "--dir", &table],
        &["plan", "3x3", "--dir", &table],
        &["cache", "--cache-dir", &table],
        &["man", "--dir", &table],
    ] {
        let output = tilewave(args).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), error.lines().count()),
            (Some(1), 1),
            "{args:?}: {error}"
        );
        assert!(error.to_lowercase().contains("not a directory"), "{args:?}: {error}");
    }
    let run = path("run");
    for args in [
        &["table", "3x3", "-o", &run][..],
        &["bfs", "3x3", "--html", &run],
        &["state", board, "--table", &run],
        &["pdb", "probe", board, "--pdb", &run],
        &["solve", board, "--no-cache", "-q", "--log", &run],
    ] {
        refused(args, 1, "directory");
    }
}

/// A bit of each file is flipped: the check fails, or the file is no longer known.
#[test]
fn damage_of_every_kind_of_file_is_found() {
    let (_dir, path) = one_of_each();
    let mut set = fs::read_dir(path("set")).unwrap().map(|entry| entry.unwrap().path());
    let member = set.find(|path| path.extension().is_some_and(|e| e == "pdb")).unwrap();
    let member = member.to_str().unwrap().to_string();
    for (file, checked) in [
        (path("a.pdb"), path("a.pdb")),
        (member, path("set")),
        (path("t.table"), path("t.table")),
        (path("p.table"), path("p.table")),
        (path("log"), path("log")),
    ] {
        let mut bytes = fs::read(&file).unwrap();
        let at = bytes.len() - 3;
        bytes[at] ^= 1;
        fs::write(&file, bytes).unwrap();
        let output = tilewave(&["check", &checked]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{file}: {text}");
        assert!(text.starts_with("FAIL  "), "{file}: {text}");
    }
}

#[test]
fn the_cache_is_listed_and_cleared_of_what_solve_kept() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().to_str().unwrap();
    let cache = ["cache", "--cache-dir", place];
    let kept = || json(&[&cache[..], &["--format", "json"]].concat())["files"].clone();
    assert_eq!(kept(), serde_json::json!([]));
    stdout(&["solve", "8 6 7/2 5 4/3 0 1", "--cache-dir", place]);
    stdout(&["solve", "2x2x2", "R U", "--cache-dir", place]);
    let files = kept();
    let files: Vec<&str> =
        files.as_array().unwrap().iter().map(|file| file["file"].as_str().unwrap()).collect();
    let count = |ending: &str| files.iter().filter(|file| file.ends_with(ending)).count();
    assert!(count(".pdb") > 0 && count(".table") > 0, "{files:?}");
    // The user's own: another name, or no database at all.
    let own = [dir.path().join("mine.pdb"), dir.path().join("notes.pdb")];
    fs::copy(files[0], &own[0]).unwrap();
    fs::write(&own[1], "notes").unwrap();
    let text = stdout(&[&cache[..], &["--clear"]].concat());
    assert!(text.contains(&format!(" removed from {place}")), "{text}");
    assert_eq!(kept(), serde_json::json!([]));
    let left = fs::read_dir(place).unwrap().count();
    assert!(left == 2 && own.iter().all(|file| file.exists()), "{left}");
}

#[test]
fn several_answers_are_one_document_or_lines() {
    let boards = ["1 2 3/4 5 6/7 0 8", "1 2 3/4 5 6/0 7 8"];
    let args = |format| ["solve", "--fast", boards[0], boards[1], "--format", format];
    let document = json(&args("json"));
    let lines = stdout(&args("jsonl"));
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let length = |value: &Value| value["length"].as_u64();
    assert_eq!(document.as_array().unwrap().len(), 2);
    assert_eq!(lines.iter().map(length).collect::<Vec<_>>(), [Some(1), Some(2)]);
    let one = stdout(&["bfs", "2x3", "--format", "jsonl"]);
    assert_eq!(one.lines().count(), 1);
    // Nothing to answer is an empty list.
    let none = tilewave(&["pdb", "probe", "--pdb", "no.pdb"]).output().unwrap();
    assert_eq!(none.status.code(), Some(1));
}

#[test]
fn states_come_as_arguments_or_lines_of_any_puzzle() {
    let states = |args: &[&str], input: &str| {
        let output = tilewave(args).write_stdin(input).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let boards = "1 2 3/4 5 6/7 0 8\n\n0 1 2/3 4 5/6 7 8 # first\n";
    assert_eq!(states(&["state", "--format", "jsonl"], boards).lines().count(), 2);
    assert_eq!(states(&["state", "-", "--format", "csv"], boards).lines().count(), 3);
    assert_eq!(states(&["state", "2x2x2", "--format", "jsonl"], "R U\nR' F\n").lines().count(), 2);
    let flat = states(&["state", "2x3", "1 2 3 4 0 5", "--format", "jsonl"], "");
    let flat: Value = serde_json::from_str(&flat).unwrap();
    assert_eq!(flat["board"], "1 2 3/4 0 5");
    refused(&["state", "3x3", "--id", "5", "1 2 3/4 5 6/7 8 0"], 2, "leave out one of them");
    refused(&["solve", "3x3x", "R"], 2, "'3x3x' is neither a board size");
    refused(
        &["solve", "2x2x2", "R", "--fast"],
        2,
        "--fast solves 2x2x2 in phases: specify the phases",
    );
}

#[test]
fn options_of_all_commands_have_one_form() {
    // 0 threads are all, times without a unit are seconds, -f is --force, -n is --count.
    stdout(&["bfs", "2x3", "-j", "0"]);
    stdout(&["solve", "1 2 3/4 5 6/7 0 8", "--timeout", "2min", "--no-cache"]);
    stdout(&["solve", "1 2 3/4 5 6/7 0 8", "--timeout", "1.5", "--no-cache"]);
    assert_eq!(stdout(&["scramble", "3x3", "-n", "3"]).lines().count(), 3);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.csv");
    let write = ["bfs", "2x3", "--format", "csv", "-o", file.to_str().unwrap()];
    stdout(&write);
    stdout(&[&write[..], &["-f"]].concat());
    assert!(stdout(&["bfs", "2x4", "--kernel", "scalar"]).contains("scalar"));
    let both =
        tilewave(&["bfs", "2x4", "--kernel", "scalar"]).env("TILEWAVE_KERNEL", "nothing").output();
    assert!(both.unwrap().status.success(), "the option goes before the environment");
    let unknown = tilewave(&["bfs", "2x4"]).env("TILEWAVE_KERNEL", "nothing").output().unwrap();
    let said = String::from_utf8(unknown.stderr).unwrap();
    assert!(said.contains("TILEWAVE_KERNEL: 'nothing' is not a kernel: choose scalar"), "{said}");
    let run = dir.path().join("run");
    let run = run.to_str().unwrap();
    refused(&["bfs", "2x4", "--dir", run, "--zstd-level", "3"], 2, "add --codec zstd");
    refused(
        &["bfs", "2x4", "--commit-every", "3s"],
        2,
        "--commit-every works only for a search on disk: add --dir DIR",
    );
    assert!(!Path::new(run).exists());
    let colours = |when| {
        let output = tilewave(&["bfs", "2x3", "-v", "--color", when]).output().unwrap();
        String::from_utf8(output.stderr).unwrap().contains("\u{1b}[")
    };
    assert!(colours("always") && !colours("auto") && !colours("never"));
    let version = stdout(&["--version"]);
    for word in ["kernels ", "scalar", "features ", "certify", env!("CARGO_PKG_VERSION")] {
        assert!(version.contains(word), "{version}");
    }
    assert_eq!(stdout(&["-V"]).lines().count(), 1);
}

/// Runs given together are separate searches, unless they are the directories of one; sets may list pruning tables.
#[test]
fn each_of_several_searches_and_sets_of_tables_are_looked_at() {
    let scratch = tempfile::tempdir().unwrap();
    let path = |name: &str| scratch.path().join(name).to_str().unwrap().to_string();
    let [one, other, first, second] = ["one", "other", "first", "second"].map(path);
    let run = |args: &[&str]| drop(stdout(&[args, &["--max-depth", "6"]].concat()));
    run(&["bfs", "2x4", "--dir", &one]);
    run(&["bfs", "3x3", "--dir", &other]);
    run(&["bfs", "2x5", "--dir", &first, "--dir", &second]);
    let puzzles = |args: &[&str]| -> Vec<String> {
        let found = json(&[args, &["--format", "json"]].concat());
        let named = |one: &serde_json::Value| format!("{} {}", one["path"], one["type"]);
        found.as_array().unwrap().iter().map(named).collect()
    };
    let shown = |paths: &[&str]| format!("\"{}\" \"search\"", paths.join(" "));
    let expected = [shown(&[&one]), shown(&[&first, &second]), shown(&[&other])];
    for command in ["info", "check"] {
        assert_eq!(puzzles(&[command, &one, &first, &second, &other]), expected, "{command}");
    }
    let info = json(&["info", &one, &other, "--format", "json"]);
    assert_eq!((&info[0]["board"], &info[1]["board"]), (&"2x4".into(), &"3x3".into()));
    let copy = path("copy");
    std::fs::create_dir(&copy).unwrap();
    for file in std::fs::read_dir(&one).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), std::path::Path::new(&copy).join(file.file_name())).unwrap();
    }
    assert_eq!(puzzles(&["info", &one, &copy]), [shown(&[&one]), shown(&[&copy])]);
    // Half of a search is no search.
    let output = tilewave(&["check", &first]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.code() == Some(1) && said.starts_with("FAIL"), "{said}");
    let set = path("set");
    stdout(&["pdb", "set", "build", "skewb-diamond", "-o", &set]);
    let info = json(&["info", &set, "--format", "json"]);
    assert_eq!((&info[0]["type"], &info[0]["board"]), (&"set".into(), &serde_json::Value::Null));
    let table = &info[0]["partitions"][0][0];
    assert!(table["puzzle"].as_str().unwrap().starts_with("skewb-diamond"), "{table}");
    assert!(stdout(&["info", &set]).contains("table      skewb-diamond"));
    let check = stdout(&["check", &set]);
    assert!(check.starts_with("PASS") && check.contains("pruning table"), "{check}");
    let file = table["file"].as_str().unwrap();
    let mut bytes = std::fs::read(file).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(file, bytes).unwrap();
    let output = tilewave(&["check", &set]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    refused(&["pdb", "set", "rate", &set], 2, "only pattern databases of boards can be rated");
}
