//! The puzzle of a command: a board, a family or a file.

use std::path::Path;

use anyhow::{Context, Result};
use tilewave::puzzle::formats::{self, Counting, Format};
use tilewave::puzzle::{Definition, Metric, Size, StateSpace, families};

use crate::cli::failure::refuse;
use crate::cli::options::{Choice, GoalOption, OutputFormat as ResultFormat, choice};

/// The metrics, as options.
const METRICS: &[Choice<Metric>] = &[
    (&["stm"], Metric::Stm, "Single-tile: one tile goes to the blank's cell"),
    (&["mtm"], Metric::Mtm, "Multi-tile: any number of tiles in a line with the blank"),
];

/// Most bytes of a file that defines a puzzle.
const MAX_FILE: u64 = 16 << 20;

/// Returns a word that can be meant as a puzzle; boards and members of families are ones that there are.
pub fn puzzle(word: &str) -> Result<String, String> {
    if Format::of(word).is_some() || Path::new(word).is_file() {
        return Ok(word.into());
    }
    let (family, _) = word.split_once(':').unwrap_or((word, ""));
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        word.parse::<Size>().map_err(|wrong| wrong.to_string())?;
    } else if word.contains(':') || families::ALL.into_iter().any(|f| f.name == family) {
        families::parse(word).map_err(|wrong| wrong.to_string())?;
    } else {
        return Err(format!(
            "'{word}' is not a board size (rows x columns, for example 3x4), no family of puzzles (tilewave \
             puzzles lists them) and no file of one (.gap, .tws, .def or .kpuzzle.json)"
        ));
    }
    Ok(word.into())
}

/// Returns what stands under `board` in a result: the size of a board; a table has one column for all names.
pub fn board(space: &StateSpace, format: ResultFormat) -> Option<String> {
    let size = space.size().map(|size| size.to_string());
    size.or_else(|| (format == ResultFormat::Csv).then(|| space.name()))
}

/// `--goal` and `--metric` of boards, `--directed` and `--quarter` of files.
#[derive(clap::Args)]
pub struct Counted {
    #[command(flatten)]
    pub goal: GoalOption,

    /// What counts as one move of a board [default: stm].
    #[arg(long, value_parser = choice(METRICS))]
    pub metric: Option<Metric>,

    /// Add no inverses to the moves of a puzzle's file.
    #[arg(long)]
    directed: bool,

    /// Count a turn as often as it is repeated: powers of a file's moves are no moves.
    #[arg(long)]
    quarter: bool,
}

impl Counted {
    /// Returns what a word on the command line names: RxC, FAMILY:NUMBERS or a file.
    pub fn space(&self, word: &str) -> Result<StateSpace> {
        if word.starts_with(|c: char| c.is_ascii_digit()) && Format::of(word).is_none() {
            return self.board(word.parse().map_err(tilewave::Error::from)?);
        }
        let wrong =
            if self.goal.is_given() { Some("--goal") } else { self.metric.map(|_| "--metric") };
        if let Some(option) = wrong {
            refuse!(
                "{option} is for boards, {word} is none: leave it out, every generator is one move"
            );
        }
        // A file whose name does not say what is in it says how to call it.
        let definition = if Format::of(word).is_some() || Path::new(word).is_file() {
            self.file(Path::new(word))?
        } else if self.directed || self.quarter {
            refuse!("--directed and --quarter are for puzzles in files");
        } else {
            families::parse(word).map_err(tilewave::Error::from)?
        };
        for note in definition.notes() {
            tracing::info!("{note}");
        }
        Ok(StateSpace::of_puzzle(definition))
    }

    /// Returns the search of a board.
    fn board(&self, size: Size) -> Result<StateSpace> {
        if self.directed || self.quarter {
            refuse!("--directed and --quarter are for puzzles in files");
        }
        let space = StateSpace::of_board(self.goal.board(size)?);
        Ok(space.in_metric(self.metric.unwrap_or_default()))
    }

    fn file(&self, path: &Path) -> Result<Definition> {
        let name = path.display().to_string();
        let read = || -> std::io::Result<Vec<u8>> {
            use std::io::Read;
            let mut bytes = Vec::new();
            std::fs::File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().with_context(|| name.clone())?;
        if bytes.len() as u64 > MAX_FILE {
            refuse!("{name}: no puzzle has so long a definition");
        }
        let text = String::from_utf8_lossy(&bytes);
        let counting = Counting { directed: self.directed, quarter: self.quarter };
        Ok(formats::read(&name, &text, counting).map_err(tilewave::Error::from)?)
    }
}
