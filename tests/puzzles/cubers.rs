//! The notation of cubers against a cube of stickers that is turned layer by layer.

use std::collections::BTreeMap;

use tilewave::puzzle::{Puzzle, Turns, named};
use tilewave::random::SplitMix64;

use crate::cli::stdout as succeeds;

type Point = [i32; 3];

/// The place and the direction of each sticker of a cube or cuboid; coordinates grow to the right, up, and to the front.
#[derive(Clone, PartialEq)]
struct Stickers {
    all: Vec<(Point, Point)>,
}

/// The direction in which each face lies.
const FACES: [(char, Point); 6] = [
    ('U', [0, 1, 0]),
    ('D', [0, -1, 0]),
    ('F', [0, 0, 1]),
    ('B', [0, 0, -1]),
    ('L', [-1, 0, 0]),
    ('R', [1, 0, 0]),
];

fn direction(face: char) -> Point {
    FACES.iter().find(|(name, _)| *name == face).unwrap().1
}

fn dot(a: Point, b: Point) -> i32 {
    (0..3).map(|i| a[i] * b[i]).sum()
}

/// A vector turned a quarter clockwise, as seen from the end of an axis.
fn turned(of: Point, axis: Point) -> Point {
    let [a, b] = [of, axis];
    let cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let along = dot(of, axis);
    std::array::from_fn(|i| cross[i] + along * axis[i])
}

impl Stickers {
    fn solved(layers: i32) -> Stickers {
        Stickers::of([layers; 3])
    }

    /// With numbers of layers from left to right, from bottom to top, and from back to front.
    fn of(layers: [i32; 3]) -> Stickers {
        let [x, y, z] = layers.map(|count| (1 - count..count).step_by(2));
        let mut all = Vec::new();
        for (_, face) in FACES {
            let last: i32 = (0..3).map(|axis| face[axis].abs() * (layers[axis] - 1)).sum();
            for (x, y, z) in x.clone().flat_map(|x| {
                let z = z.clone();
                y.clone().flat_map(move |y| z.clone().map(move |z| (x, y, z)))
            }) {
                if dot([x, y, z], face) == last {
                    all.push(([x, y, z], face));
                }
            }
        }
        Stickers { all }
    }

    /// The number of layers along an axis.
    fn count(&self, axis: Point) -> i32 {
        self.all.iter().map(|(place, _)| dot(*place, axis)).max().unwrap() + 1
    }

    /// Turns layers `first` to `last`, counted from a face, by some quarters.
    fn turn(&mut self, face: char, (first, last): (i32, i32), times: i32) {
        let axis = direction(face);
        let count = self.count(axis);
        for (place, normal) in &mut self.all {
            let layer = (count - 1 - dot(*place, axis)) / 2 + 1;
            if (first..=last).contains(&layer) {
                for _ in 0..times.rem_euclid(4) {
                    (*place, *normal) = (turned(*place, axis), turned(*normal, axis));
                }
            }
        }
    }

    fn make(&mut self, word: &Word) {
        self.turn(word.face, word.layers, word.times);
    }
}

/// A word of the notation, and what it turns.
#[derive(Clone)]
struct Word {
    text: String,
    face: char,
    layers: (i32, i32),
    times: i32,
}

/// All words for a cube.
fn words(layers: i32) -> Vec<Word> {
    let mut bare: Vec<(String, char, (i32, i32))> = Vec::new();
    for (face, _) in FACES {
        bare.push((face.to_string(), face, (1, 1)));
        let small = face.to_ascii_lowercase();
        for name in [format!("{face}w"), small.to_string()] {
            bare.push((name, face, (1, 2)));
        }
        for last in 2..=layers {
            bare.push((format!("{last}{face}w"), face, (1, last)));
            bare.push((format!("{last}{small}"), face, (1, last)));
            bare.push((format!("{last}{face}"), face, (last, last)));
            bare.push((format!("2-{last}{small}"), face, (2, last)));
            bare.push((format!("2-{last}{face}w"), face, (2, last)));
        }
    }
    let middle = (layers + 1) / 2;
    if layers % 2 == 1 {
        for (name, face) in [("M", 'L'), ("E", 'D'), ("S", 'F')] {
            bare.push((name.into(), face, (middle, middle)));
        }
    }
    for (name, face) in [("x", 'R'), ("y", 'U'), ("z", 'F')] {
        bare.push((name.into(), face, (1, layers)));
    }
    let suffixed = |(name, face, layers): (String, char, (i32, i32))| {
        [("", 1), ("2", 2), ("'", -1), ("2'", -2), ("3", 3), ("\u{2019}", -1)]
            .map(|(suffix, times)| Word { text: format!("{name}{suffix}"), face, layers, times })
    };
    bare.into_iter().flat_map(suffixed).collect()
}

