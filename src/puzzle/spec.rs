//! What a person asks for: a word that names a puzzle, what counts as a move of it, and what is changed about it.
//!
//! The program, Python and Rust programs describe a puzzle as a [`PuzzleSpec`]; [`PuzzleSpec::puzzle`] makes it. What
//! is allowed for which kind of puzzle is decided here alone. Errors call options as the program calls them.
//!
//! | word | puzzle |
//! |---|---|
//! | `3x4` | a board |
//! | `3x3x3`, `burnt-pancake:8` | a named puzzle ([`named`](crate::puzzle::named)) |
//! | `topspin:12,4` | a member of a family ([`families`](crate::puzzle::families)) |
//! | `graph:0-1,1-2,2-0` | sliding pieces on a graph ([`Puzzle::of_graph`]) |
//! | `toys/dino.gap` | the puzzle in a file ([`formats`](crate::puzzle::formats)) |
//! | `cross.puzzle` | what [`Searched::to_file`] wrote: a puzzle as it was asked for |

use std::{fmt, io::Read, path::Path, str::FromStr};

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    error::Error,
    hint::{DIRECTED, GENERATORS, GOAL, Hint, METRIC, PIECES},
    puzzle::{
        Board, Goal, Metric, Puzzle, PuzzleError, PuzzleErrorKind, Size, StateSpace, Turns,
        Variant,
        error::{bail, wrong},
        families,
        formats::{self, Format},
        mechanisms, named,
    },
    system::{SystemError, opened},
    units::shown,
};

/// A puzzle as it is searched.
#[derive(Clone, Debug, PartialEq)]
pub enum Searched {
    /// A puzzle whose states have numbers.
    Numbered(StateSpace),
    /// A puzzle whose states stand in lists.
    Listed(Puzzle),
}

impl Searched {
    /// Returns the size of a board, whichever way it is searched; `None` for other puzzles.
    pub fn size(&self) -> Option<Size> {
        match self {
            Searched::Numbered(space) => space.size(),
            Searched::Listed(puzzle) => puzzle.board_size(),
        }
    }

    /// Returns the number of reachable states, or `None` if it is unknown.
    pub fn states(&self) -> Option<BigUint> {
        match self {
            Searched::Numbered(space) => match space.states() {
                Some(states) => Some(states.into()),
                // Of a board with more states than have numbers.
                None => Puzzle::of_space(space).ok()?.states(),
            },
            Searched::Listed(puzzle) => puzzle.states(),
        }
    }
}

/// A puzzle in a file: a board by its goal and metric, any other one by all that makes it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PuzzleFile {
    tilewave_puzzle: u32,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    goal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metric: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generators: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sets: Option<Value>,
}

impl Searched {
    /// Returns the text of a file that defines this puzzle: the word for it in a [`PuzzleSpec`] is then the name of the
    /// file, which must end in `.puzzle`.
    ///
    /// ```
    /// use tilewave::puzzle::{PuzzleSpec, Searched, Variant};
    /// let variant = Variant { pieces: vec!["edges:1-4".into()], ..Variant::default() };
    /// let cross = PuzzleSpec { variant, ..PuzzleSpec::of("3x3x3") }.puzzle()?;
    /// assert_eq!(Searched::of_file(&cross.to_file()), Some(cross));
    /// # Ok::<(), tilewave::Error>(())
    /// ```
    pub fn to_file(&self) -> String {
        let value = |text: String| serde_json::from_str(&text).ok();
        let (mut goal, mut metric, mut generators, mut sets) = (None, None, None, None);
        let name = match self {
            Searched::Numbered(space) => {
                generators = space.puzzle_text().and_then(value);
                if generators.is_none() {
                    goal = Some(space.goal_text());
                    metric = space.metric().map(|metric| metric.name().into());
                }
                space.name()
            }
            Searched::Listed(puzzle) => {
                sets = value(puzzle.to_json());
                puzzle.name().into()
            }
        };
        let file = PuzzleFile { tilewave_puzzle: 1, name, goal, metric, generators, sets };
        serde_json::to_string(&file).expect("numbers and names are JSON") + "\n"
    }

