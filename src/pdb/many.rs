//! Values of many boards at once.
//!
//! Invariant: the results are those of [`Pdb::value`], board by board; only the order of the reads differs.

use super::Pattern;
use super::database::Pdb;
use crate::Error;
use crate::perm::kernel::prefetch;
use crate::puzzle::rows::{self, MAX_WIDTH};

/// Boards whose entries are asked for before the first is read: enough to keep a core's line-fill buffers busy.
const GROUP: usize = 32;

impl Pdb {
    /// Returns the values of many boards, tiles row-major and one board after another, -1 where [`Pdb::value`] has
    /// none. Cost: some 20 ns per board and core, on all threads of the current pool; a walk to the goal
    /// per board for one bit an entry.
    ///
    /// ```
    /// use tilewave::pdb::{Build, Pattern, build};
    /// use tilewave::{Goal, NoProgress, Size};
    /// let goal = Goal::Last.board(Size::new(2, 3)?)?;
    /// let pdb = build(&Build::new(Pattern::new(goal, &[1, 2])?), &NoProgress)?;
    /// assert_eq!(pdb.values(&[1, 2, 3, 4, 5, 0, 1, 2, 0, 4, 5, 3])?, [0, 0]);
    /// let error = pdb.values(&[1, 2, 3, 4, 5, 0, 1, 2, 2, 4, 5, 0]).unwrap_err().to_string();
    /// assert!(error.starts_with("row 1: tile 2 occurs twice and tile 3 is missing"), "{error}");
    /// # Ok::<(), tilewave::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Row`] names the first row that is no board of the database's size.
    pub fn values(&self, boards: &[u16]) -> Result<Vec<i16>, Error> {
        self.look_up(boards, |entry, cells, blank| {
            self.at(entry, cells, blank).map_or(-1, i16::from)
        })
    }

    /// Returns the entries of many boards, by which their values lie in [`Pdb::bytes`]. Cost and errors as of
    /// [`Pdb::values`].
    ///
    /// # Errors
    /// As [`Pdb::values`].
    pub fn entries_of(&self, boards: &[u16]) -> Result<Vec<u64>, Error> {
        self.look_up(boards, |entry, _, _| entry)
    }

    fn look_up<R: Clone + Default + Send>(
        &self,
        boards: &[u16],
        result: impl Fn(u64, &[u8], u8) -> R + Sync,
    ) -> Result<Vec<R>, Error> {
        let (size, tiles) = (self.pattern().size(), self.pattern().tiles());
        rows::whole_boards(size, boards)?;
        let n = size.cells();
        let bytes = self.bytes();
        rows::each_row(boards, n, 1, |boards, results| {
            let mut found = [(0, [0; Pattern::MAX_TILES], 0); GROUP];
            let groups = boards.chunks(GROUP * n).zip(results.chunks_mut(GROUP));
            for (group, (boards, results)) in groups.enumerate() {
                let rows = boards.chunks_exact(n).zip(&mut found);
                for (i, (row, (entry, cells, blank))) in rows.enumerate() {
                    let mut place = [0; MAX_WIDTH + 1];
                    if !rows::place(row, &mut place) {
                        return Err((group * GROUP + i, rows::no_board(size, row)));
                    }
                    for (cell, &tile) in cells.iter_mut().zip(tiles) {
                        *cell = place[usize::from(tile) & MAX_WIDTH];
                    }
                    *blank = place[0];
                    *entry = self.entry(&cells[..tiles.len()], *blank);
                    prefetch::<1, _>(bytes.as_ptr().wrapping_add(self.place(*entry)));
                }
                for (to, (entry, cells, blank)) in results.iter_mut().zip(&found) {
                    *to = result(*entry, &cells[..tiles.len()], *blank);
                }
            }
            Ok(())
        })
    }
}
