//! `tilewave bfs` of puzzles whose levels are lists: several sets of pieces, pieces that turn or look alike, large boards.

use serde::Serialize;
use tilewave::{
    frontier::{FrontierOutcome, FrontierSearch},
    internals,
    puzzle::{StateSpace, orbits::OrbitPuzzle},
    report::{Difference, bytes, duration, published_growth, thousands},
    search::disk::Disk,
};

use crate::cli::{Figures, Result, ResultReport, Running, SearchProgress, facts, refuse};

/// What a search by lists has found.
#[derive(Serialize)]
struct FrontierAnswer {
    puzzle: String,
    engine: &'static str,
    kernel: &'static str,
    threads: usize,
    /// All that can be reached, as digits: most puzzles have more than 64 bits say.
    states: Option<String>,
    complete: bool,
    counts: Vec<u64>,
    /// The same up to symmetry, where all symmetries were used.
    reduced: Option<Vec<u64>>,
    symmetries: usize,
    total: u64,
    diameter: Option<usize>,
    antipodes: Option<u64>,
    mean_depth: f64,
    checksums: Vec<String>,
    generated: Vec<u64>,
    kept: Vec<u64>,
    seconds: f64,
    level_seconds: Vec<f64>,
    /// Bytes of the lists of each level; of one that was counted only there are none.
    level_bytes: Vec<u64>,
    list_bytes: u64,
    disk_peak_bytes: Option<u64>,
    /// Where the growth of the puzzle is published, and the first depth whose count is another one.
    published: Option<String>,
    first_wrong_depth: Option<usize>,
    #[serde(skip)]
    compared: usize,
    peak_memory_bytes: Option<u64>,
}

impl FrontierAnswer {
    fn new(puzzle: &OrbitPuzzle, found: &FrontierOutcome) -> FrontierAnswer {
        let counts = found.counts();
        let total: u64 = counts.iter().sum();
        let sum: f64 =
            counts.iter().zip(0u32..).map(|(&n, depth)| n as f64 * f64::from(depth)).sum();
        let levels = found.levels.iter();
        let published = published_growth(puzzle);
        let known = published.as_ref().map_or(&[][..], |published| published.counts());
        let compared = known.len().min(counts.len());
        let difference = Difference::first(&counts[..compared], &known[..compared], true);
        FrontierAnswer {
            puzzle: puzzle.to_string(),
            engine: "frontier",
            kernel: found.kernel.name(),
            threads: found.threads,
            states: puzzle.states().map(|states| states.to_string()),
            complete: found.complete,
            reduced: levels.clone().map(|level| level.reduced).collect(),
            symmetries: found.symmetries,
            total,
            diameter: found.complete.then(|| counts.len() - 1),
            antipodes: counts.last().copied().filter(|_| found.complete),
            mean_depth: sum / total as f64,
            checksums: levels.clone().map(|level| format!("{:016x}", level.checksum)).collect(),
            generated: levels.clone().map(|level| level.generated).collect(),
            kept: levels.clone().map(|level| level.kept).collect(),
            seconds: found.seconds,
            level_seconds: levels.clone().map(|level| level.seconds).collect(),
            level_bytes: levels.map(|level| level.bytes).collect(),
            list_bytes: found.peak_bytes,
            disk_peak_bytes: found.disk_peak_bytes,
            first_wrong_depth: difference.map(|difference| difference.depth),
            compared,
            published: published.map(|published| published.citation()),
            peak_memory_bytes: internals::peak_memory(),
            counts,
        }
    }

    /// How the levels compare with what is published.
    fn published_line(&self) -> String {
        let Some(source) = &self.published else {
            return "no published growth of this puzzle".into();
        };
        match self.first_wrong_depth {
            None if self.complete && self.compared == self.counts.len() => {
                format!("all {} levels equal to {source}", self.compared)
            }
            None => format!("the first {} levels equal to {source}", self.compared),
            Some(depth) => format!("DISAGREES with {source}: first wrong depth {depth}"),
        }
    }

    /// States up to symmetry at a depth, as words.
    fn reduced(&self, depth: usize) -> String {
        self.reduced.as_ref().map_or(String::new(), |reduced| thousands(reduced[depth]))
    }
}

impl Figures for FrontierAnswer {
    const COLUMNS: &'static str = "depth,states,reduced,cumulative,checksum";

