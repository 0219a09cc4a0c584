//! The report of a search as table, summary, CSV and JSON: of numbered states, and of a list search.
//!
//! The program and Python make a [`Report`] of an outcome, or a [`ListReport`] of that of a list search, and write what
//! its methods return.

use std::fmt::Write;

use serde::Serialize;
use serde_json::{Value, json};
use twox_hash::XxHash3_64;

use crate::{
    frontier::FrontierOutcome,
    puzzle::{
        Metric, Searched,
        orbits::{Arrangement, OrbitPuzzle, Placed},
    },
    report::{
        Difference, Published, bytes, counted, duration, grouped, own_for, published_for,
        published_growth, rate, thousands,
    },
    search::{DiskUse, Outcome},
    store,
    units::{binary_bytes, csv_field, joined},
};

// What identifies the puzzle of a result.

/// Returns a text that identifies the puzzle of a search: its name, the metric unless it is the usual one, the goal of a
/// board or the number of several goals, and the start if it is not the goal.
pub fn described(of: &Searched) -> String {
    let keys = identity(of);
    let text = |key: &str| keys[key].as_str().unwrap_or_default();
    let usual = ["", "stm", "htm"].contains(&text("metric"));
    let metric = if usual { String::new() } else { format!(" {}", text("metric")) };
    let has_one = keys["goals"].as_array().is_some_and(|goals| goals.len() == 1);
    let goal = match has_one {
        true => String::new(),
        false => format!(", goal {}", text("goal")),
    };
    let start = match text("start") == text("goal") {
        true => String::new(),
        false => format!(", start {}", text("start")),
    };
    format!("{}{metric}{goal}{start}", text("puzzle"))
}

/// Returns the keys that identify the puzzle of a search in JSON: `board`, `puzzle`, `metric`, `goal` and `start`; for
/// puzzles that are not boards also `goals`, `moves` (their names) and `fingerprint`, a hash of pieces, moves and goals.
pub fn identity(of: &Searched) -> Value {
    let names = |puzzle: &OrbitPuzzle| puzzle.moves().iter().map(|one| one.name.clone()).collect();
    let (board, puzzle, metric, goal, start, listed) = match of {
        Searched::Numbered(space) => {
            let listed = space.definition().and_then(|_| OrbitPuzzle::of_space(space).ok());
            let metric = space.metric().map(Metric::name);
            let metric = metric.or_else(|| listed.as_ref()?.metric());
            let board = space.size().map(|size| size.to_string());
            (board, space.name(), metric, space.goal_text(), space.start_text(), listed)
        }
        Searched::Listed(puzzle) => {
            let (metric, board) = (puzzle.metric(), puzzle.board_size());
            let goal = match &puzzle.goals()[..] {
                [goal] => state_writer(puzzle)(goal),
                goals => counted(goals.len() as u64, "state"),
            };
            let board = board.map(|size| size.to_string());
            (board, puzzle.name().into(), metric, goal.clone(), goal, Some(puzzle.clone()))
        }
    };
    let mut keys = json!({
        "board": board, "puzzle": puzzle, "metric": metric, "goal": goal, "start": start,
    });
    if let Some(listed) = listed.filter(|_| board.is_none()) {
        let hash = XxHash3_64::oneshot(listed.to_json().as_bytes());
        keys["goals"] = match of {
            Searched::Numbered(_) => json!([goal]),
            Searched::Listed(_) => listed.goal_texts().into(),
        };
        keys["moves"] = names(&listed);
        keys["fingerprint"] = format!("{hash:016x}").into();
    }
    keys
}

/// Returns what writes states of a puzzle as they are read: boards as boards, whichever engine found them.
pub fn state_writer(puzzle: &OrbitPuzzle) -> impl Fn(&Arrangement) -> String {
    let size = puzzle.board_size();
    move |state| match size {
        Some(size) => {
            let row = |row: &[Placed]| joined(row.iter().map(|tile| tile.kind), " ");
            joined(state.0[0].chunks(size.cols()).map(row), "/")
        }
        None => puzzle.text(state),
    }
}

// The text report of a search: table and summary.

