//! Known distributions: published ones, and this project's own.
//!
//! Reports say which [`Published`] distribution a search agrees with, or where it differs first.

use std::{
    fmt,
    sync::{LazyLock, OnceLock},
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    Error,
    puzzle::{
        Board, Goal, Metric, PieceSet, Puzzle, Size, StateSpace, Turns, Variant, families, formats,
        named, space::DistributionKey,
    },
    report::thousands,
};

// Known distributions: published ones, and this project's own.
//
// Invariant: every entry is a complete state space, so its counts sum to N!/2 or to the order of a group.

/// A published depth distribution.
#[derive(Clone, Debug)]
pub struct Published {
    of: DistributionKey,
    counts: Vec<u64>,
    sources: Vec<String>,
}

impl Published {
    /// Returns the size, the row-major cell of the blank at depth 0 and the metric for which it was published, or
    /// `None` for puzzles other than boards.
    pub fn board(&self) -> Option<(Size, usize, Metric)> {
        match self.of {
            DistributionKey::Board(size, blank, metric) => Some((size, blank, metric)),
            DistributionKey::Puzzle(_) | DistributionKey::Listed(_) => None,
        }
    }

    /// Returns the number of states at each depth.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns only the best-known source, for example `OEIS A090166`.
    pub fn name(&self) -> &str {
        self.sources.first().map_or("", String::as_str)
    }

    /// Returns all sources, for example `OEIS A090166; lightln2/SlidingTilesSolver@8db6d04`.
    pub fn citation(&self) -> String {
        self.sources.join("; ")
    }

    fn is_of(&self, of: &DistributionKey) -> bool {
        match (&self.of, of) {
            (
                DistributionKey::Board(size, blank, metric),
                DistributionKey::Board(other, at, of),
            ) => metric == of && images(*other, *at).contains(&(size.rows(), size.cols(), *blank)),
            (own, of) => own == of,
        }
    }
}

/// Returns the published distribution of the states by their distance, in a metric, from a board whose blank is on the
/// row-major cell `blank`.
///
/// The distribution depends on nothing else: renaming the tiles maps any two boards with the same blank cell onto each
/// other, and so do reflections and transposition of the board. This is why 4x3 finds 3x4, and the last cell finds the
/// first.
///
/// ```
/// use tilewave::puzzle::{Metric, Size, StateSpace};
/// let found = tilewave::report::published(Size::new(4, 3)?, 11, Metric::Stm).unwrap();
/// assert_eq!(found.counts().len() - 1, 53);
/// assert_eq!(found.name(), "OEIS A090166");
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn published(size: Size, blank: usize, metric: Metric) -> Option<&'static Published> {
    PUBLISHED.find(&DistributionKey::Board(size, blank, metric))
}

/// Returns the published distribution of a state space from its start. Puzzles are identified by their moves, whatever
/// their names.
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
    PUBLISHED.find(&space.distribution_key())
}

/// Returns all published distributions: boards, smallest first, then other puzzles.
pub fn published_all() -> impl Iterator<Item = &'static Published> {
    PUBLISHED.boards.iter().chain(PUBLISHED.puzzles.iter())
}

static PUBLISHED: Known = Known {
    boards: LazyLock::new(|| {
        let boards = boards(include_str!("../../tests/data/distributions.json"));
        boards.expect("the table of published results is part of the program")
    }),
    puzzles: LazyLock::new(|| {
        let growth = growth(include_str!("../../tests/data/growth.json"));
        growth.expect("the table of published growth is part of the program")
    }),
};

/// Distributions by what they are of. Puzzles are apart from boards since their moves are made from their names, which takes
/// milliseconds: as long as a small board's search.
struct Known {
    boards: LazyLock<Vec<Published>>,
    puzzles: LazyLock<Vec<Published>>,
}

