//! Permutations of up to 255 points, and the groups that they generate.
//!
//! Definitions and files of puzzles consist of [`Permutation`]s; a [`Chain`] has the order of their group and its
//! elements, [`orbits`] and [`reduce`] say which points belong together.

use std::{fmt, mem};

use crate::{puzzle::PuzzleError, random::SplitMix64, units::joined};

// Invariant: every point of `0..len` is the image of exactly one point.

/// A permutation of the points `0..len`, stored as the list of their images.
///
/// As a move, `image(p)` is the position to which the element at position p goes. As an arrangement, `image(p)` is the
/// element at position p.
///
/// ```
/// use tilewave::puzzle::Permutation;
/// let turn = Permutation::from_cycles(5, &[vec![0, 1, 2]])?;
/// let swap = Permutation::from_cycles(5, &[vec![0, 3]])?;
/// let both = turn.then(&swap); // first the turn
/// assert_eq!(both.images(), [1, 2, 3, 0, 4]);
/// assert_eq!((both.order(), both.is_even()), (4, false));
/// assert_eq!(both.then(&both.inverse()), Permutation::identity(5));
/// assert_eq!(both.to_string(), "(1,2,3,4)");
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Permutation {
    images: Box<[u8]>,
}

impl Permutation {
    /// Maximum number of points.
    pub const MAX_LEN: usize = crate::puzzle::error::MAX_POINTS;

    /// Returns the permutation with the given images.
    pub fn new(images: &[usize]) -> Result<Permutation, PuzzleError> {
        let points = images.len();
        if points > Permutation::MAX_LEN {
            return Err(PuzzleError::ManyPoints(points));
        }
        let mut seen = [false; Permutation::MAX_LEN];
        for &point in images {
            if point >= points {
                return Err(PuzzleError::PointOutside { point, points, base: 1 });
            }
            if std::mem::replace(&mut seen[point], true) {
                return Err(PuzzleError::PointTwice { point, base: 1 });
            }
        }
        Ok(Permutation { images: images.iter().map(|&point| point as u8).collect() })
    }

    /// Returns the permutation that fixes all points.
    ///
    /// # Panics
    /// If there are more than [`Permutation::MAX_LEN`] points.
    pub fn identity(points: usize) -> Permutation {
        Permutation::from_fn(points, |point| point)
    }

    /// Returns the permutation that takes each point to its image under a function.
    ///
    /// # Panics
    /// If the function is not a permutation: it is meant for code, not for input.
    pub fn from_fn(points: usize, image: impl FnMut(usize) -> usize) -> Permutation {
        let images: Vec<usize> = (0..points).map(image).collect();
        Permutation::new(&images).expect("the images of a permutation")
    }

    /// Returns the permutation that takes each point of a cycle to the next one.
    pub fn from_cycles(points: usize, cycles: &[Vec<usize>]) -> Result<Permutation, PuzzleError> {
        let mut images: Vec<usize> = (0..points).collect();
        let mut seen = vec![false; points];
        for cycle in cycles {
            for (i, &point) in cycle.iter().enumerate() {
                match seen.get_mut(point) {
                    None => return Err(PuzzleError::PointOutside { point, points, base: 1 }),
                    Some(true) => return Err(PuzzleError::PointTwice { point, base: 1 }),
                    Some(seen) => *seen = true,
                }
                images[point] = cycle[(i + 1) % cycle.len()];
            }
        }
        Permutation::new(&images)
    }

    /// Returns the number of points.
    pub fn len(&self) -> usize {
        self.images.len()
    }

    /// Returns whether there are no points at all.
    pub fn is_empty(&self) -> bool {
        self.images.is_empty()
    }

    /// Returns the image of a point.
    pub fn image(&self, point: usize) -> usize {
        usize::from(self.images[point])
    }

    /// Returns the images of all points in order.
    pub fn images(&self) -> &[u8] {
        &self.images
    }

    /// Returns whether the permutation fixes every point.
    pub fn is_identity(&self) -> bool {
        (0..self.len()).all(|point| self.image(point) == point)
    }

    /// Returns this permutation followed by another one of the same number of points.
    pub fn then(&self, next: &Permutation) -> Permutation {
        let images = self.images.iter().map(|&p| next.images[usize::from(p)]);
        Permutation { images: images.collect() }
    }

    /// Returns the inverse permutation.
    pub fn inverse(&self) -> Permutation {
        let mut images = self.images.clone();
        for (point, &image) in self.images.iter().enumerate() {
            images[usize::from(image)] = point as u8;
        }
        Permutation { images }
    }

