//! Puzzles with names: cubes, minxes and others, made from a solid and the planes that cut it.
//!
//! The planes cut each face of the solid into **stickers**; stickers on the same side of every plane belong to the same
//! **piece**. A turn rotates everything beyond a plane, or between two planes, about an axis. Which pieces can exchange
//! places, and in how many orientations they can return, follows from the stickers: the orientation of a piece is the
//! position of one of its stickers. Pieces whose stickers have the same colours look alike. Parts that never move do
//! not belong to the puzzle.
//!
//! Cubes of N layers turn each layer separately; `2U` is the second layer from the top. On odd cubes the middle layers
//! are fixed, so the centres show where everything belongs. On even cubes all layers turn and no piece is fixed: a
//! state and the same state with the whole cube rotated count as two states, as in twsearch. On the 2x2x2 one corner is
//! fixed, on the skewb and its diamond four pieces: the 2x2x2 has 3,674,160 states, not the 88,179,840 of the corners
//! of the 3x3x3.
//!
//! Of a cuboid, too, one piece is always fixed: the one in the middle layers of odd axes and in the last ones of even
//! axes. If that were the centre of a face, which does not show how it is turned, it is an edge piece instead. A turn of
//! the layers with the fixed piece is one of all other layers, such as `Rw2` for `L2`. Faces that are not square turn
//! by half turns only.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashSet},
};

use crate::puzzle::{
    Move, PieceSet, Placed, Puzzle, SetAction, Transformation,
    group::all_orbits,
    mechanisms,
    sets::{Layers, Notation},
};

/// A puzzle with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedPuzzle {
    /// The name.
    pub name: &'static str,
    /// A one-line description.
    pub description: &'static str,
}

/// All named puzzles; cubes and cuboids are also available with up to twenty layers, the last two of other sizes.
pub const NAMED: [NamedPuzzle; 28] = [
    named("2x2x2", "the pocket cube, with one corner held fixed"),
    named("3x3x3", "Rubik's cube"),
    named("4x4x4", "every layer turns on its own; the centre pieces of a face look alike"),
    named("5x5x5", "every layer except the middle ones turns on its own"),
    named("6x6x6", "like the 4x4x4, as are all even sizes up to 20x20x20"),
    named("7x7x7", "like the 5x5x5, as are all odd sizes up to 19x19x19"),
    named("2x2x3", "a tower, with an edge piece held fixed; all cuboids up to 20x20x20 have names"),
    named("2x3x3", "the domino, with an edge piece held fixed"),
    named("1x3x3", "the floppy cube, also called floppy"),
    named("pyraminx", "a tetrahedron without its tips"),
    named("pyraminx-tips", "a tetrahedron with its tips"),
    named("pyraminx-duo", "a tetrahedron cut in half parallel to its faces, without edges"),
    named("skewb", "a cube cut in half across its corners, four of which are held fixed"),
    named("master-skewb", "a cube cut across its corners, a little less deep than the skewb"),
    named("rex", "the master skewb without its corners"),
    named("ivy", "the skewb without the four corners that change places"),
    named("dino", "a cube of twelve edges that turn about its corners"),
    named("helicopter", "a cube whose edges turn by half a turn, with cuts through the edges"),
    named("curvy-copter", "the helicopter with less deep cuts, and edge pieces"),
    named("megaminx", "a dodecahedron with turning faces"),
    named("kilominx", "only the corners of the megaminx"),
    named("fto", "an octahedron with turning faces"),
    named(
        "skewb-diamond",
        "an octahedron cut in half parallel to its faces, four of which are \
                            held fixed",
    ),
    named("clock", "Rubik's clock: any number of hours is one move, whichever pins are up"),
    named("square-1", "a cube whose half turns over where the cut goes through no corner"),
    named("gear", "the gear cube: a half turn of a face turns the gears and the layer next to it"),
    named("burnt-pancake:8", "turn over the first 1, 2, ... or all of 2 to 64 burnt pancakes"),
    named("signed-reversals:7", "reverse any part of 2 to 44 elements and turn all of it over"),
];

