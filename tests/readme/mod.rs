//! The README is true: its commands run and print what it shows, its figures stand where they were
//! measured or published, its pictures are those of the program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, iter};

use tilewave::puzzle::{Metric, Size, Turns, named};
use tilewave::report::{Chart, published, published_growth};

use crate::program::{binary, root, run, tilewave};

mod documents;
mod json;
mod links;
mod release;

const README: &str = include_str!("../../README.md");

/// Lines that the README may have.
const LINES: usize = 140;

/// The lines of blocks of code in a language.
fn blocks(language: &str) -> impl Iterator<Item = &'static str> {
    let blocks = README.split("```").skip(1).step_by(2);
    let blocks = blocks.filter_map(move |block| block.strip_prefix(language));
    blocks.flat_map(|block| block.lines().filter(|line| !line.is_empty()))
}

/// The cells of the rows of all tables, rules left out.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = text.lines().filter(|line| line.starts_with("| "));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
}

/// The commands in tables, in their order.
fn commands_of_tables() -> Vec<&'static str> {
    let cells = rows(README).flatten();
    let spans = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    spans.filter(|span| span.starts_with("tilewave ")).collect()
}

/// The commands that are shown with what they print, and the lines of it.
fn transcript() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in blocks("console") {
        match line.strip_prefix("$ ") {
            Some(command) => all.push((command, Vec::new())),
            None => all.last_mut().expect("a command comes first").1.push(line),
        }
    }
    all
}

/// Splits a command line at spaces, double quotes respected.
pub fn words(line: &str) -> Vec<&str> {
    let quoted = line.split('"').enumerate();
    quoted
        .flat_map(|(i, part)| match i % 2 {
            1 => vec![part],
            _ => part.split_whitespace().collect(),
        })
        .collect()
}

/// What each command of a table prints, by its first words.
const SAYS: &[(&str, &[&str])] = &[
    ("bfs 3x4", &["239,500,800", "God's number  53", "all 54 levels agree"]),
    ("bfs topspin:9,4", &["181,440", "all 24 levels agree"]),
    ("bfs 2x2x2", &["3,674,160", "all 12 levels agree"]),
    ("bfs 3x3 --plot", &["God's number  31"]),
    ("bfs 3x3 --html", &["God's number  31"]),
    ("bfs 2x4 --format json", &[]),
    ("levels 3x3", &["8 6 7/2 5 4/3 0 1", "6 4 7/8 5 0/3 2 1"]),
    ("plan 2x7", &["43,589,145,600"]),
    ("bfs 2x5 --dir run", &["1,814,400", "God's number  55"]),
    ("resume run", &["God's number  55"]),
    ("info run", &["complete"]),
    ("solve \"5 1 7 3", &["15 moves"]),
    ("solve --fast", &["moves"]),
    ("solve 3x3x3", &["6 moves  B2 D' L' F U2 R'"]),
    ("table 2x5", &[]),
    ("state --table", &["depth     43"]),
    ("pdb build", &[]),
    ("pdb set build", &["set12/set.json: 8-3; 8-3; 8-3; 8-3"]),
    ("solve --certify", &["31 moves", "certified"]),
    ("encode", &[]),
];

/// The files that a command line names as outputs.
fn outputs<'a>(words: &[&'a str]) -> Vec<&'a str> {
    const OUTPUTS: [&str; 7] = ["-o", "--plot", "--html", "--cnf", "--lp", "--mps", "--dir"];
    words.windows(2).filter(|pair| OUTPUTS.contains(&pair[0])).map(|pair| pair[1]).collect()
}

/// Runs a command line of the README in a directory and returns what it prints.
fn printed(line: &str, dir: &Path) -> String {
    let mut command = tilewave(&words(line)[1..]);
    let done = run(command.current_dir(dir).env("XDG_CACHE_HOME", dir));
    assert!(done.ok(), "{line}: {}", done.err);
    // Windows writes paths in its own way.
    done.out.replace(std::path::MAIN_SEPARATOR, "/")
}

