//! `tilewave bfs`: search a puzzle completely, with numbered states or with lists as levels.
//!
//! Lists are for several sets of pieces, pieces that turn or look alike, and large boards. [`run`] and [`run_lists`]
//! carry out a search and write its result, also for `resume`; `plan` and others make list searches as `bfs`
//! does.

use std::path::PathBuf;

use clap::ValueHint::DirPath;
use tilewave::{
    Search,
    frontier::FrontierSearch,
    internals,
    puzzle::{Puzzle, Searched, StateSpace},
    report::{published, published_for},
    search::{
        Engine,
        disk::{self, Disk, Widths},
    },
};

use crate::{
    Context, DiskOptions, MadeDirectories, MaxDepth, PuzzleOptions, ResourceOptions, Result,
    ResultReport, Running, count, first_given,
    options::{Keep, ON_DISK, directories, whole},
    ranks, refuse, refuse_in_lists,
};

/// Enumerate all states of a puzzle: depth distribution, God's number and antipodes.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave bfs 3x4 --plot 3x4.png\n  tilewave bfs 3x3 --metric mtm\n  tilewave bfs topspin:12,4\n  \
                  tilewave bfs 3x3x3 --max-depth 7"
)]
pub struct Args {
    #[command(flatten)]
    of: PuzzleOptions,

    #[command(flatten)]
    ahead: Ahead,

    /// In a list search, store every state instead of one per symmetry class.
    ///
    /// The counts are the same, but the search takes more memory and time.
    #[arg(long, hide_short_help = true)]
    no_symmetry: bool,

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
        let mut space = match self.of.searched()? {
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
        let mut search = self.running.search(space)?;
        search.max_depth = max_depth;
        let _made = MadeDirectories::of(&self.dir);
        let disk = self.disk()?;
        run(&self.report, &self.running.resources, search, disk)
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

    /// Searches a puzzle by lists; `is_numbered`: its states have numbers, too, and its start is the one asked for.
    fn by_lists(&self, puzzle: Puzzle, is_numbered: bool) -> Result<()> {
        let given = (self.start.is_some() && !is_numbered).then_some("--start");
        refuse_in_lists(given.or(self.for_numbers()), &puzzle)?;
        let _made = MadeDirectories::of(&self.dir);
        let disk = self.disk()?;
        let max_depth = self.max_depth.max_depth;
        let resources = &self.running.resources;
        let mut search = list_search(puzzle, max_depth, &self.ahead, resources)?;
        search.symmetry = !self.no_symmetry;
        run_lists(&search, &self.report, resources, disk)
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
            for note in search.puzzle.notes() {
                tracing::info!("{note}");
            }
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