const fn named(name: &'static str, description: &'static str) -> NamedPuzzle {
    NamedPuzzle { name, description }
}

/// Maximum number of layers of a cube.
const MAX_LAYERS: usize = 20;

/// Returns the puzzle with a name, with one turn of each kind as a move: [`Puzzle::counting`] adds the others.
///
/// ```
/// use tilewave::puzzle::{named, Turns};
/// let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers)?;
/// let sets: Vec<String> = cube.sets().iter().map(|set| set.to_string()).collect();
/// assert_eq!((sets, cube.moves().len()), (vec!["corners:8/3".into(), "edges:12/2".into()], 18));
/// assert_eq!(cube.states().unwrap().to_string(), "43252003274489856000");
/// let corners = cube.keeping(&["corners".into()])?;
/// assert_eq!(corners.states().unwrap().to_string(), "88179840");
/// # Ok::<(), tilewave::puzzle::PuzzleError>(())
/// ```
pub fn parse(name: &str) -> Option<Puzzle> {
    let name = match name {
        "rubik" | "rubiks-cube" => "3x3x3",
        "floppy" => "1x3x3",
        name => name,
    };
    match name {
        "clock" => return Some(mechanisms::clock()),
        "square-1" => return Some(mechanisms::square_one()),
        "gear" => return Some(mechanisms::gear()),
        _ => {}
    }
    if let Some(puzzle) = mechanisms::two_sided(name) {
        return puzzle.ok();
    }
    let (name, notation) = match layers_of(name) {
        Some((name, layers)) => (name, Some(Notation::Layers(layers))),
        None => (name.into(), notation(name)),
    };
    let name = name.as_str();
    let puzzle = Puzzle { notation, ..solid(name)?.puzzle(name) };
    let kept: &[&str] = match name {
        "kilominx" => &["corners"],
        "pyraminx-duo" => &["corners", "centres"],
        "ivy" => &["=corners", "centres"],
        "rex" => &["edges", "centres"],
        _ => return Some(puzzle),
    };
    let kept: Vec<String> = kept.iter().map(|&set| set.into()).collect();
    Some(puzzle.keeping(&kept).expect("it has these sets").called(name))
}

/// How the moves of a solid can be written besides by their names.
fn notation(name: &str) -> Option<Notation> {
    match name {
        "skewb" => Some(Notation::Skewb),
        "megaminx" | "kilominx" => Some(Notation::Megaminx),
        "fto" => Some(Notation::Octahedron),
        _ => None,
    }
}

/// The solid of a puzzle with this name, if it is one.
pub(super) fn solid(name: &str) -> Option<CutSolid> {
    let faces = CUBE.map(|(_, face)| (face, 1.0));
    Some(match name {
        "pyraminx" => pyraminx(1.0 / 3.0, false),
        "pyraminx-tips" => pyraminx(1.0 / 3.0, true),
        "pyraminx-duo" => pyraminx(0.0, false),
        "skewb" | "ivy" => cut(faces, &corners()[..4], 3, 0.0),
        "master-skewb" | "rex" => cut(faces, &corners(), 3, 0.275),
        // Through the three corners next to each.
        "dino" => cut(faces, &corners(), 3, 1.0 / 3f64.sqrt()),
        // Through the middle of each of the two faces.
        "helicopter" => cut(faces, &cube_edges(), 2, 1.0 / 2f64.sqrt()),
        "curvy-copter" => cut(faces, &cube_edges(), 2, 0.83),
        "megaminx" | "kilominx" => megaminx(),
        "fto" => octahedron(1.0 / 3.0, 8),
        "skewb-diamond" => octahedron(0.0, 4),
        _ => layered(layers_of(name)?.1),
    })
}

