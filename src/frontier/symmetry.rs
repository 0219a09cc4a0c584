//! A puzzle as a list search sees it, with its symmetries and parities, which are found from its moves alone.
//!
//! A symmetry rearranges the locations of all sets and renames the pieces so that every move becomes a move and the
//! start remains the same. It takes states to states at the same distance from the start.
//!
//! Invariant: the elements of a [`SymmetryGroup`] have been checked as maps of states: each fixes the start and maps
//! the set of moves to itself. The identity comes first.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    hash::Hash,
    mem,
    sync::OnceLock,
};

use crate::{
    frontier::fields::{FieldMap, KnownMoves, Relabelling, StateFields},
    puzzle::{Move, PieceAt, PieceSet, Puzzle, group::all_orbits},
    random::SplitMix64,
};

/// Maximum number of symmetries that are used: if there are more, those that fix some points.
const MOST: usize = 2048;
/// Maximum number of choices that are tried.
const MOST_TRIED: usize = 200_000;

/// The symmetries of a puzzle and of its start.
#[derive(Clone, Debug)]
pub(crate) struct SymmetryGroup {
    pub maps: Vec<FieldMap>,
    /// The index of the inverse of each symmetry.
    pub inverse: Vec<u16>,
    /// The index of "i, then j", at `i * order + j`.
    product: Vec<u16>,
    /// Whether these are known to be all symmetries.
    pub complete: bool,
}

impl SymmetryGroup {
    /// Returns the group that consists of the identity alone.
    pub fn trivial(fields: &StateFields) -> SymmetryGroup {
        let identity = FieldMap {
            source: (0..fields.fields.len()).map(|q| q as u16).collect(),
            table: fields.fields.iter().map(|f| (0..f.values).map(|v| v as u8).collect()).collect(),
        };
        let (maps, inverse, product) = (vec![identity], vec![0], vec![0]);
        SymmetryGroup { maps, inverse, product, complete: false }
    }

    /// Returns the symmetries of a puzzle, and whether these are all. If there are more than 2048, returns those that
    /// also fix the first points that move, as few of these points as reduce the number sufficiently.
    ///
    /// Cost: locations times moves for each candidate; milliseconds for the built-in puzzles.
    pub fn find(puzzle: &Puzzle, fields: &StateFields) -> SymmetryGroup {
        SymmetryGroup::with_relabellings(puzzle, fields).0
    }

    /// Returns the symmetries, and the effect of each on locations and kinds.
    pub fn with_relabellings(
        puzzle: &Puzzle,
        fields: &StateFields,
    ) -> (SymmetryGroup, Vec<Relabelling>) {
        let seen = VisiblePoints::new(puzzle);
        let all = seen.as_ref().and_then(VisiblePoints::move_maps);
        let checked = KnownMoves::new(puzzle, fields);
        let found_by = |thrifty: bool| {
            let (mut group, relabellings) =
                SymmetryFinder::new(puzzle, thrifty).group(fields, &checked);
            let of_moves = |(map, of): (&FieldMap, &Relabelling)| {
                let images = checked.images(map, of)?;
                seen.as_ref().map(|seen| seen.map_of(&images))
            };
            let found = group.maps.iter().zip(&relabellings).map(of_moves);
            let found: Option<HashSet<Vec<u16>>> = found.collect();
            group.complete = all.is_some() && found == all;
            (group, relabellings)
        };
        // Checksums and files of runs depend on the first way, so it is taken wherever it finds all symmetries.
        let first = found_by(false);
        if first.0.complete || all.is_none() {
            return first;
        }
        let second = found_by(true);
        if second.0.complete { second } else { first }
    }

    /// Returns all relabellings of which the symmetries of files can consist.
    pub fn relabellings(puzzle: &Puzzle, fields: &StateFields) -> Vec<Relabelling> {
        let checked = KnownMoves::new(puzzle, fields);
        let ways =
            [false, true].map(|way| SymmetryFinder::new(puzzle, way).group(fields, &checked).1);
        ways.concat()
    }

