//! Sums of values: partitions, which are patterns without common tiles, and boards whose sums are kept up to date.
//!
//! [`partition`] and [`tilings`] have patterns to build, a [`SetFile`] names the databases that were built for them,
//! and [`check_disjoint`] says whether values may be added. An [`Evaluator`] adds them, move by move.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    Error,
    hint::BUILD_SET,
    pdb::{Pattern, Pdb, PdbError},
    puzzle::{
        Board, rows,
        space::{self, MAX_WIDTH},
    },
    store::Output,
    system::{FileKind, FileProblem, SystemError, directories},
};

/// Standard partitions from the literature. Each is a picture of the board, row by row: the cells with the same letter
/// are those of a pattern, and the dash is the blank's goal.
///
/// Sources: Korf and Felner, Artificial Intelligence 134 (2002): 7-8 and 6-6-6-6; Felner, Korf and Hanan,
/// Additive pattern database heuristics, JAIR 22 (2004): 5-5-5 and 6-6-3.
const NAMED: &[(&str, &str)] = &[
    ("7-8", "-aaa aaaa bbbb bbbb"),
    ("6-6-3", "-abb aabb aabb accc"),
    ("5-5-5", "-aab caab ccab ccbb"),
    ("6-6-6-6", "-aabb aaabb ccabb ccddd ccddd"),
];

/// Partitions for combined use, as pictures like those of [`NAMED`]: tiles that one of them separates are together in
/// another. Those for 5x5 and a corner were chosen one after another by the number of nodes that searches with them and
/// the preceding ones needed; those for a cell beside a corner were put together by hand and measured on one board. The
/// tiles around the blank's goal are together in all of them, since two of them are in each other's way whenever the
/// blank comes home (docs/notebook/solver.md).
const TILINGS: &[&str] = &[
    "-aaa aaaa bbbb bbbb",
    "-aabb aabbb aacbb adccc ddccc",
    "-aabb aaabb aacbb cccdb cccdd",
    "-aabb aabbb aabbc adccc ddccc",
    "-aabb aabbb addbb adccc acccc",
    "bbbcc bbbcc aabcc -aadc aaadd",
    "bbbbd abbbd aaccd -aacc aaccc",
    "bbbbc bbbcc aaacc -aacc aaddd",
    "ddccc dcccc aabbb -aabb aaabb",
];

