//! The complete searches in docs/results/pieces: their puzzles have as many states, small ones are found again, and
//! what is said to be new is in no data file.

use std::fs;

use serde::Deserialize;
use tilewave::frontier::FrontierSearch;
use tilewave::puzzle::formats;
use tilewave::puzzle::{Goal, Metric, StateSpace};
use tilewave::puzzle::{Puzzle, Turns};

use super::claims::{has, texts};
use super::{error, results, root, tool};

#[derive(Deserialize)]
struct Listed {
    name: String,
    command: String,
    /// None where the program does not know it.
    states: Option<String>,
    counts: Vec<u64>,
    checksums: Vec<String>,
    diameter: usize,
    antipodes: u64,
    last: Vec<String>,
    confirmed: Vec<serde_json::Value>,
}

impl Listed {
    fn puzzle(&self) -> Puzzle {
        let words: Vec<&str> = self.command.split(' ').collect();
        let option = |name: &str| {
            let at = words.iter().position(|word| *word == name);
            at.map(|at| words[at + 1])
        };
        let target = words[2];
        if target.ends_with(".tws") {
            assert_eq!(target, format!("docs/results/pieces/{}.tws", self.name));
            let text = fs::read_to_string(root().join(target)).unwrap();
            let counting = Some(Turns::Quarter);
            let puzzle = formats::read(target, &text, counting).unwrap();
            assert!(puzzle.labels().is_empty(), "{target}: no puzzle of sets of pieces");
            return puzzle.counting(Turns::Quarter).unwrap();
        }
        let space = StateSpace::of_board(Goal::Last.board(target.parse().unwrap()).unwrap());
        let metric = if option("--metric").is_some() { Metric::Mtm } else { Metric::Stm };
        let same: Vec<String> = option("--same").unwrap().split(',').map(String::from).collect();
        Puzzle::of_space(&space.in_metric(metric)).unwrap().alike(&same).unwrap()
    }
}

fn all() -> Vec<Listed> {
    let files = fs::read_dir(results().join("pieces")).unwrap().map(|file| file.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|ending| ending == "json"));
    files.map(|file| serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()).collect()
}

#[test]
fn searches_of_turning_and_equal_pieces_are_found_again() {
    let index = fs::read_to_string(results().join("README.md")).unwrap();
    let mut data = Vec::new();
    texts(&root().join("tests/data"), &mut data);
    let (all, mut again) = (all(), 0);
    for listed in &all {
        let (name, puzzle) = (&listed.name, listed.puzzle());
        let line = |line: &&str| line.starts_with(&format!("| [{name}](pieces/{name}.json) |"));
        let line = index.lines().find(line).unwrap_or_else(|| panic!("{name} is not in the index"));
        let known = data.iter().find(|(_, rows)| rows.iter().any(|row| has(row, &listed.counts)));
        let is_new = line.contains("**not found**");
        assert_eq!(known.is_none(), is_new, "{name}: {:?}", known.map(|(file, _)| file));
        let total = listed.counts.iter().sum::<u64>();
        let states = puzzle.states().map(|states| states.to_string());
        assert_eq!(states, listed.states, "{name}");
        assert!(states.is_none_or(|states| states == total.to_string()), "{name}");
        let (last, antipodes) = (listed.counts.len() - 1, listed.counts.last());
        assert_eq!((last, antipodes), (listed.diameter, Some(&listed.antipodes)), "{name}");
        let by = |by: &str| listed.confirmed.iter().any(|one| one["by"] == by);
        assert!(by("kernel") && by("plain"), "{name}");
        let mut search = FrontierSearch::new(puzzle.clone());
        let is_small = total < 400_000;
        if !is_small {
            search.max_depth = listed.counts.iter().position(|&count| count > 20_000);
        }
        let found = search.keep_last(100).run().unwrap();
        let depth = found.counts.len();
        assert_eq!(found.counts, listed.counts[..depth], "{name}");
        let sums = found.checksums.iter().map(|sum| format!("{sum:016x}"));
        assert_eq!(sums.collect::<Vec<_>>(), listed.checksums[..depth], "{name}");
        if is_small {
            again += 1;
            assert!(found.complete && depth == listed.counts.len(), "{name}");
            let last = found.last.listed().iter().map(|state| puzzle.text(state));
            let mut last: Vec<String> = last.collect();
            let mut expected = listed.last.clone();
            last.sort();
            expected.sort();
            assert_eq!(last, expected, "{name}");
        }
    }
    assert!(again > 10, "{again}");
}

#[test]
fn a_changed_search_of_equal_pieces_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("pieces")).unwrap();
    let to = dir.path().join("pieces/torus-2x4.json");
    let text = fs::read_to_string(results().join("pieces/torus-2x4.json")).unwrap();
    fs::write(&to, &text).unwrap();
    let Some(check) = tool(dir.path(), &["check"]) else { return };
    assert!(check.status.success(), "{}", error(&check));
    for (from, into, told) in [
        ("\"diameter\": 19", "\"diameter\": 20", "the seal does not fit"),
        (
            "\"states\": \"20160\"",
            "\"states\": \"40320\"",
            "it is not a search of all 20,160 states",
        ),
    ] {
        let changed = text.replacen(from, into, 1);
        assert_ne!(changed, text);
        fs::write(&to, changed).unwrap();
        let check = tool(dir.path(), &["check"]).unwrap();
        assert_eq!(check.status.code(), Some(1));
        assert!(error(&check).contains(told), "{}", error(&check));
    }
    // What is missing is made again: it comes to the same counts and confirms them.
    fs::remove_file(&to).unwrap();
    let made = tool(dir.path(), &["pieces", "torus-2x4"]).unwrap();
    assert!(made.status.success(), "{}", error(&made));
    let field =
        |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["counts"].clone();
    assert_eq!(field(&fs::read_to_string(&to).unwrap()), field(&text));
}
