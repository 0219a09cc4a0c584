//! The header of a table file, and the errors in building or using a table.
//!
//! Builds write a [`TableHeader`], and everything that opens a table reads it first: the puzzle, the encoding of
//! entries and their positions in the file. Whatever is wrong with a table or its file is a [`TableError`].

use crate::{
    hint::{BUILD_TABLE, BYTES, Hint},
    perm::lehmer,
    puzzle::{Board, Metric, Puzzle, State},
    search::Search,
    store::{self, Fields, MAX_DEPTH, SectionLayout, place},
    system::{FileKind, SystemError},
    units::names,
};

// The header of a table file.
//
// Invariant: 4096 bytes, little-endian, fixed offsets (`docs/format.md`); the last eight bytes are the XXH3-64 of the
// others. Everything that a reader needs is in the header or, for puzzles other than boards, in the definition that
// follows it, and every field that depends on others is checked against them. Boards moved one tile at a time are
// written as version 1, everything else as version 2.

/// Offsets of the XXH3-64 of a definition; and of the goal, or of the definition's length and fingerprint.
const SUM: usize = 96;

const GOAL: usize = 104;

/// The encodings by their numbers in files.
const ENCODINGS: [TableEncoding; 3] =
    [TableEncoding::Mod3, TableEncoding::Byte, TableEncoding::Nibble];

/// Maximum size of a definition in bytes: 1024 moves with long names.
const MAX_DEFINITION: u64 = 16 << 20;

/// The description of the puzzle in a header.
#[derive(Clone, Debug)]
pub(crate) enum TablePuzzle {
    /// A board, described completely.
    Board(Board, Metric),
    /// Another puzzle, whose definition is the index section of the file.
    Defined {
        cells: usize,
        /// 1 if lines keep their parity, 2 if they do not.
        parities: u8,
        /// Size of the definition in bytes.
        bytes: u64,
        /// XXH3-64 of the definition.
        checksum: u64,
        /// [`Puzzle::fingerprint`].
        fingerprint: u64,
    },
}

/// The contents of a header.
#[derive(Clone, Debug)]
pub struct TableHeader {
    pub(crate) puzzle: TablePuzzle,
    pub(crate) shape: TableShape,
    /// The number of states at each depth.
    pub(crate) histogram: Vec<u64>,
    /// XXH3-64 of the block checksums, which serves as a checksum of the entries.
    pub(crate) checksum: u64,
}

impl TableHeader {
    /// The header of an empty table.
    pub(crate) fn new(puzzle: TablePuzzle, encoding: TableEncoding) -> TableHeader {
        let (cells, parities) = match &puzzle {
            // Tiles jump over an even number of others, in both metrics.
            TablePuzzle::Board(goal, _) => (goal.size().cells(), 1),
            TablePuzzle::Defined { cells, parities, .. } => (*cells, *parities),
        };
        let lines = u64::from(parities) * lehmer::even_count(cells - 1);
        let shape = TableShape { cells, lines, encoding };
        TableHeader { puzzle, shape, histogram: Vec::new(), checksum: 0 }
    }
}

impl store::FileHeader for TableHeader {
    const MAGIC: [u8; 8] = store::container::DISTANCES.0;
    const VERSION: u32 = 2;
    const KIND: FileKind = FileKind { noun: "distance table", build: Some(BUILD_TABLE) };

    fn version(&self) -> u32 {
        match self.puzzle {
            TablePuzzle::Board(_, Metric::Stm) => 1,
            _ => 2,
        }
    }

    fn layout(&self) -> SectionLayout {
        let definition = match self.puzzle {
            TablePuzzle::Board(..) => 0,
            TablePuzzle::Defined { bytes, .. } => bytes,
        };
        SectionLayout::new(definition, self.shape.bytes(), None)
    }

    fn contents(&self) -> (&[u64], u64) {
        (&self.histogram, self.checksum)
    }

