//! Permutations of up to 255 points.
//!
//! Definitions and files of puzzles consist of [`Permutation`]s; [`group`](super::group) says what they generate.

use std::fmt;

use crate::{
    puzzle::{
        PuzzleError,
        error::{MAX_POINTS, bail, wrong},
    },
    units::joined,
};

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
    pub const MAX_LEN: usize = MAX_POINTS;

    /// Returns the permutation with the given images.
    pub fn new(images: &[usize]) -> Result<Permutation, PuzzleError> {
        Permutation::numbered_from(1, images)
    }

    /// The same for errors in which points are counted from this number.
    pub(super) fn numbered_from(base: usize, images: &[usize]) -> Result<Permutation, PuzzleError> {
        let points = images.len();
        if points > MAX_POINTS {
            bail!(Range: "{points} points are too many: a permutation has at most {MAX_POINTS}");
        }
        let mut seen = [false; Permutation::MAX_LEN];
        for &point in images {
            if point >= points {
                return Err(point_outside(point + base, points));
            }
            if std::mem::replace(&mut seen[point], true) {
                return Err(point_twice(point + base));
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
                    None => return Err(point_outside(point + 1, points)),
                    Some(true) => return Err(point_twice(point + 1)),
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

fn point_twice(point: usize) -> PuzzleError {
    wrong!(Twice: "not a permutation: point {point} occurs twice")
}

fn point_outside(point: usize, points: usize) -> PuzzleError {
    wrong!(Range: "not a permutation of {points} points: it contains point {point}")
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
