//! The README is true: its commands run, its table of results is right, its links lead somewhere.

use std::path::Path;

use assert_cmd::Command;

const README: &str = include_str!("../README.md");

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

#[test]
fn every_command_of_the_readme_runs() {
    let dir = tempfile::tempdir().unwrap();
    let mut ran = 0;
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
        ran += 1;
    }
    assert!(ran >= 9, "the README shows its commands");
    assert!(dir.path().join("3x3.png").exists() && dir.path().join("2x4.csv").exists());
}

#[test]
fn the_table_of_results_is_published_truth() {
    let rows = README
        .lines()
        .filter(|line| line.starts_with("| 2x") || line.starts_with("| 3x"));
    let mut checked = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let Ok(size) = cells[1].parse::<tilewave::puzzle::tiles::Size>() else {
            continue;
        };
        // The table of speeds has seconds there.
        let number = |text: &str| text.replace(',', "").parse::<u64>().ok();
        let Some(states) = number(cells[2]) else {
            continue;
        };
        let truth = tilewave::report::published(size, size.cells() - 1).unwrap();
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
    for target in README
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
    {
        if !target.contains("://") {
            assert!(root.join(target).exists(), "{target}");
            links += 1;
        }
    }
    assert!(links >= 5);
    assert!(README.lines().count() <= 150);
}
