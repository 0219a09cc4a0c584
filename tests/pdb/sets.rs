//! Sets: several partitions, built, rated and searched with.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;
use tilewave::pdb::{Kind, Pattern, Pdb, SetFile, check_partition, tilings};
use tilewave::solve::sweeps;

use super::cli::{refused, stdout, tilewave};
use super::goal;

fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

fn solve(dir: &Path, args: &[&str]) -> Value {
    let mut command = Command::cargo_bin("tilewave").unwrap();
    let output = command
        .current_dir(dir)
        .args(["solve", "--format", "jsonl", "8 6 7/2 5 4/3 0 1"])
        .args(args)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_set_is_built_rated_and_solved_with() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let build = ["set", "build", "3x3", "-o", "set", "--memory", "1GB"];
    let text = stdout(dir, &build);
    assert!(text.starts_with("wrote set/set.json: 8, "), "{text}");
    let set = SetFile::read(dir.join("set/set.json")).unwrap();
    assert_eq!(set.partitions.len(), 1);
    for file in &set.partitions[0] {
        assert_eq!(Pdb::load(file).unwrap().kind(), Kind::Regions);
    }
    // What is there is not built again, and what is something else is not lost.
    refused(dir, &build, 1, "'set/set.json' already exists");
    let first = set.partitions[0][0].clone();
    let before = first.metadata().unwrap().modified().unwrap();
    stdout(dir, &[&build[..], &["--force"]].concat());
    assert_eq!(first.metadata().unwrap().modified().unwrap(), before);
    std::fs::remove_file(dir.join("set/set.json")).unwrap();
    std::fs::write(&first, "mine").unwrap();
    refused(dir, &build, 2, "is not a database of this set");
    assert_eq!(std::fs::read(&first).unwrap(), b"mine");
    stdout(dir, &[&build[..], &["--force"]].concat());

    let one = solve(dir, &["--pdb", "set/set.json"]);
    assert_eq!(one["length"], 31);
    let rate = ["set", "rate", "set/set.json", "--samples", "300", "--format", "jsonl"];
    let rated = lines(&stdout(dir, &rate));
    assert_eq!(rated[0]["partition"], "8");
    assert_eq!(rated[1]["partition"], "all together");
    assert_eq!(rated[0]["mean"], rated[1]["mean"]);
    let mean = rated[0]["mean"].as_f64().unwrap();
    // All eight tiles: the distances themselves, 21.97 on average.
    assert!((21.5..22.5).contains(&mean), "{mean}");

    // A second partition, beside the file and named by it.
    let other = ["build", "3x3", "--pattern", "1,2,4,5,7", "-o", "set/x.pdb"];
    stdout(dir, &other);
    let rest = ["build", "3x3", "--pattern", "3,6,8", "-o", "set/y.pdb"];
    stdout(dir, &rest);
    let weak = vec![dir.join("set/x.pdb"), dir.join("set/y.pdb")];
    let other = SetFile { partitions: vec![weak.clone()] };
    other.write(dir.join("set/other.json"), false).unwrap();
    let other = solve(dir, &["--pdb", "set/other.json"]);
    let mut two = set.clone();
    two.partitions.push(weak);
    two.write(dir.join("set/two.json"), false).unwrap();
    assert!(std::fs::read_to_string(dir.join("set/two.json")).unwrap().contains("\"x.pdb\""));
    let both = solve(dir, &["--pdb", "set/two.json"]);
    assert_eq!(both["length"], 31);
    assert_eq!(both["nodes"], one["nodes"]);
    assert!(both["nodes"].as_u64() < other["nodes"].as_u64(), "{both} {other}");
    let rate = ["set", "rate", "set/two.json", "--samples", "300", "--format", "jsonl"];
    let rated = lines(&stdout(dir, &rate));
    let mean = |i: usize| rated[i]["mean"].as_f64().unwrap();
    assert!(mean(2) >= mean(0).max(mean(1)) && mean(2) > mean(0).min(mean(1)));
}

