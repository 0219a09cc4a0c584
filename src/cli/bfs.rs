//! `tilewave bfs`: search a puzzle completely.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;
use tilewave::internals;
use tilewave::pdb::{Pattern, Space};
use tilewave::puzzle::Board;
use tilewave::report::{bytes, duration, histogram, published, published_for, thousands};
use tilewave::search::disk::{self, Disk};
use tilewave::search::{self, Search};

use crate::cli::disk::{DiskOptions, MadeDirectories};
use crate::cli::failure::refuse;
use crate::cli::options::{MaxDepth, OutputFormat, OutputOptions, Running, kernel};
use crate::cli::output::{Destination, OutputFile, ResultReport, counts_csv, sweeps};
use crate::cli::progress::SearchProgress;
use crate::cli::puzzle::{Counted, puzzle};
use crate::cli::ranks::{self, launch};

/// Search a board or another puzzle completely: depth distribution, God's number, antipodes.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave bfs 3x4 --plot 3x4.png\n  tilewave bfs 3x3 --metric mtm\n  tilewave bfs topspin:12,4\n  \
                  tilewave bfs 4x4 --goal first --tiles 3,7,11,12-15"
)]
pub struct Args {
    /// Size of a board (3x4), family of puzzles (topspin:12,4) or file that defines one (dino.gap).
    #[arg(value_parser = puzzle)]
    puzzle: String,

    #[command(flatten)]
    counted: Counted,

    /// Start of the search: any board that can reach the goal, any state of another puzzle [default: the goal].
    #[arg(long, value_name = "STATE")]
    start: Option<String>,

    #[command(flatten)]
    tiles: Tiles,

    #[command(flatten)]
    max_depth: MaxDepth,

    #[command(flatten)]
    report: ResultReport,

    #[command(flatten)]
    running: Running,

    #[command(flatten)]
    on_disk: DiskOptions,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let mut space = self.counted.space(&self.puzzle)?;
        if self.tiles.get().is_some() {
            let Some((goal, _)) = space.boards() else {
                refuse!("--tiles is for boards, {} is none", self.puzzle);
            };
            let output = self.report.output();
            return self.tiles.run(goal.clone(), &self.max_depth, &self.running, output);
        }
        if let Some(text) = &self.start {
            space = space.starting_at(text).context("--start")?;
        }
        let mut search = self.running.search(space)?;
        search.max_depth = self.max_depth.max_depth;
        let _made = MadeDirectories::of(&self.on_disk.dir);
        let disk = self.on_disk.disk()?;
        run(&self.report, &self.running, search, disk)
    }
}

/// Runs a search, in memory or on disk, and writes its result.
pub fn run(
    report: &ResultReport,
    running: &Running,
    mut search: Search,
    disk: Option<Disk>,
) -> Result<()> {
    search.keep_last = report.keep_last();
    if let Some(launch) = launch().filter(|launch| launch.concerns(disk.is_some())) {
        return ranks::run(report, launch, running, search, disk);
    }
    let files = report.files()?;
    let progress = SearchProgress::new();
    let outcome = match disk {
        Some(disk) => {
            sweeps(&search)?;
            fits(&search, &disk)?;
            disk::run(&search, &disk, &progress)?
        }
        None => search::run(&search, &progress)?,
    };
    drop(progress);
    report.finish(files, &outcome)
}

/// Refuses a search that needs more disk than it may take or than is free.
fn fits(search: &Search, disk: &Disk) -> Result<()> {
    let found = disk.directories.manifest()?;
    if disk.ignore_space || found.as_ref().is_some_and(|manifest| manifest.complete) {
        return Ok(());
    }
    let space = &search.space;
    let memory_plan = disk::MemoryPlan::choose(search, disk, found.as_ref())?;
    let peak = |counts: &[u64], depth| -> Result<u64> {
        let widths = disk::widths(space, counts, depth)?;
        Ok(disk::estimate(&widths, memory_plan, disk.keep_all).peak_bytes)
    };
    let corner = || {
        let size = space.size()?;
        published(size, size.cells() - 1, space.metric()?)
    };
    let needed = match published_for(space) {
        Some(truth) => peak(truth.counts(), search.max_depth)?,
        // From other goals the widest levels are as wide, not the first ones.
        None => {
            let whole = corner().map_or(&[][..], |truth| truth.counts());
            peak(&[], search.max_depth)?.min(peak(whole, None)?)
        }
    };
    let budget = disk::DiskBudget::of(disk)?;
    Ok(budget.check(needed)?)
}

// `tilewave bfs --tiles`: the space of a pattern, every move counted.

