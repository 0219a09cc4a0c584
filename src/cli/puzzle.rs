//! The puzzle of a command: a board, a family or a file.

use std::path::{Path, PathBuf};

use clap::ValueHint;

use tilewave::{
    Board, Error, Size,
    puzzle::{
        ErrorPlace, Metric, MoveMetric, Puzzle, PuzzleErrorKind, PuzzleSpec, Searched, StateSpace,
        Turns, Variant, formats::Format,
    },
    solve::StateSubset,
};

use crate::{Failure, GoalOption, Result, choice, failure::SHAPES, first_given, refuse};

/// A word that can be meant as a puzzle; boards and members of families are ones that there are.
pub fn puzzle(word: &str) -> Result<String, String> {
    PuzzleSpec::check(word).map(|()| word.into()).map_err(|wrong| wrong.to_string())
}

/// The puzzle of a command, and what is meant of it.
#[derive(clap::Args)]
pub struct PuzzleOptions<Of: clap::Args = Counted> {
    /// Board (3x4), member of a family (topspin:12,4), named puzzle (3x3x3) or file (dino.gap, cross.puzzle).
    ///
    /// `tilewave puzzles` lists the families and the named puzzles, among them cubes and cuboids of up to 20x20x20.
    /// graph:0-1,1-2,2-0 is the sliding-tile puzzle on the graph with these edges. `tilewave puzzle` writes files
    /// ending in .puzzle.
    #[arg(value_parser = puzzle)]
    pub puzzle: String,

    #[command(flatten)]
    pub counted: Of,
}

impl PuzzleOptions {
    pub fn searched(&self) -> Result<Searched> {
        self.counted.searched(&self.puzzle)
    }
}

impl PuzzleOptions<GoalOption> {
    pub fn searched(&self) -> Result<Searched> {
        let goal = self.counted.goal.clone();
        Ok(PuzzleSpec { goal, ..PuzzleSpec::of(&self.puzzle) }.puzzle()?)
    }
}

impl PuzzleOptions<Measured> {
    pub fn searched(&self) -> Result<Searched> {
        Ok(self.counted.spec(&self.puzzle).puzzle()?)
    }
}

/// A puzzle and states of it: the puzzle comes first. Boards say their size, so it may be left out where states are
/// boards.
#[derive(clap::Args)]
pub struct PuzzleAndStates {
    /// Puzzle (optional for boards): 3x4, topspin:12,4, 3x3x3 or a file (dino.gap).
    #[arg(value_name = "PUZZLE")]
    puzzle: Option<String>,

    /// States, each in quotes [default: read from standard input, one per line].
    ///
    /// For a board: tiles separated by spaces, rows by '/', the blank as 0. For any other puzzle: the moves that lead
    /// from the solved state to this state, or the piece at each position. For a cube, also its stickers: those of each
    /// face in the order U, R, F, D, L, B.
    #[arg(value_name = "STATE")]
    states: Vec<String>,
}

