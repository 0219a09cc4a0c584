//! The directories of a run, the options of a search on disk, and how a session ends early.
//!
//! The program and Rust programs make a [`Disk`] with its [`Directories`]: the location of each chunk, the locks, and
//! the disk space in use. [`Disk::run`] (`run`) ends with an outcome or with the reason why it [stops](Stop).

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::RwLock;
use twox_hash::XxHash3_64;

use crate::{
    Error,
    puzzle::{Board, Metric, Puzzle, Searched, StateSpace},
    resources::setters,
    search::{Communicator, PlaneStore, SearchError, disk::Widths},
    stop::Stop,
    store::{
        Codec, DEFAULT_LEVEL, Identity, LABEL, Lock, Manifest, Marker, Shares, Storage, lock_within,
    },
};

/// The directories of a run. The first one contains the manifest, whose shares determine which directory contains which
/// chunk.
#[derive(Clone)]
pub struct Directories {
    storages: Arc<[Box<dyn Storage>]>,
    shares: Arc<RwLock<Shares>>,
    pub(crate) used: Arc<Used>,
}

/// The sizes of this session's files.
#[derive(Default)]
pub(crate) struct Used {
    pub levels: AtomicU64,
    pub scratch: AtomicU64,
}

impl Used {
    pub fn bytes(&self) -> u64 {
        self.levels.load(Ordering::Relaxed) + self.scratch.load(Ordering::Relaxed)
    }
}

impl Directories {
    /// Returns the directories of a run, in the order in which chunks are distributed among them.
    ///
    /// # Panics
    /// If `storages` is empty.
    pub fn new(storages: Vec<Box<dyn Storage>>) -> Directories {
        assert!(!storages.is_empty(), "a run has a directory");
        let shares = Arc::new(Shares::new(&[], storages.len()).into());
        Directories { storages: storages.into(), shares, used: Arc::default() }
    }

    pub(crate) fn count(&self) -> usize {
        self.storages.len()
    }

    /// The directory of the manifest.
    pub(crate) fn first(&self) -> &dyn Storage {
        &*self.storages[0]
    }

    /// The arguments for `tilewave resume`: the directories, the maximum depth of the search, and how many levels it
    /// counts ahead.
    pub(crate) fn resume(&self, max_depth: Option<usize>, ahead: usize) -> String {
        let mut words: Vec<String> = self.storages.iter().map(|storage| storage.name()).collect();
        words.extend(max_depth.map(|depth| format!("--max-depth {depth}")));
        words.extend((ahead > 0).then(|| format!("--count-ahead={ahead}")));
        words.join(" ")
    }

    pub(crate) fn of_chunk(&self, chunk: usize) -> &dyn Storage {
        &*self.storages[self.place(chunk)]
    }

    /// Returns the index of the directory of a chunk, from 0.
    pub(crate) fn place(&self, chunk: usize) -> usize {
        self.shares.read().place(chunk)
    }

    /// How chunks are distributed.
    pub(crate) fn shares(&self) -> Shares {
        self.shares.read().clone()
    }

    /// Distributes chunks according to the shares of a run, or equally if the number of shares differs from that of
    /// directories.
    pub(crate) fn deal(&self, shares: &[u32]) {
        *self.shares.write() = Shares::new(shares, self.count());
    }

