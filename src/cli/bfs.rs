//! `tilewave bfs`: search a puzzle completely, with numbered states or with lists as levels.
//!
//! Lists are for several sets of pieces, pieces that turn or look alike, and large boards. [`run`] and [`run_lists`]
//! carry out a search and write its result, also for `resume`; `plan` and others make list searches as `bfs`
//! does.

use std::path::{Path, PathBuf};

use clap::ValueHint::{DirPath, FilePath};
use tilewave::{
    Search,
    frontier::FrontierSearch,
    internals,
    progress::{Phase, Progress},
    puzzle::{Puzzle, Searched, StateSpace},
    report::{published, published_for, thousands},
    search::{
        Engine, Outcome,
        disk::{self, Disk, Widths},
    },
};

use crate::{
    Context, DiskOptions, Failure, MadeDirectories, MaxDepth, PuzzleOptions, ResourceOptions,
    Result, ResultReport, Running, SearchProgress, count, first_given,
    options::{Keep, ON_DISK, directories, whole},
    progress::{self, StatusLine},
    puzzle::puzzle,
    ranks, refuse, refuse_in_lists,
    solve::{Databases, FirstTable},
};

/// Enumerate all states of a puzzle: depth distribution, God's number and antipodes.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave bfs 3x4 --plot 3x4.png\n  tilewave bfs 2x4 3x3 topspin:8,4\n  \
                  tilewave bfs 3x3x3 --max-depth 7"
)]
pub struct Args {
    #[command(flatten)]
    of: PuzzleOptions,

    /// Other puzzles, searched the same way in memory: their levels are shown side by side.
    #[arg(value_name = "PUZZLE", value_parser = puzzle)]
    others: Vec<String>,

    #[command(flatten)]
    ahead: Ahead,

    /// In a list search, store every state instead of one per symmetry class.
    ///
    /// The counts are the same, but the search takes more memory and time.
    #[arg(long, hide_short_help = true)]
    no_symmetry: bool,

    /// Solve only the states in FILE, written as for --goals, and count how many moves they need.
    ///
    /// For example, with the states in which a block is solved, and as goals those in which a larger block is solved, this
    /// is the distribution of the step between them. Memory (-M) is that of the tables.
    #[arg(long, value_name = "FILE", value_hint = FilePath, hide_short_help = true)]
    from: Option<PathBuf>,

    /// Start state, from which depths are counted [default: the goal].
    #[arg(long, value_name = "STATE")]
    start: Option<String>,

    #[command(flatten)]
    max_depth: MaxDepth,

    #[command(flatten)]
    report: ResultReport,

    #[command(flatten)]
    running: Running,

    /// Keep the search on disk in DIR, or continue the one in DIR; repeatable.
    ///
    /// To spread the search over several disks, give a directory on each. A search that is killed loses only the work
    /// since its last commit (--commit-every); run the same command again to continue the search.
    #[arg(long, value_name = "DIR", value_hint = DirPath, help_heading = ON_DISK)]
    dir: Vec<PathBuf>,

    /// Levels to keep on disk.
    #[arg(long, value_name = "WHICH", default_value = "last", help_heading = ON_DISK)]
    keep_levels: Keep,

    /// Number of leading digits shared by the numbers of all states in a chunk; more digits give more and smaller
    /// chunks [default: the fewest for which a chunk fits in memory].
    #[arg(
        long,
        value_name = "K",
        value_parser = count::<usize>(),
        allow_negative_numbers = true,
        hide_short_help = true,
        help_heading = ON_DISK
    )]
    shared_digits: Option<usize>,

    #[command(flatten)]
    on_disk: DiskOptions,
}

impl Args {
    pub fn run(&self) -> Result<()> {
        if !self.others.is_empty() {
            return self.side_by_side();
        }
        if let Some(path) = &self.from {
            return self.solve_some(path);
        }
        let task = self.task(&self.of.puzzle)?;
        let _made = MadeDirectories::of(&self.dir);
        let disk = self.disk()?;
        let resources = &self.running.resources;
        match task {
            Task::Numbered(search) => run(&self.report, resources, search, disk),
            Task::Listed(search) => run_lists(&search, &self.report, resources, disk),
        }
    }

    /// The search of a puzzle, in memory or in the directories.
    fn task(&self, puzzle: &str) -> Result<Task> {
        let mut space = match self.of.counted.searched(puzzle)? {
            Searched::Numbered(space) => space,
            Searched::Listed(puzzle) => return self.by_lists(puzzle, false),
        };
        if let Some(text) = &self.start {
            space = space.starting_at(text).context("--start")?;
        }
        let numbered = self.for_numbers();
        let max_depth = self.max_depth.max_depth;
        if let Some(puzzle) = lists_instead(&self.running, &space, max_depth, &self.dir, numbered)?
        {
            return self.by_lists(puzzle, true);
        }
        self.ahead.refuse(self.no_symmetry, &space)?;
        Ok(Task::Numbered(self.running.search(space)?.max_depth(max_depth)))
    }

