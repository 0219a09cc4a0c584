//! `tilewave bfs` of puzzles whose levels are lists: several sets of pieces, pieces that turn or look alike, large boards.

use serde::Serialize;
use tilewave::frontier::{FrontierOutcome, FrontierSearch};
use tilewave::internals;
use tilewave::puzzle::orbits::OrbitPuzzle;
use tilewave::report::{bytes, duration, thousands};

use crate::cli::{Destination, Figures, Result, SearchProgress, facts};

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
    peak_memory_bytes: Option<u64>,
}

impl FrontierAnswer {
    fn new(puzzle: &OrbitPuzzle, found: &FrontierOutcome) -> FrontierAnswer {
        let counts = found.counts();
        let total: u64 = counts.iter().sum();
        let sum: f64 =
            counts.iter().zip(0u32..).map(|(&n, depth)| n as f64 * f64::from(depth)).sum();
        let levels = found.levels.iter();
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
            peak_memory_bytes: internals::peak_memory(),
            counts,
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

/// Runs a search by lists and writes what it has found.
pub fn run(search: &FrontierSearch, destination: Destination) -> Result<()> {
    let progress = SearchProgress::new();
    for note in search.puzzle.notes() {
        tracing::info!("{note}");
    }
    let found = search.run_with(&progress).map_err(tilewave::Error::from)?;
    drop(progress);
    destination.write(&FrontierAnswer::new(&search.puzzle, &found))
}