    /// Returns the group of these relabellings, the first of which is the identity; `None` if they are not a group.
    pub fn of_relabellings(
        puzzle: &Puzzle,
        fields: &StateFields,
        all: &[Relabelling],
    ) -> Option<SymmetryGroup> {
        let of = |still| all.iter().map(|one| fields.of_relabelling(puzzle, one, still)).collect();
        SymmetryGroup::of(of(false)).or_else(|| SymmetryGroup::of(of(true)))
    }

    /// The group of these maps, the first of which is the identity; `None` if they are not a group.
    pub fn of(maps: Vec<FieldMap>) -> Option<SymmetryGroup> {
        // A map is identified by its effect on some random rows.
        let fields = maps[0].table.len();
        let mut random = SplitMix64::new(1);
        let mut value = |field: usize| random.below(maps[0].table[field].len() as u64) as u8;
        let rows: Vec<Vec<u8>> = (0..(512 / fields.max(1)).clamp(4, 64))
            .map(|_| (0..fields).map(&mut value).collect())
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
        Some(SymmetryGroup { maps, inverse, product, complete: false })
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
        let group =
            SymmetryGroup::of(maps).expect("the symmetries that keep something are a group");
        SymmetryGroup { complete: self.complete && group.order() == self.order(), ..group }
    }
}

/// A puzzle whose states are rows of fields.
pub(crate) struct PuzzleRows<'a> {
    pub puzzle: &'a Puzzle,
    pub fields: StateFields,
    /// The effect of each move.
    pub moves: Vec<FieldMap>,
    pub start: Vec<u8>,
    pub goals: Vec<Vec<u8>>,
    symmetries: OnceLock<SymmetryGroup>,
}

impl PuzzleRows<'_> {
    pub fn of(puzzle: &Puzzle) -> PuzzleRows<'_> {
        let fields = StateFields::of(puzzle);
        let map = |one: &Move| fields.of_move(puzzle, one);
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
}

/// A walk through the symmetries that extend a partial one.
struct SymmetryWalk<'a> {
    of: &'a PointMoves,
    /// For each point, one that stands for it as an image where no move is known to touch it: itself, or a lower one.
    /// Points without an image are left out.
    standing: &'a [Option<usize>],
    /// Whether one symmetry is enough for each way to map the moves.
    thrifty: bool,
    /// Whether there may be a symmetry with these images of points.
    is_possible: &'a dyn Fn(&PartialSymmetry) -> bool,
    /// Takes a symmetry, and returns how many have been found; `None` ends the walk.
    take: &'a mut dyn FnMut(&PartialSymmetry) -> Option<usize>,
    found: usize,
    tried: usize,
}

impl SymmetryWalk<'_> {
    /// Collects the symmetries that extend a partial one, and returns whether there are any; `None` if they are too
    /// many or too hard to find.
    fn run(&mut self, partial: PartialSymmetry) -> Option<bool> {
        let known = |&p: &usize| partial.image[p] != NONE;
        let queue = (0..partial.image.len()).filter(known).collect();
        self.extend(partial, queue, None)
    }

    /// The same for a partial one of which some points and a move are new.
    fn extend(
        &mut self,
        mut partial: PartialSymmetry,
        points: Vec<usize>,
        one: Option<usize>,
    ) -> Option<bool> {
        self.tried += 1;
        if self.tried > MOST_TRIED || self.found > MOST {
            return None;
        }
        if !self.of.close(&mut partial, points, one) || !(self.is_possible)(&partial) {
            return Some(false);
        }
        let mut any = false;
        if let Some(m) = self.of.open_move(&partial) {
            let mut used = vec![false; self.of.moves.len()];
            partial.of_move.iter().flatten().for_each(|&to| used[to] = true);
            for to in 0..self.of.moves.len() {
                if !used[to]
                    && self.of.move_type[to] == self.of.move_type[m]
                    && self.of.agree(&partial, m, to)
                {
                    let mut next = partial.clone();
                    next.of_move[m] = Some(to);
                    any |= self.extend(next, vec![], Some(m))?;
                }
            }
            return Some(any);
        }
        let is_open = |&p: &usize| partial.image[p] == NONE && self.standing[p].is_some();
        let Some(point) = (0..partial.image.len()).find(is_open) else {
            self.found = (self.take)(&partial)?;
            return Some(true);
        };
        // The images of all moves determine those of states: what is left moves nothing that is seen.
        let once = self.thrifty && partial.of_move.iter().all(Option::is_some);
        for to in 0..partial.image.len() {
            let stands = self.standing[to] == Some(to) && !partial.taken[to];
            if stands && self.of.point_type[to] == self.of.point_type[point] {
                let mut next = partial.clone();
                next.image[point] = to as u16;
                next.taken[to] = true;
                any |= self.extend(next, vec![point], None)?;
                if any && once {
                    break;
                }
            }
        }
        Some(any)
    }
}

