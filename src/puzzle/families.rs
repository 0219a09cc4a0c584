//! The definition of a permutation puzzle, and the families of such puzzles: `pancake:12`, `topspin:12,4`.
//!
//! A file (`formats`) or a family ([`parse`]) makes a [`Definition`]: positions, moves and their names. `space` makes a
//! puzzle of it that can be searched.

use std::{collections::HashSet, fmt};

use twox_hash::XxHash3_64;

use crate::{
    puzzle::{
        PuzzleError,
        error::{MAX_MOVES, MAX_POSITIONS, bail, wrong},
        group::Bsgs,
        orbits::check_name,
        permutation::Permutation,
    },
    units::{digits, joined, shown},
};

// Invariant: all generators permute the same positions, are distinct, move something and have distinct names. A
// definition that is not directed contains the inverse of every generator.
//
// A generator g moves the element at position p to position g(p). An **arrangement** a gives the element at each
// position: a(p). Element e is the one at position e of the solved puzzle, so the solved arrangement is the identity,
// whatever a file calls its pieces; the names in the file are kept as labels. The arrangement after g is "first the
// inverse of g, then a".

/// A named move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generator {
    /// Its name, without spaces.
    pub name: String,
    /// The position to which it moves the element at each position.
    pub permutation: Permutation,
}

/// A permutation puzzle.
///
/// ```
/// use tilewave::puzzle::{Definition, Generator, Permutation};
/// let turn = Generator {
///     name: "L".into(),
///     permutation: Permutation::from_cycles(4, &[vec![3, 2, 1, 0]])?,
/// };
/// let puzzle = Definition::new("ring", 4, vec![turn])?;
/// assert!(puzzle.is_directed());
/// let puzzle = puzzle.inverse_closed()?;
/// let names: Vec<&str> = puzzle.generators().iter().map(|g| g.name.as_str()).collect();
/// assert_eq!((names, puzzle.group_order()), (vec!["L", "L'"], 4));
/// let after = puzzle.after(&puzzle.solved(), 0);
/// assert_eq!(puzzle.show(&after), "2 3 4 1"); // all one to the left
/// assert_eq!(puzzle.arrangement("2 3 4 1")?, after);
/// # Ok::<(), tilewave::Error>(())
/// ```
///
/// Two definitions are equal if their pieces and moves are equal; names and notes do not matter. Methods panic for
/// arrangements and moves of other puzzles.
#[derive(Clone, Debug)]
pub struct Definition {
    name: String,
    labels: Vec<usize>,
    generators: Vec<Generator>,
    directed: bool,
    notes: Vec<String>,
}

impl PartialEq for Definition {
    fn eq(&self, other: &Definition) -> bool {
        (&self.labels, &self.generators, self.directed)
            == (&other.labels, &other.generators, other.directed)
    }
}

impl Eq for Definition {}

impl Definition {
    /// Maximum number of positions: the number that one line of a search can hold.
    pub const MAX_POSITIONS: usize = MAX_POSITIONS;
    /// Maximum number of generators, including inverses and powers.
    pub const MAX_GENERATORS: usize = MAX_MOVES;

