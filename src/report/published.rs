//! The published depth distributions.
//!
//! Invariant: every entry is a complete state space, so its counts sum to N!/2 or to the order of a group.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::bfs::Subject;
use crate::puzzle::files::Counting;
use crate::puzzle::tiles::{Metric, Size};
use crate::puzzle::{families, files};

/// A published depth distribution.
#[derive(Clone, Debug)]
pub struct Published {
    of: Of,
    counts: Vec<u64>,
    sources: Vec<String>,
}

/// What a distribution was published for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// A board by size, row-major cell of the blank at depth 0, and metric.
    Board(Size, usize, Metric),
    /// A puzzle by [`crate::puzzle::Definition::fingerprint`]: Cayley graphs look the same from every state.
    Puzzle(u64),
}

impl Of {
    /// What a distribution of a subject is for.
    pub(super) fn subject(subject: &Subject) -> Of {
        match subject {
            Subject::Board { start, metric, .. } => Of::Board(start.size(), start.blank(), *metric),
            Subject::Puzzle(states) => Of::Puzzle(states.definition().fingerprint()),
        }
    }
}

impl Published {
    /// Returns size, row-major cell of the blank at depth 0, and metric that it was published for, or `None` for
    /// other puzzles than boards.
    pub fn board(&self) -> Option<(Size, usize, Metric)> {
        match self.of {
            Of::Board(size, blank, metric) => Some((size, blank, metric)),
            Of::Puzzle(_) => None,
        }
    }

    /// Returns the number of states at each depth.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the best-known source alone, for example `OEIS A090166`.
    pub fn name(&self) -> &str {
        self.sources.first().map_or("", String::as_str)
    }

    /// Returns all sources, for example `OEIS A090166; lightln2/SlidingTilesSolver@8db6d04`.
    pub fn citation(&self) -> String {
        self.sources.join("; ")
    }
}

/// Returns the published distribution of the states by their distance, in a metric, from a board whose
/// blank stands at row-major cell `blank`.
///
/// The distribution depends on nothing else: renaming the tiles maps any two boards with the blank in
/// the same place onto each other, and so do reflections and transposition of the board, which is why
/// 4x3 finds 3x4 and the last cell finds the first.
///
/// ```
/// use tilewave::puzzle::tiles::{Metric, Size};
/// let found = tilewave::report::published(Size::new(4, 3)?, 11, Metric::Stm).unwrap();
/// assert_eq!(found.counts().len() - 1, 53);
/// assert_eq!(found.name(), "OEIS A090166");
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn published(size: Size, blank: usize, metric: Metric) -> Option<&'static Published> {
    let images = images(size, blank);
    let same = |p: &&Published| match p.of {
        Of::Board(size, blank, of) => {
            of == metric && images.contains(&(size.rows(), size.cols(), blank))
        }
        Of::Puzzle(_) => false,
    };
    published_all().iter().find(same)
}

/// Returns the published distribution of what is searched, from where it is searched. Puzzles are known by their
/// moves, whatever they are called.
///
/// ```
/// use tilewave::bfs::Subject;
/// use tilewave::puzzle::families;
/// let subject = Subject::puzzle(families::parse("topspin:12,4")?);
/// let found = tilewave::report::published_for(&subject).unwrap();
/// assert_eq!(found.counts().len() - 1, 38);
/// assert_eq!(found.name(), "cayleypy/cayleypy@7355621");
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn published_for(subject: &Subject) -> Option<&'static Published> {
    match Of::subject(subject) {
        Of::Board(size, blank, metric) => published(size, blank, metric),
        of => published_all().iter().find(|p| p.of == of),
    }
}

/// Returns all published distributions: boards, small ones first, then other puzzles.
pub fn published_all() -> &'static [Published] {
    static TABLE: LazyLock<Vec<Published>> = LazyLock::new(|| {
        let boards = boards(include_str!("../../tests/data/distributions.json"));
        let mut all = boards.expect("the table of published results is part of the program");
        let growth = growth(include_str!("../../tests/data/growth.json"));
        all.extend(growth.expect("the table of published growth is part of the program"));
        all
    });
    &TABLE
}

/// The images (rows, columns, cell) of a cell under the symmetries of a rectangle.
pub(super) fn images(size: Size, cell: usize) -> Vec<(usize, usize, usize)> {
    let (rows, cols) = (size.rows(), size.cols());
    let (row, col) = (cell / cols, cell % cols);
    let mut images = Vec::with_capacity(8);
    for r in [row, rows - 1 - row] {
        for c in [col, cols - 1 - col] {
            images.push((rows, cols, r * cols + c));
            images.push((cols, rows, c * rows + r));
        }
    }
    images
}

#[derive(Deserialize)]
struct Entry {
    rows: usize,
    cols: usize,
    metric: String,
    goal_blank: usize,
    counts: Vec<u64>,
    cite: Vec<String>,
}

fn boards(text: &str) -> Result<Vec<Published>, Box<dyn std::error::Error>> {
    let table: Map<String, Value> = serde_json::from_str(text)?;
    let mut all = Vec::new();
    for (_, value) in table.into_iter().filter(|(key, _)| !key.starts_with('_')) {
        let entry = Entry::deserialize(value)?;
        let metric = match entry.metric.as_str() {
            "single-tile" => Metric::Stm,
            "multi-tile" => Metric::Mtm,
            other => return Err(format!("metric {other}").into()),
        };
        let size = Size::new(entry.rows, entry.cols)?;
        all.push(Published {
            of: Of::Board(size, entry.goal_blank, metric),
            counts: entry.counts,
            sources: entry.cite,
        });
    }
    Ok(all)
}

#[derive(Deserialize)]
struct Growth {
    counts: Vec<u64>,
}

/// Growth of Cayley graphs. The file has names of its own for some families.
fn growth(text: &str) -> Result<Vec<Published>, Box<dyn std::error::Error>> {
    let table: Map<String, Value> = serde_json::from_str(text)?;
    let mut all = Vec::new();
    for (key, value) in table {
        if key.starts_with('_') {
            continue;
        }
        let definition = match key.split_once(':') {
            Some(("topspin4", n)) => families::parse(&format!("topspin:{n},4"))?,
            Some(("full_reversals", n)) => families::parse(&format!("reversals:{n}"))?,
            Some((family, n)) => families::parse(&format!("{}:{n}", family.replace('_', "-")))?,
            None => {
                let text = include_str!("../../tests/data/puzzles/dino.gap");
                files::read(&format!("{key}.gap"), text, Counting::default())?
            }
        };
        let mut sources = vec!["cayleypy/cayleypy@7355621".into()];
        if key.starts_with("coxeter:") {
            sources.push("OEIS A008302".into());
        }
        all.push(Published {
            of: Of::Puzzle(definition.fingerprint()),
            counts: Growth::deserialize(value)?.counts,
            sources,
        });
    }
    Ok(all)
}
