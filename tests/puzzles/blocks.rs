//! Bandaged puzzles: pieces that are glued together.

use std::path::Path;

use tilewave::frontier::FrontierSearch;
use tilewave::puzzle::{Turns, formats};

use super::{puzzle, sample};
use crate::program::{room, root, run, tilewave};

/// The states of the Bicube at each distance, in face turns (https://www.jaapsch.net/puzzles/bandage.htm).
const BICUBE: [u64; 29] = [
    1, 9, 24, 54, 102, 168, 296, 583, 996, 1817, 3196, 5739, 9785, 17075, 29279, 48552, 77828,
    115384, 155444, 179617, 172952, 133159, 82486, 43199, 19613, 7781, 2833, 747, 81,
];
/// The first ones in quarter turns.
const QUARTERS: [u64; 15] =
    [1, 6, 17, 31, 60, 106, 161, 274, 469, 758, 1232, 2046, 3361, 5464, 8762];

/// The 2x2x2 cube with two neighbouring corners glued together.
const POCKET: &str = "Set CORNERS 8 3
Solved
End
Move U
CORNERS
4 1 2 3 5 6 7 8
End
Move R
CORNERS
5 2 3 1 8 6 7 4
1 0 0 2 2 0 0 1
End
Move F
CORNERS
2 6 3 4 1 5 7 8
2 1 0 0 1 2 0 0
End
Block
CORNERS
1 2
End
";

#[test]
fn the_bicube_has_the_published_states() {
    let bicube = puzzle("bicube.def");
    assert_eq!(bicube.states(), Some(1_108_800u32.into()));
    assert_eq!(bicube.blocks().len(), 12);
    let found = FrontierSearch::new(bicube.clone()).run().unwrap();
    assert_eq!(found.counts, BICUBE);
    for state in bicube.scrambles(1).unwrap().take(20) {
        assert_eq!(bicube.reaches(&state), Some(Ok(())));
    }
    let quarter = formats::read("b.def", &sample("bicube.def"), Some(Turns::Quarter)).unwrap();
    let found = FrontierSearch::new(quarter).max_depth(Some(14)).run().unwrap();
    assert_eq!(found.counts, QUARTERS);
}

/// What the program says.
fn said(args: &[&str]) -> String {
    let done = run(&mut tilewave(args));
    assert!(done.ok(), "{args:?}: {}", done.err);
    done.out
}

