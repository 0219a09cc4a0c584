//! Permutation groups: which permutations some generate, how many, and random ones.
//!
//! Everything that asks about a group uses a [`Bsgs`]: definitions, the exact number of states of puzzles with several
//! orbits, whether a state can be reached, random states. Files of points ask which of them tell all elements apart
//! ([`faithful`]).

use std::sync::Arc;

use num_bigint::BigUint;

use crate::{puzzle::permutation::Permutation, random::SplitMix64};

/// Number of consecutive random elements that must yield nothing new before a proof of the order is attempted.
const IDLE_DRAWS: usize = 24;

/// The image of each point under a permutation.
pub(super) type Points = Arc<[u16]>;

/// Returns the permutation that makes one, then another.
pub(super) fn then(first: &[u16], next: &[u16]) -> Points {
    first.iter().map(|&p| next[usize::from(p)]).collect()
}

pub(super) fn inverse(of: &[u16]) -> Points {
    let mut back = vec![0; of.len()];
    for (from, &to) in of.iter().enumerate() {
        back[usize::from(to)] = from as u16;
    }
    back.into()
}

pub(super) fn points_of(permutation: &Permutation) -> Points {
    permutation.images().iter().map(|&image| image.into()).collect()
}

/// A base and strong generating set of a permutation group, as far as the group is known.
///
/// Invariant: level k has elements that fix the base points of the levels before it, and one of them for every point to
/// which these take the k-th base point. The product of the numbers of these points is at most the order of the group,
/// and is the order once [`Bsgs::prove`] has said so.
///
/// ```text
/// level   base point   can go to       whatever fixes 1 ..
/// 0       1            1 2 3 4   (4)
/// 1       2              2 3 4   (3)   1
/// 2       3                3 4   (2)   1 and 2          order 4 * 3 * 2
/// ```
///
/// Sources: C. C. Sims, Computational methods in the study of permutation groups (1970); F. Celler and others,
/// Generating random elements of a finite group (1995).
pub(crate) struct Bsgs {
    levels: Vec<StabilizerLevel>,
    /// Whether no element but the identity is known to fix all base points.
    is_faithful: bool,
}

struct StabilizerLevel {
    base: u16,
    generators: Vec<Points>,
    orbit: Vec<u16>,
    /// For each point of the orbit, an element that takes it back to the base point.
    back: Vec<Option<Points>>,
}

impl Bsgs {
    /// Returns what random products of permutations show of the group that they generate; it has at most `most`
    /// elements.
    pub(super) fn new(
        points: usize,
        base: impl Iterator<Item = usize>,
        generators: &[Points],
        most: &BigUint,
    ) -> Bsgs {
        let identity: Points = (0..points as u16).collect();
        let level = |base: usize| {
            let mut back = vec![None; points];
            back[base] = Some(identity.clone());
            let (base, generators) = (base as u16, Vec::new());
            StabilizerLevel { base, generators, orbit: vec![base], back }
        };
        let mut group = Bsgs { levels: base.map(level).collect(), is_faithful: true };
        group.fill(generators, most);
        group
    }

    /// Returns the whole group that permutations of `points` points generate; `None` if elements other than the
    /// identity fix all of these base points.
    ///
    /// Cost: well below a millisecond for 16 points; at worst, grows with the fifth power of the number of points.
    pub fn whole(
        points: usize,
        generators: &[Permutation],
        base: impl Iterator<Item = usize>,
    ) -> Option<Bsgs> {
        // The symmetric group, or the alternating one.
        let first = if generators.iter().all(Permutation::is_even) { 3 } else { 2 };
        let most: BigUint = (first..=points).map(BigUint::from).product();
        let generators: Vec<Points> = generators.iter().map(points_of).collect();
        let mut group = Bsgs::new(points, base, &generators, &most);
        let is_whole = group.order(0) == most || group.prove(u64::MAX);
        is_whole.then_some(group)
    }

    /// The product of the orbit sizes, from a level on.
    pub fn order(&self, from: usize) -> BigUint {
        self.levels[from..].iter().map(|level| BigUint::from(level.orbit.len())).product()
    }

    /// Returns generators of the part that fixes the base points before a level; `None` if only the identity does.
    pub(super) fn fixing(&self, level: usize) -> Option<&[Points]> {
        self.levels.get(level).map(|level| &level.generators[..])
    }

