//! Partitions: patterns without common tiles, whose values can be added.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    pdb::{Pattern, PdbError},
    puzzle::Board,
    store::Output,
    system::{FileKind, FileProblem, SystemError},
};

/// A named partition: the goal cells of its patterns, for a goal with the blank in the first cell.
struct Preset {
    name: &'static str,
    side: usize,
    patterns: &'static [&'static [usize]],
}

/// Standard partitions from the literature.
///
/// Sources: Korf and Felner, Artificial Intelligence 134 (2002): 7-8 and 6-6-6-6; Felner, Korf and Hanan,
/// Additive pattern database heuristics, JAIR 22 (2004): 5-5-5 and 6-6-3.
const PRESETS: &[Preset] = &[
    Preset {
        name: "7-8",
        side: 4,
        patterns: &[&[1, 2, 3, 4, 5, 6, 7], &[8, 9, 10, 11, 12, 13, 14, 15]],
    },
    Preset {
        name: "6-6-3",
        side: 4,
        patterns: &[&[1, 4, 5, 8, 9, 12], &[2, 3, 6, 7, 10, 11], &[13, 14, 15]],
    },
    Preset {
        name: "5-5-5",
        side: 4,
        patterns: &[&[1, 2, 5, 6, 10], &[3, 7, 11, 14, 15], &[4, 8, 9, 12, 13]],
    },
    Preset {
        name: "6-6-6-6",
        side: 5,
        patterns: &[
            &[1, 2, 5, 6, 7, 12],
            &[3, 4, 8, 9, 13, 14],
            &[10, 11, 15, 16, 20, 21],
            &[17, 18, 19, 22, 23, 24],
        ],
    },
];

/// Partitions for combined use, in the form of [`PRESETS`]: tiles that one of them separates are together in another.
/// Those for 5x5 were chosen one after another by the number of nodes that searches with them and the preceding ones
/// needed (docs/notebook/solver.md): the tiles around the blank's goal (1, 2, 5, 6 and 10) are together in all of them,
/// since two of them are in each other's way whenever the blank comes home.
const TILINGS: &[(usize, &[&[&[usize]]])] = &[
    (4, &[&[&[1, 2, 3, 4, 5, 6, 7], &[8, 9, 10, 11, 12, 13, 14, 15]]]),
    (
        5,
        &[
            &[
                &[1, 2, 5, 6, 10, 11, 15],
                &[3, 4, 7, 8, 9, 13, 14],
                &[12, 17, 18, 19, 22, 23, 24],
                &[16, 20, 21],
            ],
            &[
                &[1, 2, 5, 6, 7, 10, 11],
                &[3, 4, 8, 9, 13, 14, 19],
                &[12, 15, 16, 17, 20, 21, 22],
                &[18, 23, 24],
            ],
            &[
                &[1, 2, 5, 6, 10, 11, 15],
                &[3, 4, 7, 8, 9, 12, 13],
                &[14, 17, 18, 19, 22, 23, 24],
                &[16, 20, 21],
            ],
            &[
                &[1, 2, 5, 6, 10, 15, 20],
                &[3, 4, 7, 8, 9, 13, 14],
                &[17, 18, 19, 21, 22, 23, 24],
                &[11, 12, 16],
            ],
        ],
    ),
];

/// Returns the patterns of a named partition: `7-8`, `6-6-3` and `5-5-5` on 4x4, `6-6-6-6` on 5x5. The partitions are
/// rotated so that the blank's goal is in their corner.
///
/// ```
/// use tilewave::pdb::partition;
/// use tilewave::puzzle::{Goal, Size};
/// let korf = partition("7-8", &Goal::First.board(Size::new(4, 4)?)?)?;
/// assert_eq!(korf[0].tiles(), [1, 2, 3, 4, 5, 6, 7]);
/// let last = partition("7-8", &Goal::Last.board(Size::new(4, 4)?)?)?;
/// assert_eq!(last[0].tiles(), [9, 10, 11, 12, 13, 14, 15]);
/// # Ok::<(), tilewave::Error>(())
/// ```
///
/// # Errors
/// [`PdbError::Pattern`] if there is no such partition (the message lists the existing ones), or if the blank's goal is
/// not a corner.
pub fn partition(name: &str, goal: &Board) -> Result<Vec<Pattern>, PdbError> {
    let size = goal.size();
    let fits = |preset: &&Preset| (size.rows(), size.cols()) == (preset.side, preset.side);
    let Some(preset) = PRESETS.iter().filter(fits).find(|p| p.name == name) else {
        let name: String = name.chars().take(32).collect();
        let known = match (size.rows(), size.cols()) {
            (4, 4) => "choose 7-8, 6-6-3 or 5-5-5",
            (5, 5) => "choose 6-6-6-6",
            _ => "named partitions exist only for 4x4 and 5x5",
        };
        let words = format!("'{name}' is not the name of a partition for {size}: {known}");
        return Err(PdbError::Pattern(words));
    };
    let patterns = turned(goal, preset.side, preset.patterns)?;
    patterns.ok_or_else(|| {
        PdbError::Pattern(format!(
            "partition '{name}' is defined for goals with the blank in a corner, not for '{goal}'"
        ))
    })
}

