//! The report of a list search: table, summary, CSV and JSON.

use serde::Serialize;
use serde_json::Value;

use crate::{
    frontier::FrontierOutcome,
    puzzle::orbits::OrbitPuzzle,
    report::{
        Difference, Published, bytes, counted, duration, published_growth, text::GODS_NUMBER,
        thousands,
    },
    store,
};

/// The report of a list search; the fields are the keys of its JSON.
///
/// ```
/// use tilewave::frontier::FrontierSearch;
/// use tilewave::puzzle::{named, orbits::Turns};
/// use tilewave::report::ListReport;
/// let puzzle = named::parse("2x2x2").unwrap().counting(Turns::Powers)?;
/// let search = FrontierSearch::new(puzzle).max_depth(4);
/// let report = ListReport::new(&search.puzzle, &search.run()?, None);
/// assert_eq!((&report.counts[..], report.diameter), (&[1, 9, 54, 321, 1847][..], None));
/// assert!(report.text().contains("the first 5 levels agree with OEIS A079761"));
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ListReport {
    puzzle: String,
    engine: &'static str,
    kernel: &'static str,
    threads: usize,
    /// Number of reachable states, in digits, since it often exceeds 64 bits; `None` if it is unknown.
    pub states: Option<String>,
    complete: bool,
    /// Number of states at each depth.
    pub counts: Vec<u64>,
    /// The same up to symmetry, if all symmetries were used.
    reduced: Option<Vec<u64>>,
    symmetries: usize,
    /// Number of states found.
    pub total: u64,
    /// The largest depth, `None` if the search stopped early.
    pub diameter: Option<usize>,
    /// Number of states at the largest depth, `None` if the search stopped early.
    pub antipodes: Option<u64>,
    /// The mean depth of the states found.
    pub mean_depth: f64,
    checksums: Vec<String>,
    generated: Vec<u64>,
    kept: Vec<u64>,
    seconds: f64,
    level_seconds: Vec<f64>,
    /// Size of the lists of each level in bytes; 0 for a level that was only counted.
    level_bytes: Vec<u64>,
    list_bytes: u64,
    disk_peak_bytes: Option<u64>,
    /// The source of the published growth of the puzzle, if there is one.
    pub published: Option<String>,
    /// The first depth whose count differs from the published one.
    pub first_wrong_depth: Option<usize>,
    /// States of the last depth, if they were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Vec<String>>,
    #[serde(skip)]
    compared: usize,
    peak_memory_bytes: Option<u64>,
}

impl ListReport {
    /// The columns of [`ListReport::csv_lines`].
    pub const COLUMNS: &'static str = "depth,states,reduced,cumulative,checksum";

    /// Returns the report of an outcome, made in the process that computed it, with a comparison with published growth:
    /// by default, the known growth of puzzles with these moves.
    pub fn new(
        puzzle: &OrbitPuzzle,
        found: &FrontierOutcome,
        published: Option<Published>,
    ) -> ListReport {
        let counts = found.counts();
        let total: u64 = counts.iter().sum();
        let sum: f64 =
            counts.iter().zip(0u32..).map(|(&n, depth)| n as f64 * f64::from(depth)).sum();
        let levels = found.levels.iter();
        let published = published.or_else(|| published_growth(puzzle));
        let known = published.as_ref().map_or(&[][..], |published| published.counts());
        let compared = known.len().min(counts.len());
        let difference = Difference::first(&counts[..compared], &known[..compared], true);
        ListReport {
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
            last: (!found.last.is_empty())
                .then(|| found.last.iter().map(|state| puzzle.text(state)).collect()),
            published: published.map(|published| published.citation()),
            peak_memory_bytes: store::peak_memory(),
            counts,
        }
    }

    /// Returns a line that compares the levels with the published growth.
    pub fn published_line(&self) -> String {
        let Some(source) = &self.published else {
            return "none known".into();
        };
        match self.first_wrong_depth {
            None if self.complete && self.compared == self.counts.len() => {
                format!("all {} levels agree with {source}", self.compared)
            }
            None => format!("the first {} levels agree with {source}", self.compared),
            Some(depth) => format!("DISAGREES with {source}: first wrong depth {depth}"),
        }
    }

    /// The number of states up to symmetry at a depth, as text.
    fn reduced(&self, depth: usize) -> String {
        self.reduced.as_ref().map_or(String::new(), |reduced| thousands(reduced[depth]))
    }

    /// Returns the table of levels and the summary.
    pub fn text(&self) -> String {
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
            None => format!("more than {last} (the search stopped there)"),
        };
        let states = self.states.as_deref().map_or("unknown".into(), grouped);
        let threads = counted(self.threads as u64, "thread");
        let symmetries = match self.symmetries {
            1 => "none used".to_string(),
            several => several.to_string(),
        };
        let facts = [
            ("puzzle", self.puzzle.clone()),
            ("states", format!("{} of {states}", thousands(self.total))),
            (GODS_NUMBER, diameter),
            ("antipodes", self.antipodes.map_or(String::new(), thousands)),
            ("mean depth", format!("{:.6}", self.mean_depth)),
            ("symmetries", symmetries),
            ("engine", format!("frontier, {} kernel, {threads}", self.kernel)),
            ("time", duration(self.seconds)),
            ("memory", self.peak_memory_bytes.map_or(String::new(), bytes)),
            ("disk", self.disk_peak_bytes.map_or(String::new(), bytes)),
            ("published", self.published_line()),
        ];
        let said = facts.iter().filter(|(_, words)| !words.is_empty());
        text.push('\n');
        text.extend(said.map(|(label, words)| format!("{label:<14}{words}\n")));
        text
    }

    /// Returns the report as JSON; checksums are 16 hexadecimal digits each.
    pub fn json(&self) -> Value {
        serde_json::to_value(self).expect("numbers and names have a JSON form")
    }

    /// Returns the lines of [`ListReport::COLUMNS`], one for each depth.
    pub fn csv_lines(&self) -> String {
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

/// Returns the digits of a number in groups of three.
pub fn grouped(digits: &str) -> String {
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups = groups.map(|group| String::from_utf8_lossy(group).into_owned());
    groups.collect::<Vec<_>>().join(",")
}