    /// Returns the permutation repeated a number of times; its inverse, for negative numbers. Cost: a pass over the
    /// points.
    pub fn power(&self, times: i64) -> Permutation {
        let mut images: Vec<usize> = (0..self.len()).collect();
        for cycle in self.cycles() {
            let by = times.rem_euclid(cycle.len() as i64) as usize;
            for (i, &point) in cycle.iter().enumerate() {
                images[point] = cycle[(i + by) % cycle.len()];
            }
        }
        Permutation::from_fn(self.len(), |point| images[point])
    }

    /// Returns the cycles with more than one point. Each begins with its smallest point; they are in the order of these
    /// points.
    pub fn cycles(&self) -> Vec<Vec<usize>> {
        let mut seen = vec![false; self.len()];
        let mut cycles = Vec::new();
        for first in 0..self.len() {
            let mut cycle = Vec::new();
            let mut point = first;
            while !std::mem::replace(&mut seen[point], true) {
                cycle.push(point);
                point = self.image(point);
            }
            if cycle.len() > 1 {
                cycles.push(cycle);
            }
        }
        cycles
    }

    /// Returns whether the permutation is even.
    pub fn is_even(&self) -> bool {
        self.cycles().iter().filter(|cycle| cycle.len() % 2 == 0).count().is_multiple_of(2)
    }

    /// Returns the number of repetitions that give the identity: the least common multiple of the cycle lengths.
    pub fn order(&self) -> u64 {
        let lengths = self.cycles().into_iter().map(|cycle| cycle.len() as u64);
        lengths.fold(1, |order, length| order / gcd(order, length) * length)
    }
}

/// Returns the greatest common divisor.
pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Cycle notation, with points counted from 1; `()` is the identity.
impl fmt::Display for Permutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cycles = self.cycles();
        if cycles.is_empty() {
            return f.write_str("()");
        }
        cycles
            .iter()
            .try_for_each(|cycle| write!(f, "({})", joined(cycle.iter().map(|p| p + 1), ",")))
    }
}

impl fmt::Debug for Permutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permutation({self} of {})", self.len())
    }
}

/// Returns whether the sequence has an even number of inversions. The entries must be distinct.
///
/// Cost: quadratic in the length. Meant for boards and windows, not for inner loops.
///
/// ```
/// use tilewave::puzzle::is_even;
/// assert!(is_even(&[2, 3, 1]));
/// assert!(!is_even(&[2, 1, 3]));
/// ```
pub fn is_even<T: PartialOrd>(sequence: &[T]) -> bool {
    let inversions: usize = sequence
        .iter()
        .enumerate()
        .map(|(i, x)| sequence[i + 1..].iter().filter(|y| *y < x).count())
        .sum();
    inversions.is_multiple_of(2)
}

// Symmetries of moves: permutations of their points that take moves to moves.

/// Stands for no point.
pub(crate) const NONE: u16 = u16::MAX;

/// A symmetry as far as it has been chosen.
#[derive(Clone)]
pub(crate) struct PartialSymmetry {
    /// The image of each point, [`NONE`] if it is open, and which points are images.
    pub image: Vec<u16>,
    pub taken: Vec<bool>,
    /// The image of each move.
    pub of_move: Vec<Option<usize>>,
}

/// Permutations of points, the moves, and what their images and those of points under a symmetry must share with them.
pub(crate) struct PointMoves {
    pub moves: Vec<Vec<u16>>,
    /// The points that each move affects.
    support: Vec<Vec<u16>>,
    pub move_type: Vec<Vec<usize>>,
    pub point_type: Vec<Vec<usize>>,
}

