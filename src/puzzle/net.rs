//! The stickers of named solids: what each of them shows in a state, and where it lies when the solid is unfolded.
//!
//! From the solved puzzle on, the moves take every piece to every place that it can have, and its stickers with it. In a
//! projection, several pieces can be meant by one: a sticker has a colour if it is that of all of them.
//!
//! The net consists of two flowers, one for the face in front and one for the face behind, each with the faces next to it;
//! one petal of the first touches one of the second. That is the usual cross of a cube, and the usual net of a dodecahedron.

use std::collections::BTreeMap;

use crate::puzzle::{
    Arrangement, Placed, Puzzle, Transformation,
    cube::{FACES, net_of_stickers},
    named::{self, CutSolid, Vector, cross, dot, plus, turned, unit},
    solids,
};

/// What a sticker shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shade {
    /// The colour of a face.
    Face(usize),
    /// The colour of a face, on a piece whose orientation does not count.
    Pale(usize),
    /// Nothing but how its piece is turned.
    Marked,
    /// Nothing: its piece is left out, or looks like others.
    Blank,
}

/// The stickers of a puzzle that is a solid cut by planes, or a projection of one.
pub(crate) struct Net {
    solid: CutSolid,
    /// The middle of each sticker on the solid.
    centres: Vec<Vector>,
    /// The outline of each sticker on the page, y downwards.
    pub outlines: Vec<Vec<[f64; 2]>>,
    /// The width and height of the page.
    pub size: [f64; 2],
    /// The face of each sticker.
    pub faces: Vec<usize>,
    /// For each face, the one opposite, if there is one.
    opposite: Vec<Option<usize>>,
    /// What stickers show that belong to none of the sets.
    others: Vec<Shade>,
    sets: Vec<SetStickers>,
}

/// The stickers of a set of pieces.
struct SetStickers {
    /// Those at each position.
    around: Vec<Vec<usize>>,
    /// For each piece, as it is numbered by its position in the solved puzzle, and each location: where its stickers
    /// are, or nothing if it never comes there.
    places: Vec<Vec<Option<Vec<usize>>>>,
}

/// The longer side of the page.
const LENGTH: f64 = 1000.0;

/// The width of the gap between two faces; a solid reaches from -1 to 1 or a little further.
const GAP: f64 = 0.09;

impl Puzzle {
    /// Returns the stickers of a named solid, or `None` for any other puzzle.
    pub(crate) fn unfolded(&self) -> Option<Net> {
        let solid = named::solid(self.name().split(' ').next()?)?;
        let stickers = solid.stickers();
        let moved = solid.moved(&stickers);
        let orbits = solid.piece_sets(&stickers, &solid.pieces(&stickers), &moved);
        let all = named::numbered(&orbits);
        let index = self.sets().iter().map(|set| all.iter().position(|own| own.name == set.name));
        let index = index.collect::<Option<Vec<_>>>()?;
        let turns: Vec<Transformation> =
            moved.iter().map(|to| named::action(&orbits, to)).collect();
        // A file may call anything by this name.
        let same = |of: &Transformation, own: &Transformation| {
            index.iter().zip(&own.0).all(|(&i, own)| *own == of.0[i])
        };
        let mut known =
            solid.turns.iter().zip(&turns).filter_map(|(turn, of)| {
                Some(same(of, &self.named_move(&turn.name)?.transformation))
            });
        if known.next() != Some(true) || !known.all(|same| same) {
            return None;
        }
        let set = |&i: &usize| {
            let (around, orientations) = (&orbits[i].around, all[i].orientations);
            let to: Vec<Vec<u8>> = turns.iter().map(|of| of.locations(i, orientations)).collect();
            let places = (0..around.len()).map(|home| {
                let first = home * usize::from(orientations);
                let mut places = vec![None; all[i].locations()];
                places[first] = Some(around[home].clone());
                let mut open = vec![first];
                while let Some(at) = open.pop() {
                    let here: Vec<usize> = places[at].clone().expect("it was reached");
                    for (to, moved) in to.iter().zip(&moved) {
                        let next = usize::from(to[at]);
                        if places[next].is_none() {
                            places[next] = Some(here.iter().map(|&s| moved[s]).collect());
                            open.push(next);
                        }
                    }
                }
                places
            });
            SetStickers { around: around.clone(), places: places.collect() }
        };
        let mut others: Vec<Shade> = stickers.iter().map(|of| Shade::Face(of.face)).collect();
        orbits.iter().flat_map(|of| of.around.iter().flatten()).for_each(|&s| {
            others[s] = Shade::Blank;
        });
        let normals: Vec<Vector> = solid.faces.iter().map(|&(normal, _)| normal).collect();
        let opposite = |of: &Vector| normals.iter().position(|own| dot(*own, *of) < -0.999);
        let (outlines, size) = outlines(&solid, &stickers);
        Some(Net {
            centres: stickers.iter().map(|of| of.centre).collect(),
            faces: stickers.iter().map(|of| of.face).collect(),
            opposite: normals.iter().map(opposite).collect(),
            sets: index.iter().map(set).collect(),
            outlines,
            size,
            others,
            solid,
        })
    }
}

