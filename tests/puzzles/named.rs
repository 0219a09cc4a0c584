//! Puzzles that have a name: published growth and numbers of states, and what their sets are.

use std::collections::BTreeMap;

use tilewave::puzzle::named::{self, NAMED, NamedPuzzle};
use tilewave::puzzle::{Goal, StateSpace, Variant};
use tilewave::puzzle::{Move, PieceAt, PieceSet, Puzzle, SetAction, Transformation, Turns};

use super::sets::levels;

#[derive(serde::Deserialize)]
struct Published {
    name: String,
    turns: String,
    #[serde(default)]
    variant: Variant,
    counts: Vec<u64>,
    complete: bool,
    states: Option<String>,
}

/// What is published, and the puzzles of it.
fn published() -> Vec<(Published, Puzzle)> {
    let path = crate::program::root().join("tests/data/frontier.json");
    let text = std::fs::read_to_string(path).unwrap();
    let mut rows: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    rows.remove("_comment");
    let row = |value| {
        let row: Published = serde_json::from_value(value).unwrap();
        let turns = match row.turns.as_str() {
            "powers" => Turns::Powers,
            "quarter" => Turns::Quarter,
            "directed" => Turns::Directed,
            turns => panic!("{turns}"),
        };
        if let Ok(size) = row.name.parse() {
            let goal = Goal::First.board(size).unwrap();
            let board = Puzzle::of_space(&StateSpace::of_board(goal)).unwrap();
            return (row, board);
        }
        let puzzle = row.variant.of(named::parse(&row.name).unwrap(), turns).unwrap();
        (row, puzzle)
    };
    rows.into_values().map(row).collect()
}

fn sets(puzzle: &Puzzle) -> String {
    let sets: Vec<String> = puzzle.sets().iter().map(PieceSet::to_string).collect();
    sets.join(" ")
}

fn states(puzzle: &Puzzle) -> String {
    puzzle.states().map_or("unknown".into(), |states| states.to_string())
}

#[test]
fn growth_is_as_published() {
    for (row, puzzle) in published() {
        // As deep as some thousands of states go.
        let deep = row.counts.iter().position(|&count| count > 3000).unwrap_or(row.counts.len());
        if deep == 0 {
            // Many goals: a test of its own searches these.
            assert_eq!(puzzle.goals().len() as u64, row.counts[0], "{}", row.name);
            continue;
        }
        let found = levels(&puzzle, deep.min(row.counts.len() - 1));
        assert_eq!(found, row.counts[..found.len()], "{} {}", row.name, row.turns);
        assert!(found.len() > 2, "{}", row.name);
        assert_eq!(puzzle.is_directed(), row.turns == "directed", "{}", row.name);
    }
}

#[test]
fn states_are_as_many_as_published() {
    let rows = published();
    assert!(rows.len() > 15);
    for (row, puzzle) in rows {
        let found = states(&puzzle);
        assert_eq!(row.states.as_deref().unwrap_or(&found), found, "{}", row.name);
        if row.complete {
            assert_eq!(row.counts.iter().sum::<u64>().to_string(), found, "{}", row.name);
        }
    }
}

