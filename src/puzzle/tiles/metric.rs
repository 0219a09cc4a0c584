//! What counts as one move.

use std::fmt;
use std::str::FromStr;

use super::BoardError;

/// What counts as one move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Single-tile metric: one tile goes to the blank's cell.
    #[default]
    Stm,
    /// Multi-tile metric: any number of tiles of a row or column go one cell towards the blank together.
    Mtm,
}

impl Metric {
    /// Both metrics.
    pub const ALL: [Metric; 2] = [Metric::Stm, Metric::Mtm];

    /// Returns the name used on the command line and in files: `stm` or `mtm`.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Stm => "stm",
            Metric::Mtm => "mtm",
        }
    }

    /// Returns the most tiles that go in one move.
    pub fn most_tiles(self) -> usize {
        match self {
            Metric::Stm => 1,
            Metric::Mtm => usize::MAX,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Metric {
    type Err = BoardError;

    fn from_str(text: &str) -> Result<Metric, BoardError> {
        let found = Metric::ALL.into_iter().find(|m| m.name() == text);
        found.ok_or_else(|| BoardError::Metric(text.to_string()))
    }
}
