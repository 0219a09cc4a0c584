//! What a file says, before its points become the positions of a puzzle.
//!
//! Invariant: all moves permute the same points; what is read becomes a definition in one way for all formats.

use crate::puzzle::algorithm::AlgorithmError;
use crate::puzzle::group::{orbits, reduce};
use crate::puzzle::notation::NotationError;
use crate::puzzle::orbits::{OrbitError, Turns};
use crate::puzzle::{Definition, DefinitionError, Generator, Permutation};
use crate::units::shown;

/// How to count moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counting {
    /// Only the moves that the file names, none of their inverses.
    pub directed: bool,
    /// In files of sets of pieces: a move and its inverse only, not all its powers.
    pub quarter: bool,
}

impl Counting {
    /// Returns which moves are made of those of a file.
    pub(crate) fn turns(self, powers: bool) -> Turns {
        match self {
            Counting { directed: true, .. } => Turns::Directed,
            Counting { quarter: false, .. } if powers => Turns::Powers,
            _ => Turns::Quarter,
        }
    }
}

/// Points, what each is called, and the moves.
#[derive(Clone)]
pub(crate) struct PointSource {
    pub labels: Vec<usize>,
    pub generators: Vec<Generator>,
    /// For each point the number of what stands there, where some look alike.
    pub equal: Option<(Vec<usize>, Located)>,
    /// Whether all powers of a move count as one, where the user does not say otherwise.
    pub powers: bool,
    /// The line that an error of the whole is put down to.
    pub line: usize,
}

impl PointSource {
    /// Returns the puzzle: as few points as tell its states apart, inverses or powers added.
    pub fn definition(self, name: &str, counting: Counting) -> Result<Definition, Located> {
        let at = |kind: FileErrorKind| kind.at(self.line);
        if let Some((_, wrong)) = self.equal {
            return Err(wrong);
        }
        if self.generators.len() > Definition::MAX_GENERATORS {
            return Err(at(DefinitionError::TooManyGenerators.into()));
        }
        let points = self.labels.len();
        let permutations: Vec<Permutation> =
            self.generators.iter().map(|g| g.permutation.clone()).collect();
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
        let closed = match counting.turns(self.powers) {
            Turns::Directed => Ok(definition),
            Turns::Powers => definition.with_powers(),
            Turns::Quarter => definition.inverse_closed(),
        };
        closed.map_err(|error| at(error.into()))
    }
}

/// Refuses a second move of the same name, and more moves than a puzzle can have.
pub(crate) fn once<'a>(
    mut names: impl ExactSizeIterator<Item = &'a str>,
    name: &str,
) -> Result<(), FileErrorKind> {
    if names.len() == Definition::MAX_GENERATORS {
        return Err(DefinitionError::TooManyGenerators.into());
    }
    match names.any(|other| other == name) {
        true => Err(DefinitionError::NameTwice(shown(name, 32)).into()),
        false => Ok(()),
    }
}

/// What was left out.
fn note(kept: &[usize], moved: usize, block: usize) -> String {
    let points: Vec<String> = kept.iter().map(usize::to_string).collect();
    let points = points.join(" ");
    match block {
        1 => format!("of {moved} points {} tell all states apart: {points}", kept.len()),
        _ => format!(
            "of {moved} points, which move in blocks of {block}, {} tell all states apart: {points}",
            kept.len()
        ),
    }
}

// What is wrong with a puzzle file, and where.
//
// Invariant: an error is one line that begins with the name of the file and, where there is one, the line.

/// A puzzle file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {kind}", place(.file, *.line))]
pub struct FormatError {
    /// Its name.
    pub file: String,
    /// The line, from 1, or 0 where it is the whole.
    pub line: usize,
    /// What is wrong.
    pub kind: FileErrorKind,
}

fn place(file: &str, line: usize) -> String {
    match line {
        0 => shown(file, 4096),
        line => format!("{}:{line}", shown(file, 4096)),
    }
}