fn cube(layers: i32) -> Puzzle {
    let cube = named::parse(&format!("{layers}x{layers}x{layers}")).unwrap();
    cube.counting(Turns::Powers).unwrap()
}

/// The moves of the layers of one axis that a named cube has, in all combinations: the words and the stickers after them.
fn combinations(layers: i32) -> Vec<(String, Vec<Word>)> {
    let mut all = Vec::new();
    for axis in [['U', 'D'], ['F', 'B'], ['R', 'L']] {
        let faces = if layers == 2 { &axis[..1] } else { &axis[..] };
        let of_face = |&face: &char| (1..=layers / 2).map(move |layer| (face, layer));
        let turning: Vec<(char, i32)> = faces.iter().flat_map(of_face).collect();
        for code in 0..4i32.pow(turning.len() as u32) {
            let mut made = Vec::new();
            for (i, &(face, layer)) in turning.iter().enumerate() {
                let times = code / 4i32.pow(i as u32) % 4;
                let number = if layer == 1 { String::new() } else { layer.to_string() };
                if times > 0 {
                    let text = format!("{number}{face}{times}");
                    made.push(Word { text, face, layers: (layer, layer), times });
                }
            }
            let text: Vec<&str> = made.iter().map(|word| &word.text[..]).collect();
            all.push((text.join(" "), made));
        }
    }
    all
}

/// Every word, in sequences: after each, a combination of the cube's own moves must do the same to the stickers of the
/// cube turned back, and to the puzzle.
#[test]
fn sequences_are_those_of_a_cube_of_stickers() {
    let mut random = SplitMix64::new(54);
    let mut compared = 0;
    for layers in 2..=5 {
        let (puzzle, words, combinations) = (cube(layers), words(layers), combinations(layers));
        let by_text: BTreeMap<&str, &Word> =
            words.iter().map(|word| (&word.text[..], word)).collect();
        let rounds = if layers > 3 { 60 } else { 200 };
        for round in 0..rounds {
            let (mut stickers, mut home) = (Stickers::solved(layers), Stickers::solved(layers));
            let (mut text, mut own) = (String::new(), String::new());
            for step in 0..6 {
                // All words come first once, later ones in any order.
                let next = (round * 6 + step) as usize;
                let word =
                    words.get(next).unwrap_or(&words[random.below(words.len() as u64) as usize]);
                stickers.make(word);
                text += &format!(" {}", word.text);
                let (state, moves) = puzzle.read(&text).unwrap();
                let moves = moves.unwrap();
                let mut back = stickers.clone();
                moves.turned_back.split_whitespace().for_each(|turn| back.make(by_text[turn]));
                let same = combinations.iter().find(|(_, made)| {
                    let mut after = home.clone();
                    made.iter().for_each(|word| after.make(word));
                    after == back
                });
                let (same, _) =
                    same.unwrap_or_else(|| panic!("{layers} {text}: {}", moves.turned_back));
                own += &format!(" {same}");
                home = back;
                assert_eq!(state, puzzle.read(&own).unwrap().0, "{layers}: {text}, {own}");
                assert_eq!(moves.effect, puzzle.read(&own).unwrap().1.unwrap().effect);
                compared += 1;
            }
            // What undoes it undoes it, and as often as it says, it changes nothing.
            let undone = puzzle.read(&format!("{text} ({text})'")).unwrap();
            assert_eq!(
                (&undone.0, &undone.1.unwrap().turned_back[..]),
                (&puzzle.solved(), ""),
                "{text}"
            );
            let bare = |text: &str| puzzle.read(&text.replace(' ', "")).unwrap().0;
            // A number between two letters would belong to either.
            if !text.contains(|c: char| c.is_ascii_digit()) {
                assert_eq!(bare(&text), puzzle.read(&text).unwrap().0, "{text}");
            }
            if layers < 4 {
                let order = puzzle.read(&text).unwrap().1.unwrap().order(&puzzle).unwrap();
                let mut at = Stickers::solved(layers);
                let made = |at: &mut Stickers| {
                    text.split_whitespace().for_each(|word| at.make(by_text[word]));
                    *at == Stickers::solved(layers)
                };
                let found = (1u64..).take(1 << 12).find(|_| made(&mut at));
                assert!(found.is_none_or(|found| found == order), "{text}: {order}, {found:?}");
            }
        }
    }
    assert!(compared > 2000, "{compared}");
}

