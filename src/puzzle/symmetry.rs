//! The symmetries of a puzzle: all ways to rename its places, pieces and moves that change nothing.
//!
//! A **sticker** is a place where a piece can be in one of its orientations; it shows one side of the piece. A symmetry is a
//! permutation of the stickers that takes moves, with what they require, to moves, solved states to solved states, and
//! stickers that show the same to such stickers. So it takes states to states at the same distance from the solved ones.
//! What nobody can see has no part in it: two symmetries that take every state to the same one are the same symmetry.
//!
//! Two relations are made of a puzzle for [`Relations::automorphisms`]. The first has its sets, positions and pieces: its
//! automorphisms are **relabellings**, with which searches and tables compute images of states. The second has only what is
//! seen: its automorphisms are all symmetries, also those that no renaming of sets and pieces brings about.
//!
//! Invariant: the relabellings that are listed have different effects on states, and are a group; the first is the identity.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    hash::Hash,
    mem,
};

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};

use crate::puzzle::{
    Arrangement, Move, PieceAt, PieceSet, Placed, Puzzle,
    automorphisms::{Automorphisms, Relations, mixed},
    group::all_orbits,
};
use crate::random::SplitMix64;

/// Maximum number of colours of stickers in all goals together: beyond that, no symmetries are looked for.
const MOST_SHOWN: usize = 1 << 16;
/// Maximum number of elements of a group that is spread: more take longer to check than they save.
const MOST_SPREAD: usize = 512;
/// Number of random elements that are tried as its generators, and of factors of each.
const SPREAD_TRIES: usize = 300;
const SPREAD_LENGTH: usize = 40;

/// A rearrangement of all locations and kinds of pieces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Relabelling {
    /// The image of each set.
    #[serde(rename = "orbit")]
    pub set: Vec<usize>,
    /// For each set, the image of each of its locations within the image of the set.
    pub location: Vec<Vec<u8>>,
    /// For each set, the kind that takes the place of each kind, and the offset of its orientations.
    pub kind: Vec<Vec<(u8, u8)>>,
}

impl Relabelling {
    pub fn identity(puzzle: &Puzzle) -> Relabelling {
        let sets = puzzle.sets();
        Relabelling {
            set: (0..sets.len()).collect(),
            location: sets.iter().map(|of| (0..of.locations() as u8).collect()).collect(),
            kind: (sets.iter())
                .map(|of| (0..of.moduli.len() as u8).map(|kind| (kind, 0)).collect())
                .collect(),
        }
    }

    /// Whether sets, locations and kinds of a puzzle have images of the same shape: what else files contain is nonsense.
    pub fn fits(&self, puzzle: &Puzzle) -> bool {
        let sets = puzzle.sets();
        let is_all = |images: &mut dyn Iterator<Item = usize>, count: usize| {
            let images: Vec<usize> = images.collect();
            images.len() == count
                && images.into_iter().collect::<BTreeSet<_>>() == (0..count).collect()
        };
        let of_set = |(index, set): (usize, &PieceSet)| {
            let there = &sets[self.set[index]];
            let (locations, kinds) = (&self.location[index], &self.kind[index]);
            let each = usize::from(set.orientations);
            let kind = |(own, &(image, ahead)): (&u8, &(u8, u8))| {
                there.moduli[usize::from(image)] == *own && ahead < *own
            };
            there.locations() == set.locations()
                && there.orientations == set.orientations
                && there.moduli.len() == set.moduli.len()
                && is_all(&mut locations.iter().map(|&to| to.into()), set.locations())
                && locations.chunks(each).all(|own| {
                    own.iter().all(|to| to / set.orientations == own[0] / set.orientations)
                })
                && is_all(&mut kinds.iter().map(|&(kind, _)| kind.into()), set.moduli.len())
                && set.moduli.iter().zip(kinds).all(kind)
        };
        is_all(&mut self.set.iter().copied(), sets.len())
            && self.location.len() == sets.len()
            && self.kind.len() == sets.len()
            && sets.iter().enumerate().all(of_set)
    }

    /// Returns the set, position and piece that a piece at a position of a set is mapped to.
    pub fn of_piece(
        &self,
        puzzle: &Puzzle,
        (set, position): (usize, usize),
        piece: Placed,
    ) -> (usize, usize, Placed) {
        let of = &puzzle.sets()[set];
        let orientations = usize::from(of.orientations);
        let location = self.location[set][position * orientations + usize::from(piece.turn)];
        let (kind, ahead) = self.kind[set][usize::from(piece.kind)];
        let modulus = of.moduli[usize::from(piece.kind)];
        let (to, turn) = (usize::from(location) / orientations, location % of.orientations);
        (self.set[set], to, Placed { kind, turn: (turn + modulus - ahead) % modulus })
    }