/// What is wrong with a puzzle file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileErrorKind {
    /// The name does not say which format it is.
    #[error("not a kind of puzzle file: its name must end in .gap, .tws, .def or .kpuzzle.json")]
    Format,
    /// Something that the format does not have at this place.
    #[error("'{found}' stands where {expected} should")]
    Syntax {
        /// What stands there.
        found: String,
        /// What should.
        expected: String,
    },
    /// Something that must be there and is not.
    #[error("{0} is missing")]
    Missing(String),
    /// What a search wrote, where a puzzle is expected.
    #[error(
        "it is what a search has found, not the definition of a puzzle: name the puzzle itself"
    )]
    Found,
    /// Something that may be there once.
    #[error("{0} is there twice")]
    Twice(String),
    /// A name that was not defined before.
    #[error("'{0}' is not defined above")]
    Unknown(String),
    /// Several sets of pieces.
    #[error(
        "a second set of pieces, '{0}': puzzles of one set are supported (leave the other sets out for a puzzle of its own)"
    )]
    SecondSet(String),
    /// Pieces that can be turned in place.
    #[error("pieces with {0} orientations: only pieces that have one are supported")]
    Orientations(usize),
    /// A piece that is turned by more than it can be.
    #[error("a piece is turned by {by}, in a set of {}",
        if *orientations == 1 { "one orientation".into() } else { format!("{orientations} orientations") })]
    Turned {
        /// By how much.
        by: String,
        /// How many orientations the set has.
        orientations: usize,
    },
    /// Equal pieces of which some have an orientation that matters.
    #[error(
        "pieces {0} are alike, but '?' says of some of them only that their orientation does not matter"
    )]
    SeenAndUnseen(usize),
    /// What is no sequence of moves.
    #[error(transparent)]
    Sequence(#[from] AlgorithmError),
    /// What makes no puzzle of sets of pieces.
    #[error(transparent)]
    Orbits(#[from] OrbitError),
    /// Equal pieces.
    #[error("equal pieces ({0}) are not supported: every piece must have a number of its own")]
    EqualPieces(String),
    /// A part of the format that this program does not read.
    #[error("'{0}' is not supported")]
    Unsupported(String),
    /// A list of another length.
    #[error("{found} numbers where {expected} should stand")]
    Count {
        /// Numbers there.
        found: usize,
        /// Numbers needed.
        expected: usize,
    },
    /// More pieces than are read.
    #[error("{0} pieces: at most 255 are read")]
    Pieces(String),
    /// A group that acts on too many points.
    #[error(
        "the moves permute {moved} points in {orbits}: no {most} of them {}tell all states apart, and a puzzle has at most {most} positions",
        if *sure { "" } else { "were found that " }
    )]
    TooManyPoints {
        /// The points.
        moved: usize,
        /// Their orbits, in words.
        orbits: String,
        /// The most that can be.
        most: usize,
        /// Whether all choices were tried.
        sure: bool,
    },
    /// A generator that is none.
    #[error("{name}: {error}")]
    Generator {
        /// Its name.
        name: String,
        /// What is wrong with it.
        error: NotationError,
    },
    /// Not JSON.
    #[error("{0}")]
    Json(String),
    /// What makes no puzzle.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
}

impl FileErrorKind {
    /// Returns the error at a line.
    pub(crate) fn at(self, line: usize) -> Located {
        Located { line, kind: self }
    }
}

/// What is wrong at a line, before the name of the file is known.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    pub line: usize,
    pub kind: FileErrorKind,
}

impl Located {
    /// Returns the error of a file.
    pub fn of(self, file: &str) -> FormatError {
        FormatError { file: file.into(), line: self.line, kind: self.kind }
    }
}

impl From<DefinitionError> for Located {
    fn from(error: DefinitionError) -> Located {
        FileErrorKind::Definition(error).at(0)
    }
}
