//! `tilewave status`, `resume`, `repair` and `verify`: searches on disk, and what is known of searches.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use clap::ValueHint::{AnyPath, DirPath};
use serde::Serialize;
use tilewave::{
    Size,
    progress::StopWhen,
    puzzle::{StateSpace, orbits::OrbitPuzzle},
    report::{
        SearchLevels, Truth, Verdict, bytes, counted, duration, published_for, published_growth,
        rate, thousands,
    },
    search::{Engine, disk, disk::Searched},
};

use crate::cli::{
    Ahead, Counted, DiskOptions, Failure, Figures, MaxDepth, OutputOptions, Result, ResultReport,
    Running, SearchProgress, Subject, bfs, directories, facts, frontier, progress, puzzle, refuse,
};

/// Show the progress of a search on disk.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave status RUN")]
pub struct StatusArgs {
    /// The directories of the search, in the order in which they were given.
    #[arg(value_name = "DIR", value_hint = DirPath, required_unless_present = "dir")]
    dirs: Vec<PathBuf>,

    /// Another way to name the directories, one at a time.
    #[arg(long, value_name = "DIR", value_hint = DirPath, conflicts_with = "dirs")]
    dir: Vec<PathBuf>,

    #[command(flatten)]
    output: OutputOptions,
}

/// How far a search has come.
#[derive(Serialize)]
struct StatusFacts {
    #[serde(flatten)]
    subject: Subject,
    goal: String,
    start: String,
    state: &'static str,
    depth: Option<usize>,
    chunks: u32,
    chunks_done: usize,
    levels: usize,
    states: u64,
    /// Nothing where nobody knows, or 64 bits are not enough.
    all_states: Option<u64>,
    seconds: f64,
    states_per_second: f64,
    eta_seconds: Option<f64>,
    disk_bytes: u64,
    scratch_bytes: u64,
    disk_peak_bytes: u64,
    bytes_written: u64,
    #[serde(skip)]
    name: String,
}

impl StatusArgs {
    pub fn run(&self) -> Result<()> {
        let destination = self.output.reserve()?;
        let of = disk::status(&directories(&[&self.dirs[..], &self.dir[..]].concat())?)?;
        let (manifest, states, all_states) = (&of.manifest, of.states(), of.all_states);
        let states_per_second = of.states_per_second();
        // The first levels are so thin that they say nothing about the rest.
        let telling = |all: &u64| states > all / 1000 && !manifest.complete;
        let rest = all_states.filter(telling).map(|all| all.saturating_sub(states));
        destination.write(&StatusFacts {
            subject: Subject::searched(&of.searched, self.output.format),
            goal: manifest.identity.goal.clone(),
            start: manifest.identity.start.clone(),
            state: match (manifest.complete, of.running) {
                (true, _) => "complete",
                (false, true) => "running",
                (false, false) => "stopped",
            },
            depth: of.depth,
            chunks: manifest.chunks,
            chunks_done: of.chunks_done,
            levels: manifest.depth(),
            states,
            all_states,
            seconds: manifest.seconds,
            states_per_second,
            eta_seconds: rest.map(|rest| rest as f64 / states_per_second.max(1e-9)),
            disk_bytes: manifest.disk_bytes() + of.scratch_bytes,
            scratch_bytes: of.scratch_bytes,
            disk_peak_bytes: manifest.peak_bytes,
            bytes_written: manifest.bytes_written,
            name: of.searched.to_string(),
        })
    }
}

impl Figures for StatusFacts {
    const COLUMNS: &'static str = "board,state,depth,chunks_done,chunks,states,seconds,disk_bytes";

    fn words(&self) -> String {
        let StatusFacts { name, goal, state, chunks, chunks_done, states, all_states, .. } = self;
        let of = |all: u64| {
            let share = *states as f64 * 100.0 / all as f64;
            format!(" of {} ({share:.1} %)", thousands(all))
        };
        let of = all_states.map_or(String::new(), of);
        let eta = self.eta_seconds.map_or(String::new(), |eta| format!(", ETA {}", duration(eta)));
        let (time, speed) = (duration(self.seconds), rate(self.states_per_second));
        let [now, most, written] =
            [self.disk_bytes, self.disk_peak_bytes, self.bytes_written].map(bytes);
        let last = format!("{}, the last one", self.levels.saturating_sub(1));
        let begun = |depth| format!("{depth}, {chunks_done} of {chunks} chunks done");
        let rows = [
            ("search", format!("{name}, goal {goal}: {state}")),
            ("depth", self.depth.map_or(last, begun)),
            ("states", thousands(*states) + &of),
            ("time", format!("{time}, {speed} states/s{eta}")),
            ("disk", format!("{now}, {most} at most, {written} written")),
        ];
        facts(9, rows)
    }
}

