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
        BucketLists, BucketSpace, FoundLists, FrontierLevel, FrontierSearch, LevelEnd, LevelStore,
        LevelTotal, LevelUse, ListChunk, ListSink,
    },
    kernel::Tally,
    progress::{NoProgress, Progress},
    search::{
        Communicator, DiskUse, OneProcess, Outcome, Ranks, SearchError, Share,
        disk::{
            Committer, Disk, EncodedFrames, Survey, Writer, agreed,
            level::{merge, own, shared},
            reader::{Chunking, ListFiles, total},
            run::{compare, lock, new_run, same_run, still_complete},
        },
    },
    stop::Stop,
    store::{ChunkRecord, Identity, LevelRecord, ListCut, Manifest},
    threads::pool,
};

impl Disk {
    /// Runs a list search on disk, or continues the one in the directories. The lists of a level being read are in
    /// memory if they all fit into half of it; otherwise they are read from their files as they are needed.
    ///
    /// Cost: that of [`FrontierSearch::run`] with coded lists; disk space for the lists of two levels, or of all.
    ///
    /// # Errors
    /// The errors of [`Disk::run`] and [`FrontierSearch::run`].
    pub fn run_lists(&self, search: &FrontierSearch) -> Result<Outcome, Error> {
        self.run_lists_with(search, &NoProgress)
    }

    /// Runs a search like [`Disk::run_lists`], with an observer that sees the progress and may stop the work, which
    /// gives [`SearchError::Paused`].
    pub fn run_lists_with(
        &self,
        search: &FrontierSearch,
        progress: &dyn Progress,
    ) -> Result<Outcome, Error> {
        let has_room = |_: Option<&Manifest>| Ok(());
        self.alone(progress, has_room, |locked| {
            let manifest = begin(search, self, locked)?;
            session(search, self, manifest, &OneProcess, progress).map_err(Stop::into_error)
        })
    }

    /// Runs a list search on disk together with the other ranks of a job, or continues the one in the directories;
    /// every rank returns the same result. All ranks must use the same directories, on a shared file system.
    ///
    /// The run on disk is the same as with [`Disk::run_lists`]: either method continues where the other stopped, with
    /// any number of ranks. If the observer of any rank asks to stop, all ranks stop.
    ///
    /// Cost: each rank takes as much memory as [`Disk::run_lists`], and reads the lists of all ranks.
    ///
    /// # Errors
    /// [`Stop::Together`] for any error on one of the ranks, and if the search is interrupted.
    pub fn run_lists_distributed_with(
        &self,
        search: &FrontierSearch,
        communicator: &dyn Communicator,
        progress: &dyn Progress,
    ) -> Result<Outcome, Stop> {
        let options = [
            ("symmetry", search.symmetry.to_string()),
            ("count-ahead", search.count_ahead.to_string()),
            ("last states", search.keep_last.to_string()),
        ];
        let identity = Identity::of_sets(&search.puzzle);
        compare(self, communicator, &identity, search.max_depth, options)?;
        let (leader, _locks) = lock(self, communicator)?;
        let apart = "rank 0 uses a different directory, but each rank of a list search reads the \
                     files of all ranks: give every rank the same directory, on a file system that \
                     all ranks share";
        let first = self.directories.first();
        let together = if leader == 0 { Ok(()) } else { Err(SearchError::apart(first, apart)) };
        agreed(communicator, together)?;
        let is_first = communicator.rank() == 0;
        let begun = is_first.then(|| begin(search, self, true)).transpose();
        let manifest = shared(communicator, agreed(communicator, begun)?.as_ref())?;
        session(search, self, manifest, communicator, progress)
    }
}

