//! How cubers write moves of named puzzles other than cubes, where that differs from the names of the moves.
//!
//! `R U L B` turn the layers of corners of the skewb, as in scrambles of the WCA, and `F r l f` those of the other
//! corners. `R++` and `D--` turn all of the megaminx but the layer of L or U, by two fifths; `Uv` turns it as a whole,
//! and `x y z` the skewb. `U R L F B BR BL D` are the faces of the octahedron.
//!
//! A word is made at a **place**, the direction of an axis as the puzzle is held. A turn of everything but a layer is a
//! turn of the layer the other way, and one of the whole puzzle. On the skewb, four of the eight corners do not move: a
//! turn of their layer is a turn of the opposite one, and one of the whole:
//!
//! ```text
//!     R++ = L2 Lv2'        B = URF, then the whole about DLB
//! ```

use std::{
    collections::{HashMap, VecDeque},
    sync::OnceLock,
};

use crate::puzzle::{
    PuzzleError,
    cube::Step,
    error::{MAX_REPETITIONS, bail},
    named::{self, Vector},
    sets::Notation,
};

/// How the whole puzzle is turned: for each place, the axis that has come to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Held(Vec<u8>);

impl Held {
    /// After a turn of places.
    fn then(&self, next: &Held) -> Held {
        Held(next.0.iter().map(|&place| self.0[usize::from(place)]).collect())
    }

    fn power(&self, times: i32) -> Held {
        let none = Held((0..self.0.len() as u8).collect());
        let mut order = (1.., self.clone());
        while order.1 != none {
            order = (order.0.start + 1.., order.1.then(self));
        }
        (0..times.rem_euclid(order.0.start)).fold(none, |all, _| all.then(self))
    }

    fn inverse(&self) -> Held {
        let mut back = vec![0; self.0.len()];
        (0..).zip(&self.0).for_each(|(place, &axis)| back[usize::from(axis)] = place);
        Held(back)
    }
}

/// What a word does.
struct SolidWord {
    /// The place whose layer turns, and how often.
    layer: Option<(usize, i32)>,
    /// How the whole puzzle turns.
    whole: Option<Held>,
}

/// The words of a solid.
pub(super) struct SolidWords {
    /// For each axis, the name of the puzzle's own move, if it has one.
    own: Vec<Option<String>>,
    /// For each axis, the opposite one, and the turn of the whole puzzle about it.
    opposite: Vec<usize>,
    about: Vec<Held>,
    words: HashMap<String, SolidWord>,
    /// For each place, the letter that stands for its layer in a sequence that is printed.
    letters: Vec<Option<&'static str>>,
    /// The shortest words that turn the whole puzzle in each way.
    texts: HashMap<Held, String>,
}

/// The words of a notation, unless it is that of cubes.
pub(super) fn words(notation: Notation) -> Option<&'static SolidWords> {
    static ALL: [OnceLock<SolidWords>; 3] = [const { OnceLock::new() }; 3];
    let [of_skewb, of_megaminx, of_octahedron] = &ALL;
    match notation {
        Notation::Layers(_) | Notation::Clock | Notation::SquareOne | Notation::Slides(_) => None,
        Notation::Skewb => Some(of_skewb.get_or_init(skewb)),
        Notation::Megaminx => Some(of_megaminx.get_or_init(megaminx)),
        Notation::Octahedron => Some(of_octahedron.get_or_init(octahedron)),
    }
}

/// The axis and the part of a full turn of a word that turns the whole puzzle.
pub(super) fn whole_turn(notation: Notation, word: &str) -> Option<(Vector, u32)> {
    let axis = |axes: &[(String, Vector)], name: &str| {
        axes.iter().find(|(own, _)| own == name).map(|&(_, axis)| axis)
    };
    match notation {
        Notation::Layers(_) | Notation::Skewb => {
            let face = ["x", "y", "z"].iter().position(|own| *own == word)?;
            let (_, axis) = named::CUBE.iter().find(|(name, _)| *name == ["R", "U", "F"][face])?;
            Some((*axis, 4))
        }
        Notation::Megaminx => Some((axis(&named::dodecahedron(), word.strip_suffix('v')?)?, 5)),
        Notation::Octahedron => {
            let letter = word.strip_suffix('v')?;
            let (_, name) = OCTAHEDRON.iter().find(|(own, _)| *own == letter)?;
            Some((axis(&named::corners(), name)?, 3))
        }
        Notation::Clock | Notation::SquareOne | Notation::Slides(_) => None,
    }
}

/// The names of the faces of an octahedron, in the order of the corners of a cube.
pub(super) fn octahedron_faces() -> Vec<String> {
    let letter = |(corner, _): (String, Vector)| {
        let own = OCTAHEDRON.iter().find(|(_, name)| *name == corner);
        own.map_or(corner.clone(), |(letter, _)| (*letter).into())
    };
    named::corners().into_iter().map(letter).collect()
}

