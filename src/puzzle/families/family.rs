//! What a family of puzzles is, and how a member is named.
//!
//! Invariant: the name of a member is read again as the same member.

use crate::puzzle::shown::shown;
use crate::puzzle::{Definition, DefinitionError, Generator, Permutation};

/// Puzzles that differ in numbers only: one file each.
pub struct Family {
    /// What stands in front of the colon.
    pub name: &'static str,
    /// What stands behind it: `N` or `N,K`.
    pub parameters: &'static str,
    /// How many states a member has, as a formula.
    pub states: &'static str,
    /// A member.
    pub example: &'static str,
    /// One line for people.
    pub description: &'static str,
    pub(super) make: fn(&[usize]) -> Vec<Generator>,
}

/// What is wrong with the name of a member.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FamilyError {
    /// No family of this name.
    #[error("'{name}' is not a family of puzzles: there are {families}")]
    Unknown {
        /// The name.
        name: String,
        /// Those there are.
        families: String,
    },
    /// Numbers are missing, too many or none.
    #[error(
        "'{text}' is not a {family} puzzle: write {family}:{parameters}, for example {example}"
    )]
    Syntax {
        /// What was written.
        text: String,
        /// The family.
        family: &'static str,
        /// What its members are written with.
        parameters: &'static str,
        /// A member.
        example: &'static str,
    },
    /// N is none that a puzzle can have.
    #[error("{family} of {found} positions: a puzzle has 2 to {max}", max = Definition::MAX_POSITIONS)]
    Positions {
        /// The family.
        family: &'static str,
        /// N.
        found: usize,
    },
    /// K is none that a puzzle of N positions can have.
    #[error("{family}:{n},{k}: the second number is 2 to {n}")]
    Part {
        /// The family.
        family: &'static str,
        /// N.
        n: usize,
        /// K.
        k: usize,
    },
    /// What makes no puzzle.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
}

impl Family {
    /// Returns a member by what stands behind the colon.
    ///
    /// # Errors
    /// [`FamilyError`] when the numbers are missing or too small or large.
    pub fn member(&'static self, numbers: &str) -> Result<Definition, FamilyError> {
        let (name, text) = (self.name, format!("{}:{numbers}", self.name));
        let syntax = || FamilyError::Syntax {
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
            return Err(FamilyError::Positions {
                family: name,
                found: n,
            });
        }
        if let Some(&k) = numbers[1..].iter().find(|k| !(2..=n).contains(*k)) {
            return Err(FamilyError::Part { family: name, n, k });
        }
        let written: Vec<String> = numbers.iter().map(usize::to_string).collect();
        let member = format!("{name}:{}", written.join(","));
        Ok(Definition::new(member, n, (self.make)(&numbers))?)
    }
}

/// Returns a generator.
pub(super) fn generator(name: impl Into<String>, permutation: Permutation) -> Generator {
    Generator {
        name: name.into(),
        permutation,
    }
}

/// Returns the rotation that takes every position to the one on its left, the first to the last.
pub(super) fn rotate_left(n: usize) -> Permutation {
    Permutation::from_fn(n, |p| (p + n - 1) % n)
}

/// Returns the reversal of positions `first .. end`.
pub(super) fn reverse(n: usize, first: usize, end: usize) -> Permutation {
    Permutation::from_fn(n, |p| match p {
        p if (first..end).contains(&p) => first + end - 1 - p,
        p => p,
    })
}

/// Returns the exchange of two positions.
pub(super) fn swap(n: usize, a: usize, b: usize) -> Permutation {
    Permutation::from_fn(n, |p| match p {
        p if p == a => b,
        p if p == b => a,
        p => p,
    })
}
