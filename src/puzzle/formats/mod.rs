//! Files that define a puzzle: GAP permutations, ksolve and twsearch definitions, KPuzzle JSON.
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
pub(crate) mod source;

use crate::puzzle::Definition;
use crate::puzzle::formats::source::Located;

pub use crate::puzzle::formats::source::{Counting, FileErrorKind, FormatError};

/// A way to write a puzzle down.
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
    /// Returns the format that the name of a file tells, and the name without folders and ending.
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
/// [`FormatError`] names the file, the line and what is wrong there.
pub fn read(file: &str, text: &str, counting: Counting) -> Result<Definition, FormatError> {
    let format = Format::of(file).ok_or_else(|| FileErrorKind::Format.at(0).of(file))?;
    let (format, name) = format;
    // Some editors begin a file with a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    let source = match format {
        Format::Gap => gap::read(text),
        Format::Ksolve => ksolve::read(text),
        Format::KPuzzle => kpuzzle::read(text),
    };
    let definition = source.and_then(|source| source.definition(name, counting));
    definition.map_err(|error: Located| error.of(file))
}