    /// Searches several puzzles one after the other.
    fn side_by_side(&self) -> Result<()> {
        let refused = first_given(&[
            (self.from.is_some(), "--from"),
            (self.start.is_some(), "--start"),
            (!self.dir.is_empty(), "--dir"),
        ]);
        if let Some(option) = refused.or(self.report.drawn()) {
            refuse!("{option} is for one puzzle: leave it out, or name only one puzzle");
        }
        self.disk()?;
        if ranks::launch(false).is_some() {
            refuse!(
                "several puzzles are searched in one process: start this program without the \
                 launcher of MPI"
            );
        }
        let puzzles = std::iter::once(&self.of.puzzle).chain(&self.others);
        let named = puzzles.map(|puzzle| Ok((puzzle, self.task(puzzle)?)));
        let tasks = named.collect::<Result<Vec<_>>>()?;
        let last = self.report.keep_last();
        let all = tasks.len();
        let found = tasks.into_iter().enumerate();
        self.report.finish_several(found.map(|(index, (puzzle, task))| {
            let progress = SearchProgress::of_part(&format!("{puzzle},"), index, all);
            task.run(last, &progress)
        }))
    }

    /// Solves the states in a file.
    fn solve_some(&self, path: &Path) -> Result<()> {
        let refused = first_given(&[
            (self.start.is_some(), "--start"),
            (self.max_depth.max_depth.is_some(), "--max-depth"),
            (self.no_symmetry, "--no-symmetry"),
            (self.running.engine.is_some(), "--engine"),
            (!self.dir.is_empty(), "--dir"),
        ]);
        if let Some(option) = refused {
            refuse!(
                "{option} is for searches of all states, and --from solves states one by one: leave \
                 out one of them"
            );
        }
        self.disk()?;
        if ranks::launch(false).is_some() {
            refuse!("--from works in one process: start this program without the launcher of MPI");
        }
        let subset = self.of.counted.subset(&self.of.puzzle, path)?;
        let files = self.report.files()?;
        let resources = &self.running.resources;
        progress::listen();
        tell_notes(subset.puzzle());
        let outcome = internals::pool(resources.threads.get())?.install(|| {
            let databases = Databases::within(resources.memory);
            let threads = resources.threads.get();
            let solver = databases.solver(subset.puzzle(), threads, FirstTable::Growing)?;
            tracing::info!(
                "solving {} states, {} up to symmetry",
                thousands(subset.states()),
                thousands(subset.classes())
            );
            Ok::<_, Failure>(subset.depths(&solver, &SubsetWatch(StatusLine::new()))?)
        })?;
        self.report.finish(files, &outcome)
    }

    /// How to use the disk, or `None` for a search in memory.
    fn disk(&self) -> Result<Option<Disk>> {
        if !self.dir.is_empty() {
            let disk = self.on_disk.disk_in(&self.dir)?;
            let disk = disk.shared_digits(self.shared_digits);
            return Ok(Some(disk.keep_all(self.keep_levels == Keep::All)));
        }
        match self.shared_digits().or(self.on_disk.given()) {
            _ if self.keep_levels == Keep::All => refuse!(
                "--keep-levels works only for a search on disk: add --dir DIR, or leave out \
                 --keep-levels"
            ),
            Some(option) => refuse!(
                "{option} works only for a search on disk: add --dir DIR, or leave out {option}"
            ),
            None => Ok(None),
        }
    }

    fn shared_digits(&self) -> Option<&'static str> {
        self.shared_digits.map(|_| "--shared-digits")
    }

    /// An option that only searches of numbered states have.
    fn for_numbers(&self) -> Option<&'static str> {
        self.running.numbered().or(self.shared_digits()).or(self.on_disk.for_numbers())
    }

    /// The search of a puzzle by lists; `is_numbered`: its states have numbers, too, and its start is the one asked for.
    fn by_lists(&self, puzzle: Puzzle, is_numbered: bool) -> Result<Task> {
        let given = (self.start.is_some() && !is_numbered).then_some("--start");
        refuse_in_lists(given.or(self.for_numbers()), &puzzle)?;
        let resources = &self.running.resources;
        let mut search = list_search(puzzle, self.max_depth.max_depth, &self.ahead, resources)?;
        search.symmetry = !self.no_symmetry;
        search.bitmaps = self.running.engine == Some(Engine::Bitmap);
        if search.bitmaps && self.dir.is_empty() {
            refuse!("--engine bitmap keeps its bits in files: add --dir DIR");
        }
        Ok(Task::Listed(Box::new(search)))
    }
}

/// A search, by the engines that can make it.
enum Task {
    Numbered(Search),
    Listed(Box<FrontierSearch>),
}

impl Task {
    /// Carries out the search in memory, keeping up to `last` states of the last depth.
    fn run(self, last: usize, progress: &dyn Progress) -> Result<Outcome> {
        Ok(match self {
            Task::Numbered(mut search) => {
                search.keep_last = last;
                search.run_with(progress)?
            }
            Task::Listed(search) => {
                tell_notes(search.puzzle());
                search.keep_last(last).run_with(progress)?
            }
        })
    }
}

