//! Options that several commands share, each written once.

use std::path::PathBuf;

use anyhow::Result;
use tilewave::bfs::{Engine, Search, SearchError, Subject};
use tilewave::perm::kernel::Kernel;
use tilewave::puzzle::tiles::{Board, Goal, Size};
use tilewave::store;
use tilewave::table::DistanceTable;

use super::failure::refuse;
use super::values::{self, Choice, choice, count, whole};

/// The environment variable that forces a kernel.
const KERNEL: &str = "TILEWAVE_KERNEL";

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Csv,
    Json,
}

/// The formats, as options.
pub const FORMATS: &[Choice<Format>] = &[
    (&["text"], Format::Text, "For people"),
    (&["csv"], Format::Csv, "Comma-separated values"),
    (&["json"], Format::Json, "JSON"),
];

/// The engines, as options; a directory makes it the one on disk.
const ENGINES: &[Choice<Engine>] = &[
    (
        &["sweep"],
        Engine::Sweep,
        "Streaming passes over byte arrays",
    ),
    (
        &["reference"],
        Engine::Reference,
        "Plain, slow, for any board",
    ),
];

/// `--threads`.
#[derive(clap::Args)]
pub struct Threads {
    /// Worker threads [default: one per core].
    #[arg(short = 'j', long, value_name = "N", value_parser = whole(1usize, 1024), allow_negative_numbers = true)]
    threads: Option<usize>,
}

impl Threads {
    /// Returns the number asked for, which is cut, with a line that says so, where it could only do harm.
    pub fn get(&self) -> Option<usize> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let most = (4 * cores).max(64);
        let asked = self.threads?;
        if asked > most {
            tracing::warn!("{asked} threads on {cores} cores would only wait: using {most}");
        }
        Some(asked.min(most))
    }
}

/// `--memory`.
#[derive(clap::Args)]
pub struct Memory {
    /// Most memory, with a unit: 500MB, 8GiB or 8G [default: half of what is free]. Leave room for other programs: where the
    /// machine runs out of memory, the system ends one of them. A search on disk that is ended so loses nothing.
    #[arg(short = 'M', long, value_name = "SIZE", value_parser = values::bytes)]
    memory: Option<u64>,
}

impl Memory {
    /// Returns the most bytes that arrays may take.
    pub fn budget(&self) -> u64 {
        self.memory.unwrap_or_else(store::budget)
    }

    /// Returns whether the user has said how much.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    pub fn is_given(&self) -> bool {
        self.memory.is_some()
    }
}

/// `--goal`.
#[derive(clap::Args)]
pub struct GoalOption {
    /// Goal: last, first, blank=CELL (row-major from 0) or a board [default: that of --table, or last].
    #[arg(long)]
    goal: Option<Goal>,
}

impl GoalOption {
    /// Returns whether there is one on the command line.
    pub fn is_given(&self) -> bool {
        self.goal.is_some()
    }

    /// Returns the goal board of a size.
    pub fn board(&self, size: Size) -> Result<Board> {
        let goal = self.goal.as_ref().unwrap_or(&Goal::Last);
        Ok(goal.board(size)?)
    }

    /// Returns the goal board of a size, which is a table's when there is one.
    pub fn board_of(&self, table: Option<&DistanceTable>, size: Size) -> Result<Board> {
        let Some(table) = table else {
            return self.board(size);
        };
        let goal = table.goal()?;
        if self.goal.is_some() && self.board(size)? != *goal {
            refuse!(
                "the table is for the goal '{goal}': leave out --goal, or make one for yours with tilewave table"
            );
        }
        Ok(goal.clone())
    }
}

/// `--max-depth`.
#[derive(clap::Args)]
pub struct MaxDepth {
    /// Stop after this depth. A search on disk that is past it already is reported as far as it is.
    #[arg(long, value_name = "DEPTH", value_parser = count::<usize>(), allow_negative_numbers = true)]
    pub max_depth: Option<usize>,
}

/// `--format`, `--output` and `--force`.
#[derive(clap::Args)]
pub struct Output {
    /// How to write the result.
    #[arg(long, value_parser = choice(FORMATS), default_value = "text")]
    pub format: Format,

    /// Write the result to a file instead of stdout (-).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Replace existing files.
    #[arg(long)]
    pub force: bool,
}

/// How a search runs.
#[derive(clap::Args)]
pub struct Running {
    #[command(flatten)]
    pub threads: Threads,

    #[command(flatten)]
    pub memory: Memory,

    /// Engine [default: sweep, reference for boards of fewer than 6 tiles].
    #[arg(long, value_parser = choice(ENGINES))]
    pub engine: Option<Engine>,
}

impl Running {
    /// Returns the search of a subject that runs as asked.
    pub fn search(&self, subject: Subject) -> Result<Search> {
        let mut search = Search::of(subject);
        search.threads = self.threads.get();
        search.engine = self.engine;
        search.kernel = kernel()?;
        search.memory = Some(self.memory.budget());
        Ok(search)
    }
}

/// Returns the kernel that the environment asks for.
pub fn kernel() -> Result<Option<Kernel>> {
    let Some(name) = std::env::var_os(KERNEL).filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let kernel: Result<Kernel, _> = name.to_string_lossy().parse();
    Ok(Some(kernel.map_err(SearchError::from)?))
}
