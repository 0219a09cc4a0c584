//! List searches on disk.
//!
//! `bfs --dir` and `resume` use this for puzzles whose states are not numbered. The directories, the survey, the writer
//! and its commits are the same as for the sweep.
//!
//! Several ranks share the directories. Each takes parts of a level as they are assigned, until the level ends or a
//! commit is due; then all ranks exchange information about their parts, and rank 0 commits them.
//!
//! Invariant: each part of a level is passed to the writer as a whole, so a session continues where its last commit
//! ended. Lists are read only from files that the manifest names or that the writer has finished. All ranks proceed
//! through the levels in the same way, because their decisions follow from the information that all have exchanged.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use parking_lot::Mutex;

use crate::{
    Error,
    frontier::{
        BucketLists, BucketSpace, FoundLists, FrontierSearch, LevelStore, LevelTotal, LevelUse,
        ListChunk, ListSink,
    },
    hint::COUNT_AHEAD,
    kernel::Tally,
    progress::Progress,
    search::{
        Communicator, DiskUse, OneProcess, Outcome, Ranks, SearchError, Share,
        disk::{
            Committer, Disk, DiskSearch, Survey, Writer, agreed,
            bitmaps::{self, BitmapStore},
            level::{merge, own, shared},
            reader::{Chunking, ListFiles, total},
            run::{claim, compare, lock, open},
        },
    },
    stop::Stop,
    store::{ChunkRecord, EncodedFrames, Identity, LevelRecord, ListCut, Manifest},
    system::SystemError,
    threads::pool,
};

impl DiskSearch for FrontierSearch {
    fn run_alone(&self, disk: &Disk, progress: &dyn Progress) -> Result<Outcome, Error> {
        disk.alone(
            progress,
            |_| Ok(()),
            |locked| {
                let manifest = begin(self, disk, locked)?;
                session(self, disk, manifest, &OneProcess, progress).map_err(Stop::into_error)
            },
        )
    }

    fn run_together(
        &self,
        disk: &Disk,
        communicator: &dyn Communicator,
        progress: &dyn Progress,
    ) -> Result<Outcome, Stop> {
        let options = [
            ("symmetry", self.symmetry.to_string()),
            ("count-ahead", self.count_ahead.to_string()),
            ("last states", self.keep_last.to_string()),
        ];
        let identity = Identity::of_sets(self.puzzle());
        compare(disk, communicator, &identity, self.max_depth, options)?;
        let (leader, _locks) = lock(disk, communicator)?;
        let apart = "rank 0 uses a different directory, but each rank of a list search reads the \
                     files of all ranks: give every rank the same directory, on a file system that \
                     all ranks share";
        let first = disk.directories.first();
        let together = if leader == 0 { Ok(()) } else { Err(SearchError::apart(first, apart)) };
        agreed(communicator, together)?;
        let is_first = communicator.rank() == 0;
        let begun = is_first.then(|| begin(self, disk, true)).transpose();
        let manifest = shared(communicator, agreed(communicator, begun)?.as_ref())?;
        session(self, disk, manifest, communicator, progress)
    }
}

/// Returns the run in the directories, or a new one, and claims the directories for it if they are locked.
fn begin(search: &FrontierSearch, disk: &Disk, locked: bool) -> Result<Manifest, Error> {
    let survey = Survey::of(&disk.directories)?;
    let (found, begun) = survey.run()?;
    let is_bitmap =
        |found: &Manifest| found.lists.as_ref().is_some_and(|cut| cut.bitmaps.is_some());
    if search.max_depth.is_none() && !found.as_ref().is_some_and(is_bitmap) {
        search.check_states(search.puzzle().states().as_ref())?;
    }
    let cut = match &found {
        Some(found) => found.lists.clone(),
        None if search.bitmaps => {
            Some(bitmaps::cut(search.product(search.symmetry)?, search.symmetry))
        }
        None => Some(search.space_of(None)?.cut),
    };
    if search.bitmaps && cut.as_ref().is_some_and(|cut| cut.bitmaps.is_none()) {
        return Err(
            SearchError::other(disk.directories.first(), "engine", "frontier", "bitmap").into()
        );
    }
    if search.count_ahead > 0 && cut.as_ref().is_some_and(|cut| cut.bitmaps.is_some()) {
        let every = format!("a search by bitmap stores every depth: leave out {COUNT_AHEAD}");
        return Err(SearchError::apart(disk.directories.first(), every).into());
    }
    let symmetric = cut.as_ref().is_some_and(|cut| cut.symmetric) && found.is_some();
    let division = cut.as_ref().map(Chunking::of).unwrap_or_default();
    let asked = Manifest {
        identity: Identity::of_sets(search.puzzle()),
        chunks: division.parts() as u32,
        frame_lines: division.classes as u32,
        // If moves have no inverses, a state may reappear at any depth.
        keep_all: disk.keep_all || search.puzzle().is_directed() && !search.bitmaps,
        lists: cut,
        ..Manifest::default()
    };
    let manifest = open(disk, (found, begun), asked)?;
    if symmetric && !search.symmetry {
        return Err(
            SearchError::other(disk.directories.first(), "symmetries", "used", "none").into()
        );
    }
    disk.directories.deal(&manifest.shares);
    claim(&survey, &manifest, locked)?;
    Ok(manifest)
}