/// All locations of a puzzle as points, and the moves as permutations of them.
struct SymmetryFinder<'a> {
    puzzle: &'a Puzzle,
    /// The set and location of each point, and the first point of each set.
    points: Vec<(usize, usize)>,
    first: Vec<usize>,
    of: PointMoves,
    /// Each point, or `None` if no piece can show it, or it is left out.
    standing: Vec<Option<usize>>,
    thrifty: bool,
}

impl<'a> SymmetryFinder<'a> {
    /// A thrifty one finds one symmetry for each way to map the moves, and looks only at what is seen of pieces in
    /// states that moves may lead to.
    fn new(puzzle: &'a Puzzle, thrifty: bool) -> SymmetryFinder<'a> {
        let (mut points, mut first) = (Vec::new(), Vec::new());
        for (index, set) in puzzle.sets().iter().enumerate() {
            first.push(points.len());
            points.extend((0..set.locations()).map(|location| (index, location)));
        }
        let visible =
            |set: &PieceSet| if thrifty { Puzzle::visible(set) } else { set.orientations };
        let mut moves: Vec<Vec<u16>> =
            puzzle.moves().iter().map(|one| images(puzzle, one, visible)).collect();
        // The conditions of moves are checked at the end: moves that differ only in these count as one here.
        moves.sort_unstable();
        moves.dedup();
        let mut standing: Vec<Option<usize>> = (0..points.len()).map(Some).collect();
        if thrifty {
            // For each position, the locations that moves connect to one of them.
            let mut connected = all_orbits(points.len(), &slices(&moves));
            standing = vec![None; points.len()];
            for (set, &first) in puzzle.sets().iter().zip(&first) {
                let each = usize::from(set.orientations);
                for (position, piece) in set.solved.iter().enumerate() {
                    let first = first + position * each;
                    if standing[first..][..each].iter().all(Option::is_none) {
                        let home = first + usize::from(piece.turn);
                        let own = connected.iter().position(|all| all.contains(&home));
                        let own = connected.swap_remove(own.expect("a location"));
                        own.into_iter().for_each(|point| standing[point] = Some(point));
                    }
                }
            }
            for (point, _) in standing.iter().enumerate().filter(|(_, point)| point.is_none()) {
                moves.iter_mut().for_each(|one| one[point] = point as u16);
            }
            moves.retain(|one| one.iter().zip(0..).any(|(&to, at)| to != at));
            moves.sort_unstable();
            moves.dedup();
        }
        let own = |p: usize| {
            let set = &puzzle.sets()[points[p].0];
            [set.positions(), usize::from(set.orientations)]
        };
        let of = PointMoves::new(moves, points.len(), own);
        SymmetryFinder { puzzle, points, first, of, standing, thrifty }
    }

    /// The group of the symmetries that are found, or the identity alone.
    fn group(
        &self,
        fields: &StateFields,
        checked: &KnownMoves,
    ) -> (SymmetryGroup, Vec<Relabelling>) {
        let SymmetryGroup { mut maps, .. } = SymmetryGroup::trivial(fields);
        let mut all = vec![Relabelling::identity(self.puzzle)];
        // Positions that never move stay where they are.
        let still = |p: usize| self.of.moves.iter().all(|one| usize::from(one[p]) == p);
        let points = 0..self.points.len();
        let moving: Vec<usize> = points.clone().filter(|&p| !still(p)).collect();
        // The least number of fixed points with which there are not too many; with all, there is only the identity.
        let (mut least, mut most, mut fixed) = (0, moving.len(), 0);
        let mut few = Vec::new();
        while least < most {
            let stays =
                |p: usize| self.standing[p].is_some() && (still(p) || moving[..fixed].contains(&p));
            let start = PartialSymmetry {
                image: points.clone().map(|p| if stays(p) { p as u16 } else { NONE }).collect(),
                taken: points.clone().map(stays).collect(),
                of_move: vec![None; self.of.moves.len()],
            };
            let mut found = Vec::new();
            let mut walk = SymmetryWalk {
                of: &self.of,
                standing: &self.standing,
                thrifty: self.thrifty,
                is_possible: &|partial| self.relabelling(partial).is_some(),
                take: &mut |partial| {
                    found.extend(self.relabelling(partial));
                    Some(found.len())
                },
                found: 0,
                tried: 0,
            };
            let (end, many) = (walk.run(start), walk.found > MOST);
            match end {
                Some(_) => (most, few) = (fixed, found),
                None if many => least = fixed + 1,
                None => return (SymmetryGroup::trivial(fields), all),
            }
            fixed = least.midpoint(most);
        }
        for relabelling in few.into_iter().filter(|one| fields.can_relabel(one)) {
            let map = fields.of_relabelling(self.puzzle, &relabelling, self.thrifty);
            if !maps.contains(&map) && checked.images(&map, &relabelling).is_some() {
                maps.push(map);
                all.push(relabelling);
            }
        }
        match SymmetryGroup::of(maps) {
            Some(group) => (group, all),
            None => (SymmetryGroup::trivial(fields), all[..1].to_vec()),
        }
    }

    /// The effect of a symmetry on sets, locations and kinds, as far as its images of points are known (of an unknown
    /// one: zero); `None` if these do not preserve sets, kinds and the start.
    fn relabelling(&self, of: &PartialSymmetry) -> Option<Relabelling> {
        let sets = self.puzzle.sets();
        let mut relabelling = Relabelling { set: vec![], location: vec![], kind: vec![] };
        for (index, set) in sets.iter().enumerate() {
            let each = usize::from(set.orientations);
            let images = &of.image[self.first[index]..][..set.locations()];
            let known = |&image: &u16| (image != NONE).then(|| self.points[usize::from(image)]);
            let to = images.iter().find_map(known).map_or(index, |(set, _)| set);
            let there = &sets[to];
            if there.locations() != set.locations()
                || there.orientations != set.orientations
                || there.moduli.len() != set.moduli.len()
            {
                return None;
            }
            let mut location = vec![0; set.locations()];
            let mut kind: Vec<Option<(u8, u8)>> = vec![None; set.moduli.len()];
            for (position, (images, piece)) in images.chunks(each).zip(&set.solved).enumerate() {
                let mut position_there = None;
                for turn in 0..each {
                    // What is left out goes where a lower orientation of the position goes, and is turned as far.
                    let lower = |back: usize| known(&images[(turn + each - back) % each]);
                    let lower = |back: usize| Some((back, lower(back)?));
                    let backs = if self.thrifty { 0..each } else { 0..1 };
                    let Some((back, (of_set, image))) = backs.into_iter().find_map(lower) else {
                        continue;
                    };
                    if of_set != to || *position_there.get_or_insert(image / each) != image / each {
                        return None;
                    }
                    let image = image / each * each + (image % each + back) % each;
                    let at = position * each + turn;
                    location[at] = image as u8;
                    let is_open = back > 0 && self.standing[self.first[index] + at].is_some();
                    if turn != usize::from(piece.turn) || is_open {
                        continue;
                    }
                    let piece_there = there.solved[image / each];
                    let modulus = there.moduli[usize::from(piece_there.kind)];
                    let turn = (image % each) as u8 % modulus;
                    let ahead = (turn + modulus - piece_there.turn) % modulus;
                    let image = (piece_there.kind, ahead);
                    if *kind[usize::from(piece.kind)].get_or_insert(image) != image
                        || modulus != set.moduli[usize::from(piece.kind)]
                        || there.pieces_of(piece_there.kind) != set.pieces_of(piece.kind)
                    {
                        return None;
                    }
                }
            }
            relabelling.set.push(to);
            relabelling.location.push(location);
            relabelling.kind.push(kind.into_iter().map(|kind| kind.unwrap_or((0, 0))).collect());
        }
        Some(relabelling)
    }
}

/// The point to which a move takes each location, with orientations modulo a number for each set; what is beyond it
/// stays.
fn images(puzzle: &Puzzle, one: &Move, modulus: impl Fn(&PieceSet) -> u8) -> Vec<u16> {
    let mut to = Vec::new();
    for (set, turn) in puzzle.sets().iter().zip(&one.transformation.0) {
        let (first, each, modulus) = (to.len(), usize::from(set.orientations), modulus(set).into());
        to.extend((0..set.locations()).map(|location| (first + location) as u16));
        for (position, (&from, &twist)) in turn.source.iter().zip(&turn.twist).enumerate() {
            for old in 0..modulus {
                let turned = (old + usize::from(twist)) % modulus;
                to[first + usize::from(from) * each + old] =
                    (first + position * each + turned) as u16;
            }
        }
    }
    to
}

// Symmetries of moves: permutations of their points that take moves to moves.

/// Stands for no point.
const NONE: u16 = u16::MAX;

/// A symmetry as far as it has been chosen.
#[derive(Clone)]
struct PartialSymmetry {
    /// The image of each point, [`NONE`] if it is open, and which points are images.
    image: Vec<u16>,
    taken: Vec<bool>,
    /// The image of each move.
    of_move: Vec<Option<usize>>,
}

/// Permutations of points, the moves, and what their images and those of points under a symmetry must share with them.
struct PointMoves {
    moves: Vec<Vec<u16>>,
    /// The points that each move affects.
    support: Vec<Vec<u16>>,
    move_type: Vec<Vec<usize>>,
    point_type: Vec<Vec<usize>>,
}

impl PointMoves {
    /// `own` gives what the image of a point must share with it besides its moves, as two numbers.
    fn new(moves: Vec<Vec<u16>>, points: usize, own: impl Fn(usize) -> [usize; 2]) -> PointMoves {
        let moved = |one: &Vec<u16>| {
            (0..one.len() as u16).filter(|&p| one[usize::from(p)] != p).collect::<Vec<u16>>()
        };
        let support = moves.iter().map(moved).collect();
        let move_type: Vec<_> = moves.iter().map(|one| cycle_lengths(one)).collect();
        let types = |p: usize| {
            let mut types = Vec::from(own(p));
            let affect = (0..moves.len()).filter(|&m| usize::from(moves[m][p]) != p);
            let alike = |m: usize| move_type.iter().position(|t| *t == move_type[m]);
            types.extend(affect.filter_map(alike));
            types[2..].sort_unstable();
            types
        };
        let point_type = (0..points).map(types).collect();
        PointMoves { moves, support, move_type, point_type }
    }

