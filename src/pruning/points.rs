//! A puzzle as permutations of points, for the two-sided solver and its tables.
//!
//! A **point** is a place where a piece can be in one of its orientations: a sticker's place. A state is a permutation of
//! points, a move too, and a state after a move is their product: this holds where all pieces differ, all orientations are
//! visible, and every move is always allowed and has its inverse. Then states have inverses, and symmetries of the puzzle
//! are permutations of points that take moves to moves.
//!
//! Invariant: the points of all positions, in their first orientation, are in one register for each set.

use std::collections::{HashMap, HashSet};

use crate::{
    kernel::points::{ColouredSet, MOST_POSITIONS, PointMap},
    puzzle::{
        Arrangement, PieceSet, Puzzle, SetAction, Transformation,
        symmetry::{PuzzleSymmetries, Relabelling},
    },
};

/// Maximum number of moves, which are bits of a word, and of orientations, which take two bits.
const MOST_MOVES: usize = 64;
const MOST_ORIENTATIONS: u8 = 4;
/// Maximum number of symmetries, which are numbered in a byte.
const MOST_SYMMETRIES: usize = 256;

/// The points of a set.
#[derive(Clone, Debug)]
pub(crate) struct PointSet {
    pub positions: usize,
    pub orientations: usize,
    /// Whether moves keep the sum of all orientations.
    pub fixed_sum: bool,
    /// The point of the first position in its first orientation.
    first: usize,
    /// That of the first position in its second orientation; the others follow, orientation by orientation.
    others: usize,
}

impl PointSet {
    /// The point of a position and an orientation.
    pub fn point(&self, position: usize, turn: usize) -> usize {
        match turn {
            0 => self.first + position,
            _ => self.others + (turn - 1) * self.positions + position,
        }
    }

    fn register(&self) -> usize {
        self.first / 64
    }

    /// All its points.
    pub fn points(&self) -> impl Iterator<Item = usize> + '_ {
        let turns = 0..self.orientations;
        turns.flat_map(move |turn| (0..self.positions).map(move |p| self.point(p, turn)))
    }

    /// The set with classes of pieces.
    pub fn coloured(&self, classes: Vec<(usize, bool)>) -> ColouredSet {
        ColouredSet {
            register: self.register(),
            points: (u64::MAX >> (64 - self.positions)) << (self.first % 64),
            orientations: self.orientations,
            fixed_sum: self.fixed_sum,
            classes,
        }
    }
}

/// The number of registers of 64 points that a puzzle takes; `None` if it is not one of permutations of points, or if it has
/// too many points, positions, orientations or moves.
pub(crate) fn registers(puzzle: &Puzzle) -> Option<usize> {
    let fits =
        |set: &PieceSet| set.positions() <= MOST_POSITIONS && set.orientations <= MOST_ORIENTATIONS;
    let few = puzzle.moves().len() <= MOST_MOVES && puzzle.sets().iter().all(fits);
    if !few || !puzzle.is_group() {
        return None;
    }
    let (sets, points) = layout(puzzle);
    let registers = points.div_ceil(64);
    (registers <= 2 && !sets.is_empty()).then_some(registers.max(1))
}

/// The points of the sets, and how many there are.
fn layout(puzzle: &Puzzle) -> (Vec<PointSet>, usize) {
    let sets = puzzle.sets();
    let (mut all, mut next) = (Vec::new(), 0usize);
    for set in sets {
        let positions = set.positions();
        // Not across the border of two registers.
        if next / 64 != (next + positions - 1) / 64 {
            next = next.next_multiple_of(64);
        }
        all.push(PointSet {
            positions,
            orientations: set.orientations.into(),
            fixed_sum: true,
            first: next,
            others: 0,
        });
        next += positions;
    }
    for set in &mut all {
        set.others = next;
        next += set.positions * (set.orientations - 1);
    }
    (all, next)
}

/// A puzzle whose states are permutations of points.
#[derive(Clone, Debug)]
pub(crate) struct PointPuzzle<const R: usize> {
    pub sets: Vec<PointSet>,
    /// For each point, its set; none for points that are not used.
    set_of: Vec<Option<usize>>,
    pub moves: Vec<PointMap<R>>,
    /// For each move, the number of its inverse.
    pub inverse: Vec<u8>,
    /// Symmetries that permute the moves in different ways, the identity first; and how they do.
    pub symmetries: Vec<PointMap<R>>,
    on_moves: Vec<Vec<u8>>,
    /// For each symmetry, the numbers of its products with each symmetry that follows.
    products: Vec<Vec<u8>>,
}