// `tilewave resume`: go on with a search on disk.

/// Resume a search on disk.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave resume RUN")]
pub struct ResumeArgs {
    /// The directories of the search, in the order in which they were given.
    #[arg(required = true, value_name = "DIR", value_hint = DirPath)]
    dirs: Vec<PathBuf>,

    #[command(flatten)]
    max_depth: MaxDepth,

    #[command(flatten)]
    ahead: Ahead,

    /// First check all files. Damaged levels are computed again if the levels before them are there.
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    report: ResultReport,

    #[command(flatten)]
    running: Running,

    #[command(flatten)]
    on_disk: DiskOptions,
}

impl ResumeArgs {
    pub fn run(&self) -> Result<()> {
        let dirs = &self.dirs;
        let (found, keep_all, symmetric) = disk::search(&directories(dirs)?)?;
        let disk = self.on_disk.disk_in(dirs)?.keep_all(keep_all).check(self.check);
        let max_depth = self.max_depth.max_depth;
        match found {
            Searched::Numbered(space) => {
                self.ahead.refuse(&space)?;
                let mut search = self.running.search(space)?;
                search.max_depth = max_depth;
                bfs::run(&self.report, &self.running, search, Some(disk))
            }
            Searched::Listed(puzzle) => {
                if let Some(option) = self.on_disk.for_numbers() {
                    refuse!("{option} is for puzzles whose states are numbered, {puzzle} is none");
                }
                let mut search = frontier::search(puzzle, max_depth, &self.ahead, &self.running)?;
                search.symmetry = symmetric;
                frontier::run(&search, None, &self.report, &self.running, Some(disk))
            }
        }
    }
}

// `tilewave repair`: a manifest for level files that have lost theirs.

/// Rebuild a missing or damaged manifest from the level files.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave repair RUN")]
pub struct RepairArgs {
    /// The directories of the search, in the order in which they were given.
    #[arg(required = true, value_name = "DIR", value_hint = DirPath)]
    dirs: Vec<PathBuf>,

    #[command(flatten)]
    output: OutputOptions,
}

/// What a manifest was rebuilt from.
#[derive(Serialize)]
struct RepairFacts {
    #[serde(flatten)]
    subject: Subject,
    goal: String,
    files: usize,
    damaged: Vec<String>,
    previous_manifest: bool,
    kept: Option<String>,
    levels: usize,
    states: u64,
    chunks_done: usize,
    complete: bool,
    #[serde(skip)]
    chunks: u32,
    #[serde(skip)]
    disk_bytes: u64,
    #[serde(skip)]
    name: String,
}

impl RepairArgs {
    pub fn run(&self) -> Result<()> {
        let destination = self.output.reserve()?;
        let found = disk::repair(&directories(&self.dirs)?, Duration::from_secs(10))?;
        let manifest = &found.manifest;
        let levels = manifest.levels.len();
        destination.write(&RepairFacts {
            subject: Subject::searched(&found.searched, self.output.format),
            goal: manifest.identity.goal.clone(),
            files: found.files,
            damaged: found.damaged,
            previous_manifest: found.previous,
            levels,
            states: manifest.levels.iter().map(|level| level.states).sum(),
            chunks_done: manifest.files_of(levels as u32).map_or(0, |f| f.chunks.len()),
            complete: manifest.complete,
            chunks: manifest.chunks,
            disk_bytes: manifest.disk_bytes(),
            name: found.searched.to_string(),
            kept: found.kept,
        })
    }
}

impl Figures for RepairFacts {
    const COLUMNS: &'static str = "board,files,damaged,levels,states,chunks_done,complete";