    /// An open move that affects points with known images, and as many others as any.
    fn open_move(&self, partial: &PartialSymmetry) -> Option<usize> {
        let is_known = |p: &u16| partial.image[usize::from(*p)] != NONE;
        let moved = |m: usize| {
            let new = |&&p: &&u16| is_known(&p) && !is_known(&self.moves[m][usize::from(p)]);
            self.support[m].iter().filter(new).count()
        };
        let touches = |m: usize| self.support[m].iter().any(is_known);
        let open = (0..self.moves.len()).filter(|&m| partial.of_move[m].is_none() && touches(m));
        open.max_by_key(|&m| moved(m))
    }

    /// Whether a move may be mapped to another, as far as the images of points are known.
    fn agree(&self, partial: &PartialSymmetry, m: usize, to: usize) -> bool {
        self.support[m].iter().all(|&p| {
            let p = usize::from(p);
            let (image, after) = (partial.image[p], partial.image[usize::from(self.moves[m][p])]);
            image == NONE || after == NONE || self.moves[to][usize::from(image)] == after
        })
    }

    /// Adds the images of points that follow from those of points and moves; false if there is a contradiction. The
    /// points in `queue` and one move may be new: nothing has followed from them yet.
    fn close(
        &self,
        partial: &mut PartialSymmetry,
        mut queue: Vec<usize>,
        new: Option<usize>,
    ) -> bool {
        let known: Vec<(usize, usize)> =
            (partial.of_move.iter().enumerate()).filter_map(|(m, to)| Some((m, (*to)?))).collect();
        let agrees = |partial: &mut PartialSymmetry,
                      queue: &mut Vec<usize>,
                      p: usize,
                      m: usize,
                      to: usize| {
            let after = usize::from(self.moves[m][p]);
            let image = self.moves[to][usize::from(partial.image[p])];
            if partial.image[after] != NONE {
                return partial.image[after] == image;
            }
            partial.image[after] = image;
            queue.push(after);
            !mem::replace(&mut partial.taken[usize::from(image)], true)
        };
        if let Some((m, to)) = new.and_then(|m| Some((m, partial.of_move[m]?))) {
            for p in 0..partial.image.len() {
                if partial.image[p] != NONE && !agrees(partial, &mut queue, p, m, to) {
                    return false;
                }
            }
        }
        while let Some(p) = queue.pop() {
            if !known.iter().all(|&(m, to)| agrees(partial, &mut queue, p, m, to)) {
                return false;
            }
        }
        true
    }
}

/// The lengths of the cycles of a permutation, shortest first, without fixed points.
fn cycle_lengths(permutation: &[u16]) -> Vec<usize> {
    let cycles = all_orbits(permutation.len(), &[permutation]);
    let mut lengths: Vec<usize> = cycles.iter().map(Vec::len).filter(|&len| len > 1).collect();
    lengths.sort_unstable();
    lengths
}

// Whether all symmetries are found. What is seen of a puzzle are its locations as coloured points: a state colours each
// location by the piece there, and by which of its sides that look different is at this orientation. Locations that
// have the same colour in every state are one point; those whose colour never changes are none, nor are those that show
// what others show already, in other colours. Two moves are then equal permutations of points if and only if they have
// the same effect on every state. A symmetry is a permutation of the points that takes moves to moves, and points of
// one colour of the start to points of one colour. Since moves lead to all states from the start, which it fixes, the
// images of the moves determine those of the states. So all symmetries are found if and only if their maps of moves are
// all those that some permutation of points has. `VisiblePoints` finds these maps one by one: the points that moves
// connect to a point with a known image follow from it and from the maps of these moves, which are tried one after
// another. As image of a point that is not connected to any, one of each class of points is enough that permutations
// take to each other that commute with all moves and keep the colours.
//
// A piece that moves need, the blank of a board, keeps its colour, and the positions where it is needed are compared at
// the end. Nothing is claimed of other conditions, and of several goals.

/// What is seen of a puzzle.
struct VisiblePoints {
    of: PointMoves,
    colour: Vec<usize>,
    standing: Vec<Option<usize>>,
    /// For each move of the puzzle, its permutation; `None` if it does nothing.
    of_move: Vec<Option<usize>>,
    /// The point that must have the blank before a permutation.
    needs: BTreeSet<(usize, u16)>,
}

impl VisiblePoints {
    /// Returns what is seen; `None` if symmetries depend on more than that.
    fn new(puzzle: &Puzzle) -> Option<VisiblePoints> {
        let solved = puzzle.solved();
        let mut needed = puzzle.moves().iter().map(|one| one.requires);
        let blank = needed.next()?;
        let same = |at: Option<PieceAt>| {
            at.map(|at| (at.set, at.kind)) == blank.map(|at| (at.set, at.kind))
        };
        let is_blank = |at: PieceAt| {
            let set = &puzzle.sets()[usize::from(at.set)];
            set.orientations == 1 && set.pieces_of(at.kind) == 1
        };
        if *puzzle.goals() != [solved]
            || !puzzle.illegal().is_empty()
            || !needed.all(same)
            || !blank.is_none_or(is_blank)
        {
            return None;
        }
        let moves: Vec<Vec<u16>> =
            puzzle.moves().iter().map(|one| images(puzzle, one, |set| set.orientations)).collect();
        let (mut start, mut first) = (Vec::new(), Vec::new());
        for (index, set) in puzzle.sets().iter().enumerate() {
            first.push(start.len());
            for &piece in &set.solved {
                let modulus = set.moduli[usize::from(piece.kind)];
                let side = |turn: u8| {
                    (index, piece.kind, (turn % modulus + modulus - piece.turn) % modulus)
                };
                start.extend((0..set.orientations).map(side));
            }
        }
        // Locations are told apart by their colours now and after moves, until nothing more tells them apart.
        let (mut class, mut classes) = numbered(start.iter());
        loop {
            let before = classes;
            for one in &moves {
                (class, classes) = numbered(
                    class.iter().zip(one).map(|(own, &to)| (*own, class[usize::from(to)])),
                );
            }
            if classes == before {
                break;
            }
        }
        let any = |own: usize| {
            class.iter().position(|&other| other == own).expect("a class of some location")
        };
        let any: Vec<usize> = (0..classes).map(any).collect();
        let to = |one: &Vec<u16>, own: usize| class[usize::from(one[any[own]])];
        let mut seen: Vec<usize> =
            (0..classes).filter(|&own| moves.iter().any(|one| to(one, own) != own)).collect();
        let of_points = |seen: &[usize]| -> Option<VisiblePoints> {
            let point = |own: usize| seen.binary_search(&own).ok().map(|point| point as u16);
            let on_points = |one: &Vec<u16>| {
                seen.iter().map(|&own| point(to(one, own))).collect::<Option<Vec<u16>>>()
            };
            let all: Vec<Vec<u16>> = moves.iter().map(on_points).collect::<Option<_>>()?;
            let is_identity = |one: &Vec<u16>| one.iter().zip(0..).all(|(&to, at)| to == at);
            let distinct: BTreeSet<Vec<u16>> =
                all.iter().filter(|one| !is_identity(one)).cloned().collect();
            let distinct = Vec::from_iter(distinct);
            let of_move: Vec<Option<usize>> =
                all.iter().map(|one| distinct.binary_search(one).ok()).collect();
            let parts = all_orbits(seen.len(), &slices(&distinct));
            let part = |point: usize| parts.iter().position(|part| part.contains(&point));
            let (colour, _) =
                numbered(seen.iter().enumerate().map(|(p, &own)| (part(p), start[any[own]])));
            let mut needs = BTreeSet::new();
            for (one, of) in puzzle.moves().iter().zip(&of_move) {
                if let Some(at) = one.requires {
                    needs.insert((
                        (*of)?,
                        point(class[first[usize::from(at.set)] + usize::from(at.position)])?,
                    ));
                }
            }
            let is_needed = |p: usize| {
                let (set, kind, _) = start[any[seen[p]]];
                blank.is_some_and(|at| (usize::from(at.set), at.kind) == (set, kind))
            };
            let of = PointMoves::new(distinct, seen.len(), |p| [usize::from(is_needed(p)), 0]);
            let standing = (0..seen.len()).map(Some).collect();
            Some(VisiblePoints { of, colour, standing, of_move, needs })
        };
        let mut visible = of_points(&seen)?;
        let copies = if blank.is_none() { visible.copies() } else { HashSet::new() };
        if !copies.is_empty() {
            let mut point = 0..;
            seen.retain(|_| !point.next().is_some_and(|point| copies.contains(&point)));
            visible = of_points(&seen)?;
        }
        visible.parts().iter().for_each(|part| visible.join(part));
        Some(visible)
    }

