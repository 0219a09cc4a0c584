//! Files of other programs in the forms that they have, moves and states as text, and what becomes of puzzles.

use tilewave::frontier::FrontierSearch;
use tilewave::puzzle::formats::{self, turns};
use tilewave::puzzle::{
    Metric, Permutation, PositionOrder, PuzzleErrorKind, StateSpace, Variant, families, named,
};
use tilewave::puzzle::{Move, PieceAt, PieceSet, Puzzle, SetAction, Transformation, Turns};
use tilewave::random::SplitMix64;
use tilewave::search::Search;
use tilewave::{Board, Class, Error};

use super::{names, sample};

fn counts(file: &str, text: &str, asked: Option<Turns>) -> Vec<u64> {
    let puzzle = formats::read(file, text, asked).unwrap();
    if !puzzle.labels().is_empty() {
        return Search::of(StateSpace::of_puzzle(puzzle)).run().unwrap().counts;
    }
    let puzzle = puzzle.counting(turns(file, asked)).unwrap();
    FrontierSearch::new(puzzle).run().unwrap().counts
}

fn error(file: &str, text: &str) -> String {
    formats::read(file, text, None).unwrap_err().to_string()
}

fn cube(generators: &[&str]) -> Puzzle {
    let moves = generators.iter().map(|&text| text.into()).collect();
    Variant { moves, ..Variant::default() }
        .of(named::parse("3x3x3").unwrap(), Turns::Powers)
        .unwrap()
}

#[test]
fn a_metric_applies_to_files_of_one_set() {
    let rings = sample("rings.gap");
    let of = |turns| {
        let rings = formats::read("rings.gap", &rings, turns).unwrap();
        assert!(!rings.labels().is_empty(), "one set");
        rings.moves().len()
    };
    assert_eq!(of(None), 6);
    let each = [Turns::Powers, Turns::Quarter, Turns::Directed];
    assert_eq!(each.map(|asked| of(Some(asked))), [9, 6, 3]);
}

#[test]
fn files_are_read_in_the_forms_that_they_have() {
    let six = counts("six.tws", &sample("spaces.def"), None);
    assert_eq!(six.iter().sum::<u64>(), 6);
    assert_eq!(counts("spaces.def", &sample("spaces.def"), None), six);
    let latin1 =
        [b"Name W\xfcrfel mit L\xfccke\n", &sample("spaces.def").as_bytes()[16..]].concat();
    assert_eq!(counts("latin1.def", &String::from_utf8_lossy(&latin1), None), six);
    let wheels = counts("w.kpuzzle.json", &sample("wheels.kpuzzle.json"), None);
    assert_eq!(counts("older.kpuzzle.json", &sample("older.kpuzzle.json"), None), wheels);
    assert_eq!(counts("oldest.kpuzzle.json", &sample("oldest.kpuzzle.json"), None), wheels);
    // Two pieces in one set, of which one has two orientations and one has three.
    let moduli = counts("moduli.kpuzzle.json", &sample("moduli.kpuzzle.json"), None);
    assert_eq!(moduli, [1, 3, 2]);
    let group = formats::read("group.gap", &sample("group.gap"), None).unwrap();
    assert_eq!(group.labels().len(), 4);
    assert_eq!((names(&group), group.group_order()), (vec!["A", "g2", "g3", "A'", "g3'"], 24));
    // (1,2,3) then (3,4) takes 1 to 2, 2 to 4, 3 to 1 and 4 to 3; g3 is the inverse.
    let product = Permutation::from_cycles(4, &[vec![0, 1, 3, 2]]).unwrap();
    assert_eq!(group.permutations()[2], product.inverse());
    for text in [
        "Gen:=Group((1,2,3,4),(1,2));",
        "U:=(1,2,3,4);\nGen:=[U^5,U^-1*(1,2)*U];",
        "U:=(1,2,3,4);V:=(1,2)^U;G:=GroupWithGenerators([U,V]);gens:=GeneratorsOfGroup(G);",
        "cube:=Group(\n(1,2,3,4),\n(1,2)/(3,4)/(4,3));Size(cube);",
    ] {
        assert_eq!(counts("x.gap", text, None).iter().sum::<u64>(), 24, "{text}");
    }
}

