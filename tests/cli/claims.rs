//! What results claim, against plain computation.

use std::collections::HashSet;

use serde_json::Value;
use tilewave::Goal;
use tilewave::puzzle::orbits::{Arrangement, OrbitPuzzle, Turns};
use tilewave::puzzle::{Metric, StateSpace, Variant, families, named};

use super::{json, stdout};

/// The states at each depth, computed by plain code.
fn plain(puzzle: &OrbitPuzzle) -> Vec<u64> {
    let mut level = puzzle.goals().to_vec();
    let mut seen: HashSet<Arrangement> = level.iter().cloned().collect();
    let mut counts = Vec::new();
    while !level.is_empty() {
        counts.push(level.len() as u64);
        let moves = 0..puzzle.moves().len();
        let after = |state| moves.clone().filter_map(move |one| puzzle.moved(state, one));
        level = level.iter().flat_map(after).filter(|state| seen.insert(state.clone())).collect();
    }
    counts
}

fn board(size: &str, metric: Metric) -> OrbitPuzzle {
    let goal = Goal::Last.board(size.parse().unwrap()).unwrap();
    OrbitPuzzle::of_space(&StateSpace::of_board(goal).in_metric(metric)).unwrap()
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// A search is complete if it has found all states, also where it ends exactly at the last depth, and not before.
#[test]
fn complete_searches_are_those_that_have_found_all_states() {
    let pancake = StateSpace::of_puzzle(families::parse("pancake:7").unwrap());
    let cube = |variant: Variant| variant.of(named::parse("3x3x3").unwrap(), Turns::Powers);
    let squares = Variant { moves: Variant::split("R2,U2,F2"), ..Variant::default() };
    let edges = Variant { pieces: vec!["edges:1-2".into()], ..Variant::default() };
    let cases = [
        ("2x2", board("2x2", Metric::Stm), &["", "--engine reference", "--engine frontier"][..]),
        ("2x4", board("2x4", Metric::Stm), &["", "--dir D", "--engine frontier --dir D"]),
        ("2x3 --metric mtm", board("2x3", Metric::Mtm), &["", "--engine frontier"]),
        ("pancake:7", OrbitPuzzle::of_space(&pancake).unwrap(), &["", "--engine frontier"]),
        ("3x3x3 --generators R2,U2,F2", cube(squares).unwrap(), &["", "--dir D"]),
        ("3x3x3 --pieces edges:1-2", cube(edges).unwrap(), &["", "--count-ahead", "--no-symmetry"]),
    ];
    let scratch = tempfile::tempdir().unwrap();
    let mut run = 0;
    for (puzzle, of, engines) in cases {
        let counts = plain(&of);
        let last = counts.len() - 1;
        for (engine, depth) in
            engines.iter().flat_map(|e| [last - 1, last, last + 1].map(|d| (e, d)))
        {
            run += 1;
            let dir = scratch.path().join(run.to_string());
            let (dir, most) = (dir.to_str().unwrap(), depth.to_string());
            let engine = engine.replace('D', dir);
            let mut args = [&["bfs"], &words(puzzle)[..], &words(&engine)[..]].concat();
            args.extend(["--max-depth", &most]);
            let what = format!("{puzzle} {engine} to depth {depth}");
            let claims = |found: &Value| {
                let complete = depth >= last;
                assert_eq!(found["complete"], complete, "{what}");
                let number = |value: u64| if complete { value.into() } else { Value::Null };
                assert_eq!(found["diameter"], number(last as u64), "{what}");
                assert_eq!(found["antipodes"], number(counts[last]), "{what}");
                let found: Vec<u64> =
                    found["counts"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
                assert_eq!(found, counts[..counts.len().min(depth + 1)], "{what}");
            };
            claims(&json(&[&args[..], &["--format", "json"]].concat()));
            let words = |args: &[&str]| {
                let text = stdout(args);
                let number = match depth >= last {
                    true => format!("God's number  {last}\n"),
                    false => {
                        format!("God's number  more than {depth} (the search stopped there)\n")
                    }
                };
                assert!(text.contains(&number), "{what}: {text}");
                assert_eq!(text.contains("\nantipodes"), depth >= last, "{what}: {text}");
            };
            words(&args);
            if !engine.contains("--dir") {
                continue;
            }
            let again = ["resume", dir, "--max-depth", &most];
            claims(&json(&[&again[..], &["--format", "json"]].concat()));
            words(&again);
            let state = json(&["info", dir, "--format", "json"])[0]["state"].clone();
            assert_eq!(state == "complete", depth >= last, "{what}: {state}");
            let check = stdout(&["check", dir]);
            assert_eq!(check.starts_with("PASS"), depth >= last, "{what}: {check}");
        }
    }
}
