//! One bit per entry: values are determined from a neighbour's value, or counted on a walk to the goal.
//!
//! Invariant: every move of a pattern tile changes a region-aware value by one, and changes the colour of the set of
//! cells. So the lowest bit of the value is the colour relative to the goal's; together with the second bit, which is
//! in the table, it gives the value modulo 4, which determines which of two neighbours is closer to the goal. An entry
//! that no board reaches has the bit 0, and so do all entries that can be reached from it; a walk from there ends after
//! at most one step, because the value below 0 would be 3.

use rayon::prelude::*;

use crate::{
    bits::{bits, set_of},
    pdb::{Encoding, Pattern, Pdb, PdbError, UNREACHED, header::raw_bytes},
    store::{FileHeader as _, Image},
};

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
    let mut header = old.clone();
    header.encoding = encoding;
    header.stored_bytes = raw_bytes(header.entries, encoding);
    let layout = header.layout();
    let mut image = Image::zeroed(layout.data.end())?;
    let index = layout.index.of_mut(image.bytes_mut());
    index.copy_from_slice(pdb.file().index());
    let data = layout.data.of_mut(image.bytes_mut());
    match (old.encoding, encoding) {
        (Encoding::Bit, Encoding::Byte) => {
            return Err(PdbError::Unsuitable(
                "a database with one bit per entry stores no values that could be converted: build \
                 the database again with --encoding byte"
                    .into(),
            ));
        }
        (Encoding::Byte, Encoding::Bit) => {
            // An unreachable value is 255: bit 0, like those of all its neighbours.
            let bit = |value: u8| if value == UNREACHED { 0 } else { bit_of(value) };
            let pack =
                |values: &[u8]| (0..).zip(values).fold(0, |byte, (i, &v)| byte | bit(v) << i);
            let bytes = data.par_iter_mut().zip(pdb.bytes().par_chunks(8));
            bytes.for_each(|(to, values)| *to = pack(values));
        }
        _ => data.copy_from_slice(pdb.bytes()),
    }
    Ok(Pdb::finish(image, header))
}

/// Returns the bit that encodes a value.
pub(crate) fn bit_of(value: u8) -> u8 {
    value >> 1 & 1
}

impl Pdb {
    /// The value modulo 4 of an entry with the given bit.
    #[inline]
    fn remainder(&self, set: u64, bit: u8) -> u8 {
        let grid = self.entry_order().grid();
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
        let (k, grid) = (cells.len(), self.entry_order().grid());
        let mut at = [0; Pattern::MAX_TILES];
        let at = &mut at[..k];
        at.copy_from_slice(cells);
        let mut blank = usize::from(blank);
        let home = self.pattern().home();
        let goal_region =
            grid.region(grid.free(set_of(self.pattern().home())), self.pattern().goal().blank());
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
                let byte = self.bytes().get(self.place(entry)).copied()?;
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
