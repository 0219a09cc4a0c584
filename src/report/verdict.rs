//! The verdict on a complete search.

use std::fmt;

use crate::{
    frontier::FrontierOutcome,
    puzzle::{StateSpace, orbits::OrbitPuzzle},
    report::{Published, own_for, thousands},
    search::Outcome,
};

/// The levels of a complete search: number of states and checksum per depth.
#[derive(Clone, Copy, Debug)]
pub struct SearchLevels<'a> {
    /// Number of states at each depth.
    pub counts: &'a [u64],
    /// Checksum at each depth.
    pub checksums: &'a [u64],
}

impl<'a> SearchLevels<'a> {
    /// Returns the levels of an outcome.
    pub fn of(outcome: &'a Outcome) -> SearchLevels<'a> {
        SearchLevels { counts: &outcome.counts, checksums: &outcome.checksums }
    }
}

/// The reference for a search. The sum, N!/2 or the order of the group, is checked in every case.
#[derive(Clone, Copy, Debug)]
pub enum Truth<'a> {
    /// A published distribution.
    Published(&'static Published),
    /// The levels that the reference engine found.
    Reference(SearchLevels<'a>),
    /// Only the sum is checked.
    Sum,
}

/// An error in the levels of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A level has the wrong number of states.
    Level(Difference),
    /// A level has the right number of states, but not the right ones.
    Checksum {
        /// The first depth with wrong states.
        depth: usize,
    },
    /// The levels do not add up to N!/2 or the order of the group.
    Total {
        /// Number of states found.
        found: u64,
        /// Number of reachable states.
        expected: u64,
    },
}

impl Fault {
    /// Returns the first wrong depth, or `None` if only the sum is known to be wrong.
    pub fn depth(&self) -> Option<usize> {
        match self {
            Fault::Level(difference) => Some(difference.depth),
            Fault::Checksum { depth } => Some(*depth),
            Fault::Total { .. } => None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Level(difference) => difference.fmt(f),
            Fault::Checksum { depth } => {
                write!(f, "first wrong depth {depth}: the checksum of its states differs")
            }
            Fault::Total { found, expected } => {
                let (found, expected) = (thousands(*found), thousands(*expected));
                write!(f, "the levels sum to {found} states instead of {expected}")
            }
        }
    }
}

/// The verdict on a complete search.
///
/// ```
/// use tilewave::puzzle::{Board, StateSpace};
/// use tilewave::report::{SearchLevels, Truth, Verdict, published_for};
/// let space = StateSpace::of_board(Board::parse("1 2/3 0", None)?);
/// let found = SearchLevels { counts: &[1, 2, 2, 2, 2, 2, 1], checksums: &[] };
/// let verdict = Verdict::judge(&space, found, Truth::Published(published_for(&space).unwrap()));
/// assert!(verdict.pass());
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verdict {
    /// The puzzle, followed by the metric if it is not the usual one.
    pub puzzle: String,
    /// States found.
    pub total: u64,
    /// Number of levels found.
    pub levels: usize,
    /// Whether the search found all levels.
    pub complete: bool,
    /// The reference with which the levels were compared.
    pub compared_with: String,
    /// The file of this project's own results with which the levels were also compared.
    pub own: Option<String>,
    /// The error, `None` if there is none.
    pub fault: Option<Fault>,
}

impl Verdict {
    /// Returns the verdict on the levels of a complete search.
    pub fn judge(space: &StateSpace, found: SearchLevels<'_>, truth: Truth<'_>) -> Verdict {
        let total = found.counts.iter().sum();
        let level = |expected| Difference::first(found.counts, expected, true).map(Fault::Level);
        let (compared_with, fault) = match truth {
            Truth::Published(truth) => (truth.citation(), level(truth.counts())),
            Truth::Reference(truth) => {
                let differs = found.checksums.iter().zip(truth.checksums).position(|(a, b)| a != b);
                let checksum = differs.map(|depth| Fault::Checksum { depth });
                ("the reference engine".into(), level(truth.counts).or(checksum))
            }
            Truth::Sum => match space.size() {
                Some(size) => (format!("the sum {}!/2", size.cells()), None),
                None => ("the order of the group".into(), None),
            },
        };
        let sum = space
            .states()
            .filter(|&expected| expected != total)
            .map(|expected| Fault::Total { found: total, expected });
        let own = own_for(space);
        let by_own = own.and_then(|own| level(own.counts()));
        // The reference that reveals the error is named.
        let compared_with = match (own, by_own) {
            (Some(own), Some(_)) if fault.is_none() => format!("this project's own {}", own.name()),
            _ => compared_with,
        };
        Verdict {
            puzzle: space.to_string(),
            total,
            levels: found.counts.len(),
            complete: true,
            compared_with,
            own: own.map(|own| own.name().to_string()),
            fault: fault.or(by_own).or(sum),
        }
    }