    /// Returns the image of an arrangement.
    pub fn arrangement(&self, puzzle: &Puzzle, of: &Arrangement) -> Arrangement {
        let mut image = of.clone();
        for (set, row) in of.0.iter().enumerate() {
            for (position, &piece) in row.iter().enumerate() {
                let (set, position, piece) = self.of_piece(puzzle, (set, position), piece);
                image.0[set][position] = piece;
            }
        }
        image
    }
}

/// The symmetries of a puzzle.
#[derive(Clone, Debug)]
pub(crate) struct PuzzleSymmetries {
    /// The number of all symmetries; `None` if it is not known.
    pub order: Option<BigUint>,
    /// Those that are listed: all, or some.
    pub listed: Vec<PuzzleSymmetry>,
    /// Some that generate all.
    pub generators: Vec<PuzzleSymmetry>,
}

/// A symmetry.
#[derive(Clone, Debug)]
pub(crate) struct PuzzleSymmetry {
    pub relabelling: Relabelling,
    /// The image of each move.
    pub on_moves: Vec<u16>,
    /// Its effect on states: see [`SeenPuzzle::effect`].
    pub effect: Vec<u32>,
}

impl PuzzleSymmetries {
    /// Returns all symmetries that relabellings bring about; if these are more than `most`, those that also keep as few
    /// moves as reduce the number sufficiently, or, if they are to be spread, a group that keeps as few moves as possible.
    ///
    /// Cost: a tenth of a second for large puzzles, seconds for hundreds of moves, milliseconds for others.
    pub fn of(puzzle: &Puzzle, most: usize, spread: bool) -> PuzzleSymmetries {
        let (goals, stickers) =
            (puzzle.goals(), puzzle.sets().iter().map(PieceSet::locations).sum::<usize>());
        let identity = PuzzleSymmetry {
            relabelling: Relabelling::identity(puzzle),
            on_moves: (0..puzzle.moves().len() as u16).collect(),
            effect: Vec::new(),
        };
        if goals.len() * stickers > MOST_SHOWN {
            return PuzzleSymmetries {
                order: None,
                listed: vec![identity],
                generators: Vec::new(),
            };
        }
        let seen = SeenPuzzle::of(puzzle, &goals);
        let order = seen.relations.automorphisms().map(|all| all.order);
        let named = LabelledPuzzle::of(puzzle, &goals, &seen);
        let order = order.filter(|_| seen.is_all);
        let all = named.relations.automorphisms();
        let listed = all.and_then(|all| named.listed((puzzle, &seen), &all, (most, spread)));
        let (generators, listed) = listed.unwrap_or_else(|| (Vec::new(), vec![identity]));
        PuzzleSymmetries { order, listed, generators }
    }
}

/// A permutation of numbers followed by another one.
pub(crate) fn followed(first: &[u32], next: &[u32]) -> Vec<u32> {
    first.iter().map(|&image| next[image as usize]).collect()
}

/// The number of orientations of a set that look different.
fn sides(set: &PieceSet) -> usize {
    Puzzle::visible(set).into()
}

/// The side of a piece that is at an orientation of its position.
fn side(set: &PieceSet, piece: Placed, turn: usize) -> u8 {
    let modulus = set.moduli[usize::from(piece.kind)];
    ((turn % usize::from(modulus)) as u8 + modulus - piece.turn) % modulus
}

/// The stickers of a puzzle, set by set, position by position; only orientations that look different.
struct Stickers<'a> {
    puzzle: &'a Puzzle,
    first: Vec<usize>,
    count: usize,
}

impl<'a> Stickers<'a> {
    fn of(puzzle: &'a Puzzle) -> Stickers<'a> {
        let (mut first, mut count) = (Vec::new(), 0);
        for set in puzzle.sets() {
            first.push(count);
            count += set.positions() * sides(set);
        }
        Stickers { puzzle, first, count }
    }

    fn at(&self, set: usize, position: usize, turn: usize) -> usize {
        self.first[set] + position * sides(&self.puzzle.sets()[set]) + turn
    }

    /// The set, the position and the orientation of each.
    fn each(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        self.puzzle.sets().iter().enumerate().flat_map(|(index, set)| {
            (0..set.positions())
                .flat_map(move |position| (0..sides(set)).map(move |turn| (index, position, turn)))
        })
    }

    /// The image of each under a move.
    fn images(&self, one: &Move) -> Vec<usize> {
        let mut images = vec![0; self.count];
        for ((index, set), turn) in self.puzzle.sets().iter().enumerate().zip(&one.transformation.0)
        {
            for (to, (&from, &twist)) in turn.source.iter().zip(&turn.twist).enumerate() {
                for side in 0..sides(set) {
                    images[self.at(index, from.into(), side)] =
                        self.at(index, to, (side + usize::from(twist)) % sides(set));
                }
            }
        }
        images
    }
}

// What is seen. A state colours each sticker by the side of the piece that is there. Stickers that have the same colour in
// every state are one point; those whose colour never changes are none. If nothing is required of moves, nor are those that
// show what others show already, in other colours. Two moves are then equal permutations of points if and only if they have
// the same effect on every state. Which sides are alike matters only for points that moves connect: these are a part.

/// A puzzle as what is seen of it.
pub(crate) struct SeenPuzzle {
    relations: Relations,
    /// For each move, the number of its effect; `None` if it has none.
    effect_of: Vec<Option<u32>>,
    effects: usize,
    /// Labelled triples of effects that tell them apart: see [`products`].
    products: Vec<(u64, [u32; 3])>,
    /// Whether all symmetries of the states are automorphisms; this is not known of some conditions.
    is_all: bool,
}

impl SeenPuzzle {
    /// The effect of a symmetry on states, as it permutes what is seen of moves and the goals. It takes each move to one;
    /// moves without an image do the same as others.
    pub fn effect(&self, images: &[Option<usize>], goals: &[usize]) -> Vec<u32> {
        let mut effect: Vec<u32> = (0..self.relations.counting as u32).collect();
        for (own, image) in self.effect_of.iter().zip(images) {
            if let (Some(own), Some(to)) = (own, image.and_then(|image| self.effect_of[image])) {
                effect[*own as usize] = to;
            }
        }
        if goals.len() > 1 {
            let first = self.relations.counting - goals.len();
            (first..).zip(goals).for_each(|(goal, to)| effect[goal] = (first + to) as u32);
        }
        effect
    }

