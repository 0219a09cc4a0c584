//! The header of a table file.
//!
//! Invariant: 4096 bytes, little-endian, fixed offsets (`docs/format.md`); the last eight are the XXH3-64 of
//! the others. Everything that a reader needs is in it or, of puzzles other than boards, in the definition behind
//! it, and every field that follows from others is checked against them. Boards moved one tile at a time are written
//! as version 1, all else as version 2.

use super::Encoding;
use super::shape::Shape;
use crate::bfs::Search;
use crate::perm::lehmer;
use crate::puzzle::Definition;
use crate::puzzle::tiles::{Board, Metric, Size};
use crate::store::{self, BLOCK_BYTES, Fields, FileKind, Layout};

/// Offsets of the XXH3-64 of a definition, of the goal or the definition's length and fingerprint, and of the
/// histogram.
const SUM: usize = 96;
const GOAL: usize = 104;
const HISTOGRAM: usize = 256;
/// Depths of a histogram.
const DEPTHS: usize = 255;
/// Most bytes of a definition: 1024 moves of long names.
const MAX_DEFINITION: u64 = 16 << 20;

/// What a header says of the puzzle.
#[derive(Clone, Debug)]
pub(super) enum Puzzle {
    /// A board: all of it.
    Board(Board, Metric),
    /// Another puzzle, whose definition is the index of the file.
    Defined {
        cells: usize,
        /// 1 where lines keep their parity, 2 where they do not.
        parities: u8,
        /// Bytes of the definition.
        bytes: u64,
        /// XXH3-64 of it.
        checksum: u64,
        /// [`Definition::fingerprint`].
        fingerprint: u64,
    },
}

/// What a header says.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub puzzle: Puzzle,
    pub encoding: Encoding,
    /// States per depth.
    pub histogram: Vec<u64>,
    /// XXH3-64 of the block checksums, which is a checksum of the entries.
    pub checksum: u64,
}

impl Header {
    pub fn shape(&self) -> Shape {
        let (cells, parities) = match &self.puzzle {
            // Tiles jump over an even number of others, in either metric.
            Puzzle::Board(goal, _) => (goal.size().cells(), 1),
            Puzzle::Defined {
                cells, parities, ..
            } => (*cells, *parities),
        };
        Shape {
            cells,
            lines: u64::from(parities) * lehmer::even_count(cells - 1),
            encoding: self.encoding,
        }
    }
}

impl store::Header for Header {
    const MAGIC: [u8; 8] = *b"TWTAB\r\n\x1a";
    const VERSION: u32 = 2;
    const KIND: FileKind = FileKind {
        noun: "distance table",
        make: "make it with tilewave table",
    };

    fn version(&self) -> u32 {
        match self.puzzle {
            Puzzle::Board(_, Metric::Stm) => 1,
            _ => 2,
        }
    }

    fn layout(&self) -> Layout {
        let definition = match self.puzzle {
            Puzzle::Board(..) => 0,
            Puzzle::Defined { bytes, .. } => bytes,
        };
        Layout::new(definition, self.shape().bytes(), None)
    }

    fn sums(&mut self) -> (Option<&mut u64>, &mut u64) {
        match &mut self.puzzle {
            Puzzle::Board(..) => (None, &mut self.checksum),
            Puzzle::Defined { checksum, .. } => (Some(checksum), &mut self.checksum),
        }
    }

    fn encode(&self, fields: &mut Fields) {
        let shape = self.shape();
        let encoding = match self.encoding {
            Encoding::Mod3 => 0,
            Encoding::Byte => 1,
        };
        let deepest = self.histogram.len().saturating_sub(1) as u8;
        match &self.puzzle {
            Puzzle::Board(goal, metric) => {
                let (size, metric) = (goal.size(), u8::from(*metric == Metric::Mtm));
                let bytes = [size.rows() as u8, size.cols() as u8, encoding, metric];
                fields.put(16, &bytes);
                fields.put_halves(GOAL, goal.tiles());
            }
            Puzzle::Defined {
                cells,
                parities,
                bytes,
                checksum,
                fingerprint,
            } => {
                fields.put(16, &[0, 0, encoding, 2]);
                fields.put(21, &[*cells as u8, *parities]);
                fields.put_words(SUM, &[*checksum, *bytes, *fingerprint]);
            }
        }
        fields.put(20, &[deepest]);
        let reached = self.histogram.iter().sum();
        fields.put_words(24, &[shape.stride() as u64, shape.lines, reached]);
        let Layout { sums, data, .. } = self.layout();
        let block = BLOCK_BYTES as u64;
        fields.put_words(48, &[sums.offset, sums.bytes, data.offset, data.bytes]);
        fields.put_words(80, &[block, self.checksum]);
        fields.put_words(HISTOGRAM, &self.histogram);
    }

    fn decode(fields: &Fields) -> Result<Header, &'static str> {
        let encoding = match fields.byte(18) {
            0 => Encoding::Mod3,
            1 => Encoding::Byte,
            _ => return Err("unknown encoding"),
        };
        let puzzle = match fields.byte(19) {
            0 => Puzzle::Board(goal(fields)?, Metric::Stm),
            1 => Puzzle::Board(goal(fields)?, Metric::Mtm),
            2 => defined(fields)?,
            _ => return Err("an unknown metric"),
        };
        let depths = usize::from(fields.byte(20)) + 1;
        if depths > DEPTHS {
            return Err("a depth of 255");
        }
        let counts = (0..depths).map(|i| fields.u64(HISTOGRAM + 8 * i));
        let header = Header {
            puzzle,
            encoding,
            histogram: counts.collect(),
            checksum: fields.u64(88),
        };
        let shape = header.shape();
        let mut counts = header.histogram.iter();
        let reached = counts.try_fold(0u64, |sum, &n| sum.checked_add(n));
        if reached.is_none_or(|reached| reached > shape.lines * shape.cells as u64) {
            return Err("a wrong histogram");
        }
        Ok(header)
    }
}

/// The goal of a board.
fn goal(fields: &Fields) -> Result<Board, &'static str> {
    let [rows, cols] = [16, 17].map(|at| fields.byte(at).into());
    let size = Size::new(rows, cols).map_err(|_| "no board size")?;
    if size.cells() > Search::MAX_CELLS {
        return Err("no board size");
    }
    let goal: Vec<u16> = (0..size.cells())
        .map(|i| fields.u16(GOAL + 2 * i))
        .collect();
    Board::new(size, &goal).map_err(|_| "no goal")
}

/// What is said of another puzzle.
fn defined(fields: &Fields) -> Result<Puzzle, &'static str> {
    let [cells, parities] = [21, 22].map(|at| fields.byte(at));
    let cells = usize::from(cells);
    if !(2..=Definition::MAX_POSITIONS).contains(&cells) || !(1..=2).contains(&parities) {
        return Err("no such puzzle");
    }
    let bytes = fields.u64(GOAL);
    if bytes > MAX_DEFINITION {
        return Err("too long a definition");
    }
    Ok(Puzzle::Defined {
        cells,
        parities,
        bytes,
        checksum: fields.u64(SUM),
        fingerprint: fields.u64(GOAL + 8),
    })
}
