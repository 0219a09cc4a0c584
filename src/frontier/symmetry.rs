//! A puzzle as a list search sees it, with its symmetries and parities, which are found from its moves alone.
//!
//! A symmetry rearranges the locations of all orbits and renames the pieces so that every move becomes a move and the
//! start remains the same. It takes states to states at the same distance from the start.
//!
//! Invariant: the elements of a [`SymmetryGroup`] have been checked as maps of states: each fixes the start and maps
//! the set of moves to itself. The identity comes first.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    mem,
    sync::OnceLock,
};

use crate::{
    frontier::fields::{FieldKind, FieldMap, Relabelling, StateFields},
    puzzle::{
        is_even,
        orbits::{Arrangement, OrbitMove, OrbitPlace, OrbitPuzzle},
        permutation::all_orbits,
    },
};

/// Maximum number of symmetries that are used: if there are more, those that fix some points.
const MOST: usize = 2048;
/// Maximum number of choices that are tried.
const MOST_TRIED: usize = 200_000;
const NONE: u16 = u16::MAX;

/// The symmetries of a puzzle and of its start.
#[derive(Clone, Debug)]
pub(crate) struct SymmetryGroup {
    pub maps: Vec<FieldMap>,
    /// The index of the inverse of each symmetry.
    pub inverse: Vec<u16>,
    /// The index of "i, then j", at `i * order + j`.
    product: Vec<u16>,
}

impl SymmetryGroup {
    /// Returns the group that consists of the identity alone.
    pub fn trivial(fields: &StateFields) -> SymmetryGroup {
        let identity = FieldMap {
            source: (0..fields.fields.len()).map(|q| q as u16).collect(),
            table: fields.fields.iter().map(|f| (0..f.values).map(|v| v as u8).collect()).collect(),
        };
        SymmetryGroup { maps: vec![identity], inverse: vec![0], product: vec![0] }
    }

    /// Returns all symmetries of a puzzle. If there are more than 2048, returns those that also fix the first points
    /// that move, as few of these points as reduce the number sufficiently.
    ///
    /// Cost: locations times moves for each candidate; milliseconds for the built-in puzzles.
    pub fn find(puzzle: &OrbitPuzzle, fields: &StateFields) -> SymmetryGroup {
        SymmetryGroup::with_relabellings(puzzle, fields).0
    }

    /// Returns the symmetries, and the effect of each on locations and kinds.
    pub fn with_relabellings(
        puzzle: &OrbitPuzzle,
        fields: &StateFields,
    ) -> (SymmetryGroup, Vec<Relabelling>) {
        let SymmetryGroup { mut maps, .. } = SymmetryGroup::trivial(fields);
        let mut all = vec![Relabelling::identity(puzzle)];
        let finder = SymmetryFinder::new(puzzle);
        // Positions that never move stay where they are.
        let still = |p: usize| finder.moves.iter().all(|one| usize::from(one[p]) == p);
        let points = 0..finder.points.len();
        let moving: Vec<usize> = points.clone().filter(|&p| !still(p)).collect();
        // The least number of fixed points with which there are not too many; with all, there is only the identity.
        let (mut least, mut most, mut fixed) = (0, moving.len(), 0);
        let mut few = Vec::new();
        while least < most {
            let stays = |p: usize| still(p) || moving[..fixed].contains(&p);
            let start = PartialSymmetry {
                image: points.clone().map(|p| if stays(p) { p as u16 } else { NONE }).collect(),
                taken: points.clone().map(stays).collect(),
                of_move: vec![None; finder.moves.len()],
            };
            let (mut found, mut tried) = (Vec::new(), 0);
            match finder.extend(start, &mut found, &mut tried) {
                Some(()) => (most, few) = (fixed, found),
                None if found.len() > MOST => least = fixed + 1,
                None => return (SymmetryGroup::trivial(fields), all),
            }
            fixed = least.midpoint(most);
        }
        let checked = KnownMoves::new(puzzle, fields);
        for relabelling in few.into_iter().filter(|one| fields.can_relabel(one)) {
            let map = fields.of_relabelling(puzzle, &relabelling);
            if !maps.contains(&map) && checked.is_symmetry(&map, &relabelling) {
                maps.push(map);
                all.push(relabelling);
            }
        }
        match SymmetryGroup::of(maps) {
            Some(group) => (group, all),
            None => (SymmetryGroup::trivial(fields), all[..1].to_vec()),
        }
    }

