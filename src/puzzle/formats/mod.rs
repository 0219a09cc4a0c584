//! Files that define a puzzle: GAP permutations, ksolve and twsearch definitions, KPuzzle JSON.
//!
//! The program and Rust programs call [`read_any`]. A format's own file turns text into what it says (`source` for
//! points, `sets` for sets of pieces), and these make a definition or a puzzle of orbits of it, in one way for all.
//!
//! Invariant: any text is read or refused with the line that is wrong; nothing is read or written here.
//!
//! | file | numbers of a move | counted from | a move and |
//! |---|---|---:|---|
//! | `.gap` | cycles: (1,10) takes what stands at 1 to 10 | 1 | its inverse |
//! | `.tws`, `.def` | where each position takes its piece from | 1 | all its powers |
//! | `.kpuzzle.json` | where each position takes its piece from | 0 | all its powers |

pub(crate) mod gap;
pub(crate) mod kpuzzle;
pub(crate) mod ksolve;
mod pieces;
pub(crate) mod sets;
pub(crate) mod source;

use crate::puzzle::{
    Definition, PuzzleError,
    formats::{
        sets::SetSource,
        source::{Located, PointSource},
    },
    orbits::{OrbitPuzzle, Turns},
};

pub use crate::puzzle::formats::{sets::Extract, source::Counting};

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

/// The endings of the names of files.
const ENDINGS: [(&str, Format); 6] = [
    (".gap", Format::Gap),
    (".g", Format::Gap),
    (".tws", Format::Ksolve),
    (".def", Format::Ksolve),
    (".kpuzzle.json", Format::KPuzzle),
    (".json", Format::KPuzzle),
];

impl Format {
    /// Returns the format of a file according to its name, and the name without folders and extension.
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

/// Returns what of a turn in a file counts as one move: what was asked for, else any power of it. A move in a file of GAP is a
/// permutation and counts with its inverse only.
///
/// ```
/// use tilewave::puzzle::{formats::turns, orbits::Turns};
/// assert_eq!(turns("cube.tws", None), Turns::Powers);
/// assert_eq!(turns("dino.gap", None), Turns::Quarter);
/// assert_eq!(turns("dino.gap", Some(Turns::Directed)), Turns::Directed);
/// ```
pub fn turns(file: &str, asked: Option<Turns>) -> Turns {
    let own = match Format::of(file) {
        Some((Format::Gap, _)) => Turns::Quarter,
        _ => Turns::Powers,
    };
    asked.unwrap_or(own)
}

/// Returns the puzzle that the text of a file defines; the name of the file says how to read it.
///
/// ```
/// use tilewave::puzzle::formats::{self, Counting};
/// let text = "L:=(5,4,3,2,1);\nX:=(1,2);\nGen:=[L,X];\n";
/// let puzzle = formats::read("five.gap", text, Counting::default())?;
/// assert_eq!((puzzle.name(), puzzle.group_order()), ("five", 120));
/// assert_eq!(puzzle.generators().len(), 3); // L, X and L'
/// let error = formats::read("five.gap", "L:=(1,2\n,2);", Counting::default()).unwrap_err();
/// assert_eq!(error.to_string(), "five.gap:1: L: not a permutation: point 2 occurs twice");
/// # Ok::<(), tilewave::Error>(())
/// ```
///
/// # Errors
/// [`PuzzleError`] names the file, the line and what is wrong there.
pub fn read(file: &str, text: &str, counting: Counting) -> Result<Definition, PuzzleError> {
    let (source, name) = source(file, text)?;
    let definition = source.points().and_then(|points| points.definition(name, counting));
    definition.map_err(|error: Located| error.of(file))
}

/// Returns the puzzle that the text of a file defines, whatever it is: of one set of pieces if it can be that, or
/// of its sets of pieces, or of the orbits of its points.
///
/// # Errors
/// [`PuzzleError`] names the file, the line and what is wrong there.
pub fn read_any(file: &str, text: &str, counting: Counting) -> Result<FilePuzzle, PuzzleError> {
    let (source, name) = source(file, text)?;
    if let Ok(points) = source.points() {
        let definition = points.definition(name, counting);
        match definition {
            Ok(definition) => return Ok(FilePuzzle::Positions(definition)),
            // It has too many positions for that, or some that look alike.
            Err(Located {
                kind: PuzzleError::TooManyPoints { .. } | PuzzleError::AlikePieces(_),
                ..
            }) => {}
            Err(error) => return Err(error.of(file)),
        }
    }
    let extract = Extract { counting, ..Extract::default() };
    let puzzle = source.sets().puzzle(name, &extract);
    puzzle.map(FilePuzzle::Orbits).map_err(|error| error.of(file))
}

/// Returns a part of the puzzle that the text of a file defines: some of its sets of pieces, some of its moves.
///
/// ```
/// use tilewave::puzzle::formats::{self, Extract};
/// let text = "Set A 3 1\nSet B 2 3\nSolved\nEnd\nMove L\nA\n2 3 1\nB\n2 1\n0 1\nEnd\nMove R\nB\n1 2\n1 2\nEnd\n";
/// let whole = formats::read_orbits("two.tws", text, &Extract::default())?;
/// assert_eq!((whole.orbits().len(), whole.moves().len()), (2, 7)); // L has order 6, R has order 3
/// let moves = vec!["R".into(), "twice=L2".into()];
/// let sets = vec!["A".into()];
/// let part = formats::read_orbits("two.tws", text, &Extract { sets, moves, ..Extract::default() })?;
/// assert_eq!(part.moves().len(), 2); // R does nothing to A
/// # Ok::<(), tilewave::Error>(())
/// ```
///
/// # Errors
/// [`PuzzleError`] names the file, the line and what is wrong there.
pub fn read_orbits(file: &str, text: &str, extract: &Extract) -> Result<OrbitPuzzle, PuzzleError> {
    let (source, name) = source(file, text)?;
    source.sets().puzzle(name, extract).map_err(|error| error.of(file))
}

/// A puzzle that was read from a file.
#[derive(Clone, Debug)]
pub enum FilePuzzle {
    /// One set of at most 16 different pieces.
    Positions(Definition),
    /// Any other puzzle.
    Orbits(OrbitPuzzle),
}

/// What a file says.
enum Source {
    Points(PointSource),
    Sets(SetSource),
}

impl Source {
    fn points(&self) -> Result<PointSource, Located> {
        match self {
            Source::Points(points) => Ok(points.clone()),
            Source::Sets(sets) => sets.points(),
        }
    }

    fn sets(self) -> SetSource {
        match self {
            Source::Points(points) => SetSource::of_points(&points),
            Source::Sets(sets) => sets,
        }
    }
}

/// What a file says, and what it is called.
fn source<'a>(file: &'a str, text: &str) -> Result<(Source, &'a str), PuzzleError> {
    let format = Format::of(file).ok_or_else(|| PuzzleError::FileFormat.at(0).of(file))?;
    let (format, name) = format;
    // Some editors begin a file with a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    let source = match format {
        Format::Gap => gap::read(text).map(Source::Points),
        Format::Ksolve => ksolve::read(text).map(Source::Sets),
        Format::KPuzzle => kpuzzle::read(text).map(Source::Sets),
    };
    source.map(|source| (source, name)).map_err(|error| error.of(file))
}