/// Sequences do the same to a cuboid of stickers, turned back, if and only if they are read as the same.
#[test]
fn sequences_are_those_of_a_cuboid_of_stickers() {
    let mut random = SplitMix64::new(63);
    // From left to right, from bottom to top, from back to front.
    for (name, layers) in [
        ("2x2x3", [2, 3, 2]),
        ("2x3x3", [3, 2, 3]),
        ("1x3x3", [3, 1, 3]),
        ("1x2x3", [3, 1, 2]),
        ("2x2x4", [2, 4, 2]),
        ("2x3x4", [4, 2, 3]),
        ("3x4x5", [5, 3, 4]),
        ("3x3x4", [3, 4, 3]),
    ] {
        let puzzle = named::parse(name).unwrap().counting(Turns::Powers).unwrap();
        let most = *layers.iter().max().unwrap();
        let words = [words(most), words(most - 1)].concat();
        let solved = Stickers::of(layers);
        let by_text: BTreeMap<&str, &Word> =
            words.iter().map(|word| (&word.text[..], word)).collect();
        // The colour of the sticker at each place.
        let shown = |stickers: &Stickers| {
            let all = stickers.all.iter().zip(&solved.all).map(|(at, (_, home))| (*at, *home));
            all.collect::<BTreeMap<(Point, Point), Point>>()
        };
        let (mut states, mut stickers_of) = (BTreeMap::new(), BTreeMap::new());
        let (mut refused, mut again) = (0, 0);
        for _ in 0..3000 {
            let (mut stickers, mut text) = (solved.clone(), String::new());
            for _ in 0..=random.below(3) {
                let word = &words[random.below(words.len() as u64) as usize];
                let axis = direction(word.face);
                let count = stickers.count(axis);
                let (first, last) = word.layers;
                // Words for the middle layer and the whole are those of this axis.
                let letter = word
                    .text
                    .trim_start_matches(|c: char| c.is_ascii_digit())
                    .chars()
                    .next()
                    .unwrap();
                let range = match letter {
                    'M' | 'E' | 'S' if count % 2 == 1 => ((count + 1) / 2, (count + 1) / 2),
                    'M' | 'E' | 'S' => continue,
                    'x' | 'y' | 'z' => (1, count),
                    _ if last > count => continue,
                    _ => (first, last),
                };
                let across: Vec<i32> = ['U', 'F', 'R']
                    .map(direction)
                    .into_iter()
                    .filter(|of| dot(*of, axis) == 0)
                    .map(|of| stickers.count(of))
                    .collect();
                let is_whole = range == (1, count);
                if across[0] != across[1] && word.times % 2 != 0 && !is_whole {
                    let read = puzzle.read(&format!("{text} {}", word.text));
                    assert!(
                        read.unwrap_err().to_string().contains("is not square"),
                        "{name}: {text} {}",
                        word.text
                    );
                    refused += 1;
                    continue;
                }
                stickers.turn(word.face, range, word.times);
                text += &format!(" {}", word.text);
            }
            if text.is_empty() {
                continue;
            }
            let (state, moves) =
                puzzle.read(&text).unwrap_or_else(|error| panic!("{name} {text}: {error}"));
            let moves = moves.unwrap();
            for turn in moves.turned_back.split_whitespace() {
                let word = by_text[turn];
                let count = stickers.count(direction(word.face));
                stickers.turn(word.face, (1, count), word.times);
            }
            let shown = shown(&stickers);
            again += usize::from(states.contains_key(&shown));
            assert_eq!(
                states.entry(shown.clone()).or_insert_with(|| state.clone()),
                &state,
                "{name}: {text}"
            );
            assert_eq!(stickers_of.entry(state).or_insert(shown.clone()), &shown, "{name}: {text}");
        }
        assert!(
            states.len() > 10 && again > 200 && refused > 100,
            "{name}: {} {again} {refused}",
            states.len()
        );
    }
    let domino = named::parse("2x3x3").unwrap().counting(Turns::Powers).unwrap();
    let read = |text: &str| domino.read(text).unwrap().0;
    assert_eq!(read("L2 D B2"), read("[y: B2 D R2]"));
    let error = domino.read("R").unwrap_err();
    assert_eq!(error.to_string(), "'R' turns a face that is not square: turn it twice, as R2 does");
    assert!(domino.read("R9").is_err() && domino.read("3D2").is_err());
}