#[test]
fn statements_that_change_a_puzzle_are_known_but_refused() {
    let whole = sample("spaces.def");
    for (word, why) in [
        ("ForbiddenPairs", "it limits sequences of moves"),
        ("ForbiddenGroups", "it limits sequences of moves"),
        ("MoveLimits", "it limits sequences of moves"),
    ] {
        let told = error("x.def", &format!("{whole}{word}\nP\n1 2\nEnd\n"));
        let expected = format!("x.def:19: '{word}' is known, but not supported: {why}");
        assert!(told.starts_with(&expected) && told.lines().count() == 1, "{told}");
    }
    let told = error("x.def", &format!("{whole}\nBolck\n"));
    assert!(told.contains("MoveSequence, Ignore, Illegal") && told.contains("'Bolck'"), "{told}");
    let told = error("x.def", &whole.replace("Move A", "Move (A)"));
    assert!(told.starts_with("x.def:8: '(A)' cannot be the name of a move"), "{told}");
    let point = |images: &str| {
        let text = sample("wheels.kpuzzle.json").replace("[1, 2, 3, 0, 4, 5]", images);
        error("w.kpuzzle.json", &text)
    };
    let told = point("[0, 1, 2, 3, 4, 6]");
    assert!(told.ends_with("not a permutation of 6 points: it contains point 6"), "{told}");
    let told = point("[0, 1, 2, 3, 4, 4]");
    assert!(told.ends_with("point 4 occurs twice"), "{told}");
    let wrong = formats::read("x.def", "Name", None).unwrap_err();
    assert_eq!(Error::from(wrong).class(), Class::Failed);
}

#[test]
fn ignored_pieces_look_alike() {
    let text = |solved: &str, ignored: &str| {
        format!(
            "Set P 5 3\nSolved\nP\n{solved}\nEnd\nMove A\nP\n2 3 1 4 5\n1 0 0 0 0\nEnd\n\
             Move B\nP\n1 2 4 5 3\n0 2 0 1 0\nEnd\n{ignored}"
        )
    };
    let ignoring = |rows: &str| text("1 2 3 4 5", &format!("Ignore\nP\n{rows}\nEnd\n"));
    let of = |text: &str| counts("x.def", text, None);
    let all = of(&text("1 2 3 4 5", ""));
    for (rows, solved) in [
        ("1 1 1 0 0", "1 1 1 4 5"),
        ("0 0 1 1 1\n0 0 1 1 1", "1 2 3 3 3\n0 0 ? ? ?"),
        ("0 0 0 0 0\n1 0 0 1 0", "1 2 3 4 5\n? 0 0 ? 0"),
        ("0 0 0 0 0", "1 2 3 4 5"),
    ] {
        let found = of(&ignoring(rows));
        assert_eq!(found, of(&text(solved, "")), "{rows}");
        assert_eq!(found == all, !rows.contains('1'), "{rows}");
    }
    let told = |rows: &str| error("x.def", &ignoring(rows));
    assert!(
        told("1 2 0 0 0").starts_with("x.def:18: expected 0 or 1, found '2'"),
        "{}",
        told("1 2 0 0 0")
    );
    assert!(told("1 1 0 0 0\n1 0 0 0 0").contains("only some of the identical pieces"));
    let late =
        error("x.def", &(text("1 2 3 4 5", "Illegal P 1 2\n") + "Ignore\nP\n1 1 0 0 0\nEnd\n"));
    assert_eq!(late, "x.def:17: 'Ignore' must come before 'Illegal'");
}

#[test]
fn what_moves_do_can_be_read_from_their_names() {
    let plain = named::parse("3x3x3").unwrap().counting(Turns::Powers).unwrap();
    for generators in
        [&["R2 U", "F"][..], &["R L'"], &["R'", "U3"], &["R2", "U2"], &["[R, U]"], &["(R U)2 F'"]]
    {
        let puzzle = cube(generators);
        for one in puzzle.moves() {
            let (after, _) = plain.read(&one.name).unwrap();
            let expected = plain.after(&plain.solved(), &one.transformation);
            assert_eq!(after, expected, "{generators:?}: {}", one.name);
            assert_eq!(puzzle.read(&one.name).unwrap().0, expected);
        }
    }
    let puzzle = cube(&["R2 U", "F"]);
    let names: Vec<&str> = puzzle.moves().iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names[..3], ["(R2 U)", "F", "(R2 U)2"]);
    assert!(names.contains(&"(R2 U)'") && names.contains(&"F'"), "{names:?}");
    // A scramble in the cube's own moves, which are not moves here.
    let puzzle = cube(&["R", "U"]);
    assert_eq!(puzzle.moves().len(), 6);
    let scramble = "F R F'";
    assert_eq!(puzzle.read(scramble).unwrap().0, plain.read(scramble).unwrap().0);
    assert!(puzzle.read("F Q").is_err());
    // What begins with a digit is an arrangement only if it is a number.
    let big = named::parse("4x4x4").unwrap();
    assert_eq!(big.read("2R3").unwrap().0, big.read("2R'").unwrap().0);
    assert_eq!(big.read("2R2'").unwrap().0, big.read("2R2").unwrap().0);
    let empty = Variant { moves: Variant::split("R,,U"), ..Variant::default() };
    let error = empty.of(plain, Turns::Powers).unwrap_err();
    assert_eq!(error.kind(), PuzzleErrorKind::Missing);
    assert!(error.to_string().starts_with("a sequence of moves is empty"), "{error}");
}

