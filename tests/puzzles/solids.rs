//! The words of puzzles other than cubes, against points in space that are turned.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tilewave::puzzle::{Puzzle, Turns, named};
use tilewave::random::SplitMix64;

use crate::{cli::stdout as succeeds, pruning::fails};

type Point = [f64; 3];

fn dot(a: Point, b: Point) -> f64 {
    (0..3).map(|i| a[i] * b[i]).sum()
}

fn unit(a: Point) -> Point {
    a.map(|x| x / dot(a, a).sqrt())
}

/// A point turned clockwise, as seen from the end of an axis, by a part of a full turn (Rodrigues' formula).
fn turned(point: Point, axis: Point, part: f64) -> Point {
    let (sin, cos) = (-part * std::f64::consts::TAU).sin_cos();
    let [a, p] = [axis, point];
    let cross = [a[1] * p[2] - a[2] * p[1], a[2] * p[0] - a[0] * p[2], a[0] * p[1] - a[1] * p[0]];
    let along = dot(axis, point) * (1.0 - cos);
    std::array::from_fn(|i| point[i] * cos + cross[i] * sin + axis[i] * along)
}

/// What a word turns: where points are above or below a height along an axis, or everywhere.
#[derive(Clone, Copy)]
enum Turning {
    Above,
    Below,
    All,
}

/// Points on pieces, and the words that turn them.
struct Model {
    points: Vec<Point>,
    /// For each word without a suffix, where each point comes from.
    words: BTreeMap<String, Vec<usize>>,
}