impl Known {
    fn find(&'static self, of: &DistributionKey) -> Option<&'static Published> {
        let part = match of {
            DistributionKey::Board(..) => &self.boards,
            _ => &self.puzzles,
        };
        part.iter().find(|known| known.is_of(of))
    }
}

/// Returns the published growth of a puzzle for list searches: either complete or for the first depths. Puzzles are
/// identified by their moves, whatever the names and the order of sets, positions and moves. Cost: milliseconds, once.
///
/// ```
/// use tilewave::puzzle::{named, Turns};
/// let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers)?;
/// let found = tilewave::report::published_growth(&cube).unwrap();
/// assert_eq!((found.counts()[9], found.name()), (17_596_479_795, "OEIS A080601"));
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn published_growth(puzzle: &Puzzle) -> Option<Published> {
    static LISTED: LazyLock<Vec<ListedGrowth>> = LazyLock::new(|| {
        let table = rows(include_str!("../../tests/data/frontier.json"));
        let table = table.expect("the table of growth by lists is part of the program");
        table.into_iter().map(|(_, row)| row).collect()
    });
    if let Some(numbered) = distribution_key(puzzle).and_then(|of| PUBLISHED.find(&of)) {
        return Some(numbered.clone());
    }
    // Puzzles are made one by one until one is equal, and begin with those that have the name.
    let has_name = |row: &&ListedGrowth| puzzle.name().starts_with(&row.name);
    let named = LISTED.iter().filter(has_name);
    let mut plain = named.clone().chain(LISTED.iter().filter(|row| !has_name(row)));
    let is_one =
        |row: &&ListedGrowth| !row.has_goals() && row.made().iter().any(|p| p.has_moves_of(puzzle));
    if let Some(row) = plain.find(is_one) {
        return Some(row.published());
    }
    // Goals take time: they are compared only if there are any.
    let several = puzzle.goals().len() > 1;
    if !several && !puzzle.name().contains(" up to <") {
        return None;
    }
    let own = puzzle.to_json();
    let mut with_goals = named.filter(|row| row.has_goals());
    let row = with_goals.find(|row| row.made().iter().any(|known| known.to_json() == own));
    row.map(ListedGrowth::published)
}

/// What a puzzle for list searches is, if its states can be numbered: a board, or one set of different pieces.
fn distribution_key(puzzle: &Puzzle) -> Option<DistributionKey> {
    let [set] = puzzle.sets() else { return None };
    let own = puzzle.to_json();
    if let Ok(size) = puzzle.name().parse::<Size>() {
        let tiles: Vec<u16> = set.solved.iter().map(|piece| u16::from(piece.kind)).collect();
        let start = Board::new(size, &tiles).ok()?;
        return [Metric::Stm, Metric::Mtm].into_iter().find_map(|metric| {
            let space = StateSpace::of_board(start.clone()).in_metric(metric);
            let is_it = Puzzle::of_space(&space).is_ok_and(|of| of.to_json() == own);
            is_it.then(|| DistributionKey::Board(size, start.blank(), metric))
        });
    }
    if puzzle.free_moves().is_none() || puzzle.goals().len() > 1 {
        return None;
    }
    let count = set.positions();
    let is_plain = count <= Puzzle::MAX_POSITIONS
        && *set == PieceSet::distinct(set.name.clone(), count as u8, 1);
    is_plain.then(|| DistributionKey::Puzzle(puzzle.fingerprint()))
}

/// The published growth of a named puzzle, or of a board from a corner.
#[derive(Deserialize)]
struct ListedGrowth {
    name: String,
    turns: Turns,
    #[serde(default)]
    variant: Variant,
    counts: Vec<u64>,
    source: String,
    #[serde(skip)]
    made: OnceLock<Vec<Puzzle>>,
}

impl ListedGrowth {
    fn has_goals(&self) -> bool {
        !(self.variant.goals.is_empty() && self.variant.subgroup.is_empty())
    }

    fn published(&self) -> Published {
        let first = self.made().first().map(Puzzle::to_json);
        // The position within a source is given in brackets.
        let source = self.source.split(" (").next().unwrap_or_default().into();
        let of = DistributionKey::Listed(first.unwrap_or_default());
        Published { of, counts: self.counts.clone(), sources: vec![source] }
    }

    /// The puzzles with this growth. Making them takes up to milliseconds, once.
    fn made(&self) -> &[Puzzle] {
        self.made.get_or_init(|| self.puzzles())
    }

