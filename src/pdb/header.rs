//! The header of a database file.
//!
//! Invariant: 4096 bytes, little-endian, fixed offsets (`docs/format.md`); the last eight bytes are the XXH3-64 of the
//! others. The header contains everything that a reader needs: board, goal, tiles, kind, encoding, counts, the
//! positions of the sections and their checksums.

use crate::{
    pdb::Pattern,
    perm::{lehmer, placement::binomial},
    puzzle::{Board, Size},
    store::{self, BLOCK_BYTES, Fields, FileHeader as _, SectionLayout},
    system::FileKind,
    units::names,
};

/// Number of values in a histogram: those of one byte.
const VALUES: usize = 256;

const GOAL_CELLS: usize = Pattern::MAX_SIDE * Pattern::MAX_SIDE;

/// The description of a database in its file header.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// The pattern.
    pub pattern: Pattern,
    /// The kind of the values.
    pub kind: Kind,
    /// The encoding of the values.
    pub encoding: Encoding,
    /// Whether the entries are compressed, as zstd frames.
    pub compressed: bool,
    /// The number of entries.
    pub entries: u64,
    /// The number of entries with each value.
    pub histogram: Vec<u64>,
    /// The checksum of the entries: XXH3-64 of the section of block checksums.
    pub checksum: u64,
    /// XXH3-64 of the section of region starts.
    pub(crate) starts_checksum: u64,
    /// The size of the data section in the file, in bytes.
    pub(crate) stored_bytes: u64,
}

impl Summary {
    /// The size of the data before compression, in bytes.
    pub(crate) fn raw_bytes(&self) -> u64 {
        raw_bytes(self.entries, self.encoding)
    }

    /// Returns the size of the file in bytes.
    pub fn file_bytes(&self) -> u64 {
        self.layout().data.end()
    }

    /// Returns the largest value.
    pub fn maximum(&self) -> u8 {
        (self.histogram.len() - 1) as u8
    }

    /// Returns the mean of all values.
    pub fn mean(&self) -> f64 {
        let (mut sum, mut count) = (0u128, 0u128);
        for (value, &entries) in self.histogram.iter().enumerate() {
            sum += value as u128 * u128::from(entries);
            count += u128::from(entries);
        }
        sum as f64 / count.max(1) as f64
    }
}

impl store::FileHeader for Summary {
    const MAGIC: [u8; 8] = store::container::DATABASE.0;
    const VERSION: u32 = 1;
    const KIND: FileKind =
        FileKind { noun: "tilewave pattern database", make: "build one with tilewave pdb build" };

    fn layout(&self) -> SectionLayout {
        let sets = binomial(self.pattern.size().cells(), self.pattern.tiles().len());
        // The number of regions of all preceding sets, 32 bits per set, and the total.
        let starts = match self.kind {
            Kind::Minimum | Kind::AllMoves => 0,
            Kind::Regions => 4 * (sets + 1),
        };
        let compressed = self.compressed.then_some(self.stored_bytes);
        SectionLayout::new(starts, self.raw_bytes(), compressed)
    }

    fn sums(&mut self) -> (Option<&mut u64>, &mut u64) {
        (Some(&mut self.starts_checksum), &mut self.checksum)
    }

    fn encode(&self, fields: &mut Fields) {
        let size = self.pattern.size();
        let tiles = self.pattern.tiles();
        let (kind, order, metric) = match self.kind {
            Kind::Minimum => (0, 0, 0),
            Kind::Regions => (1, 1, 0),
            Kind::AllMoves => (2, 0, 1),
        };
        let encoding = match self.encoding {
            Encoding::Byte => 0,
            Encoding::Bit => 2,
        };
        let bytes = [
            size.rows() as u8,
            size.cols() as u8,
            tiles.len() as u8,
            kind,
            encoding,
            u8::from(self.compressed),
            metric,
            order,
            self.histogram.len().saturating_sub(1) as u8,
        ];
        fields.put(16, &bytes);
        let reached = self.histogram.iter().sum();
        fields.put_words(32, &[self.entries, self.pattern.placements(), reached]);
        let layout = self.layout();
        for (i, section) in layout.sections().iter().enumerate() {
            fields.put_words(56 + 16 * i, &[section.offset, section.bytes]);
        }
        let block = BLOCK_BYTES as u64;
        fields.put_words(120, &[layout.raw, block, self.starts_checksum, self.checksum]);
        fields.put_halves(152, self.pattern.goal().tiles());
        fields.put_halves(224, tiles);
        fields.put(240, self.pattern.home());
        fields.put_words(256, &self.histogram);
    }

