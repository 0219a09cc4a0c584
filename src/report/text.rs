//! The text report of a search: table and summary.

use serde::Serialize;

use crate::{
    report::{
        Difference, Published, bytes, counted, duration, own_for, published_for, rate, thousands,
    },
    search::{DiskUse, Outcome},
    store,
};

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
        let own = || self.own.map(|own| format!("this project's own {}", own.name()));
        self.published.map(|truth| truth.name().to_string()).or_else(own).unwrap_or_default()
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
        let line = |(name, value): &(&str, String)| format!("{name:<12}  {value}\n");
        self.facts().iter().map(line).collect()
    }

    /// The facts of the summary: names and values.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let outcome = self.outcome;
        let deepest = outcome.counts.len().saturating_sub(1);
        let extreme = if outcome.begins_at_goal() { GODS_NUMBER } else { "last depth" };
        let space = &outcome.space;
        let (goal, start) = (space.goal_text(), space.start_text());
        let kind = if space.size().is_some() { "board" } else { "puzzle" };
        let mut facts = vec![(kind, format!("{space}, goal {goal}"))];
        if start != goal {
            facts.push(("start", start));
        }
        if space.definition().is_some() {
            let order = thousands(outcome.states);
            let reached = if outcome.complete { ", all reached" } else { "" };
            facts.push(("group", format!("order {order}{reached}")));
        }
        facts.push(("states", thousands(outcome.total())));
        match (outcome.diameter(), outcome.antipodes()) {
            (Some(diameter), Some(antipodes)) => {
                facts.push((extreme, diameter.to_string()));
                facts.push(("antipodes", thousands(antipodes)));
            }
            _ => {
                facts.push((extreme, format!("more than {deepest} (the search stopped there)")));
            }
        }
        facts.push(("mean depth", format!("{:.4}", outcome.mean_depth())));
        let speed = rate(self.states_per_second());
        facts.push(("time", format!("{}, {speed} states/s", duration(outcome.seconds))));
        let arrays = bytes(outcome.array_bytes);
        // A finished search that was resumed: an earlier session did the work and had the arrays.
        let worked = |disk: &DiskUse| disk.kernel_seconds > 0.0;
        let is_idle = outcome.disk.as_ref().is_some_and(|disk| !worked(disk));
        facts.push((
            "memory",
            match self.peak_memory {
                Some(peak) if is_idle => format!("{} at the peak", bytes(peak)),
                Some(peak) => format!("{} at the peak, {arrays} for state arrays", bytes(peak)),
                None => format!("{arrays} for state arrays"),
            },
        ));
        if let Some(disk) = &outcome.disk {
            let (peak, written) = (bytes(disk.peak_bytes), bytes(disk.bytes_written));
            facts.push(("disk", format!("{peak} at the peak, {written} written")));
            if worked(disk) {
                facts.push((
                    "work",
                    format!(
                        "decoding {}, kernel {}, encoding {}, waiting {}",
                        duration(disk.decode_seconds),
                        duration(disk.kernel_seconds),
                        duration(disk.encode_seconds),
                        duration(disk.wait_seconds)
                    ),
                ));
            }
        }
        let network = outcome.disk.as_ref().map_or(&[][..], |d| &d.network_bytes);
        if let Some(most) = network.iter().max().filter(|&&most| most > 0) {
            let (all, most) = (bytes(network.iter().sum()), bytes(*most));
            facts.push(("network", format!("{all} sent, {most} for the largest level")));
        }
        facts.push(("engine", engine(outcome)));
        facts.push(("published", self.published_line()));
        facts
    }

    /// How the search compares with published results.
    pub(crate) fn published_line(&self) -> String {
        let levels = self.outcome.counts.len();
        let which = if self.outcome.complete { "all" } else { "the first" };
        if let Some(difference) = &self.difference {
            return format!("DISAGREES with {}: {difference}", self.truth());
        }
        let own = self.own.map(|own| format!("this project's own {}", own.name()));
        let known: Vec<String> =
            self.published.map(Published::citation).into_iter().chain(own).collect();
        if known.is_empty() {
            return "none known".into();
        }
        // One source per line: together they are wider than a terminal.
        let sources = known.join("; ").replace("; ", ";\n              ");
        format!("{which} {levels} levels agree with {sources}")
    }
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
/// The share is rounded down, so that 100 appears only where every state has been reached.
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

/// `part` of `whole` in percent, with four decimals, rounded down.
pub(crate) fn share(part: u64, whole: u64) -> String {
    let units = u128::from(part) * 1_000_000 / u128::from(whole.max(1));
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
