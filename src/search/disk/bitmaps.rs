//! Complete searches by bitmaps on disk: a bit for each state, in the level files of a run.
//!
//! The run, its parts, its commits and its ranks are those of [`lists`](super::lists): only what a frame contains is
//! different. A chunk of the run consists of some consecutive blocks of a product, with a frame for each block that has
//! states; the file of a depth has all states that are reached by then, so that two depths are needed at a time.
//!
//! Invariant: a block is compared with the hash of its frame before it is used.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

use crate::{
    Error,
    frontier::{
        BitmapBlock, Bitmaps, BlockTotal, FoundLevels, FrontierSearch, LevelStore, LevelTotal,
        LevelUse, ListSink, ProductSpace, take_parts,
    },
    outcome::Engine,
    progress::{Meter, Phase, Progress},
    search::{Outcome, SearchError, disk::reader::ListFiles},
    store::{ChunkRecord, LevelReader, LevelRecord, ListCut, budget},
};

/// Returns how the states of a product are distributed.
pub(super) fn cut(space: &ProductSpace, symmetric: bool) -> ListCut {
    ListCut {
        symmetric,
        symmetries: space.order(),
        classes: space.classes.len(),
        buckets_per_class: space.row_count(),
        words: space.words(),
        bitmaps: Some(space.describe()),
        ..ListCut::default()
    }
}

/// The files of a run, as a search by bitmap uses them.
pub(super) trait BitmapStore: LevelStore + ListSink {
    /// Refuses a run whose states are distributed in another way.
    fn has_format(&self, cut: &ListCut) -> Result<(), SearchError>;

    /// The levels of earlier sessions, and whether the search has ended.
    fn found_levels(&mut self) -> Result<(Vec<LevelRecord>, bool), Error>;

    fn files(&self) -> &ListFiles<'_>;

    /// The records of the chunks at a depth.
    fn records_of(&self, depth: usize) -> Vec<ChunkRecord>;

    /// Releases the files of the last level but one before the level in progress, which bitmaps do not need.
    fn release_before(&self) -> Result<(), SearchError>;

    /// Passes on a part of the level in progress: a frame for each of its chunks, if that has states, and its totals.
    fn put_frames(
        &self,
        part: usize,
        total: LevelTotal,
        frames: Vec<Option<Vec<u8>>>,
    ) -> Result<(), Error>;

    /// Ends the level in progress with its totals.
    fn end_level(&mut self, total: LevelTotal) -> Result<LevelRecord, Error>;

    /// Ends the search after all its states: no level follows.
    fn end_search(&mut self) -> Result<LevelRecord, Error>;
}

/// Continues the search of a store with its bitmaps.
pub(super) fn search(
    search: &FrontierSearch,
    store: &mut dyn BitmapStore,
    progress: &dyn Progress,
) -> Result<Outcome, Error> {
    // A run that is continued is what its manifest says.
    let search = &search.clone().bitmaps(true);
    search.timed(|_| levels(search, store, progress))
}

fn levels(
    search: &FrontierSearch,
    store: &mut dyn BitmapStore,
    progress: &dyn Progress,
) -> Result<Outcome, Error> {
    let space = search.product(search.symmetry)?;
    store.has_format(&cut(space, search.symmetry))?;
    let kernel = search.resources.choose_kernel()?;
    let bitmaps = &Bitmaps::new(space, kernel);
    let room = room(search, bitmaps, store.chunks_per_part())?;
    let (states, all) = search.begin(progress)?;
    let mut found = FoundLevels::after(search.puzzle(), all, store.found_levels()?);
    if let Some(last) = found.depth().checked_sub(1) {
        progress.continued(last, found.states);
    }
    let goals: Vec<_> =
        search.puzzle().goals().iter().flat_map(|goal| space.entries(goal)).collect();
    let computed = found.drive(search.max_depth, progress, |found| {
        let depth = found.depth();
        if Some(found.states) == all {
            return store.end_search();
        }
        let total = loop {
            store.open(depth, LevelUse::Coded, 0);
            let computed = match depth.checked_sub(1) {
                None => first(bitmaps, &goals, store),
                Some(before) => {
                    store.release_before()?;
                    let records = store.records_of(before);
                    let last =
                        BitmapFiles::of(bitmaps, store.files(), before as u32, records, room)?;
                    level(&last, store, (depth, progress))
                }
            };
            if let Some(total) = store.meet(computed)? {
                break total;
            }
        };
        // Before the level is recorded as finished.
        found.check(total.tally.states)?;
        store.end_level(total)
    });
    computed.map_err(|error| found.stopped(error))?;
    let mut last = BTreeSet::new();
    if let Some(depth) = found.depth().checked_sub(1).filter(|_| search.keep_last > 0) {
        let at = |depth: usize| {
            BitmapFiles::of(bitmaps, store.files(), depth as u32, store.records_of(depth), room)
        };
        let (own, before) = (at(depth)?, depth.checked_sub(1).map(at).transpose()?);
        for class in 0..space.classes.len() {
            if last.len() >= search.keep_last {
                break;
            }
            let Some(block) = own.block(class)? else { continue };
            let before = before.as_ref().map_or(Ok(None), |before| before.block(class))?;
            bitmaps.list(class, (&block, before.as_deref()), &mut last, search.keep_last);
        }
    }
    let last = last.into_iter().take(search.keep_last).collect();
    let with = (Some(kernel), space.order(), space.all_symmetries.clone());
    let outcome =
        search.outcome((states, found), with, ((room * bitmaps.block_bytes()) as u64, last));
    Ok(Outcome { engine: Engine::Bitmap, ..outcome })
}

