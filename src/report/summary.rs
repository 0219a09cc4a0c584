//! The text report of a search: table and summary.

use super::{Agreement, Machine, bytes, duration, histogram, rate, thousands};
use crate::bfs::Outcome;
use crate::store;

/// Everything a report says of a search: the outcome, how it compares with what is published, and
/// what it was run on.
///
/// ```
/// use tilewave::bfs::{self, Search, Silent};
/// use tilewave::puzzle::tiles::{Goal, Size};
/// use tilewave::report::Report;
///
/// let search = Search::new(Goal::Last.board(Size::new(3, 3)?)?);
/// let outcome = bfs::run(&search, &Silent)?;
/// let report = Report::new(&outcome);
/// assert!(report.summary().contains("diameter    31"));
/// assert!(report.summary().contains("all 32 levels equal to OEIS A089473"));
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// What the search found.
    pub outcome: &'a Outcome,
    /// How that compares with the published distribution.
    pub agreement: Agreement,
    /// The machine that the search ran on.
    pub machine: Machine,
    /// Peak resident memory of the process in bytes, where the system tells.
    pub peak_memory: Option<u64>,
}

impl<'a> Report<'a> {
    /// Returns the report of an outcome, made on the machine and in the process that computed it.
    pub fn new(outcome: &'a Outcome) -> Report<'a> {
        Report {
            outcome,
            agreement: Agreement::of(outcome),
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
        let all = outcome.size().states().unwrap_or_else(|| outcome.total());
        format!("{}\n{}", histogram(&outcome.counts, all), self.summary())
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
        let mut facts = vec![(
            "board",
            format!("{}, goal {}", outcome.size(), outcome.goal),
        )];
        if outcome.start != outcome.goal {
            facts.push(("start", outcome.start.to_string()));
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
        match &self.agreement {
            Agreement::Unpublished => "no published distribution for this board and start".into(),
            Agreement::Agrees(truth) => {
                // One source per line: together they are wider than a terminal.
                let sources = truth.citation().replace("; ", ";\n            ");
                format!("{which} {levels} levels equal to {sources}")
            }
            Agreement::Differs(truth, difference) => {
                format!("DISAGREES with {}: {difference}", truth.name())
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
    let plural = if outcome.threads == 1 { "" } else { "s" };
    let chunks = outcome.disk.as_ref().map_or(String::new(), |disk| {
        let ranks = match disk.ranks {
            1 => format!("planes in {}", disk.planes.name()),
            ranks => format!("{ranks} processes"),
        };
        format!(", {} chunks, {ranks}", disk.chunks)
    });
    format!(
        "{}, {kernel}{} thread{plural}{chunks}",
        outcome.engine, outcome.threads
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bfs::{self, Search, Silent};
    use crate::puzzle::tiles::{Goal, Size};

    fn outcome(goal: Goal, max_depth: Option<usize>) -> Outcome {
        let goal = goal.board(Size::new(2, 3).unwrap()).unwrap();
        bfs::run(
            &Search {
                max_depth,
                ..Search::new(goal)
            },
            &Silent,
        )
        .unwrap()
    }

    #[test]
    fn a_wrong_level_is_reported_loudly() {
        let mut outcome = outcome(Goal::Last, None);
        assert!(
            Report::new(&outcome)
                .summary()
                .contains("all 22 levels equal to OEIS A090034")
        );
        let summary = Report::new(&outcome).summary();
        assert!(summary.lines().all(|line| line.len() <= 80), "{summary}");
        outcome.counts[7] += 1;
        let summary = Report::new(&outcome).summary();
        assert!(summary.contains("DISAGREES with OEIS A090034"), "{summary}");
        assert!(
            summary.contains("first wrong depth 7: 13 states, expected 12"),
            "{summary}"
        );
    }

    #[test]
    fn a_limited_search_claims_no_diameter() {
        let outcome = outcome(Goal::Last, Some(5));
        let summary = Report::new(&outcome).summary();
        assert!(
            summary.contains("diameter    over 5, the last depth computed"),
            "{summary}"
        );
        assert!(!summary.contains("antipodes"), "{summary}");
        assert!(summary.contains("the first 6 levels equal to"), "{summary}");
    }

    #[test]
    fn the_start_decides_which_publication_is_compared() {
        let size = Size::new(2, 3).unwrap();
        let goal = Goal::Last.board(size).unwrap();
        let start = Goal::Blank(1).board(size).unwrap();
        let outcome = bfs::run(
            &Search {
                start,
                ..Search::new(goal)
            },
            &Silent,
        )
        .unwrap();
        let summary = Report::new(&outcome).summary();
        assert!(summary.contains("start       1 0 2/3 4 5"), "{summary}");
        assert!(
            summary.contains("all 22 levels equal to lightln2/PuzzleSearch"),
            "{summary}"
        );
    }
}
