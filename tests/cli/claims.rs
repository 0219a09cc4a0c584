//! What results claim, against plain computation.

use serde_json::Value;
use tilewave::Goal;
use tilewave::puzzle::{Metric, StateSpace, Variant, families, named};
use tilewave::puzzle::{Puzzle, Turns};

use super::{json, stdout};
use crate::plain::levels;
use crate::program::{room, run, tilewave};
use crate::readme::words;

/// The states at each depth, computed by plain code.
fn plain(puzzle: &Puzzle) -> Vec<u64> {
    let mut counts = levels(puzzle, usize::MAX);
    assert_eq!(counts.pop(), Some(0));
    counts
}

fn board(size: &str, metric: Metric) -> Puzzle {
    let goal = Goal::Last.board(size.parse().unwrap()).unwrap();
    Puzzle::of_space(&StateSpace::of_board(goal).in_metric(metric)).unwrap()
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
        ("pancake:7", Puzzle::of_space(&pancake).unwrap(), &["", "--engine frontier"]),
        ("3x3x3 --generators R2,U2,F2", cube(squares).unwrap(), &["", "--dir D"]),
        ("3x3x3 --pieces edges:1-2", cube(edges).unwrap(), &["", "--count-ahead", "--no-symmetry"]),
    ];
    let scratch = room();
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