#[test]
fn words_of_cubes_are_told_from_others() {
    let [two, three, four] = [2, 3, 4].map(cube);
    let same = |puzzle: &Puzzle, one: &str, other: &str| {
        assert_eq!(puzzle.read(one).unwrap().0, puzzle.read(other).unwrap().0, "{one}, {other}");
    };
    // Known identities, and what people paste.
    for (one, other) in [
        ("M2 E2 S2", "U2 D2 F2 B2 L2 R2"),
        ("RUR'U'R'FR2U'R'U'RUR'F'", "R U R' U' R' F R2 U' R' U' R U R' F'"),
        ("r U R\u{2019} U\u{2019} r\u{2019} F R F\u{2019}", "L F R' F' L' F R F'"),
        ("x R U", "R F"),
        ("[R: U]x2y", "R U R'"),
        ("(M U)4", "M U M U M U M U"),
        ("R'2", "R2"),
        ("3Rw", ""),
    ] {
        same(&three, one, other);
    }
    same(&two, "L D B", "R x' D B");
    same(&four, "Rw 2L", "R 2R 2L");
    let wrong = [
        (&three, "4R", "'4R' turns a layer that a cube of 3 layers does not have"),
        (&four, "M", "'M' turns the middle layer, and a cube of 4 layers has none"),
        (&three, "Rw3w", "'Rw3w' is not a move of 3x3x3"),
        (&three, "RQ", "'RQ' is not a move of 3x3x3"),
        (&three, "R99999", "'R99999' has too many repetitions"),
        (&three, "((((R)9999)9999)9999)9999", "the sequence has more than 1000000 moves"),
    ];
    for (puzzle, text, says) in wrong {
        let said = puzzle.read(text).unwrap_err().to_string();
        assert!(said.starts_with(says), "{text}: {said}");
    }
    // As moves of a puzzle, only what leaves the cube as it was.
    let moves =
        |text: &str| tilewave::puzzle::Variant { moves: vec![text.into()], ..Default::default() };
    let cube = || named::parse("3x3x3").unwrap();
    let said = moves("M").of(cube(), Turns::Powers).unwrap_err().to_string();
    assert_eq!(
        said,
        "'M' turns the whole cube, and what is fixed stays where it is here: 'M x' is a move, but other states may come from it than from 'M'"
    );
    assert!(moves("M x").of(cube(), Turns::Powers).is_ok());
}

#[test]
fn moves_without_spaces_are_read_where_there_is_one_way_to() {
    let pyraminx = named::parse("pyraminx").unwrap().counting(Turns::Powers).unwrap();
    let read = |text: &str| pyraminx.read(text).map(|(state, _)| state);
    assert_eq!(read("ULR'BU'").unwrap(), read("U L R' B U'").unwrap());
    let skewb = named::parse("skewb").unwrap();
    let names: Vec<&str> = skewb.moves().iter().map(|one| &one.name[..]).collect();
    assert_eq!(skewb.read(&names.concat()).unwrap().0, skewb.read(&names.join(" ")).unwrap().0);
    let megaminx = named::parse("megaminx").unwrap();
    // BRL is BR and L; DBLF is DBL and F, or D and BL and F.
    assert!(megaminx.read("DBLF").is_err());
    assert_eq!(megaminx.read("FUF'").unwrap().0, megaminx.read("F U F'").unwrap().0);
}

