//! The `tilewave pdb` commands as a user meets them.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

pub(super) fn tilewave(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("tilewave").expect("the program is built");
    let general = ["info", "check"].contains(&args[0]);
    command.current_dir(dir).args((!general).then_some("pdb")).args(args);
    command.env_remove("TILEWAVE_KERNEL");
    command
}

pub(super) fn stdout(dir: &Path, args: &[&str]) -> String {
    let output = tilewave(dir, args).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

pub(super) fn refused(dir: &Path, args: &[&str], code: i32, words: &str) {
    let output = tilewave(dir, args).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {error}");
    let lines: Vec<&str> = error.lines().filter(|l| l.starts_with("error: ")).collect();
    assert_eq!(lines.len(), 1, "{args:?}: {error}");
    assert!(lines[0].contains(words), "{args:?}: {error}");
    assert!(output.stdout.is_empty(), "{args:?}");
}

const BUILD: [&str; 6] = ["build", "3x3", "--pattern", "1,2,3,4", "-o", "a.pdb"];

#[test]
fn a_database_is_built_shown_verified_and_probed() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let text = stdout(dir, &BUILD);
    assert!(text.contains("wrote a.pdb: 3x3 tiles 1,2,3,4, additive-min, 3,024 entries"), "{text}");
    refused(dir, &BUILD, 1, "'a.pdb' already exists");
    stdout(dir, &[&BUILD[..], &["--force"]].concat());

    let info: Value =
        serde_json::from_str(&stdout(dir, &["info", "a.pdb", "--format", "jsonl"])).unwrap();
    assert_eq!(info["board"], "3x3");
    assert_eq!(info["goal"], "1 2 3/4 5 6/7 8 0");
    assert_eq!(info["tiles"], serde_json::json!([1, 2, 3, 4]));
    assert_eq!((&info["kind"], &info["encoding"]), (&"additive-min".into(), &"byte".into()));
    assert_eq!(info["entries"], 3024);
    let histogram = info["histogram"].as_array().unwrap();
    assert_eq!(histogram.len() as u64, info["max"].as_u64().unwrap() + 1);
    assert_eq!(histogram.iter().map(|n| n.as_u64().unwrap()).sum::<u64>(), 3024);
    assert!(info["mean"].as_f64().unwrap() > 8.0);
    assert_eq!(info["bytes"], std::fs::metadata(dir.join("a.pdb")).unwrap().len());
    assert_eq!(info["checksum"].as_str().unwrap().len(), 16);
    let csv = stdout(dir, &["info", "a.pdb", "--format", "csv"]);
    assert!(csv.starts_with("value,entries\n0,1\n"), "{csv}");
    assert!(stdout(dir, &["info", "a.pdb"]).contains("kind      additive-min"));

    assert!(stdout(dir, &["check", "a.pdb"]).starts_with(
        "PASS  a.pdb: the checksums are correct, and searches confirm 20 entries (seed "
    ));
    stdout(dir, &["check", "a.pdb", "--full", "--plain"]);

    stdout(dir, &["build", "3x3", "--pattern", "5,6,7,8", "-o", "b.pdb"]);
    let probe =
        ["probe", "--pdb", "a.pdb", "--pdb", "b.pdb", "1 2 3/4 5 6/7 0 8", "--format", "jsonl"];
    let object: Value = serde_json::from_str(&stdout(dir, &probe)).unwrap();
    assert_eq!(object["values"], serde_json::json!([0, 1]));
    assert_eq!(object["sum"], 1);
    let many = tilewave(dir, &["probe", "--pdb", "a.pdb", "--pdb", "b.pdb"])
        .write_stdin("1 2 3/4 5 6/7 8 0\n1 2 3/4 5 6/7 0 8\n")
        .output()
        .unwrap();
    let many = String::from_utf8(many.stdout).unwrap();
    assert_eq!(many, "1 2 3/4 5 6/7 8 0  0 0  sum 0\n1 2 3/4 5 6/7 0 8  0 1  sum 1\n");

    let mut bytes = std::fs::read(dir.join("a.pdb")).unwrap();
    *bytes.last_mut().unwrap() ^= 4;
    std::fs::write(dir.join("a.pdb"), bytes).unwrap();
    let failed = tilewave(dir, &["check", "a.pdb"]).output().unwrap();
    assert_eq!(failed.status.code(), Some(1));
    assert!(String::from_utf8(failed.stdout).unwrap().starts_with(
        "FAIL  a.pdb: the tilewave pattern database 'a.pdb' is damaged in block 1 of 1"
    ));
}

