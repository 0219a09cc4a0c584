//! Families of puzzles of one set whose pieces do not turn: `pancake:12`, `topspin:12,4`. Those whose elements have two sides
//! are named puzzles.

use crate::{
    puzzle::{
        Puzzle, PuzzleError,
        error::{MAX_POSITIONS, bail, wrong},
        mechanisms,
        permutation::Permutation,
        positions::NamedPermutation,
    },
    units::{digits, joined, shown},
};

// Invariant: the name of a member is read back as the same member.

/// A family of puzzles that differ only in their parameters.
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
    /// The moves of a member, given its N and its K, if it has one.
    make: fn(usize, usize) -> Vec<NamedPermutation>,
}

impl Family {
    /// The member that a text names, with these parameters.
    fn member(&'static self, text: &str, numbers: &str) -> Result<Puzzle, PuzzleError> {
        let name = self.name;
        let syntax = || {
            let Family { parameters, example, .. } = self;
            let text = shown(text, 80);
            wrong!(Syntax: "'{text}' is not a {name} puzzle: write {name}:{parameters}, for \
                example {example}")
        };
        let numbers: Option<Vec<usize>> = numbers.split(',').map(digits).collect();
        let numbers = numbers.ok_or_else(syntax)?;
        if numbers.len() != self.parameters.split(',').count() {
            return Err(syntax());
        }
        let n = numbers[0];
        if !(2..=MAX_POSITIONS).contains(&n) {
            bail!(Range: "{name} puzzles have 2 to {MAX_POSITIONS} positions, not {n}");
        }
        let k = numbers.get(1).copied().unwrap_or(n);
        if !(2..=n).contains(&k) {
            bail!(Range: "{name}:{n},{k}: the second number must be from 2 to {n}");
        }
        let member = format!("{name}:{}", joined(&numbers, ","));
        Puzzle::of_permutations(member, n, (self.make)(n, k))
    }
}

/// All families.
pub const ALL: [&Family; 8] = [
    // W. H. Gates and C. H. Papadimitriou, Bounds for sorting by prefix reversal (1979).
    &symmetric("pancake", "pancake:12", "reverse the first 2, 3, ... or N of a stack", |n, _| {
        (2..=n).map(|k| generator(format!("F{k}"), reverse(n, 0, k))).collect()
    }),
    // The toy of 1988 has 20 discs and a gate of 4.
    &Family {
        name: "topspin",
        parameters: "N,K",
        states: "N!, N!/2 or fewer",
        example: "topspin:12,4",
        description: "rotate a ring of N pieces, or reverse the K in the gate",
        make: |n, k| [rotations(n), vec![generator("F", reverse(n, 0, k))]].concat(),
    },
    &symmetric("lrx", "lrx:12", "rotate all left or right, or swap the first two", |n, _| {
        [rotations(n), vec![generator("X", swap(n, 0, 1))]].concat()
    }),
    &symmetric(
        "lx",
        "lx:12",
        "rotate all left (never right), or swap the first two; directed",
        |n, _| vec![generator("L", rotate_left(n)), generator("X", swap(n, 0, 1))],
    ),
    // Bubble sort: the Coxeter generators of the symmetric group.
    &symmetric(
        "coxeter",
        "coxeter:12",
        "swap neighbours; the distance is the number of inversions",
        |n, _| (1..n).map(|i| generator(format!("s{i}"), swap(n, i - 1, i))).collect(),
    ),
    // Sorting on a ring: the Coxeter generators, and the swap of the last element with the first.
    &symmetric("cyclic-coxeter", "cyclic-coxeter:12", "swap neighbours on a ring", |n, _| {
        (1..=n).map(|i| generator(format!("s{i}"), swap(n, i - 1, i % n))).collect()
    }),
    // S. B. Akers and B. Krishnamurthy, A group-theoretic model for symmetric interconnection networks (1989).
    &symmetric("stars", "stars:9", "swap the first with any other", |n, _| {
        (2..=n).map(|i| generator(format!("t{i}"), swap(n, 0, i - 1))).collect()
    }),
    // J. Kececioglu and D. Sankoff, Exact and approximation algorithms for sorting by reversals (1995).
    &symmetric("reversals", "reversals:10", "reverse any contiguous part", |n, _| {
        let parts = (1..n).flat_map(|i| (i + 1..=n).map(move |j| (i, j)));
        parts.map(|(i, j)| generator(format!("r{i}-{j}"), reverse(n, i - 1, j))).collect()
    }),
];

/// A family with one member for each N, which has N! states.
const fn symmetric(
    name: &'static str,
    example: &'static str,
    description: &'static str,
    make: fn(usize, usize) -> Vec<NamedPermutation>,
) -> Family {
    Family { name, parameters: "N", states: "N!", example, description, make }
}

/// Returns the puzzle with a name of the form `FAMILY:NUMBERS`.
///
/// ```
/// use tilewave::puzzle::families;
/// let puzzle = families::parse("topspin:12,4")?;
/// assert_eq!((puzzle.labels().len(), puzzle.group_order()), (12, 479_001_600));
/// let error = families::parse("topspin:12").unwrap_err().to_string();
/// assert_eq!(error, "'topspin:12' is not a topspin puzzle: write topspin:N,K, for example topspin:12,4");
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn parse(text: &str) -> Result<Puzzle, PuzzleError> {
    let (name, numbers) = text.split_once(':').unwrap_or((text, ""));
    let family = ALL.into_iter().find(|family| family.name == name);
    let unknown = || {
        let others = mechanisms::TWO_SIDED.map(|(family, ..)| family);
        let all = ALL.map(|family| family.name).into_iter().chain(others);
        let (name, all) = (shown(name, 32), all.collect::<Vec<_>>().join(", "));
        wrong!(Unknown: "'{name}' is not a family of puzzles: the families are {all}")
    };
    let family = family.ok_or_else(unknown)?;
    family.member(text, numbers)
}

fn generator(name: impl Into<String>, permutation: Permutation) -> NamedPermutation {
    (name.into(), permutation)
}

/// The rotation that takes every position to its left neighbour, and the first to the last.
fn rotate_left(n: usize) -> Permutation {
    Permutation::from_fn(n, |p| (p + n - 1) % n)
}

/// The rotations of all positions to the left and to the right.
fn rotations(n: usize) -> Vec<NamedPermutation> {
    let (left, right) = (rotate_left(n), rotate_left(n).inverse());
    vec![generator("L", left), generator("R", right)]
}

/// The reversal of the positions `first .. end`.
fn reverse(n: usize, first: usize, end: usize) -> Permutation {
    Permutation::from_fn(n, |p| match p {
        p if (first..end).contains(&p) => first + end - 1 - p,
        p => p,
    })
}

fn swap(n: usize, a: usize, b: usize) -> Permutation {
    Permutation::from_fn(n, |p| match p {
        p if p == a => b,
        p if p == b => a,
        p => p,
    })
}