/// The layers of the cube or cuboid with a name, and its usual name; the numbers may have any order.
fn layers_of(name: &str) -> Option<(String, Layers)> {
    let number = |word: &str| (1..=MAX_LAYERS).find(|n| word == n.to_string());
    let mut sizes = name.split('x').map(number).collect::<Option<Vec<usize>>>()?;
    sizes.sort_unstable();
    let &[a, b, c] = sizes.as_slice() else { return None };
    // Where two numbers are equal, the third is the height: the faces U and D are squares.
    let layers = if a == b { [c, a, b] } else { [a, b, c] };
    let name = format!("{a}x{b}x{c}");
    let layers = match a == c {
        true if a > 1 => cube(a),
        // Of what is thinner, layers turn on their own.
        false if b > 1 => cuboid(layers),
        _ => return None,
    };
    Some((name, layers))
}

pub(super) type Vector = [f64; 3];

/// Differences below this are rounding errors.
const TINY: f64 = 1e-6;

pub(super) fn dot(a: Vector, b: Vector) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// a + t * b.
pub(super) fn plus(a: Vector, t: f64, b: Vector) -> Vector {
    std::array::from_fn(|i| a[i] + t * b[i])
}

pub(super) fn unit(a: Vector) -> Vector {
    a.map(|x| x / dot(a, a).sqrt())
}

/// Two directions perpendicular to a third and to each other, the second a quarter turn to the left of the first.
pub(super) fn across(axis: Vector) -> [Vector; 2] {
    let other = if axis[0].abs() < 0.7 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let first = unit(cross(axis, other));
    [first, cross(axis, first)]
}

/// Whether two points are the same but for rounding.
pub(super) fn near(a: Vector, b: Vector) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 10.0 * TINY)
}

/// A point rotated clockwise about an axis, as seen from its end, by a fraction of a full turn.
pub(super) fn turned(point: Vector, axis: Vector, parts: u32) -> Vector {
    let (sin, cos) = (std::f64::consts::TAU / f64::from(parts)).sin_cos();
    let along = dot(point, axis);
    let turned = plus(point.map(|x| x * cos), -sin, cross(axis, point));
    plus(turned, along * (1.0 - cos), axis)
}

/// The parts of a polygon below and above a plane; `None` for an empty part.
fn split(polygon: &[Vector], axis: Vector, at: f64) -> [Option<Vec<Vector>>; 2] {
    let height = |&point: &Vector| match dot(axis, point) - at {
        height if height.abs() < TINY => 0.0,
        height => height,
    };
    [-1.0, 1.0].map(|side| {
        if !polygon.iter().any(|point| side * height(point) > 0.0) {
            return None;
        }
        let mut part = Vec::new();
        for (i, point) in polygon.iter().enumerate() {
            let next = &polygon[(i + 1) % polygon.len()];
            let (here, there) = (side * height(point), side * height(next));
            if here >= 0.0 {
                part.push(*point);
            }
            if here * there < 0.0 {
                let t = here / (here - there);
                part.push(plus(point.map(|x| x * (1.0 - t)), t, *next));
            }
        }
        Some(part)
    })
}

/// A turn of everything between two planes.
pub(super) struct Turn {
    pub name: String,
    axis: Vector,
    parts: u32,
    from: f64,
    to: f64,
}

/// A solid, the planes that cut it, and its turns.
pub(super) struct CutSolid {
    /// The directions of its faces, and how far away they are.
    pub faces: Vec<(Vector, f64)>,
    planes: Vec<(Vector, f64)>,
    pub turns: Vec<Turn>,
}

/// The name of the pieces with a number of stickers and a distance from the centre.
fn piece_name(stickers: usize, distance: f64) -> &'static str {
    match stickers {
        1 => "centres",
        2 => "edges",
        // No corner of another solid is that far away.
        3 if distance > 2.0 => "tips",
        _ => "corners",
    }
}

/// A part of a face.
pub(super) struct Sticker {
    pub face: usize,
    pub centre: Vector,
    pub outline: Vec<Vector>,
}

/// A piece: its stickers in cyclic order.
pub(super) struct CutPiece {
    stickers: Vec<usize>,
    /// Its distance from the centre, in small steps.
    distance: i64,
}

/// Pieces that exchange places; for each piece, in cyclic order, the stickers that exchange places with one sticker of
/// the first piece.
pub(super) struct PieceOrbit {
    name: &'static str,
    distance: i64,
    stickers: usize,
    /// Whether its pieces only turn in place.
    alone: bool,
    pieces: Vec<Vec<usize>>,
    /// All stickers of each piece in cyclic order, starting with its first one above; and their faces.
    pub around: Vec<Vec<usize>>,
    faces: Vec<Vec<usize>>,
}

