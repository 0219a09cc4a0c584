//! Fills a table from a list search. The search keeps one state from each class of symmetric states; when a level is
//! closed, the entries of all states in the class are written.

use std::{
    sync::atomic::{AtomicU8, Ordering},
    time::Instant,
};

use rayon::prelude::*;

use crate::{
    Error,
    frontier::{
        BucketLists, BucketSpace, FoundLists, FrontierError, FrontierLevel, FrontierSearch,
        LevelEnd, LevelStore, LevelTotal, LevelUse, ListSink, MemoryLevels,
    },
    kernel::prefetch,
    progress::Progress,
    pruning::{
        header::EntrySize,
        numbers::{RowImages, TableNumbers},
    },
    puzzle::orbits::OrbitPuzzle,
    resources::Resources,
    store::ListCut,
    table::TableError,
};

/// The levels of a search, whose states are written to a table as they arrive.
pub(crate) struct TableLevels<'t> {
    levels: MemoryLevels,
    depth: usize,
    size: EntrySize,
    entries: &'t [AtomicU8],
    numbers: &'t TableNumbers,
    puzzle: &'t OrbitPuzzle,
    /// The entries of a state and of its images.
    images: Option<RowImages<'t>>,
    progress: &'t dyn Progress,
}

/// Number of entries whose bytes are prefetched before they are written.
const AHEAD: usize = 512;

impl TableLevels<'_> {
    /// Searches a puzzle and writes the depth of every state to the entries of a table; returns the number of states at
    /// each depth.
    ///
    /// # Errors
    /// [`TableError::TooDeep`], [`TableError::Interrupted`], and the errors of the search.
    pub fn fill(
        searched: OrbitPuzzle,
        (puzzle, numbers): (&OrbitPuzzle, &TableNumbers),
        size: EntrySize,
        entries: &[AtomicU8],
        resources: Resources,
        progress: &dyn Progress,
    ) -> Result<Vec<u64>, Error> {
        let mut search = FrontierSearch::new(searched).resources(resources);
        search.keep_last = 1;
        let mut levels = TableLevels {
            levels: MemoryLevels::default(),
            depth: 0,
            size,
            entries,
            numbers,
            puzzle,
            images: None,
            progress,
        };
        let found = search.run_in(&mut levels, None, progress);
        let found = found.map_err(|error| match error {
            // A partial table is useless.
            Error::Frontier(FrontierError::Interrupted) => TableError::Interrupted.into(),
            error => error,
        })?;
        Ok(found.counts())
    }

    /// Writes entries whose bytes have been prefetched.
    fn write(&self, numbers: &[u64], entry: u8) {
        let none = self.size.none();
        for &number in numbers {
            let (byte, shift) = self.size.place(number);
            match self.size {
                EntrySize::Byte => self.entries[byte].store(entry, Ordering::Relaxed),
                // Unwritten entries have all bits set.
                _ => {
                    _ = self.entries[byte].fetch_and(!((none ^ entry) << shift), Ordering::Relaxed)
                }
            }
        }
    }
}

impl LevelStore for TableLevels<'_> {
    fn is_on_disk(&self) -> bool {
        false
    }

    fn sink(&self) -> &dyn ListSink {
        &self.levels
    }

    fn begin(&mut self, space: &BucketSpace, cut: &ListCut) -> Result<(), Error> {
        self.images = Some(self.numbers.images(self.puzzle, &space.coordinate.group.maps));
        self.levels.begin(space, cut)
    }

    fn found(&mut self, space: &BucketSpace, room: u64) -> Result<FoundLists, Error> {
        self.levels.found(space, room)
    }

    fn open(&mut self, depth: usize, becomes: LevelUse, room: u64) {
        self.depth = depth;
        self.levels.open(depth, becomes, room);
    }

    fn close(
        &mut self,
        total: LevelTotal,
        space: &BucketSpace,
        begun: Instant,
    ) -> Result<(BucketLists, FrontierLevel), Error> {
        let (lists, level) = self.levels.close(total, space, begun)?;
        let Some(entry) = self.size.entry(self.depth) else {
            let (depth, max) = (self.depth, usize::from(self.size.none()) - 1);
            return Err(TableError::TooDeep { depth, max }.into());
        };
        let chunks = lists.chunks.par_iter().enumerate();
        chunks.try_for_each(|(chunk, lists)| -> Result<(), Error> {
            if self.progress.interrupted() {
                return Err(TableError::Interrupted.into());
            }
            let images = self.images.as_ref().expect("the search has begun");
            let mut numbers = Vec::with_capacity(AHEAD + images.most());
            space.each_row(chunk, lists, |row| {
                images.each(row, |number, _| {
                    prefetch::<1, _>(self.entries.as_ptr().wrapping_add(self.size.place(number).0));
                    numbers.push(number);
                });
                if numbers.len() >= AHEAD {
                    self.write(&numbers, entry);
                    numbers.clear();
                }
            })?;
            self.write(&numbers, entry);
            Ok(())
        })?;
        Ok((lists, level))
    }

    fn ended(&self, puzzle: &OrbitPuzzle, depth: usize, end: LevelEnd) -> Error {
        self.levels.ended(puzzle, depth, end)
    }
}
