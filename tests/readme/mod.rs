//! The README is true: its commands run, its table of results is right, its links lead somewhere.

use std::path::Path;

use assert_cmd::Command;

mod documents;

const README: &str = include_str!("../../README.md");

/// The shell lines of the README, comments removed.
fn shell_lines() -> Vec<String> {
    let mut lines = Vec::new();
    for block in README.split("```sh\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        for line in block.lines() {
            let line = line.split(" # ").next().unwrap_or_default().trim();
            if !line.is_empty() {
                lines.push(line.to_string());
            }
        }
    }
    lines
}

/// Splits a command line at spaces, double quotes respected.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in line.split('"').enumerate() {
        if i % 2 == 1 {
            words.push(part.to_string());
        } else {
            words.extend(part.split_whitespace().map(String::from));
        }
    }
    words
}

/// What each command of the README says, by its first words.
const SAYS: &[(&str, &[&str])] = &[
    ("bfs 3x4", &["239,500,800", "diameter    53", "all 54 levels equal"]),
    ("bfs 3x3 --plot", &["diameter    31"]),
    ("bfs 2x4 --format csv", &[]),
    ("bfs 3x3 --goal blank=4", &["diameter    30"]),
    ("antipodes 3x3", &["8 6 7/2 5 4/3 0 1", "6 4 7/8 5 0/3 2 1"]),
    ("state \"8 6 7", &["solvable  yes"]),
    ("bfs 3x3 --metric mtm", &["diameter    24", "all 25 levels equal"]),
    ("bfs topspin:9,4", &["order 181,440, all reached", "all 24 levels equal"]),
    ("verify 2x4 3x3", &["2x4", "3x3", "PASS"]),
    ("plan 2x7", &["43,589,145,600"]),
    ("bfs 2x5 --dir run", &["1,814,400", "diameter    55"]),
    ("status run", &["complete"]),
    ("verify run", &["PASS"]),
    ("bfs 3x3 --html", &["diameter    31"]),
    ("table 2x5", &[]),
    ("table lrx:8", &["40,320 states"]),
    ("state --table", &["depth     43"]),
    ("solve \"5 1 7 3", &["15 moves"]),
    ("solve --certify", &["31 moves", "certified"]),
    ("solve --fast", &["moves"]),
    ("scramble 4x4 --count 3", &["/"]),
    ("pdb build", &[]),
    ("solve \"5 1 2 3", &["11 moves"]),
    ("pdb set build", &["set12/set.json: 8-3; 8-3; 8-3; 8-3"]),
    ("export", &[]),
];

/// The files that a command line names as outputs.
fn outputs(words: &[String]) -> Vec<&String> {
    const OUTPUTS: [&str; 7] = ["-o", "--plot", "--html", "--cnf", "--lp", "--mps", "--dir"];
    let named = words.windows(2).filter(|pair| OUTPUTS.contains(&pair[0].as_str()));
    named.map(|pair| &pair[1]).collect()
}

#[test]
fn every_command_of_the_readme_does_what_it_says() {
    let dir = tempfile::tempdir().unwrap();
    let mut said = 0;
    for line in shell_lines() {
        let line = line.replace("cargo run --release --", "tilewave");
        let words = words(&line);
        if words[0] != "tilewave" {
            assert_eq!(line, "cargo test --release", "a command that no test runs");
            continue;
        }
        let mut command = Command::cargo_bin("tilewave").unwrap();
        command
            .args(&words[1..])
            .current_dir(dir.path())
            .env_remove("TILEWAVE_KERNEL")
            .env("XDG_CACHE_HOME", dir.path());
        let output = command.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {error}");
        let arguments = line.strip_prefix("tilewave ").unwrap();
        let expected = SAYS.iter().find(|(begin, _)| arguments.starts_with(begin));
        let (_, expected) =
            expected.unwrap_or_else(|| panic!("'{line}': say in SAYS what it prints"));
        let text = String::from_utf8(output.stdout).unwrap();
        for part in *expected {
            assert!(text.contains(part), "{line}: no '{part}' in\n{text}");
        }
        let files = outputs(&words);
        assert!(!files.is_empty() || !expected.is_empty(), "{line}: nothing to see");
        for file in files {
            let written = dir.path().join(file);
            let written =
                std::fs::metadata(&written).unwrap_or_else(|e| panic!("{line}: {file}: {e}"));
            assert!(written.len() > 20, "{line}: {file} is empty");
        }
        said += 1;
    }
    // The first command stands in the README twice.
    assert_eq!(said, SAYS.len() + 1, "every command is there");
}

#[test]
fn the_table_of_results_is_published_truth() {
    let rows = README.lines().filter(|line| line.starts_with("| 2x") || line.starts_with("| 3x"));
    let mut checked = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let Ok(size) = cells[1].parse::<tilewave::puzzle::Size>() else {
            continue;
        };
        // The table of speeds has seconds there.
        let number = |text: &str| text.replace(',', "").parse::<u64>().ok();
        let Some(states) = number(cells[2]) else {
            continue;
        };
        let truth =
            tilewave::report::published(size, size.cells() - 1, tilewave::puzzle::Metric::Stm)
                .unwrap();
        assert_eq!(states, truth.counts().iter().sum::<u64>(), "{size}");
        let diameter = truth.counts().len() as u64 - 1;
        assert_eq!(number(cells[3]), Some(diameter), "{size}");
        assert_eq!(number(cells[4]), truth.counts().last().copied(), "{size}");
        checked += 1;
    }
    assert_eq!(checked, 7);
}

#[test]
fn links_lead_somewhere_and_the_readme_is_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut links = 0;
    for target in README.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        if !target.contains("://") {
            assert!(root.join(target).exists(), "{target}");
            links += 1;
        }
    }
    assert!(links >= 8, "the links are seen");
    assert!(README.lines().count() < 150);
    let whom = README.lines().nth(2).unwrap();
    assert!(whom.starts_with("tilewave is for people who"), "{whom}");
}