/// The words for the skewb: of each corner, its faces and a letter.
fn skewb() -> SolidWords {
    let corners = named::corners();
    let letters = [
        ("ULB", "U"),
        ("DRB", "R"),
        ("DLF", "L"),
        ("DLB", "B"),
        ("DRF", "F"),
        ("URB", "r"),
        ("ULF", "l"),
        ("URF", "f"),
    ];
    let mut all = SolidWords::of(&corners, 3, 4);
    all.add_layers(letters.map(|(corner, letter)| (letter, corner)), &corners);
    // Competitions write the first four: a turn about each of the others is one about the opposite corner.
    all.letters.iter_mut().for_each(|letter| *letter = letter.filter(|own| "URLB".contains(own)));
    let faces = named::CUBE.map(|(name, face)| (name.to_string(), face));
    for (name, face) in [("x", "R"), ("y", "U"), ("z", "F")] {
        let (_, about) = faces.iter().find(|(name, _)| name == face).expect("it is a face");
        all.add_whole(name, held(&corners, *about, 4));
    }
    all.with_texts(&["x", "y", "z"])
}

fn megaminx() -> SolidWords {
    let faces = named::dodecahedron();
    let mut all = SolidWords::of(&faces, 5, faces.len());
    for (name, place, times) in
        [("R++", "L", 2), ("R--", "L", -2), ("D++", "U", 2), ("D--", "U", -2)]
    {
        let place = faces.iter().position(|(name, _)| name == place).expect("it is a face");
        let whole = Some(all.about[place].power(-times));
        all.words.insert(name.into(), SolidWord { layer: Some((place, times)), whole });
    }
    all.with_whole(&faces)
}

/// The faces of the octahedron by their letters. `F` is opposite `B`, `R` opposite `BL`, and `L` opposite `BR`; `R`, `B` and
/// `L` are next to `U`, counterclockwise.
const OCTAHEDRON: [(&str, &str); 8] = [
    ("U", "URF"),
    ("R", "DRF"),
    ("B", "URB"),
    ("L", "ULF"),
    ("F", "DLF"),
    ("BR", "DRB"),
    ("BL", "ULB"),
    ("D", "DLB"),
];

/// The words for the octahedron.
fn octahedron() -> SolidWords {
    let faces = named::corners();
    let mut all = SolidWords::of(&faces, 3, faces.len());
    all.add_layers(OCTAHEDRON, &faces);
    let places = OCTAHEDRON.map(|(letter, face)| {
        let (_, place) = faces.iter().find(|(name, _)| name == face).expect("it is a face");
        (letter.to_string(), *place)
    });
    all.with_whole(&places)
}

/// Which axis comes to each place when the whole turns by one part of a full turn.
fn held(axes: &[(String, Vector)], about: Vector, parts: u32) -> Held {
    let from = |&(_, place): &(String, Vector)| {
        let comes = |(_, axis): &(String, Vector)| {
            let there = named::turned(*axis, about, parts);
            there.iter().zip(place).all(|(a, b)| (a - b).abs() < 1e-3)
        };
        axes.iter().position(comes).expect("a turn takes axes to axes") as u8
    };
    Held(axes.iter().map(from).collect())
}

impl SolidWords {
    /// The words that name a layer by its axis; the first ones have moves of the puzzle.
    fn of(axes: &[(String, Vector)], parts: u32, own: usize) -> SolidWords {
        let opposite = |&(_, axis): &(String, Vector)| {
            let sum = |(_, other): &(String, Vector)| {
                axis.iter().zip(other).map(|(a, b)| (a + b).abs()).sum::<f64>()
            };
            axes.iter().position(|other| sum(other) < 1e-3).expect("each axis has one")
        };
        let names = (0..).zip(axes).map(|(i, (name, _))| (i < own).then(|| name.clone()));
        let layer = |(place, (name, _)): (usize, &(String, Vector))| {
            (name.clone(), SolidWord { layer: Some((place, 1)), whole: None })
        };
        SolidWords {
            own: names.collect(),
            opposite: axes.iter().map(opposite).collect(),
            about: axes.iter().map(|&(_, axis)| held(axes, axis, parts)).collect(),
            words: axes.iter().enumerate().map(layer).collect(),
            letters: vec![None; axes.len()],
            texts: HashMap::new(),
        }
    }

