//! The file of a database: its header, and its compression for distribution.
//!
//! A build writes a [`Summary`], which [`inspect`] reads from a file, compressed or not. [`compress`] makes a file from
//! a file; `database` reads either form.

use std::{io::Write, path::Path};

use crate::{
    hint::BUILD_DATABASE,
    pdb::{Pattern, PdbError},
    perm::{lehmer, placement::binomial},
    progress::{Meter, Phase, Progress},
    store::{self, BLOCK_BYTES, Container, Fields, FileHeader as _, Output, SectionLayout},
    system::{FileKind, SystemError},
    threads::map_numbers,
    units::names,
};

// The header of a database file.
//
// Invariant: 4096 bytes, little-endian, fixed offsets (`docs/format.md`); the last eight bytes are the XXH3-64 of the
// others. The header contains everything that a reader needs: board, goal, tiles, kind, encoding, counts, the
// positions of the sections and their checksums.

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
        FileKind { noun: "tilewave pattern database", build: Some(BUILD_DATABASE) };

    fn unpacked(&self) -> Summary {
        let stored_bytes = self.encoding.bytes(self.entries);
        Summary { compressed: false, stored_bytes, ..self.clone() }
    }

    fn layout(&self) -> SectionLayout {
        let sets = binomial(self.pattern.size().cells(), self.pattern.tiles().len());
        // The number of regions of all preceding sets, 32 bits per set, and the total.
        let starts = match self.kind {
            Kind::Minimum | Kind::AllMoves => 0,
            Kind::Regions => 4 * (sets + 1),
        };
        let compressed = self.compressed.then_some(self.stored_bytes);
        SectionLayout::new(starts, self.encoding.bytes(self.entries), compressed)
    }

    fn contents(&self) -> (&[u64], u64) {
        (&self.histogram, self.checksum)
    }

    fn sums(&mut self) -> (Option<&mut u64>, &mut u64) {
        (Some(&mut self.starts_checksum), &mut self.checksum)
    }

    fn encode(&self, fields: &mut Fields) {
        let size = self.pattern.size();
        let tiles = self.pattern.tiles();
        let [kind, order, metric] = self.kind.code();
        let bytes = [
            size.rows() as u8,
            size.cols() as u8,
            tiles.len() as u8,
            kind,
            self.encoding as u8,
            u8::from(self.compressed),
            metric,
            order,
        ];
        fields.put(16, &bytes);
        let reached = fields.put_histogram(24, &self.histogram);
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
    }

    fn retired(fields: &Fields) -> Option<&'static str> {
        (fields.byte(20) == 1).then_some(
            "with four bits per entry, a format that only tilewave 0.1.0 and earlier versions \
             support",
        )
    }

    fn decode(fields: &Fields) -> Result<Summary, &'static str> {
        let goal = fields.board(152, GOAL_CELLS)?;
        let k = usize::from(fields.byte(18));
        if k > Pattern::MAX_TILES {
            return Err("too many tiles");
        }
        let tiles: Vec<u16> = (0..k).map(|i| fields.u16(224 + 2 * i)).collect();
        let code = [19, 23, 22].map(|at| fields.byte(at));
        let kind = Kind::ALL.into_iter().find(|kind| kind.code() == code);
        let kind = kind.ok_or("unknown kind, entry order or metric")?;
        let pattern = Pattern::of(goal, &tiles).ok();
        let pattern = pattern.filter(|of| of.has_blank() == (kind == Kind::AllMoves));
        let pattern = pattern.ok_or("invalid pattern")?;
        let encoding = Encoding::ALL.into_iter().find(|&of| of as u8 == fields.byte(20));
        let encoding = encoding.ok_or("unknown encoding")?;
        if !kind.encodings().contains(&encoding) {
            return Err("the encoding does not match the kind");
        }
        let (histogram, reached) = fields.histogram(24)?;
        let header = Summary {
            kind,
            encoding,
            compressed: fields.byte(21) == 1,
            entries: fields.u64(32),
            histogram,
            checksum: fields.u64(144),
            starts_checksum: fields.u64(136),
            stored_bytes: fields.u64(112),
            pattern,
        };
        let (entries, placements) = (header.entries, header.pattern.placements());
        let good = match kind {
            Kind::Minimum | Kind::AllMoves => entries == placements,
            Kind::Regions => {
                entries.is_multiple_of(lehmer::count(k))
                    && (placements..=8 * placements).contains(&entries)
            }
        };
        if !good {
            return Err("wrong number of entries");
        }
        if reached > entries {
            return Err("wrong histogram");
        }
        let (stored, limit) = (header.stored_bytes, encoding.bytes(entries));
        if !header.compressed && stored != limit || stored > 2 * limit + 4096 {
            return Err("wrong data length");
        }
        Ok(header)
    }
}

// The meaning of the values in a database, and how they are stored.

