//! Named puzzles that are not solids cut by planes: Rubik's clock, Square-1 and the gear cube, and how their moves are
//! written.
//!
//! The clock has nine dials in front and nine on the back. A corner's two dials are one gear, so that fourteen of them
//! say it all. Each of four pins is up, which locks the gear of its corner to the front wheels next to it, or down, which
//! locks it to those on the back. A turn of a wheel turns all that is locked together with it: a move is named after the
//! pins that are up, or, with a `b`, after those that are down as they are called on the back.
//!
//! Each layer of Square-1 has twelve places of 30 degrees, from the cut on, clockwise as seen from its own side; a
//! corner is two wedges. Half of the puzzle turns over (`/`) where the cut goes through no corner. So that it always can,
//! no second wedge of a corner may come first after the cut, and no first one last before it, which is the same: a layer
//! turns by any angle that leaves the cut free.
//!
//! A half turn of a face of the gear cube turns the middle layer next to it by a quarter, and its four gears by a sixth of a
//! turn each; a gear looks the same after half a turn. The faces D, B and L stay with the corner that they share. Three
//! corners and the centres follow from the other pieces.
//!
//! Elements with two sides turn over when a part of their row is reversed: burnt pancakes from the top, others anywhere.
//!
//! ```text
//!     UR3+ y2 ALL2-      the clock: three hours with one pin up; from the other side, two hours back with all pins up
//!     (1,-2)/            Square-1: U D2' /
//! ```

use std::ops::Range;

use crate::{
    puzzle::{
        Move, PieceAt, PieceSet, Puzzle, PuzzleError, SetAction, Transformation,
        error::{MAX_LOCATIONS, MAX_REPETITIONS, wrong},
        sets::Notation,
    },
    units::digits,
};

/// The pins, clockwise. A pair of neighbours has a name of its own, and so have all of them.
const PINS: [&str; 4] = ["UR", "DR", "DL", "UL"];
const PAIRS: [&str; 4] = ["R", "D", "L", "U"];

const HOURS: u8 = 12;

/// The pins that are up by the bits of a number.
fn pins_of(code: u8) -> [bool; 4] {
    std::array::from_fn(|pin| code >> pin & 1 == 1)
}

/// The name of a set of pins.
fn pins(up: [bool; 4]) -> String {
    let pair = (0..4).find(|&i| up[i] && up[(i + 1) % 4]);
    match (up.iter().filter(|&&up| up).count(), pair) {
        (4, _) => "ALL".into(),
        (2, Some(first)) => PAIRS[first].into(),
        _ => PINS.iter().zip(up).filter(|(_, up)| *up).map(|(name, _)| *name).collect(),
    }
}

/// Rubik's clock: the dials of the corners in front, row by row; the other ones in front: upper, left, middle, right, lower;
/// and those on the back, in the same order as seen from there.
pub(super) fn clock() -> Puzzle {
    // By pins: the place of a corner seen from either side, and of the dial that follows it clockwise, seen from the front.
    let (corners, mirrored, between) = ([1, 3, 2, 0], [0, 2, 3, 1], [3, 4, 1, 0]);
    let mut moves = Vec::new();
    for code in 1..16 {
        let up = pins_of(code);
        let [mut corner, mut turned_over, mut others] = [4, 4, 5].map(SetAction::still);
        for pin in 0..4 {
            corner.twist[corners[pin]] = up[pin].into();
            turned_over.twist[mirrored[pin]] = if up[pin] { HOURS - 1 } else { 0 };
            others.twist[between[pin]] = (up[pin] || up[(pin + 1) % 4]).into();
        }
        others.twist[2] = 1;
        let still = SetAction::still(5);
        let front = Transformation(vec![corner, others.clone(), still.clone()]);
        moves.push(Move::free(pins(up), front));
        let back = Transformation(vec![turned_over, still, others]);
        moves.push(Move::free(format!("b{}", pins(up)), back));
    }
    moves.sort_by_key(|one| one.name.starts_with('b'));
    let sets = [("corners", 4), ("front", 5), ("back", 5)];
    let sets = sets.map(|(name, dials)| PieceSet::distinct(name, dials, HOURS));
    own("clock", sets.into(), moves, Some(Notation::Clock))
}

