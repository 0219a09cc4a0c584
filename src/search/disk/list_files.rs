//! The files of a list search: a chunk of the run consists of some consecutive classes of buckets, with a frame for
//! each chunk of lists.
//!
//! A session (`lists`) reads levels through [`ListFiles`]; `verify` and `repair` use it for runs at rest.
//!
//! Invariant: data is compared with a hash before it is used: at once if it stays in memory, otherwise list by list.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use rayon::prelude::*;

use crate::{
    Error,
    frontier::{BucketLists, BucketSpace, FrontierSearch, LevelTotal, ListChunk},
    kernel::Tally,
    progress::{Phase, Progress},
    puzzle::orbits::OrbitPuzzle,
    search::{
        SearchError,
        disk::{Directories, RunLevel, Verified, label},
    },
    store::{
        ChunkRecord, Codec, FrameEntry, LevelHeader, LevelReader, ListCounts, ListCut, Manifest,
        ReadAt, RunFile, StorageError,
    },
    system::SystemError,
    threads::pool,
};

/// Maximum number of chunks of a run: all files of two levels are open at the same time.
const CHUNKS: usize = 256;

/// How the classes of a puzzle are grouped into chunks of lists, and these into chunks of the run.
#[derive(Clone, Copy, Default)]
pub(crate) struct Chunking {
    all: usize,
    /// Number of classes in a chunk of lists.
    pub classes: usize,
    /// Number of chunks of lists in a chunk of the run.
    pub each: usize,
}

impl Chunking {
    pub fn of(cut: &ListCut) -> Chunking {
        let classes = BucketSpace::classes_of_chunk(cut.classes, cut.buckets_per_class);
        let chunks = cut.classes.div_ceil(classes);
        Chunking { all: cut.classes, classes, each: chunks.div_ceil(CHUNKS) }
    }

    pub fn parts(self) -> usize {
        self.all.div_ceil(self.classes * self.each)
    }
}

/// The files of a list search.
pub(crate) struct ListFiles<'a> {
    directories: &'a Directories,
    of: Chunking,
    run: u64,
    chunks: u32,
    label: String,
    keep_all: bool,
}

impl<'a> ListFiles<'a> {
    pub fn new(directories: &'a Directories, manifest: &Manifest) -> ListFiles<'a> {
        ListFiles {
            directories,
            of: manifest.lists.as_ref().map(Chunking::of).unwrap_or_default(),
            run: manifest.run,
            chunks: manifest.chunks,
            label: label(&manifest.identity),
            keep_all: manifest.keep_all,
        }
    }

    pub fn header(&self, depth: u32, chunk: u32) -> LevelHeader {
        let each = self.of.classes * self.of.each;
        let first = chunk as usize * each;
        LevelHeader {
            run: self.run,
            depth,
            chunk,
            chunks: self.chunks,
            frame_lines: self.of.classes as u32,
            first_line: first as u64,
            lines: each.min(self.of.all - first) as u64,
            label: self.label.clone(),
            codec: Codec::Zstd,
        }
    }

    fn level(&self, depth: u32) -> RunLevel<'a> {
        let ListFiles { directories, run, keep_all, .. } = *self;
        RunLevel { directories, run, depth, keep_all }
    }

    /// Returns the error for lists that cannot be read: the file with the number of its chunk.
    pub fn unread(&self, error: StorageError) -> SearchError {
        match (error.kind(), RunFile::parse(&error.place.file)) {
            (
                std::io::ErrorKind::InvalidData,
                Some(RunFile::Level { depth, chunk } | RunFile::Uncommitted { depth, chunk, .. }),
            ) => self.level(depth).damaged(chunk as usize, &error.reason.to_string()),
            _ => error.into(),
        }
    }

    /// The lists of a chunk of the run, each with the number of its chunk. They use memory as long as some is left: for
    /// uncoded keys, otherwise for coded lists, otherwise none.
    fn lists(
        &self,
        space: &BucketSpace,
        depth: u32,
        record: &ChunkRecord,
        room: &AtomicU64,
    ) -> Result<Vec<(usize, ListChunk)>, SearchError> {
        let level = self.level(depth);
        let reader = level.open(record, &self.header(depth, record.chunk))?;
        let (file, entries) = reader.into_file();
        let file: Arc<dyn ReadAt> = file.into();
        let read = |entry: &FrameEntry| {
            let at = record.chunk as usize * self.of.each + entry.frame as usize;
            let relaxed = Ordering::Relaxed;
            let takes = |bytes: u64| {
                room.fetch_update(relaxed, relaxed, |left| left.checked_sub(bytes)).is_ok()
            };
            let read =
                |in_memory| Ok(ListChunk::of_frame(&file, entry, space.buckets(at), in_memory)?.0);
            let in_file = read(false)?;
            let lists = if takes(space.plain_bytes(at, &in_file)) {
                space.plain(at, &read(true)?)?
            } else if takes(u64::from(entry.len)) {
                read(true)?
            } else {
                in_file
            };
            Ok((at, lists))
        };
        let lists = entries.iter().map(read).collect::<Result<_, _>>();
        lists.map_err(|error| self.unread(error))
    }

