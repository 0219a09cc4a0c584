//! The puzzle of a command: a board, a family or a file.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use clap::ValueHint;

use tilewave::{
    Size,
    puzzle::{
        Definition, Metric, PuzzleError, StateSpace, Variant, families,
        formats::{self, Counting, FilePuzzle, Format},
        named,
        orbits::{OrbitPuzzle, Turns},
    },
    search::disk::Searched,
};

use crate::{Context, Failure, GoalOption, Result, choice, first_given, refuse, unopened};

const MAX_FILE: u64 = 16 << 20;

/// Whether a word is the name of a file, by its ending or because there is one.
fn is_file(word: &str) -> bool {
    Format::of(word).is_some() || Path::new(word).is_file()
}

/// A word that can be meant as a puzzle; boards and members of families are ones that there are.
pub fn puzzle(word: &str) -> Result<String, String> {
    if is_file(word) || named::parse(word).is_some() {
        return Ok(word.into());
    }
    let (family, _) = word.split_once(':').unwrap_or((word, ""));
    if let Some(graph) = OrbitPuzzle::of_graph(word) {
        graph.map_err(|wrong| wrong.to_string())?;
    } else if word.starts_with(|c: char| c.is_ascii_digit()) {
        word.parse::<Size>().map_err(|wrong| match wrong {
            PuzzleError::SizeSyntax(word) => {
                format!(
                    "'{word}' is neither a board size (3x4) nor a cube (3x3x3, at most 20x20x20)"
                )
            }
            wrong => wrong.to_string(),
        })?;
    } else if word.contains(':') || families::ALL.into_iter().any(|f| f.name == family) {
        families::parse(word).map_err(|wrong| wrong.to_string())?;
    } else {
        return Err(format!(
            "'{word}' is not a puzzle: specify a board (3x4), a puzzle listed by \
             `tilewave puzzles`, or a file (.gap, .tws, .def or .kpuzzle.json)"
        ));
    }
    Ok(word.into())
}

/// The puzzle of a command, and what is meant of it.
#[derive(clap::Args)]
pub struct PuzzleOptions {
    /// Board (3x4), member of a family (topspin:12,4), named puzzle (3x3x3) or file (dino.gap).
    ///
    /// `tilewave puzzles` lists the families and the named puzzles, among them cubes of up to 20x20x20.
    /// graph:0-1,1-2,2-0 is the sliding-tile puzzle on the graph with these edges.
    #[arg(value_parser = puzzle)]
    pub puzzle: String,

    #[command(flatten)]
    pub counted: Counted,
}

impl PuzzleOptions {
    pub fn searched(&self) -> Result<Searched> {
        self.counted.searched(&self.puzzle)
    }
}

/// A puzzle and states of it: the puzzle comes first. Boards say their size, so it may be left out where states are boards.
#[derive(clap::Args)]
pub struct PuzzleAndStates {
    /// Puzzle (optional for boards): 3x4, topspin:12,4, 3x3x3 or a file (dino.gap).
    #[arg(value_name = "PUZZLE")]
    puzzle: Option<String>,

    /// States, each in quotes [default: read from standard input, one per line].
    ///
    /// For a board: tiles separated by spaces, rows by '/', the blank as 0. For any other puzzle: the moves that lead
    /// from the solved state to this state, or the piece at each position.
    #[arg(value_name = "STATE")]
    states: Vec<String>,
}

impl PuzzleAndStates {
    /// The puzzle, unless it is left out, and the states; `-` alone is no state. `known`: something else says the puzzle of the `command`.
    pub fn split(&self, command: &str, known: bool) -> Result<(Option<&str>, Vec<&str>)> {
        let is_file = |word: &&String| {
            let unread = Format::of(word).is_none() && Path::new(word).is_file();
            word.contains('.') && (word.ends_with(".txt") || unread)
        };
        if let Some(file) = self.puzzle.iter().chain(&self.states).find(is_file) {
            let puzzle = self.puzzle.as_ref().filter(|&puzzle| puzzle != file);
            let puzzle = puzzle.map_or(String::new(), |puzzle| format!(" {puzzle}"));
            refuse!(
                "'{file}' is a file: to read states from it, use tilewave {command}{puzzle} < \
                 {file}; if the file defines a puzzle, its name must end in .gap, .tws, .def or \
                 .kpuzzle.json"
            );
        }
        let mut states: Vec<&str> = self.states.iter().map(String::as_str).collect();
        let mut named = self.puzzle.as_deref();
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

/// What `--metric` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveCount {
    Of(Metric),
    Turns(Turns),
}

const METRICS: &[(&[&str], MoveCount, &str)] = &[
    (Metric::NAMES[0].0, MoveCount::Of(Metric::NAMES[0].1), Metric::NAMES[0].2),
    (Metric::NAMES[1].0, MoveCount::Of(Metric::NAMES[1].1), Metric::NAMES[1].2),
    (
        &["htm"],
        MoveCount::Turns(Turns::Powers),
        "Half-turn metric: any turn of a face counts as one move",
    ),
    (
        &["qtm"],
        MoveCount::Turns(Turns::Quarter),
        "Quarter-turn metric: a half turn counts as two moves",
    ),
];

/// `--goal` of boards, `--metric`, `--directed` of files, and what makes a projection of a puzzle.
#[derive(clap::Args)]
pub struct Counted {
    #[command(flatten)]
    pub goal: GoalOption,

