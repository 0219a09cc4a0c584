//! A database: a table of values and its description, with one byte or one bit per entry.
//!
//! Builds make a [`Pdb`], [`Pdb::load`] and [`Pdb::open`] read one, and [`Pdb::value`] looks up a board; [`encode`]
//! makes a table with fewer bits. `solve` reads the bytes itself and computes values from bits with [`after`].
//!
//! Invariant: memory holds exactly the bytes of the file, header first; a file's entries are checked before anything
//! depends on them.

use crate::{
    hint::BYTES,
    pdb::{Encoding, EntryOrder, Kind, Pattern, PdbError, Summary, UNREACHED},
    perm::{bits, set_of},
    puzzle::Board,
    store::{Container, FileHeader as _, Image, TableFile, TableKind, place},
    system::SystemError,
    threads::each_part,
};

/// An additive pattern database.
///
/// ```
/// use tilewave::pdb::{Build, Pattern};
/// use tilewave::puzzle::{Board, Goal, Size};
/// let goal = Goal::Last.board(Size::new(3, 3)?)?;
/// let pdb = Build::new(Pattern::new(goal, &[1, 2, 3, 4])?).run()?;
/// assert_eq!(pdb.entries(), 9 * 8 * 7 * 6);
/// let board = Board::parse("8 6 7/2 5 4/3 0 1", None)?;
/// let value = pdb.value(&board)?.unwrap();
/// assert!(u32::from(value) >= pdb.pattern().manhattan(&pdb.pattern().cells(&board)?));
/// # Ok::<(), tilewave::Error>(())
/// ```
pub type Pdb = TableFile<PatternValues>;

/// What the lookups of a database need: the order of its entries.
pub struct PatternValues(EntryOrder);

impl TableKind for PatternValues {
    type Header = Summary;

    fn of(file: &Container<Summary>) -> Result<PatternValues, SystemError> {
        Ok(PatternValues(EntryOrder::new(&file.header.pattern, file.header.kind)))
    }

    #[inline]
    fn bits(header: &Summary) -> u32 {
        header.encoding.bits()
    }
}

impl Pdb {
    /// Returns the pattern.
    pub fn pattern(&self) -> &Pattern {
        &self.summary().pattern
    }

    /// Returns the kind of the values.
    pub fn kind(&self) -> Kind {
        self.summary().kind
    }

    /// Returns the encoding of the values.
    pub fn encoding(&self) -> Encoding {
        self.summary().encoding
    }

    /// Returns the number of entries.
    pub fn entries(&self) -> u64 {
        self.summary().entries
    }

    /// Returns the largest value.
    pub fn maximum(&self) -> u8 {
        self.summary().maximum()
    }

    /// Returns the mean of all values.
    pub fn mean(&self) -> f64 {
        self.summary().mean()
    }

    /// Returns the entries as they are stored: one byte each, or, with one bit per entry, eight in a byte, the first in
    /// the lowest bit. Empty if the database was opened but not loaded.
    pub fn bytes(&self) -> &[u8] {
        self.file.data()
    }

    /// Returns the description of the database in its header.
    pub fn summary(&self) -> &Summary {
        &self.file.header
    }

    /// Fails for a database that was opened to look up a few boards.
    pub(crate) fn loaded(&self) -> Result<(), PdbError> {
        match self.file.is_whole() {
            true => Ok(()),
            false => Err(PdbError::unsuitable(format!(
                "'{}' was opened only to look up a few boards: load the whole file instead",
                self.file.path.display()
            ))),
        }
    }

    /// Returns the entry order.
    pub fn entry_order(&self) -> &EntryOrder {
        &self.of.0
    }

    /// Returns the number of regions of all sets that precede a set (region-aware tables).
    #[inline]
    pub(crate) fn start(&self, set: usize) -> u32 {
        let word = self.file.index().get(4 * set..);
        let word = word.and_then(|bytes| bytes.first_chunk().copied());
        u32::from_le_bytes(word.unwrap_or_default())
    }

    /// Returns the entry of a placement, given the tiles' cells in the order of [`Pattern::tiles`] and the blank's
    /// cell, which matters in region-aware tables only.
    ///
    /// The cells must be distinct and on the board; otherwise the entry is meaningless.
    #[inline]
    pub fn entry(&self, cells: &[u8], blank: u8) -> u64 {
        self.of.0.entry(cells, blank, |set| self.start(set))
    }