// The stickers of a cube as text.

impl Puzzle {
    /// Returns the stickers of a state of a named cube, face by face in the order U, R, F, D, L, B, each row by row;
    /// each sticker is written as the face that has its colour. `None` for other puzzles, and for cubes of which only
    /// some pieces are used.
    ///
    /// ```
    /// use tilewave::puzzle::{Turns, named};
    /// let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers)?;
    /// let stickers = cube.facelets(&cube.read("R U")?.0).unwrap();
    /// assert_eq!(stickers, "UUUUUUFFFUBBRRRRRRRRRFFDFFDDDBDDBDDBFFDLLLLLLLLLUBBUBB");
    /// assert_eq!(cube.read(&stickers)?.0, cube.read("R U")?.0);
    /// # Ok::<(), tilewave::puzzle::PuzzleError>(())
    /// ```
    pub fn facelets(&self, state: &Arrangement) -> Option<String> {
        let (_, cube) = self.whole_cube()?;
        let shown = self.unfolded()?.shown(self, state);
        let letter = |&sticker: &usize| match shown[sticker] {
            Shade::Face(face) => Some(char::from(FACES[face])),
            _ => None,
        };
        cube.printed.iter().map(letter).collect()
    }

    /// Returns the stickers of a state of a named solid as lines of text, unfolded: each is written as the face that has its
    /// colour, in small letters if the orientation of its piece does not count, as `*` if it only shows how its piece is
    /// turned, and as `-` if it shows nothing. `None` for other puzzles.
    pub fn net(&self, state: &Arrangement) -> Option<String> {
        match self.facelets(state) {
            Some(stickers) => Some(net_of_stickers(&stickers, self.layers()?)),
            None => Some(self.unfolded()?.text(self, state)),
        }
    }
}

impl Net {
    /// Returns the names of the faces.
    pub fn face_names(&self) -> Vec<String> {
        match self.solid.faces.len() {
            4 => ["D", "L", "R", "F"].map(String::from).into(),
            6 => named::CUBE.map(|(name, _)| name.into()).into(),
            8 => solids::octahedron_faces(),
            _ => named::dodecahedron().into_iter().map(|(name, _)| name).collect(),
        }
    }

    /// Returns what each sticker shows in a state of the puzzle.
    pub fn shown(&self, puzzle: &Puzzle, state: &Arrangement) -> Vec<Shade> {
        let mut shown = self.others.clone();
        for (index, row) in state.0.iter().enumerate() {
            for (position, piece) in row.iter().enumerate() {
                for &sticker in &self.sets[index].around[position] {
                    shown[sticker] = self.shade(puzzle, (index, position), *piece, sticker);
                }
            }
        }
        shown
    }