    /// The group of these maps, the first of which is the identity; `None` if they are not a group.
    pub fn of(maps: Vec<FieldMap>) -> Option<SymmetryGroup> {
        // A map is identified by its effect on some rows in which values differ as far as they can.
        let fields = maps[0].table.len();
        let value = |row: usize, field: usize| {
            (field * field * 7 + field * 3 + 1 + row * (2 * field + 1) * 5)
                % maps[0].table[field].len()
        };
        let rows: Vec<Vec<u8>> = (0..(512 / fields.max(1)).clamp(2, 64))
            .map(|row| (0..fields).map(|field| value(row, field) as u8).collect())
            .collect();
        let images: Vec<Vec<u8>> =
            maps.iter().map(|map| rows.iter().flat_map(|row| map.apply(row)).collect()).collect();
        let index: HashMap<&[u8], u16> = images.iter().map(Vec::as_slice).zip(0..).collect();
        if index.len() < maps.len() {
            return None;
        }
        // "Then a generator" is computed by applying it. All others are an earlier one of `order`, then a generator.
        let mut then: Vec<Vec<u16>> = Vec::new();
        let mut order = vec![(0, 0, 0)];
        let mut known = vec![false; maps.len()];
        known[0] = true;
        for new in 1..maps.len() {
            if known[new] {
                continue;
            }
            let image = |rows: &Vec<u8>| {
                let both = rows.chunks(fields.max(1)).flat_map(|row| maps[new].apply(row));
                index.get(both.collect::<Vec<u8>>().as_slice()).copied()
            };
            then.push(images.iter().map(image).collect::<Option<_>>()?);
            let mut at = 0;
            while let Some(&(from, ..)) = order.get(at) {
                for (generator, then) in then.iter().enumerate() {
                    let to = usize::from(then[from]);
                    if !mem::replace(&mut known[to], true) {
                        order.push((to, from, generator));
                    }
                }
                at += 1;
            }
        }
        let mut product = vec![0; maps.len() * maps.len()];
        for (first, both) in product.chunks_mut(maps.len()).enumerate() {
            both[0] = first as u16;
            for &(to, from, generator) in &order[1..] {
                both[to] = then[generator][usize::from(both[from])];
            }
        }
        let undoes =
            |first: &[u16]| first.iter().position(|&both| both == 0).map(|next| next as u16);
        let inverse = product.chunks(maps.len()).map(undoes).collect::<Option<_>>()?;
        Some(SymmetryGroup { maps, inverse, product })
    }

    pub fn order(&self) -> usize {
        self.maps.len()
    }

    /// Returns the images of a row of fields, itself included, each once.
    pub fn images(&self, row: &[u8]) -> BTreeSet<Vec<u8>> {
        self.maps.iter().map(|map| map.apply(row)).collect()
    }

    /// Returns the index of one symmetry followed by another.
    pub fn then(&self, first: u16, next: u16) -> u16 {
        self.product[usize::from(first) * self.order() + usize::from(next)]
    }

    /// Returns the subgroup of the symmetries for which a function returns true; panics if they do not form a group.
    pub fn subgroup(&self, keep: impl Fn(&FieldMap) -> bool) -> SymmetryGroup {
        let maps = self.maps.iter().filter(|map| keep(map)).cloned().collect();
        SymmetryGroup::of(maps).expect("the symmetries that keep something are a group")
    }
}

/// A puzzle whose states are rows of fields.
pub(crate) struct PuzzleRows<'a> {
    pub puzzle: &'a OrbitPuzzle,
    pub fields: StateFields,
    /// The effect of each move.
    pub moves: Vec<FieldMap>,
    pub start: Vec<u8>,
    pub goals: Vec<Vec<u8>>,
    symmetries: OnceLock<SymmetryGroup>,
}

