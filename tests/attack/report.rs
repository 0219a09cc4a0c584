//! What trials found, counted by kind.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What one trial came to, from harmless to worst.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The right answer, or none was due.
    Harmless,
    /// A clear refusal, and nothing lost.
    Detected,
    /// A panic, a signal, a hang, no clear line, something left behind.
    Ugly(String),
    /// What was committed can not be reached any more, or was computed again unasked.
    Lost(String),
    /// A file that is not its own, or not superseded, is gone or changed.
    Removed(String),
    /// A wrong answer with exit code 0.
    Wrong(String),
}

/// The counts of one kind of trials, with the first few defects of each sort.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub trials: usize,
    pub harmless: usize,
    pub detected: usize,
    pub ugly: usize,
    pub lost: usize,
    pub removed: usize,
    pub wrong: usize,
}

/// All trials of a harness.
#[derive(Default)]
pub struct Report {
    pub rows: BTreeMap<String, Row>,
    /// Kind and trial of a defect, and what it is.
    pub defects: Vec<(String, String)>,
}

impl Report {
    pub fn add(&mut self, kind: &str, trial: &str, verdict: Verdict) {
        let row = self.rows.entry(kind.to_owned()).or_default();
        row.trials += 1;
        let (count, what) = match verdict {
            Verdict::Harmless => (&mut row.harmless, None),
            Verdict::Detected => (&mut row.detected, None),
            Verdict::Ugly(what) => (&mut row.ugly, Some(format!("UGLY {what}"))),
            Verdict::Lost(what) => (&mut row.lost, Some(format!("LOST {what}"))),
            Verdict::Removed(what) => (&mut row.removed, Some(format!("REMOVED {what}"))),
            Verdict::Wrong(what) => (&mut row.wrong, Some(format!("WRONG {what}"))),
        };
        *count += 1;
        if let Some(what) = what {
            self.defects.push((format!("{kind}: {trial}"), what));
        }
    }

    pub fn merge(&mut self, other: Report) {
        for (kind, row) in other.rows {
            let mine = self.rows.entry(kind).or_default();
            mine.trials += row.trials;
            mine.harmless += row.harmless;
            mine.detected += row.detected;
            mine.ugly += row.ugly;
            mine.lost += row.lost;
            mine.removed += row.removed;
            mine.wrong += row.wrong;
        }
        self.defects.extend(other.defects);
    }

    /// Fails with all defects that are not among the known ones. A known one is a part of kind, trial and text that is
    /// looked for; each that was met is printed.
    pub fn assert_clean(&self, known: &[&str]) {
        let mut unknown = Vec::new();
        for (trial, what) in &self.defects {
            let line = format!("{trial}: {what}");
            match known.iter().find(|k| line.contains(**k)) {
                Some(k) => println!("known defect ({k}): {line}"),
                None => unknown.push(line),
            }
        }
        assert!(unknown.is_empty(), "{} defects:\n{}\n{self}", unknown.len(), unknown.join("\n"));
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(
            f,
            "| attack | trials | harmless | detected | unclear | lost | removed | wrong |\n|---|---|---|---|---|---|---|---|"
        )?;
        let mut all = Row::default();
        let line = |f: &mut fmt::Formatter, kind: &str, r: &Row| {
            writeln!(
                f,
                "| {kind} | {} | {} | {} | {} | {} | {} | {} |",
                r.trials, r.harmless, r.detected, r.ugly, r.lost, r.removed, r.wrong
            )
        };
        for (kind, row) in &self.rows {
            line(f, kind, row)?;
            all.trials += row.trials;
            all.harmless += row.harmless;
            all.detected += row.detected;
            all.ugly += row.ugly;
            all.lost += row.lost;
            all.removed += row.removed;
            all.wrong += row.wrong;
        }
        line(f, "all", &all)
    }
}

/// How many trials, from which seed, and which of them only.
#[derive(Clone, Debug)]
pub struct Plan {
    pub trials: usize,
    pub seed: u64,
    /// Trials at the same time.
    pub threads: usize,
    /// One trial alone, to look at it again.
    pub only: Option<usize>,
}

impl Plan {
    /// Runs the trials, each with numbers of its own that depend on seed and trial alone.
    pub fn run(
        &self,
        trial: impl Fn(usize, &mut Dice) -> (String, String, Verdict) + Sync,
    ) -> Report {
        let next = AtomicUsize::new(self.only.unwrap_or(0));
        let end = self.only.map_or(self.trials, |n| n + 1);
        let report = Mutex::new(Report::default());
        std::thread::scope(|scope| {
            for _ in 0..self.threads.min(end).max(1) {
                scope.spawn(|| {
                    loop {
                        let n = next.fetch_add(1, Ordering::Relaxed);
                        if n >= end {
                            break;
                        }
                        let mut dice =
                            Dice(self.seed ^ (n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
                        dice.next();
                        let (kind, what, verdict) = trial(n, &mut dice);
                        let mut report = report.lock().unwrap();
                        report.add(&kind, &format!("trial {n}, {what}"), verdict);
                    }
                });
            }
        });
        let mut report = report.into_inner().unwrap();
        report.defects.sort();
        report
    }
}

/// Repeatable random numbers (SplitMix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}
