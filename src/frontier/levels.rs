//! Where the levels of a search are stored, and the store in memory.

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    time::Instant,
};

use parking_lot::Mutex;

use crate::{
    Error,
    frontier::{
        bucket_space::BucketSpace,
        level::{LevelEnd, LevelTotal, LevelUse, ListSink},
        lists::{BucketLists, ListChunk},
        outcome::{FrontierError, FrontierLevel},
    },
    puzzle::orbits::OrbitPuzzle,
    store::ListCut,
};

/// What a store has of a search: its levels, and the lists that a new level may meet, the last level at the end.
#[derive(Default)]
pub(crate) struct FoundLists {
    pub levels: Vec<FrontierLevel>,
    pub complete: bool,
    pub lists: Vec<BucketLists>,
}

/// A store for the levels of a search.
pub(crate) trait LevelStore: Send {
    fn is_on_disk(&self) -> bool;

    /// Whether levels may also come in a form other than lists.
    fn takes_bits(&self) -> bool {
        false
    }

    fn sink(&self) -> &dyn ListSink;

    /// Is told what is searched.
    fn begin(&mut self, space: &BucketSpace, cut: &ListCut) -> Result<(), Error>;

    /// Returns what is already there, with lists that take at most this many bytes of memory.
    fn found(&mut self, space: &BucketSpace, room: u64) -> Result<FoundLists, Error>;

    /// Begins to assign the parts of a level that do not exist yet; its lists may take this many bytes of memory.
    fn open(&mut self, depth: usize, becomes: LevelUse, room: u64);

    /// Takes the results of the parts that were assigned here. Returns the totals of the level, or `None` if some of it
    /// is still to be computed.
    fn meet(
        &mut self,
        found: Result<LevelTotal, LevelEnd>,
    ) -> Result<Option<LevelTotal>, LevelEnd> {
        found.map(Some)
    }

    /// Ends the level. Returns its lists if they are stored.
    fn close(
        &mut self,
        total: LevelTotal,
        space: &BucketSpace,
        begun: Instant,
    ) -> Result<(BucketLists, FrontierLevel), Error>;

    /// Returns the error for a level that was not computed.
    fn ended(&self, puzzle: &OrbitPuzzle, depth: usize, end: LevelEnd) -> Error;
}

/// Levels in memory.
#[derive(Default)]
pub(crate) struct MemoryLevels {
    /// Bytes for all levels, and the number of chunks of each.
    budget: u64,
    count: usize,
    /// The current level.
    chunks: Mutex<Vec<ListChunk>>,
    stored: bool,
    dealt: AtomicUsize,
    done: AtomicUsize,
    bytes: AtomicU64,
    room: u64,
}

impl ListSink for MemoryLevels {
    fn chunks_per_part(&self) -> usize {
        1
    }

    fn next(&self) -> Option<usize> {
        Some(self.dealt.fetch_add(1, Ordering::Relaxed)).filter(|&part| part < self.count)
    }

    fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    fn put(&self, part: usize, lists: Vec<(ListChunk, LevelTotal)>) -> Result<(), LevelEnd> {
        let mut lists = lists.into_iter().map(|(lists, _)| lists);
        let lists = lists.next().expect("a part is a chunk");
        let own = lists.bytes();
        self.chunks.lock()[part] = lists;
        self.done.fetch_add(1, Ordering::Relaxed);
        let all = self.bytes.fetch_add(own, Ordering::Relaxed) + own;
        if all > self.room { Err(LevelEnd::Full) } else { Ok(()) }
    }
}

impl LevelStore for MemoryLevels {
    fn is_on_disk(&self) -> bool {
        false
    }

    fn takes_bits(&self) -> bool {
        true
    }

    fn sink(&self) -> &dyn ListSink {
        self
    }

    fn begin(&mut self, space: &BucketSpace, _: &ListCut) -> Result<(), Error> {
        self.count = space.chunks();
        Ok(())
    }

    fn found(&mut self, _: &BucketSpace, room: u64) -> Result<FoundLists, Error> {
        self.budget = room;
        Ok(FoundLists::default())
    }

    fn open(&mut self, _depth: usize, becomes: LevelUse, room: u64) {
        *self.chunks.get_mut() = vec![ListChunk::default(); self.count];
        (self.dealt, self.done, self.bytes) = Default::default();
        (self.stored, self.room) = (becomes.is_stored(), room);
    }

    fn close(
        &mut self,
        total: LevelTotal,
        space: &BucketSpace,
        begun: Instant,
    ) -> Result<(BucketLists, FrontierLevel), Error> {
        let lists = BucketLists { chunks: std::mem::take(self.chunks.get_mut()) };
        let bytes = if self.stored { lists.bytes() } else { 0 };
        let seconds = begun.elapsed().as_secs_f64();
        Ok((lists, FrontierLevel::new(total, space.is_reduced(), bytes, seconds)))
    }

    fn ended(&self, puzzle: &OrbitPuzzle, depth: usize, end: LevelEnd) -> Error {
        let error = match end {
            LevelEnd::Full => {
                FrontierError::Memory { puzzle: puzzle.to_string(), depth, budget: self.budget }
            }
            LevelEnd::Unread(error) => return error.into(),
            LevelEnd::Interrupted | LevelEnd::Sink => FrontierError::Interrupted,
        };
        error.into()
    }
}