    /// Returns the puzzle with exactly these moves and with elements labelled 1, 2, ... Among equal generators, only
    /// the first is kept; those that move nothing are dropped. The puzzle is directed unless the inverse of every
    /// generator is present.
    pub fn new(
        name: impl Into<String>,
        positions: usize,
        generators: Vec<Generator>,
    ) -> Result<Definition, PuzzleError> {
        if !(2..=Definition::MAX_POSITIONS).contains(&positions) {
            bail!(Range: "the puzzle has {positions} positions, but a puzzle must have 2 to \
                {MAX_POSITIONS}");
        }
        let mut names = HashSet::new();
        let mut known = HashSet::new();
        let mut kept: Vec<Generator> = Vec::new();
        for generator in generators {
            let (name, permutation) = (&generator.name, &generator.permutation);
            check_name(name)?;
            if permutation.len() != positions {
                let (name, found) = (shown(name, 32), permutation.len());
                bail!(Shape: "move '{name}' permutes {found} positions, but the puzzle has \
                    {positions}");
            }
            if !names.insert(name.clone()) {
                return Err(PuzzleError::name_twice(&shown(name, 32)));
            }
            if !permutation.is_identity() && known.insert(permutation.clone()) {
                kept.push(generator);
            }
        }
        if kept.is_empty() {
            return Err(PuzzleError::no_generators());
        }
        if kept.len() > Definition::MAX_GENERATORS {
            return Err(PuzzleError::many_moves());
        }
        let directed = kept.iter().any(|g| !known.contains(&g.permutation.inverse()));
        Ok(Definition {
            name: name.into(),
            labels: (1..=positions).collect(),
            generators: kept,
            directed,
            notes: Vec::new(),
        })
    }

    /// Returns the puzzle with different labels: `labels[p]` is the label of the element that belongs at position p.
    ///
    /// # Errors
    /// A [`PuzzleError`] if two labels are equal.
    ///
    /// # Panics
    /// If the number of labels is not the number of positions.
    pub fn labelled(mut self, labels: &[usize]) -> Result<Definition, PuzzleError> {
        assert_eq!(labels.len(), self.positions(), "one label per position");
        let mut seen = HashSet::new();
        if let Some(&twice) = labels.iter().find(|label| !seen.insert(**label)) {
            return Err(alike_pieces(format_args!("{twice} twice")));
        }
        self.labels = labels.to_vec();
        Ok(self)
    }

    /// Returns the puzzle with a remark for its users.
    pub fn noted(mut self, note: String) -> Definition {
        self.notes.push(note);
        self
    }

    /// Returns the puzzle with the inverse of every generator added: `M'` for `M`, and vice versa.
    pub fn inverse_closed(self) -> Result<Definition, PuzzleError> {
        self.with(|g| vec![(inverse_name(&g.name), g.permutation.inverse())])
    }

    /// Returns the puzzle with all powers of every generator added: `M2`, `M3'`, `M'`. A turn by any angle is then one
    /// move.
    pub fn with_powers(self) -> Result<Definition, PuzzleError> {
        self.with(|g| {
            let order = g.permutation.order();
            let next = |power: &Permutation| Some(power.then(&g.permutation));
            let powers = std::iter::successors(next(&g.permutation), next);
            let named = |(exponent, power)| {
                let name = match order - exponent {
                    1 => inverse_name(&g.name),
                    back if back < exponent => format!("{}{back}'", g.name),
                    _ => format!("{}{exponent}", g.name),
                };
                (name, power)
            };
            // More than these are rejected anyway.
            (2..order).zip(powers).take(Definition::MAX_GENERATORS + 1).map(named).collect()
        })
    }

    /// The puzzle with the moves that a function derives from each generator added, where they are new.
    fn with(
        self,
        made: impl Fn(&Generator) -> Vec<(String, Permutation)>,
    ) -> Result<Definition, PuzzleError> {
        let mut generators = self.generators.clone();
        let mut names: HashSet<String> = generators.iter().map(|g| g.name.clone()).collect();
        let mut known: HashSet<Permutation> =
            generators.iter().map(|g| g.permutation.clone()).collect();
        for (mut name, permutation) in self.generators.iter().flat_map(made) {
            // Only what is new takes a name.
            if !known.insert(permutation.clone()) {
                continue;
            }
            while !names.insert(name.clone()) {
                name.push('\'');
            }
            generators.push(Generator { name, permutation });
            if generators.len() > Definition::MAX_GENERATORS {
                return Err(PuzzleError::many_moves());
            }
        }
        let closed = Definition::new(self.name, self.labels.len(), generators)?;
        Ok(Definition { labels: self.labels, notes: self.notes, ..closed })
    }

