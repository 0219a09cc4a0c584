//! The searches in docs/results: each comes to its whole space, says what is published, and is found again; what is
//! made from them is up to date; a damaged file is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;
use tilewave::puzzle::{Board, PuzzleSpec, Searched, StateSpace};
use tilewave::report::published_for;
use tilewave::search::Search;

use crate::program::root;

mod bitmaps;
mod bounds;
mod claims;
mod depths;
mod graphs;
mod korf;
mod listed;
mod samples;

#[derive(Deserialize)]
struct Found {
    name: String,
    puzzle: String,
    metric: Option<String>,
    goal: String,
    complete: bool,
    counts: Vec<u64>,
    checksums: Vec<String>,
    diameter: usize,
    antipodes: u64,
    last: Option<Vec<String>>,
    agrees_with: Option<String>,
    confirmed: Vec<serde_json::Value>,
}

impl Found {
    fn space(&self) -> StateSpace {
        let word = match self.puzzle.as_str() {
            "dino" => root().join("tests/data/puzzles/dino.gap").to_str().unwrap().into(),
            word => word.into(),
        };
        let metric = self.metric.as_ref();
        let spec = PuzzleSpec {
            word,
            // Of others than boards, the goal is what they begin with.
            goal: metric.map(|_| self.goal.parse().unwrap()),
            metric: metric.map(|metric| metric.parse().unwrap()),
            ..PuzzleSpec::default()
        };
        match spec.puzzle().unwrap() {
            Searched::Numbered(space) => space,
            Searched::Listed(puzzle) => panic!("{puzzle}: its states have no numbers"),
        }
    }
}

fn results() -> PathBuf {
    root().join("docs/results")
}

fn all() -> Vec<Found> {
    let files = fs::read_dir(results()).unwrap().map(|entry| entry.unwrap());
    let json = files.filter(|file| file.path().extension().is_some_and(|e| e == "json"));
    let json = json.filter(|file| file.file_name() != "levels.json");
    let read = |file: fs::DirEntry| -> Found {
        let found: Found = serde_json::from_str(&fs::read_to_string(file.path()).unwrap()).unwrap();
        assert_eq!(format!("{}.json", found.name), file.file_name().to_string_lossy());
        found
    };
    json.map(read).collect()
}

#[test]
fn every_search_comes_to_its_space_and_is_confirmed() {
    let index = fs::read_to_string(results().join("README.md")).unwrap();
    let all = all();
    for found in &all {
        let (name, space) = (&found.name, found.space());
        assert!(found.complete, "{name}");
        assert_eq!(
            Some(found.counts.iter().sum()),
            space.states(),
            "{name}: the sum of its levels"
        );
        assert_eq!(found.counts.len(), found.diameter + 1, "{name}");
        assert_eq!(found.checksums.len(), found.counts.len(), "{name}");
        assert_eq!(found.counts.last(), Some(&found.antipodes), "{name}");
        let truth = published_for(&space);
        if let Some(truth) = truth {
            assert_eq!(truth.counts(), found.counts, "{name}: {}", truth.name());
        }
        // A number that nobody else has found stands on two computations.
        let again = truth.is_some() || !found.confirmed.is_empty();
        assert!(again, "{name}");
        assert!(index.contains(&format!("| [{name}]({name}.json) |")), "{name} is in the index");
    }
    // Every goal of every board up to 12 cells, in both metrics.
    let boards = all.iter().filter(|found| found.metric.is_some());
    let small = boards.filter(|found| found.space().size().unwrap().cells() <= 12);
    assert_eq!(small.count(), 36);
}

/// What a search that is not at its end says.
#[derive(Deserialize)]
struct Begun {
    board: String,
    goal: String,
    complete: bool,
    counts: Vec<u64>,
    checksums: Vec<String>,
    level_seconds: Vec<f64>,
}

/// Searches of boards that nobody has searched to the end with this program: their first levels are as published.
#[test]
fn searches_that_have_begun_are_as_published() {
    let files = fs::read_dir(results().join("partial")).unwrap();
    let mut depths = Vec::new();
    for file in files {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let begun: Begun = serde_json::from_str(&text).unwrap();
        let space = StateSpace::of_board(Board::parse(&begun.goal, None).unwrap());
        let truth = published_for(&space).unwrap();
        assert!(!begun.complete);
        assert_eq!(begun.counts, truth.counts()[..begun.counts.len()]);
        assert_eq!(begun.checksums.len(), begun.counts.len());
        assert_eq!(begun.level_seconds.len(), begun.counts.len());
        depths.push((begun.board, begun.counts.len() - 1));
    }
    depths.sort();
    let begun = [("2x8", 50), ("4x4", 34)].map(|(board, depth)| (board.to_string(), depth));
    assert_eq!(depths, begun);
}

