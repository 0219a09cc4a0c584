//! Searches by lists on disk.
//!
//! `bfs --dir` and `resume` come here for puzzles whose states have no numbers. The directories, the survey, the writer and
//! its commits are those of the sweep.
//!
//! Invariant: a part of a level is told to the writer as a whole, so a session goes on where its last commit has ended.
//! Lists are read only from files that the manifest names or the writer has finished.

use std::time::Instant;

use parking_lot::Mutex;

use crate::{
    Error,
    frontier::{
        BucketLists, BucketSpace, FoundLists, FrontierLevel, FrontierOutcome, FrontierSearch,
        LevelEnd, LevelStore, LevelTotal, LevelUse, ListChunk, ListSink,
    },
    progress::{NoProgress, Progress},
    puzzle::orbits::OrbitPuzzle,
    search::{
        SearchError,
        disk::{
            Committer, Disk, EncodedFrames, Survey, WriterJob,
            list_files::{Chunking, ListFiles},
            run::{run_number, same_run},
        },
    },
    store::{ChunkRecord, Identity, LevelRecord, ListCut, Manifest},
};

impl Disk {
    /// Runs a search by lists on disk, or continues the one that the directories hold. The lists of the levels that are
    /// read lie in memory as far as half of it allows, else they are read from their files.
    ///
    /// Cost: that of [`FrontierSearch::run`] with coded lists; disk for the lists of two levels, or all.
    ///
    /// # Errors
    /// As [`Disk::run`] and [`FrontierSearch::run`].
    pub fn run_lists(&self, search: &FrontierSearch) -> Result<FrontierOutcome, Error> {
        self.run_lists_with(search, &NoProgress)
    }

    /// Runs a search as [`Disk::run_lists`] does, which an observer sees and may stop.
    ///
    /// # Errors
    /// As [`Disk::run_lists`], and [`SearchError::Paused`].
    pub fn run_lists_with(
        &self,
        search: &FrontierSearch,
        progress: &dyn Progress,
    ) -> Result<FrontierOutcome, Error> {
        let has_room = |_: Option<&Manifest>| Ok(());
        self.alone(progress, has_room, || session(search, self, progress))
    }
}

fn session(
    search: &FrontierSearch,
    disk: &Disk,
    progress: &dyn Progress,
) -> Result<FrontierOutcome, Error> {
    let (directories, first) = (&disk.directories, disk.directories.first());
    let survey = Survey::of(directories)?;
    let (found, begun) = survey.run()?;
    let asked = Identity::of_orbits(&search.puzzle);
    // Without a way back a state may come again at any depth.
    let keep_all = disk.keep_all || search.puzzle.is_directed();
    let manifest = match found {
        Some(manifest) => {
            let cut = manifest.lists.as_ref().map(Chunking::of);
            let cut = cut.map_or((0, 0), |cut| (cut.parts() as u32, cut.classes as u32));
            same_run(disk, &manifest, &asked, keep_all, cut)?;
            let symmetric = manifest.lists.as_ref().is_some_and(|cut| cut.symmetric);
            if symmetric && !search.symmetry {
                return Err(SearchError::other(first, "symmetries", "used", "none").into());
            }
            manifest
        }
        None => {
            let cut = search.cut()?;
            let of = Chunking::of(&cut);
            Manifest {
                run: begun.map_or_else(|| run_number(directories), Ok)?,
                identity: asked,
                chunks: of.parts() as u32,
                frame_lines: of.classes as u32,
                directories: directories.count() as u32,
                shares: directories.shares_by_room(),
                keep_all,
                lists: Some(cut),
                ..Manifest::default()
            }
        }
    };
    directories.deal(&manifest.shares);
    survey.claim(&manifest)?;
    let cut = manifest.lists.clone();
    let committer = Committer::start(disk, manifest.clone(), 1)?;
    let mut store = DiskLists {
        disk,
        of: cut.as_ref().map(Chunking::of).unwrap_or_default(),
        files: ListFiles::new(directories, &manifest),
        states: search.puzzle.states().and_then(|states| states.try_into().ok()),
        first_counted: search.first_counted(),
        max_depth: search.max_depth,
        keep_last: search.keep_last,
        manifest,
        committer,
        depth: 0,
        stored: false,
        done: Vec::new(),
        room: 0,
        turn: Mutex::new(()),
    };
    let found = search.run_in(&mut store, cut.as_ref(), progress);
    // Whatever stopped the session, what it has finished is committed.
    let closed = store.committer.close();
    match (found, closed) {
        (Ok(found), Ok(manifest)) => Ok(FrontierOutcome {
            disk_peak_bytes: Some(manifest.peak_bytes),
            seconds: manifest.seconds,
            ..found
        }),
        (_, Err(error)) => Err(error.into()),
        (Err(error), Ok(_)) => Err(error),
    }
}