/// Options that make a search that of a pattern's space.
#[derive(clap::Args)]
pub struct Tiles {
    /// Search the space of some tiles of a board and the blank, the other tiles alike: 1-7, or 1,2,5. Five to eight
    /// tiles, in memory. With -o FILE.pdb and up to seven tiles: writes the database of all depths, which solve --pdb
    /// takes, searched from the goal's own state.
    #[arg(long, value_name = "TILES", conflicts_with_all = ["start", "metric", "plot", "html", "last", "engine", "place", "directed", "quarter"])]
    tiles: Option<String>,

    /// With --tiles: the cell of the blank at depth 0, row-major from 0 [default: all cells at once].
    #[arg(long, value_name = "CELL", requires = "tiles")]
    blank: Option<u8>,
}

impl Tiles {
    /// Returns the tiles, if there are any.
    pub fn get(&self) -> Option<&str> {
        self.tiles.as_deref()
    }

    /// Refuses what makes no database of lower bounds.
    fn refuse(&self, table: Option<&PathBuf>, pattern: &Pattern, most: &MaxDepth) -> Result<()> {
        let goal = pattern.goal().blank();
        if table.is_some() && self.blank.is_some_and(|blank| usize::from(blank) != goal) {
            refuse!(
                "a database is searched from the goal, its blank on cell {goal}: leave out --blank"
            );
        }
        if table.is_some() && most.max_depth.is_some() {
            refuse!("a database has all depths: leave out --max-depth");
        }
        Ok(())
    }

    /// Runs the search for a goal and writes its distribution.
    pub fn run(
        &self,
        goal: Board,
        max_depth: &MaxDepth,
        running: &Running,
        output: &OutputOptions,
    ) -> Result<()> {
        let pattern = Pattern::parse(goal, self.get().unwrap_or_default())?;
        let table = output.output.as_ref().filter(|path| is_table(path));
        self.refuse(table, &pattern, max_depth)?;
        let table = table.map(|path| OutputFile::reserve(path, output.force).map(|_| path));
        let table = table.transpose()?;
        let destination = match table {
            Some(_) => Destination::stdout(),
            None => output.reserve()?,
        };
        let blank = match table {
            Some(_) => Some(pattern.goal().blank() as u8),
            None => self.blank,
        };
        let space = Space {
            blank,
            kernel: kernel()?,
            threads: running.threads.get(),
            memory: Some(running.memory.budget()),
            max_depth: max_depth.max_depth,
            ..Space::new(pattern)
        };
        let progress = SearchProgress::new();
        let found = match table {
            Some(path) => {
                let (found, pdb) = space.build(&progress)?;
                pdb.save(path, output.force, &progress)?;
                found
            }
            None => space.run(&progress)?,
        };
        drop(progress);
        if let Some(path) = table {
            tracing::info!("wrote {}", path.display());
        }
        let deepest = found.counts.len() - 1;
        let total: u64 = found.counts.iter().sum();
        let moves = found.counts.iter().zip(0u128..);
        let sum: u128 = moves.map(|(&states, depth)| u128::from(states) * depth).sum();
        let mean = sum as f64 / total as f64;
        let pattern = &space.pattern;
        let figures = json!({
            "board": pattern.size().to_string(),
            "goal": pattern.goal().to_string(),
            "tiles": pattern.tiles(),
            "blank": blank,
            "states": found.states,
            "found": total,
            "complete": found.complete,
            "diameter": found.complete.then_some(deepest),
            "mean_depth": mean,
            "counts": found.counts,
            "seconds": found.seconds,
            "peak_memory_bytes": internals::peak_memory(),
        });
        let words = || {
            let tiles: Vec<String> = pattern.tiles().iter().map(u16::to_string).collect();
            let start = match blank {
                None => "the tiles at home, the blank anywhere".to_string(),
                Some(cell) => format!("the tiles at home, the blank on cell {cell}"),
            };
            let diameter = match found.complete {
                true => deepest.to_string(),
                false => format!("more than {deepest} (stopped)"),
            };
            format!(
                "{}\nboard       {}\ntiles       {}\nstart       {start}\nstates      {} of {}\ndiameter    {diameter}\n\
                 mean depth  {mean:.6}\ntime        {}\nmemory      {}\n",
                histogram(&found.counts, found.states).trim_end(),
                pattern.size(),
                tiles.join(","),
                thousands(total),
                thousands(found.states),
                duration(found.seconds),
                bytes(internals::peak_memory().unwrap_or_default()),
            )
        };
        destination.write(&match output.format {
            OutputFormat::Csv => counts_csv("depth,states", &found.counts),
            format => format.result(figures, "", words),
        })
    }
}

/// Whether a result is to be a database, by its name.
fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "pdb")
}