/// The faces of a cube and their names.
pub(super) const CUBE: [(&str, Vector); 6] = [
    ("U", [0.0, 1.0, 0.0]),
    ("D", [0.0, -1.0, 0.0]),
    ("F", [0.0, 0.0, 1.0]),
    ("B", [0.0, 0.0, -1.0]),
    ("L", [-1.0, 0.0, 0.0]),
    ("R", [1.0, 0.0, 0.0]),
];

/// The corners of a cube and their names, with alternate corners first.
pub(super) fn corners() -> Vec<(String, Vector)> {
    let sign = |bit: usize| if bit == 0 { 1.0 } else { -1.0 };
    let mut bits: Vec<usize> = (0..8).collect();
    bits.sort_by_key(|corner: &usize| corner.count_ones() % 2);
    let corner = |i: usize| {
        let [x, y, z] = [i & 1, i >> 1 & 1, i >> 2];
        let name = [["U", "D"][y], ["R", "L"][x], ["F", "B"][z]].concat();
        (name, unit([x, y, z].map(sign)))
    };
    bits.into_iter().map(corner).collect()
}

/// A solid with a plane across each axis, whose turns are those of everything beyond a plane.
fn cut(
    faces: impl IntoIterator<Item = (Vector, f64)>,
    axes: &[(String, Vector)],
    parts: u32,
    at: f64,
) -> CutSolid {
    let turn = |(name, axis): &(String, Vector)| Turn {
        name: name.clone(),
        axis: *axis,
        parts,
        from: at,
        to: f64::INFINITY,
    };
    CutSolid {
        faces: faces.into_iter().collect(),
        planes: axes.iter().map(|&(_, axis)| (axis, at)).collect(),
        turns: axes.iter().map(turn).collect(),
    }
}

/// The middles of the edges of a cube and their names.
fn cube_edges() -> Vec<(String, Vector)> {
    let next = |&((one, a), (other, b)): &((&str, Vector), (&str, Vector))| {
        (dot(a, b) == 0.0).then(|| (format!("{one}{other}"), unit(plus(a, 1.0, b))))
    };
    let pairs = (0..6).flat_map(|i| (i + 1..6).map(move |j| (CUBE[i], CUBE[j])));
    pairs.collect::<Vec<_>>().iter().filter_map(next).collect()
}

/// A cube whose middle layers are fixed, or, of 2x2x2, one corner.
fn cube(count: usize) -> Layers {
    let fixed = match count {
        2 => Some(2),
        _ if count.is_multiple_of(2) => None,
        _ => Some(count.div_ceil(2)),
    };
    Layers::new([count; 3], [fixed; 3])
}

/// A cuboid with these numbers of layers, and one piece fixed.
fn cuboid(counts: [usize; 3]) -> Layers {
    let is_odd = counts.map(|count| count % 2 == 1);
    let middle = |count: usize| if count % 2 == 1 { count.div_ceil(2) } else { count };
    let mut fixed = counts.map(middle);
    // One sticker of a face's centre does not show how it is turned.
    let odd = is_odd.iter().filter(|&&odd| odd).count();
    if odd == 2 && !counts.contains(&1) {
        let last = (0..3).rev().find(|&axis| is_odd[axis]).expect("two are odd");
        fixed[last] = counts[last];
    }
    Layers::new(counts, fixed.map(Some))
}