/// The number of blocks that fit in memory beside those on which the threads work.
fn room(search: &FrontierSearch, bitmaps: &Bitmaps, each: usize) -> Result<usize, SearchError> {
    let memory = search.resources.memory.unwrap_or_else(budget);
    let block = bitmaps.block_bytes() as u64;
    // A thread has the bits of a block, those that are new, its code, and the codes of a part.
    let threads = rayon::current_num_threads() as u64;
    let working = threads * (each as u64 + 4) * block;
    let sources = threads * (bitmaps.space.moves() as u64 + 1);
    let needed = working + sources * block;
    if memory < needed {
        let (puzzle, engine) = (search.puzzle().to_string(), Engine::Bitmap);
        return Err(SearchError::Memory { puzzle, engine, needed, budget: memory });
    }
    let all = bitmaps.space.classes.len() as u64;
    Ok(((memory - working) / block).min(all) as usize)
}

/// Passes on the blocks of level 0, on every rank; returns their totals.
fn first(
    bitmaps: &Bitmaps,
    goals: &[(usize, usize, usize)],
    store: &dyn BitmapStore,
) -> Result<LevelTotal, Error> {
    let each = store.chunks_per_part();
    let classes: Vec<usize> = (0..bitmaps.space.classes.len()).collect();
    let mut sum = LevelTotal::default();
    for (part, classes) in classes.chunks(each).enumerate() {
        let blocks = classes.iter().map(|&class| bitmaps.first(class, goals));
        let (frames, totals): (Vec<_>, Vec<_>) = blocks.map(Option::unzip).unzip();
        let total = totals.into_iter().flatten();
        let total = total.fold(LevelTotal::default(), |all, own: BlockTotal| all.plus(own.level));
        store.put_frames(part, total, frames)?;
        sum = sum.plus(total);
    }
    Ok(sum)
}

/// Computes the missing parts of the level after another one; returns their totals.
fn level(
    last: &BitmapFiles,
    store: &dyn BitmapStore,
    (depth, progress): (usize, &dyn Progress),
) -> Result<LevelTotal, Error> {
    let (all, each) = (last.bitmaps.space.classes.len(), store.chunks_per_part());
    let done = (store.done() * each).min(all);
    let meter = Meter::new(progress, Phase::Search(depth), done as u64, all as u64);
    let compute = |_: &mut (), part: usize| {
        let (mut sum, mut frames) = (LevelTotal::default(), Vec::new());
        for class in part * each..((part + 1) * each).min(all) {
            let (frame, total) = last.bitmaps.next(class, |class| last.block(class))?.unzip();
            frames.push(frame);
            sum = sum.plus(total.unwrap_or_default().level);
            meter.add(1)?;
        }
        store.put_frames(part, sum, frames)?;
        Ok(sum)
    };
    take_parts(store.sink(), compute)
}

/// The files of a depth, and the blocks that were read last.
pub(super) struct BitmapFiles<'a> {
    bitmaps: &'a Bitmaps<'a>,
    files: &'a ListFiles<'a>,
    depth: u32,
    /// For each chunk, if there is one.
    readers: Vec<Option<LevelReader>>,
    blocks: Vec<Mutex<Option<Arc<BitmapBlock>>>>,
    /// When each block was last used, and the blocks in memory, of which there is room for so many.
    used: Vec<AtomicU64>,
    clock: AtomicU64,
    here: Mutex<Vec<usize>>,
    room: usize,
}

impl<'a> BitmapFiles<'a> {
    fn of(
        bitmaps: &'a Bitmaps,
        files: &'a ListFiles,
        depth: u32,
        records: Vec<ChunkRecord>,
        room: usize,
    ) -> Result<BitmapFiles<'a>, SearchError> {
        let all = bitmaps.space.classes.len();
        let mut readers: Vec<Option<LevelReader>> = (0..files.cut.parts()).map(|_| None).collect();
        for record in records.iter().filter(|record| record.has_file()) {
            readers[record.chunk as usize] = Some(files.open(depth, record)?);
        }
        Ok(BitmapFiles {
            bitmaps,
            files,
            depth,
            readers,
            blocks: (0..all).map(|_| Mutex::new(None)).collect(),
            used: (0..all).map(|_| AtomicU64::new(0)).collect(),
            clock: AtomicU64::new(0),
            here: Mutex::new(Vec::new()),
            room,
        })
    }

    /// Returns the block of a class; `None` if it has no states.
    fn block(&self, class: usize) -> Result<Option<Arc<BitmapBlock>>, Error> {
        self.used[class].store(self.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let mut slot = self.blocks[class].lock();
        if slot.is_some() {
            return Ok(slot.clone());
        }
        let Some(reader) = &self.readers[class / self.files.cut.each] else { return Ok(None) };
        let Some((block, _)) = self.files.bitmap(self.bitmaps, reader, (self.depth, class))? else {
            return Ok(None);
        };
        let block = Arc::new(block);
        *slot = Some(block.clone());
        drop(slot);
        let mut here = self.here.lock();
        here.push(class);
        if here.len() > self.room {
            let age = |&i: &usize| self.used[here[i]].load(Ordering::Relaxed);
            let oldest = (0..here.len()).min_by_key(age).expect("there are blocks");
            let gone = here.swap_remove(oldest);
            drop(here);
            *self.blocks[gone].lock() = None;
        }
        Ok(Some(block))
    }
}