    /// The slot of a set and the region of a cell; each slot has k! entries (region-aware tables).
    pub(crate) fn slot(&self, set: u64, blank: u8) -> u64 {
        self.of.0.slot_of(set, blank, |set| self.start(set))
    }

    /// Returns the value of a placement, or `None` if it occurs in no board with the goal's parity. The cells are those
    /// of [`Pdb::entry`].
    ///
    /// Cost: computing the entry's number (about 2 ns for eight tiles) and one memory access; with one bit per entry, a
    /// walk to the goal with about ten accesses per move of its tiles: see [`Pdb::lookup_after`].
    ///
    /// # Panics
    /// If the database was opened but not loaded.
    #[inline]
    pub fn lookup(&self, cells: &[u8], blank: u8) -> Option<u8> {
        self.at(self.entry(cells, blank), cells, blank)
    }

    /// Returns the value of an entry, given the cells of its tiles and of the blank, which some encodings need.
    #[inline]
    pub(crate) fn at(&self, entry: u64, cells: &[u8], blank: u8) -> Option<u8> {
        let byte = |entry| self.bytes().get(self.byte_of(entry)).copied();
        let read = |entry| byte(entry).ok_or_else(|| self.beyond());
        self.decode(entry, cells, blank, read).ok().flatten()
    }

    /// The index of the byte that contains an entry.
    fn byte_of(&self, entry: u64) -> usize {
        place(self.encoding().bits(), entry).0
    }

    /// Panics if the database was opened but not loaded.
    #[cold]
    fn beyond(&self) {
        assert!(self.file.is_whole(), "a database is loaded before placements are looked up");
    }

    /// The value of an entry; `read` returns the byte in which an entry is stored.
    #[inline]
    fn decode<E>(
        &self,
        entry: u64,
        cells: &[u8],
        blank: u8,
        mut read: impl FnMut(u64) -> Result<u8, E>,
    ) -> Result<Option<u8>, E> {
        Ok(match self.encoding() {
            Encoding::Byte => Some(read(entry)?).filter(|&byte| byte != UNREACHED),
            Encoding::Bit => {
                self.descend(cells, blank, |entry| Ok(read(entry)? >> (entry % 8) & 1))?
            }
        })
    }

    /// Returns the value of a board: a lower bound on the number of moves of the pattern's tiles; `None` if the board
    /// cannot reach the goal.
    ///
    /// # Errors
    /// [`PdbError::Unsuitable`] for boards of a different size.
    pub fn value(&self, board: &Board) -> Result<Option<u8>, PdbError> {
        let cells = self.pattern().cells(board)?;
        let blank = board.blank() as u8;
        self.decode(self.entry(&cells, blank), &cells, blank, |entry| {
            let byte = self.file.byte(self.byte_of(entry) as u64)?;
            // The entries of a checked file are inside it; others have no value.
            Ok(byte.unwrap_or(UNREACHED))
        })
    }
}

// One bit per entry: values are determined from a neighbour's value, or counted on a walk to the goal.
//
// Invariant: every move of a pattern tile changes a region-aware value by one, and changes the colour of the set of
// cells. So the lowest bit of the value is the colour relative to the goal's; together with the second bit, which is
// in the table, it gives the value modulo 4, which determines which of two neighbours is closer to the goal. An entry
// that no board reaches has the bit 0, and so do all entries that can be reached from it; a walk from there ends after
// at most one step, because the value below 0 would be 3.

/// Returns the same table in a different encoding.
///
/// Cost: 0.1 ns per entry, and memory for the new table.
///
/// # Errors
/// [`PdbError::Unsuitable`] if the encoding cannot hold the kind, or if the table has one bit per entry.
pub fn encode(pdb: &Pdb, encoding: Encoding) -> Result<Pdb, PdbError> {
    let old = pdb.summary();
    if !old.kind.encodings().contains(&encoding) {
        return Err(PdbError::encoding());
    }
    if (old.encoding, encoding) == (Encoding::Bit, Encoding::Byte) {
        return Err(PdbError::unsuitable(format!(
            "a database with one bit per entry stores no values that could be converted: build the \
             database again with {BYTES}"
        )));
    }
    let stored_bytes = encoding.bytes(old.entries);
    let header = Summary { encoding, stored_bytes, ..old.clone() };
    let layout = header.layout();
    let mut image = Image::zeroed(layout.data.end())?;
    let index = layout.index.of_mut(image.bytes_mut());
    index.copy_from_slice(pdb.file.index());
    let data = layout.data.of_mut(image.bytes_mut());
    if old.encoding == encoding {
        data.copy_from_slice(pdb.bytes());
    } else {
        // An unreachable value is 255: bit 0, like those of all its neighbours.
        let bit = |value: u8| if value == UNREACHED { 0 } else { bit_of(value) };
        let pack = |values: &[u8]| (0..).zip(values).fold(0, |byte, (i, &v)| byte | bit(v) << i);
        const PART: usize = 1 << 16;
        each_part(data, PART, &|part, bytes| {
            let values = pdb.bytes()[8 * PART * part..].chunks(8);
            bytes.iter_mut().zip(values).for_each(|(to, values)| *to = pack(values));
        });
    }
    Ok(Pdb::finish(image, header)?)
}