/// The levels of a run by lists.
struct DiskLists<'a> {
    disk: &'a Disk,
    of: Chunking,
    files: ListFiles<'a>,
    /// All states of the puzzle, where they are known.
    states: Option<u64>,
    first_counted: usize,
    max_depth: Option<usize>,
    keep_last: usize,
    /// As it was when the session began.
    manifest: Manifest,
    committer: Committer,
    /// The level at hand.
    depth: u32,
    stored: bool,
    done: Vec<bool>,
    room: u64,
    /// Whose part the writer takes.
    turn: Mutex<()>,
}

impl ListSink for DiskLists<'_> {
    fn chunks_per_part(&self) -> usize {
        self.of.each
    }

    fn is_done(&self, part: usize) -> bool {
        self.done[part]
    }

    fn put(&self, part: usize, lists: Vec<(ListChunk, LevelTotal)>) -> Result<(), LevelEnd> {
        let total = lists.iter().fold(LevelTotal::default(), |sum, (_, own)| sum.plus(*own));
        let LevelTotal { tally, lists: counts } = total;
        let (depth, chunk) = (self.depth, part as u32);
        let tell = |job: WriterJob| self.committer.tell(job).map_err(|_| LevelEnd::Sink);
        if !self.stored {
            let record = ChunkRecord {
                chunk,
                states: tally.states,
                checksum: tally.checksum,
                bytes: 0,
                lists: Some(counts),
            };
            return tell(Box::new(move |writer| writer.count(depth, record)));
        }
        let header = self.files.header(depth, chunk);
        let _turn = self.turn.lock();
        tell(Box::new(move |writer| writer.begin(header)))?;
        for (frame, (lists, own)) in lists.into_iter().enumerate() {
            let mut encoded = EncodedFrames::new(frame, frame + 1);
            if !lists.is_empty() {
                encoded.push(frame, &lists.frame(own.lists.generated, own.lists.reduced));
            }
            tell(Box::new(move |writer| writer.frames(encoded)))?;
        }
        tell(Box::new(move |writer| writer.end(tally, Some(counts))))
    }
}

impl DiskLists<'_> {
    fn failed(&self) -> Error {
        // The writer says why when it is closed.
        SearchError::Refused("the files could not be written".into()).into()
    }
}

