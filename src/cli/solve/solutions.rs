//! Which solutions of a board or state are wanted: one, all, or their number; and how all of them are written.

use std::str::FromStr;

use serde_json::{Value, json};
use tilewave::{
    report::counted,
    solve::{AllSolutions, SolutionRange},
};

use crate::{count, with_more};

/// Which solutions are wanted.
#[derive(clap::Args)]
pub struct SolutionOptions {
    /// Find all shortest solutions; at most N with --all=N, only their number with --all=count.
    ///
    /// For puzzles other than boards, sequences count as one if they differ only in the order of moves that commute (U D
    /// and D U).
    #[arg(long, value_name = "N|count", num_args = 0..=1, require_equals = true, default_missing_value = "all", value_parser = ListedSolutions::from_str, conflicts_with_all = ["fast", "certify", "table"])]
    all: Option<ListedSolutions>,

    /// With --all: also find solutions that are up to N moves longer.
    ///
    /// These solutions come to no state twice, and no two of their moves could be written as one.
    #[arg(long, value_name = "N", value_parser = count::<usize>(), allow_negative_numbers = true, requires = "all", hide_short_help = true)]
    slack: Option<usize>,
}

/// The value of `--all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListedSolutions {
    All,
    Most(u64),
    Count,
}

impl FromStr for ListedSolutions {
    type Err = String;

    fn from_str(text: &str) -> Result<ListedSolutions, String> {
        match text {
            "all" => Ok(ListedSolutions::All),
            "count" => Ok(ListedSolutions::Count),
            number => {
                let number: Option<u64> = number.parse().ok().filter(|&number| number > 0);
                let number = number.ok_or_else(|| {
                    format!("'{text}' is neither a number of solutions from 1 on nor 'count'")
                })?;
                Ok(ListedSolutions::Most(number))
            }
        }
    }
}

impl SolutionOptions {
    /// The range of solutions, unless one is wanted.
    pub fn range(&self) -> Option<SolutionRange> {
        let all = self.all?;
        let most = match all {
            ListedSolutions::Most(most) => Some(most),
            _ => None,
        };
        let slack = self.slack.unwrap_or(0);
        Some(SolutionRange { slack, most, kept: all != ListedSolutions::Count })
    }

    /// Whether solutions are only counted.
    pub fn only_counts(&self) -> bool {
        self.all == Some(ListedSolutions::Count)
    }

    /// The columns of CSV for one solution, for all, or for their number.
    pub fn columns(&self, [one, all, number]: [&'static str; 3]) -> &'static str {
        match self.all {
            None => one,
            Some(ListedSolutions::Count) => number,
            Some(_) => all,
        }
    }
}

/// Figures, and those of all solutions behind.
pub fn with_all<M>(figures: Value, all: &AllSolutions<M>, text: impl Fn(&M) -> String) -> Value {
    let solutions: Option<Vec<String>> =
        all.moves.as_ref().map(|moves| moves.iter().map(text).collect());
    let (counts, complete) = (&all.counts, all.is_complete);
    with_more(figures, json!({"solutions": solutions, "counts": counts, "complete": complete}))
}

/// The figures of a line of CSV for each solution, or for each length if they were only counted; the shortest solutions
/// have this length.
pub fn rows<M>(length: usize, all: &AllSolutions<M>, figures: &Value) -> Vec<Value> {
    let row = |own: usize, more: Value| {
        with_more(
            with_more(figures.clone(), json!({"length": own, "optimal": own == length})),
            more,
        )
    };
    match figures["solutions"].as_array() {
        Some(solutions) => {
            let lengths = lengths(length, &all.counts);
            solutions
                .iter()
                .zip(lengths)
                .map(|(moves, own)| row(own, json!({"moves": moves})))
                .collect()
        }
        None => {
            let counts = (length..).zip(&all.counts);
            counts.map(|(own, count)| row(own, json!({"count": count}))).collect()
        }
    }
}

/// The length of each solution.
fn lengths(shortest: usize, counts: &[u64]) -> impl Iterator<Item = usize> {
    let each = (shortest..).zip(counts.to_vec());
    each.flat_map(|(length, count)| (0..count).map(move |_| length))
}

/// How many solutions there are, and a line for each one that is kept.
pub fn words<M>(
    length: usize,
    all: &AllSolutions<M>,
    text: impl Fn(&M) -> String,
) -> (String, String) {
    let least = if all.is_complete { "" } else { "at least " };
    let solutions = |count: u64| counted(count, "solution");
    let total: u64 = all.counts.iter().sum();
    let (first, last) = (all.counts.first().copied().unwrap_or(0), all.counts.len());
    let line = match last {
        0 | 1 => format!("{least}{}", solutions(total)),
        _ => {
            let most = counted((length + last - 1) as u64, "move");
            format!("{}, {least}{} of up to {most}", solutions(first), solutions(total))
        }
    };
    let moves = all.moves.iter().flatten().zip(lengths(length, &all.counts));
    let each = moves.map(|(moves, own)| match last {
        0 | 1 => format!("  {}\n", text(moves)),
        _ => format!("  {}  {}\n", counted(own as u64, "move"), text(moves)),
    });
    (line, each.collect())
}