/// The number of states at each depth, as the program prints them.
fn counts(args: &[&str]) -> Vec<String> {
    let text = said(args);
    let rows = text.lines().skip(1).take_while(|line| !line.is_empty());
    rows.map(|row| row.split_whitespace().take(2).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn bandaged_puzzles_are_searched_everywhere() {
    let room = room();
    let path = |name: &str| room.path().join(name).to_str().unwrap().to_string();
    let (file, run_dir, saved) = (path("pocket.def"), path("run"), path("pocket.puzzle"));
    std::fs::write(&file, POCKET).unwrap();
    let usual = counts(&["bfs", &file]);
    assert!(usual.len() > 5, "{usual:?}");
    assert_eq!(counts(&["bfs", &file, "--no-symmetry"]), usual);
    assert_eq!(counts(&["bfs", &file, "--dir", &run_dir]), usual);
    said(&["puzzle", &file, "-o", &saved]);
    assert_eq!(counts(&["bfs", &saved]), usual);
    let bicube = root().join("tests/data/puzzles/bicube.def");
    let bicube = Path::new(&bicube).to_str().unwrap();
    let done = run(&mut tilewave(["state", bicube, "U R"]));
    let told = "move 2 of 2, R, is not possible: it takes along only some pieces of the block CORNERS 4, EDGES 4";
    assert_eq!(done.err, format!("error: {told}\n"));
    let table = path("whole.table");
    said(&["table", &file, "-o", &table]);
    let state = said(&["scramble", &file, "--seed", "3"]);
    let length = |args: &[&str]| {
        let text = said(args);
        text.split("  ").nth(1).map(str::to_string)
    };
    let solved = length(&["solve", &file, state.trim()]);
    assert!(solved.as_ref().is_some_and(|text| text.contains("move")), "{solved:?}");
    assert_eq!(length(&["solve", &file, state.trim(), "--pdb", &table]), solved);
}

const CENTRES: &str = "Set C 2 1\nSet P 6 1\nSolved\nEnd\nMove A\nC\n1 2\n1 0\nP\n2 3 4 1 5 6\nEnd\n\
    Move B\nC\n1 2\n0 1\nP\n1 2 4 5 6 3\nEnd\n";

/// ksolve's way to say that a move takes along a centre that nobody sees turn, and the other one.
#[test]
fn centres_with_one_orientation_turn() {
    let block = "Block\nC\n1\nP\n1\nEnd\n";
    let one = formats::read("c.def", &format!("{CENTRES}{block}"), None).unwrap();
    let solved = "Set C 2 4\nSet P 6 1\nSolved\nC\n1 2\n? ?\nEnd\n";
    let four = CENTRES.replace("Set C 2 1\nSet P 6 1\nSolved\nEnd\n", solved);
    let four = formats::read("c.def", &format!("{four}{block}"), None).unwrap();
    assert_eq!(one, four);
    let counts = |puzzle| FrontierSearch::new(puzzle).run().unwrap().counts;
    let found = counts(one);
    // Piece 1 turns with A alone, and never comes to where B would take it.
    assert!(found.len() > 2 && found[1] == 6, "{found:?}");
    let error = formats::read("c.def", CENTRES, None).unwrap_err().to_string();
    assert_eq!(
        error,
        "c.def:8: a piece is turned by 1, but the pieces of its set have only one orientation"
    );
}

#[test]
fn blocks_that_make_no_sense_are_refused() {
    let of = |solved: &str, block: &str, expected: &str| {
        let text = format!("Set P 4 1\nSolved\n{solved}End\n{block}Move A\nP\n2 3 4 1\nEnd\n");
        let error = formats::read("x.def", &text, None).unwrap_err().to_string();
        assert_eq!(error, expected);
    };
    of("", "Block\nP\n1\nEnd\n", "x.def:4: a block needs at least two pieces");
    of("", "Block\nEnd\n", "x.def:4: a block needs at least two pieces");
    of("", "Block\nP\n1 5\nEnd\n", "x.def:6: expected a piece, found '5'");
    of("", "Block\nP\n1 x\nEnd\n", "x.def:6: expected a number, found 'x'");
    of("", "Block\nQ\n1 2\nEnd\n", "x.def:5: expected P, found 'Q'");
    of("", "Block P\n1 2\nEnd\n", "x.def:4: expected the end of the line, found 'P'");
    of("", "Block\nP\n1 1\nEnd\n", "x.def:6: piece 1 of P is in a block already");
    let twice = "Block\nP\n1 2\nEnd\nBlock\nP\n3 2\nEnd\n";
    of("", twice, "x.def:10: piece 2 of P is in a block already");
    of(
        "P\n1 1 2 3\n",
        "Block\nP\n1 2\nEnd\n",
        "x.def:8: several pieces of P have the number 1: a block needs pieces that look different from all others",
    );
    let ignored = "Block\nP\n1 2\nEnd\nIgnore\nP\n1 1 0 0\nEnd\n";
    of("", ignored, "x.def:8: 'Ignore' must come before 'Block'");
    for (text, expected) in [
        ("Set P 4 1\nBlock\nP\n1 2\nEnd\n", "x.def:2: 'Solved' must come before the first 'Block'"),
        ("Set P 4 1\nSolved\nEnd\nBlock\nP\n1 2\n", "x.def:4: the 'End' of Block is missing"),
    ] {
        let error = formats::read("x.def", text, None).unwrap_err().to_string();
        assert_eq!(error, expected);
    }
    let sets = "Set P 100 1\nSet Q 100 1\nSet R 100 1\nSolved\nEnd\nMove A\nP\n2 1";
    let others: Vec<String> = (3..=100).map(|piece| piece.to_string()).collect();
    let all: Vec<String> = (1..=100).map(|piece| piece.to_string()).collect();
    let (others, all) = (others.join(" "), all.join(" "));
    let large = format!("{sets} {others}\nEnd\nBlock\nP\n{all}\nQ\n{all}\nR\n{all}\nEnd\n");
    let error = formats::read("large.def", &large, None).unwrap_err().to_string();
    assert!(error.contains("a block has more than 255 pieces"), "{error}");
    let text = "Set P 4 1\nSolved\nEnd\nMove A\nP\n2 3 4 1\nEnd\nBlock\nP\n1 2\nEnd\n";
    let glued = formats::read("x.def", text, None).unwrap();
    assert!(glued.alike(&["P:1-2".into()]).is_err());
}