impl LevelStore for DiskLists<'_> {
    fn is_on_disk(&self) -> bool {
        true
    }

    fn sink(&self) -> &dyn ListSink {
        self
    }

    fn begin(&mut self, _: &BucketSpace, cut: &ListCut) -> Result<(), Error> {
        if self.manifest.lists.as_ref() == Some(cut) {
            return Ok(());
        }
        let other = "this version of the program reads other lists: continue with the version that began it";
        Err(SearchError::apart(self.disk.directories.first(), other).into())
    }

    fn found(&mut self, space: &BucketSpace, room: u64) -> Result<FoundLists, Error> {
        let stored = self.manifest.levels.len();
        if stored == 0 {
            // A session that was cut in the middle of level 0 may have left its file.
            let _ = self.committer.tell(|writer| {
                writer.manifest.files.clear();
                Ok(())
            });
            self.manifest.files.clear();
            return Ok(FoundLists::default());
        }
        if stored < self.first_counted && !self.manifest.complete {
            let forget = self.committer.ask(|writer| {
                writer.forget_counted();
                Ok(writer.manifest.clone())
            });
            self.manifest = forget.map_err(|_| self.failed())?;
        }
        let levels = self.manifest.levels.iter().chain(&self.manifest.counted);
        let level = |level: &LevelRecord| {
            let total = LevelTotal { tally: level.tally(), lists: level.lists.unwrap_or_default() };
            FrontierLevel::new(total, space.is_reduced(), level.bytes, level.seconds)
        };
        let complete = self.manifest.complete;
        let mut found =
            FoundLists { levels: levels.map(level).collect(), complete, lists: Vec::new() };
        let first = if space.directed { 0 } else { stored.saturating_sub(2) };
        // Of a run that has come as far as was asked for nobody reads the lists, but where its last states are listed.
        let is_wanted = self.max_depth.is_none_or(|most| self.manifest.depth() <= most);
        if !complete && is_wanted || self.keep_last > 0 {
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

    fn open(&mut self, depth: usize, becomes: LevelUse, room: u64) -> LevelTotal {
        self.depth = depth as u32;
        (self.stored, self.room) = (becomes.is_stored(), room);
        self.done = vec![false; self.of.parts()];
        let mut total = LevelTotal::default();
        for record in self.manifest.records(self.depth) {
            self.done[record.chunk as usize] = true;
            let lists = record.lists.unwrap_or_default();
            total = total.plus(LevelTotal { tally: record.tally(), lists });
        }
        total
    }

    fn close(
        &mut self,
        total: LevelTotal,
        space: &BucketSpace,
        _begun: Instant,
    ) -> Result<(BucketLists, FrontierLevel), Error> {
        let LevelTotal { tally, lists: counts } = total;
        let records = self.committer.finished(self.depth).map_err(|_| self.failed())?;
        let before: u64 = self.manifest.states();
        if let Some(all) = self.states.filter(|&all| before.saturating_add(tally.states) > all) {
            let (depth, found) = (self.depth as usize, before + tally.states);
            let puzzle = self.manifest.identity.board.clone();
            return Err(SearchError::Sum { puzzle, depth, found, all }.into());
        }
        let bytes = match self.stored {
            true => records.iter().map(|record| record.bytes).sum(),
            false => 0,
        };
        let level = LevelRecord {
            states: tally.states,
            checksum: tally.checksum,
            seconds: 0.0,
            bytes,
            lists: Some(counts),
        };
        let stored = self.stored;
        let lists = match stored && tally.states > 0 {
            true => self.files.load(space, self.depth, &records, self.room / 2)?,
            false => BucketLists::default(),
        };
        let done = self.committer.ask(move |writer| {
            let level = writer.level(level, stored)?;
            writer.commit_if_due()?;
            Ok((level, writer.manifest.clone()))
        });
        let (level, manifest) = done.map_err(|_| self.failed())?;
        self.manifest = manifest;
        let level = FrontierLevel::new(total, space.is_reduced(), level.bytes, level.seconds);
        Ok((lists, level))
    }

    fn ended(&self, _: &OrbitPuzzle, depth: usize, end: LevelEnd) -> Error {
        match end {
            LevelEnd::Unread(error) => self.files.unread(error).into(),
            LevelEnd::Sink => self.failed(),
            LevelEnd::Interrupted | LevelEnd::Full => {
                let resume = self.disk.directories.resume(self.max_depth);
                let states = self.manifest.states();
                SearchError::Paused { resume, depth, states }.into()
            }
        }
    }
}