impl<const R: usize> PointPuzzle<R> {
    /// `None` if [`registers`] does not return `R` or less.
    pub fn new(puzzle: &Puzzle) -> Option<PointPuzzle<R>> {
        if registers(puzzle)? > R {
            return None;
        }
        let (mut sets, _) = layout(puzzle);
        for (own, index) in sets.iter_mut().zip(0..) {
            let turns = puzzle.moves().iter().map(|one| &one.transformation.0[index]);
            let sum =
                |turn: &SetAction| turn.twist.iter().map(|&by| usize::from(by)).sum::<usize>();
            own.fixed_sum = turns.clone().all(|turn| sum(turn).is_multiple_of(own.orientations));
        }
        let mut set_of = vec![None; PointMap::<R>::COUNT];
        for (index, set) in sets.iter().enumerate() {
            set.points().for_each(|point| set_of[point] = Some(index));
        }
        let mut of = PointPuzzle {
            sets,
            set_of,
            moves: Vec::new(),
            inverse: Vec::new(),
            symmetries: Vec::new(),
            on_moves: Vec::new(),
            products: Vec::new(),
        };
        of.moves = puzzle.moves().iter().map(|one| of.points_of(&one.transformation)).collect();
        let number = |of: &PointMap<R>, moves: &[PointMap<R>]| {
            moves.iter().position(|own| own == of).map(|number| number as u8)
        };
        let inverse = of.moves.iter().map(|one| number(&one.inverse(), &of.moves));
        of.inverse = inverse.collect::<Option<_>>()?;
        let symmetries = PuzzleSymmetries::of(puzzle, MOST_SYMMETRIES, false).listed.into_iter();
        let symmetries = symmetries.map(|one| {
            let on_moves = one.on_moves.into_iter().map(|image| image as u8).collect();
            (of.points_of_symmetry(&one.relabelling), on_moves)
        });
        (of.symmetries, of.on_moves) = symmetries.unzip();
        let numbers: HashMap<&Vec<u8>, u8> = of.on_moves.iter().zip(0..=u8::MAX).collect();
        let row = |a: &Vec<u8>| of.on_moves.iter().map(|b| numbers[&then(a, b)]).collect();
        of.products = of.on_moves.iter().map(row).collect();
        Some(of)
    }

    fn points_of(&self, of: &Transformation) -> PointMap<R> {
        let mut points = PointMap::identity();
        for (set, turn) in self.sets.iter().zip(&of.0) {
            for (to, (&from, &twist)) in turn.source.iter().zip(&turn.twist).enumerate() {
                for turned in 0..set.orientations {
                    let after = (turned + usize::from(twist)) % set.orientations;
                    points.set(set.point(to, after), set.point(from.into(), turned) as u8);
                }
            }
        }
        points
    }

    /// A state: for each point, the point of the solved state whose sticker is there.
    pub fn state(&self, puzzle: &Puzzle, state: &Arrangement) -> PointMap<R> {
        self.points_of(&puzzle.transformation_to(state))
    }

    /// The number of the symmetry that permutes moves as one symmetry and then another one.
    pub fn product(&self, first: usize, next: usize) -> usize {
        self.products[first][next].into()
    }

    /// Whether a permutation of points takes each set to itself, and points with the same value to such points.
    pub fn keeps_equal<T: Copy + Eq + std::hash::Hash>(
        &self,
        symmetry: &PointMap<R>,
        value: impl Fn(usize) -> T,
    ) -> bool {
        let mut image = hashbrown::HashMap::new();
        let mut taken = hashbrown::HashMap::new();
        self.set_of.iter().enumerate().all(|(point, set)| {
            let to = symmetry.get(point);
            let (own, its) = ((set, value(point)), (set, value(to)));
            set.is_none()
                || self.set_of[to] == *set
                    && *image.entry(own).or_insert(its) == its
                    && *taken.entry(its).or_insert(own) == own
        })
    }

    /// Moves of which all others are powers, those of the highest order first.
    pub fn turns(&self) -> Vec<usize> {
        let powers = |one: &PointMap<R>| {
            let next =
                |power: &PointMap<R>| Some(power.after(one)).filter(|n| *n != PointMap::identity());
            std::iter::successors(Some(*one), next).collect::<Vec<_>>()
        };
        let all: Vec<Vec<PointMap<R>>> = self.moves.iter().map(powers).collect();
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|&one| std::cmp::Reverse(all[one].len()));
        let (mut known, mut turns) = (HashSet::new(), Vec::new());
        for one in order {
            if !known.contains(&self.moves[one]) {
                known.extend(all[one].iter().copied());
                turns.push(one);
            }
        }
        turns
    }

    /// A symmetry of the puzzle as a permutation of points.
    fn points_of_symmetry(&self, of: &Relabelling) -> PointMap<R> {
        let mut points = PointMap::identity();
        for ((set, &there), locations) in self.sets.iter().zip(&of.set).zip(&of.location) {
            for (location, &to) in locations.iter().enumerate() {
                let point = |set: &PointSet, at: usize| {
                    set.point(at / set.orientations, at % set.orientations)
                };
                points.set(point(set, location), point(&self.sets[there], to.into()) as u8);
            }
        }
        points
    }
}

/// A permutation of moves followed by another one.
fn then(first: &[u8], next: &[u8]) -> Vec<u8> {
    first.iter().map(|&one| next[usize::from(one)]).collect()
}