    fn retired(fields: &Fields) -> Option<&'static str> {
        (fields.byte(20) == 1).then_some(
            "with four bits per entry, a format that only tilewave 0.1.0 and earlier wrote and read",
        )
    }

    fn decode(fields: &Fields) -> Result<Summary, &'static str> {
        let [rows, cols] = [16, 17].map(|at| fields.byte(at).into());
        let size = Size::new(rows, cols).map_err(|_| "invalid board size")?;
        if size.cells() > GOAL_CELLS {
            return Err("invalid board size");
        }
        let goal: Vec<u16> = (0..size.cells()).map(|i| fields.u16(152 + 2 * i)).collect();
        let goal = Board::new(size, &goal).map_err(|_| "invalid goal")?;
        let k = usize::from(fields.byte(18));
        if k > Pattern::MAX_TILES {
            return Err("too many tiles");
        }
        let tiles: Vec<u16> = (0..k).map(|i| fields.u16(224 + 2 * i)).collect();
        let kind = match [19, 23, 22].map(|at| fields.byte(at)) {
            [0, 0, 0] => Kind::Minimum,
            [1, 1, 0] => Kind::Regions,
            [2, 0, 1] => Kind::AllMoves,
            _ => return Err("unknown kind, entry order or metric"),
        };
        let pattern = Pattern::of(goal, &tiles).map_err(|_| "invalid pattern")?;
        if pattern.has_blank() != (kind == Kind::AllMoves) {
            return Err("invalid pattern");
        }
        let encoding = match fields.byte(20) {
            0 => Encoding::Byte,
            2 => Encoding::Bit,
            _ => return Err("unknown encoding"),
        };
        if !kind.encodings().contains(&encoding) {
            return Err("the encoding does not match the kind");
        }
        let values = usize::from(fields.byte(24)) + 1;
        if values >= VALUES {
            return Err("invalid maximum value");
        }
        let header = Summary {
            kind,
            encoding,
            compressed: fields.byte(21) == 1,
            entries: fields.u64(32),
            histogram: (0..values).map(|i| fields.u64(256 + 8 * i)).collect(),
            checksum: fields.u64(144),
            starts_checksum: fields.u64(136),
            stored_bytes: fields.u64(112),
            pattern,
        };
        header.check()?;
        Ok(header)
    }
}

impl Summary {
    /// Checks that the counts are consistent.
    fn check(&self) -> Result<(), &'static str> {
        let arrangements = lehmer::count(self.pattern.tiles().len());
        let good = match self.kind {
            Kind::Minimum | Kind::AllMoves => self.entries == self.pattern.placements(),
            Kind::Regions => {
                self.entries.is_multiple_of(arrangements)
                    && self.entries >= self.pattern.placements()
                    && self.entries <= 8 * self.pattern.placements()
            }
        };
        if !good {
            return Err("wrong number of entries");
        }
        let mut counts = self.histogram.iter();
        let reached = counts.try_fold(0u64, |sum, &n| sum.checked_add(n));
        if reached.is_none_or(|reached| reached > self.entries) {
            return Err("wrong histogram");
        }
        let limit = self.raw_bytes();
        if !self.compressed && self.stored_bytes != limit || self.stored_bytes > 2 * limit + 4096 {
            return Err("wrong data length");
        }
        Ok(())
    }
}

/// Returns the size in bytes of a number of entries.
pub(crate) fn raw_bytes(entries: u64, encoding: Encoding) -> u64 {
    match encoding {
        Encoding::Byte => entries,
        Encoding::Bit => entries.div_ceil(8),
    }
}

// The meaning of the values in a database, and how they are stored.

/// The kind of value that an entry of a database holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One value per placement of the tiles: the minimum over all positions of the blank (Korf and Felner). Admissible,
    /// not consistent: a move may change it by more than one.
    Minimum,
    /// One value per placement and connected region of the blank: at least as large as the minimum, and consistent
    /// (Clausecker and Reinefeld).
    Regions,
    /// One value per placement of the tiles and the blank, which is the pattern's tile 0: the minimum number of moves
    /// of any tiles. Consistent, not additive: several such values are combined by their maximum (Culberson and
    /// Schaeffer 1998).
    AllMoves,
}

names! { Kind:
    "additive-min" = Minimum, "One value per placement: the minimum over all positions of the blank";
    "region-aware" = Regions, "One value per placement and region of the blank";
    "all-moves" = AllMoves, "One value per placement and blank cell, counting every move; not \
                             additive; for five to seven tiles";
}

/// How values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// One byte per entry.
    Byte,
    /// One bit per entry, for region-aware values only: (value div 2) mod 2. Together with the parity of the cells, it
    /// determines whether a neighbour's value is larger or smaller, so that values can be updated along a path, or
    /// computed by walking to the goal.
    Bit,
}

names! { Encoding:
    "byte" = Byte, "One byte per entry";
    "bit" = Bit, "One bit per entry, for region-aware values only: (value div 2) mod 2";
}

impl Kind {
    /// Returns the encodings that can hold values of this kind.
    pub fn encodings(self) -> &'static [Encoding] {
        match self {
            // Values of neighbours may differ by any odd number, which a single bit cannot encode.
            Kind::Minimum => &[Encoding::Byte],
            Kind::Regions => &Encoding::ALL,
            Kind::AllMoves => &[Encoding::Byte],
        }
    }
}