    fn sums(&mut self) -> (Option<&mut u64>, &mut u64) {
        match &mut self.puzzle {
            TablePuzzle::Board(..) => (None, &mut self.checksum),
            TablePuzzle::Defined { checksum, .. } => (Some(checksum), &mut self.checksum),
        }
    }

    fn encode(&self, fields: &mut Fields) {
        let is_own = |of: &TableEncoding| *of == self.shape.encoding;
        let encoding = ENCODINGS.iter().position(is_own).unwrap_or_default() as u8;
        match &self.puzzle {
            TablePuzzle::Board(goal, metric) => {
                let (size, metric) = (goal.size(), u8::from(*metric == Metric::Mtm));
                let bytes = [size.rows() as u8, size.cols() as u8, encoding, metric];
                fields.put(16, &bytes);
                fields.put_halves(GOAL, goal.tiles());
            }
            TablePuzzle::Defined { cells, parities, bytes, checksum, fingerprint } => {
                fields.put(16, &[0, 0, encoding, 2]);
                fields.put(21, &[*cells as u8, *parities]);
                fields.put_words(SUM, &[*checksum, *bytes, *fingerprint]);
            }
        }
        let reached = fields.put_histogram(20, &self.histogram);
        fields.put_words(24, &[self.shape.stride() as u64, self.shape.lines, reached]);
        fields.put_table(self.layout(), self.checksum);
    }

    fn decode(fields: &Fields) -> Result<TableHeader, &'static str> {
        let encoding = ENCODINGS.get(usize::from(fields.byte(18))).copied();
        let encoding = encoding.ok_or("unknown encoding")?;
        let puzzle = match fields.byte(19) {
            0 => TablePuzzle::Board(fields.board(GOAL, Search::MAX_CELLS)?, Metric::Stm),
            1 => TablePuzzle::Board(fields.board(GOAL, Search::MAX_CELLS)?, Metric::Mtm),
            2 => defined(fields)?,
            _ => return Err("unknown metric"),
        };
        let (histogram, reached) = fields.histogram(20)?;
        let empty = TableHeader::new(puzzle, encoding);
        if reached > empty.shape.lines * empty.shape.cells as u64 {
            return Err("wrong histogram");
        }
        Ok(TableHeader { histogram, checksum: fields.u64(88), ..empty })
    }
}

/// The description of another puzzle.
fn defined(fields: &Fields) -> Result<TablePuzzle, &'static str> {
    let [cells, parities] = [21, 22].map(|at| fields.byte(at));
    let cells = usize::from(cells);
    if !(2..=Puzzle::MAX_POSITIONS).contains(&cells) || !(1..=2).contains(&parities) {
        return Err("invalid number of positions or parities");
    }
    let bytes = fields.u64(GOAL);
    if bytes > MAX_DEFINITION {
        return Err("the puzzle definition is too long");
    }
    Ok(TablePuzzle::Defined {
        cells,
        parities,
        bytes,
        checksum: fields.u64(SUM),
        fingerprint: fields.u64(GOAL + 8),
    })
}

// The position of a state's entry.
//
// Invariant: the entries of a line's cells are together, in the order of the cells, and begin at a byte boundary.

/// The byte value for states that were not reached, in every encoding.
pub(crate) const UNREACHED: u8 = 0xff;

/// How the depths of a table are stored: the number of bits of an entry, and their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableEncoding {
    /// Two bits: the depth, up to 254, modulo 3, or 3 for an entry without a state.
    Mod3,
    /// Four bits: the depth up to 14, or 15 for an entry without a state.
    Nibble,
    /// Eight bits: the depth up to 254, or 255 for an entry without a state.
    Byte,
}

names! { TableEncoding:
    "mod3" = Mod3, "Two bits per state: the depth modulo 3";
    "nibble" = Nibble, "Four bits per state: the depth, at most 14";
    "byte" = Byte, "One byte per state: the depth";
}

impl TableEncoding {
    /// Returns the number of bits of an entry.
    pub fn bits(self) -> u32 {
        match self {
            TableEncoding::Mod3 => 2,
            TableEncoding::Nibble => 4,
            TableEncoding::Byte => 8,
        }
    }

