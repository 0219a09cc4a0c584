//! What the files of a run say of the puzzle that is searched, and the puzzle from what they say.
//!
//! Invariant: what is read back searches the same states in the same order of lines; two searches have the same
//! label only when they have the same puzzle, metric and goal.

use std::sync::Arc;

use twox_hash::XxHash3_64;

use super::error::DiskError;
use crate::Error;
use crate::bfs::subject::Subject;
use crate::puzzle::States;
use crate::puzzle::tiles::{Board, Metric};
use crate::store::{LABEL, Manifest, Marker};

/// What manifests and markers say of a puzzle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub board: String,
    pub goal: String,
    pub start: String,
    pub metric: Option<String>,
    pub puzzle: Option<String>,
}

impl Identity {
    pub fn of(subject: &Subject) -> Identity {
        let metric = subject.metric().filter(|&metric| metric != Metric::Stm);
        let text = match subject {
            Subject::Board { .. } => None,
            Subject::Puzzle(states) => {
                Some(String::from_utf8_lossy(&states.to_text()).into_owned())
            }
        };
        Identity {
            board: subject.name(),
            goal: subject.goal(),
            start: subject.start(),
            metric: metric.map(|metric| metric.name().into()),
            puzzle: text,
        }
    }

    /// Names and values to be compared, the most telling first.
    pub fn facts(&self) -> [(&'static str, String); 5] {
        let moves = self.puzzle.as_deref().map_or_else(String::new, hash);
        let metric = self.metric.clone();
        [
            ("board", self.board.clone()),
            (
                "metric",
                metric.unwrap_or_else(|| Metric::Stm.name().into()),
            ),
            ("moves", moves),
            ("goal", self.goal.clone()),
            ("start", self.start.clone()),
        ]
    }

    /// Whether both are of the same moves of another puzzle, whatever it and they are called.
    pub fn is_renamed(&self, other: &Identity) -> bool {
        let states = |of: &Identity| States::from_text(of.puzzle.as_ref()?.as_bytes());
        let moves = |of: &States| {
            let definition = of.definition();
            let moves = definition.generators().iter();
            let moves: Vec<_> = moves.map(|g| g.permutation.clone()).collect();
            (moves, definition.labels().to_vec(), of.reading().clone())
        };
        let (one, other) = (states(self), states(other));
        one.is_some() && one.as_ref().map(moves) == other.as_ref().map(moves)
    }

    /// Returns what is searched.
    ///
    /// # Errors
    /// What is wrong with a board; [`DiskError::Apart`] for what no program of this version wrote.
    pub fn subject(&self, directory: &str) -> Result<Subject, Error> {
        let unknown = |what: &str| DiskError::Apart {
            directory: directory.into(),
            reason: format!("its manifest names {what} that this program does not know"),
        };
        if let Some(text) = &self.puzzle {
            let states = States::from_text(text.as_bytes()).ok_or_else(|| unknown("a puzzle"))?;
            return Subject::Puzzle(Arc::new(states)).starting_at(&self.start);
        }
        let metric = match self.metric.as_deref() {
            None => Metric::Stm,
            Some(name) if name == Metric::Mtm.name() => Metric::Mtm,
            Some(_) => return Err(unknown("a metric").into()),
        };
        let goal = Board::parse(&self.goal, Some(self.board.parse()?))?;
        let subject = Subject::board(goal).in_metric(metric);
        subject.starting_at(&self.start)
    }
}

impl From<&Manifest> for Identity {
    fn from(of: &Manifest) -> Identity {
        Identity {
            board: of.board.clone(),
            goal: of.goal.clone(),
            start: of.start.clone(),
            metric: of.metric.clone(),
            puzzle: of.puzzle.clone(),
        }
    }
}

impl From<&Marker> for Identity {
    fn from(of: &Marker) -> Identity {
        Identity {
            board: of.board.clone(),
            goal: of.goal.clone(),
            start: of.start.clone(),
            metric: of.metric.clone(),
            puzzle: of.puzzle.clone(),
        }
    }
}

fn hash(text: &str) -> String {
    format!("{:016x}", XxHash3_64::oneshot(text.as_bytes()))
}

/// Returns what the header of each level file says of the lines: the goal of a board, with the metric unless it is one
/// tile a move; the hash of another puzzle's text, and as much of its name as there is room for.
pub(super) fn label(identity: &Identity) -> String {
    match (&identity.puzzle, &identity.metric) {
        (Some(text), _) => {
            let mut label = format!("{} {}", hash(text), identity.board);
            let end = (0..=LABEL.min(label.len())).rfind(|&end| label.is_char_boundary(end));
            label.truncate(end.unwrap_or(0));
            label
        }
        (None, Some(metric)) => format!("{metric} {}", identity.goal),
        (None, None) => identity.goal.clone(),
    }
}
