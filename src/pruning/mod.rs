//! Pruning tables: the distance of every state of a projection of a puzzle, which is a lower bound for states of the
//! puzzle.
//!
//! A projection ([`Puzzle::keeping`](crate::puzzle::Puzzle::keeping) and similar methods) has few
//! enough states for a table of all of them. [`PruningTable::build`] writes the depth of every state at the position
//! given by its number: by `blocks` if pieces have orientations, otherwise by rows or from a list search (`fill`).
//! `puzzle::ranking` and, up to symmetry, `numbers` define the numbers; `row_rank` computes those of states of the full
//! puzzle, also through its symmetries. The entries while they are written, and the header of a file, are here.
//!
//! Invariant: an entry is the minimum number of moves from its state to the solved state, or that number modulo 3.

pub(crate) mod blocks;
pub(crate) mod colouring;
pub(crate) mod cosets;
pub(crate) mod fill;
pub(crate) mod numbers;
pub(crate) mod points;
pub(crate) mod row_rank;
pub(crate) mod table;

use std::{
    array::from_fn,
    sync::atomic::{AtomicU8, Ordering},
    time::Instant,
};

use crate::{
    hint::BUILD_PRUNING,
    progress::{LevelDone, Progress, go_on},
    store::{self, Fields, SectionLayout},
    system::FileKind,
    table::{TableEncoding, TableError},
};

pub use crate::pruning::{cosets::CosetTable, table::PruningTable};

/// Goes through the levels of a search that writes the depths of states to a table; returns the number of states at
/// each depth. `level(depth, entry)` returns the number of states of a level; if their depth fits in an entry, it
/// writes it.
pub(crate) fn each_level(
    encoding: TableEncoding,
    progress: &dyn Progress,
    mut level: impl FnMut(usize, Option<u8>) -> u64,
) -> Result<Vec<u64>, TableError> {
    let mut histogram = Vec::new();
    progress.started(u64::MAX);
    for depth in 0.. {
        let (begun, entry) = (Instant::now(), encoding.entry(depth));
        let states = level(depth, entry.as_ref().ok().copied());
        go_on(progress)?;
        if states == 0 {
            break;
        }
        entry?;
        progress.level(&LevelDone { depth, states, seconds: begun.elapsed().as_secs_f64() });
        histogram.push(states);
    }
    Ok(histogram)
}

// The header of a pruning table file.
//
// Invariant: 4096 bytes, little-endian, fixed offsets (`docs/format.md`); the puzzle follows as JSON. Everything that
// follows from the puzzle is checked against it.

/// Offsets of the fields that differ between files.
const SUM: usize = 96;
const NAME: usize = 104;
/// Maximum size of a puzzle in bytes.
const MAX_PUZZLE: u64 = 16 << 20;

/// The entries of a table while they are being written. All bits of unwritten entries are set.
#[derive(Clone, Copy)]
pub(crate) struct Entries<'e> {
    pub bytes: &'e [AtomicU8],
    pub encoding: TableEncoding,
}

impl<'e> Entries<'e> {
    #[inline(always)]
    pub fn get(self, number: u64) -> u8 {
        let (byte, shift) = self.encoding.place(number);
        self.bytes[byte].load(Ordering::Relaxed) >> shift & self.encoding.none()
    }

    /// The byte of an unwritten entry, and the bits of it that remain set when a value is written.
    #[inline(always)]
    pub fn unwritten(self, number: u64, value: u8) -> (&'e AtomicU8, u8) {
        let (byte, shift) = self.encoding.place(number);
        (&self.bytes[byte], !((self.encoding.none() ^ value) << shift))
    }

    /// Writes an entry; returns whether it was empty.
    #[inline(always)]
    pub fn set(self, number: u64, value: u8) -> bool {
        let (none, (byte, shift)) = (self.encoding.none(), self.encoding.place(number));
        let before = self.bytes[byte].fetch_and(!((none ^ value) << shift), Ordering::Relaxed);
        before >> shift & none == none
    }