    fn words(&self) -> String {
        let mut text = format!(
            "{:>5}  {:>24}  {:>22}  {:>8}  {:>9}  {:>9}\n",
            "depth", "states", "up to symmetry", "growth", "lists", "time"
        );
        for (depth, &states) in self.counts.iter().enumerate() {
            let growth = match depth.checked_sub(1) {
                Some(before) => format!("{:.3}", states as f64 / self.counts[before] as f64),
                None => String::new(),
            };
            text += &format!(
                "{depth:>5}  {:>24}  {:>22}  {growth:>8}  {:>9}  {:>9}\n",
                thousands(states),
                self.reduced(depth),
                bytes(self.level_bytes[depth]),
                duration(self.level_seconds[depth]),
            );
        }
        let last = self.counts.len() - 1;
        let diameter = match self.diameter {
            Some(diameter) => diameter.to_string(),
            None => format!("more than {last} (stopped)"),
        };
        let states = self.states.as_deref().map_or("unknown".into(), grouped);
        let symmetries = match self.symmetries {
            1 => "none used".to_string(),
            several => several.to_string(),
        };
        let facts = facts(
            12,
            [
                ("puzzle", self.puzzle.clone()),
                ("states", format!("{} of {states}", thousands(self.total))),
                ("diameter", diameter),
                ("antipodes", self.antipodes.map_or(String::new(), thousands)),
                ("mean depth", format!("{:.6}", self.mean_depth)),
                ("symmetries", symmetries),
                ("engine", format!("frontier, {} kernel, {} threads", self.kernel, self.threads)),
                ("time", duration(self.seconds)),
                ("memory", self.peak_memory_bytes.map_or(String::new(), bytes)),
                ("disk", self.disk_peak_bytes.map_or(String::new(), bytes)),
                ("published", self.published_line()),
            ],
        );
        format!("{text}\n{facts}")
    }

    fn csv(&self) -> String {
        let mut cumulative = 0;
        let line = |(depth, &states): (usize, &u64)| {
            cumulative += states;
            let reduced = self.reduced.as_ref().map(|reduced| reduced[depth].to_string());
            let (reduced, checksum) = (reduced.unwrap_or_default(), &self.checksums[depth]);
            format!("{depth},{states},{reduced},{cumulative},{checksum}\n")
        };
        self.counts.iter().enumerate().map(line).collect()
    }
}

/// Digits in groups of three.
pub fn grouped(digits: &str) -> String {
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups = groups.map(|group| String::from_utf8_lossy(group).into_owned());
    groups.collect::<Vec<_>>().join(",")
}

/// `--count-ahead`.
#[derive(clap::Args, Default)]
pub struct Ahead {
    /// Search by lists: count the last two depths without storing them.
    ///
    /// The states that lead to one are made again for it. One depth more fits.
    #[arg(long, requires = "max_depth")]
    count_ahead: bool,
}

impl Ahead {
    /// Refuses the option for a puzzle whose states have numbers.
    pub fn refuse(&self, space: &StateSpace) -> Result<()> {
        if self.count_ahead {
            refuse!(
                "--count-ahead is for searches by lists, {space} is searched by its numbered states: leave it out"
            );
        }
        Ok(())
    }
}

/// An option that only searches of numbered states have.
pub fn for_numbers(running: &Running, report: &ResultReport) -> Option<&'static str> {
    running.engine.map(|_| "--engine").or(report.for_numbers())
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
        refuse!(
            "{puzzle} has {states} states, too many for a complete search: say how deep with --max-depth"
        );
    }
    Ok(FrontierSearch::new(puzzle)
        .max_depth(max_depth)
        .count_ahead(ahead.count_ahead)
        .resources(running.resources.get()?))
}

/// Runs a search by lists, in memory or on disk, and writes what it has found.
pub fn run(
    search: &FrontierSearch,
    report: &ResultReport,
    running: &Running,
    disk: Option<Disk>,
) -> Result<()> {
    if let Some(option) = for_numbers(running, report) {
        refuse!("{option} is for puzzles whose states are numbered, {} is none", search.puzzle);
    }
    let destination = report.output.reserve()?;
    let progress = SearchProgress::new();
    for note in search.puzzle.notes() {
        tracing::info!("{note}");
    }
    let found = match disk {
        Some(disk) => disk.run_lists_with(search, &progress)?,
        None => search.run_with(&progress)?,
    };
    drop(progress);
    destination.write(&FrontierAnswer::new(&search.puzzle, &found))
}
