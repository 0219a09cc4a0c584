//! How cubers write moves of a cube: turns of several layers, of slices, and of the whole cube.
//!
//! `Rw` and `r` turn the two outer layers of a face, `3Rw` and `3r` three, `2-3r` the second and third, `M E S` the
//! middle layer in the direction of L, D and F, and `x y z` the whole cube in that of R, U and F. A named cube has a
//! turn of each layer but one of each axis: the centres of odd cubes, and one corner of the 2x2x2, stay where they are.
//! A turn of the layer with these is a turn of all other layers the other way, and one of the whole cube:
//!
//! ```text
//!     M  =  L' R x'        what comes after it is read in the cube as it is turned then: x U = F x
//! ```
//!
//! The same is true of cuboids. Where the middle layer of an odd axis is not the fixed one, the moves have a turn of all
//! layers but the fixed one.

use std::{cmp::Reverse, collections::HashMap, sync::OnceLock};

use crate::puzzle::{
    Arrangement, Move, Placed, Puzzle, PuzzleError, derived,
    error::{MAX_REPETITIONS, bail, wrong},
    named::{self, Facelet, PRINTED, Unfolded, unfolded},
    sets::{Layers, Notation},
};

/// A word, and how often its move is made: less than 0 times if it is undone.
pub(super) type Step = (String, i32);

/// The faces, opposite ones next to each other, with the numbers that they have in `named`.
pub(super) const FACES: [u8; 6] = *b"UDFBLR";

/// The faces that an unfolded cube has beside each other, between U and D.
const AROUND: [u8; 4] = *b"LFRB";

/// The place of a face among the stickers of a cube.
fn printed_at(face: u8) -> usize {
    PRINTED.iter().position(|of| FACES[of.0] == face).expect("it is a face")
}

/// The stickers of a cube in rows, the faces around F, from their order in [`Puzzle::facelets`].
pub(super) fn net_of_stickers(stickers: &str, layers: usize) -> String {
    let row = |face: u8, row: usize| {
        let begin = (printed_at(face) * layers + row) * layers;
        stickers[begin..begin + layers].chars().map(|c| format!(" {c}")).collect::<String>()
    };
    let blank = &" ".repeat(2 * layers + 1);
    let single = |face: u8| (0..layers).map(move |i| format!("{blank}{}", row(face, i)));
    let around = (0..layers).map(|i| AROUND.map(|face| row(face, i)).join(" "));
    single(b'U').chain(around).chain(single(b'D')).collect::<Vec<String>>().join("\n")
}

/// The stickers of a cube in the order of [`Puzzle::facelets`], from lines as [`net_of_stickers`] has them; `None` if they
/// are none.
fn stickers_of_net(text: &str, layers: usize) -> Option<String> {
    let rows = text.lines().map(|line| line.split_whitespace().collect::<String>());
    let rows: Vec<String> = rows.filter(|row| !row.is_empty()).collect();
    let is_around = |row: usize| (layers..2 * layers).contains(&row);
    let fits = |(i, row): (usize, &String)| {
        row.is_ascii() && row.len() == if is_around(i) { 4 * layers } else { layers }
    };
    if rows.len() != 3 * layers || !rows.iter().enumerate().all(fits) {
        return None;
    }
    let mut faces = vec![String::new(); PRINTED.len()];
    for (i, row) in rows.iter().enumerate() {
        let above = if i < layers { b"U" } else { b"D" };
        let named: &[u8] = if is_around(i) { &AROUND } else { above };
        for (at, &face) in named.iter().enumerate() {
            faces[printed_at(face)] += &row[at * layers..][..layers];
        }
    }
    Some(faces.concat())
}

/// How the whole cube is turned: the face that has come to each place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rotation([u8; 6]);

impl Default for Rotation {
    fn default() -> Rotation {
        Rotation([0, 1, 2, 3, 4, 5])
    }
}

impl Rotation {
    /// A quarter turn in the direction of a face.
    fn about(face: usize) -> Rotation {
        // Where each of four faces comes from.
        let cycle: [u8; 4] = match face / 2 {
            // U: F goes to L, L to B, B to R, R to F.
            0 => [2, 4, 3, 5],
            // F: U goes to R, R to D, D to L, L to U.
            1 => [0, 5, 1, 4],
            // L: U goes to F, F to D, D to B, B to U.
            _ => [0, 2, 1, 3],
        };
        let mut from = Rotation::default();
        for i in 0..4 {
            from.0[usize::from(cycle[(i + 1) % 4])] = cycle[i];
        }
        // Of the two faces of an axis, these come first: U, F and L.
        if face.is_multiple_of(2) { from } else { from.inverse() }
    }