    /// Returns the size of a number of entries, in bytes.
    pub fn bytes(self, entries: u64) -> u64 {
        entries.div_ceil(u64::from(8 / self.bits()))
    }

    /// The value of an entry without a state.
    pub(crate) fn none(self) -> u8 {
        UNREACHED >> (8 - self.bits())
    }

    /// Returns the greatest depth that a table holds.
    pub fn max_depth(self) -> usize {
        match self {
            // Headers count states up to the greatest depth of a byte.
            TableEncoding::Mod3 => MAX_DEPTH,
            _ => usize::from(self.none()) - 1,
        }
    }

    /// The entry of a depth, if it fits.
    pub(crate) fn entry(self, depth: usize) -> Result<u8, TableError> {
        let max = self.max_depth();
        let entry = if self == TableEncoding::Mod3 { depth % 3 } else { depth };
        if depth > max { Err(TableError::TooDeep { depth, max }) } else { Ok(entry as u8) }
    }

    /// The entry of a state one move closer to the goal than one with this entry.
    pub(crate) fn closer(self, entry: u8) -> Option<u8> {
        match self {
            TableEncoding::Mod3 => Some((entry + 2) % 3),
            _ => entry.checked_sub(1),
        }
    }

    /// The index of the byte that contains an entry, and the entry's shift within the byte.
    #[inline]
    pub(crate) fn place(self, number: u64) -> (usize, u32) {
        place(self.bits(), number)
    }
}

/// The shape of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableShape {
    /// Number of entries per line.
    pub cells: usize,
    /// The number of lines.
    pub lines: u64,
    pub encoding: TableEncoding,
}

impl TableShape {
    /// The size of a line in bytes.
    pub fn stride(self) -> usize {
        self.encoding.bytes(self.cells as u64) as usize
    }

    /// The size of all lines in bytes.
    pub fn bytes(self) -> u64 {
        self.lines * self.stride() as u64
    }

    /// The number of a state's entry, if the last byte of each line is counted as full.
    pub fn number(self, state: State) -> u64 {
        let per_line = self.stride() as u64 * u64::from(8 / self.encoding.bits());
        state.line * per_line + state.cell as u64
    }

    /// Sets the entry of a state that was not reached before.
    pub fn set(self, data: &mut [u8], state: State, entry: u8) {
        let (byte, shift) = self.encoding.place(self.number(state));
        data[byte] = data[byte] & !(self.encoding.none() << shift) | entry << shift;
    }
}

// Errors in tables and their files. Each message is one line and says what to do.

/// An error in building or using a table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// Memory, threads, processor instructions or a file are not available.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The puzzle cannot have such a table, or the table is not for boards.
    #[error("{0}")]
    Unsuitable(String),
    /// The table, or the search that fills it, exceeds the memory limit.
    #[error("{0}")]
    Memory(String),
    /// The depth of a state is beyond the depths of the table.
    #[error("the table has no depth for '{0}': the table contains only smaller depths")]
    Beyond(String),
    /// The puzzle has no symmetries under which states could be identified.
    #[error(
        "{0} has no symmetries that would make the table smaller: leave out {symmetry}",
        symmetry = Hint::Setting("up_to_symmetry")
    )]
    NoSymmetry(String),
    /// An entry contradicts those of its neighbours.
    #[error("{0}")]
    Wrong(String),
    /// A depth exceeds the maximum of the encoding.
    #[error(
        "depth {depth} does not fit in the table, which holds depths of at most {max}: {}",
        match *max < MAX_DEPTH {
            true => format!("use {BYTES}"),
            false => format!(
                "no encoding holds more; keep fewer pieces, or count the states with {}",
                Hint::Command("bfs")
            ),
        }
    )]
    TooDeep {
        /// The depth.
        depth: usize,
        /// The maximum depth that fits.
        max: usize,
    },
    /// No path in the table leads from a state to the goal, or the table lacks states that its search has counted.
    #[error("{0}")]
    Incomplete(String),
}
