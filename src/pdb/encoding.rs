//! One bit an entry: values told by a neighbour's value, or counted on a walk home.
//!
//! Invariant: every move of a pattern tile changes a region-aware value by one and the colour of the set of
//! cells. So the value's lowest bit is the colour against the goal's, and the second bit, the one in the table,
//! makes it the value modulo 4: it tells which of two neighbours is nearer to the goal. An entry that no board
//! reaches has 0, as all that can be reached from it; a walk from there finds no way after at most one step:
//! below 0 would be 3.

use rayon::prelude::*;

use crate::{
    bits::{bits, set_of},
    pdb::{Encoding, Pattern, Pdb, PdbError, UNREACHED, header::raw_bytes},
    store::{FileHeader as _, Image},
};

/// Returns the same table in another encoding.
///
/// Cost: 0.1 ns an entry, and the new table's memory.
///
/// # Errors
/// [`PdbError::Unsuitable`] for a kind that the encoding cannot hold, and for a table of one bit an entry.
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
                "a database with one bit per entry stores no values to convert: build it with \
                 --encoding byte"
                    .into(),
            ));
        }
        (Encoding::Byte, Encoding::Bit) => {
            // A value that no board reaches is 255: bit 0, as those of all its neighbours.
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

/// Returns the bit that stands for a value.
pub(crate) fn bit_of(value: u8) -> u8 {
    value >> 1 & 1
}

impl Pdb {
    /// The value modulo 4 of an entry with a given bit.
    #[inline]
    fn remainder(&self, set: u64, bit: u8) -> u8 {
        let grid = self.entry_order().grid();
        let colour = grid.colour(set) ^ grid.colour(set_of(self.pattern().home()));
        2 * bit + colour as u8
    }

    /// Counts the moves on a walk to the goal in a table of one bit an entry, whose bits `bit` reads; `None` when
    /// there is no way.
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
        // Damage that no checksum shows must not make a walk endless.
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

    /// Returns the value of a placement that one move of a pattern tile leads to from another one, whose value is
    /// given: one read from memory whatever the encoding, where [`Pdb::lookup`] walks to the goal for one bit an
    /// entry. Cells as for [`Pdb::entry`].
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

/// Returns the value of an entry with a given bit, a neighbour's value being known.
#[inline]
pub(crate) fn after(before: u8, bit: u8) -> u8 {
    let up = before.wrapping_add(1);
    up.wrapping_sub(2 * (bit_of(up) ^ bit))
}