/// Returns the patterns of a named partition: `7-8`, `6-6-3` and `5-5-5` on 4x4, `6-6-6-6` on 5x5. The partitions are
/// reflected so that the blank's goal is in their corner.
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
    let Some((_, picture)) = NAMED.iter().find(|(of, picture)| *of == name && fits(goal, picture))
    else {
        let name: String = name.chars().take(32).collect();
        let known = match (size.rows(), size.cols()) {
            (4, 4) => "choose 7-8, 6-6-3 or 5-5-5",
            (5, 5) => "choose 6-6-6-6",
            _ => "named partitions exist only for 4x4 and 5x5",
        };
        let words = format!("'{name}' is not the name of a partition for {size}: {known}");
        return Err(PdbError::Pattern(words));
    };
    turned(goal, picture)?.ok_or_else(|| {
        PdbError::Pattern(format!(
            "partition '{name}' is defined only for goals with the blank in a corner, not for \
             '{goal}': choose the goal first or last"
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
    let pictures = TILINGS.iter().filter(|picture| fits(goal, picture));
    pictures.filter_map(|picture| turned(goal, picture).transpose()).collect()
}

/// Whether a picture is one of the goal's board.
fn fits(goal: &Board, picture: &str) -> bool {
    let side = picture.split(' ').count();
    (goal.size().rows(), goal.size().cols()) == (side, side)
}

/// The patterns of a picture, rotated or reflected so that its dash is the blank's goal; `None` if none of the eight
/// ways to lay it on the board does that.
fn turned(goal: &Board, picture: &str) -> Result<Option<Vec<Pattern>>, PdbError> {
    let side = goal.size().cols();
    let letters: Vec<u8> = picture.bytes().filter(|&letter| letter != b' ').collect();
    let laid = |way: usize, at: usize| {
        let flip = |bit: usize, at: usize| if way & bit == 0 { at } else { side - 1 - at };
        let (row, col) = (flip(1, at / side), flip(2, at % side));
        if way & 4 == 0 { row * side + col } else { col * side + row }
    };
    let dash = letters.iter().position(|&letter| letter == b'-').expect("a picture has a dash");
    let Some(way) = (0..8).find(|&way| laid(way, dash) == goal.blank()) else {
        return Ok(None);
    };
    let mut patterns: Vec<Vec<u16>> = Vec::new();
    for (at, letter) in letters.iter().enumerate().filter(|&(at, _)| at != dash) {
        let pattern = usize::from(letter - b'a');
        patterns.resize(patterns.len().max(pattern + 1), Vec::new());
        patterns[pattern].push(goal.tiles()[laid(way, at)]);
    }
    let patterns = patterns.iter().map(|tiles| Pattern::new(goal.clone(), tiles));
    patterns.collect::<Result<_, _>>().map(Some)
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
            "tile {tile} is in no pattern of the partition: every tile must be in exactly one \
             pattern"
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
const KIND: FileKind = FileKind { noun: "set of pattern databases", build: Some(BUILD_SET) };

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
        let bytes = std::fs::read(path).map_err(directories(path));
        let bytes = bytes.map_err(SystemError::io("cannot read", path))?;
        SetFile::parse(&bytes, path)
    }

    /// Parses the bytes of a set file; database names are relative to the directory of `path`. Same errors as
    /// [`SetFile::read`].
    pub fn parse(bytes: &[u8], path: impl AsRef<Path>) -> Result<SetFile, PdbError> {
        let path = path.as_ref();
        let wrong = |problem| KIND.wrong(path, problem);
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
        let bytes = serde_json::to_vec_pretty(&text).map_err(io::Error::other);
        let mut bytes = bytes.map_err(crate::store::failed(path))?;
        bytes.push(b'\n');
        let mut output = Output::create(path, replace)?;
        output.write(&bytes, |_| true)?;
        Ok(output.finish()?)
    }
}

// Sums of database values, kept up to date move by move.
//
// Invariant: a move of one tile changes the value of at most one pattern, the one that contains the tile; for every
// other pattern, the blank stays in its region and all tiles stay in their cells.

/// A board and the sum of its values in disjoint databases: one lookup per move.
///
/// ```
/// use tilewave::pdb::{Build, Evaluator, Pattern};
/// use tilewave::puzzle::{Board, Goal, Size};
/// let goal = Goal::Last.board(Size::new(3, 3)?)?;
/// let make = |tiles: &[u16]| Build::new(Pattern::new(goal.clone(), tiles)?).run();
/// let pdbs = [make(&[1, 2, 3, 4])?, make(&[5, 6, 7, 8])?];
/// let mut board = Evaluator::new(&pdbs, &goal)?;
/// assert_eq!(board.sum(), 0);
/// board.slide(5); // the tile on cell 5 goes to the blank's cell 8
/// assert_eq!((board.sum(), board.blank()), (1, 5));
/// board.slide(8); // and back
/// assert_eq!(board.sum(), 0);
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Evaluator<'a> {
    pdbs: &'a [Pdb],
    /// Tile on each cell, 0 for the blank.
    tiles: Vec<u16>,
    blank: u8,
    /// For each tile, its pattern and its index in the pattern.
    owner: Vec<Option<(usize, usize)>>,
    /// For each pattern, the cells of its tiles.
    cells: Vec<Vec<u8>>,
    values: Vec<u8>,
    sum: u32,
}

impl<'a> Evaluator<'a> {
    /// Returns the evaluation of a board.
    ///
    /// # Errors
    /// [`PdbError::Pattern`] if databases share tiles; [`PdbError::Unsuitable`] if they are for different goals, count
    /// every move, are for a different size, or were opened but not loaded.
    pub fn new(pdbs: &'a [Pdb], board: &Board) -> Result<Evaluator<'a>, PdbError> {
        pdbs.iter().try_for_each(Pdb::loaded)?;
        let patterns: Vec<Pattern> = pdbs.iter().map(|pdb| pdb.pattern().clone()).collect();
        if patterns.iter().any(Pattern::has_blank) {
            return Err(PdbError::not_additive());
        }
        check_disjoint(&patterns)?;
        if patterns.iter().any(|of| of.goal() != patterns[0].goal()) {
            return Err(PdbError::unsuitable(
                "the databases are for different goals: only values for the same goal can be added",
            ));
        }
        let mut owner = vec![None; board.size().cells()];
        let mut cells = Vec::new();
        for (p, pattern) in patterns.iter().enumerate() {
            cells.push(pattern.cells(board)?);
            for (i, &tile) in pattern.tiles().iter().enumerate() {
                owner[usize::from(tile)] = Some((p, i));
            }
        }
        let mut evaluator = Evaluator {
            pdbs,
            tiles: board.tiles().to_vec(),
            blank: board.blank() as u8,
            owner,
            cells,
            values: vec![0; pdbs.len()],
            sum: 0,
        };
        for p in 0..pdbs.len() {
            let value = pdbs[p].lookup(&evaluator.cells[p], evaluator.blank);
            evaluator.set(p, value);
        }
        Ok(evaluator)
    }

    /// Returns the sum of the values: a lower bound on the number of moves to the goal. Entries that no board reaches
    /// count as 255.
    pub fn sum(&self) -> u32 {
        self.sum
    }

    /// Returns the value of one database.
    pub fn value(&self, pdb: usize) -> u8 {
        self.values[pdb]
    }

    /// Returns the row-major cell of the blank.
    pub fn blank(&self) -> usize {
        usize::from(self.blank)
    }

    /// Moves the tile on a cell next to the blank into the blank's cell. Moving it back undoes the move.
    ///
    /// # Panics
    /// If the cell is not on the board.
    pub fn slide(&mut self, cell: usize) {
        let tile = usize::from(self.tiles[cell]);
        let to = self.blank;
        self.tiles.swap(cell, usize::from(to));
        self.blank = cell as u8;
        if let Some((p, i)) = self.owner[tile] {
            self.cells[p][i] = to;
            let before = Some(self.values[p]).filter(|&value| value != u8::MAX);
            let value = self.pdbs[p].lookup_after(&self.cells[p], self.blank, before);
            self.set(p, value);
        }
    }

    fn set(&mut self, p: usize, value: Option<u8>) {
        let value = value.unwrap_or(u8::MAX);
        self.sum = self.sum - u32::from(self.values[p]) + u32::from(value);
        self.values[p] = value;
    }
}

// Values of many boards at once.
//
// Invariant: the results are those of [`Pdb::value`], board by board; only the order of the reads differs.

impl Pdb {
    /// Returns the values of many boards, given by their tiles in row-major order, one board after another; -1 where
    /// [`Pdb::value`] returns `None`. Cost: about 20 ns of one core per board; uses all threads of the current pool.
    /// With one bit per entry, a walk to the goal per board.
    ///
    /// ```
    /// use tilewave::pdb::{Build, Pattern};
    /// use tilewave::{Goal, Size};
    /// let goal = Goal::Last.board(Size::new(2, 3)?)?;
    /// let pdb = Build::new(Pattern::new(goal, &[1, 2])?).run()?;
    /// assert_eq!(pdb.values(&[1, 2, 3, 4, 5, 0, 1, 2, 0, 4, 5, 3])?, [0, 0]);
    /// let error = pdb.values(&[1, 2, 3, 4, 5, 0, 1, 2, 2, 4, 5, 0]).unwrap_err().to_string();
    /// assert!(error.starts_with("row 1: tile 2 occurs twice and tile 3 is missing"), "{error}");
    /// # Ok::<(), tilewave::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Row`] for the first row that is not a board of the database's size; [`PdbError::Unsuitable`] if the
    /// database was opened but not loaded.
    pub fn values(&self, boards: &[u16]) -> Result<Vec<i16>, Error> {
        self.look_up(boards, |entry, cells, blank| {
            self.at(entry, cells, blank).map_or(-1, i16::from)
        })
    }

    /// Returns the entries of many boards: the indices of their values in [`Pdb::bytes`]. Cost and errors
    /// are those of [`Pdb::values`].
    pub fn entries_of(&self, boards: &[u16]) -> Result<Vec<u64>, Error> {
        self.look_up(boards, |entry, _, _| entry)
    }

    fn look_up<R: Clone + Default + Send>(
        &self,
        boards: &[u16],
        result: impl Fn(u64, &[u8], u8) -> R + Sync,
    ) -> Result<Vec<R>, Error> {
        self.loaded()?;
        let (size, tiles) = (self.pattern().size(), self.pattern().tiles());
        rows::whole_boards(size, boards)?;
        let find = |row: &[u16]| {
            let mut place = [0; MAX_WIDTH + 1];
            if !space::place(row, &mut place) {
                return Err(rows::no_board(size, row));
            }
            let (mut cells, blank) = ([0; Pattern::MAX_TILES], place[0]);
            for (cell, &tile) in cells.iter_mut().zip(tiles) {
                *cell = place[usize::from(tile) & MAX_WIDTH];
            }
            let entry = self.entry(&cells[..tiles.len()], blank);
            Ok(((entry, cells, blank), Some(entry)))
        };
        self.each_row((boards, size.cells()), find, |_, found, results| {
            for (to, (entry, cells, blank)) in results.iter_mut().zip(found) {
                *to = result(*entry, &cells[..tiles.len()], *blank);
            }
            Ok(())
        })
    }
}