impl PuzzleAndStates {
    /// The puzzle, unless it is left out, and the states; `-` alone is no state. `known`: something else says the
    /// puzzle of the `command`.
    pub fn split(&self, command: &str, known: bool) -> Result<(Option<&str>, Vec<&str>)> {
        let is_file = |word: &&String| {
            let known = Format::of(word).is_some() || word.ends_with(PuzzleSpec::FILE_ENDING);
            let unread = !known && Path::new(word).is_file();
            word.contains('.') && (word.ends_with(".txt") || unread)
        };
        if let Some(file) = self.puzzle.iter().chain(&self.states).find(is_file) {
            let puzzle = self.puzzle.as_ref().filter(|&puzzle| puzzle != file);
            let puzzle = puzzle.map_or(String::new(), |puzzle| format!(" {puzzle}"));
            refuse!(
                "'{file}' is a file: to read states from it, use tilewave {command}{puzzle} < \
                 {file}; if the file defines a puzzle, its name must end in .gap, .tws, .def, \
                 .kpuzzle.json or .puzzle"
            );
        }
        let mut states: Vec<&str> = self.states.iter().map(String::as_str).collect();
        let mut named = self.puzzle.as_deref();
        let board = named.filter(|word| word.parse::<Size>().is_ok());
        if let (Some(board), Some(moves)) = (board, states.iter().find(|state| is_moves(state))) {
            refuse!(
                "{board} is a board, and '{moves}' is none: Rubik's cube is 3x3x3, as in tilewave {command} 3x3x3 \
                 \"{moves}\""
            );
        }
        if let Some(word) = named {
            let wrong = puzzle(word).err();
            let is_tile = word == "x" || word == "_" || word.bytes().all(|b| b.is_ascii_digit());
            let is_line = word.contains([' ', ',', '/', '\n']) && !word.contains(':');
            match wrong {
                None => {}
                Some(_) if !known && is_line && is_moves(word) => {
                    let last = states.last().filter(|last| puzzle(last).is_ok());
                    refuse!(
                        "'{word}' is not a board such as \"1 2/3 0\": to give a state of another \
                         puzzle, put the puzzle first: tilewave {command} {} \"{word}\"",
                        last.unwrap_or(&"3x3x3"),
                    )
                }
                Some(_) if is_line || word == "-" => {
                    states.insert(0, word);
                    named = None;
                }
                Some(_) if is_tile && word.len() > 3 => refuse!(
                    "'{word}' is not a board: separate tiles with spaces and rows with '/', and \
                     quote the whole board"
                ),
                Some(_) if is_tile => {
                    refuse!(
                        "'{word}' is a single tile, not a board: put quotes around the whole board"
                    )
                }
                Some(wrong) => refuse!("{wrong}"),
            }
        }
        states.retain(|state| *state != "-");
        let is_move = |state: &&str| {
            let is_short = (1..5).contains(&state.len()) && !state.contains(char::is_whitespace);
            is_short && state.starts_with(char::is_alphabetic)
        };
        if let (Some(puzzle), true) = (named, states.len() > 1 && states.iter().all(is_move)) {
            let moves = states.join(" ");
            refuse!(
                "each word of '{moves}' would be a separate state: to give one state as moves, put \
                 quotes around the moves (tilewave {command} {puzzle} \"{moves}\"); to give \
                 several states, pass them on standard input, one per line"
            );
        }
        Ok((named, states))
    }
}