    /// Returns whether a permutation is in the known part.
    pub fn contains(&self, permutation: &Permutation) -> bool {
        self.strip(0, &points_of(permutation)).is_none()
    }

    /// Takes an element to one that fixes as many base points as the levels from `from` on can make it fix, and returns
    /// the first level whose base point they cannot, if not the number of levels; `None` if the element is in the known
    /// part.
    pub(super) fn strip(&self, from: usize, element: &[u16]) -> Option<(usize, Points)> {
        let mut element: Points = element.into();
        for (k, level) in self.levels.iter().enumerate().skip(from) {
            let image = element[usize::from(level.base)];
            match &level.back[usize::from(image)] {
                None => return Some((k, element)),
                Some(_) if image == level.base => {}
                Some(back) => element = then(&element, back),
            }
        }
        let moves = (0..).zip(element.iter()).any(|(point, &image)| point != image);
        moves.then_some((self.levels.len(), element))
    }

    /// Returns a random element of the known part; all are equally likely.
    ///
    /// # Panics
    /// If the group has no points.
    pub(super) fn random(&self, dice: &mut SplitMix64) -> Points {
        let mut draw = |level: &StabilizerLevel| {
            let point = level.orbit[dice.below(level.orbit.len() as u64) as usize];
            inverse(level.back[usize::from(point)].as_ref().expect("in the orbit"))
        };
        let mut levels = self.levels.iter().rev();
        let last = draw(levels.next().expect("a puzzle has positions"));
        levels.fold(last, |element, level| then(&element, &draw(level)))
    }

    /// Adds an element; returns whether it is new.
    fn take(&mut self, from: usize, element: &[u16]) -> bool {
        let Some((k, new)) = self.strip(from, element) else {
            return false;
        };
        self.is_faithful &= k < self.levels.len();
        for level in self.levels.iter_mut().take(k + 1) {
            level.add(new.clone());
        }
        true
    }

    /// Adds generators and random products of them, until the order is the maximum possible or nothing new is found.
    fn fill(&mut self, generators: &[Points], most: &BigUint) {
        // If every move needs a piece, there may be no sequence that leads back to its place other than the reversed
        // path.
        if generators.is_empty() {
            return;
        }
        let mut dice = SplitMix64::new(1);
        let mut pool = generators.to_vec();
        for element in generators {
            self.take(0, element);
        }
        while pool.len() < 12 {
            pool.extend_from_within(..);
        }
        // Product replacement.
        let mut random = pool[0].clone();
        let mut step = |random: &mut Points| {
            let (i, j) = (dice.below(pool.len() as u64), dice.below(pool.len() as u64 - 1));
            let (i, j) = (i as usize, if j >= i { j + 1 } else { j } as usize);
            let factor = if dice.below(2) == 0 { pool[j].clone() } else { inverse(&pool[j]) };
            pool[i] = then(&pool[i], &factor);
            *random = then(random, &pool[i]);
        };
        for _ in 0..100 {
            step(&mut random);
        }
        let mut nothing = 0;
        while nothing < IDLE_DRAWS && self.is_faithful {
            step(&mut random);
            nothing = if self.take(0, &random) { 0 } else { nothing + 1 };
            if nothing == 1 && self.order(0) == *most {
                return;
            }
        }
    }

    /// Completes the levels, so that the order is that of the group; returns whether this took no more than so much
    /// work, in images of single points, and only the identity fixes all base points.
    pub(super) fn prove(&mut self, most_work: u64) -> bool {
        let mut work = 0;
        let mut k = self.levels.len();
        while k > 0 {
            let level = &self.levels[k - 1];
            let size = (self.levels.len() - k + 2) * level.back.len();
            work += (level.orbit.len() * level.generators.len() * size) as u64;
            if work > most_work || !self.is_faithful {
                return false;
            }
            // Schreier's lemma: these also generate the stabiliser of the base point.
            let products = level.orbit.iter().flat_map(|&point| {
                let back = level.back[usize::from(point)].as_ref().expect("in the orbit");
                let to = inverse(back);
                level.generators.iter().map(move |generator| then(&to, generator))
            });
            let new = products.into_iter().find(|product| self.strip(k - 1, product).is_some());
            match new {
                Some(product) => {
                    self.take(k - 1, &product);
                    k = self.levels.len();
                }
                None => k -= 1,
            }
        }
        self.is_faithful
    }
}

