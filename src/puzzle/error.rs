//! Errors in boards, puzzles, their states and the files that define them. Each message is one line and says what to
//! do.

use std::fmt::Display;

use crate::{hint::PIECES, units::shown};

// Limits: the types that have them as public constants document them.
pub(crate) const MAX_CELLS: usize = 10_000;
pub(crate) const MAX_SEQUENCE: usize = 10_000_000;
pub(crate) const MAX_POINTS: usize = 255;
pub(crate) const MAX_POSITIONS: usize = 16;
pub(crate) const MAX_MOVES: usize = 1024;
/// Solved states of a puzzle with several sets of pieces.
pub(crate) const MAX_GOALS: usize = 1 << 20;
pub(crate) const MAX_LOCATIONS: usize = 128;
/// Repetitions of a part of a sequence of moves.
pub(crate) const MAX_REPETITIONS: u32 = 10_000;

/// What is wrong with a board, a puzzle, a state or a puzzle file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PuzzleErrorKind {
    /// A text is not written in the way it must be.
    Syntax,
    /// A name, a number or a word stands for nothing.
    Unknown,
    /// A name, a piece, a point or a statement occurs twice, or too often.
    Twice,
    /// A part is missing.
    Missing,
    /// There are not as many rows, tiles, pieces or elements as are needed.
    Shape,
    /// A number is out of its range, or there is more of something than is supported.
    Range,
    /// The puzzle does not have what is asked for.
    Setting,
    /// A move or a change is not possible, because moves depend on where pieces are.
    Impossible,
    /// No move changes anything.
    NoMoves,
    /// The puzzle has pieces or rules that are not supported where it is used.
    Unsupported,
    /// No moves lead to the state.
    Unreachable,
    /// It is not known whether moves lead to the state.
    Undecided,
    /// There are more arrangements than 62 bits can number.
    ManyStates,
}

/// Where an error is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorPlace {
    /// At a byte offset of the text.
    Byte(usize),
    /// At the name of a set of pieces.
    Set(String),
    /// In one of the goals, or of the states of which something is asked.
    Goal,
    /// In a line of a file, counted from 1, or in the file as a whole (0).
    Line(usize),
}

/// An error in a board, a puzzle, a state or a puzzle file.
///
/// ```
/// use tilewave::puzzle::{PuzzleErrorKind, Size};
/// let error = Size::new(1, 3).unwrap_err();
/// assert_eq!(error.kind(), PuzzleErrorKind::Range);
/// assert!(error.to_string().starts_with("board 1x3 is too small"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PuzzleError {
    kind: PuzzleErrorKind,
    message: String,
    place: Option<ErrorPlace>,
}

/// The error of a kind in the words of a format: `wrong!(Range: "{n} is too large")`.
macro_rules! wrong {
    ($kind:ident: $($words:tt)*) => {
        $crate::puzzle::PuzzleError::new(
            $crate::puzzle::PuzzleErrorKind::$kind,
            format_args!($($words)*),
        )
    };
}

/// Returns that error.
macro_rules! bail {
    ($($error:tt)*) => {
        return Err($crate::puzzle::error::wrong!($($error)*).into())
    };
}
pub(crate) use {bail, wrong};

/// What is found where a text ends.
pub(super) const END: &str = "the end";
/// What is found, or expected, where a line ends.
pub(super) const LINE_END: &str = "the end of the line";

impl PuzzleError {
    pub(crate) fn new(kind: PuzzleErrorKind, message: impl Display) -> PuzzleError {
        PuzzleError { kind, message: message.to_string(), place: None }
    }

    /// The error for a state to which no moves lead.
    pub fn unreachable(puzzle: impl Display) -> PuzzleError {
        wrong!(Unreachable: "no moves of {puzzle} lead to this state")
    }

    /// The same, with the reason.
    pub(crate) fn unreached(puzzle: impl Display, why: impl Display) -> PuzzleError {
        wrong!(Unreachable: "no moves of {puzzle} lead to this state: {why}")
    }

    /// The error for text that is found at a byte offset.
    pub(super) fn syntax(at: usize, found: &str, expected: &str) -> PuzzleError {
        let found = match found {
            END | LINE_END => found.into(),
            _ => format!("'{}'", shown(found, 32)),
        };
        wrong!(Syntax: "expected {expected}, found {found}").placed(ErrorPlace::Byte(at))
    }

    pub(crate) fn many_states(puzzle: impl Display) -> PuzzleError {
        wrong!(ManyStates: "{puzzle} has too many arrangements for a complete table: keep fewer \
            pieces ({PIECES})")
    }

    pub(super) fn many_moves() -> PuzzleError {
        wrong!(Range: "the puzzle has more than {MAX_MOVES} moves, including inverses and powers")
    }

    pub(super) fn no_generators() -> PuzzleError {
        wrong!(NoMoves: "no generator moves anything: a puzzle needs at least one that moves a \
            piece")
    }

    pub(super) fn name_twice(name: &str) -> PuzzleError {
        wrong!(Twice: "two moves are called '{name}': every move must have its own name")
    }

    pub(super) fn placed(self, place: ErrorPlace) -> PuzzleError {
        PuzzleError { place: Some(place), ..self }
    }

    /// Returns the error with words in front of its message.
    pub(super) fn behind(self, words: impl Display) -> PuzzleError {
        PuzzleError { message: format!("{words}: {}", self.message), ..self }
    }

    /// Returns the error with words after its message.
    pub(super) fn followed(self, words: impl Display) -> PuzzleError {
        PuzzleError { message: format!("{}{words}", self.message), ..self }
    }

    /// Returns the error of one of several goals or other states, counted from 1.
    pub(super) fn of_state(self, name: &str, number: usize) -> PuzzleError {
        self.behind(format_args!("{name} {number}")).placed(ErrorPlace::Goal)
    }

    /// Returns the error with the line of the file in which it is, counted from 1, or the file as a whole (0).
    pub(super) fn at(self, line: usize) -> PuzzleError {
        self.placed(ErrorPlace::Line(line))
    }

    /// Returns the error with the name of the file in which it is; one of a goal remains one.
    pub fn in_file(self, file: &str) -> PuzzleError {
        let file = shown(file, 4096);
        match self.place {
            Some(ErrorPlace::Goal) => self.behind(file),
            Some(ErrorPlace::Line(line @ 1..)) => self.behind(format_args!("{file}:{line}")),
            _ => self.behind(file).at(0),
        }
    }

    /// Returns what is wrong.
    pub fn kind(&self) -> PuzzleErrorKind {
        self.kind
    }

    /// Returns where it is wrong, if the error says so.
    pub fn place(&self) -> Option<&ErrorPlace> {
        self.place.as_ref()
    }

    /// Returns the byte offset of an error in a permutation's text, or 0 if the error concerns the whole text.
    pub fn byte(&self) -> usize {
        match self.place {
            Some(ErrorPlace::Byte(at)) => at,
            _ => 0,
        }
    }
}
