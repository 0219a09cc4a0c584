//! What docs/results calls published nowhere: no file of tests/data may have it, and all that is made from the
//! searches must say the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tilewave::report::{published_all, published_for};

use super::{all, error, results, root, tool};

/// A row of fewer numbers is as its neighbours' rows are: most rings of LRX begin with 1, 3, 6, 12.
const TELLING: usize = 6;

/// All rows of numbers in a text, whatever its format: numbers with nothing but commas and blanks between them.
fn rows(text: &str) -> Vec<Vec<u64>> {
    let pieces = text.split(|c: char| !(c.is_ascii_digit() || c == ',' || c.is_whitespace()));
    let numbers = |piece: &str| -> Vec<u64> {
        let words = piece.split(|c: char| !c.is_ascii_digit());
        words.filter_map(|word| word.parse().ok()).collect()
    };
    let rows = pieces.map(numbers);
    rows.filter(|row| row.len() >= TELLING).collect()
}

/// The names of all texts under a directory, and their rows. Files of bytes hold no levels.
pub(super) fn texts(directory: &Path, found: &mut Vec<(String, Vec<Vec<u64>>)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(&path, found);
        } else if let Ok(text) = String::from_utf8(fs::read(&path).unwrap()) {
            found.push((path.display().to_string(), rows(&text)));
        }
    }
}

/// Whether somewhere in a row the counts are, or their beginning up to the end of the row.
pub(super) fn has(row: &[u64], counts: &[u64]) -> bool {
    (0..row.len()).any(|at| {
        let both = (row.len() - at).min(counts.len());
        both >= TELLING && row[at..at + both] == counts[..both]
    })
}

/// The searches that the table of README.md says nobody has published.
fn claimed() -> BTreeSet<String> {
    let readme = fs::read_to_string(results().join("README.md")).unwrap();
    let lines = readme.lines().filter(|line| line.contains("**not found** |"));
    let lines = lines.filter(|line| !line.contains("](depths/") && !line.contains("](pieces/"));
    let name = |line: &str| line[3..line.find(']').unwrap()].to_string();
    lines.map(name).collect()
}

