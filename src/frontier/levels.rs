//! The levels that a search has found, one after another, and where a list search stores them.
//!
//! Every search goes from level to level with [`FoundLevels::drive`], whichever engine computes them. A list search
//! passes the lists of a level to a [`LevelStore`]: [`MemoryLevels`] here, a store of files in `search::disk`, one that
//! writes to a table in `pruning`.

use std::{
    fmt::Display,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
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
    progress::{LevelDone, Progress},
    stop::SearchError,
    store::{LevelRecord, ListCounts},
    system::SystemError,
};

// The levels that a search has found, with numbers or with lists.
//
// Invariant: the levels never contain more states than exist, and a complete search contains them all.

/// The levels that a search has found.
pub(crate) struct FoundLevels {
    puzzle: String,
    /// The number of all states, if it is known.
    all: Option<u64>,
    pub levels: Vec<LevelRecord>,
    /// The number of their states.
    pub states: u64,
    /// Whether an empty level follows.
    pub ended: bool,
}

impl FoundLevels {
    /// Continues after the levels of earlier sessions.
    pub fn after(
        puzzle: &dyn Display,
        all: Option<u64>,
        (levels, ended): (Vec<LevelRecord>, bool),
    ) -> FoundLevels {
        let states = levels.iter().map(|level| level.states).sum();
        FoundLevels { puzzle: puzzle.to_string(), all, levels, states, ended }
    }

    /// Returns the depth of the next level.
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Rejects a number of states that the next level cannot have.
    pub fn check(&self, states: u64) -> Result<(), SearchError> {
        let found = self.states.saturating_add(states);
        match self.all {
            Some(all) if found > all || states == 0 && found < all => {
                let (puzzle, depth) = (self.puzzle.clone(), self.depth());
                Err(SearchError::Sum { puzzle, depth, found, all })
            }
            _ => Ok(()),
        }
    }

    /// Computes level after level and reports it, until one is empty or the last depth is reached.
    pub fn drive<E: From<SearchError>>(
        &mut self,
        max_depth: Option<usize>,
        progress: &dyn Progress,
        mut level: impl FnMut(&FoundLevels) -> Result<LevelRecord, E>,
    ) -> Result<(), E> {
        while !self.ended && max_depth.is_none_or(|most| self.depth() <= most) {
            let (depth, level) = (self.depth(), level(self)?);
            let LevelRecord { states, seconds, .. } = level;
            self.check(states)?;
            self.ended = states == 0;
            if !self.ended {
                self.states += states;
                self.levels.push(level);
                progress.level(&LevelDone { depth, states, seconds });
            }
        }
        Ok(())
    }

    /// Returns the error with which the level in progress has ended, as an error of the search.
    pub fn stopped(&self, error: Error) -> Error {
        match error {
            Error::System(SystemError::Interrupted) => {
                SearchError::Interrupted { depth: self.depth(), states: self.states }.into()
            }
            error => error,
        }
    }
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

    /// Returns the level with these totals.
    pub fn record(self, bytes: u64, seconds: f64) -> LevelRecord {
        LevelRecord::new(self.tally, Some(self.lists), bytes, seconds)
    }
}

/// Computes the parts that a sink assigns, with all threads of the pool, each with a worker of its own; returns their totals.
pub(crate) fn take_parts<W: Default>(
    sink: &dyn ListSink,
    compute: impl Fn(&mut W, usize) -> Result<LevelTotal, Error> + Sync,
) -> Result<LevelTotal, Error> {
    let failed = AtomicBool::new(false);
    let sums = rayon::broadcast(|_| {
        let (mut worker, mut sum) = (W::default(), LevelTotal::default());
        while !failed.load(Ordering::Relaxed)
            && let Some(part) = sink.next()
        {
            let own = compute(&mut worker, part);
            sum = sum.plus(own.inspect_err(|_| failed.store(true, Ordering::Relaxed))?);
        }
        Ok(sum)
    });
    sums.into_iter().reduce(|a, b| Ok(a?.plus(b?))).expect("a pool has threads")
}

/// Takes the lists of a level as they are computed.
pub(crate) trait ListSink: Sync {
    fn chunks_per_part(&self) -> usize;

    /// Assigns a part to one thread; `None` if there are no more parts.
    fn next(&self) -> Option<usize>;

