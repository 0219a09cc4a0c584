//! The levels that a list search has found: what is known of each, and where the levels are stored.
//!
//! `search` passes every finished level to a [`LevelStore`]: [`MemoryLevels`] here, a store of files in `search::disk`,
//! one that writes to a table in `pruning`. At the end it makes an [`Outcome`](crate::outcome::Outcome) of what the
//! store has found.

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    time::Instant,
};

use parking_lot::Mutex;

use crate::{
    Error,
    frontier::{
        bucket_space::BucketSpace,
        lists::{BucketLists, ListChunk},
    },
    kernel::Tally,
    stop::SearchError,
    store::{ListCounts, StorageError},
};

// The result of a list search.

/// The level that a search has found at one depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FrontierLevel {
    /// Number of states.
    pub states: u64,
    /// Number of states up to symmetry; `None` if the search did not use all symmetries.
    pub reduced: Option<u64>,
    /// Checksum: equal sets of states have equal checksums, whatever symmetries, kernel, threads and memory the search
    /// used.
    pub checksum: u64,
    /// Number of keys that moves produced, including duplicates.
    pub generated: u64,
    /// Number of new keys: slightly more than the number of states up to symmetry.
    pub kept: u64,
    /// Size of the level's lists in memory or on disk, in bytes; 0 if its states were only counted.
    pub bytes: u64,
    /// Wall-clock time in seconds.
    pub seconds: f64,
}

impl FrontierLevel {
    pub(crate) fn new(total: LevelTotal, reduced: bool, bytes: u64, seconds: f64) -> FrontierLevel {
        FrontierLevel {
            states: total.tally.states,
            reduced: reduced.then_some(total.lists.reduced),
            checksum: total.tally.checksum,
            generated: total.lists.generated,
            kept: total.lists.kept,
            bytes,
            seconds,
        }
    }
}

/// Whether levels are all levels of a puzzle: they `ended` with an empty one, or contain all of its states, if their
/// number is known. A search to the last depth ends with no empty level.
pub(crate) fn is_complete<N: From<u64> + PartialEq>(
    ended: bool,
    found: u64,
    all: Option<N>,
) -> bool {
    ended || all == Some(found.into())
}

// A level on its way to a store.

/// The totals of a level or of a part of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LevelTotal {
    pub tally: Tally,
    pub lists: ListCounts,
}

impl LevelTotal {
    pub fn plus(self, other: LevelTotal) -> LevelTotal {
        let mut lists = self.lists;
        lists.reduced += other.lists.reduced;
        lists.generated += other.lists.generated;
        lists.kept += other.lists.kept;
        LevelTotal { tally: self.tally.plus(other.tally), lists }
    }
}

/// Takes the lists of a level as they are computed.
pub(crate) trait ListSink: Sync {
    fn chunks_per_part(&self) -> usize;

    /// Assigns a part to one thread; `None` if there are no more parts.
    fn next(&self) -> Option<usize>;

    /// The number of parts that are done.
    fn done(&self) -> usize;

    /// Takes the lists of a part, with the totals and the other counts of each chunk.
    fn put(&self, part: usize, lists: Vec<(ListChunk, LevelTotal)>) -> Result<(), LevelEnd>;
}

/// What is done with the states of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelUse {
    /// Its lists are kept, uncoded.
    Kept,
    /// Its lists are kept, coded.
    Coded,
    /// They are counted, this many moves after the last level whose lists are kept.
    Counted(usize),
}

impl LevelUse {
    /// Returns the number of moves from the last level whose lists are kept.
    pub fn moves(self) -> usize {
        if let LevelUse::Counted(moves) = self { moves } else { 1 }
    }

    pub fn is_stored(self) -> bool {
        !matches!(self, LevelUse::Counted(_))
    }
}

/// The reason why a level was not computed.
pub(crate) enum LevelEnd {
    Interrupted,
    /// Its lists exceed the memory limit.
    Full,
    /// One list would be longer than its places can count.
    TooLong,
    /// Lists of an earlier level cannot be read.
    Unread(StorageError),
    /// The receiver of the lists has failed and reports the reason itself.
    Sink,
}

// Where the levels of a search are stored, and the store in memory.

/// What a store has of a search: its levels, and the lists that a new level may meet, the last level at the end.
#[derive(Default)]
pub(crate) struct FoundLists {
    pub levels: Vec<FrontierLevel>,
    pub complete: bool,
    pub lists: Vec<BucketLists>,
}

/// A store for the levels of a search.
pub(crate) trait LevelStore: Send {
    fn is_on_disk(&self) -> bool {
        false
    }

    /// Whether levels may also come in a form other than lists.
    fn takes_bits(&self) -> bool {
        false
    }

    fn sink(&self) -> &dyn ListSink;

    /// Is told what is searched. Returns what is already there, with lists that take at most this many bytes of memory.
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

    /// Returns the error for a level that was not computed, although there was memory for it.
    fn ended(&self, end: LevelEnd, depth: usize, states: u64) -> Error {
        match end {
            LevelEnd::Unread(error) => error.into(),
            _ => SearchError::Interrupted { depth, states }.into(),
        }
    }
}

/// Levels in memory.
#[derive(Default)]
pub(crate) struct MemoryLevels {
    /// The number of chunks of each level.
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
        let (lists, _) = lists.into_iter().next().expect("a part is a chunk");
        let own = lists.bytes();
        self.chunks.lock()[part] = lists;
        self.done.fetch_add(1, Ordering::Relaxed);
        let all = self.bytes.fetch_add(own, Ordering::Relaxed) + own;
        if all > self.room { Err(LevelEnd::Full) } else { Ok(()) }
    }
}

impl LevelStore for MemoryLevels {
    fn takes_bits(&self) -> bool {
        true
    }

    fn sink(&self) -> &dyn ListSink {
        self
    }

    fn found(&mut self, space: &BucketSpace, _room: u64) -> Result<FoundLists, Error> {
        self.count = space.chunks();
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
        Ok((lists, FrontierLevel::new(total, space.is_reduced, bytes, seconds)))
    }
}