    /// The points that moves connect, part by part.
    fn parts(&self) -> Vec<Vec<usize>> {
        all_orbits(self.colour.len(), &slices(&self.of.moves))
    }

    /// The points of parts that always show what an earlier part shows: there is a permutation that takes that part to
    /// this one, commutes with all moves and keeps colours. How often a thing is shown makes no difference to states.
    fn copies(&self) -> HashSet<usize> {
        let parts = self.parts();
        let mut copies = HashSet::new();
        for (number, part) in parts.iter().enumerate() {
            let shows = |earlier: &Vec<usize>| {
                part.iter().any(|&to| self.commuting(earlier[0], to).is_some())
            };
            let mut earlier = parts[..number].iter().filter(|earlier| earlier.len() == part.len());
            if earlier.any(shows) {
                copies.extend(part);
            }
        }
        copies
    }

    /// The permutation of connected points that takes one to another, commutes with all moves and keeps colours.
    fn commuting(&self, from: usize, to: usize) -> Option<PartialSymmetry> {
        let mut partial = self.nothing();
        (partial.image[from], partial.taken[to]) = (to as u16, true);
        partial.of_move = (0..self.of.moves.len()).map(Some).collect();
        let alike = self.of.point_type[from] == self.of.point_type[to];
        let closes = alike && self.of.close(&mut partial, vec![from], None);
        (closes && self.keeps_colours(&partial)).then_some(partial)
    }