/// Returns the bit that encodes a value.
pub(crate) fn bit_of(value: u8) -> u8 {
    value >> 1 & 1
}

impl Pdb {
    /// The value modulo 4 of an entry with the given bit.
    #[inline]
    fn remainder(&self, set: u64, bit: u8) -> u8 {
        let grid = &self.of.0.grid;
        let colour = grid.colour(set) ^ grid.colour(set_of(self.pattern().home()));
        2 * bit + colour as u8
    }

    /// Counts the moves on a walk to the goal in a table with one bit per entry, whose bits are read by `bit`; `None`
    /// if there is no path.
    pub(crate) fn descend<E>(
        &self,
        cells: &[u8],
        blank: u8,
        mut bit: impl FnMut(u64) -> Result<u8, E>,
    ) -> Result<Option<u8>, E> {
        let (k, grid) = (cells.len(), &self.of.0.grid);
        let mut at = [0; Pattern::MAX_TILES];
        let at = &mut at[..k];
        at.copy_from_slice(cells);
        let mut blank = usize::from(blank);
        let home = self.pattern().home();
        let goal_region = grid.region(grid.free(set_of(home)), self.pattern().goal().blank());
        let mut rest = self.remainder(set_of(at), bit(self.entry(at, blank as u8))?);
        // Damage that no checksum reveals must not make a walk endless.
        'walk: for value in 0..UNREACHED {
            if at == home && goal_region >> blank & 1 == 1 {
                return Ok(Some(value));
            }
            rest = (rest + 3) % 4;
            let region = grid.region(grid.free(set_of(at)), blank);
            for x in 0..k {
                let from = at[x];
                for to in bits(grid.around(1 << from) & region) {
                    at[x] = to as u8;
                    let bit = bit(self.entry(at, from))?;
                    if self.remainder(set_of(at), bit) == rest {
                        blank = usize::from(from);
                        continue 'walk;
                    }
                }
                at[x] = from;
            }
            return Ok(None);
        }
        Ok(None)
    }

    /// Returns the value of a placement that is reached by one move of a pattern tile from a placement with the given
    /// value. This takes one memory access in every encoding, whereas [`Pdb::lookup`] walks to the goal if there is one
    /// bit per entry. The cells are those of [`Pdb::entry`].
    ///
    /// ```
    /// use tilewave::pdb::{Build, Encoding, Kind, Pattern};
    /// use tilewave::{Goal, Size};
    /// let goal = Goal::Last.board(Size::new(3, 3)?)?;
    /// let pattern = Pattern::new(goal, &[5, 6, 8])?; // at home on cells 4, 5 and 7
    /// let how = Build::new(pattern).kind(Kind::Regions).encoding(Encoding::Bit);
    /// let pdb = how.run()?;
    /// assert_eq!(pdb.lookup(&[4, 8, 7], 5), Some(1)); // tile 6 has gone down
    /// assert_eq!(pdb.lookup_after(&[4, 8, 7], 5, Some(0)), Some(1));
    /// # Ok::<(), tilewave::Error>(())
    /// ```
    #[inline]
    pub fn lookup_after(&self, cells: &[u8], blank: u8, before: Option<u8>) -> Option<u8> {
        match self.encoding() {
            Encoding::Bit => {
                let entry = self.entry(cells, blank);
                let byte = self.bytes().get(self.byte_of(entry)).copied()?;
                Some(after(before?, byte >> (entry % 8) & 1))
            }
            Encoding::Byte => self.lookup(cells, blank),
        }
    }
}

/// Returns the value of an entry with the given bit, when a neighbour's value is known.
#[inline]
pub(crate) fn after(before: u8, bit: u8) -> u8 {
    let up = before.wrapping_add(1);
    up.wrapping_sub(2 * (bit_of(up) ^ bit))
}