impl PointMoves {
    /// `own` gives what the image of a point must share with it besides its moves, as two numbers.
    pub fn new(
        moves: Vec<Vec<u16>>,
        points: usize,
        own: impl Fn(usize) -> [usize; 2],
    ) -> PointMoves {
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
    pub fn open_move(&self, partial: &PartialSymmetry) -> Option<usize> {
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
    pub fn agree(&self, partial: &PartialSymmetry, m: usize, to: usize) -> bool {
        self.support[m].iter().all(|&p| {
            let p = usize::from(p);
            let (image, after) = (partial.image[p], partial.image[usize::from(self.moves[m][p])]);
            image == NONE || after == NONE || self.moves[to][usize::from(image)] == after
        })
    }

    /// Adds the images of points that follow from those of points and moves; false if there is a contradiction.
    pub fn close(&self, partial: &mut PartialSymmetry) -> bool {
        let known: Vec<(usize, usize)> =
            (partial.of_move.iter().enumerate()).filter_map(|(m, to)| Some((m, (*to)?))).collect();
        let mut queue: Vec<usize> =
            (0..partial.image.len()).filter(|&p| partial.image[p] != NONE).collect();
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
}

/// The lengths of the cycles of a permutation, shortest first, without fixed points.
fn cycle_lengths(permutation: &[u16]) -> Vec<usize> {
    let orbits = all_orbits(permutation.len(), &[permutation]);
    let mut lengths: Vec<usize> = orbits.iter().map(Vec::len).filter(|&len| len > 1).collect();
    lengths.sort_unstable();
    lengths
}

// The order of a permutation group: Schreier-Sims.
//
// Invariant: level k of a chain holds one permutation for every point to which its group takes the k-th base point;
// this permutation takes it there and fixes the preceding base points. Every product of one of these permutations with
// a generator of the level is again such a permutation, followed by an element that the lower levels generate.

/// A base and strong generating set of a permutation group.
///
/// Source: D. E. Knuth, Efficient representation of perm groups, Combinatorica 11 (1991).
pub struct Chain {
    levels: Vec<ChainLevel>,
}

struct ChainLevel {
    base: usize,
    generators: Vec<Permutation>,
    /// For each point that the base point reaches, a permutation that takes the base point there.
    to: Vec<Option<Permutation>>,
}

/// The work that is still to be done.
enum ChainTask {
    /// The group of a level contains this element.
    Add(usize, Permutation),
    /// The product of a representative and a generator of a level.
    Bring(usize, Permutation),
}

impl Chain {
    /// Returns the chain of the group that permutations of `points` points generate, with the given base points; `None`
    /// if an element of the group other than the identity fixes all of these.
    ///
    /// Cost: well below a millisecond for 16 points; grows with the fifth power of the number of points.
    pub fn new(points: usize, generators: &[Permutation], base: &[usize]) -> Option<Chain> {
        let level = |&base: &usize| {
            let mut to = vec![None; points];
            to[base] = Some(Permutation::identity(points));
            let generators = Vec::new();
            ChainLevel { base, generators, to }
        };
        let levels = base.iter().map(level).collect();
        let mut chain = Chain { levels };
        for generator in generators {
            let mut tasks = vec![ChainTask::Add(0, generator.clone())];
            while let Some(task) = tasks.pop() {
                chain.perform(task, &mut tasks)?;
            }
        }
        Some(chain)
    }

    /// Returns the chain of the group with all points as base points.
    pub fn whole(points: usize, generators: &[Permutation]) -> Chain {
        let base: Vec<usize> = (0..points).collect();
        let chain = Chain::new(points, generators, &base);
        chain.expect("only the identity fixes all points")
    }

    fn perform(&mut self, task: ChainTask, tasks: &mut Vec<ChainTask>) -> Option<()> {
        match task {
            ChainTask::Add(k, element) => {
                if self.contains_from(k, element.clone()) {
                    return Some(());
                }
                let level = self.levels.get_mut(k)?;
                let representatives = level.to.iter().flatten();
                let products = representatives.map(|to| ChainTask::Bring(k, to.then(&element)));
                tasks.extend(products);
                level.generators.push(element);
            }
            ChainTask::Bring(k, product) => {
                let level = &mut self.levels[k];
                let point = product.image(level.base);
                if let Some(to) = &level.to[point] {
                    tasks.push(ChainTask::Add(k + 1, product.then(&to.inverse())));
                } else {
                    let generators = level.generators.iter();
                    tasks.extend(generators.map(|g| ChainTask::Bring(k, product.then(g))));
                    level.to[point] = Some(product);
                }
            }
        }
        Some(())
    }

    /// Returns whether a permutation of the same points is an element of the group.
    pub fn contains(&self, permutation: &Permutation) -> bool {
        self.contains_from(0, permutation.clone())
    }

    /// Whether the known part of a level's group generates an element.
    fn contains_from(&self, level: usize, mut element: Permutation) -> bool {
        for level in &self.levels[level..] {
            match &level.to[element.image(level.base)] {
                Some(to) => element = element.then(&to.inverse()),
                None => return false,
            }
        }
        element.is_identity()
    }

    /// Returns a random element; all are equally likely.
    pub fn random(&self, dice: &mut SplitMix64) -> Permutation {
        let mut draw = |level: &ChainLevel| {
            let all: Vec<&Permutation> = level.to.iter().flatten().collect();
            all[dice.below(all.len() as u64) as usize].clone()
        };
        let mut levels = self.levels.iter().rev();
        let last = draw(levels.next().expect("a group has points"));
        levels.fold(last, |element, level| element.then(&draw(level)))
    }

    /// Returns the number of elements, or `None` if it exceeds 128 bits.
    pub fn order(&self) -> Option<u128> {
        let mut orbits = self.levels.iter().map(|l| l.to.iter().flatten().count());
        orbits.try_fold(1u128, |order, orbit| order.checked_mul(orbit as u128))
    }
}

/// Returns the order of the group that permutations of `points` points generate, or `None` if it exceeds 128 bits,
/// which takes at least 35 points.
///
/// ```
/// use tilewave::puzzle::{Permutation, group_order};
/// let turn = Permutation::from_cycles(5, &[vec![0, 1, 2, 3, 4]])?;
/// let three = Permutation::from_cycles(5, &[vec![0, 1, 2]])?;
/// assert_eq!(group_order(5, &[turn, three]), Some(60)); // A_5
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn group_order(points: usize, generators: &[Permutation]) -> Option<u128> {
    Chain::whole(points, generators).order()
}

// Fewer points for the same group: orbits of points, and of blocks of points, on which it acts faithfully.
//
// Invariant: two elements of the group with the same effect on the chosen points have the same effect on all points, so
// every state of the puzzle corresponds to one of these points and vice versa.

/// Maximum number of unions of orbits that are tried one by one.
const MOST_TRIED: usize = 2000;

/// No sufficiently small set of points was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotReduced {
    /// Whether there is none: all unions of orbits were tried.
    pub sure: bool,
}

/// The points, or blocks of points, that distinguish the elements of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// The smallest point of each block, in increasing order; the points themselves if the blocks are points.
    pub points: Vec<usize>,
    /// The generators acting on them, in the order in which they were given.
    pub generators: Vec<Permutation>,
    /// The points that some generator moves.
    pub moved: usize,
    /// The number of points in a block: 1 for points.
    pub block: usize,
}

/// Returns the orbits with more than one point.
pub fn orbits(points: usize, generators: &[Permutation]) -> Vec<Vec<usize>> {
    let images: Vec<&[u8]> = generators.iter().map(Permutation::images).collect();
    let mut orbits = all_orbits(points, &images);
    orbits.retain(|orbit| orbit.len() > 1);
    orbits
}

/// Returns all orbits of points under permutations with these images, each in increasing order, in the order of their
/// first points.
pub fn all_orbits<T: Copy + Into<usize>>(points: usize, permutations: &[&[T]]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; points];
    let mut orbits = Vec::new();
    for first in 0..points {
        if std::mem::replace(&mut seen[first], true) {
            continue;
        }
        let mut orbit = vec![first];
        let mut next = 0;
        while next < orbit.len() {
            for images in permutations {
                let image = images[orbit[next]].into();
                if !std::mem::replace(&mut seen[image], true) {
                    orbit.push(image);
                }
            }
            next += 1;
        }
        orbit.sort_unstable();
        orbits.push(orbit);
    }
    orbits
}