fn turn(source: &[u8]) -> SetAction {
    SetAction { source: source.into(), twist: vec![0; source.len()] }
}

#[test]
fn a_file_keeps_the_names_that_it_gives() {
    let shift = |by: u8| (0..17).map(|p| (p + by) % 17).collect::<Vec<u8>>();
    let one = |name: &str, by: u8| Move {
        name: name.into(),
        transformation: Transformation(vec![turn(&shift(by))]),
        requires: None,
    };
    // R' is another name of L.
    let moves = vec![one("R", 1), one("L", 2), one("R'", 2)];
    let puzzle = Puzzle::new("ring", vec![PieceSet::distinct("P", 17, 1)], moves).unwrap();
    let puzzle = puzzle.inverse_closed().unwrap();
    let after = |text: &str| puzzle.read(text).unwrap().0;
    assert_eq!(after("R'"), after("L"));
    let back = |one: &&Move| one.transformation.0[0].source == shift(16);
    assert_eq!(puzzle.moves().iter().find(back).unwrap().name, "R''");
}

#[test]
fn powers_of_moves_that_need_a_piece_are_moves() {
    let board = Board::parse("1 2 3/4 5 0", None).unwrap();
    let space = StateSpace::of_board(board).in_metric(Metric::Mtm);
    let board = Puzzle::of_space(&space).unwrap();
    let counts = FrontierSearch::new(board.clone()).run().unwrap().counts;
    let powers = FrontierSearch::new(board.with_powers().unwrap()).run().unwrap();
    assert_eq!((powers.counts, counts.iter().sum::<u64>()), (counts, 360));
}

#[test]
fn projections_keep_goals() {
    let goals = vec!["U".into(), "R".into(), "R U".into()];
    let of = |variant: Variant| variant.of(named::parse("2x2x2").unwrap(), Turns::Powers).unwrap();
    let counts = |puzzle| FrontierSearch::new(puzzle).max_depth(3).run().unwrap().counts;
    let puzzle = of(Variant { goals: goals.clone(), ..Variant::default() });
    let pieces = vec![String::from("1-3")];
    let first = puzzle.clone().keeping(&pieces).unwrap();
    let other = of(Variant { pieces, goals, ..Variant::default() });
    assert_eq!(other.goals().len(), 3);
    assert_eq!(first.goals(), other.goals());
    assert_eq!(counts(first), counts(other));
    let corners = puzzle.sets()[0].name.clone();
    let unturned = puzzle.clone().unoriented(std::slice::from_ref(&corners)).unwrap();
    assert_eq!(unturned.goals().len(), 3);
    let alike = puzzle.alike(&[format!("{corners}:1-4")]).unwrap();
    assert!((2..=3).contains(&alike.goals().len()), "{:?}", alike.goals());
}

#[test]
fn states_that_no_moves_reach_have_no_number() {
    let space = StateSpace::of_puzzle(families::parse("topspin:9,4").unwrap());
    let mut rows: Vec<u16> = (0..9).collect();
    assert_eq!(space.ids(&rows).unwrap().len(), 1);
    rows.swap(0, 1);
    let error = space.ids(&rows).unwrap_err();
    assert_eq!(error.class(), Class::NoSolution, "{error}");
}

