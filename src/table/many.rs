//! Depths of many states at once.
//!
//! Invariant: the results are those of [`DistanceTable::depth_of`], state by state; only the order of the reads
//! differs.

use super::distances::DistanceTable;
use super::shape::{Encoding, MAX_DEPTH};
use super::ways::Position;
use crate::Error;
use crate::bfs::State;
use crate::perm::kernel::prefetch;
use crate::puzzle::rows::{self, RowFault};

/// States whose entries are asked for before the first is read: enough to keep a core's line-fill buffers busy.
const GROUP: usize = 32;

/// A state on its way to the goal.
struct Walker {
    /// Its row.
    row: usize,
    at: Position,
    /// Depth of where it is, modulo 3.
    entry: u8,
    steps: usize,
    /// The move that is tried, where it leads, and that as a state.
    way: usize,
    next: Position,
    state: State,
}

impl DistanceTable {
    /// Returns the depths of many states, -1 for those that were not reached. Of a board a row is its tiles,
    /// row-major; of another puzzle its elements, each the number of the position that it belongs to, from 0.
    ///
    /// Cost: in the byte encoding some 40 ns per state and core, on all threads of the current pool; in the other
    /// one a walk to the goal, some 2 us for 3x4.
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
                let fault = |(i, error)| -> RowFault { (g * GROUP + i, error) };
                let rows = numbers.chunks_exact(width);
                for (i, (row, state)) in rows.zip(&mut group).enumerate() {
                    *state = states.state(row).map_err(|error| fault((i, error)))?;
                    if let Some(state) = *state {
                        prefetch::<1, _>(self.address(state));
                    }
                }
                // What the entries say: the depths, or where walks begin.
                for (i, (depth, state)) in depths.iter_mut().zip(&group).enumerate() {
                    let entry = state.map(|state| self.entry(state)).transpose();
                    let entry = entry.map_err(|error| fault((i, error)))?.flatten();
                    *depth = entry.map_or(-1, i16::from);
                }
                if self.encoding() == Encoding::Mod3 {
                    self.walk(numbers, depths).map_err(fault)?;
                }
            }
            Ok(())
        })
    }

    /// Replaces depths modulo 3 of some rows by the lengths of the walks to the goal, all rows one step at a time:
    /// so the entries of all are under way together.
    fn walk(&self, numbers: &[u16], depths: &mut [i16]) -> Result<(), RowFault> {
        let width = self.rows().width();
        let mut walkers = Vec::with_capacity(depths.len());
        for (row, numbers) in numbers.chunks_exact(width).enumerate() {
            let Ok(entry) = u8::try_from(depths[row]) else {
                continue;
            };
            let (line, cell) = self.rows().line(numbers).map_err(|error| (row, error))?;
            let at = Position::new(&line[..width - 1], cell);
            walkers.push(Walker {
                row,
                entry,
                steps: 0,
                way: 0,
                next: at.clone(),
                state: State { line: 0, cell },
                at,
            });
        }
        loop {
            walkers.retain(|walker| {
                let there = walker.at.is_goal(self.home());
                if there {
                    depths[walker.row] = walker.steps as i16;
                }
                !there
            });
            if walkers.is_empty() {
                return Ok(());
            }
            for walker in &mut walkers {
                let way = self.ways().from(walker.at.cell).get(walker.way);
                let way = way.filter(|_| walker.steps < MAX_DEPTH);
                let way = way.ok_or_else(|| (walker.row, self.dead_end(&walker.at)))?;
                walker.next = walker.at.after(way);
                walker.state = walker.next.state();
                prefetch::<1, _>(self.address(walker.state));
            }
            for walker in &mut walkers {
                let wanted = (walker.entry + 2) % 3;
                let found = self.entry(walker.state);
                if found.map_err(|error| (walker.row, error))? == Some(wanted) {
                    walker.at = walker.next.clone();
                    (walker.entry, walker.way) = (wanted, 0);
                    walker.steps += 1;
                } else {
                    walker.way += 1;
                }
            }
        }
    }
}