/// The report of a search: the outcome, its comparison with published results, and the machine.
///
/// ```
/// use tilewave::search::{self, Search};
/// use tilewave::puzzle::{Goal, Size};
/// use tilewave::report::Report;
///
/// let search = Search::new(Goal::Last.board(Size::new(3, 3)?)?);
/// let outcome = search.run()?;
/// let report = Report::new(&outcome);
/// assert!(report.summary().contains("God's number  31"));
/// assert!(report.summary().contains("all 32 levels agree with OEIS A089473"));
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The outcome of the search.
    pub outcome: &'a Outcome,
    /// The published distribution for its puzzle and start.
    pub published: Option<&'static Published>,
    /// This project's own distribution for its puzzle and start.
    pub own: Option<&'static Published>,
    /// The first difference from `published`, or from `own` if nothing is published.
    pub difference: Option<Difference>,
    /// The machine that the search ran on.
    pub machine: Machine,
    /// Peak resident memory of the process in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
}

impl<'a> Report<'a> {
    /// Returns the report of an outcome, made on the machine and in the process that computed it.
    pub fn new(outcome: &'a Outcome) -> Report<'a> {
        let published = published_for(&outcome.space);
        let own = own_for(&outcome.space);
        let difference = |truth: &Published| {
            Difference::first(&outcome.counts, truth.counts(), outcome.complete)
        };
        Report {
            outcome,
            published,
            own,
            difference: published.or(own).and_then(difference),
            machine: Machine::this(),
            peak_memory: store::peak_memory(),
        }
    }

    /// Returns the name of the distribution that the search was compared with: the best-known publication, or else this
    /// project's own.
    pub fn truth(&self) -> String {
        self.published.map(|truth| truth.name().into()).or(self.own_name()).unwrap_or_default()
    }

    fn own_name(&self) -> Option<String> {
        self.own.map(|own| format!("this project's own {}", own.name()))
    }

    /// Returns the number of states found per second of wall-clock time.
    pub fn states_per_second(&self) -> f64 {
        self.outcome.total() as f64 / self.outcome.seconds
    }

    /// Returns the table of the distribution followed by the summary.
    pub fn text(&self) -> String {
        let outcome = self.outcome;
        let table = histogram(&outcome.counts, outcome.states);
        format!("{table}\n{}", self.summary())
    }

    /// Returns the summary: one line each for board, states, diameter, antipodes, mean depth, time, memory, engine and
    /// agreement with published results.
    pub fn summary(&self) -> String {
        labelled(14, self.facts())
    }

    /// The facts of the summary: names and values.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let outcome = self.outcome;
        let extreme = if outcome.begins_at_goal() { GODS_NUMBER } else { "last depth" };
        let last = last_depth(&outcome.counts, outcome.complete);
        let (space, disk) = (&outcome.space, outcome.disk.as_ref());
        let start = space.start_text();
        let mut name = described(&Searched::Numbered(space.clone().from_goal()));
        if space.size().is_none() {
            name += &format!(", goal {}", space.goal_text());
        }
        let kind = if space.size().is_some() { "board" } else { "puzzle" };
        let group = space.definition().map(|_| {
            let reached = if outcome.complete { ", all reached" } else { "" };
            format!("order {}{reached}", thousands(outcome.states))
        });
        let (time, speed) = (duration(outcome.seconds), rate(self.states_per_second()));
        let arrays = bytes(outcome.array_bytes);
        // A finished search that was resumed: an earlier session did the work and had the arrays.
        let worked = |disk: &&DiskUse| disk.kernel_seconds > 0.0;
        let is_idle = disk.is_some_and(|disk| !worked(&disk));
        let memory = match self.peak_memory {
            Some(peak) if is_idle => format!("{} at the peak", bytes(peak)),
            // What is never written to takes no memory.
            Some(peak) if peak < outcome.array_bytes => {
                format!("{} at the peak, of {arrays} reserved for state arrays", bytes(peak))
            }
            Some(peak) => format!("{} at the peak, {arrays} for state arrays", bytes(peak)),
            None => format!("{arrays} for state arrays"),
        };
        let files = disk.map(|disk| {
            let (peak, written) = (bytes(disk.peak_bytes), bytes(disk.bytes_written));
            format!("{peak} at the peak, {written} written")
        });
        let work = disk.filter(worked).map(|disk| {
            format!(
                "decoding {}, kernel {}, encoding {}, waiting {}",
                duration(disk.decode_seconds),
                duration(disk.kernel_seconds),
                duration(disk.encode_seconds),
                duration(disk.wait_seconds)
            )
        });
        let network = disk.map_or(&[][..], |disk| &disk.network_bytes);
        let most = network.iter().max().filter(|&&most| most > 0);
        let sent = most.map(|&most| {
            let (all, most) = (bytes(network.iter().sum()), bytes(most));
            format!("{all} sent, {most} for the largest level")
        });
        let facts = [
            (kind, Some(name)),
            ("start", Some(start).filter(|_| !outcome.begins_at_goal())),
            ("group", group),
            ("states", Some(thousands(outcome.total()))),
            (extreme, Some(last)),
            ("antipodes", outcome.antipodes().map(thousands)),
            ("mean depth", Some(format!("{:.4}", outcome.mean_depth()))),
            ("time", Some(format!("{time}, {speed} states/s"))),
            ("memory", Some(memory)),
            ("disk", files),
            ("work", work),
            ("network", sent),
            ("engine", Some(engine(outcome))),
            ("published", Some(self.published_line())),
        ];
        facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// How the search compares with published results.
    pub(crate) fn published_line(&self) -> String {
        let levels = self.outcome.counts.len();
        let which = if self.outcome.complete { "all" } else { "the first" };
        if let Some(difference) = &self.difference {
            return format!("DISAGREES with {}: {difference}", self.truth());
        }
        let known = self.published.map(Published::citation).into_iter().chain(self.own_name());
        let known: Vec<String> = known.collect();
        if known.is_empty() {
            return "none known".into();
        }
        // One source per line: together they are wider than a terminal.
        let sources = known.join("; ").replace("; ", ";\n              ");
        format!("{which} {levels} levels agree with {sources}")
    }
}

/// The last depth in words: the greatest one, unless the search stopped there.
pub fn last_depth(counts: &[u64], complete: bool) -> String {
    let last = counts.len().saturating_sub(1);
    match complete {
        true => last.to_string(),
        false => format!("more than {last} (the search stopped there)"),
    }
}

/// Lines of a label and what is to be said; where that is nothing there is no line.
pub fn labelled<'a>(width: usize, facts: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let said = facts.into_iter().filter(|(_, words)| !words.is_empty());
    said.map(|(label, words)| format!("{label:<width$}{words}\n")).collect()
}

