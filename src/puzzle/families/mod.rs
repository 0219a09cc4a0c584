//! Families of puzzles: `pancake:12`, `topspin:12,4`.
//!
//! Invariant: a family is one file with one constant, listed once, here.

mod coxeter;
mod cyclic_coxeter;
mod family;
mod lrx;
mod lx;
mod pancake;
mod reversals;
mod stars;
mod topspin;

pub use family::{Family, FamilyError};

use super::Definition;
use super::shown::shown;

/// All families.
pub const ALL: [&Family; 8] = [
    &pancake::FAMILY,
    &topspin::FAMILY,
    &lrx::FAMILY,
    &lx::FAMILY,
    &coxeter::FAMILY,
    &cyclic_coxeter::FAMILY,
    &stars::FAMILY,
    &reversals::FAMILY,
];

/// Returns the puzzle that `FAMILY:NUMBERS` names.
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
/// [`FamilyError`] says what is wrong with the name or the numbers.
pub fn parse(text: &str) -> Result<Definition, FamilyError> {
    let (name, numbers) = text.split_once(':').unwrap_or((text, ""));
    let family = ALL.into_iter().find(|family| family.name == name);
    let family = family.ok_or_else(|| FamilyError::Unknown {
        name: shown(name, 32),
        families: ALL.map(|family| family.name).join(", "),
    })?;
    family.member(numbers)
}