    fn power(self, times: i32) -> Rotation {
        (0..times.rem_euclid(4)).fold(Rotation::default(), |all, _| all.then(self))
    }

    pub fn then(self, next: Rotation) -> Rotation {
        Rotation(next.0.map(|place| self.0[usize::from(place)]))
    }

    pub fn inverse(self) -> Rotation {
        let mut back = [0; 6];
        (0..6).for_each(|place| back[usize::from(self.0[place])] = place as u8);
        Rotation(back)
    }

    /// The turns of the whole cube that make it: at most two.
    pub fn text(self) -> String {
        static ALL: OnceLock<Vec<(Rotation, String)>> = OnceLock::new();
        let all = ALL.get_or_init(|| {
            let turns = [("x", b'R'), ("y", b'U'), ("z", b'F')];
            let single = turns.iter().flat_map(|&(name, of)| {
                let about = Rotation::about(face(of).expect("it is one"));
                [(1, ""), (2, "2"), (3, "'")]
                    .map(|(times, suffix)| (about.power(times), format!("{name}{suffix}")))
            });
            let single: Vec<_> = single.collect();
            let mut all = vec![(Rotation::default(), String::new())];
            all.extend(single.iter().cloned());
            for (one, first) in &single {
                all.extend(
                    single
                        .iter()
                        .map(|(two, second)| (one.then(*two), format!("{first} {second}"))),
                );
            }
            all
        });
        let (_, text) =
            all.iter().find(|(of, _)| *of == self).expect("two turns make any rotation");
        text.clone()
    }
}

fn face(letter: u8) -> Option<usize> {
    FACES.iter().position(|&face| face == letter)
}

/// What a word turns: layers of a face, and the number of quarter turns.
struct LayerTurn {
    first: usize,
    last: usize,
    face: usize,
    times: i32,
}

/// Returns the parts of a move at the beginning of a text: numbers, letter, whether it is wide, and suffix; and its
/// length.
fn scan(text: &str) -> Option<([&str; 4], usize)> {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut at = digits(0);
    if at > 0 && text[at..].starts_with('-') {
        let more = digits(at + 1);
        at += if more > 0 { 1 + more } else { 0 };
    }
    let numbers = &text[..at];
    let letter = text.get(at..=at).filter(|letter| "UDFBLRudfblrMESxyz".contains(*letter))?;
    at += 1;
    let wide =
        text.get(at..=at).filter(|&wide| wide == "w" && face(letter.as_bytes()[0]).is_some());
    at += usize::from(wide.is_some());
    let begin = at;
    at += digits(at);
    if text[at..].starts_with('\'') {
        at += 1;
        // As in R'2; before another move, the number is that of its layer.
        if at == begin + 1 && digits(at) == text.len() - at {
            at = text.len();
        }
    }
    Some(([numbers, letter, wide.unwrap_or_default(), &text[begin..at]], at))
}

/// Splits moves without spaces between them; a number after a letter belongs to it.
pub(super) fn split(text: &str) -> Option<Vec<String>> {
    let (mut words, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let (_, len) = scan(rest)?;
        words.push(rest[..len].to_string());
        rest = &rest[len..];
    }
    (words.len() > 1).then_some(words)
}

/// Whether a word turns layers of a cube or cuboid, however it is held.
pub(super) fn is_word(layers: &Layers, text: &str) -> Result<bool, PuzzleError> {
    let Some((parts, _)) = scan(text).filter(|(_, len)| *len == text.len()) else {
        return Ok(false);
    };
    let mut all = layers.counts().map(|count| read(count, parts, text).map(|word| word.is_some()));
    let best = all.iter().position(|found| matches!(found, Ok(true)));
    std::mem::replace(&mut all[best.unwrap_or_default()], Ok(false))
}

/// The face in whose direction a word turns.
fn face_of(letter: &str) -> usize {
    let face = match letter {
        "x" => b'R',
        "y" => b'U',
        "z" | "S" => b'F',
        "M" => b'L',
        "E" => b'D',
        face => face.as_bytes()[0].to_ascii_uppercase(),
    };
    FACES.iter().position(|&own| own == face).expect("letters are those of faces")
}