/// Continues a run whose directories have been claimed by this job.
fn session(
    search: &FrontierSearch,
    disk: &Disk,
    manifest: Manifest,
    communicator: &dyn Communicator,
    progress: &dyn Progress,
) -> Result<Outcome, Stop> {
    let (rank, ranks) = (communicator.rank(), communicator.size());
    disk.directories.deal(&manifest.shares);
    let (cut, was_complete) = (manifest.lists.clone(), manifest.complete);
    let part = own(&manifest, communicator, |chunk| chunk % ranks == rank);
    let committer = agreed(communicator, Committer::start(disk, part, ranks))?;
    // The search runs on one thread and has its own worker threads; this thread communicates with the other ranks.
    let pool = &agreed(communicator, pool(Some(1)))?;
    let done = AtomicUsize::new(0);
    let told = |news: &String| _ = done.fetch_add(usize::from(news.is_empty()), Ordering::Relaxed);
    let run = |share: &Share<String>| {
        let mut store = DiskLists {
            search,
            disk,
            files: ListFiles::new(&disk.directories, &manifest),
            manifest,
            committer,
            rank,
            ranks,
            share,
            committed: Instant::now(),
            depth: 0,
            stored: false,
            records: Vec::new(),
            left: Vec::new(),
            done: &done,
            room: 0,
            turn: Mutex::new(()),
        };
        let found = match &cut {
            Some(ListCut { bitmaps: Some(_), .. }) => bitmaps::search(search, &mut store, progress),
            cut => search.run_in(&mut store, cut.as_ref(), progress),
        };
        if found.is_err() {
            share.stop();
        }
        // Whatever stopped a single process, its finished work is committed.
        let DiskLists { committer, manifest, files, .. } = store;
        let closed = match ranks {
            // What was complete when the session began has not changed, and may not be locked.
            1 if was_complete => committer.stop(),
            1 => committer.close(),
            _ => committer.stop().map(|_| manifest),
        };
        let manifest = closed?;
        let (seconds, used) = (manifest.seconds, Some(DiskUse::of(&manifest, ranks)));
        found.map(|found| Outcome { seconds, disk: used, ..found }).map_err(|error| match error {
            Error::Search(SearchError::Interrupted { depth, states }) => {
                let resume = disk.directories.resume(search.max_depth, search.count_ahead);
                SearchError::Paused { resume, depth, states }.into()
            }
            Error::Search(error) => files.unread(error).into(),
            error => error,
        })
    };
    let ranks = Ranks { communicator, pool };
    match ranks.share(&|| progress.interrupted(), &told, run) {
        // Ranks that stop because of another rank report this as well; that rank reports the reason.
        Err(paused @ Error::Search(SearchError::Paused { .. })) => {
            agreed(communicator, Ok::<(), Error>(()))?;
            Err(Stop::Together(paused))
        }
        found => agreed(communicator, found),
    }
}

/// The levels of a list search.
struct DiskLists<'a> {
    search: &'a FrontierSearch,
    disk: &'a Disk,
    files: ListFiles<'a>,
    /// The manifest as of the beginning of the session or the last exchange.
    manifest: Manifest,
    /// With several ranks, the committer has only what this rank has written.
    committer: Committer,
    rank: usize,
    ranks: usize,
    /// Assigns parts, and exchanges information between ranks.
    share: &'a Share<String>,
    committed: Instant,
    /// The current level, its existing parts, and the parts that did not exist when they were last assigned.
    depth: u32,
    stored: bool,
    records: Vec<ChunkRecord>,
    left: Vec<usize>,
    /// The number of parts that exist by now.
    done: &'a AtomicUsize,
    room: u64,
    /// Held while the writer takes a part.
    turn: Mutex<()>,
}

impl ListSink for DiskLists<'_> {
    fn chunks_per_part(&self) -> usize {
        self.files.cut.each
    }

    fn next(&self) -> Option<usize> {
        self.share.next().map(|place| self.left[place])
    }

    fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    fn put(&self, part: usize, lists: Vec<(ListChunk, LevelTotal)>) -> Result<(), Error> {
        let total = lists.iter().fold(LevelTotal::default(), |sum, (_, own)| sum.plus(*own));
        let frames = lists.into_iter().map(|(lists, own)| {
            let frame = || lists.frame(own.lists.generated, own.lists.reduced);
            (!lists.is_empty()).then(frame)
        });
        self.put_frames(part, total, frames.collect())
    }
}