/// Returns partitions for combined use with a goal: use as many, from the first on, as fit in memory. Tiles that one
/// partition separates are together in another, and each partition covers all tiles. Empty for boards and goals without
/// a list.
///
/// ```
/// use tilewave::pdb::{check_partition, tilings};
/// use tilewave::{Goal, Size};
/// let goal = Goal::Last.board(Size::new(5, 5)?)?;
/// for patterns in tilings(&goal)? {
///     check_partition(&patterns)?;
/// }
/// # Ok::<(), tilewave::Error>(())
/// ```
///
/// # Errors
/// [`PdbError`] if the board is too large for databases.
pub fn tilings(goal: &Board) -> Result<Vec<Vec<Pattern>>, PdbError> {
    let size = goal.size();
    let mut found = Vec::new();
    for (side, all) in TILINGS {
        if (size.rows(), size.cols()) == (*side, *side) {
            for patterns in *all {
                found.extend(turned(goal, *side, patterns)?);
            }
        }
    }
    Ok(found)
}

/// Patterns given by cells, rotated so that the blank's goal is in their corner; `None` if it is not a corner.
fn turned(
    goal: &Board,
    side: usize,
    patterns: &[&[usize]],
) -> Result<Option<Vec<Pattern>>, PdbError> {
    let last = side - 1;
    let corner = (goal.blank() / side, goal.blank() % side);
    let is_end = |at: usize| at.is_multiple_of(last);
    if !(is_end(corner.0) && is_end(corner.1)) {
        return Ok(None);
    }
    let turned = |cell: usize| {
        let (row, col) = (cell / side, cell % side);
        let row = if corner.0 == 0 { row } else { last - row };
        let col = if corner.1 == 0 { col } else { last - col };
        goal.tiles()[row * side + col]
    };
    let pattern = |cells: &&[usize]| {
        let tiles: Vec<u16> = cells.iter().map(|&cell| turned(cell)).collect();
        Pattern::new(goal.clone(), &tiles)
    };
    patterns.iter().map(pattern).collect::<Result<_, _>>().map(Some)
}

/// Checks that the values of patterns can be added: no tile is in two patterns, and, if there are several patterns,
/// none contains the blank, because databases with the blank count every move.
///
/// # Errors
/// [`PdbError::Pattern`] with the smallest shared tile; [`PdbError::Unsuitable`] if one of several patterns contains
/// the blank.
pub fn check_disjoint(patterns: &[Pattern]) -> Result<(), PdbError> {
    if patterns.len() > 1 && patterns.iter().any(Pattern::has_blank) {
        return Err(PdbError::not_additive());
    }
    let mut tiles: Vec<u16> = patterns.iter().flat_map(|p| p.tiles()).copied().collect();
    tiles.sort_unstable();
    match tiles.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(PdbError::Pattern(format!(
            "tile {} is in more than one pattern: values of overlapping patterns cannot be added",
            pair[0]
        ))),
        None => Ok(()),
    }
}

