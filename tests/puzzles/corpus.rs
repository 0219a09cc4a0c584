//! Parsers of puzzles on a fixed set of broken inputs: no panic, one line of error. `tools/fuzz` looks for more.

use tilewave::puzzle::formats::{self, Format};
use tilewave::puzzle::{Permutation, StateSpace, families};
use tilewave::random::SplitMix64;

use super::sample;

/// Words that the formats are made of.
const WORDS: [&str; 16] = [
    "(", ")", ",", ";", ":=", "[", "]", "\n", "End", "Move", "\"", "{", "255", "256", "-1",
    "\u{fffd}",
];

fn broken(dice: &mut SplitMix64, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=dice.below(2) {
        if bytes.is_empty() {
            break;
        }
        let at = dice.below(bytes.len() as u64) as usize;
        match dice.below(6) {
            0 => bytes[at] ^= 1 << dice.below(7),
            1 => bytes[at] = b"0123456789 ,()[];"[dice.below(17) as usize],
            2 => bytes.truncate(at),
            3 => bytes.extend_from_within(at..),
            4 => drop(bytes.drain(at..(at + 20).min(bytes.len()))),
            _ => drop(bytes.splice(at..at, WORDS[dice.below(16) as usize].bytes())),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn broken_puzzle_files_are_refused_or_are_puzzles() {
    let mut dice = SplitMix64::new(11);
    for name in [
        "five.gap",
        "dino.gap",
        "dino.tws",
        "wheels.tws",
        "2x2x2.tws",
        "lanterns.tws",
        "lanterns.kpuzzle.json",
        "wheels.kpuzzle.json",
        "dino.kpuzzle.json",
    ] {
        let whole = sample(name);
        let (mut refused, mut read, mut sets) = (0, 0, 0);
        for _ in 0..400 {
            let text = broken(&mut dice, &whole);
            match formats::read(name, &text, None) {
                Err(error) => {
                    let error = error.to_string();
                    assert!(error.starts_with(name), "{error}");
                    assert!(!error.contains(|c: char| c.is_control()), "{error}");
                    refused += 1;
                }
                Ok(puzzle) => {
                    let solved = puzzle.solved();
                    let after = (0..puzzle.moves().len()).filter_map(|i| puzzle.moved(&solved, i));
                    assert!(after.count() <= puzzle.moves().len());
                    let positions = puzzle.labels().len();
                    if positions == 0 {
                        sets += 1;
                        continue;
                    }
                    assert!((2..=16).contains(&positions));
                    let order = puzzle.group_order();
                    assert!(order >= 2, "{order}");
                    let solved = Permutation::identity(positions);
                    assert_eq!(puzzle.arrangement(&puzzle.show(&solved)), Ok(solved));
                    if positions < 8 {
                        let space = StateSpace::of_puzzle(puzzle);
                        assert_eq!(space.moves().cells(), positions);
                    }
                    read += 1;
                }
            }
        }
        let several = name == "2x2x2.tws" || name.starts_with("lanterns");
        assert!(
            refused > 50 && if several { sets > 10 } else { read > 10 },
            "{name}: {refused} refused, {read} read, {sets} as sets"
        );
    }
}

#[test]
fn broken_names_are_refused_or_are_puzzles() {
    let mut dice = SplitMix64::new(12);
    let mut read = 0;
    for _ in 0..20_000 {
        let name = ["pancake:12", "topspin:12,4", "cyclic-coxeter:9"][dice.below(3) as usize];
        let text = broken(&mut dice, name);
        let _ = Format::of(&text);
        match families::parse(&text) {
            Err(error) => assert!(!error.to_string().contains(|c: char| c.is_control()), "{error}"),
            Ok(definition) => {
                assert_eq!(families::parse(definition.name()).unwrap(), definition);
                read += 1;
            }
        }
    }
    assert!(read > 50, "{read} read");
}