/// Runs a search, in memory or on disk, and writes its result.
pub fn run(
    report: &ResultReport,
    resources: &ResourceOptions,
    mut search: Search,
    disk: Option<Disk>,
) -> Result<()> {
    search.keep_last = report.keep_last();
    let together = ranks::launch(disk.is_some()).is_some();
    if search.engine == Some(Engine::Reference) && (disk.is_some() || together) {
        refuse!("--dir does not work with the reference engine: leave out --engine reference");
    }
    ranks::run(
        report,
        resources,
        disk,
        |disk, progress| match disk {
            Some(mut disk) => {
                disk.expected = expected(&search)?;
                Ok(disk.run_with(&search, progress)?)
            }
            None => Ok(search.run_with(progress)?),
        },
        |disk, resources, ranks, progress| {
            disk.run_distributed_with(&search.clone().resources(resources), ranks, progress)
        },
        |files, outcome| report.finish(files, &outcome),
    )
}

/// What may be expected of the levels of a search.
fn expected(search: &Search) -> Result<Vec<Widths>> {
    let space = &search.space;
    if let Some(truth) = published_for(space) {
        return Ok(vec![disk::widths(space, truth.counts(), search.max_depth)?]);
    }
    // From other goals the widest levels are as wide, not the first ones.
    let corner = space.size().zip(space.metric());
    let corner = corner.and_then(|(size, m)| published(size, size.cells() - 1, m));
    let complete = corner.map_or(&[][..], |truth| truth.counts());
    Ok(vec![disk::widths(space, &[], search.max_depth)?, disk::widths(space, complete, None)?])
}

/// Shows how many states are solved.
struct SubsetWatch(StatusLine);

impl Progress for SubsetWatch {
    fn progress(&self, _: Phase, done: u64, all: u64) {
        let words = || format!("{} of {} states solved", thousands(done), thousands(all));
        self.0.say(|| (done as f64 / all as f64, words()));
    }

    fn interrupted(&self) -> bool {
        progress::asked()
    }
}

// Searches with lists as levels.

/// `--count-ahead`.
#[derive(clap::Args, Default)]
pub struct Ahead {
    /// With --max-depth: store neither the last depth nor N (1) depths before it.
    ///
    /// This takes longer, but lets N more depths fit in memory or on disk. N is at most 3. It works only in list
    /// searches: those of cubes, large boards and other puzzles whose states are not numbered, and all searches with
    /// --engine frontier.
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1",
        value_parser = whole(1, FrontierSearch::MOST_AHEAD),
        requires = "max_depth"
    )]
    count_ahead: Option<usize>,
}

impl Ahead {
    /// Refuses the options of list searches for a puzzle whose states have numbers.
    pub fn refuse(&self, no_symmetry: bool, space: &StateSpace) -> Result<()> {
        let ahead = (self.count_ahead.is_some(), "--count-ahead");
        if let Some(option) = first_given(&[ahead, (no_symmetry, "--no-symmetry")]) {
            refuse!(
                "{option} works only in list searches, but the states of {space} are numbered: \
                 leave it out"
            );
        }
        Ok(())
    }
}

/// The puzzle to search by lists where a search is one, in memory or in directories; `numbered` is an option that only
/// searches of numbered states have.
pub fn lists_instead(
    running: &Running,
    space: &StateSpace,
    max_depth: Option<usize>,
    dirs: &[PathBuf],
    numbered: Option<&str>,
) -> Result<Option<Puzzle>> {
    if running.by_lists() {
        return Ok(Some(Puzzle::of_space(space)?));
    }
    let search = running.search(space.clone())?.max_depth(max_depth);
    let on_disk = !dirs.is_empty();
    let begun = on_disk.then(|| directories(dirs).ok()).flatten();
    Ok(internals::lists_instead(&search, numbered.is_some(), on_disk, begun.as_ref())?)
}

pub fn list_search(
    puzzle: Puzzle,
    max_depth: Option<usize>,
    ahead: &Ahead,
    resources: &ResourceOptions,
) -> Result<FrontierSearch> {
    Ok(FrontierSearch::new(puzzle)
        .max_depth(max_depth)
        .count_ahead(ahead.count_ahead.unwrap_or_default())
        .resources(resources.get()?))
}

/// Says what the puzzle became, and what its counts are those of.
fn tell_notes(puzzle: &Puzzle) {
    for note in puzzle.notes() {
        tracing::info!("{note}");
    }
}

/// Runs a search by lists, in memory or on disk, and writes what it has found, beside what is published of it.
pub fn run_lists(
    search: &FrontierSearch,
    report: &ResultReport,
    resources: &ResourceOptions,
    disk: Option<Disk>,
) -> Result<()> {
    let search = search.clone().keep_last(report.keep_last());
    ranks::run(
        report,
        resources,
        disk,
        |disk, progress| {
            tell_notes(search.puzzle());
            Ok(match disk {
                Some(disk) => disk.run_with(&search, progress)?,
                None => search.run_with(progress)?,
            })
        },
        |disk, resources, ranks, progress| {
            let search = search.clone().resources(resources);
            disk.run_distributed_with(&search, ranks, progress)
        },
        |files, outcome| report.finish(files, &outcome),
    )
}
