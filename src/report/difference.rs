//! Level-by-level comparison of two depth distributions.

use super::thousands;

/// The first depth at which two distributions differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The first wrong depth.
    pub depth: usize,
    /// States found there, 0 when the search ended before.
    pub found: u64,
    /// States expected there, 0 when the search should have ended before.
    pub expected: u64,
}

impl Difference {
    /// Returns the first difference of two lists of counts, `None` when they agree.
    ///
    /// The counts of an incomplete search (`complete` is false) agree when they are the beginning of
    /// the expected ones.
    ///
    /// ```
    /// use tilewave::report::Difference;
    /// let wrong = Difference::first(&[1, 2, 5], &[1, 2, 4, 8], true).unwrap();
    /// assert_eq!((wrong.depth, wrong.found, wrong.expected), (2, 5, 4));
    /// assert_eq!(Difference::first(&[1, 2, 4], &[1, 2, 4, 8], false), None);
    /// ```
    pub fn first(found: &[u64], expected: &[u64], complete: bool) -> Option<Difference> {
        let levels = if complete {
            found.len().max(expected.len())
        } else {
            found.len()
        };
        let at = |counts: &[u64], depth: usize| counts.get(depth).copied().unwrap_or(0);
        (0..levels)
            .map(|d| Difference {
                depth: d,
                found: at(found, d),
                expected: at(expected, d),
            })
            .find(|d| d.found != d.expected)
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (found, expected) = (thousands(self.found), thousands(self.expected));
        write!(
            f,
            "first wrong depth {}: {found} states, expected {expected}",
            self.depth
        )
    }
}