    fn words(&self) -> String {
        let RepairFacts { name, goal, levels, chunks_done, chunks, .. } = self;
        let previous = if self.previous_manifest { " and the previous manifest" } else { "" };
        let ending = match self.complete {
            true => "complete".into(),
            false => format!("{chunks_done} of {chunks} chunks of depth {levels}"),
        };
        let (deepest, states) = (levels.saturating_sub(1), thousands(self.states));
        let kept = self.kept.as_ref();
        let files = thousands(self.files as u64);
        let mut rows = vec![("found", format!("{files} level files{previous}"))];
        rows.extend(self.damaged.iter().map(|damaged| ("damaged", damaged.clone())));
        rows.extend([
            (
                "rebuilt",
                format!("{name}, goal {goal}: depths 0 to {deepest}, {states} states; {ending}"),
            ),
            ("disk", bytes(self.disk_bytes)),
            ("kept", kept.map_or(String::new(), |kept| format!("the damaged manifest, as {kept}"))),
            (
                "next",
                "tilewave verify checks every file; tilewave resume continues the search".into(),
            ),
        ]);
        facts(9, rows)
    }
}

// `tilewave verify`: search puzzles and hold the result against what is known.

/// Most states that the reference engine checks: seconds to minutes, and 125 MB.
const REFERENCE_STATES: u64 = 1_000_000_000;

/// Check a puzzle against published results, or check the files of a search on disk.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave verify 2x4 3x3\n  tilewave verify lrx:9 dino.gap\n  tilewave verify --dir RUN"
)]
pub struct VerifyArgs {
    /// Puzzles to search: boards (3x4), families (topspin:12,4), cubes and others (2x2x2) or files (dino.gap). Or the directories
    /// of one search on disk, to check all its files; write ./2x6 for a directory that is called like a board.
    #[arg(value_name = "PUZZLE|DIR", value_hint = AnyPath, required_unless_present = "dir")]
    puzzles: Vec<String>,

    /// A directory of the search to check, as for tilewave bfs.
    #[arg(long, value_name = "DIR", value_hint = DirPath, conflicts_with = "puzzles")]
    dir: Vec<PathBuf>,

    #[command(flatten)]
    counted: Counted,

    #[command(flatten)]
    running: Running,

    #[command(flatten)]
    output: OutputOptions,
}

/// The verdict on a search.
#[derive(Serialize)]
struct VerdictFacts {
    #[serde(flatten)]
    subject: Subject,
    goal: String,
    pass: bool,
    first_wrong_depth: Option<usize>,
    compared_with: String,
    own: Option<String>,
    diameter: usize,
    /// Whether all levels were searched; else `diameter` is the last depth.
    complete: bool,
    total: u64,
    #[serde(skip)]
    verdict: Verdict,
}

impl Figures for VerdictFacts {
    const COLUMNS: &'static str = "board,pass,first_wrong_depth,compared_with,diameter,total";

    fn words(&self) -> String {
        format!("{}\n", self.verdict)
    }
}

/// What the files of a search hold.
#[derive(Serialize)]
struct FilesFacts {
    #[serde(flatten)]
    subject: Subject,
    goal: String,
    /// One that is not finished passes nothing, however sound it is.
    pass: Option<bool>,
    sound: bool,
    complete: bool,
    levels: usize,
    files: u64,
    bytes: u64,
    states: u64,
    #[serde(skip)]
    status: disk::Status,
}

impl Figures for FilesFacts {
    const COLUMNS: &'static str = "board,pass,files,bytes,states";

    fn words(&self) -> String {
        let space = &self.status.searched;
        let (files, states) = (counted(self.files, "file"), counted(self.states, "state"));
        let what = format!(
            "{files}, {}, {states}; every frame, chunk and level as counted",
            bytes(self.bytes)
        );
        if self.complete {
            return format!("{space}: PASS, {what}\n");
        }
        let depth = self.levels.saturating_sub(1);
        let share = |all: u64| {
            let share = self.status.states() as f64 * 100.0 / all as f64;
            format!(", {share:.1} % of the states")
        };
        let share = self.status.all_states.map_or(String::new(), share);
        format!(
            "{space}: sound so far, {what}; NOT FINISHED, depth {depth}{share}: tilewave resume continues it\n"
        )
    }
}

