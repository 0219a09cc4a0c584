//! `tilewave bfs` of puzzles whose levels are lists: several sets of pieces, pieces that turn or look alike, large boards.

use std::path::PathBuf;

use tilewave::{
    frontier::{FrontierOutcome, FrontierSearch},
    internals,
    puzzle::{StateSpace, orbits::OrbitPuzzle},
    report::{Chart, ListReport, Published, thousands},
    search::disk::Disk,
};

pub use tilewave::report::grouped;

use crate::cli::{
    Failure, Figures, Result, ResultReport, Running, SearchProgress, disk::directories,
    output::Files, ranks, refuse,
};

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
    /// In a list search, count the last two depths without storing their states.
    ///
    /// This takes longer, but lets one more depth fit in memory. List searches are those of cubes, large boards and other
    /// puzzles whose states are not numbered, and all searches with --engine frontier.
    #[arg(long, requires = "max_depth")]
    count_ahead: bool,
}

impl Ahead {
    /// Refuses the option for a puzzle whose states have numbers.
    pub fn refuse(&self, space: &StateSpace) -> Result<()> {
        if self.count_ahead {
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
pub fn instead(
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
pub fn search(
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
        .count_ahead(ahead.count_ahead)
        .resources(running.resources.get()?))
}

/// Runs a search by lists, in memory or on disk, and writes what it has found, beside what is published of it.
pub fn run(
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
            "{}: {}; search again with --no-symmetry to see which is right",
            search.puzzle,
            answer.published_line()
        ))),
    }
}