#[test]
fn small_searches_are_found_again() {
    let mut compared = 0;
    for found in all() {
        let space = found.space();
        let elements = space.size().map_or(11, |size| size.cells() + 2);
        if elements > 11 || space.states().unwrap() > 363_000 {
            continue;
        }
        let mut search = Search::of(space.clone());
        search.keep_last = 1000;
        let outcome = search.run().unwrap();
        assert_eq!(outcome.counts, found.counts, "{}", found.name);
        let checksums = outcome.checksums.iter().map(|c| format!("{c:016x}"));
        assert_eq!(checksums.collect::<Vec<_>>(), found.checksums, "{}", found.name);
        let last = outcome.last.numbered().iter().map(|&state| space.text(state));
        assert_eq!(Some(last.collect()), found.last, "{}", found.name);
        compared += 1;
    }
    assert!(compared > 50, "{compared}");
}

/// Runs tools/results over a directory, `None` where there is no Python.
#[allow(clippy::print_stderr)]
fn tool(directory: &Path, arguments: &[&str]) -> Option<Output> {
    let run = Command::new("python3")
        .arg(root().join("tools/results"))
        .args(arguments)
        .env("TILEWAVE_RESULTS", directory)
        .env("TILEWAVE", crate::program::binary())
        .output();
    if run.is_err() {
        eprintln!("\n*** SKIPPED: python3 is not installed ***\n");
        assert!(std::env::var_os("TILEWAVE_REQUIRE_ALL").is_none());
    }
    run.ok()
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_is_made_from_the_searches_is_up_to_date() {
    let Some(check) = tool(&results(), &["check"]) else {
        return;
    };
    assert!(check.status.success(), "{}", error(&check));
    let index = tool(&results(), &["index", "--check"]).unwrap();
    assert!(index.status.success(), "{}", error(&index));
    let atlas = fs::metadata(results().join("atlas.html")).unwrap();
    assert!(atlas.len() < 2_000_000, "{} bytes", atlas.len());

    // Made anew, and stale where a search is missing.
    let dir = tempfile::tempdir().unwrap();
    for name in ["3x3.json", "3x3-mtm.json", "pancake-5.json"] {
        fs::copy(results().join(name), dir.path().join(name)).unwrap();
    }
    let readme = "before\n<!-- table: tools/results index -->\n<!-- end of table -->\nafter\n";
    fs::write(dir.path().join("README.md"), readme).unwrap();
    let stale = tool(dir.path(), &["index", "--check"]).unwrap();
    assert_eq!(stale.status.code(), Some(1));
    assert!(error(&stale).contains("atlas.html"), "{}", error(&stale));
    assert!(tool(dir.path(), &["index"]).unwrap().status.success());
    assert!(tool(dir.path(), &["index", "--check"]).unwrap().status.success());
    let readme = fs::read_to_string(dir.path().join("README.md")).unwrap();
    assert!(readme.starts_with("before\n") && readme.ends_with("after\n"));
    assert_eq!(readme.matches(".json)").count(), 3, "{readme}");
    let bfile = fs::read_to_string(dir.path().join("bfiles/pancake-5.txt")).unwrap();
    assert!(bfile.ends_with("\n0 1\n1 4\n2 12\n3 35\n4 48\n5 20\n"), "{bfile}");
    fs::remove_file(dir.path().join("pancake-5.json")).unwrap();
    let stale = tool(dir.path(), &["index", "--check"]).unwrap();
    assert!(error(&stale).contains("bfiles/pancake-5.txt"), "{}", error(&stale));
}

#[test]
fn a_damaged_file_is_refused_and_named() {
    let read = |name: &str| fs::read_to_string(results().join(name)).unwrap();
    let original = read("3x4-blank1.json");
    let moved = original.replacen("\"counts\": [1, 3, 6,", "\"counts\": [1, 2, 7,", 1);
    let checksums = original.find("\"checksums\"").unwrap() + 20;
    let mut digit = original.clone().into_bytes();
    digit[checksums] = if digit[checksums] == b'0' { b'1' } else { b'0' };
    let states = read("pieces/torus-2x4.json");
    let states = states.replacen("\"states\": \"20160\"", "\"states\": \"40320\"", 1);
    let depths = read("depths/2x9.json").replacen("20282", "20283", 1);
    let cases = [
        ("3x4-blank1.json", moved, "the seal does not fit"),
        ("3x4-blank1.json", String::from_utf8(digit).unwrap(), "the seal does not fit"),
        ("3x4-blank1.json", original.replacen("21", "12", 1), "the seal does not fit"),
        ("3x4-blank1.json", original[..2000].into(), "no JSON"),
        ("3x4-blank1.json", "{}\n".into(), "no result of a search"),
        ("3x4-blank4.json", original.clone(), "another search"),
        ("4x3.json", original.clone(), "no search of this name"),
        ("pieces/torus-2x4.json", states, "it is not a search of all 20,160 states"),
        ("depths/2x9.json", depths, "the seal does not fit"),
    ];
    for (name, text, words) in cases {
        let before = fs::read_to_string(results().join(name)).ok();
        assert_ne!(before, Some(text.clone()), "{words}: it is damaged");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let Some(check) = tool(dir.path(), &["check"]) else {
            return;
        };
        assert_eq!(check.status.code(), Some(1), "{words}");
        let said = error(&check);
        assert!(
            said.contains(&format!("error: {name}: ")) && said.contains(words),
            "{words}: {said}"
        );
        assert!(!said.contains("Traceback"), "{said}");
    }
}

/// Counts that were changed together with their seal, so that the sum stays what it is.
#[test]
fn states_on_levels_of_the_other_colour_are_noticed() {
    let program = "
import importlib.machinery, importlib.util, sys
loader = importlib.machinery.SourceFileLoader('results', sys.argv[1])
results = importlib.util.module_from_spec(importlib.util.spec_from_loader('results', loader))
loader.exec_module(results)
search, = results.selected(['3x4-blank1'])
found = results.read(search)
found['counts'][1] -= 1
found['counts'][2] += 1
depths = enumerate(found['counts'])
found['mean_depth'] = sum(depth * count for depth, count in depths) / sum(found['counts'])
results.write(search.path, found)
";
    let dir = tempfile::tempdir().unwrap();
    let name = "3x4-blank1.json";
    fs::copy(results().join(name), dir.path().join(name)).unwrap();
    let Some(before) = tool(dir.path(), &["check"]) else {
        return;
    };
    assert!(before.status.success(), "{}", error(&before));
    let tools = crate::program::root().join("tools/results");
    let changed = Command::new("python3")
        .args(["-c", program])
        .arg(tools)
        .env("TILEWAVE_RESULTS", dir.path())
        .output()
        .unwrap();
    assert!(changed.status.success(), "{}", error(&changed));
    let check = tool(dir.path(), &["check"]).unwrap();
    assert_eq!(check.status.code(), Some(1));
    let said = error(&check);
    assert!(said.contains("its even levels have not") && !said.contains("seal"), "{said}");
}

#[test]
fn searches_are_made_confirmed_and_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let names = ["2x3-blank1", "2x4-mtm", "coxeter-7", "lx-5", "topspin-7-5"];
    let compute = |more: &[&str]| tool(dir.path(), &[&["compute"], &names[..], more].concat());
    let Some(made) = compute(&[]) else {
        return;
    };
    assert!(made.status.success(), "{}", error(&made));
    let check = tool(dir.path(), &["check"]).unwrap();
    assert!(check.status.success(), "{}", error(&check));
    let file = |name: &str| dir.path().join(format!("{name}.json"));
    let read = |path: PathBuf| -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    };
    for name in names {
        let (new, old) = (read(file(name)), read(results().join(format!("{name}.json"))));
        for key in ["counts", "checksums", "last", "solutions", "goal"] {
            assert_eq!(new[key], old[key], "{name}: {key}");
        }
        let by = |found: &serde_json::Value| -> Vec<String> {
            let all = found["confirmed"].as_array().unwrap().iter();
            let mut by: Vec<String> = all.map(|c| c["by"].to_string()).collect();
            by.sort();
            by
        };
        assert_eq!(by(&new), by(&old), "{name}");
        assert!(!by(&new).is_empty(), "{name}");
    }
    // All is there: nothing is computed again. What is missing is.
    assert!(compute(&[]).unwrap().stdout.is_empty());
    let mut half = read(file("2x4-mtm"));
    let whole = half.clone();
    half["confirmed"].as_array_mut().unwrap().clear();
    half.as_object_mut().unwrap().remove("solutions");
    fs::write(file("2x4-mtm"), half.to_string()).unwrap();
    assert!(compute(&[]).unwrap().status.success());
    let again = read(file("2x4-mtm"));
    assert_eq!(again["solutions"], whole["solutions"]);
    assert_eq!(again["checksums"], whole["checksums"]);
    assert_eq!(again["confirmed"].as_array().unwrap().len(), 4);
    // A computation that comes to something else is told, and nothing is written.
    half["counts"][3] = 13.into();
    fs::write(file("2x4-mtm"), half.to_string()).unwrap();
    let wrong = compute(&[]).unwrap();
    assert_eq!(wrong.status.code(), Some(1));
    assert!(
        error(&wrong).contains("2x4-mtm: ") && error(&wrong).contains("other counts from depth 3"),
        "{}",
        error(&wrong)
    );
    assert_eq!(read(file("2x4-mtm")), half);
    let none = tool(dir.path(), &["compute", "3x9"]).unwrap();
    assert_eq!(error(&none).lines().count(), 1, "{}", error(&none));
}