    pub fn of(puzzle: &Puzzle, goals: &[Arrangement]) -> SeenPuzzle {
        let stickers = Stickers::of(puzzle);
        let moves: Vec<Vec<usize>> =
            puzzle.moves().iter().map(|one| stickers.images(one)).collect();
        // What each sticker shows in each goal.
        let shown = |(set, position, turn): (usize, usize, usize)| {
            let of = &puzzle.sets()[set];
            let in_goal = |goal: &Arrangement| {
                let piece = goal.0[set][position];
                (set, piece.kind, side(of, piece, turn))
            };
            goals.iter().map(in_goal).collect::<Vec<_>>()
        };
        let shown: Vec<_> = stickers.each().map(shown).collect();
        // Stickers are told apart by their colours now and after moves, until nothing more tells them apart.
        let (mut class, mut classes) = numbered(shown.iter());
        loop {
            let before = classes;
            for one in &moves {
                (class, classes) =
                    numbered(class.iter().zip(one).map(|(own, &to)| (*own, class[to])));
            }
            if classes == before {
                break;
            }
        }
        let mut any = vec![0; classes];
        class.iter().enumerate().rev().for_each(|(sticker, &class)| any[class] = sticker);
        let on_classes = |one: &Vec<usize>| {
            any.iter().map(|&sticker| class[one[sticker]]).collect::<Vec<usize>>()
        };
        let all: Vec<Vec<usize>> = moves.iter().map(on_classes).collect();
        let slices: Vec<&[usize]> = all.iter().map(Vec::as_slice).collect();
        let is_free = puzzle.allows_all_moves();
        let colour = |point: usize| &shown[any[point]];
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for part in all_orbits(classes, &slices) {
            let never_changes =
                part.len() == 1 && colour(part[0]).iter().all(|own| *own == colour(part[0])[0]);
            let shows = |earlier: &Vec<usize>| {
                earlier.len() == part.len()
                    && part.iter().any(|&to| shows_the_same((earlier[0], to), &all, &colour))
            };
            if !(never_changes || is_free && parts.iter().any(shows)) {
                parts.push(part);
            }
        }
        let mut relations = Relations::default();
        // Moves by their effects, with what they require: the sides that a point may show.
        let mut part_of = vec![None; classes];
        for (number, part) in parts.iter().enumerate() {
            part.iter().for_each(|&point| part_of[point] = Some(number));
        }
        let points: Vec<usize> = (0..classes).filter(|&point| part_of[point].is_some()).collect();
        let required = |at: PieceAt| {
            let set = usize::from(at.set);
            let sides = 0..puzzle.sets()[set].moduli[usize::from(at.kind)];
            let sides: Vec<_> = sides.map(|side| (set, at.kind, side)).collect();
            (class[stickers.at(set, at.position.into(), 0)], sides)
        };
        let occurs: BTreeSet<_> = points
            .iter()
            .flat_map(|&point| {
                colour(point).iter().map(|&own| (part_of[point], own)).collect::<Vec<_>>()
            })
            .collect();
        let mut effects: BTreeMap<(Vec<usize>, Option<SidesAtPoint>), u32> = BTreeMap::new();
        let mut effect_of = Vec::new();
        for (one, images) in puzzle.moves().iter().zip(&all) {
            let needs = one.requires.map(required);
            // What a piece that never moves decides is decided.
            let (is_possible, needs) = match needs {
                Some((point, sides)) if part_of[point].is_none() => {
                    (sides.contains(&colour(point)[0]), None)
                }
                Some((point, mut sides)) => {
                    sides.retain(|&side| occurs.contains(&(part_of[point], side)));
                    (!sides.is_empty(), Some((point, sides)))
                }
                None => (true, None),
            };
            let seen: Vec<usize> = points.iter().map(|&point| images[point]).collect();
            effect_of.push((is_possible && seen != points).then(|| {
                let next = effects.len() as u32;
                *effects.entry((seen, needs)).or_insert(next)
            }));
        }
        (0..effects.len()).for_each(|_| _ = relations.thing(0));
        let mut in_order = vec![&[][..]; effects.len()];
        effects.iter().for_each(|((seen, _), &effect)| in_order[effect as usize] = seen);
        let products = products(&points, &in_order);
        relations.triples.extend_from_slice(&products);
        let of_goal: Vec<u32> = if goals.len() > 1 {
            goals.iter().map(|_| relations.thing(1)).collect()
        } else {
            Vec::new()
        };
        relations.counting = relations.colours.len();
        let mut thing_of = vec![0; classes];
        points.iter().for_each(|&point| thing_of[point] = relations.thing(2));
        let mut sides: HashMap<(Option<usize>, ShownSide), u32> = HashMap::new();
        for &point in &points {
            for (goal, &own) in colour(point).iter().enumerate() {
                let side =
                    *sides.entry((part_of[point], own)).or_insert_with(|| relations.thing(3));
                relations
                    .relate(0, [of_goal.get(goal).copied().unwrap_or(side), thing_of[point], side]);
            }
        }
        for ((seen, needs), &effect) in &effects {
            for (&point, &to) in points.iter().zip(seen).filter(|(own, to)| own != to) {
                relations.relate(1, [effect, thing_of[point], thing_of[to]]);
            }
            if let Some((point, all)) = needs {
                for side in all.iter().filter_map(|&side| sides.get(&(part_of[*point], side))) {
                    relations.relate(2, [effect, thing_of[*point], *side]);
                }
            }
        }
        for at in puzzle.illegal() {
            let (point, all) = required(*at);
            for side in all.iter().filter_map(|&side| sides.get(&(part_of[point], side))) {
                relations.relate(3, [*side, thing_of[point], *side]);
            }
        }
        SeenPuzzle {
            relations,
            effect_of,
            effects: effects.len(),
            products,
            is_all: needs_one_piece(puzzle),
        }
    }
}

/// Maximum number of images of points that are looked at to tell pairs of moves apart.
const MOST_IMAGES: usize = 1 << 23;

/// Triples of permutations of points, by their numbers: for each pair, with the second one twice, the lengths of the cycles of
/// their product as the label. Refinement does not see these, and without them it tries to take turns to their powers. Of too
/// many permutations, only pairs of those that are no powers of others, of too many of these only pairs of those that move the
/// fewest points, and all powers: see [`powers`].
fn products(points: &[usize], all: &[&[usize]]) -> Vec<(u64, [u32; 3])> {
    let place: HashMap<usize, usize> = points.iter().copied().zip(0..).collect();
    let all: Vec<Vec<usize>> =
        all.iter().map(|one| one.iter().map(|to| place[to]).collect()).collect();
    let fits = |count: usize| count * count * points.len() <= MOST_IMAGES;
    let mut triples = if fits(all.len()) { Vec::new() } else { powers(&all) };
    let powers: HashSet<(u32, u32)> = triples.iter().map(|&(_, [one, _, to])| (one, to)).collect();
    let is_root = |of: u32| powers.iter().all(|&(one, to)| to != of || powers.contains(&(of, one)));
    let mut roots: Vec<u32> = (0..all.len() as u32).filter(|&one| is_root(one)).collect();
    // Turns of single layers move fewer points than several layers at once.
    let moved = |&one: &u32| (0..).zip(&all[one as usize]).filter(|(own, to)| own != *to).count();
    while !fits(roots.len()) {
        let most = roots.iter().map(moved).max();
        roots.retain(|one| Some(moved(one)) < most);
    }
    let mut seen = vec![0; points.len()];
    let mut pair = 0;
    let mut kind = |one: &[usize], next: &[usize]| {
        pair += 1;
        let mut kind = 0u64;
        for first in 0..one.len() {
            let (mut at, mut length) = (first, 0);
            while mem::replace(&mut seen[at], pair) != pair {
                (at, length) = (next[one[at]], length + 1);
            }
            kind = kind.wrapping_add(mixed(length));
        }
        kind
    };
    for &one in &roots {
        let with = |&next: &u32| (kind(&all[one as usize], &all[next as usize]), [one, next, next]);
        triples.extend(roots.iter().map(with));
    }
    triples
}

/// The powers of each permutation, as long as these are among them, too: the permutation, a power, and the next one.
fn powers(all: &[Vec<usize>]) -> Vec<(u64, [u32; 3])> {
    let numbers: HashMap<&[usize], u32> = all.iter().map(Vec::as_slice).zip(0..).collect();
    let mut triples = Vec::new();
    // Several may differ in what they require.
    for (one, images) in (0..).zip(all).filter(|_| numbers.len() == all.len()) {
        let (mut power, mut at) = (images.clone(), one);
        loop {
            power.iter_mut().for_each(|to| *to = images[*to]);
            let Some(&next) = numbers.get(power.as_slice()).filter(|&&next| next != one) else {
                break;
            };
            triples.push((0, [one, at, next]));
            at = next;
        }
    }
    triples
}

/// What a sticker shows: the set, the kind of piece, and its side.
type ShownSide = (usize, u8, u8);

/// The sides of which a point must show one.
type SidesAtPoint = (usize, Vec<ShownSide>);

/// Whether moves need nothing, or all of them the same piece, which does not turn, no state is forbidden, and no pieces
/// are glued together.
fn needs_one_piece(puzzle: &Puzzle) -> bool {
    let needed = |one: &Move| one.requires.map(|at| (at.set, at.kind));
    let first = puzzle.moves().first().and_then(needed);
    let is_alone = |(set, kind): (u8, u8)| {
        let set = &puzzle.sets()[usize::from(set)];
        set.orientations == 1 && set.pieces_of(kind) == 1
    };
    puzzle.illegal().is_empty()
        && puzzle.blocks().is_empty()
        && puzzle.moves().iter().all(|one| needed(one) == first)
        && first.is_none_or(is_alone)
}

/// Whether two points that moves connect with equally many always show the same, in other colours: the pairs that moves make
/// of them have colours that determine each other.
fn shows_the_same<'a, T: Eq + Hash + 'a>(
    first: (usize, usize),
    moves: &[Vec<usize>],
    colour: &impl Fn(usize) -> &'a Vec<T>,
) -> bool {
    let (mut there, mut open) = (HashMap::from([first]), vec![first]);
    let (mut forth, mut back) = (HashMap::new(), HashMap::new());
    while let Some((own, other)) = open.pop() {
        for (a, b) in colour(own).iter().zip(colour(other)) {
            if forth.insert(a, b).is_some_and(|known| known != b)
                || back.insert(b, a).is_some_and(|known| known != a)
            {
                return false;
            }
        }
        for one in moves {
            match there.insert(one[own], one[other]) {
                None => open.push((one[own], one[other])),
                Some(known) if known != one[other] => return false,
                Some(_) => {}
            }
        }
    }
    true
}

/// The numbers of things in the order in which they first occur, and how many they are.
fn numbered<T: Eq + Hash>(all: impl Iterator<Item = T>) -> (Vec<usize>, usize) {
    let mut known = HashMap::new();
    let mut number = |one| {
        let next = known.len();
        *known.entry(one).or_insert(next)
    };
    let numbers = all.map(&mut number).collect();
    (numbers, known.len())
}

// Relabellings: automorphisms that also keep sets, positions and kinds together. Positions where nothing ever moves are left
// out, and take each other's places afterwards.

/// A puzzle with its sets, positions and kinds.
struct LabelledPuzzle<'a> {
    stickers: Stickers<'a>,
    relations: Relations,
    goals: usize,
    /// For each set, each position and each sticker, its thing; the last two are `None` where nothing moves.
    set: Vec<u32>,
    position: Vec<Vec<Option<u32>>>,
    sticker: Vec<Option<u32>>,
    /// For each set and kind, the things of its sides; none if no move moves it.
    sides: Vec<Vec<Vec<u32>>>,
    /// What things stand for.
    place_of: HashMap<u32, (usize, usize, usize)>,
    side_of: HashMap<u32, (u8, u8)>,
}