/// A solution begins with what turns the cube back, and solves what was given when it is made after it.
#[test]
fn solutions_can_be_made_after_the_moves_that_were_given() {
    for (puzzle, given, back) in [
        ("2x2x2", "R U x F'", true),
        ("2x2x2", "R U F2", false),
        ("2x2x2", "RUR'y2z", true),
        ("pyraminx", "ULR'", false),
    ] {
        let answer =
            succeeds(&["solve", puzzle, given, "--format", "jsonl", "--no-cache", "--quiet"]);
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let moves = answer["moves"].as_str().unwrap();
        let words = moves.split(' ').filter(|word| !word.starts_with(['x', 'y', 'z'])).count();
        assert_eq!(answer["length"], words, "{given}: {moves}");
        assert_eq!(moves.starts_with(['x', 'y', 'z']), back, "{given}: {moves}");
        let of = named::parse(puzzle).unwrap().counting(Turns::Powers).unwrap();
        let (state, all) = of.read(&format!("{given} {moves}")).unwrap();
        let all = all.unwrap();
        assert_eq!((state, &all.turned_back[..]), (of.solved(), ""), "{given}: {moves}");
    }
}

/// What a cube of stickers shows is what the puzzle shows, and is read back.
#[test]
fn stickers_are_those_of_a_cube_of_stickers() {
    let printed: [(char, Point, Point); 6] = [
        ('U', [0, 0, 1], [1, 0, 0]),
        ('R', [0, -1, 0], [0, 0, -1]),
        ('F', [0, -1, 0], [1, 0, 0]),
        ('D', [0, 0, -1], [1, 0, 0]),
        ('L', [0, -1, 0], [0, 0, 1]),
        ('B', [0, -1, 0], [-1, 0, 0]),
    ];
    let mut random = SplitMix64::new(7);
    for layers in 2..=5 {
        let (puzzle, words) = (cube(layers), words(layers));
        let solved = Stickers::solved(layers);
        let own: Vec<&str> = puzzle.moves().iter().map(|one| &one.name[..]).collect();
        for _ in 0..20 {
            let some: Vec<&str> =
                (0..8).map(|_| own[random.below(own.len() as u64) as usize]).collect();
            let mut stickers = solved.clone();
            for name in &some {
                stickers.make(words.iter().find(|word| word.text == *name).unwrap());
            }
            let mut shown = String::new();
            for (face, down, right) in printed {
                let all = stickers.all.iter().zip(&solved.all);
                let on = all.filter(|((_, normal), _)| *normal == direction(face));
                let mut on: Vec<(i32, i32, char)> = on
                    .map(|((place, _), (_, colour))| {
                        let colour = FACES.iter().find(|(_, face)| face == colour).unwrap().0;
                        (dot(*place, down), dot(*place, right), colour)
                    })
                    .collect();
                on.sort_unstable();
                shown.extend(on.iter().map(|(.., colour)| colour));
            }
            let state = puzzle.read(&some.join(" ")).unwrap().0;
            assert_eq!(puzzle.facelets(&state).as_ref(), Some(&shown), "{some:?}");
            assert_eq!(puzzle.read(&shown).unwrap().0, state, "{some:?}");
            assert_eq!(puzzle.read(&puzzle.net(&state).unwrap()).unwrap().0, state, "{some:?}");
            let apart: Vec<String> = shown.chars().map(String::from).collect();
            if apart.windows(2).any(|two| two[0] == two[1]) {
                assert_eq!(puzzle.read(&apart.join(" ")).unwrap().0, state, "{apart:?}");
            }
            if layers % 2 == 1 {
                // Other colours, and a row at a time.
                let colours =
                    shown.replace('U', "W").replace('D', "Y").replace('F', "G").replace('B', "A");
                assert_eq!(puzzle.read(&colours).unwrap().0, state, "{colours}");
                let rows: Vec<&str> = (0..shown.len())
                    .step_by(layers as usize)
                    .map(|i| &shown[i..i + layers as usize])
                    .collect();
                assert_eq!(puzzle.read(&rows.join(" ")).unwrap().0, state, "{rows:?}");
            }
        }
    }
}

