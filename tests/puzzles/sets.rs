//! Puzzles of several sets of pieces: files, and transformations, against plain searches.

use tilewave::puzzle::formats;
use tilewave::puzzle::{Placed, Puzzle, Transformation, Turns};
use tilewave::puzzle::{Variant, notation};
use tilewave::random::SplitMix64;

use super::{names, sample};
use crate::plain::levels;

fn read_in(name: &str, turns: Turns) -> Puzzle {
    let puzzle = formats::read(name, &sample(name), Some(turns)).unwrap();
    assert!(puzzle.labels().is_empty(), "{name} has several sets");
    puzzle
}

fn read(name: &str) -> Puzzle {
    read_in(name, Turns::Powers)
}

/// A transformation at random.
fn any(dice: &mut SplitMix64, puzzle: &Puzzle) -> Transformation {
    let mut of = Transformation::identity(puzzle.sets());
    for (turn, set) in of.0.iter_mut().zip(puzzle.sets()) {
        for position in (1..turn.source.len()).rev() {
            turn.source.swap(position, dice.below(position as u64 + 1) as usize);
        }
        turn.twist.fill_with(|| dice.below(set.orientations.into()) as u8);
    }
    of
}

#[test]
fn transformations_are_a_group_that_acts() {
    let puzzle = read("lanterns.tws");
    let sets = puzzle.sets();
    let mut dice = SplitMix64::new(5);
    let still = Transformation::identity(sets);
    for _ in 0..200 {
        let [a, b, c] = [(); 3].map(|()| any(&mut dice, &puzzle));
        assert_eq!(a.then(&b, sets).then(&c, sets), a.then(&b.then(&c, sets), sets));
        assert_eq!(a.then(&still, sets), a);
        assert!(a.then(&a.inverse(sets), sets).is_identity());
        assert!(a.inverse(sets).then(&a, sets).is_identity());
        let (ab, solved) = (a.then(&b, sets), puzzle.solved());
        assert_eq!(puzzle.after(&solved, &ab), puzzle.after(&puzzle.after(&solved, &a), &b));
        // The powers end before the identity, and the last is the inverse.
        let powers = a.powers(sets, 100);
        assert_eq!(powers.last().cloned(), (!a.is_identity()).then(|| a.inverse(sets)));
        for (index, set) in sets.iter().enumerate() {
            let of = |t: &Transformation| t.locations(index, set.orientations);
            let through: Vec<u8> = of(&a).iter().map(|&at| of(&b)[usize::from(at)]).collect();
            assert_eq!(of(&ab), through);
        }
    }
}

#[test]
fn both_formats_say_the_same() {
    let (tws, json) = ("lanterns.tws", "lanterns.kpuzzle.json");
    let (one, other) = (read(tws), read(json));
    assert_eq!(one.sets(), other.sets());
    for of in other.moves() {
        let same = one.moves().iter().find(|one| one.name == of.name).unwrap();
        assert_eq!(same.transformation, of.transformation, "{}", of.name);
    }
    assert_eq!(one.sets()[0].moduli, [4, 4, 1]);
    let solved = &one.sets()[1].solved;
    assert_eq!(solved.iter().map(|piece| piece.kind).collect::<Vec<u8>>(), [0, 0, 1, 2]);
    // A sequence is a move in one format, and a name in the other; rotations and aliases are none.
    assert_eq!(names(&read_in(tws, Turns::Directed)), ["A", "B", "C", "AB"]);
    assert_eq!(names(&read_in(json, Turns::Directed)), ["A", "B", "C"]);
    // Piece 1 goes to position 2 and is turned by 1.
    let after = one.moved(&one.solved(), 0).unwrap();
    let lantern = |kind, turn| Placed { kind, turn };
    assert_eq!(after.0[0], [lantern(1, 0), lantern(0, 1), lantern(2, 0)]);
    // What a file forbids is no state.
    let back = names(&one).iter().position(|&name| name == "A'").unwrap();
    assert_eq!((one.illegal().len(), other.illegal().len()), (1, 0));
    assert_eq!(one.moved(&one.solved(), back), None);
    assert!(other.moved(&other.solved(), back).is_some());
}