/// A cuboid of which all layers turn but the middle ones of odd axes and the fixed ones. If one that is fixed is not a
/// middle one, all others turn together, too.
fn layered(layers: Layers) -> CutSolid {
    let most = layers.counts().into_iter().max().expect("there are three") as f64;
    let height = |axis: usize| layers.counts()[axis] as f64 / most;
    // The plane below a layer, counted from a face of an axis. (Rounding decides from which sticker some pieces are
    // numbered, so this sum must stay as it is.)
    let at = |axis: usize, cut: usize| height(axis) - 2.0 * cut as f64 / most;
    let (mut planes, mut turns) = (Vec::new(), Vec::new());
    for axis in 0..3 {
        let count = layers.counts()[axis];
        let [first, second] = [[0, 1], [2, 3], [5, 4]][axis];
        planes.extend((1..count).map(|cut| (CUBE[first].1, at(axis, cut))));
        let (parts, half) = if layers.is_square(axis) { (4, "") } else { (2, "2") };
        // A turn in the direction of a face, of layers counted from it.
        let turn = |name: String, face: usize, from: usize, to: usize| Turn {
            name: format!("{name}{half}"),
            axis: CUBE[face].1,
            parts,
            from: at(axis, to),
            to: if from == 1 { f64::INFINITY } else { at(axis, from - 1) },
        };
        for face in [first, second] {
            let from_first = |layer: usize| if face == first { layer } else { count + 1 - layer };
            let own =
                (1..=count / 2).filter(|&layer| layers.fixed(axis) != Some(from_first(layer)));
            let name = |layer| layer_name(layer, CUBE[face].0);
            turns.extend(own.map(|layer| (face, turn(name(layer), face, layer, layer))));
        }
        let wide = layers.wide(axis);
        turns.extend(
            wide.map(|count| (first, turn(wide_name(count, CUBE[first].0), first, 1, count))),
        );
    }
    // In the order of the faces.
    turns.sort_by_key(|&(face, _)| face);
    let distance = |face: usize| (CUBE[face].1, height(face / 2));
    CutSolid {
        faces: (0..6).map(distance).collect(),
        planes,
        turns: turns.into_iter().map(|(_, turn)| turn).collect(),
    }
}

/// The name of a layer, counted from a face.
pub(super) fn layer_name(layer: usize, face: &str) -> String {
    if layer == 1 { face.into() } else { format!("{layer}{face}") }
}

/// The name of layers next to a face.
pub(super) fn wide_name(count: usize, face: &str) -> String {
    if count == 2 { format!("{face}w") } else { format!("{count}{face}w") }
}

/// A tetrahedron whose layers are cut off at a distance from its centre.
fn pyraminx(layer: f64, tips: bool) -> CutSolid {
    // Seen from U, the others follow each other counterclockwise: L, R, B.
    let corners: Vec<(String, Vector)> = (corners().into_iter().take(4).zip(["U", "R", "L", "B"]))
        .map(|((_, corner), name)| (name.into(), corner))
        .collect();
    // A corner is three times as far away as a face: a third of the height is 4/3.
    let tip = 5.0 / 3.0;
    let faces = corners.iter().map(|(_, corner)| (corner.map(|x| -x), 1.0));
    let mut solid = cut(faces, &corners, 3, layer);
    if tips {
        let mut own = cut([], &corners, 3, tip);
        own.turns.iter_mut().for_each(|turn| turn.name.make_ascii_lowercase());
        solid.planes.extend(own.planes);
        solid.turns.extend(own.turns);
    }
    solid
}

fn octahedron(at: f64, turning: usize) -> CutSolid {
    let faces = corners();
    cut(faces.iter().map(|&(_, face)| (face, 1.0)), &faces[..turning], 3, at)
}

fn megaminx() -> CutSolid {
    let named = dodecahedron();
    // Deep enough for edges to exist, but not so deep that second neighbours meet.
    cut(named.iter().map(|&(_, face)| (face, 1.0)), &named, 5, 0.8)
}