    fn puzzles(&self) -> Vec<Puzzle> {
        if let Ok(size) = self.name.parse::<Size>() {
            let goals = [Goal::First, Goal::Last].map(|goal| goal.board(size).ok());
            let spaces = goals.into_iter().flatten().map(StateSpace::of_board);
            return spaces.filter_map(|space| Puzzle::of_space(&space).ok()).collect();
        }
        let puzzle = named::parse(&self.name);
        puzzle.and_then(|puzzle| self.variant.of(puzzle, self.turns).ok()).into_iter().collect()
    }
}

/// The distribution that only this project has computed and confirmed, if nothing else is published; `result
/// 2x5-blank1` is `docs/results/2x5-blank1.json`, which says how it was computed.
pub(crate) fn own_for(space: &StateSpace) -> Option<&'static Published> {
    static OWN: Known = Known {
        boards: LazyLock::new(|| {
            own(true).expect("the table of own results is part of the program")
        }),
        puzzles: LazyLock::new(|| {
            own(false).expect("the table of own results is part of the program")
        }),
    };
    OWN.find(&space.distribution_key())
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

/// The rows of a table by their names; those of its notes begin with a line.
fn rows<T: DeserializeOwned>(text: &str) -> serde_json::Result<Vec<(String, T)>> {
    let table: Map<String, Value> = serde_json::from_str(text)?;
    let rows = table.into_iter().filter(|(key, _)| !key.starts_with('_'));
    rows.map(|(key, row)| Ok((key, T::deserialize(row)?))).collect()
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
    let mut all = Vec::new();
    for (_, entry) in rows::<PublishedEntry>(text)? {
        let metric = match entry.metric.as_str() {
            "single-tile" => Metric::Stm,
            "multi-tile" => Metric::Mtm,
            other => return Err(format!("metric {other}").into()),
        };
        let of =
            DistributionKey::Board(Size::new(entry.rows, entry.cols)?, entry.goal_blank, metric);
        all.push(Published { of, counts: entry.counts, sources: entry.cite });
    }
    Ok(all)
}

#[derive(Deserialize)]
struct PublishedGrowth {
    counts: Vec<u64>,
}

/// A member of a family, or a puzzle whose file is part of the program.
fn of_permutations(name: &str) -> Result<Puzzle, Error> {
    if name == "dino" {
        let text = include_str!("../../tests/data/puzzles/dino.gap");
        return Ok(formats::read("dino.gap", text, None)?);
    }
    Ok(families::parse(name)?)
}

/// Growth of Cayley graphs. The file has its own names for some families.
fn growth(text: &str) -> Result<Vec<Published>, Box<dyn std::error::Error>> {
    let mut all = Vec::new();
    for (key, PublishedGrowth { counts }) in rows(text)? {
        let puzzle = of_permutations(&match key.split_once(':') {
            Some(("topspin4", n)) => format!("topspin:{n},4"),
            Some(("full_reversals", n)) => format!("reversals:{n}"),
            Some((family, n)) => format!("{}:{n}", family.replace('_', "-")),
            None => key.clone(),
        })?;
        let mut sources = vec!["cayleypy/cayleypy@7355621".into()];
        if key.starts_with("coxeter:") {
            sources.push("OEIS A008302".into());
        }
        let of = DistributionKey::Puzzle(puzzle.fingerprint());
        all.push(Published { of, counts, sources });
    }
    Ok(all)
}

/// The results of boards, or those of other puzzles. For each entry: the name of the file; the size of a board or the name of
/// another puzzle; for a board, the cell of the blank and the metric; and the levels.
fn own(of_boards: bool) -> Result<Vec<Published>, Box<dyn std::error::Error>> {
    type Entry = (String, String, Option<usize>, Option<String>, Vec<u64>);
    let entries: Vec<Entry> = serde_json::from_str(include_str!("../../docs/results/levels.json"))?;
    let mut own = Vec::new();
    for (name, puzzle, blank, metric, counts) in entries {
        let of = match blank.zip(metric) {
            Some((blank, metric)) if of_boards => {
                DistributionKey::Board(puzzle.parse()?, blank, metric.parse()?)
            }
            None if !of_boards => DistributionKey::Puzzle(of_permutations(&puzzle)?.fingerprint()),
            _ => continue,
        };
        own.push(Published { of, counts, sources: vec![format!("result {name}")] });
    }
    Ok(own)
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

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (found, expected) = (thousands(self.found), thousands(self.expected));
        write!(f, "first difference at depth {}: {found} states instead of {expected}", self.depth)
    }
}