#[test]
fn wrong_stickers_are_named() {
    let (two, three) = (cube(2), cube(3));
    let reid = "UF UR UB UL DF DR DB DL FR FL BR BL UFR URB UBL ULF DRF DFL DLB DBR";
    assert_eq!(three.read(reid).unwrap().0, three.solved());
    // R, as M. Reid writes it: the piece at UR is FR, ..
    let turned = "UF FR UB UL DF BR DB DL DR FL UR BL FDR FRU UBL ULF BRD DFL DLB BUR";
    assert_eq!(three.read(turned).unwrap().0, three.read("R").unwrap().0);
    let solved = three.facelets(&three.solved()).unwrap();
    let with = |at: usize, letter: &str| {
        let mut text = solved.clone();
        text.replace_range(at..=at, letter);
        text
    };
    for (text, says) in [
        (with(0, "D"), "no piece has the stickers DBL, which are at UBL"),
        (with(4, "D"), "two centres have the same colour"),
        (with(0, "Q"), "'Q' is not the colour of a face"),
        (reid.replace("UF UR", "UF UF"), "piece UF of set 'edges' occurs 2 times instead of 1"),
        (reid.replace("DBR", "DBX"), "'X' is not the colour of a face"),
    ] {
        let said = three.read(&text).unwrap_err().to_string();
        assert!(said.contains(says), "{text}: {said}");
    }
    let held =
        two.facelets(&two.solved()).unwrap().replace('D', "X").replace('U', "D").replace('X', "U");
    let said = two.read(&held).unwrap_err().to_string();
    assert!(said.contains("hold the cube so that its corner DBL is in place"), "{said}");
    let corners = cube(3).keeping(&["corners".into()]).unwrap();
    let said = corners.read(&solved).unwrap_err().to_string();
    assert!(said.contains("all of its pieces are used"), "{said}");
}

/// A file of a cube reads what the cube reads.
#[test]
fn files_of_cubes_read_the_same_notation() {
    for pieces in [&["corners"][..], &["edges:1-4", "corners"]] {
        let pieces: Vec<String> = pieces.iter().map(|&name| name.into()).collect();
        let part = cube(3).keeping(&pieces).unwrap();
        let again = Puzzle::of_json(part.name(), &part.to_json()).unwrap();
        let text = "Rw U M' x F2 [u: S]";
        assert_eq!(again.read(text).unwrap(), part.read(text).unwrap(), "{pieces:?}");
        // What only has the name of a cube is none.
        let other = Puzzle::of_json("5x5x5", &part.to_json()).unwrap();
        assert!(other.read("M").is_err());
    }
    // Goals are states: they may be given by moves that turn the cube.
    let goals = |text: &str| {
        let goals = vec![text.into()];
        let variant = tilewave::puzzle::Variant { goals, ..Default::default() };
        variant.of(named::parse("2x2x2").unwrap(), Turns::Powers).unwrap()
    };
    assert_eq!(goals("R U x").goals(), goals("R U").goals());
}

/// Sequences are no stickers because they are as long, and long ones are read as fast as they are long.
#[test]
fn long_sequences_are_read() {
    let (two, three) = (cube(2), cube(3));
    let read = |text: &str| two.read(text).unwrap().0;
    assert_eq!(read(&"RU".repeat(12)), read("(R U)12"));
    assert_eq!(read("R R U U F F D D L L B B R R U U F F"), read("R2 U2 F2 D2 L2 B2 R2 U2 F2"));
    assert_eq!(read(&"U R F D L B ".repeat(4)), read("(U R F D L B)4"));
    assert_eq!(three.read(&"R U ".repeat(52_500)).unwrap().0, three.solved());
    assert_eq!(three.read("(R9999 U9999)10000").unwrap().0, three.read("(R' U')25").unwrap().0);
    let pyraminx = named::parse("pyraminx").unwrap();
    assert!(pyraminx.read(&"Q".repeat(1 << 20)).is_err());
}

/// Sets in another order are another puzzle, whose stickers are not shown wrongly.
#[test]
fn stickers_are_shown_of_whole_cubes_only() {
    let five = cube(5);
    let mut names: Vec<String> = five.sets().iter().map(|set| set.name.clone()).collect();
    names.reverse();
    let state = five.read("R 2U F'").unwrap().0;
    let shown = five.facelets(&state).unwrap();
    let other = five.clone().keeping(&names).unwrap();
    let same = other.facelets(&other.read("R 2U F'").unwrap().0);
    assert!(same.is_none_or(|same| same == shown));
    let alike = cube(3).alike(&["edges:1-2".into()]).unwrap();
    assert_eq!(alike.facelets(&alike.solved()), None);
}