    /// The stickers of a state as lines of text, each about where it lies on the page.
    fn text(&self, puzzle: &Puzzle, state: &Arrangement) -> String {
        let names = self.face_names();
        let word = |shade: &Shade| match *shade {
            Shade::Face(face) => names[face].clone(),
            Shade::Pale(face) => names[face].to_lowercase(),
            Shade::Marked => "*".into(),
            Shade::Blank => "-".into(),
        };
        let middle = |outline: &Vec<[f64; 2]>| -> [f64; 2] {
            let of = |i: usize| outline.iter().map(|point| point[i]).sum::<f64>();
            [0, 1].map(|i| of(i) / outline.len() as f64)
        };
        let middles: Vec<[f64; 2]> = self.outlines.iter().map(middle).collect();
        // As few lines as it takes until no two stickers are in the same place.
        let places = |lines: f64| {
            let place = |[x, y]: &[f64; 2]| [y, x].map(|of| (of * lines / self.size[1]) as usize);
            middles.iter().map(place).collect::<Vec<[usize; 2]>>()
        };
        let apart = |places: &Vec<[usize; 2]>| {
            let mut sorted = places.clone();
            sorted.sort_unstable();
            sorted.windows(2).all(|pair| pair[0] != pair[1])
        };
        let found = (1..).map(|lines| places(lines.into())).find(apart).expect("they are apart");
        let (shown, width) = (self.shown(puzzle, state), names.iter().map(String::len).max());
        let mut rows: BTreeMap<usize, BTreeMap<usize, String>> = BTreeMap::new();
        for ([row, column], shade) in found.into_iter().zip(&shown) {
            rows.entry(row).or_default().insert(column, word(shade));
        }
        let width = width.unwrap_or(1) + 1;
        let line = |row: BTreeMap<usize, String>| {
            let mut line = String::new();
            for (column, word) in row {
                line += &" ".repeat((column * width).saturating_sub(line.len()));
                line += &format!(" {word}");
            }
            line
        };
        rows.into_values().map(line).collect::<Vec<_>>().join("\n")
    }

    /// What a sticker at a position of a set shows, if this piece is there.
    fn shade(
        &self,
        puzzle: &Puzzle,
        (index, position): (usize, usize),
        piece: Placed,
        sticker: usize,
    ) -> Shade {
        let (set, own) = (&puzzle.sets()[index], &self.sets[index]);
        let modulus = set.moduli[usize::from(piece.kind)];
        // The face of each sticker that it can be, which one of its piece that is, and whether it is the first for it.
        let mut seen: Vec<(usize, usize, bool)> = Vec::new();
        let homes = (0..set.positions()).filter(|&home| set.solved[home].kind == piece.kind);
        for home in homes {
            let mut first = true;
            for turn in 0..set.orientations {
                let is_meant = (set.solved[home].turn + turn) % modulus == piece.turn;
                let location = position * usize::from(set.orientations) + usize::from(turn);
                let Some(places) = own.places[home][location].as_ref().filter(|_| is_meant) else {
                    continue;
                };
                let which = places.iter().position(|&at| at == sticker).expect("it is one of them");
                seen.push((self.faces[own.around[home][which]], which, first));
                first = false;
            }
        }
        let Some(&(face, which, _)) = seen.first() else { return Shade::Blank };
        let is_pair = |other: usize| other == face || Some(other) == self.opposite[face];
        if seen.iter().all(|&(other, ..)| other == face) {
            Shade::Face(face)
        } else if seen.iter().all(|&(other, ..)| is_pair(other)) {
            Shade::Face(seen.iter().map(|&(face, ..)| face).min().unwrap_or(face))
        } else if modulus > 1 && which == 0 && seen.iter().all(|&(_, which, _)| which == 0) {
            Shade::Marked
        } else if seen.iter().all(|&(other, _, first)| other == face || !first) {
            Shade::Pale(face)
        } else {
            Shade::Blank
        }
    }

    /// Returns the stickers that some move of the puzzle takes to another place, or replaces.
    pub fn changed(&self, of: &Transformation) -> Vec<usize> {
        let mut changed: Vec<usize> = Vec::new();
        for (turn, own) in of.0.iter().zip(&self.sets) {
            for (position, (&from, &twist)) in turn.source.iter().zip(&turn.twist).enumerate() {
                if usize::from(from) != position || twist != 0 {
                    changed.extend(&own.around[position]);
                }
            }
        }
        changed.sort_unstable();
        changed
    }