#[test]
fn every_command_of_a_table_does_what_it_says() {
    let dir = tempfile::tempdir().unwrap();
    let commands = commands_of_tables();
    for line in &commands {
        let text = printed(line, dir.path());
        let arguments = line.strip_prefix("tilewave ").unwrap();
        let expected = SAYS.iter().find(|(begin, _)| arguments.starts_with(begin));
        let (_, expected) =
            expected.unwrap_or_else(|| panic!("'{line}': say in SAYS what it prints"));
        for part in *expected {
            assert!(text.contains(part), "{line}: no '{part}' in\n{text}");
        }
        let files = outputs(&words(line));
        assert!(!files.is_empty() || !expected.is_empty(), "{line}: nothing to see");
        for file in files {
            let written = fs::metadata(dir.path().join(file));
            let written = written.unwrap_or_else(|e| panic!("{line}: {file}: {e}"));
            // In Windows, a directory has no length.
            let is_there = written.is_dir() || written.len() > 20;
            assert!(is_there, "{line}: {file} is empty");
        }
    }
    assert_eq!(commands.len(), SAYS.len(), "every command is there");
    assert_eq!(blocks("sh\n").count(), 0, "a command that no test runs");
}

/// One command runs the program, one passes the tests, and the second is what the project's own check runs.
#[test]
fn two_commands_run_the_program_and_the_tests() {
    let (run, test) = ("cargo run --release -- bfs 3x4", "cargo test --release");
    for command in [run, test] {
        assert!(README.contains(&format!("`{command}`")), "{command}");
    }
    assert!(
        commands_of_tables().contains(&run.replace("cargo run --release --", "tilewave").as_str())
    );
    let check = fs::read_to_string(root().join(".ci/run")).unwrap();
    assert!(check.lines().any(|line| line == format!("step {test}")), "{check}");
}

#[test]
fn the_commands_of_the_guide_run() {
    let dir = tempfile::tempdir().unwrap();
    for line in blocks_of("guide.md").iter().flat_map(|block| block.lines()) {
        printed(line, dir.path());
    }
}

/// In a shell, as they use pipes.
#[cfg(unix)]
#[test]
fn the_recipes_run() {
    let dir = tempfile::tempdir().unwrap();
    let own = binary().parent().unwrap().to_path_buf();
    let others = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(iter::once(own).chain(std::env::split_paths(&others)));
    let path = path.unwrap();
    for block in blocks_of("recipes.md") {
        let mut command = Command::new("sh");
        let done = run(command
            .args(["-ec", &block])
            .current_dir(dir.path())
            .envs([("PATH", path.as_os_str()), ("XDG_CACHE_HOME", dir.path().as_os_str())]));
        assert!(done.ok() && !done.err.contains("error"), "{block}: {}", done.err);
    }
    let wanted =
        ["3x3.html", "hardest.html", "cube.html", "board.cnf", "5.bin", "own.tex", "own.json"];
    assert!(wanted.iter().all(|file| dir.path().join(file).is_file()));
}

/// The commands of a page, by blocks.
fn blocks_of(page: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join("docs").join(page)).unwrap();
    let blocks =
        text.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("sh\n"));
    let blocks: Vec<String> = blocks.map(String::from).collect();
    assert!(blocks.iter().flat_map(|block| block.lines()).count() > 25, "the commands are seen");
    blocks
}

/// The words of a line but for times, sizes and what depends on the machine.
fn lasting(line: &str) -> Vec<&str> {
    const UNITS: [&str; 7] = ["s", "ms", "min", "B", "KiB", "MiB", "GiB"];
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_unit = |at: usize| words.get(at).is_some_and(|word| UNITS.contains(word));
    let lasts = |at: &usize| !is_unit(*at) && !is_unit(at + 1);
    (0..words.len()).filter(lasts).map(|at| words[at]).collect()
}

#[test]
fn commands_print_what_the_readme_shows() {
    let dir = tempfile::tempdir().unwrap();
    let transcript = transcript();
    assert_eq!(transcript.len(), 3, "the commands are seen");
    for (command, shown) in transcript {
        let text = printed(command, dir.path());
        let mut lines = text.lines();
        for line in shown.into_iter().filter(|line| line.trim() != "...") {
            let found = lines.any(|printed| lasting(printed) == lasting(line));
            assert!(found, "{command} does not print '{line}' there:\n{text}");
        }
    }
}

/// A number of the README, without its thousands separators.
fn number(text: &str) -> Option<u64> {
    text.replace(',', "").parse().ok()
}

