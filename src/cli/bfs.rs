//! `tilewave bfs`: search a puzzle completely, with numbered states or with lists as levels.
//!
//! Lists are for several sets of pieces, pieces that turn or look alike, and large boards. [`run`] and [`run_lists`]
//! carry out a search and write its result, also for `resume`; `plan`, `verify` and others make list searches as `bfs`
//! does.

use std::path::PathBuf;

use clap::ValueHint::DirPath;
use serde::Serialize;
use tilewave::{
    Pattern, Search,
    frontier::{FrontierOutcome, FrontierSearch},
    internals,
    pdb::{Depths, Space},
    puzzle::{StateSpace, orbits::OrbitPuzzle},
    report::{
        Chart, ListReport, Published, bytes, duration, grouped, histogram, published,
        published_for, thousands,
    },
    search::disk::{self, Disk, Widths},
};

use crate::cli::{
    Context, Counted, DiskOptions, Failure, Figures, MadeDirectories, MaxDepth, Result,
    ResultReport, Running, SearchProgress, counts_csv, facts,
    options::{Keep, ON_DISK, directories, whole},
    output::Files,
    puzzle, ranks, refuse, sweeps,
};

/// Enumerate all states of a puzzle: depth distribution, God's number and antipodes.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave bfs 3x4 --plot 3x4.png\n  tilewave bfs 3x3 --metric mtm\n  tilewave bfs topspin:12,4\n  \
                  tilewave bfs 4x4 --goal first --tiles 3,7,11,12-15"
)]
pub struct Args {
    /// Board (3x4), member of a family (topspin:12,4), named puzzle (3x3x3) or file (dino.gap).
    ///
    /// `tilewave puzzles` lists the families and the named puzzles, among them cubes of up to 20x20x20.
    #[arg(value_parser = puzzle)]
    puzzle: String,

    #[command(flatten)]
    counted: Counted,

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
    tiles: Tiles,

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

    #[command(flatten)]
    on_disk: DiskOptions,
}

impl Args {
    pub fn run(&self) -> Result<()> {
        if let Some(puzzle) = self.counted.orbits(&self.puzzle)? {
            return self.by_lists(puzzle, None);
        }
        let mut space = self.counted.space(&self.puzzle)?;
        if let Some(tiles) = &self.tiles.tiles {
            let Some((goal, _)) = space.boards() else {
                refuse!(
                    "--tiles is only for boards, and {} is not a board: leave out --tiles",
                    self.puzzle
                );
            };
            return self.pattern(Pattern::parse(goal.clone(), tiles)?);
        }
        if let Some(text) = &self.start {
            space = space.starting_at(text).context("--start")?;
        }
        let numbered = for_numbers(&self.running, &self.report);
        let numbered = numbered.or(self.on_disk.for_numbers());
        let max_depth = self.max_depth.max_depth;
        if let Some(puzzle) = lists_instead(&self.running, &space, max_depth, &self.dir, numbered)?
        {
            return self.by_lists(puzzle, Some(&space));
        }
        self.ahead.refuse(&space)?;
        if self.no_symmetry {
            refuse!(
                "--no-symmetry works only in list searches, but the states of {space} are \
                 numbered: leave it out"
            );
        }
        let mut search = self.running.search(space)?;
        search.max_depth = max_depth;
        let _made = MadeDirectories::of(&self.dir);
        let disk = self.disk()?;
        run(&self.report, &self.running, search, disk)
    }
}