/// Returns what a sequence of words, made on a turned cube or cuboid, is in moves of the one that is not turned, and how
/// it is turned at the end.
pub(super) fn resolved(
    layers: &Layers,
    words: &[Step],
    mut turned: Rotation,
) -> Result<(Vec<Step>, Rotation), PuzzleError> {
    let mut made = Vec::new();
    for (text, often) in words {
        let parts = scan(text).filter(|(_, len)| *len == text.len()).map(|(parts, _)| parts);
        // What is at the place of the face now, and its axis.
        let at = |[_, letter, ..]: [&str; 4]| usize::from(turned.0[face_of(letter)]);
        let word = parts
            .map(|parts| read(layers.counts()[at(parts) / 2], parts, text))
            .transpose()?
            .flatten();
        let (Some(word), Some(face)) = (word, parts.map(at)) else {
            if turned != Rotation::default() {
                bail!(Unknown: "after a turn of the whole cube, '{text}' is not a move");
            }
            made.push((text.clone(), *often));
            continue;
        };
        let (axis, LayerTurn { first, last, face: place, times }) = (face / 2, word);
        let (count, fixed) = (layers.counts()[axis], layers.fixed(axis));
        let times = (times * often).rem_euclid(4);
        // U, F and R are the first faces of their axes.
        let is_first = matches!(FACES[face], b'U' | b'F' | b'R');
        let is_fixed =
            |layer: usize| fixed == Some(if is_first { layer } else { count + 1 - layer });
        let chosen = |layer: &usize| (first..=last).contains(layer);
        let turns_whole = last - first + 1 == count || (first..=last).any(is_fixed);
        let mut turning: Vec<usize> =
            (1..=count).filter(|layer| chosen(layer) != turns_whole).collect();
        let mut own = if turns_whole { -times } else { times };
        let half = if layers.is_square(axis) { "" } else { "2" };
        if !turning.is_empty() && !half.is_empty() {
            if own % 2 != 0 {
                bail!(Impossible: "'{text}' turns a face that is not square: turn it twice, as {}2 does",
                    text.trim_end_matches(['\'', '3']));
            }
            own /= 2;
        }
        // A middle layer that is not fixed turns with all others, which turn back.
        let middle = (count % 2 == 1).then(|| count.div_ceil(2));
        if let (Some(wide), true) =
            (layers.wide(axis), middle.is_some_and(|layer| turning.contains(&layer)))
        {
            let face = if is_first { face } else { face ^ 1 };
            let name = named::wide_name(wide, &char::from(FACES[face]).to_string());
            made.push((format!("{name}{half}"), if is_first { own } else { -own }));
            turning =
                (1..=count).filter(|layer| !turning.contains(layer) && !is_fixed(*layer)).collect();
            own = -own;
        }
        let one = |layer: usize| {
            let (layer, face, times) = match 2 * layer <= count {
                true => (layer, face, own),
                false => (count + 1 - layer, face ^ 1, -own),
            };
            (named::layer_name(layer, &char::from(FACES[face]).to_string()) + half, times)
        };
        made.extend(turning.into_iter().map(one));
        if turns_whole {
            turned = turned.then(Rotation::about(place).power(times));
        }
    }
    Ok((made, turned))
}

fn read(
    layers: usize,
    [numbers, letter, wide, suffix]: [&str; 4],
    text: &str,
) -> Result<Option<LayerTurn>, PuzzleError> {
    let number = |text: &str| text.parse().ok().filter(|layer| (1..=layers).contains(layer));
    let no_layer =
        || wrong!(Range: "'{text}' turns a layer that a cube of {layers} layers does not have");
    let numbers: Vec<usize> = match numbers {
        "" => Vec::new(),
        _ => numbers.split('-').map(number).collect::<Option<_>>().ok_or_else(no_layer)?,
    };
    let digits = suffix.trim_matches('\'');
    let often = if digits.is_empty() { Some(1) } else { digits.parse().ok() };
    let Some(often) = often.filter(|&times| times <= MAX_REPETITIONS as i32) else {
        return Ok(None);
    };
    let times = if suffix.contains('\'') { -often } else { often };
    let is_wide = !wide.is_empty() || letter.to_ascii_lowercase() == *letter;
    let turn = |first, last| Some(LayerTurn { first, last, face: face_of(letter), times });
    let middle = layers.div_ceil(2);
    let turns_all = matches!(letter, "x" | "y" | "z");
    Ok(match (turns_all || matches!(letter, "M" | "E" | "S"), &numbers[..]) {
        (true, [_, ..]) => None,
        (true, []) if turns_all => turn(1, layers),
        (true, []) if layers.is_multiple_of(2) => {
            bail!(Range: "'{text}' turns the middle layer, and a cube of {layers} layers has none")
        }
        (true, []) => turn(middle, middle),
        (false, &[]) if is_wide => turn(1, 2),
        (false, &[last]) if is_wide => turn(1, last),
        (false, &[first, last]) if is_wide && first <= last => turn(first, last),
        (false, &[]) => turn(1, 1),
        (false, &[layer]) => turn(layer, layer),
        _ => None,
    })
}