#[test]
fn sets_are_the_pieces_that_trade_places() {
    for (name, expected, turns) in [
        ("2x2x2", "corners:7/3", 3),
        ("3x3x3", "corners:8/3 edges:12/2", 6),
        ("4x4x4", "corners:8/3 edges:24 centres:24", 12),
        ("5x5x5", "corners:8/3 edges:12/2 edges2:24 centres:24 centres2:24", 12),
        ("pyraminx", "corners:4/3 edges:6/2", 4),
        ("pyraminx-tips", "corners:4/3 tips:4/3 edges:6/2", 8),
        ("skewb", "corners:4/3 corners2:4/3 centres:6", 4),
        ("dino", "edges:12", 8),
        ("megaminx", "corners:20/3 edges:30/2", 12),
        ("kilominx", "corners:20/3", 12),
        ("fto", "corners:6/2 edges:12 centres:12 centres2:12", 8),
        ("skewb-diamond", "corners:6/2 centres:4", 4),
    ] {
        let puzzle = named::parse(name).unwrap();
        assert_eq!(sets(&puzzle), expected);
        // Without their inverses, all moves but half turns are directed.
        let told = puzzle.to_string();
        let told = told.strip_suffix(" directed").unwrap_or(&told);
        assert_eq!((puzzle.moves().len(), told), (turns, name));
    }
    let names = |name: &str| {
        let puzzle = named::parse(name).unwrap().counting(Turns::Powers).unwrap();
        puzzle.moves().iter().map(|one| one.name.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("2x2x2"), "U F R U2 U' F2 F' R2 R'");
    assert!(names("4x4x4").starts_with("U 2U D 2D F 2F B 2B L 2L R 2R U2 U' 2U2 2U' "));
    assert!(names("megaminx").contains(" U2 U2' U' "));
    // A centre's pieces look alike, four of each colour.
    let cube = named::parse("4x4x4").unwrap();
    let centres = &cube.sets()[2];
    assert!((0..6).all(|kind| centres.pieces_of(kind) == 4));
    assert!((0..24).all(|kind| cube.sets()[1].pieces_of(kind) == 1));
}

#[test]
fn every_name_is_a_puzzle() {
    for NamedPuzzle { name, description } in NAMED {
        let puzzle = named::parse(name).unwrap();
        assert_eq!(puzzle.name(), name);
        assert!(!description.is_empty() && states(&puzzle) != "unknown", "{name}");
    }
    for name in ["", "cube", "1x1x1", "3x3", "3x3x4", "21x21x21", "03x3x3", "3x3x3 ", "Dino"] {
        assert_eq!(named::parse(name), None, "{name}");
    }
    assert_eq!(named::parse("20x20x20").unwrap().moves().len(), 60);
}

#[test]
fn sets_can_be_left_out() {
    let keep = |name: &str, sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|&set| set.into()).collect();
        named::parse(name).unwrap().keeping(&sets)
    };
    // Pieces that look alike, and what else there is, whose parity goes with theirs.
    assert_eq!(states(&keep("4x4x4", &["centres"]).unwrap()), "3246670537110000");
    assert_eq!(states(&keep("5x5x5", &["Centres2"]).unwrap()), "3246670537110000");
    assert_eq!(sets(&keep("5x5x5", &["centres"]).unwrap()), "centres:24 centres2:24");
    assert_eq!(states(&keep("4x4x4", &["corners", "edges"]).unwrap()), {
        let edges: u128 = (1..=24).product();
        (num_bigint::BigUint::from(edges) * 88_179_840_u32).to_string()
    });
    let error = keep("dino", &["corners"]).unwrap_err().to_string();
    assert_eq!(error, "no set is called 'corners': the sets are edges");
}

/// A puzzle of one set whose moves are written in cycles.
fn cycles(set: PieceSet, moves: &[&[&[usize]]]) -> Puzzle {
    let make = |(i, cycles): (usize, &&[&[usize]])| {
        let mut turn = SetAction::still(set.positions());
        for cycle in *cycles {
            for (at, &from) in cycle.iter().enumerate() {
                turn.source[cycle[(at + 1) % cycle.len()]] = from as u8;
            }
        }
        let transformation = Transformation(vec![turn]);
        Move { name: format!("m{i}"), transformation, requires: None }
    };
    let moves = moves.iter().enumerate().map(make).collect();
    Puzzle::new("cycles", vec![set], moves).unwrap()
}

#[test]
fn small_groups_are_counted_too() {
    // M12 is far smaller than the even permutations of twelve.
    let (rotate, swap): (&[&[usize]], &[&[usize]]) =
        (&[&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]], &[&[2, 6, 10, 7], &[3, 9, 4, 5]]);
    let m11 = cycles(PieceSet::distinct("A", 12, 1), &[rotate, swap]);
    assert_eq!(states(&m11), "7920");
    // Two colours: four of the eight ways to lay a square, and all permutations of ten.
    let mut square = PieceSet::distinct("A", 4, 1);
    square.solved.iter_mut().for_each(|piece| piece.kind /= 2);
    let square = cycles(square, &[&[&[0, 1, 2, 3]], &[&[0, 1], &[2, 3]]]);
    assert_eq!(states(&square), "4");
    let mut ten = PieceSet::distinct("A", 10, 1);
    ten.solved.iter_mut().for_each(|piece| piece.kind /= 5);
    let ten = cycles(ten, &[&[&[0, 1]], &[&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]]);
    assert_eq!(states(&ten), "252");
    // Where something is not allowed, what is left is counted one by one.
    let place = PieceAt { set: 0, position: 0, kind: 1 };
    let refused = |at| ten.clone().forbidding(vec![place, at]).unwrap_err().to_string();
    let solved = "the solved state has a piece at position 1 of A that is illegal there";
    assert_eq!(refused(PieceAt { kind: 0, ..place }), solved);
    for at in [
        PieceAt { set: 1, ..place },
        PieceAt { position: 10, ..place },
        PieceAt { kind: 10, ..place },
    ] {
        assert!(refused(at).contains("all counted from 0"), "{at:?}");
    }
    let some = ten.forbidding(vec![place]).unwrap();
    assert_eq!(states(&some), levels(&some, 99).iter().sum::<u64>().to_string());
    assert_eq!(states(&some), "1");
}
