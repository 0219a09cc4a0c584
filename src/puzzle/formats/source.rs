//! The contents of a file, before its points become the positions of a puzzle.
//!
//! Invariant: all moves permute the same points, and they become a definition in the same way for all formats.

use crate::{
    puzzle::{
        Definition, Generator, Permutation, PuzzleError,
        group::{orbits, reduce},
        orbits::Turns,
    },
    units::shown,
};

/// How to count moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counting {
    /// Only the moves that the file lists, without their inverses.
    pub directed: bool,
    /// In files with sets of pieces: only a move and its inverse, not all its powers.
    pub quarter: bool,
}

impl Counting {
    /// Returns which powers of the moves in a file are moves.
    pub(crate) fn turns(self, powers: bool) -> Turns {
        match self {
            Counting { directed: true, .. } => Turns::Directed,
            Counting { quarter: false, .. } if powers => Turns::Powers,
            _ => Turns::Quarter,
        }
    }
}

/// Points, their labels, and the moves.
#[derive(Clone)]
pub(crate) struct PointSource {
    pub labels: Vec<usize>,
    pub generators: Vec<Generator>,
    /// For each point, the number of the element there, if some elements look alike.
    pub equal: Option<(Vec<usize>, Located)>,
    /// Whether all powers of a move count as one unless the user specifies otherwise.
    pub powers: bool,
    /// The line number for errors that concern the whole definition.
    pub line: usize,
}

impl PointSource {
    /// Returns the puzzle: with as few points as suffice to distinguish its states, and with inverses or powers added.
    pub fn definition(self, name: &str, counting: Counting) -> Result<Definition, Located> {
        let at = |kind: PuzzleError| kind.at(self.line);
        if let Some((_, wrong)) = self.equal {
            return Err(wrong);
        }
        if self.generators.len() > Definition::MAX_GENERATORS {
            return Err(at(PuzzleError::ManyMoves));
        }
        let points = self.labels.len();
        let permutations: Vec<Permutation> =
            self.generators.iter().map(|g| g.permutation.clone()).collect();
        if permutations.iter().all(Permutation::is_identity) {
            return Err(at(PuzzleError::NoGenerators));
        }
        let most = Definition::MAX_POSITIONS;
        let reduced = reduce(points, &permutations, most).map_err(|none| {
            let all = orbits(points, &permutations);
            let sizes: Vec<String> = all.iter().map(|orbit| orbit.len().to_string()).collect();
            let moved = all.iter().map(Vec::len).sum();
            at(PuzzleError::TooManyPoints {
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
            .map_err(&at)?;
        if kept.len() < reduced.moved {
            definition = definition.noted(note(&kept, reduced.moved, reduced.block));
        }
        let closed = match counting.turns(self.powers) {
            Turns::Directed => Ok(definition),
            Turns::Powers => definition.with_powers(),
            Turns::Quarter => definition.inverse_closed(),
        };
        closed.map_err(at)
    }
}

/// Checks that a name is not used for a second move, and that a puzzle can have one more move.
pub(crate) fn once<'a>(
    mut names: impl ExactSizeIterator<Item = &'a str>,
    name: &str,
) -> Result<(), PuzzleError> {
    if names.len() == Definition::MAX_GENERATORS {
        return Err(PuzzleError::ManyMoves);
    }
    match names.any(|other| other == name) {
        true => Err(PuzzleError::NameTwice(shown(name, 32))),
        false => Ok(()),
    }
}

/// A note about the points that were left out.
fn note(kept: &[usize], moved: usize, block: usize) -> String {
    let points: Vec<String> = kept.iter().map(usize::to_string).collect();
    let points = points.join(" ");
    match block {
        1 => format!(
            "{} of the {moved} points are enough to distinguish all states: {points}",
            kept.len()
        ),
        _ => format!(
            "{} of the {moved} points (which move in blocks of {block}) are enough to distinguish \
             all states: {points}",
            kept.len()
        ),
    }
}

// Errors in puzzle files, with their positions.
//
// Invariant: an error is one line that begins with the name of the file and, if there is one, the line number.

impl PuzzleError {
    /// Returns the error with a line number.
    pub(crate) fn at(self, line: usize) -> Located {
        Located { line, kind: self }
    }
}

/// An error at a line, before the name of the file is known.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    pub line: usize,
    pub kind: PuzzleError,
}

impl Located {
    /// Returns the error with the name of the file.
    pub fn of(self, file: &str) -> PuzzleError {
        PuzzleError::File { file: file.into(), line: self.line, reason: Box::new(self.kind) }
    }
}

impl From<PuzzleError> for Located {
    fn from(error: PuzzleError) -> Located {
        error.at(0)
    }
}