#[test]
fn partitions_kinds_encodings_exports_and_packing() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::create_dir(dir.join("set")).unwrap();
    let build = ["build", "4x4", "--goal", "first", "--partition", "5-5-5", "-o", "set"];
    stdout(dir, &build);
    let files = ["4x4_1-2-5-6-10.pdb", "4x4_3-7-11-14-15.pdb", "4x4_4-8-9-12-13.pdb"];
    for file in files {
        assert!(dir.join("set").join(file).exists(), "{file}");
    }
    let json = ["--kind", "region-aware", "--encoding", "byte", "--format", "jsonl"];
    let text =
        stdout(dir, &[&["build", "3x3", "--pattern", "1,2,5", "-o", "r.pdb"], &json[..]].concat());
    let object: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&object["kind"], &object["encoding"]), (&"region-aware".into(), &"byte".into()));
    assert!(object["entries"].as_u64().unwrap() > 504);

    stdout(dir, &["compress", "r.pdb", "-o", "r.tw"]);
    assert!(stdout(dir, &["info", "r.tw"]).contains("byte, compressed"));
    let board = "1 2 3/4 5 0/7 8 6";
    let probe = |file| stdout(dir, &["probe", "--pdb", file, board]);
    assert_eq!(probe("r.tw"), probe("r.pdb"));
    assert!(stdout(dir, &["check", "r.tw"]).starts_with("PASS"));
    stdout(dir, &["decompress", "r.tw", "-o", "s.pdb"]);
    assert!(std::fs::read(dir.join("r.pdb")).unwrap() == std::fs::read(dir.join("s.pdb")).unwrap());

    let bit = ["--encoding", "bit", "-o", "bit.pdb"];
    let bits = ["build", "3x3", "--pattern", "1,2,5,8"];
    assert!(stdout(dir, &[&bits[..], &bit].concat()).contains("region-aware"));
    assert!(stdout(dir, &["info", "bit.pdb"]).contains("encoding  bit\n"));
    assert!(stdout(dir, &["check", "bit.pdb"]).starts_with("PASS"));
    assert!(stdout(dir, &["check", "bit.pdb", "--full", "--plain"]).starts_with("PASS"));
    let value = stdout(dir, &["probe", "--pdb", "bit.pdb", "8 6 7/2 5 4/3 0 1"]);
    assert!(value.ends_with("  11  sum 11\n"), "{value}");
    stdout(dir, &["compress", "bit.pdb", "-o", "bit.tw"]);
    stdout(dir, &["decompress", "bit.tw", "-o", "bit2.pdb"]);
    assert!(
        std::fs::read(dir.join("bit.pdb")).unwrap() == std::fs::read(dir.join("bit2.pdb")).unwrap()
    );
    refused(dir, &["export", "bit.pdb", "--layout", "24puzzle", "-o", "x"], 2, "--encoding byte");
    let minimum = ["--kind", "additive-min", "--encoding", "bit", "-o", "x.pdb"];
    refused(dir, &[&bits[..], &minimum].concat(), 2, "region-aware");

    stdout(dir, &BUILD);
    let export = ["export", "a.pdb", "--layout", "hog2-lex", "-o", "a.raw"];
    assert!(stdout(dir, &export).contains("wrote a.raw: hog2-lex layout"));
    assert_eq!(std::fs::metadata(dir.join("a.raw")).unwrap().len(), 3024);
    refused(dir, &export, 1, "'a.raw' already exists");
    refused(dir, &["export", "a.pdb", "--layout", "24puzzle", "-o", "x"], 2, "5x5");
}