impl PuzzleRows<'_> {
    pub fn of(puzzle: &OrbitPuzzle) -> PuzzleRows<'_> {
        let fields = StateFields::of(puzzle);
        let map = |one: &OrbitMove| fields.of_move(puzzle, one);
        let moves = puzzle.moves().iter().map(map).collect();
        let start = fields.encode(&puzzle.solved());
        let goals = puzzle.goals().iter().map(|goal| fields.encode(goal)).collect();
        PuzzleRows { puzzle, fields, moves, start, goals, symmetries: OnceLock::new() }
    }

    /// Returns all symmetries, or the identity alone.
    pub fn symmetries(&self, all: bool) -> SymmetryGroup {
        let find = || SymmetryGroup::find(self.puzzle, &self.fields);
        match all {
            true => self.symmetries.get_or_init(find).clone(),
            false => SymmetryGroup::trivial(&self.fields),
        }
    }

    /// Returns whether every move changes some parity, so that no move leads from a level to itself.
    pub fn is_bipartite(&self) -> bool {
        self.parity().is_some()
    }

    /// Returns a parity that every move changes and that all goals share; `None` if none is found.
    pub fn parity(&self) -> Option<MoveParity> {
        let coloured = (0..self.fields.fields.len()).find_map(|field| self.coloured(field));
        coloured.or_else(|| self.odd_sets())
    }

    /// The two colours of the locations of one piece, if every move changes them, and the goals have one of them.
    fn coloured(&self, field: usize) -> Option<MoveParity> {
        let of = &self.fields.fields[field];
        let FieldKind::Location { kind } = of.kind else { return None };
        let applies = |one: &OrbitMove, value: usize| match one.requires {
            Some(at) if usize::from(at.orbit) == of.orbit && at.kind == kind => {
                usize::from(at.position) == value / of.modulus
            }
            _ => true,
        };
        let mut colours = vec![None; of.values];
        for first in 0..of.values {
            let mut queue = Vec::from_iter(colours[first].is_none().then_some((first, false)));
            while let Some((value, colour)) = queue.pop() {
                match colours[value].replace(colour) {
                    Some(known) if known != colour => return None,
                    Some(_) => continue,
                    None => {}
                }
                let moves = self.puzzle.moves().iter().zip(&self.moves);
                let moves = moves.filter(|(one, _)| applies(one, value));
                queue.extend(moves.map(|(_, map)| (map.table[field][value].into(), !colour)));
            }
        }
        let colours = colours.into_iter().map(Option::unwrap_or_default).collect::<Vec<bool>>();
        let colour = |goal: &Vec<u8>| colours[usize::from(goal[field])];
        let same = self.goals.iter().all(|goal| colour(goal) == colour(&self.goals[0]));
        same.then_some(MoveParity::Place { field, colours })
    }

    /// Sets of pieces that all differ, where every move changes, and no difference between goals is, the sum of the
    /// parities of their permutations.
    fn odd_sets(&self) -> Option<MoveParity> {
        let orbits = self.puzzle.orbits().iter().enumerate();
        let distinct = orbits.filter(|(_, orbit)| {
            orbit.moduli.len() == orbit.positions()
                && (0..orbit.moduli.len()).all(|kind| orbit.pieces_of(kind as u8) == 1)
        });
        let distinct: Vec<usize> = distinct.map(|(index, _)| index).collect();
        let odd = |is_odd: &dyn Fn(usize) -> bool| -> u64 {
            (0..).zip(&distinct).map(|(bit, &orbit)| u64::from(is_odd(orbit)) << bit).sum()
        };
        let moves = self.puzzle.moves().iter().map(|one| &one.transformation.0);
        let moves = moves.map(|turns| odd(&|orbit| !is_even(&turns[orbit].source)));
        let moves: Vec<u64> = moves.collect();
        let goals = self.puzzle.goals();
        let goals = goals.iter().map(|goal| odd(&|orbit| !is_even(&goal.0[orbit])));
        let goals: Vec<u64> = goals.collect();
        let changes = |choice: u64| move |parity: u64| (parity & choice).count_ones() % 2 == 1;
        // More sets than that are not tried.
        let choices = if distinct.len() <= 16 { 1u64 << distinct.len() } else { 0 };
        let choice = (1..choices).find(|&choice| {
            moves.iter().copied().all(changes(choice))
                && !goals.iter().map(|goal| goal ^ goals[0]).any(changes(choice))
        })?;
        let chosen = (0..).zip(distinct).filter(|(bit, _)| choice >> bit & 1 == 1);
        Some(MoveParity::Sets(chosen.map(|(_, orbit)| orbit).collect()))
    }
}