// The stickers of a state: how they are read; `net` writes them.
//
// The 54 stickers of a 3x3x3 are written face by face, in the order U, R, F, D, L, B, each sticker as the face that has
// its colour. M. Reid's form names the piece at each place instead: `UF UR UB UL DF DR DB DL FR FL BR BL UFR URB ..` is
// the solved cube.

/// The places of Reid's form.
const REID: &str = "UF UR UB UL DF DR DB DL FR FL BR BL UFR URB UBL ULF DRF DFL DLB DBR";

impl Puzzle {
    /// The layers of a named cube or cuboid.
    pub(super) fn layered(&self) -> Option<Layers> {
        match self.notation? {
            Notation::Layers(layers) => Some(layers),
            _ => None,
        }
    }

    /// The number of layers of a named cube.
    pub(crate) fn layers(&self) -> Option<usize> {
        self.layered()?.of_cube()
    }

    /// The notation of the named puzzle from which this one was made, as its name says and its moves confirm: files have
    /// nothing else.
    pub(super) fn notation_by_name(&self) -> Option<Notation> {
        let word = self.name().split(' ').next()?;
        if let Ok(size) = word.parse() {
            return derived::is_board(self, size).then_some(Notation::Slides(size));
        }
        let whole = named::parse(word)?;
        let own = whole.moves().iter().map(|one| (self.named_move(&one.name), one));
        let own: Vec<(&Move, &Move)> = own.filter_map(|(own, one)| Some((own?, one))).collect();
        let same = |(own, one): &(&Move, &Move)| {
            self.sets().iter().zip(&own.transformation.0).all(|(set, own)| {
                let at = whole.sets().iter().position(|other| other.name == set.name);
                at.is_some_and(|at| own.source == one.transformation.0[at].source)
            })
        };
        whole.notation.filter(|_| !own.is_empty() && own.iter().all(same))
    }

    /// The whole cube of which this is one, with all its pieces, or `None` where some are left out or look alike.
    pub(super) fn whole_cube(&self) -> Option<(usize, Unfolded)> {
        let layers = self.layers()?;
        let unfolded = unfolded(layers);
        (self.sets() == unfolded.sets).then_some((layers, unfolded))
    }

    /// Returns the state whose stickers a text gives, or `None` if it gives none.
    pub(super) fn read_facelets(&self, text: &str) -> Option<Result<Arrangement, PuzzleError>> {
        let layers = self.layers()?;
        let area = layers * layers;
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_reid =
            words.len() == 20 && (0..20).all(|i| words[i].len() == if i < 12 { 2 } else { 3 });
        let unfolded = stickers_of_net(text, layers);
        let letters = unfolded.clone().unwrap_or_else(|| words.concat());
        // About as many of each of six colours, up to two mistakes: moves without spaces may have as many letters, but
        // not these.
        let colours = letters.to_ascii_uppercase();
        let mut counts = [0usize; 256];
        colours.bytes().for_each(|letter| counts[usize::from(letter)] += 1);
        counts.sort_unstable_by_key(|&count| Reverse(count));
        // Nobody writes the same move twice in a row, but rows of stickers are seldom without two that are alike.
        let are_single = words.iter().all(|word| word.len() == 1)
            && counts[5] + 1 >= area
            && words.windows(2).any(|two| two[0] == two[1]);
        let are_parts = words.iter().all(|word| word.len() >= layers);
        let are_stickers = counts[5] * 2 >= area
            && counts[6..].iter().sum::<usize>() <= 2
            && (5 * area..=7 * area).contains(&letters.len())
            && (unfolded.is_some() || are_single || are_parts);
        let is_reid = layers == 3 && is_reid && letters.chars().all(|c| c.is_ascii_uppercase());
        if !colours.chars().all(|c| c.is_ascii_uppercase()) || !(are_stickers || is_reid) {
            return None;
        }
        if !is_reid && letters.len() != 6 * area {
            let (found, name) = (letters.len(), self.name());
            return Some(Err(
                wrong!(Shape: "found {found} letters, but {name} has {} stickers: write those of each face, row by row, \
                in the order U, R, F, D, L, B", 6 * area),
            ));
        }
        let letters = if is_reid { letters } else { colours };
        Some(self.of_facelets(letters.as_bytes(), is_reid))
    }