#[test]
fn bad_requests_get_one_clear_line() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let build = |pattern: &str, code: i32, words: &str| {
        let args = ["build", "4x4", "--pattern", pattern, "-o", "x.pdb"];
        refused(dir, &args, code, words);
        assert!(!dir.join("x.pdb").exists());
    };
    build("1,1", 2, "tile 1 occurs twice");
    build("1,16", 2, "tile 16 of the pattern is not on a 4x4 board");
    build("0,1", 2, "the blank (0) cannot be a tile");
    build("one", 2, "'one' is not a pattern");
    build("1,2,3,4,5,6,7,8,9", 2, "1 to 8 tiles");
    let size = |args: &[&str], code: i32, words: &str| refused(dir, args, code, words);
    size(&["build", "7x7", "--pattern", "1", "-o", "x"], 2, "too large");
    size(
        &["build", "6x6", "--pattern", "1,2,3,4,5,6,7,8", "-o", "x", "-M", "1GiB"],
        1,
        "1,220,096,908,800 entries",
    );
    let two = ["build", "3x3", "--pattern", "1,2", "--pattern", "2,3", "--disjoint"];
    size(&[&two[..], &["-o", "x", "-o", "y"]].concat(), 2, "tile 2 is in more than one pattern");
    size(&[&two[..6], &["-o", "x"]].concat(), 2, "2 patterns but 1 output files");
    size(&[&two[..6], &["-o", "x", "-o", "x"]].concat(), 2, "given twice");
    size(&["build", "4x4", "--partition", "6-6-6-6", "-o", "x"], 2, "choose 7-8");
    std::fs::write(dir.join("text"), "not a database").unwrap();
    size(&["build", "3x3", "--pattern", "1", "-o", "text/x"], 1, "cannot write");
    size(&["info", "none.pdb"], 1, "cannot open 'none.pdb'");
    size(&["info", "text"], 1, "'text' is not a database, table, set, log or search: specify");
    stdout(dir, &BUILD);
    for args in
        [&["check", "a.pdb", "-M", "nonsense"][..], &["check", "a.pdb", "--full", "-M", "8"]]
    {
        size(args, 2, "is not a size");
    }
    size(&["probe", "--pdb", "a.pdb", "1 2 3/4 5 6"], 2, "the board is 2x3 instead of 3x3");
    size(&["probe", "--pdb", "a.pdb", "1 2 3 4/5 6 7 8/9 10 11 0"], 2, "instead of 3x3");
}