    /// Returns the puzzle that [`Searched::to_file`] wrote; `None` for any other text.
    pub fn of_file(text: &str) -> Option<Searched> {
        let file: PuzzleFile = serde_json::from_str(text).ok()?;
        if file.tilewave_puzzle != 1 {
            return None;
        }
        match file {
            PuzzleFile { sets: Some(sets), .. } => {
                Puzzle::of_json(&file.name, &sets.to_string()).map(Searched::Listed)
            }
            PuzzleFile { generators: Some(of), .. } => {
                StateSpace::from_puzzle_text(&of.to_string()).map(Searched::Numbered)
            }
            PuzzleFile { goal: Some(goal), metric: Some(metric), .. } => {
                let goal = Board::parse(&goal, file.name.parse().ok()).ok()?;
                let space = StateSpace::of_board(goal).in_metric(metric.parse().ok()?);
                Some(Searched::Numbered(space))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Searched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Searched::Numbered(space) => space.fmt(f),
            Searched::Listed(puzzle) => puzzle.fmt(f),
        }
    }
}

/// What counts as one move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveMetric {
    /// Of a board: slides of one tile, or of several in a line.
    Slides(Metric),
    /// Of a puzzle whose moves are turns.
    Turns(Turns),
}

impl FromStr for MoveMetric {
    type Err = PuzzleError;

    fn from_str(text: &str) -> Result<MoveMetric, PuzzleError> {
        match text {
            "htm" => Ok(MoveMetric::Turns(Turns::Powers)),
            "qtm" => Ok(MoveMetric::Turns(Turns::Quarter)),
            "slice" => Ok(MoveMetric::Turns(Turns::Slice)),
            "axial" => Ok(MoveMetric::Turns(Turns::Axial)),
            _ => text.parse().map(MoveMetric::Slides),
        }
    }
}

/// A word that names a puzzle, and what is meant of it.
///
/// ```
/// use tilewave::puzzle::{PuzzleSpec, Searched};
/// let cube = PuzzleSpec { metric: Some("qtm".parse()?), ..PuzzleSpec::of("3x3x3") };
/// assert!(matches!(cube.puzzle()?, Searched::Listed(cube) if cube.moves().len() == 12));
/// let wrong = PuzzleSpec { metric: Some("qtm".parse()?), ..PuzzleSpec::of("3x4") };
/// assert_eq!(
///     wrong.puzzle().unwrap_err().to_string(),
///     "metric qtm is only for twisty puzzles: leave out metric"
/// );
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PuzzleSpec {
    /// The name of the puzzle, or the path of a file.
    pub word: String,
    /// The goal of a board.
    pub goal: Option<Goal>,
    /// What counts as one move: stm of boards, htm of other puzzles unless given.
    pub metric: Option<MoveMetric>,
    /// Whether inverses of the generators in a file are no moves.
    pub directed: bool,
    /// What is changed about the puzzle.
    pub variant: Variant,
}

/// Whether a word is the name of a file, by its ending or because there is one.
fn is_file(word: &str) -> bool {
    // A board, even if something of this name is there.
    Format::of(word).is_some()
        || word.ends_with(PuzzleSpec::FILE_ENDING)
        || word.parse::<Size>().is_err() && Path::new(word).is_file()
}

impl PuzzleSpec {
    /// The ending of the names of files in which [`Searched::to_file`] stands.
    pub const FILE_ENDING: &str = ".puzzle";
    /// Maximum length of a file that defines a puzzle, in bytes.
    pub const MAX_FILE: u64 = 16 << 20;

    /// Returns the specification of a puzzle as it is.
    pub fn of(word: impl Into<String>) -> PuzzleSpec {
        PuzzleSpec { word: word.into(), ..PuzzleSpec::default() }
    }

    /// Checks that a word can be meant as a puzzle, without opening files.
    ///
    /// # Errors
    /// The [`PuzzleError`] that says what is wrong with the word, or which words name puzzles.
    pub fn check(word: &str) -> Result<(), PuzzleError> {
        if is_file(word) || named::parse(word).is_some() {
            return Ok(());
        }
        let (family, _) = word.split_once(':').unwrap_or((word, ""));
        if let Some(puzzle) = Puzzle::of_graph(word).or_else(|| mechanisms::two_sided(word)) {
            puzzle.map(drop)
        } else if word.starts_with(|c: char| c.is_ascii_digit()) {
            size(word).map(drop)
        } else if word.contains(':') || families::ALL.into_iter().any(|f| f.name == family) {
            families::parse(word).map(drop)
        } else {
            Err(wrong!(Unknown: "'{word}' is not a puzzle: specify a board (3x4), a puzzle listed \
                by `{}`, or a file (.gap, .tws, .def, .kpuzzle.json or .puzzle)",
                Hint::Command("puzzles")))
        }
    }