    /// The number of parts that are done.
    fn done(&self) -> usize;

    /// Takes the lists of a part, with the totals and the other counts of each chunk.
    fn put(&self, part: usize, lists: Vec<(ListChunk, LevelTotal)>) -> Result<(), Error>;
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

// Where the levels of a search are stored, and the store in memory.

/// What a store has of a search: its levels, and the lists that a new level may meet, the last level at the end.
#[derive(Default)]
pub(crate) struct FoundLists {
    pub levels: Vec<LevelRecord>,
    pub ended: bool,
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
    fn meet(&mut self, found: Result<LevelTotal, Error>) -> Result<Option<LevelTotal>, Error> {
        found.map(Some)
    }

    /// Ends the level. Returns its lists if they are stored.
    fn close(
        &mut self,
        total: LevelTotal,
        space: &BucketSpace,
        begun: Instant,
    ) -> Result<(BucketLists, LevelRecord), Error>;
}

/// Levels in memory.
#[derive(Default)]
pub(crate) struct MemoryLevels {
    puzzle: String,
    /// The number of chunks of each level.
    count: usize,
    /// The memory for all levels.
    budget: u64,
    /// The current level.
    depth: usize,
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

    fn put(&self, part: usize, lists: Vec<(ListChunk, LevelTotal)>) -> Result<(), Error> {
        let (lists, _) = lists.into_iter().next().expect("a part is a chunk");
        let own = lists.bytes();
        self.chunks.lock()[part] = lists;
        self.done.fetch_add(1, Ordering::Relaxed);
        let all = self.bytes.fetch_add(own, Ordering::Relaxed) + own;
        if all <= self.room {
            return Ok(());
        }
        let (puzzle, depth, budget) = (self.puzzle.clone(), self.depth, self.budget);
        Err(SearchError::Level { puzzle, depth, budget }.into())
    }
}

impl LevelStore for MemoryLevels {
    fn takes_bits(&self) -> bool {
        true
    }

    fn sink(&self) -> &dyn ListSink {
        self
    }

    fn found(&mut self, space: &BucketSpace, room: u64) -> Result<FoundLists, Error> {
        (self.puzzle, self.count, self.budget) = (space.puzzle.clone(), space.chunks(), room);
        Ok(FoundLists::default())
    }

    fn open(&mut self, depth: usize, becomes: LevelUse, room: u64) {
        self.depth = depth;
        *self.chunks.get_mut() = vec![ListChunk::default(); self.count];
        (self.dealt, self.done, self.bytes) = Default::default();
        (self.stored, self.room) = (becomes.is_stored(), room);
    }

    fn close(
        &mut self,
        total: LevelTotal,
        _space: &BucketSpace,
        begun: Instant,
    ) -> Result<(BucketLists, LevelRecord), Error> {
        let lists = BucketLists { chunks: std::mem::take(self.chunks.get_mut()) };
        let bytes = if self.stored { lists.bytes() } else { 0 };
        let seconds = begun.elapsed().as_secs_f64();
        Ok((lists, total.record(bytes, seconds)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;

    #[test]
    fn levels_must_add_up() {
        let after = |counts: &[u64]| {
            let level = |&states: &u64| LevelRecord { states, ..LevelRecord::default() };
            FoundLevels::after(&"2x2", Some(12), (counts.iter().map(level).collect(), false))
        };
        // Levels with these numbers of states follow.
        let driven = |known: &[u64], more: &[u64]| {
            let (mut found, mut more) = (after(known), more.iter());
            let next = |_: &FoundLevels| -> Result<LevelRecord, SearchError> {
                Ok(LevelRecord { states: *more.next().unwrap(), ..LevelRecord::default() })
            };
            let driven = found.drive(None, &NoProgress, next);
            driven.map_err(|error| error.to_string()).map(|()| (found.depth(), found.states))
        };
        assert_eq!(driven(&[], &[1, 11, 0]), Ok((2, 12)));
        let sum = |found| {
            let (depth, all) = (2, 12);
            Err(SearchError::Sum { puzzle: "2x2".into(), depth, found, all }.to_string())
        };
        assert_eq!(driven(&[1, 11], &[1]), sum(13));
        assert_eq!(driven(&[1], &[10, 0]), sum(11));
    }
}
