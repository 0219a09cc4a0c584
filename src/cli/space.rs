//! `tilewave bfs --tiles`: the space of a pattern, every move counted.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;
use tilewave::pdb::{Pattern, Space};
use tilewave::puzzle::tiles::Board;
use tilewave::report::{bytes, duration, histogram, thousands};
use tilewave::store;

use super::failure::refuse;
use super::options::{Format, MaxDepth, Output, Running, kernel};
use super::output::{Destination, OutputFile, counts_csv};
use super::progress::Progress;

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
        output: &Output,
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
        let progress = Progress::new();
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
        let sum: u128 = moves
            .map(|(&states, depth)| u128::from(states) * depth)
            .sum();
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
            "peak_memory_bytes": store::peak_memory(),
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
                bytes(store::peak_memory().unwrap_or_default()),
            )
        };
        destination.write(&match output.format {
            Format::Csv => counts_csv("depth,states", &found.counts),
            format => format.result(figures, "", words),
        })
    }
}

/// Whether a result is to be a database, by its name.
fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "pdb")
}