#[test]
fn what_is_said_to_be_new_is_in_no_data_file() {
    let mut data = Vec::new();
    texts(&root().join("tests/data"), &mut data);
    let place = |counts: &[u64]| {
        let mut holding = data.iter().filter(|(_, rows)| rows.iter().any(|row| has(row, counts)));
        holding.next().map(|(file, _)| file.clone())
    };
    let claimed = claimed();
    let (mut new, mut old, mut wrong) = (0, 0, Vec::new());
    for found in all() {
        let (name, published) = (&found.name, published_for(&found.space()));
        let file = place(&found.counts);
        if !claimed.contains(name) {
            // What is looked for in the same way is found.
            old += usize::from(file.is_some());
            assert!(published.is_none() || file.is_some() || found.counts.len() < 6);
            continue;
        }
        new += 1;
        wrong.extend(file.map(|file| format!("{name}: its levels are in {file}")));
        wrong.extend(published.map(|p| format!("{name}: published in {}", p.citation())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(new > 20 && old > 90, "{new} new, {old} published");
    assert_eq!(new, claimed.len(), "each is a search");
}

/// A row that the program does not know is no row that anything is held against.
#[test]
fn every_published_row_is_known_to_the_program() {
    let named = |file: &str| {
        let text = fs::read_to_string(root().join("tests/data").join(file)).unwrap();
        let all: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
        all.keys().filter(|key| !key.starts_with('_')).count()
    };
    let rows = named("growth.json") + named("distributions.json");
    assert_eq!(rows, published_all().count());
}

#[test]
fn all_that_is_made_from_the_searches_claims_the_same() {
    let claimed = claimed();
    let page = fs::read_to_string(results().join("atlas.html")).unwrap();
    let searches = page.split("\"searches\":").nth(1).unwrap();
    let mut searches = serde_json::Deserializer::from_str(searches).into_iter::<Vec<Value>>();
    let searches = searches.next().unwrap().unwrap();
    let nowhere = searches
        .iter()
        .filter(|s| s["cite"].as_array().unwrap().is_empty() && s["known"].is_null());
    let nowhere: BTreeSet<String> =
        nowhere.map(|s| s["name"].as_str().unwrap().to_string()).collect();
    assert_eq!(nowhere, claimed, "atlas.html");
    // The files themselves name what they agree with.
    for found in all() {
        let cited = published_for(&found.space()).map(|published| published.citation());
        assert_eq!(found.agrees_with, cited, "{}", found.name);
    }
    // The list of what is new names them all, and nothing else: names or beginnings of names, as code.
    let readme = fs::read_to_string(results().join("README.md")).unwrap();
    let list = readme.split("## New results").nth(1).unwrap();
    let list = list.lines().skip_while(|line| !line.starts_with('*'));
    let list: Vec<&str> = list.take_while(|line| !line.is_empty()).collect();
    let list = list.join("\n");
    let names: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
    let names = || names.iter().map(|name| name.split_at(name.find('*').unwrap_or(name.len())));
    let is = |name: &str, (front, star): (&str, &str)| match star {
        "" => name == front,
        _ => name.starts_with(front),
    };
    let listed = all().into_iter().map(|found| found.name);
    let listed = listed.filter(|name| names().any(|pattern| is(name, pattern)));
    assert_eq!(listed.collect::<BTreeSet<_>>(), claimed, "README.md");
}

/// Something is published after it was searched, or was overlooked: the file follows without a search.
#[test]
fn a_file_follows_what_is_published() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pancake-5.json");
    let text = fs::read_to_string(results().join("pancake-5.json")).unwrap();
    let cited = "\"agrees_with\": \"cayleypy/cayleypy@7355621\"";
    assert!(text.contains(cited));
    fs::write(&path, text.replace(cited, "\"agrees_with\": null")).unwrap();
    let Some(check) = tool(dir.path(), &["check"]) else {
        return;
    };
    assert_eq!(check.status.code(), Some(1));
    let words = "it is published by cayleypy/cayleypy@7355621, not by nobody as it says";
    assert!(error(&check).contains(words), "{}", error(&check));
    let compute = tool(dir.path(), &["compute", "pancake-5"]).unwrap();
    assert!(compute.status.success(), "{}", error(&compute));
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "seal and all");
    // What differs agrees with nothing.
    let moved = text.replace(cited, "\"agrees_with\": null");
    let moved =
        moved.replace("\"counts\": [1, 4, 12, 35, 48, 20]", "\"counts\": [1, 4, 12, 35, 47, 21]");
    fs::write(&path, &moved).unwrap();
    let compute = tool(dir.path(), &["compute", "pancake-5"]).unwrap();
    assert_eq!(compute.status.code(), Some(1));
    assert!(error(&compute).contains("differs from"), "{}", error(&compute));
    assert_eq!(fs::read_to_string(&path).unwrap(), moved);
}

/// The table of facts names, for each file that it links, God's number, or the states at the last depth.
#[test]
fn facts_are_those_of_their_files() {
    let page = fs::read_to_string(results().join("README.md")).unwrap();
    let facts = page.split("\n## ").find(|part| part.starts_with("Eleven facts")).unwrap();
    let rows: Vec<&str> = facts.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert_eq!(rows.len(), 11);
    let mut compared = 0;
    for row in rows {
        let (fact, links) = row[2..].split_once(" | ").unwrap();
        let numbers: Vec<String> = fact
            .split(|c: char| !c.is_ascii_digit() && c != ',')
            .map(|word| word.replace(',', ""))
            .collect();
        for link in links.split('(').skip(1).filter_map(|link| link.split_once(".json")) {
            let file = fs::read_to_string(results().join(format!("{}.json", link.0))).unwrap();
            let file: Value = serde_json::from_str(&file).unwrap();
            let last = file["counts"].as_array().unwrap().last().unwrap();
            let said = if file["complete"] == true { &file["diameter"] } else { last };
            assert!(numbers.contains(&said.to_string()), "{}: {said} is not in '{fact}'", link.0);
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared}");
}
