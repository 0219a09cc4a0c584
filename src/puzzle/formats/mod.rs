//! Files that define a puzzle: GAP permutations, ksolve and twsearch definitions, KPuzzle JSON.
//!
//! The program and Rust programs call [`read`]. The module of a format parses the text into points or sets of pieces
//! (`source`); from these, a puzzle is made in the same way for all formats.
//!
//! Invariant: any text is either read or rejected with the line number of the error. This module does not access files.
//!
//! | file | numbers of a move | counted from | moves that count as one |
//! |---|---|---:|---|
//! | `.gap` | cycles: (1,10) takes the element at 1 to 10 | 1 | the move and its inverse |
//! | `.tws`, `.def` | where each position takes its piece from | 1 | all powers of the move |
//! | `.kpuzzle.json` | where each position takes its piece from | 0 | all powers of the move |

pub(crate) mod gap;
pub(crate) mod kpuzzle;
pub(crate) mod ksolve;
pub(crate) mod source;

use crate::{
    puzzle::{
        Puzzle, PuzzleError, Turns,
        error::wrong,
        formats::source::{PointSource, SetSource},
    },
    units::shown,
};

/// A file format for puzzles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// GAP permutations.
    Gap,
    /// ksolve and twsearch.
    Ksolve,
    /// KPuzzle JSON.
    KPuzzle,
}

/// The extensions of file names.
const ENDINGS: [(&str, Format); 6] = [
    (".gap", Format::Gap),
    (".g", Format::Gap),
    (".tws", Format::Ksolve),
    (".def", Format::Ksolve),
    (".kpuzzle.json", Format::KPuzzle),
    (".json", Format::KPuzzle),
];

impl Format {
    /// Returns the format of a file according to its name, and the name without directories and extension.
    ///
    /// ```
    /// use tilewave::puzzle::formats::Format;
    /// assert_eq!(Format::of("toys/dino.gap"), Some((Format::Gap, "dino")));
    /// assert_eq!(Format::of("3x3"), None);
    /// ```
    pub fn of(file: &str) -> Option<(Format, &str)> {
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let lower = name.to_ascii_lowercase();
        let (ending, format) = ENDINGS.into_iter().find(|(e, _)| lower.ends_with(e))?;
        Some((format, &name[..name.len() - ending.len()]))
    }
}

/// Returns which powers of a turn in a file count as one move: those that were requested, or else all powers. A move in
/// a GAP file is a permutation, so only the move and its inverse count.
///
/// ```
/// use tilewave::puzzle::{formats::turns, Turns};
/// assert_eq!(turns("cube.tws", None), Turns::Powers);
/// assert_eq!(turns("dino.gap", None), Turns::Quarter);
/// assert_eq!(turns("dino.gap", Some(Turns::Directed)), Turns::Directed);
/// ```
pub fn turns(file: &str, asked: Option<Turns>) -> Turns {
    asked.unwrap_or(match Format::of(file) {
        Some((Format::Gap, _)) => Turns::Quarter,
        _ => Turns::Powers,
    })
}

/// Returns the puzzle that the text of a file defines: one of permutations if possible, otherwise one of the file's sets
/// of pieces, or of the pieces that its points form. The format follows from the file's name.
///
/// ```
/// use tilewave::puzzle::formats;
/// let text = "L:=(5,4,3,2,1);\nX:=(1,2);\nGen:=[L,X];\n";
/// let puzzle = formats::read("five.gap", text, None)?;
/// assert_eq!((puzzle.name(), puzzle.group_order()), ("five", 120));
/// assert_eq!(puzzle.moves().len(), 3); // L, X and L'
/// let error = formats::read("five.gap", "L:=(1,2\n,2);", None).unwrap_err();
/// assert_eq!(error.to_string(), "five.gap:1: L: not a permutation: point 2 occurs twice");
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn read(file: &str, text: &str, asked: Option<Turns>) -> Result<Puzzle, PuzzleError> {
    let (source, name) = source(file, text)?;
    let turns = turns(file, asked);
    let points = match &source {
        Source::Points(points) => Some(points.clone()),
        Source::Sets(sets) => sets.points(),
    };
    if let Some(points) = points {
        let of_permutations = points.puzzle(name, turns);
        let wrong = |error: PuzzleError| error.at(points.line).in_file(file);
        if let Some(puzzle) = of_permutations.map_err(wrong)? {
            return Ok(puzzle);
        }
    }
    let sets = match source {
        Source::Points(points) => SetSource::of_points(&points),
        Source::Sets(sets) => sets,
    };
    sets.puzzle(name, turns).map_err(|error| error.at(sets.line).in_file(file))
}

enum Source {
    Points(PointSource),
    Sets(SetSource),
}

/// The contents of a file, and the name of the puzzle.
fn source<'a>(file: &'a str, text: &str) -> Result<(Source, &'a str), PuzzleError> {
    let known = Format::of(file);
    let unknown = || {
        wrong!(Unknown: "{}: the format is not known: the name of a puzzle file must \
        end in .gap, .tws, .def or .kpuzzle.json", shown(file, 4096))
    };
    let (format, name) = known.ok_or_else(unknown)?;
    // Some editors begin a file with a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    let source = match format {
        Format::Gap => gap::read(text).map(Source::Points),
        Format::Ksolve => ksolve::read(text).map(Source::Sets),
        Format::KPuzzle => kpuzzle::read(text).map(Source::Sets),
    };
    source.map(|source| (source, name)).map_err(|error| error.in_file(file))
}