#[test]
fn sets_and_moves_can_be_chosen() {
    let part = |name: &str, pieces: &[&str], moves: &[&str]| {
        let owned = |words: &[&str]| words.iter().map(|&word| word.into()).collect();
        let variant = Variant { pieces: owned(pieces), moves: owned(moves), ..Variant::default() };
        variant.of(read_in(name, Turns::Directed), Turns::Powers)
    };
    // 3! * 4 * 4 lanterns of which one's colour is not seen, 4! / 2 rows of beads; the parities of both are free.
    let json = "lanterns.kpuzzle.json";
    let count = |pieces: &[&str], moves: &[&str]| -> u64 {
        levels(&part(json, pieces, moves).unwrap(), 99).iter().sum()
    };
    assert_eq!(count(&["LANTERNS"], &[]), 96);
    assert_eq!(count(&["beads"], &[]), 12);
    assert_eq!(count(&[], &[]), 96 * 12);
    assert_eq!(count(&["BEADS"], &["A"]), 4);
    let error = |name: &str, pieces: &[&str], moves: &[&str]| {
        part(name, pieces, moves).unwrap_err().to_string()
    };
    assert!(error(json, &[], &["A", "Q"]).starts_with("'Q' is not a move"));
    assert_eq!(error(json, &[], &["(A"]), "a bracket is not closed in a sequence of moves");
    assert_eq!(
        error(json, &["STARS"], &[]),
        "no set is called 'STARS': the sets are LANTERNS, BEADS"
    );
    assert_eq!(
        error(json, &["BEADS"], &["B"]),
        "no move changes anything: a puzzle needs at least one move that does"
    );
    assert_eq!(
        error("lanterns.tws", &["LANTERNS"], &[]),
        "set 'BEADS' cannot be left out, because some moves depend on it"
    );
}

#[test]
fn any_file_is_one_kind_of_puzzle_or_the_other() {
    let any = |name: &str, text: &str| formats::read(name, text, None);
    let positions = |name: &str, text: &str| any(name, text).unwrap().labels().len();
    for name in ["wheels.gap", "wheels.tws", "wheels.kpuzzle.json"] {
        assert_eq!(positions(name, &sample(name)), 6);
    }
    assert_eq!(positions("dino.gap", &sample("dino.gap")), 12);
    assert_eq!(positions("2x2x2.tws", &sample("2x2x2.tws")), 0);
    // Stickers of which few do not tell the states apart, and stickers that are alike.
    let cycle = "A:=(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17);\nB:=(1,2);\nGen:=[A,B];";
    assert_eq!(positions("s17.gap", cycle), 0);
    let large = any("s17.gap", cycle).unwrap();
    assert_eq!(names(&large), ["A", "B", "A'"]);
    assert_eq!(levels(&large, 3), [1, 3, 6, 12]);
    let alike =
        "A:=(1,2,3,4,5)(6,7)(8,9);\nGen:=[A];\nip:=[[1,2],[3],\n[4],[5],[6,7]];\nSize(Group(Gen));";
    let alike = any("x.gap", alike).unwrap();
    assert!(alike.labels().is_empty());
    let [set] = alike.sets() else { panic!("stickers in no set of ip look alike") };
    // One move turns all five: each says where the others are, so they are one piece.
    assert_eq!((set.positions(), set.orientations, set.name.as_str()), (1, 5, "PIECES"));
    assert_eq!(levels(&alike, 9), [1, 2, 2, 0]);
    let wrong = any("x.tws", "Set P 2 1\nSolved\nEnd\nMove A\nP\n1 2\nEnd\n").unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "x.tws:4: no generator moves anything: a puzzle needs at least one that moves a piece"
    );
}

#[test]
fn sequences_of_moves_are_read() {
    let puzzle = read_in("lanterns.tws", Turns::Directed).counting(Turns::Powers).unwrap();
    let sets = puzzle.sets();
    let named = |name: &str| {
        let one = puzzle.moves().iter().find(|one| one.name == name && name.len() == 1);
        one.map(|one| one.transformation.clone())
    };
    let of = |text: &str| notation::transformation(text, sets, named);
    for (text, same) in [
        ("", "A A'"),
        ("A2 B3'", "A A B' B' B'"),
        ("[A, B]", "A B A' B'"),
        ("[A B: C]2'", "A B C' C' B' A'"),
        ("(A (B C)2)'", "C' B' C' B' A'"),
        (" ( A )3 B ", "A A A B"),
        ("A0", ""),
    ] {
        assert_eq!(of(text).unwrap(), of(same).unwrap(), "{text}");
    }
    for (text, error) in [
        ("A X2", "'X2' is not a move"),
        ("(A", "a bracket is not closed in a sequence of moves"),
        ("A)", "unexpected ')' in a sequence of moves"),
        ("[A B]", "unexpected ']' in a sequence of moves"),
        ("(A, B)", "unexpected ',' in a sequence of moves"),
        ("A99999", "'A99999' has too many repetitions: at most 10000 are allowed"),
        (&"(".repeat(100), "unexpected '(' in a sequence of moves"),
    ] {
        assert_eq!(of(text).unwrap_err().to_string(), error, "{text}");
    }
}