/// The words that tell two puzzles apart: each output names its puzzle completely, so that an archived one can be read.
#[test]
fn every_output_says_which_puzzle_it_is_of() {
    let scratch = room();
    let goals = scratch.path().join("goals.txt");
    std::fs::write(&goals, "URF\nDLF\n").unwrap();
    let goals = format!("skewb-diamond --goals {}", goals.to_str().unwrap());
    let rings = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/puzzles/wheels.gap");
    let directed = format!("{rings} --directed");
    // Of these, the second one of each pair has the name of the first.
    let pairs = [
        ("2x3", "2x3 --metric mtm"),
        ("2x3", "2x3 --goal blank=1"),
        ("2x3 --engine frontier", "2x3 --engine frontier --metric mtm"),
        ("2x3 --engine frontier", "2x3 --engine frontier --goal blank=1"),
        ("2x2x2", "2x2x2 --metric qtm"),
        ("2x2x2", "2x2x2 --generators U,R"),
        ("2x2x2", "2x2x2 --pieces corners:1-3"),
        ("2x2x2", "2x2x2 --ignore-orientation corners"),
        ("2x2x2", "2x2x2 --same corners:1-3"),
        ("skewb-diamond", &goals),
        (rings, &directed),
    ];
    let last = |csv: &str| {
        let row = csv.lines().nth(1).unwrap();
        match row.strip_suffix('"') {
            Some(row) => row.rsplit_once('"').unwrap().1.to_string(),
            None => row.rsplit_once(',').unwrap().1.to_string(),
        }
    };
    let line = |text: &str| {
        let is_name = |line: &&str| {
            ["puzzle ", "board ", "search "].iter().any(|label| line.starts_with(label))
        };
        text.lines().find(is_name).unwrap_or_else(|| panic!("no name: {text}")).to_string()
    };
    let keys = ["board", "puzzle", "metric", "goal", "goals", "moves", "fingerprint"];
    let known = |found: &Value| keys.map(|key| found[key].clone());
    let run = |args: &[&str]| {
        let text = stdout(&[args, &["--max-depth", "2"]].concat());
        let found = json(&[args, &["--max-depth", "2", "--format", "json"]].concat());
        let csv = stdout(&[args, &["--max-depth", "2", "--format", "csv"]].concat());
        (line(&text), known(&found), last(&csv))
    };
    for (at, (one, other)) in pairs.into_iter().enumerate() {
        let both = [one, other].map(|puzzle| {
            let args = words(puzzle);
            let (puzzle, lists) = match args.iter().position(|word| *word == "--engine") {
                Some(at) => ([&args[..at], &args[at + 2..]].concat(), vec!["--engine", "frontier"]),
                None => (args, Vec::new()),
            };
            let of = |command: &str, more: &[&str]| {
                let args = [&[command], &puzzle[..], &lists, more].concat();
                (line(&stdout(&args)), known(&json(&[&args[..], &["--format", "json"]].concat())))
            };
            let bfs = run(&[&["bfs"], &puzzle[..], &lists].concat());
            let plan = of("plan", &["--max-depth", "2"]);
            // Commands without options that shape a puzzle take a file.
            let file = scratch.path().join(format!("{at}-{}.puzzle", puzzle.len()));
            let file = file.to_str().unwrap();
            stdout(&[&["puzzle"], &puzzle[..], &["-o", file, "-f", "-q"]].concat());
            let named = |command: &[&str]| {
                let args = [command, &[file], &lists].concat();
                let text = stdout(&args).lines().next().unwrap().to_string();
                let found = known(&json(&[&args[..], &["--format", "json"]].concat()));
                (text, found, last(&stdout(&[&args[..], &["--format", "csv"]].concat())))
            };
            let listed = named(&["levels", "--depth", "1"]);
            let mut made = Vec::new();
            // Tables need the inverse of every move.
            if lists.is_empty() && !directed.starts_with(one) {
                let table = scratch.path().join(format!("{at}-{}.table", puzzle.len()));
                let table = table.to_str().unwrap();
                let args = [&["table"], &puzzle[..], &["-o", table, "-f"]].concat();
                made.push(stdout(&args).lines().last().unwrap().split(", ").take(2).collect());
                let info = json(&["info", table, "--format", "json"])[0].clone();
                made.push(format!("{:?}", known(&info)));
                made.push(line(&stdout(&["info", table])));
                made.push(last(&stdout(&["info", table, "--format", "csv"])));
            }
            (bfs, plan, listed, made)
        });
        let [(bfs, plan, listed, made), (bfs2, plan2, listed2, made2)] = both;
        let what = format!("{one} and {other}");
        assert!(bfs.0 != bfs2.0 && bfs.1 != bfs2.1 && bfs.2 != bfs2.2, "{what}: {bfs:?} {bfs2:?}");
        assert!(plan.0 != plan2.0 && plan.1 != plan2.1, "{what}: {plan:?} {plan2:?}");
        assert!(listed.0 != listed2.0 && listed.1 != listed2.1 && listed.2 != listed2.2, "{what}");
        for (part, (one, other)) in made.iter().zip(&made2).enumerate() {
            assert_ne!(one, other, "{what}: {part}");
        }
    }
    // A run on disk says the same.
    let dir = scratch.path().join("run");
    let dir = dir.to_str().unwrap();
    let args = ["bfs", "2x2x2", "--metric", "qtm", "--max-depth", "3", "--dir", dir];
    let bfs = json(&[&args[..], &["--format", "json"]].concat());
    assert_eq!((&bfs["puzzle"], &bfs["metric"]), (&"2x2x2".into(), &"qtm".into()));
    assert_eq!(known(&json(&["info", dir, "--format", "json"])[0]), known(&bfs));
    assert!(line(&stdout(&["info", dir])).contains("2x2x2 qtm"));
    assert!(stdout(&["resume", dir, "--max-depth", "3"]).contains("puzzle        2x2x2 qtm\n"));
}