/// A family of puzzles whose elements have two sides: its name, the greatest number of elements, and which parts moves
/// turn over, with their names.
type SidedFamily = (&'static str, usize, fn(usize) -> Vec<(String, Range<usize>)>);

pub(super) const TWO_SIDED: [SidedFamily; 2] = [
    // W. H. Gates and C. H. Papadimitriou, Bounds for sorting by prefix reversal (1979).
    ("burnt-pancake", MAX_LOCATIONS / 2, |all| {
        (1..=all).map(|end| (format!("F{end}"), 0..end)).collect()
    }),
    // S. Hannenhalli and P. A. Pevzner, Transforming cabbage into turnip (1995). 990 parts: there can be 1024 moves.
    ("signed-reversals", 44, |all| {
        let parts = (0..all).flat_map(|first| (first + 1..=all).map(move |end| first..end));
        parts.map(|part| (format!("r{}-{}", part.start + 1, part.end), part)).collect()
    }),
];

/// The member of one of these families that a word names; `None` for words of other puzzles.
pub(super) fn two_sided(word: &str) -> Option<Result<Puzzle, PuzzleError>> {
    let (name, count) = word.split_once(':').unwrap_or((word, ""));
    let (family, most, parts) = TWO_SIDED.into_iter().find(|(family, ..)| *family == name)?;
    let Some(count) = digits(count).filter(|count| (2..=most).contains(count)) else {
        let of = format!("{family}:N with an N from 2 to {most}, for example {family}:8");
        return Some(Err(wrong!(Range: "write {of}")));
    };
    let moves = parts(count).into_iter().map(|(name, part)| {
        let mut turn = SetAction::still(count);
        turn.source[part.clone()].reverse();
        turn.twist[part].fill(1);
        Move::free(name, Transformation(vec![turn]))
    });
    let sets = vec![PieceSet::distinct("elements", count as u8, 2)];
    Some(Ok(own(&format!("{family}:{count}"), sets, moves.collect(), None)))
}

/// A puzzle of this project's own.
fn own(name: &str, sets: Vec<PieceSet>, moves: Vec<Move>, notation: Option<Notation>) -> Puzzle {
    let puzzle = Puzzle::new(name, sets, moves).expect("its moves permute its pieces");
    Puzzle { notation, ..puzzle }
}

/// The gear cube: the corners URF, DRB, ULB and DLF, which change places with each other, and the edges of the layers next
/// to R (UF UB DB DF), U (FR FL BL BR) and F (UR DR DL UL), in the order in which a turn of the face takes each to the next.
pub(super) fn gear() -> Puzzle {
    let face = |name: &str, layer: usize, halves: [(usize, [usize; 2]); 2]| {
        let mut turns = [4; 4].map(SetAction::still);
        turns[0].source.swap(0, layer);
        turns[layer] = SetAction { source: vec![3, 0, 1, 2], twist: vec![1; 4] };
        for (layer, [one, other]) in halves {
            turns[layer].source.swap(one, other);
        }
        Move::free(name, Transformation(turns.into()))
    };
    let moves = vec![
        face("U", 2, [(1, [0, 1]), (3, [0, 3])]),
        face("F", 3, [(1, [0, 3]), (2, [0, 1])]),
        face("R", 1, [(2, [0, 3]), (3, [0, 1])]),
    ];
    let sets = [("corners", 1), ("edges", 3), ("edges2", 3), ("edges3", 3)];
    let sets = sets.map(|(name, orientations)| PieceSet::distinct(name, 4, orientations));
    own("gear", sets.into(), moves, None)
}

/// What a word of a competition's scramble turns: `UR3+`, `ALL2-`.
fn scrambled(word: &str) -> Option<(&str, i32)> {
    let (rest, sign) = [("+", 1), ("-", -1)]
        .into_iter()
        .find_map(|(end, sign)| Some((word.strip_suffix(end)?, sign)))?;
    let name = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_name = (1..16).any(|code| pins(pins_of(code)) == name);
    let hours: i32 = rest[name.len()..].parse().ok()?;
    (is_name && hours <= MAX_REPETITIONS as i32).then_some((name, sign * hours))
}

/// Whether a word is one of a scramble of the clock.
pub(super) fn is_clock_word(word: &str) -> bool {
    word == "y2" || scrambled(word).is_some()
}

/// Returns what words do in the clock's own moves, if it is turned over or not, and how it is held at the end.
pub(super) fn clock_moves(words: &[(String, i32)], mut over: bool) -> (Vec<(String, i32)>, bool) {
    let mut made = Vec::new();
    // Which pins are up at the end of a scramble, which is no move.
    let is_pin = |(word, often): &&(String, i32)| {
        *often == 1 && ["UR", "DR", "DL", "UL"].contains(&word.as_str())
    };
    let is_scramble = words.iter().any(|(word, _)| scrambled(word).is_some());
    let pins = words.iter().rev().take_while(is_pin).filter(|_| is_scramble).count();
    for (word, often) in &words[..words.len() - pins] {
        if word == "y2" {
            over ^= often % 2 != 0;
            continue;
        }
        let (name, times) = scrambled(word).unwrap_or((word, 1));
        let name = match (over, name.strip_prefix('b')) {
            (false, _) => name.into(),
            (true, Some(front)) => front.into(),
            (true, None) => format!("b{name}"),
        };
        made.push((name, times * often));
    }
    (made, over)
}

/// Moves of a puzzle, each a name and how often, `None` for one that is no power of one of these.
fn powers<'a>(moves: &'a [String], names: &[&str]) -> Option<Vec<(&'a str, i32)>> {
    let power = |one: &'a String| {
        let (rest, sign) = one.strip_suffix('\'').map_or((&one[..], 1), |rest| (rest, -1));
        let name = rest.trim_end_matches(|c: char| c.is_ascii_digit());
        let often = Some(&rest[name.len()..]).filter(|digits| !digits.is_empty());
        let often: i32 = often.map_or(Some(1), |digits| digits.parse().ok())?;
        names.contains(&name).then_some((name, sign * often))
    };
    moves.iter().map(power).collect()
}