impl<'a> LabelledPuzzle<'a> {
    fn of(puzzle: &'a Puzzle, goals: &[Arrangement], seen: &SeenPuzzle) -> LabelledPuzzle<'a> {
        let (stickers, mut relations) = (Stickers::of(puzzle), Relations::default());
        puzzle.moves().iter().for_each(|_| _ = relations.thing(0));
        let of_goal: Vec<u32> = if goals.len() > 1 {
            goals.iter().map(|_| relations.thing(1)).collect()
        } else {
            Vec::new()
        };
        relations.counting = relations.colours.len();
        let mut with_effect = vec![Vec::new(); seen.effects];
        for (one, effect) in (0..).zip(&seen.effect_of) {
            effect.iter().for_each(|&effect| with_effect[effect as usize].push(one));
        }
        for &(label, effects) in &seen.products {
            let [firsts, nexts, thirds] = effects.map(|effect| &with_effect[effect as usize]);
            for (&first, &next) in
                firsts.iter().flat_map(|one| nexts.iter().map(move |next| (one, next)))
            {
                // The second one twice, or each that does the same as the third.
                let thirds =
                    if effects[1] == effects[2] { std::slice::from_ref(&next) } else { thirds };
                thirds.iter().for_each(|&third| relations.relate(label, [first, next, third]));
            }
        }
        let mut of = LabelledPuzzle {
            goals: of_goal.len(),
            set: Vec::new(),
            position: Vec::new(),
            sticker: vec![None; stickers.count],
            sides: Vec::new(),
            place_of: HashMap::new(),
            side_of: HashMap::new(),
            stickers,
            relations,
        };
        for (index, set) in puzzle.sets().iter().enumerate() {
            of.add_set(index, set, goals);
        }
        let images: Vec<Vec<usize>> =
            puzzle.moves().iter().map(|one| of.stickers.images(one)).collect();
        for (one, images) in (0..).zip(&images) {
            for (sticker, &to) in images.iter().enumerate().filter(|(own, to)| own != *to) {
                if let (Some(from), Some(to)) = (of.sticker[sticker], of.sticker[to]) {
                    of.relations.relate(3, [one, from, to]);
                }
            }
        }
        let all: Vec<(usize, usize, usize)> = of.stickers.each().collect();
        for (sticker, (set, position, turn)) in all.into_iter().enumerate() {
            let Some(thing) = of.sticker[sticker] else { continue };
            for (goal, state) in goals.iter().enumerate() {
                let piece = state.0[set][position];
                let side = of.sides[set][usize::from(piece.kind)]
                    [usize::from(side(&puzzle.sets()[set], piece, turn))];
                of.relations.relate(4, [of_goal.get(goal).copied().unwrap_or(side), thing, side]);
            }
        }
        let required = |of: &LabelledPuzzle, at: PieceAt| {
            let set = usize::from(at.set);
            (
                of.position[set][usize::from(at.position)],
                of.sides[set][usize::from(at.kind)].clone(),
            )
        };
        for (one, own) in (0..).zip(puzzle.moves()) {
            let Some(at) = own.requires else { continue };
            let is_solved =
                goals[0].0[usize::from(at.set)][usize::from(at.position)].kind == at.kind;
            match required(&of, at) {
                (Some(position), sides) if !sides.is_empty() => {
                    sides
                        .into_iter()
                        .for_each(|side| of.relations.relate(5, [one, position, side]));
                }
                // What a piece that never moves decides is decided.
                (None, _) if is_solved => {}
                _ => of.relations.relate(6, [one; 3]),
            }
        }
        for (position, sides) in
            puzzle.illegal().iter().map(|&at| required(&of, at)).collect::<Vec<_>>()
        {
            if let Some(position) = position {
                sides
                    .into_iter()
                    .for_each(|side| of.relations.relate(7, [position, position, side]));
            }
        }
        // Blocks, and what moves take along, be it in a way that nobody sees.
        for block in puzzle.blocks() {
            let thing = of.relations.thing(6);
            for one in block {
                for &side in &of.sides[usize::from(one.set)][usize::from(one.kind)] {
                    of.relations.relate(8, [thing, thing, side]);
                }
            }
        }
        let sets = puzzle.sets().iter().enumerate().filter(|_| !puzzle.blocks().is_empty());
        for (set, position) in sets.flat_map(|(i, set)| (0..set.positions()).map(move |p| (i, p))) {
            let Some(place) = of.position[set][position] else { continue };
            for (one, _) in
                (0..).zip(puzzle.moves()).filter(|(_, one)| one.transformation.takes(set, position))
            {
                of.relations.relate(9, [one, place, place]);
            }
        }
        of
    }

    fn add_set(&mut self, index: usize, set: &PieceSet, goals: &[Arrangement]) {
        let puzzle = self.stickers.puzzle;
        let shape = [set.positions(), set.orientations.into(), set.moduli.len(), sides(set)];
        let own =
            self.relations.thing(shape.iter().fold(5, |shape, &part| shape * 1000 + part as u64));
        self.set.push(own);
        let mut positions = Vec::new();
        let mut moved = BTreeSet::new();
        for position in 0..set.positions() {
            let moves = puzzle.moves_at(index, position);
            positions.push(moves.then(|| {
                let place = self.relations.thing(4);
                self.relations.relate(0, [own, place, place]);
                self.place_of.insert(place, (index, position, 0));
                for turn in 0..sides(set) {
                    let sticker = self.relations.thing(2);
                    self.sticker[self.stickers.at(index, position, turn)] = Some(sticker);
                    self.place_of.insert(sticker, (index, position, turn));
                    self.relations.relate(1, [place, sticker, sticker]);
                }
                moved.extend(goals.iter().map(|goal| goal.0[index][position].kind));
                place
            }));
        }
        self.position.push(positions);
        let of_kind = |kind: usize| {
            if !moved.contains(&(kind as u8)) {
                return Vec::new();
            }
            let modulus = set.moduli[kind];
            let kind_thing = self
                .relations
                .thing(1000 * (1 + set.pieces_of(kind as u8) as u64) + u64::from(modulus));
            let side = |turn: u8| {
                let side = self.relations.thing(3);
                self.side_of.insert(side, (kind as u8, turn));
                self.relations.relate(2, [own, kind_thing, side]);
                side
            };
            (0..modulus).map(side).collect()
        };
        self.sides.push((0..set.moduli.len()).map(of_kind).collect());
    }

    /// The relabelling of an automorphism; `None` if positions where nothing moves do not fit together.
    fn relabelling(&self, to: &[u32]) -> Option<Relabelling> {
        let sets = self.stickers.puzzle.sets();
        let mut all = Relabelling { set: vec![], location: vec![], kind: vec![] };
        for (index, set) in sets.iter().enumerate() {
            let there = self.set.iter().position(|&other| other == to[self.set[index] as usize])?;
            let (each, seen) = (usize::from(set.orientations), sides(set));
            let mut kinds: Vec<Option<(u8, u8)>> = self.sides[index]
                .iter()
                .map(|sides| sides.first().map(|&side| self.side_of[&to[side as usize]]))
                .collect();
            let mut location = vec![0; set.locations()];
            for position in 0..set.positions() {
                for turn in 0..each {
                    if let Some(sticker) =
                        self.sticker[self.stickers.at(index, position, turn % seen)]
                    {
                        let (_, place, image) = self.place_of[&to[sticker as usize]];
                        let image = (image + turn - turn % seen) % each;
                        location[position * each + turn] = (place * each + image) as u8;
                    }
                }
            }
            let still = |of: usize| {
                (0..sets[of].positions())
                    .filter(move |&position| self.position[of][position].is_none())
            };
            let mut free: Vec<usize> = still(there).collect();
            for position in still(index) {
                let own = set.solved[position];
                let (other, target) = (&sets[there], kinds[usize::from(own.kind)]);
                let fits = |&&place: &&usize| {
                    let piece = other.solved[place];
                    match target {
                        Some((kind, _)) => piece.kind == kind,
                        None => {
                            kinds.iter().flatten().all(|&(kind, _)| kind != piece.kind)
                                && other.pieces_of(piece.kind) == set.pieces_of(own.kind)
                                && other.moduli[usize::from(piece.kind)]
                                    == set.moduli[usize::from(own.kind)]
                        }
                    }
                };
                let own_place = |place: &usize| *place == position && there == index;
                let place = free
                    .iter()
                    .find(|place| own_place(place) && fits(place))
                    .or_else(|| free.iter().find(fits));
                let place = *place?;
                free.retain(|&other| other != place);
                let piece = other.solved[place];
                let (_, ahead) = *kinds[usize::from(own.kind)].get_or_insert((piece.kind, 0));
                for turn in 0..each {
                    let image = turn + each - usize::from(own.turn)
                        + usize::from(piece.turn)
                        + usize::from(ahead);
                    location[position * each + turn] = (place * each + image % each) as u8;
                }
            }
            // Kinds of which there are no pieces.
            let mut unused: Vec<u8> = (0..sets[there].moduli.len() as u8)
                .filter(|&kind| kinds.iter().flatten().all(|&(other, _)| other != kind))
                .collect();
            for (kind, to) in kinds.iter_mut().enumerate().filter(|(_, to)| to.is_none()) {
                let same = |other: &u8| sets[there].moduli[usize::from(*other)] == set.moduli[kind];
                let own =
                    unused.iter().position(|&other| usize::from(other) == kind && same(&other));
                let found = own.or_else(|| unused.iter().position(same))?;
                *to = Some((unused.remove(found), 0));
            }
            all.set.push(there);
            all.location.push(location);
            all.kind.push(kinds.into_iter().collect::<Option<_>>()?);
        }
        Some(all)
    }

    /// Generators of the symmetries of automorphisms, and each symmetry once: of too many, those that fix the first base
    /// points, or some that are spread.
    fn listed(
        &self,
        (puzzle, seen): (&Puzzle, &SeenPuzzle),
        all: &Automorphisms,
        (most, spread): (usize, bool),
    ) -> Option<(Vec<PuzzleSymmetry>, Vec<PuzzleSymmetry>)> {
        let moves = puzzle.moves().len();
        let effect = |to: &[u32]| {
            let images: Vec<Option<usize>> =
                to[..moves].iter().map(|&image| Some(image as usize)).collect();
            let goals = to[moves..][..self.goals].iter().map(|&goal| goal as usize - moves);
            seen.effect(&images, &goals.collect::<Vec<_>>())
        };
        let identity: Vec<u32> = (0..self.relations.colours.len() as u32).collect();
        let identity = (effect(&identity), identity);
        let generators = |level: usize| -> Vec<EffectOf> {
            let all = all.generators.iter().filter(|(of, _)| *of >= level);
            all.map(|(_, generator)| (effect(generator), generator.clone())).collect()
        };
        let mut listed = generated(&identity, &generators(0), most);
        if listed.is_none() {
            listed = match spread {
                true => Some(spread_group(&identity, &generators(0))),
                false => {
                    let mut levels = 1..=all.levels;
                    levels.find_map(|level| generated(&identity, &generators(level), most))
                }
            };
        }
        let symmetry = |(effect, to): EffectOf| {
            let on_moves = to[..moves].iter().map(|&image| image as u16).collect();
            Some(PuzzleSymmetry { relabelling: self.relabelling(&to)?, on_moves, effect })
        };
        let generators = generators(0).into_iter().filter_map(symmetry).collect();
        Some((generators, listed?.into_iter().map(symmetry).collect::<Option<_>>()?))
    }
}

/// The effect of an automorphism, and the automorphism.
type EffectOf = (Vec<u32>, Vec<u32>);

/// The group of so many elements that some generate, each effect once; `None` if there are more.
fn generated(
    identity: &EffectOf,
    generators: &[EffectOf],
    most: usize,
) -> Option<BTreeMap<Vec<u32>, Vec<u32>>> {
    let mut known = BTreeMap::from([identity.clone()]);
    let mut open = vec![identity.clone()];
    while let Some((own, to)) = open.pop() {
        for (next, generator) in generators {
            let both = followed(&own, next);
            if !known.contains_key(&both) {
                let image = followed(&to, generator);
                known.insert(both.clone(), image.clone());
                open.push((both, image));
            }
        }
        if known.len() > most {
            return None;
        }
    }
    Some(known)
}

/// A group under which states have few classes that are found quickly. Where many symmetries leave a state as it is, all of
/// them lead to its canonical form; few do if few leave moves as they are. From the identity on, random elements are added
/// as generators if that is better.
fn spread_group(identity: &EffectOf, generators: &[EffectOf]) -> BTreeMap<Vec<u32>, Vec<u32>> {
    let cost = |group: &BTreeMap<Vec<u32>, Vec<u32>>| {
        // The symmetries that leave a state of three moves as it is.
        let stays = |effect: &Vec<u32>| {
            let fixed = effect.iter().zip(0..).filter(|&(to, own)| *to == own).count();
            (fixed as f64 / effect.len() as f64).powi(3)
        };
        let own: f64 = group.keys().map(stays).sum();
        own * (2.0 + own) / group.len() as f64
    };
    // Elements are words until the best group is known: automorphisms are long.
    let (lone, effects) = ((identity.0.clone(), Vec::new()), |word: &[usize]| {
        let effects = word.iter().map(|&one| &generators[one].0);
        effects.fold(identity.0.clone(), |own, effect| followed(&own, effect))
    });
    let alone = |word: &Vec<usize>| (effects(word), Vec::new());
    let mut random = SplitMix64::new(generators.len() as u64);
    let (mut chosen, mut least) = (Vec::new(), f64::INFINITY);
    for _ in 0..SPREAD_TRIES {
        let mut draw = || random.below(generators.len() as u64) as usize;
        let word: Vec<usize> = (0..SPREAD_LENGTH).map(|_| draw()).collect();
        let Some(powers) = generated(&lone, &[alone(&word)], MOST_SPREAD) else { continue };
        let divisors: Vec<usize> = (1..powers.len()).filter(|by| powers.len() % by == 0).collect();
        let Some(last) = divisors.len().checked_sub(1) else { continue };
        let power = divisors[random.below(last as u64 + 1) as usize];
        chosen.push(word.repeat(power));
        let group = generated(&lone, &chosen.iter().map(alone).collect::<Vec<_>>(), MOST_SPREAD);
        match group.map(|group| cost(&group)).filter(|cost| *cost < least) {
            Some(cost) => least = cost,
            None => drop(chosen.pop()),
        }
    }
    let whole = |word: &Vec<usize>| {
        let automorphisms = word.iter().map(|&one| &generators[one].1);
        let whole = automorphisms.fold(identity.1.clone(), |own, next| followed(&own, next));
        (effects(word), whole)
    };
    let chosen: Vec<EffectOf> = chosen.iter().map(whole).collect();
    generated(identity, &chosen, MOST_SPREAD).expect("few enough")
}

impl Puzzle {
    /// Returns the number of symmetries: of all ways to rename places, pieces and moves that change no move and no solved
    /// state, and have different effects on states. `None` if it is not known.
    ///
    /// ```
    /// use tilewave::puzzle::{Turns, named};
    /// let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers)?;
    /// assert_eq!(cube.symmetries(), Some(48u8.into()));
    /// # Ok::<(), tilewave::Error>(())
    /// ```
    ///
    /// Cost: a tenth of a second for large puzzles, milliseconds for others.
    pub fn symmetries(&self) -> Option<BigUint> {
        PuzzleSymmetries::of(self, 1, false).order
    }

    /// Whether any move changes what is at a position of a set.
    pub(crate) fn moves_at(&self, set: usize, position: usize) -> bool {
        self.moves().iter().any(|one| one.transformation.takes(set, position))
    }
}
