//! Files of stickers: joined to pieces that turn, they are the puzzles that they show.

use std::collections::HashSet;

use proptest::prelude::*;
use tilewave::frontier::FrontierSearch;
use tilewave::puzzle::{PieceSet, Puzzle, Turns};
use tilewave::puzzle::{formats, named};

use super::sample;
use crate::plain::{levels, search};

fn read(name: &str, text: &str) -> Puzzle {
    let puzzle = formats::read(name, text, None).unwrap();
    assert!(puzzle.labels().is_empty(), "{puzzle:?} has positions alone");
    puzzle
}

fn sets(puzzle: &Puzzle) -> String {
    puzzle.sets().iter().map(PieceSet::to_string).collect::<Vec<_>>().join(" ")
}

fn counts(puzzle: &Puzzle, depth: usize) -> Vec<u64> {
    FrontierSearch::new(puzzle.clone()).max_depth(depth).run().unwrap().counts
}

#[test]
fn stickers_are_the_pieces_of_the_puzzle_that_has_a_name() {
    for (file, expected, name, depth) in [
        ("stickers2.gap", "PIECES:7/3", "2x2x2", 20),
        ("stickers3.gap", "PIECES:8/3 PIECES2:12/2", "3x3x3", 5),
        ("colours3.gap", "PIECES:8/3 PIECES2:12/2", "3x3x3", 5),
        // Four corners turn where they are: each is a set of its own.
        (
            "stickers-skewb.gap",
            "PIECES:4/3 POINTS:6 PIECES2:1/3 PIECES3:1/3 PIECES4:1/3 PIECES5:1/3",
            "skewb",
            20,
        ),
    ] {
        let puzzle = read(file, &sample(file));
        let same = named::parse(name).unwrap();
        assert_eq!(sets(&puzzle), expected, "{file}");
        assert_eq!(puzzle.states(), same.states(), "{file}");
        for turns in [Turns::Quarter, Turns::Powers] {
            let (puzzle, same) = (puzzle.clone().counting(turns), same.clone().counting(turns));
            let (puzzle, same) = (puzzle.unwrap(), same.unwrap());
            let depth = if turns == Turns::Powers { depth.min(8) } else { depth };
            assert_eq!(counts(&puzzle, depth), counts(&same, depth), "{file} {turns:?}");
        }
    }
}

/// What stands where after moves that take points to others, told apart by colour.
fn plain(colours: &[usize], moves: &[Vec<usize>]) -> Vec<u64> {
    let after = |state: &Vec<usize>, to: &Vec<usize>| {
        let mut next = state.clone();
        to.iter().zip(state).for_each(|(&to, &colour)| next[to] = colour);
        next
    };
    let around = |state: &Vec<usize>| moves.iter().map(|to| after(state, to)).collect::<Vec<_>>();
    let mut sizes = search([colours.to_vec()], |_, states| states < 20_000, around).1;
    sizes.pop();
    sizes
}

/// Moves of pieces with several stickers each: a permutation of the pieces, and by how much each is turned.
fn text(moves: &[Vec<usize>], colours: &[usize]) -> String {
    let mut text = String::new();
    for (i, to) in moves.iter().enumerate() {
        text += &format!("M{i}:=");
        let mut seen = HashSet::new();
        for first in 0..to.len() {
            if to[first] == first || seen.contains(&first) {
                continue;
            }
            let cycle: Vec<usize> =
                std::iter::successors(Some(first), |&p| Some(to[p]).filter(|&p| p != first))
                    .collect();
            seen.extend(cycle.iter().copied());
            let cycle: Vec<String> = cycle.iter().map(|p| (p + 1).to_string()).collect();
            text += &format!("({})", cycle.join(","));
        }
        text += if text.ends_with('=') { "();\n" } else { ";\n" };
    }
    let names: Vec<String> = (0..moves.len()).map(|i| format!("M{i}")).collect();
    let set = |colour: usize| {
        let points = (0..colours.len()).filter(|&p| colours[p] == colour);
        points.map(|p| (p + 1).to_string()).collect::<Vec<_>>().join(",")
    };
    let most = colours.iter().max().copied().unwrap_or_default();
    let sets: Vec<String> = (0..=most).map(|colour| format!("[{}]", set(colour))).collect();
    text + &format!("Gen:=[{}];\nip:=[{}];\n", names.join(","), sets.join(","))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever points move together, with whatever colours: as many states as colourings.
    #[test]
    fn pieces_say_what_stands_at_every_point(
        each in 1usize..4,
        turns in prop::collection::vec((Just((0..4).collect::<Vec<usize>>()).prop_shuffle(), prop::collection::vec(0usize..4, 4)), 1..3),
        also in any::<bool>(),
        colours in prop::collection::vec(0usize..5, 20),
    ) {
        // Four pieces of so many stickers that go round, and perhaps one more sticker on each.
        let stickers = each + usize::from(also);
        let mut moves: Vec<Vec<usize>> = Vec::new();
        for (to, twist) in &turns {
            let mut one = vec![0; 4 * stickers];
            for piece in 0..4 {
                for s in 0..each {
                    one[piece * stickers + s] = to[piece] * stickers + (s + twist[piece]) % each;
                }
                if also {
                    one[piece * stickers + each] = to[piece] * stickers + each;
                }
            }
            moves.push(one);
        }
        let colours = &colours[..4 * stickers];
        let source = text(&moves, colours);
        let mut closed = moves.clone();
        for one in &moves {
            let mut back = vec![0; one.len()];
            one.iter().enumerate().for_each(|(from, &to)| back[to] = from);
            closed.push(back);
        }
        let expected = plain(colours, &closed);
        // What nobody sees is no puzzle; what has one set of different points is one of positions.
        match formats::read("some.gap", &source, None) {
            Ok(puzzle) if puzzle.labels().is_empty() => {
                let depth = expected.len().saturating_sub(1);
                prop_assert_eq!(levels(&puzzle, depth)[..expected.len()].to_vec(), expected, "{}", source);
            }
            Ok(_) => {}
            Err(error) => prop_assert!(expected.len() == 1, "{error}: {source}"),
        }
    }
}
