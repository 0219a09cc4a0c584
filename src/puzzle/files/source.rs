//! What a file says, before its points become the positions of a puzzle.
//!
//! Invariant: all moves permute the same points; what is read becomes a definition in one way for all formats.

use super::error::{FileErrorKind, Located};
use crate::puzzle::orbits::{orbits, reduce};
use crate::puzzle::shown::shown;
use crate::puzzle::{Definition, DefinitionError, Generator, Permutation};

/// How to count moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counting {
    /// Only the moves that the file names, none of their inverses.
    pub directed: bool,
    /// In files of sets of pieces: a move and its inverse only, not all its powers.
    pub quarter: bool,
}

/// Points, what each is called, and the moves.
pub(super) struct Source {
    pub labels: Vec<usize>,
    pub generators: Vec<Generator>,
    /// Whether all powers of a move count as one, where the user does not say otherwise.
    pub powers: bool,
    /// The line that an error of the whole is put down to.
    pub line: usize,
}

impl Source {
    /// Returns the puzzle: as few points as tell its states apart, inverses or powers added.
    pub fn definition(self, name: &str, counting: Counting) -> Result<Definition, Located> {
        let at = |kind: FileErrorKind| kind.at(self.line);
        if self.generators.len() > Definition::MAX_GENERATORS {
            return Err(at(DefinitionError::TooManyGenerators.into()));
        }
        let points = self.labels.len();
        let permutations: Vec<Permutation> = self
            .generators
            .iter()
            .map(|g| g.permutation.clone())
            .collect();
        if permutations.iter().all(Permutation::is_identity) {
            return Err(at(DefinitionError::NoGenerators.into()));
        }
        let most = Definition::MAX_POSITIONS;
        let reduced = reduce(points, &permutations, most).map_err(|none| {
            let all = orbits(points, &permutations);
            let sizes: Vec<String> = all.iter().map(|orbit| orbit.len().to_string()).collect();
            let moved = all.iter().map(Vec::len).sum();
            at(FileErrorKind::TooManyPoints {
                moved,
                orbits: match sizes.as_slice() {
                    [_] => "one orbit".into(),
                    sizes => format!("orbits of {}", sizes.join(", ")),
                },
                most,
                sure: none.sure,
            })
        })?;
        let names = self.generators.into_iter().map(|g| g.name);
        let generators = names
            .zip(reduced.generators)
            .map(|(name, permutation)| Generator { name, permutation });
        let kept: Vec<usize> = reduced.points.iter().map(|&p| self.labels[p]).collect();
        let mut definition = Definition::new(name, kept.len(), generators.collect())
            .and_then(|definition| definition.labelled(&kept))
            .map_err(|error| at(error.into()))?;
        if kept.len() < reduced.moved {
            definition = definition.noted(note(&kept, reduced.moved, reduced.block));
        }
        let closed = match counting {
            Counting { directed: true, .. } => Ok(definition),
            Counting { quarter: false, .. } if self.powers => definition.with_powers(),
            _ => definition.inverse_closed(),
        };
        closed.map_err(|error| at(error.into()))
    }
}

/// Refuses a second move of the same name, and more moves than a puzzle can have.
pub(super) fn once(generators: &[Generator], name: &str) -> Result<(), FileErrorKind> {
    if generators.len() == Definition::MAX_GENERATORS {
        return Err(DefinitionError::TooManyGenerators.into());
    }
    match generators.iter().any(|generator| generator.name == name) {
        true => Err(DefinitionError::NameTwice(shown(name, 32)).into()),
        false => Ok(()),
    }
}

/// What was left out.
fn note(kept: &[usize], moved: usize, block: usize) -> String {
    let points: Vec<String> = kept.iter().map(usize::to_string).collect();
    let points = points.join(" ");
    match block {
        1 => format!(
            "of {moved} points {} tell all states apart: {points}",
            kept.len()
        ),
        _ => format!(
            "of {moved} points, which move in blocks of {block}, {} tell all states apart: {points}",
            kept.len()
        ),
    }
}