/// A parity of states that every move changes: states at an even distance have the same one.
#[derive(Clone, Debug)]
pub(crate) enum MoveParity {
    /// The colour of each value of the location of a piece.
    Place { field: usize, colours: Vec<bool> },
    /// The parity of the permutations of the pieces in these sets.
    Sets(Vec<usize>),
}

impl MoveParity {
    /// Returns the parity of a state, given as an arrangement and as a row of fields.
    pub fn of(&self, state: &Arrangement, row: &[u8]) -> bool {
        match self {
            MoveParity::Place { field, colours } => colours[usize::from(row[*field])],
            MoveParity::Sets(sets) => {
                sets.iter().fold(false, |odd, &set| odd ^ !is_even(&state.0[set]))
            }
        }
    }
}

/// The moves of a puzzle as maps of states, against which symmetries are checked.
struct KnownMoves<'a> {
    puzzle: &'a OrbitPuzzle,
    moves: HashSet<(FieldMap, Option<OrbitPlace>)>,
    solved: Vec<u8>,
    goals: HashSet<Vec<u8>>,
}

impl<'a> KnownMoves<'a> {
    fn new(puzzle: &'a OrbitPuzzle, fields: &StateFields) -> KnownMoves<'a> {
        let map = |one: &OrbitMove| (fields.of_move(puzzle, one), one.requires);
        let moves = puzzle.moves().iter().map(map).collect();
        let solved = fields.encode(&puzzle.solved());
        let goals = puzzle.goals().iter().map(|goal| fields.encode(goal)).collect();
        KnownMoves { puzzle, moves, solved, goals }
    }

    /// Whether a map preserves the solved state, the set of goals, the set of moves and the forbidden placements.
    fn is_symmetry(&self, map: &FieldMap, of: &Relabelling) -> bool {
        let place = |at: OrbitPlace| {
            let orbit = usize::from(at.orbit);
            let orientations = usize::from(self.puzzle.orbits()[orbit].orientations);
            let to = of.location[orbit][usize::from(at.position) * orientations];
            OrbitPlace {
                orbit: of.orbit[orbit] as u8,
                position: to / orientations as u8,
                kind: of.kind[orbit][usize::from(at.kind)].0,
            }
        };
        let back = map.inverse();
        map.apply(&self.solved) == self.solved
            && self.puzzle.illegal().iter().all(|&at| self.puzzle.illegal().contains(&place(at)))
            && self.moves.iter().all(|(one, requires)| {
                self.moves.contains(&(back.then(one).then(map), requires.map(place)))
            })
            && self.goals.iter().all(|goal| self.goals.contains(&map.apply(goal)))
    }
}

/// All locations of a puzzle as points, and the moves as permutations of them.
struct SymmetryFinder<'a> {
    puzzle: &'a OrbitPuzzle,
    /// The orbit and location of each point, and the first point of each orbit.
    points: Vec<(usize, usize)>,
    first: Vec<usize>,
    moves: Vec<Vec<u16>>,
    /// The points that each move affects.
    support: Vec<Vec<u16>>,
    /// Properties that the image of a move, and of a point, must share with it.
    move_type: Vec<Vec<usize>>,
    point_type: Vec<Vec<usize>>,
}