    /// The lists of a level.
    pub fn load(
        &self,
        space: &BucketSpace,
        depth: u32,
        records: &[ChunkRecord],
        room: u64,
    ) -> Result<BucketLists, SearchError> {
        let mut chunks = vec![ListChunk::default(); space.chunks()];
        let room = AtomicU64::new(room);
        let here: Vec<&ChunkRecord> = records.iter().filter(|record| record.has_file()).collect();
        let read = here.par_iter().map(|record| self.lists(space, depth, record, &room));
        for lists in read.collect::<Result<Vec<_>, _>>()? {
            for (at, lists) in lists {
                chunks[at] = lists;
            }
        }
        Ok(BucketLists { chunks })
    }
}

// Operations on the files of a run at rest.

/// Reads every list of every file of a run, recounts its states, and makes the same comparisons as
/// [`crate::search::disk::verify`].
pub(crate) fn verify_lists(
    directories: &Directories,
    manifest: &Manifest,
    puzzle: &OrbitPuzzle,
    progress: &dyn Progress,
) -> Result<Verified, Error> {
    let first = directories.first();
    let files = ListFiles::new(directories, manifest);
    let unknown =
        || SearchError::apart(first, "its manifest does not say how its lists are distributed");
    let cut = manifest.lists.as_ref().ok_or_else(unknown)?;
    let space = FrontierSearch::new(puzzle.clone()).space_of(cut)?;
    let all = manifest.disk_bytes();
    let done = AtomicU64::new(0);
    let mut verified = Verified::default();
    let pool = pool(None).map_err(SearchError::from)?;
    for level in &manifest.files {
        let check = |record: &ChunkRecord| {
            if !record.has_file() {
                return Ok(record.tally());
            }
            let mut sum = LevelTotal::default();
            let none = AtomicU64::new(0);
            for (at, lists) in files.lists(&space, level.depth, record, &none)? {
                if progress.interrupted() {
                    return Err(SystemError::Interrupted.into());
                }
                let own = space.recount(at, &lists).map_err(|error| files.unread(error))?;
                sum = sum.plus(own);
            }
            let read = done.fetch_add(record.bytes, Ordering::Relaxed) + record.bytes;
            progress.progress(Phase::Check, read, all);
            // The lists do not contain the number of keys that moves have generated.
            let own = ListCounts { generated: 0, ..sum.lists };
            let stated = record.lists.map(|lists| ListCounts { generated: 0, ..lists });
            if (sum.tally, Some(own)) != (record.tally(), stated) {
                let reason = "its states do not match the manifest";
                return Err(files.level(level.depth).damaged(record.chunk as usize, reason));
            }
            Ok(sum.tally)
        };
        let tallies = pool.install(|| level.chunks.par_iter().map(check).collect::<Vec<_>>());
        let mut sum = Tally::default();
        for (record, tally) in level.chunks.iter().zip(tallies) {
            sum = sum.plus(tally?);
            verified.files += u64::from(record.has_file());
            verified.bytes += record.bytes;
        }
        verified.states += sum.states;
        let kept = manifest.keep_all || level.depth as usize + 1 == manifest.levels.len();
        let stated = manifest.levels.get(level.depth as usize);
        if stated.is_some_and(|stated| kept && stated.tally() != sum) {
            let reason = format!(
                "the states at depth {} do not match the manifest: the files of the search are \
                 damaged; start again in another --dir",
                level.depth
            );
            return Err(SearchError::apart(first, reason).into());
        }
    }
    Ok(verified)
}

/// The additional counts in a file of lists; the number of keys generated by moves is that of chunks with states.
pub(crate) fn counts_of(reader: LevelReader, cut: &ListCut) -> Result<ListCounts, StorageError> {
    let of = Chunking::of(cut);
    let (first, buckets) = (reader.header().first_line as usize, cut.buckets_per_class);
    let (file, entries) = reader.into_file();
    let file: Arc<dyn ReadAt> = file.into();
    let mut sum = ListCounts::default();
    for entry in &entries {
        let class = first + entry.frame as usize * of.classes;
        let buckets = of.classes.min(cut.classes.saturating_sub(class)) * buckets;
        let (lists, [generated, reduced]) = ListChunk::of_frame(&file, entry, buckets, false)?;
        sum.kept += lists.count(0, buckets) as u64;
        sum.generated += generated;
        sum.reduced += reduced;
    }
    Ok(sum)
}