/// `resume` says of counts what `bfs` says, and fails where they are wrong.
#[test]
fn a_search_by_lists_that_is_continued_is_compared_with_what_is_published() {
    let scratch = room();
    for (at, (puzzle, source)) in [
        ("3x3 --goal blank=4 --engine frontier", "OEIS A"),
        ("3x3 --metric mtm --engine frontier", "lightln2"),
        ("topspin:8,4 --engine frontier", "cayleypy"),
        ("2x2x2 --metric qtm", "OEIS A079762"),
    ]
    .into_iter()
    .enumerate()
    {
        let dir = scratch.path().join(at.to_string());
        let dir = dir.to_str().unwrap();
        let line = |text: &str| {
            let line = text.lines().find(|line| line.starts_with("published")).unwrap();
            line.to_string()
        };
        let bfs = [&["bfs"], &words(puzzle)[..], &["--dir", dir, "--max-depth", "4"]].concat();
        let begun = line(&stdout(&bfs));
        assert!(begun.contains("the first 5 levels agree with"), "{puzzle}: {begun}");
        let then = line(&stdout(&["resume", dir, "--max-depth", "5"]));
        assert_eq!(then, begun.replace("first 5", "first 6"), "{puzzle}");
        assert!(then.contains(source), "{then}");
    }
    // The manifest of a run whose counts are wrong, as if a disk had lost states.
    let dir = scratch.path().join("0");
    let manifest = dir.join("manifest");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let mut lines = text.splitn(2, '\n');
    let (seal, content) = (lines.next().unwrap(), lines.next().unwrap());
    let mut value: Value = serde_json::from_str(content).unwrap();
    let states = value["levels"][3]["states"].as_u64().unwrap();
    value["levels"][3]["states"] = (states + 1).into();
    let content = serde_json::to_string_pretty(&value).unwrap();
    let hash = seal.split_whitespace().last().unwrap();
    let sealed =
        seal.replace(hash, &format!("{:016x}", xxhash_rust::xxh3::xxh3_64(content.as_bytes())));
    std::fs::write(&manifest, format!("{sealed}\n{content}\n")).unwrap();
    let done = run(&mut tilewave(["resume", dir.to_str().unwrap(), "--max-depth", "5"]));
    assert_eq!(done.code, Some(1), "{}", done.err);
    assert!(done.err.contains("disagrees") && done.err.contains("depth 3"), "{}", done.err);
}

/// Files of puzzles that have names are recognised by their moves, whatever the names and the order of sets and moves.
#[test]
fn files_of_named_puzzles_are_recognised_by_their_moves() {
    let scratch = room();
    for (name, source) in [
        ("2x2x2", "OEIS A079761"),
        ("pyraminx", "OEIS A079744"),
        ("skewb", "J. Scherphuis"),
        ("skewb-diamond", "OEIS A079743"),
        ("3x3x3", "OEIS A080601"),
    ] {
        let turns = named::parse(name).unwrap();
        let file = scratch.path().join(format!("other-{name}.tws"));
        std::fs::write(&file, tws(&turns)).unwrap();
        let args = ["bfs", file.to_str().unwrap(), "--max-depth", "4", "--format", "json"];
        let found = json(&args);
        let known = found["agrees_with"].as_str().unwrap_or("none").to_string();
        assert!(known.starts_with(source), "{name}: {known}");
        assert_eq!(
            found["counts"],
            json(&["bfs", name, "--max-depth", "4", "--format", "json"])["counts"]
        );
    }
    for (args, source) in [
        ("2x2x2 --metric qtm", "OEIS A079762"),
        ("3x3x3 --pieces corners", "OEIS A080629"),
        ("3x3x3 --generators U2,D2,L2,R2,F2,B2", "OEIS A080627"),
        ("3x3x3 --generators F2,B2,L2,R2,U2,D2", "OEIS A080627"),
        ("3x3x3 --generators F,R --metric qtm", "OEIS A080628"),
    ] {
        let args = [&["bfs"], &words(args)[..], &["--max-depth", "5"]].concat();
        let text = stdout(&args);
        assert!(text.contains(&format!("agree with {source}")), "{text}");
    }
    // Almost the same, and not the same.
    for args in [
        "3x3x3 --generators U2,D2,L2,R2,F2",
        "2x2x2 --same corners:1-2",
        "pyraminx --metric qtm --generators U,L,R",
    ] {
        let args = [&["bfs"], &words(args)[..], &["--max-depth", "3"]].concat();
        assert!(stdout(&args).contains("none in the list"), "{args:?}");
    }
}

