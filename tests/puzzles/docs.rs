//! The pages on puzzles are true: their files are puzzles, their tables those of the program.

use tilewave::puzzle::families;
use tilewave::puzzle::formats::read;

use super::puzzle;

/// The block of the page on files in a language.
fn block(language: &str) -> &'static str {
    let mut blocks = include_str!("../../docs/puzzle-files.md").split("```");
    let found = blocks.find_map(|block| block.strip_prefix(language)?.strip_prefix('\n'));
    found.unwrap_or_else(|| panic!("a block of {language}"))
}

#[test]
fn the_files_of_the_page_are_puzzles() {
    let five = read("five.gap", block("gap"), None).unwrap();
    assert_eq!(block("gap").lines().count(), 5);
    assert_eq!(five, puzzle("five.gap"));
    assert_eq!(five.fingerprint(), families::parse("lrx:5").unwrap().fingerprint());
    let wheels = read("wheels.tws", block("tws"), None).unwrap();
    assert_eq!(wheels, puzzle("wheels.tws"));
    let wheels = read("wheels.kpuzzle.json", block("json"), None).unwrap();
    assert_eq!(wheels, puzzle("wheels.kpuzzle.json"));
}

#[test]
fn the_page_names_every_family() {
    for family in families::ALL {
        let row = format!("| `{}:{}` | {} |", family.name, family.parameters, family.states);
        assert!(include_str!("../../docs/puzzles.md").contains(&row), "{row}");
    }
}