/// Engine, kernel and threads, for example `sweep, avx512 kernel, 2 threads`.
fn engine(outcome: &Outcome) -> String {
    let kernel = outcome.kernel.map(|k| format!("{k} kernel, ")).unwrap_or_default();
    let chunks = outcome.disk.as_ref().map_or(String::new(), |disk| {
        let ranks = match disk.ranks {
            1 => format!("exchanging bits in {}", disk.planes.name()),
            ranks => format!("{ranks} processes"),
        };
        format!(", {}, {ranks}", counted(disk.chunks as u64, "chunk"))
    });
    format!("{}, {kernel}{}{chunks}", outcome.engine, counted(outcome.threads as u64, "thread"))
}

// The depth distribution as a text table with bars.

/// Length of the longest bar in characters: the table then stays within 80 columns for every board of up to 16 cells.
const BAR: u64 = 36;

/// The number of moves that the hardest state needs; only where a search begins at the goal.
pub(crate) const GODS_NUMBER: &str = "God's number";

/// Returns the title of a distribution, for example `3x4: 239,500,800 states, God's number 53`; if it is not complete, its
/// last depth is not called so.
pub(crate) fn title(name: &str, counts: &[u64], complete: bool) -> String {
    let total = counts.iter().sum();
    let states = thousands(total);
    let plural = if total == 1 { "" } else { "s" };
    let last = counts.len().saturating_sub(1);
    let ending =
        if complete { format!(", {GODS_NUMBER} {last}") } else { format!(" to depth {last}") };
    format!("{name}: {states} state{plural}{ending}")
}