    /// What counts as one move [default: stm for boards, htm for twisty puzzles].
    #[arg(long, value_parser = choice(METRICS))]
    metric: Option<MoveCount>,

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

    /// Use only these moves, e.g. U,R or "R L',U D'"; each sequence between commas counts as one move.
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

/// What a word on the command line names.
enum Named {
    Board(Size),
    /// A puzzle of one set of different pieces, and which powers of its generators are moves as well.
    Positions(Definition, Turns),
    /// Any other puzzle, and which powers of its moves are moves as well.
    Orbits(OrbitPuzzle, Turns),
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

impl Counted {
    /// What counts as one move of a board, if that was said.
    pub fn metric(&self) -> Option<Metric> {
        match self.metric {
            Some(MoveCount::Of(metric)) => Some(metric),
            _ => None,
        }
    }

    fn turns(&self) -> Option<Turns> {
        match self.metric {
            Some(MoveCount::Turns(turns)) => Some(turns),
            _ => None,
        }
    }

    /// Refuses what boards do not have.
    pub fn refuse_of_boards(&self, why_no_metric: &str) -> Result<()> {
        if self.metric.is_some() {
            refuse!("--metric does not apply here: {why_no_metric}; leave out --metric");
        }
        if let Some(option) = first_given(&[(self.directed, "--directed")]).or(self.changed()) {
            refuse!("{option} does not apply to boards here: leave it out");
        }
        Ok(())
    }

    /// The option that makes another puzzle of one, if there is one.
    fn changed(&self) -> Option<&'static str> {
        self.changed_beyond_same().or(first_given(&[(!self.same.is_empty(), "--same")]))
    }

    /// As [`Counted::changed`], without `--same`, which boards have as well.
    fn changed_beyond_same(&self) -> Option<&'static str> {
        first_given(&[
            (!self.pieces.is_empty(), "--pieces"),
            (!self.ignore_orientation.is_empty(), "--ignore-orientation"),
            (self.generators.is_some(), "--generators"),
            (self.goals.is_some(), "--goals"),
            (self.subgroup.is_some(), "--subgroup"),
        ])
    }

    /// What a word on the command line names, as it is searched: those of its pieces, moves and goals that are asked for.
    pub fn searched(&self, word: &str) -> Result<Searched> {
        Ok(match (self.named(word)?, self.changed()) {
            (Named::Board(size), changed) => {
                if let Some(option) = self.changed_beyond_same() {
                    refuse!(
                        "{option} does not apply to boards, and {word} is a board: leave out {option}"
                    );
                }
                let space = StateSpace::of_board(self.goal.board(size)?);
                let space = space.in_metric(self.metric().unwrap_or_default());
                match changed {
                    None => Searched::Numbered(space),
                    Some(_) => {
                        let puzzle = OrbitPuzzle::of_space(&space)?;
                        Searched::Listed(self.changed_puzzle(puzzle, Turns::Directed)?)
                    }
                }
            }
            (Named::Positions(definition, _), None) => {
                for note in definition.notes() {
                    tracing::info!("{note}");
                }
                Searched::Numbered(StateSpace::of_puzzle(definition))
            }
            (Named::Positions(definition, turns), _) => {
                Searched::Listed(self.of_positions(definition, turns)?)
            }
            (Named::Orbits(puzzle, turns), _) => {
                Searched::Listed(self.changed_puzzle(puzzle, turns)?)
            }
        })
    }

    /// What a word names, as a puzzle of sets of pieces, if it is no board; those of its pieces, moves and goals that are asked
    /// for.
    pub fn listed(&self, word: &str) -> Result<Option<OrbitPuzzle>> {
        match self.named(word)? {
            Named::Board(_) => Ok(None),
            Named::Positions(definition, turns) => Ok(Some(self.of_positions(definition, turns)?)),
            Named::Orbits(puzzle, turns) => Ok(Some(self.changed_puzzle(puzzle, turns)?)),
        }
    }

    fn of_positions(&self, definition: Definition, turns: Turns) -> Result<OrbitPuzzle> {
        let puzzle = OrbitPuzzle::of_space(&StateSpace::of_puzzle(definition))?;
        // Its own moves have their powers already.
        let own = self.generators.is_none();
        self.changed_puzzle(puzzle, if own { Turns::Directed } else { turns })
    }