    /// Returns the name: `topspin:12,4`, or a file name without its extension.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of positions, which is also the number of elements.
    pub fn positions(&self) -> usize {
        self.labels.len()
    }

    /// Returns the labels of the elements, in the order of their positions in the solved puzzle.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// Returns the moves.
    pub fn generators(&self) -> &[Generator] {
        &self.generators
    }

    /// Returns the permutations of the moves.
    pub fn permutations(&self) -> Vec<Permutation> {
        self.generators.iter().map(|generator| generator.permutation.clone()).collect()
    }

    /// Returns whether the inverse of some generator is missing, so that distances depend on the direction.
    pub fn is_directed(&self) -> bool {
        self.directed
    }

    /// Returns remarks on how the puzzle was interpreted, each a sentence without a full stop.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The group that the generators generate.
    pub(crate) fn group(&self) -> Bsgs {
        let group = Bsgs::whole(self.positions(), &self.permutations(), 0..self.positions());
        group.expect("only the identity fixes all points")
    }

    /// Returns the number of reachable states: the order of the group. Cost: less than a millisecond.
    pub fn group_order(&self) -> u128 {
        self.group().order(0).try_into().expect("16! fits 128 bits")
    }

    /// Returns whether moves lead from one arrangement to another. Cost: less than a millisecond.
    ///
    /// ```
    /// use tilewave::puzzle::families;
    /// let puzzle = families::parse("topspin:7,4")?; // all moves are even
    /// let (even, odd) = (puzzle.arrangement("2 3 1 4 5 6 7")?, puzzle.arrangement("2 1 3 4 5 6 7")?);
    /// assert!(puzzle.reaches(&puzzle.solved(), &even));
    /// assert!(!puzzle.reaches(&puzzle.solved(), &odd));
    /// # Ok::<(), tilewave::Error>(())
    /// ```
    pub fn reaches(&self, from: &Permutation, to: &Permutation) -> bool {
        assert_eq!([from.len(), to.len()], [self.positions(); 2], "arrangements of this puzzle");
        self.group().contains(&to.then(&from.inverse()))
    }

    /// Returns a number that is the same for two definitions with the same moves on the same positions, whatever their
    /// names. It prevents files from being continued with a different puzzle.
    pub fn fingerprint(&self) -> u64 {
        let mut images: Vec<&[u8]> =
            self.generators.iter().map(|g| g.permutation.images()).collect();
        images.sort_unstable();
        // All of them have as many bytes as there are positions.
        XxHash3_64::oneshot(&[&[self.positions() as u8], images.concat().as_slice()].concat())
    }

    /// Returns the solved arrangement.
    pub fn solved(&self) -> Permutation {
        Permutation::identity(self.positions())
    }

    /// Returns the arrangement after the move with the given index.
    pub fn after(&self, arrangement: &Permutation, generator: usize) -> Permutation {
        let backwards = self.generators[generator].permutation.inverse();
        backwards.then(arrangement)
    }

    /// Returns an arrangement as text: the labels of the elements, in the order of the positions.
    pub fn show(&self, arrangement: &Permutation) -> String {
        joined(arrangement.images().iter().map(|&e| self.labels[usize::from(e)]), " ")
    }

    /// Returns the arrangement described by a text: the labels of the elements in the order of the positions, separated
    /// by spaces or commas.
    pub fn arrangement(&self, text: &str) -> Result<Permutation, PuzzleError> {
        let words = text.split([' ', ',', '\t', '\r', '\n']).filter(|w| !w.is_empty());
        let element = |word: &str| {
            let label: Option<usize> = digits(word);
            let found = label.and_then(|label| self.labels.iter().position(|&l| l == label));
            let wrong = || {
                let mut labels = self.labels.clone();
                labels.sort_unstable();
                let labels = match labels.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
                    true => format!("{} to {}", labels[0], labels[labels.len() - 1]),
                    false => joined(labels, " "),
                };
                wrong!(Unknown: "'{}' in the state is not an element: the elements of {} are \
                    {labels}", shown(word, 32), shown(&self.name, 80))
            };
            found.ok_or_else(wrong)
        };
        let elements: Vec<usize> = words.map(element).collect::<Result<_, _>>()?;
        if elements.len() != self.positions() {
            return Err(state_length(&shown(&self.name, 80), elements.len(), self.positions()));
        }
        let twice = (1..elements.len()).find(|&i| elements[..i].contains(&elements[i]));
        let missing = (0..self.positions()).find(|e| !elements.contains(e));
        if let (Some(twice), Some(missing)) = (twice, missing) {
            let [twice, missing] = [elements[twice], missing].map(|e| self.labels[e]);
            bail!(Twice: "element {twice} occurs twice in the state and element {missing} is \
                missing");
        }
        Permutation::new(&elements)
    }
}

