//! This project's own depth distributions, docs/results: computed and confirmed by this program alone, where nothing
//! else is published. They are kept apart from publications.
//!
//! Invariant: every entry is a complete state space.

use std::fmt;
use std::sync::LazyLock;

use super::published::{Of, images};
use crate::bfs::Subject;
use crate::puzzle::files::Counting;
use crate::puzzle::tiles::Size;
use crate::puzzle::{families, files};

/// A depth distribution that this project has computed.
#[derive(Clone, Debug)]
pub struct Own {
    name: String,
    /// Size of a board, or name of another puzzle.
    puzzle: String,
    /// Cell of the blank and metric, of a board.
    goal: Option<(usize, String)>,
    counts: Vec<u64>,
}

impl Own {
    /// Returns the number of states at each depth.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the file that says how it was computed and confirmed, for example `docs/results/2x5-blank1.json`.
    pub fn file(&self) -> String {
        format!("docs/results/{}.json", self.name)
    }

    /// Whether it is that of a subject.
    fn is_of(&self, of: &Of) -> bool {
        match (&self.goal, of) {
            (Some((blank, metric)), Of::Board(size, at, of)) => {
                let own: Result<Size, _> = self.puzzle.parse();
                let own = own.map(|own| (own.rows(), own.cols(), *blank));
                metric == of.name() && own.is_ok_and(|own| images(*size, *at).contains(&own))
            }
            (None, Of::Puzzle(fingerprint)) => {
                let definition = match self.puzzle.as_str() {
                    "dino" => {
                        let text = include_str!("../../tests/data/puzzles/dino.gap");
                        files::read("dino.gap", text, Counting::default()).ok()
                    }
                    family => families::parse(family).ok(),
                };
                definition.is_some_and(|definition| definition.fingerprint() == *fingerprint)
            }
            _ => false,
        }
    }
}

impl fmt::Display for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this project's own {}", self.file())
    }
}

/// Returns this project's own distribution of what is searched, from where it is searched.
///
/// ```
/// use tilewave::bfs::Subject;
/// use tilewave::puzzle::tiles::{Goal, Size};
/// let goal = "blank=8".parse::<Goal>()?.board(Size::new(2, 5)?)?;
/// let own = tilewave::report::own_for(&Subject::board(goal)).unwrap();
/// assert_eq!(own.counts().len() - 1, 55);
/// assert_eq!(own.file(), "docs/results/2x5-blank1.json");
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn own_for(subject: &Subject) -> Option<&'static Own> {
    let of = Of::subject(subject);
    let states = subject.states();
    // The names of puzzles are read only where the number of states fits.
    let fits = |own: &&Own| states == Some(own.counts.iter().sum()) && own.is_of(&of);
    own_all().iter().find(fits)
}

/// Returns all of this project's own distributions, boards first.
pub fn own_all() -> &'static [Own] {
    type Entry = (String, String, Option<usize>, Option<String>, Vec<u64>);
    static TABLE: LazyLock<Vec<Own>> = LazyLock::new(|| {
        let text = include_str!("../../docs/results/levels.json");
        let entries: Vec<Entry> =
            serde_json::from_str(text).expect("the table of own results is part of the program");
        let own = |(name, puzzle, blank, metric, counts): Entry| Own {
            name,
            puzzle,
            goal: blank.zip(metric),
            counts,
        };
        entries.into_iter().map(own).collect()
    });
    &TABLE
}