/// Returns the fewest points, at most `most`, on which the group acts faithfully: the smallest of the unions of few
/// orbits, and the first among equals. If there is none, blocks of points that always move together take the place of
/// points. If there are too many unions, the result is the union that remains after removing unneeded orbits, the
/// largest first. Fails if that does not help either.
///
/// Cost: negligible; only orbits of at most `most` points enter Schreier-Sims.
pub fn reduce(
    points: usize,
    generators: &[Permutation],
    most: usize,
) -> Result<Reduced, NotReduced> {
    let all = orbits(points, generators);
    let moved: usize = all.iter().map(Vec::len).sum();
    let large = all.iter().filter(|orbit| orbit.len() > most);
    let systems = large.flat_map(|orbit| block_systems(points, generators, orbit));
    let mut sure = true;
    // First without blocks. Blocks are additional points after the others. Their sizes differ between systems, so
    // systems are tried one at a time.
    for blocks in std::iter::once(Vec::new()).chain(systems) {
        if blocks.len() > most || points + blocks.len() > Permutation::MAX_LEN {
            continue;
        }
        let labels: Vec<usize> = (0..points).chain(blocks.iter().map(|b| b[0])).collect();
        let extended: Vec<Permutation> =
            generators.iter().map(|g| with_blocks(g, &blocks)).collect();
        let mut candidates = all.clone();
        candidates.extend((!blocks.is_empty()).then(|| (points..labels.len()).collect()));
        match faithful(labels.len(), &extended, candidates, most) {
            Ok(mut chosen) => {
                chosen.sort_by_key(|&p| labels[p]);
                return Ok(Reduced {
                    points: chosen.iter().map(|&p| labels[p]).collect(),
                    generators: extended.iter().map(|g| restricted(g, &chosen)).collect(),
                    moved,
                    block: blocks.first().map_or(1, Vec::len),
                });
            }
            Err(none) => sure &= none.sure,
        }
    }
    Err(NotReduced { sure })
}