impl VerifyArgs {
    pub fn run(&self) -> Result<()> {
        if !self.dir.is_empty() {
            return self.files(&self.dir);
        }
        let (mut spaces, mut directories) = (Vec::new(), Vec::new());
        for word in &self.puzzles {
            let is_dir = Path::new(word).is_dir();
            if word.parse::<Size>().is_ok() && is_dir {
                tracing::info!("{word} is searched: write ./{word} for the directory");
            } else if is_dir {
                directories.push(PathBuf::from(word));
                continue;
            } else if let Err(wrong) = puzzle(word) {
                refuse!("{wrong}, and there is no such directory");
            }
            spaces.push(match self.counted.orbits(word)? {
                Some(puzzle) => Searched::Listed(puzzle),
                None => Searched::Numbered(self.counted.space(word)?),
            });
        }
        match (&spaces[..], &directories[..]) {
            ([], directories) => self.files(directories),
            (spaces, []) => self.puzzles(spaces),
            _ => refuse!("puzzles are searched and directories are checked: give either, not both"),
        }
    }

    fn puzzles(&self, puzzles: &[Searched]) -> Result<()> {
        let mut destination = self.output.reserve()?;
        let mut all_pass = true;
        destination.heading(VerdictFacts::COLUMNS)?;
        for searched in puzzles {
            let (goal, verdict) = match searched {
                Searched::Numbered(space) => (space.goal_text(), self.numbered(space)?),
                Searched::Listed(puzzle) => ("solved".into(), self.listed(puzzle)?),
            };
            all_pass &= verdict.pass();
            destination.line(&VerdictFacts {
                subject: Subject::searched(searched, self.output.format),
                goal,
                pass: verdict.pass(),
                first_wrong_depth: verdict.fault.as_ref().and_then(|fault| fault.depth()),
                compared_with: verdict.compared_with.clone(),
                own: verdict.own.clone(),
                diameter: verdict.diameter(),
                complete: verdict.complete,
                total: verdict.total,
                verdict,
            })?;
        }
        destination.finish()?;
        Failure::unless(all_pass)
    }

    fn numbered(&self, space: &StateSpace) -> Result<Verdict> {
        let search = self.running.search(space.clone())?;
        let outcome = search.run_with(&SearchProgress::new())?;
        let reference;
        let truth = match published_for(space) {
            Some(truth) => Truth::Published(truth),
            None if outcome.total() <= REFERENCE_STATES && outcome.engine == Engine::Sweep => {
                let search = search.clone().engine(Engine::Reference);
                reference = search.run_with(&SearchProgress::new())?;
                Truth::Reference(SearchLevels::of(&reference))
            }
            None => Truth::Sum,
        };
        Ok(Verdict::judge(space, SearchLevels::of(&outcome), truth))
    }

    /// Searches as deep as counts are published, and not more states than the reference engine would.
    fn listed(&self, puzzle: &OrbitPuzzle) -> Result<Verdict> {
        let published = published_growth(puzzle);
        let all = puzzle.states().and_then(|states| u64::try_from(states).ok());
        let few = all.is_some_and(|all| all <= REFERENCE_STATES);
        let known = published.as_ref().map_or(&[][..], |published| published.counts());
        let mut sum = 0u64;
        let within = known.iter().take_while(|&&count| {
            sum = sum.saturating_add(count);
            sum <= REFERENCE_STATES
        });
        let max_depth = match within.count().checked_sub(1) {
            _ if few => None,
            None => refuse!(
                "{puzzle}: no growth of it is published, and it has too many states to search it completely: nothing \
                 to hold a search against"
            ),
            depth => depth,
        };
        let search = frontier::search(puzzle.clone(), max_depth, &Ahead::default(), &self.running)?;
        let found = search.run_with(&SearchProgress::new())?;
        Ok(Verdict::of_lists(puzzle, &found, published.as_ref()))
    }

    /// Checks the files of a search on disk.
    fn files(&self, paths: &[PathBuf]) -> Result<()> {
        let mut destination = self.output.reserve()?;
        progress::listen();
        let directories = directories(paths)?;
        let status = disk::status(&directories)?;
        let found = disk::verify_with(&directories, &StopWhen(progress::asked))?;
        let complete = status.manifest.complete;
        let facts = FilesFacts {
            subject: Subject::searched(&status.searched, self.output.format),
            goal: status.manifest.identity.goal.clone(),
            pass: complete.then_some(true),
            sound: true,
            complete,
            levels: status.manifest.levels.len(),
            files: found.files,
            bytes: found.bytes,
            states: found.states,
            status,
        };
        destination.heading(FilesFacts::COLUMNS)?;
        destination.line(&facts)?;
        destination.finish()
    }
}