/// The faces of a dodecahedron and their names: the upper face, those around it counterclockwise, and the opposite ones.
pub(super) fn dodecahedron() -> Vec<(String, Vector)> {
    let golden = (1.0 + 5f64.sqrt()) / 2.0;
    let signs = [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)];
    let three = |(a, b): (f64, f64)| {
        let b = b * golden;
        [[0.0, a, b], [a, b, 0.0], [b, 0.0, a]].map(unit)
    };
    let faces: Vec<Vector> = signs.into_iter().flat_map(three).collect();
    let top = faces[0];
    let [right, up] = across(top);
    let is_around = |&face: &Vector| face != top && dot(face, top) > 0.0;
    let mut ring: Vec<Vector> = faces.iter().copied().filter(is_around).collect();
    ring.sort_by(|&a, &b| {
        let angle = |face| dot(face, up).atan2(dot(face, right));
        angle(a).total_cmp(&angle(b))
    });
    let half = [top].into_iter().chain(ring);
    let names =
        ["U", "F", "R", "BR", "BL", "L"].into_iter().zip(["D", "B", "DBL", "DL", "DR", "DBR"]);
    let pair = |((name, opposite), face): ((&str, &str), Vector)| {
        [(name.to_string(), face), (opposite.to_string(), face.map(|x| -x))]
    };
    names.zip(half).flat_map(pair).collect()
}

impl CutSolid {
    /// The corners of a face, one after the other.
    pub fn outline(&self, face: usize) -> Vec<Vector> {
        let (normal, distance) = self.faces[face];
        let [right, up] = across(normal);
        let middle = normal.map(|x| x * distance);
        let corner = |(x, y): (f64, f64)| plus(plus(middle, 10.0 * x, right), 10.0 * y, up);
        let mut polygon = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(corner).to_vec();
        for &(other, at) in self.faces.iter().filter(|(other, _)| *other != normal) {
            let [below, _] = split(&polygon, other, at);
            polygon = below.expect("a solid has all its faces");
        }
        polygon
    }

    pub fn stickers(&self) -> Vec<Sticker> {
        let mut stickers = Vec::new();
        for face in 0..self.faces.len() {
            let mut parts = vec![self.outline(face)];
            for &(axis, at) in &self.planes {
                parts = parts.iter().flat_map(|part| split(part, axis, at)).flatten().collect();
            }
            stickers.extend(parts.into_iter().map(|outline| {
                let sum = outline.iter().fold([0.0; 3], |sum, &point| plus(sum, 1.0, point));
                Sticker { face, centre: sum.map(|x| x / outline.len() as f64), outline }
            }));
        }
        stickers
    }

    pub fn pieces(&self, stickers: &[Sticker]) -> Vec<CutPiece> {
        let mut pieces: BTreeMap<Vec<bool>, Vec<usize>> = BTreeMap::new();
        for (i, sticker) in stickers.iter().enumerate() {
            let sides = self.planes.iter().map(|&(axis, at)| dot(axis, sticker.centre) > at);
            pieces.entry(sides.collect()).or_default().push(i);
        }
        let piece = |mut own: Vec<usize>| {
            let sum = |of: &dyn Fn(usize) -> Vector| {
                own.iter().fold([0.0; 3], |sum, &sticker| plus(sum, 1.0, of(sticker)))
            };
            let axis = sum(&|sticker| self.faces[stickers[sticker].face].0);
            let centre = sum(&|sticker| stickers[sticker].centre);
            let distance = dot(centre, centre).sqrt() / own.len() as f64;
            let [right, up] = across(unit(axis));
            let angle = |&sticker: &usize| {
                let centre = stickers[sticker].centre;
                dot(centre, up).atan2(dot(centre, right))
            };
            own.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
            CutPiece { stickers: own, distance: (distance / TINY / 10.0).round() as i64 }
        };
        pieces.into_values().map(piece).collect()
    }

    /// Where each turn takes each sticker.
    pub fn moved(&self, stickers: &[Sticker]) -> Vec<Vec<usize>> {
        let to = |turn: &Turn, i: usize| {
            let height = dot(turn.axis, stickers[i].centre);
            if !(turn.from..turn.to).contains(&height) {
                return i;
            }
            let there = turned(stickers[i].centre, turn.axis, turn.parts);
            let found = stickers.iter().position(|sticker| near(sticker.centre, there));
            found.expect("a turn takes stickers to stickers")
        };
        let all = |turn: &Turn| (0..stickers.len()).map(|i| to(turn, i)).collect();
        self.turns.iter().map(all).collect()
    }