/// The clock's own moves as competitions write them: `UR3+ y2 ALL2-`. `None` for other moves.
pub(super) fn clock_text(moves: &[String]) -> Option<String> {
    let names: Vec<String> = (1..16).map(|code| pins(pins_of(code))).collect();
    let names = names.iter().flat_map(|name| [name.clone(), format!("b{name}")]);
    let names: Vec<String> = names.collect();
    let mut over = false;
    let mut words = Vec::new();
    for (name, hours) in powers(moves, &names.iter().map(String::as_str).collect::<Vec<_>>())? {
        let (plain, back) = name.strip_prefix('b').map_or((name, false), |plain| (plain, true));
        if back != over {
            words.push("y2".to_string());
            over = back;
        }
        words.push(format!("{plain}{}{}", hours.abs(), if hours < 0 { '-' } else { '+' }));
    }
    Some(words.join(" "))
}

/// Moves of Square-1 as competitions write them: `(1,-2)/ (3,0)`. `None` for other moves.
pub(super) fn square_one_text(moves: &[String]) -> Option<String> {
    let pair = |turned: [i32; 2]| {
        // At most half a turn, forwards if it is one.
        let [upper, lower] = turned.map(|times| 6 - (6 - times).rem_euclid(12));
        if [upper, lower] == [0; 2] { String::new() } else { format!("({upper},{lower})") }
    };
    let (mut words, mut turned) = (Vec::new(), [0; 2]);
    for (name, times) in powers(moves, &["U", "D", "/"])? {
        match name {
            "U" => turned[0] += times,
            "D" => turned[1] += times,
            _ => words.push(
                pair(std::mem::take(&mut turned)) + &"/".repeat(times.unsigned_abs() as usize),
            ),
        }
    }
    words.push(pair(turned));
    Some(words.join(" ").trim().into())
}

/// Square-1: the places of the upper layer, then those of the lower one, each from the cut on, with the half that turns
/// over last in the upper and first in the lower layer.
pub(super) fn square_one() -> Puzzle {
    // The first of the two wedges of each corner; edges have one.
    let corners = [0, 3, 6, 9, 13, 16, 19, 22];
    let turn = |first: u8| {
        let mut of = SetAction::still(24);
        for place in 0..12 {
            of.source[usize::from(first + (place + 1) % 12)] = first + place;
        }
        Transformation(vec![of, SetAction::still(1)])
    };
    let mut over = [24, 1].map(SetAction::still);
    for place in 6..12u8 {
        // The half behind the cut, in the same order as seen from the other side.
        over[0].source.swap(place.into(), usize::from(place) + 6);
    }
    over[1].twist[0] = 1;
    let moves = vec![
        Move::free("U", turn(0)),
        Move::free("D", turn(12)),
        Move::free("/", Transformation(over.into())),
    ];
    let illegal = corners.iter().flat_map(|&kind| {
        let cuts = [0, 6, 12, 18];
        cuts.map(|cut| [(cut + 5, kind), (cut, kind + 1)])
    });
    let illegal = illegal.flatten().map(|(position, kind)| PieceAt { set: 0, position, kind });
    let sets = vec![PieceSet::distinct("wedges", 24, 1), PieceSet::distinct("middle", 1, 2)];
    let puzzle = own("square-1", sets, moves, Some(Notation::SquareOne));
    puzzle.forbidding(illegal.collect()).expect("the cut of the solved puzzle is free")
}

/// A scramble of Square-1 with its pairs of numbers written as turns: `(1,-2)/` is `U D2' /`.
pub(super) fn square_one_words(text: &str) -> String {
    let turn = |layer: &str, number: &str| {
        let times: i32 = number.trim().parse().ok()?;
        Some(match times {
            0 => String::new(),
            1.. => format!("{layer}{times} "),
            _ => format!("{layer}{}' ", times.unsigned_abs()),
        })
    };
    let pair = |text: &str| {
        let (inner, rest) = text.split_once(')')?;
        let (top, bottom) = inner.split_once(',')?;
        Some((format!(" {}{}", turn("U", top)?, turn("D", bottom)?), rest.len()))
    };
    let (mut words, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('(') {
        words += before;
        let (made, left) = pair(after).unwrap_or(("(".into(), after.len()));
        words += &made;
        rest = &after[after.len() - left..];
    }
    (words + rest).replace('/', " / ")
}