/// Returns the run in the directories, or a new one, and claims the directories for it if they are locked.
fn begin(search: &FrontierSearch, disk: &Disk, locked: bool) -> Result<Manifest, Error> {
    if search.max_depth.is_none() {
        search.check_states(search.puzzle.states().as_ref())?;
    }
    let (directories, first) = (&disk.directories, disk.directories.first());
    let survey = Survey::of(directories)?;
    let (found, begun) = survey.run()?;
    let asked = Identity::of_sets(&search.puzzle);
    // If moves have no inverses, a state may reappear at any depth.
    let keep_all = disk.keep_all || search.puzzle.is_directed();
    let division = |cut: &ListCut| {
        let of = Chunking::of(cut);
        (of.parts() as u32, of.classes as u32)
    };
    let manifest = match found {
        Some(manifest) => {
            let cut = manifest.lists.as_ref();
            same_run(disk, &manifest, &asked, keep_all, cut.map_or((0, 0), division))?;
            if cut.is_some_and(|cut| cut.symmetric) && !search.symmetry {
                return Err(SearchError::other(first, "symmetries", "used", "none").into());
            }
            manifest
        }
        None => {
            let cut = search.space_of(None)?.cut;
            let new = new_run(disk, begun, asked, keep_all, division(&cut))?;
            Manifest { lists: Some(cut), ..new }
        }
    };
    directories.deal(&manifest.shares);
    if locked {
        survey.claim(&manifest)?
    } else {
        still_complete(disk, &manifest)?
    }
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
            states: search.puzzle.states().and_then(|states| states.try_into().ok()),
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
        let found = search.run_in(&mut store, cut.as_ref(), progress);
        if found.is_err() {
            share.stop();
        }
        // Whatever stopped a single process, its finished work is committed.
        let DiskLists { committer, manifest, .. } = store;
        let closed = match ranks {
            // What was complete when the session began has not changed, and may not be locked.
            1 if was_complete => committer.stop(),
            1 => committer.close(),
            _ => committer.stop().map(|_| manifest),
        };
        let manifest = closed?;
        found.map(|found| Outcome {
            seconds: manifest.seconds,
            disk: Some(DiskUse {
                peak_bytes: manifest.peak_bytes,
                chunks: manifest.chunks as usize,
                bytes_written: manifest.bytes_written,
                level_bytes: manifest.levels.iter().map(|level| level.bytes).collect(),
                ranks,
                ..DiskUse::default()
            }),
            ..found
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
    /// The number of states of the puzzle, if it is known.
    states: Option<u64>,
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

    fn put(&self, part: usize, lists: Vec<(ListChunk, LevelTotal)>) -> Result<(), LevelEnd> {
        // All ranks compute level 0, and one of them stores it.
        if self.depth == 0 && self.rank > 0 {
            return Ok(());
        }
        self.write(part, lists).map_err(|_| LevelEnd::Sink)?;
        self.share.done(part, String::new());
        self.done.fetch_add(1, Ordering::Relaxed);
        if self.is_due() {
            // Ranks that are computing something finish it; the rest is assigned again after the commit.
            self.share.last(0);
        }
        Ok(())
    }
}

impl DiskLists<'_> {
    fn write(&self, part: usize, lists: Vec<(ListChunk, LevelTotal)>) -> Result<(), Stop> {
        let total = lists.iter().fold(LevelTotal::default(), |sum, (_, own)| sum.plus(*own));
        let LevelTotal { tally, lists: counts } = total;
        let (depth, chunk) = (self.depth, part as u32);
        if !self.stored {
            let Tally { states, checksum } = tally;
            let record = ChunkRecord { chunk, states, checksum, bytes: 0, lists: Some(counts) };
            return self.committer.tell(move |writer| writer.count(depth, record));
        }
        let header = self.files.header(depth, chunk);
        let _turn = self.turn.lock();
        self.committer.tell(move |writer| writer.begin(header))?;
        for (frame, (lists, own)) in lists.into_iter().enumerate() {
            let mut encoded = EncodedFrames::new(frame, frame + 1);
            if !lists.is_empty() {
                encoded.push(frame, &lists.frame(own.lists.generated, own.lists.reduced));
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
    fn exchange(&self, own: String) -> Result<Vec<String>, LevelEnd> {
        self.share.begin(0);
        self.share.done(self.rank, own);
        let (mut all, _) = self.share.end();
        all.sort_unstable();
        // A rank that has failed sends nothing, and reports the reason at the end.
        if all.len() < self.ranks {
            return Err(LevelEnd::Interrupted);
        }
        Ok(all.into_iter().map(|(_, news)| news).collect())
    }

    /// Returns the manifest of everything that the ranks have, made durable if they are about to commit it.
    fn gather(&self, durable: bool) -> Result<Manifest, LevelEnd> {
        let own = self.committer.ask(move |writer| {
            if durable {
                writer.sync()?;
            }
            Ok(writer.manifest.clone())
        });
        let own = own.map_err(|_| LevelEnd::Sink)?;
        if self.ranks == 1 {
            return Ok(own);
        }
        let parts = self.exchange(own.text())?;
        merge(&parts, &self.manifest, self.disk.directories.first()).map_err(LevelEnd::Unread)
    }

    /// Commits everything that several ranks have finished, as the state to continue from.
    fn commit(&mut self) -> Result<(), LevelEnd> {
        if self.ranks == 1 {
            return Ok(());
        }
        let (depth, stored) = (self.depth, self.stored);
        let chunks: Vec<u32> = self.records.iter().map(|record| record.chunk).collect();
        let release = move |writer: &mut Writer| {
            chunks.iter().filter(|_| stored).try_for_each(|&chunk| writer.release(depth, chunk))
        };
        self.committer.tell(release).map_err(|_| LevelEnd::Sink)?;
        let manifest = self.gather(true)?;
        if self.rank == 0 {
            manifest.write(self.disk.directories.first()).map_err(LevelEnd::Unread)?;
        }
        // Nothing is removed before the manifest exists.
        self.exchange("committed".into())?;
        self.committer.ask(Writer::supersede).map_err(|_| LevelEnd::Sink)?;
        (self.manifest, self.committed) = (manifest, Instant::now());
        Ok(())
    }

    fn why(&self, end: LevelEnd) -> Error {
        match end {
            LevelEnd::Unread(error) => self.files.unread(error).into(),
            LevelEnd::Sink => SearchError::Unwritten.into(),
            LevelEnd::Interrupted | LevelEnd::Full | LevelEnd::TooLong => {
                let mut resume = self.disk.directories.resume(self.search.max_depth);
                if self.search.count_ahead > 0 {
                    resume += &format!(" --count-ahead={}", self.search.count_ahead);
                }
                let (depth, states) = (self.depth as usize, self.manifest.states());
                SearchError::Paused { resume, depth, states }.into()
            }
        }
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
        if self.manifest.lists.as_ref() != Some(&space.cut) {
            let other = "this version of tilewave uses a different list format: continue with the \
                         version that started the search";
            return Err(SearchError::apart(self.disk.directories.first(), other).into());
        }
        let stored = self.manifest.levels.len();
        if stored == 0 {
            // A session that was interrupted in the middle of level 0 may have left its file.
            let _ = self.committer.tell(|writer| {
                writer.manifest.files.clear();
                Ok(())
            });
            self.manifest.files.clear();
            return Ok(FoundLists::default());
        }
        if stored < self.search.first_counted() && !self.manifest.complete {
            let forget = self.committer.ask(|writer| {
                writer.manifest.forget_counted();
                Ok(())
            });
            forget.map_err(Stop::into_error)?;
            self.manifest.forget_counted();
        }
        let levels = self.manifest.levels.iter().chain(&self.manifest.counted);
        let level = |level: &LevelRecord| {
            let total = LevelTotal { tally: level.tally(), lists: level.lists.unwrap_or_default() };
            FrontierLevel::new(total, space.is_reduced, level.bytes, level.seconds)
        };
        let complete = self.manifest.complete;
        let mut found =
            FoundLists { levels: levels.map(level).collect(), complete, lists: Vec::new() };
        let first = if space.directed { 0 } else { stored.saturating_sub(2) };
        // If a run has reached the requested depth, its lists are not read, unless its last states are listed.
        let is_wanted = self.search.max_depth.is_none_or(|most| self.manifest.depth() <= most);
        if !complete && is_wanted || self.search.keep_last > 0 {
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

    fn meet(
        &mut self,
        found: Result<LevelTotal, LevelEnd>,
    ) -> Result<Option<LevelTotal>, LevelEnd> {
        match found {
            // What all ranks have finished can be committed.
            Err(LevelEnd::Interrupted) if self.ranks > 1 => self.share.stop(),
            found => _ = found?,
        }
        let (_, stopped) = self.share.end();
        self.records = self.gather(false)?.records(self.depth);
        if self.records.len() == self.files.cut.parts() {
            return Ok(Some(total(self.records.iter())));
        }
        self.commit()?;
        if stopped { Err(LevelEnd::Interrupted) } else { Ok(None) }
    }

    fn close(
        &mut self,
        total: LevelTotal,
        space: &BucketSpace,
        _begun: Instant,
    ) -> Result<(BucketLists, FrontierLevel), Error> {
        let LevelTotal { tally, lists: counts } = total;
        let before: u64 = self.manifest.states();
        if let Some(all) = self.states.filter(|&all| before.saturating_add(tally.states) > all) {
            let (depth, found) = (self.depth as usize, before + tally.states);
            let puzzle = self.manifest.identity.board.clone();
            return Err(SearchError::Sum { puzzle, depth, found, all }.into());
        }
        let stored = self.stored;
        let bytes = self.records.iter().filter(|_| stored).map(|record| record.bytes).sum();
        let done = self.committer.ask(move |writer| {
            let level = writer.level(tally, Some(counts), bytes, stored)?;
            writer.commit_if_due()?;
            Ok((level, writer.manifest.clone()))
        });
        let (level, manifest) = done.map_err(Stop::into_error)?;
        if self.ranks == 1 {
            self.manifest = manifest;
        }
        self.commit().map_err(|end| self.why(end))?;
        let lists = match stored && tally.states > 0 {
            true => self.files.load(space, self.depth, &self.records, self.room / 2)?,
            false => BucketLists::default(),
        };
        let level = FrontierLevel::new(total, space.is_reduced, level.bytes, level.seconds);
        Ok((lists, level))
    }

    fn ended(&self, end: LevelEnd, _depth: usize, _states: u64) -> Error {
        self.why(end)
    }
}
