//! Depths of many states at once.
//!
//! Invariant: the results are those of [`DistanceTable::depth_of`], state by state; only the order of the reads
//! differs.

use super::distances::DistanceTable;
use super::shape::Encoding;
use crate::Error;
use crate::bfs::State;
use crate::perm::kernel::prefetch;
use crate::puzzle::rows::{self, RowFault};

/// States whose entries are asked for before the first is read: enough to keep a core's line-fill buffers busy.
const GROUP: usize = 32;

impl DistanceTable {
    /// Returns the depths of many states, -1 for those that were not reached. Of a board a row is its tiles,
    /// row-major; of another puzzle its elements, each the number of the position that it belongs to, from 0.
    ///
    /// Cost: in the byte encoding some 40 ns per state and core, on all threads of the current pool; in the other
    /// one as [`DistanceTable::depth_of`] says, some microseconds.
    ///
    /// ```
    /// use tilewave::table::{Encoding, build};
    /// use tilewave::{Goal, NoProgress, Search, Size};
    /// let goal = Goal::Last.board(Size::new(3, 3)?)?;
    /// let table = build(&Search::new(goal), Encoding::Byte, &NoProgress)?;
    /// let boards = [8, 6, 7, 2, 5, 4, 3, 0, 1, 2, 1, 3, 4, 5, 6, 7, 8, 0];
    /// assert_eq!(table.depths(&boards)?, [31, -1]); // the parity of the second is odd
    /// # Ok::<(), tilewave::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Row`] names the first row that is no board or arrangement; what [`DistanceTable::depth_of`] returns.
    pub fn depths(&self, numbers: &[u16]) -> Result<Vec<i16>, Error> {
        let states = self.rows();
        states.whole(numbers)?;
        let width = states.width();
        rows::each_row(numbers, width, 1, |numbers, depths| {
            let mut group = [const { None::<State> }; GROUP];
            let groups = numbers.chunks(GROUP * width);
            for (g, (numbers, depths)) in groups.zip(depths.chunks_mut(GROUP)).enumerate() {
                let fault = |i: usize, error| -> RowFault { (g * GROUP + i, error) };
                let rows = numbers.chunks_exact(width).zip(&mut group);
                for (i, (row, state)) in rows.enumerate() {
                    *state = states.state(row).map_err(|error| fault(i, error))?;
                    if let Some(state) = *state {
                        prefetch::<1, _>(self.address(state));
                    }
                }
                for (i, (depth, &state)) in depths.iter_mut().zip(&group).enumerate() {
                    *depth = self.look(state).map_err(|error| fault(i, error))?;
                }
            }
            Ok(())
        })
    }

    fn look(&self, state: Option<State>) -> Result<i16, Error> {
        let Some(state) = state else {
            return Ok(-1);
        };
        let depth = match self.encoding() {
            Encoding::Byte => self.entry(state)?.map(i16::from),
            Encoding::Mod3 => self.steps(state)?.map(|steps| steps.len() as i16),
        };
        Ok(depth.unwrap_or(-1))
    }
}
