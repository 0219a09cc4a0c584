//! The report of a search as table, summary, CSV and JSON.
//!
//! The program and Python make a [`Report`] of an outcome, and write what its methods return.

use std::{borrow::Cow, fmt::Write};

use num_bigint::BigUint;
use serde::Serialize;
use serde_json::{Value, json};
use twox_hash::XxHash3_64;

use crate::{
    outcome::{DiskUse, Engine, Outcome, PlaneStore},
    puzzle::{Metric, Puzzle, Searched},
    report::{
        Difference, Published, bytes, counted, duration, grouped, own_for, published_for,
        published_growth, rate, thousands,
    },
    store,
    units::{csv_field, shown},
};

// What identifies the puzzle of a result.

/// Returns a text that identifies the puzzle of a search: its name, the metric unless it is the usual one, the goal of
/// a board or the number of several goals, and the start if it is not the goal.
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
/// puzzles that are not boards also `goals`, `moves` (their names) and `fingerprint`, a hash of pieces, moves and
/// goals.
pub fn identity(of: &Searched) -> Value {
    let names = |puzzle: &Puzzle| puzzle.moves().iter().map(|one| one.name.clone()).collect();
    let (board, puzzle, metric, goal, start, listed) = match of {
        Searched::Numbered(space) => {
            let solved = || Puzzle::of_space(&space.clone().from_goal()).ok();
            let listed = space.puzzle().and_then(|_| solved());
            let metric = space.metric().map(Metric::name);
            let metric = metric.or_else(|| listed.as_ref()?.metric());
            let board = space.size().map(|size| size.to_string());
            (board, space.name(), metric, space.goal_text(), space.start_text(), listed)
        }
        Searched::Listed(puzzle) => {
            let (metric, board) = (puzzle.metric(), puzzle.board_size());
            let goal = match &puzzle.goals()[..] {
                [goal] => puzzle.text(goal),
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
#[non_exhaustive]
pub struct Report<'a> {
    /// The outcome of the search.
    pub outcome: &'a Outcome,
    /// The published distribution or growth for its puzzle and start.
    pub published: Option<Cow<'static, Published>>,
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
        let (counts, complete) = (&outcome.counts, outcome.complete);
        let (published, own) = match &outcome.searched {
            _ if !outcome.among.is_empty() => (None, None),
            Searched::Numbered(space) => (published_for(space).map(Cow::Borrowed), own_for(space)),
            Searched::Listed(puzzle) => (published_growth(puzzle).map(Cow::Owned), None),
        };
        let difference = published.as_deref().or(own).and_then(|truth| {
            // Of puzzles with several sets, only the first depths may be published.
            let known = truth.counts();
            let is_whole = outcome.space().is_some() || counts.len() <= known.len();
            let compared = if is_whole { &counts[..] } else { &counts[..known.len()] };
            Difference::first(compared, known, complete && is_whole)
        });
        let (machine, peak_memory) = (Machine::this(), store::peak_memory());
        Report { outcome, published, own, difference, machine, peak_memory }
    }

    /// Returns the name of the distribution that the search was compared with: the best-known publication, or else this
    /// project's own.
    pub fn truth(&self) -> String {
        let published = self.published.as_ref().map(|truth| truth.name().into());
        published.or(self.own_name()).unwrap_or_default()
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
        let reduced = outcome.reduced();
        let all = outcome.states.as_ref().and_then(|all| all.to_string().parse().ok());
        // Some of the states do not come from each other.
        let heading =
            if outcome.among.is_empty() { ["depth", "states"] } else { ["moves", "states"] };
        let table = table(heading, &outcome.counts, reduced, all);
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
        let disk = outcome.disk.as_ref();
        let (mut kind, mut name, mut start) = ("puzzle", described(&outcome.searched), None);
        if let Some(space) = outcome.space() {
            name = described(&Searched::Numbered(space.clone().from_goal()));
            if space.size().is_some() {
                kind = "board";
            } else {
                name += &format!(", goal {}", space.goal_text());
            }
            start = Some(space.start_text()).filter(|_| !outcome.begins_at_goal());
        }
        let found = thousands(outcome.total());
        let states = match &outcome.states {
            _ if outcome.complete => found,
            Some(all) => format!("{found} of {}", grouped(&all.to_string())),
            None => format!("{found} of unknown"),
        };
        let symmetries = outcome.lists.as_ref();
        let symmetries = symmetries
            .map(|lists| used_symmetries(lists.symmetries, lists.all_symmetries.as_ref()));
        let (time, speed) = (duration(outcome.seconds), rate(self.states_per_second()));
        let arrays = bytes(outcome.array_bytes);
        let what = match (outcome.engine, &outcome.lists) {
            (Engine::Bitmap, _) => "bitmaps",
            (_, Some(_)) => "lists",
            (_, None) => "state arrays",
        };
        // A finished search that was resumed: an earlier session did the work and had the arrays.
        let worked = |disk: &&DiskUse| disk.kernel_seconds > 0.0;
        let is_idle = disk.is_some_and(|disk| !worked(&disk));
        let memory = match self.peak_memory {
            Some(peak) if is_idle || !outcome.among.is_empty() => {
                format!("{} at the peak", bytes(peak))
            }
            // What is never written to takes no memory.
            Some(peak) if peak < outcome.array_bytes => {
                format!("{} at the peak, of {arrays} reserved for {what}", bytes(peak))
            }
            Some(peak) => format!("{} at the peak, {arrays} for {what}", bytes(peak)),
            None => format!("{arrays} for {what}"),
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
            ("start", start),
            ("among", among(&outcome.among)),
            ("states", Some(states)),
            (extreme, Some(last)),
            ("antipodes", outcome.antipodes().map(thousands)),
            ("mean depth", Some(format!("{:.4}", outcome.mean_depth()))),
            ("symmetries", symmetries),
            ("time", Some(format!("{time}, {speed} states/s"))),
            ("memory", Some(memory)),
            ("disk", files),
            ("work", work),
            ("network", sent),
            ("engine", Some(engine(outcome))),
            ("published", outcome.among.is_empty().then(|| self.published_line())),
        ];
        facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// How the search compares with published results.
    pub fn published_line(&self) -> String {
        if let Some(difference) = &self.difference {
            return format!("DISAGREES with {}: {difference}", self.truth());
        }
        let Some(compared) = self.compared() else {
            return "none in the list of this program".into();
        };
        let all = self.outcome.complete && compared == self.outcome.counts.len();
        let which = if all { "all" } else { "the first" };
        let published = self.published.as_deref();
        let known = published.map(Published::citation).into_iter().chain(self.own_name());
        let known: Vec<String> = known.collect();
        // One source per line: together they are wider than a terminal.
        let sources = known.join("; ").replace("; ", ";\n              ");
        format!("{which} {compared} levels agree with {sources}")
    }

    /// How the search compares with published results, in a word or three.
    pub fn agreement(&self) -> String {
        match self.compared() {
            _ if self.difference.is_some() => "DISAGREES".into(),
            Some(levels) if levels < self.outcome.counts.len() => {
                format!("agrees to {}", levels - 1)
            }
            Some(_) => "agrees".into(),
            None => "none".into(),
        }
    }

    /// The number of levels that there are published ones to compare with; `None` if none are published.
    fn compared(&self) -> Option<usize> {
        let truth = self.published.as_deref().or(self.own)?;
        Some(truth.counts().len().min(self.outcome.counts.len()))
    }
}

/// What was searched, as a title names it.
pub(crate) fn searched(outcome: &Outcome) -> String {
    match outcome.among[..] {
        [] => outcome.searched.to_string(),
        _ => format!("Some states of {}", outcome.searched),
    }
}

/// The states that were solved, in a few words.
fn among(texts: &[String]) -> Option<String> {
    match texts {
        [] => None,
        [one] => Some(shown(one, 200)),
        [first, others @ ..] => Some(format!("{}; or {} others", shown(first, 200), others.len())),
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
        let ranks = match (disk.ranks, disk.planes) {
            (1, Some(planes)) => format!(", exchanging bits in {}", planes.name()),
            (1, None) => String::new(),
            (ranks, _) => format!(", {ranks} processes"),
        };
        format!(", {}{ranks}", counted(disk.chunks as u64, "chunk"))
    });
    format!("{}, {kernel}{}{chunks}", outcome.engine, counted(outcome.threads as u64, "thread"))
}

// The depth distribution as a text table with bars.

/// Length of the longest bar in characters: the table then stays within 80 columns for every board of up to 16 cells.
const BAR: u64 = 26;

/// The number of moves that the hardest state needs; only where a search begins at the goal.
pub(crate) const GODS_NUMBER: &str = "God's number";

/// Returns the title of a distribution, for example `3x4: 239,500,800 states, God's number 53`; if it is not complete,
/// its last depth is not called so.
pub(crate) fn title(name: &str, counts: &[u64], complete: bool) -> String {
    let total = counts.iter().sum();
    let states = thousands(total);
    let plural = if total == 1 { "" } else { "s" };
    let last = counts.len().saturating_sub(1);
    let ending =
        if complete { format!(", {GODS_NUMBER} {last}") } else { format!(" to depth {last}") };
    format!("{name}: {states} state{plural}{ending}")
}

/// Returns the table of a depth distribution: depth, states, growth (how many times the states of the depth before),
/// cumulative share of `total`, and a bar whose length is proportional to the number of states.
///
/// The share is rounded, but 100 appears only where every state has been reached.
///
/// ```
/// let table = tilewave::report::histogram(&[1, 2, 2, 2, 2, 2, 1], 12);
/// assert_eq!(table.lines().count(), 8);
/// assert!(table.lines().nth(1).unwrap().starts_with("    0       1               8.3333 %"));
/// ```
pub fn histogram(counts: &[u64], total: u64) -> String {
    table(["depth", "states"], counts, None, Some(total as f64))
}

/// Returns the table of the values of a database, in the form of [`histogram`].
pub fn value_histogram(counts: &[u64], total: u64) -> String {
    table(["value", "entries"], counts, None, Some(total as f64))
}

/// Returns how many symmetries of a puzzle are used, and of how many, for display.
pub fn used_symmetries(symmetries: usize, all: Option<&BigUint>) -> String {
    let some = if symmetries == 1 { "none".to_string() } else { symmetries.to_string() };
    match all {
        None => format!("{some} used"),
        Some(all) if *all == symmetries.into() => some,
        Some(all) => format!("{some} used of {}", grouped(&all.to_string())),
    }
}

/// The table of counts by depth or value; `reduced`: the same up to symmetry; `total`: of all states, if it is known.
fn table(
    [depth, states]: [&str; 2],
    counts: &[u64],
    reduced: Option<&[u64]>,
    total: Option<f64>,
) -> String {
    const REDUCED: &str = "up to symmetry";
    let most = |counts: &[u64]| thousands(counts.iter().copied().max().unwrap_or(0)).len();
    let (largest, width) =
        (counts.iter().copied().max().unwrap_or(0), most(counts).max(states.len()));
    let column = |words: Option<String>| match (reduced, words) {
        (Some(reduced), Some(words)) => {
            format!("  {words:>width$}", width = most(reduced).max(REDUCED.len()))
        }
        _ => String::new(),
    };
    // Of a space so large that the shares of all levels are 0.0000 % there is nothing to be seen.
    let total = total.filter(|total| counts.iter().sum::<u64>() as f64 >= total * 5e-7);
    let cumulative = total.map_or("", |_| "    cumulative");
    let heading = column(Some(REDUCED.into()));
    // Entries of one value do not come from those of the one before.
    let grows = depth == "depth";
    let growth_of = |words: &str| if grows { format!("  {words:>7}") } else { String::new() };
    let mut table =
        format!("{depth:>5}  {states:>width$}{heading}{}{cumulative}\n", growth_of("growth"));
    let mut found = 0;
    for (depth, &count) in counts.iter().enumerate() {
        found += count;
        let growth = depth.checked_sub(1).map(|before| count as f64 / counts[before] as f64);
        let growth = growth.filter(|growth| growth.is_finite());
        let line = format!(
            "{depth:>5}  {:>width$}{}{}{}  {}",
            thousands(count),
            column(reduced.map(|reduced| thousands(reduced[depth]))),
            growth_of(&growth.map_or(String::new(), |growth| format!("{growth:.3}"))),
            total.map_or(String::new(), |total| format!("  {:>10} %", share_of(found, total))),
            bar(count, largest),
        );
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}

/// `part` of `whole` in percent, rounded to four decimals; 100 only for all of it.
pub(crate) fn share_of(part: u64, whole: f64) -> String {
    let percent = 100.0 * part as f64 / whole.max(1.0);
    let percent = if (part as f64) < whole { percent.min(99.9999) } else { percent };
    format!("{percent:.4}")
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
    /// Returns the report as JSON, with the same keys for every search. Existing keys do not change; more may be added.
    ///
    /// `among`, only where some states were solved, has the states and masks of which at least one fits each state.
    /// `counts`, `checksums` (16 hexadecimal digits each, because JSON readers commonly round integers above 2^53) and
    /// `level_seconds` have one value per depth. `states` has the digits of the number of reachable states, which often
    /// exceeds 64 bits, or is null if it is not known. `diameter` and `antipodes`, the number of states at that depth,
    /// are null if the search stopped early (see `complete`); `kernel` is null for the reference engine;
    /// `peak_memory_bytes`, for the process, is null if the system does not report it. `seconds` is wall-clock time.
    /// [`identity`] says which keys identify the puzzle. `agrees_with` names the publications whose counts agree with
    /// every level that they have; it is null if there are none or a level differs, and in the latter case
    /// `first_wrong_depth` is the first one that differs. `agrees_with_own` likewise names the file of this project's
    /// own results.
    ///
    /// `lists` has what only list searches know of their levels, and is null for the others: `symmetries` (those used),
    /// `all_symmetries` (null if not known), `reduced` (states up to symmetry, null if not all symmetries were used),
    /// `generated` and `kept` (keys) and `bytes`.
    /// `disk` has details of a search on disk, and is null for a search in memory: `peak_bytes` is the maximum size of
    /// all files at any time; `planes` says where the bits that cross between chunks were stored (`memory` or `files`;
    /// null in a list search); `bytes_written` covers all sessions; the times for decoding, kernel, encoding, and
    /// waiting for readers or the writer are in thread-seconds of the last session; `network_bytes` is the number of
    /// bytes sent between `ranks` processes in this session for the step to each depth, and is empty for a single
    /// process.
    pub fn json(&self) -> Value {
        let outcome = self.outcome;
        let agrees = self.published.as_deref().filter(|_| self.difference.is_none());
        let own = self.own.filter(|_| self.difference.is_none());
        let checksums = outcome.checksums.iter().map(|c| format!("{c:016x}"));
        let mut keys = identity(&outcome.searched);
        if !outcome.among.is_empty() {
            keys["among"] = json!(outcome.among);
        }
        let more = json!({
            "states": outcome.states.as_ref().map(ToString::to_string),
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
            "array_bytes": outcome.array_bytes,
            "lists": outcome.lists.as_ref().map(|lists| json!({
                "symmetries": lists.symmetries,
                "all_symmetries": lists.all_symmetries.as_ref().map(BigUint::to_string),
                "reduced": lists.reduced,
                "generated": lists.generated,
                "kept": lists.kept,
                "bytes": lists.bytes,
            })),
            "disk": outcome.disk.as_ref().map(|disk| json!({
                "peak_bytes": disk.peak_bytes,
                "chunks": disk.chunks,
                "planes": disk.planes.map(PlaneStore::name),
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

/// The columns of the levels of a search as CSV.
pub const LEVEL_COLUMNS: &str = "depth,states,reduced,cumulative,checksum,puzzle";

impl Report<'_> {
    /// Returns the levels as CSV with the columns depth, states, reduced (states up to symmetry, empty if they were not
    /// counted), cumulative (states up to this depth), checksum (16 hexadecimal digits) and puzzle (as [`described`]),
    /// one row per depth.
    pub fn csv(&self) -> String {
        let outcome = self.outcome;
        let reduced = outcome.reduced();
        let mut text = format!("{LEVEL_COLUMNS}\n");
        let puzzle = csv_field(&described(&outcome.searched));
        let mut cumulative = 0;
        for (depth, (states, checksum)) in outcome.counts.iter().zip(&outcome.checksums).enumerate()
        {
            cumulative += states;
            let reduced = reduced.map_or(String::new(), |reduced| reduced[depth].to_string());
            // Writing to a string cannot fail.
            let _ =
                writeln!(text, "{depth},{states},{reduced},{cumulative},{checksum:016x},{puzzle}");
        }
        text
    }
}