/// Checks that every tile is in exactly one pattern.
///
/// # Errors
/// [`PdbError::Pattern`] with a missing tile, and the errors of [`check_disjoint`].
pub fn check_partition(patterns: &[Pattern]) -> Result<(), PdbError> {
    check_disjoint(patterns)?;
    let all = 1..=patterns.first().map_or(1, |first| first.size().tiles() as u16);
    let covered = |tile: u16| patterns.iter().any(|p| p.tiles().contains(&tile));
    match all.into_iter().find(|&tile| !covered(tile)) {
        Some(tile) => Err(PdbError::Pattern(format!(
            "tile {tile} is in no pattern of the partition: every tile must be in exactly one"
        ))),
        None => Ok(()),
    }
}

// Set files: which databases make up which partitions.
//
// Invariant: names of databases are relative to the file's directory, so a set can be moved as a whole.

/// The version of the files.
const VERSION: u32 = 1;

/// The name for a set file in messages.
const KIND: FileKind =
    FileKind { noun: "set of pattern databases", make: "build one with tilewave pdb set build" };

/// Partitions of databases: a board's estimate is the maximum of the partitions' sums.
///
/// ```
/// use std::path::{Path, PathBuf};
/// use tilewave::pdb::SetFile;
/// let set = SetFile::parse(
///     br#"{"tilewave_set": 1, "partitions": [["a.pdb", "b.pdb"], ["a.pdb", "c.pdb"]]}"#,
///     Path::new("databases/set.json"),
/// )?;
/// assert_eq!(set.partitions[1][1], PathBuf::from("databases/c.pdb"));
/// # Ok::<(), tilewave::pdb::PdbError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetFile {
    /// The database files of each partition.
    pub partitions: Vec<Vec<PathBuf>>,
}

/// The contents of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SetText {
    tilewave_set: u32,
    partitions: Vec<Vec<PathBuf>>,
}

impl SetFile {
    /// Returns whether a path is that of a set file, according to its name.
    pub fn is(path: impl AsRef<Path>) -> bool {
        path.as_ref().extension().is_some_and(|extension| extension == "json")
    }

    /// Reads a set file.
    ///
    /// # Errors
    /// [`PdbError::System`] if the file cannot be read, has an unsupported version or is not a set file.
    pub fn read(path: impl AsRef<Path>) -> Result<SetFile, PdbError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(SystemError::io("cannot read", path))?;
        SetFile::parse(&bytes, path)
    }

    /// Parses the bytes of a set file; database names are relative to the directory of `path`.
    ///
    /// # Errors
    /// Same errors as [`SetFile::read`].
    pub fn parse(bytes: &[u8], path: impl AsRef<Path>) -> Result<SetFile, PdbError> {
        let path = path.as_ref();
        let wrong = |problem| SystemError::Wrong { path: path.to_path_buf(), kind: KIND, problem };
        let text: SetText = serde_json::from_slice(bytes).map_err(|_| wrong(FileProblem::Other))?;
        if text.tilewave_set != VERSION {
            let (found, supported) = (text.tilewave_set, VERSION);
            return Err(wrong(FileProblem::Version { found, supported }).into());
        }
        if text.partitions.iter().any(Vec::is_empty) || text.partitions.is_empty() {
            return Err(wrong(FileProblem::Header("a partition is missing or empty")).into());
        }
        let beside = |name: PathBuf| path.parent().unwrap_or(Path::new("")).join(name);
        let partitions = text.partitions.into_iter();
        Ok(SetFile {
            partitions: partitions.map(|files| files.into_iter().map(beside).collect()).collect(),
        })
    }

    /// Writes the file; databases in the same directory are named without their directory.
    ///
    /// # Errors
    /// [`PdbError::System`].
    pub fn write(&self, path: impl AsRef<Path>, replace: bool) -> Result<(), PdbError> {
        let path = path.as_ref();
        let directory = path.parent().unwrap_or(Path::new(""));
        let name = |file: &PathBuf| file.strip_prefix(directory).unwrap_or(file).to_path_buf();
        let partitions = self.partitions.iter();
        let text = SetText {
            tilewave_set: VERSION,
            partitions: partitions.map(|files| files.iter().map(name).collect()).collect(),
        };
        let mut bytes = serde_json::to_vec_pretty(&text).map_err(|error| {
            PdbError::System(crate::store::failed(path)(io::Error::other(error)))
        })?;
        bytes.push(b'\n');
        let mut output = Output::create(path, replace)?;
        output.write(&bytes, |_| true)?;
        Ok(output.finish()?)
    }
}