    /// Returns where each sticker comes to lie by a word such as `x2` or `Uv'`, which turns the whole puzzle; `None` if
    /// the solid does not look the same then.
    pub fn turned(&self, puzzle: &Puzzle, word: &str) -> Option<Vec<usize>> {
        let (rest, back) = word.strip_suffix('\'').map_or((word, false), |rest| (rest, true));
        let name = rest.trim_end_matches(|c: char| c.is_ascii_digit());
        let times: u32 = rest[name.len()..].parse().unwrap_or(1);
        let (axis, parts) = solids::whole_turn(puzzle.notation?, name)?;
        let times = if back { parts - times % parts } else { times % parts };
        let place = |&centre: &Vector| {
            let there = (0..times).fold(centre, |point, _| turned(point, axis, parts));
            self.centres.iter().position(|own| named::near(*own, there))
        };
        self.centres.iter().map(place).collect()
    }
}

/// A face on the page: where a point of it on the solid is, and two directions there and here.
struct FlatFace {
    origin: Vector,
    axes: [Vector; 2],
    at: [f64; 2],
    to: [[f64; 2]; 2],
}

impl FlatFace {
    fn point(&self, of: Vector) -> [f64; 2] {
        let from = plus(of, -1.0, self.origin);
        let [a, b] = self.axes.map(|axis| dot(axis, from));
        [0, 1].map(|i| self.at[i] + a * self.to[0][i] + b * self.to[1][i])
    }
}

/// The middle of some points.
fn middle(points: &[Vector]) -> Vector {
    let sum = points.iter().fold([0.0; 3], |sum, &point| plus(sum, 1.0, point));
    sum.map(|x| x / points.len() as f64)
}