    /// Collects those of `count` entries that have a value.
    pub fn with(self, first: u64, count: u64, value: u8, found: &mut Vec<u32>) {
        found.clear();
        let bits = self.encoding.bits();
        let (each, lowest) = (u64::from(64 / bits), u64::MAX / u64::from(self.encoding.none()));
        let mut word = first / each;
        while word * each < first + count {
            let byte = |i: usize| {
                self.bytes.get(word as usize * 8 + i).map_or(0, |b| b.load(Ordering::Relaxed))
            };
            // In entries with the value, first all bits are set, then only their lowest.
            let mut same = u64::from_le_bytes(from_fn(byte)) ^ !(lowest * u64::from(value));
            for by in [1, 2, 4].into_iter().filter(|by| *by < bits) {
                same &= same >> by;
            }
            same &= lowest;
            while same != 0 {
                let number = word * each + u64::from(same.trailing_zeros() / bits);
                same &= same - 1;
                if (first..first + count).contains(&number) {
                    found.push((number - first) as u32);
                }
            }
            word += 1;
        }
    }
}

/// The contents of a header.
#[derive(Clone, Debug)]
pub struct PruningHeader {
    pub(crate) encoding: TableEncoding,
    pub(crate) entries: u64,
    /// The number of states at each depth.
    pub(crate) histogram: Vec<u64>,
    /// Size of the puzzle in bytes, including its name and the description of the numbers.
    pub(crate) puzzle: u64,
    pub(crate) name: u64,
    /// Size in bytes of the description of numbers up to symmetry, 0 if each arrangement has its own number.
    pub(crate) numbers: u64,
    /// XXH3-64 of the puzzle and of the block checksums.
    pub(crate) puzzle_sum: u64,
    pub(crate) checksum: u64,
}

impl store::FileHeader for PruningHeader {
    const MAGIC: [u8; 8] = store::container::PRUNING.0;
    const VERSION: u32 = 2;
    const KIND: FileKind = FileKind { noun: "pruning table", build: Some(BUILD_PRUNING) };

    fn version(&self) -> u32 {
        1 + u32::from(self.numbers > 0)
    }

    fn layout(&self) -> SectionLayout {
        SectionLayout::new(self.puzzle, self.encoding.bytes(self.entries), None)
    }

    fn contents(&self) -> (&[u64], u64) {
        (&self.histogram, self.checksum)
    }

    fn sums(&mut self) -> (Option<&mut u64>, &mut u64) {
        (Some(&mut self.puzzle_sum), &mut self.checksum)
    }

    fn encode(&self, fields: &mut Fields) {
        fields.put(16, &[self.encoding.bits() as u8]);
        let states = fields.put_histogram(17, &self.histogram);
        fields.put_words(24, &[self.entries, states]);
        fields.put_table(self.layout(), self.checksum);
        fields.put_words(SUM, &[self.puzzle_sum]);
        fields.put_words(NAME, &[self.name, self.puzzle, self.numbers]);
    }

    fn decode(fields: &Fields) -> Result<PruningHeader, &'static str> {
        let is_meant = |encoding: &TableEncoding| encoding.bits() == u32::from(fields.byte(16));
        let encoding = TableEncoding::ALL.into_iter().find(is_meant).ok_or("unknown encoding")?;
        let (histogram, states) = fields.histogram(17)?;
        let entries = fields.u64(24);
        let [name, puzzle, numbers] = [NAME, NAME + 8, NAME + 16].map(|at| fields.u64(at));
        if entries == 0 || entries > 1 << 62 || states > entries && numbers == 0 {
            return Err("wrong histogram");
        }
        if puzzle > MAX_PUZZLE || name > puzzle || numbers > puzzle - name {
            return Err("the puzzle definition is too long");
        }
        let [puzzle_sum, checksum] = [SUM, 88].map(|at| fields.u64(at));
        Ok(PruningHeader {
            encoding,
            entries,
            histogram,
            puzzle,
            name,
            numbers,
            puzzle_sum,
            checksum,
        })
    }
}