/// The nodes of each threshold are those of the search, and what is left is told.
#[test]
fn searches_are_rated_by_their_thresholds() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let build = ["build", "3x3", "--pattern", "1,2,3,4", "-o", "a.pdb"];
    stdout(dir, &build);
    let rate = |extra: &[&str]| {
        let args = ["set", "rate", "a.pdb", "--samples", "1", "--boards", "-", "--format", "jsonl"];
        let input = "8 6 7/2 5 4/3 0 1\n";
        let output =
            tilewave(dir, &[&args[..], extra].concat()).write_stdin(input).output().unwrap();
        assert!(output.status.success());
        lines(&String::from_utf8(output.stdout).unwrap()).pop().unwrap()
    };
    let whole = rate(&[]);
    assert_eq!(whole["length"], 31);
    let thresholds = whole["thresholds"].as_array().unwrap();
    let nodes = thresholds.iter().map(|pair| pair[1].as_u64().unwrap());
    assert_eq!(nodes.sum::<u64>(), whole["nodes"].as_u64().unwrap());
    assert_eq!(thresholds.last().unwrap()[0], 31);
    let part = rate(&["--max-nodes", "2000"]);
    assert_eq!(part["length"], Value::Null);
    assert!(part["at_least"].as_u64().unwrap() < 31);
    let done = part["thresholds"].as_array().unwrap();
    assert_eq!(done[..], thresholds[..done.len()]);
    assert!(part["growth"].as_f64().unwrap() > 1.0, "{part}");
}