/// The outline of each sticker on a page, and the size of the page.
fn outlines(solid: &CutSolid, stickers: &[named::Sticker]) -> (Vec<Vec<[f64; 2]>>, [f64; 2]) {
    let count = solid.faces.len();
    let shapes: Vec<Vec<Vector>> = (0..count).map(|face| solid.outline(face)).collect();
    let edge = |a: usize, b: usize| -> Option<[Vector; 2]> {
        let is_both = |point: &&Vector| shapes[b].iter().any(|own| named::near(*own, **point));
        let both: Vec<Vector> = shapes[a].iter().filter(is_both).copied().collect();
        both.try_into().ok()
    };
    // The face in front, and what is upwards on it.
    let normal = |face: usize| solid.faces[face].0;
    let (front, up) = match count {
        4 => (3, normal(0).map(|x| -x)),
        6 => (2, normal(0)),
        8 => (0, [0.0, 0.0, -1.0]),
        _ => (0, normal(2).map(|x| -x)),
    };
    let up = unit(plus(up, -dot(up, normal(front)), normal(front)));
    let centre = middle(&shapes[front]);
    let mut flat: Vec<Option<FlatFace>> = (0..count).map(|_| None).collect();
    flat[front] = Some(FlatFace {
        origin: centre,
        axes: [cross(up, normal(front)), up],
        at: [0.0; 2],
        to: [[1.0, 0.0], [0.0, -1.0]],
    });
    let attach = |flat: &mut Vec<Option<FlatFace>>, face: usize, to: usize| {
        let Some([a, b]) = edge(to, face) else { return };
        let along = unit(plus(b, -1.0, a));
        let beside = cross(normal(face), along);
        let inward = plus(middle(&shapes[face]), -1.0, a);
        let beside = if dot(beside, inward) < 0.0 { beside.map(|x| -x) } else { beside };
        let host = flat[to].as_ref().expect("it is there");
        let ([ax, ay], [bx, by]) = (host.point(a), host.point(b));
        let length = (bx - ax).hypot(by - ay);
        let [x, y] = [(bx - ax) / length, (by - ay) / length];
        let [cx, cy] = host.point(middle(&shapes[to]));
        // Away from the face that it is attached to.
        let side = if (cx - ax) * -y + (cy - ay) * x > 0.0 { -1.0 } else { 1.0 };
        let away = [-y * side, x * side];
        let at = [ax + GAP * away[0], ay + GAP * away[1]];
        flat[face] = Some(FlatFace { origin: a, axes: [along, beside], at, to: [[x, y], away] });
    };
    let next = |to: usize| move |&face: &usize| face != to && edge(face, to).is_some();
    (0..count).filter(next(front)).for_each(|face| attach(&mut flat, face, front));
    let back = (0..count).find(|&face| dot(normal(face), normal(front)) < -0.999);
    if let Some(back) = back {
        let right = |flat: &Vec<Option<FlatFace>>, face: usize| {
            flat[face].as_ref().map_or(0.0, |own| own.point(middle(&shapes[face]))[0])
        };
        let petals = (0..count).filter(|&face| face != front && flat[face].is_some());
        let petal = petals.max_by(|&a, &b| right(&flat, a).total_cmp(&right(&flat, b)));
        let petal = petal.expect("a face has others next to it");
        if edge(back, petal).is_some() {
            attach(&mut flat, back, petal);
        } else {
            let bridges = (0..count).filter(next(petal)).filter(next(back));
            let bridges: Vec<usize> = bridges.collect();
            attach(&mut flat, bridges[0], petal);
            attach(&mut flat, back, bridges[0]);
            for face in (0..count).filter(next(back)).filter(|&face| face != bridges[0]) {
                attach(&mut flat, face, back);
            }
        }
    }
    let flat: Vec<FlatFace> = flat.into_iter().flatten().collect();
    let mut outlines: Vec<Vec<[f64; 2]>> = stickers
        .iter()
        .map(|of| of.outline.iter().map(|&point| flat[of.face].point(point)).collect())
        .collect();
    let all = || outlines.iter().flatten();
    let least = [0, 1].map(|i| all().fold(f64::INFINITY, |least, at| least.min(at[i])));
    let most = [0, 1].map(|i| all().fold(f64::NEG_INFINITY, |most, at| most.max(at[i])));
    let size = [most[0] - least[0], most[1] - least[1]];
    let scale = LENGTH / size[0].max(size[1]);
    for at in outlines.iter_mut().flatten() {
        *at = [0, 1].map(|i| ((at[i] - least[i]) * scale).round());
    }
    (outlines, size.map(|length| (length * scale).round()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puzzle::{
        Turns, Variant,
        named::{part, whole},
    };

    fn letters(puzzle: &Puzzle, moves: &str) -> String {
        let net = puzzle.unfolded().unwrap();
        let state = puzzle.read(moves).unwrap().0;
        let letter = |shade: &Shade| match *shade {
            Shade::Face(face) => "UDFBLR".chars().nth(face).unwrap(),
            Shade::Pale(face) => "udfblr".chars().nth(face).unwrap(),
            Shade::Marked => '*',
            Shade::Blank => '.',
        };
        net.shown(puzzle, &state).iter().map(letter).collect()
    }

    /// What a sequence of moves does to stickers that are turned as points in space.
    fn by_geometry(name: &str, moves: &[&str]) -> Vec<usize> {
        let solid = named::solid(name).unwrap();
        let stickers = solid.stickers();
        let moved = solid.moved(&stickers);
        let mut faces: Vec<usize> = stickers.iter().map(|of| of.face).collect();
        for one in moves {
            let to = &moved[solid.turns.iter().position(|turn| turn.name == *one).unwrap()];
            let before = faces.clone();
            (0..faces.len()).for_each(|i| faces[to[i]] = before[i]);
        }
        faces
    }

    #[test]
    fn stickers_of_all_solids_show_what_turning_them_in_space_shows() {
        let names = crate::puzzle::named::NAMED.map(|of| of.name);
        for name in names.into_iter().chain(["3x3x4", "2x3x4", "1x2x3", "20x20x20"]) {
            let Some(net) = whole(name).unfolded() else {
                let is_flat = name.contains(':');
                assert!(is_flat || ["clock", "square-1", "gear"].contains(&name), "{name}");
                continue;
            };
            let solid = named::solid(name).unwrap();
            let turns: Vec<&str> = solid.turns.iter().map(|turn| &turn.name[..]).collect();
            let moves: Vec<&str> = (0..40).map(|i| turns[i * i % turns.len()]).collect();
            let puzzle = whole(name);
            let state = puzzle.read(&moves.join(" ")).unwrap().0;
            let shown = net.shown(&puzzle, &state);
            for (shade, face) in shown.iter().zip(by_geometry(name, &moves)) {
                // Of some named puzzles, pieces of the solid are left out.
                let is_left_out = ["kilominx", "pyraminx-duo", "ivy", "rex"].contains(&name);
                let right = *shade == Shade::Face(face);
                assert!(right || is_left_out && *shade == Shade::Blank, "{name}: {shade:?} {face}");
            }
        }
    }

    #[test]
    fn faces_of_a_net_do_not_overlap() {
        for name in ["3x3x3", "2x3x4", "pyraminx", "megaminx", "fto"] {
            let net = whole(name).unfolded().unwrap();
            let middles: Vec<[f64; 2]> = net
                .outlines
                .iter()
                .map(|of| [0, 1].map(|i| of.iter().map(|at| at[i]).sum::<f64>() / of.len() as f64))
                .collect();
            for (i, outline) in net.outlines.iter().enumerate() {
                let holds = |[x, y]: [f64; 2]| {
                    let sides = (0..outline.len()).map(|k| {
                        let ([ax, ay], [bx, by]) = (outline[k], outline[(k + 1) % outline.len()]);
                        (bx - ax) * (y - ay) > (by - ay) * (x - ax)
                    });
                    let sides: Vec<bool> = sides.collect();
                    sides.iter().all(|&side| side == sides[0])
                };
                let inside = (0..middles.len()).filter(|&k| holds(middles[k])).collect::<Vec<_>>();
                assert_eq!(inside, [i], "{name}");
            }
        }
    }

    #[test]
    fn projections_show_what_all_pieces_that_are_meant_have_in_common() {
        // Pieces that are left out are blank; the centres stay.
        let corners = letters(&part("3x3x3", &["corners"]), "R U");
        assert_eq!(corners.matches('.').count(), 24);
        let four = letters(&part("3x3x3", &["edges:1-4"]), "");
        assert_eq!(four.matches('.').count(), 24 + 16);
        let flat = whole("3x3x3").unoriented(&["edges".into()]).unwrap();
        assert_eq!(letters(&flat, "R U").chars().filter(char::is_ascii_lowercase).count(), 24);
        let good = whole("3x3x3").keeping(&["edges".into()]).unwrap();
        let good = good.alike(&["edges".into()]).unwrap();
        assert_eq!(letters(&good, "F").matches('*').count(), 12);
        assert_ne!(letters(&good, "F"), letters(&good, ""));
        // Of the domino, the colours of opposite faces are one.
        let domino = Variant { subgroup: Variant::split("U D R2 L2 F2 B2"), ..Variant::default() };
        let domino = domino.of(named::parse("3x3x3").unwrap(), Turns::Powers).unwrap();
        let solved = letters(&domino, "");
        assert_eq!((solved.matches('U').count(), solved.matches('.').count()), (17, 24));
        assert_eq!(letters(&domino, "U R2 D F2"), solved);
        assert_ne!(letters(&domino, "U R"), solved);
    }

    #[test]
    fn a_turn_of_the_whole_puzzle_takes_faces_to_faces() {
        for (name, word, times) in [("3x3x3", "x", 4), ("skewb", "y'", 4), ("megaminx", "Fv2", 5)] {
            let puzzle = whole(name);
            let net = puzzle.unfolded().unwrap();
            let to = net.turned(&puzzle, word).unwrap();
            let all = (0..times).fold((0..to.len()).collect::<Vec<_>>(), |at, _| {
                at.iter().map(|&at| to[at]).collect()
            });
            assert!((0..to.len()).eq(all) && to[0] != 0, "{name}");
        }
        let long = whole("2x2x3");
        let net = long.unfolded().unwrap();
        assert!(net.turned(&long, "x").is_none() && net.turned(&long, "y").is_some());
    }
}