    /// Returns the shares for a new run, based on the free space on the disks.
    pub(crate) fn shares_by_room(&self) -> Vec<u32> {
        let rooms: Vec<_> = self.all().map(|s| (s.free(), s.device())).collect();
        Shares::by_room(&rooms)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &dyn Storage> {
        self.storages.iter().map(|storage| &**storage)
    }

    /// Locks all directories, each after waiting at most `patience`.
    pub(crate) fn lock(&self, patience: Duration) -> Result<Vec<Lock>, SearchError> {
        let running = "another search is running in this directory: wait for that search to end, \
                       or choose another directory";
        let lock = |storage: &dyn Storage| {
            let lock = lock_within(storage, patience)?;
            lock.ok_or_else(|| SearchError::apart(storage, running))
        };
        self.all().map(lock).collect()
    }

    /// Returns whether a search is running in these directories.
    pub fn is_locked(&self) -> bool {
        self.all().any(Storage::is_locked)
    }

    /// Returns the number of the run to which the first directory belongs, and how many directories the run has; `None`
    /// if neither its marker nor its manifest can be read.
    pub fn run(&self) -> Option<(u64, usize)> {
        let marker = Marker::read(self.first()).ok().flatten();
        let marker = marker.map(|marker| (marker.run, marker.directories));
        let manifest = || {
            let manifest = Manifest::read(self.first()).ok().flatten()?;
            Some((manifest.run, manifest.directories))
        };
        marker.or_else(manifest).map(|(run, directories)| (run, directories as usize))
    }

    /// Reads the manifest, if there is one, and distributes chunks as it specifies.
    ///
    /// # Errors
    /// [`SearchError`] if it cannot be read or is damaged.
    pub fn manifest(&self) -> Result<Option<Manifest>, SearchError> {
        let manifest = Manifest::read(self.first())?;
        self.deal(manifest.as_ref().map_or(&[], |manifest| &manifest.shares));
        Ok(manifest)
    }
}

// The description of the puzzle in the files of a run, and the puzzle restored from this description.
//
// Invariant: a puzzle that is read back has the same states in the same order of lines; two searches have the same
// label only if they have the same puzzle, metric and goal.

impl Identity {
    pub(crate) fn of(space: &StateSpace) -> Identity {
        let metric = space.metric().filter(|&metric| metric != Metric::Stm);
        Identity {
            board: space.name(),
            goal: space.goal_text(),
            start: space.start_text(),
            metric: metric.map(|metric| metric.name().into()),
            puzzle: space.puzzle_text(),
        }
    }