/// Ctrl-C in the middle of a build: exit code 130, no file, no temporary file.
#[cfg(unix)]
#[test]
fn an_interrupted_build_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let program = assert_cmd::cargo::cargo_bin("tilewave");
    let args =
        ["pdb", "build", "4x4", "--pattern", "1,2,3,4,5,6,7", "--plain", "-o", "x.pdb", "-j", "1"];
    let mut child = std::process::Command::new(program)
        .args(args)
        .arg("--quiet")
        .current_dir(dir.path())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn outputs_go_to_files_devices_links_and_stdout() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let is_link = |name: &str| dir.join(name).symlink_metadata().unwrap().is_symlink();
    std::os::unix::fs::symlink("/dev/null", dir.join("null")).unwrap();
    std::os::unix::fs::symlink("target.pdb", dir.join("link")).unwrap();
    stdout(dir, &BUILD);
    stdout(dir, &["compress", "a.pdb", "-o", "a.zst"]);
    let build = |output| [&BUILD[..5], &[output]].concat();
    // A directory is made for files named by their tiles.
    stdout(dir, &build("databases/"));
    let made = std::fs::read(dir.join("databases/3x3_1-2-3-4.pdb")).unwrap();
    assert_eq!(made, std::fs::read(dir.join("a.pdb")).unwrap());
    let commands: [&[&str]; 4] = [
        &BUILD[..5],
        &["export", "a.pdb", "--layout", "hog2-lex", "-o"],
        &["compress", "a.pdb", "-o"],
        &["decompress", "a.zst", "-o"],
    ];
    for command in commands {
        let to = |output| [command, &[output, "--force"]].concat();
        stdout(dir, &to("null"));
        assert!(is_link("null"));
        stdout(dir, &to("link"));
        assert!(is_link("link"));
        let file = std::fs::read(dir.join("target.pdb")).unwrap();
        for name in ["-", "/dev/stdout"] {
            let piped = tilewave(dir, &to(name)).output().unwrap();
            assert!(piped.stdout == file, "{command:?} {name}");
        }
        refused(dir, &to("/dev/full"), 1, "cannot write '/dev/full'");
    }
    assert!(!dir.join("-").exists());
}

/// A flipped bit anywhere in a database: no answer rests on it, and a kept database is built again.
#[test]
fn damaged_databases_answer_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let run = |args: &[&str]| {
        let mut command = Command::cargo_bin("tilewave").unwrap();
        command.current_dir(dir).args(args).output().unwrap()
    };
    stdout(dir, &BUILD);
    stdout(dir, &["build", "3x3", "--pattern", "5,6,7,8", "-o", "b.pdb"]);
    assert!(run(&["table", "3x3", "-o", "x.table"]).status.success());
    let board = "8 6 7/2 5 4/3 0 1";
    let kept = ["solve", "--cache-dir", "cache", "--quiet", "--format", "csv", board];
    let answer = run(&kept);
    assert!(answer.status.success());
    let moves = |output: &[u8]| {
        let text = String::from_utf8(output.to_vec()).unwrap();
        text.lines().nth(1).unwrap().split(',').take(3).collect::<Vec<_>>().join(",")
    };
    let cached = std::fs::read_dir(dir.join("cache")).unwrap().next().unwrap();
    let cached = cached.unwrap().path();
    let a = ["a.pdb", "x.table", cached.to_str().unwrap()];
    for (file, first, commands) in [
        (
            a[0],
            8192,
            vec![
                vec!["solve", "--pdb", "a.pdb", "--pdb", "b.pdb", board],
                vec!["pdb", "probe", "--pdb", "a.pdb", board],
                vec!["pdb", "export", "a.pdb", "--layout", "hog2-lex", "-o", "-"],
                vec!["pdb", "compress", "a.pdb", "-o", "-"],
            ],
        ),
        (
            a[1],
            8192,
            vec![
                vec!["state", "--table", "x.table", board],
                vec!["solve", "--table", "x.table", board],
            ],
        ),
        (a[2], 8192, vec![kept.to_vec()]),
    ] {
        let whole = std::fs::read(dir.join(file)).unwrap();
        for at in [0, 9, 20, 300, 4000, 4096, 4105, first, first + 77, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[at] ^= 4;
            std::fs::write(dir.join(file), &bytes).unwrap();
            for command in &commands {
                let output = run(command);
                let error = String::from_utf8_lossy(&output.stderr).into_owned();
                if file == a[2] {
                    assert!(output.status.success(), "{error}");
                    assert_eq!(moves(&output.stdout), moves(&answer.stdout));
                    assert!(std::fs::read(file).unwrap() == whole, "built again");
                } else {
                    assert_eq!(output.status.code(), Some(1), "{command:?} {at}: {error}");
                    assert!(output.stdout.is_empty(), "{command:?} {at}");
                }
            }
        }
        std::fs::write(dir.join(file), whole).unwrap();
    }
}
