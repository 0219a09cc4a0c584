//! The searches by lists in docs/results/pieces and docs/results/depths: their puzzles have as many states, what is
//! published is equal, what is said to be new is in no data file, and they are found again: small ones as a whole, of
//! others the first levels.

use std::fs;

use serde::Deserialize;
use tilewave::frontier::FrontierSearch;
use tilewave::puzzle::{Puzzle, PuzzleSpec, Variant};
use tilewave::report::published_growth;

use super::claims::{has, texts};
use super::{error, results, root, tool};

#[derive(Deserialize)]
struct Listed {
    name: String,
    command: String,
    /// None where the program does not know it.
    states: Option<String>,
    counts: Vec<u64>,
    symmetries: usize,
    reduced: Option<Vec<u64>>,
    checksums: Vec<String>,
    confirmed: Vec<serde_json::Value>,
    /// Of a complete search.
    #[serde(flatten)]
    end: Option<End>,
}

#[derive(Deserialize)]
struct End {
    diameter: usize,
    antipodes: u64,
    last: Vec<String>,
}

impl Listed {
    /// The puzzle that the command searches.
    fn puzzle(&self) -> Puzzle {
        let words: Vec<&str> = self.command.split(' ').collect();
        let option = |name: &str| {
            let at = words.iter().position(|word| *word == name);
            at.map(|at| words[at + 1])
        };
        let word = match words[2].ends_with(".tws") {
            true => root().join(words[2]).to_str().unwrap().into(),
            false => words[2].into(),
        };
        let same = option("--same").map(|same| same.split(',').map(String::from).collect());
        let spec = PuzzleSpec {
            word,
            goal: option("--goal").map(|goal| goal.parse().unwrap()),
            metric: option("--metric").map(|metric| metric.parse().unwrap()),
            variant: Variant { same: same.unwrap_or_default(), ..Variant::default() },
            ..PuzzleSpec::default()
        };
        spec.listed().unwrap()
    }
}

fn all(folder: &str) -> Vec<Listed> {
    let files = fs::read_dir(results().join(folder)).unwrap().map(|file| file.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|ending| ending == "json"));
    files.map(|file| serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()).collect()
}

#[test]
fn searches_by_lists_are_found_again() {
    let index = fs::read_to_string(results().join("README.md")).unwrap();
    let mut data = Vec::new();
    texts(&root().join("tests/data"), &mut data);
    let (mut whole, mut begun) = (0, 0);
    let all = ["pieces", "depths"].map(|folder| all(folder).into_iter().map(move |l| (folder, l)));
    for (folder, listed) in all.into_iter().flatten() {
        let (name, puzzle) = (&listed.name, listed.puzzle());
        let line = |line: &&str| line.starts_with(&format!("| [{name}]({folder}/{name}.json) |"));
        let line = index.lines().find(line).unwrap_or_else(|| panic!("{name} is not in the index"));
        let known = data.iter().find(|(_, rows)| rows.iter().any(|row| has(row, &listed.counts)));
        let is_new = line.contains("**not found**");
        assert_eq!(known.is_none(), is_new, "{name}: {:?}", known.map(|(file, _)| file));
        let total = listed.counts.iter().sum::<u64>();
        let states = puzzle.states().map(|states| states.to_string());
        assert_eq!(states, listed.states, "{name}");
        let by = |by: &str| listed.confirmed.iter().any(|one| one["by"] == by);
        match &listed.end {
            Some(End { diameter, antipodes, .. }) => {
                assert!(states.is_none_or(|states| states == total.to_string()), "{name}");
                let (last, states) = (listed.counts.len() - 1, listed.counts.last());
                assert_eq!((last, states), (*diameter, Some(antipodes)), "{name}");
                assert!(by("kernel") && by("plain"), "{name}");
            }
            None => {
                begun += 1;
                assert!(states.is_some(), "{name}");
                if let Some(truth) = published_growth(&puzzle) {
                    let shared = listed.counts.len().min(truth.counts().len());
                    assert!(shared > 8, "{name}");
                    assert_eq!(listed.counts[..shared], truth.counts()[..shared], "{name}");
                }
            }
        }
        let mut search = FrontierSearch::new(puzzle.clone());
        let end = listed.end.filter(|_| total < 400_000);
        if end.is_none() {
            search.max_depth = listed.counts.iter().position(|&count| count > 20_000);
        }
        let found = search.keep_last(100).run().unwrap();
        let depth = found.counts.len();
        assert_eq!(found.counts, listed.counts[..depth], "{name}");
        assert_eq!(found.symmetries(), listed.symmetries, "{name}");
        assert_eq!(found.reduced(), listed.reduced.as_ref().map(|all| &all[..depth]), "{name}");
        let sums = found.checksums.iter().map(|sum| format!("{sum:016x}"));
        assert_eq!(sums.collect::<Vec<_>>(), listed.checksums[..depth], "{name}");
        if let Some(End { last: mut expected, .. }) = end {
            whole += 1;
            assert!(found.complete && depth == listed.counts.len(), "{name}");
            let last = found.last.listed().iter().map(|state| puzzle.text(state));
            let mut last: Vec<String> = last.collect();
            last.sort();
            expected.sort();
            assert_eq!(last, expected, "{name}");
        }
    }
    assert!(whole > 10 && begun > 10, "{whole} {begun}");
}

#[test]
fn a_search_of_equal_pieces_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("pieces")).unwrap();
    let Some(made) = tool(dir.path(), &["pieces", "torus-2x4"]) else { return };
    assert!(made.status.success(), "{}", error(&made));
    let counts = |directory: &std::path::Path| {
        let text = fs::read_to_string(directory.join("pieces/torus-2x4.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["counts"].clone()
    };
    assert_eq!(counts(dir.path()), counts(&results()));
}