    /// Returns the verdict on a list search, which is compared with published growth, if there is any, and with the
    /// number of states if the search is complete.
    pub fn of_lists(
        puzzle: &OrbitPuzzle,
        found: &FrontierOutcome,
        published: Option<&Published>,
    ) -> Verdict {
        let counts = found.counts();
        let total = counts.iter().sum();
        let level = published.and_then(|published| {
            let known = published.counts();
            let known =
                if found.complete { known } else { &known[..known.len().min(counts.len())] };
            let own = &counts[..if found.complete { counts.len() } else { known.len() }];
            Difference::first(own, known, true).map(Fault::Level)
        });
        let states = puzzle.states().and_then(|states| u64::try_from(states).ok());
        let sum = states.filter(|&expected| found.complete && expected != total);
        let sum = sum.map(|expected| Fault::Total { found: total, expected });
        let source = published.map(Published::citation);
        Verdict {
            puzzle: puzzle.to_string(),
            total,
            levels: counts.len(),
            complete: found.complete,
            compared_with: source.unwrap_or_else(|| "the number of states".into()),
            own: None,
            fault: level.or(sum),
        }
    }

    /// Returns whether no error was found.
    pub fn pass(&self) -> bool {
        self.fault.is_none()
    }

    /// Returns the largest depth found.
    pub fn diameter(&self) -> usize {
        self.levels.saturating_sub(1)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (puzzle, diameter, states) = (&self.puzzle, self.diameter(), thousands(self.total));
        // One line per search: the first source stands for all.
        let compared_with = self.compared_with.split("; ").next().unwrap_or_default();
        let levels = self.levels;
        let deepest = if self.complete { "last depth" } else { "to depth" };
        write!(f, "{puzzle}  {deepest} {diameter}  {states} states  ")?;
        match &self.fault {
            None => {
                let own = self.own.iter().map(|own| format!(" and this project's own {own}"));
                let own: String = own.collect();
                write!(f, "{levels} levels agree with {compared_with}{own}  PASS")
            }
            Some(fault) => write!(f, "{fault} according to {compared_with}  FAIL"),
        }
    }
}

// Level-by-level comparison of two depth distributions.

/// The first depth at which two distributions differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The first wrong depth.
    pub depth: usize,
    /// Number of states found at this depth, 0 if the search ended before it.
    pub found: u64,
    /// Number of states expected at this depth, 0 if the search should have ended before it.
    pub expected: u64,
}

impl Difference {
    /// Returns the first difference between two lists of counts, or `None` if they agree.
    ///
    /// The counts of an incomplete search (`complete` is false) agree if they are the beginning of the expected ones.
    ///
    /// ```
    /// use tilewave::report::Difference;
    /// let wrong = Difference::first(&[1, 2, 5], &[1, 2, 4, 8], true).unwrap();
    /// assert_eq!((wrong.depth, wrong.found, wrong.expected), (2, 5, 4));
    /// assert_eq!(Difference::first(&[1, 2, 4], &[1, 2, 4, 8], false), None);
    /// ```
    pub fn first(found: &[u64], expected: &[u64], complete: bool) -> Option<Difference> {
        let levels = if complete { found.len().max(expected.len()) } else { found.len() };
        let at = |counts: &[u64], depth: usize| counts.get(depth).copied().unwrap_or(0);
        (0..levels)
            .map(|d| Difference { depth: d, found: at(found, d), expected: at(expected, d) })
            .find(|d| d.found != d.expected)
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (found, expected) = (thousands(self.found), thousands(self.expected));
        write!(f, "first wrong depth {}: {found} states instead of {expected}", self.depth)
    }
}