impl StabilizerLevel {
    fn add(&mut self, generator: Points) {
        self.generators.push(generator);
        // The new generator for all points, all generators for new points.
        let old = self.orbit.len();
        let mut next = 0;
        while let Some(&point) = self.orbit.get(next) {
            let new = if next < old { self.generators.len() - 1 } else { 0 };
            for i in new..self.generators.len() {
                let image = self.generators[i][usize::from(point)];
                if self.back[usize::from(image)].is_none() {
                    let undo = inverse(&self.generators[i]);
                    let home = self.back[usize::from(point)].as_ref().expect("in the orbit");
                    self.back[usize::from(image)] = Some(then(&undo, home));
                    self.orbit.push(image);
                }
            }
            next += 1;
        }
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
    let group = Bsgs::whole(points, generators, 0..points)?;
    group.order(0).try_into().ok()
}

/// Returns the orbits with more than one point.
pub(super) fn orbits(points: usize, generators: &[Permutation]) -> Vec<Vec<usize>> {
    let images: Vec<&[u8]> = generators.iter().map(Permutation::images).collect();
    let mut orbits = all_orbits(points, &images);
    orbits.retain(|orbit| orbit.len() > 1);
    orbits
}

/// Returns all orbits of points under permutations with these images, each in increasing order, in the order of their
/// first points.
pub(crate) fn all_orbits<T: Copy + Into<usize>>(
    points: usize,
    permutations: &[&[T]],
) -> Vec<Vec<usize>> {
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

// Fewer points for the same group: orbits of points on which it acts faithfully.
//
// Invariant: two elements of the group with the same effect on the chosen points have the same effect on all points, so
// every state of the puzzle corresponds to one of these points and vice versa.

/// Maximum number of unions of orbits that are tried one by one.
const MAX_TRIED: usize = 2000;

/// Returns the fewest points, at most `most`, on which the group acts faithfully: the smallest of the unions of few
/// orbits, and the first among equals. If there are too many unions, the result is the union that remains after
/// removing unneeded orbits, the largest first. `None` if there is no such union, or none was found.
///
/// Cost: negligible; only orbits of at most `most` points are base points.
pub(super) fn faithful(
    points: usize,
    generators: &[Permutation],
    most: usize,
) -> Option<Vec<usize>> {
    let mut orbits = orbits(points, generators);
    orbits.retain(|orbit| orbit.len() <= most);
    orbits.sort_by_key(Vec::len);
    // An orbit that a smaller one determines is never needed: the smaller one can take its place.
    let mut needed: Vec<Vec<usize>> = Vec::new();
    for orbit in orbits {
        if !needed.iter().any(|by| determines(by, &orbit, generators)) {
            needed.push(orbit);
        }
    }
    let whole = |union: &[usize]| Bsgs::whole(points, generators, union.iter().copied()).is_some();
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
        sure = tried <= MAX_TRIED;
        if sure {
            larger.sort_by_key(|(_, union)| union.len());
            if let Some((_, union)) = larger.iter().find(|(_, union)| whole(union)) {
                return Some(sorted(union.clone()));
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
        return Some(sorted(union)).filter(|union| union.len() <= most);
    }
    None
}

fn sorted(mut points: Vec<usize>) -> Vec<usize> {
    points.sort_unstable();
    points
}

/// Whether the effect of a group element on an orbit follows from its effect on another.
fn determines(by: &[usize], orbit: &[usize], generators: &[Permutation]) -> bool {
    let both = [by, orbit].concat();
    let restricted: Vec<_> = generators.iter().map(|g| restricted(g, &both)).collect();
    Bsgs::whole(both.len(), &restricted, 0..by.len()).is_some()
}

/// Returns the action of a permutation on points that it permutes among themselves, numbered in their order.
pub(super) fn restricted(permutation: &Permutation, points: &[usize]) -> Permutation {
    Permutation::from_fn(points.len(), |i| {
        let image = permutation.image(points[i]);
        let place = points.iter().position(|&p| p == image);
        place.expect("an orbit is closed")
    })
}