impl Args {
    /// How to use the disk, or `None` for a search in memory.
    fn disk(&self) -> Result<Option<Disk>> {
        if !self.dir.is_empty() {
            let disk = self.on_disk.disk_in(&self.dir)?;
            return Ok(Some(disk.keep_all(self.keep_levels == Keep::All)));
        }
        match self.on_disk.given() {
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

    /// Searches a puzzle whose states have no numbers.
    fn by_lists(&self, puzzle: OrbitPuzzle, space: Option<&StateSpace>) -> Result<()> {
        let start = self.start.as_ref().filter(|_| space.is_none()).map(|_| "--start");
        let tiles = self.tiles.tiles.as_ref().map(|_| "--tiles");
        let asked =
            [start, tiles, for_numbers(&self.running, &self.report), self.on_disk.for_numbers()];
        if let Some(option) = asked.into_iter().flatten().next() {
            refuse!(
                "{option} works only with numbered states (boards of at most {} cells, and puzzles \
                 with one set of at most 16 distinct pieces), but {puzzle} needs a list search: \
                 leave it out",
                Search::MAX_CELLS
            );
        }
        let _made = MadeDirectories::of(&self.dir);
        let disk = self.disk()?;
        let max_depth = self.max_depth.max_depth;
        let mut search = list_search(puzzle, max_depth, &self.ahead, &self.running)?;
        search.symmetry = !self.no_symmetry;
        let published = space.and_then(published_for).cloned();
        run_lists(&search, published, &self.report, &self.running, disk)
    }
}

/// Runs a search, in memory or on disk, and writes its result.
pub fn run(
    report: &ResultReport,
    running: &Running,
    mut search: Search,
    disk: Option<Disk>,
) -> Result<()> {
    search.keep_last = report.keep_last();
    if let Some(launch) = ranks::launch().filter(|launch| launch.concerns(disk.is_some())) {
        sweeps(&search)?;
        return ranks::run(
            report,
            launch,
            running,
            disk,
            |disk, resources, ranks, progress| {
                disk.run_distributed_with(&search.resources(resources), ranks, progress)
            },
            |files, outcome| report.finish(files, &outcome),
        );
    }
    let files = report.files()?;
    let progress = SearchProgress::new();
    let outcome = match disk {
        Some(mut disk) => {
            sweeps(&search)?;
            disk.expected = expected(&search)?;
            disk.run_with(&search, &progress)?
        }
        None => search.run_with(&progress)?,
    };
    drop(progress);
    report.finish(files, &outcome)
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

// `tilewave bfs --tiles`: the space of a pattern, every move counted.

/// Options that make a search that of a pattern's space.
#[derive(clap::Args)]
pub struct Tiles {
    /// Search only the positions of these tiles (e.g. 1-7) and the blank.
    ///
    /// Give five to eight tiles, such as 1-7 or 1,2,5,9-12. All other tiles look the same. The search runs in memory. For
    /// five to seven tiles, `tilewave pdb build --kind all-moves` saves the depths as a database.
    #[arg(long, value_name = "TILES", conflicts_with_all = ["start", "metric", "plot", "html", "list", "engine", "dir", "directed"])]
    tiles: Option<String>,

    /// With --tiles: the cell of the blank at depth 0, numbered row by row from 0 [default: any cell].
    #[arg(long, value_name = "CELL", requires = "tiles", hide_short_help = true)]
    blank: Option<u8>,
}

/// What the search of a pattern's space has found.
#[derive(Serialize)]
struct PatternSpace {
    board: String,
    goal: String,
    tiles: Vec<u16>,
    blank: Option<u8>,
    states: u64,
    found: u64,
    complete: bool,
    diameter: Option<usize>,
    mean_depth: f64,
    counts: Vec<u64>,
    seconds: f64,
    peak_memory_bytes: Option<u64>,
}

impl Args {
    /// Searches a pattern's space and writes its distribution.
    fn pattern(&self, pattern: Pattern) -> Result<()> {
        let destination = self.report.output.reserve()?;
        let space = Space::new(pattern)
            .blank(self.tiles.blank)
            .resources(self.running.resources.get()?)
            .max_depth(self.max_depth.max_depth);
        let found = space.run_with(&SearchProgress::new())?;
        destination.write(&PatternSpace::new(&space, found))
    }
}

impl PatternSpace {
    fn new(space: &Space, of: Depths) -> PatternSpace {
        let found: u64 = of.counts.iter().sum();
        let moves = of.counts.iter().zip(0u128..);
        let sum: u128 = moves.map(|(&states, depth)| u128::from(states) * depth).sum();
        PatternSpace {
            board: space.pattern.size().to_string(),
            goal: space.pattern.goal().to_string(),
            tiles: space.pattern.tiles().to_vec(),
            blank: space.blank,
            states: of.states,
            found,
            complete: of.complete,
            diameter: of.complete.then_some(of.counts.len() - 1),
            mean_depth: sum as f64 / found as f64,
            counts: of.counts,
            seconds: of.seconds,
            peak_memory_bytes: internals::peak_memory(),
        }
    }
}

impl Figures for PatternSpace {
    const COLUMNS: &'static str = "depth,states";

    fn csv(&self) -> String {
        counts_csv(&self.counts)
    }

    fn words(&self) -> String {
        let tiles: Vec<String> = self.tiles.iter().map(u16::to_string).collect();
        let start = self.blank.map_or("anywhere".into(), |cell| format!("on cell {cell}"));
        let deepest = self.counts.len() - 1;
        let stopped = format!("more than {deepest} (the search stopped there)");
        let rows = [
            ("board", self.board.clone()),
            ("tiles", tiles.join(",")),
            ("start", format!("tiles on their goal cells, blank {start}")),
            ("states", format!("{} of {}", thousands(self.found), thousands(self.states))),
            ("last depth", self.diameter.map_or(stopped, |diameter| diameter.to_string())),
            ("mean depth", format!("{:.6}", self.mean_depth)),
            ("time", duration(self.seconds)),
            ("memory", bytes(self.peak_memory_bytes.unwrap_or_default())),
        ];
        histogram(&self.counts, self.states) + &facts(14, rows)
    }
}

// Searches with lists as levels.

impl Figures for ListReport {
    const COLUMNS: &'static str = ListReport::COLUMNS;

    fn words(&self) -> String {
        self.text()
    }

    fn csv(&self) -> String {
        self.csv_lines()
    }
}

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
    /// Refuses the option for a puzzle whose states have numbers.
    pub fn refuse(&self, space: &StateSpace) -> Result<()> {
        if self.count_ahead.is_some() {
            refuse!(
                "--count-ahead works only in list searches, but the states of {space} are \
                 numbered: leave it out"
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
) -> Result<Option<OrbitPuzzle>> {
    if running.by_lists() {
        return Ok(Some(OrbitPuzzle::of_space(space).map_err(tilewave::Error::from)?));
    }
    let search = running.search(space.clone())?.max_depth(max_depth);
    let on_disk = !dirs.is_empty();
    let begun = on_disk.then(|| directories(dirs).ok()).flatten();
    Ok(internals::lists_instead(&search, numbered.is_some(), on_disk, begun.as_ref())?)
}

/// An option that only searches of numbered states have.
pub fn for_numbers(running: &Running, report: &ResultReport) -> Option<&'static str> {
    running.numbered().or(report.for_numbers())
}

/// The solved state in words, or how many there are.
pub fn goal_text(puzzle: &OrbitPuzzle) -> String {
    match &puzzle.goals()[..] {
        [goal] => puzzle.text(goal),
        goals => format!("{} states", thousands(goals.len() as u64)),
    }
}

/// Digits of a number of states that nobody searches completely.
const MOST_DIGITS: usize = 13;

/// A search by lists.
pub fn list_search(
    puzzle: OrbitPuzzle,
    max_depth: Option<usize>,
    ahead: &Ahead,
    running: &Running,
) -> Result<FrontierSearch> {
    let states = puzzle.states().map(|states| states.to_string());
    if let Some(states) = states.filter(|digits| digits.len() > MOST_DIGITS)
        && max_depth.is_none()
    {
        return Err(Failure::failed(format!(
            "{puzzle} has {} states, too many for a complete search: limit the depth with --max-depth, or list the states at one depth with \
             tilewave levels --depth",
            grouped(&states)
        )));
    }
    Ok(FrontierSearch::new(puzzle)
        .max_depth(max_depth)
        .count_ahead(ahead.count_ahead.unwrap_or_default())
        .resources(running.resources.get()?))
}

/// Runs a search by lists, in memory or on disk, and writes what it has found, beside what is published of it.
pub fn run_lists(
    search: &FrontierSearch,
    published: Option<Published>,
    report: &ResultReport,
    running: &Running,
    disk: Option<Disk>,
) -> Result<()> {
    if let Some(option) = for_numbers(running, report) {
        refuse!("{option} works only with numbered states, not in a list search: leave it out");
    }
    let search = search.clone().keep_last(report.keep_last());
    let finish = |files, found| finish(&search, published, report, files, &found);
    if let Some(launch) = ranks::launch().filter(|launch| launch.concerns(disk.is_some())) {
        return ranks::run(
            report,
            launch,
            running,
            disk,
            |disk, resources, ranks, progress| {
                let search = search.clone().resources(resources);
                disk.run_lists_distributed_with(&search, ranks, progress)
            },
            finish,
        );
    }
    let files = report.files()?;
    let progress = SearchProgress::new();
    for note in search.puzzle.notes() {
        tracing::info!("{note}");
    }
    let found = match disk {
        Some(disk) => disk.run_lists_with(&search, &progress)?,
        None => search.run_with(&progress)?,
    };
    drop(progress);
    finish(files, found)
}

/// Writes what a search has found.
fn finish(
    search: &FrontierSearch,
    published: Option<Published>,
    report: &ResultReport,
    files: Files,
    found: &FrontierOutcome,
) -> Result<()> {
    if search.keep_last > 0 && found.last.is_empty() {
        tracing::warn!(
            "the states of the last depth were counted but not stored: none can be listed"
        );
    }
    let chart = Chart::new(search.puzzle.to_string(), &found.counts(), found.complete);
    let answer = ListReport::new(&search.puzzle, found, published);
    report.finish_figures(files, chart, &answer)?;
    match answer.first_wrong_depth {
        None => Ok(()),
        Some(_) => Err(Failure::failed(format!(
            "{}: {}; search again with --no-symmetry to see which counts are right",
            search.puzzle,
            answer.published_line()
        ))),
    }
}
