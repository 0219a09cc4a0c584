//! The published depth distributions.
//!
//! Invariant: every entry is a complete state space, so its counts sum to N!/2.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::bfs::Subject;
use crate::puzzle::tiles::{Metric, Size};

/// A published depth distribution.
#[derive(Clone, Debug)]
pub struct Published {
    size: Size,
    blank: usize,
    metric: Metric,
    counts: Vec<u64>,
    sources: Vec<String>,
}

impl Published {
    /// Returns the size that it was published for.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns the row-major cell of the blank at depth 0.
    pub fn blank(&self) -> usize {
        self.blank
    }

    /// Returns the metric that it was published for.
    pub fn metric(&self) -> Metric {
        self.metric
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
    let same = |p: &&Published| {
        p.metric == metric && images.contains(&(p.size.rows(), p.size.cols(), p.blank))
    };
    published_all().iter().find(same)
}

/// Returns the published distribution of what is searched, from where it is searched.
pub fn published_for(subject: &Subject) -> Option<&'static Published> {
    let (_, start) = subject.boards()?;
    published(start.size(), start.blank(), subject.metric()?)
}

/// Returns all published distributions, small boards first.
pub fn published_all() -> &'static [Published] {
    static TABLE: LazyLock<Vec<Published>> = LazyLock::new(|| {
        parse(include_str!("../../tests/data/distributions.json"))
            .expect("the table of published results is part of the program")
    });
    &TABLE
}

/// The images (rows, columns, cell) of a cell under the symmetries of a rectangle.
fn images(size: Size, cell: usize) -> Vec<(usize, usize, usize)> {
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

fn parse(text: &str) -> Result<Vec<Published>, Box<dyn std::error::Error>> {
    let table: Map<String, Value> = serde_json::from_str(text)?;
    let mut all = Vec::new();
    for (_, value) in table.into_iter().filter(|(key, _)| !key.starts_with('_')) {
        let entry = Entry::deserialize(value)?;
        all.push(Published {
            size: Size::new(entry.rows, entry.cols)?,
            blank: entry.goal_blank,
            metric: match entry.metric.as_str() {
                "single-tile" => Metric::Stm,
                "multi-tile" => Metric::Mtm,
                other => return Err(format!("metric {other}").into()),
            },
            counts: entry.counts,
            sources: entry.cite,
        });
    }
    Ok(all)
}