    /// Adds other names of layers.
    fn add_layers<const N: usize>(
        &mut self,
        names: [(&'static str, &str); N],
        axes: &[(String, Vector)],
    ) {
        for (name, of) in names {
            let place = axes.iter().position(|(axis, _)| axis == of).expect("it is an axis");
            self.letters[place] = Some(name);
            self.words.insert(name.into(), SolidWord { layer: Some((place, 1)), whole: None });
        }
    }

    fn add_whole(&mut self, name: &str, turn: Held) {
        self.words.insert(name.into(), SolidWord { layer: None, whole: Some(turn) });
    }

    /// With a word for a turn of the whole about each axis: `Uv`; `y` is `Uv`.
    fn with_whole(mut self, places: &[(String, Vector)]) -> SolidWords {
        let names: Vec<String> = places.iter().map(|(name, _)| format!("{name}v")).collect();
        for ((of, _), name) in places.iter().zip(&names) {
            let (place, _) = self.words[of].layer.expect("it is a layer");
            self.add_whole(name, self.about[place].clone());
        }
        self.add_whole("y", self.words["Uv"].whole.clone().expect("it turns the whole"));
        self.with_texts(&names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn with_texts(mut self, names: &[&str]) -> SolidWords {
        let none = Held((0..self.own.len() as u8).collect());
        let mut open = VecDeque::from([none.clone()]);
        self.texts.insert(none.clone(), String::new());
        while let Some(at) = open.pop_front() {
            for name in names {
                let one = self.words[*name].whole.clone().expect("it turns the whole");
                let mut turn = one.clone();
                let suffixes = match one.power(4) {
                    back if back == none => &["", "2", "'"][..],
                    same if same == one => &["", "'"],
                    _ => &["", "2", "2'", "'"],
                };
                for suffix in suffixes {
                    let next = at.then(&turn);
                    if !self.texts.contains_key(&next) {
                        let text = format!("{} {name}{suffix}", self.texts[&at]);
                        self.texts.insert(next.clone(), text.trim().into());
                        open.push_back(next);
                    }
                    turn = turn.then(&one);
                }
            }
        }
        self
    }

    /// Splits a word into what it turns and how often.
    fn scan(&self, text: &str) -> Option<(&SolidWord, i32)> {
        if let Some(word) = self.words.get(text) {
            return Some((word, 1));
        }
        let (rest, back) = text.strip_suffix('\'').map_or((text, false), |rest| (rest, true));
        let name = rest.trim_end_matches(|c: char| c.is_ascii_digit());
        let often = match &rest[name.len()..] {
            "" => 1,
            digits => digits.parse().ok().filter(|&often| often <= MAX_REPETITIONS as i32)?,
        };
        Some((self.words.get(name)?, if back { -often } else { often }))
    }

    /// Whether a word is one of these, with or without a suffix.
    pub fn is_word(&self, text: &str) -> bool {
        self.scan(text).is_some()
    }

    /// The puzzle as it is held at first.
    pub fn upright(&self) -> Held {
        Held((0..self.own.len() as u8).collect())
    }

    /// The words that turn the whole puzzle back.
    pub fn turned_back(&self, turned: &Held) -> String {
        self.texts[&turned.inverse()].clone()
    }

    /// Returns what a sequence of words, made as the puzzle is held, is in its own moves, and how it is held at the end.
    pub fn resolved(
        &self,
        words: &[Step],
        mut turned: Held,
    ) -> Result<(Vec<Step>, Held), PuzzleError> {
        let mut made = Vec::new();
        for (text, times) in words {
            let Some((word, often)) = self.scan(text) else {
                if turned != self.upright() {
                    bail!(Unknown: "after a turn of the whole puzzle, '{text}' is not a move");
                }
                made.push((text.clone(), *times));
                continue;
            };
            let times = times * often;
            if let Some((place, turns)) = word.layer {
                // What is at the place now.
                let axis = usize::from(turned.0[place]);
                let turns = turns * times;
                match &self.own[axis] {
                    Some(name) => made.push((name.clone(), turns)),
                    None => {
                        let name = self.own[self.opposite[axis]].clone();
                        made.push((name.expect("one of two moves"), turns));
                        turned = turned.then(&self.about[place].power(turns));
                    }
                }
            }
            if let Some(whole) = &word.whole {
                turned = turned.then(&whole.power(times));
            }
        }
        Ok((made, turned))
    }

    /// Returns the puzzle's own moves in letters, as it is held where some words turn it back; `None` if there are no letters.
    pub fn lettered(&self, turned_back: &str, moves: &[String]) -> Option<String> {
        let mut back = self.upright();
        for word in turned_back.split_whitespace() {
            let (word, times) = self.scan(word)?;
            back = back.then(&word.whole.as_ref()?.power(times));
        }
        let mut turned = back.inverse();
        let mut text = Vec::new();
        for one in moves {
            let (word, often) = self.scan(one)?;
            let (axis, turns) = word.layer?;
            let turns = turns * often;
            let place = turned.0.iter().position(|&at| usize::from(at) == axis)?;
            let letter = self.letters[place].or_else(|| {
                let opposite = self.opposite[place];
                turned = turned.then(&self.about[opposite].power(turns));
                self.letters[opposite]
            })?;
            text.push(match turns {
                1 => letter.to_string(),
                -1 => format!("{letter}'"),
                2.. => format!("{letter}{turns}"),
                _ => format!("{letter}{}'", -turns),
            });
        }
        Some(text.join(" "))
    }
}
