//! `tilewave resume`, `repair` and `verify`: searches on disk, and what is known of searches.

use std::{path::PathBuf, time::Duration};

use clap::ValueHint::DirPath;
use serde::Serialize;
use tilewave::{
    puzzle::{StateSpace, orbits::OrbitPuzzle},
    report::{
        SearchLevels, Truth, Verdict, bytes, counted, published_for, published_growth, thousands,
    },
    search::{Engine, disk, disk::Searched},
};

use crate::cli::{
    Ahead, Counted, DiskOptions, Failure, Figures, MaxDepth, OutputOptions, Result, ResultReport,
    Running, SearchProgress, Subject, bfs, directories, facts, frontier, puzzle, refuse,
};

/// Resume a search on disk.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave resume RUN")]
pub struct ResumeArgs {
    /// The directories of the search, in the order given when it was started.
    #[arg(required = true, value_name = "DIR", value_hint = DirPath)]
    dirs: Vec<PathBuf>,

    #[command(flatten)]
    max_depth: MaxDepth,

    #[command(flatten)]
    ahead: Ahead,

    /// Check all files first, and recompute damaged levels if the levels before them were kept.
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
                    refuse!(
                        "{option} works only with numbered states, not in a list search: leave it out"
                    );
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
    /// The directories of the search, in the order given when it was started.
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
        let files = counted(self.files as u64, "level file");
        let mut rows = vec![("found", format!("{files}{previous}"))];
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
                "tilewave check checks every file; tilewave resume continues the search".into(),
            ),
        ]);
        facts(9, rows)
    }
}

// `tilewave verify`: search puzzles and hold the result against what is known.

/// Most states that the reference engine checks: seconds to minutes, and 125 MB.
const REFERENCE_STATES: u64 = 1_000_000_000;

/// Search puzzles and compare every level with published results.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  tilewave verify 2x4 3x3\n  tilewave verify lrx:9 dino.gap")]
pub struct VerifyArgs {
    /// Puzzles: boards (3x4), members of families (topspin:12,4), named puzzles (2x2x2) or files (dino.gap).
    #[arg(required = true, value_name = "PUZZLE", value_parser = puzzle)]
    puzzles: Vec<String>,

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

impl VerifyArgs {
    pub fn run(&self) -> Result<()> {
        let mut puzzles = Vec::new();
        for word in &self.puzzles {
            puzzles.push(match self.counted.orbits(word)? {
                Some(puzzle) => Searched::Listed(puzzle),
                None => Searched::Numbered(self.counted.space(word)?),
            });
        }
        self.puzzles(&puzzles)
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
                "{puzzle} has no published level counts and too many states for a complete search: \
                 there is nothing to compare a search with"
            ),
            depth => depth,
        };
        let search = frontier::search(puzzle.clone(), max_depth, &Ahead::default(), &self.running)?;
        let found = search.run_with(&SearchProgress::new())?;
        Ok(Verdict::of_lists(puzzle, &found, published.as_ref()))
    }
}