/// Returns the table of a depth distribution: depth, states, cumulative share of `total`, and a bar whose length is
/// proportional to the number of states.
///
/// The share is rounded, but 100 appears only where every state has been reached.
///
/// ```
/// let table = tilewave::report::histogram(&[1, 2, 2, 2, 2, 2, 1], 12);
/// assert_eq!(table.lines().count(), 8);
/// assert!(table.lines().nth(1).unwrap().starts_with("    0       1      8.3333 %"));
/// ```
pub fn histogram(counts: &[u64], total: u64) -> String {
    table(["depth", "states"], counts, total)
}

/// Returns the table of the values of a database, in the form of [`histogram`].
pub fn value_histogram(counts: &[u64], total: u64) -> String {
    table(["value", "entries"], counts, total)
}

fn table([depth, states]: [&str; 2], counts: &[u64], total: u64) -> String {
    let largest = counts.iter().copied().max().unwrap_or(0);
    let width = thousands(largest).len().max(states.len());
    let mut table = format!("{depth:>5}  {states:>width$}  {:>12}\n", "cumulative");
    let mut cumulative = 0;
    for (depth, &count) in counts.iter().enumerate() {
        cumulative += count;
        let line = format!(
            "{depth:>5}  {:>width$}  {:>10} %  {}",
            thousands(count),
            share(cumulative, total),
            bar(count, largest),
        );
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}

/// `part` of `whole` in percent, rounded to four decimals; 100 only for all of it.
pub(crate) fn share(part: u64, whole: u64) -> String {
    let (part, whole) = (u128::from(part), u128::from(whole.max(1)));
    let units = (part * 1_000_000 + whole / 2) / whole;
    let units = if part < whole { units.min(999_999) } else { units };
    format!("{}.{:04}", units / 10_000, units % 10_000)
}

/// A bar for `count` relative to `largest`, in eighths of a character. It is visible even for a single state.
fn bar(count: u64, largest: u64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = u128::from(count) * u128::from(8 * BAR) / u128::from(largest.max(1));
    let eighths = if count > 0 { eighths.max(1) as usize } else { 0 };
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

// The machine that a search ran on.

/// The machine on which figures were measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// Model name of the processor, if the system reports it.
    pub cpu: Option<String>,
    /// Number of threads that the process can run at the same time.
    pub cores: usize,
    /// Operating system.
    pub os: &'static str,
    /// Processor architecture.
    pub arch: &'static str,
}

impl Machine {
    /// Returns a description of this machine. Cost: reading one small system file on Linux.
    pub fn this() -> Machine {
        Machine {
            cpu: std::fs::read_to_string("/proc/cpuinfo").ok().as_deref().and_then(model_name),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            os: std::env::consts::OS,
            arch: std::env::consts::ARCH,
        }
    }
}

fn model_name(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    let name = line.split_once(':')?.1.trim();
    (!name.is_empty()).then(|| name.to_string())
}

// The result of a search as one JSON object.

impl Report<'_> {
    /// Returns the report as JSON. Existing keys do not change; more may be added.
    ///
    /// `counts`, `checksums` (16 hexadecimal digits each, because JSON readers commonly round integers above 2^53) and
    /// `level_seconds` have one value per depth. `diameter` and `antipodes`, the number of states at that depth, are
    /// null if the search stopped early (see `complete`); `kernel` is null for the reference engine;
    /// `peak_memory_bytes`, for the process, is null if the system does not report it. `seconds` is wall-clock time.
    /// [`identity`] says which keys identify the puzzle; puzzles other than boards have a `group_order`. `agrees_with` names the publications whose counts agree with every
    /// level; it is null if there are none or a level differs, and in the latter case `first_wrong_depth` is the first
    /// one that differs. `agrees_with_own` likewise names the file of this project's own results.
    ///
    /// `disk_bytes` is the maximum size of the level files at any time. `disk` has details of a search on disk, and is
    /// null for a search in memory: `planes` says where the bits that cross between chunks were stored (`memory` or
    /// `files`); `bytes_written` covers all sessions; the times for decoding, kernel, encoding, and waiting for readers
    /// or the writer are in thread-seconds of the last session; `network_bytes` is the number of bytes sent between
    /// `ranks` processes in this session for the step to each depth, and is empty for a single process.
    pub fn json(&self) -> Value {
        let outcome = self.outcome;
        let agrees = self.published.filter(|_| self.difference.is_none());
        let own = self.own.filter(|_| self.difference.is_none());
        let checksums = outcome.checksums.iter().map(|c| format!("{c:016x}"));
        let disk = outcome.disk.as_ref();
        let mut keys = identity(&Searched::Numbered(outcome.space.clone()));
        let more = json!({
            "group_order": outcome.space.definition().map(|_| outcome.states),
            "engine": outcome.engine.name(),
            "kernel": outcome.kernel.map(|k| k.name()),
            "threads": outcome.threads,
            "complete": outcome.complete,
            "counts": outcome.counts,
            "total": outcome.total(),
            "diameter": outcome.diameter(),
            "antipodes": outcome.antipodes(),
            "mean_depth": outcome.mean_depth(),
            "checksums": checksums.collect::<Vec<_>>(),
            "seconds": outcome.seconds,
            "level_seconds": outcome.level_seconds,
            "states_per_second": self.states_per_second(),
            "peak_memory_bytes": self.peak_memory,
            "disk_bytes": disk.map_or(0, |disk| disk.peak_bytes),
            "disk": disk.map(|disk| json!({
                "chunks": disk.chunks,
                "planes": disk.planes.name(),
                "bytes_written": disk.bytes_written,
                "level_bytes": disk.level_bytes,
                "decode_seconds": disk.decode_seconds,
                "kernel_seconds": disk.kernel_seconds,
                "encode_seconds": disk.encode_seconds,
                "wait_seconds": disk.wait_seconds,
                "ranks": disk.ranks,
                "network_bytes": disk.network_bytes,
            })),
            "agrees_with": agrees.map(|truth| truth.citation()),
            "agrees_with_own": own.map(Published::name),
            "first_wrong_depth": self.difference.map(|difference| difference.depth),
            "machine": self.machine,
            "version": env!("CARGO_PKG_VERSION"),
        });
        if let (Some(keys), Value::Object(more)) = (keys.as_object_mut(), more) {
            keys.extend(more);
        }
        keys
    }
}