#[test]
fn wrong_sets_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let set = |text: &str| std::fs::write(dir.join("s.json"), text).unwrap();
    let rate = ["set", "rate", "s.json"];
    refused(dir, &rate, 1, "cannot read 's.json'");
    for (text, words) in [
        ("{}", "is not a set of pattern databases"),
        ("[", "is not a set of pattern databases"),
        (r#"{"tilewave_set": 2, "partitions": []}"#, "version 2"),
        (r#"{"tilewave_set": 1, "partitions": []}"#, "a partition is missing or empty"),
        (r#"{"tilewave_set": 1, "partitions": [[]]}"#, "a partition is missing or empty"),
        (r#"{"tilewave_set": 1, "partitions": [["no.pdb"]]}"#, "no.pdb"),
    ] {
        set(text);
        refused(dir, &rate, 1, words);
    }
    refused(dir, &["set", "rate", "s.json", "x.pdb"], 2, "pass only the set file");
    let tiny = ["set", "build", "5x5", "-o", "set", "--memory", "1MB"];
    refused(dir, &tiny, 1, "needs");
}

#[test]
fn a_set_that_is_too_large_for_the_memory_keeps_its_levels_on_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let build = |memory, output| ["set", "build", "4x4", "-M", memory, "-o", output];
    let (small, large) = (build("300MB", "small"), build("2GB", "large"));
    for text in [stdout(dir, &small), stdout(dir, &large)] {
        assert!(text.contains("set.json: 7-8, "), "{text}");
    }
    let files = |set: &str| {
        let entries = std::fs::read_dir(dir.join(set)).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    };
    // Nothing is left of the levels.
    assert_eq!(files("small"), files("large"));
    assert_eq!(files("small").len(), 3);
    for name in files("large") {
        let [one, other] = ["small", "large"].map(|set| dir.join(set).join(&name));
        assert!(std::fs::read(one).unwrap() == std::fs::read(other).unwrap());
    }
    // What somebody keeps under the name of the lock is not lost with it.
    let (levels, mine) = (dir.join("mine"), dir.join("mine/lock"));
    std::fs::create_dir(&levels).unwrap();
    std::fs::write(&mine, "mine").unwrap();
    tilewave::internals::remove_unused(&levels);
    assert_eq!(std::fs::read(&mine).unwrap(), b"mine");
    std::fs::write(&mine, "").unwrap();
    tilewave::internals::remove_unused(&levels);
    assert!(!levels.exists());
}

#[test]
fn tilings_cover_all_tiles_and_keep_those_around_the_blank_together() {
    // The corners, then the cells beside them.
    for (size, cells, partitions) in [
        ("4x4", &[0, 3, 12, 15][..], 1),
        ("5x5", &[0, 4, 20, 24], 4),
        ("5x5", &[1, 3, 5, 9, 15, 19, 21, 23], 4),
    ] {
        for &blank in cells {
            let goal = goal(size, &format!("blank={blank}"));
            let all = tilings(&goal).unwrap();
            assert_eq!(all.len(), partitions, "{size} {blank}");
            let side = goal.size().cols();
            let beside = (0..side * side).filter(|&at| {
                (at / side).abs_diff(blank / side) + (at % side).abs_diff(blank % side) == 1
            });
            let beside: Vec<u16> = beside.map(|at| goal.tiles()[at]).collect();
            for patterns in all {
                check_partition(&patterns).unwrap();
                let holds = |pattern: &Pattern| beside.iter().all(|t| pattern.tiles().contains(t));
                assert!(patterns.iter().any(holds), "{size} {blank}");
            }
        }
    }
    assert!(tilings(&goal("5x5", "blank=12")).unwrap().is_empty());
    assert!(tilings(&goal("3x4", "last")).unwrap().is_empty());
}

/// Boards and goals without a list have partitions of patterns as large as fit, as many as are looked through quickly.
#[test]
fn sets_of_any_goal_have_large_patterns() {
    for (size, blank, most, partitions) in [
        ("3x5", "blank=2", 8, 3), // seen in two ways: rows from both ends, and columns
        ("3x5", "blank=1", 8, 4),
        ("4x4", "blank=5", 8, 2), // columns are rows seen along the diagonal
        ("5x5", "blank=12", 7, 1), // seen in eight ways
        ("3x4", "last", 7, 4),
        ("2x2", "last", 3, 1),
    ] {
        let goal = goal(size, blank);
        let all = sweeps(&goal, most).unwrap();
        assert_eq!(all.len(), partitions, "{size} {blank}");
        for patterns in &all {
            check_partition(patterns).unwrap();
            assert_eq!(patterns.iter().map(|p| p.tiles().len()).max(), Some(most));
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for (memory, shapes, file) in [
        ("1GB", "8-3; 8-3; 8-3; 8-3", "3x4_1-2-3-4-5-6-7-8.pdb"),
        ("30MB", "7-4; 7-4; 7-4; 7-4", "3x4_5-6-7-8-9-10-11.pdb"),
    ] {
        let build = ["set", "build", "3x4", "-j", "1", "-M", memory, "-o", memory];
        let text = stdout(dir, &build);
        let wrote = format!("wrote {memory}/set.json: {shapes}, ");
        assert!(text.starts_with(&wrote), "{text}");
        assert!(dir.join(memory).join(file).exists());
    }
    let rate = |set| {
        let rate = ["set", "rate", set, "--samples", "500", "--format", "jsonl"];
        lines(&stdout(dir, &rate)).pop().unwrap()["mean"].as_f64().unwrap()
    };
    // The distances are 35.10 on average.
    let [large, small] = ["1GB/set.json", "30MB/set.json"].map(rate);
    assert!(large > small && small > 31.1 && large < 35.2, "{large} {small}");
}

#[test]
fn a_plan_says_what_a_build_then_takes() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let what = ["4x4", "--pattern", "1,2,3,5,6,7", "--encoding", "bit"];
    let plan = [&["plan"], &what[..], &["--format", "jsonl"]].concat();
    let plan: Value = serde_json::from_str(&stdout(dir, &plan)).unwrap();
    let build = [&["build"], &what[..], &["-o", "x.pdb", "--format", "jsonl"]].concat();
    let built: Value = serde_json::from_str(&stdout(dir, &build)).unwrap();
    assert_eq!(plan["entries"], built["entries"]);
    assert_eq!(plan["kind"], "region-aware");
    let [data, file] = [&plan["bytes"], &built["bytes"]].map(|n| n.as_u64().unwrap());
    assert!(data < file && file < data + 100_000, "{data} {file}");
    assert!(plan["seconds"].as_f64().unwrap() > 0.0);
    let words = stdout(dir, &[&["plan"], &what[..]].concat());
    assert!(words.starts_with("1,2,3,5,6,7  region-aware, bit: "), "{words}");
    let tight = [&["plan"], &what[..], &["--memory", "1MB"]].concat();
    refused(dir, &tight, 1, "needs");
    let csv = ["plan", "3x3", "--pattern", "1,2", "--pattern", "3,4", "--format", "csv"];
    let csv = stdout(dir, &csv);
    assert_eq!(csv.lines().count(), 3);
    assert!(csv.starts_with("tiles,entries,bytes,memory_bytes,seconds\n"), "{csv}");
}