    /// Names and values to be compared, most informative first.
    pub(crate) fn facts(&self) -> [(&'static str, String); 5] {
        let moves = self.puzzle.as_deref().map_or_else(String::new, hash);
        let metric = self.metric.clone();
        [
            ("board", self.board.clone()),
            ("metric", metric.unwrap_or_else(|| Metric::Stm.name().into())),
            ("hash of the moves", moves),
            ("goal", self.goal.clone()),
            ("start", self.start.clone()),
        ]
    }

    pub(crate) fn of_sets(puzzle: &Puzzle) -> Identity {
        Identity {
            board: puzzle.name().into(),
            goal: match puzzle.goals().len() {
                1 => SOLVED.into(),
                goals => format!("{goals} states"),
            },
            start: SOLVED.into(),
            metric: None,
            puzzle: Some(puzzle.to_json()),
        }
    }

    /// Whether both have the same moves of a puzzle other than a board, whatever the names.
    pub(crate) fn is_renamed(&self, other: &Identity) -> bool {
        if self.puzzle.is_some() && self.puzzle == other.puzzle {
            return true;
        }
        let read = |of: &Identity| StateSpace::from_puzzle_text(of.puzzle.as_ref()?);
        matches!((read(self), read(other)), (Some(one), Some(other)) if one.is_renamed(&other))
    }

    /// The object of the search, by lists or by numbers; [`SearchError::Apart`] as in [`Identity::space`].
    pub(crate) fn searched(&self, of: &dyn Storage) -> Result<Searched, Error> {
        let listed = self.puzzle.as_deref().and_then(|text| Puzzle::of_json(&self.board, text));
        listed.map_or_else(|| self.space(of).map(Searched::Numbered), |p| Ok(Searched::Listed(p)))
    }

    /// The object of a search of numbered states; [`SearchError::Apart`] for data that this version cannot have
    /// written.
    pub(crate) fn space(&self, of: &dyn Storage) -> Result<StateSpace, Error> {
        let unknown = |what: &str| {
            let reason = "that this program does not know: use the version of tilewave that \
                          started the search";
            SearchError::apart(of, format!("the manifest specifies {what} {reason}"))
        };
        if let Some(text) = &self.puzzle {
            let space = StateSpace::from_puzzle_text(text).ok_or_else(|| unknown("a puzzle"))?;
            return space.starting_at(&self.start);
        }
        let metric = match self.metric.as_deref() {
            None => Metric::Stm,
            Some(name) if name == Metric::Mtm.name() => Metric::Mtm,
            Some(_) => return Err(unknown("a metric").into()),
        };
        let goal = Board::parse(&self.goal, Some(self.board.parse()?))?;
        let space = StateSpace::of_board(goal).in_metric(metric);
        space.starting_at(&self.start)
    }
}

/// Stands for goal and start of a puzzle in a list search.
const SOLVED: &str = "solved";

fn hash(text: &str) -> String {
    format!("{:016x}", XxHash3_64::oneshot(text.as_bytes()))
}

/// Returns the description of the lines in the header of each level file: the goal of a board, and the metric unless it
/// is the single-tile metric; the hash of another puzzle's text, and as much of its name as there is room for.
pub(crate) fn label(identity: &Identity) -> String {
    match (&identity.puzzle, &identity.metric) {
        (Some(text), _) => {
            let mut label = format!("{} {}", hash(text), identity.board);
            let end = (0..=LABEL).rev().find(|&at| label.is_char_boundary(at));
            label.truncate(end.unwrap_or(0));
            label
        }
        (None, Some(metric)) => format!("{metric} {}", identity.goal),
        (None, None) => identity.goal.clone(),
    }
}

// What a search on disk may use, and how.

/// The options for using disks in a search.
#[derive(Clone)]
#[non_exhaustive]
pub struct Disk {
    /// The directories that contain the files.
    pub directories: Directories,
    /// Number of digits that all lines of a chunk share, K; `None` for the smallest number that fits in memory. A
    /// continued run keeps its number.
    pub shared_digits: Option<usize>,
    /// Where the planes are stored; `None` for memory if they fit there.
    pub planes: Option<PlaneStore>,
    /// Codec of new files; `None` for the fastest on this processor. A run may have files with both codecs.
    pub codec: Option<Codec>,
    /// zstd compression level of new files.
    pub zstd_level: i32,
    /// Minimum time between two commits; zero commits after every chunk.
    pub commit_every: Duration,
    /// Whether the files of all levels are kept, not only of the last two.
    pub keep_all: bool,
    /// Maximum size of level files and scratch files in bytes, `None` for all free disk space.
    pub limit: Option<u64>,
    /// Expected level widths, with several alternatives if they are uncertain: an incomplete search does not start
    /// unless there is enough disk space for the smallest of them.
    pub expected: Vec<Widths>,
    /// Whether the search starts even if there does not seem to be enough disk space.
    pub ignore_space: bool,
    /// Whether a continued search first reads and checks all its files, and recomputes damaged levels if the preceding
    /// levels are kept.
    pub check: bool,
    /// Maximum time to wait until another search in the directories ends.
    pub patience: Duration,
}

setters! { Disk:
    directories: Directories,
    zstd_level: i32,
    commit_every: Duration,
    keep_all: bool,
    expected: Vec<Widths>,
    ignore_space: bool,
    check: bool,
    patience: Duration,
    ;
    shared_digits: usize,
    planes: PlaneStore,
    codec: Codec,
    limit: u64,
}

impl Disk {
    /// Returns the default options: as few chunks as fit in memory, a commit every 10 seconds, and only the last two
    /// levels kept.
    pub fn new(directories: Directories) -> Disk {
        Disk {
            directories,
            shared_digits: None,
            planes: None,
            codec: None,
            zstd_level: DEFAULT_LEVEL,
            commit_every: Duration::from_secs(10),
            keep_all: false,
            limit: None,
            expected: Vec::new(),
            ignore_space: false,
            check: false,
            patience: Duration::from_secs(10),
        }
    }
}

// How the ranks of a session stop.

/// Returns the value of this rank once every rank has a value; otherwise every rank stops.
pub(crate) fn agreed<T>(
    communicator: &dyn Communicator,
    result: Result<T, impl Into<Error>>,
) -> Result<T, Stop> {
    let result = result.map_err(Into::into);
    let failure = result.as_ref().err().map(ToString::to_string);
    match (communicator.agree(failure), result) {
        (None, Ok(value)) => Ok(value),
        (_, Err(error)) => Err(Stop::Together(error)),
        (Some((rank, reason)), Ok(_)) => {
            Err(Stop::Together(SearchError::Elsewhere { rank, reason }.into()))
        }
    }
}
