//! The text report of a search: table and summary.

use super::{
    Difference, Machine, Own, Published, bytes, counted, duration, histogram, own_for,
    published_for, rate, thousands,
};
use crate::bfs::Outcome;
use crate::store;

/// Everything a report says of a search: the outcome, how it compares with what is published, and
/// what it was run on.
///
/// ```
/// use tilewave::bfs::{self, Search};
/// use tilewave::progress::NoProgress;
/// use tilewave::puzzle::tiles::{Goal, Size};
/// use tilewave::report::Report;
///
/// let search = Search::new(Goal::Last.board(Size::new(3, 3)?)?);
/// let outcome = bfs::run(&search, &NoProgress)?;
/// let report = Report::new(&outcome);
/// assert!(report.summary().contains("diameter    31"));
/// assert!(report.summary().contains("all 32 levels equal to OEIS A089473"));
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// What the search found.
    pub outcome: &'a Outcome,
    /// The distribution that is published for its board and start.
    pub published: Option<&'static Published>,
    /// This project's own distribution for them.
    pub own: Option<&'static Own>,
    /// The first depth at which the one that is published, or where there is none the own, is another one.
    pub difference: Option<Difference>,
    /// The machine that the search ran on.
    pub machine: Machine,
    /// Peak resident memory of the process in bytes, where the system tells.
    pub peak_memory: Option<u64>,
}

impl<'a> Report<'a> {
    /// Returns the report of an outcome, made on the machine and in the process that computed it.
    pub fn new(outcome: &'a Outcome) -> Report<'a> {
        let published = published_for(&outcome.subject);
        let own = own_for(&outcome.subject);
        let truth = published.map(Published::counts).or(own.map(Own::counts));
        let difference = |truth| Difference::first(&outcome.counts, truth, outcome.complete);
        Report {
            outcome,
            published,
            own,
            difference: truth.and_then(difference),
            machine: Machine::this(),
            peak_memory: store::peak_memory(),
        }
    }

    /// Returns the states found per second of wall time.
    pub fn states_per_second(&self) -> f64 {
        self.outcome.total() as f64 / self.outcome.seconds
    }

    /// Returns the table of the distribution followed by the summary.
    pub fn text(&self) -> String {
        let outcome = self.outcome;
        let table = histogram(&outcome.counts, outcome.states);
        format!("{table}\n{}", self.summary())
    }

    /// Returns the summary: one line each for board, states, diameter, antipodes, mean depth, time,
    /// memory, engine and agreement with what is published.
    pub fn summary(&self) -> String {
        let line = |(name, value): &(&str, String)| format!("{name:<10}  {value}\n");
        self.facts().iter().map(line).collect()
    }

    /// The facts of the summary: name and value.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let outcome = self.outcome;
        let deepest = outcome.counts.len().saturating_sub(1);
        let subject = &outcome.subject;
        let (goal, start) = (subject.goal(), subject.start());
        let kind = if subject.size().is_some() {
            "board"
        } else {
            "puzzle"
        };
        let mut facts = vec![(kind, format!("{subject}, goal {goal}"))];
        if start != goal {
            facts.push(("start", start));
        }
        if subject.definition().is_some() {
            let order = thousands(outcome.states);
            let reached = if outcome.complete {
                ", all reached"
            } else {
                ""
            };
            facts.push(("group", format!("order {order}{reached}")));
        }
        facts.push(("states", thousands(outcome.total())));
        match (outcome.diameter(), outcome.antipodes()) {
            (Some(diameter), Some(antipodes)) => {
                facts.push(("diameter", diameter.to_string()));
                facts.push(("antipodes", thousands(antipodes)));
            }
            _ => facts.push((
                "diameter",
                format!("over {deepest}, the last depth computed"),
            )),
        }
        facts.push(("mean depth", format!("{:.4}", outcome.mean_depth())));
        let speed = rate(self.states_per_second());
        facts.push((
            "time",
            format!("{}, {speed} states/s", duration(outcome.seconds)),
        ));
        let arrays = bytes(outcome.array_bytes);
        facts.push((
            "memory",
            match self.peak_memory {
                Some(peak) => format!("{} peak, {arrays} of it state arrays", bytes(peak)),
                None => format!("{arrays} of state arrays"),
            },
        ));
        if let Some(disk) = &outcome.disk {
            let (peak, written) = (bytes(disk.peak_bytes), bytes(disk.bytes_written));
            facts.push(("disk", format!("{peak} peak, {written} written")));
            facts.push((
                "work",
                format!(
                    "decode {:.0} s, kernel {:.0} s, encode {:.0} s, wait {:.0} s",
                    disk.decode_seconds,
                    disk.kernel_seconds,
                    disk.encode_seconds,
                    disk.wait_seconds
                ),
            ));
        }
        let network = outcome.disk.as_ref().map_or(&[][..], |d| &d.network_bytes);
        if let Some(most) = network.iter().max().filter(|&&most| most > 0) {
            let (all, most) = (bytes(network.iter().sum()), bytes(*most));
            facts.push((
                "network",
                format!("{all} sent, {most} for the largest level"),
            ));
        }
        facts.push(("engine", engine(outcome)));
        facts.push(("published", self.published_line()));
        facts
    }

    /// How the search compares with what is published.
    pub(super) fn published_line(&self) -> String {
        let levels = self.outcome.counts.len();
        let which = if self.outcome.complete {
            "all"
        } else {
            "the first"
        };
        let own = self.own.map(Own::to_string);
        let known = self.published.map(Published::citation);
        let first = self.published.map(|truth| truth.name().to_string());
        match (
            known.into_iter().chain(own.clone()).collect::<Vec<_>>(),
            &self.difference,
        ) {
            (known, _) if known.is_empty() => {
                let what = match self.outcome.subject.size() {
                    Some(_) => "board and start",
                    None => "puzzle",
                };
                format!("no published distribution for this {what}")
            }
            (known, None) => {
                // One source per line: together they are wider than a terminal.
                let sources = known.join("; ").replace("; ", ";\n            ");
                format!("{which} {levels} levels equal to {sources}")
            }
            (_, Some(difference)) => {
                let truth = first.or(own).unwrap_or_default();
                format!("DISAGREES with {truth}: {difference}")
            }
        }
    }
}

/// Engine, kernel and threads, for example `sweep, avx512 kernel, 2 threads`.
fn engine(outcome: &Outcome) -> String {
    let kernel = outcome
        .kernel
        .map(|k| format!("{k} kernel, "))
        .unwrap_or_default();
    let chunks = outcome.disk.as_ref().map_or(String::new(), |disk| {
        let ranks = match disk.ranks {
            1 => format!("planes in {}", disk.planes.name()),
            ranks => format!("{ranks} processes"),
        };
        format!(", {}, {ranks}", counted(disk.chunks as u64, "chunk"))
    });
    format!(
        "{}, {kernel}{}{chunks}",
        outcome.engine,
        counted(outcome.threads as u64, "thread")
    )
}