/// An axis, and the height of its cut.
type Axis = (&'static str, Point, f64);

impl Model {
    /// All points that the axes make of some, and the words for a turn of each axis.
    fn new(
        axes: &[Axis],
        seeds: &[Point],
        order: u32,
        more: &[(&str, Point, f64, Turning, f64)],
    ) -> Model {
        let part = 1.0 / f64::from(order);
        let layers =
            axes.iter().map(|&(name, axis, height)| (name, axis, height, Turning::Above, part));
        let words: Vec<_> = layers.chain(more.iter().copied()).collect();
        let moved =
            |point: Point, &(_, axis, height, turning, part): &(&str, Point, f64, Turning, f64)| {
                let is_there = match turning {
                    Turning::Above => dot(point, axis) > height,
                    Turning::Below => dot(point, axis) < height,
                    Turning::All => true,
                };
                if is_there { turned(point, axis, part) } else { point }
            };
        let near = |points: &[Point], point: Point| {
            points.iter().position(|other| (0..3).all(|i| (other[i] - point[i]).abs() < 1e-6))
        };
        let mut points = seeds.to_vec();
        let mut at = 0;
        while at < points.len() {
            for word in &words {
                let next = moved(points[at], word);
                if near(&points, next).is_none() {
                    points.push(next);
                }
            }
            at += 1;
        }
        assert!(points.len() <= 900, "{}", points.len());
        let all = words.iter().map(|word| {
            let mut from = vec![0; points.len()];
            for (i, &point) in points.iter().enumerate() {
                from[near(&points, moved(point, word)).unwrap()] = i;
            }
            (word.0.to_string(), from)
        });
        let words = all.collect();
        Model { points, words }
    }

    fn solved(&self) -> Vec<usize> {
        (0..self.points.len()).collect()
    }

    /// The points after some words.
    fn after(&self, state: &[usize], text: &str) -> Vec<usize> {
        text.split_whitespace().fold(state.to_vec(), |state, word| {
            let (rest, back) = word.strip_suffix('\'').map_or((word, false), |rest| (rest, true));
            let name = rest.trim_end_matches(|c: char| c.is_ascii_digit());
            let from = self.words.get(name).unwrap_or_else(|| panic!("{name}"));
            let times: usize = rest[name.len()..].parse().unwrap_or(1);
            (0..times).fold(state, |state, _| {
                let mut next = vec![0; state.len()];
                for (at, &from) in from.iter().enumerate() {
                    match back {
                        true => next[from] = state[at],
                        false => next[at] = state[from],
                    }
                }
                next
            })
        })
    }

    /// How often some words must be made until nothing has changed.
    fn order(&self, text: &str) -> u64 {
        let (solved, mut at) = (self.solved(), self.solved());
        (1..)
            .find(|_| {
                at = self.after(&at, text);
                at == solved
            })
            .unwrap()
    }
}

/// Faces of a dodecahedron: U, those next to it counterclockwise, and the opposite ones.
fn megaminx() -> Model {
    let (up, down) = ([0.0, 0.0, 1.0], [0.0, 0.0, -1.0]);
    let mut axes: Vec<Axis> = vec![("U", up, 0.8), ("D", down, 0.8)];
    let ring = [("F", "B"), ("R", "DBL"), ("BR", "DL"), ("BL", "DR"), ("L", "DBR")];
    for (i, (name, opposite)) in ring.into_iter().enumerate() {
        let angle = (i as f64 / 5.0 - 0.25) * std::f64::consts::TAU;
        let axis = unit([2.0 * angle.cos(), 2.0 * angle.sin(), 1.0]);
        axes.extend([(name, axis, 0.8), (opposite, axis.map(|x| -x), 0.8)]);
    }
    let of = |name: &str| axes.iter().find(|axis| axis.0 == name).unwrap().1;
    // A corner and an edge, not on their axes.
    let sum = |parts: &[(&str, f64)]| -> Point {
        std::array::from_fn(|i| parts.iter().map(|&(name, part)| of(name)[i] * part).sum())
    };
    let seeds = [sum(&[("U", 0.75), ("F", 0.65), ("R", 0.6)]), sum(&[("U", 0.75), ("F", 0.65)])];
    let (l, u) = (of("L"), of("U"));
    let mut more = vec![
        ("R++", l, 0.8, Turning::Below, -0.4),
        ("R--", l, 0.8, Turning::Below, 0.4),
        ("D++", u, 0.8, Turning::Below, -0.4),
        ("D--", u, 0.8, Turning::Below, 0.4),
        ("y", u, 0.0, Turning::All, 0.2),
    ];
    let whole = ["Uv", "Fv", "Rv", "BRv", "BLv", "Lv", "Dv", "Bv", "DBLv", "DLv", "DRv", "DBRv"];
    more.extend(whole.map(|name| (name, of(name.trim_end_matches('v')), 0.0, Turning::All, 0.2)));
    Model::new(&axes, &seeds, 5, &more)
}

/// Corners of a cube, by their faces.
fn corner(name: &str) -> Point {
    let sign = |letters: [char; 2]| if name.contains(letters[0]) { 1.0 } else { -1.0 };
    unit([sign(['R', 'L']), sign(['U', 'D']), sign(['F', 'B'])])
}

fn skewb() -> Model {
    let names = ["URF", "DLF", "ULB", "DRB", "DLB", "DRF", "URB", "ULF"];
    let mut axes: Vec<Axis> = names.map(|name| (name, corner(name), 0.0)).to_vec();
    let letters = [("U", "ULB"), ("R", "DRB"), ("L", "DLF"), ("B", "DLB")];
    let others = [("F", "DRF"), ("r", "URB"), ("l", "ULF"), ("f", "URF")];
    axes.extend(letters.iter().chain(&others).map(|&(name, of)| (name, corner(of), 0.0)));
    let whole = [("x", [1.0, 0.0, 0.0]), ("y", [0.0, 1.0, 0.0]), ("z", [0.0, 0.0, 1.0])];
    let more = whole.map(|(name, axis)| (name, axis, 0.0, Turning::All, 0.25));
    Model::new(&axes, &[[0.9, 0.8, 0.7], [0.1, 0.05, 0.9]], 3, &more)
}

/// Faces of an octahedron: R, B and L are next to U, counterclockwise; F is opposite B, R opposite BL, L opposite BR.
fn octahedron() -> Model {
    let ring = |angle: f64| -> Point {
        let angle = angle / 360.0 * std::f64::consts::TAU;
        unit([angle.cos() * 8f64.sqrt(), angle.sin() * 8f64.sqrt(), 1.0])
    };
    let (r, b, l) = (ring(-30.0), ring(90.0), ring(210.0));
    let back = |axis: Point| axis.map(|x| -x);
    let up = [0.0, 0.0, 1.0];
    let faces = [
        ("U", up),
        ("R", r),
        ("B", b),
        ("L", l),
        ("D", back(up)),
        ("BL", back(r)),
        ("F", back(b)),
        ("BR", back(l)),
    ];
    let axes = faces.map(|(name, axis)| (name, axis, 1.0 / 3.0));
    let sum = |parts: &[(Point, f64)]| -> Point {
        std::array::from_fn(|i| parts.iter().map(|(axis, part)| axis[i] * part).sum())
    };
    // A corner, an edge, and centres of both kinds, not on their axes.
    let seeds = [
        sum(&[(up, 0.8), (r, 0.7), (l, 0.6), (back(b), 0.65)]),
        sum(&[(up, 0.8), (r, 0.7)]),
        sum(&[(up, 0.8), (r, 0.36), (l, 0.34)]),
        sum(&[(r, 0.8), (up, 0.36), (back(b), 0.34)]),
    ];
    let whole = ["Uv", "Rv", "Bv", "Lv", "Dv", "BLv", "Fv", "BRv"];
    let of = |name: &str| faces.iter().find(|face| face.0 == name).unwrap().1;
    let more =
        whole.map(|name| (name, of(name.trim_end_matches('v')), 0.0, Turning::All, 1.0 / 3.0));
    Model::new(&axes, &seeds, 3, &more)
}

/// Corners of a tetrahedron, with U on top and L, R and B counterclockwise.
fn pyraminx() -> Model {
    let at = |angle: f64| -> Point {
        let angle = angle / 360.0 * std::f64::consts::TAU;
        unit([angle.cos() * 8f64.sqrt(), angle.sin() * 8f64.sqrt(), -1.0])
    };
    let axes = [("U", [0.0, 0.0, 1.0]), ("L", at(210.0)), ("R", at(-30.0)), ("B", at(90.0))];
    let tips = [("u", "U"), ("l", "L"), ("r", "R"), ("b", "B")];
    let of = |name: &str| axes.iter().find(|axis| axis.0 == name).unwrap().1;
    let sum = |parts: &[(&str, f64)]| -> Point {
        std::array::from_fn(|i| parts.iter().map(|&(name, part)| of(name)[i] * part).sum())
    };
    // Above 1/3 is a layer, above 5/3 a tip.
    // Tips and corners, which turn in place, and an edge.
    let mut seeds = vec![sum(&[("U", 1.3), ("L", 1.2)])];
    for (one, other) in [("U", "L"), ("L", "R"), ("R", "B"), ("B", "U")] {
        seeds.extend([sum(&[(one, 2.6), (other, 0.1)]), sum(&[(one, 1.2), (other, 0.1)])]);
    }
    let more = tips.map(|(name, axis)| (name, of(axis), 5.0 / 3.0, Turning::Above, 1.0 / 3.0));
    Model::new(&axes.map(|(name, axis)| (name, axis, 1.0 / 3.0)), &seeds, 3, &more)
}

fn whole(name: &str) -> Puzzle {
    named::parse(name).unwrap().counting(Turns::Powers).unwrap()
}

/// A word of a model with a suffix.
fn word(model: &Model, random: &mut SplitMix64, from: &[&str]) -> String {
    let names: Vec<&String> = model.words.keys().collect();
    let name = match from.is_empty() {
        true => names[random.below(names.len() as u64) as usize],
        false => from[random.below(from.len() as u64) as usize],
    };
    let suffix = match name.ends_with(['+', '-']) {
        true => "",
        false => ["", "'", "2", "2'"][random.below(4) as usize],
    };
    format!("{name}{suffix}")
}

/// A sequence changes nothing when a model says so, and not before. A mirror image would have other orders.
#[test]
fn sequences_have_the_orders_of_turned_points() {
    for (name, model, words) in [
        ("pyraminx-tips", pyraminx(), &["U", "L", "R", "B", "u", "l", "r", "b"][..]),
        ("fto", octahedron(), &["U", "R", "L", "F", "B", "BR", "BL", "D"]),
        ("megaminx", megaminx(), &["U", "F", "R", "L", "BR", "BL", "DR"]),
    ] {
        let (puzzle, mut random) = (whole(name), SplitMix64::new(6));
        let mut compared = 0;
        while compared < 150 {
            let length = 2 + random.below(4);
            let text: Vec<String> = (0..length).map(|_| word(&model, &mut random, words)).collect();
            let text = text.join(" ");
            let (_, moves) = puzzle.read(&text).unwrap();
            let (expected, found) = (model.order(&text), moves.unwrap().order(&puzzle).unwrap());
            assert_eq!(found, expected, "{name}: {text}");
            compared += 1;
        }
    }
}

/// After each word, the points, with the whole turned back, are those after a turn of the puzzle's own; the puzzle agrees.
#[test]
fn words_are_those_of_turned_points() {
    for (name, model) in [("megaminx", megaminx()), ("skewb", skewb()), ("fto", octahedron())] {
        let (puzzle, mut random) = (whole(name), SplitMix64::new(8));
        let own: Vec<String> = puzzle.moves().iter().map(|one| one.name.clone()).collect();
        let letter = |name: &str| {
            match name {
                // Its own names are corners of a cube.
                "URF" => "U",
                "DRF" => "R",
                "URB" => "B",
                "ULF" => "L",
                "DLF" => "F",
                "DRB" => "BR",
                "ULB" => "BL",
                _ => "D",
            }
            .to_string()
        };
        let physical = |own: &str| match name {
            "fto" if !own.is_empty() => format!(
                "{}{}",
                letter(own.trim_end_matches('\'')),
                if own.ends_with('\'') { "'" } else { "" }
            ),
            _ => own.to_string(),
        };
        for _ in 0..if name == "megaminx" { 20 } else { 60 } {
            let (mut text, mut made) = (String::new(), String::new());
            let (mut all, mut home) = (model.solved(), model.solved());
            for _ in 0..6 {
                let next = word(&model, &mut random, &[]);
                all = model.after(&all, &next);
                text += &format!(" {next}");
                let (state, moves) = puzzle.read(&text).unwrap();
                let moves = moves.unwrap();
                let back = model.after(&all, &moves.turned_back);
                let same = own.iter().map(String::as_str).chain([""]);
                let mut same = same.filter(|one| model.after(&home, &physical(one)) == back);
                let same =
                    same.next().unwrap_or_else(|| panic!("{name}:{text} {}", moves.turned_back));
                made += &format!(" {same}");
                home = back;
                assert_eq!(state, puzzle.read(&made).unwrap().0, "{name}:{text},{made}");
            }
            let undone = puzzle.read(&format!("{text} ({text})'")).unwrap();
            assert_eq!((undone.0, &undone.1.unwrap().turned_back[..]), (puzzle.solved(), ""));
        }
    }
}

/// Scrambles as they are given in competitions: each is read, and what solves it can be made after it.
#[test]
fn scrambles_of_competitions_are_read() {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for line in include_str!("../data/scrambles.txt").lines().filter(|line| !line.starts_with('#'))
    {
        let (name, scramble) = line.split_once(": ").unwrap();
        let puzzle = whole(name);
        let (state, moves) = puzzle.read(scramble).unwrap();
        let back = moves.unwrap().turned_back;
        assert!(state != puzzle.solved(), "{line}");
        let (undone, all) = puzzle.read(&format!("{scramble} ({scramble})'")).unwrap();
        assert_eq!((undone, &all.unwrap().turned_back[..]), (puzzle.solved(), ""), "{line}");
        let (same, all) = puzzle.read(&format!("{scramble} {back}")).unwrap();
        assert_eq!((same, &all.unwrap().turned_back[..]), (state, ""), "{line}");
        *counts.entry(name).or_default() += 1;
    }
    assert!(counts.len() >= 8 && counts.values().all(|&count| count == 10), "{counts:?}");
}

/// The solution is printed so that it can be made after the scramble.
#[test]
fn solutions_can_be_made_after_scrambles() {
    for (name, scramble) in [
        ("skewb", "B' R U' L B R' U B L'"),
        ("skewb", "B"),
        ("skewb", "x B r' F"),
        ("pyraminx-tips", "U L' R u' b"),
        ("megaminx", "R++ D-- U'"),
        ("fto", "U R' BL"),
        ("clock", "UR3+ y2 ALL2-"),
        ("gear", "R U3 F2'"),
    ] {
        let line = ["solve", name, scramble, "--format", "jsonl", "--no-cache", "--quiet"];
        let answer: serde_json::Value = serde_json::from_str(&succeeds(&line)).unwrap();
        let moves = answer["moves"].as_str().unwrap();
        let (state, all) = whole(name).read(&format!("{scramble} {moves}")).unwrap();
        assert_eq!(state, whole(name).solved(), "{moves}");
        // The clock may lie on either side, and a skewb that was turned stays as it is held.
        let is_turned = name == "clock" || scramble.starts_with('x');
        assert!(is_turned || all.unwrap().turned_back.is_empty(), "{moves}");
    }
}

/// The moves of the puzzle itself in the letters of competitions are the same moves, and as many.
#[test]
fn moves_are_written_in_letters() {
    let letters = [
        ("skewb", vec!["U", "R", "L", "B"]),
        ("fto", vec!["U", "R", "B", "L", "F", "BR", "BL", "D"]),
    ];
    for (name, letters) in letters {
        let (puzzle, mut random) = (whole(name), SplitMix64::new(5));
        let mut written = BTreeSet::new();
        for _ in 0..100 {
            let any = |_| {
                let moves = puzzle.moves();
                moves[random.below(moves.len() as u64) as usize].name.clone()
            };
            let moves: Vec<String> = (0..12).map(any).collect();
            let text = puzzle.sequence_style().text(&moves);
            let words = text.split(' ').map(|word| word.trim_end_matches('\'').to_string());
            assert_eq!(words.clone().count(), moves.len());
            written.extend(words);
            let (state, all) = puzzle.read(&text).unwrap();
            assert_eq!(state, puzzle.read(&moves.join(" ")).unwrap().0, "{text}");
            // What undoes them, from the puzzle as it is held then, is the same letters backwards.
            let back = |word: &str| match word.strip_suffix('\'') {
                Some(word) => word.to_string(),
                None => format!("{word}'"),
            };
            let undone: Vec<String> = moves.iter().rev().map(|name| back(name)).collect();
            let letters: Vec<String> = text.split(' ').rev().map(back).collect();
            let solution = puzzle.sequence_style().solution(&all.unwrap().turned_back, &undone);
            assert_eq!(solution, letters.join(" "), "{text}");
        }
        assert_eq!(written, letters.iter().map(|letter| letter.to_string()).collect(), "{name}");
    }
}

/// Ten scrambles of the clock in two phases, and ten of Square-1 with at most ten moves by a list: what is printed is written
/// as scrambles are, and undoes them.
#[test]
fn scrambles_of_mechanisms_are_undone_in_their_notation() {
    for (name, how, most) in [("clock", &["--fast"][..], 14), ("square-1", &[], 10)] {
        let lines = include_str!("../data/scrambles.txt").lines();
        let scrambles: Vec<&str> =
            lines.filter_map(|line| line.strip_prefix(&format!("{name}: "))).collect();
        let fixed = ["solve", name, "--format", "jsonl", "--no-cache", "--quiet"];
        let printed = succeeds(&[&fixed[..], how, &scrambles].concat());
        let answers: Vec<serde_json::Value> =
            printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((scrambles.len(), answers.len()), (10, 10));
        for (scramble, answer) in scrambles.iter().zip(answers) {
            let moves = answer["moves"].as_str().unwrap();
            assert!(answer["length"].as_u64().unwrap() <= most, "{scramble}: {moves}");
            let is_own = |word: &str| match name {
                "clock" => word == "y2" || word.ends_with(['+', '-']),
                _ => word.starts_with(['(', '/']),
            };
            assert!(moves.split(' ').all(is_own), "{moves}");
            let (state, _) = whole(name).read(&format!("{scramble} {moves}")).unwrap();
            assert_eq!(state, whole(name).solved(), "{scramble}: {moves}");
        }
    }
    // Random states as moves that lead there.
    let line = ["scramble", "clock", "--seed", "3"];
    let (state, moves) = (succeeds(&line), succeeds(&[&line[..], &["--moves"]].concat()));
    let clock = whole("clock");
    assert_eq!(clock.read(&moves).unwrap().0, clock.read(state.trim()).unwrap().0, "{moves}");
}

/// Words of another puzzle are told for what they seem to be.
#[test]
fn words_of_other_puzzles_are_named() {
    for (name, text, says) in [
        ("3x3x3", "R++ D-- U'", "a scramble of the megaminx"),
        ("pyraminx", "U L' r b'", "moves of pyraminx-tips"),
        ("megaminx", "Rw U2 Fw'", "moves of 4x4x4"),
        ("3x3x3", "(1,0)/ (3,-3)/", "a scramble of Square-1"),
        ("3x3x3", "UR3+ DR5- DL0+ y2", "a scramble of the clock"),
        ("pyraminx", "R U F2 D", "moves of 3x3x3"),
    ] {
        let said = fails(&["solve", name, text]);
        assert!(said.contains(says) && said.lines().count() == 1, "{name} {text}: {said}");
    }
}