#[test]
fn the_table_of_results_is_published_truth() {
    let mut checked = 0;
    for cells in rows(README) {
        let name = cells[0].split(' ').next().unwrap();
        // Not the 15-puzzle, which others solve.
        let Some(size) = name.parse::<Size>().ok().filter(|_| name.contains('x')) else {
            continue;
        };
        let truth = published(size, size.cells() - 1, Metric::Stm).unwrap();
        let counts = truth.counts();
        assert_eq!(number(cells[1]), Some(counts.iter().sum()), "{size}");
        assert_eq!(number(cells[2]), Some(counts.len() as u64 - 1), "{size}");
        assert_eq!(number(cells[3]), counts.last().copied(), "{size}");
        checked += 1;
    }
    assert_eq!(checked, 5);
    let cube = cube();
    let row = rows(README).find(|cells| cells[0].starts_with("Rubik's cube"));
    assert_eq!(number(row.unwrap()[1]), Some(cube[..=9].iter().sum()));
}

/// The published growth of Rubik's cube.
fn cube() -> Vec<u64> {
    let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers).unwrap();
    published_growth(&cube).unwrap().counts().to_vec()
}

/// A text in one line.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn measured_figures_stand_in_the_page_of_measurements() {
    let measured = flat(&fs::read_to_string(root().join("docs/performance.md")).unwrap());
    let times = rows(README).filter(|cells| cells.len() == 6 && number(cells[1]).is_some());
    let times = times.flat_map(|cells| cells[4..].to_vec());
    let times = times.flat_map(|cell| cell.split(" and ")).filter(|figure| !figure.is_empty());
    let times: Vec<String> = times.map(|figure| figure.replace(" of disk", "")).collect();
    let readme = flat(README);
    let ratio = |(at, _): (usize, &str)| readme[..at].rsplit(' ').next().map(str::to_string);
    let ratios = readme.match_indices(" times").filter_map(ratio);
    let ratios = ratios.filter(|word| word.parse::<f64>().is_ok());
    let figures: Vec<String> = times.into_iter().chain(ratios).collect();
    assert!(figures.len() >= 12, "only {figures:?} are seen");
    for figure in figures {
        let with_space = format!(" {figure} ");
        assert!(measured.contains(&with_space), "{figure} is not in docs/performance.md");
    }
}

#[test]
fn the_number_of_searches_is_that_of_their_files() {
    let results = root().join("docs/results");
    let files = fs::read_dir(&results).unwrap().map(|entry| entry.unwrap().path());
    let json = |path: &PathBuf| {
        path.extension().is_some_and(|e| e == "json") && !path.ends_with("levels.json")
    };
    let searches = files.filter(json).count();
    let index = fs::read_to_string(results.join("README.md")).unwrap();
    let new = index.lines().filter(|line| line.ends_with("| **not found** |"));
    let new = new.filter(|line| !line.contains("](depths/") && !line.contains("](pieces/"));
    let new = new.count();
    let readme = flat(README);
    for said in [format!("{searches} complete searches"), format!("{new} of them")] {
        assert!(readme.contains(&said), "the README does not say '{said}'");
    }
}

#[test]
fn the_pictures_are_those_of_the_program() {
    let board = published(Size::new(3, 4).unwrap(), 11, Metric::Stm).unwrap();
    let eight = published(Size::new(3, 3).unwrap(), 8, Metric::Stm).unwrap();
    let pictures = [
        ("3x4", Chart::new("3x4".into(), board.counts(), true)),
        ("3x3", Chart::new("3x3".into(), eight.counts(), true)),
        ("3x3x3", Chart::new("Rubik's cube (3x3x3)".into(), &cube()[..=9], false)),
    ];
    for (name, chart) in pictures {
        let file = root().join(format!("docs/images/{name}.svg"));
        if std::env::var_os("TILEWAVE_UPDATE").is_some() {
            fs::write(&file, chart.svg()).unwrap();
        }
        let drawn = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            drawn == chart.svg(),
            "docs/images/{name}.svg is not what the program draws: TILEWAVE_UPDATE=1 draws it again"
        );
    }
}

#[test]
fn the_readme_is_short_and_says_first_what_this_is() {
    let lines = README.lines().count();
    assert!(lines <= LINES, "{lines} lines, {LINES} at most");
    let opening = README.lines().take(8).collect::<Vec<_>>().join(" ");
    for word in ["15-puzzle", "24-puzzle", "8-puzzle", "Rubik's", "God's number", "breadth-first"] {
        assert!(opening.contains(word), "{word} is not at the beginning");
    }
    for word in ["pattern database", "Cayley graph"] {
        assert!(README.contains(word), "{word} is not there");
    }
}
