//! Families of puzzles: `pancake:12`, `topspin:12,4`.
//!
//! Invariant: each family is one file with one constant, which is listed once, here.

use crate::{
    puzzle::{Definition, Generator, Permutation, PuzzleError},
    units::shown,
};

/// All families.
pub const ALL: [&Family; 8] =
    [&PANCAKE, &TOPSPIN, &LRX, &LX, &COXETER, &CYCLIC_COXETER, &STARS, &REVERSALS];

/// Returns the puzzle with a name of the form `FAMILY:NUMBERS`.
///
/// ```
/// use tilewave::puzzle::families;
/// let puzzle = families::parse("topspin:12,4")?;
/// assert_eq!((puzzle.positions(), puzzle.group_order()), (12, 479_001_600));
/// let error = families::parse("topspin:12").unwrap_err().to_string();
/// assert_eq!(error, "'topspin:12' is not a topspin puzzle: write topspin:N,K, for example topspin:12,4");
/// # Ok::<(), tilewave::Error>(())
/// ```
///
/// # Errors
/// [`PuzzleError`] says what is wrong with the name or the numbers.
pub fn parse(text: &str) -> Result<Definition, PuzzleError> {
    let (name, numbers) = text.split_once(':').unwrap_or((text, ""));
    let family = ALL.into_iter().find(|family| family.name == name);
    let family = family.ok_or_else(|| PuzzleError::UnknownFamily {
        name: shown(name, 32),
        families: ALL.map(|family| family.name).join(", "),
    })?;
    family.member(numbers)
}

// Families of puzzles, and the names of their members.
//
// Invariant: the name of a member is read back as the same member.

/// A family of puzzles that differ only in their parameters; each family has its own file.
pub struct Family {
    /// The part of a puzzle's name before the colon.
    pub name: &'static str,
    /// The parameters after the colon: `N` or `N,K`.
    pub parameters: &'static str,
    /// The number of states of a member, as a formula.
    pub states: &'static str,
    /// The name of an example member.
    pub example: &'static str,
    /// A one-line description.
    pub description: &'static str,
    pub(crate) make: fn(&[usize]) -> Vec<Generator>,
}

impl Family {
    /// Returns the member with the given parameters.
    ///
    /// # Errors
    /// [`PuzzleError`] if the numbers are missing, too small or too large.
    pub fn member(&'static self, numbers: &str) -> Result<Definition, PuzzleError> {
        let (name, text) = (self.name, format!("{}:{numbers}", self.name));
        let syntax = || PuzzleError::FamilySyntax {
            text: shown(&text, 80),
            family: name,
            parameters: self.parameters,
            example: self.example,
        };
        let number = |word: &str| {
            let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
            word.parse().ok().filter(|_| digits)
        };
        let numbers: Option<Vec<usize>> = numbers.split(',').map(number).collect();
        let numbers = numbers.ok_or_else(syntax)?;
        if numbers.len() != self.parameters.split(',').count() {
            return Err(syntax());
        }
        let n = numbers[0];
        if !(2..=Definition::MAX_POSITIONS).contains(&n) {
            return Err(PuzzleError::FamilyPositions { family: name, found: n });
        }
        if let Some(&k) = numbers[1..].iter().find(|k| !(2..=n).contains(*k)) {
            return Err(PuzzleError::FamilyPart { family: name, n, k });
        }
        let written: Vec<String> = numbers.iter().map(usize::to_string).collect();
        let member = format!("{name}:{}", written.join(","));
        Definition::new(member, n, (self.make)(&numbers))
    }
}

/// Returns a generator.
pub(crate) fn generator(name: impl Into<String>, permutation: Permutation) -> Generator {
    Generator { name: name.into(), permutation }
}

/// Returns the rotation that takes every position to its left neighbour, and the first to the last.
pub(crate) fn rotate_left(n: usize) -> Permutation {
    Permutation::from_fn(n, |p| (p + n - 1) % n)
}

/// Returns the reversal of the positions `first .. end`.
pub(crate) fn reverse(n: usize, first: usize, end: usize) -> Permutation {
    Permutation::from_fn(n, |p| match p {
        p if (first..end).contains(&p) => first + end - 1 - p,
        p => p,
    })
}

/// Returns the exchange of two positions.
pub(crate) fn swap(n: usize, a: usize, b: usize) -> Permutation {
    Permutation::from_fn(n, |p| match p {
        p if p == a => b,
        p if p == b => a,
        p => p,
    })
}

// Bubble sort: the Coxeter generators of the symmetric group.

