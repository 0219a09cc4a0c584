//! The published depth distributions.
//!
//! Invariant: every entry is a complete state space, so its counts sum to N!/2 or to the order of a group.

use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::puzzle::formats::{self, Counting};
use crate::puzzle::space::Likeness;
use crate::puzzle::{Metric, Size, StateSpace, families};

/// A published depth distribution.
#[derive(Clone, Debug)]
pub struct Published {
    of: Likeness,
    counts: Vec<u64>,
    sources: Vec<String>,
}

impl Published {
    /// Returns size, row-major cell of the blank at depth 0, and metric that it was published for, or `None` for
    /// other puzzles than boards.
    pub fn board(&self) -> Option<(Size, usize, Metric)> {
        match self.of {
            Likeness::Board(size, blank, metric) => Some((size, blank, metric)),
            Likeness::Puzzle(_) => None,
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
/// use tilewave::puzzle::{Metric, Size, StateSpace};
/// let found = tilewave::report::published(Size::new(4, 3)?, 11, Metric::Stm).unwrap();
/// assert_eq!(found.counts().len() - 1, 53);
/// assert_eq!(found.name(), "OEIS A090166");
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn published(size: Size, blank: usize, metric: Metric) -> Option<&'static Published> {
    let images = images(size, blank);
    let same = |p: &&Published| match p.of {
        Likeness::Board(size, blank, of) => {
            of == metric && images.contains(&(size.rows(), size.cols(), blank))
        }
        Likeness::Puzzle(_) => false,
    };
    published_all().iter().find(same)
}

/// Returns the published distribution of what is searched, from where it is searched. Puzzles are known by their
/// moves, whatever they are called.
///
/// ```
/// use tilewave::puzzle::{StateSpace, families};
/// let space = StateSpace::of_puzzle(families::parse("topspin:12,4")?);
/// let found = tilewave::report::published_for(&space).unwrap();
/// assert_eq!(found.counts().len() - 1, 38);
/// assert_eq!(found.name(), "cayleypy/cayleypy@7355621");
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn published_for(space: &StateSpace) -> Option<&'static Published> {
    match space.likeness() {
        Likeness::Board(size, blank, metric) => published(size, blank, metric),
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
pub(crate) fn images(size: Size, cell: usize) -> Vec<(usize, usize, usize)> {
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
struct PublishedEntry {
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
        let entry = PublishedEntry::deserialize(value)?;
        let metric = match entry.metric.as_str() {
            "single-tile" => Metric::Stm,
            "multi-tile" => Metric::Mtm,
            other => return Err(format!("metric {other}").into()),
        };
        let size = Size::new(entry.rows, entry.cols)?;
        all.push(Published {
            of: Likeness::Board(size, entry.goal_blank, metric),
            counts: entry.counts,
            sources: entry.cite,
        });
    }
    Ok(all)
}

#[derive(Deserialize)]
struct PublishedGrowth {
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
                formats::read(&format!("{key}.gap"), text, Counting::default())?
            }
        };
        let mut sources = vec!["cayleypy/cayleypy@7355621".into()];
        if key.starts_with("coxeter:") {
            sources.push("OEIS A008302".into());
        }
        all.push(Published {
            of: Likeness::Puzzle(definition.fingerprint()),
            counts: PublishedGrowth::deserialize(value)?.counts,
            sources,
        });
    }
    Ok(all)
}

// This project's own depth distributions, docs/results: computed and confirmed by this program alone, where nothing
// else is published. They are kept apart from publications.
//
// Invariant: every entry is a complete state space.

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

    /// Whether it is that of a state space.
    fn is_of(&self, of: &Likeness) -> bool {
        match (&self.goal, of) {
            (Some((blank, metric)), Likeness::Board(size, at, of)) => {
                let own: Result<Size, _> = self.puzzle.parse();
                let own = own.map(|own| (own.rows(), own.cols(), *blank));
                metric == of.name() && own.is_ok_and(|own| images(*size, *at).contains(&own))
            }
            (None, Likeness::Puzzle(fingerprint)) => {
                let definition = match self.puzzle.as_str() {
                    "dino" => {
                        let text = include_str!("../../tests/data/puzzles/dino.gap");
                        formats::read("dino.gap", text, Counting::default()).ok()
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
/// use tilewave::puzzle::{Goal, Size, StateSpace};
/// let goal = "blank=8".parse::<Goal>()?.board(Size::new(2, 5)?)?;
/// let own = tilewave::report::own_for(&StateSpace::of_board(goal)).unwrap();
/// assert_eq!(own.counts().len() - 1, 55);
/// assert_eq!(own.file(), "docs/results/2x5-blank1.json");
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn own_for(space: &StateSpace) -> Option<&'static Own> {
    let of = space.likeness();
    let states = space.states();
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
