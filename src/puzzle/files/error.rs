//! What is wrong with a puzzle file, and where.
//!
//! Invariant: an error is one line that begins with the name of the file and, where there is one, the line.

use crate::puzzle::DefinitionError;
use crate::puzzle::notation::NotationError;
use crate::puzzle::shown::shown;

/// A puzzle file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {kind}", place(.file, *.line))]
pub struct FileError {
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
    /// A piece that a move turns in place, in a set that has one orientation.
    #[error("a piece is turned by {0}, in a set of one orientation")]
    Turned(String),
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
    pub(super) fn at(self, line: usize) -> Located {
        Located { line, kind: self }
    }
}

/// What is wrong at a line, before the name of the file is known.
#[derive(Debug)]
pub(super) struct Located {
    pub line: usize,
    pub kind: FileErrorKind,
}

impl Located {
    /// Returns the error of a file.
    pub fn of(self, file: &str) -> FileError {
        FileError {
            file: file.into(),
            line: self.line,
            kind: self.kind,
        }
    }
}

impl From<DefinitionError> for Located {
    fn from(error: DefinitionError) -> Located {
        FileErrorKind::Definition(error).at(0)
    }
}