/// What stands in a line before a comment.
pub fn uncommented(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

/// Whether several words begin as moves do, and as no board does.
fn is_moves(line: &str) -> bool {
    let first = line.split([' ', ',']).next().unwrap_or_default();
    first.starts_with(char::is_alphabetic) && first.len() < line.len() && first != "x"
}

const METRICS: &[(&[&str], MoveMetric, &str)] = &[
    (Metric::NAMES[0].0, MoveMetric::Slides(Metric::NAMES[0].1), Metric::NAMES[0].2),
    (Metric::NAMES[1].0, MoveMetric::Slides(Metric::NAMES[1].1), Metric::NAMES[1].2),
    (
        &["htm"],
        MoveMetric::Turns(Turns::Powers),
        "Half-turn metric: any turn of a face counts as one move",
    ),
    (
        &["qtm"],
        MoveMetric::Turns(Turns::Quarter),
        "Quarter-turn metric: a half turn counts as two moves",
    ),
    (
        &["slice"],
        MoveMetric::Turns(Turns::Slice),
        "Slice-turn metric of cubes: any turn of any one layer, also of a middle one, is one move",
    ),
    (
        &["axial"],
        MoveMetric::Turns(Turns::Axial),
        "Axial-turn metric of cubes: any turns of layers of one axis together are one move",
    ),
];

/// `--goal` of boards, and `--metric`.
#[derive(clap::Args)]
pub struct Measured {
    #[command(flatten)]
    pub goal: GoalOption,

    /// What counts as one move [default: stm, or htm for named puzzles].
    #[arg(long, value_parser = choice(METRICS))]
    metric: Option<MoveMetric>,
}

impl Measured {
    /// What counts as one move of a board, if that was said.
    pub fn metric(&self) -> Option<Metric> {
        match self.metric {
            Some(MoveMetric::Slides(metric)) => Some(metric),
            _ => None,
        }
    }

    /// What a word on the command line names.
    pub fn spec(&self, word: &str) -> PuzzleSpec {
        PuzzleSpec { goal: self.goal.goal.clone(), metric: self.metric, ..PuzzleSpec::of(word) }
    }

    /// The board to reach, where the word is a size or a file that has a board. Refuses a metric where boards have
    /// none.
    pub fn goal_board(&self, word: &str, why_no_metric: &str) -> Result<Option<Board>> {
        if word.parse::<Size>().is_ok() {
            self.refuse_of_boards(why_no_metric)?;
        } else if !word.ends_with(PuzzleSpec::FILE_ENDING) {
            return Ok(None);
        }
        let Searched::Numbered(space) = self.spec(word).puzzle()? else { return Ok(None) };
        let Some((goal, _)) = space.boards() else { return Ok(None) };
        if space.metric() != Some(Metric::Stm) {
            refuse!("{word} is a board in multi-tile moves: {why_no_metric}");
        }
        Ok(Some(goal.clone()))
    }

    /// Refuses what boards do not have.
    pub fn refuse_of_boards(&self, why_no_metric: &str) -> Result<()> {
        if self.metric.is_some_and(|metric| metric != MoveMetric::Slides(Metric::Stm)) {
            refuse!("--metric does not apply here: {why_no_metric}; leave out --metric");
        }
        Ok(())
    }
}

/// What is meant of a puzzle, `--directed` of files, and what makes a projection of a puzzle.
#[derive(clap::Args)]
pub struct Counted {
    #[command(flatten)]
    pub measured: Measured,

    /// Do not add the inverses of the generators in a puzzle file.
    #[arg(long, hide_short_help = true)]
    pub directed: bool,

    /// Use only these pieces, e.g. corners or corners,edges:1-6.
    ///
    /// Sets of pieces that are not listed are left out. Within a listed set, the pieces not selected all look alike.
    #[arg(long, value_name = "PIECES", value_delimiter = ',')]
    pieces: Vec<String>,

    /// Ignore the orientation of these pieces, e.g. edges or corners:1-4.
    #[arg(long, value_name = "PIECES", value_delimiter = ',', hide_short_help = true)]
    ignore_orientation: Vec<String>,

    /// Make the pieces within each range indistinguishable, e.g. centres:1-4,centres:5-8, or 1-4,5-8 for a board.
    #[arg(long, value_name = "PIECES", value_delimiter = ',', hide_short_help = true)]
    same: Vec<String>,

    /// Use only these moves, e.g. U,R or "R L',U D'": what is between commas is one move; without commas, each word.
    #[arg(long, value_name = "MOVES", value_parser = sequences, hide_short_help = true)]
    generators: Option<Sequences>,

    /// Use the solved states in FILE, one per line, instead of the puzzle's own.
    ///
    /// Write a state as a sequence of moves, or as the piece at each position in the form that `tilewave state` prints.
    /// A ? stands for any piece or any orientation; a set of pieces that is left out may have any arrangement.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    goals: Option<PathBuf>,

    /// Count a state as solved if these moves alone can solve it, e.g. "U D R2 L2 F2 B2".
    #[arg(long, value_name = "MOVES", value_parser = sequences, hide_short_help = true)]
    subgroup: Option<Sequences>,
}

/// Sequences of moves in one word of the command line.
type Sequences = Vec<String>;

fn sequences(text: &str) -> Result<Sequences, String> {
    let all = Variant::split(text);
    match all.is_empty() {
        true => Err("no moves are given: specify at least one move".into()),
        false => Ok(all),
    }
}

/// The lines of a file with states, without comments.
fn states_in(path: &Path) -> Result<Vec<String>> {
    let text = PuzzleSpec::text(path)?;
    let lines = text.lines().map(uncommented);
    let states: Vec<String> = lines.filter(|line| !line.is_empty()).map(String::from).collect();
    if states.is_empty() {
        refuse!("{} contains no states: write one state per line", path.display());
    }
    Ok(states)
}

impl Counted {
    /// Whether a word names a board whose tiles look alike or move together.
    pub fn is_unusual_board(&self, word: &str) -> Result<bool> {
        if word.parse::<Size>().is_err() && !word.ends_with(PuzzleSpec::FILE_ENDING) {
            return Ok(false);
        }
        let searched = self.searched(word)?;
        let moves_one = |space: &StateSpace| space.metric() == Some(Metric::Stm);
        let is_usual = matches!(&searched, Searched::Numbered(space) if moves_one(space));
        Ok(searched.size().is_some() && !is_usual)
    }

    /// Refuses what boards do not have.
    pub fn refuse_of_boards(&self, why: &str) -> Result<()> {
        self.measured.refuse_of_boards(why)?;
        let given = [
            self.directed,
            !self.pieces.is_empty(),
            !self.ignore_orientation.is_empty(),
            !self.same.is_empty(),
            self.generators.is_some(),
            self.goals.is_some(),
            self.subgroup.is_some(),
        ];
        if let Some((_, option)) = given.into_iter().zip(SHAPES).find(|(given, _)| *given) {
            refuse!("{option} does not apply here: {why}; leave out {option}");
        }
        Ok(())
    }

    /// What a word on the command line names, as it is searched: those of its pieces, moves and goals that are asked
    /// for.
    pub fn searched(&self, word: &str) -> Result<Searched> {
        self.spec(word)?.puzzle().map_err(|error| self.placed(error))
    }

    /// What a word names, as a puzzle of sets of pieces: those of its pieces, moves and goals that are asked for; and its
    /// goals if they are too many for one set of goals: the puzzle is then that without them.
    pub fn listed_or_apart(&self, word: &str) -> Result<(Puzzle, Option<Vec<String>>)> {
        let spec = self.spec(word)?;
        let can_part = spec.variant.goals.len() > 1 && spec.variant.subgroup.is_empty();
        match spec.listed() {
            Ok(puzzle) => Ok((puzzle, None)),
            Err(Error::Puzzle(e)) if can_part && e.kind() == PuzzleErrorKind::Range => {
                let variant = Variant { goals: Vec::new(), ..spec.variant.clone() };
                let whole = PuzzleSpec { variant, ..spec.clone() }.listed();
                let whole = whole.map_err(|error| self.placed(error))?;
                Ok((whole, Some(spec.variant.goals)))
            }
            Err(error) => Err(self.placed(error)),
        }
    }

    /// The states in a file, in whose lines the pieces of the puzzle stand that has its own goals.
    pub fn subset(&self, word: &str, path: &Path) -> Result<StateSubset> {
        let texts = states_in(path)?;
        let searched = self.searched(word)?;
        if searched.size().is_some() {
            refuse!("--from does not apply to boards, and {word} is a board: leave out --from");
        }
        let puzzle = match searched {
            Searched::Numbered(space) => Puzzle::of_space(&space)?,
            Searched::Listed(puzzle) => puzzle,
        };
        let spec = self.spec(word)?;
        let (goals, subgroup) = (Vec::new(), Vec::new());
        let variant = Variant { goals, subgroup, ..spec.variant };
        let whole = PuzzleSpec { variant, ..spec }.listed().map_err(|error| self.placed(error))?;
        let found = StateSubset::of(&puzzle, &whole, &texts);
        found.map_err(|error| match error.place() {
            Some(ErrorPlace::Goal) => error.in_file(&path.display().to_string()).into(),
            _ => Failure::usage(format!("--from: {error}")),
        })
    }

    fn spec(&self, word: &str) -> Result<PuzzleSpec> {
        let list = |of: &Option<Sequences>| of.clone().unwrap_or_default();
        let goals = self.goals.as_deref().map_or(Ok(Vec::new()), states_in)?;
        Ok(PuzzleSpec {
            directed: self.directed,
            variant: Variant {
                moves: list(&self.generators),
                pieces: self.pieces.clone(),
                ignore_orientation: self.ignore_orientation.clone(),
                same: self.same.clone(),
                goals,
                subgroup: list(&self.subgroup),
            },
            ..self.measured.spec(word)
        })
    }

    /// Says where the cause of an error stands.
    fn placed(&self, error: Error) -> Failure {
        let Error::Puzzle(error) = error else { return error.into() };
        match (error.place(), &self.goals) {
            (Some(ErrorPlace::Goal), Some(path)) => {
                error.in_file(&path.display().to_string()).into()
            }
            (Some(ErrorPlace::Set(name)), _) => {
                let names = |list: &[String]| list.iter().any(|of| of.starts_with(name));
                let option = first_given(&[
                    (names(&self.pieces), "--pieces"),
                    (names(&self.ignore_orientation), "--ignore-orientation"),
                    (names(&self.same), "--same"),
                ]);
                let option = option.unwrap_or_default();
                Failure::usage(format!("{option}: {error}").trim_start_matches(": "))
            }
            _ => error.into(),
        }
    }
}