    /// Lets the first point stand for those of a part that permutations take to each other that commute with all moves.
    fn join(&mut self, part: &[usize]) {
        for &to in part {
            if let Some(partial) = self.commuting(part[0], to) {
                for &p in part {
                    let image = usize::from(partial.image[p]);
                    self.standing[image] = self.standing[image].min(Some(p));
                }
            }
        }
    }

    fn nothing(&self) -> PartialSymmetry {
        let points = self.colour.len();
        let of_move = vec![None; self.of.moves.len()];
        PartialSymmetry { image: vec![NONE; points], taken: vec![false; points], of_move }
    }

    /// Whether points of one colour have images of one colour, and no others have, and the blank is its own image.
    fn keeps_colours(&self, partial: &PartialSymmetry) -> bool {
        let mut known = [vec![None; self.colour.len()], vec![None; self.colour.len()]];
        let is_blank = |point: usize| self.of.point_type[point][0];
        partial.image.iter().enumerate().filter(|(_, image)| **image != NONE).all(|(p, &image)| {
            let (own, there) = (self.colour[p], self.colour[usize::from(image)]);
            is_blank(p) == is_blank(image.into())
                && *known[0][own].get_or_insert(there) == there
                && *known[1][there].get_or_insert(own) == own
        })
    }

    /// The permutations of the moves that symmetries bring about; `None` if they are too many or not known.
    fn move_maps(&self) -> Option<HashSet<Vec<u16>>> {
        let mut found = HashSet::new();
        let is_unique = self.standing.iter().zip(0..).all(|(standing, p)| *standing == Some(p));
        let mut take = |partial: &PartialSymmetry| {
            let of: Vec<u16> =
                partial.of_move.iter().map(|to| to.map(|to| to as u16)).collect::<Option<_>>()?;
            let image = |&(m, p): &(usize, u16)| (of[m].into(), partial.image[usize::from(p)]);
            let is_kept = self.needs.iter().map(image).collect::<BTreeSet<_>>() == self.needs;
            // Another permutation with the same map of moves might keep them.
            if !is_kept && !is_unique {
                return None;
            }
            found.extend(is_kept.then_some(of));
            Some(found.len())
        };
        let mut walk = SymmetryWalk {
            of: &self.of,
            standing: &self.standing,
            thrifty: true,
            is_possible: &|partial| self.keeps_colours(partial),
            take: &mut take,
            found: 0,
            tried: 0,
        };
        walk.run(self.nothing())?;
        Some(found)
    }

    /// The permutation of these moves that images of the puzzle's moves are.
    fn map_of(&self, images: &[Option<usize>]) -> Vec<u16> {
        let mut map = vec![NONE; self.of.moves.len()];
        for (of, &image) in self.of_move.iter().zip(images) {
            if let (Some(of), Some(to)) = (of, image.and_then(|image| self.of_move[image])) {
                map[*of] = to as u16;
            }
        }
        map
    }
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

/// Permutations as slices.
fn slices(all: &[Vec<u16>]) -> Vec<&[u16]> {
    all.iter().map(Vec::as_slice).collect()
}
