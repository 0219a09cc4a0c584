//! The header of a table file.
//!
//! Invariant: 4096 bytes, little-endian, fixed offsets (`docs/format.md`); the last eight are the XXH3-64 of
//! the others. Everything that a reader needs is in it, and every field that follows from others is
//! checked against them.

use super::Encoding;
use super::shape::Shape;
use crate::bfs::Search;
use crate::puzzle::tiles::{Board, Size};
use crate::store::{self, BLOCK_BYTES, Fields, FileKind, Layout};

/// Offset of the goal and of the histogram.
const GOAL: usize = 104;
const HISTOGRAM: usize = 256;
/// Depths of a histogram.
const DEPTHS: usize = 255;

/// What a header says.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub goal: Board,
    pub encoding: Encoding,
    /// States per depth.
    pub histogram: Vec<u64>,
    /// XXH3-64 of the block checksums, which is a checksum of the entries.
    pub checksum: u64,
}

impl Header {
    pub fn shape(&self) -> Shape {
        Shape {
            size: self.goal.size(),
            encoding: self.encoding,
        }
    }
}

impl store::Header for Header {
    const MAGIC: [u8; 8] = *b"TWTAB\r\n\x1a";
    const VERSION: u32 = 1;
    const KIND: FileKind = FileKind {
        noun: "distance table",
        make: "make it with tilewave table",
    };

    fn layout(&self) -> Layout {
        Layout::new(0, self.shape().bytes(), None)
    }

    fn sums(&mut self) -> (Option<&mut u64>, &mut u64) {
        (None, &mut self.checksum)
    }

    fn encode(&self, fields: &mut Fields) {
        let shape = self.shape();
        let encoding = match self.encoding {
            Encoding::Mod3 => 0,
            Encoding::Byte => 1,
        };
        let bytes = [
            shape.size.rows() as u8,
            shape.size.cols() as u8,
            encoding,
            0, // metric: one tile by one cell
            self.histogram.len().saturating_sub(1) as u8,
        ];
        fields.put(16, &bytes);
        let reached = self.histogram.iter().sum();
        fields.put_words(24, &[shape.stride() as u64, shape.lines(), reached]);
        let Layout { sums, data, .. } = self.layout();
        let block = BLOCK_BYTES as u64;
        fields.put_words(48, &[sums.offset, sums.bytes, data.offset, data.bytes]);
        fields.put_words(80, &[block, self.checksum]);
        fields.put_halves(GOAL, self.goal.tiles());
        fields.put_words(HISTOGRAM, &self.histogram);
    }

    fn decode(fields: &Fields) -> Result<Header, &'static str> {
        let [rows, cols] = [16, 17].map(|at| fields.byte(at).into());
        let size = Size::new(rows, cols).map_err(|_| "no board size")?;
        if size.cells() > Search::MAX_CELLS {
            return Err("no board size");
        }
        let goal: Vec<u16> = (0..size.cells())
            .map(|i| fields.u16(GOAL + 2 * i))
            .collect();
        let goal = Board::new(size, &goal).map_err(|_| "no goal")?;
        let encoding = match fields.byte(18) {
            0 => Encoding::Mod3,
            1 => Encoding::Byte,
            _ => return Err("unknown encoding"),
        };
        let depths = usize::from(fields.byte(20)) + 1;
        if depths > DEPTHS {
            return Err("a depth of 255");
        }
        let counts = (0..depths).map(|i| fields.u64(HISTOGRAM + 8 * i));
        let header = Header {
            goal,
            encoding,
            histogram: counts.collect(),
            checksum: fields.u64(88),
        };
        let states = header.shape().lines() * size.cells() as u64;
        let mut counts = header.histogram.iter();
        let reached = counts.try_fold(0u64, |sum, &n| sum.checked_add(n));
        if reached.is_none_or(|reached| reached > states) {
            return Err("a wrong histogram");
        }
        Ok(header)
    }
}