impl DiskLists<'_> {
    fn write(
        &self,
        part: usize,
        LevelTotal { tally, lists: counts }: LevelTotal,
        frames: Vec<Option<Vec<u8>>>,
    ) -> Result<(), SearchError> {
        let (depth, chunk) = (self.depth, part as u32);
        if !self.stored {
            let Tally { states, checksum } = tally;
            let record = ChunkRecord { chunk, states, checksum, bytes: 0, lists: Some(counts) };
            return self.committer.tell(move |writer| writer.count(depth, record));
        }
        let header = self.files.header(depth, chunk);
        let _turn = self.turn.lock();
        self.committer.tell(move |writer| writer.begin(header))?;
        for (frame, bytes) in frames.into_iter().enumerate() {
            let mut encoded = EncodedFrames::new(frame, frame + 1);
            if let Some(bytes) = bytes {
                encoded.push(frame, &bytes);
            }
            self.committer.tell(move |writer| writer.frames(encoded))?;
        }
        self.committer.tell(move |writer| writer.end(tally, Some(counts)))
    }

    /// Whether several ranks should commit; rank 0 has the clock. The writer of a single process has its own clock.
    fn is_due(&self) -> bool {
        self.ranks > 1 && self.rank == 0 && self.committed.elapsed() >= self.disk.commit_every
    }

    /// Sends a text to all ranks, and returns that of each rank, by rank.
    fn exchange(&self, own: String) -> Result<Vec<String>, SystemError> {
        self.share.begin(0);
        self.share.done(self.rank, own);
        let (mut all, _) = self.share.end();
        all.sort_unstable();
        // A rank that has failed sends nothing, and reports the reason at the end.
        if all.len() < self.ranks {
            return Err(SystemError::Interrupted);
        }
        Ok(all.into_iter().map(|(_, news)| news).collect())
    }

    /// Returns the manifest of everything that the ranks have, made durable if they are about to commit it.
    fn gather(&self, durable: bool) -> Result<Manifest, Error> {
        let own = self.committer.ask(move |writer| {
            if durable {
                writer.sync()?;
            }
            Ok(writer.manifest.clone())
        })?;
        if self.ranks == 1 {
            return Ok(own);
        }
        let parts = self.exchange(own.text())?;
        Ok(merge(&parts, &self.manifest, self.disk.directories.first())?)
    }

    /// Commits everything that several ranks have finished, as the state to continue from.
    fn commit(&mut self) -> Result<(), Error> {
        if self.ranks == 1 {
            return Ok(());
        }
        let (depth, stored) = (self.depth, self.stored);
        let chunks: Vec<u32> = self.records.iter().map(|record| record.chunk).collect();
        self.committer.tell(move |writer: &mut Writer| {
            chunks.iter().filter(|_| stored).try_for_each(|&chunk| writer.release(depth, chunk))
        })?;
        let manifest = self.gather(true)?;
        if self.rank == 0 {
            manifest.write(self.disk.directories.first())?;
        }
        // Nothing is removed before the manifest exists.
        self.exchange("committed".into())?;
        self.committer.ask(Writer::supersede)?;
        (self.manifest, self.committed) = (manifest, Instant::now());
        Ok(())
    }
}

