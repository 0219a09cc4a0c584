//! Values from one bit an entry: told by a neighbour's value, or counted on a walk home.
//!
//! Invariant: every move of a pattern tile changes a region-aware value by one and the colour of the set of
//! cells. So the value's lowest bit is the colour against the goal's, and the second bit, the one in the table,
//! makes it the value modulo 4: it tells which of two neighbours is nearer to the goal. An entry that no board
//! reaches has 0, as all that can be reached from it; a walk from there finds no way after at most one step:
//! below 0 would be 3.

use super::grid::bits;
use super::plain::UNREACHED;
use super::{Encoding, Pattern, Pdb};

/// Returns the bit that stands for a value.
pub(super) fn bit_of(value: u8) -> u8 {
    value >> 1 & 1
}

impl Pdb {
    /// The value modulo 4 of an entry with a given bit.
    #[inline]
    fn remainder(&self, set: u64, bit: u8) -> u8 {
        let grid = self.entry_order().grid();
        let colour = grid.colour(set) ^ grid.colour(self.home());
        2 * bit + colour as u8
    }

    /// The set of the goal cells.
    fn home(&self) -> u64 {
        set(self.pattern().home())
    }

    /// Counts the moves on a walk to the goal in a table of one bit an entry, whose bits `bit` reads; `None` when
    /// there is no way.
    pub(super) fn descend<E>(
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
        let goal_region = grid.region(grid.free(self.home()), self.pattern().goal().blank());
        let mut rest = self.remainder(set(at), bit(self.entry(at, blank as u8))?);
        // Damage that no checksum shows must not make a walk endless.
        'walk: for value in 0..UNREACHED {
            if at == home && goal_region >> blank & 1 == 1 {
                return Ok(Some(value));
            }
            rest = (rest + 3) % 4;
            let region = grid.region(grid.free(set(at)), blank);
            for x in 0..k {
                let from = at[x];
                for to in bits(grid.around(1 << from) & region) {
                    at[x] = to as u8;
                    let bit = bit(self.entry(at, from))?;
                    if self.remainder(set(at), bit) == rest {
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
    /// use tilewave::pdb::{Build, Encoding, Kind, Pattern, build};
    /// use tilewave::{Goal, NoProgress, Size};
    /// let goal = Goal::Last.board(Size::new(3, 3)?)?;
    /// let pattern = Pattern::new(goal, &[5, 6, 8])?; // at home on cells 4, 5 and 7
    /// let how = Build { kind: Kind::Regions, encoding: Encoding::Bit, ..Build::new(pattern) };
    /// let pdb = build(&how, &NoProgress)?;
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
            Encoding::Byte | Encoding::Nibble => self.lookup(cells, blank),
        }
    }
}

/// Returns the value of an entry with a given bit, a neighbour's value being known.
#[inline]
pub(crate) fn after(before: u8, bit: u8) -> u8 {
    let up = before.wrapping_add(1);
    up.wrapping_sub(2 * (bit_of(up) ^ bit))
}

/// The set of some cells.
fn set(cells: &[u8]) -> u64 {
    cells.iter().fold(0, |set, &cell| set | 1 << cell)
}