    /// Returns the puzzle, with those of its pieces, moves and goals that are asked for.
    ///
    /// # Errors
    /// A [`PuzzleError`] if there is no such puzzle, or if it does not have what is asked for; a [`SystemError`] if a
    /// file cannot be read.
    pub fn puzzle(&self) -> Result<Searched, Error> {
        let is_whole = self.variant.same.is_empty() && self.changed_beyond_same().is_none();
        match self.named()? {
            (Searched::Numbered(space), _) if is_whole => {
                for note in space.puzzle().map_or(&[][..], Puzzle::notes) {
                    tracing::info!("{note}");
                }
                Ok(Searched::Numbered(space))
            }
            (named, turns) => Ok(Searched::Listed(self.of_sets(named, turns)?)),
        }
    }

    /// Returns the puzzle as one of sets of pieces.
    ///
    /// # Errors
    /// Those of [`PuzzleSpec::puzzle`].
    pub fn listed(&self) -> Result<Puzzle, Error> {
        let (named, turns) = self.named()?;
        Ok(self.of_sets(named, turns)?)
    }

    /// The setting that makes another puzzle of one, if there is one; boards have `same` as well.
    fn changed_beyond_same(&self) -> Option<Hint<'static>> {
        let Variant { moves, pieces, ignore_orientation, same: _, goals, subgroup } = &self.variant;
        let all = [
            (pieces, PIECES),
            (ignore_orientation, Hint::Setting("ignore_orientation")),
            (moves, GENERATORS),
            (goals, Hint::Setting("goals")),
            (subgroup, Hint::Setting("subgroup")),
        ];
        all.into_iter().find(|(given, _)| !given.is_empty()).map(|(_, option)| option)
    }

    fn of_sets(&self, named: Searched, turns: Turns) -> Result<Puzzle, PuzzleError> {
        let puzzle = match named {
            Searched::Listed(puzzle) => puzzle,
            Searched::Numbered(space) => Puzzle::of_space(&space)?,
        };
        self.variant.of(puzzle, turns)
    }

    /// What the word names, and which powers of its moves are moves as well. Refuses options that others have.
    fn named(&self) -> Result<(Searched, Turns), Error> {
        let word = self.word.as_str();
        let named = if is_file(word) && named::parse(word).is_none() {
            self.of_file(Path::new(word))?
        } else {
            PuzzleSpec::check(word)?;
            self.of_name(word)?
        };
        if let ((Searched::Numbered(space), _), Some(option)) = (&named, self.changed_beyond_same())
            && space.size().is_some()
        {
            bail!(Setting: "{option} does not apply to boards, and {word} is a board: leave out \
                {option}");
        }
        Ok(named)
    }

    fn of_name(&self, word: &str) -> Result<(Searched, Turns), PuzzleError> {
        if let Some(puzzle) = named::parse(word) {
            self.refuse_goal()?;
            self.refuse_metric(word)?;
            self.refuse_directed()?;
            return Ok((Searched::Listed(puzzle), self.turns().unwrap_or_default()));
        }
        let is_board = word.starts_with(|c: char| c.is_ascii_digit());
        if !is_board {
            self.refuse_of_generators()?;
        }
        if let Some(turns) = self.turns() {
            let metric = Hint::Value("metric", turns.metric());
            bail!(Setting: "{metric} is only for twisty puzzles: leave out {METRIC}");
        }
        self.refuse_directed()?;
        if let Some(graph) = Puzzle::of_graph(word) {
            return Ok((Searched::Listed(graph?), Turns::Directed));
        }
        let space = match is_board {
            true => {
                let goal = self.goal.clone().unwrap_or_default().board(size(word)?)?;
                let metric = match self.metric {
                    Some(MoveMetric::Slides(metric)) => metric,
                    _ => Metric::default(),
                };
                StateSpace::of_board(goal).in_metric(metric)
            }
            false => StateSpace::of_puzzle(families::parse(word)?),
        };
        Ok((Searched::Numbered(space), Turns::Directed))
    }

    fn of_file(&self, path: &Path) -> Result<(Searched, Turns), Error> {
        if self.word.ends_with(PuzzleSpec::FILE_ENDING) {
            let options = [
                (self.goal.is_some(), GOAL),
                (self.metric.is_some(), METRIC),
                (self.directed, DIRECTED),
                (!self.variant.moves.is_empty(), GENERATORS),
            ];
            if let Some((_, option)) = options.into_iter().find(|(given, _)| *given) {
                return Err(wrong!(Setting: "{option} is part of what {} says: leave it out, or \
                    write the file again with {}", self.word, Hint::Command("puzzle")))?;
            }
            let puzzle = Searched::of_file(&PuzzleSpec::text(path)?);
            let wrong = || {
                wrong!(Syntax: "{} is not a file that {} writes, or is damaged: write \
                it again", self.word, Hint::Command("puzzle"))
            };
            return Ok((puzzle.ok_or_else(wrong)?, Turns::Directed));
        }
        let turns = if self.directed { Some(Turns::Directed) } else { self.turns() };
        // A file whose name does not say what is in it says how to call it.
        let puzzle = formats::read(&self.word, &PuzzleSpec::text(path)?, turns)?;
        let turns = formats::turns(&self.word, turns);
        if puzzle.labels().is_empty() {
            self.refuse_metric(&puzzle)?;
            return Ok((Searched::Listed(puzzle), turns));
        }
        self.refuse_of_generators()?;
        Ok((Searched::Numbered(StateSpace::of_puzzle(puzzle)), turns))
    }

    /// Returns what is in a file that defines a puzzle or its goals; bytes that are no UTF-8 are replaced.
    ///
    /// # Errors
    /// [`SystemError::Read`] if it cannot be read, and a [`PuzzleError`] if it is too large.
    pub fn text(path: &Path) -> Result<String, Error> {
        let (file, _) = opened(path).map_err(SystemError::unopened(path))?;
        let mut bytes = Vec::new();
        let read = file.take(PuzzleSpec::MAX_FILE + 1).read_to_end(&mut bytes);
        read.map_err(SystemError::io("cannot read", path))?;
        match bytes.len() as u64 > PuzzleSpec::MAX_FILE {
            true => Err(wrong!(Range: "{} is too large: a puzzle file may have at most 16 MiB",
                path.display()))?,
            false => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    fn turns(&self) -> Option<Turns> {
        match self.metric {
            Some(MoveMetric::Turns(turns)) => Some(turns),
            _ => None,
        }
    }

    fn refuse_goal(&self) -> Result<(), PuzzleError> {
        if self.goal.is_some() {
            bail!(Setting: "{GOAL} is only for boards, and {} is not a board: leave out {GOAL}",
                self.word);
        }
        Ok(())
    }

    fn refuse_directed(&self) -> Result<(), PuzzleError> {
        if self.directed {
            bail!(Setting: "{DIRECTED} is only for puzzle files: leave it out");
        }
        Ok(())
    }

    /// Refuses what puzzles of generators do not have.
    fn refuse_of_generators(&self) -> Result<(), PuzzleError> {
        self.refuse_goal()?;
        if let Some(MoveMetric::Slides(metric)) = self.metric {
            bail!(Setting: "{} is only for boards, and {} is not a board: leave out {METRIC}; \
                every generator counts as one move",
                Hint::Value("metric", metric.name()), self.word);
        }
        Ok(())
    }

    /// Refuses a metric of boards for a puzzle that turns.
    fn refuse_metric(&self, puzzle: impl fmt::Display) -> Result<(), PuzzleError> {
        if let Some(MoveMetric::Slides(metric)) = self.metric {
            let metric = Hint::Value("metric", metric.name());
            bail!(Setting: "{metric} is only for boards: use htm or qtm for {puzzle}");
        }
        Ok(())
    }
}

/// The size of a board that a word names, which may be meant as a cube.
fn size(word: &str) -> Result<Size, PuzzleError> {
    word.parse().map_err(|wrong: PuzzleError| match wrong.kind() {
        PuzzleErrorKind::Syntax => {
            wrong!(Syntax: "'{}' is neither a board size (3x4) nor a cube or \
            cuboid (3x3x3, 2x3x4, at most 20x20x20)", shown(word, 80))
        }
        _ => wrong,
    })
}