/// The kind of value that an entry of a database holds.
// The numbers are those in files: they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One value per placement of the tiles: the minimum over all positions of the blank (Korf and Felner). Admissible,
    /// not consistent: a move may change it by more than one.
    Minimum = 0,
    /// One value per placement and connected region of the blank: at least as large as the minimum, and consistent
    /// (Clausecker and Reinefeld).
    Regions = 1,
    /// One value per placement of the tiles and the blank, which is the pattern's tile 0: the minimum number of moves
    /// of any tiles. Consistent, not additive: several such values are combined by their maximum (Culberson and
    /// Schaeffer 1998).
    AllMoves = 2,
}

names! { Kind:
    "additive-min" = Minimum, "One value per placement: the minimum over all positions of the blank";
    "region-aware" = Regions, "One value per placement and region of the blank";
    "all-moves" = AllMoves, "One value per placement and blank cell, counting every move; not \
                             additive; for five to seven tiles";
}

/// How values are stored.
// The numbers are those in files: they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// One byte per entry.
    Byte = 0,
    /// One bit per entry, for region-aware values only: (value div 2) mod 2. Together with the parity of the cells, it
    /// determines whether a neighbour's value is larger or smaller, so that values can be updated along a path, or
    /// computed by walking to the goal.
    Bit = 2,
}

names! { Encoding:
    "byte" = Byte, "One byte per entry";
    "bit" = Bit, "One bit per entry, for region-aware values only: (value div 2) mod 2";
}

impl Encoding {
    /// The number of bits of an entry.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Encoding::Byte => 8,
            Encoding::Bit => 1,
        }
    }

    /// The size in bytes of a number of entries.
    pub(crate) fn bytes(self, entries: u64) -> u64 {
        entries.div_ceil(u64::from(8 / self.bits()))
    }
}

impl Kind {
    /// Returns the encodings that can hold values of this kind.
    pub fn encodings(self) -> &'static [Encoding] {
        match self {
            // Values of neighbours may differ by any odd number, which a single bit cannot encode.
            Kind::Minimum | Kind::AllMoves => &[Encoding::Byte],
            Kind::Regions => &Encoding::ALL,
        }
    }

    /// The kind, entry order and metric in a file's header. (The encoding is in it as its own number.)
    fn code(self) -> [u8; 3] {
        [self as u8, u8::from(self == Kind::Regions), u8::from(self == Kind::AllMoves)]
    }
}

// Compression of databases for distribution, and the description in a file's header.
//
// Invariant: loading and saving restores exactly the file that was compressed, checksums included.

/// Compression level: 9 reduces the 4x4 table of {1..7} to a third of its size, at 20 MB/s.
const LEVEL: i32 = 9;

/// Writes a compressed copy of a database file, in independent zstd frames of 1 MiB of data each, and returns its size
/// in bytes. Loading and saving the copy restores the file.
///
/// Cost: 50 ns of one core per byte, using all threads of the current pool; memory for the compressed file.
///
/// # Errors
/// [`PdbError`] if the file is damaged or already compressed, if writing fails, or if the observer stops the work.
pub fn compress(
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
    replace: bool,
    observer: &dyn Progress,
) -> Result<u64, PdbError> {
    let (from, to) = (from.as_ref(), to.as_ref());
    let file = Container::<Summary>::open(from)?;
    if file.header.compressed {
        let words = format!("'{}' is already compressed: use the file as it is", from.display());
        return Err(PdbError::Place(words));
    }
    let meter = Meter::new(observer, Phase::File, 0, file.layout.raw);
    let frames = map_numbers(file.layout.blocks() as usize, &|block| {
        let block = file.block(block)?;
        let frame = zstd::bulk::compress(&block, LEVEL);
        let frame = frame.map_err(SystemError::io("cannot compress", from))?;
        meter.add(block.len() as u64)?;
        Ok(frame)
    });
    let frames: Vec<Vec<u8>> = frames.into_iter().collect::<Result<_, PdbError>>()?;
    let stored_bytes = frames.iter().map(|frame| frame.len() as u64).sum();
    let header = Summary { compressed: true, stored_bytes, ..file.header.clone() };
    let layout = header.layout();
    let mut front = vec![0; layout.data.offset as usize];
    file.write_front(&header, &mut front);
    let mut end = 0;
    let ends = layout.frames.of_mut(&mut front).as_chunks_mut().0;
    for (slot, frame) in ends.iter_mut().zip(&frames) {
        end += frame.len() as u64;
        *slot = end.to_le_bytes();
    }
    let mut output = Output::create(to, replace)?;
    for part in [&front].into_iter().chain(&frames) {
        output.write_all(part).map_err(store::failed(to))?;
    }
    output.finish()?;
    Ok(layout.data.end())
}

/// Returns the header of a file, compressed or not: the description of the database without its entries. Same errors as
/// [`crate::pdb::Pdb::open`].
pub fn inspect(path: impl AsRef<Path>) -> Result<Summary, PdbError> {
    Ok(Container::open(path.as_ref())?.header)
}
