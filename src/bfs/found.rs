//! What the levels of a search come to.
//!
//! Invariant: the levels never hold more states than there are, and a complete search holds them all.

use std::time::Instant;

use super::error::SearchError;
use super::state::State;
use crate::Error;
use crate::perm::kernel::Tally;
use crate::perm::layout::Register;
use crate::progress::{Level, Progress};

/// What is done with each group of a level: the depth, the number of the group's first line, the registers
/// of all its lines in the layout of [`crate::perm::layout`], and the cells (path indices) that the bits of a
/// byte stand for.
pub type EachLevel<'a> =
    dyn FnMut(usize, u64, &[Register], &[usize]) -> Result<(), Error> + Send + 'a;

/// The levels that an engine has found.
pub(super) struct Found {
    puzzle: String,
    /// States that there are.
    all: u64,
    /// States of all levels.
    pub states: u64,
    pub counts: Vec<u64>,
    pub checksums: Vec<u64>,
    pub level_seconds: Vec<f64>,
    pub complete: bool,
    pub last: Vec<State>,
}

impl Found {
    /// Returns no levels of a puzzle that has `all` states.
    pub fn new(puzzle: String, all: u64) -> Found {
        Found {
            puzzle,
            all,
            states: 0,
            counts: Vec::new(),
            checksums: Vec::new(),
            level_seconds: Vec::new(),
            complete: false,
            last: Vec::new(),
        }
    }

    /// Goes on after the levels of earlier sessions, of which the states are known.
    pub fn after(puzzle: String, all: u64, counts: impl Iterator<Item = u64>) -> Found {
        let counts: Vec<u64> = counts.collect();
        Found {
            states: counts.iter().sum(),
            counts,
            ..Found::new(puzzle, all)
        }
    }

    /// Appends the next level and reports it; returns false when it is empty, which completes the search.
    ///
    /// # Errors
    /// [`SearchError::Sum`] when the states do not add up.
    pub fn push(
        &mut self,
        level: Tally,
        begun: Instant,
        progress: &dyn Progress,
    ) -> Result<bool, SearchError> {
        let depth = self.counts.len();
        let all = self.all;
        let found = self.states.saturating_add(level.states);
        self.complete = level.states == 0;
        if found > all || (self.complete && found < all) {
            return Err(SearchError::Sum {
                puzzle: self.puzzle.clone(),
                depth,
                found,
                all,
            });
        }
        if self.complete {
            return Ok(false);
        }
        let seconds = begun.elapsed().as_secs_f64();
        self.states = found;
        self.counts.push(level.states);
        self.checksums.push(level.checksum);
        self.level_seconds.push(seconds);
        progress.level(&Level {
            depth,
            states: level.states,
            seconds,
        });
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;

    #[test]
    fn levels_must_add_up() {
        let puzzle = || "2x2".to_string();
        let level = |states| Tally {
            states,
            checksum: 0,
        };
        let push =
            |found: &mut Found, states| found.push(level(states), Instant::now(), &NoProgress);
        let mut found = Found::new(puzzle(), 12);
        assert_eq!(push(&mut found, 1), Ok(true));
        assert_eq!(push(&mut found, 11), Ok(true));
        assert_eq!((push(&mut found, 0), found.complete), (Ok(false), true));
        let sum = |found| {
            let (depth, all) = (2, 12);
            Err(SearchError::Sum {
                puzzle: puzzle(),
                depth,
                found,
                all,
            })
        };
        let mut found = Found::after(puzzle(), 12, [1, 11].into_iter());
        assert_eq!(push(&mut found, 1), sum(13));
        let mut found = Found::after(puzzle(), 12, [1, 10].into_iter());
        assert_eq!(push(&mut found, 0), sum(11));
    }
}
