//! Puzzle files: what they mean, and what is said of those that are wrong.

use tilewave::puzzle::Permutation;
use tilewave::puzzle::formats::{self, Format};
use tilewave::puzzle::{Puzzle, Turns};

use super::{after, names, puzzle, sample};

fn refused(file: &str, text: &str) -> String {
    let error = formats::read(file, text, None).unwrap_err().to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

fn read(file: &str, text: &str) -> Puzzle {
    formats::read(file, text, None).unwrap()
}

#[test]
fn the_dino_cube_is_the_same_in_all_formats() {
    let all = ["dino.gap", "dino12.gap", "dino.tws", "dino.kpuzzle.json"].map(puzzle);
    for dino in &all {
        assert_eq!(dino.labels().len(), 12);
        assert_eq!(dino.group_order(), 239_500_800);
        assert_eq!(dino.moves().len(), 16, "8 corners, both ways");
        assert_eq!(dino.fingerprint(), all[0].fingerprint());
        assert!(!dino.is_directed());
        assert_eq!(dino.moves()[0].name, "URF");
        assert!(dino.permutations().iter().all(Permutation::is_even));
    }
    assert_eq!(all[0].name(), "dino");
    let note = &all[0].notes()[0];
    assert!(
        note.starts_with("12 of the 24 points are enough to distinguish all states: 1 "),
        "{note}"
    );
    assert!(all[1..].iter().all(|dino| dino.notes().is_empty()));
    assert_eq!(all[2].labels(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    assert_eq!(all[3].labels(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
}

#[test]
fn samples_have_their_orders() {
    let order = |name: &str| puzzle(name).group_order();
    assert_eq!(order("five.gap"), 120);
    assert_eq!(order("m12.gap"), 95_040);
    // Two wheels that share two pieces make only the 120 permutations of PGL(2, 5).
    assert_eq!(order("wheels.tws"), 120);
    assert_eq!(order("wheels.gap"), 120);
    assert_eq!(order("wheels.kpuzzle.json"), 120);
}

#[test]
fn moves_are_counted_as_asked() {
    let count = |turns| {
        let (counting, directed) = (turns, turns == Some(Turns::Directed));
        ["wheels.gap", "wheels.tws", "wheels.kpuzzle.json"].map(|name| {
            let definition = formats::read(name, &sample(name), counting).unwrap();
            assert_eq!(definition.is_directed(), directed);
            definition.moves().len()
        })
    };
    assert_eq!(count(None), [4, 6, 6]);
    assert_eq!(count(Some(Turns::Powers)), [6, 6, 6]);
    assert_eq!(count(Some(Turns::Quarter)), [4, 4, 4]);
    assert_eq!(count(Some(Turns::Directed)), [2, 2, 2]);
}

#[test]
fn the_format_is_in_the_name() {
    assert_eq!(Format::of("a/b.c/X.TWS"), Some((Format::Ksolve, "X")));
    assert_eq!(Format::of("x.kpuzzle.json"), Some((Format::KPuzzle, "x")));
    assert_eq!(Format::of("x.def"), Some((Format::Ksolve, "x")));
    assert_eq!(Format::of("pancake:4"), None);
    assert_eq!(
        refused("x.txt", ""),
        "x.txt: the format is not known: the name of a puzzle file must end in .gap, .tws, .def or .kpuzzle.json"
    );
}

#[test]
fn gap_statements_may_stand_anyhow() {
    let text = "\u{feff}# remark; (1,2\r\n\r\nM_U  :=\n (1, 2,\n3) # three\n(4,5);b:=(4,5);\nGen := [ M_U ,b ] ;\nip:=[[1], [ 2 ]\n,[3]];";
    let puzzle = read("x.gap", text);
    assert_eq!(names(&puzzle), ["U", "b", "U'"]);
    let expected = Permutation::from_cycles(5, &[vec![0, 1, 2], vec![3, 4]]).unwrap();
    assert_eq!(puzzle.permutations()[0], expected);
    // What is defined and no move does not count.
    assert_eq!(read("x.gap", "a:=(1,2);b:=(1,99);Gen:=[a];").labels().len(), 2);
}

/// A file may ask for much: powers are not made one by one, and a name costs no look at all others.
#[test]
fn large_gap_files_take_no_longer_than_they_are_long() {
    let (mut cycles, mut first) = (String::new(), 1);
    for length in [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37] {
        let points: Vec<String> = (first..first + length).map(|point| point.to_string()).collect();
        cycles += &format!("({})", points.join(","));
        first += length;
    }
    // The order of a is 7,420,738,134,810.
    let text = format!("a:={cycles};b:=a^3000000000000;c:=a^-4420738134810;Gen:=[b*c^-1,(1,2)];");
    assert_eq!(read("x.gap", &text).moves().len(), 1);
    let many: String = (0..400_000).map(|i| format!("x{i}:=A;y{i}:=1;\n")).collect();
    let text = format!("A:=[{}(1,3)];{many}Gen:=A;", "(1,2,3),".repeat(200));
    assert_eq!(read("x.gap", &text).labels().len(), 3);
}

#[test]
fn wrong_gap_files_name_the_line() {
    let ends =
        |text: &str, expected: &str| assert_eq!(refused("toys/x.gap", text), expected, "{text}");
    ends("", "toys/x.gap: the list of moves ('Gen:=[..];') is missing");
    ends("a:=(1,2);\n", "toys/x.gap: the list of moves ('Gen:=[..];') is missing");
    ends(
        "a:=(1,2);\nGen:=[];\n",
        "toys/x.gap:2: no generator moves anything: a puzzle needs at least one that moves a piece",
    );
    ends(
        "a:=();\n\nGen:=[a];\n",
        "toys/x.gap:3: no generator moves anything: a puzzle needs at least one that moves a piece",
    );
    ends("a:=(1,2)\n", "toys/x.gap:1: expected a statement that ends in ';', found 'a:=(1,2)'");
    ends("\na:=(1,2)\nb:=(1,3);\n", "toys/x.gap:2: the ';' after the statement of a is missing");
    ends(
        "\n\na:=(1,2)(2,3);\nGen:=[a];",
        "toys/x.gap:3: a: not a permutation: point 2 occurs twice",
    );
    ends("a:=(1,2)\n(3,\nx);\nGen:=[a];", "toys/x.gap:3: a: expected a point, found 'x'");
    ends("a:=(1,300);\nGen:=[a];", "toys/x.gap:1: a: 300 is not a point: points are 1 to 255");
    ends("a:=(0,3);\nGen:=[a];", "toys/x.gap:1: a: 0 is not a point: points are 1 to 255");
    ends("a:=(1,2);\na:=(1,3);\nGen:=[a];", "toys/x.gap:2: a occurs twice");
    ends("a:=(1,2);\nGen:=[a];\nGen:=[a];", "toys/x.gap:3: Gen occurs twice");
    ends("a:=(1,2);\nGen:=[a,\nb];", "toys/x.gap:3: 'b' is used before it is defined");
    ends("a:=(1,2);\nGen:=[a,];", "toys/x.gap:2: '' is used before it is defined");
    ends(
        "a:=(1,2);\nGen:=[a,a];",
        "toys/x.gap:2: two moves are called 'a': every move must have its own name",
    );
    ends("a:=(1,2);\nGen:=a;", "toys/x.gap:2: expected a list in brackets, found 'a'");
    let deep = |most: usize| format!("a:={}(1,2){};Gen:=[a];", "( ".repeat(most), ")".repeat(most));
    assert_eq!(read("x.gap", &deep(64)).labels().len(), 2);
    ends(
        &deep(100_000),
        "toys/x.gap:1: a: expected at most 64 brackets in brackets, found '( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( '",
    );
    ends("a b:=(1,2);", "toys/x.gap:1: expected the name of a permutation, found 'a b'");
    ends("Size(Group(Gen));", "toys/x.gap: the list of moves ('Gen:=[..];') is missing");
    ends("a;", "toys/x.gap:1: expected 'NAME:=..;', found 'a'");
    ends(
        "a:=(1,2);\nb:=(1,3);\nL:=[a];\nK:=Group(b);",
        "toys/x.gap:4: 'L' and 'K' are different lists of permutations: call the list of moves Gen",
    );
    ends("a:=(1,2);\nG:=Group(a,\nb);", "toys/x.gap:3: 'b' is used before it is defined");
    ends("a:=(1,2)*;\nGen:=[a];", "toys/x.gap:1: a: '' is used before it is defined");
    ends("a:=((1,2);\nGen:=[a];", "toys/x.gap:1: a: expected a point or ')', found ''");
    ends("ip:=[1];", "toys/x.gap:1: expected '[..]', found '1'");
    ends("ip:=1;", "toys/x.gap:1: expected a list of lists in brackets, found '1'");
    ends("a:=\x1b[2J;", "toys/x.gap:1: a: expected a permutation, found '\\u{1b}[2J'");
}

const SET: &str = "Name X\nSet P 3 1\nSolved\nP\n1 2 3\n0 0 0\nEnd\n";

#[test]
fn ksolve_files_may_leave_out_what_is_plain() {
    let whole = read("x.tws", &format!("{SET}Move A\nP\n2 3 1\n0 0 0\nEnd\n"));
    let short = read("x.def", "# remark\n\nSet P 3 1\r\nSolved\r\nEnd\nMove A\nP\n  2\t3 1\nEnd");
    assert_eq!(whole.moves(), short.moves());
    assert_eq!(whole.labels(), short.labels());
    let zero = "Set P 3 1\nStartState\nP\n0 1 2\nEnd\nMoveTransformation A\nP\n1 2 0\nEnd\nMoveAlias B A\n";
    let zero = read("x.tws", zero);
    assert_eq!(zero.moves(), whole.moves());
    assert_eq!(zero.labels(), [0, 1, 2]);
    // Pieces by other numbers, and a set that a move leaves out.
    let text = "Set P 3 1\nSolved\nP\n7 1 5\nEnd\nMove A\nP\n2 3 1\nEnd\nMove N\nEnd\nMove x\nP\n2 1 3\nEnd\n";
    let named = read("x.tws", text);
    assert_eq!(named.show(&after(&named, &Permutation::identity(3), 0)), "1 5 7");
    assert_eq!(named.moves().len(), 2, "neither what moves nothing nor rotations count");
}

#[test]
fn wrong_ksolve_files_name_the_line() {
    let ends = |text: &str, expected: &str| assert_eq!(refused("x.tws", text), expected, "{text}");
    let of = |text: &str, expected: &str| ends(&format!("{SET}{text}"), expected);
    ends("", "x.tws: a 'Move' is missing");
    of("", "x.tws: a 'Move' is missing");
    of(
        "Move A\nP\n1 2 3\nEnd",
        "x.tws:8: no generator moves anything: a puzzle needs at least one that moves a piece",
    );
    of("Move A\nP\n2 2 3\nEnd\n", "x.tws:10: A: not a permutation: point 2 occurs twice");
    of(
        "Move A\nP\n2 4 3\nEnd\n",
        "x.tws:10: A: not a permutation of 3 points: it contains point 4",
    );
    of("Move A\nP\n0 1 2\nEnd\n", "x.tws:10: expected a position, found '0'");
    of("Move A\nP\n2 1\nEnd\n", "x.tws:10: found 2 numbers, but 3 are needed");
    of(
        "Move A\nP\n2 1 3\n0 1 0\nEnd\n",
        "x.tws:11: a piece is turned by 1, but the pieces of its set have only one orientation",
    );
    of("Move A\nP\n2 1 3\n0 0 0\n0 0 0\nEnd\n", "x.tws:12: expected End, found '0'");
    of("Move A\nP\n2 1 x\nEnd\n", "x.tws:10: expected a number, found 'x'");
    of("Move A\nQ\n2 1 3\nEnd\n", "x.tws:9: expected P, found 'Q'");
    of("Move A\nP\nEnd\n", "x.tws:10: expected numbers, found 'End'");
    of("Move A\nP\n2 1 3\nMove B\n", "x.tws:11: expected numbers or End, found 'Move'");
    of("Move A\nP\n2 1 3\n", "x.tws: the 'End' of A is missing");
    of("Move\n", "x.tws:8: expected the name of the move, found the end of the line");
    of("Move A B\n", "x.tws:8: expected the end of the line, found 'B'");
    of(
        "Move A\nP\n2 1 3\nEnd\nMove A\nP\n1 3 2\nEnd\n",
        "x.tws:12: two moves are called 'A': every move must have its own name",
    );
    of("Set Q 3 1\n", "x.tws:8: expected Move, found 'Set'");
    of("Solved\nEnd\n", "x.tws:8: Solved occurs twice");
    of("Illegal P 1 2\n", "x.tws: a 'Move' is missing");
    of("Illegal P 4 2\n", "x.tws:8: expected a position, found '4'");
    of(
        "Illegal P 2 2\n",
        "x.tws:8: piece 2 is at position 2 of P in the solved state, so it cannot be illegal there",
    );
    of("Illegal P 1 4\n", "x.tws:8: expected a piece, found '4'");
    of("Illegal Q 1 1\n", "x.tws:8: expected P, found 'Q'");
    of("Illegal P 1\n", "x.tws:8: expected a piece, found the end of the line");
    of("MoveSequence Z A A\n", "x.tws: a 'Move' is missing");
    of("Move A\nP\n2 1 3\nEnd\nMoveSequence Z A B\n", "x.tws:12: 'B' is not a move");
    of(
        "Move A\nP\n2 1 3\nEnd\nMoveSequence A A A\n",
        "x.tws:12: two moves are called 'A': every move must have its own name",
    );
    of("ParallelMoves\n", "x.tws:8: the 'End' of ParallelMoves is missing");
    of(
        "Turn A\n",
        "x.tws:8: expected Name, Set, Solved, StartState, Move, MoveTransformation, MoveAlias, \
         MoveSequence, Ignore, Illegal, Block, ParallelMoves or Multiplicators, found 'Turn'",
    );
    ends("Set P 3\n", "x.tws:1: expected the number of orientations, found the end of the line");
    ends("Set P 256 1\n", "x.tws:1: the set has 256 pieces, but a set must have 1 to 255");
    ends("Set P 0 1\n", "x.tws:1: the set has 0 pieces, but a set must have 1 to 255");
    ends(
        "Set P 99999999999999999999 1\n",
        "x.tws:1: expected a number, found '99999999999999999999'",
    );
    ends(
        "Set P 3 0\n",
        "x.tws:1: pieces with 0 orientations are not supported here: the number of orientations must be 1 to 127",
    );
    ends("Solved\nEnd\n", "x.tws:1: 'Set' must come before everything else");
    ends("Set P 3 1\nMove A\nEnd\n", "x.tws:2: 'Solved' must come before the first move");
    ends("Set P 3 1\nSolved\nP\n1 ? 2\nEnd\n", "x.tws:4: expected a number, found '?'");
    ends("Set P 3 1\nSet P 3 1\n", "x.tws:2: set P occurs twice");
    let two = "Set P 3 2\nSet Q 2 1\nSolved\nP\n1 1 2\n0 0 1\nEnd\n";
    let of = |text: &str, expected: &str| ends(&format!("{two}{text}"), expected);
    of("Move A\nR\n2 1\nEnd\n", "x.tws:9: expected P or Q, found 'R'");
    of("Move A\nP\n2 1 3\nP\n2 1 3\nEnd\n", "x.tws:11: P occurs twice");
    of("Move A\nP\nQ\n2 1\nEnd\n", "x.tws:10: expected numbers or End, found 'Q'");
    of(
        "Move A\nP\n2 1 3\n0 2 0\nEnd\n",
        "x.tws:11: a piece is turned by 2, but the pieces of its set have only 2 orientations",
    );
    ends(
        "Set P 3 2\nSolved\nP\n1 1 2\n0 ? 0\nEnd\n",
        "x.tws:5: only some of the identical pieces with the number 1 have the orientation '?' (any orientation): give all or none of them a '?'",
    );
}

/// A KPuzzle with some text in place of another.
fn kpuzzle(from: &str, to: &str) -> String {
    let text = sample("wheels.kpuzzle.json");
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

#[test]
fn wrong_kpuzzle_files_name_the_line() {
    let ends = |text: &str, expected: &str| {
        assert_eq!(refused("x.kpuzzle.json", text), format!("x.kpuzzle.json{expected}"), "{text}")
    };
    ends("", ":1: EOF while parsing a value");
    ends("{\n\"orbits\": [\n}", ":3: expected value");
    ends("[]", ":1: invalid type: sequence, expected an object");
    ends("{}", ":1: \"orbits\" is missing");
    ends(
        "{\n\"counts\": [1, 2]}",
        ":2: the file contains the result of a search, not the definition of a puzzle: specify the puzzle itself",
    );
    ends("{\n\"orbits\": []}", ":2: a set of pieces is missing");
    ends("{\n\"orbits\": {}}", ":2: a set of pieces is missing");
    ends("{\n\"orbits\": 3}", ":2: invalid type: integer `3`, expected a sequence");
    ends(
        &kpuzzle(
            " }],",
            " },\n{ \"orbitName\": \"E\", \"numPieces\": 4, \"numOrientations\": 1 }],",
        ),
        ":5: \"E\" is missing",
    );
    ends(
        &kpuzzle("\"numPieces\": 6", "\"numPieces\": 300"),
        ":3: the set has 300 pieces, but a set must have 1 to 255",
    );
    ends(
        &kpuzzle("\"numPieces\": 6", "\"numPieces\": -6"),
        ":3: invalid value: integer `-6`, expected usize",
    );
    ends(&kpuzzle("\"numPieces\": 6", "\"numPieces\": 5"), ":4: found 6 numbers, but 5 are needed");
    ends(
        &kpuzzle("[1, 2, 3, 0, 4, 5]", "[1, 2, 3, 0, 4, 4]"),
        ":6: A: not a permutation: point 4 occurs twice",
    );
    ends(
        &kpuzzle("[0, 1, 3, 4, 5, 2]", "[0, 1, 3, 4, 5]"),
        ":7: found 5 numbers, but 6 are needed",
    );
    ends(
        &kpuzzle("[0, 1, 3, 4, 5, 2]", "[0, 1, 3, 4, 5, 6]"),
        ":7: B: not a permutation of 6 points: it contains point 6",
    );
    ends(
        &kpuzzle("2], \"orientationDelta\": [0", "2], \"orientationDelta\": [1"),
        ":7: a piece is turned by 1, but the pieces of its set have only one orientation",
    );
    ends(
        &kpuzzle("\"orientation\"", "\"orientationMod\": [0, 2, 0, 0, 0, 0], \"orientation\""),
        ":4: expected a value of 'orientationMod' that divides 1, found 2",
    );
    ends(&kpuzzle("\"moves\"", "\"turns\""), ":1: \"moves\" is missing");
    ends(
        &kpuzzle("\"B\"", "\"A\""),
        ":7: two moves are called 'A': every move must have its own name",
    );
    ends(&kpuzzle("\"permutation\"", "\"permutations\""), ":6: \"permutation\" is missing");
    ends(
        &kpuzzle("\"moves\": {", "\"moves\": {}, \"no\": {"),
        ":5: no generator moves anything: a puzzle needs at least one that moves a piece",
    );
    ends(&kpuzzle("\"name\"", "\"moves\": {},\n\"name\""), ":6: \"moves\" occurs twice");
}

#[test]
fn kpuzzles_may_leave_out_the_pattern() {
    let text = kpuzzle("\"defaultPattern\"", "\"other\"");
    let plain = read("wheels.json", &text);
    assert_eq!(plain, puzzle("wheels.kpuzzle.json"));
}