    fn puzzle(&self, name: &str) -> Puzzle {
        let stickers = self.stickers();
        let pieces = self.pieces(&stickers);
        let moved = self.moved(&stickers);
        let sets = self.piece_sets(&stickers, &pieces, &moved);
        let turn = |(turn, to): (&Turn, &Vec<usize>)| Move::free(&turn.name, action(&sets, to));
        let moves = self.turns.iter().zip(&moved).map(turn).collect();
        Puzzle::new(name, numbered(&sets), moves).expect("a puzzle of this project's own")
    }

    pub fn piece_sets(
        &self,
        stickers: &[Sticker],
        pieces: &[CutPiece],
        moved: &[Vec<usize>],
    ) -> Vec<PieceOrbit> {
        let moved: Vec<&[usize]> = moved.iter().map(Vec::as_slice).collect();
        let trading = all_orbits(stickers.len(), &moved);
        let mut done = vec![false; pieces.len()];
        let mut sets: Vec<PieceOrbit> = Vec::new();
        for (first, piece) in pieces.iter().enumerate() {
            let count = piece.stickers.len();
            let orbit = |sticker: &usize| trading.iter().find(|set| set.contains(sticker));
            // A sticker on the axis about which its piece turns in place does not show how it is turned; the largest
            // orbit is that of one that does.
            let all = piece.stickers.iter().filter_map(orbit);
            let reached =
                all.reduce(|most, next| if next.len() > most.len() { next } else { most });
            let reached = reached.expect("every sticker is in a set");
            if done[first] || reached.len() == 1 {
                continue;
            }
            let is_reached = |sticker: &usize| reached.binary_search(sticker).is_ok();
            let own: Vec<usize> =
                (0..pieces.len()).filter(|&i| pieces[i].stickers.iter().any(is_reached)).collect();
            own.iter().for_each(|&i| done[i] = true);
            let from_first_reached = |&i: &usize| {
                let mut around = pieces[i].stickers.clone();
                let first = around.iter().position(is_reached).expect("it is reached");
                around.rotate_left(first);
                around
            };
            let around: Vec<Vec<usize>> = own.iter().map(from_first_reached).collect();
            let reached = |of: &Vec<usize>| of.iter().copied().filter(is_reached).collect();
            let faces = |of: &Vec<usize>| of.iter().map(|&i| stickers[i].face).collect();
            // Of stickers on opposite faces, one counts.
            let normal = |&sticker: &usize| self.faces[stickers[sticker].face].0;
            let is_opposite = |one: &usize| {
                piece
                    .stickers
                    .iter()
                    .any(|two| two < one && dot(normal(one), normal(two)) < TINY - 1.0)
            };
            let sides = count - piece.stickers.iter().filter(|one| is_opposite(one)).count();
            let set = PieceOrbit {
                name: piece_name(sides, piece.distance as f64 * TINY * 10.0),
                distance: piece.distance,
                stickers: count,
                alone: own.len() == 1,
                pieces: around.iter().map(reached).collect(),
                faces: around.iter().map(faces).collect(),
                around,
            };
            // Pieces that only turn in place form one set with similar pieces.
            let alike = |other: &&mut PieceOrbit| {
                let same = (other.stickers, other.distance) == (set.stickers, set.distance);
                same && set.alone && other.alone
            };
            match sets.iter_mut().find(alike) {
                Some(other) => {
                    other.pieces.extend(set.pieces);
                    other.around.extend(set.around);
                    other.faces.extend(set.faces);
                }
                None => sets.push(set),
            }
        }
        sets.sort_by_key(|set| (Reverse(set.stickers), Reverse(set.pieces[0].len()), set.distance));
        sets
    }
}

/// What a turn does to sets of pieces that takes each sticker to a place.
pub(super) fn action(sets: &[PieceOrbit], to: &[usize]) -> Transformation {
    let of = |set: &PieceOrbit| SetAction::of_points(&set.pieces, |point| to[point]);
    Transformation(sets.iter().map(of).collect())
}

/// The sets of a puzzle: of those with one name, all but the first have a number.
pub(super) fn numbered(sets: &[PieceOrbit]) -> Vec<PieceSet> {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    let numbered = |set: &PieceOrbit| {
        let count = names.entry(set.name).or_default();
        *count += 1;
        let number = if *count == 1 { String::new() } else { count.to_string() };
        set.set(format!("{}{number}", set.name))
    };
    sets.iter().map(numbered).collect()
}