/// The points of the smallest faithful union of orbits, or of a small one.
fn faithful(
    points: usize,
    generators: &[Permutation],
    mut orbits: Vec<Vec<usize>>,
    most: usize,
) -> Result<Vec<usize>, NotReduced> {
    orbits.retain(|orbit| orbit.len() <= most);
    orbits.sort_by_key(Vec::len);
    // An orbit that a smaller one determines is never needed: the smaller one can take its place.
    let mut needed: Vec<Vec<usize>> = Vec::new();
    for orbit in orbits {
        if !needed.iter().any(|by| determines(by, &orbit, generators)) {
            needed.push(orbit);
        }
    }
    let whole = |union: &[usize]| Chain::new(points, generators, union).is_some();
    let mut tried = 0;
    let mut sure = true;
    // Unions by the number of their orbits.
    let mut unions: Vec<(usize, Vec<usize>)> = vec![(0, Vec::new())];
    while !unions.is_empty() && sure {
        let mut larger = Vec::new();
        for (next, union) in &unions {
            for (i, orbit) in needed.iter().enumerate().skip(*next) {
                let union: Vec<usize> = union.iter().chain(orbit).copied().collect();
                if union.len() <= most {
                    larger.push((i + 1, union));
                }
            }
        }
        tried += larger.len();
        sure = tried <= MOST_TRIED;
        if sure {
            larger.sort_by_key(|(_, union)| union.len());
            if let Some((_, union)) = larger.iter().find(|(_, union)| whole(union)) {
                return Ok(union.clone());
            }
        }
        unions = larger;
    }
    if !sure && whole(&needed.concat()) {
        for i in (0..needed.len()).rev() {
            let orbit = needed.remove(i);
            if !whole(&needed.concat()) {
                needed.insert(i, orbit);
            }
        }
        let union = needed.concat();
        if union.len() <= most {
            return Ok(union);
        }
    }
    Err(NotReduced { sure })
}

/// Whether the effect of a group element on an orbit follows from its effect on another.
fn determines(by: &[usize], orbit: &[usize], generators: &[Permutation]) -> bool {
    let both = [by, orbit].concat();
    let restricted: Vec<_> = generators.iter().map(|g| restricted(g, &both)).collect();
    let base: Vec<usize> = (0..by.len()).collect();
    Chain::new(both.len(), &restricted, &base).is_some()
}

/// The action of a permutation on points that it permutes among themselves, numbered in their order.
fn restricted(permutation: &Permutation, points: &[usize]) -> Permutation {
    Permutation::from_fn(points.len(), |i| {
        let image = permutation.image(points[i]);
        let place = points.iter().position(|&p| p == image);
        place.expect("an orbit is closed")
    })
}

/// A permutation of points and, after them, of blocks.
fn with_blocks(permutation: &Permutation, blocks: &[Vec<usize>]) -> Permutation {
    let points = permutation.len();
    Permutation::from_fn(points + blocks.len(), |p| {
        if p < points {
            return permutation.image(p);
        }
        let image = permutation.image(blocks[p - points][0]);
        let block = blocks.iter().position(|b| b.contains(&image));
        points + block.expect("blocks cover their orbit")
    })
}

/// The block systems of an orbit in which its first point shares a block with another point: for each such point, the
/// finest one. Blocks and points are in increasing order.
fn block_systems(
    points: usize,
    generators: &[Permutation],
    orbit: &[usize],
) -> Vec<Vec<Vec<usize>>> {
    let mut systems: Vec<Vec<Vec<usize>>> = Vec::new();
    for &other in &orbit[1..] {
        // M. D. Atkinson, An algorithm for finding the blocks of a permutation group (1975).
        let mut root: Vec<usize> = (0..points).collect();
        let mut joined = vec![(orbit[0], other)];
        while let Some((a, b)) = joined.pop() {
            let (a, b) = (root[a], root[b]);
            if a == b {
                continue;
            }
            root.iter_mut().filter(|r| **r == b).for_each(|r| *r = a);
            joined.extend(generators.iter().map(|g| (g.image(a), g.image(b))));
        }
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        for &point in orbit {
            match blocks.iter_mut().find(|block| root[block[0]] == root[point]) {
                Some(block) => block.push(point),
                None => blocks.push(vec![point]),
            }
        }
        if blocks.len() > 1 && !systems.contains(&blocks) {
            systems.push(blocks);
        }
    }
    systems
}