pub(crate) const COXETER: Family = Family {
    name: "coxeter",
    parameters: "N",
    states: "N!",
    example: "coxeter:12",
    description: "swap neighbours; the distance is the number of inversions",
    make: coxeter,
};

fn coxeter(numbers: &[usize]) -> Vec<Generator> {
    let n = numbers[0];
    let swaps = (1..n).map(|i| generator(format!("s{i}"), swap(n, i - 1, i)));
    swaps.collect()
}

// Sorting on a ring: the Coxeter generators, and the swap of the last element with the first.

pub(crate) const CYCLIC_COXETER: Family = Family {
    name: "cyclic-coxeter",
    parameters: "N",
    states: "N!",
    example: "cyclic-coxeter:12",
    description: "swap neighbours on a ring",
    make: cyclic_coxeter,
};

fn cyclic_coxeter(numbers: &[usize]) -> Vec<Generator> {
    let n = numbers[0];
    let swaps = (1..=n).map(|i| generator(format!("s{i}"), swap(n, i - 1, i % n)));
    swaps.collect()
}

// LRX: rotations of all elements, and one swap.

pub(crate) const LRX: Family = Family {
    name: "lrx",
    parameters: "N",
    states: "N!",
    example: "lrx:12",
    description: "rotate all left or right, or swap the first two",
    make: lrx,
};

fn lrx(numbers: &[usize]) -> Vec<Generator> {
    let n = numbers[0];
    let left = rotate_left(n);
    let right = left.inverse();
    vec![generator("L", left), generator("R", right), generator("X", swap(n, 0, 1))]
}

// LX: one rotation of all elements and one swap, without their inverses.

pub(crate) const LX: Family = Family {
    name: "lx",
    parameters: "N",
    states: "N!",
    example: "lx:12",
    description: "rotate all left (never right), or swap the first two; directed",
    make: lx,
};

fn lx(numbers: &[usize]) -> Vec<Generator> {
    let n = numbers[0];
    vec![generator("L", rotate_left(n)), generator("X", swap(n, 0, 1))]
}

// Pancake sorting: W. H. Gates and C. H. Papadimitriou, Bounds for sorting by prefix reversal (1979).

pub(crate) const PANCAKE: Family = Family {
    name: "pancake",
    parameters: "N",
    states: "N!",
    example: "pancake:12",
    description: "reverse the first 2, 3, ... or N of a stack",
    make: pancake,
};

fn pancake(numbers: &[usize]) -> Vec<Generator> {
    let n = numbers[0];
    let flips = (2..=n).map(|k| generator(format!("F{k}"), reverse(n, 0, k)));
    flips.collect()
}

// Sorting by reversals: J. Kececioglu and D. Sankoff, Exact and approximation algorithms for sorting by reversals (1995).

pub(crate) const REVERSALS: Family = Family {
    name: "reversals",
    parameters: "N",
    states: "N!",
    example: "reversals:10",
    description: "reverse any contiguous part",
    make: reversals,
};

fn reversals(numbers: &[usize]) -> Vec<Generator> {
    let n = numbers[0];
    let parts = (1..n).flat_map(|i| (i + 1..=n).map(move |j| (i, j)));
    let reversals = parts.map(|(i, j)| generator(format!("r{i}-{j}"), reverse(n, i - 1, j)));
    reversals.collect()
}

// Star transpositions: S. B. Akers and B. Krishnamurthy, A group-theoretic model for symmetric interconnection networks (1989).

pub(crate) const STARS: Family = Family {
    name: "stars",
    parameters: "N",
    states: "N!",
    example: "stars:9",
    description: "swap the first with any other",
    make: stars,
};

fn stars(numbers: &[usize]) -> Vec<Generator> {
    let n = numbers[0];
    let swaps = (2..=n).map(|i| generator(format!("t{i}"), swap(n, 0, i - 1)));
    swaps.collect()
}

// TopSpin: the toy of 1988 has 20 discs and a gate of 4.

pub(crate) const TOPSPIN: Family = Family {
    name: "topspin",
    parameters: "N,K",
    states: "N!, N!/2 or fewer",
    example: "topspin:12,4",
    description: "rotate a ring of N, or reverse the K in its gate",
    make: topspin,
};

fn topspin(numbers: &[usize]) -> Vec<Generator> {
    let (n, k) = (numbers[0], numbers[1]);
    let left = rotate_left(n);
    let right = left.inverse();
    vec![generator("L", left), generator("R", right), generator("F", reverse(n, 0, k))]
}