/// A puzzle as a file, with its sets, positions and moves in another order.
fn tws(puzzle: &Puzzle) -> String {
    use std::fmt::Write;
    let mut text = String::from("Name other\n");
    let sets: Vec<usize> = (0..puzzle.sets().len()).rev().collect();
    // Positions are numbered from the other end.
    let place = |set: usize, at: usize| puzzle.sets()[set].positions() - at;
    for &i in &sets {
        let set = &puzzle.sets()[i];
        writeln!(text, "Set S{i} {} {}", set.positions(), set.orientations).unwrap();
    }
    text += "Solved\n";
    for &i in &sets {
        let kinds: Vec<String> =
            puzzle.sets()[i].solved.iter().rev().map(|p| (p.kind + 1).to_string()).collect();
        writeln!(text, "S{i}\n{}", kinds.join(" ")).unwrap();
    }
    text += "End\n";
    for (number, one) in puzzle.moves().iter().rev().enumerate() {
        writeln!(text, "Move M{number}").unwrap();
        for &i in &sets {
            let turn = &one.transformation.0[i];
            let list = |of: &mut dyn Iterator<Item = String>| of.collect::<Vec<_>>().join(" ");
            let sources =
                list(&mut turn.source.iter().rev().map(|&from| place(i, from.into()).to_string()));
            // By the positions that the pieces come from.
            let mut twist = turn.twist.clone();
            for (&from, &by) in turn.source.iter().zip(&turn.twist) {
                twist[usize::from(from)] = by;
            }
            let twists = list(&mut twist.iter().rev().map(u8::to_string));
            writeln!(text, "S{i}\n{sources}\n{twists}").unwrap();
        }
        text += "End\n";
    }
    text
}

/// What is printed as a state can be given as one, in every notation.
#[test]
fn printed_states_can_be_given_again() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("shaped.puzzle").to_str().unwrap().to_string();
    for puzzle in [
        "2x3",
        "2x3 --engine frontier",
        "2x3 --metric mtm --engine frontier",
        "5x5 --goal first",
        "2x3 --same 1-2",
        "graph:0-1,1-2,2-3,3-0",
        "pancake:5",
        "pancake:5 --engine frontier",
        "2x2x2",
        "3x3x3 --pieces edges:1-2",
        "skewb --ignore-orientation corners",
        "3x3x3 --generators \"R2 U,F\"",
    ] {
        let mut args = words(puzzle);
        let shapes = ["--same", "--pieces", "--ignore-orientation", "--generators"];
        if args.get(1).is_some_and(|option| shapes.contains(option)) {
            stdout(&[&["puzzle"], &args[..], &["-o", &file, "-f", "-q"]].concat());
            args = vec![&file];
        }
        let levels =
            [&["levels"], &args[..], &["--depth", "2", "--limit", "3", "--format", "json"]];
        let listed = json(&levels.concat())["states"].clone();
        let args: Vec<&str> = match args.iter().position(|word| *word == "--engine") {
            Some(at) => [&args[..at], &args[at + 2..]].concat(),
            None => args,
        };
        let args: Vec<&str> = match args.iter().position(|word| *word == "--metric") {
            Some(at) => [&args[..at], &args[at + 2..]].concat(),
            None => args,
        };
        assert!(!listed.as_array().unwrap().is_empty(), "{puzzle}");
        for state in listed.as_array().unwrap() {
            let state = state.as_str().unwrap();
            let read = json(
                &[&["state"], &args[..1], &[state], &args[1..], &["--format", "json"]].concat(),
            );
            // Lists name the only set of a puzzle whose states are numbered.
            let state = state.trim_start_matches("positions ");
            assert_eq!(read[0]["state"], state, "{puzzle}");
            assert_eq!(read[0]["solvable"], true, "{puzzle}: {state}");
        }
    }
}