    /// What a word names: RxC, a named puzzle, graph:EDGES, FAMILY:NUMBERS or a file. Refuses options that others have.
    fn named(&self, word: &str) -> Result<Named> {
        if let Some(puzzle) = named::parse(word) {
            self.goal.refuse(word)?;
            self.refuse_metric(word)?;
            self.refuse_directed()?;
            return Ok(Named::Orbits(puzzle, self.turns().unwrap_or_default()));
        }
        if is_file(word) {
            let (name, text) = text(Path::new(word))?;
            let turns = if self.directed { Some(Turns::Directed) } else { self.turns() };
            // A file whose name does not say what is in it says how to call it.
            return match formats::read_any(&name, &text, Counting { turns })? {
                FilePuzzle::Orbits(puzzle) => {
                    self.refuse_metric(&puzzle)?;
                    Ok(Named::Orbits(puzzle, formats::turns(word, turns)))
                }
                FilePuzzle::Positions(definition) => {
                    self.refuse_of_generators(word)?;
                    Ok(Named::Positions(definition, formats::turns(word, turns)))
                }
            };
        }
        let is_board = word.starts_with(|c: char| c.is_ascii_digit());
        if !is_board {
            self.refuse_of_generators(word)?;
        }
        if self.turns().is_some() {
            refuse!(
                "--metric htm and --metric qtm are only for twisty puzzles: leave out --metric"
            );
        }
        self.refuse_directed()?;
        if let Some(graph) = OrbitPuzzle::of_graph(word) {
            return Ok(Named::Orbits(graph?, Turns::Directed));
        }
        Ok(match is_board {
            true => Named::Board(word.parse()?),
            false => Named::Positions(families::parse(word)?, Turns::Directed),
        })
    }

    fn refuse_directed(&self) -> Result<()> {
        if self.directed {
            refuse!("--directed is only for puzzle files: leave it out");
        }
        Ok(())
    }

    /// Refuses what puzzles of generators do not have.
    fn refuse_of_generators(&self, word: &str) -> Result<()> {
        self.goal.refuse(word)?;
        if let Some(metric) = self.metric() {
            refuse!(
                "--metric {} is only for boards, and {word} is not a board: leave out --metric; every \
                 generator counts as one move",
                metric.name()
            );
        }
        Ok(())
    }

    /// Refuses a metric of boards for a puzzle that turns.
    fn refuse_metric(&self, puzzle: impl std::fmt::Display) -> Result<()> {
        if let Some(metric) = self.metric() {
            refuse!("--metric {} is only for boards: use htm or qtm for {puzzle}", metric.name());
        }
        Ok(())
    }

    fn changed_puzzle(&self, puzzle: OrbitPuzzle, turns: Turns) -> Result<OrbitPuzzle> {
        self.variant()?.of(puzzle, turns).map_err(|error| match (error, &self.goals) {
            // Where in a file it stands.
            (PuzzleError::Goal { number, error }, Some(path)) => Failure::from(PuzzleError::File {
                file: path.display().to_string(),
                line: 0,
                reason: PuzzleError::Goal { number, error }.into(),
            }),
            (PuzzleError::NoOrbit { name, orbits }, _) => {
                let names = |list: &[String]| list.iter().any(|of| of.starts_with(&name));
                let option = first_given(&[
                    (names(&self.pieces), "--pieces"),
                    (names(&self.ignore_orientation), "--ignore-orientation"),
                    (names(&self.same), "--same"),
                ]);
                let option = option.unwrap_or_default();
                let error = PuzzleError::NoOrbit { name, orbits };
                Failure::usage(format!("{option}: {error}").trim_start_matches(": "))
            }
            (error, _) => error.into(),
        })
    }

    fn variant(&self) -> Result<Variant> {
        let list = |of: &Option<Sequences>| of.clone().unwrap_or_default();
        let mut goals = Vec::new();
        if let Some(path) = &self.goals {
            let (name, text) = text(path)?;
            let lines = text.lines().map(uncommented);
            goals.extend(lines.filter(|line| !line.is_empty()).map(String::from));
            if goals.is_empty() {
                refuse!("{name} contains no states: write one state per line");
            }
        }
        Ok(Variant {
            moves: list(&self.generators),
            pieces: self.pieces.clone(),
            ignore_orientation: self.ignore_orientation.clone(),
            same: self.same.clone(),
            goals,
            subgroup: list(&self.subgroup),
        })
    }
}

/// The name of a file that defines a puzzle, and what is in it.
fn text(path: &Path) -> Result<(String, String)> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(unopened(path))?;
    let read = file.take(MAX_FILE + 1).read_to_end(&mut bytes);
    if read.context(&name)? as u64 > MAX_FILE {
        refuse!("{name} is too large: a puzzle file may have at most {} MiB", MAX_FILE >> 20);
    }
    Ok((name, String::from_utf8_lossy(&bytes).into_owned()))
}