#[test]
fn public_functions_do_not_panic() {
    let board = StateSpace::of_board(Board::parse("1 2/3 0", None).unwrap());
    for rows in [1, 2048, 2049] {
        assert_eq!(board.after_generators(&[1, 2, 3, 0].repeat(rows)).unwrap(), [0u16; 0]);
    }
    assert_eq!(PositionOrder::choose(5, &[]).path(), [0, 1, 2, 3, 4]);
    let shift = Permutation::from_fn(30, |p| (p + 1) % 30);
    assert_eq!(PositionOrder::choose(30, &[shift]).path().len(), 30);
}

#[test]
fn symmetries_are_claimed_only_if_they_are_all() {
    let reduced = |puzzle: Puzzle, depth: usize| {
        let found = FrontierSearch::new(puzzle).max_depth(depth).run().unwrap();
        found.reduced().map(<[u64]>::to_vec)
    };
    assert_eq!(reduced(cube(&["U", "F", "R"]), 2), Some(vec![1, 2, 9]));
    let squares = cube(&["U2", "D2", "R2", "L2", "F2", "B2"]);
    let all = [1, 1, 2, 5, 18, 56, 162, 482, 1258, 2627, 4094, 4137, 2231, 548, 114, 16];
    assert_eq!(reduced(squares, 20), Some(all.to_vec()));
    let disjoint = formats::read("d.tws", &sample("disjoint.tws"), None).unwrap();
    let disjoint = Puzzle::of_space(&StateSpace::of_puzzle(disjoint)).unwrap();
    assert_eq!(reduced(disjoint, 9), Some(vec![1, 1, 1]));
    // Of 8! symmetries, some are used.
    let stars = StateSpace::of_puzzle(families::parse("stars:9").unwrap());
    assert_eq!(reduced(Puzzle::of_space(&stars).unwrap(), 3), None);
}

/// Texts that are nearly those of a puzzle: each is one, or none.
#[test]
fn no_json_makes_nonsense_a_puzzle() {
    let place = PieceAt { set: 0, position: 0, kind: 0 };
    let mut set = PieceSet::distinct("P", 3, 2);
    set.moduli[1] = 1;
    let one = |name: &str, first: &[u8], last: &[u8], requires| Move {
        name: name.into(),
        transformation: Transformation(vec![turn(first), turn(last)]),
        requires,
    };
    let moves =
        vec![one("A", &[1, 2, 0], &[0, 1], Some(place)), one("B", &[1, 0, 2], &[1, 0], None)];
    let sets = vec![set, PieceSet::distinct("Q", 2, 1)];
    let puzzle = Puzzle::new("some", sets, moves).unwrap();
    let illegal = vec![PieceAt { position: 2, kind: 1, ..place }];
    let text = puzzle.forbidding(illegal).unwrap().to_json();
    assert_eq!(Puzzle::of_json("some", &text).unwrap().to_json(), text);
    let digits: Vec<usize> =
        (0..text.len()).filter(|&i| text.as_bytes()[i].is_ascii_digit()).collect();
    let mut dice = SplitMix64::new(5);
    let (mut read, mut refused) = (0, 0);
    for round in 0..6000 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..1 + round % 3 {
            let at = dice.below(bytes.len() as u64) as usize;
            match dice.below(4) {
                0 => bytes[at] = b"0123456789[]{},:"[dice.below(16) as usize],
                // Fewer or more numbers.
                1 => {
                    let word: [&[u8]; 4] = [b"7,", b",255", b"[],", b"null"];
                    bytes.splice(at..at, word[dice.below(4) as usize].iter().copied());
                }
                _ => {
                    let at = digits[dice.below(digits.len() as u64) as usize].min(bytes.len() - 1);
                    bytes[at] = b"0123456789"[dice.below(10) as usize];
                }
            }
        }
        let Ok(changed) = String::from_utf8(bytes) else { continue };
        let Some(puzzle) = Puzzle::of_json("some", &changed) else {
            refused += 1;
            continue;
        };
        // It can be searched, and written again.
        let again = puzzle.to_json();
        assert_eq!(Puzzle::of_json("some", &again).unwrap().to_json(), again);
        for one in 0..puzzle.moves().len() {
            puzzle.moved(&puzzle.solved(), one);
        }
        let _ = (puzzle.states(), puzzle.reaches(&puzzle.solved()));
        let _ = FrontierSearch::new(puzzle).max_depth(2).run();
        read += 1;
    }
    assert!(read > 100 && refused > 1000, "{read} {refused}");
}