    fn of_facelets(&self, letters: &[u8], is_reid: bool) -> Result<Arrangement, PuzzleError> {
        let Some((layers, cube)) = self.whole_cube() else {
            bail!(Impossible: "the stickers of a cube are read only where all of its pieces are used: write moves, or \
                the piece at each position");
        };
        let place = |set: usize, position: usize| {
            let kind = self.sets()[set].solved[position].kind;
            let faces =
                cube.kinds[set][usize::from(kind)].iter().map(|&face| char::from(FACES[face]));
            faces.collect::<String>()
        };
        let mut at: HashMap<(usize, usize, usize), u8> = HashMap::new();
        let mut colours: HashMap<u8, usize> = (0..6).map(|face| (FACES[face], face)).collect();
        if is_reid {
            let words = REID.split(' ').scan(0, |begin, place| {
                let word = &letters[*begin..*begin + place.len()];
                *begin += place.len();
                Some((place, word))
            });
            for (name, word) in words {
                for (face, &letter) in name.bytes().zip(word) {
                    let is_there = |of: &&Facelet| match of {
                        Facelet::Of { set, position, index } => {
                            let place = place(*set, *position).into_bytes();
                            place.len() == name.len()
                                && place.iter().all(|face| name.as_bytes().contains(face))
                                && place[*index] == face
                        }
                        Facelet::Fixed(_) => false,
                    };
                    if let Some(&Facelet::Of { set, position, index }) =
                        cube.facelets.iter().find(is_there)
                    {
                        at.insert((set, position, index), letter);
                    }
                }
            }
        } else {
            // Whoever holds the cube in another way, or writes the names of colours, means the faces by their centres.
            if layers % 2 == 1 {
                let centre = |face: usize| letters[face * layers * layers + layers * layers / 2];
                let found: HashMap<u8, usize> =
                    (0..6).map(|printed| (centre(printed), PRINTED[printed].0)).collect();
                if found.len() < 6 {
                    bail!(Twice: "two centres have the same colour: write the stickers of the faces U, R, F, D, L, B, \
                        each row by row");
                }
                colours = found;
            }
            for (&of, &letter) in cube.facelets.iter().zip(letters) {
                match of {
                    Facelet::Of { set, position, index } => {
                        at.insert((set, position, index), letter);
                    }
                    Facelet::Fixed(face) if colours.get(&letter) != Some(&face) => {
                        let (face, letter) = (char::from(FACES[face]), char::from(letter));
                        bail!(Impossible: "the sticker {letter} on {face} is one of a piece that does not move: hold \
                            the cube so that its corner DBL is in place");
                    }
                    Facelet::Fixed(_) => {}
                }
            }
        }
        if let Some(letter) = letters.iter().find(|letter| !colours.contains_key(letter)) {
            bail!(Unknown: "'{}' is not the colour of a face: use six letters, one for each face", char::from(*letter));
        }
        let mut state = self.solved();
        for (set, of) in self.sets().iter().enumerate() {
            for position in 0..of.positions() {
                let name = place(set, position);
                let shown: Vec<u8> =
                    (0..name.len()).map(|index| at[&(set, position, index)]).collect();
                let faces: Vec<usize> = shown.iter().map(|letter| colours[letter]).collect();
                let step = faces.len() / usize::from(of.orientations);
                let fits = |&(kind, turn): &(usize, u8)| {
                    let own = &cube.kinds[set][kind];
                    (0..own.len())
                        .all(|i| faces[(i + usize::from(turn) * step) % own.len()] == own[i])
                };
                let all = 0..cube.kinds[set].len();
                let mut all =
                    all.flat_map(|kind| (0..of.orientations).map(move |turn| (kind, turn)));
                let Some((kind, turn)) = all.find(fits) else {
                    let shown = String::from_utf8_lossy(&shown);
                    bail!(Unknown: "no piece has the stickers {shown}, which are at {name}");
                };
                state.0[set][position] = Placed { kind: kind as u8, turn };
            }
            for kind in 0..of.moduli.len() as u8 {
                let found = state.0[set].iter().filter(|piece| piece.kind == kind).count();
                let expected = of.pieces_of(kind);
                if found > expected {
                    let mut faces = cube.kinds[set][usize::from(kind)].clone();
                    faces.sort_unstable();
                    let name: String = faces.iter().map(|&face| char::from(FACES[face])).collect();
                    bail!(Twice: "piece {name} of set '{}' occurs {found} times instead of {expected}", of.name);
                }
            }
        }
        Ok(state)
    }
}