/// The error for identical pieces, which these are.
pub(super) fn alike_pieces(which: impl fmt::Display) -> PuzzleError {
    wrong!(Unsupported: "identical pieces ({which}) are not supported: every piece must have its \
        own number")
}

/// The error for a state with the wrong number of elements.
pub(super) fn state_length(puzzle: &str, found: usize, expected: usize) -> PuzzleError {
    wrong!(Shape: "the state has {found} elements, but {puzzle} has {expected}")
}

fn inverse_name(name: &str) -> String {
    match name.strip_suffix('\'') {
        Some(plain) if !plain.is_empty() => plain.to_string(),
        _ => format!("{name}'"),
    }
}

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
    /// The generators of a member, given its N and its K, if it has one.
    make: fn(usize, usize) -> Vec<Generator>,
}

impl Family {
    /// The member that a text names, with these parameters.
    fn member(&'static self, text: &str, numbers: &str) -> Result<Definition, PuzzleError> {
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
        if !(2..=Definition::MAX_POSITIONS).contains(&n) {
            bail!(Range: "{name} puzzles have 2 to {MAX_POSITIONS} positions, not {n}");
        }
        let k = numbers.get(1).copied().unwrap_or(n);
        if !(2..=n).contains(&k) {
            bail!(Range: "{name}:{n},{k}: the second number must be from 2 to {n}");
        }
        let member = format!("{name}:{}", joined(&numbers, ","));
        Definition::new(member, n, (self.make)(n, k))
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
    make: fn(usize, usize) -> Vec<Generator>,
) -> Family {
    Family { name, parameters: "N", states: "N!", example, description, make }
}

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
pub fn parse(text: &str) -> Result<Definition, PuzzleError> {
    let (name, numbers) = text.split_once(':').unwrap_or((text, ""));
    let family = ALL.into_iter().find(|family| family.name == name);
    let unknown = || {
        let (name, all) = (shown(name, 32), ALL.map(|family| family.name).join(", "));
        wrong!(Unknown: "'{name}' is not a family of puzzles: the families are {all}")
    };
    let family = family.ok_or_else(unknown)?;
    family.member(text, numbers)
}

fn generator(name: impl Into<String>, permutation: Permutation) -> Generator {
    Generator { name: name.into(), permutation }
}

/// The rotation that takes every position to its left neighbour, and the first to the last.
fn rotate_left(n: usize) -> Permutation {
    Permutation::from_fn(n, |p| (p + n - 1) % n)
}

/// The rotations of all positions to the left and to the right.
fn rotations(n: usize) -> Vec<Generator> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_that_is_there_takes_no_name() {
        let turn = Permutation::new(&[1, 2, 3, 4, 0]).unwrap();
        let of = |name: &str, permutation| Generator { name: name.into(), permutation };
        let moves = vec![of("A", turn.clone()), of("A2", turn.then(&turn))];
        let closed = Definition::new("wheel", 5, moves).unwrap().with_powers().unwrap();
        let names: Vec<&str> = closed.generators().iter().map(|g| &g.name[..]).collect();
        assert_eq!(names, ["A", "A2", "A2'", "A'"]);
    }
}