/// Returns JSON with one key of the outermost object per line: readable, and short even with lists of a hundred levels.
///
/// ```
/// let value = serde_json::json!({"board": "3x3", "counts": [1, 2, 4]});
/// let text = tilewave::report::one_key_per_line(&value);
/// assert_eq!(text, "{\n  \"board\": \"3x3\",\n  \"counts\": [1, 2, 4]\n}\n");
/// ```
pub fn one_key_per_line(value: &Value) -> String {
    match value {
        Value::Object(keys) => format!("{{\n  {}\n}}\n", fields(keys, ",\n  ")),
        other => on_one_line(other) + "\n",
    }
}

fn fields(keys: &serde_json::Map<String, Value>, between: &str) -> String {
    let field = |(key, value): (&String, &Value)| format!("{}: {}", json!(key), on_one_line(value));
    keys.iter().map(field).collect::<Vec<_>>().join(between)
}

fn on_one_line(value: &Value) -> String {
    match value {
        Value::Object(keys) => format!("{{{}}}", fields(keys, ", ")),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(on_one_line).collect();
            format!("[{}]", values.join(", "))
        }
        other => other.to_string(),
    }
}

// The depth distribution as comma-separated values.

impl Report<'_> {
    /// Returns the levels as CSV with the columns depth, states, cumulative (states up to this depth), checksum (16
    /// hexadecimal digits) and puzzle (as [`described`]), one row per depth.
    pub fn csv(&self) -> String {
        let mut text = String::from("depth,states,cumulative,checksum,puzzle\n");
        let puzzle = csv_field(&described(&Searched::Numbered(self.outcome.space.clone())));
        let mut cumulative = 0;
        let levels = self.outcome.counts.iter().zip(&self.outcome.checksums);
        for (depth, (states, checksum)) in levels.enumerate() {
            cumulative += states;
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{depth},{states},{cumulative},{checksum:016x},{puzzle}");
        }
        text
    }
}

// The report of a list search: table, summary, CSV and JSON.