/// A symmetry as far as it has been chosen.
#[derive(Clone)]
struct PartialSymmetry {
    image: Vec<u16>,
    taken: Vec<bool>,
    of_move: Vec<Option<usize>>,
}

impl<'a> SymmetryFinder<'a> {
    fn new(puzzle: &'a OrbitPuzzle) -> SymmetryFinder<'a> {
        let (mut points, mut first) = (Vec::new(), Vec::new());
        for (index, orbit) in puzzle.orbits().iter().enumerate() {
            first.push(points.len());
            points.extend((0..orbit.locations()).map(|location| (index, location)));
        }
        let images = |one: &OrbitMove| {
            let each = puzzle.orbits().iter().enumerate().map(|(index, orbit)| {
                let to = one.transformation.locations(index, orbit.orientations);
                let base = first[index] as u16;
                to.into_iter().map(move |location| base + u16::from(location))
            });
            each.flatten().collect()
        };
        let mut moves: Vec<Vec<u16>> = puzzle.moves().iter().map(images).collect();
        // The conditions of moves are checked at the end: moves that differ only in these count as one here.
        moves.sort_unstable();
        moves.dedup();
        let moved = |one: &Vec<u16>| {
            (0..one.len() as u16).filter(|&p| one[usize::from(p)] != p).collect::<Vec<u16>>()
        };
        let support = moves.iter().map(moved).collect();
        let move_type: Vec<_> = moves.iter().map(|one| cycle_lengths(one)).collect();
        let types = |p: usize| {
            let orbit = &puzzle.orbits()[points[p].0];
            let mut types = vec![orbit.positions(), usize::from(orbit.orientations)];
            let affect = (0..moves.len()).filter(|&m| usize::from(moves[m][p]) != p);
            let alike = |m: usize| move_type.iter().position(|t| *t == move_type[m]);
            types.extend(affect.filter_map(alike));
            types[2..].sort_unstable();
            types
        };
        let point_type = (0..points.len()).map(types).collect();
        SymmetryFinder { puzzle, points, first, moves, support, move_type, point_type }
    }

    /// Collects all symmetries that extend a partial one; `None` if they are too many or too hard to find.
    fn extend(
        &self,
        mut partial: PartialSymmetry,
        found: &mut Vec<Relabelling>,
        tried: &mut usize,
    ) -> Option<()> {
        *tried += 1;
        if *tried > MOST_TRIED || found.len() > MOST {
            return None;
        }
        if !self.close(&mut partial) {
            return Some(());
        }
        let Some(relabelling) = self.relabelling(&partial) else { return Some(()) };
        let moved = |m: usize| {
            let new = |&&p: &&u16| {
                let image = usize::from(self.moves[m][usize::from(p)]);
                partial.image[usize::from(p)] != NONE && partial.image[image] == NONE
            };
            self.support[m].iter().filter(new).count()
        };
        let touches =
            |m: usize| self.support[m].iter().any(|&p| partial.image[usize::from(p)] != NONE);
        let open = (0..self.moves.len()).filter(|&m| partial.of_move[m].is_none() && touches(m));
        if let Some(m) = open.max_by_key(|&m| moved(m)) {
            let mut used = vec![false; self.moves.len()];
            partial.of_move.iter().flatten().for_each(|&to| used[to] = true);
            for to in 0..self.moves.len() {
                if !used[to]
                    && self.move_type[to] == self.move_type[m]
                    && self.agree(&partial, m, to)
                {
                    let mut next = partial.clone();
                    next.of_move[m] = Some(to);
                    self.extend(next, found, tried)?;
                }
            }
            return Some(());
        }
        let Some(point) = partial.image.iter().position(|&image| image == NONE) else {
            found.push(relabelling);
            return Some(());
        };
        for to in 0..self.points.len() {
            if !partial.taken[to] && self.point_type[to] == self.point_type[point] {
                let mut next = partial.clone();
                next.image[point] = to as u16;
                next.taken[to] = true;
                self.extend(next, found, tried)?;
            }
        }
        Some(())
    }

    /// Whether a move may be mapped to another, as far as the images of points are known.
    fn agree(&self, partial: &PartialSymmetry, m: usize, to: usize) -> bool {
        self.support[m].iter().all(|&p| {
            let p = usize::from(p);
            let (image, after) = (partial.image[p], partial.image[usize::from(self.moves[m][p])]);
            image == NONE || after == NONE || self.moves[to][usize::from(image)] == after
        })
    }

    /// Adds the images of points that follow from those of points and moves; false if there is a contradiction.
    fn close(&self, partial: &mut PartialSymmetry) -> bool {
        let known: Vec<(usize, usize)> =
            (partial.of_move.iter().enumerate()).filter_map(|(m, to)| Some((m, (*to)?))).collect();
        let mut queue: Vec<usize> =
            (0..self.points.len()).filter(|&p| partial.image[p] != NONE).collect();
        while let Some(p) = queue.pop() {
            for &(m, to) in &known {
                let after = usize::from(self.moves[m][p]);
                let image = self.moves[to][usize::from(partial.image[p])];
                if partial.image[after] == NONE {
                    if mem::replace(&mut partial.taken[usize::from(image)], true) {
                        return false;
                    }
                    partial.image[after] = image;
                    queue.push(after);
                } else if partial.image[after] != image {
                    return false;
                }
            }
        }
        true
    }

    /// The effect of a symmetry on orbits, locations and kinds, as far as its images of points are known (of an unknown
    /// one: zero); `None` if these do not preserve orbits, kinds and the start.
    fn relabelling(&self, of: &PartialSymmetry) -> Option<Relabelling> {
        let orbits = self.puzzle.orbits();
        let mut relabelling = Relabelling { orbit: vec![], location: vec![], kind: vec![] };
        for (index, orbit) in orbits.iter().enumerate() {
            let each = usize::from(orbit.orientations);
            let images = &of.image[self.first[index]..][..orbit.locations()];
            let known = |&image: &u16| (image != NONE).then(|| self.points[usize::from(image)]);
            let to = images.iter().find_map(known).map_or(index, |(orbit, _)| orbit);
            let there = &orbits[to];
            if there.locations() != orbit.locations()
                || there.orientations != orbit.orientations
                || there.moduli.len() != orbit.moduli.len()
            {
                return None;
            }
            let mut location = vec![0; orbit.locations()];
            let mut kind: Vec<Option<(u8, u8)>> = vec![None; orbit.moduli.len()];
            for (position, (images, piece)) in images.chunks(each).zip(&orbit.solved).enumerate() {
                let mut position_there = None;
                for (turn, image) in images.iter().enumerate() {
                    let Some((of_orbit, image)) = known(image) else { continue };
                    if of_orbit != to || *position_there.get_or_insert(image / each) != image / each
                    {
                        return None;
                    }
                    location[position * each + turn] = image as u8;
                    if turn != usize::from(piece.turn) {
                        continue;
                    }
                    let piece_there = there.solved[image / each];
                    let modulus = there.moduli[usize::from(piece_there.kind)];
                    let turn = (image % each) as u8 % modulus;
                    let ahead = (turn + modulus - piece_there.turn) % modulus;
                    let image = (piece_there.kind, ahead);
                    if *kind[usize::from(piece.kind)].get_or_insert(image) != image
                        || modulus != orbit.moduli[usize::from(piece.kind)]
                        || there.pieces_of(piece_there.kind) != orbit.pieces_of(piece.kind)
                    {
                        return None;
                    }
                }
            }
            relabelling.orbit.push(to);
            relabelling.location.push(location);
            relabelling.kind.push(kind.into_iter().map(|kind| kind.unwrap_or((0, 0))).collect());
        }
        Some(relabelling)
    }
}

/// The lengths of the cycles of a permutation, shortest first, without fixed points.
fn cycle_lengths(permutation: &[u16]) -> Vec<usize> {
    let orbits = all_orbits(permutation.len(), &[permutation]);
    let mut lengths: Vec<usize> = orbits.iter().map(Vec::len).filter(|&len| len > 1).collect();
    lengths.sort_unstable();
    lengths
}