impl PieceOrbit {
    /// The faces of the stickers of each kind of piece.
    fn kinds(&self) -> Vec<&Vec<usize>> {
        let mut seen = HashSet::new();
        self.faces.iter().filter(|faces| seen.insert(*faces)).collect()
    }

    fn set(&self, name: String) -> PieceSet {
        let (orientations, kinds) = (self.pieces[0].len() as u8, self.kinds());
        let kind = |faces| kinds.iter().position(|&other| other == faces);
        let placed = |faces| Placed { kind: kind(faces).expect("it is one") as u8, turn: 0 };
        let solved = self.faces.iter().map(placed).collect();
        PieceSet { name, orientations, solved, moduli: vec![orientations; kinds.len()] }
    }
}

// The stickers of a cube, unfolded.

/// Where a sticker of a cube is: on what never moves, with its face, or a sticker of a position of a set.
#[derive(Clone, Copy)]
pub(super) enum Facelet {
    Fixed(usize),
    Of { set: usize, position: usize, index: usize },
}

/// The stickers of a cube, face by face in the order U, R, F, D, L, B, each row by row, as the faces are printed around
/// F; and the sets of pieces, with the faces of the stickers of each kind of piece. Faces are numbered as in [`CUBE`].
pub(super) struct Unfolded {
    pub facelets: Vec<Facelet>,
    /// The numbers that these stickers have otherwise.
    pub printed: Vec<usize>,
    pub sets: Vec<PieceSet>,
    pub kinds: Vec<Vec<Vec<usize>>>,
}

/// For each face as it is printed, its number, and the directions in which its rows and its columns follow each other.
pub(super) const PRINTED: [(usize, Vector, Vector); 6] = [
    (0, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]),
    (5, [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]),
    (2, [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]),
    (1, [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]),
    (4, [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]),
    (3, [0.0, -1.0, 0.0], [-1.0, 0.0, 0.0]),
];

/// Returns the stickers of a cube.
pub(super) fn unfolded(layers: usize) -> Unfolded {
    let cube = layered(cube(layers));
    let stickers = cube.stickers();
    let sets = cube.piece_sets(&stickers, &cube.pieces(&stickers), &cube.moved(&stickers));
    let mut facelets: Vec<Facelet> = stickers.iter().map(|of| Facelet::Fixed(of.face)).collect();
    for (set, of) in sets.iter().enumerate() {
        for (position, around) in of.around.iter().enumerate() {
            for (index, &sticker) in around.iter().enumerate() {
                facelets[sticker] = Facelet::Of { set, position, index };
            }
        }
    }
    let step = |of: Vector, direction: Vector| (dot(of, direction) * 1000.0).round() as i64;
    let printed = PRINTED.iter().flat_map(|&(face, down, right)| {
        let mut own: Vec<usize> =
            (0..stickers.len()).filter(|&i| stickers[i].face == face).collect();
        own.sort_by_key(|&i| (step(stickers[i].centre, down), step(stickers[i].centre, right)));
        own
    });
    let printed: Vec<usize> = printed.collect();
    let facelets = printed.iter().map(|&sticker| facelets[sticker]).collect();
    let kinds = sets.iter().map(|set| set.kinds().into_iter().cloned().collect()).collect();
    Unfolded { facelets, printed, sets: numbered(&sets), kinds }
}

/// A puzzle whose moves are all powers of its turns, for tests.
#[cfg(test)]
pub(crate) fn whole(name: &str) -> Puzzle {
    parse(name).unwrap().counting(crate::puzzle::Turns::Powers).unwrap()
}

/// The part of a puzzle with some pieces, for tests.
#[cfg(test)]
pub(crate) fn part(name: &str, pieces: &[&str]) -> Puzzle {
    let pieces: Vec<String> = pieces.iter().map(|&word| word.into()).collect();
    whole(name).keeping(&pieces).unwrap()
}