/// The report of a list search; the fields are the keys of its JSON.
///
/// ```
/// use tilewave::frontier::FrontierSearch;
/// use tilewave::puzzle::{named, orbits::Turns};
/// use tilewave::report::ListReport;
/// let puzzle = named::parse("2x2x2").unwrap().counting(Turns::Powers)?;
/// let search = FrontierSearch::new(puzzle).max_depth(4);
/// let report = ListReport::new(&search.puzzle, &search.run()?);
/// assert_eq!((&report.counts[..], report.diameter), (&[1, 9, 54, 321, 1847][..], None));
/// assert!(report.text().contains("the first 5 levels agree with OEIS A079761"));
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ListReport {
    #[serde(flatten)]
    identity: Value,
    #[serde(skip)]
    described: String,
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
    pub const COLUMNS: &'static str = "depth,states,reduced,cumulative,checksum,puzzle";

    /// Returns the report of an outcome, made in the process that computed it, with a comparison with the published growth
    /// of puzzles with these moves ([`published_growth`]).
    pub fn new(puzzle: &OrbitPuzzle, found: &FrontierOutcome) -> ListReport {
        let counts = found.counts();
        let total: u64 = counts.iter().sum();
        let sum: f64 =
            counts.iter().zip(0u32..).map(|(&n, depth)| n as f64 * f64::from(depth)).sum();
        let levels = found.levels.iter();
        let published = published_growth(puzzle);
        let known = published.as_ref().map_or(&[][..], |published| published.counts());
        let compared = known.len().min(counts.len());
        let difference =
            published.as_ref().and_then(|_| Difference::of_growth(&counts, known, found.complete));
        let searched = Searched::Listed(puzzle.clone());
        ListReport {
            identity: identity(&searched),
            described: described(&searched),
            engine: "frontier",
            kernel: found.kernel.name(),
            threads: found.threads,
            states: found.states.as_ref().map(ToString::to_string),
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
                .then(|| found.last.iter().map(state_writer(puzzle)).collect()),
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
            Some(depth) => format!("DISAGREES with {source}: first difference at depth {depth}"),
        }
    }

    /// The column of states up to symmetry: its head, or the number at a depth; empty if it is not known.
    fn reduced(&self, depth: Option<usize>) -> String {
        let cell = |reduced: &Vec<u64>| match depth {
            Some(depth) => format!("  {:>22}", thousands(reduced[depth])),
            None => format!("  {:>22}", "up to symmetry"),
        };
        self.reduced.as_ref().map_or(String::new(), cell)
    }

    /// Returns the table of levels and the summary.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{:>5}  {:>24}{}  {:>8}  {:>9}  {:>9}\n",
            "depth",
            "states",
            self.reduced(None),
            "growth",
            "lists",
            "time"
        );
        for (depth, &states) in self.counts.iter().enumerate() {
            let growth = depth.checked_sub(1).map_or(String::new(), |before| {
                format!("{:.3}", states as f64 / self.counts[before] as f64)
            });
            text += &format!(
                "{depth:>5}  {:>24}{}  {growth:>8}  {:>9}  {:>9}\n",
                thousands(states),
                self.reduced(Some(depth)),
                binary_bytes(self.level_bytes[depth]),
                duration(self.level_seconds[depth]),
            );
        }
        let diameter = last_depth(&self.counts, self.complete);
        let states = self.states.as_deref().map_or("unknown".into(), grouped);
        let threads = counted(self.threads as u64, "thread");
        let symmetries = match self.symmetries {
            1 => "none used".to_string(),
            several => several.to_string(),
        };
        let facts = [
            ("puzzle", self.described.clone()),
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
        text + "\n" + &labelled(14, facts)
    }

    /// Returns the report as JSON; checksums are 16 hexadecimal digits each.
    pub fn json(&self) -> Value {
        serde_json::to_value(self).expect("numbers and names have a JSON form")
    }

    /// Returns the lines of [`ListReport::COLUMNS`], one for each depth.
    pub fn csv_lines(&self) -> String {
        let (mut cumulative, puzzle) = (0, csv_field(&self.described));
        let line = |(depth, &states): (usize, &u64)| {
            cumulative += states;
            let reduced = self.reduced.as_ref().map(|reduced| reduced[depth].to_string());
            let (reduced, checksum) = (reduced.unwrap_or_default(), &self.checksums[depth]);
            format!("{depth},{states},{reduced},{cumulative},{checksum},{puzzle}\n")
        };
        self.counts.iter().enumerate().map(line).collect()
    }
}