impl BitmapStore for DiskLists<'_> {
    fn files(&self) -> &ListFiles<'_> {
        &self.files
    }

    fn has_format(&self, cut: &ListCut) -> Result<(), SearchError> {
        let other = "this version of tilewave uses a different list format: continue with the \
                     version that started the search";
        match self.manifest.lists.as_ref() == Some(cut) {
            true => Ok(()),
            false => Err(SearchError::apart(self.disk.directories.first(), other)),
        }
    }

    fn found_levels(&mut self) -> Result<(Vec<LevelRecord>, bool), Error> {
        let stored = self.manifest.levels.len();
        if stored == 0 {
            // A session that was interrupted in the middle of level 0 may have left its file.
            let _ = self.committer.tell(|writer| {
                writer.manifest.files.clear();
                Ok(())
            });
            self.manifest.files.clear();
            return Ok((Vec::new(), false));
        }
        if stored < self.search.first_counted() && !self.manifest.complete {
            self.committer.ask(|writer| {
                writer.manifest.forget_counted();
                Ok(())
            })?;
            self.manifest.forget_counted();
        }
        let levels = self.manifest.levels.iter().chain(&self.manifest.counted).cloned().collect();
        Ok((levels, self.manifest.complete))
    }

    fn records_of(&self, depth: usize) -> Vec<ChunkRecord> {
        self.manifest.records(depth as u32)
    }

    fn release_before(&self) -> Result<(), SearchError> {
        let (depth, parts) = (self.depth, self.files.cut.parts() as u32);
        self.committer
            .tell(move |writer| (0..parts).try_for_each(|chunk| writer.release(depth, chunk)))
    }

    fn put_frames(
        &self,
        part: usize,
        total: LevelTotal,
        frames: Vec<Option<Vec<u8>>>,
    ) -> Result<(), Error> {
        // All ranks compute level 0, and one of them stores it.
        if self.depth == 0 && self.rank > 0 {
            return Ok(());
        }
        self.write(part, total, frames)?;
        self.share.done(part, String::new());
        self.done.fetch_add(1, Ordering::Relaxed);
        if self.is_due() {
            // Ranks that are computing something finish it; the rest is assigned again after the commit.
            self.share.last(0);
        }
        Ok(())
    }

    fn end_level(&mut self, total: LevelTotal) -> Result<LevelRecord, Error> {
        let (LevelTotal { tally, lists: counts }, stored) = (total, self.stored);
        let bytes = self.records.iter().filter(|_| stored).map(|record| record.bytes).sum();
        let (level, manifest) = self.committer.ask(move |writer| {
            let level = writer.level(tally, Some(counts), bytes, stored)?;
            writer.commit_if_due()?;
            Ok((level, writer.manifest.clone()))
        })?;
        if self.ranks == 1 {
            self.manifest = manifest;
        }
        self.commit()?;
        Ok(level)
    }

    fn end_search(&mut self) -> Result<LevelRecord, Error> {
        (self.depth, self.stored, self.records) = (self.manifest.depth() as u32, true, Vec::new());
        self.end_level(LevelTotal::default())
    }
}

impl LevelStore for DiskLists<'_> {
    fn is_on_disk(&self) -> bool {
        true
    }

    fn sink(&self) -> &dyn ListSink {
        self
    }

    fn found(&mut self, space: &BucketSpace, room: u64) -> Result<FoundLists, Error> {
        self.has_format(&space.cut)?;
        let (levels, ended) = self.found_levels()?;
        let stored = self.manifest.levels.len();
        let mut found = FoundLists { levels, ended, lists: Vec::new() };
        if stored == 0 {
            return Ok(found);
        }
        let first = if space.directed { 0 } else { stored.saturating_sub(2) };
        // If a run has reached the requested depth, its lists are not read, unless its last states are listed.
        let is_wanted = self.search.max_depth.is_none_or(|most| self.manifest.depth() <= most);
        if !ended && is_wanted || self.search.keep_last > 0 {
            for depth in first..stored {
                let taken: u64 = found.lists.iter().map(BucketLists::bytes).sum();
                let records = self.manifest.records(depth as u32);
                let room = (room / 2).saturating_sub(taken);
                let lists = self.files.load(space, depth as u32, &records, room)?;
                found.lists.push(lists);
            }
        }
        Ok(found)
    }

    fn open(&mut self, depth: usize, becomes: LevelUse, room: u64) {
        self.depth = depth as u32;
        (self.stored, self.room) = (becomes.is_stored(), room);
        self.records = self.manifest.records(self.depth);
        let done: HashSet<u32> = self.records.iter().map(|record| record.chunk).collect();
        self.left =
            (0..self.files.cut.parts()).filter(|&part| !done.contains(&(part as u32))).collect();
        self.done.store(done.len(), Ordering::Relaxed);
        self.share.begin(self.left.len());
    }

    fn meet(&mut self, found: Result<LevelTotal, Error>) -> Result<Option<LevelTotal>, Error> {
        match found {
            // What all ranks have finished can be committed.
            Err(Error::System(SystemError::Interrupted)) if self.ranks > 1 => self.share.stop(),
            found => _ = found?,
        }
        let (_, stopped) = self.share.end();
        self.records = self.gather(false)?.records(self.depth);
        if self.records.len() == self.files.cut.parts() {
            return Ok(Some(total(self.records.iter())));
        }
        self.commit()?;
        if stopped { Err(SystemError::Interrupted.into()) } else { Ok(None) }
    }

    fn close(
        &mut self,
        total: LevelTotal,
        space: &BucketSpace,
        _begun: Instant,
    ) -> Result<(BucketLists, LevelRecord), Error> {
        let level = self.end_level(total)?;
        let lists = match self.stored && level.states > 0 {
            true => self.files.load(space, self.depth, &self.records, self.room / 2)?,
            false => BucketLists::default(),
        };
        Ok((lists, level))
    }
}
